// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoint: turns bits (KWARP_EP_*) and the state of the socket into events of proto/cm_fsm.c, and
 * carries out the actions that its table names. Two steps are not among the actions: cm_mpa.c
 * passes a Request to iw_cm (kwarp_ep_publish()), and gives the socket to the queue pair
 * (kwarp_ep_attach()), before the table gets the event, because the result decides which event it
 * is.
 *
 * kwarp_ep_run(), the loop, runs under the endpoint's mutex. A context that has locked the endpoint
 * handles all bits that are set until it unlocks the endpoint (kwarp_ep_unlock()); the work item
 * handles bits that are set while the endpoint is not locked. The caller holds a reference of its
 * own, because the endpoint may drop its reference on itself inside the loop.
 */
#include "ep_run.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "../qp/stream.h"
#include "../trace.h"
#include "cm_mpa.h"
#include "cm_sock.h"
#include "cm_upcall.h"
#include "ep.h"
#include "ep_stream.h"
#include "sock_io.h"
#include "startup.h"
#include "backlog.h"

/* ----------------------------------------------------------------- timer */

/*
 * In state LINGER (this end has sent its FIN): extend the deadline if the peer has not acknowledged
 * all octets. The work requests of these octets have completed, so the octets should not get lost
 * because a network is slow, or down for a while. Return: true: extended.
 */
static bool linger_on(struct kwarp_ep *ep)
{
	u32 acked;

	if (ep->state != KWARP_CMS_LINGER || ep->discard ||
	    ep->linger.extended >= KWARP_CLOSE_EXTENSIONS ||
	    !kwarp_cm_sock_unacked(ep->cs.sock))
		return false;
	acked = kwarp_cm_sock_acked(ep->cs.sock);
	if (acked != ep->linger.acked)
		ep->linger.stalled = 0;
	else if (++ep->linger.stalled > KWARP_CLOSE_STALLS)
		return false;
	ep->linger.acked = acked;
	ep->linger.extended++;
	ep->due.deadline = jiffies + READ_ONCE(ep->kdev->knobs.linger_timeout) * HZ;
	return true;
}

static enum kwarp_cm_event ep_aborted(struct kwarp_ep *ep, enum kwarp_cm_event event)
{
	ep->status = -ECONNABORTED;
	return event;
}

/*
 * The timer has expired: at the deadline, or earlier, because of kwarp_ep_retry_in() or
 * kwarp_ep_caller_ends().
 */
static enum kwarp_cm_event timer_event(struct kwarp_ep *ep)
{
	if (ep->due.kind == KWARP_CMT_NONE)
		return KWARP_CME_NONE;
	if (kwarp_ep_caller_ends(ep))
		return ep_aborted(ep, KWARP_CME_ABORT);
	if (time_before(jiffies, ep->due.deadline) || linger_on(ep)) {
		kwarp_ep_arm_deadline(ep);
		return kwarp_cm_mpa_poll(ep);
	}
	ep->status = -ETIMEDOUT;
	return KWARP_CME_TIMER;
}

/* --------------------------------------------------------------- actions */

static void act_leave(struct kwarp_ep *ep)
{
	kwarp_ep_unpublish(ep);
	if (ep->listener)
		kwarp_listener_leave(ep);
}

static void act_reconnect(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	int ret;

	ibdev_dbg(&ep->kdev->ibdev, "no Reply of revision 2, trying revision 1\n");
	su->params.rev = 1;
	su->params.p2p = false;
	su->rx_len = 0;
	su->tx_len = 0;
	su->tx_off = 0;
	su->pdata = NULL;
	memset(&su->rep, 0, sizeof(su->rep));
	ret = kwarp_cm_sock_reconnect(&ep->cs, ep->cm_id, ep->ifindex);
	if (ret) {
		ep->status = ret;		/* poll_connect() will report it: no socket */
		kwarp_cm_sock_kill(&ep->cs);
	}
}

static void act_reply_ok(struct kwarp_ep *ep)
{
	kwarp_cm_upcall_reply(ep, 0);
}

static void act_reply_fail(struct kwarp_ep *ep)
{
	kwarp_cm_upcall_reply(ep, ep->status);
}

static void act_est(struct kwarp_ep *ep)
{
	kwarp_cm_upcall_established(ep, 0);
}

static void act_est_fail(struct kwarp_ep *ep)
{
	if (!ep->accepting) {
		kwarp_cm_upcall_established(ep, ep->status);
		return;
	}
	/* accept() returns the errno. iw_cm expects no event after an accept that failed. */
	ep->accepting = false;
	kwarp_ep_drop_id(ep);
}

static void act_qp_abort(struct kwarp_ep *ep)
{
	kwarp_qp_abort(ep->qp);
}

static void act_fin(struct kwarp_ep *ep)
{
	/*
	 * If installing the callbacks fails, the endpoint learns of no ACK and no FIN: then its
	 * timer ends the connection.
	 */
	if (!ep->cs.hooked)
		kwarp_cm_sock_hook(&ep->cs);
	ep->linger.acked = kwarp_cm_sock_acked(ep->cs.sock);
	kwarp_cm_sock_fin(ep->cs.sock);
}

static void act_discard(struct kwarp_ep *ep)
{
	ep->discard = true;
}

static void act_kill(struct kwarp_ep *ep)
{
	kwarp_cm_sock_kill(&ep->cs);
}

static void act_hurry(struct kwarp_ep *ep)
{
	unsigned long end = jiffies + READ_ONCE(ep->kdev->knobs.startup_timeout) * HZ;

	if (time_after(ep->due.deadline, end)) {
		ep->due.deadline = end;
		kwarp_ep_arm_deadline(ep);
	}
}

/* If the ULP has received the Request, its accept or reject finds no endpoint after this. */
static void act_refuse(struct kwarp_ep *ep)
{
	kwarp_ep_unpublish(ep);
	kwarp_cm_mpa_reject(ep, NULL, 0);
}

static void (* const actions[])(struct kwarp_ep *ep) = {
	[KWARP_CMA_LEAVE]	= act_leave,
	[KWARP_CMA_RECONNECT]	= act_reconnect,
	[KWARP_CMA_REPLY_OK]	= act_reply_ok,
	[KWARP_CMA_REPLY_FAIL]	= act_reply_fail,
	[KWARP_CMA_EST]		= act_est,
	[KWARP_CMA_EST_FAIL]	= act_est_fail,
	[KWARP_CMA_CLOSE]	= kwarp_cm_upcall_close,
	[KWARP_CMA_QP_ABORT]	= act_qp_abort,
	[KWARP_CMA_QP_PUT]	= kwarp_ep_unbind_qp,
	[KWARP_CMA_FIN]		= act_fin,
	[KWARP_CMA_DISCARD]	= act_discard,
	[KWARP_CMA_KILL]	= act_kill,
	[KWARP_CMA_HURRY]	= act_hurry,
	[KWARP_CMA_REFUSE]	= act_refuse,
};

static_assert(ARRAY_SIZE(actions) == KWARP_CMA_COUNT);

/* When this function returns, the endpoint does not use the device any more. */
static void ep_bury(struct kwarp_ep *ep)
{
	WARN_ON_ONCE(ep->handle || ep->asked);
	WARN_ON_ONCE(!list_empty(&ep->half_open) || !list_empty(&ep->in_line));
	kwarp_ep_drop_id(ep);			/* usually dropped already, by the last upcall */
	kwarp_ep_delist(ep);
}

/*
 * @event is ignored if the table does not allow it in this state. The caller has a reference
 * besides the endpoint's own.
 */
void kwarp_ep_apply(struct kwarp_ep *ep, enum kwarp_cm_event event)
{
	const struct kwarp_cm_step *step = kwarp_cm_fsm(ep->state, event);
	enum kwarp_cm_state was = ep->state;
	unsigned long todo;
	int bit;

	lockdep_assert_held(&ep->mutex);
	if (!step->legal)
		return;
	atomic_long_inc(&ep->kdev->stats.cm[was][event]);
	trace_kwarp_cm_event(&ep->kdev->ibdev, ep, ep->qp ? kwarp_qp_ib(ep->qp)->qp_num : 0,
			     ep->cm_id, kwarp_cm_state_name(was), kwarp_cm_event_name(event),
			     kwarp_cm_state_name(step->next));
	kwarp_ep_tell_trouble(ep, was, event);
	WRITE_ONCE(ep->state, step->next);
	if (step->next != was)
		WRITE_ONCE(ep->since, jiffies);
	todo = step->actions;
	for_each_set_bit(bit, &todo, KWARP_CMA_COUNT)
		actions[bit](ep);
	if (ep->state == was)
		return;
	/* An eviction that the listener has asked for was due to the old state: drop it. */
	clear_bit(KWARP_EP_EVICT, &ep->events);
	kwarp_ep_set_timer(ep);
	if (ep->state != KWARP_CMS_WAIT_BACKLOG && ep->state != KWARP_CMS_WAIT_ULP)
		kwarp_backlog_leave(ep);
	if (ep->state >= KWARP_CMS_STREAM)
		kwarp_ep_end_startup(ep);
	/* The callbacks report changes only: look for octets that are in the socket already. */
	set_bit(KWARP_EP_SOCK, &ep->events);
	if (ep->state == KWARP_CMS_DEAD)
		ep_bury(ep);
}

/* ------------------------------------------------------------------ loop */

static bool ep_take_bit(struct kwarp_ep *ep, int bit)
{
	return test_bit(bit, &ep->events) && test_and_clear_bit(bit, &ep->events);
}

static enum kwarp_cm_event down_event(struct kwarp_ep *ep, enum kwarp_cm_event event)
{
	/*
	 * In state WAIT_FPDU the timer or an abort may have ended the stream. Keep the errno that
	 * this earlier event has set: it tells the cause.
	 */
	if (!ep->status)
		ep->status = -ECONNRESET;
	return ep->aborting ? KWARP_CME_DOWN_KILL : event;
}

static enum kwarp_cm_event next_event(struct kwarp_ep *ep)
{
	enum kwarp_cm_event event = KWARP_CME_NONE;

	/* The QP reports FPDU, FIN and DOWN in this order, so handle their bits in this order. */
	if (ep_take_bit(ep, KWARP_EP_QP_FPDU))
		return KWARP_CME_FPDU;
	if (ep_take_bit(ep, KWARP_EP_QP_FIN))
		return KWARP_CME_PEER_FIN;
	if (ep_take_bit(ep, KWARP_EP_QP_DOWN_FIN))
		return down_event(ep, KWARP_CME_DOWN_FIN);
	if (ep_take_bit(ep, KWARP_EP_QP_DOWN_ERR))
		return down_event(ep, KWARP_CME_DOWN_ERR);
	if (ep_take_bit(ep, KWARP_EP_ABORT)) {
		ep->aborting = true;
		return ep_aborted(ep, KWARP_CME_ABORT);
	}
	/*
	 * RETIRE ends startups only. In state SEND_REJ and all later ones startup has failed or is
	 * over: an established connection stays, because its user may need it to leave the device,
	 * as kwarp_cm_retire() explains.
	 */
	if (ep_take_bit(ep, KWARP_EP_RETIRE) && ep->state < KWARP_CMS_SEND_REJ)
		return ep_aborted(ep, KWARP_CME_ABORT);
	if (ep_take_bit(ep, KWARP_EP_NO_QP))
		return ep_aborted(ep, KWARP_CME_NO_QP);
	if (ep_take_bit(ep, KWARP_EP_ORPHAN))
		return ep_aborted(ep, KWARP_CME_ORPHAN);
	/* The listener may have looked at an older state, and have set the bit after the change. */
	if (ep_take_bit(ep, KWARP_EP_EVICT) && kwarp_listener_may_evict(ep))
		return ep_aborted(ep, KWARP_CME_EVICT);
	if (ep_take_bit(ep, KWARP_EP_TIMER))
		event = timer_event(ep);
	if (!event && ep_take_bit(ep, KWARP_EP_SOCK))
		event = kwarp_cm_mpa_poll(ep);
	return event;
}

/* The caller has a reference besides the endpoint's own. */
void kwarp_ep_run(struct kwarp_ep *ep)
{
	enum kwarp_cm_event event;

	lockdep_assert_held(&ep->mutex);
	/*
	 * In state NEW connect() or the listener has not finished making the endpoint: the bits
	 * stay set.
	 */
	while (ep->state != KWARP_CMS_NEW && ep->state != KWARP_CMS_DEAD) {
		event = next_event(ep);
		if (!event)
			break;
		kwarp_ep_apply(ep, event);
	}
}

/*
 * Return: the endpoint with a reference for the caller, besides the one that it holds on itself
 * until it is DEAD; or -ENOMEM, -ENODEV.
 */
struct kwarp_ep *kwarp_ep_create(struct kwarp_dev *kdev, struct kwarp_listener *l)
{
	struct kwarp_ep *ep = kwarp_ep_alloc(kdev, l, kwarp_ep_run);
	int ret;

	if (!ep)
		return ERR_PTR(-ENOMEM);
	kwarp_cm_mpa_init(ep);
	ret = kwarp_ep_enlist(ep);
	return ret ? ERR_PTR(ret) : ep;
}
