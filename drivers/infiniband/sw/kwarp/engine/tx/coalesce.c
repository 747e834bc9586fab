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

#include "pace.h"
#include "../../compat.h"
#include "../../kwarp.h"

/*
 * In one go the timer looks at so many streams, and sends for so many, which each take their
 * socket's lock; the others have their turn after a pause.
 */
#define LOOKS		64
#define SENDS		8
#define PAUSE_NS	(50 * NSEC_PER_USEC)

/* -------------------------------------------------------------------- verdicts */

/**
 * kwarp_coalesce_rings - a program has rung: hold what it posts next?
 * @h: of its CQ; counts, brought up to date
 * @held: the queue that it has rung for was held, and had something left in it
 * @polled: it has polled since it rang for that queue last
 *
 * Context: @h->lock held.
 * Return: true if so.
 */
bool kwarp_coalesce_rings(struct kwarp_cq_hold *h, bool held, bool polled)
{
	if (held && ++h->good % KWARP_COALESCE_FORGIVE == 0)
		h->missed -= !!h->missed;
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
 * Return: true if so.
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
	 * for something else, and an answer would be waited for if it had rung, too.
	 */
	return prod != READ_ONCE(e->sq->next) && prod != READ_ONCE(e->tx.coalesce.rung_at) &&
	       READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD &&
	       !test_bit(KWARP_E_TX_WAIT_READ, &e->flags);
}

/* What is to be done for a stream. */
enum todo { NOTHING, SEND, RELEASE };

static enum todo look_at(struct kwarp_cq_hold *h, struct kwarp_engine *e)
{
	struct kwarp_coalesce_facts *f = &h->facts;
	struct kwarp_coalesce *c = &e->tx.coalesce;
	u32 now = deeds(h, e);
	bool active = now != c->deeds || h->inside;

	c->deeds = now;
	f->active |= active;
	if (!has_left(e)) {
		c->waits = 0;
		return ++c->unused < KWARP_COALESCE_UNUSED ? NOTHING : RELEASE;
	}
	c->unused = 0;
	f->waiting = true;
	if (!c->waits++ || (active && c->waits <= KWARP_COALESCE_BUSY))
		return NOTHING;
	f->forgotten |= !active;
	atomic_long_inc(&e->kdev->coalesce_timeouts);
	return SEND;
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
	WRITE_ONCE(e->tx.coalesce.on, false);
}

/* Posters are told to ring, and what they have left is sent. */
static void release(struct kwarp_cq_hold *h, struct kwarp_engine *e)
{
	take_off(h, e);
	/* Pairs with the runner's between telling posters and looking whether it holds. */
	smp_mb();
	if (READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD)
		send_unlocked(h, e);
}

/* The first of the list, unless it has had its turn. */
static struct kwarp_engine *next_stream(struct kwarp_cq_hold *h)
{
	struct kwarp_engine *e = list_first_entry_or_null(&h->streams, struct kwarp_engine,
							  tx.coalesce.node);

	return e && e->tx.coalesce.turn != h->turn ? e : NULL;
}

/* Return: true if all have had their turn. */
static bool look_at_some(struct kwarp_cq_hold *h)
{
	u32 looks = LOOKS, sends = SENDS;
	struct kwarp_engine *e;
	enum todo todo;

	while (looks-- && sends && (e = next_stream(h))) {
		e->tx.coalesce.turn = h->turn;
		list_move_tail(&e->tx.coalesce.node, &h->streams);
		todo = look_at(h, e);
		if (todo == SEND)
			send_unlocked(h, e);
		else if (todo == RELEASE)
			release(h, e);
		sends -= todo != NOTHING;
	}
	return !next_stream(h);
}

/* All streams have been looked at. */
static void judge(struct kwarp_cq_hold *h)
{
	h->ends = !kwarp_coalesce_goes_on(h, &h->facts);
	h->ns = h->facts.forgotten ? h->least : min(2 * h->ns, KWARP_COALESCE_SLOW * h->least);
	h->facts = (struct kwarp_coalesce_facts) {};
	h->turn++;
}

/* Return: true if none is held any more. */
static bool release_some(struct kwarp_cq_hold *h)
{
	u32 n = SENDS;

	while (n-- && !list_empty(&h->streams))
		release(h, list_first_entry(&h->streams, struct kwarp_engine, tx.coalesce.node));
	return list_empty(&h->streams);
}

/* Return: nanoseconds until the next look; 0: nothing is held. */
static u64 look(struct kwarp_cq_hold *h)
{
	lockdep_assert_held(&h->lock);
	if (!h->ends) {
		if (!look_at_some(h))
			return PAUSE_NS;
		judge(h);
	}
	if (h->ends && !release_some(h))
		return PAUSE_NS;
	return list_empty(&h->streams) ? 0 : h->ns;
}

static struct kwarp_dev *dev_of(struct kwarp_cq_hold *h)
{
	return to_kdev(container_of(h, struct kwarp_cq, hold)->ibcq.device);
}

/* Softirq. */
static enum hrtimer_restart look_at_cq(struct hrtimer *timer)
{
	struct kwarp_cq_hold *h = container_of(timer, struct kwarp_cq_hold, timer);
	u64 ns;

	spin_lock(&h->lock);
	ns = look(h);
	/* From now on, however late it is: the program is to have that time. */
	if (ns)
		hrtimer_set_expires(timer, ktime_add_ns(ktime_get(), ns));
	else
		atomic_dec(&dev_of(h)->holds);
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
	if (!e->sock || hrtimer_resolution > c->ns || c->realtime)
		return false;
	/* A responder whose peer has said nothing cannot send, whoever rings. */
	return test_bit(KWARP_E_TX_OPEN, &e->flags);
}

/* Return: false if there are too many timers. */
static bool start_timer(struct kwarp_cq_hold *h, const struct kwarp_coalesce *c)
{
	struct kwarp_dev *kdev = dev_of(h);

	if (!atomic_add_unless(&kdev->holds, 1, KWARP_MAX_HOLDS))
		return false;
	h->runs = true;
	h->ends = false;
	h->active = false;
	h->idle = 0;
	h->missed = 0;
	h->least = c->ns;
	h->ns = c->ns;
	hrtimer_start(&h->timer, ns_to_ktime(h->ns), HRTIMER_MODE_REL_PINNED_SOFT);
	return true;
}

static void put_on(struct kwarp_cq_hold *h, struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	lockdep_assert_held(&h->lock);
	c->waits = 0;
	c->unused = 0;
	/* Not to those whose hold ends. */
	if (c->on || (h->runs ? h->ends : !start_timer(h, c)))
		return;
	h->least = min(h->least, c->ns);
	c->deeds = deeds(h, e);
	/* It has not had its turn. */
	c->turn = h->turn - 1;
	list_add_tail(&c->node, &h->streams);
	WRITE_ONCE(c->on, true);
}

static void enter(struct kwarp_cq_hold *h, int n)
{
	spin_lock_bh(&h->lock);
	h->inside += n;
	h->rings++;
	spin_unlock_bh(&h->lock);
}

/**
 * kwarp_coalesce_rung - a doorbell was rung
 * @e: engine
 *
 * kwarp_coalesce_sent() follows.
 *
 * Context: the runner, process.
 * Return: true: kwarp_coalesce_returns() follows, too, in either order.
 */
bool kwarp_coalesce_rung(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	u32 prod = READ_ONCE(e->sq->ring.hdr->prod);

	kwarp_assert_runner(e);
	if (!c->ns)
		return false;
	c->realtime = poster_is_realtime();
	if (e->sq->siw) {
		/* The one before may not have had its verdict: the time since counts for it. */
		if (!c->rung)
			kwarp_pace_rung(e);
		c->rung = true;
		return false;
	}
	/* The one before may not have had its verdict. */
	c->left = (c->rung && c->left) || prod != e->sq->next;
	c->rung = true;
	WRITE_ONCE(c->rung_at, prod);
	enter(&e->sq->cq->hold, 1);
	return true;
}

/* The program goes on.  Context: process; somebody else may be the runner. */
void kwarp_coalesce_returns(struct kwarp_engine *e)
{
	enter(&e->sq->cq->hold, -1);
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
	c->rung = false;
	if (e->sq->siw) {
		kwarp_pace_sent(e, may_hold(e));
		return;
	}
	c->polls = polls(e);
	spin_lock_bh(&h->lock);
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
	if (e->sq->siw) {
		kwarp_pace_stop(e);
		return;
	}
	spin_lock_bh(&h->lock);
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
	c->rung = false;
	c->ns = READ_ONCE(e->kdev->knobs.coalesce_us) * NSEC_PER_USEC;
	kwarp_pace_reset(e);
}

/**
 * kwarp_coalesce_init - before the first stream
 * @e: engine, zeroed
 * @send: sends what has been left, and tells posters anew; softirq
 */
void kwarp_coalesce_init(struct kwarp_engine *e, void (*send)(struct kwarp_engine *e))
{
	e->tx.coalesce.send = send;
	kwarp_pace_init(e);
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
	struct kwarp_cq_hold *h = &cq->hold;

	might_sleep();
	WARN_ON_ONCE(!list_empty(&h->streams) || h->inside);
	hrtimer_cancel(&h->timer);
	if (h->runs)
		atomic_dec(&dev_of(h)->holds);
}
