/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coalescing: requests that a program posts one by one are sent together.
 *
 * A request that was posted and not rung for is called waiting. A request that waits at two looks,
 * without a poll between them, is forgotten.
 *
 * - Not forgotten is a request of a program that is busy: it has polled, it is inside of a doorbell
 *   or was at the last look, it waits for the processor, or it has no processor because of what the
 *   last look has sent, which on one machine is also received before programs run again. But no
 *   request waits longer than KWARP_COALESCE_MOST_NS.
 * - Not forgotten are several requests: the program comes back late, but gains from the hold. The
 *   timer sends them.
 *
 * A program with another user library than our provider does not ring in time: for its send queue
 * struct kwarp_hold_ops decides.
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
