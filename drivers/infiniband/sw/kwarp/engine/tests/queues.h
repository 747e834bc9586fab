/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Real queues for the engine's suites. They are freed when the test ends. */
#ifndef KWARP_ENGINE_TESTS_QUEUES_H
#define KWARP_ENGINE_TESTS_QUEUES_H

#include "../../queue/readq.h"
#include "../../queue/sq.h"
#include "../../queue/tests/fixture.h"

static inline void test_sq_free(void *sq)
{
	kvfree(((struct kwarp_sq *)sq)->done);
	kwarp_ring_fini(&((struct kwarp_sq *)sq)->ring);
}

static inline void test_sq_init(struct kunit *test, struct kwarp_sq *sq, struct test_cq *cq,
				struct ib_qp *qp, u32 entries, u32 inl)
{
	sq->cq = &cq->cq;
	sq->ibqp = qp;
	sq->user = true;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(sq, entries, kwarp_sqe_stride(1, inl)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_sq_free, sq), 0);
}

static inline void test_readq_free(void *q)
{
	kwarp_readq_fini(q);
}

static inline void test_readq_init(struct kunit *test, struct kwarp_readq *q, u32 depth,
				   size_t entry)
{
	KUNIT_ASSERT_EQ(test, kwarp_readq_init(q, depth, entry), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_readq_free, q), 0);
}

#endif /* KWARP_ENGINE_TESTS_QUEUES_H */
