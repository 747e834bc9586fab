/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Incremental FPDU parser: octets in, events out.  May stop and go on at any
 * octet; knows nothing of sockets, memory or queues.
 *
 * Events of one FPDU: HDR, DATA as often as needed, END, which the last DATA may be, too.  On a
 * stream with CRCs the caller computes the CRC of each FPDU before it gives any of it (5044-6-1).
 * An FPDU that is as kwarp_fpdu_rx_expect() says the caller may take without any event.
 *
 * A sender on the same host may change octets while they are read, because it has given
 * pages to TCP by reference.  So each octet that decides something is copied before it is
 * looked at, and never looked at again in the input: length field, DDP header and markers
 * here, all those and the trailer by the caller that computes the CRC.  Payload is handed
 * on where it lies and decides nothing: its bounds come from the copies.
 */
#ifndef KWARP_PROTO_FPDU_RX_H
#define KWARP_PROTO_FPDU_RX_H

#include "ddp.h"
#include "mpa_frame.h"

enum kwarp_fpdu_event {
	KWARP_FPDU_MORE,	/* input used up, nothing to report */
	KWARP_FPDU_HDR,		/* DDP header complete: hdr, raw header, ulpdu_len, payload_len */
	KWARP_FPDU_DATA,	/* a contiguous piece of payload, inside the input */
	KWARP_FPDU_END,		/* FPDU complete, pad and CRC skipped */
	KWARP_FPDU_DATA_END,	/* DATA, and then END */
	KWARP_FPDU_ERROR,	/* err says what; the parser stays in this state */
};

enum kwarp_fpdu_step {
	KWARP_FPDU_S_HEAD,	/* in ULPDU_Length or in the DDP header */
	KWARP_FPDU_S_DATA,	/* in the payload */
	KWARP_FPDU_S_TAIL,	/* in pad or CRC */
	KWARP_FPDU_S_ERROR,
};

/* Length field and DDP header of any FPDU, and a marker in front of them or among them. */
#define KWARP_FPDU_FIELDS	(KWARP_MPA_LEN_FIELD + KWARP_DDP_MAX_HDR)
#define KWARP_FPDU_HEAD		(KWARP_MPA_MARKER_LEN + KWARP_FPDU_FIELDS)
/* No FPDU is shorter, and so many octets tell the length of any. */
#define KWARP_FPDU_MIN		(2 * KWARP_MPA_LEN_FIELD + KWARP_MPA_CRC_LEN)
/* No FPDU is longer, markers included. */
#define KWARP_FPDU_MAX		(65544 + 130 * KWARP_MPA_MARKER_LEN)

/**
 * struct kwarp_fpdu_rx - where the parser stands
 * @check_crc: FPDUs have CRCs that count; constant for a stream
 * @markers: the peer sends markers; constant for a stream
 * @verified: the CRC of the current FPDU is known to be right, or not in use
 * @step: part of the FPDU that comes next
 * @have: octets of @head already collected
 * @tail_left: octets of pad and CRC still to come
 * @ulpdu_len: ULPDU_Length, once known
 * @off: stream octets since SeqStart, modulo 2^32
 * @fpdu_off: with markers: @off of the current FPDU's ULPDU_Length
 * @payload_len: payload octets of this segment
 * @payload_left: those not yet reported
 * @err: what went wrong
 * @hdr: decoded DDP header; holds until the next HDR event or kwarp_fpdu_rx_taken()
 * @head: length field and DDP header as received
 * @marker: the marker being received
 *
 * The caller reads @check_crc, @ulpdu_len, @payload_len, @err and @hdr; all else is private to
 * fpdu_rx.c and the inline functions below.  Written by one context at a time.
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
 * DDP header as received, kwarp_ddp_hdr_len() octets, for a Terminate; holds from the HDR
 * event to the END event.
 */
static inline const u8 *kwarp_fpdu_rx_raw(const struct kwarp_fpdu_rx *rx)
{
	return rx->head + KWARP_MPA_LEN_FIELD;
}

/* Start at SeqStart: directly behind the peer's startup frame. */
void kwarp_fpdu_rx_init(struct kwarp_fpdu_rx *rx, bool check_crc, bool markers);

/**
 * kwarp_fpdu_rx_next - parse up to the next event
 * @rx: parser
 * @buf: input cursor; advanced past what was used
 * @len: octets left behind the cursor; reduced likewise
 * @data: KWARP_FPDU_DATA, KWARP_FPDU_DATA_END: the payload piece, inside the input
 * @dlen: its length, never 0
 *
 * Call again until KWARP_FPDU_MORE.  The caller may stop earlier and come back
 * with the octets behind the cursor at another address and cut differently.  A
 * zero-length payload gives no DATA event.
 *
 * On a stream with CRCs, kwarp_fpdu_rx_verify() comes before the first octet of each FPDU,
 * and no call gives octets of more than one.
 *
 * Errors, of which the first ends the stream:
 *
 * * KWARP_PERR_MPA_CRC: trailer wrong, or nobody has looked (5044-4.4-20).
 * * KWARP_PERR_MPA_MARKER: a marker does not point to the ULPDU_Length found by
 *   chaining, or not to its own end between FPDUs (5044-8-4).
 * * KWARP_PERR_DDP_LOCAL: ULPDU_Length leaves no room for the DDP header that
 *   its T flag asks for.  RFC 5041 has no code for that; reported without a
 *   HDR event.  There is no DDP header to attach to the Terminate.
 *
 * Any ULPDU_Length up to 65535 is accepted, also above 64768: RFC 5044 section
 * 4.5 limits the sender, and section 8 has no code for it.
 * With markers, FPDUPTR is compared modulo 2^16, the most such an FPDU can say.
 *
 * Context: any; @rx has one user at a time.
 * Return: the event; KWARP_FPDU_MORE with *@len 0 if there is none.
 */
enum kwarp_fpdu_event kwarp_fpdu_rx_next(struct kwarp_fpdu_rx *rx,
					 const u8 **buf, size_t *len,
					 const u8 **data, u32 *dlen);

/**
 * kwarp_fpdu_rx_wire_len - octets that the next FPDU takes on the wire
 * @rx: parser, between FPDUs
 * @head: a copy of its first octets, a marker in front of it included
 * @have: their number
 *
 * Context: as kwarp_fpdu_rx_next().
 * Return: octets up to the end of the trailer, markers included; 0 if @have is too
 * few to tell, which %KWARP_FPDU_MIN never is.
 */
u32 kwarp_fpdu_rx_wire_len(const struct kwarp_fpdu_rx *rx, const u8 *head, u32 have);

/**
 * kwarp_fpdu_rx_head_len - octets that its length field and DDP header take
 * @rx: parser, between FPDUs
 * @head: a copy of its first octets: %KWARP_FPDU_HEAD, or all if it is shorter
 *
 * A marker in front of them or among them included.  The caller gives them to the parser
 * from its copy, so that what was judged for the FPDU's length is what is parsed.
 *
 * Context: as kwarp_fpdu_rx_next().
 * Return: at most %KWARP_FPDU_HEAD.
 */
u32 kwarp_fpdu_rx_head_len(const struct kwarp_fpdu_rx *rx, const u8 *head);

/**
 * kwarp_fpdu_rx_verify - the CRC of the next FPDU has been computed
 * @rx: parser, between FPDUs, of a stream with CRCs
 * @crc: over all of it but the trailer, as kwarp_mpa_crc_add() gives it
 * @trailer: a copy of the trailer
 *
 * A wrong one is reported by the next call of kwarp_fpdu_rx_next().
 *
 * Context: as kwarp_fpdu_rx_next().
 */
void kwarp_fpdu_rx_verify(struct kwarp_fpdu_rx *rx, u32 crc,
			  const u8 trailer[KWARP_MPA_CRC_LEN]);

/**
 * kwarp_fpdu_rx_expect - what the next FPDU is if it goes on with the message of the last one
 * @rx: parser
 * @fields: result: its length field and DDP header, if it is as long as the last one and no more
 *	than the offset is different
 *
 * Context: as kwarp_fpdu_rx_next().
 * Return: octets of that FPDU; 0 if nothing can be expected: not between FPDUs, there are
 * markers, or the last one had no payload or ended its message.
 */
u32 kwarp_fpdu_rx_expect(const struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS]);

/**
 * kwarp_fpdu_rx_taken - that FPDU has come, and the caller has taken it
 * @rx: parser
 * @fields: from kwarp_fpdu_rx_expect() or the last call; those of the next one afterwards
 * @wire: octets of it
 *
 * Context: as kwarp_fpdu_rx_next().
 */
void kwarp_fpdu_rx_taken(struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS], u32 wire);

/* True inside or right behind a marker that no FPDU has followed yet. */
static inline bool kwarp_fpdu_rx_lone_marker(const struct kwarp_fpdu_rx *rx)
{
	u32 at = rx->off & (KWARP_MPA_MARKER_EVERY - 1);

	return rx->markers && at >= 1 && at <= KWARP_MPA_MARKER_LEN;
}

/*
 * True between FPDUs: a FIN here cuts nothing off.  A marker between FPDUs is
 * part of the next one (5044-4.3-8).
 */
static inline bool kwarp_fpdu_rx_idle(const struct kwarp_fpdu_rx *rx)
{
	return rx->step == KWARP_FPDU_S_HEAD && !rx->have &&
	       !kwarp_fpdu_rx_lone_marker(rx);
}

#endif /* KWARP_PROTO_FPDU_RX_H */
