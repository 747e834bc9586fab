/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions and windows, and what access checks need to know of a stream; mr.h has the
 * functions. A region is a list of pieces of memory, in the code "chunks".
 */
#ifndef KWARP_MEM_TYPES_H
#define KWARP_MEM_TYPES_H

#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "../account.h"

struct kwarp_backing;

/* @charge: what the user pays for the domain; its account also pays for regions and windows. */
struct kwarp_pd {
	struct ib_pd ibpd;
	struct kwarp_charge charge;
};

static inline struct kwarp_pd *to_kpd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct kwarp_pd, ibpd);
}

enum kwarp_mr_kind {
	KWARP_MR_USER,		/* pinned user memory, or a dma-buf */
	KWARP_MR_DMA,		/* all kernel memory, addresses are kernel virtual */
	/*
	 * The following kinds can be invalidated while a stream uses them, so accesses take
	 * kwarp_mr.lock.
	 */
	KWARP_MR_FAST,		/* page list of a kernel consumer (REG_MR) */
	KWARP_MR_WINDOW,	/* part of a KWARP_MR_USER */
};

/**
 * struct kwarp_mem_stream - a stream, as far as memory access is concerned
 * @pd: protection domain; immutable
 * @id: unique number, different for each stream even on the same queue pair; read with READ_ONCE(),
 *	because a new number is set when the stream ends
 * @windows: windows of type 2 bound to this stream; protected by the binding lock, a spinlock in
 *	window.c
 */
struct kwarp_mem_stream {
	struct ib_pd *pd;
	u64 id;
	struct list_head windows;
};

/*
 * Page list that waits for REG_MR. @fresh: the consumer has mapped this list since the last REG_MR.
 * The other fields are as in struct kwarp_mr; @chunk has room for kwarp_mr.max_chunks entries.
 */
struct kwarp_mr_list {
	bool fresh;
	u8 **chunk;
	u32 nchunks;
	u8 shift;
	u32 offset;
	u64 length;
	u64 *before;
};

/*
 * struct kwarp_mr - one region or window
 * @ibmr: RDMA core's object; lkey and rkey are the STag; not used by windows
 * @rcu: to free the object after a grace period, because lookup is lock-free
 * @refs: one reference for the registration, and one for each result of kwarp_mr_lookup() that is
 *	in use
 * @lock: KWARP_MR_FAST and KWARP_MR_WINDOW only: held for reading from the check of an access to
 *	the end of its copy, for writing to change @valid; any context but hard interrupt, bottom
 *	halves disabled
 * @kind: immutable
 * @valid: the STag may be used; accessed with READ_ONCE() and WRITE_ONCE()
 * @stag: full STag; REG_MR and binds change its key; accessed with READ_ONCE() and WRITE_ONCE()
 * @access: IB_ACCESS_* rights
 * @pd: protection domain; immutable
 * @pd_wide: true: KWARP_MR_WINDOW of type 1; immutable
 * @stream: KWARP_MR_WINDOW of type 2: the stream that bound the window; else NULL
 * @owner: KWARP_MR_FAST: kwarp_mem_stream.id of the stream that registered the region, whose peer
 *	may invalidate it
 * @va: first valid address (tagged offset)
 * @backing: KWARP_MR_USER: owner of the pages, see region.c; a reference is held
 * @chunk: kernel addresses of the pieces, each 1 << @shift octets long unless @before is set;
 *	@chunk of a window points into the list of its region
 * @offset: offset of the region's first octet in chunk[0]
 * @before: NULL: all pieces have the same size.  KWARP_MR_FAST with gaps: pieces have any size, and
 *	before[i] octets of the region lie before piece i
 * @next: KWARP_MR_FAST: page list that the next REG_MR puts in force. The consumer may map this
 *	list while the region is still valid, but may not map it twice at the same time
 * @windows: KWARP_MR_USER: number of windows bound to the region; protected by the binding lock
 * @parent: KWARP_MR_WINDOW: region to which the window is bound, or NULL; protected by the binding
 *	lock
 * @bound: KWARP_MR_WINDOW of type 2: node in kwarp_mem_stream.windows while @parent is set;
 *	protected by the binding lock
 * @charge: what the user pays for the object and its list of pieces
 *
 * The binding lock is in window.c.  Everything from @access to @before changes only while @valid is
 * false, and then under @lock.  A region with windows is not destroyed, so a bound window holds no
 * reference on it.
 */
struct kwarp_mr {
	struct ib_mr ibmr;
	struct rcu_head rcu;
	refcount_t refs;
	struct completion idle;
	rwlock_t lock;			/* keeps invalidation out during accesses */

	/*
	 * Streams on several processors take references, so @refs is not in the cache line that
	 * each access reads. (A percpu_ref would make each deregistration wait for an RCU grace
	 * period.)
	 */
	enum kwarp_mr_kind kind ____cacheline_aligned_in_smp;
	bool pd_wide;

	bool valid;
	u32 stag;

	int access;
	struct ib_pd *pd;
	const struct kwarp_mem_stream *stream;
	u64 owner;
	u64 va;
	u64 length;
	struct kwarp_backing *backing;
	u8 **chunk;
	u32 nchunks;
	u32 max_chunks;
	u8 shift;
	u32 offset;
	u64 *before;
	struct kwarp_mr_list next;

	u32 windows;
	struct kwarp_mr *parent;
	struct list_head bound;
	struct kwarp_charge charge;
};

static inline struct kwarp_mr *to_kmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct kwarp_mr, ibmr);
}

#endif /* KWARP_MEM_TYPES_H */
