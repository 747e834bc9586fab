// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the send queue: requests are taken and completed in order, no matter when responses
 * come. An index is corrupt if user space has written an impossible number.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "sq_fixture.h"

#define SEED	42

static void test_take(struct kunit *test)
{
	struct sq_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	post_send(t, 11, KWARP_WR_WRITE, 0);
	post_send(t, 12, KWARP_WR_SEND, KWARP_WR_SOLICITED);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_empty(&t->sq));
	/* peeking does not take */
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, take_send(test, 11), 0);
	KUNIT_EXPECT_EQ(test, t->wqe.e.opcode, KWARP_WR_WRITE);
	KUNIT_EXPECT_EQ(test, t->wqe.len, 11);
	KUNIT_EXPECT_EQ(test, take_send(test, 12), 1);
	KUNIT_EXPECT_EQ(test, t->wqe.e.flags, KWARP_WR_SOLICITED);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
	/* taking entries frees no slot */
	KUNIT_EXPECT_EQ(test, ring_cons(t), 0);
}

static void test_take_bad(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 21, KWARP_WR_MAX, 0);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_BAD);
	KUNIT_EXPECT_EQ(test, t->wqe.e.id, 21);
	/* only a kernel consumer may post REG_MR */
	post_send(t, 22, KWARP_WR_REG_MR, 0);
	t->sq.next++;
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_BAD);
	((struct kwarp_sqe *)kwarp_ring_slot(&t->sq.ring, 1))->num_sge = 0;
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_BAD);
	t->sq.user = false;
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
}

static void test_corrupt(struct kunit *test)
{
	static const u32 ahead[] = { ENTRIES + 1, ENTRIES + 2, 0x80000000, U32_MAX };
	struct sq_test *t = test->priv;
	u32 i;

	start_at(t, U32_MAX - 2);
	for (i = 0; i < ARRAY_SIZE(ahead); i++) {
		t->sq.ring.hdr->prod = t->sq.next + ahead[i];
		KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_CORRUPT);
		/* a queue with a corrupt index counts as not empty: the runner finds the error */
		KUNIT_EXPECT_FALSE(test, kwarp_sq_empty(&t->sq));
	}
	t->sq.ring.hdr->prod = t->sq.next;
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_NONE);
}

/* A full ring is legal; one more entry would overwrite a request that has not completed. */
static void test_overrun(struct kunit *test)
{
	struct sq_test *t = test->priv;
	u32 i;

	start_at(t, U32_MAX - 3);
	for (i = 0; i < ENTRIES; i++)
		post_signaled(t, 100 + i, i ? KWARP_WR_SEND : KWARP_WR_READ);
	for (i = 0; i < ENTRIES; i++)
		take_send(test, 100 + i);
	kwarp_sq_sent(&t->sq, t->sq.next);
	expect_none(test);
	post_signaled(t, 200, KWARP_WR_SEND);
	KUNIT_EXPECT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_CORRUPT);

	/* Request 100 completes with its own id, because kwarp_sq_take() has copied the id. */
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 100, KWARP_WR_READ, KWARP_WC_FLUSH_ERR);
	for (i = 1; i < ENTRIES; i++)
		expect_cqe(test, 100 + i, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_cqe(test, 200, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	expect_none(test);
}

static void test_complete(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_signaled(t, 1, KWARP_WR_WRITE);
	post_signaled(t, 2, KWARP_WR_SEND);
	post_signaled(t, 3, KWARP_WR_SEND_INV);
	post_signaled(t, 4, KWARP_WR_LOCAL_INV);
	take_send(test, 1);
	take_send(test, 2);
	expect_none(test);
	kwarp_sq_sent(&t->sq, 1);
	expect_cqe(test, 1, KWARP_WR_WRITE, KWARP_WC_SUCCESS);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
	/* a repeated or late report that requests were sent has no effect */
	kwarp_sq_sent(&t->sq, 1);
	kwarp_sq_sent(&t->sq, 0);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
	take_send(test, 3);
	take_send(test, 4);
	kwarp_sq_sent(&t->sq, 4);
	expect_cqe(test, 2, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_cqe(test, 3, KWARP_WR_SEND_INV, KWARP_WC_SUCCESS);
	expect_cqe(test, 4, KWARP_WR_LOCAL_INV, KWARP_WC_SUCCESS);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 4);
}

/* 5040-5.5-22: requests that were posted after a Read do not complete before the Read. */
static void test_reads(struct kunit *test)
{
	struct sq_test *t = test->priv;
	const struct kwarp_cqe *cqe;
	u32 first, second;

	post_signaled(t, 1, KWARP_WR_WRITE);
	post_signaled(t, 2, KWARP_WR_READ);
	post_signaled(t, 3, KWARP_WR_SEND);
	post_signaled(t, 4, KWARP_WR_READ);
	post_signaled(t, 5, KWARP_WR_WRITE);
	take_send(test, 1);
	first = take_send(test, 2);
	take_send(test, 3);
	second = take_send(test, 4);
	take_send(test, 5);
	kwarp_sq_sent(&t->sq, 5);
	expect_cqe(test, 1, KWARP_WR_WRITE, KWARP_WC_SUCCESS);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);

	kwarp_sq_answered(&t->sq, second);
	expect_none(test);
	kwarp_sq_answered(&t->sq, first);
	cqe = kwarp_ring_slot(&t->cq->cq.ring, t->cq->cq.ring.hdr->cons);
	KUNIT_EXPECT_EQ(test, cqe[0].byte_len, 2);
	KUNIT_EXPECT_EQ(test, cqe[1].byte_len, 0);
	KUNIT_EXPECT_EQ(test, cqe[2].byte_len, 4);
	expect_cqe(test, 2, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_cqe(test, 3, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_cqe(test, 4, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_cqe(test, 5, KWARP_WR_WRITE, KWARP_WC_SUCCESS);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 5);
}

static void test_early_answer(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_signaled(t, 1, KWARP_WR_READ);
	post_signaled(t, 2, KWARP_WR_READ);
	take_send(test, 1);
	take_send(test, 2);
	kwarp_sq_answered(&t->sq, 0);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 0);
	kwarp_sq_sent(&t->sq, 2);
	expect_cqe(test, 1, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_none(test);
	kwarp_sq_answered(&t->sq, 1);
	expect_cqe(test, 2, KWARP_WR_READ, KWARP_WC_SUCCESS);
}

static void test_unsignaled(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 1, KWARP_WR_WRITE, KWARP_WR_SOLICITED | KWARP_WR_FENCE);
	post_send(t, 2, KWARP_WR_READ, 0);
	post_signaled(t, 3, KWARP_WR_SEND);
	post_send(t, 4, KWARP_WR_SEND, 0);
	take_send(test, 1);
	take_send(test, 2);
	take_send(test, 3);
	take_send(test, 4);
	kwarp_sq_sent(&t->sq, 4);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
	kwarp_sq_answered(&t->sq, 1);
	expect_cqe(test, 3, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 4);

	t->sq.sig_all = true;
	post_send(t, 5, KWARP_WR_SEND, 0);
	take_send(test, 5);
	kwarp_sq_sent(&t->sq, 5);
	expect_cqe(test, 5, KWARP_WR_SEND, KWARP_WC_SUCCESS);
}

/* Requests without a completion leave the CQ alone: here there is none. */
static void test_no_cq(struct kunit *test)
{
	struct sq_test *t = test->priv;

	t->sq.cq = NULL;
	post_send(t, 1, KWARP_WR_WRITE, 0);
	post_send(t, 2, KWARP_WR_READ, 0);
	take_send(test, 1);
	take_send(test, 2);
	kwarp_sq_sent(&t->sq, 2);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
	kwarp_sq_answered(&t->sq, 1);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 2);
}

/*
 * A Read holds up more requests than one call may complete. The first call completes some; the rest
 * is completed by kwarp_sq_retire(), each request once and in order.
 */
static void test_behind(struct kunit *test)
{
	const u32 n = 4096, most = 16 * KWARP_IRQ_OFF_BATCH;
	struct sq_test *t = test->priv;
	u32 i, calls = 0;

	free_done(&t->sq);
	t->cq = test_cq_new(test, n);
	t->sq.cq = &t->cq->cq;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, n, kwarp_sqe_stride(1, 0)), 0);
	for (i = 0; i < n; i++) {
		post_signaled(t, i, i ? KWARP_WR_WRITE : KWARP_WR_READ);
		take_send(test, i);
	}
	KUNIT_EXPECT_FALSE(test, kwarp_sq_sent(&t->sq, n));
	KUNIT_EXPECT_TRUE(test, kwarp_sq_answered(&t->sq, 0));
	KUNIT_EXPECT_EQ(test, ring_cons(t), most);
	KUNIT_EXPECT_TRUE(test, t->sq.behind);
	while (kwarp_sq_retire(&t->sq)) {
		calls++;
		KUNIT_ASSERT_LE(test, ring_cons(t), (calls + 1) * most);
	}
	KUNIT_EXPECT_GE(test, calls, n / most - 2);
	KUNIT_EXPECT_FALSE(test, t->sq.behind);
	for (i = 0; i < n; i++)
		expect_cqe(test, i, i ? KWARP_WR_WRITE : KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), n);
}

/* @answered: no request before this index is a Read without a response */
struct model {
	struct {
		u8 opcode;
		bool signaled;
		bool read;
	} req[4000];
	u32 posted;
	u32 taken;
	u32 sent;
	u32 answered;
	u32 done;
};

static void walk_post(struct sq_test *t, struct model *m, u32 rnd)
{
	static const u8 ops[] = {
		KWARP_WR_WRITE, KWARP_WR_SEND, KWARP_WR_READ, KWARP_WR_READ,
	};
	u8 op = ops[rnd >> 8 & 3];
	bool signaled = rnd & BIT(16);

	if (t->sq.ring.hdr->prod - ring_cons(t) == ENTRIES || m->posted == ARRAY_SIZE(m->req))
		return;
	post_send(t, m->posted, op, signaled ? KWARP_WR_SIGNALED : 0);
	m->req[m->posted].opcode = op;
	m->req[m->posted].signaled = signaled;
	m->req[m->posted].read = op == KWARP_WR_READ;
	m->posted++;
}

/* Answer the oldest taken Read that has no response, because responses come in order. */
static void walk_answer(struct sq_test *t, struct model *m, u32 base)
{
	while (m->answered < m->taken && !m->req[m->answered].read)
		m->answered++;
	if (m->answered == m->taken)
		return;
	m->req[m->answered].read = false;
	kwarp_sq_answered(&t->sq, base + m->answered);
}

static void walk_check(struct kunit *test, struct model *m, u32 base)
{
	struct sq_test *t = test->priv;

	for (; m->done < m->sent && !m->req[m->done].read; m->done++)
		if (m->req[m->done].signaled)
			expect_cqe(test, m->done, m->req[m->done].opcode, KWARP_WC_SUCCESS);
	expect_none(test);
	KUNIT_ASSERT_EQ(test, ring_cons(t), base + m->done);
}

/* The requests go hundreds of times through all slots of the ring, and the indices wrap. */
static void test_walk(struct kunit *test)
{
	struct sq_test *t = test->priv;
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	const u32 base = U32_MAX - 1000;
	struct rnd_state state;

	KUNIT_ASSERT_NOT_NULL(test, m);
	prandom_seed_state(&state, SEED);
	start_at(t, base);
	test_cq_start_at(t->cq, U32_MAX - 300);
	while (m->done < ARRAY_SIZE(m->req)) {
		u32 rnd = prandom_u32_state(&state);

		switch (rnd & 3) {
		case 0:
			walk_post(t, m, rnd);
			break;
		case 1:
			if (m->taken < m->posted)
				KUNIT_ASSERT_EQ(test, take_send(test, m->taken), base + m->taken);
			m->taken += m->taken < m->posted;
			break;
		case 2:
			m->sent += (rnd >> 8) % (m->taken - m->sent + 1);
			kwarp_sq_sent(&t->sq, base + m->sent);
			break;
		case 3:
			walk_answer(t, m, base);
			break;
		}
		walk_check(test, m, base);
	}
}

static struct kunit_case sq_cases[] = {
	KUNIT_CASE(test_take),
	KUNIT_CASE(test_take_bad),
	KUNIT_CASE(test_corrupt),
	KUNIT_CASE(test_overrun),
	KUNIT_CASE(test_complete),
	KUNIT_CASE(test_reads),
	KUNIT_CASE(test_early_answer),
	KUNIT_CASE(test_unsignaled),
	KUNIT_CASE(test_no_cq),
	KUNIT_CASE(test_behind),
	KUNIT_CASE(test_walk),
	{}
};

static struct kunit_suite sq_suite = {
	.name = "kwarp_sq",
	.init = sq_test_init,
	.test_cases = sq_cases,
};

kunit_test_suite(sq_suite);
