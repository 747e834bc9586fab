// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: ibv_post_send(), ibv_bind_mw().
 *
 * A post fills slots of the shared ring, publishes them with one store, and rings the doorbell if
 * the kernel asked for it (doorbell.c).
 *
 * Posting does not check the state of the queue pair.  With iWARP the kernel's
 * connection manager moves a QP to RTS, and libibverbs' copy of the state
 * (qp->state) does not follow.  Requests that are posted before RTS wait in the
 * ring; the kernel flushes requests that are posted after an error.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>

#include "kwarp.h"
#include "say.h"

/**
 * struct send_op - how a work request opcode goes into the ring
 * @valid: the opcode is supported
 * @opcode: enum kwarp_wr_opcode
 * @remote: the request has a remote address and key
 * @inval: the request has a key to invalidate
 * @payload: the request sends data, so inline data is allowed
 * @one_sge: the request has at most one element: a Read has one sink (RFC 5040, 5.2.2)
 * @no_sge: the request has no elements
 * @bind: the request binds a window
 * @imm: the request has immediate data
 * @atomic: the request has operands, and one element of 8 octets for the old value
 * @rfc7306: the request is only allowed with KWARP_FEATURE_RFC7306
 * @wired: the request is only allowed between wired queue pairs
 */
struct send_op {
	uint8_t valid : 1;
	uint8_t remote : 1;
	uint8_t inval : 1;
	uint8_t payload : 1;
	uint8_t one_sge : 1;
	uint8_t no_sge : 1;
	uint8_t bind : 1;
	uint8_t imm : 1;
	uint8_t atomic : 1;
	uint8_t rfc7306 : 1;
	uint8_t wired : 1;
	uint8_t opcode;
};

static const struct send_op send_ops[] = {
	[IBV_WR_RDMA_WRITE] = { .valid = 1, .opcode = KWARP_WR_WRITE,
				.remote = 1, .payload = 1 },
	[IBV_WR_RDMA_READ] = { .valid = 1, .opcode = KWARP_WR_READ,
			       .remote = 1, .one_sge = 1 },
	[IBV_WR_SEND] = { .valid = 1, .opcode = KWARP_WR_SEND, .payload = 1 },
	/* iWARP has no Send with immediate data: this one is kwarp's own. */
	[IBV_WR_SEND_WITH_IMM] = { .valid = 1, .opcode = KWARP_WR_SEND_IMM,
				   .payload = 1, .imm = 1, .wired = 1 },
	[IBV_WR_SEND_WITH_INV] = { .valid = 1, .opcode = KWARP_WR_SEND_INV,
				   .inval = 1, .payload = 1 },
	[IBV_WR_LOCAL_INV] = { .valid = 1, .opcode = KWARP_WR_LOCAL_INV,
			       .inval = 1, .no_sge = 1 },
	[IBV_WR_BIND_MW] = { .valid = 1, .opcode = KWARP_WR_BIND_MW,
			     .bind = 1, .no_sge = 1 },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { .valid = 1, .opcode = KWARP_WR_WRITE_IMM,
					 .remote = 1, .payload = 1, .imm = 1,
					 .rfc7306 = 1 },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { .valid = 1, .opcode = KWARP_WR_FETCH_ADD,
					  .atomic = 1, .rfc7306 = 1 },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { .valid = 1, .opcode = KWARP_WR_CMP_SWAP,
					.atomic = 1, .rfc7306 = 1 },
};

#define SEND_FLAGS                                                             \
	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |             \
	 IBV_SEND_INLINE)

/*
 * A window gives rights to peers only.  Programs written for InfiniBand also ask for local write,
 * which its devices take and ignore.
 */
#define BIND_ACCESS                                                            \
	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |                    \
	 IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE)

static bool bind_access_ok(const struct kwarp_qp *qp, unsigned int access)
{
	unsigned int known = BIND_ACCESS;

	if (kwarp_has_rfc7306(qp))
		known |= IBV_ACCESS_REMOTE_ATOMIC;
	return !(access & ~known);
}

/*
 * Is @pd the protection domain of the queue pair?  A parent domain has a struct ibv_pd of its own,
 * but the same kernel handle as its protection domain.
 */
static bool same_pd(const struct kwarp_qp *qp, const struct ibv_pd *pd)
{
	return pd->context == qp->vqp.qp.context && pd->handle == qp->vqp.qp.pd->handle;
}

/*
 * Can the window be bound to this part of the region?  A bind that cannot succeed would end the
 * connection, because the kernel finds that out when it carries out the request.
 */
static bool region_allows(const struct ibv_mw_bind_info *info)
{
	const struct kwarp_mr *mr = to_kmr(info->mr);
	const uint64_t size = info->mr->length;

	if (!(mr->access & IBV_ACCESS_MW_BIND))
		return false;
	if (info->mw_access_flags & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IBV_ACCESS_LOCAL_WRITE))
		return false;
	if (info->length > size)
		return false;
	/* The kernel chooses where the addresses of a zero-based region begin. */
	return mr->access & IBV_ACCESS_ZERO_BASED ||
	       info->addr - mr->iova <= size - info->length;
}

static const char bad_bind_access[] =
	"mw_access_flags has more than remote read, write, atomic and zero based";
static const char bad_bind_region[] =
	"the region lacks IBV_ACCESS_MW_BIND or, for a window that peers write to, IBV_ACCESS_LOCAL_WRITE, or the window goes beyond it";

static int refuse_bind(const struct kwarp_qp *qp, const char *why)
{
	return kwarp_refuse(qp->vqp.qp.context, EINVAL, "bind of a memory window: %s", why);
}

static void put_range(struct kwarp_sqe *sqe, uint32_t rkey,
		      const struct ibv_mw_bind_info *info)
{
	sqe->rkey = rkey;
	sqe->inv_stag = info->mr ? info->mr->lkey : 0;
	sqe->raddr = info->addr;
	sqe->length = info->length;
	sqe->access = info->mw_access_flags & ~IBV_ACCESS_LOCAL_WRITE;
}

/**
 * kwarp_put_bind() - fill the members of an SQ entry that binds a window of type 2
 * @qp: queue pair to which the request is posted
 * @sqe: entry; the members that all requests have are filled already
 * @mw: window
 * @rkey: new key of the window; only the low octet may differ from mw->rkey
 * @info: region, range and rights of the window
 *
 * Return: 0; EINVAL: the bind can never succeed.
 */
int kwarp_put_bind(const struct kwarp_qp *qp, struct kwarp_sqe *sqe,
		   const struct ibv_mw *mw, uint32_t rkey,
		   const struct ibv_mw_bind_info *info)
{
	if (!mw || !info->mr || mw->type != IBV_MW_TYPE_2)
		return refuse_bind(qp, "no window of type 2, or no region");
	if (!same_pd(qp, mw->pd) || !same_pd(qp, info->mr->pd))
		return refuse_bind(qp, "window, region and queue pair are not of one protection domain");
	if ((mw->rkey ^ rkey) >> 8)
		return refuse_bind(qp, "only the last octet of rkey may differ from the window's");
	if (!info->length)
		return refuse_bind(qp, "length is 0");
	if (!bind_access_ok(qp, info->mw_access_flags))
		return refuse_bind(qp, bad_bind_access);
	if (!region_allows(info))
		return refuse_bind(qp, bad_bind_region);

	put_range(sqe, rkey, info);
	return 0;
}

static bool sge_list_ok(const struct send_op *op, const struct ibv_send_wr *wr)
{
	uint64_t total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	if (op->atomic)
		return total == sizeof(uint64_t);
	return total <= UINT32_MAX;	/* a DDP message length has 32 bits */
}

/* Copy inline payload to the end of the fixed part of the entry.  Return: false: it is too long. */
static bool put_inline(struct kwarp_qp *qp, struct kwarp_sqe *sqe,
		       const struct ibv_send_wr *wr)
{
	uint8_t *dst = (uint8_t *)(sqe + 1);
	uint64_t total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		total += sge->length;
		if (total > qp->max_inline)
			return false;
		/* An empty element may have no address. */
		if (sge->length)
			memcpy(dst, (void *)(uintptr_t)sge->addr, sge->length);
		dst += sge->length;
	}
	sqe->inline_len = total;
	return true;
}

static uint16_t wr_flags(const struct kwarp_qp *qp, unsigned int flags)
{
	uint16_t out = qp->sig_all ? KWARP_WR_SIGNALED : 0;

	if (flags & IBV_SEND_SIGNALED)
		out |= KWARP_WR_SIGNALED;
	if (flags & IBV_SEND_SOLICITED)
		out |= KWARP_WR_SOLICITED;
	if (flags & IBV_SEND_FENCE)
		out |= KWARP_WR_FENCE;
	if (flags & IBV_SEND_INLINE)
		out |= KWARP_WR_INLINE;
	return out;
}

static bool num_sge_ok(const struct kwarp_qp *qp, const struct send_op *op, int num_sge)
{
	unsigned int max_sge = qp->sq.max_sge;

	if (op->one_sge)
		max_sge = 1;
	if (op->no_sge)
		max_sge = 0;
	if (op->atomic && num_sge != 1)
		return false;
	return (unsigned int)num_sge <= max_sge;
}

/*
 * Check opcode, flags and number of elements of a request.  The elements themselves are not
 * checked here.
 *
 * Return: the description of the opcode; NULL: the request is not allowed.
 */
static const struct send_op *check_send(const struct kwarp_qp *qp,
					const struct ibv_send_wr *wr)
{
	const struct send_op *op;

	if ((unsigned int)wr->opcode >= ARRAY_SIZE(send_ops))
		return NULL;
	op = &send_ops[wr->opcode];
	if (!op->valid || (wr->send_flags & ~SEND_FLAGS))
		return NULL;
	if ((op->rfc7306 && !kwarp_has_rfc7306(qp)) || (op->wired && !kwarp_sends_imm(qp)))
		return NULL;
	if ((wr->send_flags & IBV_SEND_INLINE) && !op->payload)
		return NULL;
	return num_sge_ok(qp, op, wr->num_sge) ? op : NULL;
}

static const char *const op_names[] = {
	[IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
	[IBV_WR_RDMA_READ] = "RDMA_READ",
	[IBV_WR_SEND] = "SEND",
	[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
	[IBV_WR_SEND_WITH_INV] = "SEND_WITH_INV",
	[IBV_WR_LOCAL_INV] = "LOCAL_INV",
	[IBV_WR_BIND_MW] = "BIND_MW",
	[IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
	[IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
};

/* Return: NULL: iWARP has no such request. */
const char *kwarp_op_name(enum ibv_wr_opcode opcode)
{
	return (unsigned int)opcode < ARRAY_SIZE(op_names) ? op_names[opcode] : NULL;
}

#define SAY(format, ...) \
	kwarp_refuse(ctx, EINVAL, "ibv_post_send: %s: " format, name, ##__VA_ARGS__)

/* Say why check_send() refuses.  Return: EINVAL */
static __attribute__((cold, noinline)) int refuse_send(const struct kwarp_qp *qp,
						       const struct ibv_send_wr *wr)
{
	struct ibv_context *ctx = qp->vqp.qp.context;
	const struct send_op *op;
	const char *name;

	if (wr->opcode == IBV_WR_SEND_WITH_IMM && !kwarp_sends_imm(qp))
		return kwarp_refuse(ctx, EINVAL,
				    "ibv_post_send: SEND_WITH_IMM: iWARP has none; RDMA_WRITE_WITH_IMM is possible");
	if ((unsigned int)wr->opcode >= ARRAY_SIZE(send_ops) || !send_ops[wr->opcode].valid)
		return kwarp_refuse(ctx, EINVAL, "ibv_post_send: opcode %d: unknown, or iWARP has none",
				    wr->opcode);
	op = &send_ops[wr->opcode];
	name = op_names[wr->opcode];
	if (wr->send_flags & ~SEND_FLAGS)
		return SAY("send_flags %#x: only fence, signaled, solicited and inline are possible",
			   wr->send_flags);
	if (op->rfc7306 && !kwarp_has_rfc7306(qp))
		return SAY("RFC 7306 is off (knob rfc7306)");
	if (wr->send_flags & IBV_SEND_INLINE && !op->payload)
		return SAY("IBV_SEND_INLINE is for data that is sent");
	if (op->atomic)
		return SAY("num_sge %d: an atomic operation has one element, of 8 octets",
			   wr->num_sge);
	if (op->no_sge)
		return SAY("num_sge %d: the request has no data", wr->num_sge);
	if (op->one_sge && wr->num_sge > 1)
		return SAY("num_sge %d > 1: with iWARP a Read has one element", wr->num_sge);
	return SAY("num_sge %d > max_send_sge %u", wr->num_sge, qp->sq.max_sge);
}

/* Say what is wrong with the data of a request.  Return: EINVAL */
static __attribute__((cold, noinline)) int refuse_data(const struct kwarp_qp *qp,
						       const struct ibv_send_wr *wr)
{
	struct ibv_context *ctx = qp->vqp.qp.context;
	const char *name = op_names[wr->opcode];
	uint64_t total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	if (wr->send_flags & IBV_SEND_INLINE)
		return SAY("%llu octets inline > max_inline_data %u", (unsigned long long)total,
			   qp->max_inline);
	if (send_ops[wr->opcode].atomic)
		return SAY("%llu octets: an atomic operation has 8", (unsigned long long)total);
	return SAY("%llu octets: a message has less than 4 GiB", (unsigned long long)total);
}

static void put_atomic(struct kwarp_sqe *sqe, const struct ibv_send_wr *wr)
{
	sqe->raddr = wr->wr.atomic.remote_addr;
	sqe->rkey = wr->wr.atomic.rkey;
	sqe->compare_add = wr->wr.atomic.compare_add;
	if (sqe->opcode == KWARP_WR_CMP_SWAP)
		sqe->swap = wr->wr.atomic.swap;
}

/* Fill the members of an entry that depend on its opcode, except for the data. */
static int put_args(const struct kwarp_qp *qp, struct kwarp_sqe *sqe,
		    const struct send_op *op, const struct ibv_send_wr *wr)
{
	if (op->remote) {
		sqe->raddr = wr->wr.rdma.remote_addr;
		sqe->rkey = wr->wr.rdma.rkey;
	}
	if (op->inval)
		sqe->inv_stag = wr->invalidate_rkey;
	if (op->imm)
		sqe->imm = (__force uint32_t)wr->imm_data;
	if (op->atomic)
		put_atomic(sqe, wr);
	if (op->bind)
		return kwarp_put_bind(qp, sqe, wr->bind_mw.mw, wr->bind_mw.rkey,
				      &wr->bind_mw.bind_info);
	return 0;
}

/* Validate a request and write it into the next slot, without publishing. */
static int put_send(struct kwarp_qp *qp, const struct ibv_send_wr *wr)
{
	const struct send_op *op = check_send(qp, wr);
	struct kwarp_ring *ring = &qp->sq.ring;
	struct kwarp_sqe *sqe;

	if (!op)
		return refuse_send(qp, wr);
	if (kwarp_ring_full(ring))
		return kwarp_refuse_full(qp);

	sqe = kwarp_ring_next(ring);
	*sqe = (struct kwarp_sqe){
		.id = wr->wr_id,
		.opcode = op->opcode,
		.flags = wr_flags(qp, wr->send_flags),
	};

	if (put_args(qp, sqe, op, wr))
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (!put_inline(qp, sqe, wr))
			return refuse_data(qp, wr);
	} else if (wr->num_sge) {
		if (!sge_list_ok(op, wr))
			return refuse_data(qp, wr);
		sqe->num_sge = wr->num_sge;
		memcpy(sqe + 1, wr->sg_list,
		       wr->num_sge * sizeof(*wr->sg_list));
	}

	ring->prod++;
	return 0;
}

int kwarp_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	struct ibv_send_wr *first = wr;
	int ret = 0, err;
	bool posted;

	kwarp_wq_lock(&qp->sq);
	for (; wr; wr = wr->next) {
		ret = put_send(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	posted = wr != first;
	if (posted)
		kwarp_ring_publish(&qp->sq.ring);
	kwarp_wq_unlock(&qp->sq);

	/* Without the lock, because a doorbell takes long: the kernel may send in the call. */
	if (posted) {
		err = kwarp_posted_send(qp);
		if (err && !ret) {
			*bad_wr = first;
			ret = err;
		}
	}
	return ret;
}

/* Fill the next slot with a bind of a window of type 1.  Length 0 unbinds the window. */
static int put_bind_type_1(struct kwarp_qp *qp, const struct ibv_mw *mw, uint32_t rkey,
			   const struct ibv_mw_bind *bind)
{
	const struct ibv_mw_bind_info *info = &bind->bind_info;
	struct kwarp_ring *ring = &qp->sq.ring;
	struct kwarp_sqe *sqe;

	if (!same_pd(qp, mw->pd)) {
		refuse_bind(qp, "window and queue pair are not of one protection domain");
		return EPERM;
	}
	if (info->length && (!info->mr || !region_allows(info)))
		return refuse_bind(qp, bad_bind_region);
	if (!bind_access_ok(qp, info->mw_access_flags))
		return refuse_bind(qp, bad_bind_access);
	if (bind->send_flags & ~(IBV_SEND_FENCE | IBV_SEND_SIGNALED))
		return refuse_bind(qp, "send_flags has more than fence and signaled");
	if (kwarp_ring_full(ring))
		return kwarp_refuse_full(qp);
	sqe = kwarp_ring_next(ring);
	*sqe = (struct kwarp_sqe){
		.id = bind->wr_id,
		.opcode = KWARP_WR_BIND_MW,
		.flags = wr_flags(qp, bind->send_flags),
	};
	put_range(sqe, rkey, info);
	ring->prod++;
	return 0;
}

/* ibv_bind_mw() binds a window of type 1, and the provider chooses its new key. */
int kwarp_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	uint32_t old, rkey;
	int ret;

	kwarp_wq_lock(&qp->sq);
	old = mw->rkey;
	rkey = ibv_inc_rkey(old);
	ret = put_bind_type_1(qp, mw, rkey, bind);
	if (!ret) {
		mw->rkey = rkey;
		kwarp_ring_publish(&qp->sq.ring);
	}
	kwarp_wq_unlock(&qp->sq);
	if (ret)
		return ret;

	ret = kwarp_posted_send(qp);
	if (ret) {
		kwarp_wq_lock(&qp->sq);
		if (mw->rkey == rkey)
			mw->rkey = old;
		kwarp_wq_unlock(&qp->sq);
	}
	return ret;
}
