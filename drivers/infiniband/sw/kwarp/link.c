// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * `rdma link add NAME type kwarp netdev DEV`, and what happens to the netdev.
 */
#include <linux/if_arp.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>
#include <rdma/kwarp-abi.h>

#include "device.h"

static struct ib_device *find(struct net_device *netdev)
{
	return ib_device_get_by_netdev(netdev, (enum rdma_driver_id)KWARP_DRIVER_ID);
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

static int newlink(const char *name, struct net_device *netdev)
{
	struct ib_device *ibdev;
	int ret;

	if (!supported(netdev))
		return -EOPNOTSUPP;
	mutex_lock(&newlink_mutex);
	ibdev = find(netdev);
	if (ibdev) {
		ib_device_put(ibdev);
		ret = -EEXIST;
	} else {
		ret = kwarp_device_add(name, netdev);
	}
	mutex_unlock(&newlink_mutex);
	return ret;
}

static struct rdma_link_ops link_ops = {
	.type = "kwarp",
	.newlink = newlink,
};

static int netdev_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(arg);
	struct ib_device *ibdev = find(netdev);

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
	case NETDEV_UNREGISTER:
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

/* Any device of ours on a netdev of this namespace, referenced. */
static struct ib_device *find_in_net(struct net *net)
{
	struct ib_device *ibdev = NULL;
	struct net_device *netdev;

	rtnl_lock();
	for_each_netdev(net, netdev) {
		ibdev = find(netdev);
		if (ibdev)
			break;
	}
	rtnl_unlock();
	return ibdev;
}

/*
 * A namespace ends.  A physical netdev survives by moving away, and our sockets do
 * not hold the namespace: its devices go first, while everything still works.
 */
static void net_pre_exit(struct net *net)
{
	struct ib_device *ibdev;

	while ((ibdev = find_in_net(net)))
		ib_unregister_device_and_put(ibdev);
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
	if (ret) {
		unregister_pernet_subsys(&net_ops);
		return ret;
	}
	rdma_link_register(&link_ops);
	return 0;
}

void kwarp_link_unregister(void)
{
	rdma_link_unregister(&link_ops);
	unregister_netdevice_notifier(&netdev_nb);
	unregister_pernet_subsys(&net_ops);
	/* Ends every device and waits for its last user. */
	ib_unregister_driver((enum rdma_driver_id)KWARP_DRIVER_ID);
}
