/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: objects of the libibverbs provider and the calls between its files.
 */
#ifndef KWARP_H
#define KWARP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <ccan/list.h>
#include <infiniband/driver.h>

#include "kwarp_abi.h"
#include "queue.h"

/**
 * struct kwarp_context - an open device
 * @ibv_ctx: libibverbs' part
 * @doorbell: file whose ioctl() is the doorbell of all queue pairs
 * @features: KWARP_FEATURE_* that the kernel module knows
 */
struct kwarp_context {
	struct verbs_context ibv_ctx;
	int doorbell;
	uint64_t features;
};

/**
 * struct kwarp_cq - completion queue
 * @vcq: libibverbs' part
 * @lock: protects @lost and everything from @hdr to @empty, so the ring is not replaced under it
 * @single_threaded: the program promised that only one thread at a time uses the CQ: no locking
 * @lost: the ring could not be mapped after a resize; polls fail
 * @hdr: header of the mapped ring
 * @entries: first entry
 * @len: octets mapped
 * @mask: entries - 1
 * @cons: next entry to read
 * @released: value of hdr->cons: entries before it were released to the kernel
 * @cur: entry that the read_*() calls of an extended CQ look at
 * @polls: value of hdr->polls
 * @empty: the last ibv_next_poll() has found nothing
 * @busy: number of polls that found something, since the last doorbell, while there were left
 *	requests; a hint, accessed without a lock
 * @left_lock: protects @left and its nodes; no other lock is taken under it
 * @left: queue pairs with left requests: requests in the ring for which no doorbell has been
 *	rung yet, see post.c
 * @n_left: number of queue pairs in @left; may be read without the lock
 */
struct kwarp_cq {
	struct verbs_cq vcq;
	pthread_spinlock_t lock;
	bool single_threaded;
	bool lost;

	struct kwarp_ring_hdr *hdr;
	struct kwarp_cqe *entries;
	size_t len;
	uint32_t mask;
	uint32_t cons;
	uint32_t released;
	const struct kwarp_cqe *cur;

	uint32_t polls;
	bool empty;
	unsigned int busy;
	pthread_spinlock_t left_lock;
	struct list_head left;
	unsigned int n_left;
};

/**
 * struct kwarp_wq - send, receive or shared receive queue
 * @lock: protects @ring; the lock of a send queue also kwarp_qp.wr
 * @single_threaded: the queue was made in a thread domain, so that only one thread at a time
 *	uses it: no locking
 * @ring: the ring
 * @max_sge: elements that an entry may have
 * @qpn: number of the queue pair, for the doorbell
 * @doorbell: command of the doorbell, KWARP_IOC_POSTED_*.  A shared receive queue has none.
 */
struct kwarp_wq {
	pthread_spinlock_t lock;
	bool single_threaded;
	struct kwarp_ring ring;
	uint32_t max_sge;
	uint32_t qpn;
	unsigned int doorbell;
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
 * @rung: producer index of the send queue when its doorbell was rung last; a hint
 * @left: nodes in kwarp_cq.left: left[0] of its send CQ, left[1] of its receive CQ if
 *	that is a different CQ
 * @wr: batch between ibv_wr_start() and ibv_wr_complete(), under sq.lock
 */
struct kwarp_qp {
	struct verbs_qp vqp;
	struct kwarp_map map;
	struct kwarp_wq sq;
	struct kwarp_wq rq;
	uint64_t features;
	uint32_t max_inline;
	bool sig_all;
	uint32_t rung;
	struct kwarp_left left[2];

	struct {
		uint32_t first;		/* ring.prod at the beginning of the batch */
		int err;		/* first error: the batch will not be published */
		struct kwarp_sqe *sqe;	/* entry of the current request */
	} wr;
};

struct kwarp_srq {
	struct ibv_srq ibv_srq;
	struct kwarp_map map;
	struct kwarp_wq wq;
};

static inline void kwarp_wq_lock(struct kwarp_wq *wq)
{
	if (!wq->single_threaded)
		pthread_spin_lock(&wq->lock);
}

static inline void kwarp_wq_unlock(struct kwarp_wq *wq)
{
	if (!wq->single_threaded)
		pthread_spin_unlock(&wq->lock);
}

static inline struct kwarp_context *to_kctx(struct ibv_context *ctx)
{
	return container_of(ctx, struct kwarp_context, ibv_ctx.context);
}

/* May the queue pair use immediate data and atomic operations? */
static inline bool kwarp_has_rfc7306(const struct kwarp_qp *qp)
{
	return qp->features & KWARP_FEATURE_RFC7306;
}

static inline struct kwarp_cq *to_kcq(struct ibv_cq *cq)
{
	return container_of(cq, struct kwarp_cq, vcq.cq);
}

static inline struct kwarp_qp *to_kqp(struct ibv_qp *qp)
{
	return container_of(qp, struct kwarp_qp, vqp.qp);
}

static inline struct kwarp_srq *to_ksrq(struct ibv_srq *srq)
{
	return container_of(srq, struct kwarp_srq, ibv_srq);
}

/* cq.c */
struct ibv_cq *kwarp_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector);
struct ibv_cq_ex *kwarp_create_cq_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr);
int kwarp_resize_cq(struct ibv_cq *ibcq, int cqe);
int kwarp_destroy_cq(struct ibv_cq *ibcq);

/* poll.c */
void kwarp_cq_init_ex(struct kwarp_cq *cq, uint64_t wc_flags);
void kwarp_cq_lock(struct kwarp_cq *cq);
void kwarp_cq_unlock(struct kwarp_cq *cq);
void kwarp_cq_forget_qp(struct kwarp_cq *cq, uint32_t qpn);
int kwarp_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
int kwarp_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);

/* post.c */
int kwarp_ring_doorbell(const struct kwarp_context *ctx, const struct kwarp_wq *wq);
int kwarp_posted_send(struct kwarp_qp *qp);
void kwarp_ring_left_doorbells(struct kwarp_cq *cq, unsigned int most);
void kwarp_forget_left(struct kwarp_qp *qp);
int kwarp_put_bind(const struct kwarp_qp *qp, struct kwarp_sqe *sqe,
		   const struct ibv_mw *mw, uint32_t rkey,
		   const struct ibv_mw_bind_info *info);
int kwarp_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int kwarp_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);
int kwarp_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);
int kwarp_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);

/* wr.c */
#define KWARP_QP_EX_OPS                                                        \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |                     \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_LOCAL_INV |                 \
	 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW)
/* Additional operations with KWARP_FEATURE_RFC7306. */
#define KWARP_QP_EX_OPS_RFC7306                                                \
	(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |                                  \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                                   \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
void kwarp_qp_init_ex(struct kwarp_qp *qp);

/* verbs.c */
void *kwarp_map_ring(struct ibv_context *ctx, uint64_t key, uint32_t len,
		     uint32_t size, uint32_t stride);
struct ibv_qp *kwarp_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr);
struct ibv_qp *kwarp_create_qp_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr);
int kwarp_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int kwarp_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr);
int kwarp_destroy_qp(struct ibv_qp *ibqp);
struct ibv_srq *kwarp_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
int kwarp_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int mask);
int kwarp_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int kwarp_destroy_srq(struct ibv_srq *ibsrq);

/* domain.c */
bool kwarp_pd_single_threaded(struct ibv_pd *pd);
void kwarp_pd_use(struct ibv_pd *pd);
void kwarp_pd_unuse(struct ibv_pd *pd);
struct ibv_pd *kwarp_alloc_pd(struct ibv_context *ctx);
int kwarp_dealloc_pd(struct ibv_pd *ibpd);
struct ibv_td *kwarp_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr);
int kwarp_dealloc_td(struct ibv_td *ibtd);
struct ibv_pd *kwarp_alloc_parent_domain(struct ibv_context *ctx,
					 struct ibv_parent_domain_init_attr *attr);

/* mr.c */
struct ibv_mr *kwarp_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				   uint64_t iova, int fd, int access);
struct ibv_mr *kwarp_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access);
int kwarp_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
int kwarp_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		    uint32_t flags, struct ibv_sge *sge, uint32_t n);
int kwarp_dereg_mr(struct verbs_mr *vmr);
struct ibv_mw *kwarp_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int kwarp_dealloc_mw(struct ibv_mw *mw);

#endif /* KWARP_H */
