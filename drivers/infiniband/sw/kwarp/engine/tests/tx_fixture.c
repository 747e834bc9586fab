// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of the transmit step. Fakes replace the building of FPDUs, the batch, and
 * TCP.
 */
#include "tx_fixture.h"

#include "../../tests/doors.h"
#include "../fail.h"
#include "../tcp.h"
#include "../tx/tx.h"

static struct tx_test *the_test;

/*
 * Look for requests in a foreign ring. First call @on_look: there a test posts a request, or makes
 * room for one.
 */
static bool look_for_unmoved(const struct kwarp_sq *sq)
{
	if (the_test->on_look)
		the_test->on_look(the_test);
	return kwarp_real(kwarp_sq_has_unmoved, sq);
}

static bool tcp_writable(struct socket *sock)
{
	return true;
}

static u32 tcp_emss(const struct socket *sock)
{
	return the_test->tcp.emss;
}

static u32 tcp_window(const struct socket *sock)
{
	return the_test->tcp.window;
}

static u32 tcp_packet(const struct socket *sock, u32 emss, u32 most)
{
	return the_test->tcp.packet ?: emss * max(most / emss, 1U);
}

static void note_prefill(struct kwarp_batch *b, u32 want, bool may_sleep)
{
	the_test->may_sleep = may_sleep;
}

static int note_send(struct kwarp_batch *b, struct socket *sock, bool locked)
{
	the_test->locked = locked;
	if (the_test->tcp.error)
		return the_test->tcp.error;
	the_test->tcp.sent = the_test->tcp.built;
	kwarp_batch_reset(b);
	return 0;
}

static bool build_no_series(struct kwarp_engine *e)
{
	return false;
}

static bool note_segment(struct kwarp_engine *e)
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

static void latch_failure(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
			  u16 seg_len, const u8 *rreq)
{
	if (test_and_set_bit(KWARP_E_FAILED, &e->flags))
		return;
	e->perr = perr;
	set_bit(KWARP_E_TX_TERM, &e->flags);
	the_test->kicked = true;
}

static void no_flush(struct kwarp_engine *e)
{
}

static struct kwarp_mr *find_region(struct kwarp_dev *kdev, u32 stag)
{
	return the_test->mr;
}

static void leave_region(struct kwarp_mr *mr)
{
}

static int note_activate(struct kwarp_mr *mr, u32 stag, int access,
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

int tx_test_init(struct kunit *test)
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
	kwarp_stub(test, kwarp_sq_has_unmoved, look_for_unmoved);
	kwarp_stub(test, kwarp_tcp_writable, tcp_writable);
	kwarp_stub(test, kwarp_tcp_emss, tcp_emss);
	kwarp_stub(test, kwarp_tcp_window, tcp_window);
	kwarp_stub(test, kwarp_tcp_packet, tcp_packet);
	kwarp_stub(test, kwarp_batch_prefill, note_prefill);
	kwarp_stub(test, kwarp_batch_send, note_send);
	kwarp_stub(test, kwarp_tx_build_series, build_no_series);
	kwarp_stub(test, kwarp_tx_build, note_segment);
	kwarp_stub(test, kwarp_engine_fail, latch_failure);
	kwarp_stub(test, kwarp_engine_flush, no_flush);
	kwarp_stub(test, kwarp_mr_lookup, find_region);
	kwarp_stub(test, kwarp_mr_put, leave_region);
	kwarp_stub(test, kwarp_mr_activate, note_activate);
	return 0;
}

/* Let the send queue have room for more requests than one step examines. */
void tx_make_room(struct kunit *test)
{
	struct tx_test *t = test->priv;

	test_sq_free(&t->sq);
	t->cq = test_cq_new(test, MAX_SEGS);
	t->sq.cq = &t->cq->cq;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, MAX_SEGS, kwarp_sqe_stride(1, 1)), 0);
}

/* Post a request of @len inline octets, as a program does. A Read reads no octets. */
void tx_post(struct tx_test *t, u8 opcode, u16 flags, u32 len)
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

void tx_run(struct kunit *test)
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
