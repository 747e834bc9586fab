// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side with several streams: what they share, and how an error of one affects
 * the others; and the peer's Terminate.
 */
#include "../../kwarp.h"
#include "rx_fixture.h"

/* ----------------------------------------------------------------- the peer */

static void feed_read(struct stream *s)
{
	u8 h[KWARP_RDMAP_RREQ_LEN] = { };

	put_unaligned_be32(OCTETS, h + 12);
	put_unaligned_be32(STAG, h + 16);
	put_unaligned_be64(VA, h + 20);
	rx_feed_untagged(s, 0x41, 1, 0, KWARP_QN_RREQ, h, sizeof(h));
}

/* ------------------------------------------------------------ what is shared */

/*
 * 5040-8.1.2-8, 5041-8.3.2-6, 5042-6.4.3.1-1: the stream whose message leaves fewer receives than
 * the SRQ limit reports the limit event, once.
 */
static void test_shared_receives(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_post(t, 0, 4);
	t->rq.limit = 2;
	rx_feed_send(&t->a, 3, 0);
	rx_feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.limits + t->b.limits, 0);
	rx_feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.limits, 0);
	KUNIT_EXPECT_EQ(test, t->b.limits, 1);
	rx_feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.limits + t->b.limits, 1);
	/* The next message finds no receive, so that stream fails; the other is not affected. */
	rx_feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
	rx_post(t, 4, 1);
	rx_feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_NONE);
	rx_expect_done(test, 0);
	rx_expect_done(test, 1);
	rx_expect_done(test, 2);
	rx_expect_done(test, 3);
	rx_expect_done(test, 4);
	test_cq_none(test, t->cq);
}

static void post_sge(struct rx_test *t, u64 id)
{
	struct kwarp_rqe *e = kwarp_ring_slot(&t->rq.ring, t->rq.ring.hdr->prod);
	const struct kwarp_sge sge = { .addr = VA, .length = OCTETS, .lkey = STAG };

	rx_post(t, id, 1);
	e->num_sge = 1;
	memcpy(e + 1, &sge, sizeof(sge));
}

/* The protection domain of the QP that takes the receive does not matter. */
static void test_shared_domain(struct kunit *test)
{
	static const u8 data[OCTETS] = { 1, 2, 3, 4, 5 };
	struct rx_test *t = test->priv;
	struct kwarp_mem_stream srq = { .pd = &t->pd };

	t->a.e.recv_mem = &srq;
	t->a.e.mem.pd = &t->other_pd;
	post_sge(t, 1);
	rx_feed_untagged(&t->a, 0x41, 3, 0, KWARP_QN_SEND, data, OCTETS);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_MEMEQ(test, t->mem, data, OCTETS);
	rx_expect_done(test, 1);

	t->b.e.recv_mem = &srq;
	srq.pd = &t->other_pd;
	post_sge(t, 2);
	rx_feed_untagged(&t->b, 0x41, 3, 0, KWARP_QN_SEND, data, OCTETS);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_LOCAL);
	kwarp_rx_flush(&t->b.e);
	test_cq_expect(test, t->cq, 2, KWARP_WC_RECV, KWARP_WC_LOC_PROT_ERR);
}

/* An overflow of a CQ affects only the streams that use it (5040-8.1.1-11, 5042-6.4.6-1). */
static void test_cq_overflow(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct test_cq *small = test_cq_new(test, 2);

	rx_post(t, 0, 5);
	t->a.e.recv_cq = &small->cq;
	rx_feed_send(&t->a, 3, 0);
	rx_feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	rx_feed_send(&t->a, 3, 0);
	KUNIT_EXPECT_EQ(test, small->lost, 1);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_LOCAL);
	rx_feed_send(&t->b, 3, 0);
	rx_feed_send(&t->b, 3, 0);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, t->cq->lost, 0);
	rx_expect_done(test, 3);
	rx_expect_done(test, 4);
}

/*
 * After a Read Request kwarp_rx_end_run() reports once that something is to be sent; after a Write
 * it does not.
 */
static void test_kicks(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_feed_write(&t->a);
	KUNIT_EXPECT_FALSE(test, t->a.kick);
	feed_read(&t->a);
	KUNIT_EXPECT_TRUE(test, t->a.kick);
	rx_feed_write(&t->a);
	KUNIT_EXPECT_FALSE_MSG(test, t->a.kick, "asked for once");
}

/* 5040-8.1.2-7, 5042-6.4.3.3-1: another stream can still have its full number. */
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

/*
 * The sink of a Read, the region in which its response is placed, needs local write. It needs
 * remote write, too, if the device's setting "strict" is on. The sink of a Write needs remote
 * write.
 */
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
	rx_make_write(u);
	u[1] = 0x40 | KWARP_OP_RRESP;
	rx_feed(&t->a, u, sizeof(u));
	KUNIT_EXPECT_EQ(test, e->perr, c->err);
	KUNIT_EXPECT_EQ(test, t->mem[0], c->err == KWARP_PERR_NONE ? 0x3c : 0);
	rx_feed_write(&t->b);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, c->access & IB_ACCESS_REMOTE_WRITE ?
					   KWARP_PERR_NONE : KWARP_PERR_DDP_T_STAG);
}

/* ------------------------------------------------------- the peer's Terminate */

/* @start: index of the first outstanding Read in the queue of outstanding Reads */
static const struct blame {
	const char *desc;
	u32 reads;
	u32 start;
	bool rtr;		/* the oldest outstanding Read is our RTR message */
	bool no_header;		/* the Terminate returns no Read Request header */
	bool blamed;		/* the oldest outstanding Read must fail */
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

/*
 * If the peer's Terminate returns a Read Request header, but its DDP header names no Read of ours,
 * the oldest outstanding Read fails. If that Read is our RTR message, no request fails.
 */
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
	rx_feed_untagged(&t->a, 0x41, KWARP_OP_TERM, 0, KWARP_QN_TERM, payload, len);
	KUNIT_EXPECT_EQ(test, t->a.event, KWARP_QPE_PEER_TERM);
	KUNIT_EXPECT_EQ(test, e->sq->done[0].status,
			c->blamed ? KWARP_WC_REM_ACCESS_ERR : KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, e->sq->done[0].vendor_err,
			c->blamed ? kwarp_term_short(&term) : 0);
	for (i = 1; i <= DEPTH; i++)
		KUNIT_EXPECT_EQ(test, e->sq->done[i].status, KWARP_WC_SUCCESS);
}

/* A fault ends the stream at a Read Request: the Terminate does not carry the one before. */
static void test_fault(struct kunit *test)
{
	struct kwarp_fault_rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	struct rx_test *t = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, rule);
	*rule = (struct kwarp_fault_rule){
		.kind = KWARP_FAULT_TERMINATE, .arg = KWARP_PERR_R_STAG, .skip = 1, .times = 1,
		.percent = 100, .admin = true,
	};
	KUNIT_ASSERT_GT(test, kwarp_fault_add(rule), 0);
	t->a.qp.device = &t->a.e.kdev->ibdev;
	feed_read(&t->a);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	feed_read(&t->a);
	kwarp_fault_exit();
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_R_STAG);
	KUNIT_EXPECT_FALSE(test, t->a.rreq);
}

static struct kunit_case rx_cases[] = {
	KUNIT_CASE(test_shared_receives),
	KUNIT_CASE(test_shared_domain),
	KUNIT_CASE(test_cq_overflow),
	KUNIT_CASE(test_kicks),
	KUNIT_CASE(test_reads),
	KUNIT_CASE_PARAM(test_sink, sink_gen_params),
	KUNIT_CASE_PARAM(test_blame, blame_gen_params),
	KUNIT_CASE(test_fault),
	{}
};

static struct kunit_suite rx_suite = {
	.name = "kwarp_rx",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_cases,
};

kunit_test_suite(rx_suite);
