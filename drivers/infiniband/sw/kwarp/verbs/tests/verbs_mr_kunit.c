// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Verbs of regions and windows */
#include "fixture.h"

/* -------------------------------------------------------------------- regions */

#define LOCAL	IB_ACCESS_LOCAL_WRITE
#define WRITE_R	IB_ACCESS_REMOTE_WRITE
#define READ_R	IB_ACCESS_REMOTE_READ
#define ATOMIC	IB_ACCESS_REMOTE_ATOMIC
#define ZERO	IB_ZERO_BASED
#define START	0x10000ULL

/* @given: access flags that the region gets; not used if the region is refused. */
static const struct mr_case {
	const char *desc;
	int access;
	int ret;
	int given;
	u64 length;
	u64 iova;
} mrs[] = {
	{ "no right", 0, 0, 0 },
	{ "local write", LOCAL, 0, LOCAL },
	{ "remote read", READ_R, 0, READ_R },
	{ "remote write", LOCAL | WRITE_R, 0, LOCAL | WRITE_R },
	{ "windows", LOCAL | IB_ACCESS_MW_BIND, 0, LOCAL | IB_ACCESS_MW_BIND },
	{ "remote write only", WRITE_R, -EINVAL },
	{ "remote write and read", WRITE_R | READ_R, -EINVAL },
	/* Accepted: programs ask for remote atomics even if the device does not have them. */
	{ "atomic", LOCAL | ATOMIC, 0, LOCAL | ATOMIC },
	{ "atomic only", ATOMIC, -EINVAL },
	{ "huge pages", LOCAL | IB_ACCESS_HUGETLB, 0, LOCAL },
	{ "relaxed ordering", LOCAL | IB_ACCESS_RELAXED_ORDERING, 0, LOCAL },
	{ "optional", LOCAL | IB_ACCESS_OPTIONAL, 0, LOCAL },
	/* The address that the program gives does not matter. */
	{ "zero based", LOCAL | ZERO, 0, LOCAL | ZERO },
	{ "zero based at the end", LOCAL | ZERO, 0, LOCAL | ZERO, 4096, U64_MAX },
	{ "zero based, for peers only", WRITE_R | ZERO, -EINVAL },
	{ "zero based, too long", LOCAL | ZERO, -EINVAL, 0, KWARP_MAX_MR_SIZE + 1 },
	{ "on demand", LOCAL | IB_ACCESS_ON_DEMAND, -EOPNOTSUPP },
	{ "flush", LOCAL | IB_ACCESS_FLUSH_GLOBAL, -EOPNOTSUPP },
	{ "persistent flush", LOCAL | IB_ACCESS_FLUSH_PERSISTENT, -EOPNOTSUPP },
	{ "most", LOCAL, 0, LOCAL, KWARP_MAX_MR_SIZE },
	{ "one octet too many", LOCAL, -EINVAL, 0, KWARP_MAX_MR_SIZE + 1 },
	{ "all ones", LOCAL, -EINVAL, 0, U64_MAX },
	/* 5040-7.2-5, 5041-7.1-14: the addresses of a region may not wrap. */
	{ "up to the last address", LOCAL, 0, LOCAL, 1, U64_MAX - 1 },
	{ "over the last address", LOCAL, -EINVAL, 0, 2, U64_MAX - 1 },
};

KUNIT_ARRAY_PARAM_DESC(mr, mrs, desc);

static u64 first_address(const struct mr_case *c)
{
	return c->given & ZERO ? 0 : c->iova ?: START;
}

static struct ib_mr *reg_user_mr(u64 length, u64 iova, int access, struct ib_udata *udata)
{
	return kwarp_reg_user_mr(&vt->pd.ibpd, START, length, iova, access, NULL, udata);
}

static void test_mr(struct kunit *test)
{
	const struct mr_case *c = test->param_value;
	struct ib_mr *mr = reg_user_mr(c->length ?: 4096, c->iova ?: START, c->access,
				       vt_udata(test, 8, 8));

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), c->ret);
	if (IS_ERR(mr))
		return;
	KUNIT_EXPECT_PTR_EQ(test, mr, &vt->mr.ibmr);
	KUNIT_EXPECT_EQ(test, vt->mr.access, c->given);
	KUNIT_EXPECT_EQ(test, vt->umem_access, c->given);
	KUNIT_EXPECT_EQ(test, vt->mr.va, first_address(c));
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	vt->umems = 0;
}

static void test_mr_empty(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reg_user_mr(0, START, LOCAL, NULL)), -EINVAL);
}

static void test_mr_fault(struct kunit *test)
{
	struct ib_udata *udata = vt_udata(test, 64, 0);

	vt->fault = FAULT_UMEM;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reg_user_mr(4096, START, LOCAL, udata)), -EFAULT);
	vt->fault = FAULT_MR;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reg_user_mr(4096, START, LOCAL, udata)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, vt->umems, 0);
	vt_unknown(test, 63);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reg_user_mr(4096, START, LOCAL, udata)), -EOPNOTSUPP);
}

/* --------------------------------------------------------------------- dma-buf */

#define BUF_OFFSET	0x3000ULL
#define BUF_FD		77

static struct ib_mr *reg_dmabuf(u64 length, u64 iova, int access)
{
	return kwarp_reg_user_mr_dmabuf(&vt->pd.ibpd, BUF_OFFSET, length, iova, BUF_FD, access,
					NULL, NULL);
}

/* The same rules as for memory of the process are checked before the dma-buf is looked up. */
static void test_dmabuf(struct kunit *test)
{
	const struct mr_case *c = test->param_value;
	struct ib_mr *mr = reg_dmabuf(c->length ?: 4096, c->iova ?: START, c->access);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), c->ret);
	KUNIT_EXPECT_EQ(test, vt->dmabufs, c->ret ? 0 : 1);
	if (IS_ERR(mr))
		return;
	KUNIT_EXPECT_PTR_EQ(test, mr, &vt->mr.ibmr);
	KUNIT_EXPECT_EQ(test, vt->mr.access, c->given);
	KUNIT_EXPECT_EQ(test, vt->dmabuf_fd, BUF_FD);
	KUNIT_EXPECT_EQ(test, vt->place.offset, BUF_OFFSET);
	KUNIT_EXPECT_EQ(test, vt->place.length, c->length ?: 4096);
	KUNIT_EXPECT_EQ(test, vt->place.iova, first_address(c));
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	vt->dmabufs = 0;
}

static void test_dmabuf_fault(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reg_dmabuf(0, START, LOCAL)), -EINVAL);
	vt->fault = FAULT_UMEM;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reg_dmabuf(4096, START, LOCAL)), -EBADF);
	vt->fault = FAULT_MR;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reg_dmabuf(4096, START, LOCAL)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, vt->dmabufs, 0);
}

/* ------------------------------------------------------------- re-registration */

#define NEW_START	0x50000ULL
#define NEW_IOVA	0x90000ULL

/* @flags: what changes; the other members are what the new region has to have. */
static const struct rereg_case {
	const char *desc;
	int flags;
	u64 start, length, iova;
	int access;
} reregs[] = {
	{ "nothing", 0, START, 4096, START, LOCAL | READ_R },
	{ "where", IB_MR_REREG_TRANS, NEW_START, 8192, NEW_IOVA, LOCAL | READ_R },
	{ "rights", IB_MR_REREG_ACCESS, START, 4096, START, LOCAL | WRITE_R },
	{ "protection domain", IB_MR_REREG_PD, START, 4096, START, LOCAL | READ_R },
	{ "all", IB_MR_REREG_TRANS | IB_MR_REREG_ACCESS | IB_MR_REREG_PD, NEW_START, 8192, NEW_IOVA,
	  LOCAL | WRITE_R },
};

KUNIT_ARRAY_PARAM_DESC(rereg, reregs, desc);

/* The counts of the fakes (vt->mrs, vt->umems) do not include the region. */
static struct kwarp_mr *old_mr(struct kunit *test)
{
	struct kwarp_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);
	struct ib_umem *umem = kunit_kzalloc(test, sizeof(*umem), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	KUNIT_ASSERT_NOT_NULL(test, umem);
	umem->owning_mm = current->mm;
	umem->address = START;
	umem->length = 4096;
	umem->writable = true;
	vt->old_umem = umem;
	mr->va = START;
	mr->length = 4096;
	mr->access = LOCAL | READ_R;
	mr->ibmr.device = &vt->kdev->ibdev;
	return mr;
}

static struct ib_mr *rereg_mr(struct kwarp_mr *mr, int flags, int access)
{
	return kwarp_rereg_user_mr(&mr->ibmr, flags, NEW_START, 8192, NEW_IOVA, access,
				   &vt->pd.ibpd, NULL);
}

static void test_rereg(struct kunit *test)
{
	const struct rereg_case *c = test->param_value;
	struct kwarp_mr *old = old_mr(test);
	struct ib_mr *mr = rereg_mr(old, c->flags, LOCAL | WRITE_R);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_PTR_EQ(test, mr, &vt->mr.ibmr);
	/* The old region is invalid now; the core destroys it. */
	KUNIT_EXPECT_PTR_EQ(test, vt->closed, old);
	KUNIT_EXPECT_TRUE(test, vt->mr.valid);
	KUNIT_EXPECT_EQ(test, vt->same, !(c->flags & IB_MR_REREG_TRANS));
	KUNIT_EXPECT_EQ(test, vt->umems, !vt->same);
	if (vt->umems) {
		KUNIT_EXPECT_EQ(test, vt->umem_start, c->start);
		KUNIT_EXPECT_EQ(test, vt->umem_length, c->length);
	}
	KUNIT_EXPECT_EQ(test, vt->mr.va, c->iova);
	KUNIT_EXPECT_EQ(test, vt->mr.access, c->access);
	KUNIT_EXPECT_EQ(test, mr->iova, c->iova);
	KUNIT_EXPECT_EQ(test, mr->length, c->length);
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	vt->umems = 0;
}

/* New rights do not change the addresses of a region. */
static void test_rereg_zero(struct kunit *test)
{
	static const struct {
		int flags, access;
		u64 va;
	} steps[] = {
		{ 0, 0, 0 },
		{ IB_MR_REREG_ACCESS, LOCAL, 0 },
		{ IB_MR_REREG_TRANS, 0, 0 },
		{ IB_MR_REREG_TRANS | IB_MR_REREG_ACCESS, LOCAL | ZERO, 0 },
		{ IB_MR_REREG_TRANS | IB_MR_REREG_ACCESS, LOCAL, NEW_IOVA },
	};
	struct kwarp_mr *old = old_mr(test);
	struct ib_mr *mr;
	u32 i;

	old->va = 0;
	old->access |= ZERO;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		mr = rereg_mr(old, steps[i].flags, steps[i].access);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
		KUNIT_EXPECT_EQ_MSG(test, vt->mr.va, steps[i].va, "step %u", i);
		KUNIT_EXPECT_EQ_MSG(test, !!(vt->mr.access & ZERO), !steps[i].va, "step %u", i);
		mr->device = &vt->kdev->ibdev;
		KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	}
	vt->umems = 0;
	old->va = START;
	old->access &= ~ZERO;
	mr = rereg_mr(old, IB_MR_REREG_ACCESS, LOCAL | ZERO);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, vt->mr.va, START);
	KUNIT_EXPECT_EQ(test, vt->mr.access, LOCAL);
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
}

static void test_rereg_fails(struct kunit *test)
{
	struct kwarp_mr *old = old_mr(test);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg_mr(old, IB_MR_REREG_ACCESS, WRITE_R)), -EINVAL);
	vt->fault = FAULT_UMEM;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg_mr(old, IB_MR_REREG_TRANS, 0)), -EFAULT);
	vt->fault = FAULT_MR;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg_mr(old, 0, 0)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, vt->umems, 0);
	/* Windows are bound to the old region: the new region is destroyed again. */
	vt->busy = true;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg_mr(old, 0, 0)), -EBUSY);
	KUNIT_EXPECT_EQ(test, vt->mrs, 0);
	KUNIT_EXPECT_FALSE(test, vt->mr.valid);
	vt->umems = 0;
	KUNIT_EXPECT_NULL(test, vt->closed);
}

/* Memory that was pinned for reading only is pinned a second time, or the call is refused. */
static void test_rereg_write(struct kunit *test)
{
	struct kwarp_mr *old = old_mr(test);
	struct ib_mr *mr;

	vt->old_umem->writable = false;
	mr = rereg_mr(old, IB_MR_REREG_ACCESS, READ_R);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, vt->same, 1);
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	/*
	 * The caller is another process, such as a child, which may have other memory at these
	 * addresses: refused.
	 */
	vt->old_umem->owning_mm = (void *)test;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg_mr(old, IB_MR_REREG_ACCESS, LOCAL)), -EINVAL);
	vt->old_umem->owning_mm = current->mm;
	mr = rereg_mr(old, IB_MR_REREG_ACCESS, LOCAL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, vt->same, 1);
	KUNIT_EXPECT_EQ(test, vt->umem_start, START);
	KUNIT_EXPECT_EQ(test, vt->umem_length, 4096);
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	vt->umems = 0;
	/* The region is over a dma-buf that was opened for reading only: refused. */
	vt->old_umem = NULL;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg_mr(old, IB_MR_REREG_ACCESS, LOCAL)), -EINVAL);
}

#define PREFETCH	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH
#define PREFETCH_WRITE	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE

static const struct advice_case {
	const char *desc;
	u32 advice, flags, lkey;
	enum kwarp_mem_err err;
	int ret, rights;
} advices[] = {
	{ "read", PREFETCH, 0, VT_STAG, KWARP_MEM_OK, 0, 0 },
	{ "write", PREFETCH_WRITE, 0, VT_STAG, KWARP_MEM_OK, 0, LOCAL },
	{ "no fault", IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 0, VT_STAG, KWARP_MEM_OK, 0 },
	{ "at once", PREFETCH, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, VT_STAG, KWARP_MEM_OK, 0, 0 },
	{ "unknown", 17, 0, VT_STAG, KWARP_MEM_OK, -EOPNOTSUPP },
	{ "unknown flag", PREFETCH, 2, VT_STAG, KWARP_MEM_OK, -EINVAL },
	{ "no such region", PREFETCH, 0, VT_STAG ^ 1, KWARP_MEM_OK, -ENOENT },
	{ "not valid", PREFETCH, 0, VT_STAG, KWARP_MEM_STAG, -ENOENT },
	{ "another domain's", PREFETCH, 0, VT_STAG, KWARP_MEM_STREAM, -ENOENT },
	{ "no right", PREFETCH_WRITE, 0, VT_STAG, KWARP_MEM_ACCESS, -EPERM, LOCAL },
	{ "too long", PREFETCH, 0, VT_STAG, KWARP_MEM_BOUNDS, -EFAULT },
	{ "wraps", PREFETCH, 0, VT_STAG, KWARP_MEM_WRAP, -EFAULT },
};

KUNIT_ARRAY_PARAM_DESC(advice, advices, desc);

/* Regions are pinned, so there is nothing to prefetch: advise_mr only checks its arguments. */
static void test_advise(struct kunit *test)
{
	const struct advice_case *c = test->param_value;
	struct ib_sge sge[] = {
		{ .addr = START, .length = 1, .lkey = VT_STAG },
		{ .addr = START, .length = 1, .lkey = c->lkey },
	};

	vt->mem_err = c->err;
	vt->mem_rights = -1;
	KUNIT_EXPECT_EQ(test, kwarp_advise_mr(&vt->pd.ibpd, c->advice, c->flags, sge, 2, NULL),
			c->ret);
	if (!c->ret)
		KUNIT_EXPECT_EQ(test, vt->mem_rights, c->rights);
}

static void test_mr_kernel(struct kunit *test)
{
	struct ib_mr *mr;

	mr = kwarp_alloc_mr(&vt->pd.ibpd, IB_MR_TYPE_INTEGRITY, 4);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EOPNOTSUPP);
	mr = kwarp_alloc_mr(&vt->pd.ibpd, IB_MR_TYPE_SG_GAPS, 4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_TRUE(test, vt->mr_gaps);
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	mr = kwarp_alloc_mr(&vt->pd.ibpd, IB_MR_TYPE_MEM_REG, 4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_FALSE(test, vt->mr_gaps);
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_map_mr_sg(mr, NULL, 3, NULL), 3);
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	mr = kwarp_get_dma_mr(&vt->pd.ibpd, LOCAL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	mr->device = &vt->kdev->ibdev;
	KUNIT_EXPECT_EQ(test, kwarp_dereg_mr(mr, NULL), 0);
	vt->fault = FAULT_MR;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(kwarp_get_dma_mr(&vt->pd.ibpd, LOCAL)), -ENOMEM);
}

static void test_mw(struct kunit *test)
{
	struct kwarp_mw mw = {
		.ibmw = { .device = &vt->kdev->ibdev, .pd = &vt->pd.ibpd },
	};
	struct ib_udata *udata = vt_udata(test, 8, 0);

	KUNIT_EXPECT_EQ(test, kwarp_alloc_mw(&mw.ibmw, udata), -EOPNOTSUPP);
	mw.ibmw.type = IB_MW_TYPE_2;
	vt->fault = FAULT_MR;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, kwarp_alloc_mw(&mw.ibmw, udata), -ENOMEM);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_mw(&mw.ibmw, udata), 0);
	KUNIT_EXPECT_EQ(test, mw.ibmw.rkey, VT_STAG);
	KUNIT_EXPECT_FALSE(test, mw.mr->pd_wide);
	KUNIT_EXPECT_EQ(test, kwarp_dealloc_mw(&mw.ibmw), 0);
	mw.ibmw.type = IB_MW_TYPE_1;
	KUNIT_EXPECT_EQ(test, kwarp_alloc_mw(&mw.ibmw, udata), 0);
	KUNIT_EXPECT_TRUE(test, mw.mr->pd_wide);
	KUNIT_EXPECT_EQ(test, kwarp_dealloc_mw(&mw.ibmw), 0);
	vt_unknown(test, 0);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_mw(&mw.ibmw, udata), -EOPNOTSUPP);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(test_mr, mr_gen_params),
	KUNIT_CASE(test_mr_empty),
	KUNIT_CASE(test_mr_fault),
	KUNIT_CASE_PARAM(test_dmabuf, mr_gen_params),
	KUNIT_CASE(test_dmabuf_fault),
	KUNIT_CASE_PARAM(test_rereg, rereg_gen_params),
	KUNIT_CASE(test_rereg_zero),
	KUNIT_CASE(test_rereg_fails),
	KUNIT_CASE(test_rereg_write),
	KUNIT_CASE_PARAM(test_advise, advice_gen_params),
	KUNIT_CASE(test_mr_kernel),
	KUNIT_CASE(test_mw),
	{ }
};

static struct kunit_suite mr_suite = {
	.name = "kwarp_verbs_mr",
	.init = vt_init,
	.exit = vt_exit,
	.test_cases = mr_cases,
};

kunit_test_suite(mr_suite);
