// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The peer's atomic operations: may it, and do it.  The receive side asks when the request comes,
 * the transmit side carries it out when its turn has come.
 */
#include "atomic.h"

#include "fail.h"

/**
 * kwarp_engine_atomic - check an atomic operation of the peer, and carry it out
 * @e: engine
 * @mr: region found by the STag, referenced, or NULL
 * @req: the operation, of a known code
 * @old: result: what was there before; NULL: only check
 *
 * As for a Read Request, and then the alignment (7306-8.2-4 to -6).  If the answer is an error,
 * nothing has been touched.
 *
 * Context: any but hard interrupt.
 * Return: KWARP_PERR_NONE, or what to terminate with.
 */
enum kwarp_perr kwarp_engine_atomic(struct kwarp_engine *e, struct kwarp_mr *mr,
				    const struct kwarp_atomic_req *req, u64 *old)
{
	enum kwarp_perr err;

	if (!mr)
		return KWARP_PERR_R_STAG;
	/* Check and change as one: see kwarp_mr_begin(). */
	kwarp_mr_begin(mr);
	err = kwarp_read_perr(kwarp_mem_check(mr, req->stag, &e->mem, req->to, sizeof(u64),
					      IB_ACCESS_REMOTE_ATOMIC));
	if (err == KWARP_PERR_NONE && !kwarp_mr_atomic(mr, req->to, req, old))
		err = KWARP_PERR_O_STREAM;
	kwarp_mr_end(mr);
	return err;
}
