// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Links for libsiw: `rdma link add NAME type kwarp-siw netdev DEV` */
#include "../link.h"

#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "ring.h"

static struct rdma_link_ops siw_link_ops;

static int siw_newlink(const char *name, struct net_device *netdev)
{
	return kwarp_link_add(name, netdev, &siw_link_ops, &kwarp_siw_personality);
}

static struct rdma_link_ops siw_link_ops = {
	.type = "kwarp-siw",
	.newlink = siw_newlink,
};

void kwarp_foreign_links_register(void)
{
	kwarp_link_add_type(&siw_link_ops);
}

void kwarp_foreign_links_unregister(void)
{
	rdma_link_unregister(&siw_link_ops);
}

MODULE_ALIAS_RDMA_LINK("kwarp-siw");
