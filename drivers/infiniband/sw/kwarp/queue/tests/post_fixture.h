/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A send queue and a receive queue for the tests of posting by kernel consumers. */
#ifndef KWARP_QUEUE_POST_FIXTURE_H
#define KWARP_QUEUE_POST_FIXTURE_H

#include <kunit/test.h>
#include <linux/mm.h>

#include "../rq.h"
#include "../sq.h"

#define MAX_WR	8	/* size of the rings */
#define MAX_SGE	13	/* SGEs of a send: an entry of 256 octets has room for 13 of 16 octets */
#define INLINE	208	/* inline octets of a send: room after the header (48) of such an entry */
#define RQ_SGE	2	/* SGEs of a receive; an entry of 64 octets has room for 3 */

struct post_test {
	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct kwarp_wqe wqe;
	struct kwarp_rwqe rwqe;
	struct ib_sge sge[KWARP_MAX_SGE + 1];
	u8 data[INLINE + 1];
};

static inline void free_queues(void *test)
{
	struct post_test *t = test;

	kvfree(t->sq.done);
	kwarp_ring_fini(&t->sq.ring);
	if (t->rq.ring.hdr)
		kwarp_ring_fini(&t->rq.ring);
}

static inline int post_test_init(struct kunit *test)
{
	struct post_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->rq.max_sge = RQ_SGE;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, MAX_WR, kwarp_sqe_stride(MAX_SGE, 0)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_queues, t), 0);
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&t->rq, MAX_WR, kwarp_rqe_stride(RQ_SGE)), 0);
	for (i = 0; i < ARRAY_SIZE(t->sge); i++) {
		t->sge[i].addr = 0x8000000000000000ULL + i;
		t->sge[i].length = 1000 + i;
		t->sge[i].lkey = 0xcc00 + i;
	}
	for (i = 0; i < sizeof(t->data); i++)
		t->data[i] = 255 - i;
	test->priv = t;
	return 0;
}

#endif /* KWARP_QUEUE_POST_FIXTURE_H */
