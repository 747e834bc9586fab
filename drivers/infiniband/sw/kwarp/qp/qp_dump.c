// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Prints into a debugfs file what helps to see why a queue pair is stuck. */
#include "qp.h"

#include <linux/seq_file.h>

#include "../proto/qp_fsm.h"

/*
 * Print the state of the queue pair and of its engine. Context: qp->mutex held, and the queue pair
 * is not being destroyed.
 */
static void dump_qp(struct kwarp_qp *qp, struct seq_file *m)
{
	seq_printf(m, "qp %u %s %s todo 0x%x pending 0x%lx run %d timer %s fin_sent %d refs %u\n",
		   qp->ibqp.qp_num, qp->user ? "user" : "kernel",
		   kwarp_qp_state_name(kwarp_qp_state(qp)), READ_ONCE(qp->todo),
		   READ_ONCE(qp->pending), atomic_read(&qp->run),
		   delayed_work_pending(&qp->timer) ? "pending" : "none", READ_ONCE(qp->fin_sent),
		   refcount_read(&qp->refs->n));
	kwarp_engine_dump(&qp->engine, m);
}

/**
 * kwarp_qp_dump - print the state of a queue pair, to see why it is stuck
 * @kdev: device
 * @qpn: number of the queue pair; nothing is printed if no queue pair has this number, or if the
 *	queue pair is being destroyed
 * @m: debugfs file
 *
 * Context: process, may sleep.
 */
void kwarp_qp_dump(struct kwarp_dev *kdev, u32 qpn, struct seq_file *m)
{
	struct kwarp_qp *qp = kwarp_qp_lookup(kdev, qpn);

	might_sleep();
	if (!qp)
		return;
	mutex_lock(&qp->mutex);
	if (!test_bit(KWARP_QPP_RETIRED, &qp->pending))
		dump_qp(qp, m);
	mutex_unlock(&qp->mutex);
	kwarp_qp_put(qp);
}
