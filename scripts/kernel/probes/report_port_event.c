// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.13 the core makes port events, or the driver does so by report_port_event(). */
#include <rdma/ib_verbs.h>

size_t probe(const struct ib_device_ops *ops);
size_t probe(const struct ib_device_ops *ops)
{
	return sizeof(ops->report_port_event);
}
