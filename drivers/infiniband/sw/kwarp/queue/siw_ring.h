/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings in the layout of libsiw, the provider of siw (rdma/siw-abi.h), for links of type
 * kwarp-siw.
 *
 * The program maps the rings in libsiw's layout. Its requests are moved from the mapped ring into
 * the queue's own ring (ring.h), which is not mapped then, and its completions are written to the
 * mapped ring of the CQ. Only this file and siw_ring.c know libsiw's layout. VALID: the flag
 * SIW_WQE_VALID of an entry; the writer of the entry sets the flag, and the reader clears it.
 * Transmit runner: the context that sends for a stream at the moment.
 */
#ifndef KWARP_QUEUE_SIW_RING_H
#define KWARP_QUEUE_SIW_RING_H

#include <linux/minmax.h>
#include <linux/types.h>
#include <rdma/kwarp-abi.h>

#include "../limits.h"
#include "ring.h"

struct siw_cqe;
struct siw_cq_ctrl;

/**
 * struct kwarp_siw_wq - send or receive ring of libsiw
 * @mem: the entries; user space can write to them
 * @len: octets of @mem
 * @mask: number of entries - 1; immutable
 * @stride: octets per entry; immutable
 * @next: index of the first entry that has not been moved into the queue's own ring; written by the
 *	context that takes from the queue (send ring: the transmit runner; receive ring: under the
 *	queue's lock), READ_ONCE elsewhere
 * @kept: send ring: address of the flags of the newest entry that was moved, while that entry is
 *	still VALID; else NULL; written like @next
 * @charge: what the user pays for @mem, until an mmap entry owns both
 *
 * After a post libsiw rings the doorbell only if the entry before the new ones is not VALID. The
 * newest entry that was moved stays VALID while the transmit runner is going to look at the ring
 * again anyway, so that libsiw does not ring.
 */
struct kwarp_siw_wq {
	u8 *mem;
	size_t len;
	u32 mask;
	u32 stride;
	u32 next;
	u16 *kept;
	struct kwarp_charge charge;
};

/**
 * struct kwarp_siw_cq - completion ring of libsiw
 * @mem: the entries; user space can write to them
 * @len: octets of @mem, including @ctrl
 * @ctrl: word with which the program arms the CQ (asks for an event); after the last entry
 * @mask: number of entries - 1
 * @charge: what the user pays for @mem, until an mmap entry owns both
 *
 * Immutable, but for @charge.
 */
struct kwarp_siw_cq {
	struct siw_cqe *mem;
	size_t len;
	struct siw_cq_ctrl *ctrl;
	u32 mask;
	struct kwarp_charge charge;
};

struct kwarp_siw_wq *kwarp_siw_new_sq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_wq *kwarp_siw_new_rq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_cq *kwarp_siw_new_cq(u32 entries, struct kwarp_account *account);
void kwarp_siw_free_wq(struct kwarp_siw_wq *wq);
void kwarp_siw_free_cq(struct kwarp_siw_cq *cq);

bool kwarp_siw_posted(const struct kwarp_siw_wq *wq, u32 offset);
u32 kwarp_siw_pull_sends(struct kwarp_siw_wq *wq, struct kwarp_ring *ring, u32 room);
u32 kwarp_siw_pull_recvs(struct kwarp_siw_wq *wq, struct kwarp_ring *ring, u32 room);
void kwarp_siw_sleep(struct kwarp_siw_wq *wq);
void kwarp_siw_forget(struct kwarp_siw_wq *wq);

bool kwarp_siw_push(struct kwarp_siw_cq *cq, u32 index, const struct kwarp_cqe *cqe);
u32 *kwarp_siw_arm(struct kwarp_siw_cq *cq);

static inline u32 kwarp_siw_wq_size(const struct kwarp_siw_wq *wq)
{
	return wq->mask + 1;
}

/*
 * Return: number of calls of kwarp_siw_pull_sends() or kwarp_siw_pull_recvs() that is enough to
 * move all requests of a full @wq into the queue's own ring @ring.
 */
static inline u32 kwarp_siw_rounds(const struct kwarp_siw_wq *wq, const struct kwarp_ring *ring)
{
	return 1 + kwarp_siw_wq_size(wq) / min_t(u32, kwarp_ring_size(ring), KWARP_IRQ_OFF_BATCH);
}

static inline u32 kwarp_siw_cq_size(const struct kwarp_siw_cq *cq)
{
	return cq->mask + 1;
}

#endif /* KWARP_QUEUE_SIW_RING_H */
