/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwfault is a test program that lets the n-th allocation of a call fail, for n = 1, 2, ... until
 * the call makes fewer than n allocations.
 */
#ifndef KWFAULT_H
#define KWFAULT_H

#include <stdbool.h>

/**
 * struct kf_count - results of the calls of one kind
 * @points: allocations that were made to fail, one in each call
 * @refused: calls that failed because of that
 * @survived: calls that succeeded nevertheless
 */
struct kf_count {
	unsigned int points, refused, survived;
};

/* Open this thread's fail-nth file in /proc. Ends the program if the kernel has none. */
void kf_init(void);
/*
 * Let the n-th allocation of this thread from now on fail. Copies from and to programs count, too.
 */
void kf_arm(unsigned int n);
/* Let no more allocations of this thread fail. Return: true if one has failed. */
bool kf_disarm(void);
/*
 * Command "nth": run a command with its @n-th allocation failing, and say whether there was such a
 * one. Return: the command's status.
 */
int kf_run_nth(unsigned int n, char **command);

/* Command "verbs": each verb by itself. Return: number of wrong outcomes. */
unsigned int kf_verbs(const char *addr, const char *port, unsigned int large);
/*
 * Command "connect": rdma_connect() to a kwconn server or to kf_accept(); connections may fail.
 * Return: number of wrong outcomes.
 */
unsigned int kf_connect(const char *addr, const char *port, unsigned int cycles, bool faults);
/*
 * Command "accept": rdma_accept() of each request, until no allocation is left to fail. Return:
 * number of wrong outcomes.
 */
unsigned int kf_accept(const char *addr, const char *port);

/*
 * Commands "lost-kick" and "bad-crc": one fault, which "kwarpctl fault" injects. Return: number of
 * wrong outcomes.
 */
unsigned int kf_lost_kick(const char *addr, const char *port);
unsigned int kf_bad_crc(const char *addr, const char *port);

/* Print the results of one kind of call, and add them to kf_sum. */
void kf_report(const char *what, const struct kf_count *c);
extern struct kf_count kf_sum;

#endif /* KWFAULT_H */
