// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions and windows: argument checks around mem/.
 */
#include <rdma/ib_umem.h>

#include "../kwarp.h"
#include "../mem/mr.h"
#include "udata.h"
#include "verbs.h"

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)
/* Hints, which may be given and change nothing. */
#define MR_NO_EFFECT	(IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/*
 * Rights of a region, without what changes nothing.  -EOPNOTSUPP for what does not exist
 * here, -EINVAL for what the verbs forbid; bits that have no meaning the core refuses.
 */
static int check_access(int access)
{
	/* The peer may not write what the owner may not. */
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	access &= ~MR_NO_EFFECT;
	return access & ~MR_ACCESS ? -EOPNOTSUPP : access;
}

static struct ib_mr *mr_result(struct kwarp_mr *mr)
{
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ibmr;
}

/* The same for one of user space, whose STag can be used from now on. */
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

/**
 * struct mr_range - what of a process a region covers
 * @start: address in the process
 * @length: octets
 * @iova: address by which requests and peers name it
 */
struct mr_range {
	u64 start;
	u64 length;
	u64 iova;
};

/* Rights of a region of so many octets, or an errno. */
static int check_range(u64 iova, u64 length, int access)
{
	u64 end;

	access = check_access(access);
	if (access < 0)
		return access;
	if (!length || length > KWARP_MAX_MR_SIZE || check_add_overflow(iova, length, &end))
		return -EINVAL;
	return access;
}

/* Pin and register. Context: of the process; may sleep. */
static struct kwarp_mr *register_range(struct ib_pd *ibpd, const struct mr_range *range,
				       int access)
{
	struct kwarp_mr *mr;
	struct ib_umem *umem;

	access = check_range(range->iova, range->length, access);
	if (access < 0)
		return ERR_PTR(access);
	umem = ib_umem_get(ibpd->device, range->start, range->length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = kwarp_mr_create_user(to_kdev(ibpd->device), ibpd, umem, range->iova, access);
	if (IS_ERR(mr))
		ib_umem_release(umem);
	return mr;
}

struct ib_mr *kwarp_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
				int access, KWARP_DMAH_ARG struct ib_udata *udata)
{
	const struct mr_range range = { .start = start, .length = length, .iova = iova };
	int ret = kwarp_udata_none(udata);

	if (ret)
		return ERR_PTR(ret);
	if (kwarp_has_dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return opened_mr(register_range(ibpd, &range, access));
}

/**
 * kwarp_reg_user_mr_dmabuf - ib_device_ops.reg_user_mr_dmabuf
 * @ibpd: protection domain
 * @offset: of the first octet in the buffer
 * @length: octets
 * @iova: address by which requests and peers name it
 * @fd: of the buffer
 * @access: IB_ACCESS_*
 * @attrs: of the verb
 *
 * Since Linux 6.17 there is a DMA handle, too, which is not for a device without PCI.
 *
 * Context: process, may sleep.
 * Return: the region, or an ERR_PTR, which may be one of kwarp_dmabuf_get().
 */
struct ib_mr *kwarp_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova,
				       int fd, int access, KWARP_DMAH_ARG
				       struct kwarp_dmabuf_attrs *attrs)
{
	const struct kwarp_mr_place place = { .offset = offset, .length = length, .iova = iova };
	struct kwarp_dmabuf *d;
	struct kwarp_mr *mr;

	if (kwarp_has_dmah)
		return ERR_PTR(-EOPNOTSUPP);
	access = check_range(iova, length, access);
	if (access < 0)
		return ERR_PTR(access);
	d = kwarp_dmabuf_get(fd, offset, length, access);
	if (IS_ERR(d))
		return ERR_CAST(d);
	mr = kwarp_mr_create_dmabuf(to_kdev(ibpd->device), ibpd, d, &place, access);
	if (IS_ERR(mr))
		kwarp_dmabuf_put(d);
	return opened_mr(mr);
}

/*
 * What a region covers already, to be pinned anew because it was pinned for reading only: what the
 * process has there now. That is not possible for another process, such as a child of its owner,
 * which may have other memory there, and not for a dma-buf.
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

/* A region over the same memory, with other rights, or of another protection domain. */
static struct kwarp_mr *reregister_memory(struct ib_pd *pd, const struct kwarp_mr *old, int access)
{
	access = check_access(access);
	if (access < 0)
		return ERR_PTR(access);
	if (access & IB_ACCESS_LOCAL_WRITE && !kwarp_mr_is_writable(old))
		return repin_memory(pd, old, access);
	return kwarp_mr_create_same(to_kdev(pd->device), pd, old, access);
}

/**
 * kwarp_rereg_user_mr - ib_device_ops.rereg_user_mr
 * @ibmr: region
 * @flags: IB_MR_REREG_*: what of the following changes
 * @start: address in the process
 * @length: octets
 * @iova: address by which it is named
 * @access: IB_ACCESS_*
 * @pd: protection domain, the old one if that does not change
 * @udata: of the program
 *
 * The region gets a successor, with an STag of its own, and is of no use any more when that is
 * there: nobody sees half of a change, and a change that fails has changed nothing. If its memory
 * does not change, both have the same pages. The core puts the successor in its place and
 * deregisters it.
 *
 * Context: process, may sleep.
 * Return: the successor, or an ERR_PTR: -EBUSY if windows are bound to the region.
 */
struct ib_mr *kwarp_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				  u64 iova, int access, struct ib_pd *pd,
				  struct ib_udata *udata)
{
	const struct mr_range range = { .start = start, .length = length, .iova = iova };
	struct kwarp_mr *old = to_kmr(ibmr), *mr;
	int ret = kwarp_udata_none(udata);

	if (ret)
		return ERR_PTR(ret);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	mr = flags & IB_MR_REREG_TRANS ? register_range(pd, &range, access) :
					 reregister_memory(pd, old, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	if (!kwarp_mr_close(old)) {
		/* It has not been opened, so no window is bound to it. */
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

/**
 * kwarp_advise_mr - ib_device_ops.advise_mr
 * @pd: protection domain
 * @advice: which pages are wanted soon
 * @flags: IB_UVERBS_ADVISE_MR_FLAG_FLUSH: before it returns
 * @sge: what of which region
 * @n: elements of @sge
 * @attrs: of the verb
 *
 * All pages of a region are there: an advice that makes sense has been followed already.
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP, -EINVAL, or for an element -ENOENT, -EPERM, -EFAULT.
 */
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

/* Windows are bound in the order of a send queue, those of type 2 to its stream (2B). */
int kwarp_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct kwarp_mr *mr;
	int ret = kwarp_udata_none(udata);

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

/* Bound or not. */
int kwarp_dealloc_mw(struct ib_mw *ibmw)
{
	return kwarp_mr_destroy(to_kdev(ibmw->device), to_kmw(ibmw)->mr);
}
