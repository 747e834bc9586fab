// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints: the loop, the actions, the startup frames, the upcalls and iw_cm's calls. The
 * code is included; sockets, queue pairs and iw_cm are stand-ins (fake.h), and what a
 * listener does is left out.
 *
 * Whatever a case does, at its end the device is stopped, and nothing may be left: no
 * endpoint, no socket, no reference to an id or a queue pair, nothing half-open; each
 * connect and accept that was not refused has had its answer, once, and nothing after
 * the last event; and iw_cm has never met an event that it does not survive.
 */
#include <kunit/test.h>

#include "../types.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>

/* Others' suites may bring these along. */
#define kwarp_wq		fake_wq
#define kwarp_cm_wq		fake_cm_wq
#define kwarp_qp_lookup		fake_qp_lookup
#define kwarp_qp_put		fake_qp_put
#define kwarp_qp_may_connect	fake_qp_may_connect
#define kwarp_qp_ib		fake_qp_ib
#define kwarp_qp_state		fake_qp_state
#define kwarp_qp_join		fake_qp_join
#define kwarp_qp_leave		fake_qp_leave
#define kwarp_qp_each_user	fake_qp_each_user
#define kwarp_qp_attach		fake_qp_attach
#define kwarp_qp_close		fake_qp_close
#include "../../qp/stream.h"

extern struct workqueue_struct *fake_wq, *fake_cm_wq;

static int fake_readqs_init(struct kwarp_readqs *qs, u32 ord, u32 ird);

#include "../listener.c"
#include "../ep.c"
#define kwarp_readqs_init	fake_readqs_init
#include "../ep_stream.c"
#undef kwarp_readqs_init
#include "../ep_run.c"
#include "../cm_mpa.c"
#include "../cm_upcall.c"

/* Of what iw_cm returns: not freed before the grace period, which the test ends. */
static void fake_call_rcu_tasks(struct rcu_head *rcu, rcu_callback_t func);
static void *fake_zalloc(size_t size, gfp_t gfp);

#undef call_rcu_tasks
#define call_rcu_tasks		fake_call_rcu_tasks
#pragma push_macro("kzalloc")
#undef kzalloc
#define kzalloc			fake_zalloc
#include "../cm_qp.c"
#pragma pop_macro("kzalloc")
#include "../cm.c"

#include "fake.h"

/* ---------------------------------------------------------- memory of cm_qp.c */

static struct rcu_head *returned;
static bool no_memory;

static void fake_call_rcu_tasks(struct rcu_head *rcu, rcu_callback_t func)
{
	rcu->func = func;
	rcu->next = returned;
	returned = rcu;
}

/* Each task has slept. Return: how many have been freed. */
static u32 grace_period(void)
{
	struct rcu_head *rcu;
	u32 n = 0;

	while (returned) {
		rcu = returned;
		returned = rcu->next;
		rcu->func(rcu);
		n++;
	}
	return n;
}

static void *fake_zalloc(size_t size, gfp_t gfp)
{
	return no_memory ? NULL : kzalloc(size, gfp);
}

static bool no_readqs;

static int fake_readqs_init(struct kwarp_readqs *qs, u32 ord, u32 ird)
{
	return no_readqs ? -ENOMEM : kwarp_readqs_init(qs, ord, ird);
}

/* ------------------------------------------------------------------ fixture */

static int cm_init(struct kunit *test)
{
	int i;

	memset(&fake, 0, sizeof(fake));
	no_memory = false;
	no_readqs = false;
	atomic_set(&num_returned, 0);
	fake.kdev = kunit_kzalloc(test, sizeof(*fake.kdev), GFP_KERNEL);
	if (!fake.kdev)
		return -ENOMEM;
	kwarp_cm_init_device(fake.kdev);
	fake.kdev->knobs.mpa_rev = 2;
	for (i = 0; i < FAKE_QPS; i++) {
		fake.qp[i].refs = 1;
		fake.qp[i].may_connect = true;
		fake.qp[i].ib.uobject = (void *)&fake.uobject;
		INIT_LIST_HEAD(&fake.qp[i].users);
	}
	kref_init(&fake.listener.kref);
	spin_lock_init(&fake.listener.lock);
	INIT_LIST_HEAD(&fake.listener.half_open);
	fake.listener.kdev = fake.kdev;
	fake.listener.cm_id = kunit_kzalloc(test, sizeof(*fake.listener.cm_id), GFP_KERNEL);
	if (!fake.listener.cm_id)
		return -ENOMEM;
	fake.listener.cm_id->event_handler = iw_request;
	fake.id.refs = 1;
	fake.id.id.device = &fake.kdev->ibdev;
	fake.id.id.context = &fake.id.rdma;
	fake.id.id.event_handler = iw_event;
	fake.id.id.add_ref = iw_add_ref;
	fake.id.id.rem_ref = iw_rem_ref;
	return 0;
}

/* The device goes, and nothing is left. */
static void check_end(struct kunit *test)
{
	int i;

	kwarp_cm_stop_device(fake.kdev);
	settle();
	flush_workqueue(fake_wq);
	KUNIT_EXPECT_STREQ(test, fake.bug ?: "", "");
	KUNIT_EXPECT_TRUE(test, list_empty(&fake.kdev->cm.eps));
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	KUNIT_EXPECT_EQ(test, fake.listener.num_half_open, 0);
	KUNIT_EXPECT_EQ(test, fake.id.refs, 1);
	KUNIT_EXPECT_TRUE(test, xa_empty(&handles));
	/* Nobody has to wait for iw_cm before a queue pair is destroyed... */
	for (i = 0; i < FAKE_QPS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, fake.qp[i].refs, 1, "queue pair %d", i);
		KUNIT_EXPECT_TRUE(test, list_empty(&fake.qp[i].users));
	}
	/* ...and what it still holds goes with the id. */
	iw_drop_qp(&fake.id);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake.kdev->cm.new_qps));
	grace_period();
	KUNIT_EXPECT_EQ(test, kref_read(&fake.listener.kref), 1);
}

static void cm_exit(struct kunit *test)
{
	if (fake.listener.cm_id)
		check_end(test);
}

static int cm_suite_init(struct kunit_suite *suite)
{
	fake_wq = alloc_workqueue("kwarp_cm_test", WQ_UNBOUND, 0);
	fake_cm_wq = alloc_ordered_workqueue("kwarp_cm_test", 0);
	return fake_wq && fake_cm_wq ? 0 : -ENOMEM;
}

static void cm_suite_exit(struct kunit_suite *suite)
{
	if (fake_wq)
		destroy_workqueue(fake_wq);
	if (fake_cm_wq)
		destroy_workqueue(fake_cm_wq);
}

/* ---------------------------------------------------------------- the peer */

static void peer_frame(bool reply, u8 rev, bool reject, bool p2p)
{
	const struct kwarp_mpa_frame frame = {
		.reply = reply, .rev = rev, .enhanced = rev == 2, .reject = reject, .p2p = p2p,
		.rtr = p2p ? KWARP_RTR_WRITE : 0, .ird = 1, .ord = 1,
	};

	fake.sock->rx_len += kwarp_mpa_frame_encode(fake.sock->rx + fake.sock->rx_len, &frame);
	sock_event();
}

static void peer_ends(int err)
{
	fake.sock->rx_end = err ?: 1;
	sock_event();
}

static struct kwarp_ep *the_ep(void)
{
	return list_first_entry_or_null(&fake.kdev->cm.eps, struct kwarp_ep, node);
}

static enum kwarp_cm_state state(void)
{
	struct kwarp_ep *ep = the_ep();

	return ep ? ep->state : KWARP_CMS_DEAD;
}

/* As cm_listen.c does it. */
static void inbound(struct kunit *test)
{
	struct kwarp_ep *ep = kwarp_ep_create(fake.kdev, &fake.listener);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ep));
	mutex_lock(&ep->mutex);
	kwarp_listener_enter(ep);
	ep->cs.sock = fake_socket();
	kwarp_cm_sock_hook(&ep->cs);
	kwarp_ep_apply(ep, KWARP_CME_INBOUND);
	mutex_unlock(&ep->mutex);
	kwarp_ep_put(ep);
}

/* The id that iw_cm makes for a request. */
static void take_request(struct kunit *test)
{
	settle();
	KUNIT_ASSERT_EQ(test, fake.requests, 1);
	fake.id.state = FAKE_RECV;
	fake.id.id.provider_data = fake.provider_data;
}

/* The state's time is over. */
static void timer_runs(void)
{
	struct kwarp_ep *ep = the_ep();

	if (!ep)
		return;
	mutex_lock(&ep->mutex);
	ep->due.deadline = jiffies - 1;
	mutex_unlock(&ep->mutex);
	kwarp_ep_mark(ep, KWARP_EP_TIMER);
}

/* ------------------------------------------------------- ways into each state */

static void to_connect(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_connect(FAKE_QPN), 0);
	settle();
}

static void to_send_req(struct kunit *test)
{
	to_connect(test);
	fake.sock->tx_room = 5;
	fake.sock->connect_err = 0;
	sock_event();
	settle();
}

static void to_wait_rep(struct kunit *test)
{
	to_send_req(test);
	fake.sock->tx_room = sizeof(fake.sock->tx);
	sock_event();
	settle();
}

static void to_stream(struct kunit *test)
{
	to_wait_rep(test);
	peer_frame(true, 2, false, false);
	settle();
}

static void to_closed(struct kunit *test)
{
	to_stream(test);
	stream_says(&fake.qp[0], KWARP_STREAM_PEER_CLOSED, true);
	settle();
}

static void to_linger(struct kunit *test)
{
	to_closed(test);
	stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	settle();
}

static void to_send_term(struct kunit *test)
{
	to_wait_rep(test);
	fake.sock->tx_room = 3;
	fake.qp[0].attach_err = -EINVAL;
	peer_frame(true, 2, false, false);
	settle();
}

static void to_wait_req(struct kunit *test)
{
	inbound(test);
	settle();
}

static void to_wait_ulp(struct kunit *test)
{
	to_wait_req(test);
	peer_frame(false, 2, false, true);
	take_request(test);
}

static void to_send_rep(struct kunit *test)
{
	to_wait_ulp(test);
	fake.sock->tx_room = 5;
	KUNIT_ASSERT_EQ(test, iw_accept(FAKE_QPN), 0);
	settle();
}

static void to_wait_fpdu(struct kunit *test)
{
	to_wait_ulp(test);
	KUNIT_ASSERT_EQ(test, iw_accept(FAKE_QPN), 0);
	settle();
}

static void to_send_rej(struct kunit *test)
{
	to_wait_ulp(test);
	fake.sock->tx_room = 5;
	KUNIT_ASSERT_EQ(test, iw_reject(), 0);
	settle();
}

static void to_stream_resp(struct kunit *test)
{
	to_wait_fpdu(test);
	stream_says(&fake.qp[0], KWARP_STREAM_ESTABLISHED, true);
	settle();
}

static const struct way {
	const char *name;
	void (*go)(struct kunit *test);
	enum kwarp_cm_state state;
} ways[] = {
	{ "CONNECT", to_connect, KWARP_CMS_CONNECT },
	{ "SEND_REQ", to_send_req, KWARP_CMS_SEND_REQ },
	{ "WAIT_REP", to_wait_rep, KWARP_CMS_WAIT_REP },
	{ "WAIT_REQ", to_wait_req, KWARP_CMS_WAIT_REQ },
	{ "WAIT_ULP", to_wait_ulp, KWARP_CMS_WAIT_ULP },
	{ "SEND_REP", to_send_rep, KWARP_CMS_SEND_REP },
	{ "WAIT_FPDU", to_wait_fpdu, KWARP_CMS_WAIT_FPDU },
	{ "SEND_REJ", to_send_rej, KWARP_CMS_SEND_REJ },
	{ "SEND_TERM", to_send_term, KWARP_CMS_SEND_TERM },
	{ "STREAM", to_stream, KWARP_CMS_STREAM },
	{ "STREAM of a responder", to_stream_resp, KWARP_CMS_STREAM },
	{ "CLOSED", to_closed, KWARP_CMS_CLOSED },
	{ "LINGER", to_linger, KWARP_CMS_LINGER },
};

KUNIT_ARRAY_PARAM_DESC(way, ways, name);

/* ----------------------------------------------------- what happens in each state */

static void mark(int bit)
{
	if (the_ep())
		kwarp_ep_mark(the_ep(), bit);
}

static void on_abort(void)
{
	mark(KWARP_EP_ABORT);
}

static void on_no_qp(void)
{
	kwarp_ep_mark_qp(&fake.qp[0]);
}

static void on_orphan(void)
{
	mark(KWARP_EP_ORPHAN);
}

static void on_evict(void)
{
	mark(KWARP_EP_EVICT);
}

static void on_fin(void)
{
	if (fake.sock && !kwarp_cm_attached(state()))
		peer_ends(0);
}

static void on_reset(void)
{
	if (fake.sock && !kwarp_cm_attached(state()))
		peer_ends(-ECONNRESET);
}

static void on_tx_error(void)
{
	if (!fake.sock || kwarp_cm_attached(state()))
		return;
	fake.sock->tx_err = -EPIPE;
	sock_event();
}

static void on_garbage(void)
{
	if (!fake.sock || kwarp_cm_attached(state()))
		return;
	memset(fake.sock->rx, 'x', 40);
	fake.sock->rx_len = 40;
	sock_event();
}

static void on_down(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		stream_says(&fake.qp[0], KWARP_STREAM_DOWN, false);
}

static void on_down_fin(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
}

static void on_peer_closed(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		stream_says(&fake.qp[0], KWARP_STREAM_PEER_CLOSED, true);
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
	sock_event();
}

static void (* const happenings[])(void) = {
	on_nothing, timer_runs, on_abort, on_no_qp, on_orphan, on_evict, on_fin, on_reset,
	on_tx_error, on_garbage, on_down, on_down_fin, on_peer_closed, on_device_end,
	on_device_retires,
};

/* A fixture of its own for each: many in one case. */
static void again(struct kunit *test)
{
	cm_exit(test);
	KUNIT_ASSERT_EQ(test, cm_init(test), 0);
}

/* While it is closed no endpoint's work runs, so that two things happen at once. */
static DECLARE_COMPLETION(gate);

static void gate_fn(struct work_struct *work)
{
	wait_for_completion(&gate);
}

static DECLARE_WORK(gate_work, gate_fn);

/* Every state is reached, and each thing that can happen there, alone and together with another. */
static void test_state(struct kunit *test)
{
	const struct way *way = test->param_value;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(happenings); i++) {
		for (j = 0; j < ARRAY_SIZE(happenings); j++) {
			way->go(test);
			KUNIT_ASSERT_EQ(test, state(), way->state);
			reinit_completion(&gate);
			queue_work(fake_cm_wq, &gate_work);
			happenings[i]();
			happenings[j]();
			complete(&gate);
			settle();
			happenings[j]();
			again(test);
		}
	}
}

/* How long each state may last, in seconds; 0: as long as it takes. */
static void test_state_timer(struct kunit *test)
{
	static const u32 seconds[KWARP_CMS_COUNT] = {
		[KWARP_CMS_CONNECT] = 30, [KWARP_CMS_SEND_REQ] = 30, [KWARP_CMS_WAIT_REP] = 30,
		[KWARP_CMS_WAIT_REQ] = 10, [KWARP_CMS_WAIT_ULP] = 120,
		[KWARP_CMS_SEND_REP] = 10, [KWARP_CMS_WAIT_FPDU] = 10,
		[KWARP_CMS_SEND_REJ] = 10, [KWARP_CMS_SEND_TERM] = 2, [KWARP_CMS_LINGER] = 5,
	};
	const struct way *way = test->param_value;
	unsigned long start = jiffies;
	u32 s = seconds[way->state];

	way->go(test);
	KUNIT_ASSERT_NOT_NULL(test, the_ep());
	KUNIT_EXPECT_EQ(test, the_ep()->due.kind != KWARP_CMT_NONE, s != 0);
	if (!s)
		return;
	KUNIT_EXPECT_TRUE(test, time_after_eq(the_ep()->due.deadline, start + s * HZ));
	KUNIT_EXPECT_TRUE(test, time_before_eq(the_ep()->due.deadline, jiffies + s * HZ));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&the_ep()->timer));
}

/* Users that are told to leave have their streams to do so; none waits for a startup. */
static void test_retire(struct kunit *test)
{
	const struct way *way = test->param_value;

	way->go(test);
	kwarp_cm_retire(fake.kdev);
	settle();
	if (way->state < KWARP_CMS_SEND_REJ) {
		KUNIT_EXPECT_TRUE(test, state() == KWARP_CMS_DEAD || fake.qp[0].closed);
		return;
	}
	KUNIT_EXPECT_EQ(test, state(), way->state);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
	/* Its orderly end is as ever. */
	if (way->state == KWARP_CMS_STREAM) {
		stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
		settle();
		KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_LINGER);
	}
}

/* A connect that was taken is answered once, whatever happens while it is pending. */
static void test_connect_answered(struct kunit *test)
{
	int i;

	for (i = 1; i < ARRAY_SIZE(happenings); i++) {
		to_wait_rep(test);
		happenings[i]();
		settle();
		kwarp_cm_stop_device(fake.kdev);
		settle();
		KUNIT_EXPECT_EQ_MSG(test, fake.id.replies, 1, "happening %d", i);
		KUNIT_EXPECT_NE_MSG(test, fake.id.status, 0, "happening %d", i);
		KUNIT_EXPECT_EQ(test, fake.id.closes, 0);
		again(test);
	}
}

/* Likewise an accept, by an ESTABLISHED, and if that is an error a CLOSE. */
static void test_accept_answered(struct kunit *test)
{
	int i;

	for (i = 1; i < ARRAY_SIZE(happenings); i++) {
		to_wait_fpdu(test);
		KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
		happenings[i]();
		settle();
		kwarp_cm_stop_device(fake.kdev);
		settle();
		KUNIT_EXPECT_EQ_MSG(test, fake.id.ests, 1, "happening %d", i);
		KUNIT_EXPECT_EQ_MSG(test, fake.id.closes, 1, "happening %d", i);
		again(test);
	}
}

/* -------------------------------------------------------------- the long way */

static void test_initiator(struct kunit *test)
{
	to_stream(test);
	KUNIT_EXPECT_EQ(test, fake.id.state, FAKE_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
	KUNIT_EXPECT_EQ(test, fake.id.status, 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 2);	/* its own, the endpoint's */
	KUNIT_EXPECT_NULL(test, the_ep()->su);
	stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_LINGER);
	KUNIT_ASSERT_NOT_NULL(test, fake.sock);
	KUNIT_EXPECT_TRUE(test, fake.sock->fin);
	fake.sock->closed = true;
	sock_event();
	settle();
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_DEAD);
	KUNIT_EXPECT_EQ(test, fake.dials, 1);
}

static void test_responder(struct kunit *test)
{
	to_stream_resp(test);
	KUNIT_EXPECT_TRUE(test, fake.qp[0].say_first);
	KUNIT_EXPECT_EQ(test, fake.id.state, FAKE_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake.listener.num_half_open, 0);
	stream_says(&fake.qp[0], KWARP_STREAM_PEER_CLOSED, true);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
	stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
}

/* Without peer-to-peer mode nobody waits for the first FPDU. */
static void test_responder_not_p2p(struct kunit *test)
{
	to_wait_req(test);
	peer_frame(false, 2, false, false);
	take_request(test);
	KUNIT_ASSERT_EQ(test, iw_accept(FAKE_QPN), 0);
	settle();
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_STREAM);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].say_first);
	KUNIT_EXPECT_EQ(test, fake.id.ests, 1);
}

/* --------------------------------------------------------- each call failing once */

/* connect() returns the error, and nothing is sent or said. */
static void test_connect_refused(struct kunit *test)
{
	fake.dial_err = -EHOSTUNREACH;
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN), -EHOSTUNREACH);
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN + FAKE_QPS), -EINVAL);
	fake.qp[0].may_connect = false;
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN), -EPERM);
	fake.qp[0].may_connect = true;
	fake.qp[0].state = KWARP_QPS_ERROR;
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN), -EINVAL);
	kwarp_cm_retire(fake.kdev);
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN), -ENODEV);
	KUNIT_EXPECT_TRUE(test, IS_ERR(kwarp_ep_create(fake.kdev, &fake.listener)));
	settle();
	KUNIT_EXPECT_EQ(test, fake.dials, 0);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 0);
}

/* 6581-9.3-3: a Terminate 2/0/05, then FIN. */
static void test_attach_fails_initiator(struct kunit *test)
{
	const u8 *term;

	to_wait_rep(test);
	fake.sock->tx_len = 0;
	fake.qp[0].attach_err = -EINVAL;
	peer_frame(true, 2, false, false);
	settle();
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
	to_wait_rep(test);
	fake.qp[0].attach_err = -ENOTCONN;
	peer_frame(true, 2, false, false);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ECONNRESET);
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
}

static void test_rejected(struct kunit *test)
{
	to_wait_rep(test);
	peer_frame(true, 2, true, false);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ECONNREFUSED);
	KUNIT_EXPECT_TRUE(test, fake.sock && fake.sock->fin);
	/* The id was never ESTABLISHED: a program that fails in a loop leaves nothing. */
	KUNIT_EXPECT_EQ(test, atomic_read(&num_returned), 0);
}

/*
 * 6581-9.1-14, 5044-7.1.4.2-2: iw_cm is told all of a refusal. The depths go no further: rdma_cm
 * passes those of an accepting Reply on.
 */
static void test_rejected_told(struct kunit *test)
{
	static const struct kwarp_mpa_frame frame = {
		.reply = true, .rev = 2, .enhanced = true, .reject = true, .ird = 3, .ord = 2,
		.pd_len = 4,
	};
	u32 len;

	to_wait_rep(test);
	len = kwarp_mpa_frame_encode(fake.sock->rx, &frame);
	memcpy(fake.sock->rx + len, "data", 4);
	fake.sock->rx_len = len + 4;
	sock_event();
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, fake.id.ird, 3);
	KUNIT_EXPECT_EQ(test, fake.id.ord, 2);
	KUNIT_EXPECT_EQ(test, fake.id.pd_len, 4);
}

/* A peer of revision 1 closes: once more, with that; and that fails, too. */
static void test_redial(struct kunit *test)
{
	to_wait_rep(test);
	peer_ends(0);
	settle();
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_CONNECT);
	KUNIT_EXPECT_EQ(test, fake.dials, 2);
	KUNIT_EXPECT_EQ(test, fake.socks, 1);
	fake.sock->connect_err = 0;
	sock_event();
	settle();
	KUNIT_EXPECT_EQ(test, fake.sock->tx[17], 1);
	peer_ends(0);
	settle();
	KUNIT_EXPECT_EQ(test, fake.dials, 2);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
}

static void test_redial_fails(struct kunit *test)
{
	to_wait_rep(test);
	fake.dial_err = -ENOMEM;
	peer_ends(0);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ENOMEM);
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_DEAD);
}

/* iw_cm has no memory for private data: the reply comes without. */
static void test_reply_without_memory(struct kunit *test)
{
	static const struct kwarp_mpa_frame frame = {
		.reply = true, .rev = 2, .enhanced = true, .ird = 1, .ord = 1, .pd_len = 4,
	};
	u32 len;

	to_wait_rep(test);
	fake.reply_nomem = true;
	len = kwarp_mpa_frame_encode(fake.sock->rx, &frame);
	memcpy(fake.sock->rx + len, "data", 4);
	fake.sock->rx_len = len + 4;
	sock_event();
	settle();
	KUNIT_EXPECT_FALSE(test, fake.reply_nomem);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
	KUNIT_EXPECT_EQ(test, fake.id.status, 0);
}

/* iw_cm's backlog is full, then it is not. */
static void test_request_again(struct kunit *test)
{
	to_wait_req(test);
	fake.request_err = -ENOMEM;
	peer_frame(false, 2, false, false);
	settle();
	KUNIT_EXPECT_EQ(test, fake.request_err, 0);
	/* Its own timer may have been quicker. */
	sock_event();
	settle();
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_WAIT_ULP);
	KUNIT_EXPECT_EQ(test, fake.requests, 1);
}

static void test_request_nobody(struct kunit *test)
{
	to_wait_req(test);
	fake.request_err = -ECONNABORTED;
	peer_frame(false, 2, false, false);
	settle();
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_DEAD);
}

/* Bit R of the flags. */
static bool has_rejected(void)
{
	return fake.sock && fake.sock->tx_len >= 20 && fake.sock->tx[16] & 0x20;
}

/* Not one octet of an accepting Reply, but a rejecting one. */
static void expect_reject(struct kunit *test, u32 qpn, int err)
{
	to_wait_ulp(test);
	KUNIT_EXPECT_EQ(test, iw_accept(qpn), err);
	KUNIT_EXPECT_TRUE(test, has_rejected());
	settle();
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

/* What a stream needs is there before the Reply promises it. */
static void test_accept_no_readqs(struct kunit *test)
{
	to_wait_ulp(test);
	no_readqs = true;
	KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN), -ENOMEM);
	settle();
	KUNIT_EXPECT_TRUE(test, has_rejected());
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
}

/* The queue pair has changed in spite of the look before: accept() returns the error. */
static void test_attach_fails_responder(struct kunit *test)
{
	to_wait_ulp(test);
	fake.qp[0].attach_err = -EINVAL;
	KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN), -EINVAL);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&num_returned), 0);
}

/* The same after accept() has returned. */
static void test_attach_fails_later(struct kunit *test)
{
	to_send_rep(test);
	fake.qp[0].attach_err = -EINVAL;
	fake.sock->tx_room = sizeof(fake.sock->tx);
	sock_event();
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.ests, 1);
	KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
	/* iw_cm makes the id ESTABLISHED even if that was the news of a failure. */
	KUNIT_EXPECT_EQ(test, grace_period(), 1);
}

/* The connection has died before the ULP's verdict. */
static void test_verdict_late(struct kunit *test)
{
	to_wait_ulp(test);
	peer_ends(-ECONNRESET);
	settle();
	KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN), -ECONNRESET);
	KUNIT_EXPECT_EQ(test, iw_reject(), -ECONNRESET);
}

/* ------------------------------------------------------------------ wrong calls */

static void test_accept_twice(struct kunit *test)
{
	int i;

	/* Each time another queue pair, in any state that still waits for ESTABLISHED. */
	for (i = 0; i < 2; i++) {
		(i ? to_send_rep : to_wait_fpdu)(test);
		KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN + 1), 0);
		KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN), 0);
		KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN + 1), 0);
		settle();
		KUNIT_EXPECT_EQ(test, fake.id.ests, 1);
		KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
		again(test);
	}
}

static void test_accept_reject(struct kunit *test)
{
	int i;

	for (i = 0; i < 2; i++) {
		(i ? to_send_rep : to_wait_fpdu)(test);
		KUNIT_EXPECT_EQ(test, iw_reject(), -EINVAL);
		settle();
		KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
		KUNIT_EXPECT_EQ(test, fake.id.refs, 1);
		again(test);
	}
}

/* Both: the second accept has changed what iw_cm refers to. */
static void test_accept_twice_reject(struct kunit *test)
{
	to_wait_fpdu(test);
	/* DOWN waits for the queue pair's work. */
	fake.qp[0].state = KWARP_QPS_TERM;
	KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN + 1), 0);
	KUNIT_EXPECT_EQ(test, iw_reject(), -EINVAL);
	stream_says(&fake.qp[0], KWARP_STREAM_DOWN, false);
	settle();
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
}

/* ------------------------------------------------------- what iw_cm has for a QP */

/* The queue pair can be destroyed while iw_cm, misused, keeps what it has. */
static void test_reject_keeps_no_qp(struct kunit *test)
{
	to_wait_fpdu(test);
	KUNIT_EXPECT_EQ(test, iw_reject(), -EINVAL);
	settle();
	KUNIT_EXPECT_NOT_NULL(test, fake.id.qp);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	/* Much later, and the queue pair is gone. */
	KUNIT_EXPECT_EQ(test, iw_disconnect(true), 0);
	iw_drop_qp(&fake.id);
}

static void test_disconnect(struct kunit *test)
{
	bool abrupt;

	for (abrupt = false; ; abrupt = true) {
		to_stream(test);
		KUNIT_EXPECT_EQ(test, iw_disconnect(abrupt), 0);
		KUNIT_EXPECT_TRUE(test, fake.qp[0].closed);
		KUNIT_EXPECT_EQ(test, fake.qp[0].aborted, abrupt);
		/* The stream is down, and another one may use the queue pair. */
		flush_workqueue(fake_cm_wq);
		fake.qp[0].state = KWARP_QPS_RTS;
		fake.qp[0].closed = false;
		KUNIT_EXPECT_EQ(test, iw_disconnect(abrupt), 0);
		KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
		if (abrupt)
			break;
		again(test);
	}
}

/* iw_cm_disconnect() may use what the CLOSE of the id has returned meanwhile. */
static void test_disconnect_late(struct kunit *test)
{
	struct ib_qp *ibqp;

	to_stream(test);
	ibqp = fake.id.qp;
	iw_drop_qp(&fake.id);
	KUNIT_EXPECT_EQ(test, kwarp_cm_modify_stand_in(ibqp, true), -EINVAL);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
	KUNIT_EXPECT_EQ(test, grace_period(), 1);
}

/* A disconnect of the last stream does nothing to the next one of the same queue pair. */
static void test_disconnect_next(struct kunit *test)
{
	to_stream(test);
	stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	/* Reset and connected again, before the endpoint has looked at that. */
	fake.qp[0].state = KWARP_QPS_RTS;
	KUNIT_EXPECT_EQ(test, iw_disconnect(true), 0);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
}

/* An accept that comes too often may name any queue pair, and touches none. */
static void test_accept_twice_other(struct kunit *test)
{
	to_wait_fpdu(test);
	fake.qp[1].may_connect = false;
	fake.qp[1].state = KWARP_QPS_RTS;
	KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN + 1), 0);
	KUNIT_EXPECT_EQ(test, fake.qp[1].refs, 1);
	KUNIT_EXPECT_EQ(test, iw_disconnect(true), -EINVAL);
	KUNIT_EXPECT_FALSE(test, fake.qp[1].closed);
	settle();
	/* The second accept's, of an id that was ESTABLISHED in the end. */
	KUNIT_EXPECT_EQ(test, grace_period(), 1);
}

/* The look-up cannot say that there is no memory: the call says it. */
static void test_no_memory(struct kunit *test)
{
	struct ib_qp *none = &fake.kdev->cm.no_qp;

	no_memory = true;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN), none);
	KUNIT_EXPECT_TRUE(test, kwarp_cm_is_stand_in(none));
	KUNIT_EXPECT_EQ(test, kwarp_cm_modify_stand_in(none, true), -EINVAL);
	kwarp_qp_rem_ref(none);
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake.dials, 0);
	no_memory = false;
	to_wait_ulp(test);
	no_memory = true;
	KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, has_rejected());
	no_memory = false;
	KUNIT_EXPECT_EQ(test, grace_period(), 0);
}

/* Likewise an accept that comes too often. */
static void test_no_memory_again(struct kunit *test)
{
	to_wait_fpdu(test);
	no_memory = true;
	KUNIT_EXPECT_EQ(test, iw_accept(FAKE_QPN), 0);
	no_memory = false;
	KUNIT_EXPECT_PTR_EQ(test, fake.id.qp, &fake.kdev->cm.no_qp);
	settle();
	/* The first accept's is free at once: its id was never ESTABLISHED. */
	KUNIT_EXPECT_EQ(test, grace_period(), 0);
}

/* What is returned faster than it can be freed is bounded, and counts until it is free. */
static void test_many_returned(struct kunit *test)
{
	struct ib_qp *none = &fake.kdev->cm.no_qp;
	struct ib_qp *ibqp;

	atomic_set(&num_returned, KWARP_MAX_RETURNED - 1);
	/* What no call has made use of is free at once. */
	ibqp = kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN);
	KUNIT_ASSERT_PTR_NE(test, ibqp, none);
	kwarp_qp_rem_ref(ibqp);
	KUNIT_EXPECT_EQ(test, grace_period(), 0);
	ibqp = kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN);
	KUNIT_ASSERT_PTR_NE(test, ibqp, none);
	kwarp_cm_expose_stand_in(ibqp);
	kwarp_qp_rem_ref(ibqp);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN), none);
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN), -ENOMEM);
	KUNIT_EXPECT_EQ(test, grace_period(), 1);
	KUNIT_EXPECT_EQ(test, iw_connect(FAKE_QPN), 0);
}

/* ------------------------------------------------------------- one of many */

/* The end of a queue pair is of no concern to endpoints of another. */
static void test_no_qp_is_own(struct kunit *test)
{
	struct kwarp_ep *ep;

	to_connect(test);
	ep = the_ep();
	kwarp_ep_mark_qp(&fake.qp[1]);
	KUNIT_EXPECT_EQ(test, ep->events & BIT(KWARP_EP_NO_QP), 0);
	settle();
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_CONNECT);
	kwarp_ep_mark_qp(&fake.qp[0]);
	settle();
	KUNIT_EXPECT_EQ(test, state(), KWARP_CMS_DEAD);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
}

/* An endpoint whose connect() is not done, so that what it is told stays to be seen. */
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

static void undo(struct kwarp_ep *ep)
{
	mutex_lock(&ep->mutex);
	kwarp_ep_apply(ep, KWARP_CME_LOCAL);
	mutex_unlock(&ep->mutex);
	kwarp_ep_put(ep);
}

/* All that have chosen it are told, and no other one, nor who has given it up. */
static void test_no_qp_of_several(struct kunit *test)
{
	static const u32 qpn[] = { FAKE_QPN, FAKE_QPN + 1, FAKE_QPN, 0, FAKE_QPN };
	struct kwarp_ep *ep[ARRAY_SIZE(qpn)];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(qpn); i++)
		ep[i] = half_made(test, qpn[i]);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 4);
	undo(ep[0]);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 3);
	kwarp_ep_mark_qp(&fake.qp[0]);
	settle();
	for (i = 1; i < ARRAY_SIZE(qpn); i++) {
		KUNIT_EXPECT_EQ_MSG(test, ep[i]->events, qpn[i] == FAKE_QPN ?
				    BIT(KWARP_EP_NO_QP) : 0, "endpoint %u", i);
		undo(ep[i]);
	}
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE_PARAM(test_state, way_gen_params),
	KUNIT_CASE_PARAM(test_retire, way_gen_params),
	KUNIT_CASE_PARAM(test_state_timer, way_gen_params),
	KUNIT_CASE(test_connect_answered),
	KUNIT_CASE(test_accept_answered),
	KUNIT_CASE(test_initiator),
	KUNIT_CASE(test_responder),
	KUNIT_CASE(test_responder_not_p2p),
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
	KUNIT_CASE(test_accept_twice),
	KUNIT_CASE(test_accept_reject),
	KUNIT_CASE(test_accept_twice_reject),
	KUNIT_CASE(test_reject_keeps_no_qp),
	KUNIT_CASE(test_disconnect),
	KUNIT_CASE(test_disconnect_late),
	KUNIT_CASE(test_disconnect_next),
	KUNIT_CASE(test_accept_twice_other),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_no_memory_again),
	KUNIT_CASE(test_many_returned),
	KUNIT_CASE(test_no_qp_is_own),
	KUNIT_CASE(test_no_qp_of_several),
	{ }
};

static struct kunit_suite cm_suite = {
	.name = "kwarp_cm",
	.suite_init = cm_suite_init,
	.suite_exit = cm_suite_exit,
	.init = cm_init,
	.exit = cm_exit,
	.test_cases = cm_cases,
};
kunit_test_suite(cm_suite);

MODULE_DESCRIPTION("KUnit tests of kwarp's connection management");
MODULE_LICENSE("Dual BSD/GPL");
