// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations on a region (RFC 7306 section 5).
 *
 * The operation is a compare-and-exchange of the processor: atomic to those of every stream and
 * of every device of ours (7306-5-1, 7306-5.3-1) and, where the processor has one of 64 bits, to
 * the atomic operations of programs and of the kernel.  It is not to those of other hardware, which
 * is why the device promises IB_ATOMIC_HCA.
 */
#include "mr.h"

#include <linux/align.h>
#include <linux/atomic.h>

#include "../proto/atomic.h"

/* Threads of a program that change the word all the time cannot hold up a stream for longer. */
#define MAX_TRIES	4096

/* 7306-5.2.1-6: the address in memory counts, not the tagged offset. */
static atomic64_t *word_at(const struct kwarp_mr *mr, u64 addr)
{
	u32 n;
	void *p = kwarp_mr_span(mr, addr, sizeof(u64), &n);

	return n == sizeof(u64) && IS_ALIGNED((unsigned long)p, sizeof(u64)) ? p : NULL;
}

/**
 * kwarp_mr_atomic - carry out an atomic operation
 * @mr: region; the access to eight octets has been checked, see kwarp_mr_begin()
 * @addr: of them
 * @req: what to do, of a known code
 * @old: result: what was there before; NULL: do nothing, but say whether it could be done
 *
 * Context: any but hard interrupt.
 * Return: false if they are not eight octets that a processor can change at once, or somebody else
 * was quicker each time; then nothing has been touched (7306-5.1.1-2, -4; 7306-5.1.2-4 to -6).
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
		/* What stays is not written: 7306-5.1.2-1. */
		if (new == (u64)was || atomic64_try_cmpxchg(word, &was, new)) {
			*old = was;
			return true;
		}
	}
	return false;
}
