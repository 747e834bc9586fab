// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: posting with ibv_wr_*().
 *
 * The requests of a batch are built by the ordinary functions.  Their records join the queue in
 * ibv_wr_complete(), before the batch is published.
 */
#include <config.h>

#include <errno.h>

#include "strict.h"

static struct kwarp_strict_qp *ex_to_strict(struct ibv_qp_ex *qpx)
{
	return container_of(qpx, struct kwarp_qp, vqp.qp_ex)->strict;
}

/* As an ordinary error of a request: ibv_wr_complete() will return it, and publish nothing. */
static void void_batch(struct kwarp_strict_qp *qp, int err)
{
	if (err && !qp->qp->wr.err)
		qp->qp->wr.err = err;
}

/*
 * Begin the record of a request, and set wr_id, which the ordinary function puts into the ring, to
 * its address.  Return: the program's wr_id.
 */
static uint64_t begin(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode, const char *call)
{
	struct kwarp_strict_qp *qp = ex_to_strict(qpx);
	struct kwarp_strict_request *r;
	uint64_t wr_id = qpx->wr_id;

	qp->cur = NULL;
	void_batch(qp, kwarp_strict_room(&qp->sq, qp->n_batch, qp->batch_signaled, call));
	r = kwarp_strict_new(&qp->sq, wr_id, qp->qp->sq.max_sge);
	if (!r) {
		void_batch(qp, ENOMEM);
		return wr_id;
	}
	kwarp_strict_opcode(r, opcode);
	r->signaled = qp->qp->sig_all || qpx->wr_flags & IBV_SEND_SIGNALED;
	list_add_tail(&qp->batch, &r->node);
	qp->n_batch++;
	qp->batch_signaled |= r->signaled;
	qp->cur = r;
	qpx->wr_id = (uintptr_t)r;
	return wr_id;
}

#define RAW(qpx)	(&ex_to_strict(qpx)->raw)

/* Call an ordinary function, with the address of a record as wr_id. */
#define WRAP(ordinary, call, opcode, qpx, ...)                                 \
	do {                                                                   \
		struct ibv_qp_ex *ex = (qpx);                                  \
		uint64_t wr_id = begin(ex, opcode, call);                      \
									       \
		(ordinary)(ex, ##__VA_ARGS__);                                 \
		ex->wr_id = wr_id;                                             \
	} while (0)

static void wr_rdma_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr)
{
	WRAP(RAW(qpx)->wr_rdma_write, "ibv_wr_rdma_write", IBV_WR_RDMA_WRITE, qpx, rkey, raddr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr, __be32 imm)
{
	WRAP(RAW(qpx)->wr_rdma_write_imm, "ibv_wr_rdma_write_imm", IBV_WR_RDMA_WRITE_WITH_IMM,
	     qpx, rkey, raddr, imm);
}

static void wr_rdma_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr)
{
	WRAP(RAW(qpx)->wr_rdma_read, "ibv_wr_rdma_read", IBV_WR_RDMA_READ, qpx, rkey, raddr);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr, uint64_t add)
{
	WRAP(RAW(qpx)->wr_atomic_fetch_add, "ibv_wr_atomic_fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD,
	     qpx, rkey, raddr, add);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr,
			      uint64_t compare, uint64_t swap)
{
	WRAP(RAW(qpx)->wr_atomic_cmp_swp, "ibv_wr_atomic_cmp_swp", IBV_WR_ATOMIC_CMP_AND_SWP,
	     qpx, rkey, raddr, compare, swap);
}

static void wr_send(struct ibv_qp_ex *qpx)
{
	WRAP(RAW(qpx)->wr_send, "ibv_wr_send", IBV_WR_SEND, qpx);
}

static void wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	WRAP(RAW(qpx)->wr_send_imm, "ibv_wr_send_imm", IBV_WR_SEND_WITH_IMM, qpx, imm);
}

static void wr_send_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	WRAP(RAW(qpx)->wr_send_inv, "ibv_wr_send_inv", IBV_WR_SEND_WITH_INV, qpx, rkey);
}

static void wr_local_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	WRAP(RAW(qpx)->wr_local_inv, "ibv_wr_local_inv", IBV_WR_LOCAL_INV, qpx, rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	WRAP(RAW(qpx)->wr_bind_mw, "ibv_wr_bind_mw", IBV_WR_BIND_MW, qpx, mw, rkey, info);
}

static void wr_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge, const struct ibv_sge *list)
{
	struct kwarp_strict_qp *qp = ex_to_strict(qpx);

	if (qp->cur && !qp->qp->wr.err)
		void_batch(qp, kwarp_strict_sges(qp->cur, num_sge, list, "ibv_wr_set_sge_list"));
	qp->raw.wr_set_sge_list(qpx, num_sge, list);
}

static void wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(qpx, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct kwarp_strict_qp *qp = ex_to_strict(qpx);
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < num_buf; i++)
		total += list[i].length;
	if (qp->cur) {
		qp->cur->source = false;
		if (!qp->qp->wr.err)
			void_batch(qp, kwarp_strict_inline(qp, total, "ibv_wr_set_inline_data"));
	}
	qp->raw.wr_set_inline_data_list(qpx, num_buf, list);
}

static void wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(qpx, 1, &buf);
}

/* A batch that comes too early is built all the same, so that other rules look at its requests. */
static void wr_start(struct ibv_qp_ex *qpx)
{
	struct kwarp_strict_qp *qp = ex_to_strict(qpx);

	pthread_mutex_lock(&qp->sq.post);
	qp->early = kwarp_strict_state(qp, "ibv_wr_start");
	qp->raw.wr_start(qpx);
	qp->cur = NULL;
	qp->batch_signaled = false;
}

/* Forget the records of a batch that was not posted. */
static void forget_batch(struct kwarp_strict_qp *qp)
{
	struct kwarp_strict_request *r;

	while ((r = list_pop(&qp->batch, struct kwarp_strict_request, node)))
		kwarp_strict_free(r);
	qp->n_batch = 0;
}

static void wr_abort(struct ibv_qp_ex *qpx)
{
	struct kwarp_strict_qp *qp = ex_to_strict(qpx);

	forget_batch(qp);
	qp->raw.wr_abort(qpx);
	pthread_mutex_unlock(&qp->sq.post);
}

static void put_batch(struct kwarp_strict_qp *qp)
{
	struct kwarp_strict_request *r;

	while ((r = list_pop(&qp->batch, struct kwarp_strict_request, node)))
		kwarp_strict_put(r);
	qp->n_batch = 0;
}

/* The batch was refused after all: its records are the last ones of the queue. */
static void take_back(struct kwarp_strict_qp *qp, uint32_t n)
{
	struct kwarp_strict_request *r;

	pthread_mutex_lock(&qp->sq.s->lock);
	while (n--) {
		r = list_tail(&qp->sq.requests, struct kwarp_strict_request, node);
		kwarp_strict_unpoison(r, 0);
		kwarp_strict_drop(r);
	}
	pthread_mutex_unlock(&qp->sq.s->lock);
}

static int wr_complete(struct ibv_qp_ex *qpx)
{
	struct kwarp_strict_qp *qp = ex_to_strict(qpx);
	const uint32_t first = qp->qp->wr.first;
	uint32_t n = 0;
	int ret;

	void_batch(qp, qp->early);
	if (qp->qp->wr.err) {
		forget_batch(qp);
	} else {
		n = qp->n_batch;
		put_batch(qp);
	}
	ret = qp->raw.wr_complete(qpx);
	/* If only the doorbell has failed, the requests are in the ring. */
	if (ret && qp->qp->sq.ring.prod == first)
		take_back(qp, n);
	pthread_mutex_unlock(&qp->sq.post);
	return ret;
}

void kwarp_strict_qp_init_ex(struct kwarp_strict_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->qp->vqp.qp_ex;

	qp->raw = *qpx;
	qpx->wr_start = wr_start;
	qpx->wr_complete = wr_complete;
	qpx->wr_abort = wr_abort;

	qpx->wr_rdma_write = wr_rdma_write;
	qpx->wr_rdma_write_imm = wr_rdma_write_imm;
	qpx->wr_rdma_read = wr_rdma_read;
	qpx->wr_atomic_fetch_add = wr_atomic_fetch_add;
	qpx->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	qpx->wr_send = wr_send;
	qpx->wr_send_imm = wr_send_imm;
	qpx->wr_send_inv = wr_send_inv;
	qpx->wr_local_inv = wr_local_inv;
	qpx->wr_bind_mw = wr_bind_mw;

	qpx->wr_set_sge = wr_set_sge;
	qpx->wr_set_sge_list = wr_set_sge_list;
	qpx->wr_set_inline_data = wr_set_inline_data;
	qpx->wr_set_inline_data_list = wr_set_inline_data_list;
}
