/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Socket options that follow from knobs (tunables of a device), set when a socket connects,
 * listens, or is accepted.
 */
#ifndef KWARP_CM_SOCK_KNOBS_H
#define KWARP_CM_SOCK_KNOBS_H

#include <linux/types.h>

struct iw_cm_id;
struct kwarp_dev;
struct socket;

void kwarp_sock_dials(struct kwarp_dev *kdev, struct socket *sock, const struct iw_cm_id *id);
void kwarp_sock_redials(struct kwarp_dev *kdev, struct socket *sock);
void kwarp_sock_connected(struct kwarp_dev *kdev, struct socket *sock);
void kwarp_sock_listens(struct kwarp_dev *kdev, struct socket *sock, const struct iw_cm_id *id);
void kwarp_sock_accepted(struct kwarp_dev *kdev, struct socket *sock,
			 const struct socket *listener, bool tos_set);

#endif /* KWARP_CM_SOCK_KNOBS_H */
