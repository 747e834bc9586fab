// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Links: `rdma link add NAME type kwarp netdev DEV`; and events of netdevs, addresses and network
 * namespaces.
 */
#include "link.h"

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>
#include <rdma/kwarp-abi.h>

#include "cm/cm.h"
#include "device.h"
#include "device_list.h"
#include "fault.h"

/* Netdevs that carry IP: Ethernet and similar, lo, tunnels, tun, wireguard, modems. */
static bool netdev_supported(const struct net_device *netdev)
{
	switch (netdev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
	case ARPHRD_PPP:
	case ARPHRD_RAWIP:
		return true;
	default:
		return false;
	}
}

/* Held while a link is added, so that a netdev gets one device only. */
static DEFINE_MUTEX(newlink_mutex);

/* NULL: the netdev or its namespace is ending */
static struct net *netdev_get_net(const struct net_device *netdev)
{
	struct net *net = NULL;

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED)
		net = maybe_get_net(dev_net(netdev));
	rtnl_unlock();
	return net;
}

/*
 * The device has just been registered, and only now netdev_event() finds it.  Unregister the device
 * if the netdev was removed before that, or was moved to another network namespace: netdev_event()
 * could not find the device then, and did nothing.  It handles all later events.
 */
static int check_netdev(struct net_device *netdev, const struct net *net)
{
	struct ib_device *ibdev = kwarp_device_get_by_netdev(netdev);
	bool there;

	if (!ibdev)				/* another task has unregistered it */
		return -ENODEV;
	WRITE_ONCE(to_kdev(ibdev)->adder, NULL);
	rtnl_lock();
	there = netdev->reg_state == NETREG_REGISTERED && net_eq(dev_net(netdev), net);
	if (there) {
		kwarp_device_renamed(to_kdev(ibdev));
		kwarp_device_update_speed(to_kdev(ibdev));
		kwarp_device_port_event(to_kdev(ibdev));
	}
	rtnl_unlock();
	if (there) {
		/* Without its listener the link is there, too, and the knob may be set again. */
		kwarp_cm_wire_begin(to_kdev(ibdev));
		ib_device_put(ibdev);
		return 0;
	}
	ib_unregister_device_and_put(ibdev);
	return -ENODEV;
}

/*
 * Make a device, unless the netdev has one: the listeners of two links on a netdev would need the
 * same TCP ports.
 *
 * Context: newlink_mutex held; the caller has a reference to @net.
 */
static int add_device(const char *name, struct net_device *netdev, struct net *net,
		      struct rdma_link_ops *ops, const struct kwarp_personality *personality)
{
	struct ib_device *ibdev = kwarp_device_get_by_netdev(netdev);
	int ret;

	if (ibdev) {
		ib_device_put(ibdev);
		return -EEXIST;
	}
	ret = kwarp_device_add(name, netdev, net, ops, personality);
	/* ENFILE: the core has another device of this name. */
	if (ret == -ENFILE)
		return -EEXIST;
	return ret ? ret : check_netdev(netdev, net);
}

/**
 * kwarp_link_add - the newlink operation of a type of link
 * @name: of the device
 * @netdev: on which the link is
 * @ops: of the type
 * @personality: of the type; NULL: none
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int kwarp_link_add(const char *name, struct net_device *netdev, struct rdma_link_ops *ops,
		   const struct kwarp_personality *personality)
{
	struct net *net;
	int ret;

	if (!netdev_supported(netdev))
		return -EOPNOTSUPP;
	net = netdev_get_net(netdev);
	if (!net)
		return -ENODEV;
	mutex_lock(&newlink_mutex);
	ret = add_device(name, netdev, net, ops, personality);
	mutex_unlock(&newlink_mutex);
	put_net(net);
	return ret;
}

/*
 * `rdma link delete`: end listeners and connections that are being set up.  After this function the
 * core asks the users of the device to leave; a user that waited for a connection could not leave.
 */
static int __maybe_unused kwarp_dellink(struct ib_device *ibdev)
{
	kwarp_cm_retire(to_kdev(ibdev));
	return 0;
}

/* Undone by rdma_link_unregister(). */
void kwarp_link_add_type(struct rdma_link_ops *ops)
{
	KWARP_SINCE(LINK_OPS_DELLINK, ops->dellink = kwarp_dellink);
	rdma_link_register(ops);
}

void __weak kwarp_foreign_links_register(void)
{
}

void __weak kwarp_foreign_links_unregister(void)
{
}

static struct rdma_link_ops link_ops;

static int kwarp_newlink(const char *name, struct net_device *netdev)
{
	return kwarp_link_add(name, netdev, &link_ops, NULL);
}

static struct rdma_link_ops link_ops = {
	.type = "kwarp",
	.newlink = kwarp_newlink,
};

static void device_address_event(struct net_device *netdev)
{
	struct ib_device *ibdev = kwarp_device_get_by_netdev(netdev);

	if (!ibdev)
		return;
	kwarp_device_address_event(to_kdev(ibdev));
	ib_device_put(ibdev);
}

/* The port of that link also has the addresses of VLANs that are up. */
static void lower_address_event(struct net_device *netdev)
{
	if (is_vlan_dev(netdev))
		device_address_event(vlan_dev_real_dev(netdev));
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(arg);
	struct ib_device *ibdev = kwarp_device_get_by_netdev(netdev);

	if (event == NETDEV_UP || event == NETDEV_DOWN)
		lower_address_event(netdev);
	if (!ibdev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		kwarp_device_port_event(to_kdev(ibdev));
		break;
	case NETDEV_CHANGEADDR:
		kwarp_device_gid_event(to_kdev(ibdev));
		break;
	case NETDEV_CHANGENAME:
		kwarp_device_renamed(to_kdev(ibdev));
		break;
	case NETDEV_UNREGISTER:
		kwarp_cm_begin_stop(to_kdev(ibdev));
		/* RTNL is held, so let the core unregister the device in a work item. */
		ib_unregister_device_queued(ibdev);
		break;
	default:
		break;
	}
	ib_device_put(ibdev);
	return NOTIFY_OK;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

static void address_event(struct net_device *netdev)
{
	device_address_event(netdev);
	lower_address_event(netdev);
}

static int inet_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	const struct in_ifaddr *ifa = arg;

	address_event(ifa->ifa_dev->dev);
	return NOTIFY_OK;
}

/* Context: any, bottom halves may be off. */
static int inet6_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	const struct inet6_ifaddr *ifa = arg;

	address_event(ifa->idev->dev);
	return NOTIFY_OK;
}

static struct notifier_block inet_nb = {
	.notifier_call = inet_event,
};

static struct notifier_block inet6_nb = {
	.notifier_call = inet6_event,
};

/*
 * Unregister all devices that have their sockets in @net (NULL: any), and wait for those that
 * another context is unregistering, for example because their netdev has moved.
 */
static void unregister_devices(const struct net *net, void (*before)(struct kwarp_dev *kdev))
{
	struct ib_device *ibdev;

	while (kwarp_net_in_use(net)) {
		ibdev = kwarp_device_get_next(net, 0);
		if (ibdev) {
			before(to_kdev(ibdev));
			ib_unregister_device_and_put(ibdev);
		} else {
			kwarp_device_wait_left(net);
		}
	}
}

/*
 * A network namespace ends: kernel sockets hold no reference on it, so unregister the devices that
 * have sockets in it, while TCP still works.  A physical netdev moves to init_net later, without
 * its link.
 */
static void net_pre_exit(struct net *net)
{
	/* Queue pairs wait for what late-work delays. */
	kwarp_fault_forget(net, NULL);
	unregister_devices(net, kwarp_cm_begin_stop);
	kwarp_fault_forget(net, NULL);
}

static struct pernet_operations net_ops = {
	.pre_exit = net_pre_exit,
};

int kwarp_link_register(void)
{
	int ret = register_pernet_subsys(&net_ops);

	if (ret)
		return ret;
	ret = register_netdevice_notifier(&netdev_nb);
	if (ret)
		goto out_net;
	ret = register_inetaddr_notifier(&inet_nb);
	if (ret)
		goto out_netdev;
	ret = register_inet6addr_notifier(&inet6_nb);
	if (ret)
		goto out_inet;
	kwarp_link_add_type(&link_ops);
	return 0;

out_inet:
	unregister_inetaddr_notifier(&inet_nb);
out_netdev:
	unregister_netdevice_notifier(&netdev_nb);
out_net:
	unregister_pernet_subsys(&net_ops);
	return ret;
}

void kwarp_link_unregister(void)
{
	rdma_link_unregister(&link_ops);
	/*
	 * ib_unregister_driver() alone would miss devices with a personality, which have another
	 * driver_id.  unregister_devices() waits for the last user of each device.
	 */
	unregister_devices(NULL, kwarp_cm_retire);
	/* Wait for devices that left the list (device_list.c) but are still in dealloc_driver(). */
	ib_unregister_driver((enum rdma_driver_id)KWARP_DRIVER_ID);
	/* The notifiers come last, because they were needed as long as there were devices. */
	unregister_inet6addr_notifier(&inet6_nb);
	unregister_inetaddr_notifier(&inet_nb);
	unregister_netdevice_notifier(&netdev_nb);
	unregister_pernet_subsys(&net_ops);
	WARN_ON(kwarp_net_in_use(NULL));
}
