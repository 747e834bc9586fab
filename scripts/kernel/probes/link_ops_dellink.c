// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Linux 7.2 has rdma_link_ops.dellink and ib_device.link_ops, perhaps also earlier kernels. */
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

int probe(struct ib_device *ibdev);
int probe(struct ib_device *ibdev)
{
	return ibdev->link_ops->dellink(ibdev);
}
