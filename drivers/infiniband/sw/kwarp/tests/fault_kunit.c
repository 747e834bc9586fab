// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the rules for injected faults: which match, which strike, who has how many. */
#include <kunit/test.h>

#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <rdma/ib_verbs.h>

#undef ibdev_notice_ratelimited
#define ibdev_notice_ratelimited(ibdev, fmt, ...) \
	((void)(ibdev), snprintf(logged, sizeof(logged), fmt, ##__VA_ARGS__))
static char logged[200];
#include "../fault.c"

#define USER	KUIDT_INIT(1000)
#define OTHER	KUIDT_INIT(1001)

static struct net here, there;
static struct kwarp_dev *dev, *more;

static struct kwarp_dev *make_device(struct kunit *test)
{
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kdev);
	kdev->knobs.log_errors = true;
	kdev->net = &here;
	kdev->ibdev.dev.init_name = "kw0";
	return kdev;
}

static int fault_init(struct kunit *test)
{
	dev = make_device(test);
	more = make_device(test);
	logged[0] = 0;
	return 0;
}

static void fault_exit(struct kunit *test)
{
	kwarp_fault_exit();
}

/* Add a copy of a rule. Return: as kwarp_fault_add(). */
static int add(struct kunit *test, struct kwarp_fault_rule rule)
{
	struct kwarp_fault_rule *copy = kmemdup(&rule, sizeof(rule), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	copy->net = copy->net ?: &here;
	copy->arg = copy->arg ?: 1;
	copy->percent = copy->percent ?: 100;
	get_pid(copy->pid);
	ret = kwarp_fault_add(copy);
	if (ret < 0) {
		put_pid(copy->pid);
		kfree(copy);
	}
	return ret;
}

static u32 hit(struct kwarp_dev *kdev, u32 qpn)
{
	return kwarp_fault(KWARP_FAULT_RESET, &kdev->ibdev, qpn, task_tgid(current));
}

/* Without a rule nothing is looked at: kwarp_fault() must not even use its arguments. */
static void test_off(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, kwarp_faults_on());
	KUNIT_EXPECT_EQ(test, kwarp_fault(KWARP_FAULT_RESET, NULL, 1, NULL), 0);
	KUNIT_EXPECT_GT(test, add(test, (struct kwarp_fault_rule){ .kind = KWARP_FAULT_RESET }), 0);
	KUNIT_EXPECT_TRUE(test, kwarp_faults_on());
	kwarp_fault_forget(NULL, NULL);
	static_key_deferred_flush(&kwarp_faults);
	KUNIT_EXPECT_FALSE(test, kwarp_faults_on());
}

static void test_match(struct kunit *test)
{
	struct pid *own = task_tgid(current);
	const struct {
		struct kwarp_fault_rule rule;
		bool matches;
	} cases[] = {
		{ { .admin = true }, true },
		{ { .admin = true, .kind = KWARP_FAULT_CLOSE }, false },
		{ { .admin = true, .net = &there }, false },
		{ { .admin = true, .ibdev = &dev->ibdev }, true },
		{ { .admin = true, .ibdev = &more->ibdev }, false },
		{ { .admin = true, .qpn = 7 }, true },
		{ { .admin = true, .qpn = 8 }, false },
		{ { .admin = true, .pid = own, .uid = USER }, true },
		{ { .admin = true, .pid = find_vpid(1) }, own == find_vpid(1) },
		/* A user's rule, about a process of his. */
		{ { .pid = own, .uid = current_uid() }, true },
		{ { .pid = own, .uid = USER }, false },
		{ { .uid = current_uid() }, false },
	};
	unsigned int refs = refcount_read(&own->count);
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kwarp_fault_rule rule = cases[i].rule;

		rule.kind = rule.kind ?: KWARP_FAULT_RESET;
		KUNIT_ASSERT_GT(test, add(test, rule), 0);
		KUNIT_EXPECT_EQ_MSG(test, hit(dev, 7), cases[i].matches, "case %d", i);
		kwarp_fault_forget(NULL, NULL);
	}
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&own->count), refs);
	/* A rule about a process is not about kernel consumers. */
	add(test, (struct kwarp_fault_rule){
		.kind = KWARP_FAULT_RESET, .pid = own, .admin = true });
	KUNIT_EXPECT_EQ(test, kwarp_fault(KWARP_FAULT_RESET, &dev->ibdev, 7, NULL), 0);
}

/* Which of the first 30 matches of a rule are faults: a bit for each. */
static u32 strikes_of(struct kunit *test, struct kwarp_fault_rule rule)
{
	u32 i, got, result = 0;

	rule.kind = KWARP_FAULT_RESET;
	rule.admin = true;
	rule.arg = 5;
	KUNIT_ASSERT_GT(test, add(test, rule), 0);
	for (i = 0; i < 30; i++) {
		got = hit(dev, 7);
		KUNIT_EXPECT_TRUE(test, !got || got == 5);
		result |= !!got << i;
	}
	kwarp_fault_forget(NULL, NULL);
	return result;
}

static void test_count(struct kunit *test)
{
	u32 half = strikes_of(test, (struct kwarp_fault_rule){ .percent = 50, .seed = 3 });

	KUNIT_EXPECT_EQ(test, strikes_of(test, (struct kwarp_fault_rule){}), GENMASK(29, 0));
	KUNIT_EXPECT_EQ(test, strikes_of(test, (struct kwarp_fault_rule){ .times = 2 }), 3);
	KUNIT_EXPECT_EQ(test, strikes_of(test, (struct kwarp_fault_rule){ .skip = 3, .times = 2 }),
			3 << 3);
	/* The same seed, the same faults. */
	KUNIT_EXPECT_GT(test, hweight32(half), 5);
	KUNIT_EXPECT_LT(test, hweight32(half), 25);
	KUNIT_EXPECT_EQ(test, half,
			strikes_of(test, (struct kwarp_fault_rule){ .percent = 50, .seed = 3 }));
	KUNIT_EXPECT_NE(test, half,
			strikes_of(test, (struct kwarp_fault_rule){ .percent = 50, .seed = 4 }));
	KUNIT_EXPECT_EQ(test, hweight32(strikes_of(test, (struct kwarp_fault_rule){
				.percent = 50, .seed = 3, .times = 2 })), 2);
}

/* The first rule that strikes decides, and counts; so one rule can follow another. */
static void test_order(struct kunit *test)
{
	const struct kwarp_fault_which all = { .all = true };
	const struct kwarp_fault_rule once = {
		.kind = KWARP_FAULT_RESET, .admin = true, .arg = 5, .times = 1,
	}, always = {
		.kind = KWARP_FAULT_RESET, .admin = true, .arg = 6, .ibdev = &dev->ibdev,
	};
	struct kwarp_fault_rule rule = {};
	char link[IB_DEVICE_NAME_MAX];
	int first, second;

	first = add(test, once);
	second = add(test, always);
	KUNIT_EXPECT_EQ(test, hit(dev, 7), 5);
	KUNIT_EXPECT_EQ(test, hit(dev, 7), 6);
	KUNIT_ASSERT_TRUE(test, kwarp_fault_next(&all, &rule, link));
	KUNIT_EXPECT_EQ(test, rule.id, first);
	KUNIT_EXPECT_EQ(test, rule.matched, 2);
	KUNIT_EXPECT_EQ(test, rule.hits, 1);
	KUNIT_EXPECT_STREQ(test, (char *)link, "");
	KUNIT_ASSERT_TRUE(test, kwarp_fault_next(&all, &rule, link));
	KUNIT_EXPECT_EQ(test, rule.id, second);
	KUNIT_EXPECT_EQ(test, rule.matched, 1);
	KUNIT_EXPECT_STREQ(test, (char *)link, "kw0");
	KUNIT_EXPECT_FALSE(test, kwarp_fault_next(&all, &rule, link));
}

static u32 count(const struct kwarp_fault_which *which)
{
	struct kwarp_fault_rule rule = {};
	char link[IB_DEVICE_NAME_MAX];
	u32 n = 0;

	for (; kwarp_fault_next(which, &rule, link); n++)
		put_pid(rule.pid);
	return n;
}

/* A user sees and removes his own rules, but none that he made as an administrator. */
static void test_whose(struct kunit *test)
{
	const struct kwarp_fault_which all = { .all = true }, user = { .uid = USER };
	struct kwarp_fault_which one = { .uid = USER };

	add(test, (struct kwarp_fault_rule){ .uid = USER });
	one.id = add(test, (struct kwarp_fault_rule){ .uid = OTHER });
	add(test, (struct kwarp_fault_rule){ .uid = USER, .admin = true });
	KUNIT_EXPECT_EQ(test, count(&all), 3);
	KUNIT_EXPECT_EQ(test, count(&user), 1);
	KUNIT_EXPECT_EQ(test, kwarp_fault_drop(&one), 0);
	KUNIT_EXPECT_EQ(test, kwarp_fault_drop(&user), 1);
	KUNIT_EXPECT_EQ(test, count(&all), 2);
	one.all = true;
	KUNIT_EXPECT_EQ(test, kwarp_fault_drop(&one), 1);
	KUNIT_EXPECT_EQ(test, kwarp_fault_drop(&one), 0);
}

static void test_full(struct kunit *test)
{
	const struct kwarp_fault_rule user = { .uid = USER, .payer = USER };
	const struct kwarp_fault_rule root = { .admin = true, .root = true };
	/* Whoever makes a user namespace is the administrator of what is in it, and pays. */
	const struct kwarp_fault_rule own_ns = {
		.uid = KUIDT_INIT(100000), .payer = OTHER, .net = &there, .admin = true,
	};
	u32 n, i;

	for (n = 0; add(test, user) > 0; n++)
		;
	KUNIT_EXPECT_EQ(test, n, OWN_RULES);
	KUNIT_EXPECT_EQ(test, add(test, user), -ENOSPC);
	KUNIT_EXPECT_EQ(test, add(test, (struct kwarp_fault_rule){ .uid = OTHER, .payer = USER }),
			-ENOSPC);
	for (i = 0; add(test, own_ns) > 0; i++)
		n++;
	KUNIT_EXPECT_EQ(test, i, OWN_RULES);
	for (i = 0; add(test, (struct kwarp_fault_rule){ .payer = KUIDT_INIT(2000 + i) }) > 0; i++)
		n++;
	KUNIT_EXPECT_EQ(test, n, USERS_RULES);
	for (; add(test, root) > 0; n++)
		;
	KUNIT_EXPECT_EQ(test, n, RULES);
	kwarp_fault_forget(NULL, NULL);
	static_key_deferred_flush(&kwarp_faults);
	KUNIT_EXPECT_FALSE(test, kwarp_faults_on());
}

/* A rule whose turn is over is there as long as it is not removed. */
static void test_lasts(struct kunit *test)
{
	const struct kwarp_fault_which all = { .all = true };

	KUNIT_EXPECT_FALSE(test, kwarp_fault_lasts(KWARP_FAULT_RESET, &dev->ibdev, 7, NULL));
	add(test, (struct kwarp_fault_rule){
		.kind = KWARP_FAULT_RESET, .admin = true, .qpn = 7, .times = 1 });
	KUNIT_EXPECT_EQ(test, hit(dev, 7), 1);
	KUNIT_EXPECT_TRUE(test, kwarp_fault_lasts(KWARP_FAULT_RESET, &dev->ibdev, 7, NULL));
	KUNIT_EXPECT_FALSE(test, kwarp_fault_lasts(KWARP_FAULT_RESET, &dev->ibdev, 8, NULL));
	KUNIT_EXPECT_FALSE(test, kwarp_fault_lasts(KWARP_FAULT_CLOSE, &dev->ibdev, 7, NULL));
	KUNIT_EXPECT_EQ(test, kwarp_fault_drop(&all), 1);
	KUNIT_EXPECT_FALSE(test, kwarp_fault_lasts(KWARP_FAULT_RESET, &dev->ibdev, 7, NULL));
}

/* Rules go with their link, with their namespace, and with their process. */
static void test_ends(struct kunit *test)
{
	const struct kwarp_fault_which all = { .all = true };
	struct pid *dead = alloc_pid(&init_pid_ns, NULL, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(dead));
	add(test, (struct kwarp_fault_rule){ .ibdev = &dev->ibdev });
	add(test, (struct kwarp_fault_rule){ .ibdev = &more->ibdev });
	add(test, (struct kwarp_fault_rule){ .net = &there });
	kwarp_fault_forget(NULL, &dev->ibdev);
	KUNIT_EXPECT_EQ(test, count(&all), 2);
	kwarp_fault_forget(&there, NULL);
	KUNIT_EXPECT_EQ(test, count(&all), 1);
	add(test, (struct kwarp_fault_rule){ .pid = dead });
	KUNIT_EXPECT_EQ(test, count(&all), 2);
	KUNIT_EXPECT_EQ(test, hit(dev, 7), 0);
	flush_work(&dead_work);
	KUNIT_EXPECT_EQ(test, count(&all), 1);
	add(test, (struct kwarp_fault_rule){ .pid = dead });
	add(test, (struct kwarp_fault_rule){ .uid = USER });
	KUNIT_EXPECT_EQ(test, count(&all), 2);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&dead->count), 1);
	free_pid(dead);
}

/* The line in the log says that it was injected, and which rule did it; a knob switches it off. */
static void test_line(struct kunit *test)
{
	int id = add(test, (struct kwarp_fault_rule){ .kind = KWARP_FAULT_RESET, .admin = true });
	char want[100];

	hit(dev, 7);
	snprintf(want, sizeof(want), "fault %d (reset) injected: QP 7, pid %d\n", id,
		 pid_nr(task_tgid(current)));
	KUNIT_EXPECT_STREQ(test, (char *)logged, want);
	logged[0] = 0;
	dev->knobs.log_errors = false;
	hit(dev, 7);
	KUNIT_EXPECT_STREQ(test, (char *)logged, "");
}

static void test_names(struct kunit *test)
{
	int kind;

	for (kind = 0; kind < KWARP_FAULTS; kind++)
		KUNIT_EXPECT_NOT_NULL(test, kwarp_fault_kinds[kind].name);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(test_off),
	KUNIT_CASE(test_match),
	KUNIT_CASE(test_count),
	KUNIT_CASE(test_order),
	KUNIT_CASE(test_whose),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_lasts),
	KUNIT_CASE(test_ends),
	KUNIT_CASE(test_line),
	KUNIT_CASE(test_names),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "kwarp_fault",
	.init = fault_init,
	.exit = fault_exit,
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);
