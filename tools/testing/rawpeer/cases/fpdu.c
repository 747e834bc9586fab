// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* kwrawpeer: cases. FPDUs (RFC 5044) with right and wrong length, pad, CRC and markers. */
#include "runner/start.h"

#include <string.h>

static void split_everywhere(struct rp *r);

const struct rp_case rp_cases_fpdu[] = {
	{
		.name = "fpdu-pads", .ids = "5044-4.1-1 5044-4.1-5 5044-4.1-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 1, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 2, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 3, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 4, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 1 },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = 2 },
			{ RP_WC, .wr = 2, .wc = IBV_WC_RECV, .len = 3 },
			{ RP_WC, .wr = 3, .wc = IBV_WC_RECV, .len = 4 },
		},
	},
	{
		.name = "fpdu-longest", .ids = "5044-A.5.2-1 5044-4.1-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 20000, .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "fpdu-junk-pad", .ids = "5044-4.1-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 1, .bad = KWRAW_BAD_PAD, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 1 },
		},
	},
	{
		.name = "fpdu-crc-send", .ids = "5044-4.4-18 5044-4.4-19 5044-4.4-20 5044-6-1 5044-6-3 5044-8-1 5044-8-11 5044-8-12 5041-3-7 5041-7-1 5040-4.8-28 5041-6.2.2-2",
		.crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_SEND, .len = 100, .bad = KWRAW_BAD_CRC),
	},
	{
		.name = "fpdu-crc-write", .ids = "5044-4.4-20 5044-6-1",
		.crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_WRITE, .at = KWT_RW, .len = 100,
			       .bad = KWRAW_BAD_CRC),
	},
	{
		.name = "fpdu-crc-read", .ids = "5044-4.4-20 5040-5.5-16",
		.crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 8,
			       .bad = KWRAW_BAD_CRC),
	},
	{
		.name = "fpdu-crc-invalidate", .ids = "5044-4.4-20",
		.crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_SEND_INV, .len = 8, .inv = KWT_PD,
			       .bad = KWRAW_BAD_CRC),
	},
	{
		.name = "fpdu-crc-terminate", .ids = "5044-4.4-20",
		.crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_TERMINATE, .err = 0x2002,
			       .bad = KWRAW_BAD_CRC),
	},
	{
		.name = "fpdu-crc-response", .ids = "5044-4.4-20 5040-5.5-26",
		.crc = true,
		.first = rp_reading,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_READ_RESP, .len = 100,
			       .bad = KWRAW_BAD_CRC),
	},
	{
		.name = "fpdu-crc-bad-header", .ids = "5044-6-1 5044-4.4-20",
		.crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_SEND, .len = 16, .qn_x = 4,
			       .bad = KWRAW_BAD_CRC),
	},
	{
		.name = "fpdu-crc-then-good", .ids = "5044-8-10",
		.crc = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .bad = KWRAW_BAD_CRC,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .msn_d = -1, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RO, .len = 100 },
			{ RP_REFUSED, .err = 0x2002, .headers = RP_BARE },
		},
	},
	{
		.name = "fpdu-crc-second", .ids = "5044-4.4-20",
		.crc = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .bad = KWRAW_BAD_CRC },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 100 },
			{ RP_REFUSED, .err = 0x2002, .headers = RP_BARE },
		},
	},
	{
		.name = "fpdu-length-too-long", .ids = "5044-4.4-20 5044-6-2",
		.crc = true, .plain = true, .no_markers = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .bad = KWRAW_BAD_LENGTH,
			  .maybe = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 100 },
			{ RP_REFUSED, .err = 0x2002, .headers = RP_BARE },
		},
	},
	{
		.name = "fpdu-crc-unused", .ids = "5044-4.1-8 5044-4.4-10 5044-7.1.1-9 5044-7.1.1-11 5044-4.1-7",
		.no_crc = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .bad = KWRAW_BAD_CRC, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 100 },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 9,
			  .bad = KWRAW_BAD_CRC, .hit = true },
			{ RP_SEND, .len = 1, .wr = 1 },
		},
	},
	{
		.name = "fpdu-ulpdu-0", .ids = "5042-D-2 5041-4.4-1 5044-6-6",
		RP_ONE_REFUSED(0x1000, RP_BARE, .op = KWRAW_SEND, .cut = 18),
	},
	{
		.name = "fpdu-ulpdu-1", .ids = "5042-D-2 5041-4.4-1 5044-6-6",
		RP_ONE_REFUSED(0x1000, RP_BARE, .op = KWRAW_SEND, .cut = 17),
	},
	{
		.name = "fpdu-ulpdu-2", .ids = "5042-D-2 5041-4.4-1 5044-6-6",
		RP_ONE_REFUSED(0x1000, RP_BARE, .op = KWRAW_SEND, .cut = 16),
	},
	{
		.name = "fpdu-ulpdu-13", .ids = "5042-D-2 5041-4.4-1 5044-6-6",
		RP_ONE_REFUSED(0x1000, RP_BARE, .op = KWRAW_SEND, .cut = 5),
	},
	{
		.name = "fpdu-ulpdu-17", .ids = "5042-D-2 5041-4.4-1 5044-6-6",
		RP_ONE_REFUSED(0x1000, RP_BARE, .op = KWRAW_SEND, .cut = 1),
	},
	{
		.name = "fpdu-ulpdu-tagged-13", .ids = "5042-D-2 5041-4.4-1",
		RP_ONE_REFUSED(0x1000, RP_BARE, .op = KWRAW_WRITE, .at = KWT_RW, .cut = 1),
	},
	{
		.name = "fpdu-noise", .ids = "5044-9.1-1 5044-8-1 5044-6-2",
		.crc = true, .plain = true,
		.steps = {
			{ RP_NOISE, .len = 70000 },
			{ RP_TERM, .err = 0x2002, .headers = RP_BARE },
			{ RP_END },
		},
	},
	{
		.name = "fpdu-marker-wrong", .ids = "5044-8-4 5044-8-5 5044-4.2-4",
		.markers = true,
		RP_ONE_REFUSED(0x2003, RP_BARE, .op = KWRAW_SEND, .len = 100,
			       .bad = KWRAW_BAD_MARKER, .maybe = true),
	},
	{
		.name = "fpdu-marker-odd", .ids = "5044-4.2-3 5044-4.2-6 5044-4.3-9",
		.markers = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .bad = KWRAW_ODD_MARKER,
			  .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 100 },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 5000,
			  .bad = KWRAW_ODD_MARKER, .hit = true },
			{ RP_SEND, .len = 1, .wr = 1 },
		},
	},
	{
		.name = "fpdu-marker-wrong-inside", .ids = "5044-8-5",
		.markers = true,
		RP_ONE_REFUSED(0x2003, RP_BARE, .op = KWRAW_WRITE, .at = KWT_RW, .len = 2000,
			       .bad = KWRAW_BAD_MARKER, .maybe = true),
	},
	{
		.name = "fpdu-marker-crc-first", .ids = "5044-8-4",
		.markers = true, .crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_SEND, .len = 100,
			       .bad = KWRAW_BAD_MARKER | KWRAW_BAD_CRC, .maybe = true),
	},
	{
		.name = "fpdu-marked-write", .ids = "5044-4.3-17 5044-4.3-1 5044-4.3-8 5044-4.3-12",
		.markers = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 20000, .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 4999, .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "fpdu-many-in-one", .ids = "5044-4.3-16 5044-5.1-6 5044-5.2-1 5044-A.4-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 3, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 5, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 7, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 11, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 13, .hit = true },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .off = 0, .len = 7 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 5 },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = 13 },
		},
	},
	{
		.name = "fpdu-split-everywhere", .ids = "5044-5.1-6 5044-A.4-1 5044-A.4-2 5044-1.2-4 5044-6-6",
		.plain = true, .run = split_everywhere,
	},
	{ .name = NULL }
};

/* Longest FPDU that is cut. */
#define SPLIT_MAX	128

/*
 * Send the FPDU of step @s in two segments of TCP, cut at octet @at. In between, the consumer is
 * asked for a completion, which gives the device time to process the first segment.
 */
static void split_at(struct rp *r, const struct rp_step *s, size_t at)
{
	struct rp_step held = *s;
	uint8_t rest[SPLIT_MAX];
	size_t len;

	held.hold = true;
	rp_seg(r, &held);
	len = r->out_len;
	r->out_len = 0;
	if (at >= len || len > sizeof(rest))
		at = len - 1;
	memcpy(rest, r->out, len);
	kwraw_send(&r->c, rest, at);
	rp_expect(r, &(struct rp_step){ .what = RP_NO_WC });
	kwraw_send(&r->c, rest + at, len - at);
}

static void split_everywhere(struct rp *r)
{
	static const struct rp_step segs[] = {
		{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 23, .hit = true },
		{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 9 },
		{ RP_SEG, .op = KWRAW_SEND, .len = 26, .hit = true },
	}, answer = {
		RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .len = 9
	}, post = {
		RP_RECV, .len = 26
	};
	struct rp_step taken = { RP_WC, .wc = IBV_WC_RECV, .len = 26 };
	size_t at;
	bool up = rp_open(r);

	for (at = 1; up && at < 56 && !r->failed; at++) {
		split_at(r, &segs[0], at);
		split_at(r, &segs[1], at);
		rp_expect(r, &answer);
		/* Only each seventh cut is tried with a Send, too: there are 8 receive buffers. */
		if (at % 7)
			continue;
		taken.wr = at / 7 - 1;
		split_at(r, &segs[2], at % 48);
		rp_expect(r, &taken);
		if (taken.wr >= 3 && taken.wr < 7)
			rp_one_step(r, &post);
	}
}
