// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Who runs the transmit step.
 *
 * One atomic word per stream: idle, running, again.  Whoever turns idle into running
 * is the runner, in its own context if it may sleep, else through a work item.
 * Whoever finds it running sets "again", and the runner goes round once more before
 * it leaves.  So nobody spins and no kick is lost.
 *
 * The send queue's KWARP_RING_NEED_KICK is set by the runner before it looks at the
 * producer index for the last time, with a full barrier between; the poster stores
 * the index, executes a full barrier and looks at the flag (kwarp-abi.h).
 */
#include "engine.h"

#include "../kwarp.h"

enum {
	KWARP_RUN_IDLE,
	KWARP_RUN_ACTIVE,
	KWARP_RUN_AGAIN,
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

/* Leave, unless somebody asked for another round.  True if we left. */
static bool leave(struct kwarp_engine *e)
{
	if (atomic_cmpxchg(&e->tx.run, KWARP_RUN_ACTIVE, KWARP_RUN_IDLE) ==
	    KWARP_RUN_ACTIVE) {
		/* The successful cmpxchg is the full barrier waitqueue_active() needs. */
		if (waitqueue_active(&e->tx.idle))
			wake_up(&e->tx.idle);
		return true;
	}
	atomic_set(&e->tx.run, KWARP_RUN_ACTIVE);
	return false;
}

static void run(struct kwarp_engine *e)
{
	int budget = RUN_BUDGET;
	enum kwarp_tx_result res;
	u32 seen;

	for (;;) {
		want_kicks(e, false);
		do {
			seen = READ_ONCE(e->sq->ring.hdr->prod);
			res = kwarp_tx_step(e);
			if (res == KWARP_TX_MORE && --budget == 0) {
				/* Still the runner; the work item goes on. */
				queue_work(kwarp_wq, &e->tx.work);
				return;
			}
		} while (res == KWARP_TX_MORE);
		/* While TCP is full, write_space kicks and posters need not. */
		if (res == KWARP_TX_IDLE) {
			want_kicks(e, true);
			if (READ_ONCE(e->sq->ring.hdr->prod) != seen)
				continue;
		}
		if (leave(e))
			return;
	}
}

static void tx_work(struct work_struct *work)
{
	run(container_of(work, struct kwarp_engine, tx.work));
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
	for (;;) {
		switch (atomic_cmpxchg(&e->tx.run, KWARP_RUN_IDLE, KWARP_RUN_ACTIVE)) {
		case KWARP_RUN_IDLE:
			if (may_sleep)
				run(e);
			else
				queue_work(kwarp_wq, &e->tx.work);
			return;
		case KWARP_RUN_ACTIVE:
			if (atomic_cmpxchg(&e->tx.run, KWARP_RUN_ACTIVE,
					   KWARP_RUN_AGAIN) != KWARP_RUN_IDLE)
				return;
			break;
		default:
			return;
		}
	}
}

/**
 * kwarp_tx_claim - become the runner without running
 *
 * Waits for the present runner, who is bounded: it never waits for the peer.
 * Context: process.  Undone by kwarp_tx_release().
 */
void kwarp_tx_claim(struct kwarp_engine *e)
{
	wait_event(e->tx.idle, atomic_cmpxchg(&e->tx.run, KWARP_RUN_IDLE,
					      KWARP_RUN_ACTIVE) == KWARP_RUN_IDLE);
}

/* Give the claim back and look after kicks that came meanwhile. */
void kwarp_tx_release(struct kwarp_engine *e)
{
	if (!leave(e))
		run(e);
}

void kwarp_tx_init(struct kwarp_engine *e)
{
	atomic_set(&e->tx.run, KWARP_RUN_IDLE);
	init_waitqueue_head(&e->tx.idle);
	INIT_WORK(&e->tx.work, tx_work);
}
