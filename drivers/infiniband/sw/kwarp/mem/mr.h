/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions: STags, who may touch what, and moving octets in and out.
 *
 * An STag is a 24-bit index, chosen at random, and an 8-bit key of the consumer.
 * Lookup is lock-free (RCU); a reference is held only for the duration of one
 * transmit step or one run of the receive path, both bounded, never while waiting
 * for a peer.  So revoking a region (deregister, invalidate) may wait for the
 * references and is final when it returns (RFC 5041 8.3.1 item 6).
 */
#ifndef KWARP_MEM_MR_H
#define KWARP_MEM_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

struct kwarp_dev;

enum kwarp_mr_kind {
	KWARP_MR_USER,		/* pinned user memory */
	KWARP_MR_FAST,		/* page list of a kernel consumer (REG_MR) */
	KWARP_MR_DMA,		/* all kernel memory, addresses are kernel virtual */
};

/**
 * struct kwarp_mr_list - page list that waits for REG_MR (KWARP_MR_FAST)
 * @fresh: it has been mapped since the last REG_MR
 * @chunk: as in struct kwarp_mr, @max_chunks entries
 * @nchunks: likewise
 * @shift: likewise
 * @offset: likewise
 * @length: likewise
 */
struct kwarp_mr_list {
	bool fresh;
	u8 **chunk;
	u32 nchunks;
	u8 shift;
	u32 offset;
	u64 length;
};

/**
 * struct kwarp_mr - one region
 * @ibmr: RDMA core's object; lkey and rkey are the STag
 * @rcu: freed after a grace period, because lookup is lock-free
 * @refs: one for the registration, one for each step that uses the region
 * @idle: completed when @refs is zero
 * @lock: KWARP_MR_FAST only: held for reading from the check of an access to the end
 *	of its copy, for writing to change @valid; any context, bottom halves off
 * @kind: immutable
 * @valid: READ_ONCE/WRITE_ONCE: the STag may be used
 * @stag: READ_ONCE/WRITE_ONCE: full STag, changes its key with REG_MR
 * @access: IB_ACCESS_* rights
 * @pd: protection domain; immutable but for rereg
 * @va: first valid address (tagged offset)
 * @length: octets
 * @umem: pinned pages of a KWARP_MR_USER
 * @chunk: kernel addresses of the pieces of 1 << @shift octets
 * @nchunks: entries in use
 * @max_chunks: entries allocated
 * @shift: log2 of the size of a piece
 * @offset: of the first octet inside chunk[0]
 * @next: KWARP_MR_FAST: what becomes of @chunk to @length with the next REG_MR; the
 *	consumer may map while the region is still valid, but not twice at a time
 *
 * Everything from @access to @offset changes only while @valid is false, and then
 * under @lock.
 */
struct kwarp_mr {
	struct ib_mr ibmr;
	struct rcu_head rcu;
	refcount_t refs;
	struct completion idle;
	rwlock_t lock;			/* use against invalidation */
	enum kwarp_mr_kind kind;

	bool valid;
	u32 stag;

	int access;
	struct ib_pd *pd;
	u64 va;
	u64 length;
	struct ib_umem *umem;
	u8 **chunk;
	u32 nchunks;
	u32 max_chunks;
	u8 shift;
	u32 offset;
	struct kwarp_mr_list next;
};

static inline struct kwarp_mr *to_kmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct kwarp_mr, ibmr);
}

/* Outcome of an access check; the caller turns it into a Terminate or WC status. */
enum kwarp_mem_err {
	KWARP_MEM_OK,
	KWARP_MEM_STAG,		/* no such STag, wrong key, or invalid */
	KWARP_MEM_STREAM,	/* other protection domain */
	KWARP_MEM_ACCESS,	/* right missing */
	KWARP_MEM_WRAP,		/* address + length wraps 2^64 */
	KWARP_MEM_BOUNDS,	/* outside of the region */
};

/**
 * kwarp_mr_begin - keep a region from being invalidated
 * @mr: region, referenced by the caller
 *
 * Between begin and end lie the check of an access and its copy, so that an
 * invalidation is final when it returns (5040-8.1.1-6).  Regions of user space are
 * only revoked by deregistration, which waits for references: for them the lock is
 * taken in the eyes of sparse only.
 *
 * Context: any but hard interrupt; nothing in between may sleep.
 */
static inline void kwarp_mr_begin(struct kwarp_mr *mr)
	__acquires(&mr->lock)
{
	if (mr->kind == KWARP_MR_FAST)
		read_lock_bh(&mr->lock);
	else
		__acquire(&mr->lock);
}

static inline void kwarp_mr_end(struct kwarp_mr *mr)
	__releases(&mr->lock)
{
	if (mr->kind == KWARP_MR_FAST)
		read_unlock_bh(&mr->lock);
	else
		__release(&mr->lock);
}

/* stag.c */
int kwarp_stag_alloc(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key);
void kwarp_stag_publish(struct kwarp_dev *kdev, struct kwarp_mr *mr);
void kwarp_stag_free(struct kwarp_dev *kdev, struct kwarp_mr *mr);
struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag);
void kwarp_mr_put(struct kwarp_mr *mr);

/* access.c */
enum kwarp_mem_err kwarp_mem_check(const struct kwarp_mr *mr, u32 stag,
				   const struct ib_pd *pd, u64 addr, u64 len,
				   int rights);
bool kwarp_mr_revoke(struct kwarp_mr *mr, u32 stag, const struct ib_pd *pd,
		     bool remote);

/* copy.c */
void *kwarp_mr_span(const struct kwarp_mr *mr, u64 addr, u32 want, u32 *len);
void kwarp_mr_write(const struct kwarp_mr *mr, u64 addr, const void *src, u32 len);
void kwarp_mr_read(const struct kwarp_mr *mr, u64 addr, void *dst, u32 len);

/* region.c */
struct kwarp_mr *kwarp_mr_create_user(struct kwarp_dev *kdev, struct ib_pd *pd,
				      struct ib_umem *umem, u64 iova, int access);
struct kwarp_mr *kwarp_mr_create_fast(struct kwarp_dev *kdev, struct ib_pd *pd,
				      u32 max_pages);
struct kwarp_mr *kwarp_mr_create_dma(struct kwarp_dev *kdev, struct ib_pd *pd,
				     int access);
int kwarp_mr_map_sg(struct kwarp_mr *mr, struct scatterlist *sg, int nents,
		    unsigned int *offset);
int kwarp_mr_activate(struct kwarp_mr *mr, u32 stag, int access);
void kwarp_mr_destroy(struct kwarp_dev *kdev, struct kwarp_mr *mr);

#endif /* KWARP_MEM_MR_H */
