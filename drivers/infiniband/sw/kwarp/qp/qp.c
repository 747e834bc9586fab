// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "qp.h"

#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/* QP 0 and 1 are special in InfiniBand; no consumer should see them. */
#define QPN_MIN		2
#define QPN_MAX		0xffffff

/**
 * kwarp_qp_init - initialize a queue pair without number, queues and stream
 * @qp: queue pair, zeroed
 */
void kwarp_qp_init(struct kwarp_qp *qp)
{
	init_completion(&qp->gone);
	spin_lock_init(&qp->users_lock);
	INIT_LIST_HEAD(&qp->users);
	mutex_init(&qp->mutex);
	mutex_init(&qp->wiring);
	spin_lock_init(&qp->state_lock);
	qp->state = KWARP_QPS_IDLE;
	kwarp_qp_work_init(qp);
}

/**
 * kwarp_qp_reserve - choose the queue pair's number
 * @qp: queue pair; kwarp_qp_lookup() does not find it before kwarp_qp_publish()
 *
 * Return: 0; -ENOMEM: out of memory, or no number is free.
 */
int kwarp_qp_reserve(struct kwarp_qp *qp)
{
	struct kwarp_dev *kdev = qp->kdev;
	int ret;
	u32 qpn;

	qp->refs = kzalloc(sizeof(*qp->refs), qp->sq.user ? GFP_KERNEL_ACCOUNT : GFP_KERNEL);
	if (!qp->refs)
		return -ENOMEM;
	qp->refs->qp = qp;
	refcount_set(&qp->refs->n, 1);
	/* Reserve the number: a reserved entry reads as NULL. */
	ret = xa_alloc_cyclic(&kdev->qps, &qpn, NULL, XA_LIMIT(QPN_MIN, QPN_MAX),
			      &kdev->next_qpn, GFP_KERNEL);
	if (ret < 0) {
		kfree(qp->refs);
		return ret == -EBUSY ? -ENOMEM : ret;
	}
	qp->ibqp.qp_num = qpn;
	return 0;
}

/**
 * kwarp_qp_unreserve - undo kwarp_qp_reserve()
 * @qp: queue pair that was not published
 */
void kwarp_qp_unreserve(struct kwarp_qp *qp)
{
	xa_erase(&qp->kdev->qps, qp->ibqp.qp_num);
	kfree(qp->refs);
}

/**
 * kwarp_qp_publish - make a queue pair known by its number
 * @qp: complete queue pair: nothing may fail after this
 */
void kwarp_qp_publish(struct kwarp_qp *qp)
{
	/* The entry is reserved, so this allocates no memory and cannot fail. */
	xa_store(&qp->kdev->qps, qp->ibqp.qp_num, qp->refs, GFP_KERNEL);
}

/* If another context (the runner) is carrying out actions, wait until it has finished. */
static void finish_waiting(struct kwarp_qp *qp)
{
	kwarp_qp_run(qp);
	wait_var_event(&qp->run, atomic_read(&qp->run) == KWARP_RUN_IDLE);
}

/**
 * kwarp_qp_retire - begin to destroy a queue pair
 * @qp: queue pair; kwarp_qp_lookup() does not find it any more, and its stream ends
 *
 * Context: process; waits for the queue pair's work. The caller calls kwarp_qp_gone() next.
 */
void kwarp_qp_retire(struct kwarp_qp *qp)
{
	xa_erase(&qp->kdev->qps, qp->ibqp.qp_num);
	/* Wait for a kwarp_qp_describe() that is running; a later call sees RETIRED, and fails. */
	mutex_lock(&qp->mutex);
	set_bit(KWARP_QPP_RETIRED, &qp->pending);
	mutex_unlock(&qp->mutex);
	kwarp_qp_note(qp, KWARP_QPE_ABORT);
	finish_waiting(qp);
	kwarp_qp_put(qp);
}

/**
 * kwarp_qp_gone - wait a while for the last reference
 * @qp: queue pair after kwarp_qp_retire()
 *
 * Return: true: the queue pair may be freed; false: timed out. Then the caller lets connection
 * management drop its references, and calls this function again.
 */
bool kwarp_qp_gone(struct kwarp_qp *qp)
{
	if (!wait_for_completion_timeout(&qp->gone, HZ / 10))
		return false;
	kwarp_qp_work_cancel(qp);
	/* Free the counter only after a grace period: kwarp_qp_lookup() may be reading refs->n. */
	kfree_rcu(qp->refs, rcu);
	return true;
}

/* Uses RCU instead of a lock, because every doorbell looks a QP up. */
struct kwarp_qp *kwarp_qp_lookup(struct kwarp_dev *kdev, u32 qpn)
{
	struct kwarp_qp_refs *refs;
	struct kwarp_qp *qp = NULL;

	rcu_read_lock();
	refs = xa_load(&kdev->qps, qpn);
	if (refs && refcount_inc_not_zero(&refs->n))
		qp = refs->qp;
	rcu_read_unlock();
	return qp;
}

/* Context: any; the caller has a reference, or a lock that keeps a reference from being dropped. */
void kwarp_qp_get(struct kwarp_qp *qp)
{
	refcount_inc(&qp->refs->n);
}

void kwarp_qp_put(struct kwarp_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs->n))
		complete(&qp->gone);
}

void kwarp_qp_join(struct kwarp_qp *qp, struct list_head *node)
{
	spin_lock(&qp->users_lock);
	list_add_tail(node, &qp->users);
	spin_unlock(&qp->users_lock);
}

void kwarp_qp_leave(struct kwarp_qp *qp, struct list_head *node)
{
	spin_lock(&qp->users_lock);
	list_del_init(node);
	spin_unlock(&qp->users_lock);
}

void kwarp_qp_each_user(struct kwarp_qp *qp, void (*fn)(struct list_head *node))
{
	struct list_head *node;

	spin_lock(&qp->users_lock);
	list_for_each(node, &qp->users)
		fn(node);
	spin_unlock(&qp->users_lock);
}

/**
 * kwarp_qp_may_connect - may the current task connect this queue pair?
 * @qp: queue pair
 *
 * iw_cm identifies a QP by its number, which any process can name. Only the owner may connect the
 * QP: a task of the user that created it, or of the process that created it. The process is
 * compared as struct pid, because the number of a process is used again after its end.
 *
 * Context: process; the current task is the one that wants to connect.
 * Return: true if so.
 */
bool kwarp_qp_may_connect(const struct kwarp_qp *qp)
{
	return qp->creator == task_tgid(current) || uid_eq(qp->owner, current_uid());
}

struct ib_qp *kwarp_qp_ib(struct kwarp_qp *qp)
{
	return &qp->ibqp;
}

void kwarp_qp_abort(struct kwarp_qp *qp)
{
	kwarp_qp_event(qp, KWARP_QPE_ABORT);
}

void kwarp_qp_begin_close(struct kwarp_qp *qp, bool graceful)
{
	kwarp_qp_note(qp, graceful ? KWARP_QPE_CLOSE : KWARP_QPE_ABORT);
}

static void change_access(struct kwarp_qp *qp, int access)
{
	lockdep_assert_held(&qp->state_lock);
	qp->attr.qp_access_flags = access;
	kwarp_engine_set_access(&qp->engine, access);
}

/**
 * kwarp_qp_set_access - set the rights of the peer
 * @qp: queue pair
 * @access: IB_ACCESS_*
 * @set_up: the call is a modify_qp to INIT or RTR
 *
 * librdmacm makes calls with @set_up for every program: with no rights when it creates the QP, and
 * with read and write when it accepts; for an iWARP Initiator it makes no second call. So the
 * rights in calls with @set_up do not override rights that the consumer has set in a call without
 * @set_up, and "no rights" in a call with @set_up is not taken as the consumer's choice. iw_cm does
 * not know atomic rights: read and write together in a call with @set_up include them, like in
 * rdma_cm for InfiniBand.
 */
void kwarp_qp_set_access(struct kwarp_qp *qp, int access, bool set_up)
{
	unsigned long irqflags;

	spin_lock_irqsave(&qp->state_lock, irqflags);
	if (set_up && access == (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE))
		access = KWARP_REMOTE_ACCESS;
	if (!set_up || !qp->access_chosen)
		change_access(qp, access);
	if (!set_up)
		qp->access_chosen = true;
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
}

/*
 * Give the peer all rights, unless the consumer has chosen its rights, or a modify_qp to INIT or
 * RTR has given it some. The rights of each memory region still limit what the peer may do.
 */
static void default_access(struct kwarp_qp *qp)
{
	unsigned long irqflags;

	/*
	 * Test under the lock: the consumer may be choosing rights at this moment, and its choice
	 * must win.
	 */
	spin_lock_irqsave(&qp->state_lock, irqflags);
	if (!qp->attr.qp_access_flags && !qp->access_chosen && !READ_ONCE(qp->wired))
		change_access(qp, KWARP_REMOTE_ACCESS);
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
}

void kwarp_qp_forget_access(struct kwarp_qp *qp)
{
	unsigned long irqflags;

	spin_lock_irqsave(&qp->state_lock, irqflags);
	change_access(qp, 0);
	qp->access_chosen = false;
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
}

/* The engine could not be started: undo kwarp_qp_attach(), without an upcall. */
static void undo_attach(struct kwarp_qp *qp)
{
	unsigned long irqflags;

	qp->cm = NULL;
	spin_lock_irqsave(&qp->state_lock, irqflags);
	if (qp->state == KWARP_QPS_RTS)
		qp->state = KWARP_QPS_IDLE;
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
}

int kwarp_qp_attach(struct kwarp_qp *qp, struct socket *sock,
		    const struct kwarp_stream_params *params,
		    const struct kwarp_stream_ops *ops, void *ep)
{
	int ret;

	/*
	 * Check before taking the mutex: the runner may hold the mutex for long, while it ends an
	 * earlier stream.
	 */
	if (kwarp_qp_state(qp) != KWARP_QPS_IDLE)
		return -EINVAL;
	mutex_lock(&qp->mutex);
	ret = kwarp_qp_event(qp, KWARP_QPE_ATTACH);
	if (ret)
		goto out;
	qp->cm = ops;
	qp->ep = ep;
	qp->say_first = params->say_first;
	qp->lost = false;
	qp->fin_sent = false;
	default_access(qp);
	ret = kwarp_engine_start(&qp->engine, sock, params);
	if (ret) {
		undo_attach(qp);
		goto out;
	}
	/* The consumer of a wired queue pair has given both itself. */
	if (!READ_ONCE(qp->wired)) {
		qp->attr.max_rd_atomic = min_t(u16, params->ord, U8_MAX);
		qp->attr.max_dest_rd_atomic = min_t(u16, params->ird, U8_MAX);
	}
	/*
	 * Let the QP's work item process octets that have come already. The caller holds the lock
	 * of its endpoint, and there may be as many octets as TCP's receive buffer can hold.
	 */
	if (kwarp_engine_has_news(&qp->engine))
		kwarp_qp_poll(qp);
out:
	mutex_unlock(&qp->mutex);
	return ret;
}

/*
 * May a new stream be attached? Only if the engine is stopped, no action is pending, and DOWN has
 * been reported to the CM; otherwise the CM would take that DOWN for the end of the new stream.
 */
static bool qp_is_idle(struct kwarp_qp *qp)
{
	lockdep_assert_held(&qp->mutex);
	return !kwarp_engine_attached(&qp->engine) && !READ_ONCE(qp->todo) && !qp->cm;
}

/* An event may come between the two calls, so try twice. */
static bool lock_idle(struct kwarp_qp *qp)
{
	int tries;

	for (tries = 0; tries < 2; tries++) {
		finish_waiting(qp);
		mutex_lock(&qp->mutex);
		if (qp_is_idle(qp))
			return true;
		mutex_unlock(&qp->mutex);
	}
	return false;
}

/**
 * kwarp_qp_reset - make a queue pair ready for another stream
 * @qp: queue pair
 *
 * Context: process; waits for the queue pair's work.
 * Return: 0; -EINVAL: a stream is attached, or its end is not yet reported to connection
 * management.
 */
int kwarp_qp_reset(struct kwarp_qp *qp)
{
	int ret;

	/*
	 * Test first whether RESET is legal in this state: lock_idle() would carry out, or wait
	 * for, the work of a stream that is in use.
	 */
	if (!kwarp_qp_fsm(kwarp_qp_state(qp), KWARP_QPE_RESET)->legal || !lock_idle(qp))
		return -EINVAL;
	ret = kwarp_qp_event(qp, KWARP_QPE_RESET);
	if (!ret) {
		kwarp_engine_reset(&qp->engine);
		kwarp_qp_forget_access(qp);
	}
	mutex_unlock(&qp->mutex);
	return ret;
}

/**
 * kwarp_qp_has_sends - has the consumer posted requests that wait to be sent?
 * @qp: queue pair
 *
 * Return: true: there are; the answer may be out of date at once.
 */
bool kwarp_qp_has_sends(const struct kwarp_qp *qp)
{
	return !kwarp_sq_empty(&qp->sq);
}

/**
 * kwarp_qp_give_up - no stream will be attached
 * @qp: wired queue pair, whose peer did not connect in time
 *
 * The queue pair fails, its oldest send request with KWARP_WC_RETRY_EXC_ERR. No effect unless it is
 * IDLE.
 *
 * Context: process, no lock of kwarp's held but @qp->wiring.
 */
void kwarp_qp_give_up(struct kwarp_qp *qp)
{
	might_sleep();
	/* Under the mutex no stream is attached. */
	mutex_lock(&qp->mutex);
	if (kwarp_qp_state(qp) == KWARP_QPS_IDLE) {
		kwarp_engine_give_up(&qp->engine);
		kwarp_qp_event(qp, KWARP_QPE_NO_PEER);
	}
	mutex_unlock(&qp->mutex);
}

/**
 * kwarp_qp_describe - get the state of a queue pair, for an operator
 * @qp: queue pair
 * @info: result, zeroed by the caller
 *
 * Return: false: the queue pair is being destroyed, and @info is unchanged.
 */
bool kwarp_qp_describe(struct kwarp_qp *qp, struct kwarp_engine_info *info)
{
	bool there;

	mutex_lock(&qp->mutex);
	there = !test_bit(KWARP_QPP_RETIRED, &qp->pending);
	if (there)
		kwarp_engine_describe(&qp->engine, info);
	mutex_unlock(&qp->mutex);
	return there;
}
