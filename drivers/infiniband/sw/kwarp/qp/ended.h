/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_QP_ENDED_H
#define KWARP_QP_ENDED_H

struct kwarp_qp;

void kwarp_qp_tell_end(struct kwarp_qp *qp);

#endif /* KWARP_QP_ENDED_H */
