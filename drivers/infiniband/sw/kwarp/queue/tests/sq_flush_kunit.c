// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the send queue: requests that fail or are flushed, and the reset. */
#include <kunit/test.h>
#include <linux/limits.h>

#include "sq_fixture.h"

/*
 * A flush completes sent requests with success (an unsignaled one without an entry), except Reads
 * without a response; a failed request keeps its status; all others get a flush error.
 */
static void test_flush(struct kunit *test)
{
	struct sq_test *t = test->priv;
	const struct kwarp_cqe *cqe;

	post_signaled(t, 1, KWARP_WR_READ);	/* sent, no response yet */
	post_send(t, 2, KWARP_WR_SEND, 0);		/* sent, unsignaled */
	post_signaled(t, 3, KWARP_WR_SEND);	/* sent */
	post_send(t, 4, KWARP_WR_WRITE, 0);		/* failed */
	post_send(t, 5, KWARP_WR_SEND, 0);		/* taken, but not sent */
	post_send(t, 6, KWARP_WR_WRITE, 0);		/* posted, but not taken */
	post_signaled(t, 7, 0xee);		/* posted, invalid opcode: completes as a Send */
	take_send(test, 1);
	take_send(test, 2);
	take_send(test, 3);
	kwarp_sq_sent(&t->sq, 3);
	kwarp_sq_failed(&t->sq, take_send(test, 4), KWARP_WC_LOC_PROT_ERR, 0x1234);
	take_send(test, 5);
	expect_none(test);

	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 1, KWARP_WR_READ, KWARP_WC_FLUSH_ERR);
	expect_cqe(test, 3, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	cqe = kwarp_ring_slot(&t->cq->cq.ring, t->cq->cq.ring.hdr->cons);
	KUNIT_EXPECT_EQ(test, cqe->vendor_err, 0x1234);
	expect_cqe(test, 4, KWARP_WR_WRITE, KWARP_WC_LOC_PROT_ERR);
	expect_cqe(test, 5, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	expect_cqe(test, 6, KWARP_WR_WRITE, KWARP_WC_FLUSH_ERR);
	expect_cqe(test, 7, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 7);

	/* a second flush completes only requests that were posted after the first flush */
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_none(test);
	post_send(t, 8, KWARP_WR_READ, 0);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 8, KWARP_WR_READ, KWARP_WC_FLUSH_ERR);
	expect_none(test);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
	/* a report that requests were sent has no effect after the flush */
	kwarp_sq_sent(&t->sq, 5);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 8);
}

/* A flush after the peer has refused a Read */
static void test_flush_reads(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 1, KWARP_WR_READ, 0);
	post_signaled(t, 2, KWARP_WR_READ);
	post_send(t, 3, KWARP_WR_READ, 0);
	take_send(test, 1);
	take_send(test, 2);
	take_send(test, 3);
	kwarp_sq_sent(&t->sq, 3);
	kwarp_sq_failed(&t->sq, 0, KWARP_WC_REM_ACCESS_ERR, 0x1100);
	kwarp_sq_answered(&t->sq, 1);
	expect_none(test);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 1, KWARP_WR_READ, KWARP_WC_REM_ACCESS_ERR);
	expect_cqe(test, 2, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_cqe(test, 3, KWARP_WR_READ, KWARP_WC_FLUSH_ERR);
	expect_none(test);
}

/* No flush is needed if all earlier requests have completed. */
static void test_failed_sent(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 1, KWARP_WR_WRITE, 0);
	kwarp_sq_failed(&t->sq, take_send(test, 1), KWARP_WC_REM_OP_ERR, 1);
	kwarp_sq_sent(&t->sq, 1);
	expect_cqe(test, 1, KWARP_WR_WRITE, KWARP_WC_REM_OP_ERR);
	start_at(t, ENTRIES);
	post_signaled(t, 2, KWARP_WR_WRITE);
	take_send(test, 2);
	kwarp_sq_sent(&t->sq, ENTRIES + 1);
	expect_cqe(test, 2, KWARP_WR_WRITE, KWARP_WC_SUCCESS);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_none(test);
}

/* A flush completes only requests that were taken. */
static void test_flush_corrupt(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 1, KWARP_WR_WRITE, 0);
	post_send(t, 2, KWARP_WR_WRITE, 0);
	take_send(test, 1);
	t->sq.ring.hdr->prod = 2 + ENTRIES;
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 1, KWARP_WR_WRITE, KWARP_WC_FLUSH_ERR);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
}

static void test_reset(struct kunit *test)
{
	struct sq_test *t = test->priv;

	start_at(t, 77);
	post_signaled(t, 1, KWARP_WR_READ);
	take_send(test, 1);
	kwarp_ring_set_flags(&t->sq.ring, KWARP_RING_ERROR);
	kwarp_sq_reset(&t->sq);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->prod, 0);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 0);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_none(test);
	post_signaled(t, 2, KWARP_WR_SEND);
	KUNIT_EXPECT_EQ(test, take_send(test, 2), 0);
	kwarp_sq_sent(&t->sq, 1);
	expect_cqe(test, 2, KWARP_WR_SEND, KWARP_WC_SUCCESS);
}

/* 5041-6.2.1-3: late requests are flushed after TCP has taken all earlier ones. */
static void test_flush_late(struct kunit *test)
{
	struct sq_test *t = test->priv;
	u32 read, i;

	start_at(t, U32_MAX - 2);
	post_signaled(t, 1, KWARP_WR_READ);
	post_send(t, 2, KWARP_WR_SEND, 0);
	read = take_send(test, 1);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	KUNIT_EXPECT_EQ(test, t->sq.next, read + 1);
	kwarp_sq_sent(&t->sq, t->sq.next);
	for (i = 2; i <= ENTRIES; i++)
		post_send(t, 1 + i, i == 5 ? KWARP_WR_MAX : KWARP_WR_SEND, 0);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	KUNIT_EXPECT_EQ(test, t->sq.next, read + ENTRIES);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), read);

	kwarp_sq_answered(&t->sq, read);
	expect_cqe(test, 1, KWARP_WR_READ, KWARP_WC_SUCCESS);
	for (i = 2; i <= ENTRIES; i++)
		expect_cqe(test, i, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	expect_cqe(test, ENTRIES + 1, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	expect_none(test);
}

static struct kunit_case sq_flush_cases[] = {
	KUNIT_CASE(test_flush),
	KUNIT_CASE(test_flush_reads),
	KUNIT_CASE(test_failed_sent),
	KUNIT_CASE(test_flush_corrupt),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_flush_late),
	{}
};

static struct kunit_suite sq_flush_suite = {
	.name = "kwarp_sq_flush",
	.init = sq_test_init,
	.test_cases = sq_flush_cases,
};

kunit_test_suite(sq_flush_suite);
