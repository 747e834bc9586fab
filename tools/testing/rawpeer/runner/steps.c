// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* kwrawpeer: steps that do something. Steps that wait for something are in runner/expect.c. */
#include "runner/control.h"
#include "runner/start.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FILLER		0xee

/* Return the oldest Read of the consumer that is not answered yet: the next Response answers it. */
static struct rp_rreq *their_read(struct rp *r)
{
	return &r->theirs.r[r->theirs.head % RP_READS];
}

static uint64_t target_to(struct rp *r, const struct rp_step *s)
{
	if (s->op == KWRAW_READ_RESP && !s->at)
		return their_read(r)->to + their_read(r)->done + s->off;
	return s->to ? s->to : r->region[s->at].to + s->off;
}

static uint32_t target_stag(struct rp *r, const struct rp_step *s)
{
	if (s->op == KWRAW_READ_RESP && !s->at)
		return their_read(r)->stag ^ s->stag_x;
	return r->region[s->at].stag ^ s->stag_x;
}

static size_t put_header(struct rp *r, const struct rp_step *s, uint8_t *buf)
{
	unsigned int q = kwraw_queue_of(s->op);
	struct kwraw_seg seg;

	kwraw_seg_init(&seg, s->op);
	seg.tagged ^= s->t_x;
	seg.last = !s->more;
	seg.ddp_version ^= s->dv_x;
	seg.rdmap_version ^= s->rv_x;
	seg.opcode ^= s->op_x;
	seg.reserved = s->rsvd;
	seg.rdmap_reserved = s->rdmap_rsvd;
	seg.stag = target_stag(r, s);
	seg.to = target_to(r, s);
	seg.inv_stag = r->region[s->inv].stag ^ s->inv_x;
	seg.qn = q ^ s->qn_x;
	seg.msn = r->msn[q] + s->msn_d;
	seg.mo = r->mo[q] + s->mo_d;
	return kwraw_seg_encode(&seg, buf);
}

/* Write the part of a Terminate that returns the length and the DDP header of a segment. */
static void put_about(const struct rp_step *s, uint8_t *buf)
{
	struct kwraw_seg seg;

	memset(buf, 0, 2 + KWRAW_UNTAGGED_HDR);
	if (!s->about)
		return;
	kwraw_seg_init(&seg, s->about);
	seg.msn = s->about_msn;
	kwraw_seg_encode(&seg, buf + 2);
	buf[1] = s->about == KWRAW_READ_REQ ? KWRAW_READ_REQ_LEN :
					      KWRAW_UNTAGGED_HDR + KWRAW_ATOMIC_REQ_LEN;
}

static size_t put_terminate(const struct rp_step *s, uint8_t *buf)
{
	uint32_t ctl = htobe32((uint32_t)s->err << 16 | (s->headers >= RP_DDP ? 0xc000 : 0) |
			       (s->headers == RP_RREQ ? 0x2000 : 0) | s->term_rsvd);
	size_t len = 4;

	memcpy(buf, &ctl, 4);
	if (s->headers >= RP_DDP) {
		put_about(s, buf + len);
		len += 2 + KWRAW_UNTAGGED_HDR;
	}
	if (s->headers == RP_RREQ) {
		memset(buf + len, 0, 28);
		len += 28;
	}
	return len;
}

static size_t put_read(struct rp *r, const struct rp_step *s, uint8_t *buf)
{
	struct kwraw_read rd = {
		.sink_stag = RP_SINK_STAG, .sink_to = RP_SINK_TO, .size = s->size,
		.src_stag = target_stag(r, s), .src_to = target_to(r, s),
	};

	kwraw_read_encode(&rd, buf);
	return 28;
}

/* Return the Request Identifier of the next Atomic Request. */
static uint32_t next_id(const struct rp *r, const struct rp_step *s)
{
	return (RP_ATOMIC_ID + r->our_atomics.tail) ^ s->id_x;
}

static size_t put_atomic(struct rp *r, const struct rp_step *s, uint8_t *buf)
{
	struct kwraw_atomic a = {
		.op = s->aop_rsvd << 4 | s->aop, .id = next_id(r, s),
		.stag = target_stag(r, s), .to = target_to(r, s), .data = s->data,
		.mask = s->mask, .compare = s->compare, .compare_mask = s->compare_mask,
	};

	kwraw_atomic_encode(&a, buf);
	return KWRAW_ATOMIC_REQ_LEN;
}

/* Return the consumer's oldest atomic operation without an answer: the next Response answers it. */
static struct rp_atomic *their_atomic(struct rp *r)
{
	return &r->their_atomics.a[r->their_atomics.head % RP_READS];
}

/* Write the RDMAP part of a segment, between DDP header and payload. Return its length. */
static size_t put_rdmap(struct rp *r, const struct rp_step *s, uint8_t *buf)
{
	switch (s->op) {
	case KWRAW_READ_REQ:
		return put_read(r, s, buf);
	case KWRAW_TERMINATE:
		return put_terminate(s, buf);
	case KWRAW_IMM:
	case KWRAW_IMM_SE:
		kwraw_imm_encode(RP_IMM ^ s->imm_x, s->rest, buf);
		return KWRAW_IMM_LEN;
	case KWRAW_ATOMIC_REQ:
		return put_atomic(r, s, buf);
	case KWRAW_ATOMIC_RESP:
		kwraw_value_encode(their_atomic(r)->id ^ s->id_x, s->word, buf);
		return KWRAW_ATOMIC_RESP_LEN;
	default:
		return 0;
	}
}

static size_t put_ulpdu(struct rp *r, const struct rp_step *s, uint8_t *buf)
{
	size_t len = put_header(r, s, buf);

	len += put_rdmap(r, s, buf + len);
	kw_fill(buf + len, s->len, RP_PAYLOAD_KEY, r->pos);
	len += s->len;
	if (s->cut < 0)
		memset(buf + len, FILLER, -s->cut);
	return s->cut > (int)len ? 0 : len - s->cut;
}

/* Return the offset in the consumer's memory (arena) at which the device stores the payload. */
static uint32_t arena_offset(struct rp *r, const struct rp_step *s)
{
	if (!kwraw_is_tagged(s->op))
		return KWT_RECV_OFF + r->recv * KWT_RECV_STEP + r->mo[0];
	if (s->op == KWRAW_READ_RESP && !s->at)
		return kwt_places[KWT_SINK].off + (target_to(r, s) - r->region[KWT_SINK].to);
	return kwt_places[s->at].off + s->off;
}

/* Tell the consumer the new value of an aligned word, which changes as a whole. */
static void tell_word(struct rp *r, const struct rp_step *s)
{
	uint32_t off = kwt_places[s->at].off + s->off;

	if (s->op == KWRAW_ATOMIC_RESP)
		off = their_atomic(r)->off;
	if (s->hit)
		rp_ctl("word %u %llu", off, (unsigned long long)s->word);
	if (s->maybe)
		rp_ctl("ignore %u 8", off);
}

static void tell_memory(struct rp *r, const struct rp_step *s)
{
	if (s->op == KWRAW_ATOMIC_REQ || s->op == KWRAW_ATOMIC_RESP) {
		tell_word(r, s);
		return;
	}
	if (s->hit && s->len)
		rp_ctl("expect %u %u %u %llu", arena_offset(r, s), s->len, RP_PAYLOAD_KEY,
		       (unsigned long long)r->pos);
	if ((s->maybe || (s->loose && !r->c.crc)) && s->len)
		rp_ctl("ignore %u %u", arena_offset(r, s), s->len);
}

static void remember(struct rp *r, const uint8_t *ulpdu, size_t len)
{
	struct rp_sent *sent = &r->sent[r->n_sent++ % RP_LAST_SENT];

	memset(sent, 0, sizeof(*sent));
	memcpy(sent->ulpdu, ulpdu, len < sizeof(sent->ulpdu) ? len : sizeof(sent->ulpdu));
	sent->len = len;
}

/* After a segment was sent, update MSN and MO for the next one, and the lists of open requests. */
static void move_on(struct rp *r, const struct rp_step *s)
{
	unsigned int q = kwraw_queue_of(s->op);
	struct rp_reads *theirs = &r->theirs;

	r->pos += s->len;
	if (s->op == KWRAW_READ_RESP && theirs->head != theirs->tail) {
		their_read(r)->done += s->len;
		theirs->head += !s->more;
	}
	if (s->op == KWRAW_READ_REQ)
		r->ours.r[r->ours.tail++ % RP_READS] = (struct rp_rreq){
			.stag = RP_SINK_STAG, .to = RP_SINK_TO, .size = s->size
		};
	if (s->op == KWRAW_ATOMIC_REQ) {
		r->our_atomics.a[r->our_atomics.tail % RP_READS].id = next_id(r, s);
		r->our_atomics.tail++;
	}
	if (s->op == KWRAW_ATOMIC_RESP && r->their_atomics.head != r->their_atomics.tail)
		r->their_atomics.head++;
	if (kwraw_is_tagged(s->op))
		return;
	r->mo[q] += s->len;
	if (s->more)
		return;
	r->msn[q]++;
	r->mo[q] = 0;
	r->recv += !q;
}

static void send_out(struct rp *r)
{
	/*
	 * The device may have closed the connection already. That is no failure here: the next step
	 * will see it.
	 */
	if (kwraw_send(&r->c, r->out, r->out_len))
		kw_debug("not all octets were taken");
	r->out_len = 0;
}

void rp_seg(struct rp *r, const struct rp_step *s)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX + 64];
	size_t len = put_ulpdu(r, s, ulpdu), fpdu;

	tell_memory(r, s);
	remember(r, ulpdu, len);
	fpdu = kwraw_fpdu_encode(&r->c, ulpdu, len, s->bad, r->out + r->out_len);
	r->out_len += s->part ? s->part : fpdu;
	move_on(r, s);
	if (!s->hold)
		send_out(r);
}

static void send_noise(struct rp *r, const struct rp_step *s)
{
	kw_fill(r->out + r->out_len, s->len, r->rng.state, 0);
	r->out_len += s->len;
	if (!s->hold)
		send_out(r);
}

static void do_post(struct rp *r, const struct rp_step *s)
{
	const struct rp_region *local = &r->region[s->at];
	bool add = s->verb == IBV_WR_ATOMIC_FETCH_AND_ADD;
	bool atomic = add || s->verb == IBV_WR_ATOMIC_CMP_AND_SWP;

	if (!rp_ctl("post %u %u %llu %u %u %llu %u %u %llu %llu", s->verb, local->stag,
		    (unsigned long long)local->to + s->off, atomic && !s->len ? 8 : s->len, RP_STAG,
		    (unsigned long long)RP_TO, s->flags, RP_IMM ^ s->imm_x,
		    (unsigned long long)(add ? s->data : s->compare), (unsigned long long)s->data))
		rp_fail(r, "the consumer cannot post: %s", rp_ctl_no());
}

static void reset(struct rp *r)
{
	kwraw_reset(&r->c);
	r->up = false;
}

static void do_dereg(struct rp *r, const struct rp_step *s)
{
	if (!rp_ctl("dereg %s", kwt_places[s->at].name))
		rp_fail(r, "the consumer cannot deregister: %s", rp_ctl_no());
}

static void do_busy(struct rp *r, const struct rp_step *s)
{
	int err = 0;

	if (rp_ctl("dereg %s", kwt_places[s->at].name) ||
	    sscanf(rp_ctl_no(), "no %d", &err) != 1 || err != EBUSY)
		rp_fail(r, "deregistration: '%s', must be refused with EBUSY", rp_ctl_no());
}

static void do_bind(struct rp *r, const struct rp_step *s)
{
	const char *got = rp_ctl("bind %u", s->flags);

	if (!got || sscanf(got, "%*u %u", &r->region[KWT_WIN].stag) != 1)
		rp_fail(r, "the consumer cannot bind its window: %s", rp_ctl_no());
	if (s->flags & IBV_ACCESS_ZERO_BASED)
		r->region[KWT_WIN].to = 0;
}

static void do_put(struct rp *r, const struct rp_step *s)
{
	rp_ctl("put %u %llu", kwt_places[s->at].off + s->off, (unsigned long long)s->word);
}

static void do_send(struct rp *r, const struct rp_step *s)
{
	rp_seg(r, &(struct rp_step){ RP_SEG, .op = KWRAW_SEND, .len = s->len, .hit = true });
	rp_expect(r, &(struct rp_step){ RP_WC, .wr = s->wr, .wc = IBV_WC_RECV, .len = s->len });
}

static void do_refused(struct rp *r, const struct rp_step *s)
{
	struct rp_step term = *s;

	term.what = RP_TERM;
	rp_expect(r, &term);
	rp_ended(r, RP_BY_FIN);
}

void rp_one_step(struct rp *r, const struct rp_step *s)
{
	if (r->failed)
		return;
	switch (s->what) {
	case RP_SEG:
		rp_seg(r, s);
		break;
	case RP_SEND:
		do_send(r, s);
		break;
	case RP_NOISE:
		send_noise(r, s);
		break;
	case RP_POST:
		do_post(r, s);
		break;
	case RP_RECV:
		rp_ctl("recv %u", s->len);
		break;
	case RP_ARM:
		rp_ctl("arm");
		break;
	case RP_DEREG:
		do_dereg(r, s);
		break;
	case RP_BUSY:
		do_busy(r, s);
		break;
	case RP_BIND:
		do_bind(r, s);
		break;
	case RP_PUT:
		do_put(r, s);
		break;
	case RP_CLOSE:
		rp_ctl("disconnect");
		break;
	case RP_DESTROY:
		rp_ctl("destroy");
		break;
	case RP_FIN:
		kwraw_fin(&r->c);
		break;
	case RP_RST:
		reset(r);
		break;
	case RP_REFUSED:
		do_refused(r, s);
		break;
	case RP_END:
		if (s->event)
			rp_expect(r, &(struct rp_step){ RP_EVENT, .event = s->event });
		rp_ended(r, s->end);
		break;
	default:
		rp_expect(r, s);
	}
}

const struct rp_step rp_reading[] = {
	{ RP_SEG, .op = KWRAW_WRITE },
	{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
	{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 0, .size = 100 },
	{ .what = RP_DONE },
};

const struct rp_step rp_window[] = {
	{ RP_SEG, .op = KWRAW_WRITE },
	{ .what = RP_BIND },
	{ RP_WC, .wr = 100, .wc = IBV_WC_BIND_MW },
	{ .what = RP_DONE },
};

const struct rp_step rp_zero_window[] = {
	{ RP_SEG, .op = KWRAW_WRITE },
	{ RP_BIND, .flags = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED },
	{ RP_WC, .wr = 100, .wc = IBV_WC_BIND_MW },
	{ .what = RP_DONE },
};

void rp_steps(struct rp *r, const struct rp_step *s)
{
	const struct rp_step *first = s;

	for (; s->what != RP_DONE && !r->failed; s++) {
		kw_debug("step %d", (int)(s - first));
		rp_one_step(r, s);
		if (r->failed)
			kw_say("  (in step %d)", (int)(s - first) + 1);
	}
}

bool rp_flood(struct rp *r)
{
	const struct rp_step *ask = &r->k->steps[0];
	int i;

	if (!rp_open_narrow(r, 8192))
		return false;
	if (r->k->first)
		rp_steps(r, r->k->first);
	for (i = 0; !r->failed && i < RP_FLOOD; i++)
		rp_seg(r, ask);
	rp_steps(r, ask + 1);
	return !r->failed;
}

void rp_refused(struct rp *r, const struct rp_step *ask, uint16_t err, const char *what, int n)
{
	if (r->failed || !rp_open(r))
		return;
	if (r->k->first)
		rp_steps(r, r->k->first);
	rp_seg(r, ask);
	rp_one_step(r, &(struct rp_step){ RP_REFUSED, .err = err, .headers = RP_DDP });
	rp_again(r, what, n);
}
