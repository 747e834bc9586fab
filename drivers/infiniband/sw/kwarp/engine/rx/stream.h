/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_STREAM_H
#define KWARP_ENGINE_RX_STREAM_H

#include "../types.h"

void kwarp_rx_init(struct kwarp_engine *e, bool crc, bool markers);
void kwarp_rx_hear(struct kwarp_engine *e);
void kwarp_rx_eof(struct kwarp_engine *e, bool reset);

#endif /* KWARP_ENGINE_RX_STREAM_H */
