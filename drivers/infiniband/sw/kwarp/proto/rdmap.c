// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RDMAP (RFC 5040, RFC 7306). Pure functions, any context. */
#include "rdmap.h"

/*
 * One rule for each opcode (RFC 5040 Figures 4 and 5, RFC 7306 section 4): header type and queue
 * and, for messages that consist of an RDMAP header only (@max is not 0), its length from @min to
 * @max (5040-4.2-1, -2; 7306-4.2-1).  Such a message is always one segment, because MULPDU is at
 * least 128 (5044-3-4, 7306-D-1).
 */
static const struct op_rule {
	bool tagged;
	bool rfc7306;
	bool send_imm;
	u8 qn;
	u8 min;
	u8 max;
} op_rules[] = {
	[KWARP_OP_WRITE]       = { .tagged = true },
	[KWARP_OP_RREQ]        = { .qn = KWARP_QN_RREQ, .min = KWARP_RDMAP_RREQ_LEN,
				   .max = KWARP_RDMAP_RREQ_LEN },
	[KWARP_OP_RRESP]       = { .tagged = true },
	[KWARP_OP_SEND]        = { .qn = KWARP_QN_SEND },
	[KWARP_OP_SEND_INV]    = { .qn = KWARP_QN_SEND },
	[KWARP_OP_SEND_SE]     = { .qn = KWARP_QN_SEND },
	[KWARP_OP_SEND_SE_INV] = { .qn = KWARP_QN_SEND },
	[KWARP_OP_TERM]        = { .qn = KWARP_QN_TERM, .min = KWARP_TERM_CTRL_LEN,
				   .max = KWARP_TERM_MAX_LEN },
	[KWARP_OP_IMM]         = { .rfc7306 = true, .qn = KWARP_QN_SEND,
				   .min = KWARP_RDMAP_IMM_LEN, .max = KWARP_RDMAP_IMM_LEN },
	[KWARP_OP_IMM_SE]      = { .rfc7306 = true, .qn = KWARP_QN_SEND,
				   .min = KWARP_RDMAP_IMM_LEN, .max = KWARP_RDMAP_IMM_LEN },
	[KWARP_OP_ATOMIC_REQ]  = { .rfc7306 = true, .qn = KWARP_QN_RREQ,
				   .min = KWARP_ATOMIC_REQ_LEN, .max = KWARP_ATOMIC_REQ_LEN },
	[KWARP_OP_ATOMIC_RESP] = { .rfc7306 = true, .qn = KWARP_QN_ATOMIC,
				   .min = KWARP_ATOMIC_RESP_LEN, .max = KWARP_ATOMIC_RESP_LEN },
	[KWARP_OP_SEND_IMM]    = { .send_imm = true, .qn = KWARP_QN_SEND },
	[KWARP_OP_SEND_SE_IMM] = { .send_imm = true, .qn = KWARP_QN_SEND },
};

void kwarp_rreq_decode(const u8 in[KWARP_RDMAP_RREQ_LEN], struct kwarp_rreq *req)
{
	const struct kwarp_wire_rreq *wire = (const void *)in;

	req->sink_stag = get_unaligned_be32(&wire->sink_stag);
	req->sink_to = get_unaligned_be64(&wire->sink_to);
	req->size = get_unaligned_be32(&wire->size);
	req->src_stag = get_unaligned_be32(&wire->src_stag);
	req->src_to = get_unaligned_be64(&wire->src_to);
}

/* Encode a Read Request header: 5040-4.4-1 */
void kwarp_rreq_encode(u8 out[KWARP_RDMAP_RREQ_LEN], const struct kwarp_rreq *req)
{
	struct kwarp_wire_rreq *wire = (void *)out;

	put_unaligned_be32(req->sink_stag, &wire->sink_stag);
	put_unaligned_be64(req->sink_to, &wire->sink_to);
	put_unaligned_be32(req->size, &wire->size);
	put_unaligned_be32(req->src_stag, &wire->src_stag);
	put_unaligned_be64(req->src_to, &wire->src_to);
}

/* Without RFC 7306 there is no queue 3 (7306-10.2-1). */
static enum kwarp_perr check_ddp(const struct kwarp_ddp_hdr *hdr, u32 more)
{
	const u32 queues = more & KWARP_RDMAP_RFC7306 ? KWARP_QN_COUNT : KWARP_QN_ATOMIC;

	if (hdr->dv != KWARP_DDP_VERSION)	/* not version 1: 5041-4.1-13, 5041-6.2.2-3 */
		return hdr->tagged ? KWARP_PERR_DDP_T_VERSION :
				     KWARP_PERR_DDP_U_VERSION;
	if (!hdr->tagged && hdr->qn >= queues)	/* no such queue: 5041-7.1-2 */
		return KWARP_PERR_DDP_U_QN;
	return KWARP_PERR_NONE;
}

static enum kwarp_perr check_header_only(const struct kwarp_ddp_hdr *hdr,
					 const struct op_rule *rule, u32 payload)
{
	const bool wrong = payload < rule->min || !hdr->last;

	if (rule->rfc7306)		/* any length error: 7306-6.3-7, 7306-4.1-6, 7306-D-1 */
		return wrong || payload > rule->max ? KWARP_PERR_O_STREAM : KWARP_PERR_NONE;
	if (payload > rule->max)	/* does not fit the buffer: 5040-4.2-2, 5041-7.1-9 */
		return KWARP_PERR_DDP_U_LONG;
	if (wrong)	/* too short, or several segments; RFC 5040 has no exact code: 5040-4.2-1 */
		return KWARP_PERR_O_UNSPEC;
	return KWARP_PERR_NONE;
}

enum kwarp_perr kwarp_rdmap_check(const struct kwarp_ddp_hdr *hdr, u32 payload, u32 more)
{
	enum kwarp_perr err = check_ddp(hdr, more);
	const struct op_rule *rule;

	if (err)
		return err;
	if (hdr->rv != KWARP_RDMAP_VERSION)	/* not version 1: 5040-7.2-3, -8; 5044-C.1-1 */
		return KWARP_PERR_O_VERSION;
	/* unknown: 5040-7.2-2, -7; 5040-4.1-16; 7306-1.1-4, 7306-8.2-2 */
	if (hdr->opcode >= ARRAY_SIZE(op_rules))
		return KWARP_PERR_O_OPCODE;
	rule = &op_rules[hdr->opcode];
	if ((rule->rfc7306 && !(more & KWARP_RDMAP_RFC7306)) ||
	    (rule->send_imm && !(more & KWARP_RDMAP_SEND_IMM)))
		return KWARP_PERR_O_OPCODE;
	if (rule->tagged != hdr->tagged)	/* wrong header type: 5040-4.1-5 */
		return KWARP_PERR_O_OPCODE;
	if (!hdr->tagged && rule->qn != hdr->qn)	/* wrong queue: 5040-4.1-7, 5040-3.1-2 */
		return KWARP_PERR_O_OPCODE;
	return rule->max ? check_header_only(hdr, rule, payload) : KWARP_PERR_NONE;
}
