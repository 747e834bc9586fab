/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coalescing: requests that a program posts one by one are sent together.
 *
 * A doorbell is the system call by which a program tells the driver that it has posted requests.
 * For a small request it costs that call and a TCP segment. The kernel cannot know whether the
 * program is about to post more, but the program knows: when it polls its CQ and finds nothing, or
 * asks for an event, it has nothing else to do. So after a doorbell of a program that polls, the
 * send queue is held (KWARP_RING_HELD): the program posts into the ring without ringing, and the
 * provider rings once when the program has nothing else to do. A request that was posted and not
 * rung for is called waiting. The time during which a queue is held is called a hold.
 *
 * A program polls for all queue pairs of a CQ together, so the decision belongs to the CQ in which
 * requests complete. While queues are held, a timer of the CQ looks at each of them: first after
 * coalesce_us (a setting of the device), and after each look that finds no forgotten request the
 * time doubles, up to a limit.
 *
 * What a look finds in a queue, and what the timer does:
 *
 * waiting request at two looks in a row, and no poll between them (a "forgotten" request)
 *	The program does not poll after it has posted: it waits for its peer by other means, or
 *	sleeps until an event that it asked for earlier. The timer sends the request. After
 *	several of these (KWARP_COALESCE_MISSES) the hold ends for all queues of the CQ, and the
 *	next KWARP_COALESCE_OBEY doorbells do not start another. If the program itself rings for
 *	waiting requests, this cancels some of these looks (KWARP_COALESCE_FORGIVE).
 * waiting request, and polls
 *	The program is busy with completions, perhaps of other queue pairs. The timer sends a
 *	request that has waited for KWARP_COALESCE_BUSY looks.
 * no waiting request, but polls
 *	The program waits for something to do. The hold continues.
 * no waiting request and no poll, KWARP_COALESCE_QUIET times in a row
 *	The hold ends.
 *
 * A doorbell for any queue of the CQ counts as a poll. If one queue has no waiting request for
 * KWARP_COALESCE_UNUSED looks, its hold ends; the CQ's other queues stay held.
 *
 * Programs that use libsiw, the user library of the siw driver, instead of our provider cannot ring
 * in time: see pace.h.
 *
 * The queue of a program with a real-time scheduling policy is not held, because such a program can
 * keep the timer's softirq from running. On real-time kernels nothing is held.
 */
#ifndef KWARP_ENGINE_TX_COALESCE_H
#define KWARP_ENGINE_TX_COALESCE_H

#include "../types.h"

/*
 * Looks with a forgotten request ("misses") until the hold ends. A few are allowed, because the
 * program may just not have had a processor.
 */
#define KWARP_COALESCE_MISSES	4
/*
 * After a hold that ended for misses, this number of doorbells does not start another hold. Spread
 * over so many requests, the delay of the forgotten ones is small.
 */
#define KWARP_COALESCE_OBEY	4096
/* A request of a program that polls waits at most for this number of looks. */
#define KWARP_COALESCE_BUSY	32
/* The time between looks is at most this many times coalesce_us. */
#define KWARP_COALESCE_SLOW	16
/* The hold ends after this number of looks in a row without a waiting request or a poll. */
#define KWARP_COALESCE_QUIET	4

/*
 * If the program has not polled since the last counted miss, only one in this number of looks with
 * a forgotten request counts as another miss.
 */
#define KWARP_COALESCE_IDLE	8
/* This number of doorbells for waiting requests cancels one counted miss. */
#define KWARP_COALESCE_FORGIVE	4
/*
 * The hold of one queue ends after this number of looks in a row without a waiting request in it.
 */
#define KWARP_COALESCE_UNUSED	64

/*
 * Limits for one call of the timer: how many streams it looks at, and for how many it sends, each
 * under its socket lock. The timer continues after KWARP_COALESCE_PAUSE_NS.
 */
#define KWARP_COALESCE_LOOKS	64
#define KWARP_COALESCE_SENDS	8
#define KWARP_COALESCE_PAUSE_NS	(50 * NSEC_PER_USEC)

/**
 * kwarp_coalesce_rings - decide after a doorbell: hold the queue?
 * @h: state of the queue's CQ; updated
 * @held: the queue was held, and the doorbell was for waiting requests
 * @polled: the program has polled since its previous doorbell for this queue
 *
 * Context: @h->lock held.
 * Return: true if the queue is to be held.
 */
static inline bool kwarp_coalesce_rings(struct kwarp_cq_coalesce *h, bool held, bool polled)
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
 * kwarp_coalesce_goes_on - decide after a look at each held queue: does the hold continue?
 * @h: state of the CQ; updated
 * @f: what these looks have found
 *
 * Context: @h->lock held.
 * Return: true if the hold continues.
 */
static inline bool kwarp_coalesce_goes_on(struct kwarp_cq_coalesce *h,
					  const struct kwarp_coalesce_facts *f)
{
	h->active |= f->active;
	if (f->active || f->waiting)
		h->quiet = 0;
	else if (++h->quiet >= KWARP_COALESCE_QUIET)
		return false;
	if (!f->forgotten)
		return true;
	/*
	 * While the program does not poll, count only one of KWARP_COALESCE_IDLE times that a
	 * forgotten request is found: the work of sending such requests may be what keeps the
	 * program from its processor.
	 */
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

void kwarp_coalesce_init_cq(struct kwarp_cq *cq);
void kwarp_coalesce_fini_cq(struct kwarp_cq *cq);
void kwarp_coalesce_init(struct kwarp_engine *e, void (*send)(struct kwarp_engine *e));
void kwarp_coalesce_reset(struct kwarp_engine *e);
bool kwarp_coalesce_rung(struct kwarp_engine *e);
void kwarp_coalesce_returns(struct kwarp_engine *e);
void kwarp_coalesce_sent(struct kwarp_engine *e);
void kwarp_coalesce_stop(struct kwarp_engine *e);

/*
 * Is the queue held, so that the program need not ring? Context: the runner (the one context that
 * may send for the stream at a time); the timer may end the hold at any time.
 */
static inline bool kwarp_coalesce_holds(const struct kwarp_engine *e)
{
	return READ_ONCE(e->tx.coalesce.on);
}

#endif /* KWARP_ENGINE_TX_COALESCE_H */
