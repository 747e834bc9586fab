/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of batch.c: a batch (octets collected for one socket call). Pages come from
 * a fake allocator of single pages, which fails if the test asks for that. Regions are fakes, and
 * references to them are counted. A fake TCP accepts as many octets as the test sets.
 */
#ifndef KWARP_ENGINE_TESTS_BATCH_FIXTURE_H
#define KWARP_ENGINE_TESTS_BATCH_FIXTURE_H

#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../mem/mr.h"
#include "../tcp.h"
#include "../tx/batch.h"
#include "../tx/pages.h"

#define LONGEST_FPDU	(64 * 1024 + 16)

struct batch_pages {
	struct rnd_state rnd;
	bool fail;
	bool large;
	u32 out;
};

extern struct batch_pages batch_pages;

/* Number of regions: more than a batch can reference. */
#define REGIONS		(KWARP_BATCH_MRS + 2)

extern struct kwarp_mr *batch_regions;
extern u32 batch_lookups;
extern int batch_references[REGIONS];

/* batch_window: octets that the fake TCP accepts in one call */
extern u32 batch_window;
extern struct msghdr batch_sent;

void batch_expect_references(struct kunit *test, u32 from, u32 to);
u32 batch_rnd_below(u32 n);
u8 batch_octet(u32 at);
bool batch_put_octets(struct kunit *test, struct kwarp_batch *b, u32 len);
void batch_expect_contents(struct kunit *test, const struct kwarp_batch *b);
int batch_test_init(struct kunit *test);
void batch_test_exit(struct kunit *test);

#endif /* KWARP_ENGINE_TESTS_BATCH_FIXTURE_H */
