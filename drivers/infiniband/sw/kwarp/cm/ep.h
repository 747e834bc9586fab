/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints (objects for connections): memory, references, locking, timer, event bits, and why one
 * has failed to start.
 * Listeners: references, and the list of half-open endpoints.
 */
#ifndef KWARP_CM_EP_H
#define KWARP_CM_EP_H

#include "types.h"

struct kwarp_ep *kwarp_ep_alloc(struct kwarp_dev *kdev, struct kwarp_listener *l,
				void (*handle_events)(struct kwarp_ep *ep));
int kwarp_ep_enlist(struct kwarp_ep *ep);
void kwarp_ep_delist(struct kwarp_ep *ep);
void kwarp_ep_get(struct kwarp_ep *ep);
void kwarp_ep_put(struct kwarp_ep *ep);
void kwarp_ep_end_startup(struct kwarp_ep *ep);
void kwarp_ep_lock(struct kwarp_ep *ep);
void kwarp_ep_unlock(struct kwarp_ep *ep);
void kwarp_ep_unlock_put(struct kwarp_ep *ep);
void kwarp_ep_mark(struct kwarp_ep *ep, int bit);
void kwarp_ep_mark_all(struct kwarp_dev *kdev, int bit);
void kwarp_ep_set_timer(struct kwarp_ep *ep);
void kwarp_ep_arm_deadline(struct kwarp_ep *ep);
bool kwarp_ep_caller_ends(const struct kwarp_ep *ep);
void kwarp_ep_retry_in(struct kwarp_ep *ep, unsigned long delay);
void kwarp_ep_set_id(struct kwarp_ep *ep, struct iw_cm_id *id);
void kwarp_ep_drop_id(struct kwarp_ep *ep);
struct kwarp_ep *kwarp_ep_find(struct kwarp_dev *kdev, const struct iw_cm_id *id);
void kwarp_ep_tell_trouble(struct kwarp_ep *ep, enum kwarp_cm_state was, enum kwarp_cm_event event);

void kwarp_listener_get(struct kwarp_listener *l);
void kwarp_listener_put(struct kwarp_listener *l);
void kwarp_listener_kick(struct kwarp_listener *l);
void kwarp_listener_enter(struct kwarp_ep *ep);
void kwarp_listener_leave(struct kwarp_ep *ep);
bool kwarp_listener_may_evict(const struct kwarp_ep *ep);

#endif /* KWARP_CM_EP_H */
