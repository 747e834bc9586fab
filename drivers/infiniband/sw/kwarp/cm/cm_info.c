// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* State of an endpoint (connection) or a listener, for `rdma resource show` and debugfs. */
#include "cm_info.h"

#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "../kwarp.h"
#include "cm.h"
#include "ep.h"
#include "listener.h"

/*
 * Milliseconds from @from to @to, both in jiffies; 0 if @to is before @from. 64 bits, because
 * a storage connection may last for months.
 */
static u64 ms_between(unsigned long from, unsigned long to)
{
	return time_after(to, from) ? jiffies64_to_msecs(to - from) : 0;
}

/**
 * kwarp_ep_describe - fill in an endpoint's state, and the time in that state
 * @ep: endpoint
 * @info: result
 *
 * Context: process; ep->mutex held.
 */
void kwarp_ep_describe(struct kwarp_ep *ep, struct kwarp_cm_info *info)
{
	const unsigned long now = jiffies;

	lockdep_assert_held(&ep->mutex);
	*info = (struct kwarp_cm_info) {
		.role = ep->listener ? "responder" : "initiator",
		.state = kwarp_cm_state_name(ep->state),
		.state_ms = ms_between(ep->since, now),
		.timed = ep->due.kind != KWARP_CMT_NONE,
	};
	if (info->timed)
		info->ends_ms = ms_between(now, ep->due.deadline);
}

/**
 * kwarp_listener_describe - fill in a listener's queue lengths
 * @l: listener
 * @info: result
 *
 * Context: process; l->mutex held.
 * Return: false: the listener has no socket, and takes no connections.
 */
bool kwarp_listener_describe(struct kwarp_listener *l, struct kwarp_cm_info *info)
{
	lockdep_assert_held(&l->mutex);
	if (!l->cs.sock)
		return false;
	*info = (struct kwarp_cm_info) {
		.role = "listener",
		.backlog = l->backlog,
		.queued = kwarp_cm_sock_queued(l->cs.sock),
		/* Read without l->lock: the two values may be from different moments. */
		.half_open = READ_ONCE(l->num_half_open),
		.asked = READ_ONCE(l->asked),
	};
	return true;
}

/* Return: the listener of the id, with a reference; or NULL. */
static struct kwarp_listener *find_listener(struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	struct kwarp_listener *l, *found = NULL;

	spin_lock(&kdev->cm.lock);
	hash_for_each_possible(kdev->cm.listener_ids, l, id_node, (unsigned long)id) {
		/* Read without l->lock: the listener may be dropping the id at this moment. */
		if (READ_ONCE(l->cm_id) == id) {
			/*
			 * @l cannot be freed here: a listener is removed from the table, under
			 * cm.lock, before it is freed.
			 */
			kwarp_listener_get(l);
			found = l;
			break;
		}
	}
	spin_unlock(&kdev->cm.lock);
	return found;
}

static bool describe_listener_of(struct kwarp_dev *kdev, const struct iw_cm_id *id,
				 struct kwarp_cm_info *info)
{
	struct kwarp_listener *l = find_listener(kdev, id);
	bool ok;

	if (!l)
		return false;
	mutex_lock(&l->mutex);
	ok = kwarp_listener_describe(l, info);
	mutex_unlock(&l->mutex);
	kwarp_listener_put(l);
	return ok;
}

/**
 * kwarp_cm_describe - fill in the state of the endpoint or listener of an id
 * @kdev: device; the caller keeps it from going away
 * @id: iw_cm's id; only compared, so it may be freed during the call
 * @info: result
 *
 * An id that listens has a listener. An id of a connection has an endpoint from connect or accept
 * until the last upcall.
 *
 * Context: process, may sleep.
 * Return: false: the id has no endpoint (connection), and no listener with a socket.
 */
bool kwarp_cm_describe(struct kwarp_dev *kdev, const struct iw_cm_id *id,
		       struct kwarp_cm_info *info)
{
	struct kwarp_ep *ep;

	might_sleep();
	ep = kwarp_ep_find(kdev, id);
	if (!ep)
		return describe_listener_of(kdev, id, info);
	mutex_lock(&ep->mutex);
	kwarp_ep_describe(ep, info);
	mutex_unlock(&ep->mutex);
	kwarp_ep_put(ep);
	return true;
}
