/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_FPDU_H
#define KWARP_ENGINE_TX_FPDU_H

#include "../types.h"

void kwarp_tx_end_fpdu(const struct kwarp_tx *tx, u8 *fpdu, u32 len, u32 pad);
bool kwarp_tx_build(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_FPDU_H */
