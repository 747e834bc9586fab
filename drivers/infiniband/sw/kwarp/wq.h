/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_WQ_H
#define KWARP_WQ_H

struct workqueue_struct;

/*
 * One for QPs, listeners and timers, whose items may wait for a transmit runner, and so another
 * one for the runners.
 */
extern struct workqueue_struct *kwarp_wq;
extern struct workqueue_struct *kwarp_tx_wq;
/* Runners of queue pairs whose consumer has chosen a processor for them. */
extern struct workqueue_struct *kwarp_home_wq;
/*
 * Endpoints, in the order of what happens to them: programs with several connections count on
 * their Requests being seen in the order in which they were made.  Nothing in it waits for a peer.
 */
extern struct workqueue_struct *kwarp_cm_wq;

int kwarp_wq_init(void);
void kwarp_wq_exit(void);

#endif /* KWARP_WQ_H */
