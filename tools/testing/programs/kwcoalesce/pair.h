/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwcoalesce: two ends of a connection in one process.
 */
#ifndef KWCOALESCE_PAIR_H
#define KWCOALESCE_PAIR_H

#include "kwcm.h"
#include "kwtest.h"

#define KC_WAIT_MS		20000

/**
 * struct kc_end - one end of the connection
 * @cq: of requests, and of receives
 * @posted: requests
 * @done: requests that have completed
 * @heard: messages that have come
 */
struct kc_end {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[2];
	struct ibv_mr *mr;
	uint8_t *buf;
	unsigned int posted, done, heard;
};

/**
 * struct kc_pair - both
 * @a: it writes
 * @b: to this one
 * @held: rounds in which a Write has not left when it was posted
 * @missed: those of them in which it did not leave right after that, either
 * @late: milliseconds that one has taken, at most
 */
struct kc_pair {
	struct rdma_cm_id *listener;
	struct kc_end a, b;
	unsigned int held, missed;
	int64_t late;
};

void kc_connect_pair(struct kc_pair *p, const char *addr, const char *port);
void kc_disconnect_pair(struct kc_pair *p);

void kc_poll_cq(struct kc_end *e, int which);
/* Until all has completed; one poll at least. */
void kc_poll_all(struct kc_end *e);
void kc_arm(struct kc_end *e, int which);
void kc_post_request(struct kc_end *e, struct ibv_send_wr *wr, unsigned int i);
/* The number of a Write is the key of its contents. */
void kc_post_write(struct kc_pair *p);
void kc_post_recv(struct kc_end *e);
/* True if the last Write has arrived, and so all Writes before it. */
bool kc_arrived(struct kc_pair *p);
/* Spin without a system call: a program with SCHED_FIFO never gives up its processor. */
void kc_spin_until_arrived(struct kc_pair *p);

#endif /* KWCOALESCE_PAIR_H */
