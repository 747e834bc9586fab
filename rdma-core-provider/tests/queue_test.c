// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: test of posting, polling and doorbells without a kernel.
 *
 * post.c, recv.c, doorbell.c, wr.c and poll.c run on rings in ordinary memory; the tests consume
 * work requests and produce completions as the kernel would.  Output is TAP.
 * Tests of immediate data and atomic operations are in ext_test.c.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"

/* -------------------------------------------------------------- send queue */

static struct ibv_sge sges[MAX_SGE + 1] = {
	{ .addr = 0x1000, .length = 10, .lkey = 1 },
	{ .addr = 0x2000, .length = 20, .lkey = 2 },
	{ .addr = 0x3000, .length = 30, .lkey = 3 },
	{ .addr = 0x4000, .length = 40, .lkey = 4 },
	{ .addr = 0x5000, .length = 50, .lkey = 5 },
};

/**
 * struct send_case - one request and the expected result
 * @ret: result of the post
 * @op, @kflags, @sge_out: opcode, flags and num_sge in the ring
 * @remote: the ring entry has the remote address and key
 * @inval: the ring entry has the STag to invalidate
 */
static const struct send_case {
	const char *desc;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	int ret;
	uint8_t op;
	uint16_t kflags;
	uint8_t sge_out;
	bool remote;
	bool inval;
} send_cases[] = {
#define GOOD(_desc, _opcode, _flags, _num_sge, ...)                            \
	{ .desc = _desc, .opcode = _opcode, .flags = _flags,                   \
	  .num_sge = _num_sge, __VA_ARGS__ }
#define BAD(_desc, _opcode, _flags, _num_sge)                                  \
	GOOD(_desc, _opcode, _flags, _num_sge, .ret = EINVAL)
	GOOD("write", IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, MAX_SGE,
	     .op = KWARP_WR_WRITE, .kflags = KWARP_WR_SIGNALED,
	     .sge_out = MAX_SGE, .remote = true),
	GOOD("write without data", IBV_WR_RDMA_WRITE, 0, 0,
	     .op = KWARP_WR_WRITE, .remote = true),
	GOOD("read", IBV_WR_RDMA_READ, IBV_SEND_FENCE, 1, .op = KWARP_WR_READ,
	     .kflags = KWARP_WR_FENCE, .sge_out = 1, .remote = true),
	BAD("read into two", IBV_WR_RDMA_READ, 0, 2),
	BAD("read inline", IBV_WR_RDMA_READ, IBV_SEND_INLINE, 1),
	GOOD("send", IBV_WR_SEND, IBV_SEND_SOLICITED | IBV_SEND_SIGNALED, 2,
	     .op = KWARP_WR_SEND, .sge_out = 2,
	     .kflags = KWARP_WR_SOLICITED | KWARP_WR_SIGNALED),
	GOOD("send with invalidate", IBV_WR_SEND_WITH_INV, 0, 1,
	     .op = KWARP_WR_SEND_INV, .sge_out = 1, .inval = true),
	GOOD("local invalidate", IBV_WR_LOCAL_INV, IBV_SEND_FENCE, 0,
	     .op = KWARP_WR_LOCAL_INV, .kflags = KWARP_WR_FENCE,
	     .inval = true),
	BAD("local invalidate with data", IBV_WR_LOCAL_INV, 0, 1),
	BAD("too many elements", IBV_WR_SEND, 0, MAX_SGE + 1),
	BAD("negative elements", IBV_WR_SEND, 0, -1),
	BAD("immediate data", IBV_WR_SEND_WITH_IMM, 0, 1),
	BAD("bind of nothing", IBV_WR_BIND_MW, 0, 0),
	BAD("opcode beyond all", 12345, 0, 1),
	BAD("negative opcode", -1, 0, 1),
	BAD("unknown flag", IBV_WR_SEND, IBV_SEND_IP_CSUM, 1),
};

static void test_send_cases(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(send_cases); i++) {
		const struct send_case *c = &send_cases[i];
		struct kwarp_qp *qp = qp_make(0);
		struct kwarp_sqe *e = sq_slot(qp, 0);
		struct ibv_send_wr wr = {
			.wr_id = 1000 + i,
			.opcode = c->opcode,
			.send_flags = c->flags,
			.sg_list = sges,
			.num_sge = c->num_sge,
			.wr.rdma = { .remote_addr = 0xabc, .rkey = 9 },
		};
		int before = failures;

		wr.invalidate_rkey = 0x55;
		CHECK(send_one(qp, &wr) == c->ret);
		CHECK(qp->sq.ring.hdr->prod == (c->ret ? 0 : 1));
		if (!c->ret) {
			CHECK(e->id == wr.wr_id && e->opcode == c->op);
			CHECK(e->flags == c->kflags);
			CHECK(e->num_sge == c->sge_out && !e->inline_len);
			CHECK(!memcmp(e + 1, sges, c->sge_out * sizeof(*sges)));
			CHECK(e->raddr == (c->remote ? 0xabc : 0));
			CHECK(e->rkey == (c->remote ? 9 : 0));
			CHECK(e->inv_stag == (c->inval ? 0x55 : 0));
		}
		if (failures != before)
			printf("# in case '%s'\n", c->desc);
		qp_drop(qp);
	}
}

/* ------------------------------------------------------------------- binds */

static struct ibv_pd bind_pd, other_pd = { .handle = 1 };
static struct ibv_mr bind_mr = { .pd = &bind_pd, .lkey = 0x1101 };
static struct ibv_mr other_pd_mr = { .pd = &other_pd, .lkey = 0x1201 };
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
	  .info = { .mr = _mr, .addr = 0xabc000, .length = _length,            \
		    .mw_access_flags = _access }, __VA_ARGS__ }
#define RW (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
	BIND("new key", &bind_mw, 0x22ff, &bind_mr, 1ULL << 40, RW),
	BIND("zero based", &bind_mw, 0x2202, &bind_mr, 1, RW | IBV_ACCESS_ZERO_BASED),
	BIND("no right", &bind_mw, 0x2203, &bind_mr, 5, 0),
	BIND("no window", NULL, 0x2203, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("no region", &bind_mw, 0x2203, NULL, 5, RW, .ret = EINVAL),
	BIND("type 1", &type1_mw, 0x2203, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("another window's key", &bind_mw, 0x2303, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("window's domain", &other_pd_mw, 0x2203, &bind_mr, 5, RW, .ret = EINVAL),
	BIND("region's domain", &bind_mw, 0x2203, &other_pd_mr, 5, RW, .ret = EINVAL),
	BIND("no length", &bind_mw, 0x2203, &bind_mr, 0, RW, .ret = EINVAL),
	BIND("local right", &bind_mw, 0x2203, &bind_mr, 5, RW | IBV_ACCESS_LOCAL_WRITE,
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
	CHECK(e->access == c->info.mw_access_flags);
	CHECK(!e->num_sge && !e->inline_len && !e->imm);
}

static int bind_by_post(struct kwarp_qp *qp, const struct bind_case *c)
{
	struct ibv_send_wr wr = {
		.wr_id = 77,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | c->flags,
		.sg_list = sges,
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
		.bind_info = { .mr = &bind_mr, .addr = 0xabc000, .length = 5,
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
	bind.bind_info.mw_access_flags = IBV_ACCESS_LOCAL_WRITE;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	bind.bind_info.mw_access_flags = RW;
	mw.pd = &other_pd;
	CHECK(kwarp_bind_mw(&qp->vqp.qp, &mw, &bind) == EPERM);
	CHECK(mw.rkey == 0x2201 && qp->sq.ring.hdr->prod == 2);
	qp_drop(qp);
}

static void test_send_lengths(void)
{
	struct ibv_sge big[2] = { { .length = UINT32_MAX }, { .length = 0 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = big,
				  .num_sge = 2 };
	struct kwarp_qp *qp = qp_make(0);

	CHECK(!send_one(qp, &wr));
	big[1].length = 1;
	CHECK(send_one(qp, &wr) == EINVAL);
	qp_drop(qp);
}

static void test_send_inline(void)
{
	char text[MAX_INLINE + 1];
	struct ibv_sge parts[2] = {
		{ .addr = (uintptr_t)text, .length = 3 },
		{ .addr = (uintptr_t)text + 3, .length = MAX_INLINE - 3 },
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = parts,
		.num_sge = 2,
		.send_flags = IBV_SEND_INLINE,
	};
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_sqe *e = sq_slot(qp, 0);

	memset(text, 'x', sizeof(text));
	memcpy(text, "abcdef", 6);
	CHECK(!send_one(qp, &wr));
	CHECK(e->flags == KWARP_WR_INLINE && e->inline_len == MAX_INLINE);
	CHECK(!e->num_sge && !memcmp(e + 1, text, MAX_INLINE));

	parts[1].length++;
	CHECK(send_one(qp, &wr) == EINVAL);
	parts[1].length = UINT32_MAX;
	CHECK(send_one(qp, &wr) == EINVAL);
	CHECK(qp->sq.ring.hdr->prod == 1);
	qp_drop(qp);
}

static void test_send_full(void)
{
	struct ibv_send_wr wr[MAX_WR + 2], *bad = NULL;
	struct kwarp_qp *qp = qp_make(0xfffffffd);	/* the index wraps in the chain */
	uint32_t cons = 0xfffffffd, n = 0;
	int i, round;

	for (i = 0; i < MAX_WR + 2; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.opcode = IBV_WR_SEND,
			.next = i < MAX_WR + 1 ? &wr[i + 1] : NULL,
		};

	/* One chain longer than the queue: its head stays posted. */
	CHECK(kwarp_post_send(&qp->vqp.qp, wr, &bad) == ENOMEM);
	CHECK(bad == &wr[MAX_WR]);
	CHECK(qp->sq.ring.hdr->prod - cons == MAX_WR);
	for (i = 0; i < MAX_WR; i++)
		CHECK(sq_slot(qp, cons + i)->id == i);

	/* Each slot that the kernel releases can be used at once; the ring wraps several times. */
	for (round = 0; round < 3 * SLOTS; round++) {
		struct ibv_send_wr one = { .opcode = IBV_WR_SEND,
					   .wr_id = MAX_WR + n };

		CHECK(send_one(qp, &one) == ENOMEM);
		CHECK(sq_slot(qp, cons)->id == n++);
		__atomic_store_n(&qp->sq.ring.hdr->cons, ++cons,
				 __ATOMIC_RELEASE);
		CHECK(!send_one(qp, &one));
	}
	qp_drop(qp);
}

static void test_sig_all(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);

	qp->sig_all = true;
	CHECK(!send_one(qp, &wr));
	CHECK(sq_slot(qp, 0)->flags == KWARP_WR_SIGNALED);
	qp_drop(qp);
}

static void test_doorbell(void)
{
	struct ibv_send_wr wr2 = { .opcode = IBV_WR_SEND };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .next = &wr2 };
	struct ibv_send_wr bad_wr = { .opcode = IBV_WR_TSO };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_ring_hdr *hdr = qp->sq.ring.hdr;

	CHECK(!send_one(qp, &wr));		/* no flag: no doorbell */
	CHECK(kernel.rings == 0);

	hdr->flags = KWARP_RING_NEED_KICK;	/* one doorbell per chain */
	CHECK(!send_one(qp, &wr));
	CHECK(kernel.rings == 1);
	CHECK(kernel.last_cmd == KWARP_IOC_POSTED_SEND && kernel.last_arg == QPN);

	CHECK(send_one(qp, &bad_wr) == EINVAL);	/* nothing posted: no doorbell */
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/*
 * Result of a post whose first @fails doorbells fail, and expected number of doorbells.
 * @awake: the kernel needs no doorbell any more after the failure.
 */
static const struct deaf_case {
	const char *desc;
	int err;
	int fails;
	bool awake;
	int ret;
	int rings;
} deaf_cases[] = {
	{ "interrupted", EINTR, 2, .rings = 3 },
	{ "forbidden", EPERM, 1, .ret = EPERM, .rings = 1 },
	{ "forbidden, and somebody else came in", EPERM, 1, .awake = true, .rings = 1 },
	{ "the device is gone", EIO, 1, .ret = EIO, .rings = 1 },
	{ "gone, and the ring says nothing", EIO, 1, .awake = true, .ret = EIO, .rings = 1 },
	/* For these two errnos a program would post again, so they must be translated. */
	{ "no memory", ENOMEM, 1, .ret = EIO, .rings = 1 },
	{ "not its queue pair", EINVAL, 1, .ret = EIO, .rings = 1 },
};

static void test_deaf(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(deaf_cases); i++) {
		const struct deaf_case *c = &deaf_cases[i];
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
		struct kwarp_qp *qp = qp_make(0);
		int before = failures;

		qp->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
		kernel.err = c->err;
		kernel.fails = c->fails;
		kernel.quiet = c->awake ? qp->sq.ring.hdr : NULL;
		CHECK(send_one(qp, &wr) == c->ret);
		CHECK(kernel.rings == c->rings);
		if (failures != before)
			printf("# in case '%s'\n", c->desc);
		qp_drop(qp);
	}
}

/* -------------------------------------------------- a send queue that is held */

static void idle_poll(struct kwarp_cq *cq)
{
	struct ibv_wc wc;

	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 0);
}

static void idle_start_poll(struct kwarp_cq *cq)
{
	struct ibv_poll_cq_attr attr = {};

	CHECK(ibv_start_poll(&cq->vcq.cq_ex, &attr) == ENOENT);
}

static void idle_arm(struct kwarp_cq *cq)
{
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 0));
}

static void idle_arm_solicited(struct kwarp_cq *cq)
{
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
}

static const struct {
	const char *name;
	void (*idle)(struct kwarp_cq *cq);
} idlers[] = {
#define IDLER(_name) { #_name, idle_##_name }
	IDLER(poll),
	IDLER(start_poll),
	IDLER(arm),
	IDLER(arm_solicited),
#undef IDLER
};

/* Each sign that the program has nothing else to do (idlers[]) rings once, with either CQ. */
static void test_held(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	size_t i;
	int way;

	for (i = 0; i < ARRAY_SIZE(idlers) * 2; i++) {
		struct kwarp_qp *qp = qp_make(0);
		struct kwarp_cq *cq = to_kcq(i % 2 ? qp->vqp.qp.recv_cq : qp->vqp.qp.send_cq);
		int before = failures;

		way = i / 2;
		qp->sq.ring.hdr->flags = KWARP_RING_HELD;
		CHECK(!send_one(qp, &wr) && !send_one(qp, &wr));
		CHECK(kernel.rings == 0 && qp->sq.ring.hdr->prod == 2);
		idlers[way].idle(cq);
		CHECK(kernel.rings == 1);
		CHECK(kernel.last_cmd == KWARP_IOC_POSTED_SEND && kernel.last_arg == QPN);
		idlers[way].idle(cq);
		idle_poll(to_kcq(qp->vqp.qp.send_cq));
		idle_poll(to_kcq(qp->vqp.qp.recv_cq));
		CHECK(kernel.rings == 1);
		if (failures != before)
			printf("# in case '%s', CQ %zu\n", idlers[way].name, i % 2);
		qp_drop(qp);
	}
}

/* A poll that finds something does not ring: the program may post more. */
static void test_held_busy(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.send_cq);
	uint32_t polls = cq->hdr->polls;
	struct ibv_wc wc;

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	cq_add(cq, 1, QPN);
	cq_add(cq, 2, QPN);
	CHECK(!send_one(qp, &wr));
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1 && wc.wr_id == 1);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1 && wc.wr_id == 2);
	CHECK(kernel.rings == 0 && cq->hdr->polls == polls + 2);
	/* A completion that the doorbell causes is found by the same poll. */
	kernel.completes = cq;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/* Requests that are posted after asking for an event are rung for by the next empty poll. */
static void test_held_armed(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.recv_cq);

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	idle_arm(cq);
	CHECK(!send_one(qp, &wr) && !send_one(qp, &wr));
	CHECK(kernel.rings == 0);
	idle_poll(cq);
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/* Requests posted during an extended poll are rung for at its end, if it found the end. */
static void test_held_in_poll(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.recv_cq);
	struct ibv_poll_cq_attr attr = {};

	cq_add(cq, 1, QPN);
	CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
	qp->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	CHECK(!send_one(qp, &wr));
	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	CHECK(kernel.rings == 1);
	/* The program did not look for the end of the queue: no doorbell. */
	ibv_end_poll(&cq->vcq.cq_ex);
	CHECK(kernel.rings == 1);
	cq_add(cq, 1, QPN);
	CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
	CHECK(ibv_next_poll(&cq->vcq.cq_ex) == ENOENT);
	ibv_end_poll(&cq->vcq.cq_ex);
	CHECK(kernel.rings == 2);
	qp_drop(qp);
}

/* If all polls find something, the doorbell is rung after 64 of them. */
static void test_held_always_busy(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.send_cq);
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc;
	int i;

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	for (i = 0; i < 64; i++) {
		CHECK(kernel.rings == 0);
		cq_add(cq, 1, QPN);
		if (i % 2) {
			CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
			ibv_end_poll(&cq->vcq.cq_ex);
		} else {
			CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
		}
	}
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/* No doorbell for requests that the kernel has sent without one. */
static void test_held_sent(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.send_cq);

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	qp->sq.ring.hdr->cons = qp->sq.ring.hdr->prod;
	idle_poll(cq);
	CHECK(kernel.rings == 0);
	CHECK(!send_one(qp, &wr));
	idle_poll(cq);
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/* Many queue pairs: a poll rings for some of them, and stops when it finds a completion. */
static void test_held_many(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp[40];
	struct kwarp_cq *cq = NULL;
	struct ibv_wc wc;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = qp_make(0);
		if (cq) {
			cq_drop(to_kcq(qp[i]->vqp.qp.send_cq));
			qp[i]->vqp.qp.send_cq = &cq->vcq.cq;
		}
		cq = to_kcq(qp[0]->vqp.qp.send_cq);
		qp[i]->sq.ring.hdr->flags = KWARP_RING_HELD;
		CHECK(!send_one(qp[i], &wr));
	}
	kernel.rings = 0;
	kernel.lists = 0;
	kernel.completes = cq;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(kernel.rings > 0 && kernel.rings < (int)ARRAY_SIZE(qp));
	kernel.completes = NULL;
	while (kwarp_poll_cq(&cq->vcq.cq, 1, &wc))
		;
	CHECK(kernel.rings == ARRAY_SIZE(qp));
	/* 40 queue pairs, 16 per call at most: three calls. */
	CHECK(kernel.lists == 3);
	for (i = 0; i < ARRAY_SIZE(qp); i++)
		kwarp_forget_left(qp[i]);
	for (i = ARRAY_SIZE(qp) - 1; i; i--) {
		qp[i]->vqp.qp.send_cq = qp[i]->vqp.qp.recv_cq;
		qp_drop(qp[i]);
	}
	qp_drop(qp[0]);
}

/* No doorbell for a queue pair that was destroyed. */
static void test_held_destroyed(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	kwarp_forget_left(qp);
	idle_poll(to_kcq(qp->vqp.qp.send_cq));
	idle_poll(to_kcq(qp->vqp.qp.recv_cq));
	CHECK(kernel.rings == 0);
	qp_drop(qp);
}

/* ---------------------------------------------------------- receive queues */

static void test_recv(void)
{
	struct ibv_recv_wr wr = { .wr_id = 3, .sg_list = sges,
				  .num_sge = MAX_SGE };
	struct ibv_recv_wr many = { .num_sge = MAX_SGE + 1, .sg_list = sges };
	struct ibv_recv_wr negative = { .num_sge = -1, .sg_list = sges };
	struct kwarp_qp *qp = qp_make(0xffffffff);
	struct ibv_recv_wr *bad = NULL;
	int i;

	for (i = 0; i < MAX_WR; i++)
		CHECK(!kwarp_post_recv(&qp->vqp.qp, &wr, &bad));
	CHECK(kwarp_post_recv(&qp->vqp.qp, &wr, &bad) == ENOMEM);
	CHECK(bad == &wr && kernel.rings == 0);
	CHECK(rq_slot(&qp->rq, 0xffffffff)->id == 3);
	CHECK(rq_slot(&qp->rq, 0)->num_sge == MAX_SGE);
	CHECK(!memcmp(rq_slot(&qp->rq, 0) + 1, sges, MAX_SGE * sizeof(*sges)));

	CHECK(kwarp_post_recv(&qp->vqp.qp, &many, &bad) == EINVAL);
	CHECK(kwarp_post_recv(&qp->vqp.qp, &negative, &bad) == EINVAL);

	/* In error the kernel asks for a doorbell, to flush receives that are posted. */
	qp->rq.ring.hdr->cons = qp->rq.ring.hdr->prod;
	qp->rq.ring.hdr->flags = KWARP_RING_NEED_KICK | KWARP_RING_ERROR;
	CHECK(!kwarp_post_recv(&qp->vqp.qp, &wr, &bad));
	CHECK(kernel.rings == 1);
	CHECK(kernel.last_cmd == KWARP_IOC_POSTED_RECV && kernel.last_arg == QPN);
	qp_drop(qp);
}

static void test_srq(void)
{
	struct ibv_recv_wr wr = { .wr_id = 8, .sg_list = sges, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_srq srq = {
		.ibv_srq.context = &ctx.ibv_ctx.context,
	};

	wq_make(&srq.wq, RQ_STRIDE, 0, 0);
	CHECK(!kwarp_post_srq_recv(&srq.ibv_srq, &wr, &bad));
	CHECK(srq.wq.ring.hdr->prod == 1 && rq_slot(&srq.wq, 0)->id == 8);

	/* A QP on an SRQ has no receive queue to post to. */
	free(qp->rq.ring.hdr);
	qp->rq.ring = (struct kwarp_ring){};
	qp->rq.max_sge = 0;
	qp->vqp.qp.srq = &srq.ibv_srq;
	CHECK(kwarp_post_recv(&qp->vqp.qp, &wr, &bad) == EINVAL && bad == &wr);
	free(srq.wq.ring.hdr);
	qp_drop(qp);
}

/* -------------------------------------------------------------- ibv_wr_*() */

static void test_wr_batch(void)
{
	struct kwarp_qp *qp = qp_make(0);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);
	char abc[] = "abc", de[] = "de";
	struct ibv_data_buf bufs[2] = { { abc, 3 }, { de, 2 } };
	struct kwarp_sqe *e = sq_slot(qp, 0);

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, 7, 0x77);
	ibv_wr_set_sge_list(qpx, MAX_SGE, sges);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_FENCE;
	ibv_wr_send_inv(qpx, 0x99);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	CHECK(qp->sq.ring.hdr->prod == 0);	/* not published before ibv_wr_complete() */
	qp->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	CHECK(!ibv_wr_complete(qpx));
	CHECK(qp->sq.ring.hdr->prod == 2 && kernel.rings == 1);

	CHECK(e->id == 1 && e->opcode == KWARP_WR_WRITE);
	CHECK(e->flags == KWARP_WR_SIGNALED && e->num_sge == MAX_SGE);
	CHECK(e->rkey == 7 && e->raddr == 0x77);
	e = sq_slot(qp, 1);
	CHECK(e->id == 2 && e->opcode == KWARP_WR_SEND_INV);
	CHECK(e->flags == (KWARP_WR_FENCE | KWARP_WR_INLINE));
	CHECK(e->inline_len == 5 && !memcmp(e + 1, "abcde", 5));
	CHECK(e->inv_stag == 0x99);

	ibv_wr_start(qpx);			/* empty batch */
	CHECK(!ibv_wr_complete(qpx) && kernel.rings == 1);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_abort(qpx);
	CHECK(qp->sq.ring.hdr->prod == 2 && qp->sq.ring.prod == 2);
	qp_drop(qp);
}

static void test_wr_errors(void)
{
	struct kwarp_qp *qp = qp_make(0);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);
	char big[MAX_INLINE + 1] = {};
	int i;

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_rdma_read(qpx, 1, 2);
	ibv_wr_set_sge_list(qpx, 2, sges);	/* two sinks */
	ibv_wr_send(qpx);			/* ignored from here on */
	ibv_wr_set_sge(qpx, 1, 2, 3);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	ibv_wr_start(qpx);
	ibv_wr_rdma_read(qpx, 1, 2);
	ibv_wr_set_inline_data(qpx, big, 1);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, big, MAX_INLINE + 1);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	ibv_wr_start(qpx);
	for (i = 0; i <= MAX_WR; i++)
		ibv_wr_send(qpx);
	CHECK(ibv_wr_complete(qpx) == ENOMEM);
	CHECK(qp->sq.ring.hdr->prod == 0 && qp->sq.ring.prod == 0);

	ibv_wr_start(qpx);
	ibv_wr_local_inv(qpx, 4);
	CHECK(!ibv_wr_complete(qpx) && qp->sq.ring.hdr->prod == 1);
	CHECK(sq_slot(qp, 0)->opcode == KWARP_WR_LOCAL_INV &&
	      sq_slot(qp, 0)->inv_stag == 4);
	qp_drop(qp);
}

/* -------------------------------------------------------- completion queue */

static void test_poll(void)
{
	struct kwarp_cq *cq = cq_make(0xfffffffe);
	struct ibv_wc wc[SLOTS];
	uint64_t next = 0, id = 0;
	int round, i, n;

	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 0);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < SLOTS; i++)
			cq_add(cq, id++, 5);
		while ((n = kwarp_poll_cq(&cq->vcq.cq, 3, wc)) > 0) {
			CHECK(n <= 3);
			for (i = 0; i < n; i++, next++) {
				CHECK(wc[i].wr_id == next);
				CHECK(wc[i].byte_len == next * 10);
				CHECK(wc[i].qp_num == 5);
				CHECK(wc[i].opcode == IBV_WC_RECV);
			}
		}
		CHECK(n == 0 && cq->hdr->cons == cq->hdr->prod);
	}
	CHECK(next == id);

	/* A CQ overrun is reported when all entries before it have been polled. */
	cq_add(cq, 1, 5);
	cq->hdr->flags = KWARP_RING_ERROR;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 1);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) < 0);
	cq_drop(cq);
}

static void test_poll_translation(void)
{
	struct kwarp_cq *cq = cq_make(0);
	struct ibv_wc wc;
	struct kwarp_cqe *e = &cq->entries[0];

	cq_add(cq, 1, 5);
	e->opcode = KWARP_WC_RECV_INV;
	e->inv_stag = 0xfeed;
	e->flags = KWARP_CQE_SOLICITED;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(wc.opcode == IBV_WC_RECV && wc.wc_flags == IBV_WC_WITH_INV);
	CHECK(wc.invalidated_rkey == 0xfeed && wc.status == IBV_WC_SUCCESS);

	cq_add(cq, 2, 5);
	e = &cq->entries[1];
	e->opcode = KWARP_WR_READ;
	e->status = KWARP_WC_REM_ACCESS_ERR;
	e->vendor_err = 0x1234;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(wc.opcode == IBV_WC_RDMA_READ && !wc.wc_flags);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR && wc.vendor_err == 0x1234);

	cq_add(cq, 3, 5);
	cq->entries[2].status = 0xff;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(wc.status == IBV_WC_GENERAL_ERR);
	cq_drop(cq);
}

static void test_forget_qp(void)
{
	struct kwarp_cq *cq = cq_make(0);
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc[SLOTS];
	int i;

	for (i = 0; i < SLOTS; i++)
		cq_add(cq, i, i % 2 ? 5 : 6);
	kwarp_cq_forget_qp(cq, 5);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 2, wc) == 2);
	CHECK(wc[0].wr_id == 0 && wc[1].wr_id == 2);

	CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
	CHECK(cq->vcq.cq_ex.wr_id == 4);
	CHECK(!ibv_next_poll(&cq->vcq.cq_ex));
	CHECK(cq->vcq.cq_ex.wr_id == 6);
	CHECK(ibv_next_poll(&cq->vcq.cq_ex) == ENOENT);
	ibv_end_poll(&cq->vcq.cq_ex);
	CHECK(cq->hdr->cons == SLOTS);

	/* An entry that the kernel writes to the slot of a hidden one is not hidden. */
	cq_add(cq, 42, 5);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 1 && wc[0].wr_id == 42);

	/* Only hidden entries: the poll finds nothing, and releases them. */
	cq_add(cq, 43, 5);
	kwarp_cq_forget_qp(cq, 5);
	CHECK(ibv_start_poll(&cq->vcq.cq_ex, &attr) == ENOENT);
	CHECK(cq->hdr->cons == cq->hdr->prod);
	cq_drop(cq);
}

static void test_poll_ex(void)
{
	struct kwarp_cq *cq = cq_make(0);
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	uint64_t id = 1, seen = 1;

	CHECK(ibv_start_poll(cqx, &attr) == ENOENT);
	attr.comp_mask = 1;
	CHECK(ibv_start_poll(cqx, &attr) == EINVAL);
	attr.comp_mask = 0;

	/*
	 * More completions than slots between start and end: slots are released
	 * during the poll.
	 */
	cq_add(cq, id++, 5);
	CHECK(!ibv_start_poll(cqx, &attr));
	while (seen < 4 * SLOTS) {
		CHECK(cqx->wr_id == seen && cqx->status == IBV_WC_SUCCESS);
		CHECK(ibv_wc_read_opcode(cqx) == IBV_WC_RECV);
		CHECK(ibv_wc_read_byte_len(cqx) == seen * 10);
		CHECK(ibv_wc_read_qp_num(cqx) == 5);
		CHECK(ibv_wc_read_src_qp(cqx) == 0 && ibv_wc_read_sl(cqx) == 0);
		CHECK(cq->hdr->prod - cq->hdr->cons < SLOTS);
		cq_add(cq, id++, 5);
		seen++;
		CHECK(!ibv_next_poll(cqx));
	}
	ibv_end_poll(cqx);
	CHECK(cq->hdr->cons == cq->hdr->prod);
	cq_drop(cq);
}

static void test_arm(void)
{
	struct kwarp_cq *cq = cq_make(0);

	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
	CHECK(cq->hdr->arm == KWARP_CQ_ARM_SOLICITED);
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 0));
	CHECK(cq->hdr->arm & KWARP_CQ_ARM_NEXT);
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
	CHECK(cq->hdr->arm & KWARP_CQ_ARM_NEXT);
	cq_drop(cq);
}

/* ----------------------------------------------- doorbell with two threads */

#define RACE_POSTS	300000
/* Coprime numbers, so that the two threads meet with every offset in time. */
#define RACE_KERNEL_SPIN	211
#define RACE_POSTER_SPIN	97

struct race {
	struct kwarp_qp *qp;
	sem_t wake;
	uint32_t sleeps;
	bool in_order;
	bool lost;
};

/* The kernel's side of the doorbell protocol: sleep only after a last read of prod. */
static void *race_kernel(void *arg)
{
	struct race *r = arg;
	struct kwarp_ring_hdr *hdr = r->qp->sq.ring.hdr;
	struct timespec limit;
	volatile uint32_t spin;
	uint32_t next = 0;

	while (next < RACE_POSTS) {
		if (__atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE) != next) {
			if (sq_slot(r->qp, next)->id != next)
				r->in_order = false;
			__atomic_store_n(&hdr->cons, ++next, __ATOMIC_RELEASE);
			for (spin = 0; spin < next % RACE_KERNEL_SPIN; spin++)
				;
			continue;
		}
		__atomic_store_n(&hdr->flags, KWARP_RING_NEED_KICK,
				 __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE) == next) {
			r->sleeps++;
			clock_gettime(CLOCK_REALTIME, &limit);
			limit.tv_sec += 5;
			if (sem_timedwait(&r->wake, &limit)) {
				__atomic_store_n(&r->lost, true,
						 __ATOMIC_RELAXED);
				return NULL;
			}
		}
		__atomic_store_n(&hdr->flags, 0, __ATOMIC_RELAXED);
	}
	return r;
}

static void test_doorbell_race(void)
{
	struct race r = { .qp = qp_make(0), .in_order = true };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_ring_hdr *hdr = r.qp->sq.ring.hdr;
	volatile uint32_t spin;
	pthread_t thread;
	void *done;
	uint32_t i;

	sem_init(&r.wake, 0, 0);
	kernel.wake = &r.wake;
	if (pthread_create(&thread, NULL, race_kernel, &r))
		abort();
	for (i = 0; i < RACE_POSTS; i++) {
		for (spin = 0; spin < i % RACE_POSTER_SPIN; spin++)
			;
		wr.wr_id = i;
		CHECK(!send_one(r.qp, &wr));
		/* Wait for each request: the next post would hide a lost wake-up. */
		while (__atomic_load_n(&hdr->cons, __ATOMIC_ACQUIRE) == i)
			if (__atomic_load_n(&r.lost, __ATOMIC_RELAXED))
				break;
		if (__atomic_load_n(&r.lost, __ATOMIC_RELAXED))
			break;
	}
	pthread_join(thread, &done);
	CHECK(done == &r);
	CHECK(r.in_order);
	printf("# %u posts, %u sleeps, %d kicks\n", RACE_POSTS, r.sleeps,
	       kernel.rings);
	kernel.wake = NULL;
	sem_destroy(&r.wake);
	qp_drop(r.qp);
}

static const struct test tests[] = {
	{ "send: opcodes, flags and limits", test_send_cases },
	{ "send: bind", test_bind },
	{ "send: bind of type 1", test_bind_type_1 },
	{ "send: message length", test_send_lengths },
	{ "send: inline", test_send_inline },
	{ "send: full, wrap", test_send_full },
	{ "send: all signaled", test_sig_all },
	{ "send: doorbell", test_doorbell },
	{ "send: doorbell not heard", test_deaf },
	{ "held: rung for when the program is idle", test_held },
	{ "held: not while it polls completions", test_held_busy },
	{ "held: by who has asked for an event, too", test_held_armed },
	{ "held: posted while polling", test_held_in_poll },
	{ "held: not for ever", test_held_always_busy },
	{ "held: sent by the kernel", test_held_sent },
	{ "held: many queue pairs", test_held_many },
	{ "held: destroyed", test_held_destroyed },
	{ "recv: limits, full, doorbell in error", test_recv },
	{ "srq", test_srq },
	{ "wr: batch, abort", test_wr_batch },
	{ "wr: errors void the batch", test_wr_errors },
	{ "poll: order, wrap, overrun", test_poll },
	{ "poll: translation", test_poll_translation },
	{ "poll: entries of a destroyed QP", test_forget_qp },
	{ "poll: extended", test_poll_ex },
	{ "arm", test_arm },
	{ "doorbell: no lost wake-up", test_doorbell_race },
	{}
};

static int count_tests(const struct test *list)
{
	int n = 0;

	while (list[n].name)
		n++;
	return n;
}

static void run_tests(const struct test *list, int *n)
{
	int before;

	for (; list->name; list++) {
		before = failures;
		list->run();
		printf("%s %d - %s\n", failures == before ? "ok" : "not ok",
		       ++*n, list->name);
	}
}

int main(int argc, char **argv)
{
	int n = 0;

	printf("1..%d\n", count_tests(tests) + count_tests(ext_tests));
	run_tests(tests, &n);
	run_tests(ext_tests, &n);
	return failures != 0;
}
