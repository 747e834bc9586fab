/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that suites use in place of kwarp_rx_feed() and kwarp_rx_feed_skb(): they run the real
 * parser, and call callbacks of the suite for payload and for ends of FPDUs.
 */
#ifndef KWARP_TEST_FEED_H
#define KWARP_TEST_FEED_H

#include <linux/skbuff.h>

#include "../engine.h"

struct feed_sink {
	void (*payload)(struct kwarp_engine *e, const u8 *piece, u32 n);
	void (*fpdu)(struct kwarp_engine *e);
};

/* Instead of kwarp_rx_accept_series(): each FPDU goes through the parser. */
static size_t accept_none(struct kwarp_engine *e, const u8 *data, size_t len)
{
	return 0;
}

/* After the header of this FPDU, from 1, its segment waits for a receive; 0: none waits. */
static u32 feed_parks_at;

/* Return: octets left after that. */
static size_t feed(struct kwarp_engine *e, const u8 *data, size_t len,
		   const struct feed_sink *sink)
{
	enum kwarp_fpdu_event ev;
	const u8 *piece;
	u32 n;

	while (!kwarp_rx_halted(e)) {
		ev = kwarp_fpdu_rx_next(&e->rx.fpdu, &data, &len, &piece, &n);
		if (ev == KWARP_FPDU_MORE)
			return 0;
		if (ev == KWARP_FPDU_HDR && feed_parks_at && !--feed_parks_at)
			set_bit(KWARP_E_RX_PARKED, &e->flags);
		if (ev == KWARP_FPDU_DATA || ev == KWARP_FPDU_DATA_END)
			sink->payload(e, piece, n);
		if (ev == KWARP_FPDU_END || ev == KWARP_FPDU_DATA_END)
			sink->fpdu(e);
		if (ev == KWARP_FPDU_ERROR) {
			e->perr = e->rx.fpdu.err;
			set_bit(KWARP_E_RX_STOP, &e->flags);
		}
	}
	return kwarp_rx_stopped(e) ? 0 : len;
}

static u32 feed_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len,
		    const struct feed_sink *sink)
{
	u32 n = kwarp_rx_halted(e) ? 0 : kwarp_fpdu_rx_payload(&e->rx.fpdu, len), done, k;
	u8 octets[256];

	for (done = 0; done < n; done += k) {
		k = min_t(u32, n - done, sizeof(octets));
		if (skb_copy_bits(skb, offset + done, octets, k)) {
			kwarp_engine_lost(e);
			break;
		}
		sink->payload(e, octets, k);
	}
	return n;
}

#endif /* KWARP_TEST_FEED_H */
