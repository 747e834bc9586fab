/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verbs: argument checks and calls between the RDMA core and the layers below, nothing else.
 * All run in process context unless their comment says otherwise.  Errnos are those of the manual
 * pages of the verbs.
 */
#ifndef KWARP_VERBS_VERBS_H
#define KWARP_VERBS_VERBS_H

#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/uverbs_ioctl.h>

#include "../account.h"
#include "../compat.h"
#include "../counts.h"
#include "../limits.h"

struct kwarp_dev;
struct kwarp_mr;
struct kwarp_qp;
struct kwarp_ring;
struct rdma_user_mmap_entry;

/*
 * @features: KWARP_FEATURE_* that provider and module both know; immutable. @charge: its account
 * also pays for all objects.
 */
struct kwarp_ucontext {
	struct ib_ucontext ibuc;
	u64 features;
	struct kwarp_charge charge;
};

static inline struct kwarp_ucontext *to_kuc(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct kwarp_ucontext, ibuc);
}

/*
 * A lookup of the window's STag finds @mr, which may outlive struct kwarp_mw, because it is freed
 * after an RCU grace period.
 */
struct kwarp_mw {
	struct ib_mw ibmw;
	struct kwarp_mr *mr;
};

static inline struct kwarp_mw *to_kmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct kwarp_mw, ibmw);
}

/* dev_verbs.c */
int kwarp_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int kwarp_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
int kwarp_port_immutable(struct ib_device *ibdev, u32 port,
			 struct ib_port_immutable *immutable);
int kwarp_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr);
void kwarp_fw_str(struct ib_device *ibdev, char *str);
int kwarp_ucontext_open(struct kwarp_ucontext *uc);
void kwarp_ucontext_close(struct kwarp_ucontext *uc);
int kwarp_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void kwarp_dealloc_ucontext(struct ib_ucontext *ibuc);
void kwarp_disassociate_ucontext(struct ib_ucontext *ibuc);
int kwarp_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int kwarp_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
enum ib_port_state kwarp_port_state(struct net_device *netdev);

/* gids.c */
int kwarp_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid);
struct net_device *kwarp_get_netdev(struct ib_device *ibdev, u32 port);
void kwarp_gids_init(struct kwarp_dev *kdev);
bool kwarp_gids_renew(struct kwarp_dev *kdev);
bool kwarp_gids_new_hardware(struct kwarp_dev *kdev);

/* cq_verbs.c */
int kwarp_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int kwarp_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int kwarp_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);

/* qp_verbs.c */
int kwarp_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int kwarp_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int kwarp_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int kwarp_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int kwarp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
int kwarp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);

/* wire_verbs.c: the parts of modify_qp that concern wired queue pairs */
bool kwarp_wire_asks(const struct ib_qp_attr *attr, int mask);
bool kwarp_wire_attr_ok(const struct ib_qp_attr *attr, int mask);
int kwarp_wire_rtr(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask);
int kwarp_wire_rts(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask);
void kwarp_wire_end(struct kwarp_qp *qp);
void kwarp_wire_forget(struct kwarp_qp *qp);

/* srq_verbs.c */
int kwarp_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int kwarp_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int kwarp_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int kwarp_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int kwarp_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad);

/* mr_verbs.c */
struct ib_mr *kwarp_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *kwarp_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova,
				       int fd, int access, struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs);
struct ib_mr *kwarp_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
				int access, struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *kwarp_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				  u64 iova, int access, struct ib_pd *pd,
				  struct ib_udata *udata);
int kwarp_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		    struct ib_sge *sge, u32 n, struct uverbs_attr_bundle *attrs);
struct ib_mr *kwarp_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg);
int kwarp_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *offset);
int kwarp_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int kwarp_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int kwarp_dealloc_mw(struct ib_mw *ibmw);

/* doorbell.c */
extern const struct uapi_definition kwarp_uapi_defs[];

/* mmap.c */
struct rdma_user_mmap_entry *kwarp_mmap_insert(struct ib_ucontext *ibuc, void *mem, size_t len,
					       struct kwarp_charge *charge, u64 *key);
struct rdma_user_mmap_entry *kwarp_mmap_ring(struct ib_ucontext *ibuc, struct kwarp_ring *ring,
					     u64 *key);
void kwarp_ring_free(struct kwarp_ring *ring, struct rdma_user_mmap_entry *map);
void kwarp_ring_free_late(struct rdma_user_mmap_entry *map);
int kwarp_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void kwarp_mmap_free(struct rdma_user_mmap_entry *entry);

/* res_verbs.c */
int kwarp_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int kwarp_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int kwarp_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int kwarp_fill_cm_id(struct sk_buff *msg, struct rdma_cm_id *id);
int kwarp_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

/* stats_verbs.c */
struct rdma_hw_stats *kwarp_alloc_port_stats(struct ib_device *ibdev, u32 port);
int kwarp_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);
struct rdma_hw_stats *kwarp_counter_alloc_stats(struct rdma_counter *counter);
int kwarp_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port);
int kwarp_counter_unbind_qp(struct ib_qp *ibqp, u32 port);
int kwarp_counter_dealloc(struct rdma_counter *counter);
int kwarp_counter_update_stats(struct rdma_counter *counter);
void kwarp_counter_init(struct rdma_counter *counter);

/* mad_verbs.c */
int kwarp_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		      const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *pkey_index);

static inline struct ib_ucontext *kwarp_udata_context(struct ib_udata *udata)
{
	struct kwarp_ucontext *uc = rdma_udata_to_drv_context(udata, struct kwarp_ucontext,
							      ibuc);

	return uc ? &uc->ibuc : NULL;
}

/* For a kernel consumer's object @udata is NULL, and nobody pays. */
static inline int kwarp_charge_object(struct kwarp_charge *charge, struct ib_udata *udata,
				      size_t size, atomic_t *num, int max)
{
	int ret = -ENOMEM;

	charge->account = udata ? to_kuc(kwarp_udata_context(udata))->charge.account : NULL;
	if (atomic_inc_return(num) <= max)
		ret = kwarp_charge(charge, KWARP_OBJECT_MEMORY + kmalloc_size_roundup(size));
	if (ret)
		atomic_dec(num);
	return ret;
}

static inline void kwarp_uncharge_object(struct kwarp_charge *charge, atomic_t *num)
{
	kwarp_uncharge(charge);
	atomic_dec(num);
}

#endif /* KWARP_VERBS_VERBS_H */
