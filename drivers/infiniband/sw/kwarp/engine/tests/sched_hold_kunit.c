// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of run.c: which context sends for a held stream. */
#include "sched_fixture.h"

static void do_timer(struct sched_test *t)
{
	t->e.tx.coalesce.send(&t->e);
}

/* ------------------------------------------------------------------- holding */

/* A doorbell sends what was posted, whether or not the queue is held after it. */
static void test_ring(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->rung, 1);
	KUNIT_EXPECT_EQ(test, t->sq.next, 1);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_NEED_KICK);
	t->holds = true;
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->rung, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_HELD);
	/* If TCP is full, the program returns all the same. */
	sched_script(t, 3, KWARP_TX_BLOCKED);
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->returned, 3);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

/* The timer sends waiting requests, and the queue stays held until the timer ends the hold. */
static void test_left(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	sched_ring(t);
	t->sq.ring.hdr->prod += 7;
	do_timer(t);
	KUNIT_EXPECT_TRUE(test, t->in_socket);
	KUNIT_EXPECT_EQ(test, t->sq.next, 8);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_HELD);
	t->e.tx.coalesce.on = false;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
}

/* The program does not ring, because it has read that it need not. */
static void test_held_posted_meanwhile(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	t->during = sched_post_late;
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_HELD);
}

/*
 * A received packet, or a Terminate that is to be sent, makes a context send while the queue is
 * held. That context sends waiting requests, too, before the timer does, and does not end the hold.
 */
static void test_held_overtaken(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	sched_ring(t);
	t->sq.ring.hdr->prod++;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_HELD);
	KUNIT_EXPECT_EQ(test, t->rung, 1);
	t->sq.ring.hdr->prod++;
	kwarp_tx_kick(&t->e, KWARP_TX_FROM_PROCESS);
	KUNIT_EXPECT_EQ(test, t->sq.next, 3);
	KUNIT_EXPECT_EQ(test, t->rung, 1);
}

/*
 * While TCP is full neither doorbell nor timer is needed, so the ring's flags are 0: TCP calls
 * write_space when there is room. After that the queue is held.
 */
static void test_held_blocked(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	sched_script(t, 1, KWARP_TX_BLOCKED);
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, sched_flags(t), 0);
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_HELD);
}

/* If a process owns the socket when the timer fires, the work item sends. */
static void test_held_owned(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	sched_ring(t);
	t->sq.ring.hdr->prod++;
	t->owned = true;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	sched_do_work(t);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_FALSE(test, t->in_socket);
}

static void timer_comes(struct sched_test *t)
{
	t->during = NULL;
	do_timer(t);
}

/* If the timer fires while there is a runner, the runner makes one more round. */
static void test_held_again(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	sched_ring(t);
	t->steps = 0;
	t->during = timer_comes;
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_HELD);
}

static void hold_ends(struct sched_test *t)
{
	t->e.tx.coalesce.on = false;
}

/* The timer ends the hold while a runner sends: the program has to ring again. */
static void test_held_ends(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	sched_ring(t);
	t->during = hold_ends;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_NEED_KICK);
}

/* The runner does not wait for room: the receive path calls kwarp_tx_kick() again. */
static void test_no_room(struct kunit *test)
{
	struct sched_test *t = test->priv;

	sched_ring(t);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	t->unmoved = 3;
	t->steps = 0;
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_NEED_KICK);
}

static void room_is_made(struct sched_test *t)
{
	t->on_look = NULL;
	t->unmoved--;
	t->sq.ring.hdr->prod++;
}

/* Room is made after the runner has found none, and before it sets KWARP_E_TX_WAIT_READ. */
static void test_room_meanwhile(struct kunit *test)
{
	struct sched_test *t = test->priv;
	u32 prod;

	sched_ring(t);
	prod = t->sq.next;
	t->unmoved = 1;
	t->on_look = room_is_made;
	t->steps = 0;
	sched_packet(&t->e);
	KUNIT_EXPECT_EQ(test, t->steps, 2);
	KUNIT_EXPECT_EQ(test, t->sq.next, prod + 1);
	KUNIT_EXPECT_EQ(test, sched_word(t), KWARP_RUN_IDLE);
}

/* All that was posted is flushed, and the program has to ring again. */
static void test_held_stream_ends(struct kunit *test)
{
	struct sched_test *t = test->priv;

	t->holds = true;
	sched_ring(t);
	t->sq.ring.hdr->prod++;
	kwarp_tx_claim(&t->e);
	t->e.sock = NULL;
	set_bit(KWARP_E_DEAD, &t->e.flags);
	kwarp_tx_release(&t->e);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_NEED_KICK);
	t->steps = 0;
	do_timer(t);
	KUNIT_EXPECT_EQ(test, t->steps, 0);
	sched_ring(t);
	KUNIT_EXPECT_EQ(test, t->steps, 1);
	KUNIT_EXPECT_EQ(test, sched_flags(t), KWARP_RING_NEED_KICK);
}

static struct kunit_case sched_hold_cases[] = {
	KUNIT_CASE(test_ring),
	KUNIT_CASE(test_left),
	KUNIT_CASE(test_held_posted_meanwhile),
	KUNIT_CASE(test_held_overtaken),
	KUNIT_CASE(test_held_blocked),
	KUNIT_CASE(test_held_owned),
	KUNIT_CASE(test_held_again),
	KUNIT_CASE(test_held_ends),
	KUNIT_CASE(test_no_room),
	KUNIT_CASE(test_room_meanwhile),
	KUNIT_CASE(test_held_stream_ends),
	{}
};

static struct kunit_suite sched_hold_suite = {
	.name = "kwarp_sched_hold",
	.init = sched_test_init,
	.test_cases = sched_hold_cases,
};

kunit_test_suite(sched_hold_suite);
