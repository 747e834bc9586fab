/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits the time for which the softirqs of one processor may send, in each tick, for all streams
 * together. Meanwhile other tasks wait for the processor, and the time is charged to no task. Time
 * and not octets, because a copy with CRC takes ten times as long on one machine as on another.
 */
#ifndef KWARP_ENGINE_TX_SHARE_H
#define KWARP_ENGINE_TX_SHARE_H

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

/* The limit for one tick, nanoseconds. What was begun is completed: one batch is sent in excess. */
#define KWARP_SHARE_TICK_NS	(TICK_NSEC / 2)

/**
 * struct kwarp_softirq_share - what this processor's softirqs have used in a tick
 * @tick: the tick, low 32 bits of jiffies
 * @spent: nanoseconds used in that tick to send
 * @looks: nanoseconds used in that tick to look for requests (coalesce.h)
 */
struct kwarp_softirq_share {
	u32 tick;
	u32 spent;
	u32 looks;
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
		s->looks = 0;
	}
	return s;
}

/*
 * Count the time since @begin, a value of local_clock(). If the tick has changed meanwhile, all of
 * it counts for the present one. Context: softirqs off.
 */
static inline void kwarp_softirq_share_spend(u64 begin)
{
	struct kwarp_softirq_share *s = kwarp_softirq_share_now();

	s->spent = min_t(u64, U32_MAX, s->spent + (local_clock() - begin));
}

/* Count @ns for looks. Return: all that counts for the present tick. Context: softirqs off. */
static inline u32 kwarp_softirq_looks(u64 ns)
{
	struct kwarp_softirq_share *s = kwarp_softirq_share_now();

	s->looks = min_t(u64, U32_MAX, s->looks + ns);
	return s->looks;
}

#endif /* KWARP_ENGINE_TX_SHARE_H */
