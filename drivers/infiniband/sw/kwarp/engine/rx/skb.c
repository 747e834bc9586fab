// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From skbs to the parser.
 *
 * Without CRCs octets are handed on as they lie.  With CRCs an FPDU is verified as a
 * whole before any octet of it is placed (5044-6-1).  It stays with TCP until all of it
 * has come, and is verified there, in one piece, in several, or in several skbs: nothing
 * is allocated and nothing but its head and trailer is copied.
 *
 * Each FPDU is taken in these steps:
 *
 * 1. its first octets are copied, which tells its length;
 * 2. if it is not there as a whole, rx.want says how many octets it takes and TCP keeps it
 *    (sock.c makes TCP wake us when they are there); the copy is forgotten;
 * 3. its trailer is copied, the CRC is computed over the copy of its head and over the
 *    rest where it lies, and both are compared;
 * 4. the parser gets the head from the copy and the rest where it lies.
 *
 * Those of the middle of a long message, in one piece, are taken by series.c without a parser; the
 * same is copied, and the CRC is computed in the same way.
 *
 * So octets that decide something are read once, although a sender on the same host may
 * change them meanwhile (see fpdu_rx.h).  Payload is read twice, for the CRC and for
 * placement.  A sender that changes it in between places what it might as well have sent
 * with a right CRC; where it goes and how much of it there is comes from the copies.
 *
 * TCP cannot keep what it has no memory for.  If the window closes on an FPDU that is not
 * complete, because it comes in many small segments or because memory is short, nothing
 * would ever open it again.  Then process context allocates a stash, and octets go there
 * until the FPDU is complete (kwarp_rx_make_stash()).
 *
 * Context: socket lock held.
 */
#include "skb.h"

#include <linux/sched/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/tcp.h>

#include "../../kwarp.h"
#include "../fail.h"
#include "../tcp.h"
#include "segment.h"
#include "series.h"

/**
 * struct reader - a place in the receive queue
 * @queue: the queue
 * @skb: its first skb
 * @offset: octet in it
 * @left: octets from there on that may be used
 * @more: octets in later skbs may be looked at, too
 * @bad: it has met octets that cannot be read
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
 * On to the next skb.  A retransmission that reached further may have left octets in it
 * that have been seen already.  False at the end of the queue.
 */
static bool next_skb(struct reader *r)
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

/* Pass over @len octets; false if there are fewer. */
static bool pass(struct reader *r, u32 len)
{
	while (len > r->left) {
		len -= r->left;
		if (!next_skb(r))
			return false;
	}
	r->offset += len;
	r->left -= len;
	return true;
}

/* Octets copied, as many as there are of @len, and passed over. */
static u32 copy_out(struct reader *r, u8 *to, u32 len)
{
	u32 done = 0, n;

	while (done < len) {
		n = min(len - done, r->left);
		if (skb_copy_bits(r->skb, r->offset, to + done, n)) {
			r->bad = true;
			break;
		}
		pass(r, n);
		done += n;
		if (done < len && !next_skb(r))
			break;
	}
	return done;
}

/* Of @len octets of this skb; false if they cannot be read. */
static bool crc_skb(const struct reader *r, u32 len, u32 *crc)
{
	struct skb_seq_state st;
	u32 used = 0, n;
	const u8 *data;

	skb_prepare_seq_read(r->skb, r->offset, r->offset + len, &st);
	while (used < len) {
		n = skb_seq_read(used, &data, &st);
		if (!n)
			break;
		/* What it gives ends with the piece, not with the range asked for. */
		n = min(n, len - used);
		*crc = kwarp_mpa_crc_add(*crc, data, n);
		used += n;
	}
	skb_abort_seq_read(&st);
	return used == len;
}

/* Continue @crc over @len octets and pass over them; false if there are fewer. */
static bool crc_over(struct reader *r, u32 len, u32 *crc)
{
	u32 n;

	for (;;) {
		n = min(len, r->left);
		if (n && !crc_skb(r, n, crc)) {
			r->bad = true;
			return false;
		}
		pass(r, n);
		len -= n;
		if (!len)
			return true;
		if (!next_skb(r))
			return false;
	}
}

/* ----------------------------------------------------------- one FPDU at a time */

/**
 * struct head - what has been copied of an FPDU
 * @octets: its first octets; all of them if it is shorter
 * @have: their number
 * @len: octets of length field, DDP header and their marker
 * @wire: octets of the FPDU
 * @trailer: its CRC
 */
struct head {
	u8 octets[KWARP_FPDU_HEAD];
	u32 have;
	u32 len;
	u32 wire;
	u8 trailer[KWARP_MPA_CRC_LEN];
};

/* Is the FPDU whose first octets have been copied there as a whole? */
static bool whole(struct kwarp_engine *e, struct head *h, u32 there)
{
	h->wire = kwarp_fpdu_rx_wire_len(&e->rx.fpdu, h->octets, h->have);
	e->rx.want = h->wire ? h->wire : KWARP_FPDU_MIN;
	if (!h->wire || h->wire > there)
		return false;
	h->len = kwarp_fpdu_rx_head_len(&e->rx.fpdu, h->octets);
	return true;
}

/* An FPDU that is there as a whole begins: it is verified, and its head is parsed. */
static void begin(struct kwarp_engine *e, const struct head *h, u32 crc)
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

/* It lies at @data, in one piece, or begins there with as many octets as tell. */
static bool begin_here(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct head h = { .have = min_t(u32, len, sizeof(h.octets)) };
	u32 covered;

	if (likely(len >= sizeof(h.octets)))
		memcpy(h.octets, data, sizeof(h.octets));
	else
		memcpy(h.octets, data, len);
	/* The copy is judged, whatever the compiler thinks of the original. */
	barrier();
	if (!whole(e, &h, len))
		return false;
	covered = h.wire - sizeof(h.trailer);
	memcpy(h.trailer, data + covered, sizeof(h.trailer));
	barrier();
	begin(e, &h, kwarp_mpa_crc_add(head_crc(&h), data + h.len, covered - h.len));
	return true;
}

/* Go over what follows the head for the CRC, and copy the trailer; false if it is not there. */
static bool check_rest(struct reader *r, struct head *h, u32 *crc)
{
	return pass(r, h->len) &&
	       crc_over(r, h->wire - h->len - sizeof(h->trailer), crc) &&
	       copy_out(r, h->trailer, sizeof(h->trailer)) == sizeof(h->trailer);
}

/*
 * It may lie in several pieces and in several skbs.  False if not all of it is there, or if
 * the stream is over because it cannot be read.
 */
static bool begin_across(struct kwarp_engine *e, struct reader r, u32 there)
{
	struct reader first = r;
	struct head h;
	u32 crc;

	h.have = copy_out(&r, h.octets, sizeof(h.octets));
	if (!r.bad) {
		if (!whole(e, &h, there))
			return false;
		crc = head_crc(&h);
		if (check_rest(&first, &h, &crc)) {
			begin(e, &h, crc);
			return true;
		}
	}
	/* It ends with a FIN that was counted: judge_end() finds that it is cut off. */
	if (!r.bad && !first.bad)
		return false;
	/* No later call could read it either, and nobody would wake us for one. */
	e->rx.want = 0;
	kwarp_engine_lost(e);
	return false;
}

/* Octets used, up to the end of the FPDU. */
static u32 feed_begun(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct kwarp_rx *rx = &e->rx;
	u32 n = min(len, rx->ahead), skip = min(n, rx->skip);

	rx->ahead -= n;
	rx->skip -= skip;
	kwarp_rx_feed(e, data + skip, n - skip);
	return n;
}

/* ------------------------------------------------------------------- the stash */

/*
 * If TCP's memory or the cgroup's is used up nobody pays for a few of them: TCP, too, keeps some
 * octets for each connection then, while to have no stash is the end of this one, and any
 * program can use that memory up.
 */
static bool stash_pay(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;

	s->charged = kwarp_tcp_charge(e->sock, KWARP_FPDU_MAX);
	return s->charged ||
	       atomic_add_unless(&e->kdev->stashes_unpaid, 1, KWARP_MAX_UNPAID_STASHES);
}

static void stash_pay_back(struct kwarp_engine *e)
{
	if (e->rx.stash.charged)
		kwarp_tcp_uncharge(e->sock, KWARP_FPDU_MAX);
	else
		atomic_dec(&e->kdev->stashes_unpaid);
}

/* Of single pages: more would come in a block of twice the size. */
static bool stash_alloc(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;

	s->buf = __vmalloc(KWARP_FPDU_MAX, GFP_KERNEL | __GFP_NOWARN);
	if (!s->buf)
		return false;
	if (!stash_pay(e)) {
		vfree(s->buf);
		s->buf = NULL;
		return false;
	}
	atomic_inc(&e->kdev->stashes_now);
	atomic_long_inc(&e->kdev->stashes);
	return true;
}

/**
 * kwarp_rx_make_stash - get room for an FPDU that TCP cannot keep
 * @e: engine
 *
 * Context: process, socket lock held; may sleep.
 * Return: false if there is no memory.
 */
bool kwarp_rx_make_stash(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;
	unsigned int noio;

	if (!s->buf) {
		/* Storage may sit on top: no allocation of ours waits for I/O. */
		noio = memalloc_noio_save();
		s->use = stash_alloc(e);
		memalloc_noio_restore(noio);
		return s->use;
	}
	s->use = true;
	return true;
}

/**
 * kwarp_rx_free_stash - give it back when its FPDU has been processed
 * @e: engine
 *
 * At once: peers decide how many streams have one.
 *
 * Context: socket lock held, no piece of an skb mapped.
 */
void kwarp_rx_free_stash(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;

	if (!s->buf || s->use)
		return;
	vfree(s->buf);
	stash_pay_back(e);
	*s = (struct kwarp_rx_stash) { };
	atomic_dec(&e->kdev->stashes_now);
}

/* Octets of the FPDU in the stash, or up to where they tell. */
static u32 stash_wants(const struct kwarp_engine *e)
{
	const struct kwarp_rx_stash *s = &e->rx.stash;
	u32 len = kwarp_fpdu_rx_wire_len(&e->rx.fpdu, s->buf, s->have);

	return len ? len : KWARP_FPDU_MIN;
}

/* Octets used, up to the end of the FPDU. */
static u32 stash_fill(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct kwarp_rx_stash *s = &e->rx.stash;
	u32 want = stash_wants(e), used = min(len, want - s->have);

	memcpy(s->buf + s->have, data, used);
	s->have += used;
	if (s->have < want || stash_wants(e) > want)
		return used;
	s->have = 0;
	s->use = false;
	if (begin_here(e, s->buf, want))
		feed_begun(e, s->buf, want);
	return used;
}

/* ------------------------------------------------------------------------- skbs */

/* Octets used of the piece at @data, where @r stands; 0 if they stay with TCP. */
static u32 feed_checked(struct kwarp_engine *e, const u8 *data, u32 len,
			const struct reader *r, u32 there)
{
	u32 used;

	if (e->rx.ahead)
		return feed_begun(e, data, len);
	if (unlikely(e->rx.stash.use))
		return stash_fill(e, data, len);
	used = kwarp_rx_take_series(e, data, len);
	if (used) {
		e->rx.want = 0;
		return used;
	}
	if (begin_here(e, data, len) || begin_across(e, *r, there))
		return feed_begun(e, data, len);
	/* What cannot be read has ended the stream, and what follows is dropped. */
	return test_bit(KWARP_E_RX_STOP, &e->flags) ? len : 0;
}

/* Octets used of a piece; fewer than @len if the rest stays with TCP. */
static u32 feed_piece(struct kwarp_engine *e, const u8 *data, u32 len,
		      struct reader *r, u32 *there)
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
		n = feed_checked(e, data + used, len - used, r, *there);
		if (!n)
			break;
		used += n;
		*there -= n;
		pass(r, n);
	}
	return used;
}

/**
 * struct pieces - an skb, piece by piece
 * @st: where the kernel's reader stands
 * @next: what it has given and nobody has had
 * @n: octets of that, 0 if there is none
 */
struct pieces {
	struct skb_seq_state st;
	const u8 *next;
	u32 n;
};

/*
 * As many octets as lie one after the other in memory.  What a sender on this machine has given to
 * TCP as one block comes back page by page, since TCP makes a frag of each.  0 if they cannot be
 * read.
 *
 * The reader has gone on when we use what it gave before.  That it may have unmapped that means
 * nothing here: all memory is mapped (INFINIBAND_VIRT_DMA depends on !HIGHMEM).
 */
static u32 next_piece(struct pieces *p, u32 used, u32 len, const u8 **data)
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
	/* What the reader gives ends with the frag, not with the range asked for. */
	return min(n, len - used);
}

/**
 * kwarp_rx_skb - process octets of an skb
 * @e: engine
 * @queue: receive queue
 * @skb: its first skb
 * @offset: first octet in it
 * @len: octets that may be used; if they end before the skb does, nothing behind them is
 *	looked at
 * @there: octets in order from @offset on, later skbs included; may be a few too many
 *
 * All is used, wanted or not, but an FPDU of a stream with CRCs that is not complete.
 *
 * Context: socket lock held.
 * Return: octets used; if fewer than @len, rx.want says how many the FPDU takes that
 * begins behind them.
 */
int kwarp_rx_skb(struct kwarp_engine *e, const struct sk_buff_head *queue,
		 struct sk_buff *skb, u32 offset, u32 len, u32 there)
{
	struct reader r = {
		.queue = queue, .skb = skb, .offset = offset, .left = len,
		.more = offset + len == skb->len,
	};
	struct pieces pieces = { };
	u32 used = 0, n, took;
	const u8 *data;

	/* Once for a stream: others read the flags all the time. */
	if (unlikely(!test_bit(KWARP_E_RX_ANY, &e->flags)))
		set_bit(KWARP_E_RX_ANY, &e->flags);
	if (test_bit(KWARP_E_RX_STOP, &e->flags))
		return len;
	if (!r.more)
		there = len;
	skb_prepare_seq_read(skb, offset, offset + len, &pieces.st);
	while (used < len) {
		n = next_piece(&pieces, used, len, &data);
		if (!n) {
			/* Not in memory of ours (devmem TCP): nobody can parse that. */
			kwarp_engine_lost(e);
			used = len;
			break;
		}
		took = feed_piece(e, data, n, &r, &there);
		used += took;
		if (took < n)
			break;
	}
	skb_abort_seq_read(&pieces.st);
	return used;
}
