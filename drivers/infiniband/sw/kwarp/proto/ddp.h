/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DDP segments (RFC 5041) with the RDMAP control octet that they carry: decoding and encoding of
 * headers, segmentation, order of untagged messages.
 */
#ifndef KWARP_PROTO_DDP_H
#define KWARP_PROTO_DDP_H

#include "perr.h"
#include "wire.h"

enum kwarp_qn {
	KWARP_QN_SEND	= 0,	/* all four Send types, Immediate Data */
	KWARP_QN_RREQ	= 1,	/* Read Requests, Atomic Requests */
	KWARP_QN_TERM	= 2,	/* Terminate */
	KWARP_QN_ATOMIC	= 3,	/* Atomic Responses */
	KWARP_QN_COUNT
};

enum kwarp_rdmap_op {
	KWARP_OP_WRITE		= 0,
	KWARP_OP_RREQ		= 1,
	KWARP_OP_RRESP		= 2,
	KWARP_OP_SEND		= 3,
	KWARP_OP_SEND_INV	= 4,
	KWARP_OP_SEND_SE	= 5,
	KWARP_OP_SEND_SE_INV	= 6,
	KWARP_OP_TERM		= 7,
	/* RFC 7306 */
	KWARP_OP_IMM		= 8,
	KWARP_OP_IMM_SE		= 9,
	KWARP_OP_ATOMIC_REQ	= 10,
	KWARP_OP_ATOMIC_RESP	= 11,
	/* kwarp's own, between wired queue pairs only: the immediate data is in the STag field */
	KWARP_OP_SEND_IMM	= 12,
	KWARP_OP_SEND_SE_IMM	= 13,
};

/*
 * struct kwarp_ddp_hdr - one segment's header in host order
 * @tagged: T flag: @stag and @to are used; else @stag, @qn, @msn and @mo
 * @last: L flag: last segment of the message
 * @stag: tagged: STag of the sink. Untagged: STag that the message invalidates, or immediate data
 * @to: tagged offset of this segment's payload
 * @mo: message offset of this segment's payload
 */
struct kwarp_ddp_hdr {
	bool tagged;
	bool last;
	u8 dv;
	u8 rv;
	u8 opcode;
	u32 stag;
	u64 to;
	u32 qn;
	u32 msn;
	u32 mo;
};

static inline u32 kwarp_ddp_len(bool tagged)
{
	return tagged ? KWARP_DDP_TAGGED_LEN : KWARP_DDP_UNTAGGED_LEN;
}

static inline u32 kwarp_ddp_hdr_len(u8 ctrl)
{
	return kwarp_ddp_len(ctrl & KWARP_DDP_T);
}

/*
 * @buf: kwarp_ddp_hdr_len() octets. Fields of the other header type are zero. No checks:
 * kwarp_rdmap_check() checks the decoded header.
 */
void kwarp_ddp_decode(const u8 *buf, struct kwarp_ddp_hdr *hdr);

/**
 * kwarp_ddp_encode - encode the header of a segment
 * @buf: room for KWARP_DDP_MAX_HDR octets
 * @hdr: header; @dv and @rv are ignored
 *
 * Writes the versions DV and RV as 1 and reserved bits as zero.  For an untagged segment whose
 * opcode invalidates nothing, the caller sets @hdr->stag to zero (5040-4.1-14).
 *
 * Return: octets written, 14 or 18.
 */
u32 kwarp_ddp_encode(u8 *buf, const struct kwarp_ddp_hdr *hdr);

/*
 * All segments but the last are @mulpdu octets long (5041-5.2-2), so they need no pad, unless
 * MULPDU is at its least or largest value. A message of zero length (@left is 0) has one segment
 * (5041-5.2-12).
 */
static inline u32 kwarp_ddp_seg_payload(u32 mulpdu, bool tagged, u32 left)
{
	return min(mulpdu - kwarp_ddp_len(tagged), left);
}

static inline void kwarp_ddp_advance(struct kwarp_ddp_hdr *hdr, u32 payload)
{
	if (hdr->tagged)
		hdr->to += payload;
	else
		hdr->mo += payload;
}

/*
 * @msn: expected next; starts at 1. @mo: octets of that message already received. @open: a segment
 * of that message has come, but not its last one.
 */
struct kwarp_ddp_untagged_rx {
	u32 msn;
	u32 mo;
	bool open;
};

/*
 * TCP delivers in order, so the MSN must be the expected one and the MO must continue the message
 * (5041-7.1-8, -10). RFC 5041 section 7.1 allows any MSN for which there is a buffer, but a peer
 * that follows sections 4.3 and 5.3 sends the next MSN. The caller checks whether MO plus payload
 * fits the buffer, with 64-bit arithmetic.
 */
enum kwarp_perr kwarp_ddp_check_untagged(const struct kwarp_ddp_untagged_rx *q,
					 const struct kwarp_ddp_hdr *hdr);

/* @hdr has passed kwarp_ddp_check_untagged(). The caller makes sure that nobody else uses @q. */
void kwarp_ddp_advance_untagged(struct kwarp_ddp_untagged_rx *q,
				const struct kwarp_ddp_hdr *hdr, u32 payload);

#endif /* KWARP_PROTO_DDP_H */
