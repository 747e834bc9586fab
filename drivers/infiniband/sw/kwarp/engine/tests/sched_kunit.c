// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of run.c: which context sends.
 *
 * Kick: call kwarp_tx_kick(), because there is something to send. Claim: stop the runner
 * (kwarp_tx_claim()).
 */
#include "sched_fixture.h"

static bool wants_kicks(const struct sched_test *t)
{
	return t->sq.ring.hdr->flags & KWARP_RING_NEED_KICK;
}

/* ------------------------------------------------------------------- runners */

static void test_process(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_FALSE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

static void test_socket(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
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
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_FALSE(test, t->in_socket);
	sched_do_work(t);
	KUNIT_EXPECT_EQ_MSG(test, t->steps, 1, "nobody asked for it");
}

/*
 * A context that has set tx.run to KWARP_RUN_QUEUED may be preempted before it queues the work
 * item. So the next kick queues the work item although tx.run is KWARP_RUN_QUEUED already.
 */
static void test_any_meets_preempted(struct kunit *test)
{
	struct sched_test *t = test->priv;

	atomic_set(&t->e.tx.run, KWARP_RUN_QUEUED);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

/* A context that can send does so even if the work item is queued. */
static void test_overtake(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
}

/* The request of a kernel consumer is sent in the consumer's own call. */
static void test_consumer(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, t->works, 0);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
}

/* The call of a kernel consumer sends at most two batches, because the consumer may hold locks. */
static void test_consumer_bounded(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->takes = 1;
	this_cpu_write(kwarp_softirq_share.spent, 0);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	KUNIT_EXPECT_EQ(test, this_cpu_read(kwarp_softirq_share.spent), 0);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
}

/* Interrupts are off, or another context has the socket: the work item sends. */
static void test_consumer_cannot(struct kunit *test)
{
	struct sched_test *t = test->priv;
	unsigned long flags;

	local_irq_save(flags);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	t->owned = true;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_POSTER);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 2);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	/* After the end of the stream the work item, queued without delay, flushes the queue. */
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
	kwarp_tx_kick(&sched_the_test->e, KWARP_TX_FROM_POSTER);
}

/* What softirqs send is limited, and this call would not count against the limit. */
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

/* If tx.home is offline, or there is a delay, the work item may run on any processor. */
static void test_home(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->cpu, -1);
	sched_do_work(t);
	t->e.tx.home = raw_smp_processor_id();
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->cpu, t->e.tx.home);
	sched_do_work(t);
	sched_script(t, t->steps + 1, KWARP_TX_NO_MEMORY);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
	KUNIT_EXPECT_EQ(test, t->cpu, WORK_CPU_UNBOUND);
	sched_do_work(t);
	sched_is_online = false;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	sched_is_online = true;
	KUNIT_EXPECT_EQ(test, t->cpu, WORK_CPU_UNBOUND);
}

static void kick_again(struct sched_test *t)
{
	t->during = NULL;
	sched_packet(&t->e);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
}

static void test_again(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->during = kick_again;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

/* The request is posted without a doorbell, after the step has looked for the last time. */
static void test_posted_meanwhile(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->during = sched_post_late;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, 1);
}

static void test_blocked(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, 1, KWARP_TX_BLOCKED);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_FALSE(test, wants_kicks(t));
	sched_packet(&t->e);
	KUNIT_EXPECT_TRUE(test, wants_kicks(t));
}

static void test_claim(struct kunit *test)
{
	struct sched_test *t = test->priv;

	kwarp_tx_claim(&t->e);
	sched_packet(&t->e);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	kwarp_tx_release(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
}

/* kwarp_tx_release(), the end of a claim, sends one batch; the work item sends the rest. */
static void test_release_bounded(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, KWARP_TX_RUN_BUDGET, KWARP_TX_MORE);
	kwarp_tx_claim(&t->e);
	kwarp_tx_release(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

static void answer(struct sched_test *t)
{
	t->e.tx.answered = true;
}

/*
 * The runner hands over after one batch if it has sent an answer to the peer and more are due: the
 * program must not spend its time on them.
 */
static void test_poster_answers_once(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->during = answer;
	t->e.iread.tail = 1;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	t->steps = 0;
	sched_do_work(t);
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

/* No other context becomes the runner before the claim has succeeded. */
static void test_claim_first(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->during = claimed;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	sched_packet(&t->e);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	atomic_dec(&t->e.tx.claims);
	kwarp_tx_claim(&t->e);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_ACTIVE);
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
	KUNIT_CASE(test_claim),
	KUNIT_CASE(test_claim_first),
	KUNIT_CASE(test_release_bounded),
	KUNIT_CASE(test_poster_answers_once),
	KUNIT_CASE(test_no_stream),
	{}
};

static struct kunit_suite sched_suite = {
	.name = "kwarp_sched",
	.init = sched_test_init,
	.test_cases = sched_cases,
};

kunit_test_suite(sched_suite);
