// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of KWARP_FAULT: what it may say, and which posts fail.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"
#include "inject.h"

/* Which of the first 20 posts fail: a digit for each, 1 if it does. */
static const char *pattern(const char *text, int err)
{
	static char result[21];
	struct kwarp_inject inject;
	int i, got;

	if (!kwarp_inject_parse(&inject, text))
		return "wrong";
	for (i = 0; i < 20; i++) {
		got = kwarp_inject_next(&inject);
		if (got && got != err)
			return "errno";
		result[i] = got ? '1' : '0';
	}
	return result;
}

static void test_count(void)
{
	CHECK(!strcmp(pattern("post=ENOMEM", ENOMEM), "11111111111111111111"));
	CHECK(!strcmp(pattern("post=22,times=1", EINVAL), "10000000000000000000"));
	CHECK(!strcmp(pattern("post=EIO,skip=3,times=2", EIO), "00011000000000000000"));
	CHECK(!strcmp(pattern("times=0,skip=18,post=133", 133), "00000000000000000011"));
}

static void test_chance(void)
{
	char first[21];

	memcpy(first, pattern("post=EIO,probability=50,seed=7", EIO), sizeof(first));
	CHECK(strchr(first, '0') && strchr(first, '1'));
	CHECK(!strcmp(first, pattern("post=EIO,probability=50,seed=7", EIO)));
	CHECK(strcmp(first, pattern("post=EIO,probability=50,seed=8", EIO)));
}

static void test_wrong(void)
{
	static const char *const wrong[] = {
		"", "post", "post=", "post=0", "post=134", "post=-1", "post=ENONSENSE", "skip=1",
		"post=EIO,skip=-1", "post=EIO,skip=", "post=EIO,skip=4294967296", "post=EIO,times=x",
		"post=EIO,probability=0", "post=EIO,probability=101", "post=EIO,seed=0",
		"post=EIO,nonsense=1", "reset=1",
	};
	char longer[300];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK(!strcmp(pattern(wrong[i], EIO), "wrong"));
	memset(longer, ',', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CHECK(!strcmp(pattern(longer, EIO), "wrong"));
}

const struct test inject_tests[] = {
	{ "KWARP_FAULT: skip and times", test_count },
	{ "KWARP_FAULT: probability and seed", test_chance },
	{ "KWARP_FAULT: what is no fault", test_wrong },
	{}
};
