// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory windows: binding a part of a region to one stream (type 2, which the verbs API calls 2B)
 * or to a protection domain (type 1).
 *
 * A window is free (@parent NULL, @valid false), bound (@parent set, @valid true), or
 * on its way from bound to free (@parent set, @valid false).  @valid is set to false under the
 * window's lock, so that no copy through the window is under way afterwards.  Then the window is
 * detached from its region (@parent set to NULL) under the binding lock.  A bound window of type 2
 * becomes free by
 *
 *	Local Invalidate, Send with Invalidate	kwarp_mr_revoke()
 *	reset or end of the queue pair		kwarp_mem_stream_end()
 *	deallocation				kwarp_mr_destroy()
 *
 * A window of type 1 can be bound again while it is bound; a bind of 0 octets makes the window
 * free. The end of the stream that bound the window does not unbind it. The window cannot be
 * invalidated.
 *
 * The list of a stream holds only windows that exist: deallocation removes a window from the list
 * before the window is freed.  @stream of a bound window points to a stream that exists: the end of
 * the stream detaches its windows first.
 */
#include "mr.h"

#include <linux/atomic.h>
#include <linux/overflow.h>
#include <linux/spinlock.h>

#include "../door.h"
#include "../limits.h"

#define WINDOW_ACCESS	(KWARP_REMOTE_ACCESS | IB_ZERO_BASED)

/*
 * The binding lock, one for all devices.  It protects @parent and @bound of windows, @windows of
 * regions and the lists of streams; @valid of a KWARP_MR_USER is set to false under it.  Context:
 * any but hard interrupt, bottom halves disabled.  Lock order: the binding lock, then the lock of a
 * window.
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

/* May a window with this range and these rights be bound to this region?  (5040-8.1.1-5) */
static bool region_is_bindable(const struct kwarp_mr *mr, u32 lkey, const struct ib_pd *pd,
			       const struct kwarp_window_range *range)
{
	lockdep_assert_held(&binding);
	/* The STag of a KWARP_MR_USER is constant; @valid becomes false under the binding lock. */
	if (mr->kind != KWARP_MR_USER || mr->pd != pd || mr->stag != lkey || !mr->valid)
		return false;
	if (!(mr->access & IB_ACCESS_MW_BIND) || range->access & ~WINDOW_ACCESS)
		return false;
	if (range->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return region_covers(mr, range);
}

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

/*
 * No access passes its check after this. If the kind of @mr has a lock (kwarp_mr.lock), all earlier
 * accesses have ended, too.
 */
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

/* @mw is invalid, so no copy through it is under way. */
static void detach_window(struct kwarp_mr *mw)
{
	lockdep_assert_held(&binding);
	if (!mw->parent)
		return;
	list_del_init(&mw->bound);
	mw->parent->windows--;
	mw->parent = NULL;
}

/* An empty range unbinds a window of type 1. */
static bool may_bind_window(const struct kwarp_mr *mw, const struct kwarp_mr *mr, u32 lkey,
			    const struct kwarp_window_range *range)
{
	lockdep_assert_held(&binding);
	if (mw->pd_wide && !range->length)
		return true;
	return (mw->pd_wide || !mw->parent) && mr && region_is_bindable(mr, lkey, mw->pd, range);
}

/* A window of type 2 is free already: may_bind_window() refuses to bind it again. */
static void free_window(struct kwarp_mr *mw)
{
	lockdep_assert_held(&binding);
	if (mw->parent) {
		shut_mr(mw);
		detach_window(mw);
	}
}

/* A bind of 0 octets has unbound the window; the window does not become valid. */
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
 * @stag: new STag of the window; only the key may differ from the old one
 * @mr: region; NULL: only a bind of 0 octets is allowed
 * @lkey: STag of @mr as posted
 * @stream: stream of the request; a window of type 2 belongs to this stream afterwards
 * @range: part of @mr that the window is to cover
 *
 * Context: any but hard interrupt; the caller holds references on @mw and @mr.
 * Return: false if the bind is not allowed; nothing has changed then.
 */
bool kwarp_window_bind(struct kwarp_mr *mw, u32 stag, struct kwarp_mr *mr, u32 lkey,
		       struct kwarp_mem_stream *stream,
		       const struct kwarp_window_range *range)
{
	bool ok;

	/* READ_ONCE: a bind on another queue pair may change the key now; the index is constant. */
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

/*
 * Two callers that invalidate a window at the same time both call this. Between the two calls the
 * window may be bound again: then it is valid, and the second call does nothing.
 */
void kwarp_window_unbind(struct kwarp_mr *mw)
{
	spin_lock_bh(&binding);
	/* @valid of a window becomes true only under the binding lock. */
	if (!READ_ONCE(mw->valid))
		detach_window(mw);
	spin_unlock_bh(&binding);
}

/*
 * @stream neither receives nor sends any more. The next stream of the same queue pair has another
 * peer. The new id keeps that peer from invalidating regions that this stream registered.
 */
void kwarp_mem_stream_end(struct kwarp_mem_stream *stream)
{
	KWARP_DOOR(kwarp_mem_stream_end, stream);
	struct kwarp_mr *mw;
	u32 n = 0;

	WRITE_ONCE(stream->id, atomic64_inc_return(&next_stream));
	spin_lock_bh(&binding);
	/* The stream binds no windows any more, so the list only gets shorter. */
	while ((mw = list_first_entry_or_null(&stream->windows, struct kwarp_mr, bound))) {
		shut_mr(mw);
		detach_window(mw);
		if (++n % KWARP_IRQ_OFF_BATCH == 0) {
			/* All devices share the lock: let other processors take it. */
			spin_unlock_bh(&binding);
			spin_lock_bh(&binding);
		}
	}
	spin_unlock_bh(&binding);
}

/*
 * When this function returns, an access that was checked earlier may still be copying, if the
 * region is a KWARP_MR_USER or KWARP_MR_DMA. In the other kinds no access is under way. Return:
 * false, and nothing has changed: windows are bound to the region.
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
