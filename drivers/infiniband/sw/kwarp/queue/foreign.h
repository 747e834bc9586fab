/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Foreign rings: rings in the layout of a user library that is not kwarp's provider. The program
 * maps a foreign ring; the queue's own ring (ring.h) is not mapped then. Requests are moved from
 * the foreign ring to the queue's own, and completions are written to the foreign ring only.
 */
#ifndef KWARP_QUEUE_FOREIGN_H
#define KWARP_QUEUE_FOREIGN_H

#include <linux/minmax.h>
#include <linux/types.h>
#include <rdma/kwarp-abi.h>

#include "../limits.h"
#include "ring.h"

struct kwarp_foreign_ring;

/**
 * struct kwarp_foreign_ring_ops - functions for the rings of one library
 * @posted: work queue: is there an entry that has not been moved, @offset entries after the first
 *	one? A hint, except in the context that takes from the queue.
 * @pull: work queue: move at most @room requests, and at most KWARP_IRQ_OFF_BATCH, to the end of
 *	@ring; returns their number. Context: the transmit runner, or the receive queue's lock held.
 * @sleep: send queue: the program must ring for the next post. The caller executes a full barrier
 *	afterwards, and then looks for posted requests. Context: the transmit runner.
 * @forget: work queue: drop all that is posted. The program posts nothing during the call.
 * @push: completion queue: write entry number @index; returns false if the ring is full. Context:
 *	the CQ's lock held.
 */
struct kwarp_foreign_ring_ops {
	bool (*posted)(const struct kwarp_foreign_ring *f, u32 offset);
	u32 (*pull)(struct kwarp_foreign_ring *f, struct kwarp_ring *ring, u32 room);
	void (*sleep)(struct kwarp_foreign_ring *f);
	void (*forget)(struct kwarp_foreign_ring *f);
	bool (*push)(struct kwarp_foreign_ring *f, u32 index, const struct kwarp_cqe *cqe);
};

/*
 * What the queues know of a foreign ring; immutable. @arm: completion queue: the word by which the
 * program arms the CQ, as in struct kwarp_ring_hdr
 */
struct kwarp_foreign_ring {
	const struct kwarp_foreign_ring_ops *ops;
	u32 size;
	u32 *arm;
};

/* Return: number of calls of @f->ops->pull that is enough to move all requests of a full ring. */
static inline u32 kwarp_foreign_rounds(const struct kwarp_foreign_ring *f,
				       const struct kwarp_ring *ring)
{
	return 1 + f->size / min_t(u32, kwarp_ring_size(ring), KWARP_IRQ_OFF_BATCH);
}

#endif /* KWARP_QUEUE_FOREIGN_H */
