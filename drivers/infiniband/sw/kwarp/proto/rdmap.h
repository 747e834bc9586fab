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
 * @sink_stag: STag of the buffer at the side that sends the request
 * @sink_to: tagged offset in that buffer for the first octet
 * @size: octets to read
 * @src_stag: STag of the buffer at the side that answers
 * @src_to: tagged offset in that buffer of the first octet
 */
struct kwarp_rreq {
	u32 sink_stag;
	u64 sink_to;
	u32 size;
	u32 src_stag;
	u64 src_to;
};

void kwarp_rreq_decode(const u8 in[KWARP_RDMAP_RREQ_LEN], struct kwarp_rreq *req);

void kwarp_rreq_encode(u8 out[KWARP_RDMAP_RREQ_LEN], const struct kwarp_rreq *req);

static inline bool kwarp_op_invalidates(u8 op)
{
	return op == KWARP_OP_SEND_INV || op == KWARP_OP_SEND_SE_INV;
}

static inline bool kwarp_op_solicited(u8 op)
{
	return op == KWARP_OP_SEND_SE || op == KWARP_OP_SEND_SE_INV || op == KWARP_OP_IMM_SE ||
	       op == KWARP_OP_SEND_SE_IMM;
}

static inline bool kwarp_op_is_imm(u8 op)
{
	return op == KWARP_OP_IMM || op == KWARP_OP_IMM_SE;
}

/* Is the immediate data in the STag field? */
static inline bool kwarp_op_sends_imm(u8 op)
{
	return op == KWARP_OP_SEND_IMM || op == KWARP_OP_SEND_SE_IMM;
}

/* Messages that a stream may have besides those of RFC 5040. */
#define KWARP_RDMAP_RFC7306	BIT(0)	/* Immediate Data and atomic operations */
#define KWARP_RDMAP_SEND_IMM	BIT(1)	/* kwarp's Send with immediate data */

/**
 * kwarp_rdmap_check - check a header against the rules of RFC 5040, RFC 5041 and RFC 7306
 * @hdr: decoded header
 * @payload: octets that follow the DDP header in this segment
 * @more: KWARP_RDMAP_* that the stream may have
 *
 * Checks in this order: DDP version, QN range, RDMAP version, opcode known, opcode
 * fits T and QN; for messages that consist of an RDMAP header only: one segment of the right size
 * (RFC 5040 section 7.2, RFC 5041 section 7.1; RFC 5040 Figure 4 for opcode against T and QN;
 * RFC 7306 section 4).
 *
 * A Read Request or Terminate that is too long does not fit the buffer of its
 * queue: KWARP_PERR_DDP_U_LONG.  If it is too short, or in several segments, the RFCs have no exact
 * code: KWARP_PERR_O_UNSPEC.  For a message of RFC 7306 any wrong length is an error of the
 * stream (KWARP_PERR_O_STREAM), the code that RFC 7306 has for errors in its messages.
 *
 * Return: KWARP_PERR_NONE, or the error for the Terminate.  The caller sends no Terminate if @hdr
 * is the header of a Terminate (5040-5.4-9).
 */
enum kwarp_perr kwarp_rdmap_check(const struct kwarp_ddp_hdr *hdr, u32 payload, u32 more);

#endif /* KWARP_PROTO_RDMAP_H */
