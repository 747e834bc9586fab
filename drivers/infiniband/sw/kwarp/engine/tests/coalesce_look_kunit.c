// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of coalesce.c, which decides whether to hold send queues: what a look of the timer does.
 *
 * Held: the program posts to the send queue without ringing its doorbell; a timer, or a later
 * doorbell, sends. Hold: the time during which a queue is held. Look: one call of that timer, which
 * looks for posted requests. Waiting: posted without a doorbell, and not sent. Forgotten: waiting
 * at two looks in a row, and the program has neither polled nor rung a doorbell between them. Miss:
 * a forgotten request was found, and that counts against the hold. Runner: the one context that may
 * send for the stream at a time.
 */
#include "coalesce_fixture.h"

/* -------------------------------------------------------------------- counts */

static long timeouts(struct coalesce_test *t)
{
	return atomic_long_read(&t->s[0].e.kdev->coalesce_timeouts);
}

/* --------------------------------------------------------------------- looks */

/* A waiting request found by one look is sent by the next, if the program does not poll between. */
static void test_forgotten(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	coalesce_look_now(t);
	coalesce_post_waiting(s);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 0);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_TRUE(test, s->told_held);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
}

static void poll_sends(struct coalesce_test *t)
{
	coalesce_poll(t->scq);
}

static void poll_recvs(struct coalesce_test *t)
{
	coalesce_poll(t->rcq);
}

static void ring_another(struct coalesce_test *t)
{
	coalesce_held_after_ring_of(t, &t->s[1]);
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
 * The program polls, or rings for another queue: it is busy, and will ring for this queue later. So
 * the timer sends the waiting request only after KWARP_COALESCE_BUSY looks, and that is no miss.
 */
static void test_busy(struct kunit *test)
{
	const struct deed *d = test->param_value;
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	coalesce_hold(test, s);
	coalesce_look_now(t);
	coalesce_post_waiting(s);
	if (d->once)
		d->once(t);
	for (i = 0; i < KWARP_COALESCE_BUSY; i++) {
		if (d->each)
			d->each(t);
		coalesce_look_now(t);
		KUNIT_ASSERT_EQ_MSG(test, s->sends, 0, "look %u", i);
	}
	if (d->each)
		d->each(t);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_TRUE(test, s->told_held);
	KUNIT_EXPECT_EQ(test, timeouts(t), 1);
	KUNIT_EXPECT_EQ(test, t->hold->missed, 0);
	if (d->once)
		kwarp_coalesce_returns(&t->s[1].e);
}

/*
 * A program counts as active while it is inside a doorbell, but not after it has returned, even if
 * its requests could not be sent, because TCP was full. So the second look sends the waiting
 * request of another queue and counts a miss.
 */
static void test_blocked(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	coalesce_post_waiting(s);
	kwarp_coalesce_rung(&t->s[1].e);
	kwarp_coalesce_returns(&t->s[1].e);
	coalesce_look_now(t);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, s->sends, 1);
	KUNIT_EXPECT_TRUE(test, t->hold->missed);
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

/*
 * After KWARP_COALESCE_MISSES misses the hold of all queues of the CQ ends: the program has to
 * ring, and the next KWARP_COALESCE_OBEY doorbells, of which the test rings one, start no hold.
 */
static void test_misses(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i;

	coalesce_hold(test, s);
	coalesce_hold(test, &t->s[1]);
	for (i = 0; i < KWARP_COALESCE_MISSES; i++) {
		coalesce_poll(t->scq);
		KUNIT_ASSERT_TRUE(test, kwarp_coalesce_holds(&s->e));
		coalesce_post_waiting(s);
		coalesce_look_now(t);
		coalesce_look_now(t);
		KUNIT_EXPECT_EQ(test, timeouts(t), i + 1);
	}
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(&s->e));
	KUNIT_EXPECT_EQ(test, s->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, t->s[1].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, coalesce_look_now(t), 0);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_EQ(test, t->hold->obey, KWARP_COALESCE_OBEY - 1);
}

/*
 * The program forgets requests again and again, but also rings for waiting requests. These
 * doorbells cancel misses, so the hold does not end.
 */
static void test_ring_forgives(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i, n;

	coalesce_hold(test, s);
	for (i = 0; i < 2 * KWARP_COALESCE_MISSES; i++) {
		coalesce_post_waiting(s);
		coalesce_look_now(t);
		coalesce_look_now(t);
		for (n = 0; n < KWARP_COALESCE_FORGIVE; n++) {
			coalesce_post_waiting(s);
			coalesce_hold(test, s);
		}
	}
	KUNIT_EXPECT_EQ(test, timeouts(t), 2 * KWARP_COALESCE_MISSES);
}

/*
 * A doorbell that comes after the timer has sent all requests is not one for waiting requests, so
 * it cancels no miss.
 */
static void test_ring_late(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];
	u32 i, n;

	coalesce_hold(test, s);
	for (i = 0; i < KWARP_COALESCE_MISSES; i++) {
		coalesce_post_waiting(s);
		coalesce_look_now(t);
		coalesce_look_now(t);
		KUNIT_EXPECT_EQ(test, !!t->hold->obey, i + 1 == KWARP_COALESCE_MISSES);
		for (n = 0; n < KWARP_COALESCE_FORGIVE; n++) {
			coalesce_poll(t->scq);
			coalesce_held_after_ring(t);
		}
	}
}

/*
 * kwarp_coalesce_sent() decides about the hold after a doorbell. If the program rings twice before
 * that, and the first time for a waiting request, both together count as one doorbell for waiting
 * requests (@good of the CQ's state is the number of these).
 */
static void test_ring_twice(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	struct stream *s = &t->s[0];

	coalesce_hold(test, s);
	coalesce_post_waiting(s);
	kwarp_coalesce_rung(&s->e);
	kwarp_coalesce_returns(&s->e);
	s->sq.next = s->sq.ring.hdr->prod;
	coalesce_hold(test, s);
	KUNIT_EXPECT_EQ(test, t->hold->good, 1);
}

/* The program neither polls nor posts any more: the hold ends, and the timer stops. */
static void test_quiet(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	coalesce_hold(test, &t->s[0]);
	/*
	 * The first look counts the doorbell as activity, so it is none of the KWARP_COALESCE_QUIET
	 * looks that end the hold.
	 */
	for (i = 0; i < KWARP_COALESCE_QUIET; i++)
		KUNIT_EXPECT_NE(test, coalesce_look_now(t), 0);
	KUNIT_EXPECT_EQ(test, coalesce_look_now(t), 0);
	KUNIT_EXPECT_EQ(test, t->s[0].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, t->hold->obey, 0);
	coalesce_hold(test, &t->s[0]);
	KUNIT_EXPECT_EQ(test, t->hold->ns, TEST_US * NSEC_PER_USEC);
}

/*
 * The time between looks doubles, up to a limit, while no request is forgotten. A forgotten request
 * makes it short again.
 */
static void test_slow(struct kunit *test)
{
	const u64 least = TEST_US * NSEC_PER_USEC;
	struct coalesce_test *t = test->priv;
	u64 ns = least;
	u32 i;

	coalesce_hold(test, &t->s[0]);
	for (i = 0; i < 10; i++) {
		ns = min(2 * ns, KWARP_COALESCE_SLOW * least);
		coalesce_poll(t->scq);
		KUNIT_EXPECT_EQ(test, coalesce_look_now(t), ns);
	}
	coalesce_post_waiting(&t->s[0]);
	coalesce_look_now(t);
	KUNIT_EXPECT_EQ(test, coalesce_look_now(t), least);
}

/*
 * The hold of a stream without posts ends after KWARP_COALESCE_UNUSED looks; another stream of the
 * CQ stays held.
 */
static void test_unused(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	coalesce_hold(test, &t->s[0]);
	coalesce_hold(test, &t->s[1]);
	for (i = 0; i < KWARP_COALESCE_UNUSED; i++) {
		KUNIT_EXPECT_TRUE(test, kwarp_coalesce_holds(&t->s[0].e));
		coalesce_post_waiting(&t->s[1]);
		coalesce_hold(test, &t->s[1]);
		coalesce_look_now(t);
	}
	KUNIT_EXPECT_FALSE(test, kwarp_coalesce_holds(&t->s[0].e));
	KUNIT_EXPECT_EQ(test, t->s[0].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_TRUE(test, kwarp_coalesce_holds(&t->s[1].e));
}

/* If too many timers of the device run, no stream is held: each doorbell sends at once. */
static void test_max(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	atomic_t *holds = &t->s[0].e.kdev->holds;

	atomic_set(holds, KWARP_MAX_HOLDS);
	coalesce_poll(t->scq);
	KUNIT_EXPECT_FALSE(test, coalesce_held_after_ring(t));
	KUNIT_EXPECT_EQ(test, atomic_read(holds), KWARP_MAX_HOLDS);
	atomic_set(holds, 0);
	coalesce_hold(test, &t->s[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(holds), 1);
	/* Another stream of the CQ uses the same timer. */
	coalesce_hold(test, &t->s[1]);
	KUNIT_EXPECT_EQ(test, atomic_read(holds), 1);
}

/*
 * Look until the timer has sent for all streams, some at a time. Return: number of looks; 0: one
 * look has sent for too many streams.
 */
static u32 looks_until_sent(struct coalesce_test *t)
{
	u32 i, looks, sent = 0, before;

	for (looks = 0; sent < STREAMS && looks < 100; looks++) {
		coalesce_look_now(t);
		before = sent;
		for (i = 0, sent = 0; i < STREAMS; i++)
			sent += !!t->s[i].sends;
		if (sent > before + KWARP_COALESCE_SENDS)
			return 0;
	}
	return looks;
}

/*
 * One call of the timer looks at, sends for, and ends the hold of a limited number of streams. With
 * more streams the next calls continue, until no stream is left.
 */
static void test_many(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i, looks;

	for (i = 0; i < STREAMS; i++) {
		coalesce_hold(test, &t->s[i]);
		coalesce_post_waiting(&t->s[i]);
	}
	/*
	 * The first calls only find that requests are waiting, each in KWARP_COALESCE_LOOKS
	 * streams. Later calls send them, each for KWARP_COALESCE_SENDS streams.
	 */
	looks = looks_until_sent(t);
	KUNIT_EXPECT_GE(test, looks, STREAMS / KWARP_COALESCE_LOOKS +
				     STREAMS / KWARP_COALESCE_SENDS);
	KUNIT_EXPECT_LT(test, looks, 100);
	for (i = 0; i < STREAMS; i++)
		coalesce_hold(test, &t->s[i]);
	for (looks = 0; !t->hold->ends && looks < 100; looks++)
		coalesce_look_now(t);
	KUNIT_ASSERT_LT(test, looks, 100);
	for (looks = 1; coalesce_look_now(t) == KWARP_COALESCE_PAUSE_NS && looks < 100; looks++)
		;
	/*
	 * The call that has set @ends, which means that all holds of the CQ end, has already ended
	 * the hold of KWARP_COALESCE_SENDS streams.
	 */
	KUNIT_EXPECT_EQ(test, looks, DIV_ROUND_UP(STREAMS, KWARP_COALESCE_SENDS) - 1);
	for (i = 0; i < STREAMS; i++)
		KUNIT_EXPECT_EQ(test, t->s[i].sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
}

static struct kunit_case coalesce_look_cases[] = {
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
	{}
};

static struct kunit_suite coalesce_look_suite = {
	.name = "kwarp_coalesce_look",
	.init = coalesce_test_init,
	.exit = coalesce_test_exit,
	.test_cases = coalesce_look_cases,
};

kunit_test_suite(coalesce_look_suite);
