// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs after their creation. Words such as "close run" are calls of the fakes in
 * fake_qp.c.
 */
#include "qp_fixture.h"

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
	{ "RTS", IDLE, IB_QP_STATE, { .qp_state = IB_QPS_RTS }, "notice", -EINVAL },
	{ "RTS in error", ERROR, IB_QP_STATE, { .qp_state = IB_QPS_RTS }, "notice", -EINVAL },
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
	  { .qp_state = IB_QPS_RTS }, "notice", -EINVAL },
	{ "current state", RTS, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RTS }, "" },
	{ "another current state", RTS, IB_QP_CUR_STATE | IB_QP_STATE,
	  { .cur_qp_state = IB_QPS_SQD, .qp_state = IB_QPS_ERR }, "", -EINVAL },
	{ "current state INIT", IDLE, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_INIT }, "" },
	{ "current state RESET", IDLE, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RESET }, "" },
	{ "current state RTS", IDLE, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RTS }, "", -EINVAL },
	{ "current state RESET in RTS", RTS, IB_QP_CUR_STATE, { .cur_qp_state = IB_QPS_RESET }, "",
	  -EINVAL },
	{ "most ORD", IDLE, IB_QP_MAX_QP_RD_ATOMIC, { .max_rd_atomic = KWARP_MAX_ORD }, "" },
	{ "most IRD", IDLE, IB_QP_MAX_DEST_RD_ATOMIC, { .max_dest_rd_atomic = KWARP_MAX_IRD },
	  "" },
	{ "ORD that is not meant", IDLE, 0, { .max_rd_atomic = U8_MAX }, "" },
	{ "port 1", IDLE, IB_QP_PORT, { .port_num = 1 }, "" },
	{ "port 0", IDLE, IB_QP_PORT, { .port_num = 0 }, "", -EINVAL },
	{ "port 2", IDLE, IB_QP_PORT, { .port_num = 2 }, "", -EINVAL },
	{ "sizes of the queues", IDLE, IB_QP_CAP, { .cap.max_send_wr = 1 }, "", -EOPNOTSUPP },
	{ "sizes of the queues, and ERR", RTS, IB_QP_CAP | IB_QP_STATE,
	  { .qp_state = IB_QPS_ERR }, "", -EOPNOTSUPP },
	{ "rate limit", IDLE, IB_QP_RATE_LIMIT, { .rate_limit = 1 }, "", -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(modify, modifies, desc);

static void test_modify(struct kunit *test)
{
	const struct modify_case *c = test->param_value;
	struct ib_qp_attr attr = c->attr;

	vt_make_qp(test);
	vt->state = c->state;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&vt_qp->ibqp, &attr, c->mask, NULL), c->ret);
	vt_expect_log(test, c->log);
	vt_destroy_qp(test);
}

static void test_modify_noted(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR, .max_rd_atomic = 5,
				   .max_dest_rd_atomic = 6 }, now;
	int mask = IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC;
	struct ib_qp_init_attr init = { };

	vt_make_qp(test);
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&vt_qp->ibqp, &attr, mask | IB_QP_STATE, NULL), 0);
	attr.max_rd_atomic = 7;
	attr.port_num = 2;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&vt_qp->ibqp, &attr, mask | IB_QP_PORT, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_query_qp(&vt_qp->ibqp, &now, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, now.max_rd_atomic, 5);
	KUNIT_EXPECT_EQ(test, now.max_dest_rd_atomic, 6);
	KUNIT_EXPECT_EQ(test, now.qp_state, IB_QPS_RTR);
	/* A reset that fails does not change the state that query_qp shows. */
	attr.qp_state = IB_QPS_RESET;
	vt->event = -EINVAL;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&vt_qp->ibqp, &attr, IB_QP_STATE, NULL), -EINVAL);
	kwarp_query_qp(&vt_qp->ibqp, &now, 0, &init);
	KUNIT_EXPECT_EQ(test, now.qp_state, IB_QPS_RTR);
	vt->event = 0;
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&vt_qp->ibqp, &attr, IB_QP_STATE, NULL), 0);
	kwarp_query_qp(&vt_qp->ibqp, &now, 0, &init);
	KUNIT_EXPECT_EQ(test, now.qp_state, IB_QPS_INIT);
	vt_destroy_qp(test);
}

static void test_modify_request(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_udata *udata;

	vt_make_qp(test);
	vt->state = RTS;
	udata = vt_udata(test, 16, 0);
	vt_unknown(test, 15);
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&vt_qp->ibqp, &attr, IB_QP_STATE, udata),
			-EOPNOTSUPP);
	vt_expect_log(test, "");
	udata = vt_udata(test, 16, 8);
	KUNIT_EXPECT_EQ(test, kwarp_modify_qp(&vt_qp->ibqp, &attr, IB_QP_STATE, udata), 0);
	vt_expect_log(test, "abort run");
	vt_destroy_qp(test);
}

/* iw_cm gets a stand-in (cm/cm_qp.c) instead of a queue pair. */
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

	vt_make_qp(test);
	vt_qp->ibqp.send_cq = &vt->scq->ibcq;
	vt_qp->ibqp.recv_cq = &vt->rcq->ibcq;
	vt->netdev->mtu = 1500;
	vt->state = c->state;
	memset(&attr, 0xff, sizeof(attr));
	KUNIT_EXPECT_EQ(test, kwarp_query_qp(&vt_qp->ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, c->shown);
	KUNIT_EXPECT_EQ(test, attr.cur_qp_state, c->shown);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, attr.qp_access_flags, 0);
	KUNIT_EXPECT_EQ(test, init.qp_type, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, init.sq_sig_type, IB_SIGNAL_REQ_WR);
	KUNIT_EXPECT_PTR_EQ(test, init.send_cq, &vt->scq->ibcq);
	KUNIT_EXPECT_PTR_EQ(test, init.recv_cq, &vt->rcq->ibcq);
	vt_destroy_qp(test);
}

/* ----------------------------------------------------------------------- post */

/* Programs post to their rings and use the doorbell file (doorbell.c): the verbs refuse them. */
static void test_post_user(struct kunit *test)
{
	const struct ib_send_wr send = { .wr_id = 1 }, *bad_send = NULL;
	const struct ib_recv_wr recv = { .wr_id = 2 }, *bad_recv = NULL;

	vt_make_qp(test);
	KUNIT_EXPECT_EQ(test, kwarp_post_send(&vt_qp->ibqp, &send, &bad_send), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad_send, &send);
	KUNIT_EXPECT_EQ(test, kwarp_post_recv(&vt_qp->ibqp, &recv, &bad_recv), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad_recv, &recv);
	vt_expect_log(test, "");
	vt_destroy_qp(test);
}

static struct kunit_case verbs_qp_modify_cases[] = {
	KUNIT_CASE_PARAM(test_modify, modify_gen_params),
	KUNIT_CASE(test_modify_noted),
	KUNIT_CASE(test_modify_request),
	KUNIT_CASE(test_modify_stand_in),
	KUNIT_CASE_PARAM(test_query, state_gen_params),
	KUNIT_CASE(test_post_user),
	{}
};

static struct kunit_suite verbs_qp_modify_suite = {
	.name = "kwarp_verbs_qp_modify",
	.init = verbs_qp_init,
	.exit = vt_exit,
	.test_cases = verbs_qp_modify_cases,
};

kunit_test_suite(verbs_qp_modify_suite);
