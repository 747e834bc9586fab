// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of links: which netdev may have one, what happens if the netdev is removed or moved while a
 * link is added, the end of a link, and what the module registers.
 */
#include "link_fixture.h"

#include <linux/if_arp.h>

static const struct type {
	const char *desc;
	u16 type;
	bool supported;
} types[] = {
	{ "Ethernet", ARPHRD_ETHER, true },
	{ "lo", ARPHRD_LOOPBACK, true },
	{ "tun, wireguard", ARPHRD_NONE, true },
	{ "ipip", ARPHRD_TUNNEL, true },
	{ "ip6tnl", ARPHRD_TUNNEL6, true },
	{ "PPP", ARPHRD_PPP, true },
	{ "InfiniBand", ARPHRD_INFINIBAND },
	{ "CAN", ARPHRD_CAN },
	{ "monitor", ARPHRD_IEEE80211_RADIOTAP },
	{ "netlink monitor", ARPHRD_NETLINK },
	{ "void", ARPHRD_VOID },
	{ "all ones", 0xffff },
};

KUNIT_ARRAY_PARAM_DESC(type, types, desc);

static void test_type(struct kunit *test)
{
	const struct type *c = test->param_value;
	struct link_test *t = test->priv;

	t->netdev[0]->type = c->type;
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[0]),
			c->supported ? 0 : -EOPNOTSUPP);
	/*
	 * After the registration kwarp_link_add() itself updates name, speed and port, because
	 * events that came earlier did not find the device.
	 */
	link_expect_log(test, c->supported ? "add kw0 name0 speed0 port0 wires0" : "");
	KUNIT_EXPECT_NULL(test, t->kdev[0]->adder);
	if (c->supported)
		link_lose(t, 0);
}

static void test_second_link(struct kunit *test)
{
	struct link_test *t = test->priv;

	link_have(t, 1);
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[1]), -EEXIST);
	link_expect_log(test, "");
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[0]), 0);
	link_expect_log(test, "add kw0 name0 speed0 port0 wires0");
	link_lose(t, 0);
	link_lose(t, 1);
}

static void test_personality(struct kunit *test)
{
	const struct kwarp_personality *p = (void *)test;
	struct link_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, kwarp_link_add("kw0", t->netdev[0], link_test_ops, p), 0);
	link_expect_log(test, "personality add kw0 name0 speed0 port0 wires0");
	link_lose(t, 0);
}

static void test_add_fails(struct kunit *test)
{
	struct link_test *t = test->priv;

	t->add = -ENOMEM;
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[0]), -ENOMEM);
	link_expect_log(test, "add kw0");
	/* The core returns ENFILE for a name in use; the administrator gets EEXIST. */
	t->add = -ENFILE;
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[0]), -EEXIST);
	link_expect_log(test, "add kw0");
}

static void test_add_too_late(struct kunit *test)
{
	struct link_test *t = test->priv;

	t->netdev[0]->reg_state = NETREG_UNREGISTERING;
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[0]), -ENODEV);
	t->netdev[0]->reg_state = NETREG_REGISTERED;
	refcount_set(&t->elsewhere->ns.count, 0);
	dev_net_set(t->netdev[0], t->elsewhere);
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[0]), -ENODEV);
	link_expect_log(test, "");
}

static void leave(struct link_test *t)
{
	t->netdev[0]->reg_state = NETREG_UNREGISTERING;
}

static void move(struct link_test *t)
{
	dev_net_set(t->netdev[0], t->elsewhere);
}

/* Another task deletes the link, like `rdma link delete`. */
static void end_link(struct link_test *t)
{
	link_lose(t, 0);
}

/*
 * The netdev is removed, or moved to another namespace, while kwarp_link_add() runs: the notifier
 * may have missed that, so kwarp_link_add() must end the link ("end0").  In the last row another
 * task has ended the link already.  @during: called before the notifier can find the device;
 * @after: called later, before kwarp_link_add() checks the netdev.
 */
static const struct missed {
	const char *desc;
	void (*during)(struct link_test *t);
	void (*after)(struct link_test *t);
	const char *log;
} missed[] = {
	{ "unregistered", leave, NULL, "add kw0 end0" },
	{ "moved", move, NULL, "add kw0 end0" },
	{ "unregistered when it is there", NULL, leave, "add kw0 end0" },
	{ "link deleted", NULL, end_link, "add kw0" },
};

KUNIT_ARRAY_PARAM_DESC(missed, missed, desc);

static void test_missed(struct kunit *test)
{
	const struct missed *c = test->param_value;
	struct link_test *t = test->priv;

	t->during_add = c->during;
	t->after_add = c->after;
	KUNIT_EXPECT_EQ(test, link_test_ops->newlink("kw0", t->netdev[0]), -ENODEV);
	link_expect_log(test, c->log);
}

/*
 * `rdma link delete` calls kwarp_cm_retire() ("retire1"), which ends listeners and connections that
 * are being set up, before the core asks users to leave.
 */
static void test_dellink(struct kunit *test)
{
	struct link_test *t = test->priv;

	link_have(t, 1);
	link_have(t, 2);
	KUNIT_EXPECT_EQ(test, link_test_dellink(&t->kdev[1]->ibdev), 0);
	link_expect_log(test, "retire1");
	link_lose(t, 1);
	link_lose(t, 2);
}

/* ------------------------------------------------------------- module init and exit */

static const struct start {
	const char *desc;
	int pernet;
	int notifier;
	int inet;
	int inet6;
	const char *log;
} starts[] = {
	{ "all well", 0, 0, 0, 0, "+pernet +notifier +inet +inet6 +link" },
	{ "no pernet", -ENOMEM, 0, 0, 0, "+pernet" },
	{ "no notifier", 0, -EBUSY, 0, 0, "+pernet +notifier -pernet" },
	{ "no inet", 0, 0, -EEXIST, 0, "+pernet +notifier +inet -notifier -pernet" },
	{ "no inet6", 0, 0, 0, -EEXIST, "+pernet +notifier +inet +inet6 -inet -notifier -pernet" },
};

KUNIT_ARRAY_PARAM_DESC(start, starts, desc);

/* Link types are registered after all notifiers; if one step fails, all earlier ones are undone. */
static void test_start(struct kunit *test)
{
	const struct start *c = test->param_value;
	struct link_test *t = test->priv;

	t->pernet = c->pernet;
	t->notifier = c->notifier;
	t->inet = c->inet;
	t->inet6 = c->inet6;
	KUNIT_EXPECT_EQ(test, kwarp_link_register(),
			c->pernet ?: c->notifier ?: c->inet ?: c->inet6);
	link_expect_log(test, c->log);
	KUNIT_EXPECT_STREQ(test, link_test_ops->type, "kwarp");
}

/* The notifiers are unregistered after the last device has gone. */
static void test_stop(struct kunit *test)
{
	struct link_test *t = test->priv;

	kwarp_link_unregister();
	link_expect_log(test, "-link -driver -inet6 -inet -notifier -pernet");
	t->kdev[1]->net = t->elsewhere;
	link_have(t, 1);
	kwarp_link_unregister();
	link_expect_log(test, "-link retire1 end1 -driver -inet6 -inet -notifier -pernet");
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE_PARAM(test_type, type_gen_params),
	KUNIT_CASE(test_second_link),
	KUNIT_CASE(test_personality),
	KUNIT_CASE(test_add_fails),
	KUNIT_CASE(test_add_too_late),
	KUNIT_CASE_PARAM(test_missed, missed_gen_params),
	KUNIT_CASE(test_dellink),
	KUNIT_CASE_PARAM(test_start, start_gen_params),
	KUNIT_CASE(test_stop),
	{}
};

static struct kunit_suite link_suite = {
	.name = "kwarp_link",
	.init = link_test_init,
	.exit = link_test_exit,
	.test_cases = link_cases,
};

kunit_test_suite(link_suite);
