// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions and windows: argument checks before the functions of mem/ are called. */
#include <rdma/ib_umem.h>

#include "../kwarp.h"
#include "../mem/mr.h"
#include "udata.h"
#include "verbs.h"

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | \
			 IB_ZERO_BASED)
/* Flags that are only hints: accepted, without any effect. */
#define MR_NO_EFFECT	(IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

static int check_access(int access)
{
	/* Peers must not get the right to write memory that its owner may not write. */
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	access &= ~MR_NO_EFFECT;
	return access & ~MR_ACCESS ? -EOPNOTSUPP : access;
}

static int refused(struct ib_pd *ibpd, bool user)
{
	return kwarp_udata_fault(KWARP_FAULT_REGISTER, ibpd->device, user);
}

static struct ib_mr *mr_result(struct kwarp_mr *mr)
{
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ibmr;
}

static struct ib_mr *opened_mr(struct kwarp_mr *mr)
{
	if (!IS_ERR(mr))
		kwarp_mr_open(mr);
	return mr_result(mr);
}

struct ib_mr *kwarp_get_dma_mr(struct ib_pd *ibpd, int access)
{
	return mr_result(kwarp_mr_create_dma(to_kdev(ibpd->device), ibpd, access));
}

/* @start: address in the process. @iova: address by which requests and peers name the memory. */
struct mr_range {
	u64 start;
	u64 length;
	u64 iova;
};

static u64 first_address(u64 iova, int access)
{
	return access & IB_ZERO_BASED ? 0 : iova;
}

static int check_range(u64 iova, u64 length, int access)
{
	u64 end;

	access = check_access(access);
	if (access < 0)
		return access;
	if (!length || length > KWARP_MAX_MR_SIZE ||
	    check_add_overflow(first_address(iova, access), length, &end))
		return -EINVAL;
	return access;
}

static struct kwarp_mr *register_range(struct ib_pd *ibpd, const struct mr_range *range,
				       int access)
{
	struct kwarp_mr *mr;
	struct ib_umem *umem;

	access = check_range(range->iova, range->length, access);
	if (access < 0)
		return ERR_PTR(access);
	umem = ib_umem_get_va(ibpd->device, range->start, range->length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = kwarp_mr_create_user(to_kdev(ibpd->device), ibpd, umem,
				  first_address(range->iova, access), access);
	if (IS_ERR(mr))
		ib_umem_release(umem);
	return mr;
}

struct ib_mr *kwarp_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
				int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	const struct mr_range range = { .start = start, .length = length, .iova = iova };
	int ret = kwarp_udata_none(udata) ?: refused(ibpd, true);

	if (ret)
		return ERR_PTR(ret);
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return opened_mr(register_range(ibpd, &range, access));
}

/* A DMA handle makes sense only for PCI devices, so a call with one is refused. */
struct ib_mr *kwarp_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova,
				       int fd, int access, struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs)
{
	struct kwarp_mr_place place = { .offset = offset, .length = length };
	struct kwarp_dmabuf *d;
	struct kwarp_mr *mr;
	int ret = refused(ibpd, true);

	if (ret)
		return ERR_PTR(ret);
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	access = check_range(iova, length, access);
	if (access < 0)
		return ERR_PTR(access);
	place.iova = first_address(iova, access);
	d = kwarp_dmabuf_get(fd, offset, length, access);
	if (IS_ERR(d))
		return ERR_CAST(d);
	mr = kwarp_mr_create_dmabuf(to_kdev(ibpd->device), ibpd, d, &place, access);
	if (IS_ERR(mr))
		kwarp_dmabuf_put(d);
	return opened_mr(mr);
}

/*
 * Pin the memory of @old a second time, because it was pinned for reading only and @access needs
 * writing.  This pins what the process has at these addresses now.  It is refused for a dma-buf,
 * and for a process other than the one that registered @old, such as a child: that process may
 * have other memory at these addresses.
 */
static struct kwarp_mr *repin_memory(struct ib_pd *pd, const struct kwarp_mr *old, int access)
{
	const struct ib_umem *umem = kwarp_mr_umem(old);
	struct mr_range range;

	if (!umem || umem->owning_mm != current->mm)
		return ERR_PTR(-EINVAL);
	range.start = umem->address;
	range.length = umem->length;
	range.iova = old->va;
	return register_range(pd, &range, access);
}

/* The addresses of the region stay, so it is zero based if @old is. */
static struct kwarp_mr *reregister_memory(struct ib_pd *pd, const struct kwarp_mr *old, int access)
{
	access = check_access(access);
	if (access < 0)
		return ERR_PTR(access);
	access = (access & ~IB_ZERO_BASED) | (old->access & IB_ZERO_BASED);
	if (access & IB_ACCESS_LOCAL_WRITE && !kwarp_mr_is_writable(old))
		return repin_memory(pd, old, access);
	return kwarp_mr_create_same(to_kdev(pd->device), pd, old, access);
}

/*
 * A new region with a new STag is made, and then the old STag is made invalid. So nobody sees half
 * of a change, and after a failure nothing has changed. If the memory does not change, both regions
 * use the same pages. The core replaces the old region by the new one and deregisters the old one.
 */
struct ib_mr *kwarp_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				  u64 iova, int access, struct ib_pd *pd,
				  struct ib_udata *udata)
{
	const struct mr_range range = { .start = start, .length = length, .iova = iova };
	struct kwarp_mr *old = to_kmr(ibmr), *mr;
	int ret = kwarp_udata_none(udata) ?: refused(pd, true);

	if (ret)
		return ERR_PTR(ret);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	mr = flags & IB_MR_REREG_TRANS ? register_range(pd, &range, access) :
					 reregister_memory(pd, old, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	if (!kwarp_mr_close(old)) {
		/* @mr was never valid, so no window is bound to it and this cannot fail. */
		WARN_ON_ONCE(kwarp_mr_destroy(to_kdev(pd->device), mr));
		return ERR_PTR(-EBUSY);
	}
	return opened_mr(mr);
}

static int check_advice(struct ib_pd *pd, const struct ib_sge *sge, int rights)
{
	const struct kwarp_mem_stream stream = { .pd = pd };
	struct kwarp_mr *mr = kwarp_mr_lookup(to_kdev(pd->device), sge->lkey);
	enum kwarp_mem_err err =
		kwarp_mem_check(mr, sge->lkey, &stream, sge->addr, sge->length, rights);

	if (mr)
		kwarp_mr_put(mr);
	switch (err) {
	case KWARP_MEM_OK:
		return 0;
	case KWARP_MEM_ACCESS:
		return -EPERM;
	case KWARP_MEM_WRAP:
	case KWARP_MEM_BOUNDS:
		return -EFAULT;
	default:
		return -ENOENT;
	}
}

/* There is nothing to prefetch, because regions are pinned: only the arguments are checked. */
int kwarp_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		    struct ib_sge *sge, u32 n, struct uverbs_attr_bundle *attrs)
{
	int rights = 0, ret = 0;
	u32 i;

	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		rights = IB_ACCESS_LOCAL_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return -EINVAL;
	for (i = 0; i < n && !ret; i++)
		ret = check_advice(pd, &sge[i], rights);
	return ret;
}

struct ib_mr *kwarp_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg)
{
	int ret = refused(ibpd, false);

	if (ret)
		return ERR_PTR(ret);
	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	return mr_result(kwarp_mr_create_fast(to_kdev(ibpd->device), ibpd, max_sg,
					      type == IB_MR_TYPE_SG_GAPS));
}

int kwarp_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	return kwarp_mr_map_sg(to_kmr(ibmr), sg, nents, offset);
}

int kwarp_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	return kwarp_mr_destroy(to_kdev(ibmr->device), to_kmr(ibmr));
}

/*
 * A work request on a send queue binds the window: a window of type 2 to the stream of that queue
 * (type 2B of the verbs), one of type 1 for all streams of the protection domain.
 */
int kwarp_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct kwarp_mr *mr;
	int ret = kwarp_udata_none(udata) ?: refused(ibmw->pd, udata);

	if (ret)
		return ret;
	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return -EOPNOTSUPP;
	mr = kwarp_mr_create_window(to_kdev(ibmw->device), ibmw->pd,
				    ibmw->type == IB_MW_TYPE_1);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	to_kmw(ibmw)->mr = mr;
	ibmw->rkey = mr->stag;
	return 0;
}

/* The window may be bound: kwarp_mr_destroy() unbinds it. */
int kwarp_dealloc_mw(struct ib_mw *ibmw)
{
	return kwarp_mr_destroy(to_kdev(ibmw->device), to_kmw(ibmw)->mr);
}
