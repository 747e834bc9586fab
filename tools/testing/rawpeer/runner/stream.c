// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: random streams. First correct segments are chosen. Then the stream is changed in one
 * of these ways: fields of a segment's header (the CRC is computed from the changed ones), octets
 * of the stream, its order, or its end.
 */
#include "runner/stream.h"
#include "runner/atomic.h"

#include <string.h>

#define MAX_SEGS	12
#define SEG_MAX		700

/* Choose a number: @good with one bit inverted, one close to @good, a random one, an edge case. */
static uint32_t odd_number(struct kw_rng *rng, uint32_t good)
{
	static const uint32_t odd[] = {
		0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
		0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	};

	switch (kw_below(rng, 4)) {
	case 0:
		return good ^ 1u << kw_below(rng, 32);
	case 1:
		return good + kw_below(rng, 9) - 4;
	case 2:
		return kw_rand(rng);
	default:
		return odd[kw_below(rng, ARRAY_SIZE(odd))];
	}
}

/* Change one field of a segment. */
static void spoil(struct kw_rng *rng, struct rp_step *s)
{
	switch (kw_below(rng, 15)) {
	case 0:
		s->op_x = kw_below(rng, 16);
		break;
	case 1:
		s->dv_x = kw_below(rng, 4);
		break;
	case 2:
		s->rv_x = kw_below(rng, 4);
		break;
	case 3:
		s->stag_x = odd_number(rng, 0);
		break;
	case 4:
		s->qn_x = odd_number(rng, 0);
		break;
	case 5:
		s->msn_d = odd_number(rng, 0);
		break;
	case 6:
		s->mo_d = odd_number(rng, 0);
		break;
	case 7:
		s->off = odd_number(rng, s->off);
		break;
	case 8:
		s->to = (uint64_t)odd_number(rng, 0) << 32 | odd_number(rng, 0);
		break;
	case 9:
		s->size = odd_number(rng, s->size);
		break;
	case 10:
		s->t_x = true;
		break;
	case 11:
		s->more = !s->more;
		break;
	case 12:
		s->at = kw_below(rng, KWT_REGIONS);
		break;
	case 13:
		s->aop = kw_below(rng, 16);
		break;
	default:
		s->cut = (int)kw_below(rng, 40) - 10;
	}
}

/* Choose an aligned word of a region that allows atomic operations. */
static void choose_atomic(struct kw_rng *rng, struct rp_step *s)
{
	s->at = KWT_RW;
	s->off = ALIGNED(0x2003) + 8 * kw_below(rng, 2000);
	s->aop = kw_one_in(rng, 2) ? KWRAW_CMP_SWAP : KWRAW_FETCH_ADD;
	s->data = kw_rand(rng);
	s->mask = kw_rand(rng) & kw_rand(rng);
	s->compare_mask = kw_below(rng, 4);
}

/* Choose a segment with correct headers. */
static void choose(struct kw_rng *rng, bool windowed, struct rp_step *s)
{
	static const enum kwraw_op ops[] = {
		KWRAW_SEND, KWRAW_WRITE, KWRAW_WRITE, KWRAW_READ_REQ, KWRAW_SEND_SE, KWRAW_IMM,
		KWRAW_ATOMIC_REQ, KWRAW_ATOMIC_REQ,
		KWRAW_SEND_INV, KWRAW_READ_RESP, KWRAW_ATOMIC_RESP, KWRAW_TERMINATE,
	};
	/*
	 * The last three opcodes, without a window the last four, end the connection, so they are
	 * rare.
	 */
	size_t n = kw_one_in(rng, 8) ? ARRAY_SIZE(ops) : windowed ? 9 : 8;

	*s = (struct rp_step){ RP_SEG, .op = ops[kw_below(rng, n)], .hold = true };
	s->at = windowed && kw_one_in(rng, 2) ? KWT_WIN : KWT_RW;
	if (s->op == KWRAW_SEND_INV)
		s->inv = windowed ? KWT_WIN : KWT_NONE;
	s->off = kw_below(rng, 19000);
	s->len = kw_below(rng, 4) ? kw_below(rng, 100) : kw_below(rng, SEG_MAX);
	s->more = kw_one_in(rng, 6);
	if (s->op == KWRAW_READ_REQ) {
		s->at = kw_one_in(rng, 2) ? s->at : KWT_RO;
		s->off = kw_below(rng, 1000);
		s->size = kw_below(rng, 3000);
		s->len = 0;
		s->more = false;
	}
	if (s->op == KWRAW_ATOMIC_REQ)
		choose_atomic(rng, s);
	if (s->op >= KWRAW_TERMINATE)
		s->len = 0;
	if (s->op > KWRAW_TERMINATE)
		s->more = false;
}

static void make_segments(struct rp_stream *st, struct rp *r, bool spoiled)
{
	unsigned int i, n = 1 + kw_below(st->rng, MAX_SEGS), bad = kw_below(st->rng, n);
	struct rp_step s;

	r->out_len = 0;
	for (i = 0; i < n; i++) {
		choose(st->rng, st->windowed, &s);
		while (spoiled && i == bad) {
			spoil(st->rng, &s);
			if (kw_one_in(st->rng, 2))
				break;
		}
		rp_seg(r, &s);
	}
	st->len = r->out_len < sizeof(st->octets) ? r->out_len : sizeof(st->octets);
	memcpy(st->octets, r->out, st->len);
	r->out_len = 0;
}

void rp_scribble(struct kw_rng *rng, uint8_t *p, size_t len)
{
	unsigned int n = 1 + kw_below(rng, 4);

	while (n--) {
		if (kw_one_in(rng, 2))
			p[kw_below(rng, len)] ^= 1 << kw_below(rng, 8);
		else
			p[kw_below(rng, len)] = kw_rand(rng);
	}
}

/*
 * Leave out a part of the stream, or copy it over another part. The other octets, lengths and CRCs
 * among them, stay as they are.
 */
static void shuffle(struct rp_stream *st)
{
	static uint8_t part[256];
	size_t n = 1 + kw_below(st->rng, sizeof(part)), from, to;

	if (n >= st->len)
		return;
	from = kw_below(st->rng, st->len - n);
	to = kw_below(st->rng, st->len - n);
	memcpy(part, st->octets + from, n);
	if (kw_one_in(st->rng, 2)) {	/* leave out */
		memmove(st->octets + from, st->octets + from + n, st->len - from - n);
		st->len -= n;
	} else {
		memcpy(st->octets + to, part, n);
	}
}

void rp_stream_make(struct rp_stream *st, struct rp *r, enum rp_change how)
{
	make_segments(st, r, how == RP_CHANGE_HEADER);
	if (how == RP_CHANGE_STREAM)
		rp_scribble(st->rng, st->octets, st->len);
	if (how == RP_CHANGE_SHUFFLE)
		shuffle(st);
	if (how == RP_CHANGE_CUT)
		st->len = kw_below(st->rng, st->len);
}
