// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations on a region (RFC 7306 section 5).
 *
 * The operation is a 64-bit compare-and-exchange of the processor.  It is atomic with respect to
 * the atomic operations of all streams and all kwarp devices (7306-5-1, 7306-5.3-1) and, if the
 * processor has such an instruction, to those of programs and of the kernel.  It is not atomic with
 * respect to other RDMA hardware, so the device promises only IB_ATOMIC_HCA.
 */
#include "mr.h"

#include <linux/align.h>
#include <linux/atomic.h>

#include "../proto/atomic.h"

/*
 * Give up after this many failed compare-and-exchanges: threads of a program that change the word
 * all the time must not delay a stream without limit.
 */
#define MAX_TRIES	4096

/* 7306-5.2.1-6: the address in memory has to be aligned, not the tagged offset. */
static atomic64_t *word_at(const struct kwarp_mr *mr, u64 addr)
{
	u32 n;
	void *p = kwarp_mr_span(mr, addr, sizeof(u64), &n);

	return n == sizeof(u64) && IS_ALIGNED((unsigned long)p, sizeof(u64)) ? p : NULL;
}

/**
 * kwarp_mr_atomic - carry out an atomic operation
 * @mr: region or window; the caller is between kwarp_mr_begin() and kwarp_mr_end(), and has checked
 *	the access to eight octets
 * @addr: address of the eight octets
 * @req: operation, with a known operation code
 * @old: result: value before the operation; NULL: only check whether the operation is possible
 *
 * Context: any but hard interrupt.
 * Return: false: the eight octets are not contiguous, or not aligned, or another processor changed
 * them during each of MAX_TRIES attempts; this call has not changed them (7306-5.1.1-2, -4;
 * 7306-5.1.2-4 to -6).
 */
bool kwarp_mr_atomic(const struct kwarp_mr *mr, u64 addr, const struct kwarp_atomic_req *req,
		     u64 *old)
{
	atomic64_t *word = word_at(mr, addr);
	u32 tries;
	s64 was;
	u64 new;

	if (!word || !old)
		return word;
	was = atomic64_read(word);
	for (tries = 0; tries < MAX_TRIES; tries++) {
		new = kwarp_atomic_result(req, was);
		/* 7306-5.1.2-1: a value that stays the same is not written. */
		if (new == (u64)was || atomic64_try_cmpxchg(word, &was, new)) {
			*old = was;
			return true;
		}
	}
	return false;
}
