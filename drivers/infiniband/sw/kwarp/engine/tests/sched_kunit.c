// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Who runs the transmit step, and when requests are held back. The code is included; the
 * step follows a script, and clock, timer and work item do nothing on their own.
 */
#include <kunit/test.h>

#include <linux/hrtimer.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "../../compat.h"

#define kwarp_tx_init		tested_tx_init
#define kwarp_tx_kick		tested_tx_kick
#define kwarp_tx_claim		tested_tx_claim
#define kwarp_tx_release	tested_tx_release
#define kwarp_tx_step		scripted_step
#define kwarp_tx_stop_timer	tested_tx_stop_timer
#define kwarp_hold_wanted	tested_hold_wanted
#define kwarp_hold_rung		tested_hold_rung
#define kwarp_hold_due		tested_hold_due
#define kwarp_hold_more		tested_hold_more
#define kwarp_hold_begin	tested_hold_begin
#define kwarp_hold_late		tested_hold_late
#define kwarp_tcp_run		sched_tcp_run
#define kwarp_tx_wq		sched_wq
#define queue_delayed_work	note_work
#define hrtimer_start		note_timer
#define hrtimer_is_queued	timer_is_queued
#define kwarp_hold_reset	tested_hold_reset
#define ktime_get_ns		told_clock
#define kwarp_softirq_share	tested_softirq_share
#define kwarp_last_doorbell	tested_last_doorbell
#undef hrtimer_resolution
#define hrtimer_resolution	told_resolution
#undef kwarp_need_resched
#define kwarp_need_resched	somebody_waits

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay);
static void note_timer(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode);
static bool timer_is_queued(struct hrtimer *timer);
static u64 told_clock(void);
static bool somebody_waits(void);

static unsigned int told_resolution;
static unsigned long told_jiffies;
#define jiffies			told_jiffies

#include "../tx/hold.c"
#include "../tx/run.c"

#include "../../queue/tests/fixture.h"

struct workqueue_struct *sched_wq;

/**
 * struct sched_test - a stream
 * @e: engine
 * @kdev: its device, of which only the knobs matter
 * @sq: its queue, of which only the indices matter
 * @sock: only its address matters
 * @owned: a process has the socket
 * @script: results of steps; what follows is KWARP_TX_IDLE
 * @scripted: their number
 * @builds: octets that a step builds
 * @looks_at: requests that it looks at
 * @unanswered: requests are Reads that get no answer, so none completes
 * @during: called in a step
 * @steps: done so far
 * @resched: somebody else wants the processor
 * @in_socket: the last one was within the socket lock
 * @pending: the work item is queued
 * @works: times that it was
 * @delay: for the last of them
 * @done: for @sq
 * @cq: likewise
 * @timer_queued: the timer is running
 * @timers: times that the timer was started
 * @ns: for the last of them
 * @now: the time
 * @takes: nanoseconds that a step takes
 */
struct sched_test {
	struct kwarp_engine e;
	struct kwarp_dev *kdev;
	struct kwarp_sq sq;
	long sock;
	bool owned;
	enum kwarp_tx_result script[2 * SOCKET_TICK];
	u32 builds;
	u32 looks_at;
	bool unanswered;
	u32 scripted;
	void (*during)(struct sched_test *t);
	u32 steps;
	bool resched;
	bool in_socket;
	bool pending;
	u32 works;
	unsigned long delay;
	struct kwarp_sq_done done[64];
	struct test_cq *cq;
	bool timer_queued;
	u32 timers;
	u64 ns;
	u64 now;
	u64 takes;
};

static struct sched_test *the_test;

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay)
{
	if (the_test->pending)
		return false;
	the_test->pending = true;
	the_test->works++;
	the_test->delay = delay;
	return true;
}

static void note_timer(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode)
{
	the_test->timers++;
	the_test->timer_queued = true;
	the_test->ns = ktime_to_ns(time);
	hrtimer_set_expires(timer, ns_to_ktime(the_test->now + the_test->ns));
}

static bool timer_is_queued(struct hrtimer *timer)
{
	return the_test->timer_queued;
}

static u64 told_clock(void)
{
	return the_test->now;
}

static bool somebody_waits(void)
{
	return the_test->resched;
}

bool kwarp_tcp_run(struct socket *sock, void (*run)(struct kwarp_engine *e),
		   struct kwarp_engine *e)
{
	if (the_test->owned)
		return false;
	local_bh_disable();
	run(e);
	local_bh_enable();
	return true;
}

enum kwarp_tx_result kwarp_tx_step(struct kwarp_engine *e)
{
	struct sched_test *t = the_test;
	u32 i = t->steps++;

	t->in_socket = e->tx.in_socket;
	e->tx.off += t->builds;
	e->tx.effort = t->looks_at;
	t->now += t->takes;
	/* Everything that is posted goes out, in FPDUs of 84 octets. */
	e->tx.off += 84 * (READ_ONCE(t->sq.ring.hdr->prod) - t->sq.next);
	t->sq.next = READ_ONCE(t->sq.ring.hdr->prod);
	if (!t->unanswered)
		t->sq.retired = t->sq.next;
	if (t->during)
		t->during(t);
	return i < t->scripted ? t->script[i] : KWARP_TX_IDLE;
}

/* Streams share the queue of requests. */
static void start_stream(struct sched_test *t, struct kwarp_engine *e)
{
	e->kdev = t->kdev;
	e->sq = &t->sq;
	e->sock = (struct socket *)&t->sock;
	kwarp_tx_init(e);
	kwarp_hold_reset(e);
}

static int sched_test_init(struct kunit *test)
{
	struct sched_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	test_ring_init(test, &t->sq.ring, 64, 64);
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	t->kdev->knobs.hold_us = KWARP_HOLD_MAX_US;
	t->cq = test_cq_new(test, 64);
	t->sq.cq = &t->cq->cq;
	t->sq.done = t->done;
	t->now = NSEC_PER_SEC;
	t->takes = 2 * NSEC_PER_USEC;
	told_resolution = 1;
	told_jiffies++;		/* nothing is spent yet */
	/* What is counted for each processor is looked at on one. */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	note_doorbell(0);
	start_stream(t, &t->e);
	return 0;
}

/* A stream beside the first. */
static struct kwarp_engine *another(struct kunit *test)
{
	struct kwarp_engine *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	start_stream(test->priv, e);
	return e;
}

static bool wants_kicks(const struct sched_test *t)
{
	return t->sq.ring.hdr->flags & KWARP_RING_NEED_KICK;
}

static int word(const struct sched_test *t)
{
	return atomic_read(&t->e.tx.run);
}

/* What the first @n steps say. */
static void script(struct sched_test *t, u32 n, enum kwarp_tx_result result)
{
	for (t->scripted = 0; t->scripted < n; t->scripted++)
		t->script[t->scripted] = result;
}

static void do_work(struct sched_test *t)
{
	t->pending = false;
	tx_work(&t->e.tx.work.work);
}

static void do_timer(struct sched_test *t)
{
	t->now += t->ns;
	t->timer_queued = false;
	period_over(&t->e.tx.hold.timer);
}

/* ------------------------------------------------------------------- runners */

static void test_process(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_FALSE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

/* As the network's softirq does. */
static void packet(struct kwarp_engine *e)
{
	local_bh_disable();
	kwarp_tx_kick(e, KWARP_TX_FROM_SOCKET);
	local_bh_enable();
}

static void test_socket(struct kunit *test)
{
	struct sched_test *t = test->priv;

	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
}

static void test_any(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_FALSE(test, t->in_socket);
	do_work(t);
	KUNIT_EXPECT_EQ_MSG(test, t->steps, 1, "nobody asked for it");
}

/* Who says that it is queued may have been preempted before it is. */
static void test_any_meets_preempted(struct kunit *test)
{
	struct sched_test *t = test->priv;

	atomic_set(&t->e.tx.run, KWARP_RUN_QUEUED);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

/* A context that can send overtakes the work item. */
static void test_overtake(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

static void kick_again(struct sched_test *t)
{
	t->during = NULL;
	packet(&t->e);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
}

static void test_again(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->during = kick_again;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

static void post_late(struct sched_test *t)
{
	t->during = NULL;
	t->sq.ring.hdr->prod++;
}

/* Posted behind the last look of the step, without a doorbell. */
static void test_posted_meanwhile(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->during = post_late;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, 1);
}

static void test_blocked(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, 1, KWARP_TX_BLOCKED);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_FALSE(test, wants_kicks(t));
	packet(&t->e);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
}

static void test_budget(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, SOCKET_CALL);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	t->steps = 0;
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, RUN_BUDGET);
	KUNIT_EXPECT_EQ(test, t->works, 2);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

/* Long batches, or many requests without a batch: fewer rounds. */
static void test_budget_of_work(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->builds = 64 * 1024;
	packet(&t->e);
	KUNIT_EXPECT_GE(test, t->steps, 1024 * 1024 / t->builds - 1);
	KUNIT_EXPECT_LE(test, t->steps, 1024 * 1024 / t->builds + 1);
	told_jiffies++;
	t->builds = 0;
	t->looks_at = KWARP_BATCH_EFFORT;
	t->steps = 0;
	packet(&t->e);
	KUNIT_EXPECT_GT(test, t->steps, 1);
	KUNIT_EXPECT_LT(test, t->steps * t->looks_at, 8 * KWARP_BATCH_EFFORT);
	/* What a process does is counted otherwise. */
	t->steps = 0;
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, RUN_BUDGET);
}

/* One packet after the other does not get more than one that brings all. */
static void test_budget_of_packets(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < 2 * SOCKET_TICK; i++)
		packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, SOCKET_TICK);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_GT(test, t->works, 0);
	told_jiffies++;
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, SOCKET_TICK + 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/* However many streams: what the processor may do for them in a tick is bounded. */
static void test_budget_of_streams(struct kunit *test)
{
	struct kwarp_engine *other = another(test);
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < SOCKET_TICK; i++)
		packet(i & 1 ? other : &t->e);
	KUNIT_EXPECT_EQ(test, t->steps, SOCKET_TICK);
	KUNIT_EXPECT_EQ(test, t->works, 0);
	packet(other);
	KUNIT_EXPECT_EQ(test, t->steps, SOCKET_TICK);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

/* Who posts on and on into a dead queue gets two rounds in a tick. */
static void test_budget_of_dead(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	set_bit(KWARP_E_DEAD, &t->e.flags);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
}

/* Somebody else wants the processor: not as the runner, whom nobody could replace. */
static void test_resched(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, 2, KWARP_TX_MORE);
	t->resched = true;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 3);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/* In process context the allocation has waited: now a tick. */
static void test_no_memory(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, 1, KWARP_TX_NO_MEMORY);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/* Where it could not wait, somebody else does. */
static void test_no_memory_in_socket(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, 1, KWARP_TX_NO_MEMORY);
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

static void kick(struct sched_test *t)
{
	packet(&t->e);
}

/* TCP calls write_space when it has failed: that is no reason to try again at once. */
static void test_no_memory_kicked(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, 10, KWARP_TX_NO_MEMORY);
	t->during = kick;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
}

static void test_claim(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_claim(&t->e);
	packet(&t->e);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	kwarp_tx_release(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/* A caller that has claimed the stream, as attach does, sends one batch; the work item goes on. */
static void test_release_bounded(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, RUN_BUDGET, KWARP_TX_MORE);
	kwarp_tx_claim(&t->e);
	kwarp_tx_release(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

static void answer(struct sched_test *t)
{
	t->e.tx.answered = true;
}

/*
 * A poster sends one batch of what the peer has asked for, and all that it has posted itself;
 * the work item is bound by its budget only.
 */
static void test_poster_answers_once(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->during = answer;
	t->e.iread.tail = 1;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	t->steps = 0;
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, RUN_BUDGET);
	t->e.iread.head = 1;
	t->steps = 0;
	t->pending = false;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
	KUNIT_EXPECT_EQ(test, t->steps, RUN_BUDGET);
}

static void claimed(struct sched_test *t)
{
	t->during = NULL;
	atomic_inc(&t->e.tx.claims);
}

/* The runner leaves after the round in work, and nobody else enters. */
static void test_claim_first(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->during = claimed;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	packet(&t->e);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	atomic_dec(&t->e.tx.claims);
	kwarp_tx_claim(&t->e);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_ACTIVE);
}

static void test_no_stream(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->e.sock = NULL;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	set_bit(KWARP_E_DEAD, &t->e.flags);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

/* ------------------------------------------------------------------- holding */

/* A program posts one small message and rings. */
static void ring(struct sched_test *t)
{
	t->sq.ring.hdr->prod++;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
	t->now += 100;
}

static void ring_often(struct sched_test *t, u32 n)
{
	while (n--)
		ring(t);
}

static void idle(struct sched_test *t)
{
	t->now += 10 * t->takes;
}

/* The peer has sent something. */
static void hear(struct sched_test *t)
{
	t->e.tx.hold.heard = true;
}

/* The first one of a stream is never quick. */
static void begin_holding(struct kunit *test)
{
	struct sched_test *t = test->priv;

	ring_often(t, 1 + KWARP_HOLD_STREAK);
	KUNIT_ASSERT_EQ(test, t->steps, 1 + KWARP_HOLD_STREAK);
	KUNIT_ASSERT_EQ(test, t->timers, 0);
	ring(t);
	KUNIT_ASSERT_EQ(test, t->steps, 1 + KWARP_HOLD_STREAK);
	KUNIT_ASSERT_EQ(test, t->timers, 1);
	KUNIT_ASSERT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_ASSERT_FALSE(test, wants_kicks(t));
	t->steps = 0;
}

static void test_hold(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	KUNIT_EXPECT_EQ(test, t->ns, KWARP_HOLD_DOORBELLS * t->takes);
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, t->sq.next, t->sq.ring.hdr->prod);
	KUNIT_EXPECT_EQ_MSG(test, t->timers, 2, "it is worth while, so it goes on");
	KUNIT_EXPECT_FALSE(test, wants_kicks(t));
}

static void test_hold_limits(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->takes = 500;
	begin_holding(test);
	KUNIT_EXPECT_EQ(test, t->ns, KWARP_HOLD_MIN_NS);
	t->takes = 100 * NSEC_PER_USEC;
	t->e.tx.hold.cost = t->takes;
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->ns, KWARP_HOLD_MAX_NS);
}

/* Periods that bring next to nothing; holding ends. */
static void hold_in_vain(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < KWARP_HOLD_MISSES; i++) {
		KUNIT_EXPECT_FALSE(test, wants_kicks(t));
		t->sq.ring.hdr->prod++;
		do_timer(t);
		KUNIT_EXPECT_EQ(test, t->sq.next, t->sq.ring.hdr->prod);
	}
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	t->timers = 0;
	t->steps = 0;
}

static void expect_penalty(struct kunit *test, u32 doorbells)
{
	struct sched_test *t = test->priv;

	ring_often(t, doorbells);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	KUNIT_EXPECT_EQ(test, t->steps, doorbells);
	ring_often(t, KWARP_HOLD_STREAK + 1);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
}

/* A few poor periods end it, and then doorbells are obeyed for a while. */
static void test_hold_ends(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	hold_in_vain(test);
	expect_penalty(test, KWARP_HOLD_PENALTY);
	hold_in_vain(test);
	expect_penalty(test, 2 * KWARP_HOLD_PENALTY);
	/* One that was worth while, and all begins anew. */
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	do_timer(t);
	hold_in_vain(test);
	ring(t);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
	hold_in_vain(test);
	expect_penalty(test, KWARP_HOLD_PENALTY);
}

/* A pause between bursts is no failure: of each but its first doorbell is held back. */
static void test_hold_bursts(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	begin_holding(test);
	for (i = 0; i < 10; i++) {
		t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
		do_timer(t);
		hold_in_vain(test);
		idle(t);
		ring(t);
		KUNIT_EXPECT_EQ(test, t->steps, 1);
		KUNIT_EXPECT_EQ(test, t->timers, 0);
		ring(t);
		KUNIT_EXPECT_EQ(test, t->steps, 1);
		KUNIT_EXPECT_EQ(test, t->timers, 1);
	}
}

/* One good period makes up for the poor ones before it. */
static void test_hold_recovers(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	begin_holding(test);
	for (i = 0; i < 3 * KWARP_HOLD_MISSES; i++) {
		if (i % KWARP_HOLD_MISSES == 1)
			t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
		do_timer(t);
		KUNIT_EXPECT_FALSE(test, wants_kicks(t));
	}
}

static void ring_at(struct sched_test *t, struct kwarp_engine *e)
{
	/* Of each stream's own. */
	t->timer_queued = false;
	t->sq.ring.hdr->prod++;
	kwarp_tx_kick(e, KWARP_TX_FROM_DOORBELL);
	t->now += 100;
}

/* What is quick is a program's doorbells, whichever of its streams they are for. */
static void test_hold_streams(struct kunit *test)
{
	struct kwarp_engine *e[2 * KWARP_HOLD_DOORBELLS];
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(e); i++)
		e[i] = another(test);
	/* The very first one is not. */
	ring_at(t, e[0]);
	for (i = 0; i < KWARP_HOLD_STREAK * ARRAY_SIZE(e); i++)
		ring_at(t, e[i % ARRAY_SIZE(e)]);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	/* It does not matter that those before were held back. */
	for (i = 0; i < ARRAY_SIZE(e); i++) {
		ring_at(t, e[i]);
		t->now += KWARP_HOLD_DOORBELLS * t->takes / 2;
	}
	KUNIT_EXPECT_EQ(test, t->timers, ARRAY_SIZE(e));
}

/* Of @e all but one of the doorbells that it takes. */
static void almost_hold(struct sched_test *t, struct kwarp_engine *e)
{
	u32 i;

	for (i = 0; i < KWARP_HOLD_STREAK; i++)
		ring_at(t, e);
	t->timers = 0;
}

/* What the end of another stream's period takes is no pause of the program's. */
static void test_hold_behind_timer(struct kunit *test)
{
	struct kwarp_engine *other = another(test);
	struct sched_test *t = test->priv;

	begin_holding(test);
	almost_hold(t, other);
	t->takes *= 100;
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
	ring_at(t, other);
	KUNIT_EXPECT_EQ(test, t->timers, 2);
}

/* But a period in which it has posted nothing is one. */
static void test_hold_behind_empty(struct kunit *test)
{
	struct kwarp_engine *other = another(test);
	struct sched_test *t = test->priv;

	begin_holding(test);
	almost_hold(t, other);
	t->e.tx.hold.next = t->sq.next;
	do_timer(t);
	idle(t);
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->timers, 2);
	ring_at(t, other);
	KUNIT_EXPECT_EQ(test, t->timers, 2);
}

static void ring_elsewhere(struct sched_test *t)
{
	note_doorbell(t->now);
}

/* A doorbell in the middle of another one: the other one was not behind a pause. */
static void test_hold_in_doorbell(struct kunit *test)
{
	struct sched_test *t = test->priv;

	KUNIT_ASSERT_GT(test, t->takes, KWARP_HOLD_GROWTH_NS);
	t->during = ring_elsewhere;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->e.tx.hold.cost, KWARP_HOLD_GROWTH_NS);
}

/* However much a period has sent, what comes behind it may be held back, and is small. */
static void test_hold_much(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t->done); i++)
		t->done[i].opcode = KWARP_WR_SEND;
	begin_holding(test);
	t->sq.ring.hdr->prod += KWARP_HOLD_SMALL / 84 + 1;
	do_timer(t);
	hold_in_vain(test);
	ring(t);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
	KUNIT_EXPECT_EQ(test, t->ns, KWARP_HOLD_DOORBELLS * t->takes);
}

/* Two queue pairs have one CQ, of which the program has not seen all. */
static void share_cq(struct sched_test *t)
{
	atomic_set(&t->cq->cq.ibcq.usecnt, 4);
	t->cq->cq.prod = 1000;
}

static void busy_periods(struct kunit *test, u32 n)
{
	struct sched_test *t = test->priv;

	while (n--) {
		t->sq.ring.hdr->prod++;
		do_timer(t);
		KUNIT_ASSERT_FALSE(test, wants_kicks(t));
	}
}

/*
 * A program that has other completions to look at comes back to this stream later, and
 * does not wait for it: a single request is worth it.  None is not, but no failure.
 */
static void test_hold_busy(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	share_cq(t);
	busy_periods(test, 3 * KWARP_HOLD_MISSES);
	do_timer(t);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	t->timers = 0;
	ring_elsewhere(t);
	ring(t);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
}

/* One that has seen all completions waits for this stream's. */
static void test_hold_all_seen(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	share_cq(t);
	busy_periods(test, 3 * KWARP_HOLD_MISSES);
	t->cq->cq.ring.hdr->cons = t->cq->cq.prod;
	hold_in_vain(test);
	expect_penalty(test, KWARP_HOLD_PENALTY);
}

/* So does one that its peer has sent something. */
static void test_hold_busy_heard(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	share_cq(t);
	hear(t);
	hold_in_vain(test);
	t->e.tx.hold.heard = false;
	expect_penalty(test, KWARP_HOLD_PENALTY);
}

/* And one that has not looked at this queue pair's own. */
static void test_hold_busy_alone(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	share_cq(t);
	atomic_set(&t->cq->cq.ibcq.usecnt, 2);
	hold_in_vain(test);
	expect_penalty(test, KWARP_HOLD_PENALTY);
}

/* A program that waits for an answer, that does other things, or that sends much. */
static void write_much(struct sched_test *t)
{
	t->e.tx.off += KWARP_HOLD_LARGE;
}

static void send_large(struct sched_test *t)
{
	t->e.tx.off += KWARP_HOLD_SMALL;
	t->done[(t->sq.next - 1) % ARRAY_SIZE(t->done)].opcode = KWARP_WR_SEND;
}

/* Its one completion has been there at once, and it has seen it. */
static void see_completion(struct sched_test *t)
{
	t->done[(t->sq.next - 1) % ARRAY_SIZE(t->done)].signaled = true;
}

static const struct habit {
	const char *desc;
	void (*between)(struct sched_test *t);
} habits[] = {
	{ "waits for answers", hear },
	{ "has other things to do", idle },
	{ "writes much", write_much },
	{ "sends large messages", send_large },
	{ "waits for each completion", see_completion },
};

KUNIT_ARRAY_PARAM_DESC(habit, habits, desc);

static void test_hold_not(struct kunit *test)
{
	const struct habit *habit = test->param_value;
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < 10 * KWARP_HOLD_STREAK; i++) {
		ring(t);
		habit->between(t);
	}
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	KUNIT_EXPECT_EQ(test, t->steps, i);
}

/* Signaled requests do not matter to who posts without looking at completions. */
static void test_hold_signaled(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t->done); i++)
		t->done[i].signaled = true;
	t->cq->cq.prod = 1;
	begin_holding(test);
}

/* Reads that have no answer yet: no completion, and nobody waits for one. */
static void test_hold_reads(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t->done); i++)
		t->done[i].signaled = true;
	t->unanswered = true;
	begin_holding(test);
}

/* What is small, exactly. */
static void test_hold_small(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 large, i;

	for (i = 0; i < ARRAY_SIZE(t->done); i++)
		t->done[i].opcode = KWARP_WR_SEND;
	for (large = 1; large + 1; large--) {
		for (i = 0; i <= KWARP_HOLD_STREAK + 1; i++) {
			t->e.tx.off += KWARP_HOLD_SMALL - 84 + large;
			ring(t);
		}
		KUNIT_EXPECT_EQ(test, t->timers, !large);
	}
	KUNIT_EXPECT_EQ(test, t->ns, KWARP_HOLD_DOORBELLS * t->takes);
}

/* Large Writes, but not larger ones: for as long as a single doorbell takes. */
static void test_hold_large(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	t->takes = 50 * NSEC_PER_USEC;
	t->builds = KWARP_HOLD_LARGE - 84 + 1;
	ring_often(t, 10 * KWARP_HOLD_STREAK);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	t->builds--;
	t->takes = KWARP_HOLD_MAX_NS;
	ring_often(t, 10 * KWARP_HOLD_STREAK);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	t->takes = 50 * NSEC_PER_USEC;
	ring(t);
	idle(t);
	t->steps = 0;
	begin_holding(test);
	KUNIT_EXPECT_EQ(test, t->ns, t->takes);
	for (i = 0; i < 2 * KWARP_HOLD_MISSES; i++) {
		t->sq.ring.hdr->prod += KWARP_HOLD_WORTH_LARGE;
		do_timer(t);
	}
	KUNIT_EXPECT_EQ(test, t->ns, t->takes);
	for (i = 0; i < KWARP_HOLD_MISSES; i++) {
		KUNIT_EXPECT_FALSE(test, wants_kicks(t));
		t->sq.ring.hdr->prod += KWARP_HOLD_WORTH_LARGE - 1;
		do_timer(t);
	}
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	/* Directly behind it: as before. */
	ring(t);
	KUNIT_EXPECT_FALSE(test, wants_kicks(t));
	KUNIT_EXPECT_EQ(test, t->ns, t->takes);
}

/* What is quick, exactly; ring() takes 100 ns itself. */
static void test_hold_quick(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u64 period = KWARP_HOLD_DOORBELLS * t->takes;
	u32 late, i;

	KUNIT_ASSERT_GT(test, period, KWARP_HOLD_MIN_NS);
	t->e.tx.hold.cost = t->takes;
	for (late = 1; late + 1; late--) {
		for (i = 0; i <= KWARP_HOLD_STREAK + 1; i++) {
			ring(t);
			t->now += period - 100 + late;
		}
		KUNIT_EXPECT_EQ(test, t->timers, !late);
	}
}

/* One doorbell that was disturbed does not make the period long. */
static void test_hold_disturbed(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u64 takes = t->takes;

	ring_often(t, KWARP_HOLD_STREAK);
	t->takes = NSEC_PER_MSEC;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	ring(t);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
	KUNIT_EXPECT_LE(test, t->ns, KWARP_HOLD_DOORBELLS * (2 * takes + KWARP_HOLD_GROWTH_NS));
}

/* One behind a pause does not either; but it may show that they take less now. */
static void test_hold_cold(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u64 takes = t->takes;

	begin_holding(test);
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	do_timer(t);
	hold_in_vain(test);
	t->now += KWARP_HOLD_MAX_NS + 1;
	t->takes = 10 * takes;
	ring_often(t, 2);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
	KUNIT_EXPECT_EQ(test, t->ns, KWARP_HOLD_DOORBELLS * takes);
	t->e.tx.hold.cost = 10 * takes;
	hold_in_vain(test);
	t->now += KWARP_HOLD_MAX_NS + 1;
	t->takes = takes;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->e.tx.hold.cost, takes);
}

/* An answer to the peer does not wait for the end of the period. */
static void test_hold_answer(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

/* A timer that only ends with a tick would hold back for milliseconds. */
static void test_hold_coarse_timer(struct kunit *test)
{
	struct sched_test *t = test->priv;

	told_resolution = 4 * NSEC_PER_MSEC;
	ring_often(t, 10 * KWARP_HOLD_STREAK);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	KUNIT_EXPECT_EQ(test, t->steps, 10 * KWARP_HOLD_STREAK);
}

/* Another thread saw the doorbell on just before: the period is not made longer. */
static void test_hold_late_doorbell(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	ring_often(t, 3);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	KUNIT_EXPECT_EQ(test, t->timers, 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->sq.next, t->sq.ring.hdr->prod);
}

/* The Terminate, or the end of a drain, is no request: it goes at once. */
static void test_hold_not_ours(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

static void kick_in_good_period(struct sched_test *t)
{
	t->during = NULL;
	kick(t);
	t->sq.ring.hdr->prod++;
}

/* A Read Request that comes while a period is being left is answered at once. */
static void test_hold_again(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	t->during = kick_in_good_period;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, t->sq.ring.hdr->prod);
}

/* ACKs, or an answer, come in the middle of a period. */
static void test_hold_overtaken(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->sq.next, t->sq.ring.hdr->prod);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	do_timer(t);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
}

static void test_hold_owned(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	t->owned = true;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->sq.next, t->sq.ring.hdr->prod);
	KUNIT_EXPECT_FALSE(test, t->in_socket);
}

/* The stream ends in a period: all that was posted is flushed, and doorbells count. */
static void test_hold_stream_ends(struct kunit *test)
{
	struct sched_test *t = test->priv;

	begin_holding(test);
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	kwarp_tx_claim(&t->e);
	t->e.sock = NULL;
	set_bit(KWARP_E_DEAD, &t->e.flags);
	kwarp_tx_release(&t->e);
	KUNIT_EXPECT_EQ(test, t->sq.next, t->sq.ring.hdr->prod);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	t->steps = 0;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	/* One that was started too late finds no socket: nobody must rely on it. */
	t->timer_queued = true;
	t->e.tx.hold.on = true;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
}

/* The knob: nothing is held back, not even behind what others hold. */
static void test_hold_off(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->kdev->knobs.hold_us = 0;
	start_stream(t, &t->e);
	ring_often(t, 10 * KWARP_HOLD_STREAK);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	KUNIT_EXPECT_EQ(test, t->steps, 10 * KWARP_HOLD_STREAK);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
}

/* The knob bounds the period, and holds for streams that begin afterwards. */
static void test_hold_knob(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->kdev->knobs.hold_us = 12;
	begin_holding(test);
	KUNIT_EXPECT_EQ(test, t->ns, KWARP_HOLD_DOORBELLS * t->takes);
	hold_in_vain(test);
	start_stream(t, &t->e);
	idle(t);
	t->steps = 0;
	begin_holding(test);
	KUNIT_EXPECT_EQ(test, t->ns, 12 * NSEC_PER_USEC);
}

static void be_normal(void *unused)
{
	sched_set_normal(current, 0);
}

/* A real-time program may never let the timer run: its own doorbells are obeyed. */
static void test_hold_realtime(struct kunit *test)
{
	struct sched_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, be_normal, NULL), 0);
	sched_set_fifo(current);
	ring_often(t, 10 * KWARP_HOLD_STREAK);
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	KUNIT_EXPECT_EQ(test, t->steps, 10 * KWARP_HOLD_STREAK);

	/* A period that began when it was none is not waited for either. */
	sched_set_normal(current, 0);
	t->steps = 0;
	idle(t);
	begin_holding(test);
	sched_set_fifo(current);
	ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
}

static void do_late_timer(struct sched_test *t, u64 late)
{
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	t->now += late;
	do_timer(t);
}

/* The timer finds no processor time, again and again: then no more, for a long while. */
static void test_hold_late_timer(struct kunit *test)
{
	const u64 late = KWARP_HOLD_LATE_PERIODS * KWARP_HOLD_MAX_NS + 1;
	struct sched_test *t = test->priv;
	u32 i;

	begin_holding(test);
	do_late_timer(t, 0);
	/* Not of one now and then, and not of as much as is allowed. */
	for (i = 0; i < 10 * KWARP_HOLD_LATE; i++) {
		do_late_timer(t, i % KWARP_HOLD_LATE ? late : late - 1);
		KUNIT_EXPECT_FALSE(test, wants_kicks(t));
	}
	do_late_timer(t, 0);
	for (i = 0; i < KWARP_HOLD_LATE; i++) {
		KUNIT_EXPECT_FALSE(test, wants_kicks(t));
		do_late_timer(t, late);
	}
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	t->steps = 0;
	t->timers = 0;
	expect_penalty(test, KWARP_HOLD_MAX_PENALTY);
}

/* Another program's doorbells on this processor make none of this one's quick. */
static void test_hold_other_program(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < 10 * KWARP_HOLD_STREAK; i++) {
		ring(t);
		this_cpu_write(kwarp_last_doorbell.who, current->tgid + 1);
	}
	KUNIT_EXPECT_EQ(test, t->timers, 0);
	KUNIT_EXPECT_EQ(test, t->steps, i);
}

/* The end of a period of its streams does not either. */
static void test_hold_other_timer(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u64 when;

	begin_holding(test);
	this_cpu_write(kwarp_last_doorbell.who, current->tgid + 1);
	when = this_cpu_read(kwarp_last_doorbell.when);
	t->sq.ring.hdr->prod += KWARP_HOLD_WORTH;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->timers, 2);
	KUNIT_EXPECT_EQ(test, this_cpu_read(kwarp_last_doorbell.when), when);
	KUNIT_EXPECT_EQ(test, this_cpu_read(kwarp_last_doorbell.who), current->tgid + 1);
}

static struct kunit_case sched_cases[] = {
	KUNIT_CASE(test_process),
	KUNIT_CASE(test_socket),
	KUNIT_CASE(test_any),
	KUNIT_CASE(test_any_meets_preempted),
	KUNIT_CASE(test_overtake),
	KUNIT_CASE(test_again),
	KUNIT_CASE(test_posted_meanwhile),
	KUNIT_CASE(test_blocked),
	KUNIT_CASE(test_budget),
	KUNIT_CASE(test_budget_of_work),
	KUNIT_CASE(test_budget_of_packets),
	KUNIT_CASE(test_budget_of_streams),
	KUNIT_CASE(test_budget_of_dead),
	KUNIT_CASE(test_resched),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_no_memory_in_socket),
	KUNIT_CASE(test_no_memory_kicked),
	KUNIT_CASE(test_claim),
	KUNIT_CASE(test_claim_first),
	KUNIT_CASE(test_release_bounded),
	KUNIT_CASE(test_poster_answers_once),
	KUNIT_CASE(test_no_stream),
	KUNIT_CASE(test_hold),
	KUNIT_CASE(test_hold_limits),
	KUNIT_CASE(test_hold_ends),
	KUNIT_CASE(test_hold_bursts),
	KUNIT_CASE(test_hold_recovers),
	KUNIT_CASE(test_hold_streams),
	KUNIT_CASE(test_hold_behind_timer),
	KUNIT_CASE(test_hold_behind_empty),
	KUNIT_CASE(test_hold_in_doorbell),
	KUNIT_CASE(test_hold_much),
	KUNIT_CASE(test_hold_busy),
	KUNIT_CASE(test_hold_all_seen),
	KUNIT_CASE(test_hold_busy_heard),
	KUNIT_CASE(test_hold_busy_alone),
	KUNIT_CASE_PARAM(test_hold_not, habit_gen_params),
	KUNIT_CASE(test_hold_signaled),
	KUNIT_CASE(test_hold_reads),
	KUNIT_CASE(test_hold_small),
	KUNIT_CASE(test_hold_large),
	KUNIT_CASE(test_hold_quick),
	KUNIT_CASE(test_hold_disturbed),
	KUNIT_CASE(test_hold_cold),
	KUNIT_CASE(test_hold_answer),
	KUNIT_CASE(test_hold_coarse_timer),
	KUNIT_CASE(test_hold_late_doorbell),
	KUNIT_CASE(test_hold_not_ours),
	KUNIT_CASE(test_hold_again),
	KUNIT_CASE(test_hold_overtaken),
	KUNIT_CASE(test_hold_owned),
	KUNIT_CASE(test_hold_stream_ends),
	KUNIT_CASE(test_hold_off),
	KUNIT_CASE(test_hold_knob),
	KUNIT_CASE(test_hold_realtime),
	KUNIT_CASE(test_hold_late_timer),
	KUNIT_CASE(test_hold_other_program),
	KUNIT_CASE(test_hold_other_timer),
	{ }
};

static struct kunit_suite sched_suite = {
	.name = "kwarp_sched",
	.init = sched_test_init,
	.test_cases = sched_cases,
};
kunit_test_suite(sched_suite);
