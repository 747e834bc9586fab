// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The send queue: entries are taken, completed in order, or flushed (completed with an error). */
#include "sq.h"

#include <linux/sched.h>
#include <linux/slab.h>

#include "../door.h"
#include "../limits.h"

/*
 * A call completes at most this number of times KWARP_IRQ_OFF_BATCH requests: its caller may hold
 * the socket's spinlock.
 */
#define RETIRE_ROUNDS	16

/* The caller has set sq->user, sq->ring.tail and sq->ring.charge.account. */
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

/* Return: index before which slots, and their sq->done[], may be used again. Context: any. */
static u32 sq_retired(const struct kwarp_sq *sq)
{
	/* Pairs with retire_to(). */
	return smp_load_acquire(&sq->retired);
}

/* Context: transmit runner. */
static u32 pull_sends(struct kwarp_sq *sq)
{
	u32 used = sq->ring.hdr->prod - sq_retired(sq);

	return sq->foreign->ops->pull(sq->foreign, &sq->ring, kwarp_ring_size(&sq->ring) - used);
}

/* If none is pending, first move requests from the foreign ring. Return: false: corrupt index. */
static bool sends_pending(struct kwarp_sq *sq, u32 *n)
{
	bool ok = kwarp_ring_pending(&sq->ring, sq->next, n);

	if (!sq->foreign || *n)
		return ok;
	*n = pull_sends(sq);
	return true;
}

/* Context: transmit runner; in others the answer is only a hint. */
bool kwarp_sq_has_unmoved(const struct kwarp_sq *sq)
{
	KWARP_DOOR(kwarp_sq_has_unmoved, sq);
	return sq->foreign && sq->foreign->ops->posted(sq->foreign, 0);
}

/*
 * Return: index after the newest posted request in the queue's own ring. First some requests
 * are moved there from the foreign ring, as far as there is room. Context: transmit runner.
 */
u32 kwarp_sq_posted(struct kwarp_sq *sq)
{
	if (sq->foreign)
		pull_sends(sq);
	return READ_ONCE(sq->ring.hdr->prod);
}

/*
 * Like kwarp_sq_posted(), but first move as many requests as there is room for, not only some.
 * Context: transmit runner, process.
 */
u32 kwarp_sq_posted_all(struct kwarp_sq *sq)
{
	while (sq->foreign && pull_sends(sq))
		cond_resched();
	return kwarp_sq_posted(sq);
}

/*
 * After KWARP_RING_NEED_KICK has been set (a post must ring the doorbell), the caller must check
 * kwarp_sq_posted(), and kwarp_sq_has_unmoved(): requests may have been posted before the flag was
 * visible, and those in a foreign ring may not have fit into the queue's own. Context: transmit
 * runner.
 */
void kwarp_sq_tell(struct kwarp_sq *sq, u32 flags)
{
	if (READ_ONCE(sq->ring.hdr->flags) == flags)
		return;
	kwarp_ring_set_flags(&sq->ring, flags);
	if (sq->foreign && flags & KWARP_RING_NEED_KICK)
		sq->foreign->ops->sleep(sq->foreign);
	/* Pairs with the barrier of each post between storing prod and reading flags. */
	smp_mb();
}

/* A corrupt index counts as a posted request. */
bool kwarp_sq_empty(const struct kwarp_sq *sq)
{
	u32 n;

	kwarp_ring_pending(&sq->ring, sq->next, &n);
	return !n && !kwarp_sq_has_unmoved(sq);
}

/*
 * The result may be KWARP_TAKE_NONE although kwarp_sq_empty() is false: a foreign ring has more
 * requests than fit into the queue's own ring, and they wait until earlier requests complete.
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
	if (sq->next - sq_retired(sq) > sq->ring.mask)
		return KWARP_TAKE_CORRUPT;
	if (!kwarp_wqe_load(wqe, kwarp_ring_slot(&sq->ring, sq->next),
			    sq->ring.stride, sq->user) ||
	    (wqe->rule->rfc7306 && !sq->rfc7306) || (wqe->rule->send_imm && !sq->send_imm))
		return KWARP_TAKE_BAD;
	return KWARP_TAKE_OK;
}

/* A refused entry may have any number: report it as a Send. */
static u8 known_opcode(u8 opcode)
{
	return opcode < KWARP_WR_MAX ? opcode : KWARP_WR_SEND;
}

/*
 * Context: transmit runner. Return: the entry's index, for kwarp_sq_sent(), _answered() and
 * _failed().
 */
u32 kwarp_sq_take(struct kwarp_sq *sq, const struct kwarp_wqe *wqe)
{
	struct kwarp_sq_done *d = &sq->done[sq->next & sq->ring.mask];

	/*
	 * No lock is needed: retire_end() does not look at entries from sq->sent on, and a flush
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

static void retire_to(struct kwarp_sq *sq, u32 at)
{
	/* Pairs with sq_retired(): sq->done[] of these requests has been read. */
	smp_store_release(&sq->retired, at);
	kwarp_ring_release(&sq->ring, at);
}

/*
 * The program sees the completion at once, and may then post into the slot, so the slot is given
 * back first.
 */
static void add_cqe(struct kwarp_sq *sq, u32 at, const struct kwarp_sq_done *d)
{
	struct kwarp_cqe cqe = {
		.id = d->id,
		.qpn = sq->ibqp->qp_num,
		.byte_len = d->byte_len,
		.vendor_err = d->vendor_err,
		.status = d->status,
		.opcode = d->opcode,
	};

	retire_to(sq, at + 1);
	kwarp_cq_add(sq->cq, &cqe, sq->ibqp);
}

static bool has_cqe(const struct kwarp_sq_done *d)
{
	return d->signaled || d->status != KWARP_WC_SUCCESS;
}

/*
 * Return: index after the requests that can complete now, at most KWARP_IRQ_OFF_BATCH of those
 * before sq->sent; they complete in order, so the first that waits for its response is the end.
 * @cqes: result: one of them has a completion.
 */
static u32 retire_end(const struct kwarp_sq *sq, bool *cqes)
{
	const u32 end = sq->retired + min_t(u32, sq->sent - sq->retired, KWARP_IRQ_OFF_BATCH);
	u32 at;

	*cqes = false;
	for (at = sq->retired; at != end; at++) {
		const struct kwarp_sq_done *d = &sq->done[at & sq->ring.mask];

		if (d->awaits)
			break;
		*cqes |= has_cqe(d);
	}
	return at;
}

static u32 add_cqes(struct kwarp_sq *sq, u32 end)
{
	unsigned long cqflags = kwarp_cq_begin(sq->cq);
	u32 at;

	for (at = sq->retired; at != end; at++) {
		const struct kwarp_sq_done *d = &sq->done[at & sq->ring.mask];

		if (has_cqe(d))
			add_cqe(sq, at, d);
	}
	return kwarp_cq_end(sq->cq, cqflags);
}

/*
 * The CQ is not touched if none of the requests has a completion: other queue pairs may be using
 * it. Return: true: more may complete now.
 */
static bool retire_some(struct kwarp_sq *sq, u32 *todo)
{
	const u32 from = sq->retired;
	bool cqes;
	u32 end;

	lockdep_assert_held(&sq->lock);
	end = retire_end(sq, &cqes);
	*todo = cqes ? add_cqes(sq, end) : 0;
	retire_to(sq, end);
	return end - from == KWARP_IRQ_OFF_BATCH;
}

/* Return: true: more may complete now. */
static bool retire_unlock(struct kwarp_sq *sq)
	__releases(&sq->lock)
{
	u32 rounds = RETIRE_ROUNDS, todo;
	bool more;

	for (;;) {
		more = retire_some(sq, &todo);
		WRITE_ONCE(sq->behind, more);
		spin_unlock_bh(&sq->lock);
		kwarp_cq_notify(sq->cq, todo);
		if (!more || !--rounds)
			return more;
		spin_lock_bh(&sq->lock);
	}
}

/*
 * To be called when TCP has taken all octets of the requests before @end, and those of them that
 * send nothing have been carried out. Context: any but hard interrupt. Return: true: the caller has
 * to see that kwarp_sq_retire() is called.
 */
bool kwarp_sq_sent(struct kwarp_sq *sq, u32 end)
{
	spin_lock_bh(&sq->lock);
	if ((s32)(end - sq->sent) <= 0) {
		spin_unlock_bh(&sq->lock);
		return false;
	}
	sq->sent = end;
	return retire_unlock(sq);
}

/* To be called when the response to the request at @index is complete. As kwarp_sq_sent(). */
bool kwarp_sq_answered(struct kwarp_sq *sq, u32 index)
{
	spin_lock_bh(&sq->lock);
	sq->done[index & sq->ring.mask].awaits = false;
	return retire_unlock(sq);
}

/* Complete what an earlier call has left. As kwarp_sq_sent(). */
bool kwarp_sq_retire(struct kwarp_sq *sq)
{
	spin_lock_bh(&sq->lock);
	return retire_unlock(sq);
}

/*
 * This function only stores the status. The completion is added later, at the latest by the flush
 * that follows every error. Context: any but hard interrupt.
 */
void kwarp_sq_failed(struct kwarp_sq *sq, u32 index, enum kwarp_wc_status status,
		     u32 vendor_err)
{
	KWARP_DOOR(kwarp_sq_failed, sq, index, status, vendor_err);
	struct kwarp_sq_done *d = &sq->done[index & sq->ring.mask];

	spin_lock_bh(&sq->lock);
	d->status = status;
	d->vendor_err = vendor_err;
	spin_unlock_bh(&sq->lock);
}

static void flush_taken(struct kwarp_sq *sq, u32 vendor_err, u32 *budget)
{
	u32 at = sq->retired;

	for (; at != sq->next && *budget; at++, --*budget) {
		struct kwarp_sq_done *d = &sq->done[at & sq->ring.mask];
		bool sent = (s32)(sq->sent - at) > 0;

		if (d->status == KWARP_WC_SUCCESS && (!sent || d->awaits)) {
			d->status = KWARP_WC_FLUSH_ERR;
			d->vendor_err = vendor_err;
		}
		if (has_cqe(d))
			add_cqe(sq, at, d);
	}
	retire_to(sq, at);
}

/* @d: result: its completion, with a flush error */
static void refuse_next(struct kwarp_sq *sq, struct kwarp_sq_done *d, u32 vendor_err)
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

static void flush_posted(struct kwarp_sq *sq, u32 vendor_err, u32 *budget)
{
	struct kwarp_sq_done d;
	u32 n;

	/* Corrupt index: it is unknown which entries are posted, so flush none. */
	if (!sends_pending(sq, &n))
		n = 0;
	for (; n && *budget; n--, --*budget) {
		refuse_next(sq, &d, vendor_err);
		add_cqe(sq, sq->next - 1, &d);
	}
	sq->sent = sq->next;
	retire_to(sq, sq->next);
}

/* Return: true: there may be more. */
static bool flush_some(struct kwarp_sq *sq, u32 vendor_err)
{
	u32 budget = KWARP_IRQ_OFF_BATCH, todo;
	unsigned long cqflags;

	spin_lock_bh(&sq->lock);
	cqflags = kwarp_cq_begin(sq->cq);
	flush_taken(sq, vendor_err, &budget);
	if (budget)
		flush_posted(sq, vendor_err, &budget);
	todo = kwarp_cq_end(sq->cq, cqflags);
	spin_unlock_bh(&sq->lock);
	kwarp_cq_notify(sq->cq, todo);
	return !budget || kwarp_sq_has_unmoved(sq);
}

/*
 * Requests that TCP has taken complete with success, except Reads and atomic operations without a
 * response; a failed request keeps its status; all others get a flush error (5040-5.4-10,
 * 5041-6.2.2-5). The function may be called again, for requests that were posted later. Context:
 * process; the transmit runner.
 */
void kwarp_sq_flush(struct kwarp_sq *sq, u32 vendor_err)
{
	/*
	 * Limit the number of iterations to what full rings need: a program that keeps posting must
	 * not keep this loop running.
	 */
	u32 rounds = 1 + 2 * kwarp_ring_size(&sq->ring) / KWARP_IRQ_OFF_BATCH;

	if (sq->foreign)
		rounds += kwarp_foreign_rounds(sq->foreign, &sq->ring);
	while (flush_some(sq, vendor_err) && --rounds)
		cond_resched();
}

/*
 * See 5041-6.2.1-3. The stream still exists, and earlier Reads and atomic operations complete
 * first, when they are answered. The function does nothing as long as TCP has not accepted every
 * request that kwarp_sq_take() has taken. Context: transmit runner. Return: true: there are more
 * requests that can be flushed now.
 */
bool kwarp_sq_flush_late(struct kwarp_sq *sq, u32 vendor_err)
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
	return retire_unlock(sq) || more;
}

/* No other context takes or posts requests during the call. */
void kwarp_sq_reset(struct kwarp_sq *sq)
{
	KWARP_DOOR(kwarp_sq_reset, sq);
	sq->next = 0;
	sq->sent = 0;
	sq->retired = 0;
	sq->behind = false;
	sq->posted = 0;
	sq->ring.hdr->prod = 0;
	if (sq->foreign)
		sq->foreign->ops->forget(sq->foreign);
	kwarp_ring_release(&sq->ring, 0);
	kwarp_ring_set_flags(&sq->ring, KWARP_RING_NEED_KICK);
}
