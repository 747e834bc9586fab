/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of skb.c and stash.c: a stream in skbs of every shape. A function of the
 * fixture replaces TCP's reader; the parser is the real one, and its reports are collected.
 */
#ifndef KWARP_ENGINE_TESTS_SKB_FIXTURE_H
#define KWARP_ENGINE_TESTS_SKB_FIXTURE_H

#include <kunit/test.h>
#include <linux/skbuff.h>

#include "../types.h"

#include "../rx/rx.h"

#include "../../kwarp.h"
#include "../../proto/tests/emit.h"

struct way;

/*
 * skb_unreadable: an skb whose octets cannot be copied, and cannot be read in place unless
 * skb_uncopyable is set.
 */
extern const struct sk_buff *skb_unreadable;
extern bool skb_uncopyable;
extern bool skb_no_pages;

/* Copy octets to the stash: calls stash_fill() of skb.c. */
/* Let the segment in FPDU @n, from 1 on, wait for a receive. */
void skb_park_at(u32 n);

u32 skb_stash_fill(struct kwarp_engine *e, const u8 *data, u32 len);

#define STREAM_MAX	8192
#define SEQ		0xfffffff0U	/* first sequence number: wraps soon */

enum shape {
	LINEAR,
	FRAGS,		/* a few octets in the linear part, then frags of a few octets */
	BLOCK,		/* as FRAGS, but the frags are contiguous in memory */
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
	u32 ends[16];		/* where the stream's FPDUs end */
	u32 fpdus;
	u8 payload[STREAM_MAX];	/* payload of the stream's FPDUs */
	u32 payload_ends[16];
	u8 out[STREAM_MAX];	/* payload that the parser has reported */
	u32 out_len;
	u32 done;		/* FPDUs that the parser has reported */
	u32 straight;		/* octets of @out that did not pass the parser */
	u32 seq;		/* sequence number of the next octet to read */
	u32 arrived;		/* octets that have arrived at TCP */
	struct kwarp_dev *kdev;
	bool no_receive;	/* a segment that waits for a receive still does */
};

extern int skb_charged;
extern bool skb_broke;

void skb_make_stream(struct skb_test *t, const u32 *lens, bool markers, u32 off);
void skb_drop_stash(struct skb_test *t);
void skb_start(struct skb_test *t, bool crc, bool markers, u32 off);
void skb_arrive(struct skb_test *t, u32 len, enum shape shape);
u32 skb_read_once(struct skb_test *t, u32 may);
void skb_read_all(struct skb_test *t);
u32 skb_complete_in(const struct skb_test *t, u32 octets);
void skb_begin_way(struct skb_test *t, const struct way *w);
void skb_expect_all(struct skb_test *t);
int skb_test_init(struct kunit *test);
void skb_test_exit(struct kunit *test);

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
	{ "larger", mixed, false, false, 0 },
	{ "larger, CRC", mixed, true, false, 0 },
	{ "larger, CRC and markers", mixed, true, true, 0x1f0 },
};

KUNIT_ARRAY_PARAM_DESC(way, ways, desc);

/* Parameters of tests that need CRCs: only those elements of @ways that have them. */
static __maybe_unused const void *crc_way_gen_params(const void *prev, char *desc)
{
	const struct way *w = prev;

	do {
		w = way_gen_params(w, desc);
	} while (w && !w->crc);
	return w;
}

#endif /* KWARP_ENGINE_TESTS_SKB_FIXTURE_H */
