// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of binds of memory windows, without a kernel.
 */
#include <config.h>

#include <errno.h>
#include <stdint.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"

static struct ibv_pd bind_pd = { .context = &ctx.ibv_ctx.context };
static struct ibv_pd other_pd = { .context = &ctx.ibv_ctx.context, .handle = 1 };
/* A domain of another device, with the same handle. */
static struct ibv_context other_ctx;
static struct ibv_pd foreign_pd = { .context = &other_ctx };

/* A region of 0x1000 octets; requests name its first octet by @_iova. */
#define MR(_pd, _iova, _access)                                                \
	{ .vmr.ibv_mr = { .pd = _pd, .lkey = 0x1101, .length = 0x1000 },       \
	  .access = _access, .iova = _iova }
#define AT	0xabc000
#define BINDABLE	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
static struct kwarp_mr at_mr = MR(&bind_pd, AT, BINDABLE);
static struct kwarp_mr after_mr = MR(&bind_pd, AT + 1, BINDABLE);
static struct kwarp_mr before_mr = MR(&bind_pd, AT - 0xffb, BINDABLE);
static struct kwarp_mr beyond_mr = MR(&bind_pd, AT - 0xffc, BINDABLE);
static struct kwarp_mr no_bind_mr = MR(&bind_pd, AT, IBV_ACCESS_LOCAL_WRITE);
static struct kwarp_mr read_only_mr = MR(&bind_pd, AT, IBV_ACCESS_MW_BIND);
static struct kwarp_mr zero_mr = MR(&bind_pd, 0, BINDABLE | IBV_ACCESS_ZERO_BASED);
static struct kwarp_mr other_pd_kmr = MR(&other_pd, AT, BINDABLE);
/* Not a struct kwarp_mr: the provider must not look for more than a struct ibv_mr. */
static struct ibv_mr foreign_mr = { .pd = &foreign_pd };
#define bind_mr		at_mr.vmr.ibv_mr
#define other_pd_mr	other_pd_kmr.vmr.ibv_mr
static struct ibv_mw bind_mw = { .pd = &bind_pd, .rkey = 0x2202,
				 .type = IBV_MW_TYPE_2 };
static struct ibv_mw other_pd_mw = { .pd = &other_pd, .rkey = 0x2202,
				     .type = IBV_MW_TYPE_2 };
static struct ibv_mw type1_mw = { .pd = &bind_pd, .rkey = 0x2202,
				  .type = IBV_MW_TYPE_1 };

static const struct bind_case {
	const char *desc;
	struct ibv_mw *mw;
	uint32_t rkey;
	struct ibv_mw_bind_info info;
	int num_sge;
	unsigned int flags;
	int ret;
} bind_cases[] = {
#define BIND(_desc, _mw, _rkey, _mr, _length, _access, ...)                    \
	{ .desc = _desc, .mw = _mw, .rkey = _rkey,                             \
	  .info = { .mr = _mr, .addr = AT, .length = _length,                  \
		    .mw_access_flags = _access }, __VA_ARGS__ }
#define RW (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
	BIND("new key", &bind_mw, 0x22ff, &bind_mr, 0x1000, RW),
	BIND("zero based", &bind_mw, 0x2202, &bind_mr, 1, RW | IBV_ACCESS_ZERO_BASED),
	BIND("no right", &bind_mw, 0x2203, &bind_mr, 5, 0),
	BIND("no window", NULL, 0x2203, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("no region", &bind_mw, 0x2203, NULL, 5, RW, .ret = EINVAL),
	BIND("type 1", &type1_mw, 0x2203, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("another window's key", &bind_mw, 0x2303, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("window's domain", &other_pd_mw, 0x2203, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("region's domain", &bind_mw, 0x2203, &other_pd_mr, 5, RW, .ret = EINVAL),
	BIND("another device's region", &bind_mw, 0x2203, &foreign_mr, 5, RW, .ret = EINVAL),
	BIND("end of the region", &bind_mw, 0x2203, &before_mr.vmr.ibv_mr, 5, RW),
	BIND("beyond the region", &bind_mw, 0x2203, &beyond_mr.vmr.ibv_mr, 5, RW, .ret = EINVAL),
	BIND("before the region", &bind_mw, 0x2203, &after_mr.vmr.ibv_mr, 5, RW, .ret = EINVAL),
	BIND("too long", &bind_mw, 0x2203, &bind_mr, 0x1001, RW, .ret = EINVAL),
	BIND("longest", &bind_mw, 0x2203, &bind_mr, UINT64_MAX, RW, .ret = EINVAL),
	BIND("region without the right", &bind_mw, 0x2203, &no_bind_mr.vmr.ibv_mr, 5,
	     IBV_ACCESS_REMOTE_READ, .ret = EINVAL),
	BIND("write to read only", &bind_mw, 0x2203, &read_only_mr.vmr.ibv_mr, 5, RW,
	     .ret = EINVAL),
	BIND("read of read only", &bind_mw, 0x2203, &read_only_mr.vmr.ibv_mr, 5,
	     IBV_ACCESS_REMOTE_READ),
	BIND("zero-based region", &bind_mw, 0x2203, &zero_mr.vmr.ibv_mr, 5, RW),
	BIND("zero-based, too long", &bind_mw, 0x2203, &zero_mr.vmr.ibv_mr, 0x1001, RW,
	     .ret = EINVAL),
	BIND("no length", &bind_mw, 0x2203, &bind_mr, 0, RW, .ret = EINVAL),
	BIND("local right", &bind_mw, 0x2203, &bind_mr, 5, RW | IBV_ACCESS_LOCAL_WRITE),
	BIND("right to bind", &bind_mw, 0x2203, &bind_mr, 5, RW | IBV_ACCESS_MW_BIND,
	     .ret = EINVAL),
	BIND("atomics", &bind_mw, 0x2203, &bind_mr, 5, IBV_ACCESS_REMOTE_ATOMIC,
	     .ret = EINVAL),
	BIND("with data", &bind_mw, 0x2203, &bind_mr, 5, RW, .num_sge = 1, .ret = EINVAL),
	BIND("inline", &bind_mw, 0x2203, &bind_mr, 5, RW, .flags = IBV_SEND_INLINE,
	     .ret = EINVAL),
};

static void check_bind(const struct bind_case *c, struct kwarp_qp *qp)
{
	const struct kwarp_sqe *e = sq_slot(qp, 0);

	CHECK(qp->sq.ring.hdr->prod == (c->ret ? 0 : 1));
	if (c->ret)
		return;
	CHECK(e->id == 77 && e->opcode == KWARP_WR_BIND_MW);
	CHECK(e->flags == (KWARP_WR_SIGNALED | KWARP_WR_FENCE));
	CHECK(e->rkey == c->rkey && e->inv_stag == c->info.mr->lkey);
	CHECK(e->raddr == c->info.addr && e->length == c->info.length);
	CHECK(e->access == (c->info.mw_access_flags & ~IBV_ACCESS_LOCAL_WRITE));
	CHECK(!e->num_sge && !e->inline_len && !e->imm);
}

static int bind_by_post(struct kwarp_qp *qp, const struct bind_case *c)
{
	struct ibv_send_wr wr = {
		.wr_id = 77,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | c->flags,
		.sg_list = test_sges,
		.num_sge = c->num_sge,
		.bind_mw = { .mw = c->mw, .rkey = c->rkey, .bind_info = c->info },
	};

	return send_one(qp, &wr);
}

static int bind_by_wr(struct kwarp_qp *qp, const struct bind_case *c)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);

	ibv_wr_start(qpx);
	qpx->wr_id = 77;
	qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_bind_mw(qpx, c->mw, c->rkey, &c->info);
	if (c->num_sge)
		ibv_wr_set_sge(qpx, 1, 2, 3);
	if (c->flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qpx, (void *)"x", 1);
	return ibv_wr_complete(qpx);
}

static void test_bind(void)
{
	size_t i;
	int wr;

	for (i = 0; i < 2 * ARRAY_SIZE(bind_cases); i++) {
		const struct bind_case *c = &bind_cases[i / 2];
		struct kwarp_qp *qp = qp_make(0);
		int before = failures;

		wr = i % 2;
		qp->vqp.qp.pd = &bind_pd;
		CHECK((wr ? bind_by_wr(qp, c) : bind_by_post(qp, c)) == c->ret);
		check_bind(c, qp);
		if (failures != before)
			printf("# in case '%s', %s\n", c->desc, wr ? "wr" : "post");
		qp_drop(qp);
	}
}

/* Windows of type 1: the provider chooses the key, and a bind of length 0 unbinds. */
static void test_bind_type_1(void)
{
	struct ibv_mw mw = { .pd = &bind_pd, .rkey = 0x22ff, .type = IBV_MW_TYPE_1 };
	struct ibv_mw_bind bind = {
		.wr_id = 77, .send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED,
		.bind_info = { .mr = &bind_mr, .addr = AT, .length = 5,
			       .mw_access_flags = RW },
	};
	const struct bind_case c = { .rkey = 0x2200, .info = bind.bind_info };
	struct kwarp_qp *qp = qp_make(0);

	qp->vqp.qp.pd = &bind_pd;
	CHECK(!kwarp_bind_mw(&qp->vqp.qp, &mw, &bind));
	CHECK(mw.rkey == 0x2200);
	check_bind(&c, qp);
	bind.bind_info.mr = NULL;
	bind.bind_info.length = 0;
	CHECK(!kwarp_bind_mw(&qp->vqp.qp, &mw, &bind));
	CHECK(sq_slot(qp, 1)->length == 0 && sq_slot(qp, 1)->inv_stag == 0);
	CHECK(sq_slot(qp, 1)->rkey == 0x2201 && mw.rkey == 0x2201);
	/* A bind that is refused uses no slot and does not change the key. */
	bind.send_flags = IBV_SEND_INLINE;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	bind.send_flags = 0;
	bind.bind_info.mw_access_flags = IBV_ACCESS_MW_BIND;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	bind.bind_info.mw_access_flags = RW;
	bind.bind_info.length = 5;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	bind.bind_info.mr = &beyond_mr.vmr.ibv_mr;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	bind.bind_info.mr = &no_bind_mr.vmr.ibv_mr;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	bind.bind_info.mr = &read_only_mr.vmr.ibv_mr;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	mw.pd = &other_pd;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EPERM);
	CHECK(mw.rkey == 0x2201 && qp->sq.ring.hdr->prod == 2);
	qp_drop(qp);
}

/* If the doorbell of a bind fails, the post fails, and the window keeps its key. */
static void test_bind_type_1_doorbell(void)
{
	struct ibv_mw mw = { .pd = &bind_pd, .rkey = 0x2202, .type = IBV_MW_TYPE_1 };
	struct ibv_mw_bind bind = {
		.bind_info = { .mr = &bind_mr, .addr = AT, .length = 5, .mw_access_flags = RW },
	};
	struct kwarp_qp *qp = qp_make(0);

	qp->vqp.qp.pd = &bind_pd;
	qp->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	kernel.err = EIO;
	kernel.fails = 1;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EIO);
	CHECK(kernel.rings == 1 && mw.rkey == 0x2202);
	qp_drop(qp);
}

const struct test bind_tests[] = {
	{ "bind: type 2", test_bind },
	{ "bind: type 1", test_bind_type_1 },
	{ "bind: type 1, failed doorbell", test_bind_type_1_doorbell },
	{}
};
