/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Notes what a check has refused, for the program's author; all of it is on paths that fail. */
#ifndef KWARP_ENGINE_REFUSAL_H
#define KWARP_ENGINE_REFUSAL_H

#include "../mem/mr.h"
#include "fail.h"
#include "types.h"

/*
 * An access to memory, as it was asked for. @rights: IB_ACCESS_*, as given to kwarp_mem_check().
 */
struct kwarp_asked {
	enum kwarp_refused_op op;
	u32 stag;
	u64 addr;
	u64 len;
	int rights;
};

/* Cold, so that the paths that do not fail cost nothing. */
enum kwarp_perr __cold kwarp_refuse(struct kwarp_engine *e, enum kwarp_refused_op op,
				    enum kwarp_why why, enum kwarp_perr perr);
enum kwarp_perr __cold kwarp_refuse_long(struct kwarp_engine *e, u64 len, u64 room);
enum kwarp_perr __cold kwarp_refuse_access(struct kwarp_engine *e, const struct kwarp_asked *asked,
					   const struct kwarp_mr *mr, enum kwarp_why why,
					   enum kwarp_perr perr);
enum kwarp_perr __cold kwarp_engine_hit(struct kwarp_engine *e, enum kwarp_refused_op op);

/* atomic.c */
enum kwarp_perr __cold kwarp_refuse_atomic(struct kwarp_engine *e, const struct kwarp_mr *mr,
					   const struct kwarp_atomic_req *req,
					   enum kwarp_why why, enum kwarp_perr perr);
enum kwarp_perr kwarp_engine_atomic(struct kwarp_engine *e, struct kwarp_mr *mr,
				    const struct kwarp_atomic_req *req, u64 *old);

static inline enum kwarp_why kwarp_why_mem(enum kwarp_mem_err err)
{
	static_assert((int)KWARP_WHY_STAG == KWARP_MEM_STAG);
	static_assert((int)KWARP_WHY_PD == KWARP_MEM_STREAM);
	static_assert((int)KWARP_WHY_RIGHT == KWARP_MEM_ACCESS);
	static_assert((int)KWARP_WHY_WRAP == KWARP_MEM_WRAP);
	static_assert((int)KWARP_WHY_BOUNDS == KWARP_MEM_BOUNDS);
	return (enum kwarp_why)err;
}

static inline enum kwarp_perr kwarp_refuse_local(struct kwarp_engine *e, enum kwarp_why why)
{
	return kwarp_refuse(e, KWARP_REFUSED_REQUEST, why, KWARP_PERR_LOCAL);
}

static inline void kwarp_engine_fail_local(struct kwarp_engine *e, enum kwarp_why why)
{
	kwarp_engine_fail(e, kwarp_refuse_local(e, why), NULL, 0, NULL);
}

#endif /* KWARP_ENGINE_REFUSAL_H */
