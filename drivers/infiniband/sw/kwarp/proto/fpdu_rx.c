// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Incremental FPDU parser (RFC 5044 sections 4 and 6).
 *
 * Runs in softirq for each piece of each skb.  The input is read once, in place:
 * what is contiguous there is handed on, copied or folded into the CRC as one
 * piece.  Only fields of a few octets are collected when they come split.
 *
 * A marker is due whenever the stream offset is a multiple of 512 (5044-4.3-12);
 * while (off mod 512) < 4 the parser is inside one.  So the offset itself is the
 * marker's state, and every other step only has to stop short of the next one.
 * ULPDU_Length and CRC are never cut by a marker, since both lie 4-octet aligned.
 */
#include "fpdu_rx.h"

struct input {
	const u8 *at;
	size_t left;
};

static enum kwarp_fpdu_event fail(struct kwarp_fpdu_rx *rx, enum kwarp_perr err)
{
	rx->step = KWARP_FPDU_S_ERROR;	/* 5044-8-10: nothing more is passed on */
	rx->err = err;
	return KWARP_FPDU_ERROR;
}

static_assert(KWARP_PERR_COUNT <= U8_MAX);	/* kwarp_fpdu_rx.pending */

static void begin_fpdu(struct kwarp_fpdu_rx *rx)
{
	rx->step = KWARP_FPDU_S_LEN;
	rx->have = 0;
	rx->pending = KWARP_PERR_NONE;
	rx->verified = !rx->check_crc;
	rx->crc = kwarp_mpa_crc_init();
	rx->crc_ahead = 0;
}

void kwarp_fpdu_rx_init(struct kwarp_fpdu_rx *rx, bool check_crc, bool markers)
{
	memset(rx, 0, sizeof(*rx));
	rx->check_crc = check_crc;
	rx->markers = markers;
	begin_fpdu(rx);
}

static void fold_crc(struct kwarp_fpdu_rx *rx, const u8 *p, u32 n)
{
	u32 done = min(n, rx->crc_ahead);

	rx->crc_ahead -= done;
	if (n > done)
		rx->crc = kwarp_mpa_crc_add(rx->crc, p + done, n - done);
}

/* Use up @n octets that the CRC does not cover, or does already. */
static void skip(struct kwarp_fpdu_rx *rx, struct input *in, u32 n)
{
	in->at += n;
	in->left -= n;
	rx->off += n;
}

/* Use up @n octets; 5044-4.4-18: all but the trailer itself are covered. */
static void advance(struct kwarp_fpdu_rx *rx, struct input *in, u32 n)
{
	if (rx->check_crc)
		fold_crc(rx, in->at, n);
	skip(rx, in, n);
}

/* Of @want octets, how many lie in the input before the next marker. */
static u32 piece(const struct kwarp_fpdu_rx *rx, const struct input *in, u32 want)
{
	u32 n = min_t(size_t, in->left, want);

	return rx->markers ? min(n, kwarp_mpa_to_marker(rx->off)) : n;
}

/* Collect a field of @want octets; true when it is complete. */
static bool gather(struct kwarp_fpdu_rx *rx, struct input *in, u8 *field, u32 want)
{
	u32 n = piece(rx, in, want - rx->have);

	memcpy(field + rx->have, in->at, n);
	rx->have += n;
	if (rx->step == KWARP_FPDU_S_CRC)
		skip(rx, in, n);
	else
		advance(rx, in, n);
	if (rx->have < want)
		return false;
	rx->have = 0;
	return true;
}

static bool marker_due(const struct kwarp_fpdu_rx *rx)
{
	return rx->markers && (rx->off & (KWARP_MPA_MARKER_EVERY - 1)) <
			      KWARP_MPA_MARKER_LEN;
}

/* FPDUPTR that the marker just received must hold (5044-4.2-4, 5044-4.3-6, -7). */
static u32 expected_ptr(const struct kwarp_fpdu_rx *rx)
{
	if (rx->step == KWARP_FPDU_S_LEN && !rx->have)
		return 0;
	return (u16)(rx->off - KWARP_MPA_MARKER_LEN - rx->fpdu_off);
}

static enum kwarp_fpdu_event take_marker(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u32 have = rx->off & (KWARP_MPA_MARKER_EVERY - 1);
	u32 n = min_t(size_t, in->left, KWARP_MPA_MARKER_LEN - have);

	memcpy(rx->marker + have, in->at, n);
	advance(rx, in, n);	/* 5044-4.3-1, -8: covered, octets as received */
	if (have + n < KWARP_MPA_MARKER_LEN ||
	    kwarp_mpa_marker_decode(rx->marker) == expected_ptr(rx))
		return KWARP_FPDU_MORE;

	if (rx->verified)	/* 5044-7.1.1-11: without CRC it counts as right */
		return fail(rx, KWARP_PERR_MPA_MARKER);
	rx->pending = KWARP_PERR_MPA_MARKER;	/* 5044-8-4: if the CRC is right */
	return KWARP_FPDU_MORE;
}

static void end_payload(struct kwarp_fpdu_rx *rx)
{
	rx->step = rx->pad_left ? KWARP_FPDU_S_PAD : KWARP_FPDU_S_CRC;
}

/* ULPDU_Length is known. */
static void set_length(struct kwarp_fpdu_rx *rx, u16 ulpdu_len)
{
	rx->ulpdu_len = ulpdu_len;
	rx->pad_left = kwarp_mpa_pad(ulpdu_len);
	rx->payload_len = 0;
	rx->payload_left = 0;
}

/* The ULPDU ends before its header does: an error once the CRC is right. */
static enum kwarp_fpdu_event short_ulpdu(struct kwarp_fpdu_rx *rx)
{
	if (!rx->pending)
		rx->pending = KWARP_PERR_DDP_LOCAL;
	end_payload(rx);
	return KWARP_FPDU_MORE;
}

/* raw_hdr is complete. */
static enum kwarp_fpdu_event open_segment(struct kwarp_fpdu_rx *rx, u32 hdr_len)
{
	kwarp_ddp_decode(rx->raw_hdr, &rx->hdr);
	rx->payload_len = rx->ulpdu_len - hdr_len;
	rx->payload_left = rx->payload_len;
	if (rx->payload_left)
		rx->step = KWARP_FPDU_S_DATA;
	else
		end_payload(rx);
	return KWARP_FPDU_HDR;
}

/*
 * Fold what there is of the FPDU in one call, and compare if all of it is there.
 * False if the CRC is wrong.
 */
static bool crc_at_once(struct kwarp_fpdu_rx *rx, const struct input *in, u32 hdr_end)
{
	u32 content = KWARP_MPA_LEN_FIELD + rx->ulpdu_len + rx->pad_left;
	u32 n = min_t(size_t, in->left, content);

	rx->crc = kwarp_mpa_crc_add(rx->crc, in->at, n);
	rx->crc_ahead = n - hdr_end;
	if (in->left < content + KWARP_MPA_CRC_LEN)
		return true;
	rx->verified = kwarp_mpa_crc_ok(in->at + content, rx->crc);
	return rx->verified;
}

/* Length field and DDP header: every FPDU is that long. */
#define HEAD_LEN	(KWARP_MPA_LEN_FIELD + KWARP_DDP_MAX_HDR)

/*
 * Can length and header be taken at once?  They are read once: input that a local
 * sender has given by reference can change at any time.
 */
static bool header_at_once(const struct kwarp_fpdu_rx *rx, const struct input *in,
			   u8 head[HEAD_LEN])
{
	if (rx->markers || rx->have || in->left < HEAD_LEN)
		return false;
	memcpy(head, in->at, HEAD_LEN);
	barrier();
	return get_unaligned_be16(head) >= kwarp_ddp_hdr_len(head[KWARP_MPA_LEN_FIELD]);
}

static enum kwarp_fpdu_event take_header(struct kwarp_fpdu_rx *rx, struct input *in,
					 const u8 head[HEAD_LEN])
{
	u32 hdr_len = kwarp_ddp_hdr_len(head[KWARP_MPA_LEN_FIELD]);

	set_length(rx, get_unaligned_be16(head));
	memcpy(rx->raw_hdr, head + KWARP_MPA_LEN_FIELD, KWARP_DDP_MAX_HDR);
	if (rx->verified) {
		advance(rx, in, KWARP_MPA_LEN_FIELD + hdr_len);
	} else {
		if (!crc_at_once(rx, in, KWARP_MPA_LEN_FIELD + hdr_len))
			return fail(rx, KWARP_PERR_MPA_CRC);	/* 5044-4.4-20 */
		skip(rx, in, KWARP_MPA_LEN_FIELD + hdr_len);
	}
	return open_segment(rx, hdr_len);
}

static enum kwarp_fpdu_event take_len(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u8 head[HEAD_LEN];

	if (likely(header_at_once(rx, in, head)))
		return take_header(rx, in, head);

	if (!rx->have)
		rx->fpdu_off = rx->off;
	if (!gather(rx, in, rx->small, KWARP_MPA_LEN_FIELD))
		return KWARP_FPDU_MORE;
	set_length(rx, get_unaligned_be16(rx->small));
	if (!rx->ulpdu_len)
		return short_ulpdu(rx);
	rx->step = KWARP_FPDU_S_HDR;
	return KWARP_FPDU_MORE;
}

static enum kwarp_fpdu_event take_hdr(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u32 hdr_len = kwarp_ddp_hdr_len(rx->have ? rx->raw_hdr[0] : *in->at);
	u32 want = min_t(u32, hdr_len, rx->ulpdu_len);

	if (!gather(rx, in, rx->raw_hdr, want))
		return KWARP_FPDU_MORE;
	return want < hdr_len ? short_ulpdu(rx) : open_segment(rx, hdr_len);
}

static enum kwarp_fpdu_event take_data(struct kwarp_fpdu_rx *rx, struct input *in,
				       const u8 **data, u32 *dlen)
{
	u32 n = piece(rx, in, rx->payload_left);

	*data = in->at;		/* 5044-4.3-17: never markers, pad or CRC */
	*dlen = n;
	advance(rx, in, n);
	rx->payload_left -= n;
	if (!rx->payload_left)
		end_payload(rx);
	return KWARP_FPDU_DATA;
}

static enum kwarp_fpdu_event take_pad(struct kwarp_fpdu_rx *rx, struct input *in)
{
	u32 n = piece(rx, in, rx->pad_left);

	advance(rx, in, n);	/* 5044-4.1-4: covered, else not looked at */
	rx->pad_left -= n;
	if (!rx->pad_left)
		rx->step = KWARP_FPDU_S_CRC;
	return KWARP_FPDU_MORE;
}

static enum kwarp_fpdu_event take_crc(struct kwarp_fpdu_rx *rx, struct input *in)
{
	if (!gather(rx, in, rx->small, KWARP_MPA_CRC_LEN))
		return KWARP_FPDU_MORE;
	/* 5044-4.4-19, -20; 5044-4.1-8: not looked at if not in use */
	if (rx->check_crc && !kwarp_mpa_crc_ok(rx->small, rx->crc))
		return fail(rx, KWARP_PERR_MPA_CRC);
	if (rx->pending)
		return fail(rx, rx->pending);
	begin_fpdu(rx);
	return KWARP_FPDU_END;
}

/* Is the rest of a verified FPDU there, so that nothing in it needs a look? */
static bool trailer_at_once(const struct kwarp_fpdu_rx *rx, const struct input *in)
{
	return rx->verified && !rx->markers && !rx->have && !rx->pending &&
	       in->left >= rx->pad_left + KWARP_MPA_CRC_LEN;
}

static enum kwarp_fpdu_event take_trailer(struct kwarp_fpdu_rx *rx, struct input *in)
{
	if (likely(trailer_at_once(rx, in))) {
		skip(rx, in, rx->pad_left + KWARP_MPA_CRC_LEN);
		begin_fpdu(rx);
		return KWARP_FPDU_END;
	}
	return rx->step == KWARP_FPDU_S_PAD ? take_pad(rx, in) : take_crc(rx, in);
}

static enum kwarp_fpdu_event take(struct kwarp_fpdu_rx *rx, struct input *in,
				  const u8 **data, u32 *dlen)
{
	switch (rx->step) {
	case KWARP_FPDU_S_LEN:
		return take_len(rx, in);
	case KWARP_FPDU_S_HDR:
		return take_hdr(rx, in);
	case KWARP_FPDU_S_DATA:
		return take_data(rx, in, data, dlen);
	case KWARP_FPDU_S_PAD:
	case KWARP_FPDU_S_CRC:
		return take_trailer(rx, in);
	default:
		return KWARP_FPDU_ERROR;
	}
}

u32 kwarp_fpdu_rx_wire_len(const struct kwarp_fpdu_rx *rx, u32 skip, const u8 *head,
			   u32 have)
{
	u32 off = rx->off + skip;
	u32 at = rx->markers && !kwarp_mpa_to_marker(off) ? KWARP_MPA_MARKER_LEN : 0;

	if (have < at + KWARP_MPA_LEN_FIELD)
		return 0;
	return kwarp_mpa_wire_len(off, get_unaligned_be16(head + at), rx->markers);
}

void kwarp_fpdu_rx_ahead(struct kwarp_fpdu_rx *rx, u32 len, u32 crc,
			 const u8 trailer[KWARP_MPA_CRC_LEN])
{
	rx->crc = crc;
	rx->crc_ahead = len - KWARP_MPA_CRC_LEN;
	rx->verified = kwarp_mpa_crc_ok(trailer, crc);
	if (!rx->verified)
		fail(rx, KWARP_PERR_MPA_CRC);	/* 5044-4.4-20 */
}

enum kwarp_fpdu_event kwarp_fpdu_rx_next(struct kwarp_fpdu_rx *rx,
					 const u8 **buf, size_t *len,
					 const u8 **data, u32 *dlen)
{
	enum kwarp_fpdu_event event = KWARP_FPDU_MORE;
	struct input in = { .at = *buf, .left = *len };

	if (unlikely(rx->step == KWARP_FPDU_S_ERROR))
		return KWARP_FPDU_ERROR;

	/* each step has at least one octet to use, and uses at least one */
	while (in.left && event == KWARP_FPDU_MORE)
		event = unlikely(marker_due(rx)) ? take_marker(rx, &in) :
						   take(rx, &in, data, dlen);
	*buf = in.at;
	*len = in.left;
	return event;
}
