// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Events of a queue pair's stream: the change of state, and the actions that follow.
 *
 * kwarp_qp_event() runs in any context: it finds the event in the table (proto/qp_fsm.c), enters
 * the new state and leaves the actions to the runner. A caller that can carry out the actions
 * itself calls kwarp_qp_note() and kwarp_qp_run() instead. So the actions of one QP are serialised
 * and run in process context, and the first error decides how the stream ends.
 *
 * Runner: the context that carries out a QP's actions at the moment (serial.h); if there is none,
 * the QP's work item becomes the runner. Drain: before the FIN, send all posted requests, and wait
 * for the answers to Reads.
 *
 * Timers (one delayed work per QP, its meaning follows from the state):
 *   RTS, peer's FIN     KWARP_WIRE_FIN_MS        then it counts (wired queue pairs)
 *   CLOSING, draining   KWARP_DRAIN_TIMEOUT_MS   then the stream is aborted
 *   CLOSING, FIN sent   knob linger_timeout      then the stream ends without the peer's FIN
 *   TERM                KWARP_TERM_TIMEOUT_MS    then the Terminate is given up
 */
#include "qp.h"

#include "../fault.h"
#include "../trace.h"
#include "../wq.h"

enum kwarp_qp_state kwarp_qp_state(struct kwarp_qp *qp)
{
	return READ_ONCE(qp->state);
}

static struct kwarp_qp *engine_qp(struct kwarp_engine *e)
{
	return container_of(e, struct kwarp_qp, engine);
}

static void set_timer(struct kwarp_qp *qp, unsigned int ms)
{
	mod_delayed_work(kwarp_wq, &qp->timer, msecs_to_jiffies(ms));
}

static void ask_qp(struct kwarp_qp *qp)
{
	if (kwarp_run_ask(&qp->run))
		queue_work(kwarp_wq, &qp->work);
}

static void set_pending(struct kwarp_qp *qp, enum kwarp_qp_pending bit)
{
	set_bit(bit, &qp->pending);
	ask_qp(qp);
}

void kwarp_qp_poll(struct kwarp_qp *qp)
{
	set_pending(qp, KWARP_QPP_POLL);
}

/* Those of the @actions that must not wait for the work item. */
static void stop_engine(struct kwarp_qp *qp, enum kwarp_qp_event event, u16 actions)
{
	if (actions & BIT(KWARP_QPA_STOP_RX))
		kwarp_engine_stop_receiving(&qp->engine);
	/*
	 * A modify_qp to ERR makes the event ABORT. A request that is posted after that modify_qp
	 * has returned must be flushed, not sent.
	 */
	if (event == KWARP_QPE_ABORT && actions & BIT(KWARP_QPA_FLUSH))
		kwarp_engine_stop_sending(&qp->engine);
}

/* In TERM an error found earlier ends the stream; in ERROR the stream is over. */
static void count_lost(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	lockdep_assert_held(&qp->state_lock);
	if (event == KWARP_QPE_LOST &&
	    (qp->state == KWARP_QPS_RTS || qp->state == KWARP_QPS_CLOSING))
		atomic_long_inc(&qp->kdev->stats.lost);
	if (event == KWARP_QPE_LOST && qp->state == KWARP_QPS_RTS)
		WRITE_ONCE(qp->lost, true);
}

/**
 * kwarp_qp_note - enter the state that an event leads to, and leave its actions to kwarp_qp_run()
 * @qp: queue pair
 * @event: what has happened
 *
 * Context: any; the caller calls kwarp_qp_run() next.
 * Return: 0; -EINVAL: the event is not legal in this state.
 */
int kwarp_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	const struct kwarp_qp_step *step;
	unsigned long irqflags;
	int ret = -EINVAL;

	spin_lock_irqsave(&qp->state_lock, irqflags);
	step = kwarp_qp_fsm(qp->state, event);
	if (step->legal) {
		count_lost(qp, event);
		trace_kwarp_qp_event(&qp->ibqp, kwarp_qp_state_name(qp->state),
				     kwarp_qp_event_name(event),
				     kwarp_qp_state_name(step->next));
		WRITE_ONCE(qp->state, step->next);
		WRITE_ONCE(qp->todo, qp->todo | step->actions);
		/*
		 * Stop the engine before the lock is dropped: after that a new stream might be
		 * attached, and the new stream would be stopped.
		 */
		stop_engine(qp, event, step->actions);
		ret = 0;
	}
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
	return ret;
}

/**
 * kwarp_qp_event - handle an event; its actions are left to the runner
 * @qp: queue pair
 * @event: what has happened
 *
 * Context: any.
 * Return: 0; -EINVAL: the event is not legal in this state.
 */
int kwarp_qp_event(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	int ret = kwarp_qp_note(qp, event);

	if (!ret && READ_ONCE(qp->todo))
		ask_qp(qp);
	return ret;
}

/*
 * With InfiniBand a queue pair does not learn that its peer has gone. A program that has wired it
 * may still have to poll its last completions, and takes flushed receives among them for an error:
 * give it time.
 */
static void on_event(struct kwarp_engine *e, enum kwarp_qp_event event)
{
	struct kwarp_qp *qp = engine_qp(e);

	if (event == KWARP_QPE_DRAINED)
		set_pending(qp, KWARP_QPP_DRAINED);
	else if (event == KWARP_QPE_PEER_FIN && READ_ONCE(qp->wired) &&
		 kwarp_qp_state(qp) == KWARP_QPS_RTS)
		set_timer(qp, KWARP_WIRE_FIN_MS);
	else
		kwarp_qp_event(qp, event);
}

static void on_established(struct kwarp_engine *e)
{
	struct kwarp_qp *qp = engine_qp(e);

	if (qp->say_first)
		set_pending(qp, KWARP_QPP_ESTABLISHED);
}

static void on_poll(struct kwarp_engine *e)
{
	kwarp_qp_poll(engine_qp(e));
}

static void on_srq_limit(struct kwarp_engine *e)
{
	set_pending(engine_qp(e), KWARP_QPP_SRQ_LIMIT);
}

static const struct kwarp_engine_ops engine_ops = {
	.event = on_event,
	.established = on_established,
	.poll = on_poll,
	.srq_limit = on_srq_limit,
};

static void tell_cm(struct kwarp_qp *qp, enum kwarp_stream_event event, bool graceful)
{
	const struct kwarp_stream_ops *cm;
	void *ep;

	mutex_lock(&qp->mutex);
	cm = qp->cm;
	ep = qp->ep;
	if (event == KWARP_STREAM_DOWN)
		qp->cm = NULL;
	mutex_unlock(&qp->mutex);
	if (cm)
		cm->event(ep, event, graceful);
}

static void raise_qp_event(struct kwarp_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/**
 * kwarp_qp_say_established - raise the asynchronous event COMM_EST
 * @qp: wired queue pair
 */
void kwarp_qp_say_established(struct kwarp_qp *qp)
{
	raise_qp_event(qp, IB_EVENT_COMM_EST);
}

/* QP_ACCESS_ERR: the peer used an STag or an address that it may not use. */
static enum ib_event_type fatal_type(enum kwarp_perr perr)
{
	switch (perr) {
	case KWARP_PERR_R_STAG ... KWARP_PERR_R_CANNOT_INV:
	case KWARP_PERR_DDP_T_STAG ... KWARP_PERR_DDP_T_WRAP:
		return IB_EVENT_QP_ACCESS_ERR;
	default:
		return IB_EVENT_QP_FATAL;
	}
}

static void act_peer_closed(struct kwarp_qp *qp, u16 todo)
{
	tell_cm(qp, KWARP_STREAM_PEER_CLOSED, true);
}

static void act_send_term(struct kwarp_qp *qp, u16 todo)
{
	/*
	 * Set the timer before sending, which may take a while: the timer may still be running for
	 * an earlier graceful close, and would expire at the wrong time.
	 */
	set_timer(qp, KWARP_TERM_TIMEOUT_MS);
	if (!kwarp_engine_terminate(&qp->engine))
		kwarp_qp_event(qp, KWARP_QPE_TERM_SENT);
}

static void act_drain(struct kwarp_qp *qp, u16 todo)
{
	set_timer(qp, KWARP_DRAIN_TIMEOUT_MS);
	kwarp_engine_drain(&qp->engine);
}

/*
 * Send no FIN if the engine has got something else to send since the drain, for example a Read
 * Response: the engine reports DRAINED again when that is sent.
 */
static void half_close(struct kwarp_qp *qp)
{
	if (kwarp_qp_state(qp) != KWARP_QPS_CLOSING || qp->fin_sent ||
	    !kwarp_engine_fin(&qp->engine))
		return;
	WRITE_ONCE(qp->fin_sent, true);
	set_timer(qp, READ_ONCE(qp->kdev->knobs.linger_timeout) * MSEC_PER_SEC);
}

static void act_flush(struct kwarp_qp *qp, u16 todo)
{
	bool first;

	cancel_delayed_work(&qp->timer);
	mutex_lock(&qp->mutex);
	first = !kwarp_engine_dead(&qp->engine);
	kwarp_qp_tell_end(qp);
	kwarp_engine_stop(&qp->engine, todo & BIT(KWARP_QPA_FIN));
	mutex_unlock(&qp->mutex);
	/*
	 * LAST_WQE_REACHED tells the consumer of a QP with an SRQ that the QP takes no more entries
	 * from the SRQ. A consumer that is destroying the QP does not wait for this event.
	 */
	if (qp->srq && first && !test_bit(KWARP_QPP_RETIRED, &qp->pending))
		raise_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

static void act_ev_fatal(struct kwarp_qp *qp, u16 todo)
{
	raise_qp_event(qp, fatal_type(kwarp_engine_perr(&qp->engine)));
}

static void act_ev_req(struct kwarp_qp *qp, u16 todo)
{
	raise_qp_event(qp, IB_EVENT_QP_REQ_ERR);
}

static void act_down(struct kwarp_qp *qp, u16 todo)
{
	tell_cm(qp, KWARP_STREAM_DOWN, !(todo & BIT(KWARP_QPA_RST)));
}

static void (* const qp_actions[])(struct kwarp_qp *qp, u16 todo) = {
	[KWARP_QPA_PEER_CLOSED]	= act_peer_closed,
	[KWARP_QPA_SEND_TERM]	= act_send_term,
	[KWARP_QPA_DRAIN]	= act_drain,
	[KWARP_QPA_FLUSH]	= act_flush,
	[KWARP_QPA_EV_FATAL]	= act_ev_fatal,
	[KWARP_QPA_EV_REQ]	= act_ev_req,
	[KWARP_QPA_DOWN]	= act_down,
};

static_assert(ARRAY_SIZE(qp_actions) == KWARP_QPA_STEPS);

static void carry_out(struct kwarp_qp *qp, u16 todo)
{
	unsigned long steps = todo;
	int step;

	for_each_set_bit(step, &steps, KWARP_QPA_STEPS)
		qp_actions[step](qp, todo);
}

static u16 take_todo(struct kwarp_qp *qp)
{
	unsigned long irqflags;
	u16 todo;

	spin_lock_irqsave(&qp->state_lock, irqflags);
	todo = qp->todo;
	WRITE_ONCE(qp->todo, 0);
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
	return todo;
}

static void raise_srq_limit(struct kwarp_qp *qp)
{
	struct ib_srq *ibsrq = &qp->srq->ibsrq;
	struct ib_event event = {
		.device = ibsrq->device,
		.element.srq = ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (ibsrq->event_handler)
		ibsrq->event_handler(&event, ibsrq->srq_context);
}

static void carry_out_waiting(void *arg)
{
	struct kwarp_qp *qp = arg;
	u16 todo;

	if (test_and_clear_bit(KWARP_QPP_POLL, &qp->pending)) {
		mutex_lock(&qp->mutex);
		kwarp_engine_poll(&qp->engine);
		mutex_unlock(&qp->mutex);
	}
	/*
	 * Take the actions before looking at the pending bits, so that ESTABLISHED is reported
	 * before a DOWN that is among the actions.
	 */
	todo = take_todo(qp);
	if (test_and_clear_bit(KWARP_QPP_ESTABLISHED, &qp->pending))
		tell_cm(qp, KWARP_STREAM_ESTABLISHED, true);
	if (test_and_clear_bit(KWARP_QPP_SRQ_LIMIT, &qp->pending))
		raise_srq_limit(qp);
	if (test_and_clear_bit(KWARP_QPP_DRAINED, &qp->pending))
		half_close(qp);
	carry_out(qp, todo);
	/* If both directions are closed, end the stream now, without waiting for the timer. */
	if (kwarp_qp_state(qp) == KWARP_QPS_CLOSING && qp->fin_sent &&
	    kwarp_engine_peer_closed(&qp->engine))
		kwarp_qp_event(qp, KWARP_QPE_DRAINED);
}

/* The caller has become the runner, by kwarp_run_enter() or kwarp_run_take(). */
static void run_qp(struct kwarp_qp *qp)
{
	if (!kwarp_run_rounds(&qp->run, carry_out_waiting, qp))
		queue_work(kwarp_wq, &qp->work);
	else
		/*
		 * Wake finish_waiting(). The QP still exists: kwarp_qp_gone() waits for the work
		 * item, and for the reference of a caller of kwarp_qp_run().
		 */
		wake_up_var(&qp->run);
}

/**
 * kwarp_qp_run - carry out the actions of events
 * @qp: queue pair, referenced by the caller
 *
 * For a QP of a kernel consumer the work item carries the actions out: the consumer's handlers must
 * not be called while the consumer itself is in a call of a verb
 * (Documentation/infiniband/core_locking.rst).
 *
 * Context: process; no lock of kwarp's held but @qp->wiring, because this may make upcalls to
 * connection management.
 */
void kwarp_qp_run(struct kwarp_qp *qp)
{
	might_sleep();
	if (!qp->sq.user)
		ask_qp(qp);
	else if (kwarp_run_enter(&qp->run))
		run_qp(qp);
}

static void qp_work(struct work_struct *work)
{
	struct kwarp_qp *qp = container_of(work, struct kwarp_qp, work);

	kwarp_fault_late(qp->ibqp.device);
	if (kwarp_run_take(&qp->run))
		run_qp(qp);
}

static void qp_timer(struct work_struct *work)
{
	struct kwarp_qp *qp = container_of(to_delayed_work(work), struct kwarp_qp, timer);

	switch (kwarp_qp_state(qp)) {
	case KWARP_QPS_RTS:
		if (kwarp_engine_peer_closed(&qp->engine))
			kwarp_qp_event(qp, KWARP_QPE_PEER_FIN);
		break;
	case KWARP_QPS_CLOSING:
		kwarp_qp_event(qp, READ_ONCE(qp->fin_sent) ? KWARP_QPE_DRAINED :
							    KWARP_QPE_ABORT);
		break;
	case KWARP_QPS_TERM:
		kwarp_qp_event(qp, KWARP_QPE_TERM_SENT);
		break;
	default:
		break;
	}
}

void kwarp_qp_work_init(struct kwarp_qp *qp)
{
	atomic_set(&qp->run, KWARP_RUN_IDLE);
	INIT_WORK(&qp->work, qp_work);
	INIT_DELAYED_WORK(&qp->timer, qp_timer);
	kwarp_engine_init(&qp->engine, &engine_ops);
}

/*
 * Its stream is over, and nobody has a reference to the QP any more. Context: process, may sleep.
 */
void kwarp_qp_work_cancel(struct kwarp_qp *qp)
{
	cancel_delayed_work_sync(&qp->timer);
	cancel_work_sync(&qp->work);
	/*
	 * The work item that cancel_work_sync() has cancelled may have had to raise LIMIT_REACHED.
	 * The SRQ lives on, and its limit has been disarmed, so raise the event here: otherwise the
	 * event would be lost.
	 */
	if (test_and_clear_bit(KWARP_QPP_SRQ_LIMIT, &qp->pending))
		raise_srq_limit(qp);
	kwarp_engine_cancel(&qp->engine);
}
