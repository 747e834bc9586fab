// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the send queue: requests are taken and completed in order, whenever responses come. */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/prandom.h>

#include "../sq.h"
#include "fixture.h"

#define SEED	42
#define ENTRIES	8

struct sq_test {
	struct kwarp_sq sq;
	struct ib_qp qp;
	struct test_cq *cq;
	struct kwarp_wqe wqe;
};

static void free_done(void *sq)
{
	kvfree(((struct kwarp_sq *)sq)->done);
	kwarp_ring_fini(&((struct kwarp_sq *)sq)->ring);
}

static int sq_test_init(struct kunit *test)
{
	struct sq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->cq = test_cq_new(test, 64);
	t->qp.qp_num = TEST_QPN;
	t->sq.cq = &t->cq->cq;
	t->sq.ibqp = &t->qp;
	t->sq.user = true;
	KUNIT_ASSERT_EQ(test, kwarp_sq_init(&t->sq, ENTRIES, kwarp_sqe_stride(1, 0)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_done, &t->sq), 0);
	test->priv = t;
	return 0;
}

static void start_at(struct sq_test *t, u32 index)
{
	t->sq.next = index;
	t->sq.sent = index;
	t->sq.retired = index;
	t->sq.ring.hdr->prod = index;
	t->sq.ring.hdr->cons = index;
}

/* User space posts a request of @id octets. */
static void post_send(struct sq_test *t, u64 id, u8 opcode, u16 flags)
{
	struct kwarp_ring_hdr *hdr = t->sq.ring.hdr;
	struct kwarp_sqe *e = kwarp_ring_slot(&t->sq.ring, hdr->prod);
	struct kwarp_sge *sge = (struct kwarp_sge *)(e + 1);

	memset(e, 0, t->sq.ring.stride);
	e->id = id;
	e->opcode = opcode;
	e->flags = flags;
	if (opcode != KWARP_WR_LOCAL_INV) {
		e->num_sge = 1;
		sge->length = id;
	}
	hdr->prod++;
}

static void post_signaled(struct sq_test *t, u64 id, u8 opcode)
{
	post_send(t, id, opcode, KWARP_WR_SIGNALED);
}

/* Take the next entry, like the transmit runner. It must be @id. */
static u32 take_send(struct kunit *test, u64 id)
{
	struct sq_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, kwarp_sq_peek(&t->sq, &t->wqe), KWARP_TAKE_OK);
	KUNIT_ASSERT_EQ(test, t->wqe.e.id, id);
	return kwarp_sq_take(&t->sq, &t->wqe);
}

static void expect_cqe(struct kunit *test, u64 id, u8 opcode, u8 status)
{
	struct sq_test *t = test->priv;

	test_cq_expect(test, t->cq, id, opcode, status);
}

static void expect_none(struct kunit *test)
{
	struct sq_test *t = test->priv;

	test_cq_none(test, t->cq);
}

static u32 ring_cons(const struct sq_test *t)
{
	return t->sq.ring.hdr->cons;
}

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
		/* otherwise the runner would not look at the queue */
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

	/* requests that were taken complete with their ids */
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
	/* a repeated or late report has no effect */
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

/* 5040-5.5-22: requests after a Read do not complete before it. */
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

/* The response may come before kwarp_sq_sent() is called for the Read. */
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

/* A flush completes sent, failed, waiting, taken and posted requests, each in its own way. */
static void test_flush(struct kunit *test)
{
	struct sq_test *t = test->priv;
	const struct kwarp_cqe *cqe;

	post_signaled(t, 1, KWARP_WR_READ);	/* sent, no response yet */
	post_send(t, 2, KWARP_WR_SEND, 0);		/* sent, unsignaled */
	post_signaled(t, 3, KWARP_WR_SEND);	/* sent */
	post_send(t, 4, KWARP_WR_WRITE, 0);		/* failed */
	post_send(t, 5, KWARP_WR_SEND, 0);		/* being sent */
	post_send(t, 6, KWARP_WR_WRITE, 0);		/* posted */
	post_signaled(t, 7, 0xee);		/* posted, invalid opcode */
	take_send(test, 1);
	take_send(test, 2);
	take_send(test, 3);
	kwarp_sq_sent(&t->sq, 3);
	kwarp_sq_failed(&t->sq, take_send(test, 4), KWARP_WC_LOC_PROT_ERR, 0x1234);
	take_send(test, 5);
	expect_none(test);

	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 1, KWARP_WR_READ, KWARP_WC_FLUSH_ERR);
	expect_cqe(test, 3, KWARP_WR_SEND, KWARP_WC_SUCCESS);
	cqe = kwarp_ring_slot(&t->cq->cq.ring, t->cq->cq.ring.hdr->cons);
	KUNIT_EXPECT_EQ(test, cqe->vendor_err, 0x1234);
	expect_cqe(test, 4, KWARP_WR_WRITE, KWARP_WC_LOC_PROT_ERR);
	expect_cqe(test, 5, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	expect_cqe(test, 6, KWARP_WR_WRITE, KWARP_WC_FLUSH_ERR);
	expect_cqe(test, 7, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 7);

	/* a second flush completes only later requests */
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_none(test);
	post_send(t, 8, KWARP_WR_READ, 0);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 8, KWARP_WR_READ, KWARP_WC_FLUSH_ERR);
	expect_none(test);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
	/* a late report has no effect */
	kwarp_sq_sent(&t->sq, 5);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 8);
}

/* A Read that the peer refused, and a later one that was answered. */
static void test_flush_reads(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 1, KWARP_WR_READ, 0);
	post_signaled(t, 2, KWARP_WR_READ);
	post_send(t, 3, KWARP_WR_READ, 0);
	take_send(test, 1);
	take_send(test, 2);
	take_send(test, 3);
	kwarp_sq_sent(&t->sq, 3);
	kwarp_sq_failed(&t->sq, 0, KWARP_WC_REM_ACCESS_ERR, 0x1100);
	kwarp_sq_answered(&t->sq, 1);
	expect_none(test);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 1, KWARP_WR_READ, KWARP_WC_REM_ACCESS_ERR);
	expect_cqe(test, 2, KWARP_WR_READ, KWARP_WC_SUCCESS);
	expect_cqe(test, 3, KWARP_WR_READ, KWARP_WC_FLUSH_ERR);
	expect_none(test);
}

/* A failed request before which nothing waits completes without a flush. */
static void test_failed_sent(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 1, KWARP_WR_WRITE, 0);
	kwarp_sq_failed(&t->sq, take_send(test, 1), KWARP_WC_REM_OP_ERR, 1);
	kwarp_sq_sent(&t->sq, 1);
	expect_cqe(test, 1, KWARP_WR_WRITE, KWARP_WC_REM_OP_ERR);
	/* the next request in that slot has no error */
	start_at(t, ENTRIES);
	post_signaled(t, 2, KWARP_WR_WRITE);
	take_send(test, 2);
	kwarp_sq_sent(&t->sq, ENTRIES + 1);
	expect_cqe(test, 2, KWARP_WR_WRITE, KWARP_WC_SUCCESS);
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_none(test);
}

/* Corrupt index: only requests that were taken complete. */
static void test_flush_corrupt(struct kunit *test)
{
	struct sq_test *t = test->priv;

	post_send(t, 1, KWARP_WR_WRITE, 0);
	post_send(t, 2, KWARP_WR_WRITE, 0);
	take_send(test, 1);
	t->sq.ring.hdr->prod = 2 + ENTRIES;
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_cqe(test, 1, KWARP_WR_WRITE, KWARP_WC_FLUSH_ERR);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
}

static void test_reset(struct kunit *test)
{
	struct sq_test *t = test->priv;

	start_at(t, 77);
	post_signaled(t, 1, KWARP_WR_READ);
	take_send(test, 1);
	kwarp_ring_set_flags(&t->sq.ring, KWARP_RING_ERROR);
	kwarp_sq_reset(&t->sq);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, t->sq.ring.hdr->prod, 0);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 0);
	KUNIT_EXPECT_TRUE(test, kwarp_sq_empty(&t->sq));
	kwarp_sq_flush(&t->sq, TEST_FLUSH_CODE);
	expect_none(test);
	post_signaled(t, 2, KWARP_WR_SEND);
	KUNIT_EXPECT_EQ(test, take_send(test, 2), 0);
	kwarp_sq_sent(&t->sq, 1);
	expect_cqe(test, 2, KWARP_WR_SEND, KWARP_WC_SUCCESS);
}

/**
 * struct model - expected state of the queue during the random walk
 * @req: every request, in the order of posting
 * @req.read: a Read whose response has not come
 * @posted: number of requests posted
 * @taken: number of requests taken
 * @sent: number of requests reported as sent
 * @answered: index of the first request that may be a Read without response
 * @done: number of requests completed
 */
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

/* Responses to Reads come in order. */
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

/* A random walk through hundreds of rounds of the ring, across the wrap of the indices. */
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

/* 5041-6.2.1-3: requests are flushed in order, after TCP has taken all earlier ones. */
static void test_flush_late(struct kunit *test)
{
	struct sq_test *t = test->priv;
	u32 read, i;

	start_at(t, U32_MAX - 2);
	post_signaled(t, 1, KWARP_WR_READ);
	post_send(t, 2, KWARP_WR_SEND, 0);
	read = take_send(test, 1);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	KUNIT_EXPECT_EQ(test, t->sq.next, read + 1);
	kwarp_sq_sent(&t->sq, t->sq.next);
	for (i = 2; i <= ENTRIES; i++)
		post_send(t, 1 + i, i == 5 ? KWARP_WR_MAX : KWARP_WR_SEND, 0);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	KUNIT_EXPECT_EQ(test, t->sq.next, read + ENTRIES);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, ring_cons(t), read);

	kwarp_sq_answered(&t->sq, read);
	expect_cqe(test, 1, KWARP_WR_READ, KWARP_WC_SUCCESS);
	for (i = 2; i <= ENTRIES; i++)
		expect_cqe(test, i, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	KUNIT_EXPECT_FALSE(test, kwarp_sq_flush_late(&t->sq, TEST_FLUSH_CODE));
	expect_cqe(test, ENTRIES + 1, KWARP_WR_SEND, KWARP_WC_FLUSH_ERR);
	expect_none(test);
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
	KUNIT_CASE(test_flush),
	KUNIT_CASE(test_flush_reads),
	KUNIT_CASE(test_failed_sent),
	KUNIT_CASE(test_flush_corrupt),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_walk),
	KUNIT_CASE(test_flush_late),
	{}
};

static struct kunit_suite sq_suite = {
	.name = "kwarp_sq",
	.init = sq_test_init,
	.test_cases = sq_cases,
};

kunit_test_suite(sq_suite);
