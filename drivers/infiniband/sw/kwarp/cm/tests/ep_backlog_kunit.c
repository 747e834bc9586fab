// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of endpoints (connections): Requests that wait in line, log lines, and several endpoints
 * at a time. Sockets, queue pairs and iw_cm are fakes.
 *
 * A Request is passed to the ULP when the ULP has answered enough earlier Requests, or has
 * received none for KWARP_BACKLOG_MS. An endpoint is evicted (ended) to make room for others if the
 * ULP has not accepted it yet.
 *
 * Numbers such as 6581-10-2 name requirements of RFCs, see Documentation/conformance.
 */
#include "happen.h"

/* ------------------------------------------------------------------- backlog */

/* The ULP answers an earlier Request: the waiting one is passed on at once. */
static void test_backlog_comes(struct kunit *test)
{
	struct kwarp_listener *l = &fake.listener;

	ct_to_wait_backlog(test);
	KUNIT_EXPECT_EQ(test, fake.requests, 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&l->waiting));
	spin_lock(&l->lock);
	l->asked--;
	fake.owed--;
	spin_unlock(&l->lock);
	kwarp_ep_mark(ct_the_ep(), KWARP_EP_SOCK);
	ct_take_request(test);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_ULP);
	KUNIT_EXPECT_TRUE(test, list_empty(&l->waiting));
	KUNIT_EXPECT_EQ(test, l->asked, l->backlog);
	KUNIT_ASSERT_EQ(test, ct_iw_accept(FAKE_QPN), 0);
	KUNIT_EXPECT_EQ(test, l->asked, l->backlog - 1);
}

/* The timer of the first endpoint that waits expires after KWARP_BACKLOG_MS. */
static void test_backlog_timer(struct kunit *test)
{
	struct kwarp_ep *ep;

	ct_to_wait_backlog(test);
	ep = ct_the_ep();
	KUNIT_ASSERT_TRUE(test, delayed_work_pending(&ep->timer));
	KUNIT_EXPECT_TRUE(test, time_before_eq(ep->timer.timer.expires,
					       jiffies + msecs_to_jiffies(KWARP_BACKLOG_MS) + 1));
	msleep(KWARP_BACKLOG_MS + 100);
	ct_take_request(test);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_ULP);
}

/*
 * The wait in line ends: the peer gets a Reply that rejects. A reset would make an initiator try
 * revision 1 (6581-10-2).
 */
static void test_backlog_refused(struct kunit *test)
{
	static void (*const ends[])(void) = { ct_timer_runs, ct_on_orphan, ct_on_evict };
	int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		ct_to_wait_backlog(test);
		ends[i]();
		ct_settle();
		KUNIT_EXPECT_EQ_MSG(test, ct_state(), KWARP_CMS_LINGER, "end %d", i);
		KUNIT_EXPECT_TRUE_MSG(test, ct_has_rejected(), "end %d", i);
		KUNIT_EXPECT_TRUE(test, fake.sock && fake.sock->fin);
		KUNIT_EXPECT_TRUE(test, list_empty(&fake.listener.waiting));
		KUNIT_EXPECT_EQ(test, fake.requests, 0);
		ct_again(test);
	}
}

/* KWARP_EP_EVICT is set after the endpoint has changed its state: the Request is not rejected. */
static void test_evict_late(struct kunit *test)
{
	ct_to_wait_ulp(test);
	kwarp_ep_mark(ct_the_ep(), KWARP_EP_EVICT);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_ULP);
	ct_on_evict();
	ct_settle();
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
}

/*
 * The kernel log and "kwarpctl why" say why a connection has failed; for a normal end there is no
 * line, and no record.
 */
static const struct notice_case {
	const char *name;
	void (*go)(struct kunit *test);
	void (*happens)(void);
	const char *notice;
	const char *why;
	enum kwarp_ended_kind kind;
	u32 qpn;
} notices[] = {
	{ "garbage for a Request", ct_to_wait_req, ct_on_garbage, "the peer broke the protocol",
	  "NOT_MPA", KWARP_ENDED_INBOUND },
	{ "garbage for a Reply", ct_to_wait_rep, ct_on_garbage, "the peer broke the protocol",
	  "NOT_MPA", KWARP_ENDED_STARTUP, FAKE_QPN },
	{ "nobody listens", ct_to_connect, ct_on_refused,
	  "TCP did not connect: nothing listens there, or a firewall refuses",
	  "NO_LISTENER", KWARP_ENDED_STARTUP, FAKE_QPN },
	{ "no route", ct_to_connect, ct_on_unreachable,
	  "TCP did not connect: no route, or no answer",
	  "NO_ANSWER", KWARP_ENDED_STARTUP, FAKE_QPN },
	{ "TCP is silent", ct_to_connect, ct_timer_runs,
	  "TCP did not connect: no route, or no answer",
	  "NO_ANSWER", KWARP_ENDED_STARTUP, FAKE_QPN },
	{ "TCP is reset", ct_to_connect, ct_on_connect_reset, "TCP did not connect",
	  "NO_TCP", KWARP_ENDED_STARTUP, FAKE_QPN },
	{ "no Reply", ct_to_wait_rep, ct_timer_runs,
	  "TCP has connected, and no MPA Reply came in time",
	  "NO_REPLY", KWARP_ENDED_STARTUP, FAKE_QPN },
	{ "no Request", ct_to_wait_req, ct_timer_runs, "no MPA Request came in time",
	  "NO_REQUEST", KWARP_ENDED_INBOUND },
	{ "no verdict", ct_to_wait_ulp, ct_timer_runs,
	  "the program here did not accept it in time", "NO_ACCEPT", KWARP_ENDED_INBOUND },
	{ "no FPDU", ct_to_wait_fpdu, ct_timer_runs,
	  "it was accepted, and the peer's first message did not come in time",
	  "NO_MESSAGE", KWARP_ENDED_INBOUND, FAKE_QPN },
	{ "reset", ct_to_wait_req, ct_on_reset, "lost before it was established",
	  "CLOSED", KWARP_ENDED_INBOUND },
	{ "FIN for the first FPDU", ct_to_wait_fpdu, ct_on_peer_closed,
	  "lost before it was established", "CLOSED", KWARP_ENDED_INBOUND, FAKE_QPN },
	{ "evicted", ct_to_wait_req, ct_on_evict, "gave way to others: too many are half-open",
	  "EVICTED", KWARP_ENDED_INBOUND },
	/* It is no fault, and nobody is to look for one. */
	{ "a question of kwarpctl doctor", ct_to_wait_req, ct_on_probe },
	/* That is told by the queue pair. */
	{ "error", ct_to_stream, ct_on_down },
	{ "error before the first FPDU", ct_to_wait_fpdu, ct_on_down },
	{ "good end", ct_to_stream, ct_on_down_fin },
	{ "linger", ct_to_linger, ct_timer_runs },
	{ "device goes", ct_to_wait_req, ct_on_abort },
};

KUNIT_ARRAY_PARAM_DESC(notice, notices, name);

static void test_notice(struct kunit *test)
{
	const struct notice_case *c = test->param_value;

	c->go(test);
	fake.notice = NULL;
	c->happens();
	ct_settle();
	KUNIT_EXPECT_STREQ(test, fake.notice ?: "", c->notice ?: "");
	KUNIT_EXPECT_STREQ(test, fake.told.no_start ?: "", c->why ?: "");
	KUNIT_EXPECT_STREQ(test, fake.told.no_start_text ?: "", c->notice ?: "");
	KUNIT_EXPECT_EQ(test, fake.told.kind, c->kind);
	KUNIT_EXPECT_EQ(test, fake.told.qpn, c->qpn);
}

/* kwarpctl doctor does not let the count grow that it warns of. */
static void test_probe(struct kunit *test)
{
	atomic_long_t *counts = fake.kdev->stats.cm[KWARP_CMS_WAIT_REQ];

	ct_to_wait_req(test);
	ct_on_probe();
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&counts[KWARP_CME_BAD]), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&counts[KWARP_CME_LOST]), 1);
}

/* Knobs of the two ends that do not fit: the initiator says which. No line if a program rejects. */
static const struct knob_case {
	const char *name;
	enum kwarp_crc_policy crc;
	bool markers;
	struct kwarp_mpa_frame reply;
	const char *why;
	bool line;
} knobs[] = {
	{ "a program rejects", KWARP_CRC_OFF, false,
	  { .reply = true, .rev = 2, .enhanced = true, .reject = true }, "REJECTED", false },
	{ "a program rejects, CRC is on", KWARP_CRC_ON, false,
	  { .reply = true, .rev = 2, .enhanced = true, .reject = true, .crc = true },
	  "REJECTED", false },
	{ "the peer requires CRC", KWARP_CRC_OFF, false,
	  { .reply = true, .rev = 2, .enhanced = true, .reject = true, .crc = true },
	  "REJECTED_CRC", true },
	{ "CRC is required here", KWARP_CRC_REQUIRED, false,
	  { .reply = true, .rev = 2, .enhanced = true }, "CRC_REQUIRED", true },
	{ "the peer has no markers", KWARP_CRC_OFF, true,
	  { .reply = true, .rev = 2, .enhanced = true, .reject = true },
	  "REJECTED_MARKERS", true },
	{ "more Reads than this end can serve", KWARP_CRC_OFF, false,
	  { .reply = true, .rev = 2, .enhanced = true, .ird = 1, .ord = KWARP_MAX_IRD + 1 },
	  "REPLY_LESS", true },
};

KUNIT_ARRAY_PARAM_DESC(knob, knobs, name);

static void test_knobs(struct kunit *test)
{
	const struct knob_case *c = test->param_value;

	fake.kdev->knobs.crc = c->crc;
	fake.kdev->knobs.markers = c->markers;
	ct_to_wait_rep(test);
	fake.sock->rx_len = kwarp_mpa_frame_encode(fake.sock->rx, &c->reply);
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_STREQ(test, fake.told.no_start ?: "", c->why);
	KUNIT_EXPECT_EQ(test, fake.told.kind, KWARP_ENDED_STARTUP);
	KUNIT_EXPECT_EQ(test, !!fake.notice, c->line);
}

/* A Request without CRC is refused here, by the knob: no program here is asked. */
static void test_crc_refused(struct kunit *test)
{
	fake.kdev->knobs.crc = KWARP_CRC_REQUIRED;
	ct_to_wait_req(test);
	ct_peer_frame(false, 2, false, false);
	ct_settle();
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
	KUNIT_EXPECT_STREQ(test, fake.told.no_start ?: "", "CRC_REQUIRED");
	KUNIT_EXPECT_EQ(test, fake.told.kind, KWARP_ENDED_INBOUND);
}

/* Many failed connections of listeners do not hide a connect. */
static void test_notice_limits(struct kunit *test)
{
	int i;

	for (i = 0; i < DEFAULT_RATELIMIT_BURST; i++)
		KUNIT_EXPECT_TRUE(test, __ratelimit(&fake.kdev->cm.notices[1]));
	ct_to_wait_req(test);
	ct_on_garbage();
	ct_settle();
	KUNIT_EXPECT_NULL(test, fake.notice);
	ct_to_connect(test);
	ct_on_refused();
	ct_settle();
	KUNIT_EXPECT_NOT_NULL(test, fake.notice);
}

/* TCP does not know the peer of a socket that never connected: the address is from the id. */
static void test_notice_peer(struct kunit *test)
{
	struct sockaddr_storage *peer = &fake.id.id.m_remote_addr;

	peer->ss_family = AF_INET;
	((struct sockaddr_in *)peer)->sin_port = htons(7471);
	ct_to_connect(test);
	ct_on_refused();
	ct_settle();
	KUNIT_EXPECT_MEMEQ(test, &fake.notice_peer, peer, sizeof(*peer));
}

/* A look at the socket does not extend the deadline of the state. */
static void test_backlog_deadline(struct kunit *test)
{
	unsigned long deadline;
	int i;

	ct_to_wait_backlog(test);
	deadline = jiffies + HZ / 10;
	ct_the_ep()->due.deadline = deadline;
	for (i = 0; i < 3; i++) {
		ct_sock_event();
		ct_settle();
		KUNIT_EXPECT_EQ(test, ct_the_ep()->due.deadline, deadline);
		KUNIT_EXPECT_TRUE(test, time_before_eq(ct_the_ep()->timer.timer.expires,
						       deadline + 1));
	}
}

/* ------------------------------------------------------------- one of many */

static void test_no_qp_is_own(struct kunit *test)
{
	struct kwarp_ep *ep;

	ct_to_connect(test);
	ep = ct_the_ep();
	kwarp_cm_drop_qp(&fake.qp[1]);
	KUNIT_EXPECT_EQ(test, ep->events & BIT(KWARP_EP_NO_QP), 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_CONNECT);
	kwarp_cm_drop_qp(&fake.qp[0]);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
}

/* In state NEW bits of ep->events stay set, so that a test can check them. */
static struct kwarp_ep *half_made(struct kunit *test, u32 qpn)
{
	struct kwarp_ep *ep = kwarp_ep_create(fake.kdev, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ep));
	mutex_lock(&ep->mutex);
	if (qpn)
		KUNIT_EXPECT_EQ(test, kwarp_ep_bind_qp(ep, &fake.id.id, qpn), 0);
	mutex_unlock(&ep->mutex);
	return ep;
}

static void undo_ep(struct kwarp_ep *ep)
{
	mutex_lock(&ep->mutex);
	kwarp_ep_apply(ep, KWARP_CME_LOCAL);
	mutex_unlock(&ep->mutex);
	kwarp_ep_put(ep);
}

static u32 calls;

static void note_call(struct kwarp_ep *ep)
{
	calls++;
}

/* Sets a bit again in each call, as with a peer that sends all the time. */
static void note_and_mark(struct kwarp_ep *ep)
{
	note_call(ep);
	kwarp_ep_mark(ep, KWARP_EP_SOCK);
}

/* After KWARP_RUN_ROUNDS calls kwarp_ep_unlock() leaves the rest to the work item. */
static void test_unlock_calls(struct kunit *test)
{
	struct kwarp_ep *ep = half_made(test, 0);

	ep->handle_events = note_call;
	calls = 0;
	kwarp_ep_lock(ep);
	kwarp_ep_mark(ep, KWARP_EP_SOCK);
	KUNIT_EXPECT_FALSE(test, work_pending(&ep->work));
	kwarp_ep_unlock(ep);
	KUNIT_EXPECT_EQ(test, calls, 2);
	KUNIT_EXPECT_FALSE(test, work_busy(&ep->work));
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->run), KWARP_RUN_IDLE);

	/* The work item cannot run until ct_gate completes, so that the test can see it pending. */
	reinit_completion(&ct_gate);
	queue_work(kwarp_cm_wq, &ct_gate_work);
	ep->handle_events = note_and_mark;
	calls = 0;
	kwarp_ep_lock(ep);
	kwarp_ep_unlock(ep);
	KUNIT_EXPECT_EQ(test, calls, KWARP_RUN_ROUNDS);
	KUNIT_EXPECT_TRUE(test, work_pending(&ep->work));
	ep->handle_events = kwarp_ep_run;
	complete(&ct_gate);
	ct_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->run), KWARP_RUN_IDLE);
	undo_ep(ep);
}

/* The Request has 20 octets, and 4 octets of enhanced data (IRD and ORD). */
static void test_connect_at_once(struct kunit *test)
{
	fake.connected = true;
	KUNIT_ASSERT_EQ(test, ct_iw_connect(FAKE_QPN), 0);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_REP);
	KUNIT_EXPECT_EQ(test, fake.sock->tx_len, 20 + 4);
}

static void test_no_qp_of_several(struct kunit *test)
{
	static const u32 qpn[] = { FAKE_QPN, FAKE_QPN + 1, FAKE_QPN, 0, FAKE_QPN };
	struct kwarp_ep *ep[ARRAY_SIZE(qpn)];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(qpn); i++)
		ep[i] = half_made(test, qpn[i]);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 4);
	undo_ep(ep[0]);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 3);
	kwarp_cm_drop_qp(&fake.qp[0]);
	ct_settle();
	for (i = 1; i < ARRAY_SIZE(qpn); i++) {
		KUNIT_EXPECT_EQ_MSG(test, ep[i]->events, qpn[i] == FAKE_QPN ?
				    BIT(KWARP_EP_NO_QP) : 0, "endpoint %u", i);
		undo_ep(ep[i]);
	}
}

static struct kunit_case ep_backlog_cases[] = {
	KUNIT_CASE(test_backlog_comes),
	KUNIT_CASE_SLOW(test_backlog_timer),
	KUNIT_CASE(test_backlog_refused),
	KUNIT_CASE(test_evict_late),
	KUNIT_CASE_PARAM(test_notice, notice_gen_params),
	KUNIT_CASE(test_probe),
	KUNIT_CASE_PARAM(test_knobs, knob_gen_params),
	KUNIT_CASE(test_crc_refused),
	KUNIT_CASE(test_notice_limits),
	KUNIT_CASE(test_notice_peer),
	KUNIT_CASE(test_backlog_deadline),
	KUNIT_CASE(test_no_qp_is_own),
	KUNIT_CASE(test_no_qp_of_several),
	KUNIT_CASE(test_unlock_calls),
	KUNIT_CASE(test_connect_at_once),
	{}
};

static struct kunit_suite ep_backlog_suite = {
	.name = "kwarp_cm_backlog",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = ep_backlog_cases,
};

kunit_test_suite(ep_backlog_suite);
