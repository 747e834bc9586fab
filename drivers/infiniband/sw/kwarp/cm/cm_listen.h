/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Listeners: their creation, and their end. */
#ifndef KWARP_CM_CM_LISTEN_H
#define KWARP_CM_CM_LISTEN_H

#include "../proto/cm_fsm.h"

struct iw_cm_id;
struct kwarp_dev;
struct kwarp_ep;
struct kwarp_listener;

int kwarp_listener_create(struct iw_cm_id *id, int backlog,
			  enum kwarp_cm_event (*answer)(struct kwarp_ep *ep));
void kwarp_listener_destroy(struct kwarp_listener *l);
void kwarp_listener_shut_all(struct kwarp_dev *kdev);

#endif /* KWARP_CM_CM_LISTEN_H */
