// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 7.0 counter_bind_qp() takes a port, and counter_init() makes the driver's part. */
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

static int bind(struct rdma_counter *counter, struct ib_qp *qp, u32 port)
{
	return 0;
}

static void init(struct rdma_counter *counter)
{
}

const struct ib_device_ops probe = { .counter_bind_qp = bind, .counter_init = init };
