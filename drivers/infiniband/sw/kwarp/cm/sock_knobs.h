/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Socket options, most of which follow from knobs. */
#ifndef KWARP_CM_SOCK_KNOBS_H
#define KWARP_CM_SOCK_KNOBS_H

#include <linux/types.h>

struct iw_cm_id;
struct kwarp_dev;
struct socket;

void kwarp_sock_begins(struct kwarp_dev *kdev, struct socket *sock, const struct iw_cm_id *id);
void kwarp_sock_connects(struct kwarp_dev *kdev, struct socket *sock);
void kwarp_sock_connected(struct kwarp_dev *kdev, struct socket *sock);
void kwarp_sock_accepted(struct kwarp_dev *kdev, struct socket *sock,
			 const struct socket *listener, bool tos_set);

void kwarp_sock_set_tos(struct socket *sock, int tos);
int kwarp_sock_set(struct socket *sock, int level, int option, int value);

#endif /* KWARP_CM_SOCK_KNOBS_H */
