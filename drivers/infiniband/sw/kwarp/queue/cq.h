/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion queues, and the state of coalescing (engine/tx/coalesce.h): while send queues are
 * held, a program posts requests into the ring without ringing the doorbell for each. The hold is
 * of all send queues whose requests complete in one CQ. A timer of the CQ looks at these queues
 * (one visit to all of them is a look). A waiting request has been posted without a doorbell; a
 * forgotten request waited at the previous look, too, and the program has not polled or rung since
 * then.
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
 * struct kwarp_coalesce_facts - what one look of the timer has found in all held send queues
 * @forgotten: a request waits that waited at the previous look, too, and the program has not
 *	polled, or rung a doorbell, since then
 * @waiting: a request waits
 * @active: the program has polled, or rung a doorbell, since the previous look
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
 * @streams: streams whose send queues are held; those that the current look has visited already are
 *	at the end of the list
 * @turn: number of the current look
 * @facts: what the current look has found so far
 * @timer: its function makes the looks
 * @least: time until the next look after a look that found a forgotten request, nanoseconds
 * @ns: time until the next look, nanoseconds
 * @rings: counts up when a thread enters or leaves a doorbell
 * @inside: threads that are in a doorbell now
 * @runs: @timer is armed, or its function is running
 * @ends: the hold is ending, but some streams are still in @streams
 * @active: the program has polled or rung a doorbell since @missed was last counted up
 * @missed: number of looks that found a forgotten request, less one for each KWARP_COALESCE_FORGIVE
 *	of @good
 * @idle: looks since @missed was last counted up that found a forgotten request while the program
 *	was not @active; they do not count as @missed yet
 * @good: number of doorbells that programs have rung for waiting requests
 * @quiet: number of looks in a row that found no waiting request and no poll
 * @obey: number of doorbells that will be served at once, before queues are held again
 */
struct kwarp_cq_coalesce {
	spinlock_t lock;		/* all of this */
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
 * @map: mmap entry of @ring, or of @siw, if it is shared with user space
 * @home: processor that the consumer has chosen for work outside its own calls; negative: none;
 *	immutable
 * @prod: index of the next entry to write; copied to the ring's header after each batch
 * @qp: kernel consumers only: the QP of each slot
 * @solicited: entries added since the last publication include a solicited or
 *	failed one; under @lock
 * @overflow: an entry was lost, so every QP on this CQ fails; without @lock with READ_ONCE()
 * @reported: KWARP_CQ_LOST has been returned for @overflow
 * @later: kernel consumers only: KWARP_CQ_* that @tell has to report; changes in any context
 * @tell: kernel consumers only: tasklet that calls the handlers
 * @told: number of finished runs of @tell; written by @tell, READ_ONCE elsewhere
 * @coalesce: held send queues whose requests complete here; has a lock of its own
 */
struct kwarp_cq {
	struct ib_cq ibcq;
	struct mutex resize;		/* resizing as a whole */
	spinlock_t lock;		/* ring, prod, qp, solicited, overflow, reported */
	struct kwarp_ring ring;
	struct kwarp_siw_cq *siw;
	struct rdma_user_mmap_entry *map;
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
 * Flags: what kwarp_cq_notify() has to do. That function is called after the caller has dropped its
 * locks.
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
int kwarp_cq_replace(struct kwarp_cq *cq, struct kwarp_ring *ring);
void kwarp_cq_forget_qp(struct kwarp_cq *cq, struct ib_qp *qp);

#endif /* KWARP_QUEUE_CQ_H */
