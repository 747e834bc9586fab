// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfault is a test program: it repeats calls into the kernel, and in the n-th call lets the n-th
 * allocation of the calling thread fail, until the call makes fewer than n allocations.
 *
 *	kwfault verbs   -a addr -p port [-m octets]      every verb; addr is a kwconn server
 *	kwfault connect -a addr -p port [-n cycles]      rdma_connect(), n times without faults
 *	kwfault accept  -a addr -p port                  rdma_accept(), for "kwfault connect -n"
 *	kwfault lost-kick|bad-crc -a addr -p port [-D debugfs]   fault points of the driver
 *	kwfault nth N command...                         a program, from its start on
 *
 * With /proc/thread-self/fail-nth the kernel counts the allocations and copies that failslab,
 * fail_page_alloc and fail_usercopy can make fail. Their filters in debugfs apply: the test suite
 * sets them so that only callers in modules fail.  "nth" ends with the command's status, and prints
 * whether there was an N-th allocation.
 */
#include "kwfault.h"
#include "kwtest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int nth_fd = -1;
static struct kf_count sum;

void kf_init(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		kw_die(KW_SETUP, "no fail-nth: %s", strerror(errno));
}

void kf_arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		kw_die(KW_SETUP, "cannot set fail-nth: %s", strerror(errno));
}

/* Number of allocations until one fails; 0: it has failed. */
static unsigned int left_in(int fd)
{
	char text[16] = "";
	ssize_t len;

	/* The copy that the kernel makes for this read may be the one that fails (EFAULT). */
	do
		len = pread(fd, text, sizeof(text) - 1, 0);
	while (len < 0 && errno == EFAULT);
	if (len <= 0)
		kw_die(KW_SETUP, "cannot read fail-nth: %s", strerror(errno));
	return strtoul(text, NULL, 10);
}

bool kf_disarm(void)
{
	unsigned int left = left_in(nth_fd);

	kf_arm(0);
	return !left;
}

void kf_report(const char *what, const struct kf_count *c)
{
	kw_say("%s: %u points, %u refused, %u survived", what, c->points, c->refused, c->survived);
	sum.points += c->points;
	sum.refused += c->refused;
	sum.survived += c->survived;
}

/* ------------------------------------------------------------- another program */

static int run_nth(unsigned int n, char **command)
{
	char path[64], text[16];
	siginfo_t info;
	pid_t pid;
	int status, fd, len;

	pid = fork();
	if (pid < 0)
		kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
	if (!pid) {
		/* The file is for the thread that opens it, and the setting survives exec(). */
		fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
		len = snprintf(text, sizeof(text), "%u", n);
		if (fd < 0 || write(fd, text, len) != len)
			_exit(126);
		execvp(command[0], command);
		_exit(127);
	}
	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		kw_die(KW_SETUP, "cannot wait: %s", strerror(errno));
	snprintf(path, sizeof(path), "/proc/%d/fail-nth", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		kw_die(KW_SETUP, "cannot open %s: %s", path, strerror(errno));
	kw_say("%s", left_in(fd) ? "nothing failed" : "it failed");
	close(fd);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char usage[] =
	"kwfault verbs -a addr [-p port] [-m octets]\n"
	"       kwfault connect -a addr [-p port] [-n cycles]\n"
	"       kwfault accept -a addr [-p port]\n"
	"       kwfault lost-kick|bad-crc -a addr [-p port] [-D debugfs]\n"
	"       kwfault nth N command...";

static struct {
	const char *addr, *port, *debugfs;
	unsigned int cycles, large;
} opt = { .port = "7175", .debugfs = "/sys/kernel/debug", .large = 1 << 20 };

static void parse(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_TEXT('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('m', opt.large, 65536, 1 << 30),
		KW_NUMBER('n', opt.cycles, 1, 1000000),
		KW_TEXT('D', opt.debugfs),
		{ 0 }
	};

	kw_options(argc, argv, table, usage);
	if (!opt.addr)
		kw_usage(usage);
}

/* Return: number of wrong outcomes. */
static unsigned int run(const char *what)
{
	if (!strcmp(what, "lost-kick"))
		return kf_lost_kick(opt.addr, opt.port, opt.debugfs);
	if (!strcmp(what, "bad-crc"))
		return kf_bad_crc(opt.addr, opt.port, opt.debugfs);
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
		return run_nth(kw_number(argv[2], 1, 1000000, "N"), argv + 3);
	if (argc < 2)
		kw_usage(usage);
	parse(argc - 1, argv + 1);
	wrong = run(what);
	kw_say("all: %u points, %u refused, %u survived, %u wrong", sum.points, sum.refused,
	       sum.survived, wrong);
	return wrong ? KW_MISMATCH : KW_OK;
}
