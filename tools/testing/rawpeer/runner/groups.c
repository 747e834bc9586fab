// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: the groups of cases, and runs of them against a consumer (kwtarget).
 */
#include "runner/start.h"

#include <stdio.h>
#include <string.h>

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

/*
 * Numbers of runs. @known: runs that failed as a known difference says; @skipped: runs that were
 * not made; @barred: skipped runs that a known difference with "!" forbids.
 */
static struct {
	unsigned int passed, failed, known, skipped, barred;
} count;

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
	return mix_name(kw_mix(rp_where.seed, role), k);
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
	kw_debug("%s as %s, %s", k->name, rp_role_name(role), cut ? "cut" : "whole");
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
	return rp_where.quick > 1 || (rp_where.quick && !k->markers && !k->no_crc);
}

static void run_role(const struct rp_case *k, enum rp_role role)
{
	const char *reason = rp_why_known(k->name, role);
	bool ok;

	if (!role)
		return;
	if (!applies(k)) {
		count.skipped++;
		return;
	}
	if (reason && reason[0] == '!') {
		kw_say("not run: %s (as %s): %s", k->name, rp_role_name(role), reason + 1);
		count.skipped++;
		count.barred++;
		return;
	}
	if (once(k)) {
		ok = one_run(k, role, !k->plain && kw_mix(rp_where.seed, count_runs()) & 1);
	} else {
		ok = one_run(k, role, false);
		if (ok && !k->plain && !rp_where.whole)
			ok = one_run(k, role, true);
	}
	if (ok && reason)
		kw_say("note: known difference %s (as %s) was not seen", k->name,
		       rp_role_name(role));
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
	if (k->role)
		return k->role;
	if (rp_where.quick < 2)
		return RP_INIT | RP_RESP;
	return (mix_name(0, k) ^ rp_where.seed) & 1 ? RP_INIT : RP_RESP;
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

int rp_run_cases(char **names, int n)
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
	       (unsigned long long)rp_where.seed);
	return !something_ran(names, n, ran) || count.failed ? KW_MISMATCH : KW_OK;
}

int rp_list_cases(char **names, int n)
{
	const struct rp_case *k;
	size_t i;

	check_names(names, n);
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (k = groups[i].cases; k->name; k++)
			if (wanted(&groups[i], k, names, n))
				printf("%-16s %-32s %c%c  %s\n", groups[i].name, k->name,
				       k->role == RP_RESP ? '-' : 'i',
				       k->role == RP_INIT ? '-' : 'r',
				       k->ids);
	return KW_OK;
}
