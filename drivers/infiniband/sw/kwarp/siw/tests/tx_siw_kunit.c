// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the transmit step: the send queue of a program that uses libsiw, whose requests are
 * moved from libsiw's ring to the send queue when there is room.
 */
#include <rdma/siw-abi.h>

#include "../../engine/tests/tx_fixture.h"
#include "../ring.h"

static void free_siw(void *ring)
{
	kwarp_siw_free(ring);
}

static void speak_siw(struct kunit *test)
{
	struct tx_test *t = test->priv;
	struct kwarp_siw_ring *r = kwarp_siw_new_sq(ENTRIES, NULL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_siw, r), 0);
	t->sq.foreign = &r->foreign;
}

static void post_siw(struct tx_test *t)
{
	const struct kwarp_siw_ring *r = to_siw_ring(t->sq.foreign);
	struct siw_sqe *s = (struct siw_sqe *)r->mem + (r->next & r->mask);

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

/* KWARP_E_TX_WAIT_READ is set, so that the receive path starts another step when it makes room. */
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

static struct kunit_case tx_siw_cases[] = {
	KUNIT_CASE_PARAM(test_between_looks, meanwhile_gen_params),
	KUNIT_CASE(test_no_room),
	{}
};

static struct kunit_suite tx_siw_suite = {
	.name = "kwarp_tx_siw",
	.init = tx_test_init,
	.test_cases = tx_siw_cases,
};

kunit_test_suite(tx_siw_suite);
