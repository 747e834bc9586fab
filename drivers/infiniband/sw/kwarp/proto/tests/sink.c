// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sink.h"

#include <linux/slab.h>

#include "guard.h"

struct sink *sink_new(struct kunit *test)
{
	struct sink *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	s->end = kwarp_guard_end(test, STREAM_MAX);
	s->out = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	s->queue = kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX;
	s->cut = (bool *)(kwarp_guard_end(test, STREAM_MAX) - STREAM_MAX);
	memset(s->cut, 0, STREAM_MAX);
	return s;
}

void sink_start(struct sink *s, bool check_crc, bool markers, u32 off)
{
	kwarp_fpdu_rx_init(&s->rx, check_crc, markers);
	s->rx.off = off;
	memset(s->cut, 0, s->queued);
	s->queued = 0;
	s->from = 0;
	s->out_len = 0;
	s->hdrs = 0;
	s->ends = 0;
	s->err = KWARP_PERR_NONE;
}

static void sink_data(struct sink *s, const u8 *data, u32 dlen, const u8 *from)
{
	struct kunit *test = s->test;

	KUNIT_ASSERT_GT(test, s->hdrs, s->ends);
	KUNIT_ASSERT_GT(test, dlen, 0);
	KUNIT_ASSERT_TRUE(test, data >= from && data + dlen <= s->end);
	KUNIT_ASSERT_LE(test, s->out_len + dlen, STREAM_MAX);
	memcpy(s->out + s->out_len, data, dlen);
	s->out_len += dlen;
	s->seg_len += dlen;
	KUNIT_ASSERT_LE(test, s->seg_len, s->rx.payload_len);
}

void sink_event(struct sink *s, enum kwarp_fpdu_event ev, const u8 *data,
		u32 dlen, const u8 *from)
{
	struct kunit *test = s->test;

	switch (ev) {
	case KWARP_FPDU_HDR:
		KUNIT_ASSERT_EQ(test, s->hdrs, s->ends);
		KUNIT_ASSERT_EQ(test, s->rx.ulpdu_len,
				s->rx.payload_len +
				kwarp_ddp_hdr_len(*kwarp_fpdu_rx_raw(&s->rx)));
		if (s->rx.check_crc)
			KUNIT_ASSERT_EQ(test, s->rx.off, s->head_end);
		s->hdrs++;
		s->seg_len = 0;
		break;
	case KWARP_FPDU_DATA:
		sink_data(s, data, dlen, from);
		break;
	case KWARP_FPDU_END:
		s->ends++;
		KUNIT_ASSERT_EQ(test, s->hdrs, s->ends);
		KUNIT_ASSERT_EQ(test, s->seg_len, s->rx.payload_len);
		KUNIT_ASSERT_TRUE(test, kwarp_fpdu_rx_idle(&s->rx));
		break;
	case KWARP_FPDU_DATA_END:
		sink_event(s, KWARP_FPDU_DATA, data, dlen, from);
		sink_event(s, KWARP_FPDU_END, NULL, 0, from);
		break;
	case KWARP_FPDU_ERROR:
		s->err = s->rx.err;
		KUNIT_ASSERT_NE(test, s->err, KWARP_PERR_NONE);
		break;
	case KWARP_FPDU_MORE:
		break;
	}
}

/* 5044-8-10: an error is the last event. */
void sink_piece(struct sink *s, const u8 *wire, size_t len)
{
	const u8 *at = kwarp_guard_put(s->end, wire, len), *data = NULL;
	struct kunit *test = s->test;
	enum kwarp_fpdu_event ev;
	const u8 *before;
	u32 dlen = 0;

	do {
		before = at;
		ev = kwarp_fpdu_rx_next(&s->rx, &at, &len, &data, &dlen);
		KUNIT_ASSERT_PTR_EQ(test, at + len, s->end);
		if (ev == KWARP_FPDU_MORE)
			KUNIT_ASSERT_EQ(test, len, 0);
		else if (ev != KWARP_FPDU_ERROR)
			KUNIT_ASSERT_TRUE(test, at > before);
		sink_event(s, ev, data, dlen, before);
	} while (ev != KWARP_FPDU_MORE && ev != KWARP_FPDU_ERROR);
}

void sink_verify(struct sink *s, const u8 *wire, u32 len)
{
	u32 covered = len - KWARP_MPA_CRC_LEN;

	s->head_end = s->rx.off + kwarp_fpdu_rx_head_len(&s->rx, wire);
	kwarp_fpdu_rx_verify(&s->rx, kwarp_mpa_crc_add(kwarp_mpa_crc_init(), wire, covered),
			     wire + covered);
}

static void sink_pieces(struct sink *s, u32 end)
{
	u32 to;

	for (; s->from < end && !s->err; s->from = to) {
		for (to = s->from + 1; to < end && !s->cut[to]; to++)
			;
		sink_piece(s, s->queue + s->from, to - s->from);
	}
}

/* On a stream with CRCs octets are queued until the FPDU is complete: its CRC is checked first. */
void sink_feed(struct sink *s, const u8 *wire, size_t len)
{
	struct kunit *test = s->test;
	u32 n;

	if (!s->rx.check_crc) {
		sink_piece(s, wire, len);
		return;
	}
	if (!len)
		return;
	KUNIT_ASSERT_LE(test, s->queued + len, STREAM_MAX);
	memcpy(s->queue + s->queued, wire, len);
	s->cut[s->queued] = true;
	s->queued += len;
	while (!s->err) {
		n = kwarp_fpdu_rx_wire_len(&s->rx, s->queue + s->from, s->queued - s->from);
		if (!n || n > s->queued - s->from)
			break;
		sink_verify(s, s->queue + s->from, n);
		sink_pieces(s, s->from + n);
	}
}

/* Is the stream between FPDUs, so that a FIN would be legal now? */
bool sink_idle(const struct sink *s)
{
	return s->from == s->queued && kwarp_fpdu_rx_idle(&s->rx);
}
