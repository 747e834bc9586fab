// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of completion queues: publication of entries, arming (asking for an event), events,
 * overflow, resizing. Batch: the entries that are added between kwarp_cq_begin() and
 * kwarp_cq_end(), and notified together.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/timekeeping.h>

#include "fixture.h"

#include "../../limits.h"

#define ENTRIES	4

static int cq_test_init(struct kunit *test)
{
	test->priv = test_cq_new(test, ENTRIES);
	return 0;
}

static u32 push_entry(struct kwarp_cq *cq, u64 id, u8 status, u32 flags)
{
	unsigned long irqflags = kwarp_cq_begin(cq);

	test_cq_add(cq, id, status, flags, NULL);
	return kwarp_cq_end(cq, irqflags);
}

static void expect_entries(struct kunit *test, u64 id)
{
	test_cq_expect(test, test->priv, id, KWARP_WC_RECV, KWARP_WC_SUCCESS);
}

static void test_publication(struct kunit *test)
{
	struct test_cq *t = test->priv;
	const struct kwarp_cqe want = {
		.id = U64_MAX - 1, .qpn = 3, .byte_len = 4, .inv_stag = 5,
		.status = KWARP_WC_REM_OP_ERR, .opcode = KWARP_WC_RECV_INV,
		.flags = KWARP_CQE_SOLICITED | KWARP_CQE_ODD,
	};
	unsigned long irqflags;

	test_cq_start_at(t, U32_MAX - 1);
	irqflags = kwarp_cq_begin(&t->cq);
	test_cq_add(&t->cq, 1, KWARP_WC_SUCCESS, 0, NULL);
	/* a program sees an entry at once; the index is stored at the end of the batch */
	expect_entries(test, 1);
	kwarp_cq_add(&t->cq, &want, NULL);
	test_cq_add(&t->cq, 2, KWARP_WC_SUCCESS, 0, NULL);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->prod, U32_MAX - 1);
	KUNIT_EXPECT_EQ(test, kwarp_cq_end(&t->cq, irqflags), 0);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->prod, 1);
	KUNIT_EXPECT_MEMEQ(test, test_cq_pop(t), &want, sizeof(want));
	expect_entries(test, 2);
	test_cq_none(test, t);
	/* only test_cq_pop() has advanced cons: by 3, from U32_MAX - 1 */
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->cons, 1);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, 0);
}

static void test_phase(struct kunit *test)
{
	struct test_cq *t = test->priv;
	const u32 first = U32_MAX - ENTRIES;
	u32 i;

	test_cq_start_at(t, first);
	for (i = 0; i < 4 * ENTRIES; i++) {
		const struct kwarp_cqe *cqe = kwarp_ring_slot(&t->cq.ring, first + i);

		KUNIT_EXPECT_NULL(test, test_cq_pop(t));
		/* the phase that a caller gives does not matter */
		push_entry(&t->cq, i, KWARP_WC_SUCCESS,
			   KWARP_CQE_SOLICITED | (i % 3 ? KWARP_CQE_EVEN : KWARP_CQE_ODD));
		KUNIT_EXPECT_EQ(test, cqe->flags,
				KWARP_CQE_SOLICITED | test_phase_of(&t->cq.ring, first + i));
		expect_entries(test, i);
	}
}

struct arm_case {
	const char *desc;
	u32 arm;
	u8 status;
	u32 flags;
	bool raise;
};

static const struct arm_case arms[] = {
	{ "not armed", 0, KWARP_WC_FATAL_ERR, KWARP_CQE_SOLICITED, false },
	{ "next", KWARP_CQ_ARM_NEXT, KWARP_WC_SUCCESS, 0, true },
	{ "next, solicited", KWARP_CQ_ARM_NEXT, KWARP_WC_SUCCESS, KWARP_CQE_SOLICITED, true },
	{ "solicited, not", KWARP_CQ_ARM_SOLICITED, KWARP_WC_SUCCESS, 0, false },
	{ "solicited", KWARP_CQ_ARM_SOLICITED, KWARP_WC_SUCCESS, KWARP_CQE_SOLICITED, true },
	{ "solicited, failed", KWARP_CQ_ARM_SOLICITED, KWARP_WC_LOC_LEN_ERR, 0, true },
	{ "solicited, flushed", KWARP_CQ_ARM_SOLICITED, KWARP_WC_FLUSH_ERR, 0, true },
	{ "both", KWARP_CQ_ARM_SOLICITED | KWARP_CQ_ARM_NEXT, KWARP_WC_SUCCESS, 0, true },
	{ "nonsense", ~(KWARP_CQ_ARM_SOLICITED | KWARP_CQ_ARM_NEXT), KWARP_WC_FATAL_ERR,
	  KWARP_CQE_SOLICITED, false },
};

KUNIT_ARRAY_PARAM_DESC(arm, arms, desc);

static void test_arm(struct kunit *test)
{
	const struct arm_case *c = test->param_value;
	struct test_cq *t = test->priv;
	struct kwarp_ring_hdr *hdr = t->cq.ring.hdr;
	u32 raise = c->raise ? KWARP_CQ_RAISE : 0;

	hdr->arm = c->arm;
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 1, c->status, c->flags), raise);
	KUNIT_EXPECT_EQ(test, hdr->arm, c->raise ? 0 : c->arm);
	if (c->raise)
		KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 2, c->status, c->flags), 0);
}

/* Any solicited entry of a batch raises the event; one of an earlier batch does not. */
static void test_arm_batch(struct kunit *test)
{
	struct test_cq *t = test->priv;
	struct kwarp_ring_hdr *hdr = t->cq.ring.hdr;
	unsigned long irqflags;

	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 1, KWARP_WC_SUCCESS, KWARP_CQE_SOLICITED), 0);
	hdr->arm = KWARP_CQ_ARM_SOLICITED;
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 2, KWARP_WC_SUCCESS, 0), 0);
	hdr->cons = 2;
	irqflags = kwarp_cq_begin(&t->cq);
	test_cq_add(&t->cq, 3, KWARP_WC_SUCCESS, KWARP_CQE_SOLICITED, NULL);
	test_cq_add(&t->cq, 4, KWARP_WC_SUCCESS, 0, NULL);
	KUNIT_EXPECT_EQ(test, kwarp_cq_end(&t->cq, irqflags), KWARP_CQ_RAISE);

	hdr->arm = KWARP_CQ_ARM_NEXT;
	irqflags = kwarp_cq_begin(&t->cq);
	KUNIT_EXPECT_EQ(test, kwarp_cq_end(&t->cq, irqflags), 0);
	KUNIT_EXPECT_EQ(test, hdr->arm, KWARP_CQ_ARM_NEXT);
}

static void test_notify(struct kunit *test)
{
	struct test_cq *t = test->priv;

	kwarp_cq_notify(&t->cq, 0);
	KUNIT_EXPECT_EQ(test, t->raised + t->lost + t->other, 0);
	kwarp_cq_notify(&t->cq, KWARP_CQ_RAISE);
	KUNIT_EXPECT_EQ(test, t->raised, 1);
	KUNIT_EXPECT_EQ(test, t->lost, 0);
	kwarp_cq_notify(&t->cq, KWARP_CQ_LOST);
	KUNIT_EXPECT_EQ(test, t->raised, 1);
	KUNIT_EXPECT_EQ(test, t->lost, 1);
	kwarp_cq_notify(&t->cq, KWARP_CQ_LOST | KWARP_CQ_RAISE);
	KUNIT_EXPECT_EQ(test, t->raised, 2);
	KUNIT_EXPECT_EQ(test, t->lost, 2);
	KUNIT_EXPECT_EQ(test, t->other, 0);
	t->cq.ibcq.comp_handler = NULL;
	t->cq.ibcq.event_handler = NULL;
	kwarp_cq_notify(&t->cq, KWARP_CQ_LOST | KWARP_CQ_RAISE);
	KUNIT_EXPECT_EQ(test, t->raised + t->lost, 4);
}

static void test_overflow(struct kunit *test)
{
	struct test_cq *t = test->priv;
	u32 i;

	test_cq_start_at(t, U32_MAX - 2);
	for (i = 0; i < ENTRIES; i++)
		KUNIT_EXPECT_EQ(test, push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0), 0);
	KUNIT_EXPECT_FALSE(test, t->cq.overflow);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, 0);

	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 98, KWARP_WC_SUCCESS, 0), KWARP_CQ_LOST);
	KUNIT_EXPECT_TRUE(test, t->cq.overflow);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, KWARP_RING_ERROR);
	/* only the first lost entry is reported */
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 99, KWARP_WC_SUCCESS, 0), 0);

	for (i = 0; i < ENTRIES; i++)
		expect_entries(test, i);
	test_cq_none(test, t);
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 100, KWARP_WC_SUCCESS, 0), 0);
	expect_entries(test, 100);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, KWARP_RING_ERROR);
}

static void test_ignore_overrun(struct kunit *test)
{
	struct test_cq *t = test->priv;
	u32 i;

	t->cq.ignore_overrun = true;
	for (i = 0; i < ENTRIES + 2; i++)
		KUNIT_EXPECT_EQ(test, push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0), 0);
	KUNIT_EXPECT_FALSE(test, t->cq.overflow);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, 0);
	for (i = 0; i < ENTRIES; i++)
		expect_entries(test, i);
	test_cq_none(test, t);
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 100, KWARP_WC_SUCCESS, 0), 0);
	expect_entries(test, 100);
}

/* One entry of the batch is published and one is lost. */
static void test_overflow_armed(struct kunit *test)
{
	struct test_cq *t = test->priv;
	unsigned long irqflags;
	u32 i;

	t->cq.ring.hdr->arm = KWARP_CQ_ARM_NEXT;
	irqflags = kwarp_cq_begin(&t->cq);
	for (i = 0; i <= ENTRIES; i++)
		test_cq_add(&t->cq, i, KWARP_WC_SUCCESS, 0, NULL);
	KUNIT_EXPECT_EQ(test, kwarp_cq_end(&t->cq, irqflags), KWARP_CQ_RAISE | KWARP_CQ_LOST);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->prod, ENTRIES);
}

/* The consumer's index is read only when the queue would be full without it. */
static void test_cons_copy(struct kunit *test)
{
	struct test_cq *t = test->priv;
	struct kwarp_ring_hdr *hdr = t->cq.ring.hdr;
	u32 i;

	test_cq_start_at(t, U32_MAX - 1);
	for (i = 0; i < ENTRIES; i++) {
		hdr->cons = 0x80000000 + i;
		KUNIT_EXPECT_EQ(test, push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0), 0);
		KUNIT_EXPECT_EQ(test, t->cq.cons, U32_MAX - 1);
	}
	hdr->cons = U32_MAX + 1;
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, i++, KWARP_WC_SUCCESS, 0), 0);
	KUNIT_EXPECT_EQ(test, t->cq.cons, U32_MAX + 1);
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0), 0);
	/* full by the copy, and by the header, too */
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0), KWARP_CQ_LOST);
	/* the copy is of no use after a lie, and is read again */
	hdr->cons = 0x80000000;
	push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, t->cq.prod, ENTRIES);
	hdr->cons = ENTRIES;
	push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, t->cq.prod, ENTRIES + 1);
}

/*
 * If user space has written an impossible consumer index, and the queue would be full without it,
 * entries are lost; there is no other effect.
 */
static void test_corrupt_cons(struct kunit *test)
{
	static const u32 cons[] = { 11, 0x80000000, 10 - ENTRIES - 1, U32_MAX };
	struct test_cq *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cons); i++) {
		test_cq_start_at(t, 10);
		t->cq.cons = 10 - ENTRIES;
		t->cq.overflow = false;
		t->cq.reported = false;
		t->cq.ring.hdr->cons = cons[i];
		KUNIT_EXPECT_EQ_MSG(test, push_entry(&t->cq, 1, KWARP_WC_SUCCESS, 0), KWARP_CQ_LOST,
				    "cons %#x", cons[i]);
		KUNIT_EXPECT_EQ(test, t->cq.prod, 10);
	}
}

static struct kwarp_ring *new_ring(struct kunit *test, u32 entries)
{
	struct kwarp_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	test_ring_init(test, ring, entries, sizeof(struct kwarp_cqe));
	return ring;
}

static int replace_ring(struct kwarp_cq *cq, struct kwarp_ring *ring)
{
	int ret;

	mutex_lock(&cq->resize);
	ret = kwarp_cq_replace(cq, ring);
	mutex_unlock(&cq->resize);
	return ret;
}

static const struct resize_case {
	const char *desc;
	u32 unread;
	u32 entries;
	bool ok;
} resizes[] = {
	{ "empty to larger", 0, 16, true },
	{ "empty to smallest", 0, 1, true },
	{ "full to larger", 4, 8, true },
	{ "full to the same", 4, 4, true },
	{ "full to smaller", 4, 2, false },
	{ "one too many", 3, 2, false },
	{ "just fits", 2, 2, true },
	{ "one to one", 1, 1, true },
	{ "two to one", 2, 1, false },
};

KUNIT_ARRAY_PARAM_DESC(resize, resizes, desc);

static void test_replace(struct kunit *test)
{
	const struct resize_case *c = test->param_value;
	struct test_cq *t = test->priv;
	struct kwarp_ring *ring = new_ring(test, c->entries);
	struct kwarp_ring old = t->cq.ring, new = *ring;
	bool room;
	u32 i;

	/* the indices begin at U32_MAX - 1, so the third unread entry is in slot 0 */
	test_cq_start_at(t, U32_MAX - 1);
	for (i = 0; i < c->unread; i++)
		push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0);
	t->cq.ring.hdr->arm = KWARP_CQ_ARM_SOLICITED;
	t->cq.ring.hdr->polls = 77;

	KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, ring), c->ok ? 0 : -EINVAL);
	/* on success the queue has the new ring, and *ring is the old one */
	KUNIT_EXPECT_MEMEQ(test, &t->cq.ring, c->ok ? &new : &old, sizeof(old));
	KUNIT_EXPECT_MEMEQ(test, ring, c->ok ? &old : &new, sizeof(old));
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->arm, KWARP_CQ_ARM_SOLICITED);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->polls, 77);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, 0);
	room = c->unread < kwarp_ring_size(&t->cq.ring);
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, c->unread, KWARP_WC_SUCCESS, 0),
			room ? 0 : KWARP_CQ_LOST);
	for (i = 0; i < c->unread + room; i++)
		expect_entries(test, i);
	test_cq_none(test, t);
}

/* The queue has more entries than kwarp_cq_replace() copies under the lock. */
static void test_replace_many(struct kunit *test)
{
	const u32 n = 3 * KWARP_IRQ_OFF_BATCH;
	struct test_cq *t = test_cq_new(test, 2 * n);
	u32 i;

	test_cq_start_at(t, U32_MAX - 1);
	for (i = 0; i < n; i++)
		push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, new_ring(test, KWARP_IRQ_OFF_BATCH)), -EINVAL);
	KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, new_ring(test, n)), 0);
	for (i = 0; i < n; i++)
		test_cq_expect(test, t, i, KWARP_WC_RECV, KWARP_WC_SUCCESS);
	test_cq_none(test, t);
}

static void test_replace_failed(struct kunit *test)
{
	struct test_cq *t = test->priv;
	u32 i;

	for (i = 0; i <= ENTRIES; i++)
		push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, new_ring(test, 2 * ENTRIES)), 0);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, KWARP_RING_ERROR);
	KUNIT_EXPECT_TRUE(test, t->cq.overflow);
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, ENTRIES, KWARP_WC_SUCCESS, 0), 0);
	for (i = 0; i <= ENTRIES; i++)
		expect_entries(test, i);
	test_cq_none(test, t);
}

static void test_replace_corrupt(struct kunit *test)
{
	static const u32 cons[] = { 3, ENTRIES, 0x80000000, 2 - ENTRIES - 1 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cons); i++) {
		struct test_cq *t = test_cq_new(test, ENTRIES);

		push_entry(&t->cq, 0, KWARP_WC_SUCCESS, 0);
		push_entry(&t->cq, 1, KWARP_WC_SUCCESS, 0);
		t->cq.ring.hdr->cons = cons[i];
		KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, new_ring(test, 1)), 0);
		test_cq_none(test, t);
		KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 7, KWARP_WC_SUCCESS, 0), 0);
		test_cq_expect(test, t, 7, KWARP_WC_RECV, KWARP_WC_SUCCESS);
	}
}

/* The program polls during the resize: entries keep their indices. */
static void test_replace_polled(struct kunit *test)
{
	struct test_cq *t = test->priv;
	struct kwarp_ring *ring = new_ring(test, 2);
	u32 i;

	test_cq_start_at(t, U32_MAX - 1);
	for (i = 0; i < 3; i++)
		push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, ring), -EINVAL);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, 0);
	expect_entries(test, 0);
	t->cq.ring.hdr->arm = KWARP_CQ_ARM_NEXT;
	KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, ring), 0);
	KUNIT_EXPECT_EQ(test, ring->hdr->flags, KWARP_RING_MOVED);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->flags, 0);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->prod, 1);
	KUNIT_EXPECT_EQ(test, t->cq.ring.hdr->cons, U32_MAX);
	expect_entries(test, 1);
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 3, KWARP_WC_SUCCESS, 0), KWARP_CQ_RAISE);
	expect_entries(test, 2);
	expect_entries(test, 3);
	test_cq_none(test, t);
}

/* Resize a queue with one entry, which has the index @first + ENTRIES - 1, and go on. */
static void replace_at(struct kunit *test, u32 first, u32 size)
{
	struct test_cq *t = test_cq_new(test, ENTRIES);
	u32 i;

	test_cq_start_at(t, first);
	for (i = 0; i < ENTRIES; i++)
		push_entry(&t->cq, i, KWARP_WC_SUCCESS, 0);
	for (i = 0; i < ENTRIES - 1; i++)
		test_cq_expect(test, t, i, KWARP_WC_RECV, KWARP_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, replace_ring(&t->cq, new_ring(test, size)), 0);
	for (; i < ENTRIES + 2 * size; i++) {
		test_cq_expect(test, t, i, KWARP_WC_RECV, KWARP_WC_SUCCESS);
		test_cq_none(test, t);
		push_entry(&t->cq, i + 1, KWARP_WC_SUCCESS, 0);
	}
}

static void test_replace_phase(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 8, 16 };
	u32 n, first;

	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		for (first = U32_MAX - 15; first != 16; first++)
			replace_at(test, first, sizes[n]);
	}
}

static u64 push_and_pop(struct kunit *test, struct test_cq *t)
{
	const struct kwarp_cqe *cqe;

	push_entry(&t->cq, 1, KWARP_WC_SUCCESS, 0);
	cqe = test_cq_pop(t);
	KUNIT_ASSERT_NOT_NULL(test, cqe);
	return cqe->timestamp;
}

static void test_timestamp(struct kunit *test)
{
	struct test_cq *t = test->priv;
	const struct kwarp_cqe *cqe;
	u64 begin, stamp;

	KUNIT_EXPECT_EQ(test, push_and_pop(test, t), 0);
	t->cq.stamp = KWARP_CQ_STAMP_RAW;
	begin = ktime_get_raw_ns();
	stamp = push_and_pop(test, t);
	KUNIT_EXPECT_GE(test, stamp, begin);
	KUNIT_EXPECT_LE(test, stamp, ktime_get_raw_ns());
	t->cq.stamp = KWARP_CQ_STAMP_REAL;
	begin = ktime_get_real_ns();
	stamp = push_and_pop(test, t);
	KUNIT_EXPECT_GE(test, stamp, begin);
	KUNIT_EXPECT_LE(test, stamp, ktime_get_real_ns());
	begin = ktime_get_real_ns();
	push_entry(&t->cq, 1, KWARP_WC_SUCCESS, 0);
	stamp = ktime_get_real_ns();
	KUNIT_EXPECT_EQ(test, replace_ring(&t->cq, new_ring(test, 16)), 0);
	cqe = test_cq_pop(t);
	KUNIT_ASSERT_NOT_NULL(test, cqe);
	KUNIT_EXPECT_GE(test, cqe->timestamp, begin);
	KUNIT_EXPECT_LE(test, cqe->timestamp, stamp);
}

static void test_req_notify(struct kunit *test)
{
	struct test_cq *t = test->priv;
	struct kwarp_ring_hdr *hdr = t->cq.ring.hdr;
	const int missed = IB_CQ_REPORT_MISSED_EVENTS;

	t->cq.qp = kunit_kcalloc(test, kwarp_ring_size(&t->cq.ring), sizeof(*t->cq.qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->cq.qp);
	KUNIT_EXPECT_EQ(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_SOLICITED), 0);
	KUNIT_EXPECT_EQ(test, hdr->arm, KWARP_CQ_ARM_SOLICITED);
	hdr->arm = 0;
	KUNIT_EXPECT_EQ(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_NEXT_COMP | missed), 0);
	KUNIT_EXPECT_EQ(test, hdr->arm, KWARP_CQ_ARM_NEXT);
	/* arming for solicited events does not cancel an earlier arming for all completions */
	KUNIT_EXPECT_EQ(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_SOLICITED | missed), 0);
	KUNIT_EXPECT_TRUE(test, hdr->arm & KWARP_CQ_ARM_NEXT);
	KUNIT_EXPECT_EQ(test, push_entry(&t->cq, 1, KWARP_WC_SUCCESS, 0), KWARP_CQ_RAISE);
	KUNIT_EXPECT_EQ(test, hdr->arm, 0);

	KUNIT_EXPECT_EQ(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_GT(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_NEXT_COMP | missed), 0);
	KUNIT_EXPECT_GT(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_SOLICITED | missed), 0);
	expect_entries(test, 1);
	KUNIT_EXPECT_EQ(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_NEXT_COMP | missed), 0);
}

/* The verbs of kernel consumers do not touch the ring of a program, which writes to it as well. */
static void test_program(struct kunit *test)
{
	struct test_cq *t = test->priv;
	struct kwarp_ring_hdr *hdr = t->cq.ring.hdr;
	struct ib_wc wc;

	push_entry(&t->cq, 1, KWARP_WC_SUCCESS, 0);
	hdr->cons = 3;
	KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 1, &wc), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_cq_arm(&t->cq.ibcq, IB_CQ_NEXT_COMP), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, hdr->cons, 3);
	KUNIT_EXPECT_EQ(test, hdr->arm, 0);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(test_publication),
	KUNIT_CASE(test_phase),
	KUNIT_CASE_PARAM(test_arm, arm_gen_params),
	KUNIT_CASE(test_arm_batch),
	KUNIT_CASE(test_notify),
	KUNIT_CASE(test_overflow),
	KUNIT_CASE(test_ignore_overrun),
	KUNIT_CASE(test_overflow_armed),
	KUNIT_CASE(test_cons_copy),
	KUNIT_CASE(test_corrupt_cons),
	KUNIT_CASE_PARAM(test_replace, resize_gen_params),
	KUNIT_CASE(test_replace_many),
	KUNIT_CASE(test_replace_failed),
	KUNIT_CASE(test_replace_corrupt),
	KUNIT_CASE(test_replace_polled),
	KUNIT_CASE(test_replace_phase),
	KUNIT_CASE(test_timestamp),
	KUNIT_CASE(test_req_notify),
	KUNIT_CASE(test_program),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "kwarp_cq",
	.init = cq_test_init,
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);
