// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 7.1 a driver can have create_user_cq() besides create_cq(). */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

static int create(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs)
{
	return 0;
}

const struct ib_device_ops probe = { .create_user_cq = create };
