// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of pace.c, which decides whether a timer sends what programs with libsiw post: the
 * decisions as functions of what was measured, what a look of the timer does, and the timer itself.
 * Terms (hold, look, patient, trial) are those of pace.h.
 */
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <rdma/siw-abi.h>

#define kwarp_pace_enters	tested_pace_enters
#define kwarp_pace_begins	tested_pace_begins
#define kwarp_pace_goes_on	tested_pace_goes_on
#define kwarp_pace_init		tested_pace_init
#define kwarp_pace_reset	tested_pace_reset
#define kwarp_pace_rung		tested_pace_rung
#define kwarp_pace_sent		tested_pace_sent
#define kwarp_pace_stop		tested_pace_stop
#define ktime_get_ns		told_ns

static u64 told_ns(void);

#include "../tx/pace.c"

#include "../../queue/tests/fixture.h"

/* A value of coalesce_us so large that no timer fires while a test calls the look itself. */
#define TEST_NS		NSEC_PER_SEC
/* The same for the tests of the timer, in nanoseconds. */
#define TIMER_NS	(100 * NSEC_PER_USEC)
/* Time of a doorbell, and of one request among those sent together. */
#define DOORBELL_NS	(10 * NSEC_PER_USEC)
/* Time between two looks. */
#define PACE_NS		(25 * NSEC_PER_USEC)

/**
 * struct pace_test - one stream
 * @e: engine
 * @sq: its send queue
 * @sends: number of times that the timer has sent
 * @unfinished: requests that the runner has taken and that have not completed
 * @now: time that ktime_get_ns() returns; 0: the real time
 */
struct pace_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	u32 sends;
	u32 unfinished;
	u64 now;
};

static struct pace_test *the_test;

static u64 told_ns(void)
{
	return READ_ONCE(the_test->now) ?: ktime_to_ns(ktime_get());
}

/* ------------------------------------------------------------------- decisions */

/* The program takes @ns for each doorbell, and the doorbell itself @inside. */
static bool long_doorbells(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u64 inside,
			   u32 *prod, u64 *now)
{
	bool begins = false;

	while (n--) {
		*prod += requests;
		*now += ns;
		kwarp_pace_enters(p, *now, false);
		*now += inside;
		begins |= kwarp_pace_begins(p, *prod, *now);
		if (begins && n)
			return false;
	}
	return begins;
}

static bool doorbells(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now)
{
	return long_doorbells(p, n, requests, ns, 0, prod, now);
}

static void test_begins(struct kunit *test)
{
	struct kwarp_pace p = { .obey = 5, .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = -10;

	KUNIT_EXPECT_FALSE(test, doorbells(&p, 5, 1, DOORBELL_NS, &prod, &now));
	KUNIT_EXPECT_EQ(test, p.obey, 0);
	KUNIT_EXPECT_FALSE(test, doorbells(&p, KWARP_PACE_DOORBELLS, 1, DOORBELL_NS, &prod,
					   &now));
	KUNIT_EXPECT_TRUE(test, doorbells(&p, 1, 1, DOORBELL_NS, &prod, &now));
	KUNIT_EXPECT_EQ(test, p.rung.requests, KWARP_PACE_DOORBELLS);
	KUNIT_EXPECT_EQ(test, p.rung.ns, KWARP_PACE_DOORBELLS * DOORBELL_NS);
	KUNIT_EXPECT_EQ(test, p.done, prod);
	KUNIT_EXPECT_EQ(test, p.since, now);
	/* A second measurement is added to the first. */
	KUNIT_EXPECT_TRUE(test, doorbells(&p, KWARP_PACE_DOORBELLS + 1, 3, DOORBELL_NS, &prod,
					  &now));
	KUNIT_EXPECT_EQ(test, p.rung.requests, 4 * KWARP_PACE_DOORBELLS);
	/* Old measurements are halved. */
	p.rung.ns = KWARP_PACE_KEEP_NS + 2;
	doorbells(&p, KWARP_PACE_DOORBELLS + 1, 1, DOORBELL_NS, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.rung.requests, 3 * KWARP_PACE_DOORBELLS);
	KUNIT_EXPECT_EQ(test, p.rung.ns, KWARP_PACE_KEEP_NS / 2 + 1 +
			KWARP_PACE_DOORBELLS * DOORBELL_NS);
}

/* A program that posts rarely is not held, whatever the knob is. */
static void test_seldom(struct kunit *test)
{
	struct kwarp_pace p = { .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = 0;

	for (p.ns = KWARP_PACE_MIN_NS; p.ns <= 250 * NSEC_PER_USEC; p.ns += 5 * NSEC_PER_USEC)
		KUNIT_EXPECT_FALSE(test, doorbells(&p, 2 * KWARP_PACE_DOORBELLS, 1,
						   2 * KWARP_PACE_SELDOM_NS, &prod, &now));
	p.ns = PACE_NS;
	p.doorbells = 0;
	KUNIT_EXPECT_FALSE(test, doorbells(&p, 10 * KWARP_PACE_DOORBELLS, 1, KWARP_PACE_SELDOM_NS,
					   &prod, &now));
	/* Also not after a pause. */
	now += NSEC_PER_SEC;
	KUNIT_EXPECT_FALSE(test, doorbells(&p, KWARP_PACE_DOORBELLS, 1, DOORBELL_NS, &prod,
					   &now));
}

/* Doorbells for large messages: fewer are obeyed before the next trial. */
static void test_obey_large(struct kunit *test)
{
	struct kwarp_pace p = { .obey = 100, .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = 0;

	long_doorbells(&p, 3, 1, DOORBELL_NS, KWARP_PACE_USUAL_NS - 1, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, 97);
	long_doorbells(&p, 3, 1, DOORBELL_NS, 9 * KWARP_PACE_USUAL_NS, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, 67);
	long_doorbells(&p, 1, 1, DOORBELL_NS, NSEC_PER_SEC, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
}

/*
 * Doorbells for large messages take long. That time is not time that the program leaves between its
 * doorbells.
 */
static void test_large(struct kunit *test)
{
	const u64 inside = 20 * KWARP_PACE_SELDOM_NS;
	struct kwarp_pace p = { .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = 0;

	KUNIT_EXPECT_FALSE(test, long_doorbells(&p, KWARP_PACE_DOORBELLS, 1, DOORBELL_NS, inside,
						&prod, &now));
	KUNIT_EXPECT_TRUE(test, long_doorbells(&p, 1, 1, DOORBELL_NS, inside, &prod, &now));
	KUNIT_EXPECT_EQ(test, p.rung.requests, KWARP_PACE_DOORBELLS);
	KUNIT_EXPECT_EQ(test, p.rung.ns, KWARP_PACE_DOORBELLS * (DOORBELL_NS + inside));
	/* A program that rings rarely is not held, also if its doorbells are long. */
	KUNIT_EXPECT_FALSE(test, long_doorbells(&p, 10 * KWARP_PACE_DOORBELLS, 1,
						KWARP_PACE_SELDOM_NS, inside, &prod, &now));
}

/* Measured with doorbells: one request in 10 us. */
#define MEASURED \
	{ .rung = { 32, 32 * DOORBELL_NS }, .obey_next = KWARP_PACE_OBEY, .ns = PACE_NS }

/* Look until the hold ends, at most @n times. Return: number of looks. */
static u32 looks(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now)
{
	u32 i = 0;

	while (i++ < n) {
		*prod += requests;
		*now += ns;
		if (!kwarp_pace_goes_on(p, *prod, *now, false))
			break;
	}
	return min(i, n);
}

/*
 * The same, in as many holds as a decision takes; then continue with the last. Return: number of
 * holds.
 */
static u32 trial(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now)
{
	u32 holds = 0;

	do {
		p->looks = 0;
		p->quiet = 0;
		p->done = *prod;
		p->since = *now;
		n -= looks(p, n, requests, ns, prod, now);
		holds++;
	} while (n && !p->obey && p->looks < KWARP_PACE_RENEW);
	return holds;
}

static const struct trial_case {
	const char *desc;
	u32 requests;
	u64 ns;
	bool pays;
} trial_cases[] = {
	{ "64 in the time of 25", 64, 250 * NSEC_PER_USEC, true },
	{ "17 in the time of 16", 17, 160 * NSEC_PER_USEC, true },
	{ "less than that", 17, 160 * NSEC_PER_USEC + 1 },
	{ "as many", 4, 40 * NSEC_PER_USEC },
	{ "fewer", 1, 40 * NSEC_PER_USEC },
	{ "seven, after a long time", 7, 1600 * NSEC_PER_USEC },
	{ "very many at once", 1 << 26, 1 << 20, true },
	{ "one in a very long time", 1, 100 * NSEC_PER_SEC },
	{ "none", 0, 40 * NSEC_PER_USEC },
};

KUNIT_ARRAY_PARAM_DESC(trial, trial_cases, desc);

static void test_trial(struct kunit *test)
{
	const struct trial_case *c = test->param_value;
	const u64 one = KWARP_PACE_LOOKS * c->ns;
	struct kwarp_pace p = MEASURED;
	u64 now = 1000;
	u32 prod = -100;

	KUNIT_EXPECT_EQ(test, trial(&p, 10 * KWARP_PACE_RENEW, c->requests, c->ns, &prod, &now),
			max_t(u64, DIV64_U64_ROUND_UP(KWARP_PACE_TRIAL_NS, one), 1));
	/* Even a hold that makes the program faster ends at last. */
	KUNIT_EXPECT_EQ(test, p.looks, c->pays ? KWARP_PACE_RENEW : KWARP_PACE_LOOKS);
	KUNIT_EXPECT_EQ(test, p.obey, c->pays ? 0 : KWARP_PACE_OBEY);
	KUNIT_EXPECT_EQ(test, p.obey_next, c->pays ? KWARP_PACE_OBEY : 4 * KWARP_PACE_OBEY);
}

/* If nothing completes because the peer does not answer, nothing can be compared. */
static void test_no_proof(struct kunit *test)
{
	struct kwarp_pace p = MEASURED;
	u64 now = 1000;
	u32 prod = 0;

	p.rung.requests = 0;
	trial(&p, 10 * KWARP_PACE_RENEW, 0, PACE_NS, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, KWARP_PACE_OBEY);
	KUNIT_EXPECT_EQ(test, p.obey_next, KWARP_PACE_OBEY);
	KUNIT_EXPECT_EQ(test, p.rung.ns, 0);
}

/* A short time without the processor does not end a hold that makes the program faster. */
static void test_stall(struct kunit *test)
{
	struct kwarp_pace p = MEASURED;
	u64 now = 0;
	u32 prod = 0;

	trial(&p, 10 * KWARP_PACE_LOOKS, 14, 100 * NSEC_PER_USEC, &prod, &now);
	now += 3 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, looks(&p, 2 * KWARP_PACE_LOOKS, 14, 100 * NSEC_PER_USEC, &prod,
				    &now), 2 * KWARP_PACE_LOOKS);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
}

/* A hold that was the faster way for long is not any more. */
static void test_changes(struct kunit *test)
{
	struct kwarp_pace p = MEASURED;
	u64 now = 0;
	u32 prod = 0;

	trial(&p, 10 * KWARP_PACE_LOOKS, 64, 100 * NSEC_PER_USEC, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
	KUNIT_EXPECT_LT(test, looks(&p, KWARP_PACE_RENEW, 2, 100 * NSEC_PER_USEC, &prod, &now),
			20 * KWARP_PACE_LOOKS);
	KUNIT_EXPECT_EQ(test, p.obey, KWARP_PACE_OBEY);
}

/*
 * After each failed trial more doorbells are obeyed before the next, up to a limit; after a
 * successful one fewer.
 */
static void test_obey(struct kunit *test)
{
	struct kwarp_pace p = MEASURED;
	const struct kwarp_pace_sum rung = p.rung;
	u32 prod = 0, i, obey = KWARP_PACE_OBEY;
	u64 now = 0;

	for (i = 0; i < 10; i++) {
		p.obey = 0;
		p.rung = rung;
		trial(&p, KWARP_PACE_RENEW, 1, 2 * DOORBELL_NS, &prod, &now);
		KUNIT_EXPECT_EQ(test, p.obey, obey);
		KUNIT_EXPECT_EQ(test, p.rung.requests, 0);
		KUNIT_EXPECT_EQ(test, p.looked[0].ns, 0);
		obey = min(4 * obey, KWARP_PACE_OBEY_MAX);
	}
	p.obey = 0;
	p.rung = rung;
	trial(&p, KWARP_PACE_RENEW, 64, DOORBELL_NS, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey_next, KWARP_PACE_OBEY);
}

static const struct patience_case {
	const char *desc;
	u32 requests;
	bool patient;
} patience_cases[] = {
	{ "more", 21, true },
	{ "as many", 20 },
	{ "fewer", 19 },
	{ "none", 0 },
};

KUNIT_ARRAY_PARAM_DESC(patience, patience_cases, desc);

/* When the timer wins, patient looks are measured, too, and the better way is used. */
static void test_patience(struct kunit *test)
{
	const struct patience_case *c = test->param_value;
	struct kwarp_pace p = MEASURED;
	u64 now = 0;
	u32 prod = 0, i;

	for (i = 0; i < 10 && !p.patient; i++) {
		p.looks = 0;
		p.done = prod;
		p.since = now;
		looks(&p, KWARP_PACE_LOOKS, 20, 100 * NSEC_PER_USEC, &prod, &now);
	}
	KUNIT_ASSERT_TRUE(test, p.patient);
	KUNIT_ASSERT_FALSE(test, p.chosen);
	KUNIT_EXPECT_EQ(test, looks(&p, 2 * KWARP_PACE_LOOKS, c->requests, 100 * NSEC_PER_USEC,
				    &prod, &now), 2 * KWARP_PACE_LOOKS);
	KUNIT_EXPECT_TRUE(test, p.chosen);
	KUNIT_EXPECT_EQ(test, p.patient, c->patient);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
	/* The hold continues until all is measured again from the start. */
	KUNIT_EXPECT_LT(test, looks(&p, KWARP_PACE_RENEW, 20, 100 * NSEC_PER_USEC, &prod, &now),
			KWARP_PACE_RENEW);
	KUNIT_EXPECT_FALSE(test, p.chosen);
	KUNIT_EXPECT_FALSE(test, p.patient);
}

/* Nothing is posted any more: the hold ends, and its measurement counts. */
static void test_quiet(struct kunit *test)
{
	struct kwarp_pace p = MEASURED;
	u64 now = 25 * NSEC_PER_USEC;
	u32 i;

	KUNIT_EXPECT_TRUE(test, kwarp_pace_goes_on(&p, 0, now, false));
	for (i = 1; i < KWARP_PACE_QUIET; i++)
		KUNIT_EXPECT_TRUE(test, kwarp_pace_goes_on(&p, 4, now, true));
	KUNIT_EXPECT_FALSE(test, kwarp_pace_goes_on(&p, 4, now, true));
	KUNIT_EXPECT_EQ(test, p.obey, 0);
	KUNIT_EXPECT_EQ(test, p.looked[0].requests, 4);
	KUNIT_EXPECT_EQ(test, p.looked[0].ns, now);
	/* Bursts that end before the timer looks: the timer cannot make them faster. */
	for (i = 0; i < KWARP_PACE_TRIAL_NS / NSEC_PER_MSEC; i++) {
		now += NSEC_PER_MSEC;
		p.quiet = KWARP_PACE_QUIET - 1;
		KUNIT_EXPECT_FALSE(test, kwarp_pace_goes_on(&p, 4 * i + 8, now, true));
	}
	KUNIT_EXPECT_EQ(test, p.obey, KWARP_PACE_OBEY);
}

/*
 * A program whose requests depend on each other: it posts one when the one before has completed,
 * and pauses after some. The timer can only slow that down.
 */
static const struct loop_case {
	const char *desc;
	u32 burst;
	u64 pause;
} loop_cases[] = {
	{ "no pause", 1, 0 },
	{ "8, and 0.4 ms", 8, 400 * NSEC_PER_USEC },
	{ "20, and 2 ms", 20, 2 * NSEC_PER_MSEC },
	{ "25, and 2 ms", 25, 2 * NSEC_PER_MSEC },
	{ "32, and 1 ms", 32, NSEC_PER_MSEC },
	{ "32, and 2 ms", 32, 2 * NSEC_PER_MSEC },
	{ "100, and 3 ms", 100, 3 * NSEC_PER_MSEC },
};

KUNIT_ARRAY_PARAM_DESC(loop, loop_cases, desc);

/**
 * struct loop - state of such a program
 * @p: the state under test
 * @prod: requests sent
 * @now: the time
 * @look: time of the next look
 * @held: the stream is held, so there is a next look
 */
struct loop {
	struct kwarp_pace p;
	u32 prod;
	u64 now;
	u64 look;
	bool held;
};

/* All looks up to now; they find nothing. */
static void pass(struct loop *l)
{
	for (; l->held && l->look < l->now; l->look += PACE_NS)
		l->held = kwarp_pace_goes_on(&l->p, l->prod, l->look, true);
}

/* Post a request and let it complete. Return: true if it waited for a look. */
static bool one_request(struct loop *l)
{
	pass(l);
	if (!l->held) {
		kwarp_pace_enters(&l->p, l->now, false);
		l->now += DOORBELL_NS;
		l->held = kwarp_pace_begins(&l->p, ++l->prod, l->now);
		l->look = l->now + PACE_NS;
		return false;
	}
	l->held = kwarp_pace_goes_on(&l->p, l->prod++, l->look, false);
	l->now = l->look + DOORBELL_NS;
	l->look += PACE_NS;
	return true;
}

static void test_loop(struct kunit *test)
{
	const struct loop_case *c = test->param_value;
	struct loop l = { .now = NSEC_PER_SEC };
	u32 i, waited = 0, n = 400000;

	l.p = (struct kwarp_pace) { .ns = PACE_NS, .obey = KWARP_PACE_OBEY_FIRST,
				    .obey_next = KWARP_PACE_OBEY };
	for (i = 1; i <= n; i++) {
		waited += one_request(&l);
		if (i % c->burst == 0)
			l.now += c->pause;
	}
	/* There were trials, and they failed. */
	KUNIT_EXPECT_GT(test, waited, 0);
	KUNIT_EXPECT_LT(test, waited, n / 200);
	KUNIT_EXPECT_GT(test, l.p.obey_next, KWARP_PACE_OBEY);
}

/* The timer was a little faster, and then the program's requests depend on each other. */
static void test_other_phase(struct kunit *test)
{
	struct loop l = { .p = MEASURED, .now = NSEC_PER_SEC };
	u32 i, waited = 0;

	/* With doorbells 20,000 requests per second, with the timer 24,000. */
	l.p.rung = (struct kwarp_pace_sum) { 320, 16 * NSEC_PER_MSEC };
	l.p.looked[0] = (struct kwarp_pace_sum) { 384, 16 * NSEC_PER_MSEC };
	l.p.since = l.now;
	l.p.done = l.prod;
	l.held = true;
	l.look = l.now + PACE_NS;
	for (i = 0; i < 100000 && !l.p.obey; i++)
		waited += one_request(&l);
	KUNIT_EXPECT_LT(test, waited, 3 * KWARP_PACE_RENEW);
}

/* -------------------------------------------------------------------- looks */

static void post(struct pace_test *t, u32 n)
{
	struct kwarp_siw_wq *wq = t->sq.siw;
	struct siw_sqe *e = (struct siw_sqe *)wq->mem;
	u32 at = wq->next;

	while (kwarp_siw_posted(wq, at - wq->next))
		at++;
	while (n--)
		e[at++ & wq->mask].flags = SIW_WQE_VALID;
}

/* Take all requests from the ring, as the runner does. */
static void take_requests(struct pace_test *t)
{
	kwarp_sq_tell(&t->sq, 0);
	kwarp_sq_posted_all(&t->sq);
	t->sq.next = t->sq.ring.hdr->prod;
	t->sq.retired = t->sq.next - t->unfinished;
}

/* Set the ring's flags, as the runner does when all is sent. */
static void tell_posters(struct pace_test *t)
{
	kwarp_sq_tell(&t->sq, READ_ONCE(t->e.tx.coalesce.on) ? KWARP_RING_HELD :
							       KWARP_RING_NEED_KICK);
}

static void sent_by_timer(struct kwarp_engine *e)
{
	struct pace_test *t = container_of(e, struct pace_test, e);

	take_requests(t);
	tell_posters(t);
	WRITE_ONCE(t->sends, t->sends + 1);
}

/* Ring for @n requests. Return: true if the stream is held then. */
static bool ring(struct pace_test *t, u32 n)
{
	post(t, n);
	kwarp_pace_rung(&t->e);
	take_requests(t);
	kwarp_pace_sent(&t->e, true);
	tell_posters(t);
	return t->e.tx.coalesce.on;
}

static bool ring_until_held(struct pace_test *t)
{
	u32 i;

	t->e.tx.coalesce.pace.obey = 0;
	for (i = 0; i <= KWARP_PACE_DOORBELLS && !t->e.tx.coalesce.on; i++) {
		if (t->now)
			t->now += DOORBELL_NS;
		ring(t, 1);
	}
	return t->e.tx.coalesce.on;
}

static void set_run(struct pace_test *t, enum kwarp_run run)
{
	atomic_set(&t->e.tx.run, run);
}

/* Call the timer's handler while e->tx.run has the value @run. */
static enum hrtimer_restart look_beside(struct pace_test *t, enum kwarp_run run)
{
	enum hrtimer_restart ret;

	hrtimer_cancel(&t->e.tx.coalesce.pace.timer);
	t->now += 25 * NSEC_PER_USEC;
	set_run(t, run);
	ret = pace_timer(&t->e.tx.coalesce.pace.timer);
	set_run(t, KWARP_RUN_ACTIVE);
	return ret;
}

static enum hrtimer_restart look(struct pace_test *t)
{
	return look_beside(t, KWARP_RUN_IDLE);
}

static int pace_test_init(struct kunit *test)
{
	struct pace_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, kdev);
	test->priv = t;
	the_test = t;
	t->now = NSEC_PER_SEC;
	t->e.kdev = kdev;
	t->e.sq = &t->sq;
	test_ring_init(test, &t->sq.ring, 64, 256);
	t->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	t->sq.max_wr = 64;
	t->sq.siw = kwarp_siw_new_sq(64);
	KUNIT_ASSERT_NOT_NULL(test, t->sq.siw);
	/* The test acts as the runner. */
	atomic_set(&t->e.tx.run, KWARP_RUN_ACTIVE);
	t->e.tx.coalesce.send = sent_by_timer;
	kwarp_pace_init(&t->e);
	t->e.tx.coalesce.ns = KWARP_PACE_SHARE * TEST_NS;
	kwarp_pace_reset(&t->e);
	return 0;
}

static void pace_test_exit(struct kunit *test)
{
	struct pace_test *t = test->priv;

	if (!t || !t->sq.siw)
		return;
	kwarp_pace_stop(&t->e);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->e.tx.coalesce.pace.timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->paced), 0);
	kwarp_siw_free_wq(t->sq.siw);
}

/*
 * While the stream is held, posts need no doorbell, and a look sends them. After that, posters have
 * to ring again.
 */
static void test_look(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	/* Preset the measurements, so that the end of this hold is judged. */
	t->e.tx.coalesce.pace.looked[0] = (struct kwarp_pace_sum) { 4000, KWARP_PACE_TRIAL_NS };
	t->e.tx.coalesce.pace.chosen = true;
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->paced), 1);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_HELD);
	/* The newest entry stays VALID, so that libsiw does not ring. */
	KUNIT_EXPECT_NOT_NULL(test, t->sq.siw->kept);
	for (i = 1; i <= 100; i++) {
		post(t, 20);
		KUNIT_ASSERT_EQ(test, look(t), HRTIMER_RESTART);
		KUNIT_EXPECT_EQ(test, t->sends, i);
		KUNIT_EXPECT_FALSE(test, kwarp_sq_left(&t->sq));
		KUNIT_EXPECT_EQ(test, hrtimer_get_expires_ns(&t->e.tx.coalesce.pace.timer),
				t->now + TEST_NS);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 100);
	/* A program rings also when its ring was full. That does not end the hold. */
	KUNIT_EXPECT_TRUE(test, ring(t, 5));
	for (i = 1; i < KWARP_PACE_QUIET; i++)
		KUNIT_EXPECT_EQ(test, look(t), HRTIMER_RESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 100);
	KUNIT_EXPECT_EQ(test, look(t), HRTIMER_NORESTART);
	KUNIT_EXPECT_EQ(test, t->sends, 101);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_NULL(test, t->sq.siw->kept);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->paced), 0);
}

/* A patient look waits while more is posted, but for a limited time only. */
static void test_patient_look(struct kunit *test)
{
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	t->e.tx.coalesce.pace.patient = true;
	for (i = 1; i < KWARP_PACE_SHARE; i++) {
		post(t, 5);
		KUNIT_EXPECT_EQ(test, look(t), HRTIMER_RESTART);
		KUNIT_EXPECT_EQ(test, t->sends, 0);
	}
	post(t, 5);
	look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_left(&t->sq));
	post(t, 5);
	look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 2);
	/* As many requests as the program may post. */
	post(t, 64);
	look(t);
	KUNIT_EXPECT_EQ(test, t->sends, 3);
	/* Requests that were handed over to the work item do not wait. */
	post(t, 5);
	look_beside(t, KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->sends, 4);
	/* The hold ends: requests do not wait any longer. */
	post(t, 5);
	t->e.tx.coalesce.pace.looks = KWARP_PACE_LOOKS - 1;
	t->e.tx.coalesce.pace.patient = false;
	look(t);
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

/* Requests that another context will send: the look does nothing. */
static void test_others_work(struct kunit *test)
{
	const struct others_work *c = test->param_value;
	struct pace_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	if (c->make)
		c->make(t);
	post(t, 20);
	look_beside(t, c->run);
	KUNIT_EXPECT_EQ(test, t->sends, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->coalesce_paced), 0);
	/* Sending may take long; the hold continues meanwhile. */
	for (i = 1; i < 2 * KWARP_PACE_QUIET && t->e.tx.coalesce.on; i++)
		look_beside(t, c->run);
	KUNIT_EXPECT_EQ(test, i, (c->quiet ? 1 : 2) * KWARP_PACE_QUIET);
}

/* Requests that were handed over to the work item are sent by a look that comes before it. */
static void test_before_work(struct kunit *test)
{
	struct pace_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	t->sq.ring.hdr->flags = 0;
	KUNIT_EXPECT_EQ(test, look_beside(t, KWARP_RUN_QUEUED), HRTIMER_RESTART);
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
	kwarp_softirq_share_now()->spent = KWARP_SHARE_TICK;
	post(t, 3);
	KUNIT_EXPECT_EQ(test, look(t), HRTIMER_NORESTART);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, t->sends, 1);
	KUNIT_EXPECT_EQ(test, t->e.tx.coalesce.pace.obey, 0);
	kwarp_softirq_share_now()->spent = 0;
}

/* A doorbell that began while the stream was held counts with its own time only. */
static void test_rung_while_held(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_pace *p = &t->e.tx.coalesce.pace;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	p->entered = ktime_get_ns() - NSEC_PER_SEC;
	kwarp_pace_rung(&t->e);
	hrtimer_cancel(&p->timer);
	pace_end_hold(&t->e);
	p->obey = KWARP_PACE_OBEY;
	kwarp_pace_sent(&t->e, true);
	KUNIT_EXPECT_GT(test, p->obey, KWARP_PACE_OBEY - NSEC_PER_SEC / KWARP_PACE_USUAL_NS / 20);
}

/* Requests that a look has taken and that are being sent are not counted as completed. */
static void test_completed(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_pace *p = &t->e.tx.coalesce.pace;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	t->unfinished = 30;
	post(t, 40);
	for (i = 0; i < KWARP_PACE_LOOKS; i++)
		look(t);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_EQ(test, p->looked[0].requests, 10);
}

/* A stream must not be held any longer when its program rings with a real-time policy. */
static void test_may_no_longer(struct kunit *test)
{
	struct pace_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	kwarp_pace_sent(&t->e, true);
	KUNIT_EXPECT_TRUE(test, t->e.tx.coalesce.on);
	kwarp_pace_sent(&t->e, false);
	KUNIT_EXPECT_FALSE(test, t->e.tx.coalesce.on);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->e.tx.coalesce.pace.timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->paced), 0);
	KUNIT_EXPECT_TRUE(test, ring_until_held(t));
}

/* A stream that must not be held (see coalesce.c): what was measured before does not count. */
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

/* If too many timers run, no stream is held: each doorbell sends at once. */
static void test_max(struct kunit *test)
{
	struct pace_test *t = test->priv;
	atomic_t *paced = &t->e.kdev->paced;

	atomic_set(paced, KWARP_MAX_PACED);
	KUNIT_EXPECT_FALSE(test, ring_until_held(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), KWARP_MAX_PACED);
	atomic_set(paced, 0);
	KUNIT_EXPECT_TRUE(test, ring_until_held(t));
	KUNIT_EXPECT_EQ(test, atomic_read(paced), 1);
}

/* The next stream of the queue pair starts with doorbells, whatever the last one ended with. */
static void test_reset(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_pace *p = &t->e.tx.coalesce.pace;
	u32 i;

	KUNIT_ASSERT_TRUE(test, ring_until_held(t));
	for (i = 0; i < KWARP_PACE_LOOKS; i++) {
		post(t, 1);
		look(t);
	}
	KUNIT_EXPECT_NE(test, p->looked[0].ns, 0);
	ring(t, 1);
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

/* The real timer sends, ends its hold, and can be started again; kwarp_pace_stop() waits for it. */
static void test_timer(struct kunit *test)
{
	struct pace_test *t = test->priv;
	struct kwarp_coalesce *c = &t->e.tx.coalesce;
	u32 i;

	c->ns = KWARP_PACE_SHARE * TIMER_NS;
	for (i = 0; i < 10; i++) {
		kwarp_pace_reset(&t->e);
		/*
		 * A fixed clock while the test rings, so that the speed of the machine does not
		 * matter.
		 */
		t->now = NSEC_PER_SEC;
		KUNIT_ASSERT_TRUE(test, ring_until_held(t));
		set_run(t, KWARP_RUN_IDLE);
		t->now = 0;
		KUNIT_EXPECT_TRUE(test, ends_soon(t));
		set_run(t, KWARP_RUN_ACTIVE);
		KUNIT_ASSERT_EQ(test, t->sends, i + 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->paced), 0);
		KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	}
	for (i = 0; i < 50; i++) {
		kwarp_pace_reset(&t->e);
		t->now = NSEC_PER_SEC;
		KUNIT_ASSERT_TRUE(test, ring_until_held(t));
		set_run(t, KWARP_RUN_IDLE);
		t->now = 0;
		usleep_range(100, 500);
		set_run(t, KWARP_RUN_ACTIVE);
		kwarp_pace_stop(&t->e);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&c->pace.timer));
		KUNIT_EXPECT_FALSE(test, c->on);
		tell_posters(t);
	}
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(test_begins),
	KUNIT_CASE(test_seldom),
	KUNIT_CASE(test_large),
	KUNIT_CASE(test_obey_large),
	KUNIT_CASE_PARAM(test_trial, trial_gen_params),
	KUNIT_CASE(test_stall),
	KUNIT_CASE(test_changes),
	KUNIT_CASE(test_obey),
	KUNIT_CASE_PARAM(test_patience, patience_gen_params),
	KUNIT_CASE(test_quiet),
	KUNIT_CASE_PARAM(test_loop, loop_gen_params),
	KUNIT_CASE(test_other_phase),
	KUNIT_CASE(test_look),
	KUNIT_CASE(test_patient_look),
	KUNIT_CASE_PARAM(test_others_work, other_gen_params),
	KUNIT_CASE(test_before_work),
	KUNIT_CASE(test_no_share),
	KUNIT_CASE(test_rung_while_held),
	KUNIT_CASE(test_no_proof),
	KUNIT_CASE(test_completed),
	KUNIT_CASE(test_may_not),
	KUNIT_CASE(test_may_no_longer),
	KUNIT_CASE(test_max),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_timer),
	{ }
};

static struct kunit_suite pace_suite = {
	.name = "kwarp_pace",
	.init = pace_test_init,
	.exit = pace_test_exit,
	.test_cases = pace_cases,
};
kunit_test_suite(pace_suite);
