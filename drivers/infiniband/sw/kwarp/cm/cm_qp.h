/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stand-ins: what kwarp gives iw_cm instead of a queue pair, explained in cm_qp.c. These functions
 * are called by iw_cm and, through modify_qp, by the RDMA core.
 */
#ifndef KWARP_CM_CM_QP_H
#define KWARP_CM_CM_QP_H

#include <linux/types.h>

struct ib_device;
struct ib_qp;

/* iw_cm gets a stand-in for a QP number, and passes it to add_ref, rem_ref and modify_qp. */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn);
void kwarp_qp_add_ref(struct ib_qp *ibqp);
void kwarp_qp_rem_ref(struct ib_qp *ibqp);
bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp);
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);

#endif /* KWARP_CM_CM_QP_H */
