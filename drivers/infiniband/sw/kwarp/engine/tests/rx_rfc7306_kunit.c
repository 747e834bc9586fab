// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of inbound messages of RFC 7306: Immediate Data, Atomic Requests and Responses, and which
 * request a Terminate is about. The code is included; the region is a stand-in, the queues are the
 * real ones.
 */
#include <kunit/test.h>

/* Other suites use these names, too. */
#define kwarp_rx_init		ext_rx_init
#define kwarp_rx_feed		ext_rx_feed
#define kwarp_rx_end_run	ext_rx_end_run
#define kwarp_rx_eof		ext_rx_eof
#define kwarp_rx_accept_series	ext_rx_accept_series
#define kwarp_rx_place		ext_rx_place
#define kwarp_rx_put		ext_rx_put
#define kwarp_rx_mr		ext_rx_mr
#define kwarp_rx_open		ext_rx_open
#define kwarp_rx_complete	ext_rx_complete
#define kwarp_rx_flush		ext_rx_flush
#define kwarp_rx_answered	ext_rx_answered
#define kwarp_rx_begin_atomic	ext_rx_begin_atomic
#define kwarp_rx_end_atomic	ext_rx_end_atomic
#define kwarp_rx_blame		ext_rx_blame
#define kwarp_engine_fail	ext_engine_fail
#define kwarp_engine_lost	ext_engine_lost
#define kwarp_mr_lookup		ext_mr_lookup
#define kwarp_mr_put		ext_mr_put
#include "../rx/stream.c"
#include "../rx/segment.c"
#include "../rx/series.c"
#include "../rx/place.c"
#include "../rx/answer.c"
#include "../rx/receive.c"

#include "../../proto/tests/emit.h"
#include "queues.h"

#define STAG		0x12345678U
#define VA		0x7f0000000000ULL
#define DEPTH		3
#define ENTRIES		8
#define WORDS		8

/**
 * struct ext_test - one stream
 * @e: engine
 * @qp: its QP
 * @sq: its send queue
 * @rq: its receive queue
 * @cq: completion queue of both
 * @mr: the region, which covers @words
 * @pd: protection domain
 * @other_pd: another protection domain
 * @chunk: the region's only piece of memory
 * @words: the region's memory, and one more octet at each end
 * @msn: next MSN that the peer sends, for each queue
 * @rreq: the error was reported with a Read Request header
 */
struct ext_test {
	struct kwarp_engine e;
	struct ib_qp qp;
	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct test_cq *cq;
	struct kwarp_mr mr;
	struct ib_pd pd;
	struct ib_pd other_pd;
	u8 *chunk;
	u64 words[WORDS];
	u32 msn[KWARP_QN_COUNT];
	bool rreq;
};

static struct ext_test *the_test;

struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag)
{
	return stag >> 8 == STAG >> 8 ? &the_test->mr : NULL;
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
}

void kwarp_engine_lost(struct kwarp_engine *e)
{
	e->perr = KWARP_PERR_MPA_LOST;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	e->perr = perr;
	the_test->rreq = rreq;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

static void on_event(struct kwarp_engine *e, enum kwarp_qp_event event)
{
}

static const struct kwarp_engine_ops ops = { .event = on_event };

/* ------------------------------------------------------------------ fixture */

static void make_queues(struct kunit *test, struct ext_test *t)
{
	t->cq = test_cq_new(test, 2 * ENTRIES);
	t->sq.rfc7306 = true;
	test_sq_init(test, &t->sq, t->cq, &t->qp, ENTRIES, 0);
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&t->rq, ENTRIES, kwarp_rqe_stride(1)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_ring_free, &t->rq.ring), 0);
	test_readq_init(test, &t->e.iread, DEPTH, sizeof(struct kwarp_iread));
	test_readq_init(test, &t->e.oread, DEPTH, sizeof(struct kwarp_oread));
}

/*
 * Set up the region: all of @words except the first and the last octet, so that the region's first
 * octet has an odd address.
 */
static void make_region(struct ext_test *t)
{
	struct kwarp_mr *mr = &t->mr;

	rwlock_init(&mr->lock);
	memset(t->words, 0, sizeof(t->words));
	t->chunk = (u8 *)t->words;
	mr->kind = KWARP_MR_USER;
	mr->valid = true;
	mr->stag = STAG;
	mr->access = IB_ACCESS_LOCAL_WRITE | KWARP_REMOTE_ACCESS;
	mr->pd = &t->pd;
	mr->va = VA;
	mr->length = sizeof(t->words) - 2;
	mr->chunk = &t->chunk;
	mr->nchunks = 1;
	mr->shift = ilog2(sizeof(t->words));
	mr->offset = 1;
}

static int ext_test_init(struct kunit *test)
{
	struct ext_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct kwarp_engine *e;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	e = &t->e;
	e->kdev = kunit_kzalloc(test, sizeof(*e->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->kdev);
	t->qp.qp_num = TEST_QPN;
	make_queues(test, t);
	make_region(t);
	for (i = 0; i < KWARP_QN_COUNT; i++)
		t->msn[i] = 1;
	e->ibqp = &t->qp;
	e->ops = &ops;
	e->mem.pd = &t->pd;
	e->recv_mem = &e->mem;
	e->sq = &t->sq;
	e->rq = &t->rq;
	e->recv_cq = &t->cq->cq;
	e->rfc7306 = true;
	e->sink_rights = IB_ACCESS_LOCAL_WRITE;
	e->access = KWARP_REMOTE_ACCESS;
	e->flags = BIT(KWARP_E_TX_OPEN);
	kwarp_rx_init(e, true, false);
	return 0;
}

/* Post receives of no octets, with identifiers from @id on. */
static void post_recv(struct ext_test *t, u64 id, u32 n)
{
	struct kwarp_rqe *e;

	for (; n; n--, id++, t->rq.ring.hdr->prod++) {
		e = kwarp_ring_slot(&t->rq.ring, t->rq.ring.hdr->prod);
		e->id = id;
		e->num_sge = 0;
	}
}

/* Add an outstanding request of ours, the next of the queue. */
static void ask(struct ext_test *t, bool atomic, u64 to)
{
	struct kwarp_wqe wqe = {
		.e.id = 100 + t->sq.next,
		.e.opcode = atomic ? KWARP_WR_FETCH_ADD : KWARP_WR_READ,
		.e.flags = KWARP_WR_SIGNALED,
		.len = 8,
	};
	struct kwarp_oread *r = kwarp_oread_tail(&t->e.oread);

	wqe.rule = kwarp_wr_rule(wqe.e.opcode);
	*r = (struct kwarp_oread) { .atomic = atomic, .stag = STAG, .to = to, .left = 8 };
	r->sq_index = kwarp_sq_take(&t->sq, &wqe);
	r->msn = r->sq_index + 1;
	kwarp_readq_push(&t->e.oread);
	kwarp_sq_sent(&t->sq, t->sq.next);
}

/* ----------------------------------------------------------------- the peer */

static void feed(struct ext_test *t, const u8 *ulpdu, u32 len)
{
	u8 wire[128];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };

	kwarp_emit_fpdu(&w, ulpdu, len, 0);
	kwarp_fpdu_rx_verify(&t->e.rx.fpdu, w.crc, wire + w.len - 4);
	kwarp_rx_feed(&t->e, wire, w.len);
	kwarp_rx_end_run(&t->e);
}

static void feed_untagged(struct ext_test *t, u8 ctrl, u8 opcode, u32 qn, const void *payload,
			  u32 len)
{
	u8 u[18 + KWARP_TERM_MAX_LEN + 1] = { ctrl, 0x40 | opcode, 0xff, 0xff, 0xff, 0xff };

	put_unaligned_be32(qn, u + 6);
	put_unaligned_be32(t->msn[qn], u + 10);
	memcpy(u + 18, payload, len);
	feed(t, u, 18 + len);
	if (ctrl & 0x40)
		t->msn[qn]++;
}

static const u8 imm[9] = { 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5 };

static void feed_imm(struct ext_test *t)
{
	feed_untagged(t, 0x41, 8, 0, imm, 8);
}

static void feed_tagged(struct ext_test *t, u8 opcode, bool last, u64 to, u32 len)
{
	u8 u[14 + 32] = { last ? 0xc1 : 0x81, 0x40 | opcode };

	put_unaligned_be32(STAG, u + 2);
	put_unaligned_be64(to, u + 6);
	feed(t, u, 14 + len);
}

static void feed_atomic(struct ext_test *t, const struct kwarp_atomic_req *req)
{
	u8 h[KWARP_ATOMIC_REQ_LEN];

	kwarp_atomic_req_encode(h, req);
	feed_untagged(t, 0x41, 10, 1, h, sizeof(h));
}

static void feed_answer(struct ext_test *t, u32 id, u64 value)
{
	const struct kwarp_atomic_resp resp = { .id = id, .value = value };
	u8 h[KWARP_ATOMIC_RESP_LEN];

	kwarp_atomic_resp_encode(h, &resp);
	feed_untagged(t, 0x41, 11, 3, h, sizeof(h));
}

/* ----------------------------------------------------------- Immediate Data */

static void expect_imm(struct kunit *test, u64 id, u32 len, u32 flags)
{
	struct ext_test *t = test->priv;
	const struct kwarp_cqe *cqe = test_cq_pop(t->cq);

	KUNIT_ASSERT_NOT_NULL(test, cqe);
	KUNIT_EXPECT_EQ(test, cqe->id, id);
	KUNIT_EXPECT_EQ(test, cqe->status, KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe->opcode, KWARP_WC_RECV_IMM);
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&cqe->imm, imm, 4);
	KUNIT_EXPECT_EQ(test, cqe->inv_stag, 0);
	KUNIT_EXPECT_EQ(test, cqe->byte_len, len);
	KUNIT_EXPECT_EQ(test, cqe->flags, flags);
}

/*
 * Immediate Data and Sends use receives in order, one each (7306-6.3-2, -4, 7306-6.1-2, 7306-7-2,
 * 7306-D-4).
 */
static void test_imm(struct kunit *test)
{
	struct ext_test *t = test->priv;

	post_recv(t, 0, 4);
	feed_imm(t);
	feed_untagged(t, 0x41, 3, 0, NULL, 0);
	feed_untagged(t, 0x41, 9, 0, imm, 8);
	feed_imm(t);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	expect_imm(test, 0, 0, 0);
	test_cq_expect(test, t->cq, 1, KWARP_WC_RECV, KWARP_WC_SUCCESS);
	expect_imm(test, 2, 0, KWARP_CQE_SOLICITED);
	expect_imm(test, 3, 0, 0);
	test_cq_none(test, t->cq);
}

/*
 * byte_len of Immediate Data is the length of the Write just before it, over all segments, and of
 * no other message.
 */
static void test_imm_length(struct kunit *test)
{
	struct ext_test *t = test->priv;

	post_recv(t, 0, 7);
	feed_tagged(t, 0, false, VA, 20);
	feed_tagged(t, 0, false, VA, 20);
	feed_tagged(t, 0, true, VA, 3);
	feed_imm(t);
	expect_imm(test, 0, 43, 0);
	feed_imm(t);
	expect_imm(test, 1, 0, 0);
	feed_tagged(t, 0, true, VA, 9);
	feed_tagged(t, 0, true, VA, 5);
	feed_imm(t);
	expect_imm(test, 2, 5, 0);
	feed_tagged(t, 0, true, VA, 5);
	feed_tagged(t, 0, true, VA, 0);
	feed_imm(t);
	expect_imm(test, 3, 0, 0);
	feed_tagged(t, 0, true, VA, 5);
	feed_untagged(t, 0x41, 3, 0, NULL, 0);
	feed_imm(t);
	test_cq_expect(test, t->cq, 4, KWARP_WC_RECV, KWARP_WC_SUCCESS);
	expect_imm(test, 5, 0, 0);
	ask(t, false, VA);
	feed_tagged(t, 0, true, VA, 5);
	feed_tagged(t, 2, true, VA, 8);
	feed_imm(t);
	test_cq_expect(test, t->cq, 100, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_imm(test, 6, 0, 0);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

/*
 * A kernel consumer takes byte_len for octets in its buffer, so the peer must not be able to choose
 * it.
 */
static void test_imm_kernel(struct kunit *test)
{
	struct ext_test *t = test->priv;

	t->sq.user = false;
	post_recv(t, 0, 1);
	feed_tagged(t, 0, true, VA, 20);
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

/* Errors of Immediate Data (7306-6.1-3, 7306-6.3-7, 7306-1.1-4). */
static void test_imm_error(struct kunit *test)
{
	const struct imm_error *c = test->param_value;
	struct ext_test *t = test->priv;

	t->e.rfc7306 = !c->off;
	post_recv(t, 1, c->recvs);
	if (c->in_send)
		feed_untagged(t, 0x01, 3, 0, NULL, 0);
	feed_untagged(t, c->ctrl, 8, 0, imm, c->len);
	KUNIT_EXPECT_EQ(test, t->e.perr, c->err);
	test_cq_none(test, t->cq);
	kwarp_rx_flush(&t->e);
	KUNIT_EXPECT_EQ(test, t->cq->cq.prod, c->flushed);
}

/* ----------------------------------------------------------- Atomic Request */

/* The second word of memory is at offset 7 of the region. */
#define WORD_1	(VA + 7)

/*
 * An Atomic Request is queued; there is no completion, and the operation is not carried out yet
 * (7306-5.2.1-4, -10, -11, -14).
 */
static void test_request(struct kunit *test)
{
	const struct kwarp_atomic_req req = {
		.op = KWARP_ATOMIC_CMP_SWAP, .id = 0xfeedf00d, .stag = STAG, .to = WORD_1,
		.data = 1, .mask = 2, .compare = 3, .compare_mask = 4,
	};
	struct ext_test *t = test->priv;
	u32 i;

	for (i = 0; i < DEPTH; i++)
		feed_atomic(t, &req);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_full(&t->e.iread));
	KUNIT_EXPECT_TRUE(test, kwarp_iread_head(&t->e.iread)->atomic);
	KUNIT_EXPECT_MEMEQ(test, &kwarp_iread_head(&t->e.iread)->req, &req, sizeof(req));
	KUNIT_EXPECT_EQ(test, kwarp_iread_head(&t->e.iread)->raw_ddp[1], 0x4a);
	KUNIT_EXPECT_EQ(test, t->words[1], 0);
	test_cq_none(test, t->cq);
	/* one request too many has no buffer (7306-5.2.1-9) */
	feed_atomic(t, &req);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_DDP_U_NOBUF);
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
 * Errors of Atomic Requests (7306-8.2-4 to -6, 7306-5.1.1-2 to -5, 7306-5.1.2-4 to -8,
 * 7306-5.2.1-6, -12, 7306-8.1-2).
 */
static void test_request_error(struct kunit *test)
{
	const struct req_error *c = test->param_value;
	struct ext_test *t = test->priv;
	const struct kwarp_atomic_req req = {
		.op = c->op, .stag = c->stag, .to = c->to, .data = 1, .mask = c->op ? U64_MAX : 0,
		.compare_mask = U64_MAX,
	};

	t->e.access &= c->qp_access;
	t->mr.access &= c->access;
	if (c->other_pd)
		t->mr.pd = &t->other_pd;
	feed_atomic(t, &req);
	KUNIT_EXPECT_EQ(test, t->e.perr, c->err);
	KUNIT_EXPECT_FALSE(test, t->rreq);
	KUNIT_EXPECT_EQ(test, kwarp_readq_empty(&t->e.iread), c->err != KWARP_PERR_NONE);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->words, 0, sizeof(t->words)));
}

/* ---------------------------------------------------------- Atomic Response */

/*
 * Each Atomic Response is placed in its own buffer, at any address, in order (7306-5-6,
 * 7306-5.2.2-6).
 */
static void test_response(struct kunit *test)
{
	static const u64 value = 0x0102030405060708;
	struct ext_test *t = test->priv;

	ask(t, true, VA + 2);
	ask(t, false, VA + 30);
	ask(t, true, VA + 11);
	feed_answer(t, 1, value);
	test_cq_expect(test, t->cq, 100, KWARP_WR_FETCH_ADD, KWARP_WC_SUCCESS);
	test_cq_none(test, t->cq);
	feed_tagged(t, 2, true, VA + 30, 8);
	feed_answer(t, 3, ~value);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	test_cq_expect(test, t->cq, 101, KWARP_WR_READ, KWARP_WC_SUCCESS);
	test_cq_expect(test, t->cq, 102, KWARP_WR_FETCH_ADD, KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, get_unaligned((u64 *)(t->chunk + 3)), value);
	KUNIT_EXPECT_EQ(test, get_unaligned((u64 *)(t->chunk + 12)), ~value);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(&t->e.oread));
}

/* A response that names another request is an error (7306-5.2.2-7). */
static void test_response_wrong_id(struct kunit *test)
{
	struct ext_test *t = test->priv;

	ask(t, true, VA);
	feed_answer(t, 2, 7);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_O_STREAM);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->words, 0, sizeof(t->words)));
	test_cq_none(test, t->cq);
}

static void test_response_unasked(struct kunit *test)
{
	struct ext_test *t = test->priv;

	feed_answer(t, 1, 7);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_DDP_U_NOBUF);
}

/* An Atomic Response is an error while an earlier Read is outstanding (7306-7-9). */
static void test_response_for_read(struct kunit *test)
{
	struct ext_test *t = test->priv;

	ask(t, false, VA);
	ask(t, true, VA);
	feed_answer(t, 2, 7);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_DDP_U_NOBUF);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->words, 0, sizeof(t->words)));
}

/* A Read Response is an error while an earlier atomic operation is outstanding (7306-7-5). */
static void test_read_for_response(struct kunit *test)
{
	struct ext_test *t = test->priv;

	ask(t, true, VA);
	feed_tagged(t, 2, true, VA, 0);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_O_OPCODE);
}

/* The sink was deregistered meanwhile: the request fails with a protection error. */
static void test_response_no_sink(struct kunit *test)
{
	struct ext_test *t = test->priv;

	ask(t, true, VA);
	t->mr.valid = false;
	feed_answer(t, 1, 7);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_LOCAL);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 100, KWARP_WR_FETCH_ADD, KWARP_WC_LOC_PROT_ERR);
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
	struct ext_test *t = test->priv;
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
		ask(t, i != 1, VA);
	feed_untagged(t, 0x41, 7, 2, h, kwarp_term_encode(h, &term));
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	for (i = 0; i < 3; i++)
		test_cq_expect(test, t->cq, 100 + i, i == 1 ? KWARP_WR_READ : KWARP_WR_FETCH_ADD,
			       c->status[i]);
}

static struct kunit_case ext_cases[] = {
	KUNIT_CASE(test_imm),
	KUNIT_CASE(test_imm_length),
	KUNIT_CASE(test_imm_kernel),
	KUNIT_CASE_PARAM(test_imm_error, imm_error_gen_params),
	KUNIT_CASE(test_request),
	KUNIT_CASE_PARAM(test_request_error, req_error_gen_params),
	KUNIT_CASE(test_response),
	KUNIT_CASE(test_response_wrong_id),
	KUNIT_CASE(test_response_unasked),
	KUNIT_CASE(test_response_for_read),
	KUNIT_CASE(test_read_for_response),
	KUNIT_CASE(test_response_no_sink),
	KUNIT_CASE_PARAM(test_blame, blame_gen_params),
	{}
};

static struct kunit_suite ext_suite = {
	.name = "kwarp_rx_rfc7306",
	.init = ext_test_init,
	.test_cases = ext_cases,
};

kunit_test_suite(ext_suite);
