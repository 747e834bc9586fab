/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Events of a queue pair's stream. */
#ifndef KWARP_QP_QP_WORK_H
#define KWARP_QP_QP_WORK_H

#include "../proto/qp_fsm.h"

struct kwarp_qp;

void kwarp_qp_work_init(struct kwarp_qp *qp);
void kwarp_qp_work_cancel(struct kwarp_qp *qp);
void kwarp_qp_poll(struct kwarp_qp *qp);
int kwarp_qp_event(struct kwarp_qp *qp, enum kwarp_qp_event event);
int kwarp_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event);

/* ended.c */
void kwarp_qp_tell_end(struct kwarp_qp *qp);

#endif /* KWARP_QP_QP_WORK_H */
