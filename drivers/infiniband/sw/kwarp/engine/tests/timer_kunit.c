// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The timer of held send queues, with the kernel's own timers.
 */
#include <kunit/test.h>

#include <linux/delay.h>

#define kwarp_timer_init	tested_timer_init
#define kwarp_timer_exit	tested_timer_exit
#define kwarp_timer_add		tested_timer_add
#define kwarp_timer_del		tested_timer_del
#define kwarp_timers		tested_timers

#include "../tx/timer.c"

#define STREAMS		(2 * LOOKS + 5)

/**
 * struct timer_test - streams, of which only what the timer needs is set
 * @e: engines
 * @looks: times that each was looked at
 * @again: it comes back so often
 * @in_softirq: all looks were in softirqs
 * @slow_us: a look takes that long
 */
struct timer_test {
	struct kwarp_engine e[STREAMS];
	atomic_t looks[STREAMS];
	u32 again[STREAMS];
	bool in_softirq;
	u32 slow_us;
};

static struct timer_test *the_test;

static void look(struct kwarp_engine *e)
{
	struct timer_test *t = the_test;
	u32 i = e - t->e;

	t->in_softirq &= !!in_serving_softirq();
	if (t->again[i]) {
		t->again[i]--;
		kwarp_timer_add(e);
	}
	udelay(t->slow_us);
	atomic_inc(&t->looks[i]);
}

static int timer_test_init(struct kunit *test)
{
	struct timer_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	the_test = t;
	t->in_softirq = true;
	for (i = 0; i < STREAMS; i++) {
		INIT_LIST_HEAD(&t->e[i].tx.coalesce.node);
		t->e[i].tx.coalesce.ns = NSEC_PER_MSEC;
		/* The test is the runner. */
		atomic_set(&t->e[i].tx.run, KWARP_RUN_ACTIVE);
	}
	kwarp_timer_init(look);
	return 0;
}

static void timer_test_exit(struct kunit *test)
{
	kwarp_timer_exit();
}

static bool looked_at(struct timer_test *t, u32 i, u32 times)
{
	u32 ms;

	for (ms = 0; ms < 1000 && atomic_read(&t->looks[i]) < times; ms++)
		usleep_range(1000, 2000);
	return atomic_read(&t->looks[i]) == times;
}

/* All are looked at, once, however often they were added. */
static void test_add(struct kunit *test)
{
	struct timer_test *t = test->priv;
	u32 i;

	for (i = 0; i < 2 * STREAMS; i++)
		kwarp_timer_add(&t->e[i % STREAMS]);
	for (i = 0; i < STREAMS; i++)
		KUNIT_EXPECT_TRUE(test, looked_at(t, i, 1));
	KUNIT_EXPECT_TRUE(test, t->in_softirq);
	usleep_range(5000, 10000);
	for (i = 0; i < STREAMS; i++)
		KUNIT_EXPECT_TRUE(test, looked_at(t, i, 1));
	kwarp_timer_add(&t->e[2]);
	KUNIT_EXPECT_TRUE(test, looked_at(t, 2, 2));
}

/* Those that come back are looked at a period later, the others are not. */
static void test_again(struct kunit *test)
{
	struct timer_test *t = test->priv;
	u32 i;

	for (i = 0; i < STREAMS; i++) {
		t->again[i] = i % 5;
		kwarp_timer_add(&t->e[i]);
	}
	for (i = 0; i < STREAMS; i++)
		KUNIT_EXPECT_TRUE(test, looked_at(t, i, 1 + i % 5));
}

/* One that was taken off is left alone, and its neighbours are not. */
static void test_del(struct kunit *test)
{
	struct timer_test *t = test->priv;

	kwarp_timer_del(&t->e[0]);
	t->e[1].tx.coalesce.ns = 20 * NSEC_PER_MSEC;
	kwarp_timer_add(&t->e[1]);
	kwarp_timer_add(&t->e[2]);
	kwarp_timer_add(&t->e[3]);
	kwarp_timer_del(&t->e[1]);
	kwarp_timer_del(&t->e[3]);
	KUNIT_EXPECT_TRUE(test, looked_at(t, 2, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->looks[1]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->looks[3]), 0);
	/* It may be added again. */
	kwarp_timer_add(&t->e[3]);
	KUNIT_EXPECT_TRUE(test, looked_at(t, 3, 1));
}

/* The timer of a device with a shorter period does not wait for that of another one. */
static void test_sooner(struct kunit *test)
{
	struct timer_test *t = test->priv;

	t->e[0].tx.coalesce.ns = 10ull * NSEC_PER_SEC;
	kwarp_timer_add(&t->e[0]);
	kwarp_timer_add(&t->e[1]);
	KUNIT_EXPECT_TRUE(test, looked_at(t, 1, 1));
	KUNIT_EXPECT_TRUE(test, looked_at(t, 0, 1));
}

/* What is looked at on another processor is waited for: then its memory may go. */
static void test_del_waits(struct kunit *test)
{
	struct timer_test *t = test->priv;
	u32 i;

	t->slow_us = 500;
	for (i = 0; i < 50; i++) {
		kwarp_timer_add(&t->e[0]);
		usleep_range(900, 1600);
		kwarp_timer_del(&t->e[0]);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->e[0].tx.coalesce.looks), 0);
		KUNIT_EXPECT_TRUE(test, list_empty(&t->e[0].tx.coalesce.node));
	}
}

static struct kunit_case timer_cases[] = {
	KUNIT_CASE(test_add),
	KUNIT_CASE(test_again),
	KUNIT_CASE(test_del),
	KUNIT_CASE(test_sooner),
	KUNIT_CASE(test_del_waits),
	{ }
};

static struct kunit_suite timer_suite = {
	.name = "kwarp_timer",
	.init = timer_test_init,
	.exit = timer_test_exit,
	.test_cases = timer_cases,
};
kunit_test_suite(timer_suite);
