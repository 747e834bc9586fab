// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: posting sends with ibv_wr_*() (ibv_create_qp_ex()).
 *
 * A batch is the requests between ibv_wr_start() and ibv_wr_complete() or ibv_wr_abort(); meanwhile
 * the thread holds the send queue's lock.  Requests are built directly in slots of the ring that
 * have not been published to the kernel yet.  If one request is wrong, no request of the batch is
 * published.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <util/compiler.h>

#include "kwarp.h"
#include "say.h"

static struct kwarp_qp *ex_to_kqp(struct ibv_qp_ex *qpx)
{
	return container_of(qpx, struct kwarp_qp, vqp.qp_ex);
}

/* Record the first error of a batch: wr_complete() will then not publish the batch. */
static void void_batch(struct kwarp_qp *qp, int err)
{
	if (!qp->wr.err)
		qp->wr.err = err;
}

/* Void the batch with EINVAL, and say why. */
#define VOID(qp, format, ...)                                                  \
	void_batch(qp, kwarp_refuse((qp)->vqp.qp.context, EINVAL,              \
				    "ibv_wr_*: " format, ##__VA_ARGS__))

static bool is_atomic(const struct kwarp_sqe *sqe)
{
	return sqe->opcode == KWARP_WR_FETCH_ADD || sqe->opcode == KWARP_WR_CMP_SWAP;
}

/* End the current request, if there is one: an atomic operation must have its element now. */
static void finish_request(struct kwarp_qp *qp)
{
	const struct kwarp_sqe *sqe = qp->wr.sqe;

	if (sqe && is_atomic(sqe) && !sqe->num_sge)
		VOID(qp, "an atomic operation has no element of 8 octets");
}

/**
 * begin_request() - begin a request in the next slot of the send queue
 * @qp: queue pair
 * @opcode: enum kwarp_wr_opcode
 *
 * Flags and wr_id are taken from the members of struct ibv_qp_ex that the program has set.
 *
 * Return: the slot, zeroed except for id, opcode and flags; NULL if the batch has an error.
 */
static struct kwarp_sqe *begin_request(struct kwarp_qp *qp, uint8_t opcode)
{
	const struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;
	uint16_t flags = 0;

	finish_request(qp);
	if (kwarp_ring_full(&qp->sq.ring))
		void_batch(qp, kwarp_refuse_full(qp));
	if (qp->wr.err)
		return NULL;

	if (qp->sig_all || (qpx->wr_flags & IBV_SEND_SIGNALED))
		flags |= KWARP_WR_SIGNALED;
	if (qpx->wr_flags & IBV_SEND_SOLICITED)
		flags |= KWARP_WR_SOLICITED;
	if (qpx->wr_flags & IBV_SEND_FENCE)
		flags |= KWARP_WR_FENCE;

	qp->wr.sqe = kwarp_ring_next(&qp->sq.ring);
	*qp->wr.sqe = (struct kwarp_sqe){
		.id = qpx->wr_id,
		.opcode = opcode,
		.flags = flags,
	};
	qp->sq.ring.prod++;
	return qp->wr.sqe;
}

static struct kwarp_sqe *begin_remote(struct ibv_qp_ex *qpx, uint8_t opcode,
				      uint32_t rkey, uint64_t raddr)
{
	struct kwarp_sqe *sqe = begin_request(ex_to_kqp(qpx), opcode);

	if (sqe) {
		sqe->rkey = rkey;
		sqe->raddr = raddr;
	}
	return sqe;
}

/* As begin_remote(), for requests that need KWARP_FEATURE_RFC7306. */
static struct kwarp_sqe *begin_rfc7306(struct ibv_qp_ex *qpx, uint8_t opcode,
				       uint32_t rkey, uint64_t raddr)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);

	if (!kwarp_has_rfc7306(qp))
		VOID(qp, "RFC 7306 is off (knob rfc7306)");
	return begin_remote(qpx, opcode, rkey, raddr);
}

static void wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);
	struct kwarp_sqe *sqe;

	if (!kwarp_sends_imm(qp))
		void_batch(qp, EINVAL);
	sqe = begin_request(qp, KWARP_WR_SEND_IMM);
	if (sqe)
		sqe->imm = (__force uint32_t)imm;
}

static void begin_inval(struct ibv_qp_ex *qpx, uint8_t opcode, uint32_t rkey)
{
	struct kwarp_sqe *sqe = begin_request(ex_to_kqp(qpx), opcode);

	if (sqe)
		sqe->inv_stag = rkey;
}

static void wr_rdma_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr)
{
	begin_remote(qpx, KWARP_WR_WRITE, rkey, raddr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey,
			      uint64_t raddr, __be32 imm)
{
	struct kwarp_sqe *sqe = begin_rfc7306(qpx, KWARP_WR_WRITE_IMM, rkey, raddr);

	if (sqe)
		sqe->imm = (__force uint32_t)imm;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey,
				uint64_t raddr, uint64_t add)
{
	struct kwarp_sqe *sqe = begin_rfc7306(qpx, KWARP_WR_FETCH_ADD, rkey, raddr);

	if (sqe)
		sqe->compare_add = add;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey,
			      uint64_t raddr, uint64_t compare, uint64_t swap)
{
	struct kwarp_sqe *sqe = begin_rfc7306(qpx, KWARP_WR_CMP_SWAP, rkey, raddr);

	if (sqe) {
		sqe->compare_add = compare;
		sqe->swap = swap;
	}
}

static void wr_rdma_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr)
{
	begin_remote(qpx, KWARP_WR_READ, rkey, raddr);
}

static void wr_send(struct ibv_qp_ex *qpx)
{
	begin_request(ex_to_kqp(qpx), KWARP_WR_SEND);
}

static void wr_send_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	begin_inval(qpx, KWARP_WR_SEND_INV, rkey);
}

static void wr_local_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	begin_inval(qpx, KWARP_WR_LOCAL_INV, rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);
	struct kwarp_sqe *sqe = begin_request(qp, KWARP_WR_BIND_MW);
	int err;

	if (!sqe)
		return;
	err = kwarp_put_bind(qp, sqe, mw, rkey, info);
	if (err)
		void_batch(qp, err);
}

/* Largest number of elements that the current request may have. */
static size_t sge_limit(const struct kwarp_qp *qp)
{
	switch (qp->wr.sqe->opcode) {
	case KWARP_WR_READ:
	case KWARP_WR_FETCH_ADD:
	case KWARP_WR_CMP_SWAP:
		return 1;
	case KWARP_WR_LOCAL_INV:
	case KWARP_WR_BIND_MW:
		return 0;
	default:
		return qp->sq.max_sge;
	}
}

static bool length_ok(const struct kwarp_sqe *sqe, uint64_t length)
{
	return is_atomic(sqe) ? length == sizeof(uint64_t) : length <= UINT32_MAX;
}

static bool takes_inline(const struct kwarp_sqe *sqe)
{
	switch (sqe->opcode) {
	case KWARP_WR_WRITE:
	case KWARP_WR_WRITE_IMM:
	case KWARP_WR_SEND:
	case KWARP_WR_SEND_IMM:
	case KWARP_WR_SEND_INV:
		return true;
	default:
		return false;
	}
}

static void wr_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge,
			    const struct ibv_sge *list)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);
	uint64_t total = 0;
	size_t i;

	if (qp->wr.err)
		return;
	if (num_sge > sge_limit(qp)) {
		VOID(qp, "num_sge %zu > %zu, which this kind of request may have (max_send_sge is %u)",
		     num_sge, sge_limit(qp), qp->sq.max_sge);
		return;
	}
	for (i = 0; i < num_sge; i++)
		total += list[i].length;
	if (!length_ok(qp->wr.sqe, total)) {
		VOID(qp, "%llu octets: an atomic operation has 8, and others less than 4 GiB",
		     (unsigned long long)total);
		return;
	}
	if (num_sge)
		memcpy(qp->wr.sqe + 1, list, num_sge * sizeof(*list));
	qp->wr.sqe->num_sge = num_sge;
}

static void wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	const struct ibv_sge sge = {
		.addr = addr,
		.length = length,
		.lkey = lkey,
	};

	wr_set_sge_list(qpx, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);
	struct kwarp_sqe *sqe = qp->wr.sqe;
	uint8_t *dst;
	size_t i, used = 0;

	if (qp->wr.err)
		return;
	if (!takes_inline(sqe)) {
		VOID(qp, "inline data is for requests that send data");
		return;
	}

	dst = (uint8_t *)(sqe + 1);
	for (i = 0; i < num_buf; i++) {
		if (list[i].length > qp->max_inline - used) {
			VOID(qp, "more than max_inline_data %u octets inline", qp->max_inline);
			return;
		}
		/* An empty buffer may have no address. */
		if (list[i].length)
			memcpy(dst + used, list[i].addr, list[i].length);
		used += list[i].length;
	}
	sqe->flags |= KWARP_WR_INLINE;
	sqe->inline_len = used;
}

static void wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr,
			       size_t length)
{
	const struct ibv_data_buf buf = {
		.addr = addr,
		.length = length,
	};

	wr_set_inline_data_list(qpx, 1, &buf);
}

static void wr_start(struct ibv_qp_ex *qpx)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);

	kwarp_wq_lock(&qp->sq);
	qp->wr.first = qp->sq.ring.prod;
	qp->wr.err = 0;
	qp->wr.sqe = NULL;
}

static void wr_abort(struct ibv_qp_ex *qpx)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);

	qp->sq.ring.prod = qp->wr.first;
	kwarp_wq_unlock(&qp->sq);
}

static int wr_complete(struct ibv_qp_ex *qpx)
{
	struct kwarp_qp *qp = ex_to_kqp(qpx);
	struct kwarp_ring *ring = &qp->sq.ring;
	bool posted;
	int err;

	finish_request(qp);
	err = qp->wr.err;
	if (err) {
		wr_abort(qpx);
		return err;
	}

	posted = ring->prod != qp->wr.first;
	if (posted)
		kwarp_ring_publish(ring);
	kwarp_wq_unlock(&qp->sq);

	return posted ? kwarp_posted_send(qp) : 0;
}

void kwarp_qp_init_ex(struct kwarp_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

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

	qp->vqp.comp_mask |= VERBS_QP_EX;
}
