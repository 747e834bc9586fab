// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* kwrawpeer: cases. RDMA Reads by the raw peer: the device is the source of the data. */
#include "runner/start.h"

#include <endian.h>
#include <string.h>

#define READ_LEN	20000

static void too_many_reads(struct rp *r);
static void source_goes(struct rp *r);
static void send_between(struct rp *r);
static void read_then_inv(struct rp *r);

const struct rp_case rp_cases_read[] = {
	{
		.name = "read", .ids = "5040-5.2.1-4 5040-5.2.1-5 5040-5.2.1-14 5040-4.4-3 5040-4.4-4 5040-1.2-7 5040-3.2-13 5040-1.2-6 5040-5.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 100, .off = 77 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .off = 77, .len = 100 },
			{ RP_NO_WC },
		},
	},
	{
		.name = "read-only-region", .ids = "5040-8.1.1-5 5042-2.2.2-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 1000 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .off = 0, .len = 1000 },
		},
	},
	{
		.name = "read-one-octet", .ids = "5042-6.2.1-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_ONE, .size = 1 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_ONE, .off = 0, .len = 1 },
		},
	},
	{
		.name = "read-last-octet", .ids = "5040-7.2-12",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 1, .off = 4999 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .off = 4999, .len = 1 },
		},
	},
	{
		.name = "read-iova", .ids = "5040-4.4-8",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_IOVA, .size = 500, .off = 3 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_IOVA, .off = 3, .len = 500 },
		},
	},
	{
		.name = "read-zero-junk", .ids = "5040-5.2.1-18 5040-5.2.1-19 5042-6.3.5-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_NONE, .size = 0,
			  .stag_x = 0xffffffff, .to = ~0ULL },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_NONE, .off = 0, .len = 0 },
		},
	},
	{
		.name = "read-zero-write-only", .ids = "5042-6.3.5-2 5040-5.2.1-18",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WO, .size = 0 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_WO, .off = 0, .len = 0 },
		},
	},
	{
		.name = "read-zero-other-pd", .ids = "5040-5.2.1-18",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_PD, .size = 0 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_PD, .off = 0, .len = 0 },
		},
	},
	{
		.name = "read-reserved-bits", .ids = "5041-4.1-11 5040-4.1-11 5040-4.1-15",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 8, .rsvd = 0xf,
			  .rdmap_rsvd = 3, .inv = KWT_RW },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .off = 0, .len = 8 },
		},
	},
	{
		.name = "read-takes-no-receive", .ids = "5041-5.1.2-1 5040-5.2.1-3",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 8 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .off = 0, .len = 8 },
			{ RP_SEND, .len = 5 },
		},
	},
	{
		.name = "read-all-at-once", .ids = "5040-5.2.2-4 5040-5.2.1-10 5040-5.2.2-8 5040-5.5-27 5040-6.1-5 5040-5.2-1 5040-5.2.2-10",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 8, .hold = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 900, .off = 8,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 1, .hold = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 70, .off = 9 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .off = 0, .len = 8 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .off = 8, .len = 900 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .off = 0, .len = 1 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .off = 9, .len = 70 },
		},
	},
	{
		.name = "read-back", .ids = "5040-5.5-16 5040-5.5-17 5040-5.5-24",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 64, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 64 },
			{ RP_GET, .op = KWRAW_READ_RESP, .len = 64, .hit = true },
		},
	},
	{
		.name = "read-stag-key", .ids = "5040-7.2-9 5040-5.2.1-16 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0100, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .stag_x = 1),
	},
	{
		.name = "read-stag-index", .ids = "5040-7.2-9 5040-5.2.1-16 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0100, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .stag_x = 0x00010000),
	},
	{
		.name = "read-stag-dead", .ids = "5040-7.2-9 5040-5.2.1-16 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0100, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_DEAD, .size = 4),
	},
	{
		.name = "read-stag-zero", .ids = "5040-7.2-9 5040-5.2.1-16 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0100, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_NONE, .size = 4),
	},
	{
		.name = "read-stag-other-pd", .ids = "5040-7.2-10 5042-6.1.1-2 5040-8.1.1-1 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0103, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_PD, .size = 4),
	},
	{
		.name = "read-stag-write-only", .ids = "5040-5.2.1-16 5040-8.1.1-5 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0102, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_WO, .size = 4),
	},
	{
		.name = "read-without-rights", .ids = "5040-5.2.1-16 5040-8.1.1-5",
		.no_rights = true,
		RP_ONE_REFUSED(0x0102, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4),
	},
	{
		.name = "read-stag-local-only", .ids = "5040-5.2.1-16 5040-8.1.1-5 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0102, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_LO, .size = 4),
	},
	{
		.name = "read-stag-source-of-sends", .ids = "5040-5.2.1-16 5040-8.1.1-5 5040-7.1-5 5040-4.8-19 5040-4.8-20 5040-4.8-21 5040-4.8-25 5040-5.2.1-6",
		RP_ONE_REFUSED(0x0102, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_SRC, .size = 4),
	},
	{
		.name = "read-bounds-before", .ids = "5040-7.2-11 5040-7.2-12 5040-5.2.1-17 5042-6.2.1-1 5040-8.1.1-3",
		RP_ONE_REFUSED(0x0101, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 1,
			       .off = -1),
	},
	{
		.name = "read-bounds-behind", .ids = "5040-7.2-11 5040-7.2-12 5040-5.2.1-17 5042-6.2.1-1 5040-8.1.1-3",
		RP_ONE_REFUSED(0x0101, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 1,
			       .off = 5000),
	},
	{
		.name = "read-bounds-across-end", .ids = "5040-7.2-11 5040-7.2-12 5040-5.2.1-17 5042-6.2.1-1 5040-8.1.1-3",
		RP_ONE_REFUSED(0x0101, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 2,
			       .off = 4999),
	},
	{
		.name = "read-bounds-longer", .ids = "5040-7.2-11 5040-7.2-12 5040-5.2.1-17 5042-6.2.1-1 5040-8.1.1-3",
		RP_ONE_REFUSED(0x0101, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 5001),
	},
	{
		.name = "read-bounds-max", .ids = "5040-7.2-11 5040-7.2-12 5040-5.2.1-17 5042-6.2.1-1 5040-8.1.1-3",
		RP_ONE_REFUSED(0x0101, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RW,
			       .size = 0xffffffff),
	},
	{
		.name = "read-bounds-one", .ids = "5040-7.2-11 5040-7.2-12 5040-5.2.1-17 5042-6.2.1-1 5040-8.1.1-3",
		RP_ONE_REFUSED(0x0101, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_ONE, .size = 2),
	},
	{
		.name = "read-bounds-to", .ids = "5040-7.2-11 5040-7.2-12 5040-5.2.1-17 5042-6.2.1-1 5040-8.1.1-3",
		RP_ONE_REFUSED(0x0101, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 4,
			       .to = 1),
	},
	{
		.name = "read-wrap-by-one", .ids = "5040-7.2-13 5040-5.2.1-17",
		RP_ONE_REFUSED(0x0104, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 1,
			       .to = ~0ULL),
	},
	{
		.name = "read-wrap-by-two", .ids = "5040-7.2-13 5040-5.2.1-17",
		RP_ONE_REFUSED(0x0104, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 2,
			       .to = ~0ULL),
	},
	{
		.name = "read-wrap-max", .ids = "5040-7.2-13 5040-5.2.1-17",
		RP_ONE_REFUSED(0x0104, RP_RREQ, .op = KWRAW_READ_REQ, .at = KWT_RW,
			       .size = 0xffffffff, .to = 0xffffffff00000001ULL + 1),
	},
	{
		.name = "read-stag-deregistered", .ids = "5040-8.1.1-6",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 4 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .off = 0, .len = 4 },
			{ RP_DEREG, .at = KWT_RO },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 4 },
			{ RP_REFUSED, .err = 0x0100, .headers = RP_RREQ },
		},
	},
	{
		.name = "read-msn-skipped", .ids = "5040-7.2-6 5041-7.1-10",
		RP_ONE_REFUSED(0x1203, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .msn_d = 1),
	},
	{
		.name = "read-mo", .ids = "5040-7.2-6 5041-7.1-8",
		RP_ONE_REFUSED(0x1204, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .mo_d = 4),
	},
	{
		.name = "read-ddp-version", .ids = "5040-7.2-6 5041-4.1-13",
		RP_ONE_REFUSED(0x1206, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .dv_x = 1),
	},
	{
		.name = "read-with-payload", .ids = "5040-4.2-2 5041-7.1-9",
		RP_ONE_REFUSED(0x1205, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .len = 4),
	},
	{
		.name = "read-short", .ids = "5040-4.2-1 5040-4.4-1",
		RP_ONE_REFUSED(0x02ff, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .cut = 1),
	},
	{
		.name = "read-header-only", .ids = "5040-4.2-1",
		RP_ONE_REFUSED(0x02ff, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .cut = 28),
	},
	{
		.name = "read-not-last", .ids = "5040-4.4-1",
		RP_ONE_REFUSED(0x02ff, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .more = true),
	},
	{
		.name = "read-deregistered-halfway", .ids = "5040-4.8-22 5040-4.8-19 5040-8.1.1-6 5041-8.3.1-6 5040-3.2-14",
		.role = RP_INIT, .ird = 64, .plain = true, .run = source_goes,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = READ_LEN },
			{ RP_SEND, .len = 1 },
			{ RP_DEREG, .at = KWT_RW },
		},
	},
	{
		.name = "read-window-invalidated-halfway", .ids = "5040-5.5-25 5040-1.2-2 5040-4.8-22 5040-8.1.1-6 5042-6.2.2-2 5040-3.2-14",
		.role = RP_INIT, .ird = 64, .plain = true, .first = rp_window, .run = source_goes,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = READ_LEN },
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 1, .inv = KWT_WIN, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 1, .inv = KWT_WIN },
			{ RP_DEREG, .at = KWT_BELOW },
		},
	},
	{
		.name = "read-window-then-inv", .ids = "5040-1.2-2 5040-5.3-18",
		.first = rp_window, .run = read_then_inv,
	},
	{
		.name = "responses-and-send", .ids = "5041-5.3-2 5041-5.3-3",
		.role = RP_INIT, .ird = 64, .plain = true, .run = send_between,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = READ_LEN },
			{ RP_SEND, .len = 16 },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 32 },
		},
	},
	{
		.name = "read-too-many", .ids = "5040-6.1-10 5042-6.4.3.3-2 5041-7.1-3 5040-5.2.1-3",
		.ird = 4, .run = too_many_reads,
	},
	{ .name = NULL }
};

#define BURST	24

/*
 * Send more Reads than the IRD of 4 allows, all in one segment of TCP. The device may answer some
 * of them before it reads the others, so it is not known which Read is the first one too many.
 * Responses have to come, and then a Terminate about a Read that is beyond the IRD.
 */
static void too_many_reads(struct rp *r)
{
	struct rp_step ask = {
		RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4000, .hold = true,
	};
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	struct kwraw_seg s, about;
	struct kwraw_term t;
	unsigned int i;
	size_t len;

	r->c.piece = 0;
	if (!rp_open(r))
		return;
	for (i = 0; i < BURST; i++) {
		ask.hold = i < BURST - 1;
		rp_seg(r, &ask);
	}
	do {
		if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
		    !kwraw_seg_decode(ulpdu, len, &s)) {
			rp_fail(r, "no FPDU, must be Read Responses and a Terminate");
			return;
		}
	} while (s.opcode == KWRAW_READ_RESP && s.stag == RP_SINK_STAG);
	if (!kwraw_term_decode(ulpdu, len, &t) || !t.has_ddp ||
	    !kwraw_seg_decode(t.ddp, t.ddp_len, &about)) {
		rp_fail(r, "opcode %u, must be a Terminate", s.opcode);
		return;
	}
	if (t.layer != 1 || t.etype != 2 || t.code != 2 || about.qn != 1 || about.msn < 5 ||
	    about.msn > BURST || t.seg_len != KWRAW_READ_REQ_LEN)
		rp_fail(r, "Terminate %x/%x/%02x about Read %u", t.layer, t.etype, t.code,
			about.msn);
	rp_expect(r, &(struct rp_step){ RP_EVENT, .event = IBV_EVENT_QP_FATAL });
	rp_ended(r, RP_BY_FIN);
}

static uint32_t be32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint64_t be64_at(const uint8_t *p)
{
	return (uint64_t)be32_at(p) << 32 | be32_at(p + 4);
}

/*
 * Check the Read Request that the Terminate returns: that of step @s, but without the first @done
 * octets, which were answered.
 */
static void check_rest(struct rp *r, const struct rp_step *s, const struct kwraw_term *t,
		       uint32_t done)
{
	const uint8_t *q = t->rdma;

	if (t->layer != 0 || t->etype != 1 || t->code != 0 || !t->has_ddp || !t->has_rdma)
		rp_fail(r, "Terminate %x/%x/%02x, must return the Read", t->layer, t->etype,
			t->code);
	else if (be32_at(q) != RP_SINK_STAG || be64_at(q + 4) != RP_SINK_TO + done ||
		 be32_at(q + 12) != s->size - done ||
		 be32_at(q + 16) != r->region[s->at].stag ||
		 be64_at(q + 20) != r->region[s->at].to + done)
		rp_fail(r, "the Read that is returned has %u octets left, must have %u",
			be32_at(q + 12), s->size - done);
}

/* Is @data what the consumer's memory has at octet @done of the Read @s? */
static bool is_source(const struct rp_step *s, const uint8_t *data, size_t len, uint32_t done)
{
	return kw_check(data, len, KWT_ARENA_KEY, kwt_places[s->at].off + done) == len;
}

/*
 * Receive the Responses to many Reads, each of them @ask, and the Terminate after them. *@done: how
 * many octets of the Read that the Terminate is about were answered. False if something is wrong.
 */
static bool take_responses(struct rp *r, const struct rp_step *ask, struct kwraw_term *t,
			   uint32_t *done)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	struct kwraw_seg s;
	size_t len;

	for (*done = 0;;) {
		if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
		    !kwraw_seg_decode(ulpdu, len, &s))
			return false;
		if (s.opcode != KWRAW_READ_RESP)
			return kwraw_term_decode(ulpdu, len, t);
		if (s.to != RP_SINK_TO + *done ||
		    !is_source(ask, ulpdu + KWRAW_TAGGED_HDR, len - KWRAW_TAGGED_HDR, *done))
			return false;
		*done = s.last ? 0 : *done + len - KWRAW_TAGGED_HDR;
	}
}

/*
 * Take the source of Reads away while the device answers them. The first step of the case, a Read,
 * is sent many times, and the raw peer reads nothing, so that the Responses are more than TCP
 * takes. The other steps of the case deregister the source, or invalidate the window. One of them
 * is a Send: when the consumer has it, the device has all Read Requests. The device refuses the
 * Responses that it has not built by then: its Terminate returns the Read without the octets that
 * were answered.
 */
static void source_goes(struct rp *r)
{
	const struct rp_step *ask = &r->k->steps[0];
	struct kwraw_term t;
	uint32_t done;

	if (!rp_flood(r))
		return;
	if (!take_responses(r, ask, &t, &done)) {
		rp_fail(r, "no Responses with the source's octets and a Terminate");
		return;
	}
	check_rest(r, ask, &t, done);
	rp_expect(r, &(struct rp_step){ RP_EVENT, .event = IBV_EVENT_QP_ACCESS_ERR });
	rp_ended(r, RP_BY_FIN);
}

/*
 * Receive RP_FLOOD Responses, which do not fit into TCP's buffers together, and one Send, which the
 * consumer has posted after the Reads came. The device sends the Send after the Response that it is
 * sending, and before the others: not within a Response, and not after the last one.
 */
static void take_both(struct rp *r, const struct rp_step *ask)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	unsigned int answers = 0, sends = 0;
	struct kwraw_seg s;
	uint32_t done = 0;
	size_t len;

	while (!r->failed && answers + sends <= RP_FLOOD) {
		if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
		    !kwraw_seg_decode(ulpdu, len, &s)) {
			rp_fail(r, "no FPDU after %u Responses and %u Sends", answers, sends);
		} else if (s.opcode == KWRAW_SEND) {
			sends++;
			if (done || answers == RP_FLOOD)
				rp_fail(r, "the Send comes after %u Responses and %u octets",
					answers, done);
		} else if (s.opcode != KWRAW_READ_RESP || s.to != RP_SINK_TO + done ||
			   !is_source(ask, ulpdu + KWRAW_TAGGED_HDR, len - KWRAW_TAGGED_HDR,
				      done)) {
			rp_fail(r, "opcode %u at octet %u of Response %u", s.opcode, done,
				answers);
		} else {
			done = s.last ? 0 : done + len - KWRAW_TAGGED_HDR;
			answers += s.last;
		}
	}
}

static void send_between(struct rp *r)
{
	if (!rp_flood(r))
		return;
	take_both(r, &r->k->steps[0]);
	rp_expect(r, &(struct rp_step){ RP_WC, .wr = 100, .wc = IBV_WC_SEND });
}

/*
 * Send a Read from the window and a Send that invalidates the window, in one segment of TCP. The
 * device may deliver the Send before it answers the Read (RFC 5040 section 5.5), so two answers are
 * right: all octets of the Read, or a Terminate that returns the Read Request.
 */
static void read_then_inv(struct rp *r)
{
	static const struct rp_step ask = {
		RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = 100, .hold = true,
	}, then[] = {
		{ RP_SEG, .op = KWRAW_SEND_INV, .len = 9, .inv = KWT_WIN, .hit = true },
		{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 9, .inv = KWT_WIN },
		{ .what = RP_DONE },
	}, answered[] = {
		{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_WIN, .size = 100 },
		{ RP_REFUSED, .err = 0x0100, .headers = RP_RREQ },
		{ .what = RP_DONE },
	};
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	struct kwraw_seg s;
	struct kwraw_term t;
	size_t len;

	if (!rp_open(r))
		return;
	rp_steps(r, r->k->first);
	if (r->failed)
		return;
	rp_seg(r, &ask);
	rp_steps(r, then);
	if (r->failed)
		return;
	if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
	    !kwraw_seg_decode(ulpdu, len, &s)) {
		rp_fail(r, "no FPDU, must be a Read Response or a Terminate");
	} else if (s.opcode == KWRAW_READ_RESP) {
		if (!s.last || s.stag != RP_SINK_STAG || s.to != RP_SINK_TO ||
		    len != KWRAW_TAGGED_HDR + ask.size ||
		    !is_source(&ask, ulpdu + KWRAW_TAGGED_HDR, ask.size, 0))
			rp_fail(r, "the Read Response is not the Read's");
		rp_steps(r, answered);
	} else if (!kwraw_term_decode(ulpdu, len, &t)) {
		rp_fail(r, "opcode %u, must be a Read Response or a Terminate", s.opcode);
	} else {
		check_rest(r, &ask, &t, 0);
		rp_expect(r, &(struct rp_step){ RP_EVENT, .event = IBV_EVENT_QP_ACCESS_ERR });
		rp_ended(r, RP_BY_FIN);
	}
}
