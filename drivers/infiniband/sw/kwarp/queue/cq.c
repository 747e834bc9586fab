// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: entries are added in batches. A program sees an entry as soon as its phase is
 * stored (rdma/kwarp-abi.h), a kernel consumer when the batch ends. A consumer that has armed the
 * queue (asked for an event) is notified once, at the end of the next batch that has an entry of
 * the kind that the consumer asked for.
 */
#include "cq.h"

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>

#include "../door.h"
#include "../fault.h"
#include "../limits.h"
#include "../trace.h"
#include "../wq.h"
#include "wqe.h"

/* Context: any. Return: the interrupt flags for kwarp_cq_end(). */
unsigned long kwarp_cq_begin(struct kwarp_cq *cq)
	__acquires(&cq->lock)
{
	unsigned long irqflags;

	spin_lock_irqsave(&cq->lock, irqflags);
	return irqflags;
}

static void write_entry(const struct kwarp_ring *ring, u32 index, const struct kwarp_cqe *cqe,
			u64 timestamp)
{
	struct kwarp_cqe *slot = kwarp_ring_slot(ring, index);
	u16 flags = cqe->flags & ~(KWARP_CQE_EVEN | KWARP_CQE_ODD);

	memcpy(slot, cqe, offsetof(struct kwarp_cqe, flags));
	slot->timestamp = timestamp;
	flags |= index & kwarp_ring_size(ring) ? KWARP_CQE_ODD : KWARP_CQE_EVEN;
	/* Pairs with the program's acquire load of the flags, after which it reads the entry. */
	smp_store_release(&slot->flags, flags);
}

/*
 * Look at the consumer's index, which is in a cache line that each poll writes, only if the queue
 * seems to be full without it.
 */
static bool cq_full(struct kwarp_cq *cq)
{
	if (cq->prod - cq->cons <= cq->ring.mask)
		return false;
	/*
	 * User space writes cons: a wrong value can only make this queue lose entries. The acquire
	 * pairs with the consumer's release of cons after it has read the slots.
	 */
	cq->cons = smp_load_acquire(&cq->ring.hdr->cons);
	return cq->prod - cq->cons > cq->ring.mask;
}

/* 0: the program wants none */
static u64 cq_time(const struct kwarp_cq *cq)
{
	switch (cq->stamp) {
	case KWARP_CQ_STAMP_RAW:
		return ktime_get_raw_ns() + cq->stamp_offset;
	case KWARP_CQ_STAMP_REAL:
		return ktime_get_real_ns();
	default:
		return 0;
	}
}

/* Return: false: the ring is full of entries not polled yet. */
static bool cq_put(struct kwarp_cq *cq, const struct kwarp_cqe *cqe)
{
	if (cq->foreign)
		return cq->foreign->ops->push(cq->foreign, cq->prod, cqe);
	if (cq_full(cq))
		return false;
	write_entry(&cq->ring, cq->prod, cqe, cq_time(cq));
	return true;
}

/*
 * If the ring is full the entry is lost, which is fatal for the QPs on this queue and for no other
 * (5040-8.1.1-11), unless the program has created the queue with IGNORE_OVERRUN.
 */
void kwarp_cq_add(struct kwarp_cq *cq, const struct kwarp_cqe *cqe, struct ib_qp *qp)
{
	lockdep_assert_held(&cq->lock);
	trace_kwarp_complete(cq->ibcq.device, cqe);
	if (!cq_put(cq, cqe)) {
		WRITE_ONCE(cq->overflow, !cq->ignore_overrun);
		return;
	}
	if (cq->qp)
		cq->qp[cq->prod & cq->ring.mask] = qp;
	if (cqe->status != KWARP_WC_SUCCESS || cqe->flags & KWARP_CQE_SOLICITED)
		cq->solicited = true;
	cq->prod++;
	cq->added = true;
}

static bool cq_armed(struct kwarp_cq *cq)
{
	u32 *arm = cq->foreign ? cq->foreign->arm : &cq->ring.hdr->arm;
	u32 want = READ_ONCE(*arm);

	if (!(want & KWARP_CQ_ARM_NEXT) &&
	    !(want & KWARP_CQ_ARM_SOLICITED && cq->solicited))
		return false;
	return xchg(arm, 0);
}

/* Return: what kwarp_cq_notify() has to do, 0 for nothing. */
u32 kwarp_cq_end(struct kwarp_cq *cq, unsigned long irqflags)
	__releases(&cq->lock)
{
	u32 todo = 0;

	if (cq->added) {
		WRITE_ONCE(cq->ring.hdr->prod, cq->prod);
		/*
		 * Pairs with the consumer's barrier between arming and polling again: either
		 * cq_armed() sees the arming, or the consumer sees the entries.
		 */
		smp_mb();
		if (cq_armed(cq))
			todo |= KWARP_CQ_RAISE;
		cq->solicited = false;
		cq->added = false;
	}
	if (READ_ONCE(cq->overflow) && !cq->reported) {
		cq->reported = true;
		kwarp_ring_set_flags(&cq->ring, KWARP_RING_ERROR);
		todo |= KWARP_CQ_LOST;
	}
	spin_unlock_irqrestore(&cq->lock, irqflags);
	return todo;
}

static void raise_late(struct work_struct *work)
{
	kwarp_cq_notify(container_of(to_delayed_work(work), struct kwarp_cq, late), KWARP_CQ_LATE);
}

/* Faults about an event: it comes twice, or later.  Return: not now. */
static noinline __cold bool is_late(struct kwarp_cq *cq)
{
	u32 ms = kwarp_fault(KWARP_FAULT_EVENT_LATE, cq->ibcq.device, 0, cq->creator);

	if (ms)
		queue_delayed_work(kwarp_wq, &cq->late, msecs_to_jiffies(ms));
	else if (kwarp_fault(KWARP_FAULT_EVENT_TWICE, cq->ibcq.device, 0, cq->creator))
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	return ms;
}

static noinline __cold void report_lost(struct kwarp_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

static void call_consumer(struct kwarp_cq *cq, u32 todo)
{
	if (unlikely(todo & KWARP_CQ_LOST))
		report_lost(cq);
	if (!(todo & (KWARP_CQ_RAISE | KWARP_CQ_LATE)) || !cq->ibcq.comp_handler)
		return;
	if (kwarp_faults_on() && todo == KWARP_CQ_RAISE && is_late(cq))
		return;
	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

static void cq_tell(struct tasklet_struct *tell)
{
	struct kwarp_cq *cq = container_of(tell, struct kwarp_cq, tell);

	call_consumer(cq, atomic_xchg(&cq->later, 0));
	WRITE_ONCE(cq->tell_runs, cq->tell_runs + 1);
	/* Pairs with the barrier in wait_var_event(): the waiter sees the value, or is woken. */
	smp_mb();
	wake_up_var(&cq->tell_runs);
}

/*
 * A tasklet calls the handlers of a kernel consumer. The handlers may take a lock that the consumer
 * holds, with bottom halves off, while it calls a verb; a tasklet does not run before bottom halves
 * are on again. A tasklet also does not run on two CPUs at once
 * (Documentation/infiniband/core_locking.rst). A workqueue that runs in softirq (WQ_BH) is no
 * alternative: the oldest supported kernel does not have it. Context: any but hard interrupt, no
 * lock of kwarp's held.
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

void kwarp_cq_init(struct kwarp_cq *cq)
{
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize);
	tasklet_setup(&cq->tell, cq_tell);
	INIT_DELAYED_WORK(&cq->late, raise_late);
}

/*
 * @runs: value of cq->tell_runs, the number of finished runs of the tasklet, at an earlier time.
 * Return: true: if a run was scheduled at that time, it has begun or finished since then.
 */
static bool has_run_since(struct kwarp_cq *cq, u32 runs)
{
	/*
	 * Two more finished runs are needed: the first of them may have begun before @runs was
	 * read, and then only the second is the run that was scheduled.
	 */
	return !test_bit(TASKLET_STATE_SCHED, &cq->tell.state) ||
	       READ_ONCE(cq->tell_runs) - runs >= 2;
}

/*
 * New events may come all the time, so this function does not insist that no run of the tasklet is
 * scheduled any more: two finished runs are enough.
 */
static void settle_tell(struct kwarp_cq *cq)
{
	u32 runs = READ_ONCE(cq->tell_runs);

	wait_var_event(&cq->tell_runs, has_run_since(cq, runs));
	tasklet_unlock_wait(&cq->tell);
}

/* Context: process, no lock held that a consumer's handler takes. */
void kwarp_cq_settle(struct kwarp_cq *cq)
{
	KWARP_DOOR(kwarp_cq_settle, cq);

	might_sleep();
	if (!cq->qp)
		return;
	settle_tell(cq);
	/*
	 * An event that a fault has delayed comes now: the consumer does not expect one after its
	 * queue pairs are gone, and ib_free_cq() has cancelled its work before it calls the driver.
	 */
	flush_delayed_work(&cq->late);
	settle_tell(cq);
}

/* The program itself counts its polls, in the ring's header. Context: any. */
u32 kwarp_cq_polls(const struct kwarp_cq *cq)
{
	u32 polls;

	/* A resize replaces the ring, and frees the old one after a grace period. */
	rcu_read_lock();
	polls = READ_ONCE(READ_ONCE(cq->ring.hdr)->polls);
	rcu_read_unlock();
	return polls;
}

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
	[KWARP_WC_RETRY_EXC_ERR]	= IB_WC_RETRY_EXC_ERR,
};

static enum ib_wc_opcode wc_opcode(u8 opcode)
{
	switch (opcode) {
	case KWARP_WC_RECV:
	case KWARP_WC_RECV_INV:
	case KWARP_WC_RECV_SEND_IMM:
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
	wc->qp = qp;
	if (cqe->status != KWARP_WC_SUCCESS) {
		wc->vendor_err = cqe->vendor_err;
	} else if (cqe->opcode == KWARP_WC_RECV_INV) {
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->inv_stag;
	} else if (cqe->opcode == KWARP_WC_RECV_IMM || cqe->opcode == KWARP_WC_RECV_SEND_IMM) {
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

static bool entries_fit(const struct kwarp_cq *cq, const struct kwarp_ring *ring)
{
	return cq->prod - first_entry(cq) <= ring->mask + 1;
}

/* The copies get the phase that is right for the size of @ring. */
static void copy_entries(struct kwarp_cq *cq, struct kwarp_ring *ring, u32 from, u32 to,
			 bool may_sleep)
{
	struct kwarp_cqe cqe;

	for (; from != to; from++) {
		/* An entry that is polled meanwhile may be overwritten; nobody reads its copy. */
		data_race(cqe = *(struct kwarp_cqe *)kwarp_ring_slot(&cq->ring, from));
		write_entry(ring, from, &cqe, cqe.timestamp);
		if (may_sleep && !(from % KWARP_IRQ_OFF_BATCH))
			cond_resched();
	}
}

/* Use @ring, which has all entries, from now on, and return the old ring in @ring. */
static void use_ring(struct kwarp_cq *cq, struct kwarp_ring *ring)
{
	struct kwarp_ring old = cq->ring;

	lockdep_assert_held(&cq->lock);
	kwarp_ring_set_flags(&old, READ_ONCE(old.hdr->flags) | KWARP_RING_MOVED);
	/*
	 * Pairs with the provider's barrier between its stores to cons or arm and its look at the
	 * flag: either the values are read here, or the provider stores them in the new ring, too.
	 */
	smp_mb();
	cq->cons = first_entry(cq);
	ring->hdr->prod = cq->prod;
	ring->hdr->cons = cq->cons;
	ring->hdr->arm = READ_ONCE(old.hdr->arm);
	ring->hdr->polls = READ_ONCE(old.hdr->polls);
	ring->hdr->flags = cq->reported ? KWARP_RING_ERROR : 0;
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
 *
 * The process may poll and arm during the call, and indices stay the same. Most entries are copied
 * without the lock: no slot is written again until the process advances cons. At most
 * KWARP_IRQ_OFF_BATCH entries are copied under the lock, with interrupts off.
 *
 * Context: process; cq->resize held.
 * Return: 0; -EINVAL: the entries do not fit, and the queue keeps its ring.
 */
int kwarp_cq_replace(struct kwarp_cq *cq, struct kwarp_ring *ring)
{
	u32 done, end;
	bool fits;

	lockdep_assert_held(&cq->resize);
	spin_lock_irq(&cq->lock);
	done = first_entry(cq);
	/*
	 * Entries that are added while others are copied are copied, too.  This ends, because
	 * adding an entry takes longer than copying one.
	 */
	while ((fits = entries_fit(cq, ring)) && cq->prod - done > KWARP_IRQ_OFF_BATCH) {
		end = cq->prod;
		spin_unlock_irq(&cq->lock);
		copy_entries(cq, ring, done, end, true);
		done = end;
		spin_lock_irq(&cq->lock);
	}
	if (fits) {
		copy_entries(cq, ring, done, cq->prod, false);
		use_ring(cq, ring);
	}
	spin_unlock_irq(&cq->lock);
	return fits ? 0 : -EINVAL;
}

/*
 * The lock is dropped after every KWARP_IRQ_OFF_BATCH entries, to enable interrupts. Entries that
 * are polled or added while the lock is free do not matter: new entries belong to other queue
 * pairs. Context: process.
 */
void kwarp_cq_forget_qp(struct kwarp_cq *cq, struct ib_qp *qp)
{
	KWARP_DOOR(kwarp_cq_forget_qp, cq, qp);
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
