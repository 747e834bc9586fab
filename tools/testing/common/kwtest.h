/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every test program needs: exit codes, messages, time, random numbers, and test data. Key:
 * the seed of test data, see kw_fill(). Data can be computed again from their key, so they are
 * checked without a copy.
 */
#ifndef KWTEST_H
#define KWTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Exit codes, which tell the test suite why a program ended. */
enum kw_exit {
	KW_OK = 0,
	KW_MISMATCH = 1,	/* wrong data, a damaged guard zone, a wrong answer */
	KW_SETUP = 2,		/* a wrong command line, or the test could not be set up */
	KW_LOST = 3,		/* the connection ended before the work was done */
	KW_STALL = 4,		/* no progress for too long */
};

/* Name of the program in messages. kw_options() sets it, if it is NULL, to the name of the call. */
extern const char *kw_prog;
extern bool kw_verbose;

void kw_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kw_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kw_die(enum kw_exit code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

void *kw_zalloc(size_t len);
uint64_t kw_number(const char *text, uint64_t min, uint64_t max, const char *what);
int64_t kw_now_ms(void);

struct kw_ring {
	uint8_t *at;
	size_t len;
	bool writable;
};

/* @maps: the open file /proc/self/maps. Return: false: there are no more rings. */
bool kw_next_ring(FILE *maps, struct kw_ring *ring);
/* Write one line to @line: how many objects of each kind the kernel has on RDMA device @dev. */
void kw_count_objects(const char *dev, char *line, size_t len);

/**
 * struct kw_option - a command line option, and what it sets: exactly one pointer is not NULL
 * @letter: the option; 0 ends a table. Option -v sets kw_verbose, and is in no table.
 * @flag: set to true; the option has no argument
 * @count: how often the option is given; it has no argument
 * @text: gets the argument; @needed: it must not remain NULL
 * @number: gets the argument, a number from @min to @max
 * @big: gets the argument, a 64-bit number from @min to @max
 * @call: called with the argument
 */
struct kw_option {
	char letter;
	bool *flag;
	unsigned int *count;
	const char **text;
	bool needed;
	unsigned int *number;
	uint64_t *big;
	void (*call)(const char *arg);
	uint64_t min, max;
};

#define KW_FLAG(l, var)			{ .letter = (l), .flag = &(var) }
#define KW_COUNT(l, var)		{ .letter = (l), .count = &(var) }
#define KW_TEXT(l, var)			{ .letter = (l), .text = &(var) }
#define KW_NEED(l, var)			{ .letter = (l), .text = &(var), .needed = true }
#define KW_NUMBER(l, var, least, most) \
	{ .letter = (l), .number = &(var), .min = (least), .max = (most) }
#define KW_BIG(l, var, least, most) \
	{ .letter = (l), .big = &(var), .min = (least), .max = (most) }
#define KW_CALL(l, fn)			{ .letter = (l), .call = (fn) }

/*
 * Parse the options of a command line. An option that is not in @table, or the lack of one that is
 * needed, ends the program, which prints @usage. Return: index of the first argument that is no
 * option.
 */
int kw_options(int argc, char **argv, const struct kw_option *table, const char *usage);
void kw_usage(const char *usage) __attribute__((noreturn));

/* A hash that is good enough to make keys and choices from numbers. */
uint64_t kw_mix(uint64_t a, uint64_t b);

/**
 * struct kw_rng - a generator of random numbers; the same seed gives the same numbers
 * @state: the seed at first; every number changes it
 */
struct kw_rng {
	uint64_t state;
};

uint64_t kw_rand(struct kw_rng *rng);
/* A random number from 0 to n - 1. All are equally likely; n must not be 0. */
uint64_t kw_below(struct kw_rng *rng, uint64_t n);
/* True in one of n calls on average. */
bool kw_one_in(struct kw_rng *rng, unsigned int n);

/* Fill @buf with octets pos to pos + len - 1 of the endless random stream that @key selects. */
void kw_fill(uint8_t *buf, size_t len, uint64_t key, uint64_t pos);
/* Return: index of the first octet of @buf that differs from what kw_fill() writes, or @len. */
size_t kw_check(const uint8_t *buf, size_t len, uint64_t key, uint64_t pos);

#endif /* KWTEST_H */
