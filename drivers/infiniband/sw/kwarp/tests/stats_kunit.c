// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of counters: the name of each, the sums that destroyed queue pairs leave, and the RDMA
 * core's counters of queue pairs.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <rdma/ib_verbs.h>

/* Of the RDMA core, which is not built. */
static unsigned long stats_test_disabled[BITS_TO_LONGS(256)];

struct rdma_hw_stats *rdma_alloc_hw_stats_struct(const struct rdma_stat_desc *descs, int n,
						 unsigned long lifespan)
{
	struct rdma_hw_stats *stats = kzalloc(struct_size(stats, value, n), GFP_KERNEL);

	if (!stats)
		return NULL;
	stats->is_disabled = stats_test_disabled;
	bitmap_zero(stats_test_disabled, sizeof(stats_test_disabled) * BITS_PER_BYTE);
	stats->descs = descs;
	stats->num_counters = n;
	stats->lifespan = msecs_to_jiffies(lifespan);
	return stats;
}

void rdma_free_hw_stats_struct(struct rdma_hw_stats *stats)
{
	kfree(stats);
}

#include "../stats.c"
#include "../verbs/stats_verbs.c"

/*
 * The core returns counters in a netlink message.  NL_COUNT: octets of one counter without its
 * name; NL_ROOM: octets for counters in a message of one page.
 */
#define NL_COUNT	(8 + 12)
#define NL_ROOM		(SKB_WITH_OVERHEAD(4096) - 256)

struct stats_test {
	struct kwarp_dev *kdev;
	struct kwarp_qp *qp[2];
	u64 values[ARRAY_SIZE(rows)];
};

static u64 value_of(struct kunit *test, const u64 *values, const char *name)
{
	u32 i;

	for (i = 0; i < kwarp_stats_count(); i++)
		if (!strcmp(kwarp_stats_names()[i].name, name))
			return values[i];
	KUNIT_FAIL(test, "nothing is named %s", name);
	return 0;
}

static u64 now(struct kunit *test, const char *name)
{
	struct stats_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, kwarp_stats_fill(t->kdev, t->values), kwarp_stats_count());
	return value_of(test, t->values, name);
}

/*
 * A variable that the test sets (@at), and the only counter that may and must show its value
 * (@name). NULL: no counter may show it (op[7] is Terminate, which has counters of its own).
 */
#define OF(member) offsetof(struct kwarp_stats_stream, s.member)
static const struct place {
	const char *name;
	size_t at;
} places[] = {
	{ "tx_fpdus", OF(tx.fpdus) },
	{ "tx_octets", OF(tx.octets) },
	{ "tx_batches", OF(tx.batches) },
	{ "tx_blocked", OF(tx.blocked) },
	{ "tx_no_memory", OF(tx.no_memory) },
	{ "tx_doorbells", OF(tx.doorbells) },
	{ "tx_writes", OF(tx.op[0]) },
	{ "tx_read_requests", OF(tx.op[1]) },
	{ "tx_read_responses", OF(tx.op[2]) },
	{ "tx_sends", OF(tx.op[3]) },
	{ "tx_sends", OF(tx.op[4]) },
	{ "tx_sends", OF(tx.op[5]) },
	{ "tx_sends", OF(tx.op[6]) },
	{ NULL, OF(tx.op[7]) },
	{ "tx_immediates", OF(tx.op[8]) },
	{ "tx_immediates", OF(tx.op[9]) },
	{ "tx_atomic_requests", OF(tx.op[10]) },
	{ "tx_atomic_responses", OF(tx.op[11]) },
	{ "rx_fpdus", OF(rx.fpdus) },
	{ "rx_octets", OF(rx.octets) },
	{ "rx_runs", OF(rx.runs) },
	{ "rx_predicted", OF(rx.predicted) },
	{ "rx_split", OF(rx.split) },
	{ "rx_writes", OF(rx.op[0]) },
	{ "rx_read_requests", OF(rx.op[1]) },
	{ "rx_read_responses", OF(rx.op[2]) },
	{ "rx_sends", OF(rx.op[3]) },
	{ "rx_sends", OF(rx.op[6]) },
	{ "rx_immediates", OF(rx.op[9]) },
	{ "rx_atomic_requests", OF(rx.op[10]) },
	{ "rx_atomic_responses", OF(rx.op[11]) },
};

static void test_places(struct kunit *test)
{
	struct stats_test *t = test->priv;
	struct kwarp_stats_stream *s = &t->qp[0]->engine.stats;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		u64 *at = (void *)s + places[i].at, sum = 0;

		*at = 0x123456789a;
		if (places[i].name)
			KUNIT_EXPECT_EQ_MSG(test, now(test, places[i].name), 0x123456789a, "%s",
					    places[i].name);
		else
			kwarp_stats_fill(t->kdev, t->values);
		for (k = 0; k < kwarp_stats_count(); k++)
			sum += t->values[k];
		KUNIT_EXPECT_EQ_MSG(test, sum, places[i].name ? 0x123456789a : 0, "place %u", i);
		*at = 0;
	}
}

/* Counters of queue pairs are added up, and those of destroyed ones stay in the sum. */
static void test_streams(struct kunit *test)
{
	struct stats_test *t = test->priv;

	t->qp[0]->engine.stats.s.tx.fpdus = 5;
	t->qp[1]->engine.stats.s.tx.fpdus = 7;
	KUNIT_EXPECT_EQ(test, now(test, "tx_fpdus"), 12);
	kwarp_stats_remove(t->kdev, &t->qp[0]->engine.stats);
	KUNIT_EXPECT_EQ(test, now(test, "tx_fpdus"), 12);
	t->qp[1]->engine.stats.s.tx.fpdus++;
	KUNIT_EXPECT_EQ(test, now(test, "tx_fpdus"), 13);
	memset(&t->qp[0]->engine.stats, 0, sizeof(t->qp[0]->engine.stats));
	kwarp_stats_add(t->kdev, &t->qp[0]->engine.stats);
	KUNIT_EXPECT_EQ(test, now(test, "tx_fpdus"), 13);
}

static const struct {
	enum kwarp_perr err;
	const char *layer;
	const char *name;
} errors_of[] = {
	{ KWARP_PERR_LOCAL, "rdmap" },
	{ KWARP_PERR_R_STAG, "rdmap" },
	{ KWARP_PERR_O_UNSPEC, "rdmap" },
	{ KWARP_PERR_DDP_LOCAL, "ddp" },
	{ KWARP_PERR_DDP_T_STAG, "ddp" },
	{ KWARP_PERR_DDP_U_NOBUF, "ddp", "no_receive" },
	{ KWARP_PERR_DDP_U_VERSION, "ddp" },
	{ KWARP_PERR_MPA_CRC, "mpa", "crc_errors" },
	{ KWARP_PERR_MPA_MARKER, "mpa", "marker_errors" },
	{ KWARP_PERR_MPA_RTR, "mpa" },
};

static void test_terminates(struct kunit *test)
{
	struct stats_test *t = test->priv;
	char name[32];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors_of); i++) {
		snprintf(name, sizeof(name), "term_sent_%s", errors_of[i].layer);
		atomic_long_set(&t->kdev->stats.term_sent[errors_of[i].err], 3);
		KUNIT_EXPECT_EQ_MSG(test, now(test, name), 3, "%s %u", name, errors_of[i].err);
		if (errors_of[i].name) {
			atomic_long_set(&t->kdev->stats.errors[errors_of[i].err], 7);
			KUNIT_EXPECT_EQ(test, now(test, errors_of[i].name), 7);
		}
		atomic_long_set(&t->kdev->stats.term_sent[errors_of[i].err], 0);
		snprintf(name, sizeof(name), "term_received_%s", errors_of[i].layer);
		atomic_long_set(&t->kdev->stats.term_received[errors_of[i].err], 4);
		KUNIT_EXPECT_EQ_MSG(test, now(test, name), 4, "%s %u", name, errors_of[i].err);
		atomic_long_set(&t->kdev->stats.term_received[errors_of[i].err], 0);
	}
	atomic_long_set(&t->kdev->stats.term_received[KWARP_PERR_NONE], 5);
	KUNIT_EXPECT_EQ(test, now(test, "term_received_other"), 5);
}

static void test_others(struct kunit *test)
{
	struct stats_test *t = test->priv;

	atomic_long_set(&t->kdev->stats.lost, 1);
	atomic_long_set(&t->kdev->stashes, 2);
	atomic_long_set(&t->kdev->coalesce_paced, 3);
	atomic_long_set(&t->kdev->coalesce_timeouts, 4);
	atomic_long_set(&t->kdev->stats.cm[KWARP_CMS_WAIT_REQ][KWARP_CME_TIMER], 5);
	atomic_long_set(&t->kdev->stats.cm[KWARP_CMS_WAIT_REP][KWARP_CME_TIMER], 6);
	atomic_long_set(&t->kdev->stats.cm[KWARP_CMS_WAIT_REQ][KWARP_CME_EVICT], 7);
	KUNIT_EXPECT_EQ(test, now(test, "streams_lost"), 1);
	KUNIT_EXPECT_EQ(test, now(test, "stashes"), 2);
	KUNIT_EXPECT_EQ(test, now(test, "coalesce_paced"), 3);
	KUNIT_EXPECT_EQ(test, now(test, "coalesce_timeouts"), 4);
	KUNIT_EXPECT_EQ(test, now(test, "cm_timeouts"), 11);
	KUNIT_EXPECT_EQ(test, now(test, "cm_evicted"), 7);
}

static void test_names(struct kunit *test)
{
	u32 i, k, octets = 0;

	for (i = 0; i < kwarp_stats_count(); i++) {
		const char *name = kwarp_stats_names()[i].name;

		octets += NL_COUNT + ALIGN(4 + strlen(name) + 1, 4);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, name, kwarp_stats_names()[k].name);
	}
	KUNIT_EXPECT_LT(test, octets, NL_ROOM);
}

static void test_port(struct kunit *test)
{
	struct stats_test *t = test->priv;
	struct rdma_hw_stats *stats = kwarp_alloc_port_stats(&t->kdev->ibdev, 1);

	KUNIT_ASSERT_NOT_NULL(test, stats);
	KUNIT_EXPECT_EQ(test, stats->num_counters, ARRAY_SIZE(rows));
	t->qp[0]->engine.stats.s.rx.octets = 1ULL << 40;
	KUNIT_EXPECT_EQ(test, kwarp_get_stats(&t->kdev->ibdev, stats, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_get_stats(&t->kdev->ibdev, NULL, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_get_stats(&t->kdev->ibdev, stats, 1, 0), ARRAY_SIZE(rows));
	KUNIT_EXPECT_EQ(test, value_of(test, stats->value, "rx_octets"), 1ULL << 40);
	rdma_free_hw_stats_struct(stats);
}

static u64 total_writes(struct kunit *test)
{
	struct stats_test *t = test->priv;
	struct kwarp_stream_stats sum;

	memset(&sum, 0xff, sizeof(sum));
	kwarp_stats_total(t->kdev, &sum);
	KUNIT_EXPECT_EQ(test, sum.rx.runs, 0);
	return sum.tx.op[KWARP_OP_WRITE];
}

static u64 counted(struct kunit *test, struct rdma_counter *counter)
{
	KUNIT_EXPECT_EQ(test, kwarp_counter_update_stats(counter), 0);
	return value_of(test, counter->stats->value, "tx_writes");
}

static void test_counter(struct kunit *test)
{
	struct stats_test *t = test->priv;
	struct rdma_counter counter = { .device = &t->kdev->ibdev }, other = counter;
	u64 *writes[2];
	u32 i;

	counter.stats = kwarp_counter_alloc_stats(&counter);
	KUNIT_ASSERT_NOT_NULL(test, counter.stats);
	/* A counter has as many values as a port; those of kind STREAM are shown. */
	KUNIT_EXPECT_EQ(test, counter.stats->num_counters, kwarp_stats_count());
	KUNIT_EXPECT_EQ(test, find_first_bit(counter.stats->is_disabled, 256),
			kwarp_stats_stream_count());
	KUNIT_EXPECT_EQ(test, bitmap_weight(counter.stats->is_disabled, 256),
			kwarp_stats_count() - kwarp_stats_stream_count());
	for (i = 0; i < 2; i++) {
		writes[i] = &t->qp[i]->engine.stats.s.tx.op[KWARP_OP_WRITE];
		*writes[i] = 100;
		KUNIT_EXPECT_EQ(test, kwarp_counter_bind_qp(&counter, &t->qp[i]->ibqp, 1), 0);
		KUNIT_EXPECT_PTR_EQ(test, t->qp[i]->ibqp.counter, &counter);
		KUNIT_EXPECT_EQ(test, kwarp_counter_bind_qp(&other, &t->qp[i]->ibqp, 1), -EBUSY);
	}
	KUNIT_EXPECT_EQ(test, counted(test, &counter), 0);
	*writes[0] += 5;
	*writes[1] += 7;
	KUNIT_EXPECT_EQ(test, counted(test, &counter), 12);
	KUNIT_EXPECT_EQ(test, counted(test, &counter), 12);
	/*
	 * The device's value is the 2 * 100 Writes before the queue pairs were bound. It leaves out
	 * what the counter has counted, because the core adds that.
	 */
	KUNIT_EXPECT_EQ(test, now(test, "tx_writes"), 200);
	KUNIT_EXPECT_EQ(test, total_writes(test), 212);
	KUNIT_EXPECT_EQ(test, kwarp_counter_unbind_qp(&t->qp[0]->ibqp, 1), 0);
	KUNIT_EXPECT_NULL(test, t->qp[0]->ibqp.counter);
	*writes[0] += 1000;
	*writes[1] += 1;
	KUNIT_EXPECT_EQ(test, counted(test, &counter), 13);
	/* Bound again: the 1000 Writes between unbind and bind do not count. */
	KUNIT_EXPECT_EQ(test, kwarp_counter_bind_qp(&counter, &t->qp[0]->ibqp, 1), 0);
	*writes[0] += 2;
	KUNIT_EXPECT_EQ(test, counted(test, &counter), 15);
	for (i = 0; i < 2; i++)
		kwarp_counter_unbind_qp(&t->qp[i]->ibqp, 1);
	KUNIT_EXPECT_EQ(test, counted(test, &counter), 15);
	for (i = kwarp_stats_stream_count(); i < kwarp_stats_count(); i++)
		KUNIT_EXPECT_EQ(test, counter.stats->value[i], 0);
	/* The device has 2 * 100 Writes, and the 1000 while the first queue pair was not bound. */
	KUNIT_EXPECT_EQ(test, now(test, "tx_writes"), 1200);
	KUNIT_EXPECT_EQ(test, total_writes(test), 1215);
	kwarp_stats_remove(t->kdev, &t->qp[0]->engine.stats);
	KUNIT_EXPECT_EQ(test, now(test, "tx_writes"), 1200);
	KUNIT_EXPECT_EQ(test, total_writes(test), 1215);
	KUNIT_EXPECT_EQ(test, kwarp_counter_bind_qp(&counter, &t->qp[0]->ibqp, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_counter_dealloc(&counter), 0);
	rdma_free_hw_stats_struct(counter.stats);
}

/*
 * A queue pair sends while it is unbound: what the counter gets and what the device's values leave
 * out are the same.  The values that the counter keeps for former queue pairs overlay the counters
 * of the queue pair, so that storing the former changes the latter in the middle of the unbinding.
 */
static void test_unbind_busy(struct kunit *test)
{
	struct stats_test *t = test->priv;
	struct kwarp_stats_stream *stream = &t->qp[0]->engine.stats;
	struct rdma_counter counter = {};
	u64 *fpdus = &stream->s.tx.fpdus;

	counter.stats = (void *)((u8 *)fpdus - offsetof(struct rdma_hw_stats, value) -
				 kwarp_stats_count() * sizeof(u64));
	KUNIT_ASSERT_PTR_EQ(test, left_in(&counter), fpdus);
	KUNIT_ASSERT_STREQ(test, rows[0].name, "tx_fpdus");
	KUNIT_ASSERT_EQ(test, kwarp_stats_bind(t->kdev, stream, &counter), 0);
	*fpdus = 5;
	kwarp_stats_unbind(t->kdev, stream);
	/* The counter got the 5 FPDUs, added to the 5 that are in the same place. */
	KUNIT_EXPECT_EQ(test, *fpdus, 10);
	KUNIT_EXPECT_EQ(test, t->kdev->stats.given.tx.fpdus, 5);
}

static int stats_test_init(struct kunit *test)
{
	struct stats_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->kdev = kunit_kzalloc(test, sizeof(*t->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->kdev);
	kwarp_stats_init(&t->kdev->stats);
	for (i = 0; i < ARRAY_SIZE(t->qp); i++) {
		t->qp[i] = kunit_kzalloc(test, sizeof(*t->qp[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, t->qp[i]);
		t->qp[i]->kdev = t->kdev;
		kwarp_stats_add(t->kdev, &t->qp[i]->engine.stats);
	}
	return 0;
}

static struct kunit_case stats_cases[] = {
	KUNIT_CASE(test_places),
	KUNIT_CASE(test_streams),
	KUNIT_CASE(test_terminates),
	KUNIT_CASE(test_others),
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_port),
	KUNIT_CASE(test_counter),
	KUNIT_CASE(test_unbind_busy),
	{ }
};

static struct kunit_suite stats_suite = {
	.name = "kwarp_stats",
	.init = stats_test_init,
	.test_cases = stats_cases,
};
kunit_test_suite(stats_suite);
