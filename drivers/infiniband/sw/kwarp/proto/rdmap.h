/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMAP (RFC 5040, RFC 7306): which opcode goes with which header, the Read Request
 * header, and the checks of a header that need no queue or memory.
 */
#ifndef KWARP_PROTO_RDMAP_H
#define KWARP_PROTO_RDMAP_H

#include "ddp.h"

/**
 * struct kwarp_rreq - Read Request header in host order (RFC 5040 section 4.4)
 * @sink_stag: STag of the asking side's buffer
 * @sink_to: where the first octet goes
 * @size: octets to read
 * @src_stag: STag of the answering side's buffer
 * @src_to: where the first octet is taken from
 */
struct kwarp_rreq {
	u32 sink_stag;
	u64 sink_to;
	u32 size;
	u32 src_stag;
	u64 src_to;
};

/**
 * kwarp_rreq_decode - Read Request header to host order
 * @in: its octets
 * @req: result
 *
 * Context: any.
 */
void kwarp_rreq_decode(const u8 in[KWARP_RDMAP_RREQ_LEN], struct kwarp_rreq *req);

/**
 * kwarp_rreq_encode - Read Request header to wire octets
 * @out: its octets
 * @req: header
 *
 * Context: any.
 */
void kwarp_rreq_encode(u8 out[KWARP_RDMAP_RREQ_LEN], const struct kwarp_rreq *req);

static inline bool kwarp_op_is_send(u8 op)
{
	return op >= KWARP_OP_SEND && op <= KWARP_OP_SEND_SE_INV;
}

static inline bool kwarp_op_invalidates(u8 op)
{
	return op == KWARP_OP_SEND_INV || op == KWARP_OP_SEND_SE_INV;
}

static inline bool kwarp_op_solicited(u8 op)
{
	return op == KWARP_OP_SEND_SE || op == KWARP_OP_SEND_SE_INV || op == KWARP_OP_IMM_SE;
}

static inline bool kwarp_op_is_imm(u8 op)
{
	return op == KWARP_OP_IMM || op == KWARP_OP_IMM_SE;
}

/**
 * kwarp_rdmap_check - is this header legal on a stream of IETF versions?
 * @hdr: decoded header
 * @payload: octets that follow the DDP header in this segment
 * @rfc7306: the stream has Immediate Data and atomic operations
 *
 * In this order: DDP version, QN range, RDMAP version, opcode known, opcode
 * fits T and QN, what is nothing but a header is a single segment of legal size.
 * (RFC 5040 section 7.2, RFC 5041 section 7.1; Figure 4 for opcode against T, QN;
 * RFC 7306 section 4.)
 *
 * A Read Request or Terminate that is too long does not fit the buffer of its
 * queue (KWARP_PERR_DDP_U_LONG); one too short, or in several segments, has no
 * code of its own (KWARP_PERR_O_UNSPEC).  A message of RFC 7306 of any wrong length is catastrophic
 * for its stream (KWARP_PERR_O_STREAM), which is the code that RFC has for its own errors.
 *
 * Context: any.
 * Return: KWARP_PERR_NONE or the error to put into the Terminate - which is not
 * sent if @hdr is itself a Terminate's (5040-5.4-9).
 */
enum kwarp_perr kwarp_rdmap_check(const struct kwarp_ddp_hdr *hdr, u32 payload, bool rfc7306);

#endif /* KWARP_PROTO_RDMAP_H */
