// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The timer of held send queues: see timer.h.
 *
 * A stream that is held is put on the list of the processor where its runner is.  When the period
 * of the first of them is over, all of the list are looked at, and those that are still held come
 * back.  So the cost of a period does not grow with the doorbells, and a stream that is released
 * before its period is over is found and left alone.
 */
#include "timer.h"

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/percpu.h>

#include "../../compat.h"

/**
 * struct kwarp_timer - one processor's
 * @lock: protects the rest, and the lists' nodes; any context but hard interrupt, bottom halves
 *	off; nothing is taken under it
 * @streams: held since the timer went off last
 * @timer: runs as long as @streams is not empty
 */
struct kwarp_timer {
	spinlock_t lock;		/* all of this */
	struct list_head streams;
	struct hrtimer timer;
};

/* Streams to look at in one go, and the pause until the next. */
#define LOOKS		64
#define LOOK_PAUSE_NS	(50 * NSEC_PER_USEC)

static DEFINE_PER_CPU(struct kwarp_timer, kwarp_timers);
static void (*period_is_over)(struct kwarp_engine *e);

/* Context: t->lock held. */
static void start(struct kwarp_timer *t, u64 ns)
{
	hrtimer_start(&t->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Take the first one: it stays until its @looks is given back.  NULL: there is none. */
static struct kwarp_engine *next_due(struct kwarp_timer *t, struct list_head *due)
{
	struct kwarp_engine *e;

	spin_lock(&t->lock);
	e = list_first_entry_or_null(due, struct kwarp_engine, tx.coalesce.node);
	if (e) {
		/*
		 * First: as soon as it is in no list, others may put it into another one and
		 * take it off there, and then wait for @looks only.  Pairs with
		 * list_empty_careful().
		 */
		atomic_inc(&e->tx.coalesce.looks);
		list_del_init_careful(&e->tx.coalesce.node);
	}
	spin_unlock(&t->lock);
	return e;
}

static void look_at(struct kwarp_engine *e)
{
	period_is_over(e);
	/* kwarp_timer_del() may be waiting, and what it waits for may be freed. */
	smp_mb__before_atomic();
	atomic_dec(&e->tx.coalesce.looks);
}

/* There are more than should keep others from the processor: a pause before the rest. */
static void put_back(struct kwarp_timer *t, struct list_head *due)
{
	spin_lock(&t->lock);
	if (!list_empty(due)) {
		list_splice(due, &t->streams);
		start(t, LOOK_PAUSE_NS);
	}
	spin_unlock(&t->lock);
}

/* Softirq. */
static enum hrtimer_restart look_at_streams(struct hrtimer *timer)
{
	struct kwarp_timer *t = container_of(timer, struct kwarp_timer, timer);
	struct kwarp_engine *e;
	LIST_HEAD(due);
	u32 n;

	spin_lock(&t->lock);
	list_splice_init(&t->streams, &due);
	spin_unlock(&t->lock);
	for (n = 0; n < LOOKS && (e = next_due(t, &due)); n++)
		look_at(e);
	put_back(t, &due);
	/* Streams that have come back have started it again. */
	return HRTIMER_NORESTART;
}

/* Knobs differ between devices.  Context: t->lock held. */
static bool is_later(const struct kwarp_timer *t, u64 ns)
{
	return hrtimer_get_remaining(&t->timer) > (s64)ns;
}

/**
 * kwarp_timer_add - have a look at a stream when its period is over, or before
 * @e: engine, tx.coalesce.ns set
 *
 * Of a stream that waits already nothing changes.
 *
 * Context: the runner; any but hard interrupt.
 */
void kwarp_timer_add(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_timer *t;

	kwarp_assert_runner(e);
	/* Who takes it off the list at this moment looks right after, and sees that it is held. */
	smp_mb();
	if (!list_empty_careful(&c->node))
		return;
	local_bh_disable();
	t = this_cpu_ptr(&kwarp_timers);
	spin_lock(&t->lock);
	if (list_empty(&t->streams) || is_later(t, c->ns))
		start(t, c->ns);
	list_add_tail(&c->node, &t->streams);
	WRITE_ONCE(c->timer, t);
	spin_unlock(&t->lock);
	local_bh_enable();
}

/**
 * kwarp_timer_del - no timer looks at a stream any more
 * @e: engine; nobody adds it meanwhile
 *
 * Context: process; waits for timers that look at it now, on other processors.
 */
void kwarp_timer_del(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_timer *t = READ_ONCE(c->timer);

	might_sleep();
	if (!t)
		return;
	spin_lock_bh(&t->lock);
	list_del_init(&c->node);
	spin_unlock_bh(&t->lock);
	while (atomic_read_acquire(&c->looks))
		usleep_range(10, 100);
}

/**
 * kwarp_timer_init - before the first stream
 * @over: called for each held stream when its period is over; softirq
 */
void kwarp_timer_init(void (*over)(struct kwarp_engine *e))
{
	struct kwarp_timer *t;
	int cpu;

	period_is_over = over;
	for_each_possible_cpu(cpu) {
		t = per_cpu_ptr(&kwarp_timers, cpu);
		spin_lock_init(&t->lock);
		INIT_LIST_HEAD(&t->streams);
		kwarp_hrtimer_setup(&t->timer, look_at_streams, HRTIMER_MODE_REL_PINNED_SOFT);
	}
}

/* After the last stream.  Context: process. */
void kwarp_timer_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(&kwarp_timers, cpu)->timer);
}
