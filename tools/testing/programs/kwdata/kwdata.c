// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: options, connections and their threads. See kwdata.h for how the program works.
 */
#include "kwdata.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CONNS	256
/* All connections of a client come at once, and rdma_cm refuses those beyond the backlog. */
#define BACKLOG		MAX_CONNS

static struct {
	bool server, client, keep, quirks, gate;
	const char *addr, *port;
	enum kd_spoil spoil;
	int stall_ms;
	struct kd_config cfg;
} opt = {
	.addr = "0.0.0.0",
	.port = "7174",
	.stall_ms = 30000,
	.cfg = {
		.magic = KD_MAGIC,
		.max_len = 4 << 20,
		.seed = 1,
		.count = 10000,
		.window = 6,
		.conns = 1,
		.max_sge = KD_MAX_SGE,
		.depth = 4,
		.types = (1 << KD_TYPES) - 1,
	},
};

/* Sums over all connections. */
static struct {
	pthread_mutex_t lock;
	enum kw_exit worst;
	uint64_t octets, ops[KD_TYPES], checked;
} total = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char usage[] =
	"kwdata -s [-a addr] [-p port] [-k] [-B|-H|-P] [-Q] [-T seconds] [-v]\n"
	"       kwdata -c -a addr [-p port] [-n count] [-S seed] [-m max] [-w window] [-q conns]\n"
	"              [-t types] [-g sges] [-o depth] [-e] [-z] [-1] [-b] [-B|-H|-P] [-x write|read|send|guard] [-Q] [-T seconds] [-v]\n"
	"  -s, -c  server or client; the client decides everything about the run\n"
	"  -k      serve until SIGTERM instead of one run\n"
	"  -n      operations per connection and direction; 0: until SIGTERM\n"
	"  -S      seed of the plan\n"
	"  -m      largest operation, octets\n"
	"  -w      operations outstanding\n"
	"  -q      connections\n"
	"  -t      types of operations: letters of wrs\n"
	"  -g      most scatter/gather elements\n"
	"  -o      Reads outstanding on the wire (IRD and ORD)\n"
	"  -e      sleep until completion events instead of polling\n"
	"  -1      only the client issues operations\n"
	"  -B      all memory of this end is dma-bufs\n"
	"  -H      the same, of huge pages\n"
	"  -P      the same, of the second page of each of many huge pages\n"
	"  -b      begin when all connections are up, and SIGUSR1 comes\n"
	"  -x      spoil one octet: the run must fail\n"
	"  -z      one end is siw: no Reads that siw answers wrongly\n"
	"  -Q      this end is siw: it completes out of order, reads sources after their\n"
	"          completion, sends small messages that cross a page wrongly\n"
	"  -T      give up after so long without progress";

static void parse_spoil(const char *text)
{
	static const char *const names[] = {
		[KD_SPOIL_WRITE] = "write",
		[KD_SPOIL_READ] = "read",
		[KD_SPOIL_SEND] = "send",
		[KD_SPOIL_GUARD] = "guard",
	};
	enum kd_spoil s;

	for (s = KD_SPOIL_WRITE; s <= KD_SPOIL_GUARD; s++)
		if (!strcmp(text, names[s]))
			opt.spoil = s;
	if (!opt.spoil)
		kw_usage(usage);
}

static void parse_types(const char *text)
{
	int t;

	opt.cfg.types = 0;
	for (t = 0; t < KD_TYPES; t++)
		if (strchr(text, kd_type_name[t][0]))
			opt.cfg.types |= 1U << t;
	if (!opt.cfg.types)
		kw_usage(usage);
}

static void parse(int argc, char **argv)
{
	unsigned int window = opt.cfg.window, conns = opt.cfg.conns, max_sge = opt.cfg.max_sge;
	unsigned int depth = opt.cfg.depth, stall_s = opt.stall_ms / 1000;
	bool events = false, spare = false, one_way = false;
	bool dmabuf = false, huge = false, parts = false;
	const struct kw_option table[] = {
		KW_FLAG('s', opt.server),
		KW_FLAG('c', opt.client),
		KW_FLAG('k', opt.keep),
		KW_FLAG('Q', opt.quirks),
		KW_TEXT('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_BIG('n', opt.cfg.count, 0, UINT64_MAX / 2),
		KW_BIG('S', opt.cfg.seed, 0, UINT64_MAX),
		KW_NUMBER('m', opt.cfg.max_len, 1, KD_MAX_LEN),
		KW_NUMBER('w', window, 1, KD_MAX_WINDOW),
		KW_NUMBER('q', conns, 1, MAX_CONNS),
		KW_NUMBER('g', max_sge, 1, KD_MAX_SGE),
		KW_NUMBER('o', depth, 1, 128),
		KW_CALL('t', parse_types),
		KW_FLAG('e', events),
		KW_FLAG('z', spare),
		KW_FLAG('1', one_way),
		KW_FLAG('B', dmabuf),
		KW_FLAG('H', huge),
		KW_FLAG('P', parts),
		KW_FLAG('b', opt.gate),
		KW_CALL('x', parse_spoil),
		KW_NUMBER('T', stall_s, 1, 3600),
		{ 0 }
	};
	int at = kw_options(argc, argv, table, usage);

	if (opt.server == opt.client || at != argc)
		kw_usage(usage);
	opt.cfg.window = window;
	opt.cfg.conns = conns;
	opt.cfg.max_sge = max_sge;
	opt.cfg.depth = depth;
	opt.cfg.flags = (events ? KD_EVENT : 0) | (spare ? KD_SPARE : 0) |
			(one_way ? 0 : KD_DUPLEX);
	opt.stall_ms = 1000 * stall_s;
	kd_memory = parts ? KD_HUGE_PARTS : huge ? KD_HUGE : dmabuf ? KD_DMABUF : KD_PLAIN;
}

static void account(const struct kd_conn *c, enum kw_exit code)
{
	int t;

	pthread_mutex_lock(&total.lock);
	if (code > total.worst)
		total.worst = code;
	for (t = 0; t < KD_TYPES; t++)
		total.ops[t] += c->ops[t];
	total.octets += c->octets;
	total.checked += c->checked;
	pthread_mutex_unlock(&total.lock);
}

/*
 * With -b, connections wait here until all exist. Without that, traffic of the first connections
 * slows down the making of the others.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	unsigned int up;
	bool open;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER };

static void wait_at_gate(void)
{
	pthread_mutex_lock(&gate.lock);
	if (++gate.up == opt.cfg.conns)
		kw_say("%u connections are up", gate.up);
	while (!gate.open)
		pthread_cond_wait(&gate.opened, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

/* Block SIGUSR1. Threads that are started later inherit that. */
static void block_usr1(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, set, NULL);
}

static void open_gate(const sigset_t *set)
{
	int sig;

	sigwait(set, &sig);
	pthread_mutex_lock(&gate.lock);
	gate.open = true;
	pthread_cond_broadcast(&gate.opened);
	pthread_mutex_unlock(&gate.lock);
}

/* Thread: serve one connection from its set-up to its end. */
static void *connection_thread(void *arg)
{
	struct kd_conn *c = arg;
	enum kw_exit code = KW_LOST;

	kd_conn_setup(c);
	if (c->client ? !kd_conn_connect(c) : !kd_conn_accept(c)) {
		if (opt.gate)
			wait_at_gate();
		code = kd_run(c);
		if (code == KW_OK && kd_conn_finish(c))
			code = KW_LOST;
	}
	account(c, code);
	kd_conn_teardown(c);
	free(c);
	return NULL;
}

static struct kd_conn *new_conn(struct rdma_cm_id *id, const struct kd_config *cfg)
{
	struct kd_conn *c = kw_zalloc(sizeof(*c));

	c->id = id;
	c->cfg = *cfg;
	c->client = opt.client;
	c->spoil = opt.spoil;
	c->quirks = opt.quirks;
	c->stall_ms = opt.stall_ms;
	return c;
}

static pthread_t start(struct kd_conn *c)
{
	pthread_t t;
	int rv = pthread_create(&t, NULL, connection_thread, c);

	if (rv)
		kw_die(KW_SETUP, "no thread: %s", strerror(rv));
	return t;
}

static void run_client(void)
{
	pthread_t threads[MAX_CONNS];
	struct kd_config cfg = opt.cfg;
	unsigned int i;
	sigset_t usr1;

	if (!cfg.count)
		cfg.count = UINT64_MAX;
	if (opt.gate)
		block_usr1(&usr1);
	for (i = 0; i < cfg.conns; i++) {
		cfg.index = i;
		threads[i] = start(new_conn(kwcm_resolve(opt.addr, opt.port), &cfg));
	}
	if (opt.gate)
		open_gate(&usr1);
	for (i = 0; i < cfg.conns; i++)
		pthread_join(threads[i], NULL);
}

static bool sane(const struct kwcm_event *ev, struct kd_config *cfg)
{
	if (ev->priv_len < sizeof(*cfg))
		return false;
	memcpy(cfg, ev->priv, sizeof(*cfg));
	return cfg->magic == KD_MAGIC && cfg->max_len && cfg->max_len <= KD_MAX_LEN &&
	       cfg->window && cfg->window <= KD_MAX_WINDOW &&
	       cfg->conns && cfg->conns <= MAX_CONNS && cfg->max_sge &&
	       (cfg->types & ((1 << KD_TYPES) - 1));
}

/*
 * Wait for an event of the listener. Return: a new connection if it is a connect request of kwdata,
 * or NULL.
 */
static struct kd_conn *next_request(struct rdma_cm_id *listener, unsigned int *conns)
{
	struct rdma_event_channel *ch;
	struct kd_config cfg;
	struct kwcm_event ev;

	if (kwcm_next(listener->channel, -1, &ev))
		return NULL;
	if (ev.type != RDMA_CM_EVENT_CONNECT_REQUEST) {
		kw_debug("event %s (status %d)", rdma_event_str(ev.type), ev.status);
		if (ev.type == RDMA_CM_EVENT_DEVICE_REMOVAL)
			kw_die(KW_LOST, "the device is gone");
		return NULL;
	}
	if (!sane(&ev, &cfg)) {
		kw_say("rejecting a connection that is not from kwdata");
		rdma_reject(ev.id, NULL, 0);
		rdma_destroy_id(ev.id);
		return NULL;
	}
	ch = rdma_create_event_channel();
	if (!ch || rdma_migrate_id(ev.id, ch))
		kw_die(KW_SETUP, "cannot give a connection its own channel: %s", strerror(errno));
	*conns = cfg.conns;
	return new_conn(ev.id, &cfg);
}

static void run_server(void)
{
	struct rdma_cm_id *listener = kwcm_listen(opt.addr, opt.port, BACKLOG);
	pthread_t threads[MAX_CONNS];
	unsigned int i, n = 0, conns = 1;
	struct kd_conn *c;

	while ((opt.keep || n < conns) && !kd_stop) {
		c = next_request(listener, &conns);
		if (c && opt.keep)
			pthread_detach(start(c));
		else if (c)
			threads[n++] = start(c);
	}
	if (opt.keep)
		return;
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	kwcm_destroy(listener);
}

static void on_signal(int sig)
{
	/* A server that runs until it is killed has nothing to finish. */
	if (opt.keep)
		_exit(KW_OK);
	kd_stop = true;
}

static void report(int64_t ms)
{
	char peer[64];

	snprintf(peer, sizeof(peer), "%llu of the peer's operations checked",
		 (unsigned long long)total.checked);
	kw_say("%s: %llu writes, %llu reads, %llu sends, %llu octets, %s, %lld ms",
	       total.worst ? "FAILED" : "ok", (unsigned long long)total.ops[KD_WRITE],
	       (unsigned long long)total.ops[KD_READ], (unsigned long long)total.ops[KD_SEND],
	       (unsigned long long)total.octets, peer, (long long)ms);
}

int main(int argc, char **argv)
{
	int64_t begin;

	parse(argc, argv);
	kw_prog = opt.server ? "kwdata server" : "kwdata client";
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);

	begin = kw_now_ms();
	if (opt.server)
		run_server();
	else
		run_client();
	report(kw_now_ms() - begin);
	return total.worst;
}
