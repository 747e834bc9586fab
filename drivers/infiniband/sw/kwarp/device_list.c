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

static bool is_in(const struct kwarp_dev *kdev, const struct net *net)
{
	return !net || net_eq(kdev->net, net);
}

/* NULL: in any namespace */
bool kwarp_net_in_use(const struct net *net)
{
	struct kwarp_dev *kdev;
	bool found = false;

	spin_lock_bh(&devices_lock);
	list_for_each_entry(kdev, &devices, node)
		found |= is_in(kdev, net);
	spin_unlock_bh(&devices_lock);
	return found;
}

/*
 * @net NULL: any. Return: the device with the least index that is not below @index, referenced;
 * NULL: none, or all are being unregistered.
 */
struct ib_device *kwarp_device_get_next(const struct net *net, u32 index)
{
	struct kwarp_dev *kdev, *next = NULL;

	spin_lock_bh(&devices_lock);
	list_for_each_entry(kdev, &devices, node) {
		if (!is_in(kdev, net) || kdev->ibdev.index < index ||
		    (next && next->ibdev.index < kdev->ibdev.index) ||
		    !ib_device_try_get(&kdev->ibdev))
			continue;
		if (next)
			ib_device_put(&next->ibdev);
		next = kdev;
	}
	spin_unlock_bh(&devices_lock);
	return next ? &next->ibdev : NULL;
}

/*
 * A device that is being registered is found as soon as ib_device_try_get() succeeds.
 *
 * Context: any but hard interrupt.
 */
struct ib_device *kwarp_device_get_by_netdev(const struct net_device *netdev)
{
	struct ib_device *found = NULL;
	struct kwarp_dev *kdev;

	spin_lock_bh(&devices_lock);
	list_for_each_entry(kdev, &devices, node) {
		if (kdev->netdev == netdev && ib_device_try_get(&kdev->ibdev)) {
			found = &kdev->ibdev;
			break;
		}
	}
	spin_unlock_bh(&devices_lock);
	return found;
}

/* Waits 100 ms at most. The caller has to check whether such a device is left. */
void kwarp_device_wait_left(const struct net *net)
{
	wait_event_timeout(device_left, !kwarp_net_in_use(net), HZ / 10);
}
