// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of FPDUs as the transmitter builds them, octet by octet against a second implementation
 * that shares no arithmetic with the transmitter; and messages that cannot be built.
 */
#include "tx_build_fixture.h"

#include "../../proto/tests/emit.h"

static void from_buf(struct build_test *t, u32 off)
{
	t->e.tx.msg.kind = KWARP_TXK_TERM;
	t->e.tx.msg.src = KWARP_SRC_BUF;
	t->e.tx.msg.buf = t->mem + off;
}

static void begin(struct build_test *t, u32 off, u32 len)
{
	struct kwarp_tx_msg *m = &t->e.tx.msg;
	u32 rnd = prandom_u32_state(&build_lower.rnd);

	memset(m, 0, sizeof(*m));
	m->left = len;
	m->hdr.opcode = rnd & 7;
	m->hdr.tagged = rnd & 8;
	m->hdr.stag = rnd;
	if (m->hdr.tagged) {
		m->hdr.to = U64_MAX - rnd / 2;
	} else {
		m->hdr.qn = rnd >> 8 & 3;
		m->hdr.msn = rnd >> 4;
	}
	if (rnd >> 16 & 1)
		build_from_sgl(t, off, len);
	else if (rnd >> 17 & 1)
		from_buf(t, off);
	else
		build_from_region(t, off, len);
}

/* ---------------------------------------------------------- expected octets */

KUNIT_ARRAY_PARAM_DESC(plan, build_plans, desc);

/* Number of markers in two rare positions: the test checks that each has occurred. */
struct met {
	u32 between;
	u32 before_crc;
};

static void expect_fpdu(struct kwarp_emit *w, const struct plan *c, const u8 *ulpdu,
			u32 len, struct met *met)
{
	met->between += w->off % 512 == 0;
	kwarp_emit_fpdu(w, ulpdu, len, 0);
	met->before_crc += (w->off - 8) % 512 == 0;
	if (!c->crc)
		memset(w->buf + w->len - 4, 0, 4);
}

/* Write the octets that are expected of the next message to @w (RFC 5041 section 5.2). */
static void expect_message(struct build_test *t, struct kwarp_emit *w, const struct plan *c,
			   const u8 *payload, struct met *met)
{
	const struct kwarp_ddp_hdr *h = &t->e.tx.msg.hdr;
	u32 hdr = h->tagged ? 14 : 18, len = t->e.tx.msg.left, at = 0, n;
	u8 *u = t->ulpdu;

	do {
		n = min(c->mulpdu - hdr, len - at);
		u[0] = (h->tagged ? 0x80 : 0) | (at + n == len ? 0x40 : 0) | 1;
		u[1] = 0x40 | h->opcode;
		put_unaligned_be32(h->stag, u + 2);
		if (h->tagged) {
			put_unaligned_be64(h->to + at, u + 6);
		} else {
			put_unaligned_be32(h->qn, u + 6);
			put_unaligned_be32(h->msn, u + 10);
			put_unaligned_be32(at, u + 14);
		}
		memcpy(u + hdr, payload + at, n);
		expect_fpdu(w, c, u, hdr + n, met);
		at += n;
	} while (at < len);
}

/* Start a new batch, as when TCP has accepted all of the present one. */
static void flush(struct kwarp_batch *b)
{
	build_lower.wire += b->len;
	b->len = 0;
}

/*
 * 5044-5.1-4, -5: unless the FPDU begins a segment, it ends in the segment in which it begins. If
 * the previous batch left @room octets of its last segment unused, the FPDU was too long for them.
 */
static void expect_aligned(struct kunit *test, u32 cut, u32 begin, u32 end, u32 room)
{
	if (begin % cut)
		KUNIT_EXPECT_EQ(test, begin / cut, (end - 1) / cut);
	KUNIT_EXPECT_GT(test, end - begin, room);
}

static void build(struct kunit *test)
{
	struct build_test *t = test->priv;
	struct kwarp_batch *b = &t->e.tx.batch;
	u32 before = build_lower.built, begin, room = 0;

	while (build_lower.built == before) {
		begin = b->len;
		b->frag.size = prandom_u32_state(&build_lower.rnd) % 20000;
		if (kwarp_tx_build_series(&t->e)) {
			KUNIT_ASSERT_LE(test, b->len - begin, b->frag.size);
			build_lower.series++;
			continue;
		}
		if (kwarp_tx_build(&t->e)) {
			if (b->cut)
				expect_aligned(test, b->cut, begin, b->len, room);
			room = 0;
			continue;
		}
		KUNIT_ASSERT_EQ(test, b->len, begin);
		if (!t->e.tx.no_memory && b->cut && begin % b->cut) {
			room = b->cut - begin % b->cut;
			flush(b);
			continue;
		}
		/* Nothing was built. The only allowed reason is lack of memory: try again. */
		KUNIT_ASSERT_TRUE(test, t->e.tx.no_memory);
		KUNIT_ASSERT_EQ(test, build_lower.perr, KWARP_PERR_NONE);
		t->e.tx.no_memory = false;
	}
}

/*
 * Build a stream of random messages: all octets are as expected (5044-4.1-1, -3; 5044-4.3-4, -5,
 * -10 to -15; 5044-4.4-14 to -17; 5041-5.2-1, -2, -7, -10, -12; 5044-5.1-4, -5).
 */
static void test_stream(struct kunit *test)
{
	const struct plan *c = test->param_value;
	struct build_test *t = test->priv;
	struct kwarp_emit w = {
		.buf = t->want, .size = WIRE_MAX, .off = c->off, .markers = c->markers,
	};
	struct met met = {};
	u32 len, off;

	build_start(t, c);
	while (w.len + 2 * c->most + 5000 < WIRE_MAX) {
		len = prandom_u32_state(&build_lower.rnd) % (c->most + 1);
		if (len % 16 == 0)
			len = 0;
		off = prandom_u32_state(&build_lower.rnd) % (MEM_LEN - len);
		begin(t, off, len);
		expect_message(t, &w, c, t->mem + off, &met);
		build(test);
	}
	flush(&t->e.tx.batch);
	KUNIT_ASSERT_EQ(test, build_lower.wire - build_lower.first, w.len);
	KUNIT_EXPECT_MEMEQ(test, build_lower.first, t->want, w.len);
	KUNIT_EXPECT_EQ(test, t->e.tx.off, w.off);
	if (c->markers && c->most < 100000) {
		KUNIT_EXPECT_GT(test, met.between, 3);
		KUNIT_EXPECT_GT(test, met.before_crc, 0);
	}
	if (c->short_every)
		KUNIT_EXPECT_GT(test, build_lower.asked, 20 * c->short_every);
	if (c->markers || c->cut || c->most < 3 * c->mulpdu)
		KUNIT_EXPECT_EQ(test, build_lower.series, 0);
	else
		KUNIT_EXPECT_GT(test, build_lower.series, 20);
}

/* ----------------------------------------------------------------- failures */

static void expect_no_trace(struct kunit *test, u32 len, u32 off)
{
	struct build_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, kwarp_tx_build(&t->e));
	KUNIT_EXPECT_FALSE(test, t->e.tx.no_memory);
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.kind, KWARP_TXK_NONE);
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.len, len);
	KUNIT_EXPECT_EQ(test, t->e.tx.off, off);
}

/* 5040-4.8-21, -22: the Terminate names the part of the Read that is left. */
static void test_response_gone(struct kunit *test)
{
	struct build_test *t = test->priv;
	u32 segs, done, len, off;
	struct kwarp_rreq req;

	for (segs = 0; segs < 3; segs++) {
		build_make_region(t);
		build_start(t, &build_plans[segs]);
		t->e.tx.batch.len = 0;
		build_from_region(t, 1000, 5000);
		t->e.tx.msg.left = 5000;
		t->e.tx.msg.hdr = (struct kwarp_ddp_hdr){ .tagged = true, .opcode = 2 };
		for (done = 0; done < segs * 1428; done += 1428)
			KUNIT_ASSERT_TRUE(test, kwarp_tx_build(&t->e));
		len = t->e.tx.batch.len;
		off = t->e.tx.off;
		t->mr.valid = false;
		expect_no_trace(test, len, off);
		KUNIT_EXPECT_EQ(test, build_lower.perr, KWARP_PERR_R_STAG);
		KUNIT_EXPECT_EQ(test, build_lower.seg_len, 46);
		KUNIT_ASSERT_TRUE(test, build_lower.has_rreq);
		kwarp_rreq_decode(build_lower.rreq, &req);
		KUNIT_EXPECT_EQ(test, req.sink_stag, 0x2200);
		KUNIT_EXPECT_EQ(test, req.sink_to, 0x10000 + done);
		KUNIT_EXPECT_EQ(test, req.size, 5000 - done);
		KUNIT_EXPECT_EQ(test, req.src_stag, STAG);
		KUNIT_EXPECT_EQ(test, req.src_to, VA + 1000 + done);
	}
}

/* 5040-7.1-2: the request fails, and the Terminate names no message of the peer. */
static void test_request_gone(struct kunit *test)
{
	struct build_test *t = test->priv;

	build_start(t, &build_plans[1]);
	t->e.tx.msg.left = 5000;
	build_from_sgl(t, 1000, 5000);
	KUNIT_ASSERT_TRUE(test, kwarp_tx_build(&t->e));
	t->mr.valid = false;
	expect_no_trace(test, t->e.tx.batch.len, t->e.tx.off);
	KUNIT_EXPECT_EQ(test, build_lower.status, KWARP_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, build_lower.perr, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_FALSE(test, build_lower.has_rreq);
}

/*
 * If all pieces of memory are in use, kwarp_tx_build() does not report lack of memory: the FPDU
 * begins the next batch.
 */
static void test_batch_full(struct kunit *test)
{
	struct build_test *t = test->priv;
	u32 off, full;

	for (full = 0; full < 2; full++) {
		build_start(t, &build_plans[1]);
		/* With markers an FPDU is built in pieces, so it needs free pieces of the batch. */
		t->e.tx.markers = true;
		t->e.tx.msg.left = 5000;
		build_from_sgl(t, 1000, 5000);
		t->e.tx.batch.n = full ? KWARP_BATCH_BVECS : KWARP_BATCH_BVECS - 1;
		build_lower.short_every = 1;
		off = t->e.tx.off;
		KUNIT_EXPECT_FALSE(test, kwarp_tx_build(&t->e));
		KUNIT_EXPECT_EQ(test, t->e.tx.no_memory, !full);
		KUNIT_EXPECT_NE(test, t->e.tx.msg.kind, KWARP_TXK_NONE);
		KUNIT_EXPECT_EQ(test, t->e.tx.off, off);
		KUNIT_EXPECT_EQ(test, t->e.tx.msg.left, 5000);
	}
}

/* An empty batch accepts the first FPDU of a request, even if its regions use up the references. */
static void test_many_regions(struct kunit *test)
{
	struct build_test *t = test->priv;
	struct kwarp_batch *b = &t->e.tx.batch;

	build_start(t, &build_plans[0]);
	t->e.tx.msg.left = 100;
	build_from_sgl(t, 1000, 100);
	b->nmr = KWARP_BATCH_MRS;
	b->len = 40;
	KUNIT_EXPECT_FALSE_MSG(test, kwarp_tx_build(&t->e), "some may have found no place");
	KUNIT_EXPECT_FALSE(test, t->e.tx.no_memory);
	KUNIT_EXPECT_NE(test, t->e.tx.msg.kind, KWARP_TXK_NONE);
	b->nmr = KWARP_BATCH_MRS - 1;
	b->len = 0;
	KUNIT_EXPECT_TRUE(test, kwarp_tx_build(&t->e));
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.kind, KWARP_TXK_NONE);
}

static struct kunit_case tx_build_cases[] = {
	KUNIT_CASE_PARAM(test_stream, plan_gen_params),
	KUNIT_CASE(test_many_regions),
	KUNIT_CASE(test_response_gone),
	KUNIT_CASE(test_request_gone),
	KUNIT_CASE(test_batch_full),
	{}
};

static struct kunit_suite tx_build_suite = {
	.name = "kwarp_tx_build",
	.init = build_test_init,
	.test_cases = tx_build_cases,
};

kunit_test_suite(tx_build_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's engine");
MODULE_LICENSE("Dual BSD/GPL");
