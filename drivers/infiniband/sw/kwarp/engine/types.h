/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The types of the engine, one structure for each side: transmit, receive, and what both share. No
 * layer above the engine uses their fields: see engine.h.
 *
 * Runner: the one context that may send for a stream at a time, see tx/run.c. Receive run: one call
 * of tcp_read_sock() for the stream, under the socket lock. Answer: a Read Response or Atomic
 * Response that we send.
 */
#ifndef KWARP_ENGINE_TYPES_H
#define KWARP_ENGINE_TYPES_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../counts.h"
#include "../mem/mr.h"
#include "../proto/atomic.h"
#include "../proto/fpdu_rx.h"
#include "../proto/qp_fsm.h"
#include "../proto/rdmap.h"
#include "../proto/term.h"
#include "../queue/readq.h"
#include "../queue/rq.h"
#include "../queue/sq.h"
#include "../serial.h"
#include "tx/batch.h"

struct kwarp_dev;
struct kwarp_engine;
struct socket;

/**
 * struct kwarp_engine_ops - upcalls
 * @event: the stream has changed as @event says; any context, must not sleep
 * @established: responder: the first valid FPDU has come; any context, must not sleep
 * @poll: the owner is to call kwarp_engine_poll() from process context soon; any context
 * @srq_limit: the number of receives in the SRQ fell below its limit; any context
 */
struct kwarp_engine_ops {
	void (*event)(struct kwarp_engine *e, enum kwarp_qp_event event);
	void (*established)(struct kwarp_engine *e);
	void (*poll)(struct kwarp_engine *e);
	void (*srq_limit)(struct kwarp_engine *e);
};

/* Bits of kwarp_engine.flags: any context, atomic bit operations. */
enum kwarp_engine_flag {
	KWARP_E_TX_OPEN,	/* FPDUs may be sent (RFC 5044 7.1.2 rule 4) */
	KWARP_E_TX_STOP,	/* send nothing more */
	KWARP_E_DEAD,		/* the stream is over: requests are flushed */
	KWARP_E_TX_TERM,	/* the Terminate goes next, then nothing */
	KWARP_E_TX_DRAIN,	/* graceful close: report DRAINED when all is sent and answered */
	KWARP_E_TX_WAIT_READ,	/* the send queue waits for a Read or atomic operation */
	KWARP_E_RX_STOP,	/* drop inbound octets */
	KWARP_E_RX_ANY,		/* octets have come after the startup frame, of any kind */
	KWARP_E_RX_SEEN,	/* a valid FPDU has been received */
	KWARP_E_FIN_SEEN,	/* the peer's FIN has been handled */
	KWARP_E_RST_SEEN,	/* the loss of the connection has been handled */
	KWARP_E_TERM_SEEN,	/* the peer's Terminate is in @peer_term */
	KWARP_E_FAILED,		/* an error has been latched */
	KWARP_E_TERM_READY,	/* the error's Terminate is in @term */
};

/* The longest message that carries only a header of RDMAP: no payload of the consumer. */
#define KWARP_SMALL_LEN		KWARP_TERM_MAX_LEN
static_assert(KWARP_SMALL_LEN >= KWARP_ATOMIC_REQ_LEN);

/* Where a message's payload comes from. */
enum kwarp_tx_src {
	KWARP_SRC_SGL,		/* @wqe's scatter/gather list */
	KWARP_SRC_BUF,		/* octets in the engine: inline data, RDMAP headers */
	KWARP_SRC_REGION,	/* the region that a Read Response is read from */
};

enum kwarp_tx_kind {
	KWARP_TXK_NONE,
	KWARP_TXK_SQ,
	KWARP_TXK_ANSWER,	/* Read Response, Atomic Response */
	KWARP_TXK_RTR,
	KWARP_TXK_TERM,
};

/**
 * struct kwarp_tx_msg - the message being segmented
 * @kind: where it comes from
 * @src: where its payload is
 * @hdr: header of the next segment
 * @left: payload octets not yet in a segment
 * @sge: KWARP_SRC_SGL: element of the list that comes next
 * @sge_off: KWARP_SRC_SGL: octets of that element already sent
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

/* A measurement: how many requests completed in how many nanoseconds. */
struct kwarp_pace_sum {
	u64 requests;
	u64 ns;
};

/**
 * struct kwarp_pace - for programs with libsiw: does a timer send what they post? See tx/pace.c
 * @timer: the timer; each time it fires, its handler looks for requests ("a look")
 * @ns: time between two looks, nanoseconds; does not change during a stream
 * @doorbells: number of doorbells in the measurement that is in progress
 * @done: completed requests when the clock was started, a counter that wraps
 * @since: when the clock was started, nanoseconds; later by each pause of the program
 * @inside: time spent in doorbells since @since, nanoseconds
 * @entered: when the last doorbell began; always the runner's
 * @rung: what completed while the program rang doorbells
 * @looked: what completed while the timer sent: [false] each look sends what it finds, [true] a
 *	look may wait for more requests
 * @patient: which of the two is in use now
 * @chosen: the better of the two has been chosen
 * @seen: requests that the previous look found and did not send, to wait for more
 * @waits: number of looks in a row that did so
 * @looks: number of looks since the stream was held
 * @quiet: number of looks in a row that found nothing to send and nothing outstanding
 * @last: when the last doorbell ended
 * @obey: doorbells of usual length still to be handled without measurement before the next trial
 * @obey_next: value for @obey after the next trial that fails
 *
 * A stream is held while posters need not ring. All fields but @entered are the runner's while the
 * stream is not held, and the timer's while it is.
 */
struct kwarp_pace {
	struct hrtimer timer;
	u64 ns;
	u32 doorbells;
	u32 done;
	u64 since;
	u64 inside;
	u64 entered;
	u64 last;
	struct kwarp_pace_sum rung;
	struct kwarp_pace_sum looked[2];
	bool patient;
	bool chosen;
	u32 seen;
	u32 waits;
	u32 looks;
	u32 quiet;
	u32 obey;
	u32 obey_next;
};

/**
 * struct kwarp_coalesce - is the send queue held, that is, need posters not ring? See tx/coalesce.c
 * @send: called by the timer to send what was posted; immutable
 * @ns: time to the timer's first look, nanoseconds; 0: never hold; does not change during a stream
 * @rung: a doorbell was rung, and whether to hold the queue after it is still to be decided; the
 *	runner's
 * @for_waiting: that doorbell was rung for entries that the runner had not taken yet; the runner's
 * @realtime: the program that rang has a real-time policy; the runner's
 * @polls: how often the program had polled at the last decision; the runner's
 * @rung_at: producer index at the last doorbell; READ_ONCE, since the timer reads it
 * @on: the queue is held, and on its CQ's list; under that list's lock, READ_ONCE without. For
 *	streams of libsiw see tx/pace.c
 * @node: entry in the CQ's list; under the list's lock, as all from here to @turn
 * @activity: number of polls and doorbells up to the timer's last look
 * @waits: number of looks in a row that found a request posted without a doorbell
 * @unused: number of looks in a row that found none
 * @turn: number of the last round of looks in which this stream was looked at
 * @sends: number of timer handlers that are in @send now
 * @pace: for programs with libsiw
 */
struct kwarp_coalesce {
	void (*send)(struct kwarp_engine *e);
	u64 ns;
	bool rung;
	bool for_waiting;
	bool realtime;
	bool on;
	u32 polls;
	u32 rung_at;
	u32 activity;
	u32 waits;
	u32 unused;
	u32 turn;
	struct list_head node;
	atomic_t sends;
	struct kwarp_pace pace;
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
 * @in_share: what this runner sends counts against the softirqs' share of its processor, see
 *	tx/share.h
 * @crc: generate CRCs
 * @markers: insert markers
 * @align: begin TCP segments with an FPDU, at the price of more and smaller packets
 * @rtr: KWARP_RTR_* form of the "ready to receive" message still to be sent, or 0
 * @turn: flips with each choice: answers are tried first if true, the send queue if false
 * @term_done: the Terminate is in the batch or sent
 * @no_memory: no page was available for the last FPDU
 * @backs_off: what is still to be sent waits for the work item because memory is short or the
 *	softirqs' share is used up; written by the runner, READ_ONCE without
 * @answered: this step has built an FPDU of an answer
 * @effort: requests and scatter/gather elements examined in this step
 * @off: octets sent since the first FPDU, modulo 2^32; markers are placed by this offset
 * @mulpdu: longest ULPDU for the current batch (RFC 5044 section 4.5)
 * @msn: next message sequence number of each untagged queue
 * @sq_end: all FPDUs of send queue entries before this index are in the batch or sent
 * @drain_to: KWARP_E_TX_DRAIN: send queue index up to which requests are sent
 * @msg: message being segmented
 * @wqe: its work request, if the message is of the send queue
 * @small: payload of a message that is only a header
 * @batch: FPDUs collected for the next socket call
 * @coalesce: is the send queue held?
 */
struct kwarp_tx {
	atomic_t run;
	atomic_t claims;
	wait_queue_head_t idle;
	struct delayed_work work;
	int home;

	bool in_socket;
	bool in_share;
	bool crc;
	bool markers;
	bool align;
	u8 rtr;
	bool turn;
	bool term_done;
	bool no_memory;
	bool backs_off;
	bool answered;
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

enum kwarp_rx_target {
	KWARP_RXT_NONE,		/* no payload expected */
	KWARP_RXT_RECEIVE,	/* the receive that was taken for this message */
	KWARP_RXT_TAGGED,	/* the region that the segment names */
	KWARP_RXT_SMALL,	/* @small of struct kwarp_rx: the message is only a header */
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
 * @ahead: with CRCs: octets of the current FPDU, whose CRC was right, still to be passed over to
 *	the parser
 * @skip: of @ahead, first octets that the parser has already got from a copy
 * @want: length of an incomplete FPDU whose beginning stays in TCP's receive queue; 0: none
 * @stash: buffer for an FPDU that TCP cannot keep
 * @q: state of each untagged queue
 * @target: where this segment's payload goes
 * @tagged_open: a tagged message has begun and its last segment has not come
 * @written: octets so far of the Write in progress, or of the one that has just ended, modulo 2^32
 * @mr: region used last in this receive run; referenced until the run ends
 * @sure: KWARP_RXT_TAGGED: @mr was checked for the whole segment in this receive run, and only
 *	deregistration can revoke it, which waits for the reference: no further check
 * @addr: KWARP_RXT_TAGGED: address of the next octet to place
 * @rights: KWARP_RXT_TAGGED: IB_ACCESS_* that the segment needs
 * @rwqe: the receive that the message goes to; valid while q[KWARP_QN_SEND].open
 * @rwqe_status: completion status of that receive if the stream ends
 * @sge: element of @rwqe to be filled next
 * @sge_off: octets of that element already filled
 * @small: payload of a message that is only a header
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

/**
 * struct kwarp_engine - transmits and receives for one queue pair; one stream at a time
 * @kdev: device
 * @mem: the stream's protection domain and memory windows, for access checks
 * @recv_mem: what the regions of receives are checked against: @mem, or that of the SRQ; immutable
 * @sq: send queue
 * @rq: receive queue, or that of an SRQ
 * @rq_shared: @rq is an SRQ's
 * @rfc7306: the stream may carry Immediate Data and atomic operations (RFC 7306)
 * @recv_cq: CQ in which receives complete
 * @ibqp: queue pair, as named in completions
 * @ops: upcalls
 * @sock: set while a stream is attached
 * @flags: KWARP_E_*
 * @access: READ_ONCE: IB_ACCESS_REMOTE_* that the QP allows
 * @sink_rights: IB_ACCESS_* that the sink of a Read needs; does not change during a stream
 * @oread: our Reads and atomic operations that wait for an answer, see readq.h
 * @iread: the peer's Reads and atomic operations that wait for ours
 * @tx: transmit side
 * @rx: receive side
 * @term: our Terminate; written once by the context that set KWARP_E_FAILED, read after
 *	KWARP_E_TERM_READY
 * @perr: why the stream failed; written once by the same context, READ_ONCE
 * @peer_term: Terminate received, valid after KWARP_E_TERM_SEEN
 * @stats: counts of this and earlier streams; @stats.s.tx is the runner's, @stats.s.rx is under the
 *	socket lock
 * @stash_wait: while no memory is available for @rx.stash
 * @stash_wait.work: tries again
 * @stash_wait.waits: number of failed attempts in a row; under the socket lock
 * @saved: socket callbacks and settings as they were before attach
 *
 * Everything from @kdev to @ops is immutable after create, except the list of windows in @mem.
 */
struct kwarp_engine {
	struct kwarp_dev *kdev;
	struct kwarp_mem_stream mem;
	const struct kwarp_mem_stream *recv_mem;
	struct kwarp_sq *sq;
	struct kwarp_rq *rq;
	bool rq_shared;
	bool rfc7306;
	struct kwarp_cq *recv_cq;
	struct ib_qp *ibqp;
	const struct kwarp_engine_ops *ops;
	struct socket *sock;

	unsigned long flags;
	int access;
	int sink_rights;
	struct kwarp_readq oread;
	struct kwarp_readq iread;
	struct kwarp_tx tx;
	struct kwarp_rx rx;

	struct kwarp_term term;
	enum kwarp_perr perr;
	struct kwarp_term peer_term;
	struct kwarp_stats_stream stats;

	struct {
		struct delayed_work work;
		u32 waits;
	} stash_wait;

	struct {
		void (*data_ready)(struct sock *sk);
		void (*write_space)(struct sock *sk);
		void (*state_change)(struct sock *sk);
		void (*error_report)(struct sock *sk);
		int rcvlowat;
	} saved;
};

/*
 * Rights that the sink region of a Read needs. The Read Response names the sink's STag, as a Write
 * would, so most iWARP hardware requires remote write there ("strict"). We need not: a response
 * that does not match an outstanding Read is refused anyway (5040-5.2.2-9).
 */
static inline int kwarp_sink_rights(bool strict)
{
	return IB_ACCESS_LOCAL_WRITE | (strict ? IB_ACCESS_REMOTE_WRITE : 0);
}

/* Has kwarp_engine_stop() been called, and no reset since? Context: any. */
static inline bool kwarp_engine_dead(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_DEAD, &e->flags);
}

/* The caller must be the runner, or have claimed the stream. Checked in lockdep kernels only. */
static inline void kwarp_assert_runner(const struct kwarp_engine *e)
{
	lockdep_assert(atomic_read(&e->tx.run) >= KWARP_RUN_ACTIVE);
}

#endif /* KWARP_ENGINE_TYPES_H */
