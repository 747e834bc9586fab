/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Holding back requests that come one by one in quick succession, so that they go out
 * together.
 *
 * A program that posts messages one at a time rings the doorbell for each: a system call
 * and, of small ones, a TCP segment per message.  Once a few doorbells have followed each
 * other at once, the runner does not send but leaves a timer, with doorbells off, and the
 * timer sends what has been posted meanwhile.  It goes on as long as that is many requests;
 * a period is no longer than KWARP_HOLD_MAX_NS.
 *
 * A program with many queue pairs goes from one to the next.  So what follows each other are
 * the doorbells rung on a processor, whichever queue pairs they are for; and it goes on for
 * few requests, too, while a CQ that queue pairs share has completions that the program has
 * not looked at: then it does not wait for this one.
 *
 * This does not hold if the peer wrote or sent something in between, or all completions have
 * been seen: such a program waits.  Read Responses say nothing: they come all the time to a
 * program that reads on and on.
 *
 * And not at all where the timer may find no processor time.  It is a soft one: with
 * threadirqs, and on real-time kernels, a thread of ordinary priority runs it.  A real-time
 * program that spins in ibv_poll_cq() would keep it from sending the program's own message,
 * and cannot ring, for doorbells are off.  So who posts with a real-time policy is obeyed at
 * once, real-time kernels hold nothing, and a stream whose timer comes much too late a few
 * times stops for a long while.  The knob hold_us says how long a period may be; 0: never.
 */
#ifndef KWARP_ENGINE_TX_HOLD_H
#define KWARP_ENGINE_TX_HOLD_H

#include "../../limits.h"
#include "../types.h"

/*
 * How long requests are held back: as long as so many doorbells took, within limits.  Doorbells
 * that follow each other within this time are quick.
 */
#define KWARP_HOLD_DOORBELLS	8
#define KWARP_HOLD_MIN_NS	(10 * NSEC_PER_USEC)
#define KWARP_HOLD_MAX_NS	(KWARP_HOLD_MAX_US * NSEC_PER_USEC)
/* What a doorbell takes is believed up to twice as long as the one before, and so much. */
#define KWARP_HOLD_GROWTH_NS	NSEC_PER_USEC
/*
 * Octets that a doorbell sent, at most, to count as small, headers included: a batch holds
 * several of them.
 */
#define KWARP_HOLD_SMALL	(8192 + 1024)
/*
 * Writes up to this size are held back, too, but for as long as a single doorbell took.  They
 * do not go into one packet, but the program goes on while the timer, or behind it the work
 * item on another processor, sends.  Sends of this size, judged by the request taken last, are
 * not held back: their receiving program needs that processor.  Writes are not either where a
 * doorbell takes longer than the longest period, as under emulation: a system call is little
 * beside it.
 */
#define KWARP_HOLD_LARGE	(136 * 1024)
/*
 * Quick doorbells for what may be held back, in a row, until holding begins.  Behind a burst that
 * was worth it: one.
 */
#define KWARP_HOLD_STREAK	4
/* Requests in a period that make it worth while: small ones, and large ones. */
#define KWARP_HOLD_WORTH	8
#define KWARP_HOLD_WORTH_LARGE	16
/*
 * Periods in a row that may be poorer: what a period has sent is received on the same
 * processor, and the program may not have run since.  Those of a program that is busy with
 * other completions do not count.  After that, unless there was a good one before them, so
 * many doorbells are obeyed at once.
 */
#define KWARP_HOLD_MISSES	3
#define KWARP_HOLD_PENALTY	256
/* Twice as many after each time that it was not worth while, if it never was in between. */
#define KWARP_HOLD_MAX_PENALTY	65536
/*
 * A timer is late if it comes so many of the longest periods after its time.  So many late ones
 * in a row, and KWARP_HOLD_MAX_PENALTY doorbells are obeyed at once.
 */
#define KWARP_HOLD_LATE_PERIODS	4
#define KWARP_HOLD_LATE		3

void kwarp_hold_reset(struct kwarp_engine *e);
bool kwarp_hold_wanted(struct kwarp_engine *e, u64 now);
void kwarp_hold_rung(struct kwarp_engine *e, u64 since);
void kwarp_hold_late(struct kwarp_hold *h);
void kwarp_hold_due(struct kwarp_engine *e);
bool kwarp_hold_more(struct kwarp_engine *e, bool due);
u64 kwarp_hold_begin(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_HOLD_H */
