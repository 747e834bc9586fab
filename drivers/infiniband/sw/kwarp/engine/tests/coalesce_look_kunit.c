// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of coalesce.c, which decides whether to hold send queues: what a look of the timer does. */
#include "coalesce_fixture.h"

#include <linux/kthread.h>
#include <linux/pid.h>

/* -------------------------------------------------------------------- counts */

static long timeouts(struct coalesce_test *t)
{
	return atomic_long_read(&t->s[0].e.kdev->coalesce_timeouts);
}

/* --------------------------------------------------------------------- looks */

/* A waiting request found by one look is sent by the next: within twice coalesce_us. */
static void test_forgotten(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	coalesce_hold(test, &t->s[1]);
	coalesce_look_now(t);
	coalesce_post_waiting(s);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_EQ(test, coalesce_look_now(t), TEST_US * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	coalesce_post_waiting(&t->s[1]);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_FALSE(test, s->told_held);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	KUNIT_EXPECT_EQ(test, s->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	coalesce_look_now(t);
	KUNIT_EXPECT_FALSE(test, coalesce_is_held(&t->s[1]));
	KUNIT_EXPECT_EQ(test, t->s[1].sends, 1);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
}

/* A forgotten request that is rare ends the hold of its queue only, until the next doorbell. */
static void test_forgotten_rarely(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	coalesce_hold(test, &t->s[1]);
	t->hold->sent = KWARP_COALESCE_RARE;
	coalesce_post_waiting(s);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, coalesce_look_now(t), TEST_US * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_FALSE(test, coalesce_is_held(s));
	KUNIT_EXPECT_TRUE(test, coalesce_is_held(&t->s[1]));
	coalesce_hold(test, s);
}

static void poll_sends(struct coalesce_test *t)
{
	coalesce_poll(t->scq);
}

static void poll_recvs(struct coalesce_test *t)
{
	coalesce_poll(t->rcq);
}

static const struct deed {
	const char *desc;
	void (*each)(struct coalesce_test *t);
	u32 us;
	u32 looks;
} deed_cases[] = {
	{ "polls its sends", poll_sends, KWARP_COALESCE_US, 20 },
	{ "polls its receives", poll_recvs, KWARP_COALESCE_US, 20 },
	{ "looks are rare", poll_sends, KWARP_COALESCE_MAX_US, 2 },
	{ "looks are frequent", poll_sends, KWARP_COALESCE_MIN_US, 200 },
};

KUNIT_ARRAY_PARAM_DESC(deed, deed_cases, desc);

/* The program polls: it is busy, and will ring for this queue later. */
static void test_busy(struct kunit *test)
{
	const struct deed *d = test->param_value;
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	coalesce_hold(test, s);
	t->hold->ns = d->us * NSEC_PER_USEC;
	coalesce_look_now(t);
	coalesce_post_waiting(s);
	for (i = 1; i < 1000 && !s->sends; i++) {
		d->each(t);
		coalesce_look_now(t);
	}
	/* The request was posted before the first of these looks. */
	KUNIT_EXPECT_LE(test, (i - 1) * d->us * NSEC_PER_USEC, 2 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, i - 1, d->looks);
	KUNIT_EXPECT_TRUE(test, s->told_held);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	KUNIT_EXPECT_TRUE(test, coalesce_is_held(s));
	KUNIT_EXPECT_EQ(test, t->hold->obey, 0);
}

/* A program that rings for another queue and does not poll has forgotten the request. */
static void test_rings(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	coalesce_post_waiting(s);
	coalesce_look_now(t);
	coalesce_hold(test, s);
	coalesce_post_waiting(s);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	coalesce_held_after_ring_of(t, &t->s[1]);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_FALSE(test, coalesce_is_held(s));
}

/* So often that the program could be busy: requests of a busy program wait for a limited time. */
static void look_often(struct coalesce_test *t)
{
	t->hold->ns = KWARP_COALESCE_US * NSEC_PER_USEC;
}

/* The program is inside a doorbell for another queue pair: it can poll only after it. */
static void test_inside(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	look_often(t);
	coalesce_post_waiting(s);
	kwarp_coalesce_rung(&t->s[1].e);
	coalesce_look_now(t);
	coalesce_look_now(t);
	kwarp_coalesce_returns(&t->s[1].e);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
}

/* Several requests wait: the timer sends them, and the hold continues. */
static void test_several(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	coalesce_post_waiting(s);
	coalesce_post_waiting(s);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	KUNIT_EXPECT_TRUE(test, coalesce_is_held(s));
	KUNIT_EXPECT_EQ(test, t->hold->obey, 0);
}

/* The timer has sent for another queue: the program may have had no processor since. */
static void test_sent_for_another(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, &t->s[1]);
	coalesce_hold(test, s);
	look_often(t);
	coalesce_post_waiting(&t->s[1]);
	coalesce_post_waiting(&t->s[1]);
	coalesce_look_now(t);
	coalesce_post_waiting(s);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, t->s[1].sends, 1);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
}

/* A look that comes to a stream twice, because others have left meanwhile, judges it once. */
static void test_leave_meanwhile(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		coalesce_hold(test, &t->s[i]);
	/* When these ring the next time, the program has not polled meanwhile. */
	KUNIT_ASSERT_TRUE(test, coalesce_held_after_ring_of(t, &t->s[1]));
	KUNIT_ASSERT_TRUE(test, coalesce_held_after_ring_of(t, &t->s[2]));
	coalesce_post_waiting(&t->s[0]);
	coalesce_post_waiting(&t->s[0]);
	coalesce_look_now(t);
	coalesce_post_waiting(&t->s[3]);
	t->leave = 2;
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, t->s[0].sends, 1);
	KUNIT_EXPECT_FALSE(test, coalesce_is_held(&t->s[1]));
	KUNIT_EXPECT_FALSE(test, coalesce_is_held(&t->s[2]));
	KUNIT_EXPECT_EQ(test, t->s[3].sends, 0);
	KUNIT_EXPECT_EQ(test, t->hold->obey, 0);
}

static int until_stopped(void *unused)
{
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* The thread that posts has no processor: it cannot poll. Once it has ended, nobody polls. */
static void test_poster_waits(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	struct task_struct *poster;
	unsigned int cpu = raw_smp_processor_id();

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
	poster = kthread_create_on_cpu(until_stopped, NULL, cpu, "kwarp-poster/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, poster);
	coalesce_hold(test, s);
	look_often(t);
	coalesce_post_waiting(s);
	coalesce_look_now(t);
	preempt_disable();
	t->hold->poster = task_pid_nr(poster);
	wake_up_process(poster);
	coalesce_look_now(t);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	kthread_stop(poster);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
}

/* The program has rung for its requests, and the runner has not yet taken them. */
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

/* The timer does not send requests that another context will send, or that cannot be sent yet. */
static void test_others_work(struct kunit *test)
{
	const struct others_work *c = test->param_value;
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	coalesce_hold(test, s);
	coalesce_post_waiting(s);
	c->make(s);
	for (i = 0; i < 3; i++)
		coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	KUNIT_EXPECT_EQ(test, timeouts(t), 0);
}

/* The program neither polls nor posts any more: the hold ends, and the timer stops. */
static void test_quiet(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	coalesce_hold(test, &t->s[0]);
	for (i = 1; i < KWARP_COALESCE_QUIET; i++)
		KUNIT_EXPECT_NE(test, coalesce_look_now(t), 0);
	KUNIT_EXPECT_EQ(test, coalesce_look_now(t), 0);
	KUNIT_EXPECT_EQ(test, t->s[0].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, t->hold->obey, 0);
	coalesce_hold(test, &t->s[0]);
}

static void test_not_quiet(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	coalesce_hold(test, &t->s[0]);
	for (i = 0; i < 3 * KWARP_COALESCE_QUIET; i++) {
		if (i % KWARP_COALESCE_QUIET == 0)
			coalesce_poll(t->scq);
		KUNIT_EXPECT_EQ(test, coalesce_look_now(t), TEST_US * NSEC_PER_USEC);
	}
}

static void test_user_max(struct kunit *test)
{
	struct coalesce_test *t = test->priv;

	atomic_set(&t->user.holds, KWARP_MAX_USER_HOLDS);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.holds), KWARP_MAX_USER_HOLDS);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->s[0].e.kdev->timers.holds), 0);
	atomic_set(&t->user.holds, 0);
	coalesce_hold(test, &t->s[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.holds), 1);
}

static void test_max(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	atomic_t *holds = &t->s[0].e.kdev->timers.holds;

	atomic_set(holds, KWARP_MAX_HOLDS);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_EQ(test, atomic_read(holds), KWARP_MAX_HOLDS);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.holds), 0);
	atomic_set(holds, 0);
	coalesce_hold(test, &t->s[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(holds), 1);
	/* Another stream of the CQ uses the same timer. */
	coalesce_hold(test, &t->s[1]);
	KUNIT_EXPECT_EQ(test, atomic_read(holds), 1);
}

#define HALF	(KWARP_COALESCE_STREAMS / KWARP_COALESCE_SENDS / 2)

static u32 sends_of_all(const struct coalesce_test *t)
{
	u32 i, sends = 0;

	for (i = 0; i < STREAMS; i++)
		sends += t->s[i].sends;
	return sends;
}

/*
 * A limited number of streams is held at a time, so that the timer can look at all of them in one
 * call. Each call sends for a limited number of them.
 */
static void test_many(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i, before;
	u64 pause;

	t->looks_at_once = true;
	for (i = 0; i < STREAMS; i++) {
		coalesce_poll(t->scq);
		KUNIT_EXPECT_EQ(test, coalesce_held_after_ring_of(t, &t->s[i]),
				i < KWARP_COALESCE_STREAMS);
	}
	for (i = 0; i < KWARP_COALESCE_STREAMS; i++)
		coalesce_post_waiting(&t->s[i]);
	KUNIT_EXPECT_NE(test, coalesce_look_now(t), 0);
	for (i = 0; i < KWARP_COALESCE_STREAMS / KWARP_COALESCE_SENDS; i++) {
		before = sends_of_all(t);
		pause = coalesce_look_now(t);
		KUNIT_EXPECT_EQ(test, sends_of_all(t) - before, KWARP_COALESCE_SENDS);
		/* After half of them the program ends, and does not need the processor any more. */
		if (i == HALF)
			coalesce_forget_poster(t->hold);
		else if (pause && i < HALF)
			KUNIT_EXPECT_EQ(test, pause, t->hold->ns);
		else if (pause)
			KUNIT_EXPECT_EQ(test, pause, KWARP_COALESCE_MIN_US * NSEC_PER_USEC);
	}
	for (i = 0; i < KWARP_COALESCE_STREAMS; i++)
		KUNIT_EXPECT_EQ(test, t->s[i].sends, 1);
	KUNIT_EXPECT_EQ(test, coalesce_look_now(t), 0);
	t->hold->obey = 0;
	coalesce_hold(test, &t->s[STREAMS - 1]);
}

static struct kunit_case coalesce_look_cases[] = {
	KUNIT_CASE(test_forgotten),
	KUNIT_CASE(test_forgotten_rarely),
	KUNIT_CASE_PARAM(test_busy, deed_gen_params),
	KUNIT_CASE(test_rings),
	KUNIT_CASE(test_inside),
	KUNIT_CASE(test_several),
	KUNIT_CASE(test_sent_for_another),
	KUNIT_CASE(test_leave_meanwhile),
	KUNIT_CASE(test_poster_waits),
	KUNIT_CASE_PARAM(test_others_work, other_gen_params),
	KUNIT_CASE(test_quiet),
	KUNIT_CASE(test_not_quiet),
	KUNIT_CASE(test_user_max),
	KUNIT_CASE(test_max),
	KUNIT_CASE(test_many),
	{}
};

static struct kunit_suite coalesce_look_suite = {
	.name = "kwarp_coalesce_look",
	.init = coalesce_test_init,
	.exit = coalesce_test_exit,
	.test_cases = coalesce_look_cases,
};

kunit_test_suite(coalesce_look_suite);
