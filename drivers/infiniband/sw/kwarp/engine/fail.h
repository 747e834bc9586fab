/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_FAIL_H
#define KWARP_ENGINE_FAIL_H

#include "../mem/mr.h"
#include "types.h"

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq);
void kwarp_engine_lost(struct kwarp_engine *e);
enum kwarp_perr kwarp_tagged_perr(enum kwarp_mem_err err);
enum kwarp_perr kwarp_read_perr(enum kwarp_mem_err err);

/* flush.c */
void kwarp_engine_flush(struct kwarp_engine *e);

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
