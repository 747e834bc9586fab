/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns: while the ULP has as many unanswered MPA Requests as its backlog says, other Requests wait
 * for their turn.
 */
#ifndef KWARP_CM_TURN_H
#define KWARP_CM_TURN_H

#include <linux/types.h>

struct kwarp_ep;

bool kwarp_turn_is(struct kwarp_ep *ep);
unsigned long kwarp_turn_delay(struct kwarp_ep *ep);
void kwarp_turn_asked(struct kwarp_ep *ep);
void kwarp_turn_over(struct kwarp_ep *ep);

#endif /* KWARP_CM_TURN_H */
