/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What iw_cm has instead of a queue pair: what iw_cm and the core do with it. */
#ifndef KWARP_CM_CM_QP_H
#define KWARP_CM_CM_QP_H

#include <linux/types.h>

struct ib_device;
struct ib_qp;

/* It gets one for a number, which comes back in rem_ref, and in modify_qp. */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn);
void kwarp_qp_add_ref(struct ib_qp *ibqp);
void kwarp_qp_rem_ref(struct ib_qp *ibqp);
bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp);
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);

#endif /* KWARP_CM_CM_QP_H */
