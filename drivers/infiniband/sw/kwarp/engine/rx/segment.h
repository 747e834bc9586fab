/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_SEGMENT_H
#define KWARP_ENGINE_RX_SEGMENT_H

#include "../types.h"

void kwarp_rx_init(struct kwarp_engine *e, bool crc, bool markers);
void kwarp_rx_eof(struct kwarp_engine *e, bool reset);
size_t kwarp_rx_feed(struct kwarp_engine *e, const u8 *data, size_t len);
bool kwarp_rx_retry(struct kwarp_engine *e);
u32 kwarp_rx_feed_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len);
bool kwarp_rx_end_run(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_RX_SEGMENT_H */
