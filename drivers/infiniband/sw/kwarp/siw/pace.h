/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_SIW_PACE_H
#define KWARP_SIW_PACE_H

#include <linux/time64.h>

#include "ring.h"

/* So many looks in the time coalesce_us, but at least KWARP_PACE_MIN_NS between two of them. */
#define KWARP_PACE_LOOKS	4
#define KWARP_PACE_MIN_NS	(10 * NSEC_PER_USEC)
/* If so many requests are sent between two looks, the look costs less than their doorbells. */
#define KWARP_PACE_MANY		4
/* The hold ends after this number of looks in a row after fewer requests ("it does not pay"). */
#define KWARP_PACE_QUIET	8
/* Doorbells that are obeyed after a hold in which no look has paid, and when a stream starts. */
#define KWARP_PACE_OBEY		1024
/* Doorbells that are obeyed after another hold: the program sends for some time, not the timer. */
#define KWARP_PACE_PAUSE	32

extern const struct kwarp_hold_ops kwarp_siw_hold_ops;

void kwarp_siw_pace_init(struct kwarp_siw_ring *r);

#endif /* KWARP_SIW_PACE_H */
