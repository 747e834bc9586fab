// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Chooses the next message to send. Context of all functions: the runner.
 *
 * First the rest of a batch that TCP did not accept is sent,
 * then the rest of the message being segmented (step.c). Then this file chooses, in this order: the
 * Terminate; the RTR message; the announcement; answers to the peer's Reads
 * and atomic operations (one queue: 7306-7-5, -9) and the send queue, alternately. An operation
 * that sends nothing (Local Invalidate, register, bind) is carried out in its place in the order of
 * the send queue.
 *
 * Numbers such as 7306-7-5 name requirements of RFCs, see Documentation/conformance.
 */
#include "tx.h"

#include "../../door.h"
#include "../../kwarp.h"
#include "../../proto/announce.h"
#include "../../proto/mpa_neg.h"
#include "../../trace.h"
#include "../fail.h"

/* ------------------------------------- header and payload of a message */

/*
 * STag for RTR ("ready to receive") messages and zero-length Reads, which access no memory. The
 * STag is not 0, because some hardware treats 0 specially.
 */
#define NO_STAG		1

static_assert(sizeof_field(struct kwarp_tx, small) >= KWARP_ATOMIC_REQ_LEN);

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

/*
 * Start the message of a request that the peer is to answer, and record the request: @r describes
 * the expected answer. Reads and atomic operations share one queue and one MSN count (7306-5.2-1).
 */
static void start_awaited(struct kwarp_engine *e, u8 op, const struct kwarp_oread *r)
{
	*kwarp_oread_tail(&e->oread) = *r;
	kwarp_oread_tail(&e->oread)->msn = e->tx.msn[KWARP_QN_RREQ];
	kwarp_readq_push(&e->oread);
	start_untagged(&e->tx, op, KWARP_QN_RREQ, 0);
}

static void start_rreq(struct kwarp_engine *e, u32 sq_index, bool rtr, bool inv,
		       const struct kwarp_rreq *req)
{
	const struct kwarp_oread r = {
		.sq_index = sq_index,
		.rtr = rtr,
		.invalidate = inv,
		.stag = req->sink_stag,
		.to = req->sink_to,
		.left = req->size,
	};

	start_awaited(e, KWARP_OP_RREQ, &r);
	kwarp_rreq_encode(e->tx.small, req);
	source_buf(&e->tx, e->tx.small, KWARP_RDMAP_RREQ_LEN);
}

/* --------------------------------- messages that no posted request asks for */

static bool start_terminate(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	if (tx->term_done)
		return false;
	/* Pairs with kwarp_engine_fail(): KWARP_E_TX_TERM is read before e->term. */
	smp_rmb();
	tx->term_done = true;
	atomic_long_inc(&e->kdev->stats.term_sent[e->perr]);
	trace_kwarp_terminate(e->ibqp, true, kwarp_term_short(&e->term));
	tx->msg.kind = KWARP_TXK_TERM;
	start_untagged(tx, KWARP_OP_TERM, KWARP_QN_TERM, 0);
	source_buf(tx, tx->small, kwarp_term_encode(tx->small, &e->term));
	return true;
}

/* Start a zero-length Write, which is the announcement if one is due (proto/announce.h). */
static void start_empty_write(struct kwarp_engine *e)
{
	bool due = test_and_clear_bit(KWARP_E_TX_ANNOUNCE, &e->flags);

	start_tagged(&e->tx, KWARP_OP_WRITE, KWARP_ANNOUNCE_STAG,
		     due ? KWARP_ANNOUNCE_TO | KWARP_ANNOUNCE_LONG : 0);
	source_buf(&e->tx, e->tx.small, 0);
}

/* Sent before all other messages (6581-5-2). If there is no RTR, the announcement is due. */
static bool start_rtr(struct kwarp_engine *e)
{
	const struct kwarp_rreq none = {
		.sink_stag = NO_STAG,
		.src_stag = NO_STAG,
	};
	struct kwarp_tx *tx = &e->tx;

	tx->msg.kind = KWARP_TXK_RTR;
	switch (tx->rtr) {
	case KWARP_RTR_SEND:
		start_untagged(tx, KWARP_OP_SEND, KWARP_QN_SEND, 0);
		source_buf(tx, tx->small, 0);
		break;
	case KWARP_RTR_READ:
		start_rreq(e, 0, true, false, &none);
		break;
	default:
		start_empty_write(e);
		break;
	}
	tx->rtr = 0;
	return true;
}

/* ---------------------------------------------------------------- answers */

static void start_response(struct kwarp_engine *e, const struct kwarp_iread *r)
{
	e->tx.msg.src = KWARP_SRC_REGION;
	e->tx.msg.left = r->size;
	start_tagged(&e->tx, KWARP_OP_RRESP, r->sink_stag, r->sink_to);
}

/*
 * The operation is carried out only now, after all earlier requests of the peer have been answered
 * (7306-5.4-9, 7306-7-6), and so exactly once. The region may have been deregistered since the
 * request was checked.
 */
static bool start_atomic_response(struct kwarp_engine *e, const struct kwarp_iread *r)
{
	struct kwarp_atomic_resp resp = { .id = r->req.id };
	struct kwarp_mr *mr = kwarp_mr_lookup(e->kdev, r->req.stag);
	enum kwarp_perr err = kwarp_engine_atomic(e, mr, &r->req, &resp.value);
	u8 ddp[KWARP_DDP_UNTAGGED_LEN];

	if (mr)
		kwarp_mr_put(mr);
	if (err != KWARP_PERR_NONE) {
		kwarp_iread_ddp(&e->iread, ddp);
		kwarp_engine_fail(e, err, ddp, sizeof(ddp) + KWARP_ATOMIC_REQ_LEN, NULL);
		return false;
	}
	start_untagged(&e->tx, KWARP_OP_ATOMIC_RESP, KWARP_QN_ATOMIC, 0);
	kwarp_atomic_resp_encode(e->tx.small, &resp);
	source_buf(&e->tx, e->tx.small, KWARP_ATOMIC_RESP_LEN);
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

/* ----------------------------------------------- requests that send nothing */

static enum kwarp_wc_status bind_window(struct kwarp_engine *e)
{
	const struct kwarp_sqe *w = &e->tx.wqe.e;
	const struct kwarp_window_range range = {
		.addr = w->raddr,
		.length = w->length,
		.access = w->access,
	};
	struct kwarp_mr *mw = kwarp_mr_lookup(e->kdev, w->rkey);
	/* A window of length 0 is bound to no region. */
	struct kwarp_mr *mr = w->length ? kwarp_mr_lookup(e->kdev, w->inv_stag) : NULL;
	bool ok = mw && kwarp_window_bind(mw, w->rkey, mr, w->inv_stag, &e->mem, &range);

	if (!ok)
		kwarp_refuse_local(e, KWARP_WHY_BIND);
	if (mw)
		kwarp_mr_put(mw);
	if (mr)
		kwarp_mr_put(mr);
	return ok ? KWARP_WC_SUCCESS : KWARP_WC_MW_BIND_ERR;
}

static noinline __cold enum kwarp_wc_status refuse_stag(struct kwarp_engine *e, u32 stag)
{
	const struct kwarp_asked asked = { .op = KWARP_REFUSED_REQUEST, .stag = stag };

	kwarp_refuse_access(e, &asked, NULL, KWARP_WHY_INV, KWARP_PERR_LOCAL);
	return KWARP_WC_LOC_PROT_ERR;
}

static enum kwarp_wc_status carry_out_local(struct kwarp_engine *e)
{
	const struct kwarp_sqe *w = &e->tx.wqe.e;
	u32 stag = w->opcode == KWARP_WR_REG_MR ? w->rkey : w->inv_stag;
	struct kwarp_mr *mr;
	bool ok;

	if (w->opcode == KWARP_WR_BIND_MW)
		return bind_window(e);
	mr = kwarp_mr_lookup(e->kdev, stag);
	if (!mr)
		return refuse_stag(e, stag);
	if (w->opcode == KWARP_WR_REG_MR)
		ok = !kwarp_mr_activate(mr, stag, w->access, &e->mem);
	else
		ok = kwarp_mr_revoke(mr, stag, &e->mem, false);
	kwarp_mr_put(mr);
	return ok ? KWARP_WC_SUCCESS : refuse_stag(e, stag);
}

/* ------------------------------------------------------------ send queue */

static noinline __cold bool refuse_sge(struct kwarp_engine *e, const struct kwarp_mr *mr,
				       const struct kwarp_sge *s, int rights,
				       enum kwarp_mem_err err)
{
	const struct kwarp_asked asked = {
		.op = rights ? KWARP_REFUSED_SINK : KWARP_REFUSED_REQUEST,
		.stag = s->lkey,
		.addr = s->addr,
		.len = s->length,
		.rights = rights,
	};

	kwarp_refuse_access(e, &asked, mr, kwarp_why_mem(err), KWARP_PERR_LOCAL);
	return false;
}

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
	return likely(err == KWARP_MEM_OK) || refuse_sge(e, mr, s, rights, err);
}

/*
 * The batch keeps the region referenced for the copy, if the batch has room; if not, the region is
 * looked up again for the copy.
 */
static bool check_sge(struct kwarp_engine *e, const struct kwarp_sge *s, int rights)
{
	struct kwarp_mr *mr = kwarp_batch_mr(&e->tx.batch, s->lkey);
	bool ok;

	if (likely(mr))
		return check_region(e, mr, s, rights);
	mr = kwarp_mr_lookup(e->kdev, s->lkey);
	if (!mr)
		return refuse_sge(e, NULL, s, rights, KWARP_MEM_STAG);
	ok = check_region(e, mr, s, rights);
	kwarp_mr_put(mr);
	return ok;
}

static void start_read(struct kwarp_engine *e)
{
	const struct kwarp_wqe *wqe = &e->tx.wqe;
	struct kwarp_rreq req = {
		.sink_stag = NO_STAG,
		.size = wqe->len,
		.src_stag = wqe->e.rkey,
		.src_to = wqe->e.raddr,
	};

	if (wqe->e.num_sge) {
		req.sink_stag = wqe->sge[0].lkey;
		req.sink_to = wqe->sge[0].addr;
	}
	start_rreq(e, e->tx.msg.sq_index, false, wqe->rule->inv, &req);
}

/*
 * Fields of the Atomic Request that the verbs do not have are set to values without effect
 * (7306-5.2.1-1, -7).
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

	start_awaited(e, KWARP_OP_ATOMIC_REQ, &r);
	kwarp_atomic_req_encode(e->tx.small, &req);
	source_buf(&e->tx, e->tx.small, KWARP_ATOMIC_REQ_LEN);
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
	start_untagged(tx, request_op(&tx->wqe), KWARP_QN_SEND, 0);
	memset(tx->small, 0, KWARP_RDMAP_IMM_LEN);
	memcpy(tx->small, &tx->wqe.e.imm, sizeof(tx->wqe.e.imm));
	source_buf(tx, tx->small, KWARP_RDMAP_IMM_LEN);
}

/* The STag that a Send invalidates, or its immediate data, whose four octets do not change. */
static u32 stag_field(const struct kwarp_wqe *wqe)
{
	if (wqe->rule->send_imm)
		return get_unaligned_be32(&wqe->e.imm);
	return wqe->rule->inv ? wqe->e.inv_stag : 0;
}

static void start_data(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	const struct kwarp_sqe *w = &tx->wqe.e;
	const struct kwarp_wr_rule *rule = tx->wqe.rule;

	if (rule->remote)
		start_tagged(tx, KWARP_OP_WRITE, w->rkey, w->raddr);
	else
		start_untagged(tx, request_op(&tx->wqe), KWARP_QN_SEND, stag_field(&tx->wqe));
	if (w->flags & KWARP_WR_INLINE) {
		source_buf(tx, tx->wqe.data, tx->wqe.len);
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
			kwarp_engine_cause(e));
	kwarp_engine_fail(e, KWARP_PERR_LOCAL, NULL, 0, NULL);
	return false;
}

/*
 * An Atomic Response does not name its sink, the buffer of the request, so this buffer never needs
 * remote write.
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

	if (never_sendable(e)) {
		kwarp_refuse_local(e, KWARP_WHY_ORD);
		return KWARP_WC_LOC_QP_OP_ERR;
	}
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
 * A foreign ring may have more requests than fit into the send queue. Then kwarp_sq_peek() reports
 * no request until an earlier one completes.
 */
static enum kwarp_take peek_request(struct kwarp_engine *e)
{
	enum kwarp_take take = kwarp_sq_peek(e->sq, &e->tx.wqe);

	if (!e->sq->foreign)
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

/* Return: true if there is one, and it may be sent now. */
static bool next_request(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	switch (peek_request(e)) {
	case KWARP_TAKE_NONE:
		return false;
	case KWARP_TAKE_BAD:
		kwarp_refuse_local(e, KWARP_WHY_ENTRY);
		return sq_error(e, KWARP_WC_LOC_QP_OP_ERR);
	case KWARP_TAKE_CORRUPT:
		kwarp_engine_fail_local(e, KWARP_WHY_RING);
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

/* Return: false if none can be sent now. */
static bool pick_sq(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	enum kwarp_wc_status status;

	while (tx->effort < KWARP_BATCH_EFFORT && may_take(e) && next_request(e)) {
		if (!tx->wqe.rule->local)
			return start_message(e);
		status = carry_out_local(e);
		if (status != KWARP_WC_SUCCESS)
			return sq_error(e, status);
		tx->sq_end = kwarp_sq_take(e->sq, &tx->wqe) + 1;
	}
	return false;
}

/* Return: false if nothing can be sent now. */
bool kwarp_tx_pick(struct kwarp_engine *e)
{
	kwarp_assert_runner(e);
	if (test_bit(KWARP_E_TX_TERM, &e->flags))
		return start_terminate(e);
	if (test_bit(KWARP_E_FAILED, &e->flags) || !test_bit(KWARP_E_TX_OPEN, &e->flags))
		return false;
	if (e->tx.rtr || unlikely(test_bit(KWARP_E_TX_ANNOUNCE, &e->flags)))
		return start_rtr(e);
	/*
	 * Answers and our own requests alternate message by message. Segments of two messages are
	 * never mixed: messages have to be sent in the order in which they were submitted
	 * (5041-5.3-2), and the end of a tagged message is marked only by the last flag (RFC 5041
	 * section 5.2).
	 */
	e->tx.answers_first = !e->tx.answers_first;
	if (e->tx.answers_first)
		return pick_answer(e) || (!test_bit(KWARP_E_FAILED, &e->flags) && pick_sq(e));
	return pick_sq(e) || (!test_bit(KWARP_E_FAILED, &e->flags) && pick_answer(e));
}

/* The last segment of a message was put into the batch. */
void kwarp_tx_message_built(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tx_message_built, e);
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
	KWARP_DOOR(kwarp_tx_drained, e);
	kwarp_assert_runner(e);
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && !e->tx.msg.kind &&
	       !kwarp_batch_pending(&e->tx.batch) && !may_take(e) &&
	       kwarp_readq_empty(&e->iread) && kwarp_readq_empty(&e->oread);
}

/*
 * The flush cannot wait for the end of the stream, because the peer may close its half much later.
 * Return: true if there are more requests to flush.
 */
bool kwarp_tx_flush_late(struct kwarp_engine *e)
{
	kwarp_assert_runner(e);
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && !may_take(e) &&
	       kwarp_sq_flush_late(e->sq, kwarp_engine_short(e));
}
