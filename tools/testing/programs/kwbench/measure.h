/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbench measures the rate or latency of one kind of traffic between two processes. This file: the
 * measurement of any work, printed as a line of JSON.
 */
#ifndef KWBENCH_MEASURE_H
#define KWBENCH_MEASURE_H

#include <stdint.h>

/**
 * struct kb_work - what is measured
 * @run: does @count operations, and returns when all have arrived
 * @ctx: first argument of @run
 * @least: smallest number of operations for one call of @run
 */
struct kb_work {
	void (*run)(void *ctx, uint64_t count);
	void *ctx;
	uint64_t least;
};

/*
 * Warm up for about @warm seconds, measure for about @seconds, and print the rate as a line of
 * JSON.
 */
void kb_measure_rate(const struct kb_work *work, double warm, double seconds);
/*
 * Like kb_measure_rate(), but print the time of each operation. Times are multiplied by @share
 * before printing.
 */
void kb_measure_latency(const struct kb_work *work, double warm, double seconds, double share);

#endif /* KWBENCH_MEASURE_H */
