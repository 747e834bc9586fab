// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of endpoints (connections): MPA startup from connect() or accept() until the stream begins,
 * and each call that can fail, failing once. Sockets, queue pairs and iw_cm are fakes.
 */
#include "happen.h"

/* -------------------------------------------------------------- the long way */

static void test_initiator(struct kunit *test)
{
	ct_to_stream(test);
	KUNIT_EXPECT_EQ(test, fake.id.state, FAKE_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
	KUNIT_EXPECT_EQ(test, fake.id.status, 0);
	/* The queue pair has two references: its own, and the endpoint's. */
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 2);
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
	KUNIT_EXPECT_EQ(test, fake.connects, 1);
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

/* The ordered workqueue, which all connections share, starts no I/O to have memory. */
static void test_no_io(struct kunit *test)
{
	ct_to_wait_rep(test);
	KUNIT_ASSERT_NOT_NULL(test, fake.sock);
	KUNIT_EXPECT_TRUE(test, fake.sock->tx_flags & PF_MEMALLOC_NOIO);
	KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
}

/* --------------------------------------------------------- each call failing once */

/* No TCP connect is started, and no upcall is made. */
static void test_connect_refused(struct kunit *test)
{
	fake.start_err = -EHOSTUNREACH;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EHOSTUNREACH);
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN + FAKE_QPS), -EINVAL);
	fake.qp[0].may_connect = false;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EPERM);
	fake.qp[0].may_connect = true;
	fake.id.more_ird = KWARP_MAX_IRD;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EINVAL);
	fake.id.more_ird = 0;
	fake.id.more_ord = KWARP_MAX_ORD;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EINVAL);
	fake.id.more_ord = 0;
	fake.qp[0].state = KWARP_QPS_ERROR;
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -EINVAL);
	kwarp_cm_retire(fake.kdev);
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -ENODEV);
	KUNIT_EXPECT_TRUE(test, IS_ERR(kwarp_ep_create(fake.kdev, &fake.listener)));
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.connects, 0);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 0);
}

/* 6581-9.3-3: a Terminate with layer 2, type 0, code 05 (local catastrophic error), then a FIN */
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

/* The peer ends the connection after its Reply, before the queue pair takes the socket. */
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
	/* The id was never ESTABLISHED, so its stand-in does not wait for a grace period. */
	KUNIT_EXPECT_EQ(test, ct_returned(), 0);
}

/* 6581-9.1-14, 5044-7.1.4.2-2; rdma_cm passes IRD and ORD on only from an accepting Reply. */
static void test_rejected_told(struct kunit *test)
{
	static const struct kwarp_mpa_frame frame = {
		.reply = true, .rev = 2, .enhanced = true, .reject = true, .ird = 3, .ord = 2,
		.pdata_len = 4,
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
	KUNIT_EXPECT_EQ(test, fake.id.pdata_len, 4);
}

/* A peer closes the connection without a Reply, so the initiator tries again with revision 1. */
static void test_reconnect(struct kunit *test)
{
	ct_to_wait_rep(test);
	ct_peer_ends(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_CONNECT);
	KUNIT_EXPECT_EQ(test, fake.connects, 2);
	KUNIT_EXPECT_EQ(test, fake.socks, 1);
	fake.sock->connect_err = 0;
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.sock->tx[17], 1);
	ct_peer_ends(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.connects, 2);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
}

static void test_reconnect_fails(struct kunit *test)
{
	ct_to_wait_rep(test);
	fake.start_err = -ENOMEM;
	ct_peer_ends(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.status, -ENOMEM);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
}

static void test_reply_without_memory(struct kunit *test)
{
	static const struct kwarp_mpa_frame frame = {
		.reply = true, .rev = 2, .enhanced = true, .ird = 1, .ord = 1, .pdata_len = 4,
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

/* The initiator's: the Reply is looked at again when there is memory. */
static void test_initiator_no_readqs(struct kunit *test)
{
	ct_to_wait_rep(test);
	fake.no_readqs = true;
	ct_peer_frame(true, 2, false, true);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_REP);
	fake.no_readqs = false;
	ct_sock_event();
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_STREAM);
	KUNIT_EXPECT_EQ(test, fake.id.status, 0);
}

/* iw_cm has no memory for a Request at first: the Request is passed to iw_cm again later. */
static void test_request_again(struct kunit *test)
{
	ct_to_wait_req(test);
	fake.request_err = -ENOMEM;
	ct_peer_frame(false, 2, false, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.request_err, 0);
	/* Let the endpoint try again, if its retry timer has not made it try already. */
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

/* The memory is allocated before an accepting Reply is sent. */
static void test_accept_no_readqs(struct kunit *test)
{
	ct_to_wait_ulp(test);
	fake.no_readqs = true;
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), -ENOMEM);
	ct_settle();
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
}

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

/* accept() has returned 0 already, because TCP had no room for all of the Reply. */
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

/* The connection ends before the ULP accepts or rejects: both calls return -ECONNRESET. */
static void test_verdict_late(struct kunit *test)
{
	ct_to_wait_ulp(test);
	ct_peer_ends(-ECONNRESET);
	ct_settle();
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), -ECONNRESET);
	KUNIT_EXPECT_EQ(test, ct_iw_reject(), -ECONNRESET);
}

static struct kunit_case ep_startup_cases[] = {
	KUNIT_CASE(test_initiator),
	KUNIT_CASE(test_responder),
	KUNIT_CASE(test_responder_not_p2p),
	KUNIT_CASE(test_no_io),
	KUNIT_CASE(test_connect_refused),
	KUNIT_CASE(test_attach_fails_initiator),
	KUNIT_CASE(test_attach_not_connected),
	KUNIT_CASE(test_rejected),
	KUNIT_CASE(test_rejected_told),
	KUNIT_CASE(test_reconnect),
	KUNIT_CASE(test_reconnect_fails),
	KUNIT_CASE(test_reply_without_memory),
	KUNIT_CASE(test_initiator_no_readqs),
	KUNIT_CASE(test_request_again),
	KUNIT_CASE(test_request_nobody),
	KUNIT_CASE(test_accept_no_qp),
	KUNIT_CASE(test_accept_foreign_qp),
	KUNIT_CASE(test_accept_busy_qp),
	KUNIT_CASE(test_accept_no_readqs),
	KUNIT_CASE(test_attach_fails_responder),
	KUNIT_CASE(test_attach_fails_later),
	KUNIT_CASE(test_verdict_late),
	{}
};

static struct kunit_suite ep_startup_suite = {
	.name = "kwarp_cm_startup",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = ep_startup_cases,
};

kunit_test_suite(ep_startup_suite);
