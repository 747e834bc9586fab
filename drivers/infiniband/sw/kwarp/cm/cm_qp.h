/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What iw_cm has instead of a queue pair. */
#ifndef KWARP_CM_CM_QP_H
#define KWARP_CM_CM_QP_H

#include <linux/types.h>

struct ib_device;
struct ib_qp;
struct kwarp_dev;
struct kwarp_ep;

/* It gets one for a number, which comes back in rem_ref, and in modify_qp. */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn);
void kwarp_qp_add_ref(struct ib_qp *ibqp);
void kwarp_qp_rem_ref(struct ib_qp *ibqp);
bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp);
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);

/* for cm.c */
void kwarp_cm_init_stand_ins(struct kwarp_dev *kdev);
void kwarp_cm_exit_stand_ins(void);
struct ib_qp *kwarp_cm_claim_stand_in(struct kwarp_dev *kdev);
void kwarp_cm_expose_stand_in(struct ib_qp *ibqp);
void kwarp_cm_bind_stand_in(struct ib_qp *ibqp, struct kwarp_ep *ep);

#endif /* KWARP_CM_CM_QP_H */
