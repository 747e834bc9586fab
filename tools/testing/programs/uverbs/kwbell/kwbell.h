/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbell is a test program for doorbells: files on which an ioctl() ("ring") tells the driver that
 * requests were posted. A doorbell belongs to a context (one opening of the device), and only
 * doorbells of that context may ring for its queue pairs.
 */
#ifndef KWBELL_H
#define KWBELL_H

#include <rdma/kwarp-abi.h>

#include "kwtest.h"
#include "../kwuverbs.h"

#define BELL_SEND		KWARP_IOC_POSTED_SEND
#define BELL_RECV		KWARP_IOC_POSTED_RECV
#define BELL_MAX_THREADS	16

/* Functions of context.c: contexts and queue pairs */

/**
 * struct bell_context - the device, opened once
 * @fd: uverbs device
 * @bell: file of its doorbell
 * @pd, @cq: handles of a protection domain and of a completion queue
 * @qpn: number of a queue pair in its first state, without any connection
 */
struct bell_context {
	int fd, bell;
	uint32_t pd, cq;
	uint32_t qpn;
};

/*
 * A queue pair, of the context bell_own below, in the error state: each request posted to it is
 * flushed at once. The headers are those of its send queue, receive queue, and completion queue.
 */
struct bell_dead {
	uint32_t qpn;
	struct kwarp_ring_hdr *sq, *rq, *cq;
};

/* Option -d: the device. */
extern const char *bell_dev;

/* The tested context, and another one. Neither may ring for queue pairs of the other. */
extern struct bell_context bell_own, bell_stranger;
extern uint32_t bell_destroyed;	/* number of a former queue pair of bell_own */
extern struct bell_dead bell_dead;

/* Open a doorbell of the context of @fd. */
int bell_open_bell(int fd);
void bell_open_context(struct bell_context *x);
void bell_make_dead(void);
/* Map its rings again: a child does not inherit the mappings. */
void bell_map_dead(void);
void bell_make_destroyed(void);

/* calls.c: a table of calls of a doorbell, and the verdicts on all checks */

/* Count and report one check. @got is an errno, for the message. */
extern unsigned int bell_n_ok, bell_n_failed;
void bell_verdict(const char *where, const char *what, bool good, int got);
/* Make one call of doorbell @bell. Return: 0 or errno. */
int bell_ring(int bell, unsigned long cmd, unsigned long number);
/* Make each call of the table, and post requests that must complete. */
void bell_try_calls(const char *where, int bell);
/* Make each call of the table after the device is gone. */
void bell_try_gone(void);

/* gone.c: ring until the device is gone */
/* Option -t. */
extern unsigned int bell_threads;
void bell_try_until_gone(void);

#endif /* KWBELL_H */
