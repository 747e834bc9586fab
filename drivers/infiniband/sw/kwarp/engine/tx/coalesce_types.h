/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * State of coalescing for one stream. Coalescing: requests that a program posts one by one are sent
 * together, see coalesce.h; for programs with libsiw (the user library of the siw driver), see
 * pace.h.
 *
 * Held: the program posts to the send queue without ringing its doorbell; a timer, or a later
 * doorbell, sends. Hold: the time during which a queue is held. Look: a visit of that timer to a
 * stream, to find posted requests. Round: one look at each held stream of a CQ. Runner: the one
 * context that may send for the stream at a time (run.c).
 */
#ifndef KWARP_ENGINE_TX_COALESCE_TYPES_H
#define KWARP_ENGINE_TX_COALESCE_TYPES_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/types.h>

struct kwarp_engine;

/* A measurement: how many requests completed in how many nanoseconds. */
struct kwarp_pace_sum {
	u64 requests;
	u64 ns;
};

/**
 * struct kwarp_pace - for programs with libsiw: does a timer send what they post? See tx/pace.c
 * @timer: the timer; each time it fires, its handler looks for requests ("a look")
 * @ns: time between two looks, nanoseconds; does not change during a stream
 * @doorbells: number of doorbells in the measurement that is in progress
 * @done: number of completed requests when the measurement in progress began, a counter that wraps
 * @since: when the measurement in progress began, nanoseconds; moved forward when the program
 *	pauses, so that most of the pause does not count
 * @inside: time spent in doorbells since @since, nanoseconds
 * @entered: when the last doorbell began, nanoseconds; always the runner's
 * @rung: result of the measurements while the program rang doorbells
 * @looked: result of the measurements while the timer sent: [false] each look sends what it finds,
 *	[true] a look may wait for more requests
 * @patient: index in @looked of the way that is in use now
 * @chosen: both ways were measured, and @patient is the better one
 * @seen: number of requests that the previous look found and did not send because more may follow
 * @waits: number of looks in a row that found requests and did not send them because more may
 *	follow
 * @looks: number of looks since the stream was held
 * @quiet: number of looks in a row that found nothing to send and nothing outstanding
 * @last: when the last doorbell ended, nanoseconds
 * @obey: doorbells of usual length that are still to be handled without measurement before the next
 *	trial, that is, before the stream is held again to measure looks
 * @obey_next: value for @obey after the next trial that fails
 *
 * All fields but @entered are the runner's while the stream is not held, and the timer's while it
 * is held.
 */
struct kwarp_pace {
	struct hrtimer timer;
	u64 ns;
	u32 doorbells;
	u32 done;
	u64 since;
	u64 inside;
	u64 entered;
	u64 last;
	struct kwarp_pace_sum rung;
	struct kwarp_pace_sum looked[2];
	bool patient;
	bool chosen;
	u32 seen;
	u32 waits;
	u32 looks;
	u32 quiet;
	u32 obey;
	u32 obey_next;
};

/**
 * struct kwarp_coalesce - is the send queue held? See tx/coalesce.c
 * @send: called by the timer to send what was posted; immutable
 * @ns: time between two looks of the timer, nanoseconds; 0: never hold; does not change during a
 *	stream
 * @rung: a doorbell was rung, and whether to hold the queue after it is still to be decided; the
 *	runner's
 * @realtime: the program that rang has a real-time policy; the runner's
 * @polls: how often the program had polled its CQs at the last decision about a hold; the runner's
 * @rung_at: producer index at the last doorbell; READ_ONCE, since the timer reads it
 * @on: the queue is held, and on its CQ's list; written under that list's lock, READ_ONCE
 *	elsewhere. With libsiw there is no list: the runner sets @on, and the timer clears it, or
 *	the runner after it has stopped the timer
 * @counted: @next of the send queue when requests were last counted; the runner's
 * @node: entry in the CQ's list of held streams; under the list's lock, as all from here to @turn
 * @activity: number of polls up to the timer's last look
 * @inside: a doorbell for a queue pair of the CQ was being handled at the timer's last look
 * @found: when the timer first found the request that is waiting, nanoseconds; 0: none is known
 * @quiet: number of looks in a row that found neither a waiting request nor a poll
 * @turn: number of the last round in which this stream was looked at
 * @sends: number of timer handlers that are in @send now
 * @pace: the state for programs with libsiw, which is used instead of the list and timer of the CQ
 */
struct kwarp_coalesce {
	void (*send)(struct kwarp_engine *e);
	u64 ns;
	bool rung;
	bool realtime;
	bool on;
	u32 polls;
	u32 rung_at;
	u32 counted;
	struct list_head node;
	u32 activity;
	bool inside;
	u64 found;
	u32 quiet;
	u32 turn;
	atomic_t sends;
	struct kwarp_pace pace;
};

#endif /* KWARP_ENGINE_TX_COALESCE_TYPES_H */
