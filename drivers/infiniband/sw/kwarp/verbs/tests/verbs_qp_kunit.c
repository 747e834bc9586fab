// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs as the verbs show them: what is refused and with which errno, what is granted,
 * what user space can map, which stream event each change of state causes, and that a creation
 * that fails leaves no object behind.
 *
 * Numbers such as 5041-8.2-1 name requirements of RFCs, see Documentation/conformance.
 */
#include "fixture.h"

#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/sched.h>

static struct kwarp_srq *srq;
static struct kwarp_qp *qp;

static struct ib_qp_init_attr an_attr(void)
{
	return (struct ib_qp_init_attr){
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.send_cq = &vt->scq->ibcq,
		.recv_cq = &vt->rcq->ibcq,
		.cap = { 4, 4, 1, 1, 0 },
	};
}

static int verbs_qp_init(struct kunit *test)
{
	int ret = vt_init(test);

	if (ret)
		return ret;
	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	if (!qp || !srq)
		return -ENOMEM;
	qp->ibqp.device = &vt->kdev->ibdev;
	qp->ibqp.pd = &vt->pd;
	vt_make_cq(test, &vt->scq, 4);
	vt_make_cq(test, &vt->rcq, 4);
	return 0;
}

/* Create the queue pair for a program, with room for the whole answer. */
static int create_user(struct kunit *test, struct ib_qp_init_attr *attr)
{
	return kwarp_create_qp(&qp->ibqp, attr,
			       vt_udata(test, 0, sizeof(struct kwarp_create_qp_resp)));
}

static void make_qp(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr();

	KUNIT_ASSERT_EQ(test, create_user(test, &attr), 0);
	vt_expect_log(test, "publish");
	qp->ibqp.qp_type = attr.qp_type;
}

static void destroy_qp(struct kunit *test)
{
	vt->log[0] = 0;
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&qp->ibqp, NULL), 0);
	vt_expect_log(test, "retire unwire");
	KUNIT_EXPECT_EQ(test, vt->drops, 1);
	KUNIT_EXPECT_PTR_EQ(test, vt->dropped, qp);
}

/* --------------------------------------------------------------------- create */

/* Capabilities at their limits, and creations in which one thing is wrong. */
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
	/* Never more than the device attributes say. */
	KUNIT_EXPECT_LE(test, got->max_send_wr, KWARP_MAX_SQ_WR);
	KUNIT_EXPECT_LE(test, got->max_recv_wr, KWARP_MAX_RQ_WR);
	KUNIT_EXPECT_LE(test, got->max_inline_data, KWARP_MAX_INLINE);
	KUNIT_EXPECT_TRUE(test, is_power_of_2(got->max_send_wr));
	KUNIT_EXPECT_TRUE(test, is_power_of_2(got->max_recv_wr));
}

static void test_create(struct kunit *test)
{
	const struct create_case *c = test->param_value;
	struct ib_qp_init_attr attr = an_attr();
	int ret;

	attr.cap = c->cap;
	if (c->type)
		attr.qp_type = c->type;
	if (c->no_scq)
		attr.send_cq = NULL;
	if (c->no_rcq)
		attr.recv_cq = NULL;
	attr.create_flags = c->flags;
	ret = create_user(test, &attr);
	KUNIT_EXPECT_EQ(test, ret, c->ret);
	if (ret)
		return;
	expect_granted(test, &c->cap, &attr.cap);
	destroy_qp(test);
}

/* The answer to user space describes the rings that were made, and the process can map them. */
static void test_answer(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr(), init = { };
	struct kwarp_create_qp_resp resp;
	struct ib_qp_attr now;
	u32 len;

	attr.cap = (struct ib_qp_cap){ 300, 5, 2, 3, 100 };
	KUNIT_ASSERT_EQ(test, create_user(test, &attr), 0);
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
	KUNIT_EXPECT_PTR_EQ(test, vt->mapped, (void *)qp->sq.ring.hdr);
	KUNIT_EXPECT_PTR_EQ(test, vt->mapped + resp.sq_len, (void *)qp->rq.ring.hdr);
	qp->ibqp.qp_type = IB_QPT_RC;
	KUNIT_EXPECT_EQ(test, kwarp_query_qp(&qp->ibqp, &now, 0, &init), 0);
	KUNIT_EXPECT_MEMEQ(test, &now.cap, &attr.cap, sizeof(now.cap));
	KUNIT_EXPECT_MEMEQ(test, &init.cap, &attr.cap, sizeof(init.cap));
	destroy_qp(test);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, len), -EINVAL);
}

/* 5041-8.2-1: owner, context and protection domain of a queue pair, and the creator's pid. */
static void test_owner(struct kunit *test)
{
	unsigned int holders = refcount_read(&task_tgid(current)->count);
	struct ib_qp_init_attr attr = an_attr();

	attr.sq_sig_type = IB_SIGNAL_ALL_WR;
	KUNIT_ASSERT_EQ(test, create_user(test, &attr), 0);
	KUNIT_EXPECT_TRUE(test, qp->user);
	KUNIT_EXPECT_PTR_EQ(test, qp->ibuc, &vt->uc.ibuc);
	KUNIT_EXPECT_TRUE(test, qp->sq.user);
	KUNIT_EXPECT_TRUE(test, qp->rq.user);
	KUNIT_EXPECT_TRUE(test, uid_eq(qp->owner, current_uid()));
	KUNIT_EXPECT_PTR_EQ(test, qp->creator, task_tgid(current));
	KUNIT_EXPECT_EQ(test, refcount_read(&qp->creator->count), holders + 1);
	KUNIT_EXPECT_TRUE(test, qp->sq.sig_all);
	KUNIT_EXPECT_PTR_EQ(test, qp->sq.cq, vt->scq);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.kdev, vt->kdev);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.ibqp, &qp->ibqp);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.sq, &qp->sq);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.recv_cq, vt->rcq);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.rq, &qp->rq);
	KUNIT_EXPECT_NULL(test, vt->parts.shared_mem);
	destroy_qp(test);
	KUNIT_EXPECT_EQ(test, refcount_read(&task_tgid(current)->count), holders);
}

/* The queue pair of a kernel consumer has no mapping, and the post verbs work. */
static void test_kernel(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr();
	const struct ib_recv_wr wr = { .wr_id = 3 }, *bad;
	const struct ib_send_wr *bad_send;

	KUNIT_ASSERT_EQ(test, kwarp_create_qp(&qp->ibqp, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt->maps, 0);
	KUNIT_EXPECT_NULL(test, qp->ibuc);
	vt_expect_log(test, "publish");
	KUNIT_EXPECT_EQ(test, kwarp_post_recv(&qp->ibqp, &wr, &bad), 0);
	KUNIT_EXPECT_EQ(test, kwarp_post_send(&qp->ibqp, NULL, &bad_send), 0);
	vt_expect_log(test, "recv-kick kick");
	destroy_qp(test);
}

/* A process pays for the memory of its rings; nobody pays for those of a kernel consumer. */
static void test_payer(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr();

	vt->unpaid = 0;			/* the fixture's CQs are a kernel consumer's */
	KUNIT_ASSERT_EQ(test, create_user(test, &attr), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 0);
	vt->log[0] = 0;
	destroy_qp(test);
	memset(qp, 0, sizeof(*qp));
	qp->ibqp.device = &vt->kdev->ibdev;
	qp->ibqp.pd = &vt->pd;
	attr = an_attr();
	KUNIT_ASSERT_EQ(test, kwarp_create_qp(&qp->ibqp, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&qp->ibqp, NULL), 0);
}

/* With an SRQ there is no receive ring; receives are checked against the SRQ's domain. */
static void test_srq(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr();
	struct kwarp_create_qp_resp resp;
	const struct ib_recv_wr *bad;

	attr.srq = &srq->ibsrq;
	KUNIT_ASSERT_EQ(test, create_user(test, &attr), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.rq_len, 0);
	KUNIT_EXPECT_EQ(test, resp.rq_size, 0);
	KUNIT_EXPECT_EQ(test, attr.cap.max_recv_wr, 0);
	KUNIT_EXPECT_EQ(test, attr.cap.max_recv_sge, 0);
	KUNIT_EXPECT_EQ(test, vt->rings, 3);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.shared_mem, &srq->mem);
	KUNIT_EXPECT_PTR_EQ(test, vt->parts.rq, &srq->rq);
	KUNIT_EXPECT_EQ(test, kwarp_post_recv(&qp->ibqp, NULL, &bad), -EINVAL);
	destroy_qp(test);
}

/* 5042-6.4.1-1: a queue pair more than the limit is refused, and not counted. */
static void test_limit(struct kunit *test)
{
	struct ib_qp_init_attr attr = an_attr();

	atomic_set(&vt->kdev->num_qp, KWARP_MAX_QP);
	KUNIT_EXPECT_EQ(test, create_user(test, &attr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_qp), KWARP_MAX_QP);
	atomic_set(&vt->kdev->num_qp, KWARP_MAX_QP - 1);
	KUNIT_EXPECT_EQ(test, create_user(test, &attr), 0);
	vt->log[0] = 0;
	destroy_qp(test);
	atomic_set(&vt->kdev->num_qp, 0);
}

/* A creation in which one step fails leaves nothing (see vt_exit()) and publishes no queue pair. */
static const struct fault_case {
	const char *desc;
	enum vt_fault fault;
	int nth;
	int ret;
} faults[] = {
	{ "rings", FAULT_RING, 1, -ENOMEM },
	{ "number", FAULT_RESERVE, 1, -ENOMEM },
	{ "mapping of the rings", FAULT_MAP, 1, -ENOMEM },
	{ "answer", FAULT_ANSWER, 0, -EFAULT },
};

KUNIT_ARRAY_PARAM_DESC(fault, faults, desc);

static void test_fault(struct kunit *test)
{
	const struct fault_case *c = test->param_value;
	struct ib_qp_init_attr attr = an_attr();

	vt->fault = c->fault;
	vt->nth = c->nth;
	KUNIT_EXPECT_EQ(test, create_user(test, &attr), c->ret);
	vt_expect_log(test, "");
	KUNIT_EXPECT_EQ(test, vt->rings, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_qp), 0);
}

/* Destruction asks connection management to drop the QP until the last reference is gone. */
static void test_destroy(struct kunit *test)
{
	make_qp(test);
	vt->users = 2;
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&qp->ibqp, NULL), 0);
	vt_expect_log(test, "retire unwire");
	KUNIT_EXPECT_EQ(test, vt->drops, 3);
	KUNIT_EXPECT_PTR_EQ(test, vt->dropped, qp);
}

/* --------------------------------------------------------------------- modify */

#define IDLE	KWARP_QPS_IDLE
#define RTS	KWARP_QPS_RTS
#define ERROR	KWARP_QPS_ERROR

static const struct modify_case {
	const char *desc;
	enum kwarp_qp_state state;
	int mask;
	struct ib_qp_attr attr;
	const char *log;
	int ret;
} modifies[] = {
	{ "nothing", IDLE, 0, { }, "" },
	{ "INIT", IDLE, IB_QP_STATE, { .qp_state = IB_QPS_INIT }, "" },
	{ "RTR", IDLE, IB_QP_STATE, { .qp_state = IB_QPS_RTR }, "" },
	{ "INIT in RTS", RTS, IB_QP_STATE, { .qp_state = IB_QPS_INIT }, "", -EINVAL },
	{ "RTR in error", ERROR, IB_QP_STATE, { .qp_state = IB_QPS_RTR }, "", -EINVAL },
	/* RTS without a stream is refused: with iWARP only rdma_cm sets up a stream. */
	{ "RTS", IDLE, IB_QP_STATE, { .qp_state = IB_QPS_RTS }, "", -EINVAL },
	{ "RTS in error", ERROR, IB_QP_STATE, { .qp_state = IB_QPS_RTS }, "", -EINVAL },
	{ "RTS in RTS", RTS, IB_QP_STATE, { .qp_state = IB_QPS_RTS }, "" },
	{ "SQD", RTS, IB_QP_STATE, { .qp_state = IB_QPS_SQD }, "close run" },
	{ "ERR", RTS, IB_QP_STATE, { .qp_state = IB_QPS_ERR }, "abort run" },
	{ "RESET", ERROR, IB_QP_STATE, { .qp_state = IB_QPS_RESET }, "reset" },
	{ "SQE", RTS, IB_QP_STATE, { .qp_state = IB_QPS_SQE }, "", -EINVAL },
	{ "no state", RTS, IB_QP_STATE, { .qp_state = 99 }, "", -EINVAL },
	{ "access", IDLE, IB_QP_ACCESS_FLAGS, { .qp_access_flags = IB_ACCESS_REMOTE_READ },
	  "access" },
	{ "access in INIT", IDLE, IB_QP_STATE | IB_QP_ACCESS_FLAGS, { .qp_state = IB_QPS_INIT },
	  "access-of-setup" },
	{ "access in RTR", IDLE, IB_QP_STATE | IB_QP_ACCESS_FLAGS, { .qp_state = IB_QPS_RTR },
	  "access-of-setup" },
	{ "access in ERR", RTS, IB_QP_STATE | IB_QP_ACCESS_FLAGS, { .qp_state = IB_QPS_ERR },
	  "abort run access" },
	{ "access with a state that is refused", IDLE, IB_QP_STATE | IB_QP_ACCESS_FLAGS,
	  { .qp_state = IB_QPS_RTS }, "", -EINVAL },
	{ "current state", RTS, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RTS }, "" },
	{ "another current state", RTS, IB_QP_CUR_STATE | IB_QP_STATE,
	  { .cur_qp_state = IB_QPS_SQD, .qp_state = IB_QPS_ERR }, "", -EINVAL },
	{ "current state INIT", IDLE, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_INIT }, "" },
	{ "current state RESET", IDLE, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RESET }, "" },
	{ "current state RTS", IDLE, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RTS }, "", -EINVAL },
	{ "current state RESET in RTS", RTS, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RESET }, "",
	  -EINVAL },
	{ "most ORD", IDLE, IB_QP_MAX_QP_RD_ATOMIC, { .max_rd_atomic = KWARP_MAX_ORD }, "" },
	{ "ORD", IDLE, IB_QP_MAX_QP_RD_ATOMIC, { .max_rd_atomic = KWARP_MAX_ORD + 1 }, "",
	  -EINVAL },
	{ "most IRD", IDLE, IB_QP_MAX_DEST_RD_ATOMIC, { .max_dest_rd_atomic = KWARP_MAX_IRD },
	  "" },
	{ "IRD", IDLE, IB_QP_MAX_DEST_RD_ATOMIC, { .max_dest_rd_atomic = KWARP_MAX_IRD + 1 }, "",
	  -EINVAL },
	{ "ORD that is not meant", IDLE, 0, { .max_rd_atomic = U8_MAX }, "" },
	{ "port 1", IDLE, IB_QP_PORT, { .port_num = 1 }, "" },
	{ "port 0", IDLE, IB_QP_PORT, { .port_num = 0 }, "", -EINVAL },
	{ "port 2", IDLE, IB_QP_PORT, { .port_num = 2 }, "", -EINVAL },
	{ "rate limit", IDLE, IB_QP_RATE_LIMIT, { .rate_limit = 1 }, "", -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(modify, modifies, desc);

static void test_modify(struct kunit *test)
{
	const struct modify_case *c = test->param_value;
	struct ib_qp_attr attr = c->attr;

	make_qp(test);
	vt->state = c->state;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&qp->ibqp, &attr, c->mask, NULL), c->ret);
	vt_expect_log(test, c->log);
	destroy_qp(test);
}

/* A modify that is refused changes nothing; values of an accepted one can be queried. */
static void test_modify_noted(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR, .max_rd_atomic = 5,
				   .max_dest_rd_atomic = 6 }, now;
	int mask = IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC;
	struct ib_qp_init_attr init = { };

	make_qp(test);
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&qp->ibqp, &attr, mask | IB_QP_STATE, NULL), 0);
	attr.max_rd_atomic = 7;
	attr.max_dest_rd_atomic = KWARP_MAX_IRD + 1;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&qp->ibqp, &attr, mask, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_query_qp(&qp->ibqp, &now, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, now.max_rd_atomic, 5);
	KUNIT_EXPECT_EQ(test, now.max_dest_rd_atomic, 6);
	KUNIT_EXPECT_EQ(test, now.qp_state, IB_QPS_RTR);
	/* A reset that fails leaves the state that query_qp shows. */
	attr.qp_state = IB_QPS_RESET;
	vt->event = -EINVAL;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&qp->ibqp, &attr, IB_QP_STATE, NULL), -EINVAL);
	kwarp_query_qp(&qp->ibqp, &now, 0, &init);
	KUNIT_EXPECT_EQ(test, now.qp_state, IB_QPS_RTR);
	vt->event = 0;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&qp->ibqp, &attr, IB_QP_STATE, NULL), 0);
	kwarp_query_qp(&qp->ibqp, &now, 0, &init);
	KUNIT_EXPECT_EQ(test, now.qp_state, IB_QPS_INIT);
	destroy_qp(test);
}

static void test_modify_request(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_udata *udata;

	make_qp(test);
	vt->state = RTS;
	udata = vt_udata(test, 16, 0);
	vt_unknown(test, 15);
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&qp->ibqp, &attr, IB_QP_STATE, udata), -EOPNOTSUPP);
	vt_expect_log(test, "");
	udata = vt_udata(test, 16, 8);
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&qp->ibqp, &attr, IB_QP_STATE, udata), 0);
	vt_expect_log(test, "abort run");
	destroy_qp(test);
}

/* iw_cm modifies its stand-in, which is no queue pair: the call goes to connection management. */
static void test_modify_stand_in(struct kunit *test)
{
	struct ib_qp stand_in = { .qp_type = IB_QPT_RESERVED1 };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD };

	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&stand_in, &attr, IB_QP_STATE, NULL), 0);
	vt_expect_log(test, "cm-close");
	attr.qp_state = IB_QPS_ERR;
	vt->event = -EINVAL;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&stand_in, &attr, IB_QP_STATE, NULL), -EINVAL);
	vt_expect_log(test, "cm-abort");
}

/* ---------------------------------------------------------------------- query */

static const struct state_case {
	const char *desc;
	enum kwarp_qp_state state;
	enum ib_qp_state shown;
} states[] = {
	{ "IDLE", KWARP_QPS_IDLE, IB_QPS_INIT },
	{ "RTS", KWARP_QPS_RTS, IB_QPS_RTS },
	{ "CLOSING", KWARP_QPS_CLOSING, IB_QPS_SQD },
	{ "TERM", KWARP_QPS_TERM, IB_QPS_ERR },
	{ "ERROR", KWARP_QPS_ERROR, IB_QPS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(state, states, desc);

static void test_query(struct kunit *test)
{
	const struct state_case *c = test->param_value;
	struct ib_qp_init_attr init = { };
	struct ib_qp_attr attr;

	make_qp(test);
	qp->ibqp.send_cq = &vt->scq->ibcq;
	qp->ibqp.recv_cq = &vt->rcq->ibcq;
	vt->netdev->mtu = 1500;
	vt->state = c->state;
	memset(&attr, 0xff, sizeof(attr));
	KUNIT_EXPECT_EQ(test, kwarp_query_qp(&qp->ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, c->shown);
	KUNIT_EXPECT_EQ(test, attr.cur_qp_state, c->shown);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, attr.qp_access_flags, 0);
	KUNIT_EXPECT_EQ(test, init.qp_type, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, init.sq_sig_type, IB_SIGNAL_REQ_WR);
	KUNIT_EXPECT_PTR_EQ(test, init.send_cq, &vt->scq->ibcq);
	KUNIT_EXPECT_PTR_EQ(test, init.recv_cq, &vt->rcq->ibcq);
	destroy_qp(test);
}

/* ----------------------------------------------------------------------- post */

/* Programs post to their rings and use the doorbell file (doorbell.c): the verbs refuse them. */
static void test_post_user(struct kunit *test)
{
	const struct ib_send_wr send = { .wr_id = 1 }, *bad_send = NULL;
	const struct ib_recv_wr recv = { .wr_id = 2 }, *bad_recv = NULL;

	make_qp(test);
	KUNIT_EXPECT_EQ(test, kwarp_post_send(&qp->ibqp, &send, &bad_send), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad_send, &send);
	KUNIT_EXPECT_EQ(test, kwarp_post_recv(&qp->ibqp, &recv, &bad_recv), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad_recv, &recv);
	vt_expect_log(test, "");
	destroy_qp(test);
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
	KUNIT_CASE(test_destroy),
	KUNIT_CASE_PARAM(test_modify, modify_gen_params),
	KUNIT_CASE(test_modify_noted),
	KUNIT_CASE(test_modify_request),
	KUNIT_CASE(test_modify_stand_in),
	KUNIT_CASE_PARAM(test_query, state_gen_params),
	KUNIT_CASE(test_post_user),
	{ }
};

static struct kunit_suite verbs_qp_suite = {
	.name = "kwarp_verbs_qp",
	.init = verbs_qp_init,
	.exit = vt_exit,
	.test_cases = verbs_qp_cases,
};

kunit_test_suite(verbs_qp_suite);
