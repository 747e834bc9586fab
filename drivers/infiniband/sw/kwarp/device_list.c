// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices that may have sockets, from before registration until all of those are gone
 * (the end of dealloc_driver()).  The RDMA core's own table loses a device too early:
 * as soon as somebody has begun to unregister it.
 *
 * Context: process, in the whole file, but for kwarp_device_get_by_netdev().
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

/* Any namespace: NULL. */
static bool is_in(const struct kwarp_dev *kdev, const struct net *net)
{
	return !net || net_eq(kdev->net, net);
}

/* There is a device that has its sockets in this namespace; NULL: in any. */
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

/* The first device in @net, unless that is NULL, and on @netdev, likewise, referenced; or NULL. */
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

/* A device of this namespace, or of any, referenced; NULL if others unregister all there are. */
struct ib_device *kwarp_device_get_in_net(const struct net *net)
{
	return get_first(net, NULL);
}

/*
 * The device on a netdev, referenced; NULL: there is none, or it is being unregistered.  A device
 * that is being registered is there as soon as the core has it.  Context: any but hard interrupt.
 */
struct ib_device *kwarp_device_get_by_netdev(const struct net_device *netdev)
{
	return get_first(NULL, netdev);
}

/* Wait for the end of the last one, not for long: the caller looks again. */
void kwarp_device_wait_left(const struct net *net)
{
	wait_event_timeout(device_left, !kwarp_net_in_use(net), HZ / 10);
}

/* Module exit. */
void kwarp_device_check_none(void)
{
	WARN_ON(!list_empty(&devices));
}
