/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_PICK_H
#define KWARP_ENGINE_TX_PICK_H

#include "../types.h"

bool kwarp_tx_pick(struct kwarp_engine *e);
void kwarp_tx_message_built(struct kwarp_engine *e);
bool kwarp_tx_drained(const struct kwarp_engine *e);
bool kwarp_tx_flush_late(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_PICK_H */
