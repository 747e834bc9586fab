// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side (rx/skb.c): the same stream arrives in skbs that are divided at every
 * octet and have every shape.
 */
#include "skb_fixture.h"

/* ------------------------------------------------------------- expectations */

/*
 * Check a stream with CRCs (5044-6-6). rx.want must be the length of the incomplete FPDU,
 * KWARP_FPDU_MIN while that length is unknown, or 0 if no FPDU is incomplete.
 */
static void expect_whole(struct skb_test *t)
{
	u32 n = skb_complete_in(t, t->arrived), begun = n ? t->ends[n - 1] : 0;
	struct kunit *test = t->test;
	u32 left = t->arrived - begun;

	KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_ASSERT_EQ(test, t->done, n);
	KUNIT_ASSERT_EQ(test, t->out_len, n ? t->payload_ends[n - 1] : 0);
	KUNIT_ASSERT_EQ(test, memcmp(t->out, t->payload, t->out_len), 0);
	KUNIT_ASSERT_EQ(test, t->seq, SEQ + begun);
	if (!left)
		KUNIT_ASSERT_EQ(test, t->e.rx.want, 0);
	else if (left < KWARP_FPDU_MIN)
		KUNIT_ASSERT_TRUE(test, t->e.rx.want == KWARP_FPDU_MIN ||
				  t->e.rx.want == t->ends[n] - begun);
	else
		KUNIT_ASSERT_EQ(test, t->e.rx.want, t->ends[n] - begun);
}

/* -------------------------------------------------------------------- tests */

/* The stream is read after each skb, or when both have arrived. */
static void test_cut(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 cut, how;

	skb_make_stream(t, w->lens, w->markers, w->off);
	for (cut = 0; cut <= t->len; cut++) {
		for (how = 0; how < 2 * SHAPES; how++) {
			skb_begin_way(t, w);
			skb_arrive(t, cut, how / 2);
			if (how & 1) {
				skb_read_all(t);
				if (w->crc)
					expect_whole(t);
			}
			skb_arrive(t, t->len - cut, how / 2);
			skb_read_all(t);
			skb_expect_all(t);
		}
	}
}

/* A segment waits for a receive: nothing after its header is parsed, and nothing is lost. */
static void test_parked(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 cut, how, k;

	skb_make_stream(t, w->lens, w->markers, w->off);
	for (k = 1; k <= t->fpdus; k++) {
		for (cut = 0; cut <= t->len; cut += 7) {
			how = cut % SHAPES;
			skb_begin_way(t, w);
			skb_park_at(k);
			t->no_receive = true;
			skb_arrive(t, cut, how);
			skb_read_all(t);
			skb_arrive(t, t->len - cut, how);
			if (!kwarp_rx_parked(&t->e))
				skb_read_all(t);
			KUNIT_ASSERT_TRUE(test, kwarp_rx_parked(&t->e));
			KUNIT_ASSERT_EQ(test, t->done, k - 1);
			KUNIT_ASSERT_FALSE(test, kwarp_rx_resume(&t->e));
			skb_read_all(t);
			KUNIT_ASSERT_EQ(test, t->done, k - 1);
			t->no_receive = false;
			KUNIT_ASSERT_TRUE(test, kwarp_rx_resume(&t->e));
			skb_read_all(t);
			skb_expect_all(t);
		}
	}
}

/* The FPDU of the segment is in the stash. */
static void test_parked_stash(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;

	skb_begin_way(t, w);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	skb_park_at(1);
	t->no_receive = true;
	skb_arrive(t, t->len, FRAGS);
	skb_read_all(t);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_parked(&t->e));
	kwarp_rx_free_stash(&t->e);
	KUNIT_ASSERT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_ASSERT_EQ(test, t->done, 0);
	t->no_receive = false;
	KUNIT_ASSERT_TRUE(test, kwarp_rx_resume(&t->e));
	KUNIT_ASSERT_EQ(test, t->done, 1);
	skb_read_all(t);
	skb_expect_all(t);
}

static void test_cut_twice(struct kunit *test)
{
	const struct way *w = test->param_value;
	u32 a, b, step = w->lens == small ? 1 : 13;
	struct skb_test *t = test->priv;

	skb_make_stream(t, w->lens, w->markers, w->off);
	for (a = 0; a <= t->len; a += step) {
		for (b = a; b <= t->len; b += step) {
			skb_begin_way(t, w);
			skb_arrive(t, a, a % SHAPES);
			skb_arrive(t, b - a, b % SHAPES);
			if (a & 1)
				skb_read_all(t);
			skb_arrive(t, t->len - b, (a + b) % SHAPES);
			skb_read_all(t);
			skb_expect_all(t);
		}
	}
}

/* With CRCs no octet of an FPDU is used before the FPDU is complete. */
static void test_octets(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;

	skb_begin_way(t, w);
	while (t->arrived < t->len) {
		skb_arrive(t, 1, t->arrived % SHAPES);
		skb_read_all(t);
		if (w->crc)
			expect_whole(t);
	}
	skb_expect_all(t);
}

/* TCP lets the engine read only @may octets, as it does before urgent data. */
static void test_may(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 may, shape, n;

	skb_make_stream(t, w->lens, w->markers, w->off);
	for (may = 1; may < t->len - 1; may++) {
		for (shape = 0; shape < SHAPES; shape++) {
			skb_begin_way(t, w);
			skb_arrive(t, t->len - 1, shape);
			skb_arrive(t, 1, LINEAR);
			n = skb_complete_in(t, may);
			skb_read_once(t, may);
			KUNIT_ASSERT_LE(test, t->seq - SEQ, may);
			KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_NONE);
			if (!w->crc)
				continue;
			KUNIT_ASSERT_EQ(test, t->done, n);
			KUNIT_ASSERT_EQ(test, t->seq - SEQ, n ? t->ends[n - 1] : 0);
		}
	}
}

/* 5044-6-1, 5044-4.4-20: neither the FPDU with the damaged octet nor a later one is reported. */
static void test_damage(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 at, n, shape;

	skb_make_stream(t, w->lens, w->markers, w->off);
	for (at = 0; at < t->len; at++) {
		for (shape = 0; shape < SHAPES; shape++) {
			skb_begin_way(t, w);
			n = skb_complete_in(t, at);
			t->wire[at] ^= 0x10;
			skb_arrive(t, t->len / 2, shape);
			skb_read_all(t);
			skb_arrive(t, t->len - t->len / 2, shape);
			skb_read_all(t);
			/* The parser may wait for more octets, or find a wrong CRC. */
			KUNIT_ASSERT_LE(test, t->done, n);
			KUNIT_ASSERT_LE(test, t->out_len, n ? t->payload_ends[n - 1] : 0);
			if (t->e.perr)
				KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_MPA_CRC);
			else
				KUNIT_ASSERT_NE(test, t->e.rx.want, 0);
		}
	}
}

/* The payload is not given to the parser piece by piece, unless the stream has markers. */
static void test_straight(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 shape;

	for (shape = 0; shape < SHAPES; shape++) {
		skb_begin_way(t, w);
		skb_arrive(t, t->len, shape);
		skb_read_all(t);
		skb_expect_all(t);
		if (w->markers || (shape != FRAGS && shape != FRAG_LIST))
			KUNIT_EXPECT_EQ_MSG(test, t->straight, 0, "shape %u", shape);
		else if (w->lens == mixed)
			KUNIT_EXPECT_GT_MSG(test, t->straight, t->out_len / 2, "shape %u", shape);
	}
}

/*
 * KWARP_E_RX_ANY is set from the first octet on: while no octet has been used, while octets are
 * read again, and when they are in the stash, a buffer for an FPDU that TCP cannot keep.
 */
static void test_any(struct kunit *test)
{
	struct skb_test *t = test->priv;
	unsigned long *flags = &t->e.flags;

	skb_begin_way(t, &ways[0]);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_RX_ANY, flags));
	skb_arrive(t, 1, LINEAR);
	skb_read_all(t);
	KUNIT_EXPECT_EQ(test, t->done, 0);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
	/* sock.c sets rx.want to 0 before it reads octets that have arrived. */
	t->e.rx.want = 0;
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	skb_read_all(t);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
	/* After a local error octets are dropped, but KWARP_E_RX_ANY is set all the same. */
	skb_begin_way(t, &ways[0]);
	set_bit(KWARP_E_RX_STOP, flags);
	skb_arrive(t, 1, LINEAR);
	skb_read_all(t);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
}

static struct kunit_case rx_skb_cases[] = {
	KUNIT_CASE_PARAM(test_parked, way_gen_params),
	KUNIT_CASE_PARAM(test_parked_stash, crc_way_gen_params),
	KUNIT_CASE_PARAM(test_cut, way_gen_params),
	KUNIT_CASE_PARAM(test_cut_twice, way_gen_params),
	KUNIT_CASE_PARAM(test_octets, way_gen_params),
	KUNIT_CASE_PARAM(test_may, way_gen_params),
	KUNIT_CASE_PARAM(test_damage, crc_way_gen_params),
	KUNIT_CASE_PARAM(test_straight, way_gen_params),
	KUNIT_CASE(test_any),
	{}
};

static struct kunit_suite rx_skb_suite = {
	.name = "kwarp_rx_skb",
	.init = skb_test_init,
	.exit = skb_test_exit,
	.test_cases = rx_skb_cases,
};

kunit_test_suite(rx_skb_suite);
