// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of reading a stream from TCP's skbs. skb.c and stash.c are included. */
#include "skb_fixture.h"

#include <linux/vmalloc.h>
#include <net/tcp.h>

const struct sk_buff *skb_unreadable;
bool skb_uncopyable;

static int test_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	return skb == skb_unreadable ? -EFAULT : skb_copy_bits(skb, offset, to, len);
}

static unsigned int test_seq_read(unsigned int consumed, const u8 **data,
				  struct skb_seq_state *st)
{
	if (st->root_skb == skb_unreadable && !skb_uncopyable)
		return 0;
	return skb_seq_read(consumed, data, st);
}

bool skb_no_pages;

static void *test_vmalloc(unsigned long size, gfp_t gfp)
{
	return skb_no_pages ? NULL : __vmalloc(size, gfp);
}

#undef __vmalloc
#define __vmalloc		test_vmalloc
#define skb_copy_bits		test_copy_bits
#define skb_seq_read		test_seq_read
#include "../rx/stash.c"
#include "../rx/skb.c"

#include "../../tests/doors.h"
#include "feed.h"

void skb_park_at(u32 n)
{
	feed_parks_at = n;
}

u32 skb_stash_fill(struct kwarp_engine *e, const u8 *data, u32 len)
{
	return stash_fill(e, data, len);
}

/* ------------------------------------------ replaced functions of the driver */

static struct skb_test *to_test(struct kwarp_engine *e)
{
	return container_of(e, struct skb_test, e);
}

/* skb_charged: octets that are now charged to the socket for stashes. skb_broke: charging fails. */
int skb_charged;
bool skb_broke;

static bool note_charge(struct socket *sock, int octets)
{
	if (!skb_broke)
		skb_charged += octets;
	return !skb_broke;
}

static void note_uncharge(struct socket *sock, int octets)
{
	skb_charged -= octets;
}

static void note_lost(struct kwarp_engine *e)
{
	e->perr = KWARP_PERR_MPA_LOST;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

static void got_payload(struct kwarp_engine *e, const u8 *piece, u32 n)
{
	struct skb_test *t = to_test(e);

	KUNIT_ASSERT_LE(t->test, t->out_len + n, STREAM_MAX);
	memcpy(t->out + t->out_len, piece, n);
	t->out_len += n;
}

static void got_fpdu(struct kwarp_engine *e)
{
	to_test(e)->done++;
}

static const struct feed_sink sink = { .payload = got_payload, .fpdu = got_fpdu };

static size_t feed_octets(struct kwarp_engine *e, const u8 *data, size_t len)
{
	return feed(e, data, len, &sink);
}

static bool retry(struct kwarp_engine *e)
{
	if (to_test(e)->no_receive)
		return false;
	clear_bit(KWARP_E_RX_PARKED, &e->flags);
	return true;
}

static u32 feed_straight(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len)
{
	u32 n = feed_skb(e, skb, offset, len, &sink);

	to_test(e)->straight += n;
	return n;
}

/* ----------------------------------------------------------------- the stream */

static void add_fpdu(struct skb_test *t, struct kwarp_emit *w, u32 ulpdu_len)
{
	u32 begun = t->fpdus ? t->payload_ends[t->fpdus - 1] : 0, i;
	u8 ulpdu[1024] = { t->fpdus & 1 ? 0xc1 : 0x41, 0x43 };
	u32 hdr = kwarp_ddp_hdr_len(ulpdu[0]);

	for (i = hdr; i < ulpdu_len; i++)
		ulpdu[i] = i * 7 + t->fpdus;
	memcpy(t->payload + begun, ulpdu + hdr, ulpdu_len - hdr);
	kwarp_emit_fpdu(w, ulpdu, ulpdu_len, 0);
	t->payload_ends[t->fpdus] = begun + ulpdu_len - hdr;
	t->ends[t->fpdus] = w->len;
	t->fpdus++;
}

void skb_make_stream(struct skb_test *t, const u32 *lens, bool markers, u32 off)
{
	struct kwarp_emit w = {
		.buf = t->wire, .size = STREAM_MAX, .markers = markers, .off = off,
	};

	t->fpdus = 0;
	for (; *lens; lens++)
		add_fpdu(t, &w, *lens);
	t->len = w.len;
}

void skb_drop_stash(struct skb_test *t)
{
	t->e.rx.stash.use = false;
	kwarp_rx_free_stash(&t->e);
}

void skb_start(struct skb_test *t, bool crc, bool markers, u32 off)
{
	__skb_queue_purge(&t->queue);
	skb_drop_stash(t);
	memset(&t->e, 0, sizeof(t->e));
	t->e.kdev = t->kdev;
	kwarp_fpdu_rx_init(&t->e.rx.fpdu, crc, markers);
	t->e.rx.fpdu.off = off;
	t->out_len = 0;
	t->done = 0;
	t->straight = 0;
	t->seq = SEQ;
	t->arrived = 0;
}

/* ----------------------------------------------------- the skbs, and TCP's reader */

static struct sk_buff *linear(struct kunit *test, const u8 *data, u32 len)
{
	struct sk_buff *skb = alloc_skb(len + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, data, len);
	return skb;
}

static struct sk_buff *in_frags(struct kunit *test, const u8 *data, u32 len)
{
	u32 n = min(len, 3), i, each = max(DIV_ROUND_UP(len, MAX_SKB_FRAGS - 1), 5);
	struct sk_buff *skb = linear(test, data, n);
	struct page *page;

	for (i = 0; n < len; i++, n += each) {
		page = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, page);
		each = min(each, len - n);
		memcpy(page_address(page) + i, data + n, each);
		skb_add_rx_frag(skb, i, page, i, each, PAGE_SIZE);
	}
	return skb;
}

static struct sk_buff *in_block(struct kunit *test, const u8 *data, u32 len)
{
	u32 n = min(len, 3), i, each = max(DIV_ROUND_UP(len, MAX_SKB_FRAGS - 1), 5);
	struct page *block = alloc_pages(GFP_KERNEL | __GFP_COMP, get_order(STREAM_MAX));
	struct sk_buff *skb = linear(test, data, n);

	KUNIT_ASSERT_NOT_NULL(test, block);
	memcpy(page_address(block), data, len);
	for (i = 0; n < len; i++, n += each) {
		each = min(each, len - n);
		get_page(block);
		skb_add_rx_frag(skb, i, block, n, each, PAGE_SIZE);
	}
	put_page(block);
	return skb;
}

static struct sk_buff *in_list(struct kunit *test, const u8 *data, u32 len)
{
	u32 n = min(len, 3), each = max(len / 4, 7);
	struct sk_buff *skb = linear(test, data, n), **last, *s;

	last = &skb_shinfo(skb)->frag_list;
	for (; n < len; n += each) {
		each = min(each, len - n);
		s = n & 1 ? linear(test, data + n, each) : in_frags(test, data + n, each);
		*last = s;
		last = &s->next;
		skb->len += each;
		skb->data_len += each;
		skb->truesize += s->truesize;
	}
	return skb;
}

void skb_arrive(struct skb_test *t, u32 len, enum shape shape)
{
	const u8 *data = t->wire + t->arrived;
	struct sk_buff *skb;
	u8 seen[64];
	u32 extra = 0;

	if (!len)
		return;
	switch (shape) {
	case FRAGS:
		skb = in_frags(t->test, data, len);
		break;
	case BLOCK:
		skb = in_block(t->test, data, len);
		break;
	case FRAG_LIST:
		skb = in_list(t->test, data, len);
		break;
	case SEEN:
		/*
		 * The skb begins with octets that were received before (@seen), as after a
		 * retransmission. They must be skipped: their contents are wrong.
		 */
		extra = min_t(u32, t->arrived, sizeof(seen));
		memset(seen, 0xee, sizeof(seen));
		skb = alloc_skb(len + extra, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(t->test, skb);
		skb_put_data(skb, seen, extra);
		skb_put_data(skb, data, len);
		break;
	default:
		skb = linear(t->test, data, len);
	}
	TCP_SKB_CB(skb)->seq = SEQ + t->arrived - extra;
	TCP_SKB_CB(skb)->end_seq = SEQ + t->arrived + len;
	TCP_SKB_CB(skb)->tcp_flags = TCPHDR_ACK;
	t->arrived += len;
	__skb_queue_tail(&t->queue, skb);
}

/* As tcp_read_sock() does. @may: octets of the skb that may be read. Return: octets used. */
u32 skb_read_once(struct skb_test *t, u32 may)
{
	struct sk_buff *skb = skb_peek(&t->queue);
	u32 offset, len;
	int used;

	offset = t->seq - TCP_SKB_CB(skb)->seq;
	len = min(skb->len - offset, may);
	used = kwarp_rx_skb(&t->e, &t->queue, skb, offset, len,
			    SEQ + t->arrived - t->seq);
	KUNIT_ASSERT_GE(t->test, used, 0);
	KUNIT_ASSERT_LE(t->test, used, (int)len);
	t->seq += used;
	if (t->seq == TCP_SKB_CB(skb)->end_seq) {
		__skb_unlink(skb, &t->queue);
		kfree_skb(skb);
	}
	return used;
}

void skb_read_all(struct skb_test *t)
{
	t->e.rx.want = 0;
	while (!skb_queue_empty(&t->queue) && skb_read_once(t, U32_MAX))
		;
}

u32 skb_complete_in(const struct skb_test *t, u32 octets)
{
	u32 n = 0;

	while (n < t->fpdus && t->ends[n] <= octets)
		n++;
	return n;
}

/* -------------------------------------------------------------------- tests */

void skb_begin_way(struct skb_test *t, const struct way *w)
{
	skb_start(t, w->crc, w->markers, w->off);
	skb_make_stream(t, w->lens, w->markers, w->off);
}

void skb_expect_all(struct skb_test *t)
{
	struct kunit *test = t->test;

	KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_ASSERT_EQ(test, t->done, t->fpdus);
	KUNIT_ASSERT_EQ(test, t->out_len, t->payload_ends[t->fpdus - 1]);
	KUNIT_ASSERT_EQ(test, memcmp(t->out, t->payload, t->out_len), 0);
	KUNIT_ASSERT_TRUE(test, skb_queue_empty(&t->queue));
}

int skb_test_init(struct kunit *test)
{
	struct skb_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	t->e.kdev = t->kdev;
	skb_charged = 0;
	t->test = test;
	__skb_queue_head_init(&t->queue);
	test->priv = t;
	kwarp_stub(test, kwarp_tcp_charge, note_charge);
	kwarp_stub(test, kwarp_tcp_uncharge, note_uncharge);
	kwarp_stub(test, kwarp_engine_lost, note_lost);
	kwarp_stub(test, kwarp_rx_accept_series, accept_none);
	kwarp_stub(test, kwarp_rx_feed, feed_octets);
	kwarp_stub(test, kwarp_rx_retry, retry);
	kwarp_stub(test, kwarp_rx_feed_skb, feed_straight);
	return 0;
}

void skb_test_exit(struct kunit *test)
{
	struct skb_test *t = test->priv;

	__skb_queue_purge(&t->queue);
	skb_drop_stash(t);
	KUNIT_EXPECT_EQ(test, skb_charged, 0);
}
