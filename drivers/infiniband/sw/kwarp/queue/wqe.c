// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loading work requests out of rings that user space may scribble into.
 */
#include "wqe.h"

#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>

static_assert(sizeof(struct kwarp_sqe) + KWARP_MAX_INLINE == 512);
static_assert(sizeof(struct kwarp_sqe) + KWARP_MAX_SGE * sizeof(struct kwarp_sge) == 512);

u32 kwarp_sqe_stride(u32 sges, u32 inl)
{
	u32 body = max_t(u32, sges * sizeof(struct kwarp_sge), inl);

	return roundup_pow_of_two(sizeof(struct kwarp_sqe) + body);
}

u32 kwarp_rqe_stride(u32 sges)
{
	return roundup_pow_of_two(sizeof(struct kwarp_rqe) +
				  sges * sizeof(struct kwarp_sge));
}

static bool sgl_len(const struct kwarp_sge *sge, u32 n, u32 *len)
{
	u32 i, sum = 0;

	for (i = 0; i < n; i++)
		if (check_add_overflow(sum, sge[i].length, &sum))
			return false;
	*len = sum;
	return true;
}

static bool opcode_ok(const struct kwarp_sqe *e, bool user)
{
	switch (e->opcode) {
	case KWARP_WR_WRITE:
	case KWARP_WR_SEND:
	case KWARP_WR_SEND_INV:
		return true;
	case KWARP_WR_READ_INV:
		/* The sink is a region of user space, which cannot be invalidated. */
		if (user)
			return false;
		fallthrough;
	case KWARP_WR_READ:
		/* 5040-5.2.2-10: one Read Response fills one buffer. */
		return e->num_sge <= KWARP_MAX_SGE_RD && !(e->flags & KWARP_WR_INLINE);
	case KWARP_WR_LOCAL_INV:
	case KWARP_WR_BIND_MW:
		return !e->num_sge && !(e->flags & KWARP_WR_INLINE);
	case KWARP_WR_REG_MR:
		return !user && !e->num_sge;
	default:
		return false;
	}
}

/**
 * kwarp_wqe_load - copy a send entry and validate the copy
 * @wqe: result; @wqe->e.id is valid even on failure
 * @slot: entry in the ring
 * @stride: octets per entry
 * @user: the ring belongs to user space
 *
 * Context: any.
 * Return: false if the entry makes no sense.
 */
bool kwarp_wqe_load(struct kwarp_wqe *wqe, const void *slot, u32 stride, bool user)
{
	u32 room = stride - sizeof(wqe->e);

	memcpy(&wqe->e, slot, sizeof(wqe->e));
	/* From here on only the private copy counts. */
	barrier();
	wqe->len = 0;
	if (!opcode_ok(&wqe->e, user))
		return false;
	if (wqe->e.flags & KWARP_WR_INLINE) {
		if (wqe->e.num_sge || wqe->e.inline_len > min_t(u32, room, sizeof(wqe->data)))
			return false;
		memcpy(wqe->data, slot + sizeof(wqe->e), wqe->e.inline_len);
		wqe->len = wqe->e.inline_len;
		return true;
	}
	if (wqe->e.num_sge > min_t(u32, room / sizeof(wqe->sge[0]), KWARP_MAX_SGE))
		return false;
	memcpy(wqe->sge, slot + sizeof(wqe->e), wqe->e.num_sge * sizeof(wqe->sge[0]));
	barrier();
	return sgl_len(wqe->sge, wqe->e.num_sge, &wqe->len);
}

/* The same for a receive entry. */
bool kwarp_rwqe_load(struct kwarp_rwqe *rwqe, const void *slot, u32 stride)
{
	struct kwarp_rqe e;

	memcpy(&e, slot, sizeof(e));
	barrier();
	rwqe->id = e.id;
	rwqe->num_sge = 0;
	rwqe->len = 0;
	if (e.num_sge > min_t(u32, (stride - sizeof(e)) / sizeof(rwqe->sge[0]),
			      KWARP_MAX_SGE))
		return false;
	rwqe->num_sge = e.num_sge;
	memcpy(rwqe->sge, slot + sizeof(e), e.num_sge * sizeof(rwqe->sge[0]));
	barrier();
	return sgl_len(rwqe->sge, rwqe->num_sge, &rwqe->len);
}
