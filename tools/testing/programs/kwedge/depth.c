// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away?
 * This case: a connection requests as many Reads at once as rdma_cm can express.
 */
#include "kwedge.h"

#include <errno.h>
#include <string.h>

/* RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES. */
#define AS_MANY		255

static struct rdma_conn_param as_many = {
	.initiator_depth = AS_MANY,
	.responder_resources = AS_MANY,
};

static void all_granted(struct rdma_cm_id *id, const struct kwcm_event *ev)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	if (ibv_query_qp(id->qp, &a, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, &init))
		kw_die(KW_SETUP, "cannot query: %s", strerror(errno));
	kw_say("peer: depth %u, resources %u; granted: depth %u, resources %u", ev->depth,
	       ev->resources, a.max_rd_atomic, a.max_dest_rd_atomic);
	if (a.max_rd_atomic != AS_MANY || a.max_dest_rd_atomic != AS_MANY)
		kw_die(KW_MISMATCH, "must be granted %u each", AS_MANY);
}

void kwe_depth_server(const struct kwe_opt *opt)
{
	struct rdma_cm_id *listener = kwcm_listen(opt->addr, opt->port, 1);
	struct kwe_end e = { 0 };
	struct kwcm_event ev;

	kwe_request(listener, &ev);
	e.id = ev.id;
	if (ev.depth != AS_MANY || ev.resources != AS_MANY)
		kw_die(KW_MISMATCH, "the peer has %u and %u", ev.depth, ev.resources);
	kwe_open(&e, 64, 0, 4);
	if (rdma_accept(e.id, &as_many) ||
	    kwcm_expect(listener->channel, RDMA_CM_EVENT_ESTABLISHED, KWE_WAIT_MS, &ev))
		kw_die(KW_MISMATCH, "as many as there can be were not accepted");
	all_granted(e.id, &ev);
	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_DISCONNECTED, KWE_WAIT_MS, &ev))
		kw_die(KW_LOST, "no orderly end");
	kwe_close(&e);
	rdma_destroy_id(e.id);
	kwcm_destroy(listener);
}

void kwe_depth_client(const struct kwe_opt *opt)
{
	struct kwe_end e = { 0 };
	struct kwcm_event ev;

	e.id = kwcm_resolve(opt->addr, opt->port);
	kwe_open(&e, 64, 0, 4);
	if (rdma_connect(e.id, &as_many) ||
	    kwcm_expect(e.id->channel, RDMA_CM_EVENT_ESTABLISHED, KWE_WAIT_MS, &ev))
		kw_die(KW_MISMATCH, "as many as there can be were not taken");
	all_granted(e.id, &ev);
	rdma_disconnect(e.id);
	kwe_close(&e);
	kwcm_destroy(e.id);
}
