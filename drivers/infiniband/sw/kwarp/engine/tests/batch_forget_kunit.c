// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the references of a batch to regions and pages */
#include "batch_fixture.h"

/*
 * kwarp_batch_prefill() drops the references to regions before it sleeps for memory. Otherwise the
 * deregistration of a region would have to wait for that memory, too.
 */
static void test_wait_without_regions(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, kwarp_batch_mr(b, 1 << 8));
	kwarp_batch_prefill(b, 1, false);
	batch_expect_references(test, 1, 2);
	kwarp_batch_prefill(b, 1, true);
	batch_expect_references(test, 1, 2);
	b->frag.offset = b->frag.size;
	kwarp_batch_prefill(b, 1, true);
	batch_expect_references(test, 0, 0);
}

/* A batch does not compare the key, the low 8 bits of an STag: the access check does that later. */
static void test_regions(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &batch_regions[1]);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x2ff), &batch_regions[2]);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x133), &batch_regions[1]);
	/* The region is registered again, with another key: the batch still finds it. */
	batch_regions[1].stag = 0x177;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &batch_regions[1]);
	KUNIT_EXPECT_EQ(test, batch_lookups, 2);
	batch_expect_references(test, 1, 3);
	KUNIT_EXPECT_NULL(test, kwarp_batch_mr(b, 0));
	KUNIT_EXPECT_NULL(test, kwarp_batch_mr(b, REGIONS << 8));
	batch_expect_references(test, 1, 3);
}

static void test_regions_full(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 i;

	for (i = 1; i <= KWARP_BATCH_MRS; i++)
		KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, i << 8), &batch_regions[i]);
	KUNIT_EXPECT_NULL(test, kwarp_batch_mr(b, i << 8));
	KUNIT_EXPECT_EQ(test, batch_lookups, KWARP_BATCH_MRS);
	batch_expect_references(test, 1, KWARP_BATCH_MRS + 1);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &batch_regions[1]);
	kwarp_batch_reset(b);
	batch_expect_references(test, 0, 0);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, i << 8), &batch_regions[i]);
	batch_expect_references(test, i, i + 1);
}

static void send_all(struct kwarp_batch *b)
{
	batch_window = U32_MAX;
	kwarp_batch_send(b, NULL, false);
}

static void send_none(struct kwarp_batch *b)
{
	batch_window = 0;
	kwarp_batch_send(b, NULL, false);
}

/*
 * @whole: the batch drops its octets and their pages. @last: the batch also drops the page that was
 * being filled.
 */
static const struct way {
	const char *desc;
	void (*forget)(struct kwarp_batch *b);
	bool whole;
	bool last;
} ways[] = {
	{ "sent", send_all, true },
	{ "TCP is full", send_none },
	{ "the stream fails", kwarp_batch_reset, true },
	{ "the stream ends", kwarp_batch_fini, true, true },
};

KUNIT_ARRAY_PARAM_DESC(way, ways, desc);

#define MOST_PAGES	8

static void test_forget(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct kwarp_batch *b = test->priv;
	struct page *held[MOST_PAGES];
	u32 i, n, len = 3 * PAGE_SIZE;

	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, len));
	n = b->n;
	KUNIT_ASSERT_LE(test, n, MOST_PAGES);
	for (i = 0; i < n; i++) {
		held[i] = b->bv[i].bv_page;
		get_page(held[i]);
		kwarp_batch_mr(b, (i + 1) << 8);
	}
	batch_expect_references(test, 1, n + 1);
	w->forget(b);
	batch_expect_references(test, 0, 0);
	KUNIT_EXPECT_EQ(test, b->nmr, 0);
	KUNIT_EXPECT_EQ(test, b->len, w->whole ? 0 : len);
	KUNIT_EXPECT_EQ(test, kwarp_batch_pending(b), !w->whole);
	KUNIT_EXPECT_EQ(test, !b->frag.page, w->last);
	/*
	 * Expected references on a page: one of the test; one of the batch, unless it has dropped
	 * its octets (@whole); one more if this is the page that is being filled.
	 */
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ_MSG(test, page_ref_count(held[i]),
				    1 + !w->whole + (held[i] == b->frag.page), "page %u", i);
		put_page(held[i]);
	}
	batch_lookups = 0;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &batch_regions[1]);
	KUNIT_EXPECT_EQ(test, batch_lookups, 1);
}

/* The rest is not sent with the next batch. */
static void test_forget_half(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, 5000));
	batch_window = 777;
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), -EAGAIN);
	KUNIT_EXPECT_EQ(test, b->sent, 777);
	kwarp_batch_reset(b);
	KUNIT_EXPECT_FALSE(test, kwarp_batch_pending(b));
	KUNIT_ASSERT_TRUE(test, batch_put_octets(test, b, 100));
	batch_expect_contents(test, b);
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&batch_sent.msg_iter), 100);
}

/* The batch returns a large page, which other streams may use. */
static void test_idle(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	kwarp_batch_idle(b);
	kwarp_batch_prefill(b, 1, true);
	kwarp_batch_idle(b);
	KUNIT_ASSERT_NOT_NULL(test, b->frag.page);
	kwarp_pages_put(&b->frag);
	b->frag.page = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
	KUNIT_ASSERT_NOT_NULL(test, b->frag.page);
	b->frag.size = 2 * PAGE_SIZE;
	kwarp_batch_idle(b);
	KUNIT_EXPECT_NULL(test, b->frag.page);
}

static struct kunit_case batch_forget_cases[] = {
	KUNIT_CASE(test_wait_without_regions),
	KUNIT_CASE(test_regions),
	KUNIT_CASE(test_regions_full),
	KUNIT_CASE_PARAM(test_forget, way_gen_params),
	KUNIT_CASE(test_forget_half),
	KUNIT_CASE(test_idle),
	{}
};

static struct kunit_suite batch_forget_suite = {
	.name = "kwarp_batch_forget",
	.init = batch_test_init,
	.exit = batch_test_exit,
	.test_cases = batch_forget_cases,
};

kunit_test_suite(batch_forget_suite);
