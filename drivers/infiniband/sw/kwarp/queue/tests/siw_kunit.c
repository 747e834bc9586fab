// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of queues whose program uses siw's uABI: requests of libsiw are taken correctly, other
 * contents of its rings are refused, and libsiw rings its doorbell when it must.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <rdma/siw-abi.h>

#include "../rq.h"
#include "../sq.h"
#include "fixture.h"

#define ENTRIES	8

/**
 * struct siw_test - a queue pair's queues, and libsiw's indices
 * @sq: send queue
 * @rq: receive queue
 * @cq: completion queue of both
 * @qp: queue pair
 * @sq_put: libsiw's index of the next send to post
 * @rq_put: libsiw's index of the next receive to post
 * @cq_get: libsiw's index of the next completion
 * @wqe: send request that was taken last
 * @rwqe: receive that was taken last
 * @limit_hit: taking @rwqe passed the SRQ's limit
 */
struct siw_test {
	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct test_cq *cq;
	struct ib_qp qp;
	u32 sq_put;
	u32 rq_put;
	u32 cq_get;
	struct kwarp_wqe wqe;
	struct kwarp_rwqe rwqe;
	bool limit_hit;
};

static int siw_test_init(struct kunit *test)
{
	struct siw_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->qp.qp_num = TEST_QPN;
	t->cq = test_cq_new(test, 1);
	t->cq->cq.siw = kwarp_siw_new_cq(4 * ENTRIES);
	t->sq.user = true;
	t->sq.cq = &t->cq->cq;
	t->sq.ibqp = &t->qp;
	t->rq.user = true;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, ENTRIES,
					    kwarp_sqe_stride(SIW_MAX_SGE, SIW_MAX_INLINE)), 0);
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&t->rq, ENTRIES, kwarp_rqe_stride(SIW_MAX_SGE)), 0);
	t->sq.siw = kwarp_siw_new_sq(ENTRIES);
	t->rq.siw = kwarp_siw_new_rq(ENTRIES);
	KUNIT_ASSERT_NOT_NULL(test, t->cq->cq.siw);
	KUNIT_ASSERT_NOT_NULL(test, t->sq.siw);
	KUNIT_ASSERT_NOT_NULL(test, t->rq.siw);
	return 0;
}

static void siw_test_exit(struct kunit *test)
{
	struct siw_test *t = test->priv;

	if (!t)
		return;
	kwarp_siw_free_wq(t->sq.siw);
	kwarp_siw_free_wq(t->rq.siw);
	kwarp_siw_free_cq(t->cq->cq.siw);
	kwarp_ring_fini(&t->sq.ring);
	kwarp_ring_fini(&t->rq.ring);
	kvfree(t->sq.done);
}

/* ----------------------------------------------------------------- libsiw's part */

static struct siw_sqe *sqe_at(struct siw_test *t, u32 index)
{
	return (struct siw_sqe *)t->sq.siw->mem + index % kwarp_siw_wq_size(t->sq.siw);
}

static struct siw_rqe *rqe_at(struct siw_test *t, u32 index)
{
	return (struct siw_rqe *)t->rq.siw->mem + index % kwarp_siw_wq_size(t->rq.siw);
}

/* Post one request like siw_post_send(). Return: 1: libsiw rings its doorbell; 0; -ENOMEM. */
static int post_send(struct siw_test *t, const struct siw_sqe *e)
{
	struct siw_sqe *slot = sqe_at(t, t->sq_put);
	bool rings;

	if (slot->flags & SIW_WQE_VALID)
		return -ENOMEM;
	*slot = *e;
	slot->flags |= SIW_WQE_VALID;
	rings = !(sqe_at(t, t->sq_put - 1)->flags & SIW_WQE_VALID);
	t->sq_put++;
	return rings;
}

static int post_write(struct siw_test *t, u64 id)
{
	const struct siw_sqe e = {
		.id = id, .opcode = SIW_OP_WRITE, .flags = SIW_WQE_SIGNALLED, .num_sge = 1,
		.sge = { { .laddr = 0x1000, .length = 64, .lkey = 0x100 } },
	};

	return post_send(t, &e);
}

static int post_recv(struct siw_test *t, u64 id, u8 num_sge)
{
	struct siw_rqe *slot = rqe_at(t, t->rq_put);

	if (slot->flags & SIW_WQE_VALID)
		return -ENOMEM;
	*slot = (struct siw_rqe) {
		.id = id, .num_sge = num_sge,
		.sge = { { .laddr = 0x2000, .length = id, .lkey = 0x200 } },
	};
	slot->flags = SIW_WQE_VALID;
	t->rq_put++;
	return 0;
}

/* Poll like siw_poll_cq(). */
static bool poll_cq(struct siw_test *t, struct siw_cqe *cqe)
{
	struct kwarp_siw_cq *cq = t->cq->cq.siw;
	struct siw_cqe *slot = &cq->mem[t->cq_get % kwarp_siw_cq_size(cq)];

	if (!(slot->flags & SIW_WQE_VALID))
		return false;
	*cqe = *slot;
	slot->flags = 0;
	t->cq_get++;
	return true;
}

static void expect_cqe(struct kunit *test, u64 id, u8 opcode, u16 status)
{
	struct siw_cqe cqe = {};

	KUNIT_ASSERT_TRUE_MSG(test, poll_cq(test->priv, &cqe), "no completion of %llu", id);
	KUNIT_EXPECT_EQ(test, cqe.id, id);
	KUNIT_EXPECT_EQ_MSG(test, cqe.opcode, opcode, "id %llu", id);
	KUNIT_EXPECT_EQ_MSG(test, cqe.status, status, "id %llu", id);
	KUNIT_EXPECT_EQ(test, cqe.qp_id, TEST_QPN);
}

static void expect_no_cqe(struct kunit *test)
{
	struct siw_cqe cqe;

	KUNIT_EXPECT_FALSE(test, poll_cq(test->priv, &cqe));
}

/* ------------------------------------------------------------------------- sends */

static const struct {
	u8 siw;
	enum kwarp_take take;
	u8 opcode;
} opcodes[] = {
	{ SIW_OP_WRITE, KWARP_TAKE_OK, KWARP_WR_WRITE },
	{ SIW_OP_READ, KWARP_TAKE_OK, KWARP_WR_READ },
	{ SIW_OP_READ_LOCAL_INV, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_SEND, KWARP_TAKE_OK, KWARP_WR_SEND },
	{ SIW_OP_SEND_WITH_IMM, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_SEND_REMOTE_INV, KWARP_TAKE_OK, KWARP_WR_SEND_INV },
	{ SIW_OP_FETCH_AND_ADD, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_COMP_AND_SWAP, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_RECEIVE, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_READ_RESPONSE, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_INVAL_STAG, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_REG_MR, KWARP_TAKE_BAD, 0 },
	{ 255, KWARP_TAKE_BAD, 0 },
};

static void test_opcodes(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const struct siw_sqe e = {
			.id = 100 + i, .opcode = opcodes[i].siw, .num_sge = 1,
			.flags = SIW_WQE_SOLICITED | SIW_WQE_READ_FENCE,
			.raddr = 0x123456789abcdef0, .rkey = 0x4711,
			.sge = { { .laddr = 0x1000, .length = 64, .lkey = 0x100 } },
		};
		enum kwarp_take take;

		KUNIT_ASSERT_GE(test, post_send(t, &e), 0);
		take = kwarp_sq_peek(&t->sq, &t->wqe);
		KUNIT_EXPECT_EQ_MSG(test, take, opcodes[i].take, "opcode %u", opcodes[i].siw);
		KUNIT_EXPECT_EQ(test, t->wqe.e.id, 100 + i);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
		if (opcodes[i].siw == SIW_OP_READ)
			kwarp_sq_answered(&t->sq, i);
		if (take != KWARP_TAKE_OK)
			continue;
		KUNIT_EXPECT_EQ(test, t->wqe.e.opcode, opcodes[i].opcode);
		KUNIT_EXPECT_EQ(test, t->wqe.e.flags, KWARP_WR_SOLICITED | KWARP_WR_FENCE);
		KUNIT_EXPECT_EQ(test, t->wqe.e.raddr, 0x123456789abcdef0);
		KUNIT_EXPECT_EQ(test, t->wqe.e.rkey, 0x4711);
		KUNIT_EXPECT_EQ(test, t->wqe.len, 64);
		KUNIT_EXPECT_EQ(test, t->wqe.sge[0].lkey, 0x100);
		if (opcodes[i].opcode == KWARP_WR_SEND_INV)
			KUNIT_EXPECT_EQ(test, t->wqe.e.inv_stag, 0x4711);
	}
}

static const struct {
	const char *what;
	u16 flags;
	u8 num_sge;
	u32 len;
	enum kwarp_take take;
} bodies[] = {
	{ "no element", 0, 0, 10, KWARP_TAKE_OK },
	{ "six elements", 0, 6, 10, KWARP_TAKE_OK },
	{ "seven elements", 0, 7, 10, KWARP_TAKE_BAD },
	{ "255 elements", 0, 255, 10, KWARP_TAKE_BAD },
	{ "more than 4 GiB", 0, 2, U32_MAX, KWARP_TAKE_BAD },
	{ "nothing inline", SIW_WQE_INLINE, 3, 0, KWARP_TAKE_OK },
	{ "80 octets inline", SIW_WQE_INLINE, 200, 80, KWARP_TAKE_OK },
	{ "81 octets inline", SIW_WQE_INLINE, 1, 81, KWARP_TAKE_BAD },
	{ "4 GiB inline", SIW_WQE_INLINE, 1, U32_MAX, KWARP_TAKE_BAD },
};

static void test_bodies(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct siw_sqe e = {
			.id = i, .opcode = SIW_OP_SEND, .num_sge = bodies[i].num_sge,
			.flags = bodies[i].flags,
		};
		enum kwarp_take take;

		for (k = 0; k < SIW_MAX_SGE; k++)
			e.sge[k].length = bodies[i].len;
		if (bodies[i].flags & SIW_WQE_INLINE)
			memset(&e.sge[1], 0xa5, SIW_MAX_INLINE);
		KUNIT_ASSERT_GE(test, post_send(t, &e), 0);
		take = kwarp_sq_peek(&t->sq, &t->wqe);
		KUNIT_EXPECT_EQ_MSG(test, take, bodies[i].take, "%s", bodies[i].what);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
		if (take != KWARP_TAKE_OK)
			continue;
		if (!(bodies[i].flags & SIW_WQE_INLINE)) {
			KUNIT_EXPECT_EQ(test, t->wqe.len, bodies[i].num_sge * bodies[i].len);
			continue;
		}
		KUNIT_EXPECT_EQ(test, t->wqe.len, bodies[i].len);
		for (k = 0; k < bodies[i].len; k++)
			KUNIT_EXPECT_EQ(test, t->wqe.data[k], 0xa5);
	}
}

static void take_all(struct kunit *test, u64 first, u32 n)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->wqe.e.id, first + i);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
	}
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
}

/* libsiw rings its doorbell only if there is no transmit runner. */
static void test_doorbell(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 seen;

	KUNIT_EXPECT_EQ(test, post_write(t, 0), 1);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_empty(&t->sq));
	/* There is a transmit runner now. */
	kwarp_sq_tell(&t->sq, 0);
	KUNIT_EXPECT_EQ(test, post_write(t, 1), 0);
	seen = kwarp_sq_posted(&t->sq);
	KUNIT_EXPECT_EQ(test, seen, 2);
	take_all(test, 0, 2);
	KUNIT_EXPECT_EQ(test, post_write(t, 2), 0);
	take_all(test, 2, 1);
	/* The runner is about to end: it sees requests that were posted before it set NEED_KICK. */
	seen = kwarp_sq_posted(&t->sq);
	KUNIT_EXPECT_EQ(test, post_write(t, 3), 0);
	kwarp_sq_tell(&t->sq, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_NE(test, kwarp_sq_posted(&t->sq), seen);
	KUNIT_EXPECT_EQ(test, post_write(t, 4), 1);
	take_all(test, 3, 2);
	KUNIT_EXPECT_EQ(test, post_write(t, 5), 1);
}

/* When all requests have completed, the program can post as many again. */
static void test_room(struct kunit *test)
{
	struct siw_test *t = test->priv;
	struct siw_cqe cqe;
	u32 round, i;

	kwarp_sq_tell(&t->sq, 0);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ENTRIES; i++)
			KUNIT_ASSERT_GE(test, post_write(t, round * ENTRIES + i), 0);
		take_all(test, round * ENTRIES, ENTRIES);
		for (i = 0; i < ENTRIES; i++)
			KUNIT_EXPECT_TRUE(test, poll_cq(t, &cqe));
	}
}

/* Requests beyond the limit wait, and none is lost. */
static void test_full(struct kunit *test)
{
	struct siw_test *t = test->priv;
	struct siw_sqe e = {
		.id = 0, .opcode = SIW_OP_READ, .flags = SIW_WQE_SIGNALLED, .num_sge = 1,
		.sge = { { .length = 64 } },
	};
	u32 i, posted = 0, index;

	kwarp_sq_tell(&t->sq, 0);
	for (; post_send(t, &e) >= 0; e.id++)
		posted++;
	KUNIT_EXPECT_EQ(test, posted, 2 * ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
	}
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_empty(&t->sq));
	/* kwarp_sq_has_unmoved() tells a runner of waiting requests, although they cannot be moved. */
	i = kwarp_sq_posted(&t->sq);
	kwarp_sq_tell(&t->sq, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, kwarp_sq_posted(&t->sq), i);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_has_unmoved(&t->sq));
	kwarp_sq_answered(&t->sq, 0);
	expect_cqe(test, 0, SIW_OP_READ, SIW_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->wqe.e.id, ENTRIES);
	index = kwarp_sq_take(&t->sq, &t->wqe);
	KUNIT_EXPECT_EQ(test, index, ENTRIES);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	/* A flush completes all of them. */
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	for (i = 1; i < posted; i++)
		expect_cqe(test, i, SIW_OP_READ, SIW_WC_WR_FLUSH_ERR);
	expect_no_cqe(test);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
}

/* A graceful close sends the requests that were posted before it. */
static void test_posted_all(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, kwarp_sq_posted_all(&t->sq), 0);
	for (i = 0; i < ENTRIES; i++)
		post_write(t, i);
	KUNIT_EXPECT_EQ(test, kwarp_sq_posted_all(&t->sq), ENTRIES);
	take_all(test, 0, ENTRIES);
	/* Later requests are flushed. */
	post_write(t, ENTRIES);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	for (i = 0; i < ENTRIES; i++)
		expect_cqe(test, i, SIW_OP_WRITE, SIW_WC_SUCCESS);
	expect_cqe(test, ENTRIES, SIW_OP_WRITE, SIW_WC_WR_FLUSH_ERR);
}

/* After a RESET libsiw posts into the next slot, not into the first. */
static void test_reset(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < 3; i++) {
		post_write(t, i);
		post_recv(t, i, 1);
	}
	kwarp_sq_tell(&t->sq, 0);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_OK);
	post_write(t, 3);
	post_recv(t, 3, 1);
	kwarp_sq_reset(&t->sq);
	kwarp_rq_reset(&t->rq);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_NONE);
	KUNIT_EXPECT_EQ(test, post_write(t, 20), 1);
	take_all(test, 20, 1);
	post_recv(t, 21, 1);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 21);
}

/* If all entries of the ring always have VALID set, only that queue is affected. */
static void test_scribble(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	kwarp_sq_tell(&t->sq, 0);
	for (i = 0; i < 100; i++) {
		memset(t->sq.siw->mem, 0xff, t->sq.siw->len);
		memset(t->rq.siw->mem, 0xff, t->rq.siw->len);
		KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_BAD);
		KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
				KWARP_TAKE_BAD);
		kwarp_sq_failed(&t->sq, kwarp_sq_take(&t->sq, &t->wqe), KWARP_WC_LOC_QP_OP_ERR, 0);
		kwarp_sq_flush(&t->sq, 0);
		kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, 0);
	}
	KUNIT_EXPECT_TRUE(test, t->cq->cq.overflow);
}

/* ---------------------------------------------------------------------- receives */

static void test_recv(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 round, i;

	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_NONE);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ENTRIES; i++)
			KUNIT_ASSERT_EQ(test, post_recv(t, 10 * round + i, i & 1), 0);
		KUNIT_EXPECT_EQ(test, post_recv(t, 1, 1), -ENOMEM);
		for (i = 0; i < ENTRIES; i++) {
			KUNIT_ASSERT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
					KWARP_TAKE_OK);
			KUNIT_EXPECT_EQ(test, t->rwqe.id, 10 * round + i);
			KUNIT_EXPECT_EQ(test, t->rwqe.len, i & 1 ? 10 * round + i : 0);
		}
		KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
				KWARP_TAKE_NONE);
	}
	KUNIT_ASSERT_EQ(test, post_recv(t, 1, SIW_MAX_SGE + 1), 0);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_BAD);
}

/* Entries in the program's ring count for the SRQ limit. */
static void test_limit(struct kunit *test)
{
	struct siw_test *t = test->priv;
	bool more = false;
	u32 left;

	t->rq.limit = 4;
	for (left = 0; left < ENTRIES; left++)
		post_recv(t, left, 1);
	while (left--) {
		KUNIT_ASSERT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
				KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ_MSG(test, t->limit_hit, left == 3, "%u left", left);
		if (left != 6 || more)
			continue;
		more = true;
		/* Two more receives, which are not moved yet. */
		post_recv(t, 1, 1);
		post_recv(t, 1, 1);
		left += 2;
	}
}

static void test_recv_flush(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < 3; i++)
		post_recv(t, i, 1);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_OK);
	for (; i < ENTRIES; i++)
		post_recv(t, i, 1);
	kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, TEST_FLUSH_CODE);
	for (i = 1; i < ENTRIES; i++)
		expect_cqe(test, i, SIW_OP_RECEIVE, SIW_WC_WR_FLUSH_ERR);
	expect_no_cqe(test);
}

/* ------------------------------------------------------------------- completions */

static void push_cqe(struct siw_test *t, const struct kwarp_cqe *cqe)
{
	unsigned long irqflags = kwarp_cq_begin(&t->cq->cq);

	kwarp_cq_add(&t->cq->cq, cqe, &t->qp);
	kwarp_cq_notify(&t->cq->cq, kwarp_cq_end(&t->cq->cq, irqflags));
}

/* Opcode and status of all completions are valid indices of libsiw's tables. */
static void test_tables(struct kunit *test)
{
	struct siw_test *t = test->priv;
	struct siw_cqe cqe;
	u32 i;

	for (i = 0; i < 256; i++) {
		push_cqe(t, &(struct kwarp_cqe){ .id = i, .opcode = i, .qpn = TEST_QPN });
		KUNIT_ASSERT_TRUE(test, poll_cq(t, &cqe));
		KUNIT_EXPECT_LE_MSG(test, cqe.opcode, SIW_OP_RECEIVE, "opcode %u", i);
		push_cqe(t, &(struct kwarp_cqe){ .id = i, .status = i, .qpn = TEST_QPN });
		KUNIT_ASSERT_TRUE(test, poll_cq(t, &cqe));
		KUNIT_EXPECT_LT_MSG(test, cqe.status, SIW_NUM_WC_STATUS, "status %u", i);
		KUNIT_EXPECT_EQ(test, cqe.status == SIW_WC_SUCCESS, !i);
	}
}

static void test_cq_full(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i, size = kwarp_siw_cq_size(t->cq->cq.siw);

	for (i = 0; i < size; i++)
		push_cqe(t, &(struct kwarp_cqe){ .id = i, .qpn = TEST_QPN });
	KUNIT_EXPECT_FALSE(test, t->cq->cq.overflow);
	push_cqe(t, &(struct kwarp_cqe){ .id = i, .qpn = TEST_QPN });
	KUNIT_EXPECT_TRUE(test, t->cq->cq.overflow);
	KUNIT_EXPECT_EQ(test, t->cq->lost, 1);
	for (i = 0; i < size; i++)
		expect_cqe(test, i, SIW_OP_WRITE, SIW_WC_SUCCESS);
	expect_no_cqe(test);
}

static void test_arm(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 *flags = &t->cq->cq.siw->ctrl->flags;
	struct kwarp_cqe plain = { .qpn = TEST_QPN }, solicited = plain, failed = plain;

	solicited.flags = KWARP_CQE_SOLICITED;
	failed.status = KWARP_WC_FLUSH_ERR;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 0);
	*flags = SIW_NOTIFY_SOLICITED | SIW_NOTIFY_NEXT_COMPLETION;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 1);
	KUNIT_EXPECT_EQ(test, *flags, SIW_NOTIFY_NOT);
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 1);
	*flags = SIW_NOTIFY_SOLICITED;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 1);
	push_cqe(t, &solicited);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 2);
	*flags = SIW_NOTIFY_SOLICITED;
	push_cqe(t, &failed);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 3);
	*flags = U32_MAX;
	push_cqe(t, &plain);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 4);
}

static struct kunit_case siw_cases[] = {
	KUNIT_CASE(test_opcodes),
	KUNIT_CASE(test_bodies),
	KUNIT_CASE(test_doorbell),
	KUNIT_CASE(test_room),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_posted_all),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_scribble),
	KUNIT_CASE(test_recv),
	KUNIT_CASE(test_limit),
	KUNIT_CASE(test_recv_flush),
	KUNIT_CASE(test_tables),
	KUNIT_CASE(test_cq_full),
	KUNIT_CASE(test_arm),
	{}
};

static struct kunit_suite siw_suite = {
	.name = "kwarp_siw",
	.init = siw_test_init,
	.exit = siw_test_exit,
	.test_cases = siw_cases,
};

kunit_test_suite(siw_suite);
