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
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../../compat.h"
#include "../../kwarp.h"
#include "share.h"
#include "../types.h"

/* -------------------------------------------------------------------- verdicts */

static void start_clock(struct kwarp_pace *p, u32 done, u64 now)
{
	p->done = done;
	p->since = now;
	p->inside = 0;
}

/* What has completed since the clock was started. */
static void add_up(struct kwarp_pace *p, struct kwarp_pace_sum *sum, u32 done, u64 now)
{
	if (sum->ns > KWARP_PACE_KEEP_NS) {
		sum->requests /= 2;
		sum->ns /= 2;
	}
	/* With these limits, far beyond what can be, pays() cannot overflow. */
	sum->requests = min(sum->requests + (u32)(done - p->done), BIT_ULL(26));
	sum->ns += min_t(u64, now - p->since, U32_MAX);
	start_clock(p, done, now);
}

/* What has been posted may wait for the peer: no doorbell has shown how fast they could be. */
static bool proves_nothing(const struct kwarp_pace *p)
{
	return !p->rung.requests;
}

/* Does more complete with looks than with doorbells, by a sixteenth? */
static bool pays(const struct kwarp_pace *p)
{
	const struct kwarp_pace_sum *looked = &p->looked[p->patient];

	return 16 * looked->requests * p->rung.ns >= 17 * p->rung.requests * looked->ns;
}

/* And does more complete if a look waits for more? */
static bool patience_pays(const struct kwarp_pace *p)
{
	const struct kwarp_pace_sum *once = &p->looked[false], *patient = &p->looked[true];

	return patient->requests * once->ns > once->requests * patient->ns;
}

/* The way that has been tried last has been measured for long enough. */
static void choose(struct kwarp_pace *p)
{
	if (p->patient && !p->chosen) {
		p->patient = patience_pays(p);
		p->chosen = true;
	}
}

/* What has been measured. */
static void forget(struct kwarp_pace *p)
{
	p->rung = (struct kwarp_pace_sum) {};
	memset(p->looked, 0, sizeof(p->looked));
	p->patient = false;
	p->chosen = false;
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
	const u64 pause = now - p->last;
	/* But for so long that rings_seldom() can see it. */
	const u64 most = max_t(u64, KWARP_PACE_QUIET * p->ns, 2 * KWARP_PACE_SELDOM_NS);

	if (pause > most)
		p->since += pause - most;
}

/* Of those after a trial, or at the beginning. */
static void obey_one(struct kwarp_pace *p, u64 ns)
{
	p->obey -= min_t(u64, p->obey, 1 + div_u64(ns, KWARP_PACE_USUAL_NS));
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
 * @held: the stream is, and most of @p are the timer's
 *
 * Context: the runner.
 */
void kwarp_pace_enters(struct kwarp_pace *p, u64 now, bool held)
{
	/* The timer may let go before this doorbell has had its verdict. */
	p->entered = now;
	if (!held)
		leave_out_pause(p, now);
}

/**
 * kwarp_pace_begins - a doorbell has been obeyed: hold what is posted next?
 * @p: counts, brought up to date
 * @done: requests that have completed so far, free running
 * @now: nanoseconds
 *
 * Context: the runner, and the stream is not held.
 * Return: true: as a trial.
 */
bool kwarp_pace_begins(struct kwarp_pace *p, u32 done, u64 now)
{
	p->inside += now - p->entered;
	p->last = now;
	if (p->obey) {
		obey_one(p, now - p->entered);
		return false;
	}
	if (!p->doorbells++)
		start_clock(p, done, now);
	if (p->doorbells <= KWARP_PACE_DOORBELLS)
		return false;
	p->doorbells = 0;
	if (rings_seldom(p, now))
		return false;
	add_up(p, &p->rung, done, now);
	p->looks = 0;
	p->quiet = 0;
	p->seen = 0;
	p->waits = 0;
	return true;
}

/**
 * kwarp_pace_goes_on - the timer has looked: is the stream held still?
 * @p: counts, brought up to date
 * @done: requests that have completed so far, free running
 * @now: nanoseconds
 * @idle: there is none to send, and none under way
 *
 * Context: the timer, and the stream is held.
 * Return: true if so.
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
	add_up(p, sum, done, now);
	if (sum->ns < KWARP_PACE_TRIAL_NS)
		return p->patient && !over;
	if (proves_nothing(p)) {
		p->obey = KWARP_PACE_OBEY;
		forget(p);
		return false;
	}
	choose(p);
	if (!pays(p)) {
		fail(p);
		return false;
	}
	p->obey_next = KWARP_PACE_OBEY;
	if (p->looks >= KWARP_PACE_RENEW) {
		forget(p);
		return false;
	}
	if (!p->chosen)
		p->patient = true;
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

/* What a look finds. */
enum finding {
	NOTHING,	/* and nobody sends, nor is anything waited for */
	BUSY,		/* somebody sends, TCP has no room, or responses are to come */
	POSTED,		/* what can be sent, and nobody does */
	LEFT,		/* likewise, and somebody has tried already */
};

/* Requests that have been taken and not completed: a hint. */
static bool outstanding(const struct kwarp_engine *e)
{
	return READ_ONCE(e->sq->next) != READ_ONCE(e->sq->retired);
}

/*
 * What a look, or a doorbell, has left to the work item is sent by the next look: that is quicker
 * where the program does not give its processor away.  What waits for memory, or was left since
 * softirqs have had their share, goes on waiting.
 */
static enum finding find(const struct kwarp_engine *e)
{
	switch (atomic_read(&e->tx.run)) {
	case KWARP_RUN_QUEUED:
		return READ_ONCE(e->tx.backs_off) ? BUSY : LEFT;
	case KWARP_RUN_IDLE:
		break;
	default:
		return BUSY;
	}
	if (READ_ONCE(e->sq->ring.hdr->flags) != KWARP_RING_HELD)
		return BUSY;
	/* What waits for a response is sent when that comes. */
	if (!test_bit(KWARP_E_TX_WAIT_READ, &e->flags) && kwarp_sq_left(e->sq))
		return POSTED;
	return outstanding(e) ? BUSY : NOTHING;
}

/*
 * Has the program posted since the look before, and may it post more?  Each entry is looked at
 * once: those that the look before has seen need no other.
 */
static bool posts_on(struct kwarp_engine *e)
{
	struct kwarp_pace *p = &e->tx.coalesce.pace;
	const u32 most = min_t(u32, e->sq->max_wr, KWARP_PACE_MANY), before = p->seen;

	while (p->seen < most && kwarp_siw_posted(e->sq->siw, p->seen))
		p->seen++;
	kwarp_softirq_share_now()->spent += (p->seen - before) / KWARP_SHARE_EFFORT;
	return p->seen != before && p->seen < most;
}

/* What was found shall wait for the next look, for coalesce_us at most.  Else it is sent. */
static bool waits_for_more(struct kwarp_engine *e, enum finding found)
{
	struct kwarp_pace *p = &e->tx.coalesce.pace;

	if (found == POSTED && p->patient && ++p->waits * p->ns < e->tx.coalesce.ns && posts_on(e))
		return true;
	p->seen = 0;
	p->waits = 0;
	return false;
}

/*
 * A look is charged to the softirqs of its processor.  Where they have spent their share the
 * program is to ring again, and to send in its own time.
 */
static bool has_share(void)
{
	struct kwarp_softirq_share *s = kwarp_softirq_share_now();

	return ++s->spent < KWARP_SHARE_TICK;
}

/* The timer looks at it without the queue's lock. */
static u32 completed(const struct kwarp_engine *e)
{
	return READ_ONCE(e->sq->retired);
}

/* Softirq. */
static enum hrtimer_restart look_at_libsiw(struct hrtimer *timer)
{
	struct kwarp_engine *e = container_of(timer, struct kwarp_engine, tx.coalesce.pace.timer);
	struct kwarp_coalesce *c = &e->tx.coalesce;
	enum finding found = find(e);
	bool goes_on = kwarp_pace_goes_on(&c->pace, completed(e), ktime_get_ns(),
					  found == NOTHING);
	bool waits = waits_for_more(e, found);
	bool sends = found == LEFT || (found == POSTED && !waits);

	goes_on &= has_share();
	if (sends)
		atomic_long_inc(&e->kdev->coalesce_paced);
	if (!goes_on) {
		let_go(e);
		/* Pairs with the runner's between telling posters and looking whether it holds. */
		smp_mb();
	}
	if (sends || !goes_on)
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
	bool held;

	kwarp_assert_runner(e);
	/* Pairs with let_go() of the timer, whose the counts are until then. */
	held = smp_load_acquire(&e->tx.coalesce.on);
	kwarp_pace_enters(&e->tx.coalesce.pace, ktime_get_ns(), held);
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
	if (!kwarp_pace_begins(p, completed(e), ktime_get_ns()))
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
