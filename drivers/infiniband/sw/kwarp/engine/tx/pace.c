// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Decides whether a timer sends what programs with libsiw (the user library of the siw driver)
 * post, and has that timer. pace.h describes how.
 *
 * Held: the program posts without ringing its doorbell, and the timer sends. Hold: the time during
 * which a stream is held. Look: one call of that timer, which looks for posted requests. Patient
 * look: it does not send while the program continues to post, for coalesce_us (a setting of the
 * device) at most. Trial: a hold in which looks are measured. Runner: the one context that may send
 * for the stream at a time (run.c).
 *
 * The runner starts a hold; the timer ends the hold, or the runner after it has stopped the timer.
 * While @on of struct kwarp_coalesce is false, the runner owns the state; while it is true, the
 * timer. After a hold has ended, the runner sets the ring's flags so that the program rings again.
 */
#include "pace.h"

#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../../compat.h"
#include "../../kwarp.h"
#include "share.h"
#include "../types.h"

/* ------------------------------------------------------------------- decisions */

static void pace_start_clock(struct kwarp_pace *p, u32 done, u64 now)
{
	p->done = done;
	p->since = now;
	p->inside = 0;
}

/* Add what has completed since pace_start_clock() to @sum, and start the clock again. */
static void pace_add_up(struct kwarp_pace *p, struct kwarp_pace_sum *sum, u32 done, u64 now)
{
	if (sum->ns > KWARP_PACE_KEEP_NS) {
		sum->requests /= 2;
		sum->ns /= 2;
	}
	/*
	 * With these limits, which are never reached in practice, the products in
	 * pace_timer_pays() fit into 64 bits.
	 */
	sum->requests = min(sum->requests + (u32)(done - p->done), BIT_ULL(26));
	sum->ns += min_t(u64, now - p->since, U32_MAX);
	pace_start_clock(p, done, now);
}

/*
 * Did nothing complete during the measured doorbells? Then requests may be waiting for the peer,
 * and the rates cannot be compared.
 */
static bool pace_proves_nothing(const struct kwarp_pace *p)
{
	return !p->rung.requests;
}

/* Do at least 17/16 as many requests complete in the same time with the timer as with doorbells? */
static bool pace_timer_pays(const struct kwarp_pace *p)
{
	const struct kwarp_pace_sum *looked = &p->looked[p->patient];

	return 16 * looked->requests * p->rung.ns >= 17 * p->rung.requests * looked->ns;
}

/* Do more requests complete in the same time with patient looks than with others? */
static bool pace_patience_pays(const struct kwarp_pace *p)
{
	const struct kwarp_pace_sum *once = &p->looked[false], *patient = &p->looked[true];

	return patient->requests * once->ns > once->requests * patient->ns;
}

/* If patient looks have been measured, too, use the better of the two ways from now on. */
static void pace_choose(struct kwarp_pace *p)
{
	if (p->patient && !p->chosen) {
		p->patient = pace_patience_pays(p);
		p->chosen = true;
	}
}

/* Drop all measurements. */
static void pace_forget(struct kwarp_pace *p)
{
	p->rung = (struct kwarp_pace_sum) {};
	memset(p->looked, 0, sizeof(p->looked));
	p->patient = false;
	p->chosen = false;
}

static void pace_fail_trial(struct kwarp_pace *p)
{
	p->obey = p->obey_next;
	p->obey_next = min(4 * p->obey_next, KWARP_PACE_OBEY_MAX);
	pace_forget(p);
}

/*
 * Do not count a pause of the program, since a program that pauses is not slow. Of a pause, count
 * only the time after which a hold would have ended.
 */
static void pace_skip_pause(struct kwarp_pace *p, u64 now)
{
	const u64 pause = now - p->last;
	/* Keep enough of the pause to be noticed by pace_rings_seldom(). */
	const u64 most = max_t(u64, KWARP_PACE_QUIET * p->ns, 2 * KWARP_PACE_SELDOM_NS);

	if (pause > most)
		p->since += pause - most;
}

/* Count down @obey for a doorbell that is not measured; a long doorbell counts several times. */
static void pace_obey_one(struct kwarp_pace *p, u64 ns)
{
	p->obey -= min_t(u64, p->obey, 1 + div_u64(ns, KWARP_PACE_USUAL_NS));
}

/* Does the program leave so much time between doorbells that they do not limit it? */
static bool pace_rings_seldom(const struct kwarp_pace *p, u64 now)
{
	return now - p->since - p->inside >= KWARP_PACE_DOORBELLS * KWARP_PACE_SELDOM_NS;
}

/**
 * kwarp_pace_enters - note that a doorbell begins
 * @p: measurements; updated
 * @now: nanoseconds
 * @held: the stream is held, so only @entered of @p may be written here; the rest is the timer's
 *
 * Context: the runner.
 */
void kwarp_pace_enters(struct kwarp_pace *p, u64 now, bool held)
{
	/* Needed even while the stream is held: the hold may end before this doorbell does. */
	p->entered = now;
	if (!held)
		pace_skip_pause(p, now);
}

/**
 * kwarp_pace_begins - decide at the end of a doorbell: start a trial hold?
 * @p: measurements; updated
 * @done: requests that have completed so far, a counter that wraps
 * @now: nanoseconds
 *
 * Context: the runner, while the stream is not held.
 * Return: true if the stream is to be held.
 */
bool kwarp_pace_begins(struct kwarp_pace *p, u32 done, u64 now)
{
	p->inside += now - p->entered;
	p->last = now;
	if (p->obey) {
		pace_obey_one(p, now - p->entered);
		return false;
	}
	if (!p->doorbells++)
		pace_start_clock(p, done, now);
	if (p->doorbells <= KWARP_PACE_DOORBELLS)
		return false;
	p->doorbells = 0;
	if (pace_rings_seldom(p, now))
		return false;
	pace_add_up(p, &p->rung, done, now);
	p->looks = 0;
	p->quiet = 0;
	p->seen = 0;
	p->waits = 0;
	return true;
}

/**
 * kwarp_pace_goes_on - decide after a look: does the hold continue?
 * @p: measurements; updated
 * @done: requests that have completed so far, a counter that wraps
 * @now: nanoseconds
 * @idle: there is no request to send, and none is outstanding
 *
 * Context: the timer, while the stream is held.
 * Return: true if the hold continues.
 */
bool kwarp_pace_goes_on(struct kwarp_pace *p, u32 done, u64 now, bool idle)
{
	struct kwarp_pace_sum *sum;
	bool over;

	p->quiet = idle ? p->quiet + 1 : 0;
	over = p->quiet == KWARP_PACE_QUIET;
	if (++p->looks % KWARP_PACE_LOOKS && !over)
		return true;
	sum = &p->looked[p->patient];
	pace_add_up(p, sum, done, now);
	if (sum->ns < KWARP_PACE_TRIAL_NS)
		return p->patient && !over;
	if (pace_proves_nothing(p)) {
		p->obey = KWARP_PACE_OBEY;
		pace_forget(p);
		return false;
	}
	pace_choose(p);
	if (!pace_timer_pays(p)) {
		pace_fail_trial(p);
		return false;
	}
	p->obey_next = KWARP_PACE_OBEY;
	if (p->looks >= KWARP_PACE_RENEW) {
		pace_forget(p);
		return false;
	}
	if (!p->chosen)
		p->patient = true;
	return !over;
}

/* End the hold. */
static void pace_end_hold(struct kwarp_engine *e)
{
	/*
	 * After this the runner may start another hold: pairs with the acquires in
	 * kwarp_pace_rung() and kwarp_pace_sent().
	 */
	smp_store_release(&e->tx.coalesce.on, false);
	kwarp_timers_put(&e->sq->cq->coalesce.user->paced, &e->kdev->timers.paced);
}

/* ------------------------------------------------------------------- the timer */

/* Result of a look. */
enum finding {
	NOTHING,	/* nothing to send, no runner, no outstanding request */
	BUSY,		/* responses are outstanding, or the timer must not send now */
	POSTED,		/* requests can be sent, and there is no runner */
	HANDED_OVER,	/* requests can be sent, and the work item is queued for them */
};

/* Has the runner taken a request that has not completed? A hint, read without a lock. */
static bool sq_outstanding(const struct kwarp_engine *e)
{
	return READ_ONCE(e->sq->next) != READ_ONCE(e->sq->retired);
}

/*
 * Does the timer have something to send? If requests wait for the work item, the timer sends them,
 * because a program that polls may keep the worker waiting for the processor. The timer does not
 * send them if the work item waits because memory is short, or because the softirqs of this
 * processor have sent for as long as they may in a tick (share.h).
 */
static enum finding pace_find(const struct kwarp_engine *e)
{
	switch (atomic_read(&e->tx.run)) {
	case KWARP_RUN_QUEUED:
		return READ_ONCE(e->tx.backs_off) ? BUSY : HANDED_OVER;
	case KWARP_RUN_IDLE:
		break;
	default:
		return BUSY;
	}
	if (READ_ONCE(e->sq->ring.hdr->flags) != KWARP_RING_HELD)
		return BUSY;
	/* A request that waits for a response is sent when the response comes. */
	if (!test_bit(KWARP_E_TX_WAIT_READ, &e->flags) && kwarp_sq_has_unmoved(e->sq))
		return POSTED;
	return sq_outstanding(e) ? BUSY : NOTHING;
}

/*
 * Has the program posted since the previous look, and may it post more? Each entry is checked once:
 * entries found by the previous look are skipped.
 */
static bool pace_posts_on(struct kwarp_engine *e)
{
	struct kwarp_pace *p = &e->tx.coalesce.pace;
	const u32 most = min_t(u32, e->sq->max_wr, KWARP_PACE_MANY), before = p->seen;

	while (p->seen < most && kwarp_siw_posted(e->sq->siw, p->seen))
		p->seen++;
	return p->seen != before && p->seen < most;
}

/* A patient look: should the requests wait for the next look, for coalesce_us at most in all? */
static bool pace_waits_for_more(struct kwarp_engine *e, enum finding found)
{
	struct kwarp_pace *p = &e->tx.coalesce.pace;

	if (found == POSTED && p->patient && ++p->waits * p->ns < e->tx.coalesce.ns &&
	    pace_posts_on(e))
		return true;
	p->seen = 0;
	p->waits = 0;
	return false;
}

/*
 * Count the time of this look. Return: false if the softirqs of this processor have sent for as
 * long as they may in a tick (share.h). Then the hold ends: the program is to ring, and to send in
 * its own time.
 */
static bool pace_has_share(u64 begin)
{
	kwarp_softirq_share_spend(begin);
	return kwarp_softirq_share_now()->spent < KWARP_SHARE_TICK_NS;
}

/* Completed requests. The timer reads the count without the queue's lock. */
static u32 sq_completed(const struct kwarp_engine *e)
{
	return READ_ONCE(e->sq->retired);
}

/* The timer's handler. Context: softirq. */
static enum hrtimer_restart pace_timer(struct hrtimer *timer)
{
	struct kwarp_engine *e = container_of(timer, struct kwarp_engine, tx.coalesce.pace.timer);
	struct kwarp_coalesce *c = &e->tx.coalesce;
	const u64 begin = local_clock();
	enum finding found = pace_find(e);
	bool goes_on = kwarp_pace_goes_on(&c->pace, sq_completed(e), ktime_get_ns(),
					  found == NOTHING);
	bool waits = pace_waits_for_more(e, found);
	bool sends = found == HANDED_OVER || (found == POSTED && !waits);

	goes_on &= pace_has_share(begin);
	if (sends)
		atomic_long_inc(&e->kdev->coalesce_paced);
	if (!goes_on) {
		pace_end_hold(e);
		/*
		 * Pairs with the barrier in kwarp_sq_tell(), between the runner's setting of
		 * KWARP_RING_HELD and its check that the stream is held.
		 */
		smp_mb();
	}
	if (sends || !goes_on)
		c->send(e);
	if (!goes_on)
		return HRTIMER_NORESTART;
	/* Count from now, even if this call was late: the program is to have the whole time. */
	hrtimer_set_expires(timer, ns_to_ktime(ktime_get_ns() + c->pace.ns));
	return HRTIMER_RESTART;
}

/* ------------------------------------------------------------------ the runner */

/*
 * End the hold in the runner, unless the timer's handler runs now. The runner sets the ring's flags
 * afterwards.
 */
static void pace_cancel_hold(struct kwarp_engine *e)
{
	if (hrtimer_try_to_cancel(&e->tx.coalesce.pace.timer) != 1)
		return;
	pace_end_hold(e);
	e->tx.coalesce.pace.doorbells = 0;
}

/**
 * kwarp_pace_rung - note that a doorbell was rung
 * @e: engine of a stream whose program has libsiw
 *
 * The caller sends, and then calls kwarp_pace_sent().
 *
 * Context: the runner.
 */
void kwarp_pace_rung(struct kwarp_engine *e)
{
	bool held;

	kwarp_assert_runner(e);
	/* Pairs with pace_end_hold(), up to which the timer owns the counts. */
	held = smp_load_acquire(&e->tx.coalesce.on);
	kwarp_pace_enters(&e->tx.coalesce.pace, ktime_get_ns(), held);
}

/**
 * kwarp_pace_sent - start or end a hold, after the sending that a doorbell has caused
 * @e: engine of a stream whose program has libsiw
 * @may: the stream may be held, if that makes it faster
 *
 * Context: the runner.
 */
void kwarp_pace_sent(struct kwarp_engine *e, bool may)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_pace *p = &c->pace;

	kwarp_assert_runner(e);
	/*
	 * The program of a held stream still rings if its ring was full, or if the runner has taken
	 * the newest entry meanwhile. This does not end the hold.
	 */
	if (smp_load_acquire(&c->on)) {
		if (!may)
			pace_cancel_hold(e);
		return;
	}
	if (!may) {
		p->doorbells = 0;
		return;
	}
	if (!kwarp_pace_begins(p, sq_completed(e), ktime_get_ns()))
		return;
	if (!kwarp_timers_get(&e->sq->cq->coalesce.user->paced, KWARP_MAX_USER_PACED,
			      &e->kdev->timers.paced, KWARP_MAX_PACED))
		return;
	WRITE_ONCE(c->on, true);
	hrtimer_start(&p->timer, ns_to_ktime(p->ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * kwarp_pace_stop - end the hold, because the stream ends
 * @e: engine; the caller has stopped the runner (kwarp_tx_claim()), so that no doorbell is handled
 *	meanwhile
 *
 * Context: the runner, process; waits if the timer's handler runs on another processor.
 */
void kwarp_pace_stop(struct kwarp_engine *e)
{
	might_sleep();
	kwarp_assert_runner(e);
	hrtimer_cancel(&e->tx.coalesce.pace.timer);
	if (e->tx.coalesce.on)
		pace_end_hold(e);
}

/*
 * Reset for a new stream, which is not held. The rest of @e->tx.coalesce is set already. Context:
 * the runner.
 */
void kwarp_pace_reset(struct kwarp_engine *e)
{
	struct kwarp_pace *p = &e->tx.coalesce.pace;

	p->ns = max_t(u64, e->tx.coalesce.ns / KWARP_PACE_SHARE, KWARP_PACE_MIN_NS);
	p->doorbells = 0;
	pace_forget(p);
	p->obey = KWARP_PACE_OBEY_FIRST;
	p->obey_next = KWARP_PACE_OBEY;
}

/* Initialize for a queue pair, before its first stream. */
void kwarp_pace_init(struct kwarp_engine *e)
{
	kwarp_hrtimer_setup(&e->tx.coalesce.pace.timer, pace_timer,
			    HRTIMER_MODE_REL_PINNED_SOFT);
}
