/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_STEP_H
#define KWARP_ENGINE_TX_STEP_H

#include "../types.h"

enum kwarp_tx_result {
	KWARP_TX_IDLE,		/* nothing to do until something happens */
	KWARP_TX_MORE,		/* there may be more */
	KWARP_TX_BLOCKED,	/* TCP takes no more; write_space will kick */
	KWARP_TX_NO_MEMORY,	/* try again, but not at once */
};

enum kwarp_tx_result kwarp_tx_step(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_STEP_H */
