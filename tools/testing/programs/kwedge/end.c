// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away? This
 * file: an end of a connection, its requests, completions and events.
 */
#include "kwedge.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

void kwe_open(struct kwe_end *e, size_t len, int access, unsigned int wrs)
{
	struct ibv_qp_init_attr a;

	if (!e->pd)
		e->pd = ibv_alloc_pd(e->id->verbs);
	if (!e->cq)
		e->cq = ibv_create_cq(e->id->verbs, 4 * wrs, NULL, NULL, 0);
	e->buf = kw_zalloc(len);
	e->len = len;
	e->mr = e->pd ? ibv_reg_mr(e->srq_pd ? e->srq_pd : e->pd, e->buf, len,
				   IBV_ACCESS_LOCAL_WRITE | access) : NULL;
	a = kw_qp_attr(e->cq, wrs, wrs, 1);
	a.cap.max_recv_sge = 2;
	a.srq = e->srq;
	if (!e->cq || !e->mr || rdma_create_qp(e->id, e->pd, &a))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
}

void kwe_close(struct kwe_end *e)
{
	rdma_destroy_qp(e->id);
	if (ibv_destroy_cq(e->cq) || (e->srq && ibv_destroy_srq(e->srq)) ||
	    (e->mr && ibv_dereg_mr(e->mr)) || ibv_dealloc_pd(e->pd) ||
	    (e->srq_pd && ibv_dealloc_pd(e->srq_pd)))
		kw_die(KW_MISMATCH, "cannot destroy the objects: %s", strerror(errno));
	free(e->buf);
}

void kwe_connect(struct kwe_end *e, const struct kwe_opt *opt, size_t len, unsigned int wrs,
		 struct kwcm_event *ev)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };

	e->id = kwcm_resolve(opt->addr, opt->port);
	kwe_open(e, len, 0, wrs);
	if (rdma_connect(e->id, &param) ||
	    kwcm_expect(e->id->channel, RDMA_CM_EVENT_ESTABLISHED, KWE_WAIT_MS, ev))
		kw_die(KW_SETUP, "cannot connect");
}

void kwe_request(struct rdma_cm_id *listener, struct kwcm_event *ev)
{
	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, KWE_WAIT_MS, ev))
		kw_die(KW_LOST, "nobody connects");
}

static struct ibv_sge sge_of(struct kwe_end *e, size_t offset, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf + offset,
		.length = len,
		.lkey = e->mr->lkey,
	};

	return sge;
}

void kwe_post_send(struct kwe_end *e, size_t offset, uint32_t len)
{
	struct ibv_sge sge = sge_of(e, offset, len);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = len ? 1 : 0,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (ibv_post_send(e->id->qp, &wr, &bad))
		kw_die(KW_LOST, "cannot post a Send");
}

void kwe_post_recv(struct kwe_end *e, size_t offset, uint32_t len)
{
	struct ibv_sge sge = sge_of(e, offset, len);
	struct ibv_recv_wr *bad, wr = { .wr_id = offset, .sg_list = &sge, .num_sge = 1 };

	if (e->srq ? ibv_post_srq_recv(e->srq, &wr, &bad) : ibv_post_recv(e->id->qp, &wr, &bad))
		kw_die(KW_LOST, "cannot post a receive");
}

void kwe_completion(struct kwe_end *e, struct ibv_wc *wc)
{
	int64_t until = kw_now_ms() + KWE_WAIT_MS;
	int n;

	do
		n = ibv_poll_cq(e->cq, 1, wc);
	while (!n && kw_now_ms() < until);
	if (n < 1)
		kw_die(KW_STALL, "no completion");
	if (wc->status != IBV_WC_SUCCESS)
		kw_die(KW_LOST, "completion with status '%s'", ibv_wc_status_str(wc->status));
}

bool kwe_async(struct ibv_context *verbs, int timeout_ms, struct ibv_async_event *ev)
{
	struct pollfd fd = { .fd = verbs->async_fd, .events = POLLIN };

	if (poll(&fd, 1, timeout_ms) != 1)
		return false;
	if (ibv_get_async_event(verbs, ev))
		kw_die(KW_SETUP, "cannot get an event: %s", strerror(errno));
	ibv_ack_async_event(ev);
	kw_debug("event '%s'", ibv_event_type_str(ev->event_type));
	return true;
}
