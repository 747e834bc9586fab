// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the limit of the memory that a user's objects hold. The current task is a fake. */
#include <kunit/test.h>

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

static struct {
	u32 uid;
	struct user_namespace *ns;
	unsigned long limit;
	bool capable;
} task;

static unsigned long task_rlimit_of(unsigned int which)
{
	return which == RLIMIT_MEMLOCK ? task.limit : 0;
}

static bool task_capable(const struct user_namespace *ns, int cap)
{
	return ns == &init_user_ns && cap == CAP_IPC_LOCK && task.capable;
}

#undef current_uid
#undef current_user_ns
#define current_uid()		KUIDT_INIT(task.uid)
#define current_user_ns()	task.ns
#define rlimit			task_rlimit_of
#define ns_capable_noaudit	task_capable
#include "../account.c"

#define LIMIT	65536

static int account_test_init(struct kunit *test)
{
	task.uid = 1000;
	task.ns = &init_user_ns;
	task.limit = LIMIT;
	task.capable = false;
	return 0;
}

static void put_account(void *account)
{
	kwarp_account_put(account);
}

static struct kwarp_charge new_charge(struct kunit *test)
{
	struct kwarp_charge c = { .account = kwarp_account_get() };

	KUNIT_ASSERT_NOT_NULL(test, c.account);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_account, c.account), 0);
	return c;
}

static void test_limit(struct kunit *test)
{
	struct kwarp_charge a = new_charge(test), b = new_charge(test);

	KUNIT_EXPECT_PTR_EQ(test, a.account, b.account);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_account_timers(a.account), &b.account->timers);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&a, KWARP_USER_MEMORY), 0);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, LIMIT + 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, b.octets, 0);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, LIMIT - 1), 0);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, 1), 0);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&a, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, a.octets, KWARP_USER_MEMORY);
	KUNIT_EXPECT_EQ(test, b.octets, LIMIT);
	task.limit = 0;
	kwarp_uncharge(&b);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, 1), -ENOMEM);
	kwarp_uncharge(&a);
	kwarp_uncharge(&a);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, KWARP_USER_MEMORY), 0);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&a, 1), -ENOMEM);
	kwarp_uncharge(&b);
	KUNIT_EXPECT_EQ(test, atomic64_read(&a.account->octets), 0);
}

/* Waiting for memory that is freed late helps only if the rest fits then. */
static void test_late(struct kunit *test)
{
	struct kwarp_charge a = new_charge(test), b = new_charge(test);

	KUNIT_EXPECT_EQ(test, kwarp_charge(&a, KWARP_USER_MEMORY), 0);
	KUNIT_EXPECT_FALSE(test, kwarp_charge_can_wait(&b, 2 * LIMIT));
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, LIMIT), 0);
	kwarp_charge_late(&b, true);
	KUNIT_EXPECT_TRUE(test, kwarp_charge_can_wait(&a, LIMIT));
	KUNIT_EXPECT_FALSE(test, kwarp_charge_can_wait(&a, LIMIT + 1));
	kwarp_charge_late(&b, false);
	kwarp_uncharge(&b);
	KUNIT_EXPECT_FALSE(test, kwarp_charge_can_wait(&a, LIMIT + 1));
	kwarp_uncharge(&a);
}

/* What tasks without a limit hold is not counted: another task of the user ID has all of it. */
static void test_unlimited(struct kunit *test)
{
	struct kwarp_charge a = new_charge(test), b = new_charge(test);

	task.capable = true;
	KUNIT_EXPECT_EQ(test, kwarp_charge(&a, 4ULL << 30), 0);
	task.capable = false;
	task.limit = RLIM_INFINITY;
	KUNIT_EXPECT_EQ(test, kwarp_charge(&a, 4ULL << 30), 0);
	task.limit = LIMIT;
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, KWARP_USER_MEMORY + LIMIT), 0);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, 1), -ENOMEM);
	kwarp_uncharge(&a);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&b, 1), -ENOMEM);
	kwarp_uncharge(&b);
	KUNIT_EXPECT_EQ(test, atomic64_read(&a.account->octets), 0);
}

/* Users have accounts of their own; the owner of a user namespace pays for all users in it. */
static void test_users(struct kunit *test)
{
	struct user_namespace *outer = kunit_kzalloc(test, sizeof(*outer), GFP_KERNEL);
	struct user_namespace *inner = kunit_kzalloc(test, sizeof(*inner), GFP_KERNEL);
	struct kwarp_charge owner = new_charge(test), other, inside;

	KUNIT_ASSERT_NOT_NULL(test, outer);
	KUNIT_ASSERT_NOT_NULL(test, inner);
	outer->parent = &init_user_ns;
	outer->owner = KUIDT_INIT(task.uid);
	inner->parent = outer;
	inner->owner = KUIDT_INIT(100007);
	task.uid = 1001;
	other = new_charge(test);
	KUNIT_EXPECT_PTR_NE(test, other.account, owner.account);
	task.uid = 100042;
	task.ns = inner;
	inside = new_charge(test);
	KUNIT_EXPECT_PTR_EQ(test, inside.account, owner.account);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&inside, KWARP_USER_MEMORY + LIMIT), 0);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&owner, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, kwarp_charge(&other, KWARP_USER_MEMORY), 0);
	kwarp_uncharge(&inside);
	kwarp_uncharge(&other);
	/* Root pays for nobody: containers of different users have different IDs. */
	outer->owner = GLOBAL_ROOT_UID;
	inner->owner = GLOBAL_ROOT_UID;
	inside = new_charge(test);
	task.uid = 200042;
	other = new_charge(test);
	KUNIT_EXPECT_PTR_NE(test, inside.account, owner.account);
	KUNIT_EXPECT_PTR_NE(test, inside.account, other.account);
}

/* An account exists as long as a device of its user is open, or somebody holds it. */
static void test_life(struct kunit *test)
{
	struct kwarp_account *a = kwarp_account_get();

	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_account_get(), a);
	kwarp_account_hold(a);
	kwarp_account_put(a);
	kwarp_account_put(a);
	KUNIT_EXPECT_FALSE(test, list_empty(&accounts));
	kwarp_account_put(a);
	KUNIT_EXPECT_TRUE(test, list_empty(&accounts));
}

static void test_nobody(struct kunit *test)
{
	struct kwarp_charge c = { };

	KUNIT_EXPECT_EQ(test, kwarp_charge(&c, U64_MAX), 0);
	kwarp_charge_late(&c, true);
	KUNIT_EXPECT_FALSE(test, kwarp_charge_can_wait(&c, 1));
	kwarp_uncharge(&c);
	KUNIT_EXPECT_EQ(test, c.octets, 0);
}

static struct kunit_case account_cases[] = {
	KUNIT_CASE(test_limit),
	KUNIT_CASE(test_late),
	KUNIT_CASE(test_unlimited),
	KUNIT_CASE(test_users),
	KUNIT_CASE(test_life),
	KUNIT_CASE(test_nobody),
	{}
};

static struct kunit_suite account_suite = {
	.name = "kwarp_account",
	.init = account_test_init,
	.test_cases = account_cases,
};

kunit_test_suite(account_suite);
