// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of run.c and share.c, which are included */
#include "sched_fixture.h"

#include <linux/sched/clock.h>

/* Other suites use the files that are included here, too. */
#define jiffies			(sched_the_test ? sched_told_jiffies : jiffies)
#define local_clock()		(sched_the_test ? sched_told_clock : local_clock())
#define queue_delayed_work	note_work
#define queue_delayed_work_on	note_work_on
#undef cpu_online
#define cpu_online(cpu)		((void)(cpu), sched_is_online)
#define kwarp_need_resched	somebody_waits

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay);
static bool note_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			 unsigned long delay);
static bool somebody_waits(void);

struct sched_test *sched_the_test;
bool sched_is_online = true;
unsigned long sched_told_jiffies;
u64 sched_told_clock;

#include "../tx/share.c"
#include "../tx/run.c"

#include "../../tests/doors.h"

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay)
{
	/*
	 * The work item must always be queued on the same workqueue: on two, it could run twice at
	 * once.
	 */
	KUNIT_EXPECT_PTR_EQ(kunit_get_current_test(), wq,
			    sched_the_test->e.tx.home < 0 ? kwarp_tx_wq : kwarp_home_wq);
	if (sched_the_test->pending)
		return false;
	sched_the_test->pending = true;
	sched_the_test->works++;
	sched_the_test->delay = delay;
	sched_the_test->cpu = -1;
	return true;
}

static bool note_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			 unsigned long delay)
{
	bool ret = note_work(wq, work, delay);

	sched_the_test->cpu = cpu;
	return ret;
}

static void note_rung(struct kwarp_engine *e)
{
	sched_the_test->rung++;
	e->tx.coalesce.rung = true;
}

static void note_return(struct kwarp_engine *e)
{
	sched_the_test->returned++;
}

static void decide_hold(struct kwarp_engine *e)
{
	if (e->tx.coalesce.rung)
		e->tx.coalesce.on = sched_the_test->holds;
	e->tx.coalesce.rung = false;
}

static bool look_for_unmoved(const struct kwarp_sq *sq)
{
	bool unmoved = sched_the_test->unmoved;

	if (sched_the_test->on_look)
		sched_the_test->on_look(sched_the_test);
	return unmoved;
}

static bool somebody_waits(void)
{
	return sched_the_test->resched;
}

static bool call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			struct kwarp_engine *e)
{
	if (sched_the_test->owned)
		return false;
	local_bh_disable();
	fn(e);
	local_bh_enable();
	return true;
}

static enum kwarp_tx_result scripted_step(struct kwarp_engine *e)
{
	struct sched_test *t = sched_the_test;
	u32 i = t->steps++;

	t->in_socket = e->tx.in_socket;
	sched_told_clock += t->takes;
	if (!t->head_waits)
		t->sq.next = READ_ONCE(t->sq.ring.hdr->prod);
	if (t->during)
		t->during(t);
	return i < t->scripted ? t->script[i] : KWARP_TX_IDLE;
}

static void forget_test(void *unused)
{
	sched_the_test = NULL;
}

/* All streams of a test share one send queue. */
void sched_start_stream(struct sched_test *t, struct kwarp_engine *e)
{
	e->sq = &t->sq;
	e->sock = (struct socket *)&t->sock;
	set_bit(KWARP_E_TX_OPEN, &e->flags);
	kwarp_tx_init(e);
}

int sched_test_init(struct kunit *test)
{
	struct sched_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, forget_test, NULL), 0);
	sched_the_test = t;
	test->priv = t;
	/* Only the pointers to the workqueues are used. */
	kwarp_tx_wq = (struct workqueue_struct *)&kwarp_tx_wq;
	kwarp_home_wq = (struct workqueue_struct *)&kwarp_home_wq;
	kwarp_stub(test, kwarp_coalesce_rung, note_rung);
	kwarp_stub(test, kwarp_coalesce_returns, note_return);
	kwarp_stub(test, kwarp_coalesce_sent, decide_hold);
	kwarp_stub(test, kwarp_sq_has_unmoved, look_for_unmoved);
	kwarp_stub(test, kwarp_tcp_call_locked, call_locked);
	kwarp_stub(test, kwarp_tcp_try_call_locked, call_locked);
	kwarp_stub(test, kwarp_tx_step, scripted_step);
	test_ring_init(test, &t->sq.ring, 64, 64);
	sched_told_jiffies++;		/* a new tick: nothing of the share is used yet */
	/* The share is counted per processor, so stay on one. */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	sched_start_stream(t, &t->e);
	return 0;
}

int sched_word(const struct sched_test *t)
{
	return atomic_read(&t->e.tx.run);
}

void sched_script(struct sched_test *t, u32 n, enum kwarp_tx_result result)
{
	for (t->scripted = 0; t->scripted < n; t->scripted++)
		t->script[t->scripted] = result;
}

void sched_do_work(struct sched_test *t)
{
	t->pending = false;
	tx_work(&t->e.tx.work.work);
}

/* ------------------------------------------------------------------- runners */

/* Call kwarp_tx_kick() as the softirq does that handles a packet for the stream. */
void sched_packet(struct kwarp_engine *e)
{
	local_bh_disable();
	kwarp_tx_kick(e, KWARP_TX_FROM_SOCKET);
	local_bh_enable();
}

void sched_post_late(struct sched_test *t)
{
	t->during = NULL;
	t->sq.ring.hdr->prod++;
}

/* ------------------------------------------------------------------- holding */

void sched_ring(struct sched_test *t)
{
	t->sq.ring.hdr->prod++;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
}

u32 sched_flags(const struct sched_test *t)
{
	return t->sq.ring.hdr->flags;
}
