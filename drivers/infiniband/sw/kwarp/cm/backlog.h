/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * While the ULP has as many unanswered MPA Requests as its backlog says, others wait in line.
 */
#ifndef KWARP_CM_BACKLOG_H
#define KWARP_CM_BACKLOG_H

#include <linux/types.h>

struct kwarp_ep;

bool kwarp_backlog_try(struct kwarp_ep *ep);
unsigned long kwarp_backlog_delay(struct kwarp_ep *ep);
void kwarp_backlog_asked(struct kwarp_ep *ep);
void kwarp_backlog_leave(struct kwarp_ep *ep);

#endif /* KWARP_CM_BACKLOG_H */
