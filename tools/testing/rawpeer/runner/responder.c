// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: startups in which the raw peer is the Responder: the consumer's Request, a Reply,
 * the RTR that has to come, and a first exchange of messages.
 */
#include "runner/responder.h"
#include "runner/control.h"

#include <string.h>

bool rp_called(struct rp *r, unsigned int ird, unsigned int ord)
{
	if (r->failed)
		return false;
	rp_begin(r);
	rp_ctl("begin %u %u 512 512", ird, ord);
	if (!rp_tcp(r))
		return false;
	if (kwraw_mpa_recv(&r->c, kwraw_req_key, &r->asked, rp_soon()))
		return true;
	rp_fail(r, "no Request");
	return false;
}

void rp_good_reply(struct rp *r, struct kwraw_mpa *m)
{
	uint16_t ird = r->asked.pd[0] << 8 | r->asked.pd[1];
	uint16_t ord = r->asked.pd[2] << 8 | r->asked.pd[3];

	kwraw_mpa_init(m, kwraw_rep_key, rp_flags(), r->asked.rev);
	if (r->asked.flags & KWRAW_MPA_S)
		rp_depths(m, (ord & RP_DEPTH) | (ird & RP_A),
			  (ird & RP_DEPTH) | (ird & RP_A ? RP_C : 0));
}

bool rp_begin_reply(struct rp *r, struct kwraw_mpa *m)
{
	if (!rp_called(r, 4, 4))
		return false;
	rp_good_reply(r, m);
	return true;
}

void rp_failed_with(struct rp *r, const char *event, const char *what, int n)
{
	if (!r->failed)
		rp_ended(r, RP_ANY_END);
	if (!r->failed)
		rp_cm(r, event);
	rp_again(r, what, n);
}

void rp_reply_fails(struct rp *r, const struct kwraw_mpa *m, const char *event, const char *what,
		    int n)
{
	rp_send_frame(r, m);
	rp_failed_with(r, event, what, n);
}

void rp_exchange_as_responder(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_SEND, .len = 64 },
		{ .what = RP_DONE },
	};

	if (!r->failed)
		rp_steps(r, steps);
}

void rp_take_rtr(struct rp *r, bool read)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	uint8_t want[KWRAW_READ_REQ_LEN];
	struct kwraw_read rd = { .sink_stag = 1, .src_stag = 1 };
	struct kwraw_seg s;
	size_t len, got;

	kwraw_seg_init(&s, read ? KWRAW_READ_REQ : KWRAW_WRITE);
	s.stag = 1;
	len = kwraw_seg_encode(&s, want);
	if (read) {
		kwraw_read_encode(&rd, want + len);
		len += 28;
	}
	if (kwraw_recv_fpdu(&r->c, ulpdu, &got, rp_soon()) != KWRAW_GOT_FPDU || got != len ||
	    memcmp(ulpdu, want, len))
		rp_fail(r, "the first FPDU is no RTR of the form agreed on");
}

static void answer_rtr(struct rp *r)
{
	struct rp_step resp = { RP_SEG, .op = KWRAW_READ_RESP };

	rp_seg(r, &resp);
	r->peer_msn[1]++;
}

void rp_up_with(struct rp *r, struct kwraw_mpa *m, bool read)
{
	rp_send_frame(r, m);
	kwraw_full_operation(&r->c, m, &r->asked);
	rp_cm(r, "ESTABLISHED");
	if (r->failed || !(m->pd[0] & 0x80))
		return;
	rp_take_rtr(r, read);
	if (!r->failed && read)
		answer_rtr(r);
}
