// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs of links of type kwarp-siw.  Programs use such a link with libsiw, siw's provider, which
 * distributions ship.  So the answers are those of siw's uABI (rdma/siw-abi.h), and the device
 * attributes name only what libsiw can do.
 *
 * The functions for libsiw's rings are in queue/siw_ring.c.  Kernel consumers get the same objects
 * as on a link of type kwarp; only the device attributes differ.
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
 * The core calls this once and keeps the answer (ibdev->attrs), which kernel consumers read and
 * which ibv_query_device() returns to programs.  So the answer names only what programs with libsiw
 * and kernel consumers both have.  A kernel consumer that asks for more gets as much as on a link
 * of type kwarp.
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
void kwarp_siw_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	kwarp_ucontext_close(to_kuc(ibuc));
	module_put(THIS_MODULE);
}

static struct rdma_user_mmap_entry *offer_wq(struct kwarp_siw_wq *wq, struct ib_udata *udata,
					     u64 *key)
{
	u64 offset;
	struct rdma_user_mmap_entry *map = kwarp_mmap_insert(kwarp_udata_context(udata), wq->mem,
							     wq->len, &wq->charge, &offset);

	if (map)
		*key = offset;
	return map;
}

/**
 * kwarp_siw_release_wq - free a work queue ring of libsiw: its queue is being destroyed
 * @wq: ring, or NULL
 * @map: mmap entry of the ring, which owns the memory of the ring; NULL: there is none
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

/*
 * Free the completion ring that was made for libsiw, if the CQ has one: the CQ is being destroyed,
 * or its creation has failed.  Context: process.
 */
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
 * kwarp_siw_give_cq - make the ring of a program's CQ, and tell the program how to map it
 * @cq: queue; its own ring (cq->ring) has been made already: kwarp uses the header of that ring
 * @entries: number of entries wanted
 * @udata: driver data of the program's call
 * @id: number of the CQ, for diagnostics
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno; after an error, too, the caller calls kwarp_siw_release_cq().
 */
int kwarp_siw_give_cq(struct kwarp_cq *cq, u32 entries, struct ib_udata *udata, u32 id)
{
	struct siw_uresp_create_cq resp = { .cq_id = id };
	u64 key;

	cq->siw = kwarp_siw_new_cq(entries, cq->charge.account);
	if (!cq->siw)
		return -ENOMEM;
	cq->map = kwarp_mmap_insert(kwarp_udata_context(udata), cq->siw->mem, cq->siw->len,
				    &cq->siw->charge, &key);
	if (!cq->map)
		return -ENOMEM;
	resp.num_cqe = kwarp_siw_cq_size(cq->siw);
	resp.cq_key = key;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

/*
 * Make the two rings of a program's queue pair (only the send ring if it uses an SRQ), and tell the
 * program how to map them.  After an error, too, the caller releases both rings.
 */
int kwarp_siw_give_qp(struct kwarp_qp *qp, struct ib_udata *udata)
{
	struct siw_uresp_create_qp resp = { .qp_id = qp->ibqp.qp_num };

	qp->sq.siw = kwarp_siw_new_sq(qp->cap.max_send_wr, qp->charge.account);
	if (!qp->sq.siw)
		return -ENOMEM;
	resp.num_sqe = kwarp_siw_wq_size(qp->sq.siw);
	qp->map = offer_wq(qp->sq.siw, udata, &resp.sq_key);
	if (!qp->map)
		return -ENOMEM;
	if (qp->srq)
		return kwarp_udata_answer(udata, &resp, sizeof(resp));
	qp->rq.siw = kwarp_siw_new_rq(qp->cap.max_recv_wr, qp->charge.account);
	if (!qp->rq.siw)
		return -ENOMEM;
	resp.num_rqe = kwarp_siw_wq_size(qp->rq.siw);
	qp->rq_map = offer_wq(qp->rq.siw, udata, &resp.rq_key);
	if (!qp->rq_map)
		return -ENOMEM;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

/*
 * Make the ring of a program's SRQ, and tell the program how to map it.  After an error, too, the
 * caller releases the ring.
 */
int kwarp_siw_give_srq(struct kwarp_srq *srq, struct ib_udata *udata)
{
	struct siw_uresp_create_srq resp = {};

	srq->rq.siw = kwarp_siw_new_rq(srq->rq.max_wr, srq->charge.account);
	if (!srq->rq.siw)
		return -ENOMEM;
	resp.num_rqe = kwarp_siw_wq_size(srq->rq.siw);
	srq->map = offer_wq(srq->rq.siw, udata, &resp.srq_key);
	if (!srq->map)
		return -ENOMEM;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}
