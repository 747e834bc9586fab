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
 * A program polls for all queue pairs of a CQ together, so the streams whose requests complete in
 * one CQ have one timer. While a queue is held, the timer looks at it every coalesce_us (a setting
 * of the device). What a look finds, and what the timer does:
 *
 * waiting request at two looks in a row, and between them no poll, and no doorbell that the kernel
 * was handling at a look (a "forgotten" request, if it is the only one)
 *	The program does not poll after it has posted: it waits for its peer by other means, or
 *	sleeps until an event that it asked for earlier. The timer sends the request, and the hold
 *	of this queue ends, and those of the CQ's other queues, unless this is rare.
 * waiting request, and polls or such a doorbell
 *	The program is busy with completions, perhaps of other queue pairs. The timer sends a
 *	request that has waited for KWARP_COALESCE_MOST_NS. It does the same if the program could
 *	not poll: it waits for the processor, or the last look has sent, and what is sent on this
 *	machine is also received before programs run again.
 * several waiting requests at two looks in a row, and no poll
 *	The program comes back late, but gains from the hold. The timer sends them.
 * no waiting request, but polls
 *	The program waits for something to do. The hold continues.
 * no waiting request and no poll, KWARP_COALESCE_QUIET times in a row
 *	The hold ends.
 *
 * A look sends for KWARP_COALESCE_SENDS streams at most, and the next one goes on with the others;
 * it comes soon, unless the program is to get its part of the same processor.
 *
 * So a request that is not followed by a poll waits for two looks at most. It also waits rarely:
 * after a hold with a forgotten request KWARP_COALESCE_RARE requests of the CQ are sent at once,
 * and four times as many after each further one, up to KWARP_COALESCE_OBEY_MAX. A forgotten request
 * after more than KWARP_COALESCE_RARE requests that could be held has no such consequence, and the
 * number starts over.
 *
 * Programs that use libsiw, the user library of the siw driver, instead of our provider cannot ring
 * in time: see pace.h.
 *
 * The queue of a program with a real-time scheduling policy is not held, because such a program can
 * keep the timer's softirq from running. On real-time kernels nothing is held.
 */
#ifndef KWARP_ENGINE_TX_COALESCE_H
#define KWARP_ENGINE_TX_COALESCE_H

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "../types.h"

/* Of so many requests of a CQ, one at most is forgotten, and ends the hold. */
#define KWARP_COALESCE_RARE	1024u
/* Most requests that are sent at once before a CQ holds streams again. */
#define KWARP_COALESCE_OBEY_MAX	(256 * KWARP_COALESCE_RARE)
/* A request of a program that polls waits no longer. */
#define KWARP_COALESCE_MOST_NS	(2 * NSEC_PER_MSEC)
/* The hold ends after this number of looks in a row without a waiting request or a poll. */
#define KWARP_COALESCE_QUIET	4
/*
 * Limits for one call of the timer: how many streams it looks at, which is also how many streams of
 * a CQ can be held at a time; and for how many it sends, each under its socket lock.
 */
#define KWARP_COALESCE_STREAMS	512
#define KWARP_COALESCE_SENDS	8
/* Of each tick, all looks of a processor together take so much at most before they become rare. */
#define KWARP_COALESCE_SHARE_NS	(TICK_NSEC / 8)

/* Count requests that were sent, whether held or not. Context: @h->lock held. */
static inline void kwarp_coalesce_count(struct kwarp_cq_coalesce *h, u32 sent)
{
	u32 obeyed = min(h->obey, sent);

	h->obey -= obeyed;
	h->good = min(KWARP_COALESCE_RARE, h->good + min(KWARP_COALESCE_RARE, sent - obeyed));
}

/*
 * A request was forgotten: how many have to be sent at once until streams are held again? Context:
 * @h->lock held.
 */
static inline void kwarp_coalesce_forgot(struct kwarp_cq_coalesce *h)
{
	if (h->good == KWARP_COALESCE_RARE) {
		h->obey_next = KWARP_COALESCE_RARE;
	} else {
		h->obey = h->obey_next;
		h->obey_next = min(4 * h->obey_next, KWARP_COALESCE_OBEY_MAX);
	}
	h->good = 0;
}

void kwarp_coalesce_init_cq(struct kwarp_cq *cq, struct kwarp_timers *user);
void kwarp_coalesce_fini_cq(struct kwarp_cq *cq);
void kwarp_coalesce_init(struct kwarp_engine *e, void (*send)(struct kwarp_engine *e));
void kwarp_coalesce_reset(struct kwarp_engine *e);
void kwarp_coalesce_rung(struct kwarp_engine *e);
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
