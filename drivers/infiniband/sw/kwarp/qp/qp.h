/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The queue pair: creation, destruction, the peer's access rights, reset, and events. */
#ifndef KWARP_QP_QP_H
#define KWARP_QP_QP_H

#include "stream.h"
#include "types.h"

void kwarp_qp_init(struct kwarp_qp *qp);
int kwarp_qp_reserve(struct kwarp_qp *qp);
void kwarp_qp_unreserve(struct kwarp_qp *qp);
void kwarp_qp_publish(struct kwarp_qp *qp);
bool kwarp_qp_describe(struct kwarp_qp *qp, struct kwarp_engine_info *info);
void kwarp_qp_retire(struct kwarp_qp *qp);
bool kwarp_qp_gone(struct kwarp_qp *qp);
int kwarp_qp_reset(struct kwarp_qp *qp);
void kwarp_qp_forget_access(struct kwarp_qp *qp);
void kwarp_qp_set_access(struct kwarp_qp *qp, int access, bool set_up);

void kwarp_qp_work_init(struct kwarp_qp *qp);
void kwarp_qp_work_cancel(struct kwarp_qp *qp);
void kwarp_qp_poll(struct kwarp_qp *qp);
int kwarp_qp_event(struct kwarp_qp *qp, enum kwarp_qp_event event);
int kwarp_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event);

void kwarp_qp_tell_end(struct kwarp_qp *qp);

#endif /* KWARP_QP_QP_H */
