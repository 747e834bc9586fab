// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of caller.c, with kernel threads as processes. */
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>

#include "fake.h"

static void test_get(struct kunit *test)
{
	struct kwarp_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct pid *pid;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_EXPECT_NULL_MSG(test, kwarp_caller_get(qp), "a queue pair of the kernel");
	qp->ib.uobject = (void *)qp;	/* any pointer: it is only compared with NULL */
	pid = kwarp_caller_get(qp);
	KUNIT_EXPECT_PTR_EQ(test, pid, task_tgid(current));
	KUNIT_EXPECT_FALSE(test, kwarp_caller_ends(pid));
	put_pid(pid);
}

static int until_stopped(void *unused)
{
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void test_ends(struct kunit *test)
{
	struct task_struct *task = kthread_run(until_stopped, NULL, "kwarp_caller");
	struct pid *pid;

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	pid = get_pid(task_tgid(task));
	KUNIT_EXPECT_FALSE(test, kwarp_caller_ends(pid));
	kthread_stop(task);
	KUNIT_EXPECT_TRUE(test, kwarp_caller_ends(pid));
	put_pid(pid);
}

/* A process that is ending still has its number: the flag of its signals tells. */
static void test_is_ending(struct kunit *test)
{
	struct task_struct *task = kthread_run(until_stopped, NULL, "kwarp_caller");
	struct pid *pid;

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	pid = get_pid(task_tgid(task));
	WRITE_ONCE(task->signal->flags, SIGNAL_GROUP_EXIT);
	KUNIT_EXPECT_TRUE(test, kwarp_caller_ends(pid));
	WRITE_ONCE(task->signal->flags, 0);
	KUNIT_EXPECT_FALSE(test, kwarp_caller_ends(pid));
	kthread_stop(task);
	put_pid(pid);
}

static struct kunit_case caller_cases[] = {
	KUNIT_CASE(test_get),
	KUNIT_CASE(test_ends),
	KUNIT_CASE(test_is_ending),
	{}
};

static struct kunit_suite caller_suite = {
	.name = "kwarp_cm_caller",
	.test_cases = caller_cases,
};

kunit_test_suite(caller_suite);
