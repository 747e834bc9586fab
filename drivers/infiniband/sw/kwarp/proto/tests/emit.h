/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A sender of FPDUs for tests. It works octet by octet as RFC 5044 describes, and computes the CRC
 * bit by bit, so that it shares no arithmetic with the code under test.
 */
#ifndef KWARP_PROTO_EMIT_H
#define KWARP_PROTO_EMIT_H

#include "../os.h"

/*
 * @size: octets in @buf; octets that do not fit are only counted in @len
 * @off: stream offset of the next octet from SeqStart
 * @fpdu_off: @off at the beginning of the last ULPDU_Length
 */
struct kwarp_emit {
	u8 *buf;
	u32 size;
	u32 len;
	u32 off;
	bool markers;
	u32 count;
	bool in_fpdu;
	u32 fpdu_off;
	u32 crc;
};

static inline u32 kwarp_emit_crc_octet(u32 crc, u8 octet)
{
	int bit;

	crc ^= octet;
	for (bit = 0; bit < 8; bit++)
		crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	return crc;
}

static inline void kwarp_emit_raw(struct kwarp_emit *e, u8 octet)
{
	if (e->len < e->size)
		e->buf[e->len] = octet;
	e->len++;
	e->off++;
}

static inline void kwarp_emit_covered(struct kwarp_emit *e, u8 octet)
{
	e->crc = kwarp_emit_crc_octet(e->crc, octet);
	kwarp_emit_raw(e, octet);
}

static inline void kwarp_emit_marker(struct kwarp_emit *e)
{
	u32 ptr = e->in_fpdu ? e->off - e->fpdu_off : 0;

	if (!e->markers || e->off % 512)
		return;
	kwarp_emit_covered(e, 0);
	kwarp_emit_covered(e, 0);
	kwarp_emit_covered(e, ptr >> 8);
	kwarp_emit_covered(e, ptr);
	e->count++;
}

static inline void kwarp_emit_octet(struct kwarp_emit *e, u8 octet)
{
	kwarp_emit_marker(e);
	if (!e->in_fpdu) {
		e->in_fpdu = true;
		e->fpdu_off = e->off;
	}
	kwarp_emit_covered(e, octet);
}

/* Append an FPDU with @ulpdu_len octets of @ulpdu; @flip changes bits of the trailer (xor). */
static inline void kwarp_emit_fpdu(struct kwarp_emit *e, const u8 *ulpdu,
				   u32 ulpdu_len, u32 flip)
{
	u32 i, crc;

	e->crc = ~0U;
	e->in_fpdu = false;
	kwarp_emit_octet(e, ulpdu_len >> 8);
	kwarp_emit_octet(e, ulpdu_len);
	for (i = 0; i < ulpdu_len; i++)
		kwarp_emit_octet(e, ulpdu[i]);
	for (i = 2 + ulpdu_len; i % 4; i++)
		kwarp_emit_octet(e, 0);
	kwarp_emit_marker(e);
	crc = ~e->crc ^ flip;
	for (i = 0; i < 4; i++)
		kwarp_emit_raw(e, crc >> (8 * i));
}

#endif /* KWARP_PROTO_EMIT_H */
