// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of inbound messages of RFC 7306. The code under test is included. The region
 * belongs to this fixture, the queues are the real ones.
 */
#include "rx_rfc7306_fixture.h"

#include "../rx/stream.c"
#include "../rx/segment.c"
#include "../rx/series.c"
#include "../rx/place.c"
#include "../rx/answer.c"
#include "../rx/receive.c"

#include "../../proto/tests/emit.h"

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

int ext_rx_test_init(struct kunit *test)
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

/*
 * Add an outstanding request of ours, a Read or an atomic operation, as the next request of the
 * send queue. @to: address of its buffer in the region.
 */
void ext_rx_ask(struct ext_test *t, bool atomic, u64 to)
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

void ext_rx_feed_untagged(struct ext_test *t, u8 ctrl, u8 opcode, u32 qn, const void *payload,
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

void ext_rx_feed_tagged(struct ext_test *t, u8 opcode, bool last, u64 to, u32 len)
{
	u8 u[14 + 32] = { last ? 0xc1 : 0x81, 0x40 | opcode };

	put_unaligned_be32(STAG, u + 2);
	put_unaligned_be64(to, u + 6);
	feed(t, u, 14 + len);
}
