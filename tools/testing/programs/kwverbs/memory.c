// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs is a test program: every wrong call must fail with the right errno, and change nothing.
 * This file: wrong registrations of memory, changes of a registration, advice, and windows.
 */
#include "kwverbs.h"

#include <errno.h>
#include <sys/mman.h>

static int reg(struct kv_env *e, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(e->pd, addr, len, access);

	if (!mr)
		return errno;
	ibv_dereg_mr(mr);
	return 0;
}

static int mr_access(struct kv_env *e)
{
	return reg(e, e->buf, 4096, e->arg);
}

static int mr_unmapped(struct kv_env *e)
{
	void *hole = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(hole, 8192);
	return reg(e, hole, 8192, IBV_ACCESS_LOCAL_WRITE);
}

static int mr_read_only(struct kv_env *e)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rv = reg(e, page, 4096, IBV_ACCESS_LOCAL_WRITE);

	munmap(page, 4096);
	return rv;
}

static int mr_wraps(struct kv_env *e)
{
	return reg(e, e->buf, SIZE_MAX - 4096, IBV_ACCESS_LOCAL_WRITE);
}

/* The list of pages would not fit into memory, so the driver refuses before it pins any page. */
static int mr_huge(struct kv_env *e)
{
	size_t len = 1ULL << 40;
	void *room = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int rv;

	if (room == MAP_FAILED)
		return KV_SKIP;
	rv = reg(e, room, len, IBV_ACCESS_LOCAL_WRITE);
	munmap(room, len);
	return rv;
}

static int mw_of(struct kv_env *e, int type)
{
	struct ibv_mw *mw;

	errno = 0;
	mw = ibv_alloc_mw(e->pd, type);
	if (!mw)
		return errno;
	ibv_dealloc_mw(mw);
	return 0;
}

static int mw_type_1(struct kv_env *e)
{
	return e->attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW ? mw_of(e, 1) : KV_SKIP;
}

/* Is the region valid at its new place, and no longer at the old one? */
static bool rereg_moved(struct kv_env *e, struct ibv_mr *mr, void *addr, size_t len)
{
	struct ibv_sge now = { .addr = (uintptr_t)addr, .length = len, .lkey = mr->lkey };
	struct ibv_sge before = { .addr = (uintptr_t)e->buf, .length = 1, .lkey = mr->lkey };

	return !ibv_advise_mr(e->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &now, 1) &&
	       ibv_advise_mr(e->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &before, 1) == EFAULT;
}

/* Change a region of 4096 octets. If that is refused, the region must be unchanged. */
static int rereg(struct kv_env *e, int flags, struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(e->pd, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf, .length = 4096 };
	int rv;

	if (!mr)
		return KV_WRONG;
	errno = 0;
	rv = ibv_rereg_mr(mr, flags, pd, addr, len, access) ? errno : 0;
	sge.lkey = mr->lkey;
	if (rv && rv != EOPNOTSUPP &&
	    ibv_advise_mr(e->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &sge, 1)) {
		kw_say("a region has changed, though that was refused");
		rv = KV_WRONG;
	}
	if (!rv && flags & IBV_REREG_MR_CHANGE_TRANSLATION && !rereg_moved(e, mr, addr, len))
		rv = KV_WRONG;
	return ibv_dereg_mr(mr) ? KV_WRONG : rv;
}

static int rereg_access(struct kv_env *e)
{
	return rereg(e, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, e->arg);
}

static int rereg_place(struct kv_env *e)
{
	return rereg(e, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, e->buf + 8192, 8192, 0);
}

static int rereg_pd(struct kv_env *e)
{
	struct ibv_pd *pd = ibv_alloc_pd(e->verbs);
	int rv = pd ? rereg(e, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0) : KV_WRONG;

	/* The region has been destroyed before its domain. */
	return pd && ibv_dealloc_pd(pd) ? KV_WRONG : rv;
}

static int rereg_unmapped(struct kv_env *e)
{
	return rereg(e, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, (void *)4096, 4096, 0);
}

static int advise(struct kv_env *e, enum ibv_advise_mr_advice advice, uint32_t lkey, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf, .length = len, .lkey = lkey };

	return ibv_advise_mr(e->pd, advice, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static int advise_good(struct kv_env *e)
{
	return advise(e, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, e->mr->lkey, KV_BUF_LEN);
}

static int advise_too_long(struct kv_env *e)
{
	return advise(e, IBV_ADVISE_MR_ADVICE_PREFETCH, e->mr->lkey, KV_BUF_LEN + 1);
}

static int advise_unknown_key(struct kv_env *e)
{
	return advise(e, IBV_ADVISE_MR_ADVICE_PREFETCH, e->mr->lkey ^ 1, 1);
}

static int advise_unknown(struct kv_env *e)
{
	return advise(e, 99, e->mr->lkey, 1);
}

static int mw_unknown_type(struct kv_env *e)
{
	return mw_of(e, 3);
}

const struct kv_case kv_memory_cases[] = {
	{ "mr-remote-without-local", mr_access, { EINVAL }, IBV_ACCESS_REMOTE_WRITE },
	{ "mr-unmapped", mr_unmapped, { EFAULT }, 0 },
	{ "mr-read-only", mr_read_only, { EFAULT }, 0 },
	{ "mr-wraps", mr_wraps, { EINVAL, EFAULT, EOVERFLOW }, 0 },
	{ "mr-huge", mr_huge, { EINVAL, ENOMEM }, 0 },
	{ "mr-unknown-access", mr_access, { EINVAL, EOPNOTSUPP },
	  IBV_ACCESS_LOCAL_WRITE | 1 << 18 },
	{ "mr-on-demand", mr_access, { EINVAL, EOPNOTSUPP },
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND },
	/* libfabric and qperf request this right without checking atomic_cap. */
	{ "mr-remote-atomic", mr_access, { 0 }, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
	  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC },
	{ "mr-atomic-without-local", mr_access, { EINVAL }, IBV_ACCESS_REMOTE_ATOMIC },
	{ "mr-hugetlb", mr_access, { 0 }, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB },
	{ "mr-relaxed-ordering", mr_access, { 0 },
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING },
	{ "mr-zero-based", mr_access, { 0 }, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED },
	{ "mw-type-1", mw_type_1, { 0 }, 0 },
	{ "rereg-access", rereg_access, { 0 }, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE },
	{ "rereg-place", rereg_place, { 0 }, 0 },
	{ "rereg-pd", rereg_pd, { 0 }, 0 },
	{ "rereg-remote-without-local", rereg_access, { EINVAL, EOPNOTSUPP },
	  IBV_ACCESS_REMOTE_WRITE },
	{ "rereg-unmapped", rereg_unmapped, { EFAULT, EOPNOTSUPP }, 0 },
	{ "advise", advise_good, { 0 }, 0 },
	{ "advise-too-long", advise_too_long, { EFAULT, EOPNOTSUPP }, 0 },
	{ "advise-unknown-key", advise_unknown_key, { ENOENT, EOPNOTSUPP }, 0 },
	{ "advise-unknown", advise_unknown, { EOPNOTSUPP }, 0 },
	{ "mw-unknown-type", mw_unknown_type, { EINVAL, EOPNOTSUPP }, 0 },
	{ 0 }
};
