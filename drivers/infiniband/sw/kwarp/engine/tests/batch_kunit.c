// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of batches: a batch contains what was added, in order, and needs no more pieces of memory
 * than it may have, however small the pages are and whenever memory runs out.
 */
#include "batch_fixture.h"

/* From many short FPDUs or from one FPDU of the greatest length */
static void test_longest(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 i;

	for (i = 0; i < 50; i++) {
		while (b->len < KWARP_BATCH_LEN - 200)
			KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b,
								 1 + batch_rnd_below(200)));
		while (b->len < KWARP_BATCH_LEN)
			KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, 1));
		batch_expect_contents(test, b);
		kwarp_batch_reset(b);
		KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, LONGEST_FPDU));
		batch_expect_contents(test, b);
		kwarp_batch_reset(b);
		KUNIT_EXPECT_EQ(test, b->n, 0);
	}
}

static void test_rollback(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	struct kwarp_batch_mark mark;
	u32 i;

	for (i = 0; i < 200; i++) {
		batch_put_octets(test, b, 1 + batch_rnd_below(3000));
		kwarp_batch_mark(b, &mark);
		batch_pages.fail = batch_rnd_below(2);
		batch_put_octets(test, b, 1 + batch_rnd_below(10000));
		batch_pages.fail = false;
		kwarp_batch_rollback(b, &mark);
		KUNIT_EXPECT_EQ(test, b->len, mark.len);
		batch_expect_contents(test, b);
		if (b->len > KWARP_BATCH_LEN / 2)
			kwarp_batch_reset(b);
	}
}

/* Octets can be appended only to the page that kwarp_batch_prefill() has allocated before. */
static void test_no_memory(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 len, got;

	batch_pages.fail = true;
	KUNIT_EXPECT_NULL(test, kwarp_batch_frag(b, 100, &got));
	KUNIT_EXPECT_NULL(test, kwarp_batch_whole(b, 100));
	KUNIT_EXPECT_EQ(test, b->len, 0);
	batch_pages.fail = false;
	kwarp_batch_prefill(b, KWARP_BATCH_FRAG_SURE, true);
	batch_pages.fail = true;
	len = KWARP_BATCH_FRAG_SURE;
	KUNIT_EXPECT_TRUE(test, batch_put_octets(test, b, len));
	batch_expect_contents(test, b);
	KUNIT_EXPECT_FALSE(test, batch_put_octets(test, b, PAGE_SIZE));
}

/*
 * A short batch asks for single pages, and a batch that is longer than half a page for large ones.
 * The batch after one that was longer than a page asks for large pages from its start.
 */
static void test_sizes(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	batch_put_octets(test, b, 100);
	KUNIT_EXPECT_FALSE(test, batch_pages.large);
	batch_put_octets(test, b, 2 * PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, batch_pages.large);
	kwarp_batch_reset(b);
	batch_pages.large = false;
	batch_put_octets(test, b, PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, batch_pages.large);
	kwarp_batch_reset(b);
	/* The last batch was not longer than a page, so the next ones use single pages. */
	kwarp_batch_reset(b);
	batch_put_octets(test, b, 100);
	kwarp_batch_reset(b);
	kwarp_pages_put(&b->frag);
	batch_put_octets(test, b, 100);
	KUNIT_EXPECT_FALSE(test, batch_pages.large);
}

/* TCP accepts the batch in parts of 777 octets. */
static void test_send(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 total = 20000, done = 0;
	u8 first;

	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, total));
	batch_window = 0;
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, kwarp_batch_pending(b));
	batch_window = 777;
	while (done + batch_window < total) {
		KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), -EAGAIN);
		KUNIT_EXPECT_EQ(test, iov_iter_count(&batch_sent.msg_iter), total - done);
		KUNIT_ASSERT_EQ(test, copy_from_iter(&first, 1, &batch_sent.msg_iter), 1);
		KUNIT_EXPECT_EQ(test, first, batch_octet(done));
		done += batch_window;
		KUNIT_EXPECT_EQ(test, b->sent, done);
	}
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_FALSE(test, kwarp_batch_pending(b));
	KUNIT_EXPECT_EQ(test, b->n, 0);
}

/*
 * If FPDUs are aligned to TCP segments of @cut octets, a batch is sent with MSG_EOR, so that the
 * next batch begins a segment (5044-5.1-4). An FPDU must not cross a segment boundary, unless it
 * begins a segment: if the batch has 1900 octets, 100 are left in its second segment of 1000.
 */
static void test_aligned(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	batch_window = PAGE_SIZE;
	b->goal = KWARP_BATCH_LEN;
	b->cut = 1000;
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 5000));
	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, 1900));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 100));
	KUNIT_EXPECT_FALSE(test, kwarp_batch_fits(b, 101));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_TRUE(test, batch_sent.msg_flags & MSG_EOR);

	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, 2000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 5000));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_TRUE(test, batch_sent.msg_flags & MSG_EOR);

	b->cut = 0;
	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, 1900));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 5000));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_FALSE(test, batch_sent.msg_flags & MSG_EOR);
}

/*
 * A batch is no longer than its limit @goal, here 3000 octets, except if it consists of one longer
 * FPDU. A batch of 1000 octets may get 2000 more. If FPDUs are aligned to TCP segments of 1500
 * octets (@cut), this batch may get only 500 more, because its first segment ends there.
 */
static void test_goal(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	b->goal = 3000;
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 3000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, LONGEST_FPDU));
	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, 1000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 2000));
	KUNIT_EXPECT_FALSE(test, kwarp_batch_fits(b, 2001));
	b->cut = 1500;
	KUNIT_EXPECT_FALSE(test, kwarp_batch_fits(b, 2000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 500));
}

static struct kunit_case batch_cases[] = {
	KUNIT_CASE(test_longest),
	KUNIT_CASE(test_rollback),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_sizes),
	KUNIT_CASE(test_send),
	KUNIT_CASE(test_aligned),
	KUNIT_CASE(test_goal),
	{}
};

static struct kunit_suite batch_suite = {
	.name = "kwarp_batch",
	.init = batch_test_init,
	.exit = batch_test_exit,
	.test_cases = batch_cases,
};

kunit_test_suite(batch_suite);
