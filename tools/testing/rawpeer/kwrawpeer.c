// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: a peer that breaks the protocol, from an ordinary socket.
 *
 *	kwrawpeer SCENARIO [-a addr] [-p port] [-T seconds] [-v]
 *	kwrawpeer -l		lists the scenarios
 *	kwrawpeer list		lists the cases: group, name, roles, requirements
 *	kwrawpeer run ...	runs cases against a consumer (see runner/run.c)
 *	kwrawpeer mutate ...	mutated streams against a consumer (see runner/mutate.c)
 *
 * A case runs against the program kwtarget (the consumer), a scenario against any RDMA program, or
 * without a device. Scenarios "req-*" and "rdma-*" connect to a device's listener; in "rep-*" the
 * device connects. Each connection has to end in time: within the startup timer (-T) if the device
 * has to wait for more octets, promptly if it has seen an error. Other connections must not be
 * disturbed: the end-to-end suite runs traffic at the same time.
 *
 *   startup.c   scenarios around the startup frames
 *   selftest.c  the functions of wire/ against the examples of the RFCs
 */
#include "runner/run.h"
#include "scenarios.h"
#include "kwtest.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(int argc, char **argv)
{
	const struct kwraw_scenario *s;
	unsigned int n;
	int o;

	kw_prog = "kwrawpeer";
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1 && rp_knows(argv[1]))
		return rp_main(argc - 1, argv + 1);
	while ((o = getopt(argc, argv, "a:p:T:lv")) != -1) {
		switch (o) {
		case 'a':
			kwraw_env.addr = optarg;
			break;
		case 'p':
			kwraw_env.port = optarg;
			break;
		case 'T':
			kwraw_env.timer_ms = 1000 * kw_number(optarg, 1, 600, "-T");
			break;
		case 'v':
			kw_verbose = true;
			break;
		case 'l':
			list_all();
			return KW_OK;
		default:
			exit(KW_SETUP);
		}
	}
	if (optind != argc - 1)
		kw_die(KW_SETUP,
		       "usage: kwrawpeer SCENARIO [-a addr] [-p port] [-T seconds] [-v] | -l");
	s = find(argv[optind]);
	n = s->run(s->arg);
	kw_say("%s: %u checks, %u failed", s->name, n, failures);
	return failures || !n ? KW_MISMATCH : KW_OK;
}
