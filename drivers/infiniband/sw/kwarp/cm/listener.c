// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Listener: references, and the list of its half-open endpoints. An endpoint (one connection) is
 * half-open until the ULP accepts the connection, or until its end. cm_listen.c makes listeners,
 * accepts connections and closes listeners.
 */
#include "listener.h"

#include <linux/slab.h>

#include "../wq.h"
#include "types.h"

static void listener_release(struct kref *kref)
{
	struct kwarp_listener *l = container_of(kref, struct kwarp_listener, kref);

	WARN_ON_ONCE(l->cs.sock || l->cm_id || l->num_half_open || l->asked ||
		     !list_empty(&l->waiting));
	mutex_destroy(&l->mutex);
	kfree(l);
}

/* Take a reference. Context: any. */
void kwarp_listener_get(struct kwarp_listener *l)
{
	kref_get(&l->kref);
}

/* Put a reference. Context: any. */
void kwarp_listener_put(struct kwarp_listener *l)
{
	kref_put(&l->kref, listener_release);
}

/* Let the work item look for connections to accept. Context: any. */
void kwarp_listener_kick(struct kwarp_listener *l)
{
	kwarp_listener_get(l);			/* reference for the queued work */
	if (mod_delayed_work(kwarp_wq, &l->work, 0))
		kwarp_listener_put(l);		/* the queued work has a reference already */
}

/**
 * kwarp_listener_enter - add an endpoint to the listener's half-open endpoints
 * @ep: endpoint that came from a listener
 *
 * Context: process; ep->mutex held.
 */
void kwarp_listener_enter(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;

	lockdep_assert_held(&ep->mutex);
	spin_lock(&l->lock);
	list_add_tail(&ep->half_open, &l->half_open);
	WRITE_ONCE(l->num_half_open, l->num_half_open + 1);
	spin_unlock(&l->lock);
}

/**
 * kwarp_listener_leave - remove an endpoint from the listener's half-open endpoints, if it is one
 * of them
 * @ep: endpoint that came from a listener
 *
 * Context: process; ep->mutex held.
 */
void kwarp_listener_leave(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	bool was_full = false;

	lockdep_assert_held(&ep->mutex);
	spin_lock(&l->lock);
	if (!list_empty(&ep->half_open)) {
		list_del_init(&ep->half_open);
		was_full = l->num_half_open >= READ_ONCE(l->kdev->knobs.half_open_max);
		WRITE_ONCE(l->num_half_open, l->num_half_open - 1);
		/*
		 * The endpoint need not end any more to make room in the half-open list.
		 * evict_some(), which sets this bit, finds endpoints only in that list, so the bit
		 * stays clear.
		 */
		clear_bit(KWARP_EP_EVICT, &ep->events);
	}
	spin_unlock(&l->lock);
	if (was_full)
		kwarp_listener_kick(l);
}

/*
 * Has a half-open endpoint waited so long for its peer, or for its ULP, that it may be ended?
 * Context: process.
 */
bool kwarp_listener_may_evict(const struct kwarp_ep *ep)
{
	enum kwarp_cm_state state = READ_ONCE(ep->state);
	bool ulp = state == KWARP_CMS_WAIT_TURN || state == KWARP_CMS_WAIT_ULP;
	u32 age = ulp ? KWARP_EVICT_ULP_AGE_MS : KWARP_EVICT_AGE_MS;

	return kwarp_cm_fsm(state, KWARP_CME_EVICT)->legal &&
	       time_after(jiffies, READ_ONCE(ep->since) + msecs_to_jiffies(age));
}
