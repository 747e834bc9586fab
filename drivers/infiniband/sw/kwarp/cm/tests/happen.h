/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each of these functions lets one event happen to the endpoint (connection) of a test case,
 * ct_the_ep(): caused by TCP, or by the endpoint's peer, queue pair, listener or device.
 */
#ifndef KWARP_CM_TESTS_HAPPEN_H
#define KWARP_CM_TESTS_HAPPEN_H

#include "states.h"

extern struct completion ct_gate;
extern struct work_struct ct_gate_work;

void ct_on_abort(void);
void ct_on_no_qp(void);
void ct_on_orphan(void);
void ct_on_evict(void);
void ct_on_fin(void);
void ct_on_reset(void);
void ct_on_refused(void);
void ct_on_unreachable(void);
void ct_on_connect_reset(void);
void ct_on_tx_error(void);
void ct_on_garbage(void);
void ct_on_probe(void);
void ct_on_down(void);
void ct_on_down_fin(void);
void ct_on_peer_closed(void);
void ct_on_device_end(void);
void ct_on_device_retires(void);
void ct_on_nothing(void);

#endif /* KWARP_CM_TESTS_HAPPEN_H */
