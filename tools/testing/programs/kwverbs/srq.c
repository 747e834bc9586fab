// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs is a test program: every wrong call must fail with the right errno, and change nothing.
 * This file: wrong sizes of shared receive queues, and wrong changes of the size.
 */
#include "kwverbs.h"

#include <errno.h>

int kv_srq_of(struct kv_env *e, uint32_t wrs, uint32_t sges)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = wrs, .max_sge = sges } };
	struct ibv_srq *srq;

	if (!e->attr.max_srq)
		return KV_SKIP;
	srq = ibv_create_srq(e->pd, &a);
	if (!srq)
		return errno;
	return ibv_destroy_srq(srq) || a.attr.max_wr < wrs || a.attr.max_sge < sges ? KV_WRONG : 0;
}

static int srq_wrs(struct kv_env *e)
{
	return kv_srq_of(e, e->attr.max_srq_wr + 1, 1);
}

static int srq_sges(struct kv_env *e)
{
	return kv_srq_of(e, 16, e->attr.max_srq_sge + 1);
}

/* Post receives that will not be used, up to @most. Return: their number. */
static unsigned int srq_fill(struct kv_env *e, struct ibv_srq *srq, unsigned int most)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf, .length = 64, .lkey = e->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	unsigned int n = 0;

	while (n < most && !ibv_post_srq_recv(srq, &wr, &bad))
		n++;
	return n;
}

/*
 * Resize a queue of 8 receives, of which 6 are posted. Afterwards the queue has to accept as many
 * more receives as its size allows.
 */
static int srq_resize_to(struct kv_env *e, uint32_t wrs, int mask, uint32_t limit)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq_attr now, attr = { .max_wr = wrs, .srq_limit = limit };
	struct ibv_srq *srq;
	int rv;

	if (!e->attr.max_srq || !(e->attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE))
		return KV_SKIP;
	srq = ibv_create_srq(e->pd, &a);
	if (!srq || srq_fill(e, srq, 6) != 6)
		return KV_WRONG;
	rv = ibv_modify_srq(srq, &attr, mask);
	if (ibv_query_srq(srq, &now) || now.max_wr < (rv ? 8 : wrs) ||
	    srq_fill(e, srq, UINT32_MAX) != now.max_wr - 6) {
		kw_say("a queue of %u receives does not take them", now.max_wr);
		rv = KV_WRONG;
	}
	return ibv_destroy_srq(srq) ? KV_WRONG : rv;
}

static int srq_grow(struct kv_env *e)
{
	return srq_resize_to(e, 1000, IBV_SRQ_MAX_WR, 0);
}

static int srq_grow_most(struct kv_env *e)
{
	return srq_resize_to(e, e->attr.max_srq_wr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 6);
}

static int srq_shrink_below_posted(struct kv_env *e)
{
	return srq_resize_to(e, 4, IBV_SRQ_MAX_WR, 0);
}

static int srq_grow_limit(struct kv_env *e)
{
	return srq_resize_to(e, 16, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 17);
}

static int srq_grow_too_far(struct kv_env *e)
{
	return srq_resize_to(e, e->attr.max_srq_wr + 1, IBV_SRQ_MAX_WR, 0);
}

static int srq_shrink_none(struct kv_env *e)
{
	return srq_resize_to(e, 0, IBV_SRQ_MAX_WR, 0);
}

const struct kv_case kv_srq_cases[] = {
	{ "srq-wrs", srq_wrs, { EINVAL, ENOMEM }, 0 },
	{ "srq-sges", srq_sges, { EINVAL }, 0 },
	{ "srq-grow", srq_grow, { 0 }, 0 },
	{ "srq-grow-most", srq_grow_most, { 0 }, 0 },
	{ "srq-grow-too-far", srq_grow_too_far, { EINVAL }, 0 },
	{ "srq-grow-limit", srq_grow_limit, { EINVAL }, 0 },
	{ "srq-shrink-below-posted", srq_shrink_below_posted, { EINVAL }, 0 },
	{ "srq-shrink-none", srq_shrink_none, { EINVAL }, 0 },
	{ 0 }
};
