// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of access checks and invalidation: each condition alone, their order, and every boundary */
#include <kunit/test.h>
#include <linux/limits.h>

#include "../mr.h"

#define STAG		0x123456abU
#define VA		0x7f0000001234ULL
#define LEN		0x3000ULL
#define RIGHTS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/* Protection domains: only their addresses matter. */
static struct ib_pd pd, other_pd;
static const struct kwarp_mem_stream stream = { .pd = &pd, .id = 1 };
/*
 * A stream with another id in the same protection domain: another queue pair's, or the next stream
 * of the same queue pair.
 */
static const struct kwarp_mem_stream sibling = { .pd = &pd, .id = 2 };
static const struct kwarp_mem_stream other_pd_stream = { .pd = &other_pd };
static const struct kwarp_mem_stream no_pd_stream;

static void make_region(struct kwarp_mr *mr, enum kwarp_mr_kind kind)
{
	memset(mr, 0, sizeof(*mr));
	refcount_set(&mr->refs, 1);
	rwlock_init(&mr->lock);
	mr->kind = kind;
	mr->valid = true;
	mr->stag = STAG;
	mr->access = RIGHTS;
	mr->pd = &pd;
	mr->owner = stream.id;
	mr->va = VA;
	mr->length = LEN;
}

static struct kwarp_mr *new_region(struct kunit *test, enum kwarp_mr_kind kind)
{
	struct kwarp_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	make_region(mr, kind);
	return mr;
}

static enum kwarp_mem_err check_access(const struct kwarp_mr *mr, u64 addr, u64 len)
{
	return kwarp_mem_check(mr, STAG, &stream, addr, len, IB_ACCESS_REMOTE_WRITE);
}

static void test_stag(struct kunit *test)
{
	struct kwarp_mr *mr = new_region(test, KWARP_MR_USER);
	int bit;

	KUNIT_EXPECT_EQ(test, check_access(mr, VA, 1), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, check_access(NULL, VA, 1), KWARP_MEM_STAG);
	for (bit = 0; bit < 32; bit++)
		KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG ^ BIT(bit), &stream, VA, 1, 0),
				KWARP_MEM_STAG);
	mr->valid = false;
	KUNIT_EXPECT_EQ(test, check_access(mr, VA, 1), KWARP_MEM_STAG);
	KUNIT_EXPECT_EQ(test, check_access(mr, VA, 0), KWARP_MEM_STAG);
}

static void test_pd(struct kunit *test)
{
	static const enum kwarp_mr_kind kinds[] = {
		KWARP_MR_USER, KWARP_MR_FAST, KWARP_MR_DMA
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct kwarp_mr *mr = new_region(test, kinds[i]);

		KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, VA, 1, 0), KWARP_MEM_OK);
		KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &other_pd_stream, VA, 1, 0),
				KWARP_MEM_STREAM);
		KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &no_pd_stream, VA, 1, 0),
				KWARP_MEM_STREAM);
	}
}

static void test_rights(struct kunit *test)
{
	const int all = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	struct kwarp_mr *mr = new_region(test, KWARP_MR_FAST);
	int has, need;

	BUILD_BUG_ON(all != 7);
	for (has = 0; has <= all; has++) {
		mr->access = has;
		for (need = 0; need <= all; need++)
			KUNIT_EXPECT_EQ_MSG(test, kwarp_mem_check(mr, STAG, &stream, VA, 1, need),
					    need & ~has ? KWARP_MEM_ACCESS : KWARP_MEM_OK,
					    "has %#x, needs %#x", has, need);
	}
}

static const struct bounds_case {
	const char *desc;
	u64 va;
	u64 length;
	u64 addr;
	u64 len;
	enum kwarp_mem_err want;
} bounds[] = {
	{ "all of it", VA, LEN, VA, LEN, KWARP_MEM_OK },
	{ "first octet", VA, LEN, VA, 1, KWARP_MEM_OK },
	{ "last octet", VA, LEN, VA + LEN - 1, 1, KWARP_MEM_OK },
	{ "nothing at the start", VA, LEN, VA, 0, KWARP_MEM_OK },
	{ "nothing at the end", VA, LEN, VA + LEN, 0, KWARP_MEM_OK },
	{ "nothing before", VA, LEN, VA - 1, 0, KWARP_MEM_BOUNDS },
	{ "nothing after the region", VA, LEN, VA + LEN + 1, 0, KWARP_MEM_BOUNDS },
	{ "one octet before", VA, LEN, VA - 1, 1, KWARP_MEM_BOUNDS },
	{ "from before into it", VA, LEN, VA - 1, 2, KWARP_MEM_BOUNDS },
	{ "one octet at the end", VA, LEN, VA + LEN, 1, KWARP_MEM_BOUNDS },
	{ "one octet too long", VA, LEN, VA, LEN + 1, KWARP_MEM_BOUNDS },
	{ "across the end", VA, LEN, VA + LEN - 1, 2, KWARP_MEM_BOUNDS },
	{ "long way across the end", VA, LEN, VA + 1, U32_MAX, KWARP_MEM_BOUNDS },
	{ "address 0", VA, LEN, 0, 1, KWARP_MEM_BOUNDS },
	{ "address 0, up to the region", VA, LEN, 0, VA, KWARP_MEM_BOUNDS },
	{ "low half of the address only", VA, LEN, (u32)VA, 1, KWARP_MEM_BOUNDS },
	{ "length that is 0 in 32 bits", VA, LEN, VA, BIT_ULL(32), KWARP_MEM_BOUNDS },
	/* 5041-7.1-18: a sum of 2^64 has wrapped to 0 */
	{ "sum is U64_MAX", VA, LEN, U64_MAX - 8, 8, KWARP_MEM_BOUNDS },
	{ "sum is 2^64", VA, LEN, U64_MAX - 7, 8, KWARP_MEM_WRAP },
	{ "sum is 2^64 + 4, the standard's example", VA, LEN, U64_MAX - 3, 8, KWARP_MEM_WRAP },
	{ "sum wraps into the region", VA, LEN, U64_MAX, VA + 2, KWARP_MEM_WRAP },
	{ "from the region around to it", VA, LEN, VA, U64_MAX, KWARP_MEM_WRAP },
	{ "from the region to U64_MAX", VA, LEN, VA, U64_MAX - VA, KWARP_MEM_BOUNDS },
	{ "nothing at U64_MAX", VA, LEN, U64_MAX, 0, KWARP_MEM_BOUNDS },
	/* regions whose last octet is at U64_MAX - 1, so that their end is U64_MAX */
	{ "top: all of it", U64_MAX - 16, 16, U64_MAX - 16, 16, KWARP_MEM_OK },
	{ "top: last octet", U64_MAX - 16, 16, U64_MAX - 1, 1, KWARP_MEM_OK },
	{ "top: nothing at the end", U64_MAX - 16, 16, U64_MAX, 0, KWARP_MEM_OK },
	{ "top: one octet at the end", U64_MAX - 16, 16, U64_MAX, 1, KWARP_MEM_WRAP },
	{ "top: one octet too long", U64_MAX - 16, 16, U64_MAX - 16, 17, KWARP_MEM_WRAP },
	{ "top: before", U64_MAX - 16, 16, U64_MAX - 17, 1, KWARP_MEM_BOUNDS },
	{ "top: address 0", U64_MAX - 16, 16, 0, 1, KWARP_MEM_BOUNDS },
	/* regions whose first address is 0 */
	{ "zero: all of it", 0, LEN, 0, LEN, KWARP_MEM_OK },
	{ "zero: nothing at the end", 0, LEN, LEN, 0, KWARP_MEM_OK },
	{ "zero: one octet at the end", 0, LEN, LEN, 1, KWARP_MEM_BOUNDS },
	{ "zero: U64_MAX", 0, LEN, U64_MAX, 0, KWARP_MEM_BOUNDS },
	/* regions of 0 octets */
	{ "empty: nothing", VA, 0, VA, 0, KWARP_MEM_OK },
	{ "empty: one octet", VA, 0, VA, 1, KWARP_MEM_BOUNDS },
};

KUNIT_ARRAY_PARAM_DESC(bounds, bounds, desc);

static void test_bounds(struct kunit *test)
{
	const struct bounds_case *c = test->param_value;
	struct kwarp_mr *mr = new_region(test, KWARP_MR_USER);

	mr->va = c->va;
	mr->length = c->length;
	KUNIT_EXPECT_EQ(test, check_access(mr, c->addr, c->len), c->want);
	mr->kind = KWARP_MR_FAST;
	KUNIT_EXPECT_EQ(test, check_access(mr, c->addr, c->len), c->want);
}

/* A region over all kernel memory has no bounds. */
static void test_dma(struct kunit *test)
{
	struct kwarp_mr *mr = new_region(test, KWARP_MR_DMA);

	mr->va = 0;
	KUNIT_EXPECT_EQ(test, check_access(mr, 0, 0), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, check_access(mr, VA, U32_MAX), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, check_access(mr, U64_MAX - 8, 8), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, check_access(mr, U64_MAX, 0), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, check_access(mr, U64_MAX - 7, 8), KWARP_MEM_WRAP);
	KUNIT_EXPECT_EQ(test, check_access(mr, 1, U64_MAX), KWARP_MEM_WRAP);
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, VA, 1, IB_ACCESS_REMOTE_READ),
			KWARP_MEM_ACCESS);
	mr->valid = false;
	KUNIT_EXPECT_EQ(test, check_access(mr, VA, 1), KWARP_MEM_STAG);
}

/* An access is wrong in every respect at first, then one error after the other is corrected. */
static void test_order(struct kunit *test)
{
	struct kwarp_mr *mr = new_region(test, KWARP_MR_USER);
	const int need = IB_ACCESS_REMOTE_READ;
	u64 addr = U64_MAX;

	mr->valid = false;
	mr->pd = &other_pd;
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, addr, 1, need), KWARP_MEM_STAG);
	mr->valid = true;
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, addr, 1, need), KWARP_MEM_STREAM);
	mr->pd = &pd;
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, addr, 1, need), KWARP_MEM_ACCESS);
	mr->access |= need;
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, addr, 1, need), KWARP_MEM_WRAP);
	addr = VA + LEN;
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, addr, 1, need), KWARP_MEM_BOUNDS);
	addr = VA;
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(mr, STAG, &stream, addr, 1, need), KWARP_MEM_OK);
}

static void test_revoke(struct kunit *test)
{
	struct kwarp_mr *mr = new_region(test, KWARP_MR_FAST);

	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(NULL, STAG, &stream, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG, &other_pd_stream, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG ^ 1, &stream, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG ^ 0x80, &stream, true));
	/* the refused invalidations have changed nothing */
	KUNIT_EXPECT_EQ(test, check_access(mr, VA, LEN), KWARP_MEM_OK);

	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(mr, STAG, &stream, false));
	KUNIT_EXPECT_EQ(test, check_access(mr, VA, LEN), KWARP_MEM_STAG);
}

/* 5040-7.2-4: to invalidate an invalid STag is an error for the peer, but not for the consumer. */
static void test_revoke_twice(struct kunit *test)
{
	struct kwarp_mr *mr = new_region(test, KWARP_MR_FAST);

	mr->valid = false;
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG, &stream, true));
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(mr, STAG, &stream, false));
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(mr, STAG, &sibling, false));
	KUNIT_EXPECT_FALSE(test, mr->valid);
	/* The protection domain and the STag still have to match. */
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG, &other_pd_stream, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG ^ 1, &stream, false));
}

/* 5040-8.1.1-7: a peer may not invalidate a region that another stream of the domain registered. */
static void test_revoke_sibling(struct kunit *test)
{
	struct kwarp_mr *mr = new_region(test, KWARP_MR_FAST);

	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG, &sibling, true));
	KUNIT_EXPECT_EQ(test, check_access(mr, VA, LEN), KWARP_MEM_OK);
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(mr, STAG, &stream, true));
	mr->valid = true;
	KUNIT_EXPECT_TRUE_MSG(test, kwarp_mr_revoke(mr, STAG, &sibling, false),
			      "the consumer may on any stream");
}

/*
 * 5040-8.1.1-7: neither consumer nor peer may invalidate a region of user space or the region over
 * all kernel memory, because all streams of the domain share them
 */
static void test_revoke_kind(struct kunit *test)
{
	static const enum kwarp_mr_kind kinds[] = { KWARP_MR_USER, KWARP_MR_DMA };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct kwarp_mr *mr = new_region(test, kinds[i]);

		KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG, &stream, false));
		KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(mr, STAG, &stream, true));
		KUNIT_EXPECT_TRUE(test, mr->valid);
	}
}

/* A peer may invalidate a region only if the region gives peers any right. */
static void test_revoke_remote(struct kunit *test)
{
	static const struct {
		int access;
		bool ok;
	} cases[] = {
		{ 0, false },
		{ IB_ACCESS_LOCAL_WRITE, false },
		{ IB_ACCESS_REMOTE_READ, true },
		{ IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, true },
		{ RIGHTS | IB_ACCESS_REMOTE_READ, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kwarp_mr *mr = new_region(test, KWARP_MR_FAST);

		mr->access = cases[i].access;
		KUNIT_EXPECT_EQ(test, kwarp_mr_revoke(mr, STAG, &stream, true), cases[i].ok);
		KUNIT_EXPECT_EQ(test, mr->valid, !cases[i].ok);
		mr->valid = true;
		KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(mr, STAG, &stream, false));
	}
}

static struct kunit_case access_cases[] = {
	KUNIT_CASE(test_stag),
	KUNIT_CASE(test_pd),
	KUNIT_CASE(test_rights),
	KUNIT_CASE_PARAM(test_bounds, bounds_gen_params),
	KUNIT_CASE(test_dma),
	KUNIT_CASE(test_order),
	KUNIT_CASE(test_revoke),
	KUNIT_CASE(test_revoke_twice),
	KUNIT_CASE(test_revoke_sibling),
	KUNIT_CASE(test_revoke_kind),
	KUNIT_CASE(test_revoke_remote),
	{}
};

static struct kunit_suite access_suite = {
	.name = "kwarp_mem_access",
	.test_cases = access_cases,
};

kunit_test_suite(access_suite);

MODULE_LICENSE("Dual BSD/GPL");
