// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connection management: what iw_cm calls.
 *
 * DOWN is the QP's report that the stream has ended. A handle is the number by which iw_cm names a
 * CONNECT_REQUEST in accept and reject. DEAD is the last state of an endpoint.
 *
 * References to an endpoint, by holder:
 *	itself		from creation until it is DEAD
 *	creator		connect() and the listener's work, until they return
 *	queued work	ep->work, from queue_work() until the work has run
 *	armed timer	ep->timer, likewise
 *	handle		from the CONNECT_REQUEST until accept(), reject(), or the end of
 *			the endpoint, whichever comes first and removes the handle
 *	stream		from kwarp_qp_attach() until the QP has reported DOWN
 *	stand-in	from connect() or accept() until iw_cm returns the stand-in
 * The socket's callbacks need no reference: TCP's own callbacks are restored, under
 * sk_callback_lock, before the endpoint drops its reference on itself. The device's list of
 * endpoints, kdev->cm.eps, needs none either: the endpoint is removed from the list before it drops
 * its reference on itself.
 *
 * References to a listener: the iw_cm_id (provider_data) until destroy_listen(),
 * queued work, each endpoint that the listener has made.
 *
 * An endpoint refers to its iw_cm_id from connect() or accept() until the last upcall,
 * to its QP until the stream is DOWN or startup has failed, to its listener until the endpoint
 * is freed. A listener refers to its iw_cm_id until it takes no more requests.
 * An iw_cm_id holds no reference to the device: kwarp_cm_stop_device() waits until no endpoint
 * uses the device. Endpoints that are still in memory after that do not touch the device.
 *
 * Locks, outermost first:
 *	listener mutex	its socket
 *	endpoint mutex	all of the endpoint that has no other rule; held over upcalls
 *			to iw_cm, which only queues them, and over calls to the QP
 *	listener lock	its iw_cm_id and its lists; held over the CONNECT_REQUEST upcall
 *	kdev->cm.lock	the device's list of endpoints, and tables of ids
 * None of these locks is taken in softirq: code that runs in softirq only sets bits and queues
 * work. The QP makes its upcalls with no lock held, and the upcall takes the endpoint's mutex.
 */
#include "cm.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>

#include "cm_iface.h"
#include "cm_listen.h"
#include "cm_mpa.h"
#include "cm_sock.h"
#include "cm_upcall.h"
#include "ep.h"
#include "ep_run.h"
#include "ep_stream.h"
#include "startup.h"

/* ------------------------------------------------------------- initiator */

static int check_param(const struct iw_cm_conn_param *param, u32 max_pdata)
{
	if (param->private_data_len > max_pdata)	/* too long: 6581-7-3, 6581-9-2 */
		return -EINVAL;
	if (param->ird > KWARP_MAX_IRD || param->ord > KWARP_MAX_ORD)
		return -EINVAL;
	return 0;
}

/* Context: ep->mutex held, state NEW. */
static int connect_start(struct kwarp_ep *ep, struct iw_cm_id *id,
			 const struct iw_cm_conn_param *param)
{
	struct ib_qp *stand_in = kwarp_cm_take_stand_in(ep->kdev);
	struct kwarp_startup *su = ep->su;
	int ret;

	ret = check_param(param, kwarp_mpa_max_pdata(su->params.rev == 2));
	if (ret)
		return ret;
	ret = kwarp_ep_bind_qp(ep, id, param->qpn);
	if (ret)
		return ret;
	if (!stand_in)
		return -ENOMEM;
	su->params.ird = param->ird;
	su->params.ord = param->ord;
	su->own_pdata_len = param->private_data_len;
	memcpy(su->own_pdata, param->private_data, su->own_pdata_len);
	su->give_up = jiffies + 2 * READ_ONCE(ep->kdev->knobs.connect_timeout) * HZ;
	ep->ifindex = kwarp_cm_iface(ep->kdev, id);
	if (ep->ifindex < 0)
		return ep->ifindex;
	ret = kwarp_cm_sock_connect(ep->kdev, id, ep->ifindex, &ep->cs);
	if (ret)
		return ret;
	kwarp_cm_bind_stand_in(stand_in, ep);
	kwarp_ep_set_id(ep, id);
	return 0;
}

/**
 * kwarp_cm_connect - ib_device_ops.iw_connect
 * @id: id of iw_cm
 * @param: what the consumer asks for
 *
 * Context: process; does not wait for the peer.
 * Return: 0: the upcall CONNECT_REPLY follows, in bounded time; or an errno, and no upcall follows.
 */
int kwarp_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct kwarp_dev *kdev = to_kdev(id->device);
	struct kwarp_ep *ep;
	int ret;

	might_sleep();
	ep = kwarp_ep_create(kdev, NULL);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	kwarp_ep_lock(ep);
	ret = connect_start(ep, id, param);
	kwarp_ep_apply(ep, ret ? KWARP_CME_LOCAL : KWARP_CME_CONNECT);
	kwarp_ep_unlock_put(ep);
	ibdev_dbg(&kdev->ibdev, "connect %pISpc -> %pISpc: %d\n", &id->local_addr,
		  &id->m_remote_addr, ret);
	return ret;
}

/* ------------------------------------------------- iw_cm used the wrong way */

/*
 * After an accept has returned 0, and until iw_cm has handled the ESTABLISHED event, iw_cm passes
 * on another accept or a reject of the same id: any program can make these calls. To recognize
 * them, accept leaves in provider_data the stand-in that iw_cm refers to, with this bit set.
 */
#define ACCEPTED	1UL

static void set_accepted(struct iw_cm_id *id, const struct ib_qp *stand_in)
{
	id->provider_data = (void *)((uintptr_t)stand_in | ACCEPTED);
}

static bool is_accepted(const struct iw_cm_id *id)
{
	return (uintptr_t)id->provider_data & ACCEPTED;
}

/* With @mute no upcall is made for the id any more. */
static void abort_misused_id(struct iw_cm_id *id, bool mute)
{
	struct kwarp_ep *ep = kwarp_ep_find(to_kdev(id->device), id);

	if (!ep)			/* the last upcall has been made already */
		return;
	kwarp_ep_lock(ep);
	if (mute && ep->cm_id == id)
		kwarp_ep_drop_id(ep);
	ep->status = -ECONNABORTED;
	kwarp_ep_apply(ep, KWARP_CME_ABORT);
	kwarp_ep_unlock_put(ep);
}

/*
 * A second accept of an id. iw_cm has overwritten its pointer to the stand-in of the first accept
 * with a pointer to the stand-in of this accept, so iw_cm will not return the first stand-in: this
 * function does. The new stand-in is bound to no endpoint, whatever queue pair the caller has
 * named. An error would set the id to IDLE, and iw_cm would BUG() at the ESTABLISHED event that is
 * still to be handled. So return 0 and abort the connection: if the ESTABLISHED event of the first
 * accept has not been queued yet, that event reports the failure.
 */
static int accept_again(struct iw_cm_id *id, struct ib_qp *stand_in)
{
	struct ib_qp *last = (void *)((uintptr_t)id->provider_data & ~ACCEPTED);

	/*
	 * @stand_in is NULL if this call has found no stand-in of its own: none could be made, so
	 * iw_cm has the device's shared stand-in no_qp, or iw_cm has returned the stand-in before
	 * this call looked. A stand-in that was found cannot be returned before this point: the
	 * caller holds rdma_cm's handler mutex, which rdma_cm takes for the CLOSE event.
	 */
	if (stand_in)
		kwarp_cm_expose_stand_in(stand_in);
	set_accepted(id, stand_in);
	if (last)
		kwarp_qp_rem_ref(last);
	abort_misused_id(id, false);
	return 0;
}

/*
 * A reject after an accept. iw_cm has set the id to IDLE, and BUG()s at an ESTABLISHED or CLOSE
 * event in that state, so make no more upcalls for the id. An event that is queued in iw_cm already
 * still triggers the BUG(): only iw_cm could prevent that, by refusing this call. iw_cm keeps the
 * stand-in until the id is destroyed; the queue pair can be destroyed earlier, because a stand-in
 * has no reference to it.
 */
static int reject_accepted(struct iw_cm_id *id)
{
	abort_misused_id(id, true);
	return -EINVAL;
}

/* ------------------------------------------------------------- responder */

/* NULL: the connection has ended since the CONNECT_REQUEST. */
static struct kwarp_ep *take_request_ep(struct iw_cm_id *id)
{
	struct kwarp_ep *ep = kwarp_ep_take_request(id);

	if (!ep)
		return NULL;
	kwarp_ep_lock(ep);
	ep->handle = 0;
	/* 5044-7.1.1-23: check for octets after the Request once more before the Reply is sent */
	set_bit(KWARP_EP_SOCK, &ep->events);
	kwarp_ep_run(ep);
	if (ep->state == KWARP_CMS_WAIT_ULP)
		return ep;
	kwarp_ep_unlock_put(ep);
	return NULL;
}

static int accept_start(struct kwarp_ep *ep, struct iw_cm_id *id, struct ib_qp *stand_in,
			const struct iw_cm_conn_param *param)
{
	int ret;

	ret = check_param(param, kwarp_mpa_max_pdata(ep->su->req.enhanced));
	if (ret)
		goto out_reject;
	ret = kwarp_ep_bind_qp(ep, id, param->qpn);
	if (!ret && !stand_in)
		ret = -ENOMEM;
	if (ret)
		goto out_reject;
	/* The peer must not have sent octets after its Request. */
	kwarp_cm_sock_charge_to(ep->cs.sock, NULL);
	if (kwarp_cm_mpa_accept(ep, param) != KWARP_CME_ACCEPT) {
		kwarp_ep_apply(ep, KWARP_CME_REJECT);
		return ep->status;
	}
	ret = kwarp_ep_prepare(ep);
	if (ret)
		goto out_reject;
	kwarp_cm_bind_stand_in(stand_in, ep);
	kwarp_ep_set_id(ep, id);
	kwarp_ep_apply(ep, KWARP_CME_ACCEPT);
	return 0;

out_reject:
	/* If rdma_accept() fails, it must reject the connection, but iw_cm does not call reject. */
	kwarp_cm_mpa_reject(ep, NULL, 0);
	kwarp_ep_apply(ep, KWARP_CME_REJECT);
	return ret;
}

/**
 * kwarp_cm_accept - ib_device_ops.iw_accept
 * @id: id of iw_cm
 * @param: what the consumer asks for
 *
 * Normally the MPA Reply has been sent and the QP has the socket when this function returns.
 *
 * Context: process; does not wait for the peer.
 * Return: 0: the upcall ESTABLISHED follows, in bounded time; or an errno, and no upcall follows.
 */
int kwarp_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct ib_qp *stand_in = kwarp_cm_take_stand_in(to_kdev(id->device));
	struct kwarp_ep *ep;
	int ret;

	might_sleep();
	if (is_accepted(id))
		return accept_again(id, stand_in);
	ep = take_request_ep(id);
	if (!ep)
		return -ECONNRESET;
	ep->status = 0;
	ret = accept_start(ep, id, stand_in, param);
	if (!ret) {
		/*
		 * Mark the id as accepted before kwarp_ep_run(), which may make the first upcall.
		 * On failure the mark is removed below.
		 */
		set_accepted(id, stand_in);
		ep->accepting = true;
		kwarp_ep_run(ep);
		if (!ep->accepting)
			ret = ep->status;
		ep->accepting = false;
	}
	if (ret)
		id->provider_data = NULL;	/* no handle: handles begin at 1 */
	kwarp_ep_unlock_put(ep);
	return ret;
}

/**
 * kwarp_cm_reject - ib_device_ops.iw_reject
 * @id: id of iw_cm
 * @pdata: private data for the Reply
 * @pdata_len: octets of it
 *
 * Context: process; does not wait for the peer.
 * Return: 0; -ECONNRESET: the connection has ended since the CONNECT_REQUEST; -EINVAL: after an
 * accept.
 */
int kwarp_cm_reject(struct iw_cm_id *id, const void *pdata, u8 pdata_len)
{
	struct kwarp_ep *ep;

	static_assert(KWARP_MPA_MAX_PDATA - KWARP_MPA_ENH_LEN >= U8_MAX);
	might_sleep();
	if (is_accepted(id))
		return reject_accepted(id);
	ep = take_request_ep(id);
	if (!ep)
		return -ECONNRESET;
	kwarp_cm_mpa_reject(ep, pdata, pdata_len);
	kwarp_ep_apply(ep, KWARP_CME_REJECT);
	kwarp_ep_unlock_put(ep);
	return 0;
}

/* -------------------------------------------------------------- listening */

/**
 * kwarp_cm_create_listen - ib_device_ops.iw_create_listen
 * @id: id of iw_cm
 * @backlog: length of TCP's accept queue
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int kwarp_cm_create_listen(struct iw_cm_id *id, int backlog)
{
	might_sleep();
	return kwarp_listener_create(id, backlog, NULL);
}

/**
 * kwarp_cm_destroy_listen - ib_device_ops.iw_destroy_listen
 * @id: id of iw_cm; no CONNECT_REQUEST for it is made after this
 *
 * Context: process.
 * Return: 0.
 */
int kwarp_cm_destroy_listen(struct iw_cm_id *id)
{
	might_sleep();
	kwarp_listener_destroy(id->provider_data);
	return 0;
}
