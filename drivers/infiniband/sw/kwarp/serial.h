/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests that one context at a time carries out.  This context, the runner, is a work item or,
 * with less delay, any other context that has a request.
 *
 * An atomic word (@run) holds the state.  A context that has a request stores the request, for
 * example as a bit, and calls kwarp_run_ask() or kwarp_run_enter().  The runner looks at all stored
 * requests, and looks again if another was stored meanwhile.  So no context waits for another, and
 * no request is lost: each change of the word is a full barrier.
 */
#ifndef KWARP_SERIAL_H
#define KWARP_SERIAL_H

#include <linux/atomic.h>

/*
 * How often a runner handles the stored requests before it hands over to the work item: a peer or
 * a program may add requests without end.
 */
#define KWARP_RUN_ROUNDS		8

enum kwarp_run {
	KWARP_RUN_IDLE,		/* nothing to do */
	KWARP_RUN_QUEUED,	/* work item is queued; another context may become the runner */
	KWARP_RUN_ACTIVE,	/* there is a runner */
	KWARP_RUN_AGAIN,	/* there is a runner, which has to look again */
};

/* Context: any. Return: true: the caller must queue the work item, which may be queued already. */
static inline bool kwarp_run_ask(atomic_t *run)
{
	int was = atomic_read(run);

	while (!atomic_try_cmpxchg(run, &was, was <= KWARP_RUN_QUEUED ? KWARP_RUN_QUEUED :
									KWARP_RUN_AGAIN))
		;
	return was <= KWARP_RUN_QUEUED;
}

/*
 * Context: any in which requests can be carried out. Return: true: the caller is the runner until
 * kwarp_run_leave(); false: another context is, and will look again.
 */
static inline bool kwarp_run_enter(atomic_t *run)
{
	int was = atomic_read(run);

	while (!atomic_try_cmpxchg(run, &was, was <= KWARP_RUN_QUEUED ? KWARP_RUN_ACTIVE :
									KWARP_RUN_AGAIN))
		;
	return was <= KWARP_RUN_QUEUED;
}

/*
 * The work item calls this first.  Return: true: the work item is the runner; false: there is
 * nothing left to do.
 */
static inline bool kwarp_run_take(atomic_t *run)
{
	return atomic_cmpxchg(run, KWARP_RUN_QUEUED, KWARP_RUN_ACTIVE) == KWARP_RUN_QUEUED;
}

/*
 * The runner calls this after it has looked at all requests.  Return: true: the caller is not the
 * runner any more; false: it still is, and must look again, because there has been another request.
 */
static inline bool kwarp_run_leave(atomic_t *run)
{
	if (atomic_cmpxchg(run, KWARP_RUN_ACTIVE, KWARP_RUN_IDLE) == KWARP_RUN_ACTIVE)
		return true;
	atomic_xchg(run, KWARP_RUN_ACTIVE);
	return false;
}

/*
 * The runner looks at all requests, by @round, until no other one was stored meanwhile, but at most
 * KWARP_RUN_ROUNDS times. Return: true: done; false: the caller must queue the work item, so that
 * other items of the workqueue can run before it goes on. The caller is not the runner any more.
 */
static inline bool kwarp_run_rounds(atomic_t *run, void (*round)(void *arg), void *arg)
{
	int n;

	for (n = 0; n < KWARP_RUN_ROUNDS; n++) {
		round(arg);
		if (kwarp_run_leave(run))
			return true;
	}
	atomic_xchg(run, KWARP_RUN_QUEUED);
	return false;
}

#endif /* KWARP_SERIAL_H */
