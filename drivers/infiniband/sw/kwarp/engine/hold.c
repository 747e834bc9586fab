// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When to hold requests back, and for how long: see hold.h.
 */
#include "hold.h"

#include <linux/timekeeping.h>

#include "../compat.h"
#include "engine.h"
#include "sock.h"

static void send_held(struct kwarp_engine *e)
{
	kwarp_tx_kick(e, KWARP_TX_FROM_TIMER);
}

static enum hrtimer_restart period_over(struct hrtimer *timer)
{
	struct kwarp_engine *e = container_of(timer, struct kwarp_engine, tx.hold.timer);
	/* kwarp_hold_stop() comes behind the store and waits for us. */
	struct socket *sock = READ_ONCE(e->sock);

	if (sock && !kwarp_sock_run(sock, send_held, e))
		kwarp_tx_defer(e);
	return HRTIMER_NORESTART;
}

/* Once per queue pair. */
void kwarp_hold_init(struct kwarp_engine *e)
{
	kwarp_hrtimer_setup(&e->tx.hold.timer, period_over, HRTIMER_MODE_REL_SOFT);
}

/* No period runs any more, nor will one that is being started find a socket.  Process. */
void kwarp_hold_stop(struct kwarp_engine *e)
{
	hrtimer_cancel(&e->tx.hold.timer);
}

/* A stream begins.  Context: the runner. */
void kwarp_hold_reset(struct kwarp_engine *e)
{
	e->tx.hold.on = false;
	e->tx.hold.misses = 0;
	e->tx.hold.streak = 0;
	e->tx.hold.penalty = KWARP_HOLD_PENALTY;
	e->tx.hold.off = e->tx.off;
}

static u64 period_ns(const struct kwarp_hold *h)
{
	return clamp_t(u64, (u64)READ_ONCE(h->cost) * KWARP_HOLD_DOORBELLS, KWARP_HOLD_MIN_NS,
		       KWARP_HOLD_MAX_NS);
}

/*
 * Does the program wait for each request before it posts the next?  What a completion
 * says, "with TCP", is true at once, and then nothing is heard and doorbells are quick.
 */
static bool waits_for_completions(const struct kwarp_sq *sq)
{
	return sq->done[(sq->next - 1) & sq->ring.mask].signaled && kwarp_cq_empty(sq->cq);
}

/**
 * kwarp_hold_wanted - a doorbell was rung: hold the request back?
 * @e: engine
 * @now: ktime_get_ns()
 *
 * Doorbells are quick if the next one comes within the time for which it would be held
 * back. That is generous, as without doorbells requests come quicker still, and it is
 * found out soon if they do not (KWARP_HOLD_MISSES).
 *
 * Context: the runner, process.
 * Return: true: kwarp_hold_begin() comes next; false: send.
 */
bool kwarp_hold_wanted(struct kwarp_engine *e, u64 now)
{
	struct kwarp_hold *h = &e->tx.hold;
	u32 sent = e->tx.off - h->off;

	/* A timer that has to wait for the next tick would hold back for much too long. */
	if (!e->sock || hrtimer_resolution > KWARP_HOLD_MIN_NS)
		return false;
	/* A late doorbell, that the period makes unnecessary. */
	if (h->on && hrtimer_is_queued(&h->timer))
		return true;
	h->off = e->tx.off;
	h->on = false;
	h->misses = 0;
	if (READ_ONCE(h->heard) || sent > KWARP_HOLD_SMALL ||
	    now - READ_ONCE(h->left) > period_ns(h) || waits_for_completions(e->sq)) {
		WRITE_ONCE(h->heard, false);
		h->streak = min(h->streak, 0);
		return false;
	}
	return ++h->streak > KWARP_HOLD_STREAK;
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
	/* A single one that was disturbed says little, and while we hold back none is rung. */
	u64 most = 2 * (u64)READ_ONCE(h->cost) + KWARP_HOLD_GROWTH_NS;

	WRITE_ONCE(h->left, now);
	WRITE_ONCE(h->cost, min3(now - since, most, (u64)KWARP_HOLD_MAX_NS));
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

	if (!h->on || !e->sock)
		return false;
	if (e->sq->next - h->next >= KWARP_HOLD_WORTH) {
		h->misses = 0;
		h->penalty = KWARP_HOLD_PENALTY;
		return true;
	}
	if (due && ++h->misses < KWARP_HOLD_MISSES)
		return true;
	h->on = false;
	if (due) {
		h->streak = -h->penalty;
		h->penalty = min(2 * h->penalty, KWARP_HOLD_MAX_PENALTY);
	}
	return false;
}

/* A period begins, or goes on.  Context: the runner, before kwarp_hold_start(). */
void kwarp_hold_begin(struct kwarp_engine *e)
{
	struct kwarp_hold *h = &e->tx.hold;

	if (h->on && hrtimer_is_queued(&h->timer))
		return;
	h->on = true;
	h->next = e->sq->next;
}

/* Somebody will run when the period is over.  Context: any but hard interrupt. */
void kwarp_hold_start(struct kwarp_engine *e)
{
	/* A period that goes on does not become longer. */
	if (hrtimer_is_queued(&e->tx.hold.timer))
		return;
	hrtimer_start(&e->tx.hold.timer, ns_to_ktime(period_ns(&e->tx.hold)),
		      HRTIMER_MODE_REL_SOFT);
}
