// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away?
 * This case: a connection requests more Reads at once than the device supports.
 *
 * librdmacm refuses a depth that is too large, or reduces it. The kernel must not rely on that, so
 * some requests are changed after librdmacm has checked them.
 */
#include "kwedge.h"

#include <errno.h>
#include <string.h>

#include "ucm.h"

/* A depth that requests as many as the device supports: RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES. */
#define AS_MANY		255

static const struct attempt {
	bool past_library;
	uint8_t depth, resources;
} refused[] = {
	{ false, 129, 1 },
	{ false, 1, 129 },
	{ true, 129, 1 },
	{ true, 1, 129 },
	{ true, 255, 1 },
	{ true, 1, 255 },
};

static int attempt(const struct attempt *a, struct rdma_cm_id *id,
		   int (*call)(struct rdma_cm_id *, struct rdma_conn_param *))
{
	struct rdma_conn_param param = {
		.initiator_depth = a->past_library ? 1 : a->depth,
		.responder_resources = a->past_library ? 1 : a->resources,
	};
	int rv;

	if (a->past_library)
		kwucm_change_depths(a->depth, a->resources);
	rv = call(id, &param) ? errno : 0;
	if (a->past_library && !kwucm_changed())
		kw_die(KW_SETUP, "nothing was written that could be changed");
	return rv;
}

static void must_refuse(const struct attempt *a, struct rdma_cm_id *id, const char *what,
			int (*call)(struct rdma_cm_id *, struct rdma_conn_param *))
{
	int rv = attempt(a, id, call);

	kw_say("%s with depth %u, resources %u%s: %s", what, a->depth, a->resources,
	       a->past_library ? ", past the library" : "", rv ? strerror(rv) : "accepted");
	if (rv != EINVAL)
		kw_die(KW_MISMATCH, "must be refused as invalid");
}

static void within_cap(struct rdma_cm_id *id, const struct kwcm_event *ev)
{
	struct ibv_qp_init_attr init;
	struct ibv_device_attr cap;
	struct ibv_qp_attr a;

	if (ibv_query_device(id->verbs, &cap) ||
	    ibv_query_qp(id->qp, &a, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, &init))
		kw_die(KW_SETUP, "cannot query: %s", strerror(errno));
	kw_say("peer: depth %u, resources %u; granted: depth %u, resources %u", ev->depth,
	       ev->resources, a.max_rd_atomic, a.max_dest_rd_atomic);
	if (!a.max_rd_atomic || a.max_rd_atomic > cap.max_qp_init_rd_atom ||
	    !a.max_dest_rd_atomic || a.max_dest_rd_atomic > cap.max_qp_rd_atom)
		kw_die(KW_MISMATCH, "the device has %d and %d", cap.max_qp_init_rd_atom,
		       cap.max_qp_rd_atom);
}

static const struct attempt as_many = { false, AS_MANY, AS_MANY };

/* Try each wrong accept, and then make a connection with the largest valid depths. */
void kwe_depth_server(const struct kwe_opt *opt)
{
	struct rdma_cm_id *listener = kwcm_listen(opt->addr, opt->port, 1);
	struct kwe_end e = { 0 };
	struct kwcm_event ev;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		memset(&e, 0, sizeof(e));
		kwe_request(listener, &ev);
		e.id = ev.id;
		kwe_open(&e, 64, 0, 4);
		must_refuse(&refused[i], e.id, "accept", rdma_accept);
		/* If librdmacm has refused the accept, the connect request is still unanswered. */
		if (!refused[i].past_library)
			rdma_reject(e.id, NULL, 0);
		kwe_close(&e);
		rdma_destroy_id(e.id);
	}
	memset(&e, 0, sizeof(e));
	kwe_request(listener, &ev);
	e.id = ev.id;
	if (ev.depth > 128 || ev.resources > 128)
		kw_die(KW_MISMATCH, "the peer has %u and %u", ev.depth, ev.resources);
	kwe_open(&e, 64, 0, 4);
	if (attempt(&as_many, e.id, rdma_accept) ||
	    kwcm_expect(listener->channel, RDMA_CM_EVENT_ESTABLISHED, KWE_WAIT_MS, &ev))
		kw_die(KW_MISMATCH, "as many as there can be were not accepted");
	within_cap(e.id, &ev);
	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_DISCONNECTED, KWE_WAIT_MS, &ev))
		kw_die(KW_LOST, "no orderly end");
	kwe_close(&e);
	rdma_destroy_id(e.id);
	kwcm_destroy(listener);
}

static void client_end(struct kwe_end *e)
{
	kwe_close(e);
	kwcm_destroy(e->id);
	memset(e, 0, sizeof(*e));
}

void kwe_depth_client(const struct kwe_opt *opt)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct kwe_end e = { 0 };
	struct kwcm_event ev;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		e.id = kwcm_resolve(opt->addr, opt->port);
		kwe_open(&e, 64, 0, 4);
		must_refuse(&refused[i], e.id, "connect", rdma_connect);
		client_end(&e);
	}
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		e.id = kwcm_resolve(opt->addr, opt->port);
		kwe_open(&e, 64, 0, 4);
		if (rdma_connect(e.id, &param) ||
		    kwcm_expect(e.id->channel, RDMA_CM_EVENT_REJECTED, KWE_WAIT_MS, &ev))
			kw_die(KW_MISMATCH, "not rejected");
		client_end(&e);
	}
	e.id = kwcm_resolve(opt->addr, opt->port);
	kwe_open(&e, 64, 0, 4);
	if (attempt(&as_many, e.id, rdma_connect) ||
	    kwcm_expect(e.id->channel, RDMA_CM_EVENT_ESTABLISHED, KWE_WAIT_MS, &ev))
		kw_die(KW_MISMATCH, "as many as there can be were not taken");
	within_cap(e.id, &ev);
	rdma_disconnect(e.id);
	client_end(&e);
}
