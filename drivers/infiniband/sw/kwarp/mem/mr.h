/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions and windows: STags, who may touch what, and moving octets in and out.
 *
 * An STag is a 24-bit index, chosen at random, and an 8-bit key of the consumer.
 * Lookup is lock-free (RCU); a reference is held only for the duration of one
 * transmit step or one run of the receive path, both bounded, never while waiting
 * for a peer.  So revoking a region (deregister, invalidate) may wait for the
 * references and is final when it returns (RFC 5041 8.3.1 item 6).
 *
 * A window is an STag of its own for a part of a region.  It has the same shape as a
 * region, so that an access through it costs the same: while it is bound its @chunk
 * points into the region's list.  One of type 2 is for the stream that bound it only (RFC 5041
 * 8.2, stream association), one of type 1, as regions are, for all streams of its protection
 * domain.
 */
#ifndef KWARP_MEM_MR_H
#define KWARP_MEM_MR_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

struct kwarp_dev;
struct kwarp_dmabuf;
struct kwarp_backing;
struct kwarp_atomic_req;

/* What a peer can be allowed to do. */
#define KWARP_REMOTE_ACCESS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC)

enum kwarp_mr_kind {
	KWARP_MR_USER,		/* pinned user memory, or a dma-buf */
	KWARP_MR_DMA,		/* all kernel memory, addresses are kernel virtual */
	/* From here on: a stream can invalidate it, so its lock is needed. */
	KWARP_MR_FAST,		/* page list of a kernel consumer (REG_MR) */
	KWARP_MR_WINDOW,	/* part of a KWARP_MR_USER */
};

/**
 * struct kwarp_mem_stream - what memory knows of a stream
 * @pd: protection domain; immutable
 * @id: what no other stream has or had, not even one with the same queue pair; READ_ONCE,
 *	changes when the stream has ended
 * @windows: those bound to it; protected by the binding lock, see window.c
 */
struct kwarp_mem_stream {
	struct ib_pd *pd;
	u64 id;
	struct list_head windows;
};

/**
 * struct kwarp_mr_list - page list that waits for REG_MR (KWARP_MR_FAST)
 * @fresh: it has been mapped since the last REG_MR
 * @chunk: as in struct kwarp_mr, @max_chunks entries
 * @nchunks: likewise
 * @shift: likewise
 * @offset: likewise
 * @length: likewise
 * @before: likewise
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

/**
 * struct kwarp_mr - one region or window
 * @ibmr: RDMA core's object; lkey and rkey are the STag; not used by windows
 * @rcu: freed after a grace period, because lookup is lock-free
 * @refs: one for the registration, one for each step that uses the region
 * @idle: completed when @refs is zero
 * @lock: KWARP_MR_FAST and KWARP_MR_WINDOW only: held for reading from the check of an
 *	access to the end of its copy, for writing to change @valid; any context, bottom
 *	halves off
 * @kind: immutable
 * @valid: READ_ONCE/WRITE_ONCE: the STag may be used
 * @stag: READ_ONCE/WRITE_ONCE: full STag, changes its key with REG_MR
 * @access: IB_ACCESS_* rights
 * @pd: protection domain; immutable
 * @pd_wide: KWARP_MR_WINDOW of type 1; immutable
 * @stream: KWARP_MR_WINDOW of type 2: the one that bound it; else NULL
 * @owner: KWARP_MR_FAST: @id of the stream that registered it, whose peer may invalidate it
 * @va: first valid address (tagged offset)
 * @length: octets
 * @backing: KWARP_MR_USER: whose pages they are, see region.c; a reference
 * @chunk: kernel addresses of the pieces of 1 << @shift octets; a window's are those of
 *	its region
 * @nchunks: entries in use
 * @max_chunks: entries allocated
 * @shift: log2 of the size of a piece
 * @offset: of the first octet inside chunk[0]
 * @before: KWARP_MR_FAST with gaps: its pieces are of any size, and so many octets of the region
 *	lie before each; else NULL
 * @next: KWARP_MR_FAST: what becomes of @chunk to @length with the next REG_MR; the
 *	consumer may map while the region is still valid, but not twice at a time
 * @windows: KWARP_MR_USER: number of windows bound to it; the binding lock
 * @parent: KWARP_MR_WINDOW: region it is bound to, or NULL; the binding lock
 * @bound: KWARP_MR_WINDOW of type 2: in the stream's list while @parent is set; the binding lock
 *
 * Everything from @access to @before changes only while @valid is false, and then
 * under @lock.  A region with windows is not destroyed, so a bound window holds no
 * reference on it.
 */
struct kwarp_mr {
	struct ib_mr ibmr;
	struct rcu_head rcu;
	refcount_t refs;
	struct completion idle;
	rwlock_t lock;			/* use against invalidation */
	enum kwarp_mr_kind kind;
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
};

static inline struct kwarp_mr *to_kmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct kwarp_mr, ibmr);
}

/* Outcome of an access check; the caller turns it into a Terminate or WC status. */
enum kwarp_mem_err {
	KWARP_MEM_OK,
	KWARP_MEM_STAG,		/* no such STag, wrong key, or invalid */
	KWARP_MEM_STREAM,	/* other protection domain, or a window of another stream */
	KWARP_MEM_ACCESS,	/* right missing */
	KWARP_MEM_WRAP,		/* address + length wraps 2^64 */
	KWARP_MEM_BOUNDS,	/* outside of the region */
};

/**
 * struct kwarp_window_range - what a window is to cover
 * @addr: first octet, by the region's addresses
 * @length: octets; 0: nothing from now on, of a window of type 1
 * @access: IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_WRITE, IB_ACCESS_REMOTE_ATOMIC, IB_ZERO_BASED
 */
struct kwarp_window_range {
	u64 addr;
	u64 length;
	u32 access;
};

/* Octets from @addr, which lies in the region, to its end. */
static inline u64 kwarp_mr_room(const struct kwarp_mr *mr, u64 addr)
{
	return mr->kind == KWARP_MR_DMA ? U64_MAX - addr : mr->va + mr->length - addr;
}

/**
 * kwarp_mr_begin - keep a region from being invalidated
 * @mr: region, referenced by the caller
 *
 * Between begin and end lie the check of an access and its copy, so that an
 * invalidation is final when it returns (5040-8.1.1-6).  Regions of user space are
 * only revoked by deregistration, which waits for references: for them the lock is
 * taken in the eyes of sparse only.  A bound window keeps its region registered, so
 * within the lock its memory is there.
 *
 * Context: any but hard interrupt; nothing in between may sleep.
 */
static inline void kwarp_mr_begin(struct kwarp_mr *mr)
	__acquires(&mr->lock)
{
	if (mr->kind >= KWARP_MR_FAST)
		read_lock_bh(&mr->lock);
	else
		__acquire(&mr->lock);
}

static inline void kwarp_mr_end(struct kwarp_mr *mr)
	__releases(&mr->lock)
{
	if (mr->kind >= KWARP_MR_FAST)
		read_unlock_bh(&mr->lock);
	else
		__release(&mr->lock);
}

/**
 * kwarp_mr_invalidate - the STag may not be used any more
 * @mr: region or window
 *
 * Context: any but hard interrupt; for what has a lock @lock is held for writing, so that no
 * copy is under way when it is released.
 */
static inline void kwarp_mr_invalidate(struct kwarp_mr *mr)
{
	if (mr->kind >= KWARP_MR_FAST)
		lockdep_assert_held_write(&mr->lock);
	WRITE_ONCE(mr->valid, false);
}

/* stag.c */
int kwarp_stag_alloc(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key);
void kwarp_stag_publish(struct kwarp_dev *kdev, struct kwarp_mr *mr);
void kwarp_stag_free(struct kwarp_dev *kdev, struct kwarp_mr *mr);
struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag);
void kwarp_mr_put(struct kwarp_mr *mr);

/* access.c */
enum kwarp_mem_err kwarp_mem_check(const struct kwarp_mr *mr, u32 stag,
				   const struct kwarp_mem_stream *stream, u64 addr,
				   u64 len, int rights);
bool kwarp_mr_revoke(struct kwarp_mr *mr, u32 stag, const struct kwarp_mem_stream *stream,
		     bool remote);

/* window.c */
bool kwarp_window_bind(struct kwarp_mr *mw, u32 stag, struct kwarp_mr *mr, u32 lkey,
		       struct kwarp_mem_stream *stream,
		       const struct kwarp_window_range *range);
void kwarp_window_unbind(struct kwarp_mr *mw);
void kwarp_mem_stream_init(struct kwarp_mem_stream *stream);
void kwarp_mem_stream_end(struct kwarp_mem_stream *stream);
bool kwarp_mr_close(struct kwarp_mr *mr);

/* copy.c */
void *kwarp_mr_span(const struct kwarp_mr *mr, u64 addr, u32 want, u32 *len);
void kwarp_mr_write(const struct kwarp_mr *mr, u64 addr, const void *src, u32 len);
void kwarp_mr_read(const struct kwarp_mr *mr, u64 addr, void *to, u32 len);

/* atomic.c */
bool kwarp_mr_atomic(const struct kwarp_mr *mr, u64 addr, const struct kwarp_atomic_req *req,
		     u64 *old);

/* dmabuf.c */
struct kwarp_dmabuf *kwarp_dmabuf_get(int fd, u64 offset, u64 length, int access);
void kwarp_dmabuf_put(struct kwarp_dmabuf *d);
bool kwarp_dmabuf_is_writable(const struct kwarp_dmabuf *d);
u64 kwarp_dmabuf_count(u64 length);
void kwarp_dmabuf_pieces(const struct kwarp_dmabuf *d, u64 offset, struct kwarp_mr *mr);

/**
 * struct kwarp_mr_place - what of a dma-buf a region covers
 * @offset: of its first octet in the buffer
 * @length: octets, not 0
 * @iova: address by which it is named
 */
struct kwarp_mr_place {
	u64 offset;
	u64 length;
	u64 iova;
};

/* region.c */
struct kwarp_mr *kwarp_mr_create_user(struct kwarp_dev *kdev, struct ib_pd *pd,
				      struct ib_umem *umem, u64 iova, int access);
struct kwarp_mr *kwarp_mr_create_dmabuf(struct kwarp_dev *kdev, struct ib_pd *pd,
					struct kwarp_dmabuf *d,
					const struct kwarp_mr_place *place, int access);
struct kwarp_mr *kwarp_mr_create_same(struct kwarp_dev *kdev, struct ib_pd *pd,
				      const struct kwarp_mr *old, int access);
void kwarp_mr_open(struct kwarp_mr *mr);
const struct ib_umem *kwarp_mr_umem(const struct kwarp_mr *mr);
bool kwarp_mr_is_writable(const struct kwarp_mr *mr);
struct kwarp_mr *kwarp_mr_create_fast(struct kwarp_dev *kdev, struct ib_pd *pd,
				      u32 max_chunks, bool gaps);
struct kwarp_mr *kwarp_mr_create_dma(struct kwarp_dev *kdev, struct ib_pd *pd,
				     int access);
struct kwarp_mr *kwarp_mr_create_window(struct kwarp_dev *kdev, struct ib_pd *pd,
					bool pd_wide);
int kwarp_mr_map_sg(struct kwarp_mr *mr, struct scatterlist *sg, int nents,
		    unsigned int *offset);
int kwarp_mr_activate(struct kwarp_mr *mr, u32 stag, int access,
		      const struct kwarp_mem_stream *stream);
int kwarp_mr_destroy(struct kwarp_dev *kdev, struct kwarp_mr *mr);

#endif /* KWARP_MEM_MR_H */
