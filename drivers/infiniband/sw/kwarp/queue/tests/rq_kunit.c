// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of receive queues. The code is included, so that tests can act while entries are copied. */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/sched.h>

#include "../rq.h"
#include "fixture.h"

/* A test sets this to a function that is called once, between the copies of two entries. */
static void (*meanwhile)(void);

static void between_entries(void)
{
	void (*now)(void) = meanwhile;

	meanwhile = NULL;
	if (now)
		now();
	cond_resched();
}

#undef cond_resched
#define cond_resched()	between_entries()
#include "../rq.c"

#define ENTRIES	8

struct rq_test {
	struct kwarp_rq rq;
	struct ib_qp qp;
	struct test_cq *cq;
	struct kwarp_rwqe rwqe;
	bool limit_hit;
};

static int rq_test_init(struct kunit *test)
{
	struct rq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->cq = test_cq_new(test, 64);
	t->qp.qp_num = TEST_QPN;
	KUNIT_ASSERT_EQ(test, kwarp_rq_init(&t->rq, ENTRIES, kwarp_rqe_stride(3)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_ring_free, &t->rq.ring), 0);
	test->priv = t;
	return 0;
}

static void start_at(struct rq_test *t, u32 index)
{
	t->rq.next = index;
	t->rq.ring.hdr->prod = index;
	t->rq.ring.hdr->cons = index;
}

/* The entry has room for three elements; each of these has @id octets. */
static void post_recv(struct rq_test *t, u64 id, u32 n)
{
	struct kwarp_ring_hdr *hdr = t->rq.ring.hdr;
	struct kwarp_rqe *e = kwarp_ring_slot(&t->rq.ring, hdr->prod);
	struct kwarp_sge *sge = (struct kwarp_sge *)(e + 1);
	u32 i;

	e->id = id;
	e->num_sge = n;
	for (i = 0; i < min(n, 3U); i++)
		sge[i].length = id;
	hdr->prod++;
}

static enum kwarp_take take_recv(struct rq_test *t)
{
	memset(&t->rwqe, 0xa5, sizeof(t->rwqe));
	/* a wrong value, because kwarp_rq_take() has to set limit_hit in any case */
	t->limit_hit = true;
	return kwarp_rq_take(&t->rq, &t->rwqe, &t->limit_hit);
}

static u32 ring_cons(const struct rq_test *t)
{
	return t->rq.ring.hdr->cons;
}

static void test_take(struct kunit *test)
{
	struct rq_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_NONE);
	KUNIT_EXPECT_FALSE(test, t->limit_hit);
	post_recv(t, 10, 0);
	post_recv(t, 11, 3);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 10);
	KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, 0);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_FALSE(test, t->limit_hit);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 11);
	KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, 3);
	KUNIT_EXPECT_EQ(test, t->rwqe.len, 33);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 2);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_NONE);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 2);
}

static void test_order(struct kunit *test)
{
	struct rq_test *t = test->priv;
	const u32 start = U32_MAX - 20;
	u64 in = 0, out = 0;

	start_at(t, start);
	while (out < 100) {
		u64 level = in % 3 ? ENTRIES : 2;

		while (in < out + level)
			post_recv(t, in++, 1);
		do {
			KUNIT_ASSERT_EQ(test, take_recv(t), KWARP_TAKE_OK);
			KUNIT_ASSERT_EQ(test, t->rwqe.id, out++);
			KUNIT_ASSERT_EQ(test, ring_cons(t), (u32)(start + out));
		} while (in - out > out % 4);
	}
}

static void test_bad(struct kunit *test)
{
	struct rq_test *t = test->priv;

	post_recv(t, 1, 4);
	post_recv(t, 2, U32_MAX);
	post_recv(t, 3, 3);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_BAD);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 1);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_BAD);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 2);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 3);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 3);
}

static void test_corrupt(struct kunit *test)
{
	static const u32 ahead[] = { ENTRIES + 1, 0x80000000, U32_MAX };
	struct rq_test *t = test->priv;
	u32 i;

	start_at(t, U32_MAX);
	t->rq.limit = 1;
	for (i = 0; i < ARRAY_SIZE(ahead); i++) {
		t->rq.ring.hdr->prod = t->rq.next + ahead[i];
		KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_CORRUPT);
		KUNIT_EXPECT_FALSE(test, t->limit_hit);
		kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, TEST_FLUSH_CODE);
		test_cq_none(test, t->cq);
	}
	KUNIT_EXPECT_EQ(test, ring_cons(t), U32_MAX);
	KUNIT_EXPECT_EQ(test, t->rq.next, U32_MAX);
}

static const struct limit_case {
	const char *desc;
	u32 limit;
	u32 posted;
	u32 hit;	/* which take, counted from 1, must report the limit; 0: none */
} limits[] = {
	{ "not armed", 0, 8, 0 },
	{ "last one", 1, 8, 8 },
	{ "fewer than 3", 3, 8, 6 },
	{ "one below", 7, 8, 2 },
	{ "as many as there are", 8, 8, 1 },
	{ "more than there are", 100, 8, 1 },
	{ "more than a ring holds", U32_MAX, 8, 1 },
	{ "below from the start", 5, 3, 1 },
	{ "the only one", 1, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(limit, limits, desc);

static void test_limit(struct kunit *test)
{
	const struct limit_case *c = test->param_value;
	struct rq_test *t = test->priv;
	u32 i;

	start_at(t, U32_MAX - 3);
	t->rq.limit = c->limit;
	for (i = 0; i < c->posted; i++)
		post_recv(t, i, 1);
	for (i = 1; i <= c->posted; i++) {
		KUNIT_ASSERT_EQ(test, take_recv(t), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ_MSG(test, t->limit_hit, i == c->hit, "take %u", i);
	}
	KUNIT_EXPECT_EQ(test, t->rq.limit, 0);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_NONE);
	KUNIT_EXPECT_FALSE(test, t->limit_hit);
	t->rq.limit = 2;
	post_recv(t, 99, 1);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_TRUE(test, t->limit_hit);
}

static void test_flush(struct kunit *test)
{
	struct rq_test *t = test->priv;
	u32 i;

	start_at(t, U32_MAX - 3);
	for (i = 0; i < ENTRIES; i++)
		post_recv(t, 50 + i, i == 5 ? U32_MAX : 1);
	take_recv(t);
	take_recv(t);
	t->cq->cq.ring.hdr->arm = KWARP_CQ_ARM_SOLICITED;
	kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, TEST_FLUSH_CODE);
	for (i = 2; i < ENTRIES; i++)
		test_cq_expect(test, t->cq, 50 + i, KWARP_WC_RECV, KWARP_WC_FLUSH_ERR);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_EQ(test, t->cq->raised, 1);
	KUNIT_EXPECT_EQ(test, ring_cons(t), t->rq.ring.hdr->prod);

	kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, TEST_FLUSH_CODE);
	test_cq_none(test, t->cq);
	post_recv(t, 99, 0);
	kwarp_rq_flush(&t->rq, &t->cq->cq, &t->qp, TEST_FLUSH_CODE);
	test_cq_expect(test, t->cq, 99, KWARP_WC_RECV, KWARP_WC_FLUSH_ERR);
	test_cq_none(test, t->cq);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_NONE);
}

/* The ring that is in *ring at the end of the test is freed. */
static struct kwarp_ring *new_ring(struct kunit *test, u32 entries)
{
	struct kwarp_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	struct rq_test *t = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_ASSERT_EQ(test, kwarp_ring_init(ring, entries, t->rq.ring.stride, false), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_ring_free, ring), 0);
	return ring;
}

static const struct replace_case {
	const char *desc;
	u32 start, posted, taken;
	u32 entries;
	u32 limit;	/* SRQ limit, which the call does not change */
	int ret;
} replaces[] = {
	{ "empty", 0, 0, 0, 16 },
	{ "larger", 3, 5, 0, 64 },
	{ "larger, and full", 5, ENTRIES, 0, 16 },
	{ "over the end of the indices", U32_MAX - 3, 7, 1, 32 },
	{ "smaller", U32_MAX - 3, 6, 3, 4 },
	{ "exactly as large as needed", 11, 6, 2, 4 },
	{ "one entry", 11, 3, 2, 1 },
	{ "one too small", 11, 6, 1, 4, 0, -EINVAL },
	{ "as small as its limit", 11, 2, 0, 4, 4 },
	{ "smaller than its limit", 11, 2, 0, 4, 5, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(replace, replaces, desc);

/* If the posted entries do not fit into the new ring, nothing changes. */
static void test_replace(struct kunit *test)
{
	const struct replace_case *c = test->param_value;
	struct rq_test *t = test->priv;
	struct kwarp_ring *ring, old = t->rq.ring;
	u32 i;

	start_at(t, c->start);
	for (i = 0; i < c->posted; i++)
		post_recv(t, i, i % 3 + 1);
	for (i = 0; i < c->taken; i++)
		take_recv(t);
	t->rq.limit = c->limit;
	ring = new_ring(test, c->entries);
	KUNIT_EXPECT_EQ(test, kwarp_rq_replace(&t->rq, ring, NULL), c->ret);
	if (!c->ret) {
		KUNIT_EXPECT_PTR_EQ(test, ring->hdr, old.hdr);
		KUNIT_EXPECT_EQ(test, kwarp_ring_size(&t->rq.ring), c->entries);
	} else {
		KUNIT_EXPECT_PTR_EQ(test, t->rq.ring.hdr, old.hdr);
	}
	KUNIT_EXPECT_EQ(test, t->rq.limit, c->limit);
	KUNIT_EXPECT_EQ(test, ring_cons(t), c->start + c->taken);
	t->rq.limit = 0;
	if (c->posted - c->taken < kwarp_ring_size(&t->rq.ring))
		post_recv(t, i++, 1);
	for (i = c->taken; i < c->posted; i++) {
		KUNIT_ASSERT_EQ(test, take_recv(t), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->rwqe.id, i);
		KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, i % 3 + 1);
		KUNIT_EXPECT_EQ(test, t->rwqe.sge[i % 3].length, i);
	}
}

static struct rq_test *busy;

static void post_one(void)
{
	post_recv(busy, 77, 1);
}

static void take_two(void)
{
	take_recv(busy);
	take_recv(busy);
}

/* The indices wrap; @what is called after the first entry has been copied. */
static int replace_while(struct kunit *test, u32 posted, void (*what)(void))
{
	u32 i;

	busy = test->priv;
	start_at(busy, U32_MAX - 2);
	for (i = 0; i < posted; i++)
		post_recv(busy, i, 1);
	meanwhile = what;
	return kwarp_rq_replace(&busy->rq, new_ring(test, 64), NULL);
}

/* The program must not post while entries are copied: the queue keeps the old ring. */
static void test_replace_posted(struct kunit *test)
{
	struct rq_test *t = test->priv;
	struct kwarp_ring old = t->rq.ring;
	u32 i;

	KUNIT_EXPECT_EQ(test, replace_while(test, 4, post_one), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, t->rq.ring.hdr, old.hdr);
	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_EQ(test, take_recv(t), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->rwqe.id, i < 4 ? i : 77);
	}
}

/* Receives come from the old ring, and each of them only once. */
static void test_replace_taken(struct kunit *test)
{
	struct rq_test *t = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, replace_while(test, 5, take_two), 0);
	KUNIT_EXPECT_EQ(test, ring_cons(t), (u32)(U32_MAX - 2 + 2));
	for (i = 2; i < 5; i++) {
		KUNIT_ASSERT_EQ(test, take_recv(t), KWARP_TAKE_OK);
		KUNIT_EXPECT_EQ(test, t->rwqe.id, i);
	}
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_NONE);
}

static void test_replace_limit(struct kunit *test)
{
	struct rq_test *t = test->priv;
	struct kwarp_ring *ring;
	u32 limit = 17;

	t->rq.limit = 8;
	ring = new_ring(test, 16);
	KUNIT_EXPECT_EQ(test, kwarp_rq_replace(&t->rq, ring, &limit), -EINVAL);
	KUNIT_EXPECT_EQ(test, t->rq.limit, 8);
	limit = 16;
	KUNIT_EXPECT_EQ(test, kwarp_rq_replace(&t->rq, ring, &limit), 0);
	KUNIT_EXPECT_EQ(test, t->rq.limit, 16);
	limit = 2;
	ring = new_ring(test, 2);
	KUNIT_EXPECT_EQ(test, kwarp_rq_replace(&t->rq, ring, &limit), 0);
	KUNIT_EXPECT_EQ(test, t->rq.limit, 2);
}

static void test_replace_corrupt(struct kunit *test)
{
	struct rq_test *t = test->priv;
	struct kwarp_ring *ring;

	start_at(t, 5);
	t->rq.ring.hdr->prod = 5 + ENTRIES + 1;
	ring = new_ring(test, 16);
	KUNIT_EXPECT_EQ(test, kwarp_rq_replace(&t->rq, ring, NULL), -EINVAL);
	t->rq.ring.hdr->prod = 4;
	KUNIT_EXPECT_EQ(test, kwarp_rq_replace(&t->rq, ring, NULL), -EINVAL);
}

static void test_reset(struct kunit *test)
{
	struct rq_test *t = test->priv;

	start_at(t, 1000);
	post_recv(t, 1, 1);
	post_recv(t, 2, 1);
	take_recv(t);
	t->rq.posted = 5;
	kwarp_ring_set_flags(&t->rq.ring, KWARP_RING_NEED_KICK | KWARP_RING_ERROR);
	kwarp_rq_reset(&t->rq);
	KUNIT_EXPECT_EQ(test, t->rq.posted, 0);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 0);
	KUNIT_EXPECT_EQ(test, t->rq.ring.hdr->flags, 0);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_NONE);
	post_recv(t, 3, 1);
	KUNIT_EXPECT_EQ(test, take_recv(t), KWARP_TAKE_OK);
	KUNIT_EXPECT_EQ(test, t->rwqe.id, 3);
	KUNIT_EXPECT_EQ(test, ring_cons(t), 1);
}

static struct kunit_case rq_cases[] = {
	KUNIT_CASE(test_take),
	KUNIT_CASE(test_order),
	KUNIT_CASE(test_bad),
	KUNIT_CASE(test_corrupt),
	KUNIT_CASE_PARAM(test_limit, limit_gen_params),
	KUNIT_CASE(test_flush),
	KUNIT_CASE_PARAM(test_replace, replace_gen_params),
	KUNIT_CASE(test_replace_posted),
	KUNIT_CASE(test_replace_taken),
	KUNIT_CASE(test_replace_limit),
	KUNIT_CASE(test_replace_corrupt),
	KUNIT_CASE(test_reset),
	{}
};

static struct kunit_suite rq_suite = {
	.name = "kwarp_rq",
	.init = rq_test_init,
	.test_cases = rq_cases,
};

kunit_test_suite(rq_suite);
