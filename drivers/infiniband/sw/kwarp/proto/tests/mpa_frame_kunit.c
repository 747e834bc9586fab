// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of FPDU arithmetic, compared with tables, with invariants and with the sender in emit.h. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../mpa_frame.h"
#include "emit.h"

/* By RFC 5044 section 4.5 and within the limits of section 3 */
static const struct mulpdu_case {
	const char *desc;
	u32 emss;
	u32 plain;
	u32 marked;
} mulpdu_cases[] = {
	{ "0", 0, 128, 128 },
	{ "88, least of IPv4", 88, 128, 128 },
	{ "128", 128, 128, 128 },
	{ "134", 134, 128, 128 },
	{ "136", 136, 130, 128 },
	{ "138", 138, 130, 128 },
	{ "140", 140, 134, 130 },
	{ "536", 536, 530, 522 },
	{ "1440, IPv6", 1440, 1434, 1422 },
	{ "1448, timestamps", 1448, 1442, 1430 },
	{ "1460", 1460, 1454, 1442 },
	{ "8948, jumbo", 8948, 8942, 8870 },
	{ "65415, from the RFC", 65415, 64768, 64768 },
	{ "65483, loopback", 65483, 64768, 64768 },
	{ "largest u32", U32_MAX, 64768, 64768 },
};

KUNIT_ARRAY_PARAM_DESC(mulpdu, mulpdu_cases, desc);

static void test_mulpdu(struct kunit *test)
{
	const struct mulpdu_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, kwarp_mpa_mulpdu(c->emss, false), c->plain);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_mulpdu(c->emss, true), c->marked);
}

/* 5044-3-4; with an EMSS below 256 the lower limit of MULPDU may be too large for one segment. */
static void test_mulpdu_fits(struct kunit *test)
{
	u32 emss, plain, marked, content, off, worst;

	for (emss = 0; emss <= 66000; emss++) {
		plain = kwarp_mpa_mulpdu(emss, false);
		marked = kwarp_mpa_mulpdu(emss, true);
		KUNIT_ASSERT_GE(test, marked, 128);
		KUNIT_ASSERT_LE(test, marked, plain);
		KUNIT_ASSERT_LE(test, plain, 64768);
		if (emss < 256)
			continue;
		KUNIT_ASSERT_LE(test, kwarp_mpa_fpdu_len(plain), emss);
		content = kwarp_mpa_fpdu_len(marked);
		for (worst = 0, off = 0; off < 512; off += 4)
			worst = max(worst, kwarp_mpa_markers_in(off, content));
		KUNIT_ASSERT_LE(test, content + 4 * worst, emss);
	}
}

/* An FPDU has 0 to 3 octets of pad, and 6 octets of length field and CRC: 5044-4.1-5, -9. */
static void test_pad(struct kunit *test)
{
	u32 len;

	for (len = 0; len <= 65535; len++) {
		KUNIT_ASSERT_LE(test, kwarp_mpa_pad(len), 3);
		KUNIT_ASSERT_EQ(test, (2 + len + kwarp_mpa_pad(len)) % 4, 0);
		KUNIT_ASSERT_EQ(test, kwarp_mpa_fpdu_len(len),
				6 + len + kwarp_mpa_pad(len));
	}
	/* the longest FPDU that may be sent: 2 + 64768 octets, pad 2, CRC 4: 5044-3-8 */
	KUNIT_EXPECT_EQ(test, kwarp_mpa_fpdu_len(64768), 64776);
}

/* An FPDU with a ULPDU of 1430 octets at four offsets: number of its markers, and their pointers */
static const struct marker_case {
	const char *desc;
	u32 off;
	u32 count;
	u32 ptr[3];
} marker_cases[] = {
	{ "FPDU at 0", 0, 3, { 0x0000, 0x01fc, 0x03fc } },
	{ "FPDU at 4", 4, 2, { 0x01fc, 0x03fc } },
	{ "FPDU at 256", 256, 3, { 0x0100, 0x0300, 0x0500 } },
	{ "FPDU at 508", 508, 3, { 0x0004, 0x0204, 0x0404 } },
};

KUNIT_ARRAY_PARAM_DESC(marker, marker_cases, desc);

static void test_markers(struct kunit *test)
{
	const struct marker_case *c = test->param_value;
	u32 content = kwarp_mpa_fpdu_len(1430);
	u32 off = c->off, start = c->off, left = content, n = 0, run;
	u8 raw[KWARP_MPA_MARKER_LEN];

	KUNIT_EXPECT_EQ(test, kwarp_mpa_markers_in(c->off, content), c->count);
	while (left) {
		run = min(kwarp_mpa_to_marker(off), left);
		off += run;
		left -= run;
		if (!left)
			break;
		KUNIT_ASSERT_LT(test, n, ARRAY_SIZE(c->ptr));
		kwarp_mpa_marker_encode(raw, off - start);
		KUNIT_EXPECT_EQ(test, kwarp_mpa_marker_decode(raw), c->ptr[n++]);
		off += KWARP_MPA_MARKER_LEN;
		if (left == content)	/* 5044-4.3-8: this marker is before the FPDU */
			start = off;
		run = min_t(u32, 508, left);
		off += run;
		left -= run;
	}
	KUNIT_EXPECT_EQ(test, n, c->count);
}

/* kwarp_mpa_markers_in() agrees with the sender in emit.h: 5044-4.3-4, -8, -12. */
static void test_markers_emitter(struct kunit *test)
{
	struct rnd_state rnd;
	struct kwarp_emit e;
	u8 *ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	u32 i, off, len, content;

	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 3000; i++) {
		len = prandom_u32_state(&rnd) % (i % 8 ? 2000 : 65536);
		content = kwarp_mpa_fpdu_len(len);
		e = (struct kwarp_emit){
			.off = prandom_u32_state(&rnd) & ~3,
			.markers = true,
		};
		if (e.off % 512 == 4)	/* directly after a marker no FPDU begins */
			e.off -= 4;
		if (i % 16 == 0)
			e.off = 0 - prandom_u32_state(&rnd) % 64 * 4;
		off = e.off;
		kwarp_emit_fpdu(&e, ulpdu, len, 0);
		KUNIT_ASSERT_EQ(test, kwarp_mpa_markers_in(off, content), e.count);
		KUNIT_ASSERT_EQ(test, e.len, content + 4 * e.count);
	}
}

static void test_marker_codec(struct kunit *test)
{
	static const u8 junk[] = { 0xff, 0xff, 0x12, 0x37 };
	u8 raw[KWARP_MPA_MARKER_LEN];
	u32 ptr;

	for (ptr = 0; ptr <= 0xffff; ptr++) {
		kwarp_mpa_marker_encode(raw, ptr);
		KUNIT_ASSERT_EQ(test, raw[0] | raw[1], 0);	/* reserved: 5044-4.2-2 */
		KUNIT_ASSERT_EQ(test, raw[3] & 3, 0);		/* low bits zero: 5044-4.2-5 */
		KUNIT_ASSERT_EQ(test, kwarp_mpa_marker_decode(raw), ptr & 0xfffc);
	}
	/* reserved half and low bits are ignored: 5044-4.2-3, -6 */
	KUNIT_EXPECT_EQ(test, kwarp_mpa_marker_decode(junk), 0x1234);
}

static void test_to_marker(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kwarp_mpa_to_marker(0), 0);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_to_marker(4), 508);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_to_marker(511), 1);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_to_marker(512), 0);
	KUNIT_EXPECT_EQ(test, kwarp_mpa_to_marker(U32_MAX), 1);
}

/* CRCs from iSCSI (RFC 3720 B.4), and the usual check value of CRC32c */
static const struct crc_case {
	const char *desc;
	u8 first;
	s8 step;
	u8 len;
	u8 wire[4];
} crc_cases[] = {
	{ "check value, 123456789", '1', 1, 9, { 0x83, 0x92, 0x06, 0xe3 } },
	{ "32 octets of 00", 0x00, 0, 32, { 0xaa, 0x36, 0x91, 0x8a } },
	{ "32 octets of ff", 0xff, 0, 32, { 0x43, 0xab, 0xa8, 0x62 } },
	{ "00 to 1f", 0x00, 1, 32, { 0x4e, 0x79, 0xdd, 0x46 } },
	{ "1f to 00", 0x1f, -1, 32, { 0x5c, 0xdb, 0x3f, 0x11 } },
};

KUNIT_ARRAY_PARAM_DESC(crc, crc_cases, desc);

static void test_crc(struct kunit *test)
{
	const struct crc_case *c = test->param_value;
	u8 data[32], wire[KWARP_MPA_CRC_LEN];
	u32 i, cut, crc;

	for (i = 0; i < c->len; i++)
		data[i] = c->first + i * c->step;
	for (cut = 0; cut <= c->len; cut++) {	/* CRC in two parts: 5044-4.4-13 */
		crc = kwarp_mpa_crc_add(kwarp_mpa_crc_init(), data, cut);
		crc = kwarp_mpa_crc_add(crc, data + cut, c->len - cut);
		kwarp_mpa_crc_put(wire, crc);
		KUNIT_EXPECT_MEMEQ(test, wire, c->wire, sizeof(wire));
		KUNIT_EXPECT_TRUE(test, kwarp_mpa_crc_ok(c->wire, crc));
	}
	for (i = 0; i < 32; i++) {		/* one wrong bit: 5044-4.4-19 */
		memcpy(wire, c->wire, sizeof(wire));
		wire[i / 8] ^= BIT(i % 8);
		KUNIT_EXPECT_FALSE(test, kwarp_mpa_crc_ok(wire, crc));
	}
}

static struct kunit_case mpa_frame_cases[] = {
	KUNIT_CASE_PARAM(test_mulpdu, mulpdu_gen_params),
	KUNIT_CASE(test_mulpdu_fits),
	KUNIT_CASE(test_pad),
	KUNIT_CASE_PARAM(test_markers, marker_gen_params),
	KUNIT_CASE(test_markers_emitter),
	KUNIT_CASE(test_marker_codec),
	KUNIT_CASE(test_to_marker),
	KUNIT_CASE_PARAM(test_crc, crc_gen_params),
	{}
};

static struct kunit_suite mpa_frame_suite = {
	.name = "kwarp_mpa_frame",
	.test_cases = mpa_frame_cases,
};

kunit_test_suite(mpa_frame_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's protocol layer");
MODULE_LICENSE("Dual BSD/GPL");
