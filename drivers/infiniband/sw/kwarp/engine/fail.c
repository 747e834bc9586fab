// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How a stream fails: the first error is latched, that is, recorded in the engine, and reported;
 * later ones are ignored. Context of all functions: any.
 */
#include "fail.h"

#include "../door.h"
#include "../kwarp.h"
#include "../trace.h"

/* True: the stream's first error, the only one to be reported (5040-7.1-7). */
static bool latch_error(struct kwarp_engine *e, enum kwarp_perr perr)
{
	/*
	 * Stop receiving before the error is visible: a context that sees KWARP_E_FAILED may rely
	 * on KWARP_E_RX_STOP.
	 */
	set_bit(KWARP_E_RX_STOP, &e->flags);
	if (test_and_set_bit(KWARP_E_FAILED, &e->flags))
		return false;
	WRITE_ONCE(e->perr, perr);	/* a flush reads it without a lock */
	return true;
}

/* The stream ends without a Terminate. */
void kwarp_engine_lost(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_engine_lost, e);
	if (!latch_error(e, KWARP_PERR_MPA_LOST))
		return;
	trace_kwarp_error(e->ibqp, kwarp_perr_name(KWARP_PERR_MPA_LOST),
			  kwarp_perr_short(KWARP_PERR_MPA_LOST));
	e->ops->event(e, KWARP_QPE_LOST);
}

/* @raw: DDP header of the segment in error; @rreq: its Read Request header; or NULL. */
void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	KWARP_DOOR(kwarp_engine_fail, e, perr, raw, seg_len, rreq);
	if (!latch_error(e, perr))
		return;
	atomic_long_inc(&e->kdev->stats.errors[perr]);
	trace_kwarp_error(e->ibqp, kwarp_perr_name(perr), kwarp_perr_short(perr));
	if (!kwarp_term_wanted(perr)) {
		e->ops->event(e, KWARP_QPE_LOST);
		return;
	}
	kwarp_term_fill(&e->term, perr, raw, seg_len, rreq);
	/*
	 * Write e->term before the flags. kwarp_engine_terminate() sees KWARP_E_TERM_READY and
	 * then sets KWARP_E_TX_TERM; the transmit side sees KWARP_E_TX_TERM and then reads e->term,
	 * in start_terminate().
	 */
	smp_wmb();
	set_bit(KWARP_E_TERM_READY, &e->flags);
	e->ops->event(e, KWARP_QPE_PROTO);
}

/* Error to report about the target of a tagged segment (RFC 5041 section 7.1). */
enum kwarp_perr kwarp_tagged_perr(enum kwarp_mem_err err)
{
	switch (err) {
	case KWARP_MEM_OK:	return KWARP_PERR_NONE;
	case KWARP_MEM_STREAM:	return KWARP_PERR_DDP_T_STREAM;
	case KWARP_MEM_WRAP:	return KWARP_PERR_DDP_T_WRAP;
	case KWARP_MEM_BOUNDS:	return KWARP_PERR_DDP_T_BOUNDS;
	/* DDP has no error code for a missing right. Report an invalid STag. */
	default:		return KWARP_PERR_DDP_T_STAG;
	}
}

/*
 * Error to report about the source of a Read (RFC 5040 7.2 item 4) or the target of an atomic
 * operation.
 */
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
