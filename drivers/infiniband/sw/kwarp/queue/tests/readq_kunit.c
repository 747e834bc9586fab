// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of Read queues, the rings of outstanding Reads and atomic operations */
#include <kunit/test.h>
#include <linux/limits.h>

#include "../../limits.h"
#include "../readq.h"

static const struct depth_case {
	u32 depth;
	u32 allocated;
} depths[] = {
	{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 3, 4 }, { 4, 4 }, { 5, 8 }, { 16, 16 },
	{ KWARP_MAX_IRD - 1, 256 }, { KWARP_MAX_IRD, 256 },
};

static void depth_desc(const struct depth_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "depth %u", c->depth);
}

KUNIT_ARRAY_PARAM(depth, depths, depth_desc);

static void fini_queue(void *q)
{
	kwarp_readq_fini(q);
}

static struct kwarp_readq *new_readq(struct kunit *test, u32 depth, size_t entry)
{
	struct kwarp_readq *q = kunit_kmalloc(test, sizeof(*q), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, q);
	memset(q, 0xa5, sizeof(*q));
	KUNIT_ASSERT_EQ(test, kwarp_readq_init(q, depth, entry), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_queue, q), 0);
	return q;
}

static void test_init(struct kunit *test)
{
	const struct depth_case *c = test->param_value;
	struct kwarp_readq *q = new_readq(test, c->depth, sizeof(struct kwarp_oread));

	KUNIT_EXPECT_EQ(test, q->depth, c->depth);
	KUNIT_EXPECT_EQ(test, q->mask, c->allocated - 1);
	KUNIT_EXPECT_EQ(test, q->head, 0);
	KUNIT_EXPECT_EQ(test, q->tail, 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(q->o, 0, c->allocated * sizeof(*q->o)));
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(q));
	KUNIT_EXPECT_EQ(test, kwarp_readq_full(q), !c->depth);
	kwarp_readq_fini(q);
	KUNIT_EXPECT_NULL(test, q->o);
}

static void fill_queue(struct kunit *test, struct kwarp_readq *q, u32 first)
{
	u32 i;

	for (i = 0; i < q->depth; i++) {
		KUNIT_ASSERT_FALSE_MSG(test, kwarp_readq_full(q), "with %u entries", i);
		kwarp_oread_tail(q)->sq_index = first + i;
		kwarp_readq_push(q);
		KUNIT_EXPECT_FALSE(test, kwarp_readq_empty(q));
	}
	KUNIT_EXPECT_TRUE(test, kwarp_readq_full(q));
}

static void drain_queue(struct kunit *test, struct kwarp_readq *q, u32 first)
{
	u32 i;

	for (i = 0; i < q->depth; i++) {
		KUNIT_ASSERT_FALSE_MSG(test, kwarp_readq_empty(q), "after %u entries", i);
		KUNIT_EXPECT_EQ(test, kwarp_oread_head(q)->sq_index, first + i);
		kwarp_readq_pop(q);
		KUNIT_EXPECT_FALSE(test, kwarp_readq_full(q));
	}
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(q));
}

static void test_fill_drain(struct kunit *test)
{
	const struct depth_case *c = test->param_value;
	struct kwarp_readq *q = new_readq(test, c->depth, sizeof(struct kwarp_oread));
	u32 round;

	q->head = U32_MAX - c->depth;
	q->tail = q->head;
	/* the indices begin at U32_MAX - depth, so they wrap in the second iteration */
	for (round = 0; round < 5; round++) {
		fill_queue(test, q, round * 1000);
		drain_queue(test, q, round * 1000);
	}
	KUNIT_EXPECT_EQ(test, q->tail, (u32)(U32_MAX + 4 * c->depth));
}

static void test_steady(struct kunit *test)
{
	const struct depth_case *c = test->param_value;
	struct kwarp_readq *q = new_readq(test, c->depth, sizeof(struct kwarp_iread));
	u32 level, i, in = 0, out = 0;

	for (level = 0; level < c->depth; level++) {
		for (i = 0; i < 2 * c->allocated + 1; i++) {
			KUNIT_ASSERT_FALSE(test, kwarp_readq_full(q));
			kwarp_iread_tail(q)->size = in++;
			kwarp_readq_push(q);
			KUNIT_ASSERT_EQ(test, kwarp_readq_full(q), level + 1 == c->depth);
			KUNIT_ASSERT_EQ(test, kwarp_iread_head(q)->size, out++);
			kwarp_readq_pop(q);
			KUNIT_ASSERT_EQ(test, kwarp_readq_empty(q), !level);
		}
		kwarp_iread_tail(q)->size = in++;
		kwarp_readq_push(q);
	}
	KUNIT_EXPECT_TRUE(test, kwarp_readq_full(q));
}

static struct kunit_case readq_cases[] = {
	KUNIT_CASE_PARAM(test_init, depth_gen_params),
	KUNIT_CASE_PARAM(test_fill_drain, depth_gen_params),
	KUNIT_CASE_PARAM(test_steady, depth_gen_params),
	{}
};

static struct kunit_suite readq_suite = {
	.name = "kwarp_readq",
	.test_cases = readq_cases,
};

kunit_test_suite(readq_suite);
