/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_CONTROL_H
#define KWARP_ENGINE_TX_CONTROL_H

#include "../types.h"

bool kwarp_tx_pick_term(struct kwarp_engine *e);
bool kwarp_tx_pick_rtr(struct kwarp_engine *e);
bool kwarp_tx_pick_announcement(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_CONTROL_H */
