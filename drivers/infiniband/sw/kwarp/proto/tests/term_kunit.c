// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the error table, row by row, and of Terminate messages of all lengths. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../ddp.h"
#include "../term.h"
#include "guard.h"
#include "vectors.h"

#define ROW(e, s, m)	{ .desc = #e, .err = KWARP_PERR_##e, .ctrl = s, .mdr = m }

/*
 * @ctrl: layer, type and code as in the first two octets of the control word.  @mdr: flags M, D, R
 * (4, 2, 1) that are allowed for the error; -1: no Terminate is sent.
 */
static const struct row_case {
	const char *desc;
	enum kwarp_perr err;
	u16 ctrl;
	int mdr;
} row_cases[] = {
	ROW(NONE, 0x0000, -1),
	/* RDMAP: RFC 5040 Figures 9 and 10 */
	ROW(LOCAL, 0x0000, 0),
	ROW(R_STAG, 0x0100, 7),
	ROW(R_BOUNDS, 0x0101, 7),
	ROW(R_ACCESS, 0x0102, 7),
	ROW(R_STREAM, 0x0103, 7),
	ROW(R_WRAP, 0x0104, 7),
	ROW(R_CANNOT_INV, 0x0109, 7),
	ROW(O_VERSION, 0x0205, 6),
	ROW(O_OPCODE, 0x0206, 6),
	ROW(O_STREAM, 0x0207, 6),
	ROW(O_GLOBAL, 0x0208, 6),
	ROW(O_CANNOT_INV, 0x0209, 6),
	ROW(O_UNSPEC, 0x02ff, 6),
	/* DDP: RFC 5041 section 7.2 */
	ROW(DDP_LOCAL, 0x1000, 0),
	ROW(DDP_T_STAG, 0x1100, 6),
	ROW(DDP_T_BOUNDS, 0x1101, 6),
	ROW(DDP_T_STREAM, 0x1102, 6),
	ROW(DDP_T_WRAP, 0x1103, 6),
	ROW(DDP_T_VERSION, 0x1104, 6),
	ROW(DDP_U_QN, 0x1201, 6),
	ROW(DDP_U_NOBUF, 0x1202, 6),
	ROW(DDP_U_MSN, 0x1203, 6),
	ROW(DDP_U_MO, 0x1204, 6),
	ROW(DDP_U_LONG, 0x1205, 6),
	ROW(DDP_U_VERSION, 0x1206, 6),
	/* MPA: RFC 5044 section 8, RFC 6581 section 8 */
	ROW(MPA_LOST, 0x2001, -1),
	ROW(MPA_CRC, 0x2002, 0),
	ROW(MPA_MARKER, 0x2003, 0),
	ROW(MPA_FRAME, 0x2004, -1),
	ROW(MPA_LOCAL, 0x2005, 0),
	ROW(MPA_IRD, 0x2006, 0),
	ROW(MPA_RTR, 0x2007, 0),
};

KUNIT_ARRAY_PARAM_DESC(row, row_cases, desc);

static const u8 tagged_hdr[KWARP_DDP_TAGGED_LEN] = {
	0xc1, 0x40, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00, 0x10, 0x00,
};

static const u8 rreq_hdr[KWARP_DDP_UNTAGGED_LEN] = {
	0x41, 0x41, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
};

static const u8 rreq[KWARP_RDMAP_RREQ_LEN] = { 0x00, 0x00, 0x22, 0x00, 1, 2, 3, 4, 5 };

/* @given: flags M, D, R (4, 2, 1) that the headers make possible */
static void expect_fill(struct kunit *test, const struct row_case *c,
			const u8 *ddp_hdr, const u8 *req, int given)
{
	int mdr = max(c->mdr, 0) & given;
	u32 hdr_len = ddp_hdr ? kwarp_ddp_hdr_len(ddp_hdr[0]) : 0;
	u8 wire[KWARP_TERM_MAX_LEN];
	struct kwarp_term term;
	u32 len, want = 4;

	kwarp_term_fill(&term, c->err, ddp_hdr, 46, req);
	len = kwarp_term_encode(wire, &term);
	KUNIT_EXPECT_EQ(test, wire[0] << 8 | wire[1], c->ctrl);
	KUNIT_EXPECT_EQ(test, wire[2], mdr << 5);	/* M, D, R; others zero: 5040-4.8-12 */
	KUNIT_EXPECT_EQ(test, wire[3], 0);
	if (mdr & 2) {
		KUNIT_EXPECT_EQ(test, get_unaligned_be16(wire + 4), 46);
		KUNIT_EXPECT_MEMEQ(test, wire + 6, ddp_hdr, hdr_len);
		want += 2 + hdr_len;
	}
	if (mdr & 1) {
		KUNIT_EXPECT_MEMEQ(test, wire + want, req, sizeof(rreq));
		want += sizeof(rreq);
	}
	KUNIT_EXPECT_EQ(test, len, want);
	KUNIT_EXPECT_EQ(test, kwarp_term_short(&term), c->ctrl);
}

static void test_row(struct kunit *test)
{
	const struct row_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, kwarp_term_wanted(c->err), c->mdr >= 0);
	KUNIT_EXPECT_STREQ(test, kwarp_perr_name(c->err), c->desc);
	KUNIT_EXPECT_EQ(test, kwarp_perr_short(c->err), c->ctrl);
	expect_fill(test, c, NULL, NULL, 0);
	expect_fill(test, c, NULL, rreq, 0);
	expect_fill(test, c, tagged_hdr, NULL, 6);
	expect_fill(test, c, rreq_hdr, NULL, 6);
	expect_fill(test, c, rreq_hdr, rreq, 7);
}

static void test_rows_complete(struct kunit *test)
{
	u32 i;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(row_cases), KWARP_PERR_COUNT);
	for (i = 0; i < ARRAY_SIZE(row_cases); i++)
		KUNIT_EXPECT_EQ(test, row_cases[i].err, i);
	/* values beyond the table are treated as NONE */
	KUNIT_EXPECT_FALSE(test, kwarp_term_wanted(KWARP_PERR_COUNT));
	KUNIT_EXPECT_FALSE(test, kwarp_term_wanted(-1));
	KUNIT_EXPECT_NOT_NULL(test, kwarp_perr_name(KWARP_PERR_COUNT));
	KUNIT_EXPECT_EQ(test, kwarp_perr_short(KWARP_PERR_COUNT), 0);
}

KUNIT_ARRAY_PARAM_DESC(vec, kwarp_vec_terms, desc);

static void test_vector(struct kunit *test)
{
	const struct kwarp_vec_term *v = test->param_value;
	u8 out[KWARP_TERM_MAX_LEN];
	struct kwarp_term term;

	KUNIT_ASSERT_TRUE(test, kwarp_term_decode(v->wire, v->len, &term));
	KUNIT_EXPECT_EQ(test, kwarp_term_short(&term), get_unaligned_be16(v->wire));
	KUNIT_EXPECT_EQ(test, term.seg_len_valid, v->wire[2] >> 7);
	KUNIT_EXPECT_EQ(test, term.has_ddp, v->wire[2] >> 6 & 1);
	KUNIT_EXPECT_EQ(test, term.has_rdmap, v->wire[2] >> 5 & 1);
	if (term.has_ddp)
		KUNIT_EXPECT_EQ(test, term.seg_len, get_unaligned_be16(v->wire + 4));
	KUNIT_EXPECT_EQ(test, kwarp_term_encode(out, &term), v->len);
	KUNIT_EXPECT_MEMEQ(test, out, v->wire, v->len);
}

/* A message that is too short is refused, but layer, type and code are decoded if present. */
static void test_truncated(struct kunit *test)
{
	const struct kwarp_vec_term *v = test->param_value;
	u8 *end = kwarp_guard_end(test, v->len);
	struct kwarp_term term;
	u32 len;

	for (len = 0; len < v->len; len++) {
		KUNIT_EXPECT_FALSE(test, kwarp_term_decode(kwarp_guard_put(end, v->wire, len),
							   len, &term));
		KUNIT_EXPECT_EQ(test, kwarp_term_short(&term),
				len < 4 ? 0 : get_unaligned_be16(v->wire));
	}
}

/* Reserved bits (5040-4.8-13), and octets that no flag announces (RFC 5040 section 7.1) */
static void test_ignored(struct kunit *test)
{
	const struct kwarp_vec_term *v = test->param_value;
	u8 in[KWARP_TERM_MAX_LEN + 8] = {}, out[KWARP_TERM_MAX_LEN];
	struct kwarp_term term;

	memcpy(in, v->wire, v->len);
	in[2] |= 0x1f;
	in[3] = 0xff;
	KUNIT_ASSERT_TRUE(test, kwarp_term_decode(in, v->len + 8, &term));
	KUNIT_EXPECT_EQ(test, kwarp_term_encode(out, &term), v->len);
	KUNIT_EXPECT_MEMEQ(test, out, v->wire, v->len);
}

/* Some peers set R in a Terminate for a Send with Invalidate, but attach no Read Request header. */
static void test_r_without_header(struct kunit *test)
{
	u8 wire[sizeof(kwarp_wire_term_inv)];
	struct kwarp_term term;

	memcpy(wire, kwarp_wire_term_inv, sizeof(wire));
	wire[2] |= 0x20;
	KUNIT_EXPECT_FALSE(test, kwarp_term_decode(wire, sizeof(wire), &term));
	KUNIT_EXPECT_EQ(test, kwarp_term_short(&term), 0x0109);
	KUNIT_EXPECT_TRUE(test, term.has_ddp);
	KUNIT_EXPECT_FALSE(test, term.has_rdmap);
}

static void test_random(struct kunit *test)
{
	u8 in[KWARP_TERM_MAX_LEN], out[KWARP_TERM_MAX_LEN];
	u8 *end = kwarp_guard_end(test, sizeof(in));
	struct kwarp_term term;
	struct rnd_state rnd;
	u32 i, len, used;

	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 20000; i++) {
		len = prandom_u32_state(&rnd) % (sizeof(in) + 1);
		prandom_bytes_state(&rnd, in, len);
		if (!kwarp_term_decode(kwarp_guard_put(end, in, len), len, &term))
			continue;
		used = kwarp_term_encode(out, &term);
		KUNIT_ASSERT_LE(test, used, len);
		KUNIT_ASSERT_MEMEQ(test, out, in, 2);
		if (used > 4)
			KUNIT_ASSERT_MEMEQ(test, out + 4, in + 4, used - 4);
	}
}

static struct kunit_case term_cases[] = {
	KUNIT_CASE_PARAM(test_row, row_gen_params),
	KUNIT_CASE(test_rows_complete),
	KUNIT_CASE_PARAM(test_vector, vec_gen_params),
	KUNIT_CASE_PARAM(test_truncated, vec_gen_params),
	KUNIT_CASE_PARAM(test_ignored, vec_gen_params),
	KUNIT_CASE(test_r_without_header),
	KUNIT_CASE(test_random),
	{}
};

static struct kunit_suite term_suite = {
	.name = "kwarp_term",
	.test_cases = term_cases,
};

kunit_test_suite(term_suite);
