// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.12 a driver can add its details of SRQs, too: fill_res_srq_entry(). */
#include <rdma/ib_verbs.h>

static int fill(struct sk_buff *msg, struct ib_srq *srq)
{
	return 0;
}

const struct ib_device_ops probe = { .fill_res_srq_entry = fill };
