/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One RDMA device on one netdev: made by link.c, ended by the RDMA core. */
#ifndef KWARP_DEVICE_H
#define KWARP_DEVICE_H

#include "kwarp.h"

int kwarp_device_add(const char *name, struct net_device *netdev, struct net *net);
void kwarp_device_update_speed(struct kwarp_dev *kdev);
void kwarp_device_port_event(struct kwarp_dev *kdev);
void kwarp_device_gid_event(struct kwarp_dev *kdev);
void kwarp_device_renamed(struct kwarp_dev *kdev);

/* knobs.c */
extern const struct attribute_group kwarp_attr_group;
void kwarp_knobs_init(struct kwarp_knobs *knobs);

/* link.c */
int kwarp_link_register(void);
void kwarp_link_unregister(void);
void kwarp_link_track(struct kwarp_dev *kdev);
void kwarp_link_untrack(struct kwarp_dev *kdev);

#endif /* KWARP_DEVICE_H */
