// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: creation, modification and destruction of queue pairs and shared receive queues.
 *
 * The kernel allocates the rings, chooses their sizes, and tells how to map them.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kwarp.h"

/*
 * Check that the entries fit the ring.  If provider and kernel module disagree about the layout,
 * the creation fails here; without the check a later store could hit other memory.
 */
static bool check_ring(struct ibv_context *ctx, uint32_t len, uint32_t size, uint32_t stride)
{
	uint64_t need = KWARP_RING_ENTRIES_OFFSET + (uint64_t)size * stride;

	if (kwarp_is_pow2(size) && stride % 8 == 0 && len >= need)
		return true;
	verbs_err(verbs_get_ctx(ctx),
		  "wrong ring layout from the module: %u entries of %u octets in %u octets\n",
		  size, stride, len);
	return false;
}

/* Map memory that the kernel shares.  Return: 0 or an errno value. */
static int map_memory(struct kwarp_map *m, struct ibv_context *ctx, uint64_t key, size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, ctx->cmd_fd, key);

	if (at == MAP_FAILED)
		return errno;
	m->at = at;
	m->len = len;
	return 0;
}

static void unmap_memory(struct kwarp_map *m)
{
	if (m->at)
		munmap(m->at, m->len);
	m->at = NULL;
}

/**
 * kwarp_map_ring() - map a ring of any kind
 * @ctx: context
 * @key: offset for mmap(), from the kernel
 * @len: octets to map
 * @size: entries
 * @stride: octets per entry
 *
 * Return: the mapping, or NULL with errno set.
 */
void *kwarp_map_ring(struct ibv_context *ctx, uint64_t key, uint32_t len,
		     uint32_t size, uint32_t stride)
{
	struct kwarp_map m = {};

	errno = check_ring(ctx, len, size, stride) ? map_memory(&m, ctx, key, len) : EPROTO;
	return m.at;
}

/**
 * struct wq_layout - layout of a work queue, from the kernel's answer
 * @at: address of the mapped ring
 * @len: octets of the ring
 * @size: number of slots
 * @stride: octets per slot
 * @max_wr: entries that may be posted at a time
 * @max_sge: elements that an entry may have
 * @need: octets of the largest entry
 */
struct wq_layout {
	void *at;
	uint32_t len;
	uint32_t size;
	uint32_t stride;
	uint32_t max_wr;
	uint32_t max_sge;
	uint64_t need;
};

static int wq_place(struct kwarp_wq *wq, struct ibv_context *ctx,
		    const struct wq_layout *lay)
{
	struct kwarp_ring *ring = &wq->ring;

	if (lay->stride < lay->need || lay->max_wr > lay->size) {
		verbs_err(verbs_get_ctx(ctx),
			  "wrong queue layout: %u slots of %u octets for %u entries of %u elements\n",
			  lay->size, lay->stride, lay->max_wr, lay->max_sge);
		return EPROTO;
	}
	if (!check_ring(ctx, lay->len, lay->size, lay->stride))
		return EPROTO;

	ring->hdr = lay->at;
	ring->entries = lay->at + KWARP_RING_ENTRIES_OFFSET;
	ring->stride = lay->stride;
	ring->mask = lay->size - 1;
	ring->max = lay->max_wr;
	ring->prod = ring->hdr->prod;
	ring->cons = ring->hdr->cons;
	wq->max_sge = lay->max_sge;
	return 0;
}

/* After a reset of the QP: the kernel has emptied the queue, and may have changed both indices. */
static void wq_restart(struct kwarp_wq *wq)
{
	if (!wq->ring.hdr)
		return;
	wq->ring.prod = wq->ring.hdr->prod;
	wq->ring.cons = wq->ring.hdr->cons;
}

static void wq_init(struct kwarp_wq *wq, struct ibv_pd *pd)
{
	pthread_spin_init(&wq->lock, PTHREAD_PROCESS_PRIVATE);
	wq->single_threaded = kwarp_pd_single_threaded(pd);
}

static void wq_fini(struct kwarp_wq *wq)
{
	wq->ring.hdr = NULL;
	pthread_spin_destroy(&wq->lock);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* -------------------------------------------------------------- queue pair */

/* Map both rings: one mapping, in which the header of the second ring must be aligned, too. */
static int qp_map(struct kwarp_qp *qp, struct ibv_context *ctx,
		  const struct kwarp_create_qp_resp *resp)
{
	if (resp->sq_len > UINT32_MAX - resp->rq_len ||
	    resp->sq_len % sizeof(struct kwarp_sge)) {
		verbs_err(verbs_get_ctx(ctx),
			  "wrong ring sizes from the module: %u and %u octets\n",
			  resp->sq_len, resp->rq_len);
		return EPROTO;
	}
	return map_memory(&qp->map, ctx, resp->mmap_key, resp->sq_len + resp->rq_len);
}

static int qp_place(struct kwarp_qp *qp, struct ibv_context *ctx,
		    const struct ibv_qp_init_attr_ex *attr,
		    const struct kwarp_create_qp_resp *resp)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	const struct wq_layout sq = {
		.at = qp->map.at,
		.len = resp->sq_len,
		.size = resp->sq_size,
		.stride = resp->sq_stride,
		.max_wr = cap->max_send_wr,
		.max_sge = cap->max_send_sge,
		.need = sizeof(struct kwarp_sqe) +
			max_u64(cap->max_send_sge * sizeof(struct kwarp_sge),
				resp->max_inline),
	};
	const struct wq_layout rq = {
		.at = qp->map.at + resp->sq_len,
		.len = resp->rq_len,
		.size = resp->rq_size,
		.stride = resp->rq_stride,
		.max_wr = cap->max_recv_wr,
		.max_sge = cap->max_recv_sge,
		.need = sizeof(struct kwarp_rqe) +
			cap->max_recv_sge * sizeof(struct kwarp_sge),
	};
	int ret;

	ret = wq_place(&qp->sq, ctx, &sq);
	if (!ret && !attr->srq)
		ret = wq_place(&qp->rq, ctx, &rq);
	if (ret)
		return ret;

	qp->max_inline = resp->max_inline;
	qp->sig_all = attr->sq_sig_all;
	qp->sq.qpn = qp->vqp.qp.qp_num;
	qp->sq.doorbell = KWARP_IOC_POSTED_SEND;
	qp->rq.qpn = qp->vqp.qp.qp_num;
	qp->rq.doorbell = KWARP_IOC_POSTED_RECV;
	return 0;
}

static void qp_free(struct kwarp_qp *qp)
{
	wq_fini(&qp->sq);
	wq_fini(&qp->rq);
	unmap_memory(&qp->map);
	free(qp);
}

/* Do these features allow all send operations that the program asks for? */
static bool has_ops(const struct ibv_qp_init_attr_ex *attr, uint64_t features)
{
	uint64_t ops = KWARP_QP_EX_OPS;

	if (features & KWARP_FEATURE_RFC7306)
		ops |= KWARP_QP_EX_OPS_RFC7306;
	return !(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
	       check_comp_mask(attr->send_ops_flags, ops);
}

static int check_qp_attr(struct ibv_context *ctx,
			 const struct ibv_qp_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
	    attr->qp_type != IBV_QPT_RC)
		return EOPNOTSUPP;
	if (!has_ops(attr, to_kctx(ctx)->features))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd ||
	    !attr->send_cq || !attr->recv_cq)
		return EINVAL;
	return 0;
}

struct ibv_qp *kwarp_create_qp_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct kwarp_cmd_create_qp_resp resp = {};
	struct kwarp_cmd_create_qp cmd = {};
	struct kwarp_qp *qp;
	int ret;

	ret = check_qp_attr(ctx, attr);
	if (ret)
		goto err;

	qp = calloc(1, sizeof(*qp));
	if (!qp) {
		ret = ENOMEM;
		goto err;
	}
	wq_init(&qp->sq, attr->pd);
	wq_init(&qp->rq, attr->pd);
	qp->left[0].qp = qp;
	qp->left[1].qp = qp;

	ret = ibv_cmd_create_qp_ex(ctx, &qp->vqp, attr, &cmd.ibv_cmd,
				   sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;

	ret = qp_map(qp, ctx, &resp.drv_payload);
	if (!ret)
		ret = qp_place(qp, ctx, attr, &resp.drv_payload);
	/* The queue pair may have fewer features than the context: knob rfc7306. */
	qp->features = resp.features;
	if (!ret && !has_ops(attr, qp->features))
		ret = EOPNOTSUPP;
	if (ret)
		goto err_destroy;

	attr->cap.max_inline_data = qp->max_inline;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		kwarp_qp_init_ex(qp);
	kwarp_pd_use(attr->pd);
	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free:
	qp_free(qp);
err:
	errno = ret;
	return NULL;
}

struct ibv_qp *kwarp_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp;

	ibqp = kwarp_create_qp_ex(pd->context, &attr_ex);
	if (ibqp)
		attr->cap = attr_ex.cap;
	return ibqp;
}

/* Hide completions of a QP that was destroyed or reset from later polls. */
static void qp_forget(struct ibv_qp *ibqp)
{
	kwarp_cq_forget_qp(to_kcq(ibqp->send_cq), ibqp->qp_num);
	if (ibqp->recv_cq != ibqp->send_cq)
		kwarp_cq_forget_qp(to_kcq(ibqp->recv_cq), ibqp->qp_num);
}

/*
 * Reset the QP with both locks held, so that no thread posts meanwhile: if it published an index
 * from before the reset, the kernel would take old entries of the emptied rings for new requests.
 */
static int modify_to_reset(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	kwarp_wq_lock(&qp->sq);
	kwarp_wq_lock(&qp->rq);
	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (!ret) {
		wq_restart(&qp->sq);
		wq_restart(&qp->rq);
		__atomic_store_n(&qp->rung, qp->sq.ring.prod, __ATOMIC_RELAXED);
	}
	kwarp_wq_unlock(&qp->rq);
	kwarp_wq_unlock(&qp->sq);
	if (!ret)
		qp_forget(ibqp);
	return ret;
}

int kwarp_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp cmd = {};

	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		return modify_to_reset(ibqp, attr, mask);
	return ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
}

int kwarp_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd,
				sizeof(cmd));
}

int kwarp_destroy_qp(struct ibv_qp *ibqp)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;

	/*
	 * The kernel assigns QP numbers cyclically, so these completions cannot yet
	 * belong to a new QP with the same number.
	 */
	qp_forget(ibqp);
	kwarp_forget_left(qp);
	kwarp_pd_unuse(ibqp->pd);
	qp_free(qp);
	return 0;
}

/* ---------------------------------------------------- shared receive queue */

static int srq_place(struct kwarp_srq *srq, struct ibv_context *ctx,
		     const struct ibv_srq_attr *attr,
		     const struct kwarp_create_srq_resp *resp)
{
	const struct wq_layout lay = {
		.at = srq->map.at,
		.len = resp->mmap_len,
		.size = resp->size,
		.stride = resp->stride,
		.max_wr = attr->max_wr,
		.max_sge = attr->max_sge,
		.need = sizeof(struct kwarp_rqe) +
			attr->max_sge * sizeof(struct kwarp_sge),
	};

	return wq_place(&srq->wq, ctx, &lay);
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
	wq_init(&srq->wq, pd);

	ret = ibv_cmd_create_srq(pd, &srq->ibv_srq, attr, &cmd.ibv_cmd,
				 sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;

	ret = map_memory(&srq->map, pd->context, resp.drv_payload.mmap_key,
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
	wq_fini(&srq->wq);
	unmap_memory(&srq->map);
	free(srq);
	errno = ret;
	return NULL;
}

/*
 * The kernel has moved the posted receives into a new ring: map it instead of the old one. If that
 * fails, the SRQ has no ring, and posts fail from then on, because the kernel uses the new ring
 * already.
 */
static int srq_remap(struct kwarp_srq *srq, const struct kwarp_create_srq_resp *resp)
{
	const struct ibv_srq_attr attr = { .max_wr = resp->size, .max_sge = srq->wq.max_sge };
	int ret;

	unmap_memory(&srq->map);
	ret = map_memory(&srq->map, srq->ibv_srq.context, resp->mmap_key, resp->mmap_len);
	if (!ret)
		ret = srq_place(srq, srq->ibv_srq.context, &attr, resp);
	if (ret) {
		srq->wq.ring.hdr = NULL;
		srq->wq.ring.max = 0;
	}
	return ret;
}

/* Resize the SRQ with its lock held, so that no thread posts meanwhile. */
static int resize_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct kwarp_create_srq_resp resp = {};
	struct kwarp_cmd_modify_srq cmd = { .answer = (uintptr_t)&resp };
	struct kwarp_srq *srq = to_ksrq(ibsrq);
	int ret;

	kwarp_wq_lock(&srq->wq);
	ret = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	if (!ret)
		ret = srq_remap(srq, &resp);
	kwarp_wq_unlock(&srq->wq);
	return ret;
}

int kwarp_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int mask)
{
	struct ibv_modify_srq cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return resize_srq(ibsrq, attr, mask);
	return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd, sizeof(cmd));
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
	wq_fini(&srq->wq);
	unmap_memory(&srq->map);
	free(srq);
	return 0;
}
