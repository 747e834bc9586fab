// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Helpers of the test programs: librdmacm with synchronous calls and time limits.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define RESOLVE_MS 5000

int kwcm_next(struct rdma_event_channel *ch, int timeout_ms, struct kwcm_event *ev)
{
	struct pollfd fd = { .fd = ch->fd, .events = POLLIN };
	struct rdma_cm_event *e;
	int rv;

	do
		rv = poll(&fd, 1, timeout_ms);
	while (rv < 0 && errno == EINTR);
	if (rv == 0)
		return -ETIMEDOUT;
	if (rv < 0 || rdma_get_cm_event(ch, &e))
		return -errno;

	memset(ev, 0, sizeof(*ev));
	ev->type = e->event;
	ev->status = e->status;
	ev->id = e->id;
	ev->depth = e->param.conn.initiator_depth;
	ev->resources = e->param.conn.responder_resources;
	if (e->param.conn.private_data) {
		ev->priv_len = e->param.conn.private_data_len;
		memcpy(ev->priv, e->param.conn.private_data, ev->priv_len);
	}
	rdma_ack_cm_event(e);
	return 0;
}

int kwcm_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int timeout_ms,
		struct kwcm_event *ev)
{
	int rv = kwcm_next(ch, timeout_ms, ev);

	if (rv) {
		kw_say("no %s event: %s", rdma_event_str(type), strerror(-rv));
		return rv;
	}
	if (ev->type != type) {
		kw_say("event %s (status %d) instead of %s", rdma_event_str(ev->type), ev->status,
		       rdma_event_str(type));
		return -ECONNABORTED;
	}
	return 0;
}

static struct rdma_addrinfo *lookup(const char *addr, const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *res;

	if (rdma_getaddrinfo((char *)addr, (char *)port, &hints, &res))
		kw_die(KW_SETUP, "cannot look up address %s port %s: %s", addr, port,
		       strerror(errno));
	return res;
}

static struct rdma_cm_id *new_id(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (!ch || rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		kw_die(KW_SETUP, "cannot create a connection manager id: %s", strerror(errno));
	return id;
}

struct rdma_cm_id *kwcm_resolve(const char *addr, const char *port)
{
	struct rdma_addrinfo *ai = lookup(addr, port, 0);
	struct rdma_cm_id *id = new_id();
	struct kwcm_event ev;

	if (rdma_resolve_addr(id, NULL, ai->ai_dst_addr, RESOLVE_MS) ||
	    kwcm_expect(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, 2 * RESOLVE_MS, &ev))
		kw_die(KW_SETUP, "cannot resolve address %s", addr);
	if (rdma_resolve_route(id, RESOLVE_MS) ||
	    kwcm_expect(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 2 * RESOLVE_MS, &ev))
		kw_die(KW_SETUP, "cannot resolve the route to %s", addr);
	rdma_freeaddrinfo(ai);
	return id;
}

struct rdma_cm_id *kwcm_listen(const char *addr, const char *port, int backlog)
{
	return kwcm_listen_with(addr, port, backlog, 0, false);
}

struct rdma_cm_id *kwcm_listen_with(const char *addr, const char *port, int backlog, uint8_t tos,
				    bool ipv4_too)
{
	struct rdma_addrinfo *ai = lookup(addr, port, RAI_PASSIVE);
	struct rdma_cm_id *id = new_id();
	int no = 0;

	if (ipv4_too && rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &no, sizeof(no)))
		kw_die(KW_SETUP, "cannot ask for IPv4: %s", strerror(errno));
	if (tos && rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		kw_die(KW_SETUP, "cannot set the type of service: %s", strerror(errno));
	if (rdma_bind_addr(id, ai->ai_src_addr))
		kw_die(KW_SETUP, "cannot bind to %s port %s: %s", addr, port, strerror(errno));
	if (rdma_listen(id, backlog))
		kw_die(KW_SETUP, "cannot listen on %s port %s: %s", addr, port, strerror(errno));
	rdma_freeaddrinfo(ai);
	return id;
}

void kwcm_destroy(struct rdma_cm_id *id)
{
	struct rdma_event_channel *ch = id->channel;

	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
}
