// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The network interface that the sockets of an iw_cm_id are bound to.
 *
 * rdma_cm finds the interface of an address, and then an RDMA device for this interface. It does
 * not tell a VLAN from the netdev below it, and before Linux 6.6 it compares only hardware
 * addresses, which bridges and bonds share with their ports. So the netdev of the device that it
 * finds is not always the interface that has the address: a socket bound to the device's netdev
 * would use an address that this netdev does not have.
 */
#include "cm_iface.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>

#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>

#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>

#include "../device_list.h"
#include "../door.h"
#include "../kwarp.h"

/*
 * rdma_cm is the only user of iw_cm. It stores a pointer to its private struct rdma_id_private in
 * id->context, and that struct begins with the public struct rdma_cm_id. For an inbound connection
 * the pointer is to the listener's id until the ULP has received the Request. The ids of iw_cm and
 * rdma_cm name the same device, with one exception: for an inbound connection rdma_cm may choose
 * another device than the one that received the connection. Then the ULP's QP is on that other
 * device. Return: rdma_cm's id; NULL: none, or it names another device.
 */
const struct rdma_cm_id *kwarp_cm_rdma_id(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = id->context;

	return rdma && rdma->device == id->device ? rdma : NULL;
}

/*
 * May the sockets of @kdev be bound to @netdev, which is not the netdev of @kdev? Yes if @netdev is
 * a VLAN on the device's netdev. Yes also if another kwarp device is on @netdev: then rdma_cm has
 * chosen @kdev by mistake, in place of that device.
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

/*
 * Context: process. Return: ifindex in kdev->net; -ENODEV if the address is on an interface that
 * this device does not serve.
 */
int kwarp_cm_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	KWARP_DOOR(kwarp_cm_iface, kdev, id);
	const struct rdma_cm_id *rdma = kwarp_cm_rdma_id(id);
	int ifindex;
	struct net_device *netdev;
	bool ok;

	/* An id of wire.c: its address is the netdev's own. */
	if (!id->context)
		return kdev->netdev->ifindex;
	if (!rdma || !net_eq(rdma->route.addr.dev_addr.net, kdev->net))
		return -ENODEV;
	ifindex = rdma->route.addr.dev_addr.bound_dev_if;
	/* 0: a wildcard address, which is on no interface. Use the device's own netdev. */
	if (!ifindex || ifindex == kdev->netdev->ifindex)
		return kdev->netdev->ifindex;
	netdev = dev_get_by_index(kdev->net, ifindex);
	if (!netdev)
		return -ENODEV;
	ok = may_use(kdev, netdev);
	dev_put(netdev);
	return ok ? ifindex : -ENODEV;
}

/* Context: RCU read side. */
static struct net_device *dev_of_addr(struct net *net, const struct sockaddr_storage *ss)
{
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)ss)->sin6_addr;

	if (ss->ss_family == AF_INET)
		return __ip_dev_find(net, ((const struct sockaddr_in *)ss)->sin_addr.s_addr, false);
	/* Several interfaces may have the same link-local address, so the scope names the one. */
	if (!IS_ENABLED(CONFIG_IPV6) || ipv6_addr_type(v6) & IPV6_ADDR_LINKLOCAL)
		return NULL;
	return ipv6_dev_find(net, v6, NULL);
}

/*
 * An interface other than @ifindex is found only if both belong to the same VRF, or to none. 0:
 * none, so the address may be that of another host.
 */
int kwarp_cm_local_iface(struct net *net, int ifindex, const struct sockaddr_storage *addr)
{
	KWARP_DOOR(kwarp_cm_local_iface, net, ifindex, addr);
	int vrf = l3mdev_master_ifindex_by_index(net, ifindex), found = 0;
	struct net_device *netdev;

	rcu_read_lock();
	netdev = dev_of_addr(net, addr);
	if (netdev && l3mdev_master_ifindex_rcu(netdev) == vrf)
		found = netdev->ifindex;
	rcu_read_unlock();
	return found;
}
