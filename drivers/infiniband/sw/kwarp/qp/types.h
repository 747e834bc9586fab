/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The queue pair's objects. */
#ifndef KWARP_QP_TYPES_H
#define KWARP_QP_TYPES_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../engine/engine.h"
#include "../kwarp.h"
#include "../proto/qp_fsm.h"
#include "../queue/rq.h"
#include "../queue/sq.h"
#include "../serial.h"
#include "stream.h"

struct rdma_user_mmap_entry;

/**
 * struct kwarp_srq - shared receive queue
 * @ibsrq: RDMA core's object; first
 * @rq: the queue
 * @mem: its protection domain, in the form in which accesses are checked; no windows
 * @map: mmap entry of its ring, if shared with user space
 * @resize: serialises modifying; process context, taken before the lock of @rq
 */
struct kwarp_srq {
	struct ib_srq ibsrq;
	struct kwarp_rq rq;
	struct kwarp_mem_stream mem;
	struct rdma_user_mmap_entry *map;
	struct mutex resize;		/* modifying as a whole */
};

static inline struct kwarp_srq *to_ksrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct kwarp_srq, ibsrq);
}

/* Bits of kwarp_qp.pending: any context. */
enum kwarp_qp_pending {
	KWARP_QPP_POLL,		/* look at the socket */
	KWARP_QPP_ESTABLISHED,	/* tell the CM */
	KWARP_QPP_DRAINED,	/* the send queue is empty after a graceful close */
	KWARP_QPP_SRQ_LIMIT,	/* raise the SRQ's event */
	KWARP_QPP_RETIRED,	/* being destroyed: its consumer expects no event of it */
};

/**
 * struct kwarp_qp_refs - references to a queue pair
 * @n: one for the verbs object, one per stream of the CM, one per look-up
 * @qp: queue pair; there as long as @n is not zero
 * @rcu: this is freed a grace period later: the RDMA core frees queue pairs at once
 */
struct kwarp_qp_refs {
	refcount_t n;
	struct kwarp_qp *qp;
	struct rcu_head rcu;
};

/**
 * struct kwarp_qp - one queue pair
 * @ibqp: RDMA core's object; first
 * @kdev: device
 * @user: user space posts
 * @ibuc: in which of its contexts; NULL: a kernel consumer's
 * @owner: user who may connect it
 * @creator: process that may connect it, a reference
 * @srq: shared receive queue, or NULL
 * @map: mmap entry of the queues' rings, if shared with user space; with siw's uABI that of the
 *	send ring
 * @rq_map: with siw's uABI that of the receive ring
 * @cap: sizes granted
 * @refs: references to it
 * @gone: completed when there is none
 * @users_lock: protects @users; process context
 * @users: endpoints of connection management that have chosen this QP
 * @sq: send queue
 * @rq: own receive queue; not used with an SRQ
 * @engine: the stream
 * @mutex: serialises attach, stop and reset; process context, outermost
 * @state_lock: protects @state, @todo and the peer's rights; any context, innermost
 * @state: enum kwarp_qp_state
 * @todo: actions that are still to be carried out
 * @pending: KWARP_QPP_*
 * @run: any context: who carries out what needs process context, see serial.h
 * @work: carries it out if nobody else does
 * @timer: bounds draining, closing and the Terminate
 * @fin_sent: owned by who carries out: our half is shut down after a drain
 * @cm: upcalls, set while a stream is attached (under @mutex)
 * @ep: their cookie
 * @say_first: they want to hear of the first FPDU; set before there can be one
 * @attr: what query_qp reports
 * @access_chosen: @state_lock: the consumer has chosen the rights in @attr itself
 *
 * Everything from @kdev to @cap is immutable after create.
 */
struct kwarp_qp {
	struct ib_qp ibqp;
	struct kwarp_dev *kdev;
	bool user;
	const struct ib_ucontext *ibuc;
	kuid_t owner;
	struct pid *creator;
	struct kwarp_srq *srq;
	struct rdma_user_mmap_entry *map;
	struct rdma_user_mmap_entry *rq_map;
	struct ib_qp_cap cap;

	struct kwarp_qp_refs *refs;
	struct completion gone;

	spinlock_t users_lock;		/* users */
	struct list_head users;

	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct kwarp_engine engine;

	struct mutex mutex;		/* attach, stop, reset */
	spinlock_t state_lock;		/* state, todo, access */
	enum kwarp_qp_state state;
	u16 todo;
	unsigned long pending;
	atomic_t run;
	struct work_struct work;
	struct delayed_work timer;
	bool fin_sent;

	const struct kwarp_stream_ops *cm;
	void *ep;
	bool say_first;

	struct ib_qp_attr attr;
	bool access_chosen;
};

static inline struct kwarp_qp *to_kqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct kwarp_qp, ibqp);
}

#endif /* KWARP_QP_TYPES_H */
