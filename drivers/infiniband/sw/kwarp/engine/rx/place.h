/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_PLACE_H
#define KWARP_ENGINE_RX_PLACE_H

#include "../types.h"

enum kwarp_perr kwarp_rx_place(struct kwarp_engine *e, const u8 *data, u32 len);
enum kwarp_perr kwarp_rx_place_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset,
				   u32 len);
enum kwarp_mem_err kwarp_rx_put(struct kwarp_engine *e, u32 stag, u64 addr, const void *data,
				u32 len);
enum kwarp_mem_err kwarp_rx_check_target(struct kwarp_engine *e, u64 addr, int rights);
struct kwarp_mr *kwarp_rx_mr(struct kwarp_engine *e, u32 stag);

#endif /* KWARP_ENGINE_RX_PLACE_H */
