// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of send queues of a program that uses libsiw. Requests are moved from libsiw's ring into
 * the queue's own ring.
 */
#include <kunit/test.h>
#include <linux/limits.h>

#include "ring_fixture.h"

static const struct {
	u8 siw;
	enum kwarp_take take;
	u8 opcode;
} opcodes[] = {
	{ SIW_OP_WRITE, KWARP_TAKE_OK, KWARP_WR_WRITE },
	{ SIW_OP_READ, KWARP_TAKE_OK, KWARP_WR_READ },
	{ SIW_OP_READ_LOCAL_INV, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_SEND, KWARP_TAKE_OK, KWARP_WR_SEND },
	{ SIW_OP_SEND_WITH_IMM, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_SEND_REMOTE_INV, KWARP_TAKE_OK, KWARP_WR_SEND_INV },
	{ SIW_OP_FETCH_AND_ADD, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_COMP_AND_SWAP, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_RECEIVE, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_READ_RESPONSE, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_INVAL_STAG, KWARP_TAKE_BAD, 0 },
	{ SIW_OP_REG_MR, KWARP_TAKE_BAD, 0 },
	{ 255, KWARP_TAKE_BAD, 0 },
};

static void test_opcodes(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const struct siw_sqe e = {
			.id = 100 + i, .opcode = opcodes[i].siw, .num_sge = 1,
			.flags = SIW_WQE_SOLICITED | SIW_WQE_READ_FENCE,
			.raddr = 0x123456789abcdef0, .rkey = 0x4711,
			.sge = { { .laddr = 0x1000, .length = 64, .lkey = 0x100 } },
		};
		enum kwarp_take take;

		KUNIT_ASSERT_GE(test, post_send(t, &e), 0);
		take = kwarp_sq_peek(&t->sq, &t->wqe);
		KUNIT_EXPECT_EQ_MSG(test, take, opcodes[i].take, "opcode %u", opcodes[i].siw);
		KUNIT_EXPECT_EQ(test, t->wqe.e.id, 100 + i);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
		if (opcodes[i].siw == SIW_OP_READ)
			kwarp_sq_answered(&t->sq, i);
		if (take != KWARP_TAKE_OK)
			continue;
		KUNIT_EXPECT_EQ(test, t->wqe.e.opcode, opcodes[i].opcode);
		KUNIT_EXPECT_EQ(test, t->wqe.e.flags, KWARP_WR_SOLICITED | KWARP_WR_FENCE);
		KUNIT_EXPECT_EQ(test, t->wqe.e.raddr, 0x123456789abcdef0);
		KUNIT_EXPECT_EQ(test, t->wqe.e.rkey, 0x4711);
		KUNIT_EXPECT_EQ(test, t->wqe.len, 64);
		KUNIT_EXPECT_EQ(test, t->wqe.sge[0].lkey, 0x100);
		if (opcodes[i].opcode == KWARP_WR_SEND_INV)
			KUNIT_EXPECT_EQ(test, t->wqe.e.inv_stag, 0x4711);
	}
}

static const struct {
	const char *what;
	u16 flags;
	u8 num_sge;
	u32 len;
	enum kwarp_take take;
} bodies[] = {
	{ "no element", 0, 0, 10, KWARP_TAKE_OK },
	{ "six elements", 0, 6, 10, KWARP_TAKE_OK },
	{ "seven elements", 0, 7, 10, KWARP_TAKE_BAD },
	{ "255 elements", 0, 255, 10, KWARP_TAKE_BAD },
	{ "more than 4 GiB", 0, 2, U32_MAX, KWARP_TAKE_BAD },
	{ "nothing inline", SIW_WQE_INLINE, 3, 0, KWARP_TAKE_OK },
	{ "80 octets inline", SIW_WQE_INLINE, 200, 80, KWARP_TAKE_OK },
	{ "81 octets inline", SIW_WQE_INLINE, 1, 81, KWARP_TAKE_BAD },
	{ "4 GiB inline", SIW_WQE_INLINE, 1, U32_MAX, KWARP_TAKE_BAD },
};

static void test_bodies(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct siw_sqe e = {
			.id = i, .opcode = SIW_OP_SEND, .num_sge = bodies[i].num_sge,
			.flags = bodies[i].flags,
		};
		enum kwarp_take take;

		for (k = 0; k < SIW_MAX_SGE; k++)
			e.sge[k].length = bodies[i].len;
		if (bodies[i].flags & SIW_WQE_INLINE)
			memset(&e.sge[1], 0xa5, SIW_MAX_INLINE);
		KUNIT_ASSERT_GE(test, post_send(t, &e), 0);
		take = kwarp_sq_peek(&t->sq, &t->wqe);
		KUNIT_EXPECT_EQ_MSG(test, take, bodies[i].take, "%s", bodies[i].what);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
		if (take != KWARP_TAKE_OK)
			continue;
		if (!(bodies[i].flags & SIW_WQE_INLINE)) {
			KUNIT_EXPECT_EQ(test, t->wqe.len, bodies[i].num_sge * bodies[i].len);
			continue;
		}
		KUNIT_EXPECT_EQ(test, t->wqe.len, bodies[i].len);
		for (k = 0; k < bodies[i].len; k++)
			KUNIT_EXPECT_EQ(test, t->wqe.data[k], 0xa5);
	}
}

static void take_all(struct kunit *test, u64 first, u32 n)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->wqe.e.id, first + i);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
	}
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
}

/* libsiw rings its doorbell only if there is no transmit runner. */
static void test_doorbell(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 seen;

	KUNIT_EXPECT_EQ(test, post_write(t, 0), 1);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_empty(&t->sq));
	/* A transmit runner begins: it clears KWARP_RING_NEED_KICK, so libsiw need not ring. */
	kwarp_sq_tell(&t->sq, 0);
	KUNIT_EXPECT_EQ(test, post_write(t, 1), 0);
	seen = kwarp_sq_posted(&t->sq);
	KUNIT_EXPECT_EQ(test, seen, 2);
	take_all(test, 0, 2);
	KUNIT_EXPECT_EQ(test, post_write(t, 2), 0);
	take_all(test, 2, 1);
	/*
	 * The runner is about to end. For a request that is posted before the runner sets
	 * NEED_KICK, libsiw rings no doorbell; but the runner looks once more after setting
	 * NEED_KICK, and finds the request.
	 */
	seen = kwarp_sq_posted(&t->sq);
	KUNIT_EXPECT_EQ(test, post_write(t, 3), 0);
	kwarp_sq_tell(&t->sq, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_NE(test, kwarp_sq_posted(&t->sq), seen);
	KUNIT_EXPECT_EQ(test, post_write(t, 4), 1);
	take_all(test, 3, 2);
	KUNIT_EXPECT_EQ(test, post_write(t, 5), 1);
}

static void test_room(struct kunit *test)
{
	struct siw_test *t = test->priv;
	struct siw_cqe cqe;
	u32 round, i;

	kwarp_sq_tell(&t->sq, 0);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ENTRIES; i++)
			KUNIT_ASSERT_GE(test, post_write(t, round * ENTRIES + i), 0);
		take_all(test, round * ENTRIES, ENTRIES);
		for (i = 0; i < ENTRIES; i++)
			KUNIT_EXPECT_TRUE(test, poll_cq(t, &cqe));
	}
}

/* Requests beyond the size of the queue's own ring wait in libsiw's ring, and none is lost. */
static void test_full(struct kunit *test)
{
	struct siw_test *t = test->priv;
	struct siw_sqe e = {
		.id = 0, .opcode = SIW_OP_READ, .flags = SIW_WQE_SIGNALLED, .num_sge = 1,
		.sge = { { .length = 64 } },
	};
	u32 i, posted = 0, index;

	kwarp_sq_tell(&t->sq, 0);
	for (; post_send(t, &e) >= 0; e.id++)
		posted++;
	KUNIT_EXPECT_EQ(test, posted, 2 * ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
		kwarp_sq_sent(&t->sq, kwarp_sq_take(&t->sq, &t->wqe) + 1);
	}
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_empty(&t->sq));
	/* kwarp_sq_has_unmoved() reports waiting requests, although there is no room. */
	i = kwarp_sq_posted(&t->sq);
	kwarp_sq_tell(&t->sq, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, kwarp_sq_posted(&t->sq), i);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_has_unmoved(&t->sq));
	kwarp_sq_answered(&t->sq, 0);
	expect_cqe(test, 0, SIW_OP_READ, SIW_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->wqe.e.id, ENTRIES);
	index = kwarp_sq_take(&t->sq, &t->wqe);
	KUNIT_EXPECT_EQ(test, index, ENTRIES);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	/* A flush completes all requests, also those that are still in libsiw's ring. */
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	for (i = 1; i < posted; i++)
		expect_cqe(test, i, SIW_OP_READ, SIW_WC_WR_FLUSH_ERR);
	expect_no_cqe(test);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
}

/* A graceful close sends the requests that were posted before it. */
static void test_posted_all(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, kwarp_sq_posted_all(&t->sq), 0);
	for (i = 0; i < ENTRIES; i++)
		post_write(t, i);
	KUNIT_EXPECT_EQ(test, kwarp_sq_posted_all(&t->sq), ENTRIES);
	take_all(test, 0, ENTRIES);
	post_write(t, ENTRIES);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	for (i = 0; i < ENTRIES; i++)
		expect_cqe(test, i, SIW_OP_WRITE, SIW_WC_SUCCESS);
	expect_cqe(test, ENTRIES, SIW_OP_WRITE, SIW_WC_WR_FLUSH_ERR);
}

/* After a RESET libsiw posts into the next slot, not into the first. */
static void test_reset(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	for (i = 0; i < 3; i++) {
		post_write(t, i);
		post_recv(t, i, 1);
	}
	kwarp_sq_tell(&t->sq, 0);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_OK);
	post_write(t, 3);
	post_recv(t, 3, 1);
	kwarp_sq_reset(&t->sq);
	kwarp_rq_reset(&t->rq);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_NONE);
	KUNIT_EXPECT_EQ(test, post_write(t, 20), 1);
	take_all(test, 20, 1);
	post_recv(t, 21, 1);
	KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 21);
}

/* The program sets SIW_WQE_VALID (posted) all the time: only its own queue is affected. */
static void test_scribble(struct kunit *test)
{
	struct siw_test *t = test->priv;
	u32 i;

	kwarp_sq_tell(&t->sq, 0);
	for (i = 0; i < 100; i++) {
		memset(t->send->mem, 0xff, t->send->len);
		memset(t->recv->mem, 0xff, t->recv->len);
		KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_BAD);
		KUNIT_EXPECT_EQ(test, kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit),
				KWARP_TAKE_BAD);
		kwarp_sq_failed(&t->sq, kwarp_sq_take(&t->sq, &t->wqe), KWARP_WC_LOC_QP_OP_ERR, 0);
		kwarp_sq_flush(&t->sq, 0);
		kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, 0);
	}
	KUNIT_EXPECT_TRUE(test, t->cq->cq.overflow);
}

static struct kunit_case siw_send_cases[] = {
	KUNIT_CASE(test_opcodes),
	KUNIT_CASE(test_bodies),
	KUNIT_CASE(test_doorbell),
	KUNIT_CASE(test_room),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_posted_all),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_scribble),
	{}
};

static struct kunit_suite siw_send_suite = {
	.name = "kwarp_siw_send",
	.init = siw_test_init,
	.exit = siw_test_exit,
	.test_cases = siw_send_cases,
};

kunit_test_suite(siw_send_suite);
