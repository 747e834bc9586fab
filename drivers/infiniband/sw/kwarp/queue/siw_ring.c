// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rings in the layout of libsiw, the user-space provider of siw: posted requests are moved from
 * them into the queue's own ring (queue/ring.h), and completions are written to them. Transmit
 * runner: the context that sends for a stream at the moment.
 *
 * There is no shared index: each entry has a flag, SIW_WQE_VALID ("VALID"), that says whether the
 * entry is in use. A program can write to all memory of the rings at any time. So an entry is
 * copied once before its contents are used, and the copy is validated like entries of other
 * programs (wqe.c).
 */
#include "siw_ring.h"

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

/* ---------------------------------------------------------------------- memory */

/* Like kwarp_ring_memory(), for a program; charge->account pays. */
static void *new_memory(size_t len, struct kwarp_charge *charge)
{
	void *mem;

	if (kwarp_charge(charge, kwarp_ring_cost(len)))
		return NULL;
	mem = kwarp_ring_memory(len, true);
	if (!mem)
		kwarp_uncharge(charge);
	return mem;
}

static struct kwarp_siw_wq *new_wq(u32 entries, u32 stride, struct kwarp_account *account)
{
	struct kwarp_siw_wq *wq = kzalloc(sizeof(*wq), GFP_KERNEL_ACCOUNT);

	if (!wq)
		return NULL;
	wq->charge.account = account;
	entries = roundup_pow_of_two(max(entries, 1U));
	wq->mask = entries - 1;
	wq->stride = stride;
	wq->len = (size_t)entries * stride;
	wq->mem = new_memory(wq->len, &wq->charge);
	if (wq->mem)
		return wq;
	kfree(wq);
	return NULL;
}

/**
 * kwarp_siw_new_sq - allocate a send ring
 * @entries: number of requests that the program may post
 * @account: who pays for the memory
 *
 * The newest entry may stay VALID after all requests have completed, and libsiw posts only into an
 * entry that is not VALID. So the ring needs more than @entries entries; as their number is a power
 * of two, the ring has twice as many.
 *
 * Context: process, may sleep.
 * Return: the ring, empty, to be freed with kwarp_siw_free_wq(); NULL: out of memory.
 */
struct kwarp_siw_wq *kwarp_siw_new_sq(u32 entries, struct kwarp_account *account)
{
	return new_wq(2 * max(entries, 1U), sizeof(struct siw_sqe), account);
}

/* Like kwarp_siw_new_sq(), for a receive ring: @entries entries, rounded up to a power of two. */
struct kwarp_siw_wq *kwarp_siw_new_rq(u32 entries, struct kwarp_account *account)
{
	return new_wq(entries, sizeof(struct siw_rqe), account);
}

/*
 * Like kwarp_siw_new_sq(), for a completion ring: @entries entries, rounded up to a power of two;
 * to be freed with kwarp_siw_free_cq().
 */
struct kwarp_siw_cq *kwarp_siw_new_cq(u32 entries, struct kwarp_account *account)
{
	struct kwarp_siw_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);

	if (!cq)
		return NULL;
	cq->charge.account = account;
	entries = roundup_pow_of_two(entries);
	cq->mask = entries - 1;
	cq->len = (size_t)entries * sizeof(struct siw_cqe) + sizeof(struct siw_cq_ctrl);
	cq->mem = new_memory(cq->len, &cq->charge);
	if (!cq->mem) {
		kfree(cq);
		return NULL;
	}
	cq->ctrl = (struct siw_cq_ctrl *)(cq->mem + entries);
	return cq;
}

void kwarp_siw_free_wq(struct kwarp_siw_wq *wq)
{
	if (!wq)
		return;
	vfree(wq->mem);
	kwarp_uncharge(&wq->charge);
	kfree(wq);
}

void kwarp_siw_free_cq(struct kwarp_siw_cq *cq)
{
	if (!cq)
		return;
	vfree(cq->mem);
	kwarp_uncharge(&cq->charge);
	kfree(cq);
}

/* ------------------------------------------------------------------- work queues */

static void *wq_slot(const struct kwarp_siw_wq *wq, u32 index)
{
	return wq->mem + (size_t)(index & wq->mask) * wq->stride;
}

/* The flags of an entry, which are at the same offset in send and receive entries. */
static u16 *flags_at(const struct kwarp_siw_wq *wq, u32 index)
{
	static_assert(offsetof(struct siw_sqe, flags) == offsetof(struct siw_rqe, flags));
	return wq_slot(wq, index) + offsetof(struct siw_sqe, flags);
}

/**
 * kwarp_siw_posted - is this entry posted, and not moved into the queue's own ring yet?
 * @wq: ring
 * @offset: number of the entry; 0 is the first entry that has not been moved
 *
 * Context: the context that takes from the queue; in others the answer is only a hint.
 * Return: true if it is.
 */
bool kwarp_siw_posted(const struct kwarp_siw_wq *wq, u32 offset)
{
	/* READ_ONCE: the timer of engine/tx/pace.c calls this without being the transmit runner. */
	u32 at = READ_ONCE(wq->next) + offset;
	const u16 *kept = READ_ONCE(wq->kept);

	if (offset > wq->mask || (kept && flags_at(wq, at) == kept))
		return false;
	/* Pairs with the program's store of the flag, which follows its stores of the entry. */
	return smp_load_acquire(flags_at(wq, at)) & SIW_WQE_VALID;
}

/* Let the program use the slot again. */
static void release_slot(u16 *flags)
{
	/* Release: after all reads of the slot. Pairs with the program's load of the flag. */
	smp_store_release(flags, 0);
}

/**
 * kwarp_siw_sleep - make libsiw ring the doorbell after its next post
 * @wq: send ring
 *
 * Clears VALID of the newest entry that was moved: libsiw rings only if the entry before the one
 * that it posts is not VALID. A transmit runner that calls this function before it ends needs a
 * full barrier, and must then look for new entries: the program may have posted while the entry was
 * VALID, without ringing.
 *
 * Context: transmit runner.
 */
void kwarp_siw_sleep(struct kwarp_siw_wq *wq)
{
	if (!wq->kept)
		return;
	release_slot(wq->kept);
	WRITE_ONCE(wq->kept, NULL);
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
 * Fill one entry @e of the queue's own ring. Elements or inline octets that do not fit are not
 * copied; then the entry has an opcode or a count that kwarp_wqe_load() refuses.
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

static void next_slot(struct kwarp_siw_wq *wq)
{
	WRITE_ONCE(wq->next, wq->next + 1);
}

/* Set prod of the queue's own ring, which has no other writer. */
static void publish_prod(struct kwarp_ring *ring, u32 prod)
{
	/* Pairs with kwarp_ring_pending(), which may be called without the queue's lock. */
	smp_store_release(&ring->hdr->prod, prod);
}

/**
 * kwarp_siw_pull_sends - move posted requests into the queue's own ring
 * @wq: ring of the program
 * @ring: the queue's own ring
 * @room: free entries of @ring
 *
 * Context: transmit runner.
 * Return: number of requests moved, at most KWARP_IRQ_OFF_BATCH.
 */
u32 kwarp_siw_pull_sends(struct kwarp_siw_wq *wq, struct kwarp_ring *ring, u32 room)
{
	const bool awake = !(READ_ONCE(ring->hdr->flags) & KWARP_RING_NEED_KICK);
	u32 prod = ring->hdr->prod, n = 0;
	struct siw_sqe s;

	room = min_t(u32, room, KWARP_IRQ_OFF_BATCH);
	for (; n < room && kwarp_siw_posted(wq, 0); n++, next_slot(wq)) {
		memcpy(&s, wq_slot(wq, wq->next), sizeof(s));
		/*
		 * Keep the compiler from reading the entry again: the program may change it. Use
		 * only the copy.
		 */
		barrier();
		move_send(kwarp_ring_slot(ring, prod + n), &s,
			  ring->stride - sizeof(struct kwarp_sqe));
		kwarp_siw_sleep(wq);
		if (awake)
			WRITE_ONCE(wq->kept, flags_at(wq, wq->next));
		else
			release_slot(flags_at(wq, wq->next));
	}
	publish_prod(ring, prod + n);
	return n;
}

/* Like kwarp_siw_pull_sends(), for receives.  Context: the queue's lock held. */
u32 kwarp_siw_pull_recvs(struct kwarp_siw_wq *wq, struct kwarp_ring *ring, u32 room)
{
	u32 prod = ring->hdr->prod, n = 0;
	struct siw_rqe r;

	room = min_t(u32, room, KWARP_IRQ_OFF_BATCH);
	for (; n < room && kwarp_siw_posted(wq, 0); n++, next_slot(wq)) {
		memcpy(&r, wq_slot(wq, wq->next), sizeof(r));
		barrier();
		move_recv(kwarp_ring_slot(ring, prod + n), &r,
			  ring->stride - sizeof(struct kwarp_rqe));
		release_slot(flags_at(wq, wq->next));
	}
	publish_prod(ring, prod + n);
	return n;
}

/**
 * kwarp_siw_forget - drop all posted requests (modify to RESET)
 * @wq: ring
 *
 * After a RESET libsiw posts into the next slot, not into the first. So wq->next is not reset
 * either.
 *
 * Context: the context that takes from the queue; the program posts nothing during the call.
 */
void kwarp_siw_forget(struct kwarp_siw_wq *wq)
{
	u32 n;

	kwarp_siw_sleep(wq);
	for (n = 0; n <= wq->mask && kwarp_siw_posted(wq, 0); n++, next_slot(wq))
		release_slot(flags_at(wq, wq->next));
}

/* ------------------------------------------------------------------- completions */

/*
 * Return: the opcode for libsiw. Opcode and status must be known numbers: libsiw uses them as
 * indices of tables, without a check.
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

/**
 * kwarp_siw_push - append a completion, visible to the program at once
 * @cq: ring
 * @index: free-running index of the completion
 * @cqe: the completion
 *
 * Context: the CQ's lock is held.
 * Return: false: the ring is full: its slot still has a completion that the program has not polled.
 */
bool kwarp_siw_push(struct kwarp_siw_cq *cq, u32 index, const struct kwarp_cqe *cqe)
{
	struct siw_cqe *slot = &cq->mem[index & cq->mask];

	/* Pairs with the program's store of the flag after it has read the entry. */
	if (smp_load_acquire(&slot->flags) & SIW_WQE_VALID)
		return false;
	slot->id = cqe->id;
	slot->opcode = cqe_opcode(cqe->opcode);
	slot->status = cqe_status(cqe->status);
	slot->bytes = cqe->byte_len;
	slot->imm_data = cqe->inv_stag;
	slot->qp_id = cqe->qpn;
	/* Pairs with the program's load of the flag, after which it reads the entry. */
	smp_store_release(&slot->flags, SIW_WQE_VALID);
	return true;
}

/* Return: the word by which the program arms the CQ (asks for an event). */
u32 *kwarp_siw_arm(struct kwarp_siw_cq *cq)
{
	return &cq->ctrl->flags;
}
