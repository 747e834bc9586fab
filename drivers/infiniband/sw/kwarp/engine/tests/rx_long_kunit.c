// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the receive side: the peer's announcement, a zero-length Write (proto/announce.h). */
#include "rx_fixture.h"

#include "../../proto/announce.h"

static void feed_empty_write(struct stream *s, u32 stag, u64 to)
{
	u8 u[14] = { 0xc1, 0x40 };

	put_unaligned_be32(stag, u + 2);
	put_unaligned_be64(to, u + 6);
	rx_feed(s, u, sizeof(u));
}

static const struct heard {
	const char *desc;
	u32 stag;
	u64 to;
	bool off;
	bool is;
} heard[] = {
	{ "announcement", 1, 0x6b77617270000001ULL, false, true },
	{ "with bits of the future", 1, 0x6b77617270ff0003ULL, false, true },
	{ "without long FPDUs", 1, 0x6b77617270000002ULL, false, false },
	{ "another STag", 2, 0x6b77617270000001ULL, false, false },
	{ "another TO", 1, 0x6b77617271000001ULL, false, false },
	{ "nothing", 0, 0, false, false },
	{ "switched off here", 1, 0x6b77617270000001ULL, true, false },
};

KUNIT_ARRAY_PARAM_DESC(heard, heard, desc);

/* An end that has not announced, a responder, does so when the peer has. No Write is an error. */
static void test_heard(struct kunit *test)
{
	const struct heard *c = test->param_value;
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;

	e->tx.long_frames = !c->off;
	feed_empty_write(&t->a, c->stag, c->to);
	KUNIT_EXPECT_EQ(test, test_bit(KWARP_E_PEER_LONG, &e->flags), c->is);
	KUNIT_EXPECT_EQ(test, test_bit(KWARP_E_TX_ANNOUNCE, &e->flags), c->is);
	KUNIT_EXPECT_EQ(test, t->a.kick, c->is);
	KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_RX_STOP, &e->flags));
}

static void test_heard_again(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;

	e->tx.long_frames = true;
	feed_empty_write(&t->a, 1, KWARP_ANNOUNCE_TO | KWARP_ANNOUNCE_LONG);
	clear_bit(KWARP_E_TX_ANNOUNCE, &e->flags);
	feed_empty_write(&t->a, 1, KWARP_ANNOUNCE_TO | KWARP_ANNOUNCE_LONG);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_ANNOUNCE, &e->flags));
	KUNIT_EXPECT_FALSE(test, t->a.kick);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_PEER_LONG, &e->flags));
}

static struct kunit_case rx_long_cases[] = {
	KUNIT_CASE_PARAM(test_heard, heard_gen_params),
	KUNIT_CASE(test_heard_again),
	{}
};

static struct kunit_suite rx_long_suite = {
	.name = "kwarp_rx_long",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_long_cases,
};

kunit_test_suite(rx_long_suite);
