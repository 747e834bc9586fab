// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of wired queue pairs: who connects, the private data, and who is the right peer. */
#include <kunit/test.h>

#include "../pairing.h"

#define OURS	0x123456
#define THEIRS	0xabcdef

static struct kwarp_pair a_pair(u8 addr, u8 peer_addr, u32 qpn, u32 peer_qpn)
{
	struct kwarp_pair pair = {
		.own = { .qpn = qpn, .peer_qpn = peer_qpn, .rq_psn = THEIRS },
	};

	pair.addr[15] = addr;
	pair.peer_addr[15] = peer_addr;
	return pair;
}

/* The same pair, as the other end has it. */
static struct kwarp_pair turned(const struct kwarp_pair *pair)
{
	struct kwarp_pair other = *pair;

	memcpy(other.addr, pair->peer_addr, sizeof(other.addr));
	memcpy(other.peer_addr, pair->addr, sizeof(other.peer_addr));
	other.own.qpn = pair->own.peer_qpn;
	other.own.peer_qpn = pair->own.qpn;
	other.own.rq_psn = OURS;
	return other;
}

static const struct order_case {
	const char *desc;
	u8 addr, peer_addr;
	u32 qpn, peer_qpn;
	int order;
} orders[] = {
	{ "smaller address", 1, 2, 9, 3, -1 },
	{ "larger address", 200, 3, 3, 9, 1 },
	{ "one address, smaller number", 1, 1, 3, 9, -1 },
	{ "one address, larger number", 1, 1, 0x10000, 0xffff, 1 },
	{ "itself", 1, 1, 5, 5, 0 },
	{ "same number, other address", 1, 2, 5, 5, -1 },
};

KUNIT_ARRAY_PARAM_DESC(order, orders, desc);

static int sign(int n)
{
	return n < 0 ? -1 : n > 0;
}

static void test_order(struct kunit *test)
{
	const struct order_case *c = test->param_value;
	struct kwarp_pair pair = a_pair(c->addr, c->peer_addr, c->qpn, c->peer_qpn);
	struct kwarp_pair other = turned(&pair);

	KUNIT_EXPECT_EQ(test, sign(kwarp_pair_order(&pair)), c->order);
	/* Exactly one of the two ends connects. */
	KUNIT_EXPECT_EQ(test, sign(kwarp_pair_order(&other)), -c->order);
}

static void test_order_octets(struct kunit *test)
{
	struct kwarp_pair pair = a_pair(1, 2, 3, 4);

	/* The first octet that differs counts, not the last. */
	pair.addr[0] = 0xfe;
	KUNIT_EXPECT_GT(test, kwarp_pair_order(&pair), 0);
}

static void test_encoding(struct kunit *test)
{
	static const u8 octets[KWARP_PAIR_LEN] = {
		0x6b, 0x77, 0x49, 0x51, 1, 1, 6, 0, 0, 0, 0, 1, 0, 0x01, 0x02, 0x03,
		0, 0x04, 0x05, 0x06, 0x11, 0x12, 0x34, 0x56, 0, 0xab, 0xcd, 0xef,
	};
	const struct kwarp_pair_msg msg = {
		.sends = true, .rnr_retry = 6, .features = KWARP_PAIR_SEND_IMM,
		.qpn = 0x010203, .peer_qpn = 0x040506, .sq_psn = 0x11123456, .rq_psn = THEIRS,
	};
	struct kwarp_pair_msg got = { };
	u8 buf[KWARP_PAIR_LEN + 1];

	memset(buf, 0xff, sizeof(buf));
	KUNIT_EXPECT_EQ(test, kwarp_pair_encode(buf, &msg), KWARP_PAIR_LEN);
	KUNIT_EXPECT_MEMEQ(test, buf, octets, sizeof(octets));
	KUNIT_EXPECT_EQ(test, buf[KWARP_PAIR_LEN], 0xff);
	/* A later version may append something. */
	KUNIT_ASSERT_TRUE(test, kwarp_pair_decode(buf, sizeof(buf), &got));
	KUNIT_EXPECT_TRUE(test, got.sends);
	KUNIT_EXPECT_EQ(test, got.rnr_retry, 6);
	KUNIT_EXPECT_EQ(test, got.features, KWARP_PAIR_SEND_IMM);
	KUNIT_EXPECT_EQ(test, got.qpn, msg.qpn);
	KUNIT_EXPECT_EQ(test, got.peer_qpn, msg.peer_qpn);
	KUNIT_EXPECT_EQ(test, got.sq_psn, msg.sq_psn);
	KUNIT_EXPECT_EQ(test, got.rq_psn, msg.rq_psn);
	KUNIT_EXPECT_FALSE(test, kwarp_pair_decode(buf, KWARP_PAIR_LEN - 1, &got));
	KUNIT_EXPECT_FALSE(test, kwarp_pair_decode(NULL, 0, &got));
	buf[0]++;
	KUNIT_EXPECT_FALSE(test, kwarp_pair_decode(buf, KWARP_PAIR_LEN, &got));
	buf[0]--;
	buf[4]++;
	KUNIT_EXPECT_FALSE(test, kwarp_pair_decode(buf, KWARP_PAIR_LEN, &got));
}

/* An end in RTR does not know its own PSN, and does not show an old one. */
static void test_encoding_rtr(struct kunit *test)
{
	const struct kwarp_pair_msg msg = { .sq_psn = OURS };
	struct kwarp_pair_msg got = { };
	u8 buf[KWARP_PAIR_LEN];

	kwarp_pair_encode(buf, &msg);
	KUNIT_ASSERT_TRUE(test, kwarp_pair_decode(buf, sizeof(buf), &got));
	KUNIT_EXPECT_FALSE(test, got.sends);
	KUNIT_EXPECT_EQ(test, got.sq_psn, 0);
}

/* @own, @peer: this end, and the peer, is in RTS */
static const struct match_case {
	const char *desc;
	bool own, peer;
	struct kwarp_pair_msg add;	/* what the peer says is larger by these */
	bool ok;
} matches[] = {
	{ "both send", true, true, { }, true },
	{ "this end sends", true, false, { }, true },
	{ "the peer sends", false, true, { }, true },
	{ "nothing is proved", false, false, { }, false },
	{ "its number", true, true, { .qpn = 1 }, false },
	{ "our number", true, true, { .peer_qpn = 1 }, false },
	{ "our PSN", true, true, { .rq_psn = 1 }, false },
	{ "our PSN, high octet", true, false, { .rq_psn = 1 << 24 }, false },
	{ "its PSN", true, true, { .sq_psn = 1 }, false },
	{ "its PSN alone", false, true, { .sq_psn = 1 }, false },
	{ "our PSN, which we do not know yet", false, true, { .rq_psn = 1 }, true },
	{ "its PSN, which it does not say yet", true, false, { .sq_psn = 1 }, true },
};

KUNIT_ARRAY_PARAM_DESC(match, matches, desc);

static void test_match(struct kunit *test)
{
	const struct match_case *c = test->param_value;
	struct kwarp_pair pair = a_pair(1, 2, 7, 8);
	struct kwarp_pair_msg msg = turned(&pair).own;

	pair.own.sends = c->own;
	pair.own.sq_psn = OURS;
	msg.sends = c->peer;
	msg.sq_psn = THEIRS;
	msg.qpn += c->add.qpn;
	msg.peer_qpn += c->add.peer_qpn;
	msg.rq_psn += c->add.rq_psn;
	msg.sq_psn += c->add.sq_psn;
	KUNIT_EXPECT_EQ(test, kwarp_pair_match(&pair, &msg), c->ok);
}

static struct kunit_case pairing_cases[] = {
	KUNIT_CASE_PARAM(test_order, order_gen_params),
	KUNIT_CASE(test_order_octets),
	KUNIT_CASE(test_encoding),
	KUNIT_CASE(test_encoding_rtr),
	KUNIT_CASE_PARAM(test_match, match_gen_params),
	{}
};

static struct kunit_suite pairing_suite = {
	.name = "kwarp_pairing",
	.test_cases = pairing_cases,
};

kunit_test_suite(pairing_suite);
