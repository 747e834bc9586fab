// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the transmit step: requests posted around a graceful close, and lost completions. Local
 * operation: a request that sends nothing, such as the registration of a region.
 */
#include "tx_fixture.h"

/* ------------------------------------------------------------------ fixture */

/* Set up a region of a kernel consumer, so that local operations succeed. */
static void offer_region(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->sq.user = false;
	t->mr = kunit_kzalloc(test, sizeof(*t->mr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->mr);
}

/* ----------------------------------------------------------- graceful closes */

/* After the batch with the last octets kwarp_tx_step() asks for another step, which reports it. */
static void test_drained_behind_batch(struct kunit *test)
{
	struct tx_test *t = test->priv;

	tx_post(t, KWARP_WR_SEND, 0, 1);
	t->e.tx.drain_to = 1;
	set_bit(KWARP_E_TX_DRAIN, &t->e.flags);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_DRAINED);
}

static void start_drain(struct tx_test *t)
{
	t->e.tx.drain_to = t->sq.ring.hdr->prod;
	set_bit(KWARP_E_TX_DRAIN, &t->e.flags);
}

/* There is no error code in vendor_err, because the stream has not failed. */
static void expect_flushed(struct kunit *test, u8 opcode)
{
	struct tx_test *t = test->priv;
	const struct kwarp_cqe *cqe = test_cq_pop(t->cq);

	KUNIT_ASSERT_NOT_NULL(test, cqe);
	KUNIT_EXPECT_EQ(test, cqe->opcode, opcode);
	KUNIT_EXPECT_EQ(test, cqe->status, KWARP_WC_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, cqe->vendor_err, 0);
}

/* 5041-6.2.1-3: requests are flushed before and after our FIN. */
static void test_posted_after_close(struct kunit *test)
{
	struct tx_test *t = test->priv;

	tx_post(t, KWARP_WR_SEND, 0, 1);
	start_drain(t);
	tx_post(t, KWARP_WR_READ, 0, 0);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_DRAINED);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_flushed(test, KWARP_WR_READ);
	KUNIT_EXPECT_TRUE(test, kwarp_tx_drained(&t->e));

	set_bit(KWARP_E_TX_STOP, &t->e.flags);
	tx_post(t, KWARP_WR_WRITE, KWARP_WR_FENCE, 1);
	tx_run(test);
	expect_flushed(test, KWARP_WR_WRITE);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_EQ(test, t->tcp.built, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
}

/* 5040-5.5-22: it completes in order, after an earlier Read has been answered. */
static void test_posted_after_close_waits(struct kunit *test)
{
	struct tx_test *t = test->priv;

	tx_post(t, KWARP_WR_READ, 0, 0);
	start_drain(t);
	tx_run(test);
	tx_post(t, KWARP_WR_SEND, 0, 1);
	tx_run(test);
	test_cq_none(test, t->cq);
	kwarp_readq_pop(&t->e.oread);
	kwarp_sq_answered(&t->sq, 0);
	test_cq_expect(test, t->cq, 0, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_flushed(test, KWARP_WR_SEND);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
}

/* The flush would complete the earlier requests as sent. */
static void test_posted_after_close_blocked(struct kunit *test)
{
	struct tx_test *t = test->priv;

	tx_post(t, KWARP_WR_SEND, 0, 1);
	start_drain(t);
	tx_post(t, KWARP_WR_SEND, 0, 1);
	t->tcp.error = -EAGAIN;
	tx_run(test);
	test_cq_none(test, t->cq);
	t->tcp.error = -EPIPE;
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_LOST);
	tx_run(test);
	test_cq_none(test, t->cq);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
}

/*
 * tx.drain_to is read from memory that the program can write to: whatever is there, what was posted
 * is sent or flushed.
 */
static void test_close_with_wrong_index(struct kunit *test)
{
	struct tx_test *t = test->priv;

	tx_post(t, KWARP_WR_SEND, 0, 1);
	tx_run(test);
	t->sq.ring.hdr->prod = U32_MAX;
	start_drain(t);
	t->sq.ring.hdr->prod = 1;
	tx_post(t, KWARP_WR_SEND, 0, 1);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_DRAINED);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_flushed(test, KWARP_WR_SEND);
}

/* One step carries out a limited number of local operations, although they send nothing. */
static void test_local_bounded(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	tx_make_room(test);
	offer_region(test);
	for (i = 0; i < KWARP_BATCH_EFFORT + 3; i++)
		tx_post(t, KWARP_WR_REG_MR, 0, 0);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->sq.next, KWARP_BATCH_EFFORT);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->sq.next, KWARP_BATCH_EFFORT + 3);
	KUNIT_EXPECT_EQ(test, t->access, IB_ACCESS_REMOTE_READ);
}

/*
 * The completion of the last request was lost because the CQ was full: the stream fails, although
 * nothing else is to be sent.
 */
static void test_completion_lost(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->cq->cq.prod = t->cq->cq.ring.mask + 1;
	tx_post(t, KWARP_WR_SEND, 0, 1);
	tx_run(test);
	KUNIT_EXPECT_TRUE(test, t->cq->cq.overflow);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.opcode, KWARP_OP_TERM);
}

/* The completion of a local operation was lost because the CQ was full: the stream fails, too. */
static void test_local_completion_lost(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->cq->cq.prod = t->cq->cq.ring.mask + 1;
	offer_region(test);
	tx_post(t, KWARP_WR_REG_MR, 0, 0);
	tx_run(test);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
}

static struct kunit_case tx_close_cases[] = {
	KUNIT_CASE(test_local_bounded),
	KUNIT_CASE(test_drained_behind_batch),
	KUNIT_CASE(test_posted_after_close),
	KUNIT_CASE(test_posted_after_close_waits),
	KUNIT_CASE(test_posted_after_close_blocked),
	KUNIT_CASE(test_close_with_wrong_index),
	KUNIT_CASE(test_completion_lost),
	KUNIT_CASE(test_local_completion_lost),
	{}
};

static struct kunit_suite tx_close_suite = {
	.name = "kwarp_tx_close",
	.init = tx_test_init,
	.test_cases = tx_close_cases,
};

kunit_test_suite(tx_close_suite);
