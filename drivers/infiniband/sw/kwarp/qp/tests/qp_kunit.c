// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of a queue pair's actions when an event happens to its stream: which, in what order, and
 * that each comes once. The table of states is tested in proto/tests. The code under test is
 * included; engine, workqueue and connection management are fakes, which note their calls as words
 * in a log.
 */
#include <kunit/test.h>

#include <linux/workqueue.h>

#define kwarp_wq		qp_test_wq
#define queue_work		note_work
#define cancel_work_sync	forget_work
#define mod_delayed_work	note_timer
#define cancel_delayed_work	forget_timer
#define cancel_delayed_work_sync forget_timer
#define kwarp_engine_init	qp_engine_init
#define kwarp_engine_start	qp_engine_start
#define kwarp_engine_stop	qp_engine_stop
#define kwarp_engine_fin	qp_engine_fin
#define kwarp_engine_describe	qp_engine_describe
#define kwarp_engine_poll	qp_engine_poll
#define kwarp_engine_has_news	qp_engine_has_news
#define kwarp_engine_drain	qp_engine_drain
#define kwarp_engine_terminate	qp_engine_terminate
#define kwarp_engine_reset	qp_engine_reset
#define kwarp_engine_cancel	qp_engine_cancel
#define kwarp_engine_stop_receiving qp_engine_stop_receiving
#define kwarp_engine_stop_sending qp_engine_stop_sending

static bool note_work(struct workqueue_struct *wq, struct work_struct *work);
static bool do_work(struct work_struct *work);
static bool forget_work(struct work_struct *work);
static bool note_timer(struct workqueue_struct *wq, struct delayed_work *work,
		       unsigned long delay);
static bool forget_timer(struct delayed_work *work);
static void do_queued(void);
static void note_wait(bool more);

#include <linux/wait_bit.h>
#undef wait_var_event
/* There is one thread only: run the queued work item instead of waiting for another context. */
#define wait_var_event(var, condition)	((void)(var), do_queued(), note_wait(!(condition)))

#include "../qp_work.c"
#include "../qp.c"

#define ENTRIES		8
#define LOG_LEN		200

struct workqueue_struct *qp_test_wq;

/**
 * struct qp_test - a queue pair, and results of the fakes
 * @qp: queue pair with real rings
 * @kdev: device; only its counters and knobs are used
 * @srq: shared receive queue, for tests that need one
 * @sock: only the address of this field is used
 * @log: calls of the fakes, as words
 * @queued: the work item is queued
 * @timer_ms: the time that the timer was set for; 0: it is not running
 * @start: result of starting the engine
 * @bound_ms: value of @timer_ms when the Terminate was sent
 * @no_term: there is no Terminate to send
 * @quiet: no octets have come before the attach
 * @drained: TCP takes all posted requests at once
 * @more: each poll asks for another poll
 * @polls: number of polls
 * @waits: number of waits for another runner
 * @not_drained: there is more to send when the FIN is due
 * @during_stop: called while the engine is being stopped
 * @on_fatal: called when a fatal error is reported, before DOWN
 */
struct qp_test {
	struct kwarp_qp qp;
	struct kwarp_dev *kdev;
	struct kwarp_srq srq;
	long sock;
	char log[LOG_LEN];
	bool queued;
	unsigned int timer_ms;
	int start;
	unsigned int bound_ms;
	bool no_term;
	bool not_drained;
	bool quiet;
	bool drained;
	bool more;
	u32 polls;
	u32 waits;
	void (*during_stop)(struct qp_test *t);
	void (*on_fatal)(struct qp_test *t);
};

static struct qp_test *the_test;

static void log_word(const char *word)
{
	if (the_test->log[0])
		strlcat(the_test->log, " ", LOG_LEN);
	strlcat(the_test->log, word, LOG_LEN);
}

/* The calls that were logged since the last expect_log() are @want. */
static void expect_log(struct kunit *test, const char *want)
{
	struct qp_test *t = test->priv;

	KUNIT_EXPECT_STREQ(test, t->log, want);
	t->log[0] = 0;
}

/* ----------------------------------------------------------------- stand-ins */

static bool note_work(struct workqueue_struct *wq, struct work_struct *work)
{
	bool was = the_test->queued;

	the_test->queued = true;
	return !was;
}

static bool do_work(struct work_struct *work)
{
	bool was = the_test->queued;

	the_test->queued = false;
	if (was)
		work->func(work);
	return was;
}

static void do_queued(void)
{
	while (the_test->queued)
		do_work(&the_test->qp.work);
}

static void note_wait(bool more)
{
	the_test->waits += more;
}

static bool forget_work(struct work_struct *work)
{
	bool was = the_test->queued;

	the_test->queued = false;
	return was;
}

static bool note_timer(struct workqueue_struct *wq, struct delayed_work *work,
		       unsigned long delay)
{
	the_test->timer_ms = jiffies_to_msecs(delay);
	return true;
}

static bool forget_timer(struct delayed_work *work)
{
	the_test->timer_ms = 0;
	return true;
}

void kwarp_engine_init(struct kwarp_engine *e, const struct kwarp_engine_ops *ops)
{
	e->ops = ops;
}

int kwarp_engine_start(struct kwarp_engine *e, struct socket *sock,
		       const struct kwarp_stream_params *p)
{
	log_word("start");
	if (!the_test->start)
		e->sock = sock;
	return the_test->start;
}

void kwarp_engine_stop(struct kwarp_engine *e, bool fin)
{
	log_word(fin ? "stop+fin" : "stop");
	if (the_test->during_stop)
		the_test->during_stop(the_test);
	e->sock = NULL;
	set_bit(KWARP_E_DEAD, &e->flags);
}

bool kwarp_engine_fin(struct kwarp_engine *e)
{
	log_word("fin");
	return !the_test->not_drained;
}

void kwarp_engine_describe(struct kwarp_engine *e, struct kwarp_engine_info *info)
{
	info->sq_used = 4711;
}

void kwarp_engine_poll(struct kwarp_engine *e)
{
	if (!the_test->polls++ || !the_test->more)
		log_word("poll");
	if (the_test->more)
		e->ops->poll(e);
}

bool kwarp_engine_has_news(const struct kwarp_engine *e)
{
	return !the_test->quiet;
}

void kwarp_engine_drain(struct kwarp_engine *e)
{
	log_word("drain");
	if (the_test->drained)
		e->ops->event(e, KWARP_QPE_DRAINED);
}

bool kwarp_engine_terminate(struct kwarp_engine *e)
{
	log_word(the_test->no_term ? "no-term" : "term");
	the_test->bound_ms = the_test->timer_ms;
	return !the_test->no_term;
}

void kwarp_engine_reset(struct kwarp_engine *e)
{
	log_word("reset");
	e->flags = 0;
	e->perr = KWARP_PERR_NONE;
}

void kwarp_engine_cancel(struct kwarp_engine *e)
{
}

void kwarp_engine_stop_receiving(struct kwarp_engine *e)
{
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

void kwarp_engine_stop_sending(struct kwarp_engine *e)
{
	set_bit(KWARP_E_TX_STOP, &e->flags);
}

static void on_cm(void *ep, enum kwarp_stream_event event, bool graceful)
{
	switch (event) {
	case KWARP_STREAM_ESTABLISHED:
		log_word("established");
		break;
	case KWARP_STREAM_PEER_CLOSED:
		log_word("peer-closed");
		break;
	case KWARP_STREAM_DOWN:
		log_word(graceful ? "down" : "lost");
		break;
	}
	if (ep != the_test)
		log_word("?");
}

static const struct kwarp_stream_ops cm_ops = { .event = on_cm };

static void on_async(struct ib_event *event, void *context)
{
	switch (event->event) {
	case IB_EVENT_QP_FATAL:
		log_word("FATAL");
		if (the_test->on_fatal)
			the_test->on_fatal(the_test);
		break;
	case IB_EVENT_QP_ACCESS_ERR:
		log_word("ACCESS");
		break;
	case IB_EVENT_QP_REQ_ERR:
		log_word("REQ");
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		log_word("LAST");
		break;
	case IB_EVENT_SRQ_LIMIT_REACHED:
		log_word("LIMIT");
		break;
	default:
		log_word("?");
	}
}

/* ------------------------------------------------------------------ fixture */

static void free_qp(void *qp)
{
	struct kwarp_qp *q = qp;

	kvfree(q->sq.done);
	kwarp_ring_fini(&q->sq.ring);
	kwarp_ring_fini(&q->rq.ring);
}

static void free_numbers(void *kdev)
{
	xa_destroy(&((struct kwarp_dev *)kdev)->qps);
}

static void make_queues(struct kunit *test, struct kwarp_qp *qp)
{
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&qp->sq, ENTRIES, kwarp_sqe_stride(1, 0)), 0);
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&qp->rq, ENTRIES, kwarp_rqe_stride(1)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_qp, qp), 0);
}

static int qp_test_init(struct kunit *test)
{
	struct qp_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	t->kdev->knobs.linger_timeout = 7;
	xa_init_flags(&t->kdev->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_numbers, t->kdev), 0);
	make_queues(test, &t->qp);
	t->qp.kdev = t->kdev;
	t->qp.user = true;
	t->qp.ibqp.event_handler = on_async;
	t->srq.ibsrq.event_handler = on_async;
	kwarp_qp_init(&t->qp);
	KUNIT_ASSERT_EQ(test, kwarp_qp_reserve(&t->qp), 0);
	kwarp_qp_publish(&t->qp);
	return 0;
}

static int attach_as(struct qp_test *t, bool say_first)
{
	const struct kwarp_stream_params params = {
		.initiator = true,
		.say_first = say_first,
	};

	return kwarp_qp_attach(&t->qp, (struct socket *)&t->sock, &params, &cm_ops, t);
}

static int attach_stream(struct qp_test *t)
{
	return attach_as(t, true);
}

static void run_work(struct qp_test *t)
{
	do_queued();
}

/* Attach a stream. */
static void begin_stream(struct kunit *test)
{
	struct qp_test *t = test->priv;

	/* Octets that the peer has sent already are read by the work item, not by the attach. */
	KUNIT_ASSERT_EQ(test, attach_stream(t), 0);
	expect_log(test, "start");
	run_work(t);
	expect_log(test, "poll");
	KUNIT_ASSERT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_RTS);
}

static void raise_event(struct kunit *test, enum kwarp_qp_event event)
{
	struct qp_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, event), 0);
	run_work(t);
}

/* The engine reports an error, like kwarp_engine_fail(). */
static void fail_with(struct qp_test *t, enum kwarp_perr perr)
{
	t->qp.engine.perr = perr;
}

/* ------------------------------------------------------------------- actions */

/* The actions that follow an event of an attached stream, up to its end or a timer. */
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

	begin_stream(test);
	if (a->perr)
		fail_with(t, a->perr);
	raise_event(test, a->event);
	expect_log(test, a->log);
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

	begin_stream(test);
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_STOP, &t->qp.engine.flags));
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_STOP, &t->qp.engine.flags));
	expect_log(test, "");
}

/* kwarp_qp_run() carries out the actions, and those that follow from them, in the caller. */
static void test_run_here(struct kunit *test)
{
	struct qp_test *t = test->priv;

	begin_stream(test);
	KUNIT_EXPECT_EQ(test, kwarp_qp_note(&t->qp, KWARP_QPE_CLOSE), 0);
	expect_log(test, "");
	t->drained = true;
	kwarp_qp_run(&t->qp);
	expect_log(test, "drain fin");
	KUNIT_EXPECT_FALSE(test, t->queued);
	/*
	 * The work item was queued, but kwarp_qp_run() is faster; the work item has nothing to do.
	 */
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_TRUE(test, t->queued);
	kwarp_qp_run(&t->qp);
	expect_log(test, "stop+fin down");
	run_work(t);
	expect_log(test, "");
}

/* For a kernel consumer kwarp_qp_run() leaves the actions to the work item. */
static void test_run_later(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.user = false;
	begin_stream(test);
	KUNIT_EXPECT_EQ(test, kwarp_qp_note(&t->qp, KWARP_QPE_ABORT), 0);
	kwarp_qp_run(&t->qp);
	expect_log(test, "");
	run_work(t);
	expect_log(test, "stop+fin down");
}

/* A runner hands over to the work item if the peer sends all the time. */
static void test_run_bounded(struct kunit *test)
{
	struct qp_test *t = test->priv;
	int n;

	begin_stream(test);
	t->more = true;
	kwarp_qp_poll(&t->qp);
	for (n = 1; n <= 2; n++) {
		do_work(&t->qp.work);
		KUNIT_EXPECT_TRUE(test, t->queued);
		KUNIT_EXPECT_EQ(test, t->polls, 1 + n * KWARP_RUN_LOOKS);
	}
	t->more = false;
	run_work(t);
	KUNIT_EXPECT_FALSE(test, t->queued);
}

/* No octets came before the attach, so the socket is not polled. */
static void test_attach_quiet(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->quiet = true;
	KUNIT_ASSERT_EQ(test, attach_stream(t), 0);
	expect_log(test, "start");
	KUNIT_EXPECT_FALSE(test, t->queued);
}

/* 5041-6.2.1-2, -7: posted requests are sent, then a FIN, then the stream ends. */
static void test_graceful(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_engine *e = &t->qp.engine;

	begin_stream(test);
	raise_event(test, KWARP_QPE_CLOSE);
	expect_log(test, "drain");
	/* There is more to send when the FIN is due. */
	t->not_drained = true;
	e->ops->event(e, KWARP_QPE_DRAINED);
	run_work(t);
	expect_log(test, "fin");
	KUNIT_EXPECT_EQ(test, t->timer_ms, KWARP_DRAIN_TIMEOUT_MS);
	t->not_drained = false;
	e->ops->event(e, KWARP_QPE_DRAINED);
	run_work(t);
	expect_log(test, "fin");
	KUNIT_EXPECT_EQ(test, t->timer_ms, 7 * MSEC_PER_SEC);
	/* A second event DRAINED sends no second FIN. */
	e->ops->event(e, KWARP_QPE_DRAINED);
	run_work(t);
	expect_log(test, "");
	set_bit(KWARP_E_FIN_SEEN, &e->flags);
	raise_event(test, KWARP_QPE_PEER_FIN);
	expect_log(test, "peer-closed stop+fin down");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_ERROR);
	KUNIT_EXPECT_EQ(test, t->timer_ms, 0);
}

/* The effect of the timer depends on the state. */
static void test_timers(struct kunit *test)
{
	struct qp_test *t = test->priv;

	begin_stream(test);
	raise_event(test, KWARP_QPE_CLOSE);
	expect_log(test, "drain");
	qp_timer(&t->qp.timer.work);
	run_work(t);
	expect_log(test, "stop+fin down");
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_STOP, &t->qp.engine.flags));
	/* The timer expires again, after the end. */
	qp_timer(&t->qp.timer.work);
	KUNIT_EXPECT_FALSE(test, t->queued);

	KUNIT_ASSERT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	expect_log(test, "reset");
	begin_stream(test);
	raise_event(test, KWARP_QPE_CLOSE);
	t->qp.engine.ops->event(&t->qp.engine, KWARP_QPE_DRAINED);
	run_work(t);
	expect_log(test, "drain fin");
	qp_timer(&t->qp.timer.work);
	run_work(t);
	expect_log(test, "stop+fin down");
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_STOP, &t->qp.engine.flags));

	KUNIT_ASSERT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	expect_log(test, "reset");
	begin_stream(test);
	fail_with(t, KWARP_PERR_LOCAL);
	raise_event(test, KWARP_QPE_PROTO);
	expect_log(test, "term FATAL");
	qp_timer(&t->qp.timer.work);
	run_work(t);
	expect_log(test, "stop+fin down");
}

/* RFC 5044 7.1.2 rule 4: a responder that has received no FPDU sends no Terminate. */
static void test_terminate_left_out(struct kunit *test)
{
	struct qp_test *t = test->priv;

	begin_stream(test);
	fail_with(t, KWARP_PERR_LOCAL);
	t->no_term = true;
	raise_event(test, KWARP_QPE_PROTO);
	expect_log(test, "no-term FATAL stop+fin down");
	KUNIT_EXPECT_EQ(test, t->timer_ms, 0);
}

/* 5040-7.1-7: only the first error counts, and the stream ends once. */
static void test_once(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_engine *e = &t->qp.engine;

	t->qp.srq = &t->srq;
	begin_stream(test);
	fail_with(t, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_PROTO), 0);
	e->ops->event(e, KWARP_QPE_PROTO);
	e->ops->event(e, KWARP_QPE_PEER_TERM);
	run_work(t);
	expect_log(test, "term FATAL");
	e->ops->event(e, KWARP_QPE_TERM_SENT);
	e->ops->event(e, KWARP_QPE_LOST);
	e->ops->event(e, KWARP_QPE_PEER_FIN);
	run_work(t);
	expect_log(test, "stop+fin LAST down");
	/* An abort after the end flushes later requests, without upcalls or events. */
	raise_event(test, KWARP_QPE_ABORT);
	expect_log(test, "stop");
	e->ops->event(e, KWARP_QPE_LOST);
	e->ops->event(e, KWARP_QPE_DRAINED);
	run_work(t);
	expect_log(test, "");
	/* The stream ended with an error, so it does not count as lost. */
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->kdev->stats.lost), 0);
}

/* Events that happened before the end are reported before DOWN. */
static void test_order(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct kwarp_engine *e = &t->qp.engine;

	begin_stream(test);
	e->ops->established(e);
	e->ops->poll(e);
	e->ops->event(e, KWARP_QPE_LOST);
	run_work(t);
	expect_log(test, "poll established stop FATAL lost");
}

/* Without say_first there is no upcall for the first FPDU. */
static void test_established_unasked(struct kunit *test)
{
	struct qp_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, attach_as(t, false), 0);
	run_work(t);
	expect_log(test, "start poll");
	t->qp.engine.ops->established(&t->qp.engine);
	KUNIT_EXPECT_FALSE(test, t->queued);
	run_work(t);
	expect_log(test, "");
}

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

/* Attach fails while there is a stream, and after an error; the engine is not started. */
static void test_attach_refused(struct kunit *test)
{
	const struct past *p = test->param_value;
	struct qp_test *t = test->priv;
	enum kwarp_qp_state state;
	u32 i;

	begin_stream(test);
	fail_with(t, KWARP_PERR_LOCAL);
	for (i = 0; p->events[i] >= 0; i++)
		raise_event(test, p->events[i]);
	t->log[0] = 0;
	state = kwarp_qp_state(&t->qp);
	KUNIT_EXPECT_EQ(test, attach_stream(t), -EINVAL);
	run_work(t);
	expect_log(test, "");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), state);
}

/* The engine cannot be started: there is no upcall, and another stream can be attached. */
static void test_attach_fails(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->start = -ENOTCONN;
	KUNIT_EXPECT_EQ(test, attach_stream(t), -ENOTCONN);
	run_work(t);
	expect_log(test, "start");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_IDLE);
	KUNIT_EXPECT_NULL(test, t->qp.cm);
	t->start = 0;
	begin_stream(test);
}

/* The consumer aborts while the engine is being started. */
static void test_attach_after_abort(struct kunit *test)
{
	struct qp_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_EQ(test, attach_stream(t), -EINVAL);
	run_work(t);
	expect_log(test, "stop");
}

/* The owner's user id may connect the QP, and the process that made it, with any user id. */
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

	begin_stream(test);
	t->waits = 0;
	kwarp_qp_poll(&t->qp);
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), -EINVAL);
	KUNIT_EXPECT_TRUE(test, t->queued);
	run_work(t);
	expect_log(test, "poll");
	/* RESET waits for the end of a stream that is ending. */
	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, KWARP_QPE_ABORT), 0);
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	expect_log(test, "stop+fin down reset");
	KUNIT_EXPECT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_IDLE);
	begin_stream(test);
}

static void reset_early(struct qp_test *t)
{
	log_word(kwarp_qp_reset(&t->qp) ? "refused" : "reset");
}

/*
 * Another thread tries a RESET after the end of the stream, but before DOWN is reported. It must
 * wait, or the endpoint of the next stream would get that DOWN.
 */
static void test_reset_before_down(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->on_fatal = reset_early;
	begin_stream(test);
	t->qp.engine.perr = KWARP_PERR_MPA_LOST;
	raise_event(test, KWARP_QPE_LOST);
	expect_log(test, "stop FATAL refused lost");
	/* A real thread would have waited until DOWN was reported. */
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

	begin_stream(test);
	t->during_stop = establish_late;
	raise_event(test, KWARP_QPE_ABORT);
	expect_log(test, "stop+fin down");
	t->during_stop = NULL;
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	expect_log(test, "reset");
	begin_stream(test);
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
	begin_stream(test);
	KUNIT_EXPECT_EQ(test, t->qp.engine.access, r->want);
	KUNIT_EXPECT_EQ(test, t->qp.attr.qp_access_flags, r->want);
	/* RESET clears the access rights. */
	raise_event(test, KWARP_QPE_ABORT);
	KUNIT_EXPECT_EQ(test, kwarp_qp_reset(&t->qp), 0);
	KUNIT_EXPECT_EQ(test, t->qp.engine.access, 0);
	t->log[0] = 0;
	begin_stream(test);
	KUNIT_EXPECT_EQ(test, t->qp.engine.access, ALL);
}

/* ------------------------------------------------------------------- the end */

static void destroy_qp(struct kunit *test, const char *log)
{
	struct qp_test *t = test->priv;

	kwarp_qp_retire(&t->qp);
	KUNIT_EXPECT_NULL(test, kwarp_qp_lookup(t->kdev, t->qp.ibqp.qp_num));
	KUNIT_EXPECT_TRUE(test, kwarp_qp_gone(&t->qp));
	expect_log(test, log);
	KUNIT_EXPECT_FALSE(test, t->queued);
}

/* kwarp_qp_describe() fails for a queue pair that is being destroyed. */
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
	begin_stream(test);
	kwarp_qp_retire(&t->qp);
	expect_log(test, "stop+fin down");
	/* There is a reference. */
	KUNIT_EXPECT_FALSE(test, kwarp_qp_gone(&t->qp));
	KUNIT_EXPECT_NULL(test, kwarp_qp_lookup(t->kdev, t->qp.ibqp.qp_num));
	kwarp_qp_put(qp);
	KUNIT_EXPECT_TRUE(test, kwarp_qp_gone(&t->qp));
	expect_log(test, "");
}

/* destroy_qp raises no LAST_WQE_REACHED, with or without a stream. */
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
	begin_stream(test);
	destroy_qp(test, "stop+fin down");
}

/* modify to ERR raises it, also without a stream: ib_drain_qp() waits for it. */
static void test_last_wqe(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	raise_event(test, KWARP_QPE_ABORT);
	expect_log(test, "stop LAST");
	destroy_qp(test, "stop");
}

static void pass_limit(struct qp_test *t)
{
	t->during_stop = NULL;
	t->qp.engine.ops->srq_limit(&t->qp.engine);
}

/* The SRQ's limit was passed while its queue pair was being destroyed: the event is not lost. */
static void test_limit_at_the_end(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	begin_stream(test);
	t->during_stop = pass_limit;
	destroy_qp(test, "stop+fin down LIMIT");
	KUNIT_EXPECT_EQ(test, t->qp.pending & BIT(KWARP_QPP_SRQ_LIMIT), 0);
}

static void test_limit(struct kunit *test)
{
	struct qp_test *t = test->priv;

	t->qp.srq = &t->srq;
	begin_stream(test);
	pass_limit(t);
	pass_limit(t);
	run_work(t);
	expect_log(test, "LIMIT");
	destroy_qp(test, "stop+fin down");
}

static struct kunit_case qp_cases[] = {
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
	KUNIT_CASE_PARAM(test_attach_refused, past_gen_params),
	KUNIT_CASE(test_attach_fails),
	KUNIT_CASE(test_attach_after_abort),
	KUNIT_CASE(test_may_connect),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_reset_before_down),
	KUNIT_CASE(test_established_late),
	KUNIT_CASE(test_established_unasked),
	KUNIT_CASE_PARAM(test_rights, rights_gen_params),
	KUNIT_CASE(test_describe),
	KUNIT_CASE(test_retire),
	KUNIT_CASE(test_retire_srq),
	KUNIT_CASE(test_retire_srq_with_stream),
	KUNIT_CASE(test_last_wqe),
	KUNIT_CASE(test_limit_at_the_end),
	KUNIT_CASE(test_limit),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "kwarp_qp",
	.init = qp_test_init,
	.test_cases = qp_cases,
};

kunit_test_suite(qp_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's queue pairs");
MODULE_LICENSE("Dual BSD/GPL");
