/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of coalesce.c, which decides whether to hold send queues: streams whose
 * requests complete in one CQ.
 *
 * Doorbell: the system call by which a program reports that it has posted requests. Held: the
 * program posts to the send queue without ringing its doorbell; a timer, or a later doorbell,
 * sends. Hold: the time during which a queue is held. Look: one call of that timer, which looks for
 * posted requests. Waiting: posted without a doorbell, and not sent. Forgotten: waiting at two
 * looks in a row, and the program has not polled between them.
 */
#ifndef KWARP_ENGINE_TESTS_COALESCE_FIXTURE_H
#define KWARP_ENGINE_TESTS_COALESCE_FIXTURE_H

#include <kunit/test.h>

#include "../../kwarp.h"
#include "../types.h"

/* Rename this suite's functions: other suites of this module define the same names. */
#define kwarp_coalesce_count	tested_coalesce_count
#define kwarp_coalesce_forgot	tested_coalesce_forgot
#define kwarp_coalesce_init_cq	tested_coalesce_init_cq
#define kwarp_coalesce_fini_cq	tested_coalesce_fini_cq
#define kwarp_coalesce_init	tested_coalesce_init
#define kwarp_coalesce_reset	tested_coalesce_reset
#define kwarp_coalesce_rung	tested_coalesce_rung
#define kwarp_coalesce_returns	tested_coalesce_returns
#define kwarp_coalesce_sent	tested_coalesce_sent
#define kwarp_coalesce_stop	tested_coalesce_stop
#include "../tx/coalesce.h"

#include "../../queue/tests/fixture.h"

extern unsigned int coalesce_told_resolution;
u64 coalesce_told_ns(void);

/*
 * Value of coalesce_us (the setting for the time between two looks) in most tests: so long that the
 * timer does not fire. The test calls the look itself.
 */
#define TEST_US		(100 * USEC_PER_MSEC)
/* Time between two looks in tests of the real timer, in nanoseconds. */
#define TIMER_NS	(100 * NSEC_PER_USEC)

/* Number of streams: more than can be held at a time. */
#define STREAMS		(KWARP_COALESCE_STREAMS + 10)

/**
 * struct stream - one stream; only the fields that coalesce.c uses are set
 * @e: engine
 * @sq: its send queue; only the indices are used
 * @sends: number of times that the timer has sent
 * @told_held: the stream's send queue was held when the timer last sent
 */
struct stream {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	u32 sends;
	bool told_held;
};

/**
 * struct coalesce_test - streams of a program that polls
 * @s: the streams
 * @scq: CQ in which their requests complete
 * @rcq: CQ in which their receives complete
 * @user: timers of the program
 * @hold: the coalescing state of @scq, which is under test
 * @slow_us: microseconds that a send of the timer takes
 * @now: time that ktime_get_ns() returns; 0: the real time
 */
struct coalesce_test {
	struct stream s[STREAMS];
	struct test_cq *scq;
	struct test_cq *rcq;
	struct kwarp_timers user;
	struct kwarp_cq_coalesce *hold;
	u32 slow_us;
	u64 now;
};

void coalesce_told(struct stream *s);
int coalesce_test_init(struct kunit *test);
void coalesce_test_exit(struct kunit *test);
void coalesce_poll(struct test_cq *cq);
bool coalesce_held_after_ring_of(struct coalesce_test *t, struct stream *s);
bool coalesce_held_after_ring(struct coalesce_test *t);
void coalesce_hold(struct kunit *test, struct stream *s);
u64 coalesce_look_now(struct coalesce_test *t);
void coalesce_forget_poster(struct kwarp_cq_coalesce *h);
void coalesce_post_waiting(struct stream *s);

#endif /* KWARP_ENGINE_TESTS_COALESCE_FIXTURE_H */
