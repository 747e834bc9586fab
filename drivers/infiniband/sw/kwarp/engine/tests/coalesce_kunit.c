// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whether to hold a send queue: the verdict as a function of facts, and the facts.
 */
#include <kunit/test.h>

#include <linux/hrtimer.h>
#include <linux/sched.h>

#define kwarp_coalesce_verdict	tested_coalesce_verdict
#define kwarp_coalesce_reset	tested_coalesce_reset
#define kwarp_coalesce_rung	tested_coalesce_rung
#define kwarp_coalesce_sent	tested_coalesce_sent
#define kwarp_coalesce_due	tested_coalesce_due
#undef hrtimer_resolution
#define hrtimer_resolution	told_resolution

static unsigned int told_resolution;

#include "../tx/coalesce.c"

#include "../../queue/tests/fixture.h"

/* ------------------------------------------------------------------- verdict */

/* Facts, and what follows: the verdict, and the counts after it. */
static const struct verdict_case {
	const char *desc;
	struct kwarp_coalesce c;
	struct kwarp_coalesce_facts f;
	bool hold;
	u32 obey;
	u32 quiet;
	u32 left;
} verdict_cases[] = {
	{ "rung, polls", .f = { .polled = true }, .hold = true },
	{ "rung, has not polled" },
	{ "rung, has completions, has not polled", .f = { .completions = true } },
	{ "rung, polls and has completions", .f = { .polled = true, .completions = true },
	  .hold = true },
	{ "rung, polls, waits for an event", .f = { .polled = true, .armed = true } },
	{ "rung, to be obeyed", .c = { .obey = 3 }, .f = { .polled = true }, .obey = 2 },
	{ "rung, to be obeyed for the last time", .c = { .obey = 1 }, .f = { .polled = true } },
	{ "rung after some looks", .c = { .quiet = 5, .left = 6 }, .f = { .polled = true },
	  .hold = true },

	{ "due, nothing posted", .f = { .due = true, .polled = true } },
	{ "due, nothing posted, completions", .f = { .due = true, .completions = true },
	  .hold = true, .quiet = 1 },
	{ "due, nothing posted, completions, for long",
	  .c = { .quiet = KWARP_COALESCE_LOOKS - 1, .left = 2 },
	  .f = { .due = true, .completions = true }, .quiet = KWARP_COALESCE_LOOKS, .left = 2 },
	{ "due, posted, completions", .c = { .quiet = 5 },
	  .f = { .due = true, .posted = true, .completions = true },
	  .hold = true, .quiet = 5, .left = 1 },
	{ "due, posted, completions that it never takes",
	  .c = { .left = KWARP_COALESCE_LOOKS - 1 },
	  .f = { .due = true, .posted = true, .completions = true },
	  .obey = KWARP_COALESCE_OBEY, .left = KWARP_COALESCE_LOOKS },
	{ "due, posted, all polled", .f = { .due = true, .posted = true, .polled = true },
	  .obey = KWARP_COALESCE_OBEY },
	{ "due, posted, nothing polled", .f = { .due = true, .posted = true },
	  .obey = KWARP_COALESCE_OBEY },
	{ "due, posted, completions, waits for an event",
	  .f = { .due = true, .posted = true, .completions = true, .armed = true } },
	{ "due, posted, waits for an event",
	  .f = { .due = true, .posted = true, .armed = true } },
};

KUNIT_ARRAY_PARAM_DESC(verdict, verdict_cases, desc);

static void test_verdict(struct kunit *test)
{
	const struct verdict_case *v = test->param_value;
	struct kwarp_coalesce c = v->c;

	KUNIT_EXPECT_EQ(test, kwarp_coalesce_verdict(&c, &v->f), v->hold);
	KUNIT_EXPECT_EQ(test, c.obey, v->obey);
	KUNIT_EXPECT_EQ(test, c.quiet, v->quiet);
	KUNIT_EXPECT_EQ(test, c.left, v->left);
}

/* --------------------------------------------------------------------- facts */

/**
 * struct coalesce_test - a stream whose program polls
 * @e: engine
 * @c: what is tested
 * @sq: its queue, of which only the indices matter
 * @scq: where its requests complete
 * @rcq: where receives do
 */
struct coalesce_test {
	struct kwarp_engine e;
	struct kwarp_coalesce *c;
	struct kwarp_sq sq;
	struct test_cq *scq;
	struct test_cq *rcq;
};

static int coalesce_test_init(struct kunit *test)
{
	struct coalesce_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, kdev);
	test->priv = t;
	t->c = &t->e.tx.coalesce;
	test_ring_init(test, &t->sq.ring, 64, 64);
	t->scq = test_cq_new(test, 64);
	t->rcq = test_cq_new(test, 64);
	t->sq.cq = &t->scq->cq;
	kdev->knobs.coalesce_us = KWARP_COALESCE_US;
	t->e.kdev = kdev;
	t->e.sq = &t->sq;
	t->e.recv_cq = &t->rcq->cq;
	t->e.sock = (struct socket *)t;
	/* The test is the runner. */
	atomic_set(&t->e.tx.run, KWARP_RUN_ACTIVE);
	t->e.flags = BIT(KWARP_E_TX_OPEN);
	told_resolution = 1;
	kwarp_coalesce_reset(&t->e);
	return 0;
}

static void poll(struct test_cq *cq)
{
	cq->cq.ring.hdr->polls++;
}

static bool held_after_ring(struct coalesce_test *t)
{
	kwarp_coalesce_rung(&t->e);
	kwarp_coalesce_sent(&t->e);
	return t->c->on;
}

/* As the runner has told posters after the last doorbell. */
static bool held_after_look(struct coalesce_test *t)
{
	t->sq.ring.hdr->flags = t->c->on ? KWARP_RING_HELD : KWARP_RING_NEED_KICK;
	kwarp_coalesce_due(&t->e);
	return t->c->on;
}

/* A period without a doorbell. */
static bool held_after_period(struct coalesce_test *t)
{
	t->c->lately = false;
	return held_after_look(t);
}

/* A poll of either CQ counts, once. */
static void test_polls(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	poll(t->rcq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	t->e.recv_cq = &t->scq->cq;
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

static void test_armed(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	t->rcq->cq.ring.hdr->arm = KWARP_CQ_ARM_SOLICITED;
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	t->rcq->cq.ring.hdr->arm = 0;
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	t->scq->cq.prod++;
	KUNIT_EXPECT_TRUE(test, held_after_period(t));
	t->scq->cq.ring.hdr->arm = KWARP_CQ_ARM_NEXT;
	KUNIT_EXPECT_FALSE(test, held_after_period(t));
}

/* What is sent without a doorbell, as an answer to the peer is, changes nothing. */
static void test_not_rung(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	kwarp_coalesce_sent(&t->e);
	KUNIT_EXPECT_FALSE(test, t->c->on);
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	kwarp_coalesce_sent(&t->e);
	KUNIT_EXPECT_TRUE(test, t->c->on);
}

/* The event that the program has asked for is raised by what it has just sent. */
static void test_disarmed(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	t->scq->cq.ring.hdr->arm = KWARP_CQ_ARM_NEXT;
	kwarp_coalesce_rung(&t->e);
	t->scq->cq.ring.hdr->arm = 0;
	kwarp_coalesce_sent(&t->e);
	KUNIT_EXPECT_TRUE(test, t->c->on);
}

/* Completions of receives are something to do, too; each look at requests that wait is counted. */
static void test_due(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	atomic_long_t *timeouts = &t->e.kdev->coalesce_timeouts;

	poll(t->scq);
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	t->rcq->cq.prod++;
	KUNIT_EXPECT_TRUE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, atomic_long_read(timeouts), 0);
	t->sq.ring.hdr->prod++;
	KUNIT_EXPECT_TRUE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, atomic_long_read(timeouts), 1);
	t->rcq->cq.ring.hdr->cons = t->rcq->cq.prod;
	KUNIT_EXPECT_FALSE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, atomic_long_read(timeouts), 2);
	/* The end of a period that was ended already is none. */
	KUNIT_EXPECT_FALSE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, atomic_long_read(timeouts), 2);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	KUNIT_EXPECT_EQ(test, t->c->obey, KWARP_COALESCE_OBEY - 1);
}

/* The knob, for streams that begin later; and what was learnt of the one before is forgotten. */
static void test_knob(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	t->e.kdev->knobs.coalesce_us = 0;
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	t->c->obey = 5;
	kwarp_coalesce_reset(&t->e);
	KUNIT_EXPECT_FALSE(test, t->c->on);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	t->e.kdev->knobs.coalesce_us = 7;
	kwarp_coalesce_reset(&t->e);
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	KUNIT_EXPECT_EQ(test, t->c->ns, 7000);
}

/* A timer that only ends with a tick would hold for milliseconds. */
static void test_coarse_timer(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	told_resolution = KWARP_COALESCE_US * NSEC_PER_USEC + 1;
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	told_resolution--;
	poll(t->scq);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
}

static void test_no_stream(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	t->e.sock = NULL;
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

/* A responder that must not send yet. */
static void test_not_open(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	t->e.flags = 0;
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

/* A program that asks for an event rings for what it has left, or is about to. */
static void test_due_armed(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	t->sq.ring.hdr->prod++;
	t->scq->cq.ring.hdr->arm = KWARP_CQ_ARM_NEXT;
	KUNIT_EXPECT_FALSE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, t->c->obey, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_timeouts), 0);
}

/* A look soon after a doorbell: the program has had no period to ring again. */
static void test_lately(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	t->sq.ring.hdr->prod++;
	KUNIT_EXPECT_TRUE(test, held_after_look(t));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_timeouts), 0);
	KUNIT_EXPECT_FALSE(test, held_after_look(t));
	KUNIT_EXPECT_EQ(test, t->c->obey, KWARP_COALESCE_OBEY);
}

/* The program has rung for all that is there: that it is there is TCP's doing. */
static void test_rung_for_all(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	t->sq.ring.hdr->prod += 7;
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	KUNIT_EXPECT_FALSE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, t->c->obey, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_timeouts), 0);
}

/* Posters have been told that they need not ring, since TCP is full or a work item will go on. */
static void test_busy(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	t->sq.ring.hdr->prod++;
	t->c->lately = false;
	t->sq.ring.hdr->flags = 0;
	kwarp_coalesce_due(&t->e);
	KUNIT_EXPECT_TRUE(test, t->c->on);
	t->c->rung = true;
	KUNIT_EXPECT_TRUE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, t->c->obey, 0);
}

/* Requests that wait for a Read Response are not the program's to ring for. */
static void test_waits_for_read(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	poll(t->scq);
	KUNIT_ASSERT_TRUE(test, held_after_ring(t));
	t->sq.ring.hdr->prod++;
	set_bit(KWARP_E_TX_WAIT_READ, &t->e.flags);
	KUNIT_EXPECT_FALSE(test, held_after_period(t));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_timeouts), 0);
	KUNIT_EXPECT_EQ(test, t->c->obey, 0);
}

static void be_normal(void *unused)
{
	sched_set_normal(current, 0);
}

/* A real-time program may never let the timer run: its own doorbells are obeyed. */
static void test_realtime(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, be_normal, NULL), 0);
	sched_set_fifo(current);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
	sched_set_normal(current, 0);
	KUNIT_EXPECT_TRUE(test, held_after_ring(t));
	/* Held before it became one. */
	sched_set_fifo(current);
	poll(t->scq);
	KUNIT_EXPECT_FALSE(test, held_after_ring(t));
}

static struct kunit_case coalesce_cases[] = {
	KUNIT_CASE_PARAM(test_verdict, verdict_gen_params),
	KUNIT_CASE(test_polls),
	KUNIT_CASE(test_armed),
	KUNIT_CASE(test_not_rung),
	KUNIT_CASE(test_disarmed),
	KUNIT_CASE(test_due),
	KUNIT_CASE(test_knob),
	KUNIT_CASE(test_coarse_timer),
	KUNIT_CASE(test_no_stream),
	KUNIT_CASE(test_not_open),
	KUNIT_CASE(test_due_armed),
	KUNIT_CASE(test_lately),
	KUNIT_CASE(test_rung_for_all),
	KUNIT_CASE(test_busy),
	KUNIT_CASE(test_waits_for_read),
	KUNIT_CASE(test_realtime),
	{ }
};

static struct kunit_suite coalesce_suite = {
	.name = "kwarp_coalesce",
	.init = coalesce_test_init,
	.test_cases = coalesce_cases,
};
kunit_test_suite(coalesce_suite);
