/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Named counters of a device, and of queue pairs that are bound to a counter of the RDMA core. */
#ifndef KWARP_STATS_H
#define KWARP_STATS_H

#include "counts.h"

struct kwarp_dev;
struct rdma_stat_desc;

void kwarp_stats_init(struct kwarp_stats *stats);
u32 kwarp_stats_fill(struct kwarp_dev *kdev, u64 *values);
void kwarp_stats_total(struct kwarp_dev *kdev, struct kwarp_stream_stats *sum);
const struct rdma_stat_desc *kwarp_stats_names(void);
u32 kwarp_stats_count(void);
u32 kwarp_stats_stream_count(void);

void kwarp_stats_add(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream);
void kwarp_stats_remove(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream);
int kwarp_stats_bind(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream,
		     struct rdma_counter *counter);
void kwarp_stats_unbind(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream);
void kwarp_stats_fill_bound(struct kwarp_dev *kdev, struct rdma_counter *counter);

#endif /* KWARP_STATS_H */
