// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of the send queue: requests, doorbells; without a kernel.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"

/* -------------------------------------------------------------- send queue */

/**
 * struct send_case - one request and the expected result
 * @ret: result of the post
 * @op: opcode in the ring entry
 * @kflags: flags in the ring entry, KWARP_WR_*
 * @sge_out: num_sge in the ring entry
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
			.sg_list = test_sges,
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
			CHECK(!memcmp(e + 1, test_sges, c->sge_out * sizeof(*test_sges)));
			CHECK(e->raddr == (c->remote ? 0xabc : 0));
			CHECK(e->rkey == (c->remote ? 9 : 0));
			CHECK(e->inv_stag == (c->inval ? 0x55 : 0));
		}
		if (failures != before)
			printf("# in case '%s'\n", c->desc);
		qp_drop(qp);
	}
}

/* ------------------------------------------------------------ lengths of data */

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
	struct kwarp_qp *qp = qp_make(0xfffffffd);	/* prod wraps to 0 within the chain */
	uint32_t cons = 0xfffffffd, n = 0;
	int i, round;

	for (i = 0; i < MAX_WR + 2; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.opcode = IBV_WR_SEND,
			.next = i < MAX_WR + 1 ? &wr[i + 1] : NULL,
		};

	/* Of a chain longer than the queue, the requests that fit are posted. */
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
 * A post whose first @fails doorbells fail with @err, and what is expected: the result of the post
 * (@ret) and the number of doorbells (@rings).  @awake: when the doorbell fails, the fake kernel
 * clears the flag KWARP_RING_NEED_KICK: it needs no doorbell any more.
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
	/* After these two errnos a program would post again, so they are replaced by EIO. */
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

const struct test send_tests[] = {
	{ "send: opcodes, flags and limits", test_send_cases },
	{ "send: message length", test_send_lengths },
	{ "send: inline", test_send_inline },
	{ "send: full, wrap", test_send_full },
	{ "send: all signaled", test_sig_all },
	{ "send: doorbell", test_doorbell },
	{ "send: doorbell not heard", test_deaf },
	{}
};
