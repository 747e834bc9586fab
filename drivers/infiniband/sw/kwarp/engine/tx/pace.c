// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whether a timer sends what libsiw posts, and that timer: see pace.h.
 *
 * The runner begins a hold, the timer ends it.  What belongs to the hold is the runner's while
 * there is none, and the timer's while there is one; @on of struct kwarp_coalesce hands it over.
 * After a hold the runner tells posters anew that they have to ring.
 */
#include "pace.h"

#include <linux/hrtimer.h>
#include <linux/minmax.h>

#include "../../compat.h"
#include "../../kwarp.h"
#include "../types.h"

/* -------------------------------------------------------------------- verdicts */

static void start_clock(struct kwarp_pace *p, u32 prod, u64 now)
{
	p->prod = prod;
	p->since = now;
	p->inside = 0;
}

/* What has been sent since the clock was started. */
static void add_up(struct kwarp_pace *p, struct kwarp_pace_sum *sum, u32 prod, u64 now)
{
	if (sum->ns > KWARP_PACE_KEEP_NS) {
		sum->requests /= 2;
		sum->ns /= 2;
	}
	/* With these limits, far beyond what can be, pays() cannot overflow. */
	sum->requests = min(sum->requests + (u32)(prod - p->prod), BIT_ULL(26));
	sum->ns += min_t(u64, now - p->since, U32_MAX);
	start_clock(p, prod, now);
}

/* Do looks send more than doorbells, by a sixteenth? */
static bool pays(const struct kwarp_pace *p)
{
	return 16 * p->looked.requests * p->rung.ns >= 17 * p->rung.requests * p->looked.ns;
}

/* What has been measured. */
static void forget(struct kwarp_pace *p)
{
	p->rung = (struct kwarp_pace_sum) {};
	p->looked = (struct kwarp_pace_sum) {};
}

static void fail(struct kwarp_pace *p)
{
	p->obey = p->obey_next;
	p->obey_next = min(4 * p->obey_next, KWARP_PACE_OBEY_MAX);
	forget(p);
}

/* A program that does nothing for some time is not slow: as long as a hold would last then. */
static void leave_out_pause(struct kwarp_pace *p, u64 now)
{
	const u64 pause = now - p->last, most = KWARP_PACE_QUIET * p->ns;

	if (pause > most)
		p->since += pause - most;
}

/* Does the program leave so much time between its doorbells that they do not limit it? */
static bool rings_seldom(const struct kwarp_pace *p, u64 now)
{
	return now - p->since - p->inside >= KWARP_PACE_DOORBELLS * KWARP_PACE_SELDOM_NS;
}

/**
 * kwarp_pace_enters - a doorbell was rung
 * @p: counts, brought up to date
 * @now: nanoseconds
 *
 * Context: the runner, and the stream is not held.
 */
void kwarp_pace_enters(struct kwarp_pace *p, u64 now)
{
	leave_out_pause(p, now);
	p->entered = now;
}

/**
 * kwarp_pace_begins - a doorbell has been obeyed: hold what is posted next?
 * @p: counts, brought up to date
 * @prod: requests that have been taken from libsiw's ring so far, free running
 * @now: nanoseconds
 *
 * Context: the runner, and the stream is not held.
 * Return: true: as a trial.
 */
bool kwarp_pace_begins(struct kwarp_pace *p, u32 prod, u64 now)
{
	p->inside += now - p->entered;
	p->last = now;
	if (p->obey) {
		p->obey--;
		return false;
	}
	if (!p->doorbells++)
		start_clock(p, prod, now);
	if (p->doorbells <= KWARP_PACE_DOORBELLS)
		return false;
	p->doorbells = 0;
	if (rings_seldom(p, now))
		return false;
	add_up(p, &p->rung, prod, now);
	p->looks = 0;
	p->quiet = 0;
	return true;
}

/**
 * kwarp_pace_goes_on - the timer has looked: is the stream held still?
 * @p: counts, brought up to date
 * @prod: requests that have been taken from libsiw's ring so far, free running
 * @now: nanoseconds
 * @left: there are more in it
 *
 * Context: the timer, and the stream is held.
 * Return: true if so.
 */
bool kwarp_pace_goes_on(struct kwarp_pace *p, u32 prod, u64 now, bool left)
{
	bool over;

	p->quiet = left ? 0 : p->quiet + 1;
	over = p->quiet == KWARP_PACE_QUIET;
	if (++p->looks % KWARP_PACE_LOOKS && !over)
		return true;
	add_up(p, &p->looked, prod, now);
	if (p->looked.ns < KWARP_PACE_TRIAL_NS)
		return false;
	if (!pays(p)) {
		fail(p);
		return false;
	}
	p->obey_next = KWARP_PACE_OBEY;
	if (p->looks >= KWARP_PACE_RENEW) {
		forget(p);
		return false;
	}
	return !over;
}

/* The hold is over. */
static void let_go(struct kwarp_engine *e)
{
	/* From now on the runner may begin another: pairs with its acquire in kwarp_pace_sent(). */
	smp_store_release(&e->tx.coalesce.on, false);
	atomic_dec(&e->kdev->paced);
}

/* ------------------------------------------------------------------- the timer */

/* Requests that are in libsiw's ring, could be sent, and that nobody rings for. */
static bool has_left(const struct kwarp_engine *e)
{
	return READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD &&
	       !test_bit(KWARP_E_TX_WAIT_READ, &e->flags) && kwarp_sq_left(e->sq);
}

/* Softirq. */
static enum hrtimer_restart look_at_libsiw(struct hrtimer *timer)
{
	struct kwarp_engine *e = container_of(timer, struct kwarp_engine, tx.coalesce.pace.timer);
	struct kwarp_coalesce *c = &e->tx.coalesce;
	bool left = has_left(e);
	bool goes_on = kwarp_pace_goes_on(&c->pace, READ_ONCE(e->sq->ring.hdr->prod),
					  ktime_get_ns(), left);

	if (left)
		atomic_long_inc(&e->kdev->coalesce_paced);
	if (!goes_on) {
		let_go(e);
		/* Pairs with the runner's between telling posters and looking whether it holds. */
		smp_mb();
	}
	if (left || !goes_on)
		c->send(e);
	if (!goes_on)
		return HRTIMER_NORESTART;
	/* From now on, however late it is: the program is to have that time. */
	hrtimer_set_expires(timer, ns_to_ktime(ktime_get_ns() + c->pace.ns));
	return HRTIMER_RESTART;
}

/* ------------------------------------------------------------------ the runner */

/* By the runner, unless the timer is looking just now; posters are told after this. */
static void end_hold(struct kwarp_engine *e)
{
	if (hrtimer_try_to_cancel(&e->tx.coalesce.pace.timer) != 1)
		return;
	let_go(e);
	e->tx.coalesce.pace.doorbells = 0;
}

/**
 * kwarp_pace_rung - a doorbell was rung
 * @e: engine of a stream whose program has libsiw
 *
 * kwarp_pace_sent() follows.
 *
 * Context: the runner.
 */
void kwarp_pace_rung(struct kwarp_engine *e)
{
	kwarp_assert_runner(e);
	/* Pairs with let_go() of the timer, whose the counts are until then. */
	if (!smp_load_acquire(&e->tx.coalesce.on))
		kwarp_pace_enters(&e->tx.coalesce.pace, ktime_get_ns());
}

/**
 * kwarp_pace_sent - all that could be sent after a doorbell has been: what now?
 * @e: engine of a stream whose program has libsiw
 * @may: it may be held, if that pays
 *
 * Context: the runner.
 */
void kwarp_pace_sent(struct kwarp_engine *e, bool may)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_pace *p = &c->pace;

	kwarp_assert_runner(e);
	/* It rings if its ring was full, or if the newest entry has been taken meanwhile. */
	if (smp_load_acquire(&c->on)) {
		if (!may)
			end_hold(e);
		return;
	}
	if (!may) {
		p->doorbells = 0;
		return;
	}
	if (!kwarp_pace_begins(p, READ_ONCE(e->sq->ring.hdr->prod), ktime_get_ns()))
		return;
	if (!atomic_add_unless(&e->kdev->paced, 1, KWARP_MAX_PACED))
		return;
	WRITE_ONCE(c->on, true);
	hrtimer_start(&p->timer, ns_to_ktime(p->ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * kwarp_pace_stop - no timer looks at the stream any more
 * @e: engine; nobody rings for it meanwhile
 *
 * Context: the runner, process; waits for a timer that sends for it now, on another processor.
 */
void kwarp_pace_stop(struct kwarp_engine *e)
{
	might_sleep();
	kwarp_assert_runner(e);
	hrtimer_cancel(&e->tx.coalesce.pace.timer);
	if (e->tx.coalesce.on)
		let_go(e);
}

/* A stream begins; it is not held.  Context: the runner; the rest of @e->tx.coalesce is set. */
void kwarp_pace_reset(struct kwarp_engine *e)
{
	struct kwarp_pace *p = &e->tx.coalesce.pace;

	p->ns = max_t(u64, e->tx.coalesce.ns / KWARP_PACE_SHARE, KWARP_PACE_MIN_NS);
	p->doorbells = 0;
	forget(p);
	p->obey = KWARP_PACE_OBEY_FIRST;
	p->obey_next = KWARP_PACE_OBEY;
}

/* Before the first stream. */
void kwarp_pace_init(struct kwarp_engine *e)
{
	kwarp_hrtimer_setup(&e->tx.coalesce.pace.timer, look_at_libsiw,
			    HRTIMER_MODE_REL_PINNED_SOFT);
}
