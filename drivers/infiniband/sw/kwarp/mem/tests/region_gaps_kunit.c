// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of regions with gaps: a kernel consumer maps a list of elements of any size. Each octet of
 * the region has to be the memory that the list names, and adjacent elements become one piece.
 */
#include "region_fixture.h"

#define ELEMENTS	6

/*
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
					    (void *)region_process_octet(t, c->el[i].at + in));
			KUNIT_ASSERT_GE(test, n, c->el[i].len - in);
		}
	}
	KUNIT_EXPECT_EQ(test, mr->length, pos);
}

static void test_gaps(struct kunit *test)
{
	const struct gaps_case *c = test->param_value;
	struct region_test *t = test->priv;
	const struct kwarp_mem_stream stream = { .pd = &t->pd.ibpd };
	struct scatterlist sg[ELEMENTS];
	unsigned int skip = c->skip;
	struct kwarp_mr *mr = kwarp_mr_create_fast(&t->kdev, &t->pd.ibpd, LISTED, true);
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	sg_init_table(sg, ELEMENTS);
	for (i = 0; i < c->n; i++) {
		sg[i].dma_address = (uintptr_t)region_process_octet(t, c->el[i].at);
		sg_dma_len(&sg[i]) = c->el[i].len;
	}
	KUNIT_EXPECT_EQ(test, kwarp_mr_map_sg(mr, sg, c->n, &skip), c->mapped);
	KUNIT_EXPECT_EQ(test, mr->next.fresh, c->mapped > 0);
	if (c->mapped > 0) {
		KUNIT_EXPECT_EQ(test, skip, 0);
		KUNIT_EXPECT_EQ(test, mr->ibmr.iova,
				(uintptr_t)region_process_octet(t, c->el[0].at) + c->skip);
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
	const struct kwarp_mem_stream stream = { .pd = &t->pd.ibpd };
	struct kwarp_mr *mr = kwarp_mr_create_fast(&t->kdev, &t->pd.ibpd, LISTED, true);
	struct scatterlist sg;
	u32 n, i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	sg_init_table(&sg, 1);
	for (i = 0; i < 3; i++) {
		sg.dma_address = (uintptr_t)region_process_octet(t, 100 * i);
		sg_dma_len(&sg) = 50 + i;
		KUNIT_ASSERT_EQ(test, kwarp_mr_map_sg(mr, &sg, 1, NULL), 1);
		if (i) {
			KUNIT_EXPECT_EQ(test, mr->length, 50 + i - 1);
			KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(mr, mr->va, 1, &n),
					    (void *)region_process_octet(t, 100 * (i - 1)));
			WRITE_ONCE(mr->valid, false);
		}
		KUNIT_ASSERT_EQ(test, kwarp_mr_activate(mr, mr->stag, 0, &stream), 0);
		KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(mr, mr->va, 1, &n),
				    (void *)region_process_octet(t, 100 * i));
	}
	kwarp_mr_destroy(&t->kdev, mr);
}

static struct kunit_case region_gaps_cases[] = {
	KUNIT_CASE_PARAM(test_gaps, gaps_gen_params),
	KUNIT_CASE(test_gaps_next),
	{}
};

static struct kunit_suite region_gaps_suite = {
	.name = "kwarp_region_gaps",
	.init = region_test_init,
	.exit = region_test_exit,
	.test_cases = region_gaps_cases,
};

kunit_test_suite(region_gaps_suite);
