// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of run.c: for how long a context sends, and what it does when there is no memory.
 *
 * Round: the runner calls the step once. Budget: the number of rounds, or the time, after which a
 * runner hands over to the work item. Share: for how long the softirqs of one processor may send in
 * a tick (share.c).
 */
#include "sched_fixture.h"

static struct kwarp_engine *another(struct kunit *test)
{
	struct kwarp_engine *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	sched_start_stream(test->priv, e);
	return e;
}

/* ------------------------------------------------------------------- runners */

/* A call in softirq sends for KWARP_TX_SOCKET_NS, and completes the batch that it has begun. */
static void test_budget(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->takes = KWARP_TX_SOCKET_NS / 5 + 1;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 5);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, kwarp_softirq_share_now()->spent, 5 * t->takes);
	t->steps = 0;
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_TX_RUN_BUDGET);
	KUNIT_EXPECT_EQ(test, t->works, 2);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
	KUNIT_EXPECT_EQ_MSG(test, kwarp_softirq_share_now()->spent,
			    5 * (KWARP_TX_SOCKET_NS / 5 + 1), "a process has its own time");
}

/* On a machine where one batch takes long, a call in softirq sends that batch only. */
static void test_budget_of_slow(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	t->takes = 4 * KWARP_TX_SOCKET_NS;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
}

/* Number of rounds, each of which takes a call's time, until the share is used up. */
#define SHARE_ROUNDS	DIV_ROUND_UP(KWARP_SHARE_TICK_NS, KWARP_TX_SOCKET_NS)

/* Here each packet leads to one round, until the work item has to send. */
static void test_budget_of_packets(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	t->takes = KWARP_TX_SOCKET_NS;
	for (i = 0; i < 2 * SHARE_ROUNDS; i++)
		sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, SHARE_ROUNDS);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_GT(test, t->works, 0);
	sched_told_jiffies++;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, SHARE_ROUNDS + 1);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
}

static void tick(struct sched_test *t)
{
	sched_told_jiffies++;
}

/* A call that is longer than a tick counts for the tick in which it ends. */
static void test_budget_over_tick(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->takes = KWARP_SHARE_TICK_NS;
	t->during = tick;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
}

/* All streams of a processor use the same share. */
static void test_budget_of_streams(struct kunit *test)
{
	struct kwarp_engine *other = another(test);
	struct sched_test *t = test->priv;
	u32 i;

	t->takes = KWARP_TX_SOCKET_NS;
	for (i = 0; i < SHARE_ROUNDS; i++)
		sched_packet(i & 1 ? other : &t->e);
	KUNIT_EXPECT_EQ(test, t->steps, SHARE_ROUNDS);
	KUNIT_EXPECT_EQ(test, t->works, 0);
	sched_packet(other);
	KUNIT_EXPECT_EQ(test, t->steps, SHARE_ROUNDS);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

/*
 * The work item continues a tick later, so that a program that posts in a loop does not keep the
 * processor busy.
 */
static void test_budget_of_dead(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	set_bit(KWARP_E_DEAD, &t->e.flags);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
}

static void be_closed(struct sched_test *t)
{
	set_bit(KWARP_E_TX_STOP, &t->e.flags);
}

static void be_drained(struct sched_test *t)
{
	set_bit(KWARP_E_TX_DRAIN, &t->e.flags);
}

static void be_draining(struct sched_test *t)
{
	be_drained(t);
	t->e.tx.drain_to = 1;
	t->head_waits = true;
}

static void be_sending(struct sched_test *t)
{
	be_drained(t);
	t->e.tx.msg.kind = KWARP_TXK_SQ;
}

static void be_answering(struct sched_test *t)
{
	be_drained(t);
	t->e.iread.tail = t->e.iread.head + 1;
}

static const struct closing_case {
	const char *desc;
	void (*make)(struct sched_test *t);
	unsigned long delay;
} closing_cases[] = {
	{ "our FIN is sent", be_closed, 1 },
	{ "all is sent that was posted before the close", be_drained, 1 },
	{ "more is to be sent", be_draining, 0 },
	{ "the last message is being sent", be_sending, 0 },
	{ "the peer's Read is answered", be_answering, 0 },
};

KUNIT_ARRAY_PARAM_DESC(closing, closing_cases, desc);

/* In a graceful close, what is posted late is flushed, and the work item continues a tick later. */
static void test_budget_of_closing(struct kunit *test)
{
	const struct closing_case *c = test->param_value;
	struct sched_test *t = test->priv;

	c->make(t);
	sched_script(t, ARRAY_SIZE(t->script), KWARP_TX_MORE);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, KWARP_TX_RUN_BUDGET);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, c->delay);
}

static void index_moves_on(struct sched_test *t)
{
	t->sq.ring.hdr->prod++;
}

static void index_moves_back(struct sched_test *t)
{
	t->sq.ring.hdr->prod--;
}

static void read_waits(struct sched_test *t)
{
	set_bit(KWARP_E_TX_WAIT_READ, &t->e.flags);
}

static void not_open(struct sched_test *t)
{
	clear_bit(KWARP_E_TX_OPEN, &t->e.flags);
}

static const struct held_up_case {
	const char *desc;
	u32 posted;
	void (*make)(struct sched_test *t);
} held_up_cases[] = {
	{ "the first request waits", 1 },
	{ "and is seen only by the step", 0, read_waits },
	{ "the stream is not open", 0, not_open },
};

KUNIT_ARRAY_PARAM_DESC(held_up, held_up_cases, desc);

/*
 * The first request cannot be sent now, and another thread of the program changes the producer
 * index during each round: a doorbell leads to one round, and the work item is not queued.
 */
static void test_held_up(struct kunit *test)
{
	const struct held_up_case *c = test->param_value;
	struct sched_test *t = test->priv;

	t->head_waits = true;
	t->during = index_moves_on;
	if (c->make)
		c->make(t);
	t->sq.ring.hdr->prod += c->posted;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 0);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_NEED_KICK);
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

static void answer_comes(struct sched_test *t)
{
	t->head_waits = false;
	clear_bit(KWARP_E_TX_WAIT_READ, &t->e.flags);
	t->during = NULL;
	sched_packet(&t->e);
}

/* The response comes while the runner finds that the request has to wait: the kick is not lost. */
static void test_answer_meanwhile(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->head_waits = true;
	read_waits(t);
	t->during = answer_comes;
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, 1);
}

/* A runner makes two rounds that take nothing, and the work item one more in each tick. */
static void test_in_vain(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 i;

	t->head_waits = true;
	t->during = index_moves_back;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_DOORBELL);
	for (i = 2; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, t->steps, i);
		KUNIT_EXPECT_EQ(test, t->works, i - 1);
		KUNIT_EXPECT_EQ(test, t->delay, 1);
		sched_do_work(t);
	}
	t->head_waits = false;
	t->during = NULL;
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	sched_script(t, t->steps + KWARP_TX_RUN_BUDGET, KWARP_TX_MORE);
	sched_ring(t);
	KUNIT_EXPECT_EQ_MSG(test, t->delay, 0, "it is useful again");
}

/*
 * If another task needs the processor, the runner hands over to the work item before that task
 * runs: otherwise no other context could send until the runner gets the processor again.
 */
static void test_resched(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, 2, KWARP_TX_MORE);
	t->resched = true;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 3);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
}

/* In process context the allocation has waited already: the work item retries after a tick. */
static void test_no_memory(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, 1, KWARP_TX_NO_MEMORY);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
}

/* If there is no memory in softirq, the work item retries at once: its allocation can wait. */
static void test_no_memory_in_socket(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, 1, KWARP_TX_NO_MEMORY);
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 0);
}

static void kick(struct sched_test *t)
{
	sched_packet(&t->e);
}

/* TCP calls write_space after a failed allocation. That must not make the runner retry at once. */
static void test_no_memory_kicked(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_script(t, 10, KWARP_TX_NO_MEMORY);
	t->during = kick;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->delay, 1);
}

/* tx.backs_off is true while only the work item may send; other senders read it. */
static void test_backs_off(struct kunit *test)
{
	struct sched_test *t = test->priv;

	/*
	 * The work item is queued because the context that called kwarp_tx_kick() cannot send
	 * itself: another context, which can, may send before the work item.
	 */
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_ANY);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
	sched_do_work(t);
	sched_script(t, t->steps + 1, KWARP_TX_NO_MEMORY);
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_TRUE(test, t->e.tx.backs_off);
	sched_do_work(t);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
	/*
	 * A runner in process context has handed over because another task needs the processor: a
	 * softirq, which has its own share, may continue.
	 */
	sched_script(t, t->steps + 2, KWARP_TX_MORE);
	t->resched = true;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
	t->resched = false;
	kwarp_softirq_share_now()->spent = KWARP_SHARE_TICK_NS;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_QUEUED);
	KUNIT_EXPECT_TRUE(test, t->e.tx.backs_off);
	kwarp_softirq_share_now()->spent = 0;
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_FALSE(test, t->e.tx.backs_off);
}

static struct kunit_case sched_budget_cases[] = {
	KUNIT_CASE(test_budget),
	KUNIT_CASE(test_budget_of_slow),
	KUNIT_CASE(test_budget_of_packets),
	KUNIT_CASE(test_budget_over_tick),
	KUNIT_CASE(test_budget_of_streams),
	KUNIT_CASE(test_budget_of_dead),
	KUNIT_CASE_PARAM(test_budget_of_closing, closing_gen_params),
	KUNIT_CASE_PARAM(test_held_up, held_up_gen_params),
	KUNIT_CASE(test_answer_meanwhile),
	KUNIT_CASE(test_in_vain),
	KUNIT_CASE(test_resched),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_no_memory_in_socket),
	KUNIT_CASE(test_no_memory_kicked),
	KUNIT_CASE(test_backs_off),
	{}
};

static struct kunit_suite sched_budget_suite = {
	.name = "kwarp_sched_budget",
	.init = sched_test_init,
	.test_cases = sched_budget_cases,
};

kunit_test_suite(sched_budget_suite);
