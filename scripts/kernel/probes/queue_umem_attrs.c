// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 7.2 a program may give the memory of a queue pair, and that of a CQ as a umem. */
#include <rdma/ib_user_ioctl_cmds.h>

const int probe[] = { UVERBS_ATTR_CREATE_CQ_BUF_UMEM, UVERBS_ATTR_CREATE_QP_BUF_UMEM,
		      UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM, UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM };
