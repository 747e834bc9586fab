// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the transmit step: which message is sent next, with which header and in which size */
#include "tx_fixture.h"

/* ------------------------------------------------------------------ fixture */

/* Queue a Read Request of the peer, already checked, for @len octets. */
static void asked_for(struct tx_test *t, u32 len)
{
	*kwarp_iread_tail(&t->e.iread) = (struct kwarp_iread) {
		.sink_stag = 0x77, .sink_to = 0x8800, .size = len,
	};
	kwarp_readq_push(&t->e.iread);
}

/* ------------------------------------------------------------------ headers */

static const struct form {
	const char *desc;
	u8 wr;
	u16 flags;
	struct kwarp_ddp_hdr hdr;
} forms[] = {
	{ "Send", KWARP_WR_SEND, 0, { .opcode = 3, .msn = 1 } },
	{ "Send with SE", KWARP_WR_SEND, KWARP_WR_SOLICITED, { .opcode = 5, .msn = 1 } },
	{ "Send with Invalidate", KWARP_WR_SEND_INV, 0,
	  { .opcode = 4, .stag = 0xabcdef01, .msn = 1 } },
	{ "Send with SE and Invalidate", KWARP_WR_SEND_INV, KWARP_WR_SOLICITED,
	  { .opcode = 6, .stag = 0xabcdef01, .msn = 1 } },
	{ "Write", KWARP_WR_WRITE, 0, { .tagged = true, .stag = 0x1234, .to = 0x7000 } },
	{ "Read Request", KWARP_WR_READ, 0, { .opcode = 1, .qn = 1, .msn = 1 } },
};

KUNIT_ARRAY_PARAM_DESC(form, forms, desc);

static void expect_hdr(struct kunit *test, u32 i, const struct kwarp_ddp_hdr *want)
{
	struct tx_test *t = test->priv;
	const struct kwarp_ddp_hdr *h = &t->tcp.seg[i].hdr;

	KUNIT_ASSERT_LT(test, i, t->tcp.sent);
	KUNIT_EXPECT_EQ(test, h->tagged, want->tagged);
	KUNIT_EXPECT_EQ(test, h->opcode, want->opcode);
	KUNIT_EXPECT_EQ(test, h->stag, want->stag);
	KUNIT_EXPECT_EQ(test, h->to, want->to);
	KUNIT_EXPECT_EQ(test, h->qn, want->qn);
	KUNIT_EXPECT_EQ(test, h->msn, want->msn);
}

/* 5040-4.1-3, -4, -5, -7, -8, -12; 5040-5.3-15, -16; 5041-4.3-12: also of a second message */
static void test_form(struct kunit *test)
{
	const struct form *c = test->param_value;
	struct kwarp_ddp_hdr want = c->hdr;
	struct tx_test *t = test->priv;

	tx_post(t, c->wr, c->flags, 0);
	tx_post(t, c->wr, c->flags, 0);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2);
	expect_hdr(test, 0, &want);
	want.msn += !want.tagged;
	expect_hdr(test, 1, &want);
}

/* 5041-4.3-14: the MSN after the largest is zero. */
static void test_msn_wraps(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->e.tx.msn[KWARP_QN_SEND] = U32_MAX;
	tx_post(t, KWARP_WR_SEND, 0, 0);
	tx_post(t, KWARP_WR_SEND, 0, 0);
	tx_run(test);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[0].hdr.msn, U32_MAX);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.msn, 0);
}

/* ------------------------------------------------------------------ MULPDU */

/* 5041-3-1: the MULPDU is computed again for each batch. */
static void test_mulpdu_changes(struct kunit *test)
{
	static const u32 emss[] = { 1448, 524, 8948, 1448 };
	struct tx_test *t = test->priv;
	u32 i, payload, before;

	for (i = 0; i < ARRAY_SIZE(emss); i++) {
		t->tcp.emss = emss[i];
		payload = kwarp_mpa_mulpdu(emss[i], false) - 14;
		before = t->tcp.built;
		asked_for(t, 2 * payload + 1);
		tx_run(test);
		KUNIT_ASSERT_EQ(test, t->tcp.sent, before + 3);
		KUNIT_EXPECT_EQ(test, t->tcp.seg[before].payload, payload);
		KUNIT_EXPECT_EQ(test, t->tcp.seg[before + 1].payload, payload);
		KUNIT_EXPECT_EQ(test, t->tcp.seg[before + 2].payload, 1);
	}
}

/* A change of the MULPDU does not change FPDUs that are in the batch already (5041-3-2). */
static void test_mulpdu_late(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 payload = kwarp_mpa_mulpdu(1448, false) - 14, built, len;

	asked_for(t, 100 * 1000);
	t->tcp.error = -EAGAIN;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_BLOCKED);
	built = t->tcp.built;
	len = t->e.tx.batch.len;
	KUNIT_ASSERT_GT(test, built, 0);
	t->tcp.emss = 524;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_BLOCKED);
	t->tcp.error = 0;
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.len, len);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.built, built);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, built);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[built - 1].payload, payload);
	tx_run(test);
	KUNIT_ASSERT_GT(test, t->tcp.sent, built);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[built].payload, kwarp_mpa_mulpdu(524, false) - 14);
}

/* --------------------------------------------------------------- Terminate */

/* 5040-5.4-2 to -4, -11; 5040-7-3; 5041-3-10: a Terminate replaces the rest of a message. */
static void test_terminate(struct kunit *test)
{
	static const struct kwarp_ddp_hdr want = { .opcode = 7, .qn = 2, .msn = 1 };
	struct tx_test *t = test->priv;
	u32 before;

	asked_for(t, 100 * 1000);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	before = t->tcp.built;
	KUNIT_EXPECT_NE(test, t->e.tx.msg.left, 0);
	tx_post(t, KWARP_WR_SEND, 0, 4);
	kwarp_engine_fail(&t->e, KWARP_PERR_DDP_T_STAG, NULL, 0, NULL);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, before + 1);
	expect_hdr(test, before, &want);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_TERM_SENT);
	tx_post(t, KWARP_WR_SEND, 0, 4);
	asked_for(t, 10);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.built, before + 1);
	test_cq_none(test, t->cq);
}

/*
 * A request whose payload may not be read, here because its STag is unknown, is not sent; a
 * Terminate is sent instead (5040-7.1-1, -2).
 */
static void test_request_refused(struct kunit *test)
{
	static const struct kwarp_ddp_hdr want = { .opcode = 7, .qn = 2, .msn = 1 };
	struct tx_test *t = test->priv;
	struct kwarp_sqe *w = kwarp_ring_slot(&t->sq.ring, 0);
	struct kwarp_sge *sge = (struct kwarp_sge *)(w + 1);

	tx_post(t, KWARP_WR_SEND, 0, 0);
	w->flags &= ~KWARP_WR_INLINE;
	w->inline_len = 0;
	w->num_sge = 1;
	*sge = (struct kwarp_sge) { .addr = 0x1000, .length = 8, .lkey = 0x4711 };
	tx_post(t, KWARP_WR_SEND, 0, 4);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	expect_hdr(test, 0, &want);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_LOC_PROT_ERR);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	test_cq_none(test, t->cq);
}

/* 5040-6.1-7, -9: the next Read waits until an earlier one is answered. */
static void test_reads(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	for (i = 0; i <= DEPTH; i++)
		tx_post(t, KWARP_WR_READ, 0, 0);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, DEPTH);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	kwarp_readq_pop(&t->e.oread);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, DEPTH + 1);
}

/* 5040-6.1-7, -9; 5040-7.1-2: with an ORD of 0 a Read fails and does not wait. */
static void test_read_without_ord(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->e.oread.depth = 0;
	tx_post(t, KWARP_WR_SEND, 0, 4);
	tx_post(t, KWARP_WR_READ, 0, 0);
	tx_post(t, KWARP_WR_SEND, 0, 4);
	tx_run(test);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[0].hdr.opcode, KWARP_OP_SEND);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.opcode, KWARP_OP_TERM);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	test_cq_expect(test, t->cq, 0, KWARP_WR_READ, KWARP_WC_LOC_QP_OP_ERR);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	test_cq_none(test, t->cq);
}

/*
 * 5041-5.3-2. Read Responses and our messages alternate, so neither kind waits for more than one
 * message of the other.
 */
static void test_turns(struct kunit *test)
{
	static const u8 want[] = { KWARP_OP_RRESP, KWARP_OP_SEND, KWARP_OP_RRESP, KWARP_OP_SEND };
	struct tx_test *t = test->priv;
	u32 i, n = 0, len = 0;

	tx_post(t, KWARP_WR_SEND, 0, 4);
	tx_post(t, KWARP_WR_SEND, 0, 4);
	asked_for(t, 2 * KWARP_BATCH_LEN);
	asked_for(t, KWARP_BATCH_LEN + 1);
	t->e.tx.answers_first = false;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_TRUE(test, t->e.tx.answered);
	tx_run(test);
	for (i = 0; i < t->tcp.sent; i++) {
		const struct segment *s = &t->tcp.seg[i];

		KUNIT_ASSERT_LT(test, n, ARRAY_SIZE(want));
		KUNIT_ASSERT_EQ(test, s->hdr.opcode, want[n]);
		len += s->payload;
		if (len == (want[n] == KWARP_OP_SEND ? 4 : n ? KWARP_BATCH_LEN + 1 :
							       2 * KWARP_BATCH_LEN)) {
			n++;
			len = 0;
		}
	}
	KUNIT_EXPECT_EQ(test, n, ARRAY_SIZE(want));
	tx_post(t, KWARP_WR_SEND, 0, 4);
	tx_run(test);
	KUNIT_EXPECT_FALSE(test, t->e.tx.answered);
}

/* --------------------------------------------------- binds, batches and TCP */

/* The bind comes after the Send posted before it, and fails: there is no window and no region. */
static void test_bind(struct kunit *test)
{
	struct tx_test *t = test->priv;

	tx_post(t, KWARP_WR_SEND, 0, 100);
	tx_post(t, KWARP_WR_BIND_MW, 0, 0);
	tx_run(test);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[0].hdr.opcode, KWARP_OP_SEND);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.opcode, KWARP_OP_TERM);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, t->sq.done[1].status, KWARP_WC_MW_BIND_ERR);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
}

/* kwarp_tcp_packet() allows as many whole TCP segments as fit into KWARP_BATCH_LEN octets. */
static void test_one_packet(struct kunit *test)
{
	struct tx_test *t = test->priv;
	const u32 payload = kwarp_mpa_mulpdu(1448, false) - 14, segments = KWARP_BATCH_LEN / 1448;

	t->tcp.emss = 1448;
	asked_for(t, segments * payload + 1);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, segments);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, segments + 1);

	asked_for(t, segments * payload);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2 * segments + 1);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(&t->e.iread));
}

/* batch.cut is the segment's length; without alignment it is 0. */
static void test_align(struct kunit *test)
{
	struct tx_test *t = test->priv;

	kwarp_tx_step(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.cut, 0);
	t->e.tx.align = true;
	kwarp_tx_step(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.cut, t->tcp.emss);
}

/* Two Read Responses fit into one batch, but not into one segment. */
static void test_align_ends_batch(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->e.tx.align = true;
	t->tcp.emss = 1448;
	asked_for(t, 1000);
	asked_for(t, 1001);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].payload, 1001);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(&t->e.iread));
}

/* Memory is allocated without sleeping, and kwarp_batch_send() is called with @locked. */
static void test_in_socket(struct kunit *test)
{
	struct tx_test *t = test->priv;
	int in;

	for (in = 0; in < 2; in++) {
		t->e.tx.in_socket = in;
		t->locked = !in;
		t->may_sleep = in;
		tx_post(t, KWARP_WR_SEND, 0, 1);
		KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
		KUNIT_EXPECT_EQ(test, t->locked, in);
		KUNIT_EXPECT_EQ(test, t->may_sleep, !in);
	}
}

static void test_tcp_takes_none(struct kunit *test)
{
	struct tx_test *t = test->priv;

	tx_post(t, KWARP_WR_SEND, 0, 1);
	t->tcp.error = -EAGAIN;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_BLOCKED);
	t->tcp.error = -ENOBUFS;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_NO_MEMORY);
	t->tcp.error = 0;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
}

/* The peer has the octets of the Write, but is not notified of them. */
static void test_lost_before_imm(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->sq.rfc7306 = true;
	/* The Write fills one batch, and its Immediate Data is sent with the next. */
	t->tcp.packet = 64;
	tx_post(t, KWARP_WR_WRITE_IMM, 0, 64);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[0].hdr.opcode, KWARP_OP_WRITE);
	test_cq_none(test, t->cq);
	t->tcp.error = -EPIPE;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.opcode, KWARP_OP_IMM);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_LOST);
	test_cq_none(test, t->cq);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, KWARP_WR_WRITE_IMM, KWARP_WC_FLUSH_ERR);
	test_cq_none(test, t->cq);
}

/* One step examines a limited number of requests: it may run in softirq. */
static void test_requests_bounded(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	tx_make_room(test);
	for (i = 0; i < KWARP_BATCH_EFFORT + 3; i++)
		tx_post(t, KWARP_WR_SEND, 0, 1);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, KWARP_BATCH_EFFORT);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, KWARP_BATCH_EFFORT + 3);
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE_PARAM(test_form, form_gen_params),
	KUNIT_CASE(test_msn_wraps),
	KUNIT_CASE(test_mulpdu_changes),
	KUNIT_CASE(test_mulpdu_late),
	KUNIT_CASE(test_terminate),
	KUNIT_CASE(test_request_refused),
	KUNIT_CASE(test_reads),
	KUNIT_CASE(test_read_without_ord),
	KUNIT_CASE(test_turns),
	KUNIT_CASE(test_bind),
	KUNIT_CASE(test_one_packet),
	KUNIT_CASE(test_align),
	KUNIT_CASE(test_align_ends_batch),
	KUNIT_CASE(test_in_socket),
	KUNIT_CASE(test_tcp_takes_none),
	KUNIT_CASE(test_lost_before_imm),
	KUNIT_CASE(test_requests_bounded),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "kwarp_tx",
	.init = tx_test_init,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);
