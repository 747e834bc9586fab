/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An RDMA device on a netdev */
#ifndef KWARP_DEVICE_H
#define KWARP_DEVICE_H

#include "kwarp.h"

struct rdma_link_ops;

int kwarp_device_add(const char *name, struct net_device *netdev, struct net *net,
		     struct rdma_link_ops *link_ops,
		     const struct kwarp_personality *personality);
void kwarp_device_update_speed(struct kwarp_dev *kdev);
void kwarp_device_port_event(struct kwarp_dev *kdev);
void kwarp_device_address_event(struct kwarp_dev *kdev);
void kwarp_device_gid_event(struct kwarp_dev *kdev);
void kwarp_device_renamed(struct kwarp_dev *kdev);

/* sysfs.c */
int kwarp_sysfs_add(struct ib_device *ibdev);

/* knobs.c */
extern const struct attribute_group kwarp_attr_group;
void kwarp_knobs_init(struct kwarp_dev *kdev);

#endif /* KWARP_DEVICE_H */
