// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * For kwrawpeer, a peer that breaks the protocol: encode and decode DDP and RDMAP headers, right or
 * wrong.
 */
#include "wire/ddp.h"

#include <endian.h>
#include <string.h>

#define CTL_TAGGED	0x80
#define CTL_LAST	0x40
#define CTL_VERSION	0x03

static void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, 8);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return be64toh(v);
}

bool kwraw_is_tagged(enum kwraw_op op)
{
	return op == KWRAW_WRITE || op == KWRAW_READ_RESP;
}

unsigned int kwraw_queue_of(enum kwraw_op op)
{
	switch (op) {
	case KWRAW_READ_REQ:
	case KWRAW_ATOMIC_REQ:
		return 1;
	case KWRAW_TERMINATE:
		return 2;
	case KWRAW_ATOMIC_RESP:
		return 3;
	default:
		return 0;
	}
}

void kwraw_seg_init(struct kwraw_seg *s, enum kwraw_op op)
{
	memset(s, 0, sizeof(*s));
	s->opcode = op;
	s->tagged = kwraw_is_tagged(op);
	s->last = true;
	s->ddp_version = 1;
	s->rdmap_version = 1;
	s->msn = 1;
	s->qn = kwraw_queue_of(op);
}

size_t kwraw_seg_encode(const struct kwraw_seg *s, uint8_t *buf)
{
	buf[0] = (s->tagged ? CTL_TAGGED : 0) | (s->last ? CTL_LAST : 0) |
		 (s->ddp_version & CTL_VERSION) | (s->reserved & 0x0f) << 2;
	buf[1] = s->rdmap_version << 6 | (s->rdmap_reserved & 3) << 4 | (s->opcode & 0x0f);
	if (s->tagged) {
		put32(buf + 2, s->stag);
		put64(buf + 6, s->to);
		return KWRAW_TAGGED_HDR;
	}
	put32(buf + 2, s->inv_stag);
	put32(buf + 6, s->qn);
	put32(buf + 10, s->msn);
	put32(buf + 14, s->mo);
	return KWRAW_UNTAGGED_HDR;
}

size_t kwraw_seg_decode(const uint8_t *buf, size_t len, struct kwraw_seg *s)
{
	size_t hdr;

	memset(s, 0, sizeof(*s));
	if (len < 2)
		return 0;
	s->tagged = buf[0] & CTL_TAGGED;
	s->last = buf[0] & CTL_LAST;
	s->reserved = buf[0] >> 2 & 0x0f;
	s->ddp_version = buf[0] & CTL_VERSION;
	s->rdmap_version = buf[1] >> 6;
	s->rdmap_reserved = buf[1] >> 4 & 3;
	s->opcode = buf[1] & 0x0f;
	hdr = s->tagged ? KWRAW_TAGGED_HDR : KWRAW_UNTAGGED_HDR;
	if (len < hdr)
		return 0;
	if (s->tagged) {
		s->stag = get32(buf + 2);
		s->to = get64(buf + 6);
	} else {
		s->inv_stag = get32(buf + 2);
		s->qn = get32(buf + 6);
		s->msn = get32(buf + 10);
		s->mo = get32(buf + 14);
	}
	return hdr;
}

void kwraw_read_encode(const struct kwraw_read *r, uint8_t *buf)
{
	put32(buf, r->sink_stag);
	put64(buf + 4, r->sink_to);
	put32(buf + 12, r->size);
	put32(buf + 16, r->src_stag);
	put64(buf + 20, r->src_to);
}

void kwraw_atomic_encode(const struct kwraw_atomic *a, uint8_t *buf)
{
	put32(buf, a->op);
	put32(buf + 4, a->id);
	put32(buf + 8, a->stag);
	put64(buf + 12, a->to);
	put64(buf + 20, a->data);
	put64(buf + 28, a->mask);
	put64(buf + 36, a->compare);
	put64(buf + 44, a->compare_mask);
}

void kwraw_atomic_decode(const uint8_t *buf, struct kwraw_atomic *a)
{
	a->op = get32(buf);
	a->id = get32(buf + 4);
	a->stag = get32(buf + 8);
	a->to = get64(buf + 12);
	a->data = get64(buf + 20);
	a->mask = get64(buf + 28);
	a->compare = get64(buf + 36);
	a->compare_mask = get64(buf + 44);
}

void kwraw_value_encode(uint32_t id, uint64_t value, uint8_t *buf)
{
	put32(buf, id);
	put64(buf + 4, value);
}

void kwraw_imm_encode(uint32_t imm, uint32_t rest, uint8_t *buf)
{
	put32(buf, imm);
	put32(buf + 4, rest);
}

bool kwraw_term_decode(const uint8_t *ulpdu, size_t len, struct kwraw_term *t)
{
	struct kwraw_seg s;
	size_t at = kwraw_seg_decode(ulpdu, len, &s);
	uint32_t ctl;

	memset(t, 0, sizeof(*t));
	if (!at || s.tagged || s.opcode != KWRAW_TERMINATE || s.qn != 2 || len < at + 4)
		return false;
	ctl = get32(ulpdu + at);
	at += 4;
	t->layer = ctl >> 28;
	t->etype = ctl >> 24 & 0x0f;
	t->code = ctl >> 16 & 0xff;
	t->has_len = ctl & 0x8000;
	t->has_ddp = ctl & 0x4000;
	t->has_rdma = ctl & 0x2000;
	if (t->has_ddp) {
		if (len < at + 3)
			return false;
		t->seg_len = ulpdu[at] << 8 | ulpdu[at + 1];
		at += 2;
		t->ddp_len = ulpdu[at] & CTL_TAGGED ? KWRAW_TAGGED_HDR : KWRAW_UNTAGGED_HDR;
		if (len < at + t->ddp_len)
			return false;
		memcpy(t->ddp, ulpdu + at, t->ddp_len);
		at += t->ddp_len;
	}
	if (t->has_rdma) {
		if (len < at + sizeof(t->rdma))
			return false;
		memcpy(t->rdma, ulpdu + at, sizeof(t->rdma));
		at += sizeof(t->rdma);
	}
	return at == len;
}
