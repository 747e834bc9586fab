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
 * of the device):
 *
 * - A request that waits at two looks, without a poll between them, is forgotten: the program does
 *   something else. The timer sends it, and the hold ends. Then so many requests of the CQ are sent
 *   at once: KWARP_COALESCE_RARE after the first one, and four times as many after each further
 *   one, up to KWARP_COALESCE_OBEY_MAX. If KWARP_COALESCE_RARE others could be held since the last
 *   one, only the hold ends.
 * - Not forgotten is a request of a program that is busy: it has polled, it is inside of a doorbell
 *   or was at the last look, it waits for the processor, or it has no processor because of what the
 *   last look has sent, which on one machine is also received before programs run again. But no
 *   request waits longer than KWARP_COALESCE_MOST_NS.
 * - Not forgotten are several requests: the program comes back late, but gains from the hold. The
 *   timer sends them.
 * - After KWARP_COALESCE_QUIET looks in a row without a poll or a waiting request the hold ends.
 *
 * A look sends for KWARP_COALESCE_SENDS streams at most, and the next one goes on with the others.
 *
 * A program with another user library than our provider does not ring in time: for its send queue
 * struct kwarp_hold_ops decides.
 *
 * The queue of a program with a real-time scheduling policy is not held, because such a program can
 * keep the timer's softirq from running. On real-time kernels nothing is held.
 */
#ifndef KWARP_ENGINE_TX_COALESCE_H
#define KWARP_ENGINE_TX_COALESCE_H

#include <linux/jiffies.h>
#include <linux/time64.h>

#include "../types.h"

#define KWARP_COALESCE_RARE	1024u
#define KWARP_COALESCE_OBEY_MAX	(256 * KWARP_COALESCE_RARE)
#define KWARP_COALESCE_MOST_NS	(2 * NSEC_PER_MSEC)
#define KWARP_COALESCE_QUIET	4
/* A look looks at so many streams at most, because no more of a CQ are held. */
#define KWARP_COALESCE_STREAMS	512
#define KWARP_COALESCE_SENDS	8
/* Of each tick, all looks of a processor together take so much at most before they become rare. */
#define KWARP_COALESCE_SHARE_NS	(TICK_NSEC / 8)

void kwarp_engine_init_cq(struct kwarp_cq *cq, struct kwarp_timers *user);
void kwarp_engine_fini_cq(struct kwarp_cq *cq);
void kwarp_coalesce_reset(struct kwarp_engine *e);
void kwarp_coalesce_rung(struct kwarp_engine *e);
void kwarp_coalesce_returns(struct kwarp_engine *e);
void kwarp_coalesce_sent(struct kwarp_engine *e);
void kwarp_coalesce_stop(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_COALESCE_H */
