/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tells why a connection has failed to start. */
#ifndef KWARP_CM_EP_TROUBLE_H
#define KWARP_CM_EP_TROUBLE_H

#include "types.h"

void kwarp_ep_tell_trouble(struct kwarp_ep *ep, enum kwarp_cm_state was, enum kwarp_cm_event event);

#endif /* KWARP_CM_EP_TROUBLE_H */
