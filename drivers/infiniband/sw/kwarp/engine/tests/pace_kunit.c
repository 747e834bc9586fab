// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of pace.c, which decides whether a timer sends the requests of a program that uses libsiw
 * (siw's user library): the decisions as functions of what was measured.
 *
 * Held: the program posts without ringing its doorbell, and the timer sends. Look: one call of that
 * timer, which looks for posted requests. Hold: the time during which a stream is held. Patient
 * look: it does not send while the program continues to post. Trial: after doorbells were measured,
 * the stream is held, and looks are measured; the trial fails if looks are not faster. Obey a
 * doorbell: send at once, and start no hold after it.
 */
#include "pace_fixture.h"

static void test_begins(struct kunit *test)
{
	struct kwarp_pace p = { .obey = 5, .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = -10;

	KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 5, 1, DOORBELL_NS, &prod, &now), 0);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
	KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 2 * KWARP_PACE_DOORBELLS, 1, DOORBELL_NS, &prod,
					     &now), KWARP_PACE_DOORBELLS + 1);
	KUNIT_EXPECT_EQ(test, p.rung.requests, KWARP_PACE_DOORBELLS);
	KUNIT_EXPECT_EQ(test, p.rung.ns, KWARP_PACE_DOORBELLS * DOORBELL_NS);
	KUNIT_EXPECT_EQ(test, p.done, prod);
	KUNIT_EXPECT_EQ(test, p.since, now);
	/* A second measurement of doorbells, 3 times as many requests, is added to the first. */
	KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 2 * KWARP_PACE_DOORBELLS, 3, DOORBELL_NS, &prod,
					     &now), KWARP_PACE_DOORBELLS + 1);
	KUNIT_EXPECT_EQ(test, p.rung.requests, 4 * KWARP_PACE_DOORBELLS);
	/*
	 * A sum over more time than KWARP_PACE_KEEP_NS is halved before the next measurement is
	 * added: in units of KWARP_PACE_DOORBELLS requests, 4 / 2 + 1 = 3.
	 */
	p.rung.ns = KWARP_PACE_KEEP_NS + 2;
	pace_doorbells(&p, KWARP_PACE_DOORBELLS + 1, 1, DOORBELL_NS, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.rung.requests, 3 * KWARP_PACE_DOORBELLS);
	KUNIT_EXPECT_EQ(test, p.rung.ns, KWARP_PACE_KEEP_NS / 2 + 1 +
			KWARP_PACE_DOORBELLS * DOORBELL_NS);
}

/* A stream whose program rings rarely is not held, whatever the time between two looks is. */
static void test_seldom(struct kunit *test)
{
	struct kwarp_pace p = { .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = 0;

	for (p.ns = KWARP_PACE_MIN_NS; p.ns <= 250 * NSEC_PER_USEC; p.ns += 5 * NSEC_PER_USEC)
		KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 2 * KWARP_PACE_DOORBELLS, 1,
						     2 * KWARP_PACE_SELDOM_NS, &prod, &now), 0);
	p.ns = PACE_NS;
	p.doorbells = 0;
	KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 10 * KWARP_PACE_DOORBELLS, 1,
					     KWARP_PACE_SELDOM_NS, &prod, &now), 0);
}

/*
 * Most of a pause of the program does not count as time between doorbells. A stream whose program
 * rings quickly before and after the pause is held as if there were no pause.
 */
static void test_pause(struct kunit *test)
{
	struct kwarp_pace p = { .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = 0;

	KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 20, 1, DOORBELL_NS, &prod, &now), 0);
	now += NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 2 * KWARP_PACE_DOORBELLS, 1, DOORBELL_NS, &prod,
					     &now), KWARP_PACE_DOORBELLS + 1 - 20);
	/*
	 * Of each pause, twice KWARP_PACE_SELDOM_NS counts. So a program that pauses before each
	 * doorbell rings rarely, and is not held.
	 */
	p = (struct kwarp_pace){ .ns = KWARP_PACE_MIN_NS };
	KUNIT_EXPECT_EQ(test, pace_doorbells(&p, 4 * KWARP_PACE_DOORBELLS, 1, NSEC_PER_SEC, &prod,
					     &now), 0);
}

/*
 * A doorbell that is obeyed counts once, and once more for each KWARP_PACE_USUAL_NS that it takes.
 * So after long doorbells, for large messages, the next trial starts after fewer of them.
 */
static void test_obey_large(struct kunit *test)
{
	struct kwarp_pace p = { .obey = 100, .ns = PACE_NS };
	u64 now = 1000;
	u32 prod = 0;

	pace_long_doorbells(&p, 3, 1, DOORBELL_NS, KWARP_PACE_USUAL_NS - 1, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, 97);
	pace_long_doorbells(&p, 3, 1, DOORBELL_NS, 9 * KWARP_PACE_USUAL_NS, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, 67);
	pace_long_doorbells(&p, 1, 1, DOORBELL_NS, NSEC_PER_SEC, &prod, &now);
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

	KUNIT_EXPECT_EQ(test, pace_long_doorbells(&p, 2 * KWARP_PACE_DOORBELLS, 1, DOORBELL_NS,
						  inside, &prod, &now), KWARP_PACE_DOORBELLS + 1);
	KUNIT_EXPECT_EQ(test, p.rung.requests, KWARP_PACE_DOORBELLS);
	KUNIT_EXPECT_EQ(test, p.rung.ns, KWARP_PACE_DOORBELLS * (DOORBELL_NS + inside));
	/*
	 * The stream of a program that rings rarely is not held, even if its doorbells take long.
	 */
	KUNIT_EXPECT_EQ(test, pace_long_doorbells(&p, 10 * KWARP_PACE_DOORBELLS, 1,
						  KWARP_PACE_SELDOM_NS, inside, &prod, &now), 0);
}

/*
 * State at the start of a trial: doorbells were measured, with 32 requests that took DOORBELL_NS
 * each, and looks are measured next.
 */
#define MEASURED \
	{ .rung = { 32, 32 * DOORBELL_NS }, .obey_next = KWARP_PACE_OBEY, .ns = PACE_NS }

/*
 * Look at most @n times, in one hold after another, until the trial has failed (@obey is set) or a
 * hold has lasted for KWARP_PACE_RENEW looks. Before each look @requests complete and @ns
 * nanoseconds pass. Return: number of holds.
 */
static u32 trial(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now)
{
	u32 holds = 0;

	do {
		p->looks = 0;
		p->quiet = 0;
		p->done = *prod;
		p->since = *now;
		n -= pace_looks(p, n, requests, ns, prod, now);
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
	/*
	 * Even a hold that makes the program faster ends after KWARP_PACE_RENEW looks, so that all
	 * is measured again.
	 */
	KUNIT_EXPECT_EQ(test, p.looks, c->pays ? KWARP_PACE_RENEW : KWARP_PACE_LOOKS);
	KUNIT_EXPECT_EQ(test, p.obey, c->pays ? 0 : KWARP_PACE_OBEY);
	KUNIT_EXPECT_EQ(test, p.obey_next, c->pays ? KWARP_PACE_OBEY : 4 * KWARP_PACE_OBEY);
}

/*
 * If nothing has completed during the measured doorbells, because the peer does not answer, there
 * is nothing to compare: the trial has no result, and its measurements are dropped.
 */
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
	KUNIT_EXPECT_EQ(test, pace_looks(&p, 2 * KWARP_PACE_LOOKS, 14, 100 * NSEC_PER_USEC, &prod,
					 &now), 2 * KWARP_PACE_LOOKS);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
}

/*
 * Looks were faster than doorbells for a long time. When they become slower than doorbells, the
 * hold ends soon.
 */
static void test_changes(struct kunit *test)
{
	struct kwarp_pace p = MEASURED;
	u64 now = 0;
	u32 prod = 0;

	trial(&p, 10 * KWARP_PACE_LOOKS, 64, 100 * NSEC_PER_USEC, &prod, &now);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
	KUNIT_EXPECT_LT(test, pace_looks(&p, KWARP_PACE_RENEW, 2, 100 * NSEC_PER_USEC, &prod, &now),
			20 * KWARP_PACE_LOOKS);
	KUNIT_EXPECT_EQ(test, p.obey, KWARP_PACE_OBEY);
}

/*
 * After each failed trial more doorbells are obeyed before the next trial, up to a limit. A
 * successful trial sets their number back to KWARP_PACE_OBEY.
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

/*
 * When looks are faster than doorbells, patient looks are measured, too, and the better kind of
 * look is used.
 */
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
		pace_looks(&p, KWARP_PACE_LOOKS, 20, 100 * NSEC_PER_USEC, &prod, &now);
	}
	KUNIT_ASSERT_TRUE(test, p.patient);
	KUNIT_ASSERT_FALSE(test, p.chosen);
	KUNIT_EXPECT_EQ(test, pace_looks(&p, 2 * KWARP_PACE_LOOKS, c->requests, 100 * NSEC_PER_USEC,
					 &prod, &now), 2 * KWARP_PACE_LOOKS);
	KUNIT_EXPECT_TRUE(test, p.chosen);
	KUNIT_EXPECT_EQ(test, p.patient, c->patient);
	KUNIT_EXPECT_EQ(test, p.obey, 0);
	/* The hold continues until all is measured again from the start. */
	KUNIT_EXPECT_LT(test, pace_looks(&p, KWARP_PACE_RENEW, 20, 100 * NSEC_PER_USEC, &prod,
					 &now), KWARP_PACE_RENEW);
	KUNIT_EXPECT_FALSE(test, p.chosen);
	KUNIT_EXPECT_FALSE(test, p.patient);
}

/* Nothing is posted any more: the hold ends, and its looks count as a measurement. */
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
	/*
	 * If requests come in bursts that end before the timer looks, looks cannot make them
	 * faster, so the trial fails.
	 */
	for (i = 0; i < KWARP_PACE_TRIAL_NS / NSEC_PER_MSEC; i++) {
		now += NSEC_PER_MSEC;
		p.quiet = KWARP_PACE_QUIET - 1;
		KUNIT_EXPECT_FALSE(test, kwarp_pace_goes_on(&p, 4 * i + 8, now, true));
	}
	KUNIT_EXPECT_EQ(test, p.obey, KWARP_PACE_OBEY);
}

/*
 * A program whose requests depend on each other: it posts one when the one before has completed,
 * and pauses for @pause nanoseconds after each @burst requests. The timer can only slow that down.
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
 * struct loop - state of a program whose requests depend on each other
 * @p: pacing state, which is under test
 * @prod: requests that were sent and have completed
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

/* Do the looks that are due before @now; they find no request. */
static void pass(struct loop *l)
{
	for (; l->held && l->look < l->now; l->look += PACE_NS)
		l->held = kwarp_pace_goes_on(&l->p, l->prod, l->look, true);
}

/*
 * Post a request and let it complete. Return: true if it was sent by a look, false if by its
 * doorbell.
 */
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
	/* Some requests have waited for a look, so there were trials. The trials have failed. */
	KUNIT_EXPECT_GT(test, waited, 0);
	KUNIT_EXPECT_LT(test, waited, n / 200);
	KUNIT_EXPECT_GT(test, l.p.obey_next, KWARP_PACE_OBEY);
}

/*
 * For a while looks were a little faster than doorbells. Then the requests of the program depend on
 * each other, so looks are slower: the hold ends after a limited number of requests.
 */
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

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(test_begins),
	KUNIT_CASE(test_seldom),
	KUNIT_CASE(test_pause),
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
	KUNIT_CASE(test_no_proof),
	{}
};

static struct kunit_suite pace_suite = {
	.name = "kwarp_pace",
	.init = pace_test_init,
	.exit = pace_test_exit,
	.test_cases = pace_cases,
};

kunit_test_suite(pace_suite);
