// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwconn is a test program that makes many connections, one after the other and at the same time.
 * This file: the client, which makes connections and judges how they end.
 */
#include "kwconn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

bool kn_released;

static bool no_way(int err)
{
	return kn_opt.flaps &&
	       (err == ENETUNREACH || err == EHOSTUNREACH || err == ETIMEDOUT);
}

/* Drop a failed attempt, which does not count: the main loop then begins another one. */
static void begin_anew(struct kn_conn *c)
{
	kn_drop(c);
	kn_count.started--;
	usleep(20000);
}

static void begin(struct rdma_event_channel *ch, const struct sockaddr *dst)
{
	struct rdma_cm_id *id;
	struct kn_conn *c;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		kw_die(KW_SETUP, "cannot create an id: %s", strerror(errno));
	c = kn_new_conn(id);
	c->key = kw_mix(0xc0, kn_count.started++);
	if (!rdma_resolve_addr(id, NULL, (struct sockaddr *)dst, 5000))
		return;
	if (!no_way(errno))
		kw_die(KW_SETUP, "cannot resolve %s: %s", kn_opt.addr, strerror(errno));
	begin_anew(c);
}

/*
 * A connection was lost, not closed, so the queue pair must have an asynchronous event: wait up to
 * 5 s for the event, and print it.
 */
static void say_async_event(struct kn_conn *c)
{
	struct pollfd fd = { .fd = c->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	if (poll(&fd, 1, 5000) <= 0 || ibv_get_async_event(c->id->verbs, &ev)) {
		kw_say("the queue pair has no event");
		return;
	}
	kw_say("the queue pair has the event \"%s\"", ibv_event_type_str(ev.event_type));
	ibv_ack_async_event(&ev);
}

static void finish_client(struct kn_conn *c, const char *why, int status)
{
	int64_t took = kw_now_ms() - c->since;

	if (!c->established && no_way(-status)) {
		begin_anew(c);
		return;
	}
	if (took > kn_count.slowest)
		kn_count.slowest = took;
	kw_debug("%s after %lld ms (status %d)", why, (long long)took, status);
	if (kn_opt.refused && c->established)
		kw_die(KW_MISMATCH, "a connection was established that had to be refused");
	if (!kn_opt.refused && !c->echoed)
		kw_die(KW_LOST, "connection %u of %u: %s (status %d)", kn_count.started,
		       kn_opt.cycles, why, status);
	kn_count.refused += !c->established;
	if (kn_opt.idle && !kn_go_on)
		say_async_event(c);
	kn_drop(c);
}

static void connect_now(struct kn_conn *c)
{
	struct rdma_conn_param param = kn_conn_param(KN_CONNECT_DATA);

	if (kn_create_qp(c))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
	c->since = kw_now_ms();
	/* A device may refuse a connect at once, or later with an event. */
	if (rdma_connect(c->id, &param))
		finish_client(c, strerror(errno), -errno);
}

static void client_event(const struct kwcm_event *ev)
{
	struct kn_conn *c = ev->id->context;

	switch (ev->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(c->id, 5000))
			kw_die(KW_SETUP, "cannot resolve the route: %s", strerror(errno));
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		connect_now(c);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		kn_check_data(ev, KN_ACCEPT_DATA);
		c->established = true;
		kn_count.established++;
		kw_fill(c->buf, KN_MSG_LEN, c->key, 0);
		if (!kn_opt.refused && kn_post_send(c))
			kw_die(KW_LOST, "cannot post a Send");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_ADDR_ERROR:
		finish_client(c, rdma_event_str(ev->type), ev->status);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		kw_die(KW_LOST, "unexpected event %s (status %d)", rdma_event_str(ev->type),
		       ev->status);
	}
}

static void client_received(struct kn_conn *c)
{
	if (kw_check(c->buf + KN_MSG_LEN, KN_MSG_LEN, c->key, 0) != KN_MSG_LEN)
		kw_die(KW_MISMATCH, "mismatch: the echo is not what was sent");
	c->echoed = true;
	kn_count.echoed++;
	if (kn_opt.idle && !kn_go_on && !kn_post_recv(c))
		kw_say("idle");
	else if (!kn_opt.hold && rdma_disconnect(c->id))
		kw_die(KW_LOST, "cannot disconnect: %s", strerror(errno));
}

/* Option -H: all messages have come back, so disconnect all connections. */
static void release(void)
{
	struct kn_conn *c;

	kn_released = true;
	kw_say("%u are open at once", kn_num_open);
	for (c = kn_conns; c < kn_conns + kn_slots; c++) {
		if (!c->id)
			continue;
		c->since = kw_now_ms();
		if (rdma_disconnect(c->id))
			kw_die(KW_LOST, "cannot disconnect: %s", strerror(errno));
	}
}

/*
 * Number of connections in progress. With option -H, those whose message has come back do not
 * count: they stay open until all connections are made.
 */
static unsigned int busy(void)
{
	return kn_opt.hold && !kn_released ? kn_num_open - kn_count.echoed : kn_num_open;
}

/* Option -i, after SIGUSR1: send one more message, and then disconnect. */
static void wake_up(struct kn_conn *c)
{
	static bool done;

	if (done)
		return;
	done = true;
	if (kn_post_send(c) || rdma_disconnect(c->id))
		kw_die(KW_LOST, "cannot send and disconnect: %s", strerror(errno));
	kw_say("sent");
}

void kn_run_client(void)
{
	static const struct kn_side side = { client_event, client_received };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai;

	if (!ch || rdma_getaddrinfo((char *)kn_opt.addr, (char *)kn_opt.port, &hints, &ai))
		kw_die(KW_SETUP, "cannot look up %s: %s", kn_opt.addr, strerror(errno));
	for (;;) {
		while (busy() < kn_opt.parallel && kn_count.started < kn_opt.cycles)
			begin(ch, ai->ai_dst_addr);
		if (!kn_num_open)
			break;
		if (kn_opt.hold && !kn_released && kn_count.echoed == kn_opt.cycles)
			release();
		kn_one_round(ch, &side);
		if (kn_go_on)
			wake_up(&kn_conns[0]);
	}
	rdma_freeaddrinfo(ai);
	kn_close_device();
	rdma_destroy_event_channel(ch);
}
