// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. FPDUs after a startup with the raw peer as Initiator: who sends first, CRC,
 * markers, and the longest segment (MULPDU).
 */
#include "runner/control.h"
#include "runner/initiator.h"

/* ------------------------------------------------------------------ first FPDU */

/* The consumer posts a Send, which the device must not send before an FPDU of the raw peer. */
static void device_waits(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ .what = RP_QUIET },
		{ RP_SEG, .op = KWRAW_WRITE },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ .what = RP_DONE },
	};

	if (rp_open(r))
		rp_steps(r, steps);
}

/* Send an FPDU right after the Reply has come, before the consumer reads its event. */
static void fpdu_at_once(struct rp *r)
{
	struct rp_step send = { RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true },
		       taken = { RP_WC, .wc = IBV_WC_RECV, .len = 64 };
	struct rp_offer o = { .rev = 1, .c_ird = 4, .c_ord = 4 };
	int i;

	for (i = 0; i < 20 && !r->failed; i++) {
		if (!rp_send_offer(r, &o) || !rp_ctl("accept %d", rp_soon()))
			rp_fail(r, "not accepted");
		rp_check_reply(r, &o);
		if (r->failed)
			return;
		rp_seg(r, &send);
		rp_cm(r, "ESTABLISHED");
		rp_expect(r, &taken);
		rp_again(r, "round", i);
	}
}

/* ---------------------------------------------------------------- CRC, markers */

static void crc_choices(struct rp *r)
{
	struct rp_offer o = { .rev = 1, .c_ird = 4, .c_ord = 4 };

	rp_accepted(r, &o, "C as the run", 0);
	/* If the raw peer asks for CRCs, they are used, whatever the device wants. */
	o.flags = KWRAW_MPA_C;
	o.reply = KWRAW_MPA_C;
	rp_accepted(r, &o, "C", 1);
}

/* The raw peer does not ask for CRCs here. They are used, because the device asks for them. */
static void crc_not_asked(struct rp *r)
{
	struct rp_offer o = { .rev = 1, .c_ird = 4, .c_ord = 4, .reply = KWRAW_MPA_C };
	bool want = rp_where.want_crc;

	rp_where.want_crc = false;
	rp_accepted(r, &o, "no C", 0);
	rp_where.want_crc = want;
}

static void markers_asked(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_SEND, .len = 64 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 3 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 1001 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 3 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 1001 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		{ RP_WC, .wr = 102, .wc = IBV_WC_SEND },
		{ .what = RP_DONE },
	};

	if (rp_open_with_markers(r))
		rp_steps(r, steps);
}

/* Let the device send messages of many lengths, so that markers come at each place of an FPDU. */
static void markers_everywhere(struct rp *r)
{
	struct rp_step post = { RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC },
		       get = { RP_GET, .op = KWRAW_SEND, .at = KWT_SRC },
		       done = { RP_WC, .wc = IBV_WC_SEND, .wr = 100 },
		       open = { RP_SEG, .op = KWRAW_WRITE };
	unsigned int step = rp_where.slow > 4 ? 7 : 1;

	if (!rp_open_with_markers(r))
		return;
	rp_seg(r, &open);
	for (; !r->failed && get.len < 560; get.len += step, done.wr++) {
		post.len = get.len;
		rp_steps(r, (struct rp_step[]){ post, get, done, { .what = RP_DONE } });
	}
}

/* ---------------------------------------------------------------------- MULPDU */

#define MULPDU_LEN	5000
/* Octets of the timestamps that TCP puts into each of its segments. */
#define TIMESTAMPS	12

/*
 * Receive one message, which @ask causes, in segments: each but the last one has the longest ULPDU,
 * @max octets.
 */
static void longest_segments(struct rp *r, struct rp_step ask, struct rp_step get,
			     unsigned int max)
{
	unsigned int left = MULPDU_LEN;

	max -= get.op == KWRAW_SEND ? KWRAW_UNTAGGED_HDR : KWRAW_TAGGED_HDR;
	rp_one_step(r, &ask);
	while (left && !r->failed) {
		get.len = left < max ? left : max;
		left -= get.len;
		get.more = left;
		rp_expect(r, &get);
		get.off += get.len;
	}
}

/* Let the device send a Send, a Write and a Read Response, each longer than a segment. */
static void long_messages(struct rp *r, unsigned int max)
{
	static const struct rp_step
		send = { RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = MULPDU_LEN },
		write = { RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = MULPDU_LEN },
		read = { RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = MULPDU_LEN },
		get_send = { RP_GET, .op = KWRAW_SEND, .at = KWT_SRC },
		get_write = { RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC },
		get_response = { RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW },
		wc[] = { { RP_WC, .wc = IBV_WC_SEND, .wr = 100 },
			 { RP_WC, .wc = IBV_WC_RDMA_WRITE, .wr = 101 },
			 { .what = RP_DONE } };

	longest_segments(r, send, get_send, max);
	longest_segments(r, write, get_write, max);
	longest_segments(r, read, get_response, max);
	rp_steps(r, wc);
}

static void mulpdu(struct rp *r)
{
	static const int sizes[] = { 536, 1000, 1003, 1460 };
	static const struct rp_step open = { RP_SEG, .op = KWRAW_WRITE };
	unsigned int emss;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes) && !r->failed; i++) {
		emss = sizes[i] - TIMESTAMPS;
		kwraw_mss = sizes[i];
		if (rp_open(r)) {
			rp_seg(r, &open);
			if (rp_where.want_markers)
				emss -= 4 * ((emss + 511) / 512);
			long_messages(r, emss - 6 - (sizes[i] - TIMESTAMPS) % 4);
		}
		rp_again(r, "MSS", sizes[i]);
	}
	kwraw_mss = 0;
}

const struct rp_case rp_cases_request_fpdu[] = {
	{ .name = "req-device-waits", .ids = "5044-7.1.2-16 5044-7.1.2-11",
	  .role = RP_INIT, .run = device_waits },
	{ .name = "req-crc", .ids = "5044-7.1.1-10 5044-4.4-9 5044-4.4-6",
	  .role = RP_INIT, .run = crc_choices },
	{ .name = "req-crc-not-asked", .ids = "5044-7.1.1-10 5044-4.4-9 5044-1.2-2",
	  .role = RP_INIT, .crc = true, .run = crc_not_asked },
	{ .name = "req-markers", .ids = "5044-4.3-2 5044-4.3-1 5044-4.3-12",
	  .role = RP_INIT, .run = markers_asked },
	{ .name = "req-markers-everywhere", .ids = "5044-4.3-4 5044-4.3-5 5044-4.3-10 5044-4.3-11 5044-4.3-13 5044-4.3-14 5044-4.3-15 5044-4.4-15 5044-4.4-16 5044-4.1-3 5044-7.1.1-5 5044-7.1.1-8",
	  .role = RP_INIT, .run = markers_everywhere },
	{ .name = "req-mulpdu", .ids = "5041-5.2-2 5044-3-2 5041-5.2-1 5041-5.2-7 5041-5.2-10 5041-4.1-4 5041-4.1-5 5041-4.1-6 5041-4.2-5 5041-4.2-6 5041-4.2-12 5041-4.2-13 5041-4.3-11 5041-4.3-16 5040-3.1-4 5040-5.2.2-10",
	  .role = RP_INIT, .plain = true, .run = mulpdu },
	{ .name = "req-fpdu-at-once", .ids = "5044-7.1.2-10",
	  .role = RP_INIT, .run = fpdu_at_once },
	{ .name = NULL }
};
