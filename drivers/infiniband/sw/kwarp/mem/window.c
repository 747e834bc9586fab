// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory windows: binding a part of a region to one stream (type 2B) or to a protection domain
 * (type 1).
 *
 * A window is free (@parent NULL, @valid false), bound (@parent set, @valid true), or
 * on its way from bound to free (@parent set, @valid false).  Who sets @valid to false
 * does it under the window's lock, so no copy is under way any more; only then is the
 * region let go, under the binding lock.  Bound becomes free by
 *
 *	Local Invalidate, Send with Invalidate	kwarp_mr_revoke()
 *	reset or end of the queue pair		kwarp_mem_stream_end()
 *	deallocation				kwarp_mr_destroy()
 *
 * A window of type 1 is bound anew without having been free, or to nothing, by a bind of no
 * octets; its stream's end does not matter to it, and it cannot be invalidated.
 *
 * A window in the list of a stream exists: deallocation takes it off first.  A stream
 * that a window points to exists: its end takes the window off first.
 */
#include "mr.h"

#include <linux/atomic.h>
#include <linux/overflow.h>
#include <linux/spinlock.h>

#include "../limits.h"

#define WINDOW_ACCESS	(KWARP_REMOTE_ACCESS | IB_ZERO_BASED)

/*
 * The binding lock: @parent and @bound of windows, @windows of regions, the lists of
 * streams, and @valid of a KWARP_MR_USER becoming false.  Any context but hard
 * interrupt, bottom halves off; the lock of a window is taken inside.
 */
static DEFINE_SPINLOCK(binding);

static atomic64_t next_stream;

void kwarp_mem_stream_init(struct kwarp_mem_stream *stream)
{
	INIT_LIST_HEAD(&stream->windows);
	WRITE_ONCE(stream->id, atomic64_inc_return(&next_stream));
}

static bool region_covers(const struct kwarp_mr *mr, const struct kwarp_window_range *range)
{
	u64 end;

	return range->length && !check_add_overflow(range->addr, range->length, &end) &&
	       range->addr >= mr->va && end - mr->va <= mr->length;
}

/* May such a window be bound to this region at all?  (5040-8.1.1-5) */
static bool region_is_bindable(const struct kwarp_mr *mr, u32 lkey, const struct ib_pd *pd,
			       const struct kwarp_window_range *range)
{
	lockdep_assert_held(&binding);
	/* A region of user space keeps its STag, and ceases to be valid under the binding lock. */
	if (mr->kind != KWARP_MR_USER || mr->pd != pd || mr->stag != lkey || !mr->valid)
		return false;
	if (!(mr->access & IB_ACCESS_MW_BIND) || range->access & ~WINDOW_ACCESS)
		return false;
	if (range->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return region_covers(mr, range);
}

/* Make the free window a view of its region. */
static void open_window(struct kwarp_mr *mw, u32 stag, struct kwarp_mr *mr,
			const struct kwarp_mem_stream *stream,
			const struct kwarp_window_range *range)
{
	u64 pos = range->addr - mr->va + mr->offset;
	u32 first = pos >> mr->shift;

	write_lock(&mw->lock);
	mw->access = range->access & ~IB_ZERO_BASED;
	mw->stream = stream;
	mw->va = range->access & IB_ZERO_BASED ? 0 : range->addr;
	mw->length = range->length;
	mw->chunk = mr->chunk + first;
	mw->nchunks = mr->nchunks - first;
	mw->shift = mr->shift;
	mw->offset = pos & ((1ULL << mr->shift) - 1);
	WRITE_ONCE(mw->stag, stag);
	WRITE_ONCE(mw->valid, true);
	write_unlock(&mw->lock);
}

/* No access begins any more, and none that is under the lock goes on. */
static void shut_mr(struct kwarp_mr *mr)
{
	lockdep_assert_held(&binding);
	if (mr->kind < KWARP_MR_FAST) {
		kwarp_mr_invalidate(mr);
		return;
	}
	write_lock(&mr->lock);
	kwarp_mr_invalidate(mr);
	write_unlock(&mr->lock);
}

/* @mw is invalid, and nobody copies through it any more. */
static void detach_window(struct kwarp_mr *mw)
{
	lockdep_assert_held(&binding);
	if (!mw->parent)
		return;
	list_del_init(&mw->bound);
	mw->parent->windows--;
	mw->parent = NULL;
}

/* May the window be bound so?  To nothing type 1 may, which is its way to be free. */
static bool may_bind_window(const struct kwarp_mr *mw, const struct kwarp_mr *mr, u32 lkey,
			    const struct kwarp_window_range *range)
{
	lockdep_assert_held(&binding);
	if (mw->pd_wide && !range->length)
		return true;
	return (mw->pd_wide || !mw->parent) && mr && region_is_bindable(mr, lkey, mw->pd, range);
}

/* A window of type 1 lets go of what it was bound to; others are free. */
static void free_window(struct kwarp_mr *mw)
{
	lockdep_assert_held(&binding);
	if (mw->parent) {
		shut_mr(mw);
		detach_window(mw);
	}
}

/* A window that is bound to nothing has a new key all the same. */
static void set_window_key(struct kwarp_mr *mw, u32 stag)
{
	lockdep_assert_held(&binding);
	write_lock(&mw->lock);
	WRITE_ONCE(mw->stag, stag);
	write_unlock(&mw->lock);
}

static void bind_window(struct kwarp_mr *mw, u32 stag, struct kwarp_mr *mr,
			struct kwarp_mem_stream *stream, const struct kwarp_window_range *range)
{
	lockdep_assert_held(&binding);
	mw->parent = mr;
	mr->windows++;
	if (!mw->pd_wide)
		list_add_tail(&mw->bound, &stream->windows);
	open_window(mw, stag, mr, mw->pd_wide ? NULL : stream, range);
}

/**
 * kwarp_window_bind - carry out a bind
 * @mw: window
 * @stag: its new STag; only the key may differ
 * @mr: region; NULL if @range is of no octets
 * @lkey: its STag as given
 * @stream: of the request; the window's from now on, if it is of type 2
 * @range: what it covers
 *
 * Context: any but hard interrupt; the caller holds references on @mw and @mr.
 * Return: false if that cannot be; nothing has changed then.
 */
bool kwarp_window_bind(struct kwarp_mr *mw, u32 stag, struct kwarp_mr *mr, u32 lkey,
		       struct kwarp_mem_stream *stream,
		       const struct kwarp_window_range *range)
{
	bool ok;

	/* Another queue pair may be changing the key, nobody the index. */
	if (mw->kind != KWARP_MR_WINDOW || mw->pd != stream->pd ||
	    (READ_ONCE(mw->stag) ^ stag) >> 8)
		return false;
	spin_lock_bh(&binding);
	ok = may_bind_window(mw, mr, lkey, range);
	if (ok)
		free_window(mw);
	if (ok && range->length)
		bind_window(mw, stag, mr, stream, range);
	else if (ok)
		set_window_key(mw, stag);
	spin_unlock_bh(&binding);
	return ok;
}

/**
 * kwarp_window_unbind - a window that is invalid lets go of its region
 * @mw: window
 *
 * Two that invalidate a window at the same time both call.  When the second one does, it may
 * have been bound anew: then it is not touched.
 *
 * Context: any but hard interrupt.
 */
void kwarp_window_unbind(struct kwarp_mr *mw)
{
	spin_lock_bh(&binding);
	/* Becomes true under the binding lock only. */
	if (!READ_ONCE(mw->valid))
		detach_window(mw);
	spin_unlock_bh(&binding);
}

/**
 * kwarp_mem_stream_end - free all windows of a stream
 * @stream: it neither receives nor sends any more
 *
 * The next stream of the same queue pair has another peer: what this one registered is not
 * the next one's to invalidate.
 *
 * Context: any but hard interrupt.
 */
void kwarp_mem_stream_end(struct kwarp_mem_stream *stream)
{
	struct kwarp_mr *mw;
	u32 n = 0;

	WRITE_ONCE(stream->id, atomic64_inc_return(&next_stream));
	spin_lock_bh(&binding);
	/* Nothing is bound any more, so the list only gets shorter. */
	while ((mw = list_first_entry_or_null(&stream->windows, struct kwarp_mr, bound))) {
		shut_mr(mw);
		detach_window(mw);
		if (++n % KWARP_IRQ_OFF_BATCH == 0) {
			/* The lock is everybody's. */
			spin_unlock_bh(&binding);
			spin_lock_bh(&binding);
		}
	}
	spin_unlock_bh(&binding);
}

/**
 * kwarp_mr_close - no access to a region or window from now on, and no bind
 * @mr: region or window
 *
 * Accesses to a region of user space, or one of all memory, that have been checked may still be
 * copying; to others none is.
 *
 * Context: any but hard interrupt.
 * Return: false, and nothing has changed, if windows are bound to it.
 */
bool kwarp_mr_close(struct kwarp_mr *mr)
{
	bool busy;

	spin_lock_bh(&binding);
	busy = mr->windows;
	if (!busy)
		shut_mr(mr);
	spin_unlock_bh(&binding);
	return !busy;
}
