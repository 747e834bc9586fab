// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Events for iw_cm, and the handles by which it names a request.
 *
 * iw_cm copies the event and hands it to its own ordered workqueue, so these may be
 * called from inside connect() and accept(), too. Which event may follow
 * which is decided by proto/cm_fsm.c.
 *
 * IRD and ORD of an event are the peer's numbers (6581-9.1-4, -14): event.ird is what
 * the ULP may have outstanding, event.ord what it has to serve. They are clamped to
 * what the device can do (6581-9.1-24). Where the peer gave none, or left the value to
 * the ULPs, ours stand in.
 */
#include "cm_upcall.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <linux/xarray.h>

#include "ep.h"
#include "turn.h"

/*
 * Requests that iw_cm has been told of, by handle. iw_cm gives provider_data back in
 * accept or reject, but drops the event without a word if the listener is destroyed
 * meanwhile: so it gets a number and not a reference. The lowest bit of provider_data is
 * left to cm.c.
 */
static DEFINE_XARRAY_ALLOC1(handles);
static u32 next_handle;

/* iw_cm gives u8 for the length: longer data cannot be passed on whole. */
static void fill_pd(struct iw_cm_event *event, const struct kwarp_startup *su,
		    const struct kwarp_mpa_frame *frame)
{
	event->private_data = (void *)su->pd;
	event->private_data_len = min_t(u16, frame->pd_len, U8_MAX);
}

static u8 depth(const struct kwarp_mpa_frame *frame, u16 theirs, u16 ours, u16 max)
{
	if (!frame->enhanced || theirs == KWARP_DEPTH_NV)
		theirs = ours;
	return min(theirs, max);
}

static void fill_depths(struct iw_cm_event *event, const struct kwarp_mpa_frame *frame,
			u16 our_ord, u16 our_ird)
{
	static_assert(KWARP_MAX_ORD <= U8_MAX && KWARP_MAX_IRD <= U8_MAX);
	event->ird = depth(frame, frame->ird, our_ord, KWARP_MAX_ORD);
	event->ord = depth(frame, frame->ord, our_ird, KWARP_MAX_IRD);
}

/* What rdma_cm makes of it: REJECTED, UNREACHABLE, CONNECT_ERROR. */
static int reply_status(int status)
{
	switch (status) {
	case -EPIPE:
	case -ECONNABORTED:
		return -ECONNRESET;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -EHOSTDOWN:
	case -ENETDOWN:
		return -ETIMEDOUT;
	default:
		return status;
	}
}

/**
 * kwarp_cm_upcall_reply - CONNECT_REPLY
 * @ep: initiator
 * @status: 0 or an errno, which makes it the last upcall
 *
 * Context: process; ep->mutex held.
 */
void kwarp_cm_upcall_reply(struct kwarp_ep *ep, int status)
{
	const struct kwarp_startup *su = ep->su;
	struct iw_cm_id *id = ep->cm_id;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY,
		.status = reply_status(status),
		.local_addr = id->local_addr,
		.remote_addr = id->remote_addr,
	};

	lockdep_assert_held(&ep->mutex);
	/* A frame there is, accepting or not: 5044-7.1.4.2-2, 6581-9.1-14 */
	if (su->pd) {
		fill_pd(&event, su, &su->rep);
		fill_depths(&event, &su->rep, su->res.ord, su->res.ird);
	}
	if (!status) {
		kwarp_cm_sock_names(ep->cs.sock, &event.local_addr, &event.remote_addr);
		WRITE_ONCE(ep->told, true);		/* kwarp_qp_rem_ref() */
	}
	if (id->event_handler(id, &event)) {
		/* No memory for the private data; without it this cannot fail. */
		event.private_data_len = 0;
		id->event_handler(id, &event);
	}
	if (status)
		kwarp_ep_drop_id(ep);
}

/* CONNECT_REQUEST to the listener's id, if it is its turn. Return: as kwarp_ep_publish(). */
static int upcall_request(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	const struct kwarp_startup *su = ep->su;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.provider_data = (void *)((uintptr_t)ep->handle << 1),
	};
	int ret = -ECONNABORTED;

	fill_pd(&event, su, &su->req);
	fill_depths(&event, &su->req, KWARP_MAX_ORD, KWARP_MAX_IRD);
	kwarp_cm_sock_names(ep->cs.sock, &event.local_addr, &event.remote_addr);

	spin_lock(&l->lock);
	if (l->cm_id && !kwarp_turn_is(ep))
		ret = -EAGAIN;
	else if (l->cm_id)
		ret = l->cm_id->event_handler(l->cm_id, &event);
	if (!ret)
		kwarp_turn_asked(ep);
	spin_unlock(&l->lock);
	return ret;
}

/**
 * kwarp_ep_publish - tell iw_cm of the Request, by a CONNECT_REQUEST
 * @ep: responder with a valid Request
 *
 * Context: process; ep->mutex held.
 * Return: 0; -ENOMEM: try again soon; -EAGAIN: others are first, see turn.c; -ECONNABORTED:
 * nobody listens any more.
 */
int kwarp_ep_publish(struct kwarp_ep *ep)
{
	int ret;

	lockdep_assert_held(&ep->mutex);
	kwarp_ep_get(ep);			/* for the handle */
	ret = xa_alloc_cyclic(&handles, &ep->handle, ep, xa_limit_31b, &next_handle,
			      GFP_KERNEL);
	if (ret < 0) {
		ep->handle = 0;
		kwarp_ep_put(ep);
		return -ENOMEM;
	}
	ret = upcall_request(ep);
	if (ret)
		kwarp_ep_unpublish(ep);
	return ret;
}

/**
 * kwarp_ep_claim - the endpoint of a Request
 * @id: made by iw_cm for the CONNECT_REQUEST, its provider_data as it was told
 *
 * Context: process. Of several callers one wins.
 * Return: the endpoint with the reference of the handle, or NULL if it has died.
 */
struct kwarp_ep *kwarp_ep_claim(const struct iw_cm_id *id)
{
	u32 handle = (uintptr_t)id->provider_data >> 1;

	return handle ? xa_erase(&handles, handle) : NULL;
}

/* Its end: the handle, if there still is one, leads nowhere. Context: ep->mutex held. */
void kwarp_ep_unpublish(struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
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

static void upcall_simple(struct kwarp_ep *ep, enum iw_cm_event_type type, int status)
{
	const struct kwarp_startup *su = ep->su;
	struct iw_cm_event event = { .event = type, .status = status };

	if (!ep->cm_id)			/* misused, see cm.c */
		return;
	if (type == IW_CM_EVENT_ESTABLISHED) {
		fill_depths(&event, &su->req, su->res.ord, su->res.ird);
		WRITE_ONCE(ep->told, true);		/* kwarp_qp_rem_ref() */
	}
	/* These need no memory: iw_cm has set their work items aside. */
	WARN_ON_ONCE(ep->cm_id->event_handler(ep->cm_id, &event));
}

/**
 * kwarp_cm_upcall_established - ESTABLISHED
 * @ep: responder
 * @status: 0, or an errno: a CLOSE follows at once
 *
 * Context: process; ep->mutex held.
 */
void kwarp_cm_upcall_established(struct kwarp_ep *ep, int status)
{
	lockdep_assert_held(&ep->mutex);
	upcall_simple(ep, IW_CM_EVENT_ESTABLISHED, status);
	if (status)
		kwarp_cm_upcall_close(ep);
}

/**
 * kwarp_cm_upcall_close - CLOSE, the last one
 * @ep: endpoint that is or was established
 *
 * Context: process; ep->mutex held.
 */
void kwarp_cm_upcall_close(struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	upcall_simple(ep, IW_CM_EVENT_CLOSE, 0);
	kwarp_ep_drop_id(ep);
}
