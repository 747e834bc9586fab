// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of FPDUs as the transmitter builds them, octet by octet against a second implementation
 * that shares no arithmetic with it. The code is included. The batch is a stand-in: one flat piece
 * of memory, which grants random amounts and sometimes none.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

/* The real function needs a complete send queue. */
#define kwarp_sq_failed fake_sq_failed
#define kwarp_engine_fail build_engine_fail
#include "../tx/fpdu.c"
#undef kwarp_sq_failed
#include "../tx/series.c"

#include "../../proto/tests/emit.h"

#define SEED		42
#define WIRE_MAX	(1024 * 1024)
#define MEM_LEN		(128 * 1024)
#define STAG		0x12345678U
#define VA		0x7f0000000123ULL
#define MAX_SGES	3

/**
 * struct lower - stand-in for what the code under test calls, and what it was told
 * @wire: octets of the batch
 * @first: octets of the first batch; the others follow it
 * @rnd: random numbers, for the amounts granted
 * @short_every: one in so many requests for memory fails; 0: none fails
 * @asked: requests for memory
 * @mr: the only region
 * @series: how often several FPDUs were built at a time
 * @built: number of complete messages
 * @status: completion status of a failed request
 * @perr: error of a failed stream
 * @seg_len: segment length reported with that error
 * @rreq: Read Request header reported with that error, if @has_rreq
 * @has_rreq: @rreq is set
 */
static struct lower {
	u8 *wire;
	u8 *first;
	struct rnd_state rnd;
	u32 short_every;
	u32 asked;
	struct kwarp_mr *mr;
	u32 series;
	u32 built;
	enum kwarp_wc_status status;
	enum kwarp_perr perr;
	u16 seg_len;
	u8 rreq[KWARP_RDMAP_RREQ_LEN];
	bool has_rreq;
} lower;

/* -------------------------------------------------------------- flat batch */

void kwarp_batch_mark(const struct kwarp_batch *b, struct kwarp_batch_mark *m)
{
	m->len = b->len;
}

void kwarp_batch_rollback(struct kwarp_batch *b, const struct kwarp_batch_mark *m)
{
	/* overwrite what was removed: it must not be sent */
	memset(lower.wire + m->len, 0xa5, b->len - m->len);
	b->len = m->len;
}

u8 *kwarp_batch_frag(struct kwarp_batch *b, u32 want, u32 *got)
{
	if (lower.short_every && ++lower.asked % lower.short_every == 0)
		return NULL;
	*got = min(want, 1 + prandom_u32_state(&lower.rnd) % 1000);
	b->len += *got;
	return lower.wire + b->len - *got;
}

/* Contiguous memory is granted at random. */
u8 *kwarp_batch_whole(struct kwarp_batch *b, u32 len)
{
	if (prandom_u32_state(&lower.rnd) & 1)
		return NULL;
	b->len += len;
	return lower.wire + b->len - len;
}

struct kwarp_mr *kwarp_batch_mr(struct kwarp_batch *b, u32 stag)
{
	return stag >> 8 == STAG >> 8 ? lower.mr : NULL;
}

/* ------------------------------------------------------------------ upwards */

void kwarp_tx_message_built(struct kwarp_engine *e)
{
	e->tx.msg.kind = KWARP_TXK_NONE;
	lower.built++;
}

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	lower.perr = perr;
	lower.seg_len = seg_len;
	lower.has_rreq = rreq;
	if (rreq)
		memcpy(lower.rreq, rreq, sizeof(lower.rreq));
}

void fake_sq_failed(struct kwarp_sq *sq, u32 index, enum kwarp_wc_status status,
		    u16 vendor_err)
{
	lower.status = status;
}

/* ------------------------------------------------------------------ fixture */

struct tx_test {
	struct kwarp_engine e;
	struct kwarp_iread iread;
	struct kwarp_mr mr;
	struct ib_pd pd;
	u8 *chunk;
	u8 *mem;
	u8 *want;
	u8 ulpdu[65536];
};

static void make_region(struct tx_test *t)
{
	t->chunk = t->mem;
	t->mr.kind = KWARP_MR_USER;
	t->mr.valid = true;
	t->mr.stag = STAG;
	t->mr.access = IB_ACCESS_REMOTE_READ;
	t->mr.pd = &t->pd;
	t->mr.va = VA;
	t->mr.length = MEM_LEN;
	t->mr.chunk = &t->chunk;
	t->mr.nchunks = 1;
	t->mr.shift = ilog2(MEM_LEN);
	lower.mr = &t->mr;
}

static int tx_test_init(struct kunit *test)
{
	struct tx_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->e.kdev = kunit_kzalloc(test, sizeof(*t->e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->e.kdev);
	memset(&lower, 0, sizeof(lower));
	prandom_seed_state(&lower.rnd, SEED);
	lower.wire = kunit_kzalloc(test, WIRE_MAX, GFP_KERNEL);
	lower.first = lower.wire;
	t->want = kunit_kzalloc(test, WIRE_MAX, GFP_KERNEL);
	t->mem = kunit_kmalloc(test, MEM_LEN, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, lower.wire && t->want && t->mem);
	for (i = 0; i < MEM_LEN; i++)
		t->mem[i] = 1 + i % 251;
	make_region(t);
	/* The test acts as the runner. */
	atomic_set(&t->e.tx.run, KWARP_RUN_ACTIVE);
	t->e.mem.pd = &t->pd;
	t->e.iread.i = &t->iread;
	test->priv = t;
	return 0;
}

/* ----------------------------------------------------------------- messages */

/* The message is @len octets of memory from @off on, in up to MAX_SGES elements, some empty. */
static void from_sgl(struct tx_test *t, u32 off, u32 len)
{
	struct kwarp_tx *tx = &t->e.tx;
	u32 i, n;

	tx->msg.kind = KWARP_TXK_SQ;
	tx->msg.src = KWARP_SRC_SGL;
	tx->wqe.e.num_sge = len ? MAX_SGES : 0;
	for (i = 0; i < MAX_SGES; i++) {
		n = i + 1 < MAX_SGES ? prandom_u32_state(&lower.rnd) % (len + 1) : len;
		tx->wqe.sge[i] = (struct kwarp_sge){ .addr = VA + off, .length = n, .lkey = STAG };
		off += n;
		len -= n;
	}
}

static void from_buf(struct tx_test *t, u32 off)
{
	t->e.tx.msg.kind = KWARP_TXK_TERM;
	t->e.tx.msg.src = KWARP_SRC_BUF;
	t->e.tx.msg.buf = t->mem + off;
}

static void from_region(struct tx_test *t, u32 off, u32 len)
{
	t->e.tx.msg.kind = KWARP_TXK_ANSWER;
	t->e.tx.msg.src = KWARP_SRC_REGION;
	t->iread = (struct kwarp_iread){
		.sink_stag = 0x2200, .sink_to = 0x10000, .src_stag = STAG,
		.src_to = VA + off, .size = len, .raw_ddp = { 0x41, 0x41 },
	};
}

/* Start a message of @len octets of memory from @off on, of a random kind. */
static void begin(struct tx_test *t, u32 off, u32 len)
{
	struct kwarp_tx_msg *m = &t->e.tx.msg;
	u32 rnd = prandom_u32_state(&lower.rnd);

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
		from_sgl(t, off, len);
	else if (rnd >> 17 & 1)
		from_buf(t, off);
	else
		from_region(t, off, len);
}

/* --------------------------------------------------------- what it must be */

/**
 * struct plan - a stream
 * @desc: name
 * @crc: CRCs are in use
 * @markers: markers are sent
 * @mulpdu: largest ULPDU
 * @off: stream offset of its first octet
 * @most: length of its longest message
 * @short_every: as in struct lower
 * @cut: keep FPDUs aligned to segments of so many octets
 */
struct plan {
	const char *desc;
	bool crc;
	bool markers;
	u32 mulpdu;
	u32 off;
	u32 most;
	u32 short_every;
	u32 cut;
};

static const struct plan plans[] = {
	{ "neither", false, false, 1442, 0, 6000, 0 },
	{ "CRC", true, false, 1442, 0, 6000, 0 },
	{ "CRC, small", true, false, 1442, 0, 100, 0 },
	{ "CRC, least MULPDU", true, false, 128, 0, 1000, 0 },
	{ "CRC, MULPDU with pad", true, false, 1443, 0, 6000, 0 },
	{ "CRC, most MULPDU", true, false, 64768, 0, 100000, 0 },
	{ "CRC, short of memory", true, false, 1442, 0, 6000, 97 },
	{ "markers", false, true, 1430, 0, 6000, 0 },
	{ "markers, CRC", true, true, 1430, 0, 6000, 0 },
	{ "markers, CRC, small", true, true, 1430, 0, 100, 0 },
	{ "markers, CRC, offset wraps", true, true, 1430, 0 - 5120, 3000, 0 },
	{ "markers, CRC, most MULPDU", true, true, 64768, 0, 100000, 0 },
	{ "markers, CRC, short of memory", true, true, 1430, 0, 6000, 97 },
	{ "aligned", true, false, 1442, 0, 6000, 0, 1448 },
	{ "aligned, small", true, false, 1442, 0, 100, 0, 1448 },
	{ "aligned, longer than a segment", true, false, 128, 0, 1000, 0, 88 },
	{ "aligned, segments with a rest", true, false, 1441, 0, 6000, 0, 1449 },
	{ "aligned, short of memory", true, false, 1442, 0, 6000, 97, 1448 },
	{ "aligned, markers", true, true, 1430, 0, 6000, 0, 1448 },
	{ "aligned, markers, small", true, true, 1430, 0, 100, 0, 1448 },
};

KUNIT_ARRAY_PARAM_DESC(plan, plans, desc);

/* Rare positions of a marker; the test checks that each has occurred. */
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

/* Write the octets that are expected of the next message (RFC 5041 section 5.2). */
static void expect_message(struct tx_test *t, struct kwarp_emit *w, const struct plan *c,
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

/* TCP has accepted the batch: start the next. */
static void flush(struct kwarp_batch *b)
{
	lower.wire += b->len;
	b->len = 0;
}

/*
 * An FPDU that does not begin a segment ends in the segment in which it begins (5044-5.1-4, -5). If
 * the batch before ended with @room octets of its last segment unused, the FPDU was longer than
 * that.
 */
static void expect_aligned(struct kunit *test, u32 cut, u32 begin, u32 end, u32 room)
{
	if (begin % cut)
		KUNIT_EXPECT_EQ(test, begin / cut, (end - 1) / cut);
	KUNIT_EXPECT_GT(test, end - begin, room);
}

static void build(struct kunit *test)
{
	struct tx_test *t = test->priv;
	struct kwarp_batch *b = &t->e.tx.batch;
	u32 before = lower.built, begin, room = 0;

	while (lower.built == before) {
		begin = b->len;
		b->frag.size = prandom_u32_state(&lower.rnd) % 20000;
		if (kwarp_tx_build_series(&t->e)) {
			KUNIT_ASSERT_LE(test, b->len - begin, b->frag.size);
			lower.series++;
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
		/* the only allowed reason is missing memory; try again */
		KUNIT_ASSERT_TRUE(test, t->e.tx.no_memory);
		KUNIT_ASSERT_EQ(test, lower.perr, KWARP_PERR_NONE);
		t->e.tx.no_memory = false;
	}
}

static void start(struct tx_test *t, const struct plan *c)
{
	struct kwarp_tx *tx = &t->e.tx;

	tx->crc = c->crc;
	tx->markers = c->markers;
	tx->mulpdu = c->mulpdu;
	tx->off = c->off;
	tx->batch.cut = c->cut;
	tx->batch.goal = U32_MAX;
	/* Only a page that is not NULL is needed. */
	tx->batch.frag.page = ZERO_PAGE(0);
	lower.short_every = c->short_every;
}

/*
 * All octets of a stream are right (5044-4.1-1, -3; 5044-4.3-4, -5, -10 to -15; 5044-4.4-14 to -17;
 * 5041-5.2-1, -2, -7, -10, -12; 5044-5.1-4, -5).
 */
static void test_stream(struct kunit *test)
{
	const struct plan *c = test->param_value;
	struct tx_test *t = test->priv;
	struct kwarp_emit w = {
		.buf = t->want, .size = WIRE_MAX, .off = c->off, .markers = c->markers,
	};
	struct met met = {};
	u32 len, off;

	start(t, c);
	while (w.len + 2 * c->most + 5000 < WIRE_MAX) {
		len = prandom_u32_state(&lower.rnd) % (c->most + 1);
		if (len % 16 == 0)
			len = 0;
		off = prandom_u32_state(&lower.rnd) % (MEM_LEN - len);
		begin(t, off, len);
		expect_message(t, &w, c, t->mem + off, &met);
		build(test);
	}
	flush(&t->e.tx.batch);
	KUNIT_ASSERT_EQ(test, lower.wire - lower.first, w.len);
	KUNIT_EXPECT_MEMEQ(test, lower.first, t->want, w.len);
	KUNIT_EXPECT_EQ(test, t->e.tx.off, w.off);
	if (c->markers && c->most < 100000) {
		KUNIT_EXPECT_GT(test, met.between, 3);
		KUNIT_EXPECT_GT(test, met.before_crc, 0);
	}
	if (c->short_every)
		KUNIT_EXPECT_GT(test, lower.asked, 20 * c->short_every);
	if (c->markers || c->cut || c->most < 3 * c->mulpdu)
		KUNIT_EXPECT_EQ(test, lower.series, 0);
	else
		KUNIT_EXPECT_GT(test, lower.series, 20);
}

static const struct limit {
	const char *desc;
	u32 room;	/* octets free in the fragment */
	u32 goal;
	u32 len;	/* octets already in the batch */
	u32 element;	/* octets of the element */
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

/* Writes have 14 octets of header, so 1428 octets of payload in segments of 1448. */
static void test_series_limits(struct kunit *test)
{
	const struct limit *c = test->param_value;
	struct tx_test *t = test->priv;
	struct kwarp_tx *tx = &t->e.tx;
	bool built = false;
	u32 i;

	start(t, &plans[0]);
	tx->batch.frag.size = c->room;
	tx->batch.goal = c->goal;
	tx->batch.len = c->len;
	tx->msg.hdr.tagged = true;
	tx->msg.kind = KWARP_TXK_SQ;
	tx->msg.src = KWARP_SRC_SGL;
	tx->msg.left = c->left;
	tx->wqe.sge[0] = (struct kwarp_sge){ .addr = VA, .length = c->element, .lkey = STAG };
	/* Contiguous memory is granted at random, so try often. */
	for (i = 0; i < 30 && !built; i++)
		built = kwarp_tx_build_series(&t->e);
	KUNIT_EXPECT_EQ(test, built, c->n > 0);
	KUNIT_EXPECT_EQ(test, tx->batch.len - c->len, c->n * 1448);
	KUNIT_EXPECT_EQ(test, tx->off, c->n * 1448);
	KUNIT_EXPECT_EQ(test, c->left - tx->msg.left, c->n * 1428);
	KUNIT_EXPECT_EQ(test, tx->msg.hdr.to, c->n * 1428);
}

/* Payload that may not be read is not built; kwarp_tx_build() is to report the error. */
static void test_series_refused(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	start(t, &plans[0]);
	t->e.tx.batch.frag.size = 100000;
	t->e.tx.msg.left = 10000;
	from_sgl(t, 0, 10000);
	t->e.tx.wqe.sge[0].length = 10000;
	t->mr.valid = false;
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, kwarp_tx_build_series(&t->e));
	t->mr.valid = true;
	t->mr.access = 0;
	from_region(t, 0, 10000);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, kwarp_tx_build_series(&t->e));
	t->mr.access = IB_ACCESS_REMOTE_READ;
	/* the whole rest of a Response is checked, as in kwarp_tx_build() */
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

/* ----------------------------------------------------------------- failures */

static void expect_no_trace(struct kunit *test, u32 len, u32 off)
{
	struct tx_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, kwarp_tx_build(&t->e));
	KUNIT_EXPECT_FALSE(test, t->e.tx.no_memory);
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.kind, KWARP_TXK_NONE);
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.len, len);
	KUNIT_EXPECT_EQ(test, t->e.tx.off, off);
}

/* The Terminate for a Read names what is left of it (5040-4.8-21, -22). */
static void test_response_gone(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 segs, done, len, off;
	struct kwarp_rreq req;

	for (segs = 0; segs < 3; segs++) {
		make_region(t);
		start(t, &plans[segs]);
		t->e.tx.batch.len = 0;
		from_region(t, 1000, 5000);
		t->e.tx.msg.left = 5000;
		t->e.tx.msg.hdr = (struct kwarp_ddp_hdr){ .tagged = true, .opcode = 2 };
		for (done = 0; done < segs * 1428; done += 1428)
			KUNIT_ASSERT_TRUE(test, kwarp_tx_build(&t->e));
		len = t->e.tx.batch.len;
		off = t->e.tx.off;
		t->mr.valid = false;
		expect_no_trace(test, len, off);
		KUNIT_EXPECT_EQ(test, lower.perr, KWARP_PERR_R_STAG);
		KUNIT_EXPECT_EQ(test, lower.seg_len, 46);
		KUNIT_ASSERT_TRUE(test, lower.has_rreq);
		kwarp_rreq_decode(lower.rreq, &req);
		KUNIT_EXPECT_EQ(test, req.sink_stag, 0x2200);
		KUNIT_EXPECT_EQ(test, req.sink_to, 0x10000 + done);
		KUNIT_EXPECT_EQ(test, req.size, 5000 - done);
		KUNIT_EXPECT_EQ(test, req.src_stag, STAG);
		KUNIT_EXPECT_EQ(test, req.src_to, VA + 1000 + done);
	}
}

/* The request fails, and the Terminate names no message of the peer (5040-7.1-2). */
static void test_request_gone(struct kunit *test)
{
	struct tx_test *t = test->priv;

	start(t, &plans[1]);
	t->e.tx.msg.left = 5000;
	from_sgl(t, 1000, 5000);
	KUNIT_ASSERT_TRUE(test, kwarp_tx_build(&t->e));
	t->mr.valid = false;
	expect_no_trace(test, t->e.tx.batch.len, t->e.tx.off);
	KUNIT_EXPECT_EQ(test, lower.status, KWARP_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, lower.perr, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_FALSE(test, lower.has_rreq);
}

/* A batch whose pieces are all in use is neither a lack of memory nor a failure. */
static void test_batch_full(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 off, full;

	for (full = 0; full < 2; full++) {
		start(t, &plans[1]);
		/* With markers nothing is built contiguously. */
		t->e.tx.markers = true;
		t->e.tx.msg.left = 5000;
		from_sgl(t, 1000, 5000);
		t->e.tx.batch.n = full ? KWARP_BATCH_BVECS : KWARP_BATCH_BVECS - 1;
		lower.short_every = 1;
		off = t->e.tx.off;
		KUNIT_EXPECT_FALSE(test, kwarp_tx_build(&t->e));
		KUNIT_EXPECT_EQ(test, t->e.tx.no_memory, !full);
		KUNIT_EXPECT_NE(test, t->e.tx.msg.kind, KWARP_TXK_NONE);
		KUNIT_EXPECT_EQ(test, t->e.tx.off, off);
		KUNIT_EXPECT_EQ(test, t->e.tx.msg.left, 5000);
	}
}

/*
 * If the regions of the request itself use up the batch's places, the batch still accepts the first
 * FPDU of that request.
 */
static void test_many_regions(struct kunit *test)
{
	struct tx_test *t = test->priv;
	struct kwarp_batch *b = &t->e.tx.batch;

	start(t, &plans[0]);
	t->e.tx.msg.left = 100;
	from_sgl(t, 1000, 100);
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
	KUNIT_CASE_PARAM(test_series_limits, limit_gen_params),
	KUNIT_CASE(test_series_refused),
	KUNIT_CASE(test_many_regions),
	KUNIT_CASE(test_response_gone),
	KUNIT_CASE(test_request_gone),
	KUNIT_CASE(test_batch_full),
	{}
};

static struct kunit_suite tx_build_suite = {
	.name = "kwarp_tx_build",
	.init = tx_test_init,
	.test_cases = tx_build_cases,
};

kunit_test_suite(tx_build_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's engine");
MODULE_LICENSE("Dual BSD/GPL");
