// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of a stream that arrives in skbs, divided at every octet and of every shape. TCP's reader
 * is a stand-in. The code is included; the parser is the real one, and its reports are collected.
 */
#include <kunit/test.h>
#include <linux/skbuff.h>
#include <linux/vmalloc.h>
#include <net/tcp.h>

/* An skb with octets that can neither be copied nor read, or only be read. */
static const struct sk_buff *unreadable;
static bool uncopyable;

static int test_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	return skb == unreadable ? -EFAULT : skb_copy_bits(skb, offset, to, len);
}

static unsigned int test_seq_read(unsigned int consumed, const u8 **data,
				  struct skb_seq_state *st)
{
	return st->root_skb == unreadable && !uncopyable ? 0 : skb_seq_read(consumed, data, st);
}

static bool no_pages;

static void *test_vmalloc(unsigned long size, gfp_t gfp)
{
	return no_pages ? NULL : __vmalloc(size, gfp);
}

#undef __vmalloc
#define __vmalloc		test_vmalloc
#define skb_copy_bits		test_copy_bits
#define skb_seq_read		test_seq_read
#define kwarp_rx_feed		skb_rx_feed
#define kwarp_rx_accept_series	skb_rx_accept_series
#define kwarp_engine_lost	skb_engine_lost
#define kwarp_tcp_charge	skb_sock_charge
#define kwarp_tcp_uncharge	skb_sock_uncharge
#include "../rx/stash.c"
#include "../rx/skb.c"

#include "../../proto/tests/emit.h"
#include "feed.h"

#define STREAM_MAX	8192
#define SEQ		0xfffffff0U	/* first sequence number: wraps soon */

/* Layout of the octets in an skb */
enum shape {
	LINEAR,
	FRAGS,		/* a few octets in the head, then frags of a few octets */
	BLOCK,		/* the same, but the frags are contiguous in memory */
	FRAG_LIST,	/* an skb with a frag_list */
	SEEN,		/* starts with octets that were received before */
	SHAPES
};

struct skb_test {
	struct kunit *test;
	struct kwarp_engine e;
	struct sk_buff_head queue;
	u8 wire[STREAM_MAX];
	u32 len;		/* length of the stream */
	u32 ends[16];		/* where its FPDUs end */
	u32 fpdus;
	u8 payload[STREAM_MAX];	/* payload of its FPDUs */
	u32 payload_ends[16];
	u8 out[STREAM_MAX];	/* payload that the parser has reported */
	u32 out_len;
	u32 done;		/* FPDUs that the parser has reported */
	u32 seq;		/* sequence number of the next octet to read */
	u32 arrived;		/* octets that have arrived at TCP */
	struct kwarp_dev *kdev;
};

/* ---------------------------------------------------------------- stand-ins */

static struct skb_test *to_test(struct kwarp_engine *e)
{
	return container_of(e, struct skb_test, e);
}

/* Octets charged for stashes now, and whether charging fails. */
static int charged;
static bool broke;

bool kwarp_tcp_charge(struct socket *sock, int octets)
{
	if (!broke)
		charged += octets;
	return !broke;
}

void kwarp_tcp_uncharge(struct socket *sock, int octets)
{
	charged -= octets;
}

void kwarp_engine_lost(struct kwarp_engine *e)
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

size_t kwarp_rx_accept_series(struct kwarp_engine *e, const u8 *data, size_t len)
{
	return 0;
}

void kwarp_rx_feed(struct kwarp_engine *e, const u8 *data, size_t len)
{
	static const struct feed_sink sink = { .payload = got_payload, .fpdu = got_fpdu };

	feed(e, data, len, &sink);
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

static void make_stream(struct skb_test *t, const u32 *lens, bool markers, u32 off)
{
	struct kwarp_emit w = {
		.buf = t->wire, .size = STREAM_MAX, .markers = markers, .off = off,
	};

	t->fpdus = 0;
	for (; *lens; lens++)
		add_fpdu(t, &w, *lens);
	t->len = w.len;
}

static void drop_stash(struct skb_test *t)
{
	t->e.rx.stash.use = false;
	kwarp_rx_free_stash(&t->e);
}

static void start(struct skb_test *t, bool crc, bool markers, u32 off)
{
	__skb_queue_purge(&t->queue);
	drop_stash(t);
	memset(&t->e, 0, sizeof(t->e));
	t->e.kdev = t->kdev;
	kwarp_fpdu_rx_init(&t->e.rx.fpdu, crc, markers);
	t->e.rx.fpdu.off = off;
	t->out_len = 0;
	t->done = 0;
	t->seq = SEQ;
	t->arrived = 0;
}

/* --------------------------------------------------------------- TCP's part */

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

/* Let the next @len octets of the stream arrive; they are not read yet. */
static void arrive(struct skb_test *t, u32 len, enum shape shape)
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
		/* A retransmission: these octets must be skipped without being read. */
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

/* As tcp_read_sock() does. @may: octets of this skb that may be read. */
static u32 read_once(struct skb_test *t, u32 may)
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

static void read_all(struct skb_test *t)
{
	t->e.rx.want = 0;
	while (!skb_queue_empty(&t->queue) && read_once(t, U32_MAX))
		;
}

/* Number of FPDUs that are complete in @octets octets of the stream. */
static u32 complete_in(const struct skb_test *t, u32 octets)
{
	u32 n = 0;

	while (n < t->fpdus && t->ends[n] <= octets)
		n++;
	return n;
}

/* Every complete FPDU has been reported, and no octet of an incomplete one (5044-6-6). */
static void expect_whole(struct skb_test *t)
{
	u32 n = complete_in(t, t->arrived), begun = n ? t->ends[n - 1] : 0;
	struct kunit *test = t->test;
	u32 left = t->arrived - begun;

	KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_ASSERT_EQ(test, t->done, n);
	KUNIT_ASSERT_EQ(test, t->out_len, n ? t->payload_ends[n - 1] : 0);
	KUNIT_ASSERT_EQ(test, memcmp(t->out, t->payload, t->out_len), 0);
	KUNIT_ASSERT_EQ(test, t->seq, SEQ + begun);
	if (!left)
		KUNIT_ASSERT_EQ(test, t->e.rx.want, 0);
	else if (left < KWARP_FPDU_MIN)
		KUNIT_ASSERT_TRUE(test, t->e.rx.want == KWARP_FPDU_MIN ||
				  t->e.rx.want == t->ends[n] - begun);
	else
		KUNIT_ASSERT_EQ(test, t->e.rx.want, t->ends[n] - begun);
}

/* -------------------------------------------------------------------- tests */

static const u32 small[] = { 18, 14, 30, 25, 0 };
static const u32 mixed[] = { 18, 400, 19, 700, 0 };

static const struct way {
	const char *desc;
	const u32 *lens;
	bool crc;
	bool markers;
	u32 off;
} ways[] = {
	{ "CRC", small, true, false, 0 },
	{ "CRC and markers", small, true, true, 512 - 12 },
	{ "CRC and markers, at the start", small, true, true, 0 },
	{ "markers", small, false, true, 512 - 12 },
	{ "neither", small, false, false, 0 },
	{ "larger, CRC", mixed, true, false, 0 },
	{ "larger, CRC and markers", mixed, true, true, 0x1f0 },
};

KUNIT_ARRAY_PARAM_DESC(way, ways, desc);

/* Only the ways with CRCs. */
static const void *crc_way_gen_params(const void *prev, char *desc)
{
	const struct way *w = prev;

	do {
		w = way_gen_params(w, desc);
	} while (w && !w->crc);
	return w;
}

static void begin_way(struct skb_test *t, const struct way *w)
{
	start(t, w->crc, w->markers, w->off);
	make_stream(t, w->lens, w->markers, w->off);
}

static void expect_all(struct skb_test *t)
{
	struct kunit *test = t->test;

	KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_ASSERT_EQ(test, t->done, t->fpdus);
	KUNIT_ASSERT_EQ(test, t->out_len, t->payload_ends[t->fpdus - 1]);
	KUNIT_ASSERT_EQ(test, memcmp(t->out, t->payload, t->out_len), 0);
	KUNIT_ASSERT_TRUE(test, skb_queue_empty(&t->queue));
}

/*
 * The stream in two skbs, divided at every octet, in every shape; read after each skb, or when both
 * have arrived.
 */
static void test_cut(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 cut, how;

	make_stream(t, w->lens, w->markers, w->off);
	for (cut = 0; cut <= t->len; cut++) {
		for (how = 0; how < 2 * SHAPES; how++) {
			begin_way(t, w);
			arrive(t, cut, how / 2);
			if (how & 1) {
				read_all(t);
				if (w->crc)
					expect_whole(t);
			}
			arrive(t, t->len - cut, how / 2);
			read_all(t);
			expect_all(t);
		}
	}
}

/* The stream in three skbs of different shapes. */
static void test_cut_twice(struct kunit *test)
{
	const struct way *w = test->param_value;
	u32 a, b, step = w->lens == small ? 1 : 13;
	struct skb_test *t = test->priv;

	make_stream(t, w->lens, w->markers, w->off);
	for (a = 0; a <= t->len; a += step) {
		for (b = a; b <= t->len; b += step) {
			begin_way(t, w);
			arrive(t, a, a % SHAPES);
			arrive(t, b - a, b % SHAPES);
			if (a & 1)
				read_all(t);
			arrive(t, t->len - b, (a + b) % SHAPES);
			read_all(t);
			expect_all(t);
		}
	}
}

/* One octet at a time: nothing of an FPDU is used before it is complete. */
static void test_octets(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;

	begin_way(t, w);
	while (t->arrived < t->len) {
		arrive(t, 1, t->arrived % SHAPES);
		read_all(t);
		if (w->crc)
			expect_whole(t);
	}
	expect_all(t);
}

/* TCP's reader stops before urgent data: no octet after that point is read. */
static void test_may(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 may, shape, n;

	make_stream(t, w->lens, w->markers, w->off);
	for (may = 1; may < t->len - 1; may++) {
		for (shape = 0; shape < SHAPES; shape++) {
			begin_way(t, w);
			arrive(t, t->len - 1, shape);
			arrive(t, 1, LINEAR);
			n = complete_in(t, may);
			read_once(t, may);
			KUNIT_ASSERT_LE(test, t->seq - SEQ, may);
			KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_NONE);
			if (!w->crc)
				continue;
			KUNIT_ASSERT_EQ(test, t->done, n);
			KUNIT_ASSERT_EQ(test, t->seq - SEQ, n ? t->ends[n - 1] : 0);
		}
	}
}

/* No octet of a damaged FPDU is reported, and no later FPDU (5044-6-1, 5044-4.4-20). */
static void test_damage(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 at, n, shape;

	make_stream(t, w->lens, w->markers, w->off);
	for (at = 0; at < t->len; at++) {
		for (shape = 0; shape < SHAPES; shape++) {
			begin_way(t, w);
			n = complete_in(t, at);
			t->wire[at] ^= 0x10;
			arrive(t, t->len / 2, shape);
			read_all(t);
			arrive(t, t->len - t->len / 2, shape);
			read_all(t);
			/*
			 * With a damaged length field the parser may wait for more octets, or find
			 * a wrong CRC.
			 */
			KUNIT_ASSERT_LE(test, t->done, n);
			KUNIT_ASSERT_LE(test, t->out_len, n ? t->payload_ends[n - 1] : 0);
			if (t->e.perr)
				KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_MPA_CRC);
			else
				KUNIT_ASSERT_NE(test, t->e.rx.want, 0);
		}
	}
}

/*
 * TCP runs out of room at any octet: the octets it has go to the stash, and the stream continues.
 */
static void test_stash(struct kunit *test)
{
	const struct way *w = test->param_value;
	struct skb_test *t = test->priv;
	u32 cut;

	make_stream(t, w->lens, w->markers, w->off);
	for (cut = 1; cut < t->len; cut++) {
		begin_way(t, w);
		arrive(t, cut, cut % SHAPES);
		read_all(t);
		if (t->e.rx.want) {
			KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
			read_all(t);
			KUNIT_ASSERT_EQ(test, t->seq, SEQ + cut);
			KUNIT_ASSERT_NE(test, t->e.rx.stash.have, 0);
			KUNIT_ASSERT_EQ(test, t->e.rx.want, 0);
		}
		while (t->arrived < t->len) {
			arrive(t, min(t->len - t->arrived, 1 + cut % 9), cut % SHAPES);
			read_all(t);
		}
		expect_all(t);
		KUNIT_ASSERT_EQ(test, t->e.rx.stash.have, 0);
		KUNIT_ASSERT_FALSE(test, t->e.rx.stash.use);
		/* As sock.c does after each receive run. */
		kwarp_rx_free_stash(&t->e);
		KUNIT_ASSERT_NULL(test, t->e.rx.stash.buf);
	}
}

/* If charging fails, a device can have a few stashes nevertheless, and no more. */
static void test_stash_unpaid(struct kunit *test)
{
	struct skb_test *t = test->priv;

	begin_way(t, &ways[0]);
	atomic_set(&t->kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	broke = true;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	broke = false;
	KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	drop_stash(t);
	broke = true;
	atomic_dec(&t->kdev->stashes_unpaid);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_unpaid), KWARP_MAX_UNPAID_STASHES);
	broke = false;
	drop_stash(t);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_unpaid), KWARP_MAX_UNPAID_STASHES - 1);
	KUNIT_EXPECT_EQ(test, charged, 0);
}

/* If no memory is available there is no stash and no charge, and a later attempt can succeed. */
static void test_stash_no_pages(struct kunit *test)
{
	struct skb_test *t = test->priv;

	begin_way(t, &ways[0]);
	no_pages = true;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_make_stash(&t->e));
	no_pages = false;
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_FALSE(test, t->e.rx.stash.use);
	KUNIT_EXPECT_EQ(test, charged, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	drop_stash(t);
}

/* A stash is charged and counted as long as it exists. */
static void test_stash_charge(struct kunit *test)
{
	struct skb_test *t = test->priv;

	begin_way(t, &ways[0]);
	/* A stash that was not charged is not uncharged. */
	broke = true;
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	broke = false;
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 1);
	t->e.rx.stash.use = false;
	kwarp_rx_free_stash(&t->e);
	KUNIT_EXPECT_EQ(test, charged, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	KUNIT_EXPECT_EQ(test, charged, KWARP_FPDU_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 1);
	/* Not freed while octets are still copied to it. */
	kwarp_rx_free_stash(&t->e);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	arrive(t, t->len, LINEAR);
	read_all(t);
	kwarp_rx_free_stash(&t->e);
	expect_all(t);
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, charged, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->kdev->stashes_now), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->kdev->stashes), 2);
}

/* The longest possible FPDU fits into the stash. */
static void test_stash_longest(struct kunit *test)
{
	struct skb_test *t = test->priv;
	struct kwarp_rx_stash *s = &t->e.rx.stash;
	u8 chunk[64] = { 0, 0, 0, 0, 0xff, 0xff, 0x41 };
	u32 n, len;

	start(t, true, true, 0);
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	for (n = 0; n < KWARP_FPDU_MAX; n += len) {
		KUNIT_ASSERT_TRUE(test, s->use);
		len = stash_fill(&t->e, chunk, min_t(u32, sizeof(chunk), KWARP_FPDU_MAX - n));
		KUNIT_ASSERT_GT(test, len, 0);
		memset(chunk, 0, sizeof(chunk));
	}
	KUNIT_EXPECT_EQ(test, n, KWARP_FPDU_MAX);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_MPA_CRC);
}

/*
 * KWARP_E_RX_ANY is set from the first octet on: while no octet has been used, while octets are
 * read again, and when they are in the stash.
 */
static void test_any(struct kunit *test)
{
	struct skb_test *t = test->priv;
	unsigned long *flags = &t->e.flags;

	begin_way(t, &ways[0]);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_RX_ANY, flags));
	arrive(t, 1, LINEAR);
	read_all(t);
	KUNIT_EXPECT_EQ(test, t->done, 0);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
	/* As sock.c does when more octets have arrived. */
	t->e.rx.want = 0;
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
	KUNIT_ASSERT_TRUE(test, kwarp_rx_make_stash(&t->e));
	read_all(t);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
	/* After a local error octets are dropped, but the flag is set. */
	begin_way(t, &ways[0]);
	set_bit(KWARP_E_RX_STOP, flags);
	arrive(t, 1, LINEAR);
	read_all(t);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_ANY, flags));
}

/* After an error all octets are used and nothing is reported (5041-7.1-22). */
static void test_stopped(struct kunit *test)
{
	struct skb_test *t = test->priv;

	begin_way(t, &ways[0]);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	arrive(t, t->len - 1, FRAGS);
	read_all(t);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&t->queue));
	KUNIT_EXPECT_EQ(test, t->done, 0);
}

/*
 * The skb in the middle cannot be read. If nothing in it had to be read, the stream continues; if
 * not, it has failed. No octets stay with TCP, because TCP would not call us again.
 */
static void one_unreadable(struct skb_test *t, const struct way *w, u32 a, u32 b)
{
	struct kunit *test = t->test;

	begin_way(t, w);
	arrive(t, a, a % SHAPES);
	arrive(t, b - a, b % SHAPES);
	unreadable = skb_peek_tail(&t->queue);
	arrive(t, t->len - b, (a + b) % SHAPES);
	read_all(t);
	unreadable = NULL;
	KUNIT_ASSERT_TRUE_MSG(test, skb_queue_empty(&t->queue), "%u, %u", a, b);
	KUNIT_ASSERT_EQ(test, t->e.rx.want, 0);
	KUNIT_ASSERT_EQ(test, memcmp(t->out, t->payload, t->out_len), 0);
	if (t->e.perr == KWARP_PERR_NONE) {
		KUNIT_ASSERT_EQ(test, t->done, t->fpdus);
		return;
	}
	KUNIT_ASSERT_EQ(test, t->e.perr, KWARP_PERR_MPA_LOST);
	KUNIT_ASSERT_LE(test, t->done, complete_in(t, b));
	/* When the end of an FPDU is processed, the head of the next one may have been copied. */
	KUNIT_ASSERT_GE(test, t->done + 1, complete_in(t, a));
}

static void test_unreadable(struct kunit *test)
{
	const struct way *w = test->param_value;
	u32 a, b, step = w->lens == small ? 1 : 29;
	struct skb_test *t = test->priv;

	make_stream(t, w->lens, w->markers, w->off);
	for (a = 0; a < t->len; a += step) {
		for (b = a + 1; b <= t->len; b += step) {
			uncopyable = (a + b) & 1;
			one_unreadable(t, w, a, b);
		}
	}
}

static int skb_test_init(struct kunit *test)
{
	struct skb_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	t->e.kdev = t->kdev;
	charged = 0;
	t->test = test;
	__skb_queue_head_init(&t->queue);
	test->priv = t;
	return 0;
}

static void skb_test_exit(struct kunit *test)
{
	struct skb_test *t = test->priv;

	__skb_queue_purge(&t->queue);
	drop_stash(t);
	KUNIT_EXPECT_EQ(test, charged, 0);
}

static struct kunit_case rx_skb_cases[] = {
	KUNIT_CASE_PARAM(test_cut, way_gen_params),
	KUNIT_CASE_PARAM(test_cut_twice, way_gen_params),
	KUNIT_CASE_PARAM(test_octets, way_gen_params),
	KUNIT_CASE_PARAM(test_may, way_gen_params),
	KUNIT_CASE_PARAM(test_damage, crc_way_gen_params),
	KUNIT_CASE_PARAM(test_stash, crc_way_gen_params),
	KUNIT_CASE(test_stash_longest),
	KUNIT_CASE(test_stash_charge),
	KUNIT_CASE(test_stash_unpaid),
	KUNIT_CASE(test_stash_no_pages),
	KUNIT_CASE(test_any),
	KUNIT_CASE(test_stopped),
	KUNIT_CASE_PARAM(test_unreadable, crc_way_gen_params),
	{}
};

static struct kunit_suite rx_skb_suite = {
	.name = "kwarp_rx_skb",
	.init = skb_test_init,
	.exit = skb_test_exit,
	.test_cases = rx_skb_cases,
};

kunit_test_suite(rx_skb_suite);
