// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of the receive side. The queues are real. */
#include "rx_fixture.h"

#include "../../kwarp.h"
#include "../../tests/doors.h"
#include "../../wq.h"
#include "../fail.h"

/* rx_lookups: how often the region was looked up and found */
struct kwarp_mr *rx_the_mr;
u32 rx_lookups, rx_references;

static struct kwarp_mr *find_region(struct kwarp_dev *kdev, u32 stag)
{
	if (stag >> 8 != STAG >> 8 || !rx_the_mr)
		return NULL;
	rx_lookups++;
	rx_references++;
	return rx_the_mr;
}

static void leave_region(struct kwarp_mr *mr)
{
	rx_references--;
}

static void note_lost(struct kwarp_engine *e)
{
	e->perr = KWARP_PERR_MPA_LOST;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

static struct stream *to_stream(struct kwarp_engine *e)
{
	return container_of(e, struct stream, e);
}

static void note_failure(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
			 u16 seg_len, const u8 *rreq)
{
	struct stream *s = to_stream(e);

	e->perr = perr;
	s->seg_len = seg_len;
	s->rreq = rreq;
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

void rx_make_region(struct rx_test *t)
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
	rx_the_mr = mr;
}

void rx_post(struct rx_test *t, u64 id, u32 n)
{
	struct kwarp_ring_hdr *hdr = t->rq.ring.hdr;
	struct kwarp_rqe *e;

	for (; n; n--, id++, hdr->prod++) {
		e = kwarp_ring_slot(&t->rq.ring, hdr->prod);
		e->id = id;
		e->num_sge = 0;
	}
}

int rx_test_init(struct kunit *test)
{
	struct rx_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->cq = test_cq_new(test, 2 * RECVS);
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&t->rq, RECVS, kwarp_rqe_stride(3)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_ring_free, &t->rq.ring), 0);
	rx_make_region(t);
	make_stream(test, &t->a);
	make_stream(test, &t->b);
	t->a.e.kdev = kunit_kzalloc(test, sizeof(*t->a.e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->a.e.kdev);
	t->b.e.kdev = t->a.e.kdev;
	t->a.e.mem.id = 1;
	t->b.e.mem.id = 2;
	t->mr.owner = t->a.e.mem.id;
	rx_lookups = 0;
	rx_references = 0;
	kwarp_wq = system_wq;
	kwarp_stub(test, kwarp_mr_lookup, find_region);
	kwarp_stub(test, kwarp_mr_put, leave_region);
	kwarp_stub(test, kwarp_engine_lost, note_lost);
	kwarp_stub(test, kwarp_engine_fail, note_failure);
	return 0;
}

/* The region's first octet has an odd address. Only the first stream is used. */
int rx_rfc7306_test_init(struct kunit *test)
{
	int ret = rx_test_init(test);
	struct rx_test *t = test->priv;
	struct kwarp_engine *e = &t->a.e;

	if (ret)
		return ret;
	t->chunk = (u8 *)t->words;
	t->mr.kind = KWARP_MR_USER;
	t->mr.access = IB_ACCESS_LOCAL_WRITE | KWARP_REMOTE_ACCESS;
	t->mr.length = sizeof(t->words) - 2;
	t->mr.shift = ilog2(sizeof(t->words));
	t->mr.offset = 1;
	t->sq.rfc7306 = true;
	test_sq_init(test, &t->sq, t->cq, &t->a.qp, RECVS, 0);
	e->sq = &t->sq;
	e->more = KWARP_RDMAP_RFC7306;
	e->sink_rights = IB_ACCESS_LOCAL_WRITE;
	e->access = KWARP_REMOTE_ACCESS;
	return 0;
}

/* Ask the peer, on the first stream. @to: address of the request's buffer in the region */
void rx_ask(struct rx_test *t, bool atomic, u64 to)
{
	struct kwarp_wqe wqe = {
		.e.id = 100 + t->sq.next,
		.e.opcode = atomic ? KWARP_WR_FETCH_ADD : KWARP_WR_READ,
		.e.flags = KWARP_WR_SIGNALED,
		.len = 8,
	};
	struct kwarp_oread *r = kwarp_oread_tail(&t->a.e.oread);

	wqe.rule = kwarp_wr_rule(wqe.e.opcode);
	*r = (struct kwarp_oread) { .atomic = atomic, .stag = STAG, .to = to, .left = 8 };
	r->sq_index = kwarp_sq_take(&t->sq, &wqe);
	r->msn = r->sq_index + 1;
	kwarp_readq_push(&t->a.e.oread);
	kwarp_sq_sent(&t->sq, t->sq.next);
}

void rx_test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rx_references, 0);
}

/* ----------------------------------------------------------------- the peer */

void rx_feed(struct stream *s, const u8 *ulpdu, u32 len)
{
	u8 wire[128];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };

	kwarp_emit_fpdu(&w, ulpdu, len, 0);
	kwarp_fpdu_rx_verify(&s->e.rx.fpdu, w.crc, wire + w.len - 4);
	kwarp_rx_feed(&s->e, wire, w.len);
	s->kick = kwarp_rx_end_run(&s->e);
}

void rx_feed_untagged(struct stream *s, u8 ctrl, u8 opcode, u32 stag, u32 qn,
		      const u8 *payload, u32 len)
{
	u8 u[18 + KWARP_TERM_MAX_LEN] = { ctrl, 0x40 | opcode };

	put_unaligned_be32(stag, u + 2);
	put_unaligned_be32(qn, u + 6);
	put_unaligned_be32(s->msn[qn], u + 10);
	memcpy(u + 18, payload, len);
	rx_feed(s, u, 18 + len);
	if (ctrl & 0x40)
		s->msn[qn]++;
}

void rx_feed_tagged(struct stream *s, u8 opcode, bool last, u64 to, u32 len)
{
	u8 u[14 + 32] = { last ? 0xc1 : 0x81, 0x40 | opcode };

	put_unaligned_be32(STAG, u + 2);
	put_unaligned_be64(to, u + 6);
	rx_feed(s, u, 14 + len);
}

void rx_feed_send(struct stream *s, u8 opcode, u32 stag)
{
	rx_feed_untagged(s, 0x41, opcode, stag, KWARP_QN_SEND, NULL, 0);
}

void rx_make_write(u8 u[WRITE_LEN])
{
	u[0] = 0xc1;
	u[1] = 0x40;
	put_unaligned_be32(STAG, u + 2);
	put_unaligned_be64(VA, u + 6);
	memset(u + 14, 0x3c, OCTETS);
}

void rx_feed_write(struct stream *s)
{
	u8 u[WRITE_LEN];

	rx_make_write(u);
	rx_feed(s, u, sizeof(u));
}

void rx_expect_done(struct kunit *test, u64 id)
{
	struct rx_test *t = test->priv;

	test_cq_expect(test, t->cq, id, KWARP_WC_RECV, KWARP_WC_SUCCESS);
}

/* -------------------------------------------------------------- expectations */

void rx_expect_write(struct kunit *test, struct stream *s, enum kwarp_perr perr)
{
	struct rx_test *t = test->priv;

	memset(t->mem, 0, OCTETS);
	rx_feed_write(s);
	KUNIT_EXPECT_EQ(test, s->e.perr, perr);
	KUNIT_EXPECT_EQ(test, t->mem[0], perr == KWARP_PERR_NONE ? 0x3c : 0);
}
