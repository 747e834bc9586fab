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
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_MW_BIND)
/*
 * What may be asked for and changes nothing.  There are no atomics, so no peer can use the
 * right; libfabric and qperf ask for it without looking whether there are any.  The others
 * are hints.
 */
#define MR_NO_EFFECT	(IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

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

static struct ib_mr *result(struct kwarp_mr *mr)
{
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ibmr;
}

struct ib_mr *kwarp_get_dma_mr(struct ib_pd *ibpd, int access)
{
	return result(kwarp_mr_create_dma(to_kdev(ibpd->device), ibpd, access));
}

struct ib_mr *kwarp_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
				int access, KWARP_DMAH_ARG struct ib_udata *udata)
{
	struct kwarp_mr *mr;
	struct ib_umem *umem;
	u64 end;
	int ret;

	ret = kwarp_udata_none(udata);
	if (ret)
		return ERR_PTR(ret);
	if (kwarp_has_dmah)
		return ERR_PTR(-EOPNOTSUPP);
	access = check_access(access);
	if (access < 0)
		return ERR_PTR(access);
	if (!length || length > KWARP_MAX_MR_SIZE ||
	    check_add_overflow(iova, length, &end))
		return ERR_PTR(-EINVAL);
	umem = ib_umem_get(ibpd->device, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = kwarp_mr_create_user(to_kdev(ibpd->device), ibpd, umem, iova, access);
	if (IS_ERR(mr))
		ib_umem_release(umem);
	return result(mr);
}

struct ib_mr *kwarp_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg)
{
	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	return result(kwarp_mr_create_fast(to_kdev(ibpd->device), ibpd, max_sg));
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
 * Windows are bound in the order of a send queue, to its stream (type 2B).  Type 1, whose
 * windows belong to a protection domain, is not offered.
 */
int kwarp_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct kwarp_mr *mr;
	int ret = kwarp_udata_none(udata);

	if (ret)
		return ret;
	if (ibmw->type != IB_MW_TYPE_2)
		return -EOPNOTSUPP;
	mr = kwarp_mr_create_window(to_kdev(ibmw->device), ibmw->pd);
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
