/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings in the layout of libsiw, the provider of siw (rdma/siw-abi.h), and what the files of this
 * folder call of each other. Only this file and ring.c know that layout. VALID: the flag
 * SIW_WQE_VALID of an entry; the writer of the entry sets the flag, and the reader clears it.
 */
#ifndef KWARP_SIW_RING_H
#define KWARP_SIW_RING_H

#include <linux/container_of.h>
#include <linux/hrtimer.h>
#include <linux/time64.h>

#include "../queue/foreign.h"

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

struct kwarp_engine;

/*
 * struct kwarp_pace - does a timer send what the program posts? See pace.c
 * @ns: time between two looks, nanoseconds; does not change during a stream
 * @obey: number of doorbells to obey before the next hold
 * @seen: index after the requests that were taken before the last look
 * @quiet: number of looks in a row that did not pay
 * @pays: a look of this hold has paid
 */
struct kwarp_pace {
	struct hrtimer timer;
	struct kwarp_engine *e;
	u64 ns;
	u32 obey;
	u32 seen;
	u32 quiet;
	bool pays;
};

/*
 * struct kwarp_siw_ring - send, receive or completion ring of libsiw
 * @mem: the entries; user space can write to them
 * @mask: number of entries - 1; immutable
 * @next: work queue: index of the first entry that has not been moved into the queue's own ring;
 *	written by the context that takes from the queue (send ring: the transmit runner; receive
 *	ring: under the queue's lock), READ_ONCE elsewhere
 * @kept: send ring: address of the flags of the newest entry that was moved, while that entry is
 *	still VALID; else NULL; written like @next
 * @charge: what the user pays for @mem, until an mmap entry owns both
 */
struct kwarp_siw_ring {
	struct kwarp_foreign_ring foreign;
	u8 *mem;
	size_t len;
	u32 mask;
	u32 stride;
	u32 next;
	u16 *kept;
	struct kwarp_charge charge;
	struct kwarp_pace pace;
};

static inline struct kwarp_siw_ring *to_siw_ring(const struct kwarp_foreign_ring *f)
{
	return container_of(f, struct kwarp_siw_ring, foreign);
}

struct kwarp_siw_ring *kwarp_siw_new_sq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_ring *kwarp_siw_new_rq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_ring *kwarp_siw_new_cq(u32 entries, struct kwarp_account *account);
void kwarp_siw_free(struct kwarp_siw_ring *r);

extern const struct kwarp_hold_ops kwarp_siw_hold_ops;

void kwarp_siw_pace_init(struct kwarp_siw_ring *r);

extern const struct kwarp_personality kwarp_siw_personality;

#endif /* KWARP_SIW_RING_H */
