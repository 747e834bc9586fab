// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the receive side: Immediate Data messages of the peer (RFC 7306) */
#include "rx_fixture.h"

static const u8 imm[9] = { 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5 };

static void feed_imm(struct rx_test *t)
{
	rx_feed_untagged(&t->a, 0x41, 8, 0, 0, imm, 8);
}

static void expect_imm(struct kunit *test, u64 id, u32 len, u32 flags)
{
	struct rx_test *t = test->priv;
	const struct kwarp_cqe *cqe = test_cq_pop(t->cq);

	KUNIT_ASSERT_NOT_NULL(test, cqe);
	KUNIT_EXPECT_EQ(test, cqe->id, id);
	KUNIT_EXPECT_EQ(test, cqe->status, KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe->opcode, KWARP_WC_RECV_IMM);
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&cqe->imm, imm, 4);
	KUNIT_EXPECT_EQ(test, cqe->byte_len, len);
	KUNIT_EXPECT_EQ(test, cqe->flags & KWARP_CQE_SOLICITED, flags);
}

/* 7306-6.3-2, -4, 7306-6.1-2, 7306-7-2, 7306-D-4: each message completes one receive, in order. */
static void test_imm(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_post(t, 0, 4);
	feed_imm(t);
	rx_feed_untagged(&t->a, 0x41, 3, 0, 0, NULL, 0);
	rx_feed_untagged(&t->a, 0x41, 9, 0, 0, imm, 8);
	feed_imm(t);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
	expect_imm(test, 0, 0, 0);
	test_cq_expect(test, t->cq, 1, KWARP_WC_RECV, KWARP_WC_SUCCESS);
	expect_imm(test, 2, 0, KWARP_CQE_SOLICITED);
	expect_imm(test, 3, 0, 0);
	test_cq_none(test, t->cq);
}

/* byte_len is the length of the Write just before, or 0 if the message before was not a Write. */
static void test_imm_length(struct kunit *test)
{
	struct rx_test *t = test->priv;

	rx_post(t, 0, 7);
	rx_feed_tagged(&t->a, 0, false, VA, 20);
	rx_feed_tagged(&t->a, 0, false, VA, 20);
	rx_feed_tagged(&t->a, 0, true, VA, 3);
	feed_imm(t);
	expect_imm(test, 0, 43, 0);
	feed_imm(t);
	expect_imm(test, 1, 0, 0);
	rx_feed_tagged(&t->a, 0, true, VA, 9);
	rx_feed_tagged(&t->a, 0, true, VA, 5);
	feed_imm(t);
	expect_imm(test, 2, 5, 0);
	rx_feed_tagged(&t->a, 0, true, VA, 5);
	rx_feed_tagged(&t->a, 0, true, VA, 0);
	feed_imm(t);
	expect_imm(test, 3, 0, 0);
	rx_feed_tagged(&t->a, 0, true, VA, 5);
	rx_feed_untagged(&t->a, 0x41, 3, 0, 0, NULL, 0);
	feed_imm(t);
	test_cq_expect(test, t->cq, 4, KWARP_WC_RECV, KWARP_WC_SUCCESS);
	expect_imm(test, 5, 0, 0);
	rx_ask(t, false, VA);
	rx_feed_tagged(&t->a, 0, true, VA, 5);
	rx_feed_tagged(&t->a, 2, true, VA, 8);
	feed_imm(t);
	test_cq_expect(test, t->cq, 100, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_imm(test, 6, 0, 0);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_NONE);
}

/*
 * In the completion of Immediate Data for a kernel consumer byte_len is always 0: the consumer
 * takes byte_len for octets in its receive buffer, so the peer must not be able to choose the
 * value.
 */
static void test_imm_kernel(struct kunit *test)
{
	struct rx_test *t = test->priv;

	t->sq.user = false;
	rx_post(t, 0, 1);
	rx_feed_tagged(&t->a, 0, true, VA, 20);
	feed_imm(t);
	expect_imm(test, 0, 0, 0);
}

static const struct imm_error {
	const char *desc;
	u32 recvs;
	u32 len;
	u8 ctrl;
	bool in_send;
	bool off;
	enum kwarp_perr err;
	u32 flushed;	/* number of receives that the flush completes */
} imm_errors[] = {
	{ "no receive", 0, 8, 0x41, false, false, KWARP_PERR_DDP_U_NOBUF, 0 },
	{ "one octet short", 1, 7, 0x41, false, false, KWARP_PERR_O_STREAM, 0 },
	{ "one octet long", 1, 9, 0x41, false, false, KWARP_PERR_O_STREAM, 0 },
	{ "not last", 1, 8, 0x01, false, false, KWARP_PERR_O_STREAM, 0 },
	{ "inside a Send", 2, 8, 0x41, true, false, KWARP_PERR_O_OPCODE, 1 },
	{ "a device without it", 1, 8, 0x41, false, true, KWARP_PERR_O_OPCODE, 0 },
};

KUNIT_ARRAY_PARAM_DESC(imm_error, imm_errors, desc);

/* 7306-6.1-3, 7306-6.3-7, 7306-1.1-4: no receive completes. */
static void test_imm_error(struct kunit *test)
{
	const struct imm_error *c = test->param_value;
	struct rx_test *t = test->priv;

	t->a.e.more = c->off ? 0 : KWARP_RDMAP_RFC7306;
	rx_post(t, 1, c->recvs);
	if (c->in_send)
		rx_feed_untagged(&t->a, 0x01, 3, 0, 0, NULL, 0);
	rx_feed_untagged(&t->a, c->ctrl, 8, 0, 0, imm, c->len);
	KUNIT_EXPECT_EQ(test, t->a.e.perr, c->err);
	test_cq_none(test, t->cq);
	kwarp_rx_flush(&t->a.e);
	KUNIT_EXPECT_EQ(test, t->cq->cq.prod, c->flushed);
}

static struct kunit_case rx_imm_cases[] = {
	KUNIT_CASE(test_imm),
	KUNIT_CASE(test_imm_length),
	KUNIT_CASE(test_imm_kernel),
	KUNIT_CASE_PARAM(test_imm_error, imm_error_gen_params),
	{}
};

static struct kunit_suite rx_imm_suite = {
	.name = "kwarp_rx_imm",
	.init = rx_rfc7306_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_imm_cases,
};

kunit_test_suite(rx_imm_suite);
