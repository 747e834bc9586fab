// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.17 a program may give the memory of a completion queue. */
#include <rdma/ib_user_ioctl_cmds.h>

const int probe[] = { UVERBS_ATTR_CREATE_CQ_BUFFER_VA, UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH,
		      UVERBS_ATTR_CREATE_CQ_BUFFER_FD, UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET };
