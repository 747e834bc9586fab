/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The generic netlink family of include/uapi/rdma/kwarp-netlink.h */
#ifndef KWARP_NETLINK_FAMILY_H
#define KWARP_NETLINK_FAMILY_H

int kwarp_netlink_register(void);
void kwarp_netlink_unregister(void);

#endif /* KWARP_NETLINK_FAMILY_H */
