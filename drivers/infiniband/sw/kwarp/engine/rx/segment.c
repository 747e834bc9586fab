// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive side: from parser events to placement and delivery.
 *
 * Context: under the socket lock, in softirq or in the socket owner's context.
 * The feeder of a stream with CRCs has verified the FPDU (skb.c): nothing is placed
 * before (5044-6-1).
 */
#include "segment.h"

#include "../../kwarp.h"
#include "../../trace.h"
#include "../atomic.h"
#include "../fail.h"
#include "answer.h"
#include "place.h"
#include "receive.h"
#include "series.h"

void kwarp_rx_init(struct kwarp_engine *e, bool crc, bool markers)
{
	struct kwarp_rx *rx = &e->rx;
	int i;

	kwarp_fpdu_rx_init(&rx->fpdu, crc, markers);
	/* 5041-4.3-13 */
	for (i = 0; i < KWARP_QN_COUNT; i++)
		rx->q[i] = (struct kwarp_ddp_untagged_rx) { .msn = 1 };
	rx->target = KWARP_RXT_NONE;
	rx->tagged_open = false;
	rx->written = 0;
	rx->ahead = 0;
	rx->skip = 0;
	rx->want = 0;
	rx->stash = (struct kwarp_rx_stash) { };
}

/* Does the error concern a segment whose header has been read? */
static bool has_header(enum kwarp_perr err)
{
	return err < KWARP_PERR_MPA_LOST && err != KWARP_PERR_DDP_LOCAL;
}

static void rx_fail(struct kwarp_engine *e, enum kwarp_perr err)
{
	const struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	const u8 *rreq = NULL;

	/* Whatever has been said of this segment, nothing of it is placed. */
	e->rx.target = KWARP_RXT_NONE;
	if (!has_header(err)) {
		kwarp_engine_fail(e, err, NULL, 0, NULL);
		return;
	}
	if (!f->hdr.tagged && f->hdr.opcode == KWARP_OP_TERM) {
		/* No Terminate answers a Terminate (5040-5.4-9). */
		kwarp_engine_lost(e);
		return;
	}
	if (!f->hdr.tagged && f->hdr.opcode == KWARP_OP_RREQ &&
	    e->rx.small_have == KWARP_RDMAP_RREQ_LEN)
		rreq = e->rx.small;
	kwarp_engine_fail(e, err, kwarp_fpdu_rx_raw(f), f->ulpdu_len, rreq);
}

/* ----------------------------------------------------- header of a segment */

static enum kwarp_perr begin_send(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	u64 end = (u64)rx->fpdu.hdr.mo + rx->fpdu.payload_len;
	enum kwarp_perr err;

	if (!rx->q[KWARP_QN_SEND].open) {
		err = kwarp_rx_open(e);
		if (err != KWARP_PERR_NONE)
			return err;
	}
	/* 5041-7.1-9 */
	if (end > rx->rwqe.len) {
		rx->rwqe_status = KWARP_WC_LOC_LEN_ERR;
		return KWARP_PERR_DDP_U_LONG;
	}
	rx->target = KWARP_RXT_RECEIVE;
	return KWARP_PERR_NONE;
}

/*
 * 7306-6.3-2: Immediate Data takes a receive, into which nothing is placed.  One that is open is a
 * Send's, which goes on with nothing but that.
 */
static enum kwarp_perr begin_imm(struct kwarp_engine *e)
{
	if (e->rx.q[KWARP_QN_SEND].open)
		return KWARP_PERR_O_OPCODE;
	e->rx.target = KWARP_RXT_SMALL;
	return kwarp_rx_open(e);
}

static enum kwarp_perr begin_untagged(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;
	enum kwarp_perr err = kwarp_ddp_check_untagged(&rx->q[h->qn], h);

	if (err != KWARP_PERR_NONE)
		return err;
	if (h->qn == KWARP_QN_SEND)
		return kwarp_op_is_imm(h->opcode) ? begin_imm(e) : begin_send(e);
	if (h->qn == KWARP_QN_ATOMIC)
		return kwarp_rx_begin_atomic(e);
	/* 5040-6.1-10, 7306-5.2.1-9: more requests than the agreed IRD have no buffer there. */
	if (h->qn == KWARP_QN_RREQ && kwarp_readq_full(&e->iread))
		return KWARP_PERR_DDP_U_NOBUF;
	rx->target = KWARP_RXT_SMALL;
	return KWARP_PERR_NONE;
}

/* 5041-7.1-13: every segment, not only the first. */
static enum kwarp_perr check_tagged(struct kwarp_engine *e, int rights)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;
	struct kwarp_mr *mr = kwarp_rx_mr(e, h->stag);
	enum kwarp_mem_err err;

	err = kwarp_mem_check(mr, h->stag, &e->mem, h->to, rx->fpdu.payload_len, rights);
	if (err != KWARP_MEM_OK)
		return kwarp_tagged_perr(err);
	rx->sure = mr->kind < KWARP_MR_FAST;
	rx->addr = h->to;
	rx->rights = rights;
	rx->target = KWARP_RXT_TAGGED;
	return KWARP_PERR_NONE;
}

static enum kwarp_perr begin_write(struct kwarp_engine *e)
{
	/* 5041-5.2-14: a zero-length message's STag and TO are not looked at. */
	if (!e->rx.fpdu.payload_len)
		return KWARP_PERR_NONE;
	if (!(READ_ONCE(e->access) & IB_ACCESS_REMOTE_WRITE))
		return KWARP_PERR_DDP_T_STAG;
	return check_tagged(e, IB_ACCESS_REMOTE_WRITE);
}

static enum kwarp_perr begin_response(struct kwarp_engine *e)
{
	const struct kwarp_ddp_hdr *h = &e->rx.fpdu.hdr;
	u32 payload = e->rx.fpdu.payload_len;
	const struct kwarp_oread *r;
	bool last;

	r = kwarp_readq_empty(&e->oread) ? NULL : kwarp_oread_head(&e->oread);
	if (!r || r->atomic)
		return KWARP_PERR_O_OPCODE;
	last = payload == r->left;
	/* 5040-5.2.2-9: the response has to be the one that was asked for. */
	if (payload > r->left || h->last != last)
		return KWARP_PERR_DDP_T_BOUNDS;
	if (!payload)
		return KWARP_PERR_NONE;
	if (h->stag != r->stag)
		return KWARP_PERR_DDP_T_STAG;
	if (h->to != r->to)
		return KWARP_PERR_DDP_T_BOUNDS;
	return check_tagged(e, e->sink_rights);
}

static enum kwarp_perr begin_segment(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	enum kwarp_perr err = kwarp_rdmap_check(&rx->fpdu.hdr, rx->fpdu.payload_len, e->rfc7306);

	rx->target = KWARP_RXT_NONE;
	rx->small_have = 0;
	if (err != KWARP_PERR_NONE)
		return err;
	if (!rx->fpdu.hdr.tagged)
		return begin_untagged(e);
	if (rx->fpdu.hdr.opcode == KWARP_OP_RRESP)
		return begin_response(e);
	return begin_write(e);
}

/* ---------------------------------------------------------------- delivery */

/* 5040-5.3-17 to -19, 5040-7.2-4, -5 */
static enum kwarp_perr invalidate(struct kwarp_engine *e)
{
	u32 stag = e->rx.fpdu.hdr.stag;
	struct kwarp_mr *mr = kwarp_rx_mr(e, stag);

	if (!mr || !READ_ONCE(mr->valid) || READ_ONCE(mr->stag) != stag)
		return KWARP_PERR_R_STAG;
	if (!kwarp_mr_revoke(mr, stag, &e->mem, true))
		return KWARP_PERR_R_CANNOT_INV;
	return KWARP_PERR_NONE;
}

/* The message of the open receive is complete; the completion may be one too many. */
static enum kwarp_perr deliver_receive(struct kwarp_engine *e, u32 len)
{
	kwarp_rx_complete(e, KWARP_WC_SUCCESS, len);
	return READ_ONCE(e->recv_cq->overflow) ? KWARP_PERR_LOCAL : KWARP_PERR_NONE;
}

static enum kwarp_perr end_send(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;
	enum kwarp_perr err;

	if (!h->last)
		return KWARP_PERR_NONE;
	if (kwarp_op_invalidates(h->opcode)) {
		err = invalidate(e);
		if (err != KWARP_PERR_NONE) {
			rx->q[KWARP_QN_SEND].open = true;
			rx->rwqe_status = KWARP_WC_REM_INV_REQ_ERR;
			return err;
		}
	}
	/* 5041-5.4-4: MO plus payload of the last segment. */
	return deliver_receive(e, h->mo + rx->fpdu.payload_len);
}

/*
 * 7306-6.1-2, 7306-7-1: all that came before has been placed.  A program is told the length of the
 * Write, as with InfiniBand.  Consumers in the kernel are not: they take the length of a receive,
 * of whatever kind, for octets of their buffer that the peer has filled.
 */
static enum kwarp_perr end_imm(struct kwarp_engine *e)
{
	return deliver_receive(e, e->sq->user ? e->rx.written : 0);
}

/* The request waits for its turn; its header for a Terminate. */
static void push_request(struct kwarp_engine *e)
{
	memcpy(kwarp_iread_tail(&e->iread)->raw_ddp, kwarp_fpdu_rx_raw(&e->rx.fpdu),
	       KWARP_DDP_UNTAGGED_LEN);
	kwarp_readq_push(&e->iread);
	e->rx.kick = true;
}

/* In this order: operation, right of the QP, region, alignment (7306-8.2-4 to -6). */
static enum kwarp_perr end_atomic_request(struct kwarp_engine *e)
{
	struct kwarp_iread *r = kwarp_iread_tail(&e->iread);
	enum kwarp_perr err;

	kwarp_atomic_req_decode(e->rx.small, &r->req);
	if (!kwarp_atomic_op_known(r->req.op))	/* 7306-5.2.1-12 */
		return KWARP_PERR_O_OPCODE;
	if (!(READ_ONCE(e->access) & IB_ACCESS_REMOTE_ATOMIC))
		return KWARP_PERR_R_ACCESS;
	err = kwarp_engine_atomic(e, kwarp_rx_mr(e, r->req.stag), &r->req, NULL);
	if (err != KWARP_PERR_NONE)
		return err;
	r->atomic = true;
	push_request(e);
	return KWARP_PERR_NONE;
}

static enum kwarp_perr end_read_request(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	struct kwarp_iread *r = kwarp_iread_tail(&e->iread);
	enum kwarp_perr err;
	struct kwarp_rreq req;

	kwarp_rreq_decode(rx->small, &req);
	/* 5040-5.2.1-16 to -18: a zero-length Read names no buffer. */
	if (req.size) {
		if (!(READ_ONCE(e->access) & IB_ACCESS_REMOTE_READ))
			return KWARP_PERR_R_ACCESS;
		err = kwarp_read_perr(kwarp_mem_check(kwarp_rx_mr(e, req.src_stag),
						      req.src_stag, &e->mem, req.src_to,
						      req.size, IB_ACCESS_REMOTE_READ));
		if (err != KWARP_PERR_NONE)
			return err;
	}
	r->atomic = false;
	r->sink_stag = req.sink_stag;
	r->sink_to = req.sink_to;
	r->src_stag = req.src_stag;
	r->src_to = req.src_to;
	r->size = req.size;
	push_request(e);
	return KWARP_PERR_NONE;
}

static enum kwarp_perr end_response(struct kwarp_engine *e)
{
	struct kwarp_oread *r = kwarp_oread_head(&e->oread);

	r->to += e->rx.fpdu.payload_len;
	r->left -= e->rx.fpdu.payload_len;
	return e->rx.fpdu.hdr.last ? kwarp_rx_answered(e) : KWARP_PERR_NONE;
}

static enum kwarp_perr end_terminate(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;

	/* Cut short, it still says what is wrong. */
	kwarp_term_decode(rx->small, rx->small_have, &e->peer_term);
	atomic_long_inc(&e->kdev->stats.term_received[kwarp_term_perr(&e->peer_term)]);
	/* Pairs with kwarp_engine_short(). */
	smp_wmb();
	set_bit(KWARP_E_TERM_SEEN, &e->flags);
	trace_kwarp_terminate(e->ibqp, false, kwarp_term_short(&e->peer_term));
	kwarp_rx_blame(e);
	set_bit(KWARP_E_RX_STOP, &e->flags);
	e->ops->event(e, KWARP_QPE_PEER_TERM);
	return KWARP_PERR_NONE;
}

/* The first valid FPDU opens our sending half (RFC 5044 7.1.2 rule 5). */
static void first_fpdu(struct kwarp_engine *e)
{
	set_bit(KWARP_E_RX_SEEN, &e->flags);
	if (test_and_set_bit(KWARP_E_TX_OPEN, &e->flags))
		return;
	e->ops->established(e);
	e->rx.kick = true;
}

static enum kwarp_perr end_untagged(struct kwarp_engine *e)
{
	switch (e->rx.fpdu.hdr.opcode) {
	case KWARP_OP_RREQ:
		return end_read_request(e);
	case KWARP_OP_TERM:
		return end_terminate(e);
	case KWARP_OP_IMM:
	case KWARP_OP_IMM_SE:
		return end_imm(e);
	case KWARP_OP_ATOMIC_REQ:
		return end_atomic_request(e);
	case KWARP_OP_ATOMIC_RESP:
		return kwarp_rx_end_atomic(e);
	default:
		return end_send(e);
	}
}

static enum kwarp_perr end_segment(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;
	enum kwarp_perr err;

	if (unlikely(!test_bit(KWARP_E_RX_SEEN, &e->flags)))
		first_fpdu(e);
	e->stats.s.rx.fpdus++;
	e->stats.s.rx.octets += rx->fpdu.payload_len;
	trace_kwarp_rx_segment(e->ibqp, h->opcode, h->last, rx->fpdu.payload_len);
	if (h->last)
		e->stats.s.rx.op[h->opcode % KWARP_STATS_OPS]++;
	if (h->tagged) {
		if (h->opcode == KWARP_OP_RRESP) {
			rx->tagged_open = !h->last;
			rx->written = 0;
			return end_response(e);
		}
		rx->written = rx->fpdu.payload_len + (rx->tagged_open ? rx->written : 0);
		rx->tagged_open = !h->last;
		return KWARP_PERR_NONE;
	}
	kwarp_ddp_advance_untagged(&rx->q[h->qn], h, rx->fpdu.payload_len);
	err = end_untagged(e);
	rx->written = 0;
	return err;
}

/* ------------------------------------------------------------- entry points */

/**
 * kwarp_rx_feed - process a contiguous piece of the stream
 * @e: engine
 * @data: the piece
 * @len: octets
 *
 * With CRCs: of one FPDU, that kwarp_fpdu_rx_verify() was told of.
 *
 * Context: socket lock held.  After an error the rest is dropped (5041-7.1-22).
 */
void kwarp_rx_feed(struct kwarp_engine *e, const u8 *data, size_t len)
{
	struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	enum kwarp_perr err = KWARP_PERR_NONE;
	const u8 *piece;
	size_t used;
	u32 n;

	while (!test_bit(KWARP_E_RX_STOP, &e->flags)) {
		/* With CRCs we get one FPDU at a time, and the series has been tried (skb.c). */
		if (!f->hdr.last && !f->check_crc && kwarp_fpdu_rx_idle(f)) {
			used = kwarp_rx_take_series(e, data, len);
			data += used;
			len -= used;
		}
		switch (kwarp_fpdu_rx_next(f, &data, &len, &piece, &n)) {
		case KWARP_FPDU_MORE:
			return;
		case KWARP_FPDU_HDR:
			err = begin_segment(e);
			break;
		case KWARP_FPDU_DATA:
			err = kwarp_rx_place(e, piece, n);
			break;
		case KWARP_FPDU_DATA_END:
			err = kwarp_rx_place(e, piece, n);
			if (err != KWARP_PERR_NONE)
				break;
			fallthrough;
		case KWARP_FPDU_END:
			err = end_segment(e);
			break;
		case KWARP_FPDU_ERROR:
			err = f->err;
			break;
		}
		if (unlikely(err != KWARP_PERR_NONE)) {
			rx_fail(e, err);
			return;
		}
	}
}

/**
 * kwarp_rx_end_run - the socket has given all it had
 * @e: engine
 *
 * Lets go of what the run referenced.
 *
 * Context: socket lock held.
 * Return: true if there may be something to send: an answer, or what waited for one.
 */
bool kwarp_rx_end_run(struct kwarp_engine *e)
{
	bool kick = e->rx.kick;

	e->stats.s.rx.runs++;
	if (e->rx.mr) {
		kwarp_mr_put(e->rx.mr);
		e->rx.mr = NULL;
	}
	e->rx.sure = false;
	e->rx.kick = false;
	return kick;
}

/* Does a FIN here cut nothing off? */
static bool between_messages(const struct kwarp_engine *e)
{
	const struct kwarp_rx *rx = &e->rx;

	return kwarp_fpdu_rx_idle(&rx->fpdu) && !rx->want && !rx->stash.have &&
	       !rx->q[KWARP_QN_SEND].open && !rx->tagged_open &&
	       kwarp_readq_empty(&e->oread);
}

/**
 * kwarp_rx_eof - the peer has closed, or the connection is gone
 * @e: engine
 * @reset: no FIN, or an error
 *
 * Context: socket lock held; may be called again.
 */
void kwarp_rx_eof(struct kwarp_engine *e, bool reset)
{
	if (test_and_set_bit(reset ? KWARP_E_RST_SEEN : KWARP_E_FIN_SEEN, &e->flags))
		return;
	/* Behind an error of ours the parser stands anywhere: our Terminate goes first. */
	if (reset || (!test_bit(KWARP_E_FAILED, &e->flags) && !between_messages(e)))
		e->ops->event(e, KWARP_QPE_LOST);
	else
		e->ops->event(e, KWARP_QPE_PEER_FIN);
}
