// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: fake of the kernel's side of the shared queues, for tests without a kernel.
 */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fake_kernel.h"

int failures;
struct fake_kernel kernel;

/* Store an entry as the kernel does: its flags, with the phase, are last. */
void cqe_put(struct kwarp_cqe *ring, uint32_t slots, uint32_t i, const struct kwarp_cqe *cqe)
{
	const uint16_t other = cqe->flags & ~(KWARP_CQE_EVEN | KWARP_CQE_ODD);
	struct kwarp_cqe *slot = &ring[i % slots];

	memcpy(slot, cqe, offsetof(struct kwarp_cqe, flags));
	__atomic_store_n(&slot->flags, other | (i / slots % 2 ? KWARP_CQE_ODD : KWARP_CQE_EVEN),
			 __ATOMIC_RELEASE);
}

void cq_add(struct kwarp_cq *cq, uint64_t id, uint32_t qpn)
{
	const struct kwarp_cqe cqe = {
		.id = id,
		.timestamp = id * 100,
		.qpn = qpn,
		.byte_len = id * 10,
		.opcode = KWARP_WC_RECV,
	};

	/* Like the kernel, lose what has no room. */
	if (cq->hdr->prod - __atomic_load_n(&cq->hdr->cons, __ATOMIC_ACQUIRE) <= cq->mask)
		cqe_put(cq->entries, cq->mask + 1, cq->hdr->prod++, &cqe);
}

/* In kernel.rings a doorbell for several queue pairs counts as one doorbell for each of them. */
static void ring_list(int fd, const struct kwarp_doorbells *bells)
{
	uint32_t i;

	CHECK(bells->n > 1 && bells->n <= 16);
	kernel.lists++;
	for (i = 0; i < bells->n; i++)
		__wrap_ioctl(fd, KWARP_IOC_POSTED_SEND, bells->qpn[i]);
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	va_list args;

	CHECK(fd == DOORBELL);
	if (cmd == KWARP_IOC_POSTED_SENDS) {
		va_start(args, cmd);
		ring_list(fd, va_arg(args, const struct kwarp_doorbells *));
		va_end(args);
		return 0;
	}
	kernel.rings++;
	if (kernel.wake) {
		sem_post(kernel.wake);
		return 0;
	}
	kernel.last_cmd = cmd;
	va_start(args, cmd);
	kernel.last_arg = va_arg(args, unsigned int);
	va_end(args);
	if (kernel.completes)
		cq_add(kernel.completes, 1, QPN);
	if (kernel.quiet)
		kernel.quiet->flags = 0;
	if (!kernel.fails)
		return 0;
	kernel.fails--;
	errno = kernel.err;
	return -1;
}

static struct ibv_device device = { .name = "kw0" };

struct kwarp_context ctx = {
	.ibv_ctx.context = { .device = &device, .abi_compat = __VERBS_ABI_IS_EXTENDED },
	.doorbell = DOORBELL,
};

struct ibv_sge test_sges[MAX_SGE + 1] = {
	{ .addr = 0x1000, .length = 10, .lkey = 1 },
	{ .addr = 0x2000, .length = 20, .lkey = 2 },
	{ .addr = 0x3000, .length = 30, .lkey = 3 },
	{ .addr = 0x4000, .length = 40, .lkey = 4 },
	{ .addr = 0x5000, .length = 50, .lkey = 5 },
};

static struct kwarp_ring_hdr *ring_alloc(size_t octets)
{
	struct kwarp_ring_hdr *hdr =
		calloc(1, KWARP_RING_ENTRIES_OFFSET + octets);

	if (!hdr)
		abort();
	return hdr;
}

void wq_make(struct kwarp_wq *wq, uint32_t stride, uint32_t start,
	     unsigned int doorbell)
{
	struct kwarp_ring *ring = &wq->ring;

	pthread_spin_init(&wq->lock, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&wq->change, NULL);
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
	wq->qpn = QPN;
	wq->doorbell = doorbell;
}

struct kwarp_cq *cq_make(uint32_t start)
{
	struct kwarp_cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		abort();
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&cq->resize, NULL);
	pthread_cond_init(&cq->switched, NULL);
	pthread_spin_init(&cq->left_lock, PTHREAD_PROCESS_PRIVATE);
	list_head_init(&cq->left);
	cq->vcq.cq.context = &ctx.ibv_ctx.context;
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

void cq_drop(struct kwarp_cq *cq)
{
	free(cq->hdr);
	free(cq);
}

struct kwarp_qp *qp_make(uint32_t start)
{
	struct kwarp_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		abort();
	memset(&kernel, 0, sizeof(kernel));
	ctx.features = 0;
	qp->vqp.qp.context = &ctx.ibv_ctx.context;
	qp->vqp.qp.qp_num = 5;
	qp->vqp.qp.send_cq = &cq_make(0)->vcq.cq;
	qp->vqp.qp.recv_cq = &cq_make(0)->vcq.cq;
	qp->left[0].qp = qp;
	qp->left[1].qp = qp;
	qp->max_inline = MAX_INLINE;
	wq_make(&qp->sq, SQ_STRIDE, start, KWARP_IOC_POSTED_SEND);
	wq_make(&qp->rq, RQ_STRIDE, start, KWARP_IOC_POSTED_RECV);
	kwarp_qp_init_ex(qp);
	return qp;
}

void qp_drop(struct kwarp_qp *qp)
{
	struct ibv_cq *scq = qp->vqp.qp.send_cq, *rcq = qp->vqp.qp.recv_cq;

	kwarp_forget_left(qp);
	if (scq != rcq)
		cq_drop(to_kcq(scq));
	cq_drop(to_kcq(rcq));
	free(qp->sq.ring.hdr);
	free(qp->rq.ring.hdr);
	free(qp);
}

/* Return: entry @i of the send queue, as the kernel would read it; @i: index, free running. */
struct kwarp_sqe *sq_slot(struct kwarp_qp *qp, uint32_t i)
{
	return (void *)(qp->sq.ring.entries + (i % SLOTS) * SQ_STRIDE);
}

struct kwarp_rqe *rq_slot(struct kwarp_wq *wq, uint32_t i)
{
	return (void *)(wq->ring.entries + (i % SLOTS) * RQ_STRIDE);
}

/* Post @wr.  If the post fails, expect that bad_wr is @wr. */
int send_one(struct kwarp_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int ret = kwarp_post_send(&qp->vqp.qp, wr, &bad);

	CHECK(bad == (ret ? wr : NULL));
	return ret;
}
