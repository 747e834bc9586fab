// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. The Requests of the device, octet by octet: the first one, of revision 2, and
 * the second one, of revision 1, for a peer that does not know revision 2 (RFC 6581 section 10).
 */
#include "runner/control.h"
#include "runner/responder.h"

#include <string.h>

/* End the startup with a Reply that rejects. */
static void refuse(struct rp *r)
{
	struct kwraw_mpa m;

	rp_good_reply(r, &m);
	m.flags |= KWRAW_MPA_R;
	rp_reply_fails(r, &m, "REJECTED", "refusal", 0);
}

static void request_format(struct rp *r)
{
	uint8_t flags = KWRAW_MPA_S | (rp_where.want_crc ? KWRAW_MPA_C : 0);
	uint16_t ird, ord;

	if (!rp_called(r, 5, 6))
		return;
	ird = r->asked.pd[0] << 8 | r->asked.pd[1];
	ord = r->asked.pd[2] << 8 | r->asked.pd[3];
	if (rp_where.want_markers)
		flags |= KWRAW_MPA_M;
	if (r->asked.flags != flags || r->asked.rev != 2 || r->asked.pd_len != 4)
		rp_fail(r, "Request %02x %02x, %u octets", r->asked.flags, r->asked.rev,
			r->asked.pd_len);
	if (ird != (RP_A | 5) || ord != (RP_C | RP_D | 6))
		rp_fail(r, "IRD %04x ORD %04x", ird, ord);
	refuse(r);
}

static void request_pd(struct rp *r)
{
	uint8_t want[100];

	rp_begin(r);
	if (!rp_ctl("connect %s %s 100", rp_where.own, rp_where.own_port) ||
	    kwraw_accept(rp_where.listener, &r->c, rp_soon())) {
		rp_fail(r, "no TCP connection");
		return;
	}
	r->up = true;
	kw_fill(want, sizeof(want), KWT_ARENA_KEY, 0);
	if (!kwraw_mpa_recv(&r->c, kwraw_req_key, &r->asked, rp_soon()) ||
	    r->asked.pd_len != 104 || memcmp(r->asked.pd + 4, want, 100))
		rp_fail(r, "private data is not the consumer's");
	refuse(r);
}

/* ------------------------------------------------------------------- older peers */

/*
 * Accept a second connection of the device and receive its Request, of revision 1. The device makes
 * this connection because the raw peer has closed the first one, or has answered with revision 1.
 */
static bool called_again(struct rp *r)
{
	unsigned int piece = r->c.piece;

	if (r->failed)
		return false;
	if (kwraw_accept(rp_where.listener, &r->c, rp_soon())) {
		rp_fail(r, "no second attempt");
		return false;
	}
	r->up = true;
	r->c.piece = piece;
	if (kwraw_mpa_recv(&r->c, kwraw_req_key, &r->asked, rp_soon()))
		return true;
	rp_fail(r, "no second Request");
	return false;
}

/* Answer the second Request as a peer that knows only revision 1. */
static void answer_as_old(struct rp *r)
{
	struct kwraw_mpa m;

	if (r->failed)
		return;
	if (r->asked.rev != 1 || r->asked.flags & KWRAW_MPA_S || r->asked.pd_len) {
		rp_fail(r, "second Request %02x %02x, must be of revision 1", r->asked.flags,
			r->asked.rev);
		return;
	}
	kwraw_mpa_init(&m, kwraw_rep_key, rp_flags(), 1);
	rp_up_with(r, &m, false);
	rp_exchange_as_responder(r);
}

static void old_peer_answers(struct rp *r)
{
	struct kwraw_mpa m;

	if (!rp_called(r, 4, 4))
		return;
	kwraw_mpa_init(&m, kwraw_rep_key, rp_flags(), 1);
	rp_send_frame(r, &m);
	rp_ended(r, RP_ANY_END);
	if (called_again(r))
		answer_as_old(r);
}

static void old_peer_closes(struct rp *r)
{
	if (!rp_called(r, 4, 4))
		return;
	kwraw_close(&r->c);
	if (called_again(r))
		answer_as_old(r);
}

static void old_peer_resets(struct rp *r)
{
	if (!rp_called(r, 4, 4))
		return;
	kwraw_reset(&r->c);
	if (called_again(r))
		answer_as_old(r);
}

static void peer_closes_twice(struct rp *r)
{
	if (!rp_called(r, 4, 4))
		return;
	kwraw_reset(&r->c);
	if (!called_again(r))
		return;
	kwraw_reset(&r->c);
	r->up = false;
	rp_cm(r, "REJECTED");
}

const struct rp_case rp_cases_device_request[] = {
	{ .name = "rep-request-format", .ids = "5044-4.4-4 5044-4.4-5 5044-7.1.1-1 5044-7.1.1-15 6581-6-10 6581-9.2-5 5044-7.1-5",
	  .role = RP_RESP, .run = request_format },
	{ .name = "rep-request-pd", .ids = "6581-9-1 6581-6-9 5044-7.1.1-21",
	  .role = RP_RESP, .run = request_pd },
	{ .name = "rep-old-peer-answers", .ids = "6581-10-10",
	  .role = RP_RESP, .run = old_peer_answers },
	{ .name = "rep-old-peer-closes", .ids = "6581-10-10",
	  .role = RP_RESP, .run = old_peer_closes },
	{ .name = "rep-old-peer-resets", .ids = "6581-10-10",
	  .role = RP_RESP, .run = old_peer_resets },
	{ .name = "rep-closes-twice", .ids = "5044-8-3",
	  .role = RP_RESP, .run = peer_closes_twice },
	{ .name = NULL }
};
