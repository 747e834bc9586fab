// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: what the environment asks for, and how violations are told.
 */
#define _GNU_SOURCE
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "strict.h"

static const char *const names[STRICT_RULES] = {
	[STRICT_SQ_CREDIT] = "sq-credit",
	[STRICT_EARLY_POST] = "early-post",
	[STRICT_CAPS_ASKED] = "caps-asked",
	[STRICT_ACCESS_UNSET] = "access-unset",
	[STRICT_RECV_POSTED] = "recv-posted",
	[STRICT_READ_SINK] = "read-sink",
	[STRICT_MEMORY_CHANGED] = "memory-changed",
	[STRICT_POISON] = "poison",
	[STRICT_SHAKE] = "shake",
	[STRICT_CQ_ROOM] = "cq-room",
};

struct kwarp_strict_set kwarp_strict_set;

static unsigned int broken[STRICT_RULES];

/* ----------------------------------------------------------------- environment */

static uint32_t rule_bit(const char *name)
{
	unsigned int i;

	for (i = 0; i < STRICT_RULES; i++) {
		if (!strcmp(name, names[i]))
			return 1U << i;
	}
	return 0;
}

static void say_unknown(const char *word)
{
	unsigned int i;

	fprintf(stderr, "kwarp: KWARP_STRICT: '%s' is unknown; possible are: 1, all, off, seed=NUMBER, abort, or with or without '-'",
		word);
	for (i = 0; i < STRICT_RULES; i++)
		fprintf(stderr, "%s %s", i ? "," : "", names[i]);
	fputc('\n', stderr);
}

/* Return: the word is known. */
static bool take_word(struct kwarp_strict_set *set, const char *word, bool *named)
{
	char *end;

	if (!strcmp(word, "1") || !strcmp(word, "all") || !strcmp(word, "on")) {
		set->rules = STRICT_ALL;
		*named = true;
	} else if (!strcmp(word, "0") || !strcmp(word, "off")) {
		set->rules = 0;
		*named = true;
	} else if (!strcmp(word, "abort")) {
		set->abort = true;
	} else if (!strncmp(word, "seed=", 5)) {
		set->seed = strtoull(word + 5, &end, 0);
		return word[5] >= '0' && word[5] <= '9' && !*end;
	} else if (*word == '-' && rule_bit(word + 1)) {
		/* A list that begins with "-name" is all rules but these. */
		if (!*named)
			set->rules = STRICT_ALL;
		set->rules &= ~rule_bit(word + 1);
		*named = true;
	} else if (rule_bit(word)) {
		set->rules |= rule_bit(word);
		*named = true;
	} else {
		return false;
	}
	return true;
}

/**
 * kwarp_strict_parse() - read the value of KWARP_STRICT
 * @set: result
 * @text: value; NULL: there is none
 *
 * A wrong word is told, and the others are in force.
 */
void kwarp_strict_parse(struct kwarp_strict_set *set, const char *text)
{
	char *copy, *word, *more;
	bool named = false;

	*set = (struct kwarp_strict_set){ .seed = 1 };
	copy = text ? strdup(text) : NULL;
	if (!copy)
		return;
	for (word = strtok_r(copy, ", ", &more); word; word = strtok_r(NULL, ", ", &more)) {
		set->given = true;
		if (!take_word(set, word, &named))
			say_unknown(word);
	}
	/* Only a seed, or "abort", or nothing known: all rules */
	if (set->given && !named)
		set->rules = STRICT_ALL;
	free(copy);
}

bool kwarp_strict_on(const struct kwarp_strict *s, enum kwarp_strict_rule rule)
{
	return s->rules & 1U << rule;
}

/* --------------------------------------------------------------------- telling */

void kwarp_strict_say(const struct kwarp_strict *s, unsigned int *told,
		      enum kwarp_strict_rule rule, const char *format, ...)
{
	const unsigned int times = __atomic_add_fetch(told + rule, 1, __ATOMIC_RELAXED);
	const int err = errno;
	va_list args;

	__atomic_add_fetch(broken + rule, 1, __ATOMIC_RELAXED);
	va_start(args, format);
	kwarp_print(&s->ctx->ibv_ctx.context, times, names[rule], format, args);
	va_end(args);
	if (kwarp_strict_set.abort)
		abort();
	errno = err;
}

/* Say how often the rules were broken, if they were. */
void kwarp_strict_say_sum(void)
{
	unsigned int i, sum = 0;

	for (i = 0; i < STRICT_RULES; i++)
		sum += broken[i];
	if (!sum)
		return;
	if (sum == 1)
		fprintf(stderr, "kwarp: strict: rules were broken once:");
	else
		fprintf(stderr, "kwarp: strict: rules were broken %u times:", sum);
	for (i = 0; i < STRICT_RULES; i++) {
		if (broken[i])
			fprintf(stderr, " %s %u", names[i], broken[i]);
	}
	fputc('\n', stderr);
}
