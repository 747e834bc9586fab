// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * `rdma link add NAME type kwarp netdev DEV`, or type kwarp-siw, and what happens to the netdev.
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

/* A link of either type. */
static struct ib_device *find(struct net_device *netdev)
{
	return kwarp_device_get_by_netdev(netdev);
}

/* Anything that carries IP: Ethernet and its kin, lo, tun, wireguard. */
static bool supported(const struct net_device *netdev)
{
	switch (netdev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_PPP:
		return true;
	default:
		return false;
	}
}

/* Held while a link is added, so that a netdev gets one device only. */
static DEFINE_MUTEX(newlink_mutex);

/* The netdev's namespace, referenced; NULL if one of the two is going away. */
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
 * The device is registered.  The notifier has not seen it before: has the netdev been
 * removed or moved meanwhile?  If not, the notifier hears of all that happens later.
 */
static int check_netdev(struct net_device *netdev, const struct net *net)
{
	struct ib_device *ibdev = find(netdev);
	bool there;

	if (!ibdev)				/* and the link has gone, too */
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
		ib_device_put(ibdev);
		return 0;
	}
	ib_unregister_device_and_put(ibdev);
	return -ENODEV;
}

static struct rdma_link_ops link_ops, siw_link_ops;

/*
 * A netdev has one link, of whatever type: both would want the TCP ports of their listeners.
 *
 * Context: newlink_mutex held; @net is referenced, so that it does not end meanwhile.
 */
static int add_device(const char *name, struct net_device *netdev, struct net *net, bool siw)
{
	struct ib_device *ibdev = find(netdev);
	int ret;

	if (ibdev) {
		ib_device_put(ibdev);
		return -EEXIST;
	}
	ret = kwarp_device_add(name, netdev, net, siw ? &siw_link_ops : &link_ops, siw);
	/* The core's word for a name that is taken. */
	if (ret == -ENFILE)
		return -EEXIST;
	return ret ? ret : check_netdev(netdev, net);
}

static int add_link(const char *name, struct net_device *netdev, bool siw)
{
	struct net *net;
	int ret;

	if (!supported(netdev))
		return -EOPNOTSUPP;
	net = netdev_get_net(netdev);
	if (!net)
		return -ENODEV;
	mutex_lock(&newlink_mutex);
	ret = add_device(name, netdev, net, siw);
	mutex_unlock(&newlink_mutex);
	put_net(net);
	return ret;
}

static int newlink(const char *name, struct net_device *netdev)
{
	return add_link(name, netdev, false);
}

static int siw_newlink(const char *name, struct net_device *netdev)
{
	return add_link(name, netdev, true);
}

/* Its users are told to leave next: nobody has to wait for a connect then. */
static int dellink(struct ib_device *ibdev)
{
	kwarp_cm_retire(to_kdev(ibdev));
	return 0;
}

static struct rdma_link_ops link_ops = {
	.type = "kwarp",
	.newlink = newlink,
};

/* The same device for programs whose provider is libsiw. */
static struct rdma_link_ops siw_link_ops = {
	.type = "kwarp-siw",
	.newlink = siw_newlink,
};

static void device_address_event(struct net_device *netdev)
{
	struct ib_device *ibdev = find(netdev);

	if (!ibdev)
		return;
	kwarp_device_address_event(to_kdev(ibdev));
	ib_device_put(ibdev);
}

/* The addresses of a VLAN are those of the link below it, too, while it is up. */
static void lower_address_event(struct net_device *netdev)
{
	if (is_vlan_dev(netdev))
		device_address_event(vlan_dev_real_dev(netdev));
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(arg);
	struct ib_device *ibdev = find(netdev);

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
		/* Under RTNL: the core does the rest from its own work. */
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

/* A VLAN may have a link of its own besides. */
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
 * All devices that have their sockets in a namespace, or, NULL, in any: also those whose netdev
 * has left already, and which are still being unregistered.  @before is told of each.
 */
static void unregister_devices(const struct net *net, void (*before)(struct kwarp_dev *kdev))
{
	struct ib_device *ibdev;

	while (kwarp_net_in_use(net)) {
		ibdev = kwarp_device_get_in_net(net);
		if (ibdev) {
			before(to_kdev(ibdev));
			ib_unregister_device_and_put(ibdev);
		} else {
			/* Or it only moves to another RDMA namespace: look again. */
			kwarp_device_wait_left(net);
		}
	}
}

/*
 * A namespace ends, and our sockets do not hold it: its devices go first, while everything still
 * works.  A physical netdev has left already, to survive.
 */
static void net_pre_exit(struct net *net)
{
	unregister_devices(net, kwarp_cm_begin_stop);
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
	kwarp_set_dellink(&link_ops, dellink);
	kwarp_set_dellink(&siw_link_ops, dellink);
	rdma_link_register(&link_ops);
	rdma_link_register(&siw_link_ops);
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
	rdma_link_unregister(&siw_link_ops);
	rdma_link_unregister(&link_ops);
	/*
	 * Not by driver_id: siw.ko's devices have the same as some of ours.  Waits for the last
	 * user of each.
	 */
	unregister_devices(NULL, kwarp_cm_retire);
	/* Those that were on no list any more, but not at their end: see dealloc_driver(). */
	ib_unregister_driver((enum rdma_driver_id)KWARP_DRIVER_ID);
	/* They looked after the devices until here. */
	unregister_inet6addr_notifier(&inet6_nb);
	unregister_inetaddr_notifier(&inet_nb);
	unregister_netdevice_notifier(&netdev_nb);
	unregister_pernet_subsys(&net_ops);
	kwarp_device_check_none();
}
