// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of coalesce.c, which decides whether to hold send queues: the decisions as functions of
 * facts, how the facts are found, and the timer.
 *
 * Held: the program posts to the send queue without ringing its doorbell; a timer, or a later
 * doorbell, sends. Hold: the time during which a queue is held. After a doorbell a queue is held if
 * the program has polled its CQ since the previous doorbell. Look: one call of that timer, which
 * looks for posted requests. Round: looks until each held queue has been looked at once. Waiting:
 * posted without a doorbell, and not sent. Forgotten: waiting at two looks in a row, and the
 * program has neither polled nor rung a doorbell between them. Miss: a forgotten request was found,
 * and that counts against the hold.
 */
#include "coalesce_fixture.h"

/* ------------------------------------------------------------------- decisions */

/*
 * Cases of kwarp_coalesce_rings(), which decides after a doorbell. @h: state of the CQ before the
 * decision. @held: the queue was held, and the doorbell was for waiting requests. @polled: the
 * program has polled since its previous doorbell. @hold: expected decision. @missed: expected
 * number of counted misses after the decision. @obey: expected number of further doorbells that
 * start no hold.
 */
static const struct ring_case {
	const char *desc;
	struct kwarp_cq_coalesce h;
	bool held;
	bool polled;
	bool hold;
	u32 missed;
	u32 obey;
} ring_cases[] = {
	{ "polls", .polled = true, .hold = true },
	{ "has not polled" },
	{ "to be obeyed", { .obey = 3 }, .polled = true, .obey = 2 },
	{ "to be obeyed for the last time", { .obey = 1 }, .polled = true },
	{ "held", { .missed = 2 }, .held = true, .polled = true, .hold = true, .missed = 2 },
	{ "held, often", { .missed = 2, .good = KWARP_COALESCE_FORGIVE - 1 }, .held = true,
	  .polled = true, .hold = true, .missed = 1 },
	{ "held, often, and nothing missed", { .good = KWARP_COALESCE_FORGIVE - 1 },
	  .held = true, .polled = true, .hold = true },
	{ "not held, often", { .missed = 2, .good = KWARP_COALESCE_FORGIVE - 1 },
	  .polled = true, .hold = true, .missed = 2 },
	{ "after quiet looks", { .quiet = 2 }, .polled = true, .hold = true },
};

KUNIT_ARRAY_PARAM_DESC(ring, ring_cases, desc);

static void test_rings(struct kunit *test)
{
	const struct ring_case *c = test->param_value;
	struct kwarp_cq_coalesce h = c->h;

	KUNIT_EXPECT_EQ(test, kwarp_coalesce_rings(&h, c->held, c->polled), c->hold);
	KUNIT_EXPECT_EQ(test, h.missed, c->missed);
	KUNIT_EXPECT_EQ(test, h.obey, c->obey);
	KUNIT_EXPECT_EQ(test, h.quiet, 0);
}

/*
 * Cases of kwarp_coalesce_goes_on(), which decides after a round. @h: state of the CQ before the
 * decision. @f: what the round has found. @goes_on: expected decision: the hold continues. The
 * other members are the expected state of the CQ after it.
 */
static const struct look_case {
	const char *desc;
	struct kwarp_cq_coalesce h;
	struct kwarp_coalesce_facts f;
	bool goes_on;
	u32 missed;
	u32 idle;
	u32 quiet;
	u32 obey;
} look_cases[] = {
	{ "active", { .quiet = 2 }, { .active = true }, .goes_on = true },
	{ "waiting", { .quiet = 2 }, { .waiting = true }, .goes_on = true },
	{ "quiet", .goes_on = true, .quiet = 1 },
	{ "quiet for long", { .quiet = KWARP_COALESCE_QUIET - 1 },
	  .quiet = KWARP_COALESCE_QUIET },
	{ "forgotten, for the first time", { .active = true },
	  { .waiting = true, .forgotten = true }, .goes_on = true, .missed = 1 },
	{ "forgotten again, and active between", { .missed = 1 },
	  { .waiting = true, .forgotten = true, .active = true }, .goes_on = true, .missed = 2 },
	{ "forgotten again, and nothing between", { .missed = 1 },
	  { .waiting = true, .forgotten = true }, .goes_on = true, .missed = 1, .idle = 1 },
	{ "forgotten for long, and nothing between",
	  { .missed = 1, .idle = KWARP_COALESCE_IDLE - 1 },
	  { .waiting = true, .forgotten = true }, .goes_on = true, .missed = 2 },
	{ "forgotten once too often", { .missed = KWARP_COALESCE_MISSES - 1, .active = true },
	  { .waiting = true, .forgotten = true }, .obey = KWARP_COALESCE_OBEY },
};

KUNIT_ARRAY_PARAM_DESC(look, look_cases, desc);

static void test_goes_on(struct kunit *test)
{
	const struct look_case *c = test->param_value;
	struct kwarp_cq_coalesce h = c->h;

	KUNIT_EXPECT_EQ(test, kwarp_coalesce_goes_on(&h, &c->f), c->goes_on);
	KUNIT_EXPECT_EQ(test, h.missed, c->missed);
	KUNIT_EXPECT_EQ(test, h.idle, c->idle);
	KUNIT_EXPECT_EQ(test, h.quiet, c->quiet);
	KUNIT_EXPECT_EQ(test, h.obey, c->obey);
}

/* --------------------------------------------------------------------- facts */

/*
 * After a poll of the CQ of sends or of the CQ of receives, one doorbell makes the queue held, but
 * a second one without another poll ends the hold.
 */
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
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(e));
	KUNIT_ASSERT_TRUE(test, coalesce_held_after_ring(t));
	kwarp_coalesce_sent(e);
	KUNIT_EXPECT_TRUE(test, kwarp_coalesce_holds(e));
}

/*
 * A change of coalesce_us, the time to the first look, applies to streams that start later. With 0
 * nothing is held.
 */
static void test_knob(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct kwarp_engine *e = &t->s[0].e;

	e->kdev->knobs.coalesce_us = 0;
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	kwarp_coalesce_stop(e);
	kwarp_coalesce_reset(e);
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(e));
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	e->kdev->knobs.coalesce_us = 7;
	kwarp_coalesce_reset(e);
	coalesce_look_now(t);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_TRUE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_EQ(test, t->hold->ns, 7000);
}

/*
 * Without high-resolution timers nothing is held: the timer could fire at the next tick only,
 * milliseconds later.
 */
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

/*
 * Before KWARP_E_TX_OPEN is set the queue is not held: a responder that has received no FPDU must
 * not send, so a doorbell sends nothing.
 */
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
	coalesce_poll(t->scq);
	kwarp_coalesce_rung(&s->e);
	s->sq.next = s->sq.ring.hdr->prod;
	kwarp_coalesce_sent(&s->e);
	kwarp_coalesce_returns(&s->e);
	coalesce_told(s);
}

/* The real timer runs as long as a stream is held, and is started again for the next hold. */
static void test_timer(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	for (i = 0; i < 3; i++) {
		ring_with_timer(t, s);
		coalesce_post_waiting(s);
		KUNIT_EXPECT_TRUE(test, sent_within_a_second(s, 2 * i + 1));
		/*
		 * The program does nothing more, so the timer ends the hold. For that it calls the
		 * send function once more, which sets the ring's flags so that the program rings
		 * again.
		 */
		KUNIT_EXPECT_TRUE(test, sent_within_a_second(s, 2 * i + 2));
		KUNIT_EXPECT_EQ(test, s->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
		usleep_range(1000, 2000);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->hold->timer));
		KUNIT_EXPECT_EQ(test, s->sends, 2 * i + 2);
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
		KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(&s->e));
	}
}

static struct kunit_case coalesce_cases[] = {
	KUNIT_CASE_PARAM(test_rings, ring_gen_params),
	KUNIT_CASE_PARAM(test_goes_on, look_gen_params),
	KUNIT_CASE(test_polls),
	KUNIT_CASE(test_not_rung),
	KUNIT_CASE(test_knob),
	KUNIT_CASE(test_coarse_timer),
	KUNIT_CASE(test_no_stream),
	KUNIT_CASE(test_not_open),
	KUNIT_CASE(test_realtime),
	KUNIT_CASE(test_timer),
	KUNIT_CASE(test_stop),
	KUNIT_CASE(test_stop_waits),
	{}
};

static struct kunit_suite coalesce_suite = {
	.name = "kwarp_coalesce",
	.init = coalesce_test_init,
	.exit = coalesce_test_exit,
	.test_cases = coalesce_cases,
};

kunit_test_suite(coalesce_suite);
