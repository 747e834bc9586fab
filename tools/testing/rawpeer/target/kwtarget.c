// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwtarget: an RDMA consumer that follows the commands of a control connection (see
 * target/places.h), so that kwrawpeer, a hostile peer, can see what its octets do to a consumer.
 *
 *	kwtarget -a addr [-p port] [-c control-port] [-v]
 *
 * It serves one control connection after the other until SIGTERM.
 *
 *   kwtarget.c  control channel, connections
 *   memory.c    the arena and its regions
 *   verbs.c     queue pair, requests, completions, events
 *   places.c    layout of the memory, which kwrawpeer has too
 */
#include "target/verbs.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/socket.h"

static struct {
	const char *addr, *port, *control;
} opt = { .port = "7177", .control = "7178" };

static struct rdma_cm_id *listener;
static volatile bool stop;

static void listen_now(struct rdma_event_channel *ch)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *ai;

	if (rdma_getaddrinfo((char *)opt.addr, (char *)opt.port, &hints, &ai) ||
	    rdma_create_id(ch, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, ai->ai_src_addr) || rdma_listen(listener, 1024))
		kw_die(KW_SETUP, "cannot listen: %s", strerror(errno));
	rdma_freeaddrinfo(ai);
}

/* ------------------------------------------------------------- connections */

static void relisten(struct kwt *t, char *args, char *answer)
{
	rdma_destroy_id(listener);
	listen_now(t->channel);
	kwt_say(answer, "ok");
}

static struct kwt_conn *other_conn(struct kwt *t)
{
	return &t->conns[t->conn == t->conns];
}

/*
 * Note an event in the connection that it is for, and return that connection. An event for neither
 * of the two connections counts as one for the current one.
 */
static struct kwt_conn *take_note(struct kwt *t, const struct kwcm_event *ev)
{
	struct kwt_conn *c = other_conn(t)->id == ev->id ? other_conn(t) : t->conn;

	if (ev->type == RDMA_CM_EVENT_DISCONNECTED)
		c->disconnected = true;
	if (ev->type == RDMA_CM_EVENT_ESTABLISHED)
		c->established = true;
	return c;
}

/* Reject connection requests that an earlier case has left. */
static void refuse_all(struct kwt *t)
{
	struct kwcm_event ev;

	for (; !kwcm_next(t->channel, 0, &ev); take_note(t, &ev))
		if (ev.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			rdma_reject(ev.id, NULL, 0);
			rdma_destroy_id(ev.id);
		}
}

static void begin(struct kwt *t, char *args, char *answer)
{
	char *word = strtok(args, " ");

	refuse_all(t);
	kwt_memory_renew(t);
	kwt_conn_forget(t->conn);
	t->conn->param.responder_resources = word ? atoi(word) : 0;
	word = strtok(NULL, " ");
	t->conn->param.initiator_depth = word ? atoi(word) : 0;
	while ((word = strtok(NULL, " ")) && t->conn->n_first < KWT_RECV_MAX)
		t->conn->first[t->conn->n_first++] = atoi(word);
	kwt_say(answer, "ok");
}

/* Wait for the next event of the current connection. False if none comes within the time. */
static bool next_event(struct kwt *t, int timeout_ms, struct kwcm_event *ev)
{
	do {
		if (kwcm_next(t->channel, timeout_ms, ev))
			return false;
	} while (ev->type == RDMA_CM_EVENT_TIMEWAIT_EXIT || take_note(t, ev) != t->conn);
	return true;
}

static void say_event(const struct kwcm_event *ev, char *answer)
{
	/* Leave out the first 14 characters of the name, "RDMA_CM_EVENT_". */
	sprintf(answer, "ok %s %d %u %u %u", rdma_event_str(ev->type) + 14, ev->status,
		ev->priv_len, ev->depth, ev->resources);
}

static void cm(struct kwt *t, char *args, char *answer)
{
	struct kwcm_event ev;

	if (next_event(t, atoi(args), &ev))
		say_event(&ev, answer);
}

static void take_request(struct kwt *t, int timeout_ms, bool take, char *answer)
{
	struct kwcm_event ev;

	if (!next_event(t, timeout_ms, &ev))
		return;
	say_event(&ev, answer);
	if (ev.type != RDMA_CM_EVENT_CONNECT_REQUEST)
		return;
	if (!take) {
		rdma_reject(ev.id, "no", 2);
		rdma_destroy_id(ev.id);
		return;
	}
	t->conn->id = ev.id;
	if (!kwt_qp_create(t) || rdma_accept(ev.id, &t->conn->param))
		sprintf(answer, "no accept: %s", strerror(errno));
}

static void accept_one(struct kwt *t, char *args, char *answer)
{
	take_request(t, atoi(args), true, answer);
}

static void reject_one(struct kwt *t, char *args, char *answer)
{
	take_request(t, atoi(args), false, answer);
}

static bool resolved(struct kwt *t, const char *addr, const char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai;
	struct rdma_cm_id **id = &t->conn->id;
	struct kwcm_event ev;
	bool ok;

	if (rdma_getaddrinfo((char *)addr, (char *)port, &hints, &ai))
		return false;
	ok = !rdma_create_id(t->channel, id, NULL, RDMA_PS_TCP) &&
	     !rdma_resolve_addr(*id, NULL, ai->ai_dst_addr, 5000) &&
	     !kwcm_expect(t->channel, RDMA_CM_EVENT_ADDR_RESOLVED, 10000, &ev) &&
	     !rdma_resolve_route(*id, 5000) &&
	     !kwcm_expect(t->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 10000, &ev);
	rdma_freeaddrinfo(ai);
	return ok;
}

static void connect_one(struct kwt *t, char *args, char *answer)
{
	char addr[64], port[16];
	static uint8_t pd[256];
	int pd_len = 0;

	if (sscanf(args, "%63s %15s %d", addr, port, &pd_len) < 2 || !resolved(t, addr, port)) {
		sprintf(answer, "no address: %s", strerror(errno));
		return;
	}
	kw_fill(pd, sizeof(pd), KWT_ARENA_KEY, 0);
	t->conn->param.private_data = pd;
	t->conn->param.private_data_len = pd_len;
	if (!kwt_qp_create(t) || rdma_connect(t->conn->id, &t->conn->param))
		sprintf(answer, "no connect: %s", strerror(errno));
	else
		kwt_say(answer, "ok");
}

static void take_rights(struct kwt *t, char *args, char *answer)
{
	t->conn->no_rights = true;
	kwt_say(answer, "ok");
}

static void take_atomics(struct kwt *t, char *args, char *answer)
{
	t->conn->no_atomics = true;
	kwt_say(answer, "ok");
}

static void disconnect(struct kwt *t, char *args, char *answer)
{
	if (t->conn->id)
		rdma_disconnect(t->conn->id);
	kwt_say(answer, "ok");
}

static void destroy(struct kwt *t, char *args, char *answer)
{
	kwt_qp_destroy(t);
	if (t->conn->id)
		rdma_destroy_id(t->conn->id);
	kwt_conn_forget(t->conn);
	kwt_say(answer, "ok");
}

static void other(struct kwt *t, char *args, char *answer)
{
	t->conn = other_conn(t);
	kwt_say(answer, "ok");
}

/* Wait until a connection that was reported as established is reported as disconnected, too. */
static void await_disconnect(struct kwt *t, int timeout_ms, char *answer)
{
	struct kwcm_event ev;

	while (t->conn->established && !t->conn->disconnected)
		if (!next_event(t, timeout_ms, &ev)) {
			kwt_say(answer, "no DISCONNECTED event");
			return;
		}
}

static void end(struct kwt *t, char *args, char *answer)
{
	bool any = strstr(args, "any");
	char ignored[KWT_LINE];

	kwt_say(answer, "ok");
	await_disconnect(t, atoi(args), answer);
	if (t->conn->id && t->conn->id->qp) {
		if (!t->conn->established)
			kwt_qp_stop(t);
		kwt_all_back(t, atoi(args), any, answer);
	}
	destroy(t, NULL, ignored);
}

static void turn_knob(struct kwt *t, char *args, char *answer)
{
	char name[32], value[32], path[200];
	FILE *f;

	if (sscanf(args, "%31s %31s", name, value) != 2)
		kw_die(KW_SETUP, "'%s' sets no knob", args);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/kwarp/%s",
		 ibv_get_device_name(t->verbs->device), name);
	f = fopen(path, "w");
	if (!f || fputs(value, f) < 0 || fflush(f))
		sprintf(answer, "no: %s", strerror(errno));
	else
		kwt_say(answer, "ok");
	if (f)
		fclose(f);
}

/* ---------------------------------------------------------- control channel */

static const struct {
	const char *name;
	void (*run)(struct kwt *t, char *args, char *answer);
} commands[] = {
	{ "region", kwt_region }, { "begin", begin }, { "accept", accept_one },
	{ "reject", reject_one }, { "connect", connect_one }, { "cm", cm },
	{ "recv", kwt_recv }, { "post", kwt_post }, { "wc", kwt_wc },
	{ "event", kwt_event }, { "dereg", kwt_dereg }, { "disconnect", disconnect },
	{ "destroy", destroy }, { "expect", kwt_expect }, { "ignore", kwt_ignore },
	{ "verify", kwt_verify }, { "relisten", relisten }, { "end", end },
	{ "knob", turn_knob }, { "bind", kwt_bind }, { "other", other },
	{ "no-rights", take_rights }, { "arm", kwt_arm }, { "notified", kwt_notified },
	{ "no-atomics", take_atomics }, { "word", kwt_word }, { "put", kwt_put },
};

static void obey(struct kwt *t, char *line, char *answer)
{
	char *args = strchr(line, ' ');
	size_t i;

	if (args)
		*args++ = 0;
	kwt_say(answer, "no");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, line)) {
			commands[i].run(t, args ? args : line + strlen(line), answer);
			return;
		}
	kw_die(KW_SETUP, "there is no command '%s'", line);
}

static void serve(struct kwt *t, int fd)
{
	char line[KWT_LINE], answer[KWT_LINE + 1];
	FILE *in = fdopen(fd, "r");
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = 0;
		kw_debug("< %s", line);
		obey(t, line, answer);
		kw_debug("> %s", answer);
		strcat(answer, "\n");
		if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	destroy(t, NULL, answer);
	other(t, NULL, answer);
	destroy(t, NULL, answer);
	t->conn = t->conns;
	if (in)
		fclose(in);
}

static void on_signal(int sig)
{
	stop = true;
}

int main(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_TEXT('c', opt.control),
		{ 0 }
	};
	struct sigaction on_term = { .sa_handler = on_signal };
	struct kwt t = { .conn = t.conns };
	int control, fd;

	kw_options(argc, argv, table, "kwtarget -a addr [-p port] [-c control-port] [-v]");
	sigaction(SIGTERM, &on_term, NULL);
	signal(SIGPIPE, SIG_IGN);
	t.channel = rdma_create_event_channel();
	if (!t.channel)
		kw_die(KW_SETUP, "no event channel: %s", strerror(errno));
	listen_now(t.channel);
	kwt_open(&t, listener->verbs);
	control = kwraw_listen(opt.addr, opt.control);
	while (!stop) {
		fd = accept(control, NULL, NULL);
		if (fd >= 0)
			serve(&t, fd);
	}
	kwt_close(&t);
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(t.channel);
	return KW_OK;
}
