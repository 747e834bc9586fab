// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: polling.
 *
 * A poll takes all completions out of the ring, and holds them.  The program gets some of them, in
 * an order that is random (rule "shake") except within the send queue and within the receive queue
 * of a queue pair.  If the CQ has no completion channel, the program polls again at some time, so
 * that it may get fewer than there are, or none.  With a channel it may wait for an event after a
 * poll that has shown the end of the queue, so that polls give all.
 */
#include <config.h>

#include <errno.h>

#include "cqe.h"
#include "strict.h"

/* Polls in a row that may give nothing though completions are there. */
#define NONE_IN_A_ROW	3

/* vendor_err: the message found no receive (RFC 5041, 7.2: error 2 of untagged buffers) */
#define NO_RECEIVE	0x1202

static struct kwarp_strict_request *request_of(const struct kwarp_cqe *cqe)
{
	return (struct kwarp_strict_request *)(uintptr_t)cqe->id;
}

/*
 * Was a receive posted while the connection was there, which no message has taken, so that this end
 * had one?
 */
static bool had_receive(const struct kwarp_strict_qp *qp)
{
	const struct kwarp_strict_request *r;

	list_for_each(&qp->rq.requests, r, node) {
		if (!r->late && !(r->is_held && r->cqe.status == KWARP_WC_SUCCESS))
			return true;
	}
	return false;
}

static const char *end_without_receive(const struct kwarp_strict_qp *qp)
{
	const bool had = had_receive(qp);

	/* With two CQs the one of the receives may have a completion that is not looked at yet. */
	if (had && qp->rq.cq == qp->sq.cq)
		return "the peer";
	return had || qp->sent ? "one of the two ends (kwarpctl why says which)" : "this end";
}

/* kwarp_strict.lock is held. */
static void check_receive(const struct kwarp_strict_request *r)
{
	struct kwarp_strict_queue *q = r->q;
	struct kwarp_strict_qp *qp = q->qp;

	if (r->cqe.status == KWARP_WC_SUCCESS || r->cqe.vendor_err != NO_RECEIVE || !qp ||
	    !kwarp_strict_on(q->s, STRICT_RECV_POSTED) || qp->sq.told[STRICT_RECV_POSTED])
		return;
	kwarp_strict_say(q->s, qp->sq.told, STRICT_RECV_POSTED,
			 "ibv_poll_cq: queue pair %u: a message found no receive at %s, which ended the connection; post receives before the peer may send, and send no more than are posted",
			 r->cqe.qpn, end_without_receive(qp));
}

/* Take the completions out of the ring.  Return: ENOENT; EIO: no more will come. */
static int pull(struct kwarp_strict_cq *cq)
{
	struct ibv_cq_ex *cqx = &cq->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct kwarp_strict_request *r;
	int ret;

	ret = cq->raw.start_poll(cqx, &attr);
	if (ret)
		return ret;
	do {
		r = request_of(&cq->cq->cur);
		r->cqe = cq->cq->cur;
		r->is_held = true;
		list_add_tail(&cq->held, &r->held);
		cq->n_held++;
		/* Now: the rule "shake" may hold it back, and the program may not poll again. */
		pthread_mutex_lock(&cq->s->lock);
		check_receive(r);
		pthread_mutex_unlock(&cq->s->lock);
		ret = cq->raw.next_poll(cqx);
	} while (!ret);
	cq->raw.end_poll(cqx);
	return ret;
}

/* Wait for the polls that are going on. */
void kwarp_strict_settle(struct kwarp_strict_cq *cq)
{
	pthread_mutex_lock(&cq->lock);
	pthread_mutex_unlock(&cq->lock);
}

/**
 * kwarp_strict_forget() - a queue pair was destroyed or reset: drop its completions
 * @cq: completion queue
 * @qpn: number of the queue pair
 */
void kwarp_strict_forget(struct kwarp_strict_cq *cq, uint32_t qpn)
{
	struct kwarp_strict_request *r, *next;

	pthread_mutex_lock(&cq->lock);
	/* The kernel may have added some until now: of receives of an SRQ, whose records stay. */
	pull(cq);
	pthread_mutex_lock(&cq->s->lock);
	list_for_each_safe(&cq->held, r, next, held) {
		if (r->cqe.qpn != qpn)
			continue;
		list_del_from(&cq->held, &r->held);
		cq->n_held--;
		kwarp_strict_drop(r);
	}
	pthread_mutex_unlock(&cq->s->lock);
	pthread_mutex_unlock(&cq->lock);
}

static unsigned int random_below(struct kwarp_strict_cq *cq, unsigned int n)
{
	cq->random ^= cq->random << 13;
	cq->random ^= cq->random >> 7;
	cq->random ^= cq->random << 17;
	return (cq->random >> 16) % n;
}

static bool shakes(const struct kwarp_strict_cq *cq)
{
	return kwarp_strict_on(cq->s, STRICT_SHAKE);
}

/* How many of the completions may this poll give? */
static unsigned int how_many(struct kwarp_strict_cq *cq)
{
	if (!cq->n_held || !shakes(cq) || cq->channel)
		return cq->n_held;
	if (cq->none < NONE_IN_A_ROW && !random_below(cq, 4)) {
		cq->none++;
		return 0;
	}
	cq->none = 0;
	return 1 + random_below(cq, cq->n_held);
}

static bool same_order(const struct kwarp_strict_request *a, const struct kwarp_strict_request *b)
{
	return a->cqe.qpn == b->cqe.qpn && a->q->recv == b->q->recv;
}

/* Choose a completion: the oldest one of the queue of a random one. */
static struct kwarp_strict_request *choose(struct kwarp_strict_cq *cq)
{
	struct kwarp_strict_request *r = list_top(&cq->held, struct kwarp_strict_request, held);
	struct kwarp_strict_request *first;
	unsigned int i;

	if (shakes(cq)) {
		i = random_below(cq, cq->n_held);
		list_for_each(&cq->held, r, held) {
			if (!i--)
				break;
		}
		list_for_each(&cq->held, first, held) {
			if (same_order(first, r))
				break;
		}
		r = first;
	}
	list_del_from(&cq->held, &r->held);
	cq->n_held--;
	return r;
}

static void check_source(const struct kwarp_strict_request *r)
{
	struct kwarp_strict_queue *q = r->q;

	if (kwarp_strict_source_changed(r))
		kwarp_strict_say(q->s, q->told, STRICT_MEMORY_CHANGED,
				 "ibv_poll_cq: queue pair %u: the data of %s wr_id %#llx were changed or unmapped after the post, and the peer may have got either; change them only after the completion was polled",
				 q->qp->qpn, kwarp_strict_name(r),
				 (unsigned long long)r->wr_id);
}

/*
 * The program gets a message of the peer.  It may be the answer to what was sent before, by which
 * the program knows that its data have arrived: these are checked now, and not later.
 */
static void check_answered(const struct kwarp_strict_request *message)
{
	struct kwarp_strict_queue *q;
	struct kwarp_strict_request *r;

	list_for_each(&message->q->s->queues, q, node) {
		if (!q->qp || q->recv || q->qp->qpn != message->cqe.qpn)
			continue;
		list_for_each(&q->requests, r, node) {
			check_source(r);
			r->source = false;
		}
	}
}

/*
 * The program gets the completion of @r: this retires the request, and those before it in the send
 * queue.  If @r has failed, those before it may have failed in silence, and the program may have
 * given up its memory.
 */
static void retire(struct kwarp_strict_request *r)
{
	const bool ok = r->cqe.status == KWARP_WC_SUCCESS;
	struct kwarp_strict_queue *q = r->q;
	struct kwarp_strict_request *first;
	bool last;

	pthread_mutex_lock(&q->s->lock);
	if (q->recv && ok)
		check_answered(r);
	do {
		first = q->recv ? r : list_top(&q->requests, struct kwarp_strict_request, node);
		last = first == r;
		if (ok)
			check_source(first);
		kwarp_strict_end_memory(first);
		kwarp_strict_drop(first);
	} while (!last);
	pthread_mutex_unlock(&q->s->lock);
}

/* Give the program a completion: its entry, with the program's wr_id. */
static struct kwarp_cqe give(struct kwarp_strict_cq *cq)
{
	struct kwarp_strict_request *r = choose(cq);
	struct kwarp_strict_qp *qp = r->q->qp;
	struct kwarp_cqe cqe = r->cqe;

	cqe.id = r->wr_id;
	if (qp && cqe.status == KWARP_WC_SUCCESS)
		kwarp_strict_reached_rts(qp, "ibv_poll_cq");
	retire(r);
	return cqe;
}

static void count_poll(struct kwarp_strict_cq *cq)
{
	__atomic_add_fetch(&cq->polls, 1, __ATOMIC_RELAXED);
}

int kwarp_strict_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct kwarp_strict_cq *cq = to_kcq(ibcq)->strict;
	struct kwarp_cqe cqe;
	unsigned int most;
	int n = 0, ret;

	count_poll(cq);
	if (num_entries <= 0)
		return 0;
	pthread_mutex_lock(&cq->lock);
	ret = pull(cq);
	most = how_many(cq);
	for (; n < num_entries && most; most--) {
		cqe = give(cq);
		fill_wc(&wc[n++], &cqe);
	}
	if (!n && ret == EIO && !cq->n_held)
		n = -EIO;
	pthread_mutex_unlock(&cq->lock);
	return n;
}

/* -------------------------------------------------- extended polling */

static struct kwarp_strict_cq *ex_to_strict(struct ibv_cq_ex *cqx)
{
	return container_of(cqx, struct kwarp_cq, vcq.cq_ex)->strict;
}

/* Make a completion the current one.  The ibv_wc_read_*() functions read kwarp_cq.cur. */
static void give_current(struct kwarp_strict_cq *cq)
{
	struct ibv_cq_ex *cqx = &cq->cq->vcq.cq_ex;

	cq->cq->cur = give(cq);
	cq->give--;
	cqx->wr_id = cq->cq->cur.id;
	cqx->status = cqe_status(&cq->cq->cur);
}

/* The lock is held from here to end_poll(), if the result is 0. */
static int start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct kwarp_strict_cq *cq = ex_to_strict(cqx);
	int ret;

	if (attr->comp_mask)
		return EINVAL;
	count_poll(cq);
	pthread_mutex_lock(&cq->lock);
	ret = pull(cq);
	cq->give = how_many(cq);
	if (cq->give) {
		give_current(cq);
		return 0;
	}
	if (cq->n_held)
		ret = ENOENT;
	pthread_mutex_unlock(&cq->lock);
	return ret;
}

static int next_poll(struct ibv_cq_ex *cqx)
{
	struct kwarp_strict_cq *cq = ex_to_strict(cqx);
	int ret = ENOENT;

	if (!cq->give && (cq->channel || !shakes(cq))) {
		ret = pull(cq);
		cq->give = cq->n_held;
	}
	if (!cq->give)
		return ret;
	give_current(cq);
	return 0;
}

static void end_poll(struct ibv_cq_ex *cqx)
{
	pthread_mutex_unlock(&ex_to_strict(cqx)->lock);
}

void kwarp_strict_cq_init_ex(struct kwarp_strict_cq *cq)
{
	struct ibv_cq_ex *cqx = &cq->cq->vcq.cq_ex;

	cqx->start_poll = start_poll;
	cqx->next_poll = next_poll;
	cqx->end_poll = end_poll;
}
