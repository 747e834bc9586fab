/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What each test case has: a device, a process with some memory, and stand-ins for the layers below
 * the verbs and for the RDMA core. vt_exit() expects at the end of each case that no ring, mmap
 * entry, region, pinned memory or queue pair number is left, and that the device counts no object.
 *
 * libsiw is the libibverbs provider of the siw driver, for links of type kwarp-siw.
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

/* Stand-ins that can be made to fail: see vt.fault and vt.nth. */
enum vt_fault {
	FAULT_NONE,
	FAULT_CHARGE,		/* the user has no memory left for an object */
	FAULT_RING,		/* no memory for a ring */
	FAULT_SIW,		/* no memory for a ring of libsiw */
	FAULT_RESERVE,		/* no number for a queue pair */
	FAULT_MAP,		/* no memory for an mmap entry */
	FAULT_UMEM,		/* memory cannot be pinned */
	FAULT_MR,		/* no memory for a region */
	FAULT_ANSWER,		/* user space's buffer for the answer cannot be written to */
};

/**
 * struct vt - state of a test case and of the stand-ins
 * @kdev: device
 * @netdev: network device of @kdev
 * @pd: protection domain
 * @uc: context of the process that calls the verbs
 * @other: context of another process
 * @attrs: attributes of the verb that the process calls
 * @page: memory of the process; requests lie at its beginning
 * @answer: where answers go, in the same page
 * @scq: completion queue for sends, of a kernel consumer
 * @rcq: completion queue for receives, of a kernel consumer
 * @map: mmap entries; an offset is never used twice
 * @maps: entries of @map used so far
 * @rings: number of rings that exist
 * @siw_rings: number of rings of libsiw that a queue still uses; counted in @rings, too
 * @paid: rings made so far whose memory was charged to the memory cgroup of a process
 * @unpaid: rings made so far whose memory was charged to no process
 * @accounts: accounts of users in use
 * @charged: octets that the user pays for: objects, and one for each ring
 * @mapped: memory that was mapped last
 * @after_grace: work item that waits for vt_grace_period(), or NULL
 * @fault: stand-in that fails, or FAULT_NONE
 * @nth: which call of @fault fails, from 1 on
 * @log: words that the stand-ins have appended, one for each call, until vt_expect_log()
 * @parts: arguments of the last kwarp_engine_wire()
 * @wired: engine of the last kwarp_engine_wire()
 * @state: stream state that every queue pair shows
 * @event: result of kwarp_qp_note(), kwarp_qp_reset() and kwarp_cm_modify_stand_in()
 * @reserved: queue pair numbers in use
 * @counted: queue pairs whose statistics are registered
 * @total: what all queue pairs have counted
 * @found: queue pair that a lookup of the number VT_QPN finds, or NULL
 * @on_find: called at the end of a lookup that finds @found, or NULL
 * @users: number of times that kwarp_qp_gone() returns false: references are left
 * @drops: number of calls of kwarp_cm_drop_qp()
 * @dropped: argument of the last kwarp_cm_drop_qp()
 * @mr: the region that every creation of a region returns
 * @umem: the object that every pinning of memory returns
 * @mrs: number of regions that exist
 * @umems: number of pinned memory objects that exist
 * @umem_access: access flags of the last pinning
 * @umem_start: address of the last pinning
 * @umem_length: octets of the last pinning
 * @busy: windows are bound to every region
 * @closed: argument of the last kwarp_mr_close() that succeeded
 * @mem_err: result of every access check
 * @mem_rights: rights asked for in the last access check
 * @old_umem: pinned memory of the region that is re-registered; NULL: the region is over a dma-buf
 * @same: number of regions made over the memory of another region
 * @mr_gaps: "gaps" argument of the last fast-register region
 * @dmabufs: number of references on dma-bufs that were taken and not dropped
 * @dmabuf_fd: file descriptor of the last dma-buf asked for
 * @place: offset, length and iova of the last region over a dma-buf
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
	int siw_rings;
	int paid;
	int unpaid;
	int accounts;
	u64 charged;
	const void *mapped;
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

/* Make driver data of a verb: a request of @inlen zero octets, and @outlen octets for an answer. */
struct ib_udata *vt_udata(struct kunit *test, size_t inlen, size_t outlen);
/* Make octet @at of the request non-zero. */
void vt_unknown(struct kunit *test, size_t at);
void vt_get_answer(struct kunit *test, void *answer, size_t len);

/* Each stand-in that is observed calls this, to append a word to vt.log. */
void vt_log_word(const char *word);
/* Each stand-in that can fail calls this: must it fail now? See vt.fault and vt.nth. */
bool vt_is_fault(enum vt_fault what);

/* Let a grace period of RCU end. */
void vt_grace_period(void);

void vt_expect_log(struct kunit *test, const char *want);
int vt_mmap(struct kwarp_ucontext *uc, u64 offset, size_t len);
void vt_expect_map(struct kunit *test, u64 offset, u32 len);

void vt_make_cq(struct kunit *test, struct kwarp_cq **cq, int cqe);

#endif /* KWARP_VERBS_TESTS_FIXTURE_H */
