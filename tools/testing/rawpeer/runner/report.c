// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: what all runs share: addresses and time limits, known differences, and the report of a
 * failure.
 */
#include "runner/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct rp_where rp_where = {
	.addr = "127.0.0.1", .port = "7177", .control = "7178",
	.own = "127.0.0.1", .own_port = "7179", .prompt_ms = 2000, .slow = 1,
	.want_crc = true, .seed = 1,
};

int rp_soon(void)
{
	return rp_where.prompt_ms * rp_where.slow;
}

#define MAX_KNOWN	700

static struct {
	char name[64], reason[160];
} known[MAX_KNOWN];

static unsigned int n_known;

static void one_known(const char *line, const char *reason)
{
	if (n_known == MAX_KNOWN)
		kw_die(KW_SETUP, "too many known differences");
	snprintf(known[n_known].reason, sizeof(known[n_known].reason), "%s", reason);
	if (sscanf(line, "%63s %159[^\n]", known[n_known].name, known[n_known].reason) >= 1)
		n_known++;
}

void rp_read_known(const char *path)
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

const char *rp_role_name(enum rp_role role)
{
	return role == RP_INIT ? "initiator" : "responder";
}

const char *rp_why_known(const char *name, enum rp_role role)
{
	char with_role[80];
	unsigned int i;

	snprintf(with_role, sizeof(with_role), "%s/%s", name, rp_role_name(role));
	for (i = 0; i < n_known; i++)
		if (!strcmp(known[i].name, name) || !strcmp(known[i].name, with_role))
			return known[i].reason;
	return NULL;
}

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
	       rp_why_known(r->k->name, r->role) ? "differs:" : "FAILED:", r->k->name,
	       rp_role_name(r->role), r->c.piece ? "cut" : "whole",
	       (unsigned long long)rp_where.seed, why);
}
