// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Enhanced startup (RFC 6581) with the raw peer as Initiator: IRD and ORD, and
 * the RTR, which is the first FPDU of an Initiator that has set flag A.
 */
#include "runner/control.h"
#include "runner/initiator.h"

#include <stdio.h>
#include <string.h>

/*
 * Try values of IRD and ORD: those of the raw peer's Request, and those that the accepting consumer
 * asks for. Check the values in the Reply.
 */
static void depths(struct rp *r)
{
	static const struct { uint16_t ird, ord, c_ird, c_ord, r_ird, r_ord; } t[] = {
		{ 16, 8, 8, 4, 8, 4 },
		{ 16, 8, 128, 64, 8, 16 },
		{ 16, 8, 8, 16, 8, 16 },
		{ 1, 1, 4, 4, 1, 1 },
		{ 0, 0, 4, 4, 0, 0 },
		{ 16, 200, 128, 4, 200, 4 },
		{ 0x3ffe, 0x3ffe, 128, 4, 255, 4 },
		{ 0x3fff, 8, 8, 4, 8, 0x3fff },
		{ 16, 0x3fff, 8, 4, 0x3fff, 4 },
		{ 0x3fff, 0x3fff, 4, 4, 0x3fff, 0x3fff },
		{ 0x0102, 0x0011, 128, 100, 0x11, 100 },
	};
	struct rp_offer o = { .rev = 2, .flags = KWRAW_MPA_S, .reply = KWRAW_MPA_S };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		o.ird = t[i].ird;
		o.ord = t[i].ord;
		o.c_ird = t[i].c_ird;
		o.c_ord = t[i].c_ord;
		o.r_ird = t[i].r_ird;
		o.r_ord = t[i].r_ord;
		rp_accepted(r, &o, "depths", i);
	}
}

/* Check that the consumer's event reports the IRD and ORD of the Request. */
static void depths_told(struct rp *r)
{
	struct rp_offer o = { .rev = 2, .flags = KWRAW_MPA_S, .ird = 5, .ord = 7, .c_ird = 8,
			   .c_ord = 8 };
	unsigned int depth = 0, resources = 0;
	const char *got;

	if (!rp_send_offer(r, &o))
		return;
	got = rp_ctl("accept %d", rp_soon());
	if (!got || sscanf(got, "%*s %*d %*u %u %u", &depth, &resources) != 2 || depth != 5 ||
	    resources != 7)
		rp_fail(r, "the consumer is told IRD %u, ORD %u, must be 5, 7", depth, resources);
	kwraw_reset(&r->c);
	r->up = false;
	rp_ctl("destroy");
}

/* Leave flag A at 0: the device must ignore flags B, C and D, and must not wait for an RTR. */
static void flags_without_a(struct rp *r)
{
	struct rp_offer o = { .rev = 2, .flags = KWRAW_MPA_S, .reply = KWRAW_MPA_S, .c_ird = 4,
			   .c_ord = 4, .r_ird = 4, .r_ord = 4 };
	int bcd;

	for (bcd = 0; bcd < 8; bcd++) {
		o.ird = 4 | (bcd & 4 ? RP_B : 0);
		o.ord = 4 | (bcd & 2 ? RP_C : 0) | (bcd & 1 ? RP_D : 0);
		rp_accepted(r, &o, "B, C, D", bcd);
	}
}

/* -------------------------------------------------------------------------- RTR */

/* Forms of the RTR, as a set of bits: a Send, a Write or a Read Request without payload. */
#define RTR_SEND	4
#define RTR_WRITE	2
#define RTR_READ	1

/* Return the forms of the RTR that a frame allows, or -1 if its flag A is 0. */
static int rtr_of(const struct kwraw_mpa *m)
{
	uint16_t ird = m->pd[0] << 8 | m->pd[1], ord = m->pd[2] << 8 | m->pd[3];

	if (m->pd_len < 4 || !(ird & RP_A))
		return -1;
	return (ird & RP_B ? RTR_SEND : 0) | (ord & RP_C ? RTR_WRITE : 0) |
	       (ord & RP_D ? RTR_READ : 0);
}

/* Send an RTR of this form. Its STag and TO name no memory, since it has no payload. */
static void send_rtr(struct rp *r, int form)
{
	static const struct rp_step write = {
		RP_SEG, .op = KWRAW_WRITE, .stag_x = 0xffffffff, .to = ~0ULL
	}, read = {
		RP_SEG, .op = KWRAW_READ_REQ, .stag_x = 0xffffffff, .to = ~0ULL
	}, answer = {
		RP_GET, .op = KWRAW_READ_RESP
	}, send = {
		RP_SEG, .op = KWRAW_SEND
	}, taken = {
		RP_WC, .wc = IBV_WC_RECV
	};

	rp_seg(r, form == RTR_WRITE ? &write : form == RTR_READ ? &read : &send);
	rp_cm(r, "ESTABLISHED");
	if (form == RTR_READ)
		rp_expect(r, &answer);
	if (form == RTR_SEND)
		rp_expect(r, &taken);
}

/* Do a whole startup with flag A. @bcd: forms of the RTR in the Request; @depth: IRD and ORD. */
static void p2p(struct rp *r, int bcd, uint16_t depth)
{
	struct rp_offer o = { .rev = 2, .flags = KWRAW_MPA_S, .c_ird = depth, .c_ord = depth,
			   .ird = depth | RP_A | (bcd & RTR_SEND ? RP_B : 0),
			   .ord = depth | (bcd & RTR_WRITE ? RP_C : 0) |
				  (bcd & RTR_READ ? RP_D : 0) };
	struct rp_step read = { RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 9 },
		       answer = { RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .len = 9 };
	struct kwraw_mpa theirs;
	int form;

	if (!rp_send_offer(r, &o) || !rp_ctl("accept %d", rp_soon()) ||
	    !kwraw_mpa_recv(&r->c, kwraw_rep_key, &theirs, rp_soon())) {
		rp_fail(r, "no Reply");
		return;
	}
	form = rtr_of(&theirs);
	if (form <= 0 || (bcd && !(form & bcd))) {
		rp_fail(r, "RTR forms %d for %d", form, bcd);
		return;
	}
	kwraw_full_operation(&r->c, &r->asked, &theirs);
	if (rp_ctl("cm 20"))
		rp_fail(r, "event %s before the RTR", rp_ctl_no());
	form &= bcd ? bcd : form;
	form = form & RTR_WRITE ? RTR_WRITE : form & RTR_READ ? RTR_READ : RTR_SEND;
	if (!r->failed)
		send_rtr(r, form);
	if (!r->failed && depth) {
		rp_seg(r, &read);
		rp_expect(r, &answer);
	}
}

static void rtr_forms(struct rp *r)
{
	int bcd;

	for (bcd = 0; bcd < 8; bcd++) {
		if (!r->failed)
			p2p(r, bcd, 4);
		rp_again(r, "RTR forms", bcd);
	}
}

static void rtr_read_depth(struct rp *r)
{
	p2p(r, RTR_READ, 0);
}

static void rtr_missing(struct rp *r)
{
	struct rp_offer o = { .rev = 2, .flags = KWRAW_MPA_S, .c_ird = 4, .c_ord = 4,
			   .ird = 4 | RP_A, .ord = 4 | RP_C };
	struct kwraw_mpa theirs;

	if (!rp_send_offer(r, &o) || !rp_ctl("accept %d", rp_soon()) ||
	    !kwraw_mpa_recv(&r->c, kwraw_rep_key, &theirs, rp_soon())) {
		rp_fail(r, "no Reply");
		return;
	}
	kwraw_fin(&r->c);
	rp_ended(r, RP_ANY_END);
	/* rdma_cm may report a failed accept by ESTABLISHED, too, with a status that is not 0. */
	if (rp_ctl("cm %d", rp_soon()) && !strncmp(rp_ctl_no(), "ok ESTABLISHED 0", 16))
		rp_fail(r, "established without an RTR");
}

const struct rp_case rp_cases_request_enhanced[] = {
	{ .name = "req-depths", .ids = "6581-9-3 6581-9.1-3 6581-9.1-16 6581-9.1-17 6581-9.1-20 6581-9.1-23 6581-12-1",
	  .role = RP_INIT, .run = depths },
	{ .name = "req-depths-told", .ids = "6581-9.1-4",
	  .role = RP_INIT, .run = depths_told },
	{ .name = "req-flags-without-a", .ids = "6581-9.2-21 6581-9.2-1",
	  .role = RP_INIT, .run = flags_without_a },
	{ .name = "req-rtr", .ids = "6581-9.2-7 6581-9.2-2 6581-9.2-3 6581-9.2-4 6581-9.2-24 6581-1.1-2",
	  .role = RP_INIT, .run = rtr_forms },
	{ .name = "req-rtr-read-depth", .ids = "6581-9.2-23",
	  .role = RP_INIT, .run = rtr_read_depth },
	{ .name = "req-rtr-missing", .ids = "6581-1.1-2",
	  .role = RP_INIT, .run = rtr_missing },
	{ .name = NULL }
};
