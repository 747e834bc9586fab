// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz: the calls.
 */
#include "kwfuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/kwarp-abi.h>
#include <rdma/rdma_user_ioctl.h>

#define PART		512	/* octets of a part of a command, at most */

const char *const kwf_kinds[KWF_KINDS] = {
	"write", "ioctl: command", "ioctl: method", "garbage", "mmap", "doorbell", "ring",
};

/* ---------------------------------------------------------------- choices */

static uint64_t below(struct kwf_maker *m, uint64_t n)
{
	return kw_below(&m->rng, n);
}

static bool one_in(struct kwf_maker *m, unsigned int n)
{
	return kw_one_in(&m->rng, n);
}

static uint64_t evil(struct kwf_maker *m)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX, 4096, 65535, 32768,
	};

	return one_in(m, 3) ? kw_rand(&m->rng) : values[below(m, ARRAY_SIZE(values))];
}

/* Of a size: mostly small, now and then as large as allowed, or larger. */
static uint32_t size(struct kwf_maker *m)
{
	if (one_in(m, 40))
		return one_in(m, 2) ? evil(m) : 1ULL << below(m, 19);
	return below(m, 33);
}

/* An object of that kind that was made, more often a young one; now and then any number. */
static uint32_t handle(struct kwf_maker *m, enum kwf_object o)
{
	unsigned int made = m->p->made[o], back;

	if (!made || one_in(m, 30))
		return one_in(m, 2) ? evil(m) : below(m, 64);
	back = below(m, one_in(m, 3) ? KWF_HANDLES : 4);
	return m->p->handle[o][(made - 1 - (back < made ? back : 0)) % KWF_HANDLES];
}

static void remember(struct kwf_maker *m, enum kwf_object o, uint32_t h)
{
	m->p->handle[o][m->p->made[o]++ % KWF_HANDLES] = h;
}

static void remember_fd(struct kwf_maker *m, int fd)
{
	int *slot = &m->p->fds[m->p->n_fds++ % KWF_FDS];

	/* The event files are not read, because reading blocks. */
	if (*slot > 2)
		close(*slot);
	*slot = fd;
}

static void remember_key(struct kwf_maker *m, uint64_t key, uint32_t len)
{
	unsigned int i = m->p->n_keys++ % KWF_MAPS;

	m->p->key[i] = key;
	m->p->key_len[i] = len;
}

/* Remember the number for doorbells. Doorbells of other processes for it have to be refused. */
static void remember_number(struct kwf_maker *m, uint32_t qpn)
{
	struct kwf_count *c = m->p->count;
	unsigned int i = __atomic_fetch_add(&c->qps, 1, __ATOMIC_RELAXED) % KWF_NUMBERS;

	remember(m, KWF_QPN, qpn);
	__atomic_store_n(&c->qp[i], (uint64_t)qpn << 32 | getpid(), __ATOMIC_RELAXED);
}

static void done(struct kwf_maker *m, enum kwf_kind kind, bool good)
{
	struct kwf_count *c = m->p->count;

	__atomic_add_fetch(&c->calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&c->kind[kind], 1, __ATOMIC_RELAXED);
	if (good) {
		__atomic_add_fetch(&c->successes, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&c->good[kind], 1, __ATOMIC_RELAXED);
	}
}

/* ----------------------------------------------------- commands, nearly right */

/**
 * struct shape - a command as it has to be
 * @cmd: number
 * @weight: how often
 * @in, @out: octets of the core's parts
 * @drv_out: octets of the driver's answer
 * @fill: writes a good request
 * @learn: takes what a success gives
 */
struct shape {
	uint32_t cmd;
	unsigned int weight;
	size_t in, out, drv_out;
	void (*fill)(struct kwf_maker *m, void *in);
	void (*learn)(struct kwf_maker *m, const void *out, const void *drv);
};

static void fill_none(struct kwf_maker *m, void *in)
{
}

static void learn_pd(struct kwf_maker *m, const void *out, const void *drv)
{
	remember(m, KWF_PD, ((const struct ib_uverbs_alloc_pd_resp *)out)->pd_handle);
}

static void fill_mr(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_reg_mr *c = in;
	uint64_t off = below(m, KWF_MEMORY / 2);

	c->start = (uintptr_t)m->p->memory + off;
	c->hca_va = one_in(m, 4) ? (evil(m) & ~4095ULL) | (c->start & 4095) : c->start;
	c->length = below(m, KWF_MEMORY / 2) + 1;
	c->pd_handle = handle(m, KWF_PD);
	c->access_flags = one_in(m, 8) ? evil(m) : 1 | (below(m, 64) & ~32);
}

static void learn_mr(struct kwf_maker *m, const void *out, const void *drv)
{
	remember(m, KWF_MR, ((const struct ib_uverbs_reg_mr_resp *)out)->mr_handle);
}

static void fill_mw(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_alloc_mw *c = in;

	c->pd_handle = handle(m, KWF_PD);
	c->mw_type = one_in(m, 8) ? evil(m) : 2;
}

static void learn_mw(struct kwf_maker *m, const void *out, const void *drv)
{
	remember(m, KWF_MW, ((const struct ib_uverbs_alloc_mw_resp *)out)->mw_handle);
}

static void learn_channel(struct kwf_maker *m, const void *out, const void *drv)
{
	int fd = ((const struct ib_uverbs_create_comp_channel_resp *)out)->fd;

	remember(m, KWF_CHANNEL, fd);
	remember_fd(m, fd);
}

static void fill_cq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_create_cq *c = in;

	c->user_handle = evil(m);
	c->cqe = size(m);
	c->comp_vector = one_in(m, 20) ? evil(m) : 0;
	c->comp_channel = one_in(m, 2) ? -1 : (int)handle(m, KWF_CHANNEL);
}

static void fill_cq_ex(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_ex_create_cq *c = in;

	c->user_handle = evil(m);
	c->cqe = size(m);
	c->comp_channel = one_in(m, 2) ? -1 : (int)handle(m, KWF_CHANNEL);
	c->flags = one_in(m, 10) ? evil(m) : 0;
}

static void learn_cq(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_cq_resp *r = drv;

	remember(m, KWF_CQ, ((const struct ib_uverbs_create_cq_resp *)out)->cq_handle);
	remember_key(m, r->mmap_key, r->mmap_len);
}

static void fill_resize(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_resize_cq *c = in;

	c->cq_handle = handle(m, KWF_CQ);
	c->cqe = size(m);
}

static void learn_resize(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_cq_resp *r = drv;

	remember_key(m, r->mmap_key, r->mmap_len);
}

static void fill_arm(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_req_notify_cq *c = in;

	c->cq_handle = handle(m, KWF_CQ);
	c->solicited_only = below(m, 2);
}

static void fill_poll(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_poll_cq *c = in;

	c->cq_handle = handle(m, KWF_CQ);
	c->ne = below(m, 8);
}

static void fill_qp(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_create_qp *c = in;

	c->user_handle = evil(m);
	c->pd_handle = handle(m, KWF_PD);
	c->send_cq_handle = handle(m, KWF_CQ);
	c->recv_cq_handle = handle(m, KWF_CQ);
	c->is_srq = one_in(m, 4);
	if (c->is_srq)
		c->srq_handle = handle(m, KWF_SRQ);
	c->max_send_wr = size(m);
	c->max_recv_wr = size(m);
	c->max_send_sge = below(m, 31);
	c->max_recv_sge = below(m, 31);
	c->max_inline_data = one_in(m, 4) ? below(m, 480) : 0;
	c->sq_sig_all = below(m, 2);
	c->qp_type = one_in(m, 20) ? evil(m) : 2;
}

static void learn_qp(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_qp_resp *r = drv;

	remember(m, KWF_QP, ((const struct ib_uverbs_create_qp_resp *)out)->qp_handle);
	remember_number(m, r->qpn);
	remember_key(m, r->mmap_key, r->sq_len + r->rq_len);
}

static void fill_modify_qp(struct kwf_maker *m, void *in)
{
	static const uint8_t states[] = { 0, 1, 2, 3, 4, 6, 6, 6 };
	struct ib_uverbs_modify_qp *c = in;

	c->qp_handle = handle(m, KWF_QP);
	c->attr_mask = one_in(m, 4) ? evil(m) & 0x1fffff : 1;
	c->qp_state = one_in(m, 10) ? evil(m) : states[below(m, ARRAY_SIZE(states))];
	c->cur_qp_state = below(m, 8);
	c->qp_access_flags = below(m, 16);
	c->max_rd_atomic = below(m, 130);
	c->max_dest_rd_atomic = below(m, 130);
	c->port_num = below(m, 3);
}

static void fill_query_qp(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_query_qp *c = in;

	c->qp_handle = handle(m, KWF_QP);
	c->attr_mask = evil(m);
}

/* They all begin alike. */
static void fill_post(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_post_send *c = in;

	c->qp_handle = handle(m, KWF_QP);
	c->wr_count = one_in(m, 10) ? below(m, 3) : 0;
	c->sge_count = one_in(m, 10) ? below(m, 3) : 0;
	c->wqe_size = sizeof(struct ib_uverbs_send_wr);
}

static void fill_post_srq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_post_srq_recv *c = in;

	c->srq_handle = handle(m, KWF_SRQ);
	c->wqe_size = sizeof(struct ib_uverbs_recv_wr);
}

static void fill_srq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_create_srq *c = in;

	c->user_handle = evil(m);
	c->pd_handle = handle(m, KWF_PD);
	c->max_wr = size(m);
	c->max_sge = below(m, 31);
}

static void learn_srq(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_srq_resp *r = drv;

	remember(m, KWF_SRQ, ((const struct ib_uverbs_create_srq_resp *)out)->srq_handle);
	remember_key(m, r->mmap_key, r->mmap_len);
}

static void fill_modify_srq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_modify_srq *c = in;

	c->srq_handle = handle(m, KWF_SRQ);
	c->attr_mask = one_in(m, 4) ? below(m, 4) : 2;
	c->srq_limit = size(m);
}

static void fill_query_srq(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_query_srq *)in)->srq_handle = handle(m, KWF_SRQ);
}

static void fill_port(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_query_port *)in)->port_num = below(m, 3);
}

static void fill_gone_pd(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_dealloc_pd *)in)->pd_handle = handle(m, KWF_PD);
}

static void fill_gone_mr(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_dereg_mr *)in)->mr_handle = handle(m, KWF_MR);
}

static void fill_gone_mw(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_dealloc_mw *)in)->mw_handle = handle(m, KWF_MW);
}

static void fill_gone_cq(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_destroy_cq *)in)->cq_handle = handle(m, KWF_CQ);
}

static void fill_gone_qp(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_destroy_qp *)in)->qp_handle = handle(m, KWF_QP);
}

static void fill_gone_srq(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_destroy_srq *)in)->srq_handle = handle(m, KWF_SRQ);
}

#define CMD(x)		IB_USER_VERBS_CMD_##x
#define EX(x)		(CMD(x) | IB_USER_VERBS_CMD_FLAG_EXTENDED)
#define BOTH(x)		.in = sizeof(struct ib_uverbs_##x), \
			.out = sizeof(struct ib_uverbs_##x##_resp)
#define IN(x)		.in = sizeof(struct ib_uverbs_##x), .out = 0

static const struct shape shapes[] = {
	{ CMD(ALLOC_PD), 3, BOTH(alloc_pd), 0, fill_none, learn_pd },
	{ CMD(DEALLOC_PD), 2, IN(dealloc_pd), 0, fill_gone_pd, NULL },
	{ CMD(REG_MR), 6, BOTH(reg_mr), 0, fill_mr, learn_mr },
	{ CMD(DEREG_MR), 5, IN(dereg_mr), 0, fill_gone_mr, NULL },
	{ CMD(ALLOC_MW), 4, BOTH(alloc_mw), 0, fill_mw, learn_mw },
	{ CMD(DEALLOC_MW), 3, IN(dealloc_mw), 0, fill_gone_mw, NULL },
	{ CMD(CREATE_COMP_CHANNEL), 1, BOTH(create_comp_channel), 0, fill_none, learn_channel },
	{ CMD(CREATE_CQ), 5, BOTH(create_cq), sizeof(struct kwarp_create_cq_resp), fill_cq,
	  learn_cq },
	{ EX(CREATE_CQ), 3, BOTH(ex_create_cq), sizeof(struct kwarp_create_cq_resp), fill_cq_ex,
	  learn_cq },
	{ CMD(RESIZE_CQ), 5, BOTH(resize_cq), sizeof(struct kwarp_create_cq_resp), fill_resize,
	  learn_resize },
	{ CMD(REQ_NOTIFY_CQ), 3, IN(req_notify_cq), 0, fill_arm, NULL },
	{ CMD(POLL_CQ), 2, sizeof(struct ib_uverbs_poll_cq), 256, 0, fill_poll, NULL },
	{ CMD(DESTROY_CQ), 3, BOTH(destroy_cq), 0, fill_gone_cq, NULL },
	{ CMD(CREATE_QP), 8, BOTH(create_qp), sizeof(struct kwarp_create_qp_resp), fill_qp,
	  learn_qp },
	{ CMD(MODIFY_QP), 10, IN(modify_qp), 0, fill_modify_qp, NULL },
	{ CMD(QUERY_QP), 3, BOTH(query_qp), 0, fill_query_qp, NULL },
	{ CMD(DESTROY_QP), 6, BOTH(destroy_qp), 0, fill_gone_qp, NULL },
	{ CMD(POST_SEND), 1, BOTH(post_send), 0, fill_post, NULL },
	{ CMD(POST_RECV), 1, BOTH(post_recv), 0, fill_post, NULL },
	{ CMD(CREATE_SRQ), 4, BOTH(create_srq), sizeof(struct kwarp_create_srq_resp), fill_srq,
	  learn_srq },
	{ CMD(MODIFY_SRQ), 4, IN(modify_srq), 0, fill_modify_srq, NULL },
	{ CMD(QUERY_SRQ), 2, BOTH(query_srq), 0, fill_query_srq, NULL },
	{ CMD(POST_SRQ_RECV), 1, BOTH(post_srq_recv), 0, fill_post_srq, NULL },
	{ CMD(DESTROY_SRQ), 2, BOTH(destroy_srq), 0, fill_gone_srq, NULL },
	{ CMD(QUERY_PORT), 1, BOTH(query_port), 0, fill_port, NULL },
	{ EX(QUERY_DEVICE), 1, BOTH(ex_query_device), 0, fill_none, NULL },
};

static const struct shape *choose(struct kwf_maker *m)
{
	unsigned int i, n, total = 0;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		total += shapes[i].weight;
	n = below(m, total);
	for (i = 0; n >= shapes[i].weight; i++)
		n -= shapes[i].weight;
	return &shapes[i];
}

/* Something about it is not right: a few octets, a length, the number. */
static void spoil(struct kwf_maker *m, struct kwu_call *c)
{
	uint64_t *in = c->in.data;

	switch (below(m, 8)) {
	case 0:
		c->in.len = below(m, PART / 8) * 8;
		break;
	case 1:
		c->out.len = below(m, PART / 8) * 8;
		break;
	case 2:
		c->cmd = one_in(m, 2) ? c->cmd ^ IB_USER_VERBS_CMD_FLAG_EXTENDED : below(m, 64);
		break;
	case 3:
		c->cmd = evil(m);
		break;
	default:
		if (c->in.len >= 8)
			in[below(m, c->in.len / 8)] = evil(m);
	}
}

/* The driver's part: absent, zero, or not. */
static void driver_part(struct kwf_maker *m, struct kwu_call *c)
{
	uint8_t *in = c->drv_in.data;
	size_t i;

	c->drv_in.len = 0;
	if (!one_in(m, 4))
		return;
	c->drv_in.len = below(m, 16) * 8;
	if (one_in(m, 3))
		for (i = 0; i < c->drv_in.len; i++)
			in[i] = evil(m);
	if (one_in(m, 4))
		c->drv_out.len = below(m, PART / 8) * 8;
}

/* The driver does not offer these commands, because it has a doorbell. */
static bool is_post(uint32_t cmd)
{
	return cmd == CMD(POST_SEND) || cmd == CMD(POST_RECV) || cmd == CMD(POST_SRQ_RECV);
}

static void call_command(struct kwf_maker *m, enum kwf_kind kind)
{
	uint64_t in[PART / 8] = { 0 }, out[PART / 8] = { 0 };
	uint64_t drv_in[PART / 8] = { 0 }, drv_out[PART / 8] = { 0 };
	const struct shape *s = choose(m);
	struct kwu_call c = {
		.cmd = s->cmd,
		.in = { in, s->in },
		.out = { out, s->out },
		.drv_in = { drv_in, 0 },
		.drv_out = { drv_out, s->drv_out },
	};
	int rv;

	s->fill(m, in);
	driver_part(m, &c);
	if (one_in(m, 6))
		spoil(m, &c);
	/*
	 * Sometimes pass an invalid address. With write() that is not possible, because the parts
	 * are copied first.
	 */
	if (kind == KWF_INVOKE && one_in(m, 50))
		c.drv_out.data = (void *)(uintptr_t)(evil(m) & 0x7fffffff);
	rv = kind == KWF_WRITE ? kwu_write(m->p->fd, &c) : kwu_invoke(m->p->fd, &c);
	if (!rv && is_post(c.cmd))
		kw_die(KW_MISMATCH, "FAILED: command %u is accepted", c.cmd);
	if (!rv && c.cmd == s->cmd && s->learn && c.drv_out.data == drv_out)
		s->learn(m, out, drv_out);
	done(m, kind, !rv);
}

/* ---------------------------------------------------------------- doorbells */

/*
 * Store the file in place of another one, which is closed, perhaps while other threads ring it.
 * Return: true if there was another one.
 */
static bool keep_bell(struct kwf_maker *m, int fd)
{
	int old = __atomic_exchange_n(&m->p->bell[below(m, KWF_BELLS)], fd, __ATOMIC_RELAXED);

	return old > 2 && !close(old);
}

static void open_bell(struct kwf_maker *m)
{
	int fd = kwu_doorbell(m->p->fd);

	done(m, KWF_DOORBELL, fd >= 0);
	if (fd >= 0)
		keep_bell(m, fd);
}

/* The file may be closed already, and its number may name another file. */
static int a_bell(struct kwf_maker *m)
{
	return __atomic_load_n(&m->p->bell[below(m, KWF_BELLS)], __ATOMIC_RELAXED) ?: -1;
}

static unsigned long ring_command(struct kwf_maker *m)
{
	if (one_in(m, 10))
		return one_in(m, 2) ? (uint32_t)evil(m) : _IO('k', below(m, 256));
	return one_in(m, 3) ? KWARP_IOC_POSTED_RECV : KWARP_IOC_POSTED_SEND;
}

static void ring(struct kwf_maker *m)
{
	uint64_t number = one_in(m, 10) ? evil(m) : handle(m, KWF_QPN);

	if (one_in(m, 20))
		number |= evil(m) << 32;
	done(m, KWF_RING, !ioctl(a_bell(m), ring_command(m), number));
}

static void ring_list(struct kwf_maker *m)
{
	struct kwarp_doorbells bells = { .n = one_in(m, 10) ? evil(m) : below(m, 18) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bells.qpn); i++)
		bells.qpn[i] = one_in(m, 10) ? evil(m) : handle(m, KWF_QPN);
	done(m, KWF_RING, !ioctl(a_bell(m), KWARP_IOC_POSTED_SENDS,
				 one_in(m, 10) ? (void *)(uintptr_t)evil(m) : &bells));
}

/* Ring for a queue pair of another process, which has to be refused. */
static void ring_stranger(struct kwf_maker *m)
{
	uint64_t qp = __atomic_load_n(&m->p->count->qp[below(m, KWF_NUMBERS)], __ATOMIC_RELAXED);
	bool rang;

	if (!qp || (uint32_t)qp == (uint32_t)getpid()) {
		ring(m);
		return;
	}
	rang = !ioctl(a_bell(m), one_in(m, 2) ? KWARP_IOC_POSTED_RECV : KWARP_IOC_POSTED_SEND,
		      qp >> 32);
	done(m, KWF_RING, rang);
	if (rang)
		kw_die(KW_MISMATCH, "FAILED: rang for queue pair %u of process %u",
		       (uint32_t)(qp >> 32), (uint32_t)qp);
}

static void call_doorbell(struct kwf_maker *m)
{
	switch (below(m, 12)) {
	case 0:
		open_bell(m);
		break;
	case 1:
		done(m, KWF_DOORBELL, keep_bell(m, 0));
		break;
	case 2:
		ring_stranger(m);
		break;
	case 3:
	case 4:
		ring_list(m);
		break;
	default:
		ring(m);
	}
}

/* ------------------------------------------------------ methods of objects, garbage */

#define MAX_ATTRS	24

static void random_attr(struct kwf_maker *m, struct ib_uverbs_attr *a, unsigned int i)
{
	static uint8_t place[4096];

	a->attr_id = one_in(m, 4) ? below(m, 24) : i;
	if (one_in(m, 4))
		a->attr_id |= 1U << UVERBS_ID_NS_SHIFT;
	a->flags = one_in(m, 20) ? evil(m) : below(m, 2);
	switch (below(m, 5)) {
	case 0:		/* an object */
		a->data = handle(m, below(m, KWF_OBJECTS));
		break;
	case 1:		/* a small number */
		a->len = 1 << below(m, 4);
		a->data = size(m);
		break;
	case 2:		/* room, or octets */
		a->len = below(m, 64) * 8;
		a->data = (uintptr_t)place;
		break;
	case 3:
		a->len = evil(m);
		a->data = (uintptr_t)m->p->memory + below(m, KWF_MEMORY / 2);
		break;
	default:
		a->len = below(m, 9);
		a->data = evil(m);
	}
	if (one_in(m, 20))
		a->attr_data.reserved = evil(m);
}

/*
 * This method is left out: if it is refused, the core loses a reference to the calling task, see
 * kwu_get_context().
 */
static bool asks_for_context(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->object_id == UVERBS_OBJECT_DEVICE &&
	       hdr->method_id == UVERBS_METHOD_GET_CONTEXT;
}

/* The driver's own method, with attributes that are too many, or not quite right. */
static void aim_at_doorbell(struct kwf_maker *m, struct ib_uverbs_ioctl_hdr *hdr,
			    struct ib_uverbs_attr *attrs)
{
	hdr->object_id = KWARP_OBJECT_DOORBELL;
	hdr->method_id = KWARP_METHOD_DOORBELL_OPEN;
	if (one_in(m, 4))
		hdr->method_id += below(m, 3);
	if (one_in(m, 4) || !hdr->num_attrs)
		return;
	attrs[0].attr_id = KWARP_ATTR_DOORBELL_OPEN_FD;
	if (one_in(m, 2))
		attrs[0] = (struct ib_uverbs_attr){ .attr_id = KWARP_ATTR_DOORBELL_OPEN_FD };
	if (one_in(m, 2))
		hdr->num_attrs = 1;
	hdr->length = sizeof(*hdr) + hdr->num_attrs * sizeof(*attrs);
}

static void take_bells(struct kwf_maker *m, const struct ib_uverbs_ioctl_hdr *hdr,
		       const struct ib_uverbs_attr *attrs)
{
	unsigned int i;

	for (i = 0; i < hdr->num_attrs; i++)
		if (attrs[i].attr_id == KWARP_ATTR_DOORBELL_OPEN_FD)
			keep_bell(m, attrs[i].data_s64);
}

static void call_method(struct kwf_maker *m)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[MAX_ATTRS];
	} r = { 0 };
	unsigned int i, n = below(m, one_in(m, 4) ? MAX_ATTRS : 10);
	bool good;

	for (i = 0; i < n; i++)
		random_attr(m, &r.attrs[i], i);
	r.hdr.num_attrs = n;
	r.hdr.length = sizeof(r.hdr) + n * sizeof(r.attrs[0]);
	r.hdr.object_id = one_in(m, 20) ? evil(m) : below(m, UVERBS_OBJECT_ASYNC_EVENT + 1);
	r.hdr.method_id = one_in(m, 20) ? evil(m) : below(m, 8);
	if (asks_for_context(&r.hdr))
		r.hdr.method_id = UVERBS_METHOD_QUERY_CONTEXT;
	if (one_in(m, 8))
		aim_at_doorbell(m, &r.hdr, r.attrs);
	r.hdr.driver_id = one_in(m, 50) ? evil(m) : KWARP_DRIVER_ID;
	if (one_in(m, 50))
		r.hdr.length = evil(m);
	good = !ioctl(m->p->fd, RDMA_VERBS_IOCTL, &r);
	done(m, KWF_METHOD, good);
	if (good && r.hdr.object_id == KWARP_OBJECT_DOORBELL)
		take_bells(m, &r.hdr, r.attrs);
}

static void call_garbage(struct kwf_maker *m)
{
	uint64_t msg[64];
	unsigned int i;
	ssize_t rv;

	for (i = 0; i < ARRAY_SIZE(msg); i++)
		msg[i] = evil(m);
	if (one_in(m, 2))
		rv = write(m->p->fd, msg, below(m, sizeof(msg)));
	else
		rv = -!!ioctl(m->p->fd, one_in(m, 8) ? evil(m) : RDMA_VERBS_IOCTL, msg);
	done(m, KWF_GARBAGE, rv >= 0);
}

/* ------------------------------------------------------------------ rings */

static void scribble(struct kwf_maker *m)
{
	unsigned int i = below(m, KWF_MAPS), n;
	volatile uint32_t *map = (volatile uint32_t *)m->p->map[i];
	size_t len = m->p->map_len[i];

	if (!map || len < KWARP_RING_ENTRIES_OFFSET)
		return;
	for (n = below(m, 64); n; n--)
		map[one_in(m, 3) ? below(m, 32) : below(m, len / 4)] = evil(m);
}

/* A mapping stays until the process ends, so that others may write into it meanwhile. */
static void map_ring(struct kwf_maker *m)
{
	unsigned int made = m->p->n_keys, k, i = below(m, KWF_MAPS);
	size_t len;
	void *map;

	if (!made) {
		done(m, KWF_MMAP, false);
		return;
	}
	k = below(m, made < KWF_MAPS ? made : KWF_MAPS);
	len = one_in(m, 10) ? evil(m) & 0xfffff : m->p->key_len[k];
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, m->p->fd,
		   one_in(m, 20) ? (off_t)(evil(m) & ~4095ULL) : (off_t)m->p->key[k]);
	done(m, KWF_MMAP, map != MAP_FAILED);
	if (map == MAP_FAILED || m->p->map[i])
		return;
	m->p->map_len[i] = len;
	m->p->map[i] = map;
}

void kwf_call(struct kwf_maker *m)
{
	switch (below(m, 24)) {
	case 0:
	case 1:
		call_method(m);
		break;
	case 2:
		call_garbage(m);
		break;
	case 3:
	case 4:
		map_ring(m);
		break;
	case 5 ... 11:
		call_command(m, KWF_WRITE);
		break;
	case 12 ... 15:
		call_doorbell(m);
		break;
	default:
		call_command(m, KWF_INVOKE);
	}
	scribble(m);
}

void kwf_begin(struct kwf_process *p, const char *dev, uint64_t seed)
{
	struct kwf_maker m = { .p = p, .rng.state = seed };
	uint64_t req[8] = { (uint64_t)KWARP_ABI_MAX << 32 | KWARP_ABI_MIN }, resp[8];
	int rv;

	p->fd = kwu_open(dev);
	/* Some try it without a context. */
	if (!(seed % 50))
		return;
	/* Some are refused at first. */
	if (seed % 4 == 1) {
		req[below(&m, 8)] = evil(&m);
		kwu_get_context(p->fd, (struct kwu_buf){ req, below(&m, 65) },
				(struct kwu_buf){ resp, below(&m, 65) });
	}
	rv = kwu_begin(p->fd);
	if (rv && rv != EINVAL)
		kw_die(KW_SETUP, "no context: %s", strerror(rv));
	p->bell[0] = kwu_doorbell(p->fd);
	if (p->bell[0] < 0)
		kw_die(KW_SETUP, "no doorbell: %s", strerror(errno));
}
