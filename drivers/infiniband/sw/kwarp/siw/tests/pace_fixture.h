/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of pace.c: a stream of a program that uses libsiw.
 *
 * Held: the program posts without ringing its doorbell, and a timer sends. Hold: the time during
 * which a stream is held. Look: one call of that timer, which looks for posted requests.
 */
#ifndef KWARP_SIW_TESTS_PACE_FIXTURE_H
#define KWARP_SIW_TESTS_PACE_FIXTURE_H

#include <kunit/test.h>

#include "../../engine/tx/share.h"
#include "../../engine/types.h"
#include "../../kwarp.h"
#include "../../queue/tests/fixture.h"
#include "../ring.h"

/* Time between two looks, so long that the timer does not fire: the test calls the look itself. */
#define TEST_NS		NSEC_PER_SEC
/* Time between two looks in tests of the real timer. */
#define TIMER_NS	(100 * NSEC_PER_USEC)

/*
 * @cq: the CQ of its requests; only @coalesce.user is used
 * @now: time that ktime_get() returns; 0: the real time
 */
struct pace_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	struct kwarp_siw_ring *ring;
	struct kwarp_pace *p;
	struct kwarp_cq cq;
	struct kwarp_timers user;
	u32 sends;
	u64 now;
};

void pace_post(struct pace_test *t, u32 n);
void pace_tell_posters(struct pace_test *t);
bool pace_ring(struct pace_test *t, u32 n);
void pace_set_run(struct pace_test *t, enum kwarp_run run);
enum hrtimer_restart pace_look_beside(struct pace_test *t, enum kwarp_run run);
enum hrtimer_restart pace_look(struct pace_test *t);
int pace_test_init(struct kunit *test);
void pace_test_exit(struct kunit *test);

#endif /* KWARP_SIW_TESTS_PACE_FIXTURE_H */
