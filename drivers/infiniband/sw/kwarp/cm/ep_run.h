/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Endpoints (objects for connections): handling of events, by the table of proto/cm_fsm.c. */
#ifndef KWARP_CM_EP_RUN_H
#define KWARP_CM_EP_RUN_H

#include "types.h"

struct kwarp_ep *kwarp_ep_create(struct kwarp_dev *kdev, struct kwarp_listener *l);
void kwarp_ep_apply(struct kwarp_ep *ep, enum kwarp_cm_event event);
void kwarp_ep_run(struct kwarp_ep *ep);

#endif /* KWARP_CM_EP_RUN_H */
