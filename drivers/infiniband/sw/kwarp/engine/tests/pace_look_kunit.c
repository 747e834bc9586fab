// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of pace.c, which decides whether a timer sends the requests of a program that uses libsiw
 * (siw's user library): what a look of the timer does, and the timer itself.
 *
 * Held: the program posts without ringing its doorbell, and the timer sends. Hold: the time during
 * which a stream is held. Look: one call of that timer, which looks for posted requests. Patient
 * look: it does not send while the program continues to post. Runner: the one context that may send
 * for the stream at a time; if it cannot continue, it hands over to the work item. Share: for how
 * long the softirqs of one processor may send in a tick (share.h).
 */
#include "pace_fixture.h"

/* -------------------------------------------------------------------- looks */

static bool ring_until_held(struct pace_test *t)
{
	u32 i;

	t->e.tx.coalesce.pace.obey = 0;
	for (i = 0; i <= KWARP_PACE_DOORBELLS && !t->e.tx.coalesce.on; i++) {
		if (t->now)
			t->now += DOORBELL_NS;
		pace_ring(t, 1);
	}
	return t->e.tx.coalesce.on;
}

/*
 * While the stream is held, posts need no doorbell, and a look sends them. After the hold, the
 * program has to ring again.
 */
static void test_look(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	/*
	 * Preset the measurements so that looks are faster than doorbells: the hold is to last for
	 * all looks of this test.
	 */
	t->e.tx.coalesce.pace.looked[0] = (struct kwarp_pace_sum) { 4000, KWARP_PACE_TRIAL_NS };
	t->e.tx.coalesce.pace.chosen = true;
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 1);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_HELD);
	/*
	 * The newest entry of libsiw's ring stays marked VALID: libsiw does not ring for a post if
	 * the entry before it is still VALID.
	 */
	KUNIT_EXPECT_NOT_NULL(test, t->sq.siw->kept);
	for (i = 1; i <= 100; i++) {
		pace_post(t, 20);
		KUNIT_ASSERT_EQ(test, pace_look(t), HRTIMER_RESTART);
		KUNIT_EXPECT_EQ(test, t->sends, i);
		KUNIT_EXPECT_FALSE(test, kwarp_sq_has_unmoved(&t->sq));
		KUNIT_EXPECT_EQ(test, hrtimer_get_expires_ns(&t->e.tx.coalesce.pace.timer),
				t->now + TEST_NS);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 100);
	/*
	 * During a hold a program with libsiw still rings if its ring was full, or if the runner
	 * has just taken the newest entry. Such a doorbell does not end the hold.
	 */
	KUNIT_EXPECT_TRUE(test, pace_ring(t, 5));
	for (i = 1; i < KWARP_PACE_QUIET; i++)
		KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_RESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 100);
	KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_NORESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 101);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_NULL(test, t->sq.siw->kept);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
}

/* A patient look waits while more is posted, but for a limited time only. */
static void test_patient_look(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	t->e.tx.coalesce.pace.patient = true;
	for (i = 1; i < KWARP_PACE_SHARE; i++) {
		pace_post(t, 5);
		KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_RESTART);
		KUNIT_EXPECT_EQ(test, t->sends, 0);
	}
	pace_post(t, 5);
	pace_look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_has_unmoved(&t->sq));
	pace_post(t, 5);
	pace_look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	pace_look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 2);
	/*
	 * When as many requests are posted as the program may post, a patient look sends them at
	 * once.
	 */
	pace_post(t, 64);
	pace_look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 3);
	/* Requests that were handed over to the work item are sent by a patient look at once. */
	pace_post(t, 5);
	pace_look_beside(t, KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->sends, 4);
	/* This look is not patient, and ends the hold: it sends, because no later look would. */
	pace_post(t, 5);
	t->e.tx.coalesce.pace.looks = KWARP_PACE_LOOKS - 1;
	t->e.tx.coalesce.pace.patient = false;
	pace_look(t);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, t->sends, 5);
}

static void wait_for_read(struct pace_test *t)
{
	set_bit(KWARP_E_TX_WAIT_READ, &t->e.flags);
}

static void wait_for_response(struct pace_test *t)
{
	t->sq.next++;
	wait_for_read(t);
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
	bool quiet;
} others_work[] = {
	{ "there is no room", wait_for_read, .quiet = true },
	{ "a Read Response is waited for", wait_for_response },
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

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	if (c->make)
		c->make(t);
	pace_post(t, 20);
	pace_look_beside(t, c->run);
	KUNIT_EXPECT_EQ(test, t->sends, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 0);
	/*
	 * Looks that find such requests do not end the hold, except if no request is outstanding
	 * (@quiet): then KWARP_PACE_QUIET looks end the hold.
	 */
	for (i = 1; i < 2 * KWARP_PACE_QUIET && t->e.tx.coalesce.on; i++)
		pace_look_beside(t, c->run);
	KUNIT_EXPECT_EQ(test, i, (c->quiet ? 1 : 2) * KWARP_PACE_QUIET);
}

/*
 * Requests that were handed over to the work item are sent by a look, if the look comes before the
 * work item runs.
 */
static void test_before_work(struct kunit *test)
{
	struct pace_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	t->sq.ring.hdr->flags = 0;
	KUNIT_EXPECT_EQ(test, pace_look_beside(t, KWARP_RUN_QUEUED), HRTIMER_RESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 1);
}

/*
 * When the softirqs' share is used up, the hold ends: the program rings again, and what is posted
 * is sent.
 */
static void test_no_share(struct kunit *test)
{
	struct pace_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	kwarp_softirq_share_now()->spent = KWARP_SHARE_TICK_NS;
	pace_post(t, 3);
	KUNIT_EXPECT_EQ(test, pace_look(t), HRTIMER_NORESTART);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	KUNIT_EXPECT_EQ(test, t->e.tx.coalesce.pace.obey, 0);
	kwarp_softirq_share_now()->spent = 0;
}

/*
 * If the hold ends during a doorbell, the doorbell counts with its own time only, not with the time
 * since an earlier doorbell.
 */
static void test_rung_while_held(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_pace *p = &t->e.tx.coalesce.pace;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	p->entered = pace_told_ns() - NSEC_PER_SEC;
	kwarp_pace_rung(&t->e);
	hrtimer_cancel(&p->timer);
	pace_test_end_hold(&t->e);
	p->obey = KWARP_PACE_OBEY;
	kwarp_pace_sent(&t->e, true);
	KUNIT_EXPECT_GT(test, p->obey, KWARP_PACE_OBEY - NSEC_PER_SEC / KWARP_PACE_USUAL_NS / 20);
}

/*
 * Requests that a look has sent count as completed only when they are. Here 30 of 40 have not
 * completed, so 10 are counted.
 */
static void test_completed(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_pace *p = &t->e.tx.coalesce.pace;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	t->unfinished = 30;
	pace_post(t, 40);
	for (i = 0; i < KWARP_PACE_LOOKS; i++)
		pace_look(t);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, p->looked[0].requests, 10);
}

/*
 * A hold ends when the program rings with a real-time policy: then kwarp_pace_sent() is called with
 * @may false.
 */
static void test_may_no_longer(struct kunit *test)
{
	struct pace_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	kwarp_pace_sent(&t->e, true);
	KUNIT_EXPECT_TRUE(test, t->e.tx.coalesce.on);
	kwarp_pace_sent(&t->e, false);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->e.tx.coalesce.pace.timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
	KUNIT_EXPECT_TRUE(test, ring_until_held(t));
}

/*
 * After a doorbell at which the stream must not be held (@may of kwarp_pace_sent() is false), the
 * measurement starts again.
 */
static void test_may_not(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	t->e.tx.coalesce.pace.obey = 0;
	for (i = 0; i < 10 * KWARP_PACE_DOORBELLS; i++) {
		t->now += DOORBELL_NS;
		kwarp_pace_sent(&t->e, i % KWARP_PACE_DOORBELLS);
		KUNIT_ASSERT_FALSE(test, t->e.tx.coalesce.on);
	}
}

/*
 * If too many timers of the device, or of the program, run, no stream is held: each doorbell sends
 * at once.
 */
static void test_max(struct kunit *test)
{
	struct pace_test *t = test->priv;
	atomic_t *paced = &t->e.kdev->timers.paced;

	atomic_set(paced, KWARP_MAX_PACED);
	KUNIT_EXPECT_FALSE(test, ring_until_held(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), KWARP_MAX_PACED);
	atomic_set(paced, 0);
	atomic_set(&t->user.paced, KWARP_MAX_USER_PACED);
	KUNIT_EXPECT_FALSE(test, ring_until_held(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), 0);
	atomic_set(&t->user.paced, 0);
	KUNIT_EXPECT_TRUE(test, ring_until_held(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.paced), 1);
}

/*
 * The next stream of the queue pair starts with doorbells that are obeyed, that is, that send at
 * once and start no hold, whatever was measured in the last stream.
 */
static void test_reset(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_pace *p = &t->e.tx.coalesce.pace;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	for (i = 0; i < KWARP_PACE_LOOKS; i++) {
		pace_post(t, 1);
		pace_look(t);
	}
	KUNIT_EXPECT_NE(test, p->looked[0].ns, 0);
	pace_ring(t, 1);
	KUNIT_EXPECT_EQ(test, p->doorbells, 1);
	p->obey = 5;
	p->obey_next = 7;
	kwarp_pace_stop(&t->e);
	t->e.tx.coalesce.ns = 8000;
	kwarp_pace_reset(&t->e);
	KUNIT_EXPECT_EQ(test, p->ns, KWARP_PACE_MIN_NS);
	KUNIT_EXPECT_EQ(test, p->obey, KWARP_PACE_OBEY_FIRST);
	KUNIT_EXPECT_EQ(test, p->obey_next, KWARP_PACE_OBEY);
	KUNIT_EXPECT_EQ(test, p->doorbells, 0);
	KUNIT_EXPECT_EQ(test, p->looked[0].ns, 0);
	KUNIT_EXPECT_EQ(test, p->rung.ns, 0);
}

/* ----------------------------------------------------------------- the timer */

static bool ends_soon(struct pace_test *t)
{
	const struct hrtimer *timer = &t->e.tx.coalesce.pace.timer;
	u32 ms;

	for (ms = 0; ms < 1000 && hrtimer_active(timer); ms++)
		usleep_range(1000, 2000);
	return !hrtimer_active(timer) && !READ_ONCE(t->e.tx.coalesce.on);
}

/*
 * The real timer sends, ends its hold, and can be started again. kwarp_pace_stop() waits for a
 * handler that runs, and then stops the timer.
 */
static void test_timer(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_coalesce *c = &t->e.tx.coalesce;
	u32 i;

	c->ns = KWARP_PACE_SHARE * TIMER_NS;
	for (i = 0; i < 10; i++) {
		kwarp_pace_reset(&t->e);
		/*
		 * Use a fixed clock while the test rings, so that the speed of the machine does not
		 * matter.
		 */
		t->now = NSEC_PER_SEC;
		KUNIT_ASSERT_TRUE(test, ring_until_held(t));
		pace_set_run(t, KWARP_RUN_IDLE);
		t->now = 0;
		KUNIT_EXPECT_TRUE(test, ends_soon(t));
		pace_set_run(t, KWARP_RUN_ACTIVE);
		KUNIT_ASSERT_EQ(test, t->sends, i + 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
		KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	}
	for (i = 0; i < 50; i++) {
		kwarp_pace_reset(&t->e);
		t->now = NSEC_PER_SEC;
		KUNIT_ASSERT_TRUE(test, ring_until_held(t));
		pace_set_run(t, KWARP_RUN_IDLE);
		t->now = 0;
		usleep_range(100, 500);
		pace_set_run(t, KWARP_RUN_ACTIVE);
		kwarp_pace_stop(&t->e);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&c->pace.timer));
		KUNIT_EXPECT_FALSE(test, c->on);
		pace_tell_posters(t);
	}
}

static struct kunit_case pace_look_cases[] = {
	KUNIT_CASE(test_look),
	KUNIT_CASE(test_patient_look),
	KUNIT_CASE_PARAM(test_others_work, other_gen_params),
	KUNIT_CASE(test_before_work),
	KUNIT_CASE(test_no_share),
	KUNIT_CASE(test_rung_while_held),
	KUNIT_CASE(test_completed),
	KUNIT_CASE(test_may_not),
	KUNIT_CASE(test_may_no_longer),
	KUNIT_CASE(test_max),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_timer),
	{}
};

static struct kunit_suite pace_look_suite = {
	.name = "kwarp_pace_look",
	.init = pace_test_init,
	.exit = pace_test_exit,
	.test_cases = pace_look_cases,
};

kunit_test_suite(pace_look_suite);
