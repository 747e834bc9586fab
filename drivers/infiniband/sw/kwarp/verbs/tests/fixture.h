/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What each test case has: a device, a process with some memory, and fakes for the layers below
 * the verbs and for the RDMA core. vt_exit() expects at the end of each case that no ring, mmap
 * entry, region, pinned memory or queue pair number is left, and that the device counts no object.
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

/* Fakes that can be made to fail: see vt.fault and vt.nth. */
enum vt_fault {
	FAULT_NONE,
	FAULT_CHARGE,		/* the user has no memory left for an object */
	FAULT_RING,		/* no memory for a ring */
	FAULT_FOREIGN,		/* no memory for a foreign ring */
	FAULT_RESERVE,		/* no number for a queue pair */
	FAULT_FILE,		/* no memory for the file that owns a ring */
	FAULT_MAP,		/* no memory for an mmap entry */
	FAULT_UMEM,		/* memory cannot be pinned */
	FAULT_MR,		/* no memory for a region */
	FAULT_ANSWER,		/* user space's buffer for the answer cannot be written to */
};

/*
 * @answer: where answers go, in the same page
 * @map: mmap entries; an offset is never used twice
 * @foreign: number of foreign rings that a queue still uses; counted in @rings, too
 * @paid: rings made so far whose memory was charged to the memory cgroup of a process
 * @charged: octets that the user pays for: objects, and one for each ring
 * @late: number of rings that the user pays for only until a grace period is over
 * @mapping: file of the VMA that vt_mmap() has made, or NULL
 * @after_grace: work item that waits for vt_grace_period(), or NULL
 * @nth: which call of @fault fails, from 1 on
 * @state: stream state that every queue pair shows
 * @event: result of kwarp_qp_note(), kwarp_qp_reset() and kwarp_cm_modify_stand_in()
 * @found: queue pair that a lookup of the number VT_QPN finds, or NULL
 * @gid_attr: the core's entries for GIDs; without a device there is none
 * @gid_refs: references to them
 * @wiring: argument of the last kwarp_cm_wire()
 * @sends: argument of the last kwarp_cm_wire_sends()
 * @users: number of times that kwarp_qp_gone() returns false: references are left
 * @busy: windows are bound to every region
 * @old_umem: pinned memory of the region that is re-registered; NULL: the region is over a dma-buf
 * @same: number of regions made over the memory of another region
 */
struct vt {
	struct kwarp_dev *kdev;
	struct net_device *netdev;
	struct kwarp_pd pd;
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
	int foreign;
	int paid;
	int unpaid;
	int accounts;
	u64 charged;
	int late;
	const void *mapped;
	struct file *mapping;
	struct rcu_work *after_grace;

	enum vt_fault fault;
	int nth;

	char log[VT_LOG];
	struct kwarp_engine_parts parts;
	const struct kwarp_engine *wired;
	enum kwarp_qp_state state;
	int event;
	int reserved;
	int counted;
	const struct kwarp_stream_stats *total;
	struct kwarp_qp *found;
	void (*on_find)(void);
	struct ib_gid_attr gid_attr[KWARP_GIDS];
	int gid_refs;
	struct kwarp_wiring wiring;
	struct kwarp_wire_sends sends;
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

struct ib_udata *vt_udata(struct kunit *test, size_t inlen, size_t outlen);
/* Make octet @at of the request non-zero. */
void vt_unknown(struct kunit *test, size_t at);
void vt_get_answer(struct kunit *test, void *answer, size_t len);

void vt_log_word(const char *word);
/* Each fake that can fail calls this: must it fail now? See vt.fault and vt.nth. */
bool vt_is_fault(enum vt_fault what);

const struct ib_gid_attr *vt_get_gid_attr(struct ib_device *ibdev, u32 port, int index);
void vt_put_gid_attr(const struct ib_gid_attr *attr);

void vt_grace_period(void);

void vt_expect_log(struct kunit *test, const char *want);
void vt_unmap(void);
int vt_mmap(struct kwarp_ucontext *uc, u64 offset, size_t len);
void vt_expect_map(struct kunit *test, u64 offset, u32 len);

void vt_make_cq(struct kunit *test, struct kwarp_cq **cq, int cqe);

#endif /* KWARP_VERBS_TESTS_FIXTURE_H */
