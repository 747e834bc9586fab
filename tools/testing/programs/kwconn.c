// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwconn: many connections, one after the other and at the same time.
 *
 * The server accepts every request, echoes one message per connection and survives every failure;
 * with -r it rejects every request, with -q it never answers. The client connects, exchanges a
 * message, compares it, and disconnects, again and again. With -x it expects every attempt to be
 * refused in time. With -i it leaves the connection idle until the connection is lost, or until
 * SIGUSR1: then it sends one more message and disconnects.
 *
 *	kwconn -s -a addr -p port [-P slots] [-t tos] [-D octets] [-r | -q]
 *	kwconn -c -a addr -p port [-n cycles] [-P parallel] [-T seconds] [-D octets]
 *	       [-x | -i] [-H] [-f]
 *
 * With -D at both ends, connect and accept have that much private data, which is compared.
 *
 * With -f an attempt without a route to the peer is no failure, and is made again.
 *
 * With -H all connections are open at the same time, and end together when the last one has had its
 * answer; -P is then the number of connections that are being made at a time.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MSG_LEN		64
#define MIN_SLOTS	2048
#define MAX_SLOTS	32768
/* Keys of private data, of the connect and of the accept. */
#define CONNECT_DATA	0xd0
#define ACCEPT_DATA	0xd1
#define MAX_DATA	250

/**
 * struct conn - one connection, in the slot of its index
 * @id: NULL if the slot is free
 * @buf: one message to send, one to receive
 * @key: of the message (client)
 * @since: when the attempt began, ms
 * @echoed: the message came back (client), or was sent back (server)
 */
struct conn {
	struct rdma_cm_id *id;
	uint8_t *buf;
	uint64_t key;
	int64_t since;
	bool established, echoed;
};

static struct {
	bool server, client, refused, hold, idle, rejects, ignores, flaps;
	const char *addr, *port;
	unsigned int cycles, parallel, limit, tos, data;
} opt = { .port = "7175", .cycles = 1, .parallel = 1, .limit = 20 };

/* Connections that there may be, and where they are. */
static unsigned int slots;
static struct conn *conns;
static unsigned int num_open, first_free;
/* Those of -H have been told to end. */
static bool released;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_comp_channel *comp;
static struct ibv_mr *mr;
static uint8_t *memory;
static volatile bool stop, go_on;

static struct {
	unsigned int started, established, echoed, received, refused, lost;
	int64_t slowest;
} count;

/* ---------------------------------------------------------------- resources */

static void open_device(struct ibv_context *verbs)
{
	size_t len = 2UL * MSG_LEN * slots;

	if (pd)
		return;
	memory = kw_zalloc(len);
	pd = ibv_alloc_pd(verbs);
	comp = ibv_create_comp_channel(verbs);
	cq = comp ? ibv_create_cq(verbs, 4 * slots, NULL, comp, 0) : NULL;
	mr = pd ? ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!pd || !cq || !mr || ibv_req_notify_cq(cq, 0))
		kw_die(KW_SETUP, "cannot create what all connections share: %s", strerror(errno));
}

static void close_device(void)
{
	if (!pd)
		return;
	if (ibv_dereg_mr(mr) || ibv_destroy_cq(cq) || ibv_destroy_comp_channel(comp) ||
	    ibv_dealloc_pd(pd))
		kw_die(KW_SETUP, "cannot destroy what all connections shared: %s", strerror(errno));
	free(memory);
}

static uint64_t index_of(const struct conn *c)
{
	return c - conns;
}

static int post_recv(struct conn *c)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)c->buf + MSG_LEN,
		.length = MSG_LEN,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = index_of(c), .sg_list = &sge, .num_sge = 1 };

	return ibv_post_recv(c->id->qp, &wr, &bad);
}

static int post_send(struct conn *c)
{
	struct ibv_sge sge = { .addr = (uintptr_t)c->buf, .length = MSG_LEN, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = index_of(c), .sg_list = &sge, .num_sge = 1 };

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(c->id->qp, &wr, &bad);
}

static int create_qp(struct conn *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	open_device(c->id->verbs);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	c->buf = memory + 2 * MSG_LEN * index_of(c);
	return rdma_create_qp(c->id, pd, &attr) || post_recv(c);
}

static struct conn *new_conn(struct rdma_cm_id *id)
{
	struct conn *c;

	/* The search must cost less than the connection that is measured. */
	for (c = conns + first_free; c < conns + slots; c++)
		if (!c->id)
			break;
	first_free = index_of(c);
	if (c == conns + slots)
		return NULL;
	num_open++;
	memset(c, 0, sizeof(*c));
	c->id = id;
	c->since = kw_now_ms();
	id->context = c;
	return c;
}

static void drop(struct conn *c)
{
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	rdma_destroy_id(c->id);
	c->id = NULL;
	num_open--;
	if (index_of(c) < first_free)
		first_free = index_of(c);
}

/* ------------------------------------------------------------- private data */

static struct rdma_conn_param conn_param(uint64_t key)
{
	static uint8_t octets[MAX_DATA];

	kw_fill(octets, opt.data, key, 0);
	return (struct rdma_conn_param){
		.initiator_depth = 1,
		.responder_resources = 1,
		.private_data = octets,
		.private_data_len = opt.data,
	};
}

static void check_data(const struct kwcm_event *ev, uint64_t key)
{
	if (!opt.data)
		return;
	if (ev->priv_len != opt.data || kw_check(ev->priv, opt.data, key, 0) != opt.data)
		kw_die(KW_MISMATCH, "mismatch: %u octets of private data, or others than were sent",
		       ev->priv_len);
}

/* ------------------------------------------------------------------- client */

static bool no_way(int err)
{
	return opt.flaps &&
	       (err == ENETUNREACH || err == EHOSTUNREACH || err == ETIMEDOUT);
}

/* Start the attempt again. The failed one does not count. */
static void begin_anew(struct conn *c)
{
	drop(c);
	count.started--;
	usleep(20000);
}

static void begin(struct rdma_event_channel *ch, const struct sockaddr *dst)
{
	struct rdma_cm_id *id;
	struct conn *c;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		kw_die(KW_SETUP, "cannot create an id: %s", strerror(errno));
	c = new_conn(id);
	c->key = kw_mix(0xc0, count.started++);
	if (!rdma_resolve_addr(id, NULL, (struct sockaddr *)dst, 5000))
		return;
	if (!no_way(errno))
		kw_die(KW_SETUP, "cannot resolve %s: %s", opt.addr, strerror(errno));
	begin_anew(c);
}

/* If a connection was lost and not closed, the queue pair has an asynchronous event: print it. */
static void say_async_event(struct conn *c)
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

static void finish_client(struct conn *c, const char *why, int status)
{
	int64_t took = kw_now_ms() - c->since;

	if (!c->established && no_way(-status)) {
		begin_anew(c);
		return;
	}
	if (took > count.slowest)
		count.slowest = took;
	kw_debug("%s after %lld ms (status %d)", why, (long long)took, status);
	if (opt.refused && c->established)
		kw_die(KW_MISMATCH, "a connection was established that had to be refused");
	if (!opt.refused && !c->echoed)
		kw_die(KW_LOST, "connection %u of %u: %s (status %d)", count.started,
		       opt.cycles, why, status);
	count.refused += !c->established;
	if (opt.idle && !go_on)
		say_async_event(c);
	drop(c);
}

static void connect_now(struct conn *c)
{
	struct rdma_conn_param param = conn_param(CONNECT_DATA);

	if (create_qp(c))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
	c->since = kw_now_ms();
	/* A device may refuse a connect at once, or later by an event. */
	if (rdma_connect(c->id, &param))
		finish_client(c, strerror(errno), -errno);
}

static void client_event(const struct kwcm_event *ev)
{
	struct conn *c = ev->id->context;

	switch (ev->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(c->id, 5000))
			kw_die(KW_SETUP, "cannot resolve the route: %s", strerror(errno));
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		connect_now(c);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		check_data(ev, ACCEPT_DATA);
		c->established = true;
		count.established++;
		kw_fill(c->buf, MSG_LEN, c->key, 0);
		if (!opt.refused && post_send(c))
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

static void client_received(struct conn *c)
{
	if (kw_check(c->buf + MSG_LEN, MSG_LEN, c->key, 0) != MSG_LEN)
		kw_die(KW_MISMATCH, "mismatch: the echo is not what was sent");
	c->echoed = true;
	count.echoed++;
	if (opt.idle && !go_on && !post_recv(c))
		kw_say("idle");
	else if (!opt.hold && rdma_disconnect(c->id))
		kw_die(KW_LOST, "cannot disconnect: %s", strerror(errno));
}

/* Option -H: all connections exist, so let them end. */
static void release(void)
{
	struct conn *c;

	released = true;
	kw_say("%u are open at once", num_open);
	for (c = conns; c < conns + slots; c++) {
		if (!c->id)
			continue;
		c->since = kw_now_ms();
		if (rdma_disconnect(c->id))
			kw_die(KW_LOST, "cannot disconnect: %s", strerror(errno));
	}
}

/* Number of connections in progress. Open ones count, too, unless option -H holds them. */
static unsigned int busy(void)
{
	return opt.hold && !released ? num_open - count.echoed : num_open;
}

/* Send one more message, and then disconnect. */
static void wake_up(struct conn *c)
{
	static bool done;

	if (done)
		return;
	done = true;
	if (post_send(c) || rdma_disconnect(c->id))
		kw_die(KW_LOST, "cannot send and disconnect: %s", strerror(errno));
	kw_say("sent");
}

/* ------------------------------------------------------------------- server */

static void server_request(const struct kwcm_event *ev)
{
	struct rdma_conn_param param = conn_param(ACCEPT_DATA);
	struct rdma_cm_id *id = ev->id;
	struct conn *c = opt.rejects ? NULL : new_conn(id);

	check_data(ev, CONNECT_DATA);
	count.started++;
	if (opt.ignores)
		return;
	if (!c) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		return;
	}
	if (create_qp(c) || rdma_accept(id, &param)) {
		kw_say("cannot accept: %s", strerror(errno));
		count.lost++;
		drop(c);
	}
}

static void server_event(const struct kwcm_event *ev)
{
	struct conn *c = ev->id->context;

	switch (ev->type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		server_request(ev);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		c->established = true;
		count.established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		count.lost += !c->echoed;
		drop(c);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		kw_die(KW_LOST, "the device is gone");
	default:
		kw_say("event %s (status %d)", rdma_event_str(ev->type), ev->status);
	}
}

static void server_received(struct conn *c)
{
	count.received++;
	kw_debug("message %u", count.received);
	memcpy(c->buf, c->buf + MSG_LEN, MSG_LEN);
	/* A receive for one more message, which not all clients send. */
	post_recv(c);
	/* The connection may have failed meanwhile: its event will say so. */
	if (!post_send(c)) {
		c->echoed = true;
		count.echoed++;
	}
}

/* --------------------------------------------------------------------- loop */

static void completions(void)
{
	struct ibv_cq *which;
	struct ibv_wc wc;
	struct conn *c;
	void *ctx;

	if (ibv_get_cq_event(comp, &which, &ctx))
		kw_die(KW_MISMATCH, "cannot get a completion event: %s", strerror(errno));
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		kw_die(KW_MISMATCH, "cannot ask for completion events: %s", strerror(errno));
	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		c = &conns[wc.wr_id % slots];
		if (wc.status != IBV_WC_SUCCESS || !(wc.opcode & IBV_WC_RECV) || !c->id)
			continue;
		opt.client ? client_received(c) : server_received(c);
	}
}

/* Called now and then, because it looks at all connections. */
static void check_limits(void)
{
	static int64_t next;
	int64_t now = kw_now_ms();
	struct conn *c;

	if (opt.server || now < next)
		return;
	next = now + 100;
	for (c = conns; c < conns + slots; c++)
		if (c->id && !(opt.hold && c->echoed && !released) &&
		    now - c->since > 1000LL * opt.limit)
			kw_die(KW_STALL, "a connection is %s after %u s, %u of %u are done",
			       c->established ? "still up" : "still not decided", opt.limit,
			       count.established + count.refused, opt.cycles);
}

static void one_round(struct rdma_event_channel *ch)
{
	struct pollfd fds[2] = {
		{ .fd = ch->fd, .events = POLLIN },
		{ .fd = comp ? comp->fd : -1, .events = POLLIN },
	};
	struct kwcm_event ev;

	poll(fds, 2, 200);
	/* Messages first: a disconnect event frees the connection they belong to. */
	if (fds[1].revents & POLLIN)
		completions();
	if ((fds[0].revents & POLLIN) && !kwcm_next(ch, 0, &ev))
		opt.client ? client_event(&ev) : server_event(&ev);
	if (go_on)
		wake_up(&conns[0]);
	check_limits();
}

static void run_client(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai;

	if (!ch || rdma_getaddrinfo((char *)opt.addr, (char *)opt.port, &hints, &ai))
		kw_die(KW_SETUP, "cannot look up %s: %s", opt.addr, strerror(errno));
	for (;;) {
		while (busy() < opt.parallel && count.started < opt.cycles)
			begin(ch, ai->ai_dst_addr);
		if (!num_open)
			break;
		if (opt.hold && !released && count.echoed == opt.cycles)
			release();
		one_round(ch);
	}
	rdma_freeaddrinfo(ai);
	close_device();
	rdma_destroy_event_channel(ch);
}

static void run_server(void)
{
	struct rdma_cm_id *listener = kwcm_listen_tos(opt.addr, opt.port, 1024, opt.tos);
	struct conn *c;

	while (!stop)
		one_round(listener->channel);
	for (c = conns; c < conns + slots; c++)
		if (c->id)
			drop(c);
	close_device();
	kwcm_destroy(listener);
}

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		go_on = true;
	else
		stop = true;
}

static const char usage[] =
	"kwconn -s|-c -a addr [-p port] [-n cycles] [-P parallel] [-T seconds] [-t tos]\n"
	"              [-D octets] [-r|-q] [-x|-i] [-H] [-f] [-v]";

static void parse(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_FLAG('s', opt.server),
		KW_FLAG('c', opt.client),
		KW_FLAG('q', opt.ignores),
		KW_FLAG('r', opt.rejects),
		KW_TEXT('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('n', opt.cycles, 1, 1000000),
		KW_NUMBER('P', opt.parallel, 1, MAX_SLOTS),
		KW_NUMBER('T', opt.limit, 1, 3600),
		KW_NUMBER('t', opt.tos, 0, 255),
		KW_NUMBER('D', opt.data, 1, MAX_DATA),
		KW_FLAG('i', opt.idle),
		KW_FLAG('x', opt.refused),
		KW_FLAG('H', opt.hold),
		KW_FLAG('f', opt.flaps),
		{ 0 }
	};

	kw_options(argc, argv, table, usage);
	if (opt.server == opt.client || !opt.addr)
		kw_usage(usage);
	slots = opt.hold ? opt.cycles : opt.parallel;
	if (slots < MIN_SLOTS)
		slots = MIN_SLOTS;
	conns = kw_zalloc(slots * sizeof(*conns));
}

int main(int argc, char **argv)
{
	int64_t began;

	kw_prog = "kwconn";
	parse(argc, argv);
	kw_prog = opt.server ? "kwconn server" : "kwconn client";
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	signal(SIGPIPE, SIG_IGN);
	began = kw_now_ms();
	opt.server ? run_server() : run_client();
	kw_say("%u started, %u established, %u echoed, %u refused, %u lost, slowest %lld ms",
	       count.started, count.established, count.echoed, count.refused, count.lost,
	       (long long)count.slowest);
	kw_say("all took %lld ms", (long long)(kw_now_ms() - began));
	return KW_OK;
}
