// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues.
 */
#include "../kwarp.h"
#include "../qp/qp.h"
#include "udata.h"
#include "verbs.h"

static int give_ring(struct kwarp_srq *srq, struct ib_udata *udata)
{
	struct kwarp_create_srq_resp resp = {
		.mmap_len = srq->rq.ring.len,
		.size = kwarp_ring_size(&srq->rq.ring),
		.stride = srq->rq.ring.stride,
	};
	u64 key;

	srq->map = kwarp_mmap_insert(kwarp_udata_context(udata), &srq->rq.ring, &key);
	if (!srq->map)
		return -ENOMEM;
	resp.mmap_key = key;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

int kwarp_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct kwarp_dev *kdev = to_kdev(ibsrq->device);
	struct kwarp_srq *srq = to_ksrq(ibsrq);
	struct ib_srq_attr *attr = &init->attr;
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (ret)
		return ret;
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > KWARP_MAX_SRQ_WR ||
	    attr->max_sge > KWARP_MAX_SGE)
		return -EINVAL;
	if (atomic_inc_return(&kdev->num_srq) > KWARP_MAX_SRQ) {
		ret = -ENOMEM;
		goto out_count;
	}
	attr->max_sge = max(attr->max_sge, 1U);
	srq->rq.user = udata;
	ret = kwarp_rq_init(&srq->rq, attr->max_wr, kwarp_rqe_stride(attr->max_sge));
	if (ret)
		goto out_count;
	attr->max_wr = kwarp_ring_size(&srq->rq.ring);
	srq->rq.max_wr = attr->max_wr;
	srq->rq.max_sge = attr->max_sge;
	srq->rq.limit = 0;
	kwarp_mem_stream_init(&srq->mem);
	srq->mem.pd = ibsrq->pd;
	if (udata) {
		ret = give_ring(srq, udata);
		if (ret)
			goto out_ring;
	}
	return 0;

out_ring:
	kwarp_ring_release_map(&srq->rq.ring, srq->map);
out_count:
	atomic_dec(&kdev->num_srq);
	return ret;
}

int kwarp_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct kwarp_rq *rq = &to_ksrq(ibsrq)->rq;
	int ret = kwarp_udata_none(udata);

	if (ret)
		return ret;
	/* Resizing is optional for a provider, and not offered. */
	if (mask & IB_SRQ_MAX_WR)
		return -EOPNOTSUPP;
	if (mask & IB_SRQ_LIMIT) {
		if (attr->srq_limit > rq->max_wr)
			return -EINVAL;
		spin_lock_bh(&rq->lock);
		rq->limit = attr->srq_limit;
		spin_unlock_bh(&rq->lock);
	}
	return 0;
}

int kwarp_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	const struct kwarp_rq *rq = &to_ksrq(ibsrq)->rq;

	attr->max_wr = rq->max_wr;
	attr->max_sge = rq->max_sge;
	attr->srq_limit = READ_ONCE(rq->limit);
	return 0;
}

int kwarp_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct kwarp_srq *srq = to_ksrq(ibsrq);

	kwarp_ring_release_map(&srq->rq.ring, srq->map);
	atomic_dec(&to_kdev(ibsrq->device)->num_srq);
	return 0;
}

/* Context: any. */
int kwarp_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	struct kwarp_rq *rq = &to_ksrq(ibsrq)->rq;

	/* A program's receives are in its ring. */
	if (rq->user) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	return kwarp_rq_post(rq, wr, bad);
}
