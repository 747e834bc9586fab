/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_TX_SERIES_H
#define KWARP_ENGINE_TX_SERIES_H

#include "../types.h"

bool kwarp_tx_build_series(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_SERIES_H */
