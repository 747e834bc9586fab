// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A batch is what was put into it, in order, in few enough pieces, however small the pages
 * are and whenever memory runs out. The code is included; pages come from a stand-in that
 * gives single ones, and sometimes none.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

/* Other suites have stand-ins of these names. */
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
#define kwarp_pages_leave	leave_page
#define kwarp_pages_refill	refill_page
#define kwarp_mr_lookup		no_region
#define kwarp_mr_put		no_put
#define kwarp_sock_send		take_some
#include "../batch.c"

#define SEED		7
#define LONGEST_FPDU	(64 * 1024 + 16)

/**
 * struct pages - the stand-in below
 * @rnd: for odd amounts
 * @fail: the next request finds nothing
 * @large: what was asked for last
 * @out: pages given out
 */
static struct pages {
	struct rnd_state rnd;
	bool fail;
	bool large;
	u32 out;
} pages;

void kwarp_pages_leave(struct kwarp_dev *kdev, struct page_frag *frag)
{
	if (frag->page)
		put_page(frag->page);
	frag->page = NULL;
}

bool kwarp_pages_refill(struct kwarp_dev *kdev, struct page_frag *frag, bool large, gfp_t gfp)
{
	kwarp_pages_leave(kdev, frag);
	pages.large = large;
	if (pages.fail)
		return false;
	frag->page = alloc_page(GFP_KERNEL);
	frag->offset = 0;
	frag->size = PAGE_SIZE;
	pages.out++;
	return frag->page;
}

struct kwarp_mr *no_region(struct kwarp_dev *kdev, u32 stag)
{
	return NULL;
}

void no_put(struct kwarp_mr *mr)
{
}

/* A socket that takes so many octets. */
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

	KUNIT_ASSERT_NOT_NULL(test, b);
	memset(&pages, 0, sizeof(pages));
	prandom_seed_state(&pages.rnd, SEED);
	kwarp_batch_init(b, NULL);
	test->priv = b;
	return 0;
}

static void batch_test_exit(struct kunit *test)
{
	kwarp_batch_fini(test->priv);
}

static u32 rnd_below(u32 n)
{
	return prandom_u32_state(&pages.rnd) % n;
}

/* Octet of the stream at this place. */
static u8 octet(u32 at)
{
	return at * 7 + at / 251;
}

static void write_octets(u8 *p, u32 at, u32 len)
{
	while (len--)
		*p++ = octet(at++);
}

/* Put @len octets; false if there is no memory. */
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

/* The longest batch there can be: nearly full, and then the longest FPDU. */
static void test_longest(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;
	u32 i;

	for (i = 0; i < 50; i++) {
		while (b->len < KWARP_BATCH_LEN - 200)
			KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1 + rnd_below(200)));
		while (b->len < KWARP_BATCH_LEN - 1)
			KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1));
		KUNIT_ASSERT_TRUE(test, put_octets(test, b, LONGEST_FPDU));
		expect_contents(test, b);
		kwarp_batch_reset(b);
		KUNIT_EXPECT_EQ(test, b->n, 0);
	}
}

/* What is taken back has left no trace, whatever pages it had got to. */
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

/* More memory than there is: a clear answer, and it goes on when there is some. */
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
	/* what was promised is there */
	len = KWARP_BATCH_FRAG_SURE;
	KUNIT_EXPECT_TRUE(test, put_octets(test, b, len));
	expect_contents(test, b);
	KUNIT_EXPECT_FALSE(test, put_octets(test, b, PAGE_SIZE));
}

/* Few octets ask for single pages, many for large ones, also at the next start. */
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
	/* an empty one says nothing about the next */
	kwarp_batch_reset(b);
	put_octets(test, b, 100);
	kwarp_batch_reset(b);
	kwarp_pages_leave(NULL, &b->frag);
	put_octets(test, b, 100);
	KUNIT_EXPECT_FALSE(test, pages.large);
}

/* TCP takes it bit by bit; nothing is sent twice, nothing is left out. */
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

/* What follows begins a segment (5044-5.1-4). */
static void test_aligned(struct kunit *test)
{
	struct kwarp_batch *b = test->priv;

	window = PAGE_SIZE;
	b->cut = 1000;
	KUNIT_EXPECT_FALSE(test, kwarp_batch_crosses(b, 5000));
	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1900));
	KUNIT_EXPECT_FALSE(test, kwarp_batch_crosses(b, 100));
	KUNIT_EXPECT_TRUE(test, kwarp_batch_crosses(b, 101));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_TRUE(test, sent.msg_flags & MSG_EOR);

	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 2000));
	KUNIT_EXPECT_FALSE(test, kwarp_batch_crosses(b, 5000));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_TRUE(test, sent.msg_flags & MSG_EOR);

	b->cut = 0;
	KUNIT_ASSERT_TRUE(test, put_octets(test, b, 1900));
	KUNIT_EXPECT_FALSE(test, kwarp_batch_crosses(b, 5000));
	KUNIT_EXPECT_EQ(test, kwarp_batch_send(b, NULL, false), 0);
	KUNIT_EXPECT_FALSE(test, sent.msg_flags & MSG_EOR);
}

static struct kunit_case batch_cases[] = {
	KUNIT_CASE(test_longest),
	KUNIT_CASE(test_rollback),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_sizes),
	KUNIT_CASE(test_send),
	KUNIT_CASE(test_aligned),
	{}
};

static struct kunit_suite batch_suite = {
	.name = "kwarp_batch",
	.init = batch_test_init,
	.exit = batch_test_exit,
	.test_cases = batch_cases,
};

kunit_test_suite(batch_suite);
