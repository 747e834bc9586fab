// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of endpoints (connections): every state, with every event, and the state that an operator
 * can read. Sockets, queue pairs and iw_cm are fakes (fake.h).
 */
#include <linux/delay.h>

#include "happen.h"

static const struct way {
	const char *name;
	void (*go)(struct kunit *test);
	enum kwarp_cm_state state;
} ways[] = {
	{ "CONNECT", ct_to_connect, KWARP_CMS_CONNECT },
	{ "SEND_REQ", ct_to_send_req, KWARP_CMS_SEND_REQ },
	{ "WAIT_REP", ct_to_wait_rep, KWARP_CMS_WAIT_REP },
	{ "WAIT_REQ", ct_to_wait_req, KWARP_CMS_WAIT_REQ },
	{ "WAIT_BACKLOG", ct_to_wait_backlog, KWARP_CMS_WAIT_BACKLOG },
	{ "WAIT_ULP", ct_to_wait_ulp, KWARP_CMS_WAIT_ULP },
	{ "SEND_REP", ct_to_send_rep, KWARP_CMS_SEND_REP },
	{ "WAIT_FPDU", ct_to_wait_fpdu, KWARP_CMS_WAIT_FPDU },
	{ "SEND_REJ", ct_to_send_rej, KWARP_CMS_SEND_REJ },
	{ "SEND_TERM", ct_to_send_term, KWARP_CMS_SEND_TERM },
	{ "STREAM", ct_to_stream, KWARP_CMS_STREAM },
	{ "STREAM of a responder", ct_to_stream_resp, KWARP_CMS_STREAM },
	{ "CLOSED", ct_to_closed, KWARP_CMS_CLOSED },
	{ "LINGER", ct_to_linger, KWARP_CMS_LINGER },
};

KUNIT_ARRAY_PARAM_DESC(way, ways, name);

/* ----------------------------------------------------- what happens in each state */

static void (* const happenings[])(void) = {
	ct_on_nothing, ct_timer_runs, ct_on_abort, ct_on_no_qp, ct_on_orphan, ct_on_evict,
	ct_on_fin, ct_on_reset, ct_on_tx_error, ct_on_garbage, ct_on_down, ct_on_down_fin,
	ct_on_peer_closed, ct_on_device_end, ct_on_device_retires,
};

/*
 * ct_gate keeps the endpoint's work item from running until both events have happened, so that the
 * bits of both can be handled together. Then the second event happens once more.
 */
static void test_state(struct kunit *test)
{
	const struct way *way = test->param_value;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(happenings); i++) {
		for (j = 0; j < ARRAY_SIZE(happenings); j++) {
			way->go(test);
			KUNIT_ASSERT_EQ(test, ct_state(), way->state);
			reinit_completion(&ct_gate);
			queue_work(kwarp_cm_wq, &ct_gate_work);
			happenings[i]();
			happenings[j]();
			complete(&ct_gate);
			ct_settle();
			happenings[j]();
			ct_again(test);
		}
	}
}

/* Check the timer of the case's state: it expires after @seconds[state]; 0: there is no timer. */
static void expect_timer(struct kunit *test, const u32 *seconds)
{
	const struct way *way = test->param_value;
	unsigned long start = jiffies;
	u32 s = seconds[way->state];

	way->go(test);
	KUNIT_ASSERT_NOT_NULL(test, ct_the_ep());
	KUNIT_EXPECT_EQ(test, ct_the_ep()->due.kind != KWARP_CMT_NONE, s != 0);
	if (!s)
		return;
	KUNIT_EXPECT_TRUE(test, time_after_eq(ct_the_ep()->due.deadline, start + s * HZ));
	KUNIT_EXPECT_TRUE(test, time_before_eq(ct_the_ep()->due.deadline, jiffies + s * HZ));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&ct_the_ep()->timer));
}

static void test_state_timer(struct kunit *test)
{
	static const u32 seconds[KWARP_CMS_COUNT] = {
		[KWARP_CMS_CONNECT] = 30, [KWARP_CMS_SEND_REQ] = 30, [KWARP_CMS_WAIT_REP] = 30,
		[KWARP_CMS_WAIT_REQ] = 10, [KWARP_CMS_WAIT_BACKLOG] = 25,
		[KWARP_CMS_WAIT_ULP] = 120,
		[KWARP_CMS_SEND_REP] = 10, [KWARP_CMS_WAIT_FPDU] = 10,
		[KWARP_CMS_SEND_REJ] = 10, [KWARP_CMS_SEND_TERM] = 2, [KWARP_CMS_LINGER] = 5,
	};

	expect_timer(test, seconds);
}

static void test_knob_timer(struct kunit *test)
{
	static const u32 seconds[KWARP_CMS_COUNT] = {
		[KWARP_CMS_CONNECT] = 77, [KWARP_CMS_SEND_REQ] = 77, [KWARP_CMS_WAIT_REP] = 77,
		[KWARP_CMS_WAIT_REQ] = 33, [KWARP_CMS_WAIT_BACKLOG] = 25,
		[KWARP_CMS_WAIT_ULP] = 120,
		[KWARP_CMS_SEND_REP] = 33, [KWARP_CMS_WAIT_FPDU] = 33,
		[KWARP_CMS_SEND_REJ] = 33, [KWARP_CMS_SEND_TERM] = 2, [KWARP_CMS_LINGER] = 44,
	};

	fake.kdev->knobs.connect_timeout = 77;
	fake.kdev->knobs.startup_timeout = 33;
	fake.kdev->knobs.linger_timeout = 44;
	expect_timer(test, seconds);
}

/* If startup is over, or has failed, the connection stays. */
static void test_retire(struct kunit *test)
{
	const struct way *way = test->param_value;

	way->go(test);
	kwarp_cm_retire(fake.kdev);
	ct_settle();
	if (way->state < KWARP_CMS_SEND_REJ) {
		KUNIT_EXPECT_TRUE(test, ct_state() == KWARP_CMS_DEAD || fake.qp[0].closed);
		return;
	}
	KUNIT_EXPECT_EQ(test, ct_state(), way->state);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
	/* The stream can still be closed in the usual way. */
	if (way->state == KWARP_CMS_STREAM) {
		ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
		ct_settle();
		KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_LINGER);
	}
}

/* The peer sends no valid Reply, so CONNECT_REPLY reports an error, and no CLOSE follows. */
static void test_connect_answered(struct kunit *test)
{
	int i;

	for (i = 1; i < ARRAY_SIZE(happenings); i++) {
		ct_to_wait_rep(test);
		happenings[i]();
		ct_settle();
		kwarp_cm_stop_device(fake.kdev);
		ct_settle();
		KUNIT_EXPECT_EQ_MSG(test, fake.id.replies, 1, "happening %d", i);
		KUNIT_EXPECT_NE_MSG(test, fake.id.status, 0, "happening %d", i);
		KUNIT_EXPECT_EQ(test, fake.id.closes, 0);
		ct_again(test);
	}
}

/* The peer sends no FPDU, so ESTABLISHED reports an error, and exactly one CLOSE follows. */
static void test_accept_answered(struct kunit *test)
{
	int i;

	for (i = 1; i < ARRAY_SIZE(happenings); i++) {
		ct_to_wait_fpdu(test);
		KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
		happenings[i]();
		ct_settle();
		kwarp_cm_stop_device(fake.kdev);
		ct_settle();
		KUNIT_EXPECT_EQ_MSG(test, fake.id.ests, 1, "happening %d", i);
		KUNIT_EXPECT_EQ_MSG(test, fake.id.closes, 1, "happening %d", i);
		ct_again(test);
	}
}

/*
 * The process that has called connect or accept ends: while iw_cm waits for the answer of the call,
 * the connection fails soon. In other states, and if the kernel has called, nothing happens.
 */
static void expect_end_with_caller(struct kunit *test, bool ends)
{
	const struct way *way = test->param_value;
	int ms;

	way->go(test);
	KUNIT_ASSERT_EQ(test, ct_state(), way->state);
	fake.caller_ends = true;
	for (ms = 0; ms < 4 * KWARP_CALLER_MS && !(fake.id.replies || fake.id.ests); ms += 20) {
		msleep(20);
		ct_settle();
		if (!ends && ms > KWARP_CALLER_MS + 50)
			break;
	}
	if (!ends) {
		KUNIT_EXPECT_EQ(test, ct_state(), way->state);
		return;
	}
	KUNIT_EXPECT_EQ(test, fake.id.replies + fake.id.ests, 1);
	KUNIT_EXPECT_NE(test, fake.id.status | fake.id.closes, 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
}

static void test_caller_ends(struct kunit *test)
{
	const struct way *way = test->param_value;
	const u32 waits = BIT(KWARP_CMS_CONNECT) | BIT(KWARP_CMS_SEND_REQ) |
			  BIT(KWARP_CMS_WAIT_REP) | BIT(KWARP_CMS_SEND_REP) |
			  BIT(KWARP_CMS_WAIT_FPDU);

	expect_end_with_caller(test, waits & BIT(way->state));
}

static void test_kernel_calls(struct kunit *test)
{
	fake.id.rdma.qp = &fake.qp[0].ib;
	fake.qp[0].ib.uobject = NULL;
	expect_end_with_caller(test, false);
}

/* -------------------------------------------------------- what an operator is told */

/* kwarp_cm_describe() finds an id's endpoint from connect or accept until the last upcall. */
static void test_described(struct kunit *test)
{
	const struct way *way = test->param_value;
	const bool initiator = way->state <= KWARP_CMS_WAIT_REP || way->go == ct_to_stream;
	struct kwarp_cm_info info = {};
	struct iw_cm_id other;
	bool has_id;

	way->go(test);
	has_id = ct_the_ep()->cm_id;
	if (initiator || way->go == ct_to_stream_resp)
		KUNIT_EXPECT_TRUE(test, has_id);
	KUNIT_EXPECT_EQ(test, kwarp_cm_describe(fake.kdev, &fake.id.id, &info), has_id);
	if (has_id) {
		KUNIT_EXPECT_STREQ(test, info.state, kwarp_cm_state_name(way->state));
		KUNIT_EXPECT_STREQ(test, info.role, initiator ? "initiator" : "responder");
		KUNIT_EXPECT_EQ(test, info.timed, ct_the_ep()->due.kind != KWARP_CMT_NONE);
	}
	KUNIT_EXPECT_FALSE(test, kwarp_cm_describe(fake.kdev, &other, &info));
}

static void test_described_times(struct kunit *test)
{
	struct kwarp_cm_info info = {};
	struct kwarp_ep *ep;

	ct_to_wait_rep(test);
	ep = ct_the_ep();
	ep->since = jiffies - 3 * HZ;
	ep->due.deadline = jiffies + 5 * HZ;
	KUNIT_EXPECT_TRUE(test, kwarp_cm_describe(fake.kdev, &fake.id.id, &info));
	KUNIT_EXPECT_GE(test, info.state_ms, 3000);
	KUNIT_EXPECT_LT(test, info.state_ms, 4000);
	KUNIT_EXPECT_LE(test, info.ends_ms, 5000);
	KUNIT_EXPECT_GT(test, info.ends_ms, 4000);
	/* The deadline has passed, but the endpoint has not handled it yet: no time is left. */
	ep->due.deadline = jiffies - HZ;
	KUNIT_EXPECT_TRUE(test, kwarp_cm_describe(fake.kdev, &fake.id.id, &info));
	KUNIT_EXPECT_TRUE(test, info.timed);
	KUNIT_EXPECT_EQ(test, info.ends_ms, 0);
}

static void test_described_listener(struct kunit *test)
{
	struct kwarp_listener *l = &fake.listener;
	struct iw_cm_id *cm_id = l->cm_id;
	struct kwarp_cm_info info = {};

	hash_add(fake.kdev->cm.listener_ids, &l->id_node, (unsigned long)cm_id);
	KUNIT_EXPECT_FALSE_MSG(test, kwarp_cm_describe(fake.kdev, cm_id, &info), "no socket");
	l->cs.sock = (struct socket *)&fake;	/* any pointer: the fakes do not read it */
	l->asked = 2;
	KUNIT_EXPECT_TRUE(test, kwarp_cm_describe(fake.kdev, cm_id, &info));
	KUNIT_EXPECT_STREQ(test, info.role, "listener");
	KUNIT_EXPECT_PTR_EQ(test, info.state, NULL);
	KUNIT_EXPECT_EQ(test, info.backlog, l->backlog);
	KUNIT_EXPECT_EQ(test, info.queued, FAKE_QUEUED);
	KUNIT_EXPECT_EQ(test, info.asked, 2);
	l->cm_id = NULL;
	KUNIT_EXPECT_FALSE_MSG(test, kwarp_cm_describe(fake.kdev, cm_id, &info), "no id");
	l->cm_id = cm_id;
	l->asked = 0;
	l->cs.sock = NULL;
	hash_del(&l->id_node);
}

static void test_actions_complete(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ct_actions_without_function(), 0);
}

static struct kunit_case ep_cases[] = {
	KUNIT_CASE(test_actions_complete),
	KUNIT_CASE_PARAM(test_described, way_gen_params),
	KUNIT_CASE(test_described_times),
	KUNIT_CASE(test_described_listener),
	KUNIT_CASE_PARAM(test_state, way_gen_params),
	KUNIT_CASE_PARAM(test_retire, way_gen_params),
	KUNIT_CASE_PARAM(test_state_timer, way_gen_params),
	KUNIT_CASE_PARAM(test_knob_timer, way_gen_params),
	KUNIT_CASE(test_connect_answered),
	KUNIT_CASE(test_accept_answered),
	KUNIT_CASE_PARAM(test_caller_ends, way_gen_params),
	KUNIT_CASE_PARAM(test_kernel_calls, way_gen_params),
	{}
};

static struct kunit_suite ep_suite = {
	.name = "kwarp_cm",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = ep_cases,
};

kunit_test_suite(ep_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's connection management");
MODULE_LICENSE("Dual BSD/GPL");
