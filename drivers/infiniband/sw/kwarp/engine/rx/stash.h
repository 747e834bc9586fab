/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_STASH_H
#define KWARP_ENGINE_RX_STASH_H

#include "../types.h"

bool kwarp_rx_make_stash(struct kwarp_engine *e);
void kwarp_rx_free_stash(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_RX_STASH_H */
