// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs: create, modify, query, destroy, post. */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../cm/cm.h"
#include "../kwarp.h"
#include "../qp/qp.h"
#include "../stats.h"
#include "personality.h"
#include "udata.h"
#include "verbs.h"

/* @p: of the program, or NULL */
static int check_qp_init(const struct ib_qp_init_attr *init, const struct kwarp_personality *p)
{
	const u32 max_inline = p ? p->max_inline : KWARP_MAX_INLINE;
	const u32 max_sge = p ? p->max_sge : KWARP_MAX_SGE;
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

/* Allocate the rings: one piece of memory, with one mapping, holds the SQ and after it the RQ. */
static int init_queues(struct kwarp_qp *qp, struct ib_qp_cap *cap)
{
	const struct kwarp_personality *p = kwarp_personality_of(qp->kdev, qp->sq.user);
	u32 stride = kwarp_sqe_stride(max(cap->max_send_sge, 1U), cap->max_inline_data);
	u32 recv_stride = kwarp_rqe_stride(max(cap->max_recv_sge, 1U));
	int ret;

	if (p) {
		stride = kwarp_sqe_stride(p->max_sge, p->max_inline);
		recv_stride = kwarp_rqe_stride(p->max_sge);
	}
	if (!qp->srq)
		qp->sq.ring.tail = kwarp_ring_octets(cap->max_recv_wr, recv_stride);
	ret = kwarp_sq_init(&qp->sq, cap->max_send_wr, stride);
	if (ret)
		return ret;
	cap->max_send_wr = kwarp_ring_size(&qp->sq.ring);
	cap->max_send_sge = max(cap->max_send_sge, 1U);
	cap->max_inline_data = p ? p->max_inline : stride - sizeof(struct kwarp_sqe);
	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	kwarp_rq_init_in_tail(&qp->rq, &qp->sq.ring, cap->max_recv_wr, recv_stride);
	cap->max_recv_wr = kwarp_ring_size(&qp->rq.ring);
	cap->max_recv_sge = max(cap->max_recv_sge, 1U);
	qp->rq.max_sge = cap->max_recv_sge;
	return 0;
}

static void fini_qp(struct kwarp_qp *qp)
{
	put_pid(qp->creator);
	kwarp_release_foreign(qp->kdev, &qp->rq.foreign, &qp->rq_map);
	kwarp_release_foreign(qp->kdev, &qp->sq.foreign, &qp->map);
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

	if (!qp->srq) {
		resp.rq_len = qp->rq.ring.len;
		resp.rq_size = kwarp_ring_size(&qp->rq.ring);
		resp.rq_stride = qp->rq.ring.stride;
	}
	qp->map = kwarp_mmap_ring(kwarp_udata_context(udata), &qp->sq.ring, &resp.mmap_key);
	if (!qp->map)
		return -ENOMEM;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

static void wire_up_engine(struct kwarp_qp *qp, const struct ib_qp_init_attr *init)
{
	const struct kwarp_personality *p = kwarp_personality_of(qp->kdev, qp->sq.user);
	const struct kwarp_engine_parts parts = {
		.kdev = qp->kdev,
		.ibqp = &qp->ibqp,
		.creator = qp->sq.user ? qp->creator : NULL,
		.sq = &qp->sq,
		.rq = qp->srq ? &qp->srq->rq : &qp->rq,
		.shared_mem = qp->srq ? &qp->srq->mem : NULL,
		.recv_cq = to_kcq(init->recv_cq),
		.hold = p ? p->hold : NULL,
	};

	qp->sq.cq = to_kcq(init->send_cq);
	qp->sq.ibqp = &qp->ibqp;
	qp->sq.sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	kwarp_engine_wire(&qp->engine, &parts);
}

static bool qp_has_rfc7306(const struct kwarp_dev *kdev, struct ib_udata *udata)
{
	return READ_ONCE(kdev->knobs.rfc7306) &&
	       (!udata || to_kuc(kwarp_udata_context(udata))->features & KWARP_FEATURE_RFC7306);
}

/* Attributes by which a program gives the memory of the rings; kwarp's rings are the kernel's. */
static const u16 qp_buffer_attrs[] = {
	KWARP_SINCE_ROW(QUEUE_UMEM_ATTRS, UVERBS_ATTR_CREATE_QP_BUF_UMEM)
	KWARP_SINCE_ROW(QUEUE_UMEM_ATTRS, UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM)
	KWARP_SINCE_ROW(QUEUE_UMEM_ATTRS, UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM)
};

int kwarp_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	struct kwarp_dev *kdev = to_kdev(ibqp->device);
	const struct kwarp_personality *p = kwarp_personality_of(kdev, udata);
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (!ret)
		ret = kwarp_udata_refuse(udata, qp_buffer_attrs, ARRAY_SIZE(qp_buffer_attrs));
	if (!ret)
		ret = check_qp_init(init, p);
	if (!ret)
		ret = kwarp_udata_fault(KWARP_FAULT_CREATE, ibqp->device, udata);
	if (ret)
		return ret;
	ret = kwarp_charge_object(&qp->charge, udata, sizeof(*qp), &kdev->num_qp, KWARP_MAX_QP);
	if (ret)
		return ret;
	/* The queues of Reads, which a connection makes later, are paid in advance. */
	ret = kwarp_charge(&qp->charge, kwarp_readqs_cost(KWARP_MAX_ORD, KWARP_MAX_IRD));
	if (ret)
		goto out_count;
	qp->sq.ring.charge.account = qp->charge.account;
	qp->kdev = kdev;
	qp->sq.user = udata;
	qp->ibuc = udata ? kwarp_udata_context(udata) : NULL;
	qp->sq.rfc7306 = qp_has_rfc7306(kdev, udata);
	qp->owner = current_uid();
	qp->srq = init->srq ? to_ksrq(init->srq) : NULL;
	qp->attr.qp_state = IB_QPS_INIT;
	kwarp_qp_init(qp);
	ret = init_queues(qp, &init->cap);
	if (ret)
		goto out_count;
	qp->creator = get_pid(task_tgid(current));
	get_task_comm(qp->program, current->group_leader);
	qp->cap = init->cap;
	wire_up_engine(qp, init);
	ret = kwarp_qp_reserve(qp);
	if (ret)
		goto out_queues;
	if (udata) {
		ret = p ? p->give_qp(qp, udata) : give_qp_rings(qp, udata);
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
	kwarp_uncharge_object(&qp->charge, &kdev->num_qp);
	return ret;
}

/*
 * This function cannot fail, because its callers cannot handle a failure: kernel consumers ignore
 * the result, and at the end of a process ib_uverbs warns about an object that is not destroyed,
 * and leaks it. So the wait below must not depend on consumers. References on a queue pair are held
 * only by kwarp's endpoints, work items and doorbells that are being rung, all of which end in
 * bounded time when the stream is down. iw_cm may keep a reference until its id is destroyed, but
 * only on a stand-in. Context: process; waits for the queue pair's work.
 */
int kwarp_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	mutex_lock(&qp->wiring);
	kwarp_wire_end(qp);
	mutex_unlock(&qp->wiring);
	kwarp_qp_retire(qp);
	/* A connection that is still being set up holds a reference on the queue pair: end it. */
	do {
		kwarp_cm_drop_qp(qp);
	} while (!kwarp_qp_gone(qp));
	kwarp_stats_remove(qp->kdev, kwarp_engine_stats(&qp->engine));
	kwarp_engine_unwire(&qp->engine);
	fini_qp(qp);
	kwarp_uncharge_object(&qp->charge, &qp->kdev->num_qp);
	return 0;
}

/*
 * A queue pair that has had no stream since its creation or its last reset shows INIT, or RTR after
 * a modify to RTR. It never shows RESET: iWARP makes no difference between RESET and INIT, and
 * other RNICs show INIT, too.
 */
static enum ib_qp_state ib_state(struct kwarp_qp *qp)
{
	switch (kwarp_qp_state(qp)) {
	case KWARP_QPS_IDLE:
		return READ_ONCE(qp->attr.qp_state);
	case KWARP_QPS_RTS:
		/* A wired queue pair may have its stream before its consumer asks for RTS. */
		return READ_ONCE(qp->wired) ? READ_ONCE(qp->attr.qp_state) : IB_QPS_RTS;
	case KWARP_QPS_CLOSING:
		return IB_QPS_SQD;
	default:
		return IB_QPS_ERR;
	}
}

/*
 * RESET is accepted for INIT: the verbs say that a queue pair is in RESET after its creation and
 * after a reset, and ib_state() shows INIT then.
 */
static bool is_current_state(struct kwarp_qp *qp, enum ib_qp_state state)
{
	enum ib_qp_state shown = ib_state(qp);

	return state == shown || (state == IB_QPS_RESET && shown == IB_QPS_INIT);
}

/*
 * Refuse RTS unless the stream is established, or the queue pair is wired: otherwise a program
 * would wait for ever for a stream that nobody sets up.
 */
static int modify_to_rts(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (qp->wire)
		return kwarp_wire_rts(qp, attr, mask);
	if (kwarp_qp_state(qp) == KWARP_QPS_RTS)
		return 0;
	if (READ_ONCE(qp->kdev->knobs.log_errors))
		ibdev_notice_ratelimited(&qp->kdev->ibdev,
					 "no RTS without rdma_cm or the knob wire_port: QP %u of %*pEhp (pid %d)\n",
					 qp->ibqp.qp_num, (int)strlen(qp->program), qp->program,
					 pid_nr(qp->creator));
	return -EINVAL;
}

static int modify_to_rtr(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int ret = 0;

	if (kwarp_qp_state(qp) != KWARP_QPS_IDLE || qp->wire)
		return -EINVAL;
	if (kwarp_wire_asks(attr, mask))
		ret = kwarp_wire_rtr(qp, attr, mask);
	if (!ret)
		WRITE_ONCE(qp->attr.qp_state, IB_QPS_RTR);
	return ret;
}

static int end_qp_stream(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	int ret = kwarp_qp_note(qp, event);

	if (!ret)
		kwarp_qp_run(qp);
	return ret;
}

/*
 * A stream that rdma_cm has made has to be over; that of a wired queue pair ends here, also if the
 * wire has lost it: the peer has closed, and this end still sends.
 */
static int modify_to_reset(struct kwarp_qp *qp)
{
	enum kwarp_qp_state state;
	int ret;

	kwarp_wire_end(qp);
	state = kwarp_qp_state(qp);
	if (qp->wired && state != KWARP_QPS_IDLE && state != KWARP_QPS_ERROR)
		end_qp_stream(qp, KWARP_QPE_ABORT);
	ret = kwarp_qp_reset(qp);
	if (ret)
		return ret;
	kwarp_wire_forget(qp);
	WRITE_ONCE(qp->attr.qp_state, IB_QPS_INIT);
	return 0;
}

/*
 * In iWARP it is the connection management that sets up the stream and moves the queue pair to RTS.
 * So a change to INIT or RTR is only recorded, for query_qp, unless RTR comes with the peer's
 * address (wire_verbs.c); SQD ends the stream gracefully, ERR ends it at once. librdmacm asks for
 * INIT and RTR, and with iWARP never for RTS.
 */
static int modify_state(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	lockdep_assert_held(&qp->wiring);
	switch (attr->qp_state) {
	case IB_QPS_RESET:
		return modify_to_reset(qp);
	case IB_QPS_INIT:
		if (kwarp_qp_state(qp) != KWARP_QPS_IDLE || qp->wire)
			return -EINVAL;
		WRITE_ONCE(qp->attr.qp_state, IB_QPS_INIT);
		return 0;
	case IB_QPS_RTR:
		return modify_to_rtr(qp, attr, mask);
	case IB_QPS_RTS:
		return modify_to_rts(qp, attr, mask);
	case IB_QPS_SQD:
		return end_qp_stream(qp, KWARP_QPE_CLOSE);
	case IB_QPS_ERR:
		kwarp_wire_end(qp);
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
	/* Any max_rd_atomic and max_dest_rd_atomic will do. */
	static_assert(KWARP_MAX_ORD == U8_MAX && KWARP_MAX_IRD == U8_MAX);
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	return kwarp_wire_attr_ok(attr, mask) ? 0 : -EINVAL;
}

static int modify_qp(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const bool set_up = mask & IB_QP_STATE && (attr->qp_state == IB_QPS_INIT ||
						   attr->qp_state == IB_QPS_RTR);
	int ret;

	ret = check_modify(qp, attr, mask);
	if (ret)
		return ret;
	if (mask & IB_QP_STATE) {
		ret = modify_state(qp, attr, mask);
		if (ret)
			return ret;
	}
	if (mask & IB_QP_ACCESS_FLAGS) {
		qp->asked_access = attr->qp_access_flags;
		kwarp_qp_set_access(qp, attr->qp_access_flags, set_up && !qp->wire);
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_PKEY_INDEX)
		qp->attr.pkey_index = attr->pkey_index;
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
	if (ret)
		return ret;
	mutex_lock(&qp->wiring);
	ret = modify_qp(qp, attr, mask);
	mutex_unlock(&qp->wiring);
	return ret;
}

int kwarp_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct kwarp_qp *qp = to_kqp(ibqp);

	*attr = qp->attr;
	attr->qp_state = ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->port_num = 1;
	if (!attr->path_mtu)
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

/*
 * Kernel consumers post their requests here. Programs write requests into their shared ring and
 * ring the doorbell of doorbell.c. Context: any.
 */
int kwarp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct kwarp_qp *qp = to_kqp(ibqp);
	int ret;

	*bad = wr;
	if (qp->sq.user)
		return -EOPNOTSUPP;
	ret = kwarp_fault(KWARP_FAULT_POST, ibqp->device, ibqp->qp_num, NULL);
	if (ret)
		return -ret;
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
	if (qp->sq.user)
		return -EOPNOTSUPP;
	ret = kwarp_fault(KWARP_FAULT_POST, ibqp->device, ibqp->qp_num, NULL);
	if (ret)
		return -ret;
	ret = kwarp_rq_post(&qp->rq, wr, bad);
	kwarp_engine_posted_recv(&qp->engine, false);
	return ret;
}
