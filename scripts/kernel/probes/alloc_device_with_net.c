// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Linux 7.2 has ib_alloc_device_with_net(); perhaps some kernels before it have it, too. */
#include <rdma/ib_verbs.h>

struct probed {
	struct ib_device ibdev;
};

struct probed *probe(struct net *net);
struct probed *probe(struct net *net)
{
	return ib_alloc_device_with_net(probed, ibdev, net);
}
