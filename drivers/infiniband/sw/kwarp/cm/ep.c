// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoint: object, references, and those who have news for it.
 *
 * News are a bit and a queued work item, whose function is the loop in ep_run.c. Bits
 * are reasons to look, not messages: setting one twice or too often does no harm.
 */
#include "ep.h"

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <linux/slab.h>
#include <linux/xarray.h>

#include "../fault.h"
#include "../qp/stream.h"
#include "../wq.h"

/*
 * Requests that iw_cm has been told of, by handle. iw_cm gives provider_data back in
 * accept or reject, but drops the event without a word if the listener is destroyed
 * meanwhile: so it gets a number and not a reference.
 */
static DEFINE_XARRAY_ALLOC1(handles);
static u32 next_handle;

/* ------------------------------------------------------------ references */

/* Startup is over, one way or the other. */
void kwarp_ep_end_startup(struct kwarp_ep *ep)
{
	if (!ep->su)
		return;
	kwarp_readqs_fini(&ep->su->readqs);
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

/* Context: any; not under ep->mutex, unless another reference is known to exist. */
void kwarp_ep_put(struct kwarp_ep *ep)
{
	kref_put(&ep->kref, ep_release);
}

/**
 * kwarp_ep_mark - something has happened
 * @ep: endpoint that cannot go away during the call
 * @bit: KWARP_EP_*
 *
 * Context: any.
 */
void kwarp_ep_mark(struct kwarp_ep *ep, int bit)
{
	set_bit(bit, &ep->events);
	kwarp_ep_get(ep);			/* for the queued work */
	if (!queue_work(kwarp_cm_wq, &ep->work))
		kwarp_ep_put(ep);		/* it has one already */
}

static void ep_notify(struct kwarp_cm_sock *cs)
{
	kwarp_ep_mark(container_of(cs, struct kwarp_ep, cs), KWARP_EP_SOCK);
}

static void ep_work(struct work_struct *work)
{
	struct kwarp_ep *ep = container_of(work, struct kwarp_ep, work);

	kwarp_fault_late();
	mutex_lock(&ep->mutex);
	kwarp_ep_run(ep);
	mutex_unlock(&ep->mutex);
	kwarp_ep_put(ep);
}

static void ep_timer(struct work_struct *work)
{
	struct kwarp_ep *ep = container_of(to_delayed_work(work), struct kwarp_ep, timer);

	kwarp_ep_mark(ep, KWARP_EP_TIMER);
	kwarp_ep_put(ep);
}

/**
 * kwarp_ep_create - new endpoint in state NEW
 * @kdev: device
 * @l: listener whose child it is; NULL for an initiator
 *
 * The memory is charged to the caller, or to the active memory cgroup. A peer makes us
 * allocate that of a listener's child, as often as it likes: nothing is killed for it.
 *
 * Context: process.
 * Return: the endpoint with a reference for the caller, besides the one that it holds
 * on itself until it is DEAD; or -ENOMEM, -ENODEV.
 */
struct kwarp_ep *kwarp_ep_create(struct kwarp_dev *kdev, struct kwarp_listener *l)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | (l ? __GFP_NORETRY | __GFP_NOWARN : 0);
	struct kwarp_ep *ep;
	bool stopping;

	ep = kzalloc(sizeof(*ep), gfp);
	if (!ep)
		return ERR_PTR(-ENOMEM);
	ep->su = kzalloc(sizeof(*ep->su), gfp);
	if (!ep->su) {
		kfree(ep);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&ep->kref);
	mutex_init(&ep->mutex);
	INIT_WORK(&ep->work, ep_work);
	INIT_DELAYED_WORK(&ep->timer, ep_timer);
	INIT_LIST_HEAD(&ep->qp_node);
	INIT_LIST_HEAD(&ep->half_open);
	ep->state = KWARP_CMS_NEW;
	ep->cs.notify = ep_notify;
	ep->kdev = kdev;
	if (l) {
		kwarp_listener_get(l);
		ep->listener = l;
	}
	kwarp_cm_mpa_init(ep);

	spin_lock(&kdev->cm.lock);
	stopping = kdev->cm.stopping;
	if (!stopping)
		list_add_tail(&ep->node, &kdev->cm.eps);
	spin_unlock(&kdev->cm.lock);
	if (stopping) {
		kwarp_ep_put(ep);
		return ERR_PTR(-ENODEV);
	}
	kwarp_ep_get(ep);
	return ep;
}

/* ------------------------------------------------------------- queue pair */

/*
 * iw_cm names a QP by its number, and any process can name any number. An id of user
 * space has no QP of its own; that of a kernel consumer has the QP that it is for.
 */
static bool may_bind(const struct iw_cm_id *id, struct kwarp_qp *qp)
{
	const struct rdma_cm_id *rdma = kwarp_cm_rdma_id(id);
	const struct ib_qp *ibqp = kwarp_qp_ib(qp);

	if (!rdma)
		return false;
	if (!ibqp->uobject)
		return rdma->qp == ibqp;
	return !rdma->qp && kwarp_qp_may_connect(qp);
}

/**
 * kwarp_ep_bind_qp - find the QP that the ULP chose
 * @ep: endpoint without a QP
 * @id: of the connection
 * @qpn: its number
 *
 * A QP that could not be attached later is refused now: before anything is sent to the
 * peer, who could not be told afterwards.
 *
 * Context: process, that of the ULP's call; ep->mutex held.
 * Return: 0; -EINVAL: no such QP, or one that is not ready for a stream; -EPERM.
 */
int kwarp_ep_bind_qp(struct kwarp_ep *ep, const struct iw_cm_id *id, u32 qpn)
{
	struct kwarp_qp *qp = kwarp_qp_lookup(ep->kdev, qpn);
	int ret = 0;

	if (!qp)			/* 5044-7.1-7 */
		return -EINVAL;
	if (!may_bind(id, qp))
		ret = -EPERM;
	else if (kwarp_qp_state(qp) != KWARP_QPS_IDLE)
		ret = -EINVAL;
	if (ret) {
		kwarp_qp_put(qp);
		return ret;
	}
	ep->qp = qp;
	kwarp_qp_join(qp, &ep->qp_node);
	return 0;
}

/* Upcalls of the QP. Context: its work item. */
static void stream_event(void *cookie, enum kwarp_stream_event event, bool graceful)
{
	struct kwarp_ep *ep = cookie;

	switch (event) {
	case KWARP_STREAM_ESTABLISHED:
		kwarp_ep_mark(ep, KWARP_EP_QP_FPDU);
		break;
	case KWARP_STREAM_PEER_CLOSED:
		kwarp_ep_mark(ep, KWARP_EP_QP_FIN);
		break;
	case KWARP_STREAM_DOWN:
		kwarp_ep_mark(ep, graceful ? KWARP_EP_QP_DOWN_FIN : KWARP_EP_QP_DOWN_ERR);
		kwarp_ep_put(ep);		/* the stream's */
		break;
	}
}

static const struct kwarp_stream_ops stream_ops = {
	.event = stream_event,
};

/**
 * kwarp_ep_prepare - get what the stream will need
 * @ep: endpoint, negotiation done
 *
 * A responder does so before its Reply goes out: afterwards there is no way to tell the
 * peer of a failure (5044-7.1.2-16).
 *
 * Context: process; ep->mutex held.
 * Return: 0, -ENOMEM.
 */
int kwarp_ep_prepare(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;

	return kwarp_readqs_init(&su->readqs, su->res.ord, su->res.ird);
}

/**
 * kwarp_ep_attach - hand the socket to the QP
 * @ep: endpoint with a QP, prepared
 * @initiator: we sent the Request
 *
 * Context: process; ep->mutex held.
 * Return: 0: the QP has the socket until it says DOWN; or an errno of
 * kwarp_qp_attach(), nothing has changed then.
 */
int kwarp_ep_attach(struct kwarp_ep *ep, bool initiator)
{
	struct kwarp_startup *su = ep->su;
	const struct kwarp_mpa_result *res = &su->res;
	const struct kwarp_stream_params params = {
		.initiator = initiator,
		.crc = res->crc,
		.tx_markers = res->tx_markers,
		.rx_markers = res->rx_markers,
		.align = READ_ONCE(ep->kdev->knobs.align),
		.ird = res->ird,
		.ord = res->ord,
		.rtr = initiator ? res->rtr : 0,
		.say_first = !initiator && res->rtr,
		.readqs = &su->readqs,
	};
	int ret;

	kwarp_cm_sock_unhook(&ep->cs);
	kwarp_ep_get(ep);			/* for the stream */
	ret = kwarp_qp_attach(ep->qp, ep->cs.sock, &params, &stream_ops, ep);
	if (ret) {
		kwarp_ep_put(ep);
		kwarp_cm_sock_hook(&ep->cs);
	}
	return ret;
}

/* ----------------------------------------------------------------- handle */

/**
 * kwarp_ep_publish - tell iw_cm of the Request
 * @ep: responder with a valid Request
 *
 * Context: process; ep->mutex held.
 * Return: 0; -ENOMEM: try again later; -ECONNABORTED: nobody listens any more.
 */
int kwarp_ep_publish(struct kwarp_ep *ep)
{
	int ret;

	kwarp_ep_get(ep);			/* for the handle */
	ret = xa_alloc_cyclic(&handles, &ep->handle, ep, xa_limit_31b, &next_handle,
			      GFP_KERNEL);
	if (ret < 0) {
		ep->handle = 0;
		kwarp_ep_put(ep);
		return -ENOMEM;
	}
	ret = kwarp_cm_upcall_request(ep);
	if (ret)
		kwarp_ep_unpublish(ep);
	return ret;
}

/**
 * kwarp_ep_claim - the endpoint of a handle
 * @handle: what iw_cm was told
 *
 * Context: process. Of several callers one wins.
 * Return: the endpoint with the reference of the handle, or NULL if it has died.
 */
struct kwarp_ep *kwarp_ep_claim(u32 handle)
{
	return handle ? xa_erase(&handles, handle) : NULL;
}

/* Its end: the handle, if there still is one, leads nowhere. */
void kwarp_ep_unpublish(struct kwarp_ep *ep)
{
	/* To erase the entry is to own its reference; here it is not the last one. */
	if (ep->handle && xa_cmpxchg(&handles, ep->handle, ep, NULL, 0) == ep)
		kwarp_ep_put(ep);
	ep->handle = 0;
}

/* All endpoints of all devices are gone: module exit. */
void kwarp_ep_check_idle(void)
{
	WARN_ON(!xa_empty(&handles));
}

/* --------------------------------------------------------------- marking */

/* Context: process. */
void kwarp_ep_mark_all(struct kwarp_dev *kdev, int bit)
{
	struct kwarp_ep *ep;

	/* Pairs with the lock in list_add and list_del: listed endpoints are alive. */
	spin_lock(&kdev->cm.lock);
	list_for_each_entry(ep, &kdev->cm.eps, node)
		kwarp_ep_mark(ep, bit);
	spin_unlock(&kdev->cm.lock);
}

static void mark_no_qp(struct list_head *node)
{
	/* Listed, hence alive: it leaves the list before it gives up the QP. */
	kwarp_ep_mark(container_of(node, struct kwarp_ep, qp_node), KWARP_EP_NO_QP);
}

/* The QP goes away before it was attached. */
void kwarp_ep_mark_qp(struct kwarp_qp *qp)
{
	kwarp_qp_each_user(qp, mark_no_qp);
}

/**
 * kwarp_ep_find - the endpoint that has upcalls to make for an id
 * @kdev: device
 * @id: of iw_cm
 *
 * Looks at every endpoint: for errors of the ULP only.
 *
 * Context: process, a call from iw_cm for @id.
 * Return: the endpoint with a reference, or NULL. It can lose the id at any time,
 * unless its mutex is held.
 */
struct kwarp_ep *kwarp_ep_find(struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	struct kwarp_ep *ep, *found = NULL;

	spin_lock(&kdev->cm.lock);
	list_for_each_entry(ep, &kdev->cm.eps, node) {
		/* Only compared: an id that an endpoint refers to is not another one's. */
		if (READ_ONCE(ep->cm_id) == id) {
			kwarp_ep_get(ep);
			found = ep;
			break;
		}
	}
	spin_unlock(&kdev->cm.lock);
	return found;
}
