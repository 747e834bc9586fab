/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What makes a batch: the transmit step, the choice of messages, and FPDUs. */
#ifndef KWARP_ENGINE_TX_TX_H
#define KWARP_ENGINE_TX_TX_H

#include "../types.h"

enum kwarp_tx_result {
	KWARP_TX_IDLE,		/* nothing to send until a new request or event */
	KWARP_TX_MORE,		/* there may be more to send */
	KWARP_TX_BLOCKED,	/* TCP is full; its write_space callback makes us send again */
	KWARP_TX_NO_MEMORY,	/* no memory: try again later */
	KWARP_TX_STALLED,	/* a fault lets nothing be sent: likewise */
};

/* @len more octets of the current element are in FPDUs. */
static inline void kwarp_tx_pass_sge(struct kwarp_tx *tx, u32 len)
{
	struct kwarp_tx_msg *m = &tx->msg;

	m->sge_off += len;
	if (m->sge_off == tx->wqe.sge[m->sge].length) {
		m->sge++;
		m->sge_off = 0;
	}
}

enum kwarp_tx_result kwarp_tx_step(struct kwarp_engine *e);

bool kwarp_tx_pick(struct kwarp_engine *e);
void kwarp_tx_message_built(struct kwarp_engine *e);
bool kwarp_tx_drained(const struct kwarp_engine *e);
bool kwarp_tx_flush_late(struct kwarp_engine *e);

void kwarp_tx_end_fpdu(const struct kwarp_tx *tx, u8 *fpdu, u32 len, u32 pad);
bool kwarp_tx_build(struct kwarp_engine *e);

bool kwarp_tx_build_series(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_TX_H */
