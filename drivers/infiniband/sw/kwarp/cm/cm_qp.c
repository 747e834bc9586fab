// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What iw_cm has instead of a queue pair.
 *
 * iw_cm looks a queue pair up by the number that the ULP gives it, keeps a reference, and
 * uses it for one thing: to end the stream of an id that is ESTABLISHED. With a queue pair
 * itself that would be wrong in two ways:
 *
 *   - A program that accepts and then rejects one id leaves iw_cm with a reference that it
 *     returns when the id is destroyed, and not before. A destroy_qp() that waits for it
 *     waits for ever if the same program, or its end, destroys the queue pair first. It
 *     cannot refuse either: when a process ends, ib_uverbs takes -EBUSY of an object that
 *     nothing else keeps as a fault of the driver, warns, and leaves the queue pair, its
 *     CQs and its PD in memory for good; a kernel consumer is told nothing at all. And if
 *     it did not wait, iw_cm would return its reference to freed memory.
 *   - A program that accepts one id twice can name any queue pair the second time, and iw_cm
 *     would end the stream of whomever it belongs to.
 *
 * So each look-up gives iw_cm a stand-in of its own, which no queue pair knows of, and which
 * lives until iw_cm returns it. It means nothing before a connect() or accept() of the same
 * task has been found good for the id that it is for; from then on it stands for the
 * endpoint, and for its queue pair as long as the endpoint has one. destroy_qp() has to wait
 * for endpoints only, all of which give the queue pair up in bounded time.
 */
#include "cm_qp.h"

#include <rdma/ib_verbs.h>

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../qp/stream.h"
#include "ep.h"
#include "ep_run.h"
#include "stand_in.h"

/* See kwarp_qp_rem_ref(). Without Tasks RCU plain RCU does it where nothing is preempted. */
#if defined(CONFIG_PREEMPTION) && !defined(CONFIG_TASKS_RCU)
#error "a kernel that preempts needs Tasks RCU: CONFIG_BPF_SYSCALL or CONFIG_KPROBES"
#endif

/* The core keeps these types for drivers. No queue pair of ours has it. */
#define STAND_IN	IB_QPT_RESERVED1

/**
 * struct stand_in - for a queue pair, in the hands of iw_cm
 * @ibqp: what iw_cm sees
 * @node: in kdev->cm.new_qps while nobody has claimed it; under kdev->cm.new_lock
 * @task: who has looked it up; only compared
 * @ep: the endpoint that it stands for, a reference; NULL: none; under kdev->cm.new_lock
 * @exposed: its id may become ESTABLISHED though @ep has not said so; written once, by the
 *	call that it is for
 * @rcu: for freeing it
 */
struct stand_in {
	struct ib_qp ibqp;
	struct list_head node;
	const struct task_struct *task;
	struct kwarp_ep *ep;
	bool exposed;
	struct rcu_head rcu;
};

/* Returned by iw_cm, and not free yet: they outlive their device. */
static atomic_t num_returned = ATOMIC_INIT(0);

static struct stand_in *to_stand_in(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct stand_in, ibqp);
}

/* Is it from kwarp_get_qp(), and no queue pair? Context: any. */
bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp)
{
	return ibqp->qp_type == STAND_IN;
}

static void init_ibqp(struct ib_qp *ibqp, struct ib_device *ibdev, u32 qpn)
{
	ibqp->device = ibdev;
	ibqp->real_qp = ibqp;
	ibqp->qp_num = qpn;
	ibqp->qp_type = STAND_IN;
}

void kwarp_cm_init_stand_ins(struct kwarp_dev *kdev)
{
	raw_spin_lock_init(&kdev->cm.new_lock);
	INIT_LIST_HEAD(&kdev->cm.new_qps);
	init_ibqp(&kdev->cm.no_qp, &kdev->ibdev, 0);
}

/**
 * kwarp_get_qp - ib_device_ops.iw_get_qp
 * @ibdev: device
 * @qpn: number, which any process may have named
 *
 * iw_cm calls this and add_ref as a pair, and iw_connect or iw_accept next, in the same
 * task; or it returns what it has got.
 *
 * Context: any; iw_cm holds a spinlock of its own.
 * Return: a stand-in with the reference that add_ref is about, NULL if there is no such
 * queue pair. If there is no memory, or too much of it is not free yet, one that stands for
 * nothing, and the call that follows fails with the right errno.
 */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn)
{
	struct kwarp_dev *kdev = to_kdev(ibdev);
	struct kwarp_qp *qp = kwarp_qp_lookup(kdev, qpn);
	unsigned long irqflags;
	struct stand_in *s;

	if (!qp)
		return NULL;
	kwarp_qp_put(qp);
	/* A program that connects in a loop may be faster than Tasks RCU. */
	if (atomic_read(&num_returned) >= KWARP_MAX_RETURNED)
		return &kdev->cm.no_qp;
	s = kzalloc(sizeof(*s), GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!s)
		return &kdev->cm.no_qp;
	init_ibqp(&s->ibqp, ibdev, qpn);
	s->task = current;
	raw_spin_lock_irqsave(&kdev->cm.new_lock, irqflags);
	list_add(&s->node, &kdev->cm.new_qps);
	raw_spin_unlock_irqrestore(&kdev->cm.new_lock, irqflags);
	return &s->ibqp;
}

/* kwarp_get_qp() has done it. */
void kwarp_qp_add_ref(struct ib_qp *ibqp)
{
}

static void free_stand_in(struct rcu_head *rcu)
{
	struct stand_in *s = container_of(rcu, struct stand_in, rcu);

	kfree(s);
	atomic_dec(&num_returned);
}

/**
 * kwarp_qp_rem_ref - ib_device_ops.iw_rem_ref
 * @ibqp: from kwarp_get_qp()
 *
 * iw_cm_disconnect() takes it from the id under the lock of that, and uses it without
 * lock or reference, while the CLOSE of the same id may return it. For a queue pair its
 * ULP has to see to that; of this ULPs know nothing. Between the two iw_cm does not sleep,
 * and kwarp_cm_modify_stand_in() does not before it is done with it, so it is free once
 * each task has slept, been in user mode or idle. The lock is a raw one for that: with
 * PREEMPT_RT a task that waits for another one sleeps.
 *
 * None of that is for the stand-in of an id that was never ESTABLISHED, as one whose connect has
 * failed: iw_cm does not use it. So a program that fails to connect in a loop leaves nothing
 * behind.
 *
 * Context: process, no endpoint's mutex held.
 */
void kwarp_qp_rem_ref(struct ib_qp *ibqp)
{
	struct kwarp_dev *kdev = to_kdev(ibqp->device);
	struct stand_in *s = to_stand_in(ibqp);
	unsigned long irqflags;
	struct kwarp_ep *ep;
	bool in_use;

	if (ibqp == &kdev->cm.no_qp)
		return;
	raw_spin_lock_irqsave(&kdev->cm.new_lock, irqflags);
	/* Nobody claims it any more, which is no matter if somebody has. */
	list_del_init(&s->node);
	ep = s->ep;
	s->ep = NULL;
	raw_spin_unlock_irqrestore(&kdev->cm.new_lock, irqflags);
	in_use = s->exposed;
	if (ep) {
		/* Set before the event that makes the id ESTABLISHED, and this comes after it. */
		in_use |= READ_ONCE(ep->told);
		kwarp_ep_put(ep);
	}
	if (in_use) {
		atomic_inc(&num_returned);
		call_rcu_tasks(&s->rcu, free_stand_in);
	} else {
		kfree(s);
	}
}

/* All that iw_cm has returned is free when this returns. Context: process; module exit. */
void kwarp_cm_exit_stand_ins(void)
{
#ifdef CONFIG_TASKS_RCU
	rcu_barrier_tasks();
#else
	rcu_barrier();
#endif
}

/**
 * kwarp_cm_claim_stand_in - take what iw_cm has been given for this call
 * @kdev: device
 *
 * Context: process, a call of iw_connect or iw_accept.
 * Return: what kwarp_get_qp() has given to the current task, which iw_cm refers to; NULL if
 * there was no memory for it.
 */
struct ib_qp *kwarp_cm_claim_stand_in(struct kwarp_dev *kdev)
{
	struct ib_qp *found = NULL;
	unsigned long irqflags;
	struct stand_in *s;

	raw_spin_lock_irqsave(&kdev->cm.new_lock, irqflags);
	list_for_each_entry(s, &kdev->cm.new_qps, node) {
		if (s->task == current) {
			list_del_init(&s->node);
			found = &s->ibqp;
			break;
		}
	}
	raw_spin_unlock_irqrestore(&kdev->cm.new_lock, irqflags);
	return found;
}

/* The id becomes ESTABLISHED, whatever becomes of this call. Context: that call's. */
void kwarp_cm_expose_stand_in(struct ib_qp *ibqp)
{
	if (ibqp != &to_kdev(ibqp->device)->cm.no_qp)
		to_stand_in(ibqp)->exposed = true;
}

/**
 * kwarp_cm_bind_stand_in - it stands for this endpoint from now on
 * @ibqp: claimed
 * @ep: endpoint whose queue pair the ULP may connect
 *
 * Context: process; ep->mutex held; before the first upcall for the id.
 */
void kwarp_cm_bind_stand_in(struct ib_qp *ibqp, struct kwarp_ep *ep)
{
	unsigned long irqflags;

	lockdep_assert_held(&ep->mutex);
	kwarp_ep_get(ep);
	raw_spin_lock_irqsave(&ep->kdev->cm.new_lock, irqflags);
	to_stand_in(ibqp)->ep = ep;
	raw_spin_unlock_irqrestore(&ep->kdev->cm.new_lock, irqflags);
}

/* Its endpoint, with a reference, or NULL. Does not sleep: see kwarp_qp_rem_ref(). */
static struct kwarp_ep *stand_in_ep(struct ib_qp *ibqp)
{
	struct kwarp_dev *kdev = to_kdev(ibqp->device);
	unsigned long irqflags;
	struct kwarp_ep *ep;

	if (ibqp == &kdev->cm.no_qp)
		return NULL;
	raw_spin_lock_irqsave(&kdev->cm.new_lock, irqflags);
	ep = to_stand_in(ibqp)->ep;
	if (ep)
		kwarp_ep_get(ep);
	raw_spin_unlock_irqrestore(&kdev->cm.new_lock, irqflags);
	return ep;
}

/**
 * kwarp_cm_modify_stand_in - iw_cm wants the end of a stream
 * @ibqp: from kwarp_get_qp(); may have been returned since the caller looked for it
 * @graceful: with everything that has been posted (modify to SQD), else at once (to ERR)
 *
 * Context: process; sleeps, but not before it has the endpoint: it does not begin with
 * might_sleep(), which may be a quiescent state, see kwarp_qp_rem_ref().
 * Return: 0; -EINVAL if it stands for nothing.
 */
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful)
{
	struct kwarp_ep *ep = stand_in_ep(ibqp);
	struct kwarp_qp *qp;

	if (!ep)
		return -EINVAL;
	kwarp_ep_lock(ep);
	/* If the stream is down the queue pair may have the next one already. */
	kwarp_ep_run(ep);
	qp = ep->qp;
	if (qp) {
		kwarp_qp_get(qp);
		kwarp_qp_begin_close(qp, graceful);
	}
	kwarp_ep_unlock(ep);
	kwarp_ep_put(ep);
	if (qp) {
		kwarp_qp_run(qp);
		kwarp_qp_put(qp);
	}
	return 0;
}
