/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How a stream fails, and what a check has refused, which is noted for the program's author. */
#ifndef KWARP_ENGINE_FAIL_H
#define KWARP_ENGINE_FAIL_H

#include "../mem/mr.h"
#include "types.h"

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq);
void kwarp_engine_lost(struct kwarp_engine *e);
enum kwarp_perr kwarp_tagged_perr(enum kwarp_mem_err err);
enum kwarp_perr kwarp_read_perr(enum kwarp_mem_err err);

void kwarp_engine_flush(struct kwarp_engine *e);

/* @rights: IB_ACCESS_*, as given to kwarp_mem_check(). */
struct kwarp_asked {
	enum kwarp_refused_op op;
	u32 stag;
	u64 addr;
	u64 len;
	int rights;
};

/* refusal.c. Cold, so that the paths that do not fail cost nothing. */
enum kwarp_perr __cold kwarp_refuse(struct kwarp_engine *e, enum kwarp_refused_op op,
				    enum kwarp_why why, enum kwarp_perr perr);
enum kwarp_perr __cold kwarp_refuse_long(struct kwarp_engine *e, u64 len, u64 room);
enum kwarp_perr __cold kwarp_refuse_access(struct kwarp_engine *e, const struct kwarp_asked *asked,
					   const struct kwarp_mr *mr, enum kwarp_why why,
					   enum kwarp_perr perr);
enum kwarp_perr __cold kwarp_engine_hit(struct kwarp_engine *e, enum kwarp_refused_op op);

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

/* vendor_err of a request that fails with KWARP_PERR_LOCAL. 0: the cause is not known. */
static inline u32 kwarp_engine_cause(const struct kwarp_engine *e)
{
	/* Pairs with the release in refusal.c. */
	enum kwarp_why why = smp_load_acquire(&e->refused.why);

	return why && e->refused.perr == KWARP_PERR_LOCAL ? KWARP_VENDOR_LOCAL + why : 0;
}

/* For vendor_err of completions: the Terminate received, else our own error. */
static inline u32 kwarp_engine_short(const struct kwarp_engine *e)
{
	enum kwarp_perr perr;

	if (test_bit(KWARP_E_TERM_SEEN, &e->flags)) {
		/* Pairs with end_terminate() in rx/segment.c: the flag is read before peer_term. */
		smp_rmb();
		return kwarp_term_short(&e->peer_term) ?: KWARP_VENDOR_PEER;
	}
	perr = READ_ONCE(e->perr);
	return perr == KWARP_PERR_LOCAL ? kwarp_engine_cause(e) : kwarp_perr_short(perr);
}

#endif /* KWARP_ENGINE_FAIL_H */
