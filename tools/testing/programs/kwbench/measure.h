/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes.
 * This file: a measurement of any kind of work, printed as a line of JSON.
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
 * Warm up and measure in the same way, but print the times of single operations, multiplied by
 * @share.
 */
void kb_measure_latency(const struct kb_work *work, double warm, double seconds, double share);

#endif /* KWBENCH_MEASURE_H */
