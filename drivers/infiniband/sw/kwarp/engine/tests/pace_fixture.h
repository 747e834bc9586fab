/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of pace.c, which decides whether a timer sends the requests of a program
 * that uses libsiw (siw's user library): a stream of such a program.
 *
 * Held: the program posts without ringing its doorbell, and a timer sends. Hold: the time during
 * which a stream is held. Look: one call of that timer, which looks for posted requests.
 */
#ifndef KWARP_ENGINE_TESTS_PACE_FIXTURE_H
#define KWARP_ENGINE_TESTS_PACE_FIXTURE_H

#include <kunit/test.h>

#include "../../kwarp.h"
#include "../types.h"

/* Rename this suite's functions: other suites of this module define the same names. */
#define kwarp_pace_enters	tested_pace_enters
#define kwarp_pace_begins	tested_pace_begins
#define kwarp_pace_goes_on	tested_pace_goes_on
#define kwarp_pace_init		tested_pace_init
#define kwarp_pace_reset	tested_pace_reset
#define kwarp_pace_rung		tested_pace_rung
#define kwarp_pace_sent		tested_pace_sent
#define kwarp_pace_stop		tested_pace_stop
#include "../tx/pace.h"
#include "../tx/share.h"

#include "../../queue/tests/fixture.h"

/* End the hold: calls pace_end_hold() of pace.c. */
void pace_test_end_hold(struct kwarp_engine *e);

/* Time between two looks, so long that the timer does not fire: the test calls the look itself. */
#define TEST_NS		NSEC_PER_SEC
/* Time between two looks in tests of the real timer. */
#define TIMER_NS	(100 * NSEC_PER_USEC)
/* Time for one request: for its doorbell, or to send it when a look has found it. */
#define DOORBELL_NS	(10 * NSEC_PER_USEC)
/* Time between two looks in the tests of decisions. */
#define PACE_NS		(25 * NSEC_PER_USEC)

/**
 * struct pace_test - one stream
 * @e: engine
 * @sq: its send queue
 * @cq: the CQ of its requests; only @coalesce.user is used
 * @user: timers of the program
 * @sends: number of times that the timer has sent
 * @unfinished: requests that were taken from the program's ring and have not completed
 * @now: time that ktime_get_ns() returns; 0: the real time
 */
struct pace_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	struct kwarp_cq cq;
	struct kwarp_timers user;
	u32 sends;
	u32 unfinished;
	u64 now;
};

u64 pace_told_ns(void);
u32 pace_long_doorbells(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u64 inside,
			u32 *prod, u64 *now);
u32 pace_doorbells(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now);
u32 pace_looks(struct kwarp_pace *p, u32 n, u32 requests, u64 ns, u32 *prod, u64 *now);
void pace_post(struct pace_test *t, u32 n);
void pace_tell_posters(struct pace_test *t);
bool pace_ring(struct pace_test *t, u32 n);
void pace_set_run(struct pace_test *t, enum kwarp_run run);
enum hrtimer_restart pace_look_beside(struct pace_test *t, enum kwarp_run run);
enum hrtimer_restart pace_look(struct pace_test *t);
int pace_test_init(struct kunit *test);
void pace_test_exit(struct kunit *test);

#endif /* KWARP_ENGINE_TESTS_PACE_FIXTURE_H */
