// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Named counters, for the RDMA core (rdma statistic) and sysfs (hw_counters).
 *
 * The core puts all counters of a device into one netlink message of the size of a page, which has
 * room for about 70 counters.
 */
#include "stats.h"

#include <linux/bits.h>
#include <linux/kernel.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#include "kwarp.h"
#include "proto/cm_fsm.h"
#include "proto/ddp.h"
#include "proto/perr.h"

static_assert(KWARP_STATS_CM_STATES >= KWARP_CMS_COUNT);
static_assert(KWARP_STATS_CM_EVENTS >= KWARP_CME_COUNT);
static_assert(KWARP_STATS_ERRORS >= KWARP_PERR_COUNT);

/* ------------------------------------------------------------------ the table */

/*
 * Kinds of counters.  STREAM: what streams have sent and received; SENT, RECEIVED: Terminates of
 * one layer; ERROR: streams that ended with one error; EVENT: one event of connection management;
 * OTHER: a single counter in struct kwarp_dev.
 */
enum kind { STREAM, SENT, RECEIVED, ERROR, EVENT, OTHER };

/*
 * struct row - one counter
 * @at: STREAM: place in struct kwarp_stream_stats, in units of u64, of the counter or, if @ops is
 *	not 0, of the array op[]; ERROR: enum kwarp_perr; EVENT: enum kwarp_cm_event; SENT and
 *	RECEIVED: first error of the layer; OTHER: offset in struct kwarp_dev
 * @ops: STREAM: 0, or mask of the opcodes whose counters in op[] are added up; SENT and RECEIVED:
 *	last error of the layer
 */
struct row {
	const char *name;
	u8 kind;
	u16 at;
	u16 ops;
};

#define AT(member)	(offsetof(struct kwarp_stream_stats, member) / sizeof(u64))
#define OP(name)	BIT(KWARP_OP_##name)
#define SENDS		(OP(SEND) | OP(SEND_INV) | OP(SEND_SE) | OP(SEND_SE_INV) | OP(SEND_IMM) | \
			 OP(SEND_SE_IMM))
#define IMMS		(OP(IMM) | OP(IMM_SE))

/*
 * Documentation/reference/counters.rst says what each row counts.  Rows of kind STREAM come first:
 * a counter that is bound to queue pairs shows only these.
 */
static const struct row rows[] = {
	{ "tx_fpdus", STREAM, AT(tx.fpdus) },
	{ "tx_octets", STREAM, AT(tx.octets) },
	{ "tx_batches", STREAM, AT(tx.batches) },
	{ "tx_blocked", STREAM, AT(tx.blocked) },
	{ "tx_no_memory", STREAM, AT(tx.no_memory) },
	{ "tx_doorbells", STREAM, AT(tx.doorbells) },
	{ "tx_writes", STREAM, AT(tx.op), OP(WRITE) },
	{ "tx_sends", STREAM, AT(tx.op), SENDS },
	{ "tx_immediates", STREAM, AT(tx.op), IMMS },
	{ "tx_read_requests", STREAM, AT(tx.op), OP(RREQ) },
	{ "tx_read_responses", STREAM, AT(tx.op), OP(RRESP) },
	{ "tx_atomic_requests", STREAM, AT(tx.op), OP(ATOMIC_REQ) },
	{ "tx_atomic_responses", STREAM, AT(tx.op), OP(ATOMIC_RESP) },
	{ "rx_fpdus", STREAM, AT(rx.fpdus) },
	{ "rx_octets", STREAM, AT(rx.octets) },
	{ "rx_runs", STREAM, AT(rx.runs) },
	{ "rx_predicted", STREAM, AT(rx.predicted) },
	{ "rx_split", STREAM, AT(rx.split) },
	{ "rx_writes", STREAM, AT(rx.op), OP(WRITE) },
	{ "rx_sends", STREAM, AT(rx.op), SENDS },
	{ "rx_immediates", STREAM, AT(rx.op), IMMS },
	{ "rx_read_requests", STREAM, AT(rx.op), OP(RREQ) },
	{ "rx_read_responses", STREAM, AT(rx.op), OP(RRESP) },
	{ "rx_atomic_requests", STREAM, AT(rx.op), OP(ATOMIC_REQ) },
	{ "rx_atomic_responses", STREAM, AT(rx.op), OP(ATOMIC_RESP) },
	{ "term_sent_rdmap", SENT, KWARP_PERR_LOCAL, KWARP_PERR_O_UNSPEC },
	{ "term_sent_ddp", SENT, KWARP_PERR_DDP_LOCAL, KWARP_PERR_DDP_U_VERSION },
	{ "term_sent_mpa", SENT, KWARP_PERR_MPA_LOST, KWARP_PERR_MPA_RTR },
	{ "term_received_rdmap", RECEIVED, KWARP_PERR_LOCAL, KWARP_PERR_O_UNSPEC },
	{ "term_received_ddp", RECEIVED, KWARP_PERR_DDP_LOCAL, KWARP_PERR_DDP_U_VERSION },
	{ "term_received_mpa", RECEIVED, KWARP_PERR_MPA_LOST, KWARP_PERR_MPA_RTR },
	{ "term_received_other", RECEIVED, KWARP_PERR_NONE, KWARP_PERR_NONE },
	{ "crc_errors", ERROR, KWARP_PERR_MPA_CRC },
	{ "marker_errors", ERROR, KWARP_PERR_MPA_MARKER },
	{ "no_receive", ERROR, KWARP_PERR_DDP_U_NOBUF },
	{ "streams_lost", OTHER, offsetof(struct kwarp_dev, stats.lost) },
	{ "stashes", OTHER, offsetof(struct kwarp_dev, stashes) },
	{ "coalesce_paced", OTHER, offsetof(struct kwarp_dev, coalesce_paced) },
	{ "coalesce_timeouts", OTHER, offsetof(struct kwarp_dev, coalesce_timeouts) },
	{ "cm_connects", EVENT, KWARP_CME_CONNECT },
	{ "cm_replies", EVENT, KWARP_CME_REPLY },
	{ "cm_rejected", EVENT, KWARP_CME_REJECTED },
	{ "cm_retries", EVENT, KWARP_CME_RETRY },
	{ "cm_inbound", EVENT, KWARP_CME_INBOUND },
	{ "cm_requests", EVENT, KWARP_CME_REQUEST },
	{ "cm_queued", EVENT, KWARP_CME_QUEUED },
	{ "cm_refused", EVENT, KWARP_CME_REFUSE },
	{ "cm_accepts", EVENT, KWARP_CME_ACCEPT },
	{ "cm_rejects", EVENT, KWARP_CME_REJECT },
	{ "cm_bad", EVENT, KWARP_CME_BAD },
	{ "cm_lost", EVENT, KWARP_CME_LOST },
	{ "cm_timeouts", EVENT, KWARP_CME_TIMER },
	{ "cm_evicted", EVENT, KWARP_CME_EVICT },
	{ "cm_orphans", EVENT, KWARP_CME_ORPHAN },
	{ "cm_local", EVENT, KWARP_CME_LOCAL },
	{ "cm_closed", EVENT, KWARP_CME_DOWN_FIN },
	{ "cm_failed", EVENT, KWARP_CME_DOWN_ERR },
	{ "cm_aborted", EVENT, KWARP_CME_DOWN_KILL },
};

u32 kwarp_stats_count(void)
{
	return ARRAY_SIZE(rows);
}

u32 kwarp_stats_stream_count(void)
{
	u32 n = 0;

	while (rows[n].kind == STREAM)
		n++;
	return n;
}

const struct rdma_stat_desc *kwarp_stats_names(void)
{
	static struct rdma_stat_desc descs[ARRAY_SIZE(rows)];
	u32 i;

	/* This needs no lock: every caller stores the same values. */
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		descs[i].name = rows[i].name;
	return descs;
}

/* ------------------------------------------------------------------- adding up */

#define WORDS (sizeof(struct kwarp_stream_stats) / sizeof(u64))

/* Add @s to @sum; with @from: only what has been counted since @from. */
static void add_stream(struct kwarp_stream_stats *sum, const struct kwarp_stream_stats *s,
		       const struct kwarp_stream_stats *from)
{
	const u64 *f = (const u64 *)from, *n = (const u64 *)s;
	u64 *to = (u64 *)sum;
	u32 i;

	/* READ_ONCE: the writers take no lock. */
	for (i = 0; i < WORDS; i++)
		to[i] += READ_ONCE(n[i]) - (f ? f[i] : 0);
}

static u64 stream_value(const struct row *row, const struct kwarp_stream_stats *s)
{
	const u64 *at = (const u64 *)s + row->at;
	u64 sum = 0;
	u32 i;

	if (!row->ops)
		return *at;
	for (i = 0; i < KWARP_STATS_OPS; i++)
		if (row->ops & BIT(i))
			sum += at[i];
	return sum;
}

static u64 sum_errors(const atomic_long_t *by_error, u32 first, u32 last)
{
	u64 sum = 0;

	for (; first <= last; first++)
		sum += atomic_long_read(&by_error[first]);
	return sum;
}

static u64 sum_events(const struct kwarp_stats *stats, u32 event)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < KWARP_STATS_CM_STATES; i++)
		sum += atomic_long_read(&stats->cm[i][event]);
	return sum;
}

static u64 device_value(const struct row *row, const struct kwarp_dev *kdev)
{
	const struct kwarp_stats *stats = &kdev->stats;

	switch (row->kind) {
	case SENT:
		return sum_errors(stats->term_sent, row->at, row->ops);
	case RECEIVED:
		return sum_errors(stats->term_received, row->at, row->ops);
	case ERROR:
		return sum_errors(stats->errors, row->at, row->at);
	case EVENT:
		return sum_events(stats, row->at);
	default:
		return atomic_long_read((const atomic_long_t *)((const u8 *)kdev + row->at));
	}
}

static void add_values(u64 *values, const struct kwarp_stream_stats *sum)
{
	u32 i;

	for (i = 0; rows[i].kind == STREAM; i++)
		values[i] += stream_value(&rows[i], sum);
}

u32 kwarp_stats_fill(struct kwarp_dev *kdev, u64 *values)
{
	struct kwarp_stats *stats = &kdev->stats;
	const struct kwarp_stats_stream *stream;
	struct kwarp_stream_stats sum = {};
	u32 i;

	mutex_lock(&stats->lock);
	add_stream(&sum, &stats->gone, &stats->given);
	/* Of a bound queue pair what it had counted when it was bound: the core adds the rest. */
	list_for_each_entry(stream, &stats->streams, node)
		add_stream(&sum, stream->counter ? &stream->bound : &stream->s, NULL);
	mutex_unlock(&stats->lock);
	memset(values, 0, kwarp_stats_stream_count() * sizeof(*values));
	add_values(values, &sum);
	for (i = kwarp_stats_stream_count(); i < ARRAY_SIZE(rows); i++)
		values[i] = device_value(&rows[i], kdev);
	return ARRAY_SIZE(rows);
}

/* Get what all queue pairs of a device have counted, bound or not.  Context: process. */
void kwarp_stats_total(struct kwarp_dev *kdev, struct kwarp_stream_stats *sum)
{
	const struct kwarp_stats_stream *stream;

	mutex_lock(&kdev->stats.lock);
	*sum = kdev->stats.gone;
	list_for_each_entry(stream, &kdev->stats.streams, node)
		add_stream(sum, &stream->s, NULL);
	mutex_unlock(&kdev->stats.lock);
}

/* --------------------------------------------------------- counters of the RDMA core */

/*
 * The core adds all values of a counter to those of the device, by index, so a counter has as many
 * values as a device.  After them kwarp keeps the sums of queue pairs that were bound to the
 * counter and are not any more.  These sums lie beyond value[num_counters], hence RELOC_HIDE(), so
 * that the compiler does not assume an overrun.  Return: the first of these sums.
 */
static u64 *left_in(const struct rdma_counter *counter)
{
	return RELOC_HIDE((u64 *)counter->stats, offsetof(struct rdma_hw_stats, value) +
						 kwarp_stats_count() * sizeof(u64));
}

static void add_bound(u64 *values, const struct kwarp_stats_stream *stream)
{
	struct kwarp_stream_stats sum = {};

	add_stream(&sum, &stream->s, &stream->bound);
	add_values(values, &sum);
}

static void unbind_stream(struct kwarp_stream_stats *given, struct kwarp_stats_stream *stream)
{
	struct kwarp_stream_stats sum = {};

	if (!stream->counter)
		return;
	/*
	 * Read the queue pair's counters once: they may change meanwhile, and what the counter gets
	 * must be what the device's values leave out.
	 */
	add_stream(&sum, &stream->s, &stream->bound);
	add_values(left_in(stream->counter), &sum);
	add_stream(given, &sum, NULL);
	stream->counter = NULL;
}

/* --------------------------------------------------------------------- list of streams */

/* The zeroed counters must exist until kwarp_stats_remove(). */
void kwarp_stats_add(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	mutex_lock(&kdev->stats.lock);
	list_add_tail(&stream->node, &kdev->stats.streams);
	mutex_unlock(&kdev->stats.lock);
}

/* Remove a queue pair's counters; their values stay in the device's sums.  Context: process. */
void kwarp_stats_remove(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	mutex_lock(&kdev->stats.lock);
	unbind_stream(&kdev->stats.given, stream);
	list_del_init(&stream->node);
	add_stream(&kdev->stats.gone, &stream->s, NULL);
	mutex_unlock(&kdev->stats.lock);
}

void kwarp_stats_init(struct kwarp_stats *stats)
{
	mutex_init(&stats->lock);
	INIT_LIST_HEAD(&stats->streams);
}

/* -------------------------------------------------------------------- bind and unbind */

/*
 * The counter's array of values has room for kwarp_stats_stream_count() additional values. -EBUSY:
 * bound to another counter; -EINVAL: the queue pair is being destroyed.
 */
int kwarp_stats_bind(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream,
		     struct rdma_counter *counter)
{
	int ret = -EBUSY;

	mutex_lock(&kdev->stats.lock);
	if (list_empty(&stream->node)) {
		ret = -EINVAL;
	} else if (!stream->counter) {
		stream->bound = (struct kwarp_stream_stats) {};
		add_stream(&stream->bound, &stream->s, NULL);
		stream->counter = counter;
		ret = 0;
	}
	mutex_unlock(&kdev->stats.lock);
	return ret;
}

void kwarp_stats_unbind(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	mutex_lock(&kdev->stats.lock);
	unbind_stream(&kdev->stats.given, stream);
	mutex_unlock(&kdev->stats.lock);
}

void kwarp_stats_fill_bound(struct kwarp_dev *kdev, struct rdma_counter *counter)
{
	const struct kwarp_stats_stream *stream;
	u64 *values = counter->stats->value;
	const u64 *left = left_in(counter);
	u32 i;

	mutex_lock(&kdev->stats.lock);
	for (i = 0; rows[i].kind == STREAM; i++)
		values[i] = left[i];
	list_for_each_entry(stream, &kdev->stats.streams, node)
		if (stream->counter == counter)
			add_bound(values, stream);
	mutex_unlock(&kdev->stats.lock);
}
