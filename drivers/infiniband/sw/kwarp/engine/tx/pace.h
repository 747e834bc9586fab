/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pacing: requests that a program with libsiw posts one by one are sent together.
 *
 * libsiw, the user library of the siw driver, knows nothing of coalescing (coalesce.h). It rings
 * the doorbell for each post, unless the previous entry of the ring is still marked VALID, that is,
 * not yet taken by the driver. It does not ring when its program polls and finds nothing. A stream
 * is "held" while the driver leaves the newest entry VALID, even if it has taken that entry, so
 * that libsiw does not ring, and a timer looks for requests and sends them; that time is a "hold".
 * The time between two looks is a quarter of coalesce_us (a setting of the device), but at least
 * KWARP_PACE_MIN_NS.
 *
 * This saves doorbells, with TCP's work for a segment each, but each request waits for the timer.
 * Which is better depends on the machine and on the requests, so both are measured for each stream,
 * in turn. First KWARP_PACE_DOORBELLS doorbells are obeyed: each sends at once, and the queue is
 * not held after it. Then the stream is held for KWARP_PACE_LOOKS looks, or until KWARP_PACE_QUIET
 * looks in a row find nothing (a "trial"). The number of completed requests and the time are summed
 * for both. A single measurement is too short to compare, because sending what one look has found
 * may take longer than the whole measurement. After KWARP_PACE_TRIAL_NS in trials the way with more
 * completed requests for the time wins, but the timer has to be better by a sixteenth.
 *
 * If the timer wins, there are two ways to use it: a look sends what it finds at once, or it is
 * "patient": it does not send while the program continues to post, for coalesce_us at most. A
 * patient timer sends more at a time and wakes the peer less often; the other sends sooner. The
 * patient timer is measured second, and the better of the two is used.
 *
 * The hold then continues, and is judged again after every KWARP_PACE_LOOKS looks. After
 * KWARP_PACE_RENEW looks all is measured again from the start, since the program may do something
 * else, or may have another scheduling policy or processor. If doorbells win, a number of doorbells
 * is obeyed before the next trial; the number grows with each failed trial. A program that rings
 * rarely gains nothing from the timer, and is not held. What counts is the time that the program
 * spends between its doorbells, not in them: doorbells for large messages take long, but such a
 * program may gain, because each of its messages ends with a partly filled packet.
 */
#ifndef KWARP_ENGINE_TX_PACE_H
#define KWARP_ENGINE_TX_PACE_H

#include <linux/ktime.h>
#include <linux/types.h>

struct kwarp_engine;
struct kwarp_pace;

/* Doorbells in one measurement. */
#define KWARP_PACE_DOORBELLS	32
/*
 * If the program leaves this much time between doorbells, on average, doorbells do not limit it,
 * and there is no trial.
 */
#define KWARP_PACE_SELDOM_NS	(100 * NSEC_PER_USEC)
/* Looks in one measurement. */
#define KWARP_PACE_LOOKS	32
/* The result of trials is judged when they have lasted this long in all. */
#define KWARP_PACE_TRIAL_NS	(4 * NSEC_PER_MSEC)
/* A sum of results that covers more time than this is halved before the next result is added. */
#define KWARP_PACE_KEEP_NS	(16 * NSEC_PER_MSEC)
/* Looks in one hold until all is measured again from the start. */
#define KWARP_PACE_RENEW	1024
/*
 * The hold ends after this number of looks in a row with nothing to send and nothing outstanding.
 */
#define KWARP_PACE_QUIET	8
/*
 * Doorbells that are obeyed after a failed trial, before the next; four times as many after each
 * further failed trial, up to KWARP_PACE_OBEY_MAX. A doorbell counts once, and once more for each
 * KWARP_PACE_USUAL_NS that it takes: so the share of the time that trials cost does not depend on
 * the size of messages.
 */
#define KWARP_PACE_OBEY		4096
#define KWARP_PACE_OBEY_MAX	262144
/* Longest time of a doorbell for one request of 64 octets, on present machines. */
#define KWARP_PACE_USUAL_NS	(16 * NSEC_PER_USEC)
/* Doorbells that are obeyed at the start of a stream, so that a short stream has no trial. */
#define KWARP_PACE_OBEY_FIRST	1024
/*
 * If this number of requests is posted, even a patient look sends them: sending so many takes
 * longer than the time to the next look.
 */
#define KWARP_PACE_MANY		256
/* The time between two looks is coalesce_us / KWARP_PACE_SHARE, but at least KWARP_PACE_MIN_NS. */
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
