/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: fake of the kernel's side of the shared queues, for tests without a kernel.
 *
 * Rings are ordinary memory.  The linker redirects ioctl() to __wrap_ioctl().
 */
#ifndef KWARP_FAKE_KERNEL_H
#define KWARP_FAKE_KERNEL_H

#include <semaphore.h>
#include <stdio.h>

#include "kwarp.h"

#define SLOTS		8
#define MAX_WR		6	/* entries that may be posted at a time: fewer than SLOTS */
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
	int rings;			/* doorbells; one call for n queue pairs counts as n */
	int lists;			/* ioctl() calls that rang for several queue pairs */
	struct kwarp_cq *completes;	/* if set, a doorbell adds an entry to this CQ */
	int err;			/* errno of the next @fails doorbells */
	int fails;			/* number of doorbells that fail */
	unsigned long last_cmd;
	unsigned long last_arg;
	struct kwarp_ring_hdr *quiet;	/* if set, each doorbell clears the flags of this header */
	sem_t *wake;			/* if set, a doorbell posts this semaphore */
	void (*reset)(void);		/* if set, the reset of a queue pair calls this */
};

extern struct fake_kernel kernel;
extern struct kwarp_context ctx;	/* has no features unless a test gives it some */

/**
 * struct test - a test, which prints one line of TAP
 * @name: name in the output
 * @run: test function; adds to the global @failures
 */
struct test {
	const char *name;
	void (*run)(void);
};

/* The tests of one file each; the last element of an array has no name. */
extern const struct test send_tests[];
extern const struct test bind_tests[];
extern const struct test held_tests[];
extern const struct test cq_tests[];
extern const struct test resize_tests[];
extern const struct test ext_tests[];
extern const struct test ext_object_tests[];
extern const struct test inject_tests[];
extern const struct test say_tests[];
extern const struct test strict_tests[];

/* Elements for requests, one more than an entry has room for. */
extern struct ibv_sge test_sges[MAX_SGE + 1];

/* Called instead of ioctl(). */
int __wrap_ioctl(int fd, unsigned long cmd, ...);
int __wrap_ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			    struct ibv_qp_init_attr *init, struct ibv_query_qp *cmd,
			    size_t cmd_size);

void wq_make(struct kwarp_wq *wq, uint32_t stride, uint32_t start, unsigned int doorbell);
struct kwarp_cq *cq_make(uint32_t start);
void cq_drop(struct kwarp_cq *cq);
void cqe_put(struct kwarp_cqe *ring, uint32_t slots, uint32_t i, const struct kwarp_cqe *cqe);
void cq_add(struct kwarp_cq *cq, uint64_t id, uint32_t qpn);
struct kwarp_qp *qp_make(uint32_t start);
void qp_drop(struct kwarp_qp *qp);

struct kwarp_sqe *sq_slot(struct kwarp_qp *qp, uint32_t i);
struct kwarp_rqe *rq_slot(struct kwarp_wq *wq, uint32_t i);
int send_one(struct kwarp_qp *qp, struct ibv_send_wr *wr);

#endif /* KWARP_FAKE_KERNEL_H */
