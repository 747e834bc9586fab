// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creation of regions over pinned pages, over a dma-buf and over elements of any size: each octet
 * of the region has to be the same memory that the creator sees, in as few pieces as possible. Also
 * tested: which memory is charged to the process. region.c is included below; a stand-in for
 * ib_umem_find_best_pgsz() chooses the size of the pieces.
 *
 * Numbers such as 5040-8.1.1-3 name requirements of RFCs, see Documentation/conformance.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

static unsigned long chosen_size;

static unsigned long chosen_best_pgsz(struct ib_umem *umem, unsigned long sizes, u64 virt)
{
	/* The code under test has to ask for pieces aligned to the addresses of the process. */
	if (virt != umem->address || !(sizes & chosen_size))
		return 0;
	return chosen_size;
}

/* Calls of ib_umem_release(). */
static u32 released;

static void release_umem(struct ib_umem *umem)
{
	released++;
}

static int no_list(struct ib_mr *mr, struct scatterlist *sg, int nents, unsigned int *offset,
		   int (*set_page)(struct ib_mr *mr, u64 addr))
{
	return -EOPNOTSUPP;
}

/* Octets allocated that are charged to the memory cgroup of the process, and that are not. */
static size_t paid, unpaid;

static void note_memory(size_t len, gfp_t gfp)
{
	if (gfp & __GFP_ACCOUNT)
		paid += len;
	else
		unpaid += len;
}

static void *note_object(size_t size, gfp_t gfp)
{
	note_memory(size, gfp);
	return kzalloc(size, gfp);
}

static void *note_array(size_t n, size_t size, gfp_t gfp)
{
	note_memory(n * size, gfp);
	return kvcalloc(n, size, gfp);
}

#define ib_umem_find_best_pgsz	chosen_best_pgsz
#define ib_umem_release		release_umem
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
#define kwarp_mr_create_dmabuf	region_create_dmabuf
#define kwarp_mr_create_same	region_create_same
#define kwarp_mr_open		region_open
#define kwarp_mr_umem		region_umem
#define kwarp_mr_is_writable	region_is_writable
#define kwarp_dmabuf_put	region_dmabuf_put
#define kwarp_dmabuf_is_writable region_dmabuf_is_writable
#define kwarp_dmabuf_count	region_dmabuf_count
#define kwarp_dmabuf_pieces	region_dmabuf_pieces
#pragma push_macro("kzalloc")
#pragma push_macro("kvcalloc")
#undef kzalloc
#undef kvcalloc
#define kzalloc			note_object
#define kvcalloc		note_array
#include "../region.c"
#include "../fast.c"
#pragma pop_macro("kvcalloc")
#pragma pop_macro("kzalloc")

/* Address in the process; a multiple of the largest piece of the tests. */
#define BASE	0x7f0000400000UL
#define IOVA	0x1234567890abULL
#define ORDER	4
#define PIECE	(PAGE_SIZE << ORDER)
#define PIECES	3

static bool no_stag;

struct region_test {
	struct kwarp_dev kdev;
	struct ib_pd pd;
	struct ib_uobject uobject;
	struct ib_umem umem;
	struct page *pages[PIECES];	/* of 1 << ORDER pages each */
};

int kwarp_stag_alloc(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key)
{
	return no_stag ? -ENOMEM : 0;
}

/* Calls of kwarp_dmabuf_put(). */
static u32 buffers_put;

void kwarp_dmabuf_put(struct kwarp_dmabuf *d)
{
	buffers_put++;
}

bool kwarp_dmabuf_is_writable(const struct kwarp_dmabuf *d)
{
	return buffers_put;
}

u64 kwarp_dmabuf_count(u64 length)
{
	return length / PIECE;
}

void kwarp_dmabuf_pieces(const struct kwarp_dmabuf *d, u64 offset, struct kwarp_mr *mr)
{
	mr->nchunks = mr->max_chunks;
	mr->chunk[0] = (u8 *)d + offset;
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

/* Kernel address of the octet at BASE + @at in the process. */
static u8 *process_octet(const struct region_test *t, u64 at)
{
	return (u8 *)page_address(t->pages[at / PIECE]) + at % PIECE;
}

/* Pin @length octets from BASE + @from on: whole pages, one scatterlist element for each piece. */
static void pin_memory(struct kunit *test, u64 from, u64 length)
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
		sg_set_page(sg, virt_to_page(process_octet(t, at)), n, 0);
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
	pin_memory(test, from, length);
	mr = kwarp_mr_create_user(&t->kdev, &t->pd, &t->umem, IOVA, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ_MSG(test, mr->nchunks, pieces, "%llu, %llu, %lu", from, length, size);
	KUNIT_EXPECT_EQ(test, mr->max_chunks, pieces);
	for (at = 0; at < length; at += min(n, 509U))
		KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + at, length - at, &n),
				    (void *)process_octet(t, from + at));
	KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + length - 1, 1, &n),
			    (void *)process_octet(t, from + length - 1));
	KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, mr), 0);
	sg_free_table(&t->umem.sgt_append.sgt);
}

/* Regions that begin and end at any place in a piece and in a page. */
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

/* If the RDMA core finds no size for the pieces, each page is a piece. */
static void test_no_size(struct kunit *test)
{
	expect_region(test, 100, PIECE, 0, (PIECE + 100 - 1) / PAGE_SIZE + 1);
}

/* The region releases the buffer at its end; after a failed creation the caller still owns it. */
static void test_dmabuf_owner(struct kunit *test)
{
	const struct kwarp_mr_place place = { .offset = 5, .length = 2 * PIECE, .iova = IOVA };
	struct region_test *t = test->priv;
	struct kwarp_dmabuf *d = (void *)process_octet(t, 0);
	struct kwarp_mr *mr;

	buffers_put = 0;
	no_stag = true;
	mr = kwarp_mr_create_dmabuf(&t->kdev, &t->pd, d, &place, IB_ACCESS_REMOTE_READ);
	no_stag = false;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, buffers_put, 0);
	mr = kwarp_mr_create_dmabuf(&t->kdev, &t->pd, d, &place, IB_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_FALSE(test, mr->valid);
	kwarp_mr_open(mr);
	KUNIT_EXPECT_TRUE(test, mr->valid);
	KUNIT_EXPECT_NULL(test, kwarp_mr_umem(mr));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_is_writable(mr));
	KUNIT_EXPECT_EQ(test, mr->max_chunks, 2);
	KUNIT_EXPECT_PTR_EQ(test, mr->chunk[0], process_octet(t, 5));
	KUNIT_EXPECT_EQ(test, mr->va, IOVA);
	KUNIT_EXPECT_EQ(test, mr->ibmr.iova, IOVA);
	KUNIT_EXPECT_EQ(test, mr->length, place.length);
	KUNIT_EXPECT_EQ(test, mr->ibmr.length, place.length);
	KUNIT_EXPECT_EQ(test, mr->access, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, mr), 0);
	KUNIT_EXPECT_EQ(test, buffers_put, 1);
}

/* The last region over the same pages releases them, whichever region that is. */
static void test_same(struct kunit *test)
{
	struct region_test *t = test->priv;
	const u64 from = PAGE_SIZE + 5, length = 2 * PIECE;
	struct kwarp_mr *old, *mr;
	u32 first, n;
	u64 at;

	for (first = 0; first < 2; first++) {
		chosen_size = PAGE_SIZE;
		pin_memory(test, from, length);
		old = kwarp_mr_create_user(&t->kdev, &t->pd, &t->umem, IOVA, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(old));
		KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_umem(old), &t->umem);
		KUNIT_EXPECT_EQ(test, old->ibmr.iova, IOVA);
		KUNIT_EXPECT_EQ(test, old->ibmr.length, length);
		released = 0;
		no_stag = true;
		mr = kwarp_mr_create_same(&t->kdev, &t->pd, old, 0);
		no_stag = false;
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -ENOMEM);
		mr = kwarp_mr_create_same(&t->kdev, &t->pd, old, IB_ACCESS_REMOTE_READ);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
		KUNIT_EXPECT_EQ(test, mr->access, IB_ACCESS_REMOTE_READ);
		KUNIT_EXPECT_FALSE(test, mr->valid);
		KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, first ? mr : old), 0);
		KUNIT_EXPECT_EQ(test, released, 0);
		if (first)
			mr = old;
		for (at = 0; at < length; at += min(n, 509U))
			KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + at, length - at, &n),
					    (void *)process_octet(t, from + at));
		KUNIT_EXPECT_EQ(test, mr->length, length);
		KUNIT_EXPECT_EQ(test, mr->ibmr.iova, IOVA);
		KUNIT_EXPECT_EQ(test, mr->ibmr.length, length);
		KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, mr), 0);
		KUNIT_EXPECT_EQ(test, released, 1);
		sg_free_table(&t->umem.sgt_append.sgt);
	}
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

/* 5040-8.1.1-3: a region over all kernel memory gives no rights to peers. */
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

/* ------------------------------------------------------- elements of any size */

#define LISTED	5
#define ELEMENTS	6

/**
 * struct gaps_case - elements that a consumer maps
 * @desc: name
 * @n: number of elements
 * @el: for each element its position in the memory of the tests, and its length
 * @skip: octets to skip in the first element
 * @mapped: number of elements that have to be mapped, or a negative errno
 * @pieces: number of pieces that the region has to have
 */
struct gaps_case {
	const char *desc;
	int n;
	struct {
		u32 at;
		u32 len;
	} el[ELEMENTS];
	unsigned int skip;
	int mapped;
	u32 pieces;
};

static const struct gaps_case gaps_cases[] = {
	{ "one octet", 1, { { 7, 1 } }, 0, 1, 1 },
	{ "one element of many pages", 1, { { 5, 3 * PAGE_SIZE } }, 0, 1, 1 },
	{ "odd ones", 5, { { 1, 3 }, { 100, 1 }, { 50, 7 }, { 4097, 31 }, { 200, 2 } }, 0, 5, 5 },
	{ "neighbours are one", 4, { { 10, 10 }, { 20, 5 }, { 25, 1 }, { 40, 2 } }, 0, 4, 2 },
	{ "a neighbour in the wrong order", 2, { { 20, 5 }, { 10, 10 } }, 0, 2, 2 },
	{ "an empty one", 3, { { 10, 10 }, { 70, 0 }, { 40, 2 } }, 0, 3, 2 },
	{ "the first one from its middle", 2, { { 10, 10 }, { 90, 9 } }, 4, 2, 2 },
	{ "nothing of the first one", 2, { { 10, 10 }, { 90, 9 } }, 10, 2, 1 },
	{ "more than its first one has", 2, { { 10, 10 }, { 90, 9 } }, 11, -EINVAL, 0 },
	{ "one more than fits", 6, { { 0, 9 }, { 20, 9 }, { 40, 9 }, { 60, 9 }, { 80, 9 },
				     { 100, 9 } }, 0, 5, 5 },
	{ "the last one belongs to a piece", 6, { { 0, 9 }, { 20, 9 }, { 40, 9 }, { 60, 9 },
						  { 80, 9 }, { 89, 9 } }, 0, 6, 5 },
	{ "none", 0, { { 0, 0 } }, 0, -EINVAL, 0 },
};

KUNIT_ARRAY_PARAM_DESC(gaps, gaps_cases, desc);

/* Each octet of the region lies in its element; a span reaches at least to the element's end. */
static void expect_elements(struct kunit *test, const struct kwarp_mr *mr,
			    const struct gaps_case *c)
{
	struct region_test *t = test->priv;
	u64 pos = 0;
	u32 i, in, n;

	for (i = 0; i < c->mapped; i++) {
		for (in = i ? 0 : c->skip; in < c->el[i].len; in++, pos++) {
			KUNIT_ASSERT_PTR_EQ(test,
					    kwarp_mr_span(mr, IOVA + pos, mr->length - pos, &n),
					    (void *)process_octet(t, c->el[i].at + in));
			KUNIT_ASSERT_GE(test, n, c->el[i].len - in);
		}
	}
	KUNIT_EXPECT_EQ(test, mr->length, pos);
}

static void test_gaps(struct kunit *test)
{
	const struct gaps_case *c = test->param_value;
	const struct kwarp_mem_stream stream = { .pd = &((struct region_test *)test->priv)->pd };
	struct region_test *t = test->priv;
	struct scatterlist sg[ELEMENTS];
	unsigned int skip = c->skip;
	struct kwarp_mr *mr = kwarp_mr_create_fast(&t->kdev, &t->pd, LISTED, true);
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	sg_init_table(sg, ELEMENTS);
	for (i = 0; i < c->n; i++) {
		sg[i].dma_address = (uintptr_t)process_octet(t, c->el[i].at);
		sg_dma_len(&sg[i]) = c->el[i].len;
	}
	KUNIT_EXPECT_EQ(test, kwarp_mr_map_sg(mr, sg, c->n, &skip), c->mapped);
	KUNIT_EXPECT_EQ(test, mr->next.fresh, c->mapped > 0);
	if (c->mapped > 0) {
		KUNIT_EXPECT_EQ(test, skip, 0);
		KUNIT_EXPECT_EQ(test, mr->ibmr.iova,
				(uintptr_t)process_octet(t, c->el[0].at) + c->skip);
		mr->ibmr.iova = IOVA;
		KUNIT_ASSERT_EQ(test, kwarp_mr_activate(mr, mr->stag, 0, &stream), 0);
		KUNIT_EXPECT_EQ(test, mr->nchunks, c->pieces);
		KUNIT_EXPECT_EQ(test, mr->ibmr.length, mr->length);
		expect_elements(test, mr, c);
	}
	kwarp_mr_destroy(&t->kdev, mr);
}

/* A list that is mapped while a region is valid is in force only after the next REG_MR. */
static void test_gaps_next(struct kunit *test)
{
	struct region_test *t = test->priv;
	const struct kwarp_mem_stream stream = { .pd = &t->pd };
	struct kwarp_mr *mr = kwarp_mr_create_fast(&t->kdev, &t->pd, LISTED, true);
	struct scatterlist sg;
	u32 n, i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	sg_init_table(&sg, 1);
	for (i = 0; i < 3; i++) {
		sg.dma_address = (uintptr_t)process_octet(t, 100 * i);
		sg_dma_len(&sg) = 50 + i;
		KUNIT_ASSERT_EQ(test, kwarp_mr_map_sg(mr, &sg, 1, NULL), 1);
		if (i) {
			KUNIT_EXPECT_EQ(test, mr->length, 50 + i - 1);
			KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(mr, mr->va, 1, &n),
					    (void *)process_octet(t, 100 * (i - 1)));
			WRITE_ONCE(mr->valid, false);
		}
		KUNIT_ASSERT_EQ(test, kwarp_mr_activate(mr, mr->stag, 0, &stream), 0);
		KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(mr, mr->va, 1, &n),
				    (void *)process_octet(t, 100 * i));
	}
	kwarp_mr_destroy(&t->kdev, mr);
}

/* ---------------------------------------------------------------- who pays */

static struct kwarp_mr *make_user(struct kunit *test)
{
	struct region_test *t = test->priv;

	chosen_size = PAGE_SIZE;
	pin_memory(test, 0, LISTED * PAGE_SIZE);
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

	return kwarp_mr_create_fast(&t->kdev, &t->pd, LISTED, false);
}

/* A region with gaps has four lists: pieces, and octets before each piece, each of them twice. */
static struct kwarp_mr *make_gaps(struct kunit *test)
{
	struct region_test *t = test->priv;

	static_assert(sizeof(u8 *) == sizeof(u64));
	return kwarp_mr_create_fast(&t->kdev, &t->pd, LISTED, true);
}

static struct kwarp_mr *make_dma(struct kunit *test)
{
	struct region_test *t = test->priv;

	return kwarp_mr_create_dma(&t->kdev, &t->pd, IB_ACCESS_LOCAL_WRITE);
}

/* @lists: page lists that are allocated; @user: of a program; @backed: it has a kwarp_backing. */
static const struct payer {
	const char *desc;
	struct kwarp_mr *(*make)(struct kunit *test);
	u32 lists;
	bool user;
	bool backed;
} payers[] = {
	{ "region of a process", make_user, 1, true, true },
	{ "window of a process", make_window, 0, true },
	{ "fast registration", make_fast, 2, false },
	{ "fast registration with gaps", make_gaps, 4, false },
	{ "all memory", make_dma, 0, false },
};

KUNIT_ARRAY_PARAM_DESC(payer, payers, desc);

/* Memory for the region of a program is charged to the process, that of kernel consumers is not. */
static void test_payer(struct kunit *test)
{
	const struct payer *c = test->param_value;
	struct region_test *t = test->priv;
	size_t cost = sizeof(struct kwarp_mr) + c->lists * LISTED * sizeof(u8 *) +
		      (c->backed ? sizeof(struct kwarp_backing) : 0);
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
	KUNIT_CASE(test_dmabuf_owner),
	KUNIT_CASE(test_same),
	KUNIT_CASE(test_all_memory),
	KUNIT_CASE_PARAM(test_gaps, gaps_gen_params),
	KUNIT_CASE(test_gaps_next),
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
