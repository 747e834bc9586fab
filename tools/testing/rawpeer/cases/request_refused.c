// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Requests that the device refuses: the connection ends, and the consumer, which
 * listens, gets no event (RFC 5044 section 7.1, RFC 6581).
 */
#include "runner/control.h"
#include "runner/initiator.h"

#include <string.h>

/*
 * Send octets, and a FIN if @fin is set. The connection has to end, and the consumer must get no
 * event. @what, @n: name of the connection in the message of a failure.
 */
static void refused(struct rp *r, const uint8_t *buf, size_t len, bool fin, const char *what, int n)
{
	if (r->failed)
		return;
	rp_begin(r);
	if (!rp_tcp(r))
		return;
	kwraw_send(&r->c, buf, len);
	if (fin)
		kwraw_fin(&r->c);
	rp_ended(r, RP_ANY_END);
	if (rp_ctl("cm 0"))
		rp_fail(r, "the consumer was told");
	rp_again(r, what, n);
}

static void bad_keys(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len;
	int i;

	for (i = 0; i < 16; i++) {
		len = rp_good_request(buf, 2, 5);
		buf[i] ^= 1 << (i % 8);
		refused(r, buf, len, false, "key octet", i);
	}
}

static void reply_key(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len = rp_good_request(buf, 2, 5);

	memcpy(buf, kwraw_rep_key, 16);
	refused(r, buf, len, false, "Reply's key", 0);
}

static void other_protocol(struct rp *r)
{
	static const char get[] = "GET / HTTP/1.0\r\n\r\n";

	refused(r, (const uint8_t *)get, sizeof(get) - 1, false, "HTTP", 0);
}

static void fpdu_first(struct rp *r)
{
	static uint8_t buf[KWRAW_FPDU_MAX];
	uint8_t ulpdu[KWRAW_UNTAGGED_HDR];
	struct kwraw_seg s;
	struct kwraw c = { .crc = true };

	kwraw_seg_init(&s, KWRAW_SEND);
	kwraw_seg_encode(&s, ulpdu);
	refused(r, buf, kwraw_fpdu_encode(&c, ulpdu, sizeof(ulpdu), 0, buf), false, "FPDU", 0);
}

static void bad_revisions(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len;
	int rev;

	for (rev = 0; rev < 256; rev += rev > 16 ? 17 : 1) {
		if (rev == 1 || rev == 2)
			continue;
		len = rp_good_request(buf, rev, 5);
		refused(r, buf, len, false, "revision", rev);
	}
}

static void long_pd(struct rp *r)
{
	static const int lens[] = { 513, 514, 1024, 0x7fff, 0x8000, 0xfffc, 0xffff };
	uint8_t buf[KWRAW_MPA_MAX];
	size_t i, len;
	int rev;

	for (rev = 1; rev <= 2; rev++)
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			len = rp_good_request(buf, rev, lens[i]);
			refused(r, buf, len, false, "PD_Length", lens[i]);
		}
}

static void short_pd(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len = rp_good_request(buf, 1, 10);

	refused(r, buf, len - 5, true, "private data cut short", 5);
	refused(r, buf, len - 10, true, "private data missing", 10);
	refused(r, buf, 19, true, "header cut short", 19);
}

static void more_pd(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX + 5] = { 0 };
	size_t len = rp_good_request(buf, 1, 5);

	refused(r, buf, len + 5, false, "octets after private data", 5);
}

static void enhanced_short(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len;
	int n;

	for (n = 0; n < 4; n++) {
		len = rp_good_request(buf, 2, n);
		buf[16] |= KWRAW_MPA_S;
		refused(r, buf, len, false, "enhanced, PD_Length", n);
	}
}

static void fpdu_too_early(struct rp *r)
{
	static uint8_t buf[KWRAW_MPA_MAX + KWRAW_FPDU_MAX];
	uint8_t ulpdu[KWRAW_UNTAGGED_HDR];
	struct kwraw c = { .crc = true };
	size_t len = rp_good_request(buf, 1, 0);
	struct kwraw_seg s;

	kwraw_seg_init(&s, KWRAW_SEND);
	kwraw_seg_encode(&s, ulpdu);
	len += kwraw_fpdu_encode(&c, ulpdu, sizeof(ulpdu), 0, buf + len);
	refused(r, buf, len, false, "FPDU after the Request", 0);
}

const struct rp_case rp_cases_request_refused[] = {
	{ .name = "req-key", .ids = "5044-7.1.1-2 5044-7.1.2-4 5044-7.1.2-17 5044-8-7",
	  .role = RP_INIT, .run = bad_keys },
	{ .name = "req-is-reply", .ids = "5044-7.1.2-23 5044-7.1.1-2",
	  .role = RP_INIT, .run = reply_key },
	{ .name = "req-other-protocol", .ids = "5044-7.1.3-1 5044-7.1.2-4",
	  .role = RP_INIT, .run = other_protocol },
	{ .name = "req-fpdu-first", .ids = "5044-7.1.2-3 5041-6.1-2",
	  .role = RP_INIT, .run = fpdu_first },
	{ .name = "req-revision-bad", .ids = "5044-7.1.1-18 5044-7.1.1-19 6581-6-13",
	  .role = RP_INIT, .run = bad_revisions },
	{ .name = "req-pd-long", .ids = "5044-7.1.1-23 5044-7.1.2-25 5044-7.1.2-28 6581-7-3 5042-D-2",
	  .role = RP_INIT, .run = long_pd },
	{ .name = "req-pd-short", .ids = "5044-7.1.1-23 5044-7.1.2-25",
	  .role = RP_INIT, .run = short_pd },
	{ .name = "req-pd-more", .ids = "5044-7.1.1-23 5044-7.1.2-27",
	  .role = RP_INIT, .plain = true, .run = more_pd },
	{ .name = "req-enhanced-short", .ids = "6581-6-11 5044-7.1.2-4",
	  .role = RP_INIT, .run = enhanced_short },
	{ .name = "req-fpdu-too-early", .ids = "5044-7.1.1-23 5044-7.1.2-11",
	  .role = RP_INIT, .plain = true, .run = fpdu_too_early },
	{ .name = NULL }
};
