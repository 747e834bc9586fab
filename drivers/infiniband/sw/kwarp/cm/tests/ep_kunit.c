// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of endpoints: every state, with every event, and with every call failing. See fixture.h for
 * the environment, and for the checks at the end of each case.
 */
#include <linux/delay.h>

#include "fixture.h"

static const struct way {
	const char *name;
	void (*go)(struct kunit *test);
	enum kwarp_cm_state state;
} ways[] = {
	{ "CONNECT", ct_to_connect, KWARP_CMS_CONNECT },
	{ "SEND_REQ", ct_to_send_req, KWARP_CMS_SEND_REQ },
	{ "WAIT_REP", ct_to_wait_rep, KWARP_CMS_WAIT_REP },
	{ "WAIT_REQ", ct_to_wait_req, KWARP_CMS_WAIT_REQ },
	{ "WAIT_TURN", ct_to_wait_turn, KWARP_CMS_WAIT_TURN },
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

static void mark_ep(int bit)
{
	if (ct_the_ep())
		kwarp_ep_mark(ct_the_ep(), bit);
}

static void on_abort(void)
{
	mark_ep(KWARP_EP_ABORT);
}

static void on_no_qp(void)
{
	kwarp_ep_mark_qp(&fake.qp[0]);
}

static void on_orphan(void)
{
	mark_ep(KWARP_EP_ORPHAN);
}

static void on_evict(void)
{
	mark_ep(KWARP_EP_EVICT);
}

static void on_fin(void)
{
	if (fake.sock && !ct_attached())
		ct_peer_ends(0);
}

static void on_reset(void)
{
	if (fake.sock && !ct_attached())
		ct_peer_ends(-ECONNRESET);
}

static void dial_ends(int err)
{
	fake.sock->connect_err = err;
	ct_sock_event();
}

static void on_refused(void)
{
	dial_ends(-ECONNREFUSED);
}

static void on_unreachable(void)
{
	dial_ends(-EHOSTUNREACH);
}

static void on_dial_reset(void)
{
	dial_ends(-ECONNRESET);
}

static void on_tx_error(void)
{
	if (!fake.sock || ct_attached())
		return;
	fake.sock->tx_err = -EPIPE;
	ct_sock_event();
}

static void on_garbage(void)
{
	if (!fake.sock || ct_attached())
		return;
	memset(fake.sock->rx, 'x', 40);
	fake.sock->rx_len = 40;
	ct_sock_event();
}

static void on_down(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, false);
}

static void on_down_fin(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
}

static void on_peer_closed(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		ct_stream_says(&fake.qp[0], KWARP_STREAM_PEER_CLOSED, true);
}

static void on_device_end(void)
{
	kwarp_cm_begin_stop(fake.kdev);
}

static void on_device_retires(void)
{
	kwarp_cm_retire(fake.kdev);
}

static void on_nothing(void)
{
	ct_sock_event();
}

static void (* const happenings[])(void) = {
	on_nothing, ct_timer_runs, on_abort, on_no_qp, on_orphan, on_evict, on_fin, on_reset,
	on_tx_error, on_garbage, on_down, on_down_fin, on_peer_closed, on_device_end,
	on_device_retires,
};

/* Until this completes no endpoint's work item runs, so that two events are handled together. */
static DECLARE_COMPLETION(gate);

static void gate_fn(struct work_struct *work)
{
	wait_for_completion(&gate);
}

static DECLARE_WORK(gate_work, gate_fn);

/* Every state is reached; in it each event happens, alone and together with another. */
static void test_state(struct kunit *test)
{
	const struct way *way = test->param_value;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(happenings); i++) {
		for (j = 0; j < ARRAY_SIZE(happenings); j++) {
			way->go(test);
			KUNIT_ASSERT_EQ(test, ct_state(), way->state);
			reinit_completion(&gate);
			queue_work(fake_cm_wq, &gate_work);
			happenings[i]();
			happenings[j]();
			complete(&gate);
			ct_settle();
			happenings[j]();
			ct_again(test);
		}
	}
}

/* The timer of the state runs for this many @seconds; 0: there is no timer. */
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
		[KWARP_CMS_WAIT_REQ] = 10, [KWARP_CMS_WAIT_TURN] = 25, [KWARP_CMS_WAIT_ULP] = 120,
		[KWARP_CMS_SEND_REP] = 10, [KWARP_CMS_WAIT_FPDU] = 10,
		[KWARP_CMS_SEND_REJ] = 10, [KWARP_CMS_SEND_TERM] = 2, [KWARP_CMS_LINGER] = 5,
	};

	expect_timer(test, seconds);
}

/* Timers with other values of the knobs. */
static void test_knob_timer(struct kunit *test)
{
	static const u32 seconds[KWARP_CMS_COUNT] = {
		[KWARP_CMS_CONNECT] = 77, [KWARP_CMS_SEND_REQ] = 77, [KWARP_CMS_WAIT_REP] = 77,
		[KWARP_CMS_WAIT_REQ] = 33, [KWARP_CMS_WAIT_TURN] = 25, [KWARP_CMS_WAIT_ULP] = 120,
		[KWARP_CMS_SEND_REP] = 33, [KWARP_CMS_WAIT_FPDU] = 33,
		[KWARP_CMS_SEND_REJ] = 33, [KWARP_CMS_SEND_TERM] = 2, [KWARP_CMS_LINGER] = 44,
	};

	fake.kdev->knobs.connect_timeout = 77;
	fake.kdev->knobs.startup_timeout = 33;
	fake.kdev->knobs.linger_timeout = 44;
	expect_timer(test, seconds);
}

/* kwarp_cm_retire() keeps established streams, and ends connections that are being set up. */
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

/* A connect() that returned 0 is answered by one CONNECT_REPLY, whatever happens meanwhile. */
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

/*
 * An accept() that returned 0 is answered by one ESTABLISHED; if that is an error, a CLOSE follows.
 */
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

/* -------------------------------------------------------------- the long way */

static void test_initiator(struct kunit *test)
{
	ct_to_stream(test);
	KUNIT_EXPECT_EQ(test, fake.id.state, FAKE_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
	KUNIT_EXPECT_EQ(test, fake.id.status, 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 2);	/* its own, and the endpoint's */
	KUNIT_EXPECT_NULL(test, ct_the_ep()->su);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_LINGER);
	KUNIT_ASSERT_NOT_NULL(test, fake.sock);
	KUNIT_EXPECT_TRUE(test, fake.sock->fin);
	fake.sock->closed = true;
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
	KUNIT_EXPECT_EQ(test, fake.dials, 1);
}

static void test_responder(struct kunit *test)
{
	ct_to_stream_resp(test);
	KUNIT_EXPECT_TRUE(test, fake.qp[0].params.say_first);
	KUNIT_EXPECT_EQ(test, fake.id.state, FAKE_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake.listener.num_half_open, 0);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_PEER_CLOSED, true);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
}

/* Without peer-to-peer mode the responder does not wait for the first FPDU. */
static void test_responder_not_p2p(struct kunit *test)
{
	ct_to_wait_req(test);
	ct_peer_frame(false, 2, false, false);
	ct_take_request(test);
	KUNIT_ASSERT_EQ(test, ct_iw_accept(FAKE_QPN), 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_STREAM);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].params.say_first);
	KUNIT_EXPECT_EQ(test, fake.id.ests, 1);
}

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
 * Without an answer of the ULP the first Request in line is passed on after a second, by its timer.
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
 * The wait for a turn ends: the peer gets a Reply that rejects. A reset would make an initiator try
 * revision 1 (6581-10-2).
 */
static void test_turn_refused(struct kunit *test)
{
	static void (*const ends[])(void) = { ct_timer_runs, on_orphan, on_evict };
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

/* The log says why a connection has failed; for a normal end there is no line. */
static const struct notice_case {
	const char *name;
	void (*go)(struct kunit *test);
	void (*happens)(void);
	const char *notice;
} notices[] = {
	{ "garbage for a Request", ct_to_wait_req, on_garbage, "the peer broke the protocol" },
	{ "garbage for a Reply", ct_to_wait_rep, on_garbage, "the peer broke the protocol" },
	{ "nobody listens", ct_to_connect, on_refused,
	  "TCP did not connect: nothing listens there, or a firewall refuses" },
	{ "no route", ct_to_connect, on_unreachable,
	  "TCP did not connect: no route, or no answer" },
	{ "TCP is reset", ct_to_connect, on_dial_reset, "TCP did not connect" },
	{ "no Request", ct_to_wait_req, ct_timer_runs, "nothing came in time" },
	{ "no verdict", ct_to_wait_ulp, ct_timer_runs, "nothing came in time" },
	{ "reset", ct_to_wait_req, on_reset, "lost before it was established" },
	{ "evicted", ct_to_wait_req, on_evict, "gave way to others: too many are half-open" },
	{ "error", ct_to_stream, on_down, "ended with an error" },
	{ "error before the first FPDU", ct_to_wait_fpdu, on_down, "ended with an error" },
	{ "good end", ct_to_stream, on_down_fin },
	{ "linger", ct_to_linger, ct_timer_runs },
	{ "device goes", ct_to_wait_req, on_abort },
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

/* TCP does not know the peer of a socket that never connected: the id's addresses are logged. */
static void test_notice_peer(struct kunit *test)
{
	struct sockaddr_storage *peer = &fake.id.id.m_remote_addr;

	peer->ss_family = AF_INET;
	((struct sockaddr_in *)peer)->sin_port = htons(7471);
	ct_to_connect(test);
	on_refused();
	ct_settle();
	KUNIT_EXPECT_MEMEQ(test, &fake.notice_peer, peer, sizeof(*peer));
}

/* An early look does not extend the deadline. */
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

/* --------------------------------------------------------- each call failing once */

/* connect() returns the error; nothing is sent, and no upcall is made. */
static void test_connect_refused(struct kunit *test)
{
	fake.dial_err = -EHOSTUNREACH;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EHOSTUNREACH);
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN + FAKE_QPS), -EINVAL);
	fake.qp[0].may_connect = false;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EPERM);
	fake.qp[0].may_connect = true;
	fake.qp[0].state = KWARP_QPS_ERROR;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EINVAL);
	kwarp_cm_retire(fake.kdev);
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -ENODEV);
	KUNIT_EXPECT_TRUE(test, IS_ERR(kwarp_ep_create(fake.kdev, &fake.listener)));
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.dials, 0);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 0);
}

/* 6581-9.3-3: a Terminate 2/0/05, then FIN. */
static void test_attach_fails_initiator(struct kunit *test)
{
	const u8 *term;

	ct_to_wait_rep(test);
	fake.sock->tx_len = 0;
	fake.qp[0].attach_err = -EINVAL;
	ct_peer_frame(true, 2, false, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -EINVAL);
	KUNIT_ASSERT_NOT_NULL(test, fake.sock);
	term = fake.sock->tx + KWARP_MPA_LEN_FIELD + 18;
	KUNIT_ASSERT_GE(test, fake.sock->tx_len, 24);
	KUNIT_EXPECT_EQ(test, term[0], 0x20);
	KUNIT_EXPECT_EQ(test, term[1], 0x05);
	KUNIT_EXPECT_TRUE(test, fake.sock->fin);
}

/* The peer has gone between its Reply and the attach. */
static void test_attach_not_connected(struct kunit *test)
{
	ct_to_wait_rep(test);
	fake.qp[0].attach_err = -ENOTCONN;
	ct_peer_frame(true, 2, false, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ECONNRESET);
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
}

static void test_rejected(struct kunit *test)
{
	ct_to_wait_rep(test);
	ct_peer_frame(true, 2, true, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ECONNREFUSED);
	KUNIT_EXPECT_TRUE(test, fake.sock && fake.sock->fin);
	/* The id was never ESTABLISHED, so the stand-in is freed at once. */
	KUNIT_EXPECT_EQ(test, ct_returned(), 0);
}

/*
 * 6581-9.1-14, 5044-7.1.4.2-2: iw_cm gets private data and depths of a rejecting Reply. rdma_cm
 * passes depths on only from an accepting one.
 */
static void test_rejected_told(struct kunit *test)
{
	static const struct kwarp_mpa_frame frame = {
		.reply = true, .rev = 2, .enhanced = true, .reject = true, .ird = 3, .ord = 2,
		.pd_len = 4,
	};
	u32 len;

	ct_to_wait_rep(test);
	len = kwarp_mpa_frame_encode(fake.sock->rx, &frame);
	memcpy(fake.sock->rx + len, "data", 4);
	fake.sock->rx_len = len + 4;
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, fake.id.ird, 3);
	KUNIT_EXPECT_EQ(test, fake.id.ord, 2);
	KUNIT_EXPECT_EQ(test, fake.id.pd_len, 4);
}

/* A peer closes without a Reply, so the initiator tries revision 1; that fails, too. */
static void test_redial(struct kunit *test)
{
	ct_to_wait_rep(test);
	ct_peer_ends(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_CONNECT);
	KUNIT_EXPECT_EQ(test, fake.dials, 2);
	KUNIT_EXPECT_EQ(test, fake.socks, 1);
	fake.sock->connect_err = 0;
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.sock->tx[17], 1);
	ct_peer_ends(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.dials, 2);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
}

static void test_redial_fails(struct kunit *test)
{
	ct_to_wait_rep(test);
	fake.dial_err = -ENOMEM;
	ct_peer_ends(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ENOMEM);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
}

/* iw_cm has no memory for private data: the CONNECT_REPLY comes without it. */
static void test_reply_without_memory(struct kunit *test)
{
	static const struct kwarp_mpa_frame frame = {
		.reply = true, .rev = 2, .enhanced = true, .ird = 1, .ord = 1, .pd_len = 4,
	};
	u32 len;

	ct_to_wait_rep(test);
	fake.reply_nomem = true;
	len = kwarp_mpa_frame_encode(fake.sock->rx, &frame);
	memcpy(fake.sock->rx + len, "data", 4);
	fake.sock->rx_len = len + 4;
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_FALSE(test, fake.reply_nomem);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
	KUNIT_EXPECT_EQ(test, fake.id.status, 0);
}

/* iw_cm has no memory for a Request, and later it has. */
static void test_request_again(struct kunit *test)
{
	ct_to_wait_req(test);
	fake.request_err = -ENOMEM;
	ct_peer_frame(false, 2, false, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.request_err, 0);
	/* The endpoint's retry timer may have been faster. */
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_ULP);
	KUNIT_EXPECT_EQ(test, fake.requests, 1);
}

static void test_request_nobody(struct kunit *test)
{
	ct_to_wait_req(test);
	fake.request_err = -ECONNABORTED;
	ct_peer_frame(false, 2, false, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
}

/* A rejecting Reply was sent, and nothing of an accepting one. */
static void expect_reject(struct kunit *test, u32 qpn, int err)
{
	ct_to_wait_ulp(test);
	KUNIT_EXPECT_EQ(test, ct_iw_accept(qpn), err);
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
	KUNIT_EXPECT_NULL(test, fake.id.qp);
}

static void test_accept_no_qp(struct kunit *test)
{
	expect_reject(test, FAKE_QPN + FAKE_QPS, -EINVAL);
}

static void test_accept_foreign_qp(struct kunit *test)
{
	fake.qp[0].may_connect = false;
	expect_reject(test, FAKE_QPN, -EPERM);
}

static void test_accept_busy_qp(struct kunit *test)
{
	fake.qp[0].state = KWARP_QPS_CLOSING;
	expect_reject(test, FAKE_QPN, -EINVAL);
}

/* Memory for the stream is allocated before the Reply accepts. */
static void test_accept_no_readqs(struct kunit *test)
{
	ct_to_wait_ulp(test);
	fake.no_readqs = true;
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), -ENOMEM);
	ct_settle();
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
}

/* The queue pair's state changes after it was checked: accept() returns the error. */
static void test_attach_fails_responder(struct kunit *test)
{
	ct_to_wait_ulp(test);
	fake.qp[0].attach_err = -EINVAL;
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), -EINVAL);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	KUNIT_EXPECT_EQ(test, ct_returned(), 0);
}

/* Attach fails after accept() has returned. */
static void test_attach_fails_later(struct kunit *test)
{
	ct_to_send_rep(test);
	fake.qp[0].attach_err = -EINVAL;
	fake.sock->tx_room = sizeof(fake.sock->tx);
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.ests, 1);
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
	/* iw_cm makes the id ESTABLISHED even if the event's status is an error. */
	KUNIT_EXPECT_EQ(test, ct_grace_period(), 1);
}

/* The connection ends before the ULP accepts or rejects. */
static void test_verdict_late(struct kunit *test)
{
	ct_to_wait_ulp(test);
	ct_peer_ends(-ECONNRESET);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), -ECONNRESET);
	KUNIT_EXPECT_EQ(test, ct_iw_reject(), -ECONNRESET);
}

/* ------------------------------------------------------------- one of many */

/* The end of a queue pair has no effect on endpoints of another. */
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

/* An endpoint in state NEW: bits that are set stay set, and can be checked. */
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

/* Each look sets a bit again, as with a peer that sends all the time. */
static void look_and_mark(struct kwarp_ep *ep)
{
	note_look(ep);
	kwarp_ep_mark(ep, KWARP_EP_SOCK);
}

/* kwarp_ep_unlock() handles bits that were set meanwhile, but not without end. */
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

	/* The work item waits for the gate. */
	reinit_completion(&gate);
	queue_work(fake_cm_wq, &gate_work);
	ep->look = look_and_mark;
	looks = 0;
	kwarp_ep_lock(ep);
	kwarp_ep_unlock(ep);
	KUNIT_EXPECT_EQ(test, looks, KWARP_RUN_LOOKS);
	KUNIT_EXPECT_TRUE(test, work_pending(&ep->work));
	ep->look = kwarp_ep_run;
	complete(&gate);
	ct_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->run), KWARP_RUN_IDLE);
	undo_ep(ep);
}

/* If TCP connects at once, the Request has been sent when connect() returns. */
static void test_connect_at_once(struct kunit *test)
{
	fake.connected = true;
	KUNIT_ASSERT_EQ(test, ct_iw_connect(FAKE_QPN), 0);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_REP);
	KUNIT_EXPECT_EQ(test, fake.sock->tx_len, 20 + 4);
}

/* The end of a queue pair is marked in all endpoints that have chosen it, and in no others. */
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
	/* An id that kwarp does not know. */
	KUNIT_EXPECT_FALSE(test, kwarp_cm_describe(fake.kdev, &other, &info));
}

static void test_described_times(struct kunit *test)
{
	struct kwarp_cm_info info = {};
	struct kwarp_ep *ep;

	ct_to_wait_rep(test);
	ep = ct_the_ep();
	mutex_lock(&ep->mutex);
	ep->since = jiffies - 3 * HZ;
	ep->due.deadline = jiffies + 5 * HZ;
	kwarp_ep_describe(ep, &info);
	KUNIT_EXPECT_GE(test, info.state_ms, 3000);
	KUNIT_EXPECT_LT(test, info.state_ms, 4000);
	KUNIT_EXPECT_LE(test, info.ends_ms, 5000);
	KUNIT_EXPECT_GT(test, info.ends_ms, 4000);
	/* The deadline has passed, but the timer has not run. */
	ep->due.deadline = jiffies - HZ;
	kwarp_ep_describe(ep, &info);
	KUNIT_EXPECT_TRUE(test, info.timed);
	KUNIT_EXPECT_EQ(test, info.ends_ms, 0);
	mutex_unlock(&ep->mutex);
}

static void test_described_listener(struct kunit *test)
{
	struct kwarp_listener *l = &fake.listener;
	struct iw_cm_id *cm_id = l->cm_id;
	struct kwarp_cm_info info = {};

	hash_add(fake.kdev->cm.listener_ids, &l->id_node, (unsigned long)cm_id);
	KUNIT_EXPECT_FALSE_MSG(test, kwarp_cm_describe(fake.kdev, cm_id, &info), "no socket");
	l->cs.sock = (struct socket *)&fake;	/* any pointer: the fake does not use it */
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

static struct kunit_case cm_cases[] = {
	KUNIT_CASE_PARAM(test_described, way_gen_params),
	KUNIT_CASE(test_described_times),
	KUNIT_CASE(test_described_listener),
	KUNIT_CASE_PARAM(test_state, way_gen_params),
	KUNIT_CASE_PARAM(test_retire, way_gen_params),
	KUNIT_CASE_PARAM(test_state_timer, way_gen_params),
	KUNIT_CASE_PARAM(test_knob_timer, way_gen_params),
	KUNIT_CASE(test_connect_answered),
	KUNIT_CASE(test_accept_answered),
	KUNIT_CASE(test_initiator),
	KUNIT_CASE(test_responder),
	KUNIT_CASE(test_responder_not_p2p),
	KUNIT_CASE(test_turn_comes),
	KUNIT_CASE_SLOW(test_turn_timer),
	KUNIT_CASE(test_turn_refused),
	KUNIT_CASE_PARAM(test_notice, notice_gen_params),
	KUNIT_CASE(test_notice_peer),
	KUNIT_CASE(test_turn_deadline),
	KUNIT_CASE(test_connect_refused),
	KUNIT_CASE(test_attach_fails_initiator),
	KUNIT_CASE(test_attach_not_connected),
	KUNIT_CASE(test_rejected),
	KUNIT_CASE(test_rejected_told),
	KUNIT_CASE(test_redial),
	KUNIT_CASE(test_redial_fails),
	KUNIT_CASE(test_reply_without_memory),
	KUNIT_CASE(test_request_again),
	KUNIT_CASE(test_request_nobody),
	KUNIT_CASE(test_accept_no_qp),
	KUNIT_CASE(test_accept_foreign_qp),
	KUNIT_CASE(test_accept_busy_qp),
	KUNIT_CASE(test_accept_no_readqs),
	KUNIT_CASE(test_attach_fails_responder),
	KUNIT_CASE(test_attach_fails_later),
	KUNIT_CASE(test_verdict_late),
	KUNIT_CASE(test_no_qp_is_own),
	KUNIT_CASE(test_no_qp_of_several),
	KUNIT_CASE(test_unlock_looks),
	KUNIT_CASE(test_connect_at_once),
	{ }
};

static struct kunit_suite cm_suite = {
	.name = "kwarp_cm",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = cm_cases,
};
kunit_test_suite(cm_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's connection management");
MODULE_LICENSE("Dual BSD/GPL");
