/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is counted, per stream and per device.
 *
 * A stream's counts are plain variables, each with one writer: what concerns sending is the
 * runner's, what concerns receiving is of whoever holds the socket's lock.  Nothing on the way of
 * data is shared between processors.  Who wants the device's counts adds up those of its streams,
 * and what streams that have gone have left.
 */
#ifndef KWARP_COUNTS_H
#define KWARP_COUNTS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct rdma_counter;

/* At least as many as RDMAP has opcodes, and proto/ states, events and errors: see stats.c. */
#define KWARP_STATS_OPS		16
#define KWARP_STATS_CM_STATES	16
#define KWARP_STATS_CM_EVENTS	32
#define KWARP_STATS_ERRORS	40

/**
 * struct kwarp_tx_stats - what was sent
 * @fpdus: FPDUs
 * @octets: of their payload
 * @batches: batches that TCP has taken as a whole
 * @blocked: times that TCP had no room
 * @no_memory: times that there was no memory for an FPDU
 * @doorbells: times that a program has sent, or begun to, in its own call
 * @op: messages by opcode
 */
struct kwarp_tx_stats {
	u64 fpdus;
	u64 octets;
	u64 batches;
	u64 blocked;
	u64 no_memory;
	u64 doorbells;
	u64 op[KWARP_STATS_OPS];
};

/**
 * struct kwarp_rx_stats - what was received
 * @fpdus: FPDUs
 * @octets: of their payload
 * @runs: times that TCP had something, of one or many packets
 * @op: messages by opcode
 */
struct kwarp_rx_stats {
	u64 fpdus;
	u64 octets;
	u64 runs;
	u64 op[KWARP_STATS_OPS];
};

/* Both; read without a lock, so that one is of a moment and its neighbour of the next. */
struct kwarp_stream_stats {
	struct kwarp_tx_stats tx ____cacheline_aligned;
	struct kwarp_rx_stats rx ____cacheline_aligned;
};

/**
 * struct kwarp_stats_stream - a queue pair's streams, one after the other
 * @s: counts
 * @node: in the device's list
 * @counter: to which it is bound (rdma statistic qp bind), or NULL
 * @bound: what it had counted then
 *
 * All but @s under the lock of struct kwarp_stats.
 */
struct kwarp_stats_stream {
	struct kwarp_stream_stats s;
	struct list_head node;
	struct rdma_counter *counter;
	struct kwarp_stream_stats bound;
};

/**
 * struct kwarp_stats - of a device
 * @lock: protects @streams, @gone, @told; a mutex, nothing of ours is taken under it
 * @streams: of its queue pairs
 * @gone: counts of those that there were
 * @told: what counters of the RDMA core's have counted for queue pairs that were bound to them: the
 *	core adds that to the device's counts by itself
 * @lost: streams that ended without a Terminate, and before both FINs
 * @cm: events of connection management, in each state that they came in
 * @errors: what has ended streams, by enum kwarp_perr
 * @term_sent: Terminates by enum kwarp_perr
 * @term_received: likewise; [KWARP_PERR_NONE] are those with a code that no RFC has
 */
struct kwarp_stats {
	struct mutex lock;		/* streams, gone, told */
	struct list_head streams;
	struct kwarp_stream_stats gone;
	struct kwarp_stream_stats told;
	atomic_long_t lost;
	atomic_long_t cm[KWARP_STATS_CM_STATES][KWARP_STATS_CM_EVENTS];
	atomic_long_t errors[KWARP_STATS_ERRORS];
	atomic_long_t term_sent[KWARP_STATS_ERRORS];
	atomic_long_t term_received[KWARP_STATS_ERRORS];
};

#endif /* KWARP_COUNTS_H */
