// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The process that has called connect or accept.
 *
 * Until the upcall that answers a connect or accept, iw_cm's disconnect and destroy of the id wait,
 * and no signal interrupts them. When a process ends, the kernel closes its files, the one that it
 * opened last first. If that is the file of rdma_cm, its release waits in iw_cm, and the queue
 * pair, whose end would fail the connection, is not destroyed before that. So an endpoint looks
 * from time to time whether the process is ending.
 *
 * The connection belongs to the process that has made the call. Another process may have inherited
 * the file of rdma_cm, but rdma_cm lets it make no call: it is not the one that opened the file.
 */
#include "startup.h"

#include <rdma/ib_verbs.h>

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "../door.h"
#include "../qp/stream.h"

/* NULL: the queue pair belongs to the kernel. Context: process, that of the ULP's call. */
struct pid *kwarp_caller_get(struct kwarp_qp *qp)
{
	return kwarp_qp_ib(qp)->uobject ? get_pid(task_tgid(current)) : NULL;
}

/*
 * Return: true from the signal or call on that the process ends; the end of one of its threads, and
 * exec, are no end.
 */
bool kwarp_caller_ends(struct pid *pid)
{
	KWARP_DOOR(kwarp_caller_ends, pid);
	struct task_struct *task;
	bool ends;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	ends = !task || READ_ONCE(task->signal->flags) & SIGNAL_GROUP_EXIT;
	rcu_read_unlock();
	return ends;
}
