/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Transmit side of a stream. Runner: the one context that may send for the stream at a time, see
 * run.c. Step: kwarp_tx_step(), which sends one batch (FPDUs collected for one socket call).
 * Answer: a Read Response or Atomic Response that we send. Softirqs' share: for how long the
 * softirqs of one processor may send in a tick (share.h).
 */
#ifndef KWARP_ENGINE_TX_TYPES_H
#define KWARP_ENGINE_TX_TYPES_H

#include <linux/atomic.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../../proto/ddp.h"
#include "../../queue/wqe.h"
#include "../small.h"
#include "batch.h"
#include "coalesce_types.h"

/* Where a message's payload comes from. */
enum kwarp_tx_src {
	KWARP_SRC_SGL,		/* scatter/gather list of @wqe in struct kwarp_tx */
	KWARP_SRC_BUF,		/* octets in the engine: inline data, @small of struct kwarp_tx */
	KWARP_SRC_REGION,	/* the region that a Read Response is read from */
};

enum kwarp_tx_kind {
	KWARP_TXK_NONE,
	KWARP_TXK_SQ,
	KWARP_TXK_ANSWER,	/* a Read Response or Atomic Response */
	KWARP_TXK_RTR,
	KWARP_TXK_ANNOUNCE,
	KWARP_TXK_TERM,
};

/**
 * struct kwarp_tx_msg - the message being segmented
 * @kind: where the message comes from
 * @src: where the message's payload is
 * @hdr: header of the next segment
 * @left: payload octets not yet in a segment
 * @sge: KWARP_SRC_SGL: element of the list that comes next
 * @sge_off: KWARP_SRC_SGL: octets of that element already in a segment
 * @buf: KWARP_SRC_BUF: next octet to send
 * @sq_index: KWARP_TXK_SQ: the request's entry in the send queue
 */
struct kwarp_tx_msg {
	enum kwarp_tx_kind kind;
	enum kwarp_tx_src src;
	struct kwarp_ddp_hdr hdr;
	u32 left;
	u32 sge;
	u32 sge_off;
	const u8 *buf;
	u32 sq_index;
};

/**
 * struct kwarp_tx - transmit side; all fields are the runner's unless another owner is named
 * @run: enum kwarp_run, decides who the runner is, see tx/run.c; any context
 * @claims: number of callers that wait in kwarp_tx_claim(); any context
 * @idle: wait queue of those callers
 * @work: becomes the runner when no other context can send
 * @home: processor that @work runs on; negative: any; immutable
 * @in_socket: this runner was called with the socket's spinlock held, while no process owns the
 *	socket: nothing may sleep
 * @crc: generate CRCs
 * @markers: insert markers
 * @align: begin TCP segments with an FPDU, at the price of more and smaller packets
 * @long_frames: announce that this end accepts FPDUs longer than a TCP segment, and send such FPDUs
 *	if the peer accepts them
 * @rtr: KWARP_RTR_* form of the "ready to receive" message still to be sent, or 0
 * @turn: flips with each choice: answers are tried first if true, the send queue if false
 * @term_done: the Terminate has been started, and perhaps sent
 * @no_memory: no page was available for the last FPDU
 * @backs_off: what is still to be sent waits for the work item because memory is short or the
 *	softirqs' share of the processor is used up; written by the runner, READ_ONCE elsewhere
 * @vain: number of rounds in a row that took no request, although the producer index had changed
 *	when they ended
 * @answered: this step has built an FPDU of an answer to the peer
 * @effort: requests and scatter/gather elements examined in this step
 * @off: number of octets of all FPDUs built so far, modulo 2^32; markers are placed by this offset
 * @mulpdu: longest ULPDU for the current batch (RFC 5044 section 4.5)
 * @msn: next message sequence number of each untagged queue
 * @sq_end: all FPDUs of send queue entries before this index are in the batch or sent
 * @drain_to: while KWARP_E_TX_DRAIN is set, which is during a graceful close: send queue index up
 *	to which requests are sent; later ones are flushed
 * @msg: message being segmented
 * @wqe: work request of @msg, if that message comes from the send queue
 * @small: payload of a message whose payload is not in a buffer of the consumer (small.h)
 * @batch: FPDUs collected for the next socket call
 * @coalesce: state of coalescing, which decides whether the program has to ring its doorbell
 */
struct kwarp_tx {
	atomic_t run;
	atomic_t claims;
	wait_queue_head_t idle;
	struct delayed_work work;
	int home;

	bool in_socket;
	bool crc;
	bool markers;
	bool align;
	bool long_frames;
	u8 rtr;
	bool turn;
	bool term_done;
	bool no_memory;
	bool backs_off;
	bool answered;
	u32 vain;
	u32 effort;
	u32 off;
	u32 mulpdu;
	u32 msn[KWARP_QN_COUNT];
	u32 sq_end;
	u32 drain_to;
	struct kwarp_tx_msg msg;
	struct kwarp_wqe wqe;
	u8 small[KWARP_SMALL_LEN];
	struct kwarp_batch batch;
	struct kwarp_coalesce coalesce;
};

#endif /* KWARP_ENGINE_TX_TYPES_H */
