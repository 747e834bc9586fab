// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the link type kwarp-siw: link.c is included. */
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <rdma/rdma_netlink.h>

static void note_end(struct rdma_link_ops *ops);

#define kwarp_link_add		note_add
#define kwarp_link_add_type	note_type
#define rdma_link_unregister	note_end
#include "../link.c"

static struct {
	const char *name;
	struct net_device *netdev;
	struct rdma_link_ops *ops;
	const struct kwarp_personality *personality;
} added;

static struct rdma_link_ops *registered;

int note_add(const char *name, struct net_device *netdev, struct rdma_link_ops *ops,
	     const struct kwarp_personality *personality)
{
	added.name = name;
	added.netdev = netdev;
	added.ops = ops;
	added.personality = personality;
	return -EEXIST;
}

void note_type(struct rdma_link_ops *ops)
{
	registered = ops;
}

static void note_end(struct rdma_link_ops *ops)
{
	if (registered == ops)
		registered = NULL;
}

static void test_link(struct kunit *test)
{
	struct net_device *netdev = kunit_kzalloc(test, sizeof(*netdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, netdev);
	kwarp_foreign_links_register();
	KUNIT_ASSERT_NOT_NULL(test, registered);
	KUNIT_EXPECT_STREQ(test, registered->type, "kwarp-siw");
	KUNIT_EXPECT_EQ(test, registered->newlink("kw0", netdev), -EEXIST);
	KUNIT_EXPECT_STREQ(test, added.name, "kw0");
	KUNIT_EXPECT_PTR_EQ(test, added.netdev, netdev);
	KUNIT_EXPECT_PTR_EQ(test, added.ops, registered);
	KUNIT_EXPECT_PTR_EQ(test, added.personality, &kwarp_siw_personality);
	kwarp_foreign_links_unregister();
	KUNIT_EXPECT_NULL(test, registered);
}

static struct kunit_case siw_link_cases[] = {
	KUNIT_CASE(test_link),
	{}
};

static struct kunit_suite siw_link_suite = {
	.name = "kwarp_siw_link",
	.test_cases = siw_link_cases,
};

kunit_test_suite(siw_link_suite);
