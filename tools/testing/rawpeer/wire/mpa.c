// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * For kwrawpeer, a peer that breaks the protocol: encode and decode MPA startup frames and FPDUs,
 * right or wrong.
 */
#include "wire/mpa.h"

#include <string.h>

/* ----------------------------------------------------------------- startup */

const char kwraw_req_key[16] = {
	'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F', 'r', 'a', 'm', 'e'
};

const char kwraw_rep_key[16] = {
	'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F', 'r', 'a', 'm', 'e'
};

void kwraw_mpa_init(struct kwraw_mpa *m, const char *key, uint8_t flags, uint8_t rev)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->key, key, sizeof(m->key));
	m->flags = flags;
	m->rev = rev;
}

size_t kwraw_mpa_encode(const struct kwraw_mpa *m, uint8_t *buf)
{
	size_t pd = m->pd_len < sizeof(m->pd) ? m->pd_len : sizeof(m->pd);

	memcpy(buf, m->key, sizeof(m->key));
	buf[16] = m->flags;
	buf[17] = m->rev;
	buf[18] = m->pd_len >> 8;
	buf[19] = m->pd_len & 0xff;
	memcpy(buf + KWRAW_MPA_HDR, m->pd, pd);
	return KWRAW_MPA_HDR + pd;
}

bool kwraw_mpa_recv(struct kwraw *c, const char *key, struct kwraw_mpa *m, int timeout_ms)
{
	uint8_t buf[KWRAW_MPA_HDR];

	memset(m, 0, sizeof(*m));
	if (kwraw_recv(c, buf, sizeof(buf), timeout_ms) != sizeof(buf))
		return false;
	memcpy(m->key, buf, sizeof(m->key));
	m->flags = buf[16];
	m->rev = buf[17];
	m->pd_len = buf[18] << 8 | buf[19];
	if (m->pd_len > sizeof(m->pd) || memcmp(m->key, key, sizeof(m->key)))
		return false;
	return kwraw_recv(c, m->pd, m->pd_len, timeout_ms) == m->pd_len;
}

void kwraw_full_operation(struct kwraw *c, const struct kwraw_mpa *ours,
			  const struct kwraw_mpa *theirs)
{
	c->crc = (ours->flags | theirs->flags) & KWRAW_MPA_C;
	c->tx = (struct kwraw_half){ .markers = theirs->flags & KWRAW_MPA_M };
	c->rx = (struct kwraw_half){ .markers = ours->flags & KWRAW_MPA_M };
}

/* -------------------------------------------------------------------- FPDUs */

#define MARKER_EVERY	512U

uint32_t kwraw_crc(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	int bit;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static unsigned int pad_of(unsigned int ulpdu)
{
	return -(2 + ulpdu) & 3;
}

/**
 * struct writer - an FPDU that is being encoded
 * @half: the direction in which the FPDU is sent
 * @start: stream position of ULPDU_Length; a marker before this position has the pointer 0
 * @buf: the octets as they are sent
 * @len: number of octets in @buf
 * @skew: added to every marker's pointer
 * @rsvd: value of the reserved half of each marker
 */
struct writer {
	struct kwraw_half *half;
	uint32_t start;
	uint8_t *buf;
	size_t len;
	uint16_t skew, rsvd;
};

static void put_octet(struct writer *w, uint8_t octet)
{
	w->buf[w->len++] = octet;
	w->half->pos++;
}

static void put_marker(struct writer *w, bool inside)
{
	uint16_t ptr = inside ? w->half->pos - w->start : 0;

	ptr += w->skew;
	put_octet(w, w->rsvd >> 8);
	put_octet(w, w->rsvd & 0xff);
	put_octet(w, ptr >> 8);
	put_octet(w, ptr & 0xff);
}

static bool marker_due(const struct kwraw_half *half)
{
	return half->markers && half->pos % MARKER_EVERY == 0;
}

static void put_octets(struct writer *w, const uint8_t *p, size_t len)
{
	for (; len; len--) {
		if (marker_due(w->half))
			put_marker(w, true);
		put_octet(w, *p++);
	}
}

size_t kwraw_fpdu_encode(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad,
			 uint8_t *buf)
{
	struct writer w = { .half = &c->tx, .buf = buf, .skew = bad & KWRAW_BAD_MARKER ? 8 : 0 };
	uint16_t told = len + (bad & KWRAW_BAD_LENGTH ? 4 : 0);
	uint8_t head[2] = { told >> 8, told & 0xff }, pad[3] = { 0 }, trailer[4];
	uint32_t crc;
	int i;

	if (bad & KWRAW_ODD_MARKER) {
		w.rsvd = 0xdead;
		w.skew += 3;	/* sets the two low bits, which a receiver takes as zero */
	}
	if (bad & KWRAW_BAD_PAD)
		memset(pad, 0xa5, sizeof(pad));
	if (marker_due(w.half))
		put_marker(&w, false);
	w.start = w.half->pos;
	put_octets(&w, head, sizeof(head));
	put_octets(&w, ulpdu, len);
	put_octets(&w, pad, pad_of(len));
	/* A marker between pad and CRC is put in before the CRC is computed, which covers it. */
	if (marker_due(w.half))
		put_marker(&w, true);
	crc = kwraw_crc(0, buf, w.len);
	if (!c->crc)
		crc = 0;
	if (bad & KWRAW_BAD_CRC)
		crc ^= 0x00010000;
	for (i = 0; i < 4; i++)
		trailer[i] = crc >> (8 * i);
	for (i = 0; i < 4; i++)
		put_octet(&w, trailer[i]);
	return w.len;
}

int kwraw_send_fpdu(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad)
{
	static __thread uint8_t buf[KWRAW_FPDU_MAX];

	return kwraw_send(c, buf, kwraw_fpdu_encode(c, ulpdu, len, bad, buf));
}

/**
 * struct reader - an FPDU that is being received
 * @start: stream position of ULPDU_Length; a marker before this position must have the pointer 0
 * @crc: CRC of all octets that have come
 * @bad_marker: the pointer of a marker was wrong
 */
struct reader {
	struct kwraw *c;
	int timeout_ms;
	uint32_t start, crc;
	bool bad_marker;
};

static bool take(struct reader *r, uint8_t *to, size_t len)
{
	if (kwraw_recv(r->c, to, len, r->timeout_ms) != len)
		return false;
	r->crc = kwraw_crc(r->crc, to, len);
	r->c->rx.pos += len;
	return true;
}

static bool take_marker(struct reader *r, bool inside)
{
	uint32_t at = r->c->rx.pos;
	uint8_t m[4];

	if (!take(r, m, sizeof(m)))
		return false;
	if (m[0] || m[1] || (m[2] << 8 | m[3]) != (inside ? (int)(at - r->start) : 0))
		r->bad_marker = true;
	return true;
}

static bool take_octets(struct reader *r, uint8_t *to, size_t len)
{
	size_t part;

	while (len) {
		if (marker_due(&r->c->rx) && !take_marker(r, true))
			return false;
		part = r->c->rx.markers ? MARKER_EVERY - r->c->rx.pos % MARKER_EVERY : len;
		if (part > len)
			part = len;
		if (!take(r, to, part))
			return false;
		to += part;
		len -= part;
	}
	return true;
}

/* Receive what follows ULPDU_Length in an FPDU. */
static enum kwraw_got recv_rest(struct reader *r, uint8_t *buf, size_t len)
{
	uint8_t pad[3] = { 0 }, trailer[4];
	uint32_t crc;

	if (!take_octets(r, buf, len) || !take_octets(r, pad, pad_of(len)))
		return KWRAW_GOT_PART;
	if (marker_due(&r->c->rx) && !take_marker(r, true))
		return KWRAW_GOT_PART;
	crc = r->crc;
	if (!take(r, trailer, sizeof(trailer)))
		return KWRAW_GOT_PART;
	if (r->bad_marker)
		return KWRAW_GOT_BAD_MARKER;
	if (r->c->crc && crc != (trailer[0] | trailer[1] << 8 | trailer[2] << 16 |
				 (uint32_t)trailer[3] << 24))
		return KWRAW_GOT_BAD_CRC;
	return pad[0] | pad[1] | pad[2] ? KWRAW_GOT_BAD_PAD : KWRAW_GOT_FPDU;
}

enum kwraw_got kwraw_recv_fpdu(struct kwraw *c, uint8_t *buf, size_t *len, int timeout_ms)
{
	struct reader r = { .c = c, .timeout_ms = timeout_ms };
	uint8_t head[2];

	*len = 0;
	if (marker_due(&c->rx) && !take_marker(&r, false))
		return KWRAW_GOT_NOTHING;
	r.start = c->rx.pos;
	if (!take(&r, head, sizeof(head)))
		return KWRAW_GOT_NOTHING;
	*len = head[0] << 8 | head[1];
	return recv_rest(&r, buf, *len);
}

const char *kwraw_got_name(enum kwraw_got got)
{
	static const char *const names[] = {
		"an FPDU", "nothing", "part of an FPDU", "an FPDU with a wrong CRC",
		"an FPDU with a wrong marker", "an FPDU with a non-zero pad",
	};

	return names[got];
}
