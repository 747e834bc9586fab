// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoint (one connection): object, references, and events; ep_timer.c sets the timer. Listener:
 * references, and the list of its half-open endpoints.
 *
 * kwarp_ep_mark() records an event as a bit. If a context has the endpoint locked by
 * kwarp_ep_lock(), that context handles the bit before it unlocks the endpoint; otherwise a work
 * item handles the bit. A bit is a reason to look at the endpoint, not a message: setting it twice
 * is the same as setting it once.
 */
#include "ep.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../door.h"
#include "../wq.h"
#include "startup.h"

/* --------------------------------------------------------------- listeners */

static void listener_release(struct kref *kref)
{
	struct kwarp_listener *l = container_of(kref, struct kwarp_listener, kref);

	WARN_ON_ONCE(l->cs.sock || l->cm_id || l->num_half_open || l->asked ||
		     !list_empty(&l->waiting));
	mutex_destroy(&l->mutex);
	kfree(l);
}

void kwarp_listener_get(struct kwarp_listener *l)
{
	kref_get(&l->kref);
}

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

void kwarp_listener_enter(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;

	lockdep_assert_held(&ep->mutex);
	spin_lock(&l->lock);
	list_add_tail(&ep->half_open, &l->half_open);
	WRITE_ONCE(l->num_half_open, l->num_half_open + 1);
	spin_unlock(&l->lock);
}

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

/* Has a half-open endpoint waited so long for its peer, or for its ULP, that it may be ended? */
bool kwarp_listener_may_evict(const struct kwarp_ep *ep)
{
	enum kwarp_cm_state state = READ_ONCE(ep->state);
	bool ulp = state == KWARP_CMS_WAIT_BACKLOG || state == KWARP_CMS_WAIT_ULP;
	u32 age = ulp ? KWARP_EVICT_ULP_AGE_MS : KWARP_EVICT_AGE_MS;

	return kwarp_cm_fsm(state, KWARP_CME_EVICT)->legal &&
	       time_after(jiffies, READ_ONCE(ep->since) + msecs_to_jiffies(age));
}

/* -------------------------------------------------------------- references */

/* MPA startup has succeeded or failed; nothing else uses ep->su any more. */
void kwarp_ep_end_startup(struct kwarp_ep *ep)
{
	if (!ep->su)
		return;
	kwarp_readqs_fini(&ep->su->readqs);
	put_pid(ep->su->caller);
	kfree(ep->su);
	ep->su = NULL;
}

static void ep_release(struct kref *kref)
{
	struct kwarp_ep *ep = container_of(kref, struct kwarp_ep, kref);

	WARN_ON_ONCE(ep->cs.sock || ep->cm_id || ep->qp);
	if (ep->listener)
		kwarp_listener_put(ep->listener);
	mutex_destroy(&ep->mutex);
	kwarp_ep_end_startup(ep);
	kfree(ep);
}

void kwarp_ep_get(struct kwarp_ep *ep)
{
	kref_get(&ep->kref);
}

/* Context: any; under ep->mutex only if there is another reference. */
void kwarp_ep_put(struct kwarp_ep *ep)
{
	kref_put(&ep->kref, ep_release);
}

static void queue_ep(struct kwarp_ep *ep)
{
	kwarp_ep_get(ep);			/* reference for the queued work */
	if (!queue_work(kwarp_cm_wq, &ep->work))
		kwarp_ep_put(ep);		/* the queued work has a reference already */
}

/* @ep cannot go away during the call. Context: any. */
void kwarp_ep_mark(struct kwarp_ep *ep, int bit)
{
	KWARP_DOOR(kwarp_ep_mark, ep, bit);
	set_bit(bit, &ep->events);
	if (kwarp_run_ask(&ep->run))
		queue_ep(ep);
}

/*
 * The caller has a reference besides the endpoint's own. Until kwarp_ep_unlock() the caller handles
 * all events of the endpoint, not the work item. Context: process; no queue pair's mutex held.
 */
void kwarp_ep_lock(struct kwarp_ep *ep)
{
	bool ours;

	mutex_lock(&ep->mutex);
	/* Cannot fail: ep->run is ACTIVE only while a context has the mutex. */
	ours = kwarp_run_enter(&ep->run);
	WARN_ON_ONCE(!ours);
}

static void ep_round(void *arg)
{
	struct kwarp_ep *ep = arg;

	ep->handle_events(ep);
}

/* Handles all events first; if new ones come all the time, the work item handles the rest. */
void kwarp_ep_unlock(struct kwarp_ep *ep)
{
	if (!kwarp_run_rounds(&ep->run, ep_round, ep))
		queue_ep(ep);
	mutex_unlock(&ep->mutex);
}

void kwarp_ep_unlock_put(struct kwarp_ep *ep)
{
	kwarp_ep_unlock(ep);
	kwarp_ep_put(ep);
}

static void ep_work(struct work_struct *work)
{
	struct kwarp_ep *ep = container_of(work, struct kwarp_ep, work);
	unsigned int noio;

	/* A storage protocol may wait for a connection, to write out memory: no I/O here. */
	noio = memalloc_noio_save();
	/*
	 * If ep->run is not QUEUED any more, another context has handled the events, or handles
	 * them now.
	 */
	if (atomic_read(&ep->run) == KWARP_RUN_QUEUED) {
		kwarp_ep_lock(ep);
		kwarp_ep_unlock(ep);
	}
	memalloc_noio_restore(noio);
	kwarp_ep_put(ep);
}

static void ep_notify(struct kwarp_cm_sock *cs)
{
	kwarp_ep_mark(container_of(cs, struct kwarp_ep, cs), KWARP_EP_SOCK);
}

static void ep_timer(struct work_struct *work)
{
	struct kwarp_ep *ep = container_of(to_delayed_work(work), struct kwarp_ep, timer);

	kwarp_ep_mark(ep, KWARP_EP_TIMER);
	kwarp_ep_put(ep);
}

/*
 * The memory is charged to the caller's memory cgroup, or to that of set_active_memcg(). Peers can
 * cause any number of allocations for a listener: these use __GFP_NORETRY, so that a peer cannot
 * start the OOM killer. Return: the endpoint with one reference, in no list yet; NULL: out of
 * memory.
 */
struct kwarp_ep *kwarp_ep_alloc(struct kwarp_dev *kdev, struct kwarp_listener *l,
				void (*handle_events)(struct kwarp_ep *ep))
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | (l ? __GFP_NORETRY | __GFP_NOWARN : 0);
	struct kwarp_ep *ep;

	ep = kzalloc(sizeof(*ep), gfp);
	if (!ep)
		return NULL;
	ep->su = kzalloc(sizeof(*ep->su), gfp);
	if (!ep->su) {
		kfree(ep);
		return NULL;
	}
	kref_init(&ep->kref);
	mutex_init(&ep->mutex);
	atomic_set(&ep->run, KWARP_RUN_IDLE);
	ep->handle_events = handle_events;
	INIT_WORK(&ep->work, ep_work);
	INIT_DELAYED_WORK(&ep->timer, ep_timer);
	INIT_LIST_HEAD(&ep->qp_node);
	INIT_LIST_HEAD(&ep->half_open);
	INIT_LIST_HEAD(&ep->in_line);
	ep->state = KWARP_CMS_NEW;
	ep->since = jiffies;
	ep->cs.notify = ep_notify;
	ep->kdev = kdev;
	if (l) {
		kwarp_listener_get(l);
		ep->listener = l;
	}
	return ep;
}

/*
 * The reference from kwarp_ep_alloc() becomes the endpoint's own, which the endpoint holds until it
 * is DEAD. Return: 0, with another reference for the caller; -ENODEV: the device is going away, and
 * the endpoint has been freed.
 */
int kwarp_ep_enlist(struct kwarp_ep *ep)
{
	struct kwarp_dev *kdev = ep->kdev;
	bool stopping;

	spin_lock(&kdev->cm.lock);
	stopping = kdev->cm.stopping;
	if (!stopping)
		list_add_tail(&ep->node, &kdev->cm.eps);
	spin_unlock(&kdev->cm.lock);
	if (stopping) {
		kwarp_ep_put(ep);
		return -ENODEV;
	}
	kwarp_ep_get(ep);
	return 0;
}

/* The caller has a reference besides the endpoint's own. */
void kwarp_ep_delist(struct kwarp_ep *ep)
{
	struct kwarp_dev *kdev = ep->kdev;

	lockdep_assert_held(&ep->mutex);
	spin_lock(&kdev->cm.lock);
	list_del(&ep->node);
	/*
	 * Wake up with the lock held: kwarp_cm_stop_device() takes the lock once more before it
	 * returns, so kdev exists until the lock is released.
	 */
	if (list_empty(&kdev->cm.eps))
		wake_up_all(&kdev->cm.idle);
	spin_unlock(&kdev->cm.lock);
	kwarp_ep_put(ep);			/* the endpoint's own reference */
}

/* ------------------------------------------- all endpoints of a device */

void kwarp_ep_mark_all(struct kwarp_dev *kdev, int bit)
{
	struct kwarp_ep *ep;

	/* No endpoint is freed here: each leaves the list, under cm.lock, before it is freed. */
	spin_lock(&kdev->cm.lock);
	list_for_each_entry(ep, &kdev->cm.eps, node)
		kwarp_ep_mark(ep, bit);
	spin_unlock(&kdev->cm.lock);
}

/* ------------------------------------------------------------------- ids */

void kwarp_ep_set_id(struct kwarp_ep *ep, struct iw_cm_id *id)
{
	struct kwarp_dev *kdev = ep->kdev;

	lockdep_assert_held(&ep->mutex);
	id->add_ref(id);
	spin_lock(&kdev->cm.lock);
	ep->cm_id = id;
	hash_add(kdev->cm.ep_ids, &ep->id_node, (unsigned long)id);
	spin_unlock(&kdev->cm.lock);
}

/* No upcalls are made any more. */
void kwarp_ep_drop_id(struct kwarp_ep *ep)
{
	struct kwarp_dev *kdev = ep->kdev;
	struct iw_cm_id *id = ep->cm_id;

	lockdep_assert_held(&ep->mutex);
	if (!id)
		return;
	spin_lock(&kdev->cm.lock);
	hash_del(&ep->id_node);
	ep->cm_id = NULL;
	spin_unlock(&kdev->cm.lock);
	id->rem_ref(id);
}

/*
 * @id is only compared, so it may be freed, or belong to another device. An endpoint holds a
 * reference on its id, so an endpoint that is found has this very id, and not one that was freed
 * and whose address is used again. The endpoint, returned with a reference, can lose the id at any
 * time, unless its mutex is held.
 */
struct kwarp_ep *kwarp_ep_find(struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	struct kwarp_ep *ep, *found = NULL;

	spin_lock(&kdev->cm.lock);
	hash_for_each_possible(kdev->cm.ep_ids, ep, id_node, (unsigned long)id) {
		if (ep->cm_id == id) {
			kwarp_ep_get(ep);
			found = ep;
			break;
		}
	}
	spin_unlock(&kdev->cm.lock);
	return found;
}
