/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* State of an endpoint (connection) or a listener, for `rdma resource show` and debugfs. */
#ifndef KWARP_CM_CM_INFO_H
#define KWARP_CM_CM_INFO_H

#include <linux/types.h>

struct kwarp_cm_info;
struct kwarp_ep;
struct kwarp_listener;

void kwarp_ep_describe(struct kwarp_ep *ep, struct kwarp_cm_info *info);
bool kwarp_listener_describe(struct kwarp_listener *l, struct kwarp_cm_info *info);

#endif /* KWARP_CM_CM_INFO_H */
