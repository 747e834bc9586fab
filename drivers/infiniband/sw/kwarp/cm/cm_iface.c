// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The network interface that the sockets of an id belong to.
 *
 * rdma_cm finds the interface of an address, and then a device for this interface. For
 * that it takes a VLAN for the netdev below it and the other way round, and before Linux
 * 6.6 it goes by hardware addresses alone, which bridges and bonds share with their
 * ports. So the device is not always on the interface: a socket that were bound to the
 * device's netdev would send from an address that is not there.
 */
#include "cm_iface.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>

#include <linux/if_vlan.h>
#include <linux/netdevice.h>

#include <net/net_namespace.h>

#include "../device_list.h"
#include "../kwarp.h"

/**
 * kwarp_cm_rdma_id - what rdma_cm knows and iw_cm does not tell
 * @id: iw_cm's id, in a call from iw_cm
 *
 * rdma_cm is the only user that iw_cm has. The context of its ids is its private
 * struct, which begins with the public one: that of the listener, or of the connection
 * from connect or from the upcall to the ULP on. Both ids name the same device, but for
 * one case: rdma_cm may choose another device for an inbound connection than the one
 * that it came in through. The ULP's QP is on that other device then.
 *
 * Return: rdma_cm's id; NULL if there is none for this device.
 */
const struct rdma_cm_id *kwarp_cm_rdma_id(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = id->context;

	return rdma && rdma->device == id->device ? rdma : NULL;
}

/*
 * A VLAN on the netdev belongs to the link. Another interface may be used if it has a
 * link, too: rdma_cm has confused the two.
 */
static bool may_use(const struct kwarp_dev *kdev, struct net_device *netdev)
{
	struct ib_device *other;

	if (is_vlan_dev(netdev) && vlan_dev_real_dev(netdev) == kdev->netdev)
		return true;
	other = kwarp_device_get_by_netdev(netdev);
	if (!other)
		return false;
	ib_device_put(other);
	return true;
}

/**
 * kwarp_cm_iface - the interface that the sockets of an id belong to
 * @kdev: device that rdma_cm has chosen
 * @id: iw_cm's id, in a call to connect or listen
 *
 * Context: process.
 * Return: ifindex in kdev->net; -ENODEV if the address is on an interface that this
 * device does not serve.
 */
int kwarp_cm_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = kwarp_cm_rdma_id(id);
	int ifindex;
	struct net_device *netdev;
	bool ok;

	if (!rdma || !net_eq(rdma->route.addr.dev_addr.net, kdev->net))
		return -ENODEV;
	ifindex = rdma->route.addr.dev_addr.bound_dev_if;
	/* A wildcard address is on none: it means the link's own. */
	if (!ifindex || ifindex == kdev->netdev->ifindex)
		return kdev->netdev->ifindex;
	netdev = dev_get_by_index(kdev->net, ifindex);
	if (!netdev)
		return -ENODEV;
	ok = may_use(kdev, netdev);
	dev_put(netdev);
	return ok ? ifindex : -ENODEV;
}
