/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Holding back requests that come one by one in quick succession, so that they go out
 * together.
 *
 * A program that posts small messages one at a time rings the doorbell for each: a
 * system call and a TCP segment per message.  Once a few doorbells have followed each
 * other at once, the runner does not send but leaves a timer, with doorbells off, and the
 * timer sends what has been posted meanwhile.  Not so if something was heard from the peer
 * in between, or all completions have been seen: such a program waits.  It goes on as long as that
 * is many requests; a period is no longer than KWARP_HOLD_MAX_NS.
 */
#ifndef KWARP_ENGINE_HOLD_H
#define KWARP_ENGINE_HOLD_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct kwarp_engine;

/* How long requests are held back: as long as so many doorbells took, within limits. */
#define KWARP_HOLD_DOORBELLS	8
#define KWARP_HOLD_MIN_NS	(10 * NSEC_PER_USEC)
#define KWARP_HOLD_MAX_NS	(250 * NSEC_PER_USEC)
/* What a doorbell takes is believed up to twice as long as the one before, and so much. */
#define KWARP_HOLD_GROWTH_NS	NSEC_PER_USEC
/*
 * Octets that a doorbell sent, at most, to count as small, headers included: of larger ones a
 * batch does not hold as many as are worth while.
 */
#define KWARP_HOLD_SMALL	(8192 + 1024)
/* Quick and small doorbells in a row, until holding begins. */
#define KWARP_HOLD_STREAK	4
/* Requests in a period that make it worth while. */
#define KWARP_HOLD_WORTH	8
/*
 * Periods in a row that may be poorer: what a period has sent is received on the same
 * processor, and the program may not have run since.  After that, so many doorbells are
 * obeyed at once.
 */
#define KWARP_HOLD_MISSES	3
#define KWARP_HOLD_PENALTY	256
/* Twice as many after each time that it was not worth while, if it never was in between. */
#define KWARP_HOLD_MAX_PENALTY	65536

/**
 * struct kwarp_hold - owned by the transmit runner, but for @timer, @heard, @left and
 *	@cost
 * @timer: ends a period
 * @heard: READ_ONCE/WRITE_ONCE, also by the receive side: something came from the peer
 * @left: READ_ONCE/WRITE_ONCE, by any poster: ktime_get_ns() behind its doorbell; a hint
 * @cost: likewise: nanoseconds that it took
 * @on: requests are held back
 * @streak: quick and small doorbells in a row; negative behind a period not worth it
 * @penalty: doorbells that will be obeyed behind the next such period
 * @off: stream offset at the last doorbell
 * @next: first request not taken when the period began
 * @misses: periods in a row that were not worth it
 */
struct kwarp_hold {
	struct hrtimer timer;
	bool heard;
	u64 left;
	u32 cost;
	bool on;
	int streak;
	int penalty;
	u32 off;
	u32 next;
	u32 misses;
};

void kwarp_hold_init(struct kwarp_engine *e);
void kwarp_hold_stop(struct kwarp_engine *e);
void kwarp_hold_reset(struct kwarp_engine *e);
bool kwarp_hold_wanted(struct kwarp_engine *e, u64 now);
void kwarp_hold_rung(struct kwarp_engine *e, u64 since);
bool kwarp_hold_more(struct kwarp_engine *e, bool due);
void kwarp_hold_begin(struct kwarp_engine *e);
void kwarp_hold_start(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_HOLD_H */
