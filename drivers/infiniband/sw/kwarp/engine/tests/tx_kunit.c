// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the transmit step: which message is sent next, with which header and in which size. The
 * code is included. A stand-in replaces the code below it and accepts segments as TCP would. The
 * send queue and the Read queues are the real ones.
 */
#include <kunit/test.h>

#include <rdma/siw-abi.h>

#include "../../queue/sq.h"

static bool look_for_left(const struct kwarp_sq *sq);

#define kwarp_sq_left		look_for_left
#define kwarp_tx_build		note_segment
#define kwarp_tx_build_series	note_no_series
#define kwarp_tx_message_built	tx_message_built
#define kwarp_engine_fail	latch_failure
#define kwarp_mr_lookup		find_region
#define kwarp_mr_put		leave_region
#include "../tx/batch.h"
/* Less than the number of entries in the send queue. */
#undef KWARP_BATCH_EFFORT
#define KWARP_BATCH_EFFORT	8
#include "../tx/local.c"
#include "../tx/control.c"
#include "../tx/pick.c"
#include "../tx/step.c"
#undef kwarp_sq_left

#include "queues.h"

#define ENTRIES		16
#define DEPTH		2
#define MAX_SEGS	256

struct segment {
	struct kwarp_ddp_hdr hdr;
	u32 payload;
};

/**
 * struct tcp - stand-in for FPDU building, batch and TCP
 * @emss: octets in a TCP segment
 * @packet: octets that TCP passes to the device as one packet; 0: whole segments up to the limit
 * @error: result of a send
 * @seg: the segments that were built
 * @built: their number
 * @sent: number of those that "TCP" has accepted
 */
struct tcp {
	u32 emss;
	u32 packet;
	int error;
	struct segment seg[MAX_SEGS];
	u32 built;
	u32 sent;
};

struct tx_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	struct ib_qp qp;
	struct test_cq *cq;
	struct socket *sock;
	struct tcp tcp;
	void (*when_left)(struct tx_test *t);
	struct kwarp_mr *mr;
	int access;
	enum kwarp_qp_event event;
	bool kicked;
	bool may_sleep;
	bool locked;
};

static struct tx_test *the_test;

/* Do what is to happen "meanwhile", just before the runner's look. */
static bool look_for_left(const struct kwarp_sq *sq)
{
	if (the_test->when_left)
		the_test->when_left(the_test);
	return kwarp_sq_left(sq);
}

bool kwarp_tcp_writable(struct socket *sock)
{
	return true;
}

u32 kwarp_tcp_emss(const struct socket *sock)
{
	return the_test->tcp.emss;
}

u32 kwarp_tcp_packet(const struct socket *sock, u32 emss, u32 most)
{
	return the_test->tcp.packet ?: emss * max(most / emss, 1U);
}

void kwarp_batch_prefill(struct kwarp_batch *b, u32 want, bool may_sleep)
{
	the_test->may_sleep = may_sleep;
}

void kwarp_batch_idle(struct kwarp_batch *b)
{
}

void kwarp_batch_reset(struct kwarp_batch *b)
{
	b->len = 0;
	b->sent = 0;
}

int kwarp_batch_send(struct kwarp_batch *b, struct socket *sock, bool locked)
{
	the_test->locked = locked;
	if (the_test->tcp.error)
		return the_test->tcp.error;
	the_test->tcp.sent = the_test->tcp.built;
	kwarp_batch_reset(b);
	return 0;
}

bool kwarp_tx_build_series(struct kwarp_engine *e)
{
	return false;
}

bool kwarp_tx_build(struct kwarp_engine *e)
{
	struct tcp *tcp = &the_test->tcp;
	struct kwarp_tx_msg *m = &e->tx.msg;
	struct segment *s = &tcp->seg[tcp->built];
	u32 n = kwarp_ddp_seg_payload(e->tx.mulpdu, m->hdr.tagged, m->left);

	if (WARN_ON(tcp->built + 1 == MAX_SEGS) || !kwarp_batch_fits(&e->tx.batch, n + 20))
		return false;
	tcp->built++;
	s->hdr = m->hdr;
	s->payload = n;
	e->tx.batch.len += n + 20;
	m->left -= n;
	if (!m->left)
		kwarp_tx_message_built(e);
	return true;
}

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	if (test_and_set_bit(KWARP_E_FAILED, &e->flags))
		return;
	e->perr = perr;
	set_bit(KWARP_E_TX_TERM, &e->flags);
	the_test->kicked = true;
}

void kwarp_engine_flush(struct kwarp_engine *e)
{
}

struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag)
{
	return the_test->mr;
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
}

int kwarp_mr_activate(struct kwarp_mr *mr, u32 stag, int access,
		      const struct kwarp_mem_stream *stream)
{
	the_test->access = access;
	return 0;
}

static void on_event(struct kwarp_engine *e, enum kwarp_qp_event event)
{
	the_test->event = event;
}

static const struct kwarp_engine_ops ops = { .event = on_event };

/* ------------------------------------------------------------------ fixture */

static void make_sq(struct kunit *test, struct tx_test *t)
{
	t->qp.qp_num = TEST_QPN;
	test_sq_init(test, &t->sq, t->cq, &t->qp, ENTRIES, KWARP_MAX_INLINE);
}

static int tx_test_init(struct kunit *test)
{
	struct tx_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct kwarp_engine *e;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	the_test = t;
	test->priv = t;
	t->e.kdev = kunit_kzalloc(test, sizeof(*t->e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->e.kdev);
	t->cq = test_cq_new(test, 64);
	make_sq(test, t);
	t->tcp.emss = 1448;
	e = &t->e;
	e->sq = &t->sq;
	e->ibqp = &t->qp;
	e->ops = &ops;
	/* only the pointer is used */
	e->sock = (struct socket *)&t->sock;
	e->flags = BIT(KWARP_E_TX_OPEN);
	/* The test acts as the runner. */
	atomic_set(&e->tx.run, KWARP_RUN_ACTIVE);
	for (i = 0; i < KWARP_QN_COUNT; i++)
		e->tx.msn[i] = 1;
	test_readq_init(test, &e->oread, DEPTH, sizeof(struct kwarp_oread));
	test_readq_init(test, &e->iread, DEPTH, sizeof(struct kwarp_iread));
	return 0;
}

/* Post a request of @len inline octets, as a program does; Reads ask for no octets. */
static void post(struct tx_test *t, u8 opcode, u16 flags, u32 len)
{
	struct kwarp_ring_hdr *hdr = t->sq.ring.hdr;
	struct kwarp_sqe *w = kwarp_ring_slot(&t->sq.ring, hdr->prod);

	memset(w, 0, t->sq.ring.stride);
	w->opcode = opcode;
	w->flags = flags | KWARP_WR_SIGNALED;
	if (kwarp_wr_rule(opcode)->inlined) {
		w->flags |= KWARP_WR_INLINE;
		w->inline_len = len;
	}
	if (opcode == KWARP_WR_SEND_INV)
		w->inv_stag = 0xabcdef01;
	if (opcode == KWARP_WR_REG_MR)
		w->access = IB_ACCESS_REMOTE_READ;
	if (opcode == KWARP_WR_WRITE) {
		w->rkey = 0x1234;
		w->raddr = 0x7000;
	}
	hdr->prod++;
}

/* Queue a Read Request of the peer, already checked, for @len octets. */
static void asked_for(struct tx_test *t, u32 len)
{
	*kwarp_iread_tail(&t->e.iread) = (struct kwarp_iread) {
		.sink_stag = 0x77, .sink_to = 0x8800, .size = len,
	};
	kwarp_readq_push(&t->e.iread);
}

/* A region of a kernel consumer, for local operations that succeed. */
static void offer_region(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->sq.user = false;
	t->mr = kunit_kzalloc(test, sizeof(*t->mr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->mr);
}

static void run(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	for (i = 0; i < MAX_SEGS; i++) {
		t->kicked = false;
		if (kwarp_tx_step(&t->e) != KWARP_TX_MORE && !t->kicked)
			break;
	}
	KUNIT_ASSERT_LT(test, i, MAX_SEGS);
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

/*
 * Header of each kind of message (5040-4.1-3, -4, -5, -7, -8, -12; 5040-5.3-15, -16; 5041-4.3-12).
 */
static void test_form(struct kunit *test)
{
	const struct form *c = test->param_value;
	struct kwarp_ddp_hdr want = c->hdr;
	struct tx_test *t = test->priv;

	post(t, c->wr, c->flags, 0);
	post(t, c->wr, c->flags, 0);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2);
	expect_hdr(test, 0, &want);
	want.msn += !want.tagged;
	expect_hdr(test, 1, &want);
}

/* ------------------------------------------------------------------ MULPDU */

/* The MULPDU is read again for each batch (5041-3-1). */
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
		run(test);
		KUNIT_ASSERT_EQ(test, t->tcp.sent, before + 3);
		KUNIT_EXPECT_EQ(test, t->tcp.seg[before].payload, payload);
		KUNIT_EXPECT_EQ(test, t->tcp.seg[before + 1].payload, payload);
		KUNIT_EXPECT_EQ(test, t->tcp.seg[before + 2].payload, 1);
	}
}

/* A change of the MULPDU does not change what is in the batch already (5041-3-2). */
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
	run(test);
	KUNIT_ASSERT_GT(test, t->tcp.sent, built);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[built].payload, kwarp_mpa_mulpdu(524, false) - 14);
}

/* --------------------------------------------------------------- Terminate */

/*
 * A Terminate is sent at once, and nothing after it (5040-5.4-2 to -4, -11; 5040-7-3; 5041-3-10).
 */
static void test_terminate(struct kunit *test)
{
	static const struct kwarp_ddp_hdr want = { .opcode = 7, .qn = 2, .msn = 1 };
	struct tx_test *t = test->priv;
	u32 before;

	asked_for(t, 100 * 1000);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	before = t->tcp.built;
	KUNIT_EXPECT_NE(test, t->e.tx.msg.left, 0);
	post(t, KWARP_WR_SEND, 0, 4);
	kwarp_engine_fail(&t->e, KWARP_PERR_DDP_T_STAG, NULL, 0, NULL);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, before + 1);
	expect_hdr(test, before, &want);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_TERM_SENT);
	post(t, KWARP_WR_SEND, 0, 4);
	asked_for(t, 10);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.built, before + 1);
	test_cq_none(test, t->cq);
}

/* A request that cannot be sent causes a Terminate (5040-7.1-1, -2). */
static void test_request_refused(struct kunit *test)
{
	static const struct kwarp_ddp_hdr want = { .opcode = 7, .qn = 2, .msn = 1 };
	struct tx_test *t = test->priv;
	struct kwarp_sqe *w = kwarp_ring_slot(&t->sq.ring, 0);
	struct kwarp_sge *sge = (struct kwarp_sge *)(w + 1);

	post(t, KWARP_WR_SEND, 0, 0);
	w->flags &= ~KWARP_WR_INLINE;
	w->inline_len = 0;
	w->num_sge = 1;
	*sge = (struct kwarp_sge) { .addr = 0x1000, .length = 8, .lkey = 0x4711 };
	post(t, KWARP_WR_SEND, 0, 4);
	run(test);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	expect_hdr(test, 0, &want);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_LOC_PROT_ERR);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	test_cq_none(test, t->cq);
}

/* Only as many Reads are sent as were agreed; what is posted after them waits (5040-6.1-7, -9). */
static void test_reads(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	for (i = 0; i <= DEPTH; i++)
		post(t, KWARP_WR_READ, 0, 0);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, DEPTH);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	kwarp_readq_pop(&t->e.oread);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, DEPTH + 1);
}

/*
 * With an ORD of 0 no Read can be sent: a Read fails and does not wait (5040-6.1-7, -9;
 * 5040-7.1-2).
 */
static void test_read_without_ord(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->e.oread.depth = 0;
	post(t, KWARP_WR_SEND, 0, 4);
	post(t, KWARP_WR_READ, 0, 0);
	post(t, KWARP_WR_SEND, 0, 4);
	run(test);
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
 * Segments of a long Response and of our own message are never mixed (5041-5.3-2). Responses and
 * our messages alternate, so neither kind waits for more than one message of the other.
 */
static void test_turns(struct kunit *test)
{
	static const u8 want[] = { KWARP_OP_RRESP, KWARP_OP_SEND, KWARP_OP_RRESP, KWARP_OP_SEND };
	struct tx_test *t = test->priv;
	u32 i, n = 0, len = 0;

	post(t, KWARP_WR_SEND, 0, 4);
	post(t, KWARP_WR_SEND, 0, 4);
	asked_for(t, 2 * KWARP_BATCH_LEN);
	asked_for(t, KWARP_BATCH_LEN + 1);
	t->e.tx.turn = false;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_TRUE(test, t->e.tx.answered);
	run(test);
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
	post(t, KWARP_WR_SEND, 0, 4);
	run(test);
	KUNIT_EXPECT_FALSE(test, t->e.tx.answered);
}

/* ------------------------------------------------------------------ windows */

/*
 * A bind is carried out after the Send posted before it, and fails: there is no window and no
 * region.
 */
static void test_bind(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_SEND, 0, 100);
	post(t, KWARP_WR_BIND_MW, 0, 0);
	run(test);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[0].hdr.opcode, KWARP_OP_SEND);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.opcode, KWARP_OP_TERM);
	KUNIT_EXPECT_EQ(test, t->sq.next, 2);
	KUNIT_EXPECT_EQ(test, t->sq.done[1].status, KWARP_WC_MW_BIND_ERR);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
}

/* A batch is as long as one packet of TCP; the rest is sent with the next batch. */
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

/* A batch ends at the end of a segment only if alignment was asked for. */
static void test_align(struct kunit *test)
{
	struct tx_test *t = test->priv;

	kwarp_tx_step(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.cut, 0);
	t->e.tx.align = true;
	kwarp_tx_step(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.tx.batch.cut, t->tcp.emss);
}

/* An FPDU that does not fit into the rest of a segment is sent with the next batch. */
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

/* With the socket's spinlock held nothing sleeps, and TCP is told that it is held. */
static void test_in_socket(struct kunit *test)
{
	struct tx_test *t = test->priv;
	int in;

	for (in = 0; in < 2; in++) {
		t->e.tx.in_socket = in;
		t->locked = !in;
		t->may_sleep = in;
		post(t, KWARP_WR_SEND, 0, 1);
		KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
		KUNIT_EXPECT_EQ(test, t->locked, in);
		KUNIT_EXPECT_EQ(test, t->may_sleep, !in);
	}
}

static void test_tcp_takes_none(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_SEND, 0, 1);
	t->tcp.error = -EAGAIN;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_BLOCKED);
	t->tcp.error = -ENOBUFS;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_NO_MEMORY);
	t->tcp.error = 0;
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
}

/*
 * The connection is lost between a Write and its Immediate Data. The peer has the octets but learns
 * nothing of them; the request completes once, as flushed.
 */
static void test_lost_before_imm(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->sq.rfc7306 = true;
	/* A packet size with which the Write fills a batch. */
	t->tcp.packet = 64;
	post(t, KWARP_WR_WRITE_IMM, 0, 64);
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

/* ------------------------------------------------------------ libsiw's posts */

static void free_siw(void *wq)
{
	kwarp_siw_free_wq(wq);
}

static void speak_siw(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->sq.siw = kwarp_siw_new_sq(ENTRIES);
	KUNIT_ASSERT_NOT_NULL(test, t->sq.siw);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_siw, t->sq.siw), 0);
}

/* Post a Send as a program with libsiw does. */
static void post_siw(struct tx_test *t)
{
	struct kwarp_siw_wq *wq = t->sq.siw;
	struct siw_sqe *s = (struct siw_sqe *)wq->mem + (wq->next & wq->mask);

	s->opcode = SIW_OP_SEND;
	s->sge[0].length = 4;
	s->flags = SIW_WQE_VALID | SIW_WQE_INLINE;
}

static void post_now(struct tx_test *t)
{
	t->when_left = NULL;
	post_siw(t);
}

/* Answer the oldest outstanding request. */
static void answer_now(struct tx_test *t)
{
	t->when_left = NULL;
	kwarp_sq_answered(&t->sq, 0);
}

static void use_up(struct tx_test *t)
{
	t->sq.ring.hdr->prod = ENTRIES;
	t->sq.next = ENTRIES;
	t->sq.sent = ENTRIES;
	t->sq.done[0].awaits = true;
	post_siw(t);
}

static const struct meanwhile {
	const char *desc;
	void (*before)(struct tx_test *t);
	void (*meanwhile)(struct tx_test *t);
} meanwhiles[] = {
	{ "a post", NULL, post_now },
	{ "room for one", use_up, answer_now },
};

KUNIT_ARRAY_PARAM_DESC(meanwhile, meanwhiles, desc);

/*
 * If a request is posted, or room is made for one, between the runner's two looks, this runner
 * sends it: the other context may have read the flag before the runner set it, and not kick.
 */
static void test_between_looks(struct kunit *test)
{
	const struct meanwhile *c = test->param_value;
	struct tx_test *t = test->priv;

	speak_siw(test);
	if (c->before)
		c->before(t);
	t->when_left = c->meanwhile;
	kwarp_tx_step(&t->e);
	KUNIT_EXPECT_NULL(test, t->when_left);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
}

/* Nothing is posted: the runner leaves, and the receive path has to kick when it makes room. */
static void test_no_room(struct kunit *test)
{
	struct tx_test *t = test->priv;

	speak_siw(test);
	use_up(t);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 0);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_WAIT_READ, &t->e.flags));
	answer_now(t);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
}

/*
 * One step examines a limited number of requests, however many are posted: it may run in softirq.
 */
static void test_requests_bounded(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	for (i = 0; i < KWARP_BATCH_EFFORT + 3; i++)
		post(t, KWARP_WR_SEND, 0, 1);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, KWARP_BATCH_EFFORT);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, KWARP_BATCH_EFFORT + 3);
}

/* KWARP_QPE_DRAINED is reported when all is sent, even if the last step sent a batch. */
static void test_drained_behind_batch(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_SEND, 0, 1);
	t->e.tx.drain_to = 1;
	set_bit(KWARP_E_TX_DRAIN, &t->e.flags);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_DRAINED);
}

static void start_drain(struct tx_test *t)
{
	t->e.tx.drain_to = t->sq.ring.hdr->prod;
	set_bit(KWARP_E_TX_DRAIN, &t->e.flags);
}

/* Expect a flushed completion of @opcode although the stream has not failed. */
static void expect_flushed(struct kunit *test, u8 opcode)
{
	struct tx_test *t = test->priv;
	const struct kwarp_cqe *cqe = test_cq_pop(t->cq);

	KUNIT_ASSERT_NOT_NULL(test, cqe);
	KUNIT_EXPECT_EQ(test, cqe->opcode, opcode);
	KUNIT_EXPECT_EQ(test, cqe->status, KWARP_WC_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, cqe->vendor_err, 0);
}

/*
 * Requests posted after the start of a graceful close are flushed, before and after our FIN
 * (5041-6.2.1-3).
 */
static void test_posted_after_close(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_SEND, 0, 1);
	start_drain(t);
	post(t, KWARP_WR_READ, 0, 0);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_DRAINED);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_flushed(test, KWARP_WR_READ);
	KUNIT_EXPECT_TRUE(test, kwarp_tx_drained(&t->e));

	set_bit(KWARP_E_TX_STOP, &t->e.flags);
	post(t, KWARP_WR_WRITE, KWARP_WR_FENCE, 1);
	run(test);
	expect_flushed(test, KWARP_WR_WRITE);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_EQ(test, t->tcp.built, 1);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
}

/*
 * A request posted after the start of a graceful close completes in order, after an earlier Read
 * has been answered (5040-5.5-22).
 */
static void test_posted_after_close_waits(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_READ, 0, 0);
	start_drain(t);
	run(test);
	post(t, KWARP_WR_SEND, 0, 1);
	run(test);
	test_cq_none(test, t->cq);
	kwarp_readq_pop(&t->e.oread);
	kwarp_sq_answered(&t->sq, 0);
	test_cq_expect(test, t->cq, 0, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_flushed(test, KWARP_WR_SEND);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
}

/*
 * A request posted after the start of a graceful close is not flushed before TCP has accepted the
 * earlier ones: they would complete as sent too early.
 */
static void test_posted_after_close_blocked(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_SEND, 0, 1);
	start_drain(t);
	post(t, KWARP_WR_SEND, 0, 1);
	t->tcp.error = -EAGAIN;
	run(test);
	test_cq_none(test, t->cq);
	t->tcp.error = -EPIPE;
	run(test);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_LOST);
	run(test);
	test_cq_none(test, t->cq);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
}

/* drain_to comes from memory that the program can write to, and may be wrong. */
static void test_close_with_wrong_index(struct kunit *test)
{
	struct tx_test *t = test->priv;

	post(t, KWARP_WR_SEND, 0, 1);
	run(test);
	t->sq.ring.hdr->prod = U32_MAX;
	start_drain(t);
	t->sq.ring.hdr->prod = 1;
	post(t, KWARP_WR_SEND, 0, 1);
	run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_DRAINED);
	test_cq_expect(test, t->cq, 0, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_flushed(test, KWARP_WR_SEND);
}

/* Local operations send nothing, but one step carries out a limited number of them. */
static void test_local_bounded(struct kunit *test)
{
	struct tx_test *t = test->priv;
	u32 i;

	offer_region(test);
	for (i = 0; i < KWARP_BATCH_EFFORT + 3; i++)
		post(t, KWARP_WR_REG_MR, 0, 0);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->sq.next, KWARP_BATCH_EFFORT);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_IDLE);
	KUNIT_EXPECT_EQ(test, t->sq.next, KWARP_BATCH_EFFORT + 3);
	KUNIT_EXPECT_EQ(test, t->access, IB_ACCESS_REMOTE_READ);
}

/*
 * The last completion was lost because the CQ was full: the stream fails though nothing else is to
 * be sent.
 */
static void test_completion_lost(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->cq->cq.prod = t->cq->cq.ring.mask + 1;
	post(t, KWARP_WR_SEND, 0, 1);
	run(test);
	KUNIT_EXPECT_TRUE(test, t->cq->cq.overflow);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.opcode, KWARP_OP_TERM);
}

/* The loss of a local operation's completion fails the stream, too. */
static void test_local_completion_lost(struct kunit *test)
{
	struct tx_test *t = test->priv;

	t->cq->cq.prod = t->cq->cq.ring.mask + 1;
	offer_region(test);
	post(t, KWARP_WR_REG_MR, 0, 0);
	run(test);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_FAILED, &t->e.flags));
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE_PARAM(test_form, form_gen_params),
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
	KUNIT_CASE_PARAM(test_between_looks, meanwhile_gen_params),
	KUNIT_CASE(test_no_room),
	KUNIT_CASE(test_requests_bounded),
	KUNIT_CASE(test_local_bounded),
	KUNIT_CASE(test_drained_behind_batch),
	KUNIT_CASE(test_posted_after_close),
	KUNIT_CASE(test_posted_after_close_waits),
	KUNIT_CASE(test_posted_after_close_blocked),
	KUNIT_CASE(test_close_with_wrong_index),
	KUNIT_CASE(test_completion_lost),
	KUNIT_CASE(test_local_completion_lost),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "kwarp_tx",
	.init = tx_test_init,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);
