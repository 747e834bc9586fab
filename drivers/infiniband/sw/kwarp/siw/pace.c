// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pacing: requests that a program with libsiw posts one by one are sent together. libsiw rings for
 * each post, unless the previous entry is still VALID (ring.h). So after a doorbell the queue is
 * held: the newest entry stays VALID, and a timer looks for requests and sends them. For a program
 * that waits for each answer the timer is too slow: a hold ends when few requests are sent between
 * looks, and then doorbells are obeyed for some time: each sends at once, and no hold follows.
 * While @on of struct kwarp_coalesce is false, the runner owns the state, else the timer.
 *
 * This is a part of the sender that only libsiw's links need, so it uses fields of the engine,
 * which no other layer does.
 */
#include "ring.h"

#include <linux/sched/clock.h>

#include "../compat.h"
#include "../engine/engine.h"
#include "../engine/tx/share.h"
#include "../kwarp.h"

static void end_hold(struct kwarp_engine *e, struct kwarp_pace *p)
{
	p->obey = p->pays ? KWARP_PACE_PAUSE : KWARP_PACE_OBEY;
	/* After this the runner may start another hold: pairs with the acquire in pace_sent(). */
	smp_store_release(&e->tx.coalesce.on, false);
	kwarp_timers_put(&e->sq->cq->coalesce.user->paced, &e->kdev->timers.paced);
}

/* A hint, read without a lock. */
static bool has_sendable(const struct kwarp_engine *e)
{
	const int run = atomic_read(&e->tx.run);

	/* A program that polls may keep the worker from the processor: do not leave it the work. */
	if (run == KWARP_RUN_QUEUED)
		return !READ_ONCE(e->tx.backs_off);
	/* With other flags TCP is full. A request that waits for a response is sent after that. */
	return run == KWARP_RUN_IDLE && READ_ONCE(e->sq->ring.hdr->flags) == KWARP_RING_HELD &&
	       !test_bit(KWARP_E_TX_WAIT_READ, &e->flags) && kwarp_sq_has_unmoved(e->sq);
}

/* Context: softirq. */
static enum hrtimer_restart pace_timer(struct hrtimer *timer)
{
	struct kwarp_pace *p = container_of(timer, struct kwarp_pace, timer);
	struct kwarp_engine *e = p->e;
	const u64 begin = local_clock();
	const u32 next = READ_ONCE(e->sq->next);
	const bool sends = has_sendable(e), pays = next - p->seen >= KWARP_PACE_MANY;
	bool goes_on;

	p->seen = next;
	p->pays |= pays;
	p->quiet = pays ? 0 : p->quiet + 1;
	goes_on = p->quiet < KWARP_PACE_QUIET &&
		  kwarp_softirq_share_now()->spent < KWARP_SHARE_TICK_NS;
	if (sends)
		atomic_long_inc(&e->kdev->coalesce_paced);
	if (!goes_on) {
		end_hold(e, p);
		/* Pairs with kwarp_sq_tell(): the runner sets HELD, then looks whether it is. */
		smp_mb();
	}
	/* The sender counts its own time. */
	kwarp_softirq_share_spend(begin);
	if (sends || !goes_on)
		e->tx.coalesce.send(e);
	/* Count from now, even if this call was late: the program is to have the whole time. */
	if (goes_on)
		hrtimer_set_expires(timer, ktime_add_ns(ktime_get(), p->ns));
	return goes_on ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static void pace_sent(struct kwarp_engine *e, bool may)
{
	struct kwarp_pace *p = &to_siw_ring(e->sq->foreign)->pace;

	kwarp_assert_runner(e);
	/* During a hold the program rings if its ring was full, or its newest entry was taken. */
	if (smp_load_acquire(&e->tx.coalesce.on)) {
		if (!may && hrtimer_try_to_cancel(&p->timer) == 1)
			end_hold(e, p);
		return;
	}
	if (p->obey) {
		p->obey--;
		return;
	}
	if (!may || !kwarp_timers_get(&e->sq->cq->coalesce.user->paced, KWARP_MAX_USER_PACED,
				      &e->kdev->timers.paced, KWARP_MAX_PACED))
		return;
	p->pays = false;
	p->quiet = 0;
	p->seen = e->sq->next;
	WRITE_ONCE(e->tx.coalesce.on, true);
	hrtimer_start(&p->timer, ns_to_ktime(p->ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

static void pace_stop(struct kwarp_engine *e)
{
	struct kwarp_pace *p = &to_siw_ring(e->sq->foreign)->pace;

	hrtimer_cancel(&p->timer);
	if (e->tx.coalesce.on)
		end_hold(e, p);
}

static void pace_reset(struct kwarp_engine *e)
{
	struct kwarp_pace *p = &to_siw_ring(e->sq->foreign)->pace;

	p->e = e;
	p->ns = max_t(u64, e->tx.coalesce.ns / KWARP_PACE_LOOKS, KWARP_PACE_MIN_NS);
	p->obey = KWARP_PACE_OBEY;
}

const struct kwarp_hold_ops kwarp_siw_hold_ops = {
	.reset = pace_reset,
	.sent = pace_sent,
	.stop = pace_stop,
};

void kwarp_siw_pace_init(struct kwarp_siw_ring *r)
{
	hrtimer_setup(&r->pace.timer, pace_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
}
