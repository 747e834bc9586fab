// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the FPDU parser: lengths, pads and markers, streams of the sender in emit.h, and random
 * octets. A sink checks the parser's events (sink.h).
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../fpdu_rx.h"
#include "emit.h"
#include "guard.h"
#include "sink.h"
#include "vectors.h"

/* --------------------------------------------------------------- lengths */

static const struct length_case {
	const char *desc;
	u32 len;
	bool tagged;
	enum kwarp_perr err;
} length_cases[] = {
	{ "0", 0, false, KWARP_PERR_DDP_LOCAL },
	{ "1, tagged", 1, true, KWARP_PERR_DDP_LOCAL },
	{ "1, untagged", 1, false, KWARP_PERR_DDP_LOCAL },
	{ "2", 2, false, KWARP_PERR_DDP_LOCAL },
	{ "5", 5, true, KWARP_PERR_DDP_LOCAL },
	{ "13, tagged", 13, true, KWARP_PERR_DDP_LOCAL },
	{ "14, tagged", 14, true, KWARP_PERR_NONE },
	{ "14, untagged", 14, false, KWARP_PERR_DDP_LOCAL },
	{ "15, tagged", 15, true, KWARP_PERR_NONE },
	{ "17, untagged", 17, false, KWARP_PERR_DDP_LOCAL },
	{ "18, untagged", 18, false, KWARP_PERR_NONE },
	{ "19, untagged", 19, false, KWARP_PERR_NONE },
	{ "508", 508, false, KWARP_PERR_NONE },
	{ "64768, largest legal", 64768, true, KWARP_PERR_NONE },
	{ "64769", 64769, true, KWARP_PERR_NONE },
	{ "65534", 65534, false, KWARP_PERR_NONE },
	{ "65535, largest there is", 65535, false, KWARP_PERR_NONE },
};

KUNIT_ARRAY_PARAM_DESC(length, length_cases, desc);

/* If CRC and length are wrong, the CRC is reported: it is checked first (RFC 5044 section 6). */
static void test_length(struct kunit *test)
{
	const struct length_case *c = test->param_value;
	struct sink *s = sink_new(test);
	u8 *wire = kunit_kzalloc(test, 2 * 66100, GFP_KERNEL);
	u8 *ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	u32 mode, flip, pieces;

	KUNIT_ASSERT_TRUE(test, wire && ulpdu);
	ulpdu[0] = c->tagged ? 0xc1 : 0x41;
	for (mode = 0; mode < 16; mode++) {
		bool crc = mode & 1, markers = mode & 2;
		struct kwarp_emit e = {
			.buf = wire, .size = 2 * 66100, .markers = markers,
		};

		flip = mode & 4 ? BIT(7) : 0;
		pieces = mode & 8 ? 7 : 66100;
		kwarp_emit_fpdu(&e, ulpdu, c->len, flip);
		sink_start(s, crc, markers, 0);
		while (e.len && !s->err) {
			u32 n = min(e.len, pieces);

			sink_feed(s, e.buf, n);
			e.buf += n;
			e.len -= n;
		}
		KUNIT_EXPECT_EQ(test, s->err, crc && flip ? KWARP_PERR_MPA_CRC : c->err);
		KUNIT_EXPECT_EQ(test, s->ends, !s->err);
		if (!s->err)
			KUNIT_EXPECT_EQ(test, s->rx.payload_len,
					c->len - (c->tagged ? 14 : 18));
	}
}

/* ------------------------------------------------------------------- pad */

static void write_trailer(u8 *wire, u32 len)
{
	u32 i, crc = ~0U;

	for (i = 0; i < len - 4; i++)
		crc = kwarp_emit_crc_octet(crc, wire[i]);
	for (i = 0; i < 4; i++)
		wire[len - 4 + i] = ~crc >> (8 * i);
}

/* 5044-4.1-4: the CRC covers the pad; apart from that the pad is ignored. */
static void test_pad(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 wire[sizeof(kwarp_wire_pad3)];
	u32 cut, crc, resign, len = sizeof(wire);

	for (resign = 0; resign < 2; resign++) {
		memcpy(wire, kwarp_wire_pad3, len);
		memset(wire + 25, 0xff, 3);
		if (resign)
			write_trailer(wire, len);
		for (cut = 0; cut <= len; cut++) {
			for (crc = 0; crc < 2; crc++) {
				sink_start(s, crc, false, 0);
				sink_feed(s, wire, cut);
				if (!s->err)
					sink_feed(s, wire + cut, len - cut);
				KUNIT_EXPECT_EQ(test, s->err, crc && !resign ?
						KWARP_PERR_MPA_CRC : KWARP_PERR_NONE);
				KUNIT_EXPECT_EQ(test, s->ends, !s->err);
				KUNIT_EXPECT_MEMEQ(test, s->out, "hello", s->out_len);
			}
		}
	}
}

/* --------------------------------------------------------------- markers */

static const struct ptr_case {
	const char *desc;
	u16 rsvd;
	u16 ptr;
	bool crc_right;
	bool check_crc;
	enum kwarp_perr err;
} ptr_cases[] = {
	{ "right", 0, 0x14, true, true, KWARP_PERR_NONE },
	{ "right, low bits set", 0, 0x17, true, true, KWARP_PERR_NONE },
	{ "right, reserved half set", 0xffff, 0x14, true, true, KWARP_PERR_NONE },
	{ "right, CRC wrong", 0, 0x14, false, true, KWARP_PERR_MPA_CRC },
	{ "reserved half set, CRC of zeros", 0xffff, 0x14, false, true, KWARP_PERR_MPA_CRC },
	{ "zero inside an FPDU", 0, 0, true, true, KWARP_PERR_MPA_MARKER },
	{ "too small", 0, 0x10, true, true, KWARP_PERR_MPA_MARKER },
	{ "too large", 0, 0x18, true, true, KWARP_PERR_MPA_MARKER },
	{ "far too large", 0, 0xff14, true, true, KWARP_PERR_MPA_MARKER },
	{ "wrong and CRC wrong", 0, 0x10, false, true, KWARP_PERR_MPA_CRC },
	{ "right, CRC not in use", 0, 0x14, false, false, KWARP_PERR_NONE },
	{ "wrong, CRC not in use", 0, 0x10, false, false, KWARP_PERR_MPA_MARKER },
};

KUNIT_ARRAY_PARAM_DESC(ptr, ptr_cases, desc);

/* 5044-4.2-3, -6; 5044-8-4: in the FPDU of RFC 5044 Figure 6 the marker is at octet 0x14. */
static void test_ptr(struct kunit *test)
{
	const struct ptr_case *c = test->param_value;
	struct sink *s = sink_new(test);
	u8 wire[sizeof(kwarp_wire_fig6)];
	u32 cut;

	memcpy(wire, kwarp_wire_fig6, sizeof(wire));
	put_unaligned_be16(c->rsvd, wire + 0x14);
	put_unaligned_be16(c->ptr, wire + 0x16);
	write_trailer(wire, sizeof(wire));
	if (!c->crc_right)
		wire[sizeof(wire) - 1] ^= 0x80;
	for (cut = 0; cut <= sizeof(wire); cut++) {
		sink_start(s, c->check_crc, true, 0x1ec);
		sink_feed(s, wire, cut);
		if (!s->err)
			sink_feed(s, wire + cut, sizeof(wire) - cut);
		KUNIT_EXPECT_EQ(test, s->err, c->err);
		KUNIT_EXPECT_EQ(test, s->ends, !c->err);
	}
}

/* 5044-4.3-7, -15: the pointer of a marker between FPDUs has to be zero. */
static void test_ptr_between(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 wire[sizeof(kwarp_wire_fig5)];

	memcpy(wire, kwarp_wire_fig5, sizeof(wire));
	wire[3] = 3;		/* the two low bits are ignored */
	write_trailer(wire, sizeof(wire));
	sink_start(s, true, true, 0);
	sink_feed(s, wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, s->ends, 1);

	wire[3] = 4;
	write_trailer(wire, sizeof(wire));
	sink_start(s, true, true, 0);
	sink_feed(s, wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_MARKER);
}

/* 5044-4.3-8: a marker between FPDUs belongs to the next FPDU, so after it an FPDU has begun. */
static void test_lone_marker(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u32 len;

	sink_start(s, true, true, 0);
	KUNIT_EXPECT_TRUE(test, kwarp_fpdu_rx_idle(&s->rx));
	for (len = 1; len <= 4; len++) {
		sink_start(s, true, true, 0);
		sink_feed(s, kwarp_wire_fig5, len);
		KUNIT_EXPECT_FALSE(test, sink_idle(s));
		sink_start(s, false, true, 0);
		sink_feed(s, kwarp_wire_fig5, len);
		KUNIT_EXPECT_FALSE(test, sink_idle(s));
	}
}

/* --------------------------------------------------------------- streams */

enum cutting { CUT_NONE, CUT_SMALL, CUT_MSS, CUT_ANY };

static u32 next_cut(struct rnd_state *rnd, enum cutting cutting, u32 left)
{
	u32 n = left;

	if (cutting == CUT_SMALL)
		n = 1 + prandom_u32_state(rnd) % 9;
	else if (cutting == CUT_MSS)
		n = 1448;
	else if (cutting == CUT_ANY)
		n = prandom_u32_state(rnd) % 3000;
	return min(n, left);
}

static u32 make_stream(struct rnd_state *rnd, struct kwarp_emit *e, u32 max_ulpdu,
		       u8 *ulpdu, u8 *payload, u32 *payload_len)
{
	u32 n = 0, len, hdr;

	*payload_len = 0;
	do {
		len = 18 + prandom_u32_state(rnd) % (max_ulpdu - 17);
		prandom_bytes_state(rnd, ulpdu, len);
		hdr = kwarp_ddp_hdr_len(ulpdu[0]);
		memcpy(payload + *payload_len, ulpdu + hdr, len - hdr);
		*payload_len += len - hdr;
		kwarp_emit_fpdu(e, ulpdu, len, 0);
		n++;
	} while (e->len + max_ulpdu * 2 + 64 < e->size);
	return n;
}

static const struct stream_case {
	const char *desc;
	bool check_crc;
	bool markers;
	u32 off;
	u32 max_ulpdu;
	enum cutting cutting;
} stream_cases[] = {
	{ "small, whole", true, false, 0, 100, CUT_NONE },
	{ "small, cut small", true, false, 0, 100, CUT_SMALL },
	{ "small, any cut", true, false, 0, 100, CUT_ANY },
	{ "MULPDU, whole", true, false, 0, 1442, CUT_NONE },
	{ "MULPDU, cut at MSS", true, false, 0, 1442, CUT_MSS },
	{ "MULPDU, any cut", true, false, 0, 1442, CUT_ANY },
	{ "large, any cut", true, false, 0, 60000, CUT_ANY },
	{ "no CRC, any cut", false, false, 0, 1442, CUT_ANY },
	{ "no CRC, cut small", false, false, 0, 1442, CUT_SMALL },
	{ "markers, small, whole", true, true, 0, 100, CUT_NONE },
	{ "markers, small, cut small", true, true, 0, 100, CUT_SMALL },
	{ "markers, MULPDU, whole", true, true, 0, 1430, CUT_NONE },
	{ "markers, MULPDU, cut small", true, true, 0, 1430, CUT_SMALL },
	{ "markers, MULPDU, cut at MSS", true, true, 0, 1430, CUT_MSS },
	{ "markers, MULPDU, any cut", true, true, 0, 1430, CUT_ANY },
	{ "markers, large, any cut", true, true, 0, 60000, CUT_ANY },
	{ "markers, no CRC, any cut", false, true, 0, 1430, CUT_ANY },
	{ "markers, offset wraps", true, true, 0xffff0000, 1430, CUT_ANY },
	{ "markers, offset wraps, large", true, true, 0xffff0000, 60000, CUT_ANY },
};

KUNIT_ARRAY_PARAM_DESC(stream, stream_cases, desc);

/* 5044-4.3-6, -16, -17; 5044-5.1-6; 5044-5.2-1: all payload comes out, and no other octets. */
static void test_stream(struct kunit *test)
{
	const struct stream_case *c = test->param_value;
	struct sink *s = sink_new(test);
	u8 *wire = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	u8 *payload = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	u8 *ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	u32 seed, n, at, cut, payload_len;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	for (seed = 42; seed < 46; seed++) {
		struct kwarp_emit e = {
			.buf = wire, .size = STREAM_MAX, .off = c->off,
			.markers = c->markers,
		};

		prandom_seed_state(&rnd, seed);
		n = make_stream(&rnd, &e, c->max_ulpdu, ulpdu, payload, &payload_len);
		KUNIT_ASSERT_LE(test, e.len, e.size);
		sink_start(s, c->check_crc, c->markers, c->off);
		for (at = 0; at < e.len; at += cut) {
			cut = next_cut(&rnd, c->cutting, e.len - at);
			sink_feed(s, wire + at, cut);
		}
		KUNIT_EXPECT_EQ_MSG(test, s->err, KWARP_PERR_NONE, "seed %u", seed);
		KUNIT_EXPECT_EQ_MSG(test, s->ends, n, "seed %u", seed);
		KUNIT_EXPECT_EQ(test, s->rx.off, e.off);
		KUNIT_ASSERT_EQ(test, s->out_len, payload_len);
		KUNIT_EXPECT_MEMEQ(test, s->out, payload, payload_len);
	}
}

/* ---------------------------------------------------------------- noise */

/* 5044-9.1-1: given random octets, the parser advances and stays in bounds, as the sink checks. */
static void test_noise(struct kunit *test)
{
	struct sink *s = sink_new(test);
	struct rnd_state rnd;
	u8 *wire = kunit_kzalloc(test, 4096, GFP_KERNEL);
	u32 i, at, cut;

	KUNIT_ASSERT_NOT_NULL(test, wire);
	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 4000; i++) {
		prandom_bytes_state(&rnd, wire, 4096);
		if (i & 4)	/* short FPDUs: many boundaries between FPDUs */
			for (at = 0; at < 4096; at += 8)
				wire[at] = 0;
		sink_start(s, i & 1, i & 2, 0);
		for (at = 0; at < 4096 && !s->err; at += cut) {
			cut = next_cut(&rnd, i >> 3 & 3, 4096 - at);
			sink_feed(s, wire + at, cut);
		}
		if (s->rx.check_crc)
			KUNIT_EXPECT_EQ(test, s->ends, 0);
	}
}

/* There is no error if the wrong bit made ULPDU_Length longer than the rest of the stream. */
static void test_damaged(struct kunit *test)
{
	struct sink *s = sink_new(test);
	u8 *wire = kwarp_guard_end(test, 16384) - 16384;
	u8 *payload = kwarp_guard_end(test, 16384) - 16384;
	u8 *ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	u32 i, n, at, cut, payload_len;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 400; i++) {
		struct kwarp_emit e = { .buf = wire, .size = 16384, .markers = i & 1 };

		n = make_stream(&rnd, &e, 200, ulpdu, payload, &payload_len);
		wire[prandom_u32_state(&rnd) % e.len] ^= BIT(prandom_u32_state(&rnd) % 8);
		sink_start(s, true, e.markers, 0);
		for (at = 0; at < e.len && !s->err; at += cut) {
			cut = next_cut(&rnd, CUT_ANY, e.len - at);
			sink_feed(s, wire + at, cut);
		}
		KUNIT_EXPECT_LT(test, s->ends, n);
		if (s->err)
			KUNIT_EXPECT_EQ(test, s->err, KWARP_PERR_MPA_CRC);
	}
}

static struct kunit_case fpdu_stream_cases[] = {
	KUNIT_CASE_PARAM(test_length, length_gen_params),
	KUNIT_CASE(test_pad),
	KUNIT_CASE_PARAM(test_ptr, ptr_gen_params),
	KUNIT_CASE(test_ptr_between),
	KUNIT_CASE(test_lone_marker),
	KUNIT_CASE_PARAM(test_stream, stream_gen_params),
	KUNIT_CASE(test_noise),
	KUNIT_CASE(test_damaged),
	{}
};

static struct kunit_suite fpdu_stream_suite = {
	.name = "kwarp_fpdu_stream",
	.test_cases = fpdu_stream_cases,
};

kunit_test_suite(fpdu_stream_suite);
