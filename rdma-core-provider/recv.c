// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: ibv_post_recv(), ibv_post_srq_recv().
 *
 * A post fills slots of the shared ring and publishes them with one store.  It rings the doorbell
 * only if the kernel asked for it, which it does while a message waits for a receive, and after the
 * queue pair has failed: the kernel then flushes the receives.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "kwarp.h"
#include "say.h"

static int put_recv(struct ibv_context *ctx, struct kwarp_wq *wq, const struct ibv_recv_wr *wr)
{
	struct kwarp_ring *ring = &wq->ring;
	struct kwarp_rqe *rqe;

	if ((unsigned int)wr->num_sge > wq->max_sge)
		return kwarp_refuse(ctx, EINVAL, "ibv_post_recv: num_sge %d > max_recv_sge %u",
				    wr->num_sge, wq->max_sge);
	if (kwarp_ring_full(ring))
		return kwarp_refuse(ctx, ENOMEM,
				    "ibv_post_recv: the queue is full: max_recv_wr is %u", ring->max);

	rqe = kwarp_ring_next(ring);
	rqe->id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	rqe->rsvd = 0;
	if (wr->num_sge)
		memcpy(rqe + 1, wr->sg_list,
		       wr->num_sge * sizeof(*wr->sg_list));

	ring->prod++;
	return 0;
}

/*
 * Put receives into the ring and publish them.
 *
 * Return: 0, or an errno value; @bad_wr is then the first request that is not in the ring.
 */
static int put_recvs(struct ibv_context *ctx, struct kwarp_wq *wq, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	struct ibv_recv_wr *first = wr;
	int ret = 0;

	kwarp_wq_lock(wq);
	for (; wr; wr = wr->next) {
		ret = put_recv(ctx, wq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (wr != first)
		kwarp_ring_publish(&wq->ring);
	kwarp_wq_unlock(wq);
	return ret;
}

static int post_recv(struct kwarp_context *ctx, struct kwarp_wq *wq,
		     struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct ibv_recv_wr *first = wr;
	int ret = put_recvs(&ctx->ibv_ctx.context, wq, wr, bad_wr), err;
	bool posted = first && (!ret || *bad_wr != first);

	if (posted && kwarp_ring_flags(&wq->ring) & KWARP_RING_NEED_KICK) {
		err = kwarp_ring_doorbell(ctx, wq);
		if (err && !ret) {
			*bad_wr = first;
			ret = err;
		}
	}
	return ret;
}

int kwarp_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	/* The QP has no receive queue, because it uses an SRQ. */
	if (!qp->rq.ring.hdr && ibqp->srq) {
		*bad_wr = wr;
		return kwarp_refuse(ibqp->context, EINVAL,
				    "ibv_post_recv: the queue pair has a shared receive queue: use ibv_post_srq_recv");
	}
	return post_recv(to_kctx(ibqp->context), &qp->rq, wr, bad_wr);
}

int kwarp_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	/*
	 * An SRQ has no doorbell, so its flags need not be read.  Here, without the lock, they
	 * must not be read, because a resize may have unmapped the ring.
	 */
	return put_recvs(ibsrq->context, &to_ksrq(ibsrq)->wq, wr, bad_wr);
}
