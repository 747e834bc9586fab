// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of series: several FPDUs of a message that are built at a time, with payload from one
 * region (tx/series.c). kwarp_tx_build() builds all other FPDUs, one at a time.
 */
#include "tx_build_fixture.h"

static const struct limit {
	const char *desc;
	u32 room;	/* octets free in the batch's page */
	u32 goal;
	u32 len;	/* octets already in the batch */
	u32 element;	/* octets of the scatter/gather element */
	u32 left;	/* octets left of the message */
	u32 n;		/* FPDUs that are expected to be built at a time */
} limits[] = {
	{ "all but the last", 100000, 100000, 0, 10000, 10000, 7 },
	{ "the last is a full one", 100000, 100000, 0, 4284, 4284, 2 },
	{ "a single one is none", 100000, 100000, 0, 2856, 2856, 0 },
	{ "room of the fragment", 4344, 100000, 0, 10000, 10000, 3 },
	{ "an octet less room of the fragment", 4343, 100000, 0, 10000, 10000, 2 },
	{ "the packet", 100000, 7240, 2896, 10000, 10000, 3 },
	{ "an octet less of the packet", 100000, 7239, 2896, 10000, 10000, 2 },
	{ "nothing left of the packet", 100000, 7240, 7240, 10000, 10000, 0 },
	{ "the element", 100000, 100000, 0, 4284, 10000, 3 },
	{ "an octet less of the element", 100000, 100000, 0, 4283, 10000, 2 },
};

KUNIT_ARRAY_PARAM_DESC(limit, limits, desc);

/* With a MULPDU of 1442 an FPDU has 1448 octets, of which 1428 are payload (header: 14). */
static void test_series_limits(struct kunit *test)
{
	const struct limit *c = test->param_value;
	struct build_test *t = test->priv;
	struct kwarp_tx *tx = &t->e.tx;
	bool built = false;
	u32 i;

	build_start(t, &build_plans[0]);
	tx->batch.frag.size = c->room;
	tx->batch.goal = c->goal;
	tx->batch.len = c->len;
	tx->msg.hdr.tagged = true;
	tx->msg.kind = KWARP_TXK_SQ;
	tx->msg.src = KWARP_SRC_SGL;
	tx->msg.left = c->left;
	tx->wqe.sge[0] = (struct kwarp_sge){ .addr = VA, .length = c->element, .lkey = STAG };
	/* The fixture's batch grants contiguous memory only sometimes, so try often. */
	for (i = 0; i < 30 && !built; i++)
		built = kwarp_tx_build_series(&t->e);
	KUNIT_EXPECT_EQ(test, built, c->n > 0);
	KUNIT_EXPECT_EQ(test, tx->batch.len - c->len, c->n * 1448);
	KUNIT_EXPECT_EQ(test, tx->off, c->n * 1448);
	KUNIT_EXPECT_EQ(test, c->left - tx->msg.left, c->n * 1428);
	KUNIT_EXPECT_EQ(test, tx->msg.hdr.to, c->n * 1428);
}

/* kwarp_tx_build(), which is called after that, finds and reports the error. */
static void test_series_refused(struct kunit *test)
{
	struct build_test *t = test->priv;
	u32 i;

	build_start(t, &build_plans[0]);
	t->e.tx.batch.frag.size = 100000;
	t->e.tx.msg.left = 10000;
	build_from_sgl(t, 0, 10000);
	t->e.tx.wqe.sge[0].length = 10000;
	t->mr.valid = false;
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, kwarp_tx_build_series(&t->e));
	t->mr.valid = true;
	t->mr.access = 0;
	build_from_region(t, 0, 10000);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, kwarp_tx_build_series(&t->e));
	t->mr.access = IB_ACCESS_REMOTE_READ;
	/* The access to all octets that are left of the Read is checked, as in kwarp_tx_build(). */
	t->mr.length = 9999;
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, kwarp_tx_build_series(&t->e));
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.len, 0);
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.left, 10000);
	t->mr.length = 10000;
	for (i = 0; i < 30 && !t->e.tx.batch.len; i++)
		kwarp_tx_build_series(&t->e);
	KUNIT_EXPECT_LT(test, t->e.tx.msg.left, 10000);
}

static struct kunit_case tx_series_cases[] = {
	KUNIT_CASE_PARAM(test_series_limits, limit_gen_params),
	KUNIT_CASE(test_series_refused),
	{}
};

static struct kunit_suite tx_series_suite = {
	.name = "kwarp_tx_series",
	.init = build_test_init,
	.test_cases = tx_series_cases,
};

kunit_test_suite(tx_series_suite);
