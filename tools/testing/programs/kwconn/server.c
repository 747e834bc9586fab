// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwconn is a test program that makes many connections, one after the other and at the same time.
 * This file: the server, which accepts, rejects or ignores connect requests, and echoes messages.
 */
#include "kwconn.h"

#include <errno.h>
#include <string.h>

static void server_request(const struct kwcm_event *ev)
{
	struct rdma_conn_param param = kn_conn_param(KN_ACCEPT_DATA);
	struct rdma_cm_id *id = ev->id;
	struct kn_conn *c = kn_opt.rejects ? NULL : kn_new_conn(id);

	kn_check_data(ev, KN_CONNECT_DATA);
	kn_count.started++;
	if (kn_opt.ignores)
		return;
	if (!c) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		return;
	}
	if (kn_create_qp(c) || rdma_accept(id, &param)) {
		kw_say("cannot accept: %s", strerror(errno));
		kn_count.lost++;
		kn_drop(c);
	}
}

static void server_event(const struct kwcm_event *ev)
{
	struct kn_conn *c = ev->id->context;

	switch (ev->type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		server_request(ev);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		c->established = true;
		kn_count.established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		kn_count.lost += !c->echoed;
		kn_drop(c);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		kw_die(KW_LOST, "the device is gone");
	default:
		kw_say("event %s (status %d)", rdma_event_str(ev->type), ev->status);
	}
}

static void server_received(struct kn_conn *c)
{
	kn_count.received++;
	kw_debug("message %u", kn_count.received);
	memcpy(c->buf, c->buf + KN_MSG_LEN, KN_MSG_LEN);
	/* Post a receive for one more message, because clients with -i send two. */
	kn_post_recv(c);
	/* Ignore an error: if the connection has failed meanwhile, an event will report that. */
	if (!kn_post_send(c)) {
		c->echoed = true;
		kn_count.echoed++;
	}
}

void kn_run_server(void)
{
	static const struct kn_side side = { server_event, server_received };
	struct rdma_cm_id *listener = kwcm_listen_with(kn_opt.addr, kn_opt.port, 1024, kn_opt.tos,
							kn_opt.ipv4_too);
	struct kn_conn *c;

	while (!kn_stop)
		kn_one_round(listener->channel, &side);
	for (c = kn_conns; c < kn_conns + kn_slots; c++)
		if (c->id)
			kn_drop(c);
	kn_close_device();
	kwcm_destroy(listener);
}
