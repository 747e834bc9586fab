// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.17 reg_user_mr() and reg_user_mr_dmabuf() take a DMA handle. */
#include <rdma/ib_verbs.h>

static struct ib_mr *reg(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
			 int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	return NULL;
}

const struct ib_device_ops probe = { .reg_user_mr = reg };
