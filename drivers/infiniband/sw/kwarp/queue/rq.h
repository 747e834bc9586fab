/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A receive queue belongs to one queue pair, or is shared by several (SRQ). */
#ifndef KWARP_QUEUE_RQ_H
#define KWARP_QUEUE_RQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "sq.h"

/*
 * struct kwarp_rq - receive queue
 * @ring: the entries, perhaps shared with user space; immutable, except for a user space SRQ,
 *	whose ring can be replaced, under @lock
 * @foreign: ring from which receives are moved to @ring, which is not shared then; NULL: none;
 *	pointer immutable, contents under @lock
 * @max_sge: number of scatter/gather elements that an entry may have; immutable
 * @user: SRQ: user space posts, not a kernel consumer; immutable
 * @lock: protects @next and @limit, the contents of @foreign and, in an SRQ, the exchange of @ring;
 *	any context but hard interrupt, bottom halves off
 * @next: index of the first entry not yet taken
 * @limit: SRQ: raise the limit event when fewer entries than this are left; 0: not armed
 * @posted: kernel consumers: index of the next entry to write, under @post_lock
 */
struct kwarp_rq {
	struct kwarp_ring ring;
	struct kwarp_foreign_ring *foreign;
	u32 max_sge;
	bool user;

	spinlock_t lock;		/* next, limit; ring of an SRQ */
	u32 next;
	u32 limit;

	spinlock_t post_lock;		/* posted */
	u32 posted;
};

/* Context: any; the ring of an SRQ may be replaced meanwhile. */
static inline u32 kwarp_rq_size(const struct kwarp_rq *rq)
{
	return READ_ONCE(rq->ring.mask) + 1;
}

int kwarp_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride);
void kwarp_rq_init_in_tail(struct kwarp_rq *rq, const struct kwarp_ring *first, u32 entries,
			   u32 stride);
enum kwarp_take kwarp_rq_take(struct kwarp_rq *rq, struct kwarp_rwqe *rwqe,
			      bool *limit_hit);
int kwarp_rq_replace(struct kwarp_rq *rq, struct kwarp_ring *ring, const u32 *limit);
void kwarp_rq_flush(struct kwarp_rq *rq, struct kwarp_cq *cq, struct ib_qp *qp,
		    u32 vendor_err);
void kwarp_rq_reset(struct kwarp_rq *rq);

int kwarp_rq_post(struct kwarp_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad);

#endif /* KWARP_QUEUE_RQ_H */
