// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Startup with the raw peer as Initiator: what Requests do to a
 * listener (RFC 5044 section 7.1, RFC 6581).
 */
#include "runner/control.h"
#include "runner/start.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------- refused Requests */

/* Send octets that must not be reported to the consumer. */
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

static size_t good_request(uint8_t *buf, uint8_t rev, uint16_t pd_len)
{
	struct kwraw_mpa m;

	kwraw_mpa_init(&m, kwraw_req_key, KWRAW_MPA_C, rev);
	m.pd_len = pd_len;
	return kwraw_mpa_encode(&m, buf);
}

static void bad_keys(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len;
	int i;

	for (i = 0; i < 16; i++) {
		len = good_request(buf, 2, 5);
		buf[i] ^= 1 << (i % 8);
		refused(r, buf, len, false, "key octet", i);
	}
}

static void reply_key(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len = good_request(buf, 2, 5);

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
		len = good_request(buf, rev, 5);
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
			len = good_request(buf, rev, lens[i]);
			refused(r, buf, len, false, "PD_Length", lens[i]);
		}
}

static void short_pd(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len = good_request(buf, 1, 10);

	refused(r, buf, len - 5, true, "private data cut short", 5);
	refused(r, buf, len - 10, true, "private data missing", 10);
	refused(r, buf, 19, true, "header cut short", 19);
}

static void more_pd(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX + 5] = { 0 };
	size_t len = good_request(buf, 1, 5);

	refused(r, buf, len + 5, false, "octets after private data", 5);
}

static void enhanced_short(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len;
	int n;

	for (n = 0; n < 4; n++) {
		len = good_request(buf, 2, n);
		buf[16] |= KWRAW_MPA_S;
		refused(r, buf, len, false, "enhanced, PD_Length", n);
	}
}

/* ------------------------------------------------------------ accepted Requests */

#define ANY_LENGTH	9999

/**
 * struct offer - a Request, and the Reply that has to come
 * @rev, @flags: of the Request; C is added as the run wants it
 * @pd_len: private data after the enhanced part
 * @ird, @ord: with their flags, if S is set
 * @c_ird, @c_ord: what the consumer wants
 * @reply: flags, without C; @r_ird, @r_ord: with their flags
 * @told: length of private data that the consumer sees
 */
struct offer {
	uint8_t rev, flags;
	uint16_t pd_len, ird, ord, c_ird, c_ord;
	uint8_t reply;
	uint16_t r_ird, r_ord;
	unsigned int told;
};

static bool send_offer(struct rp *r, const struct offer *o)
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

static void check_told(struct rp *r, const char *got, unsigned int want)
{
	unsigned int told = ~0u;

	if (got)
		sscanf(got, "%*s %*d %u", &told);
	if (told == ~0u || (want != ANY_LENGTH && told != want))
		rp_fail(r, "the consumer sees '%s', must see %u octets", got ? got : "nothing",
			want);
}

/* The Reply, octet by octet. */
static void check_reply(struct rp *r, const struct offer *o)
{
	uint8_t want[KWRAW_MPA_MAX], is[KWRAW_MPA_MAX];
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
		rp_fail(r, "Reply %02x %02x %02x%02x | %02x%02x %02x%02x, must be %02x %02x %02x%02x | %02x%02x %02x%02x",
			is[16], is[17], is[18], is[19], is[20], is[21], is[22], is[23],
			want[16], want[17], want[18], want[19], want[20], want[21], want[22],
			want[23]);
	kwraw_full_operation(&r->c, &r->asked, &theirs);
}

/* A Send, which opens the device's half, and what the consumer gets. */
static void exchange(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true },
		{ RP_WC, .wc = IBV_WC_RECV, .len = 64 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ .what = RP_DONE },
	};

	if (!r->failed)
		rp_steps(r, steps);
}

static void accepted(struct rp *r, const struct offer *o, const char *what, int n)
{
	if (r->failed || !send_offer(r, o))
		return;
	check_told(r, rp_ctl("accept %d", rp_soon()), o->told);
	check_reply(r, o);
	if (!r->failed)
		rp_cm(r, "ESTABLISHED");
	exchange(r);
	rp_again(r, what, n);
}

static void good_revisions(struct rp *r)
{
	static const struct offer offers[] = {
		{ .rev = 1, .c_ird = 4, .c_ord = 4 },
		{ .rev = 1, .pd_len = 5, .told = 5, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .pd_len = 5, .told = 5, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .flags = KWRAW_MPA_S, .pd_len = 5, .told = 5, .ird = 4, .ord = 4,
		  .c_ird = 4, .c_ord = 4, .reply = KWRAW_MPA_S, .r_ird = 4, .r_ord = 4 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(offers); i++)
		accepted(r, &offers[i], "offer", i);
}

/* Every reserved bit, and R. In revision 1 S is reserved, and all data is the ULP's. */
static void odd_flags(struct rp *r)
{
	struct offer o = { .pd_len = 8, .told = 8, .c_ird = 4, .c_ord = 4 };
	int bit, rev;

	for (rev = 1; rev <= 2; rev++)
		for (bit = 0; bit < 6; bit++) {
			if (rev == 2 && bit == 4)
				continue;
			o.rev = rev;
			o.flags = 1 << bit;
			accepted(r, &o, "flag", bit);
		}
}

/* IRD and ORD: ours, the consumer's, and what the Reply has to say. */
static void depths(struct rp *r)
{
	static const struct { uint16_t ird, ord, c_ird, c_ord, r_ird, r_ord; } t[] = {
		{ 16, 8, 8, 4, 8, 4 },
		{ 16, 8, 128, 64, 8, 16 },
		{ 16, 8, 8, 16, 8, 16 },
		{ 1, 1, 4, 4, 1, 1 },
		{ 0, 0, 4, 4, 0, 0 },
		{ 16, 200, 128, 4, 128, 4 },
		{ 0x3ffe, 0x3ffe, 128, 4, 128, 4 },
		{ 0x3fff, 8, 8, 4, 8, 0x3fff },
		{ 16, 0x3fff, 8, 4, 0x3fff, 4 },
		{ 0x3fff, 0x3fff, 4, 4, 0x3fff, 0x3fff },
		{ 0x0102, 0x0011, 128, 100, 0x11, 100 },
	};
	struct offer o = { .rev = 2, .flags = KWRAW_MPA_S, .reply = KWRAW_MPA_S };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		o.ird = t[i].ird;
		o.ord = t[i].ord;
		o.c_ird = t[i].c_ird;
		o.c_ord = t[i].c_ord;
		o.r_ird = t[i].r_ird;
		o.r_ord = t[i].r_ord;
		accepted(r, &o, "depths", i);
	}
}

/* What the peer has, the consumer is told, whatever comes of it. */
static void depths_told(struct rp *r)
{
	struct offer o = { .rev = 2, .flags = KWRAW_MPA_S, .ird = 5, .ord = 7, .c_ird = 8,
			   .c_ord = 8 };
	unsigned int depth = 0, resources = 0;
	const char *got;

	if (!send_offer(r, &o))
		return;
	got = rp_ctl("accept %d", rp_soon());
	if (!got || sscanf(got, "%*s %*d %*u %u %u", &depth, &resources) != 2 || depth != 5 ||
	    resources != 7)
		rp_fail(r, "the consumer is told IRD %u, ORD %u, must be 5, 7", depth, resources);
	kwraw_reset(&r->c);
	r->up = false;
	rp_ctl("destroy");
}

/* The consumer has posted a Send, and the device must not send it before the raw peer has sent. */
static void device_waits(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ .what = RP_QUIET },
		{ RP_SEG, .op = KWRAW_WRITE },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ .what = RP_DONE },
	};

	if (rp_open(r))
		rp_steps(r, steps);
}

/* With A=0, B, C and D are ignored, and nobody waits for an RTR. */
static void flags_without_a(struct rp *r)
{
	struct offer o = { .rev = 2, .flags = KWRAW_MPA_S, .reply = KWRAW_MPA_S, .c_ird = 4,
			   .c_ord = 4, .r_ird = 4, .r_ord = 4 };
	int bcd;

	for (bcd = 0; bcd < 8; bcd++) {
		o.ird = 4 | (bcd & 4 ? RP_B : 0);
		o.ord = 4 | (bcd & 2 ? RP_C : 0) | (bcd & 1 ? RP_D : 0);
		accepted(r, &o, "B, C, D", bcd);
	}
}

/* ---------------------------------------------------------------------- rejects */

static void rejected(struct rp *r, const struct offer *o, const char *what, int n)
{
	struct kwraw_mpa m;

	if (r->failed || !send_offer(r, o))
		return;
	check_told(r, rp_ctl("reject %d", rp_soon()), o->told);
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

/* All lengths of private data; the event can tell 255 octets at most. */
static void all_pd(struct rp *r)
{
	struct offer o = { .rev = 1 };
	int n, step = rp_where.slow > 4 ? 37 : 1;

	for (n = 0; n <= 512; n += n < 8 || n > 500 ? 1 : step) {
		o.pd_len = n;
		o.told = n < 256 ? n : ANY_LENGTH;
		rejected(r, &o, "private data", n);
	}
}

static void rejects(struct rp *r)
{
	static const struct offer offers[] = {
		{ .rev = 1, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .c_ird = 4, .c_ord = 4 },
		{ .rev = 2, .flags = KWRAW_MPA_S, .ird = 4, .ord = 4, .c_ird = 4, .c_ord = 4 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(offers); i++)
		rejected(r, &offers[i], "reject", i);
}

/* -------------------------------------------------------------------------- RTR */

#define RTR_SEND	4
#define RTR_WRITE	2
#define RTR_READ	1

static int rtr_of(const struct kwraw_mpa *m)
{
	uint16_t ird = m->pd[0] << 8 | m->pd[1], ord = m->pd[2] << 8 | m->pd[3];

	if (m->pd_len < 4 || !(ird & RP_A))
		return -1;
	return (ird & RP_B ? RTR_SEND : 0) | (ord & RP_C ? RTR_WRITE : 0) |
	       (ord & RP_D ? RTR_READ : 0);
}

/* The RTR of this form, with an STag and a TO that mean nothing. */
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

static void p2p(struct rp *r, int bcd, uint16_t depth)
{
	struct offer o = { .rev = 2, .flags = KWRAW_MPA_S, .c_ird = depth, .c_ord = depth,
			   .ird = depth | RP_A | (bcd & RTR_SEND ? RP_B : 0),
			   .ord = depth | (bcd & RTR_WRITE ? RP_C : 0) |
				  (bcd & RTR_READ ? RP_D : 0) };
	struct rp_step read = { RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 9 },
		       answer = { RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .len = 9 };
	struct kwraw_mpa theirs;
	int form;

	if (!send_offer(r, &o) || !rp_ctl("accept %d", rp_soon()) ||
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
	struct offer o = { .rev = 2, .flags = KWRAW_MPA_S, .c_ird = 4, .c_ord = 4,
			   .ird = 4 | RP_A, .ord = 4 | RP_C };
	struct kwraw_mpa theirs;

	if (!send_offer(r, &o) || !rp_ctl("accept %d", rp_soon()) ||
	    !kwraw_mpa_recv(&r->c, kwraw_rep_key, &theirs, rp_soon())) {
		rp_fail(r, "no Reply");
		return;
	}
	kwraw_fin(&r->c);
	rp_ended(r, RP_ANY_END);
	/* rdma_cm reports a failed accept by the same event, with a status. */
	if (rp_ctl("cm %d", rp_soon()) && !strncmp(rp_ctl_no(), "ok ESTABLISHED 0", 16))
		rp_fail(r, "established without an RTR");
}

/* ---------------------------------------------------------------- CRC, markers */

static void crc_choices(struct rp *r)
{
	struct offer o = { .rev = 1, .c_ird = 4, .c_ord = 4 };

	accepted(r, &o, "C as the run", 0);
	/* If the raw peer asks for CRCs, they are used, whatever the device wants. */
	o.flags = KWRAW_MPA_C;
	o.reply = KWRAW_MPA_C;
	accepted(r, &o, "C", 1);
}

/* If the raw peer does not ask for CRCs, they are used if the device wants them. */
static void crc_not_asked(struct rp *r)
{
	struct offer o = { .rev = 1, .c_ird = 4, .c_ord = 4, .reply = KWRAW_MPA_C };
	bool want = rp_where.want_crc;

	rp_where.want_crc = false;
	accepted(r, &o, "no C", 0);
	rp_where.want_crc = want;
}

static void markers_asked(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true },
		{ RP_WC, .wc = IBV_WC_RECV, .len = 64 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 3 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 1001 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 3 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 1001 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		{ RP_WC, .wr = 102, .wc = IBV_WC_SEND },
		{ .what = RP_DONE },
	};

	if (rp_open_with_markers(r))
		rp_steps(r, steps);
}

/* Messages of so many lengths that a marker falls on every place where one can. */
static void markers_everywhere(struct rp *r)
{
	struct rp_step post = { RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC },
		       get = { RP_GET, .op = KWRAW_SEND, .at = KWT_SRC },
		       done = { RP_WC, .wc = IBV_WC_SEND, .wr = 100 },
		       open = { RP_SEG, .op = KWRAW_WRITE };
	unsigned int step = rp_where.slow > 4 ? 7 : 1;

	if (!rp_open_with_markers(r))
		return;
	rp_seg(r, &open);
	for (; !r->failed && get.len < 560; get.len += step, done.wr++) {
		post.len = get.len;
		rp_steps(r, (struct rp_step[]){ post, get, done, { .what = RP_DONE } });
	}
}

/* ---------------------------------------------------------------------- MULPDU */

#define MULPDU_LEN	5000
#define TIMESTAMPS	12

/* One message in segments, which @ask causes: all but the last one as long as they may be. */
static void longest_segments(struct rp *r, struct rp_step ask, struct rp_step get,
			     unsigned int max)
{
	unsigned int left = MULPDU_LEN;

	max -= get.op == KWRAW_SEND ? KWRAW_UNTAGGED_HDR : KWRAW_TAGGED_HDR;
	rp_steps(r, (struct rp_step[]){ ask, { .what = RP_DONE } });
	while (left && !r->failed) {
		get.len = left < max ? left : max;
		left -= get.len;
		get.more = left;
		rp_expect(r, &get);
		get.off += get.len;
	}
}

/* A message of each kind; every octet of the header of each segment counts. */
static void long_messages(struct rp *r, unsigned int max)
{
	static const struct rp_step
		send = { RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = MULPDU_LEN },
		write = { RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = MULPDU_LEN },
		read = { RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = MULPDU_LEN },
		get_send = { RP_GET, .op = KWRAW_SEND, .at = KWT_SRC },
		get_write = { RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC },
		get_response = { RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW },
		wc[] = { { RP_WC, .wc = IBV_WC_SEND, .wr = 100 },
			 { RP_WC, .wc = IBV_WC_RDMA_WRITE, .wr = 101 },
			 { .what = RP_DONE } };

	longest_segments(r, send, get_send, max);
	longest_segments(r, write, get_write, max);
	longest_segments(r, read, get_response, max);
	rp_steps(r, wc);
}

static void mulpdu(struct rp *r)
{
	static const int sizes[] = { 536, 1000, 1003, 1460 };
	static const struct rp_step open = { RP_SEG, .op = KWRAW_WRITE };
	unsigned int emss;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes) && !r->failed; i++) {
		emss = sizes[i] - TIMESTAMPS;
		kwraw_mss = sizes[i];
		if (rp_open(r)) {
			rp_seg(r, &open);
			if (rp_where.want_markers)
				emss -= 4 * ((emss + 511) / 512);
			long_messages(r, emss - 6 - (sizes[i] - TIMESTAMPS) % 4);
		}
		rp_again(r, "MSS", sizes[i]);
	}
	kwraw_mss = 0;
}

/* ----------------------------------------------------------------------- others */

/* Connections that stop at some octet do not prevent others. */
static void others_get_through(struct rp *r)
{
	static const size_t stops[] = { 0, 1, 7, 16, 17, 19, 20, 22 };
	struct kwraw idle[ARRAY_SIZE(stops)];
	uint8_t buf[KWRAW_MPA_MAX];
	size_t i;

	good_request(buf, 2, 5);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		if (kwraw_connect(&idle[i], rp_where.addr, rp_where.port) ||
		    kwraw_send(&idle[i], buf, stops[i]))
			kw_die(KW_SETUP, "cannot connect");
	if (rp_open(r))
		exchange(r);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		kwraw_reset(&idle[i]);
}

/* An FPDU immediately after the Reply, before the consumer gets its event. */
static void fpdu_at_once(struct rp *r)
{
	struct rp_step send = { RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true },
		       taken = { RP_WC, .wc = IBV_WC_RECV, .len = 64 };
	struct offer o = { .rev = 1, .c_ird = 4, .c_ord = 4 };
	int i;

	for (i = 0; i < 20 && !r->failed; i++) {
		if (!send_offer(r, &o) || !rp_ctl("accept %d", rp_soon()))
			rp_fail(r, "not accepted");
		check_reply(r, &o);
		if (r->failed)
			return;
		rp_seg(r, &send);
		rp_cm(r, "ESTABLISHED");
		rp_expect(r, &taken);
		rp_again(r, "round", i);
	}
}

static void fpdu_too_early(struct rp *r)
{
	static uint8_t buf[KWRAW_MPA_MAX + KWRAW_FPDU_MAX];
	uint8_t ulpdu[KWRAW_UNTAGGED_HDR];
	struct kwraw c = { .crc = true };
	size_t len = good_request(buf, 1, 0);
	struct kwraw_seg s;

	kwraw_seg_init(&s, KWRAW_SEND);
	kwraw_seg_encode(&s, ulpdu);
	len += kwraw_fpdu_encode(&c, ulpdu, sizeof(ulpdu), 0, buf + len);
	refused(r, buf, len, false, "FPDU after the Request", 0);
}

/*
 * The listener is destroyed while connections are in all states of the startup. iw_cm drops a
 * Request that it has not passed on, and the timer of ten seconds ends that connection.
 */
static void listener_closed(struct rp *r)
{
	static const size_t stops[] = { 0, 10, 20, 25 };
	struct kwraw c[ARRAY_SIZE(stops)];
	uint8_t buf[KWRAW_MPA_MAX];
	size_t i;

	good_request(buf, 1, 5);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		if (kwraw_connect(&c[i], rp_where.addr, rp_where.port) ||
		    kwraw_send(&c[i], buf, stops[i]))
			kw_die(KW_SETUP, "cannot connect");
	rp_begin(r);
	rp_ctl("relisten");
	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		if (kwraw_wait_end(&c[i], rp_soon() + 10000, NULL) == KWRAW_OPEN)
			rp_fail(r, "a connection with %zu octets outlives the listener", stops[i]);
		kwraw_close(&c[i]);
	}
	rp_again(r, "closed", 0);
	if (!r->failed && rp_open(r))
		exchange(r);
}

/* The peer closes while the consumer accepts, at different moments. */
static void accept_races(struct rp *r)
{
	struct offer o = { .rev = 1, .c_ird = 4, .c_ord = 4 };
	int i;

	for (i = 0; i < 40 && !r->failed; i++) {
		if (!send_offer(r, &o))
			return;
		if (i & 1)
			kwraw_reset(&r->c);
		else
			kwraw_fin(&r->c);
		rp_ctl("accept %d", i % 5);
		if (r->c.fd >= 0)
			kwraw_close(&r->c);
		r->up = false;
		rp_ctl("cm 20");
		rp_ctl("destroy");
	}
	if (rp_open(r))
		exchange(r);
}

const struct rp_case rp_cases_req[] = {
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
	{ .name = "req-revision-good", .ids = "6581-6-8 6581-10-5 6581-6-9 6581-9-1 5044-7.1.1-22",
	  .role = RP_INIT, .run = good_revisions },
	{ .name = "req-flags", .ids = "5044-7.1.1-13 5044-7.1.1-16 6581-6-4 6581-6-12",
	  .role = RP_INIT, .run = odd_flags },
	{ .name = "req-pd-all", .ids = "5044-7.1.1-25 5044-7.1.2-26 5044-7.1.2-5 5044-7.1.1-14",
	  .role = RP_INIT, .run = all_pd },
	{ .name = "req-pd-long", .ids = "5044-7.1.1-23 5044-7.1.2-25 5044-7.1.2-28 6581-7-3 5042-D-2",
	  .role = RP_INIT, .run = long_pd },
	{ .name = "req-pd-short", .ids = "5044-7.1.1-23 5044-7.1.2-25",
	  .role = RP_INIT, .run = short_pd },
	{ .name = "req-pd-more", .ids = "5044-7.1.1-23 5044-7.1.2-27",
	  .role = RP_INIT, .plain = true, .run = more_pd },
	{ .name = "req-enhanced-short", .ids = "6581-6-11 5044-7.1.2-4",
	  .role = RP_INIT, .run = enhanced_short },
	{ .name = "req-depths", .ids = "6581-9-3 6581-9.1-3 6581-9.1-16 6581-9.1-17 6581-9.1-20 6581-9.1-23 6581-12-1",
	  .role = RP_INIT, .run = depths },
	{ .name = "req-depths-told", .ids = "6581-9.1-4",
	  .role = RP_INIT, .run = depths_told },
	{ .name = "req-device-waits", .ids = "5044-7.1.2-16 5044-7.1.2-11",
	  .role = RP_INIT, .run = device_waits },
	{ .name = "req-flags-without-a", .ids = "6581-9.2-21 6581-9.2-1",
	  .role = RP_INIT, .run = flags_without_a },
	{ .name = "req-rejected", .ids = "5044-7.1.1-14 5044-7.1.2-5 6581-10-6",
	  .role = RP_INIT, .run = rejects },
	{ .name = "req-rtr", .ids = "6581-9.2-7 6581-9.2-2 6581-9.2-3 6581-9.2-4 6581-9.2-24 6581-1.1-2",
	  .role = RP_INIT, .run = rtr_forms },
	{ .name = "req-rtr-read-depth", .ids = "6581-9.2-23",
	  .role = RP_INIT, .run = rtr_read_depth },
	{ .name = "req-rtr-missing", .ids = "6581-1.1-2",
	  .role = RP_INIT, .run = rtr_missing },
	{ .name = "req-crc", .ids = "5044-7.1.1-10 5044-4.4-9 5044-4.4-6",
	  .role = RP_INIT, .run = crc_choices },
	{ .name = "req-crc-not-asked", .ids = "5044-7.1.1-10 5044-4.4-9 5044-1.2-2",
	  .role = RP_INIT, .crc = true, .run = crc_not_asked },
	{ .name = "req-markers", .ids = "5044-4.3-2 5044-4.3-1 5044-4.3-12",
	  .role = RP_INIT, .run = markers_asked },
	{ .name = "req-markers-everywhere", .ids = "5044-4.3-4 5044-4.3-5 5044-4.3-10 5044-4.3-11 5044-4.3-13 5044-4.3-14 5044-4.3-15 5044-4.4-15 5044-4.4-16 5044-4.1-3 5044-7.1.1-5 5044-7.1.1-8",
	  .role = RP_INIT, .run = markers_everywhere },
	{ .name = "req-mulpdu", .ids = "5041-5.2-2 5044-3-2 5041-5.2-1 5041-5.2-7 5041-5.2-10 5041-4.1-4 5041-4.1-5 5041-4.1-6 5041-4.2-5 5041-4.2-6 5041-4.2-12 5041-4.2-13 5041-4.3-11 5041-4.3-16 5040-3.1-4 5040-5.2.2-10",
	  .role = RP_INIT, .plain = true, .run = mulpdu },
	{ .name = "req-others-get-through", .ids = "5042-D-4 5040-1.1-3",
	  .role = RP_INIT, .run = others_get_through },
	{ .name = "req-fpdu-at-once", .ids = "5044-7.1.2-10",
	  .role = RP_INIT, .run = fpdu_at_once },
	{ .name = "req-fpdu-too-early", .ids = "5044-7.1.1-23 5044-7.1.2-11",
	  .role = RP_INIT, .plain = true, .run = fpdu_too_early },
	{ .name = "req-listener-closed", .ids = "5042-D-4",
	  .role = RP_INIT, .run = listener_closed },
	{ .name = "req-accept-races", .ids = "5042-D-4",
	  .role = RP_INIT, .run = accept_races },
	{ .name = NULL }
};
