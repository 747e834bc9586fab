// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Work requests are copied from rings, and the copies are validated: user space may write to a ring
 * at any time.
 */
#include "wqe.h"

#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "../proto/ddp.h"

static_assert(sizeof(struct kwarp_sqe) + KWARP_MAX_INLINE == 512);
static_assert(sizeof(struct kwarp_sqe) + KWARP_MAX_SGE * sizeof(struct kwarp_sge) == 512);

static const struct kwarp_wr_rule rules[KWARP_WR_MAX + 1] = {
	[KWARP_WR_WRITE]     = { .user = true, .kernel = true, .inlined = true, .remote = true,
				 .max_sge = KWARP_MAX_SGE,
				 .op = { KWARP_OP_WRITE, KWARP_OP_WRITE },
				 .ib_wr = IB_WR_RDMA_WRITE, .ib_wc = IB_WC_RDMA_WRITE },
	/* 5040-5.2.2-10: a Read Response fills one buffer, so a Read has one element. */
	[KWARP_WR_READ]      = { .user = true, .kernel = true, .awaits = true, .remote = true,
				 .max_sge = KWARP_MAX_SGE_RD,
				 .ib_wr = IB_WR_RDMA_READ, .ib_wc = IB_WC_RDMA_READ },
	[KWARP_WR_SEND]      = { .user = true, .kernel = true, .inlined = true,
				 .max_sge = KWARP_MAX_SGE,
				 .op = { KWARP_OP_SEND, KWARP_OP_SEND_SE },
				 .ib_wr = IB_WR_SEND, .ib_wc = IB_WC_SEND },
	[KWARP_WR_SEND_INV]  = { .user = true, .kernel = true, .inlined = true, .inv = true,
				 .max_sge = KWARP_MAX_SGE,
				 .op = { KWARP_OP_SEND_INV, KWARP_OP_SEND_SE_INV },
				 .ib_wr = IB_WR_SEND_WITH_INV, .ib_wc = IB_WC_SEND },
	/*
	 * Programs may not post a Read with Invalidate: the sink of their Reads is a region of user
	 * space, which cannot be invalidated.
	 */
	[KWARP_WR_READ_INV]  = { .kernel = true, .awaits = true, .remote = true, .inv = true,
				 .max_sge = KWARP_MAX_SGE_RD,
				 .ib_wr = IB_WR_RDMA_READ_WITH_INV, .ib_wc = IB_WC_RDMA_READ },
	[KWARP_WR_LOCAL_INV] = { .user = true, .kernel = true, .local = true, .inv = true,
				 .ib_wr = IB_WR_LOCAL_INV, .ib_wc = IB_WC_LOCAL_INV },
	[KWARP_WR_BIND_MW]   = { .user = true, .local = true, .ib_wc = IB_WC_BIND_MW },
	[KWARP_WR_REG_MR]    = { .kernel = true, .local = true,
				 .ib_wr = IB_WR_REG_MR, .ib_wc = IB_WC_REG_MR },
	/*
	 * 7306-6.1-1, 7306-D-2: this request is sent as a Write and, after it, a message with the
	 * Immediate Data.
	 */
	[KWARP_WR_WRITE_IMM] = { .user = true, .kernel = true, .inlined = true, .remote = true,
				 .imm = true, .rfc7306 = true, .max_sge = KWARP_MAX_SGE,
				 .op = { KWARP_OP_IMM, KWARP_OP_IMM_SE },
				 .ib_wr = IB_WR_RDMA_WRITE_WITH_IMM, .ib_wc = IB_WC_RDMA_WRITE },
	[KWARP_WR_FETCH_ADD] = { .user = true, .kernel = true, .atomic = true, .awaits = true,
				 .rfc7306 = true, .max_sge = 1,
				 .ib_wr = IB_WR_ATOMIC_FETCH_AND_ADD, .ib_wc = IB_WC_FETCH_ADD },
	[KWARP_WR_CMP_SWAP]  = { .user = true, .kernel = true, .atomic = true, .awaits = true,
				 .rfc7306 = true, .max_sge = 1,
				 .ib_wr = IB_WR_ATOMIC_CMP_AND_SWP, .ib_wc = IB_WC_COMP_SWAP },
	/* Kernel consumers are not wired: they connect with rdma_cm. */
	[KWARP_WR_SEND_IMM]  = { .user = true, .inlined = true, .send_imm = true,
				 .max_sge = KWARP_MAX_SGE,
				 .op = { KWARP_OP_SEND_IMM, KWARP_OP_SEND_SE_IMM },
				 .ib_wc = IB_WC_SEND },
	[KWARP_WR_MAX]       = { .ib_wc = IB_WC_SEND },
};

const struct kwarp_wr_rule *kwarp_wr_rule(u8 opcode)
{
	return &rules[min_t(u8, opcode, KWARP_WR_MAX)];
}

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

static u64 sgl_len(const struct kwarp_sge *sge, u32 n)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += sge[i].length;
	return sum;
}

/* @wqe->e.id and @wqe->rule are valid even on failure. */
bool kwarp_wqe_load(struct kwarp_wqe *wqe, const void *slot, u32 stride, bool user)
{
	u32 room = stride - sizeof(wqe->e);
	u64 len;

	memcpy(&wqe->e, slot, sizeof(wqe->e));
	/*
	 * Keep the compiler from reading the slot again: the program may change it. Use only the
	 * copy.
	 */
	barrier();
	wqe->len = 0;
	wqe->rule = kwarp_wr_rule(wqe->e.opcode);
	if (!(user ? wqe->rule->user : wqe->rule->kernel))
		return false;
	if (wqe->e.flags & KWARP_WR_INLINE) {
		if (!wqe->rule->inlined || wqe->e.num_sge ||
		    wqe->e.inline_len > min_t(u32, room, sizeof(wqe->data)))
			return false;
		memcpy(wqe->data, slot + sizeof(wqe->e), wqe->e.inline_len);
		wqe->len = wqe->e.inline_len;
		return true;
	}
	if (wqe->e.num_sge > min_t(u32, room / sizeof(wqe->sge[0]), wqe->rule->max_sge))
		return false;
	memcpy(wqe->sge, slot + sizeof(wqe->e), wqe->e.num_sge * sizeof(wqe->sge[0]));
	barrier();
	len = sgl_len(wqe->sge, wqe->e.num_sge);
	if (len > KWARP_MAX_MSG)
		return false;
	wqe->len = len;
	return !wqe->rule->atomic || len == sizeof(u64);	/* eight octets: 7306-D-7 */
}

/* @rwqe->id is set in any case. */
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
	/* A receive may be longer than any message. */
	rwqe->len = min_t(u64, sgl_len(rwqe->sge, rwqe->num_sge), KWARP_MAX_MSG);
	return true;
}
