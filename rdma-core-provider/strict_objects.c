// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: objects, and the operations of a context.
 *
 * The program is told the sizes that it has asked for, even if the kernel gives more: it may use
 * all that it is told of.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "strict.h"

/* ----------------------------------------------------------------------- queues */

static void queue_link(struct kwarp_strict_queue *q)
{
	pthread_mutex_lock(&q->s->lock);
	list_add_tail(&q->s->queues, &q->node);
	pthread_mutex_unlock(&q->s->lock);
}

static void queue_unlink(struct kwarp_strict_queue *q)
{
	pthread_mutex_lock(&q->s->lock);
	list_del_from(&q->s->queues, &q->node);
	pthread_mutex_unlock(&q->s->lock);
}

static void queue_init(struct kwarp_strict_queue *q, struct kwarp_strict *s, struct kwarp_wq *wq,
		       uint32_t max_wr, uint32_t max_sge)
{
	q->s = s;
	q->wq = wq;
	q->max_wr = max_wr;
	q->max_sge = max_sge;
	pthread_mutex_init(&q->post, NULL);
	list_head_init(&q->requests);
	queue_link(q);
}

static void queue_empty(struct kwarp_strict_queue *q)
{
	struct kwarp_strict_request *r;

	while ((r = list_top(&q->requests, struct kwarp_strict_request, node)))
		kwarp_strict_drop(r);
	q->refused = 0;
}

/* The queue was unlinked before. */
static void queue_fini(struct kwarp_strict_queue *q)
{
	pthread_mutex_lock(&q->s->lock);
	queue_empty(q);
	pthread_mutex_unlock(&q->s->lock);
	pthread_mutex_destroy(&q->post);
}

/* ------------------------------------------------------------ completion queues */

struct kwarp_strict_cq *kwarp_strict_add_cq(struct kwarp_strict *s, struct kwarp_cq *cq, int cqe,
					    bool channel)
{
	struct kwarp_strict_cq *strict = calloc(1, sizeof(*strict));

	if (!strict)
		return NULL;
	strict->s = s;
	strict->cq = cq;
	strict->raw = cq->vcq.cq_ex;
	strict->cqe = cqe;
	strict->channel = channel;
	/* An odd number, so that it is not 0, of which no random number would come. */
	strict->random = (s->seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
	pthread_mutex_init(&strict->lock, NULL);
	list_head_init(&strict->held);
	cq->strict = strict;
	return strict;
}

void kwarp_strict_drop_cq(struct kwarp_strict_cq *cq)
{
	pthread_mutex_destroy(&cq->lock);
	free(cq);
}

static struct kwarp_strict *strict_of(struct ibv_context *ctx)
{
	return to_kctx(ctx)->strict;
}

static struct kwarp_cq *add_cq(struct ibv_cq *ibcq, int cqe, bool channel)
{
	struct kwarp_cq *cq = to_kcq(ibcq);

	if (!kwarp_strict_add_cq(strict_of(ibcq->context), cq, cqe, channel)) {
		kwarp_destroy_cq(ibcq);
		errno = ENOMEM;
		return NULL;
	}
	if (kwarp_strict_on(cq->strict->s, STRICT_CAPS_ASKED))
		ibcq->cqe = cqe;
	return cq;
}

static struct ibv_cq *create_cq(struct ibv_context *ctx, int cqe, struct ibv_comp_channel *channel,
				int comp_vector)
{
	struct ibv_cq *ibcq = kwarp_create_cq(ctx, cqe, channel, comp_vector);

	if (!ibcq)
		return NULL;
	/* strict_poll.c takes completions by extended polls. */
	kwarp_cq_init_ex(to_kcq(ibcq), 0);
	return add_cq(ibcq, cqe, channel) ? ibcq : NULL;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cqx = kwarp_create_cq_ex(ctx, attr);
	struct kwarp_cq *cq;

	if (!cqx)
		return NULL;
	cq = add_cq(ibv_cq_ex_to_cq(cqx), attr->cqe, attr->channel);
	if (!cq)
		return NULL;
	cq->strict->may_overrun = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
				  attr->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	kwarp_strict_cq_init_ex(cq->strict);
	return cqx;
}

static int resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct kwarp_strict_cq *cq = to_kcq(ibcq)->strict;
	int ret = kwarp_resize_cq(ibcq, cqe);

	if (ret)
		return ret;
	pthread_mutex_lock(&cq->s->lock);
	cq->cqe = cqe;
	pthread_mutex_unlock(&cq->s->lock);
	if (kwarp_strict_on(cq->s, STRICT_CAPS_ASKED))
		ibcq->cqe = cqe;
	return 0;
}

static int destroy_cq(struct ibv_cq *ibcq)
{
	struct kwarp_strict_cq *cq = to_kcq(ibcq)->strict;
	int ret = kwarp_destroy_cq(ibcq);

	if (!ret)
		kwarp_strict_drop_cq(cq);
	return ret;
}

/* ------------------------------------------------------------------ queue pairs */

int kwarp_strict_add_qp(struct kwarp_strict *s, struct kwarp_qp *qp, const struct ibv_qp_cap *cap)
{
	struct kwarp_strict_qp *strict = calloc(1, sizeof(*strict));

	if (!strict)
		return ENOMEM;
	strict->qp = qp;
	strict->qpn = qp->vqp.qp.qp_num;
	strict->max_inline = cap->max_inline_data;
	strict->sq.qp = strict;
	strict->rq.qp = strict;
	strict->rq.recv = true;
	strict->sq.cq = to_kcq(qp->vqp.qp.send_cq)->strict;
	strict->rq.cq = to_kcq(qp->vqp.qp.recv_cq)->strict;
	list_head_init(&strict->batch);
	queue_init(&strict->sq, s, &qp->sq, cap->max_send_wr, cap->max_send_sge);
	queue_init(&strict->rq, s, &qp->rq, cap->max_recv_wr, cap->max_recv_sge);
	qp->strict = strict;
	return 0;
}

/* The queue pair is about to go.  Nobody else looks at its queues from here on. */
void kwarp_strict_unlink_qp(struct kwarp_strict_qp *qp)
{
	kwarp_strict_say_refused(&qp->sq, "ibv_destroy_qp");
	kwarp_strict_say_refused(&qp->rq, "ibv_destroy_qp");
	queue_unlink(&qp->sq);
	queue_unlink(&qp->rq);
}

void kwarp_strict_drop_qp(struct kwarp_strict_qp *qp)
{
	queue_fini(&qp->sq);
	queue_fini(&qp->rq);
	free(qp);
}

/*
 * The queue pair is about to go: from here on no poll of another thread looks at the ordinary queue
 * pair, as it does to see whether the queue pair is connected.  Return: for undo.
 */
static bool leave_polls(struct kwarp_strict_qp *qp)
{
	const bool rts = __atomic_exchange_n(&qp->rts, true, __ATOMIC_RELAXED);

	kwarp_strict_settle(qp->sq.cq);
	kwarp_strict_settle(qp->rq.cq);
	return rts;
}

/* Forget the completions.  They name requests, so this comes before the queues are emptied. */
static void forget_in_cqs(struct kwarp_strict_qp *qp)
{
	kwarp_strict_forget(qp->sq.cq, qp->qpn);
	if (qp->rq.cq != qp->sq.cq)
		kwarp_strict_forget(qp->rq.cq, qp->qpn);
}

/* @ibqp: what was created, or NULL. @cap: what the program is told. Return: @ibqp or NULL. */
static struct ibv_qp *made_qp(struct kwarp_strict *s, struct ibv_qp *ibqp, struct ibv_qp_cap *cap,
			      const struct ibv_qp_cap *asked)
{
	if (!ibqp)
		return NULL;
	if (kwarp_strict_add_qp(s, to_kqp(ibqp), asked)) {
		kwarp_destroy_qp(ibqp);
		errno = ENOMEM;
		return NULL;
	}
	if (kwarp_strict_on(s, STRICT_CAPS_ASKED))
		*cap = *asked;
	return ibqp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct kwarp_strict *s = strict_of(ctx);
	const struct ibv_qp_cap asked = attr->cap;
	struct ibv_qp *ibqp = kwarp_create_qp_ex(ctx, attr);

	ibqp = made_qp(s, ibqp, &attr->cap, &asked);
	if (ibqp && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		kwarp_strict_qp_init_ex(to_kqp(ibqp)->strict);
	return ibqp;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct kwarp_strict *s = strict_of(pd->context);
	const struct ibv_qp_cap asked = attr->cap;
	struct ibv_qp *ibqp = kwarp_create_qp(pd, attr);

	return made_qp(s, ibqp, &attr->cap, &asked);
}

static void mark_gone(struct kwarp_strict_queue *q)
{
	struct kwarp_strict_request *r;

	list_for_each(&q->requests, r, node)
		r->gone = true;
}

static void drop_gone(struct kwarp_strict_queue *q)
{
	struct kwarp_strict_request *r, *next;

	list_for_each_safe(&q->requests, r, next, node)
		if (r->gone)
			kwarp_strict_drop(r);
	q->refused = 0;
}

static void qp_was_reset(struct kwarp_strict_qp *qp)
{
	struct kwarp_strict *s = qp->sq.s;

	forget_in_cqs(qp);
	pthread_mutex_lock(&s->lock);
	drop_gone(&qp->sq);
	drop_gone(&qp->rq);
	qp->sent = false;
	pthread_mutex_unlock(&s->lock);
	__atomic_store_n(&qp->rts, false, __ATOMIC_RELAXED);
	__atomic_store_n(&qp->access, false, __ATOMIC_RELAXED);
}

/*
 * During the reset no thread is between the record of a request and its entry in the ring, which
 * names the record.  Afterwards the CQs' locks are taken without those of the queues: a program may
 * post during an extended poll.
 */
static int reset_qp(struct kwarp_strict_qp *qp, struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		    int mask)
{
	struct kwarp_strict *s = qp->sq.s;
	int ret;

	pthread_mutex_lock(&qp->sq.post);
	pthread_mutex_lock(&qp->rq.post);
	ret = kwarp_modify_qp(ibqp, attr, mask);
	if (!ret) {
		pthread_mutex_lock(&s->lock);
		mark_gone(&qp->sq);
		mark_gone(&qp->rq);
		pthread_mutex_unlock(&s->lock);
	}
	pthread_mutex_unlock(&qp->rq.post);
	pthread_mutex_unlock(&qp->sq.post);
	if (!ret)
		qp_was_reset(qp);
	return ret;
}

int kwarp_strict_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct kwarp_strict_qp *qp = to_kqp(ibqp)->strict;
	const bool reset = mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET;
	int ret;

	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_INIT &&
	    !(mask & IBV_QP_ACCESS_FLAGS) && !qp->access &&
	    kwarp_strict_on(qp->sq.s, STRICT_ACCESS_UNSET)) {
		kwarp_strict_say(qp->sq.s, qp->sq.told, STRICT_ACCESS_UNSET,
				 "ibv_modify_qp: queue pair %u: to INIT without IBV_QP_ACCESS_FLAGS in attr_mask: refused with EINVAL; set qp_access_flags to the rights that the peer needs, or to 0",
				 ibqp->qp_num);
		return EINVAL;
	}
	if (reset)
		ret = reset_qp(qp, ibqp, attr, mask);
	else
		ret = kwarp_modify_qp(ibqp, attr, mask);
	if (!ret && mask & IBV_QP_ACCESS_FLAGS)
		__atomic_store_n(&qp->access, true, __ATOMIC_RELAXED);
	return ret;
}

static void set_cap(const struct kwarp_strict_qp *qp, struct ibv_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.max_wr;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_recv_wr = qp->rq.max_wr;
	cap->max_recv_sge = qp->rq.max_sge;
	cap->max_inline_data = qp->max_inline;
}

static int query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		    struct ibv_qp_init_attr *init_attr)
{
	struct kwarp_strict_qp *qp = to_kqp(ibqp)->strict;
	int ret = kwarp_query_qp(ibqp, attr, mask, init_attr);

	if (!ret && kwarp_strict_on(qp->sq.s, STRICT_CAPS_ASKED)) {
		set_cap(qp, &attr->cap);
		set_cap(qp, &init_attr->cap);
	}
	return ret;
}

static int destroy_qp(struct ibv_qp *ibqp)
{
	struct kwarp_strict_qp *qp = to_kqp(ibqp)->strict;
	const bool rts = leave_polls(qp);
	int ret;

	kwarp_strict_unlink_qp(qp);
	ret = kwarp_destroy_qp(ibqp);
	if (ret) {
		__atomic_store_n(&qp->rts, rts, __ATOMIC_RELAXED);
		queue_link(&qp->sq);
		queue_link(&qp->rq);
		return ret;
	}
	forget_in_cqs(qp);
	kwarp_strict_drop_qp(qp);
	return 0;
}

/* -------------------------------------------------------- shared receive queues */

int kwarp_strict_add_srq(struct kwarp_strict *s, struct kwarp_srq *srq,
			 const struct ibv_srq_attr *attr)
{
	struct kwarp_strict_queue *strict = calloc(1, sizeof(*strict));

	if (!strict)
		return ENOMEM;
	strict->recv = true;
	queue_init(strict, s, &srq->wq, attr->max_wr, attr->max_sge);
	srq->strict = strict;
	return 0;
}

void kwarp_strict_drop_srq(struct kwarp_strict_queue *srq)
{
	queue_unlink(srq);
	queue_fini(srq);
	free(srq);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct kwarp_strict *s = strict_of(pd->context);
	const struct ibv_srq_attr asked = attr->attr;
	struct ibv_srq *ibsrq = kwarp_create_srq(pd, attr);

	if (!ibsrq)
		return NULL;
	if (kwarp_strict_add_srq(s, to_ksrq(ibsrq), &asked)) {
		kwarp_destroy_srq(ibsrq);
		errno = ENOMEM;
		return NULL;
	}
	if (kwarp_strict_on(s, STRICT_CAPS_ASKED)) {
		attr->attr.max_wr = asked.max_wr;
		attr->attr.max_sge = asked.max_sge;
	}
	return ibsrq;
}

static int modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct kwarp_strict_queue *q = to_ksrq(ibsrq)->strict;
	const uint32_t asked = attr->max_wr;
	int ret;

	/* No thread looks at the ring while it is replaced. */
	pthread_mutex_lock(&q->post);
	ret = kwarp_modify_srq(ibsrq, attr, mask);
	if (!ret && mask & IBV_SRQ_MAX_WR) {
		pthread_mutex_lock(&q->s->lock);
		q->max_wr = asked;
		pthread_mutex_unlock(&q->s->lock);
	}
	pthread_mutex_unlock(&q->post);
	return ret;
}

static int destroy_srq(struct ibv_srq *ibsrq)
{
	struct kwarp_strict_queue *srq = to_ksrq(ibsrq)->strict;
	int ret = kwarp_destroy_srq(ibsrq);

	if (!ret)
		kwarp_strict_drop_srq(srq);
	return ret;
}

/* ---------------------------------------------------------------------- regions */

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     int access)
{
	struct ibv_mr *mr = kwarp_reg_mr(pd, addr, length, iova, access);

	if (mr)
		kwarp_strict_add_mr(strict_of(pd->context), to_kmr(mr), addr, length);
	return mr;
}

static struct ibv_mr *reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access)
{
	struct ibv_mr *mr = kwarp_reg_dmabuf_mr(pd, offset, length, iova, fd, access);

	if (mr)
		kwarp_strict_add_mr(strict_of(pd->context), to_kmr(mr), NULL, length);
	return mr;
}

static bool names(const struct kwarp_strict_request *r, uint32_t lkey)
{
	unsigned int i;

	for (i = 0; i < r->num_sge; i++) {
		if (r->sge[i].lkey == lkey && r->sge[i].length)
			return true;
	}
	return false;
}

static const struct kwarp_strict_request *naming(const struct kwarp_strict_queue *q,
						 uint32_t lkey)
{
	const struct kwarp_strict_request *r;

	list_for_each(&q->requests, r, node) {
		if (names(r, lkey))
			return r;
	}
	return NULL;
}

/**
 * kwarp_strict_check_mr() - a region is about to go: no request may name it any more
 * @s: strict mode
 * @mr: region
 * @call: the program's call
 *
 * Requests of a queue pair that is not connected, or not any more, do not touch the memory.
 */
void kwarp_strict_check_mr(struct kwarp_strict *s, const struct kwarp_mr *mr, const char *call)
{
	const uint32_t lkey = mr->vmr.ibv_mr.lkey;
	const struct kwarp_strict_request *r;
	struct kwarp_strict_queue *q;

	if (!kwarp_strict_on(s, STRICT_MEMORY_CHANGED))
		return;
	list_for_each(&s->queues, q, node) {
		r = q->qp ? naming(q, lkey) : NULL;
		if (r && kwarp_strict_is_rts(q->qp))
			kwarp_strict_say(s, q->told, STRICT_MEMORY_CHANGED,
					 "%s: queue pair %u: %s wr_id %#llx names the region with lkey %#x, and is not complete; poll its completion, or end the connection, first",
					 call, q->qp->qpn, kwarp_strict_name(r),
					 (unsigned long long)r->wr_id, lkey);
	}
}

/**
 * kwarp_strict_leave_mr() - a region is about to go: its memory is not looked at any more
 * @s: strict mode
 * @mr: region
 *
 * After that the program may use the memory for something else, before it polls the completions of
 * the requests.  So what was in sinks is written back now.
 */
void kwarp_strict_leave_mr(struct kwarp_strict *s, const struct kwarp_mr *mr)
{
	const uint32_t lkey = mr->vmr.ibv_mr.lkey;
	struct kwarp_strict_request *r;
	struct kwarp_strict_queue *q;

	list_for_each(&s->queues, q, node) {
		list_for_each(&q->requests, r, node) {
			if (names(r, lkey))
				kwarp_strict_leave_memory(r);
		}
	}
}

static void leave_mr(const struct kwarp_mr *mr, struct ibv_context *ctx, const char *call)
{
	struct kwarp_strict *s = strict_of(ctx);

	pthread_mutex_lock(&s->lock);
	kwarp_strict_check_mr(s, mr, call);
	kwarp_strict_leave_mr(s, mr);
	pthread_mutex_unlock(&s->lock);
}

static int rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access)
{
	struct kwarp_mr *mr = to_kmr(&vmr->ibv_mr);
	struct ibv_context *ctx = vmr->ibv_mr.context;
	int ret;

	leave_mr(mr, ctx, "ibv_rereg_mr");
	ret = kwarp_rereg_mr(vmr, flags, pd, addr, length, access);
	if (!ret && flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		free(kwarp_strict_take_mr(strict_of(ctx), mr));
		kwarp_strict_add_mr(strict_of(ctx), mr, addr, length);
	}
	return ret;
}

static int dereg_mr(struct verbs_mr *vmr)
{
	struct kwarp_mr *mr = to_kmr(&vmr->ibv_mr);
	struct kwarp_strict *s = strict_of(vmr->ibv_mr.context);
	struct kwarp_strict_region *region;
	int ret;

	leave_mr(mr, vmr->ibv_mr.context, "ibv_dereg_mr");
	/* The record goes first: after the call, the region's memory may be another region's. */
	region = kwarp_strict_take_mr(s, mr);
	ret = kwarp_dereg_mr(vmr);
	if (ret && region)
		kwarp_strict_return_mr(s, region);
	else
		free(region);
	return ret;
}

const struct verbs_context_ops kwarp_strict_ops = {
	.bind_mw = kwarp_strict_bind_mw,
	.create_cq = create_cq,
	.create_cq_ex = create_cq_ex,
	.create_qp = create_qp,
	.create_qp_ex = create_qp_ex,
	.create_srq = create_srq,
	.dereg_mr = dereg_mr,
	.destroy_cq = destroy_cq,
	.destroy_qp = destroy_qp,
	.destroy_srq = destroy_srq,
	.modify_qp = kwarp_strict_modify_qp,
	.modify_srq = modify_srq,
	.poll_cq = kwarp_strict_poll_cq,
	.post_recv = kwarp_strict_post_recv,
	.post_send = kwarp_strict_post_send,
	.post_srq_recv = kwarp_strict_post_srq_recv,
	.query_qp = query_qp,
	.reg_dmabuf_mr = reg_dmabuf_mr,
	.reg_mr = reg_mr,
	.rereg_mr = rereg_mr,
	.resize_cq = resize_cq,
};
