// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes.
 * This file: a measurement, which is a number of operations, and the time that they took.
 *
 * The number follows from a warm-up. A phase is a number of operations that are timed together: the
 * warm-up has phases of more and more operations, until one of them takes long enough.  A phase has
 * a number of operations, not a time, because on a user-mode kernel the timers of a program expire
 * late, and not at all while the program polls.
 */
#include "measure.h"

#include "kwtest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_SAMPLES	(1 << 21)
/*
 * A phase of the warm-up has at most this many times the operations of the phase before it: where
 * packets are lost, TCP may be a tenth as fast as in its slow start.
 */
#define MAX_GROWTH	2.0
/* The warm-up ends with a phase whose rate is less than this times that of the phase before it. */
#define MAX_GAIN	1.5
/* If this many phases took long enough, and none ended the warm-up, the next such phase ends it. */
#define MAX_TRIES	4
/* A measurement that took less than this share of the requested time is continued. */
#define LEAST_SHARE	0.9

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/*
 * Read a tick counter of the processor. Reading a clock is a system call, which may take longer
 * than a message, so the clock is read only at the start and the end of a measurement: the length
 * of a tick follows from that.
 */
static uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return now() * 1e9;
#endif
}

/* Sum of the idle times of all processors, seconds. */
static double idle_time(void)
{
	unsigned long long idle, iowait;
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		kw_die(KW_SETUP, "cannot read /proc/stat");
	fclose(f);
	return (double)(idle + iowait) / sysconf(_SC_CLK_TCK);
}

static double timed(const struct kb_work *work, uint64_t count)
{
	double start = now();

	work->run(work->ctx, count);
	return now() - start;
}

/*
 * Number of operations that take @seconds. The warm-up has phases, of which the last takes @warm
 * seconds or more. The rates of the last two phases have to agree (MAX_GAIN), because one phase may
 * have been disturbed by another program or a late timer; but see MAX_TRIES.
 */
static uint64_t warm_up(const struct kb_work *work, double warm, double seconds)
{
	double took, growth, rate = 0, before;
	uint64_t count = work->least;
	int tries = 0;

	for (;;) {
		took = timed(work, count);
		before = rate;
		rate = took > 0 ? count / took : count;
		if (took >= warm && (rate < before * MAX_GAIN || ++tries > MAX_TRIES))
			break;
		growth = took > 0 ? 1.5 * warm / took : MAX_GROWTH;
		if (growth > MAX_GROWTH || took >= warm)
			growth = took < warm ? MAX_GROWTH : 1;
		count = count * growth + 1;
	}
	return rate * seconds > work->least ? rate * seconds : work->least;
}

/*
 * Measure the number of operations that the warm-up has found. If they take less than the requested
 * time, because the warm-up was disturbed, measure more of them for the rest of the time.
 */
void kb_measure_rate(const struct kb_work *work, double warm, double seconds)
{
	uint64_t more = warm_up(work, warm, seconds), count = 0;
	double idle = idle_time(), took = 0;

	for (;;) {
		took += timed(work, more);
		count += more;
		if (took >= seconds * LEAST_SHARE)
			break;
		more = took > 0 ? (seconds - took) * count / took + work->least : 2 * more;
	}
	seconds = took;
	idle = idle_time() - idle;
	printf("{\"ops\": %" PRIu64 ", \"seconds\": %.6f, \"busy\": %.3f}\n", count, seconds,
	       seconds * sysconf(_SC_NPROCESSORS_ONLN) - idle);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void kb_measure_latency(const struct kb_work *work, double warm, double seconds, double share)
{
	uint64_t *sample = kw_zalloc(MAX_SAMPLES * sizeof(*sample)), first, before, after;
	uint64_t i, n = warm_up(work, warm, seconds);
	double start, us;

	if (n > MAX_SAMPLES)
		n = MAX_SAMPLES;
	start = now();
	first = ticks();
	before = first;
	for (i = 0; i < n; i++) {
		work->run(work->ctx, 1);
		after = ticks();
		sample[i] = after - before;
		before = after;
	}
	us = (now() - start) * 1e6 / (before - first) * share;
	qsort(sample, n, sizeof(*sample), compare);
	printf("{\"samples\": %" PRIu64 ", \"min\": %.3f, \"median\": %.3f, \"p99\": %.3f}\n", n,
	       sample[0] * us, sample[n / 2] * us, sample[n * 99 / 100] * us);
	free(sample);
}
