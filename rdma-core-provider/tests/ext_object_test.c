// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: test of windows, queue pairs and completions for immediate data and atomic operations
 * (RFC 7306) without a kernel.  The feature is KWARP_FEATURE_RFC7306.
 */
#include <config.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <ccan/array_size.h>

#include "ext_test.h"

/* ----------------------------------------------------------------- windows */

#define RIGHTS	(IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ)

static struct ibv_pd pd = { .context = &ctx.ibv_ctx.context };
static struct kwarp_mr mr = {
	.vmr.ibv_mr = { .pd = &pd, .lkey = 0x1101, .length = 8 },
	.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
};

static int bind_post(struct kwarp_qp *qp, struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = mw, .rkey = 0x2203, .bind_info = *info },
	};

	return send_one(qp, &wr);
}

static int bind_wr(struct kwarp_qp *qp, struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);

	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	ibv_wr_bind_mw(qpx, mw, 0x2203, info);
	return ibv_wr_complete(qpx);
}

static int bind_type_1(struct kwarp_qp *qp, struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	struct ibv_mw_bind bind = { .bind_info = *info };

	mw->type = IBV_MW_TYPE_1;
	return kwarp_bind_mw(&qp->vqp.qp, mw, &bind);
}

static int (*const binds[])(struct kwarp_qp *qp, struct ibv_mw *mw,
			    const struct ibv_mw_bind_info *info) = {
	bind_post, bind_wr, bind_type_1,
};

/*
 * A window may give the right to atomic operations if the feature is in force for the queue pair.
 */
static void test_bind(void)
{
	const struct ibv_mw_bind_info info = { .mr = &mr.vmr.ibv_mr, .length = 8,
					       .mw_access_flags = RIGHTS };
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(binds); i++) {
		struct ibv_mw mw = { .pd = &pd, .rkey = 0x2202, .type = IBV_MW_TYPE_2 };
		struct kwarp_qp *qp = qp_with(i % 2 ? KWARP_FEATURE_RFC7306 : 0);
		int before = failures;

		qp->vqp.qp.pd = &pd;
		CHECK(binds[i / 2](qp, &mw, &info) == (i % 2 ? 0 : EINVAL));
		CHECK(qp->sq.ring.hdr->prod == i % 2);
		if (i % 2)
			CHECK(sq_slot(qp, 0)->access == RIGHTS && !sq_slot(qp, 0)->imm);
		if (failures != before)
			printf("# in way %zu to bind, feature %s\n", i / 2,
			       i % 2 ? "in force" : "not in force");
		qp_drop(qp);
	}
}

/* ------------------------------------------------------------- queue pairs */

/*
 * Try to create a queue pair with these send operations, but without a protection domain, so that
 * it always fails.  Return: errno: EOPNOTSUPP if the operations are refused, else EINVAL.
 */
static int create_errno(uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = ops,
	};

	errno = 0;
	CHECK(!kwarp_create_qp_ex(&ctx.ibv_ctx.context, &attr));
	return errno;
}

static void test_create_qp(void)
{
	static const uint64_t ops[] = {
		IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
		KWARP_QP_EX_OPS | KWARP_QP_EX_OPS_RFC7306,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		ctx.features = 0;
		CHECK(create_errno(ops[i]) == EOPNOTSUPP);
		ctx.features = KWARP_FEATURE_RFC7306;
		CHECK(create_errno(ops[i]) == EINVAL);
	}
	CHECK(create_errno(IBV_QP_EX_WITH_SEND_WITH_IMM) == EOPNOTSUPP);
	ctx.features = 0;
	CHECK(create_errno(IBV_QP_EX_WITH_SEND_WITH_IMM) == EOPNOTSUPP);
	CHECK(create_errno(KWARP_QP_EX_OPS) == EINVAL);
}

/* ------------------------------------------------------------- completions */

static const struct {
	uint8_t opcode;
	enum ibv_wc_opcode want;
	unsigned int flags;
} wc_cases[] = {
	{ KWARP_WR_WRITE_IMM, IBV_WC_RDMA_WRITE, 0 },
	{ KWARP_WR_FETCH_ADD, IBV_WC_FETCH_ADD, 0 },
	{ KWARP_WR_CMP_SWAP, IBV_WC_COMP_SWAP, 0 },
	{ KWARP_WC_RECV_IMM, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM },
	{ KWARP_WC_RECV_INV, IBV_WC_RECV, IBV_WC_WITH_INV },
	{ KWARP_WC_RECV, IBV_WC_RECV, 0 },
};

#define INV_STAG	0xfeed

static struct kwarp_cq *cq_of_cases(void)
{
	struct kwarp_cq *cq = cq_make(0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wc_cases); i++) {
		struct kwarp_cqe *e = &cq->entries[i];

		cq_add(cq, i, 5);
		e->opcode = wc_cases[i].opcode;
		if (e->opcode == KWARP_WC_RECV_IMM)
			memcpy(&e->imm, imm_octets, sizeof(e->imm));
		else
			e->inv_stag = INV_STAG;
		e->byte_len = 0xfffffff0 + i;
		e->flags |= KWARP_CQE_SOLICITED;
	}
	return cq;
}

static void test_poll(void)
{
	struct kwarp_cq *cq = cq_of_cases();
	struct ibv_wc wc;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wc_cases); i++) {
		CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1 && wc.wr_id == i);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == wc_cases[i].want);
		CHECK(wc.wc_flags == wc_cases[i].flags);
		CHECK(wc.byte_len == 0xfffffff0 + i);
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			CHECK(wc.imm_data == imm_data());
		else if (wc.wc_flags & IBV_WC_WITH_INV)
			CHECK(wc.invalidated_rkey == INV_STAG);
		else
			CHECK(!wc.imm_data);
	}
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 0);
	cq_drop(cq);
}

static void test_poll_ex(void)
{
	struct kwarp_cq *cq = cq_of_cases();
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wc_cases); i++) {
		CHECK(!(i ? ibv_next_poll(cqx) : ibv_start_poll(cqx, &attr)));
		CHECK(cqx->wr_id == i && cqx->status == IBV_WC_SUCCESS);
		CHECK(ibv_wc_read_opcode(cqx) == wc_cases[i].want);
		CHECK(ibv_wc_read_wc_flags(cqx) == wc_cases[i].flags);
		CHECK(ibv_wc_read_byte_len(cqx) == 0xfffffff0 + i);
		if (wc_cases[i].flags & IBV_WC_WITH_IMM)
			CHECK(ibv_wc_read_imm_data(cqx) == imm_data());
		if (wc_cases[i].flags & IBV_WC_WITH_INV)
			CHECK(ibv_wc_read_invalidated_rkey(cqx) == INV_STAG);
	}
	CHECK(ibv_next_poll(cqx) == ENOENT);
	ibv_end_poll(cqx);
	cq_drop(cq);
}

const struct test ext_object_tests[] = {
	{ "atomics: bind", test_bind },
	{ "imm, atomics: operations of a queue pair", test_create_qp },
	{ "imm, atomics: poll", test_poll },
	{ "imm, atomics: extended poll", test_poll_ex },
	{}
};
