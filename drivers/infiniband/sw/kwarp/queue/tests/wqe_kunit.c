// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of loading queue entries that a hostile program may write. Each slot is at the end of
 * mapped memory, so that a read beyond it faults.
 */
#include <kunit/test.h>
#include <linux/limits.h>

#include "../../proto/rdmap.h"
#include "../../proto/tests/guard.h"
#include "../wqe.h"

#define ID	0x1122334455667788ULL

static struct kwarp_sqe *new_slot(struct kunit *test, u32 stride)
{
	struct kwarp_sqe *e = (void *)(kwarp_guard_end(test, stride) - stride);

	memset(e, 0, stride);
	e->id = ID;
	return e;
}

static struct kwarp_wqe *new_wqe(struct kunit *test)
{
	struct kwarp_wqe *wqe = kunit_kmalloc(test, sizeof(*wqe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	memset(wqe, 0xa5, sizeof(*wqe));
	return wqe;
}

static void fill_sgl(struct kwarp_sge *sge, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		sge[i].addr = 0x7000000000000000ULL + i;
		sge[i].length = 100 + i;
		sge[i].lkey = 0xaabb0000 + i;
	}
}

static u32 sgl_sum(u32 n)
{
	return 100 * n + n * (n - 1) / 2;
}

/*
 * @sges: largest number of elements
 * @least: smallest number of elements
 */
struct opcode_case {
	bool user;
	bool kernel;
	u32 sges;
	bool inl;
	u32 least;
};

static const struct opcode_case opcodes[U8_MAX + 1] = {
	[KWARP_WR_WRITE]	= { true, true, KWARP_MAX_SGE, true },
	[KWARP_WR_READ]		= { true, true, 1, false },
	[KWARP_WR_SEND]		= { true, true, KWARP_MAX_SGE, true },
	[KWARP_WR_SEND_INV]	= { true, true, KWARP_MAX_SGE, true },
	[KWARP_WR_READ_INV]	= { false, true, 1, false },
	[KWARP_WR_LOCAL_INV]	= { true, true, 0, false },
	[KWARP_WR_BIND_MW]	= { true, false, 0, false },
	[KWARP_WR_REG_MR]	= { false, true, 0, false },
	[KWARP_WR_WRITE_IMM]	= { true, true, KWARP_MAX_SGE, true },
	/* 7306-D-7: exactly one element of eight octets */
	[KWARP_WR_FETCH_ADD]	= { true, true, 1, false, 1 },
	[KWARP_WR_CMP_SWAP]	= { true, true, 1, false, 1 },
	[KWARP_WR_SEND_IMM]	= { true, false, KWARP_MAX_SGE, true },
};

static void test_opcode(struct kunit *test)
{
	struct kwarp_sqe *e = new_slot(test, 512);
	struct kwarp_wqe *wqe = new_wqe(test);
	struct kwarp_sge *sge = (void *)(e + 1);
	u32 op, n;

	sge->length = sizeof(u64);
	for (op = 0; op <= U8_MAX; op++) {
		const struct opcode_case *c = &opcodes[op];

		e->opcode = op;
		for (n = 0; n <= KWARP_MAX_SGE + 1; n++) {
			bool fits = n >= c->least && n <= c->sges;

			e->num_sge = n;
			KUNIT_EXPECT_EQ_MSG(test, kwarp_wqe_load(wqe, e, 512, true),
					    c->user && fits, "op %u, %u SGEs", op, n);
			KUNIT_EXPECT_EQ_MSG(test, kwarp_wqe_load(wqe, e, 512, false),
					    c->kernel && fits, "op %u, %u SGEs", op, n);
		}
		e->num_sge = 0;
		e->flags = KWARP_WR_INLINE;
		KUNIT_EXPECT_EQ_MSG(test, kwarp_wqe_load(wqe, e, 512, true), c->inl,
				    "op %u, inline", op);
		KUNIT_EXPECT_EQ_MSG(test, kwarp_wqe_load(wqe, e, 512, false), c->inl && c->kernel,
				    "op %u, inline", op);
		e->flags = 0;
	}
}

/* 7306-D-7: the buffer of an atomic operation has eight octets. */
static void test_atomic_length(struct kunit *test)
{
	struct kwarp_sqe *e = new_slot(test, 64);
	struct kwarp_wqe *wqe = new_wqe(test);
	struct kwarp_sge *sge = (void *)(e + 1);
	u32 len;

	e->opcode = KWARP_WR_CMP_SWAP;
	e->num_sge = 1;
	for (len = 0; len <= 16; len++) {
		sge->length = len;
		KUNIT_EXPECT_EQ(test, kwarp_wqe_load(wqe, e, 64, true), len == 8);
	}
}

/* For other numbers the rule says that no consumer may post them. */
static void test_rules(struct kunit *test)
{
	u32 op, se;

	for (op = 0; op <= U8_MAX; op++) {
		const struct kwarp_wr_rule *r = kwarp_wr_rule(op);
		bool known = op < KWARP_WR_MAX, data = known && !r->local && !r->awaits;

		KUNIT_EXPECT_EQ_MSG(test, r->user || r->kernel, known, "op %u", op);
		KUNIT_EXPECT_EQ_MSG(test, !!r->max_sge, known && !r->local, "op %u", op);
		KUNIT_EXPECT_EQ_MSG(test, r->inlined, data, "op %u", op);
		for (se = 0; data && se < 2; se++) {
			KUNIT_EXPECT_EQ(test, in_range(r->op[se], KWARP_OP_SEND, 4),
					!r->remote && !r->send_imm);
			KUNIT_EXPECT_EQ(test, kwarp_op_sends_imm(r->op[se]), r->send_imm);
			KUNIT_EXPECT_EQ(test, kwarp_op_is_imm(r->op[se]), r->imm);
			KUNIT_EXPECT_EQ(test, kwarp_op_invalidates(r->op[se]), r->inv);
			KUNIT_EXPECT_EQ(test, kwarp_op_solicited(r->op[se]),
					se && (!r->remote || r->imm));
		}
		KUNIT_EXPECT_EQ_MSG(test, r->rfc7306, op >= KWARP_WR_WRITE_IMM &&
				    op <= KWARP_WR_CMP_SWAP, "op %u", op);
		KUNIT_EXPECT_TRUE(test, !r->atomic || (r->awaits && !r->remote));
	}
}

static const struct stride_case {
	u32 stride;
	u32 sges;
	u32 inl;
} strides[] = {
	{ 64, 1, 16 },
	{ 128, 5, 80 },
	{ 256, 13, 208 },
	{ 512, 29, 464 },
	/* the entry has more room than a request may use */
	{ 1024, KWARP_MAX_SGE, KWARP_MAX_INLINE },
};

static void stride_desc(const struct stride_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "stride %u", c->stride);
}

KUNIT_ARRAY_PARAM(stride, strides, stride_desc);

static void test_num_sge(struct kunit *test)
{
	const struct stride_case *c = test->param_value;
	struct kwarp_sqe *e = new_slot(test, c->stride);
	struct kwarp_wqe *wqe = new_wqe(test);
	u32 n;

	e->opcode = KWARP_WR_SEND;
	fill_sgl((struct kwarp_sge *)(e + 1), c->sges);
	for (n = 0; n <= c->sges; n++) {
		e->num_sge = n;
		KUNIT_ASSERT_TRUE_MSG(test, kwarp_wqe_load(wqe, e, c->stride, true),
				      "%u SGEs", n);
		KUNIT_EXPECT_EQ(test, wqe->len, sgl_sum(n));
		KUNIT_EXPECT_MEMEQ(test, &wqe->e, e, sizeof(*e));
		KUNIT_EXPECT_MEMEQ(test, wqe->sge, e + 1, n * sizeof(wqe->sge[0]));
	}
	for (; n <= U8_MAX; n++) {
		e->num_sge = n;
		KUNIT_EXPECT_FALSE_MSG(test, kwarp_wqe_load(wqe, e, c->stride, true),
				       "%u SGEs", n);
		KUNIT_EXPECT_EQ(test, wqe->e.id, ID);
	}
}

static void test_inline(struct kunit *test)
{
	const struct stride_case *c = test->param_value;
	struct kwarp_sqe *e = new_slot(test, c->stride);
	struct kwarp_wqe *wqe = new_wqe(test);
	u8 *data = (u8 *)(e + 1);
	u32 i;

	e->opcode = KWARP_WR_SEND;
	e->flags = KWARP_WR_INLINE;
	for (i = 0; i < c->inl; i++)
		data[i] = i * 3 + 1;
	for (i = 0; i <= c->inl; i++) {
		e->inline_len = i;
		memset(wqe, 0xa5, sizeof(*wqe));
		KUNIT_ASSERT_TRUE_MSG(test, kwarp_wqe_load(wqe, e, c->stride, true),
				      "%u octets", i);
		KUNIT_EXPECT_EQ(test, wqe->len, i);
		KUNIT_EXPECT_EQ(test, memcmp(wqe->data, data, i), 0);
		KUNIT_EXPECT_NULL(test, memchr_inv(wqe->data + i, 0xa5, sizeof(wqe->data) - i));
	}
	for (i = 0; i < 32; i++) {
		e->inline_len = c->inl + BIT(i);
		KUNIT_EXPECT_FALSE_MSG(test, kwarp_wqe_load(wqe, e, c->stride, true),
				       "%u octets", e->inline_len);
	}
	e->inline_len = U32_MAX;
	KUNIT_EXPECT_FALSE(test, kwarp_wqe_load(wqe, e, c->stride, true));
}

static void test_inline_or_sgl(struct kunit *test)
{
	struct kwarp_sqe *e = new_slot(test, 128);
	struct kwarp_wqe *wqe = new_wqe(test);

	e->opcode = KWARP_WR_WRITE;
	e->flags = KWARP_WR_INLINE;
	e->inline_len = 16;
	e->num_sge = 1;
	KUNIT_EXPECT_FALSE(test, kwarp_wqe_load(wqe, e, 128, true));
	KUNIT_EXPECT_EQ(test, wqe->len, 0);
	e->inline_len = 0;
	KUNIT_EXPECT_FALSE(test, kwarp_wqe_load(wqe, e, 128, true));

	/* without KWARP_WR_INLINE, inline_len is ignored */
	e->flags = 0;
	e->inline_len = U32_MAX;
	fill_sgl((struct kwarp_sge *)(e + 1), 1);
	KUNIT_EXPECT_TRUE(test, kwarp_wqe_load(wqe, e, 128, true));
	KUNIT_EXPECT_EQ(test, wqe->len, 100);
}

static const struct sum_case {
	const char *desc;
	u32 len[3];
	bool ok;
	u32 sum;
} sums[] = {
	{ "nothing", { 0, 0, 0 }, true, 0 },
	{ "the longest, first", { U32_MAX, 0, 0 }, true, U32_MAX },
	{ "the longest, last", { 0, 0, U32_MAX }, true, U32_MAX },
	{ "the longest, in three", { 0x80000000, 0x7ffffffe, 1 }, true, U32_MAX },
	{ "one octet more", { U32_MAX, 1, 0 }, false },
	{ "one octet more, last", { 1, U32_MAX - 1, 1 }, false },
	{ "sum is 2^32", { 0x80000000, 0, 0x80000000 }, false },
	{ "sum wraps to more than it was", { U32_MAX, U32_MAX, 2 }, false },
	{ "wraps twice", { U32_MAX, U32_MAX, U32_MAX }, false },
};

KUNIT_ARRAY_PARAM_DESC(sum, sums, desc);

static void test_sum(struct kunit *test)
{
	const struct sum_case *c = test->param_value;
	struct kwarp_sqe *e = new_slot(test, 128);
	struct kwarp_sge *sge = (struct kwarp_sge *)(e + 1);
	struct kwarp_wqe *wqe = new_wqe(test);
	u32 i;

	e->opcode = KWARP_WR_WRITE;
	e->num_sge = 3;
	for (i = 0; i < 3; i++)
		sge[i].length = c->len[i];
	KUNIT_EXPECT_EQ(test, kwarp_wqe_load(wqe, e, 128, true), c->ok);
	KUNIT_EXPECT_EQ(test, wqe->len, c->sum);
}

static void test_rwqe_sum(struct kunit *test)
{
	const struct sum_case *c = test->param_value;
	struct kwarp_rqe *e = (void *)(kwarp_guard_end(test, 64) - 64);
	struct kwarp_sge *sge = (struct kwarp_sge *)(e + 1);
	struct kwarp_rwqe *rwqe = kunit_kmalloc(test, sizeof(*rwqe), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, rwqe);
	memset(e, 0, 64);
	e->num_sge = 3;
	for (i = 0; i < 3; i++)
		sge[i].length = c->len[i];
	/* A receive may be longer than any message. */
	KUNIT_EXPECT_TRUE(test, kwarp_rwqe_load(rwqe, e, 64));
	KUNIT_EXPECT_EQ(test, rwqe->num_sge, 3);
	KUNIT_EXPECT_EQ(test, rwqe->len, c->ok ? c->sum : KWARP_MAX_MSG);
}

static void test_private(struct kunit *test)
{
	struct kwarp_sqe *e = new_slot(test, 128);
	struct kwarp_wqe *wqe = new_wqe(test), *copy = new_wqe(test);

	e->opcode = KWARP_WR_SEND;
	e->num_sge = 5;
	fill_sgl((struct kwarp_sge *)(e + 1), 5);
	KUNIT_ASSERT_TRUE(test, kwarp_wqe_load(wqe, e, 128, true));
	*copy = *wqe;
	memset(e, 0xff, 128);
	KUNIT_EXPECT_MEMEQ(test, wqe, copy, sizeof(*wqe));
	KUNIT_EXPECT_EQ(test, wqe->e.id, ID);
	KUNIT_EXPECT_EQ(test, wqe->len, sgl_sum(5));

	e->opcode = KWARP_WR_SEND;
	e->num_sge = 0;
	e->flags = KWARP_WR_INLINE;
	e->inline_len = 80;
	KUNIT_ASSERT_TRUE(test, kwarp_wqe_load(wqe, e, 128, true));
	memset(e, 0, 128);
	KUNIT_EXPECT_EQ(test, wqe->len, 80);
	KUNIT_EXPECT_NULL(test, memchr_inv(wqe->data, 0xff, 80));
}

static void test_rwqe(struct kunit *test)
{
	static const struct {
		u32 stride;
		u32 sges;
	} cases[] = {
		{ 16, 0 }, { 32, 1 }, { 64, 3 }, { 128, 7 }, { 256, 15 }, { 512, KWARP_MAX_SGE },
		{ 1024, KWARP_MAX_SGE },
	};
	struct kwarp_rwqe *rwqe = kunit_kmalloc(test, sizeof(*rwqe), GFP_KERNEL);
	u32 i, n;

	KUNIT_ASSERT_NOT_NULL(test, rwqe);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 stride = cases[i].stride;
		struct kwarp_rqe *e = (void *)(kwarp_guard_end(test, stride) - stride);

		memset(e, 0, stride);
		e->id = ID + i;
		fill_sgl((struct kwarp_sge *)(e + 1), cases[i].sges);
		for (n = 0; n <= cases[i].sges; n++) {
			e->num_sge = n;
			KUNIT_EXPECT_TRUE(test, kwarp_rwqe_load(rwqe, e, stride));
			KUNIT_EXPECT_EQ(test, rwqe->id, ID + i);
			KUNIT_EXPECT_EQ(test, rwqe->num_sge, n);
			KUNIT_EXPECT_EQ(test, rwqe->len, sgl_sum(n));
			KUNIT_EXPECT_EQ(test, memcmp(rwqe->sge, e + 1,
						     n * sizeof(rwqe->sge[0])), 0);
		}
		memset(rwqe, 0xa5, sizeof(*rwqe));
		for (n = 0; n < 32; n++) {
			e->num_sge = cases[i].sges + BIT(n);
			KUNIT_EXPECT_FALSE(test, kwarp_rwqe_load(rwqe, e, stride));
			KUNIT_EXPECT_EQ(test, rwqe->id, ID + i);
			KUNIT_EXPECT_EQ(test, rwqe->num_sge, 0);
			KUNIT_EXPECT_EQ(test, rwqe->len, 0);
		}
		e->num_sge = U32_MAX;
		KUNIT_EXPECT_FALSE(test, kwarp_rwqe_load(rwqe, e, stride));
	}
}

static void test_stride(struct kunit *test)
{
	static const struct {
		u32 sges;
		u32 inl;
		u32 stride;
	} sq[] = {
		{ 0, 0, 64 }, { 1, 0, 64 }, { 2, 0, 128 }, { 5, 0, 128 }, { 6, 0, 256 },
		{ 13, 0, 256 }, { 14, 0, 512 }, { KWARP_MAX_SGE, 0, 512 },
		{ 0, 16, 64 }, { 0, 17, 128 }, { 1, 80, 128 }, { 1, 81, 256 }, { 5, 16, 128 },
		{ 14, 1, 512 }, { 0, KWARP_MAX_INLINE, 512 },
		{ KWARP_MAX_SGE, KWARP_MAX_INLINE, 512 },
	};
	static const struct {
		u32 sges;
		u32 stride;
	} rq[] = {
		{ 0, 16 }, { 1, 32 }, { 2, 64 }, { 3, 64 }, { 4, 128 }, { 7, 128 }, { 8, 256 },
		{ 15, 256 }, { 16, 512 }, { KWARP_MAX_SGE, 512 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sq); i++)
		KUNIT_EXPECT_EQ_MSG(test, kwarp_sqe_stride(sq[i].sges, sq[i].inl),
				    sq[i].stride, "%u, %u", sq[i].sges, sq[i].inl);
	for (i = 0; i < ARRAY_SIZE(rq); i++)
		KUNIT_EXPECT_EQ_MSG(test, kwarp_rqe_stride(rq[i].sges), rq[i].stride,
				    "%u", rq[i].sges);
}

static struct kunit_case wqe_cases[] = {
	KUNIT_CASE(test_opcode),
	KUNIT_CASE(test_atomic_length),
	KUNIT_CASE(test_rules),
	KUNIT_CASE_PARAM(test_num_sge, stride_gen_params),
	KUNIT_CASE_PARAM(test_inline, stride_gen_params),
	KUNIT_CASE(test_inline_or_sgl),
	KUNIT_CASE_PARAM(test_sum, sum_gen_params),
	KUNIT_CASE_PARAM(test_rwqe_sum, sum_gen_params),
	KUNIT_CASE(test_private),
	KUNIT_CASE(test_rwqe),
	KUNIT_CASE(test_stride),
	{}
};

static struct kunit_suite wqe_suite = {
	.name = "kwarp_wqe",
	.test_cases = wqe_cases,
};

kunit_test_suite(wqe_suite);
