// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the transmit step (kwarp_tx_step(), which sends one batch, that is, FPDUs collected for
 * one socket call): the send queue of a program that uses libsiw, siw's user library, whose
 * requests are moved from libsiw's ring to the send queue when there is room; and the limit of the
 * requests that one step examines.
 */
#include <rdma/siw-abi.h>

#include "tx_fixture.h"

static void free_siw(void *wq)
{
	kwarp_siw_free_wq(wq);
}

static void speak_siw(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->sq.siw = kwarp_siw_new_sq(ENTRIES, NULL);
	KUNIT_ASSERT_NOT_NULL(test, t->sq.siw);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_siw, t->sq.siw), 0);
}

/* Post a Send to libsiw's ring, as a program with libsiw does. */
static void post_siw(struct tx_test *t)
{
	struct kwarp_siw_wq *wq = t->sq.siw;
	struct siw_sqe *s = (struct siw_sqe *)wq->mem + (wq->next & wq->mask);

	s->opcode = SIW_OP_SEND;
	s->sge[0].length = 4;
	s->flags = SIW_WQE_VALID | SIW_WQE_INLINE;
}

static void post_now(struct tx_test *t)
{
	t->on_look = NULL;
	post_siw(t);
}

/* Answer the oldest outstanding request, which makes room for another one. */
static void answer_now(struct tx_test *t)
{
	t->on_look = NULL;
	kwarp_sq_answered(&t->sq, 0);
}

static void use_up(struct tx_test *t)
{
	t->sq.ring.hdr->prod = ENTRIES;
	t->sq.next = ENTRIES;
	t->sq.sent = ENTRIES;
	t->sq.done[0].awaits = true;
	post_siw(t);
}

static const struct meanwhile {
	const char *desc;
	void (*before)(struct tx_test *t);
	void (*meanwhile)(struct tx_test *t);
} meanwhiles[] = {
	{ "a post", NULL, post_now },
	{ "room for one", use_up, answer_now },
};

KUNIT_ARRAY_PARAM_DESC(meanwhile, meanwhiles, desc);

/*
 * The step looks for a request, finds none, sets KWARP_E_TX_WAIT_READ and looks again. If a request
 * is posted, or room is made for one, between these looks, this step sends it. The context that
 * posts or makes room may have read the flag before it was set, and then it does not start a step.
 */
static void test_between_looks(struct kunit *test)
{
	const struct meanwhile *c = test->param_value;
	struct tx_test *t = test->priv;

	speak_siw(test);
	if (c->before)
		c->before(t);
	t->on_look = c->meanwhile;
	kwarp_tx_step(&t->e);
	KUNIT_EXPECT_NULL(test, t->on_look);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
}

/*
 * There is no room for a posted request: the step sends nothing, and sets KWARP_E_TX_WAIT_READ, so
 * that the receive path starts another step when it makes room.
 */
static void test_no_room(struct kunit *test)
{
	struct tx_test *t = test->priv;

	speak_siw(test);
	use_up(t);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 0);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	answer_now(t);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
}

/*
 * One step examines a limited number of requests, however many are posted: it may run in softirq.
 */
static void test_requests_bounded(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	for (i = 0; i < KWARP_BATCH_EFFORT + 3; i++)
		tx_post(t, KWARP_WR_SEND, 0, 1);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, KWARP_BATCH_EFFORT);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, KWARP_BATCH_EFFORT + 3);
}

static struct kunit_case tx_siw_cases[] = {
	KUNIT_CASE_PARAM(test_between_looks, meanwhile_gen_params),
	KUNIT_CASE(test_no_room),
	KUNIT_CASE(test_requests_bounded),
	{}
};

static struct kunit_suite tx_siw_suite = {
	.name = "kwarp_tx_siw",
	.init = tx_test_init,
	.test_cases = tx_siw_cases,
};

kunit_test_suite(tx_siw_suite);
