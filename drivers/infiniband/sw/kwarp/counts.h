/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counters, per stream and per device.
 *
 * A stream's counters are plain variables, each with one writer: counters for sending are written
 * by the transmit runner, counters for receiving under the socket's lock. So the data path shares
 * no counter between processors. A reader of the device's counters adds up those of its streams,
 * and the sums that former streams have left.
 */
#ifndef KWARP_COUNTS_H
#define KWARP_COUNTS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct rdma_counter;

/*
 * Array sizes: at least the number of RDMAP opcodes, of states and of events of connection
 * management, and of protocol errors (enum kwarp_perr).
 */
#define KWARP_STATS_OPS		16
#define KWARP_STATS_CM_STATES	16
#define KWARP_STATS_CM_EVENTS	32
#define KWARP_STATS_ERRORS	40

struct kwarp_tx_stats {
	u64 fpdus;
	u64 octets;
	u64 batches;
	u64 blocked;
	u64 no_memory;
	u64 doorbells;
	u64 op[KWARP_STATS_OPS];
};

struct kwarp_rx_stats {
	u64 fpdus;
	u64 octets;
	u64 runs;
	u64 predicted;
	u64 split;
	u64 op[KWARP_STATS_OPS];
};

/* All counters of a stream. Read without a lock, so they may be from slightly different moments. */
struct kwarp_stream_stats {
	struct kwarp_tx_stats tx ____cacheline_aligned;
	struct kwarp_rx_stats rx ____cacheline_aligned;
};

/*
 * struct kwarp_stats_stream - counters of a queue pair, for all its streams, one after another
 * @counter: counter of the RDMA core that the queue pair is bound to (rdma statistic qp bind), or
 *	NULL
 * @bound: values of @s when the queue pair was bound to @counter
 *
 * The members other than @s are protected by the lock of struct kwarp_stats.
 */
struct kwarp_stats_stream {
	struct kwarp_stream_stats s;
	struct list_head node;
	struct rdma_counter *counter;
	struct kwarp_stream_stats bound;
};

/*
 * struct kwarp_stats - counters of a device
 * @lock: protects @streams, @gone, @given; no other lock of kwarp is taken under it
 * @streams: struct kwarp_stats_stream of the queue pairs that exist
 * @gone: sum for queue pairs that were destroyed
 * @given: sum of what counters of the RDMA core have counted for queue pairs that are not bound to
 *	them any more; kwarp leaves it out of the device's values, because the core adds it itself
 * @lost: number of established streams that were lost: TCP reported a reset, a time-out or another
 *	error, or the peer's FIN came inside a message; streams that this end aborts do not count
 * @cm: events of connection management: one count for each pair of state and event
 * @errors: streams that ended with an error: one count for each value of enum kwarp_perr
 * @term_received: Terminates received, by enum kwarp_perr; [KWARP_PERR_NONE]: those with a code
 *	that is not in any RFC
 */
struct kwarp_stats {
	struct mutex lock;		/* protects streams, gone, given */
	struct list_head streams;
	struct kwarp_stream_stats gone;
	struct kwarp_stream_stats given;
	atomic_long_t lost;
	atomic_long_t cm[KWARP_STATS_CM_STATES][KWARP_STATS_CM_EVENTS];
	atomic_long_t errors[KWARP_STATS_ERRORS];
	atomic_long_t term_sent[KWARP_STATS_ERRORS];
	atomic_long_t term_received[KWARP_STATS_ERRORS];
};

/**
 * struct kwarp_timers - coalescing timers of a device, or of a user's programs; limited,
 *	because their processor time is charged to nobody; atomic counts
 * @holds: CQs with a timer for forgotten requests (engine/tx/coalesce.h)
 * @paced: streams with a timer of their own (struct kwarp_hold_ops)
 */
struct kwarp_timers {
	atomic_t holds;
	atomic_t paced;
};

/* Count a timer: in @own, of the user, and in @all, of the device. */
static inline bool kwarp_timers_get(atomic_t *own, int own_max, atomic_t *all, int max)
{
	if (!atomic_add_unless(own, 1, own_max))
		return false;
	if (atomic_add_unless(all, 1, max))
		return true;
	atomic_dec(own);
	return false;
}

static inline void kwarp_timers_put(atomic_t *own, atomic_t *all)
{
	atomic_dec(own);
	atomic_dec(all);
}

#endif /* KWARP_COUNTS_H */
