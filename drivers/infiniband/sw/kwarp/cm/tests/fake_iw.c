// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A fake of iw_cm, modelled on iwcm.c: it calls connect, accept and reject of the code under test,
 * and queues the events that come back.
 */
#include "fake.h"

static struct fake_id *to_fake_id(struct iw_cm_id *id)
{
	return container_of(id, struct fake_id, id);
}

static void iw_add_ref(struct iw_cm_id *id)
{
	to_fake_id(id)->refs++;
}

static void iw_rem_ref(struct iw_cm_id *id)
{
	to_fake_id(id)->refs--;
}

/*
 * Check that ep->reported is set before the event that makes the id ESTABLISHED: kwarp_qp_rem_ref()
 * relies on that.
 */
static void iw_check_reported(const struct iw_cm_event *event)
{
	const struct kwarp_ep *ep =
		list_first_entry_or_null(&fake.kdev->cm.eps, struct kwarp_ep, node);

	if (event->event != IW_CM_EVENT_ESTABLISHED &&
	    (event->event != IW_CM_EVENT_CONNECT_REPLY || event->status))
		return;
	if (!ep || !ep->reported)
		fake.bug = "established, and the endpoint does not say so";
}

/* As cm_event_handler() of iwcm.c: copy the event, and queue it. */
static int iw_event(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct fake_id *f = to_fake_id(id);

	iw_check_reported(event);
	if (event->private_data_len && fake.reply_nomem) {
		fake.reply_nomem = false;
		return -ENOMEM;
	}
	if (f->queued == FAKE_EVENTS) {
		fake.bug = "too many events";
		return -ENOMEM;
	}
	/* Copy the private data, which need not exist any more when the event is handled. */
	memcpy(f->pdata, event->private_data, event->private_data_len);
	f->queue[f->queued++] = *event;
	return 0;
}

void ct_iw_init(struct fake_id *f)
{
	f->refs = 1;
	f->id.device = &fake.kdev->ibdev;
	f->id.context = &f->rdma;
	f->rdma.device = f->id.device;
	f->id.event_handler = iw_event;
	f->id.add_ref = iw_add_ref;
	f->id.rem_ref = iw_rem_ref;
}

int ct_iw_request(struct iw_cm_id *id, struct iw_cm_event *event)
{
	int ret = once(&fake.request_err);

	if (ret)
		return ret;
	fake.requests++;
	fake.provider_data = event->provider_data;
	fake.pdata_len = event->private_data_len;
	memcpy(fake.pdata, event->private_data, fake.pdata_len);
	return 0;
}

void ct_iw_drop_qp(struct fake_id *f)
{
	if (f->qp)
		kwarp_qp_rem_ref(f->qp);
	f->qp = NULL;
}

/* Like process_event() of iwcm.c; sets fake.bug where process_event() would BUG(). */
static void iw_process(struct fake_id *f, const struct iw_cm_event *event)
{
	f->status = event->status;
	f->ird = event->ird;
	f->ord = event->ord;
	f->pdata_len = event->private_data_len;
	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		f->replies++;
		if (f->state != FAKE_SENT)
			fake.bug = "CONNECT_REPLY without a connect";
		f->state = event->status ? FAKE_IDLE : FAKE_ESTABLISHED;
		if (event->status)
			ct_iw_drop_qp(f);
		break;
	case IW_CM_EVENT_ESTABLISHED:
		f->ests++;
		if (f->state != FAKE_RECV)
			fake.bug = "ESTABLISHED without an accept";
		f->state = FAKE_ESTABLISHED;
		break;
	case IW_CM_EVENT_CLOSE:
		f->closes++;
		if (f->state != FAKE_ESTABLISHED && f->state != FAKE_CLOSING)
			fake.bug = "CLOSE of what is not established";
		f->state = FAKE_IDLE;
		ct_iw_drop_qp(f);
		break;
	default:
		fake.bug = "unknown event";
	}
}

void ct_iw_process_all(void)
{
	struct fake_id *f = &fake.id;
	int i;

	for (i = 0; i < f->queued; i++)
		iw_process(f, &f->queue[i]);
	f->queued = 0;
}

static struct iw_cm_conn_param iw_param(u32 qpn)
{
	return (struct iw_cm_conn_param){ .qpn = qpn, .ird = 1 + fake.id.more_ird,
					    .ord = 1 + fake.id.more_ord };
}

/* As iw_cm_connect() of iwcm.c. */
int ct_iw_connect(u32 qpn)
{
	struct iw_cm_conn_param param = iw_param(qpn);
	struct fake_id *f = &fake.id;
	int ret;

	f->state = FAKE_SENT;
	f->qp = kwarp_get_qp(&fake.kdev->ibdev, qpn);
	ret = kwarp_cm_connect(&f->id, &param);
	if (ret) {
		f->state = FAKE_IDLE;
		ct_iw_drop_qp(f);
	}
	return ret;
}

/*
 * As iw_cm_accept() of iwcm.c, which overwrites its pointer to the queue pair of an earlier accept.
 */
int ct_iw_accept(u32 qpn)
{
	struct iw_cm_conn_param param = iw_param(qpn);
	struct fake_id *f = &fake.id;
	int ret;

	f->qp = kwarp_get_qp(&fake.kdev->ibdev, qpn);
	ret = kwarp_cm_accept(&f->id, &param);
	if (ret) {
		f->state = FAKE_IDLE;
		ct_iw_drop_qp(f);
	}
	return ret;
}

/* As iw_cm_reject() of iwcm.c. */
int ct_iw_reject(void)
{
	fake.id.state = FAKE_IDLE;
	return kwarp_cm_reject(&fake.id.id, NULL, 0);
}

/* As iw_cm_disconnect() of iwcm.c for an id that is established. */
int ct_iw_disconnect(bool abrupt)
{
	if (!kwarp_cm_is_stand_in(fake.id.qp) || fake.id.qp->real_qp != fake.id.qp)
		fake.bug = "iw_cm has a queue pair itself";
	return kwarp_cm_modify_stand_in(fake.id.qp, !abrupt);
}
