// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Linux 6.12 has ib_mark_name_assigned_by_user(), perhaps also earlier kernels. */
#include <rdma/ib_verbs.h>

void probe(struct ib_device *ibdev);
void probe(struct ib_device *ibdev)
{
	ib_mark_name_assigned_by_user(ibdev);
}
