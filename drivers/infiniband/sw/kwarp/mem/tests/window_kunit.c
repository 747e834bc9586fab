// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of windows: what may be bound, which streams may use a window, and every way to unbind a
 * window.
 *
 * Numbers such as 5041-8.2-3 name requirements of RFCs, see Documentation/conformance.
 */
#include <kunit/test.h>
#include <linux/limits.h>

#include "../mr.h"

#define MR_STAG		0x00111101U
#define MW_STAG		0x00222202U
#define KEY		0x00222233U	/* STag of the window after a bind */
#define SHIFT		4
#define CHUNKS		4
#define MR_OFFSET	5U
#define MR_LEN		(CHUNKS * (1U << SHIFT) - MR_OFFSET)
#define MR_VA		0x7000000000f0ULL
#define BOTH		(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

/* The pieces of the region are not contiguous; stream @other is of another protection domain. */
struct window_test {
	struct ib_pd pd;
	struct ib_pd other_pd;
	struct kwarp_mem_stream a;
	struct kwarp_mem_stream b;
	struct kwarp_mem_stream other;
	struct kwarp_mr mr;
	struct kwarp_mr mw;
	u8 *chunk[CHUNKS];
	u8 mem[CHUNKS][2 << SHIFT];
};

static void make_window(struct kwarp_mr *mr, enum kwarp_mr_kind kind, u32 stag, struct ib_pd *pd)
{
	refcount_set(&mr->refs, 1);
	rwlock_init(&mr->lock);
	INIT_LIST_HEAD(&mr->bound);
	mr->kind = kind;
	mr->stag = stag;
	mr->pd = pd;
}

static int window_init(struct kunit *test)
{
	struct window_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->a.pd = &t->pd;
	t->b.pd = &t->pd;
	t->other.pd = &t->other_pd;
	kwarp_mem_stream_init(&t->a);
	kwarp_mem_stream_init(&t->b);
	kwarp_mem_stream_init(&t->other);
	for (i = 0; i < CHUNKS; i++)
		t->chunk[i] = t->mem[i];
	make_window(&t->mr, KWARP_MR_USER, MR_STAG, &t->pd);
	t->mr.valid = true;
	t->mr.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND;
	t->mr.va = MR_VA;
	t->mr.length = MR_LEN;
	t->mr.chunk = t->chunk;
	t->mr.nchunks = CHUNKS;
	t->mr.shift = SHIFT;
	t->mr.offset = MR_OFFSET;
	make_window(&t->mw, KWARP_MR_WINDOW, MW_STAG, &t->pd);
	test->priv = t;
	return 0;
}

static bool bind_mw(struct window_test *t, u64 addr, u64 length, u32 access)
{
	const struct kwarp_window_range range = {
		.addr = addr, .length = length, .access = access,
	};

	return kwarp_window_bind(&t->mw, KEY, &t->mr, MR_STAG, &t->a, &range);
}

static bool bind_all(struct window_test *t)
{
	return bind_mw(t, MR_VA, MR_LEN, BOTH);
}

static enum kwarp_mem_err mw_err(struct window_test *t, const struct kwarp_mem_stream *s,
				 u64 addr, u64 len, int rights)
{
	return kwarp_mem_check(&t->mw, KEY, s, addr, len, rights);
}

static void expect_free(struct kunit *test)
{
	struct window_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, t->mw.valid);
	KUNIT_EXPECT_NULL(test, t->mw.parent);
	KUNIT_EXPECT_EQ(test, t->mr.windows, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->a.windows));
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, IB_ACCESS_REMOTE_READ), KWARP_MEM_STAG);
}

static void test_birth(struct kunit *test)
{
	struct window_test *t = test->priv;

	expect_free(test);
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(&t->mw, MW_STAG, &t->a, MR_VA, 1,
					      IB_ACCESS_REMOTE_READ), KWARP_MEM_STAG);
}

/* 5041-8.2-3, -5; 5041-8.3.1-2; 5040-8.1.1-2: another stream may not use a window of type 2. */
static void test_stream(struct kunit *test)
{
	struct window_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, bind_all(t));
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, IB_ACCESS_REMOTE_WRITE), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->b, MR_VA, 1, IB_ACCESS_REMOTE_WRITE),
			KWARP_MEM_STREAM);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->b, MR_VA, 1, IB_ACCESS_REMOTE_READ),
			KWARP_MEM_STREAM);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->other, MR_VA, 1, IB_ACCESS_REMOTE_READ),
			KWARP_MEM_STREAM);
	KUNIT_EXPECT_EQ(test, kwarp_mem_check(&t->mw, MW_STAG, &t->a, MR_VA, 1,
					      IB_ACCESS_REMOTE_WRITE), KWARP_MEM_STAG);
}

static void test_rights(struct kunit *test)
{
	static const int rights[] = { 0, IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_WRITE, BOTH };
	struct window_test *t = test->priv;
	u32 i;

	t->mr.access |= BOTH;
	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		int has = rights[i];

		KUNIT_ASSERT_TRUE(test, bind_mw(t, MR_VA, MR_LEN, has));
		KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, IB_ACCESS_REMOTE_READ),
				has & IB_ACCESS_REMOTE_READ ? KWARP_MEM_OK : KWARP_MEM_ACCESS);
		KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, IB_ACCESS_REMOTE_WRITE),
				has & IB_ACCESS_REMOTE_WRITE ? KWARP_MEM_OK : KWARP_MEM_ACCESS);
		KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, 0), KWARP_MEM_ACCESS);
		KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, IB_ACCESS_LOCAL_WRITE),
				KWARP_MEM_ACCESS);
		KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, false));
	}
}

static void expect_same(struct kunit *test, u64 va, u64 at, u32 len)
{
	struct window_test *t = test->priv;
	u32 n, got, have;

	for (n = 0; n < len; n++) {
		void *want = kwarp_mr_span(&t->mr, at + n, len - n, &have);

		KUNIT_ASSERT_PTR_EQ(test, kwarp_mr_span(&t->mw, va + n, len - n, &got), want);
		KUNIT_ASSERT_EQ(test, got, have);
	}
}

static void try_range(struct kunit *test, u32 first, u32 len, bool zero)
{
	struct window_test *t = test->priv;
	u64 at = t->mr.va + first, va = zero ? 0 : at;

	KUNIT_ASSERT_TRUE(test, bind_mw(t, at, len, BOTH | (zero ? IB_ZERO_BASED : 0)));
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, va, len, BOTH), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, va, len + 1, BOTH), KWARP_MEM_BOUNDS);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, va + len, 1, BOTH), KWARP_MEM_BOUNDS);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, va - 1, 1, BOTH),
			va ? KWARP_MEM_BOUNDS : KWARP_MEM_WRAP);
	expect_same(test, va, at, len);
	KUNIT_ASSERT_TRUE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, true));
}

static void try_ranges(struct kunit *test)
{
	u32 first, len;

	for (first = 0; first < MR_LEN; first++)
		for (len = 1; len <= MR_LEN - first; len++) {
			try_range(test, first, len, false);
			try_range(test, first, len, true);
		}
}

static void test_range(struct kunit *test)
{
	struct window_test *t = test->priv;

	try_ranges(test);
	t->mr.va = 0;
	try_ranges(test);
}

static const struct refused_range {
	const char *desc;
	u64 addr;
	u64 length;
	u32 access;
} ranges[] = {
	{ "nothing", MR_VA, 0, BOTH },
	{ "one too long", MR_VA, MR_LEN + 1, BOTH },
	{ "one too long at the end", MR_VA + MR_LEN - 1, 2, BOTH },
	{ "one before", MR_VA - 1, 2, BOTH },
	{ "before", MR_VA - 8, 8, BOTH },
	{ "after", MR_VA + MR_LEN, 1, BOTH },
	{ "all there is", 0, U64_MAX, BOTH },
	{ "wraps", MR_VA, U64_MAX, BOTH },
	{ "wraps to the start", MR_VA + 1, -MR_VA, BOTH },
	{ "local rights", MR_VA, MR_LEN, BOTH | IB_ACCESS_LOCAL_WRITE },
	{ "a window of a window", MR_VA, MR_LEN, IB_ACCESS_MW_BIND },
	{ "unknown rights", MR_VA, MR_LEN, BIT(31) },
};

KUNIT_ARRAY_PARAM_DESC(range, ranges, desc);

static void test_refused_range(struct kunit *test)
{
	const struct refused_range *c = test->param_value;

	KUNIT_EXPECT_FALSE(test, bind_mw(test->priv, c->addr, c->length, c->access));
	expect_free(test);
}

static void test_refused_objects(struct kunit *test)
{
	const struct kwarp_window_range range = {
		.addr = MR_VA, .length = MR_LEN, .access = IB_ACCESS_REMOTE_WRITE,
	};
	static const enum kwarp_mr_kind kinds[] = {
		KWARP_MR_DMA, KWARP_MR_FAST, KWARP_MR_WINDOW
	};
	struct window_test *t = test->priv;
	u32 i;

	KUNIT_EXPECT_FALSE(test, kwarp_window_bind(&t->mw, KEY ^ 0x100, &t->mr, MR_STAG,
						   &t->a, &range));
	KUNIT_EXPECT_FALSE(test, kwarp_window_bind(&t->mw, KEY, &t->mr, MR_STAG ^ 1, &t->a,
						   &range));
	KUNIT_EXPECT_FALSE(test, kwarp_window_bind(&t->mw, KEY, &t->mr, MR_STAG, &t->other,
						   &range));
	KUNIT_EXPECT_FALSE(test, kwarp_window_bind(&t->mr, MR_STAG, &t->mr, MR_STAG, &t->a,
						   &range));
	t->mr.pd = &t->other_pd;
	KUNIT_EXPECT_FALSE(test, bind_all(t));
	t->mr.pd = &t->pd;
	t->mw.pd = &t->other_pd;
	KUNIT_EXPECT_FALSE(test, bind_all(t));
	t->mw.pd = &t->pd;
	t->mr.access = IB_ACCESS_LOCAL_WRITE;
	KUNIT_EXPECT_FALSE(test, bind_all(t));
	t->mr.access = IB_ACCESS_MW_BIND;
	KUNIT_EXPECT_FALSE(test, bind_all(t));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		t->mr.kind = kinds[i];
		KUNIT_EXPECT_FALSE(test, bind_mw(t, MR_VA, MR_LEN, IB_ACCESS_REMOTE_READ));
	}
	t->mr.kind = KWARP_MR_USER;
	t->mr.valid = false;
	KUNIT_EXPECT_FALSE(test, bind_mw(t, MR_VA, MR_LEN, IB_ACCESS_REMOTE_READ));
	expect_free(test);
	/* a window for reading needs no local write access of the region */
	t->mr.valid = true;
	KUNIT_EXPECT_TRUE(test, bind_mw(t, MR_VA, MR_LEN, IB_ACCESS_REMOTE_READ));
}

static void test_bound_twice(struct kunit *test)
{
	struct window_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, bind_all(t));
	KUNIT_EXPECT_FALSE(test, bind_mw(t, MR_VA, 1, BOTH));
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, t->mr.windows, 1);
}

static void test_invalidate(struct kunit *test)
{
	struct window_test *t = test->priv;

	/* a window that was never bound: the consumer may invalidate it, the peer may not */
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(&t->mw, MW_STAG, &t->a, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, MW_STAG, &t->a, true));
	KUNIT_ASSERT_TRUE(test, bind_all(t));
	/* 5040-5.3-19: another stream may not invalidate the window */
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY, &t->b, true));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY, &t->b, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY, &t->other, true));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY ^ 1, &t->a, true));
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, true));
	expect_free(test);
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, false));
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(&t->mw, KEY, &t->b, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY, &t->other, false));
	KUNIT_ASSERT_TRUE(test, bind_all(t));
	/* a late unbind, for an earlier binding, does not change the new one */
	kwarp_window_unbind(&t->mw);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, t->mr.windows, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, false));
	expect_free(test);
	/* a window without rights: the peer may not invalidate it */
	KUNIT_ASSERT_TRUE(test, bind_mw(t, MR_VA, MR_LEN, 0));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, true));
	KUNIT_EXPECT_TRUE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, false));
	expect_free(test);
}

static void test_stream_end(struct kunit *test)
{
	struct window_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, bind_all(t));
	kwarp_mem_stream_end(&t->b);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	kwarp_mem_stream_end(&t->a);
	expect_free(test);
	kwarp_mem_stream_end(&t->a);
	expect_free(test);
}

/* ------------------------------------------------------------------ type 1 */

/* All streams of the protection domain may use a window of type 1, and no others. */
static void test_type_1(struct kunit *test)
{
	struct window_test *t = test->priv;

	t->mw.pd_wide = true;
	KUNIT_ASSERT_TRUE(test, bind_all(t));
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->b, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->other, MR_VA, 1, BOTH), KWARP_MEM_STREAM);
	/* A local read (no rights) is refused, as with type 2. */
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, 0), KWARP_MEM_ACCESS);
	/* The end of the stream that bound the window does not unbind it. */
	kwarp_mem_stream_end(&t->a);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->b, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, t->mr.windows, 1);
}

/* A window of type 1 cannot be invalidated; another bind replaces the first one. */
static void test_type_1_again(struct kunit *test)
{
	struct window_test *t = test->priv;

	t->mw.pd_wide = true;
	KUNIT_ASSERT_TRUE(test, bind_all(t));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, false));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_revoke(&t->mw, KEY, &t->a, true));
	/* A bind that is refused leaves the old binding. */
	KUNIT_EXPECT_FALSE(test, bind_mw(t, MR_VA, MR_LEN + 1, BOTH));
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	KUNIT_ASSERT_TRUE(test, bind_mw(t, MR_VA + 1, 2, IB_ACCESS_REMOTE_READ));
	KUNIT_EXPECT_EQ(test, t->mr.windows, 1);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, 1, IB_ACCESS_REMOTE_READ),
			KWARP_MEM_BOUNDS);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA + 1, 2, IB_ACCESS_REMOTE_READ), KWARP_MEM_OK);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA + 1, 2, IB_ACCESS_REMOTE_WRITE),
			KWARP_MEM_ACCESS);
}

/* A bind of 0 octets unbinds a window of type 1, sets its key, and needs no region. */
static void test_type_1_nothing(struct kunit *test)
{
	static const struct kwarp_window_range nothing;
	struct window_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, kwarp_window_bind(&t->mw, KEY, NULL, 0, &t->a, &nothing));
	t->mw.pd_wide = true;
	KUNIT_ASSERT_TRUE(test, bind_all(t));
	KUNIT_EXPECT_TRUE(test, kwarp_window_bind(&t->mw, KEY ^ 1, NULL, 0, &t->a, &nothing));
	expect_free(test);
	KUNIT_EXPECT_EQ(test, t->mw.stag, KEY ^ 1);
	KUNIT_EXPECT_TRUE(test, kwarp_window_bind(&t->mw, KEY, NULL, 0, &t->b, &nothing));
	expect_free(test);
	KUNIT_ASSERT_TRUE(test, bind_all(t));
	KUNIT_EXPECT_EQ(test, t->mr.windows, 1);
}

static void test_stream_id(struct kunit *test)
{
	struct window_test *t = test->priv;
	u64 before = t->a.id;

	KUNIT_EXPECT_NE(test, t->a.id, t->b.id);
	kwarp_mem_stream_end(&t->a);
	KUNIT_EXPECT_NE(test, t->a.id, before);
	KUNIT_EXPECT_NE(test, t->a.id, t->b.id);
	KUNIT_EXPECT_NE(test, t->a.id, t->other.id);
}

static void test_close(struct kunit *test)
{
	struct window_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, bind_all(t));
	KUNIT_EXPECT_FALSE(test, kwarp_mr_close(&t->mr));
	KUNIT_EXPECT_TRUE(test, t->mr.valid);
	KUNIT_EXPECT_EQ(test, mw_err(t, &t->a, MR_VA, MR_LEN, BOTH), KWARP_MEM_OK);
	/* a window may be closed while it is bound, a region with windows may not */
	KUNIT_EXPECT_TRUE(test, kwarp_mr_close(&t->mw));
	KUNIT_EXPECT_FALSE(test, bind_all(t));
	kwarp_window_unbind(&t->mw);
	expect_free(test);
	KUNIT_EXPECT_TRUE(test, kwarp_mr_close(&t->mr));
	KUNIT_EXPECT_FALSE(test, bind_all(t));
	expect_free(test);
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(test_birth),
	KUNIT_CASE(test_stream),
	KUNIT_CASE(test_rights),
	KUNIT_CASE(test_range),
	KUNIT_CASE_PARAM(test_refused_range, range_gen_params),
	KUNIT_CASE(test_refused_objects),
	KUNIT_CASE(test_bound_twice),
	KUNIT_CASE(test_invalidate),
	KUNIT_CASE(test_stream_end),
	KUNIT_CASE(test_stream_id),
	KUNIT_CASE(test_close),
	KUNIT_CASE(test_type_1),
	KUNIT_CASE(test_type_1_again),
	KUNIT_CASE(test_type_1_nothing),
	{}
};

static struct kunit_suite window_suite = {
	.name = "kwarp_mem_window",
	.init = window_init,
	.test_cases = window_cases,
};

kunit_test_suite(window_suite);

MODULE_LICENSE("Dual BSD/GPL");
