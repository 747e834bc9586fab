// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creation and destruction of queue pairs.
 *
 * Numbers such as 5041-8.2-1 name requirements of RFCs, see Documentation/conformance.
 */
#include "qp_fixture.h"

#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/sched.h>

static const struct create_case {
	const char *desc;
	struct ib_qp_cap cap;
	enum ib_qp_type type;
	u32 flags;
	bool no_scq;
	bool no_rcq;
	int ret;
} creates[] = {
	{ "least", { 0, 0, 0, 0, 0 } },
	{ "most send_wr", { KWARP_MAX_SQ_WR, 1, 1, 1, 0 } },
	{ "most recv_wr", { 1, KWARP_MAX_RQ_WR, 1, 1, 0 } },
	{ "most send_sge", { 1, 1, KWARP_MAX_SGE, 1, 0 } },
	{ "most recv_sge", { 1, 1, 1, KWARP_MAX_SGE, 0 } },
	{ "most inline", { 1, 1, 1, 1, KWARP_MAX_INLINE } },
	{ "no power of two", { 5, 9, 3, 3, 17 } },
	{ "send_wr", { KWARP_MAX_SQ_WR + 1, 1, 1, 1, 0 }, .ret = -EINVAL },
	{ "recv_wr", { 1, KWARP_MAX_RQ_WR + 1, 1, 1, 0 }, .ret = -EINVAL },
	{ "send_sge", { 1, 1, KWARP_MAX_SGE + 1, 1, 0 }, .ret = -EINVAL },
	{ "recv_sge", { 1, 1, 1, KWARP_MAX_SGE + 1, 0 }, .ret = -EINVAL },
	{ "inline", { 1, 1, 1, 1, KWARP_MAX_INLINE + 1 }, .ret = -EINVAL },
	{ "all ones", { U32_MAX, U32_MAX, U32_MAX, U32_MAX, U32_MAX }, .ret = -EINVAL },
	{ "no send CQ", { 1, 1, 1, 1, 0 }, .no_scq = true, .ret = -EINVAL },
	{ "no receive CQ", { 1, 1, 1, 1, 0 }, .no_rcq = true, .ret = -EINVAL },
	{ "UD", { 1, 1, 1, 1, 0 }, .type = IB_QPT_UD, .ret = -EOPNOTSUPP },
	{ "UC", { 1, 1, 1, 1, 0 }, .type = IB_QPT_UC, .ret = -EOPNOTSUPP },
	{ "XRC", { 1, 1, 1, 1, 0 }, .type = IB_QPT_XRC_INI, .ret = -EOPNOTSUPP },
	{ "flags", { 1, 1, 1, 1, 0 }, .flags = IB_QP_CREATE_NETIF_QP, .ret = -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(create, creates, desc);

static void expect_granted(struct kunit *test, const struct ib_qp_cap *want,
			   const struct ib_qp_cap *got)
{
	KUNIT_EXPECT_GE(test, got->max_send_wr, max(want->max_send_wr, 1U));
	KUNIT_EXPECT_GE(test, got->max_recv_wr, max(want->max_recv_wr, 1U));
	KUNIT_EXPECT_GE(test, got->max_send_sge, max(want->max_send_sge, 1U));
	KUNIT_EXPECT_GE(test, got->max_recv_sge, max(want->max_recv_sge, 1U));
	KUNIT_EXPECT_GE(test, got->max_inline_data, want->max_inline_data);
	/* No more is granted than the device attributes say. */
	KUNIT_EXPECT_LE(test, got->max_send_wr, KWARP_MAX_SQ_WR);
	KUNIT_EXPECT_LE(test, got->max_recv_wr, KWARP_MAX_RQ_WR);
	KUNIT_EXPECT_LE(test, got->max_inline_data, KWARP_MAX_INLINE);
	KUNIT_EXPECT_TRUE(test, is_power_of_2(got->max_send_wr));
	KUNIT_EXPECT_TRUE(test, is_power_of_2(got->max_recv_wr));
}

static void test_create(struct kunit *test)
{
	const struct create_case *c = test->param_value;
	struct ib_qp_init_attr attr = vt_qp_attr();
	int ret;

	attr.cap = c->cap;
	if (c->type)
		attr.qp_type = c->type;
	if (c->no_scq)
		attr.send_cq = NULL;
	if (c->no_rcq)
		attr.recv_cq = NULL;
	attr.create_flags = c->flags;
	ret = vt_create_user(test, &attr);
	KUNIT_EXPECT_EQ(test, ret, c->ret);
	if (ret)
		return;
	expect_granted(test, &c->cap, &attr.cap);
	vt_destroy_qp(test);
}

static void test_answer(struct kunit *test)
{
	struct ib_qp_init_attr attr = vt_qp_attr(), init = { };
	struct kwarp_create_qp_resp resp;
	struct ib_qp_attr now;
	u32 len;

	attr.cap = (struct ib_qp_cap){ 300, 5, 2, 3, 100 };
	KUNIT_ASSERT_EQ(test, vt_create_user(test, &attr), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.qpn, VT_QPN);
	KUNIT_EXPECT_EQ(test, resp.sq_size, attr.cap.max_send_wr);
	KUNIT_EXPECT_EQ(test, resp.rq_size, attr.cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, resp.max_inline, attr.cap.max_inline_data);
	KUNIT_EXPECT_GE(test, resp.sq_stride, sizeof(struct kwarp_sqe) + 100);
	KUNIT_EXPECT_GE(test, resp.rq_stride,
			sizeof(struct kwarp_rqe) + 3 * sizeof(struct kwarp_sge));
	KUNIT_EXPECT_GE(test, resp.sq_len,
			KWARP_RING_ENTRIES_OFFSET + resp.sq_size * resp.sq_stride);
	KUNIT_EXPECT_GE(test, resp.rq_len,
			KWARP_RING_ENTRIES_OFFSET + resp.rq_size * resp.rq_stride);
	len = resp.sq_len + resp.rq_len;
	vt_expect_map(test, resp.mmap_key, len);
	KUNIT_ASSERT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, len), 0);
	KUNIT_EXPECT_PTR_EQ(test, vt->mapped, (void *)vt_qp->sq.ring.hdr);
	KUNIT_EXPECT_PTR_EQ(test, vt->mapped + resp.sq_len, (void *)vt_qp->rq.ring.hdr);
	vt_qp->ibqp.qp_type = IB_QPT_RC;
	KUNIT_EXPECT_EQ(test, kwarp_query_qp(&vt_qp->ibqp, &now, 0, &init), 0);
	KUNIT_EXPECT_MEMEQ(test, &now.cap, &attr.cap, sizeof(now.cap));
	KUNIT_EXPECT_MEMEQ(test, &init.cap, &attr.cap, sizeof(init.cap));
	vt_destroy_qp(test);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, len), -EINVAL);
}

/* 5041-8.2-1. A reference on the pid is held until the destruction. */
static void test_owner(struct kunit *test)
{
	unsigned int holders = refcount_read(&task_tgid(current)->count);
	struct ib_qp_init_attr attr = vt_qp_attr();

	attr.sq_sig_type = IB_SIGNAL_ALL_WR;
	KUNIT_ASSERT_EQ(test, vt_create_user(test, &attr), 0);
	KUNIT_EXPECT_PTR_EQ(test, vt_qp->ibuc, &vt->uc.ibuc);
	KUNIT_EXPECT_TRUE(test, vt_qp->sq.user);
	KUNIT_EXPECT_TRUE(test, uid_eq(vt_qp->owner, current_uid()));
	KUNIT_EXPECT_PTR_EQ(test, vt_qp->creator, task_tgid(current));
	KUNIT_EXPECT_EQ(test, refcount_read(&vt_qp->creator->count), holders + 1);
	KUNIT_EXPECT_TRUE(test, vt_qp->sq.sig_all);
	KUNIT_EXPECT_PTR_EQ(test, vt_qp->sq.cq, vt->scq);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.kdev, vt->kdev);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.ibqp, &vt_qp->ibqp);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.sq, &vt_qp->sq);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.recv_cq, vt->rcq);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.rq, &vt_qp->rq);
	KUNIT_EXPECT_NULL(test, vt->parts.shared_mem);
	vt_destroy_qp(test);
	KUNIT_EXPECT_EQ(test, refcount_read(&task_tgid(current)->count), holders);
}

/*
 * The fake functions append "recv-kick" to the log for the receive, and "kick" for the (empty)
 * chain of sends.
 */
static void test_kernel(struct kunit *test)
{
	struct ib_qp_init_attr attr = vt_qp_attr();
	const struct ib_recv_wr wr = { .wr_id = 3 }, *bad;
	const struct ib_send_wr *bad_send;

	KUNIT_ASSERT_EQ(test, kwarp_create_qp(&vt_qp->ibqp, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt->maps, 0);
	KUNIT_EXPECT_NULL(test, vt_qp->ibuc);
	vt_expect_log(test, "publish");
	KUNIT_EXPECT_EQ(test, kwarp_post_recv(&vt_qp->ibqp, &wr, &bad), 0);
	KUNIT_EXPECT_EQ(test, kwarp_post_send(&vt_qp->ibqp, NULL, &bad_send), 0);
	vt_expect_log(test, "recv-kick kick");
	vt_destroy_qp(test);
}

static void test_payer(struct kunit *test)
{
	struct ib_qp_init_attr attr = vt_qp_attr();

	vt->unpaid = 0;			/* do not count the rings of the fixture's CQs */
	KUNIT_ASSERT_EQ(test, vt_create_user(test, &attr), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 0);
	vt->log[0] = 0;
	vt_destroy_qp(test);
	memset(vt_qp, 0, sizeof(*vt_qp));
	vt_qp->ibqp.device = &vt->kdev->ibdev;
	vt_qp->ibqp.pd = &vt->pd.ibpd;
	attr = vt_qp_attr();
	KUNIT_ASSERT_EQ(test, kwarp_create_qp(&vt_qp->ibqp, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&vt_qp->ibqp, NULL), 0);
}

/*
 * A queue pair with an SRQ has no receive ring, and its receives are checked against the protection
 * domain of the SRQ.
 */
static void test_srq(struct kunit *test)
{
	struct ib_qp_init_attr attr = vt_qp_attr();
	struct kwarp_create_qp_resp resp;
	const struct ib_recv_wr *bad;

	attr.srq = &vt_srq->ibsrq;
	KUNIT_ASSERT_EQ(test, vt_create_user(test, &attr), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.rq_len, 0);
	KUNIT_EXPECT_EQ(test, resp.rq_size, 0);
	KUNIT_EXPECT_EQ(test, attr.cap.max_recv_wr, 0);
	KUNIT_EXPECT_EQ(test, attr.cap.max_recv_sge, 0);
	KUNIT_EXPECT_EQ(test, vt->rings, 3);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.shared_mem, &vt_srq->mem);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.rq, &vt_srq->rq);
	KUNIT_EXPECT_EQ(test, kwarp_post_recv(&vt_qp->ibqp, NULL, &bad), -EINVAL);
	vt_destroy_qp(test);
}

/* 5042-6.4.1-1: one queue pair more than the limit is refused, and is not counted as in use. */
static void test_limit(struct kunit *test)
{
	struct ib_qp_init_attr attr = vt_qp_attr();

	atomic_set(&vt->kdev->num_qp, KWARP_MAX_QP);
	KUNIT_EXPECT_EQ(test, vt_create_user(test, &attr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_qp), KWARP_MAX_QP);
	atomic_set(&vt->kdev->num_qp, KWARP_MAX_QP - 1);
	KUNIT_EXPECT_EQ(test, vt_create_user(test, &attr), 0);
	vt->log[0] = 0;
	vt_destroy_qp(test);
	atomic_set(&vt->kdev->num_qp, 0);
}

/* Doorbells and connections cannot find the queue pair: kwarp_qp_publish() is not called. */
static const struct fault_case {
	const char *desc;
	enum vt_fault fault;
	int nth;
	int ret;
} faults[] = {
	{ "charge", FAULT_CHARGE, 1, -ENOMEM },
	{ "charge of the Reads", FAULT_CHARGE, 2, -ENOMEM },
	{ "rings", FAULT_RING, 1, -ENOMEM },
	{ "number", FAULT_RESERVE, 1, -ENOMEM },
	{ "mapping of the rings", FAULT_MAP, 1, -ENOMEM },
	{ "answer", FAULT_ANSWER, 0, -EFAULT },
};

KUNIT_ARRAY_PARAM_DESC(fault, faults, desc);

static void test_fault(struct kunit *test)
{
	const struct fault_case *c = test->param_value;
	struct ib_qp_init_attr attr = vt_qp_attr();

	vt->fault = c->fault;
	vt->nth = c->nth;
	KUNIT_EXPECT_EQ(test, vt_create_user(test, &attr), c->ret);
	vt_expect_log(test, "");
	KUNIT_EXPECT_EQ(test, vt->rings, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_qp), 0);
}

/* Each allocation is rounded for itself. The rings of the fakes cost one octet. */
static void test_charge(struct kunit *test)
{
	struct ib_qp_init_attr attr = vt_qp_attr();
	const u64 queues = kmalloc_size_roundup(256 * sizeof(struct kwarp_oread)) +
			   kmalloc_size_roundup(256 * sizeof(struct kwarp_iread));

	KUNIT_ASSERT_EQ(test, vt_create_user(test, &attr), 0);
	KUNIT_EXPECT_EQ(test, vt->charged, KWARP_OBJECT_MEMORY + queues + 1 +
			kmalloc_size_roundup(sizeof(struct kwarp_qp)));
	KUNIT_EXPECT_LE(test, vt->charged, SZ_64K);
	vt_destroy_qp(test);
}

/* Two waits end with references left (vt->users), which makes three calls. */
static void test_destroy(struct kunit *test)
{
	vt_make_qp(test);
	vt->users = 2;
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&vt_qp->ibqp, NULL), 0);
	vt_expect_log(test, "retire unwire");
	KUNIT_EXPECT_EQ(test, vt->drops, 3);
	KUNIT_EXPECT_PTR_EQ(test, vt->dropped, vt_qp);
}

static struct kunit_case verbs_qp_cases[] = {
	KUNIT_CASE_PARAM(test_create, create_gen_params),
	KUNIT_CASE(test_answer),
	KUNIT_CASE(test_owner),
	KUNIT_CASE(test_kernel),
	KUNIT_CASE(test_payer),
	KUNIT_CASE(test_srq),
	KUNIT_CASE(test_limit),
	KUNIT_CASE_PARAM(test_fault, fault_gen_params),
	KUNIT_CASE(test_charge),
	KUNIT_CASE(test_destroy),
	{}
};

static struct kunit_suite verbs_qp_suite = {
	.name = "kwarp_verbs_qp",
	.init = verbs_qp_init,
	.exit = vt_exit,
	.test_cases = verbs_qp_cases,
};

kunit_test_suite(verbs_qp_suite);
