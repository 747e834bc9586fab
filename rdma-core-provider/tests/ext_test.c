// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: test of requests with immediate data and of atomic operations (RFC 7306) without a kernel.
 *
 * Each request is posted with ibv_post_send() and with ibv_wr_*(), with the feature
 * (KWARP_FEATURE_RFC7306) in force and without it.  Without it the request has to be refused.
 * Batch: the requests between ibv_wr_start() and ibv_wr_complete() or ibv_wr_abort().
 */
#include <config.h>

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <ccan/array_size.h>

#include "ext_test.h"

#define ID		1234
#define RADDR		0xabcdef0000ULL
#define RKEY		9
#define COMPARE_ADD	0x1122334455667788ULL
#define SWAP		0x99aabbccddeeff00ULL

static bool has_imm(const struct kwarp_sqe *e)
{
	return !memcmp(&e->imm, imm_octets, sizeof(e->imm));
}

static uint64_t buffer[5];
static struct ibv_sge sges[] = {
	{ .addr = (uintptr_t)&buffer[0], .length = 8, .lkey = 1 },
	{ .addr = (uintptr_t)&buffer[1], .length = 8, .lkey = 2 },
	{ .addr = (uintptr_t)&buffer[2], .length = 8, .lkey = 3 },
	{ .addr = (uintptr_t)&buffer[3], .length = 8, .lkey = 4 },
	{ .addr = (uintptr_t)&buffer[4], .length = 8, .lkey = 5 },
};

static_assert(ARRAY_SIZE(sges) == MAX_SGE + 1, "one element too many can be given");

/**
 * struct ext_case - one request, and the expected result if the feature is in force
 * @length: octets of each of the first two elements; 0: 8 octets
 * @max_sge: elements that the queue pair allows; 0: MAX_SGE
 * @ret: result of the post
 * @op: opcode in the ring entry
 * @kflags: flags in the ring entry, KWARP_WR_*
 */
static const struct ext_case {
	const char *desc;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	uint32_t length;
	uint32_t max_sge;
	int ret;
	uint8_t op;
	uint16_t kflags;
} ext_cases[] = {
#define GOOD(_desc, _opcode, _op, _flags, _num_sge, ...)                       \
	{ .desc = _desc, .opcode = _opcode, .op = _op, .flags = _flags,        \
	  .num_sge = _num_sge, __VA_ARGS__ }
#define BAD(_desc, _opcode, _flags, _num_sge, ...)                             \
	GOOD(_desc, _opcode, 0, _flags, _num_sge, .ret = EINVAL, __VA_ARGS__)
#define WRITE_IMM	IBV_WR_RDMA_WRITE_WITH_IMM
#define FETCH_ADD	IBV_WR_ATOMIC_FETCH_AND_ADD
#define CMP_SWAP	IBV_WR_ATOMIC_CMP_AND_SWP
	GOOD("write, imm", WRITE_IMM, KWARP_WR_WRITE_IMM, IBV_SEND_SIGNALED, MAX_SGE,
	     .kflags = KWARP_WR_SIGNALED),
	GOOD("write, imm, solicited", WRITE_IMM, KWARP_WR_WRITE_IMM,
	     IBV_SEND_SOLICITED | IBV_SEND_FENCE, 1,
	     .kflags = KWARP_WR_SOLICITED | KWARP_WR_FENCE),
	GOOD("imm alone", WRITE_IMM, KWARP_WR_WRITE_IMM, 0, 0),
	GOOD("write inline, imm", WRITE_IMM, KWARP_WR_WRITE_IMM,
	     IBV_SEND_INLINE | IBV_SEND_SOLICITED, 1,
	     .kflags = KWARP_WR_INLINE | KWARP_WR_SOLICITED),
	BAD("write inline, imm, too long", WRITE_IMM, IBV_SEND_INLINE, 1, .length = MAX_INLINE + 1),
	BAD("write, imm, too many elements", WRITE_IMM, 0, MAX_SGE + 1),
	BAD("write, imm, too long", WRITE_IMM, 0, 2, .length = UINT32_MAX),

	GOOD("fetch-add", FETCH_ADD, KWARP_WR_FETCH_ADD, IBV_SEND_SIGNALED | IBV_SEND_FENCE, 1,
	     .kflags = KWARP_WR_SIGNALED | KWARP_WR_FENCE),
	BAD("fetch-add, no element", FETCH_ADD, 0, 0),
	BAD("fetch-add, two elements", FETCH_ADD, 0, 2),
	BAD("fetch-add, two elements of 8 octets together", FETCH_ADD, 0, 2, .length = 4),
	BAD("fetch-add, 4 octets", FETCH_ADD, 0, 1, .length = 4),
	BAD("fetch-add, 16 octets", FETCH_ADD, 0, 1, .length = 16),
	BAD("fetch-add, inline", FETCH_ADD, IBV_SEND_INLINE, 1),
	GOOD("fetch-add, a queue with one", FETCH_ADD, KWARP_WR_FETCH_ADD, 0, 1, .max_sge = 1),

	GOOD("cmp-swap", CMP_SWAP, KWARP_WR_CMP_SWAP, IBV_SEND_SIGNALED, 1,
	     .kflags = KWARP_WR_SIGNALED),
	BAD("cmp-swap, no element", CMP_SWAP, 0, 0),
	BAD("cmp-swap, two elements of 8 octets together", CMP_SWAP, 0, 2, .length = 4),
	BAD("cmp-swap, 7 octets", CMP_SWAP, 0, 1, .length = 7),
	BAD("cmp-swap, 9 octets", CMP_SWAP, 0, 1, .length = 9),
	BAD("cmp-swap, inline", CMP_SWAP, IBV_SEND_INLINE, 1),
};

static int by_post(struct kwarp_qp *qp, const struct ext_case *c)
{
	struct ibv_send_wr wr = {
		.wr_id = ID,
		.opcode = c->opcode,
		.send_flags = c->flags,
		.sg_list = sges,
		.num_sge = c->num_sge,
	};

	if (c->opcode == WRITE_IMM) {
		wr.imm_data = imm_data();
		wr.wr.rdma.remote_addr = RADDR;
		wr.wr.rdma.rkey = RKEY;
	} else {
		wr.wr.atomic.remote_addr = RADDR;
		wr.wr.atomic.rkey = RKEY;
		wr.wr.atomic.compare_add = COMPARE_ADD;
		wr.wr.atomic.swap = SWAP;
	}
	return send_one(qp, &wr);
}

static void wr_begin(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case WRITE_IMM:
		ibv_wr_rdma_write_imm(qpx, RKEY, RADDR, imm_data());
		break;
	case FETCH_ADD:
		ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR, COMPARE_ADD);
		break;
	default:
		ibv_wr_atomic_cmp_swp(qpx, RKEY, RADDR, COMPARE_ADD, SWAP);
		break;
	}
}

static int by_wr(struct kwarp_qp *qp, const struct ext_case *c)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);

	ibv_wr_start(qpx);
	qpx->wr_id = ID;
	qpx->wr_flags = c->flags;
	wr_begin(qpx, c->opcode);
	if (c->flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qpx, buffer, sges[0].length);
	else if (c->num_sge == 1)
		ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
	else if (c->num_sge)
		ibv_wr_set_sge_list(qpx, c->num_sge, sges);
	return ibv_wr_complete(qpx);
}

static void check_slot(const struct ext_case *c, struct kwarp_qp *qp)
{
	const struct kwarp_sqe *e = sq_slot(qp, 0);
	bool inl = c->flags & IBV_SEND_INLINE;
	struct kwarp_sqe want = {
		.id = ID,
		.opcode = c->op,
		.flags = c->kflags,
		.num_sge = inl ? 0 : c->num_sge,
		.inline_len = inl ? sges[0].length : 0,
		.raddr = RADDR,
		.rkey = RKEY,
	};

	if (c->opcode == WRITE_IMM)
		memcpy(&want.imm, imm_octets, sizeof(want.imm));
	else
		want.compare_add = COMPARE_ADD;
	if (c->opcode == CMP_SWAP)
		want.swap = SWAP;
	CHECK(!memcmp(e, &want, sizeof(want)));
	if (inl)
		CHECK(!memcmp(e + 1, buffer, sges[0].length));
	else
		CHECK(!memcmp(e + 1, sges, c->num_sge * sizeof(*sges)));
}

static void run_case(const struct ext_case *c, bool wr, bool in_force)
{
	struct kwarp_qp *qp = qp_with(in_force ? KWARP_FEATURE_RFC7306 : 0);
	int ret = in_force ? c->ret : EINVAL;
	int before = failures;

	if (c->max_sge)
		qp->sq.max_sge = c->max_sge;
	qp->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	CHECK((wr ? by_wr(qp, c) : by_post(qp, c)) == ret);
	CHECK(qp->sq.ring.hdr->prod == (ret ? 0 : 1));
	CHECK(qp->sq.ring.prod == qp->sq.ring.hdr->prod);
	CHECK(kernel.rings == (ret ? 0 : 1));
	if (!ret)
		check_slot(c, qp);
	if (failures != before)
		printf("# in case '%s', %s, feature %s\n", c->desc, wr ? "wr" : "post",
		       in_force ? "in force" : "not in force");
	qp_drop(qp);
}

static void set_length(uint32_t length)
{
	sges[0].length = length;
	sges[1].length = length;
}

static void run_cases(bool wr, bool in_force)
{
	size_t i;

	memcpy(buffer, "what is written inline", 22);
	for (i = 0; i < ARRAY_SIZE(ext_cases); i++) {
		const struct ext_case *c = &ext_cases[i];

		set_length(c->length ? c->length : 8);
		run_case(c, wr, in_force);
	}
	set_length(8);
}

static void test_post(void)
{
	run_cases(false, true);
}

static void test_post_without(void)
{
	run_cases(false, false);
}

static void test_wr(void)
{
	run_cases(true, true);
}

static void test_wr_without(void)
{
	run_cases(true, false);
}

/* A Send with immediate data is refused even with the feature: iWARP has no such message. */
static void test_send_imm(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM, .sg_list = sges, .num_sge = 1 };
	struct kwarp_qp *qp = qp_with(KWARP_FEATURE_RFC7306);

	CHECK(send_one(qp, &wr) == EINVAL);
	CHECK(qp->sq.ring.hdr->prod == 0);
	qp_drop(qp);
}

/* Requests of a chain before the refused one stay posted, and bad_wr points to the refused one. */
static void test_post_chain(void)
{
	struct ibv_sge four = { .length = 4 };
	struct ibv_send_wr wr[3] = {
		{ .opcode = WRITE_IMM, .next = &wr[1], .imm_data = imm_data() },
		{ .opcode = CMP_SWAP, .next = &wr[2], .sg_list = &four, .num_sge = 1 },
		{ .opcode = IBV_WR_SEND },
	};
	struct ibv_send_wr *bad = NULL;
	struct kwarp_qp *qp = qp_with(KWARP_FEATURE_RFC7306);

	CHECK(kwarp_post_send(&qp->vqp.qp, wr, &bad) == EINVAL);
	CHECK(bad == &wr[1] && qp->sq.ring.hdr->prod == 1);
	CHECK(sq_slot(qp, 0)->opcode == KWARP_WR_WRITE_IMM && has_imm(sq_slot(qp, 0)));

	wr[1].sg_list = sges;
	CHECK(!kwarp_post_send(&qp->vqp.qp, wr, &bad));
	CHECK(qp->sq.ring.hdr->prod == 4);

	/* The entry of the Send has none of the operands of the atomic operation before it. */
	CHECK(sq_slot(qp, 2)->opcode == KWARP_WR_CMP_SWAP);
	CHECK(sq_slot(qp, 3)->opcode == KWARP_WR_SEND);
	CHECK(!sq_slot(qp, 3)->compare_add && !sq_slot(qp, 3)->swap);
	qp_drop(qp);
}

/* A good batch, and then batches in which the last request, or the one before it, is wrong. */
static void test_wr_batch(void)
{
	struct kwarp_qp *qp = qp_with(KWARP_FEATURE_RFC7306);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = 0;
	wr_begin(qpx, FETCH_ADD);
	ibv_wr_set_sge(qpx, 1, 2, 8);
	wr_begin(qpx, WRITE_IMM);
	wr_begin(qpx, CMP_SWAP);
	ibv_wr_set_sge_list(qpx, 1, sges);
	CHECK(!ibv_wr_complete(qpx) && qp->sq.ring.hdr->prod == 3);
	CHECK(sq_slot(qp, 0)->opcode == KWARP_WR_FETCH_ADD);
	CHECK(sq_slot(qp, 1)->opcode == KWARP_WR_WRITE_IMM && has_imm(sq_slot(qp, 1)));
	CHECK(sq_slot(qp, 2)->opcode == KWARP_WR_CMP_SWAP);

	/* Refused: the FetchAdd has no element, because the element belongs to the Send. */
	ibv_wr_start(qpx);
	wr_begin(qpx, FETCH_ADD);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 8);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	/* Refused: the second list of elements is empty, and replaces the one of the CmpSwap. */
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	wr_begin(qpx, CMP_SWAP);
	ibv_wr_set_sge(qpx, 1, 2, 8);
	ibv_wr_set_sge_list(qpx, 0, NULL);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	/* An aborted batch may have an incomplete request, which does not affect the next batch. */
	ibv_wr_start(qpx);
	wr_begin(qpx, CMP_SWAP);
	ibv_wr_abort(qpx);
	ibv_wr_start(qpx);
	CHECK(!ibv_wr_complete(qpx));
	CHECK(qp->sq.ring.hdr->prod == 3 && qp->sq.ring.prod == 3);
	qp_drop(qp);
}

/* A batch that needs the feature, without it: also the Sends of the batch are not posted. */
static void test_wr_batch_without(void)
{
	struct kwarp_qp *qp = qp_with(0);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 8);
	wr_begin(qpx, WRITE_IMM);
	ibv_wr_set_sge(qpx, 1, 2, 8);
	ibv_wr_send(qpx);
	CHECK(ibv_wr_complete(qpx) == EINVAL);
	CHECK(qp->sq.ring.hdr->prod == 0 && qp->sq.ring.prod == 0);
	qp_drop(qp);
}

const struct test ext_tests[] = {
	{ "imm, atomics: post", test_post },
	{ "imm, atomics: post, feature not in force", test_post_without },
	{ "imm, atomics: wr", test_wr },
	{ "imm, atomics: wr, feature not in force", test_wr_without },
	{ "imm: not with a send", test_send_imm },
	{ "imm, atomics: chain", test_post_chain },
	{ "imm, atomics: batch", test_wr_batch },
	{ "imm, atomics: batch, feature not in force", test_wr_batch_without },
	{}
};
