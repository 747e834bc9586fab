// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: polling and arming of completion queues, all in user space.
 *
 * The kernel adds completions, user space takes them.  These functions enter the kernel only to
 * ring the doorbell for left requests: requests in send queues for which no doorbell has been rung
 * yet (doorbell.c).
 */
#include <config.h>

#include <errno.h>
#include <limits.h>

#include <util/compiler.h>

#include "cqe.h"
#include "kwarp.h"

/*
 * Set by kwarp_cq_forget_qp() in the flags of an entry whose QP was destroyed or reset; polls skip
 * the entry.
 */
#define CQE_STALE	KWARP_CQE_USER

/*
 * Ring for at most this many queue pairs before the CQ is polled again: completions may have come
 * meanwhile, and should not wait for more doorbells.
 */
#define DOORBELLS_PER_POLL	16
/* Ring for left requests after this many polls in a row that found something. */
#define BUSY_POLLS	64

void kwarp_cq_lock(struct kwarp_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_lock(&cq->lock);
}

void kwarp_cq_unlock(struct kwarp_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_unlock(&cq->lock);
}

/*
 * Has the kernel, in a resize, begun to use another ring?  kwarp_resize_cq() is about to map it;
 * until then @cq->hdr is the old ring, whose arm and cons the kernel does not read any more.  The
 * lock is held.
 */
static bool cq_moved(const struct kwarp_cq *cq)
{
	if (!cq->resizing)
		return false;
	/*
	 * Full barrier between the caller's store to cons or arm and the load of flags.  It pairs
	 * with the kernel's between its store to flags and its loads of cons and arm: either the
	 * kernel has seen the caller's store, or this function sees the flag.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&cq->hdr->flags, __ATOMIC_RELAXED) & KWARP_RING_MOVED;
}

/* Unlock the CQ.  If the ring has moved, wait until the new one is mapped, and return true. */
static bool cq_unlock_moved(struct kwarp_cq *cq)
{
	unsigned int switches = cq->switches;
	bool moved = cq_moved(cq);

	kwarp_cq_unlock(cq);
	if (!moved)
		return false;
	pthread_mutex_lock(&cq->resize);
	while (cq->switches == switches)
		pthread_cond_wait(&cq->switched, &cq->resize);
	pthread_mutex_unlock(&cq->resize);
	return true;
}

/* Return: entry @i if the kernel has added it, else NULL. */
static struct kwarp_cqe *cq_entry(const struct kwarp_cq *cq, uint32_t i)
{
	const uint16_t phase = i & (cq->mask + 1) ? KWARP_CQE_ODD : KWARP_CQE_EVEN;
	struct kwarp_cqe *cqe = &cq->entries[i & cq->mask];

	/* Acquire: pairs with the kernel's release store to flags, after the rest of the entry. */
	return __atomic_load_n(&cqe->flags, __ATOMIC_ACQUIRE) & phase ? cqe : NULL;
}

/* Release the entries before @cons to the kernel, which may then overwrite them. */
static void cq_release(struct kwarp_cq *cq, uint32_t cons)
{
	if (cons == cq->released)
		return;
	/*
	 * Release: pairs with the kernel's acquire load of cons, after which the kernel
	 * may overwrite the entries that user space has read.
	 */
	__atomic_store_n(&cq->hdr->cons, cons, __ATOMIC_RELEASE);
	cq->released = cons;
}

/* Has the kernel lost an entry, or is the ring not mapped?  Then a completion may never come. */
static bool cq_broken(const struct kwarp_cq *cq)
{
	/* Acquire: the kernel sets KWARP_RING_ERROR after it has added the entries before. */
	uint32_t flags = __atomic_load_n(&cq->hdr->flags, __ATOMIC_ACQUIRE);

	/* After KWARP_RING_MOVED there may be entries in the new ring. */
	return cq->lost || ((flags & (KWARP_RING_ERROR | KWARP_RING_MOVED)) == KWARP_RING_ERROR &&
			    !cq_entry(cq, cq->cons));
}

/* Count a poll in the ring header: the kernel reads there whether the program polls.  Lock held. */
static void note_poll(struct kwarp_cq *cq)
{
	__atomic_store_n(&cq->hdr->polls, ++cq->polls, __ATOMIC_RELAXED);
}

/* Number of queue pairs with left requests. */
static unsigned int n_left(const struct kwarp_cq *cq)
{
	return __atomic_load_n(&cq->n_left, __ATOMIC_RELAXED);
}

/* Ring for @left queue pairs, but at most DOORBELLS_PER_POLL.  Return: the smaller number. */
static unsigned int ring_some_doorbells(struct kwarp_cq *cq, unsigned int left)
{
	unsigned int n = left < DOORBELLS_PER_POLL ? left : DOORBELLS_PER_POLL;

	__atomic_store_n(&cq->busy, 0, __ATOMIC_RELAXED);
	kwarp_ring_left_doorbells(cq, n);
	return n;
}

/*
 * Called when a poll has found something.  After BUSY_POLLS such polls ring for left requests: if
 * each poll finds something, left requests would otherwise wait for ever.
 */
static void ring_doorbells_if_busy(struct kwarp_cq *cq, unsigned int left)
{
	unsigned int was = __atomic_load_n(&cq->busy, __ATOMIC_RELAXED);
	unsigned int busy = left ? was + 1 : 0;

	/* Avoid the store if the value is the same: usually there are no left requests. */
	if (busy != was)
		__atomic_store_n(&cq->busy, busy, __ATOMIC_RELAXED);
	if (busy >= BUSY_POLLS)
		ring_some_doorbells(cq, left);
}

static int take_entries(struct kwarp_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const struct kwarp_cqe *cqe;
	int n = 0;

	if (cq->lost)
		return -EIO;

	note_poll(cq);
	while (n < num_entries) {
		cqe = cq_entry(cq, cq->cons);
		if (!cqe)
			break;
		cq->cons++;
		if (!(cqe->flags & CQE_STALE))
			fill_wc(&wc[n++], cqe);
	}
	cq_release(cq, cq->cons);
	if (!n && num_entries > 0 && cq_broken(cq))
		n = -EIO;
	return n;
}

static int poll_entries(struct kwarp_cq *cq, int num_entries, struct ibv_wc *wc)
{
	bool moved;
	int n;

	do {
		kwarp_cq_lock(cq);
		n = take_entries(cq, num_entries, wc);
		moved = cq_unlock_moved(cq);
	} while (moved && !n && num_entries > 0);
	return n;
}

int kwarp_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	int n = poll_entries(cq, num_entries, wc);
	unsigned int left = n_left(cq);

	if (n > 0)
		ring_doorbells_if_busy(cq, left);
	/*
	 * The poll found nothing: ring for left requests, and poll again, because what is sent may
	 * complete at once.  If the result is 0 in the end, all left requests were rung for.
	 */
	while (!n && num_entries > 0 && left) {
		left -= ring_some_doorbells(cq, left);
		n = poll_entries(cq, num_entries, wc);
	}
	return n;
}

/* Under the lock kwarp_resize_cq() cannot replace the ring. */
static void arm_ring(struct kwarp_cq *cq, uint32_t arm)
{
	/*
	 * An atomic "or" instead of a store: a pending request for the next completion
	 * must not be overwritten by a later one for solicited completions only.  The full
	 * barrier pairs with the kernel's full barrier between its stores to entries and its
	 * read of arm: either the kernel raises the event, or the program's next poll sees
	 * the entry.
	 */
	__atomic_fetch_or(&cq->hdr->arm, arm, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * A program may arm the CQ between ibv_start_poll() and ibv_end_poll(), when it has the lock.  If
 * another thread is resizing the CQ, the kernel may use the new ring by then, which is mapped after
 * the poll only: arming is refused.
 */
static int arm_cq(struct kwarp_cq *cq, uint32_t arm)
{
	if (__atomic_load_n(&cq->poller, __ATOMIC_RELAXED) == pthread_self()) {
		if (cq->resizing)
			return EBUSY;
		arm_ring(cq, arm);
		return 0;
	}
	do {
		kwarp_cq_lock(cq);
		arm_ring(cq, arm);
	} while (cq_unlock_moved(cq));
	return 0;
}

int kwarp_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	int ret = arm_cq(cq, solicited_only ? KWARP_CQ_ARM_SOLICITED : KWARP_CQ_ARM_NEXT);

	if (ret)
		return ret;
	/* The program is about to wait, perhaps for the completion of left requests. */
	if (n_left(cq))
		kwarp_ring_left_doorbells(cq, UINT_MAX);
	return 0;
}

/**
 * kwarp_cq_forget_qp() - hide the completions of a QP that was destroyed or reset
 * @cq: completion queue
 * @qpn: number of the QP; the kernel adds no more entries for requests posted until then
 */
void kwarp_cq_forget_qp(struct kwarp_cq *cq, uint32_t qpn)
{
	struct kwarp_cqe *cqe;
	uint32_t i;

	/* Strict mode needs all completions, and hides these itself. */
	if (cq->strict)
		return;
	/* During a resize the kernel may have copied the entries already. */
	pthread_mutex_lock(&cq->resize);
	while (cq->resizing)
		pthread_cond_wait(&cq->switched, &cq->resize);
	kwarp_cq_lock(cq);
	if (!cq->lost) {
		for (i = cq->cons; (cqe = cq_entry(cq, i)); i++) {
			if (cqe->qpn == qpn)
				cqe->flags |= CQE_STALE;
		}
	}
	kwarp_cq_unlock(cq);
	pthread_mutex_unlock(&cq->resize);
}

/* -------------------------------------------------- extended polling */

static struct kwarp_cq *ex_to_kcq(struct ibv_cq_ex *cqx)
{
	return container_of(cqx, struct kwarp_cq, vcq.cq_ex);
}

/*
 * Copy the next entry that is not hidden (CQE_STALE).  Its slot is released at once: a program that
 * posts a request during the poll could overrun the CQ otherwise.  The lock is held from
 * ibv_start_poll() to ibv_end_poll().  Return: 0; ENOENT: there is none; EIO: see cq_broken().
 */
static int cq_step(struct kwarp_cq *cq)
{
	const struct kwarp_cqe *cqe;

	while ((cqe = cq_entry(cq, cq->cons)) && cqe->flags & CQE_STALE)
		cq->cons++;
	if (cqe) {
		cq->cur = *cqe;
		cq->cons++;
	}
	cq_release(cq, cq->cons);
	if (!cqe)
		return cq_broken(cq) ? EIO : ENOENT;
	cq->vcq.cq_ex.wr_id = cq->cur.id;
	cq->vcq.cq_ex.status = cqe_status(&cq->cur);
	return 0;
}

/* Begin an extended poll.  Return: 0, with the lock held; else an errno value, without the lock. */
static int try_start_poll(struct kwarp_cq *cq)
{
	int ret;

	do {
		kwarp_cq_lock(cq);
		ret = EIO;
		if (!cq->lost) {
			note_poll(cq);
			ret = cq_step(cq);
			if (!ret) {
				__atomic_store_n(&cq->poller, pthread_self(), __ATOMIC_RELAXED);
				return 0;
			}
		}
	} while (cq_unlock_moved(cq));
	return ret;
}

static int start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct kwarp_cq *cq = ex_to_kcq(cqx);
	unsigned int left;
	int ret;

	if (attr->comp_mask)
		return EINVAL;

	ret = try_start_poll(cq);
	left = n_left(cq);
	while (ret == ENOENT && left) {
		left -= ring_some_doorbells(cq, left);
		ret = try_start_poll(cq);
	}
	return ret;
}

static int next_poll(struct ibv_cq_ex *cqx)
{
	struct kwarp_cq *cq = ex_to_kcq(cqx);
	int ret = cq_step(cq);

	cq->empty = ret == ENOENT;
	return ret;
}

static void end_poll(struct ibv_cq_ex *cqx)
{
	struct kwarp_cq *cq = ex_to_kcq(cqx);
	bool empty = cq->empty;

	cq->empty = false;
	__atomic_store_n(&cq->poller, 0, __ATOMIC_RELAXED);
	cq_unlock_moved(cq);
	/* @empty: the program has seen the end of the queue, so ring for all left requests. */
	if (!empty)
		ring_doorbells_if_busy(cq, n_left(cq));
	else if (n_left(cq))
		kwarp_ring_left_doorbells(cq, UINT_MAX);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cqx)
{
	return cqe_opcode(&ex_to_kcq(cqx)->cur);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cqx)
{
	return cqe_vendor_err(&ex_to_kcq(cqx)->cur);
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cqx)
{
	return cqe_flags(&ex_to_kcq(cqx)->cur);
}

static uint32_t read_byte_len(struct ibv_cq_ex *cqx)
{
	return ex_to_kcq(cqx)->cur.byte_len;
}

/*
 * libibverbs calls this for ibv_wc_read_invalidated_rkey(), too: imm and inv_stag are the same word
 * of the entry.
 */
static __be32 read_imm_data(struct ibv_cq_ex *cqx)
{
	return cqe_imm(&ex_to_kcq(cqx)->cur);
}

static uint32_t read_qp_num(struct ibv_cq_ex *cqx)
{
	return ex_to_kcq(cqx)->cur.qpn;
}

static uint64_t read_timestamp(struct ibv_cq_ex *cqx)
{
	return ex_to_kcq(cqx)->cur.timestamp;
}

/* Read a member of struct ibv_wc that iWARP does not have: the result is always 0. */
static uint32_t read_zero32(struct ibv_cq_ex *cqx)
{
	return 0;
}

static uint8_t read_zero8(struct ibv_cq_ex *cqx)
{
	return 0;
}

void kwarp_cq_init_ex(struct kwarp_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;

	cqx->start_poll = start_poll;
	cqx->next_poll = next_poll;
	cqx->end_poll = end_poll;
	cqx->read_opcode = read_opcode;
	cqx->read_vendor_err = read_vendor_err;
	cqx->read_wc_flags = read_wc_flags;

	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cqx->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cqx->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cqx->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cqx->read_src_qp = read_zero32;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cqx->read_slid = read_zero32;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cqx->read_sl = read_zero8;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cqx->read_dlid_path_bits = read_zero8;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cqx->read_completion_ts = read_timestamp;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cqx->read_completion_wallclock_ns = read_timestamp;
}
