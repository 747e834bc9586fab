/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Netdevs, links on them, and fakes for the RDMA core, devices and connection management. The fakes
 * note their calls as words in a log.
 */
#ifndef KWARP_TESTS_LINK_FIXTURE_H
#define KWARP_TESTS_LINK_FIXTURE_H

#include <kunit/test.h>

#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <rdma/rdma_netlink.h>

#include "../device_list.h"
#include "../kwarp.h"
#include "../link.h"

#define LINKS	3
#define LOG_LEN	200

/*
 * @kdev: devices; number 0 is the one that kwarp_device_add() makes
 * @there: the device is found by its netdev
 * @log: calls of the fakes, as words; a call for a device ends with the device's number
 * @during_add: called in kwarp_device_add(), while the notifier does not find the device
 * @after_add: called when the notifier finds the device, before kwarp_link_add() checks the netdev
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

extern struct rdma_link_ops *const link_test_ops;
extern struct notifier_block *const link_netdev_nb, *const link_inet_nb, *const link_inet6_nb;
extern struct pernet_operations *const link_net_ops;

/* Calls kwarp_dellink() of link.c: link_test_ops has no "dellink" on some kernels. */
int link_test_dellink(struct ib_device *ibdev);

int link_test_init(struct kunit *test);
void link_test_exit(struct kunit *test);
void link_expect_log(struct kunit *test, const char *want);
void link_have(struct link_test *t, u32 i);
void link_lose(struct link_test *t, u32 i);

#endif /* KWARP_TESTS_LINK_FIXTURE_H */
