/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues, and the state of coalescing (engine/tx/coalesce.h). */
#ifndef KWARP_QUEUE_CQ_H
#define KWARP_QUEUE_CQ_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../counts.h"
#include "foreign.h"
#include "ring.h"

struct rdma_user_mmap_entry;

/*
 * struct kwarp_cq_coalesce - the held send queues whose requests complete in one CQ
 * @user: timers of the user whose program has the CQ; NULL: a kernel consumer has it; immutable
 * @lock: protects all that follows, and those fields of the streams in @streams that belong to the
 *	hold; any context but hard interrupt, bottom halves off; no other lock of kwarp is taken
 *	under it
 * @streams: streams whose send queues are held; those that the timer has looked at last are at the
 *	end of the list
 * @sends: number of streams for which the last look has sent
 * @sending: nanoseconds that these sends took
 * @ns: time between two looks, nanoseconds
 * @runs: @timer is armed, or its function is running
 * @sent: number of requests that were sent since the last one that was forgotten, that is, posted
 *	without a doorbell, and without a poll after it
 * @obey: number of them that are sent at once before streams are held
 * @obey_next: value for @obey after the next forgotten request
 * @inside: number of doorbells that programs are inside of; needs no lock
 * @poster: ID of the thread that rang last, a hint; READ_ONCE, no lock
 */
struct kwarp_cq_coalesce {
	struct kwarp_timers *user;
	spinlock_t lock;		/* all fields below */
	struct list_head streams;
	u32 held;
	u32 sends;
	u64 sending;
	struct hrtimer timer;
	u64 ns;
	bool runs;
	u32 sent;
	u32 obey;
	u32 obey_next;
	bool was_inside;
	atomic_t inside;
	pid_t poster;
};

/*
 * struct kwarp_cq - one completion queue
 * @ibcq: RDMA core's object; must be the first field
 * @resize: serialises resizing; process context, taken before @lock
 * @lock: protects @ring, @prod, @cons, @qp; any context; no other lock of kwarp is taken under it
 * @ring: entries are struct kwarp_cqe; replaced by resize under @lock
 * @foreign: ring to which completions are written; then @ring is not shared, and only its header
 *	is used; NULL: none; immutable
 * @map: mmap entry of @ring, or of @foreign; NULL: the ring is not shared with user space
 * @charge: what the user pays for this object, without rings
 * @ignore_overrun: the program has promised to poll in time: a lost entry is no error; immutable
 * @home: processor, chosen by the consumer with a completion vector, that runs the transmit work
 *	items of the QPs whose send queue completes here; negative: none; immutable
 * @stamp: KWARP_CQ_STAMP_*: the clock of the timestamps; 0: none are taken; immutable
 * @stamp_offset: nanoseconds that the creator's time namespace adds to CLOCK_MONOTONIC_RAW;
 *	immutable
 * @prod: index of the next entry to write; copied to the ring's header after each batch
 * @cons: the consumer's index when it was last read from the ring's header: the queue is at most as
 *	full as it says
 * @qp: kernel consumers only: the QP of each slot
 * @added: entries have been added since kwarp_cq_end(); under @lock
 * @solicited: entries added since kwarp_cq_end() include a solicited or
 *	failed one; under @lock
 * @overflow: an entry was lost, so every QP on this CQ fails; contexts without @lock read it with
 *	READ_ONCE()
 * @reported: kwarp_cq_end() has returned KWARP_CQ_LOST for @overflow, and does so only once
 * @creator: process that has the queue, a reference; NULL: a kernel consumer; immutable
 * @late: raises an event that a fault has delayed
 * @later: kernel consumers only: KWARP_CQ_* that the next run of @tell reports; changes in any
 *	context
 * @tell: kernel consumers only: tasklet that calls the handlers
 * @tell_runs: number of finished runs of @tell; written by @tell, READ_ONCE elsewhere
 */
struct kwarp_cq {
	struct ib_cq ibcq;
	struct mutex resize;		/* one resize at a time */
	spinlock_t lock;		/* ring, prod, cons, qp and the flags below */
	struct kwarp_ring ring;
	struct kwarp_foreign_ring *foreign;
	struct rdma_user_mmap_entry *map;
	struct kwarp_charge charge;
	bool ignore_overrun;
	int home;
	u32 stamp;
	s64 stamp_offset;
	u32 prod;
	u32 cons;
	struct ib_qp **qp;
	bool added;
	bool solicited;
	bool overflow;
	bool reported;

	struct pid *creator;
	struct delayed_work late;

	atomic_t later;
	struct tasklet_struct tell;
	u32 tell_runs;

	struct kwarp_cq_coalesce coalesce;
};

static inline struct kwarp_cq *to_kcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct kwarp_cq, ibcq);
}

/* What kwarp_cq_notify() has to do after the caller has dropped all locks */
#define KWARP_CQ_RAISE		1	/* call the completion handler */
#define KWARP_CQ_LOST		2	/* an entry was lost for the first time: report it */
#define KWARP_CQ_LATE		4	/* call the completion handler: a fault has delayed that */

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
