// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz is a fuzzer: several processes and threads call random uverbs commands.
 *
 *	kwfuzz -d rdma-device [-n calls] [-j processes] [-t threads] [-S seed] [-v]
 *
 * Each process opens the device, makes a part of the calls in its threads, which share one context
 * and its objects, and ends without destroying anything; then the next process begins, until all
 * calls are made.  Most calls are nearly right: correct, or with one change, on objects that exist
 * or have just been destroyed.  The results of most calls do not matter.  The processes must end,
 * and the test that runs kwfuzz checks the kernel log, and that no objects are left.
 *
 * With one process and one thread a seed gives the same calls again.
 */
#include "kwfuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK		1500	/* calls of one process */
#define MAX_JOBS	64
#define CHUNK_END_MS	120000

static struct kwf_opt opt = { .calls = 10000, .jobs = 4, .threads = 3, .seed = 1 };
static struct kwf_count *count;

/* -------------------------------------------------------------- one process */

/**
 * struct thread - a thread of a process
 * @p: what all threads of the process share
 * @seed: seed of this thread
 * @calls: number of calls that this thread makes
 */
struct thread {
	struct kwf_process *p;
	uint64_t seed;
	uint64_t calls;
};

static void *thread(void *arg)
{
	struct thread *t = arg;
	struct kwf_maker m = { .p = t->p, .rng.state = t->seed };

	while (t->calls--)
		kwf_call(&m);
	return NULL;
}

static void close_fds(struct kwf_process *p)
{
	unsigned int i;

	for (i = 0; i < KWF_FDS; i++)
		if (p->fds[i] > 2)
			close(p->fds[i]);
}

static void process(uint64_t seed, uint64_t calls)
{
	struct kwf_process *p = kw_zalloc(sizeof(*p));
	pthread_t id[KWF_THREADS];
	struct thread t[KWF_THREADS];
	unsigned int i;

	p->count = count;
	p->memory = kw_zalloc(KWF_MEMORY);
	kwf_begin(p, opt.dev, seed);
	/* A call may unmap memory that another thread uses. Then the process may hang: kill it. */
	alarm(CHUNK_END_MS / 2000);
	for (i = 0; i < opt.threads; i++) {
		t[i] = (struct thread){ p, kw_mix(seed, i), calls / opt.threads };
		if (!i)
			t[i].calls += calls % opt.threads;
		if (pthread_create(&id[i], NULL, thread, &t[i]))
			kw_die(KW_SETUP, "no thread");
	}
	for (i = 0; i < opt.threads; i++)
		pthread_join(id[i], NULL);
	if (seed & 1)
		close_fds(p);
	/* Nothing is destroyed, so that the kernel has to clean up. */
	_exit(KW_OK);
}

/* -------------------------------------------------------------- the parent */

static struct {
	pid_t pid;
	int64_t until;
} jobs[MAX_JOBS];
static unsigned int n_processes, n_killed;

static void start(unsigned int j, uint64_t n, uint64_t calls)
{
	pid_t pid = fork();

	if (pid < 0)
		kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
	if (!pid)
		process(kw_mix(opt.seed, n), calls);
	jobs[j].pid = pid;
	jobs[j].until = kw_now_ms() + CHUNK_END_MS;
	n_processes++;
}

/* Has the process ended? It must not take longer than CHUNK_END_MS. */
static bool ended(unsigned int j)
{
	int status;

	if (!jobs[j].pid)
		return true;
	if (waitpid(jobs[j].pid, &status, WNOHANG) != jobs[j].pid) {
		if (kw_now_ms() > jobs[j].until)
			kw_die(KW_STALL, "FAILED: process %d does not end", jobs[j].pid);
		return false;
	}
	jobs[j].pid = 0;
	if (WIFSIGNALED(status))
		n_killed++;
	else if (WEXITSTATUS(status))
		kw_die(WEXITSTATUS(status), "FAILED: a process could not begin, or go on");
	return true;
}

static void run(void)
{
	uint64_t left = opt.calls, n = 0;
	unsigned int j, busy;
	int64_t said = kw_now_ms();

	do {
		for (busy = j = 0; j < opt.jobs; j++) {
			if (ended(j) && left) {
				uint64_t calls = left < CHUNK ? left : CHUNK;

				start(j, n++, calls);
				left -= calls;
			}
			busy += !!jobs[j].pid;
		}
		if (kw_now_ms() - said > 60000) {
			said = kw_now_ms();
			kw_say("%llu calls so far", (unsigned long long)count->calls);
		}
		usleep(2000);
	} while (busy);
}

static void say_counts(void)
{
	unsigned int i;

	for (i = 0; i < KWF_KINDS; i++)
		kw_say("%-16s %9llu calls %9llu successes", kwf_kinds[i],
		       (unsigned long long)count->kind[i], (unsigned long long)count->good[i]);
	kw_say("%llu calls, %llu of them successful; %u processes, %u killed; seed %llu",
	       (unsigned long long)count->calls, (unsigned long long)count->successes, n_processes,
	       n_killed, (unsigned long long)opt.seed);
}

int main(int argc, char **argv)
{
	static const struct kw_option table[] = {
		KW_NEED('d', opt.dev),
		KW_BIG('n', opt.calls, 1, UINT32_MAX),
		KW_NUMBER('j', opt.jobs, 1, MAX_JOBS),
		KW_NUMBER('t', opt.threads, 1, KWF_THREADS),
		KW_BIG('S', opt.seed, 0, UINT64_MAX),
		{ 0 }
	};

	kw_options(argc, argv, table,
		   "kwfuzz -d device [-n calls] [-j processes] [-t threads] [-S seed] [-v]");
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (count == MAP_FAILED)
		kw_die(KW_SETUP, "no memory");
	run();
	say_counts();
	/* If nearly all calls are refused, the fuzzer tests nothing. */
	if (count->successes < opt.calls / 20)
		kw_die(KW_MISMATCH, "FAILED: too few calls succeed");
	return KW_OK;
}
