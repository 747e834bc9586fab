/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The types of the engine, one structure for each side: transmit, receive, and what both share. No
 * layer above the engine uses their fields: see engine.h.
 */
#ifndef KWARP_ENGINE_TYPES_H
#define KWARP_ENGINE_TYPES_H

#include <linux/bitops.h>
#include <linux/interrupt.h>
#include <linux/lockdep.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../counts.h"
#include "../ended.h"
#include "../fault.h"
#include "../mem/mr.h"
#include "../proto/qp_fsm.h"
#include "../proto/rdmap.h"
#include "../proto/term.h"
#include "../queue/readq.h"
#include "../queue/rq.h"
#include "../queue/sq.h"
#include "../serial.h"
#include "rx/types.h"
#include "tx/types.h"

struct kwarp_dev;
struct kwarp_engine;
struct pid;
struct socket;

/**
 * struct kwarp_engine_ops - functions of the layer above, which the engine calls
 * @event: the stream has changed as @event says; any context, must not sleep
 * @established: responder: the first valid FPDU has come; any context, must not sleep
 * @poll: the layer above is to call kwarp_engine_poll() from process context soon; any context
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
	KWARP_E_DEAD,		/* kwarp_engine_stop() has ended the stream */
	KWARP_E_TX_TERM,	/* send the Terminate next, then nothing */
	KWARP_E_TX_DRAIN,	/* graceful close: requests posted after its start are flushed */
	KWARP_E_TX_WAIT_READ,	/* a request waits until an earlier one is answered */
	KWARP_E_RX_STOP,	/* drop inbound octets */
	/*
	 * the segment in rx.fpdu, whose header has been parsed, waits for a receive: no octet is
	 * read until then
	 */
	KWARP_E_RX_PARKED,
	KWARP_E_RX_ANY,		/* octets have come after the MPA startup */
	KWARP_E_FIN_SEEN,	/* the peer's FIN has been reported to @ops */
	KWARP_E_RST_SEEN,	/* the loss of the connection has been reported to @ops */
	KWARP_E_TERM_SEEN,	/* the peer's Terminate is in @peer_term */
	KWARP_E_FAILED,		/* the stream's first error is recorded */
	KWARP_E_TERM_READY,	/* the error's Terminate is in @term */
	KWARP_E_ANNOUNCED,	/* the announcement is sent, or to be sent (proto/announce.h) */
	KWARP_E_TX_ANNOUNCE,	/* it is to be sent */
	KWARP_E_PEER_LONG,	/* the peer has announced that it accepts long FPDUs */
	KWARP_E_REFUSED,	/* a context writes, or has written, @refused */
	KWARP_E_RESET,		/* the end of the stream is to reset the connection */
};

/*
 * struct kwarp_engine - one stream at a time
 * @mem: the stream's protection domain and memory windows, for access checks
 * @recv_mem: what the regions of receives are checked against: @mem, or the protection domain of
 *	the SRQ; immutable
 * @rq_shared: @rq is an SRQ's
 * @more: KWARP_RDMAP_*, messages that the stream may carry besides those of RFC 5040
 * @creator: process that created it; NULL: a kernel consumer
 * @sock: set while a stream is attached
 * @access: IB_ACCESS_REMOTE_* that the QP allows; READ_ONCE
 * @sink_rights: IB_ACCESS_* that the sink of a Read needs; does not change during a stream
 * @oread: our Reads and atomic operations that wait for an answer, see readq.h
 * @iread: the peer's Reads and atomic operations that wait for our answer
 * @term: our Terminate; written once by the context that set KWARP_E_FAILED, read after
 *	KWARP_E_TERM_READY
 * @perr: why the stream failed; written once by the context that set KWARP_E_FAILED, READ_ONCE
 * @peer_term: Terminate received, valid after KWARP_E_TERM_SEEN
 * @refused: what a check has refused, see refusal.c; written once by the context that set
 *	KWARP_E_REFUSED
 * @began: when the stream began, milliseconds since boot
 * @stats: counts of this and earlier streams; the runner writes @stats.s.tx; @stats.s.rx is written
 *	under the socket lock
 * @stash_wait: retries of the allocation of @rx.stash, a buffer for an FPDU that TCP cannot keep,
 *	while no memory is available
 * @stash_wait.waits: number of failed attempts in a row, up to a limit; under the socket lock
 * @stash_wait.seq: TCP's sequence number up to which octets had come when the engine began to wait
 *	for the rest of an FPDU that TCP may drop; under the socket lock
 * @stash_wait.late: until when, in jiffies; under the socket lock
 * @recv_wait: work item for the next look, while a message waits for a receive (rx/park.c)
 * @read_rest: tasklet that reads octets in the middle of a message (sock.c)
 * @saved: socket callbacks as they were before kwarp_sock_install()
 *
 * Everything from @kdev to @ops is immutable after kwarp_engine_wire(), except @more, and the list
 * of memory windows in @mem.
 */
struct kwarp_engine {
	struct kwarp_dev *kdev;
	struct kwarp_mem_stream mem;
	const struct kwarp_mem_stream *recv_mem;
	struct kwarp_sq *sq;
	struct kwarp_rq *rq;
	bool rq_shared;
	u32 more;
	struct kwarp_cq *recv_cq;
	struct ib_qp *ibqp;
	const struct pid *creator;
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
	struct kwarp_refusal refused;
	u64 began;
	struct kwarp_stats_stream stats;

	struct {
		struct delayed_work work;
		u32 waits;
		u32 seq;
		unsigned long late;
	} stash_wait;

	struct delayed_work recv_wait;
	struct tasklet_struct read_rest;
	struct {
		void (*data_ready)(struct sock *sk);
		void (*write_space)(struct sock *sk);
		void (*state_change)(struct sock *sk);
		void (*error_report)(struct sock *sk);
	} saved;
};

/*
 * Rights that the sink region of a Read needs. The Read Response names the sink's STag, as a Write
 * would, so most iWARP hardware requires remote write there ("strict"). kwarp does not need that
 * right: it refuses a response that does not match an outstanding Read anyway (5040-5.2.2-9).
 */
static inline int kwarp_sink_rights(bool strict)
{
	return IB_ACCESS_LOCAL_WRITE | (strict ? IB_ACCESS_REMOTE_WRITE : 0);
}

static __always_inline u32 kwarp_engine_fault(const struct kwarp_engine *e, enum kwarp_fault kind)
{
	return kwarp_fault(kind, e->ibqp->device, e->ibqp->qp_num, e->creator);
}

static inline bool kwarp_engine_fault_lasts(const struct kwarp_engine *e, enum kwarp_fault kind)
{
	return kwarp_fault_lasts(kind, e->ibqp->device, e->ibqp->qp_num, e->creator);
}

static inline bool kwarp_rx_stopped(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_RX_STOP, &e->flags);
}

static inline bool kwarp_rx_parked(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_RX_PARKED, &e->flags);
}

static inline bool kwarp_rx_halted(const struct kwarp_engine *e)
{
	return READ_ONCE(e->flags) & (BIT(KWARP_E_RX_STOP) | BIT(KWARP_E_RX_PARKED));
}

static inline bool kwarp_engine_dead(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_DEAD, &e->flags);
}

/* Return: true if that is still to be sent. */
static inline bool kwarp_engine_announce(struct kwarp_engine *e)
{
	if (test_and_set_bit(KWARP_E_ANNOUNCED, &e->flags))
		return false;
	set_bit(KWARP_E_TX_ANNOUNCE, &e->flags);
	return true;
}

/*
 * The caller has to be the runner, perhaps by kwarp_tx_claim(). Lockdep kernels warn if there is no
 * runner; if another context is the runner, the error is not noticed.
 */
static inline void kwarp_assert_runner(const struct kwarp_engine *e)
{
	lockdep_assert(atomic_read(&e->tx.run) >= KWARP_RUN_ACTIVE);
}

#endif /* KWARP_ENGINE_TYPES_H */
