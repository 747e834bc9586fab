// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of injected faults in the transmit step. */
#include "tx_fixture.h"

#include <linux/jiffies.h>

#include "../../fault.h"
#include "../../tests/doors.h"

static int fault_init(struct kunit *test)
{
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);
	int ret = tx_test_init(test);
	struct tx_test *t = test->priv;

	if (ret || !kdev)
		return ret ?: -ENOMEM;
	t->qp.device = &kdev->ibdev;
	return 0;
}

static void fault_exit(struct kunit *test)
{
	kwarp_fault_exit();
}

static int inject(struct kunit *test, enum kwarp_fault kind, u32 arg, u32 skip)
{
	struct kwarp_fault_rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	int id;

	KUNIT_ASSERT_NOT_NULL(test, rule);
	rule->kind = kind;
	rule->arg = arg;
	rule->skip = skip;
	rule->times = 1;
	rule->percent = 100;
	rule->admin = true;
	id = kwarp_fault_add(rule);
	KUNIT_ASSERT_GT(test, id, 0);
	return id;
}

static void post_two(struct tx_test *t)
{
	tx_post(t, KWARP_WR_SEND, 0, 4);
	tx_post(t, KWARP_WR_SEND, 0, 4);
}

/* The first message is sent; instead of the second one comes the Terminate. */
static void test_terminate(struct kunit *test)
{
	struct tx_test *t = test->priv;

	inject(test, KWARP_FAULT_TERMINATE, KWARP_PERR_DDP_U_NOBUF, 1);
	post_two(t);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_DDP_U_NOBUF);
	KUNIT_EXPECT_EQ(test, t->e.refused.why, KWARP_WHY_INJECTED);
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 2);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[0].hdr.opcode, KWARP_OP_SEND);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[1].hdr.opcode, KWARP_OP_TERM);
}

/* The message is not sent.  (The fixture sends a Terminate after each error.) */
static void test_reset(struct kunit *test)
{
	struct tx_test *t = test->priv;

	inject(test, KWARP_FAULT_RESET, 1, 0);
	post_two(t);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_MPA_LOST);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RESET, &t->e.flags));
	KUNIT_ASSERT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, t->tcp.seg[0].hdr.opcode, KWARP_OP_TERM);
}

/* What is posted is sent first. */
static void test_close(struct kunit *test)
{
	struct tx_test *t = test->priv;

	inject(test, KWARP_FAULT_CLOSE, 1, 0);
	post_two(t);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->event, KWARP_QPE_CLOSE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2);
}

/* The message that is stalled is sent later, once; the one before it at once. */
static void test_stall(struct kunit *test)
{
	struct tx_test *t = test->priv;

	inject(test, KWARP_FAULT_STALL, 60000, 1);
	post_two(t);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_STALLED);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_STALLED);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 1);
	t->e.tx.stalled = jiffies - 1;
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2);
}

/* So it is with the first message, and when the rule goes meanwhile. */
static void test_stall_ends(struct kunit *test)
{
	struct tx_test *t = test->priv;

	inject(test, KWARP_FAULT_STALL, 60000, 0);
	post_two(t);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_STALLED);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 0);
	kwarp_fault_forget(NULL, NULL);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2);
}

/* Whatever other rules there are. */
static void test_stall_others(struct kunit *test)
{
	struct tx_test *t = test->priv;
	int id = inject(test, KWARP_FAULT_STALL, 60000, 0);
	const struct kwarp_fault_which which = { .all = true, .id = id };

	inject(test, KWARP_FAULT_CREATE, 5, 0);
	post_two(t);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_STALLED);
	KUNIT_EXPECT_EQ(test, kwarp_fault_drop(&which), 1);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2);
}

static void forget_and_reset(struct kwarp_batch *b)
{
	kwarp_fault_forget(NULL, NULL);
	kwarp_real(kwarp_batch_reset, b);
}

/* The rule goes in the step that stalls the message: there is no later event to send it. */
static void test_stall_gone(struct kunit *test)
{
	struct tx_test *t = test->priv;

	inject(test, KWARP_FAULT_STALL, 60000, 0);
	post_two(t);
	kwarp_stub(test, kwarp_batch_reset, forget_and_reset);
	KUNIT_EXPECT_EQ(test, kwarp_tx_step(&t->e), KWARP_TX_MORE);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 0);
	tx_run(test);
	KUNIT_EXPECT_EQ(test, t->tcp.sent, 2);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(test_terminate),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_close),
	KUNIT_CASE(test_stall),
	KUNIT_CASE(test_stall_ends),
	KUNIT_CASE(test_stall_others),
	KUNIT_CASE(test_stall_gone),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "kwarp_tx_fault",
	.init = fault_init,
	.exit = fault_exit,
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);
