// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: a peer that breaks the protocol, from an ordinary socket.
 *
 *	kwrawpeer SCENARIO [-a addr] [-p port] [-T seconds] [-v]
 *	kwrawpeer -l			lists the scenarios
 *	kwrawpeer list [GROUP|CASE...]	lists the cases: group, name, roles, requirements
 *	kwrawpeer run [OPTIONS] [GROUP|CASE...]		runs cases against a consumer
 *	kwrawpeer mutate [OPTIONS] -n count		mutated streams against a consumer
 *
 * A case runs against the program kwtarget (the consumer), a scenario against any RDMA program, or
 * without a device. Scenarios "req-*" and "rdma-*" connect to a device's listener; in "rep-*" the
 * device connects. Each connection has to end in time: within the startup timer (-T) if the device
 * has to wait for more octets, promptly if it has seen an error. Other connections must not be
 * disturbed: the end-to-end suite runs traffic at the same time.
 *
 *   startup.c   scenarios around the startup frames
 *   selftest.c  the functions of wire/ against the examples of the RFCs
 *
 * Options of "run" and "mutate":
 *
 *	-a addr -p port -c port   the consumer: its listener, its control channel
 *	-A addr -P port           where kwrawpeer listens
 *	-C 0|1  -M 0|1            ask for CRC (default 1), for markers (default 0) at startup
 *	-k FILE                   known differences, a line each: NAME[/ROLE] [REASON]
 *	-S seed                   decides where writes are cut, and the mutations
 *	-T ms                     limit for what has to happen at once (default 2000)
 *	-F factor                 all time limits are multiplied by it
 *	-q                        run each case once: the seed decides whether its writes are whole
 *	                          or cut. Cases that need markers, or no CRC, still run both ways
 *	-qq                       run each case once and in one role: an even seed chooses the
 *	                          roles that an odd seed leaves out
 *	-w                        run each case only with whole writes
 *	-v                        print every step and command
 *
 * Without -q and -w, a case runs twice in each of its roles: with every write in one piece (whole),
 * and with writes cut at random places.
 *
 * A known difference is a case that the tested device is known to fail; its failure is reported,
 * but the run of kwrawpeer does not fail. A known difference that does not occur is reported, too.
 * A reason that begins with "!" means that the case is not run at all. A line "= REASON" is the
 * reason for all lines below it that have none.
 *
 * A name on the command line of which no case runs is a failure, unless known differences with
 * "!" exclude its cases. A run without any case is a failure, too.
 */
#include "runner/control.h"
#include "runner/run.h"
#include "scenarios.h"
#include "kwtest.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct kwraw_scenario *const lists[] = { kwraw_selftests, kwraw_startup_scenarios };

struct kwraw_env kwraw_env = {
	.addr = "0.0.0.0",
	.port = "7176",
	.timer_ms = 20000,
	.prompt_ms = 5000,
};

static unsigned int failures;

void kwraw_fail(const char *what, const char *must, const char *is)
{
	failures++;
	kw_say("FAILED: %s: %s, must be %s", what, is, must);
}

static const struct kwraw_scenario *find(const char *name)
{
	const struct kwraw_scenario *s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (s = lists[i]; s->name; s++)
			if (!strcmp(s->name, name))
				return s;
	kw_die(KW_SETUP, "there is no scenario '%s' (-l lists them)", name);
}

static void list_all(void)
{
	const struct kwraw_scenario *s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (s = lists[i]; s->name; s++)
			printf("%-18s %s\n", s->name, s->what);
}

/* Options -k and -n. */
static const char *known;
static unsigned int count = 500;

static const struct kw_option case_options[] = {
	KW_TEXT('a', rp_where.addr),
	KW_TEXT('p', rp_where.port),
	KW_TEXT('c', rp_where.control),
	KW_TEXT('A', rp_where.own),
	KW_TEXT('P', rp_where.own_port),
	KW_NUMBER('C', rp_where.want_crc, 0, 1),
	KW_NUMBER('M', rp_where.want_markers, 0, 1),
	KW_TEXT('k', known),
	KW_BIG('S', rp_where.seed, 0, UINT64_MAX),
	KW_NUMBER('F', rp_where.slow, 1, 100),
	KW_NUMBER('T', rp_where.prompt_ms, 1, 60000),
	KW_NUMBER('n', count, 1, 10000000),
	KW_COUNT('q', rp_where.quick),
	KW_FLAG('w', rp_where.whole),
	{ 0 }
};

#define CASE_USAGE	"kwrawpeer list|run|mutate [OPTIONS] [GROUP|CASE...]"
#define USAGE		"kwrawpeer SCENARIO [-a addr] [-p port] [-T seconds] [-v] | -l"

/* True if the command works on cases, not on scenarios. */
static bool is_for_cases(const char *command)
{
	return !strcmp(command, "list") || !strcmp(command, "run") || !strcmp(command, "mutate");
}

static int with_cases(int argc, char **argv)
{
	int at = kw_options(argc, argv, case_options, CASE_USAGE), rv;

	if (!strcmp(argv[0], "list"))
		return rp_list_cases(argv + at, argc - at);
	if (!strcmp(argv[0], "mutate") && at < argc)
		kw_die(KW_SETUP, "mutate takes no names: '%s'", argv[at]);
	if (known)
		rp_read_known(known);
	rp_ctl_open();
	rp_where.listener = kwraw_listen(rp_where.own, rp_where.own_port);
	if (!strcmp(argv[0], "mutate"))
		rv = rp_mutate(count, rp_where.seed);
	else
		rv = rp_run_cases(argv + at, argc - at);
	rp_ctl_close();
	return rv;
}

int main(int argc, char **argv)
{
	unsigned int timer_s = kwraw_env.timer_ms / 1000;
	bool list = false;
	const struct kw_option options[] = {
		KW_TEXT('a', kwraw_env.addr),
		KW_TEXT('p', kwraw_env.port),
		KW_NUMBER('T', timer_s, 1, 600),
		KW_FLAG('l', list),
		{ 0 }
	};
	const struct kwraw_scenario *s;
	unsigned int n;
	int at;

	kw_prog = "kwrawpeer";
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1 && is_for_cases(argv[1]))
		return with_cases(argc - 1, argv + 1);
	at = kw_options(argc, argv, options, USAGE);
	kwraw_env.timer_ms = 1000 * timer_s;
	if (list) {
		list_all();
		return KW_OK;
	}
	if (at != argc - 1)
		kw_usage(USAGE);
	s = find(argv[at]);
	n = s->run(s->arg);
	kw_say("%s: %u checks, %u failed", s->name, n, failures);
	return failures || !n ? KW_MISMATCH : KW_OK;
}
