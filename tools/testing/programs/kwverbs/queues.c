// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs is a test program: every wrong call must fail with the right errno, and change nothing.
 * This file: wrong attributes of completion queues and queue pairs.
 */
#include "kwverbs.h"

#include <errno.h>
#include <limits.h>

/* ---------------------------------------------------------- completion queues */

int kv_cq_of(struct kv_env *e, int cqe, int vector)
{
	struct ibv_cq *cq = ibv_create_cq(e->verbs, cqe, NULL, NULL, vector);
	bool granted;

	if (!cq)
		return errno;
	granted = cq->cqe >= cqe;
	return ibv_destroy_cq(cq) || !granted ? KV_WRONG : 0;
}

static int cq_of_len(struct kv_env *e)
{
	return kv_cq_of(e, e->arg, 0);
}

static int cq_too_long(struct kv_env *e)
{
	return e->attr.max_cqe == INT_MAX ? KV_SKIP : kv_cq_of(e, e->attr.max_cqe + 1, 0);
}

static int cq_bad_vector(struct kv_env *e)
{
	return kv_cq_of(e, 16, e->verbs->num_comp_vectors);
}

static int cq_resize_none(struct kv_env *e)
{
	return ibv_resize_cq(e->cq, 0);
}

static int cq_resize_too_long(struct kv_env *e)
{
	return e->attr.max_cqe == INT_MAX ? KV_SKIP : ibv_resize_cq(e->cq, e->attr.max_cqe + 1);
}

/* ---------------------------------------------------------------- queue pairs */

struct ibv_qp_init_attr kv_good_qp(struct kv_env *e)
{
	return kw_qp_attr(e->cq, 4, 4, 1);
}

/*
 * Destroy a completion queue that a queue pair uses. It is a new queue, not e->cq: libsiw unmaps a
 * queue before the kernel refuses to destroy it, so the queue cannot be used afterwards.
 */
static int cq_ignore_overrun(struct kv_env *e)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct ibv_cq_ex *cq;

	errno = 0;
	cq = ibv_create_cq_ex(e->verbs, &attr);
	if (!cq)
		return errno;
	ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	return 0;
}

static int cq_in_use(struct kv_env *e)
{
	struct ibv_cq *cq = ibv_create_cq(e->verbs, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr a = kv_good_qp(e);
	struct ibv_qp *qp;
	int rv;

	if (!cq)
		return KV_WRONG;
	a.send_cq = cq;
	qp = ibv_create_qp(e->pd, &a);
	if (!qp)
		return KV_WRONG;
	rv = ibv_destroy_cq(cq);
	if (!rv)
		kw_die(KW_MISMATCH, "a completion queue was destroyed under its queue pair");
	return ibv_destroy_qp(qp) || ibv_destroy_cq(cq) ? KV_WRONG : rv;
}

static int create_qp(struct kv_env *e, struct ibv_qp_init_attr *a)
{
	struct ibv_qp *qp = ibv_create_qp(e->pd, a);

	if (!qp)
		return errno;
	ibv_destroy_qp(qp);
	return 0;
}

static int qp_of_type(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);

	a.qp_type = e->arg;
	return create_qp(e, &a);
}

static int qp_send_wrs(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);

	a.cap.max_send_wr = e->attr.max_qp_wr + 1;
	return create_qp(e, &a);
}

static int qp_recv_wrs(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);

	a.cap.max_recv_wr = e->attr.max_qp_wr + 1;
	return create_qp(e, &a);
}

static int qp_wrs_overflow(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);

	a.cap.max_send_wr = UINT32_MAX;
	a.cap.max_recv_wr = UINT32_MAX;
	return create_qp(e, &a);
}

static int qp_send_sges(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);

	a.cap.max_send_sge = e->attr.max_sge + 1;
	return create_qp(e, &a);
}

static int qp_recv_sges(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);

	a.cap.max_recv_sge = e->attr.max_sge + 1;
	return create_qp(e, &a);
}

static int qp_inline(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);

	a.cap.max_inline_data = 1 << 20;
	return create_qp(e, &a);
}

static int modify_idle_qp(struct kv_env *e, struct ibv_qp_attr *a, int mask)
{
	struct ibv_qp_init_attr init = kv_good_qp(e);
	struct ibv_qp *qp = ibv_create_qp(e->pd, &init);
	int rv;

	if (!qp)
		return KV_WRONG;
	rv = ibv_modify_qp(qp, a, mask);
	ibv_destroy_qp(qp);
	return rv;
}

static int qp_to_state(struct kv_env *e)
{
	struct ibv_qp_attr a = { .qp_state = e->arg };

	return modify_idle_qp(e, &a, IBV_QP_STATE);
}

static int qp_modify_unknown(struct kv_env *e)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };

	return modify_idle_qp(e, &a, IBV_QP_STATE | 1 << 30);
}

/*
 * Check that the device does not promise to place the octets of a message in order: in iWARP, when
 * the last octet is there, others may still be missing.
 */
static int data_in_order(struct kv_env *e)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_RDMA_READ,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (ibv_query_qp_data_in_order(e->qp, ops[i], 0) ||
		    ibv_query_qp_data_in_order(e->qp, ops[i],
					       IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS))
			return KV_WRONG;
	return 0;
}

const struct kv_case kv_queue_cases[] = {
	{ "cq-of-none", cq_of_len, { EINVAL }, 0 },
	{ "cq-negative", cq_of_len, { EINVAL }, -1 },
	{ "cq-too-long", cq_too_long, { EINVAL }, 0 },
	{ "cq-bad-vector", cq_bad_vector, { EINVAL }, 0 },
	{ "cq-ignore-overrun", cq_ignore_overrun, { 0 }, 0 },
	{ "cq-in-use", cq_in_use, { EBUSY }, 0 },
	{ "cq-resize-none", cq_resize_none, { EINVAL, EOPNOTSUPP, ENOSYS }, 0 },
	{ "cq-resize-too-long", cq_resize_too_long, { EINVAL, EOPNOTSUPP, ENOSYS }, 0 },
	{ "qp-ud", qp_of_type, { EOPNOTSUPP, EINVAL }, IBV_QPT_UD },
	{ "qp-uc", qp_of_type, { EOPNOTSUPP, EINVAL }, IBV_QPT_UC },
	{ "qp-unknown-type", qp_of_type, { EOPNOTSUPP, EINVAL }, 77 },
	{ "qp-send-wrs", qp_send_wrs, { EINVAL, ENOMEM }, 0 },
	{ "qp-recv-wrs", qp_recv_wrs, { EINVAL, ENOMEM }, 0 },
	{ "qp-wrs-overflow", qp_wrs_overflow, { EINVAL, ENOMEM }, 0 },
	{ "qp-send-sges", qp_send_sges, { EINVAL }, 0 },
	{ "qp-recv-sges", qp_recv_sges, { EINVAL }, 0 },
	{ "qp-inline", qp_inline, { EINVAL }, 0 },
	{ "qp-to-rts", qp_to_state, { EINVAL, ENOTCONN }, IBV_QPS_RTS },
	{ "qp-to-nowhere", qp_to_state, { EINVAL }, 99 },
	{ "qp-modify-unknown", qp_modify_unknown, { EINVAL, EOPNOTSUPP }, 0 },
	{ "qp-data-in-order", data_in_order, { 0 }, 0 },
	{ 0 }
};
