// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the receive side: Atomic Requests and Responses of the peer (RFC 7306), and which of our
 * outstanding requests fails when the peer sends a Terminate.
 */
#include "rx_fixture.h"

static void feed_atomic(struct rx_test *t, const struct kwarp_atomic_req *req)
{
	u8 h[KWARP_ATOMIC_REQ_LEN];

	kwarp_atomic_req_encode(h, req);
	rx_feed_untagged(&t->a, 0x41, 10, 0, 1, h, sizeof(h));
}

static void feed_answer(struct rx_test *t, u32 id, u64 value)
{
	const struct kwarp_atomic_resp resp = { .id = id, .value = value };
	u8 h[KWARP_ATOMIC_RESP_LEN];

	kwarp_atomic_resp_encode(h, &resp);
	rx_feed_untagged(&t->a, 0x41, 11, 0, 3, h, sizeof(h));
}

/* ----------------------------------------------------------- Atomic Request */

/* The region begins at the second octet of the first word. */
#define WORD_1	(VA + 7)

/* 7306-5.2.1-4, -10, -11, -14: the request is not carried out yet, and causes no completion. */
static void test_request(struct kunit *test)
{
	const struct kwarp_atomic_req req = {
		.op = KWARP_ATOMIC_CMP_SWAP, .id = 0xfeedf00d, .stag = STAG, .to = WORD_1,
		.data = 1, .mask = 2, .compare = 3, .compare_mask = 4,
	};
	struct rx_test *t = test->priv;
	u32 i;

	for (i = 0; i < DEPTH; i++)
		feed_atomic(t, &req);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_full(&t->a.e.iread));
	KUNIT_EXPECT_TRUE(test, kwarp_iread_head(&t->a.e.iread)->atomic);
	KUNIT_EXPECT_MEMEQ(test, &kwarp_iread_head(&t->a.e.iread)->req, &req,
			   offsetofend(struct kwarp_atomic_req, op));
	KUNIT_EXPECT_EQ(test, kwarp_iread_head(&t->a.e.iread)->raw[1], 0x4a);
	KUNIT_EXPECT_EQ(test, t->words[1], 0);
	test_cq_none(test, t->cq);
	/* The queue is full, so there is no buffer for another request (7306-5.2.1-9). */
	feed_atomic(t, &req);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
}

static const struct req_error {
	const char *desc;
	u8 op;
	int qp_access;
	int access;
	bool other_pd;
	u32 stag;
	u64 to;
	enum kwarp_perr err;
} req_errors[] = {
	{ "first word", 0, -1, -1, false, STAG, VA + 7, KWARP_PERR_NONE },
	{ "last word", 0, -1, -1, false, STAG, VA + 47, KWARP_PERR_NONE },
	{ "operation 1", 1, -1, -1, false, STAG, WORD_1, KWARP_PERR_O_OPCODE },
	{ "operation 3", 3, -1, -1, false, STAG, WORD_1, KWARP_PERR_O_OPCODE },
	{ "operation 15, of no region", 15, -1, -1, false, 0, 0, KWARP_PERR_O_OPCODE },
	{ "QP without the right", 0, IB_ACCESS_REMOTE_WRITE, -1, false, STAG, WORD_1,
	  KWARP_PERR_R_ACCESS },
	{ "no region", 0, -1, -1, false, 0x100, WORD_1, KWARP_PERR_R_STAG },
	{ "wrong key", 0, -1, -1, false, STAG ^ 1, WORD_1, KWARP_PERR_R_STAG },
	{ "other domain", 0, -1, -1, true, STAG, WORD_1, KWARP_PERR_R_STREAM },
	{ "region without the right", 0, -1, IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ, false,
	  STAG, WORD_1, KWARP_PERR_R_ACCESS },
	{ "wraps", 0, -1, -1, false, STAG, U64_MAX - 6, KWARP_PERR_R_WRAP },
	{ "before the region", 0, -1, -1, false, STAG, VA - 1, KWARP_PERR_R_BOUNDS },
	{ "one octet too far", 0, -1, -1, false, STAG, VA + 55, KWARP_PERR_R_BOUNDS },
	{ "an even offset, an odd address", 0, -1, -1, false, STAG, VA, KWARP_PERR_O_STREAM },
	{ "one off", 0, -1, -1, false, STAG, WORD_1 + 1, KWARP_PERR_O_STREAM },
	{ "four off", 2, -1, -1, false, STAG, WORD_1 + 4, KWARP_PERR_O_STREAM },
	{ "seven off", 2, -1, -1, false, STAG, WORD_1 + 7, KWARP_PERR_O_STREAM },
};

KUNIT_ARRAY_PARAM_DESC(req_error, req_errors, desc);

/*
 * 7306-8.2-4 to -6, 7306-5.1.1-2 to -5, 7306-5.1.2-4 to -8, 7306-5.2.1-6, -12, 7306-8.1-2: a wrong
 * request is not queued and not carried out, and the Terminate has no Read Request header.
 */
static void test_request_error(struct kunit *test)
{
	const struct req_error *c = test->param_value;
	struct rx_test *t = test->priv;
	const struct kwarp_atomic_req req = {
		.op = c->op, .stag = c->stag, .to = c->to, .data = 1, .mask = c->op ? U64_MAX : 0,
		.compare_mask = U64_MAX,
	};

	t->a.e.access &= c->qp_access;
	t->mr.access &= c->access;
	if (c->other_pd)
		t->mr.pd = &t->other_pd;
	feed_atomic(t, &req);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, c->err);
	KUNIT_EXPECT_FALSE(test, t->a.rreq);
	KUNIT_EXPECT_EQ(test, kwarp_readq_empty(&t->a.e.iread), c->err != KWARP_PERR_NONE);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->words, 0, sizeof(t->words)));
}

/* ---------------------------------------------------------- Atomic Response */

/* 7306-5-6, 7306-5.2.2-6: placed at any address; requests complete in order. */
static void test_response(struct kunit *test)
{
	static const u64 value = 0x0102030405060708;
	struct rx_test *t = test->priv;

	rx_ask(t, true, VA + 2);
	rx_ask(t, false, VA + 30);
	rx_ask(t, true, VA + 11);
	feed_answer(t, 1, value);
	test_cq_expect(test, t->cq, 100, KWARP_WR_FETCH_ADD, KWARP_WC_SUCCESS);
	test_cq_none(test, t->cq);
	rx_feed_tagged(&t->a, 2, true, VA + 30, 8);
	feed_answer(t, 3, ~value);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	test_cq_expect(test, t->cq, 101, KWARP_WR_READ, KWARP_WC_SUCCESS);
	test_cq_expect(test, t->cq, 102, KWARP_WR_FETCH_ADD, KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, get_unaligned((u64 *)(t->chunk + 3)), value);
	KUNIT_EXPECT_EQ(test, get_unaligned((u64 *)(t->chunk + 12)), ~value);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(&t->a.e.oread));
}

/* An Atomic Response with the ID of another request is an error (7306-5.2.2-7). */
static void test_response_wrong_id(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_ask(t, true, VA);
	feed_answer(t, 2, 7);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_O_STREAM);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->words, 0, sizeof(t->words)));
	test_cq_none(test, t->cq);
}

static void test_response_unasked(struct kunit *test)
{
	struct rx_test *t = test->priv;

	feed_answer(t, 1, 7);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
}

/* An Atomic Response is an error while an earlier Read is outstanding (7306-7-9). */
static void test_response_for_read(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_ask(t, false, VA);
	rx_ask(t, true, VA);
	feed_answer(t, 2, 7);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->words, 0, sizeof(t->words)));
}

/* A Read Response is an error while an earlier atomic operation is outstanding (7306-7-5). */
static void test_read_for_response(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_ask(t, true, VA);
	rx_feed_tagged(&t->a, 2, true, VA, 0);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_O_OPCODE);
}

/* The sink, the buffer of the request, was deregistered before the response came. */
static void test_response_no_sink(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_ask(t, true, VA);
	t->mr.valid = false;
	feed_answer(t, 1, 7);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_LOCAL);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 100, KWARP_WR_FETCH_ADD, KWARP_WC_LOC_PROT_ERR);
}

/* A Read has held up more requests than complete here: the runner has to complete the rest. */
static void test_response_many(struct kunit *test)
{
	struct kwarp_wqe wqe = { .rule = kwarp_wr_rule(KWARP_WR_SEND) };
	struct rx_test *t = test->priv;
	const u32 n = 2048;
	u32 i;

	test_sq_free(&t->sq);
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, n, kwarp_sqe_stride(1, 0)), 0);
	rx_ask(t, false, VA);
	for (i = 1; i < n; i++)
		kwarp_sq_take(&t->sq, &wqe);
	kwarp_sq_sent(&t->sq, n);
	rx_feed_tagged(&t->a, 2, true, VA, 8);
	test_cq_expect(test, t->cq, 100, KWARP_WR_READ, KWARP_WC_SUCCESS);
	KUNIT_EXPECT_LT(test, t->sq.ring.hdr->cons, n);
	KUNIT_EXPECT_TRUE(test, t->a.kick);
}

/* ---------------------------------------------------------------- Terminate */

static const struct blame {
	const char *desc;
	u8 layer, etype;
	u32 qn;
	u32 msn;
	bool rreq;
	u8 status[3];
} blames[] = {
	{ "access error, the second", 0, 1, 1, 2, false,
	  { KWARP_WC_FLUSH_ERR, KWARP_WC_REM_ACCESS_ERR, KWARP_WC_FLUSH_ERR } },
	{ "operation error, the third", 0, 2, 1, 3, false,
	  { KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR, KWARP_WC_REM_OP_ERR } },
	{ "no buffer, the first", 1, 2, 1, 1, false,
	  { KWARP_WC_REM_OP_ERR, KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR } },
	{ "one that has been answered long ago", 0, 1, 1, 0, false,
	  { KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR } },
	{ "a Send", 0, 2, 0, 2, false,
	  { KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR } },
	{ "a Read by its sink, too", 0, 1, 1, 2, true,
	  { KWARP_WC_FLUSH_ERR, KWARP_WC_REM_ACCESS_ERR, KWARP_WC_FLUSH_ERR } },
	{ "a Read by a number that is an atomic operation's", 0, 1, 1, 3, true,
	  { KWARP_WC_REM_ACCESS_ERR, KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR } },
	{ "a Read, but which one", 0, 1, 0, 2, true,
	  { KWARP_WC_REM_ACCESS_ERR, KWARP_WC_FLUSH_ERR, KWARP_WC_FLUSH_ERR } },
};

KUNIT_ARRAY_PARAM_DESC(blame, blames, desc);

static void test_blame(struct kunit *test)
{
	const struct blame *c = test->param_value;
	struct rx_test *t = test->priv;
	struct kwarp_term term = {
		.layer = c->layer, .etype = c->etype, .code = 1, .seg_len_valid = true,
		.has_ddp = true, .has_rdmap = c->rreq, .seg_len = 70, .ddp_hdr_len = 18,
		.ddp_hdr = { 0x41, 0x4a },
	};
	u8 h[KWARP_TERM_MAX_LEN];
	u32 i;

	put_unaligned_be32(STAG, term.rreq);
	put_unaligned_be32(c->qn, term.ddp_hdr + 6);
	put_unaligned_be32(c->msn, term.ddp_hdr + 10);
	for (i = 0; i < 3; i++)
		rx_ask(t, i != 1, VA);
	rx_feed_untagged(&t->a, 0x41, 7, 0, 2, h, kwarp_term_encode(h, &term));
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	for (i = 0; i < 3; i++)
		test_cq_expect(test, t->cq, 100 + i, i == 1 ? KWARP_WR_READ : KWARP_WR_FETCH_ADD,
			       c->status[i]);
}

static struct kunit_case rx_atomic_cases[] = {
	KUNIT_CASE(test_request),
	KUNIT_CASE_PARAM(test_request_error, req_error_gen_params),
	KUNIT_CASE(test_response),
	KUNIT_CASE(test_response_wrong_id),
	KUNIT_CASE(test_response_unasked),
	KUNIT_CASE(test_response_for_read),
	KUNIT_CASE(test_read_for_response),
	KUNIT_CASE(test_response_no_sink),
	KUNIT_CASE(test_response_many),
	KUNIT_CASE_PARAM(test_blame, blame_gen_params),
	{}
};

static struct kunit_suite rx_atomic_suite = {
	.name = "kwarp_rx_atomic",
	.init = rx_rfc7306_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_atomic_cases,
};

kunit_test_suite(rx_atomic_suite);
