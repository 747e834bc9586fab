// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Starts messages that no posted request asks for: the Terminate, the RTR ("ready to receive") and
 * the announcement. Context of all functions: the runner, the one context that may send for the
 * stream at a time (run.c).
 *
 * Numbers like 6581-5-2 are requirements in Documentation/conformance.
 */
#include "control.h"

#include "../../kwarp.h"
#include "../../proto/announce.h"
#include "../../proto/mpa_neg.h"
#include "../../trace.h"
#include "message.h"

bool kwarp_tx_pick_term(struct kwarp_engine *e)
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
	kwarp_tx_start_untagged(tx, KWARP_OP_TERM, KWARP_QN_TERM, 0);
	kwarp_tx_source_buf(tx, tx->small, kwarp_term_encode(tx->small, &e->term));
	return true;
}

/* Start a zero-length Write, which is the announcement if one is due (proto/announce.h). */
static void start_empty_write(struct kwarp_engine *e)
{
	bool due = test_and_clear_bit(KWARP_E_TX_ANNOUNCE, &e->flags);

	kwarp_tx_start_tagged(&e->tx, KWARP_OP_WRITE, KWARP_ANNOUNCE_STAG,
			      due ? KWARP_ANNOUNCE_TO | KWARP_ANNOUNCE_LONG : 0);
	kwarp_tx_source_buf(&e->tx, e->tx.small, 0);
}

/* Start the initiator's "ready to receive" message, sent before all others (6581-5-2). */
bool kwarp_tx_pick_rtr(struct kwarp_engine *e)
{
	const struct kwarp_rreq none = {
		.sink_stag = KWARP_TX_NO_STAG,
		.src_stag = KWARP_TX_NO_STAG,
	};
	struct kwarp_tx *tx = &e->tx;

	tx->msg.kind = KWARP_TXK_RTR;
	switch (tx->rtr) {
	case KWARP_RTR_SEND:
		kwarp_tx_start_untagged(tx, KWARP_OP_SEND, KWARP_QN_SEND, 0);
		kwarp_tx_source_buf(tx, tx->small, 0);
		break;
	case KWARP_RTR_READ:
		kwarp_tx_push_read(e, 0, true, false, &none);
		break;
	default:
		start_empty_write(e);
		break;
	}
	tx->rtr = 0;
	return true;
}

/* Start the announcement, if the RTR was none. */
bool kwarp_tx_pick_announcement(struct kwarp_engine *e)
{
	e->tx.msg.kind = KWARP_TXK_ANNOUNCE;
	start_empty_write(e);
	return true;
}
