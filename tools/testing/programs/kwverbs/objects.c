// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs: wrong attributes of objects.
 */
#include "kwverbs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---------------------------------------------------------- completion queues */

int kv_cq_of(struct kv_env *e, int cqe, int vector)
{
	struct ibv_cq *cq = ibv_create_cq(e->verbs, cqe, NULL, NULL, vector);
	bool granted;

	if (!cq)
		return errno;
	granted = cq->cqe >= cqe;
	return ibv_destroy_cq(cq) || !granted ? KV_WRONG : 0;
}

static int cq_of_none(struct kv_env *e)
{
	return kv_cq_of(e, 0, 0);
}

static int cq_negative(struct kv_env *e)
{
	return kv_cq_of(e, -1, 0);
}

static int cq_too_long(struct kv_env *e)
{
	return e->attr.max_cqe == INT_MAX ? KV_SKIP : kv_cq_of(e, e->attr.max_cqe + 1, 0);
}

static int cq_bad_vector(struct kv_env *e)
{
	return kv_cq_of(e, 16, e->verbs->num_comp_vectors);
}

static int cq_resize_none(struct kv_env *e)
{
	return ibv_resize_cq(e->cq, 0);
}

static int cq_resize_too_long(struct kv_env *e)
{
	return e->attr.max_cqe == INT_MAX ? KV_SKIP : ibv_resize_cq(e->cq, e->attr.max_cqe + 1);
}

/* ---------------------------------------------------------------- queue pairs */

static struct ibv_qp_init_attr good_qp(struct kv_env *e)
{
	struct ibv_qp_init_attr a = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return a;
}

/*
 * With a completion queue of its own: libsiw unmaps it before it calls the kernel, so it cannot
 * be used after a refused call.
 */
static int cq_in_use(struct kv_env *e)
{
	struct ibv_cq *cq = ibv_create_cq(e->verbs, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr a = good_qp(e);
	struct ibv_qp *qp;
	int rv;

	if (!cq)
		return KV_WRONG;
	a.send_cq = cq;
	qp = ibv_create_qp(e->pd, &a);
	if (!qp)
		return KV_WRONG;
	rv = ibv_destroy_cq(cq);
	if (!rv)
		kw_die(KW_MISMATCH, "a completion queue was destroyed under its queue pair");
	return ibv_destroy_qp(qp) || ibv_destroy_cq(cq) ? KV_WRONG : rv;
}

static int create_qp(struct kv_env *e, struct ibv_qp_init_attr *a)
{
	struct ibv_qp *qp = ibv_create_qp(e->pd, a);

	if (!qp)
		return errno;
	ibv_destroy_qp(qp);
	return 0;
}

static int qp_of_type(struct kv_env *e, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr a = good_qp(e);

	a.qp_type = type;
	return create_qp(e, &a);
}

static int qp_ud(struct kv_env *e)
{
	return qp_of_type(e, IBV_QPT_UD);
}

static int qp_uc(struct kv_env *e)
{
	return qp_of_type(e, IBV_QPT_UC);
}

static int qp_unknown_type(struct kv_env *e)
{
	return qp_of_type(e, 77);
}

static int qp_send_wrs(struct kv_env *e)
{
	struct ibv_qp_init_attr a = good_qp(e);

	a.cap.max_send_wr = e->attr.max_qp_wr + 1;
	return create_qp(e, &a);
}

static int qp_recv_wrs(struct kv_env *e)
{
	struct ibv_qp_init_attr a = good_qp(e);

	a.cap.max_recv_wr = e->attr.max_qp_wr + 1;
	return create_qp(e, &a);
}

static int qp_wrs_overflow(struct kv_env *e)
{
	struct ibv_qp_init_attr a = good_qp(e);

	a.cap.max_send_wr = UINT32_MAX;
	a.cap.max_recv_wr = UINT32_MAX;
	return create_qp(e, &a);
}

static int qp_send_sges(struct kv_env *e)
{
	struct ibv_qp_init_attr a = good_qp(e);

	a.cap.max_send_sge = e->attr.max_sge + 1;
	return create_qp(e, &a);
}

static int qp_recv_sges(struct kv_env *e)
{
	struct ibv_qp_init_attr a = good_qp(e);

	a.cap.max_recv_sge = e->attr.max_sge + 1;
	return create_qp(e, &a);
}

static int qp_inline(struct kv_env *e)
{
	struct ibv_qp_init_attr a = good_qp(e);

	a.cap.max_inline_data = 1 << 20;
	return create_qp(e, &a);
}

static int modify_idle_qp(struct kv_env *e, struct ibv_qp_attr *a, int mask)
{
	struct ibv_qp_init_attr init = good_qp(e);
	struct ibv_qp *qp = ibv_create_qp(e->pd, &init);
	int rv;

	if (!qp)
		return KV_WRONG;
	rv = ibv_modify_qp(qp, a, mask);
	ibv_destroy_qp(qp);
	return rv;
}

static int qp_to_rts(struct kv_env *e)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTS };

	return modify_idle_qp(e, &a, IBV_QP_STATE);
}

static int qp_to_nowhere(struct kv_env *e)
{
	struct ibv_qp_attr a = { .qp_state = 99 };

	return modify_idle_qp(e, &a, IBV_QP_STATE);
}

static int qp_modify_unknown(struct kv_env *e)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };

	return modify_idle_qp(e, &a, IBV_QP_STATE | 1 << 30);
}

static int qp_reads_out(struct kv_env *e)
{
	struct ibv_qp_attr a = { .max_rd_atomic = e->attr.max_qp_init_rd_atom + 1 };

	if (e->attr.max_qp_init_rd_atom >= UINT8_MAX)
		return KV_SKIP;
	return modify_idle_qp(e, &a, IBV_QP_MAX_QP_RD_ATOMIC);
}

static int qp_reads_in(struct kv_env *e)
{
	struct ibv_qp_attr a = { .max_dest_rd_atomic = e->attr.max_qp_rd_atom + 1 };

	if (e->attr.max_qp_rd_atom >= UINT8_MAX)
		return KV_SKIP;
	return modify_idle_qp(e, &a, IBV_QP_MAX_DEST_RD_ATOMIC);
}

/* ------------------------------------------------------- memory, domains, rest */

static int reg(struct kv_env *e, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(e->pd, addr, len, access);

	if (!mr)
		return errno;
	ibv_dereg_mr(mr);
	return 0;
}

static int mr_remote_without_local(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_REMOTE_WRITE);
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

/* The list of pages would not fit into memory: refused before any page is pinned. */
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

static int mr_unknown_access(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE | 1 << 18);
}

/* libfabric and qperf request this right without checking atomic_cap. */
static int mr_remote_atomic(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
}

static int mr_atomic_without_local(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_REMOTE_ATOMIC);
}

static int mr_hugetlb(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB);
}

static int mr_relaxed_ordering(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
}

static int mr_zero_based(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
}

static int mr_on_demand(struct kv_env *e)
{
	return reg(e, e->buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
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

/* The region is valid at its new place, and not at the old one. */
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
	return rereg(e, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
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

static int rereg_remote_without_local(struct kv_env *e)
{
	return rereg(e, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE);
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

/* ------------------------------------------------------------------- domains */

/* What is in use cannot go, from the thread domain to the queue pair made in its parent domain. */
static int parent_domain(struct kv_env *e)
{
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_td *td = ibv_alloc_td(e->verbs, &td_attr);
	struct ibv_parent_domain_init_attr attr = { .pd = e->pd, .td = td };
	struct ibv_qp_init_attr qp_attr = good_qp(e);
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

/*
 * The order of octets within a message is not defined: if the last octet is there, others may be
 * missing.
 */
static int data_in_order(struct kv_env *e)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_RDMA_READ,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (ibv_query_qp_data_in_order(e->qp, ops[i], 0) ||
		    ibv_query_qp_data_in_order(e->qp, ops[i],
					       IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS))
			return KV_WRONG;
	return 0;
}

static int mw_unknown_type(struct kv_env *e)
{
	return mw_of(e, 3);
}

static int pd_in_use(struct kv_env *e)
{
	int rv = ibv_dealloc_pd(e->pd);

	if (!rv)
		kw_die(KW_MISMATCH, "a protection domain was deallocated under its objects");
	return rv;
}

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

int kv_srq_of(struct kv_env *e, uint32_t wrs, uint32_t sges)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = wrs, .max_sge = sges } };
	struct ibv_srq *srq;

	if (!e->attr.max_srq)
		return KV_SKIP;
	srq = ibv_create_srq(e->pd, &a);
	if (!srq)
		return errno;
	return ibv_destroy_srq(srq) || a.attr.max_wr < wrs || a.attr.max_sge < sges ? KV_WRONG : 0;
}

static int srq_wrs(struct kv_env *e)
{
	return kv_srq_of(e, e->attr.max_srq_wr + 1, 1);
}

static int srq_sges(struct kv_env *e)
{
	return kv_srq_of(e, 16, e->attr.max_srq_sge + 1);
}

/* Post receives that will not be used, up to @most. Return: their number. */
static unsigned int srq_fill(struct kv_env *e, struct ibv_srq *srq, unsigned int most)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf, .length = 64, .lkey = e->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	unsigned int n = 0;

	while (n < most && !ibv_post_srq_recv(srq, &wr, &bad))
		n++;
	return n;
}

/* Resize a queue of 8 with 6 receives posted. Then it has to take the rest of the new size. */
static int srq_resize_to(struct kv_env *e, uint32_t wrs, int mask, uint32_t limit)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq_attr now, attr = { .max_wr = wrs, .srq_limit = limit };
	struct ibv_srq *srq;
	int rv;

	if (!e->attr.max_srq || !(e->attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE))
		return KV_SKIP;
	srq = ibv_create_srq(e->pd, &a);
	if (!srq || srq_fill(e, srq, 6) != 6)
		return KV_WRONG;
	rv = ibv_modify_srq(srq, &attr, mask);
	if (ibv_query_srq(srq, &now) || now.max_wr < (rv ? 8 : wrs) ||
	    srq_fill(e, srq, UINT32_MAX) != now.max_wr - 6) {
		kw_say("a queue of %u receives does not take them", now.max_wr);
		rv = KV_WRONG;
	}
	return ibv_destroy_srq(srq) ? KV_WRONG : rv;
}

static int srq_grow(struct kv_env *e)
{
	return srq_resize_to(e, 1000, IBV_SRQ_MAX_WR, 0);
}

static int srq_grow_most(struct kv_env *e)
{
	return srq_resize_to(e, e->attr.max_srq_wr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 6);
}

static int srq_shrink_below_posted(struct kv_env *e)
{
	return srq_resize_to(e, 4, IBV_SRQ_MAX_WR, 0);
}

static int srq_grow_limit(struct kv_env *e)
{
	return srq_resize_to(e, 16, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 17);
}

static int srq_grow_too_far(struct kv_env *e)
{
	return srq_resize_to(e, e->attr.max_srq_wr + 1, IBV_SRQ_MAX_WR, 0);
}

static int srq_shrink_none(struct kv_env *e)
{
	return srq_resize_to(e, 0, IBV_SRQ_MAX_WR, 0);
}

/* ------------------------------------------------------------------- mappings */

#define MOST_OFFSET	256
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

/* What is mapped at a place of our context is nothing to another one that was just opened. */
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

const struct kv_case kv_object_cases[] = {
	{ "map-of-other", map_of_other, { EINVAL } },
	{ "cq-of-none", cq_of_none, { EINVAL } },
	{ "cq-negative", cq_negative, { EINVAL } },
	{ "cq-too-long", cq_too_long, { EINVAL } },
	{ "cq-bad-vector", cq_bad_vector, { EINVAL } },
	{ "cq-in-use", cq_in_use, { EBUSY } },
	{ "cq-resize-none", cq_resize_none, { EINVAL, EOPNOTSUPP, ENOSYS } },
	{ "cq-resize-too-long", cq_resize_too_long, { EINVAL, EOPNOTSUPP, ENOSYS } },
	{ "qp-ud", qp_ud, { EOPNOTSUPP, EINVAL } },
	{ "qp-uc", qp_uc, { EOPNOTSUPP, EINVAL } },
	{ "qp-unknown-type", qp_unknown_type, { EOPNOTSUPP, EINVAL } },
	{ "qp-send-wrs", qp_send_wrs, { EINVAL, ENOMEM } },
	{ "qp-recv-wrs", qp_recv_wrs, { EINVAL, ENOMEM } },
	{ "qp-wrs-overflow", qp_wrs_overflow, { EINVAL, ENOMEM } },
	{ "qp-send-sges", qp_send_sges, { EINVAL } },
	{ "qp-recv-sges", qp_recv_sges, { EINVAL } },
	{ "qp-inline", qp_inline, { EINVAL } },
	{ "qp-to-rts", qp_to_rts, { EINVAL, ENOTCONN } },
	{ "qp-to-nowhere", qp_to_nowhere, { EINVAL } },
	{ "qp-modify-unknown", qp_modify_unknown, { EINVAL, EOPNOTSUPP } },
	{ "qp-reads-out", qp_reads_out, { EINVAL } },
	{ "qp-reads-in", qp_reads_in, { EINVAL } },
	{ "mr-remote-without-local", mr_remote_without_local, { EINVAL } },
	{ "mr-unmapped", mr_unmapped, { EFAULT } },
	{ "mr-read-only", mr_read_only, { EFAULT } },
	{ "mr-wraps", mr_wraps, { EINVAL, EFAULT, EOVERFLOW } },
	{ "mr-huge", mr_huge, { EINVAL, ENOMEM } },
	{ "mr-unknown-access", mr_unknown_access, { EINVAL, EOPNOTSUPP } },
	{ "mr-on-demand", mr_on_demand, { EINVAL, EOPNOTSUPP } },
	{ "mr-remote-atomic", mr_remote_atomic, { 0 } },
	{ "mr-atomic-without-local", mr_atomic_without_local, { EINVAL } },
	{ "mr-hugetlb", mr_hugetlb, { 0 } },
	{ "mr-relaxed-ordering", mr_relaxed_ordering, { 0 } },
	{ "mr-zero-based", mr_zero_based, { EOPNOTSUPP } },
	{ "mw-type-1", mw_type_1, { 0 } },
	{ "rereg-access", rereg_access, { 0 } },
	{ "rereg-place", rereg_place, { 0 } },
	{ "rereg-pd", rereg_pd, { 0 } },
	{ "rereg-remote-without-local", rereg_remote_without_local, { EINVAL, EOPNOTSUPP } },
	{ "rereg-unmapped", rereg_unmapped, { EFAULT, EOPNOTSUPP } },
	{ "advise", advise_good, { 0 } },
	{ "advise-too-long", advise_too_long, { EFAULT, EOPNOTSUPP } },
	{ "advise-unknown-key", advise_unknown_key, { ENOENT, EOPNOTSUPP } },
	{ "advise-unknown", advise_unknown, { EOPNOTSUPP } },
	{ "parent-domain", parent_domain, { 0 } },
	{ "parent-domain-of-none", parent_domain_of_none, { EINVAL, EOPNOTSUPP } },
	{ "parent-domain-allocators", parent_domain_allocators, { EOPNOTSUPP } },
	{ "qp-data-in-order", data_in_order, { 0 } },
	{ "mw-unknown-type", mw_unknown_type, { EINVAL, EOPNOTSUPP } },
	{ "pd-in-use", pd_in_use, { EBUSY } },
	{ "port-zero", port_zero, { EINVAL } },
	{ "port-beyond", port_beyond, { EINVAL } },
	{ "address-handle", address_handle, { EOPNOTSUPP, EINVAL, ENOSYS } },
	{ "multicast", multicast, { EOPNOTSUPP, EINVAL, ENOSYS } },
	{ "srq-wrs", srq_wrs, { EINVAL, ENOMEM } },
	{ "srq-sges", srq_sges, { EINVAL } },
	{ "srq-grow", srq_grow, { 0 } },
	{ "srq-grow-most", srq_grow_most, { 0 } },
	{ "srq-grow-too-far", srq_grow_too_far, { EINVAL } },
	{ "srq-grow-limit", srq_grow_limit, { EINVAL } },
	{ "srq-shrink-below-posted", srq_shrink_below_posted, { EINVAL } },
	{ "srq-shrink-none", srq_shrink_none, { EINVAL } },
	{ 0 }
};
