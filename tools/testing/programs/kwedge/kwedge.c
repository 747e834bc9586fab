// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away?
 *
 *	kwedge -s|-c -a addr [-p port] [-n rounds] [-x] [-v] CASE
 *
 * srq-limit	Sends from a peer use up shared receives: the owner gets an event in time
 * srq-domain	the same with shared receives in a protection domain of their own
 * cq-overflow	a completion queue that nobody polls overflows; needs a server: kwconn -s
 * dereg	memory is deregistered while a peer writes into it
 * depth	a connection requests more Reads at once than the device supports
 * long-recv	a receive has more room than the longest message
 * long-srq-recv	the same with shared receives
 *
 * -n repeats the cases srq-limit, srq-domain and dereg: each repetition is a round.
 * -x leaves out the operation that the case tests, to show that the case can fail.
 */
#include "kwedge.h"

#include <string.h>

static const struct role {
	const char *name;
	void (*server)(const struct kwe_opt *opt);
	void (*client)(const struct kwe_opt *opt);
} roles[] = {
	{ "srq-limit", kwe_srq_server, kwe_srq_client },
	{ "srq-domain", kwe_srq_pd_server, kwe_srq_client },
	{ "cq-overflow", NULL, kwe_cq_client },
	{ "dereg", kwe_dereg_server, kwe_dereg_client },
	{ "depth", kwe_depth_server, kwe_depth_client },
	{ "long-recv", kwe_long_server, kwe_long_client },
	{ "long-srq-recv", kwe_long_srq_server, kwe_long_client },
};

static void run(const struct kwe_opt *opt, const char *name)
{
	void (*call)(const struct kwe_opt *opt) = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(roles[i].name, name))
			call = opt->server ? roles[i].server : roles[i].client;
	if (!call)
		kw_die(KW_SETUP, "no case %s of that role", name);
	call(opt);
}

int main(int argc, char **argv)
{
	static const char usage[] = "kwedge -s|-c -a addr [-p port] [-n rounds] [-x] [-v] CASE";
	struct kwe_opt opt = { .port = "7175", .rounds = 1 };
	bool client = false;
	const struct kw_option table[] = {
		KW_FLAG('s', opt.server),
		KW_FLAG('c', client),
		KW_TEXT('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('n', opt.rounds, 1, 100000),
		KW_FLAG('x', opt.spoil),
		{ 0 }
	};
	int at;

	at = kw_options(argc, argv, table, usage);
	if (opt.server == client || !opt.addr || at != argc - 1)
		kw_usage(usage);
	kw_prog = opt.server ? "kwedge server" : "kwedge client";
	run(&opt, argv[at]);
	kw_say("%s: ok", argv[at]);
	return KW_OK;
}
