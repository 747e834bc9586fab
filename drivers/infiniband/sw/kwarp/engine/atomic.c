// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Atomic operations that the peer requests. */
#include "fail.h"

noinline enum kwarp_perr kwarp_refuse_atomic(struct kwarp_engine *e, const struct kwarp_mr *mr,
					     const struct kwarp_atomic_req *req,
					     enum kwarp_why why, enum kwarp_perr perr)
{
	const struct kwarp_asked asked = {
		.op = KWARP_REFUSED_ATOMIC,
		.stag = req->stag,
		.addr = req->to,
		.len = sizeof(u64),
		.rights = IB_ACCESS_REMOTE_ATOMIC,
	};

	return kwarp_refuse_access(e, &asked, mr, why, perr);
}

/*
 * @old: NULL: only check. The region is checked as for a Read Request, with the right to remote
 * atomic operations instead of remote read; then the alignment is checked (7306-8.2-4 to -6). If an
 * error is returned, memory has not been changed.
 */
enum kwarp_perr kwarp_engine_atomic(struct kwarp_engine *e, struct kwarp_mr *mr,
				    const struct kwarp_atomic_req *req, u64 *old)
{
	enum kwarp_perr err = KWARP_PERR_NONE;
	enum kwarp_mem_err refused;

	if (!mr)
		return kwarp_refuse_atomic(e, NULL, req, KWARP_WHY_STAG, KWARP_PERR_R_STAG);
	/* kwarp_mr_begin() keeps the region from being revoked between check and change. */
	kwarp_mr_begin(mr);
	refused = kwarp_mem_check(mr, req->stag, &e->mem, req->to, sizeof(u64),
				  IB_ACCESS_REMOTE_ATOMIC);
	if (refused != KWARP_MEM_OK)
		err = kwarp_refuse_atomic(e, mr, req, kwarp_why_mem(refused),
					  kwarp_read_perr(refused));
	else if (!kwarp_mr_atomic(mr, req->to, req, old))
		err = kwarp_refuse_atomic(e, mr, req, KWARP_WHY_ALIGN, KWARP_PERR_O_STREAM);
	kwarp_mr_end(mr);
	return err;
}
