/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Incremental FPDU parser: octets in, events out.  May stop and go on at any
 * octet; knows nothing of sockets, memory or queues.
 *
 * Events of one FPDU: HDR, DATA as often as needed, END.  An FPDU that lies in
 * the input as a whole, without markers, is verified before HDR is reported, and so
 * is one whose CRC the caller has computed ahead; else it is verified before END.
 */
#ifndef KWARP_PROTO_FPDU_RX_H
#define KWARP_PROTO_FPDU_RX_H

#include "ddp.h"
#include "mpa_frame.h"

enum kwarp_fpdu_event {
	KWARP_FPDU_MORE,	/* input used up, nothing to report */
	KWARP_FPDU_HDR,		/* DDP header complete: hdr, raw_hdr, ulpdu_len, payload_len */
	KWARP_FPDU_DATA,	/* a contiguous piece of payload, inside the input */
	KWARP_FPDU_END,		/* FPDU complete, pad skipped, CRC right (or not in use) */
	KWARP_FPDU_ERROR,	/* err says what; the parser stays in this state */
};

enum kwarp_fpdu_step {
	KWARP_FPDU_S_LEN,	/* in ULPDU_Length */
	KWARP_FPDU_S_HDR,	/* in the DDP header */
	KWARP_FPDU_S_DATA,	/* in the payload */
	KWARP_FPDU_S_PAD,
	KWARP_FPDU_S_CRC,
	KWARP_FPDU_S_ERROR,
};

/**
 * struct kwarp_fpdu_rx - where the parser stands
 * @check_crc: compare the trailer; constant for a stream
 * @markers: the peer sends markers; constant for a stream
 * @verified: HDR event: the CRC of the whole FPDU is known to be right, or not in
 *	use; else it is known at END
 * @step: part of the FPDU that comes next
 * @have: octets already collected of a split field (length, header, CRC)
 * @pad_left: pad octets still to come
 * @pending: what is wrong with the current FPDU should its CRC be right (KWARP_PERR_*)
 * @ulpdu_len: ULPDU_Length, once known
 * @off: stream octets since SeqStart, modulo 2^32
 * @fpdu_off: with markers: @off of the current FPDU's ULPDU_Length
 * @crc: running CRC of the current FPDU
 * @crc_ahead: octets behind the input cursor that @crc already covers
 * @payload_len: payload octets of this segment
 * @payload_left: those not yet reported
 * @err: what went wrong
 * @hdr: decoded DDP header; holds until the next HDR event
 * @raw_hdr: its octets, kwarp_ddp_hdr_len(raw_hdr[0]) of them, for a Terminate
 * @small: split length field or CRC
 * @marker: the marker being received
 *
 * The caller reads @verified, @off, @ulpdu_len, @payload_len, @err, @hdr and
 * @raw_hdr; all else is private to fpdu_rx.c.  Written by one context at a time.
 */
struct kwarp_fpdu_rx {
	bool check_crc;
	bool markers;
	bool verified;
	u8 step;
	u8 have;
	u8 pad_left;
	u8 pending;
	u16 ulpdu_len;
	u32 off;
	u32 fpdu_off;
	u32 crc;
	u32 crc_ahead;
	u32 payload_len;
	u32 payload_left;
	enum kwarp_perr err;
	struct kwarp_ddp_hdr hdr;
	u8 raw_hdr[KWARP_DDP_MAX_HDR];
	u8 small[KWARP_MPA_CRC_LEN];
	u8 marker[KWARP_MPA_MARKER_LEN];
};

/* Start at SeqStart: directly behind the peer's startup frame. */
void kwarp_fpdu_rx_init(struct kwarp_fpdu_rx *rx, bool check_crc, bool markers);

/**
 * kwarp_fpdu_rx_next - parse up to the next event
 * @rx: parser
 * @buf: input cursor; advanced past what was used
 * @len: octets left behind the cursor; reduced likewise
 * @data: KWARP_FPDU_DATA: the payload piece, inside the input
 * @dlen: its length, never 0
 *
 * Call again until KWARP_FPDU_MORE.  The caller may stop earlier and come back
 * with the octets behind the cursor at another address and cut differently, as
 * long as they are the same octets.  A zero-length payload gives no DATA event.
 *
 * The CRC of payload octets is folded in here, so the caller only copies them.
 * A caller that places octets as they come has to see to it that @rx->verified holds
 * (5044-6-1), by giving whole FPDUs or by kwarp_fpdu_rx_ahead().
 *
 * Errors, of which the first ends the stream:
 *
 * * KWARP_PERR_MPA_CRC: trailer wrong (5044-4.4-20).
 * * KWARP_PERR_MPA_MARKER: a marker does not point to the ULPDU_Length found by
 *   chaining, or not to its own end between FPDUs.  Reported for an FPDU whose
 *   CRC is right (5044-8-4), at once if none is in use.
 * * KWARP_PERR_DDP_LOCAL: ULPDU_Length leaves no room for the DDP header that
 *   its T flag asks for.  RFC 5041 has no code for that; reported, without a
 *   HDR event, when the FPDU's CRC was found right, so that a damaged length
 *   counts as what it is.  There is no DDP header to attach to the Terminate.
 *
 * Any ULPDU_Length up to 65535 is accepted, also above 64768 (rfc5044.md 4.8).
 * With markers, FPDUPTR is compared modulo 2^16, the most such an FPDU can say.
 *
 * Context: any; @rx has one user at a time.
 * Return: the event; KWARP_FPDU_MORE with *@len 0 if there is none.
 */
enum kwarp_fpdu_event kwarp_fpdu_rx_next(struct kwarp_fpdu_rx *rx,
					 const u8 **buf, size_t *len,
					 const u8 **data, u32 *dlen);

/* Octets by which kwarp_fpdu_rx_wire_len() is sure to know: marker and ULPDU_Length. */
#define KWARP_FPDU_HEAD		(KWARP_MPA_MARKER_LEN + KWARP_MPA_LEN_FIELD)

/**
 * kwarp_fpdu_rx_wire_len - octets that an FPDU takes on the wire
 * @rx: parser, between FPDUs
 * @skip: whole FPDUs between its cursor and the FPDU in question, octets
 * @head: first octets of the FPDU, a marker in front of it included
 * @have: their number
 *
 * Context: as kwarp_fpdu_rx_next().
 * Return: octets up to the end of the trailer, markers included; 0 if @have is too
 * few to tell, which %KWARP_FPDU_HEAD never is.
 */
u32 kwarp_fpdu_rx_wire_len(const struct kwarp_fpdu_rx *rx, u32 skip, const u8 *head,
			   u32 have);

/**
 * kwarp_fpdu_rx_ahead - the CRC of the next FPDU has been computed
 * @rx: parser, between FPDUs
 * @len: kwarp_fpdu_rx_wire_len()
 * @crc: over all of it but the trailer, as kwarp_mpa_crc_add() gives it
 * @trailer: the trailer
 *
 * A wrong one is reported by the next call of kwarp_fpdu_rx_next().
 *
 * Context: as kwarp_fpdu_rx_next().
 */
void kwarp_fpdu_rx_ahead(struct kwarp_fpdu_rx *rx, u32 len, u32 crc,
			 const u8 trailer[KWARP_MPA_CRC_LEN]);

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
	return rx->step == KWARP_FPDU_S_LEN && !rx->have &&
	       !kwarp_fpdu_rx_lone_marker(rx);
}

#endif /* KWARP_PROTO_FPDU_RX_H */
