// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of sock.c, the callbacks of the TCP socket, at one end of a TCP connection over lo; and of
 * kwarp_tcp_packet() of tcp.c, which calculates how many octets to send at a time: as many as TCP
 * passes to the network device as one packet, which the device divides into TCP segments.
 */
#include "sock_fixture.h"

#include <linux/delay.h>
#include <net/tcp.h>

static bool soon(const u32 *what)
{
	u32 ms;

	for (ms = 0; !READ_ONCE(*what) && ms < PATIENCE_MS; ms += 20)
		msleep(20);
	return READ_ONCE(*what);
}

static const u32 eaches[] = { 1, 7, 100, 1448, 9000, 65536, WIRE_MAX };

static void test_stream(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 i;

	sock_connect_pair(test, 0, 0);
	for (i = 0; i < ARRAY_SIZE(eaches); i++) {
		t->len = 0;
		t->ends = 0;
		sock_add_fpdu(t, 14);
		sock_add_fpdu(t, 3000);
		sock_add_fpdu(t, 15);
		if (eaches[i] >= 100)
			sock_add_fpdu(t, 65535);
		sock_add_fpdu(t, 1000);
		KUNIT_EXPECT_TRUE_MSG(test, sock_send_all(t, eaches[i], eaches[i] >= 100 ? 5 : 4),
				      "writes of %u: %u FPDUs", eaches[i], t->ends);
	}
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, 0);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&t->ours->sk->sk_receive_queue));
}

/* An incomplete FPDU stays with TCP, which acknowledges it, until it is complete. */
static void test_incomplete(struct kunit *test)
{
	struct sock_test *t = test->priv;
	struct sock *sk;

	sock_connect_pair(test, 0, 0);
	sk = t->ours->sk;
	sock_add_fpdu(t, 5000);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 0, 1, 0), 1);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 1, 999, 0), 999);
	kwarp_sock_drain(&t->e);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, t->len);
	KUNIT_EXPECT_EQ(test, tcp_sk(sk)->rcv_nxt - tcp_sk(sk)->copied_seq, 1000);
	KUNIT_EXPECT_EQ(test, t->octets, 0);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 1000, t->len - 1000, 0), t->len - 1000);
	KUNIT_EXPECT_TRUE(test, soon(&t->ends));
	KUNIT_EXPECT_EQ(test, t->octets, 5000 - 14);
	KUNIT_EXPECT_EQ(test, t->polls, 0);
}

/* No octet is unread, which would make close() send a reset. */
static void test_give_back(struct kunit *test)
{
	struct sock_test *t = test->priv;

	sock_connect_pair(test, 0, 0);
	sock_add_fpdu(t, 5000);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 0, 100, 0), 100);
	kwarp_sock_drain(&t->e);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&t->ours->sk->sk_receive_queue));
	KUNIT_EXPECT_NULL(test, t->ours->sk->sk_user_data);
}

/* A BPF program has put the socket into a map, which sets sk_user_data. */
static void test_taken(struct kunit *test)
{
	struct sock_test *t = test->priv;
	struct sock *sk;

	sock_connect_pair(test, 0, 0);
	sk = t->ours->sk;
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	sk->sk_user_data = t;
	KUNIT_EXPECT_EQ(test, kwarp_sock_install(&t->e, t->ours), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_user_data, (void *)t);
	sk->sk_user_data = NULL;
}

/* A FIN is handled after all octets that were sent before it. */
static void test_fin_behind(struct kunit *test)
{
	struct sock_test *t = test->priv;

	sock_connect_pair(test, 0, 0);
	sock_add_fpdu(t, 2000);
	sock_add_fpdu(t, 20);
	/*
	 * While the test has the socket lock, all packets wait in the backlog. sock_send_now()
	 * takes the lock of the other socket, which has the same lockdep class, so tell lockdep.
	 */
	lock_sock_nested(t->ours->sk, SINGLE_DEPTH_NESTING);
	KUNIT_EXPECT_EQ(test, sock_send_now(t, 0, t->len, 0), t->len);
	kernel_sock_shutdown(t->theirs, SHUT_WR);
	release_sock(t->ours->sk);
	KUNIT_EXPECT_TRUE(test, soon(&t->fins));
	KUNIT_EXPECT_EQ(test, t->ends_at_eof, 2);
	KUNIT_EXPECT_EQ(test, t->resets, 0);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, 0);
}

/*
 * When a FIN inside an FPDU is handled, rx.want still is that FPDU's length, by which
 * kwarp_rx_eof(), here a function of the fixture, knows that the FIN cuts off an FPDU (5044-6-6).
 */
static void test_fin_inside(struct kunit *test)
{
	struct sock_test *t = test->priv;

	sock_connect_pair(test, 0, 0);
	sock_add_fpdu(t, 20);
	sock_add_fpdu(t, 2000);
	KUNIT_EXPECT_EQ(test, sock_send_now(t, 0, t->len - 1, 0), t->len - 1);
	kernel_sock_shutdown(t->theirs, SHUT_WR);
	KUNIT_EXPECT_TRUE(test, soon(&t->fins));
	KUNIT_EXPECT_EQ(test, t->ends_at_eof, 1);
	KUNIT_EXPECT_NE(test, t->e.rx.want, 0);
}

/* TCP would leave out an octet of the stream. No line in the kernel log is expected. */
static void test_urgent(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 ms;

	sock_connect_pair(test, 0, 0);
	sock_add_fpdu(t, 100);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 0, 20, MSG_OOB), 20);
	for (ms = 0; !test_bit(KWARP_E_RX_STOP, &t->e.flags) && ms < PATIENCE_MS; ms += 20)
		msleep(20);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_MPA_LOST);
	KUNIT_EXPECT_EQ(test, t->ends, 0);
}

/*
 * TCP tells its error to the first call that meets it, which may be one that sends. It can be asked
 * for after that: connection management says in the log why the connection has ended.
 */
static void test_send_error(struct kunit *test)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct sock_test *t = test->priv;
	u8 octet = 0;
	struct kvec v = { .iov_base = &octet, .iov_len = 1 };
	u32 i;

	sock_connect_pair(test, 0, 0);
	sock_no_linger(t->theirs->sk);
	sock_release(t->theirs);
	t->theirs = NULL;
	KUNIT_ASSERT_TRUE(test, soon(&t->polls));
	for (i = 0; i < 2; i++) {
		iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &v, 1, 1);
		KUNIT_EXPECT_EQ(test, kwarp_tcp_send(t->ours, &msg, false), -ECONNRESET);
		KUNIT_EXPECT_EQ(test, t->ours->sk->sk_err, ECONNRESET);
	}
}

/* ---------------------------------------------------------------- one packet */

static const struct packet {
	u32 size;	/* octets that the device accepts as one packet, to be divided */
	u16 segments;	/* TCP segments into which the device divides such a packet, at most */
	u32 emss;
	u32 octets;	/* expected result, if the caller's limit is 64 KiB */
} packets[] = {
	{ 65215, 65535, 1448, 45 * 1448 },
	{ 65215, 65535, 8948, 7 * 8948 },
	{ 65215, 65535, 64948, 64948 },
	{ 65215, 65535, 65483, 65483 },
	{ 65215, 10, 1448, 10 * 1448 },
	{ 65215, 2, 1448, 2 * 1448 },
	/* without segmentation offload the limits of the device do not apply */
	{ 65215, 1, 1448, 45 * 1448 },
	{ 65215, 0, 1448, 45 * 1448 },
	{ 0, 1, 1448, 45 * 1448 },
	{ 1000, 65535, 1448, 1448 },
	{ 16000, 65535, 1448, 11 * 1448 },
	/* BIG TCP: the device accepts more than the caller's limit */
	{ 190000, 65535, 1448, 45 * 1448 },
};

static void packet_desc(const struct packet *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u octets, %u segments of %u", c->size, c->segments,
		 c->emss);
}

KUNIT_ARRAY_PARAM(packet, packets, packet_desc);

/* Whole TCP segments (of @emss octets each), but at least one */
static void test_packet(struct kunit *test)
{
	const struct packet *c = test->param_value;
	struct socket sock = { .sk = kunit_kzalloc(test, sizeof(*sock.sk), GFP_KERNEL) };

	KUNIT_ASSERT_NOT_NULL(test, sock.sk);
	sock.sk->sk_gso_max_size = c->size;
	sock.sk->sk_gso_max_segs = c->segments;
	KUNIT_EXPECT_EQ(test, kwarp_tcp_packet(&sock, c->emss, 64 * 1024), c->octets);
}

static struct kunit_case sock_cases[] = {
	KUNIT_CASE_SLOW(test_stream),
	KUNIT_CASE(test_incomplete),
	KUNIT_CASE(test_give_back),
	KUNIT_CASE(test_taken),
	KUNIT_CASE(test_fin_behind),
	KUNIT_CASE(test_fin_inside),
	KUNIT_CASE(test_urgent),
	KUNIT_CASE(test_send_error),
	KUNIT_CASE_PARAM(test_packet, packet_gen_params),
	{}
};

static struct kunit_suite sock_suite = {
	.name = "kwarp_sock",
	.init = sock_test_init,
	.exit = sock_test_exit,
	.test_cases = sock_cases,
};

kunit_test_suite(sock_suite);
