/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_ANSWER_H
#define KWARP_ENGINE_RX_ANSWER_H

#include "../types.h"

enum kwarp_perr kwarp_rx_answered(struct kwarp_engine *e);
enum kwarp_perr kwarp_rx_begin_atomic(struct kwarp_engine *e);
enum kwarp_perr kwarp_rx_end_atomic(struct kwarp_engine *e);
void kwarp_rx_blame(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_RX_ANSWER_H */
