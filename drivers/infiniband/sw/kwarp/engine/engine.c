// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The functions of engine.h: what the layers above call, from setup to the end of a stream. */
#include "engine.h"

#include <linux/ktime.h>
#include <net/tcp.h>

#include "fail.h"
#include "rx/rx.h"
#include "tcp.h"
#include "tx/run.h"
#include "tx/tx.h"

/**
 * kwarp_engine_init - initialize an engine without queues and stream
 * @e: engine, zeroed
 * @ops: upcalls
 */
void kwarp_engine_init(struct kwarp_engine *e, const struct kwarp_engine_ops *ops)
{
	e->ops = ops;
	kwarp_tx_init(e);
	kwarp_sock_init(e);
	kwarp_mem_stream_init(&e->mem);
}

/**
 * kwarp_engine_wire - give an engine its queues
 * @e: engine after kwarp_engine_init()
 * @parts: what it works with; the objects live until kwarp_engine_unwire()
 */
void kwarp_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts)
{
	e->kdev = parts->kdev;
	e->ibqp = parts->ibqp;
	e->creator = parts->creator;
	e->mem.pd = parts->ibqp->pd;
	e->recv_mem = parts->shared_mem ?: &e->mem;
	e->sq = parts->sq;
	e->rq = parts->rq;
	e->rq_shared = parts->shared_mem;
	e->recv_cq = parts->recv_cq;
	e->tx.coalesce.ops = parts->hold;
	e->tx.home = parts->sq->cq->home;
}

/**
 * kwarp_engine_unwire - make the CQs forget the queue pair
 * @e: engine after kwarp_engine_stop() and kwarp_engine_cancel()
 *
 * Both CQs forget the queue pair before either is waited for, because a handler of one CQ may poll
 * the other. After that no handler uses the queue pair.
 *
 * Context: process; waits for handlers of the CQs.
 */
void kwarp_engine_unwire(struct kwarp_engine *e)
{
	might_sleep();
	kwarp_mem_stream_end(&e->mem);
	kwarp_cq_forget_qp(e->sq->cq, e->ibqp);
	kwarp_cq_forget_qp(e->recv_cq, e->ibqp);
	kwarp_cq_settle(e->sq->cq);
	kwarp_cq_settle(e->recv_cq);
}

/**
 * kwarp_engine_stats - get the counts of the engine's present and earlier streams
 * @e: engine
 *
 * Return: counts that live as long as @e.
 */
struct kwarp_stats_stream *kwarp_engine_stats(struct kwarp_engine *e)
{
	return &e->stats;
}

static void start_tx(struct kwarp_engine *e, const struct kwarp_stream_params *p)
{
	struct kwarp_tx *tx = &e->tx;
	int i;

	tx->crc = p->crc;
	tx->markers = p->tx_markers;
	tx->align = p->align;
	tx->long_frames = p->long_frames;
	tx->rtr = p->initiator ? p->rtr : 0;
	tx->off = 0;
	tx->term_done = false;
	tx->no_memory = false;
	tx->stalled = 0;
	tx->msg.kind = KWARP_TXK_NONE;
	/* The first MSN is 1 (5041-4.3-13). */
	for (i = 0; i < KWARP_QN_COUNT; i++)
		tx->msn[i] = 1;
	tx->sq_end = e->sq->next;
	kwarp_coalesce_reset(e);
}

static void free_queues(struct kwarp_engine *e)
{
	kwarp_batch_fini(&e->tx.batch);
	kwarp_readq_fini(&e->iread);
	kwarp_readq_fini(&e->oread);
}

/**
 * kwarp_engine_start - begin a stream
 * @e: engine without a stream
 * @sock: connected socket; the caller keeps it until kwarp_engine_stop() has returned
 * @p: what the MPA startup has agreed on; @p->readqs is taken, even on failure
 *
 * Context: process; takes the socket lock, and may send. Serialised with kwarp_engine_stop().
 * Return: 0; -ENOTCONN: the connection is gone; -EBUSY: a BPF socket map has the socket.
 */
int kwarp_engine_start(struct kwarp_engine *e, struct socket *sock,
		       const struct kwarp_stream_params *p)
{
	int ret;

	might_sleep();
	kwarp_tx_claim(e);
	e->oread = p->readqs->out;
	e->iread = p->readqs->in;
	memset(p->readqs, 0, sizeof(*p->readqs));
	kwarp_batch_init(&e->tx.batch, e->kdev);
	e->sink_rights = kwarp_sink_rights(p->strict);
	e->began = ktime_to_ms(ktime_get_boottime());
	e->more = (e->sq->rfc7306 ? KWARP_RDMAP_RFC7306 : 0) |
		  (p->send_imm ? KWARP_RDMAP_SEND_IMM : 0);
	e->sq->send_imm = p->send_imm;
	start_tx(e, p);
	kwarp_rx_init(e, p->crc, p->rx_markers);
	e->rx.wait = p->receive_wait;
	if (p->initiator)
		set_bit(KWARP_E_TX_OPEN, &e->flags);
	/* A responder announces when the initiator has, so other peers get nothing unexpected. */
	if (p->initiator && p->long_frames)
		kwarp_engine_announce(e);
	/* kwarp_tx_kick() reads the pointer without a lock. */
	WRITE_ONCE(e->sock, sock);
	ret = kwarp_sock_install(e, sock);
	if (ret) {
		WRITE_ONCE(e->sock, NULL);
		clear_bit(KWARP_E_TX_OPEN, &e->flags);
		clear_bit(KWARP_E_TX_ANNOUNCE, &e->flags);
		clear_bit(KWARP_E_ANNOUNCED, &e->flags);
		free_queues(e);
	}
	kwarp_tx_release(e);
	return ret;
}

/**
 * kwarp_engine_has_news - has anything arrived before kwarp_engine_start() set the callbacks?
 * @e: engine, directly after kwarp_engine_start()
 *
 * No callback reports such octets, FIN or error.
 *
 * Return: true: the caller has to call kwarp_engine_poll().
 */
bool kwarp_engine_has_news(const struct kwarp_engine *e)
{
	return kwarp_sock_has_news(e);
}

/**
 * kwarp_engine_poll - process what the socket has
 * @e: engine; without a stream nothing happens
 *
 * Context: process; takes the socket lock, may send. Serialised with kwarp_engine_stop().
 */
void kwarp_engine_poll(struct kwarp_engine *e)
{
	might_sleep();
	if (e->sock)
		kwarp_sock_drain(e);
}

/**
 * kwarp_engine_fin - send a FIN, if all is sent that is to come before it
 * @e: engine after kwarp_engine_drain()
 *
 * Context: process; waits for the present runner.
 * Return: true: the FIN was sent; false: there is no stream, it is not draining, or requests, Reads
 * or answers are not complete; KWARP_QPE_DRAINED will be reported.
 */
bool kwarp_engine_fin(struct kwarp_engine *e)
{
	bool idle;

	might_sleep();
	kwarp_tx_claim(e);
	idle = e->sock && kwarp_tx_drained(e);
	if (idle) {
		kwarp_engine_stop_sending(e);
		kwarp_tcp_shutdown(e->sock);
	}
	kwarp_tx_release(e);
	return idle;
}

/**
 * kwarp_engine_stop - end the stream, and flush all requests
 * @e: engine
 * @fin: send a FIN after what TCP has accepted
 *
 * When this function returns, the engine does not use the socket any more. The runner flushes what
 * is posted later.
 *
 * Context: process; waits for the present runner, and takes the socket lock.
 */
void kwarp_engine_stop(struct kwarp_engine *e, bool fin)
{
	might_sleep();
	kwarp_engine_stop_receiving(e);
	kwarp_engine_stop_sending(e);
	kwarp_tx_claim(e);
	if (e->sock) {
		kwarp_sock_remove(e);
		if (fin)
			kwarp_tcp_shutdown(e->sock);
		if (test_bit(KWARP_E_RESET, &e->flags))
			tcp_abort(e->sock->sk, ECONNABORTED);
		WRITE_ONCE(e->sock, NULL);
		kwarp_coalesce_stop(e);
		free_queues(e);
	}
	set_bit(KWARP_E_DEAD, &e->flags);
	/*
	 * Pairs with the barrier in kwarp_tx_kick(), which is called after a request was posted:
	 * either that function sees KWARP_E_DEAD and gets the new request flushed, or the flush
	 * below sees the request.
	 */
	smp_mb__after_atomic();
	kwarp_engine_flush(e);
	kwarp_tx_release(e);
}

/**
 * kwarp_engine_give_up - no stream will come
 * @e: engine without a stream
 *
 * The oldest send request gets the status RETRY_EXC_ERR when kwarp_engine_stop() flushes all, which
 * the caller lets follow.
 *
 * Context: process; waits for the present runner.
 */
void kwarp_engine_give_up(struct kwarp_engine *e)
{
	enum kwarp_take take;

	might_sleep();
	kwarp_tx_claim(e);
	take = kwarp_sq_peek(e->sq, &e->tx.wqe);
	if (take == KWARP_TAKE_OK || take == KWARP_TAKE_BAD)
		kwarp_sq_failed(e->sq, kwarp_sq_take(e->sq, &e->tx.wqe), KWARP_WC_RETRY_EXC_ERR, 0);
	kwarp_tx_release(e);
}

/**
 * kwarp_engine_reset - make a stopped engine ready for another stream
 * @e: engine after kwarp_engine_stop()
 *
 * Context: process; waits for the present runner.
 */
void kwarp_engine_reset(struct kwarp_engine *e)
{
	might_sleep();
	kwarp_tx_claim(e);
	kwarp_sq_reset(e->sq);
	if (!e->rq_shared)
		kwarp_rq_reset(e->rq);
	kwarp_mem_stream_end(&e->mem);
	/*
	 * No atomic operation is needed: the stream is dead and claimed, so no other context sets a
	 * bit. Others may read.
	 */
	WRITE_ONCE(e->flags, 0);
	e->perr = KWARP_PERR_NONE;
	e->refused.why = KWARP_WHY_NONE;
	kwarp_tx_release(e);
}

/**
 * kwarp_engine_cancel - wait for the engine's work item
 * @e: stopped engine that no other context can reach any more
 */
void kwarp_engine_cancel(struct kwarp_engine *e)
{
	might_sleep();
	cancel_delayed_work_sync(&e->tx.work);
}

/**
 * kwarp_engine_stop_receiving - drop all octets that arrive from now on
 * @e: engine
 */
void kwarp_engine_stop_receiving(struct kwarp_engine *e)
{
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

/**
 * kwarp_engine_stop_sending - send nothing more
 * @e: engine
 *
 * Requests that are not sent stay posted until kwarp_engine_stop() flushes them; in a graceful
 * close, those posted after its start are flushed earlier.
 */
void kwarp_engine_stop_sending(struct kwarp_engine *e)
{
	set_bit(KWARP_E_TX_STOP, &e->flags);
}

/**
 * kwarp_engine_drain - begin a graceful close
 * @e: engine
 *
 * KWARP_QPE_DRAINED is reported when all requests that are posted now have been sent, and the Reads
 * and atomic operations of both sides have been answered, perhaps after this function returns.
 *
 * Context: process; waits for the present runner, and may send.
 */
void kwarp_engine_drain(struct kwarp_engine *e)
{
	might_sleep();
	kwarp_tx_claim(e);
	e->tx.drain_to = kwarp_sq_posted_all(e->sq);
	set_bit(KWARP_E_TX_DRAIN, &e->flags);
	kwarp_tx_release(e);
}

/**
 * kwarp_engine_terminate - send the Terminate for the recorded error, and nothing after it
 * @e: engine; kwarp_engine_fail() has reported KWARP_QPE_PROTO
 *
 * A responder that has received nothing may send nothing (RFC 5044 7.1.2 rule 4), so then the
 * Terminate is left out. If the peer's very first FPDU is bad, the peer is in Full Operation and
 * can receive our Terminate. After our FIN no Terminate can be sent.
 *
 * Context: process; may send, and wait for the socket lock. KWARP_QPE_TERM_SENT may be reported
 * before this function returns, or never if TCP does not accept the octets: the caller needs a
 * timeout.
 * Return: false: no Terminate can be sent, and KWARP_QPE_TERM_SENT will not be reported.
 */
bool kwarp_engine_terminate(struct kwarp_engine *e)
{
	might_sleep();
	if (!test_bit(KWARP_E_TERM_READY, &e->flags) ||
	    test_bit(KWARP_E_TX_STOP, &e->flags) ||
	    (!test_bit(KWARP_E_TX_OPEN, &e->flags) &&
	     !test_bit(KWARP_E_RX_ANY, &e->flags)))
		return false;
	set_bit(KWARP_E_TX_TERM, &e->flags);
	kwarp_tx_kick(e, KWARP_TX_FROM_PROCESS);
	return true;
}

/**
 * kwarp_engine_posted_send - send the requests that were posted to the send queue
 * @e: engine
 * @user: true: a program has rung its doorbell; false: a kernel consumer has posted
 *
 * Context: process if @user, and the caller sends; otherwise any, and the caller sends if its
 * context allows; if not, the transmit work item sends.
 */
void kwarp_engine_posted_send(struct kwarp_engine *e, bool user)
{
	kwarp_tx_kick(e, user ? KWARP_TX_FROM_DOORBELL : KWARP_TX_FROM_POSTER);
}

/**
 * kwarp_engine_posted_recv - give a receive that was posted to the message that waits for one; or
 * flush it, after the end of the stream
 * @e: engine
 * @user: as for kwarp_engine_posted_send()
 *
 * Context: process if @user, else any.
 */
void kwarp_engine_posted_recv(struct kwarp_engine *e, bool user)
{
	/*
	 * After the end of the stream the runner flushes receives. The barrier pairs with the one
	 * in kwarp_engine_flush(): either the flush sees the new entry, or this function sees
	 * KWARP_E_DEAD. Likewise with that in kwarp_rx_park().
	 */
	smp_mb();
	if (kwarp_engine_dead(e))
		kwarp_tx_kick(e, user ? KWARP_TX_FROM_PROCESS : KWARP_TX_FROM_ANY);
	else if (kwarp_rx_parked(e))
		e->ops->poll(e);
}
