// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of kwarp_fpdu_rx_payload(), which tells the parser of payload that it need not see. */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../fpdu_rx.h"
#include "emit.h"
#include "guard.h"
#include "sink.h"

/* The FPDUs of the stream, so that each kind of segment comes before and after others. */
static const struct segment {
	bool tagged;
	bool last;
	u32 payload;
} segments[] = {
	{ true, false, 21 },
	{ true, true, 4 },
	{ false, false, 0 },
	{ false, false, 9 },
	{ false, true, 1 },
};

#define SEGMENTS	ARRAY_SIZE(segments)
#define WIRE_MAX	256
/* Offset of the stream's first octet: if the stream has markers, there is one in some payload. */
#define OFF		488

/*
 * @left: without markers: octets of payload from each octet on to the end of its segment; 0 where
 *	there is no payload
 */
struct stream {
	u8 wire[WIRE_MAX];
	u32 len;
	u32 ends[SEGMENTS];
	u32 left[WIRE_MAX];
};

static struct stream *new_stream(struct kunit *test, bool markers)
{
	struct stream *st = kunit_kzalloc(test, sizeof(*st), GFP_KERNEL);
	struct kwarp_emit w = { .size = WIRE_MAX, .off = OFF, .markers = markers };
	u32 i, k, hdr;

	KUNIT_ASSERT_NOT_NULL(test, st);
	w.buf = st->wire;
	for (i = 0; i < SEGMENTS; i++) {
		const struct segment *seg = &segments[i];
		u8 u[64] = { (seg->tagged ? 0x81 : 0x01) | (seg->last ? 0x40 : 0), 0x43 };

		hdr = kwarp_ddp_len(seg->tagged);
		for (k = 0; k < seg->payload; k++) {
			u[hdr + k] = 16 * i + k;
			st->left[w.len + 2 + hdr + k] = seg->payload - k;
		}
		kwarp_emit_fpdu(&w, u, hdr + seg->payload, 0);
		st->ends[i] = w.len;
	}
	st->len = w.len;
	KUNIT_ASSERT_LT(test, st->len, WIRE_MAX);
	return st;
}

static void parse(struct sink *s, const struct stream *st, u32 from, u32 to)
{
	u32 i, begin, n;

	for (i = 0; from < to; i++, from += n) {
		while (st->ends[i] <= from)
			i++;
		begin = i ? st->ends[i - 1] : 0;
		if (s->rx.check_crc && from == begin)
			sink_verify(s, st->wire + begin, st->ends[i] - begin);
		n = min(to, st->ends[i]) - from;
		sink_piece(s, st->wire + from, n);
	}
}

/* Place up to @len octets without the parser. Return: octets that the parser has counted. */
static u32 take(struct sink *s, const struct stream *st, u32 from, u32 len)
{
	u32 n = kwarp_fpdu_rx_payload(&s->rx, len);
	const u8 *data;

	KUNIT_ASSERT_LE(s->test, n, min(len, st->len - from));
	if (n) {
		data = kwarp_guard_put(s->end, st->wire + from, n);
		sink_event(s, KWARP_FPDU_DATA, data, n, data);
	}
	return n;
}

/* Of @head only what has been received counts. */
static void expect_same(struct kunit *test, const struct sink *a, const struct sink *b)
{
	KUNIT_ASSERT_MEMEQ(test, (const u8 *)&a->rx, (const u8 *)&b->rx,
			   offsetof(struct kwarp_fpdu_rx, head));
	KUNIT_ASSERT_MEMEQ(test, a->rx.head, b->rx.head, a->rx.have);
	KUNIT_ASSERT_EQ(test, a->hdrs, b->hdrs);
	KUNIT_ASSERT_EQ(test, a->ends, b->ends);
	KUNIT_ASSERT_EQ(test, a->err, KWARP_PERR_NONE);
	KUNIT_ASSERT_EQ(test, a->out_len, b->out_len);
	KUNIT_ASSERT_MEMEQ(test, a->out, b->out, a->out_len);
}

static const struct check {
	const char *desc;
	bool crc;
} checks[] = {
	{ "with CRCs", true },
	{ "without CRCs", false },
};

KUNIT_ARRAY_PARAM_DESC(check, checks, desc);

/* Of the octets that the caller has, those are taken that are left of the segment's payload. */
static void test_take(struct kunit *test)
{
	const struct check *c = test->param_value;
	struct sink *a = sink_new(test), *b = sink_new(test);
	struct stream *st = new_stream(test, false);
	u32 cut, len, n;

	for (cut = 0; cut <= st->len; cut++) {
		for (len = 0; len <= st->len - cut; len++) {
			sink_start(a, c->crc, false, OFF);
			sink_start(b, c->crc, false, OFF);
			parse(a, st, 0, cut);
			n = take(a, st, cut, len);
			KUNIT_ASSERT_EQ_MSG(test, n, min(len, st->left[cut]), "%u at %u", len, cut);
			parse(b, st, 0, cut + n);
			expect_same(test, a, b);
			parse(a, st, cut + n, st->len);
			parse(b, st, cut + n, st->len);
			expect_same(test, a, b);
			KUNIT_ASSERT_EQ(test, a->ends, SEGMENTS);
		}
	}
}

static void test_take_twice(struct kunit *test)
{
	const struct check *c = test->param_value;
	const u32 from = 2 + KWARP_DDP_TAGGED_LEN, all = segments[0].payload;
	struct sink *a = sink_new(test), *b = sink_new(test);
	struct stream *st = new_stream(test, false);
	u32 i, k;

	sink_start(b, c->crc, false, OFF);
	parse(b, st, 0, st->len);
	for (i = 1; i < all; i++) {
		for (k = i; k < all; k++) {
			sink_start(a, c->crc, false, OFF);
			parse(a, st, 0, from);
			KUNIT_ASSERT_EQ(test, take(a, st, from, i), i);
			parse(a, st, from + i, from + k);
			KUNIT_ASSERT_EQ(test, take(a, st, from + k, U32_MAX), all - k);
			KUNIT_ASSERT_EQ(test, take(a, st, from + all, U32_MAX), 0);
			parse(a, st, from + all, st->len);
			expect_same(test, a, b);
		}
	}
}

static void expect_none(struct kunit *test, struct kwarp_fpdu_rx *rx)
{
	struct kwarp_fpdu_rx before = *rx;

	KUNIT_EXPECT_EQ(test, kwarp_fpdu_rx_payload(rx, U32_MAX), 0);
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)rx, (const u8 *)&before, sizeof(before));
}

/* If the stream has markers, nothing is taken, because there may be one in the payload. */
static void test_markers(struct kunit *test)
{
	const struct check *c = test->param_value;
	struct stream *st = new_stream(test, true);
	struct sink *s = sink_new(test);
	u32 cut, inside = 0;

	for (cut = 0; cut <= st->len; cut++) {
		sink_start(s, c->crc, true, OFF);
		parse(s, st, 0, cut);
		inside += !!kwarp_fpdu_rx_payload_left(&s->rx);
		expect_none(test, &s->rx);
		parse(s, st, cut, st->len);
		KUNIT_ASSERT_EQ(test, s->ends, SEGMENTS);
	}
	KUNIT_EXPECT_GT(test, inside, 0);
}

/* 5044-6-1: nothing is taken of an FPDU whose CRC was not verified. */
static void test_unverified(struct kunit *test)
{
	const u32 from = 2 + KWARP_DDP_TAGGED_LEN;
	struct stream *st = new_stream(test, false);
	struct sink *s = sink_new(test);

	sink_start(s, true, false, OFF);
	expect_none(test, &s->rx);
	parse(s, st, 0, from);
	KUNIT_EXPECT_EQ(test, take(s, st, from, 1), 1);
}

static void test_error(struct kunit *test)
{
	struct stream *st = new_stream(test, false);
	struct sink *s = sink_new(test);

	sink_start(s, true, false, OFF);
	parse(s, st, 0, st->ends[0]);
	KUNIT_EXPECT_TRUE(test, kwarp_fpdu_rx_in_message(&s->rx));
	st->wire[st->ends[1] - 1] ^= 1;
	parse(s, st, st->ends[0], st->ends[0] + 1);
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
	KUNIT_EXPECT_FALSE(test, kwarp_fpdu_rx_in_message(&s->rx));
	expect_none(test, &s->rx);

	st = new_stream(test, true);
	sink_start(s, false, true, OFF);
	parse(s, st, 0, 512 - OFF);
	KUNIT_EXPECT_GT(test, kwarp_fpdu_rx_payload_left(&s->rx), 0);
	/* The marker's first two octets are reserved. */
	st->wire[514 - OFF] ^= 1;
	parse(s, st, 512 - OFF, 516 - OFF);
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_MARKER);
	KUNIT_EXPECT_EQ(test, kwarp_fpdu_rx_payload_left(&s->rx), 0);
	expect_none(test, &s->rx);
}

static bool message_goes_on(const struct stream *st, u32 at)
{
	u32 i;

	for (i = 0; i < SEGMENTS; i++)
		if (st->ends[i] == at)
			return segments[i].payload && !segments[i].last;
	return false;
}

/* An FPDU without payload does not count as part of a message. */
static void test_where(struct kunit *test)
{
	const struct check *c = test->param_value;
	struct stream *st = new_stream(test, false);
	struct sink *s = sink_new(test);
	u32 at, between = 0;

	for (at = 0; at <= st->len; at++) {
		sink_start(s, c->crc, false, OFF);
		parse(s, st, 0, at);
		KUNIT_EXPECT_EQ_MSG(test, kwarp_fpdu_rx_payload_left(&s->rx), st->left[at],
				    "at %u", at);
		KUNIT_EXPECT_EQ_MSG(test, kwarp_fpdu_rx_in_message(&s->rx),
				    message_goes_on(st, at), "at %u", at);
		between += kwarp_fpdu_rx_in_message(&s->rx);
	}
	KUNIT_EXPECT_EQ(test, between, 2);
}

static struct kunit_case fpdu_payload_cases[] = {
	KUNIT_CASE_PARAM(test_take, check_gen_params),
	KUNIT_CASE_PARAM(test_take_twice, check_gen_params),
	KUNIT_CASE_PARAM(test_markers, check_gen_params),
	KUNIT_CASE(test_unverified),
	KUNIT_CASE(test_error),
	KUNIT_CASE_PARAM(test_where, check_gen_params),
	{}
};

static struct kunit_suite fpdu_payload_suite = {
	.name = "kwarp_fpdu_payload",
	.test_cases = fpdu_payload_cases,
};

kunit_test_suite(fpdu_payload_suite);
