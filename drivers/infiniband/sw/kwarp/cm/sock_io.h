/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sending and receiving on a socket of connection management, without waiting. */
#ifndef KWARP_CM_SOCK_IO_H
#define KWARP_CM_SOCK_IO_H

#include <linux/types.h>

struct socket;

int kwarp_cm_sock_recv(struct socket *sock, void *buf, u32 len, int flags);
int kwarp_cm_sock_send(struct socket *sock, const void *buf, u32 len);
void kwarp_cm_sock_fin(struct socket *sock);
bool kwarp_cm_sock_closed(const struct socket *sock);
u32 kwarp_cm_sock_acked(const struct socket *sock);
bool kwarp_cm_sock_unacked(const struct socket *sock);

#endif /* KWARP_CM_SOCK_IO_H */
