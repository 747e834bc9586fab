/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_SHARE_H
#define KWARP_ENGINE_TX_SHARE_H

#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/types.h>

/* The limit for one tick, nanoseconds. What was begun is completed: one batch is sent in excess. */
#define KWARP_SHARE_TICK_NS	(TICK_NSEC / 2)

/*
 * What this processor's softirqs have used in @tick (low 32 bits of jiffies), nanoseconds: @spent
 * to send, @looks to look for requests (coalesce.h).
 */
struct kwarp_softirq_share {
	u32 tick;
	u32 spent;
	u32 looks;
};

DECLARE_PER_CPU(struct kwarp_softirq_share, kwarp_softirq_share);

struct kwarp_softirq_share *kwarp_softirq_share_now(void);
void kwarp_softirq_share_spend(u64 begin);
u32 kwarp_softirq_looks(u64 ns);

#endif /* KWARP_ENGINE_TX_SHARE_H */
