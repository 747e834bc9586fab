// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: entries are added in batches and published once per batch, when the producer
 * index is stored in the ring's header. A consumer that has armed the queue (asked for an event) is
 * notified once, after the next batch that has an entry of the kind that the consumer asked for.
 *
 * kwarp_cq_begin() .. kwarp_cq_end() is one batch under the queue's lock. The consumer is called
 * (kwarp_cq_notify()) after all locks have been dropped. cons is the consumer's index, prod the
 * producer's.
 *
 * Numbers such as 5040-8.1.1-11 name requirements of RFCs, see Documentation/conformance.
 */
#include "cq.h"

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "../limits.h"
#include "../trace.h"
#include "siw_ring.h"
#include "wqe.h"

/* Begin a batch. Context: any. Return: the interrupt flags for kwarp_cq_end(). */
unsigned long kwarp_cq_begin(struct kwarp_cq *cq)
	__acquires(&cq->lock)
{
	unsigned long irqflags;

	spin_lock_irqsave(&cq->lock, irqflags);
	return irqflags;
}

/* Write an entry at cq->prod. Return: false: the ring is full of entries not polled yet. */
static bool cq_put(struct kwarp_cq *cq, const struct kwarp_cqe *cqe)
{
	if (cq->siw)
		return kwarp_siw_push(cq->siw, cq->prod, cqe);
	/*
	 * User space writes cons: a wrong value can only make this queue lose entries. The acquire
	 * pairs with the consumer's release of cons after it has read the slots.
	 */
	if (cq->prod - smp_load_acquire(&cq->ring.hdr->cons) > cq->ring.mask)
		return false;
	*(struct kwarp_cqe *)kwarp_ring_slot(&cq->ring, cq->prod) = *cqe;
	return true;
}

/**
 * kwarp_cq_add - append a completion
 * @cq: between kwarp_cq_begin() and kwarp_cq_end()
 * @cqe: entry
 * @qp: QP of the request that has completed; used only for kernel consumers
 *
 * If the ring is full the entry is lost, which is fatal for the QPs on this queue and for no other
 * (5040-8.1.1-11), unless the program has created the queue with IGNORE_OVERRUN.
 */
void kwarp_cq_add(struct kwarp_cq *cq, const struct kwarp_cqe *cqe, struct ib_qp *qp)
{
	lockdep_assert_held(&cq->lock);
	trace_kwarp_complete(cqe);
	if (!cq_put(cq, cqe)) {
		WRITE_ONCE(cq->overflow, !cq->ignore_overrun);
		return;
	}
	if (cq->qp)
		cq->qp[cq->prod & cq->ring.mask] = qp;
	if (cqe->status != KWARP_WC_SUCCESS || cqe->flags & KWARP_CQE_SOLICITED)
		cq->solicited = true;
	cq->prod++;
}

static bool cq_armed(struct kwarp_cq *cq)
{
	u32 *arm = cq->siw ? kwarp_siw_arm(cq->siw) : &cq->ring.hdr->arm;
	u32 want = READ_ONCE(*arm);

	if (!(want & KWARP_CQ_ARM_NEXT) &&
	    !(want & KWARP_CQ_ARM_SOLICITED && cq->solicited))
		return false;
	return xchg(arm, 0);
}

/**
 * kwarp_cq_end - publish a batch
 * @cq: queue, locked by kwarp_cq_begin()
 * @irqflags: what kwarp_cq_begin() returned
 *
 * Return: what kwarp_cq_notify() has to do, 0 for nothing.
 */
u32 kwarp_cq_end(struct kwarp_cq *cq, unsigned long irqflags)
	__releases(&cq->lock)
{
	bool published = cq->prod != cq->ring.hdr->prod;
	u32 todo = 0;

	/* Pairs with the consumer's acquire load of prod: the consumer then sees the entries. */
	smp_store_release(&cq->ring.hdr->prod, cq->prod);
	if (published) {
		/*
		 * Pairs with the consumer's barrier between arming and polling again: either
		 * cq_armed() sees the arming, or the consumer sees the entries.
		 */
		smp_mb();
		if (cq_armed(cq))
			todo |= KWARP_CQ_RAISE;
		cq->solicited = false;
	}
	if (READ_ONCE(cq->overflow) && !cq->reported) {
		cq->reported = true;
		kwarp_ring_set_flags(&cq->ring, KWARP_RING_ERROR);
		todo |= KWARP_CQ_LOST;
	}
	spin_unlock_irqrestore(&cq->lock, irqflags);
	return todo;
}

static void call_consumer(struct kwarp_cq *cq, u32 todo)
{
	if (todo & KWARP_CQ_LOST && cq->ibcq.event_handler) {
		struct ib_event event = {
			.device = cq->ibcq.device,
			.element.cq = &cq->ibcq,
			.event = IB_EVENT_CQ_ERR,
		};

		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	}
	if (todo & KWARP_CQ_RAISE && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

static void cq_tell(struct tasklet_struct *tell)
{
	struct kwarp_cq *cq = container_of(tell, struct kwarp_cq, tell);

	call_consumer(cq, atomic_xchg(&cq->later, 0));
	WRITE_ONCE(cq->told, cq->told + 1);
	/* Pairs with the barrier in wait_var_event(): the waiter sees the new told, or is woken. */
	smp_mb();
	wake_up_var(&cq->told);
}

/**
 * kwarp_cq_notify - call the consumer's handlers
 * @cq: queue
 * @todo: what kwarp_cq_end() returned
 *
 * A tasklet calls the handlers of a kernel consumer. The handlers may take a lock that the consumer
 * holds, with bottom halves off, while it calls a verb; a tasklet does not run before bottom halves
 * are on again. A tasklet also does not run on two CPUs at once
 * (Documentation/infiniband/core_locking.rst). A workqueue that runs in softirq (WQ_BH) is no
 * alternative: the oldest supported kernel does not have it.
 *
 * Context: any but hard interrupt, no lock of kwarp's held.
 */
void kwarp_cq_notify(struct kwarp_cq *cq, u32 todo)
{
	if (!todo)
		return;
	if (!cq->qp) {
		call_consumer(cq, todo);
		return;
	}
	atomic_or(todo, &cq->later);
	/*
	 * In a task, local_bh_enable() runs the scheduled tasklet at once. Without this pair of
	 * calls the tasklet would run later, in ksoftirqd.
	 */
	local_bh_disable();
	tasklet_schedule(&cq->tell);
	local_bh_enable();
}

/* Initialize the locks and the tasklet of a zeroed @cq. */
void kwarp_cq_init(struct kwarp_cq *cq)
{
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize);
	tasklet_setup(&cq->tell, cq_tell);
}

/*
 * @told: value of cq->told, the number of finished runs of the tasklet, at an earlier time. Return:
 * true: if a run was scheduled at that time, it has begun or finished since then.
 */
static bool is_told(struct kwarp_cq *cq, u32 told)
{
	/*
	 * Two more finished runs are needed: the first of them may have begun before @told was
	 * read, and then only the second is the run that was scheduled.
	 */
	return !test_bit(TASKLET_STATE_SCHED, &cq->tell.state) || READ_ONCE(cq->told) - told >= 2;
}

/**
 * kwarp_cq_settle - wait until the consumer's handlers have been called for all earlier events
 * @cq: queue
 *
 * New events may come all the time, so this function does not insist that no run of the tasklet is
 * scheduled any more: two finished runs are enough.
 *
 * Context: process, no lock held that a consumer's handler takes.
 */
void kwarp_cq_settle(struct kwarp_cq *cq)
{
	u32 told = READ_ONCE(cq->told);

	might_sleep();
	if (!cq->qp)
		return;
	wait_var_event(&cq->told, is_told(cq, told));
	tasklet_unlock_wait(&cq->tell);
}

/*
 * Return: how often the program has polled; the program itself counts its polls, in the ring's
 * header. Context: any.
 */
u32 kwarp_cq_polls(const struct kwarp_cq *cq)
{
	u32 polls;

	/* A resize replaces the ring, and frees the old one after a grace period. */
	rcu_read_lock();
	polls = READ_ONCE(READ_ONCE(cq->ring.hdr)->polls);
	rcu_read_unlock();
	return polls;
}

/* ------------------------------------------------------- kernel consumers */

static const enum ib_wc_status wc_status[KWARP_WC_MAX] = {
	[KWARP_WC_SUCCESS]		= IB_WC_SUCCESS,
	[KWARP_WC_LOC_LEN_ERR]		= IB_WC_LOC_LEN_ERR,
	[KWARP_WC_LOC_PROT_ERR]		= IB_WC_LOC_PROT_ERR,
	[KWARP_WC_LOC_QP_OP_ERR]	= IB_WC_LOC_QP_OP_ERR,
	[KWARP_WC_FLUSH_ERR]		= IB_WC_WR_FLUSH_ERR,
	[KWARP_WC_REM_INV_REQ_ERR]	= IB_WC_REM_INV_REQ_ERR,
	[KWARP_WC_REM_ACCESS_ERR]	= IB_WC_REM_ACCESS_ERR,
	[KWARP_WC_REM_OP_ERR]		= IB_WC_REM_OP_ERR,
	[KWARP_WC_MW_BIND_ERR]		= IB_WC_MW_BIND_ERR,
	[KWARP_WC_FATAL_ERR]		= IB_WC_FATAL_ERR,
	[KWARP_WC_GENERAL_ERR]		= IB_WC_GENERAL_ERR,
};

static enum ib_wc_opcode wc_opcode(u8 opcode)
{
	switch (opcode) {
	case KWARP_WC_RECV:
	case KWARP_WC_RECV_INV:
		return IB_WC_RECV;
	case KWARP_WC_RECV_IMM:
		return IB_WC_RECV_RDMA_WITH_IMM;
	default:
		return kwarp_wr_rule(opcode)->ib_wc;
	}
}

static void fill_wc(struct ib_wc *wc, const struct kwarp_cqe *cqe, struct ib_qp *qp)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->id;
	wc->status = cqe->status < KWARP_WC_MAX ? wc_status[cqe->status] :
						  IB_WC_GENERAL_ERR;
	wc->opcode = wc_opcode(cqe->opcode);
	wc->byte_len = cqe->byte_len;
	wc->vendor_err = cqe->vendor_err;
	wc->qp = qp;
	if (cqe->opcode == KWARP_WC_RECV_INV) {
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->inv_stag;
	} else if (cqe->opcode == KWARP_WC_RECV_IMM) {
		wc->wc_flags = IB_WC_WITH_IMM;
		wc->ex.imm_data = (__force __be32)cqe->imm;
	}
}

/* ib_device_ops.poll_cq; programs poll their ring without a call.  Context: any. */
int kwarp_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	struct kwarp_ring_hdr *hdr;
	unsigned long irqflags;
	int n = 0;
	u32 cons;

	if (!cq->qp)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, irqflags);
	hdr = cq->ring.hdr;
	for (cons = hdr->cons; n < num && cons != cq->prod; cons++) {
		struct ib_qp *qp = cq->qp[cons & cq->ring.mask];

		/*
		 * skip entries without QP: kwarp_cq_forget_qp() has removed the QP, which is being
		 * destroyed
		 */
		if (qp)
			fill_wc(&wc[n++], kwarp_ring_slot(&cq->ring, cons), qp);
	}
	hdr->cons = cons;
	spin_unlock_irqrestore(&cq->lock, irqflags);
	return n;
}

/* ib_device_ops.req_notify_cq; programs write to their ring's header.  Context: any. */
int kwarp_cq_arm(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	unsigned long irqflags;
	int missed = 0;

	if (!cq->qp)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, irqflags);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED)
		cq->ring.hdr->arm |= KWARP_CQ_ARM_SOLICITED;
	else
		cq->ring.hdr->arm |= KWARP_CQ_ARM_NEXT;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = READ_ONCE(cq->ring.hdr->cons) != cq->prod;
	spin_unlock_irqrestore(&cq->lock, irqflags);
	return missed;
}

/*
 * Index of the first entry that the program has not polled.  If the program has written an
 * impossible one: of no entry.
 */
static u32 first_entry(const struct kwarp_cq *cq)
{
	u32 cons = READ_ONCE(cq->ring.hdr->cons);

	lockdep_assert_held(&cq->lock);
	return cq->prod - cons > cq->ring.mask + 1 ? cq->prod : cons;
}

/* Do the entries that are not polled fit into @ring? */
static bool entries_fit(const struct kwarp_cq *cq, const struct kwarp_ring *ring)
{
	return cq->prod - first_entry(cq) <= ring->mask + 1;
}

/* Copy entries [@from, @to) to @ring. The entry with index @base gets index 0 there. */
static void copy_entries(struct kwarp_cq *cq, struct kwarp_ring *ring, u32 base, u32 from,
			 u32 to, bool may_sleep)
{
	for (; from != to; from++) {
		/* An entry that is polled meanwhile may be overwritten; nobody reads its copy. */
		data_race(*(struct kwarp_cqe *)kwarp_ring_slot(ring, from - base) =
			  *(struct kwarp_cqe *)kwarp_ring_slot(&cq->ring, from));
		if (may_sleep && !(from % KWARP_IRQ_OFF_BATCH))
			cond_resched();
	}
}

/* Use @ring, which has all entries, from now on, and return the old ring in @ring. */
static void use_ring(struct kwarp_cq *cq, struct kwarp_ring *ring, u32 base, bool polled)
{
	struct kwarp_ring old = cq->ring;

	lockdep_assert_held(&cq->lock);
	if (polled)
		kwarp_ring_set_flags(&old, READ_ONCE(old.hdr->flags) | KWARP_RING_MOVED);
	/*
	 * Pairs with the provider's barrier between its stores to cons or arm and its look at the
	 * flag: either the values are read here, or the provider stores them in the new ring, too.
	 */
	smp_mb();
	ring->hdr->prod = cq->prod - base;
	ring->hdr->cons = first_entry(cq) - base;
	ring->hdr->arm = READ_ONCE(old.hdr->arm);
	ring->hdr->polls = READ_ONCE(old.hdr->polls);
	ring->hdr->flags = cq->reported ? KWARP_RING_ERROR : 0;
	cq->prod -= base;
	cq->ring.entries = ring->entries;
	cq->ring.len = ring->len;
	cq->ring.mask = ring->mask;
	/* Pairs with kwarp_cq_polls(): a reader of the new pointer sees a complete header. */
	smp_store_release(&cq->ring.hdr, ring->hdr);
	*ring = old;
}

/**
 * kwarp_cq_replace - move unpolled entries into a new ring (resize)
 * @cq: queue of a user process
 * @ring: new ring; on success the old ring is returned here, and the caller frees it after a grace
 *	period, because kwarp_cq_polls() may still read its header
 * @polled: the process may poll and arm during the call, and indices stay the same; otherwise the
 *	first unpolled entry gets index 0
 *
 * Most entries are copied without the lock: no slot is written again until the process advances
 * cons.  At most KWARP_IRQ_OFF_BATCH entries are copied under the lock, with interrupts off.
 *
 * Context: process; cq->resize held.
 * Return: 0; -EINVAL: the entries do not fit, and the queue keeps its ring.
 */
int kwarp_cq_replace(struct kwarp_cq *cq, struct kwarp_ring *ring, bool polled)
{
	u32 base, done, end;
	bool fits;

	lockdep_assert_held(&cq->resize);
	spin_lock_irq(&cq->lock);
	done = first_entry(cq);
	base = polled ? 0 : done;
	/*
	 * Entries that are added while others are copied are copied, too.  This ends, because
	 * adding an entry takes longer than copying one.
	 */
	while ((fits = entries_fit(cq, ring)) && cq->prod - done > KWARP_IRQ_OFF_BATCH) {
		end = cq->prod;
		spin_unlock_irq(&cq->lock);
		copy_entries(cq, ring, base, done, end, true);
		done = end;
		spin_lock_irq(&cq->lock);
	}
	if (fits) {
		copy_entries(cq, ring, base, done, cq->prod, false);
		use_ring(cq, ring, base, polled);
	}
	spin_unlock_irq(&cq->lock);
	return fits ? 0 : -EINVAL;
}

/**
 * kwarp_cq_forget_qp - remove the entries of a queue pair that is being destroyed
 * @cq: queue; if it belongs to user space, nothing is done
 * @qp: queue pair, which adds no entries any more
 *
 * The lock is dropped after every KWARP_IRQ_OFF_BATCH entries, to enable interrupts. Entries that
 * are polled or added while the lock is free do not matter: new entries belong to other queue
 * pairs.
 *
 * Context: process.
 */
void kwarp_cq_forget_qp(struct kwarp_cq *cq, struct ib_qp *qp)
{
	u32 at, end, n;

	if (!cq->qp)
		return;
	spin_lock_irq(&cq->lock);
	at = cq->ring.hdr->cons;
	end = cq->prod;
	for (n = 0; at != end; at++) {
		if (cq->qp[at & cq->ring.mask] == qp)
			cq->qp[at & cq->ring.mask] = NULL;
		if (++n % KWARP_IRQ_OFF_BATCH)
			continue;
		spin_unlock_irq(&cq->lock);
		cond_resched();
		spin_lock_irq(&cq->lock);
	}
	spin_unlock_irq(&cq->lock);
}
