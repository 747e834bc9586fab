// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side: a segment that arrives in two pieces, and whose region is removed
 * between them; and Send with Invalidate.
 */
#include "rx_fixture.h"

/* --------------------------------------------- a region between two pieces */

static void keep_region(struct rx_test *t)
{
}

static void deregister(struct rx_test *t)
{
	rx_the_mr = NULL;
}

static void invalidate_region(struct rx_test *t)
{
	t->mr.valid = false;
}

static void take_right(struct rx_test *t)
{
	t->mr.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ;
}

static const struct gap {
	const char *desc;
	enum kwarp_mr_kind kind;
	void (*what)(struct rx_test *t);
	bool run_ends;
	bool refused;
} gaps[] = {
	{ "user, nothing", KWARP_MR_USER, keep_region, true, false },
	{ "user, deregistered", KWARP_MR_USER, deregister, true, true },
	{ "user, another with fewer rights", KWARP_MR_USER, take_right, true, true },
	{ "fast, nothing", KWARP_MR_FAST, keep_region, true, false },
	{ "fast, invalidated", KWARP_MR_FAST, invalidate_region, true, true },
	{ "fast, invalidated within the run", KWARP_MR_FAST, invalidate_region, false, true },
	/* The segment is accepted, because deregistration waits for the end of the receive run. */
	{ "user, being deregistered within the run", KWARP_MR_USER, deregister, false, false },
};

KUNIT_ARRAY_PARAM_DESC(gap, gaps, desc);

#define PAYLOAD_AT	16	/* octets of length field and header before the payload */

static u32 placed(const struct gap *c, u32 cut)
{
	if (!c->refused || cut >= PAYLOAD_AT + OCTETS)
		return OCTETS;
	return cut > PAYLOAD_AT ? cut - PAYLOAD_AT : 0;
}

static void feed_in_two(struct rx_test *t, const struct gap *c, const u8 *wire, u32 len,
			u32 cut)
{
	kwarp_rx_feed(&t->a.e, wire, cut);
	if (c->run_ends)
		kwarp_rx_end_run(&t->a.e);
	c->what(t);
	kwarp_rx_feed(&t->a.e, wire + cut, len - cut);
	kwarp_rx_end_run(&t->a.e);
}

/*
 * 5041-7.1-13, 5040-8.1.1-6: if the region is revoked (@refused), only the payload that arrived
 * before is placed, and the stream fails.
 */
static void test_gap(struct kunit *test)
{
	const struct gap *c = test->param_value;
	struct rx_test *t = test->priv;
	u8 u[WRITE_LEN], wire[64], want[OCTETS];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };
	u32 cut;

	rx_make_write(u);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	for (cut = 0; cut <= w.len; cut++) {
		u32 n = placed(c, cut);

		rx_make_region(t);
		t->mr.kind = c->kind;
		kwarp_rx_init(&t->a.e, false, false);
		t->a.e.flags = BIT(KWARP_E_TX_OPEN);
		t->a.e.perr = KWARP_PERR_NONE;
		t->a.e.refused.why = KWARP_WHY_NONE;
		memset(t->mem, 0, OCTETS);
		memset(want, 0, sizeof(want));
		memset(want, 0x3c, n);
		/*
		 * Skip a cut inside the header, if the receive run does not end there: the region
		 * is gone before it is looked up, so the segment is refused even if the case
		 * expects that it is accepted.
		 */
		if (!c->run_ends && cut < PAYLOAD_AT)
			continue;
		feed_in_two(t, c, wire, w.len, cut);
		KUNIT_EXPECT_MEMEQ(test, t->mem, want, sizeof(want));
		KUNIT_EXPECT_EQ(test, t->a.e.perr,
				n < OCTETS ? KWARP_PERR_DDP_T_STAG : KWARP_PERR_NONE);
		KUNIT_EXPECT_EQ(test, t->a.e.refused.why != KWARP_WHY_NONE, n < OCTETS);
		KUNIT_EXPECT_EQ(test, rx_references, 0);
	}
}

/*
 * A segment with another STag causes another look-up; here that STag names no region, and such a
 * look-up is not counted in @rx_lookups.
 */
static void test_lookups(struct kunit *test)
{
	struct rx_test *t = test->priv;
	u8 u[WRITE_LEN], wire[128];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };

	t->mr.kind = KWARP_MR_USER;
	kwarp_rx_init(&t->a.e, false, false);
	rx_make_write(u);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	put_unaligned_be32(STAG ^ 0x100, u + 2);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	kwarp_rx_feed(&t->a.e, wire, w.len);
	KUNIT_EXPECT_EQ(test, t->mem[0], 0x3c);
	KUNIT_EXPECT_EQ(test, rx_lookups, 1);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_T_STAG);
	kwarp_rx_end_run(&t->a.e);
}

/* ------------------------------------------------------ Send with Invalidate */

/* 5040-5.3-17, -18: the region becomes invalid when the last segment has arrived, not before. */
static void test_invalidate(struct kunit *test)
{
	struct rx_test *t = test->priv;
	const struct kwarp_cqe *cqe;

	rx_post(t, 0, 1);
	rx_expect_write(test, &t->a, KWARP_PERR_NONE);
	rx_feed_untagged(&t->a, 0x01, 4, STAG, KWARP_QN_SEND, NULL, 0);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_TRUE(test, t->mr.valid);
	rx_expect_write(test, &t->b, KWARP_PERR_NONE);
	rx_feed_send(&t->a, 4, STAG);
	cqe = test_cq_pop(t->cq);
	KUNIT_ASSERT_NOT_NULL(test, cqe);
	KUNIT_EXPECT_EQ(test, cqe->status, KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe->opcode, KWARP_WC_RECV_INV);
	KUNIT_EXPECT_EQ(test, cqe->inv_stag, STAG);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	rx_expect_write(test, &t->a, KWARP_PERR_DDP_T_STAG);
	rx_expect_write(test, &t->b, KWARP_PERR_DDP_T_STAG);
}

/* Only the peer of the stream that bound a memory window may write to that window (5041-8.2-3). */
static void test_window(struct kunit *test)
{
	struct rx_test *t = test->priv;

	t->mr.kind = KWARP_MR_WINDOW;
	t->mr.stream = &t->b.e.mem;
	rx_expect_write(test, &t->b, KWARP_PERR_NONE);
	rx_expect_write(test, &t->a, KWARP_PERR_DDP_T_STREAM);
	rx_expect_write(test, &t->b, KWARP_PERR_NONE);
}

static const struct refusal {
	const char *desc;
	u32 stag;
	enum kwarp_mr_kind kind;
	bool other_pd;
	enum kwarp_perr perr;
	bool other_owner;
} refusals[] = {
	{ "no region", STAG ^ 0x100, KWARP_MR_FAST, false, KWARP_PERR_R_STAG },
	{ "key", STAG ^ 1, KWARP_MR_FAST, false, KWARP_PERR_R_STAG },
	{ "domain", STAG, KWARP_MR_FAST, true, KWARP_PERR_R_CANNOT_INV },
	{ "user memory", STAG, KWARP_MR_USER, false, KWARP_PERR_R_CANNOT_INV },
	{ "another stream's region", STAG, KWARP_MR_FAST, false, KWARP_PERR_R_CANNOT_INV, true },
	{ "another stream's window", STAG, KWARP_MR_WINDOW, false, KWARP_PERR_R_CANNOT_INV },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, desc);

/* 5040-5.3-17, -19; 5040-7.2-4, -5: the region stays valid. */
static void test_invalidate_refused(struct kunit *test)
{
	const struct refusal *c = test->param_value;
	struct rx_test *t = test->priv;

	rx_post(t, 7, 2);
	t->mr.kind = c->kind;
	/*
	 * Another stream in mr.stream is a reason to refuse for windows only: other regions are not
	 * bound to a stream.
	 */
	t->mr.stream = &t->b.e.mem;
	if (c->other_owner)
		t->mr.owner = t->b.e.mem.id;
	if (c->other_pd)
		t->a.e.mem.pd = &t->other_pd;
	rx_feed_send(&t->a, 6, c->stag);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, c->perr);
	KUNIT_EXPECT_TRUE(test, t->mr.valid);
	test_cq_none(test, t->cq);
	kwarp_rx_flush(&t->a.e);
	test_cq_expect(test, t->cq, 7, KWARP_WC_RECV, KWARP_WC_REM_INV_REQ_ERR);
	rx_expect_write(test, &t->b, KWARP_PERR_NONE);
	rx_feed_send(&t->b, 3, 0);
	rx_expect_done(test, 8);
}

static struct kunit_case rx_region_cases[] = {
	KUNIT_CASE_PARAM(test_gap, gap_gen_params),
	KUNIT_CASE(test_lookups),
	KUNIT_CASE(test_invalidate),
	KUNIT_CASE(test_window),
	KUNIT_CASE_PARAM(test_invalidate_refused, refusal_gen_params),
	{}
};

static struct kunit_suite rx_region_suite = {
	.name = "kwarp_rx_region",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_region_cases,
};

kunit_test_suite(rx_region_suite);
