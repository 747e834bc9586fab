/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbench: a measurement of any work, printed as a line of JSON.
 */
#ifndef KWBENCH_MEASURE_H
#define KWBENCH_MEASURE_H

#include <stdint.h>

/**
 * struct kb_work - what is measured
 * @run: do @count operations; all have arrived when it returns
 * @ctx: for it
 * @least: no less at once
 */
struct kb_work {
	void (*run)(void *ctx, uint64_t count);
	void *ctx;
	uint64_t least;
};

/* A line of JSON about what takes about so many seconds */
void kb_measure_rate(const struct kb_work *work, double warm, double seconds);
/* Each operation alone; so much of its time is told. */
void kb_measure_latency(const struct kb_work *work, double warm, double seconds, double share);

#endif /* KWBENCH_MEASURE_H */
