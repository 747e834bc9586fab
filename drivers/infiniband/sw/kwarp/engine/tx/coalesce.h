/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coalescing: requests that a program posts one by one go out together.
 *
 * A doorbell is a system call and, of a small request, a TCP segment.  The kernel cannot know
 * whether the program is about to post more.  The program does: when it polls and finds nothing,
 * or asks for an event, it has nothing else to do.  So after a doorbell of a program that polls,
 * the send queue is held (KWARP_RING_HELD): what is posted now stays in the ring, and the provider
 * rings once, when the program has nothing else to do.
 *
 * The program polls for all queue pairs of a CQ together, so what follows is the CQ's, where
 * requests complete.  A timer of the CQ looks at those that are held, as long as there are any:
 * coalesce_us after the first was, and then in twice the time each time that nothing is forgotten.
 *
 * A request that waits since the look before, and no poll since: the program does not poll when it
 *	has posted.  It waits for its peer by other means, or sleeps until an event that it has
 *	asked for before.  The timer sends the request.  If that is so again and again, and seldom
 *	that it comes to ring, the hold ends, and the next doorbells are obeyed at once.
 * A request that waits, and polls: the program is busy with completions, perhaps of other queue
 *	pairs.  The timer sends what has waited for some looks.
 * Nothing waits, and polls: the program waits for something to do, and is held when it comes.
 * Nothing waits, and no poll for some looks: the hold ends.
 *
 * A doorbell, for whichever queue of the CQ, counts as a poll.  A stream whose program has left
 * nothing for many looks is held no longer, whatever the others do.
 *
 * Programs that have libsiw cannot do their part: see pace.h.
 *
 * A program with a real-time policy is not held: it may keep the processor from the timer for
 * ever.  On real-time kernels nothing is held.
 */
#ifndef KWARP_ENGINE_TX_COALESCE_H
#define KWARP_ENGINE_TX_COALESCE_H

#include "../types.h"

/* Looks that find a request forgotten: some may have met a program without its processor. */
#define KWARP_COALESCE_MISSES	4
/*
 * Doorbells that are obeyed at once after that: what its requests have waited is little for each,
 * and a program that begins to poll is soon held.
 */
#define KWARP_COALESCE_OBEY	4096
/* Looks that a request may wait for of a program that polls. */
#define KWARP_COALESCE_BUSY	32
/* The time between looks is never longer than so often coalesce_us. */
#define KWARP_COALESCE_SLOW	16
/* Looks in a row that find neither a request nor a poll, until the hold ends. */
#define KWARP_COALESCE_QUIET	4

/* Looks that find a request forgotten, and no poll since the one before, that count as one. */
#define KWARP_COALESCE_IDLE	8
/* So many doorbells for what was left make up for one request that was forgotten. */
#define KWARP_COALESCE_FORGIVE	4
/* Looks in a row that find nothing left by a stream, until it is not held any more. */
#define KWARP_COALESCE_UNUSED	64

bool kwarp_coalesce_rings(struct kwarp_cq_hold *h, bool held, bool polled);
bool kwarp_coalesce_goes_on(struct kwarp_cq_hold *h, const struct kwarp_coalesce_facts *f);

void kwarp_coalesce_init_cq(struct kwarp_cq *cq);
void kwarp_coalesce_fini_cq(struct kwarp_cq *cq);
void kwarp_coalesce_init(struct kwarp_engine *e, void (*send)(struct kwarp_engine *e));
void kwarp_coalesce_reset(struct kwarp_engine *e);
bool kwarp_coalesce_rung(struct kwarp_engine *e);
void kwarp_coalesce_returns(struct kwarp_engine *e);
void kwarp_coalesce_sent(struct kwarp_engine *e);
void kwarp_coalesce_stop(struct kwarp_engine *e);

/* Posters need not ring.  Context: the runner; the timer may end it at any time. */
static inline bool kwarp_coalesce_holds(const struct kwarp_engine *e)
{
	return READ_ONCE(e->tx.coalesce.on);
}

#endif /* KWARP_ENGINE_TX_COALESCE_H */
