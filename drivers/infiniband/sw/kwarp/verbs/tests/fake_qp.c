// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Stand-ins for the functions of queue pairs, their engines and connections.  Most only append a
 * word to a log, which tests compare with the calls that they expect.
 */
#include "stand_ins.h"

void vt_qp_init(struct kwarp_qp *qp)
{
}

int vt_qp_reserve(struct kwarp_qp *qp)
{
	if (vt_is_fault(FAULT_RESERVE))
		return -ENOMEM;
	qp->ibqp.qp_num = VT_QPN;
	vt->reserved++;
	return 0;
}

void vt_qp_unreserve(struct kwarp_qp *qp)
{
	vt->reserved--;
}

struct kwarp_stats_stream *vt_engine_stats(struct kwarp_engine *e)
{
	return &e->stats;
}

void vt_stats_add(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	vt->counted++;
}

void vt_stats_remove(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	vt->counted--;
}

void vt_stats_total(struct kwarp_dev *kdev, struct kwarp_stream_stats *sum)
{
	*sum = *vt->total;
}

void vt_qp_publish(struct kwarp_qp *qp)
{
	vt_log_word("publish");
}

void vt_qp_retire(struct kwarp_qp *qp)
{
	vt->reserved--;
	vt_log_word("retire");
}

bool vt_qp_gone(struct kwarp_qp *qp)
{
	return !vt->users--;
}

struct kwarp_qp *vt_qp_lookup(struct kwarp_dev *kdev, u32 qpn)
{
	if (kdev != vt->kdev || qpn != VT_QPN || !vt->found)
		return NULL;
	vt_log_word("find");
	if (vt->on_find)
		vt->on_find();
	return vt->found;
}

void vt_qp_put(struct kwarp_qp *qp)
{
	vt_log_word(qp == vt->found ? "put" : "?");
}

void vt_cm_drop_qp(struct kwarp_qp *qp)
{
	vt->drops++;
	vt->dropped = qp;
}

bool vt_cm_is_stand_in(const struct ib_qp *ibqp)
{
	return ibqp->qp_type == IB_QPT_RESERVED1;
}

int vt_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful)
{
	vt_log_word(graceful ? "cm-close" : "cm-abort");
	return vt->event;
}

int vt_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	vt_log_word(event == KWARP_QPE_CLOSE ? "close" : event == KWARP_QPE_ABORT ? "abort" : "?");
	return vt->event;
}

void vt_qp_run(struct kwarp_qp *qp)
{
	vt_log_word("run");
}

int vt_qp_reset(struct kwarp_qp *qp)
{
	vt_log_word("reset");
	return vt->event;
}

void vt_qp_set_access(struct kwarp_qp *qp, int access, bool set_up)
{
	qp->attr.qp_access_flags = access;
	vt_log_word(set_up ? "access-of-setup" : "access");
}

enum kwarp_qp_state vt_qp_state(struct kwarp_qp *qp)
{
	return vt->state;
}

void vt_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts)
{
	vt->parts = *parts;
	vt->wired = e;
}

void vt_engine_unwire(struct kwarp_engine *e)
{
	vt_log_word(e == vt->wired ? "unwire" : "?");
}

void vt_engine_posted_send(struct kwarp_engine *e, bool user)
{
	vt_log_word(user ? "doorbell" : "kick");
}

void vt_engine_posted_recv(struct kwarp_engine *e, bool user)
{
	vt_log_word(user ? "recv-doorbell" : "recv-kick");
}
