// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When to hold requests back, and for how long: see hold.h.
 */
#include "hold.h"

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "../../kwarp.h"

/**
 * struct last_doorbell - the last doorbell that was rung on a processor
 * @when: ktime_get_ns() behind it, or when requests that were held back instead had been sent
 * @who: process that rang: what others do says nothing about it
 *
 * A hint: whoever rings may be moved meanwhile, and another may ring, or a timer send.
 */
struct last_doorbell {
	u64 when;
	pid_t who;
};

static DEFINE_PER_CPU(struct last_doorbell, kwarp_last_doorbell);

/* Context: process, as are the doorbells. */
static void note_doorbell(u64 now)
{
	struct last_doorbell *last = raw_cpu_ptr(&kwarp_last_doorbell);

	WRITE_ONCE(last->when, now);
	WRITE_ONCE(last->who, current->tgid);
}

/* No program has run on this processor while the timer sent what @who had posted. */
static void excuse_timer(pid_t who)
{
	struct last_doorbell *last = raw_cpu_ptr(&kwarp_last_doorbell);

	if (READ_ONCE(last->who) == who)
		WRITE_ONCE(last->when, ktime_get_ns());
}

/* Nanoseconds, less than none if there was a doorbell after @now.  Context: process. */
static s64 since_doorbell(u64 now)
{
	const struct last_doorbell *last = raw_cpu_ptr(&kwarp_last_doorbell);

	return READ_ONCE(last->who) == current->tgid ? now - READ_ONCE(last->when) : S64_MAX;
}

/* May whoever posts keep the processor from the timer for as long as it likes? */
static bool poster_is_realtime(void)
{
	switch (current->policy) {
	case SCHED_FIFO:
	case SCHED_RR:
	case SCHED_DEADLINE:
		return true;
	default:
		return IS_ENABLED(CONFIG_PREEMPT_RT);
	}
}

/* Something keeps the timer from running? */
void kwarp_hold_late(struct kwarp_hold *h)
{
	s64 late = ktime_get_ns() - ktime_to_ns(hrtimer_get_expires(&h->timer));
	bool much = late > max_t(s64, h->max_ns, KWARP_HOLD_MIN_NS) * KWARP_HOLD_LATE_PERIODS;

	WRITE_ONCE(h->late, much ? min_t(u32, READ_ONCE(h->late) + 1, KWARP_HOLD_LATE) : 0);
}

/* A stream begins.  Context: the runner. */
void kwarp_hold_reset(struct kwarp_engine *e)
{
	e->tx.hold.max_ns = READ_ONCE(e->kdev->knobs.hold_us) * NSEC_PER_USEC;
	WRITE_ONCE(e->tx.hold.late, 0);
	e->tx.hold.on = false;
	e->tx.hold.large = false;
	e->tx.hold.misses = 0;
	e->tx.hold.warm = false;
	e->tx.hold.streak = 0;
	e->tx.hold.penalty = KWARP_HOLD_PENALTY;
	e->tx.hold.off = e->tx.off;
}

/* The time that so many doorbells take, within limits. */
static u64 doorbells_ns(const struct kwarp_hold *h, u32 doorbells)
{
	return clamp_t(u64, (u64)READ_ONCE(h->cost) * doorbells, KWARP_HOLD_MIN_NS,
		       KWARP_HOLD_MAX_NS);
}

static u64 period_ns(const struct kwarp_hold *h)
{
	return min_t(u64, doorbells_ns(h, h->large ? 1 : KWARP_HOLD_DOORBELLS), h->max_ns);
}

/* The request that was taken last. */
static const struct kwarp_sq_done *last_taken(const struct kwarp_sq *sq)
{
	return &sq->done[(sq->next - 1) & sq->ring.mask];
}

/* Is what the last doorbell has sent of a size that is held back? */
static bool right_size(const struct kwarp_engine *e, u32 sent)
{
	if (sent <= KWARP_HOLD_SMALL)
		return true;
	return sent <= KWARP_HOLD_LARGE && READ_ONCE(e->tx.hold.cost) < KWARP_HOLD_MAX_NS &&
	       last_taken(e->sq)->opcode == KWARP_WR_WRITE;
}

/*
 * Does the program wait for each request before it posts the next?  What a completion
 * says, "with TCP", is true at once, and then nothing is heard and doorbells are quick.
 * Not if there is no completion yet, as with Reads that are not answered.
 */
static bool waits_for_completions(const struct kwarp_sq *sq)
{
	/* A hint: an answer may be coming at this moment. */
	return last_taken(sq)->signaled && READ_ONCE(sq->retired) == sq->next &&
	       kwarp_cq_empty(sq->cq);
}

/**
 * kwarp_hold_wanted - a doorbell was rung: hold the request back?
 * @e: engine
 * @now: ktime_get_ns()
 *
 * Doorbells are quick if the next one comes, on the same processor, within the time that
 * KWARP_HOLD_DOORBELLS of them take. That is generous, as without doorbells requests come
 * quicker still, and it is found out soon if they do not (KWARP_HOLD_MISSES).
 *
 * Context: the runner, process.
 * Return: true: kwarp_hold_begin() comes next; false: send.
 */
bool kwarp_hold_wanted(struct kwarp_engine *e, u64 now)
{
	struct kwarp_hold *h = &e->tx.hold;
	u32 sent = e->tx.off - h->off;

	/* A timer that has to wait for the next tick would hold back for much too long. */
	if (!e->sock || hrtimer_resolution > KWARP_HOLD_MIN_NS || !h->max_ns ||
	    poster_is_realtime()) {
		h->on = false;
		return false;
	}
	h->who = current->tgid;
	/* A late doorbell, that the period makes unnecessary. */
	if (h->on && hrtimer_is_queued(&h->timer))
		return true;
	h->off = e->tx.off;
	h->on = false;
	/* Directly behind a period nothing is known but what it was. */
	if (sent)
		h->large = sent > KWARP_HOLD_SMALL;
	h->misses = 0;
	if (READ_ONCE(h->heard) || !right_size(e, sent) ||
	    since_doorbell(now) > (s64)doorbells_ns(h, KWARP_HOLD_DOORBELLS) ||
	    waits_for_completions(e->sq)) {
		WRITE_ONCE(h->heard, false);
		h->streak = min(h->streak, 0);
		return false;
	}
	/* A queue pair may go on for weeks: this far, and no further. */
	h->streak = min(h->streak, KWARP_HOLD_STREAK) + 1;
	if (h->streak <= (h->warm ? 0 : KWARP_HOLD_STREAK))
		return false;
	/* Not obeyed, so kwarp_hold_rung() does not come. */
	note_doorbell(now);
	return true;
}

/**
 * kwarp_hold_rung - what a doorbell was rung for has been sent, as far as possible
 * @e: engine
 * @since: ktime_get_ns() when it was rung
 *
 * Context: process; not the runner any more.
 */
void kwarp_hold_rung(struct kwarp_engine *e, u64 since)
{
	struct kwarp_hold *h = &e->tx.hold;
	u64 now = ktime_get_ns();
	/* Behind a pause all is cold, and takes longer than in the stream that may follow. */
	bool cold = since_doorbell(since) > KWARP_HOLD_MAX_NS;
	u64 cost = READ_ONCE(h->cost);
	/* A single one that was disturbed says little, and while we hold back none is rung. */
	u64 most = cold ? cost : 2 * cost + KWARP_HOLD_GROWTH_NS;

	note_doorbell(now);
	WRITE_ONCE(h->cost, min3(now - since, most, (u64)KWARP_HOLD_MAX_NS));
}

/*
 * Do queue pairs share the CQ?  One alone may use it for both of its queues.  Two that share it
 * for one of theirs are not recognised.
 */
static bool cq_is_shared(const struct kwarp_cq *cq)
{
	return atomic_read(&cq->ibcq.usecnt) > 2;
}

/**
 * kwarp_hold_due - the period is over
 * @e: engine
 *
 * Is the program busy with completions, perhaps of other queue pairs?  Not if it heard from its
 * peer: then it may be this queue pair that it is about to use.
 *
 * Context: the runner, softirq, before it sends: what that completes does not count.
 */
void kwarp_hold_due(struct kwarp_engine *e)
{
	struct kwarp_hold *h = &e->tx.hold;
	struct kwarp_cq *cq = e->sq->cq;

	h->busy = cq_is_shared(cq) && !READ_ONCE(h->heard) && !kwarp_cq_empty(cq);
}

/**
 * kwarp_hold_more - all has been sent: hold back what comes next, too?
 * @e: engine
 * @due: the period is over
 *
 * Context: the runner.
 * Return: true: kwarp_hold_begin() comes next.
 */
bool kwarp_hold_more(struct kwarp_engine *e, bool due)
{
	struct kwarp_hold *h = &e->tx.hold;
	u32 worth = h->large ? KWARP_HOLD_WORTH_LARGE : KWARP_HOLD_WORTH;
	u32 found = e->sq->next - h->next;

	if (!h->on || !e->sock)
		return false;
	if (due && found)
		excuse_timer(h->who);
	if (READ_ONCE(h->late) >= KWARP_HOLD_LATE) {
		WRITE_ONCE(h->late, 0);
		h->on = false;
		h->off = e->tx.off;
		h->warm = false;
		h->streak = -KWARP_HOLD_MAX_PENALTY;
		return false;
	}
	if (found >= worth) {
		h->misses = 0;
		h->warm = true;
		h->penalty = KWARP_HOLD_PENALTY;
		return true;
	}
	if (due && h->busy && found)
		return true;
	if (due && !h->busy && ++h->misses < KWARP_HOLD_MISSES)
		return true;
	h->on = false;
	h->off = e->tx.off;
	/* Behind a burst: the next one is held back soon, and has to be worth it itself. */
	if (due && !h->busy && !h->warm) {
		h->streak = -h->penalty;
		h->penalty = min(2 * h->penalty, KWARP_HOLD_MAX_PENALTY);
	}
	return false;
}

/* A period begins, or goes on.  Context: the runner.  Return: nanoseconds. */
u64 kwarp_hold_begin(struct kwarp_engine *e)
{
	struct kwarp_hold *h = &e->tx.hold;

	if (h->on && hrtimer_is_queued(&h->timer))
		return period_ns(h);
	if (!h->on)
		h->warm = false;
	h->on = true;
	h->next = e->sq->next;
	return period_ns(h);
}
