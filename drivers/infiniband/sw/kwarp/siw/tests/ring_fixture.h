/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queues of a program that uses libsiw, and libsiw's part: functions that post to the program's
 * rings and poll them as libsiw does.
 */
#ifndef KWARP_SIW_TESTS_RING_FIXTURE_H
#define KWARP_SIW_TESTS_RING_FIXTURE_H

#include <kunit/test.h>
#include <rdma/siw-abi.h>

#include "../../queue/rq.h"
#include "../../queue/sq.h"
#include "../../queue/tests/fixture.h"
#include "../ring.h"

#define ENTRIES	8

/*
 * @send, @recv, @comp: libsiw's rings
 * @sq_put: libsiw's index of the next send to post
 * @rq_put: libsiw's index of the next receive to post
 * @cq_get: libsiw's index of the next completion to poll
 * @limit_hit: result of kwarp_rq_take() for @rwqe: fewer receives are left than the SRQ limit
 */
struct siw_test {
	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct test_cq *cq;
	struct kwarp_siw_ring *send;
	struct kwarp_siw_ring *recv;
	struct kwarp_siw_ring *comp;
	struct ib_qp qp;
	u32 sq_put;
	u32 rq_put;
	u32 cq_get;
	struct kwarp_wqe wqe;
	struct kwarp_rwqe rwqe;
	bool limit_hit;
};

static inline int siw_test_init(struct kunit *test)
{
	struct siw_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->send = kwarp_siw_new_sq(ENTRIES, NULL);
	t->recv = kwarp_siw_new_rq(ENTRIES, NULL);
	t->comp = kwarp_siw_new_cq(4 * ENTRIES, NULL);
	KUNIT_ASSERT_NOT_NULL(test, t->send);
	KUNIT_ASSERT_NOT_NULL(test, t->recv);
	KUNIT_ASSERT_NOT_NULL(test, t->comp);
	test->priv = t;
	t->qp.qp_num = TEST_QPN;
	t->cq = test_cq_new(test, 1);
	t->cq->cq.foreign = &t->comp->foreign;
	t->sq.user = true;
	t->sq.cq = &t->cq->cq;
	t->sq.ibqp = &t->qp;
	t->rq.user = true;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, ENTRIES,
					    kwarp_sqe_stride(SIW_MAX_SGE, SIW_MAX_INLINE)), 0);
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&t->rq, ENTRIES, kwarp_rqe_stride(SIW_MAX_SGE)), 0);
	t->sq.foreign = &t->send->foreign;
	t->rq.foreign = &t->recv->foreign;
	return 0;
}

static inline void siw_test_exit(struct kunit *test)
{
	struct siw_test *t = test->priv;

	if (!t)
		return;
	kwarp_siw_free(t->send);
	kwarp_siw_free(t->recv);
	kwarp_siw_free(t->comp);
	kwarp_ring_fini(&t->sq.ring);
	kwarp_ring_fini(&t->rq.ring);
	kvfree(t->sq.done);
}

/* ----------------------------------------------------------------- libsiw's part */

static inline struct siw_sqe *sqe_at(struct siw_test *t, u32 index)
{
	return (struct siw_sqe *)t->send->mem + index % t->send->foreign.size;
}

static inline struct siw_rqe *rqe_at(struct siw_test *t, u32 index)
{
	return (struct siw_rqe *)t->recv->mem + index % t->recv->foreign.size;
}

/*
 * Post one request like libsiw's siw_post_send(). Return: 1: libsiw would ring its doorbell now; 0:
 * libsiw would not; -ENOMEM: the ring is full.
 */
static inline int post_send(struct siw_test *t, const struct siw_sqe *e)
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

static inline int post_write(struct siw_test *t, u64 id)
{
	const struct siw_sqe e = {
		.id = id, .opcode = SIW_OP_WRITE, .flags = SIW_WQE_SIGNALLED, .num_sge = 1,
		.sge = { { .laddr = 0x1000, .length = 64, .lkey = 0x100 } },
	};

	return post_send(t, &e);
}

static inline int post_recv(struct siw_test *t, u64 id, u8 num_sge)
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

/* Poll one completion like libsiw's siw_poll_cq(). Return: false: there is none. */
static inline bool poll_cq(struct siw_test *t, struct siw_cqe *cqe)
{
	struct siw_cqe *slot = (struct siw_cqe *)t->comp->mem + t->cq_get % t->comp->foreign.size;

	if (!(slot->flags & SIW_WQE_VALID))
		return false;
	*cqe = *slot;
	slot->flags = 0;
	t->cq_get++;
	return true;
}

static inline void expect_cqe(struct kunit *test, u64 id, u8 opcode, u16 status)
{
	struct siw_cqe cqe = {};

	KUNIT_ASSERT_TRUE_MSG(test, poll_cq(test->priv, &cqe), "no completion of %llu", id);
	KUNIT_EXPECT_EQ(test, cqe.id, id);
	KUNIT_EXPECT_EQ_MSG(test, cqe.opcode, opcode, "id %llu", id);
	KUNIT_EXPECT_EQ_MSG(test, cqe.status, status, "id %llu", id);
	KUNIT_EXPECT_EQ(test, cqe.qp_id, TEST_QPN);
}

static inline void expect_no_cqe(struct kunit *test)
{
	struct siw_cqe cqe;

	KUNIT_EXPECT_FALSE(test, poll_cq(test->priv, &cqe));
}

#endif /* KWARP_SIW_TESTS_RING_FIXTURE_H */
