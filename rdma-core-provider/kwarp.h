/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: the functions that the files of the libibverbs provider call in each other.
 */
#ifndef KWARP_H
#define KWARP_H

#include "objects.h"

/* kwarp.c */
bool kwarp_has_link(const char *sysfs);

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

/* doorbell.c */
int kwarp_ring_doorbell(const struct kwarp_context *ctx, const struct kwarp_wq *wq);
int kwarp_posted_send(struct kwarp_qp *qp);
void kwarp_ring_left_doorbells(struct kwarp_cq *cq, unsigned int most);
void kwarp_forget_left(struct kwarp_qp *qp);

/* post.c */
const char *kwarp_op_name(enum ibv_wr_opcode opcode);
int kwarp_put_bind(const struct kwarp_qp *qp, struct kwarp_sqe *sqe,
		   const struct ibv_mw *mw, uint32_t rkey,
		   const struct ibv_mw_bind_info *info);
int kwarp_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int kwarp_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);

/* recv.c */
int kwarp_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);
int kwarp_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);

/* wr.c */
#define KWARP_QP_EX_OPS                                                        \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |                     \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_LOCAL_INV |                 \
	 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW)
/* With KWARP_FEATURE_SEND_IMM: queue pairs that are wired later may post it. */
#define KWARP_QP_EX_OPS_SEND_IMM IBV_QP_EX_WITH_SEND_WITH_IMM
/* Additional operations with KWARP_FEATURE_RFC7306. */
#define KWARP_QP_EX_OPS_RFC7306                                                \
	(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |                                  \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                                   \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
void kwarp_qp_init_ex(struct kwarp_qp *qp);

/* ring.c */
/**
 * struct kwarp_wq_layout - layout of a work queue, from the kernel's answer
 * @at: address of the mapped ring
 * @len: octets of the ring
 * @size: number of slots
 * @stride: octets per slot
 * @max_wr: entries that may be posted at a time
 * @max_sge: elements that an entry may have
 * @need: octets of the largest entry
 */
struct kwarp_wq_layout {
	void *at;
	uint32_t len;
	uint32_t size;
	uint32_t stride;
	uint32_t max_wr;
	uint32_t max_sge;
	uint64_t need;
};

int kwarp_map_memory(struct kwarp_map *m, struct ibv_context *ctx, uint64_t key, size_t len);
void kwarp_unmap_memory(struct kwarp_map *m);
void *kwarp_map_ring(struct ibv_context *ctx, uint64_t key, uint32_t len,
		     uint32_t size, uint32_t stride);
int kwarp_wq_place(struct kwarp_wq *wq, struct ibv_context *ctx,
		   const struct kwarp_wq_layout *lay);
void kwarp_wq_init(struct kwarp_wq *wq, struct ibv_pd *pd);
void kwarp_wq_fini(struct kwarp_wq *wq);
void kwarp_wq_begin_change(struct kwarp_wq *wq);
void kwarp_wq_end_change(struct kwarp_wq *wq);

/* qp.c */
struct ibv_qp *kwarp_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr);
struct ibv_qp *kwarp_create_qp_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr);
int kwarp_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int kwarp_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr);
int kwarp_destroy_qp(struct ibv_qp *ibqp);

/* strict_open.c */
void kwarp_strict_init(struct kwarp_context *ctx);
void kwarp_strict_close(struct kwarp_context *ctx);

/* srq.c */
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
