/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion queues, and the state of coalescing (engine/tx/coalesce.h).
 *
 * Held: the program posts to the send queue without ringing its doorbell (the system call that
 * makes the driver send); a timer of the CQ, or a later doorbell, sends. Hold: the time during
 * which the send queues whose requests complete in one CQ are held. Look: that timer examines one
 * held queue. Round: one look at each held queue. A waiting request has been posted without a
 * doorbell, and not sent. A queue has a forgotten request if a request was waiting at its previous
 * look, too, and the program has neither polled nor rung a doorbell since then.
 */
#ifndef KWARP_QUEUE_CQ_H
#define KWARP_QUEUE_CQ_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ring.h"

struct rdma_user_mmap_entry;

/**
 * struct kwarp_coalesce_facts - what one round of the timer has found in all held send queues
 * @forgotten: a queue has a forgotten request (defined in the head of this file)
 * @waiting: a queue has a waiting request
 * @active: the program has polled or rung a doorbell since the previous look
 */
struct kwarp_coalesce_facts {
	bool forgotten;
	bool waiting;
	bool active;
};

/**
 * struct kwarp_cq_coalesce - the held send queues whose requests complete in one CQ
 * @lock: protects all that follows, and those fields of the streams in @streams that belong to the
 *	hold; any context but hard interrupt, bottom halves off; no other lock of kwarp is taken
 *	under it
 * @streams: streams whose send queues are held; those that the timer has looked at in this round
 *	are at the end of the list
 * @turn: number of the current round
 * @facts: what the current round has found so far
 * @timer: its function makes the rounds, each in one or several calls
 * @least: time until the next round after a round that found a forgotten request, nanoseconds
 * @ns: time until the next round, nanoseconds
 * @rings: counts up when a thread enters or leaves the system call of a doorbell
 * @inside: number of threads that are in the system call of a doorbell now
 * @runs: @timer is armed, or its function is running
 * @ends: the hold ends: the timer removes all streams from @streams, and no stream may be added
 * @active: the program has polled or rung a doorbell since @missed was last counted up, or since
 *	the hold began
 * @missed: number of rounds that found a forgotten request and count (see @idle), less one for
 *	every KWARP_COALESCE_FORGIVE doorbells in @good; at KWARP_COALESCE_MISSES the hold ends
 * @idle: number of rounds, since @missed was last counted up, that found a forgotten request while
 *	the program was not @active; only every KWARP_COALESCE_IDLE-th of these rounds counts in
 *	@missed
 * @good: number of doorbells that programs have rung for waiting requests of held queues
 * @quiet: number of rounds in a row that found no waiting request, no poll and no doorbell
 * @obey: after a hold that ended because of @missed: number of doorbells that are still to send at
 *	once and to begin no hold
 */
struct kwarp_cq_coalesce {
	spinlock_t lock;		/* all fields below */
	struct list_head streams;
	u32 turn;
	struct kwarp_coalesce_facts facts;
	struct hrtimer timer;
	u64 least;
	u64 ns;
	u32 rings;
	u32 inside;
	bool runs;
	bool ends;
	bool active;
	u32 missed;
	u32 idle;
	u32 good;
	u32 quiet;
	u32 obey;
};

/**
 * struct kwarp_cq - one completion queue
 * @ibcq: RDMA core's object; must be the first field
 * @resize: serialises resizing; process context, taken before @lock
 * @lock: protects @ring, @prod, @qp; any context; no other lock of kwarp is taken under it
 * @ring: entries are struct kwarp_cqe; replaced by resize under @lock
 * @siw: completion ring of a program that uses siw's uABI; then @ring is not shared, and only its
 *	header is used; NULL: none; immutable
 * @map: mmap entry of @ring, or of @siw; NULL: the ring is not shared with user space
 * @charge: what the user pays for this object, without rings
 * @ignore_overrun: the program has promised to poll in time: a lost entry is no error; immutable
 * @home: processor, chosen by the consumer with a completion vector, that runs the transmit work
 *	items of the QPs whose send queue completes here; negative: none; immutable
 * @prod: index of the next entry to write; copied to the ring's header after each batch
 *	(entries that are added between kwarp_cq_begin() and kwarp_cq_end())
 * @qp: kernel consumers only: the QP of each slot
 * @solicited: entries added since the last publication include a solicited or
 *	failed one; under @lock
 * @overflow: an entry was lost, so every QP on this CQ fails; contexts without @lock read it with
 *	READ_ONCE()
 * @reported: kwarp_cq_end() has returned KWARP_CQ_LOST for @overflow, and does so only once
 * @later: kernel consumers only: KWARP_CQ_* that the next run of @tell reports; changes in any
 *	context
 * @tell: kernel consumers only: tasklet that calls the handlers
 * @told: number of finished runs of @tell; written by @tell, READ_ONCE elsewhere
 * @coalesce: held send queues whose requests complete here; has a lock of its own
 */
struct kwarp_cq {
	struct ib_cq ibcq;
	struct mutex resize;		/* one resize at a time */
	spinlock_t lock;		/* ring, prod, qp, solicited, overflow, reported */
	struct kwarp_ring ring;
	struct kwarp_siw_cq *siw;
	struct rdma_user_mmap_entry *map;
	struct kwarp_charge charge;
	bool ignore_overrun;
	int home;
	u32 prod;
	struct ib_qp **qp;
	bool solicited;
	bool overflow;
	bool reported;

	atomic_t later;
	struct tasklet_struct tell;
	u32 told;

	struct kwarp_cq_coalesce coalesce;
};

static inline struct kwarp_cq *to_kcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct kwarp_cq, ibcq);
}

/*
 * Flags in the result of kwarp_cq_end(): what kwarp_cq_notify() has to do after the caller has
 * dropped all locks.
 */
#define KWARP_CQ_RAISE		1	/* call the completion handler */
#define KWARP_CQ_LOST		2	/* an entry was lost for the first time: report it */

void kwarp_cq_init(struct kwarp_cq *cq);
void kwarp_cq_settle(struct kwarp_cq *cq);
unsigned long kwarp_cq_begin(struct kwarp_cq *cq);
void kwarp_cq_add(struct kwarp_cq *cq, const struct kwarp_cqe *cqe, struct ib_qp *qp);
u32 kwarp_cq_end(struct kwarp_cq *cq, unsigned long irqflags);
void kwarp_cq_notify(struct kwarp_cq *cq, u32 todo);
u32 kwarp_cq_polls(const struct kwarp_cq *cq);

int kwarp_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int kwarp_cq_arm(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
int kwarp_cq_replace(struct kwarp_cq *cq, struct kwarp_ring *ring, bool polled);
void kwarp_cq_forget_qp(struct kwarp_cq *cq, struct ib_qp *qp);

#endif /* KWARP_QUEUE_CQ_H */
