// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the transmitter with the messages of RFC 7306: Immediate Data after its Write, Atomic
 * Requests in the order of Reads, and Atomic Responses in the order of the requests.
 */
#include "tx_fixture.h"

#include "../../tests/doors.h"

#define STAG		0x12345678U
#define PEER_STAG	0x00c0ffeeU
#define PEER_TO		0xfedcba9876543210ULL
#define OPERAND		0x8070605040302010ULL
#define SWAP		0x0102030405060708ULL

static struct {
	struct kwarp_mr mr;
	struct ib_pd pd;
	u8 *chunk;
	u64 words[4];
	u32 references;
	enum kwarp_perr perr;
	u8 raw[KWARP_DDP_UNTAGGED_LEN];
	u16 seg_len;
	bool rreq;
} ext;

static struct kwarp_mr *batch_no_mr(struct kwarp_batch *b, u32 stag)
{
	return NULL;
}

static struct kwarp_mr *find_region(struct kwarp_dev *kdev, u32 stag)
{
	if (stag >> 8 != STAG >> 8)
		return NULL;
	ext.references++;
	return &ext.mr;
}

static void leave_region(struct kwarp_mr *mr)
{
	ext.references--;
}

static void note_failure(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
			 u16 seg_len, const u8 *rreq)
{
	ext.perr = perr;
	ext.seg_len = seg_len;
	ext.rreq = rreq;
	if (raw)
		memcpy(ext.raw, raw, sizeof(ext.raw));
	set_bit(KWARP_E_FAILED, &e->flags);
}

/* ------------------------------------------------------------------ fixture */

static int ext_test_init(struct kunit *test)
{
	int ret = tx_test_init(test);
	struct tx_test *t = test->priv;

	if (ret)
		return ret;
	memset(&ext, 0, sizeof(ext));
	rwlock_init(&ext.mr.lock);
	ext.chunk = (u8 *)ext.words;
	ext.mr.kind = KWARP_MR_FAST;
	ext.mr.valid = true;
	ext.mr.stag = STAG;
	ext.mr.access = IB_ACCESS_LOCAL_WRITE | KWARP_REMOTE_ACCESS;
	ext.mr.pd = &ext.pd;
	ext.mr.length = sizeof(ext.words);
	ext.mr.chunk = &ext.chunk;
	ext.mr.nchunks = 1;
	ext.mr.shift = ilog2(sizeof(ext.words));
	t->sq.rfc7306 = true;
	t->e.mem.pd = &ext.pd;
	t->e.more = KWARP_RDMAP_RFC7306;
	t->e.sink_rights = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	kwarp_readq_fini(&t->e.iread);
	KUNIT_ASSERT_EQ(test, kwarp_readq_init(&t->e.iread, 4, sizeof(struct kwarp_iread)), 0);
	kwarp_stub(test, kwarp_batch_mr, batch_no_mr);
	kwarp_stub(test, kwarp_mr_lookup, find_region);
	kwarp_stub(test, kwarp_mr_put, leave_region);
	kwarp_stub(test, kwarp_engine_fail, note_failure);
	return 0;
}

static void ext_test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ext.references, 0);
}

static struct kwarp_sqe *post(struct tx_test *t, u8 opcode, u16 flags)
{
	const struct kwarp_sge sge = { .addr = 3, .length = 8, .lkey = STAG };
	struct kwarp_ring_hdr *hdr = t->sq.ring.hdr;
	struct kwarp_sqe *w = kwarp_ring_slot(&t->sq.ring, hdr->prod);

	memset(w, 0, t->sq.ring.stride);
	w->id = hdr->prod++;
	w->opcode = opcode;
	w->flags = flags;
	w->raddr = PEER_TO;
	w->rkey = PEER_STAG;
	if (kwarp_wr_rule(opcode)->atomic) {
		w->num_sge = 1;
		memcpy(w + 1, &sge, sizeof(sge));
		w->compare_add = OPERAND;
		w->swap = SWAP;
	}
	return w;
}

static bool pick(struct tx_test *t)
{
	t->e.tx.effort = 0;
	return kwarp_tx_pick(&t->e);
}

static void expect_message(struct kunit *test, u8 opcode, u32 qn, u32 msn, u32 len)
{
	const struct tx_test *t = test->priv;
	const struct kwarp_tx_msg *m = &t->e.tx.msg;

	KUNIT_EXPECT_FALSE(test, m->hdr.tagged);
	KUNIT_EXPECT_EQ(test, m->hdr.opcode, opcode);
	KUNIT_EXPECT_EQ(test, m->hdr.stag, 0);	/* the Invalidate STag field is zero (7306-4.1-3) */
	KUNIT_EXPECT_EQ(test, m->hdr.qn, qn);
	KUNIT_EXPECT_EQ(test, m->hdr.msn, msn);
	KUNIT_EXPECT_EQ(test, m->hdr.mo, 0);
	KUNIT_EXPECT_EQ(test, m->src, KWARP_SRC_BUF);
	KUNIT_EXPECT_EQ(test, m->left, len);
}

/* ----------------------------------------------------------- Immediate Data */

/* 7306-6.3-4 to -6, 7306-D-2, -3: nothing is sent between the Write and its Immediate Data. */
static void test_write_imm(struct kunit *test)
{
	static const u8 octets[KWARP_RDMAP_IMM_LEN] = { 0xde, 0xad, 0xbe, 0xef };
	struct tx_test *t = test->priv;
	struct kwarp_sqe *w = post(t, KWARP_WR_WRITE_IMM, 0);

	memcpy(&w->imm, octets, sizeof(w->imm));
	post(t, KWARP_WR_SEND, 0);
	post(t, KWARP_WR_WRITE_IMM, KWARP_WR_SOLICITED);
	KUNIT_ASSERT_TRUE(test, pick(t));
	KUNIT_EXPECT_TRUE(test, t->e.tx.msg.hdr.tagged);
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.hdr.opcode, KWARP_OP_WRITE);
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.hdr.stag, PEER_STAG);
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.hdr.to, PEER_TO);
	kwarp_tx_message_built(&t->e);
	/* No answer to the peer may be sent before the Immediate Data. */
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.kind, KWARP_TXK_SQ);
	KUNIT_EXPECT_EQ(test, t->e.tx.sq_end, 0);
	expect_message(test, KWARP_OP_IMM, KWARP_QN_SEND, 1, 8);
	KUNIT_EXPECT_MEMEQ(test, t->e.tx.msg.buf, octets, sizeof(octets));
	kwarp_tx_message_built(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.kind, KWARP_TXK_NONE);
	KUNIT_EXPECT_EQ(test, t->e.tx.sq_end, 1);
	KUNIT_ASSERT_TRUE(test, pick(t));
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.hdr.msn, 2);
	kwarp_tx_message_built(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.tx.sq_end, 2);
	KUNIT_ASSERT_TRUE(test, pick(t));
	kwarp_tx_message_built(&t->e);
	expect_message(test, KWARP_OP_IMM_SE, KWARP_QN_SEND, 3, 8);
}

static const u8 extended[] = { KWARP_WR_WRITE_IMM, KWARP_WR_FETCH_ADD, KWARP_WR_CMP_SWAP };

static void extended_desc(const u8 *opcode, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "opcode %u", *opcode);
}

KUNIT_ARRAY_PARAM(extended, extended, extended_desc);

/* The program writes a request into the ring all the same: the request fails. */
static void test_without(struct kunit *test)
{
	const u8 *opcode = test->param_value;
	struct tx_test *t = test->priv;

	t->sq.rfc7306 = false;
	post(t, *opcode, 0);
	KUNIT_EXPECT_FALSE(test, pick(t));
	KUNIT_EXPECT_EQ(test, ext.perr, KWARP_PERR_LOCAL);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, *opcode, KWARP_WC_LOC_QP_OP_ERR);
}

/* --------------------------------------------------------- atomic operations */

static void expect_request(struct kunit *test, u32 msn, const struct kwarp_atomic_req *want)
{
	struct tx_test *t = test->priv;
	struct kwarp_atomic_req got;

	expect_message(test, KWARP_OP_ATOMIC_REQ, KWARP_QN_RREQ, msn, KWARP_ATOMIC_REQ_LEN);
	kwarp_atomic_req_decode(t->e.tx.msg.buf, &got);
	KUNIT_EXPECT_MEMEQ(test, &got, want, sizeof(got));
}

/* 7306-5.2-1, 7306-5.2.1-7, -14: unused fields of an Atomic Request get default values. */
static void test_requests(struct kunit *test)
{
	const struct kwarp_atomic_req add = {
		.op = KWARP_ATOMIC_FETCH_ADD, .id = 1, .stag = PEER_STAG, .to = PEER_TO,
		.data = OPERAND, .compare_mask = U64_MAX,
	};
	const struct kwarp_atomic_req swap = {
		.op = KWARP_ATOMIC_CMP_SWAP, .id = 3, .stag = PEER_STAG, .to = PEER_TO,
		.data = SWAP, .mask = U64_MAX, .compare = OPERAND, .compare_mask = U64_MAX,
	};
	struct tx_test *t = test->priv;
	const struct kwarp_oread *r;

	post(t, KWARP_WR_FETCH_ADD, 0);
	post(t, KWARP_WR_READ, 0);
	post(t, KWARP_WR_CMP_SWAP, 0);
	KUNIT_ASSERT_TRUE(test, pick(t));
	expect_request(test, 1, &add);
	r = kwarp_oread_head(&t->e.oread);
	KUNIT_EXPECT_TRUE(test, r->atomic);
	KUNIT_EXPECT_EQ(test, r->msn, 1);
	KUNIT_EXPECT_EQ(test, r->sq_index, 0);
	KUNIT_EXPECT_EQ(test, r->stag, STAG);
	KUNIT_EXPECT_EQ(test, r->to, 3);
	kwarp_tx_message_built(&t->e);
	KUNIT_ASSERT_TRUE(test, pick(t));
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.hdr.msn, 2);
	kwarp_tx_message_built(&t->e);
	/* The limit (ORD) is for Reads and atomic operations together (7306-5.2-3). */
	KUNIT_EXPECT_FALSE(test, pick(t));
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	kwarp_readq_pop(&t->e.oread);
	KUNIT_EXPECT_FALSE(test, kwarp_oread_head(&t->e.oread)->atomic);
	KUNIT_EXPECT_EQ(test, kwarp_oread_head(&t->e.oread)->msn, 2);
	KUNIT_ASSERT_TRUE(test, pick(t));
	expect_request(test, 3, &swap);
	KUNIT_EXPECT_EQ(test, kwarp_oread_find(&t->e.oread, 3)->sq_index, 2);
	KUNIT_EXPECT_NULL(test, kwarp_oread_find(&t->e.oread, 1));
}

/* A fenced request waits for earlier atomic operations, as it does for earlier Reads. */
static void test_fence(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_FETCH_ADD, 0);
	post(t, KWARP_WR_SEND, KWARP_WR_FENCE);
	KUNIT_ASSERT_TRUE(test, pick(t));
	kwarp_tx_message_built(&t->e);
	KUNIT_EXPECT_FALSE(test, pick(t));
	kwarp_readq_pop(&t->e.oread);
	KUNIT_EXPECT_TRUE(test, pick(t));
}

static const struct sink {
	const char *desc;
	enum kwarp_mr_kind kind;
	int access;
	u8 status;
} sinks[] = {
	{ "local write", KWARP_MR_FAST, IB_ACCESS_LOCAL_WRITE, KWARP_WC_SUCCESS },
	{ "all memory", KWARP_MR_DMA, IB_ACCESS_LOCAL_WRITE, KWARP_WC_SUCCESS },
	{ "read only", KWARP_MR_FAST, KWARP_REMOTE_ACCESS, KWARP_WC_LOC_PROT_ERR },
};

KUNIT_ARRAY_PARAM_DESC(sink, sinks, desc);

/* An Atomic Response does not name its sink, so local write is enough for that buffer. */
static void test_sink(struct kunit *test)
{
	const struct sink *c = test->param_value;
	struct tx_test *t = test->priv;

	ext.mr.kind = c->kind;
	ext.mr.access = c->access;
	post(t, KWARP_WR_FETCH_ADD, 0);
	KUNIT_EXPECT_EQ(test, pick(t), c->status == KWARP_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, kwarp_readq_empty(&t->e.oread), c->status != KWARP_WC_SUCCESS);
	if (c->status == KWARP_WC_SUCCESS)
		return;
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, KWARP_WR_FETCH_ADD, c->status);
}

/* ------------------------------------------------------------------- answers */

static void ask(struct tx_test *t, const struct kwarp_atomic_req *req)
{
	struct kwarp_iread *r = kwarp_iread_tail(&t->e.iread);

	memset(r, 0, sizeof(*r));
	r->atomic = req;
	r->raw[1] = 0x4a;
	if (req)
		r->req = *req;
	kwarp_readq_push(&t->e.iread);
}

static void expect_answer(struct kunit *test, u32 msn, u32 id, u64 value)
{
	struct tx_test *t = test->priv;
	struct kwarp_atomic_resp resp;

	KUNIT_EXPECT_EQ(test, t->e.tx.msg.kind, KWARP_TXK_ANSWER);
	expect_message(test, KWARP_OP_ATOMIC_RESP, KWARP_QN_ATOMIC, msn, KWARP_ATOMIC_RESP_LEN);
	kwarp_atomic_resp_decode(t->e.tx.msg.buf, &resp);
	KUNIT_EXPECT_EQ(test, resp.id, id);
	KUNIT_EXPECT_EQ(test, resp.value, value);
	kwarp_tx_message_built(&t->e);
}

/* 7306-5.4-9, -10, 7306-7-5, -6, -9: an operation is carried out when its answer is next. */
static void test_answers(struct kunit *test)
{
	const struct kwarp_atomic_req add = {
		.op = KWARP_ATOMIC_FETCH_ADD, .id = 0xa, .stag = STAG, .to = 8, .data = 1,
	};
	const struct kwarp_atomic_req swap = {
		.op = KWARP_ATOMIC_CMP_SWAP, .id = 0xb, .stag = STAG, .to = 8, .data = 77,
		.mask = U64_MAX, .compare = 42, .compare_mask = U64_MAX,
	};
	struct tx_test *t = test->priv;

	ext.words[1] = 41;
	ask(t, NULL);
	ask(t, &add);
	ask(t, &swap);
	ask(t, NULL);
	KUNIT_ASSERT_TRUE(test, pick(t));
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.hdr.opcode, KWARP_OP_RRESP);
	KUNIT_EXPECT_EQ(test, ext.words[1], 41);
	kwarp_tx_message_built(&t->e);
	KUNIT_ASSERT_TRUE(test, pick(t));
	KUNIT_EXPECT_EQ(test, ext.words[1], 42);
	expect_answer(test, 1, 0xa, 41);
	KUNIT_ASSERT_TRUE(test, pick(t));
	expect_answer(test, 2, 0xb, 42);
	KUNIT_EXPECT_EQ(test, ext.words[1], 77);
	KUNIT_ASSERT_TRUE(test, pick(t));
	KUNIT_EXPECT_EQ(test, t->e.tx.msg.hdr.opcode, KWARP_OP_RRESP);
	kwarp_tx_message_built(&t->e);
	KUNIT_EXPECT_TRUE(test, kwarp_readq_empty(&t->e.iread));
	KUNIT_EXPECT_EQ(test, t->e.tx.msn[KWARP_QN_ATOMIC], 3);
}

/* The stream fails, and our next request is not sent. */
static void test_answer_no_region(struct kunit *test)
{
	const struct kwarp_atomic_req add = {
		.op = KWARP_ATOMIC_FETCH_ADD, .stag = STAG, .to = 8, .data = 1,
	};
	struct tx_test *t = test->priv;

	ask(t, &add);
	post(t, KWARP_WR_SEND, 0);
	ext.mr.valid = false;
	KUNIT_EXPECT_FALSE(test, pick(t));
	KUNIT_EXPECT_EQ(test, ext.perr, KWARP_PERR_R_STAG);
	KUNIT_EXPECT_EQ(test, ext.seg_len, 70);
	KUNIT_EXPECT_EQ(test, ext.raw[1], 0x4a);
	/* the Terminate has no Read Request header (7306-8.1-2) */
	KUNIT_EXPECT_FALSE(test, ext.rreq);
	KUNIT_EXPECT_EQ(test, ext.words[1], 0);
	KUNIT_EXPECT_EQ(test, t->sq.next, 0);
}

static struct kunit_case ext_cases[] = {
	KUNIT_CASE(test_write_imm),
	KUNIT_CASE_PARAM(test_without, extended_gen_params),
	KUNIT_CASE(test_requests),
	KUNIT_CASE(test_fence),
	KUNIT_CASE_PARAM(test_sink, sink_gen_params),
	KUNIT_CASE(test_answers),
	KUNIT_CASE(test_answer_no_region),
	{}
};

static struct kunit_suite ext_suite = {
	.name = "kwarp_tx_rfc7306",
	.init = ext_test_init,
	.exit = ext_test_exit,
	.test_cases = ext_cases,
};

kunit_test_suite(ext_suite);
