// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of run.c: which context runs the transmit step. The code is included. The step returns what
 * a script says, the test decides what is held, and timer and work item are only recorded.
 */
#include <kunit/test.h>
#include <kunit/test-bug.h>

#include <linux/workqueue.h>

#include "../../compat.h"

#define kwarp_tx_init		tested_tx_init
#define kwarp_tx_kick		tested_tx_kick
#define kwarp_tx_claim		tested_tx_claim
#define kwarp_tx_release	tested_tx_release
#define kwarp_tx_step		scripted_step
#define kwarp_coalesce_rung	sched_coalesce_rung
#define kwarp_coalesce_sent	sched_coalesce_sent
#define kwarp_coalesce_returns	sched_coalesce_returns
#define kwarp_coalesce_init	sched_coalesce_init
#define kwarp_sq_left		sched_sq_left
#define kwarp_tcp_call_locked	sched_tcp_call_locked
#define kwarp_tcp_try_call_locked	sched_tcp_try_call_locked
#define kwarp_tx_wq		sched_wq
#define kwarp_home_wq		sched_home_wq
#define queue_delayed_work	note_work
#define queue_delayed_work_on	note_work_on
#undef cpu_online
#define cpu_online(cpu)		((void)(cpu), is_online)
#undef kwarp_need_resched
#define kwarp_need_resched	somebody_waits

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay);
static bool note_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			 unsigned long delay);
static bool somebody_waits(void);

static bool is_online = true;
static unsigned long told_jiffies;
#define jiffies			told_jiffies

#include "../tx/run.c"

#include "../../queue/tests/fixture.h"

struct workqueue_struct *sched_wq;
struct workqueue_struct *sched_home_wq;

/**
 * struct sched_test - a stream, the script and what was recorded
 * @e: engine
 * @sq: its send queue; only the indices are used
 * @sock: its socket; only the pointer is used
 * @owned: a process owns the socket
 * @script: results of the first steps; later steps return KWARP_TX_IDLE
 * @scripted: number of results in @script
 * @builds: octets that each step builds
 * @looks_at: requests that each step examines
 * @during: called during a step
 * @steps: number of steps so far
 * @resched: another task needs the processor
 * @in_socket: the last step was made with the socket's spinlock held
 * @pending: the work item is queued
 * @works: number of times that the work item was queued
 * @delay: delay at the last of these
 * @cpu: processor at the last of these; -1: any
 * @libsiw: requests of libsiw that have not been moved to the send queue
 * @when_left: called when the runner has looked for such requests
 * @holds: the queue is to be held from the next doorbell on
 * @rung: number of doorbells reported to kwarp_coalesce_rung()
 * @inside: number of those that have not returned
 */
struct sched_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	long sock;
	bool owned;
	enum kwarp_tx_result script[2 * KWARP_SHARE_TICK];
	u32 builds;
	u32 looks_at;
	u32 scripted;
	void (*during)(struct sched_test *t);
	u32 steps;
	bool resched;
	bool in_socket;
	bool pending;
	u32 works;
	unsigned long delay;
	int cpu;
	u32 libsiw;
	void (*when_left)(struct sched_test *t);
	bool holds;
	u32 rung;
	int inside;
};

static struct sched_test *the_test;

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay)
{
	/* Always the same workqueue: a work item on two workqueues could run twice at once. */
	KUNIT_EXPECT_PTR_EQ(kunit_get_current_test(), wq,
			    the_test->e.tx.home < 0 ? sched_wq : sched_home_wq);
	if (the_test->pending)
		return false;
	the_test->pending = true;
	the_test->works++;
	the_test->delay = delay;
	the_test->cpu = -1;
	return true;
}

static bool note_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			 unsigned long delay)
{
	bool ret = note_work(wq, work, delay);


	the_test->cpu = cpu;
	return ret;
}

bool kwarp_coalesce_rung(struct kwarp_engine *e)
{
	the_test->rung++;
	the_test->inside++;
	e->tx.coalesce.rung = true;
	return true;
}

void kwarp_coalesce_returns(struct kwarp_engine *e)
{
	the_test->inside--;
}

void kwarp_coalesce_sent(struct kwarp_engine *e)
{
	if (e->tx.coalesce.rung)
		e->tx.coalesce.on = the_test->holds;
	e->tx.coalesce.rung = false;
}

void kwarp_coalesce_init(struct kwarp_engine *e, void (*send)(struct kwarp_engine *e))
{
	e->tx.coalesce.send = send;
}

bool kwarp_sq_left(const struct kwarp_sq *sq)
{
	bool left = the_test->libsiw;

	if (the_test->when_left)
		the_test->when_left(the_test);
	return left;
}

static bool somebody_waits(void)
{
	return the_test->resched;
}

bool kwarp_tcp_call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			   struct kwarp_engine *e)
{
	if (the_test->owned)
		return false;
	local_bh_disable();
	fn(e);
	local_bh_enable();
	return true;
}

bool kwarp_tcp_try_call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			       struct kwarp_engine *e)
{
	return kwarp_tcp_call_locked(sock, fn, e);
}

enum kwarp_tx_result kwarp_tx_step(struct kwarp_engine *e)
{
	struct sched_test *t = the_test;
	u32 i = t->steps++;

	t->in_socket = e->tx.in_socket;
	e->tx.off += t->builds;
	e->tx.effort = t->looks_at;
	t->sq.next = READ_ONCE(t->sq.ring.hdr->prod);
	if (t->during)
		t->during(t);
	return i < t->scripted ? t->script[i] : KWARP_TX_IDLE;
}

/* Start a stream. All streams of a test share one send queue. */
static void start_stream(struct sched_test *t, struct kwarp_engine *e)
{
	e->sq = &t->sq;
	e->sock = (struct socket *)&t->sock;
	kwarp_tx_init(e);
}

static int sched_test_init(struct kunit *test)
{
	struct sched_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	/* Only the pointers are used. */
	sched_wq = (struct workqueue_struct *)&sched_wq;
	sched_home_wq = (struct workqueue_struct *)&sched_home_wq;
	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	test_ring_init(test, &t->sq.ring, 64, 64);
	told_jiffies++;		/* a new tick: nothing of the share is used yet */
	/* The share is counted per processor, so stay on one. */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	start_stream(t, &t->e);
	return 0;
}

/* Set up a second stream. */
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

/* Let the first @n steps return @result. */
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
	t->e.tx.coalesce.send(&t->e);
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

/* Kick as the network's softirq does. */
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

/* A context that has set the state to "queued" may be preempted before it queues the work item. */
static void test_any_meets_preempted(struct kunit *test)
{
	struct sched_test *t = test->priv;

	atomic_set(&t->e.tx.run, KWARP_RUN_QUEUED);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

/* A context that can send does so even if the work item is queued. */
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

/* A kernel consumer's request is sent in its own call. */
static void test_consumer(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, t->works, 0);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/* At most two batches, because the consumer may hold locks. */
static void test_consumer_bounded(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, KWARP_TX_SOCKET_CALL, KWARP_TX_MORE);
	this_cpu_write(kwarp_softirq_share.spent, 0);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	KUNIT_EXPECT_EQ(test, this_cpu_read(kwarp_softirq_share.spent), 0);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
}

/* With interrupts off, or if another context has the socket, the work item sends. */
static void test_consumer_cannot(struct kunit *test)
{
	struct sched_test *t = test->priv;
	unsigned long flags;

	local_irq_save(flags);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	t->owned = true;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 2);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	/* Without a stream the work item flushes what is posted, without delay. */
	t->owned = false;
	set_bit(KWARP_E_DEAD, &t->e.flags);
	t->e.sock = NULL;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->works, 3);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

static void post_in_tasklet(struct tasklet_struct *tasklet)
{
	kwarp_tx_kick(&the_test->e, KWARP_TX_FROM_POSTER);
}

/*
 * A kernel consumer in softirq does not send: what softirqs send is limited, and its call would not
 * be counted.
 */
static void test_consumer_in_softirq(struct kunit *test)
{
	struct sched_test *t = test->priv;
	struct tasklet_struct tasklet;

	tasklet_setup(&tasklet, post_in_tasklet);
	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();
	tasklet_kill(&tasklet);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	KUNIT_EXPECT_EQ(test, t->works, 1);
}

/* The work item runs on the processor that the consumer has chosen, if that is online. */
static void test_home(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->cpu, -1);
	do_work(t);
	t->e.tx.home = raw_smp_processor_id();
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->cpu, t->e.tx.home);
	do_work(t);
	script(t, t->steps + 1, KWARP_TX_NO_MEMORY);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
	KUNIT_EXPECT_EQ(test, t->cpu, WORK_CPU_UNBOUND);
	do_work(t);
	is_online = false;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	is_online = true;
	KUNIT_EXPECT_EQ(test, t->cpu, WORK_CPU_UNBOUND);
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

/* A request posted after the step's last look, without a doorbell, is sent. */
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
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_TX_SOCKET_CALL);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	t->steps = 0;
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_TX_RUN_BUDGET);
	KUNIT_EXPECT_EQ(test, t->works, 2);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

/* Long batches, and many requests without a batch, use up the budget in fewer rounds. */
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
	/* Process context has its own budget. */
	t->steps = 0;
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_TX_RUN_BUDGET);
}

/* Many packets together do not get a larger share than one packet that asks for the same. */
static void test_budget_of_packets(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < 2 * KWARP_SHARE_TICK; i++)
		packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_SHARE_TICK);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_GT(test, t->works, 0);
	told_jiffies++;
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_SHARE_TICK + 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/* The share of a tick is for all streams of a processor together. */
static void test_budget_of_streams(struct kunit *test)
{
	struct kwarp_engine *other = another(test);
	struct sched_test *t = test->priv;
	u32 i;

	for (i = 0; i < KWARP_SHARE_TICK; i++)
		packet(i & 1 ? other : &t->e);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_SHARE_TICK);
	KUNIT_EXPECT_EQ(test, t->works, 0);
	packet(other);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_SHARE_TICK);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

/* A program that posts into a dead queue in a loop gets two rounds in a tick. */
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

/*
 * If another task needs the processor, the runner leaves first: no context could replace it while
 * it waits.
 */
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

/* Without memory in process context, where the allocation has waited already, retry in a tick. */
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

/* Without memory in softirq, the work item retries at once: its allocation can wait. */
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

/* TCP calls write_space after a failed allocation. That must not make the runner retry at once. */
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

/* tx.backs_off tells the timer of pace.c when only the work item may send. */
static void test_backs_off(struct kunit *test)
{
	struct sched_test *t = test->priv;

	/* Another context has the socket: a context that finds it free may send. */
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
	do_work(t);
	script(t, t->steps + 1, KWARP_TX_NO_MEMORY);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_TRUE(test, t->e.tx.backs_off);
	do_work(t);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
	/* A process gave its processor away: a softirq, with its own share, may continue. */
	script(t, t->steps + 2, KWARP_TX_MORE);
	t->resched = true;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
	t->resched = false;
	kwarp_softirq_share_now()->spent = KWARP_SHARE_TICK;
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_TRUE(test, t->e.tx.backs_off);
	kwarp_softirq_share_now()->spent = 0;
	do_work(t);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
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

/* At the end of a claim, as by attach, one batch is sent; the work item sends the rest. */
static void test_release_bounded(struct kunit *test)
{
	struct sched_test *t = test->priv;

	script(t, KWARP_TX_RUN_BUDGET, KWARP_TX_MORE);
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
 * A poster sends one batch of answers, and all requests of its own. The work item is limited only
 * by its budget.
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
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_TX_RUN_BUDGET);
	t->e.iread.head = 1;
	t->steps = 0;
	t->pending = false;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_TX_RUN_BUDGET);
}

static void claimed(struct sched_test *t)
{
	t->during = NULL;
	atomic_inc(&t->e.tx.claims);
}

/*
 * If a claim waits, the runner leaves after its present round, and no other context becomes the
 * runner.
 */
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

/* The program posts a request and rings. */
static void ring(struct sched_test *t)
{
	t->sq.ring.hdr->prod++;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
}

static u32 flags(const struct sched_test *t)
{
	return t->sq.ring.hdr->flags;
}

/* A doorbell sends what was posted, whether or not the queue is held after it. */
static void test_ring(struct kunit *test)
{
	struct sched_test *t = test->priv;

	ring(t);
	KUNIT_EXPECT_EQ(test, t->rung, 1);
	KUNIT_EXPECT_EQ(test, t->sq.next, 1);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_NEED_KICK);
	t->holds = true;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->rung, 2);
	KUNIT_EXPECT_EQ(test, t->inside, 0);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_HELD);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

/* The timer sends a waiting request, and the queue stays held until the timer ends the hold. */
static void test_left(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	ring(t);
	t->sq.ring.hdr->prod += 7;
	do_timer(t);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, t->sq.next, 8);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_HELD);
	t->e.tx.coalesce.on = false;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/* A request posted after the last look, by a program that has read "need not ring", is sent. */
static void test_held_posted_meanwhile(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	t->during = post_late;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_HELD);
}

/* Answers, ACKs and the Terminate do not wait for the timer, and do not end the hold. */
static void test_held_overtaken(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	ring(t);
	t->sq.ring.hdr->prod++;
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_HELD);
	KUNIT_EXPECT_EQ(test, t->rung, 1);
	t->sq.ring.hdr->prod++;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->sq.next, 3);
	KUNIT_EXPECT_EQ(test, t->rung, 1);
}

/*
 * While TCP is full neither doorbell nor timer is needed: TCP calls write_space when there is room.
 */
static void test_held_blocked(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	script(t, 1, KWARP_TX_BLOCKED);
	ring(t);
	KUNIT_EXPECT_EQ(test, flags(t), 0);
	KUNIT_EXPECT_EQ(test, t->inside, 0);
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_HELD);
}

/* If a process owns the socket when the timer fires, the work item sends. */
static void test_held_owned(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	ring(t);
	t->sq.ring.hdr->prod++;
	t->owned = true;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	do_work(t);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_FALSE(test, t->in_socket);
}

static void timer_comes(struct sched_test *t)
{
	t->during = NULL;
	do_timer(t);
}

/*
 * If the timer fires while there is a runner, the runner makes one more round, and the state is
 * right after that.
 */
static void test_held_again(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	ring(t);
	t->steps = 0;
	t->during = timer_comes;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_HELD);
}

static void hold_ends(struct sched_test *t)
{
	t->e.tx.coalesce.on = false;
}

static void expect_inside(struct sched_test *t)
{
	KUNIT_EXPECT_EQ(kunit_get_current_test(), t->inside, 1);
}

/* While a doorbell is being handled, the program counts as being inside it. */
static void test_inside(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->during = expect_inside;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->inside, 0);
}

/*
 * If the timer ends the hold while there is a runner without a doorbell, posters have to ring
 * again.
 */
static void test_held_ends(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	ring(t);
	t->during = hold_ends;
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_NEED_KICK);
}

/*
 * libsiw may post more requests than may be outstanding. The runner does not wait for room: a
 * response makes room, and kicks.
 */
static void test_no_room(struct kunit *test)
{
	struct sched_test *t = test->priv;

	ring(t);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	t->libsiw = 3;
	t->steps = 0;
	ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_NEED_KICK);
}

static void room_is_made(struct sched_test *t)
{
	t->when_left = NULL;
	t->libsiw--;
	t->sq.ring.hdr->prod++;
}

/* Room is made between the look that found none and the setting of KWARP_E_TX_WAIT_READ. */
static void test_room_meanwhile(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 prod;

	ring(t);
	prod = t->sq.next;
	t->libsiw = 1;
	t->when_left = room_is_made;
	t->steps = 0;
	packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, prod + 1);
	KUNIT_EXPECT_EQ(test, word(t), KWARP_RUN_IDLE);
}

/*
 * The stream ends while it is held: all that was posted is flushed, and posters have to ring again.
 */
static void test_held_stream_ends(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	ring(t);
	t->sq.ring.hdr->prod++;
	kwarp_tx_claim(&t->e);
	t->e.sock = NULL;
	set_bit(KWARP_E_DEAD, &t->e.flags);
	kwarp_tx_release(&t->e);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_NEED_KICK);
	t->steps = 0;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, flags(t), KWARP_RING_NEED_KICK);
}

static struct kunit_case sched_cases[] = {
	KUNIT_CASE(test_process),
	KUNIT_CASE(test_socket),
	KUNIT_CASE(test_any),
	KUNIT_CASE(test_any_meets_preempted),
	KUNIT_CASE(test_overtake),
	KUNIT_CASE(test_consumer),
	KUNIT_CASE(test_consumer_bounded),
	KUNIT_CASE(test_consumer_cannot),
	KUNIT_CASE(test_consumer_in_softirq),
	KUNIT_CASE(test_home),
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
	KUNIT_CASE(test_backs_off),
	KUNIT_CASE(test_claim),
	KUNIT_CASE(test_claim_first),
	KUNIT_CASE(test_release_bounded),
	KUNIT_CASE(test_poster_answers_once),
	KUNIT_CASE(test_no_stream),
	KUNIT_CASE(test_ring),
	KUNIT_CASE(test_left),
	KUNIT_CASE(test_held_posted_meanwhile),
	KUNIT_CASE(test_held_overtaken),
	KUNIT_CASE(test_held_blocked),
	KUNIT_CASE(test_held_owned),
	KUNIT_CASE(test_held_again),
	KUNIT_CASE(test_held_ends),
	KUNIT_CASE(test_inside),
	KUNIT_CASE(test_no_room),
	KUNIT_CASE(test_room_meanwhile),
	KUNIT_CASE(test_held_stream_ends),
	{ }
};

static struct kunit_suite sched_suite = {
	.name = "kwarp_sched",
	.init = sched_test_init,
	.test_cases = sched_cases,
};
kunit_test_suite(sched_suite);
