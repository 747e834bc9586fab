// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* FPDU arithmetic (RFC 5044 sections 3 to 4.5). Pure functions, any context. */
#include "mpa_frame.h"

u32 kwarp_mpa_mulpdu(u32 emss, bool markers)
{
	u32 cost = KWARP_MPA_OVERHEAD + (emss & 3);	/* emss & 3: avoids a pad (5044-4.5-2) */

	if (markers)	/* 5044-4.5-1: as many markers as can fall into a segment */
		cost += KWARP_MPA_MARKER_LEN *
			DIV_ROUND_UP(emss, KWARP_MPA_MARKER_EVERY);

	/* 5044-3-4, 5044-4.5-7; compare before subtracting: EMSS may be less than the cost */
	if (emss < KWARP_MPA_MIN_MULPDU + cost)
		return KWARP_MPA_MIN_MULPDU;
	return min_t(u32, emss - cost, KWARP_MPA_MAX_ULPDU);	/* at most 64768: 5044-3-4, -3-5 */
}

u32 kwarp_mpa_markers_in(u32 off, u32 content)
{
	const u32 between = KWARP_MPA_MARKER_EVERY - KWARP_MPA_MARKER_LEN;
	u32 d = kwarp_mpa_to_marker(off);

	/*
	 * One marker in each 512 octets of the stream: 5044-4.3-4, -12. A marker due directly after
	 * the CRC belongs to the next FPDU (5044-4.3-8), hence the "- 1".
	 */
	if (d >= content)
		return 0;
	return 1 + (content - d - 1) / between;
}

void kwarp_mpa_marker_encode(u8 out[KWARP_MPA_MARKER_LEN], u32 ptr)
{
	put_unaligned_be16(0, out);		/* reserved: 5044-4.2-2 */
	put_unaligned_be16(ptr & ~3, out + 2);	/* low bits zero: 5044-4.2-4, -5 */
}

u32 kwarp_mpa_marker_decode(const u8 in[KWARP_MPA_MARKER_LEN])
{
	/* 5044-4.2-3: the reserved half is ignored; 5044-4.2-6: low bits count as zero */
	return get_unaligned_be16(in + 2) & ~3;
}
