// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * List of devices that may have sockets: from before registration until all sockets are gone
 * (dealloc_driver() in device.c).  The RDMA core's own table cannot be used for that: a device is
 * removed from it at the beginning of unregistration.
 *
 * Context of all functions here, except kwarp_device_get_by_netdev(): process.
 */
#include "device_list.h"

#include <net/net_namespace.h>

#include "kwarp.h"

static DEFINE_SPINLOCK(devices_lock);
static LIST_HEAD(devices);
static DECLARE_WAIT_QUEUE_HEAD(device_left);

void kwarp_device_track(struct kwarp_dev *kdev)
{
	spin_lock_bh(&devices_lock);
	list_add(&kdev->node, &devices);
	spin_unlock_bh(&devices_lock);
}

void kwarp_device_untrack(struct kwarp_dev *kdev)
{
	spin_lock_bh(&devices_lock);
	list_del(&kdev->node);
	spin_unlock_bh(&devices_lock);
	wake_up_all(&device_left);
}

/* Does the device have its sockets in @net? NULL stands for every namespace. */
static bool is_in(const struct kwarp_dev *kdev, const struct net *net)
{
	return !net || net_eq(kdev->net, net);
}

/* Is there a device that has its sockets in this namespace? NULL: in any. */
bool kwarp_net_in_use(const struct net *net)
{
	struct kwarp_dev *kdev;
	bool found = false;

	spin_lock_bh(&devices_lock);
	list_for_each_entry(kdev, &devices, node) {
		found = is_in(kdev, net);
		if (found)
			break;
	}
	spin_unlock_bh(&devices_lock);
	return found;
}

/*
 * Return: the first device that has its sockets in @net (NULL: any) and is on @netdev (NULL: any),
 * with a reference; or NULL. Devices that are being unregistered are skipped.
 */
static struct ib_device *get_first(const struct net *net, const struct net_device *netdev)
{
	struct ib_device *found = NULL;
	struct kwarp_dev *kdev;

	spin_lock_bh(&devices_lock);
	list_for_each_entry(kdev, &devices, node) {
		if (is_in(kdev, net) && (!netdev || kdev->netdev == netdev) &&
		    ib_device_try_get(&kdev->ibdev)) {
			found = &kdev->ibdev;
			break;
		}
	}
	spin_unlock_bh(&devices_lock);
	return found;
}

/*
 * Return: a device that has its sockets in @net (NULL: any), with a reference; NULL: none, or all
 * are being unregistered.
 */
struct ib_device *kwarp_device_get_in_net(const struct net *net)
{
	return get_first(net, NULL);
}

/*
 * Return: the device on a netdev, with a reference; NULL: none, or it is being unregistered.  A
 * device that is being registered is found as soon as ib_device_try_get() succeeds.
 *
 * Context: any but hard interrupt.
 */
struct ib_device *kwarp_device_get_by_netdev(const struct net_device *netdev)
{
	return get_first(NULL, netdev);
}

/*
 * Wait until no device has sockets in @net (NULL: any), but 100 ms at most.  The caller has to
 * check whether such a device is left.
 */
void kwarp_device_wait_left(const struct net *net)
{
	wait_event_timeout(device_left, !kwarp_net_in_use(net), HZ / 10);
}

/* Called at module exit: warn if a device is left in the list. */
void kwarp_device_check_none(void)
{
	WARN_ON(!list_empty(&devices));
}
