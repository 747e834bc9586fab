/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of run.c, which decides which context sends: a stream.
 *
 * Runner: the one context that may send for the stream at a time. Step: kwarp_tx_step(), which
 * sends one batch (FPDUs collected for one socket call); it is replaced by a script, that is, a
 * list of results. Held: the program posts to the send queue without ringing its doorbell; a timer,
 * or a later doorbell, sends. Whether the queue is held is decided by the test instead of
 * coalesce.c. The work item does not run by itself: that it is queued is recorded.
 */
#ifndef KWARP_ENGINE_TESTS_SCHED_FIXTURE_H
#define KWARP_ENGINE_TESTS_SCHED_FIXTURE_H

#include <kunit/test.h>
#include <kunit/test-bug.h>

#include <linux/jiffies.h>
#include <linux/workqueue.h>

/* Values of jiffies and of local_clock() for the code under test. */
extern unsigned long sched_told_jiffies;
extern u64 sched_told_clock;

#include "../../wq.h"
#include "../tcp.h"
#include "../tx/coalesce.h"
#include "../tx/run.h"
#include "../tx/share.h"
#include "../tx/tx.h"

#include "../../queue/tests/fixture.h"

/* The processor on which the stream's work item is to run is online. */
extern bool sched_is_online;

/*
 * @script: results of the first steps; the later ones return KWARP_TX_IDLE
 * @takes: nanoseconds that each step takes
 * @head_waits: the steps take nothing, because the first request waits for a response
 * @resched: another task needs the processor of the runner
 * @in_socket: the runner made the last step with the socket's spinlock held
 * @delay: delay with which it was last queued, in ticks
 * @cpu: processor for which it was last queued; -1: any
 * @unmoved: number of requests that were posted to a foreign ring and have not been moved to the
 *	send queue, for lack of room there
 * @on_look: NULL, or called when the runner has looked for requests that are counted in @unmoved
 * @holds: the test's decision: doorbells from now on make the queue held
 */
struct sched_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	long sock;
	bool owned;
	enum kwarp_tx_result script[1024];
	u32 takes;
	u32 scripted;
	bool head_waits;
	void (*during)(struct sched_test *t);
	u32 steps;
	bool resched;
	bool in_socket;
	bool pending;
	u32 works;
	unsigned long delay;
	int cpu;
	u32 unmoved;
	void (*on_look)(struct sched_test *t);
	bool holds;
	u32 rung;
	u32 returned;
};

extern struct sched_test *sched_the_test;

void sched_start_stream(struct sched_test *t, struct kwarp_engine *e);
int sched_test_init(struct kunit *test);
int sched_word(const struct sched_test *t);
void sched_script(struct sched_test *t, u32 n, enum kwarp_tx_result result);
void sched_do_work(struct sched_test *t);
void sched_packet(struct kwarp_engine *e);
void sched_post_late(struct sched_test *t);
void sched_ring(struct sched_test *t);
u32 sched_flags(const struct sched_test *t);

#endif /* KWARP_ENGINE_TESTS_SCHED_FIXTURE_H */
