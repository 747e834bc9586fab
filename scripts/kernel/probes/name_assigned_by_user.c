// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* by 6.12: ib_mark_name_assigned_by_user() */
#include <rdma/ib_verbs.h>

void probe(struct ib_device *ibdev);
void probe(struct ib_device *ibdev)
{
	ib_mark_name_assigned_by_user(ibdev);
}
