/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwfault: calls in which the n-th allocation fails, n = 1, 2, ... until none is left.
 */
#ifndef KWFAULT_H
#define KWFAULT_H

#include <stdbool.h>

/**
 * struct kf_count - what became of the calls of one kind
 * @points: allocations that were made to fail
 * @refused: calls that failed for it
 * @survived: calls that succeeded all the same
 */
struct kf_count {
	unsigned int points, refused, survived;
};

/* Open this thread's fail-nth; dies where the kernel has none. */
void kf_init(void);
/* From now on, this thread's n-th allocation (or copy from or to a program) fails. */
void kf_arm(unsigned int n);
/* Switch the fault off. Return: true if an allocation has failed. */
bool kf_disarm(void);

/* verbs: every verb, by itself. Return: number of wrong outcomes. */
unsigned int kf_verbs(const char *addr, const char *port, unsigned int large);
/* connect: rdma_connect() to a kwconn server or to kf_accept(); the connection may fail. */
unsigned int kf_connect(const char *addr, const char *port, unsigned int cycles, bool faults);
/* accept: rdma_accept() of each request, until no allocation is left to fail. */
unsigned int kf_accept(const char *addr, const char *port);

/* lost-kick, bad-crc: one fault at one of kwarp's own points; files below @debugfs. */
unsigned int kf_lost_kick(const char *addr, const char *port, const char *debugfs);
unsigned int kf_bad_crc(const char *addr, const char *port, const char *debugfs);

/* One line of figures, and their sum. */
void kf_report(const char *what, const struct kf_count *c);

#endif /* KWFAULT_H */
