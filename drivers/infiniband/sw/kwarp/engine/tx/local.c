// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests that send nothing: register or invalidate a region, bind a memory window. They are
 * carried out in their place in the order of the send queue.
 */
#include "local.h"

#include "../../kwarp.h"

static enum kwarp_wc_status bind_window(struct kwarp_engine *e)
{
	const struct kwarp_sqe *w = &e->tx.wqe.e;
	const struct kwarp_window_range range = {
		.addr = w->raddr,
		.length = w->length,
		.access = w->access,
	};
	struct kwarp_mr *mw = kwarp_mr_lookup(e->kdev, w->rkey);
	/* A window of length 0 is bound to no region. */
	struct kwarp_mr *mr = w->length ? kwarp_mr_lookup(e->kdev, w->inv_stag) : NULL;
	bool ok = mw && kwarp_window_bind(mw, w->rkey, mr, w->inv_stag, &e->mem, &range);

	if (mw)
		kwarp_mr_put(mw);
	if (mr)
		kwarp_mr_put(mr);
	return ok ? KWARP_WC_SUCCESS : KWARP_WC_MW_BIND_ERR;
}

/**
 * kwarp_tx_local - carry out a request that sends nothing
 * @e: engine
 *
 * Context: the runner, the one context that may send for the stream at a time (run.c).
 * Return: status for its completion.
 */
enum kwarp_wc_status kwarp_tx_local(struct kwarp_engine *e)
{
	const struct kwarp_sqe *w = &e->tx.wqe.e;
	u32 stag = w->opcode == KWARP_WR_REG_MR ? w->rkey : w->inv_stag;
	struct kwarp_mr *mr;
	bool ok;

	kwarp_assert_runner(e);
	if (w->opcode == KWARP_WR_BIND_MW)
		return bind_window(e);
	mr = kwarp_mr_lookup(e->kdev, stag);
	if (!mr)
		return KWARP_WC_LOC_PROT_ERR;
	if (w->opcode == KWARP_WR_REG_MR)
		ok = !kwarp_mr_activate(mr, stag, w->access, &e->mem);
	else
		ok = kwarp_mr_revoke(mr, stag, &e->mem, false);
	kwarp_mr_put(mr);
	return ok ? KWARP_WC_SUCCESS : KWARP_WC_LOC_PROT_ERR;
}
