/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is carried out by one context at a time: by a work item, or, with less delay, by whoever
 * is at hand.
 *
 * One atomic word says who.  A context that wants something done stores what it is, and then
 * asks; the one that carries out looks at what has been stored, and again if somebody has asked
 * meanwhile.  So nobody waits, and nothing is lost: each change of the word is a full barrier.
 */
#ifndef KWARP_SERIAL_H
#define KWARP_SERIAL_H

#include <linux/atomic.h>

/* Looks in one go, where a peer or a program can ask for ever more. */
#define KWARP_RUN_LOOKS		8

enum kwarp_run {
	KWARP_RUN_IDLE,		/* nobody */
	KWARP_RUN_QUEUED,	/* the work item will; it may be overtaken */
	KWARP_RUN_ACTIVE,	/* somebody is running */
	KWARP_RUN_AGAIN,	/* and has to look again */
};

/**
 * kwarp_run_ask - something has to be done
 * @run: the word
 *
 * Context: any.
 * Return: true: the caller queues the work item, which may be queued already.
 */
static inline bool kwarp_run_ask(atomic_t *run)
{
	int was = atomic_read(run);

	while (!atomic_try_cmpxchg(run, &was, was <= KWARP_RUN_QUEUED ? KWARP_RUN_QUEUED :
									KWARP_RUN_AGAIN))
		;
	return was <= KWARP_RUN_QUEUED;
}

/**
 * kwarp_run_enter - something has to be done, if possible by the caller
 * @run: the word
 *
 * Context: any in which it can be done.
 * Return: true: the caller does it, and leaves with kwarp_run_leave(); false: somebody else is
 * at it, and looks again.
 */
static inline bool kwarp_run_enter(atomic_t *run)
{
	int was = atomic_read(run);

	while (!atomic_try_cmpxchg(run, &was, was <= KWARP_RUN_QUEUED ? KWARP_RUN_ACTIVE :
									KWARP_RUN_AGAIN))
		;
	return was <= KWARP_RUN_QUEUED;
}

/* The work item's beginning.  Return: false: somebody has overtaken it. */
static inline bool kwarp_run_take(atomic_t *run)
{
	return atomic_cmpxchg(run, KWARP_RUN_QUEUED, KWARP_RUN_ACTIVE) == KWARP_RUN_QUEUED;
}

/* Return: false: somebody has asked meanwhile, and the caller looks again. */
static inline bool kwarp_run_leave(atomic_t *run)
{
	if (atomic_cmpxchg(run, KWARP_RUN_ACTIVE, KWARP_RUN_IDLE) == KWARP_RUN_ACTIVE)
		return true;
	atomic_xchg(run, KWARP_RUN_ACTIVE);
	return false;
}

/* The caller is at it, and queues the work item, which goes on: others have a turn first. */
static inline void kwarp_run_hand_over(atomic_t *run)
{
	atomic_xchg(run, KWARP_RUN_QUEUED);
}

#endif /* KWARP_SERIAL_H */
