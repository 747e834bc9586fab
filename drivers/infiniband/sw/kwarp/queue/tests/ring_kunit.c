// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of rings: size and layout, and checks of their indices. */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/mm.h>

#include "fixture.h"

static const struct size_case {
	const char *desc;
	u32 entries;
	u32 stride;
	u32 size;
	size_t len;
} sizes[] = {
	{ "none wanted", 0, 64, 1, 256 + 64 },
	{ "one", 1, 64, 1, 256 + 64 },
	{ "two", 2, 32, 2, 256 + 64 },
	{ "three", 3, 32, 4, 256 + 128 },
	{ "four", 4, 32, 4, 256 + 128 },
	{ "five", 5, 512, 8, 256 + 4096 },
	{ "one page of entries", 8, 512, 8, 256 + 4096 },
	{ "one entry more", 9, 512, 16, 256 + 8192 },
	{ "1000", 1000, 64, 1024, 256 + 65536 },
	{ "1024", 1024, 64, 1024, 256 + 65536 },
	{ "1025", 1025, 64, 2048, 256 + 131072 },
};

KUNIT_ARRAY_PARAM_DESC(size, sizes, desc);

static void test_size(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct kwarp_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	u8 *end;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	test_ring_init(test, ring, c->entries, c->stride);
	KUNIT_EXPECT_EQ(test, kwarp_ring_size(ring), c->size);
	KUNIT_EXPECT_EQ(test, ring->stride, c->stride);
	KUNIT_EXPECT_EQ(test, ring->len, ALIGN(c->len, L1_CACHE_BYTES));
	KUNIT_EXPECT_PTR_EQ(test, ring->entries,
			    (u8 *)ring->hdr + KWARP_RING_ENTRIES_OFFSET);
	/* memory that user space can map must have been zeroed */
	KUNIT_EXPECT_NULL(test, memchr_inv(ring->hdr, 0, ring->len));
	end = (u8 *)kwarp_ring_slot(ring, c->size - 1) + c->stride;
	KUNIT_EXPECT_PTR_EQ(test, end, ring->entries + c->size * c->stride);
	KUNIT_EXPECT_LE(test, (size_t)(end - (u8 *)ring->hdr), ring->len);
	kwarp_ring_fini(ring);
	KUNIT_EXPECT_NULL(test, ring->hdr);
}

/* Two rings in one allocation do not overlap. */
static void test_tail(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct kwarp_ring *ring = kunit_kzalloc(test, 2 * sizeof(*ring), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	ring->tail = kwarp_ring_octets(1000, 48);
	test_ring_init(test, ring, c->entries, c->stride);
	kwarp_ring_place(ring + 1, (u8 *)ring->hdr + ring->len, 1000, 48);
	KUNIT_EXPECT_EQ(test, ring->len, ALIGN(c->len, L1_CACHE_BYTES));
	KUNIT_EXPECT_EQ(test, ring[1].len, ring->tail);
	KUNIT_EXPECT_EQ(test, kwarp_ring_size(ring + 1), 1024);
	KUNIT_EXPECT_NULL(test, memchr_inv(ring->hdr, 0, ring->len + ring->tail));
	KUNIT_EXPECT_LE(test, (uintptr_t)kwarp_ring_slot(ring + 1, 1023) + 48,
			(uintptr_t)ring->hdr + ring->len + ring->tail);
	KUNIT_EXPECT_EQ(test, kwarp_ring_octets(BIT(31) + 1, 1), 0);
	KUNIT_EXPECT_EQ(test, kwarp_ring_init(ring + 1, BIT(31) + 1, 1, false), -ENOMEM);
}

static void test_slot(struct kunit *test)
{
	struct kwarp_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	u32 start = U32_MAX - 5, i;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	test_ring_init(test, ring, 8, 48);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_PTR_EQ(test, kwarp_ring_slot(ring, i),
				    (void *)(ring->entries + i % 8 * 48));
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_PTR_EQ(test, kwarp_ring_slot(ring, start + i),
				    (void *)(ring->entries + (i + 2) % 8 * 48));
}

/* Parameters of test_pending(): the consumer's index. */
static const u32 starts[] = {
	0, 1, 7, 0x7ffffff8, 0x7fffffff, 0x80000000, U32_MAX - 8, U32_MAX - 3, U32_MAX
};

static void start_desc(const u32 *start, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "index %#x", *start);
}

KUNIT_ARRAY_PARAM(start, starts, start_desc);

static void test_pending(struct kunit *test)
{
	static const u32 impossible[] = {
		9, 10, 16, 0x7fffffff, 0x80000000, U32_MAX - 8, U32_MAX
	};
	struct kwarp_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	const u32 *start = test->param_value;
	u32 n, count;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	test_ring_init(test, ring, 8, 32);
	for (n = 0; n <= 8; n++) {
		ring->hdr->prod = *start + n;
		count = ~n;
		KUNIT_EXPECT_TRUE(test, kwarp_ring_pending(ring, *start, &count));
		KUNIT_EXPECT_EQ(test, count, n);
	}
	for (n = 0; n < ARRAY_SIZE(impossible); n++) {
		ring->hdr->prod = *start + impossible[n];
		KUNIT_EXPECT_FALSE_MSG(test, kwarp_ring_pending(ring, *start, &count),
				       "ahead by %#x", impossible[n]);
	}
}

static void test_header(struct kunit *test)
{
	struct kwarp_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	struct kwarp_ring_hdr want = {};

	KUNIT_ASSERT_NOT_NULL(test, ring);
	test_ring_init(test, ring, 4, 32);
	kwarp_ring_release(ring, 0xfffffffe);
	want.cons = 0xfffffffe;
	KUNIT_EXPECT_MEMEQ(test, ring->hdr, &want, sizeof(want));
	kwarp_ring_set_flags(ring, KWARP_RING_NEED_KICK);
	want.flags = KWARP_RING_NEED_KICK;
	KUNIT_EXPECT_MEMEQ(test, ring->hdr, &want, sizeof(want));
	kwarp_ring_set_flags(ring, 0);
	want.flags = 0;
	KUNIT_EXPECT_MEMEQ(test, ring->hdr, &want, sizeof(want));
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE_PARAM(test_size, size_gen_params),
	KUNIT_CASE_PARAM(test_tail, size_gen_params),
	KUNIT_CASE(test_slot),
	KUNIT_CASE_PARAM(test_pending, start_gen_params),
	KUNIT_CASE(test_header),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "kwarp_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);

MODULE_LICENSE("Dual BSD/GPL");
