// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages that are used again: never while somebody else may still read them, and no more
 * of them than are in flight. The code is included; networking's allocator, which this
 * kernel has not, is a stand-in.
 */
#include <kunit/test.h>

#define skb_page_frag_refill	alloc_large
#include "../pages.c"

#define LARGE_ORDER	3

struct pages_test {
	struct kwarp_dev *kdev;
	struct page_frag frag;
};

static u32 allocated;

bool alloc_large(unsigned int sz, struct page_frag *frag, gfp_t gfp)
{
	frag->page = alloc_pages(gfp | __GFP_COMP, LARGE_ORDER);
	frag->offset = 0;
	frag->size = PAGE_SIZE << LARGE_ORDER;
	allocated++;
	return frag->page;
}

static int pages_test_init(struct kunit *test)
{
	struct pages_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	kwarp_pages_init(t->kdev);
	allocated = 0;
	test->priv = t;
	return 0;
}

static void pages_test_exit(struct kunit *test)
{
	struct pages_test *t = test->priv;

	kwarp_pages_leave(t->kdev, &t->frag);
	kwarp_pages_fini(t->kdev);
	KUNIT_EXPECT_EQ(test, t->kdev->pages.n, 0);
}

/* All of the fragment is used, and "TCP" holds a reference on it or not. */
static struct page *use_up(struct kunit *test, bool large, bool hold)
{
	struct pages_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, kwarp_pages_refill(t->kdev, &t->frag, large, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, t->frag.offset, 0);
	KUNIT_EXPECT_EQ(test, t->frag.size, PAGE_SIZE << (large ? LARGE_ORDER : 0));
	t->frag.offset = t->frag.size;
	if (hold)
		get_page(t->frag.page);
	return t->frag.page;
}

/* Nothing in flight: one page for ever. */
static void test_same_page(struct kunit *test)
{
	struct page *first = use_up(test, true, false);
	u32 i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_PTR_EQ(test, use_up(test, true, false), first);
	KUNIT_EXPECT_EQ(test, allocated, 1);
}

/* Always so many in flight: the ring turns, and grows to that number. */
static void test_in_flight(struct kunit *test)
{
	struct page *held[5];
	u32 i, n = ARRAY_SIZE(held);

	for (i = 0; i < n; i++)
		held[i] = use_up(test, true, true);
	for (; i < 10 * n; i++) {
		struct page *page;

		put_page(held[i % n]);
		page = use_up(test, true, true);
		KUNIT_EXPECT_PTR_EQ(test, page, held[i % n]);
		held[i % n] = page;
	}
	KUNIT_EXPECT_EQ(test, allocated, n);
	for (i = 0; i < n; i++)
		put_page(held[i]);
}

/* Whoever never lets go takes nothing from the others but the page. */
static void test_stuck(struct kunit *test)
{
	struct pages_test *t = test->priv;
	struct page *stuck = use_up(test, true, true), *page;
	u32 i;

	for (i = 0; i < 2 * KWARP_PAGES; i++) {
		page = use_up(test, true, true);
		KUNIT_EXPECT_PTR_NE(test, page, stuck);
		put_page(page);
		/* so that it goes into the ring and is not used again at once */
		kwarp_pages_leave(t->kdev, &t->frag);
		KUNIT_ASSERT_LE(test, t->kdev->pages.n, KWARP_PAGES);
	}
	/* it has been pushed out of the ring, from then on nothing is allocated */
	KUNIT_EXPECT_EQ(test, page_ref_count(stuck), 1);
	KUNIT_EXPECT_LE(test, allocated, 1 + KWARP_PAGES);
	put_page(stuck);
}

/* Small traffic keeps single pages out of the ring. */
static void test_small(struct kunit *test)
{
	struct pages_test *t = test->priv;
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
	KUNIT_EXPECT_EQ(test, t->kdev->pages.n, 0);
	KUNIT_EXPECT_EQ(test, allocated, 0);
	/* more traffic: a large one, although the small one is free */
	use_up(test, true, false);
	KUNIT_EXPECT_EQ(test, allocated, 1);
}

/* Nobody else may hold a page that is given out. */
static void test_busy_not_taken(struct kunit *test)
{
	struct pages_test *t = test->priv;
	struct page *a = use_up(test, true, true), *b = use_up(test, true, false);

	KUNIT_EXPECT_PTR_NE(test, a, b);
	kwarp_pages_leave(t->kdev, &t->frag);
	KUNIT_EXPECT_NULL(test, t->frag.page);
	/* the oldest is busy: not the free one behind it, but a new one */
	KUNIT_EXPECT_PTR_NE(test, use_up(test, true, false), a);
	KUNIT_EXPECT_EQ(test, allocated, 3);
	kwarp_pages_leave(t->kdev, &t->frag);
	put_page(a);
	KUNIT_EXPECT_PTR_EQ(test, use_up(test, true, false), a);
	KUNIT_EXPECT_EQ(test, allocated, 3);
}

static struct kunit_case pages_cases[] = {
	KUNIT_CASE(test_same_page),
	KUNIT_CASE(test_in_flight),
	KUNIT_CASE(test_stuck),
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
