// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: records of requests, and the checks before a request is posted.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ccan/array_size.h>

#include "strict.h"

#define SECOND	1000000000ULL

/* -------------------------------------------------------------------- requests */

struct kwarp_strict_request *kwarp_strict_new(struct kwarp_strict_queue *q, uint64_t wr_id,
					      unsigned int max_sge)
{
	struct kwarp_strict_request *r;

	if (!max_sge)
		max_sge = 1;
	r = calloc(1, sizeof(*r) + max_sge * sizeof(r->sge[0]));
	if (!r)
		return NULL;
	r->places = calloc(max_sge, sizeof(r->places[0]));
	if (!r->places) {
		free(r);
		return NULL;
	}
	r->q = q;
	r->wr_id = wr_id;
	r->max_sge = max_sge;
	return r;
}

/* kwarp_strict.lock is held, if the request was in a queue. */
void kwarp_strict_free(struct kwarp_strict_request *r)
{
	kwarp_strict_forget_saved(r);
	free(r->places);
	free(r);
}

/*
 * Without the rule "sq-credit" a program may post for ever and never ask for a completion.  The
 * kernel has at most a ring of requests, and some Reads: older ones are done.
 */
static void forget_oldest(struct kwarp_strict_queue *q)
{
	struct kwarp_strict_request *r = list_top(&q->requests, struct kwarp_strict_request, node);

	if (q->n > 4 * (q->wq->ring.mask + 1) + 1024 && !r->signaled && !r->is_held)
		kwarp_strict_drop(r);
}

static bool takes_receive(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return true;
	default:
		return false;
	}
}

/* Add a request to its queue: it is about to be posted. */
void kwarp_strict_put(struct kwarp_strict_request *r)
{
	struct kwarp_strict_queue *q = r->q;
	struct kwarp_strict_cq *cq = q->cq;

	pthread_mutex_lock(&q->s->lock);
	forget_oldest(q);
	list_add_tail(&q->requests, &r->node);
	q->n++;
	q->signaled += r->signaled;
	if (!q->recv && takes_receive(r->opcode))
		q->qp->sent = true;
	kwarp_strict_begin_memory(r);
	if (cq && r->signaled && ++cq->n > cq->cqe && !cq->may_overrun &&
	    kwarp_strict_on(q->s, STRICT_CQ_ROOM))
		kwarp_strict_say(q->s, cq->told, STRICT_CQ_ROOM,
				 "%s: queue pair %u: %u completions may come at a CQ for which ibv_create_cq was asked for %u entries, and it could overrun; ask for max_send_wr + max_recv_wr of all its queue pairs",
				 q->recv ? "ibv_post_recv" : "ibv_post_send",
				 q->qp->qpn, cq->n, cq->cqe);
	pthread_mutex_unlock(&q->s->lock);
}

/* Remove a request from its queue, and free it; kwarp_strict.lock is held. */
void kwarp_strict_drop(struct kwarp_strict_request *r)
{
	struct kwarp_strict_queue *q = r->q;

	list_del_from(&q->requests, &r->node);
	q->n--;
	q->signaled -= r->signaled;
	if (q->cq && r->signaled)
		q->cq->n--;
	kwarp_strict_free(r);
}

/* The request was refused. */
void kwarp_strict_take_back(struct kwarp_strict_request *r)
{
	struct kwarp_strict *s = r->q->s;

	pthread_mutex_lock(&s->lock);
	kwarp_strict_unpoison(r, 0);
	kwarp_strict_drop(r);
	pthread_mutex_unlock(&s->lock);
}

static const struct op {
	bool source;
	bool sink;
} ops[] = {
	[IBV_WR_RDMA_WRITE] = { .source = true },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { .source = true },
	[IBV_WR_SEND] = { .source = true },
	[IBV_WR_SEND_WITH_IMM] = { .source = true },
	[IBV_WR_SEND_WITH_INV] = { .source = true },
	[IBV_WR_RDMA_READ] = { .sink = true },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { .sink = true },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { .sink = true },
};

void kwarp_strict_opcode(struct kwarp_strict_request *r, enum ibv_wr_opcode opcode)
{
	r->opcode = opcode;
	if ((unsigned int)opcode < ARRAY_SIZE(ops)) {
		r->source = ops[opcode].source;
		r->sink = ops[opcode].sink;
	}
}

const char *kwarp_strict_name(const struct kwarp_strict_request *r)
{
	const char *name = r->q->recv ? "receive" : kwarp_op_name(r->opcode);

	return name ? name : "request";
}

/* -------------------------------------------------------------- state and rights */

/* Is the queue pair connected at this moment?  If that cannot be learnt, it is not. */
bool kwarp_strict_is_rts(struct kwarp_strict_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {};

	return !kwarp_query_qp(&qp->qp->vqp.qp, &attr, IBV_QP_STATE, &init) &&
	       attr.qp_state == IBV_QPS_RTS;
}

/**
 * kwarp_strict_reached_rts() - the queue pair is connected
 * @qp: queue pair
 * @call: the program's call, at which this is known
 *
 * The kernel gives the peer all rights if nobody has given any.  librdmacm has, in
 * rdma_create_qp() and rdma_accept().
 */
void kwarp_strict_reached_rts(struct kwarp_strict_qp *qp, const char *call)
{
	struct ibv_qp_attr none = {};

	if (__atomic_exchange_n(&qp->rts, true, __ATOMIC_RELAXED))
		return;
	if (__atomic_load_n(&qp->access, __ATOMIC_RELAXED) ||
	    !kwarp_strict_on(qp->sq.s, STRICT_ACCESS_UNSET))
		return;
	kwarp_strict_say(qp->sq.s, qp->sq.told, STRICT_ACCESS_UNSET,
			 "%s: queue pair %u is connected, and no call of ibv_modify_qp has set its qp_access_flags: the peer gets no rights; use rdma_create_qp, or move it to INIT with IBV_QP_ACCESS_FLAGS",
			 call, qp->qpn);
	kwarp_modify_qp(&qp->qp->vqp.qp, &none, IBV_QP_ACCESS_FLAGS);
}

/* ---------------------------------------------------------------------- checks */

/**
 * kwarp_strict_state() - may the queue pair's send queue be posted to?
 * @qp: queue pair
 * @call: the program's call
 *
 * libibverbs' copy of the state does not follow rdma_cm, so the kernel is asked until it says that
 * the queue pair is connected.
 *
 * Return: 0, or EINVAL.
 */
int kwarp_strict_state(struct kwarp_strict_qp *qp, const char *call)
{
	const struct kwarp_strict *s = qp->sq.s;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {};

	if (__atomic_load_n(&qp->rts, __ATOMIC_RELAXED))
		return 0;
	if (kwarp_query_qp(&qp->qp->vqp.qp, &attr, IBV_QP_STATE, &init))
		return 0;
	if (attr.qp_state == IBV_QPS_RTS)
		kwarp_strict_reached_rts(qp, call);
	/* After the end of the connection, what is posted is flushed. */
	if (attr.qp_state > IBV_QPS_RTR || !kwarp_strict_on(s, STRICT_EARLY_POST))
		return 0;
	kwarp_strict_say(s, qp->sq.told, STRICT_EARLY_POST,
			 "%s: queue pair %u is in state %s, not yet in RTS: refused with EINVAL; wait for RDMA_CM_EVENT_ESTABLISHED, or move it to RTS by ibv_modify_qp",
			 call, qp->qpn,
			 attr.qp_state == IBV_QPS_RTR ? "RTR" :
			 attr.qp_state == IBV_QPS_INIT ? "INIT" : "RESET");
	return EINVAL;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static uint64_t polls(const struct kwarp_strict_queue *q)
{
	return __atomic_load_n(&q->cq->polls, __ATOMIC_RELAXED);
}

/**
 * kwarp_strict_say_refused() - posts were refused, and no poll has come since: say so
 * @q: queue
 * @call: the program's call, at which this is known
 *
 * To post until ENOMEM and then poll is right.  So this is said only if the program does not poll.
 */
void kwarp_strict_say_refused(struct kwarp_strict_queue *q, const char *call)
{
	const unsigned int refused = q->refused;

	if (!refused || !q->cq || polls(q) != q->refused_polls)
		return;
	q->refused = 0;
	kwarp_strict_say(q->s, q->told, q->recv ? STRICT_CAPS_ASKED : STRICT_SQ_CREDIT,
			 "%s: queue pair %u: %u posts were refused with ENOMEM, since %u requests are outstanding and max_%s_wr is %u, and the CQ was not polled after that; poll the completions, which give the slots back",
			 call, q->qp->qpn, refused, q->n, q->recv ? "recv" : "send",
			 q->max_wr);
}

static void refuse_full(struct kwarp_strict_queue *q, uint32_t n, bool signaled,
			const char *call)
{
	if (!q->recv && !signaled) {
		kwarp_strict_say(q->s, q->told, STRICT_SQ_CREDIT,
				 "%s: queue pair %u: %u requests are outstanding, max_send_wr is %u, and none of them is signaled, so no slot can ever come back: refused with ENOMEM; set IBV_SEND_SIGNALED in at least one of each %u requests, and poll",
				 call, q->qp->qpn, n, q->max_wr, q->max_wr);
		return;
	}
	if (!q->cq)
		return;
	if (!q->refused || polls(q) != q->refused_polls) {
		q->refused = 0;
		q->refused_polls = polls(q);
		q->refused_at = now_ns();
	}
	q->refused++;
	if (now_ns() - q->refused_at > SECOND)
		kwarp_strict_say_refused(q, call);
}

/**
 * kwarp_strict_room() - has the queue room for one more request, as hardware counts?
 * @q: queue
 * @more: requests of a batch that are not in the queue yet
 * @signaled: one of these is signaled
 * @call: the program's call
 *
 * Hardware gives slots back when a completion is polled: that of a signaled request gives back its
 * own and those of the unsignaled ones before it.
 *
 * Return: 0, or ENOMEM.
 */
int kwarp_strict_room(struct kwarp_strict_queue *q, uint32_t more, bool signaled,
		      const char *call)
{
	const enum kwarp_strict_rule rule = q->recv ? STRICT_CAPS_ASKED : STRICT_SQ_CREDIT;
	int ret = 0;

	if (!kwarp_strict_on(q->s, rule))
		return 0;
	pthread_mutex_lock(&q->s->lock);
	/* After an error everything that is posted is flushed. */
	if (q->n + more >= q->max_wr && (!q->qp || !__atomic_load_n(&q->qp->rts, __ATOMIC_RELAXED) ||
					 kwarp_strict_is_rts(q->qp))) {
		refuse_full(q, q->n + more, signaled || q->signaled, call);
		ret = ENOMEM;
	}
	pthread_mutex_unlock(&q->s->lock);
	return ret;
}

/**
 * kwarp_strict_sges() - take the elements of a request
 * @r: request
 * @num: number of elements
 * @list: elements
 * @call: the program's call
 *
 * Return: 0; EINVAL: more elements than were asked for, or the sink of a Read lacks remote write.
 */
int kwarp_strict_sges(struct kwarp_strict_request *r, size_t num, const struct ibv_sge *list,
		      const char *call)
{
	struct kwarp_strict_queue *q = r->q;
	struct kwarp_strict *s = q->s;
	const struct kwarp_mr *mr;
	int access = IBV_ACCESS_REMOTE_WRITE;

	if (num > q->max_sge && kwarp_strict_on(s, STRICT_CAPS_ASKED)) {
		kwarp_strict_say(s, q->told, STRICT_CAPS_ASKED,
				 "%s: num_sge is %zu, and max_%s_sge was asked to be %u: refused with EINVAL; ask for more when the queue is made",
				 call, num, q->recv ? "recv" : "send", q->max_sge);
		return EINVAL;
	}
	if (num > r->max_sge)
		return 0;	/* refused later */
	if (num)
		memcpy(r->sge, list, num * sizeof(*list));
	r->num_sge = num;
	if (!num || r->opcode != IBV_WR_RDMA_READ || q->recv || !list->length ||
	    !kwarp_strict_on(s, STRICT_READ_SINK))
		return 0;
	pthread_mutex_lock(&s->lock);
	mr = kwarp_strict_find_mr(s, list->lkey);
	if (mr)
		access = mr->access;
	pthread_mutex_unlock(&s->lock);
	if (access & IBV_ACCESS_REMOTE_WRITE)
		return 0;
	kwarp_strict_say(s, q->told, STRICT_READ_SINK,
			 "%s: queue pair %u: the Read's sink, lkey %#x, was registered without IBV_ACCESS_REMOTE_WRITE, which iWARP needs: refused; register it with this right, too",
			 call, q->qp->qpn, list->lkey);
	/* With the link's knob the kernel refuses it, by a completion, as hardware does. */
	return s->ctx->features & KWARP_FEATURE_STRICT ? 0 : EINVAL;
}

int kwarp_strict_inline(struct kwarp_strict_qp *qp, uint64_t octets, const char *call)
{
	if (octets <= qp->max_inline || !kwarp_strict_on(qp->sq.s, STRICT_CAPS_ASKED))
		return 0;
	kwarp_strict_say(qp->sq.s, qp->sq.told, STRICT_CAPS_ASKED,
			 "%s: queue pair %u: %llu octets inline, and max_inline_data was asked to be %u: refused with EINVAL; ask for more in ibv_create_qp",
			 call, qp->qpn, (unsigned long long)octets, qp->max_inline);
	return EINVAL;
}
