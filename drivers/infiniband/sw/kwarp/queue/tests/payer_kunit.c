// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of memory accounting: all memory of the queues of a process is charged to the memory cgroup
 * of the process. The memory of a kernel consumer's queues is not charged, because any task may be
 * running when it is allocated.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static size_t paid, unpaid;

static void note_octets(size_t len, gfp_t gfp)
{
	if (gfp & __GFP_ACCOUNT)
		paid += len;
	else
		unpaid += len;
}

static struct page *note_page(gfp_t gfp)
{
	note_octets(PAGE_SIZE, gfp);
	return alloc_page(gfp);
}

static void *note_array(size_t n, size_t size, gfp_t gfp)
{
	note_octets(n * size, gfp);
	return kvmalloc_array(n, size, gfp);
}

static void *note_zeroed(size_t n, size_t size, gfp_t gfp)
{
	note_octets(n * size, gfp);
	return kvcalloc(n, size, gfp);
}

#undef alloc_page
#undef kvmalloc_array
#undef kvcalloc
#define alloc_page		note_page
#define kvmalloc_array		note_array
#define kvcalloc		note_zeroed
#include "../ring.c"
#include "../sq.c"

#include "../rq.h"

#define ENTRIES		1000
#define STRIDE		64
#define RING_LEN	(KWARP_RING_ENTRIES_OFFSET + 1024 * STRIDE)
#define PAGES		(PAGE_ALIGN(RING_LEN) / PAGE_SIZE)

static const size_t ring_cost = PAGES * (PAGE_SIZE + sizeof(struct page *));

static void expect_payer(struct kunit *test, bool user, size_t cost)
{
	KUNIT_EXPECT_EQ(test, paid, user ? cost : 0);
	KUNIT_EXPECT_EQ(test, unpaid, user ? 0 : cost);
}

static void test_ring(struct kunit *test)
{
	struct kwarp_ring ring = { };
	bool user = *(const bool *)test->param_value;

	KUNIT_ASSERT_EQ(test, kwarp_ring_init(&ring, ENTRIES, STRIDE, user), 0);
	KUNIT_EXPECT_EQ(test, ring.len, RING_LEN);
	expect_payer(test, user, ring_cost);
	kwarp_ring_fini(&ring);
}

static void test_sq(struct kunit *test)
{
	struct kwarp_sq *sq = kunit_kzalloc(test, sizeof(*sq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sq);
	sq->user = *(const bool *)test->param_value;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(sq, ENTRIES, STRIDE), 0);
	expect_payer(test, sq->user, ring_cost + 1024 * sizeof(*sq->done));
	kvfree(sq->done);
	kwarp_ring_fini(&sq->ring);
}

static void test_rq(struct kunit *test)
{
	struct kwarp_rq *rq = kunit_kzalloc(test, sizeof(*rq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rq);
	rq->user = *(const bool *)test->param_value;
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(rq, ENTRIES, STRIDE), 0);
	expect_payer(test, rq->user, ring_cost);
	kwarp_ring_fini(&rq->ring);
}

static const bool users[] = { true, false };

static void user_desc(const bool *user, char *desc)
{
	strscpy(desc, *user ? "process" : "kernel consumer", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(user, users, user_desc);

static int payer_test_init(struct kunit *test)
{
	paid = 0;
	unpaid = 0;
	return 0;
}

static struct kunit_case payer_cases[] = {
	KUNIT_CASE_PARAM(test_ring, user_gen_params),
	KUNIT_CASE_PARAM(test_sq, user_gen_params),
	KUNIT_CASE_PARAM(test_rq, user_gen_params),
	{}
};

static struct kunit_suite payer_suite = {
	.name = "kwarp_queue_payer",
	.init = payer_test_init,
	.test_cases = payer_cases,
};

kunit_test_suite(payer_suite);
