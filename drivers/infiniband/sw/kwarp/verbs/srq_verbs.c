// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues */
#include "../kwarp.h"
#include "../qp/qp.h"
#include "personality.h"
#include "udata.h"
#include "verbs.h"

static struct rdma_user_mmap_entry *offer_srq_ring(struct kwarp_ring *ring,
						   struct ib_udata *udata,
						   struct kwarp_create_srq_resp *resp)
{
	*resp = (struct kwarp_create_srq_resp){
		.mmap_len = ring->len,
		.size = kwarp_ring_size(ring),
		.stride = ring->stride,
	};
	return kwarp_mmap_ring(kwarp_udata_context(udata), ring, &resp->mmap_key);
}

static int give_srq_ring(struct kwarp_srq *srq, struct ib_udata *udata)
{
	struct kwarp_create_srq_resp resp;

	srq->map = offer_srq_ring(&srq->rq.ring, udata, &resp);
	if (!srq->map)
		return -ENOMEM;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

static void release_srq_rings(struct kwarp_srq *srq)
{
	kwarp_release_foreign(to_kdev(srq->ibsrq.device), &srq->rq.foreign, &srq->map);
	kwarp_ring_free(&srq->rq.ring, srq->map);
}

int kwarp_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct kwarp_dev *kdev = to_kdev(ibsrq->device);
	const struct kwarp_personality *p = kwarp_personality_of(kdev, udata);
	const u32 max_sge = p ? p->max_sge : KWARP_MAX_SGE;
	struct kwarp_srq *srq = to_ksrq(ibsrq);
	struct ib_srq_attr *attr = &init->attr;
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (!ret)
		ret = kwarp_udata_fault(KWARP_FAULT_CREATE, ibsrq->device, udata);
	if (ret)
		return ret;
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > KWARP_MAX_SRQ_WR || attr->max_sge > max_sge)
		return -EINVAL;
	ret = kwarp_charge_object(&srq->charge, udata, sizeof(*srq), &kdev->num_srq, KWARP_MAX_SRQ);
	if (ret)
		return ret;
	srq->rq.ring.charge.account = srq->charge.account;
	attr->max_sge = max(attr->max_sge, 1U);
	srq->rq.user = udata;
	ret = kwarp_rq_init(&srq->rq, attr->max_wr,
			    kwarp_rqe_stride(p ? p->max_sge : attr->max_sge));
	if (ret)
		goto out_count;
	attr->max_wr = kwarp_ring_size(&srq->rq.ring);
	srq->rq.max_sge = attr->max_sge;
	mutex_init(&srq->resize);
	kwarp_mem_stream_init(&srq->mem);
	srq->mem.pd = ibsrq->pd;
	if (udata) {
		ret = p ? p->give_srq(srq, udata) : give_srq_ring(srq, udata);
		if (ret)
			goto out_ring;
	}
	return 0;

out_ring:
	release_srq_rings(srq);
out_count:
	kwarp_uncharge_object(&srq->charge, &kdev->num_srq);
	return ret;
}

/*
 * Replace the ring of an SRQ by @ring, which this function frees on failure.  The answer is
 * written before anything changes: if user space's buffer is bad, the SRQ is as it was.
 */
static int replace_srq_ring(struct kwarp_srq *srq, struct kwarp_ring *ring, const u32 *limit,
			    struct ib_udata *udata, void __user *answer)
{
	struct kwarp_create_srq_resp resp;
	struct rdma_user_mmap_entry *map;
	int ret = 0;

	lockdep_assert_held(&srq->resize);
	map = offer_srq_ring(ring, udata, &resp);
	if (!map) {
		kwarp_ring_fini(ring);
		return -ENOMEM;
	}
	if (copy_to_user(answer, &resp, sizeof(resp)))
		ret = -EFAULT;
	if (!ret)
		ret = kwarp_rq_replace(&srq->rq, ring, limit);
	if (!ret)
		swap(srq->map, map);
	/* Free the unused ring with its mmap entry: the old ring, or on failure the new one. */
	kwarp_ring_free(ring, map);
	return ret;
}

/*
 * During a resize nobody may post to the old ring. A program has to keep that rule (see struct
 * kwarp_modify_srq_req). A kernel consumer may post at any time, so its SRQ cannot be resized, and
 * neither can one with a foreign ring.
 */
static int resize_srq(struct kwarp_srq *srq, u32 max_wr, const u32 *limit,
		      struct ib_udata *udata)
{
	struct kwarp_modify_srq_req req;
	struct kwarp_ring ring = { .charge.account = srq->charge.account };
	int ret;

	lockdep_assert_held(&srq->resize);
	ret = kwarp_udata_request(udata, &req, sizeof(req));
	if (ret)
		return ret;
	if (!srq->rq.user || srq->rq.foreign || !req.answer)
		return -EOPNOTSUPP;
	if (!max_wr || max_wr > KWARP_MAX_SRQ_WR)
		return -EINVAL;
	ret = kwarp_ring_init(&ring, max_wr, srq->rq.ring.stride, true);
	if (ret)
		return ret;
	return replace_srq_ring(srq, &ring, limit, udata, u64_to_user_ptr(req.answer));
}

static int set_srq_limit(struct kwarp_rq *rq, u32 limit)
{
	if (limit > kwarp_rq_size(rq))
		return -EINVAL;
	spin_lock_bh(&rq->lock);
	rq->limit = limit;
	spin_unlock_bh(&rq->lock);
	return 0;
}

/* The core holds only a read lock on the SRQ, so two threads may call this at the same time. */
int kwarp_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct kwarp_srq *srq = to_ksrq(ibsrq);
	const u32 *limit = mask & IB_SRQ_LIMIT ? &attr->srq_limit : NULL;
	int ret;

	if (mask & ~(IB_SRQ_LIMIT | IB_SRQ_MAX_WR))
		return -EINVAL;
	mutex_lock(&srq->resize);
	if (mask & IB_SRQ_MAX_WR) {
		ret = resize_srq(srq, attr->max_wr, limit, udata);
	} else {
		ret = kwarp_udata_none(udata);
		if (!ret && limit)
			ret = set_srq_limit(&srq->rq, *limit);
	}
	mutex_unlock(&srq->resize);
	return ret;
}

int kwarp_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	const struct kwarp_rq *rq = &to_ksrq(ibsrq)->rq;

	/* READ_ONCE: kwarp_modify_srq() may run at the same time. */
	attr->max_wr = kwarp_rq_size(rq);
	attr->max_sge = rq->max_sge;
	attr->srq_limit = READ_ONCE(rq->limit);
	return 0;
}

int kwarp_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct kwarp_srq *srq = to_ksrq(ibsrq);

	release_srq_rings(srq);
	kwarp_uncharge_object(&srq->charge, &to_kdev(ibsrq->device)->num_srq);
	return 0;
}

int kwarp_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	struct kwarp_rq *rq = &to_ksrq(ibsrq)->rq;
	int ret;

	*bad = wr;
	/* Programs post to their shared ring, never through this verb. */
	if (rq->user)
		return -EOPNOTSUPP;
	ret = kwarp_fault(KWARP_FAULT_POST, ibsrq->device, 0, NULL);
	if (ret)
		return -ret;
	return kwarp_rq_post(rq, wr, bad);
}
