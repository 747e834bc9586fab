// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of receive and completion queues of a program that uses siw's provider libsiw. */
#include <kunit/test.h>
#include <linux/limits.h>

#include "ring_fixture.h"

static void test_recv(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 round, i;

	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_NONE);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ENTRIES; i++)
			KUNIT_ASSERT_EQ(test, post_recv(t, 10 * round + i, i & 1), 0);
		KUNIT_EXPECT_EQ(test, post_recv(t, 1, 1), -ENOMEM);
		for (i = 0; i < ENTRIES; i++) {
			KUNIT_ASSERT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
					KWARP_TAKE_OK);
			KUNIT_EXPECT_EQ(test, t->rwqe.id, 10 * round + i);
			KUNIT_EXPECT_EQ(test, t->rwqe.len, i & 1 ? 10 * round + i : 0);
		}
		KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
				KWARP_TAKE_NONE);
	}
	KUNIT_ASSERT_EQ(test, post_recv(t, 1, SIW_MAX_SGE + 1), 0);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_BAD);
}

/* Receives that are still in libsiw's ring, not moved into the queue's own ring, count as left. */
static void test_limit(struct kunit *test)
{
	struct siw_test *t = test->priv;
	bool more = false;
	u32 left;

	t->rq.limit = 4;
	for (left = 0; left < ENTRIES; left++)
		post_recv(t, left, 1);
	while (left--) {
		KUNIT_ASSERT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
				KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ_MSG(test, t->limit_hit, left == 3, "%u left", left);
		if (left != 6 || more)
			continue;
		more = true;
		/* Post two more receives, which are not moved into the queue's own ring yet. */
		post_recv(t, 1, 1);
		post_recv(t, 1, 1);
		left += 2;
	}
}

static void test_recv_flush(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < 3; i++)
		post_recv(t, i, 1);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_OK);
	for (; i < ENTRIES; i++)
		post_recv(t, i, 1);
	kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, TEST_FLUSH_CODE);
	for (i = 1; i < ENTRIES; i++)
		expect_cqe(test, i, SIW_OP_RECEIVE, SIW_WC_WR_FLUSH_ERR);
	expect_no_cqe(test);
}

/* ------------------------------------------------------------------- completions */

static void push_cqe(struct siw_test *t, const struct kwarp_cqe *cqe)
{
	unsigned long irqflags = kwarp_cq_begin(&t->cq->cq);

	kwarp_cq_add(&t->cq->cq, cqe, &t->qp);
	kwarp_cq_notify(&t->cq->cq, kwarp_cq_end(&t->cq->cq, irqflags));
}

/* Opcode and status of all completions are valid indices of libsiw's tables. */
static void test_tables(struct kunit *test)
{
	struct siw_test *t = test->priv;
	struct siw_cqe cqe;
	u32 i;

	for (i = 0; i < 256; i++) {
		push_cqe(t, &(struct kwarp_cqe){ .id = i, .opcode = i, .qpn = TEST_QPN });
		KUNIT_ASSERT_TRUE(test, poll_cq(t, &cqe));
		KUNIT_EXPECT_LE_MSG(test, cqe.opcode, SIW_OP_RECEIVE, "opcode %u", i);
		push_cqe(t, &(struct kwarp_cqe){ .id = i, .status = i, .qpn = TEST_QPN });
		KUNIT_ASSERT_TRUE(test, poll_cq(t, &cqe));
		KUNIT_EXPECT_LT_MSG(test, cqe.status, SIW_NUM_WC_STATUS, "status %u", i);
		KUNIT_EXPECT_EQ(test, cqe.status == SIW_WC_SUCCESS, !i);
	}
}

static void test_cq_full(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i, size = t->comp->foreign.size;

	for (i = 0; i < size; i++)
		push_cqe(t, &(struct kwarp_cqe){ .id = i, .qpn = TEST_QPN });
	KUNIT_EXPECT_FALSE(test, t->cq->cq.overflow);
	push_cqe(t, &(struct kwarp_cqe){ .id = i, .qpn = TEST_QPN });
	KUNIT_EXPECT_TRUE(test, t->cq->cq.overflow);
	KUNIT_EXPECT_EQ(test, t->cq->lost, 1);
	for (i = 0; i < size; i++)
		expect_cqe(test, i, SIW_OP_WRITE, SIW_WC_SUCCESS);
	expect_no_cqe(test);
}

static void test_arm(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 *flags = t->comp->foreign.arm;
	struct kwarp_cqe plain = { .qpn = TEST_QPN }, solicited = plain, failed = plain;

	solicited.flags = KWARP_CQE_SOLICITED;
	failed.status = KWARP_WC_FLUSH_ERR;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 0);
	*flags = SIW_NOTIFY_SOLICITED | SIW_NOTIFY_NEXT_COMPLETION;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 1);
	KUNIT_EXPECT_EQ(test, *flags, SIW_NOTIFY_NOT);
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 1);
	*flags = SIW_NOTIFY_SOLICITED;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 1);
	push_cqe(t, &solicited);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 2);
	*flags = SIW_NOTIFY_SOLICITED;
	push_cqe(t, &failed);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 3);
	*flags = U32_MAX;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 4);
}

static struct kunit_case siw_recv_cases[] = {
	KUNIT_CASE(test_recv),
	KUNIT_CASE(test_limit),
	KUNIT_CASE(test_recv_flush),
	KUNIT_CASE(test_tables),
	KUNIT_CASE(test_cq_full),
	KUNIT_CASE(test_arm),
	{}
};

static struct kunit_suite siw_recv_suite = {
	.name = "kwarp_siw_recv",
	.init = siw_test_init,
	.exit = siw_test_exit,
	.test_cases = siw_recv_cases,
};

kunit_test_suite(siw_recv_suite);
