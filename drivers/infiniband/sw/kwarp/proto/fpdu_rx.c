// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Incremental FPDU parser (RFC 5044 sections 4 and 6).
 *
 * Runs in softirq for each piece of each skb. collect_head() and take_marker() copy the fields that
 * control the parser, also fields that come in pieces. No other function reads the input.
 *
 * A marker begins whenever the stream offset is a multiple of 512 (5044-4.3-12); while (offset mod
 * 512) < 4 the parser is inside a marker. So the offset says how much of a marker has come, and the
 * steps for the other parts of an FPDU only have to stop before the next marker.
 */
#include "fpdu_rx.h"

struct input {
	const u8 *at;
	size_t left;
};

static enum kwarp_fpdu_event parser_fail(struct kwarp_fpdu_rx *rx, enum kwarp_perr err)
{
	rx->step = KWARP_FPDU_S_ERROR;	/* 5044-8-10: nothing more is passed on */
	rx->err = err;
	return KWARP_FPDU_ERROR;
}

static void begin_fpdu(struct kwarp_fpdu_rx *rx)
{
	rx->step = KWARP_FPDU_S_HEAD;
	rx->have = 0;
	rx->verified = !rx->check_crc;
}

void kwarp_fpdu_rx_init(struct kwarp_fpdu_rx *rx, bool check_crc, bool markers)
{
	memset(rx, 0, sizeof(*rx));
	rx->check_crc = check_crc;
	rx->markers = markers;
	begin_fpdu(rx);
}

static void consume_input(struct kwarp_fpdu_rx *rx, struct input *in, u32 n)
{
	in->at += n;
	in->left -= n;
	rx->off += n;
}

static u32 input_piece(const struct kwarp_fpdu_rx *rx, const struct input *in, u32 want)
{
	u32 n = min_t(size_t, in->left, want);

	return rx->markers ? min(n, kwarp_mpa_to_marker(rx->off)) : n;
}

static bool marker_due(const struct kwarp_fpdu_rx *rx)
{
	return rx->markers && (rx->off & (KWARP_MPA_MARKER_EVERY - 1)) <
			      KWARP_MPA_MARKER_LEN;
}

/* FPDUPTR of the marker just received (5044-4.2-4, 5044-4.3-6, -7) */
static u32 expected_ptr(const struct kwarp_fpdu_rx *rx)
{
	if (rx->step == KWARP_FPDU_S_HEAD && !rx->have)
		return 0;
	return (u16)(rx->off - KWARP_MPA_MARKER_LEN - rx->fpdu_off);
}

static enum kwarp_fpdu_event take_marker(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u32 have = rx->off & (KWARP_MPA_MARKER_EVERY - 1);
	u32 n = min_t(size_t, in->left, KWARP_MPA_MARKER_LEN - have);

	memcpy(rx->marker + have, in->at, n);
	/* Keep the compiler from reading the original, which may change, instead of the copy. */
	barrier();
	consume_input(rx, in, n);
	if (have + n < KWARP_MPA_MARKER_LEN ||
	    kwarp_mpa_marker_decode(rx->marker) == expected_ptr(rx))
		return KWARP_FPDU_MORE;
	/*
	 * an error of the marker: the CRC was right (5044-8-4), or CRCs are not in use
	 * (5044-7.1.1-11)
	 */
	return parser_fail(rx, KWARP_PERR_MPA_MARKER);
}

/* If the first @have octets do not tell yet, the result is some number greater than @have. */
static u32 fields_len(const u8 *fields, u32 have)
{
	u32 ulpdu_len;

	if (have < KWARP_MPA_LEN_FIELD)
		return KWARP_MPA_LEN_FIELD;
	ulpdu_len = get_unaligned_be16(fields);
	if (have == KWARP_MPA_LEN_FIELD)
		return KWARP_MPA_LEN_FIELD + !!ulpdu_len;
	return KWARP_MPA_LEN_FIELD +
	       min(ulpdu_len, kwarp_ddp_hdr_len(fields[KWARP_MPA_LEN_FIELD]));
}

/*
 * The largest possible number of octets is copied first. Then the copy tells how long the two
 * fields are, and only that many octets are consumed; octets that were copied beyond them are
 * ignored.
 */
static bool collect_head(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u32 n = input_piece(rx, in, sizeof(rx->head) - rx->have), want;

	if (likely(n == sizeof(rx->head)))
		memcpy(rx->head, in->at, sizeof(rx->head));
	else
		memcpy(rx->head + rx->have, in->at, n);
	/* Keep the compiler from reading the original, which may change, instead of the copy. */
	barrier();
	want = fields_len(rx->head, rx->have + n) - rx->have;
	n = min(n, want);
	consume_input(rx, in, n);
	rx->have += n;
	return n == want;
}

static void set_step(struct kwarp_fpdu_rx *rx)
{
	rx->step = rx->payload_left ? KWARP_FPDU_S_DATA : KWARP_FPDU_S_TAIL;
}

static enum kwarp_fpdu_event take_head(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u32 hdr_len;

	if (!rx->have)
		rx->fpdu_off = rx->off;
	if (!collect_head(rx, in))
		return KWARP_FPDU_MORE;
	rx->ulpdu_len = get_unaligned_be16(rx->head);
	hdr_len = kwarp_ddp_hdr_len(*kwarp_fpdu_rx_raw(rx));
	if (rx->ulpdu_len < hdr_len)
		return parser_fail(rx, KWARP_PERR_DDP_LOCAL);
	kwarp_ddp_decode(kwarp_fpdu_rx_raw(rx), &rx->hdr);
	rx->payload_len = rx->ulpdu_len - hdr_len;
	rx->payload_left = rx->payload_len;
	rx->tail_left = kwarp_mpa_pad(rx->ulpdu_len) + KWARP_MPA_CRC_LEN;
	set_step(rx);
	return KWARP_FPDU_HDR;
}

/*
 * 5044-4.1-4, -8: the pad is ignored; the trailer has been verified already, or CRCs are not in
 * use.
 */
static enum kwarp_fpdu_event take_tail(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u32 n = input_piece(rx, in, rx->tail_left);

	consume_input(rx, in, n);
	rx->tail_left -= n;
	if (rx->tail_left)
		return KWARP_FPDU_MORE;
	begin_fpdu(rx);
	return KWARP_FPDU_END;
}

/*
 * If the piece is the last one, pad and CRC are all in the input, and the stream has no markers,
 * pad and CRC are consumed, too, and the event is DATA_END: the usual case.
 */
static enum kwarp_fpdu_event take_data(struct kwarp_fpdu_rx *rx, struct input *in,
				       const u8 **data, u32 *dlen)
{
	u32 n = input_piece(rx, in, rx->payload_left);

	*data = in->at;		/* 5044-4.3-17: never markers, pad or CRC */
	*dlen = n;
	consume_input(rx, in, n);
	rx->payload_left -= n;
	set_step(rx);
	if (rx->payload_left || rx->markers || in->left < rx->tail_left)
		return KWARP_FPDU_DATA;
	consume_input(rx, in, rx->tail_left);
	begin_fpdu(rx);
	return KWARP_FPDU_DATA_END;
}

u32 kwarp_fpdu_rx_payload(struct kwarp_fpdu_rx *rx, u32 len)
{
	if (rx->markers)
		return 0;
	len = min(len, kwarp_fpdu_rx_payload_left(rx));
	if (!len)
		return 0;
	rx->off += len;
	rx->payload_left -= len;
	set_step(rx);
	return len;
}

static enum kwarp_fpdu_event take_part(struct kwarp_fpdu_rx *rx, struct input *in,
				       const u8 **data, u32 *dlen)
{
	switch (rx->step) {
	case KWARP_FPDU_S_HEAD:
		return take_head(rx, in);
	case KWARP_FPDU_S_DATA:
		return take_data(rx, in, data, dlen);
	case KWARP_FPDU_S_TAIL:
		return take_tail(rx, in);
	default:
		return KWARP_FPDU_ERROR;
	}
}

static u32 marker_before(const struct kwarp_fpdu_rx *rx)
{
	return rx->markers && !kwarp_mpa_to_marker(rx->off) ? KWARP_MPA_MARKER_LEN : 0;
}

u32 kwarp_fpdu_rx_wire_len(const struct kwarp_fpdu_rx *rx, const u8 *head, u32 have)
{
	u32 at = marker_before(rx);

	if (have < at + KWARP_MPA_LEN_FIELD)
		return 0;
	return kwarp_mpa_wire_len(rx->off, get_unaligned_be16(head + at), rx->markers);
}

u32 kwarp_fpdu_rx_head_len(const struct kwarp_fpdu_rx *rx, const u8 *head)
{
	u32 at = marker_before(rx), to = kwarp_mpa_to_marker(rx->off);
	/* FPDUs are 4-octet aligned, so no marker separates the length field and the T flag. */
	u32 len = at + fields_len(head + at, KWARP_FPDU_FIELDS);

	return rx->markers && to && to < len ? len + KWARP_MPA_MARKER_LEN : len;
}

void kwarp_fpdu_rx_verify(struct kwarp_fpdu_rx *rx, u32 crc,
			  const u8 trailer[KWARP_MPA_CRC_LEN])
{
	rx->verified = kwarp_mpa_crc_ok(trailer, crc);
	if (!rx->verified)
		parser_fail(rx, KWARP_PERR_MPA_CRC);	/* wrong CRC: 5044-4.4-20 */
}

enum kwarp_fpdu_event kwarp_fpdu_rx_next(struct kwarp_fpdu_rx *rx,
					 const u8 **buf, size_t *len,
					 const u8 **data, u32 *dlen)
{
	enum kwarp_fpdu_event event = KWARP_FPDU_MORE;
	struct input in = { .at = *buf, .left = *len };

	if (unlikely(rx->step == KWARP_FPDU_S_ERROR))
		return KWARP_FPDU_ERROR;
	if (unlikely(!rx->verified && in.left))
		return parser_fail(rx, KWARP_PERR_MPA_CRC);

	/* the loop ends: each call of take_marker() or take_part() consumes an octet or fails */
	while (in.left && event == KWARP_FPDU_MORE)
		event = unlikely(marker_due(rx)) ? take_marker(rx, &in) :
						   take_part(rx, &in, data, dlen);
	*buf = in.at;
	*len = in.left;
	return event;
}
