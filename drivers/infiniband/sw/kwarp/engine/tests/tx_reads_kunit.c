// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the order in which Reads are sent, and of requests that wait for earlier Reads. */
#include <linux/limits.h>

#include "tx_fixture.h"

#include "../../proto/mpa_startup.h"

#define NOTHING		U32_MAX

/* @start: first index of the queue of outstanding Reads */
static void agree(struct kunit *test, u32 depth, u32 start)
{
	struct tx_test *t = test->priv;
	struct kwarp_readq *q = &t->e.oread;

	kwarp_readq_fini(q);
	KUNIT_ASSERT_EQ(test, kwarp_readq_init(q, depth, sizeof(*q->o)), 0);
	q->head = start;
	q->tail = start;
}

/* Post a request of no octets. The requests of a test are numbered from 0 on. */
static void post(struct tx_test *t, u8 opcode, u16 flags)
{
	tx_post(t, opcode, flags, 0);
}

/* Pick the next request, and treat it as sent. Return: its number; NOTHING if none may be sent. */
static u32 pick(struct tx_test *t)
{
	t->e.tx.effort = 0;
	if (!kwarp_tx_pick(&t->e))
		return NOTHING;
	kwarp_tx_message_built(&t->e);
	kwarp_sq_sent(&t->sq, t->e.tx.sq_end);
	return t->e.tx.msg.sq_index;
}

/* As end_response() of rx/segment.c does. Return: the number of the Read's request. */
static u32 answer(struct tx_test *t)
{
	u32 index = kwarp_oread_head(&t->e.oread)->sq_index;

	kwarp_readq_pop(&t->e.oread);
	kwarp_sq_answered(&t->sq, index);
	return index;
}

static bool waits(const struct tx_test *t)
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
	struct tx_test *t = test->priv;
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
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

/* The request need not wait for the answer to a Read that was sent. */
static void test_in_turn(struct kunit *test)
{
	struct tx_test *t = test->priv;

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
	struct tx_test *t = test->priv;

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
	struct tx_test *t = test->priv;

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
	struct tx_test *t = test->priv;

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

/* The receive side has left requests that may complete. TCP takes nothing more now. */
static void test_behind(struct kunit *test)
{
	struct tx_test *t = test->priv;

	agree(test, 1, 0);
	post(t, KWARP_WR_READ, 0);
	post(t, KWARP_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, pick(t), 0);
	KUNIT_EXPECT_EQ(test, pick(t), 1);
	post(t, KWARP_WR_SEND, 0);
	t->tcp.error = -EAGAIN;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_BLOCKED);
	t->sq.done[0].awaits = false;
	t->sq.behind = true;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_BLOCKED);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->cons, 2);
	KUNIT_EXPECT_FALSE(test, t->sq.behind);
}

static struct kunit_case reads_cases[] = {
	KUNIT_CASE_PARAM(test_depth, depth_gen_params),
	KUNIT_CASE(test_in_turn),
	KUNIT_CASE(test_rtr_counts),
	KUNIT_CASE_PARAM(test_fence, fenced_gen_params),
	KUNIT_CASE(test_behind_fin),
	KUNIT_CASE(test_behind),
	{}
};

static struct kunit_suite reads_suite = {
	.name = "kwarp_tx_reads",
	.init = tx_test_init,
	.test_cases = reads_cases,
};

kunit_test_suite(reads_suite);
