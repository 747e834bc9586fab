/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits what the softirqs of one processor may send in a tick, for all streams together: about 1
 * MiB for each millisecond. While softirqs send, other tasks wait for the processor, and the time
 * is charged to no task.
 */
#ifndef KWARP_ENGINE_TX_SHARE_H
#define KWARP_ENGINE_TX_SHARE_H

#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/types.h>

/*
 * Costs are counted in units: one for each call of kwarp_tx_step() or of the timer of pace.c, and
 * one more for each KWARP_SHARE_OCTETS octets sent and each KWARP_SHARE_EFFORT requests examined.
 * KWARP_SHARE_TICK is the limit for one tick.
 */
#define KWARP_SHARE_TICK	(256 * 1000 / HZ)
#define KWARP_SHARE_OCTETS	4096
#define KWARP_SHARE_EFFORT	8

/**
 * struct kwarp_softirq_share - what this processor's softirqs have used in a tick
 * @tick: the tick, low 32 bits of jiffies
 * @spent: units used in that tick
 */
struct kwarp_softirq_share {
	u32 tick;
	u32 spent;
};

DECLARE_PER_CPU(struct kwarp_softirq_share, kwarp_softirq_share);

/*
 * Get the count of this processor for the present tick. Context: softirqs off. On real-time kernels
 * two softirqs may count at once, and the count may be a little wrong.
 */
static inline struct kwarp_softirq_share *kwarp_softirq_share_now(void)
{
	struct kwarp_softirq_share *s = this_cpu_ptr(&kwarp_softirq_share);

	if (s->tick != (u32)jiffies) {
		s->tick = jiffies;
		s->spent = 0;
	}
	return s;
}

#endif /* KWARP_ENGINE_TX_SHARE_H */
