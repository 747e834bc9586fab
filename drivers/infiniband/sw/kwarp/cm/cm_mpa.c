// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MPA startup over a socket (RFC 5044 section 7.1, RFC 6581): sends and receives the startup
 * frames, and turns the result into an event for proto/cm_fsm.c.
 *
 * Each function poll_*() looks at the socket once, reads or writes as many octets as it can without
 * waiting, and is called again when the socket's state has changed. It reads the octets of the
 * frame and no others: the octets after the frame belong to the stream. All functions run in
 * process context under ep->mutex.
 *
 * Numbers such as 5044-7.1.1-23 name requirements of RFCs, see Documentation/conformance.
 */
#include "cm_mpa.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <linux/sizes.h>
#include <linux/socket.h>

#include "../proto/term.h"
#include "../trace.h"
#include "cm_sock.h"
#include "cm_upcall.h"
#include "ep.h"
#include "ep_stream.h"
#include "sock_io.h"
#include "startup.h"
#include "backlog.h"

/* connect() and accept() fill in IRD, ORD and private data later. */
void kwarp_cm_mpa_init(struct kwarp_ep *ep)
{
	const struct kwarp_knobs *knobs = &ep->kdev->knobs;
	struct kwarp_mpa_params *p = &ep->su->params;

	p->crc = READ_ONCE(knobs->crc);
	p->markers = READ_ONCE(knobs->markers);
	p->max_ird = KWARP_MAX_IRD;
	ep->su->receive_wait = READ_ONCE(knobs->receive_wait);
	if (ep->listener) {
		p->rtr = KWARP_RTR_ALL;	/* 6581-9.2-7: a responder accepts every form of RTR */
		return;
	}
	p->rev = READ_ONCE(knobs->mpa_rev) == 1 ? 1 : 2;
	/* 6581-5-1: peer-to-peer mode begins with an RTR message, which revision 1 does not have */
	p->p2p = READ_ONCE(knobs->peer_to_peer) && p->rev == 2;
	p->rtr = READ_ONCE(knobs->rtr);
}

/* ------------------------------------------------------------------ ends */

/* A wired queue pair has no ULP to tell: it resets the connection, and tries again soon. */
static enum kwarp_cm_event startup_fail(struct kwarp_ep *ep, int status,
					enum kwarp_cm_event event)
{
	ep->status = status;
	return ep->vet ? KWARP_CME_LOST : event;
}

static enum kwarp_cm_event startup_bad(struct kwarp_ep *ep, const char *what)
{
	ibdev_dbg(&ep->kdev->ibdev, "%s: %s\n", kwarp_cm_state_name(ep->state), what);
	return startup_fail(ep, -EPROTO, KWARP_CME_BAD);
}

/*
 * May the initiator try again, with revision 1? A peer that knows only revision 1 closes the
 * connection without a Reply (6581-10-2, -8). The peer of a wired queue pair is kwarp.
 */
static bool may_retry(const struct kwarp_ep *ep)
{
	return !ep->listener && ep->su->params.rev == 2 && !ep->vet;
}

/* @err: errno of the socket, 0 for a FIN. */
static enum kwarp_cm_event startup_lost(struct kwarp_ep *ep, int err)
{
	bool closed = !err || err == -ECONNRESET || err == -EPIPE;

	if (closed && !ep->su->rx_len && may_retry(ep))
		return KWARP_CME_RETRY;
	return startup_fail(ep, err ? err : -ECONNRESET, KWARP_CME_LOST);
}

/* --------------------------------------------------------------- sending */

static enum kwarp_cm_event poll_send(struct kwarp_ep *ep)
{
	int ret = kwarp_startup_send(ep);

	if (ret != -EAGAIN)
		return ret ? startup_lost(ep, ret) : KWARP_CME_SENT;
	/*
	 * TCP had no memory, and will get no ACK after which it could ask for more. It has called
	 * write_space for this: that is no reason to try again at once.
	 */
	if (!kwarp_cm_sock_unacked(ep->cs.sock)) {
		clear_bit(KWARP_EP_SOCK, &ep->events);
		kwarp_ep_retry_in(ep, msecs_to_jiffies(KWARP_SEND_RETRY_MS));
	}
	return KWARP_CME_NONE;
}

/* ------------------------------------------------------------- receiving */

static enum kwarp_cm_event no_frame(struct kwarp_ep *ep, int err)
{
	if (err == -EAGAIN)
		return KWARP_CME_NONE;
	if (err == -EPROTO)
		return startup_bad(ep, "malformed startup frame");
	return startup_lost(ep, err == -ENODATA ? 0 : err);
}

/*
 * Between Request and Reply nothing may come from the Initiator: octets that do come
 * mean that PD_Length was wrong (5044-7.1.1-23).
 */
static enum kwarp_cm_event poll_quiet(struct kwarp_ep *ep)
{
	u8 octet;
	int ret;

	ret = kwarp_cm_sock_recv(ep->cs.sock, &octet, 1, MSG_PEEK);
	if (ret == -EAGAIN)
		return KWARP_CME_NONE;
	return ret > 0 ? startup_bad(ep, "octets after the Request") : startup_lost(ep, ret);
}

/* ------------------------------------------------------------- initiator */

static enum kwarp_cm_event poll_connect(struct kwarp_ep *ep)
{
	int ret;

	if (!ep->cs.sock)		/* the attempt with revision 1 could not be started */
		return KWARP_CME_LOST;
	ret = kwarp_cm_sock_connected(ep->cs.sock, ep->cm_id);
	if (ret == -EINPROGRESS)
		return KWARP_CME_NONE;
	return ret ? startup_fail(ep, ret, KWARP_CME_LOST) : KWARP_CME_TCP_UP;
}

static enum kwarp_cm_event poll_send_req(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;

	if (!su->tx_len) {		/* the Request is not made yet: 5044-7.1.2-1, -2 */
		kwarp_mpa_request(&su->params, su->own_pdata_len, &su->req);
		kwarp_startup_put(ep, &su->req, su->own_pdata);
	}
	return poll_send(ep);
}

static enum kwarp_cm_event owe_terminate(struct kwarp_ep *ep, enum kwarp_perr err,
					 int status)
{
	enum kwarp_cm_event event = startup_fail(ep, status, KWARP_CME_OWE_TERM);

	ibdev_dbg(&ep->kdev->ibdev, "WAIT_REP: %s\n", kwarp_perr_name(err));
	if (event == KWARP_CME_OWE_TERM) {
		kwarp_startup_put_terminate(ep->su, err);
		atomic_long_inc(&ep->kdev->stats.term_sent[err]);
	}
	return event;
}

static enum kwarp_cm_event conclude_reply(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	enum kwarp_perr err;
	int ret;

	err = kwarp_mpa_conclude(&su->params, &su->req, &su->rep, &su->res);
	if (err == KWARP_PERR_MPA_FRAME)
		return startup_bad(ep, "Reply does not fit the Request");
	if (err)			/* IRD, ORD or RTR do not fit: 6581-9.1-13, 6581-9.2-16 */
		return owe_terminate(ep, err, -EPROTO);

	if (ep->vet && !ep->vet(ep))
		return startup_bad(ep, "not the Reply of the peer that was named");

	if (kwarp_ep_prepare_in_work(ep)) {	/* out of memory for now: look at the Reply again */
		kwarp_ep_retry_in(ep, msecs_to_jiffies(KWARP_SEND_RETRY_MS));
		return KWARP_CME_NONE;
	}
	ret = kwarp_ep_attach(ep, true);
	if (ret == -ENOTCONN)
		return startup_fail(ep, -ECONNRESET, KWARP_CME_LOST);
	if (ret)			/* an error of this end: 6581-9.3-3 */
		return owe_terminate(ep, KWARP_PERR_MPA_LOCAL, ret);
	return KWARP_CME_REPLY;
}

static enum kwarp_cm_event poll_reply(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	int ret;

	ret = kwarp_startup_recv(ep, true);
	if (ret)
		return no_frame(ep, ret);
	if (kwarp_mpa_frame_decode(su->rx, su->rx_len, true, &su->rep, &su->pdata))
		return startup_bad(ep, "malformed Reply");
	trace_kwarp_startup_frame(&ep->kdev->ibdev, ep, false, &su->rep);
	/* A peer that knows only an older revision may answer with that revision. */
	if (su->rep.rev < su->req.rev && may_retry(ep))
		return KWARP_CME_RETRY;
	if (su->rep.reject)		/* tell the ULP: 5044-7.1.2-14 */
		return startup_fail(ep, -ECONNREFUSED, KWARP_CME_REJECTED);
	return conclude_reply(ep);
}

/* ------------------------------------------------------------- responder */

/*
 * The Request could not be passed to the ULP now: iw_cm had no memory (-ENOMEM), or other Requests
 * are first (-EAGAIN, see backlog.c).
 */
static enum kwarp_cm_event not_yet(struct kwarp_ep *ep, int err)
{
	unsigned long delay = msecs_to_jiffies(KWARP_UPCALL_RETRY_MS);

	/*
	 * The event QUEUED leads to state WAIT_BACKLOG: its timer starts, and the Request is tried
	 * again at once.
	 */
	if (ep->state == KWARP_CMS_WAIT_REQ)
		return KWARP_CME_QUEUED;
	if (err == -EAGAIN)
		delay = kwarp_backlog_delay(ep);
	if (delay)
		kwarp_ep_retry_in(ep, delay);
	return KWARP_CME_NONE;
}

static enum kwarp_cm_event deliver_request(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	enum kwarp_cm_event event;
	int ret;

	event = poll_quiet(ep);
	if (event)
		return event;
	/* Before the ULP is asked: does the CRC policy of this end allow the connection? */
	if (kwarp_mpa_respond(&su->params, &su->req, true, 0, &su->rep, &su->res)) {
		kwarp_startup_put(ep, &su->rep, su->own_pdata);
		return startup_fail(ep, -EPROTO, KWARP_CME_REFUSE);
	}

	if (ep->listener->answer)
		return KWARP_CME_REQUEST;
	ret = kwarp_ep_publish(ep);
	if (!ret)
		return KWARP_CME_REQUEST;
	if (ret == -ECONNABORTED)
		return startup_fail(ep, ret, KWARP_CME_ORPHAN);
	return not_yet(ep, ret);
}

static enum kwarp_cm_event poll_answer(struct kwarp_ep *ep)
{
	enum kwarp_cm_event event = poll_quiet(ep);

	return !event && ep->listener->answer ? ep->listener->answer(ep) : event;
}

static enum kwarp_cm_event poll_request(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	int ret;

	ret = kwarp_startup_recv(ep, false);
	if (ret == -EPROTO && kwarp_startup_is_probe(su))
		return startup_lost(ep, 0);
	if (ret)
		return no_frame(ep, ret);
	if (kwarp_mpa_frame_decode(su->rx, su->rx_len, false, &su->req, &su->pdata))
		return startup_bad(ep, "malformed Request");
	trace_kwarp_startup_frame(&ep->kdev->ibdev, ep, false, &su->req);
	return deliver_request(ep);
}

enum kwarp_cm_event kwarp_cm_mpa_accept(struct kwarp_ep *ep,
					const struct iw_cm_conn_param *param)
{
	struct kwarp_startup *su = ep->su;
	enum kwarp_perr err;

	lockdep_assert_held(&ep->mutex);
	su->params.ird = param->ird;
	su->params.ord = param->ord;
	err = kwarp_mpa_respond(&su->params, &su->req, true, param->private_data_len,
				&su->rep, &su->res);
	kwarp_startup_put(ep, &su->rep, param->private_data);
	return err ? startup_fail(ep, -EPROTO, KWARP_CME_REJECT) : KWARP_CME_ACCEPT;
}

/* Make the rejecting Reply (5044-7.1.2-5, -6; 6581-10-6). */
void kwarp_cm_mpa_reject(struct kwarp_ep *ep, const void *pdata, u16 pdata_len)
{
	struct kwarp_startup *su = ep->su;

	lockdep_assert_held(&ep->mutex);
	kwarp_mpa_respond(&su->params, &su->req, false, pdata_len, &su->rep, &su->res);
	kwarp_startup_put(ep, &su->rep, pdata);
}

static enum kwarp_cm_event poll_send_rep(struct kwarp_ep *ep)
{
	enum kwarp_cm_event event = poll_send(ep);
	int ret;

	if (event != KWARP_CME_SENT)
		return event;
	/*
	 * 5044-7.1.2-10: FPDUs that the Initiator sends from now on wait in the socket until the QP
	 * is attached and reads them. 5044-7.1.2-16: the QP sends nothing before it has received
	 * the first FPDU.
	 */
	ret = kwarp_ep_attach(ep, false);
	if (ret == -ENOTCONN)
		return startup_fail(ep, -ECONNRESET, KWARP_CME_LOST);
	if (ret)
		return startup_fail(ep, ret, KWARP_CME_LOCAL);
	return ep->su->res.rtr ? KWARP_CME_ATTACHED_P2P : KWARP_CME_ATTACHED;
}

/* ---------------------------------------------------------------- linger */

/*
 * State LINGER: octets have come in after the end of the stream, and no QP can take them. The event
 * BAD resets the connection, so that the peer learns that its octets are lost. The reset waits
 * until the peer has acknowledged all octets of this end: a Terminate, or data of work requests
 * that have completed. Until then, or always if ep->discard is set, the peer's octets are dropped.
 */
static enum kwarp_cm_event linger_octets(struct kwarp_ep *ep)
{
	if (!ep->discard && !kwarp_cm_sock_unacked(ep->cs.sock))
		return KWARP_CME_BAD;
	/*
	 * There may be more octets: mark the endpoint, so that its socket is read again.
	 * kwarp_ep_unlock() limits how often that happens, so that other work items can run.
	 */
	if (kwarp_cm_sock_recv(ep->cs.sock, NULL, SZ_1M, MSG_TRUNC) > 0)
		kwarp_ep_mark(ep, KWARP_EP_SOCK);
	return KWARP_CME_NONE;
}

static enum kwarp_cm_event poll_linger(struct kwarp_ep *ep)
{
	u8 octet;
	int ret;

	if (kwarp_cm_sock_closed(ep->cs.sock))
		return KWARP_CME_DONE;
	ret = kwarp_cm_sock_recv(ep->cs.sock, &octet, 1, MSG_PEEK);
	if (ret > 0)
		return linger_octets(ep);
	/* @ret is 0: the peer's FIN has come, but not the ACK of this end's FIN */
	return ret && ret != -EAGAIN ? KWARP_CME_LOST : KWARP_CME_NONE;
}

enum kwarp_cm_event kwarp_cm_mpa_poll(struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	switch (ep->state) {
	case KWARP_CMS_CONNECT:
		return poll_connect(ep);
	case KWARP_CMS_SEND_REQ:
		return poll_send_req(ep);
	case KWARP_CMS_WAIT_REP:
		return poll_reply(ep);
	case KWARP_CMS_WAIT_REQ:
		return poll_request(ep);
	case KWARP_CMS_WAIT_BACKLOG:
		return deliver_request(ep);
	case KWARP_CMS_WAIT_ULP:
		return poll_answer(ep);
	case KWARP_CMS_SEND_REP:
		return poll_send_rep(ep);
	case KWARP_CMS_SEND_REJ:
	case KWARP_CMS_SEND_TERM:
		return poll_send(ep);
	case KWARP_CMS_LINGER:
		return poll_linger(ep);
	default:
		/* the connection is not started, or the QP owns the socket */
		return KWARP_CME_NONE;
	}
}
