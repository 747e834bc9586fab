// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the ring in which a device keeps pages for payload (tx/pages.c). A page is in flight
 * while TCP has a reference to it; here the test has that reference. A page in flight is not used
 * again. Other pages of the ring are used before a new one is allocated, so for N pages in flight
 * no more than N are allocated. The code under test is included. skb_page_frag_refill(), the
 * allocator of the networking code, is replaced by a function of this file.
 */
#include <kunit/test.h>

#include <linux/workqueue.h>

#define skb_page_frag_refill	alloc_large
#define queue_delayed_work	note_work
#define kwarp_wq		system_wq

static u32 queued;

static void note_work(struct workqueue_struct *wq, struct delayed_work *work, unsigned long delay)
{
	queued++;
}

#include "../tx/pages.c"

#define LARGE_ORDER	get_order(LARGE)

struct pages_test {
	struct kwarp_dev *kdev;
	struct page_frag frag;
};

static u32 allocated;

/* Order of the pages that alloc_large() allocates: each has PAGE_SIZE << order octets. */
static u32 order;

bool alloc_large(unsigned int sz, struct page_frag *frag, gfp_t gfp)
{
	frag->page = alloc_pages(gfp | __GFP_COMP, order);
	frag->offset = 0;
	frag->size = PAGE_SIZE << order;
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
	queued = 0;
	order = LARGE_ORDER;
	test->priv = t;
	return 0;
}

static void pages_test_exit(struct kunit *test)
{
	struct pages_test *t = test->priv;

	kwarp_pages_put(t->kdev, &t->frag);
	kwarp_pages_fini(t->kdev);
	KUNIT_EXPECT_EQ(test, t->kdev->pages.n, 0);
}

/*
 * Get a page for the test's fragment and use up all of the page. If @hold, keep a reference on the
 * page, as TCP would. Return: the page.
 */
static struct page *use_up(struct kunit *test, bool large, bool hold)
{
	struct pages_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, kwarp_pages_refill(t->kdev, &t->frag, large, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, t->frag.offset, 0);
	KUNIT_EXPECT_EQ(test, t->frag.size, PAGE_SIZE << (large ? order : 0));
	t->frag.offset = t->frag.size;
	if (hold)
		get_page(t->frag.page);
	return t->frag.page;
}

/*
 * A ring that was not used since the work item has last run is emptied, also of pages in flight;
 * the work item is queued as long as the ring has pages.
 */
static void test_unused(struct kunit *test)
{
	struct pages_test *t = test->priv;
	struct page *page = NULL;
	u32 i;

	for (i = 0; i < 3; i++) {
		page = use_up(test, true, false);
		kwarp_pages_put(t->kdev, &t->frag);
		KUNIT_EXPECT_EQ(test, queued, 2 * i + 1);
		pages_work(&t->kdev->pages.work.work);
		KUNIT_EXPECT_EQ(test, queued, 2 * i + 2);
		KUNIT_EXPECT_EQ(test, t->kdev->pages.n, 1);
	}
	KUNIT_EXPECT_EQ(test, allocated, 1);
	get_page(page);
	pages_work(&t->kdev->pages.work.work);
	KUNIT_EXPECT_EQ(test, queued, 2 * i);
	KUNIT_EXPECT_EQ(test, t->kdev->pages.n, 0);
	KUNIT_EXPECT_EQ(test, page_ref_count(page), 1);
	put_page(page);
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

/* With a constant number of pages in flight the ring grows to that number. */
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

/* A free page of the ring is found even if many other pages of the ring stay in flight for ever. */
static void test_stuck(struct kunit *test)
{
	struct pages_test *t = test->priv;
	struct page *stuck[20], *page;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stuck); i++)
		stuck[i] = use_up(test, true, true);
	page = use_up(test, true, false);
	kwarp_pages_put(t->kdev, &t->frag);
	/*
	 * Each call examines only some pages of the ring, so the free one may be found by a later
	 * call.
	 */
	for (i = 0; i < 3 && page; i++) {
		if (use_up(test, true, false) == page)
			page = NULL;
		kwarp_pages_put(t->kdev, &t->frag);
	}
	KUNIT_EXPECT_NULL(test, page);
	for (i = 0; i < ARRAY_SIZE(stuck); i++)
		put_page(stuck[i]);
}

/* A full ring drops its oldest page when a page is added; other users may still reference it. */
static void test_full(struct kunit *test)
{
	struct pages_test *t = test->priv;
	static struct page *held[KWARP_PAGES + 10];	/* too many for the stack */
	u32 i;

	for (i = 0; i < ARRAY_SIZE(held); i++)
		held[i] = use_up(test, true, true);
	kwarp_pages_put(t->kdev, &t->frag);
	KUNIT_EXPECT_EQ(test, allocated, ARRAY_SIZE(held));
	KUNIT_EXPECT_EQ(test, t->kdev->pages.n, KWARP_PAGES);
	for (i = 0; i < ARRAY_SIZE(held); i++) {
		/*
		 * The ring has dropped the ten oldest pages: only the test still has a reference to
		 * them.
		 */
		if (page_ref_count(held[i]) == 1)
			allocated--;
		put_page(held[i]);
	}
	KUNIT_EXPECT_EQ(test, allocated, KWARP_PAGES);
}

/* The free rest of a page is filled while octets before it are still in flight. */
static void test_rest(struct kunit *test)
{
	struct pages_test *t = test->priv;
	struct page *first;
	u32 i;

	KUNIT_ASSERT_TRUE(test, kwarp_pages_refill(t->kdev, &t->frag, true, GFP_KERNEL));
	first = t->frag.page;
	get_page(first);
	for (i = ROOM_MIN; i <= LARGE; i += ROOM_MIN) {
		KUNIT_EXPECT_PTR_EQ(test, t->frag.page, first);
		KUNIT_EXPECT_EQ(test, t->frag.offset, i - ROOM_MIN);
		t->frag.offset += ROOM_MIN;
		kwarp_pages_put(t->kdev, &t->frag);
		KUNIT_ASSERT_TRUE(test, kwarp_pages_refill(t->kdev, &t->frag, true,
							   GFP_KERNEL));
	}
	/* The first page is used up, and still in flight: another page was allocated. */
	KUNIT_EXPECT_PTR_NE(test, t->frag.page, first);
	KUNIT_EXPECT_EQ(test, t->frag.offset, 0);
	KUNIT_EXPECT_EQ(test, allocated, 2);
	put_page(first);
}

/*
 * If the allocator has no large pages, it returns small ones. They are used, but not kept in the
 * ring.
 */
static void test_no_large(struct kunit *test)
{
	struct pages_test *t = test->priv;
	u32 i;

	if (LARGE_ORDER == 0)
		kunit_skip(test, "all pages are large");
	order = 0;
	for (i = 0; i < 4; i++)
		put_page(use_up(test, true, true));
	KUNIT_EXPECT_EQ(test, t->kdev->pages.n, 0);
	order = LARGE_ORDER;
	use_up(test, true, false);
	KUNIT_EXPECT_EQ(test, t->frag.size, LARGE);
}

/* With little traffic single pages are used, and none goes into the ring. */
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
	/* With more traffic a large page is allocated, although the small page is not in flight. */
	use_up(test, true, false);
	KUNIT_EXPECT_EQ(test, allocated, 1);
}

/* A page is not given out while another reference on it exists. */
static void test_busy_not_taken(struct kunit *test)
{
	struct pages_test *t = test->priv;
	struct page *a = use_up(test, true, true), *b = use_up(test, true, true);

	KUNIT_EXPECT_PTR_NE(test, a, b);
	kwarp_pages_put(t->kdev, &t->frag);
	KUNIT_EXPECT_NULL(test, t->frag.page);
	use_up(test, true, false);
	KUNIT_EXPECT_PTR_NE(test, t->frag.page, a);
	KUNIT_EXPECT_PTR_NE(test, t->frag.page, b);
	KUNIT_EXPECT_EQ(test, allocated, 3);
	kwarp_pages_put(t->kdev, &t->frag);
	put_page(a);
	put_page(b);
}

static struct kunit_case pages_cases[] = {
	KUNIT_CASE(test_unused),
	KUNIT_CASE(test_same_page),
	KUNIT_CASE(test_in_flight),
	KUNIT_CASE(test_stuck),
	KUNIT_CASE(test_full),
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
