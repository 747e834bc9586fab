// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Limits the time for which the softirqs of one processor may send, in each tick, for all streams
 * together. Meanwhile other tasks wait for the processor, and the time is charged to no task. Time
 * and not octets, because a copy with CRC takes ten times as long on one machine as on another.
 *
 * Context of all functions: softirqs off. On real-time kernels two softirqs may count at once, and
 * the count may be a little wrong.
 */
#include "share.h"

#include <linux/minmax.h>
#include <linux/sched/clock.h>

DEFINE_PER_CPU(struct kwarp_softirq_share, kwarp_softirq_share);

struct kwarp_softirq_share *kwarp_softirq_share_now(void)
{
	struct kwarp_softirq_share *s = this_cpu_ptr(&kwarp_softirq_share);

	if (s->tick != (u32)jiffies)
		*s = (struct kwarp_softirq_share) { .tick = jiffies };
	return s;
}

/*
 * Count the time since @begin, a value of local_clock(). If the tick has changed meanwhile, all of
 * it counts for the present one.
 */
void kwarp_softirq_share_spend(u64 begin)
{
	struct kwarp_softirq_share *s = kwarp_softirq_share_now();

	s->spent = min_t(u64, U32_MAX, s->spent + (local_clock() - begin));
}

/* Count @ns for looks. Return: all that counts for the present tick. */
u32 kwarp_softirq_looks(u64 ns)
{
	struct kwarp_softirq_share *s = kwarp_softirq_share_now();

	s->looks = min_t(u64, U32_MAX, s->looks + ns);
	return s->looks;
}
