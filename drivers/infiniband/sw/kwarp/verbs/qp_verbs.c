// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs: create, modify, query, destroy, post. */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/siw-abi.h>

#include "../cm/cm.h"
#include "../kwarp.h"
#include "../qp/qp.h"
#include "../stats.h"
#include "udata.h"
#include "verbs.h"

static int check_qp_init(const struct ib_qp_init_attr *init, bool siw)
{
	const u32 max_inline = siw ? SIW_MAX_INLINE : KWARP_MAX_INLINE;
	const u32 max_sge = siw ? SIW_MAX_SGE : KWARP_MAX_SGE;
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC || init->create_flags)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > KWARP_MAX_SQ_WR || cap->max_recv_wr > KWARP_MAX_RQ_WR ||
	    cap->max_send_sge > max_sge || cap->max_recv_sge > max_sge ||
	    cap->max_inline_data > max_inline)
		return -EINVAL;
	return 0;
}

/* Is this a queue pair of a program that uses libsiw, and so the layouts of rdma/siw-abi.h? */
static bool is_siw_qp(const struct kwarp_qp *qp)
{
	return qp->user && qp->kdev->siw;
}

/* Allocate the rings: one piece of memory, with one mapping, holds the SQ and after it the RQ. */
static int init_queues(struct kwarp_qp *qp, struct ib_qp_cap *cap)
{
	u32 stride = kwarp_sqe_stride(max(cap->max_send_sge, 1U), cap->max_inline_data);
	u32 recv_stride = kwarp_rqe_stride(max(cap->max_recv_sge, 1U));
	int ret;

	/* libsiw posts entries up to siw's limits, even if it asked for less: make room. */
	if (is_siw_qp(qp)) {
		stride = kwarp_sqe_stride(SIW_MAX_SGE, SIW_MAX_INLINE);
		recv_stride = kwarp_rqe_stride(SIW_MAX_SGE);
	}
	if (!qp->srq)
		qp->sq.ring.tail = kwarp_ring_octets(cap->max_recv_wr, recv_stride);
	ret = kwarp_sq_init(&qp->sq, cap->max_send_wr, stride);
	if (ret)
		return ret;
	cap->max_send_wr = kwarp_ring_size(&qp->sq.ring);
	cap->max_send_sge = max(cap->max_send_sge, 1U);
	cap->max_inline_data = is_siw_qp(qp) ? SIW_MAX_INLINE : stride - sizeof(struct kwarp_sqe);
	qp->sq.max_wr = cap->max_send_wr;
	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	kwarp_rq_init_in_tail(&qp->rq, &qp->sq.ring, cap->max_recv_wr, recv_stride);
	cap->max_recv_wr = kwarp_ring_size(&qp->rq.ring);
	cap->max_recv_sge = max(cap->max_recv_sge, 1U);
	qp->rq.max_wr = cap->max_recv_wr;
	qp->rq.max_sge = cap->max_recv_sge;
	return 0;
}

static void fini_qp(struct kwarp_qp *qp)
{
	put_pid(qp->creator);
	kwarp_siw_release_wq(qp->rq.siw, qp->rq_map);
	if (is_siw_qp(qp)) {
		kwarp_siw_release_wq(qp->sq.siw, qp->map);
		qp->map = NULL;
	}
	kwarp_ring_free(&qp->sq.ring, qp->map);
	kvfree(qp->sq.done);
}

static int give_qp_rings(struct kwarp_qp *qp, struct ib_udata *udata)
{
	struct kwarp_create_qp_resp resp = {
		.sq_len = qp->sq.ring.len,
		.sq_size = kwarp_ring_size(&qp->sq.ring),
		.sq_stride = qp->sq.ring.stride,
		.max_inline = qp->cap.max_inline_data,
		.qpn = qp->ibqp.qp_num,
		.features = qp->sq.rfc7306 ? KWARP_FEATURE_RFC7306 : 0,
	};
	u64 key;

	if (!qp->srq) {
		resp.rq_len = qp->rq.ring.len;
		resp.rq_size = kwarp_ring_size(&qp->rq.ring);
		resp.rq_stride = qp->rq.ring.stride;
	}
	qp->map = kwarp_mmap_ring(kwarp_udata_context(udata), &qp->sq.ring, &key);
	if (!qp->map)
		return -ENOMEM;
	resp.mmap_key = key;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

static void wire_up_engine(struct kwarp_qp *qp, const struct ib_qp_init_attr *init)
{
	const struct kwarp_engine_parts parts = {
		.kdev = qp->kdev,
		.ibqp = &qp->ibqp,
		.sq = &qp->sq,
		.rq = qp->srq ? &qp->srq->rq : &qp->rq,
		.shared_mem = qp->srq ? &qp->srq->mem : NULL,
		.recv_cq = to_kcq(init->recv_cq),
	};

	qp->sq.cq = to_kcq(init->send_cq);
	qp->sq.ibqp = &qp->ibqp;
	qp->sq.sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	kwarp_engine_wire(&qp->engine, &parts);
}

/*
 * Does this queue pair have immediate data and atomic operations (RFC 7306)?  Yes if the knob
 * (tunable) rfc7306 is on and, for a program, if its provider knows the feature.
 */
static bool qp_has_rfc7306(const struct kwarp_dev *kdev, struct ib_udata *udata)
{
	return READ_ONCE(kdev->knobs.rfc7306) &&
	       (!udata || to_kuc(kwarp_udata_context(udata))->features & KWARP_FEATURE_RFC7306);
}

/* Attributes by which a program gives the memory of the rings; kwarp's rings are the kernel's. */
static const u16 qp_buffer_attrs[] = KWARP_QP_BUFFER_ATTRS;

#define READQS_OCTETS	(KWARP_MAX_ORD * sizeof(struct kwarp_oread) + \
			 KWARP_MAX_IRD * sizeof(struct kwarp_iread))

int kwarp_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	struct kwarp_dev *kdev = to_kdev(ibqp->device);
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (!ret)
		ret = kwarp_udata_refuse(udata, qp_buffer_attrs, ARRAY_SIZE(qp_buffer_attrs));
	if (!ret)
		ret = check_qp_init(init, udata && kdev->siw);
	if (ret)
		return ret;
	if (atomic_inc_return(&kdev->num_qp) > KWARP_MAX_QP) {
		ret = -ENOMEM;
		goto out_count;
	}
	/* The queues of Reads, which a connection makes later, are paid in advance. */
	ret = kwarp_charge_object(&qp->charge, udata, sizeof(*qp) + READQS_OCTETS);
	if (ret)
		goto out_count;
	qp->sq.ring.charge.account = qp->charge.account;
	qp->kdev = kdev;
	qp->user = udata;
	qp->ibuc = udata ? kwarp_udata_context(udata) : NULL;
	qp->sq.user = qp->user;
	qp->sq.rfc7306 = qp_has_rfc7306(kdev, udata);
	qp->rq.user = qp->user;
	qp->owner = current_uid();
	qp->srq = init->srq ? to_ksrq(init->srq) : NULL;
	qp->attr.qp_state = IB_QPS_INIT;
	kwarp_qp_init(qp);
	ret = init_queues(qp, &init->cap);
	if (ret)
		goto out_count;
	qp->creator = get_pid(task_tgid(current));
	qp->cap = init->cap;
	wire_up_engine(qp, init);
	ret = kwarp_qp_reserve(qp);
	if (ret)
		goto out_queues;
	if (udata) {
		ret = is_siw_qp(qp) ? kwarp_siw_give_qp(qp, udata) : give_qp_rings(qp, udata);
		if (ret)
			goto out_number;
	}
	kwarp_stats_add(kdev, kwarp_engine_stats(&qp->engine));
	kwarp_qp_publish(qp);
	return 0;

out_number:
	kwarp_qp_unreserve(qp);
out_queues:
	fini_qp(qp);
out_count:
	kwarp_uncharge(&qp->charge);
	atomic_dec(&kdev->num_qp);
	return ret;
}

/**
 * kwarp_destroy_qp - ib_device_ops.destroy_qp
 * @ibqp: queue pair
 * @udata: driver data of a program's call, or NULL
 *
 * This function cannot fail, because its callers cannot handle a failure: kernel consumers ignore
 * the result, and at the end of a process ib_uverbs warns about an object that is not destroyed,
 * and leaks it.  So the wait below must not depend on consumers.  References on a queue pair are
 * held only by kwarp's endpoints, work items, doorbells that are being rung and debugfs reads, all
 * of which end in bounded time when the stream is down.  iw_cm may keep a reference until its id is
 * destroyed, but only on a stand-in: an object of cm/cm_qp.c that iw_cm gets instead of the queue
 * pair.
 *
 * Context: process; waits for the queue pair's work.
 * Return: 0.
 */
int kwarp_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	kwarp_qp_retire(qp);
	/* A connection that is still being set up holds a reference on the queue pair: end it. */
	do {
		kwarp_cm_drop_qp(qp);
	} while (!kwarp_qp_gone(qp));
	kwarp_stats_remove(qp->kdev, kwarp_engine_stats(&qp->engine));
	kwarp_engine_unwire(&qp->engine);
	fini_qp(qp);
	kwarp_uncharge(&qp->charge);
	atomic_dec(&qp->kdev->num_qp);
	return 0;
}

/*
 * Translate the state of the stream into the QP state of the verbs.  A queue pair that has had no
 * stream since its creation or its last reset shows INIT, or RTR after a modify to RTR.  It never
 * shows RESET: iWARP makes no difference between RESET and INIT, and other RNICs show INIT, too.
 */
static enum ib_qp_state ib_state(struct kwarp_qp *qp)
{
	switch (kwarp_qp_state(qp)) {
	case KWARP_QPS_IDLE:
		return READ_ONCE(qp->attr.qp_state);
	case KWARP_QPS_RTS:
		return IB_QPS_RTS;
	case KWARP_QPS_CLOSING:
		return IB_QPS_SQD;
	default:
		return IB_QPS_ERR;
	}
}

static int modify_to_reset(struct kwarp_qp *qp)
{
	int ret = kwarp_qp_reset(qp);

	if (!ret)
		WRITE_ONCE(qp->attr.qp_state, IB_QPS_INIT);
	return ret;
}

/*
 * Is @state the current state of the queue pair?  RESET is accepted for INIT: the verbs say that a
 * queue pair is in RESET after its creation and after a reset, and ib_state() shows INIT then.
 */
static bool is_current_state(struct kwarp_qp *qp, enum ib_qp_state state)
{
	enum ib_qp_state shown = ib_state(qp);

	return state == shown || (state == IB_QPS_RESET && shown == IB_QPS_INIT);
}

/*
 * Refuse RTS unless the stream is established.  A program that exchanges queue pair numbers on its
 * own, as is usual with InfiniBand, would otherwise wait for ever for a stream that nobody sets up.
 */
static int modify_to_rts(struct kwarp_qp *qp)
{
	if (kwarp_qp_state(qp) == KWARP_QPS_RTS)
		return 0;
	ibdev_dbg_ratelimited(&qp->kdev->ibdev, "no stream: connect with rdma_cm\n");
	return -EINVAL;
}

static int end_qp_stream(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	int ret = kwarp_qp_note(qp, event);

	if (!ret)
		kwarp_qp_run(qp);
	return ret;
}

/*
 * Change the state of a queue pair.  In iWARP it is the connection management that sets up the
 * stream and moves the queue pair to RTS.  So a change to INIT or RTR is only recorded, for
 * query_qp; SQD ends the stream gracefully, ERR ends it at once.  librdmacm asks for INIT and RTR,
 * and with iWARP never for RTS.
 */
static int modify_state(struct kwarp_qp *qp, enum ib_qp_state next)
{
	switch (next) {
	case IB_QPS_RESET:
		return modify_to_reset(qp);
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		if (kwarp_qp_state(qp) != KWARP_QPS_IDLE)
			return -EINVAL;
		WRITE_ONCE(qp->attr.qp_state, next);
		return 0;
	case IB_QPS_RTS:
		return modify_to_rts(qp);
	case IB_QPS_SQD:
		return end_qp_stream(qp, KWARP_QPE_CLOSE);
	case IB_QPS_ERR:
		return end_qp_stream(qp, KWARP_QPE_ABORT);
	default:
		return -EINVAL;
	}
}

static int check_modify(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	/* The sizes of the queues (CAP) do not change: the device has no RESIZE_MAX_WR. */
	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & IB_QP_CAP)
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && !is_current_state(qp, attr->cur_qp_state))
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
	int ret;

	/*
	 * iw_cm has got a stand-in (cm/cm_qp.c) instead of the queue pair, and moves it only to
	 * SQD (close gracefully) or ERR (abort).
	 */
	if (kwarp_cm_is_stand_in(ibqp))
		return kwarp_cm_modify_stand_in(ibqp, attr->qp_state == IB_QPS_SQD);
	ret = kwarp_udata_none(udata);
	if (!ret)
		ret = check_modify(qp, attr, mask);
	if (ret)
		return ret;
	if (mask & IB_QP_STATE) {
		ret = modify_state(qp, attr->qp_state);
		if (ret)
			return ret;
	}
	if (mask & IB_QP_ACCESS_FLAGS)
		kwarp_qp_set_access(qp, attr->qp_access_flags,
				    mask & IB_QP_STATE && (attr->qp_state == IB_QPS_INIT ||
							   attr->qp_state == IB_QPS_RTR));
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

/* libsiw rings its doorbell by the core's post_send command with an empty list of requests. */
static int ring_siw_doorbell(struct kwarp_qp *qp, const struct ib_send_wr *wr)
{
	if (!is_siw_qp(qp) || wr)
		return -EOPNOTSUPP;
	kwarp_engine_posted_send(&qp->engine, true);
	return 0;
}

/**
 * kwarp_post_send - ib_device_ops.post_send
 * @ibqp: queue pair
 * @wr: chain of requests
 * @bad: result, on failure: the first request that was not posted
 *
 * Kernel consumers post their requests here.  Programs write requests into their shared ring and
 * ring the doorbell of doorbell.c.  Programs that use libsiw (link type kwarp-siw) call this
 * function with an empty chain instead of ringing that doorbell.
 *
 * Context: any; for libsiw: process.
 * Return: 0, or a negative errno.
 */
int kwarp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret;

	*bad = wr;
	if (qp->user)
		return ring_siw_doorbell(qp, wr);
	ret = kwarp_sq_post(&qp->sq, wr, bad);
	kwarp_engine_posted_send(&qp->engine, false);
	return ret;
}

/* Post receives of a kernel consumer; programs write them into their ring.  Context: any. */
int kwarp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret;

	*bad = wr;
	if (qp->srq)
		return -EINVAL;
	if (qp->user)
		return -EOPNOTSUPP;
	ret = kwarp_rq_post(&qp->rq, wr, bad);
	kwarp_engine_posted_recv(&qp->engine, false);
	return ret;
}
