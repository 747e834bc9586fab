// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of pace.c, which decides whether a timer sends the requests of a program
 * that uses libsiw (siw's user library). The code under test is included. Runner: the one context
 * that may send for the stream at a time. Held: the program posts without ringing its doorbell, and
 * the timer sends. Hold: the time during which a stream is held. Look: one call of that timer,
 * which looks for posted requests.
 */
#include "pace_fixture.h"

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <rdma/siw-abi.h>

#define ktime_get_ns		pace_told_ns

#include "../tx/pace.c"

void pace_test_end_hold(struct kwarp_engine *e)
{
	pace_end_hold(e);
}

static struct pace_test *the_test;

u64 pace_told_ns(void)
{
	return READ_ONCE(the_test->now) ?: ktime_to_ns(ktime_get());
}

/* ------------------------------------------------------------------- decisions */

/*
 * The program rings its doorbell @n times, or until a hold starts. Before each doorbell @requests
 * complete and @ns nanoseconds pass; the doorbell itself takes @inside nanoseconds. Return: number
 * of the doorbell after which a hold starts, from 1 on, or 0 if no hold starts.
 */
u32 pace_long_doorbells(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u64 inside,
			u32 *prod, u64 *now)
{
	u32 i;

	for (i = 1; i <= n; i++) {
		*prod += requests;
		*now += ns;
		kwarp_pace_enters(p, *now, false);
		*now += inside;
		if (kwarp_pace_begins(p, *prod, *now))
			return i;
	}
	return 0;
}

u32 pace_doorbells(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now)
{
	return pace_long_doorbells(p, n, requests, ns, 0, prod, now);
}

/*
 * Look until the hold ends, at most @n times. Before each look @requests complete and @ns
 * nanoseconds pass. Return: number of looks.
 */
u32 pace_looks(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now)
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

/* -------------------------------------------------------------------- looks */

void pace_post(struct pace_test *t, u32 n)
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

/*
 * Set the ring's flags, as the runner does when all is sent: they tell the program whether to ring.
 */
void pace_tell_posters(struct pace_test *t)
{
	kwarp_sq_tell(&t->sq, READ_ONCE(t->e.tx.coalesce.on) ? KWARP_RING_HELD :
							       KWARP_RING_NEED_KICK);
}

static void sent_by_timer(struct kwarp_engine *e)
{
	struct pace_test *t = container_of(e, struct pace_test, e);

	take_requests(t);
	pace_tell_posters(t);
	WRITE_ONCE(t->sends, t->sends + 1);
}

/* Post @n requests and ring the doorbell. Return: true if the stream is held after that. */
bool pace_ring(struct pace_test *t, u32 n)
{
	pace_post(t, n);
	kwarp_pace_rung(&t->e);
	take_requests(t);
	kwarp_pace_sent(&t->e, true);
	pace_tell_posters(t);
	return t->e.tx.coalesce.on;
}

void pace_set_run(struct pace_test *t, enum kwarp_run run)
{
	atomic_set(&t->e.tx.run, run);
}

/*
 * Look: call the timer's handler while e->tx.run, which says whether there is a runner, has the
 * value @run.
 */
enum hrtimer_restart pace_look_beside(struct pace_test *t, enum kwarp_run run)
{
	enum hrtimer_restart ret;

	hrtimer_cancel(&t->e.tx.coalesce.pace.timer);
	t->now += 25 * NSEC_PER_USEC;
	pace_set_run(t, run);
	ret = pace_timer(&t->e.tx.coalesce.pace.timer);
	pace_set_run(t, KWARP_RUN_ACTIVE);
	return ret;
}

enum hrtimer_restart pace_look(struct pace_test *t)
{
	return pace_look_beside(t, KWARP_RUN_IDLE);
}

int pace_test_init(struct kunit *test)
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
	t->sq.cq = &t->cq;
	t->cq.coalesce.user = &t->user;
	test_ring_init(test, &t->sq.ring, 64, 256);
	t->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	t->sq.max_wr = 64;
	t->sq.siw = kwarp_siw_new_sq(64, NULL);
	KUNIT_ASSERT_NOT_NULL(test, t->sq.siw);
	/* The test acts as the runner. */
	atomic_set(&t->e.tx.run, KWARP_RUN_ACTIVE);
	t->e.tx.coalesce.send = sent_by_timer;
	kwarp_pace_init(&t->e);
	t->e.tx.coalesce.ns = KWARP_PACE_SHARE * TEST_NS;
	kwarp_pace_reset(&t->e);
	return 0;
}

void pace_test_exit(struct kunit *test)
{
	struct pace_test *t = test->priv;

	if (!t || !t->sq.siw)
		return;
	kwarp_pace_stop(&t->e);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->e.tx.coalesce.pace.timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.paced), 0);
	kwarp_siw_free_wq(t->sq.siw);
}
