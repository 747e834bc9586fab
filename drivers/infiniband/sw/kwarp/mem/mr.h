/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions and windows: STags, access checks, and copies from and to registered memory.
 *
 * An STag is a 24-bit index, chosen at random, and an 8-bit key of the consumer. Lookup is
 * lock-free (RCU).  A reference is held for one call of the transmit or receive path, which is
 * bounded in time, and never while waiting for a peer.  So deregistration can wait for the
 * references, and invalidation for the region's lock: when either returns, no access by that STag
 * is under way (RFC 5041 8.3.1 item 6).
 *
 * A window is an STag of its own for a part of a region. A window is a struct kwarp_mr like a
 * region, so that an access through it costs the same: while it is bound, its @chunk (the addresses
 * of its pieces of memory) points into the region's list. Only the stream that bound a window of
 * type 2 may use it (RFC 5041 8.2, stream association); a window of type 1 is, like a region, for
 * all streams of its protection domain.
 */
#ifndef KWARP_MEM_MR_H
#define KWARP_MEM_MR_H

#include <linux/lockdep.h>

#include "types.h"

struct kwarp_dev;
struct kwarp_dmabuf;
struct kwarp_atomic_req;

#define KWARP_REMOTE_ACCESS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC)

enum kwarp_mem_err {
	KWARP_MEM_OK,		/* the access is allowed */
	KWARP_MEM_STAG,		/* no such STag, wrong key, or the STag is not valid */
	KWARP_MEM_STREAM,	/* other protection domain, or a window of another stream */
	KWARP_MEM_ACCESS,	/* the region or window does not give a needed right */
	KWARP_MEM_WRAP,		/* address + length is 2^64 or more */
	KWARP_MEM_BOUNDS,	/* not entirely inside the region or window */
};

/* @length: octets in the window; 0: unbind the window (type 1 only). */
struct kwarp_window_range {
	u64 addr;
	u64 length;
	u32 access;
};

/* @addr lies in the region. */
static inline u64 kwarp_mr_room(const struct kwarp_mr *mr, u64 addr)
{
	return mr->kind == KWARP_MR_DMA ? U64_MAX - addr : mr->va + mr->length - addr;
}

/**
 * kwarp_mr_begin - begin an access: keep a region from being invalidated
 * @mr: region or window, referenced by the caller
 *
 * The caller checks the access and copies between kwarp_mr_begin() and kwarp_mr_end(). So an
 * invalidation, which takes the lock for writing, is final when it returns (5040-8.1.1-6). Regions
 * of user space and of all kernel memory are revoked only by deregistration, which waits for
 * references: they need no lock, and __acquire() is only for sparse. A bound window keeps its
 * region registered, so the memory of a valid window exists while the lock is held.
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

/*
 * For KWARP_MR_FAST and KWARP_MR_WINDOW the caller holds @mr->lock for writing, so no copy is under
 * way.
 */
static inline void kwarp_mr_invalidate(struct kwarp_mr *mr)
{
	if (mr->kind >= KWARP_MR_FAST)
		lockdep_assert_held_write(&mr->lock);
	WRITE_ONCE(mr->valid, false);
}

int kwarp_stag_alloc(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key);
void kwarp_stag_publish(struct kwarp_dev *kdev, struct kwarp_mr *mr);
void kwarp_stag_free(struct kwarp_dev *kdev, struct kwarp_mr *mr);
struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag);
void kwarp_mr_put(struct kwarp_mr *mr);

enum kwarp_mem_err kwarp_mem_check(const struct kwarp_mr *mr, u32 stag,
				   const struct kwarp_mem_stream *stream, u64 addr,
				   u64 len, int rights);
bool kwarp_mr_revoke(struct kwarp_mr *mr, u32 stag, const struct kwarp_mem_stream *stream,
		     bool remote);

bool kwarp_window_bind(struct kwarp_mr *mw, u32 stag, struct kwarp_mr *mr, u32 lkey,
		       struct kwarp_mem_stream *stream,
		       const struct kwarp_window_range *range);
void kwarp_window_unbind(struct kwarp_mr *mw);
void kwarp_mem_stream_init(struct kwarp_mem_stream *stream);
void kwarp_mem_stream_end(struct kwarp_mem_stream *stream);
bool kwarp_mr_close(struct kwarp_mr *mr);

void *kwarp_mr_span(const struct kwarp_mr *mr, u64 addr, u32 want, u32 *len);
void kwarp_mr_write(const struct kwarp_mr *mr, u64 addr, const void *src, u32 len);
bool kwarp_mr_write_skb(const struct kwarp_mr *mr, u64 addr, const struct sk_buff *skb, u32 offset,
			u32 len);
void kwarp_mr_read(const struct kwarp_mr *mr, u64 addr, void *to, u32 len);

bool kwarp_mr_atomic(const struct kwarp_mr *mr, u64 addr, const struct kwarp_atomic_req *req,
		     u64 *old);

struct kwarp_dmabuf *kwarp_dmabuf_get(int fd, u64 offset, u64 length, int access);
void kwarp_dmabuf_put(struct kwarp_dmabuf *d);
bool kwarp_dmabuf_is_writable(const struct kwarp_dmabuf *d);
u64 kwarp_dmabuf_count(u64 length);
void kwarp_dmabuf_pieces(const struct kwarp_dmabuf *d, u64 offset, struct kwarp_mr *mr);

/* @offset: in the buffer. @iova: address by which requests and peers name the region. */
struct kwarp_mr_place {
	u64 offset;
	u64 length;
	u64 iova;
};

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
int kwarp_mr_destroy(struct kwarp_dev *kdev, struct kwarp_mr *mr);

int kwarp_mr_map_sg(struct kwarp_mr *mr, struct scatterlist *sg, int nents,
		    unsigned int *offset);
int kwarp_mr_activate(struct kwarp_mr *mr, u32 stag, int access,
		      const struct kwarp_mem_stream *stream);

#endif /* KWARP_MEM_MR_H */
