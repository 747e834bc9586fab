// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwpending is a test program that is killed while the kernel waits for its connections.
 *
 *	kwpending -a addr [-p port] [-n connections] [-u] [-v]
 *	kwpending -s -a addr [-p port] [-u] [-v]
 *
 * The first form begins to connect to a peer that does not answer, the second accepts a connection
 * of a peer that sends no ready-to-receive message.  Then they wait for a signal.  With -u the
 * program opens the device before it opens rdma_cm: the kernel closes the file that was opened last
 * first.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define EVENT_MS	10000

static struct {
	bool server, verbs_first;
	const char *addr, *port;
	unsigned int connections;
} opt = { .port = "4422", .connections = 1 };

static struct ibv_pd *pd;
static struct ibv_cq *cq;

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	if (!pd) {
		pd = ibv_alloc_pd(id->verbs);
		cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	}
	attr = kw_qp_attr(cq, 1, 1, 1);
	if (!pd || !cq || rdma_create_qp(id, pd, &attr))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
}

static struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };

static void begin_connect(struct rdma_event_channel *ch, struct sockaddr *to)
{
	struct rdma_cm_id *id;
	struct kwcm_event ev;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, to, EVENT_MS) ||
	    kwcm_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, EVENT_MS, &ev) ||
	    rdma_resolve_route(id, EVENT_MS) ||
	    kwcm_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED, EVENT_MS, &ev))
		kw_die(KW_SETUP, "cannot resolve address %s: %s", opt.addr, strerror(errno));
	make_qp(id);
	if (rdma_connect(id, &param))
		kw_die(KW_SETUP, "cannot connect: %s", strerror(errno));
}

static void begin_connects(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai;
	struct rdma_event_channel *ch = rdma_create_event_channel();
	unsigned int i;

	if (!ch || rdma_getaddrinfo((char *)opt.addr, (char *)opt.port, &hints, &ai))
		kw_die(KW_SETUP, "cannot look up address %s: %s", opt.addr, strerror(errno));
	for (i = 0; i < opt.connections; i++)
		begin_connect(ch, ai->ai_dst_addr);
}

static void begin_accept(void)
{
	struct rdma_cm_id *listener = kwcm_listen(opt.addr, opt.port, 1);
	struct kwcm_event ev;

	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, 3 * EVENT_MS, &ev))
		kw_die(KW_LOST, "nobody connects");
	make_qp(ev.id);
	if (rdma_accept(ev.id, &param))
		kw_die(KW_SETUP, "cannot accept: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_FLAG('s', opt.server),
		KW_FLAG('u', opt.verbs_first),
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('n', opt.connections, 1, 100000),
		{ 0 }
	};

	kw_options(argc, argv, table,
		   "kwpending [-s] -a addr [-p port] [-n connections] [-u] [-v]");
	/* Without this call librdmacm opens a device when it has resolved an address. */
	if (opt.verbs_first && !rdma_get_devices(NULL))
		kw_die(KW_SETUP, "there is no device");
	if (opt.server)
		begin_accept();
	else
		begin_connects();
	kw_say("pending");
	pause();
	return 0;
}
