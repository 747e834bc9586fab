/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Receive side: a message waits for a receive. */
#ifndef KWARP_ENGINE_RX_PARK_H
#define KWARP_ENGINE_RX_PARK_H

#include "../types.h"

bool kwarp_rx_park(struct kwarp_engine *e);
void kwarp_rx_unpark(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_RX_PARK_H */
