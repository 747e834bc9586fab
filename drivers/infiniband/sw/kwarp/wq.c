// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The module's workqueues. */
#include "wq.h"

#include <linux/errno.h>
#include <linux/workqueue.h>

#include "compat.h"

/*
 * All but kwarp_home_wq are WQ_UNBOUND: a stream's work should run on an idle processor, not where
 * the softirq that queued it happened to run.  All are WQ_MEM_RECLAIM: a storage protocol may use
 * the connection to write out memory.
 */
struct workqueue_struct *kwarp_wq;
struct workqueue_struct *kwarp_tx_wq;
struct workqueue_struct *kwarp_home_wq;
struct workqueue_struct *kwarp_cm_wq;

/*
 * kwarp_cm_wq is destroyed last, because the timers of endpoints are items of kwarp_wq, and queue
 * work on kwarp_cm_wq.
 */
void kwarp_wq_exit(void)
{
	if (kwarp_tx_wq)
		destroy_workqueue(kwarp_tx_wq);
	if (kwarp_home_wq)
		destroy_workqueue(kwarp_home_wq);
	if (kwarp_wq)
		destroy_workqueue(kwarp_wq);
	if (kwarp_cm_wq)
		destroy_workqueue(kwarp_cm_wq);
}

int kwarp_wq_init(void)
{
	const unsigned int flags = WQ_UNBOUND | WQ_MEM_RECLAIM | WQ_HIGHPRI;

	kwarp_wq = alloc_workqueue("kwarp", flags, 0);
	kwarp_tx_wq = alloc_workqueue("kwarp_tx", flags, 0);
	kwarp_home_wq = alloc_workqueue("kwarp_home", WQ_PERCPU | WQ_CPU_INTENSIVE |
					WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	kwarp_cm_wq = alloc_ordered_workqueue("kwarp_cm", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	if (kwarp_wq && kwarp_tx_wq && kwarp_home_wq && kwarp_cm_wq)
		return 0;
	kwarp_wq_exit();
	return -ENOMEM;
}
