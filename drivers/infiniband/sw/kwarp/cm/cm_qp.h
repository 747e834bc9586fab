/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stand-ins for queue pairs, see cm_qp.c. */
#ifndef KWARP_CM_CM_QP_H
#define KWARP_CM_CM_QP_H

#include <linux/types.h>

struct ib_device;
struct ib_qp;
struct kwarp_dev;
struct kwarp_ep;

/* What iw_cm and, through modify_qp, the RDMA core call. */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn);
void kwarp_qp_add_ref(struct ib_qp *ibqp);
void kwarp_qp_rem_ref(struct ib_qp *ibqp);
bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp);
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);

void kwarp_cm_init_stand_ins(struct kwarp_dev *kdev);
void kwarp_cm_exit_stand_ins(void);
struct ib_qp *kwarp_cm_take_stand_in(struct kwarp_dev *kdev);
void kwarp_cm_expose_stand_in(struct ib_qp *ibqp);
void kwarp_cm_bind_stand_in(struct ib_qp *ibqp, struct kwarp_ep *ep);

#endif /* KWARP_CM_CM_QP_H */
