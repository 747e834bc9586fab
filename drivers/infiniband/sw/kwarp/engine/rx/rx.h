/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of the receive side and sock.c call of each other. */
#ifndef KWARP_ENGINE_RX_RX_H
#define KWARP_ENGINE_RX_RX_H

#include "../types.h"

void kwarp_rx_init(struct kwarp_engine *e, bool crc, bool markers);
void kwarp_rx_eof(struct kwarp_engine *e, bool reset);
size_t kwarp_rx_feed(struct kwarp_engine *e, const u8 *data, size_t len);
bool kwarp_rx_retry(struct kwarp_engine *e);
u32 kwarp_rx_feed_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len);
bool kwarp_rx_end_run(struct kwarp_engine *e);

bool kwarp_rx_resume(struct kwarp_engine *e);
int kwarp_rx_skb(struct kwarp_engine *e, const struct sk_buff_head *queue,
		 struct sk_buff *skb, u32 offset, u32 len, u32 there);

bool kwarp_rx_make_stash(struct kwarp_engine *e);
void kwarp_rx_free_stash(struct kwarp_engine *e);

size_t kwarp_rx_accept_series(struct kwarp_engine *e, const u8 *data, size_t len);

enum kwarp_perr kwarp_rx_place(struct kwarp_engine *e, const u8 *data, u32 len);
enum kwarp_perr kwarp_rx_place_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset,
				   u32 len);
enum kwarp_mem_err kwarp_rx_put(struct kwarp_engine *e, u32 stag, u64 addr, const void *data,
				u32 len);
enum kwarp_mem_err kwarp_rx_check_target(struct kwarp_engine *e, u64 addr, int rights);
struct kwarp_mr *kwarp_rx_mr(struct kwarp_engine *e, u32 stag);

enum kwarp_perr kwarp_rx_open(struct kwarp_engine *e);
void kwarp_rx_complete(struct kwarp_engine *e, enum kwarp_wc_status status, u32 len);
void kwarp_rx_flush(struct kwarp_engine *e);

bool kwarp_rx_park(struct kwarp_engine *e);
void kwarp_rx_unpark(struct kwarp_engine *e);

enum kwarp_perr kwarp_rx_answered(struct kwarp_engine *e);
enum kwarp_perr kwarp_rx_begin_atomic(struct kwarp_engine *e);
enum kwarp_perr kwarp_rx_end_atomic(struct kwarp_engine *e);
void kwarp_rx_blame(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_RX_RX_H */
