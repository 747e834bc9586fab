// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Requests that the device reports to the consumer, which accepts or rejects
 * them: revisions, flags, private data (RFC 5044 section 7.1).
 */
#include "runner/control.h"
#include "runner/initiator.h"

#include <string.h>

static void good_revisions(struct rp *r)
{
	static const struct rp_offer offers[] = {
		{ .rev = 1, .c_ird = 4, .c_ord = 4 },
		{ .rev = 1, .pd_len = 5, .told = 5, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .pd_len = 5, .told = 5, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .flags = KWRAW_MPA_S, .pd_len = 5, .told = 5, .ird = 4, .ord = 4,
		  .c_ird = 4, .c_ord = 4, .reply = KWRAW_MPA_S, .r_ird = 4, .r_ord = 4 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(offers); i++)
		rp_accepted(r, &offers[i], "offer", i);
}

/*
 * Set each flag that the device has to ignore in a Request: R and the reserved bits. In revision 1
 * flag S is reserved, too, and all private data belongs to the consumer.
 */
static void odd_flags(struct rp *r)
{
	struct rp_offer o = { .pd_len = 8, .told = 8, .c_ird = 4, .c_ord = 4 };
	int bit, rev;

	for (rev = 1; rev <= 2; rev++)
		for (bit = 0; bit < 6; bit++) {
			if (rev == 2 && bit == 4)
				continue;
			o.rev = rev;
			o.flags = 1 << bit;
			rp_accepted(r, &o, "flag", bit);
		}
}

/* Make a connection that the consumer rejects. @what, @n: its name in the message of a failure. */
static void rejected(struct rp *r, const struct rp_offer *o, const char *what, int n)
{
	struct kwraw_mpa m;

	if (r->failed || !rp_send_offer(r, o))
		return;
	rp_check_told(r, rp_ctl("reject %d", rp_soon()), o->told);
	if (!kwraw_mpa_recv(&r->c, kwraw_rep_key, &m, rp_soon()))
		rp_fail(r, "no Reply");
	else if ((m.flags & (KWRAW_MPA_R | KWRAW_MPA_S)) !=
		 (KWRAW_MPA_R | (o->flags & KWRAW_MPA_S)) || m.rev != o->rev)
		rp_fail(r, "Reply %02x %02x, must reject", m.flags, m.rev);
	else if (m.pd_len < 2 || memcmp(m.pd + m.pd_len - 2, "no", 2))
		rp_fail(r, "the consumer's reason is missing");
	rp_ended(r, RP_BY_FIN);
	rp_again(r, what, n);
}

/*
 * Try all lengths of private data, or each 37th of most lengths if the factor on time limits says
 * that the machine is slow. A connection event can report 255 octets at most.
 */
static void all_pd(struct rp *r)
{
	struct rp_offer o = { .rev = 1 };
	int n, step = rp_where.slow > 4 ? 37 : 1;

	for (n = 0; n <= 512; n += n < 8 || n > 500 ? 1 : step) {
		o.pd_len = n;
		o.told = n < 256 ? n : RP_ANY_LENGTH;
		rejected(r, &o, "private data", n);
	}
}

static void rejects(struct rp *r)
{
	static const struct rp_offer offers[] = {
		{ .rev = 1, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .flags = KWRAW_MPA_S, .ird = 4, .ord = 4, .c_ird = 4, .c_ord = 4 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(offers); i++)
		rejected(r, &offers[i], "reject", i);
}

const struct rp_case rp_cases_request_reported[] = {
	{ .name = "req-revision-good", .ids = "6581-6-8 6581-10-5 6581-6-9 6581-9-1 5044-7.1.1-22",
	  .role = RP_INIT, .run = good_revisions },
	{ .name = "req-flags", .ids = "5044-7.1.1-13 5044-7.1.1-16 6581-6-4 6581-6-12",
	  .role = RP_INIT, .run = odd_flags },
	{ .name = "req-pd-all", .ids = "5044-7.1.1-25 5044-7.1.2-26 5044-7.1.2-5 5044-7.1.1-14",
	  .role = RP_INIT, .run = all_pd },
	{ .name = "req-rejected", .ids = "5044-7.1.1-14 5044-7.1.2-5 6581-10-6",
	  .role = RP_INIT, .run = rejects },
	{ .name = NULL }
};
