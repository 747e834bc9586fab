// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench: the client measures.
 */
#include "kwbench.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define POLL_BATCH	16
#define MAX_SAMPLES	(1 << 21)
#define SETTLE_US	300000	/* from connected to idle */

/* A timer ends a phase: reading the clock costs much in a virtual machine. */
static volatile sig_atomic_t time_is_up;

static void on_alarm(int sig)
{
	time_is_up = 1;
}

static void start_timer(double seconds)
{
	struct itimerval it = { .it_value.tv_sec = seconds };
	struct sigaction sa = { .sa_handler = on_alarm };

	it.it_value.tv_usec = (seconds - it.it_value.tv_sec) * 1e6 + 1;
	time_is_up = 0;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/*
 * Cheaper than a clock, which is a system call and may take longer than a message does.
 * What a tick is follows from the clock at both ends of a run.
 */
static uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return now() * 1e9;
#endif
}

/* Seconds that the machine's processors were idle, all together. */
static double idle_time(void)
{
	unsigned long long idle, iowait;
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		kw_die(KW_SETUP, "cannot read /proc/stat");
	fclose(f);
	return (double)(idle + iowait) / sysconf(_SC_CLK_TCK);
}

/* --------------------------------------------------------------- rates */

static const enum ibv_wr_opcode opcodes[] = {
	[KB_WRITE] = IBV_WR_RDMA_WRITE,
	[KB_READ] = IBV_WR_RDMA_READ,
	[KB_SEND] = IBV_WR_SEND,
};

static bool may_post(const struct kb_run *run, const struct kb_qp *qp)
{
	if (run->cfg.op == KB_SEND && !qp->credits)
		return false;
	return !time_is_up && qp->queued < run->cfg.depth;
}

static void fill_queue(struct kb_run *run, struct kb_qp *qp)
{
	while (may_post(run, qp)) {
		kb_post(run, qp, opcodes[run->cfg.op], KB_DATA, run->cfg.size,
			qp->unsignaled + 1 >= run->signal);
		if (run->cfg.op == KB_SEND)
			qp->credits--;
		run->ops++;
	}
}

static void handle(struct kb_run *run, const struct ibv_wc *wc)
{
	struct kb_qp *qp = &run->qp[KB_WR_INDEX(wc->wr_id)];

	if (wc->status != IBV_WC_SUCCESS)
		kw_die(KW_LOST, "completion with error: %s", ibv_wc_status_str(wc->status));
	qp->queued -= KB_WR_COUNT(wc->wr_id);
	if (KB_WR_WHAT(wc->wr_id) == KB_DRAIN) {
		qp->drained = true;
	} else if (KB_WR_WHAT(wc->wr_id) == KB_RECV) {
		kb_post_recv(run, qp);
		qp->credits += run->cfg.depth;
	}
	fill_queue(run, qp);
}

static void sleep_for_event(struct kb_run *run)
{
	struct ibv_cq *cq;
	void *ctx;

	/* The timer may interrupt it; the caller looks at everything again. */
	if (ibv_get_cq_event(run->comp, &cq, &ctx))
		return;
	ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(cq, 0);
}

static void handle_some(struct kb_run *run)
{
	struct ibv_wc wc[POLL_BATCH];
	int i, n = ibv_poll_cq(run->cq, POLL_BATCH, wc);

	for (i = 0; i < n; i++)
		handle(run, &wc[i]);
	if (!n && run->cfg.flags & KB_EVENTS)
		sleep_for_event(run);
}

static bool all_drained(const struct kb_run *run)
{
	unsigned int i;

	for (i = 0; i < run->qps; i++)
		if (!run->qp[i].drained)
			return false;
	return true;
}

static void drain(struct kb_run *run)
{
	uint32_t len = run->cfg.size < 8 ? run->cfg.size : 8;
	unsigned int i;

	for (i = 0; i < run->qps; i++) {
		run->qp[i].drained = false;
		kb_post(run, &run->qp[i], IBV_WR_RDMA_READ, KB_DRAIN, len, true);
	}
	while (!all_drained(run))
		handle_some(run);
}

static void phase(struct kb_run *run, double seconds)
{
	unsigned int i;

	run->ops = 0;
	start_timer(seconds);
	for (i = 0; i < run->qps; i++)
		fill_queue(run, &run->qp[i]);
	while (!time_is_up)
		handle_some(run);
	drain(run);
}

void kb_measure_rate(struct kb_run *run, double warm, double seconds)
{
	double start, idle;

	ibv_req_notify_cq(run->cq, 0);
	phase(run, warm);
	idle = idle_time();
	start = now();
	phase(run, seconds);
	seconds = now() - start;
	idle = idle_time() - idle;
	printf("{\"ops\": %" PRIu64 ", \"seconds\": %.6f, \"busy\": %.3f}\n", run->ops, seconds,
	       seconds * sysconf(_SC_NPROCESSORS_ONLN) - idle);
}

/* ------------------------------------------------------------- latency */

static void wait_completion(struct kb_run *run, enum kb_what what)
{
	struct ibv_wc wc;

	for (;;) {
		if (!ibv_poll_cq(run->cq, 1, &wc)) {
			if (run->cfg.flags & KB_EVENTS)
				sleep_for_event(run);
			continue;
		}
		if (wc.status != IBV_WC_SUCCESS)
			kw_die(KW_LOST, "completion with error: %s", ibv_wc_status_str(wc.status));
		run->qp->queued -= KB_WR_COUNT(wc.wr_id);
		if (KB_WR_WHAT(wc.wr_id) == what)
			return;
	}
}

static void write_to_and_fro(struct kb_run *run, uint8_t n)
{
	const volatile uint8_t *last = kb_sink(run) + run->cfg.size - 1;

	run->mem[run->cfg.size - 1] = n;
	kb_post(run, run->qp, IBV_WR_RDMA_WRITE, KB_DATA, run->cfg.size, true);
	while (*last != n)
		;
	wait_completion(run, KB_DATA);
}

static void send_to_and_fro(struct kb_run *run)
{
	kb_post(run, run->qp, IBV_WR_SEND, KB_DATA, run->cfg.size, true);
	wait_completion(run, KB_RECV);
	kb_post_recv(run, run->qp);
}

static void once(struct kb_run *run, uint8_t n)
{
	if (run->cfg.op == KB_WRITE) {
		write_to_and_fro(run, n);
	} else if (run->cfg.op == KB_READ) {
		kb_post(run, run->qp, IBV_WR_RDMA_READ, KB_DATA, run->cfg.size, true);
		wait_completion(run, KB_DATA);
	} else {
		send_to_and_fro(run);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void kb_measure_latency(struct kb_run *run, double warm, double seconds)
{
	uint64_t *sample = kw_zalloc(MAX_SAMPLES * sizeof(*sample)), first, before, after;
	double start, us;
	uint8_t turn = 0;
	unsigned int n = 0;

	ibv_req_notify_cq(run->cq, 0);
	for (start_timer(warm); !time_is_up;)
		once(run, ++turn);
	start = now();
	first = ticks();
	before = first;
	for (start_timer(seconds); !time_is_up && n < MAX_SAMPLES; n++) {
		once(run, ++turn);
		after = ticks();
		sample[n] = after - before;
		before = after;
	}
	us = (now() - start) * 1e6 / (before - first);
	/* Of a way to and fro one half is told. */
	if (run->cfg.op != KB_READ)
		us /= 2;
	qsort(sample, n, sizeof(*sample), compare);
	printf("{\"samples\": %u, \"min\": %.3f, \"median\": %.3f, \"p99\": %.3f}\n", n,
	       sample[0] * us, sample[n / 2] * us, sample[(uint64_t)n * 99 / 100] * us);
	free(sample);
}

/* -------------------------------------------------------------- memory */

static long free_kib(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemFree: %ld", &kib) == 1)
			break;
	if (kib < 0)
		kw_die(KW_SETUP, "cannot read /proc/meminfo");
	fclose(f);
	return kib;
}

/* Without what all connections share: from the first connection to the last. */
void kb_measure_memory(struct kb_run *run, const char *addr, const char *port)
{
	unsigned int qps = run->cfg.qps;
	long before;

	if (qps < 2)
		kw_die(KW_SETUP, "memory is measured with two connections or more");
	kb_connect(run, 1, addr, port);
	usleep(SETTLE_US);
	before = free_kib();
	kb_connect(run, qps, addr, port);
	usleep(SETTLE_US);
	printf("{\"connections\": %u, \"kib_each\": %.2f}\n", qps - 1,
	       (double)(before - free_kib()) / (qps - 1));
}
