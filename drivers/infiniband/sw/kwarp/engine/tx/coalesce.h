/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coalescing: requests that a program posts one by one go out together.
 *
 * A doorbell is a system call and, of a small request, a TCP segment.  The kernel cannot know
 * whether the program is about to post more.  The program does: when it polls and finds nothing,
 * or asks for an event, it has nothing else to do.  So after a doorbell of a program that polls,
 * the send queue is held (KWARP_RING_HELD): what is posted now stays in the ring, and the provider
 * rings once, when the program has nothing else to do.
 *
 * A timer is the safety net, for a program that posts and then does not poll: about coalesce_us
 * after the queue was held it sends what is there (timer.h).  If the program has not rung since
 * the look before, the hold ends, unless there are completions that it may be busy with, and not
 * for long even then.  If it has left requests meanwhile, its next doorbells are obeyed at once.
 *
 * A program that has asked for an event is about to sleep, and is not held.  Neither is one with
 * a real-time policy: it may keep the processor from the timer for ever.  On real-time kernels
 * nothing is held.
 */
#ifndef KWARP_ENGINE_TX_COALESCE_H
#define KWARP_ENGINE_TX_COALESCE_H

#include "../types.h"

/* Doorbells that are obeyed at once after a program has left its requests to the timer. */
#define KWARP_COALESCE_OBEY	1024
/*
 * Looks in a row at a program that has not rung and has completions to poll, until it is held no
 * longer: those that find something posted, and those that do not.
 */
#define KWARP_COALESCE_LOOKS	8

/**
 * struct kwarp_coalesce_facts - what is known when the question is whether to hold
 * @due: the timer asks: the program has not rung for a period; else it has just rung
 * @posted: due: it has left requests in the ring
 * @polled: it has polled since this was looked at last
 * @completions: it has not taken all completions
 * @armed: it has asked for an event
 */
struct kwarp_coalesce_facts {
	bool due;
	bool posted;
	bool polled;
	bool completions;
	bool armed;
};

bool kwarp_coalesce_verdict(struct kwarp_coalesce *c, const struct kwarp_coalesce_facts *f);

void kwarp_coalesce_reset(struct kwarp_engine *e);
void kwarp_coalesce_rung(struct kwarp_engine *e);
void kwarp_coalesce_sent(struct kwarp_engine *e);
void kwarp_coalesce_due(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_COALESCE_H */
