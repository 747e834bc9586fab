// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes.
 * This file: options. See kwbench.h for what the program does and why.
 */
#include "kwbench.h"
#include "tcp.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"kwbench -s [-T] -a addr [-p port]\n"
	"       kwbench -c -a addr [-p port] -o operation [-m octets] [-q qps] [-w depth]\n"
	"               [-t ms] [-u ms] [-l] [-e]\n"
	"  -s, -c  server (until killed) or client\n"
	"  -T      server: of plain TCP, which is the operation \"stream\"\n"
	"  -o      write, read, send, write-imm, fetch-add, cmp-swap, stream, or idle: memory\n"
	"          that a connection takes, both ends together\n"
	"  -m      octets of an operation: 65536; of an atomic one 8, and nothing else\n"
	"  -q      queue pairs, one connection each\n"
	"  -w      operations outstanding per queue pair\n"
	"  -t, -u  duration of the measurement and of the warm-up before it, ms: about\n"
	"  -l      latency: one at a time; Writes and Sends to and fro, half of that is told\n"
	"  -e      wait for completion events instead of polling\n"
	"The client prints one line of JSON.";

static struct {
	bool server, client, tcp;
	const char *addr, *port;
	unsigned int ms, warm_ms;
	struct kb_config cfg;
} opt = {
	.port = "7176",
	.ms = 1000,
	.warm_ms = 200,
	.cfg = { .magic = KB_MAGIC, .qps = 1, .depth = 64, .op = KB_WRITE },
};

static void set_op(const char *name)
{
	static const char *const names[] = { "write", "read", "send", "write-imm", "fetch-add",
					     "cmp-swap", "idle", "stream" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i])) {
			opt.cfg.op = i;
			return;
		}
	kw_die(KW_SETUP, "no operation '%s'", name);
}

static void client(double warm, double seconds)
{
	struct kb_run run = { .cfg = opt.cfg, .client = true };

	if (opt.cfg.op == KB_IDLE) {
		kb_client_memory(&run, opt.addr, opt.port);
	} else {
		kb_connect(&run, run.cfg.qps, opt.addr, opt.port);
		if (opt.cfg.flags & KB_LATENCY)
			kb_client_latency(&run, warm, seconds);
		else
			kb_client_rate(&run, warm, seconds);
		kb_client_compare(&run);
	}
	kb_disconnect_all(&run);
	kb_close(&run);
}

static void parse(int argc, char **argv)
{
	unsigned int qps = opt.cfg.qps, depth = opt.cfg.depth;
	bool latency = false, events = false;
	const struct kw_option table[] = {
		KW_FLAG('s', opt.server),
		KW_FLAG('c', opt.client),
		KW_FLAG('T', opt.tcp),
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_CALL('o', set_op),
		KW_NUMBER('m', opt.cfg.size, 1, 1 << 30),
		KW_NUMBER('q', qps, 1, KB_MAX_QPS),
		KW_NUMBER('w', depth, 1, 4096),
		KW_NUMBER('t', opt.ms, 1, 3600000),
		KW_NUMBER('u', opt.warm_ms, 0, 3600000),
		KW_FLAG('l', latency),
		KW_FLAG('e', events),
		{ 0 }
	};

	kw_options(argc, argv, table, usage);
	if (opt.server == opt.client)
		kw_usage(usage);
	opt.cfg.qps = qps;
	opt.cfg.depth = depth;
	opt.cfg.flags = (latency ? KB_LATENCY : 0) | (events ? KB_EVENTS : 0);
	if (opt.cfg.op == KB_WRITE && opt.cfg.flags == (KB_LATENCY | KB_EVENTS))
		kw_die(KW_SETUP, "a Write makes no event at the far side: no -l with -e");
	if (!opt.cfg.size)
		opt.cfg.size = kb_is_atomic(&opt.cfg) ? KB_WORD : 65536;
	if (kb_is_atomic(&opt.cfg) && opt.cfg.size != KB_WORD)
		kw_die(KW_SETUP, "an atomic operation has %u octets: no -m %u", KB_WORD,
		       opt.cfg.size);
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	kw_prog = opt.server ? "kwbench server" : "kwbench client";
	signal(SIGPIPE, SIG_IGN);
	if (opt.server && opt.tcp)
		kb_tcp_serve(opt.addr, opt.port);
	else if (opt.server)
		kb_serve(kwcm_listen(opt.addr, opt.port, 1024));
	else if (opt.cfg.op == KB_STREAM)
		kb_tcp_measure(&opt.cfg, opt.addr, opt.port, opt.warm_ms / 1e3, opt.ms / 1e3);
	else
		client(opt.warm_ms / 1e3, opt.ms / 1e3);
	return KW_OK;
}
