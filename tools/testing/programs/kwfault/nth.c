// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfault is a test program that makes operations of the kernel fail. This file: it lets the n-th
 * allocation of this thread, or of another program, fail, and counts the outcomes.
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
struct kf_count kf_sum;

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
	kf_sum.points += c->points;
	kf_sum.refused += c->refused;
	kf_sum.survived += c->survived;
}

/* ------------------------------------------------------------- another program */

int kf_run_nth(unsigned int n, char **command)
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
