// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. A memory window, and the messages that invalidate it. The window is bound to a
 * part of a region without remote rights, so the memory around the window, in the same pages, must
 * not change.
 *
 * While the window is bound, the consumer cannot deregister the region (step RP_BUSY). By this step
 * the cases show that a refused message has not invalidated the window.
 */
#include "runner/control.h"
#include "runner/start.h"

static void split_everywhere(struct rp *r);
static void on_other_stream(struct rp *r);

const struct rp_case rp_cases_window[] = {
	{
		.name = "window-write", .ids = "5041-8.2-5 5041-8.3-2 5041-8.3-3 5040-1.2-5 5040-8.1.1-4",
		.first = rp_window,
		.steps = {
			{ RP_BUSY, .at = KWT_BELOW },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 20000, .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 50, .off = 4000,
			  .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "window-read", .ids = "5041-8.2-5 5040-1.2-8",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = 1000 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_WIN, .off = 0, .len = 1000 },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = 1, .off = 19999 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_WIN, .off = 19999, .len = 1 },
		},
	},
	{
		.name = "window-not-bound", .ids = "5041-7.1-14 5040-2.4-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
			{ RP_DEREG, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-bounds-across-begin", .ids = "5041-7.1-16 5041-8.3.1-3 5040-8.1.1-3",
		.first = rp_window,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 2,
			       .off = -1),
	},
	{
		.name = "window-bounds-across-end", .ids = "5041-7.1-16 5041-8.3.1-3 5040-8.1.1-3",
		.first = rp_window,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 2,
			       .off = 19999),
	},
	{
		.name = "window-region-below", .ids = "5041-7.1-15 5040-8.1.1-5",
		.first = rp_window,
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_BELOW, .len = 16),
	},
	{
		.name = "window-send-junk-stag", .ids = "5040-4.1-13 5040-4.1-15",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16 },
			{ RP_SEG, .op = KWRAW_SEND_SE, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = 16 },
			{ RP_BUSY, .at = KWT_BELOW },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 16, .hit = true },
			{ RP_SEND, .len = 1, .wr = 2 },
		},
	},
	{
		.name = "window-inv", .ids = "5040-1.2-2 5040-2.4-1 5040-3.2-4 5040-4.1-13 5040-5.3-18 5041-4.3-4 5041-8.3-2 5042-6.2.2-2",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100, .hit = true },
			{ RP_ARM },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_ASLEEP },
			{ RP_DEREG, .at = KWT_BELOW },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "window-inv-then-read", .ids = "5040-1.2-2 5040-2.4-1 5040-5.3-18 5040-1.2-8",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = 4 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_WIN, .off = 0, .len = 4 },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = 4 },
			{ RP_REFUSED, .err = 0x0100, .headers = RP_RREQ },
		},
	},
	{
		.name = "window-inv-solicited", .ids = "5040-1.2-2 5040-1.2-3 5040-2.4-3 5040-3.2-4 5040-5.3-18",
		.first = rp_window,
		.steps = {
			{ RP_ARM },
			{ RP_SEG, .op = KWRAW_SEND_SE_INV, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_AWAKE },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_DEREG, .at = KWT_BELOW },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "window-inv-zero-length", .ids = "5040-5.3-14 5040-5.3-18",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 0, .inv = KWT_WIN },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 0, .inv = KWT_WIN },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		/*
		 * The window is invalidated when the message is delivered, so not before the last
		 * segment.
		 */
		.name = "window-inv-in-segments", .ids = "5040-5.3-17 5040-5.3-18",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true,
			  .more = true },
			{ RP_NO_WC },
			{ RP_BUSY, .at = KWT_BELOW },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 32, .inv = KWT_WIN },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		/* All three messages are in one segment of TCP. */
		.name = "window-inv-between-writes", .ids = "5040-1.2-2 5040-5.3-18 5040-5.5-13 5040-8.1.1-6 5041-8.3.1-6 5042-6.2.2-2",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100 },
			{ RP_TERM, .err = 0x1100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		/* The Send that invalidates the window comes between two segments of a Write. */
		.name = "window-inv-inside-write", .ids = "5041-7.1-13 5040-8.1.1-6 5041-8.3.1-6",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100, .hit = true,
			  .more = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100, .off = 100 },
			{ RP_TERM, .err = 0x1100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "window-inv-twice", .ids = "5040-7.2-4 5040-5.3-9 5040-4.8-25",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .maybe = true },
			{ RP_TERM, .err = 0x0100, .headers = RP_DDP },
			{ RP_WC, .wr = 1, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "window-inv-twice-at-once", .ids = "5040-7.2-4 5040-5.3-9",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_SEND_SE_INV, .len = 16, .inv = KWT_WIN,
			  .maybe = true },
			{ RP_TERM, .err = 0x0100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_WC, .wr = 1, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "window-inv-bound-anew", .ids = "5040-1.2-2 5040-2.4-1 5041-8.3-2",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ .what = RP_BIND },
			{ RP_WC, .wr = 101, .wc = IBV_WC_BIND_MW },
			{ RP_BUSY, .at = KWT_BELOW },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100, .hit = true },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
			{ RP_DEREG, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-inv-wrong-key", .ids = "5040-7.2-4",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .inv_x = 0x80,
			  .maybe = true },
			{ RP_TERM, .err = 0x0100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
			{ RP_BUSY, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-inv-region-below", .ids = "5040-8.1.1-7 5040-5.3-19",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_BELOW,
			  .maybe = true },
			{ RP_TERM, .err = 0x0109, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
			{ RP_BUSY, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-inv-crc", .ids = "5044-4.4-20 5040-5.3-17",
		.crc = true,
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN,
			  .bad = KWRAW_BAD_CRC },
			{ RP_REFUSED, .err = 0x2002, .headers = RP_BARE },
			{ RP_BUSY, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-inv-no-buffer", .ids = "5041-7.1-3 5040-5.3-17",
		.no_recvs = true,
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN },
			{ RP_REFUSED, .err = 0x1202, .headers = RP_DDP },
			{ RP_BUSY, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-inv-too-long", .ids = "5041-7.1-9 5040-5.3-17",
		.recvs = { 100, 100 },
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 101, .inv = KWT_WIN },
			{ RP_TERM, .err = 0x1205, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_LOC_LEN_ERR },
			{ RP_END, .end = RP_BY_FIN },
			{ RP_BUSY, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-inv-msn-skipped", .ids = "5041-7.1-10 5040-5.3-17",
		.first = rp_window,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .msn_d = 1 },
			{ RP_REFUSED, .err = 0x1203, .headers = RP_DDP },
			{ RP_BUSY, .at = KWT_BELOW },
		},
	},
	{
		.name = "window-inv-split-everywhere", .ids = "5044-5.1-6 5040-5.3-18 5040-8.1.1-6 5042-6.2.2-2",
		.plain = true, .run = split_everywhere,
	},
	{
		.name = "window-inv-other-stream", .ids = "5040-7.2-5 5040-5.3-17 5040-5.3-19 5042-6.1.1-3 5040-8.1.1-7",
		.recvs = { 512, 512 }, .run = on_other_stream,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .maybe = true },
			{ RP_TERM, .err = 0x0109, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "window-write-other-stream", .ids = "5041-8.2-3 5041-8.3.1-2 5040-8.1.1-2 5042-6.1.1-3",
		.recvs = { 512, 512 }, .run = on_other_stream,
		RP_ONE_REFUSED(0x1102, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 16),
	},
	{
		.name = "window-read-other-stream", .ids = "5041-8.2-3 5040-8.1.1-2 5042-6.1.1-3",
		.recvs = { 512, 512 }, .run = on_other_stream,
		RP_ONE_REFUSED(0x0103, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = 16),
	},
	{ .name = NULL }
};

/* Octets between two places where the stream is cut. */
#define SPLIT_STEP	3

/*
 * Send a Write to the window, a Send that invalidates the window, and a Write that comes too late.
 * The three FPDUs are sent in two segments of TCP, cut at octet @at. Return their length together.
 */
static size_t split_at(struct rp *r, size_t at)
{
	static const struct rp_step first = {
		RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 5, .hit = true, .hold = true,
	}, inv = {
		RP_SEG, .op = KWRAW_SEND_INV, .len = 6, .inv = KWT_WIN, .hit = true, .hold = true,
	}, late = {
		RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 7, .off = 3, .hold = true,
	}, no_wc = {
		.what = RP_NO_WC,
	}, end[] = {
		{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 6, .inv = KWT_WIN },
		{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		{ .what = RP_DONE },
	};
	size_t inv_end, len;

	rp_seg(r, &first);
	rp_seg(r, &inv);
	inv_end = r->out_len;
	rp_seg(r, &late);
	len = r->out_len;
	r->out_len = 0;
	kwraw_send(&r->c, r->out, at);
	/*
	 * Give the device time to process the first segment: wait for the completion of the Send,
	 * or, if the Send is not complete yet, make sure that none comes.
	 */
	if (at < inv_end)
		rp_expect(r, &no_wc);
	else
		rp_expect(r, &end[0]);
	kwraw_send(&r->c, r->out + at, len - at);
	rp_steps(r, at < inv_end ? end : end + 1);
	return len;
}

static void split_everywhere(struct rp *r)
{
	size_t at, len = SPLIT_STEP + 1;

	for (at = 1 + kw_below(&r->rng, SPLIT_STEP); at < len; at += SPLIT_STEP) {
		if (!rp_open(r))
			return;
		rp_steps(r, rp_window);
		if (!r->failed)
			len = split_at(r, at);
		rp_again(r, "cut at octet", at);
		if (r->failed)
			return;
	}
}

/*
 * Bind the window to one connection, and name it in the steps of the case on another connection,
 * which has to end. On the first connection the window still has to work.
 */
static void on_other_stream(struct rp *r)
{
	static const struct rp_step still[] = {
		{ RP_BUSY, .at = KWT_BELOW },
		{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WIN, .len = 100, .hit = true },
		{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_WIN, .hit = true },
		{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16, .inv = KWT_WIN },
		{ .what = RP_DONE },
	};
	static struct rp b;

	if (!rp_open(r))
		return;
	rp_steps(r, rp_window);
	if (r->failed)
		return;
	b = (struct rp){
		.k = r->k, .role = r->role, .out = r->out, .recv = KWT_RECV_MAX,
		.c = { .fd = -1, .piece = r->c.piece }, .rng = r->rng,
	};
	rp_ctl("other");
	if (rp_open(&b))
		rp_steps(&b, r->k->steps);
	rp_finish(&b);
	rp_ctl("other");
	r->failed = b.failed;
	if (!r->failed)
		rp_steps(r, still);
}
