// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Module: init ladder and its reverse.
 */
#include <linux/module.h>
#include <linux/workqueue.h>
#include <rdma/rdma_netlink.h>

#include "cm/cm.h"
#include "device.h"
#include "fault.h"

/*
 * Unbound: a stream's work should run where there is room, not where its softirq
 * happened to be.  Reclaim: storage may sit on top.
 */
struct workqueue_struct *kwarp_wq;
struct workqueue_struct *kwarp_tx_wq;
struct workqueue_struct *kwarp_cm_wq;

/* A timer of an endpoint, in kwarp_wq, queues the endpoint in kwarp_cm_wq: that one last. */
static void destroy_workqueues(void)
{
	if (kwarp_tx_wq)
		destroy_workqueue(kwarp_tx_wq);
	if (kwarp_wq)
		destroy_workqueue(kwarp_wq);
	if (kwarp_cm_wq)
		destroy_workqueue(kwarp_cm_wq);
}

static int create_workqueues(void)
{
	const unsigned int flags = WQ_UNBOUND | WQ_MEM_RECLAIM | WQ_HIGHPRI;

	kwarp_wq = alloc_workqueue("kwarp", flags, 0);
	kwarp_tx_wq = alloc_workqueue("kwarp_tx", flags, 0);
	kwarp_cm_wq = alloc_ordered_workqueue("kwarp_cm", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	if (kwarp_wq && kwarp_tx_wq && kwarp_cm_wq)
		return 0;
	destroy_workqueues();
	return -ENOMEM;
}

static int __init kwarp_init(void)
{
	int ret;

	ret = create_workqueues();
	if (ret)
		return ret;
	ret = kwarp_cm_init();
	if (ret)
		goto out_wq;
	kwarp_fault_init();
	ret = kwarp_link_register();
	if (ret)
		goto out_fault;
	return 0;

out_fault:
	kwarp_fault_exit();
	destroy_workqueues();
	kwarp_cm_exit();
	return ret;
out_wq:
	destroy_workqueues();
	return ret;
}

static void __exit kwarp_exit(void)
{
	kwarp_link_unregister();
	destroy_workqueues();
	kwarp_cm_exit();
	kwarp_fault_exit();
	/* Regions and endpoints are freed by RCU. */
	rcu_barrier();
}

module_init(kwarp_init);
module_exit(kwarp_exit);

MODULE_DESCRIPTION("Software iWARP RDMA device (MPA/DDP/RDMAP over TCP)");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(KWARP_VERSION);
MODULE_ALIAS_RDMA_LINK("kwarp");
/* What programs open, /dev/infiniband: Linux 7.2 does not load these for a device. */
MODULE_SOFTDEP("post: ib_uverbs rdma_ucm");
