// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the list of users (endpoints of connection management) of a queue pair. The code under
 * test, qp.c, is included by the fixture of the suite kwarp_qp.
 */
#include <kunit/test.h>

#include "../qp.h"

#define USERS	4

struct chooser {
	struct list_head node;
	struct kwarp_qp *of;
	u32 calls;
	u32 order;
	bool unlocked;
};

struct users_test {
	struct kwarp_qp one;
	struct kwarp_qp other;
	struct chooser user[USERS];
};

static u32 called;

/* Is users_lock held? 1: yes; 0: no; other: unknown, because this kernel has no lockdep. */
static int lock_state(struct kwarp_qp *qp)
{
	return IS_ENABLED(CONFIG_LOCKDEP) ? lockdep_is_held(&qp->users_lock) : -1;
}

static void note_user(struct list_head *node)
{
	struct chooser *u = list_entry(node, struct chooser, node);

	u->calls++;
	u->order = ++called;
	/* The lock must be held, so that no user can leave during the loop. */
	u->unlocked |= !lock_state(u->of);
}

static void join_user(struct kunit *test, struct kwarp_qp *qp, u32 i)
{
	struct users_test *t = test->priv;

	t->user[i].of = qp;
	kwarp_qp_join(qp, &t->user[i].node);
}

static void leave_user(struct kunit *test, u32 i)
{
	struct users_test *t = test->priv;

	kwarp_qp_leave(t->user[i].of, &t->user[i].node);
}

static void expect_told(struct kunit *test, struct kwarp_qp *qp, u32 want)
{
	struct users_test *t = test->priv;
	u32 i;

	called = 0;
	for (i = 0; i < USERS; i++)
		t->user[i].calls = 0;
	kwarp_qp_each_user(qp, note_user);
	/*
	 * ASSERT, because after a failure the list may be broken, and the next loop through it
	 * might not end.
	 */
	KUNIT_ASSERT_EQ(test, called, hweight32(want));
	for (i = 0; i < USERS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, t->user[i].calls, want >> i & 1, "user %u", i);
		KUNIT_EXPECT_FALSE(test, t->user[i].unlocked);
	}
	KUNIT_EXPECT_NE(test, lock_state(qp), 1);
}

static void init_qp(struct kwarp_qp *qp)
{
	spin_lock_init(&qp->users_lock);
	INIT_LIST_HEAD(&qp->users);
}

static int users_test_init(struct kunit *test)
{
	struct users_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	init_qp(&t->one);
	init_qp(&t->other);
	for (i = 0; i < USERS; i++)
		INIT_LIST_HEAD(&t->user[i].node);
	return 0;
}

static void test_nobody(struct kunit *test)
{
	struct users_test *t = test->priv;

	expect_told(test, &t->one, 0);
	join_user(test, &t->one, 0);
	leave_user(test, 0);
	expect_told(test, &t->one, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->user[0].node));
}

static void test_several(struct kunit *test)
{
	struct users_test *t = test->priv;
	u32 i;

	for (i = 0; i < USERS; i++)
		join_user(test, &t->one, i);
	expect_told(test, &t->one, 0xf);
	for (i = 0; i < USERS; i++)
		KUNIT_EXPECT_EQ(test, t->user[i].order, i + 1);
}

static void test_own_only(struct kunit *test)
{
	struct users_test *t = test->priv;

	join_user(test, &t->one, 0);
	join_user(test, &t->other, 1);
	join_user(test, &t->one, 2);
	expect_told(test, &t->one, BIT(0) | BIT(2));
	expect_told(test, &t->other, BIT(1));
	leave_user(test, 1);
	expect_told(test, &t->one, BIT(0) | BIT(2));
	expect_told(test, &t->other, 0);
}

static void test_leave(struct kunit *test)
{
	struct users_test *t = test->priv;
	u32 i;

	for (i = 0; i < USERS; i++)
		join_user(test, &t->one, i);
	leave_user(test, 2);
	expect_told(test, &t->one, BIT(0) | BIT(1) | BIT(3));
	leave_user(test, 0);
	expect_told(test, &t->one, BIT(1) | BIT(3));
	leave_user(test, 3);
	expect_told(test, &t->one, BIT(1));
	join_user(test, &t->other, 3);
	expect_told(test, &t->one, BIT(1));
	expect_told(test, &t->other, BIT(3));
	leave_user(test, 3);
	leave_user(test, 1);
	expect_told(test, &t->one, 0);
	expect_told(test, &t->other, 0);
}

static struct kunit_case users_cases[] = {
	KUNIT_CASE(test_nobody),
	KUNIT_CASE(test_several),
	KUNIT_CASE(test_own_only),
	KUNIT_CASE(test_leave),
	{}
};

static struct kunit_suite users_suite = {
	.name = "kwarp_qp_users",
	.init = users_test_init,
	.test_cases = users_cases,
};

kunit_test_suite(users_suite);
