// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away?
 * These cases: few receives are left in a shared receive queue, so that its owner gets an event;
 * and a completion queue overflows because nobody polls it.
 */
#include "kwedge.h"

#include <errno.h>
#include <string.h>

#define MSG		64

/* ---------------------------------------------------------------- srq-limit */

/*
 * There are 16 shared receives, and an event is requested for when fewer than 8 are left. In each
 * step the client sends some messages and waits for an answer from the server.
 */
#define SRQ_RECVS	16
#define SRQ_LIMIT	8

static const struct step {
	unsigned int sends;	/* messages from the client */
	bool event;		/* the event has to come in this step */
} steps[] = {
	{ SRQ_RECVS - SRQ_LIMIT, false },	/* 8 receives are left */
	{ 1, true },				/* 7 are left, fewer than 8: the event */
	{ 6, false },				/* 1 is left; there is only one event */
};

static void arm_limit(struct kwe_end *e)
{
	struct ibv_srq_attr a = { .srq_limit = SRQ_LIMIT };

	if (ibv_modify_srq(e->srq, &a, IBV_SRQ_LIMIT))
		kw_die(KW_MISMATCH, "cannot arm the limit: %s", strerror(errno));
}

static void armed_is(struct kwe_end *e, unsigned int limit)
{
	struct ibv_srq_attr a = { 0 };
	int ret = ibv_query_srq(e->srq, &a);

	/*
	 * libsiw cannot query a shared receive queue. Then only the event shows that the limit is
	 * set.
	 */
	if (ret == EOPNOTSUPP || ret == ENOSYS)
		return;
	if (ret || a.srq_limit != limit)
		kw_die(KW_MISMATCH, "the limit is %u, must be %u", a.srq_limit, limit);
}

static void open_srq(struct kwe_end *e, bool own_pd, bool armed)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = SRQ_RECVS, .max_sge = 1 } };
	int i;

	e->pd = ibv_alloc_pd(e->id->verbs);
	if (own_pd)
		e->srq_pd = ibv_alloc_pd(e->id->verbs);
	if (!e->pd || (own_pd && !e->srq_pd))
		kw_die(KW_SETUP, "cannot allocate a protection domain: %s", strerror(errno));
	e->srq = ibv_create_srq(own_pd ? e->srq_pd : e->pd, &a);
	if (!e->srq)
		kw_die(KW_SETUP, "cannot create shared receives: %s", strerror(errno));
	kwe_open(e, (SRQ_RECVS + 1) * MSG, 0, SRQ_RECVS);
	for (i = 0; i < SRQ_RECVS; i++)
		kwe_post_recv(e, i * MSG, MSG);
	if (armed)
		arm_limit(e);
}

static void expect_limit(struct kwe_end *e, const struct step *s)
{
	struct ibv_async_event ev;

	if (!kwe_async(e->id->verbs, s->event ? KWE_WAIT_MS : 300, &ev)) {
		if (s->event)
			kw_die(KW_MISMATCH, "no event though fewer than %u receives are left",
			       SRQ_LIMIT);
		return;
	}
	if (!s->event || ev.event_type != IBV_EVENT_SRQ_LIMIT_REACHED || ev.element.srq != e->srq)
		kw_die(KW_MISMATCH, "event '%s', not wanted", ibv_event_type_str(ev.event_type));
}

static void wait_for_recvs(struct kwe_end *e, unsigned int n)
{
	struct ibv_wc wc;

	while (n) {
		kwe_completion(e, &wc);
		n -= !!(wc.opcode & IBV_WC_RECV);
	}
}

/*
 * Post all receives again and request another event, which has to come when the steps are repeated
 * (option -n).
 */
static void refill(struct kwe_end *e)
{
	int i;

	armed_is(e, 0);
	for (i = 0; i < SRQ_RECVS - 1; i++)
		kwe_post_recv(e, i * MSG, MSG);
	arm_limit(e);
	armed_is(e, SRQ_LIMIT);
}

static void serve_step(struct kwe_end *e, const struct step *s)
{
	wait_for_recvs(e, s->sends);
	expect_limit(e, s);
	if (s == &steps[ARRAY_SIZE(steps) - 1])
		refill(e);
	kwe_post_send(e, SRQ_RECVS * MSG, e->srq_pd ? 0 : MSG);
}

static void srq_server(const struct kwe_opt *opt, bool own_pd)
{
	struct rdma_cm_id *listener = kwcm_listen(opt->addr, opt->port, 1);
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct kwe_end e = { 0 };
	struct kwcm_event ev;
	unsigned int i, round;

	kwe_request(listener, &ev);
	e.id = ev.id;
	open_srq(&e, own_pd, !opt->spoil);
	if (rdma_accept(e.id, &param) ||
	    kwcm_expect(listener->channel, RDMA_CM_EVENT_ESTABLISHED, KWE_WAIT_MS, &ev))
		kw_die(KW_SETUP, "cannot accept");
	for (round = 0; round < opt->rounds; round++)
		for (i = 0; i < ARRAY_SIZE(steps); i++)
			serve_step(&e, &steps[i]);
	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_DISCONNECTED, KWE_WAIT_MS, &ev))
		kw_die(KW_LOST, "no orderly end");
	kwe_close(&e);
	rdma_destroy_id(e.id);
	kwcm_destroy(listener);
}

void kwe_srq_server(const struct kwe_opt *opt)
{
	srq_server(opt, false);
}

/*
 * Case srq-domain: the shared receives and the memory are in another protection domain than the
 * queue pair, which cannot send from that memory. So the answers to the client have no data.
 */
void kwe_srq_pd_server(const struct kwe_opt *opt)
{
	srq_server(opt, true);
}

static void client_step(struct kwe_end *e, unsigned int sends)
{
	struct ibv_wc wc;
	unsigned int i;

	kwe_post_recv(e, MSG, MSG);
	for (i = 0; i < sends; i++)
		kwe_post_send(e, 0, MSG);
	for (i = 0; i < sends + 1; i++)
		kwe_completion(e, &wc);
}

void kwe_srq_client(const struct kwe_opt *opt)
{
	struct kwe_end e = { 0 };
	struct kwcm_event ev;
	unsigned int i, round;

	kwe_connect(&e, opt, 2 * MSG, SRQ_RECVS, &ev);
	for (round = 0; round < opt->rounds; round++)
		for (i = 0; i < ARRAY_SIZE(steps); i++)
			client_step(&e, steps[i].sends);
	rdma_disconnect(e.id);
	kwe_close(&e);
	kwcm_destroy(e.id);
}

/* -------------------------------------------------------------- cq-overflow */

#define LOST_COMPLETIONS	32

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	if (ibv_query_qp(qp, &a, IBV_QP_STATE, &init))
		kw_die(KW_SETUP, "cannot query a queue pair: %s", strerror(errno));
	return a.qp_state;
}

/* Post @n signaled Writes, or until one is refused. Without data they need nothing of the peer. */
static void overflow(struct kwe_end *e, unsigned int n)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};

	while (n-- && !ibv_post_send(e->id->qp, &wr, &bad))
		;
}

/* Wait for the event of the completion queue. Other events must be about its queue pair. */
static void expect_cq_err(struct kwe_end *e)
{
	int64_t until = kw_now_ms() + KWE_WAIT_MS;
	struct ibv_async_event ev;
	bool cq_err = false;

	while (!cq_err && kw_now_ms() < until && kwe_async(e->id->verbs, KWE_WAIT_MS, &ev)) {
		if (ev.event_type == IBV_EVENT_CQ_ERR && ev.element.cq == e->cq)
			cq_err = true;
		else if (ev.event_type == IBV_EVENT_CQ_ERR || ev.element.qp != e->id->qp)
			kw_die(KW_MISMATCH, "event '%s' about something else",
			       ibv_event_type_str(ev.event_type));
	}
	if (!cq_err)
		kw_die(KW_MISMATCH, "a completion queue overflowed and nobody says so");
	while (state_of(e->id->qp) != IBV_QPS_ERR)
		if (kw_now_ms() > until)
			kw_die(KW_MISMATCH, "the queue pair lives on");
}

/* Send a message to the server (test program kwconn), and receive the echo. */
static void say_and_hear(struct kwe_end *e)
{
	struct ibv_wc wc;

	kw_fill(e->buf, MSG, 0xcc, 0);
	kwe_post_recv(e, MSG, MSG);
	kwe_post_send(e, 0, MSG);
	kwe_completion(e, &wc);
	kwe_completion(e, &wc);
	if (kw_check(e->buf + MSG, MSG, 0xcc, 0) != MSG)
		kw_die(KW_MISMATCH, "the echo is not what was sent");
}

/*
 * Make two connections with a completion queue each, and let one queue overflow. That must not
 * affect the other connection.
 */
void kwe_cq_client(const struct kwe_opt *opt)
{
	struct kwe_end tiny = { 0 }, good = { 0 };
	struct kwcm_event ev;
	unsigned int room;

	kwe_connect(&good, opt, 2 * MSG, 8, &ev);
	tiny.cq = ibv_create_cq(good.id->verbs, 1, NULL, NULL, 0);
	if (!tiny.cq)
		kw_die(KW_SETUP, "cannot create a completion queue: %s", strerror(errno));
	room = tiny.cq->cqe;
	kwe_connect(&tiny, opt, MSG, room + LOST_COMPLETIONS, &ev);

	overflow(&tiny, opt->spoil ? room : room + LOST_COMPLETIONS);
	expect_cq_err(&tiny);
	if (kwcm_expect(tiny.id->channel, RDMA_CM_EVENT_DISCONNECTED, KWE_WAIT_MS, &ev))
		kw_die(KW_MISMATCH, "the connection lives on");
	if (state_of(good.id->qp) != IBV_QPS_RTS)
		kw_die(KW_MISMATCH, "the other queue pair is not ready any more");
	say_and_hear(&good);

	rdma_disconnect(good.id);
	kwe_close(&tiny);
	kwe_close(&good);
	kwcm_destroy(tiny.id);
	kwcm_destroy(good.id);
}
