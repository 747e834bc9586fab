// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive queue: taking entries in posting order, flushing.
 */
#include "rq.h"

#include <linux/sched.h>

#include "../limits.h"

/* @rq->user has been set. */
int kwarp_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride)
{
	spin_lock_init(&rq->lock);
	spin_lock_init(&rq->post_lock);
	return kwarp_ring_init(&rq->ring, entries, stride, rq->user);
}

/* The same behind the ring of a send queue, in its tail. */
void kwarp_rq_init_behind(struct kwarp_rq *rq, const struct kwarp_ring *first, u32 entries,
			  u32 stride)
{
	spin_lock_init(&rq->lock);
	spin_lock_init(&rq->post_lock);
	kwarp_ring_place(&rq->ring, (u8 *)first->hdr + first->len, entries, stride);
}

/**
 * kwarp_rq_take - take the next receive
 * @rq: queue
 * @rwqe: result
 * @limit_hit: result: the SRQ limit has just been passed
 *
 * Context: any but hard interrupt.
 * Return: KWARP_TAKE_*; @rwqe is filled if OK.  A BAD entry has been used up, too.
 */
enum kwarp_take kwarp_rq_take(struct kwarp_rq *rq, struct kwarp_rwqe *rwqe,
			      bool *limit_hit)
{
	enum kwarp_take ret = KWARP_TAKE_OK;
	u32 n;

	*limit_hit = false;
	spin_lock_bh(&rq->lock);
	if (!kwarp_ring_pending(&rq->ring, rq->next, &n)) {
		ret = KWARP_TAKE_CORRUPT;
	} else if (!n) {
		ret = KWARP_TAKE_NONE;
	} else {
		if (!kwarp_rwqe_load(rwqe, kwarp_ring_slot(&rq->ring, rq->next),
				     rq->ring.stride))
			ret = KWARP_TAKE_BAD;
		kwarp_ring_release(&rq->ring, ++rq->next);
		if (rq->limit && n - 1 < rq->limit) {
			rq->limit = 0;
			*limit_hit = true;
		}
	}
	spin_unlock_bh(&rq->lock);
	return ret;
}

/* Return: true if there is more. */
static bool flush_some(struct kwarp_rq *rq, struct kwarp_cq *cq, struct ib_qp *qp,
		       u16 vendor_err)
{
	u32 n, todo, budget = KWARP_IRQ_OFF_BATCH;
	unsigned long cqflags;

	spin_lock_bh(&rq->lock);
	cqflags = kwarp_cq_begin(cq);
	if (!kwarp_ring_pending(&rq->ring, rq->next, &n))
		n = 0;
	for (; n && budget; n--, rq->next++, budget--) {
		const struct kwarp_rqe *e = kwarp_ring_slot(&rq->ring, rq->next);
		struct kwarp_cqe cqe = {
			.id = READ_ONCE(e->id),
			.qpn = qp->qp_num,
			.status = KWARP_WC_FLUSH_ERR,
			.vendor_err = vendor_err,
			.opcode = KWARP_WC_RECV,
		};

		kwarp_cq_add(cq, &cqe, qp);
	}
	kwarp_ring_release(&rq->ring, rq->next);
	todo = kwarp_cq_end(cq, cqflags);
	spin_unlock_bh(&rq->lock);
	kwarp_cq_notify(cq, todo);
	return n;
}

/* Complete every posted receive with a flush error.  Context: process. */
void kwarp_rq_flush(struct kwarp_rq *rq, struct kwarp_cq *cq, struct ib_qp *qp,
		    u16 vendor_err)
{
	/* No more than the queue holds: a program that keeps on posting comes again. */
	u32 rounds = 1 + kwarp_ring_size(&rq->ring) / KWARP_IRQ_OFF_BATCH;

	while (flush_some(rq, cq, qp, vendor_err) && --rounds)
		cond_resched();
}

/* Back to empty, for modify to RESET.  No receiver, no poster. */
void kwarp_rq_reset(struct kwarp_rq *rq)
{
	rq->next = 0;
	rq->posted = 0;
	rq->ring.hdr->prod = 0;
	kwarp_ring_release(&rq->ring, 0);
	kwarp_ring_set_flags(&rq->ring, 0);
}
