/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Endpoints (objects for connections): finding the queue pair, and giving it the socket. */
#ifndef KWARP_CM_EP_STREAM_H
#define KWARP_CM_EP_STREAM_H

#include "types.h"

void kwarp_ep_take_qp(struct kwarp_ep *ep, struct kwarp_qp *qp);
int kwarp_ep_bind_qp(struct kwarp_ep *ep, const struct iw_cm_id *id, u32 qpn);
void kwarp_ep_unbind_qp(struct kwarp_ep *ep);
int kwarp_ep_prepare(struct kwarp_ep *ep);
int kwarp_ep_prepare_in_work(struct kwarp_ep *ep);
int kwarp_ep_attach(struct kwarp_ep *ep, bool initiator);

#endif /* KWARP_CM_EP_STREAM_H */
