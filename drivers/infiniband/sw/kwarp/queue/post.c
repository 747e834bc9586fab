// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting by kernel consumers: ib_send_wr and ib_recv_wr into the same rings that
 * user space fills itself.
 */
#include "rq.h"
#include "sq.h"

static void copy_sgl(struct kwarp_sge *dst, const struct ib_sge *src, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		dst[i].addr = src[i].addr;
		dst[i].length = src[i].length;
		dst[i].lkey = src[i].lkey;
	}
}

static int copy_inline(struct kwarp_sqe *e, const struct ib_send_wr *wr, u32 room)
{
	u8 *dst = (u8 *)(e + 1);
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		u32 n = wr->sg_list[i].length;

		if (n > room - len)
			return -EINVAL;
		memcpy(dst + len, (void *)(uintptr_t)wr->sg_list[i].addr, n);
		len += n;
	}
	e->inline_len = len;
	e->flags |= KWARP_WR_INLINE;
	return 0;
}

static int fill_rdma(struct kwarp_sqe *e, const struct ib_send_wr *wr)
{
	e->raddr = rdma_wr(wr)->remote_addr;
	e->rkey = rdma_wr(wr)->rkey;
	if (e->opcode != KWARP_WR_WRITE &&
	    (wr->num_sge > KWARP_MAX_SGE_RD || wr->send_flags & IB_SEND_INLINE))
		return -EINVAL;
	return 0;
}

static int fill_op(struct kwarp_sqe *e, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
		e->opcode = KWARP_WR_WRITE;
		return fill_rdma(e, wr);
	case IB_WR_RDMA_READ:
		e->opcode = KWARP_WR_READ;
		return fill_rdma(e, wr);
	case IB_WR_RDMA_READ_WITH_INV:
		e->opcode = KWARP_WR_READ_INV;
		return fill_rdma(e, wr);
	case IB_WR_SEND:
		e->opcode = KWARP_WR_SEND;
		return 0;
	case IB_WR_SEND_WITH_INV:
		e->opcode = KWARP_WR_SEND_INV;
		e->inv_stag = wr->ex.invalidate_rkey;
		return 0;
	case IB_WR_LOCAL_INV:
		e->opcode = KWARP_WR_LOCAL_INV;
		e->inv_stag = wr->ex.invalidate_rkey;
		return 0;
	case IB_WR_REG_MR:
		e->opcode = KWARP_WR_REG_MR;
		e->rkey = reg_wr(wr)->key;
		e->access = reg_wr(wr)->access;
		return 0;
	default:
		return -EINVAL;
	}
}

static int fill_sqe(struct kwarp_sq *sq, struct kwarp_sqe *e,
		    const struct ib_send_wr *wr)
{
	u32 room = sq->ring.stride - sizeof(*e);
	int ret;

	memset(e, 0, sizeof(*e));
	e->id = wr->wr_id;
	if (wr->send_flags & IB_SEND_SIGNALED)
		e->flags |= KWARP_WR_SIGNALED;
	if (wr->send_flags & IB_SEND_SOLICITED)
		e->flags |= KWARP_WR_SOLICITED;
	if (wr->send_flags & IB_SEND_FENCE)
		e->flags |= KWARP_WR_FENCE;
	ret = fill_op(e, wr);
	if (ret || wr->opcode == IB_WR_REG_MR || wr->opcode == IB_WR_LOCAL_INV)
		return ret;
	if (wr->num_sge < 0 || wr->num_sge > KWARP_MAX_SGE)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return copy_inline(e, wr, min_t(u32, room, KWARP_MAX_INLINE));
	if (wr->num_sge > room / sizeof(struct kwarp_sge))
		return -EINVAL;
	e->num_sge = wr->num_sge;
	copy_sgl((struct kwarp_sge *)(e + 1), wr->sg_list, wr->num_sge);
	return 0;
}

/**
 * kwarp_sq_post - append a chain of send requests
 * @sq: queue of a kernel consumer
 * @wr: chain
 * @bad: set to the first one refused
 *
 * Context: any.
 * Return: 0, -ENOMEM (full), -EINVAL.  Requests before the bad one are posted.
 */
int kwarp_sq_post(struct kwarp_sq *sq, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad)
{
	unsigned long irqflags;
	int ret = 0;

	spin_lock_irqsave(&sq->post_lock, irqflags);
	for (; wr; wr = wr->next) {
		/* Pairs with kwarp_ring_release(): the slot is no longer read. */
		u32 used = sq->posted - smp_load_acquire(&sq->ring.hdr->cons);

		ret = used >= sq->max_wr ? -ENOMEM :
		      fill_sqe(sq, kwarp_ring_slot(&sq->ring, sq->posted), wr);
		if (ret) {
			*bad = wr;
			break;
		}
		sq->posted++;
	}
	/* Pairs with kwarp_ring_pending(). */
	smp_store_release(&sq->ring.hdr->prod, sq->posted);
	spin_unlock_irqrestore(&sq->post_lock, irqflags);
	return ret;
}

/* The same for receives; also used for an SRQ. */
int kwarp_rq_post(struct kwarp_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad)
{
	unsigned long irqflags;
	int ret = 0;

	spin_lock_irqsave(&rq->post_lock, irqflags);
	for (; wr; wr = wr->next) {
		/* Pairs with kwarp_ring_release(): the slot is no longer read. */
		u32 used = rq->posted - smp_load_acquire(&rq->ring.hdr->cons);
		struct kwarp_rqe *e = kwarp_ring_slot(&rq->ring, rq->posted);

		if (used >= rq->max_wr)
			ret = -ENOMEM;
		else if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
			ret = -EINVAL;
		if (ret) {
			*bad = wr;
			break;
		}
		e->id = wr->wr_id;
		e->num_sge = wr->num_sge;
		copy_sgl((struct kwarp_sge *)(e + 1), wr->sg_list, wr->num_sge);
		rq->posted++;
	}
	/* Pairs with kwarp_ring_pending(). */
	smp_store_release(&rq->ring.hdr->prod, rq->posted);
	spin_unlock_irqrestore(&rq->post_lock, irqflags);
	return ret;
}
