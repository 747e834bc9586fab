// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: options, connections and their threads. See kwdata.h for how the program works.
 */
#include "kwdata.h"

#include <errno.h>
#include <getopt.h>
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
		.flags = KD_DUPLEX,
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

static const char usage_text[] =
	"usage: kwdata -s [-a addr] [-p port] [-k] [-B|-H|-P] [-Q] [-T seconds] [-v]\n"
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
	"  -T      give up after so long without progress\n";

static void usage(void)
{
	fputs(usage_text, stderr);
	exit(KW_SETUP);
}

static enum kd_spoil parse_spoil(const char *text)
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
			return s;
	usage();
	return KD_SPOIL_NONE;
}

static uint32_t parse_types(const char *text)
{
	uint32_t types = 0;
	int t;

	for (t = 0; t < KD_TYPES; t++)
		if (strchr(text, kd_type_name[t][0]))
			types |= 1U << t;
	if (!types)
		usage();
	return types;
}

static void parse_option(int o)
{
	struct kd_config *cfg = &opt.cfg;

	switch (o) {
	case 's':
		opt.server = true;
		break;
	case 'c':
		opt.client = true;
		break;
	case 'k':
		opt.keep = true;
		break;
	case 'Q':
		opt.quirks = true;
		break;
	case 'v':
		kw_verbose = true;
		break;
	case 'a':
		opt.addr = optarg;
		break;
	case 'p':
		opt.port = optarg;
		break;
	case 'n':
		cfg->count = kw_number(optarg, 0, UINT64_MAX / 2, "-n");
		break;
	case 'S':
		cfg->seed = kw_number(optarg, 0, UINT64_MAX, "-S");
		break;
	case 'm':
		cfg->max_len = kw_number(optarg, 1, KD_MAX_LEN, "-m");
		break;
	case 'w':
		cfg->window = kw_number(optarg, 1, KD_MAX_WINDOW, "-w");
		break;
	case 'q':
		cfg->conns = kw_number(optarg, 1, MAX_CONNS, "-q");
		break;
	case 'g':
		cfg->max_sge = kw_number(optarg, 1, KD_MAX_SGE, "-g");
		break;
	case 'o':
		cfg->depth = kw_number(optarg, 1, 128, "-o");
		break;
	case 't':
		cfg->types = parse_types(optarg);
		break;
	case 'e':
		cfg->flags |= KD_EVENT;
		break;
	case 'z':
		cfg->flags |= KD_SPARE;
		break;
	case '1':
		cfg->flags &= ~KD_DUPLEX;
		break;
	case 'B':
		kd_memory = KD_DMABUF;
		break;
	case 'H':
		kd_memory = KD_HUGE;
		break;
	case 'P':
		kd_memory = KD_HUGE_PARTS;
		break;
	case 'b':
		opt.gate = true;
		break;
	case 'x':
		opt.spoil = parse_spoil(optarg);
		break;
	case 'T':
		opt.stall_ms = 1000 * kw_number(optarg, 1, 3600, "-T");
		break;
	default:
		usage();
	}
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
	int o;

	while ((o = getopt(argc, argv, "sckQva:p:n:S:m:w:q:t:g:o:ez1x:T:bBHP")) != -1)
		parse_option(o);
	if (opt.server == opt.client || optind != argc)
		usage();
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
