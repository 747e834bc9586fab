// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting by kernel consumers: turns ib_send_wr and ib_recv_wr into ring entries, in the format in
 * which programs write the entries of their own rings.
 */
#include "rq.h"
#include "sq.h"

static u64 copy_sgl(struct kwarp_sge *dst, const struct ib_sge *src, int n)
{
	u64 len = 0;
	int i;

	for (i = 0; i < n; i++) {
		len += src[i].length;
		dst[i].addr = src[i].addr;
		dst[i].length = src[i].length;
		dst[i].lkey = src[i].lkey;
	}
	return len;
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

/* KWARP_WR_MAX: kernel consumers may not post @ib_wr. */
static u8 opcode_of(enum ib_wr_opcode ib_wr)
{
	u8 op;

	for (op = 0; op < KWARP_WR_MAX; op++)
		if (kwarp_wr_rule(op)->kernel && kwarp_wr_rule(op)->ib_wr == ib_wr)
			break;
	return op;
}

static void fill_op(struct kwarp_sqe *e, const struct kwarp_wr_rule *rule,
		    const struct ib_send_wr *wr)
{
	if (rule->remote) {
		e->raddr = rdma_wr(wr)->remote_addr;
		e->rkey = rdma_wr(wr)->rkey;
	}
	if (rule->inv)
		e->inv_stag = wr->ex.invalidate_rkey;
	if (rule->imm)
		e->imm = (__force u32)wr->ex.imm_data;
	if (rule->atomic) {
		e->raddr = atomic_wr(wr)->remote_addr;
		e->rkey = atomic_wr(wr)->rkey;
		e->compare_add = atomic_wr(wr)->compare_add;
		e->swap = atomic_wr(wr)->swap;
	}
	if (e->opcode == KWARP_WR_REG_MR) {
		e->rkey = reg_wr(wr)->key;
		e->access = reg_wr(wr)->access;
	}
}

static int fill_sqe(struct kwarp_sq *sq, struct kwarp_sqe *e,
		    const struct ib_send_wr *wr)
{
	const u8 opcode = opcode_of(wr->opcode);
	const struct kwarp_wr_rule *rule = kwarp_wr_rule(opcode);
	u32 room = sq->ring.stride - sizeof(*e);

	if (!rule->kernel || (rule->rfc7306 && !sq->rfc7306))
		return -EINVAL;
	memset(e, 0, sizeof(*e));
	e->id = wr->wr_id;
	e->opcode = opcode;
	if (wr->send_flags & IB_SEND_SIGNALED)
		e->flags |= KWARP_WR_SIGNALED;
	if (wr->send_flags & IB_SEND_SOLICITED)
		e->flags |= KWARP_WR_SOLICITED;
	if (wr->send_flags & IB_SEND_FENCE)
		e->flags |= KWARP_WR_FENCE;
	fill_op(e, rule, wr);
	if (rule->local)
		return 0;
	if (wr->num_sge < 0 || wr->num_sge > rule->max_sge ||
	    (wr->send_flags & IB_SEND_INLINE && !rule->inlined))
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return copy_inline(e, wr, min_t(u32, room, KWARP_MAX_INLINE));
	if (wr->num_sge > room / sizeof(struct kwarp_sge))
		return -EINVAL;
	if (rule->atomic && (wr->num_sge != 1 || wr->sg_list->length != sizeof(u64)))
		return -EINVAL;
	e->num_sge = wr->num_sge;
	if (copy_sgl((struct kwarp_sge *)(e + 1), wr->sg_list, wr->num_sge) > KWARP_MAX_MSG)
		return -EINVAL;
	return 0;
}

/*
 * Context: any. Return: 0; -ENOMEM: the queue is full; -EINVAL: a request is not valid. The
 * requests before @bad have been posted.
 */
int kwarp_sq_post(struct kwarp_sq *sq, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad)
{
	unsigned long irqflags;
	int ret = 0;

	spin_lock_irqsave(&sq->post_lock, irqflags);
	for (; wr; wr = wr->next) {
		/* Pairs with kwarp_ring_release(): the slots before cons are free. */
		u32 used = sq->posted - smp_load_acquire(&sq->ring.hdr->cons);

		ret = used >= kwarp_ring_size(&sq->ring) ? -ENOMEM :
		      fill_sqe(sq, kwarp_ring_slot(&sq->ring, sq->posted), wr);
		if (ret) {
			*bad = wr;
			break;
		}
		sq->posted++;
	}
	/* Pairs with kwarp_ring_pending(), which then sees the entries. */
	smp_store_release(&sq->ring.hdr->prod, sq->posted);
	spin_unlock_irqrestore(&sq->post_lock, irqflags);
	return ret;
}

/* Like kwarp_sq_post(), for receives of a queue pair or an SRQ. Context: any. */
int kwarp_rq_post(struct kwarp_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad)
{
	unsigned long irqflags;
	int ret = 0;

	spin_lock_irqsave(&rq->post_lock, irqflags);
	for (; wr; wr = wr->next) {
		/* Pairs with kwarp_ring_release(): the slots before cons are free. */
		u32 used = rq->posted - smp_load_acquire(&rq->ring.hdr->cons);
		struct kwarp_rqe *e = kwarp_ring_slot(&rq->ring, rq->posted);

		if (used >= kwarp_ring_size(&rq->ring))
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
	/* Pairs with kwarp_ring_pending(), which then sees the entries. */
	smp_store_release(&rq->ring.hdr->prod, rq->posted);
	spin_unlock_irqrestore(&rq->post_lock, irqflags);
	return ret;
}
