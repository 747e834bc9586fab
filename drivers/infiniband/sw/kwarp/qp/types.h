/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The objects for queue pairs and for shared receive queues. */
#ifndef KWARP_QP_TYPES_H
#define KWARP_QP_TYPES_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../engine/engine.h"
#include "../kwarp.h"
#include "../proto/qp_fsm.h"
#include "../queue/rq.h"
#include "../queue/sq.h"
#include "../serial.h"
#include "stream.h"

struct kwarp_wire;
struct rdma_user_mmap_entry;

/*
 * struct kwarp_srq - shared receive queue
 * @ibsrq: RDMA core's object; must be the first field
 * @mem: holds the SRQ's protection domain, to which the memory regions of its receives must belong;
 *	no memory window is ever bound to @mem
 * @map: mmap entry of the queue's ring, if shared with user space
 * @charge: what the user pays for this object, without rings
 * @resize: serialises modify_srq; process context, taken before the lock of @rq
 */
struct kwarp_srq {
	struct ib_srq ibsrq;
	struct kwarp_rq rq;
	struct kwarp_mem_stream mem;
	struct rdma_user_mmap_entry *map;
	struct kwarp_charge charge;
	struct mutex resize;		/* the whole of modify_srq */
};

static inline struct kwarp_srq *to_ksrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct kwarp_srq, ibsrq);
}

/* Bits of kwarp_qp.pending, set in any context. All but RETIRED are tasks of the runner. */
enum kwarp_qp_pending {
	KWARP_QPP_POLL,		/* process what the socket has received */
	KWARP_QPP_ESTABLISHED,	/* report the first FPDU to the CM */
	KWARP_QPP_DRAINED,	/* graceful close: all posted requests are sent, so send the FIN */
	KWARP_QPP_SRQ_LIMIT,	/* raise the SRQ's event LIMIT_REACHED */
	KWARP_QPP_RETIRED,	/* the QP is being destroyed: raise no LAST_WQE_REACHED for it */
};

/**
 * struct kwarp_qp_refs - references to a queue pair
 * @n: number of references: one for the verbs object, one per endpoint of connection management,
 *	one per other kwarp_qp_lookup() or kwarp_qp_get() without a kwarp_qp_put() yet
 * @qp: queue pair; exists while @n is not zero
 * @rcu: to free this struct after a grace period: a concurrent kwarp_qp_lookup() may still read @n,
 *	but the RDMA core frees the queue pair itself at once
 */
struct kwarp_qp_refs {
	refcount_t n;
	struct kwarp_qp *qp;
	struct rcu_head rcu;
};

/*
 * struct kwarp_qp - one queue pair
 * @ibqp: RDMA core's object; must be the first field
 * @ibuc: user context that the QP was created in; NULL: a kernel consumer created the QP
 * @owner: user whose processes may connect the QP
 * @creator: process that may connect the QP even if its user is not @owner; a reference is held
 * @map: mmap entry of the queues' rings, if shared with user space; with foreign rings: of the one
 *	for sends
 * @rq_map: mmap entry of the foreign ring for receives
 * @charge: what the user pays for this object, without rings
 * @users_lock: protects @users; process context
 * @users: endpoints of connection management that have chosen this QP
 * @rq: own receive queue; not used with an SRQ
 * @mutex: serialises attach (a stream begins), poll, stop and reset; process context; the QP's
 *	outermost lock, but an endpoint's mutex is taken before it
 * @state_lock: protects @state, @todo and the peer's access rights; any context; innermost: no
 *	other lock is taken under it
 * @todo: actions (KWARP_QPA_*) that are still to be carried out
 * @pending: bits KWARP_QPP_*: what the runner has to do besides @todo
 * @run: does a context carry out @todo and @pending at the moment? See serial.h. That context is
 *	called the runner here. Changes in any context.
 * @timer: limits the time for draining (sending posted requests), for waiting for the peer's FIN,
 *	and for sending a Terminate
 * @lost: the connection of the established stream was lost; under @state_lock
 * @fin_sent: the FIN of a graceful close has been sent; set by the runner, cleared by attach
 * @cm: upcalls to connection management; set by attach, NULL again when the end of the stream is
 *	reported; written under @mutex
 * @say_first: @cm wants KWARP_STREAM_ESTABLISHED; set before the first FPDU can come
 * @attr: what query_qp reports
 * @wiring: serialises modify_qp, as far as it concerns @wire
 * @wire: what the queue pair is wired to, see cm/wire.c; NULL: it is not wired
 * @wired: @wire has been set since the last reset; READ_ONCE
 * @asked_access: the flags of the last modify_qp that had any
 * @access_chosen: the consumer itself has chosen the access flags in @attr; under @state_lock
 *
 * Everything from @kdev to @cap is immutable after create.
 */
struct kwarp_qp {
	struct ib_qp ibqp;
	struct kwarp_dev *kdev;
	const struct ib_ucontext *ibuc;
	kuid_t owner;
	struct pid *creator;
	char program[TASK_COMM_LEN];
	struct kwarp_srq *srq;
	struct rdma_user_mmap_entry *map;
	struct rdma_user_mmap_entry *rq_map;
	struct kwarp_charge charge;
	struct ib_qp_cap cap;

	struct kwarp_qp_refs *refs;
	struct completion gone;

	spinlock_t users_lock;		/* protects users */
	struct list_head users;

	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct kwarp_engine engine;

	struct mutex mutex;		/* attach, poll, stop, reset */
	spinlock_t state_lock;		/* state, todo, access */
	enum kwarp_qp_state state;
	u16 todo;
	unsigned long pending;
	atomic_t run;
	struct work_struct work;
	struct delayed_work timer;
	bool lost;
	bool fin_sent;

	const struct kwarp_stream_ops *cm;
	void *ep;
	bool say_first;

	struct ib_qp_attr attr;
	bool access_chosen;

	struct mutex wiring;		/* modify_qp */
	struct kwarp_wire *wire;
	bool wired;
	int asked_access;
};

static inline struct kwarp_qp *to_kqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct kwarp_qp, ibqp);
}

#endif /* KWARP_QP_TYPES_H */
