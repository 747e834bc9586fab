// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The GIDs of a link.
 *
 * 0	iWARP's GID, by which rdma_cm finds the device: the hardware address of the netdev,
 *	left-aligned. That of a tunnel is its own IP address. If the netdev has none (lo, tun,
 *	wireguard) it is the node GUID: rdma_cm refuses a zero GID.
 * 1	the same, with the node GUID in its last eight octets: some programs, such as rdma-core's
 *	own tests, take a GID whose last eight octets are zero for unused.
 * 2..	the IP addresses of the netdev, IPv4 as ::ffff:a.b.c.d, for queue pairs that are wired
 *	(cm/wire.c). An address keeps its index as long as the netdev has it. Zero: unused.
 *
 * The RDMA core keeps a table of its own, and replaces all entries when it reads the GIDs again,
 * entries in use, too. Since Linux 6.6 an entry has the netdev, and rdma_cm reads the netdev of
 * entry 0 without a check for NULL, while the core clears it in an entry that is replaced. But for
 * each GID the core asks query_gid, then get_netdev, and skips a GID that has no netdev. So
 * get_netdev answers "none" to the task that has just asked for a GID which its entry has already.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>

#include "../kwarp.h"
#include "verbs.h"

/* Since Linux 6.6 the entry of a GID has the netdev. */
static bool has_netdev(const struct ib_gid_attr *attr)
{
	return rcu_access_pointer(attr->ndev);
}

static bool entry_has(struct ib_device *ibdev, u32 index, const union ib_gid *gid)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(ibdev, 1, index);
	bool has;

	if (IS_ERR(attr))
		return false;
	has = has_netdev(attr) && !memcmp(&attr->gid, gid, sizeof(*gid));
	rdma_put_gid_attr(attr);
	return has;
}

int kwarp_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	struct kwarp_dev *kdev = to_kdev(ibdev);

	spin_lock_bh(&kdev->gids.lock);
	*gid = kdev->gids.gid[index];
	spin_unlock_bh(&kdev->gids.lock);
	WRITE_ONCE(kdev->gids.keep, entry_has(ibdev, index, gid) ? current : NULL);
	return 0;
}

/* Context: process. Return: the netdev, referenced; NULL: see the head of this file. */
struct net_device *kwarp_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct kwarp_dev *kdev = to_kdev(ibdev);

	if (READ_ONCE(kdev->gids.keep) == current) {
		WRITE_ONCE(kdev->gids.keep, NULL);
		return NULL;
	}
	dev_hold(kdev->netdev);
	return kdev->netdev;
}

/* GIDs 0 and 1. */
static void take_hardware_address(struct kwarp_dev *kdev)
{
	const struct net_device *netdev = kdev->netdev;
	union ib_gid gid = { };

	memcpy(gid.raw, netdev->dev_addr, min_t(size_t, netdev->addr_len, sizeof(gid.raw)));
	if (!memchr_inv(gid.raw, 0, sizeof(gid.raw)))
		memcpy(gid.raw, &kdev->ibdev.node_guid, sizeof(kdev->ibdev.node_guid));
	spin_lock_bh(&kdev->gids.lock);
	kdev->gids.gid[0] = gid;
	gid.global.interface_id = kdev->ibdev.node_guid;
	kdev->gids.gid[1] = gid;
	spin_unlock_bh(&kdev->gids.lock);
}

/* The device has its node GUID, and is not registered yet. */
void kwarp_gids_init(struct kwarp_dev *kdev)
{
	spin_lock_init(&kdev->gids.lock);
	take_hardware_address(kdev);
	kwarp_gids_renew(kdev);
}

/*
 * Return: true: the core has to read the GIDs again. With a core whose entries have the netdev the
 * first two GIDs stay those of the time when the link was added: nothing needs others.
 */
bool kwarp_gids_new_hardware(struct kwarp_dev *kdev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&kdev->ibdev, 1, 0);
	bool old_core;

	if (IS_ERR(attr))
		return false;
	old_core = !has_netdev(attr);
	rdma_put_gid_attr(attr);
	if (old_core)
		take_hardware_address(kdev);
	return old_core;
}

struct address_list {
	union ib_gid gid[KWARP_GIDS - KWARP_GID_ADDRESS];
	u32 n;
};

static void add_address(struct address_list *list, const struct in6_addr *addr)
{
	if (list->n < ARRAY_SIZE(list->gid))
		memcpy(&list->gid[list->n++], addr, sizeof(*addr));
}

static void list_addresses(const struct net_device *netdev, struct address_list *list)
{
	const struct in_device *in_dev;
	const struct in_ifaddr *ifa;
	struct inet6_ifaddr *ifp;
	struct inet6_dev *in6_dev;
	struct in6_addr mapped;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(netdev);
	if (in_dev) {
		in_dev_for_each_ifa_rcu(ifa, in_dev) {
			ipv6_addr_set_v4mapped(ifa->ifa_local, &mapped);
			add_address(list, &mapped);
		}
	}
	in6_dev = __in6_dev_get(netdev);
	if (in6_dev) {
		read_lock_bh(&in6_dev->lock);
		list_for_each_entry(ifp, &in6_dev->addr_list, if_list)
			add_address(list, &ifp->addr);
		read_unlock_bh(&in6_dev->lock);
	}
	rcu_read_unlock();
}

static union ib_gid *find_gid(union ib_gid *gid, u32 n, const union ib_gid *what)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!memcmp(&gid[i], what, sizeof(*what)))
			return &gid[i];
	return NULL;
}

/*
 * Context: process or softirq, one call at a time. Return: true: addresses have come or gone, and
 * the core has to read the GIDs again.
 */
bool kwarp_gids_renew(struct kwarp_dev *kdev)
{
	static const union ib_gid unused;
	union ib_gid *gid = kdev->gids.gid + KWARP_GID_ADDRESS, *room;
	struct address_list list = { };
	bool changed = false;
	u32 i;

	list_addresses(kdev->netdev, &list);
	spin_lock_bh(&kdev->gids.lock);
	for (i = 0; i < ARRAY_SIZE(list.gid); i++) {
		if (!memcmp(&gid[i], &unused, sizeof(unused)) ||
		    find_gid(list.gid, list.n, &gid[i]))
			continue;
		gid[i] = unused;
		changed = true;
	}
	for (i = 0; i < list.n; i++) {
		if (find_gid(gid, ARRAY_SIZE(list.gid), &list.gid[i]))
			continue;
		room = find_gid(gid, ARRAY_SIZE(list.gid), &unused);
		if (!room)
			break;
		*room = list.gid[i];
		changed = true;
	}
	spin_unlock_bh(&kdev->gids.lock);
	return changed;
}
