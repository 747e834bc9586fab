// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Passes octets from TCP's skbs to the parser.
 *
 * Without CRCs octets are passed on as they come. With CRCs an FPDU is verified as a whole before
 * any octet of it is placed (5044-6-1). It stays in TCP's receive queue until it is complete, and
 * is verified there, whether it lies in one piece of memory, in several, or in several skbs: no
 * memory is allocated, and only its head and trailer are copied.
 *
 * FPDUs in the middle of a long message that lie in one piece are processed by series.c without a
 * parser; it copies the same parts and checks the CRC in the same way.
 *
 * So all octets that are interpreted are read from a copy, once, although a sender on the same host
 * may change the skb meanwhile (see fpdu_rx.h). Payload is read twice, for the CRC and for
 * placement. A sender that changes it in between only places what it could have sent with a right
 * CRC; address and length come from the copies.
 *
 * TCP cannot keep an incomplete FPDU if TCP's window closes before the FPDU is complete, because
 * the FPDU arrives in many small segments or memory is short. No further octet would come. Then
 * process context allocates the stash, a buffer to which octets are copied until the FPDU is
 * complete (stash.c).
 *
 * Context of all functions: socket lock held.
 */
#include "rx.h"

#include <linux/skbuff.h>
#include <net/tcp.h>

#include "../fail.h"

static void begin_pieces(struct kwarp_rx_pieces *p, struct sk_buff *skb, u32 offset, u32 len)
{
	skb_prepare_seq_read(skb, offset, offset + len, &p->st);
	p->n = 0;
}

/*
 * If a sender on this machine has given TCP one block, TCP makes a frag of each page, and these are
 * joined here again. Return: octets in the piece; 0 if they cannot be read. When the caller uses
 * the piece, skb_seq_read() has moved on and may have unmapped it. That does no harm: all memory is
 * mapped (INFINIBAND_VIRT_DMA depends on !HIGHMEM).
 */
static u32 next_piece(struct kwarp_rx_pieces *p, u32 used, u32 len, const u8 **data)
{
	u32 n = p->n ? p->n : skb_seq_read(used, &p->next, &p->st);

	*data = p->next;
	p->n = 0;
	while (n && used + n < len) {
		p->n = skb_seq_read(used + n, &p->next, &p->st);
		if (!p->n || p->next != *data + n)
			break;
		n += p->n;
		p->n = 0;
	}
	/* A piece from skb_seq_read() may extend beyond the range that was asked for. */
	return min(n, len - used);
}

/*
 * A position in the receive queue. @left: octets of @skb that may be read, from @offset on. @more:
 * octets of later skbs may be read, too. @bad: octets were met that cannot be read.
 */
struct reader {
	const struct sk_buff_head *queue;
	struct sk_buff *skb;
	u32 offset;
	u32 left;
	bool more;
	bool bad;
};

/*
 * After a retransmission its first octets may have been processed with an earlier skb: skip them.
 */
static bool reader_next_skb(struct reader *r)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(r->skb);
	u32 seen;

	if (!r->more || cb->tcp_flags & TCPHDR_FIN ||
	    skb_queue_is_last(r->queue, r->skb))
		return false;
	r->skb = skb_queue_next(r->queue, r->skb);
	seen = cb->end_seq - TCP_SKB_CB(r->skb)->seq;
	r->offset = min(seen, r->skb->len);
	r->left = r->skb->len - r->offset;
	return true;
}

static bool reader_skip(struct reader *r, u32 len)
{
	while (len > r->left) {
		len -= r->left;
		if (!reader_next_skb(r))
			return false;
	}
	r->offset += len;
	r->left -= len;
	return true;
}

static u32 reader_copy(struct reader *r, u8 *to, u32 len)
{
	u32 done = 0, n;

	while (done < len) {
		n = min(len - done, r->left);
		if (skb_copy_bits(r->skb, r->offset, to + done, n)) {
			r->bad = true;
			break;
		}
		reader_skip(r, n);
		done += n;
		if (done < len && !reader_next_skb(r))
			break;
	}
	return done;
}

static bool reader_crc_skb(const struct reader *r, u32 len, u32 *crc)
{
	struct kwarp_rx_pieces pieces;
	u32 used = 0, n;
	const u8 *data;

	begin_pieces(&pieces, r->skb, r->offset, len);
	while (used < len) {
		n = next_piece(&pieces, used, len, &data);
		if (!n)
			break;
		*crc = kwarp_mpa_crc_add(*crc, data, n);
		used += n;
	}
	skb_abort_seq_read(&pieces.st);
	return used == len;
}

static bool reader_crc(struct reader *r, u32 len, u32 *crc)
{
	u32 n;

	for (;;) {
		n = min(len, r->left);
		if (n && !reader_crc_skb(r, n, crc)) {
			r->bad = true;
			return false;
		}
		reader_skip(r, n);
		len -= n;
		if (!len)
			return true;
		if (!reader_next_skb(r))
			return false;
	}
}

/*
 * Copy of an FPDU's first octets and trailer. @len: octets of length field, DDP header and a marker
 * among them. @wire: octets of the whole FPDU.
 */
struct head {
	u8 octets[KWARP_FPDU_HEAD];
	u32 have;
	u32 len;
	u32 wire;
	u8 trailer[KWARP_MPA_CRC_LEN];
};

/* @there: octets received from the FPDU's first octet on. */
static bool fpdu_is_complete(struct kwarp_engine *e, struct head *h, u32 there)
{
	h->wire = kwarp_fpdu_rx_wire_len(&e->rx.fpdu, h->octets, h->have);
	e->rx.want = h->wire ? h->wire : KWARP_FPDU_MIN;
	if (!h->wire || h->wire > there)
		return false;
	h->len = kwarp_fpdu_rx_head_len(&e->rx.fpdu, h->octets);
	return true;
}

static void begin_fpdu(struct kwarp_engine *e, const struct head *h, u32 crc)
{
	e->rx.want = 0;
	kwarp_fpdu_rx_verify(&e->rx.fpdu, crc, h->trailer);
	e->rx.skip = h->len;
	e->rx.ahead = h->wire;
	kwarp_rx_feed(e, h->octets, h->len);
}

static u32 head_crc(const struct head *h)
{
	return kwarp_mpa_crc_add(kwarp_mpa_crc_init(), h->octets, h->len);
}

/* Return: true if the FPDU is complete and was started. */
static bool begin_here(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct head h = { .have = min_t(u32, len, sizeof(h.octets)) };
	u32 covered;

	if (likely(len >= sizeof(h.octets)))
		memcpy(h.octets, data, sizeof(h.octets));
	else
		memcpy(h.octets, data, len);
	/* Make the compiler use the copy: it must not read the original again. */
	barrier();
	if (!fpdu_is_complete(e, &h, len))
		return false;
	covered = h.wire - sizeof(h.trailer);
	memcpy(h.trailer, data + covered, sizeof(h.trailer));
	barrier();
	begin_fpdu(e, &h, kwarp_mpa_crc_add(head_crc(&h), data + h.len, covered - h.len));
	return true;
}

static bool check_rest(struct reader *r, struct head *h, u32 *crc)
{
	return reader_skip(r, h->len) &&
	       reader_crc(r, h->wire - h->len - sizeof(h->trailer), crc) &&
	       reader_copy(r, h->trailer, sizeof(h->trailer)) == sizeof(h->trailer);
}

/*
 * Return: true if the FPDU is complete and was started; false if octets are missing, or if it
 * cannot be read and the stream has failed for that.
 */
static bool begin_across(struct kwarp_engine *e, struct reader r, u32 there)
{
	struct reader first = r;
	struct head h;
	u32 crc;

	h.have = reader_copy(&r, h.octets, sizeof(h.octets));
	if (!r.bad) {
		if (!fpdu_is_complete(e, &h, there))
			return false;
		crc = head_crc(&h);
		if (check_rest(&first, &h, &crc)) {
			begin_fpdu(e, &h, crc);
			return true;
		}
	}
	/*
	 * Octets are missing: a FIN was counted as one in @there. judge_end() of sock.c will find
	 * that the FIN cuts off an FPDU.
	 */
	if (!r.bad && !first.bad)
		return false;
	/* These octets will not become readable, and no event would call us again. */
	e->rx.want = 0;
	kwarp_engine_lost(e);
	return false;
}

/* Return: octets used, at most to the end of the FPDU that was begun. */
static u32 feed_begun(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct kwarp_rx *rx = &e->rx;
	u32 n = min(len, rx->ahead), skip = min(n, rx->skip);

	rx->ahead -= n;
	rx->skip -= skip;
	kwarp_rx_feed(e, data + skip, n - skip);
	return n;
}

/* Length of the FPDU in the stash; as long as that is unknown, octets needed to know it. */
static u32 stash_wants(const struct kwarp_engine *e)
{
	const struct kwarp_rx_stash *s = &e->rx.stash;
	u32 len = kwarp_fpdu_rx_wire_len(&e->rx.fpdu, s->buf, s->have);

	return len ? len : KWARP_FPDU_MIN;
}

static void stash_done(struct kwarp_engine *e)
{
	e->rx.stash.have = 0;
	e->rx.stash.use = false;
}

static void stash_feed(struct kwarp_engine *e)
{
	feed_begun(e, e->rx.stash.buf, e->rx.stash.have);
	stash_done(e);
}

/* A segment waits for a receive. Return: false: it still does, and no octet may be read. */
bool kwarp_rx_resume(struct kwarp_engine *e)
{
	if (!kwarp_rx_retry(e))
		return false;
	if (unlikely(e->rx.stash.use && e->rx.ahead))
		stash_feed(e);
	return true;
}

static u32 stash_fill(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct kwarp_rx_stash *s = &e->rx.stash;
	u32 want = stash_wants(e), used = min(len, want - s->have);

	/* The length has changed since the stash was made: a sender on this machine can do that. */
	if (unlikely(want > s->size)) {
		stash_done(e);
		kwarp_engine_lost(e);
		return len;
	}
	memcpy(s->buf + s->have, data, used);
	s->have += used;
	if (s->have < want || stash_wants(e) > want)
		return used;
	begin_here(e, s->buf, want);
	if (likely(!kwarp_rx_parked(e)))
		stash_feed(e);
	return used;
}

/* Return: octets used; 0 if they stay with TCP, also because a segment waits for a receive. */
static u32 feed_checked(struct kwarp_engine *e, const u8 *data, u32 len,
			const struct reader *r, u32 there)
{
	u32 used;

	if (e->rx.ahead)
		return feed_begun(e, data, len);
	if (unlikely(e->rx.stash.use))
		return stash_fill(e, data, len);
	used = kwarp_rx_accept_series(e, data, len);
	if (used) {
		e->rx.want = 0;
		return used;
	}
	if (begin_here(e, data, len) || begin_across(e, *r, there))
		return unlikely(kwarp_rx_parked(e)) ? 0 : feed_begun(e, data, len);
	/* If unreadable octets have ended the stream, drop what follows. */
	return kwarp_rx_stopped(e) ? len : 0;
}

/* Return: octets used; fewer than @len if the rest stays with TCP. */
static u32 feed_piece(struct kwarp_engine *e, const u8 *data, u32 len,
		      struct reader *r, u32 *there)
{
	u32 used = 0, n;

	if (!e->rx.fpdu.check_crc)
		return len - kwarp_rx_feed(e, data, len);
	while (used < len) {
		/* After an error the rest is dropped (5041-7.1-22). */
		if (unlikely(kwarp_rx_halted(e)))
			return kwarp_rx_stopped(e) ? len : used;
		n = feed_checked(e, data + used, len - used, r, *there);
		if (!n)
			break;
		used += n;
		*there -= n;
		reader_skip(r, n);
	}
	return used;
}

/*
 * Place payload of the FPDU that was begun, as far as it is in this skb: if packets came in memory
 * of their own, this is cheaper than to feed each piece. Return: octets used; 0: none can be used.
 */
static u32 feed_payload(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len,
			struct reader *r, u32 *there)
{
	u32 n;

	/* rx.skip: the parser is ahead of the stream, by the head that it got from the copy. */
	if (e->rx.skip)
		return 0;
	n = kwarp_rx_feed_skb(e, skb, offset, len);
	if (n && e->rx.fpdu.check_crc) {
		e->rx.ahead -= n;
		*there -= n;
		reader_skip(r, n);
	}
	return n;
}

/*
 * @len: if these octets end before @skb does, no octet after them is read. @there: octets received
 * in order from @offset on, also in later skbs; a FIN counts as one octet. Return: octets used,
 * also those that are dropped. If fewer than @len, an incomplete FPDU follows, and rx.want is its
 * length; or a segment waits for a receive (KWARP_E_RX_PARKED).
 */
int kwarp_rx_skb(struct kwarp_engine *e, const struct sk_buff_head *queue,
		 struct sk_buff *skb, u32 offset, u32 len, u32 there)
{
	struct reader r = {
		.queue = queue, .skb = skb, .offset = offset, .left = len,
		.more = offset + len == skb->len,
	};
	struct kwarp_rx_pieces *pieces = &e->rx.pieces;
	u32 used = 0, n, took;
	const u8 *data;

	/* Write the flag once only: other processors read e->flags all the time. */
	if (unlikely(!test_bit(KWARP_E_RX_ANY, &e->flags)))
		set_bit(KWARP_E_RX_ANY, &e->flags);
	if (unlikely(kwarp_rx_halted(e)))
		return kwarp_rx_stopped(e) ? len : 0;
	if (!r.more)
		there = len;
	begin_pieces(pieces, skb, offset, len);
	while (used < len) {
		n = next_piece(pieces, used, len, &data);
		if (n < PAGE_SIZE && n < kwarp_fpdu_rx_payload_left(&e->rx.fpdu)) {
			/* At least @n octets: skb_seq_read() does not go back. */
			took = feed_payload(e, skb, offset + used, len - used, &r, &there);
			used += took;
			if (took) {
				pieces->n = 0;
				continue;
			}
		}
		if (!n) {
			/* The payload is in device memory (devmem TCP) and cannot be parsed. */
			kwarp_engine_lost(e);
			used = len;
			break;
		}
		took = feed_piece(e, data, n, &r, &there);
		used += took;
		if (took < n)
			break;
	}
	skb_abort_seq_read(&pieces->st);
	return used;
}
