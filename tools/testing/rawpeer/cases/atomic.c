// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Atomic operations (RFC 7306 section 5) that the device carries out as
 * responder: their results, and their order among other messages.
 */
#include "runner/atomic.h"
#include "runner/control.h"
#include "runner/start.h"

#include <endian.h>
#include <string.h>

/*
 * Offsets of the last aligned word of region KWT_RW, and of the last word of a page in it. The
 * region has 20000 octets and begins at 0x2003 of the consumer's memory.
 */
#define RW_LAST		(RW_OFF + 19984)
#define RW_PAGE_END	(0x2ff8 - 0x2003)

static void add_vectors(struct rp *r);
static void swap_vectors(struct rp *r);
static void random_vectors(struct rp *r);
static void two_streams(struct rp *r);

const struct rp_case rp_cases_atomic[] = {
	{
		.name = "atomic-add", .ids = "7306-5.1.1-1 7306-5.1.1-6 7306-5.1.1-7 7306-5.1.1-8 7306-5-3 7306-5-5 7306-5.2-2 7306-5.2.1-3 7306-5.2.1-10 7306-5.2.1-16 7306-5.2.2-1 7306-5.2.2-2 7306-5.2.2-3 7306-4.1-1 7306-4.1-2 7306-4.1-3 7306-4.1-5 7306-4.1-7 7306-4.2-1 7306-1.1-1 7306-D-1",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(5), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 46 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_NO_WC },
		},
	},
	{
		.name = "atomic-swap", .ids = "7306-5.1.2-1 7306-5.1.2-3 7306-5-3 7306-5.2.1-3 7306-1.1-1",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, SWAP(41, 5), .at = KWT_RW, .off = RW_OFF, .hit = true,
			  .word = 5 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_NO_WC },
		},
	},
	{
		.name = "atomic-swap-differs", .ids = "7306-5.1.2-1 7306-5.1.2-3",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, SWAP(42, 5), .at = KWT_RW, .off = RW_OFF },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-add-nothing", .ids = "7306-1.1-5",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(0), .at = KWT_RW, .off = RW_OFF },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-add-vectors", .ids = "7306-5.1.1-1 7306-5.1.1-6 7306-5.1.1-8",
		.run = add_vectors,
	},
	{
		.name = "atomic-swap-vectors", .ids = "7306-5.1.2-1 7306-5.1.2-2 7306-5.1.2-3",
		.run = swap_vectors,
	},
	{
		.name = "atomic-random-vectors", .ids = "7306-5.1.1-1 7306-5.1.2-1 7306-5.1.2-2",
		.plain = true, .run = random_vectors,
	},
	{
		.name = "atomic-ends", .ids = "7306-5.2.1-5",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_PUT, .at = KWT_RW, .off = RW_LAST, .word = 7 },
			{ RP_PUT, .at = KWT_RW, .off = RW_PAGE_END, .word = 9 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_LAST, .hit = true, .word = 8 },
			{ RP_GET, RESP, .word = 7 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_PAGE_END, .hit = true,
			  .word = 10 },
			{ RP_GET, RESP, .word = 9 },
		},
	},
	{
		.name = "atomic-iova", .ids = "7306-5.2.1-5 7306-5.2.1-6",
		.steps = {
			{ RP_PUT, .at = KWT_IOVA, .off = IOVA_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_IOVA, .off = IOVA_OFF, .hit = true,
			  .word = 42 },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-reserved-bits", .ids = "7306-5.2.1-2 7306-4.1-7",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42,
			  .aop_rsvd = 0xfffffff, .rsvd = 0xf, .rdmap_rsvd = 3 },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-junk-stag", .ids = "7306-4.1-4",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42,
			  .inv = KWT_RW },
			{ RP_GET, RESP, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 43,
			  .inv_x = ~0u },
			{ RP_GET, RESP, .word = 42 },
		},
	},
	{
		.name = "atomic-add-junk-compare", .ids = "7306-5.2.1-7",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, .op = KWRAW_ATOMIC_REQ, .data = 1, .compare = 99,
			  .compare_mask = 0x1234, .at = KWT_RW, .off = RW_OFF, .hit = true,
			  .word = 42 },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-ids", .ids = "7306-5.2.1-4 7306-5.2.2-1",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(0), .at = KWT_RW, .off = RW_OFF, .id_x = RP_ATOMIC_ID },
			{ RP_GET, RESP, .word = 41 },
			{ RP_SEG, ADD(0), .at = KWT_RW, .off = RW_OFF, .id_x = ~RP_ATOMIC_ID },
			{ RP_GET, RESP, .word = 41 },
			{ RP_SEG, ADD(0), .at = KWT_RW, .off = RW_OFF, .id_x = 0xa5a5a5a5 },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-takes-no-receive", .ids = "7306-5.2.1-11",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(0), .at = KWT_RW, .off = RW_OFF },
			{ RP_GET, RESP, .word = 41 },
			{ RP_NO_WC },
			{ RP_SEND, .len = 5 },
		},
	},
	{
		.name = "atomic-no-receives", .ids = "7306-5.2.1-9 7306-5.2.1-10",
		.no_recvs = true,
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42 },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-all-at-once", .ids = "7306-5.2.1-15 7306-5.4-9 7306-5.4-10 7306-5.2.2-8 7306-7-6 7306-5.2.2-4",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, SWAP(41, 42), .at = KWT_RW, .off = RW_OFF, .hit = true,
			  .word = 42, .hold = true },
			{ RP_SEG, SWAP(42, 43), .at = KWT_RW, .off = RW_OFF, .hit = true,
			  .word = 43, .hold = true },
			{ RP_SEG, SWAP(43, 44), .at = KWT_RW, .off = RW_OFF, .hit = true,
			  .word = 44, .hold = true },
			{ RP_SEG, SWAP(44, 45), .at = KWT_RW, .off = RW_OFF, .hit = true,
			  .word = 45 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_GET, RESP, .word = 42 },
			{ RP_GET, RESP, .word = 43 },
			{ RP_GET, RESP, .word = 44 },
		},
	},
	{
		.name = "atomic-and-reads", .ids = "7306-7-5 7306-7-9 7306-5.2.2-4 7306-5.2-1 7306-5.4-9",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 500, .hold = true },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 8, .hold = true },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 43 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .len = 500 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .len = 8 },
			{ RP_GET, RESP, .word = 42 },
		},
	},
	{
		.name = "atomic-after-write", .ids = "7306-7-8 7306-5.4-4 7306-5.4-6",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .off = RW_OFF, .len = 8,
			  .hit = true, .hold = true },
			{ RP_SEG, ADD(0), .at = KWT_RW, .off = RW_OFF },
			{ RP_GET, RESP, .hit = true },
		},
	},
	{
		.name = "atomic-after-send", .ids = "7306-7-7 7306-5.4-6",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, .op = KWRAW_SEND, .len = 50, .hit = true, .hold = true },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 50 },
		},
	},
	{
		.name = "atomic-after-imm", .ids = "7306-7-3",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, .op = KWRAW_IMM, .hold = true },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "atomic-then-others", .ids = "7306-7-4 7306-5.4-5 7306-5.4-7",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 50, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_IMM, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 50, .hit = true },
			{ RP_GET, RESP, .word = 41 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .len = 50 },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = 50 },
		},
	},
	{
		.name = "atomic-two-streams", .ids = "7306-5-1 7306-5.3-1 7306-5.4-2",
		.plain = true, .recvs = { 512, 512 }, .run = two_streams,
	},
	{
		.name = "atomic-window", .ids = "7306-8.2-6 7306-5.2.1-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_BIND, .flags = IBV_ACCESS_REMOTE_ATOMIC },
			{ RP_WC, .wr = 100, .wc = IBV_WC_BIND_MW },
			{ RP_PUT, .at = KWT_WIN, .off = WIN_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_WIN, .off = WIN_OFF, .hit = true,
			  .word = 42 },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{
		.name = "atomic-window-zero-based", .ids = "7306-5.2.1-6",
		.first = rp_zero_window,
		.steps = {
			{ RP_PUT, .at = KWT_WIN, .off = WIN_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_WIN, .off = WIN_OFF, .hit = true,
			  .word = 42 },
			{ RP_GET, RESP, .word = 41 },
		},
	},
	{ .name = NULL }
};

/* --------------------------------------------------------------------- vectors */

/**
 * struct vector - operands of an atomic operation, and its result
 * @old: the word before; @stored: the word after
 * @data, @mask, @compare, @compare_mask: operands of the request
 */
struct vector {
	uint64_t old, data, mask, stored, compare, compare_mask;
};

static void one_vector(struct rp *r, unsigned int code, const struct vector *v)
{
	const struct rp_step steps[] = {
		{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = v->old },
		{ RP_SEG, .op = KWRAW_ATOMIC_REQ, .aop = code, .at = KWT_RW, .off = RW_OFF,
		  .data = v->data, .mask = v->mask, .compare = v->compare,
		  .compare_mask = v->compare_mask, .hit = true, .word = v->stored },
		{ RP_GET, .op = KWRAW_ATOMIC_RESP, .word = v->old },
		{ .what = RP_DONE },
	};

	rp_steps(r, steps);
	if (!r->failed && !rp_ctl("verify"))
		rp_fail(r, "%016llx is not what came of %016llx", (unsigned long long)v->stored,
			(unsigned long long)v->old);
}

static void all_vectors(struct rp *r, unsigned int code, const struct vector *v, size_t n)
{
	size_t i;

	if (!rp_open(r))
		return;
	for (i = 0; i < n && !r->failed; i++)
		one_vector(r, code, &v[i]);
	if (r->failed)
		kw_say("  (in vector %zu)", i);
}

static void add_vectors(struct rp *r)
{
	/* Word before, number that is added, mask, word after. */
	static const uint64_t t[][4] = {
		{ 0x0000000000000029, 0x0000000000000001, 0, 0x000000000000002a },
		{ 0xffffffffffffffff, 0x0000000000000001, 0, 0x0000000000000000 },
		{ 0x00000000ffffffff, 0x0000000000000001, 0, 0x0000000100000000 },
		{ 0x00000000ffffffff, 0x0000000000000001, 0x0000000080000000, 0 },
		{ 0x00000000ffffffff, 0x0000000000000001, 0x8000000000000000,
		  0x0000000100000000 },
		{ 0xff00ff00ff00ff00, 0x0101010101010101, 0x8080808080808080,
		  0x0001000100010001 },
		{ 0x00000001ffffffff, 0x0000000100000001, 0x8000000080000000,
		  0x0000000200000000 },
		{ 0x0000000000000005, 0xffffffffffffffff, 0, 0x0000000000000004 },
		{ 0x0000000000001234, 0x0000000000000000, 0, 0x0000000000001234 },
		{ 0x0000000000000007, 0x0000000000000009, 0x0000000000000004, 8 },
		{ 0x000000000000000f, 0x0000000000000001, 0x0000000000000008, 0 },
		{ 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, 0xffffffffffffffff, 0 },
		{ 0x0000000000000001, 0x0000000000000003, 0xffffffffffffffff, 2 },
	};
	struct vector v[ARRAY_SIZE(t)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		v[i] = (struct vector){ .old = t[i][0], .data = t[i][1], .mask = t[i][2],
					.stored = t[i][3] };
	all_vectors(r, KWRAW_FETCH_ADD, v, ARRAY_SIZE(v));
}

static void swap_vectors(struct rp *r)
{
	static const struct vector v[] = {
		{ 0x29, 0x5, ~0ULL, 0x5, 0x29, ~0ULL },
		{ 0x29, 0x5, ~0ULL, 0x29, 0x2a, ~0ULL },
		{ 0x1122334455667788, 0xdeadbeef, 0xffffffff, 0x11223344deadbeef,
		  0x1122334400000000, 0xffffffff00000000 },
		{ 0x1122334455667788, 0xdeadbeef, 0xffffffff, 0x1122334455667788,
		  0x1122334500000000, 0xffffffff00000000 },
		{ 0x1122334455667788, 0xcafebabe00000001, ~0ULL, 0xcafebabe00000001, 0, 0 },
		{ 0x1122334455667788, 0, 0, 0x1122334455667788, 0x1122334455667788, ~0ULL },
		{ 0xff, 0xffffffffffffffff, 0xf000000000000000, 0xf0000000000000ff, 0xf, 0xf },
		{ 0x8000000000000000, 0, 0x8000000000000000, 0, 0x8000000000000000,
		  0x8000000000000000 },
	};

	all_vectors(r, KWRAW_CMP_SWAP, v, ARRAY_SIZE(v));
}

/* The addition of RFC 7306 section 5.1.1, bit by bit: each bit of the mask stops the carry. */
static uint64_t add_by_bits(uint64_t a, uint64_t b, uint64_t mask)
{
	unsigned int i, sum, carry = 0;
	uint64_t result = 0;

	for (i = 0; i < 64; i++) {
		sum = (a >> i & 1) + (b >> i & 1) + carry;
		result |= (uint64_t)(sum & 1) << i;
		carry = mask >> i & 1 ? 0 : sum >> 1;
	}
	return result;
}

/* The compare and swap of RFC 7306 section 5.1.2, bit by bit. */
static uint64_t swap_by_bits(const struct vector *v)
{
	uint64_t result = v->old;
	unsigned int i;

	for (i = 0; i < 64; i++)
		if (v->compare_mask >> i & 1 && (v->compare >> i & 1) != (v->old >> i & 1))
			return v->old;
	for (i = 0; i < 64; i++)
		if (v->mask >> i & 1)
			result = (result & ~(1ULL << i)) | (v->data & 1ULL << i);
	return result;
}

static uint64_t some_mask(struct rp *r)
{
	uint64_t mask = kw_rand(&r->rng);

	return kw_one_in(&r->rng, 2) ? mask & kw_rand(&r->rng) & kw_rand(&r->rng) : mask;
}

#define RANDOM		100

static void random_vectors(struct rp *r)
{
	struct vector v;
	bool swap;
	int i;

	if (!rp_open(r))
		return;
	for (i = 0; i < RANDOM && !r->failed; i++) {
		swap = kw_one_in(&r->rng, 2);
		v = (struct vector){ .old = kw_rand(&r->rng), .data = kw_rand(&r->rng),
				     .mask = some_mask(r), .compare_mask = some_mask(r) };
		/* For half of the vectors the comparison is successful. */
		v.compare = v.old ^ (kw_one_in(&r->rng, 2) ? kw_rand(&r->rng) : ~v.compare_mask);
		v.stored = swap ? swap_by_bits(&v) : add_by_bits(v.old, v.data, v.mask);
		one_vector(r, swap ? KWRAW_CMP_SWAP : KWRAW_FETCH_ADD, &v);
	}
}

/* ------------------------------------------------------------------ two streams */

#define ROUNDS		500
#define AT_ONCE		4
#define ADDED		(2 * ROUNDS * AT_ONCE)

/* Send as many requests as the IRD allows (AT_ONCE), in one segment of TCP. */
static void add_at_once(struct rp *r)
{
	struct rp_step add = { RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF };
	int i;

	for (i = 0; i < AT_ONCE; i++) {
		add.hold = i < AT_ONCE - 1;
		rp_seg(r, &add);
	}
}

/*
 * Receive AT_ONCE Responses. No value may come twice, on the same connection or on the other one.
 * @seen: one octet for each value, not 0 if the value has come on either connection.
 */
static void take_values(struct rp *r, uint8_t *seen)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	uint64_t value;
	size_t len;
	int i;

	for (i = 0; i < AT_ONCE && !r->failed; i++) {
		if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
		    len != KWRAW_UNTAGGED_HDR + KWRAW_ATOMIC_RESP_LEN) {
			rp_fail(r, "no Atomic Response");
			return;
		}
		memcpy(&value, ulpdu + KWRAW_UNTAGGED_HDR + 4, sizeof(value));
		value = be64toh(value);
		if (value >= ADDED || seen[value]++)
			rp_fail(r, "value %llu has been there before, or is too large",
				(unsigned long long)value);
	}
}

/* Add to the same word on both connections at the same time. No addition may be lost. */
static void add_from_both(struct rp *r, struct rp *b)
{
	uint8_t seen[ADDED] = { 0 };
	int i;

	rp_one_step(r, &(struct rp_step){ RP_PUT, .at = KWT_RW, .off = RW_OFF });
	for (i = 0; i < ROUNDS && !r->failed && !b->failed; i++) {
		add_at_once(r);
		add_at_once(b);
		take_values(r, seen);
		take_values(b, seen);
	}
	rp_ctl("word %u %u", kwt_places[KWT_RW].off + RW_OFF, ADDED);
}

static void two_streams(struct rp *r)
{
	static struct rp b;

	if (!rp_open(r))
		return;
	b = (struct rp){
		.k = r->k, .role = r->role, .out = r->out, .recv = KWT_RECV_MAX,
		.c = { .fd = -1 }, .rng = r->rng,
	};
	rp_ctl("other");
	if (rp_open(&b))
		add_from_both(r, &b);
	rp_finish(&b);
	rp_ctl("other");
	r->failed |= b.failed;
}
