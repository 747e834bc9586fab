// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The send queue: entries are taken, completed in order, or flushed (completed with an error).
 *
 * Transmit runner: the context that sends for a stream at the moment. The requests of a program
 * that uses libsiw, the provider of siw, are moved from libsiw's ring into the queue's own ring
 * (siw_ring.h). A corrupt index is one that cannot be right; user space can write any number.
 *
 * Numbers such as 5040-5.4-10 name requirements of RFCs, see Documentation/conformance.
 */
#include "sq.h"

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../limits.h"

/*
 * Allocate the ring and sq->done. The caller has set sq->user, sq->ring.tail and
 * sq->ring.charge.account. Context: process. Return: 0, -ENOMEM.
 */
int kwarp_sq_init(struct kwarp_sq *sq, u32 entries, u32 stride)
{
	int ret = kwarp_ring_init(&sq->ring, entries, stride, sq->user);
	u32 size;

	if (ret)
		return ret;
	size = kwarp_ring_size(&sq->ring);
	if (!kwarp_charge(&sq->ring.charge, (u64)size * sizeof(*sq->done)))
		sq->done = kvcalloc(size, sizeof(*sq->done),
				    sq->user ? GFP_KERNEL_ACCOUNT : GFP_KERNEL);
	if (!sq->done) {
		kwarp_ring_fini(&sq->ring);
		return -ENOMEM;
	}
	spin_lock_init(&sq->lock);
	spin_lock_init(&sq->post_lock);
	kwarp_ring_set_flags(&sq->ring, KWARP_RING_NEED_KICK);
	return 0;
}

/*
 * Move some of libsiw's requests into the queue's own ring, as far as there is room.
 * Context: transmit runner. Return: number of requests moved.
 */
static u32 pull_sends(struct kwarp_sq *sq)
{
	u32 used = sq->ring.hdr->prod - READ_ONCE(sq->retired);

	return kwarp_siw_pull_sends(sq->siw, &sq->ring, kwarp_ring_size(&sq->ring) - used);
}

/*
 * Count the entries of the queue's own ring that are posted and not taken: @n. If there are none,
 * first move requests from libsiw's ring. Context: transmit runner. Return: false: corrupt index.
 */
static bool sends_pending(struct kwarp_sq *sq, u32 *n)
{
	bool ok = kwarp_ring_pending(&sq->ring, sq->next, n);

	if (!sq->siw || *n)
		return ok;
	*n = pull_sends(sq);
	return true;
}

/*
 * Has libsiw posted requests that have not been moved into the queue's own ring?
 * Context: transmit runner; in others the answer is only a hint.
 */
bool kwarp_sq_has_unmoved(const struct kwarp_sq *sq)
{
	return sq->siw && kwarp_siw_posted(sq->siw, 0);
}

/*
 * Return: index after the newest posted request in the queue's own ring. First some of libsiw's
 * requests are moved there, as far as there is room. Context: transmit runner.
 */
u32 kwarp_sq_posted(struct kwarp_sq *sq)
{
	if (sq->siw)
		pull_sends(sq);
	return READ_ONCE(sq->ring.hdr->prod);
}

/*
 * Like kwarp_sq_posted(), but first move as many of libsiw's requests as there is room for, not
 * only some. Context: transmit runner, process.
 */
u32 kwarp_sq_posted_all(struct kwarp_sq *sq)
{
	while (sq->siw && pull_sends(sq))
		cond_resched();
	return kwarp_sq_posted(sq);
}

/**
 * kwarp_sq_tell - set the flags that programs and kernel consumers look at when they post
 * @sq: queue
 * @flags: KWARP_RING_*
 *
 * After KWARP_RING_NEED_KICK has been set (a post must ring the doorbell), the caller must check
 * kwarp_sq_posted(), and kwarp_sq_has_unmoved(): requests may have been posted before the flag was
 * visible, and libsiw's requests may not have fit into the ring.
 *
 * Context: transmit runner.
 */
void kwarp_sq_tell(struct kwarp_sq *sq, u32 flags)
{
	if (READ_ONCE(sq->ring.hdr->flags) == flags)
		return;
	kwarp_ring_set_flags(&sq->ring, flags);
	if (sq->siw && flags & KWARP_RING_NEED_KICK)
		kwarp_siw_sleep(sq->siw);
	/* Pairs with the barrier of each post between storing prod and reading flags. */
	smp_mb();
}

/* Have all posted requests been taken?  A corrupt index counts as a posted request. */
bool kwarp_sq_empty(const struct kwarp_sq *sq)
{
	u32 n;

	kwarp_ring_pending(&sq->ring, sq->next, &n);
	return !n && !kwarp_sq_has_unmoved(sq);
}

/*
 * Copy the next entry without taking it. The result may be KWARP_TAKE_NONE although
 * kwarp_sq_empty() is false: libsiw has posted more requests than fit into the queue's own ring,
 * and they wait until earlier requests complete.
 *
 * Context: transmit runner.
 */
enum kwarp_take kwarp_sq_peek(struct kwarp_sq *sq, struct kwarp_wqe *wqe)
{
	u32 n;

	if (!sends_pending(sq, &n))
		return KWARP_TAKE_CORRUPT;
	if (!n)
		return KWARP_TAKE_NONE;
	/* The program has posted into a slot whose request has not completed. */
	if (sq->next - READ_ONCE(sq->retired) > sq->ring.mask)
		return KWARP_TAKE_CORRUPT;
	if (!kwarp_wqe_load(wqe, kwarp_ring_slot(&sq->ring, sq->next),
			    sq->ring.stride, sq->user) ||
	    (wqe->rule->rfc7306 && !sq->rfc7306))
		return KWARP_TAKE_BAD;
	return KWARP_TAKE_OK;
}

/* Return: the opcode for a completion. A refused entry may have any number: report it as a Send. */
static u8 known_opcode(u8 opcode)
{
	return opcode < KWARP_WR_MAX ? opcode : KWARP_WR_SEND;
}

/**
 * kwarp_sq_take - take the entry that kwarp_sq_peek() has copied
 * @sq: queue
 * @wqe: the copy
 *
 * Context: transmit runner.
 * Return: the entry's index, for kwarp_sq_sent(), _answered() and _failed().
 */
u32 kwarp_sq_take(struct kwarp_sq *sq, const struct kwarp_wqe *wqe)
{
	struct kwarp_sq_done *d = &sq->done[sq->next & sq->ring.mask];

	/*
	 * No lock is needed: retire_some() does not look at entries from sq->sent on, and a flush
	 * is made by the transmit runner, too.
	 */
	d->id = wqe->e.id;
	d->opcode = known_opcode(wqe->e.opcode);
	d->byte_len = wqe->rule->awaits ? wqe->len : 0;
	d->status = KWARP_WC_SUCCESS;
	d->vendor_err = 0;
	d->signaled = sq->sig_all || wqe->e.flags & KWARP_WR_SIGNALED;
	d->awaits = wqe->rule->awaits;
	/* WRITE_ONCE: the timers of engine/tx/ read sq->next in another context. */
	WRITE_ONCE(sq->next, sq->next + 1);
	return sq->next - 1;
}

static void add_cqe(struct kwarp_sq *sq, const struct kwarp_sq_done *d)
{
	struct kwarp_cqe cqe = {
		.id = d->id,
		.qpn = sq->ibqp->qp_num,
		.byte_len = d->byte_len,
		.vendor_err = d->vendor_err,
		.status = d->status,
		.opcode = d->opcode,
	};

	kwarp_cq_add(sq->cq, &cqe, sq->ibqp);
}

/*
 * Complete up to KWARP_IRQ_OFF_BATCH of the requests before sq->sent, in order, and stop before the
 * first that waits for its response. @todo: result: what kwarp_cq_notify() has to do. Return: true:
 * more can complete now.
 */
static bool retire_some(struct kwarp_sq *sq, u32 *todo)
{
	const u32 from = sq->retired;
	unsigned long cqflags;
	bool more = false;
	u32 at = from;

	lockdep_assert_held(&sq->lock);
	cqflags = kwarp_cq_begin(sq->cq);
	for (; at != sq->sent; at++) {
		const struct kwarp_sq_done *d = &sq->done[at & sq->ring.mask];

		if (d->awaits)
			break;
		more = at - from == KWARP_IRQ_OFF_BATCH;
		if (more)
			break;
		if (d->signaled || d->status != KWARP_WC_SUCCESS)
			add_cqe(sq, d);
	}
	/* WRITE_ONCE: kwarp_sq_peek() reads sq->retired without the lock. */
	WRITE_ONCE(sq->retired, at);
	kwarp_ring_release(&sq->ring, at);
	*todo = kwarp_cq_end(sq->cq, cqflags);
	return more;
}

/* Complete all requests that can complete now, and drop the lock. */
static void retire_unlock(struct kwarp_sq *sq)
	__releases(&sq->lock)
{
	bool more;
	u32 todo;

	for (;;) {
		more = retire_some(sq, &todo);
		spin_unlock_bh(&sq->lock);
		kwarp_cq_notify(sq->cq, todo);
		if (!more)
			return;
		spin_lock_bh(&sq->lock);
	}
}

/*
 * To be called when TCP has taken all octets of the requests before @end, and those of them that
 * send nothing have been carried out. Context: any but hard interrupt.
 */
void kwarp_sq_sent(struct kwarp_sq *sq, u32 end)
{
	spin_lock_bh(&sq->lock);
	if ((s32)(end - sq->sent) <= 0) {
		spin_unlock_bh(&sq->lock);
		return;
	}
	sq->sent = end;
	retire_unlock(sq);
}

/*
 * To be called when the response to the request at @index is complete. Context: any but hard
 * interrupt.
 */
void kwarp_sq_answered(struct kwarp_sq *sq, u32 index)
{
	spin_lock_bh(&sq->lock);
	sq->done[index & sq->ring.mask].awaits = false;
	retire_unlock(sq);
}

/**
 * kwarp_sq_failed - set the error status of a taken request
 * @sq: queue
 * @index: what kwarp_sq_take() returned
 * @status: for the completion
 * @vendor_err: for the completion, see struct kwarp_cqe
 *
 * This function only stores the status. The completion is added later, at the latest by the flush
 * that follows every error.
 * Context: any but hard interrupt.
 */
void kwarp_sq_failed(struct kwarp_sq *sq, u32 index, enum kwarp_wc_status status,
		     u16 vendor_err)
{
	struct kwarp_sq_done *d = &sq->done[index & sq->ring.mask];

	spin_lock_bh(&sq->lock);
	d->status = status;
	d->vendor_err = vendor_err;
	spin_unlock_bh(&sq->lock);
}

static void flush_taken(struct kwarp_sq *sq, u16 vendor_err, u32 *budget)
{
	u32 at = sq->retired;

	for (; at != sq->next && *budget; at++, --*budget) {
		struct kwarp_sq_done *d = &sq->done[at & sq->ring.mask];
		bool sent = (s32)(sq->sent - at) > 0;

		if (d->status == KWARP_WC_SUCCESS && (!sent || d->awaits)) {
			d->status = KWARP_WC_FLUSH_ERR;
			d->vendor_err = vendor_err;
		}
		if (d->signaled || d->status != KWARP_WC_SUCCESS)
			add_cqe(sq, d);
	}
	WRITE_ONCE(sq->retired, at);
}

/* Take the next entry without sending it. @d: result: its completion, with a flush error. */
static void refuse_next(struct kwarp_sq *sq, struct kwarp_sq_done *d, u16 vendor_err)
{
	struct kwarp_sqe e;

	memcpy(&e, kwarp_ring_slot(&sq->ring, sq->next), sizeof(e));
	/* As in kwarp_wqe_load(): use only the copy. */
	barrier();
	*d = (struct kwarp_sq_done) {
		.id = e.id,
		.vendor_err = vendor_err,
		.opcode = known_opcode(e.opcode),
		.status = KWARP_WC_FLUSH_ERR,
	};
	WRITE_ONCE(sq->next, sq->next + 1);
}

static void flush_posted(struct kwarp_sq *sq, u16 vendor_err, u32 *budget)
{
	struct kwarp_sq_done d;
	u32 n;

	/* Corrupt index: it is unknown which entries are posted, so flush none. */
	if (!sends_pending(sq, &n))
		n = 0;
	for (; n && *budget; n--, --*budget) {
		refuse_next(sq, &d, vendor_err);
		add_cqe(sq, &d);
	}
	sq->sent = sq->next;
	WRITE_ONCE(sq->retired, sq->next);
}

/* Flush up to KWARP_IRQ_OFF_BATCH requests. Return: true: there may be more. */
static bool flush_some(struct kwarp_sq *sq, u16 vendor_err)
{
	u32 budget = KWARP_IRQ_OFF_BATCH, todo;
	unsigned long cqflags;

	spin_lock_bh(&sq->lock);
	cqflags = kwarp_cq_begin(sq->cq);
	flush_taken(sq, vendor_err, &budget);
	if (budget)
		flush_posted(sq, vendor_err, &budget);
	kwarp_ring_release(&sq->ring, sq->retired);
	todo = kwarp_cq_end(sq->cq, cqflags);
	spin_unlock_bh(&sq->lock);
	kwarp_cq_notify(sq->cq, todo);
	return !budget || kwarp_sq_has_unmoved(sq);
}

/**
 * kwarp_sq_flush - complete all requests that have been posted
 * @sq: queue
 * @vendor_err: value for the completions with a flush error, see struct kwarp_cqe
 *
 * Requests that TCP has taken complete with success, except Reads and atomic operations without a
 * response; a failed request keeps its status; all others get a flush error (5040-5.4-10,
 * 5041-6.2.2-5). The function may be called again, for requests that were posted later.
 *
 * Context: process; the transmit runner.
 */
void kwarp_sq_flush(struct kwarp_sq *sq, u16 vendor_err)
{
	/*
	 * Limit the number of iterations to what full rings need: a program that keeps posting must
	 * not keep this loop running.
	 */
	u32 rounds = 1 + 2 * kwarp_ring_size(&sq->ring) / KWARP_IRQ_OFF_BATCH;

	if (sq->siw)
		rounds += kwarp_siw_rounds(sq->siw, &sq->ring);
	while (flush_some(sq, vendor_err) && --rounds)
		cond_resched();
}

/**
 * kwarp_sq_flush_late - flush requests that were posted after the begin of a graceful close
 * @sq: queue
 * @vendor_err: value for the completions with a flush error, see struct kwarp_cqe
 *
 * See 5041-6.2.1-3. The stream still exists, and earlier Reads and atomic operations complete
 * first, when they are answered. The function does nothing as long as TCP has not accepted every
 * request that kwarp_sq_take() has taken.
 *
 * Context: transmit runner.
 * Return: true: there are more requests that can be flushed now.
 */
bool kwarp_sq_flush_late(struct kwarp_sq *sq, u16 vendor_err)
{
	u32 n, room, i;
	bool more;

	spin_lock_bh(&sq->lock);
	/*
	 * Flush none while a request that was taken has not been sent. Corrupt index: it is unknown
	 * which entries are posted, so flush none, either.
	 */
	if (sq->sent != sq->next || !sends_pending(sq, &n))
		n = 0;
	/* Do not take entries whose slots still belong to requests that have not completed. */
	room = sq->ring.mask + 1 - (sq->next - sq->retired);
	n = min(n, room);
	more = n > KWARP_IRQ_OFF_BATCH || (n && kwarp_sq_has_unmoved(sq));
	n = min_t(u32, n, KWARP_IRQ_OFF_BATCH);
	for (i = 0; i < n; i++)
		refuse_next(sq, &sq->done[sq->next & sq->ring.mask], vendor_err);
	sq->sent += n;
	retire_unlock(sq);
	return more;
}

/*
 * Empty the queue, for modify to RESET. No other context takes or posts requests during the call.
 */
void kwarp_sq_reset(struct kwarp_sq *sq)
{
	sq->next = 0;
	sq->sent = 0;
	sq->retired = 0;
	sq->posted = 0;
	sq->ring.hdr->prod = 0;
	if (sq->siw)
		kwarp_siw_forget(sq->siw);
	kwarp_ring_release(&sq->ring, 0);
	kwarp_ring_set_flags(&sq->ring, KWARP_RING_NEED_KICK);
}
