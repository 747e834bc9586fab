// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side: payload that is placed straight from an skb, without the parser
 * (kwarp_rx_feed_skb()).
 */
#include "rx_fixture.h"

#include "../../mem/tests/skb_fixture.h"

#define EACH	16			/* octets in each piece of the skb */
#define LEN	(TEST_SKB_PIECES * EACH)
#define PAYLOAD	101			/* needs a pad */

struct message {
	u8 wire[LEN];
	struct sk_buff *skb;
	u32 at;
	u32 end;
	u32 len;
};

static struct message *new_message(struct kunit *test, const u8 *hdr, u32 hdr_len, u32 payload)
{
	struct message *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct kwarp_emit w = { .size = LEN };
	u8 u[LEN];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	w.buf = m->wire;
	memcpy(u, hdr, hdr_len);
	for (i = 0; i < payload; i++)
		u[hdr_len + i] = i + 1;
	kwarp_emit_fpdu(&w, u, hdr_len + payload, 0);
	KUNIT_ASSERT_LE(test, w.len, LEN);
	m->at = KWARP_MPA_LEN_FIELD + hdr_len;
	m->end = m->at + payload;
	m->len = w.len;
	m->skb = test_skb_new(test, m->wire, EACH);
	return m;
}

static struct message *new_write(struct kunit *test)
{
	u8 hdr[KWARP_DDP_TAGGED_LEN] = { 0xc1, 0x40 };

	put_unaligned_be32(STAG, hdr + 2);
	put_unaligned_be64(VA, hdr + 6);
	return new_message(test, hdr, sizeof(hdr), PAYLOAD);
}

static struct message *new_untagged(struct kunit *test, u8 opcode, u32 qn, u32 payload)
{
	u8 hdr[KWARP_DDP_UNTAGGED_LEN] = { 0x41, 0x40 | opcode };

	put_unaligned_be32(qn, hdr + 6);
	put_unaligned_be32(1, hdr + 10);
	return new_message(test, hdr, sizeof(hdr), payload);
}

static struct kwarp_engine *begin(struct kunit *test, const struct message *m,
				  enum kwarp_mr_kind kind)
{
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;

	rx_make_region(t);
	t->mr.kind = kind;
	memset(t->mem, 0, sizeof(t->mem));
	kwarp_rx_init(e, false, false);
	e->flags = BIT(KWARP_E_TX_OPEN);
	e->perr = KWARP_PERR_NONE;
	memset(&e->stats, 0, sizeof(e->stats));
	rx_lookups = 0;
	kwarp_rx_feed(e, m->wire, m->at);
	return e;
}

static u32 place(struct kwarp_engine *e, const struct message *m, u32 from, u32 len)
{
	return kwarp_rx_feed_skb(e, m->skb, from, len);
}

static void expect_placed(struct kunit *test, const struct message *m, u32 at, u32 from, u32 n)
{
	struct rx_test *t = test->priv;

	KUNIT_EXPECT_MEMEQ(test, t->mem + at, m->wire + m->at + from, n);
	memset(t->mem + at, 0, n);
}

static void expect_nothing_else(struct kunit *test)
{
	struct rx_test *t = test->priv;

	KUNIT_EXPECT_NULL(test, memchr_inv(t->mem, 0, sizeof(t->mem)));
}

/* ---------------------------------------------------------------- placement */

static const struct kind_case {
	const char *desc;
	enum kwarp_mr_kind kind;
} kinds[] = {
	{ "checked once for the segment", KWARP_MR_USER },
	{ "checked for each piece", KWARP_MR_FAST },
};

KUNIT_ARRAY_PARAM_DESC(kind, kinds, desc);

/* Octets after the payload are left to the parser. */
static void test_write(struct kunit *test)
{
	const struct kind_case *c = test->param_value;
	struct message *m = new_write(test);
	struct kwarp_engine *e;
	u32 cut, runs;

	for (cut = m->at + 1; cut < m->end; cut++) {
		for (runs = 1; runs <= 2; runs++) {
			e = begin(test, m, c->kind);
			KUNIT_ASSERT_EQ(test, place(e, m, m->at, cut - m->at), cut - m->at);
			if (runs == 2)
				kwarp_rx_end_run(e);
			KUNIT_ASSERT_EQ(test, place(e, m, cut, LEN - cut), m->end - cut);
			KUNIT_ASSERT_EQ(test, place(e, m, m->end, LEN - m->end), 0);
			KUNIT_EXPECT_EQ(test, e->stats.s.rx.fpdus, 0);
			kwarp_rx_feed(e, m->wire + m->end, m->len - m->end);
			KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_NONE);
			KUNIT_EXPECT_EQ(test, e->stats.s.rx.fpdus, 1);
			KUNIT_EXPECT_EQ(test, e->stats.s.rx.octets, PAYLOAD);
			KUNIT_EXPECT_EQ(test, e->stats.s.rx.split, 1);
			expect_placed(test, m, 0, 0, PAYLOAD);
			expect_nothing_else(test);
			kwarp_rx_end_run(e);
			KUNIT_EXPECT_EQ(test, rx_lookups, runs);
		}
	}
}

static void test_turns(struct kunit *test)
{
	const struct kind_case *c = test->param_value;
	struct message *m = new_write(test);
	u32 each, at, n;

	for (each = 1; each < PAYLOAD; each++) {
		struct kwarp_engine *e = begin(test, m, c->kind);
		bool skb = each & 1;

		for (at = m->at; at < m->end; at += n, skb = !skb) {
			n = min(each, m->end - at);
			if (skb)
				KUNIT_ASSERT_EQ(test, place(e, m, at, n), n);
			else
				kwarp_rx_feed(e, m->wire + at, n);
		}
		kwarp_rx_feed(e, m->wire + at, m->len - at);
		KUNIT_EXPECT_EQ(test, e->stats.s.rx.fpdus, 1);
		KUNIT_EXPECT_EQ(test, e->stats.s.rx.split, 1);
		expect_placed(test, m, 0, 0, PAYLOAD);
		expect_nothing_else(test);
		kwarp_rx_end_run(e);
	}
}

static const struct kwarp_sge sges[] = {
	{ .addr = VA + 200, .length = 40, .lkey = STAG },
	{ .addr = VA + 500, .length = 0, .lkey = STAG },
	{ .addr = VA + 50, .length = 70, .lkey = STAG },
};

/* Post a receive with these elements, of which the third has the key @lkey. */
static void post(struct rx_test *t, u64 id, u32 lkey)
{
	struct kwarp_rqe *rqe = kwarp_ring_slot(&t->rq.ring, t->rq.ring.hdr->prod++);
	struct kwarp_sge *sge = (struct kwarp_sge *)(rqe + 1);

	*rqe = (struct kwarp_rqe) { .id = id, .num_sge = ARRAY_SIZE(sges) };
	memcpy(sge, sges, sizeof(sges));
	sge[2].lkey = lkey;
}

/* The receive has three elements, one of them empty. */
static void test_receive(struct kunit *test)
{
	struct message *m = new_untagged(test, KWARP_OP_SEND, KWARP_QN_SEND, PAYLOAD);
	struct rx_test *t = test->priv;
	struct kwarp_engine *e;
	u32 cut, how;

	for (cut = m->at; cut < m->end; cut++) {
		for (how = 0; how < 2; how++) {
			post(t, cut, STAG);
			e = begin(test, m, KWARP_MR_USER);
			if (how)
				kwarp_rx_feed(e, m->wire + m->at, cut - m->at);
			else
				KUNIT_ASSERT_EQ(test, place(e, m, m->at, cut - m->at), cut - m->at);
			KUNIT_ASSERT_EQ(test, place(e, m, cut, LEN - cut), m->end - cut);
			test_cq_none(test, t->cq);
			kwarp_rx_feed(e, m->wire + m->end, m->len - m->end);
			rx_expect_done(test, cut);
			expect_placed(test, m, 200, 0, 40);
			expect_placed(test, m, 50, 40, PAYLOAD - 40);
			expect_nothing_else(test);
			kwarp_rx_end_run(e);
		}
	}
}

/* ------------------------------------------------------------------- errors */

/* The third element of a receive has a wrong key: octets are placed only in those before it. */
static void test_receive_refused(struct kunit *test)
{
	struct message *m = new_untagged(test, KWARP_OP_SEND, KWARP_QN_SEND, PAYLOAD);
	struct rx_test *t = test->priv;
	struct kwarp_engine *e;

	post(t, 7, STAG ^ 1);
	e = begin(test, m, KWARP_MR_USER);
	KUNIT_EXPECT_EQ(test, place(e, m, m->at, 40), 40);
	KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, place(e, m, m->at + 40, LEN - m->at - 40), PAYLOAD - 40);
	KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_LOCAL);
	expect_placed(test, m, 200, 0, 40);
	expect_nothing_else(test);
	kwarp_rx_end_run(e);
	kwarp_rx_flush(e);
	test_cq_expect(test, t->cq, 7, KWARP_WC_RECV, KWARP_WC_LOC_PROT_ERR);
}

static void keep(struct rx_test *t)
{
}

static void deregister(struct rx_test *t)
{
	rx_the_mr = NULL;
}

static void invalidate(struct rx_test *t)
{
	t->mr.valid = false;
}

static void take_right(struct rx_test *t)
{
	t->mr.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ;
}

static const struct change {
	const char *desc;
	enum kwarp_mr_kind kind;
	void (*what)(struct rx_test *t);
	bool run_ends;
	bool refused;
} changes[] = {
	{ "user, nothing", KWARP_MR_USER, keep, true, false },
	{ "user, deregistered", KWARP_MR_USER, deregister, true, true },
	{ "user, another with fewer rights", KWARP_MR_USER, take_right, true, true },
	{ "fast, nothing", KWARP_MR_FAST, keep, true, false },
	{ "fast, invalidated", KWARP_MR_FAST, invalidate, true, true },
	{ "fast, invalidated within the run", KWARP_MR_FAST, invalidate, false, true },
	/* Deregistration waits for the end of the receive run. */
	{ "user, being deregistered within the run", KWARP_MR_USER, deregister, false, false },
};

KUNIT_ARRAY_PARAM_DESC(change, changes, desc);

/* 5041-7.1-13, 5040-8.1.1-6: if the region is revoked, no further octet is placed. */
static void test_change(struct kunit *test)
{
	const struct change *c = test->param_value;
	struct message *m = new_write(test);
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = begin(test, m, c->kind);

	memset(t->a.raw, 0, sizeof(t->a.raw));
	KUNIT_EXPECT_EQ(test, place(e, m, m->at, 10), 10);
	if (c->run_ends)
		kwarp_rx_end_run(e);
	c->what(t);
	KUNIT_EXPECT_EQ(test, place(e, m, m->at + 10, LEN - m->at - 10), PAYLOAD - 10);
	expect_placed(test, m, 0, 0, c->refused ? 10 : PAYLOAD);
	expect_nothing_else(test);
	KUNIT_EXPECT_EQ(test, e->perr, c->refused ? KWARP_PERR_DDP_T_STAG : KWARP_PERR_NONE);
	if (c->refused) {
		KUNIT_EXPECT_MEMEQ(test, t->a.raw, m->wire + 2, sizeof(t->a.raw));
		KUNIT_EXPECT_EQ(test, t->a.seg_len, m->end - 2);
	}
	KUNIT_EXPECT_EQ(test, place(e, m, m->end, LEN - m->end), 0);
	kwarp_rx_end_run(e);
}

/* If octets of the skb cannot be read, the stream is lost, without a Terminate. */
static void test_unreadable(struct kunit *test)
{
	struct message *m[2] = {
		new_write(test), new_untagged(test, KWARP_OP_SEND, KWARP_QN_SEND, PAYLOAD),
	};
	struct rx_test *t = test->priv;
	struct kwarp_engine *e;
	u32 i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			if (m[i]->at == KWARP_MPA_LEN_FIELD + KWARP_DDP_UNTAGGED_LEN)
				post(t, 0, STAG);
			e = begin(test, m[i], kinds[k].kind);
			t->a.seg_len = 1;
			m[i]->skb->unreadable = true;
			KUNIT_EXPECT_EQ(test, place(e, m[i], m[i]->at, LEN), PAYLOAD);
			m[i]->skb->unreadable = false;
			KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_MPA_LOST);
			KUNIT_EXPECT_EQ_MSG(test, t->a.seg_len, 1, "a Terminate is sent");
			KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_STOP, &e->flags));
			expect_nothing_else(test);
			KUNIT_EXPECT_EQ(test, place(e, m[i], m[i]->at, LEN), 0);
			kwarp_rx_end_run(e);
		}
	}
}

/* -------------------------------------------------- octets for the parser only */

static void expect_untouched(struct kunit *test, struct kwarp_engine *e, const struct message *m,
			     u32 at)
{
	struct kwarp_fpdu_rx before = e->rx.fpdu;
	enum kwarp_perr perr = e->perr;

	KUNIT_EXPECT_EQ(test, place(e, m, at, LEN - at), 0);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&e->rx.fpdu, (u8 *)&before, sizeof(before));
	KUNIT_EXPECT_EQ(test, e->perr, perr);
	expect_nothing_else(test);
}

/* After an error, or a local end, nothing is placed (5041-7.1-22). */
static void test_stop(struct kunit *test)
{
	struct message *m = new_write(test);
	struct kwarp_engine *e = begin(test, m, KWARP_MR_USER);

	set_bit(KWARP_E_RX_STOP, &e->flags);
	expect_untouched(test, e, m, m->at);
	clear_bit(KWARP_E_RX_STOP, &e->flags);
	KUNIT_EXPECT_EQ(test, place(e, m, m->at, LEN - m->at), PAYLOAD);
	expect_placed(test, m, 0, 0, PAYLOAD);
	expect_untouched(test, e, m, m->end);
	kwarp_rx_feed(e, m->wire + m->end, m->len - m->end);
	expect_untouched(test, e, m, m->len);
	kwarp_rx_end_run(e);
}

/* A Read Request and a Terminate are for the engine itself: the parser passes on their payload. */
static void test_small(struct kunit *test)
{
	struct message *m[2] = {
		new_untagged(test, KWARP_OP_RREQ, KWARP_QN_RREQ, KWARP_RDMAP_RREQ_LEN),
		new_untagged(test, KWARP_OP_TERM, KWARP_QN_TERM, 20),
	};
	struct kwarp_engine *e;
	u32 i;

	for (i = 0; i < 2; i++) {
		e = begin(test, m[i], KWARP_MR_USER);
		KUNIT_EXPECT_EQ(test, e->rx.target, KWARP_RXT_SMALL);
		KUNIT_EXPECT_GT(test, kwarp_fpdu_rx_payload_left(&e->rx.fpdu), 0);
		expect_untouched(test, e, m[i], m[i]->at);
		KUNIT_EXPECT_EQ(test, e->rx.small_have, 0);
		kwarp_rx_end_run(e);
	}
}

static struct kunit_case rx_place_cases[] = {
	KUNIT_CASE_PARAM(test_write, kind_gen_params),
	KUNIT_CASE_PARAM(test_turns, kind_gen_params),
	KUNIT_CASE(test_receive),
	KUNIT_CASE(test_receive_refused),
	KUNIT_CASE_PARAM(test_change, change_gen_params),
	KUNIT_CASE(test_unreadable),
	KUNIT_CASE(test_stop),
	KUNIT_CASE(test_small),
	{}
};

static struct kunit_suite rx_place_suite = {
	.name = "kwarp_rx_place",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_place_cases,
};

kunit_test_suite(rx_place_suite);
