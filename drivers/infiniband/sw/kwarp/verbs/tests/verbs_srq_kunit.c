// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Verbs of shared receive queues */
#include "fixture.h"
#include "ring_faults.h"

#include <linux/log2.h>

static struct kwarp_srq *new_srq(struct kunit *test)
{
	struct kwarp_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->ibsrq.device = &vt->kdev->ibdev;
	srq->ibsrq.pd = &vt->pd.ibpd;
	return srq;
}

static int create_srq(struct kunit *test, struct kwarp_srq *srq, struct ib_srq_init_attr *init)
{
	struct ib_udata *udata = vt_udata(test, 0, sizeof(struct kwarp_create_srq_resp));

	return kwarp_create_srq(&srq->ibsrq, init, udata);
}

static const struct srq_case {
	const char *desc;
	struct ib_srq_init_attr init;
	int ret;
} srqs[] = {
	{ "one", { .attr = { .max_wr = 1, .max_sge = 1 } } },
	{ "no SGE", { .attr = { .max_wr = 3 } } },
	{ "most", { .attr = { .max_wr = KWARP_MAX_SRQ_WR, .max_sge = 1 } } },
	{ "most SGEs", { .attr = { .max_wr = 1, .max_sge = KWARP_MAX_SGE } } },
	{ "none", { .attr = { .max_wr = 0, .max_sge = 1 } }, -EINVAL },
	{ "too many", { .attr = { .max_wr = KWARP_MAX_SRQ_WR + 1, .max_sge = 1 } }, -EINVAL },
	{ "too many SGEs", { .attr = { .max_wr = 1, .max_sge = KWARP_MAX_SGE + 1 } }, -EINVAL },
	{ "XRC", { .srq_type = IB_SRQT_XRC, .attr = { .max_wr = 1, .max_sge = 1 } },
	  -EOPNOTSUPP },
	{ "tag matching", { .srq_type = IB_SRQT_TM, .attr = { .max_wr = 1, .max_sge = 1 } },
	  -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(srq, srqs, desc);

static void test_srq(struct kunit *test)
{
	const struct srq_case *c = test->param_value;
	struct ib_srq_init_attr init = c->init;
	struct kwarp_srq *srq = new_srq(test);
	struct kwarp_create_srq_resp resp;
	struct ib_srq_attr now;

	KUNIT_EXPECT_EQ(test, create_srq(test, srq, &init), c->ret);
	if (c->ret)
		return;
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_GE(test, resp.size, c->init.attr.max_wr);
	KUNIT_EXPECT_LE(test, resp.size, KWARP_MAX_SRQ_WR);
	KUNIT_EXPECT_TRUE(test, is_power_of_2(resp.size));
	KUNIT_EXPECT_GE(test, resp.stride, sizeof(struct kwarp_rqe) +
			c->init.attr.max_sge * sizeof(struct kwarp_sge));
	vt_expect_map(test, resp.mmap_key, resp.mmap_len);
	KUNIT_EXPECT_EQ(test, kwarp_query_srq(&srq->ibsrq, &now), 0);
	KUNIT_EXPECT_EQ(test, now.max_wr, resp.size);
	KUNIT_EXPECT_EQ(test, now.max_wr, init.attr.max_wr);
	KUNIT_EXPECT_EQ(test, now.max_sge, max(c->init.attr.max_sge, 1U));
	KUNIT_EXPECT_EQ(test, now.srq_limit, 0);
	KUNIT_EXPECT_PTR_EQ(test, srq->mem.pd, &vt->pd.ibpd);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, resp.mmap_len), -EINVAL);
}

static void test_srq_fault(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	const struct fault_case *c = test->param_value;

	set_fault(c);
	KUNIT_EXPECT_EQ(test, create_srq(test, new_srq(test), &init), c->ret);
}

static void test_srq_charge(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct kwarp_srq *srq = new_srq(test);
	u64 want = KWARP_OBJECT_MEMORY + kmalloc_size_roundup(sizeof(*srq)) + 1;

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	KUNIT_EXPECT_EQ(test, vt->charged, want);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
	vt->fault = FAULT_CHARGE;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, create_srq(test, new_srq(test), &init), -ENOMEM);
}

static void test_srq_limit(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };

	atomic_set(&vt->kdev->num_srq, KWARP_MAX_SRQ);
	KUNIT_EXPECT_EQ(test, create_srq(test, new_srq(test), &init), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_srq), KWARP_MAX_SRQ);
	atomic_set(&vt->kdev->num_srq, 0);
}

/* A change of the size needs the driver's own request, which names a place for the answer. */
static void test_srq_modify(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ib_srq_attr attr = { .max_wr = 8, .srq_limit = 4 };
	struct kwarp_srq *srq = new_srq(test);
	struct ib_udata *udata;

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT, NULL), 0);
	KUNIT_EXPECT_EQ(test, srq->rq.limit, 4);
	attr.srq_limit = 5;
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT, NULL), -EINVAL);
	attr.srq_limit = 2;
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT | IB_SRQ_MAX_WR,
					       NULL), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT | 4, NULL),
			-EINVAL);
	udata = vt_udata(test, 8, 0);
	vt_unknown(test, 7);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT, udata),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_query_srq(&srq->ibsrq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.srq_limit, 4);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

/*
 * The request of a resize names the address for the answer: in the tests, this many octets after
 * the beginning of the request.
 */
#define ANSWER_AT	64

static int resize_srq(struct kunit *test, struct kwarp_srq *srq, u32 max_wr, bool answer)
{
	struct ib_udata *udata = vt_udata(test, sizeof(struct kwarp_modify_srq_req), 0);
	struct kwarp_modify_srq_req req = { .answer = (uintptr_t)vt->page + ANSWER_AT };
	struct ib_srq_attr attr = { .max_wr = max_wr, .srq_limit = 1000 };

	if (!answer)
		req.answer = ULONG_MAX & PAGE_MASK;
	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
	return kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_MAX_WR, udata);
}

static void test_srq_resize(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 3 } };
	struct kwarp_create_srq_resp before, after;
	struct kwarp_srq *srq = new_srq(test);
	struct ib_srq_attr now;

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	vt_get_answer(test, &before, sizeof(before));
	srq->rq.limit = 5;
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 100, true), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(&after, vt->page + ANSWER_AT, sizeof(after)), 0);
	KUNIT_EXPECT_EQ(test, after.size, 128);
	KUNIT_EXPECT_EQ(test, after.stride, before.stride);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	vt_expect_map(test, after.mmap_key, after.mmap_len);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, before.mmap_key, before.mmap_len), -EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_query_srq(&srq->ibsrq, &now), 0);
	KUNIT_EXPECT_EQ(test, now.max_wr, 128);
	KUNIT_EXPECT_EQ(test, now.srq_limit, 5);
	KUNIT_EXPECT_EQ(test, now.max_sge, 3);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

static void test_srq_resize_refused(struct kunit *test)
{
	static const u32 wrong[] = { 0, KWARP_MAX_SRQ_WR + 1, U32_MAX };
	struct ib_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 3 } };
	struct ib_srq_attr attr = { .max_wr = 16 };
	struct kwarp_srq *srq = new_srq(test);
	struct kwarp_create_srq_resp resp;
	int i;

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, resize_srq(test, srq, wrong[i], true), -EINVAL, "%u",
				    wrong[i]);
	/* Three receives are posted, so two entries are too few. */
	srq->rq.ring.hdr->prod = 3;
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 2, true), -EINVAL);
	for (i = 0; i < 2; i++) {
		set_fault(&ring_faults[i]);
		KUNIT_EXPECT_EQ_MSG(test, resize_srq(test, srq, 16, true), ring_faults[i].ret, "%s",
				    ring_faults[i].desc);
	}
	vt->fault = FAULT_NONE;
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 16, false), -EFAULT);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_MAX_WR, NULL),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	KUNIT_EXPECT_EQ(test, kwarp_rq_size(&srq->rq), 8);
	vt_expect_map(test, resp.mmap_key, resp.mmap_len);
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 4, true), 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

/* Programs post to their ring, so the verb refuses them; kernel consumers post a chain. */
static void test_srq_post(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	const struct ib_recv_wr wr = { .wr_id = 1 }, *bad = NULL;
	struct kwarp_srq *srq = new_srq(test);

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	KUNIT_EXPECT_EQ(test, kwarp_post_srq_recv(&srq->ibsrq, &wr, &bad), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad, &wr);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
	srq = new_srq(test);
	KUNIT_ASSERT_EQ(test, kwarp_create_srq(&srq->ibsrq, &init, NULL), 0);
	KUNIT_EXPECT_EQ(test, kwarp_post_srq_recv(&srq->ibsrq, &wr, &bad), 0);
	KUNIT_EXPECT_EQ(test, srq->rq.posted, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

static void test_srq_payer(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct kwarp_srq *srq = new_srq(test);

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
	srq = new_srq(test);
	KUNIT_ASSERT_EQ(test, kwarp_create_srq(&srq->ibsrq, &init, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

static struct kunit_case verbs_srq_cases[] = {
	KUNIT_CASE_PARAM(test_srq, srq_gen_params),
	KUNIT_CASE_PARAM(test_srq_fault, ring_fault_gen_params),
	KUNIT_CASE(test_srq_charge),
	KUNIT_CASE(test_srq_limit),
	KUNIT_CASE(test_srq_modify),
	KUNIT_CASE(test_srq_resize),
	KUNIT_CASE(test_srq_resize_refused),
	KUNIT_CASE(test_srq_post),
	KUNIT_CASE(test_srq_payer),
	{}
};

static struct kunit_suite verbs_srq_suite = {
	.name = "kwarp_verbs_srq",
	.init = vt_init,
	.exit = vt_exit,
	.test_cases = verbs_srq_cases,
};

kunit_test_suite(verbs_srq_suite);
