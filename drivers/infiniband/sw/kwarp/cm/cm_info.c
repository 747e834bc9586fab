// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What an operator may want to know of an endpoint or a listener: rdma resource, debugfs. */
#include "cm_info.h"

#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "../kwarp.h"
#include "cm.h"
#include "cm_sock.h"
#include "ep.h"
#include "listener.h"

/* Milliseconds from @from to @to, jiffies; 0 if @to is before that. Storage stays for months. */
static u64 ms_between(unsigned long from, unsigned long to)
{
	return time_after(to, from) ? jiffies64_to_msecs(to - from) : 0;
}

/**
 * kwarp_ep_describe - an endpoint's state, and for how long
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
 * kwarp_listener_describe - a listener's queues
 * @l: listener
 * @info: result
 *
 * Context: process; l->mutex held.
 * Return: false: it has no socket, and takes no connection.
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
		/* Under l->lock they change; each is right for itself. */
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
		/* It may just be losing it; the id goes after that. */
		if (READ_ONCE(l->cm_id) == id) {
			/* Listed, hence alive. */
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
 * kwarp_cm_describe - what there is for an id
 * @kdev: device; stays meanwhile
 * @id: iw_cm's id, which need not stay: it is compared, and not looked into
 * @info: result
 *
 * A listener's id has its listener, and that of a connection its endpoint, from connect or accept
 * until the last event.
 *
 * Context: process, may sleep.
 * Return: false: nothing.
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
