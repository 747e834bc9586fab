// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of what happens to a link when its netdev changes, and when its namespace ends.
 *
 * A device whose reference count is 0 is being unregistered by another task.
 */
#include "link_fixture.h"

#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/if_inet6.h>

static const struct event {
	const char *desc;
	unsigned long event;
	const char *log;
} events[] = {
	{ "UP", NETDEV_UP, "port1" },
	{ "DOWN", NETDEV_DOWN, "port1" },
	{ "CHANGE", NETDEV_CHANGE, "port1" },
	{ "CHANGEADDR", NETDEV_CHANGEADDR, "gid1" },
	{ "CHANGENAME", NETDEV_CHANGENAME, "name1" },
	/*
	 * Connections are stopped before the device is unregistered; otherwise users of the device
	 * would wait for their peers.
	 */
	{ "UNREGISTER", NETDEV_UNREGISTER, "stop1 queue1" },
	{ "GOING_DOWN", NETDEV_GOING_DOWN, "" },
	{ "PRE_UP", NETDEV_PRE_UP, "" },
	{ "REGISTER", NETDEV_REGISTER, "" },
	{ "REBOOT", NETDEV_REBOOT, "" },
	{ "CHANGEMTU", NETDEV_CHANGEMTU, "" },
	{ "PRE_CHANGEADDR", NETDEV_PRE_CHANGEADDR, "" },
	{ "FEAT_CHANGE", NETDEV_FEAT_CHANGE, "" },
	{ "CHANGEUPPER", NETDEV_CHANGEUPPER, "" },
};

KUNIT_ARRAY_PARAM_DESC(event, events, desc);

static int happen(struct net_device *netdev, unsigned long event)
{
	struct netdev_notifier_info info = { .dev = netdev };
	int ret;

	rtnl_lock();
	ret = link_netdev_nb->notifier_call(link_netdev_nb, event, &info);
	rtnl_unlock();
	return ret;
}

static void test_event(struct kunit *test)
{
	const struct event *c = test->param_value;
	struct link_test *t = test->priv;

	link_have(t, 1);
	link_have(t, 2);
	KUNIT_EXPECT_EQ(test, happen(t->netdev[1], c->event), NOTIFY_OK);
	link_expect_log(test, c->log);
	link_lose(t, 1);
	link_lose(t, 2);
}

static void test_event_without_link(struct kunit *test)
{
	const struct event *c = test->param_value;
	struct link_test *t = test->priv;

	link_have(t, 2);
	KUNIT_EXPECT_EQ(test, happen(t->netdev[1], c->event), NOTIFY_DONE);
	link_expect_log(test, "");
	link_lose(t, 2);
}

/* --------------------------------------------------------------- end of a namespace */

static void test_in_net(struct kunit *test)
{
	struct link_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_NULL(test, kwarp_device_get_next(t->net, 0));
	link_have(t, 0);
	t->kdev[1]->net = t->elsewhere;
	link_have(t, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->elsewhere));
	KUNIT_EXPECT_PTR_EQ(test, kwarp_device_get_next(t->net, 0), &t->kdev[0]->ibdev);
	KUNIT_EXPECT_EQ(test, refcount_read(&t->kdev[0]->ibdev.refcount), 2);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_device_get_next(t->elsewhere, 0), &t->kdev[1]->ibdev);
	ib_device_put(&t->kdev[0]->ibdev);
	ib_device_put(&t->kdev[1]->ibdev);
	/* The netdev has moved, but the device still counts for the namespace of its sockets. */
	dev_net_set(t->netdev[0], t->elsewhere);
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->net));
	link_lose(t, 0);
	KUNIT_EXPECT_FALSE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->elsewhere));
	link_lose(t, 1);
}

/* The namespace counts as in use, but kwarp_device_get_next() does not return the device. */
static void test_in_net_unregistering(struct kunit *test)
{
	struct link_test *t = test->priv;

	link_have(t, 1);
	refcount_set(&t->kdev[1]->ibdev.refcount, 0);
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_NULL(test, kwarp_device_get_next(t->net, 0));
	link_have(t, 0);
	link_have(t, 2);
	refcount_set(&t->kdev[2]->ibdev.refcount, 0);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_device_get_next(t->net, 0), &t->kdev[0]->ibdev);
	ib_device_put(&t->kdev[0]->ibdev);
	link_lose(t, 0);
	link_lose(t, 1);
	link_lose(t, 2);
}

static void test_net_exit(struct kunit *test)
{
	struct link_test *t = test->priv;

	link_net_ops->pre_exit(t->net);
	link_expect_log(test, "");
	link_have(t, 0);
	t->kdev[1]->net = t->elsewhere;
	link_have(t, 1);
	link_have(t, 2);
	link_net_ops->pre_exit(t->net);
	link_expect_log(test, "stop0 end0 stop2 end2");
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->elsewhere));
	link_lose(t, 1);
}

/* The end of a namespace waits for a device that another task (here t->late) unregisters. */
static void test_net_exit_waits(struct kunit *test)
{
	struct link_test *t = test->priv;

	link_have(t, 0);
	link_have(t, LINKS - 1);
	refcount_set(&t->kdev[LINKS - 1]->ibdev.refcount, 0);
	queue_delayed_work(system_wq, &t->late, HZ / 20);
	link_net_ops->pre_exit(t->net);
	link_expect_log(test, "stop0 end0");
	KUNIT_EXPECT_FALSE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->late));
}

/* A change of an address has no effect while the netdev has no link. */
static void test_address(struct kunit *test)
{
	struct link_test *t = test->priv;
	struct inet6_dev *in6_dev = kunit_kzalloc(test, sizeof(*in6_dev), GFP_KERNEL);
	struct in_device *in_dev = kunit_kzalloc(test, sizeof(*in_dev), GFP_KERNEL);
	struct inet6_ifaddr ifa6 = { .idev = in6_dev };
	struct in_ifaddr ifa = { .ifa_dev = in_dev };

	KUNIT_ASSERT_NOT_NULL(test, in6_dev);
	KUNIT_ASSERT_NOT_NULL(test, in_dev);
	in6_dev->dev = t->netdev[1];
	in_dev->dev = t->netdev[1];
	link_inet_nb->notifier_call(link_inet_nb, NETDEV_UP, &ifa);
	link_inet6_nb->notifier_call(link_inet6_nb, NETDEV_UP, &ifa6);
	link_expect_log(test, "");
	link_have(t, 1);
	link_inet_nb->notifier_call(link_inet_nb, NETDEV_UP, &ifa);
	link_inet6_nb->notifier_call(link_inet6_nb, NETDEV_DOWN, &ifa6);
	link_expect_log(test, "address1 address1");
	KUNIT_EXPECT_EQ(test, refcount_read(&t->kdev[1]->ibdev.refcount), 1);
	link_lose(t, 1);
}

static struct kunit_case link_event_cases[] = {
	KUNIT_CASE_PARAM(test_event, event_gen_params),
	KUNIT_CASE_PARAM(test_event_without_link, event_gen_params),
	KUNIT_CASE(test_in_net),
	KUNIT_CASE(test_in_net_unregistering),
	KUNIT_CASE(test_net_exit),
	KUNIT_CASE(test_net_exit_waits),
	KUNIT_CASE(test_address),
	{}
};

static struct kunit_suite link_event_suite = {
	.name = "kwarp_link_event",
	.init = link_test_init,
	.exit = link_test_exit,
	.test_cases = link_event_cases,
};

kunit_test_suite(link_event_suite);
