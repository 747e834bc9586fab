// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Helpers of the test programs: libibverbs.
 */
#include "kwib.h"
#include "kwtest.h"

#include <string.h>

struct ibv_device *kw_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	kw_die(KW_SETUP, "there is no device %s", name);
}

struct ibv_qp_init_attr kw_qp_attr(struct ibv_cq *cq, uint32_t sends, uint32_t recvs,
				   uint32_t sges)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = sends, .max_recv_wr = recvs, .max_send_sge = sges,
			 .max_recv_sge = sges },
	};
}
