/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Creation of the TCP sockets of connection management, and the addresses of a socket. */
#ifndef KWARP_CM_CM_SOCK_H
#define KWARP_CM_CM_SOCK_H

#include <linux/socket.h>

#include "sock_hook.h"

struct iw_cm_id;
struct kwarp_dev;
struct socket;

int kwarp_cm_sock_create(struct kwarp_dev *kdev, int family, struct socket **res);
int kwarp_cm_sock_connect(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			  struct kwarp_cm_sock *cs);
void kwarp_cm_sock_reset(struct kwarp_cm_sock *cs);
int kwarp_cm_sock_reconnect(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex);
int kwarp_cm_sock_connected(struct socket *sock, const struct iw_cm_id *id);
int kwarp_cm_sock_listen(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			 int backlog, struct kwarp_cm_sock *cs);
void kwarp_cm_sock_names(struct socket *sock, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote);
bool kwarp_cm_addr_loopback(const struct sockaddr_storage *ss);

#endif /* KWARP_CM_CM_SOCK_H */
