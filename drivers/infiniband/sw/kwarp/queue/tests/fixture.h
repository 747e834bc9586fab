/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of queues: rings as user space uses them, and a CQ that counts the calls of
 * its handlers.
 *
 * Numbers such as 5040-5.4-8 name requirements of RFCs, see Documentation/conformance.
 */
#ifndef KWARP_QUEUE_FIXTURE_H
#define KWARP_QUEUE_FIXTURE_H

#include <kunit/test.h>

#include "../cq.h"

/* vendor_err of flushed requests. */
#define TEST_FLUSH_CODE	0x2301
#define TEST_QPN	0x123456

/*
 * @lost: calls of the event handler with IB_EVENT_CQ_ERR
 * @other: calls of a handler with another CQ or another event
 */
struct test_cq {
	struct kwarp_cq cq;
	u32 raised;
	u32 lost;
	u32 other;
};

static inline void test_ring_free(void *ring)
{
	kwarp_ring_fini(ring);
}

/* Make a ring. It is freed at the end of the test, so @ring has to exist until the end. */
static inline void test_ring_init(struct kunit *test, struct kwarp_ring *ring,
				  u32 entries, u32 stride)
{
	KUNIT_ASSERT_EQ(test, kwarp_ring_init(ring, entries, stride, false), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_ring_free, ring), 0);
}

static inline void test_comp_handler(struct ib_cq *ibcq, void *context)
{
	struct test_cq *t = context;

	if (ibcq == &t->cq.ibcq)
		t->raised++;
	else
		t->other++;
}

static inline void test_event_handler(struct ib_event *event, void *context)
{
	struct test_cq *t = context;

	if (event->event == IB_EVENT_CQ_ERR && event->element.cq == &t->cq.ibcq)
		t->lost++;
	else
		t->other++;
}

static inline struct test_cq *test_cq_new(struct kunit *test, u32 entries)
{
	struct test_cq *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	mutex_init(&t->cq.resize);
	spin_lock_init(&t->cq.lock);
	t->cq.ibcq.comp_handler = test_comp_handler;
	t->cq.ibcq.event_handler = test_event_handler;
	t->cq.ibcq.cq_context = t;
	test_ring_init(test, &t->cq.ring, entries, sizeof(struct kwarp_cqe));
	return t;
}

static inline void test_cq_start_at(struct test_cq *t, u32 index)
{
	t->cq.prod = index;
	t->cq.cons = index;
	t->cq.ring.hdr->prod = index;
	t->cq.ring.hdr->cons = index;
}

/* Return: the flag that makes the entry with this index valid. */
static inline u16 test_phase_of(const struct kwarp_ring *ring, u32 index)
{
	return index / kwarp_ring_size(ring) % 2 ? KWARP_CQE_ODD : KWARP_CQE_EVEN;
}

/* Poll like user space. Return: the oldest valid entry that has not been polled, or NULL. */
static inline const struct kwarp_cqe *test_cq_pop(struct test_cq *t)
{
	struct kwarp_ring_hdr *hdr = t->cq.ring.hdr;
	const struct kwarp_cqe *cqe = kwarp_ring_slot(&t->cq.ring, hdr->cons);
	u16 phase = cqe->flags & (KWARP_CQE_EVEN | KWARP_CQE_ODD);

	if (phase != test_phase_of(&t->cq.ring, hdr->cons))
		return NULL;
	hdr->cons++;
	return cqe;
}

static inline void test_cq_none(struct kunit *test, struct test_cq *t)
{
	KUNIT_EXPECT_NULL_MSG(test, test_cq_pop(t), "a completion that nobody expects");
	KUNIT_EXPECT_EQ_MSG(test, t->cq.ring.hdr->prod - t->cq.ring.hdr->cons, 0,
			    "completions that are not valid");
}

static inline void test_cq_expect(struct kunit *test, struct test_cq *t, u64 id,
				  u8 opcode, u8 status)
{
	const struct kwarp_cqe *cqe = test_cq_pop(t);

	KUNIT_ASSERT_NOT_NULL_MSG(test, cqe, "no completion of %llu", id);
	KUNIT_EXPECT_EQ(test, cqe->id, id);
	KUNIT_EXPECT_EQ_MSG(test, cqe->opcode, opcode, "id %llu", id);
	KUNIT_EXPECT_EQ_MSG(test, cqe->status, status, "id %llu", id);
	KUNIT_EXPECT_EQ(test, cqe->qpn, TEST_QPN);
	/* 5040-5.4-8: flushed entries have the reason in vendor_err, successful ones have 0 */
	if (status == KWARP_WC_SUCCESS || status == KWARP_WC_FLUSH_ERR)
		KUNIT_EXPECT_EQ_MSG(test, cqe->vendor_err, status ? TEST_FLUSH_CODE : 0,
				    "id %llu", id);
}

static inline void test_cq_add(struct kwarp_cq *cq, u64 id, u8 status, u32 flags, struct ib_qp *qp)
{
	struct kwarp_cqe cqe = {
		.id = id,
		.qpn = TEST_QPN,
		.status = status,
		.opcode = KWARP_WC_RECV,
		.flags = flags,
	};

	kwarp_cq_add(cq, &cqe, qp);
}

#endif /* KWARP_QUEUE_FIXTURE_H */
