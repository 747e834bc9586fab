// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations that the peer requests. The receive side checks the request when it comes. The
 * transmit side checks again, carries it out and sends the answer, when all earlier requests of the
 * peer have been answered.
 *
 * Numbers such as 7306-8.2-4 name requirements of RFCs, see Documentation/conformance.
 */
#include "atomic.h"

#include "fail.h"

/**
 * kwarp_engine_atomic - check an atomic operation of the peer, and carry it out if @old is set
 * @e: engine
 * @mr: region found by the STag, referenced, or NULL
 * @req: the operation; its opcode is a known one
 * @old: result: the value before the operation; NULL: only check
 *
 * The region is checked as for a Read Request, with the right to remote atomic operations instead
 * of remote read; then the alignment is checked (7306-8.2-4 to -6). If an error is returned, memory
 * has not been changed.
 *
 * Context: any but hard interrupt.
 * Return: KWARP_PERR_NONE, or the error for the Terminate.
 */
enum kwarp_perr kwarp_engine_atomic(struct kwarp_engine *e, struct kwarp_mr *mr,
				    const struct kwarp_atomic_req *req, u64 *old)
{
	enum kwarp_perr err;

	if (!mr)
		return KWARP_PERR_R_STAG;
	/* kwarp_mr_begin() keeps the region from being revoked between check and change. */
	kwarp_mr_begin(mr);
	err = kwarp_read_perr(kwarp_mem_check(mr, req->stag, &e->mem, req->to, sizeof(u64),
					      IB_ACCESS_REMOTE_ATOMIC));
	if (err == KWARP_PERR_NONE && !kwarp_mr_atomic(mr, req->to, req, old))
		err = KWARP_PERR_O_STREAM;
	kwarp_mr_end(mr);
	return err;
}
