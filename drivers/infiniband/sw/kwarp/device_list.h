/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* List of all kwarp devices, to find one by its netdev or by its network namespace. */
#ifndef KWARP_DEVICE_LIST_H
#define KWARP_DEVICE_LIST_H

#include <linux/types.h>

struct ib_device;
struct kwarp_dev;
struct net;
struct net_device;

void kwarp_device_track(struct kwarp_dev *kdev);
void kwarp_device_untrack(struct kwarp_dev *kdev);
bool kwarp_net_in_use(const struct net *net);
struct ib_device *kwarp_device_get_next(const struct net *net, u32 index);
struct ib_device *kwarp_device_get_by_netdev(const struct net_device *netdev);
void kwarp_device_wait_left(const struct net *net);

#endif /* KWARP_DEVICE_LIST_H */
