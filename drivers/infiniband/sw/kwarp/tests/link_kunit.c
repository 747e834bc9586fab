// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of links: which netdev may have one, and what happens to a link when its netdev changes,
 * leaves or moves, and when its namespace ends. The code under test is included; the RDMA core,
 * devices and connection management are fakes, which note their calls as words in a log.
 */
#include <kunit/test.h>

#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/kwarp-abi.h>

static struct ib_device *note_find(const struct net_device *netdev);
static void note_put(struct ib_device *ibdev);
static void note_unregister(struct ib_device *ibdev);
static void note_unregister_queued(struct ib_device *ibdev);
static void note_unregister_driver(enum rdma_driver_id id);
static int note_pernet(struct pernet_operations *ops);
static void note_no_pernet(struct pernet_operations *ops);
static int note_notifier(struct notifier_block *nb);
static int note_no_notifier(struct notifier_block *nb);
static int note_inet(struct notifier_block *nb);
static int note_no_inet(struct notifier_block *nb);
static int note_inet6(struct notifier_block *nb);
static int note_no_inet6(struct notifier_block *nb);
static void note_link(struct rdma_link_ops *ops);
static void note_no_link(struct rdma_link_ops *ops);

#define ib_device_put			note_put
#define ib_unregister_device_and_put	note_unregister
#define ib_unregister_device_queued	note_unregister_queued
#define ib_unregister_driver		note_unregister_driver
#define register_pernet_subsys		note_pernet
#define unregister_pernet_subsys	note_no_pernet
#define register_netdevice_notifier	note_notifier
#define unregister_netdevice_notifier	note_no_notifier
#define register_inetaddr_notifier	note_inet
#define unregister_inetaddr_notifier	note_no_inet
#define register_inet6addr_notifier	note_inet6
#define unregister_inet6addr_notifier	note_no_inet6
#define rdma_link_register		note_link
#define rdma_link_unregister		note_no_link
#define kwarp_cm_begin_stop		link_cm_begin_stop
#define kwarp_cm_retire			link_cm_retire
#define kwarp_device_add		link_device_add
#define kwarp_device_update_speed	link_device_update_speed
#define kwarp_device_port_event		link_device_port_event
#define kwarp_device_gid_event		link_device_gid_event
#define kwarp_device_address_event	link_device_address_event
#define kwarp_device_renamed		link_device_renamed
#include "../device_list.c"
/* The test decides whether a device is found by its netdev. */
#define kwarp_device_get_by_netdev	note_find
#include "../link.c"
#undef kwarp_device_get_by_netdev

#define LINKS	3
#define LOG_LEN	200

/**
 * struct link_test - netdevs, links on them, and results of the fakes
 * @kdev: devices; number 0 is the one that kwarp_device_add() makes
 * @there: the device is found by its netdev
 * @netdev: network devices, one for each device
 * @net: network namespace of the netdevs
 * @elsewhere: another namespace
 * @log: calls of the fakes, as words; each word ends with the number of the device
 * @add: result of kwarp_device_add()
 * @during_add: called in kwarp_device_add(), while the notifier does not find the device
 * @after_add: called when the notifier finds the device, before add_link() checks the netdev
 * @pernet: result of register_pernet_subsys()
 * @notifier: result of register_netdevice_notifier()
 * @inet: result of register_inetaddr_notifier()
 * @inet6: result of register_inet6addr_notifier()
 * @late: removes the last device from the list, like another task that unregisters it
 */
struct link_test {
	struct kwarp_dev *kdev[LINKS];
	bool there[LINKS];
	struct net_device *netdev[LINKS];
	struct net *net;
	struct net *elsewhere;
	char log[LOG_LEN];
	int add;
	void (*during_add)(struct link_test *t);
	void (*after_add)(struct link_test *t);
	int pernet;
	int notifier;
	int inet;
	int inet6;
	struct delayed_work late;
};

static struct link_test *the_test;

static void say(const char *word)
{
	if (the_test->log[0])
		strlcat(the_test->log, " ", LOG_LEN);
	strlcat(the_test->log, word, LOG_LEN);
}

static u32 number_of(const struct kwarp_dev *kdev)
{
	u32 i;

	for (i = 0; i < LINKS && the_test->kdev[i] != kdev; i++)
		;
	return i;
}

static void say_of(const char *word, const struct kwarp_dev *kdev)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%u", word, number_of(kdev));
	say(text);
}

/* The calls that were logged since the last expect_log() are @want. */
static void expect_log(struct kunit *test, const char *want)
{
	struct link_test *t = test->priv;

	KUNIT_EXPECT_STREQ(test, t->log, want);
	t->log[0] = 0;
}

/* Does this task hold RTNL? rtnl_is_locked() is also true if another task does. */
static bool holds_rtnl(void)
{
	return rtnl_is_locked() && lockdep_rtnl_is_held();
}

/* ------------------------------------------------------------- the RDMA core */

static struct ib_device *note_find(const struct net_device *netdev)
{
	u32 i;

	for (i = 0; i < LINKS; i++) {
		if (the_test->there[i] && the_test->kdev[i]->netdev == netdev) {
			refcount_inc(&the_test->kdev[i]->ibdev.refcount);
			return &the_test->kdev[i]->ibdev;
		}
	}
	return NULL;
}

static void note_put(struct ib_device *ibdev)
{
	refcount_dec(&ibdev->refcount);
}

/* A fake: the real function waits for references, and calls dealloc_driver(). */
static void note_unregister(struct ib_device *ibdev)
{
	if (holds_rtnl())
		say("RTNL");
	say_of("end", to_kdev(ibdev));
	the_test->there[number_of(to_kdev(ibdev))] = false;
	note_put(ibdev);
	kwarp_device_untrack(to_kdev(ibdev));
}

static void note_unregister_queued(struct ib_device *ibdev)
{
	say_of("queue", to_kdev(ibdev));
}

static void note_unregister_driver(enum rdma_driver_id id)
{
	say(id == (enum rdma_driver_id)KWARP_DRIVER_ID ? "-driver" : "another driver");
}

static int note_pernet(struct pernet_operations *ops)
{
	say("+pernet");
	return the_test->pernet;
}

static void note_no_pernet(struct pernet_operations *ops)
{
	say("-pernet");
}

static int note_notifier(struct notifier_block *nb)
{
	say("+notifier");
	return the_test->notifier;
}

static int note_no_notifier(struct notifier_block *nb)
{
	say("-notifier");
	return 0;
}

static int note_inet(struct notifier_block *nb)
{
	say("+inet");
	return the_test->inet;
}

static int note_no_inet(struct notifier_block *nb)
{
	say("-inet");
	return 0;
}

static int note_inet6(struct notifier_block *nb)
{
	say("+inet6");
	return the_test->inet6;
}

static int note_no_inet6(struct notifier_block *nb)
{
	say("-inet6");
	return 0;
}

static void note_link(struct rdma_link_ops *ops)
{
	say(ops == &siw_link_ops ? "+siw" : "+link");
}

static void note_no_link(struct rdma_link_ops *ops)
{
	say(ops == &siw_link_ops ? "-siw" : "-link");
}

/* ----------------------------------------------------------- our own stand-ins */

void kwarp_cm_begin_stop(struct kwarp_dev *kdev)
{
	say_of("stop", kdev);
}

void kwarp_cm_retire(struct kwarp_dev *kdev)
{
	say_of("retire", kdev);
}

/* Note a call that must be made with RTNL held. */
static void say_locked(const char *word, const struct kwarp_dev *kdev)
{
	if (!rtnl_is_locked())
		say("unlocked");
	say_of(word, kdev);
}

void kwarp_device_update_speed(struct kwarp_dev *kdev)
{
	say_locked("speed", kdev);
}

void kwarp_device_port_event(struct kwarp_dev *kdev)
{
	say_locked("port", kdev);
}

void kwarp_device_gid_event(struct kwarp_dev *kdev)
{
	say_locked("gid", kdev);
}

void kwarp_device_address_event(struct kwarp_dev *kdev)
{
	say_of("address", kdev);
}

void kwarp_device_renamed(struct kwarp_dev *kdev)
{
	say_locked("name", kdev);
}

int kwarp_device_add(const char *name, struct net_device *netdev, struct net *net,
		     struct rdma_link_ops *ops, bool siw)
{
	struct link_test *t = the_test;

	if (ops != (siw ? &siw_link_ops : &link_ops))
		say("no link_ops");
	if (siw)
		say("siw");
	if (holds_rtnl())
		say("RTNL");
	say("add");
	say(name);
	if (t->add)
		return t->add;
	t->kdev[0]->netdev = netdev;
	t->kdev[0]->net = net;
	t->kdev[0]->adder = current;
	if (t->during_add)
		t->during_add(t);
	kwarp_device_track(t->kdev[0]);
	t->there[0] = true;
	if (t->after_add)
		t->after_add(t);
	return 0;
}

/* ------------------------------------------------------------------ fixture */

static struct net *make_net(struct kunit *test)
{
	struct net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, net);
	refcount_set(&net->ns.count, 1);
	return net;
}

static void take_off(struct work_struct *work)
{
	kwarp_device_untrack(the_test->kdev[LINKS - 1]);
}

static int link_test_init(struct kunit *test)
{
	struct link_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	t->net = make_net(test);
	t->elsewhere = make_net(test);
	INIT_DELAYED_WORK(&t->late, take_off);
	for (i = 0; i < LINKS; i++) {
		t->kdev[i] = kunit_kzalloc(test, sizeof(*t->kdev[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, t->kdev[i]);
		t->netdev[i] = kunit_kzalloc(test, sizeof(*t->netdev[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, t->netdev[i]);
		t->netdev[i]->type = ARPHRD_ETHER;
		t->netdev[i]->reg_state = NETREG_REGISTERED;
		dev_net_set(t->netdev[i], t->net);
		t->kdev[i]->net = t->net;
		refcount_set(&t->kdev[i]->ibdev.refcount, 1);
	}
	test->priv = t;
	return 0;
}

/* At the end of each case no reference is left, and no device is in the list. */
static void link_test_exit(struct kunit *test)
{
	struct link_test *t = test->priv;
	u32 i;

	if (!t)
		return;
	cancel_delayed_work_sync(&t->late);
	for (i = 0; i < LINKS; i++)
		if (refcount_read(&t->kdev[i]->ibdev.refcount))
			KUNIT_EXPECT_EQ_MSG(test, refcount_read(&t->kdev[i]->ibdev.refcount), 1,
					    "device %u", i);
	KUNIT_EXPECT_EQ(test, refcount_read(&t->net->ns.count), 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&devices));
	INIT_LIST_HEAD(&devices);
}

/* Make link number @i on its netdev. */
static void have(struct link_test *t, u32 i)
{
	t->kdev[i]->netdev = t->netdev[i];
	t->there[i] = true;
	kwarp_device_track(t->kdev[i]);
}

/* Remove link number @i. */
static void lose(struct link_test *t, u32 i)
{
	t->there[i] = false;
	kwarp_device_untrack(t->kdev[i]);
}

/* ------------------------------------------------------------ what a netdev does */

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
	/* Connections are stopped first; otherwise users would wait for their peers. */
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
	ret = netdev_nb.notifier_call(&netdev_nb, event, &info);
	rtnl_unlock();
	return ret;
}

/* An event reaches the link on this netdev, not the link on another. */
static void test_event(struct kunit *test)
{
	const struct event *c = test->param_value;
	struct link_test *t = test->priv;

	have(t, 1);
	have(t, 2);
	KUNIT_EXPECT_EQ(test, happen(t->netdev[1], c->event), NOTIFY_OK);
	expect_log(test, c->log);
	lose(t, 1);
	lose(t, 2);
}

static void test_event_without_link(struct kunit *test)
{
	const struct event *c = test->param_value;
	struct link_test *t = test->priv;

	have(t, 2);
	KUNIT_EXPECT_EQ(test, happen(t->netdev[1], c->event), NOTIFY_DONE);
	expect_log(test, "");
	lose(t, 2);
}

/* ------------------------------------------------------------------ link add */

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
	KUNIT_EXPECT_EQ(test, link_ops.newlink("kw0", t->netdev[0]),
			c->supported ? 0 : -EOPNOTSUPP);
	/* add_link() itself updates name, speed and port after the registration. */
	expect_log(test, c->supported ? "add kw0 name0 speed0 port0" : "");
	KUNIT_EXPECT_NULL(test, t->kdev[0]->adder);
	if (c->supported)
		lose(t, 0);
}

static void test_second_link(struct kunit *test)
{
	struct link_test *t = test->priv;

	have(t, 1);
	KUNIT_EXPECT_EQ(test, kwarp_newlink("kw0", t->netdev[1]), -EEXIST);
	expect_log(test, "");
	KUNIT_EXPECT_EQ(test, kwarp_newlink("kw0", t->netdev[0]), 0);
	expect_log(test, "add kw0 name0 speed0 port0");
	lose(t, 0);
	lose(t, 1);
}

static void test_add_fails(struct kunit *test)
{
	struct link_test *t = test->priv;

	t->add = -ENOMEM;
	KUNIT_EXPECT_EQ(test, kwarp_newlink("kw0", t->netdev[0]), -ENOMEM);
	expect_log(test, "add kw0");
	/* The core returns ENFILE for a name in use; the administrator gets EEXIST. */
	t->add = -ENFILE;
	KUNIT_EXPECT_EQ(test, kwarp_newlink("kw0", t->netdev[0]), -EEXIST);
	expect_log(test, "add kw0");
}

/* The netdev or its namespace is ending: no device is made. */
static void test_add_too_late(struct kunit *test)
{
	struct link_test *t = test->priv;

	t->netdev[0]->reg_state = NETREG_UNREGISTERING;
	KUNIT_EXPECT_EQ(test, kwarp_newlink("kw0", t->netdev[0]), -ENODEV);
	t->netdev[0]->reg_state = NETREG_REGISTERED;
	refcount_set(&t->elsewhere->ns.count, 0);
	dev_net_set(t->netdev[0], t->elsewhere);
	KUNIT_EXPECT_EQ(test, kwarp_newlink("kw0", t->netdev[0]), -ENODEV);
	expect_log(test, "");
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
	lose(t, 0);
}

/* The netdev is removed or moved before the notifier finds the device: the link must end. */
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
	KUNIT_EXPECT_EQ(test, kwarp_newlink("kw0", t->netdev[0]), -ENODEV);
	expect_log(test, c->log);
}

/* dellink retires connection management before the core asks users to leave. */
static void test_dellink(struct kunit *test)
{
	struct link_test *t = test->priv;

	have(t, 1);
	have(t, 2);
	KUNIT_EXPECT_EQ(test, kwarp_dellink(&t->kdev[1]->ibdev), 0);
	expect_log(test, "retire1");
	lose(t, 1);
	lose(t, 2);
}

/* --------------------------------------------------------------- end of a namespace */

static void test_in_net(struct kunit *test)
{
	struct link_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_NULL(test, kwarp_device_get_in_net(t->net));
	have(t, 0);
	t->kdev[1]->net = t->elsewhere;
	have(t, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->elsewhere));
	KUNIT_EXPECT_PTR_EQ(test, kwarp_device_get_in_net(t->net), &t->kdev[0]->ibdev);
	KUNIT_EXPECT_EQ(test, refcount_read(&t->kdev[0]->ibdev.refcount), 2);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_device_get_in_net(t->elsewhere), &t->kdev[1]->ibdev);
	note_put(&t->kdev[0]->ibdev);
	note_put(&t->kdev[1]->ibdev);
	/* The netdev has moved; the namespace of the sockets counts. */
	dev_net_set(t->netdev[0], t->elsewhere);
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->net));
	lose(t, 0);
	KUNIT_EXPECT_FALSE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->elsewhere));
	lose(t, 1);
}

/* A device that another task unregisters: the namespace is in use, but it is not returned. */
static void test_in_net_unregistering(struct kunit *test)
{
	struct link_test *t = test->priv;

	have(t, 1);
	refcount_set(&t->kdev[1]->ibdev.refcount, 0);
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_NULL(test, kwarp_device_get_in_net(t->net));
	have(t, 0);
	have(t, 2);
	refcount_set(&t->kdev[2]->ibdev.refcount, 0);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_device_get_in_net(t->net), &t->kdev[0]->ibdev);
	note_put(&t->kdev[0]->ibdev);
	lose(t, 0);
	lose(t, 1);
	lose(t, 2);
}

/* All devices of this namespace are stopped and unregistered, and no others. */
static void test_net_exit(struct kunit *test)
{
	struct link_test *t = test->priv;

	net_ops.pre_exit(t->net);
	expect_log(test, "");
	have(t, 0);
	t->kdev[1]->net = t->elsewhere;
	have(t, 1);
	have(t, 2);
	net_ops.pre_exit(t->net);
	expect_log(test, "stop2 end2 stop0 end0");
	KUNIT_EXPECT_TRUE(test, kwarp_net_in_use(t->elsewhere));
	lose(t, 1);
}

/* The end of a namespace waits for a device that another task unregisters. */
static void test_net_exit_waits(struct kunit *test)
{
	struct link_test *t = test->priv;

	have(t, 0);
	have(t, LINKS - 1);
	refcount_set(&t->kdev[LINKS - 1]->ibdev.refcount, 0);
	queue_delayed_work(system_wq, &t->late, HZ / 20);
	net_ops.pre_exit(t->net);
	expect_log(test, "stop0 end0");
	KUNIT_EXPECT_FALSE(test, kwarp_net_in_use(t->net));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->late));
}

/* IPv4 and IPv6 addresses of a netdev with a link, and of one without. */
static void test_address(struct kunit *test)
{
	struct link_test *t = test->priv;
	struct inet6_dev in6_dev = { .dev = t->netdev[1] };
	struct in_device in_dev = { .dev = t->netdev[1] };
	struct inet6_ifaddr ifa6 = { .idev = &in6_dev };
	struct in_ifaddr ifa = { .ifa_dev = &in_dev };

	inet_nb.notifier_call(&inet_nb, NETDEV_UP, &ifa);
	inet6_nb.notifier_call(&inet6_nb, NETDEV_UP, &ifa6);
	expect_log(test, "");
	have(t, 1);
	inet_nb.notifier_call(&inet_nb, NETDEV_UP, &ifa);
	inet6_nb.notifier_call(&inet6_nb, NETDEV_DOWN, &ifa6);
	expect_log(test, "address1 address1");
	KUNIT_EXPECT_EQ(test, refcount_read(&t->kdev[1]->ibdev.refcount), 1);
	lose(t, 1);
}

/* ------------------------------------------------------------- begin and end */

static const struct start {
	const char *desc;
	int pernet;
	int notifier;
	int inet;
	int inet6;
	const char *log;
} starts[] = {
	{ "all well", 0, 0, 0, 0, "+pernet +notifier +inet +inet6 +link +siw" },
	{ "no pernet", -ENOMEM, 0, 0, 0, "+pernet" },
	{ "no notifier", 0, -EBUSY, 0, 0, "+pernet +notifier -pernet" },
	{ "no inet", 0, 0, -EEXIST, 0, "+pernet +notifier +inet -notifier -pernet" },
	{ "no inet6", 0, 0, 0, -EEXIST, "+pernet +notifier +inet +inet6 -inet -notifier -pernet" },
};

KUNIT_ARRAY_PARAM_DESC(start, starts, desc);

/* Link types are registered after all notifiers; a failure undoes all steps. */
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
	expect_log(test, c->log);
	KUNIT_EXPECT_STREQ(test, link_ops.type, "kwarp");
}

/* The notifiers are unregistered after the last device has gone. */
static void test_stop(struct kunit *test)
{
	struct link_test *t = test->priv;

	kwarp_link_unregister();
	expect_log(test, "-siw -link -driver -inet6 -inet -notifier -pernet");
	/* In any namespace. */
	t->kdev[1]->net = t->elsewhere;
	have(t, 1);
	kwarp_link_unregister();
	expect_log(test, "-siw -link retire1 end1 -driver -inet6 -inet -notifier -pernet");
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE_PARAM(test_event, event_gen_params),
	KUNIT_CASE_PARAM(test_event_without_link, event_gen_params),
	KUNIT_CASE_PARAM(test_type, type_gen_params),
	KUNIT_CASE(test_second_link),
	KUNIT_CASE(test_add_fails),
	KUNIT_CASE(test_add_too_late),
	KUNIT_CASE_PARAM(test_missed, missed_gen_params),
	KUNIT_CASE(test_dellink),
	KUNIT_CASE(test_in_net),
	KUNIT_CASE(test_in_net_unregistering),
	KUNIT_CASE(test_net_exit),
	KUNIT_CASE(test_net_exit_waits),
	KUNIT_CASE(test_address),
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
