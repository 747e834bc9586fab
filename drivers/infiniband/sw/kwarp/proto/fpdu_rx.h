/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Incremental FPDU parser: octets in, events out.  May stop and go on at any
 * octet; knows nothing of sockets, memory or queues.
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
 * @step: part of the FPDU that comes next
 * @have: octets already collected of a split field (length, header, marker, CRC)
 * @off: stream octets since SeqStart, modulo 2^32
 * @fpdu_off: @off of the current FPDU's ULPDU_Length
 * @crc: running CRC of the current FPDU
 * @ulpdu_len: ULPDU_Length, once known
 * @payload_len: payload octets of this segment
 * @payload_left: those not yet reported
 * @hdr: decoded DDP header
 * @raw_hdr: its octets, for a Terminate
 * @err: what went wrong
 *
 * All other fields are private to fpdu_rx.c.  Written by one context at a time.
 */
struct kwarp_fpdu_rx {
	bool check_crc;
	bool markers;
	u8 step;
	u8 have;
	u8 pad_left;
	u8 marker_have;
	u16 ulpdu_len;
	u32 off;
	u32 fpdu_off;
	u32 crc;
	u32 payload_len;
	u32 payload_left;
	enum kwarp_perr err;
	struct kwarp_ddp_hdr hdr;
	u8 raw_hdr[KWARP_DDP_MAX_HDR];
	u8 small[4];		/* split length field or CRC */
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
 * Call again until KWARP_FPDU_MORE.  A zero-length payload gives no DATA event.
 * The CRC of payload octets is folded in here, so the caller only copies them.
 * Placing before the CRC is known is allowed; delivering is not (protocol.rst).
 *
 * Context: any; rx has one user at a time.
 */
enum kwarp_fpdu_event kwarp_fpdu_rx_next(struct kwarp_fpdu_rx *rx,
					 const u8 **buf, size_t *len,
					 const u8 **data, u32 *dlen);

/* True between FPDUs: a FIN here cuts nothing off. */
static inline bool kwarp_fpdu_rx_idle(const struct kwarp_fpdu_rx *rx)
{
	return rx->step == KWARP_FPDU_S_LEN && !rx->have && !rx->marker_have;
}

#endif /* KWARP_PROTO_FPDU_RX_H */
