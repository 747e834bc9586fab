/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The process whose connect or accept iw_cm waits for. */
#ifndef KWARP_CM_CALLER_H
#define KWARP_CM_CALLER_H

#include <linux/types.h>

struct kwarp_qp;
struct pid;

struct pid *kwarp_caller_get(struct kwarp_qp *qp);
bool kwarp_caller_ends(struct pid *pid);

#endif /* KWARP_CM_CALLER_H */
