/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_LOCAL_H
#define KWARP_ENGINE_TX_LOCAL_H

#include "../types.h"

enum kwarp_wc_status kwarp_tx_local(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_LOCAL_H */
