// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The receive queue: entries are taken in posting order, or flushed (completed with an error). */
#include "rq.h"

#include <linux/sched.h>

#include "../door.h"
#include "../limits.h"

/* The caller has set rq->user and rq->ring.charge.account. */
int kwarp_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride)
{
	spin_lock_init(&rq->lock);
	spin_lock_init(&rq->post_lock);
	return kwarp_ring_init(&rq->ring, entries, stride, rq->user);
}

/*
 * The ring is in the memory that the ring @first of a send queue has left for it (kwarp_ring.tail).
 */
void kwarp_rq_init_in_tail(struct kwarp_rq *rq, const struct kwarp_ring *first, u32 entries,
			   u32 stride)
{
	spin_lock_init(&rq->lock);
	spin_lock_init(&rq->post_lock);
	kwarp_ring_place(&rq->ring, (u8 *)first->hdr + first->len, entries, stride);
}

/* If none is pending, first move receives from the foreign ring. Return: false: corrupt index. */
static bool recvs_pending(struct kwarp_rq *rq, u32 *n)
{
	bool ok = kwarp_ring_pending(&rq->ring, rq->next, n);

	lockdep_assert_held(&rq->lock);
	if (!rq->foreign || *n)
		return ok;
	*n = rq->foreign->ops->pull(rq->foreign, &rq->ring, kwarp_ring_size(&rq->ring));
	return true;
}

static bool has_unmoved(const struct kwarp_rq *rq, u32 n)
{
	return rq->foreign && rq->foreign->ops->posted(rq->foreign, n);
}

/*
 * One of the @n entries in the queue's own ring is being taken. Will fewer entries be left than the
 * SRQ limit? Entries that are still in the foreign ring count as left.
 */
static bool below_limit(const struct kwarp_rq *rq, u32 n)
{
	return rq->limit && n - 1 < rq->limit &&
	       !has_unmoved(rq, rq->limit - n);
}

/**
 * kwarp_rq_take - take the next receive
 * @rq: queue
 * @rwqe: result
 * @limit_hit: result: fewer entries are left than the SRQ limit; reported only once, until the
 *	consumer sets the limit again
 *
 * Context: any but hard interrupt.
 * Return: KWARP_TAKE_OK: @rwqe is filled. KWARP_TAKE_BAD: the entry is not valid; it is taken from
 * the queue, too, and only @rwqe->id is set. KWARP_TAKE_NONE: the queue is empty.
 * KWARP_TAKE_CORRUPT: corrupt index.
 */
enum kwarp_take kwarp_rq_take(struct kwarp_rq *rq, struct kwarp_rwqe *rwqe,
			      bool *limit_hit)
{
	enum kwarp_take ret = KWARP_TAKE_OK;
	u32 n;

	*limit_hit = false;
	spin_lock_bh(&rq->lock);
	if (!recvs_pending(rq, &n)) {
		ret = KWARP_TAKE_CORRUPT;
	} else if (!n) {
		ret = KWARP_TAKE_NONE;
	} else {
		if (!kwarp_rwqe_load(rwqe, kwarp_ring_slot(&rq->ring, rq->next),
				     rq->ring.stride))
			ret = KWARP_TAKE_BAD;
		kwarp_ring_release(&rq->ring, ++rq->next);
		if (below_limit(rq, n)) {
			rq->limit = 0;
			*limit_hit = true;
		}
	}
	spin_unlock_bh(&rq->lock);
	return ret;
}

/*
 * No lock is needed: no other context knows @ring yet, and the program posts nothing during the
 * call, so the entries in rq->ring do not change.
 */
static void rq_copy(const struct kwarp_rq *rq, struct kwarp_ring *ring, u32 next, u32 n)
{
	for (; n; n--, next++) {
		memcpy(kwarp_ring_slot(ring, next), kwarp_ring_slot(&rq->ring, next),
		       ring->stride);
		cond_resched();
	}
}

static void rq_exchange(struct kwarp_rq *rq, struct kwarp_ring *ring, u32 prod, const u32 *limit)
{
	lockdep_assert_held(&rq->lock);
	ring->hdr->prod = prod;
	kwarp_ring_release(ring, rq->next);
	swap(rq->ring, *ring);
	if (limit)
		rq->limit = *limit;
}

/**
 * kwarp_rq_replace - move posted entries into a new ring (resize of an SRQ)
 * @rq: queue of user space, which posts nothing during the call
 * @ring: new ring, empty, with entries of the same size; on success the old ring is returned here
 * @limit: new SRQ limit; NULL: do not change it
 *
 * The entries are copied before the lock is taken, and receives may be taken during the copy. So
 * the new ring may contain entries that have been taken; they are before its first entry (cons).
 *
 * Context: process, may sleep; one call at a time.
 * Return: 0; or nothing has changed, and: -EINVAL: more entries are posted than the new ring has,
 * the new ring is smaller than the limit, or an index is corrupt; -EBUSY: the program has posted
 * during the call.
 */
int kwarp_rq_replace(struct kwarp_rq *rq, struct kwarp_ring *ring, const u32 *limit)
{
	u32 next, n, left;
	int ret = 0;
	bool ok;

	spin_lock_bh(&rq->lock);
	next = rq->next;
	ok = kwarp_ring_pending(&rq->ring, next, &n);
	spin_unlock_bh(&rq->lock);
	if (!ok || n > kwarp_ring_size(ring))
		return -EINVAL;
	rq_copy(rq, ring, next, n);
	spin_lock_bh(&rq->lock);
	if ((limit ? *limit : rq->limit) > kwarp_ring_size(ring))
		ret = -EINVAL;
	else if (!kwarp_ring_pending(&rq->ring, rq->next, &left) || rq->next + left != next + n)
		ret = -EBUSY;
	else
		rq_exchange(rq, ring, next + n, limit);
	spin_unlock_bh(&rq->lock);
	return ret;
}

/* Return: true: there are more. */
static bool flush_some(struct kwarp_rq *rq, struct kwarp_cq *cq, struct ib_qp *qp,
		       u32 vendor_err)
{
	u32 n, todo, budget = KWARP_IRQ_OFF_BATCH;
	unsigned long cqflags;
	bool more;

	spin_lock_bh(&rq->lock);
	cqflags = kwarp_cq_begin(cq);
	if (!recvs_pending(rq, &n))
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

		/* First: the program sees the completion at once, and may post into the slot. */
		kwarp_ring_release(&rq->ring, rq->next + 1);
		kwarp_cq_add(cq, &cqe, qp);
	}
	more = has_unmoved(rq, 0);
	todo = kwarp_cq_end(cq, cqflags);
	spin_unlock_bh(&rq->lock);
	kwarp_cq_notify(cq, todo);
	return n || more;
}

void kwarp_rq_flush(struct kwarp_rq *rq, struct kwarp_cq *cq, struct ib_qp *qp,
		    u32 vendor_err)
{
	/*
	 * Limit the number of iterations to what a full ring needs: a program that keeps posting
	 * must not keep this loop running.
	 */
	u32 rounds = 1 + kwarp_ring_size(&rq->ring) / KWARP_IRQ_OFF_BATCH;

	if (rq->foreign)
		rounds += kwarp_foreign_rounds(rq->foreign, &rq->ring);
	while (flush_some(rq, cq, qp, vendor_err) && --rounds)
		cond_resched();
}

/* No other context takes or posts receives during the call. */
void kwarp_rq_reset(struct kwarp_rq *rq)
{
	KWARP_DOOR(kwarp_rq_reset, rq);
	rq->next = 0;
	rq->posted = 0;
	rq->ring.hdr->prod = 0;
	if (rq->foreign)
		rq->foreign->ops->forget(rq->foreign);
	kwarp_ring_release(&rq->ring, 0);
	kwarp_ring_set_flags(&rq->ring, 0);
}
