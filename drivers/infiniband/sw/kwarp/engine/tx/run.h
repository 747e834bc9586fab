/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_RUN_H
#define KWARP_ENGINE_TX_RUN_H

#include "../types.h"

enum kwarp_tx_from {
	KWARP_TX_FROM_ANY,	/* any context: the work item sends */
	KWARP_TX_FROM_POSTER,	/* a call of a kernel consumer: the caller sends if it can */
	/* The spinlock of the socket is held and nobody owns it: the caller sends. */
	KWARP_TX_FROM_SOCKET,
	KWARP_TX_FROM_PROCESS,	/* process context without locks: the caller sends */
	KWARP_TX_FROM_DOORBELL,	/* the same, because of requests of user space */
};

void kwarp_tx_init(struct kwarp_engine *e);
void kwarp_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from);
void kwarp_tx_claim(struct kwarp_engine *e);
void kwarp_tx_release(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_RUN_H */
