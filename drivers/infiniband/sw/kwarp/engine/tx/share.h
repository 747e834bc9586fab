/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What softirqs of a processor may send in a tick, of all streams together: 1 MiB for each
 * millisecond.  Others wait for the processor meanwhile, and nobody is charged for it.
 */
#ifndef KWARP_ENGINE_TX_SHARE_H
#define KWARP_ENGINE_TX_SHARE_H

#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/types.h>

/* A round, or a look of a timer, costs one, and one more for so many octets and requests. */
#define KWARP_SHARE_TICK	(256 * 1000 / HZ)
#define KWARP_SHARE_OCTETS	4096
#define KWARP_SHARE_EFFORT	8

/**
 * struct kwarp_softirq_share - what this processor's softirqs have sent in a tick
 * @tick: jiffies
 * @spent: in that tick
 */
struct kwarp_softirq_share {
	u32 tick;
	u32 spent;
};

DECLARE_PER_CPU(struct kwarp_softirq_share, kwarp_softirq_share);

/*
 * This processor's, of the present tick.  Context: softirqs are off; on real-time kernels the
 * count may be a little wrong.
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
