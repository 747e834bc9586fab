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
#include "../tx/coalesce.h"
#include "../types.h"

#include "../../queue/tests/fixture.h"

extern unsigned int coalesce_told_resolution;
u64 coalesce_told_ns(void);

/* In most tests so long that the timer does not fire: the test calls the look itself. */
#define TEST_US		(100 * USEC_PER_MSEC)
/* Time between two looks in tests of the real timer, in nanoseconds. */
#define TIMER_NS	(100 * NSEC_PER_USEC)

/* Number of streams: more than can be held at a time. */
#define STREAMS		(KWARP_COALESCE_STREAMS + 10)

/* Only the fields that coalesce.c uses are set. */
struct stream {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	u32 sends;
	bool told_held;
};

/*
 * @hold: the coalescing state of @scq, which is under test
 * @slow_us: microseconds that a send of the timer takes
 * @leave: while the timer sends for stream 0, streams 1 to @leave ring without a poll: they leave
 * @looks_at_once: looks take no time, so that no pause is longer because of other work of the host
 * @now: time that ktime_get_ns() returns; 0: the real time
 */
struct coalesce_test {
	struct stream s[STREAMS];
	struct test_cq *scq;
	struct test_cq *rcq;
	struct kwarp_timers user;
	struct kwarp_cq_coalesce *hold;
	u32 slow_us;
	u32 leave;
	bool looks_at_once;
	u64 now;
};

static inline bool coalesce_is_held(const struct stream *s)
{
	return READ_ONCE(s->e.tx.coalesce.on);
}

void coalesce_count(struct kwarp_cq_coalesce *h, u32 sent);
void coalesce_forgot(struct kwarp_cq_coalesce *h);
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
