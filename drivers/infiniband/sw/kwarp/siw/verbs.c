// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Links whose programs use libsiw, siw's provider, which distributions ship: the answers are those
 * of siw's uABI (rdma/siw-abi.h), and the device attributes name only what libsiw can do.
 */
#include "ring.h"

#include <linux/module.h>
#include <rdma/siw-abi.h>

#include "../qp/qp.h"
#include "../verbs/personality.h"
#include "../verbs/udata.h"
#include "../verbs/verbs.h"

/* libsiw takes this key for "nothing to map". */
static_assert(SIW_INVAL_UOBJ_KEY < KWARP_MMAP_FIRST);

/*
 * The core calls this once and keeps the answer (ibdev->attrs), which kernel consumers read and
 * which ibv_query_device() returns to programs.  So the answer names only what programs with libsiw
 * and kernel consumers both have.  A kernel consumer that asks for more gets as much as on a link
 * of type kwarp.
 */
static int siw_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	int ret = kwarp_query_device(ibdev, attr, udata);

	if (ret)
		return ret;
	attr->device_cap_flags &= ~(IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    IB_DEVICE_SRQ_RESIZE);
	attr->max_mw = 0;
	attr->max_send_sge = SIW_MAX_SGE;
	attr->max_recv_sge = SIW_MAX_SGE;
	attr->max_srq_sge = SIW_MAX_SGE;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->timestamp_mask = 0;
	attr->hca_core_clock = 0;
	return 0;
}

static int siw_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	/* The device number in the answer stays 0: libsiw does not use it. */
	struct siw_uresp_alloc_ctx resp = {};
	int ret = kwarp_udata_no_request(udata);

	if (!ret)
		ret = kwarp_ucontext_open(to_kuc(ibuc));
	if (ret)
		return ret;
	ret = kwarp_udata_answer(udata, &resp, sizeof(resp));
	/*
	 * The core does not keep this module loaded while programs have the device open.  Programs
	 * with kwarp's own provider keep it loaded by their doorbell file; libsiw opens none, so
	 * its context takes a reference on the module.
	 */
	if (!ret && !try_module_get(THIS_MODULE))
		ret = -ENODEV;
	if (ret)
		kwarp_ucontext_close(to_kuc(ibuc));
	return ret;
}

/*
 * Dropping the module reference here is safe: the core calls this while the device exists, and the
 * module cannot be unloaded before the device has gone.
 */
static void siw_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	kwarp_ucontext_close(to_kuc(ibuc));
	module_put(THIS_MODULE);
}

/*
 * libsiw rings its doorbell by the core's command POST_SEND with an empty list of requests. Context
 * of that: process.
 */
static int siw_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	if (!qp->sq.user || wr)
		return kwarp_post_send(ibqp, wr, bad);
	kwarp_engine_posted_send(&qp->engine, true);
	return 0;
}

static const struct ib_device_ops siw_ops = {
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = SIW_ABI_VERSION,
	.query_device = siw_query_device,
	.alloc_ucontext = siw_alloc_ucontext,
	.dealloc_ucontext = siw_dealloc_ucontext,
	.post_send = siw_post_send,
};

/* @r: NULL: there was no memory for it. After an error, too, @f and @map are released by others. */
static int give_ring(struct kwarp_siw_ring *r, struct kwarp_foreign_ring **f,
		     struct rdma_user_mmap_entry **map, struct ib_udata *udata, u32 *size, u64 *key)
{
	if (!r)
		return -ENOMEM;
	*f = &r->foreign;
	*size = r->foreign.size;
	*map = kwarp_mmap_insert(kwarp_udata_context(udata), r->mem, r->len, &r->charge, key);
	return *map ? 0 : -ENOMEM;
}

static void siw_release(struct kwarp_foreign_ring *f, struct rdma_user_mmap_entry *map)
{
	struct kwarp_siw_ring *r = to_siw_ring(f);

	/* The mmap entry owns the memory. */
	if (map) {
		r->mem = NULL;
		rdma_user_mmap_entry_remove(map);
	}
	kwarp_siw_free(r);
}

static int siw_give_cq(struct kwarp_cq *cq, u32 entries, struct ib_udata *udata, u32 id)
{
	struct siw_uresp_create_cq resp = { .cq_id = id };
	int ret = give_ring(kwarp_siw_new_cq(entries, cq->charge.account), &cq->foreign, &cq->map,
			    udata, &resp.num_cqe, &resp.cq_key);

	return ret ?: kwarp_udata_answer(udata, &resp, sizeof(resp));
}

static int siw_give_qp(struct kwarp_qp *qp, struct ib_udata *udata)
{
	struct siw_uresp_create_qp resp = { .qp_id = qp->ibqp.qp_num };
	int ret = give_ring(kwarp_siw_new_sq(qp->cap.max_send_wr, qp->charge.account),
			    &qp->sq.foreign, &qp->map, udata, &resp.num_sqe, &resp.sq_key);

	if (ret)
		return ret;
	kwarp_siw_pace_init(to_siw_ring(qp->sq.foreign));
	if (!qp->srq)
		ret = give_ring(kwarp_siw_new_rq(qp->cap.max_recv_wr, qp->charge.account),
				&qp->rq.foreign, &qp->rq_map, udata, &resp.num_rqe, &resp.rq_key);
	return ret ?: kwarp_udata_answer(udata, &resp, sizeof(resp));
}

static int siw_give_srq(struct kwarp_srq *srq, struct ib_udata *udata)
{
	struct siw_uresp_create_srq resp = {};
	int ret = give_ring(kwarp_siw_new_rq(kwarp_rq_size(&srq->rq), srq->charge.account),
			    &srq->rq.foreign, &srq->map, udata, &resp.num_rqe, &resp.srq_key);

	return ret ?: kwarp_udata_answer(udata, &resp, sizeof(resp));
}

const struct kwarp_personality kwarp_siw_personality = {
	.ops = &siw_ops,
	.commands = BIT_ULL(IB_USER_VERBS_CMD_POST_SEND),
	.max_sge = SIW_MAX_SGE,
	.max_inline = SIW_MAX_INLINE,
	.hold = &kwarp_siw_hold_ops,
	.give_cq = siw_give_cq,
	.give_qp = siw_give_qp,
	.give_srq = siw_give_srq,
	.release = siw_release,
};
