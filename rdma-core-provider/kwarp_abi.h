/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: types for the uverbs commands that carry data between this provider and the kernel driver.
 *
 * The layouts are defined in rdma/kwarp-abi.h; rdma-core's build generates kernel-abi/kwarp-abi.h
 * from that header.
 */
#ifndef KWARP_PROVIDER_ABI_H
#define KWARP_PROVIDER_ABI_H

#include <infiniband/kern-abi.h>
#include <rdma/kwarp-abi.h>
#include <kernel-abi/kwarp-abi.h>

DECLARE_DRV_CMD(kwarp_cmd_alloc_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		kwarp_alloc_ucontext_req, kwarp_alloc_ucontext_resp);
DECLARE_DRV_CMD(kwarp_cmd_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ,
		kwarp_create_cq_req, kwarp_create_cq_resp);
DECLARE_DRV_CMD(kwarp_cmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		empty, kwarp_create_cq_resp);
DECLARE_DRV_CMD(kwarp_cmd_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		empty, kwarp_create_qp_resp);
DECLARE_DRV_CMD(kwarp_cmd_create_srq, IB_USER_VERBS_CMD_CREATE_SRQ,
		empty, kwarp_create_srq_resp);
DECLARE_DRV_CMD(kwarp_cmd_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		kwarp_modify_srq_req, empty);

#endif /* KWARP_PROVIDER_ABI_H */
