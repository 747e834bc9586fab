// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: creation, modification and destruction of queue pairs.
 *
 * The kernel allocates the rings, chooses their sizes, and returns how to map them.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "kwarp.h"
#include "say.h"

/*
 * Read both indices of a queue again, after the kernel has reset the QP: the kernel has emptied the
 * queue, and may have changed the indices.
 */
static void wq_restart(struct kwarp_wq *wq)
{
	if (!wq->ring.hdr)
		return;
	wq->ring.prod = wq->ring.hdr->prod;
	wq->ring.cons = wq->ring.hdr->cons;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

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
	return kwarp_map_memory(&qp->map, ctx, resp->mmap_key, resp->sq_len + resp->rq_len);
}

static int qp_place(struct kwarp_qp *qp, struct ibv_context *ctx,
		    const struct ibv_qp_init_attr_ex *attr,
		    const struct kwarp_create_qp_resp *resp)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	const struct kwarp_wq_layout sq = {
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
	const struct kwarp_wq_layout rq = {
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

	ret = kwarp_wq_place(&qp->sq, ctx, &sq);
	if (!ret && !attr->srq)
		ret = kwarp_wq_place(&qp->rq, ctx, &rq);
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
	kwarp_wq_fini(&qp->sq);
	kwarp_wq_fini(&qp->rq);
	kwarp_unmap_memory(&qp->map);
	free(qp);
}

/* Do these features (KWARP_FEATURE_*) allow all send operations that the program asks for? */
static bool has_ops(const struct ibv_qp_init_attr_ex *attr, uint64_t features)
{
	uint64_t ops = KWARP_QP_EX_OPS;

	if (features & KWARP_FEATURE_RFC7306)
		ops |= KWARP_QP_EX_OPS_RFC7306;
	if (features & KWARP_FEATURE_SEND_IMM)
		ops |= KWARP_QP_EX_OPS_SEND_IMM;
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
		goto err_say;

	qp = calloc(1, sizeof(*qp));
	if (!qp) {
		ret = ENOMEM;
		goto err;
	}
	kwarp_wq_init(&qp->sq, attr->pd);
	kwarp_wq_init(&qp->rq, attr->pd);
	qp->left[0].qp = qp;
	qp->left[1].qp = qp;

	ret = ibv_cmd_create_qp_ex(ctx, &qp->vqp, attr, &cmd.ibv_cmd,
				   sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret) {
		qp_free(qp);
		goto err_say;
	}

	ret = qp_map(qp, ctx, &resp.drv_payload);
	if (!ret)
		ret = qp_place(qp, ctx, attr, &resp.drv_payload);
	/*
	 * The queue pair may have fewer features than the context: the device's knob rfc7306 may
	 * be off.
	 */
	qp->features = resp.features | (to_kctx(ctx)->features & KWARP_FEATURE_SEND_IMM);
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
	qp_free(qp);
err_say:
	kwarp_refused_qp(ctx, attr, ret);
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
 * Reset the QP while no thread posts.  If a thread published an
 * index from before the reset, the kernel would take old entries of the emptied ring for new
 * requests.
 */
static int modify_to_reset(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	kwarp_wq_begin_change(&qp->sq);
	kwarp_wq_begin_change(&qp->rq);
	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (!ret) {
		wq_restart(&qp->sq);
		wq_restart(&qp->rq);
		__atomic_store_n(&qp->rung, qp->sq.ring.prod, __ATOMIC_RELAXED);
	}
	kwarp_wq_end_change(&qp->rq);
	kwarp_wq_end_change(&qp->sq);
	if (!ret) {
		__atomic_store_n(&qp->wired, false, __ATOMIC_RELAXED);
		qp_forget(ibqp);
	} else {
		kwarp_refused_modify_qp(ibqp, attr, mask, ret);
	}
	return ret;
}

int kwarp_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		return modify_to_reset(ibqp, attr, mask);
	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (ret)
		return kwarp_refused_modify_qp(ibqp, attr, mask, ret);
	/* The kernel wires a queue pair that comes to RTR with an address; librdmacm gives none. */
	if (mask & IBV_QP_AV && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)
		__atomic_store_n(&qp->wired, true, __ATOMIC_RELAXED);
	return 0;
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
	 * Completions with this QP number belong to the destroyed QP: the kernel assigns
	 * QP numbers cyclically, so there is no new QP with the same number yet.
	 */
	qp_forget(ibqp);
	kwarp_forget_left(qp);
	kwarp_pd_unuse(ibqp->pd);
	qp_free(qp);
	return 0;
}
