// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pure functions, any context. Malformed frames are refused in kwarp_mpa_frame_need(), before
 * anything in them is used.
 */
#include "mpa_startup.h"

static enum kwarp_perr check_key(const u8 *buf, u32 len, bool reply)
{
	const char *key = reply ? KWARP_MPA_KEY_REP : KWARP_MPA_KEY_REQ;

	/* a wrong key is refused: 5044-7.1.1-2, -4; 5044-7.1.2-17, -23; 5044-7.1.3-1 */
	if (memcmp(buf, key, min_t(u32, len, KWARP_MPA_KEY_LEN)))
		return KWARP_PERR_MPA_FRAME;
	return KWARP_PERR_NONE;
}

static bool rev_usable(u8 rev)
{
	/* revisions 1 and 2 and no others: 5044-7.1.1-18, -19; 5044-C.2.2-1; 6581-6-8, 6581-6-13 */
	return rev == 1 || rev == 2;
}

/* In revision 1 the S bit is reserved (6581-6-12). */
static bool is_enhanced(const struct kwarp_mpa_wire_frame *wire)
{
	return wire->rev >= 2 && wire->flags & KWARP_MPA_FLAG_S;
}

enum kwarp_perr kwarp_mpa_frame_need(const u8 *buf, u32 len, bool reply, u32 *need)
{
	const struct kwarp_mpa_wire_frame *wire = (const void *)buf;
	u32 pdata_len;

	*need = KWARP_MPA_FRAME_LEN;
	if (check_key(buf, len, reply))
		return KWARP_PERR_MPA_FRAME;
	if (len > offsetof(struct kwarp_mpa_wire_frame, rev) && !rev_usable(wire->rev))
		return KWARP_PERR_MPA_FRAME;
	if (len < KWARP_MPA_FRAME_LEN)
		return KWARP_PERR_NONE;

	pdata_len = get_unaligned_be16(&wire->pdata_len);
	if (pdata_len > KWARP_MPA_MAX_PDATA)	/* too long: 5044-7.1.1-23, -25; 6581-7-3 */
		return KWARP_PERR_MPA_FRAME;
	if (is_enhanced(wire) && pdata_len < KWARP_MPA_ENH_LEN)	/* too short: 6581-6-11 */
		return KWARP_PERR_MPA_FRAME;
	*need = KWARP_MPA_FRAME_LEN + pdata_len;
	return KWARP_PERR_NONE;
}

static void decode_enh(const u8 *buf, struct kwarp_mpa_frame *frame)
{
	const struct kwarp_mpa_wire_enh *wire = (const void *)buf;
	u16 ird = get_unaligned_be16(&wire->ird);
	u16 ord = get_unaligned_be16(&wire->ord);

	frame->ird = ird & KWARP_MPA_ENH_DEPTH;		/* 14 bits each: 6581-9-3 */
	frame->ord = ord & KWARP_MPA_ENH_DEPTH;
	frame->p2p = ird & KWARP_MPA_ENH_A;
	if (!frame->p2p)				/* no A: ignore B, C, D: 6581-9.2-21 */
		return;
	frame->rtr = (ird & KWARP_MPA_ENH_B ? KWARP_RTR_SEND : 0) |
		     (ord & KWARP_MPA_ENH_C ? KWARP_RTR_WRITE : 0) |
		     (ord & KWARP_MPA_ENH_D ? KWARP_RTR_READ : 0);
}

enum kwarp_perr kwarp_mpa_frame_decode(const u8 *buf, u32 len, bool reply,
				       struct kwarp_mpa_frame *frame, const u8 **pdata)
{
	const struct kwarp_mpa_wire_frame *wire = (const void *)buf;
	u32 need;

	memset(frame, 0, sizeof(*frame));
	*pdata = NULL;
	/* 5044-7.1.1-23: a frame with fewer octets than PD_Length says is refused */
	if (kwarp_mpa_frame_need(buf, len, reply, &need) || len < need)
		return KWARP_PERR_MPA_FRAME;

	/* Res and, in a Request, R are ignored (5044-7.1.1-16, 6581-6-4; 5044-7.1.1-13) */
	frame->reply = reply;
	frame->markers = wire->flags & KWARP_MPA_FLAG_M;
	frame->crc = wire->flags & KWARP_MPA_FLAG_C;
	frame->reject = reply && wire->flags & KWARP_MPA_FLAG_R;
	frame->rev = wire->rev;
	frame->enhanced = is_enhanced(wire);
	frame->pdata_len = need - KWARP_MPA_FRAME_LEN;
	*pdata = buf + KWARP_MPA_FRAME_LEN;
	if (frame->enhanced) {			/* before the ULP's data: 6581-6-9, 6581-9-1 */
		decode_enh(*pdata, frame);
		*pdata += KWARP_MPA_ENH_LEN;
		frame->pdata_len -= KWARP_MPA_ENH_LEN;
	}
	return KWARP_PERR_NONE;
}

static void encode_enh(u8 *buf, const struct kwarp_mpa_frame *frame)
{
	struct kwarp_mpa_wire_enh *wire = (void *)buf;
	u16 ird = min_t(u16, frame->ird, KWARP_DEPTH_NV);
	u16 ord = min_t(u16, frame->ord, KWARP_DEPTH_NV);

	if (frame->p2p) {			/* 6581-9.2-5; without A no flag is set: -18, -20 */
		ird |= KWARP_MPA_ENH_A;
		ird |= frame->rtr & KWARP_RTR_SEND ? KWARP_MPA_ENH_B : 0;
		ord |= frame->rtr & KWARP_RTR_WRITE ? KWARP_MPA_ENH_C : 0;
		ord |= frame->rtr & KWARP_RTR_READ ? KWARP_MPA_ENH_D : 0;
	}
	put_unaligned_be16(ird, &wire->ird);	/* numbers and flags: 6581-9-3 */
	put_unaligned_be16(ord, &wire->ord);
}

u32 kwarp_mpa_frame_encode(u8 *buf, const struct kwarp_mpa_frame *frame)
{
	struct kwarp_mpa_wire_frame *wire = (void *)buf;
	u32 enh_len = frame->enhanced ? KWARP_MPA_ENH_LEN : 0;

	/* the key of a Request or Reply: 5044-7.1.1-1, -3 */
	memcpy(wire->key, frame->reply ? KWARP_MPA_KEY_REP : KWARP_MPA_KEY_REQ,
	       KWARP_MPA_KEY_LEN);
	/* R only in a Reply, reserved bits zero: 5044-7.1.1-12, -14, -15; 6581-6-2, -3 */
	wire->flags = (frame->markers ? KWARP_MPA_FLAG_M : 0) |
		      (frame->crc ? KWARP_MPA_FLAG_C : 0) |
		      (frame->reply && frame->reject ? KWARP_MPA_FLAG_R : 0) |
		      (frame->enhanced ? KWARP_MPA_FLAG_S : 0);
	wire->rev = frame->rev;			/* 1, or 2 if enhanced: 5044-7.1.1-17, 6581-6-6 */
	/* PD_Length includes the enhanced data: 5044-7.1.1-21, 6581-6-9 */
	put_unaligned_be16(frame->pdata_len + enh_len, &wire->pdata_len);
	if (frame->enhanced)			/* after the header: 6581-6-10 */
		encode_enh(buf + KWARP_MPA_FRAME_LEN, frame);
	return KWARP_MPA_FRAME_LEN + enh_len;
}
