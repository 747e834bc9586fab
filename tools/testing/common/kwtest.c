// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Helpers of the test programs: messages, options, time, random numbers, and test data that is
 * computed from a key.
 */
#include "kwtest.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *kw_prog;
bool kw_verbose;

static void print(const char *fmt, va_list ap)
{
	char line[512];

	/*
	 * Write each line at once: other threads, and the program at the other end, write to the
	 * same log.
	 */
	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(stderr, "%s: %s\n", kw_prog ?: "test", line);
}

void kw_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
}

void kw_debug(const char *fmt, ...)
{
	va_list ap;

	if (!kw_verbose)
		return;
	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
}

void kw_die(enum kw_exit code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
	/* _Exit(), not exit(): exit handlers must not run while other threads still work. */
	fflush(NULL);
	_Exit(code);
}

void *kw_zalloc(size_t len)
{
	void *p = calloc(1, len);

	if (!p)
		kw_die(KW_SETUP, "no memory for %zu octets", len);
	return p;
}

uint64_t kw_number(const char *text, uint64_t min, uint64_t max, const char *what)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || end == text || *end || v < min || v > max)
		kw_die(KW_SETUP, "%s is '%s', but must be a number from %llu to %llu", what, text,
		       (unsigned long long)min, (unsigned long long)max);
	return v;
}

void kw_usage(const char *usage)
{
	fprintf(stderr, "usage: %s\n", usage);
	exit(KW_SETUP);
}

static void set_option(const struct kw_option *o, const char *arg)
{
	const char name[] = { '-', o->letter, 0 };

	if (o->flag)
		*o->flag = true;
	else if (o->count)
		++*o->count;
	else if (o->text)
		*o->text = arg;
	else if (o->call)
		o->call(arg);
	else if (o->big)
		*o->big = kw_number(arg, o->min, o->max, name);
	else
		*o->number = kw_number(arg, o->min, o->max, name);
}

int kw_options(int argc, char **argv, const struct kw_option *table, const char *usage)
{
	char letters[64] = "v", *at = letters + 1;
	const char *slash = strrchr(argv[0], '/');
	const struct kw_option *o;
	int c;

	if (!kw_prog)
		kw_prog = slash ? slash + 1 : argv[0];
	for (o = table; o->letter; o++) {
		*at++ = o->letter;
		if (!o->flag && !o->count)
			*at++ = ':';
	}
	while ((c = getopt(argc, argv, letters)) != -1) {
		for (o = table; o->letter && o->letter != c; o++)
			;
		if (o->letter)
			set_option(o, optarg);
		else if (c == 'v')
			kw_verbose = true;
		else
			kw_usage(usage);
	}
	for (o = table; o->letter; o++)
		if (o->needed && !*o->text)
			kw_usage(usage);
	return optind;
}

int64_t kw_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

void kw_count_objects(const char *dev, char *line, size_t len)
{
	char cmd[128];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "rdma resource show %s", dev);
	f = popen(cmd, "r");
	if (!f || !fgets(line, len, f))
		kw_die(KW_SETUP, "cannot ask for the objects of %s", dev);
	pclose(f);
}

bool kw_next_ring(FILE *maps, struct kw_ring *ring)
{
	unsigned long from, to;
	char line[512], perms[8];

	while (fgets(line, sizeof(line), maps)) {
		/* siw's are mappings of the device. */
		if (!strstr(line, "[kwarp_ring]") && !strstr(line, "/dev/infiniband/uverbs"))
			continue;
		if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) != 3)
			continue;
		*ring = (struct kw_ring){ (uint8_t *)from, to - from, perms[1] == 'w' };
		return true;
	}
	return false;
}

uint64_t kw_mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t kw_rand(struct kw_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ULL;
	return kw_mix(rng->state, 0);
}

uint64_t kw_below(struct kw_rng *rng, uint64_t n)
{
	return kw_rand(rng) % n;
}

bool kw_one_in(struct kw_rng *rng, unsigned int n)
{
	return kw_below(rng, n) == 0;
}

/*
 * Return octets 8 * @index to 8 * @index + 7 of the endless stream of test data that @key selects.
 * They take only one multiplication, because multiplications are slow on an emulated machine.
 */
static inline uint64_t word_at(uint64_t key, uint64_t index)
{
	uint64_t w = (key + index) * 0x9e3779b97f4a7c15ULL;

	return w ^ (w >> 32);
}

static inline uint8_t octet_at(uint64_t key, uint64_t pos)
{
	return word_at(key, pos / 8) >> (8 * (pos % 8));
}

void kw_fill(uint8_t *buf, size_t len, uint64_t key, uint64_t pos)
{
	size_t i = 0;
	uint64_t w;

	for (; i < len && (pos + i) % 8; i++)
		buf[i] = octet_at(key, pos + i);
	for (; len - i >= 8; i += 8) {
		w = word_at(key, (pos + i) / 8);
		memcpy(buf + i, &w, 8);
	}
	for (; i < len; i++)
		buf[i] = octet_at(key, pos + i);
}

size_t kw_check(const uint8_t *buf, size_t len, uint64_t key, uint64_t pos)
{
	size_t i = 0;
	uint64_t w;

	for (; i < len && (pos + i) % 8; i++)
		if (buf[i] != octet_at(key, pos + i))
			return i;
	for (; len - i >= 8; i += 8) {
		memcpy(&w, buf + i, 8);
		if (w != word_at(key, (pos + i) / 8))
			break;
	}
	for (; i < len; i++)
		if (buf[i] != octet_at(key, pos + i))
			return i;
	return len;
}
