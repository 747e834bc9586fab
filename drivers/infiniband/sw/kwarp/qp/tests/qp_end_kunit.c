// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of queue pairs: attach, the rights of the peer, and the end of the stream */
#include "fixture.h"

/* -------------------------------------------------------------------- attach */

static const struct past {
	const char *desc;
	int events[3];
} pasts[] = {
	{ "RTS", { -1 } },
	{ "CLOSING", { KWARP_QPE_CLOSE, -1 } },
	{ "TERM", { KWARP_QPE_PROTO, -1 } },
	{ "ERROR", { KWARP_QPE_ABORT, -1 } },
};

KUNIT_ARRAY_PARAM_DESC(past, pasts, desc);

static void test_attach_refused(struct kunit *test)
{
	const struct past *p = test->param_value;
	struct qp_test *t = test->priv;
	enum kwarp_qp_state state;
	u32 i;

	qt_begin_stream(test);
	qt_fail_with(t, KWARP_PERR_LOCAL);
	for (i = 0; p->events[i] >= 0; i++)
		qt_raise_event(test, p->events[i]);
	t->log[0] = 0;
	state = kwarp_qp_state(&t->qp);
	KUNIT_EXPECT_EQ(test, qt_attach_stream(t), -EINVAL);
	qt_run_work(t);
	qt_expect_log(test, "");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), state);
}

static void test_attach_fails(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->start = -ENOTCONN;
	KUNIT_EXPECT_EQ(test, qt_attach_stream(t), -ENOTCONN);
	qt_run_work(t);
	qt_expect_log(test, "start");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_IDLE);
	KUNIT_EXPECT_NULL(test, t->qp.cm);
	t->start = 0;
	qt_begin_stream(test);
}

static void test_attach_after_abort(struct kunit *test)
{
	struct qp_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_EQ(test, qt_attach_stream(t), -EINVAL);
	qt_run_work(t);
	qt_expect_log(test, "stop");
}

/* All processes of the QP's user may connect it; the process that made it, with any user id. */
static void test_may_connect(struct kunit *test)
{
	struct kwarp_qp *qp = &((struct qp_test *)test->priv)->qp;
	struct pid *other = find_get_pid(1);

	KUNIT_ASSERT_NOT_NULL(test, other);
	qp->owner = current_uid();
	qp->creator = other;
	KUNIT_EXPECT_TRUE(test, kwarp_qp_may_connect(qp));
	qp->owner = KUIDT_INIT(__kuid_val(current_uid()) + 1);
	KUNIT_EXPECT_FALSE(test, kwarp_qp_may_connect(qp));
	qp->creator = task_tgid(current);
	KUNIT_EXPECT_TRUE(test, kwarp_qp_may_connect(qp));
	put_pid(other);
}

static void test_reset(struct kunit *test)
{
	struct qp_test *t = test->priv;

	qt_begin_stream(test);
	t->waits = 0;
	kwarp_qp_poll(&t->qp);
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), -EINVAL);
	KUNIT_EXPECT_TRUE(test, t->queued);
	qt_run_work(t);
	qt_expect_log(test, "poll");
	/* A stream is ending: RESET first carries out the pending actions, including DOWN. */
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	qt_expect_log(test, "stop+fin down reset");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_IDLE);
	qt_begin_stream(test);
}

static void reset_early(struct qp_test *t)
{
	qt_log_word(kwarp_qp_reset(&t->qp) ? "refused" : "reset");
}

/*
 * Another thread tries a RESET after the engine is stopped, but before DOWN is reported; here the
 * handler of QP_FATAL does so. The RESET must wait, or the endpoint of the next stream would get
 * that DOWN.
 */
static void test_reset_before_down(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->on_fatal = reset_early;
	qt_begin_stream(test);
	t->qp.engine.perr = KWARP_PERR_MPA_LOST;
	qt_raise_event(test, KWARP_QPE_LOST);
	qt_expect_log(test, "stop FATAL refused lost");
	/*
	 * kwarp_qp_reset() has waited for the context that reports DOWN. The fake wait only counts
	 * this and returns, so the RESET was refused.
	 */
	KUNIT_EXPECT_GT(test, t->waits, 0);
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), 0);
}

static void establish_late(struct qp_test *t)
{
	t->qp.engine.ops->established(&t->qp.engine);
}

/* An FPDU that comes while a stream is being stopped causes no upcall for the next stream. */
static void test_established_late(struct kunit *test)
{
	struct qp_test *t = test->priv;

	qt_begin_stream(test);
	t->during_stop = establish_late;
	qt_raise_event(test, KWARP_QPE_ABORT);
	qt_expect_log(test, "stop+fin down");
	t->during_stop = NULL;
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	qt_expect_log(test, "reset");
	qt_begin_stream(test);
}

/* -------------------------------------------------------------------- rights */

#define BOTH	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)
#define ALL	(BOTH | IB_ACCESS_REMOTE_ATOMIC)

static const struct rights {
	const char *desc;
	int init;		/* rights in a modify_qp to INIT; -1: no such call */
	int own;		/* rights in a later modify_qp without a state; -1: no such call */
	int rtr;		/* rights in a later modify_qp to RTR; -1: no such call */
	int want;
} rights[] = {
	{ "nothing said", -1, -1, -1, ALL },
	{ "as librdmacm connects", 0, -1, -1, ALL },
	{ "as librdmacm accepts", 0, -1, BOTH, ALL },
	{ "some at INIT", IB_ACCESS_REMOTE_WRITE, -1, -1, IB_ACCESS_REMOTE_WRITE },
	{ "Reads only at INIT", IB_ACCESS_REMOTE_READ, -1, -1, IB_ACCESS_REMOTE_READ },
	{ "no atomic operations on purpose", 0, BOTH, -1, BOTH },
	{ "some later", 0, IB_ACCESS_REMOTE_WRITE, -1, IB_ACCESS_REMOTE_WRITE },
	{ "some, then accepted", 0, IB_ACCESS_REMOTE_WRITE, BOTH, IB_ACCESS_REMOTE_WRITE },
	{ "none on purpose", 0, 0, -1, 0 },
	{ "none on purpose, then accepted", 0, 0, BOTH, 0 },
	{ "taken away", BOTH, 0, -1, 0 },
};

KUNIT_ARRAY_PARAM_DESC(rights, rights, desc);

static void test_rights(struct kunit *test)
{
	const struct rights *r = test->param_value;
	struct qp_test *t = test->priv;

	if (r->init >= 0)
		kwarp_qp_set_access(&t->qp, r->init, true);
	if (r->own >= 0)
		kwarp_qp_set_access(&t->qp, r->own, false);
	if (r->rtr >= 0)
		kwarp_qp_set_access(&t->qp, r->rtr, true);
	qt_begin_stream(test);
	KUNIT_EXPECT_EQ(test, t->qp.engine.access, r->want);
	KUNIT_EXPECT_EQ(test, t->qp.attr.qp_access_flags, r->want);
	/* RESET clears the access rights, and forgets that the consumer has chosen them. */
	qt_raise_event(test, KWARP_QPE_ABORT);
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	KUNIT_EXPECT_EQ(test, t->qp.engine.access, 0);
	t->log[0] = 0;
	qt_begin_stream(test);
	KUNIT_EXPECT_EQ(test, t->qp.engine.access, ALL);
}

/* ------------------------------------------------------------------- the end */

static void destroy_qp(struct kunit *test, const char *log)
{
	struct qp_test *t = test->priv;

	kwarp_qp_retire(&t->qp);
	KUNIT_EXPECT_NULL(test, kwarp_qp_lookup(t->kdev, t->qp.ibqp.qp_num));
	KUNIT_EXPECT_TRUE(test, kwarp_qp_gone(&t->qp));
	qt_expect_log(test, log);
	KUNIT_EXPECT_FALSE(test, t->queued);
}

static const struct end {
	const char *desc;
	enum kwarp_perr perr;
	bool term;
	enum kwarp_qp_event event;
	bool told;
} ends[] = {
	{ "an error", KWARP_PERR_DDP_T_STAG, false, KWARP_QPE_PROTO, true },
	{ "the peer's Terminate", KWARP_PERR_NONE, true, KWARP_QPE_PEER_TERM, true },
	{ "a loss", KWARP_PERR_NONE, false, KWARP_QPE_LOST, true },
	{ "a loss that was found early", KWARP_PERR_MPA_LOST, false, KWARP_QPE_LOST, true },
	{ "an abort", KWARP_PERR_NONE, false, KWARP_QPE_ABORT, false },
	{ "a close", KWARP_PERR_NONE, false, KWARP_QPE_CLOSE, false },
	{ "the peer's close", KWARP_PERR_NONE, false, KWARP_QPE_PEER_FIN, false },
};

KUNIT_ARRAY_PARAM_DESC(end, ends, desc);

/* An end by an error is told once, with the program; an end by a close is not told. */
static void test_tell_end(struct kunit *test)
{
	const struct end *end = test->param_value;
	struct qp_test *t = test->priv;

	strscpy(t->qp.program, "rping", sizeof(t->qp.program));
	t->qp.creator = task_tgid(current);
	qt_begin_stream(test);
	qt_fail_with(t, end->perr);
	if (end->term)
		set_bit(KWARP_E_TERM_SEEN, &t->qp.engine.flags);
	qt_raise_event(test, end->event);
	kwarp_qp_event(&t->qp, KWARP_QPE_TERM_SENT);
	kwarp_qp_event(&t->qp, KWARP_QPE_ABORT);
	qt_run_work(t);
	KUNIT_EXPECT_EQ(test, t->ends, end->told);
	if (!end->told)
		return;
	KUNIT_EXPECT_EQ(test, t->ended.qpn, t->qp.ibqp.qp_num);
	KUNIT_EXPECT_STREQ(test, t->ended.program, "rping");
	KUNIT_EXPECT_PTR_EQ(test, t->ended.pid, task_tgid(current));
}

/* A startup that has failed is told with the program, too. */
static void test_tell_no_start(struct kunit *test)
{
	struct kwarp_ended rec = { .kind = KWARP_ENDED_STARTUP, .no_start = "NO_REPLY" };
	struct qp_test *t = test->priv;

	strscpy(t->qp.program, "rping", sizeof(t->qp.program));
	t->qp.creator = task_tgid(current);
	kwarp_qp_tell_no_start(&t->qp, &rec);
	KUNIT_EXPECT_EQ(test, t->ended.kind, KWARP_ENDED_STARTUP);
	KUNIT_EXPECT_EQ(test, t->ended.qpn, t->qp.ibqp.qp_num);
	KUNIT_EXPECT_STREQ(test, t->ended.program, "rping");
	KUNIT_EXPECT_PTR_EQ(test, t->ended.pid, task_tgid(current));
	KUNIT_EXPECT_STREQ(test, t->ended.no_start, "NO_REPLY");
}

static void test_describe(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_engine_info info = {};

	KUNIT_EXPECT_TRUE(test, kwarp_qp_describe(&t->qp, &info));
	KUNIT_EXPECT_EQ(test, info.sq_used, 4711);
	set_bit(KWARP_QPP_RETIRED, &t->qp.pending);
	info.sq_used = 0;
	KUNIT_EXPECT_FALSE(test, kwarp_qp_describe(&t->qp, &info));
	KUNIT_EXPECT_EQ(test, info.sq_used, 0);
}

static void test_retire(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_qp *qp;

	qp = kwarp_qp_lookup(t->kdev, t->qp.ibqp.qp_num);
	KUNIT_ASSERT_PTR_EQ(test, qp, &t->qp);
	qt_begin_stream(test);
	kwarp_qp_retire(&t->qp);
	qt_expect_log(test, "stop+fin down");
	/* The test still has the reference from kwarp_qp_lookup(), so the wait times out. */
	KUNIT_EXPECT_FALSE(test, kwarp_qp_gone(&t->qp));
	KUNIT_EXPECT_NULL(test, kwarp_qp_lookup(t->kdev, t->qp.ibqp.qp_num));
	kwarp_qp_put(qp);
	KUNIT_EXPECT_TRUE(test, kwarp_qp_gone(&t->qp));
	qt_expect_log(test, "");
}

/* No event LAST_WQE_REACHED ("LAST" in the log): no consumer waits for it any more. */
static void test_retire_srq(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	destroy_qp(test, "stop");
}

static void test_retire_srq_with_stream(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	qt_begin_stream(test);
	destroy_qp(test, "stop+fin down");
}

/* Modify to ERR raises LAST_WQE_REACHED, also without a stream: ib_drain_qp() waits for it. */
static void test_last_wqe(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	qt_raise_event(test, KWARP_QPE_ABORT);
	qt_expect_log(test, "stop LAST");
	destroy_qp(test, "stop");
}

static void pass_limit(struct qp_test *t)
{
	t->during_stop = NULL;
	t->qp.engine.ops->srq_limit(&t->qp.engine);
}

/* A queue pair of the SRQ is being destroyed: LIMIT_REACHED ("LIMIT") is raised all the same. */
static void test_limit_at_the_end(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	qt_begin_stream(test);
	t->during_stop = pass_limit;
	destroy_qp(test, "stop+fin down LIMIT");
	KUNIT_EXPECT_EQ(test, t->qp.pending & BIT(KWARP_QPP_SRQ_LIMIT), 0);
}

static void test_limit(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	qt_begin_stream(test);
	pass_limit(t);
	pass_limit(t);
	qt_run_work(t);
	qt_expect_log(test, "LIMIT");
	destroy_qp(test, "stop+fin down");
}

static struct kunit_case qp_end_cases[] = {
	KUNIT_CASE_PARAM(test_attach_refused, past_gen_params),
	KUNIT_CASE(test_attach_fails),
	KUNIT_CASE(test_attach_after_abort),
	KUNIT_CASE(test_may_connect),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_reset_before_down),
	KUNIT_CASE(test_established_late),
	KUNIT_CASE_PARAM(test_rights, rights_gen_params),
	KUNIT_CASE_PARAM(test_tell_end, end_gen_params),
	KUNIT_CASE(test_tell_no_start),
	KUNIT_CASE(test_describe),
	KUNIT_CASE(test_retire),
	KUNIT_CASE(test_retire_srq),
	KUNIT_CASE(test_retire_srq_with_stream),
	KUNIT_CASE(test_last_wqe),
	KUNIT_CASE(test_limit_at_the_end),
	KUNIT_CASE(test_limit),
	{}
};

static struct kunit_suite qp_end_suite = {
	.name = "kwarp_qp_end",
	.init = qt_qp_test_init,
	.test_cases = qp_end_cases,
};

kunit_test_suite(qp_end_suite);
