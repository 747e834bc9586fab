// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbell is a test program for doorbells: files on which an ioctl() ("ring") tells the driver that
 * requests were posted. This file: threads and a child process ring until the device is gone.
 */
#include "kwbell.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned int bell_threads = 4;

/*
 * Ring for queue pair @qpn until the device is gone, and rings return EIO. Before that, while the
 * device is being removed, rings return EINVAL: the queue pair is destroyed already.
 */
static void ring_until_gone(uint32_t qpn)
{
	int rv;

	do {
		rv = bell_ring(bell_own.bell, BELL_SEND, qpn);
		if (rv && rv != EINVAL && rv != EIO)
			kw_die(KW_MISMATCH, "FAILED: a ring for %u: %s", qpn, strerror(rv));
	} while (rv != EIO);
}

static void *ringer(void *qpn)
{
	ring_until_gone(*(uint32_t *)qpn);
	return NULL;
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
	if (pid)
		return pid;
	close(bell_own.fd);
	ring_until_gone(bell_own.qpn);
	_exit(KW_OK);
}

static void ring_in_threads(void)
{
	static uint32_t nobody;
	pthread_t id[BELL_MAX_THREADS];
	unsigned int i;

	for (i = 0; i < bell_threads; i++)
		if (pthread_create(&id[i], NULL, ringer, i % 4 == 3 ? &nobody : &bell_own.qpn))
			kw_die(KW_SETUP, "no thread");
	kw_say("ringing");
	for (i = 0; i < bell_threads; i++)
		pthread_join(id[i], NULL);
}

void bell_try_until_gone(void)
{
	int status = -1, sig;
	sigset_t end;
	pid_t pid;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	bell_open_context(&bell_own);
	pid = start_child();
	ring_in_threads();
	waitpid(pid, &status, 0);
	bell_verdict("the device gone", "a child has heard it", !status, 0);
	bell_try_gone();
	kw_say("the device is gone");
	sigwait(&end, &sig);
	bell_verdict("the device gone", "the doorbell is closed", !close(bell_own.bell), errno);
	bell_verdict("the device gone", "the device is closed", !close(bell_own.fd), errno);
}
