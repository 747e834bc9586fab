// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmisuse is a test program that makes connection manager calls in states in which they are wrong.
 *
 *	kwmisuse -m mode -a addr -p port [-v]
 *
 * As a server, with a queue pair that librdmacm does not know, so that the library refuses nothing
 * by itself:
 *	accept-reject	accepts a request, then rejects it
 *	accept-reject-qp the same, and destroys the queue pair before the id
 *	accept-reject-exit the same, and destroys nothing before it ends
 *	accept-twice	accepts a request twice
 *	accept-other	accepts a request three times, each time with another queue pair
 *	accept-error	accepts with a queue pair in the error state
 *	accept-no-qp	accepts with a number that no queue pair has
 * As a client:
 *	connect-error	connects with a queue pair in the error state
 *	connect-broken	connects, and the queue pair goes to the error state meanwhile
 *	connect-wait	connects to a peer that never answers, and does nothing until killed
 *	connect-reject	connects to a peer that never answers, then rejects; on a kernel without
 *			the patch of Documentation/upstream for iw_cm this stops the machine
 *
 * Status 0: the calls returned what they should, and all objects could be destroyed.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EVENT_MS	90000
#define NUM_QPS		3

static struct {
	const char *mode, *addr, *port;
} opt = { .port = "4421" };

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qps[NUM_QPS];

static void make_qps(struct ibv_context *verbs)
{
	struct ibv_qp_init_attr attr;
	int i;

	pd = ibv_alloc_pd(verbs);
	cq = ibv_create_cq(verbs, 8, NULL, NULL, 0);
	attr = kw_qp_attr(cq, 1, 1, 1);
	for (i = 0; i < NUM_QPS; i++) {
		qps[i] = pd && cq ? ibv_create_qp(pd, &attr) : NULL;
		if (!qps[i])
			kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
	}
}

static void destroy_qps(void)
{
	int i;

	for (i = 0; i < NUM_QPS; i++)
		if (ibv_destroy_qp(qps[i]))
			kw_die(KW_MISMATCH, "cannot destroy queue pair %d", i);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
}

static void to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		kw_die(KW_SETUP, "cannot bring a queue pair into the error state");
}

/* Turn the return value of a librdmacm call into 0 or an errno. */
static int err_of(int rv)
{
	return rv ? errno : 0;
}

static void want(const char *what, int err, int wanted)
{
	if (err != wanted)
		kw_die(KW_MISMATCH, "%s gave %d (%s) instead of %d", what, err, strerror(err),
		       wanted);
	kw_say("%s: %s", what, strerror(err));
}

static struct rdma_conn_param param_of(uint32_t qpn)
{
	return (struct rdma_conn_param) {
		.qp_num = qpn, .initiator_depth = 1, .responder_resources = 1,
	};
}

static int try_accept(struct rdma_cm_id *id, uint32_t qpn)
{
	struct rdma_conn_param param = param_of(qpn);

	return err_of(rdma_accept(id, &param));
}

/* ------------------------------------------------------------------- server */

/* Wait for the event of a connection that was accepted wrongly: it must not be established. */
static void end_of_accepted(struct rdma_event_channel *ch)
{
	struct kwcm_event ev;

	if (kwcm_next(ch, EVENT_MS, &ev))
		kw_die(KW_STALL, "the accept was never answered");
	kw_say("event %s (status %d)", rdma_event_str(ev.type), ev.status);
	if (ev.type == RDMA_CM_EVENT_ESTABLISHED && !ev.status)
		kw_die(KW_MISMATCH, "the connection of a wrong call was established");
}

static void serve_one(struct rdma_cm_id *id, struct rdma_event_channel *ch)
{
	const char *m = opt.mode;

	if (!strcmp(m, "accept-error")) {
		to_error(qps[0]);
		want("accept", try_accept(id, qps[0]->qp_num), EINVAL);
	} else if (!strcmp(m, "accept-no-qp")) {
		want("accept", try_accept(id, 0xffffff), EINVAL);
	} else if (!strncmp(m, "accept-reject", strlen("accept-reject"))) {
		want("accept", try_accept(id, qps[0]->qp_num), 0);
		want("reject", err_of(rdma_reject(id, NULL, 0)), EINVAL);
	} else if (!strcmp(m, "accept-twice") || !strcmp(m, "accept-other")) {
		int step = !strcmp(m, "accept-other"), i;

		want("accept", try_accept(id, qps[0]->qp_num), 0);
		/* A patched iw_cm refuses these calls; otherwise the device ends the connection. */
		for (i = 1; i < NUM_QPS; i++)
			kw_say("accept: %s", strerror(try_accept(id, qps[i * step]->qp_num)));
		end_of_accepted(ch);
	} else {
		kw_die(KW_SETUP, "unknown mode %s", m);
	}
}

static void server(void)
{
	struct rdma_cm_id *listener = kwcm_listen(opt.addr, opt.port, 4);
	struct kwcm_event ev;

	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, EVENT_MS, &ev))
		kw_die(KW_SETUP, "no request came");
	make_qps(ev.id->verbs);
	serve_one(ev.id, listener->channel);
	if (!strcmp(opt.mode, "accept-reject-exit"))
		return;
	if (!strcmp(opt.mode, "accept-reject-qp"))
		destroy_qps();
	if (rdma_destroy_id(ev.id))
		kw_die(KW_MISMATCH, "cannot destroy the id: %s", strerror(errno));
	if (strcmp(opt.mode, "accept-reject-qp"))
		destroy_qps();
	kwcm_destroy(listener);
}

/* ------------------------------------------------------------------- client */

static void client(void)
{
	struct rdma_cm_id *id = kwcm_resolve(opt.addr, opt.port);
	struct rdma_conn_param param;
	struct kwcm_event ev;

	make_qps(id->verbs);
	param = param_of(qps[0]->qp_num);
	if (!strcmp(opt.mode, "connect-error")) {
		to_error(qps[0]);
		want("connect", err_of(rdma_connect(id, &param)), EINVAL);
	} else {
		want("connect", err_of(rdma_connect(id, &param)), 0);
		if (!strcmp(opt.mode, "connect-wait"))
			pause();
		if (!strcmp(opt.mode, "connect-reject")) {
			want("reject", err_of(rdma_reject(id, NULL, 0)), EINVAL);
		} else {
			to_error(qps[0]);
			kw_say("the queue pair is in the error state");
			if (kwcm_expect(id->channel, RDMA_CM_EVENT_CONNECT_ERROR, EVENT_MS, &ev))
				kw_die(KW_MISMATCH, "no error was reported");
		}
	}
	kwcm_destroy(id);
	destroy_qps();
}

int main(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_NEED('m', opt.mode),
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		{ 0 }
	};

	kw_options(argc, argv, table,
		   "kwmisuse -m mode -a addr [-p port] [-v] (modes: kwmisuse.c)");
	if (!strncmp(opt.mode, "connect", strlen("connect")))
		client();
	else
		server();
	kw_say("ok");
	return 0;
}
