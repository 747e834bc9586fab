// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counts for the RDMA core: those of the port, and those of single queue pairs that an
 * administrator has bound to a counter (rdma statistic qp bind).
 *
 * With "rdma statistic qp set auto" the core binds a queue pair to a counter when ib_modify_qp()
 * sets its port on the way to INIT.  Only programs that modify their queue pairs themselves do
 * that; rdma_cm sets no port for iWARP, so no queue pair of rdma_cm is bound automatically.
 */
#include "verbs.h"

#include <rdma/rdma_counter.h>

#include "../qp/types.h"
#include "../stats.h"

struct rdma_hw_stats *kwarp_alloc_port_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(kwarp_stats_names(), kwarp_stats_count(),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int kwarp_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	if (port != 1 || !stats)
		return -EINVAL;
	return kwarp_stats_fill(to_kdev(ibdev), stats->value);
}

/*
 * After the values that the core knows of, kwarp keeps @n more: what the counter has counted for
 * queue pairs that were bound to it and are not bound any more (see left_in() in stats.c). Counts
 * that only the device has, and no queue pair, are disabled.
 */
struct rdma_hw_stats *kwarp_counter_alloc_stats(struct rdma_counter *counter)
{
	const u32 n = kwarp_stats_stream_count(), all = kwarp_stats_count();
	struct rdma_hw_stats *stats = rdma_alloc_hw_stats_struct(kwarp_stats_names(), all + n,
								 RDMA_HW_STATS_DEFAULT_LIFESPAN);
	u32 i;

	if (!stats)
		return NULL;
	stats->num_counters = all;
	for (i = n; i < all; i++)
		set_bit(i, stats->is_disabled);
	return stats;
}

int kwarp_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret = kwarp_stats_bind(qp->kdev, kwarp_engine_stats(&qp->engine), counter);

	if (!ret)
		ibqp->counter = counter;
	return ret;
}

int kwarp_counter_unbind_qp(struct ib_qp *ibqp, u32 port)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	kwarp_stats_unbind(qp->kdev, kwarp_engine_stats(&qp->engine));
	ibqp->counter = NULL;
	return 0;
}

/* ib_device_ops.counter_dealloc: nothing to free, the core owns all memory of a counter. */
int kwarp_counter_dealloc(struct rdma_counter *counter)
{
	return 0;
}

int kwarp_counter_update_stats(struct rdma_counter *counter)
{
	kwarp_stats_fill_bound(to_kdev(counter->device), counter);
	return 0;
}

/*
 * ib_device_ops.counter_init: nothing to initialize, because kwarp does not extend struct
 * rdma_counter.  Kernels before 7.0 have no such operation.
 */
void kwarp_counter_init(struct rdma_counter *counter)
{
}
