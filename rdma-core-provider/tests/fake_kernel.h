/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: the other side of the shared queues, for tests without a kernel.
 *
 * Rings are ordinary memory; write() and ibv_cmd_post_send() are diverted here
 * by the linker.
 */
#ifndef KWARP_FAKE_KERNEL_H
#define KWARP_FAKE_KERNEL_H

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kwarp.h"

#define SLOTS		8
#define MAX_WR		6	/* granted: fewer than slots */
#define MAX_SGE		4
#define MAX_INLINE	64
#define SQ_STRIDE	128
#define RQ_STRIDE	128
#define CMD_FD		1000

static int failures;

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);    \
			failures++;                                            \
		}                                                              \
	} while (0)

static struct {
	int writes;
	int ioctls;
	int err;			/* errno of the next write() */
	int ioctl_err;			/* errno of as many ioctl() as ioctl_fails says */
	int ioctl_fails;
	struct ibv_post_send last;	/* the last command written */
	sem_t *wake;			/* posted by a write, if set */
} kernel;

ssize_t __real_write(int fd, const void *buf, size_t len);
ssize_t __wrap_write(int fd, const void *buf, size_t len);
int __wrap_ibv_cmd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad);

ssize_t __wrap_write(int fd, const void *buf, size_t len)
{
	if (fd != CMD_FD)
		return __real_write(fd, buf, len);
	kernel.writes++;
	if (kernel.wake) {
		sem_post(kernel.wake);
		return len;
	}
	if (kernel.err) {
		errno = kernel.err;
		return -1;
	}
	CHECK(len == sizeof(kernel.last));
	memcpy(&kernel.last, buf, sizeof(kernel.last));
	return len;
}

int __wrap_ibv_cmd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad)
{
	CHECK(!wr);
	kernel.ioctls++;
	if (kernel.ioctl_fails) {
		kernel.ioctl_fails--;
		return kernel.ioctl_err;
	}
	return 0;
}

static struct kwarp_context ctx = {
	.ibv_ctx.context.cmd_fd = CMD_FD,
};

static struct kwarp_ring_hdr *ring_alloc(size_t octets)
{
	struct kwarp_ring_hdr *hdr =
		calloc(1, KWARP_RING_ENTRIES_OFFSET + octets);

	if (!hdr)
		abort();
	return hdr;
}

static void wq_make(struct kwarp_wq *wq, uint32_t stride, uint32_t start,
		    uint32_t cmd)
{
	struct kwarp_ring *ring = &wq->ring;

	pthread_spin_init(&wq->lock, PTHREAD_PROCESS_PRIVATE);
	ring->hdr = ring_alloc(SLOTS * stride);
	ring->entries = (uint8_t *)ring->hdr + KWARP_RING_ENTRIES_OFFSET;
	ring->stride = stride;
	ring->mask = SLOTS - 1;
	ring->max = MAX_WR;
	ring->prod = start;
	ring->cons = start;
	ring->hdr->prod = start;
	ring->hdr->cons = start;
	wq->max_sge = MAX_SGE;
	kwarp_kick_init(&wq->kick, cmd, 77);
}

static struct kwarp_qp *qp_make(uint32_t start)
{
	struct kwarp_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		abort();
	memset(&kernel, 0, sizeof(kernel));
	ctx.kick_by_ioctl = false;
	qp->vqp.qp.context = &ctx.ibv_ctx.context;
	qp->vqp.qp.qp_num = 5;
	qp->max_inline = MAX_INLINE;
	wq_make(&qp->sq, SQ_STRIDE, start, IB_USER_VERBS_CMD_POST_SEND);
	wq_make(&qp->rq, RQ_STRIDE, start, IB_USER_VERBS_CMD_POST_RECV);
	kwarp_qp_init_ex(qp);
	return qp;
}

static void qp_drop(struct kwarp_qp *qp)
{
	free(qp->sq.ring.hdr);
	free(qp->rq.ring.hdr);
	free(qp);
}

/* What the kernel finds in slot @i. */
static struct kwarp_sqe *sq_slot(struct kwarp_qp *qp, uint32_t i)
{
	return (void *)(qp->sq.ring.entries + (i % SLOTS) * SQ_STRIDE);
}

static struct kwarp_rqe *rq_slot(struct kwarp_wq *wq, uint32_t i)
{
	return (void *)(wq->ring.entries + (i % SLOTS) * RQ_STRIDE);
}

static struct kwarp_cq *cq_make(uint32_t start)
{
	struct kwarp_cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		abort();
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	cq->hdr = ring_alloc(SLOTS * sizeof(struct kwarp_cqe));
	cq->entries = (void *)((uint8_t *)cq->hdr + KWARP_RING_ENTRIES_OFFSET);
	cq->mask = SLOTS - 1;
	cq->cons = start;
	cq->released = start;
	cq->hdr->prod = start;
	cq->hdr->cons = start;
	kwarp_cq_init_ex(cq, IBV_WC_STANDARD_FLAGS);
	return cq;
}

static void cq_drop(struct kwarp_cq *cq)
{
	free(cq->hdr);
	free(cq);
}

static void cq_add(struct kwarp_cq *cq, uint64_t id, uint32_t qpn)
{
	uint32_t prod = cq->hdr->prod;

	cq->entries[prod & cq->mask] = (struct kwarp_cqe){
		.id = id,
		.qpn = qpn,
		.byte_len = id * 10,
		.opcode = KWARP_WC_RECV,
	};
	__atomic_store_n(&cq->hdr->prod, prod + 1, __ATOMIC_RELEASE);
}

#endif /* KWARP_FAKE_KERNEL_H */
