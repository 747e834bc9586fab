// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Replies after which there is no connection: wrong ones, and those that reject
 * (RFC 5044 section 7.1, RFC 6581).
 */
#include "runner/responder.h"

#include <string.h>

static void bad_keys(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t len;
	int i;

	for (i = 0; i < 16; i++) {
		if (!rp_begin_reply(r, &m))
			return;
		len = kwraw_mpa_encode(&m, buf);
		buf[i] ^= 1 << (i % 8);
		kwraw_send(&r->c, buf, len);
		rp_failed_with(r, "CONNECT_ERROR", "key octet", i);
	}
}

static void request_key(struct rp *r)
{
	struct kwraw_mpa m;

	if (!rp_begin_reply(r, &m))
		return;
	memcpy(m.key, kwraw_req_key, sizeof(m.key));
	rp_reply_fails(r, &m, "CONNECT_ERROR", "Request's key", 0);
}

static void bad_revisions(struct rp *r)
{
	struct kwraw_mpa m;
	int rev;

	for (rev = 0; rev < 256; rev += rev > 16 ? 17 : 1) {
		if (rev == 1 || rev == 2)
			continue;
		if (!rp_begin_reply(r, &m))
			return;
		m.rev = rev;
		rp_reply_fails(r, &m, "CONNECT_ERROR", "revision", rev);
	}
}

static void long_pd(struct rp *r)
{
	static const int lens[] = { 513, 514, 0x7fff, 0x8000, 0xffff };
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		if (!rp_begin_reply(r, &m))
			return;
		m.pd_len = lens[i];
		rp_reply_fails(r, &m, "CONNECT_ERROR", "PD_Length", lens[i]);
	}
}

static void enhanced_short(struct rp *r)
{
	struct kwraw_mpa m;
	int n, reject;

	for (reject = 0; reject < 2; reject++)
		for (n = 0; n < 4; n++) {
			if (!rp_begin_reply(r, &m))
				return;
			m.pd_len = n;
			m.flags |= reject ? KWRAW_MPA_R : 0;
			rp_reply_fails(r, &m, "CONNECT_ERROR", "PD_Length", n);
		}
}

static void short_pd(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	int less;

	for (less = 1; less < 8; less += 3) {
		if (!rp_begin_reply(r, &m))
			return;
		m.pd_len = 10;
		kwraw_send(&r->c, buf, kwraw_mpa_encode(&m, buf) - less);
		kwraw_fin(&r->c);
		rp_failed_with(r, "", "octets missing", less);
	}
}

static void not_enhanced(struct rp *r)
{
	struct kwraw_mpa m;

	if (!rp_begin_reply(r, &m))
		return;
	m.flags &= ~KWRAW_MPA_S;
	rp_reply_fails(r, &m, "CONNECT_ERROR", "S=0", 0);
}

static void rejecting(struct rp *r)
{
	static const uint16_t lens[] = { 4, 5, 100, 512 };
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		if (!rp_begin_reply(r, &m))
			return;
		m.pd_len = lens[i];
		m.flags |= KWRAW_MPA_R;
		rp_reply_fails(r, &m, "REJECTED", "private data", lens[i]);
	}
}

const struct rp_case rp_cases_reply_refused[] = {
	{ .name = "rep-key", .ids = "5044-7.1.1-4 5044-7.1.2-13 5044-7.1.2-17 5044-8-7",
	  .role = RP_RESP, .run = bad_keys },
	{ .name = "rep-is-request", .ids = "5044-7.1.2-23 5044-7.1-9",
	  .role = RP_RESP, .run = request_key },
	{ .name = "rep-revision-bad", .ids = "5044-7.1.1-18 5044-7.1.1-19 5044-C.2.2-1 6581-6-13",
	  .role = RP_RESP, .run = bad_revisions },
	{ .name = "rep-pd-long", .ids = "5044-7.1.1-23 5044-7.1.2-25 5044-7.1.2-13 6581-7-3",
	  .role = RP_RESP, .run = long_pd },
	{ .name = "rep-pd-short", .ids = "5044-7.1.1-23 5044-7.1.2-12",
	  .role = RP_RESP, .run = short_pd },
	{ .name = "rep-enhanced-short", .ids = "6581-6-11 5044-7.1.2-13",
	  .role = RP_RESP, .run = enhanced_short },
	{ .name = "rep-not-enhanced", .ids = "6581-10-6",
	  .role = RP_RESP, .run = not_enhanced },
	{ .name = "rep-rejecting",
	  .ids = "5044-7.1.1-14 5044-7.1.2-14 5044-7.1.2-26 5044-7.1.4.2-2",
	  .role = RP_RESP, .run = rejecting },
	{ .name = NULL }
};
