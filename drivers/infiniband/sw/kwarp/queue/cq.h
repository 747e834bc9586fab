/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion queues.
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
 * struct kwarp_coalesce_facts - what the timer has found, see engine/tx/coalesce.c
 * @forgotten: a request, and no poll since the look before, which found it, too
 * @waiting: a request
 * @active: polls or doorbells since the look before
 */
struct kwarp_coalesce_facts {
	bool forgotten;
	bool waiting;
	bool active;
};

/**
 * struct kwarp_cq_hold - send queues whose requests complete here, and which are held
 * @lock: protects the rest, and what streams say belongs to it; any context but hard interrupt,
 *	bottom halves off; nothing of ours is taken under it
 * @streams: they; those that have had their turn are at the end
 * @turn: number of the look
 * @facts: what it has found so far
 * @timer: looks at them
 * @least: the time between looks if a request is forgotten, nanoseconds
 * @ns: the time until the next look
 * @rings: times that a program has come to ring, or gone
 * @inside: threads that are in a doorbell now
 * @runs: the timer does, or is about to
 * @ends: the hold ends, and not all have been told
 * @active: polls or doorbells since the last of @missed
 * @missed: times that a request was found forgotten, less those that are made up for
 * @idle: looks at that time that do not count yet
 * @good: doorbells for what was left
 * @quiet: looks in a row that found neither a request nor a poll
 * @obey: doorbells that will be obeyed at once
 */
struct kwarp_cq_hold {
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
 * @ibcq: RDMA core's object; first
 * @resize: serialises resizing; process context, taken before @lock
 * @lock: protects @ring, @prod, @qp; any context, innermost of ours
 * @ring: entries are struct kwarp_cqe; replaced by resize under @lock
 * @siw: ring of a program that speaks siw's uABI, where its completions go; of @ring only the
 *	header is used then, and not shared; or NULL; immutable
 * @map: mmap entry of @ring, or of @siw, if it is shared with user space
 * @home: processor that the consumer has chosen for what is not done in its calls; negative:
 *	none; immutable
 * @prod: next index to write; the header's copy is published after the entries
 * @qp: kernel consumers only: the QP of each slot
 * @solicited: entries added since the last publication include a solicited or
 *	failed one; under @lock
 * @overflow: READ_ONCE: an entry was lost; every QP on this CQ fails
 * @reported: that has been said
 * @later: kernel consumers only: KWARP_CQ_*: what @tell has to do; any context
 * @tell: calls them
 * @told: times that it has; its own, READ_ONCE without
 * @hold: send queues that are held; has a lock of its own
 */
struct kwarp_cq {
	struct ib_cq ibcq;
	struct mutex resize;		/* resizing as a whole */
	spinlock_t lock;		/* what is below, but for hold */
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

	struct kwarp_cq_hold hold;
};

static inline struct kwarp_cq *to_kcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct kwarp_cq, ibcq);
}

/* What is left to do after the caller has dropped its own locks. */
#define KWARP_CQ_RAISE		1	/* call the completion handler */
#define KWARP_CQ_LOST		2	/* first overflow: async event */

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
