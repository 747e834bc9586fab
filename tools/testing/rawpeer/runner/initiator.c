// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: startups in which the raw peer is the Initiator: a Request, the Reply that has to
 * come, and a first exchange of messages.
 */
#include "runner/initiator.h"
#include "runner/control.h"

#include <stdio.h>
#include <string.h>

size_t rp_good_request(uint8_t *buf, uint8_t rev, uint16_t pd_len)
{
	struct kwraw_mpa m;

	kwraw_mpa_init(&m, kwraw_req_key, KWRAW_MPA_C, rev);
	m.pd_len = pd_len;
	return kwraw_mpa_encode(&m, buf);
}

bool rp_send_offer(struct rp *r, const struct rp_offer *o)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t enh = o->flags & KWRAW_MPA_S && o->rev > 1 ? 4 : 0;

	rp_begin(r);
	rp_ctl("begin %u %u 512 512", o->c_ird, o->c_ord);
	if (!rp_tcp(r))
		return false;
	kwraw_mpa_init(&m, kwraw_req_key, rp_flags() | o->flags, o->rev);
	if (enh)
		rp_depths(&m, o->ird, o->ord);
	kw_fill(m.pd + enh, o->pd_len, KWT_ARENA_KEY, 0);
	m.pd_len = enh + o->pd_len;
	kwraw_send(&r->c, buf, kwraw_mpa_encode(&m, buf));
	r->asked = m;
	return true;
}

void rp_check_told(struct rp *r, const char *got, unsigned int want)
{
	unsigned int told = ~0u;

	if (got)
		sscanf(got, "%*s %*d %u", &told);
	if (told == ~0u || (want != RP_ANY_LENGTH && told != want))
		rp_fail(r, "the consumer sees '%s', must see %u octets", got ? got : "nothing",
			want);
}

/* Print the octets of a frame after its key: flags, revision, PD_Length, IRD and ORD. */
static const char *after_key(const uint8_t *frame, char *text)
{
	const uint8_t *f = frame + 16;

	sprintf(text, "%02x %02x %02x%02x | %02x%02x %02x%02x", f[0], f[1], f[2], f[3], f[4], f[5],
		f[6], f[7]);
	return text;
}

void rp_check_reply(struct rp *r, const struct rp_offer *o)
{
	uint8_t want[KWRAW_MPA_MAX], is[KWRAW_MPA_MAX];
	char want_text[32], is_text[32];
	struct kwraw_mpa m, theirs;
	size_t len;

	if (!kwraw_mpa_recv(&r->c, kwraw_rep_key, &theirs, rp_soon())) {
		rp_fail(r, "no Reply");
		return;
	}
	kwraw_mpa_init(&m, kwraw_rep_key, rp_flags() | o->reply, o->rev);
	if (o->reply & KWRAW_MPA_S)
		rp_depths(&m, o->r_ird, o->r_ord);
	len = kwraw_mpa_encode(&m, want);
	kwraw_mpa_encode(&theirs, is);
	if (memcmp(want, is, len))
		rp_fail(r, "Reply %s, must be %s", after_key(is, is_text),
			after_key(want, want_text));
	kwraw_full_operation(&r->c, &r->asked, &theirs);
}

void rp_exchange_as_initiator(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_SEND, .len = 64 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ .what = RP_DONE },
	};

	if (!r->failed)
		rp_steps(r, steps);
}

void rp_accepted(struct rp *r, const struct rp_offer *o, const char *what, int n)
{
	if (r->failed || !rp_send_offer(r, o))
		return;
	rp_check_told(r, rp_ctl("accept %d", rp_soon()), o->told);
	rp_check_reply(r, o);
	if (!r->failed)
		rp_cm(r, "ESTABLISHED");
	rp_exchange_as_initiator(r);
	rp_again(r, what, n);
}
