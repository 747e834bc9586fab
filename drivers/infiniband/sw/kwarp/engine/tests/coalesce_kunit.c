// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of coalesce.c, which decides whether to hold send queues: the decisions as functions of
 * facts, how the facts are found, and the timer. Terms (hold, look, waiting and forgotten requests)
 * are those of coalesce.h.
 */
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>

#define kwarp_coalesce_rings	tested_coalesce_rings
#define kwarp_coalesce_goes_on	tested_coalesce_goes_on
#define kwarp_coalesce_init_cq	tested_coalesce_init_cq
#define kwarp_coalesce_fini_cq	tested_coalesce_fini_cq
#define kwarp_coalesce_init	tested_coalesce_init
#define kwarp_coalesce_reset	tested_coalesce_reset
#define kwarp_coalesce_rung	tested_coalesce_rung
#define kwarp_coalesce_returns	tested_coalesce_returns
#define kwarp_coalesce_sent	tested_coalesce_sent
#define kwarp_coalesce_stop	tested_coalesce_stop
#undef hrtimer_resolution
#define hrtimer_resolution	told_resolution

static unsigned int told_resolution;

#include "../tx/coalesce.c"

#include "../../queue/tests/fixture.h"

/* A value of coalesce_us so large that no timer fires while a test calls the look itself. */
#define TEST_US		(100 * USEC_PER_MSEC)
/* The same for the tests of the timer, in nanoseconds. */
#define TIMER_NS	(100 * NSEC_PER_USEC)

/* More streams than one call of the timer looks at. */
#define STREAMS		(KWARP_COALESCE_LOOKS + 10)

/* ------------------------------------------------------------------- decisions */

/* Decisions after a doorbell: the state, the arguments, the result, and the state after it. */
static const struct ring_case {
	const char *desc;
	struct kwarp_cq_hold h;
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
	struct kwarp_cq_hold h = c->h;

	KUNIT_EXPECT_EQ(test, kwarp_coalesce_rings(&h, c->held, c->polled), c->hold);
	KUNIT_EXPECT_EQ(test, h.missed, c->missed);
	KUNIT_EXPECT_EQ(test, h.obey, c->obey);
	KUNIT_EXPECT_EQ(test, h.quiet, 0);
}

/* Decisions after a round of looks, in the same form. */
static const struct look_case {
	const char *desc;
	struct kwarp_cq_hold h;
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
	struct kwarp_cq_hold h = c->h;

	KUNIT_EXPECT_EQ(test, kwarp_coalesce_goes_on(&h, &c->f), c->goes_on);
	KUNIT_EXPECT_EQ(test, h.missed, c->missed);
	KUNIT_EXPECT_EQ(test, h.idle, c->idle);
	KUNIT_EXPECT_EQ(test, h.quiet, c->quiet);
	KUNIT_EXPECT_EQ(test, h.obey, c->obey);
}

/* --------------------------------------------------------------------- facts */

/**
 * struct stream - one stream; only fields that matter here are set
 * @e: engine
 * @sq: its send queue; only the indices are used
 * @sends: number of times that the timer has sent
 * @told_held: at the last of these the stream was still held
 */
struct stream {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	u32 sends;
	bool told_held;
};

/**
 * struct coalesce_test - streams of a program that polls
 * @s: the streams
 * @scq: CQ in which their requests complete
 * @rcq: CQ in which their receives complete
 * @hold: the state of @scq under test
 * @slow_us: microseconds that a send of the timer takes
 */
struct coalesce_test {
	struct stream s[STREAMS];
	struct test_cq *scq;
	struct test_cq *rcq;
	struct kwarp_cq_hold *hold;
	u32 slow_us;
};

static struct coalesce_test *the_test;

static void told(struct stream *s)
{
	s->sq.ring.hdr->flags = kwarp_coalesce_holds(&s->e) ? KWARP_RING_HELD :
							      KWARP_RING_NEED_KICK;
}

/* As the runner does: take all requests and set the ring's flags. */
static void sent_by_timer(struct kwarp_engine *e)
{
	struct stream *s = container_of(e, struct stream, e);

	udelay(the_test->slow_us);
	s->sq.next = s->sq.ring.hdr->prod;
	s->sends++;
	s->told_held = kwarp_coalesce_holds(e);
	told(s);
}

static void start_stream(struct coalesce_test *t, struct stream *s, struct kwarp_dev *kdev)
{
	s->sq.cq = &t->scq->cq;
	s->e.kdev = kdev;
	s->e.sq = &s->sq;
	s->e.recv_cq = &t->rcq->cq;
	s->e.sock = (struct socket *)t;
	/* The test acts as the runner. */
	atomic_set(&s->e.tx.run, KWARP_RUN_ACTIVE);
	s->e.flags = BIT(KWARP_E_TX_OPEN);
	kwarp_coalesce_init(&s->e, sent_by_timer);
	kwarp_coalesce_reset(&s->e);
}

static int coalesce_test_init(struct kunit *test)
{
	struct coalesce_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, kdev);
	test->priv = t;
	the_test = t;
	t->scq = test_cq_new(test, 64);
	t->rcq = test_cq_new(test, 64);
	t->hold = &t->scq->cq.hold;
	t->scq->cq.ibcq.device = &kdev->ibdev;
	kwarp_coalesce_init_cq(&t->scq->cq);
	kdev->knobs.coalesce_us = TEST_US;
	told_resolution = 1;
	for (i = 0; i < STREAMS; i++) {
		test_ring_init(test, &t->s[i].sq.ring, 64, 64);
		start_stream(t, &t->s[i], kdev);
	}
	return 0;
}

static void coalesce_test_exit(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	for (i = 0; i < STREAMS; i++)
		kwarp_coalesce_stop(&t->s[i].e);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->hold->streams));
	KUNIT_EXPECT_EQ(test, t->hold->inside, 0);
	kwarp_coalesce_fini_cq(&t->scq->cq);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->s[0].e.kdev->holds), 0);
}

static void poll(struct test_cq *cq)
{
	cq->cq.ring.hdr->polls++;
}

/* Stop the timer: the test calls the look itself. */
static void no_timer(struct coalesce_test *t)
{
	hrtimer_cancel(&t->hold->timer);
}

static bool held_after_ring_of(struct coalesce_test *t, struct stream *s)
{
	bool inside = kwarp_coalesce_rung(&s->e);

	s->sq.next = s->sq.ring.hdr->prod;
	kwarp_coalesce_sent(&s->e);
	if (inside)
		kwarp_coalesce_returns(&s->e);
	no_timer(t);
	told(s);
	return kwarp_coalesce_holds(&s->e);
}

static bool held_after_ring(struct coalesce_test *t)
{
	return held_after_ring_of(t, &t->s[0]);
}

/* Hold the stream, as after a poll and a doorbell. */
static void hold(struct kunit *test, struct stream *s)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	KUNIT_ASSERT_TRUE(test, held_after_ring_of(t, s));
}

/* Look. Return: nanoseconds to the next look. */
static u64 look_now(struct coalesce_test *t)
{
	u64 ns;

	spin_lock_bh(&t->hold->lock);
	ns = hold_look(t->hold);
	if (!ns && t->hold->runs)
		atomic_dec(&t->s[0].e.kdev->holds);
	t->hold->runs = ns;
	spin_unlock_bh(&t->hold->lock);
	return ns;
}

/* The program posts a request and does not ring. */
static void post_waiting(struct stream *s)
{
	s->sq.ring.hdr->prod++;
}

static long timeouts(struct coalesce_test *t)
{
	return atomic_long_read(&t->s[0].e.kdev->coalesce_timeouts);
}

/* A poll of either CQ is counted, once. */
static void test_polls(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	poll(t->rcq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	t->s[0].e.recv_cq = &t->scq->cq;
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

/* Sending without a doorbell, as for an answer to the peer, changes nothing. */
static void test_not_rung(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct kwarp_engine *e = &t->s[0].e;

	poll(t->scq);
	kwarp_coalesce_sent(e);
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(e));
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	kwarp_coalesce_sent(e);
	KUNIT_EXPECT_TRUE(test, kwarp_coalesce_holds(e));
}

/* A change of the knob applies to streams that start later. */
static void test_knob(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct kwarp_engine *e = &t->s[0].e;

	e->kdev->knobs.coalesce_us = 0;
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	kwarp_coalesce_stop(e);
	kwarp_coalesce_reset(e);
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(e));
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	e->kdev->knobs.coalesce_us = 7;
	kwarp_coalesce_reset(e);
	look_now(t);
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	KUNIT_EXPECT_EQ(test, t->hold->ns, 7000);
}

/* Without high-resolution timers nothing is held: a hold would last for milliseconds. */
static void test_coarse_timer(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	told_resolution = TEST_US * NSEC_PER_USEC + 1;
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	told_resolution--;
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
}

static void test_no_stream(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	t->s[0].e.sock = NULL;
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

/* A responder that must not send yet is not held. */
static void test_not_open(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	t->s[0].e.flags = 0;
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

static void be_normal(void *unused)
{
	sched_set_normal(current, 0);
}

/* A real-time program may never let the timer run, so it is not held. */
static void test_realtime(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, be_normal, NULL), 0);
	sched_set_fifo(current);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	sched_set_normal(current, 0);
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	/* Held before it got the real-time policy. */
	sched_set_fifo(current);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

/* --------------------------------------------------------------------- looks */

/* A request found by one look is sent at the next, if there was no poll between them. */
static void test_forgotten(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	hold(test, s);
	look_now(t);
	post_waiting(s);
	look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_TRUE(test, s->told_held);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
}

static void poll_sends(struct coalesce_test *t)
{
	poll(t->scq);
}

static void poll_recvs(struct coalesce_test *t)
{
	poll(t->rcq);
}

static void ring_another(struct coalesce_test *t)
{
	held_after_ring_of(t, &t->s[1]);
}

static void be_in_doorbell(struct coalesce_test *t)
{
	kwarp_coalesce_rung(&t->s[1].e);
}

static const struct deed {
	const char *desc;
	void (*once)(struct coalesce_test *t);
	void (*each)(struct coalesce_test *t);
} deed_cases[] = {
	{ "polls its sends", .each = poll_sends },
	{ "polls its receives", .each = poll_recvs },
	{ "rings for another queue pair", .each = ring_another },
	{ "is in another doorbell", .once = be_in_doorbell },
};

KUNIT_ARRAY_PARAM_DESC(deed, deed_cases, desc);

/*
 * The program polls, so it is busy and will ring later; its request waits for a limited number of
 * looks.
 */
static void test_busy(struct kunit *test)
{
	const struct deed *d = test->param_value;
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	hold(test, s);
	look_now(t);
	post_waiting(s);
	if (d->once)
		d->once(t);
	for (i = 0; i < KWARP_COALESCE_BUSY; i++) {
		if (d->each)
			d->each(t);
		look_now(t);
		KUNIT_ASSERT_EQ_MSG(test, s->sends, 0, "look %u", i);
	}
	if (d->each)
		d->each(t);
	look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_TRUE(test, s->told_held);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	KUNIT_EXPECT_EQ(test, t->hold->missed, 0);
	if (d->once)
		kwarp_coalesce_returns(&t->s[1].e);
}

/*
 * After it has returned from its doorbell, a program does not count as active, however long TCP is
 * full.
 */
static void test_blocked(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	hold(test, s);
	post_waiting(s);
	kwarp_coalesce_rung(&t->s[1].e);
	kwarp_coalesce_returns(&t->s[1].e);
	look_now(t);
	look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_TRUE(test, t->hold->missed);
}

/* The runner has not yet taken the requests that the doorbell was for. */
static void by_doorbell(struct stream *s)
{
	kwarp_coalesce_rung(&s->e);
	kwarp_coalesce_returns(&s->e);
}

static void by_read(struct stream *s)
{
	set_bit(KWARP_E_TX_WAIT_READ, &s->e.flags);
}

static void by_tcp(struct stream *s)
{
	s->sq.ring.hdr->flags = 0;
}

static const struct others_work {
	const char *desc;
	void (*make)(struct stream *s);
} others_work[] = {
	{ "the program has rung for all that is there", by_doorbell },
	{ "a Read Response is waited for", by_read },
	{ "TCP is full, or somebody sends", by_tcp },
};

KUNIT_ARRAY_PARAM_DESC(other, others_work, desc);

/* Requests in the ring for which the program need not ring. */
static void test_others_work(struct kunit *test)
{
	const struct others_work *c = test->param_value;
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	hold(test, s);
	post_waiting(s);
	c->make(s);
	for (i = 0; i < 3; i++)
		look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	KUNIT_EXPECT_EQ(test, timeouts(t), 0);
}

/* After some forgotten requests the hold ends, and posters have to ring. */
static void test_misses(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	hold(test, s);
	hold(test, &t->s[1]);
	for (i = 0; i < KWARP_COALESCE_MISSES; i++) {
		poll(t->scq);
		KUNIT_ASSERT_TRUE(test, kwarp_coalesce_holds(&s->e));
		post_waiting(s);
		look_now(t);
		look_now(t);
		KUNIT_EXPECT_EQ(test, timeouts(t), i + 1);
	}
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(&s->e));
	KUNIT_EXPECT_EQ(test, s->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, t->s[1].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, look_now(t), 0);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	KUNIT_EXPECT_EQ(test, t->hold->obey, KWARP_COALESCE_OBEY - 1);
}

/* The hold does not end if the program sometimes rings for waiting requests. */
static void test_ring_forgives(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i, n;

	hold(test, s);
	for (i = 0; i < 2 * KWARP_COALESCE_MISSES; i++) {
		post_waiting(s);
		look_now(t);
		look_now(t);
		for (n = 0; n < KWARP_COALESCE_FORGIVE; n++) {
			post_waiting(s);
			hold(test, s);
		}
	}
	KUNIT_EXPECT_EQ(test, timeouts(t), 2 * KWARP_COALESCE_MISSES);
}

/* A doorbell after the timer has sent everything does not count as one for waiting requests. */
static void test_ring_late(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i, n;

	hold(test, s);
	for (i = 0; i < KWARP_COALESCE_MISSES; i++) {
		post_waiting(s);
		look_now(t);
		look_now(t);
		KUNIT_EXPECT_EQ(test, !!t->hold->obey, i + 1 == KWARP_COALESCE_MISSES);
		for (n = 0; n < KWARP_COALESCE_FORGIVE; n++) {
			poll(t->scq);
			held_after_ring(t);
		}
	}
}

/* A doorbell before the decision on the previous one, which was for waiting requests. */
static void test_ring_twice(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	hold(test, s);
	post_waiting(s);
	kwarp_coalesce_rung(&s->e);
	kwarp_coalesce_returns(&s->e);
	s->sq.next = s->sq.ring.hdr->prod;
	hold(test, s);
	KUNIT_EXPECT_EQ(test, t->hold->good, 1);
}

/* The program does nothing any more: the hold ends, and so does the timer. */
static void test_quiet(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	hold(test, &t->s[0]);
	/* The first look counts the doorbell as activity. */
	for (i = 0; i < KWARP_COALESCE_QUIET; i++)
		KUNIT_EXPECT_NE(test, look_now(t), 0);
	KUNIT_EXPECT_EQ(test, look_now(t), 0);
	KUNIT_EXPECT_EQ(test, t->s[0].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, t->hold->obey, 0);
	hold(test, &t->s[0]);
	KUNIT_EXPECT_EQ(test, t->hold->ns, TEST_US * NSEC_PER_USEC);
}

/* The time between looks grows while no request is forgotten. */
static void test_slow(struct kunit *test)
{
	const u64 least = TEST_US * NSEC_PER_USEC;
	struct coalesce_test *t = test->priv;
	u64 ns = least;
	u32 i;

	hold(test, &t->s[0]);
	for (i = 0; i < 10; i++) {
		ns = min(2 * ns, KWARP_COALESCE_SLOW * least);
		poll(t->scq);
		KUNIT_EXPECT_EQ(test, look_now(t), ns);
	}
	post_waiting(&t->s[0]);
	look_now(t);
	KUNIT_EXPECT_EQ(test, look_now(t), least);
}

/* A stream without posts for many looks is not held any longer; another stream of the CQ is. */
static void test_unused(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	hold(test, &t->s[0]);
	hold(test, &t->s[1]);
	for (i = 0; i < KWARP_COALESCE_UNUSED; i++) {
		KUNIT_EXPECT_TRUE(test, kwarp_coalesce_holds(&t->s[0].e));
		post_waiting(&t->s[1]);
		hold(test, &t->s[1]);
		look_now(t);
	}
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(&t->s[0].e));
	KUNIT_EXPECT_EQ(test, t->s[0].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_TRUE(test, kwarp_coalesce_holds(&t->s[1].e));
}

/* If too many timers run, no stream is held: each doorbell sends at once. */
static void test_max(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	atomic_t *holds = &t->s[0].e.kdev->holds;

	atomic_set(holds, KWARP_MAX_HOLDS);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	KUNIT_EXPECT_EQ(test, atomic_read(holds), KWARP_MAX_HOLDS);
	atomic_set(holds, 0);
	hold(test, &t->s[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(holds), 1);
	/* Another stream of the CQ uses the same timer. */
	hold(test, &t->s[1]);
	KUNIT_EXPECT_EQ(test, atomic_read(holds), 1);
}

/* Look until the timer has sent for all streams, some at a time. Return: number of looks. */
static u32 looks_until_sent(struct coalesce_test *t)
{
	u32 i, looks, sent = 0, before;

	for (looks = 0; sent < STREAMS && looks < 100; looks++) {
		look_now(t);
		before = sent;
		for (i = 0, sent = 0; i < STREAMS; i++)
			sent += !!t->s[i].sends;
		if (sent > before + KWARP_COALESCE_SENDS)
			return 0;
	}
	return looks;
}

/* With many streams each is looked at; when the hold ends, each is released, some at a time. */
static void test_many(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i, looks;

	for (i = 0; i < STREAMS; i++) {
		hold(test, &t->s[i]);
		post_waiting(&t->s[i]);
	}
	/* The first round of looks finds the requests, the second sends them. */
	looks = looks_until_sent(t);
	KUNIT_EXPECT_GE(test, looks, STREAMS / KWARP_COALESCE_LOOKS +
				     STREAMS / KWARP_COALESCE_SENDS);
	KUNIT_EXPECT_LT(test, looks, 100);
	for (i = 0; i < STREAMS; i++)
		hold(test, &t->s[i]);
	for (looks = 0; !t->hold->ends && looks < 100; looks++)
		look_now(t);
	KUNIT_ASSERT_LT(test, looks, 100);
	for (looks = 1; look_now(t) == KWARP_COALESCE_PAUSE_NS && looks < 100; looks++)
		;
	KUNIT_EXPECT_EQ(test, looks, DIV_ROUND_UP(STREAMS, KWARP_COALESCE_SENDS) - 1);
	for (i = 0; i < STREAMS; i++)
		KUNIT_EXPECT_EQ(test, t->s[i].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
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
	poll(t->scq);
	kwarp_coalesce_rung(&s->e);
	s->sq.next = s->sq.ring.hdr->prod;
	kwarp_coalesce_sent(&s->e);
	kwarp_coalesce_returns(&s->e);
	told(s);
}

/* The real timer runs as long as a stream is held, and is started again for the next hold. */
static void test_timer(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	for (i = 0; i < 3; i++) {
		ring_with_timer(t, s);
		post_waiting(s);
		KUNIT_EXPECT_TRUE(test, sent_within_a_second(s, 2 * i + 1));
		/* Then the program does nothing, and the hold ends. */
		KUNIT_EXPECT_TRUE(test, sent_within_a_second(s, 2 * i + 2));
		KUNIT_EXPECT_EQ(test, s->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
		usleep_range(1000, 2000);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->hold->timer));
		KUNIT_EXPECT_EQ(test, s->sends, 2 * i + 2);
	}
}

/* A stopped stream is not looked at any more; another stream of the CQ is. */
static void test_stop(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	ring_with_timer(t, &t->s[0]);
	ring_with_timer(t, &t->s[1]);
	kwarp_coalesce_stop(&t->s[0].e);
	post_waiting(&t->s[0]);
	post_waiting(&t->s[1]);
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
		post_waiting(s);
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
	KUNIT_CASE(test_forgotten),
	KUNIT_CASE_PARAM(test_busy, deed_gen_params),
	KUNIT_CASE(test_blocked),
	KUNIT_CASE_PARAM(test_others_work, other_gen_params),
	KUNIT_CASE(test_misses),
	KUNIT_CASE(test_ring_forgives),
	KUNIT_CASE(test_ring_late),
	KUNIT_CASE(test_ring_twice),
	KUNIT_CASE(test_quiet),
	KUNIT_CASE(test_slow),
	KUNIT_CASE(test_unused),
	KUNIT_CASE(test_max),
	KUNIT_CASE(test_many),
	KUNIT_CASE(test_timer),
	KUNIT_CASE(test_stop),
	KUNIT_CASE(test_stop_waits),
	{ }
};

static struct kunit_suite coalesce_suite = {
	.name = "kwarp_coalesce",
	.init = coalesce_test_init,
	.exit = coalesce_test_exit,
	.test_cases = coalesce_cases,
};
kunit_test_suite(coalesce_suite);
