// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of building FPDUs that may be longer than a TCP segment: each batch is filled. */
#include "tx_build_fixture.h"

#include "../../proto/mpa_frame.h"

#define GOAL	65160
#define LEAST	1442

static const struct plan plan = { "long", true, false, KWARP_MPA_MAX_ULPDU, 0, 100000, 0 };

static u32 fill(struct build_test *t)
{
	u32 n = 0;

	while (t->e.tx.msg.kind != KWARP_TXK_NONE && kwarp_tx_build(&t->e))
		n++;
	return n;
}

static void begin(struct build_test *t, u32 len)
{
	memset(&t->e.tx.msg, 0, sizeof(t->e.tx.msg));
	t->e.tx.msg.hdr.tagged = true;
	t->e.tx.msg.left = len;
	build_from_region(t, 0, len);
}

/* Messages of any length: batches are full but for pad, and no FPDU is made short for the rest. */
static void test_fill(struct kunit *test)
{
	static const u32 lens[] = { 100000, 65536, 131072, 64000, 126000, 1500 };
	struct build_test *t = test->priv;
	struct kwarp_batch *b = &t->e.tx.batch;
	u32 i, octets = 0, batches = 1, fpdus = 0;

	build_start(t, &plan);
	b->goal = GOAL;
	b->least = LEAST;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		octets += lens[i];
		begin(t, lens[i]);
		for (;;) {
			fpdus += fill(t);
			KUNIT_ASSERT_LE(test, b->len, GOAL);
			if (t->e.tx.msg.kind == KWARP_TXK_NONE)
				break;
			KUNIT_EXPECT_GT(test, b->len + kwarp_mpa_fpdu_len(LEAST), GOAL);
			build_lower.wire += b->len;
			b->len = 0;
			batches++;
		}
	}
	KUNIT_EXPECT_EQ(test, batches, DIV_ROUND_UP(octets + fpdus * 22, GOAL));
	KUNIT_EXPECT_LE(test, fpdus, batches + ARRAY_SIZE(lens));
	KUNIT_EXPECT_EQ(test, build_lower.perr, KWARP_PERR_NONE);
}

static struct kunit_case tx_build_long_cases[] = {
	KUNIT_CASE(test_fill),
	{}
};

static struct kunit_suite tx_build_long_suite = {
	.name = "kwarp_tx_build_long",
	.init = build_test_init,
	.test_cases = tx_build_long_cases,
};

kunit_test_suite(tx_build_long_suite);
