// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: protection domains, thread domains, parent domains.
 *
 * The kernel knows only protection domains: a parent domain has the kernel handle of the protection
 * domain that it was made from.  Queues that are made in a parent domain with a thread domain are
 * used by one thread at a time, so the provider takes no locks for them.
 */
#include <config.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kwarp.h"

/**
 * struct kwarp_td - thread domain
 * @td: libibverbs' part
 * @users: number of parent domains with this thread domain
 */
struct kwarp_td {
	struct ibv_td td;
	atomic_int users;
};

/**
 * struct kwarp_pd - protection domain or parent domain
 * @pd: libibverbs' part
 * @of: domain from which this parent domain was made; NULL: this is a protection domain
 * @td: thread domain of a parent domain, or NULL
 * @users: number of parent domains, queue pairs, regions and other objects made in this domain
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

/* Are the objects of this domain used by one thread at a time (thread domain)? */
bool kwarp_pd_single_threaded(struct ibv_pd *pd)
{
	return to_kpd(pd)->td;
}

/**
 * kwarp_pd_use() - count an object that was made in a domain
 * @pd: protection domain or parent domain
 *
 * A domain with objects cannot be freed (EBUSY).  The kernel counts only the objects of protection
 * domains, because it does not know parent domains; so the provider counts, too.
 */
void kwarp_pd_use(struct ibv_pd *pd)
{
	atomic_fetch_add(&to_kpd(pd)->users, 1);
}

/* Count an object of the domain as destroyed. */
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

/*
 * Free a protection domain or a parent domain.
 *
 * Return: 0; EBUSY: the domain is in use; or another errno value.
 */
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

/*
 * A parent domain with allocators is refused: the kernel allocates the rings, so there is no
 * memory that a program could allocate.
 */
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
