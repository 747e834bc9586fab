// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive side: handles what the parser reports: headers, payload, ends of segments. Begins and
 * ends the inbound half of a stream.
 *
 * Context of all functions: socket lock held, in softirq, or in a process that owns the socket (in
 * its calls, or when its backlog is processed). If the stream has CRCs, skb.c has verified the FPDU
 */
#include "rx.h"

#include "../../door.h"
#include "../../kwarp.h"
#include "../../proto/announce.h"
#include "../../trace.h"
#include "../fail.h"

static void rx_fail(struct kwarp_engine *e, enum kwarp_perr err)
{
	const struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	const u8 *rreq = NULL;

	e->rx.target = KWARP_RXT_NONE;
	if (err >= KWARP_PERR_MPA_LOST || err == KWARP_PERR_DDP_LOCAL) {
		/* The error is not one of a header. */
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
	/* The message must not be longer than the receive (5041-7.1-9). */
	if (end > rx->rwqe.len) {
		rx->rwqe_status = KWARP_WC_LOC_LEN_ERR;
		return kwarp_refuse_long(e, end, rx->rwqe.len);
	}
	rx->target = KWARP_RXT_RECEIVE;
	return KWARP_PERR_NONE;
}

/*
 * Immediate Data uses a receive, but places nothing in it (7306-6.3-2). If a receive is in use, an
 * unfinished Send has it, and Immediate Data must not come between its segments.
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
	/* The peer must not send more requests than the agreed IRD (5040-6.1-10, 7306-5.2.1-9). */
	if (h->qn == KWARP_QN_RREQ && kwarp_readq_full(&e->iread))
		return kwarp_refuse(e, KWARP_REFUSED_READ, KWARP_WHY_MANY, KWARP_PERR_DDP_U_NOBUF);
	rx->target = KWARP_RXT_SMALL;
	return KWARP_PERR_NONE;
}

static noinline __cold enum kwarp_perr refuse_tagged(struct kwarp_engine *e,
						     const struct kwarp_mr *mr, int rights,
						     enum kwarp_why why, enum kwarp_perr perr)
{
	const struct kwarp_ddp_hdr *h = &e->rx.fpdu.hdr;
	const struct kwarp_asked asked = {
		.op = h->opcode == KWARP_OP_RRESP ? KWARP_REFUSED_SINK : KWARP_REFUSED_WRITE,
		.stag = h->stag,
		.addr = h->to,
		.len = e->rx.fpdu.payload_len,
		.rights = rights,
	};

	return kwarp_refuse_access(e, &asked, mr, why, perr);
}

/* Check the target of every segment, not only of the first (5041-7.1-13). */
static __always_inline enum kwarp_perr check_tagged(struct kwarp_engine *e, int rights)
{
	struct kwarp_rx *rx = &e->rx;
	enum kwarp_mem_err err = kwarp_rx_check_target(e, rx->fpdu.hdr.to, rights);

	if (err != KWARP_MEM_OK)
		return refuse_tagged(e, rx->mr, rights, kwarp_why_mem(err), kwarp_tagged_perr(err));
	rx->addr = rx->fpdu.hdr.to;
	rx->rights = rights;
	rx->target = KWARP_RXT_TAGGED;
	return KWARP_PERR_NONE;
}

/*
 * A zero-length Write has come: the peer may have said what it accepts (proto/announce.h). A
 * responder answers the first time.
 */
static void hear_announcement(struct kwarp_engine *e)
{
	if (!(kwarp_announced(&e->rx.fpdu.hdr) & KWARP_ANNOUNCE_LONG))
		return;
	set_bit(KWARP_E_PEER_LONG, &e->flags);
	if (kwarp_engine_announce(e))
		e->rx.kick = true;
}

static enum kwarp_perr begin_write(struct kwarp_engine *e)
{
	/* STag and TO of a zero-length message are not checked (5041-5.2-14). */
	if (!e->rx.fpdu.payload_len) {
		if (e->tx.long_frames)
			hear_announcement(e);
		return KWARP_PERR_NONE;
	}
	if (!(READ_ONCE(e->access) & IB_ACCESS_REMOTE_WRITE))
		return refuse_tagged(e, NULL, IB_ACCESS_REMOTE_WRITE, KWARP_WHY_QP_RIGHT,
				     KWARP_PERR_DDP_T_STAG);
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
	/* The response has to be the one that was asked for (5040-5.2.2-9). */
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
	enum kwarp_perr err = kwarp_rdmap_check(&rx->fpdu.hdr, rx->fpdu.payload_len, e->more);

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

static noinline __cold enum kwarp_perr find_no_receive(struct kwarp_engine *e)
{
	enum kwarp_perr err = KWARP_PERR_DDP_U_NOBUF;

	/* Once more: a receive may have been posted before the program saw that it has to ring. */
	if (kwarp_rx_park(e) && !e->rx.denied)
		err = begin_segment(e);
	if (err != KWARP_PERR_DDP_U_NOBUF)
		kwarp_rx_unpark(e);
	else if (!kwarp_rx_parked(e) && e->rx.fpdu.hdr.qn == KWARP_QN_SEND)
		/* Only now: what is noted first stays, and a segment that waits is not refused. */
		kwarp_refuse(e, KWARP_REFUSED_SEND, KWARP_WHY_NO_RECEIVE, err);
	return err;
}

/*
 * Return: KWARP_PERR_DDP_U_NOBUF and KWARP_E_RX_PARKED is set: the segment waits for a receive, and
 * no octet after its header may be parsed; or as begin_segment().
 */
static enum kwarp_perr begin_or_park(struct kwarp_engine *e)
{
	enum kwarp_perr err = begin_segment(e);

	return likely(err != KWARP_PERR_DDP_U_NOBUF) ? err : find_no_receive(e);
}

/*
 * A header has come: does a fault end the stream here? Zero-length Writes do not count: the device
 * sends them, too, as RTR and as announcement.
 */
static noinline __cold enum kwarp_perr hit_message(struct kwarp_engine *e)
{
	const struct kwarp_ddp_hdr *h = &e->rx.fpdu.hdr;

	/* rx_fail() is not to take the header of an earlier Read Request for that of this one. */
	e->rx.small_have = 0;
	if (h->opcode == KWARP_OP_TERM ||
	    (h->tagged ? e->rx.tagged_open || !e->rx.fpdu.payload_len : h->mo != 0))
		return KWARP_PERR_NONE;
	return kwarp_engine_hit(e, KWARP_REFUSED_SEND);
}

/* Send with Invalidate: invalidate the STag in the header (5040-5.3-17 to -19, 5040-7.2-4, -5). */
static enum kwarp_perr invalidate_stag(struct kwarp_engine *e)
{
	u32 stag = e->rx.fpdu.hdr.stag;
	const struct kwarp_asked asked = { .op = KWARP_REFUSED_INV, .stag = stag };
	struct kwarp_mr *mr = kwarp_rx_mr(e, stag);

	if (!mr || !READ_ONCE(mr->valid) || READ_ONCE(mr->stag) != stag)
		return kwarp_refuse_access(e, &asked, mr, KWARP_WHY_STAG, KWARP_PERR_R_STAG);
	if (!kwarp_mr_revoke(mr, stag, &e->mem, true))
		return kwarp_refuse_access(e, &asked, mr, KWARP_WHY_INV, KWARP_PERR_R_CANNOT_INV);
	return KWARP_PERR_NONE;
}

/* The completion may overflow the CQ. */
static enum kwarp_perr deliver_receive(struct kwarp_engine *e, u32 len)
{
	kwarp_rx_complete(e, KWARP_WC_SUCCESS, len);
	if (likely(!READ_ONCE(e->recv_cq->overflow)))
		return KWARP_PERR_NONE;
	return kwarp_refuse_local(e, KWARP_WHY_CQ);
}

static enum kwarp_perr end_send(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;
	enum kwarp_perr err;

	if (!h->last)
		return KWARP_PERR_NONE;
	if (kwarp_op_invalidates(h->opcode)) {
		err = invalidate_stag(e);
		if (err != KWARP_PERR_NONE) {
			rx->q[KWARP_QN_SEND].open = true;
			rx->rwqe_status = KWARP_WC_REM_INV_REQ_ERR;
			return err;
		}
	}
	/* Length of the message: MO plus payload of the last segment (5041-5.4-4). */
	return deliver_receive(e, h->mo + rx->fpdu.payload_len);
}

/*
 * Immediate Data is complete; all earlier messages have been placed (7306-6.1-2, 7306-7-1). For a
 * program, byte_len of the completion is the length of the Write before the Immediate Data, as with
 * InfiniBand. For a kernel consumer it is 0: kernel consumers take byte_len of any receive for
 * octets in their buffer.
 */
static enum kwarp_perr end_imm(struct kwarp_engine *e)
{
	return deliver_receive(e, e->sq->user ? e->rx.written : 0);
}

static void push_request(struct kwarp_engine *e)
{
	memcpy(kwarp_iread_tail(&e->iread)->raw, kwarp_fpdu_rx_raw(&e->rx.fpdu), KWARP_IREAD_RAW);
	kwarp_readq_push(&e->iread);
	e->rx.kick = true;
}

/* Check in this order: operation, right of the QP, region, alignment (7306-8.2-4 to -6). */
static enum kwarp_perr end_atomic_request(struct kwarp_engine *e)
{
	struct kwarp_iread *r = kwarp_iread_tail(&e->iread);
	enum kwarp_perr err;

	kwarp_atomic_req_decode(e->rx.small, &r->req);
	if (!kwarp_atomic_op_known(r->req.op))	/* unknown operation (7306-5.2.1-12) */
		return KWARP_PERR_O_OPCODE;
	if (!(READ_ONCE(e->access) & IB_ACCESS_REMOTE_ATOMIC))
		return kwarp_refuse_atomic(e, NULL, &r->req, KWARP_WHY_QP_RIGHT,
					   KWARP_PERR_R_ACCESS);
	err = kwarp_engine_atomic(e, kwarp_rx_mr(e, r->req.stag), &r->req, NULL);
	if (err != KWARP_PERR_NONE)
		return err;
	r->atomic = true;
	push_request(e);
	return KWARP_PERR_NONE;
}

static noinline __cold enum kwarp_perr refuse_read(struct kwarp_engine *e,
						   const struct kwarp_mr *mr,
						   const struct kwarp_rreq *req,
						   enum kwarp_why why, enum kwarp_perr perr)
{
	const struct kwarp_asked asked = {
		.op = KWARP_REFUSED_READ,
		.stag = req->src_stag,
		.addr = req->src_to,
		.len = req->size,
		.rights = IB_ACCESS_REMOTE_READ,
	};

	return kwarp_refuse_access(e, &asked, mr, why, perr);
}

static enum kwarp_perr check_source(struct kwarp_engine *e, const struct kwarp_rreq *req)
{
	enum kwarp_mem_err err;
	struct kwarp_mr *mr;

	if (!(READ_ONCE(e->access) & IB_ACCESS_REMOTE_READ))
		return refuse_read(e, NULL, req, KWARP_WHY_QP_RIGHT, KWARP_PERR_R_ACCESS);
	mr = kwarp_rx_mr(e, req->src_stag);
	err = kwarp_mem_check(mr, req->src_stag, &e->mem, req->src_to, req->size,
			      IB_ACCESS_REMOTE_READ);
	if (err == KWARP_MEM_OK)
		return KWARP_PERR_NONE;
	return refuse_read(e, mr, req, kwarp_why_mem(err), kwarp_read_perr(err));
}

static enum kwarp_perr end_read_request(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	struct kwarp_iread *r = kwarp_iread_tail(&e->iread);
	enum kwarp_perr err;
	struct kwarp_rreq req;

	kwarp_rreq_decode(rx->small, &req);
	/* A zero-length Read names no buffer (5040-5.2.1-16 to -18). */
	if (req.size) {
		err = check_source(e, &req);
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

	/* If the Terminate is truncated, its error code is used all the same. */
	kwarp_term_decode(rx->small, rx->small_have, &e->peer_term);
	atomic_long_inc(&e->kdev->stats.term_received[kwarp_term_perr(&e->peer_term)]);
	/* Pairs with the barrier in kwarp_engine_short(): peer_term is written before the flag. */
	smp_wmb();
	set_bit(KWARP_E_TERM_SEEN, &e->flags);
	trace_kwarp_terminate(e->ibqp, false, kwarp_term_short(&e->peer_term));
	kwarp_rx_blame(e);
	set_bit(KWARP_E_RX_STOP, &e->flags);
	e->ops->event(e, KWARP_QPE_PEER_TERM);
	return KWARP_PERR_NONE;
}

/* After the first valid FPDU a responder may send (RFC 5044 7.1.2 rule 5). */
static void first_fpdu(struct kwarp_engine *e)
{
	set_bit(KWARP_E_TX_OPEN, &e->flags);
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

	if (unlikely(!test_bit(KWARP_E_TX_OPEN, &e->flags)))
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

static void count_split(struct kwarp_engine *e, u32 n)
{
	const struct kwarp_fpdu_rx *f = &e->rx.fpdu;

	e->stats.s.rx.split += n + f->payload_left == f->payload_len;
}

/*
 * With CRCs the piece belongs to one FPDU, for which kwarp_fpdu_rx_verify() was called. Context:
 * socket lock held. After an error the rest is dropped (5041-7.1-22). Return: octets that are left,
 * because the segment waits for a receive (KWARP_E_RX_PARKED); else 0.
 */
size_t kwarp_rx_feed(struct kwarp_engine *e, const u8 *data, size_t len)
{
	KWARP_DOOR(kwarp_rx_feed, e, data, len);
	struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	enum kwarp_perr err = KWARP_PERR_NONE;
	const u8 *piece;
	size_t used;
	u32 n;

	while (!kwarp_rx_halted(e)) {
		/*
		 * With CRCs the caller passes one FPDU at a time, and has tried
		 * kwarp_rx_accept_series() (skb.c).
		 */
		if (!f->hdr.last && !f->check_crc && kwarp_fpdu_rx_idle(f)) {
			used = kwarp_rx_accept_series(e, data, len);
			data += used;
			len -= used;
		}
		switch (kwarp_fpdu_rx_next(f, &data, &len, &piece, &n)) {
		case KWARP_FPDU_MORE:
			return 0;
		case KWARP_FPDU_HDR:
			err = kwarp_faults_on() ? hit_message(e) : KWARP_PERR_NONE;
			if (likely(err == KWARP_PERR_NONE))
				err = begin_or_park(e);
			break;
		case KWARP_FPDU_DATA:
			count_split(e, n);
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
		if (unlikely(err != KWARP_PERR_NONE) && !kwarp_rx_parked(e)) {
			rx_fail(e, err);
			return 0;
		}
	}
	return kwarp_rx_stopped(e) ? 0 : len;
}

/* Is there a receive now for the segment that waits for one, or is the wait over? */
bool kwarp_rx_retry(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_rx_retry, e);
	enum kwarp_perr err;

	if (kwarp_rx_stopped(e)) {
		kwarp_rx_unpark(e);
		return true;
	}
	err = begin_or_park(e);
	if (err == KWARP_PERR_DDP_U_NOBUF && kwarp_rx_parked(e))
		return false;
	if (kwarp_rx_parked(e))
		kwarp_rx_unpark(e);
	if (err != KWARP_PERR_NONE)
		rx_fail(e, err);
	return true;
}

/*
 * For a segment that lies in many pieces of memory this costs less than kwarp_rx_feed() for each.
 * Return: octets used; 0 if kwarp_rx_feed() has to process the next octet.
 */
u32 kwarp_rx_feed_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len)
{
	KWARP_DOOR(kwarp_rx_feed_skb, e, skb, offset, len);
	enum kwarp_perr err;

	if (kwarp_rx_halted(e) ||
	    (e->rx.target != KWARP_RXT_TAGGED && e->rx.target != KWARP_RXT_RECEIVE))
		return 0;
	len = kwarp_fpdu_rx_payload(&e->rx.fpdu, len);
	if (!len)
		return 0;
	/* The caller knows that the payload is in several pieces of memory. */
	count_split(e, len);
	err = kwarp_rx_place_skb(e, skb, offset, len);
	if (unlikely(err == KWARP_PERR_MPA_LOST))
		kwarp_engine_lost(e);
	else if (unlikely(err != KWARP_PERR_NONE))
		rx_fail(e, err);
	return len;
}

/*
 * Return: true if there may be something to send: an answer to the peer, a request that waited for
 * the peer's answer or, on a responder, for the first FPDU; or if a graceful close may be complete.
 */
bool kwarp_rx_end_run(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_rx_end_run, e);
	bool kick = e->rx.kick;

	e->stats.s.rx.runs++;
	if (e->rx.mr) {
		kwarp_mr_put(e->rx.mr);
		e->rx.mr = NULL;
	}
	e->rx.region_checked = false;
	e->rx.kick = false;
	return kick;
}

void kwarp_rx_init(struct kwarp_engine *e, bool crc, bool markers)
{
	struct kwarp_rx *rx = &e->rx;
	int i;

	memset(rx, 0, sizeof(*rx));
	kwarp_fpdu_rx_init(&rx->fpdu, crc, markers);
	/* The first MSN is 1 (5041-4.3-13). */
	for (i = 0; i < KWARP_QN_COUNT; i++)
		rx->q[i].msn = 1;
}

/*
 * Is the stream between messages, with no Read or atomic operation of ours outstanding, so that a
 * FIN here cuts off neither a message nor an answer?
 */
static bool between_messages(const struct kwarp_engine *e)
{
	const struct kwarp_rx *rx = &e->rx;

	return kwarp_fpdu_rx_idle(&rx->fpdu) && !rx->want && !rx->stash.have &&
	       !rx->q[KWARP_QN_SEND].open && !rx->tagged_open &&
	       kwarp_readq_empty(&e->oread);
}

/*
 * A FIN that cuts off a message is reported as the loss of the connection. Context: socket lock
 * held; may be called again.
 */
void kwarp_rx_eof(struct kwarp_engine *e, bool reset)
{
	KWARP_DOOR(kwarp_rx_eof, e, reset);
	if (test_and_set_bit(reset ? KWARP_E_RST_SEEN : KWARP_E_FIN_SEEN, &e->flags))
		return;
	/*
	 * After a local error the parser may stand inside a message. That is no loss: our Terminate
	 * is sent before we close.
	 */
	if (reset || (!test_bit(KWARP_E_FAILED, &e->flags) && !between_messages(e)))
		e->ops->event(e, KWARP_QPE_LOST);
	else
		e->ops->event(e, KWARP_QPE_PEER_FIN);
}
