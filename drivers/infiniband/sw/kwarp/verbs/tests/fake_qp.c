// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fakes for the functions of queue pairs, their engines and connections */
#include "rename.h"
#include "fixture.h"

#include "../../stats.h"

void ibdev_notice(const struct ib_device *ibdev, const char *format, ...)
{
	vt_log_word("notice");
}

void kwarp_qp_init(struct kwarp_qp *qp)
{
	mutex_init(&qp->wiring);
}

int kwarp_cm_wire(struct kwarp_qp *qp, const struct kwarp_wiring *to, struct kwarp_wire **wire)
{
	vt_log_word("wire");
	vt->wiring = *to;
	if (!vt->event)
		*wire = (struct kwarp_wire *)&vt->wiring;
	return vt->event;
}

int kwarp_cm_wire_sends(struct kwarp_wire *w, const struct kwarp_wire_sends *s)
{
	vt_log_word(w == (struct kwarp_wire *)&vt->wiring ? "sends" : "?");
	vt->sends = *s;
	return vt->event;
}

void kwarp_cm_unwire(struct kwarp_wire *w)
{
	vt_log_word(w == (struct kwarp_wire *)&vt->wiring ? "cut" : "?");
}

int kwarp_qp_reserve(struct kwarp_qp *qp)
{
	if (vt_is_fault(FAULT_RESERVE))
		return -ENOMEM;
	qp->ibqp.qp_num = VT_QPN;
	vt->reserved++;
	return 0;
}

void kwarp_qp_unreserve(struct kwarp_qp *qp)
{
	vt->reserved--;
}

struct kwarp_stats_stream *kwarp_engine_stats(struct kwarp_engine *e)
{
	return &e->stats;
}

void kwarp_stats_add(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	vt->counted++;
}

void kwarp_stats_remove(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	vt->counted--;
}

void kwarp_stats_total(struct kwarp_dev *kdev, struct kwarp_stream_stats *sum)
{
	*sum = *vt->total;
}

void kwarp_qp_publish(struct kwarp_qp *qp)
{
	vt_log_word("publish");
}

void kwarp_qp_retire(struct kwarp_qp *qp)
{
	vt->reserved--;
	vt_log_word("retire");
}

bool kwarp_qp_gone(struct kwarp_qp *qp)
{
	return !vt->users--;
}

struct kwarp_qp *kwarp_qp_lookup(struct kwarp_dev *kdev, u32 qpn)
{
	if (kdev != vt->kdev || qpn != VT_QPN || !vt->found)
		return NULL;
	vt_log_word("find");
	if (vt->on_find)
		vt->on_find();
	return vt->found;
}

void kwarp_qp_put(struct kwarp_qp *qp)
{
	vt_log_word(qp == vt->found ? "put" : "?");
}

void kwarp_cm_drop_qp(struct kwarp_qp *qp)
{
	vt->drops++;
	vt->dropped = qp;
}

bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp)
{
	return ibqp->qp_type == IB_QPT_RESERVED1;
}

int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful)
{
	vt_log_word(graceful ? "cm-close" : "cm-abort");
	return vt->event;
}

int kwarp_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	vt_log_word(event == KWARP_QPE_CLOSE ? "close" : event == KWARP_QPE_ABORT ? "abort" : "?");
	return vt->event;
}

void kwarp_qp_run(struct kwarp_qp *qp)
{
	vt_log_word("run");
}

int kwarp_qp_reset(struct kwarp_qp *qp)
{
	vt_log_word("reset");
	return vt->event;
}

void kwarp_qp_set_access(struct kwarp_qp *qp, int access, bool set_up)
{
	qp->attr.qp_access_flags = access;
	vt_log_word(set_up ? "access-of-setup" : "access");
}

void kwarp_qp_forget_access(struct kwarp_qp *qp)
{
	vt_log_word("forget-access");
}

enum kwarp_qp_state kwarp_qp_state(struct kwarp_qp *qp)
{
	return vt->state;
}

void kwarp_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts)
{
	vt->parts = *parts;
	vt->wired = e;
}

void kwarp_engine_unwire(struct kwarp_engine *e)
{
	vt_log_word(e == vt->wired ? "unwire" : "?");
}

void kwarp_engine_posted_send(struct kwarp_engine *e, bool user)
{
	vt_log_word(user ? "doorbell" : "kick");
}

void kwarp_engine_posted_recv(struct kwarp_engine *e, bool user)
{
	vt_log_word(user ? "recv-doorbell" : "recv-kick");
}
