// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices that may have sockets, from before registration until all of those are gone
 * (the end of dealloc_driver()).  The RDMA core's own table loses a device too early:
 * as soon as somebody has begun to unregister it.
 *
 * Context: process, in the whole file.
 */
#include "device_list.h"

#include <net/net_namespace.h>

#include "kwarp.h"

static DEFINE_SPINLOCK(devices_lock);
static LIST_HEAD(devices);
static DECLARE_WAIT_QUEUE_HEAD(device_left);

void kwarp_device_track(struct kwarp_dev *kdev)
{
	spin_lock(&devices_lock);
	list_add(&kdev->node, &devices);
	spin_unlock(&devices_lock);
}

void kwarp_device_untrack(struct kwarp_dev *kdev)
{
	spin_lock(&devices_lock);
	list_del(&kdev->node);
	spin_unlock(&devices_lock);
	wake_up_all(&device_left);
}

/* There is a device that has its sockets in this namespace. */
bool kwarp_net_in_use(const struct net *net)
{
	struct kwarp_dev *kdev;
	bool found = false;

	spin_lock(&devices_lock);
	list_for_each_entry(kdev, &devices, node) {
		found = net_eq(kdev->net, net);
		if (found)
			break;
	}
	spin_unlock(&devices_lock);
	return found;
}

/* A device of this namespace, referenced; NULL if others unregister all there are. */
struct ib_device *kwarp_device_get_in_net(const struct net *net)
{
	struct ib_device *found = NULL;
	struct kwarp_dev *kdev;

	spin_lock(&devices_lock);
	list_for_each_entry(kdev, &devices, node) {
		if (net_eq(kdev->net, net) && ib_device_try_get(&kdev->ibdev)) {
			found = &kdev->ibdev;
			break;
		}
	}
	spin_unlock(&devices_lock);
	return found;
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
