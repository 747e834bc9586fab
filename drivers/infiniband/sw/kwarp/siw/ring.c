// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * There is no shared index: each entry has a flag, SIW_WQE_VALID ("VALID"), that says whether the
 * entry is in use. A program can write to all memory of the rings at any time. So an entry is
 * copied once before its contents are used, and the copy is validated like entries of other
 * programs (wqe.c).
 */
#include "ring.h"

#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <rdma/siw-abi.h>

static_assert(sizeof(struct siw_sqe) == 120);
static_assert(sizeof(struct siw_rqe) == 112);
static_assert(sizeof(struct siw_cqe) == 32);
static_assert(sizeof(struct siw_sge) == sizeof(struct kwarp_sge));
/* The program arms a CQ with the same bits as kwarp's own provider. */
static_assert(SIW_NOTIFY_SOLICITED == KWARP_CQ_ARM_SOLICITED);
static_assert(SIW_NOTIFY_NEXT_COMPLETION == KWARP_CQ_ARM_NEXT);

static void *slot(const struct kwarp_siw_ring *r, u32 index)
{
	return r->mem + (size_t)(index & r->mask) * r->stride;
}

static u16 *flags_at(const struct kwarp_siw_ring *r, u32 index)
{
	static_assert(offsetof(struct siw_sqe, flags) == offsetof(struct siw_rqe, flags));
	return slot(r, index) + offsetof(struct siw_sqe, flags);
}

static bool ring_posted(const struct kwarp_foreign_ring *f, u32 offset)
{
	const struct kwarp_siw_ring *r = to_siw_ring(f);
	/* READ_ONCE: the timer of pace.c calls this without being the transmit runner. */
	u32 at = READ_ONCE(r->next) + offset;
	const u16 *kept = READ_ONCE(r->kept);

	if (offset > r->mask || (kept && flags_at(r, at) == kept))
		return false;
	/* Pairs with the program's store of the flag, which follows its stores of the entry. */
	return smp_load_acquire(flags_at(r, at)) & SIW_WQE_VALID;
}

static void release_slot(u16 *flags)
{
	/* Release: after all reads of the slot. Pairs with the program's load of the flag. */
	smp_store_release(flags, 0);
}

/*
 * Clears VALID of the newest entry that was moved: libsiw rings only if the entry before the one
 * that it posts is not VALID. The program may have posted while the entry was VALID, without
 * ringing, so the caller looks for new entries.
 */
static void ring_sleep(struct kwarp_foreign_ring *f)
{
	struct kwarp_siw_ring *r = to_siw_ring(f);

	if (!r->kept)
		return;
	release_slot(r->kept);
	WRITE_ONCE(r->kept, NULL);
}

static u8 wr_opcode(u8 opcode)
{
	switch (opcode) {
	case SIW_OP_WRITE:
		return KWARP_WR_WRITE;
	case SIW_OP_READ:
		return KWARP_WR_READ;
	case SIW_OP_SEND:
		return KWARP_WR_SEND;
	case SIW_OP_SEND_REMOTE_INV:
		return KWARP_WR_SEND_INV;
	default:
		return KWARP_WR_MAX;
	}
}

static u16 wr_flags(u16 flags)
{
	return (flags & SIW_WQE_SIGNALLED ? KWARP_WR_SIGNALED : 0) |
	       (flags & SIW_WQE_SOLICITED ? KWARP_WR_SOLICITED : 0) |
	       (flags & SIW_WQE_READ_FENCE ? KWARP_WR_FENCE : 0) |
	       (flags & SIW_WQE_INLINE ? KWARP_WR_INLINE : 0);
}

/*
 * Elements or inline octets that do not fit are not copied; then the entry has an opcode or a count
 * that kwarp_wqe_load() refuses.
 */
static void move_send(struct kwarp_sqe *e, const struct siw_sqe *s, u32 room)
{
	u32 inl = s->sge[0].length, n = s->num_sge;

	*e = (struct kwarp_sqe) {
		.id = s->id,
		.opcode = wr_opcode(s->opcode),
		.flags = wr_flags(s->flags),
		.raddr = s->raddr,
		.rkey = s->rkey,
		/* libsiw puts the STag to invalidate into rkey: siw_sqe has no field for it */
		.inv_stag = s->opcode == SIW_OP_SEND_REMOTE_INV ? s->rkey : 0,
	};
	if (s->flags & SIW_WQE_INLINE) {
		if (inl > SIW_MAX_INLINE)
			e->opcode = KWARP_WR_MAX;
		e->inline_len = inl;
		memcpy(e + 1, &s->sge[1], min3(inl, room, (u32)SIW_MAX_INLINE));
		return;
	}
	if (n > SIW_MAX_SGE)
		e->opcode = KWARP_WR_MAX;
	e->num_sge = n;
	memcpy(e + 1, s->sge, min3(n, room / (u32)sizeof(s->sge[0]), (u32)SIW_MAX_SGE) *
				      sizeof(s->sge[0]));
}

static void move_recv(struct kwarp_rqe *e, const struct siw_rqe *r, u32 room)
{
	u32 n = r->num_sge;

	*e = (struct kwarp_rqe) {
		.id = r->id,
		.num_sge = n > SIW_MAX_SGE ? U32_MAX : n,
	};
	memcpy(e + 1, r->sge, min3(n, room / (u32)sizeof(r->sge[0]), (u32)SIW_MAX_SGE) *
				      sizeof(r->sge[0]));
}

static void next_slot(struct kwarp_siw_ring *r)
{
	WRITE_ONCE(r->next, r->next + 1);
}

/* Set prod of the queue's own ring, which has no other writer. */
static void publish_prod(struct kwarp_ring *ring, u32 prod)
{
	/* Pairs with kwarp_ring_pending(), which may be called without the queue's lock. */
	smp_store_release(&ring->hdr->prod, prod);
}

static u32 pull_sends(struct kwarp_foreign_ring *f, struct kwarp_ring *ring, u32 room)
{
	struct kwarp_siw_ring *r = to_siw_ring(f);
	const bool awake = !(READ_ONCE(ring->hdr->flags) & KWARP_RING_NEED_KICK);
	u32 prod = ring->hdr->prod, n = 0;
	struct siw_sqe s;

	room = min_t(u32, room, KWARP_IRQ_OFF_BATCH);
	for (; n < room && ring_posted(f, 0); n++, next_slot(r)) {
		memcpy(&s, slot(r, r->next), sizeof(s));
		/*
		 * Keep the compiler from reading the entry again: the program may change it. Use
		 * only the copy.
		 */
		barrier();
		move_send(kwarp_ring_slot(ring, prod + n), &s,
			  ring->stride - sizeof(struct kwarp_sqe));
		ring_sleep(f);
		if (awake)
			WRITE_ONCE(r->kept, flags_at(r, r->next));
		else
			release_slot(flags_at(r, r->next));
	}
	publish_prod(ring, prod + n);
	return n;
}

static u32 pull_recvs(struct kwarp_foreign_ring *f, struct kwarp_ring *ring, u32 room)
{
	struct kwarp_siw_ring *r = to_siw_ring(f);
	u32 prod = ring->hdr->prod, n = 0;
	struct siw_rqe e;

	room = min_t(u32, room, KWARP_IRQ_OFF_BATCH);
	for (; n < room && ring_posted(f, 0); n++, next_slot(r)) {
		memcpy(&e, slot(r, r->next), sizeof(e));
		barrier();
		move_recv(kwarp_ring_slot(ring, prod + n), &e,
			  ring->stride - sizeof(struct kwarp_rqe));
		release_slot(flags_at(r, r->next));
	}
	publish_prod(ring, prod + n);
	return n;
}

/* After a RESET libsiw posts into the next slot, not into the first: @next is not reset either. */
static void ring_forget(struct kwarp_foreign_ring *f)
{
	struct kwarp_siw_ring *r = to_siw_ring(f);
	u32 n;

	ring_sleep(f);
	for (n = 0; n <= r->mask && ring_posted(f, 0); n++, next_slot(r))
		release_slot(flags_at(r, r->next));
}

/*
 * Opcode and status must be known numbers: libsiw uses them as indices of tables, without a check.
 */
static u8 cqe_opcode(u8 opcode)
{
	switch (opcode) {
	case KWARP_WR_WRITE:
		return SIW_OP_WRITE;
	case KWARP_WR_READ:
		return SIW_OP_READ;
	case KWARP_WR_SEND_INV:
		return SIW_OP_SEND_REMOTE_INV;
	case KWARP_WC_RECV:
	case KWARP_WC_RECV_INV:
		return SIW_OP_RECEIVE;
	default:
		return SIW_OP_SEND;
	}
}

static u16 cqe_status(u8 status)
{
	switch (status) {
	case KWARP_WC_SUCCESS:
		return SIW_WC_SUCCESS;
	case KWARP_WC_LOC_LEN_ERR:
		return SIW_WC_LOC_LEN_ERR;
	case KWARP_WC_LOC_PROT_ERR:
		return SIW_WC_LOC_PROT_ERR;
	case KWARP_WC_LOC_QP_OP_ERR:
		return SIW_WC_LOC_QP_OP_ERR;
	case KWARP_WC_FLUSH_ERR:
		return SIW_WC_WR_FLUSH_ERR;
	case KWARP_WC_REM_INV_REQ_ERR:
		return SIW_WC_REM_INV_REQ_ERR;
	case KWARP_WC_REM_ACCESS_ERR:
		return SIW_WC_REM_ACCESS_ERR;
	default:
		return SIW_WC_GENERAL_ERR;
	}
}

static bool push_cqe(struct kwarp_foreign_ring *f, u32 index, const struct kwarp_cqe *cqe)
{
	struct siw_cqe *to = slot(to_siw_ring(f), index);

	/* Pairs with the program's store of the flag after it has read the entry. */
	if (smp_load_acquire(&to->flags) & SIW_WQE_VALID)
		return false;
	to->id = cqe->id;
	to->opcode = cqe_opcode(cqe->opcode);
	to->status = cqe_status(cqe->status);
	to->bytes = cqe->byte_len;
	to->imm_data = cqe->opcode == KWARP_WC_RECV_INV ? cqe->inv_stag : 0;
	to->qp_id = cqe->qpn;
	/* Pairs with the program's load of the flag, after which it reads the entry. */
	smp_store_release(&to->flags, SIW_WQE_VALID);
	return true;
}

static const struct kwarp_foreign_ring_ops send_ops = {
	.posted = ring_posted,
	.pull = pull_sends,
	.sleep = ring_sleep,
	.forget = ring_forget,
};

static const struct kwarp_foreign_ring_ops recv_ops = {
	.posted = ring_posted,
	.pull = pull_recvs,
	.forget = ring_forget,
};

static const struct kwarp_foreign_ring_ops cq_ops = {
	.push = push_cqe,
};

/* @tail: octets after the last entry. Like kwarp_ring_init(), for a program; @account pays. */
static struct kwarp_siw_ring *new_ring(const struct kwarp_foreign_ring_ops *ops, u32 entries,
				       u32 stride, size_t tail, struct kwarp_account *account)
{
	struct kwarp_siw_ring *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	entries = roundup_pow_of_two(max(entries, 1U));
	r->foreign.ops = ops;
	r->foreign.size = entries;
	r->mask = entries - 1;
	r->stride = stride;
	r->len = (size_t)entries * stride + tail;
	r->charge.account = account;
	if (!kwarp_charge(&r->charge, kwarp_ring_cost(r->len)))
		r->mem = kwarp_ring_memory(r->len, true);
	if (r->mem)
		return r;
	kwarp_siw_free(r);
	return NULL;
}

/*
 * The newest entry may stay VALID after all requests have completed, and libsiw posts only into an
 * entry that is not VALID. So the ring needs more than @entries entries; as their number is a power
 * of two, the ring has twice as many. Return: the ring, empty, to be freed with kwarp_siw_free();
 * NULL: out of memory.
 */
struct kwarp_siw_ring *kwarp_siw_new_sq(u32 entries, struct kwarp_account *account)
{
	return new_ring(&send_ops, 2 * max(entries, 1U), sizeof(struct siw_sqe), 0, account);
}

/* Like kwarp_siw_new_sq(), for a receive ring: @entries entries, rounded up to a power of two. */
struct kwarp_siw_ring *kwarp_siw_new_rq(u32 entries, struct kwarp_account *account)
{
	return new_ring(&recv_ops, entries, sizeof(struct siw_rqe), 0, account);
}

/* Like kwarp_siw_new_rq(), for a completion ring; the word that arms is after the last entry. */
struct kwarp_siw_ring *kwarp_siw_new_cq(u32 entries, struct kwarp_account *account)
{
	struct kwarp_siw_ring *r = new_ring(&cq_ops, entries, sizeof(struct siw_cqe),
					    sizeof(struct siw_cq_ctrl), account);

	if (r)
		r->foreign.arm = &((struct siw_cq_ctrl *)(r->mem + r->len) - 1)->flags;
	return r;
}

void kwarp_siw_free(struct kwarp_siw_ring *r)
{
	vfree(r->mem);
	kwarp_uncharge(&r->charge);
	kfree(r);
}
