/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Receive side of a stream. Receive run: one call of tcp_read_sock(), under the socket lock. */
#ifndef KWARP_ENGINE_RX_TYPES_H
#define KWARP_ENGINE_RX_TYPES_H

#include <linux/skbuff.h>

#include "../../mem/mr.h"
#include "../../proto/fpdu_rx.h"
#include "../../proto/term.h"
#include "../../queue/wqe.h"

enum kwarp_rx_target {
	KWARP_RXT_NONE,		/* no payload expected */
	KWARP_RXT_RECEIVE,	/* the buffers of the receive that was taken for this message */
	KWARP_RXT_TAGGED,	/* the region that the segment names */
	KWARP_RXT_SMALL,	/* @small of struct kwarp_rx: the message needs no buffer */
};

/*
 * Buffer for an FPDU that TCP could not keep until it was complete. @buf: @size octets, or NULL.
 * @charged: see kwarp_tcp_charge(). @use: inbound octets are copied to @buf until this FPDU is
 * complete.
 */
struct kwarp_rx_stash {
	u8 *buf;
	u32 size;
	bool charged;
	bool use;
	u32 have;
};

/* @next: piece of @n octets of an skb that was read ahead and not yet returned */
struct kwarp_rx_pieces {
	struct skb_seq_state st;
	const u8 *next;
	u32 n;
};

/*
 * struct kwarp_rx - receive side; written only under the socket lock
 * @ahead: with CRCs: octets of the current FPDU, whose CRC has been checked, that are still to be
 *	passed to the parser
 * @skip: how many of the first octets of @ahead the parser has already got from a copy
 * @want: length of an incomplete FPDU whose beginning stays in TCP's receive queue; 0: none
 * @denied: because of a fault the last look for a receive found none
 * @slow: until when nothing is read, in jiffies, because of a fault; 0: there is none
 * @parked_at: when a segment began to wait for a receive, jiffies
 * @tagged_open: a tagged message has begun and its last segment has not come
 * @written: octets so far of the Write in progress, or of the one that has just ended, modulo 2^32
 * @mr: region used last in this receive run; referenced until the run ends
 * @region_checked: KWARP_RXT_TAGGED: @mr needs no further check for this segment. It was checked
 *	for the whole segment in this receive run, and only a deregistration could revoke it, which
 *	waits until our reference is dropped
 * @addr: KWARP_RXT_TAGGED: address of the next octet to place
 * @rights: KWARP_RXT_TAGGED: IB_ACCESS_* that the segment needs
 * @rwqe: the receive that the message goes to; valid while q[KWARP_QN_SEND].open
 * @rwqe_status: completion status of that receive if the stream ends
 * @sge: element of @rwqe to be filled next
 * @sge_off: octets of that element already filled
 * @small: payload of a message that goes to no buffer of a consumer; the longest is a Terminate
 * @pieces: of the present skb. Not on the stack, which kernels may zero at each call
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
	u32 wait;
	bool denied;
	unsigned long slow;
	unsigned long parked_at;
	bool tagged_open;
	u32 written;
	struct kwarp_mr *mr;
	bool region_checked;
	u64 addr;
	int rights;
	struct kwarp_rwqe rwqe;
	u8 rwqe_status;
	u32 sge;
	u32 sge_off;
	u8 small[KWARP_TERM_MAX_LEN];
	u32 small_have;
	struct kwarp_rx_pieces pieces;
	bool kick;
};

#endif /* KWARP_ENGINE_RX_TYPES_H */
