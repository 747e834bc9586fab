// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Stand-ins: objects that iw_cm gets instead of queue pairs.
 *
 * iw_cm looks a queue pair up by the number that the ULP gives, keeps a reference, and
 * uses it for one purpose: to end the stream of an id that is ESTABLISHED. With references to
 * real queue pairs two things would go wrong:
 *
 *   - If a program accepts and then rejects one id, iw_cm drops its reference only when the
 *     id is destroyed. If the program destroys the queue pair first, or ends, a destroy_qp()
 *     that waits for the reference would wait for ever. destroy_qp() cannot fail either: when
 *     a process ends, ib_uverbs treats -EBUSY of an object without other users as a driver bug,
 *     warns, and leaks the queue pair, its CQs and its PD; a kernel consumer gets no error at
 *     all. And a destroy_qp() that did not wait would leave iw_cm with a pointer to freed memory.
 *   - If a program accepts one id twice, it can name any queue pair the second time, and iw_cm
 *     would end the stream of a queue pair that belongs to another program.
 *
 * So each look-up gives iw_cm a new stand-in, which lives until iw_cm returns it. The connect() or
 * accept() that iw_cm then calls in the same task takes the stand-in, which means: it finds the
 * stand-in in a list of new ones, and removes it from there. When the call has passed all checks,
 * it binds the stand-in to its endpoint (one connection), and so to the endpoint's queue pair, as
 * long as the endpoint has one. Until then the stand-in is bound to no endpoint. destroy_qp() waits
 * for endpoints only, and each of them drops its queue pair in bounded time.
 */
#include "cm_qp.h"

#include <rdma/ib_verbs.h>

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../qp/stream.h"
#include "ep.h"
#include "ep_run.h"

/* kwarp_qp_rem_ref() uses Tasks RCU. Without kernel preemption plain RCU does the same. */
#if defined(CONFIG_PREEMPTION) && !defined(CONFIG_TASKS_RCU)
#error "a kernel that preempts needs Tasks RCU: CONFIG_BPF_SYSCALL or CONFIG_KPROBES"
#endif

/* A QP type that the RDMA core reserves for drivers. No queue pair of kwarp has it. */
#define STAND_IN	IB_QPT_RESERVED1

/*
 * struct stand_in - what iw_cm refers to instead of a queue pair
 * @node: entry in kdev->cm.new_qps until a connect() or accept() takes the stand-in; under
 *	kdev->cm.new_lock
 * @task: the task that has looked up the queue pair; only compared
 * @ep: the endpoint that the stand-in is bound to, a reference; NULL: none; under
 *	kdev->cm.new_lock
 * @exposed: iw_cm's id may become ESTABLISHED without an upcall of @ep, so iw_cm may use the
 *	stand-in; written once, by the accept() that took the stand-in
 */
struct stand_in {
	struct ib_qp ibqp;
	struct list_head node;
	const struct task_struct *task;
	struct kwarp_ep *ep;
	bool exposed;
	struct rcu_head rcu;
};

/* Stand-ins that wait for Tasks RCU; they may outlive their device. */
static atomic_t num_returned = ATOMIC_INIT(0);

static struct stand_in *to_stand_in(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct stand_in, ibqp);
}

/**
 * kwarp_cm_is_stand_in - is this object a stand-in, and no queue pair?
 * @ibqp: object
 *
 * Context: any.
 * Return: true if so.
 */
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
 * iw_cm calls this and then iw_add_ref; next, in the same task, it calls iw_connect or iw_accept,
 * or it returns the stand-in with iw_rem_ref.
 *
 * Context: any; iw_cm holds a spinlock of its own.
 * Return: a stand-in, with the reference that iw_add_ref should take; NULL: no such queue pair.
 * Without memory, or with KWARP_MAX_RETURNED stand-ins not freed yet: the device's no_qp, a
 * stand-in that is bound to no endpoint. Then the iw_connect or iw_accept that follows fails with
 * -ENOMEM.
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
	/* Limit the memory: a program that connects in a loop may be faster than Tasks RCU. */
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

/* ib_device_ops.iw_add_ref: kwarp_get_qp() has taken the reference already. */
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
 * @ibqp: stand-in from kwarp_get_qp()
 *
 * iw_cm_disconnect() reads the pointer from the id under the id's lock, and then uses the object
 * without lock or reference, while the CLOSE event of the same id may return it. With a real queue
 * pair the ULP would have to keep the queue pair alive that long, but a ULP does not know of
 * stand-ins. So stand-ins are freed by Tasks RCU: iw_cm does not sleep between reading and using
 * the pointer, and kwarp_cm_modify_stand_in() does not sleep until it needs the stand-in no more.
 * So when each task has slept, been in user mode or been idle once, no task uses the stand-in.
 * new_lock is a raw spinlock because with PREEMPT_RT waiting for an ordinary one is sleeping.
 *
 * iw_cm does not use the stand-in of an id that was never ESTABLISHED, for example because connect
 * has failed: such a stand-in is freed at once. So a program that fails to connect in a loop does
 * not fill the memory.
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
	/*
	 * After this no call can take the stand-in. If a call has taken it already, the node is
	 * in no list, and this changes nothing.
	 */
	list_del_init(&s->node);
	ep = s->ep;
	s->ep = NULL;
	raw_spin_unlock_irqrestore(&kdev->cm.new_lock, irqflags);
	in_use = s->exposed;
	if (ep) {
		/*
		 * ep->reported is set before the event that makes the id ESTABLISHED, so before
		 * iw_cm can use the stand-in.
		 */
		in_use |= READ_ONCE(ep->reported);
		kwarp_ep_put(ep);
	}
	if (in_use) {
		atomic_inc(&num_returned);
		call_rcu_tasks(&s->rcu, free_stand_in);
	} else {
		kfree(s);
	}
}

void kwarp_cm_exit_stand_ins(void)
{
#ifdef CONFIG_TASKS_RCU
	rcu_barrier_tasks();
#else
	rcu_barrier();
#endif
}

/*
 * Return: the stand-in that kwarp_get_qp() has given to the current task, and to which iw_cm has a
 * reference; NULL if the task has got the device's no_qp.
 */
struct ib_qp *kwarp_cm_take_stand_in(struct kwarp_dev *kdev)
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

/*
 * The id will become ESTABLISHED even though accept() does not bind this stand-in: so the stand-in
 * must be freed by Tasks RCU. Context: process, the accept() that took the stand-in.
 */
void kwarp_cm_expose_stand_in(struct ib_qp *ibqp)
{
	if (ibqp != &to_kdev(ibqp->device)->cm.no_qp)
		to_stand_in(ibqp)->exposed = true;
}

/* The ULP may connect the endpoint's queue pair. Before the first upcall for the id. */
void kwarp_cm_bind_stand_in(struct ib_qp *ibqp, struct kwarp_ep *ep)
{
	unsigned long irqflags;

	lockdep_assert_held(&ep->mutex);
	kwarp_ep_get(ep);
	raw_spin_lock_irqsave(&ep->kdev->cm.new_lock, irqflags);
	to_stand_in(ibqp)->ep = ep;
	raw_spin_unlock_irqrestore(&ep->kdev->cm.new_lock, irqflags);
}

/* Does not sleep, see kwarp_qp_rem_ref(). */
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
 * kwarp_cm_modify_stand_in - end the stream of a stand-in's endpoint, for iw_cm
 * @ibqp: from kwarp_get_qp(); may have been returned since iw_cm read the pointer
 * @graceful: true (modify to SQD): end the stream after all posted work requests; false (modify to
 *	ERR): end the stream at once
 *
 * Context: process; sleeps, but only after it has a reference to the endpoint. No might_sleep() at
 * the beginning: might_sleep() may be a quiescent state of Tasks RCU, and then the stand-in could
 * be freed too early.
 * Return: 0; -EINVAL if the stand-in is bound to no endpoint.
 */
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful)
{
	struct kwarp_ep *ep = stand_in_ep(ibqp);
	struct kwarp_qp *qp;

	if (!ep)
		return -EINVAL;
	kwarp_ep_lock(ep);
	/*
	 * Handle a pending DOWN (end of the stream) first. It sets ep->qp to NULL: the QP may have
	 * a new stream already, which must not be closed.
	 */
	kwarp_ep_run(ep);
	qp = ep->qp;
	if (qp) {
		kwarp_qp_get(qp);
		kwarp_qp_begin_close(qp, graceful);
	}
	kwarp_ep_unlock_put(ep);
	if (qp) {
		kwarp_qp_run(qp);
		kwarp_qp_put(qp);
	}
	return 0;
}
