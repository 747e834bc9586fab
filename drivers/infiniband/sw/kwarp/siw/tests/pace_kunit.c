// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of pace.c: when a timer sends the requests of a program that uses libsiw, what a look of
 * the timer does, and the timer itself.
 */
#include <linux/delay.h>

#include "pace_fixture.h"

/* Doorbells are obeyed no longer: the next one starts a hold. */
static bool hold(struct pace_test *t)
{
	t->p->obey = 0;
	return pace_ring(t, 1);
}

/* -------------------------------------------------------------------- holds */

/* A stream starts with doorbells that are obeyed, so that a short stream is not held. */
static void test_begins(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	for (i = 0; i < KWARP_PACE_OBEY; i++)
		KUNIT_ASSERT_FALSE(test, pace_ring(t, 1));
	KUNIT_EXPECT_TRUE(test, pace_ring(t, 1));
}

/* Looks pay, so the hold lasts until the program posts no more; the next one comes soon. */
static void test_look(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, hold(t));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 1);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_HELD);
	/*
	 * The newest entry of libsiw's ring stays marked VALID: libsiw does not ring for a post if
	 * the entry before it is still VALID.
	 */
	KUNIT_EXPECT_NOT_NULL(test, t->ring->kept);
	for (i = 1; i <= 100; i++) {
		pace_post(t, 20);
		KUNIT_ASSERT_EQ(test, pace_look(t), HRTIMER_RESTART);
		KUNIT_EXPECT_EQ(test, t->sends, i);
		KUNIT_EXPECT_FALSE(test, kwarp_sq_has_unmoved(&t->sq));
		KUNIT_EXPECT_EQ(test, hrtimer_get_expires_ns(&t->p->timer), t->now + TEST_NS);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 100);
	/*
	 * During a hold a program with libsiw still rings if its ring was full, or if the runner
	 * has just taken the newest entry. Such a doorbell does not end the hold.
	 */
	KUNIT_EXPECT_TRUE(test, pace_ring(t, 5));
	/* The first of these looks comes after requests, and pays. */
	for (i = 0; i < KWARP_PACE_QUIET; i++)
		KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_RESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 100);
	KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_NORESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 101);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	/* The program has to ring again. */
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_NULL(test, t->ring->kept);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
	KUNIT_EXPECT_EQ(test, t->p->obey, KWARP_PACE_PAUSE);
}

/* Few requests are sent, too, but such looks end the hold, unless one between them pays. */
static void test_few(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, hold(t));
	for (i = 1; i < KWARP_PACE_QUIET; i++) {
		pace_post(t, KWARP_PACE_MANY - 1);
		KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_RESTART);
		KUNIT_EXPECT_EQ(test, t->sends, i);
	}
	/* Requests that a response, or TCP, lets somebody else send count as well. */
	t->sq.next += KWARP_PACE_MANY;
	for (i = 0; i < KWARP_PACE_QUIET; i++)
		KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_RESTART);
	KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_NORESTART);
	KUNIT_EXPECT_EQ(test, t->p->obey, KWARP_PACE_PAUSE);
}

/*
 * A program that posts one request when the one before has completed: the timer can only slow it
 * down, so it sends few of the requests.
 */
static void test_loop(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i, looks = 0, n = 10 * KWARP_PACE_OBEY;

	for (i = 0; i < n; i++) {
		if (t->e.tx.coalesce.on) {
			pace_post(t, 1);
			pace_look(t);
			looks++;
		} else {
			pace_ring(t, 1);
		}
	}
	KUNIT_EXPECT_GT(test, looks, 0);
	KUNIT_EXPECT_LT(test, looks, n / 100);
	KUNIT_EXPECT_EQ(test, t->sends, looks);
}

/* A real-time program is not held (@may), and a hold ends when the program becomes one. */
static void test_may_not(struct kunit *test)
{
	struct pace_test *t = test->priv;

	t->p->obey = 0;
	kwarp_siw_hold_ops.sent(&t->e, false);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_ASSERT_TRUE(test, hold(t));
	kwarp_siw_hold_ops.sent(&t->e, true);
	KUNIT_EXPECT_TRUE(test, t->e.tx.coalesce.on);
	kwarp_siw_hold_ops.sent(&t->e, false);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->p->timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
	KUNIT_EXPECT_TRUE(test, hold(t));
}

static void test_max(struct kunit *test)
{
	struct pace_test *t = test->priv;
	atomic_t *paced = &t->e.kdev->timers.paced;

	atomic_set(paced, KWARP_MAX_PACED);
	KUNIT_EXPECT_FALSE(test, hold(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), KWARP_MAX_PACED);
	atomic_set(paced, 0);
	atomic_set(&t->user.paced, KWARP_MAX_USER_PACED);
	KUNIT_EXPECT_FALSE(test, hold(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), 0);
	atomic_set(&t->user.paced, 0);
	KUNIT_EXPECT_TRUE(test, hold(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.paced), 1);
}

/* The next stream has the knob's new value, and starts with doorbells that are obeyed. */
static void test_reset(struct kunit *test)
{
	struct pace_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, hold(t));
	pace_post(t, KWARP_PACE_MANY);
	pace_look(t);
	kwarp_siw_hold_ops.stop(&t->e);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	t->e.tx.coalesce.ns = 8000;
	kwarp_siw_hold_ops.reset(&t->e);
	KUNIT_EXPECT_EQ(test, t->p->ns, KWARP_PACE_MIN_NS);
	KUNIT_EXPECT_EQ(test, t->p->obey, KWARP_PACE_OBEY);
}

/* -------------------------------------------------------------------- looks */

static void wait_for_read(struct pace_test *t)
{
	set_bit(KWARP_E_TX_WAIT_READ, &t->e.flags);
}

static void back_off(struct pace_test *t)
{
	t->e.tx.backs_off = true;
}

static void fill_tcp(struct pace_test *t)
{
	t->sq.ring.hdr->flags = 0;
}

static const struct others_work {
	const char *desc;
	void (*make)(struct pace_test *t);
	enum kwarp_run run;
} others_work[] = {
	{ "a response, or room, is waited for", wait_for_read },
	{ "TCP is full", fill_tcp },
	{ "memory, or the processor, is waited for", back_off, KWARP_RUN_QUEUED },
	{ "somebody sends", NULL, KWARP_RUN_ACTIVE },
	{ "and shall look again", NULL, KWARP_RUN_AGAIN },
};

KUNIT_ARRAY_PARAM_DESC(other, others_work, desc);

/* A look does not send requests that another context will send, or that cannot be sent yet. */
static void test_others_work(struct kunit *test)
{
	const struct others_work *c = test->param_value;
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, hold(t));
	if (c->make)
		c->make(t);
	pace_post(t, 20);
	for (i = 1; i < KWARP_PACE_QUIET; i++)
		KUNIT_EXPECT_EQ(test, pace_look_beside(t, c->run), HRTIMER_RESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 0);
	/* Only the end of the hold makes a runner look: it sets the ring's flags. */
	KUNIT_EXPECT_EQ(test, pace_look_beside(t, c->run), HRTIMER_NORESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
}

/* Requests that were handed over are sent by a look that comes before the work item. */
static void test_before_work(struct kunit *test)
{
	struct pace_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, hold(t));
	t->sq.ring.hdr->flags = 0;
	KUNIT_EXPECT_EQ(test, pace_look_beside(t, KWARP_RUN_QUEUED), HRTIMER_RESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 1);
}

static void spend(u32 ns)
{
	local_bh_disable();
	kwarp_softirq_share_now()->spent = ns;
	local_bh_enable();
}

/* The hold ends: the program rings again, and what is posted is sent. */
static void test_no_share(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, hold(t));
	/* Try again if a tick begins before the look. */
	for (i = 0; i < 100 && t->e.tx.coalesce.on; i++) {
		pace_post(t, KWARP_PACE_MANY);
		spend(KWARP_SHARE_TICK_NS);
		pace_look(t);
	}
	spend(0);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, t->sends, i);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_has_unmoved(&t->sq));
}

/* ----------------------------------------------------------------- the timer */

static bool ends_soon(struct pace_test *t)
{
	u32 ms;

	for (ms = 0; ms < 1000 && hrtimer_active(&t->p->timer); ms++)
		usleep_range(1000, 2000);
	return !hrtimer_active(&t->p->timer) && !READ_ONCE(t->e.tx.coalesce.on);
}

/* The stop waits for a handler that runs, and then stops the timer. */
static void test_timer(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	t->e.tx.coalesce.ns = KWARP_PACE_LOOKS * TIMER_NS;
	kwarp_siw_hold_ops.reset(&t->e);
	t->now = 0;
	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_TRUE(test, hold(t));
		pace_set_run(t, KWARP_RUN_IDLE);
		KUNIT_EXPECT_TRUE(test, ends_soon(t));
		pace_set_run(t, KWARP_RUN_ACTIVE);
		KUNIT_ASSERT_EQ(test, t->sends, i + 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
		KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	}
	for (i = 0; i < 50; i++) {
		KUNIT_ASSERT_TRUE(test, hold(t));
		pace_set_run(t, KWARP_RUN_IDLE);
		usleep_range(100, 500);
		pace_set_run(t, KWARP_RUN_ACTIVE);
		kwarp_siw_hold_ops.stop(&t->e);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->p->timer));
		KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
		pace_tell_posters(t);
	}
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(test_begins),
	KUNIT_CASE(test_look),
	KUNIT_CASE(test_few),
	KUNIT_CASE(test_loop),
	KUNIT_CASE(test_may_not),
	KUNIT_CASE(test_max),
	KUNIT_CASE(test_reset),
	KUNIT_CASE_PARAM(test_others_work, other_gen_params),
	KUNIT_CASE(test_before_work),
	KUNIT_CASE(test_no_share),
	KUNIT_CASE(test_timer),
	{}
};

static struct kunit_suite pace_suite = {
	.name = "kwarp_siw_pace",
	.init = pace_test_init,
	.exit = pace_test_exit,
	.test_cases = pace_cases,
};

kunit_test_suite(pace_suite);
