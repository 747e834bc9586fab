/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of batch.c: a batch (octets collected for one socket call). Pages come from
 * a stand-in, which allocates single pages, or fails if the test asks for that. Regions are
 * stand-ins, and references to them are counted. A stand-in for TCP accepts as many octets as the
 * test sets.
 */
#ifndef KWARP_ENGINE_TESTS_BATCH_FIXTURE_H
#define KWARP_ENGINE_TESTS_BATCH_FIXTURE_H

#include <kunit/test.h>
#include <linux/prandom.h>

/* Rename this suite's functions: other suites of this module define the same names. */
#define kwarp_batch_init	tested_batch_init
#define kwarp_batch_fini	tested_batch_fini
#define kwarp_batch_reset	tested_batch_reset
#define kwarp_batch_idle	tested_batch_idle
#define kwarp_batch_mark	tested_batch_get_mark
#define kwarp_batch_rollback	tested_batch_rollback
#define kwarp_batch_prefill	tested_batch_prefill
#define kwarp_batch_frag	tested_batch_frag
#define kwarp_batch_whole	tested_batch_whole
#define kwarp_batch_mr		tested_batch_mr
#define kwarp_batch_send	tested_batch_send
#define kwarp_pages_put		leave_page
#define kwarp_pages_refill	refill_page
#define kwarp_mr_lookup		batch_mr_lookup
#define kwarp_mr_put		batch_mr_put
#define kwarp_tcp_send		take_some
#include "../../mem/mr.h"
#include "../tcp.h"
#include "../tx/batch.h"
#include "../tx/pages.h"

#define LONGEST_FPDU	(64 * 1024 + 16)

/**
 * struct batch_pages - state of the stand-in that allocates pages
 * @rnd: generator of random numbers, by which tests choose how many octets to add
 * @fail: requests for a page fail
 * @large: the last request was for a large page
 * @out: number of pages given out
 */
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
/*
 * batch_lookups: number of times that a region was looked up. batch_references: number of
 * references to each region.
 */
extern u32 batch_lookups;
extern int batch_references[REGIONS];

/*
 * batch_window: octets that the stand-in for TCP accepts in one call. batch_sent: the message that
 * was passed to it last.
 */
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
