/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_RECEIVE_H
#define KWARP_ENGINE_RX_RECEIVE_H

#include "../types.h"

enum kwarp_perr kwarp_rx_open(struct kwarp_engine *e);
void kwarp_rx_complete(struct kwarp_engine *e, enum kwarp_wc_status status, u32 len);
void kwarp_rx_flush(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_RX_RECEIVE_H */
