// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A held stream is on a list of its CQ. The runner adds and removes it; the timer removes it when
 * the hold ends. Only the runner sets the ring's flags. It sets KWARP_RING_HELD, so that programs
 * do not ring, and then checks that the stream is still held; the timer ends the hold, and then
 * checks whether the flag is set. If it is set, the timer makes the runner set the flags again.
 */
#include "coalesce.h"

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#include "share.h"
#include "../../compat.h"
#include "../../door.h"
#include "../../kwarp.h"

/* A hint: the program may be polling now. */
static u32 program_polls(const struct kwarp_engine *e)
{
	u32 n = kwarp_cq_polls(e->sq->cq);

	return e->recv_cq == e->sq->cq ? n : n + kwarp_cq_polls(e->recv_cq);
}

/*
 * Requests are waiting if they were posted without a doorbell while the flags were KWARP_RING_HELD.
 */
static bool has_waiting(const struct kwarp_engine *e)
{
	u32 prod = READ_ONCE(e->sq->ring.hdr->prod);

	/*
	 * Some requests are not sent yet, but do not wait for the timer:
	 * - those posted while there is a runner or TCP is full: the flags are not HELD then;
	 * - those before rung_at: the program has rung, and they wait for TCP or for a response;
	 * - those that wait for a response: a doorbell would not send them either.
	 */
	return prod != READ_ONCE(e->sq->next) && prod != READ_ONCE(e->tx.coalesce.rung_at) &&
	       READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD &&
	       !test_bit(KWARP_E_TX_WAIT_READ, &e->flags);
}

static void hold_count(struct kwarp_cq_coalesce *h, u32 sent)
{
	h->sent += min(sent, U32_MAX - h->sent);
}

static bool hold_obeys(const struct kwarp_cq_coalesce *h)
{
	return h->sent < h->obey;
}

static void hold_forgot(struct kwarp_cq_coalesce *h)
{
	if (h->sent >= h->obey + KWARP_COALESCE_RARE) {
		h->obey = 0;
		h->obey_next = KWARP_COALESCE_RARE;
	} else {
		h->obey = h->obey_next;
		h->obey_next = min(4 * h->obey_next, KWARP_COALESCE_OBEY_MAX);
	}
	h->sent = 0;
}

enum todo { NOTHING, SEND, END_HOLD };

/* @busy: the program may have been kept from polling since the last look. */
static enum todo hold_look_at(struct kwarp_cq_coalesce *h, struct kwarp_engine *e, u64 now,
			      bool busy)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	const u32 polls = program_polls(e);
	const bool active = polls != c->activity || busy;

	c->activity = polls;
	/* Another queue had a forgotten request. */
	if (hold_obeys(h))
		return END_HOLD;
	if (!has_waiting(e)) {
		c->found = 0;
		c->quiet = active ? 0 : c->quiet + 1;
		return c->quiet < KWARP_COALESCE_QUIET ? NOTHING : END_HOLD;
	}
	c->quiet = 0;
	/* If streams have left the list during this look, it may come here twice. */
	if (!c->found || c->found == now) {
		c->found = now;
		return NOTHING;
	}
	/* It was posted up to a look before it was found, and the next look comes after @ns. */
	if (active && now - c->found + 2 * h->ns <= KWARP_COALESCE_MOST_NS)
		return NOTHING;
	atomic_long_inc(&e->kdev->coalesce_timeouts);
	if (active || READ_ONCE(e->sq->ring.hdr->prod) - READ_ONCE(e->sq->next) > 1)
		return SEND;
	hold_forgot(h);
	return END_HOLD;
}

/*
 * The lock of the list of held streams is dropped, because @send takes the socket lock. The stream
 * cannot be freed while @sends is not zero.
 */
static void hold_send(struct kwarp_cq_coalesce *h, struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	const u64 begin = local_clock();

	c->found = 0;
	atomic_inc(&c->sends);
	spin_unlock(&h->lock);
	c->send(e);
	/*
	 * kwarp_coalesce_stop() may be waiting until @sends is 0; after that the stream may be
	 * freed.
	 */
	smp_mb__before_atomic();
	atomic_dec(&c->sends);
	spin_lock(&h->lock);
	h->sending += local_clock() - begin;
}

static void hold_remove(struct kwarp_cq_coalesce *h, struct kwarp_engine *e)
{
	lockdep_assert_held(&h->lock);
	if (!e->tx.coalesce.on)
		return;
	list_del(&e->tx.coalesce.node);
	h->held--;
	WRITE_ONCE(e->tx.coalesce.on, false);
}

static void hold_end(struct kwarp_cq_coalesce *h, struct kwarp_engine *e)
{
	hold_remove(h, e);
	/*
	 * Pairs with the barrier in kwarp_sq_tell(), between the runner's setting of
	 * KWARP_RING_HELD and its check that the stream is held.
	 */
	smp_mb();
	if (READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD)
		hold_send(h, e);
}

/*
 * Return: the thread that rang last, only to be compared, if it has this processor, on which the
 * timer runs, or waits for it; else NULL.
 */
static const struct task_struct *poster_here(const struct kwarp_cq_coalesce *h)
{
	const struct task_struct *p;

	rcu_read_lock();
	p = pid_task(find_pid_ns(READ_ONCE(h->poster), &init_pid_ns), PIDTYPE_PID);
	if (p && !(task_is_running(p) && task_cpu(p) == smp_processor_id()))
		p = NULL;
	rcu_read_unlock();
	return p;
}

/* Return: nanoseconds until the next look; 0: nothing is held. */
static u64 hold_look(struct kwarp_cq_coalesce *h)
{
	const struct task_struct *poster = poster_here(h);
	const bool inside = atomic_read(&h->inside);
	const bool busy = inside || h->was_inside || (poster && (poster != current || h->sends));
	const u64 now = ktime_get_ns(), begin = local_clock();
	u32 left = h->held;

	lockdep_assert_held(&h->lock);
	h->was_inside = inside;
	h->sending = 0;
	h->sends = 0;
	for (; left && h->sends < KWARP_COALESCE_SENDS && !list_empty(&h->streams); left--) {
		struct kwarp_engine *e = list_first_entry(&h->streams, struct kwarp_engine,
							  tx.coalesce.node);
		enum todo todo;

		list_rotate_left(&h->streams);
		todo = hold_look_at(h, e, now, busy);
		if (todo == SEND)
			hold_send(h, e);
		else if (todo == END_HOLD)
			hold_end(h, e);
		h->sends += todo != NOTHING;
	}
	if (list_empty(&h->streams))
		return 0;
	/* The time of looks is charged to nobody; that of sends is limited elsewhere (share.c). */
	if (kwarp_softirq_looks(local_clock() - begin - h->sending) > KWARP_COALESCE_SHARE_NS)
		return max_t(u64, h->ns, KWARP_COALESCE_MOST_NS / 2);
	/* Go on with the others soon, unless the program needs the processor. */
	return left && !poster ? KWARP_COALESCE_MIN_US * NSEC_PER_USEC : h->ns;
}

static struct kwarp_dev *hold_device(struct kwarp_cq_coalesce *h)
{
	return to_kdev(container_of(h, struct kwarp_cq, coalesce)->ibcq.device);
}

/* Context: softirq. */
static enum hrtimer_restart hold_timer(struct hrtimer *timer)
{
	struct kwarp_cq_coalesce *h = container_of(timer, struct kwarp_cq_coalesce, timer);
	u64 ns;

	spin_lock(&h->lock);
	ns = hold_look(h);
	/* Count from now, even if this call was late: the program is to have all of the time. */
	if (ns)
		hrtimer_set_expires(timer, ktime_add_ns(ktime_get(), ns));
	else
		kwarp_timers_put(&h->user->holds, &hold_device(h)->timers.holds);
	/* If the timer does not run, the next stream that is held starts it. */
	h->runs = ns;
	spin_unlock(&h->lock);
	return ns ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/*
 * Can the program that posts keep the timer's softirq from running for any length of time? On
 * real-time kernels, assume that every program can.
 */
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

	/*
	 * Without high-resolution timers a hold would last until the next tick, which is too long.
	 */
	if (!e->sock || hrtimer_resolution > c->ns || c->realtime)
		return false;
	/* A responder that has received no FPDU may not send at all: a hold would gain nothing. */
	return test_bit(KWARP_E_TX_OPEN, &e->flags);
}

/* Return: false if too many timers run already. */
static bool hold_start_timer(struct kwarp_cq_coalesce *h, const struct kwarp_coalesce *c)
{
	if (!kwarp_timers_get(&h->user->holds, KWARP_MAX_USER_HOLDS, &hold_device(h)->timers.holds,
			      KWARP_MAX_HOLDS))
		return false;
	h->runs = true;
	h->sends = 0;
	h->ns = c->ns;
	hrtimer_start(&h->timer, ns_to_ktime(h->ns), HRTIMER_MODE_REL_PINNED_SOFT);
	return true;
}

static void hold_add(struct kwarp_cq_coalesce *h, struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	lockdep_assert_held(&h->lock);
	c->found = 0;
	c->quiet = 0;
	if (c->on || h->held == KWARP_COALESCE_STREAMS || !(h->runs || hold_start_timer(h, c)))
		return;
	h->ns = min(h->ns, c->ns);
	h->held++;
	c->activity = program_polls(e);
	list_add_tail(&c->node, &h->streams);
	WRITE_ONCE(c->on, true);
}

/*
 * The caller sends, and calls kwarp_coalesce_sent() when all is sent, and kwarp_coalesce_returns().
 * Context: the runner, process.
 */
void kwarp_coalesce_rung(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_coalesce_rung, e);
	struct kwarp_coalesce *c = &e->tx.coalesce;

	kwarp_assert_runner(e);
	atomic_inc(&e->sq->cq->coalesce.inside);
	if (!c->ns)
		return;
	c->realtime = poster_is_realtime();
	WRITE_ONCE(e->sq->cq->coalesce.poster, task_pid_nr(current));
	c->rung = true;
	WRITE_ONCE(c->rung_at, READ_ONCE(e->sq->ring.hdr->prod));
}

/* Context: process; another context may be the runner. */
void kwarp_coalesce_returns(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_coalesce_returns, e);
	atomic_dec(&e->sq->cq->coalesce.inside);
}

void kwarp_coalesce_sent(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_coalesce_sent, e);
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_cq_coalesce *h = &e->sq->cq->coalesce;
	u32 before = c->polls;

	kwarp_assert_runner(e);
	if (!c->rung)
		return;
	c->rung = false;
	if (c->ops) {
		c->ops->sent(e, may_hold(e));
		return;
	}
	c->polls = program_polls(e);
	spin_lock_bh(&h->lock);
	hold_count(h, e->sq->next - c->counted);
	c->counted = e->sq->next;
	if (!hold_obeys(h) && c->polls != before && may_hold(e))
		hold_add(h, e);
	else
		hold_remove(h, e);
	spin_unlock_bh(&h->lock);
}

/*
 * The caller has stopped the runner, so that no doorbell is handled meanwhile. Context: process;
 * waits if the timer is sending for this stream on another processor.
 */
void kwarp_coalesce_stop(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_coalesce_stop, e);
	struct kwarp_cq_coalesce *h = &e->sq->cq->coalesce;

	might_sleep();
	if (e->tx.coalesce.ops) {
		e->tx.coalesce.ops->stop(e);
		return;
	}
	spin_lock_bh(&h->lock);
	hold_remove(h, e);
	spin_unlock_bh(&h->lock);
	while (atomic_read_acquire(&e->tx.coalesce.sends))
		usleep_range(10, 100);
}

void kwarp_coalesce_reset(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	kwarp_assert_runner(e);
	c->rung = false;
	c->ns = READ_ONCE(e->kdev->knobs.coalesce_us) * NSEC_PER_USEC;
	c->counted = e->sq->next;
	if (c->ops)
		c->ops->reset(e);
}

/**
 * kwarp_engine_init_cq - initialize what the engines keep in a CQ
 * @cq: CQ
 * @user: timers of the program that has the CQ; NULL: a kernel consumer has it
 */
void kwarp_engine_init_cq(struct kwarp_cq *cq, struct kwarp_timers *user)
{
	struct kwarp_cq_coalesce *h = &cq->coalesce;

	h->user = user;
	spin_lock_init(&h->lock);
	INIT_LIST_HEAD(&h->streams);
	h->obey_next = KWARP_COALESCE_RARE;
	hrtimer_setup(&h->timer, hold_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * kwarp_engine_fini_cq - undo kwarp_engine_init_cq()
 * @cq: CQ that no queue pair uses any more
 *
 * Context: process; waits for the timer.
 */
void kwarp_engine_fini_cq(struct kwarp_cq *cq)
{
	struct kwarp_cq_coalesce *h = &cq->coalesce;

	might_sleep();
	WARN_ON_ONCE(!list_empty(&h->streams) || atomic_read(&h->inside));
	hrtimer_cancel(&h->timer);
	if (h->runs)
		kwarp_timers_put(&h->user->holds, &hold_device(h)->timers.holds);
}
