// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side with several streams: what they share, and how an error of one affects
 * the others. The code is included. Regions, transmitter and upcalls are stand-ins; the queues are
 * the real ones.
 */
#include <kunit/test.h>

#define kwarp_engine_fail	fake_engine_fail
#define kwarp_engine_lost	fake_engine_lost
#define kwarp_mr_lookup		fake_mr_lookup
#define kwarp_mr_put		fake_mr_put
#include "../rx/stream.c"
#include "../rx/segment.c"
static enum kwarp_perr watched_rx_place(struct kwarp_engine *e, const u8 *data, u32 len);
#define kwarp_rx_place		watched_rx_place
#include "../rx/series.c"
#undef kwarp_rx_place
#include "../rx/place.c"
#include "../rx/answer.c"
#include "../rx/receive.c"

#include "../../proto/tests/emit.h"
#include "queues.h"

#define STAG		0x12345678U
#define VA		0x7f0000000000ULL
#define MEM_LEN		4096
#define RECVS		8
#define DEPTH		3
#define OCTETS		5

/**
 * struct stream - one stream and what it has reported
 * @e: engine
 * @qp: its QP
 * @msn: next MSN that its peer sends, for each queue
 * @limits: number of SRQ limit events
 * @event: last event reported
 * @kick: the last receive run returned true: something is to be sent
 * @raw: DDP header reported with its error
 * @seg_len: segment length reported with its error
 */
struct stream {
	struct kwarp_engine e;
	struct ib_qp qp;
	u32 msn[KWARP_QN_COUNT];
	u32 limits;
	enum kwarp_qp_event event;
	bool kick;
	u8 raw[14];
	u16 seg_len;
};

struct rx_test {
	struct stream a;
	struct stream b;
	struct kwarp_rq rq;
	struct test_cq *cq;
	struct kwarp_mr mr;
	struct ib_pd pd;
	struct ib_pd other_pd;
	u8 *chunk;
	u8 mem[MEM_LEN];
};

/* The only region, the number of lookups, and the number of references held. */
static struct kwarp_mr *the_mr;
static u32 lookups, references;

/* Number of segments after which the region is revoked; 0: never. */
static u32 revoke_after;

static enum kwarp_perr watched_rx_place(struct kwarp_engine *e, const u8 *data, u32 len)
{
	enum kwarp_perr ret = kwarp_rx_place(e, data, len);

	if (revoke_after && !--revoke_after)
		WRITE_ONCE(the_mr->valid, false);
	return ret;
}

struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag)
{
	if (stag >> 8 != STAG >> 8 || !the_mr)
		return NULL;
	lookups++;
	references++;
	return the_mr;
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
	references--;
}

void kwarp_engine_lost(struct kwarp_engine *e)
{
	e->perr = KWARP_PERR_MPA_LOST;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

static struct stream *to_stream(struct kwarp_engine *e)
{
	return container_of(e, struct stream, e);
}

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	struct stream *s = to_stream(e);

	e->perr = perr;
	s->seg_len = seg_len;
	if (raw)
		memcpy(s->raw, raw, sizeof(s->raw));
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

static void on_limit(struct kwarp_engine *e)
{
	to_stream(e)->limits++;
}

static void on_event(struct kwarp_engine *e, enum kwarp_qp_event event)
{
	to_stream(e)->event = event;
}

static const struct kwarp_engine_ops ops = { .srq_limit = on_limit, .event = on_event };

/* ------------------------------------------------------------------ fixture */

static void make_stream(struct kunit *test, struct stream *s)
{
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &s->e;
	u32 i;

	s->qp.qp_num = TEST_QPN;
	for (i = 0; i < KWARP_QN_COUNT; i++)
		s->msn[i] = 1;
	e->ibqp = &s->qp;
	e->ops = &ops;
	e->mem.pd = &t->pd;
	e->recv_mem = &e->mem;
	e->rq = &t->rq;
	e->recv_cq = &t->cq->cq;
	e->access = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
	e->flags = BIT(KWARP_E_TX_OPEN);
	kwarp_rx_init(e, true, false);
	test_readq_init(test, &e->iread, DEPTH, sizeof(struct kwarp_iread));
	test_readq_init(test, &e->oread, DEPTH, sizeof(struct kwarp_oread));
}

static void make_region(struct rx_test *t)
{
	struct kwarp_mr *mr = &t->mr;

	rwlock_init(&mr->lock);
	t->chunk = t->mem;
	mr->kind = KWARP_MR_FAST;
	mr->valid = true;
	mr->stag = STAG;
	mr->access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	mr->pd = &t->pd;
	mr->va = VA;
	mr->length = MEM_LEN;
	mr->chunk = &t->chunk;
	mr->nchunks = 1;
	mr->shift = ilog2(MEM_LEN);
	the_mr = mr;
}

/* Post @n receives of no octets, with identifiers from @id on. */
static void post(struct rx_test *t, u64 id, u32 n)
{
	struct kwarp_ring_hdr *hdr = t->rq.ring.hdr;
	struct kwarp_rqe *e;

	for (; n; n--, id++, hdr->prod++) {
		e = kwarp_ring_slot(&t->rq.ring, hdr->prod);
		e->id = id;
		e->num_sge = 0;
	}
}

static int rx_test_init(struct kunit *test)
{
	struct rx_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->cq = test_cq_new(test, 2 * RECVS);
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&t->rq, RECVS, kwarp_rqe_stride(3)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_ring_free, &t->rq.ring), 0);
	make_region(t);
	make_stream(test, &t->a);
	make_stream(test, &t->b);
	t->a.e.kdev = kunit_kzalloc(test, sizeof(*t->a.e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->a.e.kdev);
	t->b.e.kdev = t->a.e.kdev;
	t->a.e.mem.id = 1;
	t->b.e.mem.id = 2;
	t->mr.owner = t->a.e.mem.id;
	lookups = 0;
	references = 0;
	return 0;
}

static void rx_test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, references, 0);
}

/* ----------------------------------------------------------------- the peer */

static void feed(struct stream *s, const u8 *ulpdu, u32 len)
{
	u8 wire[128];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };

	kwarp_emit_fpdu(&w, ulpdu, len, 0);
	kwarp_fpdu_rx_verify(&s->e.rx.fpdu, w.crc, wire + w.len - 4);
	kwarp_rx_feed(&s->e, wire, w.len);
	s->kick = kwarp_rx_end_run(&s->e);
}

static void feed_untagged(struct stream *s, u8 ctrl, u8 opcode, u32 stag, u32 qn,
			  const u8 *payload, u32 len)
{
	u8 u[18 + KWARP_TERM_MAX_LEN] = { ctrl, 0x40 | opcode };

	put_unaligned_be32(stag, u + 2);
	put_unaligned_be32(qn, u + 6);
	put_unaligned_be32(s->msn[qn], u + 10);
	memcpy(u + 18, payload, len);
	feed(s, u, 18 + len);
	if (ctrl & 0x40)
		s->msn[qn]++;
}

static void feed_send(struct stream *s, u8 opcode, u32 stag)
{
	feed_untagged(s, 0x41, opcode, stag, KWARP_QN_SEND, NULL, 0);
}

static void feed_read(struct stream *s)
{
	u8 h[KWARP_RDMAP_RREQ_LEN] = { };

	put_unaligned_be32(OCTETS, h + 12);
	put_unaligned_be32(STAG, h + 16);
	put_unaligned_be64(VA, h + 20);
	feed_untagged(s, 0x41, 1, 0, KWARP_QN_RREQ, h, sizeof(h));
}

#define WRITE_LEN	(14 + OCTETS)

static void make_write(u8 u[WRITE_LEN])
{
	u[0] = 0xc1;
	u[1] = 0x40;
	put_unaligned_be32(STAG, u + 2);
	put_unaligned_be64(VA, u + 6);
	memset(u + 14, 0x3c, OCTETS);
}

static void feed_write(struct stream *s)
{
	u8 u[WRITE_LEN];

	make_write(u);
	feed(s, u, sizeof(u));
}

static void expect_done(struct kunit *test, u64 id)
{
	struct rx_test *t = test->priv;

	test_cq_expect(test, t->cq, id, KWARP_WC_RECV, KWARP_WC_SUCCESS);
}

/* ------------------------------------------------------------ what is shared */

/*
 * Streams that share receives can use them up: events say when, and which stream did it
 * (5040-8.1.2-8, 5041-8.3.2-6, 5042-6.4.3.1-1).
 */
static void test_shared_receives(struct kunit *test)
{
	struct rx_test *t = test->priv;

	post(t, 0, 4);
	t->rq.limit = 2;
	feed_send(&t->a, 3, 0);
	feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.limits + t->b.limits, 0);
	feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.limits, 0);
	KUNIT_EXPECT_EQ(test, t->b.limits, 1);
	feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.limits + t->b.limits, 1);
	/* the next message finds no receive; the other streams are not affected */
	feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
	post(t, 4, 1);
	feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_NONE);
	expect_done(test, 0);
	expect_done(test, 1);
	expect_done(test, 2);
	expect_done(test, 3);
	expect_done(test, 4);
	test_cq_none(test, t->cq);
}

/* Post a receive of OCTETS octets in the region. */
static void post_sge(struct rx_test *t, u64 id)
{
	struct kwarp_rqe *e = kwarp_ring_slot(&t->rq.ring, t->rq.ring.hdr->prod);
	const struct kwarp_sge sge = { .addr = VA, .length = OCTETS, .lkey = STAG };

	post(t, id, 1);
	e->num_sge = 1;
	memcpy(e + 1, &sge, sizeof(sge));
}

/* Regions of an SRQ's receives belong to the SRQ's protection domain, not to the QP's. */
static void test_shared_domain(struct kunit *test)
{
	static const u8 data[OCTETS] = { 1, 2, 3, 4, 5 };
	struct rx_test *t = test->priv;
	struct kwarp_mem_stream srq = { .pd = &t->pd };

	t->a.e.recv_mem = &srq;
	t->a.e.mem.pd = &t->other_pd;
	post_sge(t, 1);
	feed_untagged(&t->a, 0x41, 3, 0, KWARP_QN_SEND, data, OCTETS);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_MEMEQ(test, t->mem, data, OCTETS);
	expect_done(test, 1);

	t->b.e.recv_mem = &srq;
	srq.pd = &t->other_pd;
	post_sge(t, 2);
	feed_untagged(&t->b, 0x41, 3, 0, KWARP_QN_SEND, data, OCTETS);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_LOCAL);
	kwarp_rx_flush(&t->b.e);
	test_cq_expect(test, t->cq, 2, KWARP_WC_RECV, KWARP_WC_LOC_PROT_ERR);
}

/* An overflow of a CQ affects only the streams that use it (5040-8.1.1-11, 5042-6.4.6-1). */
static void test_cq_overflow(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct test_cq *small = test_cq_new(test, 2);

	post(t, 0, 5);
	t->a.e.recv_cq = &small->cq;
	feed_send(&t->a, 3, 0);
	feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, small->lost, 1);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_LOCAL);
	feed_send(&t->b, 3, 0);
	feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, t->cq->lost, 0);
	expect_done(test, 3);
	expect_done(test, 4);
}

/* A Read Request and the first FPDU ask for something to be sent. */
static void test_kicks(struct kunit *test)
{
	struct rx_test *t = test->priv;

	feed_write(&t->a);
	KUNIT_EXPECT_FALSE(test, t->a.kick);
	feed_read(&t->a);
	KUNIT_EXPECT_TRUE(test, t->a.kick);
	feed_write(&t->a);
	KUNIT_EXPECT_FALSE_MSG(test, t->a.kick, "asked for once");
}

/*
 * A peer with more Reads than agreed fails, and takes no resources of other streams (5040-8.1.2-7,
 * 5042-6.4.3.3-1).
 */
static void test_reads(struct kunit *test)
{
	struct rx_test *t = test->priv;
	u32 i;

	for (i = 0; i < DEPTH; i++)
		feed_read(&t->a);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	feed_read(&t->a);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
	for (i = 0; i < DEPTH; i++)
		feed_read(&t->b);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_full(&t->b.e.iread));
}

static const struct sink {
	const char *desc;
	int access;
	bool strict;
	enum kwarp_perr err;
} sinks[] = {
	{ "local write", IB_ACCESS_LOCAL_WRITE, false, KWARP_PERR_NONE },
	{ "remote write only", IB_ACCESS_REMOTE_WRITE, false, KWARP_PERR_DDP_T_STAG },
	{ "both", IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, false, KWARP_PERR_NONE },
	{ "strict, local write", IB_ACCESS_LOCAL_WRITE, true, KWARP_PERR_DDP_T_STAG },
	{ "strict, both", IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, true, KWARP_PERR_NONE },
};

KUNIT_ARRAY_PARAM_DESC(sink, sinks, desc);

/* A Read Response needs the rights of a sink from its region; a Write needs remote write. */
static void test_sink(struct kunit *test)
{
	const struct sink *c = test->param_value;
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;
	u8 u[WRITE_LEN];

	e->sq = kunit_kzalloc(test, sizeof(*e->sq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->sq);
	e->sq->cq = &t->cq->cq;
	e->sink_rights = kwarp_sink_rights(c->strict);
	t->mr.access = c->access;
	*kwarp_oread_tail(&e->oread) = (struct kwarp_oread) {
		.rtr = true, .stag = STAG, .to = VA, .left = OCTETS,
	};
	kwarp_readq_push(&e->oread);
	make_write(u);
	u[1] = 0x40 | KWARP_OP_RRESP;
	feed(&t->a, u, sizeof(u));
	KUNIT_EXPECT_EQ(test, e->perr, c->err);
	KUNIT_EXPECT_EQ(test, t->mem[0], c->err == KWARP_PERR_NONE ? 0x3c : 0);
	feed_write(&t->b);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, c->access & IB_ACCESS_REMOTE_WRITE ?
					   KWARP_PERR_NONE : KWARP_PERR_DDP_T_STAG);
}

/* --------------------------------------------- a region between two pieces */

static void keep_region(struct rx_test *t)
{
}

static void deregister(struct rx_test *t)
{
	the_mr = NULL;
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
	/* deregistration waits for the end of the receive run */
	{ "user, being deregistered within the run", KWARP_MR_USER, deregister, false, false },
};

KUNIT_ARRAY_PARAM_DESC(gap, gaps, desc);

#define PAYLOAD_AT	16	/* octets of length field and header before the payload */

/* How many octets of a Write have to be in memory if it arrives in two pieces, divided at @cut? */
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
 * The region may be revoked after the header was checked and before the payload has arrived
 * (5041-7.1-13, 5040-8.1.1-6).
 */
static void test_gap(struct kunit *test)
{
	const struct gap *c = test->param_value;
	struct rx_test *t = test->priv;
	u8 u[WRITE_LEN], wire[64], want[OCTETS];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };
	u32 cut;

	make_write(u);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	for (cut = 0; cut <= w.len; cut++) {
		u32 n = placed(c, cut);

		make_region(t);
		t->mr.kind = c->kind;
		kwarp_rx_init(&t->a.e, false, false);
		t->a.e.flags = BIT(KWARP_E_TX_OPEN);
		t->a.e.perr = KWARP_PERR_NONE;
		memset(t->mem, 0, OCTETS);
		memset(want, 0, sizeof(want));
		memset(want, 0x3c, n);
		/*
		 * the region is gone before the header is complete: the error is that of an unknown
		 * STag
		 */
		if (!c->run_ends && cut < PAYLOAD_AT)
			continue;
		feed_in_two(t, c, wire, w.len, cut);
		KUNIT_EXPECT_MEMEQ(test, t->mem, want, sizeof(want));
		KUNIT_EXPECT_EQ(test, t->a.e.perr,
				n < OCTETS ? KWARP_PERR_DDP_T_STAG : KWARP_PERR_NONE);
		KUNIT_EXPECT_EQ(test, references, 0);
	}
}

/* A receive run looks up a region once, and another region again. */
static void test_lookups(struct kunit *test)
{
	struct rx_test *t = test->priv;
	u8 u[WRITE_LEN], wire[128];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };

	t->mr.kind = KWARP_MR_USER;
	kwarp_rx_init(&t->a.e, false, false);
	make_write(u);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	put_unaligned_be32(STAG ^ 0x100, u + 2);
	kwarp_emit_fpdu(&w, u, sizeof(u), 0);
	kwarp_rx_feed(&t->a.e, wire, w.len);
	KUNIT_EXPECT_EQ(test, t->mem[0], 0x3c);
	KUNIT_EXPECT_EQ(test, lookups, 1);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_T_STAG);
	kwarp_rx_end_run(&t->a.e);
}

/* ------------------------------------------------------------------ series */

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

/* What a stream has changed: compared between the two ways of processing. */
struct traces {
	u8 mem[LONGEST];
	enum kwarp_perr perr;
	u16 seg_len;
	u8 raw[14];
	bool tagged_open;
	u32 off, mo, sge, sge_off, left, received;
	u64 to;
};

/* First address of the region; for the region of all memory, the address in memory. */
static u64 series_va(const struct rx_test *t, const struct series_case *c)
{
	return c->kind == KWARP_MR_DMA ? (uintptr_t)t->mem : VA;
}

/* Encode a message of SEGMENTS segments of the same length. */
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

/* Post a receive for the message, of one element or of three contiguous ones. */
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

	make_region(t);
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

/*
 * Feed FPDU by FPDU, each in two pieces, so that none can be a series. If @series, try the series
 * code first.
 */
static u32 feed_long(struct stream *s, const u8 *wire, u32 len, const u32 ends[SEGMENTS],
		     bool series)
{
	struct kwarp_engine *e = &s->e;
	u32 at = 0, i = 0, k, crc, taken = 0, used;

	while (at < len && !test_bit(KWARP_E_RX_STOP, &e->flags)) {
		used = series ? kwarp_rx_accept_series(e, wire + at, len - at) : 0;
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
 * Feed the same stream twice, with and without the series code, with the octet at @at changed by
 * @x. The results must be the same.
 */
static u32 compare_ways(struct kunit *test, const struct series_case *c, u32 at, u8 x)
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
	taken = feed_long(&t->a, wire, len, ends, true);
	take_traces(t, &t->a, &tr[0]);
	kwarp_rx_end_run(&t->a.e);
	prepare_series(test, c, &t->b);
	feed_long(&t->b, wire, len, ends, false);
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

/*
 * Header prediction does not change any result (5041-7.1-13, 5040-5.2.2-9, 5041-7.1-9, 5044-6-1).
 */
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
	KUNIT_EXPECT_EQ(test, compare_ways(test, c, U32_MAX, 0), c->taken * fpdu);
	/* Damage each octet of the header and of the trailer of the third segment. */
	for (k = 0; k < fpdu; k++)
		if (k < 20 || k >= fpdu - 8)
			for (bit = 0; bit < 8; bit++)
				compare_ways(test, c, 2 * fpdu + k, 1 << bit);
}

/* A series ends although the octets are as expected; segment.c then finds the error. */
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
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], ends[1] - ends[0]),
			ends[1] - ends[0]);
	/* Each receive run checks the region again. */
	kwarp_rx_end_run(e);
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[1], len - ends[1]), 0);
	kwarp_rx_feed(e, wire + ends[1], len - ends[1]);
	KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_NONE);
	/* The message has ended. */
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire, len), 0);
	kwarp_rx_end_run(e);
}

/* If the region is deregistered while a series is placed, no further segment is accepted. */
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
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[0], len - ends[0]),
			ends[2] - ends[0]);
	KUNIT_EXPECT_EQ(test, kwarp_rx_accept_series(e, wire + ends[2], len - ends[2]), 0);
	kwarp_rx_feed(e, wire + ends[2], len - ends[2]);
	KUNIT_EXPECT_EQ(test, e->perr, KWARP_PERR_DDP_T_STAG);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->mem + 3 * c.payload, 0, LONGEST - 3 * c.payload));
	kwarp_rx_end_run(e);
}

/* ------------------------------------------------------ Send with Invalidate */

static void expect_write(struct kunit *test, struct stream *s, enum kwarp_perr perr)
{
	struct rx_test *t = test->priv;

	memset(t->mem, 0, OCTETS);
	feed_write(s);
	KUNIT_EXPECT_EQ(test, s->e.perr, perr);
	KUNIT_EXPECT_EQ(test, t->mem[0], perr == KWARP_PERR_NONE ? 0x3c : 0);
}

/* Send with Invalidate invalidates at its last segment, for every stream (5040-5.3-17, -18). */
static void test_invalidate(struct kunit *test)
{
	struct rx_test *t = test->priv;
	const struct kwarp_cqe *cqe;

	post(t, 0, 1);
	expect_write(test, &t->a, KWARP_PERR_NONE);
	feed_untagged(&t->a, 0x01, 4, STAG, KWARP_QN_SEND, NULL, 0);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_TRUE(test, t->mr.valid);
	expect_write(test, &t->b, KWARP_PERR_NONE);
	feed_send(&t->a, 4, STAG);
	cqe = test_cq_pop(t->cq);
	KUNIT_ASSERT_NOT_NULL(test, cqe);
	KUNIT_EXPECT_EQ(test, cqe->status, KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe->opcode, KWARP_WC_RECV_INV);
	KUNIT_EXPECT_EQ(test, cqe->inv_stag, STAG);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	expect_write(test, &t->a, KWARP_PERR_DDP_T_STAG);
	expect_write(test, &t->b, KWARP_PERR_DDP_T_STAG);
}

/* a window belongs to the stream that bound it (5041-8.2-3) */
static void test_window(struct kunit *test)
{
	struct rx_test *t = test->priv;

	t->mr.kind = KWARP_MR_WINDOW;
	t->mr.stream = &t->b.e.mem;
	expect_write(test, &t->b, KWARP_PERR_NONE);
	expect_write(test, &t->a, KWARP_PERR_DDP_T_STREAM);
	expect_write(test, &t->b, KWARP_PERR_NONE);
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

/*
 * Invalidation is refused for an STag that is not valid or not of this stream (5040-5.3-17, -19;
 * 5040-7.2-4, -5).
 */
static void test_invalidate_refused(struct kunit *test)
{
	const struct refusal *c = test->param_value;
	struct rx_test *t = test->priv;

	post(t, 7, 2);
	t->mr.kind = c->kind;
	/* the stream is compared for windows only */
	t->mr.stream = &t->b.e.mem;
	if (c->other_owner)
		t->mr.owner = t->b.e.mem.id;
	if (c->other_pd)
		t->a.e.mem.pd = &t->other_pd;
	feed_send(&t->a, 6, c->stag);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, c->perr);
	KUNIT_EXPECT_TRUE(test, t->mr.valid);
	test_cq_none(test, t->cq);
	kwarp_rx_flush(&t->a.e);
	test_cq_expect(test, t->cq, 7, KWARP_WC_RECV, KWARP_WC_REM_INV_REQ_ERR);
	expect_write(test, &t->b, KWARP_PERR_NONE);
	feed_send(&t->b, 3, 0);
	expect_done(test, 8);
}

/* ------------------------------------------------------- the peer's Terminate */

/*
 * Cases of a Terminate: @reads are outstanding when it arrives, with queue indices from @start on.
 */
static const struct blame {
	const char *desc;
	u32 reads;
	u32 start;
	bool rtr;		/* the oldest outstanding Read is our RTR message */
	bool no_header;		/* the Terminate returns no Read Request header */
	bool blamed;		/* the oldest Read is to fail */
} blames[] = {
	{ "no Read", 0 },
	{ "one", 1, .blamed = true },
	{ "as many as may be", DEPTH, .blamed = true },
	{ "at the end of the ring", 2, U32_MAX, .blamed = true },
	{ "RTR", 2, .rtr = true },
	{ "nothing returned", 2, .no_header = true },
};

KUNIT_ARRAY_PARAM_DESC(blame, blames, desc);

static void ask(struct kunit *test, struct kwarp_engine *e, const struct blame *c)
{
	u32 i;

	e->sq = kunit_kzalloc(test, sizeof(*e->sq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->sq);
	spin_lock_init(&e->sq->lock);
	e->sq->ring.mask = DEPTH;
	e->sq->done = kunit_kcalloc(test, DEPTH + 1, sizeof(*e->sq->done), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->sq->done);
	e->oread.head = c->start;
	e->oread.tail = c->start;
	for (i = 0; i < c->reads; i++) {
		*kwarp_oread_tail(&e->oread) = (struct kwarp_oread) {
			.sq_index = i, .rtr = c->rtr && !i,
		};
		kwarp_readq_push(&e->oread);
	}
}

/* A Terminate with a Read Request header is about the oldest Read, which fails for it. */
static void test_blame(struct kunit *test)
{
	static const u8 rreq[KWARP_RDMAP_RREQ_LEN], ddp[18] = { 0x41, 0x41 };
	const struct blame *c = test->param_value;
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;
	u8 payload[KWARP_TERM_MAX_LEN];
	struct kwarp_term term;
	u32 len, i;

	ask(test, e, c);
	kwarp_term_fill(&term, KWARP_PERR_R_BOUNDS, ddp, 46, c->no_header ? NULL : rreq);
	len = kwarp_term_encode(payload, &term);
	feed_untagged(&t->a, 0x41, KWARP_OP_TERM, 0, KWARP_QN_TERM, payload, len);
	KUNIT_EXPECT_EQ(test, t->a.event, KWARP_QPE_PEER_TERM);
	KUNIT_EXPECT_EQ(test, e->sq->done[0].status,
			c->blamed ? KWARP_WC_REM_ACCESS_ERR : KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, e->sq->done[0].vendor_err,
			c->blamed ? kwarp_term_short(&term) : 0);
	for (i = 1; i <= DEPTH; i++)
		KUNIT_EXPECT_EQ(test, e->sq->done[i].status, KWARP_WC_SUCCESS);
}

static struct kunit_case rx_cases[] = {
	KUNIT_CASE(test_shared_receives),
	KUNIT_CASE(test_shared_domain),
	KUNIT_CASE(test_cq_overflow),
	KUNIT_CASE(test_kicks),
	KUNIT_CASE(test_reads),
	KUNIT_CASE_PARAM(test_sink, sink_gen_params),
	KUNIT_CASE_PARAM(test_gap, gap_gen_params),
	KUNIT_CASE(test_lookups),
	KUNIT_CASE_PARAM(test_series, series_gen_params),
	KUNIT_CASE(test_series_ends),
	KUNIT_CASE(test_series_revoked),
	KUNIT_CASE(test_invalidate),
	KUNIT_CASE(test_window),
	KUNIT_CASE_PARAM(test_invalidate_refused, refusal_gen_params),
	KUNIT_CASE_PARAM(test_blame, blame_gen_params),
	{}
};

static struct kunit_suite rx_suite = {
	.name = "kwarp_rx",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_cases,
};

kunit_test_suite(rx_suite);
