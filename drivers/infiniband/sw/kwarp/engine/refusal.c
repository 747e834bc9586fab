// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Context of all functions: any. */
#include "fail.h"

#include "../trace.h"

/*
 * Only the first refusal of a stream is kept: it is the one that ends the stream, unless two
 * contexts fail at the same moment.
 */
static enum kwarp_perr note(struct kwarp_engine *e, struct kwarp_refusal *r)
{
	enum kwarp_why why = r->why;

	trace_kwarp_refused(e->ibqp, r);
	if (test_and_set_bit(KWARP_E_REFUSED, &e->flags))
		return r->perr;
	r->why = KWARP_WHY_NONE;
	e->refused = *r;
	/* Pairs with the acquires in kwarp_engine_cause() and kwarp_engine_describe_end(). */
	smp_store_release(&e->refused.why, why);
	return r->perr;
}

enum kwarp_perr kwarp_refuse(struct kwarp_engine *e, enum kwarp_refused_op op, enum kwarp_why why,
			     enum kwarp_perr perr)
{
	struct kwarp_refusal r = { .why = why, .op = op, .perr = perr };

	return note(e, &r);
}

/*
 * Does a fault end the stream at the message that begins?  Return: the error; KWARP_PERR_MPA_LOST:
 * the connection is to be reset.
 */
enum kwarp_perr kwarp_engine_hit(struct kwarp_engine *e, enum kwarp_refused_op op)
{
	enum kwarp_perr perr = kwarp_engine_fault(e, KWARP_FAULT_TERMINATE);

	if (perr == KWARP_PERR_NONE && kwarp_engine_fault(e, KWARP_FAULT_RESET)) {
		perr = KWARP_PERR_MPA_LOST;
		set_bit(KWARP_E_RESET, &e->flags);
	}
	if (perr != KWARP_PERR_NONE)
		kwarp_refuse(e, op, KWARP_WHY_INJECTED, perr);
	else if (kwarp_engine_fault(e, KWARP_FAULT_CLOSE))
		e->ops->event(e, KWARP_QPE_CLOSE);
	return perr;
}

/* @len: octets of the message so far. @room: of the receive. Return: the error. */
enum kwarp_perr kwarp_refuse_long(struct kwarp_engine *e, u64 len, u64 room)
{
	struct kwarp_refusal r = {
		.why = KWARP_WHY_LONG,
		.op = KWARP_REFUSED_SEND,
		.perr = KWARP_PERR_DDP_U_LONG,
		.len = len,
		.mr_len = room,
	};

	return note(e, &r);
}

/*
 * Keys can be guessed, so @mr may belong to another user, whose addresses and lengths are secret;
 * only regions of the stream's protection domain, and of its SRQ's, are the consumer's own.
 */
static bool is_own(const struct kwarp_engine *e, const struct kwarp_mr *mr)
{
	/* data_race(): modifying the region may change @pd, and what is noted is for people */
	const struct ib_pd *pd = data_race(mr->pd);

	return pd == e->mem.pd || pd == e->recv_mem->pd;
}

/*
 * @mr: referenced, or NULL.  It may change meanwhile: what is noted is for people.  The addresses
 * of regions of kernel consumers are pointers.  Return: @perr.
 */
enum kwarp_perr kwarp_refuse_access(struct kwarp_engine *e, const struct kwarp_asked *asked,
				    const struct kwarp_mr *mr, enum kwarp_why why,
				    enum kwarp_perr perr)
{
	struct kwarp_refusal r = {
		.why = why,
		.op = asked->op,
		.perr = perr,
		.stag = asked->stag,
		.addr = asked->addr,
		.len = asked->len,
		.rights = asked->rights,
	};

	if (mr && is_own(e, mr)) {
		r.found = true;
		r.hidden = mr->kind == KWARP_MR_DMA || mr->kind == KWARP_MR_FAST;
		r.mr_stag = READ_ONCE(mr->stag);
		/* data_race(): these may change meanwhile, see above */
		r.mr_access = data_race(mr->access);
		/* data_race(): likewise */
		r.mr_va = r.hidden ? 0 : data_race(mr->va);
		/* data_race(): likewise */
		r.mr_len = data_race(mr->length);
	}
	if (why == KWARP_WHY_QP_RIGHT)
		r.mr_access = READ_ONCE(e->access);
	return note(e, &r);
}
