// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Access checks for every DDP segment and every local access: valid STag and right key, protection
 * domain, stream, rights and bounds (RFC 5041 section 7.1, RFC 5040 section 7.2); and the check
 * whether a stream may invalidate an STag.
 */
#include "mr.h"

#include <linux/overflow.h>

/**
 * kwarp_mem_check - validate one access
 * @mr: region or window found by the STag's index, or NULL
 * @stag: STag as given, key included
 * @stream: stream of the access
 * @addr: tagged offset, or virtual address
 * @len: octets, may be 0
 * @rights: IB_ACCESS_* flags that the access needs, all of them; 0 for a local read
 *
 * Wrap is tested before bounds: an address that wraps is out of bounds, too, but has an error code
 * of its own (5041-7.1-18).
 *
 * Outside of kwarp_mr_begin() and kwarp_mr_end() the result is only preliminary, because the
 * region may be invalidated and registered again at any time. Before data is copied the access is
 * checked again, between kwarp_mr_begin() and kwarp_mr_end().
 *
 * Context: any; the caller holds a reference on @mr.
 * Return: KWARP_MEM_OK, or the first check that failed.
 */
enum kwarp_mem_err kwarp_mem_check(const struct kwarp_mr *mr, u32 stag,
				   const struct kwarp_mem_stream *stream, u64 addr,
				   u64 len, int rights)
{
	u64 end, va, length;

	/* No such STag, not valid, or another key: 5041-7.1-14, -15; 5040-7.2-9 */
	if (!mr || !READ_ONCE(mr->valid) || READ_ONCE(mr->stag) != stag)
		return KWARP_MEM_STAG;
	/* Another protection domain: 5041-8.2-1, 5040-7.2-10 */
	if (mr->pd != stream->pd)
		return KWARP_MEM_STREAM;
	/*
	 * 5041-8.2-3, -5: only the stream that bound a window of type 2 may use the window. Windows
	 * of both types are for the peer only, so a local read (no rights) is refused.
	 */
	if (mr->kind == KWARP_MR_WINDOW) {
		/*
		 * data_race(): the result is only preliminary, unless the caller is between
		 * kwarp_mr_begin() and kwarp_mr_end(), where @stream cannot change
		 */
		if (!mr->pd_wide && data_race(mr->stream) != stream)
			return KWARP_MEM_STREAM;
		if (!rights)
			return KWARP_MEM_ACCESS;
	}
	/*
	 * A right is missing: 5040-8.1.1-5. data_race(): between kwarp_mr_begin() and
	 * kwarp_mr_end() @access cannot change
	 */
	if ((data_race(mr->access) & rights) != rights)
		return KWARP_MEM_ACCESS;
	/* The end of the access wraps: 5041-7.1-18, 5040-7.2-13 */
	if (check_add_overflow(addr, len, &end))
		return KWARP_MEM_WRAP;
	/* Out of bounds (all kernel memory has no bounds): 5041-7.1-16, -17; 5040-7.2-11, -12 */
	if (mr->kind == KWARP_MR_DMA)
		return KWARP_MEM_OK;
	/* data_race(): between kwarp_mr_begin() and kwarp_mr_end() @va cannot change */
	va = data_race(mr->va);
	/* data_race(): between kwarp_mr_begin() and kwarp_mr_end() @length cannot change */
	length = data_race(mr->length);
	if (addr < va || addr - va > length || len > length - (addr - va))
		return KWARP_MEM_BOUNDS;
	return KWARP_MEM_OK;
}

/* May the consumer invalidate the valid STag of @mr on @stream? With @remote: may the peer? */
static bool may_revoke_stag(const struct kwarp_mr *mr, const struct kwarp_mem_stream *stream,
			    bool remote)
{
	lockdep_assert_held_write(&mr->lock);
	/*
	 * A window of type 1 cannot be invalidated: only another bind or the deallocation unbinds
	 * it. A window of type 2 can be invalidated only on the stream that bound the window.
	 */
	if (mr->kind == KWARP_MR_WINDOW && (mr->pd_wide || mr->stream != stream))
		return false;
	if (!remote)
		return true;
	/* 5040-8.1.1-7: a peer may not invalidate a region that another stream registered. */
	if (mr->kind == KWARP_MR_FAST && mr->owner != READ_ONCE(stream->id))
		return false;
	return mr->access & KWARP_REMOTE_ACCESS;
}

/**
 * kwarp_mr_revoke - invalidate an STag (Local Invalidate, Send with Invalidate)
 * @mr: region or window found by the STag's index, or NULL
 * @stag: STag as given
 * @stream: stream on which the request was posted or the message came
 * @remote: true: the peer of @stream invalidates the STag (Send with Invalidate); false: the
 *	consumer does (Local Invalidate)
 *
 * Only fast-register regions and windows of type 2 can be invalidated: a region of user space is
 * shared by all streams of its protection domain (5040-8.1.1-7). The consumer can invalidate a
 * fast-register region on any stream of the protection domain, a peer only on the stream that
 * registered it. A peer can invalidate only what gives peers a right. A window is unbound: after
 * the return it can be bound again, and its region can be deregistered.
 *
 * The consumer may invalidate an STag that is invalid already, because the peer may have
 * invalidated the STag before, or the registration may not have been carried out. If a peer does
 * so, that is an error (5040-7.2-4).
 *
 * When this function returns, no copy by the STag is under way any more.
 *
 * Context: any but hard interrupt; the caller holds a reference.
 * Return: false: @stream or its peer may not invalidate the STag.
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
