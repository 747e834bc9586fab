// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 7.1 resize_cq() is named resize_user_cq(). */
#include <rdma/ib_verbs.h>

size_t probe(const struct ib_device_ops *ops);
size_t probe(const struct ib_device_ops *ops)
{
	return sizeof(ops->resize_user_cq);
}
