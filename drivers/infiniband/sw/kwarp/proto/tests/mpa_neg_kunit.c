// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of MPA startup negotiation: CRCs, markers, IRD, ORD, revisions and rejects, as in the
 * tables of RFC 5044 and RFC 6581. The tests of the RTR are in mpa_rtr_kunit.c.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "mpa_neg_fixture.h"
#include "vectors.h"

/* ---------------------------------------------------------- CRC, markers */

static const char * const crc_names[] = { "off", "on", "required" };

static const void *mc_gen_params(const void *prev, char *desc)
{
	static struct setup setups[2 * 2 * 2 * 3 * 3];
	u32 i = prev ? (const struct setup *)prev - setups + 1 : 0;
	struct setup *s = &setups[i];

	if (i >= ARRAY_SIZE(setups))
		return NULL;
	memset(s, 0, sizeof(*s));
	s->i = plain;
	s->r = plain;
	s->i.rev = 1 + i % 2;
	s->i.markers = i / 2 % 2;
	s->r.markers = i / 4 % 2;
	s->i.crc = i / 8 % 3;
	s->r.crc = i / 24;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "rev %u M %u/%u C %s/%s", s->i.rev, s->i.markers,
		 s->r.markers, crc_names[s->i.crc], crc_names[s->r.crc]);
	return s;
}

/* RFC 5044 section 7.1.1: a side sends markers if the peer's M is set; CRCs if either side asks. */
static void test_crc_markers(struct kunit *test)
{
	struct setup s = *(const struct setup *)test->param_value;
	bool crc = s.i.crc || s.r.crc;

	run_setup(test, &s);
	KUNIT_EXPECT_EQ(test, s.req.crc, s.i.crc != KWARP_CRC_OFF);
	KUNIT_EXPECT_EQ(test, s.req.markers, s.i.markers);
	KUNIT_EXPECT_EQ(test, s.rep.rev, s.i.rev);
	if (s.r.crc == KWARP_CRC_REQUIRED && s.i.crc == KWARP_CRC_OFF) {
		KUNIT_EXPECT_EQ(test, s.rerr, KWARP_PERR_MPA_FRAME);
		KUNIT_EXPECT_TRUE(test, s.rep.reject);
		return;
	}
	KUNIT_EXPECT_EQ(test, s.rerr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, s.ierr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, s.rres.crc, crc);
	KUNIT_EXPECT_EQ(test, s.ires.crc, crc);
	KUNIT_EXPECT_EQ(test, s.ires.tx_markers, s.r.markers);
	KUNIT_EXPECT_EQ(test, s.ires.rx_markers, s.i.markers);
	KUNIT_EXPECT_EQ(test, s.rres.tx_markers, s.i.markers);
	KUNIT_EXPECT_EQ(test, s.rres.rx_markers, s.r.markers);
}

static void test_foreign_reply(struct kunit *test)
{
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_frame req, rep = { .reply = true, .rev = 1 };
	struct kwarp_mpa_result res;
	u32 i;

	p.rev = 1;
	for (i = 0; i < 16; i++) {
		p.markers = i & 8;
		p.crc = i & 4 ? KWARP_CRC_ON : KWARP_CRC_OFF;
		rep.markers = i & 2;
		rep.crc = i & 1;
		kwarp_mpa_request(&p, 0, &req);
		KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&p, &req, &rep, &res), 0);
		KUNIT_EXPECT_EQ(test, res.tx_markers, rep.markers);
		KUNIT_EXPECT_EQ(test, res.rx_markers, p.markers);
		KUNIT_EXPECT_EQ(test, res.crc, !!(i & 5));
		KUNIT_EXPECT_EQ(test, res.rtr, 0);
	}
	p.crc = KWARP_CRC_REQUIRED;
	kwarp_mpa_request(&p, 0, &req);
	rep.crc = false;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&p, &req, &rep, &res), KWARP_PERR_MPA_FRAME);
	rep.crc = true;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&p, &req, &rep, &res), KWARP_PERR_NONE);
}

/* --------------------------------------------------------------- IRD, ORD */

/* RFC 6581 section 9.1. The IRD of the Responder's ULP is always 16. */
static const struct depth_case {
	const char *desc;
	u16 i_ird, i_ord;
	u8 rtr;			/* 0: client-server mode, which has no RTR */
	u16 r_max, r_ord;
	u16 rep_ird, rep_ord;
	u16 fin_i_ird, fin_i_ord;
	u16 fin_r_ird, fin_r_ord;
} depth_cases[] = {
	{ "fits", 16, 8, 0, 32, 4, 8, 4, 16, 8, 8, 4 },
	{ "Responder's ORD comes down", 16, 8, 0, 32, 64, 8, 16, 16, 8, 8, 16 },
	{ "Initiator's ORD comes down", 16, 64, 0, 32, 4, 32, 4, 16, 32, 32, 4 },
	{ "no Reads at all", 0, 0, 0, 32, 4, 0, 0, 0, 0, 0, 0 },
	{ "no Reads, but a Read RTR", 0, 0, D, 32, 4, 1, 0, 0, 1, 1, 0 },
	{ "no Reads, Write RTR", 0, 0, C | D, 32, 4, 0, 0, 0, 0, 0, 0 },
	{ "IRD left to the ULP", NV, 8, 0, 32, 4, 8, NV, NV, 8, 8, 4 },
	{ "ORD left to the ULP", 16, NV, 0, 32, 4, NV, 4, 16, NV, 16, 4 },
	{ "both left to the ULP", NV, NV, 0, 32, 4, NV, NV, NV, NV, 16, 4 },
	{ "equal", 16, 16, 0, 16, 16, 16, 16, 16, 16, 16, 16 },
	{ "one", 1, 1, D, 32, 1, 1, 1, 1, 1, 1, 1 },
	{ "most the field can say", 0x3ffe, 0x3ffe, 0, 128, 128, 128, 128, 0x3ffe, 128, 128, 128 },
	{ "256 is not 0", 256, 256, 0, 256, 256, 256, 256, 256, 256, 256, 256 },
	{ "Responder can do none", 16, 8, 0, 0, 0, 0, 0, 16, 0, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(depth, depth_cases, desc);

static void test_depth(struct kunit *test)
{
	const struct depth_case *c = test->param_value;
	struct setup s = { .i = plain, .r = plain };

	s.i.ird = c->i_ird;
	s.i.ord = c->i_ord;
	s.i.max_ird = 0x3ffe;
	s.i.p2p = c->rtr;
	s.i.rtr = c->rtr;
	s.r.max_ird = c->r_max;
	s.r.ord = c->r_ord;
	run_setup(test, &s);
	KUNIT_EXPECT_EQ(test, s.rerr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, s.ierr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, s.req.ird, c->i_ird);
	KUNIT_EXPECT_EQ(test, s.req.ord, c->i_ord);
	KUNIT_EXPECT_EQ(test, s.rep.ird, c->rep_ird);
	KUNIT_EXPECT_EQ(test, s.rep.ord, c->rep_ord);
	KUNIT_EXPECT_EQ(test, s.ires.ird, c->fin_i_ird);
	KUNIT_EXPECT_EQ(test, s.ires.ord, c->fin_i_ord);
	KUNIT_EXPECT_EQ(test, s.rres.ird, c->fin_r_ird);
	KUNIT_EXPECT_EQ(test, s.rres.ord, c->fin_r_ord);
}

/* The Initiator's own IRD and ORD are 16, its max_ird is 32. */
static const struct reply_case {
	const char *desc;
	u16 ird, ord;
	enum kwarp_perr err;
	u16 fin_ird, fin_ord;
} reply_cases[] = {
	{ "as asked", 16, 16, KWARP_PERR_NONE, 16, 16 },
	{ "less of both", 2, 4, KWARP_PERR_NONE, 16, 2 },
	{ "none", 0, 0, KWARP_PERR_NONE, 16, 0 },
	{ "more IRD than needed", 64, 16, KWARP_PERR_NONE, 16, 16 },
	{ "more ORD, can do", 16, 20, KWARP_PERR_NONE, 20, 16 },
	{ "more ORD, just can do", 16, 32, KWARP_PERR_NONE, 32, 16 },
	{ "more ORD, cannot", 16, 33, KWARP_PERR_MPA_IRD, 16, 16 },
	{ "most ORD", 16, 0x3ffe, KWARP_PERR_MPA_IRD, 16, 16 },
	{ "IRD left to the ULP", NV, 16, KWARP_PERR_NONE, 16, 16 },
	{ "ORD left to the ULP", 4, NV, KWARP_PERR_NONE, 16, 4 },
	{ "both left to the ULP", NV, NV, KWARP_PERR_NONE, 16, 16 },
};

KUNIT_ARRAY_PARAM_DESC(reply, reply_cases, desc);

static void test_reply_depth(struct kunit *test)
{
	const struct reply_case *c = test->param_value;
	struct kwarp_mpa_frame rep = {
		.reply = true, .rev = 2, .enhanced = true, .crc = true,
		.ird = c->ird, .ord = c->ord,
	};
	struct kwarp_mpa_result res;
	struct kwarp_mpa_frame req;

	kwarp_mpa_request(&plain, 0, &req);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&plain, &req, &rep, &res), c->err);
	KUNIT_EXPECT_EQ(test, res.ird, c->fin_ird);
	KUNIT_EXPECT_EQ(test, res.ord, c->fin_ord);
	KUNIT_EXPECT_TRUE(test, res.crc);	/* after an error, too: a Terminate has a CRC */
}

/* No end may have more Reads under way than its peer serves (6581-9.1-3, -7, -11). */
static void test_depth_invariants(struct kunit *test)
{
	struct setup s = { .i = plain, .r = plain };
	struct rnd_state rnd;
	u32 i;

	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 5000; i++) {
		s.i.ird = i < 1681 ? i % 41 : prandom_u32_state(&rnd);
		s.i.ord = i < 1681 ? i / 41 : prandom_u32_state(&rnd);
		s.i.max_ird = i < 1681 ? 40 : prandom_u32_state(&rnd);
		s.r.ird = prandom_u32_state(&rnd);
		s.r.ord = i < 1681 ? 32 : prandom_u32_state(&rnd);
		s.r.max_ird = i < 1681 ? 32 : prandom_u32_state(&rnd);
		if (s.i.ird == NV || s.i.ord == NV)
			continue;
		run_setup(test, &s);
		KUNIT_ASSERT_EQ(test, s.ierr, KWARP_PERR_NONE);
		KUNIT_ASSERT_LE(test, s.rres.ord, s.ires.ird);
		KUNIT_ASSERT_LE(test, s.ires.ord, s.rres.ird);
		KUNIT_ASSERT_LE(test, s.ires.ird, s.i.max_ird);
		KUNIT_ASSERT_LE(test, s.rres.ird, s.r.max_ird);
		KUNIT_ASSERT_LE(test, s.rres.ord, s.r.ord);
	}
}

/* 6581-10-3, RFC 6581 section 6: without enhanced data the ULP's IRD and ORD are used. */
static void test_depth_unenhanced(struct kunit *test)
{
	struct setup s = { .i = plain, .r = plain };

	s.i.rev = 1;
	s.i.ird = 7;
	s.i.ord = 40;
	s.r.ird = 50;
	s.r.ord = 3;
	run_setup(test, &s);
	KUNIT_EXPECT_FALSE(test, s.req.enhanced);
	KUNIT_EXPECT_EQ(test, s.rep.rev, 1);
	KUNIT_EXPECT_EQ(test, s.ires.ird, 7);
	KUNIT_EXPECT_EQ(test, s.ires.ord, 40);
	KUNIT_EXPECT_EQ(test, s.rres.ird, 32);	/* limited to max_ird */
	KUNIT_EXPECT_EQ(test, s.rres.ord, 3);
}

/* ---------------------------------------------------- revisions, rejects */

/* RFC 6581 sections 6 and 10 */
static const struct rev_case {
	const char *desc;
	u8 asked;
	u8 rev;
	bool s;
	enum kwarp_perr err;
} rev_cases[] = {
	{ "asked 2, rev 2 S=1", 2, 2, true, KWARP_PERR_NONE },
	{ "asked 2, rev 2 S=0", 2, 2, false, KWARP_PERR_MPA_FRAME },
	{ "asked 2, rev 1", 2, 1, false, KWARP_PERR_MPA_FRAME },
	{ "asked 2, rev 1 S=1", 2, 1, true, KWARP_PERR_MPA_FRAME },
	{ "asked 1, rev 1", 1, 1, false, KWARP_PERR_NONE },
	{ "asked 1, rev 1 S=1", 1, 1, true, KWARP_PERR_NONE },
	{ "asked 1, rev 2 S=0", 1, 2, false, KWARP_PERR_NONE },
	{ "asked 1, rev 2 S=1", 1, 2, true, KWARP_PERR_MPA_FRAME },
};

KUNIT_ARRAY_PARAM_DESC(rev, rev_cases, desc);

static void test_reply_rev(struct kunit *test)
{
	const struct rev_case *c = test->param_value;
	u8 wire[sizeof(kwarp_wire_rep_enh)];
	struct kwarp_mpa_frame req, rep;
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_result res;
	const u8 *pdata;

	p.rev = c->asked;
	kwarp_mpa_request(&p, 0, &req);
	memcpy(wire, kwarp_wire_rep_enh, sizeof(wire));
	wire[16] = c->s ? 0x50 : 0x40;
	wire[17] = c->rev;
	KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(wire, sizeof(wire), true, &rep, &pdata), 0);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&p, &req, &rep, &res), c->err);
}

/* 6581-10-6, -7: a rejecting Reply, too, has the same S, Rev and A as the Request. */
static void check_reject(struct kunit *test, const struct kwarp_vec_frame *v)
{
	struct kwarp_mpa_frame req, rep;
	struct kwarp_mpa_result res;
	u8 wire[KWARP_MPA_MAX_HDR];
	const u8 *pdata;

	KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(v->wire, v->len, false, &req, &pdata), 0);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_respond(&plain, &req, false, 2, &rep, &res), 0);
	KUNIT_EXPECT_TRUE(test, rep.reply && rep.reject);
	KUNIT_EXPECT_EQ(test, rep.enhanced, req.enhanced);
	KUNIT_EXPECT_EQ(test, rep.rev, req.rev);
	KUNIT_EXPECT_EQ(test, rep.p2p, req.p2p);
	KUNIT_EXPECT_EQ(test, rep.pdata_len, 2);
	kwarp_mpa_frame_encode(wire, &rep);
	KUNIT_EXPECT_EQ(test, wire[16] & 0x20, 0x20);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(wire + 18), req.enhanced ? 6 : 2);
}

static void test_reject(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kwarp_vec_frames); i++)
		if (!kwarp_vec_frames[i].reply)
			check_reject(test, &kwarp_vec_frames[i]);
}

/* The ULP accepts, but the Responder refuses because of the CRC policy. */
static void test_crc_refused(struct kunit *test)
{
	struct kwarp_mpa_frame rep, req = { .rev = 2, .enhanced = true };
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_result res;

	p.crc = KWARP_CRC_REQUIRED;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_respond(&p, &req, true, 100, &rep, &res),
			KWARP_PERR_MPA_FRAME);
	KUNIT_EXPECT_TRUE(test, rep.reject && rep.crc && rep.enhanced);
	KUNIT_EXPECT_EQ(test, rep.pdata_len, 0);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_respond(&p, &req, false, 100, &rep, &res), 0);
	KUNIT_EXPECT_EQ(test, rep.pdata_len, 100);
}

static void test_golden_setup(struct kunit *test)
{
	struct kwarp_mpa_params i = plain, r = plain;
	struct kwarp_mpa_frame req, rep;
	struct kwarp_mpa_result res;
	u8 wire[KWARP_MPA_MAX_HDR];

	i.p2p = true;
	i.rtr = C | D;
	i.ird = 16;
	i.ord = 8;
	kwarp_mpa_request(&i, 5, &req);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_encode(wire, &req), 24);
	KUNIT_EXPECT_MEMEQ(test, wire, kwarp_wire_req_enh, 24);
	r.ord = 64;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_respond(&r, &req, true, 0, &rep, &res), 0);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_encode(wire, &rep), 24);
	KUNIT_EXPECT_MEMEQ(test, wire, kwarp_wire_rep_enh, 24);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&i, &req, &rep, &res), 0);
	KUNIT_EXPECT_EQ(test, res.rtr, C);
	/* enhanced data takes four octets of the private data: 6581-9-2 */
	KUNIT_EXPECT_EQ(test, kwarp_mpa_max_pdata(true), 508);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_max_pdata(false), 512);
}

static struct kunit_case mpa_neg_cases[] = {
	KUNIT_CASE_PARAM(test_crc_markers, mc_gen_params),
	KUNIT_CASE(test_foreign_reply),
	KUNIT_CASE_PARAM(test_depth, depth_gen_params),
	KUNIT_CASE_PARAM(test_reply_depth, reply_gen_params),
	KUNIT_CASE(test_depth_invariants),
	KUNIT_CASE(test_depth_unenhanced),
	KUNIT_CASE_PARAM(test_reply_rev, rev_gen_params),
	KUNIT_CASE(test_reject),
	KUNIT_CASE(test_crc_refused),
	KUNIT_CASE(test_golden_setup),
	{}
};

static struct kunit_suite mpa_neg_suite = {
	.name = "kwarp_mpa_neg",
	.test_cases = mpa_neg_cases,
};

kunit_test_suite(mpa_neg_suite);
