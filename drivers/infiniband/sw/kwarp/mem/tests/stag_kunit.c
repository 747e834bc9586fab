// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the STag table. stag.c is included below, so that the tests can choose its random
 * numbers: with real random numbers an index is almost never in use already, and never 64 times in
 * a row.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/random.h>
#include <linux/xarray.h>

static struct {
	u32 next;	/* number that is returned instead of a random one */
	u32 count;	/* how many more calls return @next */
	u32 calls;	/* calls since choose_random() */
} fake;

static u32 chosen_random_u32(void)
{
	fake.calls++;
	if (!fake.count)
		return get_random_u32();
	fake.count--;
	return fake.next;
}

#define get_random_u32 chosen_random_u32
#include "../stag.c"
#undef get_random_u32

#define MANY	4096

struct table {
	struct kwarp_dev kdev;
	struct kwarp_mr mr[MANY];
	u32 bins[3][256];	/* for each octet of the index: how often each value came */
};

static int table_init(struct kunit *test)
{
	struct table *t = kvzalloc(sizeof(*t), GFP_KERNEL);
	u32 i;

	if (!t)
		return -ENOMEM;
	memset(&fake, 0, sizeof(fake));
	xa_init(&t->kdev.stags);
	for (i = 0; i < MANY; i++) {
		refcount_set(&t->mr[i].refs, 1);
		init_completion(&t->mr[i].idle);
	}
	test->priv = t;
	return 0;
}

static void table_exit(struct kunit *test)
{
	struct table *t = test->priv;

	if (t)
		xa_destroy(&t->kdev.stags);
	kvfree(t);
}

static void choose_random(u32 index, u32 count)
{
	fake.next = index << 8 | 0x5a;
	fake.count = count;
	fake.calls = 0;
}

static void test_life(struct kunit *test)
{
	struct table *t = test->priv;
	struct kwarp_mr *mr = &t->mr[0];
	u32 stag;

	choose_random(0xabcdef, 1);
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, mr, 0x42), 0);
	stag = mr->stag;
	KUNIT_EXPECT_EQ(test, stag, 0xabcdef42);
	KUNIT_EXPECT_EQ(test, mr->ibmr.lkey, stag);
	KUNIT_EXPECT_EQ(test, mr->ibmr.rkey, stag);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev.num_mr), 1);

	/* lookup does not find a region whose index is only reserved */
	KUNIT_EXPECT_NULL(test, kwarp_mr_lookup(&t->kdev, stag));
	kwarp_stag_publish(&t->kdev, mr);
	KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, stag), mr);
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 2);

	kwarp_stag_free(&t->kdev, mr);
	KUNIT_EXPECT_NULL(test, kwarp_mr_lookup(&t->kdev, stag));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev.num_mr), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 2);
}

/* A lookup ignores the key of the STag, and compares every bit of the index. */
static void test_lookup(struct kunit *test)
{
	struct table *t = test->priv;
	struct kwarp_mr *mr = &t->mr[0];
	int bit;

	KUNIT_EXPECT_NULL(test, kwarp_mr_lookup(&t->kdev, 0));
	KUNIT_EXPECT_NULL(test, kwarp_mr_lookup(&t->kdev, U32_MAX));
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, mr, 0), 0);
	kwarp_stag_publish(&t->kdev, mr);
	for (bit = 0; bit < 8; bit++)
		KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, mr->stag ^ BIT(bit)), mr);
	for (; bit < 32; bit++)
		KUNIT_EXPECT_NULL(test, kwarp_mr_lookup(&t->kdev, mr->stag ^ BIT(bit)));
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 9);
}

static void test_references(struct kunit *test)
{
	struct table *t = test->priv;
	struct kwarp_mr *mr = &t->mr[0];

	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, mr, 1), 0);
	kwarp_stag_publish(&t->kdev, mr);
	KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, mr->stag), mr);
	KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, mr->stag), mr);
	kwarp_mr_put(mr);
	kwarp_mr_put(mr);
	KUNIT_EXPECT_FALSE(test, completion_done(&mr->idle));
	kwarp_mr_put(mr);
	KUNIT_EXPECT_TRUE(test, completion_done(&mr->idle));
	/* a lookup that still finds the entry gets no reference any more */
	KUNIT_EXPECT_NULL(test, kwarp_mr_lookup(&t->kdev, mr->stag));
	KUNIT_EXPECT_EQ(test, refcount_read(&mr->refs), 0);
}

static void test_extremes(struct kunit *test)
{
	struct table *t = test->priv;

	choose_random(0xffffff, 1);
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[0], 0xff), 0);
	choose_random(1, 1);
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[1], 0), 0);
	kwarp_stag_publish(&t->kdev, &t->mr[0]);
	kwarp_stag_publish(&t->kdev, &t->mr[1]);
	KUNIT_EXPECT_EQ(test, t->mr[0].stag, U32_MAX);
	KUNIT_EXPECT_EQ(test, t->mr[1].stag, 0x100);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, U32_MAX), &t->mr[0]);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, 0x100), &t->mr[1]);
}

static void test_never_zero(struct kunit *test)
{
	struct table *t = test->priv;

	choose_random(0, 10);
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[0], 0x77), 0);
	KUNIT_EXPECT_EQ(test, fake.calls, 11);
	KUNIT_EXPECT_NE(test, t->mr[0].stag >> 8, 0);

	choose_random(0, U32_MAX);
	KUNIT_EXPECT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[1], 0x77), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev.num_mr), 1);
}

/* An index in use is not given out a second time, whether it is published or only reserved. */
static void test_taken(struct kunit *test)
{
	struct table *t = test->priv;

	choose_random(0x1000, 1);
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[0], 1), 0);
	choose_random(0x1000, 5);
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[1], 2), 0);
	KUNIT_EXPECT_EQ(test, fake.calls, 6);
	KUNIT_EXPECT_NE(test, t->mr[1].stag >> 8, 0x1000);

	kwarp_stag_publish(&t->kdev, &t->mr[0]);
	choose_random(0x1000, U32_MAX);
	KUNIT_EXPECT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[2], 3), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake.calls, STAG_TRIES);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev.num_mr), 2);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, 0x100000), &t->mr[0]);

	/* after kwarp_stag_free() the index can be used again */
	kwarp_stag_free(&t->kdev, &t->mr[0]);
	choose_random(0x1000, 1);
	KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[2], 3), 0);
	KUNIT_EXPECT_EQ(test, t->mr[2].stag, 0x100003);
}

static void test_limit(struct kunit *test)
{
	struct table *t = test->priv;

	atomic_set(&t->kdev.num_mr, KWARP_MAX_MR - 1);
	KUNIT_EXPECT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[0], 0), 0);
	KUNIT_EXPECT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[1], 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev.num_mr), KWARP_MAX_MR);
	kwarp_stag_free(&t->kdev, &t->mr[0]);
	KUNIT_EXPECT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[1], 0), 0);
}

/*
 * 5040-8.1.1-8: nobody can predict an index, because each one is the upper 24 bits of a new random
 * number of the kernel.
 */
static void test_unpredictable(struct kunit *test)
{
	struct table *t = test->priv;
	u32 i, index;

	for (i = 0; i < 64; i++) {
		index = 1 + i * 0x2f1ab3 % 0xfffffe;
		choose_random(index, 1);
		KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[i], i), 0);
		KUNIT_EXPECT_EQ(test, t->mr[i].stag >> 8, index);
		KUNIT_EXPECT_EQ(test, fake.calls, 1);
	}
}

/* Counted in 256 bins, where each bin should have n / 256, chi-squared is 255 on average. */
static u32 chi_squared(const u32 *bins, u32 n)
{
	s32 expect = n / 256;
	u32 i, sum = 0;

	for (i = 0; i < 256; i++)
		sum += ((s32)bins[i] - expect) * ((s32)bins[i] - expect);
	return sum / expect;
}

/* 5040-8.1.1-9: a value outside of 120..450 comes by chance in less than one of 10^10 runs. */
static void test_spread(struct kunit *test)
{
	struct table *t = test->priv;
	u32 i, near = 0, chi;

	for (i = 0; i < MANY; i++) {
		u32 index, j;

		KUNIT_ASSERT_EQ(test, kwarp_stag_alloc(&t->kdev, &t->mr[i], i), 0);
		kwarp_stag_publish(&t->kdev, &t->mr[i]);
		KUNIT_ASSERT_EQ(test, t->mr[i].stag & 0xff, i & 0xff);
		index = t->mr[i].stag >> 8;
		for (j = 0; j < 3; j++)
			t->bins[j][index >> 8 * j & 0xff]++;
		if (i && abs((s32)index - (s32)(t->mr[i - 1].stag >> 8)) < 256)
			near++;
	}
	for (i = 0; i < 3; i++) {
		chi = chi_squared(t->bins[i], MANY);
		KUNIT_EXPECT_GT_MSG(test, chi, 120, "octet %u", i);
		KUNIT_EXPECT_LT_MSG(test, chi, 450, "octet %u", i);
	}
	/*
	 * @near counts pairs of successive indices that differ by less than 256. By chance 1/8 of a
	 * pair is expected (4095 pairs * 511 / 2^24), and 8 pairs practically never come.
	 */
	KUNIT_EXPECT_LT(test, near, 8);
	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_lookup(&t->kdev, t->mr[i].stag), &t->mr[i]);
}

static struct kunit_case stag_cases[] = {
	KUNIT_CASE(test_life),
	KUNIT_CASE(test_lookup),
	KUNIT_CASE(test_references),
	KUNIT_CASE(test_extremes),
	KUNIT_CASE(test_never_zero),
	KUNIT_CASE(test_taken),
	KUNIT_CASE(test_limit),
	KUNIT_CASE(test_unpredictable),
	KUNIT_CASE(test_spread),
	{}
};

static struct kunit_suite stag_suite = {
	.name = "kwarp_mem_stag",
	.init = table_init,
	.exit = table_exit,
	.test_cases = stag_cases,
};

kunit_test_suite(stag_suite);
