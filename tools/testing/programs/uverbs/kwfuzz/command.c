// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz is a fuzzer: it makes random system calls on a uverbs device.
 * This file: uverbs commands. Their contents are correct at first; then some get one error.
 */
#include "kwfuzz.h"

#include <rdma/ib_user_verbs.h>
#include <rdma/kwarp-abi.h>

#define PART		512	/* octets: most of one part of a command */

/**
 * struct shape - the correct form of a command
 * @cmd: number of the command
 * @weight: relative frequency of the command
 * @in, @out: octets of the core's parts of request and answer
 * @drv_out: octets of the driver's part of the answer
 * @fill: writes a correct request
 * @learn: after a success: remembers what the command has created
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
	kwf_remember(m, KWF_PD, ((const struct ib_uverbs_alloc_pd_resp *)out)->pd_handle);
}

static void fill_mr(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_reg_mr *c = in;
	uint64_t off = kwf_below(m, KWF_MEMORY / 2);

	c->start = (uintptr_t)m->p->memory + off;
	c->hca_va = kwf_one_in(m, 4) ? (kwf_evil(m) & ~4095ULL) | (c->start & 4095) : c->start;
	c->length = kwf_below(m, KWF_MEMORY / 2) + 1;
	c->pd_handle = kwf_handle(m, KWF_PD);
	c->access_flags = kwf_one_in(m, 8) ? kwf_evil(m) : 1 | (kwf_below(m, 64) & ~32);
}

static void learn_mr(struct kwf_maker *m, const void *out, const void *drv)
{
	kwf_remember(m, KWF_MR, ((const struct ib_uverbs_reg_mr_resp *)out)->mr_handle);
}

static void fill_mw(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_alloc_mw *c = in;

	c->pd_handle = kwf_handle(m, KWF_PD);
	c->mw_type = kwf_one_in(m, 8) ? kwf_evil(m) : 2;
}

static void learn_mw(struct kwf_maker *m, const void *out, const void *drv)
{
	kwf_remember(m, KWF_MW, ((const struct ib_uverbs_alloc_mw_resp *)out)->mw_handle);
}

static void learn_channel(struct kwf_maker *m, const void *out, const void *drv)
{
	int fd = ((const struct ib_uverbs_create_comp_channel_resp *)out)->fd;

	kwf_remember(m, KWF_CHANNEL, fd);
	kwf_remember_fd(m, fd);
}

static void fill_cq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_create_cq *c = in;

	c->user_handle = kwf_evil(m);
	c->cqe = kwf_size(m);
	c->comp_vector = kwf_one_in(m, 20) ? kwf_evil(m) : 0;
	c->comp_channel = kwf_one_in(m, 2) ? -1 : (int)kwf_handle(m, KWF_CHANNEL);
}

static void fill_cq_ex(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_ex_create_cq *c = in;

	c->user_handle = kwf_evil(m);
	c->cqe = kwf_size(m);
	c->comp_channel = kwf_one_in(m, 2) ? -1 : (int)kwf_handle(m, KWF_CHANNEL);
	c->flags = kwf_one_in(m, 10) ? kwf_evil(m) : 0;
}

static void learn_cq(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_cq_resp *r = drv;

	kwf_remember(m, KWF_CQ, ((const struct ib_uverbs_create_cq_resp *)out)->cq_handle);
	kwf_remember_key(m, r->mmap_key, r->mmap_len);
}

static void fill_resize(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_resize_cq *c = in;

	c->cq_handle = kwf_handle(m, KWF_CQ);
	c->cqe = kwf_size(m);
}

static void learn_resize(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_cq_resp *r = drv;

	kwf_remember_key(m, r->mmap_key, r->mmap_len);
}

static void fill_arm(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_req_notify_cq *c = in;

	c->cq_handle = kwf_handle(m, KWF_CQ);
	c->solicited_only = kwf_below(m, 2);
}

static void fill_poll(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_poll_cq *c = in;

	c->cq_handle = kwf_handle(m, KWF_CQ);
	c->ne = kwf_below(m, 8);
}

static void fill_qp(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_create_qp *c = in;

	c->user_handle = kwf_evil(m);
	c->pd_handle = kwf_handle(m, KWF_PD);
	c->send_cq_handle = kwf_handle(m, KWF_CQ);
	c->recv_cq_handle = kwf_handle(m, KWF_CQ);
	c->is_srq = kwf_one_in(m, 4);
	if (c->is_srq)
		c->srq_handle = kwf_handle(m, KWF_SRQ);
	c->max_send_wr = kwf_size(m);
	c->max_recv_wr = kwf_size(m);
	c->max_send_sge = kwf_below(m, 31);
	c->max_recv_sge = kwf_below(m, 31);
	c->max_inline_data = kwf_one_in(m, 4) ? kwf_below(m, 480) : 0;
	c->sq_sig_all = kwf_below(m, 2);
	c->qp_type = kwf_one_in(m, 20) ? kwf_evil(m) : 2;
}

static void learn_qp(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_qp_resp *r = drv;

	kwf_remember(m, KWF_QP, ((const struct ib_uverbs_create_qp_resp *)out)->qp_handle);
	kwf_remember_number(m, r->qpn);
	kwf_remember_key(m, r->mmap_key, r->sq_len + r->rq_len);
}

static void fill_modify_qp(struct kwf_maker *m, void *in)
{
	static const uint8_t states[] = { 0, 1, 2, 3, 4, 6, 6, 6 };
	struct ib_uverbs_modify_qp *c = in;

	c->qp_handle = kwf_handle(m, KWF_QP);
	c->attr_mask = kwf_one_in(m, 4) ? kwf_evil(m) & 0x1fffff : 1;
	c->qp_state = kwf_one_in(m, 10) ? kwf_evil(m) : states[kwf_below(m, ARRAY_SIZE(states))];
	c->cur_qp_state = kwf_below(m, 8);
	c->qp_access_flags = kwf_below(m, 16);
	c->max_rd_atomic = kwf_below(m, 130);
	c->max_dest_rd_atomic = kwf_below(m, 130);
	c->port_num = kwf_below(m, 3);
}

static void fill_query_qp(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_query_qp *c = in;

	c->qp_handle = kwf_handle(m, KWF_QP);
	c->attr_mask = kwf_evil(m);
}

/* Fill a post to a send queue or a receive queue: both commands begin with the same members. */
static void fill_post(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_post_send *c = in;

	c->qp_handle = kwf_handle(m, KWF_QP);
	c->wr_count = kwf_one_in(m, 10) ? kwf_below(m, 3) : 0;
	c->sge_count = kwf_one_in(m, 10) ? kwf_below(m, 3) : 0;
	c->wqe_size = sizeof(struct ib_uverbs_send_wr);
}

static void fill_post_srq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_post_srq_recv *c = in;

	c->srq_handle = kwf_handle(m, KWF_SRQ);
	c->wqe_size = sizeof(struct ib_uverbs_recv_wr);
}

static void fill_srq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_create_srq *c = in;

	c->user_handle = kwf_evil(m);
	c->pd_handle = kwf_handle(m, KWF_PD);
	c->max_wr = kwf_size(m);
	c->max_sge = kwf_below(m, 31);
}

static void learn_srq(struct kwf_maker *m, const void *out, const void *drv)
{
	const struct kwarp_create_srq_resp *r = drv;

	kwf_remember(m, KWF_SRQ, ((const struct ib_uverbs_create_srq_resp *)out)->srq_handle);
	kwf_remember_key(m, r->mmap_key, r->mmap_len);
}

static void fill_modify_srq(struct kwf_maker *m, void *in)
{
	struct ib_uverbs_modify_srq *c = in;

	c->srq_handle = kwf_handle(m, KWF_SRQ);
	c->attr_mask = kwf_one_in(m, 4) ? kwf_below(m, 4) : 2;
	c->srq_limit = kwf_size(m);
}

static void fill_query_srq(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_query_srq *)in)->srq_handle = kwf_handle(m, KWF_SRQ);
}

static void fill_port(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_query_port *)in)->port_num = kwf_below(m, 3);
}

static void fill_gone_pd(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_dealloc_pd *)in)->pd_handle = kwf_handle(m, KWF_PD);
}

static void fill_gone_mr(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_dereg_mr *)in)->mr_handle = kwf_handle(m, KWF_MR);
}

static void fill_gone_mw(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_dealloc_mw *)in)->mw_handle = kwf_handle(m, KWF_MW);
}

static void fill_gone_cq(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_destroy_cq *)in)->cq_handle = kwf_handle(m, KWF_CQ);
}

static void fill_gone_qp(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_destroy_qp *)in)->qp_handle = kwf_handle(m, KWF_QP);
}

static void fill_gone_srq(struct kwf_maker *m, void *in)
{
	((struct ib_uverbs_destroy_srq *)in)->srq_handle = kwf_handle(m, KWF_SRQ);
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
	n = kwf_below(m, total);
	for (i = 0; n >= shapes[i].weight; i++)
		n -= shapes[i].weight;
	return &shapes[i];
}

/* Make something about a command wrong: a length, the number, or a few octets. */
static void spoil(struct kwf_maker *m, struct kwu_call *c)
{
	uint64_t *in = c->in.data;

	switch (kwf_below(m, 8)) {
	case 0:
		c->in.len = kwf_below(m, PART / 8) * 8;
		break;
	case 1:
		c->out.len = kwf_below(m, PART / 8) * 8;
		break;
	case 2:
		c->cmd = kwf_one_in(m, 2) ? c->cmd ^ IB_USER_VERBS_CMD_FLAG_EXTENDED :
			kwf_below(m, 64);
		break;
	case 3:
		c->cmd = kwf_evil(m);
		break;
	default:
		if (c->in.len >= 8)
			in[kwf_below(m, c->in.len / 8)] = kwf_evil(m);
	}
}

/*
 * Choose the driver's part of the request: absent, zeroes, or random octets. If there is one, the
 * buffer for the driver's answer sometimes gets another length.
 */
static void driver_part(struct kwf_maker *m, struct kwu_call *c)
{
	uint8_t *in = c->drv_in.data;
	size_t i;

	c->drv_in.len = 0;
	if (!kwf_one_in(m, 4))
		return;
	c->drv_in.len = kwf_below(m, 16) * 8;
	if (kwf_one_in(m, 3))
		for (i = 0; i < c->drv_in.len; i++)
			in[i] = kwf_evil(m);
	if (kwf_one_in(m, 4))
		c->drv_out.len = kwf_below(m, PART / 8) * 8;
}

/* Is this a command for posting? kwarp does not offer these: programs use its doorbell instead. */
static bool is_post(uint32_t cmd)
{
	return cmd == CMD(POST_SEND) || cmd == CMD(POST_RECV) || cmd == CMD(POST_SRQ_RECV);
}

void kwf_call_command(struct kwf_maker *m, enum kwf_kind kind)
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
	if (kwf_one_in(m, 6))
		spoil(m, &c);
	/*
	 * Sometimes pass an invalid address. This is not possible with write(), because kwu_write()
	 * copies the parts first.
	 */
	if (kind == KWF_INVOKE && kwf_one_in(m, 50))
		c.drv_out.data = (void *)(uintptr_t)(kwf_evil(m) & 0x7fffffff);
	rv = kind == KWF_WRITE ? kwu_write(m->p->fd, &c) : kwu_invoke(m->p->fd, &c);
	if (!rv && is_post(c.cmd))
		kw_die(KW_MISMATCH, "FAILED: command %u is accepted", c.cmd);
	if (!rv && c.cmd == s->cmd && s->learn && c.drv_out.data == drv_out)
		s->learn(m, out, drv_out);
	kwf_done(m, kind, !rv);
}
