// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of the transmit step, kwarp_tx_step(), which sends one batch (FPDUs
 * collected for one socket call). The code under test is included. Stand-ins replace the building
 * of FPDUs, the batch, and TCP. libsiw: siw's user library, which posts to a ring of its own.
 */
#include "tx_fixture.h"

#include <rdma/siw-abi.h>

static bool tx_look_for_unmoved(const struct kwarp_sq *sq);

#define kwarp_sq_has_unmoved	tx_look_for_unmoved
#include "../tx/local.c"
#include "../tx/control.c"
#include "../tx/pick.c"
#include "../tx/step.c"
#undef kwarp_sq_has_unmoved

static struct tx_test *the_test;

/*
 * Stand-in for kwarp_sq_has_unmoved(), which looks for requests in libsiw's ring. It calls @on_look
 * first: there a test posts a request, or makes room for one, just before the look.
 */
static bool tx_look_for_unmoved(const struct kwarp_sq *sq)
{
	if (the_test->on_look)
		the_test->on_look(the_test);
	return kwarp_sq_has_unmoved(sq);
}

bool kwarp_tcp_writable(struct socket *sock)
{
	return true;
}

u32 kwarp_tcp_emss(const struct socket *sock)
{
	return the_test->tcp.emss;
}

u32 kwarp_tcp_window(const struct socket *sock)
{
	return the_test->tcp.window;
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
	/* The test acts as the runner, the one context that may send for the stream. */
	atomic_set(&e->tx.run, KWARP_RUN_ACTIVE);
	for (i = 0; i < KWARP_QN_COUNT; i++)
		e->tx.msn[i] = 1;
	test_readq_init(test, &e->oread, DEPTH, sizeof(struct kwarp_oread));
	test_readq_init(test, &e->iread, DEPTH, sizeof(struct kwarp_iread));
	return 0;
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
