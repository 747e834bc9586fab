// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The GIDs of a link. The RDMA core's table of them is a fake. */
#include <linux/inetdevice.h>
#include <net/if_inet6.h>

#include "fixture.h"

static const u8 a_mac[ETH_ALEN] = { 2, 3, 4, 5, 6, 7 }, zero[16];

/* @n: addresses of each family that the netdev has, from the first on */
static struct addresses {
	struct in_device in_dev;
	struct in_ifaddr ifa[20];
	struct inet6_dev in6_dev;
	struct inet6_ifaddr ifp[2];
} *addresses;

static void set_addresses(const u32 *v4, u32 n, u32 n6)
{
	u32 i;

	rcu_assign_pointer(addresses->in_dev.ifa_list, n ? &addresses->ifa[0] : NULL);
	for (i = 0; i < n; i++) {
		addresses->ifa[i].ifa_local = cpu_to_be32(v4[i]);
		rcu_assign_pointer(addresses->ifa[i].ifa_next,
				   i + 1 < n ? &addresses->ifa[i + 1] : NULL);
	}
	INIT_LIST_HEAD(&addresses->in6_dev.addr_list);
	for (i = 0; i < n6; i++) {
		addresses->ifp[i].addr.s6_addr[0] = 0xfe;
		addresses->ifp[i].addr.s6_addr[15] = i + 1;
		list_add_tail(&addresses->ifp[i].if_list, &addresses->in6_dev.addr_list);
	}
}

static union ib_gid gid_at(struct kunit *test, int index)
{
	union ib_gid gid;

	KUNIT_EXPECT_EQ(test, kwarp_query_gid(&vt->kdev->ibdev, 1, index, &gid), 0);
	return gid;
}

static void expect_v4(struct kunit *test, int index, u32 addr)
{
	u8 want[16] = { [10] = 0xff, [11] = 0xff };
	union ib_gid gid = gid_at(test, index);

	put_unaligned_be32(addr, want + 12);
	KUNIT_EXPECT_MEMEQ_MSG(test, gid.raw, addr ? want : zero, sizeof(gid), "index %d", index);
}

static int gids_init(struct kunit *test)
{
	int ret = vt_init(test);

	if (ret)
		return ret;
	addresses = kunit_kzalloc(test, sizeof(*addresses), GFP_KERNEL);
	if (!addresses)
		return -ENOMEM;
	rwlock_init(&addresses->in6_dev.lock);
	set_addresses(NULL, 0, 0);
	rcu_assign_pointer(vt->netdev->ip_ptr, &addresses->in_dev);
	rcu_assign_pointer(vt->netdev->ip6_ptr, &addresses->in6_dev);
	vt->netdev->addr_len = ETH_ALEN;
	vt->netdev->dev_addr = a_mac;
	vt->kdev->ibdev.node_guid = cpu_to_be64(0x1122334455667788);
	return 0;
}

/* The first GID is the hardware address, or without one the node GUID: rdma_cm refuses zero. */
static void test_hardware(struct kunit *test)
{
	struct kwarp_dev *kdev = vt->kdev;
	union ib_gid gid;

	kwarp_gids_init(kdev);
	gid = gid_at(test, 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, a_mac, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, gid.raw + ETH_ALEN, zero, sizeof(gid) - ETH_ALEN);
	/* The second GID is for programs that take the first for unused, as it ends in zeroes. */
	gid = gid_at(test, 1);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, a_mac, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, gid.global.interface_id, kdev->ibdev.node_guid);
	/* a tunnel has an IP address as its own: four octets, or sixteen */
	vt->netdev->addr_len = 4;
	kwarp_gids_init(kdev);
	gid = gid_at(test, 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, a_mac, 4);
	KUNIT_EXPECT_MEMEQ(test, gid.raw + 4, zero, sizeof(gid) - 4);
	vt->netdev->addr_len = ETH_ALEN;
	vt->netdev->dev_addr = zero;
	kwarp_gids_init(kdev);
	gid = gid_at(test, 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, &kdev->ibdev.node_guid, sizeof(kdev->ibdev.node_guid));
	vt->netdev->addr_len = 0;
	vt->netdev->dev_addr = a_mac;
	kwarp_gids_init(kdev);
	gid = gid_at(test, 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, &kdev->ibdev.node_guid, sizeof(kdev->ibdev.node_guid));
}

/* An address keeps its index until it goes; a new one gets the first that is unused. */
static void test_addresses(struct kunit *test)
{
	struct kwarp_dev *kdev = vt->kdev;

	set_addresses((u32[]) { 0x0a000001, 0x0a000002, 0x0a000003 }, 3, 1);
	kwarp_gids_init(kdev);
	expect_v4(test, 2, 0x0a000001);
	expect_v4(test, 3, 0x0a000002);
	expect_v4(test, 4, 0x0a000003);
	KUNIT_EXPECT_EQ(test, gid_at(test, 5).raw[0], 0xfe);
	expect_v4(test, 6, 0);
	KUNIT_EXPECT_FALSE(test, kwarp_gids_renew(kdev));
	set_addresses((u32[]) { 0x0a000003, 0x0a000001 }, 2, 2);
	KUNIT_EXPECT_TRUE(test, kwarp_gids_renew(kdev));
	expect_v4(test, 2, 0x0a000001);
	KUNIT_EXPECT_EQ(test, gid_at(test, 3).raw[15], 2);
	expect_v4(test, 4, 0x0a000003);
	KUNIT_EXPECT_EQ(test, gid_at(test, 5).raw[15], 1);
	set_addresses(NULL, 0, 0);
	KUNIT_EXPECT_TRUE(test, kwarp_gids_renew(kdev));
	expect_v4(test, 2, 0);
	expect_v4(test, 5, 0);
	rcu_assign_pointer(vt->netdev->ip_ptr, NULL);
	rcu_assign_pointer(vt->netdev->ip6_ptr, NULL);
	KUNIT_EXPECT_FALSE(test, kwarp_gids_renew(kdev));
	KUNIT_EXPECT_MEMEQ(test, gid_at(test, 0).raw, a_mac, ETH_ALEN);
}

static void test_too_many(struct kunit *test)
{
	u32 addr[20], i;

	for (i = 0; i < ARRAY_SIZE(addr); i++)
		addr[i] = 0x0a000001 + i;
	set_addresses(addr, ARRAY_SIZE(addr), 2);
	kwarp_gids_init(vt->kdev);
	expect_v4(test, 2, 0x0a000001);
	expect_v4(test, KWARP_GIDS - 1, 0x0a000001 + KWARP_GIDS - 3);
	KUNIT_EXPECT_FALSE(test, kwarp_gids_renew(vt->kdev));
}

/* The core gets no netdev, and so keeps the entry, if the entry has the netdev and the GID. */
static void test_keep(struct kunit *test)
{
	struct ib_device *ibdev = &vt->kdev->ibdev;
	struct ib_gid_attr *attr = &vt->gid_attr[2];
	struct net_device *netdev;
	int i;

	set_addresses((u32[]) { 0x0a000001 }, 1, 0);
	kwarp_gids_init(vt->kdev);
	/* 0: no entry, 1: another GID, 2: an old core, whose entries have no netdev, 3: the same */
	for (i = 0; i < 4; i++) {
		attr->device = i ? ibdev : NULL;
		rcu_assign_pointer(attr->ndev, i == 2 ? NULL : vt->netdev);
		attr->gid = gid_at(test, 2);
		attr->gid.raw[15] += i == 1;
		gid_at(test, 2);
		netdev = kwarp_get_netdev(ibdev, 1);
		KUNIT_EXPECT_PTR_EQ_MSG(test, netdev, i == 3 ? NULL : vt->netdev, "%d", i);
		/* Only the first question after that is of the core's update. */
		KUNIT_EXPECT_PTR_EQ(test, kwarp_get_netdev(ibdev, 1), vt->netdev);
	}
}

/* With a core that keeps the netdev the first GIDs stay those of the beginning. */
static void test_new_hardware(struct kunit *test)
{
	static const u8 other_mac[ETH_ALEN] = { 2, 9, 9, 9, 9, 9 };
	struct kwarp_dev *kdev = vt->kdev;
	struct ib_gid_attr *attr = &vt->gid_attr[0];

	kwarp_gids_init(kdev);
	vt->netdev->dev_addr = other_mac;
	KUNIT_EXPECT_FALSE(test, kwarp_gids_new_hardware(kdev));
	attr->device = &kdev->ibdev;
	rcu_assign_pointer(attr->ndev, vt->netdev);
	KUNIT_EXPECT_FALSE(test, kwarp_gids_new_hardware(kdev));
	KUNIT_EXPECT_MEMEQ(test, gid_at(test, 0).raw, a_mac, ETH_ALEN);
	rcu_assign_pointer(attr->ndev, NULL);
	KUNIT_EXPECT_TRUE(test, kwarp_gids_new_hardware(kdev));
	KUNIT_EXPECT_MEMEQ(test, gid_at(test, 0).raw, other_mac, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, gid_at(test, 1).raw, other_mac, ETH_ALEN);
}

static struct kunit_case gids_cases[] = {
	KUNIT_CASE(test_hardware),
	KUNIT_CASE(test_addresses),
	KUNIT_CASE(test_too_many),
	KUNIT_CASE(test_keep),
	KUNIT_CASE(test_new_hardware),
	{}
};

static struct kunit_suite gids_suite = {
	.name = "kwarp_gids",
	.init = gids_init,
	.exit = vt_exit,
	.test_cases = gids_cases,
};

kunit_test_suite(gids_suite);
