// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Events for iw_cm.
 *
 * iw_cm copies the event and hands it to its own ordered workqueue, so these may be
 * called from anywhere, also from inside connect() and accept(). Which event may follow
 * which is decided by proto/cm_fsm.c.
 *
 * IRD and ORD of an event are the peer's numbers (6581-9.1-4, -14): event.ird is what
 * the ULP may have outstanding, event.ord what it has to serve. They are clamped to
 * what the device can do (6581-9.1-24). Where the peer gave none, or left the value to
 * the ULPs, ours stand in.
 */
#include "ep.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

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

/**
 * kwarp_cm_drop_id - no upcalls any more
 * @ep: endpoint
 *
 * Context: process; ep->mutex held.
 */
void kwarp_cm_drop_id(struct kwarp_ep *ep)
{
	struct iw_cm_id *id = ep->cm_id;

	WRITE_ONCE(ep->cm_id, NULL);	/* kwarp_ep_find() */
	if (id)
		id->rem_ref(id);
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
		kwarp_cm_drop_id(ep);
}

/**
 * kwarp_cm_upcall_request - CONNECT_REQUEST to a listener's id
 * @ep: responder with a complete Request and a handle
 *
 * Context: process; ep->mutex held.
 * Return: 0; -ENOMEM if iw_cm has no room at the moment; -ECONNABORTED if the
 * listener is gone.
 */
int kwarp_cm_upcall_request(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	const struct kwarp_startup *su = ep->su;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.provider_data = kwarp_cm_request_data(ep->handle),
	};
	int ret = -ECONNABORTED;

	lockdep_assert_held(&ep->mutex);
	fill_pd(&event, su, &su->req);
	fill_depths(&event, &su->req, KWARP_MAX_ORD, KWARP_MAX_IRD);
	kwarp_cm_sock_names(ep->cs.sock, &event.local_addr, &event.remote_addr);

	spin_lock(&l->lock);
	if (l->cm_id)
		ret = l->cm_id->event_handler(l->cm_id, &event);
	spin_unlock(&l->lock);
	return ret;
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
	kwarp_cm_drop_id(ep);
}
