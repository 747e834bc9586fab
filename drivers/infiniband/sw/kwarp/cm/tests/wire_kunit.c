// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of wired queue pairs: who connects, which peers are refused, and what happens if the peer
 * does not come. Sockets and queue pairs are fakes.
 */
#include "happen.h"

#include "../wire.c"

#define OURS		0x111111
#define THEIRS		0x222222
#define PEER_QPN	99
#define PORT		4790

/* @last: last octet of an IPv4 address */
static void set_gid(u8 *addr, u8 last)
{
	memset(addr, 0, 16);
	addr[10] = 0xff;
	addr[11] = 0xff;
	addr[12] = 10;
	addr[15] = last;
}

static void set_ip(struct sockaddr_storage *ss, u8 last)
{
	struct sockaddr_in *v4 = (void *)ss;

	v4->sin_family = AF_INET;
	v4->sin_addr.s_addr = htonl(0x0a000000 + last);
}

static struct kwarp_wire *wire_to(struct kunit *test, u8 own, u8 peer, u32 peer_qpn)
{
	struct kwarp_wiring to = {
		.pair.own = { .qpn = FAKE_QPN, .peer_qpn = peer_qpn, .rq_psn = THEIRS,
			      .features = KWARP_PAIR_SEND_IMM },
		.ird = 4, .tos = 0x28, .rnr_us = 10000,
	};
	struct kwarp_wire *w = NULL;

	set_gid(to.pair.addr, own);
	set_gid(to.pair.peer_addr, peer);
	set_ip(&fake.local, own);
	set_ip(&fake.remote, peer);
	KUNIT_ASSERT_EQ(test, kwarp_cm_wire(&fake.qp[0], &to, &w), 0);
	ct_settle();
	return w;
}

static void sends(struct kunit *test, struct kwarp_wire *w)
{
	const struct kwarp_wire_sends s = { .sq_psn = OURS, .rnr_retry = 7, .ord = 3 };

	KUNIT_ASSERT_EQ(test, kwarp_cm_wire_sends(w, &s), 0);
	ct_settle();
}

static void peer_frame(const struct kwarp_mpa_frame *frame, const struct kwarp_pair_msg *msg)
{
	struct fake_sock *s = fake.sock;

	s->rx_len += kwarp_mpa_frame_encode(s->rx + s->rx_len, frame);
	kwarp_pair_encode(s->rx + s->rx_len, msg);
	s->rx_len += frame->pdata_len;
	ct_sock_event();
	ct_settle();
}

/* What the peer says; @msg: of the peer */
static void peer_says(bool reply, const struct kwarp_pair_msg *msg, u32 cut)
{
	struct kwarp_mpa_frame frame = {
		.reply = reply, .rev = 2, .enhanced = true, .p2p = true, .rtr = KWARP_RTR_WRITE,
		.ird = 8, .ord = 8, .pdata_len = KWARP_PAIR_LEN - cut,
	};

	peer_frame(&frame, msg);
}

static struct kwarp_pair_msg right(void)
{
	return (struct kwarp_pair_msg) {
		.sends = true, .rnr_retry = 3, .features = U32_MAX, .qpn = PEER_QPN,
		.peer_qpn = FAKE_QPN, .sq_psn = THEIRS, .rq_psn = OURS,
	};
}

/* A connection comes in on the wire's port. */
static void comes_in(struct kunit *test, const struct kwarp_pair_msg *msg, u32 cut)
{
	ct_to_wait_req(test);
	peer_says(false, msg, cut);
}

static int wire_test_init(struct kunit *test)
{
	int ret = ct_init(test);

	if (ret)
		return ret;
	fake.connected = true;
	return kwarp_cm_wire_listen(fake.kdev, PORT);
}

static void wire_test_exit(struct kunit *test)
{
	if (fake.kdev)
		kwarp_cm_wire_listen(fake.kdev, 0);
	ct_exit(test);
}

/* ------------------------------------------------------------------ initiator */

static void test_initiator(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 1, 2, PEER_QPN);
	struct kwarp_pair_msg msg = right();
	struct kwarp_pair_msg sent;

	KUNIT_ASSERT_EQ(test, ct_state(), KWARP_CMS_WAIT_REP);
	KUNIT_EXPECT_EQ(test, fake.connects, 1);
	KUNIT_ASSERT_TRUE(test, kwarp_pair_decode(fake.sock->tx + 24, KWARP_PAIR_LEN, &sent));
	KUNIT_EXPECT_FALSE(test, sent.sends);
	KUNIT_EXPECT_EQ(test, sent.peer_qpn, PEER_QPN);
	msg.rq_psn = 1;			/* this end does not know its PSN yet */
	peer_says(true, &msg, 0);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_STREAM);
	KUNIT_EXPECT_TRUE(test, fake.qp[0].params.initiator);
	KUNIT_EXPECT_EQ(test, fake.qp[0].params.rtr, KWARP_RTR_WRITE);
	KUNIT_EXPECT_TRUE(test, fake.qp[0].params.send_imm);
	KUNIT_EXPECT_EQ(test, fake.qp[0].params.receive_wait, 30);
	/* As with rdma_cm, the IRD is raised to what the peer asks for (6581-9.1-13). */
	KUNIT_EXPECT_EQ(test, fake.qp[0].params.ird, 8);
	KUNIT_EXPECT_EQ(test, fake.qp[0].established, 1);
	/* It does now, and it is another one. */
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_sends(w, &(struct kwarp_wire_sends) { .sq_psn = 2 }),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_sends(w, &(struct kwarp_wire_sends) { .sq_psn = 1 }),
			0);
	kwarp_cm_unwire(w);
	ct_settle();
	KUNIT_EXPECT_TRUE(test, fake.qp[0].aborted);
}

/* The peer is not ready, and this end tries again; no try with MPA revision 1. */
static void test_tries_again(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 1, 2, PEER_QPN);
	const struct fake_sock *sock = fake.sock;
	struct kwarp_pair_msg msg = right();
	int i;

	sends(test, w);
	for (i = 1; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, fake.connects, i);
		KUNIT_ASSERT_EQ(test, ct_state(), KWARP_CMS_WAIT_REP);
		/* It belongs to the consumer's control groups. */
		KUNIT_ASSERT_PTR_EQ(test, fake.sock, sock);
		if (i == 1)
			ct_peer_frame(true, 2, true, false);
		else if (i == 2)
			ct_peer_ends(-ECONNRESET);
		else
			ct_peer_ends(0);
		ct_settle();
		KUNIT_EXPECT_EQ(test, w->state, WIRE_WAITS);
		KUNIT_EXPECT_TRUE(test, delayed_work_pending(&w->work));
		/* A peer that refuses cannot let connections pile up. */
		KUNIT_EXPECT_TRUE(test, list_empty(&fake.kdev->cm.eps));
		KUNIT_EXPECT_EQ(test, fake.socks, 1);
		mod_delayed_work(kwarp_wq, &w->work, 0);
		ct_settle();
	}
	KUNIT_EXPECT_EQ(test, fake.connects, 4);
	peer_says(true, &msg, 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].state, KWARP_QPS_RTS);
	/* The consumer was in RTS already. */
	KUNIT_EXPECT_EQ(test, fake.qp[0].established, 0);
	kwarp_cm_unwire(w);
}

/* A peer that accepts, and does not prove that it is the right one. */
static void test_impostor(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 1, 2, PEER_QPN);
	struct kwarp_pair_msg msg;
	int i;

	sends(test, w);
	for (i = 0; i < 4; i++) {
		msg = right();
		msg.qpn += i == 0;
		msg.rq_psn += i == 1;
		msg.sq_psn += i == 2;
		KUNIT_ASSERT_EQ_MSG(test, ct_state(), KWARP_CMS_WAIT_REP, "%d", i);
		peer_says(true, &msg, i == 3);
		KUNIT_EXPECT_EQ_MSG(test, fake.qp[0].state, KWARP_QPS_IDLE, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, w->state, WIRE_WAITS, "%d", i);
		mod_delayed_work(kwarp_wq, &w->work, 0);
		ct_settle();
	}
	kwarp_cm_unwire(w);
}

/*
 * The right peer asks for too many Reads, or for no peer-to-peer mode. No Terminate: the endpoint
 * would keep the socket, and the next attempt would have one of a kernel thread.
 */
static void test_misfit(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 1, 2, PEER_QPN);
	const struct fake_sock *sock = fake.sock;
	struct kwarp_mpa_frame frame = {
		.reply = true, .rev = 2, .enhanced = true, .rtr = KWARP_RTR_WRITE,
		.ird = 8, .pdata_len = KWARP_PAIR_LEN,
	};
	struct kwarp_pair_msg msg = right();
	int i;

	sends(test, w);
	for (i = 0; i < 2; i++) {
		frame.p2p = i;
		frame.ord = i ? KWARP_MAX_IRD + 1 : 8;
		KUNIT_ASSERT_EQ_MSG(test, ct_state(), KWARP_CMS_WAIT_REP, "%d", i);
		peer_frame(&frame, &msg);
		KUNIT_EXPECT_EQ_MSG(test, w->state, WIRE_WAITS, "%d", i);
		KUNIT_EXPECT_TRUE_MSG(test, list_empty(&fake.kdev->cm.eps), "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, fake.socks, 1, "%d", i);
		mod_delayed_work(kwarp_wq, &w->work, 0);
		ct_settle();
		KUNIT_ASSERT_PTR_EQ(test, fake.sock, sock);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&fake.kdev->stats.term_sent[KWARP_PERR_MPA_IRD]), 0);
	kwarp_cm_unwire(w);
}

/* ------------------------------------------------------------------ responder */

static void test_responder(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 3, 2, PEER_QPN);
	struct kwarp_pair_msg msg = right(), sent;

	KUNIT_EXPECT_EQ(test, fake.connects, 0);
	msg.rq_psn = 5;
	comes_in(test, &msg, 0);
	KUNIT_ASSERT_EQ(test, ct_state(), KWARP_CMS_WAIT_FPDU);
	KUNIT_EXPECT_EQ(test, fake.requests, 0);
	KUNIT_ASSERT_TRUE(test, kwarp_pair_decode(fake.sock->tx + 24, KWARP_PAIR_LEN, &sent));
	KUNIT_EXPECT_EQ(test, sent.rq_psn, THEIRS);
	KUNIT_EXPECT_EQ(test, fake.tos, 0x28);
	KUNIT_EXPECT_EQ(test, fake.qp[0].params.ird, 4);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_ESTABLISHED, true);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.qp[0].established, 1);
	KUNIT_EXPECT_EQ(test, fake.listener.num_half_open, 0);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	ct_settle();
	KUNIT_EXPECT_EQ(test, w->state, WIRE_OVER);
	kwarp_cm_unwire(w);
}

/* All of them get the same: a Reject without private data, and the queue pair stays as it was. */
static void test_stranger(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 3, 2, PEER_QPN);
	struct kwarp_pair_msg msg;
	u8 first[24];
	int i;

	for (i = 0; i < 9; i++) {
		if (i == 8)
			sends(test, w);
		msg = right();
		set_ip(&fake.local, i == 0 ? 4 : 3);
		set_ip(&fake.remote, i == 1 ? 4 : 2);
		msg.qpn += i == 2;
		msg.peer_qpn += i == 3;
		msg.sq_psn += i == 4;
		msg.sends = i != 5;
		msg.rq_psn += i == 8;
		if (i == 7)
			fake.qp[0].state = KWARP_QPS_ERROR;
		comes_in(test, &msg, i == 6);
		KUNIT_ASSERT_TRUE_MSG(test, ct_has_rejected(), "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, fake.sock->tx_len, sizeof(first), "%d", i);
		if (!i)
			memcpy(first, fake.sock->tx, sizeof(first));
		KUNIT_EXPECT_MEMEQ_MSG(test, fake.sock->tx, first, sizeof(first), "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, fake.qp[0].refs, 1, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, w->state, WIRE_WAITS, "%d", i);
		fake.qp[0].state = KWARP_QPS_IDLE;
		kwarp_cm_begin_stop(fake.kdev);
		ct_settle();
		fake.kdev->cm.stopping = false;
	}
	kwarp_cm_unwire(w);
}

/* A peer on another interface of this host connects from this end's address. */
static void test_same_host(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 3, 2, PEER_QPN);
	struct kwarp_pair_msg msg = right();

	set_ip(&fake.remote, 3);
	comes_in(test, &msg, 0);
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
	kwarp_cm_begin_stop(fake.kdev);
	ct_settle();
	fake.kdev->cm.stopping = false;
	fake.here = true;
	comes_in(test, &msg, 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].state, KWARP_QPS_RTS);
	kwarp_cm_unwire(w);
}

/*
 * A connection that fails is reported by ESTABLISHED with an error, and then by CLOSE. Until the
 * second event no other connection may have the queue pair: CLOSE would count as its end.
 */
static void test_fails_once(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 3, 2, PEER_QPN);
	struct iw_cm_event event = { .event = IW_CM_EVENT_ESTABLISHED, .status = -ETIMEDOUT };

	w->state = WIRE_BUSY;
	wire_event(&w->id, &event);
	KUNIT_EXPECT_EQ(test, w->state, WIRE_BUSY);
	event = (struct iw_cm_event) { .event = IW_CM_EVENT_CLOSE };
	wire_event(&w->id, &event);
	KUNIT_EXPECT_EQ(test, w->state, WIRE_WAITS);
	kwarp_cm_unwire(w);
}

/* The consumer's handler is not called while the consumer is in modify_qp. */
static void test_tells_later(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 3, 2, PEER_QPN);
	const struct kwarp_wire_sends s = { .sq_psn = OURS };

	w->state = WIRE_UP;
	w->say_est = true;
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_sends(w, &s), 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].established, 0);
	mod_delayed_work(kwarp_wq, &w->work, 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.qp[0].established, 1);
	kwarp_cm_unwire(w);
}

/* There is no memory for the queues of Reads. */
static void test_no_memory(struct kunit *test)
{
	struct kwarp_wire *w = wire_to(test, 3, 2, PEER_QPN);
	struct kwarp_pair_msg msg = right();

	fake.no_readqs = true;
	comes_in(test, &msg, 0);
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	KUNIT_EXPECT_EQ(test, w->state, WIRE_WAITS);
	kwarp_cm_unwire(w);
}

/* --------------------------------------------------------------- time, and ends */

/* @peer: address of the peer: this end connects, or the peer does */
static void gives_up(struct kunit *test, u8 peer)
{
	struct kwarp_wire *w = wire_to(test, 2, peer, PEER_QPN);

	sends(test, w);
	/* Without a request it waits for ever. */
	w->give_up = jiffies - 1;
	mod_delayed_work(kwarp_wq, &w->work, 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.qp[0].given_up, 0);
	fake.qp[0].sends = true;
	mod_delayed_work(kwarp_wq, &w->work, 0);
	ct_settle();
	KUNIT_EXPECT_TRUE(test, w->counting);
	KUNIT_EXPECT_EQ(test, fake.qp[0].given_up, 0);
	w->give_up = jiffies - 1;
	mod_delayed_work(kwarp_wq, &w->work, 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.qp[0].given_up, 1);
	KUNIT_EXPECT_EQ(test, w->state, WIRE_OVER);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&w->work));
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	kwarp_cm_unwire(w);
	fake.qp[0].state = KWARP_QPS_IDLE;
	fake.qp[0].sends = false;
	fake.qp[0].given_up = 0;
}

static void test_gives_up(struct kunit *test)
{
	gives_up(test, 3);
	gives_up(test, 1);
}

/* No stream is attached after kwarp_cm_unwire(), whatever was going on. */
static void test_unwired(struct kunit *test)
{
	struct kwarp_pair_msg msg = right();
	struct kwarp_wire *w;

	fake.connected = false;
	w = wire_to(test, 1, 2, PEER_QPN);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_CONNECT);
	kwarp_cm_unwire(w);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	fake.connected = true;
	w = wire_to(test, 1, 2, PEER_QPN);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_REP);
	kwarp_cm_unwire(w);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	w = wire_to(test, 3, 2, PEER_QPN);
	kwarp_cm_unwire(w);
	comes_in(test, &msg, 0);
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
}

static void test_refused(struct kunit *test)
{
	struct kwarp_wiring to = { .pair.own = { .qpn = FAKE_QPN, .peer_qpn = FAKE_QPN } };
	struct kwarp_wire *w = NULL;

	/* to itself */
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire(&fake.qp[0], &to, &w), -EINVAL);
	KUNIT_EXPECT_NULL(test, w);
	/* This end would connect, and there is no socket; otherwise it needs none. */
	fake.no_sock = true;
	to.pair.own.peer_qpn++;
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire(&fake.qp[0], &to, &w), -ENOMEM);
	KUNIT_EXPECT_NULL(test, w);
	to.pair.own.peer_qpn -= 2;
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire(&fake.qp[0], &to, &w), 0);
	kwarp_cm_unwire(w);
}

/* The connect fails at once: no route, or the knob is off by now. */
static void test_no_connect(struct kunit *test)
{
	struct kwarp_wire *w;

	fake.start_err = -ENETUNREACH;
	w = wire_to(test, 1, 2, PEER_QPN);
	KUNIT_EXPECT_EQ(test, fake.socks, 1);
	KUNIT_EXPECT_EQ(test, w->state, WIRE_WAITS);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&w->work));
	kwarp_cm_wire_listen(fake.kdev, 0);
	mod_delayed_work(kwarp_wq, &w->work, 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, w->state, WIRE_WAITS);
	KUNIT_EXPECT_EQ(test, fake.connects, 0);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	kwarp_cm_unwire(w);
}

/*
 * The port that it listens on is not opened again, unless something has closed the socket. A new
 * link may find that its knob has been set already.
 */
static void test_listen_again(struct kunit *test)
{
	struct socket sock = { };

	fake.listener.cs.sock = &sock;
	fake.listen_err = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_listen(fake.kdev, PORT), 0);
	kwarp_cm_wire_begin(fake.kdev);
	KUNIT_EXPECT_EQ(test, fake.listens, 2);
	KUNIT_EXPECT_EQ(test, fake.listen_err, -EADDRINUSE);
	/* What is still open of it has the port, so it is closed first. */
	fake.listener.cs.sock = NULL;
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_listen(fake.kdev, PORT), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, fake.listens, 0);
	kwarp_cm_wire_begin(fake.kdev);
	KUNIT_EXPECT_EQ(test, fake.listens, 2);
}

/* A port that is in use changes nothing. */
static void test_listen(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fake.listens, 2);
	KUNIT_EXPECT_EQ(test, fake.listen_port, PORT);
	fake.listen_err = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_listen(fake.kdev, PORT + 1), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, fake.listens, 2);
	KUNIT_EXPECT_EQ(test, fake.kdev->knobs.wire_port, PORT);
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_listen(fake.kdev, PORT + 1), 0);
	KUNIT_EXPECT_EQ(test, fake.listens, 2);
	KUNIT_EXPECT_EQ(test, fake.listen_port, PORT + 1);
	KUNIT_EXPECT_EQ(test, kwarp_cm_wire_listen(fake.kdev, 0), 0);
	KUNIT_EXPECT_EQ(test, fake.listens, 0);
	KUNIT_EXPECT_EQ(test, fake.kdev->knobs.wire_port, 0);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(test_initiator),
	KUNIT_CASE(test_tries_again),
	KUNIT_CASE(test_impostor),
	KUNIT_CASE(test_misfit),
	KUNIT_CASE(test_responder),
	KUNIT_CASE(test_stranger),
	KUNIT_CASE(test_same_host),
	KUNIT_CASE(test_fails_once),
	KUNIT_CASE(test_tells_later),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_gives_up),
	KUNIT_CASE(test_unwired),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_no_connect),
	KUNIT_CASE(test_listen_again),
	KUNIT_CASE(test_listen),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "kwarp_wire",
	.init = wire_test_init,
	.exit = wire_test_exit,
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
