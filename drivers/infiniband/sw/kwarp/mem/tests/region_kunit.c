// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the creation of regions over pinned pages and over a dma-buf. A region is a list of
 * pieces of memory: each octet of the region has to be the same memory that the creator sees, and
 * the list has to be as short as possible.
 */
#include "region_fixture.h"

static void expect_region(struct kunit *test, u64 from, u64 length, unsigned long size,
			  u32 pieces)
{
	struct region_test *t = test->priv;
	struct kwarp_mr *mr;
	u64 at;
	u32 n;

	region_chosen_size = size;
	region_pin_memory(test, from, length);
	mr = kwarp_mr_create_user(&t->kdev, &t->pd.ibpd, &t->umem, IOVA, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ_MSG(test, mr->nchunks, pieces, "%llu, %llu, %lu", from, length, size);
	KUNIT_EXPECT_EQ(test, mr->max_chunks, pieces);
	for (at = 0; at < length; at += min(n, 509U))
		KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + at, length - at, &n),
				    (void *)region_process_octet(t, from + at));
	KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + length - 1, 1, &n),
			    (void *)region_process_octet(t, from + length - 1));
	KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, mr), 0);
	sg_free_table(&t->umem.sgt_append.sgt);
}

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

/* After a failed creation the caller still owns the buffer. */
static void test_dmabuf_owner(struct kunit *test)
{
	const struct kwarp_mr_place place = { .offset = 5, .length = 2 * PIECE, .iova = IOVA };
	struct region_test *t = test->priv;
	struct kwarp_dmabuf *d = (void *)region_process_octet(t, 0);
	struct kwarp_mr *mr;

	region_buffers_put = 0;
	region_no_stag = true;
	mr = kwarp_mr_create_dmabuf(&t->kdev, &t->pd.ibpd, d, &place, IB_ACCESS_REMOTE_READ);
	region_no_stag = false;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, region_buffers_put, 0);
	mr = kwarp_mr_create_dmabuf(&t->kdev, &t->pd.ibpd, d, &place, IB_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_FALSE(test, mr->valid);
	kwarp_mr_open(mr);
	KUNIT_EXPECT_TRUE(test, mr->valid);
	KUNIT_EXPECT_NULL(test, kwarp_mr_umem(mr));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_is_writable(mr));
	KUNIT_EXPECT_EQ(test, mr->max_chunks, 2);
	KUNIT_EXPECT_PTR_EQ(test, mr->chunk[0], region_process_octet(t, 5));
	KUNIT_EXPECT_EQ(test, mr->va, IOVA);
	KUNIT_EXPECT_EQ(test, mr->ibmr.iova, IOVA);
	KUNIT_EXPECT_EQ(test, mr->length, place.length);
	KUNIT_EXPECT_EQ(test, mr->ibmr.length, place.length);
	KUNIT_EXPECT_EQ(test, mr->access, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, mr), 0);
	KUNIT_EXPECT_EQ(test, region_buffers_put, 1);
}

/* The region that is destroyed last releases the pages. */
static void test_same(struct kunit *test)
{
	struct region_test *t = test->priv;
	const u64 from = PAGE_SIZE + 5, length = 2 * PIECE;
	struct kwarp_mr *old, *mr;
	u32 first, n;
	u64 at;

	for (first = 0; first < 2; first++) {
		region_chosen_size = PAGE_SIZE;
		region_pin_memory(test, from, length);
		old = kwarp_mr_create_user(&t->kdev, &t->pd.ibpd, &t->umem, IOVA, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(old));
		KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_umem(old), &t->umem);
		KUNIT_EXPECT_EQ(test, old->ibmr.iova, IOVA);
		KUNIT_EXPECT_EQ(test, old->ibmr.length, length);
		region_released = 0;
		region_no_stag = true;
		mr = kwarp_mr_create_same(&t->kdev, &t->pd.ibpd, old, 0);
		region_no_stag = false;
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -ENOMEM);
		mr = kwarp_mr_create_same(&t->kdev, &t->pd.ibpd, old, IB_ACCESS_REMOTE_READ);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
		KUNIT_EXPECT_EQ(test, mr->access, IB_ACCESS_REMOTE_READ);
		KUNIT_EXPECT_FALSE(test, mr->valid);
		KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, first ? mr : old), 0);
		KUNIT_EXPECT_EQ(test, region_released, 0);
		if (first)
			mr = old;
		for (at = 0; at < length; at += min(n, 509U))
			KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(mr, IOVA + at, length - at, &n),
					    (void *)region_process_octet(t, from + at));
		KUNIT_EXPECT_EQ(test, mr->length, length);
		KUNIT_EXPECT_EQ(test, mr->ibmr.iova, IOVA);
		KUNIT_EXPECT_EQ(test, mr->ibmr.length, length);
		KUNIT_EXPECT_EQ(test, kwarp_mr_destroy(&t->kdev, mr), 0);
		KUNIT_EXPECT_EQ(test, region_released, 1);
		sg_free_table(&t->umem.sgt_append.sgt);
	}
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
		mr = kwarp_mr_create_dma(&t->kdev, &t->pd.ibpd, refused[i]);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EINVAL);
	}
	mr = kwarp_mr_create_dma(&t->kdev, &t->pd.ibpd,
				 IB_ACCESS_LOCAL_WRITE | IB_ACCESS_RELAXED_ORDERING);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, mr->access, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, mr->length, U64_MAX);
	kwarp_mr_destroy(&t->kdev, mr);
}

/* ---------------------------------------------------------- memory accounting */

static struct kwarp_mr *make_user(struct kunit *test)
{
	struct region_test *t = test->priv;

	region_chosen_size = PAGE_SIZE;
	region_pin_memory(test, 0, LISTED * PAGE_SIZE);
	return kwarp_mr_create_user(&t->kdev, &t->pd.ibpd, &t->umem, IOVA, 0);
}

static struct kwarp_mr *make_window(struct kunit *test)
{
	struct region_test *t = test->priv;

	return kwarp_mr_create_window(&t->kdev, &t->pd.ibpd, false);
}

static struct kwarp_mr *make_fast(struct kunit *test)
{
	struct region_test *t = test->priv;

	return kwarp_mr_create_fast(&t->kdev, &t->pd.ibpd, LISTED, false);
}

/*
 * A region with gaps has four lists: the pieces, and the octets before each piece, both once for
 * the present registration and once for the next one.
 */
static struct kwarp_mr *make_gaps(struct kunit *test)
{
	struct region_test *t = test->priv;

	static_assert(sizeof(u8 *) == sizeof(u64));
	return kwarp_mr_create_fast(&t->kdev, &t->pd.ibpd, LISTED, true);
}

static struct kwarp_mr *make_dma(struct kunit *test)
{
	struct region_test *t = test->priv;

	return kwarp_mr_create_dma(&t->kdev, &t->pd.ibpd, IB_ACCESS_LOCAL_WRITE);
}

/* A peer cannot know the first key of a region, which is part of the STag. */
static void test_key(struct kunit *test)
{
	struct region_test *t = test->priv;
	struct kwarp_mr *mr;
	u32 i, bits = 0;

	for (i = 0; i < 64; i++) {
		mr = make_fast(test);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
		bits |= mr->stag;
		kwarp_mr_destroy(&t->kdev, mr);
	}
	KUNIT_EXPECT_EQ(test, bits, U8_MAX);
}

/*
 * lists:  number of lists of LISTED entries that are allocated
 * user:   the region or window is a program's, so its memory is charged
 * backed: a struct kwarp_backing, the owner of the pages, is allocated
 */
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

/* Memory for regions of kernel consumers is not charged. */
static void test_payer(struct kunit *test)
{
	const struct payer *c = test->param_value;
	struct region_test *t = test->priv;
	size_t cost = sizeof(struct kwarp_mr) + c->lists * LISTED * sizeof(u8 *) +
		      (c->backed ? region_backing_octets : 0);
	struct kwarp_mr *mr;

	t->pd.ibpd.uobject = c->user ? &t->uobject : NULL;
	region_paid = 0;
	region_unpaid = 0;
	mr = c->make(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, region_paid, c->user ? cost : 0);
	KUNIT_EXPECT_EQ(test, region_unpaid, c->user ? 0 : cost);
	kwarp_mr_destroy(&t->kdev, mr);
	sg_free_table(&t->umem.sgt_append.sgt);
}

static void test_charge(struct kunit *test)
{
	const struct payer *c = test->param_value;
	struct region_test *t = test->priv;
	u64 least = c->user ? sizeof(struct kwarp_mr) + c->lists * LISTED * sizeof(u8 *) : 0;
	struct kwarp_mr *mr;

	region_charged = 0;
	t->pd.ibpd.uobject = c->user ? &t->uobject : NULL;
	t->pd.charge.account = (void *)test;
	mr = c->make(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_GE(test, region_charged, least);
	KUNIT_EXPECT_EQ(test, !region_charged, !c->user);
	kwarp_mr_destroy(&t->kdev, mr);
	KUNIT_EXPECT_EQ(test, region_charged, 0);
	sg_free_table(&t->umem.sgt_append.sgt);
	if (!c->user)
		return;
	region_no_charge = true;
	mr = c->make(test);
	region_no_charge = false;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, region_charged, 0);
	sg_free_table(&t->umem.sgt_append.sgt);
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE(test_pieces),
	KUNIT_CASE(test_no_size),
	KUNIT_CASE(test_dmabuf_owner),
	KUNIT_CASE(test_same),
	KUNIT_CASE(test_all_memory),
	KUNIT_CASE(test_key),
	KUNIT_CASE_PARAM(test_payer, payer_gen_params),
	KUNIT_CASE_PARAM(test_charge, payer_gen_params),
	{}
};

static struct kunit_suite region_suite = {
	.name = "kwarp_region",
	.init = region_test_init,
	.exit = region_test_exit,
	.test_cases = region_cases,
};

kunit_test_suite(region_suite);
