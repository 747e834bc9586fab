// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Pure functions, any context. */
#include "fpdu_rx.h"

static void put_next_offset(const struct kwarp_fpdu_rx *rx, u8 *fields)
{
	struct kwarp_ddp_hdr next = rx->hdr;

	kwarp_ddp_advance(&next, rx->payload_len);
	if (next.tagged)
		put_unaligned_be64(next.to, fields + KWARP_MPA_LEN_FIELD +
				   offsetof(struct kwarp_wire_tagged, to));
	else
		put_unaligned_be32(next.mo, fields + KWARP_MPA_LEN_FIELD +
				   offsetof(struct kwarp_wire_untagged, mo));
}

u32 kwarp_fpdu_rx_expect(const struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS])
{
	if (rx->markers || !kwarp_fpdu_rx_in_message(rx))
		return 0;
	memcpy(fields, rx->head, KWARP_FPDU_FIELDS);
	put_next_offset(rx, fields);
	return kwarp_mpa_fpdu_len(rx->ulpdu_len);
}

void kwarp_fpdu_rx_taken(struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS], u32 wire)
{
	kwarp_ddp_advance(&rx->hdr, rx->payload_len);
	rx->off += wire;
	put_next_offset(rx, fields);
}
