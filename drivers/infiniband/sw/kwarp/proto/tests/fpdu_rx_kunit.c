// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the FPDU parser: vectors (vectors.h) cut into pieces at every octet, headers, lengths of
 * FPDUs, and the prediction of the next FPDU. A sink checks the parser's events (sink.h).
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../fpdu_rx.h"
#include "emit.h"
#include "guard.h"
#include "sink.h"
#include "vectors.h"

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
		/* without an error: the wrong bit has made ULPDU_Length larger */
		if (s->err)
			KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
		else
			KUNIT_EXPECT_FALSE(test, sink_idle(s));
	}
}

/* 5044-4.1-8, 5044-7.1.1-11: if CRCs are not in use, the trailer is ignored. */
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

/* With fewer than KWARP_FPDU_MIN octets kwarp_fpdu_rx_wire_len() may return 0: not known yet. */
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

/* 5044-6-1: a damaged FPDU gives no HDR event. */
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
	u32 feed;	/* octets of the stream that have come; the first FPDU has 20 to 124 */
	u32 wire;	/* octets of the predicted FPDU; 0: there is no prediction */
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

/* The predicted length field and header are those that a sender sends for the next segment. */
static void test_expect(struct kunit *test)
{
	const struct expectation *c = test->param_value;
	u8 u[128] = { (c->tagged ? 0x81 : 0x01) | (c->last ? 0x40 : 0), c->tagged ? 0x40 : 0x43 };
	u8 wire[512], fields[KWARP_FPDU_FIELDS];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire), .markers = c->markers };
	u32 hdr = kwarp_ddp_len(c->tagged), i, n;
	struct sink *s = sink_new(test);

	for (i = 0; i < 3; i++) {
		/* a tagged offset to which adding the payload length carries into higher octets */
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
	{}
};

static struct kunit_suite fpdu_rx_suite = {
	.name = "kwarp_fpdu_rx",
	.test_cases = fpdu_rx_cases,
};

kunit_test_suite(fpdu_rx_suite);
