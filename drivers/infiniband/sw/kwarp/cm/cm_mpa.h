/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* MPA startup over a socket: sends and receives the Request and the Reply. */
#ifndef KWARP_CM_CM_MPA_H
#define KWARP_CM_CM_MPA_H

#include "types.h"

struct iw_cm_conn_param;

void kwarp_cm_mpa_init(struct kwarp_ep *ep);
enum kwarp_cm_event kwarp_cm_mpa_accept(struct kwarp_ep *ep,
					const struct iw_cm_conn_param *param);
void kwarp_cm_mpa_reject(struct kwarp_ep *ep, const void *pdata, u16 pdata_len);
enum kwarp_cm_event kwarp_cm_mpa_poll(struct kwarp_ep *ep);

#endif /* KWARP_CM_CM_MPA_H */
