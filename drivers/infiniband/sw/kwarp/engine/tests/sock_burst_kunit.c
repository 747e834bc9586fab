// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of sock.c with bursts: octets in the middle of a message are not read packet by packet, but
 * by a tasklet when the softirq has handled all packets that it has. Each packet of the burst has
 * one FPDU, or a part of one, in a TCP segment without PSH, which would end the sender's write.
 */
#include "sock_fixture.h"

#include <net/tcp.h>

/* Packets of a burst. TCP's first congestion window allows ten. */
#define BURST		5

/* Without ACKs that are sent at once, or packets of several segments */
static u32 connect(struct kunit *test)
{
	struct sock_test *t = test->priv;

	sock_connect_pair(test, 0, 1000);
	tcp_sock_set_quickack(t->ours->sk, 0);
	t->theirs->sk->sk_gso_max_segs = 1;
	return kwarp_tcp_emss(t->theirs);
}

/* @flags: MSG_MORE: without PSH. The segments come as one burst when bottom halves are on again. */
static void send_burst(struct kunit *test, u32 from, u32 len, int flags, bool fin)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };
	struct sock_test *t = test->priv;
	struct kvec v = { .iov_base = t->wire + from, .iov_len = len };
	int n;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &v, 1, len);
	local_bh_disable();
	bh_lock_sock(t->theirs->sk);
	n = kwarp_tcp_send(t->theirs, &msg, true);
	if (fin)
		tcp_shutdown(t->theirs->sk, SEND_SHUTDOWN);
	bh_unlock_sock(t->theirs->sk);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, n, len);
}

/* Return: octets of a segment */
static u32 begin_message(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = connect(test), i;

	for (i = 0; i <= BURST; i++)
		sock_add_segment(t, mss - 6, false);
	KUNIT_ASSERT_EQ(test, t->len, (1 + BURST) * mss);
	send_burst(test, 0, mss, MSG_MORE, false);
	KUNIT_ASSERT_TRUE(test, sock_soon(&t->ends, 1));
	KUNIT_ASSERT_TRUE(test, sock_soon(&t->runs, 1));
	KUNIT_EXPECT_EQ(test, t->laters, 0);
	t->runs = 0;
	return mss;
}

/* A burst in the middle of a message is read once, by the tasklet, and acknowledged once. */
static void test_burst(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = begin_message(test), sent = tcp_sk(t->ours->sk)->segs_out;

	send_burst(test, mss, BURST * mss, MSG_MORE, false);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->ends, 1 + BURST));
	KUNIT_EXPECT_EQ(test, t->runs, 1);
	KUNIT_EXPECT_EQ(test, t->laters, BURST);
	/* On a slow host the delayed ACK of the first FPDU is sent during the burst. */
	KUNIT_EXPECT_LE(test, tcp_sk(t->ours->sk)->segs_out - sent, 2);
	KUNIT_EXPECT_EQ(test, t->polls, 0);
}

/*
 * The first packet is read, for the FPDU's length; the burst is acknowledged once, when all of it
 * is there. The end of the FPDU is read at once.
 */
static void test_ack(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = connect(test);

	sock_add_fpdu(t, (1 + BURST) * mss - 6);
	send_burst(test, 0, BURST * mss, MSG_MORE, false);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->runs, 2));
	KUNIT_EXPECT_EQ(test, t->laters, BURST);
	KUNIT_EXPECT_EQ(test, READ_ONCE(sock_acks), 1);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, t->len);
	send_burst(test, BURST * mss, mss, MSG_MORE, false);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->ends, 1));
	KUNIT_EXPECT_EQ(test, t->laters, BURST);
	KUNIT_EXPECT_EQ(test, t->runs, 3);
	KUNIT_EXPECT_EQ(test, sock_acks, 1);
}

static const struct at_once {
	const char *why;
	bool later;	/* nothing keeps sock.c from waiting for more packets */
	bool psh;
	bool resched;
	bool pressure;
	bool stash;
	bool full;
} at_onces[] = {
	{ "no reason", .later = true },
	{ "PSH", .psh = true },
	{ "a task waits", .resched = true },
	{ "memory pressure", .pressure = true },
	{ "stash in use", .stash = true },
	{ "buffer half full", .full = true },
};

KUNIT_ARRAY_PARAM_DESC(at_once, at_onces, why);

static void test_at_once(struct kunit *test)
{
	const struct at_once *c = test->param_value;
	struct sock_test *t = test->priv;
	u32 mss = begin_message(test);
	struct sock *sk = t->ours->sk;

	lock_sock(sk);
	WRITE_ONCE(sock_resched, c->resched);
	WRITE_ONCE(sock_is_short, c->pressure);
	if (c->stash)
		KUNIT_EXPECT_TRUE(test, kwarp_rx_make_stash(&t->e));
	/* TCP accepts a packet into an empty queue even if it is larger than the buffer. */
	if (c->full)
		WRITE_ONCE(sk->sk_rcvbuf, mss);
	release_sock(sk);
	send_burst(test, mss, mss, c->psh ? 0 : MSG_MORE, false);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->ends, 2));
	KUNIT_EXPECT_EQ(test, t->laters, c->later);
	KUNIT_EXPECT_EQ(test, t->runs, 1);
}

/* Between two messages no packet is expected, so there is nothing to wait for. */
static void test_last(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = connect(test), i;

	for (i = 0; i < 2; i++)
		sock_add_fpdu(t, mss - 6);
	send_burst(test, 0, 2 * mss, MSG_MORE, false);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->ends, 2));
	KUNIT_EXPECT_EQ(test, t->laters, 0);
	KUNIT_EXPECT_EQ(test, t->runs, 2);
}

/* A FIN that comes with a burst is handled after all of its FPDUs, by the tasklet. */
static void test_fin(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = begin_message(test);

	send_burst(test, mss, BURST * mss, MSG_MORE, true);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->fins, 1));
	KUNIT_EXPECT_EQ(test, t->ends_at_eof, 1 + BURST);
	KUNIT_EXPECT_EQ(test, t->resets, 0);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, 0);
	KUNIT_EXPECT_EQ(test, t->runs, 1);
}

static void test_fin_inside(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = begin_message(test);

	send_burst(test, mss, BURST * mss - 1, MSG_MORE, true);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->fins, 1));
	KUNIT_EXPECT_EQ(test, t->ends_at_eof, BURST);
	KUNIT_EXPECT_EQ(test, t->resets, 0);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, mss);
}

/* If a process owns the socket, packets wait in its backlog anyway, and are read one by one. */
static void test_backlog(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = begin_message(test);

	lock_sock(t->ours->sk);
	send_burst(test, mss, BURST * mss, MSG_MORE, false);
	release_sock(t->ours->sk);
	KUNIT_EXPECT_EQ(test, t->ends, 1 + BURST);
	KUNIT_EXPECT_EQ(test, t->laters, 0);
}

/* If a process owns the socket when the tasklet runs, process context reads. */
static void test_owned(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = begin_message(test);

	tasklet_disable(&t->e.read_rest);
	send_burst(test, mss, BURST * mss, MSG_MORE, false);
	lock_sock(t->ours->sk);
	tasklet_enable(&t->e.read_rest);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->polls, 1));
	KUNIT_EXPECT_EQ(test, t->ends, 1);
	release_sock(t->ours->sk);
	kwarp_sock_drain(&t->e);
	KUNIT_EXPECT_EQ(test, t->ends, 1 + BURST);
}

static void let_run(struct work_struct *work)
{
	struct sock_test *t = container_of(work, struct sock_test, memory.work);

	tasklet_enable(&t->e.read_rest);
}

/* kwarp_sock_remove() waits for the tasklet, which then does nothing. */
static void test_stop(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 mss = begin_message(test);

	INIT_DELAYED_WORK(&t->memory, let_run);
	tasklet_disable(&t->e.read_rest);
	send_burst(test, mss, BURST * mss, MSG_MORE, false);
	KUNIT_EXPECT_TRUE(test, test_bit(TASKLET_STATE_SCHED, &t->e.read_rest.state));
	schedule_delayed_work(&t->memory, msecs_to_jiffies(50));
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.read_rest.state, 0);
	flush_delayed_work(&t->memory);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&t->ours->sk->sk_receive_queue));
	KUNIT_EXPECT_EQ(test, t->runs, 0);
	KUNIT_EXPECT_EQ(test, t->ends, 1);
	KUNIT_EXPECT_EQ(test, t->polls, 0);
	t->e.sock = NULL;
}

static struct kunit_case sock_burst_cases[] = {
	KUNIT_CASE(test_burst),
	KUNIT_CASE(test_ack),
	KUNIT_CASE_PARAM(test_at_once, at_once_gen_params),
	KUNIT_CASE(test_last),
	KUNIT_CASE(test_fin),
	KUNIT_CASE(test_fin_inside),
	KUNIT_CASE(test_backlog),
	KUNIT_CASE(test_owned),
	KUNIT_CASE(test_stop),
	{}
};

static struct kunit_suite sock_burst_suite = {
	.name = "kwarp_sock_burst",
	.init = sock_test_init,
	.exit = sock_test_exit,
	.test_cases = sock_burst_cases,
};

kunit_test_suite(sock_burst_suite);
