// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the caches in which processors keep pages for payload (tx/pages.c). A page is in flight
 * while TCP has a reference to it; here the test has that reference. A page in flight is not used
 * again. Other pages of the cache are used before a new one is allocated. All tests use the cache
 * of processor 0. The code under test is included. skb_page_frag_refill(), the allocator of the
 * networking code, is replaced by a function of this file.
 */
#include <kunit/test.h>

#include <linux/percpu.h>
#include <linux/workqueue.h>

#undef raw_cpu_ptr
#define raw_cpu_ptr(p)		per_cpu_ptr(p, 0)
#define skb_page_frag_refill	alloc_large
#define queue_delayed_work	note_work
#undef delayed_work_pending
#define delayed_work_pending(w)	((void)(w), queued)

static bool queued;

static void note_work(struct workqueue_struct *wq, struct delayed_work *work, unsigned long delay)
{
	queued = true;
}

#include "../tx/pages.c"

#define LARGE_ORDER	get_order(LARGE)

static struct page_frag frag;
static u32 allocated;

/* Order of the pages that alloc_large() allocates: each has PAGE_SIZE << order octets. */
static u32 order;

bool alloc_large(unsigned int sz, struct page_frag *f, gfp_t gfp)
{
	f->page = alloc_pages(gfp | __GFP_COMP, order);
	f->offset = 0;
	f->size = PAGE_SIZE << order;
	allocated++;
	return f->page;
}

static struct page_cache *cache(void)
{
	return per_cpu_ptr(&kwarp_page_caches, 0);
}

static int pages_test_init(struct kunit *test)
{
	allocated = 0;
	queued = false;
	order = LARGE_ORDER;
	frag.page = NULL;
	cache()->hand = 0;
	return kwarp_engine_init_module();
}

static void pages_test_exit(struct kunit *test)
{
	kwarp_pages_put(&frag);
	kwarp_engine_exit_module();
	KUNIT_EXPECT_EQ(test, cache()->n, 0);
}

/* If @hold, keep a reference on the page, as TCP would. */
static struct page *use_up(struct kunit *test, bool large, bool hold)
{
	KUNIT_ASSERT_TRUE(test, kwarp_pages_refill(&frag, large, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, frag.offset, 0);
	KUNIT_EXPECT_EQ(test, frag.size, PAGE_SIZE << (large ? order : 0));
	frag.offset = frag.size;
	if (hold)
		get_page(frag.page);
	return frag.page;
}

/* The work item also empties the caches of pages in flight. */
static void test_lifetime(struct kunit *test)
{
	struct page *page = use_up(test, true, true);
	u32 i;

	KUNIT_EXPECT_FALSE(test, queued);
	for (i = 0; i < 3; i++) {
		kwarp_pages_put(&frag);
		KUNIT_EXPECT_TRUE(test, queued);
		KUNIT_EXPECT_EQ(test, cache()->n, 1);
		queued = false;
		drop_old(NULL);
		KUNIT_EXPECT_EQ(test, cache()->n, 0);
		KUNIT_EXPECT_EQ(test, page_ref_count(page), 1);
		put_page(page);
		page = use_up(test, true, true);
	}
	KUNIT_EXPECT_FALSE(test, queued);
	put_page(page);
}

/* If memory is short, the shrinker frees as many pages as it is asked for. */
static void test_shrink(struct kunit *test)
{
	struct shrink_control sc = { .nr_to_scan = 3 };
	struct page *held[5];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(held); i++)
		held[i] = use_up(test, true, true);
	kwarp_pages_put(&frag);
	for (i = 0; i < ARRAY_SIZE(held); i++)
		put_page(held[i]);
	KUNIT_EXPECT_EQ(test, shrinker->count_objects(shrinker, &sc), 5);
	KUNIT_EXPECT_EQ(test, shrinker->scan_objects(shrinker, &sc), 3);
	KUNIT_EXPECT_EQ(test, shrinker->count_objects(shrinker, &sc), 2);
	KUNIT_EXPECT_EQ(test, shrinker->scan_objects(shrinker, &sc), 2);
	KUNIT_EXPECT_EQ(test, shrinker->scan_objects(shrinker, &sc), 0);
	KUNIT_EXPECT_EQ(test, cache()->n, 0);
}

/* With nothing in flight the same page is used again and again. */
static void test_same_page(struct kunit *test)
{
	struct page *first = use_up(test, true, false);
	u32 i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_PTR_EQ(test, use_up(test, true, false), first);
	KUNIT_EXPECT_EQ(test, allocated, 1);
}

/* Use @n pages that are in flight, the oldest of which is free when the next one is needed. */
static u32 stream(struct kunit *test, u32 n, u32 rounds)
{
	struct page *held[2 * KWARP_PAGES];
	u32 i;

	for (i = 0; i < rounds * n; i++) {
		if (i >= n)
			put_page(held[i % n]);
		held[i % n] = use_up(test, true, true);
	}
	for (i = 0; i < n; i++)
		put_page(held[i]);
	return allocated;
}

static void test_in_flight(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, stream(test, TRIES, 100), TRIES);
}

/* Only some pages are examined, so that a free one may be missed at times. */
static void test_far(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, stream(test, KWARP_PAGES, 100), 100 * KWARP_PAGES / ADMIT);
	allocated = 0;
	KUNIT_EXPECT_LE(test, stream(test, 2 * KWARP_PAGES, 100), 60 * 2 * KWARP_PAGES);
}

/* A free page of the cache is found even if many others stay in flight for ever. */
static void test_stuck(struct kunit *test)
{
	struct page *stuck[20], *page;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stuck); i++)
		stuck[i] = use_up(test, true, true);
	page = use_up(test, true, false);
	kwarp_pages_put(&frag);
	/* Each call examines only some pages, so the free one may be found by a later call. */
	for (i = 0; i < 3 && page; i++) {
		if (use_up(test, true, false) == page)
			page = NULL;
		kwarp_pages_put(&frag);
	}
	KUNIT_EXPECT_NULL(test, page);
	for (i = 0; i < ARRAY_SIZE(stuck); i++)
		put_page(stuck[i]);
}

/* A page that is not kept is freed; other users may still reference it. */
static void test_full(struct kunit *test)
{
	struct page *held[KWARP_PAGES + 10];
	u32 i, kept = 0;

	for (i = 0; i < ARRAY_SIZE(held); i++)
		held[i] = use_up(test, true, true);
	kwarp_pages_put(&frag);
	KUNIT_EXPECT_EQ(test, allocated, ARRAY_SIZE(held));
	KUNIT_EXPECT_EQ(test, cache()->n, KWARP_PAGES);
	for (i = 0; i < ARRAY_SIZE(held); i++) {
		kept += page_ref_count(held[i]) == 2;
		put_page(held[i]);
	}
	KUNIT_EXPECT_EQ(test, kept, KWARP_PAGES);
}

/* A stream gets its page into a cache that is full of pages which stay in flight for ever. */
static void test_admitted(struct kunit *test)
{
	struct page *stuck[KWARP_PAGES];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stuck); i++)
		stuck[i] = use_up(test, true, true);
	for (i = 0; i < 10 * ADMIT; i++) {
		use_up(test, true, false);
		kwarp_pages_put(&frag);
	}
	KUNIT_EXPECT_LE(test, allocated, KWARP_PAGES + 2 * ADMIT);
	for (i = 0; i < ARRAY_SIZE(stuck); i++)
		put_page(stuck[i]);
}

static void test_rest(struct kunit *test)
{
	struct page *first;
	u32 i;

	KUNIT_ASSERT_TRUE(test, kwarp_pages_refill(&frag, true, GFP_KERNEL));
	first = frag.page;
	get_page(first);
	for (i = ROOM_MIN; i <= LARGE; i += ROOM_MIN) {
		KUNIT_EXPECT_PTR_EQ(test, frag.page, first);
		KUNIT_EXPECT_EQ(test, frag.offset, i - ROOM_MIN);
		frag.offset += ROOM_MIN;
		kwarp_pages_put(&frag);
		KUNIT_ASSERT_TRUE(test, kwarp_pages_refill(&frag, true, GFP_KERNEL));
	}
	/* The first page is used up, and still in flight: another page was allocated. */
	KUNIT_EXPECT_PTR_NE(test, frag.page, first);
	KUNIT_EXPECT_EQ(test, frag.offset, 0);
	KUNIT_EXPECT_EQ(test, allocated, 2);
	put_page(first);
}

/* If the allocator has no large pages, it returns small ones. They are used, but not kept. */
static void test_no_large(struct kunit *test)
{
	u32 i;

	if (LARGE_ORDER == 0)
		kunit_skip(test, "all pages are large");
	order = 0;
	for (i = 0; i < 4; i++)
		put_page(use_up(test, true, true));
	KUNIT_EXPECT_EQ(test, cache()->n, 0);
	order = LARGE_ORDER;
	use_up(test, true, false);
	KUNIT_EXPECT_EQ(test, frag.size, LARGE);
}

/* With little traffic single pages are used, and none goes into the cache. */
static void test_small(struct kunit *test)
{
	struct page *page = use_up(test, false, true);
	u32 i;

	for (i = 0; i < 10; i++) {
		struct page *next = use_up(test, false, true);

		KUNIT_EXPECT_PTR_NE(test, next, page);
		KUNIT_EXPECT_EQ(test, page_ref_count(page), 1);
		put_page(page);
		page = next;
	}
	put_page(page);
	KUNIT_EXPECT_EQ(test, cache()->n, 0);
	KUNIT_EXPECT_EQ(test, allocated, 0);
	/* With more traffic a large page is allocated, although the small page is not in flight. */
	use_up(test, true, false);
	KUNIT_EXPECT_EQ(test, allocated, 1);
}

static void test_busy_not_taken(struct kunit *test)
{
	struct page *a = use_up(test, true, true), *b = use_up(test, true, true);

	KUNIT_EXPECT_PTR_NE(test, a, b);
	kwarp_pages_put(&frag);
	KUNIT_EXPECT_NULL(test, frag.page);
	use_up(test, true, false);
	KUNIT_EXPECT_PTR_NE(test, frag.page, a);
	KUNIT_EXPECT_PTR_NE(test, frag.page, b);
	KUNIT_EXPECT_EQ(test, allocated, 3);
	kwarp_pages_put(&frag);
	put_page(a);
	put_page(b);
}

static struct kunit_case pages_cases[] = {
	KUNIT_CASE(test_lifetime),
	KUNIT_CASE(test_shrink),
	KUNIT_CASE(test_same_page),
	KUNIT_CASE(test_in_flight),
	KUNIT_CASE(test_far),
	KUNIT_CASE(test_stuck),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_admitted),
	KUNIT_CASE(test_rest),
	KUNIT_CASE(test_no_large),
	KUNIT_CASE(test_small),
	KUNIT_CASE(test_busy_not_taken),
	{}
};

static struct kunit_suite pages_suite = {
	.name = "kwarp_pages",
	.init = pages_test_init,
	.exit = pages_test_exit,
	.test_cases = pages_cases,
};

kunit_test_suite(pages_suite);
