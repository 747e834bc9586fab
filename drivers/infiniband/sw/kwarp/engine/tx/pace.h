/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pacing: what libsiw posts one by one goes out together.
 *
 * libsiw knows nothing of coalescing (coalesce.h): it rings for a post unless the entry before it
 * is VALID still, and never comes to ring when its program finds nothing to poll.  So a timer
 * sends what a stream that is held has posted, a quarter of coalesce_us after it has looked last.
 *
 * Whether that pays depends on the machine and on the requests: a request waits for the timer, and
 * a doorbell is saved, with all that TCP does for a segment.  So both ways are measured, stream by
 * stream and in turn: KWARP_PACE_DOORBELLS doorbells are obeyed, and then the stream is held for
 * KWARP_PACE_LOOKS looks, or until some in a row find nothing.  How many requests complete in
 * which time is added up for either: what one look sends may take longer than all that is measured.
 * When there has been enough of it, the way that completes more wins; the timer, only if that is a
 * sixteenth more.
 *
 * If it is the timer, there are two ways again: a look sends what it finds, or leaves it to the
 * next one as long as the program goes on to post, and for coalesce_us at most.  With the second
 * more goes out together, and the peer is woken once for it; the first is sooner.  So the second is
 * measured next, and the hold goes on with the better of both.
 *
 * The hold goes on then, and is judged likewise again and again; from time to time all is measured
 * anew, since the program may do something else, or have got another policy, or processor.
 * Otherwise doorbells are obeyed for long before the next trial; longer each time that one fails.
 * A program that rings seldom has nothing to gain, and is not held.  How often it could ring is
 * what counts, so the time that its doorbells themselves take is left out: those of large messages
 * take long, and they have a packet each for what does not fit into the one before.
 */
#ifndef KWARP_ENGINE_TX_PACE_H
#define KWARP_ENGINE_TX_PACE_H

#include <linux/ktime.h>
#include <linux/types.h>

struct kwarp_engine;
struct kwarp_pace;

/* Doorbells that are measured. */
#define KWARP_PACE_DOORBELLS	32
/* If there is so much time between them, or more, they are not what limits the program. */
#define KWARP_PACE_SELDOM_NS	(100 * NSEC_PER_USEC)
/* Looks that are measured. */
#define KWARP_PACE_LOOKS	32
/* There is no verdict before a stream has been held for so long, in all. */
#define KWARP_PACE_TRIAL_NS	(4 * NSEC_PER_MSEC)
/* What is older than this counts half. */
#define KWARP_PACE_KEEP_NS	(16 * NSEC_PER_MSEC)
/* Looks until all is measured anew. */
#define KWARP_PACE_RENEW	1024
/* Looks in a row that find nothing, nor anything that is under way, until the hold ends. */
#define KWARP_PACE_QUIET	8
/*
 * Doorbells that are obeyed after a trial that has failed; four times as many each time.  One that
 * takes longer than usual, for a large message, counts for as many as it takes the time of: what a
 * trial costs does not depend on how large they are.
 */
#define KWARP_PACE_OBEY		4096
#define KWARP_PACE_OBEY_MAX	262144
/* One of 64 octets, on machines of today, is done in less. */
#define KWARP_PACE_USUAL_NS	(16 * NSEC_PER_USEC)
/* Those at the beginning of a stream: one that is short has no trial. */
#define KWARP_PACE_OBEY_FIRST	1024
/* No look waits for more than so many: to send them takes longer than a look is away. */
#define KWARP_PACE_MANY		256
/* The timer looks so often in coalesce_us, but not more often than this. */
#define KWARP_PACE_SHARE	4
#define KWARP_PACE_MIN_NS	(10 * NSEC_PER_USEC)

void kwarp_pace_enters(struct kwarp_pace *p, u64 now, bool held);
bool kwarp_pace_begins(struct kwarp_pace *p, u32 done, u64 now);
bool kwarp_pace_goes_on(struct kwarp_pace *p, u32 done, u64 now, bool idle);

void kwarp_pace_init(struct kwarp_engine *e);
void kwarp_pace_reset(struct kwarp_engine *e);
void kwarp_pace_rung(struct kwarp_engine *e);
void kwarp_pace_sent(struct kwarp_engine *e, bool may);
void kwarp_pace_stop(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_PACE_H */
