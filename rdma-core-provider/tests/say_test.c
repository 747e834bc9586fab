// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of what is said about calls that are refused.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"
#include "say.h"

static char *said;
static size_t said_len;
static FILE *real;

static void listen_to(bool debug)
{
	real = stderr;
	stderr = open_memstream(&said, &said_len);
	kwarp_debug = debug;
}

/* Was this said, and nothing else? */
static bool heard(const char *text)
{
	bool same;

	fclose(stderr);
	stderr = real;
	kwarp_debug = false;
	same = !strcmp(said, text);
	if (!same)
		printf("# said: %s", said);
	free(said);
	return same;
}

static const struct say_case {
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	const char *said;
} say_cases[] = {
	{ IBV_WR_SEND, 0, MAX_SGE + 1, "kwarp: kw0: ibv_post_send: SEND: num_sge 5 > max_send_sge 4\n" },
	{ IBV_WR_RDMA_READ, 0, 2,
	  "kwarp: kw0: ibv_post_send: RDMA_READ: num_sge 2 > 1: with iWARP a Read has one element\n" },
	{ IBV_WR_RDMA_READ, IBV_SEND_INLINE, 1,
	  "kwarp: kw0: ibv_post_send: RDMA_READ: IBV_SEND_INLINE is for data that is sent\n" },
	{ IBV_WR_LOCAL_INV, 0, 1,
	  "kwarp: kw0: ibv_post_send: LOCAL_INV: num_sge 1: the request has no data\n" },
	{ IBV_WR_SEND_WITH_IMM, 0, 1,
	  "kwarp: kw0: ibv_post_send: SEND_WITH_IMM: iWARP has none; RDMA_WRITE_WITH_IMM is possible\n" },
	{ 12345, 0, 1, "kwarp: kw0: ibv_post_send: opcode 12345: unknown, or iWARP has none\n" },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 1,
	  "kwarp: kw0: ibv_post_send: ATOMIC_FETCH_AND_ADD: RFC 7306 is off (knob rfc7306)\n" },
	{ IBV_WR_SEND, IBV_SEND_IP_CSUM, 1,
	  "kwarp: kw0: ibv_post_send: SEND: send_flags 0x10: only fence, signaled, solicited and inline are possible\n" },
};

static void test_sends(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(say_cases); i++) {
		const struct say_case *c = &say_cases[i];
		struct kwarp_qp *qp = qp_make(0);
		struct ibv_send_wr wr = {
			.opcode = c->opcode,
			.send_flags = c->flags,
			.sg_list = test_sges,
			.num_sge = c->num_sge,
		};

		listen_to(true);
		CHECK(send_one(qp, &wr) == EINVAL);
		CHECK(heard(c->said));
		qp_drop(qp);
	}
}

static void test_inline(void)
{
	struct ibv_sge sge = { .length = MAX_INLINE + 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
				  .sg_list = &sge, .num_sge = 1 };
	struct kwarp_qp *qp = qp_make(0);

	listen_to(true);
	CHECK(send_one(qp, &wr) == EINVAL);
	CHECK(heard("kwarp: kw0: ibv_post_send: SEND: 65 octets inline > max_inline_data 64\n"));
	qp_drop(qp);
}

/* A wired queue pair has Sends with immediate data, so the trouble is another. */
static void test_send_imm(void)
{
	struct ibv_sge sge = { .length = MAX_INLINE + 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM, .sg_list = test_sges,
				  .num_sge = MAX_SGE + 1 };
	struct kwarp_qp *qp = qp_make(0);

	qp->features = KWARP_FEATURE_SEND_IMM;
	qp->wired = true;
	listen_to(true);
	CHECK(send_one(qp, &wr) == EINVAL);
	CHECK(heard("kwarp: kw0: ibv_post_send: SEND_WITH_IMM: num_sge 5 > max_send_sge 4\n"));
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	listen_to(true);
	CHECK(send_one(qp, &wr) == EINVAL);
	CHECK(heard("kwarp: kw0: ibv_post_send: SEND_WITH_IMM: 65 octets inline > max_inline_data 64\n"));
	qp_drop(qp);
}

/* A refusal that comes again and again is said for the 1st, 2nd, 4th... time only. */
static void test_full(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	int i;

	for (i = 0; i < MAX_WR; i++)
		CHECK(!send_one(qp, &wr));
	listen_to(true);
	for (i = 0; i < 5; i++) {
		errno = 77;
		CHECK(send_one(qp, &wr) == ENOMEM && errno == 77);
	}
#define FULL "kwarp: kw0: ibv_post_send: the queue is full: max_send_wr is 6; poll the CQ for completions of signaled requests"
	CHECK(heard(FULL "\n" FULL " (2 times)\n" FULL " (4 times)\n"));
	qp_drop(qp);
}

/* Without KWARP_DEBUG nothing is said, whatever is refused. */
static void test_silent(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM };
	struct kwarp_qp *qp = qp_make(0);

	listen_to(false);
	CHECK(send_one(qp, &wr) == EINVAL);
	CHECK(heard(""));
	qp_drop(qp);
}

static void test_environment(void)
{
	static const struct {
		const char *value;
		bool on;
	} cases[] = { { "1", true }, { "yes", true }, { "0", false }, { "", false } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		setenv("KWARP_DEBUG", cases[i].value, 1);
		kwarp_debug_init();
		CHECK(kwarp_debug == cases[i].on);
	}
	unsetenv("KWARP_DEBUG");
	kwarp_debug_init();
	CHECK(!kwarp_debug);
}

static void test_regions(void)
{
	struct ibv_context *c = &ctx.ibv_ctx.context;

	listen_to(true);
	CHECK(kwarp_refused_mr(c, "ibv_reg_mr", 1, IBV_ACCESS_REMOTE_WRITE, EINVAL) == EINVAL);
	CHECK(heard("kwarp: kw0: ibv_reg_mr: access 0x2: remote write and remote atomic need IBV_ACCESS_LOCAL_WRITE\n"));
	listen_to(true);
	CHECK(kwarp_refused_mr(c, "ibv_reg_mr", 0, 0, EINVAL) == EINVAL);
	CHECK(heard("kwarp: kw0: ibv_reg_mr: length is 0\n"));
}

const struct test say_tests[] = {
	{ "say why a send is refused", test_sends },
	{ "say that inline data is too long", test_inline },
	{ "say why a Send with immediate data is refused", test_send_imm },
	{ "say that the queue is full, but not each time", test_full },
	{ "say nothing unasked", test_silent },
	{ "KWARP_DEBUG", test_environment },
	{ "say why a registration is refused", test_regions },
	{}
};
