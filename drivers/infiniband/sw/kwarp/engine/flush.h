/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_FLUSH_H
#define KWARP_ENGINE_FLUSH_H

#include "types.h"

void kwarp_engine_flush(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_FLUSH_H */
