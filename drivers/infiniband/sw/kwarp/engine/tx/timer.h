/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The timer of held send queues: one for each processor, however many streams are held on it.
 */
#ifndef KWARP_ENGINE_TX_TIMER_H
#define KWARP_ENGINE_TX_TIMER_H

#include "../types.h"

void kwarp_timer_init(void (*over)(struct kwarp_engine *e));
void kwarp_timer_exit(void);
void kwarp_timer_add(struct kwarp_engine *e);
void kwarp_timer_del(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_TIMER_H */
