/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stand-ins: what kwarp gives iw_cm instead of a queue pair, explained in cm_qp.c. These functions
 * are for cm.c; those that iw_cm and the RDMA core call are in cm_qp.h.
 */
#ifndef KWARP_CM_STAND_IN_H
#define KWARP_CM_STAND_IN_H

struct ib_qp;
struct kwarp_dev;
struct kwarp_ep;

void kwarp_cm_init_stand_ins(struct kwarp_dev *kdev);
void kwarp_cm_exit_stand_ins(void);
struct ib_qp *kwarp_cm_claim_stand_in(struct kwarp_dev *kdev);
void kwarp_cm_expose_stand_in(struct ib_qp *ibqp);
void kwarp_cm_bind_stand_in(struct ib_qp *ibqp, struct kwarp_ep *ep);

#endif /* KWARP_CM_STAND_IN_H */
