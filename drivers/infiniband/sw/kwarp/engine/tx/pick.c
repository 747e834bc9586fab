// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Chooses the next message to send. Context of all functions: the runner, the one context that may
 * send for the stream at a time (run.c).
 *
 * First the rest of a batch (FPDUs collected for one socket call) that TCP did not accept is sent,
 * then the rest of the message being segmented (step.c). Then this file chooses, in this order: the
 * Terminate; the RTR ("ready to receive") message; the announcement; answers to the peer's Reads
 * and atomic operations (one queue: 7306-7-5, -9) and the send queue, alternately. An operation
 * that sends nothing (Local Invalidate, register, bind) is carried out in its place in the order of
 * the send queue.
 *
 * Numbers such as 7306-7-5 name requirements of RFCs, see Documentation/conformance.
 */
#include "pick.h"

#include "../../kwarp.h"
#include "../../trace.h"
#include "../atomic.h"
#include "../fail.h"
#include "control.h"
#include "local.h"
#include "message.h"

/* ----------------------------- requests that the peer answers, and answers */

static void start_response(struct kwarp_engine *e, const struct kwarp_iread *r)
{
	e->tx.msg.src = KWARP_SRC_REGION;
	e->tx.msg.left = r->size;
	kwarp_tx_start_tagged(&e->tx, KWARP_OP_RRESP, r->sink_stag, r->sink_to);
}

/*
 * Carry out an atomic operation of the peer, and start the response. This is done only now, after
 * all earlier requests of the peer have been answered (7306-5.4-9, 7306-7-6), and so exactly once.
 * The region may have been deregistered since the request was checked.
 */
static bool start_atomic_response(struct kwarp_engine *e, const struct kwarp_iread *r)
{
	struct kwarp_atomic_resp resp = { .id = r->req.id };
	struct kwarp_mr *mr = kwarp_mr_lookup(e->kdev, r->req.stag);
	enum kwarp_perr err = kwarp_engine_atomic(e, mr, &r->req, &resp.value);

	if (mr)
		kwarp_mr_put(mr);
	if (err != KWARP_PERR_NONE) {
		kwarp_engine_fail(e, err, r->raw_ddp,
				  KWARP_DDP_UNTAGGED_LEN + KWARP_ATOMIC_REQ_LEN, NULL);
		return false;
	}
	kwarp_tx_start_untagged(&e->tx, KWARP_OP_ATOMIC_RESP, KWARP_QN_ATOMIC, 0);
	kwarp_atomic_resp_encode(e->tx.small, &resp);
	kwarp_tx_source_buf(&e->tx, e->tx.small, KWARP_ATOMIC_RESP_LEN);
	return true;
}

static bool pick_answer(struct kwarp_engine *e)
{
	const struct kwarp_iread *r;

	if (kwarp_readq_empty(&e->iread))
		return false;
	r = kwarp_iread_head(&e->iread);
	if (!r->atomic)
		start_response(e, r);
	else if (!start_atomic_response(e, r))
		return false;
	e->tx.msg.kind = KWARP_TXK_ANSWER;
	return true;
}

/* ------------------------------------------------------------ send queue */

static bool check_region(struct kwarp_engine *e, struct kwarp_mr *mr,
			 const struct kwarp_sge *s, int rights)
{
	enum kwarp_mem_err err;

	/*
	 * The peer learns the STag of a Read's sink. If that is the STag of all memory
	 * (KWARP_MR_DMA), the consumer must have allowed remote write to it.
	 */
	if (rights && mr->kind == KWARP_MR_DMA && !e->tx.wqe.rule->atomic)
		rights |= IB_ACCESS_REMOTE_WRITE;
	/* Another queue pair may be registering or binding the region now. */
	kwarp_mr_begin(mr);
	err = kwarp_mem_check(mr, s->lkey, &e->mem, s->addr, s->length, rights);
	kwarp_mr_end(mr);
	return err == KWARP_MEM_OK;
}

/*
 * Check one scatter/gather element of a request. The batch keeps the region referenced for the
 * copy, if the batch has room; if not, the region is looked up again for the copy.
 */
static bool check_sge(struct kwarp_engine *e, const struct kwarp_sge *s, int rights)
{
	struct kwarp_mr *mr = kwarp_batch_mr(&e->tx.batch, s->lkey);
	bool ok;

	if (likely(mr))
		return check_region(e, mr, s, rights);
	mr = kwarp_mr_lookup(e->kdev, s->lkey);
	if (!mr)
		return false;
	ok = check_region(e, mr, s, rights);
	kwarp_mr_put(mr);
	return ok;
}

static void start_read(struct kwarp_engine *e)
{
	const struct kwarp_wqe *wqe = &e->tx.wqe;
	struct kwarp_rreq req = {
		.sink_stag = KWARP_TX_NO_STAG,
		.size = wqe->len,
		.src_stag = wqe->e.rkey,
		.src_to = wqe->e.raddr,
	};

	if (wqe->e.num_sge) {
		req.sink_stag = wqe->sge[0].lkey;
		req.sink_to = wqe->sge[0].addr;
	}
	kwarp_tx_push_read(e, e->tx.msg.sq_index, false, wqe->rule->inv, &req);
}

/*
 * Atomic operations of the verbs have no masks. Fields of the Atomic Request that the verbs do not
 * have are set to values without effect (7306-5.2.1-1, -7).
 */
static void start_atomic(struct kwarp_engine *e)
{
	const struct kwarp_wqe *wqe = &e->tx.wqe;
	const bool swap = wqe->e.opcode == KWARP_WR_CMP_SWAP;
	const struct kwarp_oread r = {
		.sq_index = e->tx.msg.sq_index,
		.atomic = true,
		.stag = wqe->sge[0].lkey,
		.to = wqe->sge[0].addr,
	};
	const struct kwarp_atomic_req req = {
		.op = swap ? KWARP_ATOMIC_CMP_SWAP : KWARP_ATOMIC_FETCH_ADD,
		.id = e->tx.msn[KWARP_QN_RREQ],
		.stag = wqe->e.rkey,
		.to = wqe->e.raddr,
		.data = swap ? wqe->e.swap : wqe->e.compare_add,
		.mask = swap ? U64_MAX : 0,
		.compare = swap ? wqe->e.compare_add : 0,
		.compare_mask = U64_MAX,
	};

	kwarp_tx_push_request(e, KWARP_OP_ATOMIC_REQ, &r);
	kwarp_atomic_req_encode(e->tx.small, &req);
	kwarp_tx_source_buf(&e->tx, e->tx.small, KWARP_ATOMIC_REQ_LEN);
}

/* RDMAP opcode of a request's untagged message: the Immediate Data if the request has any. */
static u8 request_op(const struct kwarp_wqe *wqe)
{
	return wqe->rule->op[!!(wqe->e.flags & KWARP_WR_SOLICITED)];
}

/*
 * Immediate Data is four octets as given to the verbs, then four octets of zero (7306-6.3-5,
 * 7306-D-3).
 */
static void start_imm(struct kwarp_tx *tx)
{
	kwarp_tx_start_untagged(tx, request_op(&tx->wqe), KWARP_QN_SEND, 0);
	memset(tx->small, 0, KWARP_RDMAP_IMM_LEN);
	memcpy(tx->small, &tx->wqe.e.imm, sizeof(tx->wqe.e.imm));
	kwarp_tx_source_buf(tx, tx->small, KWARP_RDMAP_IMM_LEN);
}

static void start_data(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	const struct kwarp_sqe *w = &tx->wqe.e;
	const struct kwarp_wr_rule *rule = tx->wqe.rule;

	if (rule->remote)
		kwarp_tx_start_tagged(tx, KWARP_OP_WRITE, w->rkey, w->raddr);
	else
		kwarp_tx_start_untagged(tx, request_op(&tx->wqe), KWARP_QN_SEND,
					rule->inv ? w->inv_stag : 0);
	if (w->flags & KWARP_WR_INLINE) {
		kwarp_tx_source_buf(tx, tx->wqe.data, tx->wqe.len);
		return;
	}
	tx->msg.src = KWARP_SRC_SGL;
	tx->msg.left = tx->wqe.len;
	tx->msg.sge = 0;
	tx->msg.sge_off = 0;
}

/*
 * Is the request a Read or atomic operation, and the negotiated ORD 0? Then it can never be sent.
 */
static bool never_sendable(const struct kwarp_engine *e)
{
	return e->tx.wqe.rule->awaits && !e->oread.depth;
}

/*
 * Must the request wait for answers to earlier ones, because of a fence, or because as many as
 * agreed (ORD) are outstanding (5040-6.1-9, 7306-5.2-3)? A request that can never be sent does not
 * wait: check_wqe() refuses it.
 */
static bool sq_must_wait(struct kwarp_engine *e)
{
	const bool fence = e->tx.wqe.e.flags & KWARP_WR_FENCE;
	const bool awaits = e->tx.wqe.rule->awaits;
	bool wait;

	if (!(fence || awaits) || never_sendable(e)) {
		/* A program may have overwritten a request that waited. */
		if (test_bit(KWARP_E_TX_WAIT_READ, &e->flags))
			clear_bit(KWARP_E_TX_WAIT_READ, &e->flags);
		return false;
	}
	set_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	/*
	 * Set the flag, then look at the queue. The receive path removes an answered request, then
	 * looks at the flag. So at least one of the two sees the other.
	 */
	smp_mb__after_atomic();
	wait = (fence && !kwarp_readq_empty(&e->oread)) ||
	       (awaits && kwarp_readq_full(&e->oread));
	if (!wait)
		clear_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	return wait;
}

/* Fail the request, and the stream with it (5040-7.1-2). */
static bool sq_error(struct kwarp_engine *e, enum kwarp_wc_status status)
{
	kwarp_sq_failed(e->sq, kwarp_sq_take(e->sq, &e->tx.wqe), status,
			kwarp_perr_short(KWARP_PERR_LOCAL));
	kwarp_engine_fail(e, KWARP_PERR_LOCAL, NULL, 0, NULL);
	return false;
}

/*
 * Return: access rights that the elements of a request need. An Atomic Response does not name its
 * sink, the buffer of the request, so this buffer never needs remote write.
 */
static int local_rights(const struct kwarp_engine *e)
{
	const struct kwarp_wr_rule *rule = e->tx.wqe.rule;

	if (rule->atomic)
		return IB_ACCESS_LOCAL_WRITE;
	return rule->awaits ? e->sink_rights : 0;
}

static enum kwarp_wc_status check_wqe(struct kwarp_engine *e)
{
	const struct kwarp_wqe *wqe = &e->tx.wqe;
	int rights = local_rights(e);
	u32 i;

	if (never_sendable(e))
		return KWARP_WC_LOC_QP_OP_ERR;
	/* Inline requests have a num_sge of 0. */
	for (i = 0; i < wqe->e.num_sge; i++)
		if (wqe->sge[i].length && !check_sge(e, &wqe->sge[i], rights))
			return KWARP_WC_LOC_PROT_ERR;
	return KWARP_WC_SUCCESS;
}

static bool may_take(const struct kwarp_engine *e)
{
	const struct kwarp_tx *tx = &e->tx;

	if (!test_bit(KWARP_E_TX_DRAIN, &e->flags))
		return true;
	/*
	 * Requests posted after the start of a graceful close are flushed (5041-6.2.1-3).
	 * tx.drain_to, the index up to which a graceful close sends, may be wrong, because the
	 * program may have overwritten the producer index: compare tx.drain_to modulo 2^32.
	 */
	return (s32)(tx->drain_to - e->sq->next) > 0;
}

/*
 * Look at the next request. libsiw, the user library of the siw driver, may post more requests than
 * fit into the send queue. Then kwarp_sq_peek() reports no request until an earlier one completes.
 */
static enum kwarp_take peek_request(struct kwarp_engine *e)
{
	enum kwarp_take take = kwarp_sq_peek(e->sq, &e->tx.wqe);

	if (!e->sq->siw)
		return take;
	if (take == KWARP_TAKE_NONE && kwarp_sq_has_unmoved(e->sq)) {
		set_bit(KWARP_E_TX_WAIT_READ, &e->flags);
		/* Pairs with kwarp_rx_answered(), as in sq_must_wait(). */
		smp_mb__after_atomic();
		take = kwarp_sq_peek(e->sq, &e->tx.wqe);
	}
	if (take != KWARP_TAKE_NONE)
		clear_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	return take;
}

/* Read the next request. Return: true if there is one, and it may be sent now. */
static bool next_request(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	switch (peek_request(e)) {
	case KWARP_TAKE_NONE:
		return false;
	case KWARP_TAKE_BAD:
		return sq_error(e, KWARP_WC_LOC_QP_OP_ERR);
	case KWARP_TAKE_CORRUPT:
		kwarp_engine_fail(e, KWARP_PERR_LOCAL, NULL, 0, NULL);
		return false;
	case KWARP_TAKE_OK:
		tx->effort += 1 + tx->wqe.e.num_sge;
		break;
	}
	/*
	 * After the peer's FIN no response can come. Do not send this request or a later one: the
	 * graceful close flushes them.
	 */
	if (tx->wqe.rule->awaits && test_bit(KWARP_E_FIN_SEEN, &e->flags)) {
		tx->drain_to = e->sq->next;
		clear_bit(KWARP_E_TX_WAIT_READ, &e->flags);
		return false;
	}
	return !sq_must_wait(e);
}

static bool start_message(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	enum kwarp_wc_status status = check_wqe(e);

	if (status != KWARP_WC_SUCCESS)
		return sq_error(e, status);
	tx->msg.kind = KWARP_TXK_SQ;
	tx->msg.sq_index = kwarp_sq_take(e->sq, &tx->wqe);
	if (tx->wqe.rule->atomic)
		start_atomic(e);
	else if (tx->wqe.rule->awaits)
		start_read(e);
	else
		start_data(e);
	return true;
}

/* Take the next request from the send queue. Return: false if none can be sent now. */
static bool pick_sq(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	enum kwarp_wc_status status;

	while (tx->effort < KWARP_BATCH_EFFORT && may_take(e) && next_request(e)) {
		if (!tx->wqe.rule->local)
			return start_message(e);
		status = kwarp_tx_local(e);
		if (status != KWARP_WC_SUCCESS)
			return sq_error(e, status);
		tx->sq_end = kwarp_sq_take(e->sq, &tx->wqe) + 1;
	}
	return false;
}

/* Choose the next message. Return: false if nothing can be sent now. */
bool kwarp_tx_pick(struct kwarp_engine *e)
{
	kwarp_assert_runner(e);
	if (test_bit(KWARP_E_TX_TERM, &e->flags))
		return kwarp_tx_pick_term(e);
	if (test_bit(KWARP_E_FAILED, &e->flags) || !test_bit(KWARP_E_TX_OPEN, &e->flags))
		return false;
	if (e->tx.rtr)
		return kwarp_tx_pick_rtr(e);
	if (unlikely(test_bit(KWARP_E_TX_ANNOUNCE, &e->flags)))
		return kwarp_tx_pick_announcement(e);
	/*
	 * Answers and our own requests alternate message by message. Segments of two messages are
	 * never mixed: messages have to be sent in the order in which they were submitted
	 * (5041-5.3-2), and the end of a tagged message is marked only by the last flag (RFC 5041
	 * section 5.2).
	 */
	e->tx.turn = !e->tx.turn;
	if (e->tx.turn)
		return pick_answer(e) || (!test_bit(KWARP_E_FAILED, &e->flags) && pick_sq(e));
	return pick_sq(e) || (!test_bit(KWARP_E_FAILED, &e->flags) && pick_answer(e));
}

/*
 * The last segment of a message was put into the batch. Start the Immediate Data that follows a
 * Write; else end the message, so that kwarp_tx_pick() chooses the next one.
 */
void kwarp_tx_message_built(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	kwarp_assert_runner(e);
	e->stats.s.tx.op[tx->msg.hdr.opcode % KWARP_STATS_OPS]++;
	trace_kwarp_tx_message(e->ibqp, tx->msg.hdr.opcode,
			       tx->msg.kind == KWARP_TXK_SQ, tx->msg.sq_index);
	/* No other message may come between a Write and its Immediate Data (7306-D-2). */
	if (tx->msg.kind == KWARP_TXK_SQ && tx->wqe.rule->imm && tx->msg.hdr.tagged) {
		start_imm(tx);
		return;
	}
	if (tx->msg.kind == KWARP_TXK_SQ)
		tx->sq_end = tx->msg.sq_index + 1;
	else if (tx->msg.kind == KWARP_TXK_ANSWER)
		kwarp_readq_pop(&e->iread);
	tx->msg.kind = KWARP_TXK_NONE;
}

/*
 * Graceful close: has TCP accepted all requests that were posted before the close, and have both
 * sides' Reads and atomic operations been answered?
 */
bool kwarp_tx_drained(const struct kwarp_engine *e)
{
	kwarp_assert_runner(e);
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && !e->tx.msg.kind &&
	       !kwarp_batch_pending(&e->tx.batch) && !may_take(e) &&
	       kwarp_readq_empty(&e->iread) && kwarp_readq_empty(&e->oread);
}

/*
 * Flush requests that were posted after the start of a graceful close. The flush cannot wait for
 * the end of the stream, because the peer may close its half much later. Return: true if there are
 * more requests to flush.
 */
bool kwarp_tx_flush_late(struct kwarp_engine *e)
{
	kwarp_assert_runner(e);
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && !may_take(e) &&
	       kwarp_sq_flush_late(e->sq, kwarp_engine_short(e));
}
