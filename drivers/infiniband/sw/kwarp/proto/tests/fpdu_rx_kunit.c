// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The FPDU parser: vectors cut into pieces at every octet, streams of the sender in emit.h, every
 * kind of error, and random octets.
 *
 * Each piece of input is copied directly before a guard page, so a read beyond the piece faults.
 *
 * Numbers such as 5044-8-10 name requirements of RFCs, see Documentation/conformance.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../fpdu_expect.h"
#include "emit.h"
#include "guard.h"
#include "vectors.h"

#define STREAM_MAX	(160 * 1024)

/**
 * struct sink - a receiver that checks everything that the parser reports
 * @test: test whose expectations are checked
 * @rx: parser under test
 * @end: end of the input buffer, before the guard page
 * @queue: with CRCs: octets received, which wait until their FPDU is complete
 * @cut: for each octet of @queue: it was the first one of a piece
 * @queued: octets in @queue
 * @from: octets of @queue already given to the parser
 * @head_end: with CRCs: stream offset where the header of the FPDU ends
 * @out: payload reported by the parser
 * @out_len: octets in @out
 * @seg_len: payload octets of the current segment so far
 * @hdrs: number of HDR events
 * @ends: number of END events
 * @err: error of the ERROR event
 */
struct sink {
	struct kunit *test;
	struct kwarp_fpdu_rx rx;
	u8 *end;
	u8 *queue;
	bool *cut;
	u32 queued;
	u32 from;
	u32 head_end;
	u8 *out;
	u32 out_len;
	u32 seg_len;
	u32 hdrs;
	u32 ends;
	enum kwarp_perr err;
};

static struct sink *sink_new(struct kunit *test)
{
	struct sink *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	s->end = kwarp_guard_end(test, STREAM_MAX);
	s->out = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	s->queue = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	s->cut = (bool *)(kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX);
	memset(s->cut, 0, STREAM_MAX);
	return s;
}

static void sink_start(struct sink *s, bool check_crc, bool markers, u32 off)
{
	kwarp_fpdu_rx_init(&s->rx, check_crc, markers);
	s->rx.off = off;
	memset(s->cut, 0, s->queued);
	s->queued = 0;
	s->from = 0;
	s->out_len = 0;
	s->hdrs = 0;
	s->ends = 0;
	s->err = KWARP_PERR_NONE;
}

static void sink_data(struct sink *s, const u8 *data, u32 dlen, const u8 *from)
{
	struct kunit *test = s->test;

	KUNIT_ASSERT_GT(test, s->hdrs, s->ends);
	KUNIT_ASSERT_GT(test, dlen, 0);
	KUNIT_ASSERT_TRUE(test, data >= from && data + dlen <= s->end);
	KUNIT_ASSERT_LE(test, s->out_len + dlen, STREAM_MAX);
	memcpy(s->out + s->out_len, data, dlen);
	s->out_len += dlen;
	s->seg_len += dlen;
	KUNIT_ASSERT_LE(test, s->seg_len, s->rx.payload_len);
}

/* Handle an event: check its order, and that it agrees with the state of the parser. */
static void sink_event(struct sink *s, enum kwarp_fpdu_event ev, const u8 *data,
		       u32 dlen, const u8 *from)
{
	struct kunit *test = s->test;

	switch (ev) {
	case KWARP_FPDU_HDR:
		KUNIT_ASSERT_EQ(test, s->hdrs, s->ends);
		KUNIT_ASSERT_EQ(test, s->rx.ulpdu_len,
				s->rx.payload_len +
				kwarp_ddp_hdr_len(*kwarp_fpdu_rx_raw(&s->rx)));
		if (s->rx.check_crc)
			KUNIT_ASSERT_EQ(test, s->rx.off, s->head_end);
		s->hdrs++;
		s->seg_len = 0;
		break;
	case KWARP_FPDU_DATA:
		sink_data(s, data, dlen, from);
		break;
	case KWARP_FPDU_END:
		s->ends++;
		KUNIT_ASSERT_EQ(test, s->hdrs, s->ends);
		KUNIT_ASSERT_EQ(test, s->seg_len, s->rx.payload_len);
		KUNIT_ASSERT_TRUE(test, kwarp_fpdu_rx_idle(&s->rx));
		break;
	case KWARP_FPDU_DATA_END:
		sink_event(s, KWARP_FPDU_DATA, data, dlen, from);
		sink_event(s, KWARP_FPDU_END, NULL, 0, from);
		break;
	case KWARP_FPDU_ERROR:
		s->err = s->rx.err;
		KUNIT_ASSERT_NE(test, s->err, KWARP_PERR_NONE);
		break;
	case KWARP_FPDU_MORE:
		break;
	}
}

/* Give a piece to the parser until all of it is used; 5044-8-10: an error is the last event. */
static void sink_piece(struct sink *s, const u8 *wire, size_t len)
{
	const u8 *at = kwarp_guard_put(s->end, wire, len), *data = NULL;
	struct kunit *test = s->test;
	enum kwarp_fpdu_event ev;
	const u8 *before;
	u32 dlen = 0;

	do {
		before = at;
		ev = kwarp_fpdu_rx_next(&s->rx, &at, &len, &data, &dlen);
		KUNIT_ASSERT_PTR_EQ(test, at + len, s->end);
		if (ev == KWARP_FPDU_MORE)
			KUNIT_ASSERT_EQ(test, len, 0);
		else if (ev != KWARP_FPDU_ERROR)
			KUNIT_ASSERT_TRUE(test, at > before);
		sink_event(s, ev, data, dlen, before);
	} while (ev != KWARP_FPDU_MORE && ev != KWARP_FPDU_ERROR);
}

/* Compute the CRC of the FPDU at @wire and the length of its header, as the engine does. */
static void sink_verify(struct sink *s, const u8 *wire, u32 len)
{
	u32 covered = len - KWARP_MPA_CRC_LEN;

	s->head_end = s->rx.off + kwarp_fpdu_rx_head_len(&s->rx, wire);
	kwarp_fpdu_rx_verify(&s->rx, kwarp_mpa_crc_add(kwarp_mpa_crc_init(), wire, covered),
			     wire + covered);
}

/* Give queued octets up to @end to the parser, in the pieces in which they were received. */
static void sink_pieces(struct sink *s, u32 end)
{
	u32 to;

	for (; s->from < end && !s->err; s->from = to) {
		for (to = s->from + 1; to < end && !s->cut[to]; to++)
			;
		sink_piece(s, s->queue + s->from, to - s->from);
	}
}

/* Receive octets; with CRCs they are queued until their FPDU is complete. */
static void sink_feed(struct sink *s, const u8 *wire, size_t len)
{
	struct kunit *test = s->test;
	u32 n;

	if (!s->rx.check_crc) {
		sink_piece(s, wire, len);
		return;
	}
	if (!len)
		return;
	KUNIT_ASSERT_LE(test, s->queued + len, STREAM_MAX);
	memcpy(s->queue + s->queued, wire, len);
	s->cut[s->queued] = true;
	s->queued += len;
	while (!s->err) {
		n = kwarp_fpdu_rx_wire_len(&s->rx, s->queue + s->from, s->queued - s->from);
		if (!n || n > s->queued - s->from)
			break;
		sink_verify(s, s->queue + s->from, n);
		sink_pieces(s, s->from + n);
	}
}

/* Would a FIN be legal here, because no FPDU has begun? */
static bool sink_idle(const struct sink *s)
{
	return s->from == s->queued && kwarp_fpdu_rx_idle(&s->rx);
}

static void sink_feed_octets(struct sink *s, const u8 *wire, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		sink_feed(s, wire + i, 1);
}

/* --------------------------------------------------------------- vectors */

KUNIT_ARRAY_PARAM_DESC(vec, kwarp_vec_fpdus, desc);

static void vec_start(struct sink *s, const struct kwarp_vec_fpdu *v)
{
	sink_start(s, true, v->markers, v->off);
}

static void vec_expect(struct sink *s, const struct kwarp_vec_fpdu *v)
{
	struct kunit *test = s->test;

	KUNIT_ASSERT_EQ(test, s->err,
			v->short_ulpdu ? KWARP_PERR_DDP_LOCAL : KWARP_PERR_NONE);
	KUNIT_ASSERT_EQ(test, s->ends, v->short_ulpdu ? 0 : v->fpdus);
	if (!s->err)
		KUNIT_ASSERT_EQ(test, s->rx.off, v->off + v->len);
}

static void test_whole(struct kunit *test)
{
	const struct kwarp_vec_fpdu *v = test->param_value;
	struct sink *s = sink_new(test);

	vec_start(s, v);
	sink_feed(s, v->wire, v->len);
	vec_expect(s, v);
}

static void test_split(struct kunit *test)
{
	const struct kwarp_vec_fpdu *v = test->param_value;
	struct sink *s = sink_new(test);
	u32 cut;

	for (cut = 0; cut <= v->len; cut++) {
		vec_start(s, v);
		sink_feed(s, v->wire, cut);
		if (cut < v->len)
			KUNIT_EXPECT_LT(test, s->ends, v->fpdus);
		sink_feed(s, v->wire + cut, v->len - cut);
		vec_expect(s, v);
	}
}

static void test_split_twice(struct kunit *test)
{
	const struct kwarp_vec_fpdu *v = test->param_value;
	struct sink *s = sink_new(test);
	u32 a, b;

	for (a = 0; a <= v->len; a++) {
		for (b = a; b <= v->len; b++) {
			vec_start(s, v);
			sink_feed(s, v->wire, a);
			sink_feed(s, v->wire + a, b - a);
			sink_feed(s, v->wire + b, v->len - b);
			vec_expect(s, v);
		}
	}
}

static void test_octets(struct kunit *test)
{
	const struct kwarp_vec_fpdu *v = test->param_value;
	struct sink *s = sink_new(test);

	vec_start(s, v);
	sink_feed_octets(s, v->wire, v->len);
	vec_expect(s, v);
}

/* A stream that stops at any octet: idle only at FPDU boundaries, and never an extra FPDU. */
static void test_truncated(struct kunit *test)
{
	const struct kwarp_vec_fpdu *v = test->param_value;
	struct sink *s = sink_new(test);
	u32 len;

	for (len = 0; len < v->len; len++) {
		vec_start(s, v);
		sink_feed(s, v->wire, len);
		KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_NONE);
		KUNIT_EXPECT_LT(test, s->ends, v->fpdus);
		KUNIT_EXPECT_EQ(test, sink_idle(s),
				!len || (v->fpdus == 2 && len == 0x30));
	}
}

/* 5044-4.4-20: a single wrong bit anywhere in the FPDU is found. */
static void test_bit_errors(struct kunit *test)
{
	const struct kwarp_vec_fpdu *v = test->param_value;
	struct sink *s = sink_new(test);
	u8 wire[128];
	u32 bit;

	KUNIT_ASSERT_LE(test, v->len, sizeof(wire));
	for (bit = 0; bit < 8 * v->len; bit++) {
		memcpy(wire, v->wire, v->len);
		wire[bit / 8] ^= BIT(bit % 8);
		vec_start(s, v);
		sink_feed(s, wire, v->len);
		KUNIT_EXPECT_LT(test, s->ends, v->fpdus);
		/* no error yet: ULPDU_Length became larger, so the trailer has not come */
		if (s->err)
			KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
		else
			KUNIT_EXPECT_FALSE(test, sink_idle(s));
	}
}

/* 5044-4.1-8, 5044-7.1.1-11: if CRCs are not in use, the trailer may be anything. */
static void test_crc_unused(struct kunit *test)
{
	const struct kwarp_vec_fpdu *v = test->param_value;
	struct sink *s = sink_new(test);
	u8 wire[128];
	u32 i;

	memcpy(wire, v->wire, v->len);
	for (i = 0; i < 256; i++) {
		memset(wire + v->len - KWARP_MPA_CRC_LEN, i, KWARP_MPA_CRC_LEN);
		sink_start(s, false, v->markers, v->off);
		sink_feed(s, wire, v->len);
		vec_expect(s, v);
	}
}

/* ---------------------------------------------------------------- header */

static void test_header(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u32 cut;

	for (cut = 0; cut <= sizeof(kwarp_wire_pad3); cut++) {
		sink_start(s, true, false, 0);
		memset(&s->rx.hdr, 0xff, sizeof(s->rx.hdr));
		sink_feed(s, kwarp_wire_pad3, cut);
		sink_feed(s, kwarp_wire_pad3 + cut, sizeof(kwarp_wire_pad3) - cut);
		KUNIT_EXPECT_EQ(test, s->rx.ulpdu_len, 23);
		KUNIT_EXPECT_EQ(test, s->rx.payload_len, 5);
		KUNIT_EXPECT_EQ(test, s->rx.hdr.opcode, KWARP_OP_SEND);
		KUNIT_EXPECT_FALSE(test, s->rx.hdr.tagged);
		KUNIT_EXPECT_TRUE(test, s->rx.hdr.last);
		KUNIT_EXPECT_EQ(test, s->rx.hdr.msn, 1);
		KUNIT_EXPECT_MEMEQ(test, kwarp_fpdu_rx_raw(&s->rx), kwarp_wire_pad3 + 2, 18);
		KUNIT_EXPECT_EQ(test, s->out_len, 5);
		KUNIT_EXPECT_MEMEQ(test, s->out, "hello", 5);
	}
}

/* 5044-6-1: nothing is reported before the CRC is known to be right. */
static void test_verified_first(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 wire[sizeof(kwarp_wire_pad3)];

	memcpy(wire, kwarp_wire_pad3, sizeof(wire));
	wire[20] ^= 1;
	sink_start(s, true, false, 0);
	sink_feed(s, wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
	KUNIT_EXPECT_EQ(test, s->hdrs, 0);
	KUNIT_EXPECT_EQ(test, s->out_len, 0);
}

/*
 * Check that kwarp_fpdu_rx_wire_len() knows the length of the FPDU at @wire from KWARP_FPDU_MIN
 * octets on, and gives the same length for more octets.  Then receive the FPDU.
 */
static void feed_told(struct sink *s, const u8 *wire, u32 len)
{
	struct kunit *test = s->test;
	u32 have, told = 0;

	for (have = 0; have <= min_t(u32, len, KWARP_FPDU_HEAD); have++) {
		told = kwarp_fpdu_rx_wire_len(&s->rx, wire, have);
		KUNIT_EXPECT_TRUE(test, told == len || (!told && have < KWARP_FPDU_MIN));
	}
	KUNIT_ASSERT_EQ(test, told, len);
	KUNIT_ASSERT_LE(test, kwarp_fpdu_rx_head_len(&s->rx, wire),
			min_t(u32, len, KWARP_FPDU_HEAD));
	sink_feed_octets(s, wire, len);
}

/* 5044-6-1: a damaged FPDU gives no HDR event, for every position of markers. */
static void test_told(struct kunit *test)
{
	static const u32 lens[] = { 14, 15, 18, 99, 505, 506, 507, 508, 1500, 3000 };
	u8 *wire = kunit_kzalloc(test, 8192, GFP_KERNEL);
	u8 *ulpdu = kunit_kzalloc(test, 4096, GFP_KERNEL);
	struct sink *s = sink_new(test);
	u32 i, off, begun;

	KUNIT_ASSERT_NOT_NULL(test, wire);
	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	ulpdu[0] = KWARP_DDP_T;
	for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		for (off = 0; off < 1024; off += 4) {
			struct kwarp_emit e = {
				.buf = wire, .size = 8192, .off = off, .markers = i & 1,
			};

			sink_start(s, true, e.markers, off);
			kwarp_emit_fpdu(&e, ulpdu, lens[i / 2], 0);
			begun = e.len;
			kwarp_emit_fpdu(&e, ulpdu, lens[i / 2], 0);
			feed_told(s, wire, begun);
			KUNIT_ASSERT_EQ(test, s->ends, 1);
			wire[begun + lens[i / 2] / 2] ^= 0x10;
			sink_feed_octets(s, wire + begun, e.len - begun);
			KUNIT_ASSERT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
			KUNIT_ASSERT_EQ(test, s->hdrs, 1);
		}
	}
}

/* A verified CRC is valid for one FPDU; an FPDU that was not verified counts as damaged. */
static void test_unverified(struct kunit *test)
{
	struct sink *s = sink_new(test);

	sink_start(s, true, false, 0);
	sink_feed(s, kwarp_wire_pad3, sizeof(kwarp_wire_pad3));
	KUNIT_EXPECT_EQ(test, s->ends, 1);
	sink_piece(s, kwarp_wire_pad3, sizeof(kwarp_wire_pad3));
	KUNIT_EXPECT_EQ(test, s->hdrs, 1);
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
}

/* KWARP_FPDU_MIN and KWARP_FPDU_MAX, with which callers size their buffers. */
static void test_bounds(struct kunit *test)
{
	u8 head[KWARP_FPDU_HEAD] = { 0, 0, 0, 0, 0xff, 0xff, 0xff };
	struct kwarp_fpdu_rx rx;

	kwarp_fpdu_rx_init(&rx, true, true);
	KUNIT_EXPECT_EQ(test, kwarp_fpdu_rx_wire_len(&rx, head, 6), KWARP_FPDU_MAX);
	memset(head, 0, sizeof(head));
	kwarp_fpdu_rx_init(&rx, true, false);
	KUNIT_EXPECT_EQ(test, kwarp_fpdu_rx_wire_len(&rx, head, 2), KWARP_FPDU_MIN);
	KUNIT_EXPECT_EQ(test, kwarp_fpdu_rx_head_len(&rx, head), KWARP_MPA_LEN_FIELD);
}

static const struct expectation {
	const char *desc;
	bool tagged;
	bool last;
	bool markers;
	u32 payload;
	u32 feed;	/* octets of the FPDU that have come */
	u32 wire;	/* octets of the next one; 0: nothing can be expected */
} expectations[] = {
	{ "tagged", true, false, false, 100, 120, 120 },
	{ "untagged", false, false, false, 100, 124, 124 },
	{ "pad", true, false, false, 101, 124, 124 },
	{ "last", true, true, false, 100, 120, 0 },
	{ "no payload", true, false, false, 0, 20, 0 },
	{ "with markers", true, false, true, 100, 124, 0 },
	{ "inside the next header", true, false, false, 100, 121, 0 },
	{ "inside the payload", true, false, false, 100, 80, 0 },
	{ "before the trailer", true, false, false, 100, 116, 0 },
	{ "before the last octet", true, false, false, 100, 119, 0 },
	{ "nothing has come", true, false, false, 100, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(expectation, expectations, desc);

/* The predicted FPDU is equal to the one that a sender sends for the next segment. */
static void test_expect(struct kunit *test)
{
	const struct expectation *c = test->param_value;
	u8 u[128] = { (c->tagged ? 0x81 : 0x01) | (c->last ? 0x40 : 0), c->tagged ? 0x40 : 0x43 };
	u8 wire[512], fields[KWARP_FPDU_FIELDS];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire), .markers = c->markers };
	u32 hdr = kwarp_ddp_len(c->tagged), i, n;
	struct sink *s = sink_new(test);

	for (i = 0; i < 3; i++) {
		/* choose the offset so that the addition has a carry */
		if (c->tagged)
			put_unaligned_be64(0xffffffffffULL + i * c->payload, u + 6);
		else
			put_unaligned_be32(i * c->payload, u + 14);
		kwarp_emit_fpdu(&w, u, hdr + c->payload, 0);
	}
	sink_start(s, false, c->markers, 0);
	sink_piece(s, wire, c->feed);
	n = kwarp_fpdu_rx_expect(&s->rx, fields);
	KUNIT_ASSERT_EQ(test, n, c->wire);
	for (i = 1; n && i < 3; i++) {
		KUNIT_EXPECT_MEMEQ(test, fields, wire + i * n, KWARP_MPA_LEN_FIELD + hdr);
		kwarp_fpdu_rx_taken(&s->rx, fields, n);
		KUNIT_EXPECT_EQ(test, s->rx.off, (i + 1) * n);
		KUNIT_EXPECT_TRUE(test, kwarp_fpdu_rx_idle(&s->rx));
	}
}

/* The caller may stop after any event and give the rest later in other pieces. */
static void test_stop_and_resume(struct kunit *test)
{
	struct sink *s = sink_new(test);
	enum kwarp_fpdu_event ev;
	const u8 *at, *data;
	u32 stop, cut, n, dlen;
	size_t len;

	for (stop = 0; stop <= 3; stop++) {
		for (cut = 0; cut <= 16; cut++) {
			sink_start(s, true, false, 0);
			sink_verify(s, kwarp_wire_pad3, sizeof(kwarp_wire_pad3));
			len = sizeof(kwarp_wire_pad3);
			at = kwarp_guard_put(s->end, kwarp_wire_pad3, len);
			for (n = 0; n < stop; n++) {
				ev = kwarp_fpdu_rx_next(&s->rx, &at, &len, &data, &dlen);
				sink_event(s, ev, data, dlen, s->end - sizeof(kwarp_wire_pad3));
			}
			n = min_t(u32, cut, len);
			sink_piece(s, kwarp_wire_pad3 + s->rx.off, n);
			len = sizeof(kwarp_wire_pad3) - s->rx.off;
			sink_piece(s, kwarp_wire_pad3 + s->rx.off, len);
			KUNIT_EXPECT_EQ(test, s->ends, 1);
			KUNIT_EXPECT_EQ(test, s->out_len, 5);
		}
	}
}

/* 5044-8-10, 5041-7.1-22: after an error nothing is reported, not even correct FPDUs. */
static void test_error_stays(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 wire[2 * sizeof(kwarp_wire_pad3)];

	memcpy(wire, kwarp_wire_pad3, sizeof(kwarp_wire_pad3));
	memcpy(wire + sizeof(kwarp_wire_pad3), kwarp_wire_pad3, sizeof(kwarp_wire_pad3));
	wire[sizeof(kwarp_wire_pad3) - 1] ^= 1;
	sink_start(s, true, false, 0);
	sink_feed(s, wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
	sink_piece(s, kwarp_wire_pad3, sizeof(kwarp_wire_pad3));
	sink_piece(s, kwarp_wire_pad3, 0);
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
	KUNIT_EXPECT_EQ(test, s->ends, 0);
	KUNIT_EXPECT_FALSE(test, kwarp_fpdu_rx_idle(&s->rx));
}

/* --------------------------------------------------------------- lengths */

static const struct length_case {
	const char *desc;
	u32 len;
	bool tagged;
	enum kwarp_perr err;
} length_cases[] = {
	{ "0", 0, false, KWARP_PERR_DDP_LOCAL },
	{ "1, tagged", 1, true, KWARP_PERR_DDP_LOCAL },
	{ "1, untagged", 1, false, KWARP_PERR_DDP_LOCAL },
	{ "2", 2, false, KWARP_PERR_DDP_LOCAL },
	{ "5", 5, true, KWARP_PERR_DDP_LOCAL },
	{ "13, tagged", 13, true, KWARP_PERR_DDP_LOCAL },
	{ "14, tagged", 14, true, KWARP_PERR_NONE },
	{ "14, untagged", 14, false, KWARP_PERR_DDP_LOCAL },
	{ "15, tagged", 15, true, KWARP_PERR_NONE },
	{ "17, untagged", 17, false, KWARP_PERR_DDP_LOCAL },
	{ "18, untagged", 18, false, KWARP_PERR_NONE },
	{ "19, untagged", 19, false, KWARP_PERR_NONE },
	{ "508", 508, false, KWARP_PERR_NONE },
	{ "64768, largest legal", 64768, true, KWARP_PERR_NONE },
	{ "64769", 64769, true, KWARP_PERR_NONE },
	{ "65534", 65534, false, KWARP_PERR_NONE },
	{ "65535, largest there is", 65535, false, KWARP_PERR_NONE },
};

KUNIT_ARRAY_PARAM_DESC(length, length_cases, desc);

/* ULPDU lengths at their limits.  A wrong CRC is reported first (RFC 5044 section 6). */
static void test_length(struct kunit *test)
{
	const struct length_case *c = test->param_value;
	struct sink *s = sink_new(test);
	u8 *wire = kunit_kzalloc(test, 2 * 66100, GFP_KERNEL);
	u8 *ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	u32 mode, flip, pieces;

	KUNIT_ASSERT_TRUE(test, wire && ulpdu);
	ulpdu[0] = c->tagged ? 0xc1 : 0x41;
	for (mode = 0; mode < 16; mode++) {
		bool crc = mode & 1, markers = mode & 2;
		struct kwarp_emit e = {
			.buf = wire, .size = 2 * 66100, .markers = markers,
		};

		flip = mode & 4 ? BIT(7) : 0;
		pieces = mode & 8 ? 7 : 66100;
		kwarp_emit_fpdu(&e, ulpdu, c->len, flip);
		sink_start(s, crc, markers, 0);
		while (e.len && !s->err) {
			u32 n = min(e.len, pieces);

			sink_feed(s, e.buf, n);
			e.buf += n;
			e.len -= n;
		}
		KUNIT_EXPECT_EQ(test, s->err, crc && flip ? KWARP_PERR_MPA_CRC : c->err);
		KUNIT_EXPECT_EQ(test, s->ends, !s->err);
		if (!s->err)
			KUNIT_EXPECT_EQ(test, s->rx.payload_len,
					c->len - (c->tagged ? 14 : 18));
	}
}

/* ------------------------------------------------------------------- pad */

/* Write the correct trailer of a vector with one FPDU. */
static void write_trailer(u8 *wire, u32 len)
{
	u32 i, crc = ~0U;

	for (i = 0; i < len - 4; i++)
		crc = kwarp_emit_crc_octet(crc, wire[i]);
	for (i = 0; i < 4; i++)
		wire[len - 4 + i] = ~crc >> (8 * i);
}

/* 5044-4.1-4: the CRC covers the pad; apart from that the pad is ignored. */
static void test_pad(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 wire[sizeof(kwarp_wire_pad3)];
	u32 cut, crc, resign, len = sizeof(wire);

	for (resign = 0; resign < 2; resign++) {
		memcpy(wire, kwarp_wire_pad3, len);
		memset(wire + 25, 0xff, 3);
		if (resign)
			write_trailer(wire, len);
		for (cut = 0; cut <= len; cut++) {
			for (crc = 0; crc < 2; crc++) {
				sink_start(s, crc, false, 0);
				sink_feed(s, wire, cut);
				if (!s->err)
					sink_feed(s, wire + cut, len - cut);
				KUNIT_EXPECT_EQ(test, s->err, crc && !resign ?
						KWARP_PERR_MPA_CRC : KWARP_PERR_NONE);
				KUNIT_EXPECT_EQ(test, s->ends, !s->err);
				KUNIT_EXPECT_MEMEQ(test, s->out, "hello", s->out_len);
			}
		}
	}
}

/* --------------------------------------------------------------- markers */

static const struct ptr_case {
	const char *desc;
	u16 rsvd;
	u16 ptr;
	bool crc_right;
	bool check_crc;
	enum kwarp_perr err;
} ptr_cases[] = {
	{ "right", 0, 0x14, true, true, KWARP_PERR_NONE },
	{ "right, low bits set", 0, 0x17, true, true, KWARP_PERR_NONE },
	{ "right, reserved half set", 0xffff, 0x14, true, true, KWARP_PERR_NONE },
	{ "right, CRC wrong", 0, 0x14, false, true, KWARP_PERR_MPA_CRC },
	{ "reserved half set, CRC of zeros", 0xffff, 0x14, false, true, KWARP_PERR_MPA_CRC },
	{ "zero inside an FPDU", 0, 0, true, true, KWARP_PERR_MPA_MARKER },
	{ "too small", 0, 0x10, true, true, KWARP_PERR_MPA_MARKER },
	{ "too large", 0, 0x18, true, true, KWARP_PERR_MPA_MARKER },
	{ "far too large", 0, 0xff14, true, true, KWARP_PERR_MPA_MARKER },
	{ "wrong and CRC wrong", 0, 0x10, false, true, KWARP_PERR_MPA_CRC },
	{ "right, CRC not in use", 0, 0x14, false, false, KWARP_PERR_NONE },
	{ "wrong, CRC not in use", 0, 0x10, false, false, KWARP_PERR_MPA_MARKER },
};

KUNIT_ARRAY_PARAM_DESC(ptr, ptr_cases, desc);

/* 5044-4.2-3, -6; 5044-8-4. Figure 6: the marker stands at octet 0x14. */
static void test_ptr(struct kunit *test)
{
	const struct ptr_case *c = test->param_value;
	struct sink *s = sink_new(test);
	u8 wire[sizeof(kwarp_wire_fig6)];
	u32 cut;

	memcpy(wire, kwarp_wire_fig6, sizeof(wire));
	put_unaligned_be16(c->rsvd, wire + 0x14);
	put_unaligned_be16(c->ptr, wire + 0x16);
	write_trailer(wire, sizeof(wire));
	if (!c->crc_right)
		wire[sizeof(wire) - 1] ^= 0x80;
	for (cut = 0; cut <= sizeof(wire); cut++) {
		sink_start(s, c->check_crc, true, 0x1ec);
		sink_feed(s, wire, cut);
		if (!s->err)
			sink_feed(s, wire + cut, sizeof(wire) - cut);
		KUNIT_EXPECT_EQ(test, s->err, c->err);
		KUNIT_EXPECT_EQ(test, s->ends, !c->err);
	}
}

/* 5044-4.3-7, -15: the pointer of a marker between FPDUs has to be zero. */
static void test_ptr_between(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 wire[sizeof(kwarp_wire_fig5)];

	memcpy(wire, kwarp_wire_fig5, sizeof(wire));
	wire[3] = 3;		/* the two low bits are ignored */
	write_trailer(wire, sizeof(wire));
	sink_start(s, true, true, 0);
	sink_feed(s, wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, s->ends, 1);

	wire[3] = 4;
	write_trailer(wire, sizeof(wire));
	sink_start(s, true, true, 0);
	sink_feed(s, wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_MARKER);
}

/* 5044-4.3-8: a marker between FPDUs is the beginning of the next FPDU. */
static void test_lone_marker(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u32 len;

	sink_start(s, true, true, 0);
	KUNIT_EXPECT_TRUE(test, kwarp_fpdu_rx_idle(&s->rx));
	for (len = 1; len <= 4; len++) {
		sink_start(s, true, true, 0);
		sink_feed(s, kwarp_wire_fig5, len);
		KUNIT_EXPECT_FALSE(test, sink_idle(s));
		sink_start(s, false, true, 0);
		sink_feed(s, kwarp_wire_fig5, len);
		KUNIT_EXPECT_FALSE(test, sink_idle(s));
	}
}

/* --------------------------------------------------------------- streams */

/* How a stream is cut into pieces */
enum cutting { CUT_NONE, CUT_SMALL, CUT_MSS, CUT_ANY };

static u32 next_cut(struct rnd_state *rnd, enum cutting cutting, u32 left)
{
	u32 n = left;

	if (cutting == CUT_SMALL)
		n = 1 + prandom_u32_state(rnd) % 9;
	else if (cutting == CUT_MSS)
		n = 1448;
	else if (cutting == CUT_ANY)
		n = prandom_u32_state(rnd) % 3000;
	return min(n, left);
}

/* Make a stream of FPDUs of random sizes; return their number, and their payload in @payload. */
static u32 make_stream(struct rnd_state *rnd, struct kwarp_emit *e, u32 max_ulpdu,
		       u8 *ulpdu, u8 *payload, u32 *payload_len)
{
	u32 n = 0, len, hdr;

	*payload_len = 0;
	do {
		len = 18 + prandom_u32_state(rnd) % (max_ulpdu - 17);
		prandom_bytes_state(rnd, ulpdu, len);
		hdr = kwarp_ddp_hdr_len(ulpdu[0]);
		memcpy(payload + *payload_len, ulpdu + hdr, len - hdr);
		*payload_len += len - hdr;
		kwarp_emit_fpdu(e, ulpdu, len, 0);
		n++;
	} while (e->len + max_ulpdu * 2 + 64 < e->size);
	return n;
}

static const struct stream_case {
	const char *desc;
	bool check_crc;
	bool markers;
	u32 off;
	u32 max_ulpdu;
	enum cutting cutting;
} stream_cases[] = {
	{ "small, whole", true, false, 0, 100, CUT_NONE },
	{ "small, cut small", true, false, 0, 100, CUT_SMALL },
	{ "small, any cut", true, false, 0, 100, CUT_ANY },
	{ "MULPDU, whole", true, false, 0, 1442, CUT_NONE },
	{ "MULPDU, cut at MSS", true, false, 0, 1442, CUT_MSS },
	{ "MULPDU, any cut", true, false, 0, 1442, CUT_ANY },
	{ "large, any cut", true, false, 0, 60000, CUT_ANY },
	{ "no CRC, any cut", false, false, 0, 1442, CUT_ANY },
	{ "no CRC, cut small", false, false, 0, 1442, CUT_SMALL },
	{ "markers, small, whole", true, true, 0, 100, CUT_NONE },
	{ "markers, small, cut small", true, true, 0, 100, CUT_SMALL },
	{ "markers, MULPDU, whole", true, true, 0, 1430, CUT_NONE },
	{ "markers, MULPDU, cut small", true, true, 0, 1430, CUT_SMALL },
	{ "markers, MULPDU, cut at MSS", true, true, 0, 1430, CUT_MSS },
	{ "markers, MULPDU, any cut", true, true, 0, 1430, CUT_ANY },
	{ "markers, large, any cut", true, true, 0, 60000, CUT_ANY },
	{ "markers, no CRC, any cut", false, true, 0, 1430, CUT_ANY },
	{ "markers, offset wraps", true, true, 0xffff0000, 1430, CUT_ANY },
	{ "markers, offset wraps, large", true, true, 0xffff0000, 60000, CUT_ANY },
};

KUNIT_ARRAY_PARAM_DESC(stream, stream_cases, desc);

/* 5044-4.3-6, -16, -17; 5044-5.1-6; 5044-5.2-1 */
static void test_stream(struct kunit *test)
{
	const struct stream_case *c = test->param_value;
	struct sink *s = sink_new(test);
	u8 *wire = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	u8 *payload = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	u8 *ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	u32 seed, n, at, cut, payload_len;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	for (seed = 42; seed < 46; seed++) {
		struct kwarp_emit e = {
			.buf = wire, .size = STREAM_MAX, .off = c->off,
			.markers = c->markers,
		};

		prandom_seed_state(&rnd, seed);
		n = make_stream(&rnd, &e, c->max_ulpdu, ulpdu, payload, &payload_len);
		KUNIT_ASSERT_LE(test, e.len, e.size);
		sink_start(s, c->check_crc, c->markers, c->off);
		for (at = 0; at < e.len; at += cut) {
			cut = next_cut(&rnd, c->cutting, e.len - at);
			sink_feed(s, wire + at, cut);
		}
		KUNIT_EXPECT_EQ_MSG(test, s->err, KWARP_PERR_NONE, "seed %u", seed);
		KUNIT_EXPECT_EQ_MSG(test, s->ends, n, "seed %u", seed);
		KUNIT_EXPECT_EQ(test, s->rx.off, e.off);
		KUNIT_ASSERT_EQ(test, s->out_len, payload_len);
		KUNIT_EXPECT_MEMEQ(test, s->out, payload, payload_len);
	}
}

/* ---------------------------------------------------------------- noise */

/* 5044-9.1-1: random octets.  sink_feed() checks that the parser advances and stays in bounds. */
static void test_noise(struct kunit *test)
{
	struct sink *s = sink_new(test);
	struct rnd_state rnd;
	u8 *wire = kunit_kzalloc(test, 4096, GFP_KERNEL);
	u32 i, at, cut;

	KUNIT_ASSERT_NOT_NULL(test, wire);
	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 4000; i++) {
		prandom_bytes_state(&rnd, wire, 4096);
		if (i & 4)	/* short FPDUs, so that many boundaries are met */
			for (at = 0; at < 4096; at += 8)
				wire[at] = 0;
		sink_start(s, i & 1, i & 2, 0);
		for (at = 0; at < 4096 && !s->err; at += cut) {
			cut = next_cut(&rnd, i >> 3 & 3, 4096 - at);
			sink_feed(s, wire + at, cut);
		}
		if (s->rx.check_crc)
			KUNIT_EXPECT_EQ(test, s->ends, 0);
	}
}

/* A stream with one wrong bit: not all FPDUs are delivered, and the error is a CRC error. */
static void test_damaged(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 *wire = kwarp_guard_end(test, 16384) - 16384;
	u8 *payload = kwarp_guard_end(test, 16384) - 16384;
	u8 *ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	u32 i, n, at, cut, payload_len;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 400; i++) {
		struct kwarp_emit e = { .buf = wire, .size = 16384, .markers = i & 1 };

		n = make_stream(&rnd, &e, 200, ulpdu, payload, &payload_len);
		wire[prandom_u32_state(&rnd) % e.len] ^= BIT(prandom_u32_state(&rnd) % 8);
		sink_start(s, true, e.markers, 0);
		for (at = 0; at < e.len && !s->err; at += cut) {
			cut = next_cut(&rnd, CUT_ANY, e.len - at);
			sink_feed(s, wire + at, cut);
		}
		KUNIT_EXPECT_LT(test, s->ends, n);
		if (s->err)
			KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
	}
}

static struct kunit_case fpdu_rx_cases[] = {
	KUNIT_CASE_PARAM(test_whole, vec_gen_params),
	KUNIT_CASE_PARAM(test_split, vec_gen_params),
	KUNIT_CASE_PARAM(test_split_twice, vec_gen_params),
	KUNIT_CASE_PARAM(test_octets, vec_gen_params),
	KUNIT_CASE_PARAM(test_truncated, vec_gen_params),
	KUNIT_CASE_PARAM(test_bit_errors, vec_gen_params),
	KUNIT_CASE_PARAM(test_crc_unused, vec_gen_params),
	KUNIT_CASE(test_header),
	KUNIT_CASE(test_verified_first),
	KUNIT_CASE(test_told),
	KUNIT_CASE(test_unverified),
	KUNIT_CASE(test_bounds),
	KUNIT_CASE_PARAM(test_expect, expectation_gen_params),
	KUNIT_CASE(test_stop_and_resume),
	KUNIT_CASE(test_error_stays),
	KUNIT_CASE_PARAM(test_length, length_gen_params),
	KUNIT_CASE(test_pad),
	KUNIT_CASE_PARAM(test_ptr, ptr_gen_params),
	KUNIT_CASE(test_ptr_between),
	KUNIT_CASE(test_lone_marker),
	KUNIT_CASE_PARAM(test_stream, stream_gen_params),
	KUNIT_CASE(test_noise),
	KUNIT_CASE(test_damaged),
	{}
};

static struct kunit_suite fpdu_rx_suite = {
	.name = "kwarp_fpdu_rx",
	.test_cases = fpdu_rx_cases,
};

kunit_test_suite(fpdu_rx_suite);
