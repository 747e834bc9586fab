// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fake queue pairs: they count references and record calls. */
#include "fake.h"

struct kwarp_qp *kwarp_qp_lookup(struct kwarp_dev *kdev, u32 qpn)
{
	struct kwarp_qp *qp = &fake.qp[qpn - FAKE_QPN];

	if (qpn < FAKE_QPN || qpn >= FAKE_QPN + FAKE_QPS)
		return NULL;
	qp->refs++;
	return qp;
}

void kwarp_qp_get(struct kwarp_qp *qp)
{
	qp->refs++;
}

void kwarp_qp_put(struct kwarp_qp *qp)
{
	qp->refs--;
}

bool kwarp_qp_may_connect(const struct kwarp_qp *qp)
{
	return qp->may_connect;
}

struct ib_qp *kwarp_qp_ib(struct kwarp_qp *qp)
{
	return &qp->ib;
}

enum kwarp_qp_state kwarp_qp_state(struct kwarp_qp *qp)
{
	return qp->state;
}

bool kwarp_qp_has_sends(const struct kwarp_qp *qp)
{
	return qp->sends;
}

void kwarp_qp_give_up(struct kwarp_qp *qp)
{
	if (qp->state != KWARP_QPS_IDLE)
		return;
	qp->state = KWARP_QPS_ERROR;
	qp->given_up++;
}

void kwarp_qp_say_established(struct kwarp_qp *qp)
{
	qp->established++;
}

void kwarp_qp_tell_no_start(struct kwarp_qp *qp, struct kwarp_ended *rec)
{
	rec->qpn = qp->ib.qp_num;
	kwarp_ended_add_startup(fake.kdev, rec);
}

void kwarp_ended_add_startup(struct kwarp_dev *kdev, struct kwarp_ended *rec)
{
	fake.told = *rec;
}

void kwarp_qp_join(struct kwarp_qp *qp, struct list_head *node)
{
	list_add_tail(node, &qp->users);
}

void kwarp_qp_leave(struct kwarp_qp *qp, struct list_head *node)
{
	list_del_init(node);
}

void kwarp_qp_each_user(struct kwarp_qp *qp, void (*fn)(struct list_head *node))
{
	struct list_head *node;

	list_for_each(node, &qp->users)
		fn(node);
}

int kwarp_qp_attach(struct kwarp_qp *qp, struct socket *sock,
		    const struct kwarp_stream_params *params,
		    const struct kwarp_stream_ops *ops, void *ep)
{
	int ret = once(&qp->attach_err);

	if (!ret && qp->state != KWARP_QPS_IDLE)
		ret = -EINVAL;
	if (ret)
		return ret;
	/* The queue pair owns the queues of Read requests now; the fake needs none. */
	kwarp_readqs_fini(params->readqs);
	qp->state = KWARP_QPS_RTS;
	qp->ops = ops;
	qp->ep = ep;
	qp->params = *params;
	return 0;
}

void ct_stream_says(struct kwarp_qp *qp, enum kwarp_stream_event event, bool graceful)
{
	if (event == KWARP_STREAM_DOWN)
		qp->state = KWARP_QPS_ERROR;
	qp->ops->event(qp->ep, event, graceful);
}

void kwarp_qp_begin_close(struct kwarp_qp *qp, bool graceful)
{
	if (qp->state != KWARP_QPS_RTS)
		return;
	qp->aborted = !graceful;
	qp->closed = true;
	qp->ending = true;
}

void kwarp_qp_run(struct kwarp_qp *qp)
{
	/* The test may have reported DOWN already: then the state is not RTS any more. */
	if (xchg(&qp->ending, false) && qp->state == KWARP_QPS_RTS)
		ct_stream_says(qp, KWARP_STREAM_DOWN, false);
}

/* Report DOWN from a work item, because the caller has the endpoint locked. */
void kwarp_qp_abort(struct kwarp_qp *qp)
{
	kwarp_qp_begin_close(qp, false);
	queue_work(kwarp_wq, &qp->work);
}

void ct_qp_work(struct work_struct *work)
{
	kwarp_qp_run(container_of(work, struct kwarp_qp, work));
}
