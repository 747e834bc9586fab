// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side (rx/skb.c, rx/stash.c): octets that TCP cannot keep until their FPDU is
 * complete, and skbs that cannot be read.
 */
#include "skb_fixture.h"

/* TCP has no more room after any number of octets (@cut). */
static void test_stash(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 cut;

	skb_make_stream(t, w->lens, w->markers, w->off);
	for (cut = 1; cut < t->len; cut++) {
		skb_begin_way(t, w);
		skb_arrive(t, cut, cut % SHAPES);
		skb_read_all(t);
		if (t->e.rx.want) {
			KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
			skb_read_all(t);
			KUNIT_ASSERT_EQ(test, t->seq, SEQ + cut);
			KUNIT_ASSERT_NE(test, t->e.rx.stash.have, 0);
			KUNIT_ASSERT_EQ(test, t->e.rx.want, 0);
		}
		while (t->arrived < t->len) {
			skb_arrive(t, min(t->len - t->arrived, 1 + cut % 9), cut % SHAPES);
			skb_read_all(t);
		}
		skb_expect_all(t);
		KUNIT_ASSERT_EQ(test, t->e.rx.stash.have, 0);
		KUNIT_ASSERT_FALSE(test, t->e.rx.stash.use);
		/* Free the stash, as sock.c does after each call of tcp_read_sock(). */
		kwarp_rx_free_stash(&t->e);
		KUNIT_ASSERT_NULL(test, t->e.rx.stash.buf);
	}
}

/*
 * If TCP refuses to charge a stash to its socket (skb_broke), the stash may exist nevertheless, but
 * a device can have only KWARP_MAX_UNPAID_STASHES stashes without a charge.
 */
static void test_stash_unpaid(struct kunit *test)
{
	struct skb_test *t = test->priv;

	skb_begin_way(t, &ways[0]);
	atomic_set(&t->kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	skb_broke = true;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	skb_broke = false;
	KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	skb_drop_stash(t);
	skb_broke = true;
	atomic_dec(&t->kdev->stashes_unpaid);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_unpaid), KWARP_MAX_UNPAID_STASHES);
	skb_broke = false;
	skb_drop_stash(t);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_unpaid), KWARP_MAX_UNPAID_STASHES - 1);
	KUNIT_EXPECT_EQ(test, skb_charged, 0);
}

/* Nothing is charged or counted, and a later attempt can succeed. */
static void test_stash_no_pages(struct kunit *test)
{
	struct skb_test *t = test->priv;

	skb_begin_way(t, &ways[0]);
	skb_no_pages = true;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_make_stash(&t->e));
	skb_no_pages = false;
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_FALSE(test, t->e.rx.stash.use);
	KUNIT_EXPECT_EQ(test, skb_charged, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	skb_drop_stash(t);
}

static void test_stash_charge(struct kunit *test)
{
	struct skb_test *t = test->priv;

	skb_begin_way(t, &ways[0]);
	/* This stash is not charged (skb_broke). To free it must not reduce the socket's charge. */
	skb_broke = true;
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	skb_broke = false;
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 1);
	t->e.rx.stash.use = false;
	kwarp_rx_free_stash(&t->e);
	KUNIT_EXPECT_EQ(test, skb_charged, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_EQ(test, skb_charged, KWARP_FPDU_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 1);
	/* The stash is not freed while octets are still copied to it. */
	kwarp_rx_free_stash(&t->e);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	skb_arrive(t, t->len, LINEAR);
	skb_read_all(t);
	kwarp_rx_free_stash(&t->e);
	skb_expect_all(t);
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, skb_charged, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->kdev->stashes), 2);
}

/* A stash is no longer than its FPDU, if that length is known. */
static void test_stash_length(struct kunit *test)
{
	struct skb_test *t = test->priv;

	skb_begin_way(t, &ways[0]);
	skb_arrive(t, 10, LINEAR);
	skb_read_all(t);
	KUNIT_ASSERT_EQ(test, t->e.rx.want, t->ends[0]);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_EQ(test, skb_charged, t->ends[0]);
	skb_drop_stash(t);
	KUNIT_EXPECT_EQ(test, skb_charged, 0);

	skb_begin_way(t, &ways[0]);
	skb_arrive(t, 1, LINEAR);
	skb_read_all(t);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_EQ(test, skb_charged, KWARP_FPDU_MAX);
	skb_drop_stash(t);
}

/* A sender on this machine has changed the length after the stash was made. */
static void test_stash_longer(struct kunit *test)
{
	struct skb_test *t = test->priv;
	u8 chunk[64] = { 0xff, 0xff, 0x41 };
	u32 len;

	skb_start(t, true, false, 0);
	t->e.rx.want = 100;
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	len = skb_stash_fill(&t->e, chunk, sizeof(chunk));
	KUNIT_EXPECT_EQ(test, len, KWARP_FPDU_MIN);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, skb_stash_fill(&t->e, chunk + len, sizeof(chunk) - len),
			sizeof(chunk) - len);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_MPA_LOST);
	KUNIT_EXPECT_FALSE(test, t->e.rx.stash.use);
	kwarp_rx_free_stash(&t->e);
	KUNIT_EXPECT_EQ(test, skb_charged, 0);
}

static void test_stash_longest(struct kunit *test)
{
	struct skb_test *t = test->priv;
	struct kwarp_rx_stash *s = &t->e.rx.stash;
	u8 chunk[64] = { 0, 0, 0, 0, 0xff, 0xff, 0x41 };
	u32 n, len;

	skb_start(t, true, true, 0);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	for (n = 0; n < KWARP_FPDU_MAX; n += len) {
		KUNIT_ASSERT_TRUE(test, s->use);
		len = skb_stash_fill(&t->e, chunk, min_t(u32, sizeof(chunk), KWARP_FPDU_MAX - n));
		KUNIT_ASSERT_GT(test, len, 0);
		memset(chunk, 0, sizeof(chunk));
	}
	KUNIT_EXPECT_EQ(test, n, KWARP_FPDU_MAX);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_MPA_CRC);
}

/* 5041-7.1-22: after an error all octets are taken from TCP and dropped. */
static void test_stopped(struct kunit *test)
{
	struct skb_test *t = test->priv;

	skb_begin_way(t, &ways[0]);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	skb_arrive(t, t->len - 1, FRAGS);
	skb_read_all(t);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&t->queue));
	KUNIT_EXPECT_EQ(test, t->done, 0);
}

/*
 * The octets of the second of three skbs cannot be copied; they can be read in place only if
 * skb_uncopyable is set. No octets stay with TCP, because TCP would not call the engine again.
 */
static void one_unreadable(struct skb_test *t, const struct way *w, u32 a, u32 b)
{
	struct kunit *test = t->test;

	skb_begin_way(t, w);
	skb_arrive(t, a, a % SHAPES);
	skb_arrive(t, b - a, b % SHAPES);
	skb_unreadable = skb_peek_tail(&t->queue);
	skb_arrive(t, t->len - b, (a + b) % SHAPES);
	skb_read_all(t);
	skb_unreadable = NULL;
	KUNIT_ASSERT_TRUE_MSG(test, skb_queue_empty(&t->queue), "%u, %u", a, b);
	KUNIT_ASSERT_EQ(test, t->e.rx.want, 0);
	KUNIT_ASSERT_EQ(test, memcmp(t->out, t->payload, t->out_len), 0);
	if (t->e.perr == KWARP_PERR_NONE) {
		KUNIT_ASSERT_EQ(test, t->done, t->fpdus);
		return;
	}
	KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_MPA_LOST);
	KUNIT_ASSERT_LE(test, t->done, skb_complete_in(t, b));
	/*
	 * The last FPDU before the unreadable skb may be missing: to read the head of a short FPDU,
	 * more octets are copied than the FPDU has, and these may extend into the unreadable skb.
	 */
	KUNIT_ASSERT_GE(test, t->done + 1, skb_complete_in(t, a));
}

static void test_unreadable(struct kunit *test)
{
	const struct way *w = test->param_value;
	u32 a, b, step = w->lens == small ? 1 : 29;
	struct skb_test *t = test->priv;

	skb_make_stream(t, w->lens, w->markers, w->off);
	for (a = 0; a < t->len; a += step) {
		for (b = a + 1; b <= t->len; b += step) {
			skb_uncopyable = (a + b) & 1;
			one_unreadable(t, w, a, b);
		}
	}
}

static struct kunit_case rx_stash_cases[] = {
	KUNIT_CASE_PARAM(test_stash, crc_way_gen_params),
	KUNIT_CASE(test_stash_longest),
	KUNIT_CASE(test_stash_length),
	KUNIT_CASE(test_stash_longer),
	KUNIT_CASE(test_stash_charge),
	KUNIT_CASE(test_stash_unpaid),
	KUNIT_CASE(test_stash_no_pages),
	KUNIT_CASE(test_stopped),
	KUNIT_CASE_PARAM(test_unreadable, crc_way_gen_params),
	{}
};

static struct kunit_suite rx_stash_suite = {
	.name = "kwarp_rx_stash",
	.init = skb_test_init,
	.exit = skb_test_exit,
	.test_cases = rx_stash_cases,
};

kunit_test_suite(rx_stash_suite);
