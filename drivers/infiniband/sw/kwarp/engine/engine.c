// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of an engine: start on a socket, latch an error, stop, flush.
 */
#include "engine.h"

#include "../kwarp.h"
#include "sock.h"

/* Once per queue pair. */
void kwarp_engine_init(struct kwarp_engine *e)
{
	kwarp_tx_init(e);
	kwarp_mem_stream_init(&e->mem);
}

static void start_tx(struct kwarp_engine *e, const struct kwarp_engine_params *p)
{
	struct kwarp_tx *tx = &e->tx;
	int i;

	tx->crc = p->crc;
	tx->markers = p->tx_markers;
	tx->align = p->align;
	tx->rtr = p->initiator ? p->rtr : 0;
	tx->off = 0;
	tx->term_done = false;
	tx->no_memory = false;
	tx->msg.kind = KWARP_TXK_NONE;
	/* 5041-4.3-13: the first MSN is one. */
	for (i = 0; i < KWARP_QN_COUNT; i++)
		tx->msn[i] = 1;
	tx->sq_end = e->sq->next;
	kwarp_hold_reset(e);
}

static void take_queues(struct kwarp_engine *e, const struct kwarp_engine_params *p)
{
	e->oread = p->readqs->out;
	e->iread = p->readqs->in;
	memset(p->readqs, 0, sizeof(*p->readqs));
	kwarp_batch_init(&e->tx.batch, e->kdev);
}

static void free_queues(struct kwarp_engine *e)
{
	kwarp_batch_fini(&e->tx.batch);
	kwarp_readq_fini(&e->iread);
	kwarp_readq_fini(&e->oread);
}

/**
 * kwarp_engine_start - enter Full Operation on @sock
 * @e: engine, not started
 * @sock: connected socket behind the MPA startup
 * @p: what was agreed on
 *
 * Context: process.
 * Return: 0, -ENOTCONN.
 */
int kwarp_engine_start(struct kwarp_engine *e, struct socket *sock,
		       const struct kwarp_engine_params *p)
{
	int ret;

	kwarp_tx_claim(e);
	take_queues(e, p);
	start_tx(e, p);
	kwarp_rx_init(e, p->crc, p->rx_markers);
	if (p->initiator)
		set_bit(KWARP_E_TX_OPEN, &e->flags);
	/* kwarp_tx_kick() looks at it without a lock. */
	WRITE_ONCE(e->sock, sock);
	ret = kwarp_sock_install(e, sock);
	if (ret) {
		WRITE_ONCE(e->sock, NULL);
		kwarp_hold_stop(e);
		clear_bit(KWARP_E_TX_OPEN, &e->flags);
		free_queues(e);
	}
	kwarp_tx_release(e);
	return ret;
}

/* Look at the socket from process context: octets, FIN, errors. */
void kwarp_engine_poll(struct kwarp_engine *e)
{
	if (e->sock)
		kwarp_sock_drain(e);
}

/**
 * kwarp_engine_fin - half-close after a graceful drain; receiving goes on
 * @e: engine
 *
 * Context: process; waits for the present runner.
 * Return: false if something to send has turned up meanwhile.
 */
bool kwarp_engine_fin(struct kwarp_engine *e)
{
	bool idle;

	kwarp_tx_claim(e);
	idle = e->sock && kwarp_tx_drained(e);
	if (idle) {
		set_bit(KWARP_E_TX_STOP, &e->flags);
		kwarp_sock_shutdown(e->sock);
	}
	kwarp_tx_release(e);
	return idle;
}

/**
 * kwarp_engine_stop - the stream is over
 * @e: engine, started or not
 * @fin: shut down our half
 *
 * When it returns, the socket is the caller's again and every request is flushed;
 * what is posted later is flushed by the runner.
 *
 * Context: process; waits for the present runner.
 */
void kwarp_engine_stop(struct kwarp_engine *e, bool fin)
{
	set_bit(KWARP_E_RX_STOP, &e->flags);
	set_bit(KWARP_E_TX_STOP, &e->flags);
	kwarp_tx_claim(e);
	if (e->sock) {
		kwarp_sock_remove(e);
		if (fin)
			kwarp_sock_shutdown(e->sock);
		WRITE_ONCE(e->sock, NULL);
		kwarp_hold_stop(e);
		free_queues(e);
	}
	set_bit(KWARP_E_DEAD, &e->flags);
	/* Pairs with kwarp_tx_kick(): either it sees the flag, or we what was posted. */
	smp_mb__after_atomic();
	kwarp_engine_flush(e);
	kwarp_tx_release(e);
}

/* Ready for another stream, after modify to RESET.  Stopped; the caller is the runner. */
void kwarp_engine_revive(struct kwarp_engine *e)
{
	kwarp_mem_stream_end(&e->mem);
	e->flags = 0;
	e->perr = KWARP_PERR_NONE;
}

/**
 * kwarp_engine_flush - complete everything that is posted
 * @e: engine
 *
 * Context: the runner, engine dead.
 */
void kwarp_engine_flush(struct kwarp_engine *e)
{
	u16 vendor_err = kwarp_engine_short(e);

	kwarp_sq_flush(e->sq, vendor_err);
	kwarp_rx_flush(e);
	if (!e->rq_shared) {
		/* Receives posted from now on need a kick to be flushed. */
		kwarp_ring_set_flags(&e->rq->ring,
				     KWARP_RING_NEED_KICK | KWARP_RING_ERROR);
		/* Pairs with the poster's barrier between storing prod and reading flags. */
		smp_mb();
		kwarp_rq_flush(e->rq, e->recv_cq, e->ibqp, vendor_err);
	}
}

/* True for the first error, which is the one reported (5040-7.1-7). */
static bool latch(struct kwarp_engine *e, enum kwarp_perr perr)
{
	/* First: whoever sees an error of another context has stopped, too. */
	set_bit(KWARP_E_RX_STOP, &e->flags);
	if (test_and_set_bit(KWARP_E_FAILED, &e->flags))
		return false;
	WRITE_ONCE(e->perr, perr);	/* read by a flush */
	return true;
}

/* The stream is over without a word to the peer. */
void kwarp_engine_lost(struct kwarp_engine *e)
{
	if (latch(e, KWARP_PERR_MPA_LOST))
		e->ops->event(e, KWARP_QPE_LOST);
}

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	if (!latch(e, perr))
		return;
	ibdev_dbg(&e->kdev->ibdev, "QP %u: %s\n", e->ibqp->qp_num, kwarp_perr_name(perr));
	if (!kwarp_term_wanted(perr)) {
		e->ops->event(e, KWARP_QPE_LOST);
		return;
	}
	kwarp_term_fill(&e->term, perr, raw, seg_len, rreq);
	/* Pairs with pick_term(): term is read after KWARP_E_TX_TERM, set behind this. */
	smp_wmb();
	set_bit(KWARP_E_TERM_READY, &e->flags);
	e->ops->event(e, KWARP_QPE_PROTO);
}
