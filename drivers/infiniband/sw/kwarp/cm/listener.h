/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Listeners: references, and the list of half-open endpoints. An endpoint (one connection) is
 * half-open until the ULP accepts the connection, or until its end.
 */
#ifndef KWARP_CM_LISTENER_H
#define KWARP_CM_LISTENER_H

#include <linux/types.h>

struct kwarp_ep;
struct kwarp_listener;

void kwarp_listener_get(struct kwarp_listener *l);
void kwarp_listener_put(struct kwarp_listener *l);
void kwarp_listener_kick(struct kwarp_listener *l);
void kwarp_listener_enter(struct kwarp_ep *ep);
void kwarp_listener_leave(struct kwarp_ep *ep);
bool kwarp_listener_may_evict(const struct kwarp_ep *ep);

#endif /* KWARP_CM_LISTENER_H */
