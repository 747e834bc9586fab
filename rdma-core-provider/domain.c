// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: protection domains, thread domains, parent domains.
 *
 * The kernel knows protection domains only.  A parent domain is one for the kernel; what is made
 * in it, if it has a thread domain, is used by one thread at a time, and takes no locks.
 */
#include <config.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kwarp.h"

/**
 * struct kwarp_td - thread domain
 * @td: libibverbs' part
 * @users: parent domains that have it
 */
struct kwarp_td {
	struct ibv_td td;
	atomic_int users;
};

/**
 * struct kwarp_pd - protection domain or parent domain
 * @pd: libibverbs' part
 * @of: what a parent domain was made of; NULL: a protection domain
 * @td: of a parent domain, or NULL
 * @users: parent domains, queue pairs, regions and others that were made in it
 */
struct kwarp_pd {
	struct ibv_pd pd;
	struct kwarp_pd *of;
	struct kwarp_td *td;
	atomic_int users;
};

static struct kwarp_pd *to_kpd(struct ibv_pd *pd)
{
	return container_of(pd, struct kwarp_pd, pd);
}

static struct kwarp_td *to_ktd(struct ibv_td *td)
{
	return container_of(td, struct kwarp_td, td);
}

/* Is what is made in it used by one thread at a time? */
bool kwarp_pd_single_threaded(struct ibv_pd *pd)
{
	return to_kpd(pd)->td;
}

/**
 * kwarp_pd_use() - something has been made in a domain
 * @pd: domain of either kind
 *
 * The kernel counts what is in a protection domain, but does not know parent domains.
 */
void kwarp_pd_use(struct ibv_pd *pd)
{
	atomic_fetch_add(&to_kpd(pd)->users, 1);
}

/* It is gone. */
void kwarp_pd_unuse(struct ibv_pd *pd)
{
	atomic_fetch_sub(&to_kpd(pd)->users, 1);
}

struct ibv_pd *kwarp_alloc_pd(struct ibv_context *ctx)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct kwarp_pd *pd = calloc(1, sizeof(*pd));
	struct ibv_alloc_pd cmd = {};
	int ret;

	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	ret = ibv_cmd_alloc_pd(ctx, &pd->pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return &pd->pd;
}

/* Of either kind. Return: 0, or EBUSY: it is in use. */
int kwarp_dealloc_pd(struct ibv_pd *ibpd)
{
	struct kwarp_pd *pd = to_kpd(ibpd);
	int ret = 0;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (!pd->of)
		ret = ibv_cmd_dealloc_pd(ibpd);
	if (ret)
		return ret;
	if (pd->of)
		kwarp_pd_unuse(&pd->of->pd);
	if (pd->td)
		atomic_fetch_sub(&pd->td->users, 1);
	free(pd);
	return 0;
}

struct ibv_td *kwarp_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr)
{
	struct kwarp_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td) {
		errno = ENOMEM;
		return NULL;
	}
	td->td.context = ctx;
	return &td->td;
}

int kwarp_dealloc_td(struct ibv_td *ibtd)
{
	struct kwarp_td *td = to_ktd(ibtd);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

/* Rings are the kernel's memory: there is nothing that a program could allocate itself. */
struct ibv_pd *kwarp_alloc_parent_domain(struct ibv_context *ctx,
					 struct ibv_parent_domain_init_attr *attr)
{
	struct kwarp_pd *pd;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (!check_comp_mask(attr->comp_mask, IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	pd->of = to_kpd(attr->pd);
	kwarp_pd_use(attr->pd);
	if (attr->td) {
		pd->td = to_ktd(attr->td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	ibv_initialize_parent_domain(&pd->pd, attr->pd);
	return &pd->pd;
}
