/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Links, that is, kwarp devices on netdevs: the commands `rdma link add` and `rdma link delete`. */
#ifndef KWARP_LINK_H
#define KWARP_LINK_H

struct kwarp_personality;
struct net_device;
struct rdma_link_ops;

int kwarp_link_register(void);
void kwarp_link_unregister(void);
int kwarp_link_add(const char *name, struct net_device *netdev, struct rdma_link_ops *ops,
		   const struct kwarp_personality *personality);
void kwarp_link_add_type(struct rdma_link_ops *ops);

/* Types of links with a personality; without such a type, these are weak functions of link.c. */
void kwarp_foreign_links_register(void);
void kwarp_foreign_links_unregister(void);

#endif /* KWARP_LINK_H */
