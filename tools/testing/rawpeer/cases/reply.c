// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Startup with the raw peer as Responder: what Replies do to a
 * consumer that connects (RFC 5044 section 7.1, RFC 6581).
 */
#include "runner/control.h"
#include "runner/start.h"

#include <stdio.h>
#include <string.h>

/* The consumer connects; its Request is in r->asked. */
static bool called(struct rp *r, unsigned int ird, unsigned int ord)
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

/* The consumer connects again with revision 1, because it has taken the peer for an older one. */
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

static void good_reply(struct rp *r, struct kwraw_mpa *m)
{
	uint16_t ird = r->asked.pd[0] << 8 | r->asked.pd[1];
	uint16_t ord = r->asked.pd[2] << 8 | r->asked.pd[3];

	kwraw_mpa_init(m, kwraw_rep_key, rp_flags(), r->asked.rev);
	if (r->asked.flags & KWRAW_MPA_S)
		rp_depths(m, (ord & RP_DEPTH) | (ird & RP_A),
			  (ird & RP_DEPTH) | (ird & RP_A ? RP_C : 0));
}

/* Only the end of the connection comes, and the consumer gets an error. */
static void failed_with(struct rp *r, const char *event, const char *what, int n)
{
	if (!r->failed)
		rp_ended(r, RP_ANY_END);
	if (!r->failed)
		rp_cm(r, event);
	rp_again(r, what, n);
}

/* ---------------------------------------------------------------------- Request */

/* What is left is a rejecting Reply. */
static void refuse(struct rp *r)
{
	struct kwraw_mpa m;

	good_reply(r, &m);
	m.flags |= KWRAW_MPA_R;
	rp_send_frame(r, &m);
	failed_with(r, "REJECTED", "refusal", 0);
}

static void request_format(struct rp *r)
{
	uint8_t flags = KWRAW_MPA_S | (rp_where.want_crc ? KWRAW_MPA_C : 0);
	uint16_t ird, ord;

	if (!called(r, 5, 6))
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

/* ------------------------------------------------------------------- bad Replies */

static void bad_keys(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t len;
	int i;

	for (i = 0; i < 16; i++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		len = kwraw_mpa_encode(&m, buf);
		buf[i] ^= 1 << (i % 8);
		kwraw_send(&r->c, buf, len);
		failed_with(r, "CONNECT_ERROR", "key octet", i);
	}
}

static void request_key(struct rp *r)
{
	struct kwraw_mpa m;

	if (!called(r, 4, 4))
		return;
	good_reply(r, &m);
	memcpy(m.key, kwraw_req_key, sizeof(m.key));
	rp_send_frame(r, &m);
	failed_with(r, "CONNECT_ERROR", "Request's key", 0);
}

static void bad_revisions(struct rp *r)
{
	struct kwraw_mpa m;
	int rev;

	for (rev = 0; rev < 256; rev += rev > 16 ? 17 : 1) {
		if (rev == 1 || rev == 2)
			continue;
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		m.rev = rev;
		rp_send_frame(r, &m);
		failed_with(r, "CONNECT_ERROR", "revision", rev);
	}
}

static void long_pd(struct rp *r)
{
	static const int lens[] = { 513, 514, 0x7fff, 0x8000, 0xffff };
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		m.pd_len = lens[i];
		rp_send_frame(r, &m);
		failed_with(r, "CONNECT_ERROR", "PD_Length", lens[i]);
	}
}

static void enhanced_short(struct rp *r)
{
	struct kwraw_mpa m;
	int n, reject;

	for (reject = 0; reject < 2; reject++)
		for (n = 0; n < 4; n++) {
			if (!called(r, 4, 4))
				return;
			good_reply(r, &m);
			m.pd_len = n;
			m.flags |= reject ? KWRAW_MPA_R : 0;
			rp_send_frame(r, &m);
			failed_with(r, "CONNECT_ERROR", "PD_Length", n);
		}
}

static void short_pd(struct rp *r)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	int less;

	for (less = 1; less < 8; less += 3) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		m.pd_len = 10;
		kwraw_send(&r->c, buf, kwraw_mpa_encode(&m, buf) - less);
		kwraw_fin(&r->c);
		failed_with(r, "", "octets missing", less);
	}
}

static void not_enhanced(struct rp *r)
{
	struct kwraw_mpa m;

	if (!called(r, 4, 4))
		return;
	good_reply(r, &m);
	m.flags &= ~KWRAW_MPA_S;
	rp_send_frame(r, &m);
	failed_with(r, "CONNECT_ERROR", "S=0", 0);
}

static void rejecting(struct rp *r)
{
	static const uint16_t lens[] = { 4, 5, 100, 512 };
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		m.pd_len = lens[i];
		m.flags |= KWRAW_MPA_R;
		rp_send_frame(r, &m);
		failed_with(r, "REJECTED", "private data", lens[i]);
	}
}

/* ------------------------------------------------------------------ good Replies */

/* Messages both ways. */
static void exchange(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true },
		{ RP_WC, .wc = IBV_WC_RECV, .len = 64 },
		{ .what = RP_DONE },
	};

	if (!r->failed)
		rp_steps(r, steps);
}

/* The RTR, octet by octet: its STag is 1, since some hardware refuses 0. */
static void take_rtr(struct rp *r, bool read)
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

static void up_with(struct rp *r, struct kwraw_mpa *m, bool read)
{
	rp_send_frame(r, m);
	kwraw_full_operation(&r->c, m, &r->asked);
	rp_cm(r, "ESTABLISHED");
	if (r->failed || !(m->pd[0] & 0x80))
		return;
	take_rtr(r, read);
	if (!r->failed && read)
		answer_rtr(r);
}

static void reserved_bits(struct rp *r)
{
	struct kwraw_mpa m;
	int bit;

	for (bit = 0; bit < 4; bit++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		m.flags |= 1 << bit;
		up_with(r, &m, false);
		exchange(r);
		rp_again(r, "bit", bit);
	}
}

static void private_data(struct rp *r)
{
	static const uint16_t lens[] = { 4, 5, 199, 255, 259, 512 };
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		m.pd_len = lens[i];
		up_with(r, &m, false);
		exchange(r);
		rp_again(r, "private data", lens[i]);
	}
}

/**
 * struct rtr_choice - flags of a Reply to A=1, C=1, D=1, and what has to follow
 * @term: code of a Terminate, or 0
 * @read: the RTR is a Read; else a Write
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

/* One Terminate, then the end; the consumer hears of a failure. */
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
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		rp_depths(&m, t->ird | (t->a ? RP_A : 0) | (t->b ? RP_B : 0),
			  4 | (t->c ? RP_C : 0) | (t->d ? RP_D : 0));
		if (t->term) {
			refused_with(r, &m, t->term);
		} else {
			up_with(r, &m, t->read);
			exchange(r);
		}
		rp_again(r, "choice", i);
	}
}

/*
 * The Responder's ORD has to fit into the consumer's IRD. The device can raise its IRD up to a
 * limit.
 */
static void depths_in(struct rp *r)
{
	static const struct { uint16_t ord, term; } t[] = {
		{ 0, 0 }, { 4, 0 }, { 5, 0 }, { 128, 0 }, { 0x3fff, 0 },
		{ 129, 0x2006 }, { 0x3ffe, 0x2006 },
	};
	struct kwraw_mpa m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		rp_depths(&m, 4 | RP_A, t[i].ord | RP_C);
		if (t[i].term) {
			refused_with(r, &m, t[i].term);
		} else {
			up_with(r, &m, false);
			exchange(r);
		}
		rp_again(r, "ORD", t[i].ord);
	}
}

/* The Responder's IRD limits the Reads that are under way. */
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

	if (!called(r, 4, 4))
		return;
	good_reply(r, &m);
	rp_depths(&m, 1 | RP_A, 4 | RP_C);
	up_with(r, &m, false);
	if (!r->failed)
		rp_steps(r, steps);
}

/* 0x3fff leaves the consumer's ORD as it is. */
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

	if (!called(r, 4, 2))
		return;
	good_reply(r, &m);
	rp_depths(&m, 0x3fff | RP_A, 0x3fff | RP_C);
	up_with(r, &m, false);
	if (!r->failed)
		rp_steps(r, steps);
}

/* ------------------------------------------------------------------- older peers */

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
	up_with(r, &m, false);
	exchange(r);
}

static void old_peer_answers(struct rp *r)
{
	struct kwraw_mpa m;

	if (!called(r, 4, 4))
		return;
	kwraw_mpa_init(&m, kwraw_rep_key, rp_flags(), 1);
	rp_send_frame(r, &m);
	rp_ended(r, RP_ANY_END);
	if (called_again(r))
		answer_as_old(r);
}

static void old_peer_closes(struct rp *r)
{
	if (!called(r, 4, 4))
		return;
	kwraw_close(&r->c);
	if (called_again(r))
		answer_as_old(r);
}

static void old_peer_resets(struct rp *r)
{
	if (!called(r, 4, 4))
		return;
	kwraw_reset(&r->c);
	if (called_again(r))
		answer_as_old(r);
}

static void peer_closes_twice(struct rp *r)
{
	if (!called(r, 4, 4))
		return;
	kwraw_reset(&r->c);
	if (!called_again(r))
		return;
	kwraw_reset(&r->c);
	r->up = false;
	rp_cm(r, "REJECTED");
}

/* -------------------------------------------------------------------- first FPDU */

/* Octets of the stream right after the Reply, in one write with it. */
static void reply_with_fpdu(struct rp *r)
{
	static uint8_t buf[KWRAW_MPA_MAX + KWRAW_FPDU_MAX];
	struct rp_step send = { RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true, .hold = true },
		       taken = { RP_WC, .wc = IBV_WC_RECV, .len = 64 };
	struct kwraw_mpa m;
	size_t len;
	int i;

	for (i = 0; i < 10; i++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		kwraw_full_operation(&r->c, &m, &r->asked);
		len = kwraw_mpa_encode(&m, buf);
		rp_seg(r, &send);
		memcpy(buf + len, r->out, r->out_len);
		len += r->out_len;
		r->out_len = 0;
		kwraw_send(&r->c, buf, len);
		rp_cm(r, "ESTABLISHED");
		rp_expect(r, &taken);
		if (!r->failed && m.pd[0] & 0x80)
			take_rtr(r, false);
		rp_again(r, "round", i);
	}
}

/* What was posted before the Reply waits, and the RTR goes first. */
static void reply_late(struct rp *r)
{
	static const struct rp_step post[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 6 },
		{ .what = RP_QUIET },
		{ .what = RP_DONE },
	}, get[] = {
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 5 },
		{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 6 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		{ .what = RP_DONE },
	};
	struct kwraw_mpa m;

	if (!called(r, 4, 4))
		return;
	rp_steps(r, post);
	good_reply(r, &m);
	if (!r->failed)
		up_with(r, &m, false);
	if (!r->failed)
		rp_steps(r, get);
}

/* The Responder's depths, as the consumer is told. */
static void depths_told(struct rp *r)
{
	unsigned int depth = 0, resources = 0;
	struct kwraw_mpa m;
	const char *got;

	if (!called(r, 4, 4))
		return;
	good_reply(r, &m);
	rp_depths(&m, 3 | RP_A, 2 | RP_C);
	rp_send_frame(r, &m);
	kwraw_full_operation(&r->c, &m, &r->asked);
	got = rp_ctl("cm %d", rp_soon());
	if (!got || sscanf(got, "ESTABLISHED %*d %*u %u %u", &depth, &resources) != 2 ||
	    depth != 3 || resources != 2)
		rp_fail(r, "the consumer is told IRD %u, ORD %u, must be 3, 2", depth, resources);
	if (!r->failed)
		take_rtr(r, false);
}

static void crc_by_one(struct rp *r)
{
	struct kwraw_mpa m;
	int i;

	for (i = 0; i < 2; i++) {
		if (!called(r, 4, 4))
			return;
		good_reply(r, &m);
		m.flags &= ~KWRAW_MPA_C;
		m.flags |= i ? KWRAW_MPA_C : 0;
		up_with(r, &m, false);
		exchange(r);
		rp_again(r, "C", i);
	}
}

static void markers_asked(struct rp *r)
{
	static const struct rp_step steps[] = {
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 1 },
		{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 1001 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 700 },
		{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 1 },
		{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 1001 },
		{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 101, .wc = IBV_WC_SEND },
		{ RP_WC, .wr = 102, .wc = IBV_WC_RDMA_WRITE },
		{ .what = RP_DONE },
	};

	if (rp_open_with_markers(r))
		rp_steps(r, steps);
}

const struct rp_case rp_cases_rep[] = {
	{ .name = "rep-request-format", .ids = "5044-4.4-4 5044-4.4-5 5044-7.1.1-1 5044-7.1.1-15 6581-6-10 6581-9.2-5 5044-7.1-5",
	  .role = RP_RESP, .run = request_format },
	{ .name = "rep-request-pd", .ids = "6581-9-1 6581-6-9 5044-7.1.1-21",
	  .role = RP_RESP, .run = request_pd },
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
	{ .name = "rep-reserved-bits", .ids = "5044-7.1.1-16 6581-6-4",
	  .role = RP_RESP, .run = reserved_bits },
	{ .name = "rep-private-data", .ids = "5044-7.1.1-25 5044-7.1.2-26 5044-7.1.2-15",
	  .role = RP_RESP, .run = private_data },
	{ .name = "rep-rtr", .ids = "6581-9.3-3 6581-9.2-15 6581-9.2-12 6581-9.2-14 6581-9.2-16 6581-1.1-1 6581-8-3",
	  .role = RP_RESP, .run = rtr_forms },
	{ .name = "rep-depths-in", .ids = "6581-9.1-12 6581-9.1-13 6581-9.1-22 6581-12-1",
	  .role = RP_RESP, .run = depths_in },
	{ .name = "rep-depths-out", .ids = "6581-9.1-3 6581-9.1-11 5040-6.1-9",
	  .role = RP_RESP, .run = depths_out },
	{ .name = "rep-depths-open", .ids = "6581-9.1-19 6581-9.1-22",
	  .role = RP_RESP, .run = depths_open },
	{ .name = "rep-old-peer-answers", .ids = "6581-10-10",
	  .role = RP_RESP, .run = old_peer_answers },
	{ .name = "rep-old-peer-closes", .ids = "6581-10-10",
	  .role = RP_RESP, .run = old_peer_closes },
	{ .name = "rep-old-peer-resets", .ids = "6581-10-10",
	  .role = RP_RESP, .run = old_peer_resets },
	{ .name = "rep-closes-twice", .ids = "5044-8-3",
	  .role = RP_RESP, .run = peer_closes_twice },
	{ .name = "rep-with-fpdu", .ids = "5044-7.1.2-15 5044-4.3-16",
	  .role = RP_RESP, .run = reply_with_fpdu },
	{ .name = "rep-late", .ids = "6581-5-2 5044-7.1.2-11",
	  .role = RP_RESP, .run = reply_late },
	{ .name = "rep-depths-told", .ids = "6581-9.1-4 6581-9.1-14",
	  .role = RP_RESP, .run = depths_told },
	{ .name = "rep-crc", .ids = "5044-7.1.1-10 5044-4.4-6 5044-4.4-9",
	  .role = RP_RESP, .run = crc_by_one },
	{ .name = "rep-markers", .ids = "5044-7.1.1-6 5044-4.3-2 5044-4.3-10 5044-4.3-12",
	  .role = RP_RESP, .run = markers_asked },
	{ .name = NULL }
};
