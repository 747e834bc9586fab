// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pair: references, number table, attach and reset.
 */
#include "qp.h"

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/* QP 0 and 1 are special in InfiniBand; no consumer should see them. */
#define QPN_MIN		2
#define QPN_MAX		0xffffff

/* Set up everything but the queues.  The object is zeroed. */
void kwarp_qp_init(struct kwarp_qp *qp)
{
	init_completion(&qp->gone);
	spin_lock_init(&qp->users_lock);
	INIT_LIST_HEAD(&qp->users);
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->state_lock);
	qp->state = KWARP_QPS_IDLE;
	kwarp_qp_work_init(qp);
}

/**
 * kwarp_qp_reserve - give the QP its number; nobody finds it yet
 * @qp: initialized queue pair
 *
 * Return: 0, -ENOMEM.
 */
int kwarp_qp_reserve(struct kwarp_qp *qp)
{
	struct kwarp_dev *kdev = qp->kdev;
	int ret;
	u32 qpn;

	qp->refs = kzalloc(sizeof(*qp->refs), GFP_KERNEL);
	if (!qp->refs)
		return -ENOMEM;
	qp->refs->qp = qp;
	refcount_set(&qp->refs->n, 1);
	/* A place that is taken and loads as NULL. */
	ret = xa_alloc_cyclic_irq(&kdev->qps, &qpn, NULL, XA_LIMIT(QPN_MIN, QPN_MAX),
				  &kdev->next_qpn, GFP_KERNEL);
	if (ret < 0) {
		kfree(qp->refs);
		return ret == -EBUSY ? -ENOMEM : ret;
	}
	qp->ibqp.qp_num = qpn;
	return 0;
}

/* Nobody has found it: its creation failed. */
void kwarp_qp_unreserve(struct kwarp_qp *qp)
{
	xa_erase_irq(&qp->kdev->qps, qp->ibqp.qp_num);
	kfree(qp->refs);
}

/* From here on others may refer to it, so nothing of its creation may fail any more. */
void kwarp_qp_publish(struct kwarp_qp *qp)
{
	/* The place is reserved: no memory is needed. */
	xa_store_irq(&qp->kdev->qps, qp->ibqp.qp_num, qp->refs, GFP_KERNEL);
}

/* All that waited has been carried out, whoever was at it. */
static void finish_waiting(struct kwarp_qp *qp)
{
	kwarp_qp_run(qp);
	wait_var_event(&qp->run, atomic_read(&qp->run) == KWARP_RUN_IDLE);
}

/**
 * kwarp_qp_retire - end the stream; nobody finds the QP any more
 * @qp: published queue pair
 *
 * Context: process.  To be followed by kwarp_qp_gone().
 */
void kwarp_qp_retire(struct kwarp_qp *qp)
{
	xa_erase_irq(&qp->kdev->qps, qp->ibqp.qp_num);
	/* kwarp_qp_describe() may be at it. */
	mutex_lock(&qp->mutex);
	set_bit(KWARP_QPP_RETIRED, &qp->pending);
	mutex_unlock(&qp->mutex);
	kwarp_qp_note(qp, KWARP_QPE_ABORT);
	finish_waiting(qp);
	kwarp_qp_put(qp);
}

/**
 * kwarp_qp_gone - wait for the last reference
 * @qp: retired queue pair
 *
 * Context: process.
 * Return: true when the object may be freed; false after a while, to look after those
 * that hold it and call again.
 */
bool kwarp_qp_gone(struct kwarp_qp *qp)
{
	if (!wait_for_completion_timeout(&qp->gone, HZ / 10))
		return false;
	kwarp_qp_work_cancel(qp);
	/* kwarp_qp_lookup() may be looking at it. */
	kfree_rcu(qp->refs, rcu);
	return true;
}

/* Context: any.  Without a lock: each doorbell comes here.  Return: a reference, or NULL. */
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

/* Context: any; the caller has a reference, or whoever has one cannot give it back now. */
void kwarp_qp_get(struct kwarp_qp *qp)
{
	refcount_inc(&qp->refs->n);
}

void kwarp_qp_put(struct kwarp_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs->n))
		complete(&qp->gone);
}

/* From now on kwarp_qp_each_user() sees @node. */
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

/*
 * iw_cm identifies a QP by its number, which any process can name.  Only its owner may
 * connect it: same user, or the process that created it.  Its number would not do, which
 * another process gets after its end.  Context: the caller's.
 */
bool kwarp_qp_may_connect(const struct kwarp_qp *qp)
{
	return qp->creator == task_tgid(current) || uid_eq(qp->owner, current_uid());
}

struct ib_qp *kwarp_qp_ib(struct kwarp_qp *qp)
{
	return &qp->ibqp;
}

void kwarp_qp_close(struct kwarp_qp *qp, bool graceful)
{
	kwarp_qp_event(qp, graceful ? KWARP_QPE_CLOSE : KWARP_QPE_ABORT);
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
 * kwarp_qp_set_access - the rights that the peer has (modify_qp)
 * @qp: queue pair
 * @access: IB_ACCESS_REMOTE_*
 * @set_up: in a call that also brings the QP to INIT or RTR
 *
 * librdmacm makes such calls for every program: with no rights when it creates the QP, and,
 * with iWARP, never again for an Initiator; with those to read and to write when it accepts.  So
 * what they say does not undo what the consumer has chosen in a call of its own, and no rights in
 * them are nobody's choice.  iw_cm knows of no third right: atomic operations come with both in
 * such a call, as rdma_cm has it for InfiniBand.
 *
 * Context: process.
 */
void kwarp_qp_set_access(struct kwarp_qp *qp, int access, bool set_up)
{
	unsigned long irqflags;

	spin_lock_irqsave(&qp->state_lock, irqflags);
	/* What iw_cm says, and nobody's choice. */
	if (set_up && access == (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE))
		access = KWARP_REMOTE_ACCESS;
	if (!set_up || !qp->access_chosen)
		change_access(qp, access);
	if (!set_up)
		qp->access_chosen = true;
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
}

/* A QP whose consumer has chosen nothing gets all rights, and regions decide. */
static void default_access(struct kwarp_qp *qp)
{
	unsigned long irqflags;

	/* The consumer may be choosing at this moment: its word is the last. */
	spin_lock_irqsave(&qp->state_lock, irqflags);
	if (!qp->attr.qp_access_flags && !qp->access_chosen)
		change_access(qp, KWARP_REMOTE_ACCESS);
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
}

static void forget_access(struct kwarp_qp *qp)
{
	unsigned long irqflags;

	spin_lock_irqsave(&qp->state_lock, irqflags);
	change_access(qp, 0);
	qp->access_chosen = false;
	spin_unlock_irqrestore(&qp->state_lock, irqflags);
}

static void attach_attr(struct kwarp_qp *qp, const struct kwarp_stream_params *p)
{
	qp->attr.max_rd_atomic = min_t(u16, p->ord, U8_MAX);
	qp->attr.max_dest_rd_atomic = min_t(u16, p->ird, U8_MAX);
}

/* Start failed: nobody hears of this stream. */
static void detach(struct kwarp_qp *qp)
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

	/* Connections of others would wait with us while a stream of it ends. */
	if (kwarp_qp_state(qp) != KWARP_QPS_IDLE)
		return -EINVAL;
	mutex_lock(&qp->mutex);
	ret = kwarp_qp_event(qp, KWARP_QPE_ATTACH);
	if (ret)
		goto out;
	qp->cm = ops;
	qp->ep = ep;
	qp->say_first = params->say_first;
	qp->fin_sent = false;
	default_access(qp);
	ret = kwarp_engine_start(&qp->engine, sock, params);
	if (ret) {
		detach(qp);
		goto out;
	}
	attach_attr(qp, params);
	/* Not here: a peer may have sent as much as TCP takes, and other connections wait. */
	if (kwarp_engine_has_news(&qp->engine))
		kwarp_qp_poll(qp);
out:
	mutex_unlock(&qp->mutex);
	return ret;
}

/*
 * The engine is stopped, nothing is left for the work item to do, and the CM has been told: a
 * stream attached before that would be the one whose end it hears of.
 */
static bool idle(struct kwarp_qp *qp)
{
	lockdep_assert_held(&qp->mutex);
	return !kwarp_engine_attached(&qp->engine) && !READ_ONCE(qp->todo) && !qp->cm;
}

/* Something may happen between the two: carried out once more, then refused. */
static bool lock_idle(struct kwarp_qp *qp)
{
	int tries;

	for (tries = 0; tries < 2; tries++) {
		finish_waiting(qp);
		mutex_lock(&qp->mutex);
		if (idle(qp))
			return true;
		mutex_unlock(&qp->mutex);
	}
	return false;
}

/**
 * kwarp_qp_reset - back to IDLE with empty queues (modify to RESET)
 * @qp: queue pair
 *
 * Context: process.
 * Return: 0, -EINVAL while a stream is attached.
 */
int kwarp_qp_reset(struct kwarp_qp *qp)
{
	int ret;

	/* The end of a stream is waited for, not a stream. */
	if (!kwarp_qp_fsm(kwarp_qp_state(qp), KWARP_QPE_RESET)->legal || !lock_idle(qp))
		return -EINVAL;
	ret = kwarp_qp_event(qp, KWARP_QPE_RESET);
	if (!ret) {
		kwarp_engine_reset(&qp->engine);
		forget_access(qp);
	}
	mutex_unlock(&qp->mutex);
	return ret;
}

/**
 * kwarp_qp_describe - how a queue pair stands
 * @qp: queue pair; may be about to be destroyed
 * @info: zeroed; is filled
 *
 * Context: process.
 * Return: false: the queue pair is being destroyed, nothing is filled.
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
