/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A queue pair for the tests of qp/, and the log of its actions. Attach: the queue pair gets a
 * socket, and a stream begins. DOWN: the upcall that reports the end of the stream.
 */
#ifndef KWARP_QP_TESTS_FIXTURE_H
#define KWARP_QP_TESTS_FIXTURE_H

#include <kunit/test.h>

#include <linux/workqueue.h>

/* Rename the fakes: other suites in the same kernel image define functions of the same names. */
#define kwarp_wq		qp_test_wq
#define kwarp_engine_init	qp_engine_init
#define kwarp_engine_start	qp_engine_start
#define kwarp_engine_stop	qp_engine_stop
#define kwarp_engine_fin	qp_engine_fin
#define kwarp_engine_describe	qp_engine_describe
#define kwarp_engine_describe_end qp_engine_describe_end
#define kwarp_ended_add		qp_ended_add
#define kwarp_ended_add_startup	qp_ended_add_startup
#define kwarp_engine_poll	qp_engine_poll
#define kwarp_engine_has_news	qp_engine_has_news
#define kwarp_engine_drain	qp_engine_drain
#define kwarp_engine_terminate	qp_engine_terminate
#define kwarp_engine_reset	qp_engine_reset
#define kwarp_engine_give_up	qp_engine_give_up
#define kwarp_engine_cancel	qp_engine_cancel
#define kwarp_engine_stop_receiving qp_engine_stop_receiving
#define kwarp_engine_stop_sending qp_engine_stop_sending
#include "../../kwarp.h"
#include "../qp.h"
#include "../stream.h"
#include "../types.h"

/* Calls qp_timer() of qp_work.c: the queue pair's timer has expired. */
void qt_timer(struct work_struct *work);

#define ENTRIES		8
#define LOG_LEN		200

/*
 * @timer_ms: the time that the timer was set for; 0: it is not running
 * @bound_ms: value of @timer_ms at the moment when the Terminate was sent
 * @quiet: the peer has sent no octets before the attach
 * @drained: TCP takes all posted requests at once
 * @more: each call of kwarp_engine_poll() asks for another call
 * @waits: number of wait_var_event() calls whose condition was still false after the queued work
 *	had been done: the code under test has to wait for another context
 * @ends: number of streams for which an error was told
 * @ended: the last of them
 * @not_drained: there is more to send when the FIN is due, so no FIN is sent
 * @on_fatal: called by the consumer's event handler when it gets IB_EVENT_QP_FATAL, before DOWN
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
	u32 ends;
	struct kwarp_ended ended;
	void (*during_stop)(struct qp_test *t);
	void (*on_fatal)(struct qp_test *t);
};

void qt_log_word(const char *word);
void qt_expect_log(struct kunit *test, const char *want);
bool qt_do_work(struct work_struct *work);
int qt_qp_test_init(struct kunit *test);
int qt_attach_as(struct qp_test *t, bool say_first);
int qt_attach_stream(struct qp_test *t);
void qt_run_work(struct qp_test *t);
void qt_begin_stream(struct kunit *test);
void qt_raise_event(struct kunit *test, enum kwarp_qp_event event);
void qt_fail_with(struct qp_test *t, enum kwarp_perr perr);

unsigned int qt_steps_without_function(void);

#endif /* KWARP_QP_TESTS_FIXTURE_H */
