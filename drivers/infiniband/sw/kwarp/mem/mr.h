/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions and windows: STags, access checks, and copies from and to registered memory.
 *
 * An STag is a 24-bit index, chosen at random, and an 8-bit key of the consumer.
 * Lookup is lock-free (RCU).  A reference is held for one transmit step or one call of the receive
 * path, both of which are bounded in time, and never while waiting for a peer.  So deregistration
 * can wait for the references, and invalidation for the region's lock: when either returns, no
 * access by that STag is under way (RFC 5041 8.3.1 item 6).
 *
 * A window is an STag of its own for a part of a region.  It is a struct kwarp_mr like a region, so
 * that an access through it costs the same: while it is bound, its @chunk points into the region's
 * list.  Only the stream that bound a window of type 2 may use it (RFC 5041 8.2, stream
 * association); a window of type 1 is, like a region, for all streams of its protection domain.
 *
 * Numbers such as 5040-8.1.1-6 name requirements of RFCs, see Documentation/conformance.
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

/* Access flags that concern peers. */
#define KWARP_REMOTE_ACCESS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC)

enum kwarp_mr_kind {
	KWARP_MR_USER,		/* pinned user memory, or a dma-buf */
	KWARP_MR_DMA,		/* all kernel memory, addresses are kernel virtual */
	/* The following kinds can be invalidated by a stream, so accesses take kwarp_mr.lock. */
	KWARP_MR_FAST,		/* page list of a kernel consumer (REG_MR) */
	KWARP_MR_WINDOW,	/* part of a KWARP_MR_USER */
};

/**
 * struct kwarp_mem_stream - a stream, as far as memory access is concerned
 * @pd: protection domain; immutable
 * @id: unique number, different for each stream even on the same queue pair; READ_ONCE, a new
 *	one is set when the stream ends
 * @windows: windows of type 2 bound to this stream; protected by the binding lock, see window.c
 */
struct kwarp_mem_stream {
	struct ib_pd *pd;
	u64 id;
	struct list_head windows;
};

/**
 * struct kwarp_mr_list - page list that waits for REG_MR (KWARP_MR_FAST)
 * @fresh: the list has been mapped since the last REG_MR
 * @chunk: as in struct kwarp_mr, with room for @max_chunks entries
 * @nchunks: as in struct kwarp_mr
 * @shift: as in struct kwarp_mr
 * @offset: as in struct kwarp_mr
 * @length: as in struct kwarp_mr
 * @before: as in struct kwarp_mr
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
 * @refs: one for the registration, one for each lookup that is in use
 * @idle: completed when @refs is zero
 * @lock: KWARP_MR_FAST and KWARP_MR_WINDOW only: held for reading from the check of an
 *	access to the end of its copy, for writing to change @valid; any context, bottom
 *	halves disabled
 * @kind: immutable
 * @valid: READ_ONCE/WRITE_ONCE: the STag may be used
 * @stag: READ_ONCE/WRITE_ONCE: full STag, changes its key with REG_MR
 * @access: IB_ACCESS_* rights
 * @pd: protection domain; immutable
 * @pd_wide: true: KWARP_MR_WINDOW of type 1; immutable
 * @stream: KWARP_MR_WINDOW of type 2: the stream that bound the window; else NULL
 * @owner: KWARP_MR_FAST: kwarp_mem_stream.id of the stream that registered the region, whose peer
 *	may invalidate it
 * @va: first valid address (tagged offset)
 * @length: octets
 * @backing: KWARP_MR_USER: owner of the pages, see region.c; a reference is held
 * @chunk: kernel addresses of the pieces, each 1 << @shift octets long; the chunk of a window
 *	points into that of its region
 * @nchunks: entries of @chunk in use
 * @max_chunks: entries of @chunk allocated
 * @shift: log2 of the size of a piece
 * @offset: offset of the region's first octet in chunk[0]
 * @before: NULL: all pieces have the same size.  KWARP_MR_FAST with gaps: pieces have any size, and
 *	before[i] octets of the region lie before piece i
 * @next: KWARP_MR_FAST: page list that the next REG_MR puts in force.  The consumer may map it
 *	while the region is still valid, but not twice at a time
 * @windows: KWARP_MR_USER: number of windows bound to it; protected by the binding lock
 * @parent: KWARP_MR_WINDOW: region it is bound to, or NULL; protected by the binding lock
 * @bound: KWARP_MR_WINDOW of type 2: node in kwarp_mem_stream.windows while @parent is set;
 *	protected by the binding lock
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
	rwlock_t lock;			/* accesses against invalidation */
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

/* Result of an access check; the caller translates it into a Terminate or WC status. */
enum kwarp_mem_err {
	KWARP_MEM_OK,
	KWARP_MEM_STAG,		/* no such STag, wrong key, or invalid */
	KWARP_MEM_STREAM,	/* other protection domain, or a window of another stream */
	KWARP_MEM_ACCESS,	/* right missing */
	KWARP_MEM_WRAP,		/* address + length wraps 2^64 */
	KWARP_MEM_BOUNDS,	/* outside of the region */
};

/**
 * struct kwarp_window_range - part of a region that a window shall cover
 * @addr: address of the first octet in the region
 * @length: octets; 0: unbind the window (type 1 only)
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
 * kwarp_mr_begin - begin an access: keep a region from being invalidated
 * @mr: region or window, referenced by the caller
 *
 * The caller checks the access and copies between kwarp_mr_begin() and kwarp_mr_end().  So an
 * invalidation, which takes the lock for writing, is final when it returns (5040-8.1.1-6).
 * Regions of user space are revoked only by deregistration, which waits for references: they need
 * no lock, and __acquire() tells sparse only.  A bound window keeps its region registered, so the
 * memory of a valid window exists while the lock is held.
 *
 * Context: any but hard interrupt; the caller may not sleep before kwarp_mr_end().
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
 * kwarp_mr_invalidate - make the STag of a region or window invalid
 * @mr: region or window
 *
 * Context: any but hard interrupt.  For KWARP_MR_FAST and KWARP_MR_WINDOW the caller holds
 * @mr->lock for writing, so that no copy is under way when the lock is released.
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
 * struct kwarp_mr_place - part of a dma-buf that a region covers
 * @offset: offset in the buffer of the region's first octet
 * @length: octets, not 0
 * @iova: address by which requests and peers name the region
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
