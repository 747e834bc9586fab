/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-ins (fake functions of other layers) to which rename.h redirects calls of the code
 * under test. Other stand-ins have the name of the real function, which is not linked.
 */
#ifndef KWARP_VERBS_TESTS_STAND_INS_H
#define KWARP_VERBS_TESTS_STAND_INS_H

#include "fixture.h"

/* fake_rings.c */
struct kwarp_account *vt_account_get(void);
void vt_account_hold(struct kwarp_account *account);
void vt_account_put(struct kwarp_account *account);
int vt_charge(struct kwarp_charge *charge, u64 octets);
void vt_uncharge(struct kwarp_charge *charge);
int vt_ring_init(struct kwarp_ring *ring, u32 entries, u32 stride, bool user);
void vt_ring_fini(struct kwarp_ring *ring);
int vt_sq_init(struct kwarp_sq *sq, u32 entries, u32 stride);
int vt_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride);
struct kwarp_siw_wq *vt_siw_new_sq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_wq *vt_siw_new_rq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_cq *vt_siw_new_cq(u32 entries, struct kwarp_account *account);
void vt_siw_free_wq(struct kwarp_siw_wq *wq);
void vt_siw_free_cq(struct kwarp_siw_cq *cq);
void vt_vfree(const void *addr);
bool vt_queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *work);
int vt_remap(struct vm_area_struct *vma, void *addr, unsigned long pgoff);

/* fake_mr.c */
struct ib_umem *vt_umem_get(struct ib_device *ibdev, unsigned long addr, size_t size,
			    int access);
void vt_umem_release(struct ib_umem *umem);
struct kwarp_mr *vt_mr_lookup(struct kwarp_dev *kdev, u32 stag);
void vt_mr_put(struct kwarp_mr *mr);
bool vt_mr_close(struct kwarp_mr *mr);
enum kwarp_mem_err vt_mem_check(const struct kwarp_mr *mr, u32 stag,
				const struct kwarp_mem_stream *stream, u64 addr, u64 len,
				int rights);

/* fake_qp.c */
void vt_qp_init(struct kwarp_qp *qp);
int vt_qp_reserve(struct kwarp_qp *qp);
void vt_qp_unreserve(struct kwarp_qp *qp);
struct kwarp_stats_stream *vt_engine_stats(struct kwarp_engine *e);
void vt_stats_add(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream);
void vt_stats_remove(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream);
void vt_stats_total(struct kwarp_dev *kdev, struct kwarp_stream_stats *sum);
void vt_qp_publish(struct kwarp_qp *qp);
void vt_qp_retire(struct kwarp_qp *qp);
bool vt_qp_gone(struct kwarp_qp *qp);
struct kwarp_qp *vt_qp_lookup(struct kwarp_dev *kdev, u32 qpn);
void vt_qp_put(struct kwarp_qp *qp);
void vt_cm_drop_qp(struct kwarp_qp *qp);
bool vt_cm_is_stand_in(const struct ib_qp *ibqp);
int vt_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);
int vt_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event);
void vt_qp_run(struct kwarp_qp *qp);
int vt_qp_reset(struct kwarp_qp *qp);
void vt_qp_set_access(struct kwarp_qp *qp, int access, bool set_up);
enum kwarp_qp_state vt_qp_state(struct kwarp_qp *qp);
void vt_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts);
void vt_engine_unwire(struct kwarp_engine *e);
void vt_engine_posted_send(struct kwarp_engine *e, bool user);
void vt_engine_posted_recv(struct kwarp_engine *e, bool user);

#endif /* KWARP_VERBS_TESTS_STAND_INS_H */
