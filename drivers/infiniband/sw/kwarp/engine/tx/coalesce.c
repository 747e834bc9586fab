// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whether to hold send queues, and the timer that looks after those that are: see coalesce.h.
 *
 * A stream that is held is on the list of its CQ.  The runner puts it there, and takes it off; the
 * timer takes it off when the hold ends.  The runner sets the ring's flags: it tells posters that
 * they need not ring, and then looks whether the stream is held still; the timer ends the hold, and
 * then looks whether posters have been told so.  If they have it makes the runner tell them anew.
 */
#include "coalesce.h"

#include <linux/delay.h>
#include <linux/sched.h>

#include "../../compat.h"
#include "../../kwarp.h"

/* Streams to look at in one go; the others have their turn the next time. */
#define LOOKS		256
/* Streams whose hold is ended in one go, which each take their socket's lock, and the pause then. */
#define RELEASES	64
#define RELEASE_PAUSE_NS	(50 * NSEC_PER_USEC)

/* -------------------------------------------------------------------- verdicts */

/**
 * kwarp_coalesce_rings - a program has rung: hold what it posts next?
 * @h: of its CQ; counts, brought up to date
 * @held: the queue that it has rung for was held, and had something left in it
 * @polled: it has polled since it rang for that queue last
 *
 * Context: @h->lock held.
 */
bool kwarp_coalesce_rings(struct kwarp_cq_hold *h, bool held, bool polled)
{
	if (held)
		h->missed = 0;
	h->quiet = 0;
	if (h->obey) {
		h->obey--;
		return false;
	}
	return polled;
}

/**
 * kwarp_coalesce_goes_on - the timer has looked: are the queues held still?
 * @h: counts, brought up to date
 * @f: what it has found
 *
 * Context: @h->lock held.
 */
bool kwarp_coalesce_goes_on(struct kwarp_cq_hold *h, const struct kwarp_coalesce_facts *f)
{
	h->active |= f->active;
	if (f->active || f->waiting)
		h->quiet = 0;
	else if (++h->quiet >= KWARP_COALESCE_QUIET)
		return false;
	if (!f->forgotten)
		return true;
	/* What is sent for it may be what keeps it from the processor. */
	if (!h->active && ++h->idle < KWARP_COALESCE_IDLE)
		return true;
	h->active = false;
	h->idle = 0;
	if (++h->missed < KWARP_COALESCE_MISSES)
		return true;
	h->missed = 0;
	h->obey = KWARP_COALESCE_OBEY;
	return false;
}

/* ------------------------------------------------------------------- the timer */

/* How often the program has polled either CQ: a hint, it may be polling just now. */
static u32 polls(const struct kwarp_engine *e)
{
	u32 n = kwarp_cq_polls(e->sq->cq);

	return e->recv_cq == e->sq->cq ? n : n + kwarp_cq_polls(e->recv_cq);
}

/* That, and how often it has rung for any queue of the CQ. */
static u32 deeds(const struct kwarp_cq_hold *h, const struct kwarp_engine *e)
{
	return polls(e) + h->rings;
}

/* Has the program left requests in the ring, although it could have rung? */
static bool has_left(const struct kwarp_engine *e)
{
	u32 prod = READ_ONCE(e->sq->ring.hdr->prod);

	/*
	 * It need not ring if somebody sends, or TCP has no room.  What it has rung for waits
	 * for something else, and a Read Response would be waited for if it had rung, too.
	 */
	return prod != READ_ONCE(e->sq->next) && prod != READ_ONCE(e->tx.coalesce.rung_at) &&
	       READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD &&
	       !test_bit(KWARP_E_TX_WAIT_READ, &e->flags);
}

/* One stream: true if what it has left is to be sent now. */
static bool look_at(struct kwarp_cq_hold *h, struct kwarp_engine *e,
		    struct kwarp_coalesce_facts *f)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	u32 before = c->deeds, now = deeds(h, e);
	bool active = now != before || h->rung;

	c->deeds = now;
	f->active |= active;
	if (!has_left(e)) {
		c->waits = 0;
		return false;
	}
	f->waiting = true;
	if (!c->waits++)
		return false;
	if (active)
		return c->waits > KWARP_COALESCE_BUSY;
	f->forgotten = true;
	atomic_long_inc(&e->kdev->coalesce_timeouts);
	return true;
}

/* Without the lock: a socket's is taken.  The stream stays until its @sends is given back. */
static void send_unlocked(struct kwarp_cq_hold *h, struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	c->waits = 0;
	atomic_inc(&c->sends);
	spin_unlock(&h->lock);
	c->send(e);
	/* kwarp_coalesce_stop() may be waiting, and what it waits for may be freed. */
	smp_mb__before_atomic();
	atomic_dec(&c->sends);
	spin_lock(&h->lock);
}

static void take_off(struct kwarp_cq_hold *h, struct kwarp_engine *e)
{
	lockdep_assert_held(&h->lock);
	if (!e->tx.coalesce.on)
		return;
	list_del(&e->tx.coalesce.node);
	h->n--;
	WRITE_ONCE(e->tx.coalesce.on, false);
}

/* What has been looked at goes to the end; what the program does meanwhile is no endless loop. */
static void look_at_some(struct kwarp_cq_hold *h, struct kwarp_coalesce_facts *f)
{
	u32 n = min_t(u32, h->n, LOOKS);
	struct kwarp_engine *e;

	while (n-- && !list_empty(&h->streams)) {
		e = list_first_entry(&h->streams, struct kwarp_engine, tx.coalesce.node);
		list_move_tail(&e->tx.coalesce.node, &h->streams);
		if (look_at(h, e, f))
			send_unlocked(h, e);
	}
}

/* The hold ends: posters are told to ring, and what they have left is sent. */
static void release_some(struct kwarp_cq_hold *h)
{
	struct kwarp_engine *e;
	u32 n;

	for (n = 0; n < RELEASES && !list_empty(&h->streams); n++) {
		e = list_first_entry(&h->streams, struct kwarp_engine, tx.coalesce.node);
		take_off(h, e);
		/* Pairs with the runner's between telling posters and looking whether it holds. */
		smp_mb();
		if (READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD)
			send_unlocked(h, e);
	}
}

/* Return: nanoseconds until the next look; 0: nothing is held. */
static u64 look(struct kwarp_cq_hold *h)
{
	struct kwarp_coalesce_facts f = {};

	lockdep_assert_held(&h->lock);
	if (!h->ends) {
		look_at_some(h, &f);
		h->ends = !kwarp_coalesce_goes_on(h, &f);
		h->ns = f.forgotten ? h->least :
				      min(2 * h->ns, KWARP_COALESCE_SLOW * h->least);
	}
	if (h->ends)
		release_some(h);
	if (list_empty(&h->streams))
		return 0;
	return h->ends ? RELEASE_PAUSE_NS : h->ns;
}

/* Softirq. */
static enum hrtimer_restart look_at_cq(struct hrtimer *timer)
{
	struct kwarp_cq_hold *h = container_of(timer, struct kwarp_cq_hold, timer);
	u64 ns;

	spin_lock(&h->lock);
	ns = look(h);
	if (ns)
		hrtimer_forward_now(timer, ns_to_ktime(ns));
	/* From now on whoever is held starts it. */
	h->runs = ns;
	spin_unlock(&h->lock);
	return ns ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* ------------------------------------------------------------------ the runner */

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

static bool may_hold(const struct kwarp_engine *e)
{
	const struct kwarp_coalesce *c = &e->tx.coalesce;

	/* A timer that has to wait for the next tick would hold for much too long. */
	if (!e->sock || !c->ns || hrtimer_resolution > c->ns || c->realtime)
		return false;
	/* A responder whose peer has said nothing cannot send, whoever rings. */
	return test_bit(KWARP_E_TX_OPEN, &e->flags);
}

static void done_ringing(struct kwarp_cq_hold *h, struct kwarp_engine *e)
{
	lockdep_assert_held(&h->lock);
	h->rung -= e->tx.coalesce.rung;
	e->tx.coalesce.rung = false;
}

static void put_on(struct kwarp_cq_hold *h, struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	lockdep_assert_held(&h->lock);
	c->waits = 0;
	if (c->on)
		return;
	list_add_tail(&c->node, &h->streams);
	h->n++;
	WRITE_ONCE(c->on, true);
	if (h->runs)
		return;
	h->runs = true;
	h->ends = false;
	h->least = c->ns;
	h->ns = c->ns;
	hrtimer_start(&h->timer, ns_to_ktime(h->ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

/* A doorbell was rung: kwarp_coalesce_sent() follows.  Context: the runner, process. */
void kwarp_coalesce_rung(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_cq_hold *h = &e->sq->cq->hold;
	u32 prod = READ_ONCE(e->sq->ring.hdr->prod);

	kwarp_assert_runner(e);
	c->left = prod != e->sq->next;
	WRITE_ONCE(c->rung_at, prod);
	c->realtime = poster_is_realtime();
	if (c->rung)
		return;
	spin_lock_bh(&h->lock);
	c->rung = true;
	h->rung++;
	h->rings++;
	spin_unlock_bh(&h->lock);
}

/**
 * kwarp_coalesce_sent - all that could be sent has been: if a doorbell was rung for it, what now?
 * @e: engine
 *
 * Context: the runner.
 */
void kwarp_coalesce_sent(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_cq_hold *h = &e->sq->cq->hold;
	u32 before = c->polls;

	kwarp_assert_runner(e);
	if (!c->rung)
		return;
	c->polls = polls(e);
	spin_lock_bh(&h->lock);
	done_ringing(h, e);
	if (may_hold(e) && kwarp_coalesce_rings(h, c->on && c->left, c->polls != before))
		put_on(h, e);
	else
		take_off(h, e);
	spin_unlock_bh(&h->lock);
}

/**
 * kwarp_coalesce_stop - no timer looks at the stream any more
 * @e: engine; nobody rings for it meanwhile
 *
 * Context: process; waits for a timer that sends for it now, on another processor.
 */
void kwarp_coalesce_stop(struct kwarp_engine *e)
{
	struct kwarp_cq_hold *h = &e->sq->cq->hold;

	might_sleep();
	spin_lock_bh(&h->lock);
	done_ringing(h, e);
	take_off(h, e);
	spin_unlock_bh(&h->lock);
	while (atomic_read_acquire(&e->tx.coalesce.sends))
		usleep_range(10, 100);
}

/* A stream begins; it is not held.  Context: the runner. */
void kwarp_coalesce_reset(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	kwarp_assert_runner(e);
	c->ns = READ_ONCE(e->kdev->knobs.coalesce_us) * NSEC_PER_USEC;
}

/**
 * kwarp_coalesce_init - before the first stream
 * @e: engine, zeroed
 * @send: sends what has been left, and tells posters anew; softirq
 */
void kwarp_coalesce_init(struct kwarp_engine *e, void (*send)(struct kwarp_engine *e))
{
	e->tx.coalesce.send = send;
}

/* ---------------------------------------------------------------------- the CQ */

/* A new CQ, zeroed. */
void kwarp_coalesce_init_cq(struct kwarp_cq *cq)
{
	struct kwarp_cq_hold *h = &cq->hold;

	spin_lock_init(&h->lock);
	INIT_LIST_HEAD(&h->streams);
	kwarp_hrtimer_setup(&h->timer, look_at_cq, HRTIMER_MODE_REL_PINNED_SOFT);
}

/* No queue pair uses it any more.  Context: process. */
void kwarp_coalesce_fini_cq(struct kwarp_cq *cq)
{
	might_sleep();
	WARN_ON_ONCE(cq->hold.n);
	hrtimer_cancel(&cq->hold.timer);
}
