// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: runs cases against a consumer (kwtarget).
 *
 *	kwrawpeer list   [GROUP|CASE...]
 *	kwrawpeer run    [OPTIONS] [GROUP|CASE...]
 *	kwrawpeer mutate [OPTIONS] -n count
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
#include "runner/start.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rp_where rp_where = {
	.addr = "127.0.0.1", .port = "7177", .control = "7178",
	.own = "127.0.0.1", .own_port = "7179", .prompt_ms = 2000, .slow = 1,
	.want_crc = true,
};

static const struct rp_group groups[] = {
	{ "start-initiator", rp_cases_request_refused },
	{ "start-initiator", rp_cases_request_reported },
	{ "start-initiator", rp_cases_request_enhanced },
	{ "start-initiator", rp_cases_request_fpdu },
	{ "start-initiator", rp_cases_listener },
	{ "start-responder", rp_cases_device_request },
	{ "start-responder", rp_cases_reply_refused },
	{ "start-responder", rp_cases_reply_accepted },
	{ "start-responder", rp_cases_reply_enhanced },
	{ "fpdu", rp_cases_fpdu },
	{ "untagged", rp_cases_untagged },
	{ "tagged", rp_cases_tagged },
	{ "rdmap", rp_cases_rdmap },
	{ "rdmap", rp_cases_terminate },
	{ "rdmap", rp_cases_post },
	{ "read", rp_cases_read },
	{ "read", rp_cases_read_sink },
	{ "window", rp_cases_window },
	{ "close", rp_cases_close },
	{ "neighbour", rp_cases_neighbour },
	{ "knob", rp_cases_knob },
	{ "imm", rp_cases_imm },
	{ "imm", rp_cases_imm_post },
	{ "atomic", rp_cases_atomic },
	{ "atomic", rp_cases_atomic_refused },
	{ "atomic-post", rp_cases_atomic_post },
};

static struct {
	const char *known;
	uint64_t seed;
	unsigned int count, quick;
	bool whole;
} opt = { .seed = 1, .count = 500 };

/*
 * Numbers of runs. @known: runs that failed as a known difference says; @skipped: runs that were
 * not made; @barred: skipped runs that a known difference with "!" forbids.
 */
static struct {
	unsigned int passed, failed, known, skipped, barred;
} count;

#define MAX_KNOWN	700

static struct {
	char name[64], reason[160];
} known[MAX_KNOWN];

static unsigned int n_known;

/* ------------------------------------------------------------ known differences */

static void one_known(const char *line, const char *reason)
{
	if (n_known == MAX_KNOWN)
		kw_die(KW_SETUP, "too many known differences");
	snprintf(known[n_known].reason, sizeof(known[n_known].reason), "%s", reason);
	if (sscanf(line, "%63s %159[^\n]", known[n_known].name, known[n_known].reason) >= 1)
		n_known++;
}

static void read_known(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256], reason[160] = "";

	if (!f)
		kw_die(KW_SETUP, "cannot read %s", path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "= %159[^\n]", reason) != 1 && line[0] != '#')
			one_known(line, reason);
	fclose(f);
}

static const char *role_name(enum rp_role role)
{
	return role == RP_INIT ? "initiator" : "responder";
}

static const char *why_known(const char *name, enum rp_role role)
{
	char with_role[80];
	unsigned int i;

	snprintf(with_role, sizeof(with_role), "%s/%s", name, role_name(role));
	for (i = 0; i < n_known; i++)
		if (!strcmp(known[i].name, name) || !strcmp(known[i].name, with_role))
			return known[i].reason;
	return NULL;
}

/* ------------------------------------------------------------------------ runs */

void rp_fail(struct rp *r, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	if (r->failed)
		return;
	r->failed = true;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	kw_say("%s %s (as %s, %s, seed %llu): %s",
	       why_known(r->k->name, r->role) ? "differs:" : "FAILED:", r->k->name,
	       role_name(r->role), r->c.piece ? "cut" : "whole", (unsigned long long)opt.seed,
	       why);
}

/* More octets than any case sends at once: four of the longest FPDUs. */
#define OUT_LEN	(4 * KWRAW_FPDU_MAX)

static uint64_t mix_name(uint64_t seed, const struct rp_case *k)
{
	const char *p;

	for (p = k->name; *p; p++)
		seed = kw_mix(seed, *p);
	return seed;
}

/* Make a seed from case and role, so that the writes of each are cut at different places. */
static uint64_t seed_of(const struct rp_case *k, enum rp_role role)
{
	return mix_name(kw_mix(opt.seed, role), k);
}

static bool one_run(const struct rp_case *k, enum rp_role role, bool cut)
{
	static struct rp r;
	static uint8_t *out;

	if (!out)
		out = kw_zalloc(OUT_LEN);
	r = (struct rp){ .k = k, .role = role, .out = out, .rng = { .state = seed_of(k, role) } };
	r.c.fd = -1;
	r.c.piece = cut ? 1 + kw_below(&r.rng, 40) : 0;
	kw_debug("%s as %s, %s", k->name, role_name(role), cut ? "cut" : "whole");
	if (k->run) {
		k->run(&r);
	} else if (rp_open(&r)) {
		if (k->first)
			rp_steps(&r, k->first);
		rp_steps(&r, k->steps);
	}
	rp_finish(&r);
	return !r.failed;
}

static bool applies(const struct rp_case *k)
{
	if (rp_where.want_markers ? k->no_markers : k->markers)
		return false;
	return rp_where.want_crc ? !k->no_crc : !k->crc;
}

static unsigned int count_runs(void)
{
	return count.passed + count.failed + count.known + count.skipped;
}

static unsigned int count_decided(void)
{
	return count.passed + count.failed + count.known + count.barred;
}

/*
 * Does the case run only once in a role? With -q it does: the test suite uses -q without CRC and
 * with markers, and runs the same cases whole and cut without -q. Cases that need markers, or no
 * CRC, run only with -q, so they run both ways.
 */
static bool once(const struct rp_case *k)
{
	return opt.quick > 1 || (opt.quick && !k->markers && !k->no_crc);
}

static void run_role(const struct rp_case *k, enum rp_role role)
{
	const char *reason = why_known(k->name, role);
	bool ok;

	if (!(k->role & role))
		return;
	if (!applies(k)) {
		count.skipped++;
		return;
	}
	if (reason && reason[0] == '!') {
		kw_say("not run: %s (as %s): %s", k->name, role_name(role), reason + 1);
		count.skipped++;
		count.barred++;
		return;
	}
	if (once(k)) {
		ok = one_run(k, role, !k->plain && kw_mix(opt.seed, count_runs()) & 1);
	} else {
		ok = one_run(k, role, false);
		if (ok && !k->plain && !opt.whole)
			ok = one_run(k, role, true);
	}
	if (ok && reason)
		kw_say("note: known difference %s (as %s) was not seen", k->name,
		       role_name(role));
	if (ok)
		count.passed++;
	else if (reason)
		count.known++;
	else
		count.failed++;
}

static bool wanted(const struct rp_group *g, const struct rp_case *k, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], g->name) || !strcmp(names[i], k->name))
			return true;
	return n == 0;
}

/* End the program if a name selects no case: otherwise, a mistyped name would seem to pass. */
static void check_names(char **names, int n)
{
	const struct rp_case *k;
	bool found;
	size_t g;
	int i;

	for (i = 0; i < n; i++) {
		found = false;
		for (g = 0; g < ARRAY_SIZE(groups); g++)
			for (k = groups[g].cases; k->name; k++)
				found |= wanted(&groups[g], k, &names[i], 1);
		if (!found)
			kw_die(KW_SETUP, "there is no case and no group '%s'", names[i]);
	}
}

/* Return the roles in which the case runs: with -qq only one, which depends on the seed. */
static unsigned int roles_of(const struct rp_case *k)
{
	if (opt.quick < 2 || k->role != RP_BOTH)
		return k->role;
	return (mix_name(0, k) ^ opt.seed) & 1 ? RP_INIT : RP_RESP;
}

/* Run a case. True if it has a verdict in some role, or if a known difference forbids a run. */
static bool decide(const struct rp_case *k)
{
	unsigned int roles = roles_of(k), before = count_decided();

	run_role(k, roles & RP_INIT);
	run_role(k, roles & RP_RESP);
	return count_decided() != before;
}

/*
 * Check that cases have run. @ran: for each of @n names, whether a case of this name has run; the
 * element after those: whether any case has.
 */
static bool something_ran(char **names, int n, const bool *ran)
{
	bool ok = ran[n];
	int i;

	if (!n && !ok)
		kw_say("FAILED: nothing has run");
	for (i = 0; i < n; i++) {
		if (ran[i])
			continue;
		kw_say("FAILED: nothing of '%s' has run", names[i]);
		ok = false;
	}
	return ok;
}

static int run_cases(char **names, int n)
{
	bool *ran = kw_zalloc((n + 1) * sizeof(*ran));
	const struct rp_case *k;
	unsigned int chosen = 0;
	size_t g;
	int i;

	check_names(names, n);
	for (g = 0; g < ARRAY_SIZE(groups); g++)
		for (k = groups[g].cases; k->name; k++) {
			if (!wanted(&groups[g], k, names, n))
				continue;
			chosen++;
			if (!decide(k))
				continue;
			ran[n] = true;
			for (i = 0; i < n; i++)
				ran[i] |= wanted(&groups[g], k, &names[i], 1);
		}
	kw_say("%u cases: %u passed, %u failed, %u known differences, %u not run, seed %llu",
	       chosen, count.passed, count.failed, count.known, count.skipped,
	       (unsigned long long)opt.seed);
	return !something_ran(names, n, ran) || count.failed ? KW_MISMATCH : KW_OK;
}

static int list_cases(char **names, int n)
{
	const struct rp_case *k;
	size_t i;

	check_names(names, n);
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (k = groups[i].cases; k->name; k++)
			if (wanted(&groups[i], k, names, n))
				printf("%-16s %-32s %c%c  %s\n", groups[i].name, k->name,
				       k->role & RP_INIT ? 'i' : '-', k->role & RP_RESP ? 'r' : '-',
				       k->ids);
	return KW_OK;
}

static void set_option(int o)
{
	switch (o) {
	case 'a':
		rp_where.addr = optarg;
		break;
	case 'p':
		rp_where.port = optarg;
		break;
	case 'c':
		rp_where.control = optarg;
		break;
	case 'A':
		rp_where.own = optarg;
		break;
	case 'P':
		rp_where.own_port = optarg;
		break;
	case 'C':
		rp_where.want_crc = kw_number(optarg, 0, 1, "-C");
		break;
	case 'M':
		rp_where.want_markers = kw_number(optarg, 0, 1, "-M");
		break;
	case 'k':
		opt.known = optarg;
		break;
	case 'S':
		opt.seed = kw_number(optarg, 0, UINT64_MAX, "-S");
		break;
	case 'F':
		rp_where.slow = kw_number(optarg, 1, 100, "-F");
		break;
	case 'T':
		rp_where.prompt_ms = kw_number(optarg, 1, 60000, "-T");
		break;
	case 'n':
		opt.count = kw_number(optarg, 1, 10000000, "-n");
		break;
	case 'q':
		opt.quick++;
		break;
	case 'w':
		opt.whole = true;
		break;
	case 'v':
		kw_verbose = true;
		break;
	default:
		exit(KW_SETUP);
	}
}

bool rp_knows(const char *command)
{
	return !strcmp(command, "list") || !strcmp(command, "run") || !strcmp(command, "mutate");
}

int rp_main(int argc, char **argv)
{
	int o, rv;

	while ((o = getopt(argc, argv, "a:p:c:A:P:C:M:k:S:T:F:n:qwv")) != -1)
		set_option(o);
	if (!strcmp(argv[0], "list"))
		return list_cases(argv + optind, argc - optind);
	if (!strcmp(argv[0], "mutate") && optind < argc)
		kw_die(KW_SETUP, "mutate takes no names: '%s'", argv[optind]);
	if (opt.known)
		read_known(opt.known);
	rp_ctl_open();
	rp_where.listener = kwraw_listen(rp_where.own, rp_where.own_port);
	if (!strcmp(argv[0], "mutate"))
		rv = rp_mutate(opt.count, opt.seed);
	else
		rv = run_cases(argv + optind, argc - optind);
	rp_ctl_close();
	return rv;
}
