// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwconn is a test program that makes many connections, one after the other and at the same time.
 *
 * The server accepts every connect request, echoes each message and survives every failure;
 * with -r the server rejects every request, with -q it never answers. The client connects,
 * exchanges a message, compares it, and disconnects, again and again. With -x the client expects
 * that every attempt is refused in time. With -i the client leaves the connection idle until the
 * connection is lost, or until SIGUSR1: then the client sends one more message and disconnects.
 *
 *	kwconn -s -a addr -p port [-P parallel] [-t tos] [-D octets] [-r | -q] [-4]
 *	kwconn -c -a addr -p port [-n cycles] [-P parallel] [-T seconds] [-D octets]
 *	       [-x | -i] [-H] [-f]
 *
 * -P is how many connections the client makes and uses at a time. The server has room for 2048
 * connections at a time, or for the number of its -P if that is larger, and rejects more.
 *
 * With -4 a server on :: takes connections of IPv4, too, whatever net.ipv6.bindv6only says.
 *
 * With -D at both ends, connect and accept have that much private data, which is compared.
 *
 * With -f an attempt that fails because there is no route to the peer, or no answer from it, is
 * repeated.
 *
 * With -H all connections are open at the same time, and end together when the last message has
 * come back; -P is then the number of connections that are being made at a time.
 */
#include "kwconn.h"

#include <signal.h>

#define MIN_SLOTS	2048
#define MAX_SLOTS	32768

struct kn_options kn_opt = { .port = "7175", .cycles = 1, .parallel = 1, .limit = 20 };

unsigned int kn_slots;
struct kn_conn *kn_conns;
volatile bool kn_stop, kn_go_on;
struct kn_counts kn_count;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		kn_go_on = true;
	else
		kn_stop = true;
}

static const char usage[] =
	"kwconn -s|-c -a addr [-p port] [-n cycles] [-P parallel] [-T seconds] [-t tos]\n"
	"              [-D octets] [-r|-q] [-4] [-x|-i] [-H] [-f] [-v]";

static void parse(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_FLAG('s', kn_opt.server),
		KW_FLAG('c', kn_opt.client),
		KW_FLAG('q', kn_opt.ignores),
		KW_FLAG('r', kn_opt.rejects),
		KW_FLAG('4', kn_opt.ipv4_too),
		KW_TEXT('a', kn_opt.addr),
		KW_TEXT('p', kn_opt.port),
		KW_NUMBER('n', kn_opt.cycles, 1, 1000000),
		KW_NUMBER('P', kn_opt.parallel, 1, MAX_SLOTS),
		KW_NUMBER('T', kn_opt.limit, 1, 3600),
		KW_NUMBER('t', kn_opt.tos, 0, 255),
		KW_NUMBER('D', kn_opt.data, 1, KN_MAX_DATA),
		KW_FLAG('i', kn_opt.idle),
		KW_FLAG('x', kn_opt.refused),
		KW_FLAG('H', kn_opt.hold),
		KW_FLAG('f', kn_opt.flaps),
		{ 0 }
	};

	kw_options(argc, argv, table, usage);
	if (kn_opt.server == kn_opt.client || !kn_opt.addr)
		kw_usage(usage);
	kn_slots = kn_opt.hold ? kn_opt.cycles : kn_opt.parallel;
	if (kn_slots < MIN_SLOTS)
		kn_slots = MIN_SLOTS;
	kn_conns = kw_zalloc(kn_slots * sizeof(*kn_conns));
}

int main(int argc, char **argv)
{
	int64_t began;

	parse(argc, argv);
	kw_prog = kn_opt.server ? "kwconn server" : "kwconn client";
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	signal(SIGPIPE, SIG_IGN);
	began = kw_now_ms();
	kn_opt.server ? kn_run_server() : kn_run_client();
	kw_say("%u started, %u established, %u echoed, %u refused, %u lost, slowest %lld ms",
	       kn_count.started, kn_count.established, kn_count.echoed, kn_count.refused,
	       kn_count.lost, (long long)kn_count.slowest);
	kw_say("all took %lld ms", (long long)(kw_now_ms() - began));
	return KW_OK;
}
