/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: the objects of the libibverbs provider: contexts, completion and work queues, queue pairs.
 */
#ifndef KWARP_OBJECTS_H
#define KWARP_OBJECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ccan/list.h>
#include <infiniband/driver.h>
#include <util/compiler.h>

#include "kwarp_abi.h"
#include "queue.h"

/**
 * struct kwarp_context - an open device
 * @ibv_ctx: libibverbs' part
 * @doorbell: file whose ioctl() is the doorbell of all queue pairs
 * @features: KWARP_FEATURE_* that both this provider and the kernel module know
 * @max_inline: largest inline payload of any queue pair, octets
 * @inject: what KWARP_FAULT asks for, see inject.h; NULL: nothing
 * @strict: strict mode (strict.h); NULL: it is off
 */
struct kwarp_context {
	struct verbs_context ibv_ctx;
	int doorbell;
	uint64_t features;
	uint32_t max_inline;
	struct kwarp_inject *inject;
	struct kwarp_strict *strict;
};

/**
 * struct kwarp_cq - completion queue
 * @vcq: libibverbs' part
 * @lock: protects @lost and @hdr to @empty; while it is held the ring is not replaced
 * @resize: protects @resizing and @switches, together with @lock; taken before @lock; not held over
 *	the command
 * @switched: signaled at the end of a resize
 * @single_threaded: the program promised that only one thread at a time uses the CQ: no locking
 * @resizing: a thread is resizing the CQ; either lock suffices to read it
 * @switches: number of times that the ring was replaced; likewise
 * @lost: the ring could not be mapped after a resize; polls fail
 * @hdr: header of the mapped ring
 * @entries: first entry of the ring
 * @len: octets mapped
 * @mask: entries - 1
 * @cons: index of the next entry to read
 * @released: value of hdr->cons: entries before it were released to the kernel
 * @cur: copy of the entry of an extended CQ that the ibv_wc_read_*() calls read
 * @poller: thread between ibv_start_poll() and ibv_end_poll(), which has @lock; may be read without
 * @polls: number of polls so far, which is written to hdr->polls
 * @empty: the last ibv_next_poll() has found nothing
 * @busy: number of polls in a row that have found a completion while @left was not empty; 0 after
 *	a poll has rung doorbells; a hint, accessed without a lock
 * @left_lock: protects @left and its nodes; no other lock is taken under it
 * @left: queue pairs with left requests: requests in the ring for which no doorbell has been
 *	rung yet, see doorbell.c
 * @n_left: number of queue pairs in @left; may be read without the lock
 * @strict: of strict mode, or NULL
 */
struct kwarp_cq {
	struct verbs_cq vcq;
	pthread_spinlock_t lock;
	pthread_mutex_t resize;
	pthread_cond_t switched;
	bool single_threaded;
	bool resizing;
	bool lost;
	unsigned int switches;

	struct kwarp_ring_hdr *hdr;
	struct kwarp_cqe *entries;
	size_t len;
	uint32_t mask;
	uint32_t cons;
	uint32_t released;
	struct kwarp_cqe cur;
	pthread_t poller;

	uint32_t polls;
	bool empty;
	unsigned int busy;
	pthread_spinlock_t left_lock;
	struct list_head left;
	unsigned int n_left;
	struct kwarp_strict_cq *strict;
};

/**
 * struct kwarp_left - node of a queue pair in kwarp_cq.left
 * @qp: queue pair
 * @node: list node, valid if @on
 * @on: the node is in the list; written under left_lock, may be read without it
 */
struct kwarp_left {
	struct kwarp_qp *qp;
	struct list_node node;
	bool on;
};

/**
 * struct kwarp_map - memory shared with the kernel
 * @at: address; NULL: not mapped
 * @len: octets mapped
 */
struct kwarp_map {
	void *at;
	size_t len;
};

/**
 * struct kwarp_qp - queue pair
 * @vqp: libibverbs' part
 * @map: mapping with the rings of both queues
 * @sq: send queue
 * @rq: receive queue; without a ring if the QP uses an SRQ
 * @features: KWARP_FEATURE_* that are in force for this queue pair
 * @max_inline: octets of inline payload that an entry of the SQ may have
 * @sig_all: every work request is signaled
 * @wired: the program has given the peer's address, so the queue pair connects without rdma_cm; may
 *	be read without a lock
 * @rung: producer index of the send queue when its doorbell was rung last; a hint
 * @left: nodes in kwarp_cq.left: left[0] of its send CQ, left[1] of its receive CQ if
 *	that is a different CQ
 * @wr: requests that are being built between ibv_wr_start() and ibv_wr_complete(), under sq.lock
 * @strict: of strict mode, or NULL
 */
struct kwarp_qp {
	struct verbs_qp vqp;
	struct kwarp_map map;
	struct kwarp_wq sq;
	struct kwarp_wq rq;
	uint64_t features;
	uint32_t max_inline;
	bool sig_all;
	bool wired;
	uint32_t rung;
	struct kwarp_left left[2];

	struct {
		uint32_t first;		/* ring.prod at ibv_wr_start() */
		int err;		/* first error: no request will be published */
		struct kwarp_sqe *sqe;	/* entry of the current request */
	} wr;
	struct kwarp_strict_qp *strict;
};

/**
 * struct kwarp_mr - memory region
 * @vmr: libibverbs' part
 * @iova: address by which requests name the region's first octet; libibverbs does not store it
 * @access: IBV_ACCESS_*; libibverbs knows those of an ordinary registration only
 */
struct kwarp_mr {
	struct verbs_mr vmr;
	uint64_t iova;
	int access;
};

struct kwarp_srq {
	struct ibv_srq ibv_srq;
	struct kwarp_map map;
	struct kwarp_wq wq;
	struct kwarp_strict_queue *strict;	/* or NULL */
};

/* struct ibv_sge is copied to struct kwarp_sge by memcpy(). */
static_assert(sizeof(struct ibv_sge) == sizeof(struct kwarp_sge) &&
	      offsetof(struct ibv_sge, addr) == offsetof(struct kwarp_sge, addr) &&
	      offsetof(struct ibv_sge, length) == offsetof(struct kwarp_sge, length) &&
	      offsetof(struct ibv_sge, lkey) == offsetof(struct kwarp_sge, lkey),
	      "scatter/gather elements differ");

static inline struct kwarp_context *to_kctx(struct ibv_context *ctx)
{
	return container_of(ctx, struct kwarp_context, ibv_ctx.context);
}

/* May the queue pair use immediate data and atomic operations? */
static inline bool kwarp_has_rfc7306(const struct kwarp_qp *qp)
{
	return qp->features & KWARP_FEATURE_RFC7306;
}

/* May the queue pair send with immediate data, as far as the provider knows? */
static inline bool kwarp_sends_imm(const struct kwarp_qp *qp)
{
	return qp->features & KWARP_FEATURE_SEND_IMM &&
	       __atomic_load_n(&qp->wired, __ATOMIC_RELAXED);
}

static inline struct kwarp_cq *to_kcq(struct ibv_cq *cq)
{
	return container_of(cq, struct kwarp_cq, vcq.cq);
}

static inline struct kwarp_qp *to_kqp(struct ibv_qp *qp)
{
	return container_of(qp, struct kwarp_qp, vqp.qp);
}

static inline struct kwarp_mr *to_kmr(struct ibv_mr *mr)
{
	return container_of(mr, struct kwarp_mr, vmr.ibv_mr);
}

static inline struct kwarp_srq *to_ksrq(struct ibv_srq *srq)
{
	return container_of(srq, struct kwarp_srq, ibv_srq);
}

#endif /* KWARP_OBJECTS_H */
