/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queue pairs that are wired: the parts of modify_qp that concern them. */
#ifndef KWARP_VERBS_WIRE_VERBS_H
#define KWARP_VERBS_WIRE_VERBS_H

#include <linux/types.h>

struct ib_qp_attr;
struct kwarp_qp;

bool kwarp_wire_asks(const struct ib_qp_attr *attr, int mask);
bool kwarp_wire_attr_ok(const struct ib_qp_attr *attr, int mask);
int kwarp_wire_rtr(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask);
int kwarp_wire_rts(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask);
void kwarp_wire_end(struct kwarp_qp *qp);
void kwarp_wire_forget(struct kwarp_qp *qp);

#endif /* KWARP_VERBS_WIRE_VERBS_H */
