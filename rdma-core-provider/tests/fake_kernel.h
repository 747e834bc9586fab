/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: the other side of the shared queues, for tests without a kernel.
 *
 * Rings are ordinary memory; ioctl() is diverted here by the linker.
 */
#ifndef KWARP_FAKE_KERNEL_H
#define KWARP_FAKE_KERNEL_H

#include <semaphore.h>
#include <stdio.h>

#include "kwarp.h"

#define SLOTS		8
#define MAX_WR		6	/* granted: fewer than slots */
#define MAX_SGE		4
#define MAX_INLINE	64
#define SQ_STRIDE	128
#define RQ_STRIDE	128
#define DOORBELL	1000
#define QPN		77

extern int failures;

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);    \
			failures++;                                            \
		}                                                              \
	} while (0)

struct fake_kernel {
	int rings;
	int lists;			/* calls that rang for several */
	struct kwarp_cq *completes;	/* a doorbell adds an entry there, if set */
	int err;			/* errno of as many doorbells as @fails says */
	int fails;
	unsigned long last_cmd;
	unsigned long last_arg;
	struct kwarp_ring_hdr *quiet;	/* this ring is looked after, whatever the doorbell says */
	sem_t *wake;			/* posted by a doorbell, if set */
};

extern struct fake_kernel kernel;
extern struct kwarp_context ctx;	/* has no features unless a test gives it some */

/**
 * struct test - one line of the TAP output
 * @name: what it shows
 * @run: counts in @failures
 */
struct test {
	const char *name;
	void (*run)(void);
};

/* ext_test.c; the last one has no name */
extern const struct test ext_tests[];

/* The diverted one. */
int __wrap_ioctl(int fd, unsigned long cmd, ...);

void wq_make(struct kwarp_wq *wq, uint32_t stride, uint32_t start, unsigned int doorbell);
struct kwarp_cq *cq_make(uint32_t start);
void cq_drop(struct kwarp_cq *cq);
void cq_add(struct kwarp_cq *cq, uint64_t id, uint32_t qpn);
struct kwarp_qp *qp_make(uint32_t start);
void qp_drop(struct kwarp_qp *qp);

struct kwarp_sqe *sq_slot(struct kwarp_qp *qp, uint32_t i);
struct kwarp_rqe *rq_slot(struct kwarp_wq *wq, uint32_t i);
int send_one(struct kwarp_qp *qp, struct ibv_send_wr *wr);

#endif /* KWARP_FAKE_KERNEL_H */
