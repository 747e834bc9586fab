// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Endpoint: its queue pair, which owns the socket while the stream lasts. */
#include "ep_stream.h"

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <linux/sched/mm.h>

#include "../door.h"
#include "../qp/stream.h"
#include "cm_iface.h"
#include "ep.h"
#include "startup.h"

/*
 * May the ULP that owns @id connect this QP? iw_cm names a QP by its number, and any process can
 * name any number. For user space rdma->qp is NULL, and the QP's owner is checked; a kernel
 * consumer has set rdma->qp to the QP that the id is for.
 */
static bool may_bind(const struct iw_cm_id *id, struct kwarp_qp *qp)
{
	const struct rdma_cm_id *rdma = kwarp_cm_rdma_id(id);
	const struct ib_qp *ibqp = kwarp_qp_ib(qp);

	if (!rdma)
		return false;
	if (!ibqp->uobject)
		return rdma->qp == ibqp;
	return !rdma->qp && kwarp_qp_may_connect(qp);
}

/* @qp: a reference, which the endpoint puts */
void kwarp_ep_take_qp(struct kwarp_ep *ep, struct kwarp_qp *qp)
{
	lockdep_assert_held(&ep->mutex);
	ep->qp = qp;
	kwarp_qp_join(qp, &ep->qp_node);
}

/*
 * A QP that could not get the socket later is refused now, before anything is sent: after the Reply
 * there is no way to report a failure to the peer.
 */
int kwarp_ep_bind_qp(struct kwarp_ep *ep, const struct iw_cm_id *id, u32 qpn)
{
	struct kwarp_qp *qp = kwarp_qp_lookup(ep->kdev, qpn);
	int ret = 0;

	lockdep_assert_held(&ep->mutex);
	if (!qp)			/* no such QP: 5044-7.1-7 */
		return -EINVAL;
	if (!may_bind(id, qp))
		ret = -EPERM;
	else if (kwarp_qp_state(qp) != KWARP_QPS_IDLE)
		ret = -EINVAL;
	if (ret) {
		kwarp_qp_put(qp);
		return ret;
	}
	ep->su->caller = kwarp_caller_get(qp);
	kwarp_ep_take_qp(ep, qp);
	return 0;
}

/* Context: process, no lock held. */
static void stream_event(void *cookie, enum kwarp_stream_event event, bool graceful)
{
	struct kwarp_ep *ep = cookie;

	kwarp_ep_lock(ep);
	switch (event) {
	case KWARP_STREAM_ESTABLISHED:
		set_bit(KWARP_EP_QP_FPDU, &ep->events);
		break;
	case KWARP_STREAM_PEER_CLOSED:
		set_bit(KWARP_EP_QP_FIN, &ep->events);
		break;
	case KWARP_STREAM_DOWN:
		set_bit(graceful ? KWARP_EP_QP_DOWN_FIN : KWARP_EP_QP_DOWN_ERR, &ep->events);
		break;
	}
	kwarp_ep_unlock(ep);
	if (event == KWARP_STREAM_DOWN)
		kwarp_ep_put(ep);		/* the stream's reference */
}

static const struct kwarp_stream_ops stream_ops = {
	.event = stream_event,
};

/*
 * A responder calls this before it sends its Reply: afterwards there is no way to report a failure
 * to the peer (5044-7.1.2-16).
 */
int kwarp_ep_prepare(struct kwarp_ep *ep)
{
	KWARP_DOOR(kwarp_ep_prepare, ep);
	struct kwarp_startup *su = ep->su;

	lockdep_assert_held(&ep->mutex);
	return kwarp_readqs_init(&su->readqs, su->res.ord, su->res.ird);
}

/* In a kernel thread: charge the memory to the program, and do not wait for it: see sock_io.c. */
int kwarp_ep_prepare_in_work(struct kwarp_ep *ep)
{
	struct mem_cgroup *memcg = set_active_memcg(kwarp_cm_sock_memcg(&ep->cs));
	unsigned int noreclaim = memalloc_noreclaim_save();
	int ret = kwarp_ep_prepare(ep);

	memalloc_noreclaim_restore(noreclaim);
	set_active_memcg(memcg);
	return ret;
}

/*
 * Return: 0: the QP owns the socket until its upcall DOWN; or an errno of kwarp_qp_attach(), and
 * the endpoint keeps the socket.
 */
int kwarp_ep_attach(struct kwarp_ep *ep, bool initiator)
{
	struct kwarp_startup *su = ep->su;
	const struct kwarp_mpa_result *res = &su->res;
	const struct kwarp_stream_params params = {
		.initiator = initiator,
		.crc = res->crc,
		.tx_markers = res->tx_markers,
		.rx_markers = res->rx_markers,
		.align = READ_ONCE(ep->kdev->knobs.align),
		.long_frames = READ_ONCE(ep->kdev->knobs.long_frames),
		.strict = READ_ONCE(ep->kdev->knobs.strict),
		.send_imm = su->send_imm,
		.receive_wait = su->receive_wait,
		.ird = res->ird,
		.ord = res->ord,
		.rtr = initiator ? res->rtr : 0,
		.say_first = !initiator && res->rtr,
		.readqs = &su->readqs,
	};
	int ret;

	lockdep_assert_held(&ep->mutex);
	kwarp_cm_sock_unhook(&ep->cs);
	kwarp_ep_get(ep);			/* reference for the stream */
	ret = kwarp_qp_attach(ep->qp, ep->cs.sock, &params, &stream_ops, ep);
	if (ret) {
		kwarp_ep_put(ep);
		kwarp_cm_sock_hook(&ep->cs);
	}
	return ret;
}

void kwarp_ep_unbind_qp(struct kwarp_ep *ep)
{
	struct kwarp_qp *qp = ep->qp;

	lockdep_assert_held(&ep->mutex);
	ep->qp = NULL;
	if (!qp)
		return;
	kwarp_qp_leave(qp, &ep->qp_node);
	kwarp_qp_put(qp);
}
