// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* kwrawpeer: make a connection by a correct MPA startup, and end it. */
#include "runner/start.h"
#include "runner/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void rp_cm(struct rp *r, const char *name)
{
	const char *got = rp_ctl("cm %d", rp_soon());

	if (!got || strncmp(got, name, strlen(name)))
		rp_fail(r, "the consumer has event '%s', must have %s", got ? got : "none", name);
}

static void fetch_regions(struct rp *r)
{
	struct rp_region *reg;
	const char *got;
	int i;

	for (i = KWT_NONE + 1; i < KWT_REGIONS; i++) {
		unsigned long long to;

		reg = &r->region[i];
		got = rp_ctl("region %s", kwt_places[i].name);
		if (!got || sscanf(got, "%u %llu %u", &reg->stag, &to, &reg->len) != 3)
			kw_die(KW_SETUP, "the consumer does not tell its regions");
		reg->to = to;
	}
}

/* Return the ORD that the consumer asks for in this case. */
static unsigned int wanted_ord(const struct rp_case *k)
{
	if (k->no_ord)
		return 0;
	return k->ord ? k->ord : 4;
}

void rp_begin(struct rp *r)
{
	const struct rp_case *k = r->k;
	struct kwraw late;
	char recvs[128] = "";
	int i, n = 0;

	/* Drop connections that the consumer has begun in an earlier run. */
	while (!kwraw_accept(rp_where.listener, &late, 0))
		kwraw_reset(&late);

	for (i = 0; i < KWT_RECV_MAX && !k->no_recvs; i++) {
		unsigned int size = k->recvs[0] ? k->recvs[i] : i < 4 ? 512 : 0;

		if (size)
			n += snprintf(recvs + n, sizeof(recvs) - n, " %u", size);
	}
	if (!rp_ctl("begin %u %u%s", k->ird ? k->ird : 4, wanted_ord(k), recvs))
		kw_die(KW_SETUP, "the consumer does not begin");
	if (k->no_rights)
		rp_ctl("no-rights");
	if (k->no_atomics)
		rp_ctl("no-atomics");
	if (!r->region[KWT_RW].stag)
		fetch_regions(r);
	for (i = 0; i < KWRAW_QUEUES; i++) {
		r->msn[i] = 1;
		r->peer_msn[i] = 1;
	}
}

bool rp_tcp(struct rp *r)
{
	unsigned int piece = r->c.piece;
	bool ok;

	if (r->role == RP_INIT)
		ok = !kwraw_connect(&r->c, rp_where.addr, rp_where.port);
	else
		ok = rp_ctl("connect %s %s", rp_where.own, rp_where.own_port) &&
		     !kwraw_accept(rp_where.listener, &r->c, rp_soon());
	if (!ok) {
		rp_fail(r, "no TCP connection: %s", strerror(errno));
		return false;
	}
	r->up = true;
	r->c.piece = piece;
	/* Cut the writes of each connection of a case at other places. */
	r->c.rng = kw_rand(&r->rng);
	return true;
}

uint8_t rp_flags(void)
{
	return (rp_where.want_crc ? KWRAW_MPA_C : 0) | (rp_where.want_markers ? KWRAW_MPA_M : 0);
}

void rp_depths(struct kwraw_mpa *m, uint16_t ird, uint16_t ord)
{
	m->flags |= KWRAW_MPA_S;
	m->pd_len = 4;
	m->pd[0] = ird >> 8;
	m->pd[1] = ird & 0xff;
	m->pd[2] = ord >> 8;
	m->pd[3] = ord & 0xff;
}

bool rp_send_frame(struct rp *r, const struct kwraw_mpa *m)
{
	uint8_t buf[KWRAW_MPA_MAX];

	return !kwraw_send(&r->c, buf, kwraw_mpa_encode(m, buf));
}

static bool open_as_initiator(struct rp *r)
{
	const struct rp_case *k = r->k;
	struct kwraw_mpa ours, theirs;

	kwraw_mpa_init(&ours, kwraw_req_key, rp_flags(), 2);
	rp_depths(&ours, k->no_place ? 0 : wanted_ord(k), k->ird ? k->ird : 4);
	if (!rp_send_frame(r, &ours) || !rp_ctl("accept %d", rp_soon())) {
		rp_fail(r, "the consumer gets no request: %s", rp_ctl_no());
		return false;
	}
	if (!kwraw_mpa_recv(&r->c, kwraw_rep_key, &theirs, rp_soon()) || theirs.rev != 2 ||
	    (theirs.flags & (KWRAW_MPA_R | KWRAW_MPA_S)) != KWRAW_MPA_S) {
		rp_fail(r, "no accepting Reply");
		return false;
	}
	kwraw_full_operation(&r->c, &ours, &theirs);
	rp_cm(r, "ESTABLISHED");
	return !r->failed;
}

/*
 * Receive the RTR (RFC 6581 section 9.2), the first FPDU of an Initiator, after which the Responder
 * may send. The raw peer's Reply has allowed one form of it, a zero-length Write.
 */
static bool take_rtr(struct rp *r)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	struct kwraw_seg s;
	size_t len;

	if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
	    !kwraw_seg_decode(ulpdu, len, &s) || s.opcode != KWRAW_WRITE || !s.tagged ||
	    len != KWRAW_TAGGED_HDR || !s.last) {
		rp_fail(r, "the first FPDU is no zero-length Write");
		return false;
	}
	return true;
}

static bool open_as_responder(struct rp *r)
{
	struct kwraw_mpa ours, theirs;
	uint16_t ird, ord;
	bool p2p = false;

	if (!kwraw_mpa_recv(&r->c, kwraw_req_key, &theirs, rp_soon())) {
		rp_fail(r, "no Request");
		return false;
	}
	kwraw_mpa_init(&ours, kwraw_rep_key, rp_flags(), theirs.rev);
	if (theirs.flags & KWRAW_MPA_S) {
		ird = theirs.pd[0] << 8 | theirs.pd[1];
		ord = theirs.pd[2] << 8 | theirs.pd[3];
		p2p = ird & RP_A;
		rp_depths(&ours, (r->k->no_place ? 0 : ord & RP_DEPTH) | (p2p ? RP_A : 0),
			  (ird & RP_DEPTH) | (p2p ? RP_C : 0));
	}
	if (!rp_send_frame(r, &ours)) {
		rp_fail(r, "the Reply is not taken");
		return false;
	}
	kwraw_full_operation(&r->c, &ours, &theirs);
	rp_cm(r, "ESTABLISHED");
	return !r->failed && (!p2p || take_rtr(r));
}

bool rp_open(struct rp *r)
{
	rp_begin(r);
	if (!rp_tcp(r))
		return false;
	return r->role == RP_INIT ? open_as_initiator(r) : open_as_responder(r);
}

bool rp_open_narrow(struct rp *r, int rcvbuf)
{
	bool up;

	kwraw_rcvbuf = rcvbuf;
	up = rp_open(r);
	kwraw_rcvbuf = 0;
	return up;
}

bool rp_open_with_markers(struct rp *r)
{
	bool want = rp_where.want_markers, ok;

	rp_where.want_markers = true;
	ok = rp_open(r);
	rp_where.want_markers = want;
	return ok;
}

void rp_ended(struct rp *r, unsigned int how)
{
	enum kwraw_end end;
	size_t got;

	if (r->failed)
		return;
	end = kwraw_wait_end(&r->c, rp_soon(), &got);
	kwraw_close(&r->c);
	r->up = false;
	if (end == KWRAW_OPEN || (how == RP_BY_FIN && end != KWRAW_FIN) ||
	    (how == RP_BY_RST && end != KWRAW_RST))
		rp_fail(r, "the connection is %s, must be %s", kwraw_end_name(end),
			how == RP_BY_FIN ? "closed" : how == RP_BY_RST ? "reset" : "at its end");
	else if (got)
		rp_fail(r, "%zu octets came where only the end may", got);
}

void rp_finish(struct rp *r)
{
	if (r->up && !r->failed) {
		kwraw_fin(&r->c);
		rp_ended(r, RP_BY_FIN);
	}
	if (r->up)
		kwraw_reset(&r->c);
	r->up = false;
	if (!rp_ctl("end %d", rp_soon()))
		rp_fail(r, "the consumer's end: %s", rp_ctl_no());
	if (!rp_ctl("verify"))
		rp_fail(r, "the consumer's memory: %s", rp_ctl_no());
}

void rp_again(struct rp *r, const char *what, int n)
{
	rp_finish(r);
	if (r->failed)
		kw_say("  (in %s %d)", what, n);
	else
		rp_renew(r);
}

void rp_renew(struct rp *r)
{
	r->c = (struct kwraw){ .fd = -1, .piece = r->c.piece };
	memset(r->mo, 0, sizeof(r->mo));
	memset(r->peer_mo, 0, sizeof(r->peer_mo));
	r->recv = 0;
	memset(&r->ours, 0, sizeof(r->ours));
	memset(&r->theirs, 0, sizeof(r->theirs));
	memset(&r->our_atomics, 0, sizeof(r->our_atomics));
	memset(&r->their_atomics, 0, sizeof(r->their_atomics));
}
