// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of links. The code under test, link.c and device_list.c, is included. */
#include "link_fixture.h"

#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/kwarp-abi.h>

static struct ib_device *note_find(const struct net_device *netdev);
static int note_pernet(struct pernet_operations *ops);
static void note_no_pernet(struct pernet_operations *ops);
static int note_notifier(struct notifier_block *nb);
static int note_no_notifier(struct notifier_block *nb);
static int note_inet(struct notifier_block *nb);
static int note_no_inet(struct notifier_block *nb);
static int note_inet6(struct notifier_block *nb);
static int note_no_inet6(struct notifier_block *nb);

#define register_pernet_subsys		note_pernet
#define unregister_pernet_subsys	note_no_pernet
#define register_netdevice_notifier	note_notifier
#define unregister_netdevice_notifier	note_no_notifier
#define register_inetaddr_notifier	note_inet
#define unregister_inetaddr_notifier	note_no_inet
#define register_inet6addr_notifier	note_inet6
#define unregister_inet6addr_notifier	note_no_inet6
#define kwarp_cm_begin_stop		link_cm_begin_stop
#define kwarp_cm_retire			link_cm_retire
#define kwarp_cm_wire_begin		link_cm_wire_begin
#include "../device_list.c"
/* In link.c only: a device is found by its netdev if the test has set struct link_test.there. */
#define kwarp_device_get_by_netdev	note_find
#include "../link.c"
#undef kwarp_device_get_by_netdev

struct rdma_link_ops *const link_test_ops = &link_ops;
struct notifier_block *const link_netdev_nb = &netdev_nb;
struct notifier_block *const link_inet_nb = &inet_nb;
struct notifier_block *const link_inet6_nb = &inet6_nb;
struct pernet_operations *const link_net_ops = &net_ops;

int link_test_dellink(struct ib_device *ibdev)
{
	return kwarp_dellink(ibdev);
}

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

void link_expect_log(struct kunit *test, const char *want)
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

void ib_device_put(struct ib_device *ibdev)
{
	refcount_dec(&ibdev->refcount);
}

/*
 * The real function waits until all references are dropped,
 * so it must not be called with RTNL held: that adds the word "RTNL" to the log.
 */
void ib_unregister_device_and_put(struct ib_device *ibdev)
{
	if (holds_rtnl())
		say("RTNL");
	say_of("end", to_kdev(ibdev));
	the_test->there[number_of(to_kdev(ibdev))] = false;
	ib_device_put(ibdev);
	kwarp_device_untrack(to_kdev(ibdev));
}

void ib_unregister_device_queued(struct ib_device *ibdev)
{
	say_of("queue", to_kdev(ibdev));
}

void ib_unregister_driver(enum rdma_driver_id id)
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

void rdma_link_register(struct rdma_link_ops *ops)
{
	say("+link");
}

void rdma_link_unregister(struct rdma_link_ops *ops)
{
	say("-link");
}

/* ---------------------------------------------------- fakes of other files of kwarp */

void kwarp_cm_begin_stop(struct kwarp_dev *kdev)
{
	say_of("stop", kdev);
}

/* Takes the locks of TCP, so not with RTNL. */
void kwarp_cm_wire_begin(struct kwarp_dev *kdev)
{
	say_of(holds_rtnl() ? "RTNL" : "wires", kdev);
}

void kwarp_cm_retire(struct kwarp_dev *kdev)
{
	say_of("retire", kdev);
}

/* Log a call that must be made with RTNL held; without RTNL log the word "unlocked" before it. */
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
		     struct rdma_link_ops *ops, const struct kwarp_personality *personality)
{
	struct link_test *t = the_test;

	if (ops != &link_ops)
		say("no link_ops");
	if (personality)
		say("personality");
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

int link_test_init(struct kunit *test)
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

void link_test_exit(struct kunit *test)
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

void link_have(struct link_test *t, u32 i)
{
	t->kdev[i]->netdev = t->netdev[i];
	t->there[i] = true;
	kwarp_device_track(t->kdev[i]);
}

void link_lose(struct link_test *t, u32 i)
{
	t->there[i] = false;
	kwarp_device_untrack(t->kdev[i]);
}
