// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: creation, modification and destruction of shared receive queues.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "kwarp.h"
#include "say.h"

static int srq_place(struct kwarp_srq *srq, struct ibv_context *ctx,
		     const struct ibv_srq_attr *attr,
		     const struct kwarp_create_srq_resp *resp)
{
	const struct kwarp_wq_layout lay = {
		.at = srq->map.at,
		.len = resp->mmap_len,
		.size = resp->size,
		.stride = resp->stride,
		.max_wr = attr->max_wr,
		.max_sge = attr->max_sge,
		.need = sizeof(struct kwarp_rqe) +
			attr->max_sge * sizeof(struct kwarp_sge),
	};

	return kwarp_wq_place(&srq->wq, ctx, &lay);
}

struct ibv_srq *kwarp_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct kwarp_cmd_create_srq_resp resp = {};
	struct kwarp_cmd_create_srq cmd = {};
	struct kwarp_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq) {
		errno = ENOMEM;
		return NULL;
	}
	kwarp_wq_init(&srq->wq, pd);

	ret = ibv_cmd_create_srq(pd, &srq->ibv_srq, attr, &cmd.ibv_cmd,
				 sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret) {
		kwarp_refused_srq(pd->context, attr, ret);
		goto err_free;
	}

	ret = kwarp_map_memory(&srq->map, pd->context, resp.drv_payload.mmap_key,
			       resp.drv_payload.mmap_len);
	if (!ret)
		ret = srq_place(srq, pd->context, &attr->attr,
				&resp.drv_payload);
	if (ret)
		goto err_destroy;
	kwarp_pd_use(pd);
	return &srq->ibv_srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->ibv_srq);
err_free:
	kwarp_wq_fini(&srq->wq);
	kwarp_unmap_memory(&srq->map);
	free(srq);
	errno = ret;
	return NULL;
}

/*
 * The kernel has moved the posted receives into a new ring: map the new ring instead of the old
 * one. If the mapping fails, the SRQ has no ring, and posts fail from then on, because the kernel
 * uses the new ring already.
 */
static int srq_remap(struct kwarp_srq *srq, const struct kwarp_create_srq_resp *resp)
{
	const struct ibv_srq_attr attr = { .max_wr = resp->size, .max_sge = srq->wq.max_sge };
	int ret;

	kwarp_unmap_memory(&srq->map);
	ret = kwarp_map_memory(&srq->map, srq->ibv_srq.context, resp->mmap_key, resp->mmap_len);
	if (!ret)
		ret = srq_place(srq, srq->ibv_srq.context, &attr, resp);
	if (ret) {
		srq->wq.ring.hdr = NULL;
		srq->wq.ring.max = 0;
	}
	return ret;
}

/* Resize the SRQ while no thread posts. */
static int resize_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct kwarp_create_srq_resp resp = {};
	struct kwarp_cmd_modify_srq cmd = { .answer = (uintptr_t)&resp };
	struct kwarp_srq *srq = to_ksrq(ibsrq);
	int ret;

	kwarp_wq_begin_change(&srq->wq);
	ret = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	if (!ret)
		ret = srq_remap(srq, &resp);
	kwarp_wq_end_change(&srq->wq);
	return ret ? kwarp_refused_modify_srq(ibsrq, attr, mask, ret) : 0;
}

int kwarp_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int mask)
{
	struct ibv_modify_srq cmd = {};
	int ret;

	if (mask & IBV_SRQ_MAX_WR)
		return resize_srq(ibsrq, attr, mask);
	ret = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd, sizeof(cmd));
	return ret ? kwarp_refused_modify_srq(ibsrq, attr, mask, ret) : 0;
}

int kwarp_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int kwarp_destroy_srq(struct ibv_srq *ibsrq)
{
	struct kwarp_srq *srq = to_ksrq(ibsrq);
	int ret;

	ret = ibv_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;

	kwarp_pd_unuse(ibsrq->pd);
	kwarp_wq_fini(&srq->wq);
	kwarp_unmap_memory(&srq->map);
	free(srq);
	return 0;
}
