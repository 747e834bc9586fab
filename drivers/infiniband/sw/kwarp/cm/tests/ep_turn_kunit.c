// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of endpoints (connections): Requests that wait for their turn, log lines, and several
 * endpoints at a time. Sockets, queue pairs and iw_cm are fakes.
 *
 * Turn: a Request is passed to the ULP when the ULP has answered enough earlier Requests, or has
 * received none for KWARP_TURN_MS. An endpoint is evicted (ended) to make room for others if the
 * ULP has not accepted it yet.
 *
 * Numbers such as 6581-10-2 name requirements of RFCs, see Documentation/conformance.
 */
#include "happen.h"

/* ------------------------------------------------------------------ its turn */

/* The ULP answers an earlier Request: the waiting one is passed on at once. */
static void test_turn_comes(struct kunit *test)
{
	struct kwarp_listener *l = &fake.listener;

	ct_to_wait_turn(test);
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

/*
 * If the ULP answers no earlier Request, the timer of the first endpoint that waits expires after
 * KWARP_TURN_MS, and the Request of that endpoint is passed on.
 */
static void test_turn_timer(struct kunit *test)
{
	struct kwarp_ep *ep;

	ct_to_wait_turn(test);
	ep = ct_the_ep();
	KUNIT_ASSERT_TRUE(test, delayed_work_pending(&ep->timer));
	KUNIT_EXPECT_TRUE(test, time_before_eq(ep->timer.timer.expires,
					       jiffies + msecs_to_jiffies(KWARP_TURN_MS) + 1));
	msleep(KWARP_TURN_MS + 100);
	ct_take_request(test);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_ULP);
}

/*
 * The wait for a turn ends, because the time is over, the listener is gone or the endpoint is
 * evicted: the peer gets a Reply that rejects. A reset would make an initiator try revision 1
 * (6581-10-2).
 */
static void test_turn_refused(struct kunit *test)
{
	static void (*const ends[])(void) = { ct_timer_runs, ct_on_orphan, ct_on_evict };
	int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		ct_to_wait_turn(test);
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

/*
 * The listener has found an old endpoint, and has set the bit KWARP_EP_EVICT after the endpoint has
 * changed its state: the Request that the ULP has just got is not rejected.
 */
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

/* The kernel log says why a connection has failed; for a normal end it has no line. */
static const struct notice_case {
	const char *name;
	void (*go)(struct kunit *test);
	void (*happens)(void);
	const char *notice;
} notices[] = {
	{ "garbage for a Request", ct_to_wait_req, ct_on_garbage, "the peer broke the protocol" },
	{ "garbage for a Reply", ct_to_wait_rep, ct_on_garbage, "the peer broke the protocol" },
	{ "nobody listens", ct_to_connect, ct_on_refused,
	  "TCP did not connect: nothing listens there, or a firewall refuses" },
	{ "no route", ct_to_connect, ct_on_unreachable,
	  "TCP did not connect: no route, or no answer" },
	{ "TCP is reset", ct_to_connect, ct_on_dial_reset, "TCP did not connect" },
	{ "no Request", ct_to_wait_req, ct_timer_runs, "nothing came in time" },
	{ "no verdict", ct_to_wait_ulp, ct_timer_runs, "nothing came in time" },
	{ "reset", ct_to_wait_req, ct_on_reset, "lost before it was established" },
	{ "evicted", ct_to_wait_req, ct_on_evict, "gave way to others: too many are half-open" },
	{ "error", ct_to_stream, ct_on_down, "ended with an error" },
	{ "error before the first FPDU", ct_to_wait_fpdu, ct_on_down, "ended with an error" },
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
	if (c->notice)
		KUNIT_EXPECT_STREQ(test, fake.notice, c->notice);
	else
		KUNIT_EXPECT_NULL(test, fake.notice);
}

/* The line of an established connection that was lost depends on TCP's error. */
static void test_notice_lost(struct kunit *test)
{
	static const struct {
		int err;
		const char *notice;
	} losses[] = {
		{ -ECONNRESET, "lost: the peer has reset it (ECONNRESET)" },
		{ -EPIPE, "lost: the peer has reset it (ECONNRESET)" },
		{ -ETIMEDOUT, "lost: the peer did not answer for too long (ETIMEDOUT)" },
		{ -EHOSTUNREACH, "lost: there is no way to the peer any more (EHOSTUNREACH)" },
		{ -ENETUNREACH, "lost: there is no way to the peer any more (EHOSTUNREACH)" },
		{ -ECONNABORTED, "lost: ended on this machine, as by ss -K (ECONNABORTED)" },
		{ -EIO, "ended with an error" },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(losses); i++) {
		ct_to_stream(test);
		fake.sock->connect_err = losses[i].err;
		fake.notice = NULL;
		ct_on_down();
		ct_settle();
		KUNIT_EXPECT_STREQ(test, fake.notice, losses[i].notice);
		ct_again(test);
	}
}

/* Many failed connections of a listener do not hide that of another listener, or a connect. */
static void test_notice_limits(struct kunit *test)
{
	int i;

	ratelimit_set_flags(&fake.listener.notices, RATELIMIT_MSG_ON_RELEASE);
	for (i = 0; i < DEFAULT_RATELIMIT_BURST; i++)
		KUNIT_EXPECT_TRUE(test, __ratelimit(&fake.listener.notices));
	ct_to_wait_req(test);
	ct_on_garbage();
	ct_settle();
	KUNIT_EXPECT_NULL(test, fake.notice);
	ct_to_connect(test);
	ct_on_refused();
	ct_settle();
	KUNIT_EXPECT_NOT_NULL(test, fake.notice);
}

/*
 * TCP does not know the peer of a socket that never connected: the log line has the peer's address
 * from the id.
 */
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

/*
 * In state WAIT_TURN the endpoint looks at its socket when the socket has something new. That does
 * not extend the deadline of the state.
 */
static void test_turn_deadline(struct kunit *test)
{
	unsigned long deadline;
	int i;

	ct_to_wait_turn(test);
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

/* The end of a queue pair has no effect on endpoints of another queue pair. */
static void test_no_qp_is_own(struct kunit *test)
{
	struct kwarp_ep *ep;

	ct_to_connect(test);
	ep = ct_the_ep();
	kwarp_ep_mark_qp(&fake.qp[1]);
	KUNIT_EXPECT_EQ(test, ep->events & BIT(KWARP_EP_NO_QP), 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_CONNECT);
	kwarp_ep_mark_qp(&fake.qp[0]);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
}

/*
 * Make an endpoint that has chosen the queue pair @qpn; 0: none. The endpoint is in state NEW, in
 * which bits of ep->events stay set, so that a test can check them.
 */
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

static u32 looks;

static void note_look(struct kwarp_ep *ep)
{
	looks++;
}

/* ep->look() that sets a bit again in each call, as with a peer that sends all the time. */
static void look_and_mark(struct kwarp_ep *ep)
{
	note_look(ep);
	kwarp_ep_mark(ep, KWARP_EP_SOCK);
}

/*
 * kwarp_ep_unlock() calls ep->look() to handle the endpoint's bits, and calls it once more if a bit
 * was set while the endpoint was locked. After KWARP_RUN_LOOKS calls it leaves the rest to the work
 * item.
 */
static void test_unlock_looks(struct kunit *test)
{
	struct kwarp_ep *ep = half_made(test, 0);

	ep->look = note_look;
	looks = 0;
	kwarp_ep_lock(ep);
	kwarp_ep_mark(ep, KWARP_EP_SOCK);
	KUNIT_EXPECT_FALSE(test, work_pending(&ep->work));
	kwarp_ep_unlock(ep);
	KUNIT_EXPECT_EQ(test, looks, 2);
	KUNIT_EXPECT_FALSE(test, work_busy(&ep->work));
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->run), KWARP_RUN_IDLE);

	/*
	 * The endpoint's work item cannot run until ct_gate completes, so that the test can see it
	 * pending.
	 */
	reinit_completion(&ct_gate);
	queue_work(fake_cm_wq, &ct_gate_work);
	ep->look = look_and_mark;
	looks = 0;
	kwarp_ep_lock(ep);
	kwarp_ep_unlock(ep);
	KUNIT_EXPECT_EQ(test, looks, KWARP_RUN_LOOKS);
	KUNIT_EXPECT_TRUE(test, work_pending(&ep->work));
	ep->look = kwarp_ep_run;
	complete(&ct_gate);
	ct_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->run), KWARP_RUN_IDLE);
	undo_ep(ep);
}

/*
 * If TCP connects at once, the Request has been sent when connect() returns: 20 octets, and 4
 * octets of enhanced data (IRD and ORD).
 */
static void test_connect_at_once(struct kunit *test)
{
	fake.connected = true;
	KUNIT_ASSERT_EQ(test, ct_iw_connect(FAKE_QPN), 0);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_REP);
	KUNIT_EXPECT_EQ(test, fake.sock->tx_len, 20 + 4);
}

/*
 * kwarp_ep_mark_qp() sets KWARP_EP_NO_QP in all endpoints that have chosen the queue pair, and in
 * no others.
 */
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
	kwarp_ep_mark_qp(&fake.qp[0]);
	ct_settle();
	for (i = 1; i < ARRAY_SIZE(qpn); i++) {
		KUNIT_EXPECT_EQ_MSG(test, ep[i]->events, qpn[i] == FAKE_QPN ?
				    BIT(KWARP_EP_NO_QP) : 0, "endpoint %u", i);
		undo_ep(ep[i]);
	}
}

static struct kunit_case ep_turn_cases[] = {
	KUNIT_CASE(test_turn_comes),
	KUNIT_CASE_SLOW(test_turn_timer),
	KUNIT_CASE(test_turn_refused),
	KUNIT_CASE(test_evict_late),
	KUNIT_CASE_PARAM(test_notice, notice_gen_params),
	KUNIT_CASE(test_notice_lost),
	KUNIT_CASE(test_notice_limits),
	KUNIT_CASE(test_notice_peer),
	KUNIT_CASE(test_turn_deadline),
	KUNIT_CASE(test_no_qp_is_own),
	KUNIT_CASE(test_no_qp_of_several),
	KUNIT_CASE(test_unlock_looks),
	KUNIT_CASE(test_connect_at_once),
	{}
};

static struct kunit_suite ep_turn_suite = {
	.name = "kwarp_cm_turn",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = ep_turn_cases,
};

kunit_test_suite(ep_turn_suite);
