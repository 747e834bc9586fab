// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: doorbells: calls that tell the kernel of posted requests, made at once or later.
 *
 * A post enters the kernel (rings the doorbell) only if the kernel asked for it.  struct
 * kwarp_ring_hdr in rdma/kwarp-abi.h describes the protocol.
 *
 * If the kernel holds the send queue (KWARP_RING_HELD), the post does not ring: the
 * requests are left in the ring.  Each CQ has a list of the queue pairs with such
 * left requests.  Their doorbells are rung when the program has nothing else to do:
 * when a poll of the CQ finds nothing, or the program asks for an event.
 */
#include <config.h>

#include <errno.h>
#include <sys/ioctl.h>

#include <ccan/array_size.h>

#include "kwarp.h"

/* Has the kernel asked for a doorbell?  If so, it does not look at the ring until one is rung. */
static bool needs_doorbell(const struct kwarp_wq *wq)
{
	return __atomic_load_n(&wq->ring.hdr->flags, __ATOMIC_SEQ_CST) & KWARP_RING_NEED_KICK;
}

/**
 * kwarp_ring_doorbell() - ring the doorbell of a work queue
 * @ctx: context
 * @wq: queue; no lock needed
 *
 * In this call the kernel sends, or flushes, the requests that have been posted.
 *
 * Return: 0; EIO: the device is gone; another errno value: the ioctl() failed (a security
 * module may forbid it) and the kernel still waits for a doorbell, so the requests stay in
 * the ring.  EIO also replaces ENOMEM and EINVAL, because a program would take these for
 * "not posted" and post the requests again.  If the ioctl() fails but the kernel needs no
 * doorbell any more, the result is 0: the requests will complete or be flushed.
 */
int kwarp_ring_doorbell(const struct kwarp_context *ctx, const struct kwarp_wq *wq)
{
	int ret;

	do {
		ret = ioctl(ctx->doorbell, wq->doorbell, wq->qpn) ? errno : 0;
	} while (ret == EINTR);
	if (!ret || ret == EIO)
		return ret;
	if (!needs_doorbell(wq))
		return 0;
	/* The program would take EINVAL or ENOMEM for "not posted". */
	return ret == EINVAL || ret == ENOMEM ? EIO : ret;
}

/* ---------------------------------------------------------- left requests */

/* Add a queue pair to the list @cq->left, of queue pairs with left requests. */
static void leave_on(struct kwarp_cq *cq, struct kwarp_left *left)
{
	/*
	 * If the queue pair is on the list already, the thread that will remove it from the
	 * list reads prod after that, and rings for the requests of this thread, too: the
	 * fence in kwarp_ring_flags(), after this thread's store to prod, pairs with the
	 * fence in take_left().
	 */
	if (__atomic_load_n(&left->on, __ATOMIC_RELAXED))
		return;
	pthread_spin_lock(&cq->left_lock);
	if (!left->on) {
		__atomic_store_n(&left->on, true, __ATOMIC_RELAXED);
		list_add_tail(&cq->left, &left->node);
		__atomic_store_n(&cq->n_left, cq->n_left + 1, __ATOMIC_RELAXED);
	}
	pthread_spin_unlock(&cq->left_lock);
}

/* Remove a queue pair from the list @cq->left; cq->left_lock is held. */
static void take_left(struct kwarp_cq *cq, struct kwarp_left *left)
{
	list_del_from(&cq->left, &left->node);
	__atomic_store_n(&cq->n_left, cq->n_left - 1, __ATOMIC_RELAXED);
	__atomic_store_n(&left->on, false, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Remove a queue pair from the list @cq->left, if it is on the list. */
static void forget_left(struct kwarp_cq *cq, struct kwarp_left *left)
{
	pthread_spin_lock(&cq->left_lock);
	if (left->on)
		take_left(cq, left);
	pthread_spin_unlock(&cq->left_lock);
}

/* A queue pair is being destroyed: remove it from the lists of its CQs. */
void kwarp_forget_left(struct kwarp_qp *qp)
{
	forget_left(to_kcq(qp->vqp.qp.send_cq), &qp->left[0]);
	forget_left(to_kcq(qp->vqp.qp.recv_cq), &qp->left[1]);
}

/**
 * kwarp_posted_send() - ring the doorbell after a post, or leave the requests in the ring
 * @qp: queue pair; no lock needed
 *
 * Return: 0 if no doorbell is rung, otherwise as kwarp_ring_doorbell().
 */
int kwarp_posted_send(struct kwarp_qp *qp)
{
	struct kwarp_cq *scq = to_kcq(qp->vqp.qp.send_cq);
	struct kwarp_cq *rcq = to_kcq(qp->vqp.qp.recv_cq);
	uint32_t flags = kwarp_ring_flags(&qp->sq.ring);

	if (flags & KWARP_RING_NEED_KICK) {
		__atomic_store_n(&qp->rung, qp->sq.ring.hdr->prod, __ATOMIC_RELAXED);
		return kwarp_ring_doorbell(to_kctx(qp->vqp.qp.context), &qp->sq);
	}
	if (!(flags & KWARP_RING_HELD))
		return 0;
	leave_on(scq, &qp->left[0]);
	if (rcq != scq)
		leave_on(rcq, &qp->left[1]);
	return 0;
}

/*
 * Remove up to *@n queue pairs from the list @cq->left, but stop after the first one that needs a
 * doorbell, because requests were posted to it since its last doorbell.  Reduce *@n by the number
 * of queue pairs removed.
 *
 * Return: number (QPN) of the queue pair that needs a doorbell; 0: none needs one.
 */
static uint32_t next_left(struct kwarp_cq *cq, unsigned int *n)
{
	struct kwarp_left *left;
	struct kwarp_qp *qp;
	uint32_t prod, qpn = 0;

	pthread_spin_lock(&cq->left_lock);
	while (!qpn && *n) {
		left = list_top(&cq->left, struct kwarp_left, node);
		if (!left)
			break;
		(*n)--;
		take_left(cq, left);
		qp = left->qp;
		prod = __atomic_load_n(&qp->sq.ring.hdr->prod, __ATOMIC_RELAXED);
		/* No doorbell if the other CQ has rung, or the kernel has taken all requests. */
		if (prod == __atomic_load_n(&qp->rung, __ATOMIC_RELAXED) ||
		    prod == __atomic_load_n(&qp->sq.ring.hdr->cons, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&qp->rung, prod, __ATOMIC_RELAXED);
		qpn = qp->sq.qpn;
	}
	pthread_spin_unlock(&cq->left_lock);
	return qpn;
}

/*
 * Collect in @bells queue pairs that need a doorbell, as many as one ioctl() can name.  *@n:
 * largest number of queue pairs to remove from the list; reduced by those removed, and 0 at the end
 * of the list.
 */
static void take_doorbells(struct kwarp_cq *cq, struct kwarp_doorbells *bells,
			   unsigned int *n)
{
	uint32_t qpn;

	bells->n = 0;
	while (*n && bells->n < ARRAY_SIZE(bells->qpn)) {
		qpn = next_left(cq, n);
		if (!qpn) {
			*n = 0;
			break;
		}
		bells->qpn[bells->n++] = qpn;
	}
}

/*
 * Ring for the queue pairs of a list.  An error is ignored, because a poll has no result for
 * it.  If the device is gone, the next post that rings the doorbell returns EIO.
 */
static void ring_doorbells(const struct kwarp_context *ctx,
			   const struct kwarp_doorbells *bells)
{
	if (bells->n == 1)
		ioctl(ctx->doorbell, KWARP_IOC_POSTED_SEND, bells->qpn[0]);
	else if (bells->n)
		ioctl(ctx->doorbell, KWARP_IOC_POSTED_SENDS, bells);
}

/**
 * kwarp_ring_left_doorbells() - ring for the left requests of a CQ
 * @cq: completion queue; its lock is not held, unless the program arms it during an extended poll
 * @most: largest number of queue pairs to ring for in this call
 *
 * A queue pair may be destroyed during this call, so outside of the lock only its number
 * is used.  Queue pairs that are added to the list during this call are not rung for:
 * other threads may keep posting, and the loop has to end.
 */
void kwarp_ring_left_doorbells(struct kwarp_cq *cq, unsigned int most)
{
	const struct kwarp_context *ctx = to_kctx(cq->vcq.cq.context);
	unsigned int n = __atomic_load_n(&cq->n_left, __ATOMIC_RELAXED);
	struct kwarp_doorbells bells = {};

	if (n > most)
		n = most;
	do {
		take_doorbells(cq, &bells, &n);
		ring_doorbells(ctx, &bells);
	} while (n);
}
