// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.12 the last argument of reg_user_mr_dmabuf() is the uverbs attribute bundle. */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct ib_dmah;

static struct ib_mr *reg(struct ib_pd *pd, u64 offset, u64 length, u64 virt_addr, int fd,
			 int access, struct uverbs_attr_bundle *attrs)
{
	return NULL;
}

static struct ib_mr *reg_dmah(struct ib_pd *pd, u64 offset, u64 length, u64 virt_addr, int fd,
			      int access, struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs)
{
	return NULL;
}

typedef typeof(((struct ib_device_ops *)NULL)->reg_user_mr_dmabuf) member;

static_assert(__builtin_types_compatible_p(member, typeof(&reg)) ||
	      __builtin_types_compatible_p(member, typeof(&reg_dmah)));
const void *const probe[] = { reg, reg_dmah };
