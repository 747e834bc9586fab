/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_STEP_H
#define KWARP_ENGINE_TX_STEP_H

#include "../types.h"

enum kwarp_tx_result {
	KWARP_TX_IDLE,		/* nothing to send until a new request or event */
	KWARP_TX_MORE,		/* there may be more to send */
	KWARP_TX_BLOCKED,	/* TCP is full; its write_space callback makes us send again */
	KWARP_TX_NO_MEMORY,	/* no memory: try again later */
	KWARP_TX_STALLED,	/* a fault lets nothing be sent: likewise */
};

enum kwarp_tx_result kwarp_tx_step(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_STEP_H */
