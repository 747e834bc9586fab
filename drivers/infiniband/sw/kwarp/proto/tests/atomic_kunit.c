// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of atomic operations: headers, and arithmetic by the procedure of RFC 7306 section 5.1. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../atomic.h"

/*
 * An Atomic Request, without its DDP header: FetchAdd of 5, STag 0x00abcd00, tagged offset 0x1000,
 * identifier 0x11223344.
 */
static const u8 fetch_add_wire[KWARP_ATOMIC_REQ_LEN] = {
	0x00, 0x00, 0x00, 0x00, 0x11, 0x22, 0x33, 0x44, 0x00, 0xab, 0xcd, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff,
};

static const u8 resp_wire[KWARP_ATOMIC_RESP_LEN] = {
	0x11, 0x22, 0x33, 0x44, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x29,
};

static void test_req_vector(struct kunit *test)
{
	struct kwarp_atomic_req req;
	u8 out[KWARP_ATOMIC_REQ_LEN];

	kwarp_atomic_req_decode(fetch_add_wire, &req);
	KUNIT_EXPECT_EQ(test, req.op, KWARP_ATOMIC_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, req.id, 0x11223344);
	KUNIT_EXPECT_EQ(test, req.stag, 0xabcd00);
	KUNIT_EXPECT_EQ(test, req.to, 0x1000);
	KUNIT_EXPECT_EQ(test, req.data, 5);
	KUNIT_EXPECT_EQ(test, req.mask, 0);
	KUNIT_EXPECT_EQ(test, req.compare, 0);
	KUNIT_EXPECT_EQ(test, req.compare_mask, U64_MAX);
	kwarp_atomic_req_encode(out, &req);
	KUNIT_EXPECT_MEMEQ(test, out, fetch_add_wire, sizeof(out));
}

/* Decoding and encoding a request gives the same octets, but the 28 reserved bits become zero. */
static void test_req_round_trip(struct kunit *test)
{
	u8 in[KWARP_ATOMIC_REQ_LEN], out[KWARP_ATOMIC_REQ_LEN];
	struct kwarp_atomic_req req;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 7306);
	for (i = 0; i < 200; i++) {
		prandom_bytes_state(&rnd, in, sizeof(in));
		kwarp_atomic_req_decode(in, &req);
		kwarp_atomic_req_encode(out, &req);
		KUNIT_ASSERT_EQ(test, out[0] | out[1] | out[2] | (out[3] & 0xf0), 0);
		KUNIT_ASSERT_EQ(test, out[3], in[3] & 0x0f);
		KUNIT_ASSERT_MEMEQ(test, out + 4, in + 4, sizeof(out) - 4);
	}
}

static void test_resp_vector(struct kunit *test)
{
	struct kwarp_atomic_resp resp;
	u8 out[KWARP_ATOMIC_RESP_LEN];

	kwarp_atomic_resp_decode(resp_wire, &resp);
	KUNIT_EXPECT_EQ(test, resp.id, 0x11223344);
	KUNIT_EXPECT_EQ(test, resp.value, 41);
	kwarp_atomic_resp_encode(out, &resp);
	KUNIT_EXPECT_MEMEQ(test, out, resp_wire, sizeof(out));
}

static void test_known(struct kunit *test)
{
	u8 op;

	for (op = 0; op < 16; op++)
		KUNIT_EXPECT_EQ(test, kwarp_atomic_op_known(op), op == 0 || op == 2);
}

/* @result was computed by the bit-by-bit procedure of RFC 7306 section 5.1.1. */
static const struct add_case {
	u64 old;
	u64 add;
	u64 mask;
	u64 result;
} add_cases[] = {
	{ 0x29, 1, 0, 0x2a },
	{ U64_MAX, 1, 0, 0 },
	{ 0x00000000ffffffff, 1, 0, 0x0000000100000000 },
	{ 0x00000000ffffffff, 1, 0x0000000080000000, 0 },
	{ 0x00000000ffffffff, 1, 0x8000000000000000, 0x0000000100000000 },
	{ 0xff00ff00ff00ff00, 0x0101010101010101, 0x8080808080808080, 0x0001000100010001 },
	{ 0x00000001ffffffff, 0x0000000100000001, 0x8000000080000000, 0x0000000200000000 },
	{ 5, U64_MAX, 0, 4 },
	{ 0x1234, 0, 0, 0x1234 },
	{ 7, 9, 4, 8 },
	{ 0xf, 1, 8, 0 },
	{ 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, U64_MAX, 0 },
	{ 1, 3, U64_MAX, 2 },
};

static void test_fetch_add(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(add_cases); i++) {
		const struct add_case *c = &add_cases[i];
		/* 7306-5.2.1-7: FetchAdd ignores the fields for comparison. */
		struct kwarp_atomic_req req = {
			.op = KWARP_ATOMIC_FETCH_ADD, .data = c->add, .mask = c->mask,
			.compare = ~c->old, .compare_mask = 0xf00d,
		};

		KUNIT_EXPECT_EQ_MSG(test, kwarp_atomic_result(&req, c->old), c->result,
				    "row %d", i);
	}
}

/* The procedure of RFC 7306 section 5.1.1: add bit by bit, drop the carry after each mask bit. */
static u64 add_by_bits(u64 old, u64 add, u64 mask)
{
	u64 sum = 0;
	u32 carry = 0, bit, n;

	for (bit = 0; bit < 64; bit++) {
		n = carry + (old >> bit & 1) + (add >> bit & 1);
		sum |= (u64)(n & 1) << bit;
		carry = mask >> bit & 1 ? 0 : n >> 1;
	}
	return sum;
}

static void test_fetch_add_random(struct kunit *test)
{
	struct kwarp_atomic_req req = { .op = KWARP_ATOMIC_FETCH_ADD };
	struct rnd_state rnd;
	u64 old;
	int i;

	prandom_seed_state(&rnd, 5);
	for (i = 0; i < 2000; i++) {
		prandom_bytes_state(&rnd, &old, sizeof(old));
		prandom_bytes_state(&rnd, &req.data, sizeof(req.data));
		prandom_bytes_state(&rnd, &req.mask, sizeof(req.mask));
		KUNIT_ASSERT_EQ(test, kwarp_atomic_result(&req, old),
				add_by_bits(old, req.data, req.mask));
	}
}

static const struct swap_case {
	u64 old;
	u64 compare;
	u64 compare_mask;
	u64 swap;
	u64 mask;
	u64 result;
} swap_cases[] = {
	{ 0x29, 0x29, U64_MAX, 5, U64_MAX, 5 },
	{ 0x29, 0x2a, U64_MAX, 5, U64_MAX, 0x29 },
	{ 0x1122334455667788, 0x1122334400000000, 0xffffffff00000000, 0x00000000deadbeef,
	  0x00000000ffffffff, 0x11223344deadbeef },
	{ 0x1122334455667788, 0x1122334500000000, 0xffffffff00000000, 0x00000000deadbeef,
	  0x00000000ffffffff, 0x1122334455667788 },
	{ 0x1122334455667788, 0, 0, 0xcafebabe00000001, U64_MAX, 0xcafebabe00000001 },
	{ 0x1122334455667788, 0x1122334455667788, U64_MAX, 0, 0, 0x1122334455667788 },
	{ 0xff, 0xf, 0xf, U64_MAX, 0xf000000000000000, 0xf0000000000000ff },
	{ 0x8000000000000000, 0x8000000000000000, 0x8000000000000000, 0, 0x8000000000000000, 0 },
};

static void test_cmp_swap(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(swap_cases); i++) {
		const struct swap_case *c = &swap_cases[i];
		struct kwarp_atomic_req req = {
			.op = KWARP_ATOMIC_CMP_SWAP, .data = c->swap, .mask = c->mask,
			.compare = c->compare, .compare_mask = c->compare_mask,
		};

		KUNIT_EXPECT_EQ_MSG(test, kwarp_atomic_result(&req, c->old), c->result,
				    "row %d", i);
	}
}

static struct kunit_case atomic_cases[] = {
	KUNIT_CASE(test_req_vector),
	KUNIT_CASE(test_req_round_trip),
	KUNIT_CASE(test_resp_vector),
	KUNIT_CASE(test_known),
	KUNIT_CASE(test_fetch_add),
	KUNIT_CASE(test_fetch_add_random),
	KUNIT_CASE(test_cmp_swap),
	{}
};

static struct kunit_suite atomic_suite = {
	.name = "kwarp_atomic",
	.test_cases = atomic_cases,
};

kunit_test_suite(atomic_suite);
