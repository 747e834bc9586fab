// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How a stream fails: the first error is latched, and is the one that is reported.
 *
 * Context: any, in the whole file.
 */
#include "fail.h"

#include "../kwarp.h"
#include "../trace.h"

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
	if (!latch(e, KWARP_PERR_MPA_LOST))
		return;
	trace_kwarp_error(e->ibqp, kwarp_perr_name(KWARP_PERR_MPA_LOST),
			  kwarp_perr_short(KWARP_PERR_MPA_LOST));
	e->ops->event(e, KWARP_QPE_LOST);
}

/**
 * kwarp_engine_fail - latch a protocol error; the first one wins
 * @e: engine
 * @perr: the error
 * @raw: DDP header of the segment in error, or NULL
 * @seg_len: its ULPDU length
 * @rreq: its Read Request header, or NULL
 *
 * Context: any.
 */
void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	if (!latch(e, perr))
		return;
	atomic_long_inc(&e->kdev->stats.errors[perr]);
	trace_kwarp_error(e->ibqp, kwarp_perr_name(perr), kwarp_perr_short(perr));
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

/* What to say about the target of a tagged segment (RFC 5041 section 7.1). */
enum kwarp_perr kwarp_tagged_perr(enum kwarp_mem_err err)
{
	switch (err) {
	case KWARP_MEM_OK:	return KWARP_PERR_NONE;
	case KWARP_MEM_STREAM:	return KWARP_PERR_DDP_T_STREAM;
	case KWARP_MEM_WRAP:	return KWARP_PERR_DDP_T_WRAP;
	case KWARP_MEM_BOUNDS:	return KWARP_PERR_DDP_T_BOUNDS;
	/* DDP has no code for a missing right: the STag allows no placement. */
	default:		return KWARP_PERR_DDP_T_STAG;
	}
}

/* What to say about the source of a Read (RFC 5040 7.2 item 4), or an atomic operation's target. */
enum kwarp_perr kwarp_read_perr(enum kwarp_mem_err err)
{
	switch (err) {
	case KWARP_MEM_OK:	return KWARP_PERR_NONE;
	case KWARP_MEM_STAG:	return KWARP_PERR_R_STAG;
	case KWARP_MEM_STREAM:	return KWARP_PERR_R_STREAM;
	case KWARP_MEM_ACCESS:	return KWARP_PERR_R_ACCESS;
	case KWARP_MEM_WRAP:	return KWARP_PERR_R_WRAP;
	default:		return KWARP_PERR_R_BOUNDS;
	}
}
