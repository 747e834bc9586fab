// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs is a test program: every wrong call must fail with the right errno, and change nothing.
 * This file: calls on a device context: domains, ports, mappings, and objects that iWARP does not
 * have.
 */
#include "kwverbs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------------- domains */

/*
 * An object in use cannot be destroyed: a thread domain with a parent domain, and a parent domain
 * with a queue pair or a region.
 */
static int parent_domain(struct kv_env *e)
{
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_td *td = ibv_alloc_td(e->verbs, &td_attr);
	struct ibv_parent_domain_init_attr attr = { .pd = e->pd, .td = td };
	struct ibv_qp_init_attr qp_attr = kv_good_qp(e);
	struct ibv_pd *parent;
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	if (!td)
		return errno;
	parent = ibv_alloc_parent_domain(e->verbs, &attr);
	if (!parent || ibv_dealloc_td(td) != EBUSY)
		return KV_WRONG;
	qp = ibv_create_qp(parent, &qp_attr);
	mr = ibv_reg_mr(parent, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	if (!qp || !mr || mr->pd != parent || qp->pd != parent)
		return KV_WRONG;
	if (ibv_dealloc_pd(parent) != EBUSY || ibv_destroy_qp(qp))
		return KV_WRONG;
	if (ibv_dealloc_pd(parent) != EBUSY || ibv_dereg_mr(mr))
		return KV_WRONG;
	if (ibv_dealloc_pd(parent) || ibv_dealloc_td(td))
		return KV_WRONG;
	return 0;
}

static int parent_domain_of_none(struct kv_env *e)
{
	struct ibv_parent_domain_init_attr attr = { 0 };

	return ibv_alloc_parent_domain(e->verbs, &attr) ? 0 : errno;
}

static int parent_domain_allocators(struct kv_env *e)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = e->pd, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
	};

	return ibv_alloc_parent_domain(e->verbs, &attr) ? 0 : errno;
}

static int pd_in_use(struct kv_env *e)
{
	int rv = ibv_dealloc_pd(e->pd);

	if (!rv)
		kw_die(KW_MISMATCH, "a protection domain was deallocated under its objects");
	return rv;
}

/* --------------------------------------------- ports, and what iWARP does not have */

static int port_of(struct kv_env *e, int port)
{
	struct ibv_port_attr a;

	return ibv_query_port(e->verbs, port, &a);
}

static int port_zero(struct kv_env *e)
{
	return port_of(e, 0);
}

static int port_beyond(struct kv_env *e)
{
	return port_of(e, e->attr.phys_port_cnt + 1);
}

static int address_handle(struct kv_env *e)
{
	struct ibv_ah_attr a = { .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(e->pd, &a);

	if (!ah)
		return errno;
	ibv_destroy_ah(ah);
	return 0;
}

static int multicast(struct kv_env *e)
{
	union ibv_gid gid = { .raw = { 0xff, 0x0e } };

	return ibv_attach_mcast(e->qp, &gid, 0);
}

/* ------------------------------------------------------------------- mappings */

#define MOST_OFFSET	512
#define MOST_PAGES	64

static bool maps(int fd, unsigned int pgoff, unsigned int pages)
{
	size_t page = sysconf(_SC_PAGESIZE), len = pages * page;
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, pgoff * page);

	if (map == MAP_FAILED)
		return false;
	munmap(map, len);
	return true;
}

/*
 * No offset that can be mapped in the context of this connection may be mapped in another context,
 * which has just been opened.
 */
static int map_of_other(struct kv_env *e)
{
	struct ibv_context *other = ibv_open_device(e->verbs->device);
	unsigned int pgoff, pages, ours = 0;
	int rv = EINVAL;

	if (!other)
		kw_die(KW_SETUP, "cannot open the device again: %s", strerror(errno));
	for (pgoff = 0; pgoff < MOST_OFFSET; pgoff++) {
		for (pages = 1; pages <= MOST_PAGES; pages++) {
			if (!maps(e->verbs->cmd_fd, pgoff, pages))
				continue;
			ours++;
			if (maps(other->cmd_fd, pgoff, pages))
				rv = 0;
		}
	}
	ibv_close_device(other);
	if (!ours)
		kw_say("our own queues are mapped nowhere");
	return ours ? rv : KV_WRONG;
}

const struct kv_case kv_context_cases[] = {
	{ "map-of-other", map_of_other, { EINVAL }, 0 },
	{ "parent-domain", parent_domain, { 0 }, 0 },
	{ "parent-domain-of-none", parent_domain_of_none, { EINVAL, EOPNOTSUPP }, 0 },
	{ "parent-domain-allocators", parent_domain_allocators, { EOPNOTSUPP }, 0 },
	{ "pd-in-use", pd_in_use, { EBUSY }, 0 },
	{ "port-zero", port_zero, { EINVAL }, 0 },
	{ "port-beyond", port_beyond, { EINVAL }, 0 },
	{ "address-handle", address_handle, { EOPNOTSUPP, EINVAL, ENOSYS }, 0 },
	{ "multicast", multicast, { EOPNOTSUPP, EINVAL, ENOSYS }, 0 },
	{ 0 }
};
