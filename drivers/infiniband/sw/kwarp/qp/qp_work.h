/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_QP_QP_WORK_H
#define KWARP_QP_QP_WORK_H

struct kwarp_qp;

void kwarp_qp_work_init(struct kwarp_qp *qp);
void kwarp_qp_work_cancel(struct kwarp_qp *qp);

#endif /* KWARP_QP_QP_WORK_H */
