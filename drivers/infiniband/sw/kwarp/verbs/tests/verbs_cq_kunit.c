// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Verbs of the completion queue */
#include <linux/log2.h>

#include "../personality.h"
#include "ring_faults.h"

static struct kwarp_cq *new_cq(struct kunit *test)
{
	struct kwarp_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &vt->kdev->ibdev;
	return cq;
}

static int create_cq(struct kunit *test, struct kwarp_cq *cq, u32 cqe, u32 flags)
{
	const struct ib_cq_init_attr attr = { .cqe = cqe, .flags = flags };

	vt_udata(test, 0, sizeof(struct kwarp_create_cq_resp));
	return kwarp_create_cq(&cq->ibcq, &attr, vt->attrs);
}

static int resize_cq(struct kunit *test, struct kwarp_cq *cq, int cqe)
{
	struct ib_udata *udata = vt_udata(test, 0, sizeof(struct kwarp_create_cq_resp));

	return kwarp_resize_cq(&cq->ibcq, cqe, udata);
}

static const struct cq_case {
	const char *desc;
	u32 cqe;
	u32 flags;
	int ret;
} cqs[] = {
	{ "one entry", 1 },
	{ "no power of two", 5 },
	{ "most", KWARP_MAX_CQE },
	{ "none", 0, 0, -EINVAL },
	{ "one too many", KWARP_MAX_CQE + 1, 0, -EINVAL },
	{ "all ones", U32_MAX, 0, -EINVAL },
	{ "timestamps of no clock", 8, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION, -EOPNOTSUPP },
	{ "overrun", 8, IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN },
	{ "unknown flag", 8, 4, -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(cq, cqs, desc);

static void test_cq(struct kunit *test)
{
	const struct cq_case *c = test->param_value;
	struct kwarp_cq *cq = new_cq(test);
	struct kwarp_create_cq_resp resp;

	KUNIT_EXPECT_EQ(test, create_cq(test, cq, c->cqe, c->flags), c->ret);
	if (c->ret)
		return;
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_GE(test, resp.size, c->cqe);
	KUNIT_EXPECT_LE(test, resp.size, KWARP_MAX_CQE);
	KUNIT_EXPECT_TRUE(test, is_power_of_2(resp.size));
	KUNIT_EXPECT_EQ(test, cq->ibcq.cqe, resp.size);
	KUNIT_EXPECT_GE(test, resp.mmap_len,
			KWARP_RING_ENTRIES_OFFSET + resp.size * sizeof(struct kwarp_cqe));
	KUNIT_EXPECT_NULL(test, cq->qp);
	KUNIT_EXPECT_EQ(test, cq->ignore_overrun, !!c->flags);
	vt_expect_map(test, resp.mmap_key, resp.mmap_len);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, resp.mmap_len), -EINVAL);
}

static void test_cq_fault(struct kunit *test)
{
	const struct fault_case *c = test->param_value;

	set_fault(c);
	KUNIT_EXPECT_EQ(test, create_cq(test, new_cq(test), 8, 0), c->ret);
}

/*
 * The user pays for the queue and for its ring. After a resize the user pays for both rings until
 * the old one is freed, and the account stays as long, whatever happens to the context.
 */
static void test_cq_charge(struct kunit *test)
{
	struct kwarp_cq *cq = new_cq(test);
	u64 want = KWARP_OBJECT_MEMORY + kmalloc_size_roundup(sizeof(*cq)) + 1;
	int accounts;

	KUNIT_ASSERT_EQ(test, create_cq(test, cq, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, vt->charged, want);
	accounts = vt->accounts;
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 100), 0);
	KUNIT_EXPECT_EQ(test, vt->charged, want + 1);
	KUNIT_EXPECT_EQ(test, vt->accounts, accounts + 1);
	vt_grace_period();
	KUNIT_EXPECT_EQ(test, vt->charged, want);
	KUNIT_EXPECT_EQ(test, vt->accounts, accounts);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
	vt->fault = FAULT_CHARGE;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, create_cq(test, new_cq(test), 8, 0), -ENOMEM);
}

/* A mapping outlives its queue and its ring's grace period: the user pays until it is gone. */
static void test_cq_left(struct kunit *test)
{
	struct kwarp_create_cq_resp resp;
	struct kwarp_cq *cq = new_cq(test);

	KUNIT_ASSERT_EQ(test, create_cq(test, cq, 8, 0), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, resp.mmap_len), 0);
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 100), 0);
	vt_grace_period();
	KUNIT_EXPECT_EQ(test, vt->rings, 2);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, resp.mmap_len), 0);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	KUNIT_EXPECT_EQ(test, vt->charged, 1);
	KUNIT_EXPECT_EQ(test, vt->accounts, 2);
	vt_unmap();
	KUNIT_EXPECT_EQ(test, vt->charged, 0);
}

static void test_cq_limit(struct kunit *test)
{
	atomic_set(&vt->kdev->num_cq, KWARP_MAX_CQ);
	KUNIT_EXPECT_EQ(test, create_cq(test, new_cq(test), 8, 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_cq), KWARP_MAX_CQ);
	atomic_set(&vt->kdev->num_cq, 0);
}

/* The CQ has no mapping, has an array for the QP of each entry (cq->qp), and cannot be resized. */
static void test_cq_kernel(struct kunit *test)
{
	vt_make_cq(test, &vt->scq, 5);
	KUNIT_EXPECT_EQ(test, vt->maps, 0);
	KUNIT_EXPECT_NOT_NULL(test, vt->scq->qp);
	KUNIT_EXPECT_EQ(test, vt->scq->ibcq.cqe, 8);
	KUNIT_EXPECT_EQ(test, kwarp_resize_cq(&vt->scq->ibcq, 16, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
}

static const struct kwarp_personality foreign;

static const struct stamp_case {
	const char *desc;
	struct kwarp_create_cq_req req;
	u32 flags;
	const struct kwarp_personality *personality;
	int ret;
} stamps[] = {
	{ "none", { 0 } },
	{ "raw", { KWARP_CQ_STAMP_RAW } },
	{ "real", { KWARP_CQ_STAMP_REAL } },
	{ "raw, as the core knows", { KWARP_CQ_STAMP_RAW },
	  IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION },
	{ "both", { KWARP_CQ_STAMP_RAW | KWARP_CQ_STAMP_REAL }, 0, NULL, -EOPNOTSUPP },
	{ "unknown flag", { 4 }, 0, NULL, -EOPNOTSUPP },
	{ "reserved", { KWARP_CQ_STAMP_RAW, 1 }, 0, NULL, -EOPNOTSUPP },
	{ "foreign", { KWARP_CQ_STAMP_RAW }, 0, &foreign, -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(stamp, stamps, desc);

static void test_cq_stamp(struct kunit *test)
{
	const struct stamp_case *c = test->param_value;
	const struct ib_cq_init_attr attr = { .cqe = 8, .flags = c->flags };
	struct kwarp_cq *cq = new_cq(test);

	vt->kdev->personality = c->personality;
	vt_udata(test, sizeof(c->req), sizeof(struct kwarp_create_cq_resp));
	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &c->req, sizeof(c->req)), 0);
	KUNIT_EXPECT_EQ(test, kwarp_create_cq(&cq->ibcq, &attr, vt->attrs), c->ret);
	vt->kdev->personality = NULL;
	if (c->ret)
		return;
	KUNIT_EXPECT_EQ(test, cq->stamp, c->req.flags);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
}

static void test_cq_request(struct kunit *test)
{
	const struct ib_cq_init_attr attr = { .cqe = 8 };
	struct kwarp_cq *cq = new_cq(test);

	vt_udata(test, 16, sizeof(struct kwarp_create_cq_resp));
	vt_unknown(test, sizeof(struct kwarp_create_cq_req));
	KUNIT_EXPECT_EQ(test, kwarp_create_cq(&cq->ibcq, &attr, vt->attrs), -EOPNOTSUPP);
	/* Room for a part of the answer is no error: an older provider knows only that part. */
	vt_udata(test, 16, 8);
	KUNIT_EXPECT_EQ(test, kwarp_create_cq(&cq->ibcq, &attr, vt->attrs), 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
}

/* The old ring is freed after a grace period, for which the resize does not wait. */
static void test_resize(struct kunit *test)
{
	struct kwarp_create_cq_resp before, after;
	struct kwarp_cq *cq = new_cq(test);

	KUNIT_ASSERT_EQ(test, create_cq(test, cq, 8, 0), 0);
	vt_get_answer(test, &before, sizeof(before));
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 100), 0);
	vt_get_answer(test, &after, sizeof(after));
	KUNIT_EXPECT_EQ(test, after.size, 128);
	KUNIT_EXPECT_EQ(test, cq->ibcq.cqe, 128);
	KUNIT_EXPECT_EQ(test, vt->rings, 2);
	vt_expect_map(test, after.mmap_key, after.mmap_len);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, before.mmap_key, before.mmap_len), -EINVAL);
	vt_grace_period();
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
}

static void test_resize_refused(struct kunit *test)
{
	static const int wrong[] = { 0, -1, INT_MIN, KWARP_MAX_CQE + 1, INT_MAX };
	struct kwarp_create_cq_resp resp;
	struct kwarp_cq *cq = new_cq(test);
	int i;

	KUNIT_ASSERT_EQ(test, create_cq(test, cq, 8, 0), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, resize_cq(test, cq, wrong[i]), -EINVAL, "%d", wrong[i]);
	/* Three completions have not been polled, so two entries are too few. */
	cq->prod = 3;
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 2), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(ring_faults); i++) {
		if (ring_faults[i].fault == FAULT_RING)
			continue;
		set_fault(&ring_faults[i]);
		KUNIT_EXPECT_EQ_MSG(test, resize_cq(test, cq, 16), ring_faults[i].ret, "%s",
				    ring_faults[i].desc);
	}
	vt->fault = FAULT_NONE;
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	KUNIT_EXPECT_EQ(test, cq->ibcq.cqe, 8);
	vt_expect_map(test, resp.mmap_key, resp.mmap_len);
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 4), 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
}

/*
 * Rings of earlier resizes are freed late, and the user pays for them until then. Without such a
 * ring the resize does not wait for anything.
 */
static void test_resize_again(struct kunit *test)
{
	struct kwarp_cq *cq = new_cq(test);

	KUNIT_ASSERT_EQ(test, create_cq(test, cq, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 16), 0);
	vt->fault = FAULT_RING;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 32), 0);
	KUNIT_EXPECT_EQ(test, cq->ibcq.cqe, 32);
	vt_grace_period();
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 64), -ENOMEM);
	KUNIT_EXPECT_EQ(test, cq->ibcq.cqe, 32);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
}

static void test_resize_request(struct kunit *test)
{
	struct kwarp_cq *cq = new_cq(test);
	struct ib_udata *udata;

	KUNIT_ASSERT_EQ(test, create_cq(test, cq, 8, 0), 0);
	udata = vt_udata(test, 8, 0);
	vt_unknown(test, 4);
	KUNIT_EXPECT_EQ(test, kwarp_resize_cq(&cq->ibcq, 16, udata), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
}

static int home_with(struct kunit *test, u32 vector, bool user)
{
	const struct ib_cq_init_attr attr = { .cqe = 8, .comp_vector = vector };
	struct kwarp_cq *cq = new_cq(test);
	int home;

	if (user)
		vt_udata(test, 0, sizeof(struct kwarp_create_cq_resp));
	KUNIT_ASSERT_EQ(test, kwarp_create_cq(&cq->ibcq, &attr, user ? vt->attrs : NULL), 0);
	home = cq->home;
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
	return home;
}

/*
 * cq->home, the processor on which work for the CQ runs: completion vector n chooses the n-th
 * possible processor.  No home (-1): a vector after the last processor, and vector 0 of a program,
 * because programs that make no choice pass 0.
 */
static void test_cq_home(struct kunit *test)
{
	const u32 last = num_possible_cpus() - 1;

	KUNIT_EXPECT_EQ(test, home_with(test, 0, false), cpumask_first(cpu_possible_mask));
	KUNIT_EXPECT_EQ(test, home_with(test, last, false), cpumask_last(cpu_possible_mask));
	KUNIT_EXPECT_EQ(test, home_with(test, last + 1, false), -1);
	KUNIT_EXPECT_EQ(test, home_with(test, 0, true), -1);
	KUNIT_EXPECT_EQ(test, home_with(test, last + 1, true), -1);
}

static void test_cq_payer(struct kunit *test)
{
	struct kwarp_cq *cq = new_cq(test);

	KUNIT_ASSERT_EQ(test, create_cq(test, cq, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, resize_cq(test, cq, 16), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 2);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_cq(&cq->ibcq, NULL), 0);
	vt_make_cq(test, &vt->scq, 5);
	KUNIT_EXPECT_EQ(test, vt->paid, 2);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 1);
}

static struct kunit_case verbs_cq_cases[] = {
	KUNIT_CASE_PARAM(test_cq, cq_gen_params),
	KUNIT_CASE_PARAM(test_cq_fault, ring_fault_gen_params),
	KUNIT_CASE(test_cq_charge),
	KUNIT_CASE(test_cq_left),
	KUNIT_CASE(test_cq_limit),
	KUNIT_CASE(test_cq_kernel),
	KUNIT_CASE_PARAM(test_cq_stamp, stamp_gen_params),
	KUNIT_CASE(test_cq_request),
	KUNIT_CASE(test_resize),
	KUNIT_CASE(test_resize_refused),
	KUNIT_CASE(test_resize_again),
	KUNIT_CASE(test_resize_request),
	KUNIT_CASE(test_cq_home),
	KUNIT_CASE(test_cq_payer),
	{}
};

static struct kunit_suite verbs_cq_suite = {
	.name = "kwarp_verbs_cq",
	.init = vt_init,
	.exit = vt_exit,
	.test_cases = verbs_cq_cases,
};

kunit_test_suite(verbs_cq_suite);
