// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of run.c, which decides which context sends. The code under test is
 * included. Step: kwarp_tx_step(), which sends one batch (FPDUs collected for one socket call);
 * here it only returns a result that the test has chosen. Share: for how long the softirqs of one
 * processor may send in a tick (share.h).
 */
#include "sched_fixture.h"

#include "../../compat.h"

#define queue_delayed_work	note_work
#define queue_delayed_work_on	note_work_on
#undef cpu_online
#define cpu_online(cpu)		((void)(cpu), sched_is_online)
#undef kwarp_need_resched
#define kwarp_need_resched	somebody_waits

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay);
static bool note_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			 unsigned long delay);
static bool somebody_waits(void);

bool sched_is_online = true;
unsigned long sched_told_jiffies;
u64 sched_told_clock;

#include "../tx/run.c"

struct workqueue_struct *sched_wq;
struct workqueue_struct *sched_home_wq;

struct sched_test *sched_the_test;

static bool note_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay)
{
	/*
	 * The work item must always be queued on the same workqueue: on two, it could run twice at
	 * once.
	 */
	KUNIT_EXPECT_PTR_EQ(kunit_get_current_test(), wq,
			    sched_the_test->e.tx.home < 0 ? sched_wq : sched_home_wq);
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

void kwarp_coalesce_rung(struct kwarp_engine *e)
{
	sched_the_test->rung++;
	e->tx.coalesce.rung = true;
}

void kwarp_coalesce_returns(struct kwarp_engine *e)
{
	sched_the_test->returned++;
}

void kwarp_coalesce_sent(struct kwarp_engine *e)
{
	if (e->tx.coalesce.rung)
		e->tx.coalesce.on = sched_the_test->holds;
	e->tx.coalesce.rung = false;
}

void kwarp_coalesce_init(struct kwarp_engine *e, void (*send)(struct kwarp_engine *e))
{
	e->tx.coalesce.send = send;
}

bool kwarp_sq_has_unmoved(const struct kwarp_sq *sq)
{
	bool unmoved = sched_the_test->libsiw;

	if (sched_the_test->on_look)
		sched_the_test->on_look(sched_the_test);
	return unmoved;
}

static bool somebody_waits(void)
{
	return sched_the_test->resched;
}

bool kwarp_tcp_call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			   struct kwarp_engine *e)
{
	if (sched_the_test->owned)
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

/* Start the stream of @e. All streams of a test share one send queue. */
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

	/* Only the pointers to the workqueues are used. */
	sched_wq = (struct workqueue_struct *)&sched_wq;
	sched_home_wq = (struct workqueue_struct *)&sched_home_wq;
	KUNIT_ASSERT_NOT_NULL(test, t);
	sched_the_test = t;
	test->priv = t;
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

/* Let the first @n steps return @result. */
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

/* The program posts a request and rings its doorbell. */
void sched_ring(struct sched_test *t)
{
	t->sq.ring.hdr->prod++;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
}

u32 sched_flags(const struct sched_test *t)
{
	return t->sq.ring.hdr->flags;
}
