/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prepares the first header and the payload of a message. Context of all functions: the runner, the
 * one context that may send for the stream at a time (run.c).
 *
 * Numbers like 7306-5.2-1 are requirements in Documentation/conformance.
 */
#ifndef KWARP_ENGINE_TX_MESSAGE_H
#define KWARP_ENGINE_TX_MESSAGE_H

#include "../types.h"

/*
 * STag for RTR ("ready to receive") messages and zero-length Reads, which access no memory. The
 * STag is not 0, because some hardware treats 0 specially.
 */
#define KWARP_TX_NO_STAG	1

static inline void kwarp_tx_start_untagged(struct kwarp_tx *tx, u8 op, enum kwarp_qn qn,
					   u32 inv_stag)
{
	tx->msg.hdr = (struct kwarp_ddp_hdr) {
		.opcode = op,
		.stag = inv_stag,
		.qn = qn,
		.msn = tx->msn[qn]++,
	};
}

static inline void kwarp_tx_start_tagged(struct kwarp_tx *tx, u8 op, u32 stag, u64 to)
{
	tx->msg.hdr = (struct kwarp_ddp_hdr) {
		.tagged = true,
		.opcode = op,
		.stag = stag,
		.to = to,
	};
}

static inline void kwarp_tx_source_buf(struct kwarp_tx *tx, const u8 *buf, u32 len)
{
	tx->msg.src = KWARP_SRC_BUF;
	tx->msg.buf = buf;
	tx->msg.left = len;
}

/*
 * Start the message of a request that the peer is to answer, and record the request: @r describes
 * the expected answer. Reads and atomic operations share one queue and one MSN count (7306-5.2-1).
 */
static inline void kwarp_tx_push_request(struct kwarp_engine *e, u8 op, const struct kwarp_oread *r)
{
	*kwarp_oread_tail(&e->oread) = *r;
	kwarp_oread_tail(&e->oread)->msn = e->tx.msn[KWARP_QN_RREQ];
	kwarp_readq_push(&e->oread);
	kwarp_tx_start_untagged(&e->tx, op, KWARP_QN_RREQ, 0);
}

static inline void kwarp_tx_push_read(struct kwarp_engine *e, u32 sq_index, bool rtr, bool inv,
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

	kwarp_tx_push_request(e, KWARP_OP_RREQ, &r);
	kwarp_rreq_encode(e->tx.small, req);
	kwarp_tx_source_buf(&e->tx, e->tx.small, KWARP_RDMAP_RREQ_LEN);
}

#endif /* KWARP_ENGINE_TX_MESSAGE_H */
