/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_RX_SERIES_H
#define KWARP_ENGINE_RX_SERIES_H

#include "../types.h"

size_t kwarp_rx_accept_series(struct kwarp_engine *e, const u8 *data, size_t len);

#endif /* KWARP_ENGINE_RX_SERIES_H */
