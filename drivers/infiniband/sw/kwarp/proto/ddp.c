// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* DDP segment headers and the order of untagged segments. Pure functions, any context. */
#include "ddp.h"

static void decode_tagged(const u8 *buf, struct kwarp_ddp_hdr *hdr)
{
	const struct kwarp_wire_tagged *wire = (const void *)buf;

	hdr->stag = get_unaligned_be32(&wire->stag);
	hdr->to = get_unaligned_be64(&wire->to);
	hdr->qn = 0;
	hdr->msn = 0;
	hdr->mo = 0;
}

static void decode_untagged(const u8 *buf, struct kwarp_ddp_hdr *hdr)
{
	const struct kwarp_wire_untagged *wire = (const void *)buf;

	hdr->stag = get_unaligned_be32(&wire->inv_stag);
	hdr->to = 0;
	hdr->qn = get_unaligned_be32(&wire->qn);
	hdr->msn = get_unaligned_be32(&wire->msn);
	hdr->mo = get_unaligned_be32(&wire->mo);
}

void kwarp_ddp_decode(const u8 *buf, struct kwarp_ddp_hdr *hdr)
{
	u8 ddp = buf[0], rdmap = buf[1];

	/* reserved bits of both octets are ignored: 5041-4.1-11, 5040-4.1-11 */
	hdr->tagged = ddp & KWARP_DDP_T;
	hdr->last = ddp & KWARP_DDP_L;
	hdr->dv = FIELD_GET(KWARP_DDP_DV, ddp);
	hdr->rv = FIELD_GET(KWARP_RDMAP_RV, rdmap);
	hdr->opcode = FIELD_GET(KWARP_RDMAP_OPCODE, rdmap);

	if (hdr->tagged)	/* 5041-4.1-1, -2: T selects the layout */
		decode_tagged(buf, hdr);
	else
		decode_untagged(buf, hdr);
}

u32 kwarp_ddp_encode(u8 *buf, const struct kwarp_ddp_hdr *hdr)
{
	struct kwarp_wire_untagged *untagged = (void *)buf;
	struct kwarp_wire_tagged *tagged = (void *)buf;

	/* L flag only in the last segment, DV 1, reserved bits zero: 5041-4.1-3, -4, -10, -12 */
	buf[0] = (hdr->tagged ? KWARP_DDP_T : 0) | (hdr->last ? KWARP_DDP_L : 0) |
		 FIELD_PREP(KWARP_DDP_DV, KWARP_DDP_VERSION);
	/* RDMAP control octet, RV 1, reserved bits zero: 5040-4.1-1, -2, -8, -10 */
	buf[1] = FIELD_PREP(KWARP_RDMAP_RV, KWARP_RDMAP_VERSION) |
		 FIELD_PREP(KWARP_RDMAP_OPCODE, hdr->opcode);

	if (hdr->tagged) {	/* tagged header: 5041-4.2-1 */
		put_unaligned_be32(hdr->stag, &tagged->stag);
		put_unaligned_be64(hdr->to, &tagged->to);
		return KWARP_DDP_TAGGED_LEN;
	}
	/* 5041-4.3-1; 5040-4.1-3, -14: STag to invalidate; 0 if the opcode invalidates none */
	put_unaligned_be32(hdr->stag, &untagged->inv_stag);
	put_unaligned_be32(hdr->qn, &untagged->qn);
	put_unaligned_be32(hdr->msn, &untagged->msn);
	put_unaligned_be32(hdr->mo, &untagged->mo);
	return KWARP_DDP_UNTAGGED_LEN;
}

enum kwarp_perr kwarp_ddp_check_untagged(const struct kwarp_ddp_untagged_rx *q,
					 const struct kwarp_ddp_hdr *hdr)
{
	if (hdr->msn != q->msn)		/* not the next message: 5041-7.1-10, 5041-4.3-12, -15 */
		return KWARP_PERR_DDP_U_MSN;
	if (hdr->mo != q->mo)		/* a gap or overlap: 5041-7.1-8, 5041-4.3-18, 5041-5.2-7 */
		return KWARP_PERR_DDP_U_MO;
	return KWARP_PERR_NONE;
}

void kwarp_ddp_advance_untagged(struct kwarp_ddp_untagged_rx *q,
				const struct kwarp_ddp_hdr *hdr, u32 payload)
{
	if (hdr->last) {
		q->msn++;		/* 5041-4.3-12, -14: modulo 2^32 */
		q->mo = 0;
	} else {
		q->mo += payload;
	}
	q->open = !hdr->last;
}
