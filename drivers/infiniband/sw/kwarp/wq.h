/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The workqueues of the driver, shared by all devices. */
#ifndef KWARP_WQ_H
#define KWARP_WQ_H

struct workqueue_struct;

/*
 * kwarp_wq has work items of queue pairs, listeners and timers.  kwarp_tx_wq has transmit runners
 * (work items that send for a stream).  The two are separate because items of kwarp_wq may wait for
 * transmit runners.
 */
extern struct workqueue_struct *kwarp_wq;
extern struct workqueue_struct *kwarp_tx_wq;
/* Transmit runners of queue pairs whose consumer has chosen a processor for them. */
extern struct workqueue_struct *kwarp_home_wq;
/*
 * Endpoints of connection management. Ordered, because programs with several connections rely on
 * their Requests being reported in the order in which they were sent.  No item waits for a peer.
 */
extern struct workqueue_struct *kwarp_cm_wq;

int kwarp_wq_init(void);
void kwarp_wq_exit(void);

#endif /* KWARP_WQ_H */
