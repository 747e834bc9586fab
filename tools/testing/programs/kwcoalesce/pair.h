/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwcoalesce is a test program for held requests (posted, but not sent at once by the device).
 * This file: the two ends of a connection, both in one process: connecting, posting and polling.
 * The tests are repeated in rounds; option -n is their number.
 */
#ifndef KWCOALESCE_PAIR_H
#define KWCOALESCE_PAIR_H

#include <pthread.h>
#include <semaphore.h>

#include "kwcm.h"
#include "kwtest.h"

#define KC_WAIT_MS		20000

/**
 * struct kc_end - one end of the connection
 * @cq: completion queues: [0] of requests, [1] of receives
 * @posted: requests that were posted
 * @done: requests that have completed
 * @heard: messages that have arrived
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
 * struct kc_pair - both ends of a connection
 * @a: the end that writes
 * @b: the end whose memory is written
 * @round: number of the present round, from 0 on
 * @us: case delay: what each round has measured, microseconds
 * @jobs, @thread: case server: messages to be answered, the threads of the server
 * @held: rounds in which a Write was not sent when it was posted
 * @missed: rounds of @held in which the poll or the request for an event did not send it, either
 * @late: longest time that a Write took to arrive, milliseconds
 */
struct kc_pair {
	struct rdma_cm_id *listener;
	struct kc_end a, b;
	unsigned int round;
	unsigned int *us;
	sem_t jobs;
	pthread_t thread[2];
	unsigned int held, missed;
	int64_t late;
};

void kc_connect_pair(struct kc_pair *p, const char *addr, const char *port);
void kc_disconnect_pair(struct kc_pair *p);

/* Take up to 16 completions from cq[which]. */
void kc_poll_cq(struct kc_end *e, int which);
/* Poll, at least once, until all requests are complete. */
void kc_poll_all(struct kc_end *e);
/* Request an event for the next completion in cq[which]. */
void kc_arm(struct kc_end *e, int which);
/* Post a request for the message in slot @i of e->buf; a slot has room for one message. */
void kc_post_request(struct kc_end *e, struct ibv_send_wr *wr, unsigned int i);
/* Post a Write from @p->a to @p->b. kw_fill() makes the data from the number of the Write. */
void kc_post_write(struct kc_pair *p);
void kc_post_recv(struct kc_end *e);
/* True if the last Write has arrived, and so all Writes before it. */
bool kc_arrived(struct kc_pair *p);
/*
 * Wait until the last Write has arrived, without any system call: a program with SCHED_FIFO then
 * never gives up its processor.
 */
void kc_spin_until_arrived(struct kc_pair *p);

#endif /* KWCOALESCE_PAIR_H */
