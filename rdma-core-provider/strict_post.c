// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: posting.  Requests are posted one by one, so that the record of each is in
 * its queue before the kernel can complete it, and goes if it is refused.
 */
#include <config.h>

#include <errno.h>

#include "strict.h"

static int check_data(struct kwarp_strict_request *r, const struct ibv_send_wr *wr)
{
	uint64_t total = 0;
	int i;

	if (wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV || wr->num_sge <= 0)
		return 0;
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return kwarp_strict_sges(r, wr->num_sge, wr->sg_list, "ibv_post_send");
	/* Inline data is copied: the memory is the program's again at once. */
	r->source = false;
	if ((unsigned int)wr->num_sge > r->max_sge)
		return 0;	/* refused later */
	for (i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	return kwarp_strict_inline(r->q->qp, total, "ibv_post_send");
}

/* @early: 0, or the error of a post before the queue pair is connected: check the request only */
static int post_one_send(struct kwarp_strict_qp *qp, const struct ibv_send_wr *wr, int early)
{
	struct kwarp_ring *ring = &qp->qp->sq.ring;
	struct kwarp_strict_request *r;
	struct ibv_send_wr one = *wr, *bad;
	uint32_t prod = ring->prod;
	int ret;

	ret = early ? 0 : kwarp_strict_room(&qp->sq, 0, false, "ibv_post_send");
	if (ret)
		return ret;
	r = kwarp_strict_new(&qp->sq, wr->wr_id, qp->qp->sq.max_sge);
	if (!r)
		return ENOMEM;
	kwarp_strict_opcode(r, wr->opcode);
	r->signaled = qp->qp->sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	ret = check_data(r, wr);
	if (!ret)
		ret = early;
	if (ret) {
		kwarp_strict_free(r);
		return ret;
	}
	kwarp_strict_put(r);
	one.next = NULL;
	one.wr_id = (uintptr_t)r;
	ret = kwarp_post_send(&qp->qp->vqp.qp, &one, &bad);
	/* If only the doorbell has failed, the request is in the ring. */
	if (ret && ring->prod == prod)
		kwarp_strict_take_back(r);
	return ret;
}

int kwarp_strict_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			   struct ibv_send_wr **bad_wr)
{
	struct kwarp_strict_qp *qp = to_kqp(ibqp)->strict;
	int ret = 0, early;

	pthread_mutex_lock(&qp->sq.post);
	early = kwarp_strict_state(qp, "ibv_post_send");
	for (; wr; wr = wr->next) {
		ret = post_one_send(qp, wr, early);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	pthread_mutex_unlock(&qp->sq.post);
	return ret;
}

int kwarp_strict_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct kwarp_strict_qp *qp = to_kqp(ibqp)->strict;
	struct kwarp_ring *ring = &qp->qp->sq.ring;
	struct kwarp_strict_request *r;
	struct ibv_mw_bind one = *bind;
	uint32_t prod;
	int ret;

	pthread_mutex_lock(&qp->sq.post);
	ret = kwarp_strict_state(qp, "ibv_bind_mw");
	if (!ret)
		ret = kwarp_strict_room(&qp->sq, 0, false, "ibv_bind_mw");
	r = ret ? NULL : kwarp_strict_new(&qp->sq, bind->wr_id, 0);
	if (!ret && !r)
		ret = ENOMEM;
	if (r) {
		kwarp_strict_opcode(r, IBV_WR_BIND_MW);
		r->signaled = qp->qp->sig_all || bind->send_flags & IBV_SEND_SIGNALED;
		kwarp_strict_put(r);
		one.wr_id = (uintptr_t)r;
		prod = ring->prod;
		ret = kwarp_bind_mw(ibqp, mw, &one);
		if (ret && ring->prod == prod)
			kwarp_strict_take_back(r);
	}
	pthread_mutex_unlock(&qp->sq.post);
	return ret;
}

static int raw_post_recv(struct kwarp_strict_queue *q, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad;

	if (q->qp)
		return kwarp_post_recv(&q->qp->qp->vqp.qp, wr, &bad);
	return kwarp_post_srq_recv(&container_of(q->wq, struct kwarp_srq, wq)->ibv_srq, wr, &bad);
}

static int post_one_recv(struct kwarp_strict_queue *q, const struct ibv_recv_wr *wr,
			 bool late, const char *call)
{
	struct kwarp_ring *ring = &q->wq->ring;
	struct kwarp_strict_request *r;
	struct ibv_recv_wr one = *wr;
	uint32_t prod = ring->prod;
	int ret;

	ret = kwarp_strict_room(q, 0, false, call);
	if (ret)
		return ret;
	r = kwarp_strict_new(q, wr->wr_id, q->wq->max_sge);
	if (!r)
		return ENOMEM;
	r->signaled = true;
	r->sink = true;
	r->late = late;
	ret = wr->num_sge > 0 ? kwarp_strict_sges(r, wr->num_sge, wr->sg_list, call) : 0;
	if (ret) {
		kwarp_strict_free(r);
		return ret;
	}
	kwarp_strict_put(r);
	one.next = NULL;
	one.wr_id = (uintptr_t)r;
	ret = raw_post_recv(q, &one);
	if (ret && ring->prod == prod)
		kwarp_strict_take_back(r);
	return ret;
}

static int post_recvs(struct kwarp_strict_queue *q, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr, bool late, const char *call)
{
	int ret = 0;

	pthread_mutex_lock(&q->post);
	for (; wr; wr = wr->next) {
		ret = post_one_recv(q, wr, late, call);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	pthread_mutex_unlock(&q->post);
	return ret;
}

int kwarp_strict_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
			   struct ibv_recv_wr **bad_wr)
{
	struct kwarp_strict_qp *qp = to_kqp(ibqp)->strict;
	struct kwarp_strict_queue *q = &qp->rq;
	uint32_t flags;

	if (!q->wq->ring.hdr)
		return kwarp_post_recv(ibqp, wr, bad_wr);
	/* The kernel asks for a doorbell while a message waits, and after the end. */
	flags = kwarp_ring_flags(&q->wq->ring);
	if (flags & KWARP_RING_NEED_KICK && !(flags & KWARP_RING_ERROR) &&
	    kwarp_strict_on(q->s, STRICT_RECV_POSTED))
		kwarp_strict_say(q->s, q->told, STRICT_RECV_POSTED,
				 "ibv_post_recv: queue pair %u: a message was there before this receive, and waits since then (knob receive_wait); post receives before the peer may send",
				 ibqp->qp_num);
	return post_recvs(q, wr, bad_wr, flags & KWARP_RING_ERROR, "ibv_post_recv");
}

int kwarp_strict_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
	return post_recvs(to_ksrq(ibsrq)->strict, wr, bad_wr, false, "ibv_post_srq_recv");
}
