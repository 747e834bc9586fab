// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From skbs to the parser.
 *
 * Without CRCs octets are handed on as they lie.  With CRCs an FPDU is verified as a
 * whole before any octet of it is looked at (5044-6-1), in the cheapest way that its
 * place allows:
 *
 * - it lies in one piece of the skb: the parser does it while the cache is warm;
 * - it lies in several pieces of one skb: its CRC is computed ahead, across them;
 * - it lies in several skbs, because TCP cut it: it is collected in a stash first.
 *
 * Context: socket lock held.
 */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "engine.h"

#include "../kwarp.h"

/* What is left of the skb, from @data on. */
struct rest {
	struct sk_buff *skb;
	u32 offset;
	u32 len;
};

/* Octets of whole FPDUs at @data, between FPDUs; with markers it is one at a time. */
static u32 whole_fpdus(const struct kwarp_fpdu_rx *f, const u8 *data, u32 len)
{
	u32 done = 0, n;

	while ((n = kwarp_fpdu_rx_wire_len(f, done, data + done, len - done)) &&
	       n <= len - done) {
		done += n;
		if (f->markers)
			break;
	}
	return done;
}

static void feed_whole(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	u32 covered = len - KWARP_MPA_CRC_LEN;

	if (f->markers)
		kwarp_fpdu_rx_ahead(f, len, kwarp_mpa_crc_add(kwarp_mpa_crc_init(), data,
							      covered), data + covered);
	kwarp_rx_feed(e, data, len);
}

/* ---------------------------------------------------- across pieces of an skb */

static u32 crc_of(const struct rest *r, u32 len)
{
	u32 crc = kwarp_mpa_crc_init(), used = 0, n;
	struct skb_seq_state st;
	const u8 *data;

	skb_prepare_seq_read(r->skb, r->offset, r->offset + len, &st);
	while (used < len && (n = skb_seq_read(used, &data, &st))) {
		/* What it gives ends with the piece, not with the range asked for. */
		n = min(n, len - used);
		crc = kwarp_mpa_crc_add(crc, data, n);
		used += n;
	}
	skb_abort_seq_read(&st);
	return crc;
}

/* If the skb holds the whole of the next FPDU, verify it there. */
static bool verify_ahead(struct kwarp_engine *e, const struct rest *r)
{
	u8 head[KWARP_FPDU_HEAD], trailer[KWARP_MPA_CRC_LEN];
	u32 have = min_t(u32, r->len, sizeof(head)), len;

	skb_copy_bits(r->skb, r->offset, head, have);
	len = kwarp_fpdu_rx_wire_len(&e->rx.fpdu, 0, head, have);
	if (!len || len > r->len)
		return false;
	skb_copy_bits(r->skb, r->offset + len - sizeof(trailer), trailer, sizeof(trailer));
	kwarp_fpdu_rx_ahead(&e->rx.fpdu, len, crc_of(r, len - sizeof(trailer)), trailer);
	e->rx.ahead = len;
	return true;
}

static u32 feed_ahead(struct kwarp_engine *e, const u8 *data, u32 len)
{
	u32 n = min(len, e->rx.ahead);

	e->rx.ahead -= n;
	kwarp_rx_feed(e, data, n);
	return n;
}

/* --------------------------------------------------------------- across skbs */

static u32 stash_wants(const struct kwarp_engine *e)
{
	const struct kwarp_rx_stash *s = &e->rx.stash;

	return kwarp_fpdu_rx_wire_len(&e->rx.fpdu, 0, s->head,
				      min_t(u32, s->have, sizeof(s->head)));
}

static bool stash_grow(struct kwarp_rx_stash *s, u32 want, gfp_t gfp)
{
	u8 *buf;

	if (s->size >= want)
		return true;
	buf = kvmalloc(want, gfp);
	if (!buf)
		return false;
	kvfree(s->buf);
	s->buf = buf;
	s->size = want;
	return true;
}

/* Octets used; 0 if there is no memory now. */
static u32 stash_fill(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct kwarp_rx_stash *s = &e->rx.stash;
	u32 want, n;

	if (s->have < sizeof(s->head)) {
		n = min_t(u32, len, sizeof(s->head) - s->have);
		memcpy(s->head + s->have, data, n);
		s->have += n;
		return n;
	}
	want = stash_wants(e);
	if (s->have == sizeof(s->head)) {
		/* GFP_NOWAIT: kvmalloc() then does not fall back to vmalloc(). */
		if (!stash_grow(s, want, GFP_NOWAIT | __GFP_NOWARN))
			return 0;
		memcpy(s->buf, s->head, sizeof(s->head));
	}
	n = min(len, want - s->have);
	memcpy(s->buf + s->have, data, n);
	s->have += n;
	if (s->have == want) {
		s->have = 0;
		feed_whole(e, s->buf, want);
	}
	return n;
}

/**
 * kwarp_rx_reserve - get the memory that was not to be had in softirq
 * @e: engine
 *
 * Context: process, socket lock held; may sleep.
 */
void kwarp_rx_reserve(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;

	if (s->have == sizeof(s->head) && !stash_grow(s, stash_wants(e), GFP_NOIO))
		kwarp_engine_fail(e, KWARP_PERR_LOCAL, NULL, 0, NULL);
}

void kwarp_rx_fini(struct kwarp_engine *e)
{
	kvfree(e->rx.stash.buf);
	e->rx.stash = (struct kwarp_rx_stash) { };
}

/* ------------------------------------------------------------------- entries */

/* Octets used of the piece; 0 if there is no memory now. */
static u32 feed_checked(struct kwarp_engine *e, const u8 *data, u32 len,
			const struct rest *r)
{
	u32 n;

	if (e->rx.ahead)
		return feed_ahead(e, data, len);
	if (e->rx.stash.have)
		return stash_fill(e, data, len);
	n = whole_fpdus(&e->rx.fpdu, data, len);
	if (n) {
		feed_whole(e, data, n);
		return n;
	}
	if (verify_ahead(e, r))
		return feed_ahead(e, data, len);
	return stash_fill(e, data, len);
}

static u32 feed_piece(struct kwarp_engine *e, const u8 *data, u32 len, struct rest *r)
{
	u32 used = 0, n;

	if (!e->rx.fpdu.check_crc) {
		kwarp_rx_feed(e, data, len);
		return len;
	}
	while (used < len) {
		/* 5041-7.1-22: after an error the rest is dropped. */
		if (test_bit(KWARP_E_RX_STOP, &e->flags))
			return len;
		n = feed_checked(e, data + used, len - used, r);
		if (!n)
			break;
		used += n;
		r->offset += n;
		r->len -= n;
	}
	return used;
}

/**
 * kwarp_rx_skb - process octets of an skb
 * @e: engine
 * @skb: what tcp_read_sock() gives
 * @offset: first octet in it
 * @len: octets
 *
 * All is used, wanted or not, unless memory is short: then the rest stays with TCP
 * until kwarp_engine_poll(), which is asked for here.
 *
 * Context: socket lock held.
 * Return: octets used.
 */
int kwarp_rx_skb(struct kwarp_engine *e, struct sk_buff *skb, u32 offset, u32 len)
{
	struct rest r = { .skb = skb, .offset = offset, .len = len };
	struct skb_seq_state st;
	u32 used = 0, n, took;
	const u8 *data;

	if (test_bit(KWARP_E_RX_STOP, &e->flags))
		return len;
	skb_prepare_seq_read(skb, offset, offset + len, &st);
	while ((n = skb_seq_read(used, &data, &st))) {
		took = feed_piece(e, data, n, &r);
		used += took;
		if (took < n) {
			skb_abort_seq_read(&st);
			e->ops->poll(e);
			break;
		}
	}
	return used;
}
