// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of queue pairs, see fixture.h. The code under test is included. */
#include "fixture.h"

#include <linux/workqueue.h>

#define queue_work		note_work
#define cancel_work_sync	forget_work
#define mod_delayed_work	note_timer
#define cancel_delayed_work	forget_timer
#define cancel_delayed_work_sync forget_timer

static bool note_work(struct workqueue_struct *wq, struct work_struct *work);
static bool forget_work(struct work_struct *work);
static bool note_timer(struct workqueue_struct *wq, struct delayed_work *work,
		       unsigned long delay);
static bool forget_timer(struct delayed_work *work);
static void do_queued(void);
static void note_wait(bool more);

#include <linux/wait_bit.h>
#undef wait_var_event
/*
 * There is no other thread. So a wait carries out the queued work, and is counted in qp_test.waits
 * if its condition is still false; then the code under test continues.
 */
#define wait_var_event(var, condition)	((void)(var), do_queued(), note_wait(!(condition)))

#include "../qp_work.c"
#include "../qp.c"
#include "../ended.c"

void qt_timer(struct work_struct *work)
{
	qp_timer(work);
}

struct workqueue_struct *qp_test_wq;

static struct qp_test *the_test;

void qt_log_word(const char *word)
{
	if (the_test->log[0])
		strlcat(the_test->log, " ", LOG_LEN);
	strlcat(the_test->log, word, LOG_LEN);
}

void qt_expect_log(struct kunit *test, const char *want)
{
	struct qp_test *t = test->priv;

	KUNIT_EXPECT_STREQ(test, t->log, want);
	t->log[0] = 0;
}

/* --------------------------------------------------------------------- fakes */

static bool note_work(struct workqueue_struct *wq, struct work_struct *work)
{
	bool was = the_test->queued;

	the_test->queued = true;
	return !was;
}

bool qt_do_work(struct work_struct *work)
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
		qt_do_work(&the_test->qp.work);
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
	qt_log_word("start");
	if (!the_test->start)
		e->sock = sock;
	return the_test->start;
}

void kwarp_engine_stop(struct kwarp_engine *e, bool fin)
{
	qt_log_word(fin ? "stop+fin" : "stop");
	if (the_test->during_stop)
		the_test->during_stop(the_test);
	e->sock = NULL;
	set_bit(KWARP_E_DEAD, &e->flags);
}

bool kwarp_engine_fin(struct kwarp_engine *e)
{
	qt_log_word("fin");
	return !the_test->not_drained;
}

void kwarp_engine_give_up(struct kwarp_engine *e)
{
	qt_log_word("give-up");
}

void kwarp_engine_describe(struct kwarp_engine *e, struct kwarp_engine_info *info)
{
	info->sq_used = 4711;
}

bool kwarp_engine_describe_end(struct kwarp_engine *e, struct kwarp_ended *rec)
{
	rec->perr = e->perr;
	rec->has_term = test_bit(KWARP_E_TERM_SEEN, &e->flags);
	return e->sock;
}

void kwarp_ended_add(struct kwarp_dev *kdev, struct kwarp_ended *rec)
{
	the_test->ended = *rec;
	the_test->ends++;
}

void kwarp_ended_add_startup(struct kwarp_dev *kdev, struct kwarp_ended *rec)
{
	the_test->ended = *rec;
}

void kwarp_engine_poll(struct kwarp_engine *e)
{
	if (!the_test->polls++ || !the_test->more)
		qt_log_word("poll");
	if (the_test->more)
		e->ops->poll(e);
}

bool kwarp_engine_has_news(const struct kwarp_engine *e)
{
	return !the_test->quiet;
}

void kwarp_engine_drain(struct kwarp_engine *e)
{
	qt_log_word("drain");
	if (the_test->drained)
		e->ops->event(e, KWARP_QPE_DRAINED);
}

bool kwarp_engine_terminate(struct kwarp_engine *e)
{
	qt_log_word(the_test->no_term ? "no-term" : "term");
	the_test->bound_ms = the_test->timer_ms;
	return !the_test->no_term;
}

void kwarp_engine_reset(struct kwarp_engine *e)
{
	qt_log_word("reset");
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
		qt_log_word("established");
		break;
	case KWARP_STREAM_PEER_CLOSED:
		qt_log_word("peer-closed");
		break;
	case KWARP_STREAM_DOWN:
		qt_log_word(graceful ? "down" : "lost");
		break;
	}
	if (ep != the_test)
		qt_log_word("?");
}

static const struct kwarp_stream_ops cm_ops = { .event = on_cm };

static void on_async(struct ib_event *event, void *context)
{
	switch (event->event) {
	case IB_EVENT_QP_FATAL:
		qt_log_word("FATAL");
		if (the_test->on_fatal)
			the_test->on_fatal(the_test);
		break;
	case IB_EVENT_QP_ACCESS_ERR:
		qt_log_word("ACCESS");
		break;
	case IB_EVENT_QP_REQ_ERR:
		qt_log_word("REQ");
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		qt_log_word("LAST");
		break;
	case IB_EVENT_SRQ_LIMIT_REACHED:
		qt_log_word("LIMIT");
		break;
	default:
		qt_log_word("?");
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

int qt_qp_test_init(struct kunit *test)
{
	struct qp_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	t->kdev->knobs.linger_timeout = 7;
	xa_init_flags(&t->kdev->qps, XA_FLAGS_ALLOC1);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_numbers, t->kdev), 0);
	make_queues(test, &t->qp);
	t->qp.kdev = t->kdev;
	t->qp.sq.user = true;
	t->qp.ibqp.event_handler = on_async;
	t->srq.ibsrq.event_handler = on_async;
	kwarp_qp_init(&t->qp);
	KUNIT_ASSERT_EQ(test, kwarp_qp_reserve(&t->qp), 0);
	kwarp_qp_publish(&t->qp);
	return 0;
}

int qt_attach_as(struct qp_test *t, bool say_first)
{
	const struct kwarp_stream_params params = {
		.initiator = true,
		.say_first = say_first,
	};

	return kwarp_qp_attach(&t->qp, (struct socket *)&t->sock, &params, &cm_ops, t);
}

int qt_attach_stream(struct qp_test *t)
{
	return qt_attach_as(t, true);
}

void qt_run_work(struct qp_test *t)
{
	do_queued();
}

void qt_begin_stream(struct kunit *test)
{
	struct qp_test *t = test->priv;

	/* Octets that the peer has sent already are read by the work item, not by the attach. */
	KUNIT_ASSERT_EQ(test, qt_attach_stream(t), 0);
	qt_expect_log(test, "start");
	qt_run_work(t);
	qt_expect_log(test, "poll");
	KUNIT_ASSERT_EQ(test, kwarp_qp_state(&t->qp), KWARP_QPS_RTS);
}

void qt_raise_event(struct kunit *test, enum kwarp_qp_event event)
{
	struct qp_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, kwarp_qp_event(&t->qp, event), 0);
	qt_run_work(t);
}

void qt_fail_with(struct qp_test *t, enum kwarp_perr perr)
{
	t->qp.engine.perr = perr;
}

unsigned int qt_steps_without_function(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < KWARP_QPA_STEPS; i++)
		n += !qp_actions[i];
	return n;
}
