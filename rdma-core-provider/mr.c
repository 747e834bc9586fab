// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: memory regions and windows.  Each function is a command to the kernel.  Binding a window
 * is a work request, in post.c.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "kwarp.h"
#include "say.h"

/*
 * End a registration that has succeeded (@ret is 0) or failed (@ret is an errno value): count the
 * region in its domain, or free it.  Return: the region, or NULL with errno set.
 */
static struct ibv_mr *mr_done(struct kwarp_mr *mr, struct ibv_pd *pd, int ret)
{
	if (!ret) {
		kwarp_pd_use(pd);
		return &mr->vmr.ibv_mr;
	}
	free(mr);
	errno = ret;
	return NULL;
}

static struct kwarp_mr *new_mr(uint64_t iova, int access)
{
	struct kwarp_mr *mr = calloc(1, sizeof(*mr));

	if (mr) {
		mr->iova = iova;
		mr->access = access;
	} else {
		errno = ENOMEM;
	}
	return mr;
}

struct ibv_mr *kwarp_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct kwarp_mr *mr = new_mr(iova, access);
	struct ibv_reg_mr cmd = {};
	int ret;

	if (!mr)
		return NULL;
	ret = ibv_cmd_reg_mr(pd, addr, length, iova, access, &mr->vmr, &cmd, sizeof(cmd), &resp,
			     sizeof(resp));
	if (ret)
		kwarp_refused_mr(pd->context, "ibv_reg_mr", length, access, ret);
	return mr_done(mr, pd, ret);
}

struct ibv_mr *kwarp_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				   uint64_t iova, int fd, int access)
{
	struct kwarp_mr *mr = new_mr(iova, access);
	int ret;

	if (!mr)
		return NULL;
#ifdef KWARP_HAVE_REG_DMABUF_DRIVER
	ret = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, &mr->vmr,
				    NULL);
#else
	ret = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, &mr->vmr);
#endif
	if (ret)
		kwarp_refused_mr(pd->context, "ibv_reg_dmabuf_mr", length, access, ret);
	return mr_done(mr, pd, ret);
}

/* A re-registration has succeeded.  Without a new place, addresses begin at 0 or not as before. */
static void mr_changed(struct kwarp_mr *mr, int flags, void *addr, int access)
{
	const int zero = IBV_ACCESS_ZERO_BASED;
	int base = mr->access & zero;

	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->iova = (uintptr_t)addr;
		if (flags & IBV_REREG_MR_CHANGE_ACCESS)
			base = access & zero;
	}
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		mr->access = access;
	mr->access = (mr->access & ~zero) | base;
}

int kwarp_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct ibv_rereg_mr cmd = {};
	int ret;

	ret = ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr,
			       access, pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret)
		kwarp_refused_mr(vmr->ibv_mr.context, "ibv_rereg_mr",
				 flags & IBV_REREG_MR_CHANGE_TRANSLATION ? length : 1,
				 flags & IBV_REREG_MR_CHANGE_ACCESS ? access : 0, ret);
	else
		mr_changed(to_kmr(&vmr->ibv_mr), flags, addr, access);
	/* vmr->ibv_mr.pd still is the old domain: libibverbs sets it to @pd after this function. */
	if (!ret && flags & IBV_REREG_MR_CHANGE_PD) {
		kwarp_pd_use(pd);
		kwarp_pd_unuse(vmr->ibv_mr.pd);
	}
	return ret;
}

int kwarp_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		    uint32_t flags, struct ibv_sge *sge, uint32_t n)
{
	return ibv_cmd_advise_mr(pd, advice, flags, sge, n);
}

int kwarp_dereg_mr(struct verbs_mr *vmr)
{
	struct ibv_pd *pd = vmr->ibv_mr.pd;
	int ret = ibv_cmd_dereg_mr(vmr);

	if (!ret) {
		kwarp_pd_unuse(pd);
		free(to_kmr(&vmr->ibv_mr));
	}
	return ret;
}

struct ibv_mw *kwarp_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp = {};
	struct ibv_mw *mw = calloc(1, sizeof(*mw));
	struct ibv_alloc_mw cmd = {};
	int ret;

	if (!mw) {
		errno = ENOMEM;
		return NULL;
	}
	ret = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		kwarp_refuse(pd->context, 0, "ibv_alloc_mw: %s",
			     ret == ENOMEM ? "no memory, or too many regions and windows" :
					     "unknown type of window");
		free(mw);
		errno = ret;
		return NULL;
	}
	kwarp_pd_use(pd);
	return mw;
}

int kwarp_dealloc_mw(struct ibv_mw *mw)
{
	struct ibv_pd *pd = mw->pd;
	int ret = ibv_cmd_dealloc_mw(mw);

	if (!ret) {
		kwarp_pd_unuse(pd);
		free(mw);
	}
	return ret;
}
