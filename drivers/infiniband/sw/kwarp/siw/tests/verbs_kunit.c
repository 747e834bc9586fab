// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs of links of type kwarp-siw.  Programs get rings in libsiw's layout; kernel consumers get
 * the same queues as on links of type kwarp.
 */
#include "../../verbs/tests/fixture.h"

#include <linux/log2.h>
#include <rdma/siw-abi.h>

#include "../../verbs/personality.h"
#include "../ring.h"

static struct kwarp_cq *cq;
static struct kwarp_srq *srq;
static struct kwarp_qp *qp;

static int siw_verbs_init(struct kunit *test)
{
	int ret = vt_init(test);

	if (ret)
		return ret;
	cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	if (!cq || !qp || !srq)
		return -ENOMEM;
	vt->kdev->personality = &kwarp_siw_personality;
	cq->ibcq.device = &vt->kdev->ibdev;
	srq->ibsrq.device = &vt->kdev->ibdev;
	srq->ibsrq.pd = &vt->pd.ibpd;
	qp->ibqp.device = &vt->kdev->ibdev;
	qp->ibqp.pd = &vt->pd.ibpd;
	vt_make_cq(test, &vt->scq, 4);
	vt_make_cq(test, &vt->rcq, 4);
	return 0;
}

/* ------------------------------------------------------------------- creation */

static int create_cq(struct kunit *test)
{
	const struct ib_cq_init_attr attr = { .cqe = 5 };

	vt_udata(test, 0, sizeof(struct siw_uresp_create_cq));
	return kwarp_create_cq(&cq->ibcq, &attr, vt->attrs);
}

static int create_srq(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 5, .max_sge = 1 } };

	return kwarp_create_srq(&srq->ibsrq, &init,
				vt_udata(test, 0, sizeof(struct siw_uresp_create_srq)));
}

static struct ib_qp_init_attr an_attr(bool shared)
{
	return (struct ib_qp_init_attr){
		.qp_type = IB_QPT_RC,
		.send_cq = &vt->scq->ibcq,
		.recv_cq = &vt->rcq->ibcq,
		.srq = shared ? &srq->ibsrq : NULL,
		.cap = { 5, 5, 1, 1, 0 },
	};
}

static int create_qp(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr(false);

	return kwarp_create_qp(&qp->ibqp, &attr,
			       vt_udata(test, 0, sizeof(struct siw_uresp_create_qp)));
}

/* Create a queue pair with an SRQ that has no ring of libsiw: only the QP's rings are counted. */
static int create_shared_qp(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr(true);

	return kwarp_create_qp(&qp->ibqp, &attr,
			       vt_udata(test, 0, sizeof(struct siw_uresp_create_qp)));
}

static void destroy_cq(void)
{
	kwarp_destroy_cq(&cq->ibcq, NULL);
}

static void destroy_srq(void)
{
	kwarp_destroy_srq(&srq->ibsrq, NULL);
}

static void destroy_qp(void)
{
	kwarp_destroy_qp(&qp->ibqp, NULL);
}

static const struct step {
	const char *desc;
	int (*create)(struct kunit *test);
	void (*destroy)(void);
	enum vt_fault fault;
	int nth;
	int ret;
} steps[] = {
	{ "cq", create_cq, destroy_cq },
	{ "cq: charge", create_cq, destroy_cq, FAULT_CHARGE, 1, -ENOMEM },
	{ "cq: own ring", create_cq, destroy_cq, FAULT_RING, 1, -ENOMEM },
	{ "cq: libsiw's ring", create_cq, destroy_cq, FAULT_FOREIGN, 1, -ENOMEM },
	{ "cq: mapping", create_cq, destroy_cq, FAULT_MAP, 1, -ENOMEM },
	{ "cq: answer", create_cq, destroy_cq, FAULT_ANSWER, 0, -EFAULT },
	{ "srq", create_srq, destroy_srq },
	{ "srq: charge", create_srq, destroy_srq, FAULT_CHARGE, 1, -ENOMEM },
	{ "srq: own ring", create_srq, destroy_srq, FAULT_RING, 1, -ENOMEM },
	{ "srq: libsiw's ring", create_srq, destroy_srq, FAULT_FOREIGN, 1, -ENOMEM },
	{ "srq: mapping", create_srq, destroy_srq, FAULT_MAP, 1, -ENOMEM },
	{ "srq: answer", create_srq, destroy_srq, FAULT_ANSWER, 0, -EFAULT },
	{ "qp", create_qp, destroy_qp },
	{ "qp: charge", create_qp, destroy_qp, FAULT_CHARGE, 1, -ENOMEM },
	{ "qp: own rings", create_qp, destroy_qp, FAULT_RING, 1, -ENOMEM },
	{ "qp: number", create_qp, destroy_qp, FAULT_RESERVE, 1, -ENOMEM },
	{ "qp: libsiw's send ring", create_qp, destroy_qp, FAULT_FOREIGN, 1, -ENOMEM },
	{ "qp: mapping of it", create_qp, destroy_qp, FAULT_MAP, 1, -ENOMEM },
	{ "qp: libsiw's receive ring", create_qp, destroy_qp, FAULT_FOREIGN, 2, -ENOMEM },
	{ "qp: mapping of that", create_qp, destroy_qp, FAULT_MAP, 2, -ENOMEM },
	{ "qp: answer", create_qp, destroy_qp, FAULT_ANSWER, 0, -EFAULT },
	{ "shared qp", create_shared_qp, destroy_qp },
	{ "shared qp: libsiw's ring", create_shared_qp, destroy_qp, FAULT_FOREIGN, 1, -ENOMEM },
	{ "shared qp: mapping", create_shared_qp, destroy_qp, FAULT_MAP, 1, -ENOMEM },
	{ "shared qp: answer", create_shared_qp, destroy_qp, FAULT_ANSWER, 0, -EFAULT },
};

KUNIT_ARRAY_PARAM_DESC(step, steps, desc);

/* A creation in which one step fails leaves no ring and no object: vt_exit() counts them. */
static void test_step(struct kunit *test)
{
	const struct step *c = test->param_value;
	const int rings = vt->rings;

	vt->fault = c->fault;
	vt->nth = c->nth;
	KUNIT_ASSERT_EQ(test, c->create(test), c->ret);
	if (c->ret) {
		KUNIT_EXPECT_EQ(test, vt->rings, rings);
		KUNIT_EXPECT_EQ(test, vt->foreign, 0);
		vt->fault = FAULT_NONE;
		KUNIT_ASSERT_EQ(test, c->create(test), 0);
	}
	KUNIT_EXPECT_NE(test, vt->foreign, 0);
	c->destroy();
}

/* -------------------------------------------------------------------- answers */

static void expect_ring(struct kunit *test, u64 key, u32 entries, size_t octets, u32 asked)
{
	KUNIT_EXPECT_GE(test, entries, asked);
	KUNIT_EXPECT_TRUE(test, is_power_of_2(entries));
	vt_expect_map(test, key, PAGE_ALIGN(octets));
}

static void test_cq_answer(struct kunit *test)
{
	struct siw_uresp_create_cq resp;

	KUNIT_ASSERT_EQ(test, create_cq(test), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	expect_ring(test, resp.cq_key, resp.num_cqe,
		    resp.num_cqe * sizeof(struct siw_cqe) + sizeof(struct siw_cq_ctrl), 5);
	KUNIT_EXPECT_EQ(test, cq->ibcq.cqe, resp.num_cqe);
	destroy_cq();
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.cq_key, PAGE_SIZE), -EINVAL);
}

static void test_srq_answer(struct kunit *test)
{
	struct siw_uresp_create_srq resp;

	KUNIT_ASSERT_EQ(test, create_srq(test), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	expect_ring(test, resp.srq_key, resp.num_rqe, resp.num_rqe * sizeof(struct siw_rqe), 5);
	destroy_srq();
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.srq_key, PAGE_SIZE), -EINVAL);
}

static void test_qp_answer(struct kunit *test)
{
	struct siw_uresp_create_qp resp;

	KUNIT_ASSERT_EQ(test, create_qp(test), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.qp_id, VT_QPN);
	KUNIT_EXPECT_NE(test, resp.sq_key, resp.rq_key);
	expect_ring(test, resp.sq_key, resp.num_sqe, resp.num_sqe * sizeof(struct siw_sqe), 5);
	expect_ring(test, resp.rq_key, resp.num_rqe, resp.num_rqe * sizeof(struct siw_rqe), 5);
	destroy_qp();
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.sq_key, PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.rq_key, PAGE_SIZE), -EINVAL);
}

/* -------------------------------------------------- programs and kernel consumers */

/* The attributes name only what kernel consumers and programs with libsiw both have. */
static void test_device(struct kunit *test)
{
	const struct ib_device_ops *ops = kwarp_siw_personality.ops;
	struct ib_device_attr own, attr;

	vt->kdev->knobs.rfc7306 = 1;
	KUNIT_ASSERT_EQ(test, kwarp_query_device(&vt->kdev->ibdev, &own, NULL), 0);
	KUNIT_ASSERT_EQ(test, ops->query_device(&vt->kdev->ibdev, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, own.max_send_sge, KWARP_MAX_SGE);
	KUNIT_EXPECT_EQ(test, attr.max_send_sge, SIW_MAX_SGE);
	KUNIT_EXPECT_EQ(test, attr.max_recv_sge, SIW_MAX_SGE);
	KUNIT_EXPECT_EQ(test, attr.max_srq_sge, SIW_MAX_SGE);
	KUNIT_EXPECT_EQ(test, own.atomic_cap, IB_ATOMIC_HCA);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_NONE);
	KUNIT_EXPECT_EQ(test, attr.max_mw, 0);
	KUNIT_EXPECT_EQ(test, attr.timestamp_mask, 0);
	KUNIT_EXPECT_EQ(test, attr.device_cap_flags, IB_DEVICE_MEM_MGT_EXTENSIONS);
	KUNIT_EXPECT_EQ(test, attr.max_qp, own.max_qp);
}

/* A kernel consumer gets more scatter/gather elements than the device attributes name. */
static void test_consumers(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr(false);
	struct ib_udata *udata = vt_udata(test, 0, sizeof(struct siw_uresp_create_qp));

	vt->kdev->knobs.rfc7306 = 1;
	attr.cap.max_send_sge = KWARP_MAX_SGE;
	attr.cap.max_recv_sge = KWARP_MAX_SGE;
	KUNIT_EXPECT_EQ(test, kwarp_create_qp(&qp->ibqp, &attr, udata), -EINVAL);
	attr.cap.max_send_sge = SIW_MAX_SGE;
	attr.cap.max_recv_sge = SIW_MAX_SGE;
	KUNIT_ASSERT_EQ(test, kwarp_create_qp(&qp->ibqp, &attr, udata), 0);
	KUNIT_EXPECT_FALSE(test, qp->sq.rfc7306);
	KUNIT_EXPECT_NOT_NULL(test, qp->sq.foreign);
	KUNIT_EXPECT_NOT_NULL(test, qp->rq.foreign);
	destroy_qp();

	memset(qp, 0, sizeof(*qp));
	qp->ibqp.device = &vt->kdev->ibdev;
	qp->ibqp.pd = &vt->pd.ibpd;
	attr.cap.max_send_sge = KWARP_MAX_SGE;
	attr.cap.max_recv_sge = KWARP_MAX_SGE;
	KUNIT_ASSERT_EQ(test, kwarp_create_qp(&qp->ibqp, &attr, NULL), 0);
	KUNIT_EXPECT_TRUE(test, qp->sq.rfc7306);
	KUNIT_EXPECT_NULL(test, qp->sq.foreign);
	KUNIT_EXPECT_NULL(test, qp->rq.foreign);
	destroy_qp();
}

/* libsiw rings its doorbell by the post_send verb without a request, and posts only to its ring. */
static void test_post(struct kunit *test)
{
	const struct ib_send_wr wr = { .opcode = IB_WR_SEND }, *bad = NULL;
	const struct ib_device_ops *ops = kwarp_siw_personality.ops;

	KUNIT_ASSERT_EQ(test, create_qp(test), 0);
	vt->log[0] = 0;
	KUNIT_EXPECT_EQ(test, ops->post_send(&qp->ibqp, &wr, &bad), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad, &wr);
	vt_expect_log(test, "");
	KUNIT_EXPECT_EQ(test, qp->sq.posted, 0);
	KUNIT_EXPECT_EQ(test, ops->post_send(&qp->ibqp, NULL, &bad), 0);
	vt_expect_log(test, "doorbell");
	destroy_qp();
}

static struct kunit_case siw_verbs_cases[] = {
	KUNIT_CASE_PARAM(test_step, step_gen_params),
	KUNIT_CASE(test_cq_answer),
	KUNIT_CASE(test_srq_answer),
	KUNIT_CASE(test_qp_answer),
	KUNIT_CASE(test_device),
	KUNIT_CASE(test_consumers),
	KUNIT_CASE(test_post),
	{ }
};

static struct kunit_suite siw_verbs_suite = {
	.name = "kwarp_verbs_siw",
	.init = siw_verbs_init,
	.exit = vt_exit,
	.test_cases = siw_verbs_cases,
};

kunit_test_suite(siw_verbs_suite);
