// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of MPA startup negotiation: which RTR message the Initiator sends (RFC 6581), and whether
 * connections are client-server or peer-to-peer.
 */
#include "mpa_neg_fixture.h"

static const void *rtr_gen_params(const void *prev, char *desc)
{
	static struct { u8 req, own; } sets[64];
	u32 i = prev ? (typeof(sets[0]) *)prev - sets + 1 : 0;

	if (i >= ARRAY_SIZE(sets))
		return NULL;
	sets[i].req = i / 8;
	sets[i].own = i % 8;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "asked %u%u%u can %u%u%u", !!(i / 8 & B),
		 !!(i / 8 & C), !!(i / 8 & D), !!(i & B), !!(i & C), !!(i & D));
	return &sets[i];
}

static u8 best_form(u8 set)
{
	return set & C ? C : set & D ? D : set & B;
}

/* 6581-9.2-8, -11, -13, -14, -15: kwarp's Reply has one RTR flag, the Initiator uses that form. */
static void test_rtr(struct kunit *test)
{
	const u8 *set = test->param_value;
	u8 own = set[1] ? set[1] : C;	/* 6581-9.2-7: at least one form, here Write */
	struct kwarp_mpa_frame req = {
		.rev = 2, .enhanced = true, .crc = true, .p2p = true, .rtr = set[0],
		.ird = 16, .ord = 16,
	};
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_result res;
	struct kwarp_mpa_frame rep;
	u8 want = best_form(req.rtr & own ? req.rtr & own : own);

	p.rtr = set[1];
	KUNIT_EXPECT_EQ(test, kwarp_mpa_respond(&p, &req, true, 0, &rep, &res), 0);
	KUNIT_EXPECT_TRUE(test, rep.p2p);
	KUNIT_EXPECT_EQ(test, rep.rtr, want);
	KUNIT_EXPECT_EQ(test, res.rtr, want);

	/* if a Reply has several flags, the Initiator uses the best form that it offered */
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&plain, &req, &rep, &res),
			req.rtr & want ? KWARP_PERR_NONE : KWARP_PERR_MPA_RTR);
	KUNIT_EXPECT_EQ(test, res.rtr, req.rtr & want);
	rep.rtr = set[1];
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&plain, &req, &rep, &res),
			req.rtr & set[1] ? KWARP_PERR_NONE : KWARP_PERR_MPA_RTR);
	KUNIT_EXPECT_EQ(test, res.rtr, best_form(req.rtr & set[1]));
}

/* Client-server mode has no RTR: 6581-9.2-18 to -21. */
static void test_client_server(struct kunit *test)
{
	struct setup s = { .i = plain, .r = plain };

	run_setup(test, &s);
	KUNIT_EXPECT_FALSE(test, s.req.p2p);
	KUNIT_EXPECT_FALSE(test, s.rep.p2p);
	KUNIT_EXPECT_EQ(test, s.req.rtr | s.rep.rtr | s.ires.rtr | s.rres.rtr, 0);

	/* RTR flags without A are ignored, in Request and Reply */
	s.req.rtr = B | C | D;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_respond(&s.r, &s.req, true, 0, &s.rep, &s.rres), 0);
	KUNIT_EXPECT_EQ(test, s.rep.p2p || s.rep.rtr || s.rres.rtr, 0);
	s.rep.rtr = B | C | D;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&s.i, &s.req, &s.rep, &s.ires), 0);
	KUNIT_EXPECT_EQ(test, s.ires.rtr, 0);
	/* A in a Reply to a Request with A=0 is ignored, too */
	s.rep.p2p = true;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&s.i, &s.req, &s.rep, &s.ires), 0);
	KUNIT_EXPECT_EQ(test, s.ires.rtr, 0);
}

static void test_rtr_request(struct kunit *test)
{
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_frame req;

	p.p2p = true;
	p.rtr = C | D;
	kwarp_mpa_request(&p, 0, &req);		/* A, C and D: 6581-9.2-5, -6 */
	KUNIT_EXPECT_TRUE(test, req.p2p);
	KUNIT_EXPECT_EQ(test, req.rtr, C | D);
	p.rtr = 0;				/* this side can send no form */
	kwarp_mpa_request(&p, 0, &req);
	KUNIT_EXPECT_FALSE(test, req.p2p);
	p.rtr = C | D;
	p.rev = 1;				/* no enhanced data in revision 1: 6581-10-4 */
	kwarp_mpa_request(&p, 0, &req);
	KUNIT_EXPECT_FALSE(test, req.p2p || req.enhanced || req.rtr || req.ird || req.ord);
}

/* The peer breaks 6581-9.2-8: its Reply has A=0 although the Request had A=1. */
static void test_rtr_denied(struct kunit *test)
{
	struct kwarp_mpa_frame req, rep = {
		.reply = true, .rev = 2, .enhanced = true, .rtr = C, .ird = 16, .ord = 16,
	};
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_result res;

	p.p2p = true;
	kwarp_mpa_request(&p, 0, &req);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&p, &req, &rep, &res), KWARP_PERR_MPA_LOCAL);
	/* an ORD above max_ird is reported first: IRD and ORD come before RTR: 6581-9.3-2 */
	rep.ord = 100;
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&p, &req, &rep, &res), KWARP_PERR_MPA_IRD);
}

/*
 * 6581-9.2-23: a Read as RTR needs an IRD of at least 1 at the Responder; for such a Read the
 * Initiator's ORD of 0 becomes 1. In the names, "slot" is one IRD or ORD, "here" is the Initiator,
 * "there" is the Responder.
 */
static const struct slot_case {
	const char *desc;
	u16 ord;
	u16 rep_ird;
	u8 forms;
	enum kwarp_perr err;
	u8 rtr;
	u16 fin_ord;
} slot_cases[] = {
	{ "slot at both", 4, 4, D, KWARP_PERR_NONE, D, 4 },
	{ "none here, one there", 0, 1, D, KWARP_PERR_NONE, D, 1 },
	{ "none there", 4, 0, D, KWARP_PERR_MPA_RTR, 0, 0 },
	{ "none there, but a Send", 4, 0, B | D, KWARP_PERR_NONE, B, 0 },
	{ "none here, not known there", 0, NV, D, KWARP_PERR_MPA_RTR, 0, 0 },
	{ "some here, not known there", 2, NV, D, KWARP_PERR_NONE, D, 2 },
	{ "none, but a Write", 0, 0, C | D, KWARP_PERR_NONE, C, 0 },
};

KUNIT_ARRAY_PARAM_DESC(slot, slot_cases, desc);

static void test_rtr_slot(struct kunit *test)
{
	const struct slot_case *c = test->param_value;
	struct kwarp_mpa_frame req, rep = {
		.reply = true, .rev = 2, .enhanced = true, .p2p = true, .rtr = c->forms,
		.ird = c->rep_ird, .ord = 4,
	};
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_result res;

	p.p2p = true;
	p.ord = c->ord;
	kwarp_mpa_request(&p, 0, &req);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_conclude(&p, &req, &rep, &res), c->err);
	KUNIT_EXPECT_EQ(test, res.rtr, c->rtr);
	KUNIT_EXPECT_EQ(test, res.ord, c->fin_ord);
}

/* The Responder does not offer a Read as RTR if its IRD is 0. */
static void test_rtr_no_slot(struct kunit *test)
{
	struct kwarp_mpa_frame rep, req = {
		.rev = 2, .enhanced = true, .p2p = true, .rtr = B | D, .ord = 4,
	};
	struct kwarp_mpa_params p = plain;
	struct kwarp_mpa_result res;

	p.max_ird = 0;
	kwarp_mpa_respond(&p, &req, true, 0, &rep, &res);
	KUNIT_EXPECT_EQ(test, rep.rtr, B);
	p = plain;
	p.ird = 0;
	req.ord = NV;
	kwarp_mpa_respond(&p, &req, true, 0, &rep, &res);
	KUNIT_EXPECT_EQ(test, rep.rtr, B);
	KUNIT_EXPECT_EQ(test, res.ird, 0);	/* IRD is not negotiated: 6581-9.1-17 */
}

static struct kunit_case mpa_rtr_cases[] = {
	KUNIT_CASE_PARAM(test_rtr, rtr_gen_params),
	KUNIT_CASE(test_client_server),
	KUNIT_CASE(test_rtr_request),
	KUNIT_CASE(test_rtr_denied),
	KUNIT_CASE_PARAM(test_rtr_slot, slot_gen_params),
	KUNIT_CASE(test_rtr_no_slot),
	{}
};

static struct kunit_suite mpa_rtr_suite = {
	.name = "kwarp_mpa_rtr",
	.test_cases = mpa_rtr_cases,
};

kunit_test_suite(mpa_rtr_suite);
