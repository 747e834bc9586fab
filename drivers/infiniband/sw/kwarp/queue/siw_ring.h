/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings as libsiw has them (rdma/siw-abi.h), for links of type kwarp-siw.
 *
 * The queues of queue/ stay as they are: a program's requests are moved out of the mapped ring
 * into the queue's own one, which is not mapped then, and its completions go into the mapped ring
 * of the CQ.  This file and siw_ring.c are all that knows the layout.
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
 * @mem: the entries; user space can write them
 * @len: octets of it
 * @mask: entries - 1; immutable
 * @stride: octets per entry; immutable
 * @next: first entry that has not been moved; of who takes from the queue; READ_ONCE by others
 * @kept: send ring: the newest entry that was moved, if it is VALID still; likewise
 *
 * libsiw rings after a post only if the entry before the new ones is not VALID.  So the newest one
 * that was moved stays VALID as long as somebody runs who looks at the ring again.
 */
struct kwarp_siw_wq {
	u8 *mem;
	size_t len;
	u32 mask;
	u32 stride;
	u32 next;
	u16 *kept;
};

/**
 * struct kwarp_siw_cq - completion ring of libsiw
 * @mem: the entries; user space can write them
 * @len: octets of it, with @ctrl
 * @ctrl: where the program arms, after the last entry
 * @mask: entries - 1
 *
 * Immutable.
 */
struct kwarp_siw_cq {
	struct siw_cqe *mem;
	size_t len;
	struct siw_cq_ctrl *ctrl;
	u32 mask;
};

struct kwarp_siw_wq *kwarp_siw_new_sq(u32 entries);
struct kwarp_siw_wq *kwarp_siw_new_rq(u32 entries);
struct kwarp_siw_cq *kwarp_siw_new_cq(u32 entries);
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

/* How often something has to be moved into the queue's own ring until all has been. */
static inline u32 kwarp_siw_rounds(const struct kwarp_siw_wq *wq, const struct kwarp_ring *ring)
{
	return 1 + kwarp_siw_wq_size(wq) / min_t(u32, kwarp_ring_size(ring), KWARP_IRQ_OFF_BATCH);
}

static inline u32 kwarp_siw_cq_size(const struct kwarp_siw_cq *cq)
{
	return cq->mask + 1;
}

#endif /* KWARP_QUEUE_SIW_RING_H */
