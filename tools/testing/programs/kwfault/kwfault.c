// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfault is a test program: it repeats calls into the kernel, and in the n-th call lets the n-th
 * allocation of the calling thread fail, until the call makes fewer than n allocations.
 *
 *	kwfault verbs   -a addr -p port [-m octets]      every verb; addr is a kwconn server
 *	kwfault connect -a addr -p port [-n cycles]      rdma_connect(), n times without faults
 *	kwfault accept  -a addr -p port                  rdma_accept(), for "kwfault connect -n"
 *	kwfault lost-kick|bad-crc -a addr -p port        faults that "kwarpctl fault" injects
 *	kwfault nth N command...                         a program, from its start on
 *
 * With /proc/thread-self/fail-nth the kernel counts the allocations and copies that failslab,
 * fail_page_alloc and fail_usercopy can make fail. Their filters in debugfs apply: the test suite
 * sets them so that only callers in modules fail.  "nth" ends with the command's status, and prints
 * whether there was an N-th allocation.
 */
#include "kwfault.h"
#include "kwtest.h"

#include <string.h>

static const char usage[] =
	"kwfault verbs -a addr [-p port] [-m octets]\n"
	"       kwfault connect -a addr [-p port] [-n cycles]\n"
	"       kwfault accept -a addr [-p port]\n"
	"       kwfault lost-kick|bad-crc -a addr [-p port]\n"
	"       kwfault nth N command...";

static struct {
	const char *addr, *port;
	unsigned int cycles, large;
} opt = { .port = "7175", .large = 1 << 20 };

static void parse(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('m', opt.large, 65536, 1 << 30),
		KW_NUMBER('n', opt.cycles, 1, 1000000),
		{ 0 }
	};

	kw_options(argc, argv, table, usage);
}

/* Return: number of wrong outcomes. */
static unsigned int run(const char *what)
{
	if (!strcmp(what, "lost-kick"))
		return kf_lost_kick(opt.addr, opt.port);
	if (!strcmp(what, "bad-crc"))
		return kf_bad_crc(opt.addr, opt.port);
	if (!strcmp(what, "connect") && opt.cycles)
		return kf_connect(opt.addr, opt.port, opt.cycles, false);
	kf_init();
	if (!strcmp(what, "connect"))
		return kf_connect(opt.addr, opt.port, 0, true);
	if (!strcmp(what, "accept"))
		return kf_accept(opt.addr, opt.port);
	if (!strcmp(what, "verbs"))
		return kf_verbs(opt.addr, opt.port, opt.large);
	kw_usage(usage);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int wrong;

	kw_prog = "kwfault";
	if (!strcmp(what, "nth") && argc > 3)
		return kf_run_nth(kw_number(argv[2], 1, 1000000, "N"), argv + 3);
	if (argc < 2)
		kw_usage(usage);
	parse(argc - 1, argv + 1);
	wrong = run(what);
	kw_say("all: %u points, %u refused, %u survived, %u wrong", kf_sum.points, kf_sum.refused,
	       kf_sum.survived, wrong);
	return wrong ? KW_MISMATCH : KW_OK;
}
