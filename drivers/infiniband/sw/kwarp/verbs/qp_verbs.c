// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs: create, modify, query, destroy, post.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../cm/cm.h"
#include "../kwarp.h"
#include "../qp/qp.h"
#include "verbs.h"

static int check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC || init->create_flags)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > KWARP_MAX_SQ_WR || cap->max_recv_wr > KWARP_MAX_RQ_WR ||
	    cap->max_send_sge > KWARP_MAX_SGE || cap->max_recv_sge > KWARP_MAX_SGE ||
	    cap->max_inline_data > KWARP_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static int init_queues(struct kwarp_qp *qp, struct ib_qp_cap *cap)
{
	u32 stride = kwarp_sqe_stride(max(cap->max_send_sge, 1U), cap->max_inline_data);
	int ret;

	ret = kwarp_sq_init(&qp->sq, cap->max_send_wr, stride);
	if (ret)
		return ret;
	cap->max_send_wr = kwarp_ring_size(&qp->sq.ring);
	cap->max_send_sge = max(cap->max_send_sge, 1U);
	cap->max_inline_data = stride - sizeof(struct kwarp_sqe);
	qp->sq.max_wr = cap->max_send_wr;
	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	cap->max_recv_sge = max(cap->max_recv_sge, 1U);
	ret = kwarp_rq_init(&qp->rq, cap->max_recv_wr, kwarp_rqe_stride(cap->max_recv_sge));
	if (ret) {
		kwarp_ring_fini(&qp->sq.ring);
		kvfree(qp->sq.done);
		return ret;
	}
	cap->max_recv_wr = kwarp_ring_size(&qp->rq.ring);
	qp->rq.max_wr = cap->max_recv_wr;
	qp->rq.max_sge = cap->max_recv_sge;
	return 0;
}

static void fini_queues(struct kwarp_qp *qp)
{
	kwarp_ring_release_map(&qp->sq.ring, qp->sq_map);
	kvfree(qp->sq.done);
	if (!qp->srq)
		kwarp_ring_release_map(&qp->rq.ring, qp->rq_map);
}

static int map_rings(struct kwarp_qp *qp, struct ib_udata *udata,
		     struct kwarp_create_qp_resp *resp)
{
	struct ib_ucontext *ibuc = kwarp_udata_context(udata);
	u64 key;

	qp->sq_map = kwarp_mmap_insert(ibuc, &qp->sq.ring, &key);
	if (!qp->sq_map)
		return -ENOMEM;
	resp->sq_key = key;
	if (qp->srq)
		return 0;
	qp->rq_map = kwarp_mmap_insert(ibuc, &qp->rq.ring, &key);
	if (!qp->rq_map)
		return -ENOMEM;
	resp->rq_key = key;
	return 0;
}

static int give_rings(struct kwarp_qp *qp, struct ib_udata *udata)
{
	struct kwarp_create_qp_resp resp = {
		.sq_len = qp->sq.ring.len,
		.sq_size = kwarp_ring_size(&qp->sq.ring),
		.sq_stride = qp->sq.ring.stride,
		.max_inline = qp->cap.max_inline_data,
		.qpn = qp->ibqp.qp_num,
	};
	int ret;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	if (!qp->srq) {
		resp.rq_len = qp->rq.ring.len;
		resp.rq_size = kwarp_ring_size(&qp->rq.ring);
		resp.rq_stride = qp->rq.ring.stride;
	}
	ret = map_rings(qp, udata, &resp);
	if (ret)
		return ret;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void wire_up(struct kwarp_qp *qp, const struct ib_qp_init_attr *init)
{
	struct kwarp_engine *e = &qp->engine;

	qp->sq.cq = to_kcq(init->send_cq);
	qp->sq.ibqp = &qp->ibqp;
	qp->sq.sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->sq.user = qp->user;
	qp->rq.user = qp->user;
	e->kdev = qp->kdev;
	e->mem.pd = qp->ibqp.pd;
	e->sq = &qp->sq;
	e->rq = qp->srq ? &qp->srq->rq : &qp->rq;
	e->rq_shared = qp->srq;
	e->recv_cq = to_kcq(init->recv_cq);
	e->ibqp = &qp->ibqp;
}

int kwarp_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	struct kwarp_dev *kdev = to_kdev(ibqp->device);
	int ret;

	ret = check_init(init);
	if (ret)
		return ret;
	if (atomic_inc_return(&kdev->num_qp) > KWARP_MAX_QP) {
		ret = -ENOMEM;
		goto out_count;
	}
	qp->kdev = kdev;
	qp->user = udata;
	qp->owner = current_uid();
	qp->tgid = current->tgid;
	qp->srq = init->srq ? to_ksrq(init->srq) : NULL;
	qp->attr.qp_state = IB_QPS_RESET;
	kwarp_qp_init(qp);
	ret = init_queues(qp, &init->cap);
	if (ret)
		goto out_count;
	qp->cap = init->cap;
	wire_up(qp, init);
	ret = kwarp_qp_reserve(qp);
	if (ret)
		goto out_queues;
	if (udata) {
		ret = give_rings(qp, udata);
		if (ret)
			goto out_number;
	}
	kwarp_qp_publish(qp);
	return 0;

out_number:
	kwarp_qp_unreserve(qp);
out_queues:
	fini_queues(qp);
out_count:
	atomic_dec(&kdev->num_qp);
	return ret;
}

int kwarp_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	kwarp_qp_retire(qp);
	/* A connection that is still being set up must not keep us waiting. */
	do {
		kwarp_cm_drop_qp(qp->kdev, qp);
	} while (!kwarp_qp_gone(qp));
	kwarp_mem_stream_end(&qp->engine.mem);
	kwarp_cq_forget_qp(qp->sq.cq, ibqp);
	kwarp_cq_forget_qp(qp->engine.recv_cq, ibqp);
	fini_queues(qp);
	atomic_dec(&qp->kdev->num_qp);
	return 0;
}

/* The state that verbs show for a state of ours. */
static enum ib_qp_state ib_state(struct kwarp_qp *qp)
{
	switch (kwarp_qp_state(qp)) {
	case KWARP_QPS_IDLE:
		return qp->attr.qp_state;
	case KWARP_QPS_RTS:
		return IB_QPS_RTS;
	case KWARP_QPS_CLOSING:
		return IB_QPS_SQD;
	default:
		return IB_QPS_ERR;
	}
}

/*
 * With iWARP the stream comes from connection management, so INIT, RTR and RTS only
 * note what the consumer said; SQD and ERR end the stream gracefully or at once.
 */
static int modify_state(struct kwarp_qp *qp, enum ib_qp_state next)
{
	switch (next) {
	case IB_QPS_RESET:
		qp->attr.qp_state = IB_QPS_RESET;
		return kwarp_qp_reset(qp);
	case IB_QPS_INIT:
	case IB_QPS_RTR:
	case IB_QPS_RTS:
		if (kwarp_qp_state(qp) == KWARP_QPS_RTS)
			return next == IB_QPS_RTS ? 0 : -EINVAL;
		if (kwarp_qp_state(qp) != KWARP_QPS_IDLE)
			return -EINVAL;
		qp->attr.qp_state = next;
		return 0;
	case IB_QPS_SQD:
		return kwarp_qp_event(qp, KWARP_QPE_CLOSE);
	case IB_QPS_ERR:
		return kwarp_qp_event(qp, KWARP_QPE_ABORT);
	default:
		return -EINVAL;
	}
}

static int check_modify(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != ib_state(qp))
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > KWARP_MAX_ORD)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > KWARP_MAX_IRD)
		return -EINVAL;
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	return 0;
}

int kwarp_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret = check_modify(qp, attr, mask);

	if (ret)
		return ret;
	if (mask & IB_QP_STATE) {
		ret = modify_state(qp, attr->qp_state);
		if (ret)
			return ret;
	}
	if (mask & IB_QP_ACCESS_FLAGS) {
		qp->attr.qp_access_flags = attr->qp_access_flags;
		WRITE_ONCE(qp->engine.access, attr->qp_access_flags);
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
	return 0;
}

int kwarp_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	*attr = qp->attr;
	attr->qp_state = ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->port_num = 1;
	attr->path_mtu = ib_mtu_int_to_enum(qp->kdev->netdev->mtu);
	attr->cap = qp->cap;
	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->cap;
	init->qp_type = ibqp->qp_type;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}

/**
 * kwarp_post_send - ib_device_ops.post_send
 * @ibqp: queue pair
 * @wr: chain; NULL from user space
 * @bad: result, on failure: the first request that was not posted
 *
 * User space has put its requests into the ring and only asks to be looked at: it
 * calls with an empty chain, in process context, and the caller becomes the runner.
 *
 * Context: any for kernel consumers.
 * Return: 0, or a negative errno.
 */
int kwarp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret = 0;

	if (qp->user) {
		*bad = wr;
		if (wr)
			return -EINVAL;
	} else {
		ret = kwarp_sq_post(&qp->sq, wr, bad);
	}
	kwarp_tx_kick(&qp->engine, qp->user ? KWARP_TX_FROM_DOORBELL : KWARP_TX_FROM_ANY);
	return ret;
}

int kwarp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret = 0;

	*bad = wr;
	if (qp->srq || (qp->user && wr))
		return -EINVAL;
	if (!qp->user)
		ret = kwarp_rq_post(&qp->rq, wr, bad);
	/*
	 * In error, receives are flushed by the transmit runner.  The barrier pairs with
	 * the one in kwarp_engine_flush(): either it sees the entry, or we the flag.
	 */
	smp_mb();
	if (test_bit(KWARP_E_DEAD, &qp->engine.flags))
		kwarp_tx_kick(&qp->engine, qp->user ? KWARP_TX_FROM_PROCESS : KWARP_TX_FROM_ANY);
	return ret;
}

/*
 * iw_cm calls get and add_ref as a pair, on a number that any process may have named:
 * the reference has to be taken by the look-up, or the QP could go in between.
 */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn)
{
	struct kwarp_qp *qp = kwarp_qp_lookup(to_kdev(ibdev), qpn);

	return qp ? &qp->ibqp : NULL;
}

void kwarp_qp_add_ref(struct ib_qp *ibqp)
{
}

void kwarp_qp_rem_ref(struct ib_qp *ibqp)
{
	kwarp_qp_put(to_kqp(ibqp));
}
