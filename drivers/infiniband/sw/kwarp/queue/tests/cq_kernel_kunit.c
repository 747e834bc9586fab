// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of a kernel consumer's CQ: calls of its handlers, polling, removal of a QP's entries. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/workqueue.h>

#include "fixture.h"

#include "../../fault.h"
#include "../../kwarp.h"
#include "../../limits.h"
#include "../../wq.h"

#define ENTRIES	4

static int cq_kernel_init(struct kunit *test)
{
	test->priv = test_cq_new(test, ENTRIES);
	return 0;
}

static void make_kernel(struct kunit *test, struct kwarp_cq *cq)
{
	cq->qp = kunit_kcalloc(test, kwarp_ring_size(&cq->ring), sizeof(*cq->qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cq->qp);
}

/* A kernel consumer's handlers are called after bottom halves are on again, each once. */
static void test_notify_kernel(struct kunit *test)
{
	struct test_cq *t = test->priv;

	make_kernel(test, &t->cq);
	kwarp_cq_init(&t->cq);
	kwarp_cq_notify(&t->cq, 0);
	KUNIT_EXPECT_FALSE(test, test_bit(TASKLET_STATE_SCHED, &t->cq.tell.state));
	local_bh_disable();
	kwarp_cq_notify(&t->cq, KWARP_CQ_RAISE);
	kwarp_cq_notify(&t->cq, KWARP_CQ_LOST);
	KUNIT_EXPECT_EQ(test, t->raised + t->lost, 0);
	local_bh_enable();
	kwarp_cq_settle(&t->cq);
	KUNIT_EXPECT_EQ(test, t->raised, 1);
	KUNIT_EXPECT_EQ(test, t->lost, 1);
	KUNIT_EXPECT_EQ(test, t->other, 0);
	kwarp_cq_notify(&t->cq, KWARP_CQ_RAISE);
	kwarp_cq_settle(&t->cq);
	KUNIT_EXPECT_EQ(test, t->raised, 2);
}

static DECLARE_COMPLETION(settled);

static int settle_cq(void *cq)
{
	kwarp_cq_settle(cq);
	complete(&settled);
	return 0;
}

static void test_settle(struct kunit *test)
{
	struct test_cq *t = test->priv;
	struct task_struct *task;

	make_kernel(test, &t->cq);
	kwarp_cq_init(&t->cq);
	reinit_completion(&settled);
	tasklet_disable(&t->cq.tell);
	kwarp_cq_notify(&t->cq, KWARP_CQ_RAISE);
	task = kthread_run(settle_cq, &t->cq, "kwarp-settle");
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&settled, HZ / 20), 0);
	KUNIT_EXPECT_EQ(test, t->raised, 0);
	tasklet_enable(&t->cq.tell);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&settled, 10 * HZ), 0);
	KUNIT_EXPECT_EQ(test, t->raised, 1);
}

/* An event that a fault has delayed does not come after the call. */
static void test_settle_late(struct kunit *test)
{
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);
	struct kwarp_fault_rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	struct test_cq *t = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, kdev);
	KUNIT_ASSERT_NOT_NULL(test, rule);
	kwarp_wq = system_wq;
	*rule = (struct kwarp_fault_rule){
		.kind = KWARP_FAULT_EVENT_LATE, .arg = 60000, .percent = 100, .admin = true,
	};
	KUNIT_ASSERT_GT(test, kwarp_fault_add(rule), 0);
	t->cq.ibcq.device = &kdev->ibdev;
	make_kernel(test, &t->cq);
	kwarp_cq_init(&t->cq);
	kwarp_cq_notify(&t->cq, KWARP_CQ_RAISE);
	KUNIT_EXPECT_EQ(test, t->raised, 0);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&t->cq.late));
	kwarp_cq_settle(&t->cq);
	KUNIT_EXPECT_EQ(test, t->raised, 1);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->cq.late));
	cancel_delayed_work_sync(&t->cq.late);
	kwarp_fault_exit();
	kwarp_wq = NULL;
}

static void push_qp(struct kwarp_cq *cq, u64 id, struct ib_qp *qp)
{
	unsigned long irqflags = kwarp_cq_begin(cq);

	test_cq_add(cq, id, KWARP_WC_SUCCESS, 0, qp);
	kwarp_cq_end(cq, irqflags);
}

static void test_poll(struct kunit *test)
{
	struct test_cq *t = test->priv;
	static struct ib_qp qp[2];
	struct ib_wc wc[ENTRIES + 1];
	u64 id = 0, want = 0;
	u32 round;
	int i, n;

	make_kernel(test, &t->cq);
	test_cq_start_at(t, U32_MAX - 9);
	KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, ENTRIES, wc), 0);
	for (round = 0; round < 20; round++) {
		for (; t->cq.prod - t->cq.ring.hdr->cons < ENTRIES; id++)
			push_qp(&t->cq, id, &qp[id & 1]);
		KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 0, wc), 0);
		memset(wc, 0xa5, sizeof(wc));
		n = round % 2 ? ENTRIES + 1 : 1 + round % 3;
		KUNIT_ASSERT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, n, wc), min(n, ENTRIES));
		for (i = 0; i < min(n, ENTRIES); i++, want++) {
			KUNIT_EXPECT_EQ(test, wc[i].wr_id, want);
			KUNIT_EXPECT_PTR_EQ(test, wc[i].qp, &qp[want & 1]);
		}
		KUNIT_EXPECT_NULL(test, memchr_inv(&wc[i], 0xa5, sizeof(wc[0])));
	}
	KUNIT_EXPECT_FALSE(test, t->cq.overflow);
}

static void test_forget(struct kunit *test)
{
	struct test_cq *t = test->priv;
	static struct ib_qp gone, stays;
	struct ib_wc wc[ENTRIES];
	u32 i;

	kwarp_cq_forget_qp(&t->cq, &gone);
	make_kernel(test, &t->cq);
	test_cq_start_at(t, 3);
	for (i = 0; i < ENTRIES; i++)
		push_qp(&t->cq, i, i == 1 ? &stays : &gone);
	kwarp_cq_forget_qp(&t->cq, &gone);
	KUNIT_ASSERT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, ENTRIES, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 1);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &stays);
	/* the poll has freed all four slots, also those of the skipped entries */
	for (i = 0; i < ENTRIES; i++)
		push_qp(&t->cq, 10 + i, &stays);
	KUNIT_EXPECT_FALSE(test, t->cq.overflow);
	KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, ENTRIES, wc), ENTRIES);
}

/* Skipped entries do not count against the number of entries that the poll may return. */
static void test_forget_skips(struct kunit *test)
{
	struct test_cq *t = test->priv;
	static struct ib_qp gone, stays;
	struct ib_wc wc;

	make_kernel(test, &t->cq);
	push_qp(&t->cq, 1, &gone);
	push_qp(&t->cq, 2, &gone);
	push_qp(&t->cq, 3, &stays);
	push_qp(&t->cq, 4, &stays);
	kwarp_cq_forget_qp(&t->cq, &gone);
	KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 3);
	KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 4);
	KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 1, &wc), 0);
}

/* More entries than kwarp_cq_forget_qp() handles at a time with interrupts off */
static void test_forget_many(struct kunit *test)
{
	const u32 n = 4 * KWARP_IRQ_OFF_BATCH;
	struct test_cq *t = test_cq_new(test, n);
	static struct ib_qp gone, stays;
	struct ib_wc wc;
	u32 i;

	make_kernel(test, &t->cq);
	test_cq_start_at(t, U32_MAX - KWARP_IRQ_OFF_BATCH - 5);
	for (i = 0; i < n; i++)
		push_qp(&t->cq, i, i % 3 ? &gone : &stays);
	kwarp_cq_forget_qp(&t->cq, &gone);
	for (i = 0; i < n; i += 3) {
		KUNIT_ASSERT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.wr_id, i);
		KUNIT_EXPECT_PTR_EQ(test, wc.qp, &stays);
	}
	KUNIT_EXPECT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 1, &wc), 0);
}

static void poll_one(struct kunit *test, const struct kwarp_cqe *cqe, struct ib_wc *wc)
{
	static struct ib_qp qp;
	struct test_cq *t = test->priv;
	unsigned long irqflags = kwarp_cq_begin(&t->cq);

	kwarp_cq_add(&t->cq, cqe, &qp);
	kwarp_cq_end(&t->cq, irqflags);
	memset(wc, 0xa5, sizeof(*wc));
	KUNIT_ASSERT_EQ(test, kwarp_cq_poll(&t->cq.ibcq, 1, wc), 1);
	KUNIT_EXPECT_PTR_EQ(test, wc->qp, &qp);
}

static void test_poll_status(struct kunit *test)
{
	static const enum ib_wc_status want[] = {
		[KWARP_WC_SUCCESS]		= IB_WC_SUCCESS,
		[KWARP_WC_LOC_LEN_ERR]		= IB_WC_LOC_LEN_ERR,
		[KWARP_WC_LOC_PROT_ERR]		= IB_WC_LOC_PROT_ERR,
		[KWARP_WC_LOC_QP_OP_ERR]	= IB_WC_LOC_QP_OP_ERR,
		[KWARP_WC_FLUSH_ERR]		= IB_WC_WR_FLUSH_ERR,
		[KWARP_WC_REM_INV_REQ_ERR]	= IB_WC_REM_INV_REQ_ERR,
		[KWARP_WC_REM_ACCESS_ERR]	= IB_WC_REM_ACCESS_ERR,
		[KWARP_WC_REM_OP_ERR]		= IB_WC_REM_OP_ERR,
		[KWARP_WC_MW_BIND_ERR]		= IB_WC_MW_BIND_ERR,
		[KWARP_WC_FATAL_ERR]		= IB_WC_FATAL_ERR,
		[KWARP_WC_GENERAL_ERR]		= IB_WC_GENERAL_ERR,
		[KWARP_WC_RETRY_EXC_ERR]	= IB_WC_RETRY_EXC_ERR,
	};
	struct test_cq *t = test->priv;
	struct ib_wc wc;
	u32 i;

	BUILD_BUG_ON(ARRAY_SIZE(want) != KWARP_WC_MAX);
	make_kernel(test, &t->cq);
	for (i = 0; i <= U8_MAX; i++) {
		struct kwarp_cqe cqe = { .status = i, .vendor_err = 4000 + i };

		poll_one(test, &cqe, &wc);
		KUNIT_EXPECT_EQ_MSG(test, wc.status,
				    i < KWARP_WC_MAX ? want[i] : IB_WC_GENERAL_ERR,
				    "status %u", i);
		KUNIT_EXPECT_EQ(test, wc.vendor_err, i ? 4000 + i : 0);
		KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
	}
}

static void test_poll_opcode(struct kunit *test)
{
	static const struct {
		u8 cqe;
		enum ib_wc_opcode wc;
		int wc_flags;
	} cases[] = {
		{ KWARP_WR_WRITE, IB_WC_RDMA_WRITE },
		{ KWARP_WR_READ, IB_WC_RDMA_READ },
		{ KWARP_WR_READ_INV, IB_WC_RDMA_READ },
		{ KWARP_WR_SEND, IB_WC_SEND },
		{ KWARP_WR_SEND_INV, IB_WC_SEND },
		{ KWARP_WR_LOCAL_INV, IB_WC_LOCAL_INV },
		{ KWARP_WR_BIND_MW, IB_WC_BIND_MW },
		{ KWARP_WR_REG_MR, IB_WC_REG_MR },
		{ KWARP_WR_WRITE_IMM, IB_WC_RDMA_WRITE },
		{ KWARP_WR_FETCH_ADD, IB_WC_FETCH_ADD },
		{ KWARP_WR_CMP_SWAP, IB_WC_COMP_SWAP },
		{ KWARP_WR_MAX, IB_WC_SEND },
		{ KWARP_WC_RECV, IB_WC_RECV },
		{ KWARP_WC_RECV_INV, IB_WC_RECV, IB_WC_WITH_INVALIDATE },
		{ KWARP_WC_RECV_IMM, IB_WC_RECV_RDMA_WITH_IMM, IB_WC_WITH_IMM },
	};
	struct test_cq *t = test->priv;
	struct ib_wc wc;
	u32 i;

	make_kernel(test, &t->cq);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kwarp_cqe cqe = {
			.id = 1000 + i, .qpn = TEST_QPN, .byte_len = 2000 + i,
			.inv_stag = 3000 + i, .opcode = cases[i].cqe,
		};
		const u32 has_word = cases[i].wc_flags;

		poll_one(test, &cqe, &wc);
		KUNIT_EXPECT_EQ_MSG(test, wc.opcode, cases[i].wc, "opcode %u", cases[i].cqe);
		KUNIT_EXPECT_EQ_MSG(test, wc.wc_flags, cases[i].wc_flags,
				    "opcode %u", cases[i].cqe);
		KUNIT_EXPECT_EQ(test, wc.wr_id, 1000 + i);
		KUNIT_EXPECT_EQ(test, wc.byte_len, 2000 + i);
		KUNIT_EXPECT_EQ(test, wc.vendor_err, 0);
		/* inv_stag and imm are a union, as are invalidate_rkey and imm_data of wc.ex. */
		KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey,
				has_word ? cqe.inv_stag : 0);
	}
}

static struct kunit_case cq_kernel_cases[] = {
	KUNIT_CASE(test_notify_kernel),
	KUNIT_CASE(test_settle),
	KUNIT_CASE(test_settle_late),
	KUNIT_CASE(test_poll),
	KUNIT_CASE(test_forget),
	KUNIT_CASE(test_forget_skips),
	KUNIT_CASE(test_forget_many),
	KUNIT_CASE(test_poll_status),
	KUNIT_CASE(test_poll_opcode),
	{}
};

static struct kunit_suite cq_kernel_suite = {
	.name = "kwarp_cq_kernel",
	.init = cq_kernel_init,
	.test_cases = cq_kernel_cases,
};

kunit_test_suite(cq_kernel_suite);
