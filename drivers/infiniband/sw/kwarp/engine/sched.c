// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Who runs the transmit step.
 *
 * One atomic word per stream: idle, queued, active, again.  Whoever may sleep and
 * finds it idle or queued becomes the runner, in its own context; who may not sleep
 * queues the work item.  Whoever finds a runner sets "again", and the runner goes
 * round once more before it leaves.  So nobody spins, no kick is lost, and a poster
 * does not wait for a worker to get a CPU.
 *
 * Whoever has to stop the runner (attach, stop, reset) goes before all others: it says
 * so in "claims", the runner leaves after the round in work, and nobody else enters.
 *
 * The send queue's KWARP_RING_NEED_KICK is set by the runner before it looks at the
 * producer index for the last time, with a full barrier between; the poster stores
 * the index, executes a full barrier and looks at the flag (kwarp-abi.h).
 */
#include "engine.h"

#include <linux/sched/mm.h>

#include "../kwarp.h"

enum {
	KWARP_RUN_IDLE,		/* nobody */
	KWARP_RUN_QUEUED,	/* the work item will; it may be overtaken */
	KWARP_RUN_ACTIVE,	/* somebody is running */
	KWARP_RUN_AGAIN,	/* and has to look again */
};

/* Batches that one runner sends before it gives others a turn. */
#define RUN_BUDGET	32

static void want_kicks(struct kwarp_engine *e, bool on)
{
	u32 flags = on ? KWARP_RING_NEED_KICK : 0;

	if (READ_ONCE(e->sq->ring.hdr->flags) == flags)
		return;
	kwarp_ring_set_flags(&e->sq->ring, flags);
	/* Pairs with the poster's barrier between storing prod and reading flags. */
	smp_mb();
}

static void wake_claimant(struct kwarp_engine *e)
{
	/* The caller has just executed a full barrier. */
	if (waitqueue_active(&e->tx.idle))
		wake_up(&e->tx.idle);
}

/* Give others a turn: the work item goes on, unless a poster or claimant is quicker. */
static void hand_over(struct kwarp_engine *e)
{
	/* Not atomic_set(): full barrier for waitqueue_active(). */
	atomic_xchg(&e->tx.run, KWARP_RUN_QUEUED);
	wake_claimant(e);
	queue_work(kwarp_tx_wq, &e->tx.work);
}

/* Leave, unless somebody asked for another round.  True if we left. */
static bool leave(struct kwarp_engine *e)
{
	if (atomic_cmpxchg(&e->tx.run, KWARP_RUN_ACTIVE, KWARP_RUN_IDLE) ==
	    KWARP_RUN_ACTIVE) {
		wake_claimant(e);
		return true;
	}
	/* Full barrier: what the kicker stored is seen by the next step. */
	atomic_xchg(&e->tx.run, KWARP_RUN_ACTIVE);
	return false;
}

/*
 * One round: all there is to send now.  True if there is, or may be, more: after a
 * batch, or because something was posted while we were about to stop.
 */
static bool one_round(struct kwarp_engine *e)
{
	u32 seen;

	want_kicks(e, false);
	seen = READ_ONCE(e->sq->ring.hdr->prod);
	switch (kwarp_tx_step(e)) {
	case KWARP_TX_MORE:
		return true;
	case KWARP_TX_BLOCKED:
		/* write_space kicks, so posters need not. */
		return false;
	default:
		want_kicks(e, true);
		return READ_ONCE(e->sq->ring.hdr->prod) != seen;
	}
}

/*
 * The budget also bounds what a program can do to the runner by changing its indices,
 * or by ringing its doorbell all the time.
 */
static void run(struct kwarp_engine *e)
{
	/* Storage may sit on top: no allocation of ours waits for I/O. */
	unsigned int noio = memalloc_noio_save();
	int budget = RUN_BUDGET;

	while (one_round(e) || !leave(e)) {
		if (--budget == 0 || atomic_read(&e->tx.claims)) {
			hand_over(e);
			break;
		}
		cond_resched();
	}
	memalloc_noio_restore(noio);
}

static bool enter(struct kwarp_engine *e, int from)
{
	return atomic_cmpxchg(&e->tx.run, from, KWARP_RUN_ACTIVE) == from;
}

static void tx_work(struct work_struct *work)
{
	struct kwarp_engine *e = container_of(work, struct kwarp_engine, tx.work);

	/* A claimant is about to enter, and runs when it is done. */
	if (!atomic_read(&e->tx.claims) && enter(e, KWARP_RUN_QUEUED))
		run(e);
}

/* True if the kick has been dealt with; false if the word changed under us. */
static bool try_kick(struct kwarp_engine *e, bool may_sleep)
{
	int state = atomic_read(&e->tx.run);

	if (state == KWARP_RUN_AGAIN || (state == KWARP_RUN_QUEUED && !may_sleep))
		return true;
	if (state == KWARP_RUN_ACTIVE)
		return atomic_cmpxchg(&e->tx.run, state, KWARP_RUN_AGAIN) == state;
	/* A claimant is about to enter, and runs when it is done. */
	if (atomic_read(&e->tx.claims))
		return true;
	if (may_sleep) {
		if (!enter(e, state))
			return false;
		run(e);
		return true;
	}
	if (atomic_cmpxchg(&e->tx.run, KWARP_RUN_IDLE, KWARP_RUN_QUEUED) != KWARP_RUN_IDLE)
		return false;
	queue_work(kwarp_tx_wq, &e->tx.work);
	return true;
}

/**
 * kwarp_tx_kick - there may be something to send
 * @e: engine
 * @may_sleep: the caller may run the transmit step itself
 *
 * Context: any; with @may_sleep process context without locks.
 */
void kwarp_tx_kick(struct kwarp_engine *e, bool may_sleep)
{
	/*
	 * What there is to send has been stored before the state is read; a runner that
	 * enters or looks again does so through an atomic that is a full barrier.
	 */
	smp_mb();
	/* Before and between streams there is nothing to do: attach looks for itself. */
	if (!READ_ONCE(e->sock) && !test_bit(KWARP_E_DEAD, &e->flags))
		return;
	while (!try_kick(e, may_sleep))
		cpu_relax();
}

/**
 * kwarp_tx_claim - become the runner without running
 * @e: engine
 *
 * Waits for the present runner, who is bounded: it never waits for the peer.
 * Context: process.  Undone by kwarp_tx_release().
 */
void kwarp_tx_claim(struct kwarp_engine *e)
{
	atomic_inc(&e->tx.claims);
	wait_event(e->tx.idle, enter(e, KWARP_RUN_IDLE) || enter(e, KWARP_RUN_QUEUED));
	atomic_dec(&e->tx.claims);
}

/* Give the claim back and look after kicks that came meanwhile. */
void kwarp_tx_release(struct kwarp_engine *e)
{
	run(e);
}

void kwarp_tx_init(struct kwarp_engine *e)
{
	atomic_set(&e->tx.run, KWARP_RUN_IDLE);
	atomic_set(&e->tx.claims, 0);
	init_waitqueue_head(&e->tx.idle);
	INIT_WORK(&e->tx.work, tx_work);
}
