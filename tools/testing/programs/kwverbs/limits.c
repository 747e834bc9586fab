// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs is a test program for the return values of verbs. This file: calls that ask for as much
 * as the device reports as its limits, each limit alone and all together. These must succeed.
 */
#include "kwverbs.h"

#include <errno.h>

static int qp_of(struct kv_env *e, uint32_t sends, uint32_t recvs, uint32_t sges)
{
	struct ibv_qp_init_attr a = kw_qp_attr(e->cq, sends, recvs, sges);
	struct ibv_qp *qp = ibv_create_qp(e->pd, &a);
	int rv = 0;

	if (!qp)
		return errno;
	if (a.cap.max_send_wr < sends || a.cap.max_recv_wr < recvs ||
	    a.cap.max_send_sge < sges || a.cap.max_recv_sge < sges)
		rv = KV_WRONG;
	return ibv_destroy_qp(qp) ? KV_WRONG : rv;
}

static int most_send_wrs(struct kv_env *e)
{
	return qp_of(e, e->attr.max_qp_wr, 1, 1);
}

static int most_recv_wrs(struct kv_env *e)
{
	return qp_of(e, 1, e->attr.max_qp_wr, 1);
}

static int most_sges(struct kv_env *e)
{
	return qp_of(e, 1, 1, e->attr.max_sge);
}

static int most_of_a_qp(struct kv_env *e)
{
	return qp_of(e, e->attr.max_qp_wr, e->attr.max_qp_wr, e->attr.max_sge);
}

static int most_cqes(struct kv_env *e)
{
	return kv_cq_of(e, e->attr.max_cqe, 0);
}

static int grow_to_most_cqes(struct kv_env *e)
{
	struct ibv_cq *cq = ibv_create_cq(e->verbs, 1, NULL, NULL, 0);
	int rv;

	if (!cq)
		return KV_WRONG;
	rv = ibv_resize_cq(cq, e->attr.max_cqe);
	return ibv_destroy_cq(cq) ? KV_WRONG : rv;
}

static int most_vectors(struct kv_env *e)
{
	return kv_cq_of(e, 1, e->verbs->num_comp_vectors - 1);
}

static int most_srq_wrs(struct kv_env *e)
{
	return kv_srq_of(e, e->attr.max_srq_wr, 1);
}

static int most_srq_sges(struct kv_env *e)
{
	return kv_srq_of(e, 1, e->attr.max_srq_sge);
}

const struct kv_case kv_limit_cases[] = {
	{ "most-send-wrs", most_send_wrs, { 0 }, 0 },
	{ "most-recv-wrs", most_recv_wrs, { 0 }, 0 },
	{ "most-sges", most_sges, { 0 }, 0 },
	{ "most-of-a-qp", most_of_a_qp, { 0 }, 0 },
	{ "most-cqes", most_cqes, { 0 }, 0 },
	{ "grow-to-most-cqes", grow_to_most_cqes, { 0 }, 0 },
	{ "most-vectors", most_vectors, { 0 }, 0 },
	{ "most-srq-wrs", most_srq_wrs, { 0 }, 0 },
	{ "most-srq-sges", most_srq_sges, { 0 }, 0 },
	{ 0 }
};
