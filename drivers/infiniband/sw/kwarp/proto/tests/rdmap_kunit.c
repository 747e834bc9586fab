// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of RDMAP: encoding and decoding of Read Requests, and the check of headers with every
 * version and opcode (RFC 5040 Figure 4).
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../rdmap.h"

/*
 * A Read Request header (RFC 5040 section 4.4) for 4 octets, STag:offset of the sink
 * 0x2200:0x10000, of the source 0x3300:0x20000
 */
static const u8 rreq_wire[KWARP_RDMAP_RREQ_LEN] = {
	0x00, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x33, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x02, 0x00, 0x00,
};

static void test_rreq_vector(struct kunit *test)
{
	struct kwarp_rreq req;
	u8 out[KWARP_RDMAP_RREQ_LEN];

	kwarp_rreq_decode(rreq_wire, &req);
	KUNIT_EXPECT_EQ(test, req.sink_stag, 0x2200);
	KUNIT_EXPECT_EQ(test, req.sink_to, 0x10000);
	KUNIT_EXPECT_EQ(test, req.size, 4);
	KUNIT_EXPECT_EQ(test, req.src_stag, 0x3300);
	KUNIT_EXPECT_EQ(test, req.src_to, 0x20000);
	kwarp_rreq_encode(out, &req);
	KUNIT_EXPECT_MEMEQ(test, out, rreq_wire, sizeof(out));
}

static void test_rreq_round_trip(struct kunit *test)
{
	u8 in[KWARP_RDMAP_RREQ_LEN], out[KWARP_RDMAP_RREQ_LEN];
	struct kwarp_rreq req;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 200; i++) {
		prandom_bytes_state(&rnd, in, sizeof(in));
		kwarp_rreq_decode(in, &req);
		kwarp_rreq_encode(out, &req);
		KUNIT_ASSERT_MEMEQ(test, out, in, sizeof(out));
	}
}

/* RFC 5040 Figure 4, RFC 7306 section 4: is the opcode legal for these values of T and QN? */
static bool opcode_fits(const struct kwarp_ddp_hdr *hdr, u32 more)
{
	const bool rfc7306 = more & KWARP_RDMAP_RFC7306;

	if (hdr->tagged)
		return hdr->opcode == 0 || hdr->opcode == 2;
	switch (hdr->qn) {
	case 0:
		return (hdr->opcode >= 3 && hdr->opcode <= 6) ||
		       (rfc7306 && (hdr->opcode == 8 || hdr->opcode == 9)) ||
		       (more & KWARP_RDMAP_SEND_IMM && (hdr->opcode == 12 || hdr->opcode == 13));
	case 1:
		return hdr->opcode == 1 || (rfc7306 && hdr->opcode == 10);
	case 2:
		return hdr->opcode == 7;
	case 3:
		return hdr->opcode == 11;
	}
	return false;
}

static enum kwarp_perr expected_perr(const struct kwarp_ddp_hdr *hdr, u32 more)
{
	if (hdr->dv != 1)
		return hdr->tagged ? KWARP_PERR_DDP_T_VERSION : KWARP_PERR_DDP_U_VERSION;
	if (!hdr->tagged && hdr->qn > (more & KWARP_RDMAP_RFC7306 ? 3 : 2))
		return KWARP_PERR_DDP_U_QN;
	if (hdr->rv != 1)
		return KWARP_PERR_O_VERSION;
	if (!opcode_fits(hdr, more))
		return KWARP_PERR_O_OPCODE;
	/* No message of RFC 7306 may have 28 octets, the length that check_all() uses. */
	return hdr->opcode > 7 && hdr->opcode < 12 ? KWARP_PERR_O_STREAM : KWARP_PERR_NONE;
}

/*
 * Check every DDP version, RDMAP version, opcode and T flag with several queue numbers. The segment
 * is the last of its message and has 28 octets, a length that is legal for all messages of RFC
 * 5040.
 */
static void check_all(struct kunit *test, u32 more)
{
	static const u32 qns[] = { 0, 1, 2, 3, 4, 255, 256, 0x10000, U32_MAX };
	struct kwarp_ddp_hdr hdr = { .last = true };
	u32 i, q;

	for (i = 0; i < 512; i++) {
		hdr.dv = i & 3;
		hdr.rv = i >> 2 & 3;
		hdr.opcode = i >> 4 & 15;
		hdr.tagged = i >> 8;
		for (q = 0; q < ARRAY_SIZE(qns); q++) {
			hdr.qn = hdr.tagged ? 0 : qns[q];
			KUNIT_ASSERT_EQ_MSG(test, kwarp_rdmap_check(&hdr, 28, more),
					    expected_perr(&hdr, more),
					    "dv %u rv %u opcode %u tagged %u qn %u",
					    hdr.dv, hdr.rv, hdr.opcode, hdr.tagged,
					    hdr.qn);
		}
	}
}

static void test_check_all(struct kunit *test)
{
	check_all(test, 0);
	check_all(test, KWARP_RDMAP_RFC7306);
	check_all(test, KWARP_RDMAP_SEND_IMM);
	check_all(test, KWARP_RDMAP_RFC7306 | KWARP_RDMAP_SEND_IMM);
}

/* 5040-4.2-1, -2; zero-length messages: 5041-5.2-11, 5040-5.1-11, -5.3-13 */
static const struct size_case {
	const char *desc;
	u8 opcode;
	bool last;
	u32 payload;
	enum kwarp_perr err;
} size_cases[] = {
	{ "Read Request", KWARP_OP_RREQ, true, 28, KWARP_PERR_NONE },
	{ "Read Request, empty", KWARP_OP_RREQ, true, 0, KWARP_PERR_O_UNSPEC },
	{ "Read Request, one short", KWARP_OP_RREQ, true, 27, KWARP_PERR_O_UNSPEC },
	{ "Read Request, one more", KWARP_OP_RREQ, true, 29, KWARP_PERR_DDP_U_LONG },
	{ "Read Request, huge", KWARP_OP_RREQ, true, 65517, KWARP_PERR_DDP_U_LONG },
	{ "Read Request, not last", KWARP_OP_RREQ, false, 28, KWARP_PERR_O_UNSPEC },
	{ "Terminate, least", KWARP_OP_TERM, true, 4, KWARP_PERR_NONE },
	{ "Terminate, most", KWARP_OP_TERM, true, 52, KWARP_PERR_NONE },
	{ "Terminate, empty", KWARP_OP_TERM, true, 0, KWARP_PERR_O_UNSPEC },
	{ "Terminate, one short", KWARP_OP_TERM, true, 3, KWARP_PERR_O_UNSPEC },
	{ "Terminate, one more", KWARP_OP_TERM, true, 53, KWARP_PERR_DDP_U_LONG },
	{ "Terminate, not last", KWARP_OP_TERM, false, 22, KWARP_PERR_O_UNSPEC },
	{ "Write, empty", KWARP_OP_WRITE, true, 0, KWARP_PERR_NONE },
	{ "Write, huge", KWARP_OP_WRITE, true, 65521, KWARP_PERR_NONE },
	{ "Write, not last", KWARP_OP_WRITE, false, 1428, KWARP_PERR_NONE },
	{ "Read Response, empty", KWARP_OP_RRESP, true, 0, KWARP_PERR_NONE },
	{ "Read Response, not last", KWARP_OP_RRESP, false, 1428, KWARP_PERR_NONE },
	{ "Send, empty", KWARP_OP_SEND, true, 0, KWARP_PERR_NONE },
	{ "Send, not last", KWARP_OP_SEND_SE_INV, false, 1424, KWARP_PERR_NONE },
	{ "Immediate Data", KWARP_OP_IMM, true, 8, KWARP_PERR_NONE },
	{ "Immediate Data with SE", KWARP_OP_IMM_SE, true, 8, KWARP_PERR_NONE },
	{ "Immediate Data, empty", KWARP_OP_IMM, true, 0, KWARP_PERR_O_STREAM },
	{ "Immediate Data, one short", KWARP_OP_IMM_SE, true, 7, KWARP_PERR_O_STREAM },
	{ "Immediate Data, one more", KWARP_OP_IMM, true, 9, KWARP_PERR_O_STREAM },
	{ "Immediate Data, not last", KWARP_OP_IMM, false, 8, KWARP_PERR_O_STREAM },
	{ "Atomic Request", KWARP_OP_ATOMIC_REQ, true, 52, KWARP_PERR_NONE },
	{ "Atomic Request, one short", KWARP_OP_ATOMIC_REQ, true, 51, KWARP_PERR_O_STREAM },
	{ "Atomic Request, one more", KWARP_OP_ATOMIC_REQ, true, 53, KWARP_PERR_O_STREAM },
	{ "Atomic Request, huge", KWARP_OP_ATOMIC_REQ, true, 65517, KWARP_PERR_O_STREAM },
	{ "Atomic Request, not last", KWARP_OP_ATOMIC_REQ, false, 52, KWARP_PERR_O_STREAM },
	{ "Atomic Response", KWARP_OP_ATOMIC_RESP, true, 12, KWARP_PERR_NONE },
	{ "Atomic Response, one short", KWARP_OP_ATOMIC_RESP, true, 11, KWARP_PERR_O_STREAM },
	{ "Atomic Response, one more", KWARP_OP_ATOMIC_RESP, true, 13, KWARP_PERR_O_STREAM },
	{ "Atomic Response, not last", KWARP_OP_ATOMIC_RESP, false, 12, KWARP_PERR_O_STREAM },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

static u32 queue_of(u8 opcode)
{
	switch (opcode) {
	case KWARP_OP_RREQ:
	case KWARP_OP_ATOMIC_REQ:
		return 1;
	case KWARP_OP_TERM:
		return 2;
	case KWARP_OP_ATOMIC_RESP:
		return 3;
	default:
		return 0;
	}
}

static void test_check_size(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct kwarp_ddp_hdr hdr = {
		.dv = 1, .rv = 1, .opcode = c->opcode, .last = c->last,
		.tagged = c->opcode == KWARP_OP_WRITE || c->opcode == KWARP_OP_RRESP,
		.qn = queue_of(c->opcode),
	};

	KUNIT_EXPECT_EQ(test, kwarp_rdmap_check(&hdr, c->payload, KWARP_RDMAP_RFC7306), c->err);
}

/* 5040-4.1-15, 5041-5.2-14: the check ignores STag, TO, MSN and MO. */
static void test_check_ignores(struct kunit *test)
{
	struct kwarp_ddp_hdr hdr = {
		.dv = 1, .rv = 1, .last = true, .stag = U32_MAX, .to = U64_MAX,
		.msn = U32_MAX, .mo = U32_MAX,
	};

	hdr.opcode = KWARP_OP_SEND;
	KUNIT_EXPECT_EQ(test, kwarp_rdmap_check(&hdr, 1, 0), KWARP_PERR_NONE);
	hdr.tagged = true;
	hdr.opcode = KWARP_OP_WRITE;
	KUNIT_EXPECT_EQ(test, kwarp_rdmap_check(&hdr, 0, 0), KWARP_PERR_NONE);
}

static void test_op_helpers(struct kunit *test)
{
	u8 op;

	for (op = 0; op < 16; op++) {
		KUNIT_EXPECT_EQ(test, kwarp_op_invalidates(op), op == 4 || op == 6);
		KUNIT_EXPECT_EQ(test, kwarp_op_solicited(op), op == 5 || op == 6 || op == 9 ||
				op == 13);
		KUNIT_EXPECT_EQ(test, kwarp_op_sends_imm(op), op == 12 || op == 13);
		KUNIT_EXPECT_EQ(test, kwarp_op_is_imm(op), op == 8 || op == 9);
	}
}

static struct kunit_case rdmap_cases[] = {
	KUNIT_CASE(test_rreq_vector),
	KUNIT_CASE(test_rreq_round_trip),
	KUNIT_CASE(test_check_all),
	KUNIT_CASE_PARAM(test_check_size, size_gen_params),
	KUNIT_CASE(test_check_ignores),
	KUNIT_CASE(test_op_helpers),
	{}
};

static struct kunit_suite rdmap_suite = {
	.name = "kwarp_rdmap",
	.test_cases = rdmap_cases,
};

kunit_test_suite(rdmap_suite);
