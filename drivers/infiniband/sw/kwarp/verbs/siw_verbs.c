// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What links of type kwarp-siw answer to libsiw, the provider that every distribution has: the
 * answers of siw's uABI (rdma/siw-abi.h), and attributes of what libsiw can do.
 *
 * The rings are queue/siw_ring.c's.  Kernel consumers see no difference but in the attributes.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/siw-abi.h>

#include "../kwarp.h"
#include "../qp/qp.h"
#include "../queue/siw_ring.h"
#include "udata.h"
#include "verbs.h"

/*
 * The core asks once, and shows the answer to kernel consumers and programs alike
 * (ibdev->attrs; ibv_query_device() is answered from there).  So it has what all of them have;
 * a kernel consumer that asks for more gets as much as on a link of type kwarp.
 */
int kwarp_siw_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
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
	return 0;
}

int kwarp_siw_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	/* libsiw uses its number of the device for nothing. */
	struct siw_uresp_alloc_ctx resp = {};
	int ret = kwarp_udata_no_request(udata);

	if (!ret)
		ret = kwarp_udata_answer(udata, &resp, sizeof(resp));
	/*
	 * The core lets the module go although programs have the device open; those of our own
	 * provider hold it by their doorbell.
	 */
	if (!ret && !try_module_get(THIS_MODULE))
		ret = -ENODEV;
	return ret;
}

/* The device is there until the core has ended the context, and the module as long as it. */
void kwarp_siw_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	module_put(THIS_MODULE);
}

static struct rdma_user_mmap_entry *offer_wq(const struct kwarp_siw_wq *wq,
					     struct ib_udata *udata, u64 *key)
{
	u64 offset;
	struct rdma_user_mmap_entry *map = kwarp_mmap_insert(kwarp_udata_context(udata), wq->mem,
							     wq->len, &offset);

	if (map)
		*key = offset;
	return map;
}

/**
 * kwarp_siw_release_wq - the queue that used a ring of libsiw's is gone
 * @wq: ring, or NULL
 * @map: its mmap entry, which owns its memory; NULL: there is none
 *
 * Context: process.
 */
void kwarp_siw_release_wq(struct kwarp_siw_wq *wq, struct rdma_user_mmap_entry *map)
{
	if (!wq)
		return;
	if (map) {
		wq->mem = NULL;
		rdma_user_mmap_entry_remove(map);
	}
	kwarp_siw_free_wq(wq);
}

/* Likewise of a CQ. */
void kwarp_siw_release_cq(struct kwarp_cq *cq)
{
	if (!cq->siw)
		return;
	if (cq->map) {
		cq->siw->mem = NULL;
		rdma_user_mmap_entry_remove(cq->map);
		cq->map = NULL;
	}
	kwarp_siw_free_cq(cq->siw);
	cq->siw = NULL;
}

/**
 * kwarp_siw_give_cq - make the ring of a program's CQ, and say how to map it
 * @cq: queue, whose own ring has a header
 * @entries: wanted
 * @udata: of the program
 * @id: number, for diagnostics
 *
 * Context: process, may sleep.
 * Return: 0; or a negative errno, and then kwarp_siw_release_cq() has to follow, too.
 */
int kwarp_siw_give_cq(struct kwarp_cq *cq, u32 entries, struct ib_udata *udata, u32 id)
{
	struct siw_uresp_create_cq resp = { .cq_id = id };
	u64 key;

	cq->siw = kwarp_siw_new_cq(entries);
	if (!cq->siw)
		return -ENOMEM;
	cq->map = kwarp_mmap_insert(kwarp_udata_context(udata), cq->siw->mem, cq->siw->len, &key);
	if (!cq->map)
		return -ENOMEM;
	resp.num_cqe = kwarp_siw_cq_size(cq->siw);
	resp.cq_key = key;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

/* Likewise those of a queue pair; the caller releases both, whatever the result. */
int kwarp_siw_give_qp(struct kwarp_qp *qp, struct ib_udata *udata)
{
	struct siw_uresp_create_qp resp = { .qp_id = qp->ibqp.qp_num };

	qp->sq.siw = kwarp_siw_new_sq(qp->cap.max_send_wr);
	if (!qp->sq.siw)
		return -ENOMEM;
	resp.num_sqe = kwarp_siw_wq_size(qp->sq.siw);
	qp->map = offer_wq(qp->sq.siw, udata, &resp.sq_key);
	if (!qp->map)
		return -ENOMEM;
	if (qp->srq)
		return kwarp_udata_answer(udata, &resp, sizeof(resp));
	qp->rq.siw = kwarp_siw_new_rq(qp->cap.max_recv_wr);
	if (!qp->rq.siw)
		return -ENOMEM;
	resp.num_rqe = kwarp_siw_wq_size(qp->rq.siw);
	qp->rq_map = offer_wq(qp->rq.siw, udata, &resp.rq_key);
	if (!qp->rq_map)
		return -ENOMEM;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

/* Likewise that of an SRQ. */
int kwarp_siw_give_srq(struct kwarp_srq *srq, struct ib_udata *udata)
{
	struct siw_uresp_create_srq resp = {};

	srq->rq.siw = kwarp_siw_new_rq(srq->rq.max_wr);
	if (!srq->rq.siw)
		return -ENOMEM;
	resp.num_rqe = kwarp_siw_wq_size(srq->rq.siw);
	srq->map = offer_wq(srq->rq.siw, udata, &resp.srq_key);
	if (!srq->map)
		return -ENOMEM;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}
