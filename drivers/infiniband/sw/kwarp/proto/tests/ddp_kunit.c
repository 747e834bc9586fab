// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of DDP headers, of segmentation and of the order of untagged segments. */
#include <kunit/test.h>
#include <linux/hex.h>
#include <linux/prandom.h>

#include "../ddp.h"

/* headers of RFC 5041 section 4, RFC 5040 section 4 and the examples in RFC 5041 section 5.2 */
static const struct hdr_case {
	const char *desc;
	const char *wire;
	struct kwarp_ddp_hdr hdr;
} hdr_cases[] = {
	{ "Write", "c1400000110000007f0000001000",
	  { .tagged = true, .last = true, .dv = 1, .rv = 1,
	    .opcode = KWARP_OP_WRITE, .stag = 0x1100, .to = 0x7f0000001000 } },
	{ "Write, zero length", "c140000000000000000000000000",
	  { .tagged = true, .last = true, .dv = 1, .rv = 1,
	    .opcode = KWARP_OP_WRITE } },
	{ "Read Request", "414100000000000000010000000100000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_RREQ, .qn = 1,
	    .msn = 1 } },
	{ "Read Response", "c142000022000000000000010000",
	  { .tagged = true, .last = true, .dv = 1, .rv = 1,
	    .opcode = KWARP_OP_RRESP, .stag = 0x2200, .to = 0x10000 } },
	{ "Send", "414300000000000000000000000100000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND, .msn = 1 } },
	{ "Send with Invalidate", "414400003300000000000000000100000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND_INV,
	    .stag = 0x3300, .msn = 1 } },
	{ "Send with SE", "414500000000000000000000000100000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND_SE,
	    .msn = 1 } },
	{ "Send with SE and Invalidate", "414600003300000000000000000100000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND_SE_INV,
	    .stag = 0x3300, .msn = 1 } },
	{ "Terminate", "414700000000000000020000000100000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_TERM, .qn = 2,
	    .msn = 1 } },
	{ "2048 octets untagged, first segment", "014300000000000000000000000100000000",
	  { .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND, .msn = 1 } },
	{ "2048 octets untagged, second segment", "4143000000000000000000000001000005ca",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND, .msn = 1,
	    .mo = 1482 } },
	{ "2048 octets tagged, first segment", "8140000011000000000000004000",
	  { .tagged = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_WRITE,
	    .stag = 0x1100, .to = 16384 } },
	{ "2048 octets tagged, second segment", "c1400000110000000000000045ce",
	  { .tagged = true, .last = true, .dv = 1, .rv = 1,
	    .opcode = KWARP_OP_WRITE, .stag = 0x1100, .to = 17870 } },
	{ "last MSN before the wrap", "41430000000000000000ffffffff00000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND,
	    .msn = 0xffffffff } },
	{ "MSN after the wrap", "414300000000000000000000000000000000",
	  { .last = true, .dv = 1, .rv = 1, .opcode = KWARP_OP_SEND } },
};

KUNIT_ARRAY_PARAM_DESC(hdr, hdr_cases, desc);

static void expect_hdr(struct kunit *test, const struct kwarp_ddp_hdr *got,
		       const struct kwarp_ddp_hdr *want)
{
	KUNIT_EXPECT_EQ(test, got->tagged, want->tagged);
	KUNIT_EXPECT_EQ(test, got->last, want->last);
	KUNIT_EXPECT_EQ(test, got->dv, want->dv);
	KUNIT_EXPECT_EQ(test, got->rv, want->rv);
	KUNIT_EXPECT_EQ(test, got->opcode, want->opcode);
	KUNIT_EXPECT_EQ(test, got->stag, want->stag);
	KUNIT_EXPECT_EQ(test, got->to, want->to);
	KUNIT_EXPECT_EQ(test, got->qn, want->qn);
	KUNIT_EXPECT_EQ(test, got->msn, want->msn);
	KUNIT_EXPECT_EQ(test, got->mo, want->mo);
}

static void test_hdr(struct kunit *test)
{
	const struct hdr_case *c = test->param_value;
	u8 wire[KWARP_DDP_MAX_HDR], out[KWARP_DDP_MAX_HDR];
	u32 len = strlen(c->wire) / 2;
	struct kwarp_ddp_hdr hdr;

	KUNIT_ASSERT_LE(test, len, sizeof(wire));
	KUNIT_ASSERT_EQ(test, hex2bin(wire, c->wire, len), 0);
	KUNIT_EXPECT_EQ(test, kwarp_ddp_hdr_len(wire[0]), len);
	kwarp_ddp_decode(wire, &hdr);
	expect_hdr(test, &hdr, &c->hdr);
	KUNIT_EXPECT_EQ(test, kwarp_ddp_encode(out, &c->hdr), len);
	KUNIT_EXPECT_MEMEQ(test, out, wire, len);
}

/* 5041-4.1-11, 5040-4.1-11: reserved bits of a received header are ignored. */
static void test_hdr_reserved(struct kunit *test)
{
	const struct hdr_case *c = test->param_value;
	u8 wire[KWARP_DDP_MAX_HDR];
	struct kwarp_ddp_hdr hdr;
	u32 bits;

	for (bits = 0; bits < 64; bits++) {
		KUNIT_ASSERT_EQ(test, hex2bin(wire, c->wire, strlen(c->wire) / 2), 0);
		wire[0] |= (bits & 15) << 2;
		wire[1] |= (bits >> 4) << 4;
		kwarp_ddp_decode(wire, &hdr);
		expect_hdr(test, &hdr, &c->hdr);
	}
}

static void test_hdr_round_trip(struct kunit *test)
{
	struct kwarp_ddp_hdr in, out;
	u8 wire[KWARP_DDP_MAX_HDR];
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 1000; i++) {
		in = (struct kwarp_ddp_hdr){
			.tagged = i & 1, .last = i & 2, .dv = 1, .rv = 1,
			.opcode = i >> 2 & 15, .stag = prandom_u32_state(&rnd),
		};
		if (in.tagged) {
			in.to = (u64)prandom_u32_state(&rnd) << 32 |
				prandom_u32_state(&rnd);
		} else {
			in.qn = prandom_u32_state(&rnd);
			in.msn = prandom_u32_state(&rnd);
			in.mo = prandom_u32_state(&rnd);
		}
		KUNIT_ASSERT_EQ(test, kwarp_ddp_encode(wire, &in),
				in.tagged ? 14 : 18);
		KUNIT_ASSERT_EQ(test, wire[0] & 0x3c, 0);	/* reserved bits: 5041-4.1-10 */
		KUNIT_ASSERT_EQ(test, wire[1] & 0x30, 0);	/* reserved bits: 5040-4.1-10 */
		kwarp_ddp_decode(wire, &out);
		expect_hdr(test, &out, &in);
	}
}

/* The decoder accepts all versions and opcodes: it does not check them. */
static void test_hdr_versions(struct kunit *test)
{
	u8 wire[KWARP_DDP_MAX_HDR] = {};
	struct kwarp_ddp_hdr hdr;
	u32 i;

	for (i = 0; i <= 0xffff; i++) {
		wire[0] = i >> 8;
		wire[1] = i;
		kwarp_ddp_decode(wire, &hdr);
		KUNIT_ASSERT_EQ(test, hdr.tagged, wire[0] >= 0x80);
		KUNIT_ASSERT_EQ(test, hdr.last, wire[0] / 0x40 % 2);
		KUNIT_ASSERT_EQ(test, hdr.dv, wire[0] % 4);
		KUNIT_ASSERT_EQ(test, hdr.rv, wire[1] / 0x40);
		KUNIT_ASSERT_EQ(test, hdr.opcode, wire[1] % 16);
	}
}

/* 5041-5.2-1, -2, -4, -12: a segment is empty only if the message has zero length. */
static void test_segments(struct kunit *test)
{
	static const u32 mulpdus[] = { 128, 129, 1430, 1442, 1500, 8942, 64768 };
	static const u32 sizes[] = { 0, 1, 109, 110, 111, 114, 2048, 65536, 1 << 20 };
	u32 i, j, tagged, left, n, count;

	for (i = 0; i < ARRAY_SIZE(mulpdus) * ARRAY_SIZE(sizes) * 2; i++) {
		tagged = i & 1;
		j = i / 2 % ARRAY_SIZE(sizes);
		left = sizes[j];
		count = 0;
		do {
			n = kwarp_ddp_seg_payload(mulpdus[i / 2 / ARRAY_SIZE(sizes)],
						  tagged, left);
			KUNIT_ASSERT_LE(test, n + (tagged ? 14 : 18),
					mulpdus[i / 2 / ARRAY_SIZE(sizes)]);
			KUNIT_ASSERT_LE(test, n, left);
			KUNIT_ASSERT_TRUE(test, n || !sizes[j]);
			left -= n;
			count++;
		} while (left);
		if (!sizes[j])
			KUNIT_EXPECT_EQ(test, count, 1);
	}
	/* example of RFC 5041 section 5.2: 2048 octets, MULPDU 1500, headers of 18 and 14 octets */
	KUNIT_EXPECT_EQ(test, kwarp_ddp_seg_payload(1500, false, 2048), 1482);
	KUNIT_EXPECT_EQ(test, kwarp_ddp_seg_payload(1500, false, 566), 566);
	KUNIT_EXPECT_EQ(test, kwarp_ddp_seg_payload(1500, true, 2048), 1486);
	KUNIT_EXPECT_EQ(test, kwarp_ddp_seg_payload(1500, true, 562), 562);
}

/* Is a segment with @msn and @mo the next one on the queue @q (RFC 5041 section 7.1)? */
static const struct order_case {
	const char *desc;
	struct kwarp_ddp_untagged_rx q;
	u32 msn;
	u32 mo;
	enum kwarp_perr err;
} order_cases[] = {
	{ "first of a stream", { 1, 0, false }, 1, 0, KWARP_PERR_NONE },
	{ "MSN repeated", { 2, 0, false }, 1, 0, KWARP_PERR_DDP_U_MSN },
	{ "MSN skipped", { 2, 0, false }, 3, 0, KWARP_PERR_DDP_U_MSN },
	{ "MSN 0 at first", { 1, 0, false }, 0, 0, KWARP_PERR_DDP_U_MSN },
	{ "MSN far off", { 1, 0, false }, 0x80000001, 0, KWARP_PERR_DDP_U_MSN },
	{ "MSN last before wrap", { U32_MAX, 0, false }, U32_MAX, 0, KWARP_PERR_NONE },
	{ "MSN wrapped", { 0, 0, false }, 0, 0, KWARP_PERR_NONE },
	{ "MSN 1 where 0 is due", { 0, 0, false }, 1, 0, KWARP_PERR_DDP_U_MSN },
	{ "MO not 0 at first", { 1, 0, false }, 1, 4, KWARP_PERR_DDP_U_MO },
	{ "MO goes on", { 1, 1482, true }, 1, 1482, KWARP_PERR_NONE },
	{ "MO repeated", { 1, 1482, true }, 1, 0, KWARP_PERR_DDP_U_MO },
	{ "MO skips", { 1, 1482, true }, 1, 1483, KWARP_PERR_DDP_U_MO },
	{ "MO overlaps", { 1, 1482, true }, 1, 1481, KWARP_PERR_DDP_U_MO },
	{ "next message before the end", { 1, 1482, true }, 2, 0, KWARP_PERR_DDP_U_MSN },
	{ "both wrong: MSN first", { 1, 0, false }, 2, 4, KWARP_PERR_DDP_U_MSN },
};

KUNIT_ARRAY_PARAM_DESC(order, order_cases, desc);

static void test_order(struct kunit *test)
{
	const struct order_case *c = test->param_value;
	struct kwarp_ddp_hdr hdr = { .msn = c->msn, .mo = c->mo };

	KUNIT_EXPECT_EQ(test, kwarp_ddp_check_untagged(&c->q, &hdr), c->err);
}

/* 5041-4.3-12, -14: messages of one to three segments, while the sequence number wraps to 0 */
static void test_advance(struct kunit *test)
{
	struct kwarp_ddp_untagged_rx q = { .msn = U32_MAX - 5 };
	struct kwarp_ddp_hdr hdr = {};
	u32 msg, seg;

	for (msg = 0; msg < 12; msg++) {
		for (seg = 0; seg <= msg % 3; seg++) {
			hdr.msn = U32_MAX - 5 + msg;
			hdr.mo = 100 * seg;
			hdr.last = seg == msg % 3;
			KUNIT_ASSERT_EQ(test, kwarp_ddp_check_untagged(&q, &hdr),
					KWARP_PERR_NONE);
			KUNIT_EXPECT_EQ(test, q.open, seg > 0);
			kwarp_ddp_advance_untagged(&q, &hdr, 100);
		}
		KUNIT_EXPECT_FALSE(test, q.open);
	}
	KUNIT_EXPECT_EQ(test, q.msn, 6);
	KUNIT_EXPECT_EQ(test, q.mo, 0);
}

/* A zero-length first segment does not end the message. */
static void test_advance_empty(struct kunit *test)
{
	struct kwarp_ddp_untagged_rx q = { .msn = 1 };
	struct kwarp_ddp_hdr hdr = { .msn = 1 };

	kwarp_ddp_advance_untagged(&q, &hdr, 0);
	KUNIT_EXPECT_TRUE(test, q.open);
	KUNIT_EXPECT_EQ(test, q.msn, 1);
	hdr.last = true;
	KUNIT_EXPECT_EQ(test, kwarp_ddp_check_untagged(&q, &hdr), KWARP_PERR_NONE);
	kwarp_ddp_advance_untagged(&q, &hdr, 0);
	KUNIT_EXPECT_FALSE(test, q.open);
	KUNIT_EXPECT_EQ(test, q.msn, 2);
}

static struct kunit_case ddp_cases[] = {
	KUNIT_CASE_PARAM(test_hdr, hdr_gen_params),
	KUNIT_CASE_PARAM(test_hdr_reserved, hdr_gen_params),
	KUNIT_CASE(test_hdr_round_trip),
	KUNIT_CASE(test_hdr_versions),
	KUNIT_CASE(test_segments),
	KUNIT_CASE_PARAM(test_order, order_gen_params),
	KUNIT_CASE(test_advance),
	KUNIT_CASE(test_advance_empty),
	{}
};

static struct kunit_suite ddp_suite = {
	.name = "kwarp_ddp",
	.test_cases = ddp_cases,
};

kunit_test_suite(ddp_suite);
