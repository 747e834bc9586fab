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

/* Entries that are posted and not taken; false: a corrupt index. */
static bool recvs_pending(struct kwarp_rq *rq, u32 *n)
{
	bool ok = kwarp_ring_pending(&rq->ring, rq->next, n);

	lockdep_assert_held(&rq->lock);
	if (!rq->siw || *n)
		return ok;
	*n = kwarp_siw_pull_recvs(rq->siw, &rq->ring, kwarp_ring_size(&rq->ring));
	return true;
}

/* @n are in the ring, one of them is being taken: is that one too few? */
static bool below_limit(const struct kwarp_rq *rq, u32 n)
{
	return rq->limit && n - 1 < rq->limit &&
	       !(rq->siw && kwarp_siw_posted(rq->siw, rq->limit - n));
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

/* The entries that have been posted and not taken, as they are now. */
static int rq_posted(struct kwarp_rq *rq, u32 *next, u32 *n)
{
	bool ok;

	spin_lock_bh(&rq->lock);
	*next = rq->next;
	ok = kwarp_ring_pending(&rq->ring, rq->next, n);
	spin_unlock_bh(&rq->lock);
	return ok ? 0 : -EINVAL;
}

/* Only @ring can be reached by nobody else yet. */
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
	/* A query looks without the lock. */
	WRITE_ONCE(rq->max_wr, kwarp_ring_size(&rq->ring));
	if (limit)
		rq->limit = *limit;
}

/**
 * kwarp_rq_replace - move what has been posted into a new ring (resize of an SRQ)
 * @rq: queue of user space, which posts nothing meanwhile
 * @ring: new one, empty, with entries as large; the old one afterwards
 * @limit: of the queue from now on; NULL: as it is
 *
 * Receives may be taken meanwhile, so they are copied before the lock is taken: what has been
 * taken when the rings are exchanged is left in the new one, before its first entry.
 *
 * Context: process, may sleep; one at a time.
 * Return: 0; -EINVAL, and nothing has changed: more has been posted than the new ring takes, it is
 * smaller than the limit, or an index in the old one is wrong; -EBUSY, likewise: something was
 * posted meanwhile.
 */
int kwarp_rq_replace(struct kwarp_rq *rq, struct kwarp_ring *ring, const u32 *limit)
{
	u32 next, n, left;
	int ret;

	ret = rq_posted(rq, &next, &n);
	if (ret)
		return ret;
	if (n > kwarp_ring_size(ring))
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

/* Return: true if there is more. */
static bool flush_some(struct kwarp_rq *rq, struct kwarp_cq *cq, struct ib_qp *qp,
		       u16 vendor_err)
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

		kwarp_cq_add(cq, &cqe, qp);
	}
	kwarp_ring_release(&rq->ring, rq->next);
	more = rq->siw && kwarp_siw_posted(rq->siw, 0);
	todo = kwarp_cq_end(cq, cqflags);
	spin_unlock_bh(&rq->lock);
	kwarp_cq_notify(cq, todo);
	return n || more;
}

/* Complete every posted receive with a flush error.  Context: process. */
void kwarp_rq_flush(struct kwarp_rq *rq, struct kwarp_cq *cq, struct ib_qp *qp,
		    u16 vendor_err)
{
	/* No more than the queue holds: a program that keeps on posting comes again. */
	u32 rounds = 1 + kwarp_ring_size(&rq->ring) / KWARP_IRQ_OFF_BATCH;

	if (rq->siw)
		rounds += kwarp_siw_rounds(rq->siw, &rq->ring);
	while (flush_some(rq, cq, qp, vendor_err) && --rounds)
		cond_resched();
}

/* Back to empty, for modify to RESET.  No receiver, no poster. */
void kwarp_rq_reset(struct kwarp_rq *rq)
{
	rq->next = 0;
	rq->posted = 0;
	rq->ring.hdr->prod = 0;
	if (rq->siw)
		kwarp_siw_forget(rq->siw);
	kwarp_ring_release(&rq->ring, 0);
	kwarp_ring_set_flags(&rq->ring, 0);
}
