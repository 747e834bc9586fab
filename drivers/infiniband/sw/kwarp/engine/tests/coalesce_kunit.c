// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of coalesce.c, which decides whether to hold send queues: the decisions as functions of
 * facts, how the facts are found, and the timer.
 */
#include "coalesce_fixture.h"

/* ------------------------------------------------------------------- decisions */

/* @sent: requests sent before. The other members but @h are the expected state after it. */
static const struct forgot_case {
	const char *desc;
	struct kwarp_cq_coalesce h;
	u32 sent;
	u32 obey;
	u32 obey_next;
} forgot_cases[] = {
	{ "the first one", { .obey_next = KWARP_COALESCE_RARE }, 1,
	  KWARP_COALESCE_RARE, 4 * KWARP_COALESCE_RARE },
	{ "after a few", { .obey_next = 4 * KWARP_COALESCE_RARE }, KWARP_COALESCE_RARE - 1,
	  4 * KWARP_COALESCE_RARE, 16 * KWARP_COALESCE_RARE },
	{ "after as many as are sent at once",
	  { .obey = KWARP_COALESCE_RARE, .obey_next = 4 * KWARP_COALESCE_RARE },
	  2 * KWARP_COALESCE_RARE - 1, 4 * KWARP_COALESCE_RARE, 16 * KWARP_COALESCE_RARE },
	{ "for ever", { .obey_next = KWARP_COALESCE_OBEY_MAX }, 1,
	  KWARP_COALESCE_OBEY_MAX, KWARP_COALESCE_OBEY_MAX },
	{ "rarely", { .obey_next = KWARP_COALESCE_OBEY_MAX }, KWARP_COALESCE_RARE,
	  0, KWARP_COALESCE_RARE },
	{ "very rarely", { .sent = KWARP_COALESCE_RARE, .obey_next = KWARP_COALESCE_OBEY_MAX },
	  U32_MAX, 0, KWARP_COALESCE_RARE },
};

KUNIT_ARRAY_PARAM_DESC(forgot, forgot_cases, desc);

static void test_forgot(struct kunit *test)
{
	const struct forgot_case *k = test->param_value;
	struct kwarp_cq_coalesce h = k->h;

	coalesce_count(&h, k->sent);
	coalesce_forgot(&h);
	KUNIT_EXPECT_EQ(test, h.obey, k->obey);
	KUNIT_EXPECT_EQ(test, h.obey_next, k->obey_next);
	KUNIT_EXPECT_EQ(test, h.sent, 0);
}

/* Of any number of requests, not more than one in KWARP_COALESCE_RARE is forgotten. */
static void test_forgets_rarely(struct kunit *test)
{
	struct kwarp_cq_coalesce h = { .obey = KWARP_COALESCE_RARE,
				       .obey_next = KWARP_COALESCE_RARE };
	u32 sent, forgotten = 0;

	for (sent = 1; sent < 1000 * KWARP_COALESCE_RARE; sent++) {
		if (h.sent >= h.obey) {
			coalesce_forgot(&h);
			forgotten++;
			KUNIT_ASSERT_GT(test, sent, forgotten * KWARP_COALESCE_RARE);
		}
		coalesce_count(&h, 1);
	}
	KUNIT_EXPECT_GT(test, forgotten, 5);
	KUNIT_EXPECT_LT(test, forgotten, 10);
}

/* --------------------------------------------------------------------- facts */

/* One doorbell makes the queue held, but a second one without another poll ends the hold. */
static void test_polls(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	coalesce_poll(t->rcq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	/*
	 * From here on one CQ is used for sends and receives. Its number of polls differs from the
	 * sum of the polls of two CQs, so the next doorbell seems to come after a poll.
	 */
	t->s[0].e.recv_cq = &t->scq->cq;
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
}

/* A send without a doorbell, for example of a Read Response, neither starts nor ends a hold. */
static void test_not_rung(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct kwarp_engine *e = &t->s[0].e;

	coalesce_poll(t->scq);
	kwarp_coalesce_sent(e);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(e->tx.coalesce.on));
	KUNIT_ASSERT_TRUE(test, coalesce_held_after_ring(t));
	kwarp_coalesce_sent(e);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(e->tx.coalesce.on));
}

/*
 * A new CQ holds streams after its first KWARP_COALESCE_RARE requests, which are sent at once. A
 * forgotten request ends the hold, and as many are sent at once again.
 */
static void test_obey(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i, n;

	t->hold->obey = KWARP_COALESCE_RARE;
	for (n = 0; n < 2; n++) {
		for (i = 1; i < KWARP_COALESCE_RARE; i++) {
			coalesce_post_waiting(s);
			coalesce_poll(t->scq);
			KUNIT_ASSERT_FALSE(test, coalesce_held_after_ring(t));
		}
		coalesce_post_waiting(s);
		coalesce_hold(test, s);
		coalesce_post_waiting(s);
		coalesce_look_now(t);
		coalesce_look_now(t);
		KUNIT_EXPECT_EQ(test, s->sends, n + 1);
		KUNIT_EXPECT_FALSE(test, coalesce_is_held(s));
		/* The forgotten request is one of those that are counted. */
		s->e.tx.coalesce.counted++;
	}
}

/* A change of coalesce_us applies to streams that start later. With 0 nothing is held. */
static void test_knob(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct kwarp_engine *e = &t->s[0].e;

	e->kdev->knobs.coalesce_us = 0;
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	kwarp_coalesce_stop(e);
	kwarp_coalesce_reset(e);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(e->tx.coalesce.on));
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	e->kdev->knobs.coalesce_us = 7;
	kwarp_coalesce_reset(e);
	coalesce_look_now(t);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_EQ(test, t->hold->ns, 7000);
}

/* The timer could fire at the next tick only, milliseconds later. */
static void test_coarse_timer(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	coalesce_told_resolution = TEST_US * NSEC_PER_USEC + 1;
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	coalesce_told_resolution--;
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
}

static void test_no_stream(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	t->s[0].e.sock = NULL;
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
}

/* A responder that has received no FPDU must not send, so a doorbell sends nothing. */
static void test_not_open(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	t->s[0].e.flags = 0;
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
}

static void be_normal(void *unused)
{
	sched_set_normal(current, 0);
}

/* A program with a real-time policy may keep the timer from running, so its queue is not held. */
static void test_realtime(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, be_normal, NULL), 0);
	sched_set_fifo(current);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	sched_set_normal(current, 0);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	/* A doorbell of a real-time program also ends the hold of a queue that was held before. */
	sched_set_fifo(current);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
}

/* ----------------------------------------------------------------- the timer */

static bool sent_within_a_second(const struct stream *s, u32 times)
{
	u32 ms;

	for (ms = 0; ms < 1000 && READ_ONCE(s->sends) < times; ms++)
		usleep_range(1000, 2000);
	return READ_ONCE(s->sends) >= times;
}

static void ring_with_timer(struct coalesce_test *t, struct stream *s)
{
	s->e.tx.coalesce.ns = TIMER_NS;
	t->hold->obey = 0;
	t->now = 0;
	coalesce_poll(t->scq);
	kwarp_coalesce_rung(&s->e);
	s->sq.next = s->sq.ring.hdr->prod;
	kwarp_coalesce_sent(&s->e);
	kwarp_coalesce_returns(&s->e);
	/*
	 * The test waits for the timer as if the program slept: if it was the poster, and woke up
	 * at the same tick, the timer would find that it waits for the processor.
	 */
	coalesce_forget_poster(t->hold);
	coalesce_told(s);
}

static void test_timer(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	for (i = 1; i <= 3; i++) {
		ring_with_timer(t, s);
		coalesce_post_waiting(s);
		KUNIT_EXPECT_TRUE(test, sent_within_a_second(s, i));
		/* The request was forgotten, so the hold has ended: the program rings again. */
		KUNIT_EXPECT_EQ(test, s->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
		usleep_range(1000, 2000);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->hold->timer));
		KUNIT_EXPECT_EQ(test, s->sends, i);
	}
}

/* The timer does not look at a stopped stream any more, but still at another stream of the CQ. */
static void test_stop(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	ring_with_timer(t, &t->s[0]);
	ring_with_timer(t, &t->s[1]);
	kwarp_coalesce_stop(&t->s[0].e);
	coalesce_post_waiting(&t->s[0]);
	coalesce_post_waiting(&t->s[1]);
	KUNIT_EXPECT_TRUE(test, sent_within_a_second(&t->s[1], 1));
	KUNIT_EXPECT_EQ(test, t->s[0].sends, 0);
}

/* kwarp_coalesce_stop() waits while the timer sends for the stream on another processor. */
static void test_stop_waits(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	t->slow_us = 300;
	for (i = 0; i < 50; i++) {
		ring_with_timer(t, s);
		coalesce_post_waiting(s);
		usleep_range(100, 900);
		kwarp_coalesce_stop(&s->e);
		KUNIT_EXPECT_EQ(test, atomic_read(&s->e.tx.coalesce.sends), 0);
		KUNIT_EXPECT_FALSE(test, coalesce_is_held(s));
	}
}

static char hold_calls[40];

static void note_reset(struct kwarp_engine *e)
{
	strlcat(hold_calls, " reset", sizeof(hold_calls));
}

static void note_sent(struct kwarp_engine *e, bool may)
{
	strlcat(hold_calls, may ? " sent" : " may-not", sizeof(hold_calls));
}

static void note_stop(struct kwarp_engine *e)
{
	strlcat(hold_calls, " stop", sizeof(hold_calls));
}

/* With struct kwarp_hold_ops this file decides nothing, but for whether a hold is possible. */
static void test_other_ops(struct kunit *test)
{
	static const struct kwarp_hold_ops ops = {
		.reset = note_reset,
		.sent = note_sent,
		.stop = note_stop,
	};
	struct coalesce_test *t = test->priv;
	struct kwarp_engine *e = &t->s[0].e;

	hold_calls[0] = 0;
	e->tx.coalesce.ops = &ops;
	kwarp_coalesce_reset(e);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	/* Sent, but not for a doorbell. */
	kwarp_coalesce_sent(e);
	clear_bit(KWARP_E_TX_OPEN, &e->flags);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	kwarp_coalesce_stop(e);
	KUNIT_EXPECT_STREQ(test, hold_calls, " reset sent may-not stop");
	KUNIT_EXPECT_TRUE(test, list_empty(&t->hold->streams));
	e->tx.coalesce.ops = NULL;
}

static struct kunit_case coalesce_cases[] = {
	KUNIT_CASE_PARAM(test_forgot, forgot_gen_params),
	KUNIT_CASE(test_forgets_rarely),
	KUNIT_CASE(test_polls),
	KUNIT_CASE(test_not_rung),
	KUNIT_CASE(test_obey),
	KUNIT_CASE(test_knob),
	KUNIT_CASE(test_coarse_timer),
	KUNIT_CASE(test_no_stream),
	KUNIT_CASE(test_not_open),
	KUNIT_CASE(test_realtime),
	KUNIT_CASE(test_timer),
	KUNIT_CASE(test_stop),
	KUNIT_CASE(test_stop_waits),
	KUNIT_CASE(test_other_ops),
	{}
};

static struct kunit_suite coalesce_suite = {
	.name = "kwarp_coalesce",
	.init = coalesce_test_init,
	.exit = coalesce_test_exit,
	.test_cases = coalesce_cases,
};

kunit_test_suite(coalesce_suite);
