// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From pinned pages to the pieces of a region: each octet of the region is the one of the
 * page that it was in the process, in as few pieces as the pages allow; and who pays for what
 * the kernel keeps of it. The code is included; the RDMA core's part is a stand-in that tells
 * the size of the pieces.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

static unsigned long chosen_size;

static unsigned long chosen_best_pgsz(struct ib_umem *umem, unsigned long sizes, u64 virt)
{
	/* Those are aligned as the program's addresses are. */
	if (virt != umem->address || !(sizes & chosen_size))
		return 0;
	return chosen_size;
}

static void nothing_to_release(struct ib_umem *umem)
{
}

static int no_list(struct ib_mr *mr, struct scatterlist *sg, int nents, unsigned int *offset,
		   int (*set_page)(struct ib_mr *mr, u64 addr))
{
	return -EOPNOTSUPP;
}

/* Octets that a memory cgroup pays for, and those that none does. */
static size_t paid, unpaid;

static void note(size_t len, gfp_t gfp)
{
	if (gfp & __GFP_ACCOUNT)
		paid += len;
	else
		unpaid += len;
}

static void *note_object(size_t size, gfp_t gfp)
{
	note(size, gfp);
	return kzalloc(size, gfp);
}

static void *note_array(size_t n, size_t size, gfp_t gfp)
{
	note(n * size, gfp);
	return kvcalloc(n, size, gfp);
}

#define ib_umem_find_best_pgsz	chosen_best_pgsz
#define ib_umem_release		nothing_to_release
#define ib_sg_to_pages		no_list
#define kwarp_stag_alloc	region_stag_alloc
#define kwarp_stag_publish	region_stag_publish
#define kwarp_stag_free		region_stag_free
#define kwarp_mr_put		region_mr_put
#define kwarp_mr_create_user	region_create_user
#define kwarp_mr_create_fast	region_create_fast
#define kwarp_mr_create_dma	region_create_dma
#define kwarp_mr_create_window	region_create_window
#define kwarp_mr_map_sg		region_map_sg
#define kwarp_mr_activate	region_activate
#define kwarp_mr_destroy	region_destroy
#pragma push_macro("kzalloc")
#pragma push_macro("kvcalloc")
#undef kzalloc
#undef kvcalloc
#define kzalloc			note_object
#define kvcalloc		note_array
#include "../region.c"
#pragma pop_macro("kvcalloc")
#pragma pop_macro("kzalloc")

/* In the process; a multiple of the largest piece of the tests. */
#define BASE	0x7f0000400000UL
#define IOVA	0x1234567890abULL
#define ORDER	4
#define PIECE	(PAGE_SIZE << ORDER)
#define PIECES	3

struct region_test {
	struct kwarp_dev kdev;
	struct ib_pd pd;
	struct ib_uobject uobject;
	struct ib_umem umem;
	struct page *pages[PIECES];	/* of 1 << ORDER pages each */
};

int kwarp_stag_alloc(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key)
{
	return 0;
}

void kwarp_stag_publish(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
}

void kwarp_stag_free(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
	complete(&mr->idle);
}

/* Where octet @at of the process's memory, from BASE on, is. */
static u8 *octet(const struct region_test *t, u64 at)
{
	return (u8 *)page_address(t->pages[at / PIECE]) + at % PIECE;
}

/* Pin @length octets from BASE + @from on: whole pages, in one run for each piece. */
static void pin(struct kunit *test, u64 from, u64 length)
{
	struct region_test *t = test->priv;
	u64 at = round_down(from, PAGE_SIZE), end = round_up(from + length, PAGE_SIZE), n;
	struct sg_table *sgt = &t->umem.sgt_append.sgt;
	struct scatterlist *sg;
	u32 i;

	t->umem.address = BASE + from;
	t->umem.length = length;
	n = (end - 1) / PIECE - at / PIECE + 1;
	KUNIT_ASSERT_EQ(test, sg_alloc_table(sgt, n, GFP_KERNEL), 0);
	for_each_sgtable_sg(sgt, sg, i) {
		n = min(end, round_down(at, PIECE) + PIECE) - at;
		sg_set_page(sg, virt_to_page(octet(t, at)), n, 0);
		at += n;
	}
}

static void expect_region(struct kunit *test, u64 from, u64 length, unsigned long size,
			  u32 pieces)
{
	struct region_test *t = test->priv;
	struct kwarp_mr *mr;
	u64 at;
	u32 n;

	chosen_size = size;
	pin(test, from, length);
	mr = kwarp_mr_create_user(&t->kdev, &t->pd, &t->umem, IOVA, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ_MSG(test, mr->nchunks, pieces, "%llu, %llu, %lu", from, length, size);
	KUNIT_EXPECT_EQ(test, mr->max_chunks, pieces);
	for (at = 0; at < length; at += min(n, 509U))
		KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + at, length - at, &n),
				    (void *)octet(t, from + at));
	KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + length - 1, 1, &n),
			    (void *)octet(t, from + length - 1));
	KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, mr), 0);
	sg_free_table(&t->umem.sgt_append.sgt);
}

/* Begin and end anywhere in a piece, in a page. */
static void test_pieces(struct kunit *test)
{
	static const u64 starts[] = { 0, 1, PAGE_SIZE - 1, PAGE_SIZE, 5 * PAGE_SIZE + 77,
				      PIECE - 1, PIECE, PIECE + PAGE_SIZE };
	static const u64 lengths[] = { 1, PAGE_SIZE - 1, PAGE_SIZE, PIECE - PAGE_SIZE, PIECE - 1,
				       PIECE, PIECE + 1, 2 * PIECE - PAGE_SIZE };
	unsigned long size;
	u64 from, to;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			from = starts[i];
			to = from + lengths[j];
			if (to > PIECES * PIECE)
				continue;
			for (size = PAGE_SIZE; size <= PIECE; size <<= 2)
				expect_region(test, from, to - from, size,
					      (to - 1) / size - from / size + 1);
		}
	}
}

/* Pages that fit nothing larger, or nothing at all, are taken one by one. */
static void test_no_size(struct kunit *test)
{
	expect_region(test, 100, PIECE, 0, (PIECE + 100 - 1) / PAGE_SIZE + 1);
}

static int region_test_init(struct kunit *test)
{
	struct region_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->pd.uobject = &t->uobject;
	test->priv = t;
	for (i = 0; i < PIECES; i++) {
		t->pages[i] = alloc_pages(GFP_KERNEL | __GFP_COMP, ORDER);
		KUNIT_ASSERT_NOT_NULL(test, t->pages[i]);
	}
	return 0;
}

static void region_test_exit(struct kunit *test)
{
	struct region_test *t = test->priv;
	u32 i;

	for (i = 0; t && i < PIECES; i++)
		if (t->pages[i])
			__free_pages(t->pages[i], ORDER);
}

/* Of all memory: the kernel's own consumers only, whatever else they would like (5040-8.1.1-3). */
static void test_all_memory(struct kunit *test)
{
	static const int refused[] = {
		IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_WRITE, IB_ACCESS_REMOTE_ATOMIC,
		IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, IB_ACCESS_MW_BIND,
	};
	struct region_test *t = test->priv;
	struct kwarp_mr *mr;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		mr = kwarp_mr_create_dma(&t->kdev, &t->pd, refused[i]);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EINVAL);
	}
	mr = kwarp_mr_create_dma(&t->kdev, &t->pd,
				 IB_ACCESS_LOCAL_WRITE | IB_ACCESS_RELAXED_ORDERING);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, mr->access, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, mr->length, U64_MAX);
	kwarp_mr_destroy(&t->kdev, mr);
}

/* ---------------------------------------------------------------- who pays */

#define LISTED	5

static struct kwarp_mr *make_user(struct kunit *test)
{
	struct region_test *t = test->priv;

	chosen_size = PAGE_SIZE;
	pin(test, 0, LISTED * PAGE_SIZE);
	return kwarp_mr_create_user(&t->kdev, &t->pd, &t->umem, IOVA, 0);
}

static struct kwarp_mr *make_window(struct kunit *test)
{
	struct region_test *t = test->priv;

	return kwarp_mr_create_window(&t->kdev, &t->pd, false);
}

static struct kwarp_mr *make_fast(struct kunit *test)
{
	struct region_test *t = test->priv;

	return kwarp_mr_create_fast(&t->kdev, &t->pd, LISTED);
}

static struct kwarp_mr *make_dma(struct kunit *test)
{
	struct region_test *t = test->priv;

	return kwarp_mr_create_dma(&t->kdev, &t->pd, IB_ACCESS_LOCAL_WRITE);
}

/* @lists: lists of pages that it has. */
static const struct payer {
	const char *desc;
	struct kwarp_mr *(*make)(struct kunit *test);
	u32 lists;
	bool user;
} payers[] = {
	{ "region of a process", make_user, 1, true },
	{ "window of a process", make_window, 0, true },
	{ "fast registration", make_fast, 2, false },
	{ "all memory", make_dma, 0, false },
};

KUNIT_ARRAY_PARAM_DESC(payer, payers, desc);

/* The process whose protection domain it is, and nobody for a kernel consumer. */
static void test_payer(struct kunit *test)
{
	const struct payer *c = test->param_value;
	struct region_test *t = test->priv;
	size_t cost = sizeof(struct kwarp_mr) + c->lists * LISTED * sizeof(u8 *);
	struct kwarp_mr *mr;

	t->pd.uobject = c->user ? &t->uobject : NULL;
	paid = 0;
	unpaid = 0;
	mr = c->make(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, paid, c->user ? cost : 0);
	KUNIT_EXPECT_EQ(test, unpaid, c->user ? 0 : cost);
	kwarp_mr_destroy(&t->kdev, mr);
	sg_free_table(&t->umem.sgt_append.sgt);
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE(test_pieces),
	KUNIT_CASE(test_no_size),
	KUNIT_CASE(test_all_memory),
	KUNIT_CASE_PARAM(test_payer, payer_gen_params),
	{}
};

static struct kunit_suite region_suite = {
	.name = "kwarp_region",
	.init = region_test_init,
	.exit = region_test_exit,
	.test_cases = region_cases,
};

kunit_test_suite(region_suite);
