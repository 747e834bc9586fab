// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The transmit step: what goes next, in batches.  Context: the runner.
 *
 * Order of choice: rest of the batch that TCP did not take, the Terminate, the rest
 * of the message in work, the RTR, then Read Responses and the send queue in turn.
 * An operation that touches no wire (Local Invalidate, register, bind) takes its place
 * in the order of the send queue.
 */
#include "engine.h"
#include "sock.h"
#include "tx.h"

#include "../kwarp.h"
#include "../proto/mpa_frame.h"
#include "../proto/mpa_neg.h"

/* STag of messages that carry none: some hardware treats 0 specially. */
#define RTR_STAG	1

static void start_untagged(struct kwarp_tx *tx, u8 op, enum kwarp_qn qn, u32 inv_stag)
{
	tx->msg.hdr = (struct kwarp_ddp_hdr) {
		.opcode = op,
		.stag = inv_stag,
		.qn = qn,
		.msn = tx->msn[qn]++,
	};
}

static void start_tagged(struct kwarp_tx *tx, u8 op, u32 stag, u64 to)
{
	tx->msg.hdr = (struct kwarp_ddp_hdr) {
		.tagged = true,
		.opcode = op,
		.stag = stag,
		.to = to,
	};
}

static void source_buf(struct kwarp_tx *tx, const u8 *buf, u32 len)
{
	tx->msg.src = KWARP_SRC_BUF;
	tx->msg.buf = buf;
	tx->msg.left = len;
}

/* ------------------------------------------------------------- Terminate */

static bool pick_term(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	if (tx->term_done)
		return false;
	/* Pairs with kwarp_engine_fail(). */
	smp_rmb();
	tx->term_done = true;
	tx->msg.kind = KWARP_TXK_TERM;
	start_untagged(tx, KWARP_OP_TERM, KWARP_QN_TERM, 0);
	source_buf(tx, tx->small, kwarp_term_encode(tx->small, &e->term));
	return true;
}

/* ------------------------------------------------------- Read of any kind */

static void push_read(struct kwarp_engine *e, u32 sq_index, bool rtr, bool inv,
		      const struct kwarp_rreq *req)
{
	*kwarp_oread_tail(&e->oread) = (struct kwarp_oread) {
		.sq_index = sq_index,
		.rtr = rtr,
		.invalidate = inv,
		.stag = req->sink_stag,
		.to = req->sink_to,
		.left = req->size,
	};
	kwarp_readq_push(&e->oread);
	start_untagged(&e->tx, KWARP_OP_RREQ, KWARP_QN_RREQ, 0);
	kwarp_rreq_encode(e->tx.small, req);
	source_buf(&e->tx, e->tx.small, KWARP_RDMAP_RREQ_LEN);
}

/* The initiator's "ready to receive", before anything else (6581-5-2). */
static bool pick_rtr(struct kwarp_engine *e)
{
	const struct kwarp_rreq none = { .sink_stag = RTR_STAG, .src_stag = RTR_STAG };
	struct kwarp_tx *tx = &e->tx;

	tx->msg.kind = KWARP_TXK_RTR;
	switch (tx->rtr) {
	case KWARP_RTR_SEND:
		start_untagged(tx, KWARP_OP_SEND, KWARP_QN_SEND, 0);
		source_buf(tx, tx->small, 0);
		break;
	case KWARP_RTR_READ:
		push_read(e, 0, true, false, &none);
		break;
	default:
		start_tagged(tx, KWARP_OP_WRITE, RTR_STAG, 0);
		source_buf(tx, tx->small, 0);
		break;
	}
	tx->rtr = 0;
	return true;
}

static bool pick_response(struct kwarp_engine *e)
{
	const struct kwarp_iread *r;

	if (kwarp_readq_empty(&e->iread))
		return false;
	r = kwarp_iread_head(&e->iread);
	e->tx.msg.kind = KWARP_TXK_RRESP;
	e->tx.msg.src = KWARP_SRC_REGION;
	e->tx.msg.left = r->size;
	start_tagged(&e->tx, KWARP_OP_RRESP, r->sink_stag, r->sink_to);
	return true;
}

/* ------------------------------------------------------------ send queue */

static bool check_sge(struct kwarp_engine *e, const struct kwarp_sge *s, int rights)
{
	struct kwarp_mr *mr = kwarp_mr_lookup(e->kdev, s->lkey);
	enum kwarp_mem_err err;

	if (!mr)
		return false;
	/* A registration or bind of another queue pair may be changing it. */
	kwarp_mr_begin(mr);
	err = kwarp_mem_check(mr, s->lkey, &e->mem, s->addr, s->length, rights);
	kwarp_mr_end(mr);
	kwarp_mr_put(mr);
	return err == KWARP_MEM_OK;
}

static enum kwarp_wc_status check_sgl(struct kwarp_engine *e)
{
	struct kwarp_wqe *wqe = &e->tx.wqe;
	u32 i;

	/* Inline: num_sge is 0. */
	for (i = 0; i < wqe->e.num_sge; i++)
		if (wqe->sge[i].length && !check_sge(e, &wqe->sge[i], 0))
			return KWARP_WC_LOC_PROT_ERR;
	return KWARP_WC_SUCCESS;
}

/* A Read's sink is written by the peer: it needs the rights hardware asks for. */
static enum kwarp_wc_status check_sink(struct kwarp_engine *e)
{
	if (e->tx.wqe.len && !check_sge(e, &e->tx.wqe.sge[0], KWARP_SINK_RIGHTS))
		return KWARP_WC_LOC_PROT_ERR;
	return KWARP_WC_SUCCESS;
}

static bool is_local(const struct kwarp_sqe *w)
{
	return w->opcode == KWARP_WR_LOCAL_INV || w->opcode == KWARP_WR_REG_MR ||
	       w->opcode == KWARP_WR_BIND_MW;
}

static enum kwarp_wc_status bind_window(struct kwarp_engine *e)
{
	const struct kwarp_sqe *w = &e->tx.wqe.e;
	const struct kwarp_window_range range = {
		.addr = w->raddr,
		.length = w->length,
		.access = w->access,
	};
	struct kwarp_mr *mw = kwarp_mr_lookup(e->kdev, w->rkey);
	struct kwarp_mr *mr = kwarp_mr_lookup(e->kdev, w->inv_stag);
	bool ok = mw && mr &&
		  kwarp_window_bind(mw, w->rkey, mr, w->inv_stag, &e->mem, &range);

	if (mw)
		kwarp_mr_put(mw);
	if (mr)
		kwarp_mr_put(mr);
	return ok ? KWARP_WC_SUCCESS : KWARP_WC_MW_BIND_ERR;
}

static enum kwarp_wc_status local_op(struct kwarp_engine *e)
{
	const struct kwarp_sqe *w = &e->tx.wqe.e;
	u32 stag = w->opcode == KWARP_WR_REG_MR ? w->rkey : w->inv_stag;
	struct kwarp_mr *mr;
	bool ok;

	if (w->opcode == KWARP_WR_BIND_MW)
		return bind_window(e);
	mr = kwarp_mr_lookup(e->kdev, stag);
	if (!mr)
		return KWARP_WC_LOC_PROT_ERR;
	if (w->opcode == KWARP_WR_REG_MR)
		ok = !kwarp_mr_activate(mr, stag, w->raddr, &e->mem);
	else
		ok = kwarp_mr_revoke(mr, stag, &e->mem, false);
	kwarp_mr_put(mr);
	return ok ? KWARP_WC_SUCCESS : KWARP_WC_LOC_PROT_ERR;
}

static void start_read(struct kwarp_engine *e)
{
	const struct kwarp_wqe *wqe = &e->tx.wqe;
	struct kwarp_rreq req = {
		.sink_stag = RTR_STAG,
		.size = wqe->len,
		.src_stag = wqe->e.rkey,
		.src_to = wqe->e.raddr,
	};

	if (wqe->e.num_sge) {
		req.sink_stag = wqe->sge[0].lkey;
		req.sink_to = wqe->sge[0].addr;
	}
	push_read(e, e->tx.msg.sq_index, false, wqe->e.opcode == KWARP_WR_READ_INV, &req);
}

static u8 send_opcode(const struct kwarp_sqe *w)
{
	bool se = w->flags & KWARP_WR_SOLICITED;

	if (w->opcode == KWARP_WR_SEND_INV)
		return se ? KWARP_OP_SEND_SE_INV : KWARP_OP_SEND_INV;
	return se ? KWARP_OP_SEND_SE : KWARP_OP_SEND;
}

static void start_data(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	const struct kwarp_sqe *w = &tx->wqe.e;

	if (w->opcode == KWARP_WR_WRITE)
		start_tagged(tx, KWARP_OP_WRITE, w->rkey, w->raddr);
	else
		start_untagged(tx, send_opcode(w), KWARP_QN_SEND,
			       w->opcode == KWARP_WR_SEND_INV ? w->inv_stag : 0);
	if (w->flags & KWARP_WR_INLINE) {
		source_buf(tx, tx->wqe.inl, tx->wqe.len);
		return;
	}
	tx->msg.src = KWARP_SRC_SGL;
	tx->msg.left = tx->wqe.len;
	tx->msg.sge = 0;
	tx->msg.sge_off = 0;
}

/* Must this request wait for Reads before it?  ORD (5040-6.1-9), fence. */
static bool held_back(struct kwarp_engine *e)
{
	const struct kwarp_wqe *wqe = &e->tx.wqe;
	bool hold;

	set_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	/* Set first, then look: the receive path looks after it has removed a Read. */
	smp_mb__after_atomic();
	hold = (wqe->e.flags & KWARP_WR_FENCE && !kwarp_readq_empty(&e->oread)) ||
	       (kwarp_wqe_is_read(wqe) && kwarp_readq_full(&e->oread));
	if (!hold)
		clear_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	return hold;
}

/* With a depth of 0 no Read can ever be sent. */
static bool hopeless(const struct kwarp_engine *e)
{
	return kwarp_wqe_is_read(&e->tx.wqe) && !e->oread.depth;
}

/* One that is hopeless waits for nothing: check_wqe() refuses it. */
static bool needs_wait_check(const struct kwarp_engine *e)
{
	const struct kwarp_wqe *wqe = &e->tx.wqe;

	return (wqe->e.flags & KWARP_WR_FENCE || kwarp_wqe_is_read(wqe)) && !hopeless(e);
}

/* A request that cannot be carried out ends the stream (5040-7.1-2). */
static bool sq_error(struct kwarp_engine *e, enum kwarp_wc_status status)
{
	kwarp_sq_failed(e->sq, kwarp_sq_take(e->sq, &e->tx.wqe), status,
			kwarp_perr_short(KWARP_PERR_LOCAL));
	kwarp_engine_fail(e, KWARP_PERR_LOCAL, NULL, 0, NULL);
	return false;
}

static enum kwarp_wc_status check_wqe(struct kwarp_engine *e)
{
	if (hopeless(e))
		return KWARP_WC_LOC_QP_OP_ERR;
	return kwarp_wqe_is_read(&e->tx.wqe) ? check_sink(e) : check_sgl(e);
}

static bool may_take(const struct kwarp_engine *e)
{
	const struct kwarp_tx *tx = &e->tx;

	if (!test_bit(KWARP_E_TX_DRAIN, &e->flags))
		return true;
	/* Pairs with start_drain(). */
	smp_rmb();
	/*
	 * After a graceful close was asked for, later posts are flushed (5041-6.2.1-3).
	 * drain_to may be a producer index that the program has destroyed.
	 */
	return (s32)(READ_ONCE(tx->drain_to) - e->sq->next) > 0;
}

/*
 * Requests that were posted after a graceful close was asked for are flushed in their turn,
 * while the peer may take its time with its own half.  True if there are more.
 */
static bool flush_late(struct kwarp_engine *e)
{
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && !may_take(e) &&
	       kwarp_sq_flush_late(e->sq, kwarp_engine_short(e));
}

/* A look at the next request: true if there is one, and it may go now. */
static bool next_request(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	switch (kwarp_sq_peek(e->sq, &tx->wqe)) {
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
	/* No response can come any more: this one and all after it are flushed. */
	if (kwarp_wqe_is_read(&tx->wqe) && test_bit(KWARP_E_FIN_SEEN, &e->flags)) {
		WRITE_ONCE(tx->drain_to, e->sq->next);
		return false;
	}
	return !needs_wait_check(e) || !held_back(e);
}

static bool start_message(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	enum kwarp_wc_status status = check_wqe(e);

	if (status != KWARP_WC_SUCCESS)
		return sq_error(e, status);
	tx->msg.kind = KWARP_TXK_SQ;
	tx->msg.sq_index = kwarp_sq_take(e->sq, &tx->wqe);
	if (kwarp_wqe_is_read(&tx->wqe))
		start_read(e);
	else
		start_data(e);
	return true;
}

/* Take the next request of the send queue; false if there is none to send now. */
static bool pick_sq(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	enum kwarp_wc_status status;

	while (tx->effort < KWARP_BATCH_EFFORT && may_take(e) && next_request(e)) {
		if (!is_local(&tx->wqe.e))
			return start_message(e);
		status = local_op(e);
		if (status != KWARP_WC_SUCCESS)
			return sq_error(e, status);
		tx->sq_end = kwarp_sq_take(e->sq, &tx->wqe) + 1;
	}
	return false;
}

/* Choose the next message; false if nothing can be sent now. */
bool kwarp_tx_pick(struct kwarp_engine *e)
{
	if (test_bit(KWARP_E_TX_TERM, &e->flags))
		return pick_term(e);
	if (test_bit(KWARP_E_FAILED, &e->flags) || !test_bit(KWARP_E_TX_OPEN, &e->flags))
		return false;
	if (e->tx.rtr)
		return pick_rtr(e);
	/*
	 * Read Responses and own requests take turns, message by message.  No finer: messages
	 * go out in the order in which they were submitted (5041-5.3-2), and where a tagged one
	 * ends, only the last flag says (RFC 5041 section 5.2).
	 */
	e->tx.turn = !e->tx.turn;
	if (e->tx.turn)
		return pick_response(e) || pick_sq(e);
	return pick_sq(e) || pick_response(e);
}

/* A message has all its segments in the batch. */
void kwarp_tx_message_built(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	if (tx->msg.kind == KWARP_TXK_SQ)
		tx->sq_end = tx->msg.sq_index + 1;
	else if (tx->msg.kind == KWARP_TXK_RRESP)
		kwarp_readq_pop(&e->iread);
	tx->msg.kind = KWARP_TXK_NONE;
}

/* ---------------------------------------------------------------- the step */

/* Graceful close: is all that was posted with TCP, and all that was asked for here? */
bool kwarp_tx_drained(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && !e->tx.msg.kind &&
	       !kwarp_batch_pending(&e->tx.batch) && !may_take(e) &&
	       kwarp_readq_empty(&e->iread) && kwarp_readq_empty(&e->oread);
}

/* Nothing more to send: has somebody waited for that? */
static void report_idle(struct kwarp_engine *e)
{
	if (e->tx.term_done) {
		e->ops->event(e, KWARP_QPE_TERM_SENT);
		return;
	}
	if (kwarp_tx_drained(e))
		e->ops->event(e, KWARP_QPE_DRAINED);
}

/* Has one been lost, and that is not known yet? */
static bool lost_completion(const struct kwarp_engine *e)
{
	return READ_ONCE(e->sq->cq->overflow) && !test_bit(KWARP_E_FAILED, &e->flags);
}

/* For certain, and nobody waits to hear of it: no need to look for something to send. */
static bool nothing_left(const struct kwarp_engine *e)
{
	const unsigned long busy = BIT(KWARP_E_DEAD) | BIT(KWARP_E_FAILED) |
				   BIT(KWARP_E_TX_TERM) | BIT(KWARP_E_TX_DRAIN);

	return !e->tx.msg.kind && !e->tx.rtr && !(READ_ONCE(e->flags) & busy) &&
	       kwarp_sq_empty(e->sq) && kwarp_readq_empty(&e->iread) && !lost_completion(e);
}

static enum kwarp_tx_result push_batch(struct kwarp_engine *e)
{
	int ret = kwarp_batch_send(&e->tx.batch, e->sock, e->tx.in_socket);

	if (ret == -EAGAIN)
		return KWARP_TX_BLOCKED;
	if (ret == -ENOBUFS)
		return KWARP_TX_NO_MEMORY;
	if (ret) {
		kwarp_batch_reset(&e->tx.batch);
		set_bit(KWARP_E_TX_STOP, &e->flags);
		e->ops->event(e, KWARP_QPE_LOST);
		return KWARP_TX_IDLE;
	}
	kwarp_sq_sent(e->sq, e->tx.sq_end);
	if (!nothing_left(e))
		return KWARP_TX_MORE;
	kwarp_batch_idle(&e->tx.batch);
	return KWARP_TX_IDLE;
}

static bool batch_full(const struct kwarp_tx *tx)
{
	if (tx->batch.len < KWARP_BATCH_LEN)
		return false;
	return !tx->msg.kind || tx->msg.left > KWARP_BATCH_REST;
}

static void fill_batch(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	/* After a shortage, wait for what is sure to be enough. */
	u32 want = tx->no_memory ? KWARP_BATCH_FRAG_SURE : 1;

	tx->no_memory = false;
	while (!batch_full(tx)) {
		if (!tx->msg.kind && !kwarp_tx_pick(e))
			return;
		if (!tx->batch.len)
			kwarp_batch_prefill(&tx->batch, want, !tx->in_socket);
		tx->answered |= tx->msg.kind == KWARP_TXK_RRESP;
		if (!kwarp_tx_build(e))
			return;
	}
}

static void set_segment(struct kwarp_tx *tx, u32 emss)
{
	tx->mulpdu = kwarp_mpa_mulpdu(emss, tx->markers);
	tx->batch.cut = tx->align ? emss : 0;
}

/**
 * kwarp_tx_step - send one batch
 * @e: engine
 *
 * Context: the runner.  Takes the socket lock, unless tx.in_socket.
 * Return: what to do next.
 */
enum kwarp_tx_result kwarp_tx_step(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	tx->effort = 0;
	tx->answered = false;
	if (test_bit(KWARP_E_DEAD, &e->flags))
		kwarp_engine_flush(e);	/* no socket any more, so process context */
	if (test_bit(KWARP_E_TX_STOP, &e->flags) || !e->sock)
		return flush_late(e) ? KWARP_TX_MORE : KWARP_TX_IDLE;
	if (kwarp_batch_pending(&tx->batch))
		return push_batch(e);
	if (!kwarp_sock_writable(e->sock))
		return KWARP_TX_BLOCKED;
	/* The consumer has to be told by other means. */
	if (lost_completion(e))
		kwarp_engine_fail(e, KWARP_PERR_LOCAL, NULL, 0, NULL);
	/* After an error nothing follows but the Terminate (5040-5.4-11). */
	if (test_bit(KWARP_E_FAILED, &e->flags) && tx->msg.kind != KWARP_TXK_TERM)
		tx->msg.kind = KWARP_TXK_NONE;
	set_segment(tx, kwarp_sock_emss(e->sock));
	/* After a shortage: FPDUs for which the memory that we wait for is enough. */
	if (tx->no_memory)
		tx->mulpdu = min_t(u32, tx->mulpdu, KWARP_BATCH_FRAG_SURE / 2);
	fill_batch(e);
	if (kwarp_batch_pending(&tx->batch))
		return push_batch(e);
	kwarp_batch_reset(&tx->batch);
	if (tx->no_memory)
		return KWARP_TX_NO_MEMORY;
	/* Local operations complete without a batch. */
	kwarp_sq_sent(e->sq, tx->sq_end);
	if (tx->effort >= KWARP_BATCH_EFFORT || lost_completion(e) || flush_late(e))
		return KWARP_TX_MORE;
	kwarp_batch_idle(&tx->batch);
	report_idle(e);
	return KWARP_TX_IDLE;
}
