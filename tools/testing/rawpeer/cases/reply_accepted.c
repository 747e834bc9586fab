// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Replies that the device accepts: reserved bits, private data, CRC, markers, and
 * what comes with the Reply or waits for it (RFC 5044 section 7.1).
 */
#include "runner/responder.h"

#include <string.h>

static void reserved_bits(struct rp *r)
{
	struct kwraw_mpa m;
	int bit;

	for (bit = 0; bit < 4; bit++) {
		if (!rp_begin_reply(r, &m))
			return;
		m.flags |= 1 << bit;
		rp_up_with(r, &m, false);
		rp_exchange_as_responder(r);
		rp_again(r, "bit", bit);
	}
}

static void private_data(struct rp *r)
{
	static const uint16_t lens[] = { 4, 5, 199, 255, 259, 512 };
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		if (!rp_begin_reply(r, &m))
			return;
		m.pd_len = lens[i];
		rp_up_with(r, &m, false);
		rp_exchange_as_responder(r);
		rp_again(r, "private data", lens[i]);
	}
}

static void crc_by_one(struct rp *r)
{
	struct kwraw_mpa m;
	int i;

	for (i = 0; i < 2; i++) {
		if (!rp_begin_reply(r, &m))
			return;
		m.flags &= ~KWRAW_MPA_C;
		m.flags |= i ? KWRAW_MPA_C : 0;
		rp_up_with(r, &m, false);
		rp_exchange_as_responder(r);
		rp_again(r, "C", i);
	}
}

static void markers_asked(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 1 },
		{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 1001 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 1 },
		{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 1001 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 101, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 102, .wc = IBV_WC_RDMA_WRITE },
		{ .what = RP_DONE },
	};

	if (rp_open_with_markers(r))
		rp_steps(r, steps);
}

/* -------------------------------------------------------------------- first FPDU */

/* Send the Reply and the first FPDU in one write. The device has to process both. */
static void reply_with_fpdu(struct rp *r)
{
	static uint8_t buf[KWRAW_MPA_MAX + KWRAW_FPDU_MAX];
	struct rp_step send = { RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true, .hold = true },
		       taken = { RP_WC, .wc = IBV_WC_RECV, .len = 64 };
	struct kwraw_mpa m;
	size_t len;
	int i;

	for (i = 0; i < 10; i++) {
		if (!rp_begin_reply(r, &m))
			return;
		kwraw_full_operation(&r->c, &m, &r->asked);
		len = kwraw_mpa_encode(&m, buf);
		rp_seg(r, &send);
		memcpy(buf + len, r->out, r->out_len);
		len += r->out_len;
		r->out_len = 0;
		kwraw_send(&r->c, buf, len);
		rp_cm(r, "ESTABLISHED");
		rp_expect(r, &taken);
		if (!r->failed && m.pd[0] & 0x80)
			rp_take_rtr(r, false);
		rp_again(r, "round", i);
	}
}

/*
 * Let the consumer post requests before the Reply. They have to wait for the Reply, and for the RTR
 * (RFC 6581 section 9.2), the first FPDU of an Initiator, which the device sends before them.
 */
static void reply_late(struct rp *r)
{
	static const struct rp_step post[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 6 },
		{ .what = RP_QUIET },
		{ .what = RP_DONE },
	}, get[] = {
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 6 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		{ .what = RP_DONE },
	};
	struct kwraw_mpa m;

	if (!rp_called(r, 4, 4))
		return;
	rp_steps(r, post);
	rp_good_reply(r, &m);
	if (!r->failed)
		rp_up_with(r, &m, false);
	if (!r->failed)
		rp_steps(r, get);
}

const struct rp_case rp_cases_reply_accepted[] = {
	{ .name = "rep-reserved-bits", .ids = "5044-7.1.1-16 6581-6-4",
	  .role = RP_RESP, .run = reserved_bits },
	{ .name = "rep-private-data", .ids = "5044-7.1.1-25 5044-7.1.2-26 5044-7.1.2-15",
	  .role = RP_RESP, .run = private_data },
	{ .name = "rep-with-fpdu", .ids = "5044-7.1.2-15 5044-4.3-16",
	  .role = RP_RESP, .run = reply_with_fpdu },
	{ .name = "rep-late", .ids = "6581-5-2 5044-7.1.2-11",
	  .role = RP_RESP, .run = reply_late },
	{ .name = "rep-crc", .ids = "5044-7.1.1-10 5044-4.4-6 5044-4.4-9",
	  .role = RP_RESP, .run = crc_by_one },
	{ .name = "rep-markers", .ids = "5044-7.1.1-6 5044-4.3-2 5044-4.3-10 5044-4.3-12",
	  .role = RP_RESP, .run = markers_asked },
	{ .name = NULL }
};
