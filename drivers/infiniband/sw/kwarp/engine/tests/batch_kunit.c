// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of batches: a batch contains what was added, in order, in few enough pieces, however small
 * the pages are and whenever memory runs out; when it is dropped, no reference is kept. The code is
 * included. Pages come from a stand-in that allocates single pages, and sometimes none.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

/* Other suites have stand-ins with these names. */
#define kwarp_batch_init	tested_batch_init
#define kwarp_batch_fini	tested_batch_fini
#define kwarp_batch_reset	tested_batch_reset
#define kwarp_batch_idle	tested_batch_idle
#define kwarp_batch_mark	tested_batch_get_mark
#define kwarp_batch_rollback	tested_batch_rollback
#define kwarp_batch_prefill	tested_batch_prefill
#define kwarp_batch_frag	tested_batch_frag
#define kwarp_batch_whole	tested_batch_whole
#define kwarp_batch_mr		tested_batch_mr
#define kwarp_batch_send	tested_batch_send
#define kwarp_pages_put	leave_page
#define kwarp_pages_refill	refill_page
#define kwarp_mr_lookup		batch_mr_lookup
#define kwarp_mr_put		batch_mr_put
#define kwarp_tcp_send		take_some
#include "../tx/batch.c"

#define SEED		7
#define LONGEST_FPDU	(64 * 1024 + 16)

/**
 * struct pages - state of the page stand-in
 * @rnd: random numbers, for the amounts
 * @fail: the next request fails
 * @large: the last request was for a large page
 * @out: number of pages given out
 */
static struct pages {
	struct rnd_state rnd;
	bool fail;
	bool large;
	u32 out;
} pages;

void kwarp_pages_put(struct kwarp_dev *kdev, struct page_frag *frag)
{
	if (frag->page)
		put_page(frag->page);
	frag->page = NULL;
}

bool kwarp_pages_refill(struct kwarp_dev *kdev, struct page_frag *frag, bool large, gfp_t gfp)
{
	kwarp_pages_put(kdev, frag);
	pages.large = large;
	if (pages.fail)
		return false;
	frag->page = alloc_page(GFP_KERNEL);
	frag->offset = 0;
	frag->size = PAGE_SIZE;
	pages.out++;
	return frag->page;
}

/* More regions than a batch can reference, with their references. */
#define REGIONS		(KWARP_BATCH_MRS + 2)

static struct kwarp_mr *regions;
static u32 lookups;
static int references[REGIONS];

/* Region 0 does not exist, as STag index 0. */
struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag)
{
	lookups++;
	if (!(stag >> 8) || stag >> 8 >= REGIONS)
		return NULL;
	references[stag >> 8]++;
	return &regions[stag >> 8];
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
	references[mr - regions]--;
}

/* Check: one reference on each region from @from to @to - 1, none on the others. */
static void expect_references(struct kunit *test, u32 from, u32 to)
{
	u32 i;

	for (i = 0; i < REGIONS; i++)
		KUNIT_EXPECT_EQ_MSG(test, references[i], i >= from && i < to, "region %u", i);
}

/* Octets that the socket accepts. */
static u32 window;
static struct msghdr sent;

int take_some(struct socket *sock, struct msghdr *msg, bool locked)
{
	sent = *msg;
	return window ? min_t(u32, window, msg_data_left(msg)) : -EAGAIN;
}

static int batch_test_init(struct kunit *test)
{
	struct kwarp_batch *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, b);
	regions = kunit_kcalloc(test, REGIONS, sizeof(*regions), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, regions);
	for (i = 0; i < REGIONS; i++)
		regions[i].stag = i << 8 | 0x33;
	lookups = 0;
	memset(references, 0, sizeof(references));
	memset(&pages, 0, sizeof(pages));
	prandom_seed_state(&pages.rnd, SEED);
	kwarp_batch_init(b, NULL);
	test->priv = b;
	return 0;
}

/* Whatever a case does, kwarp_batch_fini() drops all references to regions. */
static void batch_test_exit(struct kunit *test)
{
	if (!test->priv)
		return;
	kwarp_batch_fini(test->priv);
	expect_references(test, 0, 0);
}

static u32 rnd_below(u32 n)
{
	return prandom_u32_state(&pages.rnd) % n;
}

/* The octet of the stream at offset @at. */
static u8 octet(u32 at)
{
	return at * 7 + at / 251;
}

static void write_octets(u8 *p, u32 at, u32 len)
{
	while (len--)
		*p++ = octet(at++);
}

/* Append @len octets. Return: false if there is no memory. */
static bool put_octets(struct kunit *test, struct kwarp_batch *b, u32 len)
{
	u32 at = b->len, got;
	u8 *p;

	p = rnd_below(2) ? kwarp_batch_whole(b, len) : NULL;
	if (p) {
		write_octets(p, at, len);
		KUNIT_EXPECT_EQ(test, b->len, at + len);
		return true;
	}
	while (len) {
		p = kwarp_batch_frag(b, len, &got);
		if (!p)
			return false;
		KUNIT_EXPECT_GT(test, got, 0);
		KUNIT_ASSERT_LE(test, got, len);
		write_octets(p, at, got);
		at += got;
		len -= got;
	}
	return true;
}

static void expect_contents(struct kunit *test, const struct kwarp_batch *b)
{
	u32 at = 0, i, k;

	KUNIT_ASSERT_LE(test, b->n, KWARP_BATCH_BVECS);
	for (i = 0; i < b->n; i++) {
		const u8 *p = page_address(b->bv[i].bv_page) + b->bv[i].bv_offset;

		KUNIT_ASSERT_LE(test, b->bv[i].bv_offset + b->bv[i].bv_len, PAGE_SIZE);
		for (k = 0; k < b->bv[i].bv_len; k++, at++)
			KUNIT_ASSERT_EQ(test, p[k], octet(at));
	}
	KUNIT_EXPECT_EQ(test, at, b->len);
}

/* The longest possible batches: full of short FPDUs, or a single FPDU of the greatest length. */
static void test_longest(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 i;

	for (i = 0; i < 50; i++) {
		while (b->len < KWARP_BATCH_LEN - 200)
			KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1 + rnd_below(200)));
		while (b->len < KWARP_BATCH_LEN)
			KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1));
		expect_contents(test, b);
		kwarp_batch_reset(b);
		KUNIT_ASSERT_TRUE(test, put_octets(test, b, LONGEST_FPDU));
		expect_contents(test, b);
		kwarp_batch_reset(b);
		KUNIT_EXPECT_EQ(test, b->n, 0);
	}
}

/* A rollback removes everything since the mark, whatever pages were used. */
static void test_rollback(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	struct kwarp_batch_mark mark;
	u32 i;

	for (i = 0; i < 200; i++) {
		put_octets(test, b, 1 + rnd_below(3000));
		kwarp_batch_mark(b, &mark);
		pages.fail = rnd_below(2);
		put_octets(test, b, 1 + rnd_below(10000));
		pages.fail = false;
		kwarp_batch_rollback(b, &mark);
		KUNIT_EXPECT_EQ(test, b->len, mark.len);
		expect_contents(test, b);
		if (b->len > KWARP_BATCH_LEN / 2)
			kwarp_batch_reset(b);
	}
}

/* Without memory the functions fail; with memory again they succeed. */
static void test_no_memory(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 len, got;

	pages.fail = true;
	KUNIT_EXPECT_NULL(test, kwarp_batch_frag(b, 100, &got));
	KUNIT_EXPECT_NULL(test, kwarp_batch_whole(b, 100));
	KUNIT_EXPECT_EQ(test, b->len, 0);
	pages.fail = false;
	kwarp_batch_prefill(b, KWARP_BATCH_FRAG_SURE, true);
	pages.fail = true;
	/* what kwarp_batch_prefill() got is available */
	len = KWARP_BATCH_FRAG_SURE;
	KUNIT_EXPECT_TRUE(test, put_octets(test, b, len));
	expect_contents(test, b);
	KUNIT_EXPECT_FALSE(test, put_octets(test, b, PAGE_SIZE));
}

/*
 * Before a batch sleeps for memory it drops its regions, so that no deregistration waits for that.
 */
static void test_wait_without_regions(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, kwarp_batch_mr(b, 1 << 8));
	kwarp_batch_prefill(b, 1, false);
	expect_references(test, 1, 2);
	kwarp_batch_prefill(b, 1, true);
	expect_references(test, 1, 2);
	b->frag.offset = b->frag.size;
	kwarp_batch_prefill(b, 1, true);
	expect_references(test, 0, 0);
}

/* Small batches use single pages, long ones large pages, also for the start of the next batch. */
static void test_sizes(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	put_octets(test, b, 100);
	KUNIT_EXPECT_FALSE(test, pages.large);
	put_octets(test, b, 2 * PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, pages.large);
	kwarp_batch_reset(b);
	pages.large = false;
	put_octets(test, b, PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, pages.large);
	kwarp_batch_reset(b);
	/* an empty batch does not change the choice for the next */
	kwarp_batch_reset(b);
	put_octets(test, b, 100);
	kwarp_batch_reset(b);
	kwarp_pages_put(NULL, &b->frag);
	put_octets(test, b, 100);
	KUNIT_EXPECT_FALSE(test, pages.large);
}

/* TCP accepts the batch in small parts; no octet is sent twice or left out. */
static void test_send(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 total = 20000, done = 0;
	u8 first;

	KUNIT_ASSERT_TRUE(test, put_octets(test, b, total));
	window = 0;
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, kwarp_batch_pending(b));
	window = 777;
	while (done + window < total) {
		KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), -EAGAIN);
		KUNIT_EXPECT_EQ(test, iov_iter_count(&sent.msg_iter), total - done);
		KUNIT_ASSERT_EQ(test, copy_from_iter(&first, 1, &sent.msg_iter), 1);
		KUNIT_EXPECT_EQ(test, first, octet(done));
		done += window;
		KUNIT_EXPECT_EQ(test, b->sent, done);
	}
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_FALSE(test, kwarp_batch_pending(b));
	KUNIT_EXPECT_EQ(test, b->n, 0);
}

/* The next batch begins a segment (5044-5.1-4). */
static void test_aligned(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	window = PAGE_SIZE;
	b->goal = KWARP_BATCH_LEN;
	b->cut = 1000;
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 5000));
	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1900));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 100));
	KUNIT_EXPECT_FALSE(test, kwarp_batch_fits(b, 101));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_TRUE(test, sent.msg_flags & MSG_EOR);

	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 2000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 5000));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_TRUE(test, sent.msg_flags & MSG_EOR);

	b->cut = 0;
	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1900));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 5000));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_FALSE(test, sent.msg_flags & MSG_EOR);
}

/* A batch is no longer than one packet, except for a single longer FPDU. */
static void test_goal(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	b->goal = 3000;
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 3000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, LONGEST_FPDU));
	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 2000));
	KUNIT_EXPECT_FALSE(test, kwarp_batch_fits(b, 2001));
	b->cut = 1500;
	KUNIT_EXPECT_FALSE(test, kwarp_batch_fits(b, 2000));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_fits(b, 500));
}

/* ---------------------------------------------------------------- forgetting */

/*
 * A batch looks up a region once, whatever the key in the STag; the access check compares the key.
 */
static void test_regions(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &regions[1]);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x2ff), &regions[2]);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x133), &regions[1]);
	/* Registered again with another key meanwhile. */
	regions[1].stag = 0x177;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &regions[1]);
	KUNIT_EXPECT_EQ(test, lookups, 2);
	expect_references(test, 1, 3);
	KUNIT_EXPECT_NULL(test, kwarp_batch_mr(b, 0));
	KUNIT_EXPECT_NULL(test, kwarp_batch_mr(b, REGIONS << 8));
	expect_references(test, 1, 3);
}

/*
 * If the batch can reference no more regions, another one is not even looked up, and those
 * referenced stay.
 */
static void test_regions_full(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 i;

	for (i = 1; i <= KWARP_BATCH_MRS; i++)
		KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, i << 8), &regions[i]);
	KUNIT_EXPECT_NULL(test, kwarp_batch_mr(b, i << 8));
	KUNIT_EXPECT_EQ(test, lookups, KWARP_BATCH_MRS);
	expect_references(test, 1, KWARP_BATCH_MRS + 1);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &regions[1]);
	kwarp_batch_reset(b);
	expect_references(test, 0, 0);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, i << 8), &regions[i]);
	expect_references(test, i, i + 1);
}

static void send_all(struct kwarp_batch *b)
{
	window = U32_MAX;
	kwarp_batch_send(b, NULL, false);
}

static void send_none(struct kwarp_batch *b)
{
	window = 0;
	kwarp_batch_send(b, NULL, false);
}

/*
 * Ways to end a batch. @whole: the octets are not referenced any more. @last: the page that is
 * being filled is not, either. A program that deregisters a region must not wait for a peer that
 * does not read.
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

/*
 * After each way to end a batch, its references are dropped, and the next batch looks up regions
 * again.
 */
static void test_forget(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct kwarp_batch *b = test->priv;
	struct page *held[MOST_PAGES];
	u32 i, n, len = 3 * PAGE_SIZE;

	KUNIT_ASSERT_TRUE(test, put_octets(test, b, len));
	n = b->n;
	KUNIT_ASSERT_LE(test, n, MOST_PAGES);
	for (i = 0; i < n; i++) {
		held[i] = b->bv[i].bv_page;
		get_page(held[i]);
		kwarp_batch_mr(b, (i + 1) << 8);
	}
	expect_references(test, 1, n + 1);
	w->forget(b);
	expect_references(test, 0, 0);
	KUNIT_EXPECT_EQ(test, b->nmr, 0);
	KUNIT_EXPECT_EQ(test, b->len, w->whole ? 0 : len);
	KUNIT_EXPECT_EQ(test, kwarp_batch_pending(b), !w->whole);
	KUNIT_EXPECT_EQ(test, !b->frag.page, w->last);
	/* One reference is the test's. */
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ_MSG(test, page_ref_count(held[i]),
				    1 + !w->whole + (held[i] == b->frag.page), "page %u", i);
		put_page(held[i]);
	}
	lookups = 0;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_batch_mr(b, 0x100), &regions[1]);
	KUNIT_EXPECT_EQ(test, lookups, 1);
}

/*
 * The batch is dropped half sent: TCP keeps the pages it references, and the rest is not sent
 * later.
 */
static void test_forget_half(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 5000));
	window = 777;
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), -EAGAIN);
	KUNIT_EXPECT_EQ(test, b->sent, 777);
	kwarp_batch_reset(b);
	KUNIT_EXPECT_FALSE(test, kwarp_batch_pending(b));
	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 100));
	expect_contents(test, b);
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&sent.msg_iter), 100);
}

/* A queue pair that has nothing to send keeps one single page, but no large one. */
static void test_idle(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	kwarp_batch_idle(b);
	kwarp_batch_prefill(b, 1, true);
	kwarp_batch_idle(b);
	KUNIT_ASSERT_NOT_NULL(test, b->frag.page);
	kwarp_pages_put(NULL, &b->frag);
	b->frag.page = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
	KUNIT_ASSERT_NOT_NULL(test, b->frag.page);
	b->frag.size = 2 * PAGE_SIZE;
	kwarp_batch_idle(b);
	KUNIT_EXPECT_NULL(test, b->frag.page);
}

static struct kunit_case batch_cases[] = {
	KUNIT_CASE(test_longest),
	KUNIT_CASE(test_wait_without_regions),
	KUNIT_CASE(test_rollback),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_sizes),
	KUNIT_CASE(test_send),
	KUNIT_CASE(test_aligned),
	KUNIT_CASE(test_goal),
	KUNIT_CASE(test_regions),
	KUNIT_CASE(test_regions_full),
	KUNIT_CASE_PARAM(test_forget, way_gen_params),
	KUNIT_CASE(test_forget_half),
	KUNIT_CASE(test_idle),
	{}
};

static struct kunit_suite batch_suite = {
	.name = "kwarp_batch",
	.init = batch_test_init,
	.exit = batch_test_exit,
	.test_cases = batch_cases,
};

kunit_test_suite(batch_suite);
