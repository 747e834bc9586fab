// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of posting receives by kernel consumers */
#include <kunit/test.h>
#include <linux/limits.h>

#include "post_fixture.h"

static enum kwarp_take take_receive(struct post_test *t)
{
	bool limit_hit;

	memset(&t->rwqe, 0xa5, sizeof(t->rwqe));
	return kwarp_rq_take(&t->rq, &t->rwqe, &limit_hit);
}

static void test_receive(struct kunit *test)
{
	struct post_test *t = test->priv;
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr wr[2] = {
		{ .next = &wr[1], .wr_id = U64_MAX, .sg_list = t->sge, .num_sge = 2 },
		{ .wr_id = 2, },
	};

	KUNIT_EXPECT_EQ(test, kwarp_rq_post(&t->rq, wr, &bad), 0);
	KUNIT_EXPECT_NULL(test, bad);
	KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, U64_MAX);
	KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, 2);
	KUNIT_EXPECT_EQ(test, t->rwqe.len, 2001);
	KUNIT_EXPECT_EQ(test, t->rwqe.sge[1].addr, 0x8000000000000001ULL);
	KUNIT_EXPECT_EQ(test, t->rwqe.sge[1].length, 1001);
	KUNIT_EXPECT_EQ(test, t->rwqe.sge[1].lkey, 0xcc01);
	KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 2);
	KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, 0);
	KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_NONE);
}

static void test_receive_full(struct kunit *test)
{
	struct post_test *t = test->priv;
	struct ib_recv_wr wr[MAX_WR + 1] = {};
	const struct ib_recv_wr *bad = NULL;
	const u32 start = U32_MAX - 2;
	u32 i;

	for (i = 0; i <= MAX_WR; i++) {
		wr[i].wr_id = i;
		wr[i].next = i < MAX_WR ? &wr[i + 1] : NULL;
	}
	t->rq.next = start;
	t->rq.posted = start;
	t->rq.ring.hdr->prod = start;
	t->rq.ring.hdr->cons = start;
	KUNIT_EXPECT_EQ(test, kwarp_rq_post(&t->rq, wr, &bad), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_recv_wr *)&wr[MAX_WR]);
	KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, kwarp_rq_post(&t->rq, bad, &bad), 0);
	for (i = 1; i <= MAX_WR; i++) {
		KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->rwqe.id, i);
	}
	KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_NONE);
}

static void test_receive_refused(struct kunit *test)
{
	static const int counts[] = { RQ_SGE + 1, KWARP_MAX_SGE, INT_MAX, -1, INT_MIN };
	struct post_test *t = test->priv;
	const struct ib_recv_wr *bad;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct ib_recv_wr wr[3] = {
			{ .next = &wr[1], .wr_id = i },
			{ .next = &wr[2], .sg_list = t->sge, .num_sge = counts[i] },
			{ .wr_id = 99 },
		};

		bad = NULL;
		KUNIT_EXPECT_EQ(test, kwarp_rq_post(&t->rq, wr, &bad), -EINVAL);
		KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_recv_wr *)&wr[1]);
		KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->rwqe.id, i);
		KUNIT_EXPECT_EQ(test, take_receive(t), KWARP_TAKE_NONE);
	}
}

static struct kunit_case post_recv_cases[] = {
	KUNIT_CASE(test_receive),
	KUNIT_CASE(test_receive_full),
	KUNIT_CASE(test_receive_refused),
	{}
};

static struct kunit_suite post_recv_suite = {
	.name = "kwarp_post_recv",
	.init = post_test_init,
	.test_cases = post_recv_cases,
};

kunit_test_suite(post_recv_suite);
