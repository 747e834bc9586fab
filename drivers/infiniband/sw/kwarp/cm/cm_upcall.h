/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Upcalls: the events that an endpoint reports to iw_cm. */
#ifndef KWARP_CM_CM_UPCALL_H
#define KWARP_CM_CM_UPCALL_H

#include "types.h"

void kwarp_cm_upcall_reply(struct kwarp_ep *ep, int status);
int kwarp_ep_publish(struct kwarp_ep *ep);
struct kwarp_ep *kwarp_ep_take_request(const struct iw_cm_id *id);
void kwarp_ep_unpublish(struct kwarp_ep *ep);
void kwarp_ep_check_idle(void);
void kwarp_cm_upcall_established(struct kwarp_ep *ep, int status);
void kwarp_cm_upcall_close(struct kwarp_ep *ep);

#endif /* KWARP_CM_CM_UPCALL_H */
