// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the order in which Reads are sent, and of requests that wait for earlier Reads: as many
 * Reads at a time as were agreed (ORD), in order, for any values of the indices. The code under
 * test, which chooses the next message, is included. kwarp_tx_build() is replaced by a function
 * that builds no FPDUs. The queues are the real ones.
 *
 * Numbers such as 5040-6.1-7 name requirements of RFCs, see Documentation/conformance.
 */
#include <kunit/test.h>
#include <linux/limits.h>

/* Rename this suite's functions: other suites of this module define the same names. */
#define kwarp_tx_pick		reads_tx_pick
#define kwarp_tx_pick_term	reads_tx_pick_term
#define kwarp_tx_pick_rtr	reads_tx_pick_rtr
#define kwarp_tx_pick_announcement	reads_tx_pick_announcement
#define kwarp_tx_message_built	reads_tx_message_built
#define kwarp_tx_step		reads_tx_step
#define kwarp_tx_drained	reads_tx_drained
#define kwarp_tx_flush_late	reads_tx_flush_late
#define kwarp_tx_build		reads_tx_build
#define kwarp_tx_build_series	reads_tx_build_series
#define kwarp_engine_fail	reads_engine_fail
#include "../tx/control.c"
#include "../tx/pick.c"
#include "../tx/step.c"

#include "queues.h"

#define ENTRIES		64
#define NOTHING		U32_MAX

struct reads_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	struct ib_qp qp;
	struct test_cq *cq;
	enum kwarp_perr failed;
};

static struct reads_test *the_test;

bool kwarp_tx_build(struct kwarp_engine *e)
{
	return false;
}

bool kwarp_tx_build_series(struct kwarp_engine *e)
{
	return false;
}

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	the_test->failed = perr;
}

/* ------------------------------------------------------------------ fixture */

static int reads_test_init(struct kunit *test)
{
	struct reads_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	t->e.kdev = kunit_kzalloc(test, sizeof(*t->e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->e.kdev);
	t->cq = test_cq_new(test, ENTRIES);
	t->qp.qp_num = TEST_QPN;
	test_sq_init(test, &t->sq, t->cq, &t->qp, ENTRIES, 0);
	t->e.sq = &t->sq;
	t->e.ibqp = &t->qp;
	/* The test acts as the runner, the one context that may send for the stream. */
	atomic_set(&t->e.tx.run, KWARP_RUN_ACTIVE);
	t->e.flags = BIT(KWARP_E_TX_OPEN);
	for (i = 0; i < KWARP_QN_COUNT; i++)
		t->e.tx.msn[i] = 1;
	return 0;
}

/*
 * Set the ORD, the number of Reads that may be outstanding, to @depth, and the first index of the
 * queue of outstanding Reads to @start.
 */
static void agree(struct kunit *test, u32 depth, u32 start)
{
	struct reads_test *t = test->priv;
	struct kwarp_readq *q = &t->e.oread;

	test_readq_init(test, q, depth, sizeof(*q->o));
	q->head = start;
	q->tail = start;
}

/* Post a request of no octets. The requests of a test are numbered from 0 on. */
static void post(struct reads_test *t, u8 opcode, u16 flags)
{
	struct kwarp_ring_hdr *hdr = t->sq.ring.hdr;
	struct kwarp_sqe *w = kwarp_ring_slot(&t->sq.ring, hdr->prod);

	memset(w, 0, t->sq.ring.stride);
	w->opcode = opcode;
	w->flags = flags;
	hdr->prod++;
}

/* Pick the next request, and treat it as sent. Return: its number; NOTHING if none may be sent. */
static u32 pick(struct reads_test *t)
{
	t->e.tx.effort = 0;
	if (!kwarp_tx_pick(&t->e))
		return NOTHING;
	kwarp_tx_message_built(&t->e);
	kwarp_sq_sent(&t->sq, t->e.tx.sq_end);
	return t->e.tx.msg.sq_index;
}

/*
 * Treat the oldest Read as answered, as end_response() of rx/segment.c does. Return: the number of
 * its request.
 */
static u32 answer(struct reads_test *t)
{
	u32 index = kwarp_oread_head(&t->e.oread)->sq_index;

	kwarp_readq_pop(&t->e.oread);
	kwarp_sq_answered(&t->sq, index);
	return index;
}

static bool waits(const struct reads_test *t)
{
	return test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags);
}

/* -------------------------------------------------------------------- depths */

static const struct depth {
	u32 depth;
	u32 start;
} depths[] = {
	{ 1, 0 }, { 1, U32_MAX }, { 2, U32_MAX - 1 }, { 3, 0 }, { 3, U32_MAX - 3 },
	{ 4, U32_MAX }, { 16, 0 }, { 16, U32_MAX - 7 },
};

static void depth_desc(const struct depth *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "ORD %u, index %#x", c->depth, c->start);
}

KUNIT_ARRAY_PARAM(depth, depths, depth_desc);

/* Reads are sent up to the limit; each answer lets one more be sent (5040-6.1-7, -9). */
static void test_depth(struct kunit *test)
{
	const struct depth *c = test->param_value;
	struct reads_test *t = test->priv;
	u32 total = 3 * c->depth, i;

	agree(test, c->depth, c->start);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	KUNIT_EXPECT_FALSE(test, waits(t));
	for (i = 0; i < total; i++)
		post(t, KWARP_WR_READ, 0);
	for (i = 0; i < c->depth; i++)
		KUNIT_EXPECT_EQ(test, pick(t), i);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	KUNIT_EXPECT_TRUE(test, waits(t));
	for (i = 0; i < total - c->depth; i++) {
		KUNIT_EXPECT_EQ(test, answer(t), i);
		KUNIT_EXPECT_EQ(test, pick(t), c->depth + i);
		KUNIT_EXPECT_FALSE(test, waits(t));
		KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
		KUNIT_EXPECT_EQ(test, waits(t), i + 1 < total - c->depth);
	}
	for (; i < total; i++)
		KUNIT_EXPECT_EQ(test, answer(t), i);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(&t->e.oread));
	KUNIT_EXPECT_EQ(test, t->failed, KWARP_PERR_NONE);
}

/*
 * A request does not overtake an earlier Read that must not be sent yet, but need not wait for the
 * answer to a Read that was sent.
 */
static void test_in_turn(struct kunit *test)
{
	struct reads_test *t = test->priv;

	agree(test, 1, 0);
	post(t, KWARP_WR_READ, 0);
	post(t, KWARP_WR_SEND, 0);
	post(t, KWARP_WR_READ, 0);
	post(t, KWARP_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, pick(t), 0);
	KUNIT_EXPECT_EQ(test, pick(t), 1);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	answer(t);
	KUNIT_EXPECT_EQ(test, pick(t), 2);
	KUNIT_EXPECT_EQ(test, pick(t), 3);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	KUNIT_EXPECT_FALSE(test, waits(t));
}

/* Our "ready to receive" message (RTR) may be a Read: then it counts against the limit. */
static void test_rtr_counts(struct kunit *test)
{
	struct reads_test *t = test->priv;

	agree(test, 1, U32_MAX);
	t->e.tx.rtr = KWARP_RTR_READ;
	post(t, KWARP_WR_READ, 0);
	KUNIT_ASSERT_TRUE(test, kwarp_tx_pick(&t->e));
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.kind, KWARP_TXK_RTR);
	kwarp_tx_message_built(&t->e);
	KUNIT_EXPECT_TRUE(test, kwarp_oread_head(&t->e.oread)->rtr);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	KUNIT_EXPECT_TRUE(test, waits(t));
	kwarp_readq_pop(&t->e.oread);
	KUNIT_EXPECT_EQ(test, pick(t), 0);
	KUNIT_EXPECT_FALSE(test, kwarp_oread_head(&t->e.oread)->rtr);
}

/* --------------------------------------------------------------------- fence */

static const u8 fenced[] = { KWARP_WR_SEND, KWARP_WR_WRITE, KWARP_WR_READ };

static void fenced_desc(const u8 *opcode, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "opcode %u", *opcode);
}

KUNIT_ARRAY_PARAM(fenced, fenced, fenced_desc);

/*
 * A fenced request waits for all earlier Reads, and does not wait if none is outstanding
 * (5040-5.5-19).
 */
static void test_fence(struct kunit *test)
{
	const u8 *opcode = test->param_value;
	struct reads_test *t = test->priv;

	agree(test, 4, U32_MAX - 2);
	post(t, KWARP_WR_SEND, KWARP_WR_FENCE);
	KUNIT_EXPECT_EQ(test, pick(t), 0);
	KUNIT_EXPECT_FALSE(test, waits(t));
	post(t, KWARP_WR_READ, 0);
	post(t, KWARP_WR_READ, 0);
	post(t, *opcode, KWARP_WR_FENCE);
	post(t, KWARP_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, pick(t), 1);
	KUNIT_EXPECT_EQ(test, pick(t), 2);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	KUNIT_EXPECT_TRUE(test, waits(t));
	KUNIT_EXPECT_EQ(test, answer(t), 1);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	KUNIT_EXPECT_TRUE(test, waits(t));
	KUNIT_EXPECT_EQ(test, answer(t), 2);
	KUNIT_EXPECT_EQ(test, pick(t), 3);
	KUNIT_EXPECT_FALSE(test, waits(t));
	/* The request after the fenced one is not fenced, and does not wait. */
	KUNIT_EXPECT_EQ(test, pick(t), 4);
}

/* ----------------------------------------------------------------- too late */

/* After the peer's FIN no response can come: the next Read and all later requests are not sent. */
static void test_behind_fin(struct kunit *test)
{
	struct reads_test *t = test->priv;

	agree(test, 2, 0);
	set_bit(KWARP_E_FIN_SEEN, &t->e.flags);
	set_bit(KWARP_E_TX_DRAIN, &t->e.flags);
	t->e.tx.drain_to = 3;
	post(t, KWARP_WR_SEND, 0);
	post(t, KWARP_WR_READ, 0);
	post(t, KWARP_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, pick(t), 0);
	KUNIT_EXPECT_EQ(test, pick(t), NOTHING);
	KUNIT_EXPECT_EQ(test, t->e.tx.drain_to, 1);
	KUNIT_EXPECT_EQ(test, t->sq.next, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(&t->e.oread));
	KUNIT_EXPECT_TRUE(test, kwarp_tx_drained(&t->e));
}

static struct kunit_case reads_cases[] = {
	KUNIT_CASE_PARAM(test_depth, depth_gen_params),
	KUNIT_CASE(test_in_turn),
	KUNIT_CASE(test_rtr_counts),
	KUNIT_CASE_PARAM(test_fence, fenced_gen_params),
	KUNIT_CASE(test_behind_fin),
	{}
};

static struct kunit_suite reads_suite = {
	.name = "kwarp_tx_reads",
	.init = reads_test_init,
	.test_cases = reads_cases,
};

kunit_test_suite(reads_suite);
