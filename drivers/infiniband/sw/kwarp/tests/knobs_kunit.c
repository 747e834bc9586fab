// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of knobs, and of the module parameters that are their defaults. Capabilities are fakes. */
#include <kunit/test.h>

#include <linux/capability.h>
#include <linux/moduleparam.h>
#include <net/net_namespace.h>

#include "../device.h"

static bool test_ns_capable(struct user_namespace *ns, int cap);
static bool test_capable(int cap);

#define kwarp_cm_wire_listen	test_wire_listen
#define ns_capable		test_ns_capable
#define capable			test_capable
#include "../knobs.c"

/*
 * The tests poison all values (fill them with this octet) before they set one knob.  No knob takes
 * the result as its value, so a value that is still poisoned was not set.
 */
#define POISON		0xa5

/*
 * @caps: capabilities of the caller in the initial user namespace, as bits
 * @may_in: user namespace in which the caller has CAP_NET_ADMIN
 * @listen: result of kwarp_cm_wire_listen()
 */
struct knobs_test {
	struct kwarp_dev *kdev;
	struct kwarp_dev *next;
	struct net *net;
	struct net *elsewhere;
	struct user_namespace *user_ns;
	struct kwarp_knobs saved;
	char *buf;
	u64 caps;
	const struct user_namespace *may_in;
	int listen;
};

static struct knobs_test *the_test;

static bool test_ns_capable(struct user_namespace *ns, int cap)
{
	return cap == CAP_NET_ADMIN && ns == the_test->may_in;
}

int test_wire_listen(struct kwarp_dev *kdev, u32 port)
{
	if (!the_test->listen)
		WRITE_ONCE(kdev->knobs.wire_port, port);
	return the_test->listen;
}

static bool test_capable(int cap)
{
	return the_test->caps & BIT_ULL(cap);
}

/* -------------------------------------------------------------- all knobs */

static const struct tested {
	const char *name;
	size_t offset;
	struct knob *knob;
	const struct kernel_param *param;
} all[] = {
#define TESTED(_name)							\
	{ #_name, offsetof(struct kwarp_knobs, _name), &knob_##_name, &__param_##_name }
	TESTED(align),
	TESTED(crc),
	TESTED(coalesce_us),
	TESTED(connect_timeout),
	TESTED(half_open_max),
	TESTED(keepalive),
	TESTED(linger_timeout),
	TESTED(log_errors),
	TESTED(long_frames),
	TESTED(markers),
	TESTED(mpa_rev),
	TESTED(peer_to_peer),
	TESTED(rcvbuf),
	TESTED(receive_wait),
	TESTED(rfc7306),
	TESTED(rtr),
	TESTED(sndbuf),
	TESTED(startup_timeout),
	TESTED(strict),
	TESTED(tos),
	TESTED(user_timeout),
	TESTED(wire_port),
#undef TESTED
};

static_assert(sizeof(struct kwarp_knobs) == ARRAY_SIZE(all) * sizeof(u32));

static const struct tested *find(struct kunit *test, const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	KUNIT_FAIL_AND_ABORT(test, "no knob %s", name);
	return NULL;
}

/* The value of a poisoned knob; no text in the tables below stands for it. */
static const u32 poisoned = POISON * 0x01010101U;

static ssize_t store(const struct tested *k, const char *word)
{
	return knob_store(&the_test->kdev->ibdev.dev, &k->knob->attr, word, strlen(word));
}

static void poison(struct kwarp_knobs *knobs)
{
	memset(knobs, POISON, sizeof(*knobs));
}

static void expect_knob(struct kunit *test, const struct tested *k, u32 value)
{
	struct kwarp_knobs want;

	poison(&want);
	*(u32 *)((u8 *)&want + k->offset) = value;
	KUNIT_EXPECT_MEMEQ(test, &the_test->kdev->knobs, &want, sizeof(want));
}

static void expect_default(struct kunit *test, const struct tested *k, u32 value)
{
	const struct kwarp_knobs before = defaults;
	struct knobs_test *t = test->priv;
	struct kwarp_knobs want;

	poison(&want);
	*(u32 *)((u8 *)&want + k->offset) = value;
	KUNIT_EXPECT_MEMEQ(test, &defaults, &want, sizeof(want));
	memset(&t->next->knobs, 0, sizeof(want));
	kwarp_knobs_init(t->next);
	KUNIT_EXPECT_MEMEQ(test, &t->next->knobs, &want, sizeof(want));
	defaults = before;
}

static int knobs_test_init(struct kunit *test)
{
	struct knobs_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	t->saved = defaults;
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	t->next = kunit_kzalloc(test, sizeof(*t->next), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->next);
	t->net = kunit_kzalloc(test, sizeof(*t->net), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->net);
	t->elsewhere = kunit_kzalloc(test, sizeof(*t->elsewhere), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->elsewhere);
	t->user_ns = kunit_kzalloc(test, sizeof(*t->user_ns), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->user_ns);
	t->buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->buf);
	t->net->user_ns = t->user_ns;
	t->kdev->net = t->net;
	t->kdev->ibdev.coredev.owner = &t->kdev->ibdev;
	t->may_in = t->user_ns;
	t->caps = BIT_ULL(CAP_NET_ADMIN);
	kwarp_knobs_init(t->kdev);
	t->next->net = t->net;
	poison(&t->kdev->knobs);
	return 0;
}

static void knobs_test_exit(struct kunit *test)
{
	if (the_test)
		defaults = the_test->saved;
}

/* --------------------------------------------------------------------- accepted texts */

struct word {
	const char *knob;
	const char *text;
	u32 value;
	const char *shown;
};

static const struct word words[] = {
	{ "align", "on", 1, "on\n" },
	{ "align", "off", 0, "off\n" },
	{ "crc", "off", KWARP_CRC_OFF, "off\n" },
	{ "crc", "on", KWARP_CRC_ON, "on\n" },
	{ "crc", "required", KWARP_CRC_REQUIRED, "required\n" },
	{ "coalesce_us", "0", 0, "0\n" },
	{ "coalesce_us", "10", 10, "10\n" },
	{ "coalesce_us", "1000", 1000, "1000\n" },
	{ "connect_timeout", "1", 1, "1\n" },
	{ "connect_timeout", "3600", 3600, "3600\n" },
	{ "half_open_max", "16", 16, "16\n" },
	{ "half_open_max", "65536", 65536, "65536\n" },
	{ "keepalive", "0", 0, "0\n" },
	{ "keepalive", "0x10", 16, "16\n" },
	{ "keepalive", "32767", 32767, "32767\n" },
	{ "linger_timeout", "1", 1, "1\n" },
	{ "linger_timeout", "3600", 3600, "3600\n" },
	{ "markers", "on", 1, "on\n" },
	{ "markers", "off", 0, "off\n" },
	{ "markers", "1", 1, "on\n" },
	{ "markers", "0", 0, "off\n" },
	{ "markers", "y", 1, "on\n" },
	{ "markers", "n", 0, "off\n" },
	{ "markers", "Y", 1, "on\n" },
	{ "markers", "N", 0, "off\n" },
	{ "markers", "yes", 1, "on\n" },
	{ "markers", "no", 0, "off\n" },
	{ "markers", "true", 1, "on\n" },
	{ "markers", "false", 0, "off\n" },
	{ "markers", "On", 1, "on\n" },
	{ "markers", "OFF", 0, "off\n" },
	{ "markers", "True", 1, "on\n" },
	{ "mpa_rev", "1", 1, "1\n" },
	{ "mpa_rev", "2", 2, "2\n" },
	{ "peer_to_peer", "on", 1, "on\n" },
	{ "peer_to_peer", "off", 0, "off\n" },
	{ "rcvbuf", "0", 0, "0\n" },
	{ "rcvbuf", "65536", 65536, "65536\n" },
	{ "rcvbuf", "1073741823", 1073741823, "1073741823\n" },
	{ "rtr", "send", KWARP_RTR_SEND, "send\n" },
	{ "rtr", "write", KWARP_RTR_WRITE, "write\n" },
	{ "rtr", "read", KWARP_RTR_READ, "read\n" },
	{ "rtr", "read,write", KWARP_RTR_READ | KWARP_RTR_WRITE, "write,read\n" },
	{ "rtr", "write,write", KWARP_RTR_WRITE, "write\n" },
	{ "rtr", "read,send,write", KWARP_RTR_SEND | KWARP_RTR_WRITE | KWARP_RTR_READ,
	  "send,write,read\n" },
	{ "sndbuf", "0", 0, "0\n" },
	{ "sndbuf", "0x100000", 1048576, "1048576\n" },
	{ "startup_timeout", "1", 1, "1\n" },
	{ "startup_timeout", "3600", 3600, "3600\n" },
	{ "tos", "0", 0, "0\n" },
	{ "tos", "0x28", 40, "40\n" },
	{ "tos", "252", 252, "252\n" },
	{ "user_timeout", "0", 0, "0\n" },
	{ "user_timeout", "1", 1, "1\n" },
	{ "user_timeout", "32767", 32767, "32767\n" },
	{ "receive_wait", "0", 0, "0\n" },
	{ "receive_wait", "60000", 60000, "60000\n" },
	{ "wire_port", "0", 0, "0\n" },
	{ "wire_port", "65535", 65535, "65535\n" },
};

static void word_desc(const struct word *w, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s '%s'", w->knob, w->text);
}

KUNIT_ARRAY_PARAM(word, words, word_desc);

/* The text that is read afterwards is accepted, too, and gives the same value. */
static void test_taken(struct kunit *test)
{
	const struct word *w = test->param_value;
	const struct tested *k = find(test, w->knob);
	struct knobs_test *t = test->priv;
	char line[32];

	/* A poisoned value cannot be shown, so set the knob first. */
	KUNIT_ASSERT_EQ(test, store(k, w->text), strlen(w->text));
	expect_knob(test, k, w->value);
	KUNIT_EXPECT_EQ(test, knob_show(&t->kdev->ibdev.dev, &k->knob->attr, t->buf),
			strlen(w->shown));
	KUNIT_EXPECT_STREQ(test, t->buf, w->shown);

	poison(&t->kdev->knobs);
	snprintf(line, sizeof(line), "%s\n", w->text);
	KUNIT_EXPECT_EQ(test, store(k, line), strlen(line));
	expect_knob(test, k, w->value);

	poison(&t->kdev->knobs);
	KUNIT_EXPECT_EQ(test, store(k, w->shown), strlen(w->shown));
	expect_knob(test, k, w->value);
}

static void test_taken_as_default(struct kunit *test)
{
	const struct word *w = test->param_value;
	const struct tested *k = find(test, w->knob);
	struct knobs_test *t = test->priv;

	poison(&defaults);
	KUNIT_ASSERT_EQ(test, k->param->ops->set(w->text, k->param), 0);
	expect_default(test, k, w->value);
	KUNIT_EXPECT_EQ(test, k->param->ops->get(t->buf, k->param), strlen(w->shown));
	KUNIT_EXPECT_STREQ(test, t->buf, w->shown);
	/* An existing link keeps its value. */
	expect_knob(test, k, poisoned);
}

/* @ret: errno expected; 0 stands for -EINVAL */
struct refusal {
	const char *knob;
	const char *text;
	int ret;
};

static const struct refusal refusals[] = {
	{ "align", "" },
	{ "align", "\n" },
	{ "align", "2" },
	{ "align", "10" },
	{ "align", "onx" },
	{ "align", "on " },
	{ "align", " on" },
	{ "align", "on\n\n" },
	{ "align", "on\nx" },
	{ "align", "on,off" },
	{ "align", "offer" },
	{ "align", "yesterday" },
	{ "align", "never" },
	{ "align", "truly" },
	{ "align", "falsely" },
	{ "crc", "" },
	{ "crc", "\n" },
	{ "crc", "o" },
	{ "crc", "require" },
	{ "crc", "required,on" },
	{ "crc", "on off" },
	{ "crc", "1" },
	{ "coalesce_us", "1" },
	{ "coalesce_us", "9" },
	{ "coalesce_us", "1001" },
	{ "receive_wait", "60001" },
	{ "wire_port", "65536" },
	{ "wire_port", "http" },
	{ "coalesce_us", "-1" },
	{ "connect_timeout", "0" },
	{ "connect_timeout", "3601" },
	{ "half_open_max", "0" },
	{ "half_open_max", "15" },
	{ "half_open_max", "65537" },
	{ "linger_timeout", "0" },
	{ "linger_timeout", "3601" },
	{ "keepalive", "" },
	{ "keepalive", "4s" },
	{ "keepalive", "-1" },
	{ "keepalive", "5 6" },
	{ "keepalive", "5\n6" },
	{ "keepalive", "32768" },
	{ "keepalive", "4294967296", -ERANGE },
	{ "markers", "" },
	{ "markers", "o" },
	{ "markers", "required" },
	{ "markers", "onx" },
	{ "mpa_rev", "0" },
	{ "mpa_rev", "3" },
	{ "peer_to_peer", "x" },
	{ "peer_to_peer", "offf" },
	{ "rcvbuf", "1" },
	{ "rcvbuf", "65535" },
	{ "rcvbuf", "1073741824" },
	{ "rcvbuf", "2147483648" },
	{ "rtr", "" },
	{ "rtr", "\n" },
	{ "rtr", "," },
	{ "rtr", "none" },
	{ "rtr", "writ" },
	{ "rtr", "writes" },
	{ "rtr", ",write" },
	{ "rtr", "write,,read" },
	{ "rtr", "write, read" },
	{ "rtr", "write read" },
	{ "rtr", "write," },
	{ "rtr", "write,\n" },
	{ "rtr", "write,\nfoo" },
	{ "rtr", "write,\nread" },
	{ "rtr", "write\nread" },
	{ "rtr", "write\n\n" },
	{ "rtr", "WRITE" },
	{ "sndbuf", "-1" },
	{ "sndbuf", "65535" },
	{ "sndbuf", "64k" },
	{ "startup_timeout", "0" },
	{ "startup_timeout", "3601" },
	{ "tos", "1" },
	{ "tos", "2" },
	{ "tos", "255" },
	{ "tos", "256" },
	{ "tos", "EF" },
	{ "user_timeout", "32768" },
	{ "user_timeout", "18446744073709551616", -ERANGE },
};

static void refusal_desc(const struct refusal *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s '%*pE'", r->knob, (int)strlen(r->text), r->text);
}

KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

static void test_refused(struct kunit *test)
{
	const struct refusal *r = test->param_value;
	const struct tested *k = find(test, r->knob);

	KUNIT_EXPECT_EQ(test, store(k, r->text), r->ret ?: -EINVAL);
	expect_knob(test, k, poisoned);

	poison(&defaults);
	KUNIT_EXPECT_EQ(test, k->param->ops->set(r->text, k->param), r->ret ?: -EINVAL);
	expect_default(test, k, poisoned);
}

/* The port is in use: the knob says so, and does not change. */
static void test_port_in_use(struct kunit *test)
{
	struct knobs_test *t = test->priv;

	t->listen = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, store(find(test, "wire_port"), "4790"), -EADDRINUSE);
	expect_knob(test, find(test, "wire_port"), poisoned);
}

/* ---------------------------------------------------------- names and defaults */

/* The knobs, their order and their defaults are those of the administrator's guide. */
static void test_all(struct kunit *test)
{
	static const struct kwarp_knobs want = {
		.align = 0,
		.crc = KWARP_CRC_ON,
		.coalesce_us = 100,
		.connect_timeout = 30,
		.half_open_max = 1024,
		.keepalive = 60,
		.linger_timeout = 5,
		.log_errors = 1,
		.long_frames = 1,
		.markers = 0,
		.mpa_rev = 2,
		.peer_to_peer = 1,
		.rfc7306 = 1,
		.rtr = KWARP_RTR_WRITE | KWARP_RTR_READ,
		.startup_timeout = 10,
		.user_timeout = 60,
	};
	struct knobs_test *t = test->priv;
	u32 i, n = 0;

	poison(&t->next->knobs);
	kwarp_knobs_init(t->next);
	KUNIT_EXPECT_MEMEQ(test, &t->next->knobs, &want, sizeof(want));
	for (i = 0; knob_attrs[i]; i++)
		n += !!(knob_attrs[i]->mode & 0222);
	KUNIT_EXPECT_EQ(test, n, ARRAY_SIZE(all));
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		KUNIT_EXPECT_PTR_EQ(test, knob_attrs[i], &all[i].knob->attr.attr);
		KUNIT_EXPECT_STREQ(test, knob_attrs[i]->name, all[i].name);
		KUNIT_EXPECT_EQ(test, knob_attrs[i]->mode, 0644);
		/* param->name is the module's name, a dot and the name of the knob. */
		KUNIT_EXPECT_STREQ(test, strchr(all[i].param->name, '.') + 1, all[i].name);
		KUNIT_EXPECT_EQ(test, all[i].param->perm, 0644);
	}
}

static void test_counts(struct kunit *test)
{
	struct knobs_test *t = test->priv;

	atomic_long_set(&t->kdev->stashes, 12345);
	atomic_set(&t->kdev->stashes_now, 67);
	atomic_long_set(&t->kdev->coalesce_timeouts, 89);
	atomic_long_set(&t->kdev->coalesce_paced, 90);
	stashes_show(&t->kdev->ibdev.dev, &dev_attr_stashes, t->buf);
	KUNIT_EXPECT_STREQ(test, t->buf, "12345\n");
	stashes_now_show(&t->kdev->ibdev.dev, &dev_attr_stashes_now, t->buf);
	KUNIT_EXPECT_STREQ(test, t->buf, "67\n");
	coalesce_timeouts_show(&t->kdev->ibdev.dev, &dev_attr_coalesce_timeouts, t->buf);
	KUNIT_EXPECT_STREQ(test, t->buf, "89\n");
	coalesce_paced_show(&t->kdev->ibdev.dev, &dev_attr_coalesce_paced, t->buf);
	KUNIT_EXPECT_STREQ(test, t->buf, "90\n");
	KUNIT_EXPECT_EQ(test, dev_attr_coalesce_paced.attr.mode, 0444);
	KUNIT_EXPECT_EQ(test, dev_attr_coalesce_timeouts.attr.mode, 0444);
	KUNIT_EXPECT_EQ(test, dev_attr_stashes.attr.mode, 0444);
	KUNIT_EXPECT_EQ(test, dev_attr_stashes_now.attr.mode, 0444);
}

/* --------------------------------------------------------------- permissions and visibility */

/* Capabilities in the initial user namespace are not enough. */
static void test_owner_only(struct kunit *test)
{
	const struct tested *k = find(test, "crc");
	struct knobs_test *t = test->priv;

	t->may_in = NULL;
	t->caps = ~0ULL;
	KUNIT_EXPECT_EQ(test, store(k, "off"), -EPERM);
	expect_knob(test, k, poisoned);
	t->may_in = t->user_ns;
	t->caps = 0;
	KUNIT_EXPECT_EQ(test, store(k, "off"), 3);
	expect_knob(test, k, KWARP_CRC_OFF);
}

/* Setting a default needs CAP_NET_ADMIN or CAP_SYS_MODULE in the initial user namespace. */
static void test_default_owner_only(struct kunit *test)
{
	const struct tested *k = find(test, "crc");
	struct knobs_test *t = test->priv;

	poison(&defaults);
	t->caps = ~(BIT_ULL(CAP_NET_ADMIN) | BIT_ULL(CAP_SYS_MODULE));
	KUNIT_EXPECT_EQ(test, k->param->ops->set("off", k->param), -EPERM);
	expect_default(test, k, poisoned);
	t->may_in = NULL;
	t->caps = BIT_ULL(CAP_NET_ADMIN);
	KUNIT_EXPECT_EQ(test, k->param->ops->set("off", k->param), 0);
	expect_default(test, k, KWARP_CRC_OFF);
	t->caps = BIT_ULL(CAP_SYS_MODULE);
	KUNIT_EXPECT_EQ(test, k->param->ops->set("on", k->param), 0);
	expect_default(test, k, KWARP_CRC_ON);
}

/*
 * A device may have one sysfs folder in each network namespace. Knobs are visible in its main
 * folder (coredev), in any namespace, and in the folder of its netdev's namespace, but in no other
 * folder.
 */
static void test_visible(struct kunit *test)
{
	struct attribute *attr = &knob_crc.attr.attr;
	struct knobs_test *t = test->priv;
	struct ib_core_device *own = &t->kdev->ibdev.coredev, *shown;

	write_pnet(&own->rdma_net, t->elsewhere);
	KUNIT_EXPECT_EQ(test, knob_visible(&own->dev.kobj, attr, 0), 0644);
	shown = kunit_kzalloc(test, sizeof(*shown), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, shown);
	shown->owner = &t->kdev->ibdev;
	write_pnet(&shown->rdma_net, t->elsewhere);
	KUNIT_EXPECT_EQ(test, knob_visible(&shown->dev.kobj, attr, 0), 0);
	write_pnet(&shown->rdma_net, t->net);
	KUNIT_EXPECT_EQ(test, knob_visible(&shown->dev.kobj, attr, 0), 0644);
	KUNIT_EXPECT_EQ(test, knob_visible(&shown->dev.kobj, &dev_attr_stashes.attr, 0), 0444);
}

static struct kunit_case knobs_cases[] = {
	KUNIT_CASE_PARAM(test_taken, word_gen_params),
	KUNIT_CASE_PARAM(test_taken_as_default, word_gen_params),
	KUNIT_CASE_PARAM(test_refused, refusal_gen_params),
	KUNIT_CASE(test_port_in_use),
	KUNIT_CASE(test_all),
	KUNIT_CASE(test_counts),
	KUNIT_CASE(test_owner_only),
	KUNIT_CASE(test_default_owner_only),
	KUNIT_CASE(test_visible),
	{}
};

static struct kunit_suite knobs_suite = {
	.name = "kwarp_knobs",
	.init = knobs_test_init,
	.exit = knobs_test_exit,
	.test_cases = knobs_cases,
};

kunit_test_suite(knobs_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's top level");
MODULE_LICENSE("Dual BSD/GPL");
