// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * May this access go ahead?  State, key, protection domain, stream, rights and bounds,
 * on every segment (RFC 5041 section 7.1, RFC 5040 section 7.2).
 */
#include "mr.h"

#include <linux/overflow.h>

/**
 * kwarp_mem_check - validate one access
 * @mr: region found by the STag's index, or NULL
 * @stag: STag as given, key included
 * @stream: stream of the access
 * @addr: tagged offset, or virtual address
 * @len: octets, may be 0
 * @rights: IB_ACCESS_* that are all needed; 0 for a local read
 *
 * Wrap is tested before bounds, or it could never be reported (5041-7.1-18).
 *
 * Without the lock (see kwarp_mr_begin()) the answer is a first look, at a region that may be
 * registered anew meanwhile; what is copied is checked again under it.
 *
 * Context: any; the caller holds a reference on @mr.
 * Return: KWARP_MEM_OK, or the first check that failed.
 */
enum kwarp_mem_err kwarp_mem_check(const struct kwarp_mr *mr, u32 stag,
				   const struct kwarp_mem_stream *stream, u64 addr,
				   u64 len, int rights)
{
	u64 end, va, length;

	/* 5041-7.1-14, -15; 5040-7.2-9 */
	if (!mr || !READ_ONCE(mr->valid) || READ_ONCE(mr->stag) != stag)
		return KWARP_MEM_STAG;
	/* 5041-8.2-1, 5040-7.2-10 */
	if (mr->pd != stream->pd)
		return KWARP_MEM_STREAM;
	/* 5041-8.2-3, -5: a window of type 2 is its stream's; each is for the peer only */
	if (mr->kind == KWARP_MR_WINDOW) {
		/* data_race: a first look, kwarp_mr_begin() looks under the lock */
		if (!mr->pd_wide && data_race(mr->stream) != stream)
			return KWARP_MEM_STREAM;
		if (!rights)
			return KWARP_MEM_ACCESS;
	}
	/* 5040-8.1.1-5 */
	/* data_race: a first look, as above */
	if ((data_race(mr->access) & rights) != rights)
		return KWARP_MEM_ACCESS;
	/* 5041-7.1-18, 5040-7.2-13 */
	if (check_add_overflow(addr, len, &end))
		return KWARP_MEM_WRAP;
	/* 5041-7.1-16, -17; 5040-7.2-11, -12 */
	if (mr->kind == KWARP_MR_DMA)
		return KWARP_MEM_OK;
	/* data_race: a first look, as above */
	va = data_race(mr->va);
	/* data_race: likewise */
	length = data_race(mr->length);
	if (addr < va || addr - va > length || len > length - (addr - va))
		return KWARP_MEM_BOUNDS;
	return KWARP_MEM_OK;
}

/* May this stream's consumer, or its peer, invalidate a valid STag? */
static bool may_revoke_stag(const struct kwarp_mr *mr, const struct kwarp_mem_stream *stream,
			    bool remote)
{
	lockdep_assert_held_write(&mr->lock);
	/* Type 1 is unbound by another bind, in no other way. */
	if (mr->kind == KWARP_MR_WINDOW && (mr->pd_wide || mr->stream != stream))
		return false;
	if (!remote)
		return true;
	/* 5040-8.1.1-7: not what other streams of the protection domain use */
	if (mr->kind == KWARP_MR_FAST && mr->owner != READ_ONCE(stream->id))
		return false;
	return mr->access & KWARP_REMOTE_ACCESS;
}

/**
 * kwarp_mr_revoke - invalidate an STag (Local Invalidate, Send with Invalidate)
 * @mr: region found by the STag's index
 * @stag: STag as given
 * @stream: stream that asks for it
 * @remote: the peer asks for it
 *
 * Only fast-register regions and windows of type 2 can be invalidated: a region of user space is
 * shared by all streams of its protection domain (5040-8.1.1-7).  Of the former only the
 * peer of the stream that registered it can, and the consumer on any stream.  A window can
 * be bound anew when it returns, and its region deregistered.
 *
 * The owner of an STag may invalidate what is invalid already: the peer may have been quicker,
 * or the registration never carried out.  The peer may not (5040-7.2-4).
 *
 * When it returns, no access that was checked before is still copying.
 *
 * Context: any but hard interrupt; the caller holds a reference.
 * Return: false if the STag cannot be invalidated.
 */
bool kwarp_mr_revoke(struct kwarp_mr *mr, u32 stag, const struct kwarp_mem_stream *stream,
		     bool remote)
{
	bool ok;

	if (!mr || mr->kind < KWARP_MR_FAST || mr->pd != stream->pd)
		return false;
	write_lock_bh(&mr->lock);
	ok = mr->stag == stag &&
	     (mr->valid ? may_revoke_stag(mr, stream, remote) : !remote);
	if (ok)
		kwarp_mr_invalidate(mr);
	write_unlock_bh(&mr->lock);
	if (ok && mr->kind == KWARP_MR_WINDOW)
		kwarp_window_unbind(mr);
	return ok;
}
