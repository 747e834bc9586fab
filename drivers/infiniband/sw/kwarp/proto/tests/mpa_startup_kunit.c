// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of MPA startup frames: encoding and decoding, truncation at every octet, every malformed
 * field.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../mpa_startup.h"
#include "guard.h"
#include "vectors.h"

#define NV	KWARP_DEPTH_NV
#define B	KWARP_RTR_SEND
#define C	KWARP_RTR_WRITE
#define D	KWARP_RTR_READ

KUNIT_ARRAY_PARAM_DESC(vec, kwarp_vec_frames, desc);

static void test_vector(struct kunit *test)
{
	const struct kwarp_vec_frame *v = test->param_value;
	u8 out[KWARP_MPA_MAX_HDR];
	struct kwarp_mpa_frame frame;
	const u8 *pdata;
	u32 need, len;

	KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_need(v->wire, v->len, v->reply, &need), 0);
	KUNIT_EXPECT_EQ(test, need, v->len);
	KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(v->wire, v->len, v->reply, &frame, &pdata), 0);
	KUNIT_EXPECT_EQ(test, frame.reply, v->reply);
	KUNIT_EXPECT_EQ(test, frame.markers, v->wire[16] >> 7);
	KUNIT_EXPECT_EQ(test, frame.crc, v->wire[16] >> 6 & 1);
	KUNIT_EXPECT_EQ(test, frame.reject, v->wire[16] >> 5 & 1);
	KUNIT_EXPECT_EQ(test, frame.enhanced, v->wire[16] >> 4 & 1);
	KUNIT_EXPECT_EQ(test, frame.rev, v->wire[17]);
	len = kwarp_mpa_frame_encode(out, &frame);
	KUNIT_EXPECT_EQ(test, len + frame.pdata_len, v->len);
	KUNIT_EXPECT_PTR_EQ(test, pdata, v->wire + len);
	KUNIT_EXPECT_MEMEQ(test, out, v->wire, len);
}

/* 5044-7.1.1-23: a truncated frame is refused; its length is known when 20 octets have come. */
static void test_truncated(struct kunit *test)
{
	const struct kwarp_vec_frame *v = test->param_value;
	u8 *end = kwarp_guard_end(test, v->len);
	struct kwarp_mpa_frame frame;
	const u8 *pdata, *in;
	u32 len, need;

	for (len = 0; len < v->len; len++) {
		in = kwarp_guard_put(end, v->wire, len);
		KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_need(in, len, v->reply, &need), 0);
		KUNIT_EXPECT_EQ(test, need, len < 20 ? 20 : v->len);
		KUNIT_EXPECT_GT(test, need, len);
		KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_decode(in, len, v->reply, &frame, &pdata),
				KWARP_PERR_MPA_FRAME);
	}
}

/* 5044-7.1.1-2, -4: a wrong octet of the key is refused as soon as it has come. */
static void test_bad_key(struct kunit *test)
{
	const struct kwarp_vec_frame *v = test->param_value;
	u8 wire[64];
	u32 i, len, need;

	KUNIT_ASSERT_LE(test, v->len, sizeof(wire));
	for (i = 0; i < KWARP_MPA_KEY_LEN; i++) {
		memcpy(wire, v->wire, v->len);
		wire[i] ^= 0x20;
		for (len = 0; len <= v->len; len++)
			KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_need(wire, len, v->reply, &need),
					len > i ? KWARP_PERR_MPA_FRAME : KWARP_PERR_NONE);
	}
	/* 5044-7.1.2-23: two Initiators, or two Responders: the keys differ at index 9 */
	for (len = 0; len <= v->len; len++)
		KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_need(v->wire, len, !v->reply, &need),
				len > 9 ? KWARP_PERR_MPA_FRAME : KWARP_PERR_NONE);
}

/* 5044-7.1.1-19, 6581-6-8, 6581-6-13: only revisions 1 and 2 are accepted. */
static void test_revisions(struct kunit *test)
{
	const struct kwarp_vec_frame *v = test->param_value;
	struct kwarp_mpa_frame frame;
	enum kwarp_perr want;
	u8 wire[64];
	u32 rev, need;
	const u8 *pdata;

	memcpy(wire, v->wire, v->len);
	for (rev = 0; rev < 256; rev++) {
		wire[17] = rev;
		want = rev == 1 || rev == 2 ? KWARP_PERR_NONE : KWARP_PERR_MPA_FRAME;
		KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_need(wire, 17, v->reply, &need), 0);
		KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_need(wire, 18, v->reply, &need), want);
		KUNIT_EXPECT_EQ(test,
				kwarp_mpa_frame_decode(wire, v->len, v->reply, &frame, &pdata),
				want);
	}
}

/* 5044-7.1.1-13, -16; 6581-6-4, 6581-6-12: all values of the flags octet */
static void test_flags(struct kunit *test)
{
	u8 wire[KWARP_MPA_FRAME_LEN + 4];
	struct kwarp_mpa_frame frame;
	u32 i, flags, rev, reply;
	const u8 *pdata;

	for (i = 0; i < 1024; i++) {
		flags = i & 0xff;
		rev = 1 + (i >> 8 & 1);
		reply = i >> 9;
		memcpy(wire, reply ? KWARP_MPA_KEY_REP : KWARP_MPA_KEY_REQ, 16);
		wire[16] = flags;
		wire[17] = rev;
		wire[18] = 0;
		wire[19] = 4;
		memcpy(wire + 20, "\x80\x10\xc0\x08", 4);
		KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(wire, sizeof(wire), reply, &frame,
							     &pdata), 0);
		KUNIT_ASSERT_EQ(test, frame.markers, flags >> 7);
		KUNIT_ASSERT_EQ(test, frame.crc, flags >> 6 & 1);
		KUNIT_ASSERT_EQ(test, frame.reject, reply && flags & 0x20);
		KUNIT_ASSERT_EQ(test, frame.enhanced, rev == 2 && flags & 0x10);
		KUNIT_ASSERT_EQ(test, frame.pdata_len, frame.enhanced ? 0 : 4);
		KUNIT_ASSERT_EQ(test, frame.ird, frame.enhanced ? 16 : 0);
		KUNIT_ASSERT_EQ(test, frame.rtr, frame.enhanced ? C | D : 0);
	}
}

/* Right and wrong PD_Lengths: 5044-7.1.1-23, -25; 6581-6-9, 6581-6-11, 6581-7-3 */
static const struct pdata_case {
	const char *desc;
	u8 rev;
	bool s;
	u16 pdata_len;
	enum kwarp_perr err;
} pdata_cases[] = {
	{ "none", 1, false, 0, KWARP_PERR_NONE },
	{ "255", 1, false, 255, KWARP_PERR_NONE },
	{ "256", 1, false, 256, KWARP_PERR_NONE },
	{ "most", 1, false, 512, KWARP_PERR_NONE },
	{ "513", 1, false, 513, KWARP_PERR_MPA_FRAME },
	{ "65535", 1, false, 65535, KWARP_PERR_MPA_FRAME },
	{ "rev 1, S is a reserved bit", 1, true, 3, KWARP_PERR_NONE },
	{ "rev 2, S=0, none", 2, false, 0, KWARP_PERR_NONE },
	{ "rev 2, S=0, 3", 2, false, 3, KWARP_PERR_NONE },
	{ "rev 2, S=0, most", 2, false, 512, KWARP_PERR_NONE },
	{ "rev 2, S=1, 0", 2, true, 0, KWARP_PERR_MPA_FRAME },
	{ "rev 2, S=1, 1", 2, true, 1, KWARP_PERR_MPA_FRAME },
	{ "rev 2, S=1, 2", 2, true, 2, KWARP_PERR_MPA_FRAME },
	{ "rev 2, S=1, 3", 2, true, 3, KWARP_PERR_MPA_FRAME },
	{ "rev 2, S=1, 4", 2, true, 4, KWARP_PERR_NONE },
	{ "rev 2, S=1, 256", 2, true, 256, KWARP_PERR_NONE },
	{ "rev 2, S=1, most", 2, true, 512, KWARP_PERR_NONE },
	{ "rev 2, S=1, 513", 2, true, 513, KWARP_PERR_MPA_FRAME },
};

KUNIT_ARRAY_PARAM_DESC(pdata, pdata_cases, desc);

static void test_pdata_len(struct kunit *test)
{
	const struct pdata_case *c = test->param_value;
	u32 total = KWARP_MPA_FRAME_LEN + c->pdata_len, enh = c->s && c->rev == 2 ? 4 : 0;
	u8 *end = kwarp_guard_end(test, total);
	u8 *wire = end - total;
	struct kwarp_mpa_frame frame;
	const u8 *pdata;
	u32 need;

	memcpy(wire, KWARP_MPA_KEY_REQ, 16);
	wire[16] = c->s ? 0x10 : 0;
	wire[17] = c->rev;
	put_unaligned_be16(c->pdata_len, wire + 18);
	memset(wire + 20, 0x5a, c->pdata_len);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_need(wire, 20, false, &need), c->err);
	KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(wire, total, false, &frame, &pdata), c->err);
	if (c->err)
		return;
	KUNIT_EXPECT_EQ(test, need, total);
	KUNIT_EXPECT_EQ(test, frame.pdata_len, c->pdata_len - enh);
	KUNIT_EXPECT_PTR_EQ(test, pdata, wire + 20 + enh);
	if (total > 20)		/* one octet missing */
		KUNIT_EXPECT_EQ(test,
				kwarp_mpa_frame_decode(wire, total - 1, false, &frame, &pdata),
				KWARP_PERR_MPA_FRAME);
}

/* 6581-9-1, -3; 6581-9.2-1 to -4, -20, -21: all sets of flags, some values of IRD and ORD */
static void test_enhanced_data(struct kunit *test)
{
	static const u16 depths[] = { 0, 1, 0x102, 0x2000, 0x3ffe, NV };
	u8 wire[24], out[KWARP_MPA_MAX_HDR];
	struct kwarp_mpa_frame frame;
	u32 i, bits, ird, ord;
	const u8 *pdata;

	memcpy(wire, kwarp_wire_req_cs, 20);
	for (i = 0; i < 16 * 36; i++) {
		bits = i % 16;
		ird = depths[i / 16 % 6];
		ord = depths[i / 96];
		put_unaligned_be16((bits & 3) << 14 | ird, wire + 20);
		put_unaligned_be16((bits >> 2) << 14 | ord, wire + 22);
		KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(wire, 24, false, &frame, &pdata), 0);
		KUNIT_ASSERT_EQ(test, frame.ird, ird);
		KUNIT_ASSERT_EQ(test, frame.ord, ord);
		KUNIT_ASSERT_EQ(test, frame.p2p, bits >> 1 & 1);
		KUNIT_ASSERT_EQ(test, frame.rtr, !frame.p2p ? 0 :
				(bits & 1 ? B : 0) | (bits & 8 ? C : 0) | (bits & 4 ? D : 0));
		kwarp_mpa_frame_encode(out, &frame);
		if (!frame.p2p)		/* A=0: B, C, D are zero on the wire */
			KUNIT_ASSERT_EQ(test, (out[20] | out[22]) & 0xc0, 0);
		else
			KUNIT_ASSERT_MEMEQ(test, out, wire, 24);
	}
}

/* The flag bits in the same octets do not change. */
static void test_encode_clamps(struct kunit *test)
{
	struct kwarp_mpa_frame frame = {
		.rev = 2, .enhanced = true, .ird = 0xffff, .ord = 0x4000, .rtr = B | C | D,
	};
	u8 out[KWARP_MPA_MAX_HDR];

	KUNIT_EXPECT_EQ(test, kwarp_mpa_frame_encode(out, &frame), 24);
	KUNIT_EXPECT_MEMEQ(test, out + 20, "\x3f\xff\x3f\xff", 4);
	frame.reject = true;		/* no R bit in a Request: 5044-7.1.1-12 */
	kwarp_mpa_frame_encode(out, &frame);
	KUNIT_EXPECT_EQ(test, out[16], 0x10);
}

static void test_noise(struct kunit *test)
{
	u8 *end = kwarp_guard_end(test, 1024), raw[600];
	struct kwarp_mpa_frame frame;
	struct rnd_state rnd;
	const u8 *in, *pdata;
	u32 i, len, need;

	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 20000; i++) {
		len = prandom_u32_state(&rnd) % (sizeof(raw) + 1);
		prandom_bytes_state(&rnd, raw, len);
		memcpy(raw, i & 1 ? KWARP_MPA_KEY_REP : KWARP_MPA_KEY_REQ, min(len, 16));
		raw[17] &= 3;
		raw[18] &= 3;
		in = kwarp_guard_put(end, raw, len);
		if (kwarp_mpa_frame_need(in, len, i & 1, &need))
			continue;
		KUNIT_ASSERT_GE(test, need, 20);
		KUNIT_ASSERT_LE(test, need, 532);
		KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(in, len, i & 1, &frame, &pdata),
				len < need ? KWARP_PERR_MPA_FRAME : KWARP_PERR_NONE);
		if (len >= need)
			KUNIT_ASSERT_PTR_EQ(test, pdata + frame.pdata_len, in + need);
	}
}

static struct kunit_case mpa_startup_cases[] = {
	KUNIT_CASE_PARAM(test_vector, vec_gen_params),
	KUNIT_CASE_PARAM(test_truncated, vec_gen_params),
	KUNIT_CASE_PARAM(test_bad_key, vec_gen_params),
	KUNIT_CASE_PARAM(test_revisions, vec_gen_params),
	KUNIT_CASE(test_flags),
	KUNIT_CASE_PARAM(test_pdata_len, pdata_gen_params),
	KUNIT_CASE(test_enhanced_data),
	KUNIT_CASE(test_encode_clamps),
	KUNIT_CASE(test_noise),
	{}
};

static struct kunit_suite mpa_startup_suite = {
	.name = "kwarp_mpa_startup",
	.test_cases = mpa_startup_cases,
};

kunit_test_suite(mpa_startup_suite);
