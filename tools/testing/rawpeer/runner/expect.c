// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* kwrawpeer: steps that wait for an answer and compare every octet of it. */
#include "runner/control.h"
#include "runner/run.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

static uint8_t got[KWRAW_ULPDU_MAX];
static size_t got_len;

/* Milliseconds to wait for something that must not come. */
#define NOTHING_MS	20

static bool next_fpdu(struct rp *r, const char *what)
{
	enum kwraw_got how = kwraw_recv_fpdu(&r->c, got, &got_len, rp_soon());

	if (how == KWRAW_GOT_FPDU)
		return true;
	rp_fail(r, "%s came, must be %s", kwraw_got_name(how), what);
	return false;
}

/* Compare @len octets of what was received, from octet @at on, with @want. */
static bool same_octets(struct rp *r, const char *what, const uint8_t *want, size_t at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (at + i < got_len && got[at + i] == want[i])
			continue;
		rp_fail(r, "%s: octet %zu is %02x, must be %02x", what, at + i,
			at + i < got_len ? got[at + i] : 0, want[i]);
		return false;
	}
	return true;
}

/* -------------------------------------------------------------------- Terminate */

/* Write to @buf the Terminate that has to come, octet by octet. Return its length. */
static size_t make_terminate(struct rp *r, const struct rp_step *s, uint8_t *buf)
{
	const struct rp_sent *about = &r->sent[(r->n_sent - 1 - s->of) % RP_LAST_SENT];
	size_t ddp = about->ulpdu[0] & 0x80 ? KWRAW_TAGGED_HDR : KWRAW_UNTAGGED_HDR;
	struct kwraw_seg seg;
	size_t len;
	uint32_t ctl;

	kwraw_seg_init(&seg, KWRAW_TERMINATE);
	len = kwraw_seg_encode(&seg, buf);
	ctl = htobe32((uint32_t)s->err << 16 | (s->headers >= RP_DDP ? 0xc000 : 0) |
		      (s->headers == RP_RREQ ? 0x2000 : 0));
	memcpy(buf + len, &ctl, 4);
	len += 4;
	if (s->headers >= RP_DDP) {
		buf[len++] = about->len >> 8;
		buf[len++] = about->len & 0xff;
		memcpy(buf + len, about->ulpdu, ddp);
		len += ddp;
	}
	if (s->headers == RP_RREQ) {
		memcpy(buf + len, about->ulpdu + KWRAW_UNTAGGED_HDR, 28);
		len += 28;
	}
	return len;
}

/*
 * Return the asynchronous event that the consumer has to get for this error. A wrong access of the
 * peer to memory (layer/type/code 0/1/any, or 1/1/0 to 1/1/3) has an event of its own, see
 * Documentation/protocol.rst.
 */
static enum ibv_event_type event_of(uint16_t err)
{
	bool remote = err >> 8 == 0x01;
	bool tagged = err >> 8 == 0x11 && (err & 0xff) < 4;

	return remote || tagged ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_FATAL;
}

static void expect_event(struct rp *r, enum ibv_event_type want)
{
	const char *answer = rp_ctl("event %d", rp_soon());
	int type = -1;

	if (answer)
		sscanf(answer, "%d", &type);
	if (type != (int)want)
		rp_fail(r, "the consumer has asynchronous event %d, must have %d (%s)", type, want,
			ibv_event_type_str(want));
}

static void expect_terminate(struct rp *r, const struct rp_step *s)
{
	uint8_t want[128];
	size_t len = make_terminate(r, s, want);
	struct kwraw_term t;

	if (!next_fpdu(r, "a Terminate"))
		return;
	if (!kwraw_term_decode(got, got_len, &t)) {
		rp_fail(r, "%zu octets %02x %02x came, must be a Terminate", got_len, got[0],
			got[1]);
		return;
	}
	if ((t.layer << 12 | t.etype << 8 | t.code) != s->err) {
		rp_fail(r, "Terminate %x/%x/%02x, must be %x/%x/%02x", t.layer, t.etype, t.code,
			s->err >> 12, s->err >> 8 & 15, s->err & 0xff);
		return;
	}
	if (!same_octets(r, "Terminate", want, 0, len))
		return;
	if (got_len != len)
		rp_fail(r, "the Terminate has %zu octets, must have %zu", got_len, len);
	expect_event(r, s->event ? s->event : event_of(s->err));
}

/* --------------------------------------------------------------------- segments */

static size_t make_header(struct rp *r, const struct rp_step *s, uint8_t *buf)
{
	unsigned int q = kwraw_queue_of(s->op);
	struct rp_rreq *rd = &r->ours.r[r->ours.head % RP_READS];
	struct kwraw_seg seg;

	kwraw_seg_init(&seg, s->op);
	seg.last = !s->more;
	seg.stag = s->op == KWRAW_READ_RESP ? rd->stag : RP_STAG;
	seg.to = s->op == KWRAW_READ_RESP ? rd->to + rd->done : RP_TO + r->to;
	seg.inv_stag = s->op == KWRAW_SEND_INV || s->op == KWRAW_SEND_SE_INV ? RP_STAG : 0;
	seg.msn = r->peer_msn[q];
	seg.mo = r->peer_mo[q];
	return kwraw_seg_encode(&seg, buf);
}

static void take_note(struct rp *r, const struct rp_step *s)
{
	unsigned int q = kwraw_queue_of(s->op);

	if (s->op == KWRAW_READ_RESP) {
		r->ours.r[r->ours.head % RP_READS].done += s->len;
		r->ours.head += !s->more;
	} else if (s->op == KWRAW_WRITE) {
		r->to = s->more ? r->to + s->len : 0;
	} else {
		r->peer_mo[q] = s->more ? r->peer_mo[q] + s->len : 0;
		r->peer_msn[q] += !s->more;
	}
}

static void expect_read_request(struct rp *r, const struct rp_step *s, size_t hdr)
{
	struct kwraw_read rd = {
		.sink_stag = r->region[s->at].stag, .sink_to = r->region[s->at].to + s->off,
		.size = s->size, .src_stag = RP_STAG, .src_to = RP_TO,
	};
	uint8_t want[28];

	kwraw_read_encode(&rd, want);
	if (!s->size)		/* a Read of no octets may name any sink, and any source */
		memcpy(want, got + hdr, 12);
	if (!s->size)
		memcpy(want + 16, got + hdr + 16, 12);
	if (!same_octets(r, "Read Request", want, hdr, sizeof(want)))
		return;
	if (got_len != hdr + sizeof(want))
		rp_fail(r, "the Read Request has %zu octets", got_len);
	r->theirs.r[r->theirs.tail++ % RP_READS] = (struct rp_rreq){
		.stag = rd.sink_stag, .to = rd.sink_to, .size = rd.size,
	};
}

/* Check that after @hdr octets of headers exactly the @len octets @want have come. */
static bool same_rdmap(struct rp *r, const char *what, const uint8_t *want, size_t hdr, size_t len)
{
	if (!same_octets(r, what, want, hdr, len))
		return false;
	if (got_len != hdr + len)
		rp_fail(r, "%s: %zu octets, must be %zu", what, got_len, hdr + len);
	return !r->failed;
}

/* Compare an Atomic Request. The device chooses its Request Identifier, so any is right. */
static void expect_atomic_request(struct rp *r, const struct rp_step *s, size_t hdr)
{
	bool swap = s->aop == KWRAW_CMP_SWAP;
	struct kwraw_atomic a, want = {
		.op = s->aop, .stag = RP_STAG, .to = RP_TO, .data = s->data,
		.mask = swap ? ~0ULL : 0, .compare = swap ? s->compare : 0,
		.compare_mask = ~0ULL,
	};
	uint8_t octets[KWRAW_ATOMIC_REQ_LEN];

	if (got_len >= hdr + sizeof(octets)) {
		kwraw_atomic_decode(got + hdr, &a);
		want.id = a.id;
	}
	kwraw_atomic_encode(&want, octets);
	if (same_rdmap(r, "Atomic Request", octets, hdr, sizeof(octets)))
		r->their_atomics.a[r->their_atomics.tail++ % RP_READS] = (struct rp_atomic){
			.id = want.id, .off = kwt_places[s->at].off + s->off,
		};
}

/* Eight octets as a number in the byte order of this host, which the consumer's host has, too. */
static uint64_t number_in(const uint8_t *octets)
{
	uint64_t word;

	memcpy(&word, octets, sizeof(word));
	return word;
}

static void expect_atomic_response(struct rp *r, const struct rp_step *s, size_t hdr)
{
	struct rp_atomics *ours = &r->our_atomics;
	uint8_t octets[KWRAW_ATOMIC_RESP_LEN], sent[8];
	uint64_t word = s->word;

	if (s->hit) {		/* what the raw peer sent last comes back */
		kw_fill(sent, sizeof(sent), RP_PAYLOAD_KEY, r->pos - sizeof(sent));
		word = number_in(sent);
	}
	kwraw_value_encode(ours->a[ours->head++ % RP_READS].id, word, octets);
	same_rdmap(r, "Atomic Response", octets, hdr, sizeof(octets));
}

static void expect_imm(struct rp *r, const struct rp_step *s, size_t hdr)
{
	uint8_t octets[KWRAW_IMM_LEN];

	kwraw_imm_encode(RP_IMM ^ s->imm_x, 0, octets);
	same_rdmap(r, "Immediate Data", octets, hdr, sizeof(octets));
}

static void expect_payload(struct rp *r, const struct rp_step *s, size_t hdr)
{
	static uint8_t data[KWRAW_ULPDU_MAX];

	if (s->hit)	/* what the raw peer sent last comes back */
		kw_fill(data, s->len, RP_PAYLOAD_KEY, r->pos - s->len);
	else
		kw_fill(data, s->len, KWT_ARENA_KEY, kwt_places[s->at].off + s->off);
	if (got_len != hdr + s->len)
		rp_fail(r, "%zu octets of payload, must be %u", got_len - hdr, s->len);
	else
		same_octets(r, "payload", data, hdr, s->len);
}

static void expect_segment(struct rp *r, const struct rp_step *s)
{
	uint8_t want[KWRAW_UNTAGGED_HDR];
	size_t hdr = make_header(r, s, want);

	if (!next_fpdu(r, "a segment") || !same_octets(r, "header", want, 0, hdr))
		return;
	switch (s->op) {
	case KWRAW_READ_REQ:
		expect_read_request(r, s, hdr);
		break;
	case KWRAW_ATOMIC_REQ:
		expect_atomic_request(r, s, hdr);
		break;
	case KWRAW_ATOMIC_RESP:
		expect_atomic_response(r, s, hdr);
		break;
	case KWRAW_IMM:
	case KWRAW_IMM_SE:
		expect_imm(r, s, hdr);
		break;
	default:
		expect_payload(r, s, hdr);
	}
	take_note(r, s);
}

/* ------------------------------------------------------------------ completions */

/* Check flags, invalidated STag and Immediate Data of a completion. */
static void same_extras(struct rp *r, const struct rp_step *s, unsigned int flags, uint32_t stag,
			uint32_t imm)
{
	bool with_imm = s->wc == IBV_WC_RECV_RDMA_WITH_IMM;
	unsigned int want_flags = (s->inv ? IBV_WC_WITH_INV : 0) | (with_imm ? IBV_WC_WITH_IMM : 0);
	uint32_t want = s->inv ? r->region[s->inv].stag : 0;
	uint32_t want_imm = with_imm ? RP_IMM ^ s->imm_x : 0;

	if (flags != want_flags)
		rp_fail(r, "completion of request %u: flags %#x, must be %#x", s->wr, flags,
			want_flags);
	else if (stag != want)
		rp_fail(r, "completion of request %u: STag %#x invalidated, must be %#x", s->wr,
			stag, want);
	else if (imm != want_imm)
		rp_fail(r, "completion of request %u: immediate data %08x, must be %08x", s->wr,
			imm, want_imm);
}

/*
 * Is the length in a completion right? It has a meaning for receives, and for atomic operations,
 * where it is 8.
 */
static bool same_len(const struct rp_step *s, unsigned int len)
{
	if (s->wc == IBV_WC_FETCH_ADD || s->wc == IBV_WC_COMP_SWAP)
		return len == 8;
	return !(s->wc & IBV_WC_RECV) || len == s->len;
}

static void expect_wc(struct rp *r, const struct rp_step *s)
{
	const char *answer = rp_ctl("wc %d", rp_soon());
	unsigned int wr, len, flags, stag, imm;
	int status, opcode;

	if (!answer || sscanf(answer, "%u %d %d %u %u %u %u", &wr, &status, &opcode, &len, &flags,
			      &stag, &imm) != 7) {
		rp_fail(r, "no completion of request %u", s->wr);
		return;
	}
	if (wr != s->wr || status != (int)s->status) {
		rp_fail(r, "request %u is back with '%s', must be %u with '%s'", wr,
			ibv_wc_status_str(status), s->wr, ibv_wc_status_str(s->status));
		return;
	}
	if (status)
		return;
	if (opcode != (int)s->wc || !same_len(s, len))
		rp_fail(r, "completion of request %u: opcode %d, %u octets, must be %d, %u", wr,
			opcode, len, s->wc, s->len);
	same_extras(r, s, flags, stag, imm);
}

/* ------------------------------------------------------------------- silence */

#define QUIET_MS	100

static void expect_quiet(struct rp *r)
{
	uint8_t octet;

	if (kwraw_recv(&r->c, &octet, 1, QUIET_MS * rp_where.slow))
		rp_fail(r, "something came where nothing may");
	else if (kwraw_ended(&r->c))
		rp_fail(r, "the connection has ended where nothing may happen");
}

static void expect_fin(struct rp *r)
{
	size_t n;
	enum kwraw_end end = kwraw_wait_end(&r->c, rp_soon(), &n);

	if (end != KWRAW_FIN || n)
		rp_fail(r, "%zu octets, then the connection is %s, must be closed", n,
			kwraw_end_name(end));
}

void rp_expect(struct rp *r, const struct rp_step *s)
{
	switch (s->what) {
	case RP_TERM:
		expect_terminate(r, s);
		break;
	case RP_GET:
		expect_segment(r, s);
		break;
	case RP_WC:
		expect_wc(r, s);
		break;
	case RP_NO_WC:
		if (rp_ctl("wc %d", NOTHING_MS))
			rp_fail(r, "completion '%s', must be none", rp_ctl_no());
		break;
	case RP_AWAKE:
		if (!rp_ctl("notified %d", rp_soon()))
			rp_fail(r, "no completion event, must be one");
		break;
	case RP_ASLEEP:
		if (rp_ctl("notified %d", NOTHING_MS))
			rp_fail(r, "a completion event, must be none");
		break;
	case RP_EVENT:
		expect_event(r, s->event);
		break;
	case RP_QUIET:
		expect_quiet(r);
		break;
	case RP_SEE_FIN:
		expect_fin(r);
		break;
	default:
		kw_die(KW_SETUP, "a step of kind %d", s->what);
	}
}
