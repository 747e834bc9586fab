/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Transmit side of a stream. */
#ifndef KWARP_ENGINE_TX_TYPES_H
#define KWARP_ENGINE_TX_TYPES_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../../proto/ddp.h"
#include "../../proto/term.h"
#include "../../queue/wqe.h"
#include "batch.h"

struct kwarp_engine;

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
	KWARP_TXK_TERM,
};

/*
 * The message being segmented. @hdr: header of the next segment. @left: payload octets not yet in a
 * segment. @sge_off: octets of element @sge already in a segment.
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
 * struct kwarp_hold_ops - decides in coalesce.c's place whether a send queue is held, if the queue
 *	has a foreign ring (queue/foreign.h), whose program does not tell when it polls
 * @reset: a stream begins
 * @sent: what was posted before a doorbell has been sent; @may: the queue may be held
 * @stop: end a hold, and wait for its timer; context: process
 *
 * Context: the runner.
 */
struct kwarp_hold_ops {
	void (*reset)(struct kwarp_engine *e);
	void (*sent)(struct kwarp_engine *e, bool may);
	void (*stop)(struct kwarp_engine *e);
};

/**
 * struct kwarp_coalesce - is the send queue held? See coalesce.h
 * @send: called by the timer to send what was posted, and to set the ring's flags again; immutable
 * @ops: decides instead of the list and timer of the CQ; NULL: these decide; immutable
 * @ns: time between two looks of the timer, nanoseconds; 0: never hold; does not change during a
 *	stream
 * @rung: a doorbell was rung, and whether to hold the queue after it is still to be decided; the
 *	runner's
 * @realtime: the program that rang has a real-time policy; the runner's
 * @polls: how often the program had polled its CQs at the last decision about a hold; the runner's
 * @rung_at: producer index at the last doorbell; READ_ONCE, since the timer reads it
 * @on: the queue is held, and on its CQ's list; written under that list's lock, READ_ONCE
 *	elsewhere. With @ops there is no list: the runner sets @on, and the timer of @ops clears
 *	it, or the runner after it has stopped that timer
 * @counted: @next of the send queue when requests were last counted; the runner's
 * @node: entry in the CQ's list of held streams; under the list's lock, as all from here to @quiet
 * @activity: number of polls up to the timer's last look
 * @found: when the timer first found the request that is waiting, nanoseconds; 0: none is known
 * @quiet: number of looks in a row that found neither a waiting request nor a poll
 * @sends: number of timer handlers that are in @send now
 */
struct kwarp_coalesce {
	void (*send)(struct kwarp_engine *e);
	const struct kwarp_hold_ops *ops;
	u64 ns;
	bool rung;
	bool realtime;
	bool on;
	u32 polls;
	u32 rung_at;
	u32 counted;
	struct list_head node;
	u32 activity;
	u64 found;
	u32 quiet;
	atomic_t sends;
};

/*
 * struct kwarp_tx - all fields are the runner's unless another owner is named
 * @run: enum kwarp_run, decides who the runner is, see tx/run.c; any context
 * @claims: number of callers that wait in kwarp_tx_claim(); any context
 * @work: becomes the runner when no other context can send
 * @home: processor that @work runs on; negative: any; immutable
 * @in_socket: this runner was called with the socket's spinlock held, while no process owns the
 *	socket: nothing may sleep
 * @rtr: KWARP_RTR_* form of the "ready to receive" message still to be sent, or 0
 * @answers_first: flips with each choice: answers are tried first if true, the send queue if false
 * @term_done: the Terminate has been started, and perhaps sent
 * @no_memory: no page was available for the last FPDU
 * @stalled: until when nothing is sent, in jiffies, because of a fault; 0: there is none
 * @backs_off: what is still to be sent waits for the work item because memory is short or the
 *	softirqs' share of the processor is used up; written by the runner, READ_ONCE elsewhere
 * @vain: number of rounds in a row that took no request, although the producer index had changed
 *	when they ended
 * @answered: this step has built an FPDU of an answer to the peer
 * @effort: requests and scatter/gather elements examined in this step
 * @off: number of octets of all FPDUs built so far, modulo 2^32; markers are placed by this offset
 * @mulpdu: longest ULPDU for the current batch (RFC 5044 section 4.5)
 * @sq_end: all FPDUs of send queue entries before this index are in the batch or sent
 * @drain_to: while KWARP_E_TX_DRAIN is set, which is during a graceful close: send queue index up
 *	to which requests are sent; later ones are flushed
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
	bool answers_first;
	bool term_done;
	bool no_memory;
	bool backs_off;
	bool answered;
	unsigned long stalled;
	u32 vain;
	u32 effort;
	u32 off;
	u32 mulpdu;
	u32 msn[KWARP_QN_COUNT];
	u32 sq_end;
	u32 drain_to;
	struct kwarp_tx_msg msg;
	struct kwarp_wqe wqe;
	u8 small[KWARP_TERM_MAX_LEN];
	struct kwarp_batch batch;
	struct kwarp_coalesce coalesce;
};

#endif /* KWARP_ENGINE_TX_TYPES_H */
