/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every test program needs: exit codes, messages, time, and data that can
 * be computed again from a key, so that contents are checked without a copy.
 */
#ifndef KWTEST_H
#define KWTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Exit codes: the suite tells apart why a program ended. */
enum kw_exit {
	KW_OK = 0,
	KW_MISMATCH = 1,	/* wrong data, a damaged guard zone, a wrong answer */
	KW_SETUP = 2,		/* usage, or the test could not be set up */
	KW_LOST = 3,		/* the connection ended before the work was done */
	KW_STALL = 4,		/* no progress for too long */
};

extern const char *kw_prog;
extern bool kw_verbose;

void kw_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kw_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kw_die(enum kw_exit code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

void *kw_zalloc(size_t len);
uint64_t kw_number(const char *text, uint64_t min, uint64_t max, const char *what);
int64_t kw_now_ms(void);
/* A line that says how many objects of each kind the kernel has on an RDMA device. */
void kw_count_objects(const char *dev, char *line, size_t len);

/**
 * struct kw_option - an option of a program, and what it sets: one of the pointers is there
 * @letter: 0 in the last one of a table; -v, which sets kw_verbose, is in none
 * @flag: it has no argument
 * @text: its argument
 * @number: its argument, from @min to @max
 * @big: likewise
 * @call: gets its argument
 */
struct kw_option {
	char letter;
	bool *flag;
	const char **text;
	unsigned int *number;
	uint64_t *big;
	void (*call)(const char *arg);
	uint64_t min, max;
};

#define KW_FLAG(l, var)			{ .letter = (l), .flag = &(var) }
#define KW_TEXT(l, var)			{ .letter = (l), .text = &(var) }
#define KW_NUMBER(l, var, least, most) \
	{ .letter = (l), .number = &(var), .min = (least), .max = (most) }
#define KW_BIG(l, var, least, most) \
	{ .letter = (l), .big = &(var), .min = (least), .max = (most) }
#define KW_CALL(l, fn)			{ .letter = (l), .call = (fn) }

/*
 * Takes a command line apart: index of the first argument that is no option. Ends the program
 * with its @usage if there is one that the table does not have.
 */
int kw_options(int argc, char **argv, const struct kw_option *table, const char *usage);
void kw_usage(const char *usage) __attribute__((noreturn));

/* A hash that is good enough to make keys and choices from numbers. */
uint64_t kw_mix(uint64_t a, uint64_t b);

/**
 * struct kw_rng - a stream of choices, the same for the same seed
 * @state: advanced by every draw
 */
struct kw_rng {
	uint64_t state;
};

uint64_t kw_rand(struct kw_rng *rng);
/* Uniform over 0..n-1; n is not 0. */
uint64_t kw_below(struct kw_rng *rng, uint64_t n);
/* True once in n draws. */
bool kw_one_in(struct kw_rng *rng, unsigned int n);

/* Octets pos..pos+len-1 of the endless stream that belongs to key. */
void kw_fill(uint8_t *buf, size_t len, uint64_t key, uint64_t pos);
/* Index of the first octet that differs from that stream, or len. */
size_t kw_check(const uint8_t *buf, size_t len, uint64_t key, uint64_t pos);

#endif /* KWTEST_H */
