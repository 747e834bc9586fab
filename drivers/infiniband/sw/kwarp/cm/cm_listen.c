// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Listeners: one listening socket per listening iw_cm_id, and an endpoint for each connection that
 * comes in.
 *
 * rdma_cm listens for a wildcard address on every device, also on devices in another network
 * namespace than the listening program's, where an ordinary socket may have the port. rdma_cm would
 * refuse connections that come in through such a device, so a listener on that device gets no
 * socket. Within a namespace rdma_cm ensures that a port has one listener. All functions run in
 * process context.
 */
#include "cm_listen.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>

#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <net/net_namespace.h>

#include "../door.h"
#include "../wq.h"
#include "cm_iface.h"
#include "cm_sock.h"
#include "ep.h"
#include "ep_run.h"
#include "sock_io.h"

/* ------------------------------------------------------------ queued work */

static void listener_retry(struct kwarp_listener *l)
{
	kwarp_listener_get(l);
	if (!queue_delayed_work(kwarp_wq, &l->work,
				msecs_to_jiffies(KWARP_ACCEPT_RETRY_MS)))
		kwarp_listener_put(l);
}

static void listener_notify(struct kwarp_cm_sock *cs)
{
	kwarp_listener_kick(container_of(cs, struct kwarp_listener, cs));
}

/* --------------------------------------------------------------- accepting */

/* An endpoint that is ending leaves the half-open list soon. */
static bool is_leaving(const struct kwarp_ep *ep)
{
	enum kwarp_cm_state state = READ_ONCE(ep->state);

	return state == KWARP_CMS_SEND_REJ || state == KWARP_CMS_LINGER;
}

/*
 * Peers that open connections and send nothing must not block others for long. Endpoints that are
 * ending already make room, too, so they count as well.
 */
static void evict_some(struct kwarp_listener *l, u32 queued)
{
	struct kwarp_ep *ep;
	u32 marked = 0;

	spin_lock(&l->lock);
	list_for_each_entry(ep, &l->half_open, half_open) {
		if (kwarp_listener_may_evict(ep)) {
			/*
			 * @ep cannot be freed here: an endpoint is taken off the list, under
			 * l->lock, before it is freed.
			 */
			kwarp_ep_mark(ep, KWARP_EP_EVICT);
			marked++;
		} else if (!is_leaving(ep)) {
			continue;
		}
		if (!--queued || marked == KWARP_ACCEPT_BATCH)
			break;
	}
	spin_unlock(&l->lock);
}

/* Context: ep->mutex held. Return: 0, also if the connection is refused; errno of accept(). */
static int child_accept(struct kwarp_listener *l, struct kwarp_ep *ep)
{
	int ret = kwarp_cm_sock_accept(l->kdev, &l->cs, &ep->cs.sock), busy;

	if (ret) {
		kwarp_ep_apply(ep, KWARP_CME_LOCAL);
		return ret;
	}
	busy = kwarp_cm_sock_hook(&ep->cs);
	if (busy) {
		/* A BPF program owns the socket (sockmap): reset this connection. */
		ibdev_dbg(&l->kdev->ibdev, "socket is in use, refused: %d\n", busy);
		kwarp_ep_apply(ep, KWARP_CME_LOCAL);
	} else {
		kwarp_listener_enter(ep);
		kwarp_ep_apply(ep, KWARP_CME_INBOUND);
	}
	return 0;
}

/*
 * The endpoint is made first: if there is no memory for it, the connection stays in TCP's accept
 * queue, and is not reset.
 */
static int listener_child(struct kwarp_listener *l)
{
	struct mem_cgroup *memcg;
	struct kwarp_ep *ep;
	int ret;

	/* This is a kernel thread: charge the memory to the program that listens. */
	memcg = set_active_memcg(kwarp_cm_sock_memcg(&l->cs));
	ep = kwarp_ep_create(l->kdev, l);
	set_active_memcg(memcg);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	mutex_lock(&ep->mutex);
	ret = child_accept(l, ep);
	mutex_unlock(&ep->mutex);
	/*
	 * The endpoint's own work item reads the Request, so a slow peer does not block the
	 * listener. Even a Request that has arrived already is not read here: the work items of
	 * older endpoints are queued, and their Requests come first.
	 */
	if (!ret)
		kwarp_ep_mark(ep, KWARP_EP_SOCK);
	kwarp_ep_put(ep);
	return ret;
}

static int accept_one(struct kwarp_listener *l)
{
	u32 queued;

	queued = l->cs.sock ? kwarp_cm_sock_queued(l->cs.sock) : 0;
	if (!queued)
		return -EAGAIN;
	if (READ_ONCE(l->num_half_open) >= READ_ONCE(l->kdev->knobs.half_open_max)) {
		/*
		 * kwarp_listener_leave() queues the work item when an endpoint leaves the half-open
		 * list. The caller retries after a while, too: by then more endpoints may be old
		 * enough to be ended.
		 */
		evict_some(l, queued);
		return -EBUSY;
	}
	return listener_child(l);
}

/*
 * Something has ended the listening socket, for example "ss -K". The listening id has no event with
 * which iw_cm could tell the ULP: iw_cm BUG()s at any event but CONNECT_REQUEST. So log it, and
 * free the port. Context: l->mutex held.
 */
static void listener_lost(struct kwarp_listener *l)
{
	struct sockaddr_storage at = {};

	spin_lock(&l->lock);
	if (l->cm_id)
		at = l->cm_id->local_addr;
	spin_unlock(&l->lock);
	ibdev_warn_ratelimited(&l->kdev->ibdev,
			       "the socket that listens on %pISpc was closed from outside: its program gets no more connections, and is not told\n",
			       &at);
	kwarp_cm_sock_kill(&l->cs);
}

static void listener_work(struct work_struct *work)
{
	struct kwarp_listener *l =
		container_of(to_delayed_work(work), struct kwarp_listener, work);
	unsigned int noio = memalloc_noio_save();
	int ret = 0, n;

	/* A storage protocol may wait for a connection, to write out memory: no I/O here. */
	mutex_lock(&l->mutex);
	if (l->cs.sock && kwarp_cm_sock_closed(l->cs.sock))
		listener_lost(l);
	for (n = 0; n < KWARP_ACCEPT_BATCH && !ret; n++)
		ret = accept_one(l);
	/* Queue the work under the mutex, so that listener_shut() finds and cancels it. */
	if (l->cs.sock && !ret)
		kwarp_listener_kick(l);
	else if (l->cs.sock && ret != -EAGAIN)
		listener_retry(l);
	mutex_unlock(&l->mutex);
	memalloc_noio_restore(noio);
	kwarp_listener_put(l);
}

/* ------------------------------------------------------------- begin, end */

/* Can no connection for this id come in through this device? */
static bool is_idle(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma = kwarp_cm_rdma_id(id);

	if (rdma && !net_eq(rdma->route.addr.dev_addr.net, kdev->net))
		return true;
	return kwarp_cm_addr_loopback(&id->local_addr) &&
	       !(kdev->netdev->flags & IFF_LOOPBACK);
}

/*
 * While a link (a kwarp device) is added, rdma_cm listens on it for all wildcard listeners of the
 * host, and if one of them fails, rdma_cm does not use the new device at all. So in the task that
 * adds the link (kdev->adder) report success, log the failure, and leave this listener without a
 * socket.
 */
static int listen_failed(const struct kwarp_dev *kdev, const struct iw_cm_id *id, int err)
{
	if (err == -EADDRINUSE)
		ibdev_warn_ratelimited(&kdev->ibdev,
				       "cannot listen on %pISpc: an ordinary socket, or another RDMA link of %s, has the port\n",
				       &id->local_addr, netdev_name(kdev->netdev));
	else if (READ_ONCE(kdev->adder) == current)
		ibdev_warn_ratelimited(&kdev->ibdev, "cannot listen on %pISpc: %d\n",
				       &id->local_addr, err);
	return READ_ONCE(kdev->adder) == current ? 0 : err;
}

static int listener_open(struct kwarp_listener *l, const struct iw_cm_id *id)
{
	int ret, ifindex = kwarp_cm_iface(l->kdev, id);
	bool shut;

	if (ifindex < 0)
		return ifindex;
	/*
	 * Make the socket under the mutex: if a peer connects at once, listener_work() waits until
	 * this is done.
	 */
	mutex_lock(&l->mutex);
	shut = !READ_ONCE(l->cm_id);
	ret = shut ? 0 : kwarp_cm_sock_listen(l->kdev, id, ifindex, l->backlog, &l->cs);
	mutex_unlock(&l->mutex);
	return ret ? listen_failed(l->kdev, id, ret) : 0;
}

static struct kwarp_listener *
listener_alloc(struct kwarp_dev *kdev, struct iw_cm_id *id, int backlog,
	       enum kwarp_cm_event (*answer)(struct kwarp_ep *ep))
{
	struct kwarp_listener *l;

	l = kzalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);
	if (!l)
		return NULL;
	kref_init(&l->kref);
	mutex_init(&l->mutex);
	spin_lock_init(&l->lock);
	INIT_LIST_HEAD(&l->half_open);
	INIT_LIST_HEAD(&l->waiting);
	INIT_DELAYED_WORK(&l->work, listener_work);
	l->kdev = kdev;
	l->backlog = backlog;
	l->answer = answer;
	l->cs.notify = listener_notify;
	id->add_ref(id);
	l->cm_id = id;
	return l;
}

/*
 * id->provider_data gets the listener, and owns a reference to it. On a device that is going away
 * the listener gets no socket, and the call succeeds: for a wildcard address rdma_cm listens on all
 * devices, and after an error it would stop listening on the others, too. The ULP learns of the
 * removal soon.
 */
int kwarp_listener_create(struct iw_cm_id *id, int backlog,
			  enum kwarp_cm_event (*answer)(struct kwarp_ep *ep))
{
	KWARP_DOOR(kwarp_listener_create, id, backlog, answer);
	struct kwarp_dev *kdev = to_kdev(id->device);
	struct kwarp_listener *l;
	bool stopping;
	int ret = 0;

	might_sleep();
	l = listener_alloc(kdev, id, backlog, answer);
	if (!l)
		return -ENOMEM;
	spin_lock(&kdev->cm.lock);
	stopping = kdev->cm.stopping;
	hash_add(kdev->cm.listener_ids, &l->id_node, (unsigned long)id);
	spin_unlock(&kdev->cm.lock);

	if (!stopping && !is_idle(kdev, id))
		ret = listener_open(l, id);
	if (ret) {
		kwarp_listener_destroy(l);
		return ret;
	}
	id->provider_data = l;
	return 0;
}

/*
 * Endpoints whose Request has been passed to iw_cm stay, but the ULP has less time to accept or
 * reject the Request: iw_cm may have dropped the event. All other half-open endpoints end.
 */
static void listener_shut(struct kwarp_listener *l)
{
	struct iw_cm_id *id;
	struct kwarp_ep *ep;

	spin_lock(&l->lock);
	id = l->cm_id;
	WRITE_ONCE(l->cm_id, NULL);
	spin_unlock(&l->lock);
	if (!id)
		return;
	spin_lock(&l->kdev->cm.lock);
	hash_del(&l->id_node);
	spin_unlock(&l->kdev->cm.lock);
	/*
	 * From now on listener_open() makes no socket: it tests under the mutex whether cm_id is
	 * NULL.
	 */
	mutex_lock(&l->mutex);
	kwarp_cm_sock_kill(&l->cs);
	mutex_unlock(&l->mutex);
	/* The module may be unloaded soon: leave no timer of the delayed work running. */
	if (cancel_delayed_work(&l->work))
		kwarp_listener_put(l);
	/*
	 * Without a socket the listener makes no others. Walk its list, not the device's, which has
	 * all established connections as well. No endpoint is freed here: each leaves the list,
	 * under l->lock, before it is freed.
	 */
	spin_lock(&l->lock);
	list_for_each_entry(ep, &l->half_open, half_open)
		kwarp_ep_mark(ep, KWARP_EP_ORPHAN);
	spin_unlock(&l->lock);
	id->rem_ref(id);
}

void kwarp_listener_destroy(struct kwarp_listener *l)
{
	KWARP_DOOR(kwarp_listener_destroy, l);
	might_sleep();
	listener_shut(l);
	kwarp_listener_put(l);			/* the reference of the listening id */
}

static struct kwarp_listener *next_open(struct kwarp_dev *kdev)
{
	struct kwarp_listener *l, *found = NULL;
	int bucket;

	spin_lock(&kdev->cm.lock);
	hash_for_each(kdev->cm.listener_ids, bucket, l, id_node) {
		if (READ_ONCE(l->cm_id)) {
			kwarp_listener_get(l);
			found = l;
			break;
		}
	}
	spin_unlock(&kdev->cm.lock);
	return found;
}

void kwarp_listener_shut_all(struct kwarp_dev *kdev)
{
	struct kwarp_listener *l;

	might_sleep();
	while ((l = next_open(kdev))) {
		listener_shut(l);
		kwarp_listener_put(l);
	}
}
