// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwcoalesce is a test program for held requests (posted, but not sent at once by the device).
 * This file: the two ends of a connection, both in one process: connecting, posting and polling.
 */
#include "pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEN		64
#define SLOTS		16
#define WRS		16
/* Ten thousand times the default time after which the timer sends held requests. */
#define ARRIVAL_MS	1000

static void open_end(struct kc_end *e, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;
	int i;

	e->id = id;
	e->buf = kw_zalloc(SLOTS * LEN);
	e->pd = ibv_alloc_pd(id->verbs);
	e->channel = ibv_create_comp_channel(id->verbs);
	for (i = 0; i < 2; i++)
		e->cq[i] = ibv_create_cq(id->verbs, WRS, NULL, e->channel, 0);
	e->mr = e->pd ? ibv_reg_mr(e->pd, e->buf, SLOTS * LEN,
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) : NULL;
	attr = kw_qp_attr(e->cq[0], WRS, WRS, 1);
	attr.recv_cq = e->cq[1];
	if (!e->channel || !e->cq[0] || !e->cq[1] || !e->mr || rdma_create_qp(id, e->pd, &attr))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
}

static void close_end(struct kc_end *e)
{
	rdma_destroy_qp(e->id);
	if (ibv_destroy_cq(e->cq[0]) || ibv_destroy_cq(e->cq[1]) ||
	    ibv_destroy_comp_channel(e->channel) || ibv_dereg_mr(e->mr) || ibv_dealloc_pd(e->pd))
		kw_die(KW_MISMATCH, "cannot destroy the objects: %s", strerror(errno));
	free(e->buf);
}

static void expect(struct rdma_cm_id *id, enum rdma_cm_event_type type, struct kwcm_event *ev)
{
	if (kwcm_expect(id->channel, type, KC_WAIT_MS, ev))
		kw_die(KW_SETUP, "cannot connect");
}

void kc_connect_pair(struct kc_pair *p, const char *addr, const char *port)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct kwcm_event ev;

	p->listener = kwcm_listen(addr, port, 1);
	open_end(&p->a, kwcm_resolve(addr, port));
	if (rdma_connect(p->a.id, &param))
		kw_die(KW_SETUP, "cannot connect: %s", strerror(errno));
	expect(p->listener, RDMA_CM_EVENT_CONNECT_REQUEST, &ev);
	open_end(&p->b, ev.id);
	if (rdma_accept(p->b.id, &param))
		kw_die(KW_SETUP, "cannot accept: %s", strerror(errno));
	expect(p->a.id, RDMA_CM_EVENT_ESTABLISHED, &ev);
	expect(p->listener, RDMA_CM_EVENT_ESTABLISHED, &ev);
}

void kc_disconnect_pair(struct kc_pair *p)
{
	rdma_disconnect(p->a.id);
	close_end(&p->a);
	close_end(&p->b);
	kwcm_destroy(p->a.id);
	rdma_destroy_id(p->b.id);
	kwcm_destroy(p->listener);
}

void kc_poll_cq(struct kc_end *e, int which)
{
	struct ibv_wc wc[WRS];
	int i, n = ibv_poll_cq(e->cq[which], WRS, wc);

	if (n < 0)
		kw_die(KW_LOST, "cannot poll");
	for (i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			kw_die(KW_LOST, "completion with status '%s'",
			       ibv_wc_status_str(wc[i].status));
	*(which ? &e->heard : &e->done) += n;
}

void kc_arm(struct kc_end *e, int which)
{
	if (ibv_req_notify_cq(e->cq[which], 0))
		kw_die(KW_LOST, "cannot ask for an event");
}

void kc_poll_all(struct kc_end *e)
{
	int64_t until = kw_now_ms() + KC_WAIT_MS;

	do {
		kc_poll_cq(e, 0);
		if (kw_now_ms() > until)
			kw_die(KW_STALL, "no completion");
	} while (e->done != e->posted);
}

static uint8_t *slot(struct kc_end *e, unsigned int i)
{
	return e->buf + i % SLOTS * LEN;
}

void kc_post_request(struct kc_end *e, struct ibv_send_wr *wr, unsigned int i)
{
	struct ibv_sge sge = { (uintptr_t)slot(e, i), LEN, e->mr->lkey };
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	if (ibv_post_send(e->id->qp, wr, &bad))
		kw_die(KW_LOST, "cannot post: %s", strerror(errno));
}

void kc_post_write(struct kc_pair *p)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };
	unsigned int i = ++p->a.posted;

	kw_fill(slot(&p->a, i), LEN, i, 0);
	wr.wr.rdma.remote_addr = (uintptr_t)slot(&p->b, i);
	wr.wr.rdma.rkey = p->b.mr->rkey;
	kc_post_request(&p->a, &wr, i);
}

bool kc_arrived(struct kc_pair *p)
{
	unsigned int i = p->a.posted;

	/* The compiler must not assume that memory is unchanged: the device writes to it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return kw_check(slot(&p->b, i), LEN, i, 0) == LEN;
}

void kc_spin_until_arrived(struct kc_pair *p)
{
	int64_t begin = kw_now_ms(), took = 0;

	while (!kc_arrived(p) && took <= ARRIVAL_MS)
		took = kw_now_ms() - begin;
	if (took > ARRIVAL_MS)
		kw_die(KW_STALL, "FAILED: Write %u has not arrived within %u ms", p->a.posted,
		       ARRIVAL_MS);
	if (took > p->late)
		p->late = took;
}

void kc_post_recv(struct kc_end *e)
{
	struct ibv_sge sge = { (uintptr_t)slot(e, 0), LEN, e->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_recv(e->id->qp, &wr, &bad))
		kw_die(KW_LOST, "cannot post a receive");
}
