/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Incremental FPDU parser: octets in, events out.  The caller may stop at any octet and continue
 * later.  The parser knows nothing of sockets, memory or queues.
 *
 * Events of one FPDU: HDR, DATA as often as needed, END.  The last DATA and END may come as one
 * event, DATA_END.  On a stream with CRCs the caller computes the CRC of an FPDU before it gives
 * the parser any octet of that FPDU (5044-6-1).  For a series of similar FPDUs the caller may
 * bypass the parser: see kwarp_fpdu_rx_expect().
 *
 * A sender on the same host may change octets while they are read, because its pages may be in the
 * socket buffer by reference.  So octets that control the parser are copied first, and only the
 * copies are looked at: the parser copies length field, DDP header and markers; the caller that
 * computes the CRC copies these and the trailer.  Payload is not copied: it controls nothing, and
 * its bounds come from the copies.
 *
 * Numbers such as 5044-6-1 name requirements of RFCs, see Documentation/conformance.
 */
#ifndef KWARP_PROTO_FPDU_RX_H
#define KWARP_PROTO_FPDU_RX_H

#include "ddp.h"
#include "mpa_frame.h"

enum kwarp_fpdu_event {
	KWARP_FPDU_MORE,	/* input used up, nothing to report */
	KWARP_FPDU_HDR,		/* DDP header complete: hdr, ulpdu_len and payload_len are valid */
	KWARP_FPDU_DATA,	/* a contiguous piece of payload, inside the input */
	KWARP_FPDU_END,		/* FPDU complete, pad and CRC skipped */
	KWARP_FPDU_DATA_END,	/* DATA and END in one event */
	KWARP_FPDU_ERROR,	/* see kwarp_fpdu_rx.err; later calls give ERROR, too */
};

enum kwarp_fpdu_step {
	KWARP_FPDU_S_HEAD,	/* in ULPDU_Length or in the DDP header */
	KWARP_FPDU_S_DATA,	/* in the payload */
	KWARP_FPDU_S_TAIL,	/* in pad or CRC */
	KWARP_FPDU_S_ERROR,
};

#define KWARP_FPDU_FIELDS	(KWARP_MPA_LEN_FIELD + KWARP_DDP_MAX_HDR)
/* Octets of length field, largest DDP header, and one marker before or inside them. */
#define KWARP_FPDU_HEAD		(KWARP_MPA_MARKER_LEN + KWARP_FPDU_FIELDS)
/*
 * Length of the shortest FPDU: length field, two octets of pad, CRC. The first KWARP_FPDU_MIN
 * octets of any FPDU are enough to know its length, because a marker before the length field has
 * four octets.
 */
#define KWARP_FPDU_MIN		(2 * KWARP_MPA_LEN_FIELD + KWARP_MPA_CRC_LEN)
/* Length of the longest FPDU: 2 + 65535 octets, pad 3, CRC 4; and at most 130 markers. */
#define KWARP_FPDU_MAX		(65544 + 130 * KWARP_MPA_MARKER_LEN)

/*
 * struct kwarp_fpdu_rx - state of the parser
 * @check_crc: CRCs are in use; constant for a stream
 * @markers: the peer sends markers; constant for a stream
 * @verified: the CRC of the current FPDU has been found right, or CRCs are not in use
 * @step: part of the FPDU that comes next (enum kwarp_fpdu_step)
 * @ulpdu_len: ULPDU_Length of the current FPDU, valid after the HDR event
 * @off: stream octets since SeqStart (the first octet after the startup frame), modulo 2^32
 * @fpdu_off: @off at the ULPDU_Length of the current FPDU
 * @payload_left: payload octets not yet reported by an event
 * @hdr: decoded DDP header; valid until the next HDR event or kwarp_fpdu_rx_taken()
 * @head: length field and DDP header as received, without markers
 *
 * The caller reads @check_crc, @ulpdu_len, @payload_len, @err and @hdr; all else is private to
 * fpdu_rx.c, fpdu_expect.c and the inline functions below.  Written by one context at a time.
 */
struct kwarp_fpdu_rx {
	bool check_crc;
	bool markers;
	bool verified;
	u8 step;
	u8 have;
	u8 tail_left;
	u16 ulpdu_len;
	u32 off;
	u32 fpdu_off;
	u32 payload_len;
	u32 payload_left;
	enum kwarp_perr err;
	struct kwarp_ddp_hdr hdr;
	u8 head[KWARP_FPDU_FIELDS];
	u8 marker[KWARP_MPA_MARKER_LEN];
};

/*
 * DDP header as received, kwarp_ddp_hdr_len() octets, for a Terminate.  Valid from the HDR event
 * to the END event.
 */
static inline const u8 *kwarp_fpdu_rx_raw(const struct kwarp_fpdu_rx *rx)
{
	return rx->head + KWARP_MPA_LEN_FIELD;
}

void kwarp_fpdu_rx_init(struct kwarp_fpdu_rx *rx, bool check_crc, bool markers);

/**
 * kwarp_fpdu_rx_next - parse up to the next event
 * @rx: parser
 * @buf: input cursor; advanced past the octets that were used
 * @len: octets of input from the cursor on; reduced by the octets that were used
 * @data: result of events DATA and DATA_END: the payload piece, inside the input
 * @dlen: length of the payload piece, never 0
 *
 * Call again until KWARP_FPDU_MORE.  The caller may stop earlier and call later with the rest of
 * the octets, also at another address and in other pieces.  A zero-length payload gives no DATA
 * event.
 *
 * On a stream with CRCs the caller calls kwarp_fpdu_rx_verify() before the first octet of each
 * FPDU, and gives no octets of the next FPDU in the same call.
 *
 * The first error ends the stream. The errors are:
 *
 * * KWARP_PERR_MPA_CRC: the trailer is wrong, or was not verified (5044-4.4-20).
 * * KWARP_PERR_MPA_MARKER: a marker inside an FPDU does not point to the ULPDU_Length of that
 *   FPDU, or a marker between FPDUs is not 0 (5044-8-4).
 * * KWARP_PERR_DDP_LOCAL: ULPDU_Length is shorter than the DDP header that the T flag announces.
 *   RFC 5041 has no code for that. There is no HDR event, and no DDP header to attach to the
 *   Terminate.
 *
 * Any ULPDU_Length up to 65535 is accepted, also above 64768: RFC 5044 section
 * 4.5 limits only the sender, and section 8 has no error code for it.
 * FPDUPTR of a marker has 16 bits, so it is compared modulo 2^16.
 *
 * Context: any; @rx has one user at a time.
 * Return: the event; KWARP_FPDU_MORE with *@len 0 if there is none.
 */
enum kwarp_fpdu_event kwarp_fpdu_rx_next(struct kwarp_fpdu_rx *rx,
					 const u8 **buf, size_t *len,
					 const u8 **data, u32 *dlen);

/*
 * Return: how many of these octets are payload and count as used: the caller places them as those
 * of a DATA event. 0 if the next octet is not payload, or the stream has markers.
 */
u32 kwarp_fpdu_rx_payload(struct kwarp_fpdu_rx *rx, u32 len);

static inline u32 kwarp_fpdu_rx_payload_left(const struct kwarp_fpdu_rx *rx)
{
	return rx->step == KWARP_FPDU_S_DATA ? rx->payload_left : 0;
}

/*
 * Return: octets up to the end of the trailer, markers included; 0 if @have octets are too few to
 * know. KWARP_FPDU_MIN octets are always enough.
 */
u32 kwarp_fpdu_rx_wire_len(const struct kwarp_fpdu_rx *rx, const u8 *head, u32 have);

/**
 * kwarp_fpdu_rx_head_len - octets of length field and DDP header of the next FPDU on the wire
 * @rx: parser, between FPDUs
 * @head: a copy of the first octets of the FPDU: %KWARP_FPDU_HEAD, or all if it is shorter
 *
 * The result includes a marker before or inside these fields.  The caller gives these octets to the
 * parser from its copy, so that the parser sees the same length that the caller has used.
 *
 * Context: as kwarp_fpdu_rx_next().
 * Return: at most %KWARP_FPDU_HEAD.
 */
u32 kwarp_fpdu_rx_head_len(const struct kwarp_fpdu_rx *rx, const u8 *head);

/* If CRC and trailer differ, the next call of kwarp_fpdu_rx_next() reports an error. */
void kwarp_fpdu_rx_verify(struct kwarp_fpdu_rx *rx, u32 crc,
			  const u8 trailer[KWARP_MPA_CRC_LEN]);

/*
 * For a parser between FPDUs. Return: true if some or all octets of a marker have come, but not yet
 * the FPDU to which the marker belongs.
 */
static inline bool kwarp_fpdu_rx_lone_marker(const struct kwarp_fpdu_rx *rx)
{
	u32 at = rx->off & (KWARP_MPA_MARKER_EVERY - 1);

	return rx->markers && at >= 1 && at <= KWARP_MPA_MARKER_LEN;
}

/*
 * Return: true between FPDUs, where a FIN does not cut off an FPDU. A marker between FPDUs is part
 * of the next FPDU (5044-4.3-8), so after such a marker this is false.
 */
static inline bool kwarp_fpdu_rx_idle(const struct kwarp_fpdu_rx *rx)
{
	return rx->step == KWARP_FPDU_S_HEAD && !rx->have &&
	       !kwarp_fpdu_rx_lone_marker(rx);
}

static inline bool kwarp_fpdu_rx_in_message(const struct kwarp_fpdu_rx *rx)
{
	return rx->step == KWARP_FPDU_S_HEAD && !rx->have && !rx->hdr.last && rx->payload_len;
}

/*
 * Prediction of the next FPDU (fpdu_expect.c): the segments in the middle of a long message differ
 * in their offset only. So length field and header of the next FPDU can be predicted, and an FPDU
 * that is as predicted can be processed as a whole (engine/rx/series.c) instead of part by part.
 */

/**
 * kwarp_fpdu_rx_expect - predict the next FPDU: the next segment of the same message
 * @rx: parser
 * @fields: result: length field and DDP header of an FPDU that differs from the last one only in
 *	the offset (TO or MO)
 *
 * Context: any; @rx has one user at a time.
 * Return: octets of the predicted FPDU; 0 if there is no prediction: the parser is inside an FPDU,
 * the stream has markers, or the last FPDU had no payload or ended its message.
 */
u32 kwarp_fpdu_rx_expect(const struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS]);

/**
 * kwarp_fpdu_rx_taken - advance the parser past a predicted FPDU that the caller has handled itself
 * @rx: parser
 * @fields: prediction from kwarp_fpdu_rx_expect() or from the last call of this function; changed
 *	to the prediction for the FPDU after this one
 * @wire: octets of the FPDU
 *
 * Context: any; @rx has one user at a time.
 */
void kwarp_fpdu_rx_taken(struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS], u32 wire);

#endif /* KWARP_PROTO_FPDU_RX_H */
