// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of cm_iface.c, which is included: the interface that the sockets of an id are bound to */
#include <kunit/test.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

static struct net_device *other_netdev, *with_link;
static int references;

static struct net_device *test_get_by_index(struct net *net, int ifindex)
{
	if (!other_netdev || ifindex != other_netdev->ifindex)
		return NULL;
	references++;
	return other_netdev;
}

static void test_put_netdev(struct net_device *netdev)
{
	references--;
}

static struct ib_device the_link;

static struct ib_device *test_get_device(const struct net_device *netdev)
{
	if (netdev != with_link)
		return NULL;
	references++;
	return &the_link;
}

static void test_put_device(struct ib_device *ibdev)
{
	references--;
}

#define dev_get_by_index	test_get_by_index
#define dev_put			test_put_netdev
#define kwarp_device_get_by_netdev test_get_device
#define ib_device_put		test_put_device
#include "../cm_iface.c"

#define OWN	3
#define OTHER	7

struct iface_test {
	struct kwarp_dev kdev;
	struct net_device netdev, other;
	struct net *net;
	struct rdma_cm_id rdma;
	struct iw_cm_id id;
};

/* If rdma_cm's id names another device, or there is no such id, the socket gets no interface. */
static void test_other_device(struct kunit *test)
{
	struct iface_test *t = test->priv;

	KUNIT_EXPECT_PTR_EQ(test, kwarp_cm_rdma_id(&t->id), &t->rdma);
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), OWN);
	t->rdma.device = &the_link;
	KUNIT_EXPECT_NULL(test, kwarp_cm_rdma_id(&t->id));
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), -ENODEV);
	/* an id of wire.c */
	t->id.context = NULL;
	KUNIT_EXPECT_NULL(test, kwarp_cm_rdma_id(&t->id));
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), OWN);
}

static void test_other_namespace(struct kunit *test)
{
	struct iface_test *t = test->priv;

	t->rdma.route.addr.dev_addr.net = NULL;
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), -ENODEV);
}

/*
 * The sockets get the interface of the address, if that is the device's own, or one with another
 * kwarp device. They get none if that interface has been removed, or has no kwarp device.
 */
static void test_iface(struct kunit *test)
{
	struct iface_test *t = test->priv;
	int *ifindex = &t->rdma.route.addr.dev_addr.bound_dev_if;

	*ifindex = OWN;
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), OWN);
	*ifindex = OTHER;
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), -ENODEV);
	other_netdev = &t->other;
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), -ENODEV);
	with_link = &t->other;
	KUNIT_EXPECT_EQ(test, kwarp_cm_iface(&t->kdev, &t->id), OTHER);
}

static int iface_test_init(struct kunit *test)
{
	struct iface_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->net = kunit_kzalloc(test, sizeof(*t->net), GFP_KERNEL);
	if (!t->net)
		return -ENOMEM;
	t->netdev.ifindex = OWN;
	t->other.ifindex = OTHER;
	t->kdev.netdev = &t->netdev;
	t->kdev.net = t->net;
	t->rdma.device = &t->kdev.ibdev;
	t->rdma.route.addr.dev_addr.net = t->net;
	t->id.device = &t->kdev.ibdev;
	t->id.context = &t->rdma;
	other_netdev = NULL;
	with_link = NULL;
	references = 0;
	return 0;
}

static void iface_test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, references, 0);
}

static struct kunit_case iface_cases[] = {
	KUNIT_CASE(test_other_device),
	KUNIT_CASE(test_other_namespace),
	KUNIT_CASE(test_iface),
	{}
};

static struct kunit_suite iface_suite = {
	.name = "kwarp_cm_iface",
	.init = iface_test_init,
	.exit = iface_test_exit,
	.test_cases = iface_cases,
};

kunit_test_suite(iface_suite);
