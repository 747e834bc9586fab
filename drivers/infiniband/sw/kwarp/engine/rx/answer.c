// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ends our Reads and atomic operations: the oldest has been answered, or the peer's Terminate names
 * one. Context of all functions: socket lock held.
 */
#include "rx.h"

#include "../fail.h"

/* KWARP_PERR_LOCAL: a completion was lost because the CQ was full. */
enum kwarp_perr kwarp_rx_answered(struct kwarp_engine *e)
{
	const struct kwarp_oread done = *kwarp_oread_head(&e->oread);

	kwarp_readq_pop(&e->oread);
	if (done.invalidate)
		kwarp_mr_revoke(kwarp_rx_mr(e, done.stag), done.stag, &e->mem, false);
	if (!done.rtr && kwarp_sq_answered(e->sq, done.sq_index))
		e->rx.kick = true;
	/*
	 * Pairs with sq_must_wait() of tx/pick.c: either sq_must_wait() sees the free place in the
	 * queue of outstanding requests, or this function sees KWARP_E_TX_WAIT_READ, which
	 * sq_must_wait() has set.
	 */
	smp_mb();
	if (test_bit(KWARP_E_TX_WAIT_READ, &e->flags) ||
	    test_bit(KWARP_E_TX_DRAIN, &e->flags))
		e->rx.kick = true;
	if (likely(!READ_ONCE(e->sq->cq->overflow)))
		return KWARP_PERR_NONE;
	return kwarp_refuse_local(e, KWARP_WHY_CQ);
}

/*
 * Answers come in the order of the requests (7306-5.2.2-8, 7306-7-9). So if the oldest outstanding
 * request is not an atomic operation, this response is an error.
 */
enum kwarp_perr kwarp_rx_begin_atomic(struct kwarp_engine *e)
{
	if (kwarp_readq_empty(&e->oread) || !kwarp_oread_head(&e->oread)->atomic)
		return KWARP_PERR_DDP_U_NOBUF;
	e->rx.target = KWARP_RXT_SMALL;
	return KWARP_PERR_NONE;
}

/* The value is stored in the byte order of this machine. */
enum kwarp_perr kwarp_rx_end_atomic(struct kwarp_engine *e)
{
	const struct kwarp_oread *r = kwarp_oread_head(&e->oread);
	struct kwarp_atomic_resp resp;

	kwarp_atomic_resp_decode(e->rx.small, &resp);
	if (resp.id != r->msn)			/* it names another request (7306-5.2.2-7) */
		return KWARP_PERR_O_STREAM;
	if (kwarp_rx_put(e, r->stag, r->to, &resp.value, sizeof(resp.value)) != KWARP_MEM_OK) {
		kwarp_sq_failed(e->sq, r->sq_index, KWARP_WC_LOC_PROT_ERR, kwarp_engine_cause(e));
		return KWARP_PERR_LOCAL;
	}
	return kwarp_rx_answered(e);
}

/* The request whose DDP header the Terminate returns, or NULL */
static struct kwarp_oread *named_request(struct kwarp_engine *e)
{
	struct kwarp_ddp_hdr hdr = { .tagged = true };

	if (e->peer_term.has_ddp)
		kwarp_ddp_decode(e->peer_term.ddp_hdr, &hdr);
	if (hdr.tagged || hdr.qn != KWARP_QN_RREQ)
		return NULL;
	return kwarp_oread_find(&e->oread, hdr.msn);
}

/*
 * Which request is the peer's Terminate about? Usually the one whose DDP header it returns. But
 * some peers' Terminate has an arbitrary MSN. So if the Terminate also returns a Read Request
 * header, and no Read with the returned MSN and sink STag is outstanding, assume the oldest
 * request. The sink offset is not compared: the peer may have advanced it (RFC 5040 section 4.8).
 */
static struct kwarp_oread *blamed_request(struct kwarp_engine *e)
{
	const struct kwarp_term *term = &e->peer_term;
	struct kwarp_oread *r;
	struct kwarp_rreq req;

	if (kwarp_readq_empty(&e->oread))
		return NULL;
	r = named_request(e);
	if (term->has_rdmap) {
		kwarp_rreq_decode(term->rreq, &req);
		if (!r || r->atomic || r->stag != req.sink_stag)
			r = kwarp_oread_head(&e->oread);
	}
	return r && !r->rtr ? r : NULL;
}

/*
 * The request completes with an access error after RDMAP's remote protection errors (type 1) and
 * after every Terminate with a Read Request header, else with an operation error. Remote operation
 * errors (type 2) and errors of DDP have no such header (RFC 5040 Figure 10).
 */
void kwarp_rx_blame(struct kwarp_engine *e)
{
	const struct kwarp_term *term = &e->peer_term;
	const bool access = term->has_rdmap || (term->layer == 0 && term->etype == 1);
	const struct kwarp_oread *r = blamed_request(e);

	if (r)
		kwarp_sq_failed(e->sq, r->sq_index,
				access ? KWARP_WC_REM_ACCESS_ERR : KWARP_WC_REM_OP_ERR,
				kwarp_term_short(term));
}
