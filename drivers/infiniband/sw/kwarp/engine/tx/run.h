/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_RUN_H
#define KWARP_ENGINE_TX_RUN_H

#include <linux/sched.h>
#include <linux/time64.h>

#include "../../compat.h"
#include "../types.h"

/* Batches that a runner sends before it hands over to the work item. */
#define KWARP_TX_RUN_BUDGET	32
/*
 * The same limit for kwarp_tx_release(), whose callers handle many connections one after the other.
 */
#define KWARP_TX_CLAIM_BUDGET	1
/*
 * The limit for one call that sends with the socket's spinlock held, nanoseconds; one batch more is
 * completed. Other tasks wait for the processor during such a call.
 */
#define KWARP_TX_SOCKET_NS	(250 * NSEC_PER_USEC)

enum kwarp_tx_from {
	KWARP_TX_FROM_ANY,	/* any context: the work item is queued, and sends */
	/* A kernel consumer has posted: the caller sends if its context allows. */
	KWARP_TX_FROM_POSTER,
	/* The socket's spinlock is held and no process owns the socket: the caller sends. */
	KWARP_TX_FROM_SOCKET,
	KWARP_TX_FROM_PROCESS,	/* process context, no locks held: the caller sends */
	KWARP_TX_FROM_DOORBELL,	/* like FROM_PROCESS, after a program's doorbell */
};

/* With lazy preemption need_resched() may be false although a task waits for this processor. */
static inline bool kwarp_need_resched(void)
{
	return need_resched() || test_thread_flag(TIF_NEED_RESCHED_LAZY);
}

void kwarp_tx_init(struct kwarp_engine *e);
void kwarp_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from);
void kwarp_tx_claim(struct kwarp_engine *e);
void kwarp_tx_release(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_RUN_H */
