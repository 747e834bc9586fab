// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of building FPDUs */
#include "tx_build_fixture.h"

#include "../../tests/doors.h"
#include "../fail.h"
#include "../tx/tx.h"

#define SEED		42

struct lower build_lower;

/* -------------------------------------------------------------- flat batch */

static void flat_mark(const struct kwarp_batch *b, struct kwarp_batch_mark *m)
{
	m->len = b->len;
}

static void flat_rollback(struct kwarp_batch *b, const struct kwarp_batch_mark *m)
{
	/* Overwrite the removed octets, so that a test fails if they are sent nevertheless. */
	memset(build_lower.wire + m->len, 0xa5, b->len - m->len);
	b->len = m->len;
}

static u8 *flat_frag(struct kwarp_batch *b, u32 want, u32 *got)
{
	if (build_lower.short_every && ++build_lower.asked % build_lower.short_every == 0)
		return NULL;
	*got = min(want, 1 + prandom_u32_state(&build_lower.rnd) % 1000);
	b->len += *got;
	return build_lower.wire + b->len - *got;
}

/*
 * At random: the real function returns NULL if the page that is being filled has too little room.
 */
static u8 *flat_whole(struct kwarp_batch *b, u32 len)
{
	if (prandom_u32_state(&build_lower.rnd) & 1)
		return NULL;
	b->len += len;
	return build_lower.wire + b->len - len;
}

static struct kwarp_mr *flat_mr(struct kwarp_batch *b, u32 stag)
{
	return stag >> 8 == STAG >> 8 ? build_lower.mr : NULL;
}

/* -------------------------------------------------- fake engine and queue */

static void note_built(struct kwarp_engine *e)
{
	e->tx.msg.kind = KWARP_TXK_NONE;
	build_lower.built++;
}

static void note_failure(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
			 u16 seg_len, const u8 *rreq)
{
	build_lower.perr = perr;
	build_lower.seg_len = seg_len;
	build_lower.has_rreq = rreq;
	if (rreq)
		memcpy(build_lower.rreq, rreq, sizeof(build_lower.rreq));
}

/* The real function needs a complete send queue. */
static void note_sq_failed(struct kwarp_sq *sq, u32 index, enum kwarp_wc_status status,
			   u32 vendor_err)
{
	build_lower.status = status;
}

/* ------------------------------------------------------------------ fixture */

void build_make_region(struct build_test *t)
{
	t->chunk = t->mem;
	t->mr.kind = KWARP_MR_USER;
	t->mr.valid = true;
	t->mr.stag = STAG;
	t->mr.access = IB_ACCESS_REMOTE_READ;
	t->mr.pd = &t->pd;
	t->mr.va = VA;
	t->mr.length = MEM_LEN;
	t->mr.chunk = &t->chunk;
	t->mr.nchunks = 1;
	t->mr.shift = ilog2(MEM_LEN);
	build_lower.mr = &t->mr;
}

int build_test_init(struct kunit *test)
{
	struct build_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->e.kdev = kunit_kzalloc(test, sizeof(*t->e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->e.kdev);
	memset(&build_lower, 0, sizeof(build_lower));
	prandom_seed_state(&build_lower.rnd, SEED);
	build_lower.wire = kunit_kzalloc(test, WIRE_MAX, GFP_KERNEL);
	build_lower.first = build_lower.wire;
	t->want = kunit_kzalloc(test, WIRE_MAX, GFP_KERNEL);
	t->mem = kunit_kmalloc(test, MEM_LEN, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, build_lower.wire && t->want && t->mem);
	for (i = 0; i < MEM_LEN; i++)
		t->mem[i] = 1 + i % 251;
	build_make_region(t);
	/* The test acts as the runner. */
	atomic_set(&t->e.tx.run, KWARP_RUN_ACTIVE);
	t->e.mem.pd = &t->pd;
	t->e.iread.i = &t->iread;
	test->priv = t;
	kwarp_stub(test, kwarp_batch_mark, flat_mark);
	kwarp_stub(test, kwarp_batch_rollback, flat_rollback);
	kwarp_stub(test, kwarp_batch_frag, flat_frag);
	kwarp_stub(test, kwarp_batch_whole, flat_whole);
	kwarp_stub(test, kwarp_batch_mr, flat_mr);
	kwarp_stub(test, kwarp_tx_message_built, note_built);
	kwarp_stub(test, kwarp_engine_fail, note_failure);
	kwarp_stub(test, kwarp_sq_failed, note_sq_failed);
	return 0;
}

/* ----------------------------------------------------------------- messages */

/* The scatter/gather list has MAX_SGES elements, some of them empty. */
void build_from_sgl(struct build_test *t, u32 off, u32 len)
{
	struct kwarp_tx *tx = &t->e.tx;
	u32 i, n;

	tx->msg.kind = KWARP_TXK_SQ;
	tx->msg.src = KWARP_SRC_SGL;
	tx->wqe.e.num_sge = len ? MAX_SGES : 0;
	for (i = 0; i < MAX_SGES; i++) {
		n = i + 1 < MAX_SGES ? prandom_u32_state(&build_lower.rnd) % (len + 1) : len;
		tx->wqe.sge[i] = (struct kwarp_sge){ .addr = VA + off, .length = n, .lkey = STAG };
		off += n;
		len -= n;
	}
}

void build_from_region(struct build_test *t, u32 off, u32 len)
{
	t->e.tx.msg.kind = KWARP_TXK_ANSWER;
	t->e.tx.msg.src = KWARP_SRC_REGION;
	t->iread = (struct kwarp_iread){
		.sink_stag = 0x2200, .sink_to = 0x10000, .src_stag = STAG,
		.src_to = VA + off, .size = len, .raw = { 0x41, 0x41 },
	};
}

void build_start(struct build_test *t, const struct plan *c)
{
	struct kwarp_tx *tx = &t->e.tx;

	tx->crc = c->crc;
	tx->markers = c->markers;
	tx->mulpdu = c->mulpdu;
	tx->off = c->off;
	tx->batch.cut = c->cut;
	tx->batch.goal = U32_MAX;
	/* The code under test only compares frag.page with NULL. */
	tx->batch.frag.page = ZERO_PAGE(0);
	build_lower.short_every = c->short_every;
}
