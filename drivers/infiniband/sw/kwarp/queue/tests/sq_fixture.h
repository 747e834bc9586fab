/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A send queue of user space, and functions that post to it and take from it */
#ifndef KWARP_QUEUE_SQ_FIXTURE_H
#define KWARP_QUEUE_SQ_FIXTURE_H

#include <kunit/test.h>
#include <linux/mm.h>

#include "../sq.h"
#include "fixture.h"

#define ENTRIES	8

struct sq_test {
	struct kwarp_sq sq;
	struct ib_qp qp;
	struct test_cq *cq;
	struct kwarp_wqe wqe;
};

static inline void free_done(void *sq)
{
	kvfree(((struct kwarp_sq *)sq)->done);
	kwarp_ring_fini(&((struct kwarp_sq *)sq)->ring);
}

static inline int sq_test_init(struct kunit *test)
{
	struct sq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->cq = test_cq_new(test, 64);
	t->qp.qp_num = TEST_QPN;
	t->sq.cq = &t->cq->cq;
	t->sq.ibqp = &t->qp;
	t->sq.user = true;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, ENTRIES, kwarp_sqe_stride(1, 0)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_done, &t->sq), 0);
	test->priv = t;
	return 0;
}

static inline void start_at(struct sq_test *t, u32 index)
{
	t->sq.next = index;
	t->sq.sent = index;
	t->sq.retired = index;
	t->sq.ring.hdr->prod = index;
	t->sq.ring.hdr->cons = index;
}

/* User space posts a request with one element of @id octets (a Local Invalidate has none). */
static inline void post_send(struct sq_test *t, u64 id, u8 opcode, u16 flags)
{
	struct kwarp_ring_hdr *hdr = t->sq.ring.hdr;
	struct kwarp_sqe *e = kwarp_ring_slot(&t->sq.ring, hdr->prod);
	struct kwarp_sge *sge = (struct kwarp_sge *)(e + 1);

	memset(e, 0, t->sq.ring.stride);
	e->id = id;
	e->opcode = opcode;
	e->flags = flags;
	if (opcode != KWARP_WR_LOCAL_INV) {
		e->num_sge = 1;
		sge->length = id;
	}
	hdr->prod++;
}

static inline void post_signaled(struct sq_test *t, u64 id, u8 opcode)
{
	post_send(t, id, opcode, KWARP_WR_SIGNALED);
}

static inline u32 take_send(struct kunit *test, u64 id)
{
	struct sq_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_ASSERT_EQ(test, t->wqe.e.id, id);
	return kwarp_sq_take(&t->sq, &t->wqe);
}

static inline void expect_cqe(struct kunit *test, u64 id, u8 opcode, u8 status)
{
	struct sq_test *t = test->priv;

	test_cq_expect(test, t->cq, id, opcode, status);
}

static inline void expect_none(struct kunit *test)
{
	struct sq_test *t = test->priv;

	test_cq_none(test, t->cq);
}

static inline u32 ring_cons(const struct sq_test *t)
{
	return t->sq.ring.hdr->cons;
}

#endif /* KWARP_QUEUE_SQ_FIXTURE_H */
