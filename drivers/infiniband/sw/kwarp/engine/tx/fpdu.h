/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_FPDU_H
#define KWARP_ENGINE_TX_FPDU_H

#include "../types.h"

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

void kwarp_tx_end_fpdu(const struct kwarp_tx *tx, u8 *fpdu, u32 len, u32 pad);
bool kwarp_tx_build(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_FPDU_H */
