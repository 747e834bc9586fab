// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the translation of region addresses to memory, of copies and of atomic operations */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../../proto/atomic.h"
#include "../mr.h"
#include "skb_fixture.h"

#define SEED	42
#define VA	0x1122334455667788ULL
#define MAX_CHUNKS	40

/*
 * @offset: offset of the region's first octet in its first piece
 * @order: position of each piece in memory, counted in pieces; all are different
 */
struct layout_case {
	const char *desc;
	u8 shift;
	u32 offset;
	u32 n;
	u8 order[MAX_CHUNKS];
};

static const struct layout_case layouts[] = {
	{ "one piece", 4, 0, 1, { 0 } },
	{ "one piece, from its last octet", 4, 15, 1, { 3 } },
	{ "all contiguous", 4, 5, 6, { 0, 1, 2, 3, 4, 5 } },
	{ "none contiguous", 4, 5, 6, { 0, 2, 4, 6, 8, 10 } },
	{ "backwards", 4, 1, 6, { 5, 4, 3, 2, 1, 0 } },
	{ "runs of two", 4, 0, 6, { 4, 5, 0, 1, 8, 9 } },
	{ "gap in the middle", 4, 9, 6, { 0, 1, 2, 4, 5, 6 } },
	{ "last one apart", 4, 15, 5, { 1, 2, 3, 4, 0 } },
	{ "first one apart", 4, 15, 5, { 9, 1, 2, 3, 4 } },
};

KUNIT_ARRAY_PARAM_DESC(layout, layouts, desc);

struct region {
	struct kwarp_mr mr;
	u8 *chunk[MAX_CHUNKS];
	u8 *mem;
	u32 mem_len;
};

static struct region *new_region(struct kunit *test, const struct layout_case *c)
{
	struct region *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	u32 i, places = 0;

	KUNIT_ASSERT_NOT_NULL(test, r);
	for (i = 0; i < c->n; i++)
		places = max(places, c->order[i] + 1U);
	r->mem_len = places << c->shift;
	r->mem = kunit_kzalloc(test, r->mem_len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r->mem);
	for (i = 0; i < c->n; i++)
		r->chunk[i] = r->mem + (c->order[i] << c->shift);
	r->mr.kind = KWARP_MR_USER;
	r->mr.va = VA;
	r->mr.length = (c->n << c->shift) - c->offset;
	r->mr.chunk = r->chunk;
	r->mr.nchunks = c->n;
	r->mr.max_chunks = c->n;
	r->mr.shift = c->shift;
	r->mr.offset = c->offset;
	return r;
}

/* Return: address of octet @i of the region, computed without the code under test. */
static u8 *region_octet(const struct layout_case *c, const struct region *r, u32 i)
{
	u32 pos = c->offset + i;

	return r->mem + (c->order[pos >> c->shift] << c->shift) + (pos & ((1 << c->shift) - 1));
}

static u32 octets_in_row(const struct layout_case *c, const struct region *r, u32 i, u32 want)
{
	u32 n = 1;

	while (n < want && region_octet(c, r, i + n) == region_octet(c, r, i) + n)
		n++;
	return n;
}

static void test_span(struct kunit *test)
{
	const struct layout_case *c = test->param_value;
	struct region *r = new_region(test, c);
	u32 at, want, len;

	for (at = 0; at < r->mr.length; at++) {
		for (want = 1; want <= r->mr.length - at; want++) {
			len = 0;
			KUNIT_ASSERT_PTR_EQ_MSG(test,
						kwarp_mr_span(&r->mr, VA + at, want, &len),
						(void *)region_octet(c, r, at), "at %u", at);
			KUNIT_ASSERT_EQ_MSG(test, len, octets_in_row(c, r, at, want),
					    "at %u, want %u", at, want);
		}
	}
}

static void test_write(struct kunit *test)
{
	const struct layout_case *c = test->param_value;
	struct region *r = new_region(test, c);
	u8 *want = kunit_kzalloc(test, r->mem_len, GFP_KERNEL);
	u8 data[6 * 16];
	u32 at, len, i;

	KUNIT_ASSERT_NOT_NULL(test, want);
	KUNIT_ASSERT_LE(test, r->mr.length, sizeof(data));
	for (i = 0; i < sizeof(data); i++)
		data[i] = i + 1;
	for (at = 0; at < r->mr.length; at++) {
		for (len = 0; len <= r->mr.length - at; len++) {
			memset(r->mem, 0, r->mem_len);
			memset(want, 0, r->mem_len);
			for (i = 0; i < len; i++)
				want[region_octet(c, r, at + i) - r->mem] = data[i];
			kwarp_mr_write(&r->mr, VA + at, data, len);
			KUNIT_ASSERT_MEMEQ(test, r->mem, want, r->mem_len);
		}
	}
}

/* Octets in the pieces of skbs, other than in the pieces of regions */
#define EACH	13
#define LARGE	5000

static void compare_skb(struct kunit *test, struct region *skb_to, struct region *flat_to)
{
	u8 data[TEST_SKB_PIECES * EACH];
	struct sk_buff *skb;
	u32 i, at, from, len;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i + 1;
	skb = test_skb_new(test, data, EACH);
	for (at = 0; at < flat_to->mr.length; at++) {
		for (from = 0; from <= skb->len; from++) {
			len = min(skb->len - from, flat_to->mr.length - at);
			/* also shorter copies: of 0 to 16 octets */
			if (at % 2)
				len = min(len, from % 17);
			memset(skb_to->mem, 0, skb_to->mem_len);
			memset(flat_to->mem, 0, flat_to->mem_len);
			kwarp_mr_write(&flat_to->mr, VA + at, data + from, len);
			KUNIT_ASSERT_TRUE(test, kwarp_mr_write_skb(&skb_to->mr, VA + at, skb,
								   from, len));
			KUNIT_ASSERT_MEMEQ(test, skb_to->mem, flat_to->mem, flat_to->mem_len);
		}
	}
}

/* A write from any octet of an skb to any octet of a region does what kwarp_mr_write() does. */
static void test_write_skb(struct kunit *test)
{
	const struct layout_case *c = test->param_value;

	compare_skb(test, new_region(test, c), new_region(test, c));
}

static u64 gaps[] = { 0, 1, 18, 18 + 31 };

static struct region *new_region_with_gaps(struct kunit *test)
{
	struct region *r = new_region(test, &layouts[3]);

	r->mr.before = gaps;
	r->mr.nchunks = ARRAY_SIZE(gaps);
	r->mr.offset = 0;
	r->mr.length = gaps[3] + 6;
	r->chunk[0] = r->mem + 99;
	r->chunk[1] = r->mem + 3;
	r->chunk[2] = r->mem + 21;
	r->chunk[3] = r->mem + 60;
	return r;
}

static void test_write_skb_gaps(struct kunit *test)
{
	compare_skb(test, new_region_with_gaps(test), new_region_with_gaps(test));
}

/* Octets that cannot be read change nothing. */
static void test_write_skb_unreadable(struct kunit *test)
{
	struct region *r = new_region(test, &layouts[3]);
	u8 data[TEST_SKB_PIECES * EACH], first = 16 - layouts[3].offset;
	struct sk_buff *skb;

	memset(data, 0x5a, sizeof(data));
	skb = test_skb_new(test, data, EACH);
	KUNIT_EXPECT_FALSE(test, kwarp_mr_write_skb(&r->mr, VA, skb, skb->len - first, first + 1));
	KUNIT_EXPECT_MEMEQ(test, region_octet(&layouts[3], r, 0), data, first);
	KUNIT_EXPECT_EQ(test, *region_octet(&layouts[3], r, first), 0);
	KUNIT_EXPECT_FALSE(test, kwarp_mr_write_skb(&r->mr, VA + first, skb, skb->len, 1));
	KUNIT_EXPECT_EQ(test, *region_octet(&layouts[3], r, first), 0);
	skb->unreadable = true;
	KUNIT_EXPECT_FALSE(test, kwarp_mr_write_skb(&r->mr, VA + first, skb, EACH - 1, 2));
	KUNIT_EXPECT_EQ(test, *region_octet(&layouts[3], r, first + 1), 0);
	KUNIT_EXPECT_TRUE(test, kwarp_mr_write_skb(&r->mr, VA + first, skb, 0, EACH));
}

static void test_dma(struct kunit *test)
{
	struct kwarp_mr mr = { .kind = KWARP_MR_DMA, .length = U64_MAX };
	u8 mem[32] = {};
	u32 len = 0;

	KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(&mr, (uintptr_t)mem, U32_MAX, &len),
			    (void *)mem);
	KUNIT_EXPECT_EQ(test, len, U32_MAX);
	kwarp_mr_write(&mr, (uintptr_t)mem + 1, "kernel", 6);
	KUNIT_EXPECT_MEMEQ(test, mem, "\0kernel\0", 8);
}

/* In a region of nearly 5 GiB positions need more than 32 bits. */
static void test_span_large(struct kunit *test)
{
	const u64 gig = SZ_1G;
	u8 *base = (u8 *)0x100000, *chunk[5];
	struct kwarp_mr mr = {
		.kind = KWARP_MR_USER, .va = VA, .length = 5 * gig - 7,
		.chunk = chunk, .nchunks = 5, .shift = 30, .offset = 7,
	};
	u32 i, len;

	for (i = 0; i < 5; i++)
		chunk[i] = base + i * gig;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(&mr, VA, U32_MAX, &len), (void *)(base + 7));
	KUNIT_EXPECT_EQ(test, len, U32_MAX);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(&mr, VA + 4 * gig, 100, &len),
			    (void *)(base + 4 * gig + 7));
	KUNIT_EXPECT_EQ(test, len, 100);
	chunk[3] += PAGE_SIZE;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(&mr, VA + 1, U32_MAX, &len),
			    (void *)(base + 8));
	KUNIT_EXPECT_EQ(test, len, 3 * gig - 8);
}

/* Some pieces stay next to each other, so that spans of several pieces occur. */
static void shuffle_pages(struct layout_case *c, struct rnd_state *rnd)
{
	u32 i;

	for (i = 0; i < c->n; i++)
		c->order[i] = i;
	for (i = 0; i < c->n; i += 2) {
		u32 j = prandom_u32_state(rnd) % c->n;

		swap(c->order[i], c->order[j]);
	}
}

/* Half of the lengths are at most 64, because short copies find more bugs. */
static u32 some_length(struct rnd_state *rnd, u32 max)
{
	u32 r = prandom_u32_state(rnd);

	return prandom_u32_state(rnd) % (min(r & 1 ? 64 : max, max) + 1);
}

static void test_random(struct kunit *test)
{
	const u8 *shift = test->param_value;
	struct layout_case c = { .shift = *shift, .n = MAX_CHUNKS };
	struct rnd_state rnd;
	u8 *flat, *buf, *src;
	struct sk_buff *skb;
	struct region *r;
	u32 i, total;

	prandom_seed_state(&rnd, SEED);
	shuffle_pages(&c, &rnd);
	c.offset = prandom_u32_state(&rnd) % (1 << c.shift);
	r = new_region(test, &c);
	total = r->mr.length;
	flat = kunit_kzalloc(test, total, GFP_KERNEL);
	buf = kunit_kzalloc(test, total, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, flat);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	src = kunit_kzalloc(test, TEST_SKB_PIECES * LARGE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, src);
	prandom_bytes_state(&rnd, src, TEST_SKB_PIECES * LARGE);
	skb = test_skb_new(test, src, LARGE);

	for (i = 0; i < 1500; i++) {
		u32 at = prandom_u32_state(&rnd) % total, how = prandom_u32_state(&rnd) % 3;
		u32 from = prandom_u32_state(&rnd) % skb->len;
		u32 len = some_length(&rnd, min(total - at, skb->len - from));

		if (how == 0) {
			prandom_bytes_state(&rnd, flat + at, len);
			kwarp_mr_write(&r->mr, VA + at, flat + at, len);
		} else if (how == 1) {
			memcpy(flat + at, src + from, len);
			KUNIT_ASSERT_TRUE(test, kwarp_mr_write_skb(&r->mr, VA + at, skb, from,
								   len));
		} else {
			kwarp_mr_read(&r->mr, VA + at, buf, len);
			KUNIT_ASSERT_EQ_MSG(test, memcmp(buf, flat + at, len), 0,
					    "seed %u, step %u: %u octets at %u", SEED, i, len, at);
		}
	}
	for (i = 0; i < total; i++)
		KUNIT_ASSERT_EQ_MSG(test, *region_octet(&c, r, i), flat[i], "octet %u", i);
}

static const void *shift_gen_params(const void *prev, char *desc)
{
	static const u8 shifts[] = { 3, 9, PAGE_SHIFT, PAGE_SHIFT + 1, PAGE_SHIFT + 3 };
	const u8 *next = prev ? (const u8 *)prev + 1 : shifts;

	if (next == shifts + ARRAY_SIZE(shifts))
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "pieces of 1 << %u", *next);
	return next;
}

/* 7306-5.2.1-5, -6: atomic operations work only on eight octets that are aligned in memory. */
static void test_atomic(struct kunit *test)
{
	const struct kwarp_atomic_req add = { .op = KWARP_ATOMIC_FETCH_ADD, .data = 1 };
	const struct layout_case *c = test->param_value;
	struct region *r = new_region(test, c);
	u64 old, *word;
	u32 at;

	for (at = 0; at + sizeof(u64) <= r->mr.length; at++) {
		word = (u64 *)region_octet(c, r, at);
		if ((unsigned long)word % sizeof(u64)) {
			KUNIT_ASSERT_FALSE(test, kwarp_mr_atomic(&r->mr, VA + at, &add, &old));
			KUNIT_ASSERT_FALSE(test, kwarp_mr_atomic(&r->mr, VA + at, &add, NULL));
			KUNIT_ASSERT_NULL(test, memchr_inv(r->mem, 0, r->mem_len));
			continue;
		}
		KUNIT_ASSERT_TRUE(test, kwarp_mr_atomic(&r->mr, VA + at, &add, NULL));
		*word = 41;
		KUNIT_ASSERT_TRUE(test, kwarp_mr_atomic(&r->mr, VA + at, &add, &old));
		KUNIT_ASSERT_EQ(test, old, 41);
		KUNIT_ASSERT_EQ(test, *word, 42);
		*word = 0;
		KUNIT_ASSERT_NULL(test, memchr_inv(r->mem, 0, r->mem_len));
	}
}

/* 7306-5.1.2-1, -3: CmpSwap returns the old value, whether it has swapped or not. */
static void test_swap(struct kunit *test)
{
	struct kwarp_atomic_req swap = {
		.op = KWARP_ATOMIC_CMP_SWAP, .data = 5, .mask = U64_MAX, .compare = 41,
		.compare_mask = U64_MAX,
	};
	struct region *r = new_region(test, &layouts[0]);
	u64 old, *word = (u64 *)r->mem;

	*word = 41;
	KUNIT_EXPECT_TRUE(test, kwarp_mr_atomic(&r->mr, VA, &swap, &old));
	KUNIT_EXPECT_EQ(test, old, 41);
	KUNIT_EXPECT_EQ(test, *word, 5);
	KUNIT_EXPECT_TRUE(test, kwarp_mr_atomic(&r->mr, VA, &swap, &old));
	KUNIT_EXPECT_EQ(test, old, 5);
	KUNIT_EXPECT_EQ(test, *word, 5);
}

/* An atomic operation on eight octets that lie in two pieces is refused. */
static void test_atomic_gaps(struct kunit *test)
{
	static u64 before[] = { 0, 12 };
	const struct kwarp_atomic_req add = { .op = KWARP_ATOMIC_FETCH_ADD, .data = 1 };
	struct region *r = new_region(test, &layouts[2]);

	r->mr.before = before;
	r->mr.nchunks = 2;
	r->mr.offset = 0;
	r->chunk[1] = r->mem + 32;
	KUNIT_EXPECT_TRUE(test, kwarp_mr_atomic(&r->mr, VA, &add, NULL));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_atomic(&r->mr, VA + 8, &add, NULL));
	KUNIT_EXPECT_TRUE(test, kwarp_mr_atomic(&r->mr, VA + 12, &add, NULL));
}

static struct kunit_case copy_cases[] = {
	KUNIT_CASE_PARAM(test_atomic, layout_gen_params),
	KUNIT_CASE(test_swap),
	KUNIT_CASE(test_atomic_gaps),
	KUNIT_CASE_PARAM(test_span, layout_gen_params),
	KUNIT_CASE_PARAM(test_write, layout_gen_params),
	KUNIT_CASE_PARAM(test_write_skb, layout_gen_params),
	KUNIT_CASE(test_write_skb_gaps),
	KUNIT_CASE(test_write_skb_unreadable),
	KUNIT_CASE(test_dma),
	KUNIT_CASE(test_span_large),
	KUNIT_CASE_PARAM(test_random, shift_gen_params),
	{}
};

static struct kunit_suite copy_suite = {
	.name = "kwarp_mem_copy",
	.test_cases = copy_cases,
};

kunit_test_suite(copy_suite);
