// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Upcalls: events for iw_cm, and the handles by which iw_cm refers to a Request.
 *
 * iw_cm copies the event and passes it to its own ordered workqueue, so these functions may be
 * called from inside connect() and accept(), too. The table in proto/cm_fsm.c decides which event
 * may follow another.
 *
 * IRD and ORD of an event are the peer's numbers (6581-9.1-4, -14): event.ird limits the Reads that
 * the ULP may have outstanding, event.ord limits the Reads of the peer that this end has to serve.
 * They are clamped to what the device can do (6581-9.1-24). If the peer gave no number, or left the
 * number to the ULPs, this end's numbers are used.
 */
#include "cm_upcall.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <linux/xarray.h>

#include "cm_sock.h"
#include "ep.h"
#include "startup.h"
#include "backlog.h"

/*
 * Table of handles: finds the endpoint (connection) whose Request has been passed to iw_cm with
 * that handle. iw_cm passes the event's provider_data back in accept or reject. But if the listener
 * is destroyed before that, iw_cm drops the event without notice, and a reference in provider_data
 * would be lost: so provider_data holds the handle, a number. cm.c uses the lowest bit of
 * provider_data as a flag.
 */
static DEFINE_XARRAY_ALLOC1(handles);
static u32 next_handle;

/* iw_cm's length field is a u8: longer private data is cut to 255 octets. */
static void fill_pdata(struct iw_cm_event *event, const struct kwarp_startup *su,
		       const struct kwarp_mpa_frame *frame)
{
	event->private_data = (void *)su->pdata;
	event->private_data_len = min_t(u16, frame->pdata_len, U8_MAX);
}

static u8 event_depth(const struct kwarp_mpa_frame *frame, u16 theirs, u16 ours, u16 max)
{
	if (!frame->enhanced || theirs == KWARP_DEPTH_NV)
		theirs = ours;
	return min(theirs, max);
}

static void fill_depths(struct iw_cm_event *event, const struct kwarp_mpa_frame *frame,
			u16 our_ord, u16 our_ird)
{
	static_assert(KWARP_MAX_ORD <= U8_MAX && KWARP_MAX_IRD <= U8_MAX);
	event->ird = event_depth(frame, frame->ird, our_ord, KWARP_MAX_ORD);
	event->ord = event_depth(frame, frame->ord, our_ird, KWARP_MAX_IRD);
}

/*
 * Return: the errno for which rdma_cm reports the right event to the ULP: for -ECONNRESET it
 * reports REJECTED, for -ETIMEDOUT UNREACHABLE, for others CONNECT_ERROR.
 */
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
	/*
	 * A Reply has come, accepting or rejecting: pass its contents on (5044-7.1.4.2-2,
	 * 6581-9.1-14).
	 */
	if (su->pdata) {
		fill_pdata(&event, su, &su->rep);
		fill_depths(&event, &su->rep, su->res.ord, su->res.ird);
	}
	if (!status) {
		kwarp_cm_sock_names(ep->cs.sock, &event.local_addr, &event.remote_addr);
		WRITE_ONCE(ep->reported, true);		/* read by kwarp_qp_rem_ref() */
	}
	if (id->event_handler(id, &event)) {
		/* iw_cm had no memory for the private data. An event without any cannot fail. */
		event.private_data_len = 0;
		id->event_handler(id, &event);
	}
	if (status)
		kwarp_ep_drop_id(ep);
}

static int upcall_request(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	const struct kwarp_startup *su = ep->su;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.provider_data = (void *)((uintptr_t)ep->handle << 1),
	};
	int ret = -ECONNABORTED;

	fill_pdata(&event, su, &su->req);
	fill_depths(&event, &su->req, KWARP_MAX_ORD, KWARP_MAX_IRD);
	kwarp_cm_sock_names(ep->cs.sock, &event.local_addr, &event.remote_addr);

	spin_lock(&l->lock);
	if (l->cm_id && !kwarp_backlog_try(ep))
		ret = -EAGAIN;
	else if (l->cm_id)
		ret = l->cm_id->event_handler(l->cm_id, &event);
	if (!ret)
		kwarp_backlog_asked(ep);
	spin_unlock(&l->lock);
	return ret;
}

int kwarp_ep_publish(struct kwarp_ep *ep)
{
	int ret;

	lockdep_assert_held(&ep->mutex);
	kwarp_ep_get(ep);			/* reference for the handle */
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

/*
 * Context: process. Of several callers only one gets the endpoint. Return: the endpoint with the
 * reference of the handle.
 */
struct kwarp_ep *kwarp_ep_take_request(const struct iw_cm_id *id)
{
	u32 handle = (uintptr_t)id->provider_data >> 1;

	return handle ? xa_erase(&handles, handle) : NULL;
}

/* Afterwards iw_cm's accept or reject finds no endpoint. */
void kwarp_ep_unpublish(struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	/*
	 * Put the reference of the table's entry, if this call is the one that removes the entry.
	 * The caller has a reference of its own.
	 */
	if (ep->handle && xa_cmpxchg(&handles, ep->handle, ep, NULL, 0) == ep)
		kwarp_ep_put(ep);
	ep->handle = 0;
}

void kwarp_ep_check_idle(void)
{
	WARN_ON(!xa_empty(&handles));
}

static void upcall_simple(struct kwarp_ep *ep, enum iw_cm_event_type type, int status)
{
	const struct kwarp_startup *su = ep->su;
	struct iw_cm_event event = { .event = type, .status = status };

	if (!ep->cm_id)			/* dropped: a reject after an accept */
		return;
	if (type == IW_CM_EVENT_ESTABLISHED) {
		fill_depths(&event, &su->req, su->res.ord, su->res.ird);
		WRITE_ONCE(ep->reported, true);		/* read by kwarp_qp_rem_ref() */
	}
	/* Cannot fail: iw_cm has allocated the work items for these events in advance. */
	WARN_ON_ONCE(ep->cm_id->event_handler(ep->cm_id, &event));
}

void kwarp_cm_upcall_established(struct kwarp_ep *ep, int status)
{
	lockdep_assert_held(&ep->mutex);
	upcall_simple(ep, IW_CM_EVENT_ESTABLISHED, status);
	if (status)
		kwarp_cm_upcall_close(ep);
}

void kwarp_cm_upcall_close(struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	upcall_simple(ep, IW_CM_EVENT_CLOSE, 0);
	kwarp_ep_drop_id(ep);
}
