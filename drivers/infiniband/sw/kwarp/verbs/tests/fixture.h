/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A device, a process with some memory, and what stands in for the layers below the verbs and
 * for the RDMA core. Whatever a case does: at its end no ring, no mapping and no number is
 * left, and nothing is counted.
 */
#ifndef KWARP_VERBS_TESTS_FIXTURE_H
#define KWARP_VERBS_TESTS_FIXTURE_H

#include <kunit/test.h>
#include <linux/mm_types.h>
#include <linux/netdevice.h>
#include <rdma/ib_umem.h>

#include "../../cm/cm.h"
#include "../../kwarp.h"
#include "../../mem/mr.h"
#include "../../qp/qp.h"
#include "../verbs.h"

#define VT_MAPS	8
#define VT_QPN	77
#define VT_STAG	0x123456ab
#define VT_LOG	120

/* What stands in for something that can fail, and does with its @n-th call. */
enum vt_fault {
	FAULT_NONE,
	FAULT_RING,		/* no memory for a ring */
	FAULT_SIW,		/* nor for one of libsiw's */
	FAULT_RESERVE,		/* no number for a queue pair */
	FAULT_MAP,		/* no memory for an mmap entry */
	FAULT_UMEM,		/* memory cannot be pinned */
	FAULT_MR,		/* no memory for a region */
	FAULT_ANSWER,		/* user space's buffer for the answer is no memory */
};

/**
 * struct vt - the world of a case
 * @kdev: device
 * @netdev: its network device
 * @pd: protection domain
 * @uc: context of a process
 * @other: of another one
 * @attrs: of a verb that the process calls
 * @page: memory of the process; requests are at its begin
 * @answer: where its answers go, in the same page
 * @scq: completion queue, of a kernel consumer
 * @rcq: likewise
 * @map: mmap entries; an offset is never given out twice
 * @maps: used so far
 * @rings: rings there are
 * @siw_rings: of them, libsiw's that their queue has not given up
 * @paid: rings made so far that a process pays for
 * @unpaid: those that nobody does
 * @mapped: what was mapped last
 * @fault: what fails
 * @nth: with which of its calls, from 1 on
 * @log: what the stand-ins of queue pairs were told
 * @parts: what its engine was wired to
 * @wired: that engine
 * @state: of each queue pair
 * @event: what an event gives
 * @reserved: numbers in use
 * @counted: queue pairs that are counted for
 * @found: the queue pair of number VT_QPN, for those who look it up, or NULL
 * @on_find: called when it has been looked up, or NULL
 * @users: how often a queue pair is not gone yet
 * @drops: how often connection management was asked to give one up
 * @dropped: the one that it was asked for last
 * @mr: every region
 * @umem: every pinned memory
 * @mrs: regions there are
 * @umems: pinned memories there are
 * @umem_access: rights of the last one
 * @umem_start: where in the process the last one is
 * @umem_length: octets of it
 * @busy: windows are bound to every region
 * @closed: the region that was closed last
 * @mem_err: what every access of the process to a region gives
 * @mem_rights: rights that were asked for last
 * @old_umem: pinned memory of the region that gets a successor, or NULL
 * @same: successors over the same memory
 * @mr_gaps: of the fast registration made last
 * @dmabufs: buffers held
 * @dmabuf_fd: of the one asked for last
 * @place: of the region over it
 */
struct vt {
	struct kwarp_dev *kdev;
	struct net_device *netdev;
	struct ib_pd pd;
	struct kwarp_ucontext uc;
	struct kwarp_ucontext other;
	struct uverbs_attr_bundle *attrs;
	u8 __user *page;
	u8 __user *answer;
	struct kwarp_cq *scq;
	struct kwarp_cq *rcq;

	struct rdma_user_mmap_entry *map[VT_MAPS];
	int maps;
	int rings;
	int siw_rings;
	int paid;
	int unpaid;
	const void *mapped;

	enum vt_fault fault;
	int nth;

	char log[VT_LOG];
	struct kwarp_engine_parts parts;
	const struct kwarp_engine *wired;
	enum kwarp_qp_state state;
	int event;
	int reserved;
	int counted;
	struct kwarp_qp *found;
	void (*on_find)(void);
	int users;
	int drops;
	const struct kwarp_qp *dropped;

	struct kwarp_mr mr;
	struct ib_umem umem;
	int mrs;
	int umems;
	int umem_access;
	unsigned long umem_start;
	size_t umem_length;
	bool busy;
	const struct kwarp_mr *closed;
	enum kwarp_mem_err mem_err;
	int mem_rights;
	struct ib_umem *old_umem;
	int same;
	bool mr_gaps;
	int dmabufs;
	int dmabuf_fd;
	struct kwarp_mr_place place;
};

extern struct vt *vt;

int vt_init(struct kunit *test);
void vt_exit(struct kunit *test);

/* Calls of the process, with so long a request (zeroes) and room for the answer. */
struct ib_udata *vt_udata(struct kunit *test, size_t inlen, size_t outlen);
/* One octet of the request is not zero. */
void vt_unknown(struct kunit *test, size_t at);
void vt_get_answer(struct kunit *test, void *answer, size_t len);

void vt_expect_log(struct kunit *test, const char *want);
int vt_mmap(struct kwarp_ucontext *uc, u64 offset, size_t len);
void vt_expect_map(struct kunit *test, u64 offset, u32 len);

void vt_make_cq(struct kunit *test, struct kwarp_cq **cq, int cqe);

/* Stand-ins, by their names in rename.h. */
struct ib_umem *vt_umem_get(struct ib_device *ibdev, unsigned long addr, size_t size,
			    int access);
void vt_umem_release(struct ib_umem *umem);
int vt_remap(struct vm_area_struct *vma, void *addr, unsigned long pgoff);
void vt_vfree(const void *addr);
int vt_ring_init(struct kwarp_ring *ring, u32 entries, u32 stride, bool user);
void vt_ring_fini(struct kwarp_ring *ring);
struct kwarp_mr *vt_mr_lookup(struct kwarp_dev *kdev, u32 stag);
void vt_mr_put(struct kwarp_mr *mr);
bool vt_mr_close(struct kwarp_mr *mr);
enum kwarp_mem_err vt_mem_check(const struct kwarp_mr *mr, u32 stag,
				const struct kwarp_mem_stream *stream, u64 addr, u64 len,
				int rights);
int vt_sq_init(struct kwarp_sq *sq, u32 entries, u32 stride);
int vt_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride);
struct kwarp_siw_wq *vt_siw_new_sq(u32 entries);
struct kwarp_siw_wq *vt_siw_new_rq(u32 entries);
struct kwarp_siw_cq *vt_siw_new_cq(u32 entries);
void vt_siw_free_wq(struct kwarp_siw_wq *wq);
void vt_siw_free_cq(struct kwarp_siw_cq *cq);
void vt_qp_init(struct kwarp_qp *qp);
int vt_qp_reserve(struct kwarp_qp *qp);
void vt_qp_unreserve(struct kwarp_qp *qp);
void vt_qp_publish(struct kwarp_qp *qp);
void vt_qp_retire(struct kwarp_qp *qp);
bool vt_qp_gone(struct kwarp_qp *qp);
struct kwarp_qp *vt_qp_lookup(struct kwarp_dev *kdev, u32 qpn);
void vt_qp_put(struct kwarp_qp *qp);
int vt_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event);
void vt_qp_run(struct kwarp_qp *qp);
int vt_qp_reset(struct kwarp_qp *qp);
void vt_qp_set_access(struct kwarp_qp *qp, int access, bool set_up);
enum kwarp_qp_state vt_qp_state(struct kwarp_qp *qp);
void vt_cm_drop_qp(struct kwarp_qp *qp);
bool vt_cm_is_stand_in(const struct ib_qp *ibqp);
int vt_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);
void vt_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts);
void vt_engine_unwire(struct kwarp_engine *e);
void vt_engine_posted_send(struct kwarp_engine *e, bool user);
void vt_engine_posted_recv(struct kwarp_engine *e, bool user);

#endif /* KWARP_VERBS_TESTS_FIXTURE_H */
