// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Listeners: one listening socket per listening iw_cm_id, and the endpoints that are
 * born from it.
 *
 * rdma_cm listens for a wildcard address on every device, also on those whose netdev
 * is in another network namespace than the listening program, where TCP knows nothing
 * of rdma_cm's ports. rdma_cm refuses what comes in there, so such a listener gets no
 * socket. Where the namespace cannot be told (rdma_cm adds a new device for all its
 * listeners, in the context of whoever made the link) several listeners may want the
 * same port. Then one has the socket, and a Request is offered to each of them until
 * one does not refuse it; when the one with the socket ends, another gets one.
 *
 * All run in process context.
 */
#include "ep.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <net/net_namespace.h>

/* ------------------------------------------------------------ references */

static void listener_release(struct kref *kref)
{
	struct kwarp_listener *l = container_of(kref, struct kwarp_listener, kref);

	WARN_ON_ONCE(l->cs.sock || l->cm_id || atomic_read(&l->half_open));
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

static void listener_kick(struct kwarp_listener *l, u32 ms)
{
	kwarp_listener_get(l);			/* for the queued work */
	if (mod_delayed_work(kwarp_wq, &l->work, msecs_to_jiffies(ms)))
		kwarp_listener_put(l);		/* it has one already */
}

static void listener_notify(struct kwarp_cm_sock *cs)
{
	listener_kick(container_of(cs, struct kwarp_listener, cs), 0);
}

/* --------------------------------------------------------------- accepting */

static int listener_child(struct kwarp_listener *l, struct socket *sock)
{
	struct kwarp_ep *ep;

	ep = kwarp_ep_create(l->kdev, l);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	mutex_lock(&ep->mutex);
	atomic_inc(&l->half_open);
	ep->half_open = true;
	ep->cs.sock = sock;
	kwarp_cm_sock_hook(&ep->cs);
	kwarp_ep_apply(ep, KWARP_CME_INBOUND);
	mutex_unlock(&ep->mutex);
	/* From here on it is on its own: a slow peer holds nobody up. */
	kwarp_ep_mark(ep, KWARP_EP_SOCK);
	kwarp_ep_put(ep);
	return 0;
}

/* Return: 0; -EAGAIN if TCP has no more or there is no room; other errno. */
static int accept_one(struct kwarp_listener *l)
{
	struct kwarp_cm_sock child = {};
	int ret;

	/* The rest waits in TCP's queue; whoever leaves kicks us. */
	if (!l->cs.sock || atomic_read(&l->half_open) >= KWARP_MAX_HALF_OPEN)
		return -EAGAIN;
	ret = kwarp_cm_sock_accept(&l->cs, &child.sock);
	if (ret)
		return ret;
	ret = listener_child(l, child.sock);
	if (ret)
		kwarp_cm_sock_kill(&child);
	return ret;
}

static void listener_work(struct work_struct *work)
{
	struct kwarp_listener *l =
		container_of(to_delayed_work(work), struct kwarp_listener, work);
	int ret = 0, n;

	mutex_lock(&l->mutex);
	for (n = 0; n < KWARP_ACCEPT_BATCH && !ret; n++)
		ret = accept_one(l);
	/* Under the mutex: kwarp_listener_shut() cancels what has been queued before. */
	if (l->cs.sock && ret != -EAGAIN)
		listener_kick(l, ret ? KWARP_ACCEPT_RETRY_MS : 0);
	mutex_unlock(&l->mutex);
	kwarp_listener_put(l);
}

/**
 * kwarp_listener_leave - one half-open endpoint less
 * @l: the endpoint's listener
 *
 * Context: process; the endpoint's mutex held.
 */
void kwarp_listener_leave(struct kwarp_listener *l)
{
	if (atomic_dec_return(&l->half_open) == KWARP_MAX_HALF_OPEN - 1)
		listener_kick(l, 0);
}

/* ------------------------------------------------------------- begin, end */

/* Nothing that is for this id can come in through this device. */
static bool is_idle(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	bool any = kwarp_cm_addr_any(&id->local_addr);
	bool loopback = kwarp_cm_addr_loopback(&id->local_addr);

	if (loopback && !(kdev->netdev->flags & IFF_LOOPBACK))
		return true;
	return (any || loopback) &&
	       !net_eq(current->nsproxy->net_ns, kdev->net);
}

/* Do both want the same port of this device, and could be each other's stand-in? */
static bool same_port(const struct kwarp_listener *a, const struct kwarp_listener *b)
{
	return a->any && b->any && a->port == b->port &&
	       (a->family == b->family || (!a->v6only && !b->v6only));
}

/* A listener of @l's port that has a socket, or one that would like to have one. */
static struct kwarp_listener *find_twin(const struct kwarp_listener *l, bool open)
{
	struct kwarp_listener *twin, *found = NULL;

	spin_lock(&l->kdev->cm.lock);
	list_for_each_entry(twin, &l->kdev->cm.listeners, node) {
		if (twin == l || !same_port(twin, l) || !READ_ONCE(twin->cm_id) ||
		    !!READ_ONCE(twin->cs.sock) != open || (!open && twin->idle))
			continue;
		kwarp_listener_get(twin);
		found = twin;
		break;
	}
	spin_unlock(&l->kdev->cm.lock);
	return found;
}

/**
 * kwarp_listener_next - whom to offer a Request to
 * @l: listener that accepted the connection
 * @before: seq of the one that had it before; U64_MAX at first
 *
 * Context: process.
 * Return: @l or another listener of the same port, with a reference; NULL if there is
 * none left.
 */
struct kwarp_listener *kwarp_listener_next(struct kwarp_listener *l, u64 before)
{
	struct kwarp_listener *other, *found = NULL;

	spin_lock(&l->kdev->cm.lock);
	list_for_each_entry_reverse(other, &l->kdev->cm.listeners, node) {
		if (other->seq >= before || !READ_ONCE(other->cm_id) ||
		    (other != l && !same_port(other, l)))
			continue;
		kwarp_listener_get(other);
		found = other;
		break;
	}
	spin_unlock(&l->kdev->cm.lock);
	return found;
}

/* Give the listener a socket, unless another one of ours has the port. */
static int listener_open(struct kwarp_listener *l, struct iw_cm_id *id)
{
	struct kwarp_cm_sock cs = {};
	struct kwarp_listener *twin;
	int ret;

	ret = kwarp_cm_sock_listen(l->kdev, id, l->backlog, &cs.sock);
	if (ret == -EADDRINUSE) {
		twin = find_twin(l, true);
		if (!twin)
			return ret;
		kwarp_listener_put(twin);
		return 0;
	}
	if (ret)
		return ret;

	mutex_lock(&l->mutex);
	if (READ_ONCE(l->cm_id) && !l->cs.sock) {
		WRITE_ONCE(l->cs.sock, cs.sock);
		kwarp_cm_sock_hook(&l->cs);
		cs.sock = NULL;
	}
	mutex_unlock(&l->mutex);
	if (cs.sock) {			/* shut meanwhile */
		kwarp_cm_sock_kill(&cs);
		return -ENODEV;
	}
	/* Somebody may have connected before the callbacks were ours. */
	listener_kick(l, 0);
	return 0;
}

/* @l had the socket of the port and is gone: who else wants it? */
static void listener_inherit(const struct kwarp_listener *l)
{
	struct kwarp_listener *heir;
	struct iw_cm_id *id;

	if (READ_ONCE(l->kdev->cm.stopping))
		return;
	heir = find_twin(l, false);
	if (!heir)
		return;
	spin_lock(&heir->lock);
	id = heir->cm_id;
	if (id)
		id->add_ref(id);
	spin_unlock(&heir->lock);
	if (id) {
		listener_open(heir, id);
		id->rem_ref(id);
	}
	kwarp_listener_put(heir);
}

static struct kwarp_listener *listener_alloc(struct kwarp_dev *kdev, struct iw_cm_id *id,
					     int backlog)
{
	struct kwarp_listener *l;

	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return NULL;
	kref_init(&l->kref);
	mutex_init(&l->mutex);
	spin_lock_init(&l->lock);
	INIT_DELAYED_WORK(&l->work, listener_work);
	l->kdev = kdev;
	l->backlog = backlog;
	l->family = id->local_addr.ss_family;
	l->port = kwarp_cm_addr_port(&id->local_addr);
	l->any = kwarp_cm_addr_any(&id->local_addr);
	l->v6only = l->family == AF_INET6 && id->afonly;
	l->idle = is_idle(kdev, id);
	l->cs.notify = listener_notify;
	id->add_ref(id);
	l->cm_id = id;
	return l;
}

/**
 * kwarp_listener_create - start to listen for an id
 * @id: address to listen on
 * @backlog: the ULP's wish
 *
 * The listener is left in id->provider_data, with the reference that goes with it.
 *
 * Return: 0 or an errno.
 */
int kwarp_listener_create(struct iw_cm_id *id, int backlog)
{
	struct kwarp_dev *kdev = to_kdev(id->device);
	struct kwarp_listener *l;
	bool stopping;
	int ret = 0;

	l = listener_alloc(kdev, id, backlog);
	if (!l)
		return -ENOMEM;
	spin_lock(&kdev->cm.lock);
	stopping = kdev->cm.stopping;
	l->seq = kdev->cm.next_seq++;
	list_add_tail(&l->node, &kdev->cm.listeners);
	spin_unlock(&kdev->cm.lock);

	if (stopping)
		ret = -ENODEV;
	else if (!l->idle)
		ret = listener_open(l, id);
	if (ret) {
		kwarp_listener_destroy(l);
		return ret;
	}
	id->provider_data = l;
	return 0;
}

/**
 * kwarp_listener_shut - take no more requests
 * @l: listener
 *
 * Endpoints whose Request has been delivered go on; the others are ended.
 */
void kwarp_listener_shut(struct kwarp_listener *l)
{
	struct iw_cm_id *id;
	bool had_sock;

	spin_lock(&l->lock);
	id = l->cm_id;
	WRITE_ONCE(l->cm_id, NULL);
	spin_unlock(&l->lock);
	if (!id)
		return;
	/* After cm_id, which listener_open() tests under the mutex. */
	mutex_lock(&l->mutex);
	had_sock = l->cs.sock;
	kwarp_cm_sock_kill(&l->cs);
	mutex_unlock(&l->mutex);
	/* The module may go now: no timer may be left. */
	if (cancel_delayed_work(&l->work))
		kwarp_listener_put(l);
	if (had_sock)
		listener_inherit(l);
	/* None is born any more; those without a complete Request have no taker. */
	kwarp_ep_mark_listener(l);
	id->rem_ref(id);
}

/* The id is being destroyed. */
void kwarp_listener_destroy(struct kwarp_listener *l)
{
	kwarp_listener_shut(l);
	spin_lock(&l->kdev->cm.lock);
	list_del(&l->node);
	spin_unlock(&l->kdev->cm.lock);
	kwarp_listener_put(l);			/* the id's */
}

static struct kwarp_listener *next_open(struct kwarp_dev *kdev)
{
	struct kwarp_listener *l, *found = NULL;

	spin_lock(&kdev->cm.lock);
	list_for_each_entry(l, &kdev->cm.listeners, node) {
		if (READ_ONCE(l->cm_id)) {
			kwarp_listener_get(l);
			found = l;
			break;
		}
	}
	spin_unlock(&kdev->cm.lock);
	return found;
}

/* The device goes away; the objects stay until iw_cm destroys them. */
void kwarp_listener_shut_all(struct kwarp_dev *kdev)
{
	struct kwarp_listener *l;

	while ((l = next_open(kdev))) {
		kwarp_listener_shut(l);
		kwarp_listener_put(l);
	}
}
