// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the transmit step: the announcement (a zero-length Write, proto/announce.h), and how
 * long FPDUs are after the peer's.
 */
#include "tx_fixture.h"

#include "../../proto/announce.h"
#include "../../proto/mpa_neg.h"

static bool is_announcement(const struct segment *s)
{
	return s->hdr.tagged && s->hdr.opcode == KWARP_OP_WRITE && !s->payload &&
	       kwarp_announced(&s->hdr) == KWARP_ANNOUNCE_LONG;
}

static const struct first {
	const char *desc;
	u8 rtr;
	u32 at;		/* number of messages before the announcement */
} firsts[] = {
	{ "no RTR", 0, 0 },
	{ "RTR is a Write", KWARP_RTR_WRITE, 0 },
	{ "RTR is a Read", KWARP_RTR_READ, 1 },
	{ "RTR is a Send", KWARP_RTR_SEND, 1 },
};

KUNIT_ARRAY_PARAM_DESC(first, firsts, desc);

/*
 * The announcement is sent once, before requests. It follows the RTR, which is the first FPDU
 * (6581-5-2), or it is the RTR.
 */
static void test_announcement(struct kunit *test)
{
	const struct first *c = test->param_value;
	struct tx_test *t = test->priv;
	u32 i;

	t->e.tx.rtr = c->rtr;
	KUNIT_EXPECT_TRUE(test, kwarp_engine_announce(&t->e));
	KUNIT_EXPECT_FALSE(test, kwarp_engine_announce(&t->e));
	tx_post(t, KWARP_WR_WRITE, 0, 5);
	tx_post(t, KWARP_WR_WRITE, 0, 5);
	tx_run(test);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, c->at + 3);
	for (i = 0; i < t->tcp.sent; i++)
		KUNIT_EXPECT_EQ_MSG(test, is_announcement(&t->tcp.seg[i]), i == c->at, "%u", i);
}

/* It alone is a reason to send. */
static void test_announcement_only(struct kunit *test)
{
	struct tx_test *t = test->priv;

	kwarp_engine_announce(&t->e);
	tx_run(test);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_TRUE(test, is_announcement(&t->tcp.seg[0]));
}

static const struct length {
	const char *desc;
	bool off;
	bool silent;
	bool markers;
	bool align;
	u32 window;
	u32 mulpdu;
} lengths[] = {
	{ "wide window", .window = 1 << 20, .mulpdu = KWARP_MPA_MAX_ULPDU },
	{ "a quarter of the window", .window = 100000, .mulpdu = 25000 },
	{ "small window", .window = 4000, .mulpdu = 1442 },
	{ "window closed", .window = 0, .mulpdu = 1442 },
	{ "switched off here", .off = true, .window = 1 << 20, .mulpdu = 1442 },
	{ "peer has announced nothing", .silent = true, .window = 1 << 20, .mulpdu = 1442 },
	{ "markers", .markers = true, .window = 1 << 20, .mulpdu = 1430 },
	{ "aligned", .align = true, .window = 1 << 20, .mulpdu = 1442 },
};

KUNIT_ARRAY_PARAM_DESC(length, lengths, desc);

/* Only a peer that has announced them gets FPDUs that are longer than a segment (5044-3-3). */
static void test_length(struct kunit *test)
{
	const struct length *c = test->param_value;
	struct tx_test *t = test->priv;

	t->e.tx.long_frames = !c->off;
	t->e.tx.markers = c->markers;
	t->e.tx.align = c->align;
	t->tcp.window = c->window;
	if (!c->silent)
		set_bit(KWARP_E_PEER_LONG, &t->e.flags);
	kwarp_tx_step(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.tx.mulpdu, c->mulpdu);
	KUNIT_EXPECT_EQ(test, !!t->e.tx.batch.least,
			!c->off && !c->silent && !c->markers && !c->align);
}

static struct kunit_case tx_long_cases[] = {
	KUNIT_CASE_PARAM(test_announcement, first_gen_params),
	KUNIT_CASE(test_announcement_only),
	KUNIT_CASE_PARAM(test_length, length_gen_params),
	{}
};

static struct kunit_suite tx_long_suite = {
	.name = "kwarp_tx_long",
	.init = tx_test_init,
	.test_cases = tx_long_cases,
};

kunit_test_suite(tx_long_suite);
