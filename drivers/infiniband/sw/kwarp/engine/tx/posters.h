/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tells posters whether to ring the doorbell. Poster: a program, or a kernel consumer, that posts
 * requests. Held: the program posts to the send queue without ringing its doorbell; a timer, or a
 * later doorbell, sends. Hold: the time during which a queue is held. Context of all functions: the
 * runner, the one context that may send for the stream at a time (run.c).
 *
 * The runner sets the flags of the send queue, KWARP_RING_NEED_KICK or KWARP_RING_HELD, then
 * executes a full barrier, then reads the producer index for the last time. The poster stores the
 * index, executes a full barrier and reads the flags (kwarp-abi.h). So either the runner sees the
 * new request or the poster sees the flag.
 */
#ifndef KWARP_ENGINE_TX_POSTERS_H
#define KWARP_ENGINE_TX_POSTERS_H

#include "../types.h"
#include "batch.h"
#include "coalesce.h"

/*
 * Set the queue's flags after everything has been sent. If the queue is held, posters need not
 * ring, unless the stream has ended: then requests have to be flushed. The timer may end the hold
 * at the same time; it then reads these flags, see coalesce.c.
 */
static inline void kwarp_tx_tell_posters(struct kwarp_engine *e)
{
	if (e->sock && kwarp_coalesce_holds(e)) {
		kwarp_sq_tell(e->sq, KWARP_RING_HELD);
		if (kwarp_coalesce_holds(e))
			return;
	}
	kwarp_sq_tell(e->sq, KWARP_RING_NEED_KICK);
}

/*
 * Has the stream ended, or is all sent in a graceful close, so that requests that are posted now
 * are flushed?
 */
static inline bool kwarp_tx_only_flushes(const struct kwarp_engine *e)
{
	if (kwarp_engine_dead(e) || test_bit(KWARP_E_TX_STOP, &e->flags))
		return true;
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && e->tx.msg.kind == KWARP_TXK_NONE &&
	       !kwarp_batch_pending(&e->tx.batch) && kwarp_readq_empty(&e->iread) &&
	       (s32)(e->tx.drain_to - e->sq->next) <= 0;
}

/*
 * After a round that has sent all it could: would another round take nothing, whatever is posted?
 * The first request, posted before the producer index was @seen, waits for a response, or the
 * stream is not open, or has failed. Another thread of the program may change the index all the
 * time, so the runner must not look at it again and again.
 *
 * No kick is lost: kwarp_rx_answered() and first_fpdu() change what is read here, and then
 * kwarp_tx_kick() executes a full barrier and reads tx.run. So either this function sees the
 * change, or the kick finds a runner and makes it look again.
 */
static inline bool kwarp_tx_held_up(const struct kwarp_engine *e, u32 seen)
{
	if (kwarp_tx_only_flushes(e))	/* a round flushes what is posted, whatever waits */
		return false;
	return (s32)(seen - e->sq->next) > 0 || test_bit(KWARP_E_TX_WAIT_READ, &e->flags) ||
	       !test_bit(KWARP_E_TX_OPEN, &e->flags);
}

/*
 * Was something posted since the producer index was @seen? libsiw (siw's user library) may post
 * more requests than fit into the send queue. The excess does not count: when a response makes room
 * for such requests, the receive path calls kwarp_tx_kick().
 */
static inline bool kwarp_tx_posted_since(struct kwarp_engine *e, u32 seen)
{
	if (kwarp_tx_held_up(e, seen))
		return false;
	if (kwarp_sq_posted(e->sq) != seen)
		return true;
	if (!kwarp_sq_has_unmoved(e->sq))
		return false;
	set_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	/* Set the flag, then look again. kwarp_rx_answered() makes room, then looks at the flag. */
	smp_mb__after_atomic();
	return kwarp_sq_posted(e->sq) != seen;
}

/*
 * After a round that has sent all it could: make another round? The program may change the index to
 * and fro, so count the rounds that take nothing; tx_run_round() resets the count when one does.
 */
static inline bool kwarp_tx_looks_again(struct kwarp_engine *e, u32 seen)
{
	bool again = kwarp_tx_posted_since(e, seen);

	e->tx.vain = again ? e->tx.vain + 1 : 0;
	return again;
}

/* Have two rounds in a row taken nothing, although the producer index had changed after each? */
static inline bool kwarp_tx_in_vain(const struct kwarp_engine *e)
{
	return e->tx.vain > 1;
}

#endif /* KWARP_ENGINE_TX_POSTERS_H */
