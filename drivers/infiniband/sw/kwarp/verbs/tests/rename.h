/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files under test are compiled with this header in front (see ../Kbuild): their calls to
 * other layers and to the RDMA core go to fake functions.
 */
#ifndef KWARP_VERBS_TESTS_RENAME_H
#define KWARP_VERBS_TESTS_RENAME_H

/* Included before the macros below, so that these headers declare functions by their own names. */
#include <linux/anon_inodes.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_umem.h>

#include "../../compat.h"

#undef ib_umem_get_va
#define ib_umem_get_va		vt_umem_get
#define ib_umem_release		vt_umem_release
#define anon_inode_getfile	vt_getfile
#define vma_set_file		vt_set_file
#define remap_vmalloc_range	vt_remap
#define vfree			vt_vfree
#define kwarp_wq		system_wq
#define queue_rcu_work		vt_queue_rcu_work

#define kwarp_account_get	vt_account_get
#define kwarp_account_hold	vt_account_hold
#define kwarp_account_put	vt_account_put
/* With an argument, because struct kwarp_charge keeps its name. */
#define kwarp_charge(c, octets)	vt_charge(c, octets)
#define kwarp_uncharge		vt_uncharge
#define kwarp_charge_late	vt_charge_late
#define kwarp_charge_can_wait	vt_charge_can_wait
#define kwarp_ring_init		vt_ring_init
#define kwarp_ring_fini		vt_ring_fini
#define kwarp_sq_init		vt_sq_init
#define kwarp_rq_init		vt_rq_init

#define kwarp_mr_lookup		vt_mr_lookup
#define kwarp_mr_put		vt_mr_put
#define kwarp_mr_close		vt_mr_close
#define kwarp_mr_create_user	vt_mr_create_user
#define kwarp_mr_create_same	vt_mr_create_same
#define kwarp_mr_create_dmabuf	vt_mr_create_dmabuf
#define kwarp_mr_create_fast	vt_mr_create_fast
#define kwarp_mr_create_dma	vt_mr_create_dma
#define kwarp_mr_create_window	vt_mr_create_window
#define kwarp_mr_open		vt_mr_open
#define kwarp_mr_umem		vt_mr_umem
#define kwarp_mr_is_writable	vt_mr_is_writable
#define kwarp_mr_map_sg		vt_mr_map_sg
#define kwarp_mr_destroy	vt_mr_destroy
#define kwarp_dmabuf_get	vt_dmabuf_get
#define kwarp_dmabuf_put	vt_dmabuf_put
#define kwarp_mem_check		vt_mem_check

#define rdma_get_gid_attr	vt_get_gid_attr
#define rdma_put_gid_attr	vt_put_gid_attr
#define kwarp_cm_wire		vt_cm_wire
#define kwarp_cm_wire_sends	vt_cm_wire_sends
#define kwarp_cm_unwire		vt_cm_unwire

#define kwarp_qp_init		vt_qp_init
#define kwarp_qp_reserve	vt_qp_reserve
#define kwarp_qp_unreserve	vt_qp_unreserve
#define kwarp_qp_publish	vt_qp_publish
#define kwarp_qp_retire		vt_qp_retire
#define kwarp_qp_gone		vt_qp_gone
#define kwarp_qp_lookup		vt_qp_lookup
#define kwarp_qp_put		vt_qp_put
#define kwarp_qp_note		vt_qp_note
#define kwarp_qp_run		vt_qp_run
#define kwarp_qp_reset		vt_qp_reset
#define kwarp_qp_set_access	vt_qp_set_access
#define kwarp_qp_forget_access	vt_qp_forget_access
#define kwarp_qp_state		vt_qp_state
#define kwarp_cm_drop_qp	vt_cm_drop_qp
#define kwarp_cm_is_stand_in	vt_cm_is_stand_in
#define kwarp_cm_modify_stand_in vt_cm_modify_stand_in
#define kwarp_engine_wire	vt_engine_wire
#define kwarp_engine_stats	vt_engine_stats
#define kwarp_stats_add		vt_stats_add
#define kwarp_stats_remove	vt_stats_remove
#define kwarp_stats_total	vt_stats_total
#define kwarp_engine_unwire	vt_engine_unwire
#define kwarp_engine_posted_send vt_engine_posted_send
#define kwarp_engine_posted_recv vt_engine_posted_recv

#define ibdev_notice		vt_ibdev_notice

#include <rdma/ib_verbs.h>

__printf(2, 3) void vt_ibdev_notice(const struct ib_device *ibdev, const char *format, ...);
const struct ib_gid_attr *vt_get_gid_attr(struct ib_device *ibdev, u32 port, int index);
void vt_put_gid_attr(const struct ib_gid_attr *attr);
struct ib_umem *vt_umem_get(struct ib_device *ibdev, unsigned long addr, size_t size,
			    int access);
void vt_umem_release(struct ib_umem *umem);
struct file *vt_getfile(const char *name, const struct file_operations *fops, void *priv,
			int flags);
void vt_set_file(struct vm_area_struct *vma, struct file *file);
int vt_remap(struct vm_area_struct *vma, void *addr, unsigned long pgoff);
void vt_vfree(const void *addr);
bool vt_queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *work);

#endif /* KWARP_VERBS_TESTS_RENAME_H */
