/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A function that suites use in place of kwarp_rx_feed(): it runs the real parser, and calls
 * callbacks of the suite for payload and for ends of FPDUs.
 */
#ifndef KWARP_TEST_FEED_H
#define KWARP_TEST_FEED_H

#include "../engine.h"

/**
 * struct feed_sink - callbacks of the suite
 * @payload: called for octets of payload
 * @fpdu: called at the end of a valid FPDU
 */
struct feed_sink {
	void (*payload)(struct kwarp_engine *e, const u8 *piece, u32 n);
	void (*fpdu)(struct kwarp_engine *e);
};

static void feed(struct kwarp_engine *e, const u8 *data, size_t len,
		 const struct feed_sink *sink)
{
	enum kwarp_fpdu_event ev;
	const u8 *piece;
	u32 n;

	while (!test_bit(KWARP_E_RX_STOP, &e->flags)) {
		ev = kwarp_fpdu_rx_next(&e->rx.fpdu, &data, &len, &piece, &n);
		if (ev == KWARP_FPDU_MORE)
			return;
		if (ev == KWARP_FPDU_DATA || ev == KWARP_FPDU_DATA_END)
			sink->payload(e, piece, n);
		if (ev == KWARP_FPDU_END || ev == KWARP_FPDU_DATA_END)
			sink->fpdu(e);
		if (ev == KWARP_FPDU_ERROR) {
			e->perr = e->rx.fpdu.err;
			set_bit(KWARP_E_RX_STOP, &e->flags);
		}
	}
}

#endif /* KWARP_TEST_FEED_H */
