// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Enhanced startup (RFC 6581) with the raw peer as Responder: IRD and ORD, and
 * the form of the RTR, which is the FPDU that the device, as Initiator, sends first.
 */
#include "runner/control.h"
#include "runner/responder.h"

#include <stdio.h>
#include <string.h>

/**
 * struct rtr_choice - flags of a Reply to a Request with A=1, C=1, D=1, and what has to follow
 * @a, @b, @c, @d: flags of the Reply; @ird: its IRD
 * @term: error of the Terminate that has to come, or 0
 * @read: the RTR that has to come is a Read Request; else it is a Write
 */
static const struct rtr_choice {
	bool a, b, c, d;
	uint16_t ird;
	uint16_t term;
	bool read;
} rtr_choices[] = {
	{ .a = true, .c = true, .ird = 4 },
	{ .a = true, .d = true, .ird = 4, .read = true },
	{ .a = true, .c = true, .d = true, .ird = 4 },
	{ .a = true, .b = true, .c = true, .ird = 4 },
	{ .a = true, .b = true, .d = true, .ird = 4, .read = true },
	{ .a = true, .c = true, .d = true },
	{ .a = true, .d = true, .ird = 0x3fff, .read = true },
	{ .a = true, .b = true, .ird = 4, .term = 0x2007 },
	{ .a = true, .ird = 4, .term = 0x2007 },
	{ .a = true, .d = true, .term = 0x2007 },
	{ .c = true, .d = true, .ird = 4, .term = 0x2005 },
	{ .ird = 4, .term = 0x2005 },
};

/*
 * Send this Reply. A Terminate with this error and the end of the connection have to come, and the
 * consumer's event has to report a failure.
 */
static void refused_with(struct rp *r, struct kwraw_mpa *m, uint16_t err)
{
	uint8_t ulpdu[128], want[64];
	struct kwraw_seg s;
	size_t len, got;

	rp_send_frame(r, m);
	kwraw_full_operation(&r->c, m, &r->asked);
	kwraw_seg_init(&s, KWRAW_TERMINATE);
	len = kwraw_seg_encode(&s, want);
	memset(want + len, 0, 4);
	want[len] = err >> 8;
	want[len + 1] = err & 0xff;
	if (kwraw_recv_fpdu(&r->c, ulpdu, &got, rp_soon()) != KWRAW_GOT_FPDU || got != len + 4 ||
	    memcmp(ulpdu, want, got))
		rp_fail(r, "no Terminate %x/%x/%02x", err >> 12, err >> 8 & 15, err & 0xff);
	if (!r->failed)
		rp_ended(r, RP_BY_FIN);
	if (!r->failed)
		rp_cm(r, "CONNECT_ERROR");
}

static void rtr_forms(struct rp *r)
{
	const struct rtr_choice *t;
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rtr_choices); i++) {
		t = &rtr_choices[i];
		if (!rp_begin_reply(r, &m))
			return;
		rp_depths(&m, t->ird | (t->a ? RP_A : 0) | (t->b ? RP_B : 0),
			  4 | (t->c ? RP_C : 0) | (t->d ? RP_D : 0));
		if (t->term) {
			refused_with(r, &m, t->term);
		} else {
			rp_up_with(r, &m, t->read);
			rp_exchange_as_responder(r);
		}
		rp_again(r, "choice", i);
	}
}

/*
 * Try values of ORD in the Reply. The consumer has asked for an IRD of 4; the device can raise that
 * to its limit of 255, but not beyond (then a Terminate with error 2/0/6 has to come). 0x3fff says
 * that the Responder does not negotiate its ORD.
 */
static void depths_in(struct rp *r)
{
	static const struct { uint16_t ord, term; } t[] = {
		{ 0, 0 }, { 4, 0 }, { 5, 0 }, { 255, 0 }, { 0x3fff, 0 },
		{ 256, 0x2006 }, { 0x3ffe, 0x2006 },
	};
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		if (!rp_begin_reply(r, &m))
			return;
		rp_depths(&m, 4 | RP_A, t[i].ord | RP_C);
		if (t[i].term) {
			refused_with(r, &m, t[i].term);
		} else {
			rp_up_with(r, &m, false);
			rp_exchange_as_responder(r);
		}
		rp_again(r, "ORD", t[i].ord);
	}
}

/* Reply with an IRD of 1: the device must send the second Read Request after the first Response. */
static void depths_out(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 10 },
		{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .off = 50, .len = 20 },
		{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .size = 10 },
		{ .what = RP_QUIET },
		{ RP_SEG, .op = KWRAW_READ_RESP, .len = 10, .hit = true },
		{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 50, .size = 20 },
		{ RP_SEG, .op = KWRAW_READ_RESP, .len = 20, .hit = true },
		{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_READ },
		{ .what = RP_DONE },
	};
	struct kwraw_mpa m;

	if (!rp_begin_reply(r, &m))
		return;
	rp_depths(&m, 1 | RP_A, 4 | RP_C);
	rp_up_with(r, &m, false);
	if (!r->failed)
		rp_steps(r, steps);
}

/* Reply with an IRD of 0x3fff, which must not change the ORD of 2 that the consumer asks for. */
static void depths_open(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 10 },
		{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .off = 50, .len = 20 },
		{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .off = 90, .len = 5 },
		{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .size = 10 },
		{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 50, .size = 20 },
		{ .what = RP_QUIET },
		{ RP_SEG, .op = KWRAW_READ_RESP, .len = 10, .hit = true },
		{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 90, .size = 5 },
		{ RP_SEG, .op = KWRAW_READ_RESP, .len = 20, .hit = true },
		{ RP_SEG, .op = KWRAW_READ_RESP, .len = 5, .hit = true },
		{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_READ },
		{ RP_WC, .wr = 102, .wc = IBV_WC_RDMA_READ },
		{ .what = RP_DONE },
	};
	struct kwraw_mpa m;

	if (!rp_called(r, 4, 2))
		return;
	rp_good_reply(r, &m);
	rp_depths(&m, 0x3fff | RP_A, 0x3fff | RP_C);
	rp_up_with(r, &m, false);
	if (!r->failed)
		rp_steps(r, steps);
}

/* Check that the consumer's event reports the IRD and ORD of the Reply. */
static void depths_told(struct rp *r)
{
	unsigned int depth = 0, resources = 0;
	struct kwraw_mpa m;
	const char *got;

	if (!rp_begin_reply(r, &m))
		return;
	rp_depths(&m, 3 | RP_A, 2 | RP_C);
	rp_send_frame(r, &m);
	kwraw_full_operation(&r->c, &m, &r->asked);
	got = rp_ctl("cm %d", rp_soon());
	if (!got || sscanf(got, "ESTABLISHED %*d %*u %u %u", &depth, &resources) != 2 ||
	    depth != 3 || resources != 2)
		rp_fail(r, "the consumer is told IRD %u, ORD %u, must be 3, 2", depth, resources);
	if (!r->failed)
		rp_take_rtr(r, false);
}

const struct rp_case rp_cases_reply_enhanced[] = {
	{ .name = "rep-rtr", .ids = "6581-9.3-3 6581-9.2-15 6581-9.2-12 6581-9.2-14 6581-9.2-16 6581-1.1-1 6581-8-3",
	  .role = RP_RESP, .run = rtr_forms },
	{ .name = "rep-depths-in", .ids = "6581-9.1-12 6581-9.1-13 6581-9.1-22 6581-12-1",
	  .role = RP_RESP, .run = depths_in },
	{ .name = "rep-depths-out", .ids = "6581-9.1-3 6581-9.1-11 5040-6.1-9",
	  .role = RP_RESP, .run = depths_out },
	{ .name = "rep-depths-open", .ids = "6581-9.1-19 6581-9.1-22",
	  .role = RP_RESP, .run = depths_open },
	{ .name = "rep-depths-told", .ids = "6581-9.1-4 6581-9.1-14",
	  .role = RP_RESP, .run = depths_told },
	{ .name = NULL }
};
