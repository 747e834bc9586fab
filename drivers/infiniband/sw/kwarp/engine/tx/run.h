/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_RUN_H
#define KWARP_ENGINE_TX_RUN_H

#include "../types.h"

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
