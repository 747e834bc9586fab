// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of a queue pair's actions when an event happens to its stream: which actions, in what
 * order, and that each comes once. The actions call fakes, which note words in a log; "down" is the
 * upcall DOWN after an orderly end or an abort, "lost" is DOWN after the loss of the connection.
 *
 * Numbers such as 5041-6.2.1-2 name requirements of RFCs, see Documentation/conformance.
 */
#include "fixture.h"

/*
 * For each event of an attached stream: the error that the engine has recorded, the words that the
 * actions log, the new state, and the time that the timer is set for (0: the stream has ended, and
 * the timer is stopped).
 */
static const struct action {
	const char *desc;
	enum kwarp_qp_event event;
	enum kwarp_perr perr;
	const char *log;
	enum kwarp_qp_state state;
	unsigned int timer_ms;
} actions[] = {
	{ "CLOSE", KWARP_QPE_CLOSE, 0, "drain", KWARP_QPS_CLOSING, KWARP_DRAIN_TIMEOUT_MS },
	{ "PEER_FIN", KWARP_QPE_PEER_FIN, 0, "peer-closed drain", KWARP_QPS_CLOSING,
	  KWARP_DRAIN_TIMEOUT_MS },
	{ "ABORT", KWARP_QPE_ABORT, 0, "stop+fin down", KWARP_QPS_ERROR, 0 },
	{ "LOST", KWARP_QPE_LOST, KWARP_PERR_MPA_LOST, "stop FATAL lost", KWARP_QPS_ERROR, 0 },
	{ "PEER_TERM", KWARP_QPE_PEER_TERM, 0, "stop+fin REQ down", KWARP_QPS_ERROR, 0 },
	{ "PROTO", KWARP_QPE_PROTO, KWARP_PERR_LOCAL, "term FATAL", KWARP_QPS_TERM,
	  KWARP_TERM_TIMEOUT_MS },
	{ "PROTO of access", KWARP_QPE_PROTO, KWARP_PERR_R_STAG, "term ACCESS", KWARP_QPS_TERM,
	  KWARP_TERM_TIMEOUT_MS },
};

KUNIT_ARRAY_PARAM_DESC(action, actions, desc);

static void test_action(struct kunit *test)
{
	const struct action *a = test->param_value;
	struct qp_test *t = test->priv;
	struct kwarp_engine *e = &t->qp.engine;

	qt_begin_stream(test);
	if (a->perr)
		qt_fail_with(t, a->perr);
	qt_raise_event(test, a->event);
	qt_expect_log(test, a->log);
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), a->state);
	KUNIT_EXPECT_EQ(test, t->timer_ms, a->timer_ms);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->kdev->stats.lost), a->event == KWARP_QPE_LOST);
	/* The timer was set before the Terminate was sent, because sending may take long. */
	KUNIT_EXPECT_EQ(test, t->bound_ms,
			a->state == KWARP_QPS_TERM ? KWARP_TERM_TIMEOUT_MS : 0);
	KUNIT_EXPECT_EQ(test, test_bit(KWARP_E_RX_STOP, &e->flags),
			a->state != KWARP_QPS_CLOSING);
}

/* Sending and receiving stop in the call that aborts, not only in the work item. */
static void test_abort_at_once(struct kunit *test)
{
	struct qp_test *t = test->priv;

	qt_begin_stream(test);
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_STOP, &t->qp.engine.flags));
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_STOP, &t->qp.engine.flags));
	qt_expect_log(test, "");
}

static void test_run_here(struct kunit *test)
{
	struct qp_test *t = test->priv;

	qt_begin_stream(test);
	KUNIT_EXPECT_EQ(test, kwarp_qp_note(&t->qp, KWARP_QPE_CLOSE), 0);
	qt_expect_log(test, "");
	t->drained = true;
	kwarp_qp_run(&t->qp);
	qt_expect_log(test, "drain fin");
	KUNIT_EXPECT_FALSE(test, t->queued);
	/* kwarp_qp_run() comes before the work item, which finds nothing to do. */
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_TRUE(test, t->queued);
	kwarp_qp_run(&t->qp);
	qt_expect_log(test, "stop+fin down");
	qt_run_work(t);
	qt_expect_log(test, "");
}

/* For a kernel consumer kwarp_qp_run() leaves the actions to the work item. */
static void test_run_later(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.sq.user = false;
	qt_begin_stream(test);
	KUNIT_EXPECT_EQ(test, kwarp_qp_note(&t->qp, KWARP_QPE_ABORT), 0);
	kwarp_qp_run(&t->qp);
	qt_expect_log(test, "");
	qt_run_work(t);
	qt_expect_log(test, "stop+fin down");
}

/* Each poll asks for another: a runner hands over to the work item after KWARP_RUN_ROUNDS polls. */
static void test_run_bounded(struct kunit *test)
{
	struct qp_test *t = test->priv;
	int n;

	qt_begin_stream(test);
	t->more = true;
	kwarp_qp_poll(&t->qp);
	for (n = 1; n <= 2; n++) {
		qt_do_work(&t->qp.work);
		KUNIT_EXPECT_TRUE(test, t->queued);
		KUNIT_EXPECT_EQ(test, t->polls, 1 + n * KWARP_RUN_ROUNDS);
	}
	t->more = false;
	qt_run_work(t);
	KUNIT_EXPECT_FALSE(test, t->queued);
}

static void test_attach_quiet(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->quiet = true;
	KUNIT_ASSERT_EQ(test, qt_attach_stream(t), 0);
	qt_expect_log(test, "start");
	KUNIT_EXPECT_FALSE(test, t->queued);
}

/* 5041-6.2.1-2, -7: posted requests are sent, then a FIN, then the stream ends. */
static void test_graceful(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_engine *e = &t->qp.engine;

	qt_begin_stream(test);
	qt_raise_event(test, KWARP_QPE_CLOSE);
	qt_expect_log(test, "drain");
	/* The engine still has something to send when the FIN is due. */
	t->not_drained = true;
	e->ops->event(e, KWARP_QPE_DRAINED);
	qt_run_work(t);
	qt_expect_log(test, "fin");
	KUNIT_EXPECT_EQ(test, t->timer_ms, KWARP_DRAIN_TIMEOUT_MS);
	t->not_drained = false;
	e->ops->event(e, KWARP_QPE_DRAINED);
	qt_run_work(t);
	qt_expect_log(test, "fin");
	KUNIT_EXPECT_EQ(test, t->timer_ms, 7 * MSEC_PER_SEC);
	e->ops->event(e, KWARP_QPE_DRAINED);
	qt_run_work(t);
	qt_expect_log(test, "");
	set_bit(KWARP_E_FIN_SEEN, &e->flags);
	qt_raise_event(test, KWARP_QPE_PEER_FIN);
	qt_expect_log(test, "peer-closed stop+fin down");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_ERROR);
	KUNIT_EXPECT_EQ(test, t->timer_ms, 0);
}

static void test_timers(struct kunit *test)
{
	struct qp_test *t = test->priv;

	qt_begin_stream(test);
	qt_raise_event(test, KWARP_QPE_CLOSE);
	qt_expect_log(test, "drain");
	qt_timer(&t->qp.timer.work);
	qt_run_work(t);
	qt_expect_log(test, "stop+fin down");
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_STOP, &t->qp.engine.flags));
	qt_timer(&t->qp.timer.work);
	KUNIT_EXPECT_FALSE(test, t->queued);

	KUNIT_ASSERT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	qt_expect_log(test, "reset");
	qt_begin_stream(test);
	qt_raise_event(test, KWARP_QPE_CLOSE);
	t->qp.engine.ops->event(&t->qp.engine, KWARP_QPE_DRAINED);
	qt_run_work(t);
	qt_expect_log(test, "drain fin");
	qt_timer(&t->qp.timer.work);
	qt_run_work(t);
	qt_expect_log(test, "stop+fin down");
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_STOP, &t->qp.engine.flags));

	KUNIT_ASSERT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	qt_expect_log(test, "reset");
	qt_begin_stream(test);
	qt_fail_with(t, KWARP_PERR_LOCAL);
	qt_raise_event(test, KWARP_QPE_PROTO);
	qt_expect_log(test, "term FATAL");
	qt_timer(&t->qp.timer.work);
	qt_run_work(t);
	qt_expect_log(test, "stop+fin down");
}

/* For example at a responder that has received no FPDU (RFC 5044 7.1.2 rule 4) */
static void test_terminate_left_out(struct kunit *test)
{
	struct qp_test *t = test->priv;

	qt_begin_stream(test);
	qt_fail_with(t, KWARP_PERR_LOCAL);
	t->no_term = true;
	qt_raise_event(test, KWARP_QPE_PROTO);
	qt_expect_log(test, "no-term FATAL stop+fin down");
	KUNIT_EXPECT_EQ(test, t->timer_ms, 0);
}

/* 5040-7.1-7: only the first error counts, and the stream ends once. */
static void test_once(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_engine *e = &t->qp.engine;

	t->qp.srq = &t->srq;
	qt_begin_stream(test);
	qt_fail_with(t, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_PROTO), 0);
	e->ops->event(e, KWARP_QPE_PROTO);
	e->ops->event(e, KWARP_QPE_PEER_TERM);
	qt_run_work(t);
	qt_expect_log(test, "term FATAL");
	e->ops->event(e, KWARP_QPE_TERM_SENT);
	e->ops->event(e, KWARP_QPE_LOST);
	e->ops->event(e, KWARP_QPE_PEER_FIN);
	qt_run_work(t);
	qt_expect_log(test, "stop+fin LAST down");
	/* An abort after the end flushes later requests, without upcalls or events. */
	qt_raise_event(test, KWARP_QPE_ABORT);
	qt_expect_log(test, "stop");
	e->ops->event(e, KWARP_QPE_LOST);
	e->ops->event(e, KWARP_QPE_DRAINED);
	qt_run_work(t);
	qt_expect_log(test, "");
	/* A protocol error ended the stream before the event LOST, so no lost stream is counted. */
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->kdev->stats.lost), 0);
}

/* Upcalls for events that happened before the end of the stream are made before DOWN. */
static void test_order(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_engine *e = &t->qp.engine;

	qt_begin_stream(test);
	e->ops->established(e);
	e->ops->poll(e);
	e->ops->event(e, KWARP_QPE_LOST);
	qt_run_work(t);
	qt_expect_log(test, "poll established stop FATAL lost");
}

/* If say_first is false, the first FPDU causes no upcall KWARP_STREAM_ESTABLISHED. */
static void test_established_unasked(struct kunit *test)
{
	struct qp_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, qt_attach_as(t, false), 0);
	qt_run_work(t);
	qt_expect_log(test, "start poll");
	t->qp.engine.ops->established(&t->qp.engine);
	KUNIT_EXPECT_FALSE(test, t->queued);
	qt_run_work(t);
	qt_expect_log(test, "");
}

static void test_steps_complete(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, qt_steps_without_function(), 0);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(test_steps_complete),
	KUNIT_CASE_PARAM(test_action, action_gen_params),
	KUNIT_CASE(test_abort_at_once),
	KUNIT_CASE(test_run_here),
	KUNIT_CASE(test_run_later),
	KUNIT_CASE(test_run_bounded),
	KUNIT_CASE(test_attach_quiet),
	KUNIT_CASE(test_graceful),
	KUNIT_CASE(test_timers),
	KUNIT_CASE(test_terminate_left_out),
	KUNIT_CASE(test_once),
	KUNIT_CASE(test_order),
	KUNIT_CASE(test_established_unasked),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "kwarp_qp",
	.init = qt_qp_test_init,
	.test_cases = qp_cases,
};

kunit_test_suite(qp_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's queue pairs");
MODULE_LICENSE("Dual BSD/GPL");
