/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Receive side of a stream. Receive run: one call of tcp_read_sock(), under the socket lock. */
#ifndef KWARP_ENGINE_RX_TYPES_H
#define KWARP_ENGINE_RX_TYPES_H

#include "../../mem/mr.h"
#include "../../proto/fpdu_rx.h"
#include "../../queue/wqe.h"
#include "../small.h"

enum kwarp_rx_target {
	KWARP_RXT_NONE,		/* no payload expected */
	KWARP_RXT_RECEIVE,	/* the buffers of the receive that was taken for this message */
	KWARP_RXT_TAGGED,	/* the region that the segment names */
	KWARP_RXT_SMALL,	/* @small of struct kwarp_rx: the message needs no buffer */
};

/**
 * struct kwarp_rx_stash - buffer for an FPDU that TCP could not keep until it was complete
 * @buf: KWARP_FPDU_MAX octets, or NULL
 * @charged: @buf is charged to the socket, see kwarp_tcp_charge()
 * @use: inbound octets are copied to @buf until this FPDU is complete
 * @have: octets of the FPDU in @buf
 */
struct kwarp_rx_stash {
	u8 *buf;
	bool charged;
	bool use;
	u32 have;
};

/**
 * struct kwarp_rx - receive side; written only under the socket lock
 * @fpdu: parser
 * @ahead: with CRCs: octets of the current FPDU, whose CRC has been checked, that are still to be
 *	passed to the parser
 * @skip: how many of the first octets of @ahead the parser has already got from a copy
 * @want: length of an incomplete FPDU whose beginning stays in TCP's receive queue; 0: none
 * @stash: buffer for an FPDU that TCP cannot keep until it is complete
 * @q: state of each untagged queue
 * @target: where this segment's payload goes
 * @tagged_open: a tagged message has begun and its last segment has not come
 * @written: octets so far of the Write in progress, or of the one that has just ended, modulo 2^32
 * @mr: region used last in this receive run; referenced until the run ends
 * @sure: KWARP_RXT_TAGGED: @mr needs no further check for this segment. It was checked for the
 *	whole segment in this receive run, and only a deregistration could revoke it, which waits
 *	until our reference is dropped
 * @addr: KWARP_RXT_TAGGED: address of the next octet to place
 * @rights: KWARP_RXT_TAGGED: IB_ACCESS_* that the segment needs
 * @rwqe: the receive that the message goes to; valid while q[KWARP_QN_SEND].open
 * @rwqe_status: completion status of that receive if the stream ends
 * @sge: element of @rwqe to be filled next
 * @sge_off: octets of that element already filled
 * @small: payload of a message that goes to no buffer of a consumer (small.h)
 * @small_have: octets in @small
 * @kick: there may be something to send when this receive run ends
 */
struct kwarp_rx {
	struct kwarp_fpdu_rx fpdu;
	u32 ahead;
	u32 skip;
	u32 want;
	struct kwarp_rx_stash stash;
	struct kwarp_ddp_untagged_rx q[KWARP_QN_COUNT];
	enum kwarp_rx_target target;
	bool tagged_open;
	u32 written;
	struct kwarp_mr *mr;
	bool sure;
	u64 addr;
	int rights;
	struct kwarp_rwqe rwqe;
	u8 rwqe_status;
	u32 sge;
	u32 sge_off;
	u8 small[KWARP_SMALL_LEN];
	u32 small_have;
	bool kick;
};

#endif /* KWARP_ENGINE_RX_TYPES_H */
