// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of posting sends by kernel consumers: the entries that the runner finds in the ring */
#include <kunit/test.h>
#include <linux/limits.h>

#include "post_fixture.h"

#define RADDR		(U64_MAX - 5)
#define RKEY		0x87654321
#define INV_STAG	0xfedcba98
#define RIGHTS		(IB_ACCESS_REMOTE_READ | IB_ACCESS_LOCAL_WRITE)

static const struct kwarp_wqe *post_one(struct kunit *test, const struct ib_send_wr *wr)
{
	struct post_test *t = test->priv;
	const struct ib_send_wr *bad = NULL;

	KUNIT_ASSERT_EQ(test, kwarp_sq_post(&t->sq, wr, &bad), 0);
	KUNIT_ASSERT_NULL(test, bad);
	memset(&t->wqe, 0xa5, sizeof(t->wqe));
	KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_ASSERT_EQ(test, t->sq.ring.hdr->prod, t->sq.next + 1);
	kwarp_ring_release(&t->sq.ring, ++t->sq.next);
	t->sq.retired = t->sq.next;
	return &t->wqe;
}

static void expect_refusal(struct kunit *test, const struct ib_send_wr *wr)
{
	struct post_test *t = test->priv;
	const struct ib_send_wr *bad = NULL;
	u32 prod = t->sq.ring.hdr->prod;

	KUNIT_EXPECT_EQ(test, kwarp_sq_post(&t->sq, wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, wr);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->prod, prod);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
}

static void test_send(struct kunit *test)
{
	static const struct {
		int ib;
		u16 kwarp;
	} flags[] = {
		{ 0, 0 },
		{ IB_SEND_SIGNALED, KWARP_WR_SIGNALED },
		{ IB_SEND_SOLICITED, KWARP_WR_SOLICITED },
		{ IB_SEND_FENCE, KWARP_WR_FENCE },
		{ IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_FENCE,
		  KWARP_WR_SIGNALED | KWARP_WR_SOLICITED | KWARP_WR_FENCE },
	};
	struct post_test *t = test->priv;
	const struct kwarp_wqe *wqe;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct ib_send_wr wr = {
			.wr_id = U64_MAX - i, .opcode = IB_WR_SEND, .send_flags = flags[i].ib,
			.sg_list = t->sge, .num_sge = i,
		};

		wqe = post_one(test, &wr);
		KUNIT_EXPECT_EQ(test, wqe->e.id, U64_MAX - i);
		KUNIT_EXPECT_EQ(test, wqe->e.opcode, KWARP_WR_SEND);
		KUNIT_EXPECT_EQ(test, wqe->e.flags, flags[i].kwarp);
		KUNIT_EXPECT_EQ(test, wqe->e.num_sge, i);
		KUNIT_EXPECT_EQ(test, wqe->len, 1000 * i + i * (i - 1) / 2);
	}
	KUNIT_EXPECT_EQ(test, wqe->sge[3].addr, 0x8000000000000003ULL);
	KUNIT_EXPECT_EQ(test, wqe->sge[3].length, 1003);
	KUNIT_EXPECT_EQ(test, wqe->sge[3].lkey, 0xcc03);
}

/* What the ring's entry must contain for each opcode; num_sge is the largest legal number. */
static const struct {
	enum ib_wr_opcode ib;
	struct kwarp_sqe want;
} forms[] = {
	{ IB_WR_RDMA_WRITE, { .opcode = KWARP_WR_WRITE, .num_sge = MAX_SGE,
			      .raddr = RADDR, .rkey = RKEY } },
	{ IB_WR_RDMA_READ, { .opcode = KWARP_WR_READ, .num_sge = 1,
			     .raddr = RADDR, .rkey = RKEY } },
	{ IB_WR_RDMA_READ_WITH_INV, { .opcode = KWARP_WR_READ_INV, .num_sge = 1,
				      .raddr = RADDR, .rkey = RKEY, .inv_stag = INV_STAG } },
	{ IB_WR_SEND, { .opcode = KWARP_WR_SEND, .num_sge = MAX_SGE } },
	{ IB_WR_SEND_WITH_INV, { .opcode = KWARP_WR_SEND_INV, .num_sge = MAX_SGE,
				 .inv_stag = INV_STAG } },
	{ IB_WR_LOCAL_INV, { .opcode = KWARP_WR_LOCAL_INV, .inv_stag = INV_STAG } },
	{ IB_WR_REG_MR, { .opcode = KWARP_WR_REG_MR, .rkey = RKEY, .access = RIGHTS } },
};

static void test_form(struct kunit *test)
{
	struct post_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct kwarp_sqe *want = &forms[i].want;
		struct ib_reg_wr reg = { .key = RKEY, .access = RIGHTS };
		struct ib_rdma_wr rdma = { .remote_addr = RADDR, .rkey = RKEY };
		struct ib_send_wr *wr = want->access ? &reg.wr : &rdma.wr;

		wr->opcode = forms[i].ib;
		wr->ex.invalidate_rkey = INV_STAG;
		wr->sg_list = t->sge;
		wr->num_sge = want->num_sge;
		KUNIT_EXPECT_MEMEQ(test, &post_one(test, wr)->e, want, sizeof(*want));
		if (!want->num_sge)
			continue;
		wr->num_sge++;
		expect_refusal(test, wr);
		wr->num_sge = 0;
		KUNIT_EXPECT_EQ(test, post_one(test, wr)->len, 0);
		wr->send_flags = IB_SEND_INLINE;
		if (want->num_sge == 1)
			expect_refusal(test, wr);
	}
}

/* 7306-6.1-1, 7306-D-3: the octets of Immediate Data are not converted to another byte order. */
static void test_write_imm(struct kunit *test)
{
	struct post_test *t = test->priv;
	const struct kwarp_sqe want = {
		.opcode = KWARP_WR_WRITE_IMM, .flags = KWARP_WR_SOLICITED, .num_sge = MAX_SGE,
		.raddr = RADDR, .rkey = RKEY, .imm = 0x0badcafe,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE_WITH_IMM, .send_flags = IB_SEND_SOLICITED,
			.ex.imm_data = (__force __be32)0x0badcafe, .sg_list = t->sge,
			.num_sge = MAX_SGE },
		.remote_addr = RADDR, .rkey = RKEY,
	};

	expect_refusal(test, &wr.wr);
	t->sq.rfc7306 = true;
	KUNIT_EXPECT_MEMEQ(test, &post_one(test, &wr.wr)->e, &want, sizeof(want));
}

static void test_atomic(struct kunit *test)
{
	static const struct {
		enum ib_wr_opcode ib;
		u8 opcode;
	} ops[] = {
		{ IB_WR_ATOMIC_FETCH_AND_ADD, KWARP_WR_FETCH_ADD },
		{ IB_WR_ATOMIC_CMP_AND_SWP, KWARP_WR_CMP_SWAP },
	};
	struct post_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct kwarp_sqe want = {
			.opcode = ops[i].opcode, .num_sge = 1, .raddr = RADDR, .rkey = RKEY,
			.compare_add = 1ULL << 63, .swap = 5,
		};
		struct ib_atomic_wr wr = {
			.wr = { .opcode = ops[i].ib, .sg_list = t->sge, .num_sge = 1 },
			.remote_addr = RADDR, .rkey = RKEY, .compare_add = 1ULL << 63, .swap = 5,
		};

		t->sq.rfc7306 = false;
		t->sge[0].length = 8;
		expect_refusal(test, &wr.wr);
		t->sq.rfc7306 = true;
		KUNIT_EXPECT_MEMEQ(test, &post_one(test, &wr.wr)->e, &want, sizeof(want));
		/* the buffer of an atomic operation must have eight octets: 7306-D-7 */
		t->sge[0].length = 4;
		expect_refusal(test, &wr.wr);
		t->sge[0].length = 16;
		expect_refusal(test, &wr.wr);
		t->sge[0].length = 8;
		wr.wr.num_sge = 2;
		expect_refusal(test, &wr.wr);
		wr.wr.num_sge = 0;
		expect_refusal(test, &wr.wr);
		wr.wr.num_sge = 1;
		wr.wr.send_flags = IB_SEND_INLINE;
		expect_refusal(test, &wr.wr);
	}
}

static void test_refused(struct kunit *test)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_SEND_WITH_IMM, IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, IB_WR_BIND_MW, IB_WR_REG_MR_INTEGRITY, 0xff,
	};
	static const int counts[] = {
		MAX_SGE + 1, KWARP_MAX_SGE, KWARP_MAX_SGE + 1, INT_MAX, -1, INT_MIN
	};
	struct post_test *t = test->priv;
	struct ib_rdma_wr wr = { .wr.sg_list = t->sge };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		wr.wr.opcode = ops[i];
		expect_refusal(test, &wr.wr);
	}
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		wr.wr.num_sge = counts[i];
		wr.wr.opcode = IB_WR_SEND;
		expect_refusal(test, &wr.wr);
		wr.wr.opcode = IB_WR_RDMA_WRITE;
		expect_refusal(test, &wr.wr);
	}
}

/* A message has less than 2^32 octets. */
static void test_sum(struct kunit *test)
{
	struct post_test *t = test->priv;
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = t->sge, .num_sge = 3 };

	t->sge[0].length = 0x80000000;
	t->sge[1].length = 0x7ffffff0;
	t->sge[2].length = 0xf;
	KUNIT_EXPECT_EQ(test, post_one(test, &wr)->len, U32_MAX);
	t->sge[2].length++;
	expect_refusal(test, &wr);
	t->sge[1].length = U32_MAX;
	expect_refusal(test, &wr);
}

static void test_inline(struct kunit *test)
{
	struct post_test *t = test->priv;
	struct ib_sge sge[3] = {
		{ .addr = (uintptr_t)t->data, .length = 100 },
		{ .addr = (uintptr_t)t->data + 100, .length = 0 },
		{ .addr = (uintptr_t)t->data + 100, .length = INLINE - 100 },
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_INLINE | IB_SEND_SIGNALED,
		.sg_list = sge, .num_sge = 3,
	};
	const struct kwarp_wqe *wqe = post_one(test, &wr);

	KUNIT_EXPECT_EQ(test, wqe->e.flags, KWARP_WR_INLINE | KWARP_WR_SIGNALED);
	KUNIT_EXPECT_EQ(test, wqe->e.num_sge, 0);
	KUNIT_EXPECT_EQ(test, wqe->len, INLINE);
	KUNIT_EXPECT_MEMEQ(test, wqe->data, t->data, INLINE);
	/* the request has a copy of the inline data */
	memset(t->data, 0, sizeof(t->data));
	KUNIT_EXPECT_EQ(test, wqe->data[0], 255);

	sge[2].length++;
	expect_refusal(test, &wr);
	sge[2].length = U32_MAX - 99;	/* the sum is 2^32 */
	expect_refusal(test, &wr);
	sge[0].length = INLINE + 1;
	wr.num_sge = 1;
	expect_refusal(test, &wr);
	wr.num_sge = 0;
	wqe = post_one(test, &wr);
	KUNIT_EXPECT_EQ(test, wqe->e.flags, KWARP_WR_INLINE | KWARP_WR_SIGNALED);
	KUNIT_EXPECT_EQ(test, wqe->len, 0);
}

static struct ib_send_wr *send_chain(struct kunit *test, u32 n, u64 first)
{
	struct ib_send_wr *wr = kunit_kcalloc(test, n, sizeof(*wr), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, wr);
	for (i = 0; i < n; i++) {
		wr[i].opcode = IB_WR_SEND;
		wr[i].wr_id = first + i;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	return wr;
}

static void expect_ids(struct kunit *test, u64 first, u32 n)
{
	struct post_test *t = test->priv;
	u32 i;

	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->wqe.e.id, first + i);
		t->sq.next++;
	}
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
}

/* A full ring takes no more requests. Only completion makes room again. */
static void test_full(struct kunit *test)
{
	struct post_test *t = test->priv;
	struct ib_send_wr *wr = send_chain(test, MAX_WR + 2, 0);
	const struct ib_send_wr *bad = NULL;
	const u32 start = U32_MAX - 2;

	t->sq.next = start;
	t->sq.retired = start;
	t->sq.posted = start;
	t->sq.ring.hdr->prod = start;
	t->sq.ring.hdr->cons = start;
	KUNIT_EXPECT_EQ(test, kwarp_sq_post(&t->sq, wr, &bad), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr[MAX_WR]);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->prod, start + MAX_WR);
	/* taking requests makes no room */
	expect_ids(test, 0, MAX_WR);
	KUNIT_EXPECT_EQ(test, kwarp_sq_post(&t->sq, bad, &bad), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr[MAX_WR]);

	t->sq.retired = start + 1;
	kwarp_ring_release(&t->sq.ring, start + 1);
	KUNIT_EXPECT_EQ(test, kwarp_sq_post(&t->sq, bad, &bad), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr[MAX_WR + 1]);
	expect_ids(test, MAX_WR, 1);
	t->sq.retired = start + MAX_WR;
	kwarp_ring_release(&t->sq.ring, start + MAX_WR);
	KUNIT_EXPECT_EQ(test, kwarp_sq_post(&t->sq, bad, &bad), 0);
	expect_ids(test, MAX_WR + 1, 1);
}

/* An invalid request ends the chain; the requests before it are posted. */
static void test_chain(struct kunit *test)
{
	struct post_test *t = test->priv;
	struct ib_send_wr *wr = send_chain(test, 4, 50);
	const struct ib_send_wr *bad = NULL;

	wr[2].num_sge = KWARP_MAX_SGE + 1;
	KUNIT_EXPECT_EQ(test, kwarp_sq_post(&t->sq, wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr[2]);
	expect_ids(test, 50, 2);
	wr[2].num_sge = 0;
	KUNIT_EXPECT_EQ(test, kwarp_sq_post(&t->sq, &wr[2], &bad), 0);
	expect_ids(test, 52, 2);
}

/* An entry has no remains of a longer request that was in its slot before. */
static void test_slot_reuse(struct kunit *test)
{
	struct post_test *t = test->priv;
	struct ib_rdma_wr write = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .send_flags = IB_SEND_FENCE,
			.sg_list = t->sge, .num_sge = MAX_SGE },
		.remote_addr = U64_MAX, .rkey = U32_MAX,
	};
	struct ib_send_wr send = { .opcode = IB_WR_SEND };
	const struct kwarp_sqe want = { .opcode = KWARP_WR_SEND };
	u32 i;

	for (i = 0; i < kwarp_ring_size(&t->sq.ring); i++)
		post_one(test, &write.wr);
	for (i = 0; i < kwarp_ring_size(&t->sq.ring); i++)
		KUNIT_EXPECT_MEMEQ(test, &post_one(test, &send)->e, &want, sizeof(want));
}

static struct kunit_case post_cases[] = {
	KUNIT_CASE(test_send),
	KUNIT_CASE(test_form),
	KUNIT_CASE(test_write_imm),
	KUNIT_CASE(test_atomic),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_sum),
	KUNIT_CASE(test_inline),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_chain),
	KUNIT_CASE(test_slot_reuse),
	{}
};

static struct kunit_suite post_suite = {
	.name = "kwarp_post",
	.init = post_test_init,
	.test_cases = post_cases,
};

kunit_test_suite(post_suite);
