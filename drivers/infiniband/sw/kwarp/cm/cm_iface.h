/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The network interface to which the sockets of an iw_cm_id are bound. */
#ifndef KWARP_CM_CM_IFACE_H
#define KWARP_CM_CM_IFACE_H

#include <linux/socket.h>

struct iw_cm_id;
struct kwarp_dev;
struct net;
struct rdma_cm_id;

const struct rdma_cm_id *kwarp_cm_rdma_id(const struct iw_cm_id *id);
int kwarp_cm_local_iface(struct net *net, int ifindex, const struct sockaddr_storage *addr);
int kwarp_cm_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id);

#endif /* KWARP_CM_CM_IFACE_H */
