/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_SKB_H
#define KWARP_ENGINE_RX_SKB_H

#include "../types.h"

struct sk_buff;
struct sk_buff_head;

bool kwarp_rx_resume(struct kwarp_engine *e);
int kwarp_rx_skb(struct kwarp_engine *e, const struct sk_buff_head *queue,
		 struct sk_buff *skb, u32 offset, u32 len, u32 there);

#endif /* KWARP_ENGINE_RX_SKB_H */
