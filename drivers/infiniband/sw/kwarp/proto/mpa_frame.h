/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * FPDU arithmetic: lengths, pad, markers, MULPDU (RFC 5044 sections 3 to 4.5). Offsets in a stream
 * count from SeqStart, the first octet after the startup frame.
 */
#ifndef KWARP_PROTO_MPA_FRAME_H
#define KWARP_PROTO_MPA_FRAME_H

#include "wire.h"

/*
 * RFC 5044 section 4.5, clamped to 128..64768 (5044-3-4, 5044-4.5-1, -2, -7). Any @emss is allowed.
 * Unless clamped, a ULPDU of the resulting length needs no pad.
 */
u32 kwarp_mpa_mulpdu(u32 emss, bool markers);

/* Return: pad octets after a ULPDU of @ulpdu_len octets: 0 to 3 (5044-4.1-5). */
static inline u32 kwarp_mpa_pad(u32 ulpdu_len)
{
	return -(KWARP_MPA_LEN_FIELD + ulpdu_len) & 3;
}

static inline u32 kwarp_mpa_fpdu_len(u32 ulpdu_len)
{
	return KWARP_MPA_LEN_FIELD + ulpdu_len + kwarp_mpa_pad(ulpdu_len) +
	       KWARP_MPA_CRC_LEN;
}

/*
 * A marker that is due at @off itself stands before ULPDU_Length and belongs to this FPDU; a marker
 * that is due directly after the CRC belongs to the next FPDU (5044-4.3-8).
 */
u32 kwarp_mpa_markers_in(u32 off, u32 content);

static inline u32 kwarp_mpa_wire_len(u32 off, u32 ulpdu_len, bool markers)
{
	u32 len = kwarp_mpa_fpdu_len(ulpdu_len);

	return markers ? len + kwarp_mpa_markers_in(off, len) * KWARP_MPA_MARKER_LEN : len;
}

/* 0: a marker is due at @off. */
static inline u32 kwarp_mpa_to_marker(u32 off)
{
	return -off & (KWARP_MPA_MARKER_EVERY - 1);
}

/*
 * @ptr: octets in the stream from the first octet of ULPDU_Length to the marker, earlier markers
 * included; 0 for a marker before ULPDU_Length (5044-4.2-4, 5044-4.3-15).
 */
void kwarp_mpa_marker_encode(u8 out[KWARP_MPA_MARKER_LEN], u32 ptr);

u32 kwarp_mpa_marker_decode(const u8 in[KWARP_MPA_MARKER_LEN]);

static inline u32 kwarp_mpa_crc_init(void)
{
	return ~0U;
}

static inline u32 kwarp_mpa_crc_add(u32 crc, const void *data, size_t len)
{
	return crc32c(crc, data, len);
}

/* 5044-4.4-13, -17: the CRC is sent as in iSCSI: inverted, least significant octet first. */
static inline void kwarp_mpa_crc_put(u8 out[KWARP_MPA_CRC_LEN], u32 crc)
{
	put_unaligned_le32(~crc, out);
}

static inline bool kwarp_mpa_crc_ok(const u8 in[KWARP_MPA_CRC_LEN], u32 crc)
{
	return get_unaligned_le32(in) == ~crc;	/* inverted: 5044-4.4-19 */
}

#endif /* KWARP_PROTO_MPA_FRAME_H */
