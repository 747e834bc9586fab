/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The types of the engine, grouped by who owns their fields.  Nothing above the engine looks
 * inside: see engine.h.
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
 * @event: something happened to the stream; any context, must not sleep
 * @established: responder: first valid FPDU; any context, must not sleep
 * @poll: call kwarp_engine_poll() from process context soon; any context
 * @srq_limit: the SRQ's limit was passed; any context
 */
struct kwarp_engine_ops {
	void (*event)(struct kwarp_engine *e, enum kwarp_qp_event event);
	void (*established)(struct kwarp_engine *e);
	void (*poll)(struct kwarp_engine *e);
	void (*srq_limit)(struct kwarp_engine *e);
};

/* Bits of kwarp_engine.flags: any context, atomic bit operations. */
enum kwarp_engine_flag {
	KWARP_E_TX_OPEN,	/* we may send FPDUs (RFC 5044 7.1.2 rule 4) */
	KWARP_E_TX_STOP,	/* send nothing more */
	KWARP_E_DEAD,		/* the stream is over: requests are flushed */
	KWARP_E_TX_TERM,	/* the Terminate goes next, then nothing */
	KWARP_E_TX_DRAIN,	/* report DRAINED when nothing is left to send */
	KWARP_E_TX_WAIT_READ,	/* the send queue waits for a Read or atomic operation */
	KWARP_E_RX_STOP,	/* drop inbound octets */
	KWARP_E_RX_ANY,		/* octets have come, of whatever, after the startup frame */
	KWARP_E_RX_SEEN,	/* a valid FPDU has been received */
	KWARP_E_FIN_SEEN,	/* the peer's FIN has been handled */
	KWARP_E_RST_SEEN,	/* the loss of the connection has been handled */
	KWARP_E_TERM_SEEN,	/* the peer's Terminate is in @peer_term */
	KWARP_E_FAILED,		/* an error has been latched */
	KWARP_E_TERM_READY,	/* @term describes it */
};

/* The longest message that is nothing but a header. */
#define KWARP_SMALL_LEN		KWARP_TERM_MAX_LEN
static_assert(KWARP_SMALL_LEN >= KWARP_ATOMIC_REQ_LEN);

/* What a message's payload is taken from. */
enum kwarp_tx_src {
	KWARP_SRC_SGL,		/* @wqe's scatter/gather list */
	KWARP_SRC_BUF,		/* octets in the engine: inline data, headers */
	KWARP_SRC_REGION,	/* one region: Read Response */
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
 * @sge: KWARP_SRC_SGL: element in work
 * @sge_off: octets of it already used
 * @buf: KWARP_SRC_BUF: next octet
 * @sq_index: KWARP_TXK_SQ: entry in the send queue
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

/* Requests that completed, and in which time, nanoseconds. */
struct kwarp_pace_sum {
	u64 requests;
	u64 ns;
};

/**
 * struct kwarp_pace - whether a timer sends what libsiw posts, see tx/pace.c; the runner's while
 * the stream is not held, and the timer's while it is
 * @timer: it
 * @ns: the time between looks; does not change during a stream
 * @doorbells: measured so far
 * @done: requests completed when the clock was started, free running
 * @since: when it was, nanoseconds
 * @inside: what doorbells have taken of the time since then
 * @entered: when the last doorbell was rung; the runner's, held or not
 * @rung: what completed with doorbells
 * @looked: and with the timer, if it sends what it finds, or [true] waits for more
 * @patient: it waits for more
 * @chosen: which of both it does has been decided
 * @seen: requests that the look before has found, and left
 * @waits: looks in a row that have sent nothing of them
 * @looks: of the timer in this hold
 * @quiet: those of them that found nothing, nor anything under way, in a row
 * @last: when a doorbell ended last
 * @obey: doorbells, of usual ones, that will be obeyed, and not be measured
 * @obey_next: as many after the next trial that fails
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
 * struct kwarp_coalesce - whether the send queue is held, see tx/coalesce.c
 * @send: sends for the timer; immutable
 * @ns: time to the timer's first look; 0: nothing is held; does not change during a stream
 * @rung: the runner's: a doorbell was rung, and its verdict has not been given
 * @left: likewise: for something that had not been taken from the queue
 * @realtime: likewise: by a program with a real-time policy
 * @polls: likewise: what the program had counted when it rang last
 * @rung_at: what the producer index was then; READ_ONCE, since the timer looks
 * @on: held, and on the CQ's list; under that list's lock, READ_ONCE without; of libsiw's
 *	streams see tx/pace.c
 * @node: in that list; under its lock
 * @deeds: polls and doorbells until the timer looked last; likewise
 * @waits: looks in a row that found a request left; likewise
 * @unused: looks in a row that found none; likewise
 * @turn: number of the last look that it has had its turn in; likewise
 * @sends: timers that send for the stream now
 * @pace: of a stream whose program has libsiw
 */
struct kwarp_coalesce {
	void (*send)(struct kwarp_engine *e);
	u64 ns;
	bool rung;
	bool left;
	bool realtime;
	bool on;
	u32 polls;
	u32 rung_at;
	u32 deeds;
	u32 waits;
	u32 unused;
	u32 turn;
	struct list_head node;
	atomic_t sends;
	struct kwarp_pace pace;
};

/**
 * struct kwarp_tx - transmit side; owned by the runner but where noted
 * @run: any context: enum kwarp_run, decides who the runner is, see tx/run.c
 * @claims: any context: number of those that wait in kwarp_tx_claim()
 * @idle: what they wait on
 * @work: the runner where nobody else can send
 * @home: processor that @work runs on; negative: wherever there is room; immutable
 * @in_socket: this runner was called with the socket's spinlock held, while nobody owns the
 *	socket: nothing sleeps
 * @in_share: likewise: what it does counts for the softirqs of its processor
 * @crc: generate CRCs
 * @markers: insert markers
 * @align: begin segments with an FPDU, at the price of more and smaller packets
 * @rtr: RTR form still to be sent
 * @turn: the send queue is next, for fairness against answers
 * @term_done: the Terminate is in the batch or sent
 * @no_memory: the last FPDU could not be built for want of pages
 * @backs_off: what is left waits for the work item: for memory, or since softirqs have had their
 *	share; written by the runner, READ_ONCE without
 * @answered: this step has built something of an answer
 * @effort: requests and their elements looked at in this step
 * @off: stream octets since SeqStart, modulo 2^32
 * @mulpdu: of the current batch
 * @msn: next MSN of each queue
 * @sq_end: send queue entries before it are complete in the batch
 * @drain_to: index up to which a graceful close sends
 * @msg: message in work
 * @wqe: its work request
 * @small: payload of what is nothing but a header
 * @batch: octets on their way to TCP
 * @coalesce: whether the send queue is held
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
	KWARP_RXT_RECEIVE,	/* the open receive */
	KWARP_RXT_TAGGED,	/* region named by the segment */
	KWARP_RXT_SMALL,	/* what is nothing but a header */
};

/**
 * struct kwarp_rx_stash - FPDU that TCP could not keep until it was complete
 * @buf: room for the longest FPDU, while it is needed
 * @charged: the socket pays for it
 * @use: octets go there until this FPDU is complete
 * @have: octets of it
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
 * @ahead: octets of the current FPDU still to be fed, all known to be undamaged
 * @skip: those at its beginning that the parser has got from a copy
 * @want: octets that the FPDU takes whose beginning has been left with TCP; 0 if none has
 * @stash: for FPDUs that TCP cannot keep
 * @q: untagged queues
 * @target: what the payload of this segment goes to
 * @tagged_open: a tagged message has begun and its last segment has not come
 * @written: octets of the Write that goes on, or was the last message, modulo 2^32
 * @mr: region used last in this run; referenced until the run ends
 * @sure: KWARP_RXT_TAGGED: @mr has been checked for all of the segment in this run, and
 *	only deregistration revokes it, which waits for the reference
 * @addr: KWARP_RXT_TAGGED: address of the next octet
 * @rights: likewise: IB_ACCESS_* that the segment needs
 * @rwqe: open receive, valid while q[KWARP_QN_SEND].open
 * @rwqe_status: how to complete it when the stream ends
 * @sge: element in work
 * @sge_off: octets of it already filled
 * @small: header octets
 * @small_have: their number
 * @kick: there may be something to send when this run ends
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
 * struct kwarp_engine - one stream
 * @kdev: device
 * @mem: the QP as memory sees it; its protection domain and windows
 * @recv_mem: @mem, or the SRQ's: whose memory receives may be in; immutable
 * @sq: its send queue
 * @rq: its receive queue, or that of an SRQ
 * @rq_shared: @rq is an SRQ's
 * @rfc7306: the stream has Immediate Data and atomic operations
 * @recv_cq: where receives complete
 * @ibqp: named in completions
 * @ops: upcalls
 * @sock: set while a stream is attached
 * @flags: KWARP_E_*
 * @access: READ_ONCE: IB_ACCESS_REMOTE_* that the QP allows
 * @sink_rights: IB_ACCESS_* that the sink of a Read needs; does not change during a stream
 * @oread: Reads and atomic operations of ours, see readq.h
 * @iread: those of the peer
 * @tx: transmit side
 * @rx: receive side
 * @term: our Terminate; written once by the context that set KWARP_E_FAILED, read
 *	after KWARP_E_TERM_READY
 * @perr: why the stream failed; likewise
 * @peer_term: Terminate received, valid after KWARP_E_TERM_SEEN
 * @stats: counts of this and earlier streams; @stats.s.tx is the runner's, @stats.s.rx of whoever
 *	holds the socket's lock
 * @stash_wait: for memory that @rx.stash needs
 * @stash_wait.work: looks again
 * @stash_wait.waits: how often there was none, in a row; under the socket's lock
 * @saved: socket callbacks and settings as they were before attach
 *
 * Everything from @kdev to @ops is immutable after create, but for the list in @mem.
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
 * Rights of a Read's sink.  The Read Response names its STag, so most iWARP hardware wants remote
 * write there; but a response that is not the one asked for is refused anyway (5040-5.2.2-9).
 */
static inline int kwarp_sink_rights(bool strict)
{
	return IB_ACCESS_LOCAL_WRITE | (strict ? IB_ACCESS_REMOTE_WRITE : 0);
}

/* kwarp_engine_stop() has been called, and no reset since.  Context: any. */
static inline bool kwarp_engine_dead(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_DEAD, &e->flags);
}

/* The caller has become the runner, or has claimed the stream: checked where lockdep is. */
static inline void kwarp_assert_runner(const struct kwarp_engine *e)
{
	lockdep_assert(atomic_read(&e->tx.run) >= KWARP_RUN_ACTIVE);
}

#endif /* KWARP_ENGINE_TYPES_H */
