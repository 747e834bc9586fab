/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_FAULT_NETLINK_H
#define KWARP_FAULT_NETLINK_H

#include <net/genetlink.h>

extern const struct nla_policy kwarp_fault_policy[];

int kwarp_fault_do_add(struct sk_buff *skb, struct genl_info *info);
int kwarp_fault_do_del(struct sk_buff *skb, struct genl_info *info);
int kwarp_fault_dump(struct sk_buff *msg, struct netlink_callback *cb,
		     const struct genl_family *family);

#endif /* KWARP_FAULT_NETLINK_H */
