// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.13: the core turns netdev events into port events, or a driver does it itself */
#include <rdma/ib_verbs.h>

size_t probe(const struct ib_device_ops *ops);
size_t probe(const struct ib_device_ops *ops)
{
	return sizeof(ops->report_port_event);
}
