// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbell is a test program: for which queue pairs does a context's doorbell work, and which
 * processes may ring it?
 *
 *	kwbell -d rdma-device [-u user] [-v]
 *	kwbell -d rdma-device -g [-t threads] [-v]
 *
 * A doorbell is a file; an ioctl() on it ("ring") tells the driver that requests were posted.
 *
 * Without -g the program makes each call of a table, and posts requests that must complete: with
 * its first doorbell, with a second one, as another user, and in child processes.
 *
 * With -g the program rings in several threads and a child process until the device is gone,
 * reports that, and waits for SIGTERM with its files open.  Another program has to delete the RDMA
 * device meanwhile.
 */
#include "kwbell.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

static unsigned int user = 65534;

static void try_files(void)
{
	int second = bell_open_bell(bell_own.fd);

	bell_verdict("at first", "close-on-exec", fcntl(bell_own.bell, F_GETFD) & FD_CLOEXEC, 0);
	bell_try_calls("a second one", second);
	bell_try_calls("beside a second one", bell_own.bell);
	close(second);
	bell_try_calls("after the second one", bell_own.bell);
	close(bell_own.bell);
	bell_own.bell = bell_open_bell(bell_own.fd);
	bell_try_calls("a new one", bell_own.bell);
}

/* Check that the other context can ring for its own queue pair, but not for one of bell_own. */
static void try_stranger(void)
{
	int rv = bell_ring(bell_stranger.bell, BELL_SEND, bell_stranger.qpn);

	bell_verdict("the stranger's", "its own", !rv, rv);
	rv = bell_ring(bell_stranger.bell, BELL_SEND, bell_own.qpn);
	bell_verdict("the stranger's", "ours", rv == EINVAL, rv);
}

/*
 * After a change of user the doorbell still works. ib_uverbs refuses write() then, which shows that
 * the change of user is effective.
 */
static void try_user(void)
{
	struct ib_uverbs_alloc_pd in = { 0 };
	uint32_t out[16];
	struct kwu_call c = {
		.cmd = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = KWU_BUF(in),
		.out = { out, sizeof(struct ib_uverbs_alloc_pd_resp) },
	};
	int rv;

	if (seteuid(user))
		kw_die(KW_SETUP, "cannot be user %u: %s", user, strerror(errno));
	rv = kwu_write(bell_own.fd, &c);
	bell_verdict("as another user", "a command by write", rv == EACCES, rv);
	bell_try_calls("as another user", bell_own.bell);
	if (seteuid(0))
		kw_die(KW_SETUP, "cannot be root again: %s", strerror(errno));
}

static void try_child(void)
{
	bell_try_calls("in a child", bell_own.bell);
}

static void try_child_of_another_user(void)
{
	if (setgid(user) || setuid(user))
		kw_die(KW_SETUP, "cannot be user %u: %s", user, strerror(errno));
	bell_try_calls("in a child of another user", bell_own.bell);
}

/* Try the calls in a child that has closed the uverbs device and kept only the doorbell. */
static void try_child_with_doorbell(void)
{
	close(bell_own.fd);
	bell_try_calls("in a child that has closed the device", bell_own.bell);
}

static void in_child(void (*fn)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid < 0)
		kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
	if (!pid) {
		bell_map_dead();
		fn();
		_exit(bell_n_failed ? KW_MISMATCH : KW_OK);
	}
	waitpid(pid, &status, 0);
	bell_verdict("a child", "all of it", !status, 0);
}

/* Try a doorbell that is still open after its context (the other one) was closed. */
static void try_closed(void)
{
	int rv;

	close(bell_stranger.fd);
	rv = bell_ring(bell_stranger.bell, BELL_SEND, bell_stranger.qpn);
	bell_verdict("its device closed", "send", rv == EIO, rv);
	rv = bell_ring(bell_stranger.bell, BELL_RECV, 0);
	bell_verdict("its device closed", "receive of nobody", rv == EIO, rv);
	rv = bell_ring(bell_stranger.bell, 0, bell_stranger.qpn);
	bell_verdict("its device closed", "no command", rv == ENOTTY, rv);
	rv = bell_ring(bell_own.bell, BELL_SEND, bell_stranger.qpn);
	bell_verdict("of one who has closed the device", "send", rv == EINVAL, rv);
	close(bell_stranger.bell);
}

static void try_all(void)
{
	bell_open_context(&bell_own);
	bell_open_context(&bell_stranger);
	bell_make_dead();
	bell_make_destroyed();
	bell_try_calls("at first", bell_own.bell);
	try_files();
	try_stranger();
	try_user();
	in_child(try_child);
	in_child(try_child_of_another_user);
	in_child(try_child_with_doorbell);
	try_closed();
	bell_try_calls("in the end", bell_own.bell);
}

int main(int argc, char **argv)
{
	static bool gone;
	static const struct kw_option table[] = {
		KW_NEED('d', bell_dev),
		KW_NUMBER('u', user, 1, INT32_MAX),
		KW_FLAG('g', gone),
		KW_NUMBER('t', bell_threads, 1, BELL_MAX_THREADS),
		{ 0 }
	};

	kw_options(argc, argv, table, "kwbell -d rdma-device [-u user] [-g] [-t threads] [-v]");
	if (gone)
		bell_try_until_gone();
	else
		try_all();
	kw_say("%u ok, %u failed", bell_n_ok, bell_n_failed);
	return bell_n_failed ? KW_MISMATCH : KW_OK;
}
