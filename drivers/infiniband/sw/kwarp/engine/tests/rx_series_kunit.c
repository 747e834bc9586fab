// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side: series of segments. Series: FPDUs in the middle of a long message
 * whose headers can be predicted, so that they are processed without the parser (rx/series.c).
 */
#include "rx_fixture.h"

#include "../../tests/doors.h"
#include "../rx/rx.h"

#define SEGMENTS	6
#define LONGEST		(SEGMENTS * 128)

static const struct series_case {
	const char *desc;
	u8 opcode;
	u32 payload;
	bool crc;
	enum kwarp_mr_kind kind;
	u32 region;	/* length of the region */
	u32 room;	/* length of the receive, or of the Read */
	u32 taken;	/* segments that the series code accepts; never the first and the last */
	enum kwarp_perr err;
	u32 split[2];	/* lengths of the first two elements of a receive that has three */
} series_cases[] = {
	{ "Write", KWARP_OP_WRITE, 100, false, KWARP_MR_USER, LONGEST, 0,
	  4, KWARP_PERR_NONE },
	{ "Write, CRC", KWARP_OP_WRITE, 100, true, KWARP_MR_USER, LONGEST, 0,
	  4, KWARP_PERR_NONE },
	{ "Write, pad", KWARP_OP_WRITE, 99, true, KWARP_MR_USER, LONGEST, 0,
	  4, KWARP_PERR_NONE },
	{ "Write, fast region", KWARP_OP_WRITE, 100, false, KWARP_MR_FAST, LONGEST, 0,
	  4, KWARP_PERR_NONE },
	{ "Write, region ends", KWARP_OP_WRITE, 100, false, KWARP_MR_USER, 350, 0,
	  2, KWARP_PERR_DDP_T_BOUNDS },
	{ "Write, fast region ends", KWARP_OP_WRITE, 100, true, KWARP_MR_FAST, 350, 0,
	  2, KWARP_PERR_DDP_T_BOUNDS },
	{ "Response", KWARP_OP_RRESP, 100, false, KWARP_MR_USER, LONGEST, 600,
	  4, KWARP_PERR_NONE },
	{ "Response, CRC", KWARP_OP_RRESP, 100, true, KWARP_MR_USER, LONGEST, 600,
	  4, KWARP_PERR_NONE },
	{ "Response, complete before its last", KWARP_OP_RRESP, 100, false, KWARP_MR_USER, LONGEST,
	  500, 3, KWARP_PERR_DDP_T_BOUNDS },
	{ "Response, longer than asked for", KWARP_OP_RRESP, 100, true, KWARP_MR_USER, LONGEST, 450,
	  3, KWARP_PERR_DDP_T_BOUNDS },
	{ "Response, shorter", KWARP_OP_RRESP, 100, false, KWARP_MR_USER, LONGEST, 601,
	  4, KWARP_PERR_DDP_T_BOUNDS },
	{ "Response, region ends", KWARP_OP_RRESP, 100, false, KWARP_MR_USER, 350, 600,
	  2, KWARP_PERR_DDP_T_BOUNDS },
	{ "Send", KWARP_OP_SEND, 100, false, KWARP_MR_USER, LONGEST, 600,
	  4, KWARP_PERR_NONE },
	{ "Send, CRC", KWARP_OP_SEND, 100, true, KWARP_MR_FAST, LONGEST, 700,
	  4, KWARP_PERR_NONE },
	{ "Send, longer than the receive", KWARP_OP_SEND, 100, false, KWARP_MR_USER, LONGEST, 450,
	  3, KWARP_PERR_DDP_U_LONG },
	{ "Send, region ends", KWARP_OP_SEND, 100, true, KWARP_MR_USER, 350, 600,
	  2, KWARP_PERR_LOCAL },
	{ "Response, all memory", KWARP_OP_RRESP, 100, false, KWARP_MR_DMA, 0, 600,
	  4, KWARP_PERR_NONE },
	{ "Send, several elements", KWARP_OP_SEND, 100, true, KWARP_MR_USER, LONGEST, 600,
	  4, KWARP_PERR_NONE, { 150, 201 } },
	{ "Send, elements end as segments", KWARP_OP_SEND, 100, false, KWARP_MR_FAST, LONGEST, 600,
	  4, KWARP_PERR_NONE, { 100, 200 } },
	{ "Send, an empty element", KWARP_OP_SEND, 100, false, KWARP_MR_USER, LONGEST, 600,
	  4, KWARP_PERR_NONE, { 250, 0 } },
	{ "Send, longer than all elements", KWARP_OP_SEND, 100, false, KWARP_MR_USER, LONGEST, 450,
	  3, KWARP_PERR_DDP_U_LONG, { 150, 201 } },
	{ "Send, region ends in an element", KWARP_OP_SEND, 100, true, KWARP_MR_USER, 350, 600,
	  2, KWARP_PERR_LOCAL, { 210, 100 } },
};

KUNIT_ARRAY_PARAM_DESC(series, series_cases, desc);

/* What must be the same with and without the series code */
struct traces {
	u8 mem[LONGEST];
	enum kwarp_perr perr;
	u16 seg_len;
	u8 raw[14];
	bool tagged_open;
	u32 off, mo, sge, sge_off, left, received;
	u64 to;
};

/* As the peer names it: for the region of all memory the address in this machine's memory */
static u64 series_va(const struct rx_test *t, const struct series_case *c)
{
	return c->kind == KWARP_MR_DMA ? (uintptr_t)t->mem : VA;
}

/* @ends: for each segment, where its FPDU ends in @wire */
static u32 make_long(const struct rx_test *t, const struct series_case *c, u8 *wire, u32 size,
		     u32 ends[SEGMENTS])
{
	struct kwarp_emit w = { .buf = wire, .size = size };
	bool tagged = c->opcode != KWARP_OP_SEND;
	u32 i, hdr = kwarp_ddp_len(tagged);
	u8 u[128];

	for (i = 0; i < SEGMENTS; i++) {
		memset(u, 0, sizeof(u));
		u[0] = (tagged ? 0x81 : 0x01) | (i + 1 == SEGMENTS ? 0x40 : 0);
		u[1] = 0x40 | c->opcode;
		if (tagged) {
			put_unaligned_be32(STAG, u + 2);
			put_unaligned_be64(series_va(t, c) + i * c->payload, u + 6);
		} else {
			put_unaligned_be32(1, u + 10);
			put_unaligned_be32(i * c->payload, u + 14);
		}
		memset(u + hdr, 0x30 + i, c->payload);
		kwarp_emit_fpdu(&w, u, hdr + c->payload, 0);
		ends[i] = w.len;
	}
	return w.len;
}

static void post_series(const struct series_case *c, struct kwarp_rq *rq)
{
	struct kwarp_rqe *rqe = kwarp_ring_slot(&rq->ring, rq->ring.hdr->prod++);
	struct kwarp_sge *sge = (struct kwarp_sge *)(rqe + 1);
	u32 first = c->split[0], second = c->split[1], rest = c->room - first - second;

	*rqe = (struct kwarp_rqe) { .num_sge = first ? 3 : 1 };
	if (first) {
		*sge++ = (struct kwarp_sge) { .addr = VA, .length = first, .lkey = STAG };
		*sge++ = (struct kwarp_sge) { .addr = VA + first, .length = second, .lkey = STAG };
	}
	*sge = (struct kwarp_sge) { .addr = VA + first + second, .length = rest, .lkey = STAG };
}

static void prepare_series(struct kunit *test, const struct series_case *c, struct stream *s)
{
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &s->e;

	rx_make_region(t);
	t->mr.kind = c->kind;
	t->mr.length = c->region;
	memset(t->mem, 0, sizeof(t->mem));
	kwarp_rx_init(e, c->crc, false);
	e->flags = BIT(KWARP_E_TX_OPEN);
	e->perr = KWARP_PERR_NONE;
	memset(s->raw, 0, sizeof(s->raw));
	s->seg_len = 0;
	e->sink_rights = kwarp_sink_rights(false);
	e->rx.sge = 0;
	e->rx.sge_off = 0;
	e->oread.head = e->oread.tail;
	if (c->opcode == KWARP_OP_RRESP) {
		*kwarp_oread_tail(&e->oread) = (struct kwarp_oread) {
			.rtr = true, .stag = STAG, .to = series_va(t, c), .left = c->room,
		};
		kwarp_readq_push(&e->oread);
	}
	if (c->opcode == KWARP_OP_SEND)
		post_series(c, &t->rq);
}

/* How a message is fed: without the series code; with it; with it, a run for each FPDU. */
enum way { PARSER, SERIES, RUNS };

/* Each FPDU comes in two pieces, so that the parser processes it, unless the series code does. */
static u32 feed_long(struct stream *s, const u8 *wire, u32 len, const u32 ends[SEGMENTS],
		     enum way way)
{
	struct kwarp_engine *e = &s->e;
	u32 at = 0, i = 0, k, crc, taken = 0, used, most;

	while (at < len && !test_bit(KWARP_E_RX_STOP, &e->flags)) {
		if (way == RUNS)
			kwarp_rx_end_run(e);
		for (k = 0; ends[k] <= at; k++)
			;
		most = way == RUNS ? ends[k] - at : len - at;
		used = way == PARSER ? 0 : kwarp_rx_accept_series(e, wire + at, most);
		taken += used;
		at += used;
		while (ends[i] < at)
			i++;
		if (used)
			continue;
		while (ends[i] <= at)
			i++;
		for (k = at, crc = ~0; k < ends[i] - 4; k++)
			crc = kwarp_emit_crc_octet(crc, wire[k]);
		if (e->rx.fpdu.check_crc)
			kwarp_fpdu_rx_verify(&e->rx.fpdu, crc, wire + ends[i] - 4);
		kwarp_rx_feed(e, wire + at, 5);
		kwarp_rx_feed(e, wire + at + 5, ends[i] - at - 5);
		at = ends[i];
	}
	return taken;
}

static void take_traces(struct rx_test *t, struct stream *s, struct traces *tr)
{
	const struct kwarp_oread *r = kwarp_oread_head(&s->e.oread);

	memset(tr, 0, sizeof(*tr));
	memcpy(tr->mem, t->mem, sizeof(tr->mem));
	tr->perr = s->e.perr;
	tr->seg_len = s->seg_len;
	memcpy(tr->raw, s->raw, sizeof(tr->raw));
	tr->tagged_open = s->e.rx.tagged_open;
	tr->off = s->e.rx.fpdu.off;
	tr->mo = s->e.rx.q[KWARP_QN_SEND].mo;
	tr->sge = s->e.rx.sge;
	tr->sge_off = s->e.rx.sge_off;
	tr->received = s->e.rx.q[KWARP_QN_SEND].msn;
	if (!kwarp_readq_empty(&s->e.oread)) {
		tr->left = r->left;
		tr->to = r->to;
	}
}

/*
 * The octet at @at is damaged: it is XORed with @x. If @at is beyond the end, the message is right.
 * Return: octets that the series code has used.
 */
static u32 compare_ways(struct kunit *test, const struct series_case *c, enum way way, u32 at,
			u8 x)
{
	struct rx_test *t = test->priv;
	struct traces *tr = kunit_kcalloc(test, 2, sizeof(*tr), GFP_KERNEL);
	u8 wire[SEGMENTS * 128];
	u32 ends[SEGMENTS], len = make_long(t, c, wire, sizeof(wire), ends), taken;

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_ASSERT_LE(test, len, sizeof(wire));
	if (at < len)
		wire[at] ^= x;
	prepare_series(test, c, &t->a);
	taken = feed_long(&t->a, wire, len, ends, way);
	take_traces(t, &t->a, &tr[0]);
	kwarp_rx_end_run(&t->a.e);
	prepare_series(test, c, &t->b);
	feed_long(&t->b, wire, len, ends, PARSER);
	take_traces(t, &t->b, &tr[1]);
	kwarp_rx_end_run(&t->b.e);
	KUNIT_EXPECT_MEMEQ_MSG(test, &tr[0], &tr[1], sizeof(*tr), "octet %u, xor %#x", at, x);
	if (at >= len)
		KUNIT_EXPECT_EQ(test, tr[0].perr, c->err);
	kwarp_rq_reset(&t->rq);
	while (test_cq_pop(t->cq))
		;
	kunit_kfree(test, tr);
	return taken;
}

/* 5041-7.1-13, 5040-5.2.2-9, 5041-7.1-9, 5044-6-1: the message is right or damaged. */
static void test_series(struct kunit *test)
{
	const struct series_case *c = test->param_value;
	struct rx_test *t = test->priv;
	u32 fpdu = kwarp_mpa_fpdu_len(kwarp_ddp_len(c->opcode != KWARP_OP_SEND) + c->payload);
	u32 k, bit;

	t->a.e.sq = kunit_kzalloc(test, sizeof(*t->a.e.sq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->a.e.sq);
	t->a.e.sq->cq = &t->cq->cq;
	t->b.e.sq = t->a.e.sq;
	KUNIT_EXPECT_EQ(test, compare_ways(test, c, SERIES, U32_MAX, 0), c->taken * fpdu);
	KUNIT_EXPECT_EQ(test, compare_ways(test, c, RUNS, U32_MAX, 0), c->taken * fpdu);
	/*
	 * Damage each bit of the third FPDU in its first 20 octets (length field, headers) and in
	 * its last 8 (end of the payload, pad, CRC).
	 */
	for (k = 0; k < fpdu; k++)
		if (k < 20 || k >= fpdu - 8)
			for (bit = 0; bit < 8; bit++) {
				compare_ways(test, c, SERIES, 2 * fpdu + k, 1 << bit);
				compare_ways(test, c, RUNS, 2 * fpdu + k, 1 << bit);
			}
}

/* The series code accepts nothing while the parser is inside an FPDU. */
static void test_series_ends(struct kunit *test)
{
	static const struct series_case c = {
		.opcode = KWARP_OP_WRITE, .payload = 100, .kind = KWARP_MR_USER, .region = LONGEST,
	};
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;
	u8 wire[SEGMENTS * 128];
	u32 ends[SEGMENTS], len = make_long(t, &c, wire, sizeof(wire), ends);

	prepare_series(test, &c, &t->a);
	kwarp_rx_feed(e, wire, ends[0] - 4);
	KUNIT_EXPECT_EQ_MSG(test, kwarp_rx_accept_series(e, wire + ends[0] - 4, len), 0, "inside");
	kwarp_rx_feed(e, wire + ends[0] - 4, 4);
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], ends[1] - ends[0] - 1), 0);
	t->mr.valid = false;
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], len - ends[0]), 0);
	t->mr.valid = true;
	e->access = IB_ACCESS_REMOTE_READ;
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], len - ends[0]), 0);
	e->access = IB_ACCESS_REMOTE_WRITE;
	set_bit(KWARP_E_RX_STOP, &e->flags);
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], len - ends[0]), 0);
	clear_bit(KWARP_E_RX_STOP, &e->flags);
	KUNIT_EXPECT_EQ(test, e->stats.s.rx.predicted, 0);
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], ends[1] - ends[0]),
			ends[1] - ends[0]);
	KUNIT_EXPECT_EQ(test, e->stats.s.rx.predicted, 1);
	KUNIT_EXPECT_EQ(test, e->stats.s.rx.split, 1);
	KUNIT_EXPECT_EQ(test, e->stats.s.rx.fpdus, 2);
	kwarp_rx_end_run(e);
	t->mr.valid = false;
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[1], len - ends[1]), 0);
	kwarp_rx_end_run(e);
	t->mr.valid = true;
	t->mr.access = IB_ACCESS_REMOTE_READ;
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[1], len - ends[1]), 0);
	kwarp_rx_end_run(e);
	t->mr.access = IB_ACCESS_REMOTE_WRITE;
	kwarp_rx_feed(e, wire + ends[1], len - ends[1]);
	KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_NONE);
	/* The message has ended, so the next header cannot be predicted. */
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire, len), 0);
	kwarp_rx_end_run(e);
}

/* Number of segments to be placed until the region becomes invalid. */
static u32 revoke_after;

static enum kwarp_perr place_and_revoke(struct kwarp_engine *e, const u8 *data, u32 len)
{
	enum kwarp_perr ret = kwarp_real(kwarp_rx_place, e, data, len);

	if (!--revoke_after)
		WRITE_ONCE(rx_the_mr->valid, false);
	return ret;
}

/* The series code accepts no further segment, and the parser reports the error. */
static void test_series_revoked(struct kunit *test)
{
	static const struct series_case c = {
		.opcode = KWARP_OP_WRITE, .payload = 100, .kind = KWARP_MR_USER, .region = LONGEST,
	};
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;
	u8 wire[SEGMENTS * 128];
	u32 ends[SEGMENTS], len = make_long(t, &c, wire, sizeof(wire), ends);

	prepare_series(test, &c, &t->a);
	kwarp_rx_feed(e, wire, ends[0]);
	revoke_after = 2;
	kwarp_stub(test, kwarp_rx_place, place_and_revoke);
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], len - ends[0]),
			ends[2] - ends[0]);
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[2], len - ends[2]), 0);
	kwarp_rx_feed(e, wire + ends[2], len - ends[2]);
	KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_DDP_T_STAG);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->mem + 3 * c.payload, 0, LONGEST - 3 * c.payload));
	kwarp_rx_end_run(e);
}

static struct kunit_case rx_series_cases[] = {
	KUNIT_CASE_PARAM(test_series, series_gen_params),
	KUNIT_CASE(test_series_ends),
	KUNIT_CASE(test_series_revoked),
	{}
};

static struct kunit_suite rx_series_suite = {
	.name = "kwarp_rx_series",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_series_cases,
};

kunit_test_suite(rx_series_suite);
