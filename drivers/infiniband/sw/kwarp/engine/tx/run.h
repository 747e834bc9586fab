/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_RUN_H
#define KWARP_ENGINE_TX_RUN_H

#include "../types.h"

/* Batches that a runner sends before the work item takes over. */
#define KWARP_TX_RUN_BUDGET	32
/* The same for kwarp_tx_release(): its callers handle many connections one after the other. */
#define KWARP_TX_CLAIM_BUDGET	1
/*
 * The same with the socket's spinlock held, in units of share.h (1 MiB), for one call: other tasks
 * wait for the processor meanwhile.
 */
#define KWARP_TX_SOCKET_CALL	256

enum kwarp_tx_from {
	KWARP_TX_FROM_ANY,	/* any context: the work item is queued, and sends */
	/* post of a kernel consumer: it sends if its context allows */
	KWARP_TX_FROM_POSTER,
	/* The socket's spinlock is held and no process owns the socket: the caller sends. */
	KWARP_TX_FROM_SOCKET,
	KWARP_TX_FROM_PROCESS,	/* process context, no locks held: the caller sends */
	KWARP_TX_FROM_DOORBELL,	/* the same, for a doorbell of a program */
};

void kwarp_tx_init(struct kwarp_engine *e);
void kwarp_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from);
void kwarp_tx_claim(struct kwarp_engine *e);
void kwarp_tx_release(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_RUN_H */
