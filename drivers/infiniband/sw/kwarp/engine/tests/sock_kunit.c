// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of sock.c at one end of a TCP connection over lo. The code is included, with tcp.c and
 * rx/skb.c. The parser is the real one, and what it reports is counted.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#define kwarp_rx_feed		sock_rx_feed
#define kwarp_rx_accept_series	sock_rx_accept_series
#define kwarp_rx_end_run	sock_rx_end_run
#define kwarp_rx_eof		sock_rx_eof
#define kwarp_rx_skb		sock_rx_skb
#define kwarp_rx_make_stash	sock_rx_make_stash
#define kwarp_rx_free_stash	sock_rx_free_stash
#define kwarp_engine_lost	sock_engine_lost
#define kwarp_engine_fail	sock_engine_fail
#define kwarp_tx_kick		sock_tx_kick
#define kwarp_wq		system_wq
#define kwarp_sock_init		real_sock_init
#define kwarp_sock_install	real_sock_install
#define kwarp_sock_remove	real_sock_remove
#define kwarp_sock_drain	real_sock_drain
#define kwarp_tcp_send		real_tcp_send
#define kwarp_tcp_call_locked	real_tcp_call_locked
#define kwarp_tcp_charge	real_tcp_charge
#define kwarp_tcp_uncharge	real_tcp_uncharge
#define kwarp_tcp_shutdown	real_tcp_shutdown
#define kwarp_tcp_writable	real_tcp_writable
#define kwarp_tcp_emss		real_tcp_emss
#define kwarp_tcp_packet	real_tcp_packet
#include "../rx/stash.c"
#include "../rx/skb.c"
#include "../tcp.c"
#include "../sock.c"

#include "../../proto/tests/emit.h"
#include "feed.h"

#define WIRE_MAX	(256 * 1024)
#define PATIENCE_MS	10000

/**
 * struct sock_test - both ends of the connection
 * @e: engine on @ours
 * @ours: its socket, our end
 * @theirs: the other end
 * @wire: octets of the stream to be sent
 * @len: number of octets in @wire
 * @filled: octets sent to fill the buffers
 * @ends: FPDUs that the parser has reported
 * @octets: octets of payload that the parser has reported
 * @ends_at_eof: value of @ends at the first call of kwarp_rx_eof()
 * @polls: number of poll upcalls
 * @served: number of polls served while buffers were filled
 * @fins: number of FINs reported
 * @resets: number of resets reported
 * @short_ms: milliseconds without memory, from the first poll on
 * @memory: work item that makes memory available again
 */
struct sock_test {
	struct kwarp_engine e;
	struct socket *ours, *theirs;
	u8 *wire;
	u32 len;
	u32 filled;
	u32 ends;
	u32 octets;
	u32 ends_at_eof;
	u32 polls;
	u32 served;
	u32 fins;
	u32 resets;
	u32 short_ms;
	struct delayed_work memory;
};

/* ---------------------------------------------------------------- stand-ins */

static struct sock_test *to_test(struct kwarp_engine *e)
{
	return container_of(e, struct sock_test, e);
}

void kwarp_engine_lost(struct kwarp_engine *e)
{
	e->perr = KWARP_PERR_MPA_LOST;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

void kwarp_engine_fail(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
		       u16 seg_len, const u8 *rreq)
{
	e->perr = perr;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

void kwarp_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from)
{
}

bool kwarp_rx_end_run(struct kwarp_engine *e)
{
	return false;
}

void kwarp_rx_eof(struct kwarp_engine *e, bool reset)
{
	struct sock_test *t = to_test(e);

	if (!t->fins && !t->resets)
		t->ends_at_eof = t->ends;
	if (reset)
		t->resets++;
	else
		t->fins++;
}

static void got_payload(struct kwarp_engine *e, const u8 *piece, u32 n)
{
	to_test(e)->octets += n;
}

static void got_fpdu(struct kwarp_engine *e)
{
	struct sock_test *t = to_test(e);

	WRITE_ONCE(t->ends, t->ends + 1);
}

size_t kwarp_rx_accept_series(struct kwarp_engine *e, const u8 *data, size_t len)
{
	return 0;
}

void kwarp_rx_feed(struct kwarp_engine *e, const u8 *data, size_t len)
{
	static const struct feed_sink sink = { .payload = got_payload, .fpdu = got_fpdu };

	feed(e, data, len, &sink);
}

static void on_poll(struct kwarp_engine *e)
{
	WRITE_ONCE(to_test(e)->polls, to_test(e)->polls + 1);
}

static const struct kwarp_engine_ops ops = { .poll = on_poll };

/* ------------------------------------------------------------------ fixture */

static struct socket *new_socket(struct kunit *test)
{
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, 0,
			sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock));
	return sock;
}

/* Connect both ends over lo. @rcvbuf, @mss: of our end, if not 0. */
static void connect_pair(struct kunit *test, int rcvbuf, int mss)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr *sa = (struct sockaddr *)&addr;
	struct socket *listener = new_socket(test);
	struct sock_test *t = test->priv;

	if (rcvbuf) {
		listener->sk->sk_rcvbuf = rcvbuf;
		listener->sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	}
	tcp_sk(listener->sk)->rx_opt.user_mss = mss;
	KUNIT_ASSERT_EQ(test, kernel_bind(listener, sa, sizeof(addr)), 0);
	KUNIT_ASSERT_EQ(test, kernel_listen(listener, 1), 0);
	KUNIT_ASSERT_GT(test, kernel_getsockname(listener, sa), 0);
	t->theirs = new_socket(test);
	tcp_sock_set_nodelay(t->theirs->sk);
	KUNIT_ASSERT_EQ(test, kernel_connect(t->theirs, sa, sizeof(addr), 0), 0);
	KUNIT_ASSERT_EQ(test, kernel_accept(listener, &t->ours, 0), 0);
	sock_release(listener);

	kwarp_fpdu_rx_init(&t->e.rx.fpdu, true, false);
	kwarp_sock_init(&t->e);
	t->e.ops = &ops;
	t->e.sock = t->ours;
	KUNIT_ASSERT_EQ(test, kwarp_sock_install(&t->e, t->ours), 0);
}

static void add_fpdu(struct sock_test *t, u32 ulpdu_len)
{
	struct kwarp_emit w = { .buf = t->wire + t->len, .size = WIRE_MAX - t->len };
	u8 *ulpdu = kzalloc(65536, GFP_KERNEL);

	if (!ulpdu)
		return;
	ulpdu[0] = 0xc1;
	kwarp_emit_fpdu(&w, ulpdu, ulpdu_len, 0);
	t->len += w.len;
	kfree(ulpdu);
}

/* Send without waiting. Return: octets that TCP has accepted. */
static int send_now(struct sock_test *t, u32 from, u32 len, int flags)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };
	struct kvec v = { .iov_base = t->wire + from, .iov_len = len };

	return kernel_sendmsg(t->theirs, &msg, &v, 1, len);
}

/* Serve polls, as qp_work() does. */
static void serve_polls(struct sock_test *t, u32 *served)
{
	u32 polls = READ_ONCE(t->polls);

	if (polls != *served)
		kwarp_sock_drain(&t->e);
	*served = polls;
}

/*
 * Send the whole stream in writes of @each octets. Return: true if the parser has reported @fpdus.
 */
static bool send_all(struct sock_test *t, u32 each, u32 fpdus)
{
	u32 at = 0, ms = 0, served = t->polls;
	int n;

	while (ms < PATIENCE_MS && (at < t->len || READ_ONCE(t->ends) < fpdus)) {
		n = at < t->len ? send_now(t, at, min(each, t->len - at), 0) : 0;
		if (n > 0) {
			at += n;
		} else {
			msleep(20);
			ms += 20;
		}
		serve_polls(t, &served);
	}
	return at == t->len && READ_ONCE(t->ends) == fpdus;
}

static bool soon(const u32 *what)
{
	u32 ms;

	for (ms = 0; !READ_ONCE(*what) && ms < PATIENCE_MS; ms += 20)
		msleep(20);
	return READ_ONCE(*what);
}

/* -------------------------------------------------------------------- tests */

static const u32 eaches[] = { 1, 7, 100, 1448, 9000, 65536, WIRE_MAX };

/* Whatever the sizes of the sender's writes, the whole stream is processed. */
static void test_stream(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 i;

	connect_pair(test, 0, 0);
	for (i = 0; i < ARRAY_SIZE(eaches); i++) {
		t->len = 0;
		t->ends = 0;
		add_fpdu(t, 14);
		add_fpdu(t, 3000);
		add_fpdu(t, 15);
		if (eaches[i] >= 100)
			add_fpdu(t, 65535);
		add_fpdu(t, 1000);
		KUNIT_EXPECT_TRUE_MSG(test, send_all(t, eaches[i], eaches[i] >= 100 ? 5 : 4),
				      "writes of %u: %u FPDUs", eaches[i], t->ends);
	}
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, 0);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&t->ours->sk->sk_receive_queue));
}

/* An incomplete FPDU stays with TCP, which calls data_ready when it is complete. */
static void test_lowat(struct kunit *test)
{
	struct sock_test *t = test->priv;
	struct sock *sk;

	connect_pair(test, 0, 0);
	sk = t->ours->sk;
	add_fpdu(t, 5000);
	KUNIT_ASSERT_EQ(test, send_now(t, 0, 1, 0), 1);
	KUNIT_ASSERT_EQ(test, send_now(t, 1, 999, 0), 999);
	kwarp_sock_drain(&t->e);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, t->len);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, t->len);
	KUNIT_EXPECT_EQ(test, tcp_sk(sk)->rcv_nxt - tcp_sk(sk)->copied_seq, 1000);
	KUNIT_EXPECT_EQ(test, t->octets, 0);
	KUNIT_ASSERT_EQ(test, send_now(t, 1000, t->len - 1000, 0), t->len - 1000);
	KUNIT_EXPECT_TRUE(test, soon(&t->ends));
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 1);
	KUNIT_EXPECT_EQ(test, t->octets, 5000 - 14);
	KUNIT_EXPECT_EQ(test, t->polls, 0);
}

/*
 * After kwarp_sock_remove() the socket's callbacks are as before, and no octet is unread, which
 * would make close() send a reset.
 */
static void test_give_back(struct kunit *test)
{
	struct sock_test *t = test->priv;

	connect_pair(test, 0, 0);
	add_fpdu(t, 5000);
	KUNIT_ASSERT_EQ(test, send_now(t, 0, 100, 0), 100);
	kwarp_sock_drain(&t->e);
	KUNIT_EXPECT_NE(test, t->ours->sk->sk_rcvlowat, 1);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	KUNIT_EXPECT_EQ(test, t->ours->sk->sk_rcvlowat, 1);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&t->ours->sk->sk_receive_queue));
	KUNIT_EXPECT_NULL(test, t->ours->sk->sk_user_data);
}

/* If a BPF program has put the socket into a map, the socket is not touched. */
static void test_taken(struct kunit *test)
{
	struct sock_test *t = test->priv;
	struct sock *sk;

	connect_pair(test, 0, 0);
	sk = t->ours->sk;
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	sk->sk_user_data = t;
	KUNIT_EXPECT_EQ(test, kwarp_sock_install(&t->e, t->ours), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_user_data, (void *)t);
	sk->sk_user_data = NULL;
}

/* The window closes on an incomplete FPDU: the stream continues nevertheless. */
static void test_out_of_room(struct kunit *test)
{
	struct sock_test *t = test->priv;

	connect_pair(test, 16384, 500);
	add_fpdu(t, 60000);
	add_fpdu(t, 100);
	add_fpdu(t, 30000);
	KUNIT_EXPECT_TRUE(test, send_all(t, 3000, 3));
	KUNIT_EXPECT_GT(test, t->polls, 0);
	KUNIT_EXPECT_EQ(test, t->octets, 60000 + 100 + 30000 - 3 * 14);
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->stashes_now), 0);
	KUNIT_EXPECT_GT(test, atomic_long_read(&t->e.kdev->stashes), 0);
	/* All charges have been undone. */
	KUNIT_EXPECT_GE(test, t->ours->sk->sk_forward_alloc, 0);
	KUNIT_EXPECT_LT(test, t->ours->sk->sk_forward_alloc, KWARP_FPDU_MAX);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

/* Serve a poll as qp_work() does, if @used_up while TCP's memory limit is reached. */
static void drain_when(struct sock_test *t, bool used_up)
{
	long before[ARRAY_SIZE(sysctl_tcp_mem)];

	memcpy(before, sysctl_tcp_mem, sizeof(before));
	if (used_up)
		memset(sysctl_tcp_mem, 0xff, sizeof(before));
	if (t->short_ms) {
		atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
		schedule_delayed_work(&t->memory, msecs_to_jiffies(t->short_ms));
		t->short_ms = 0;
	}
	kwarp_sock_drain(&t->e);
	memcpy(sysctl_tcp_mem, before, sizeof(before));
}

/*
 * Send until the window closes on an FPDU, and serve polls until there is a stash, the stream has
 * failed for want of one, or there were @waits failed attempts.
 */
static void go_on_filling(struct kunit *test, bool used_up, u32 waits)
{
	struct sock_test *t = test->priv;
	u32 ms = 0, at = t->filled;
	int n;

	while (ms < PATIENCE_MS && at < t->len && !t->e.rx.stash.buf && !t->e.perr &&
	       t->e.stash_wait.waits < waits) {
		n = send_now(t, at, min(1000, t->len - at), 0);
		if (n > 0) {
			at += n;
		} else {
			msleep(20);
			ms += 20;
		}
		if (READ_ONCE(t->polls) != t->served) {
			t->served = READ_ONCE(t->polls);
			drain_when(t, used_up);
		}
	}
	t->filled = at;
	KUNIT_EXPECT_LT(test, at, t->len);
}

static void fill_up_to(struct kunit *test, bool used_up, u32 waits)
{
	struct sock_test *t = test->priv;

	connect_pair(test, 16384, 500);
	add_fpdu(t, 60000);
	go_on_filling(test, used_up, waits);
}

static void fill_up(struct kunit *test, bool used_up)
{
	fill_up_to(test, used_up, U32_MAX);
}

/* The stash is freed at the end of a stream, even with an incomplete FPDU. */
static void test_stash_given_back(struct kunit *test)
{
	struct sock_test *t = test->priv;

	fill_up(test, false);
	KUNIT_EXPECT_NE(test, t->e.rx.stash.have, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->stashes_now), 1);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->stashes_now), 0);
	KUNIT_EXPECT_GE(test, t->ours->sk->sk_forward_alloc, 0);
	KUNIT_EXPECT_LT(test, t->ours->sk->sk_forward_alloc, KWARP_FPDU_MAX);
}

/* TCP's memory limit is reached, as any program can achieve: no stream fails for that. */
static void test_stash_limit(struct kunit *test)
{
	struct sock_test *t = test->priv;

	fill_up(test, true);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_FALSE(test, t->e.rx.stash.charged);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

static void memory_comes(struct work_struct *work)
{
	struct sock_test *t = container_of(work, struct sock_test, memory.work);

	atomic_set(&t->e.kdev->stashes_unpaid, 0);
}

/* No memory for less than a quarter of a second: no stream fails for that. */
static void test_stash_later(struct kunit *test)
{
	struct sock_test *t = test->priv;

	INIT_DELAYED_WORK(&t->memory, memory_comes);
	t->short_ms = 150;
	fill_up(test, true);
	flush_delayed_work(&t->memory);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

/* Packets that arrive while the stream waits for memory do not shorten the wait; memory ends it. */
static void test_stash_packets(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 i;

	atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	fill_up_to(test, true, 6);
	for (i = 0; i < 50; i++)
		drain_when(t, true);
	KUNIT_EXPECT_LE(test, t->e.stash_wait.waits, 7);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	atomic_set(&t->e.kdev->stashes_unpaid, 0);
	flush_delayed_work(&t->e.stash_wait.work);
	drain_when(t, true);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, t->e.stash_wait.waits, 0);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->e.stash_wait.work));
}

/* If the stream ends while it waits for memory, there is no further attempt. */
static void test_stash_stop(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 polls;

	atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	fill_up_to(test, true, 6);
	KUNIT_EXPECT_EQ(test, t->e.stash_wait.waits, 6);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->e.stash_wait.work));
	KUNIT_EXPECT_EQ(test, t->e.stash_wait.waits, 0);
	polls = READ_ONCE(t->polls);
	msleep(100);
	KUNIT_EXPECT_EQ(test, READ_ONCE(t->polls), polls);
}

/* No memory for longer: the stream fails. */
static void test_stash_never(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u64 began;

	/* Other streams have all the stashes that may exist without a charge. */
	atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	fill_up_to(test, true, 1);
	began = ktime_get_ns();
	go_on_filling(test, true, U32_MAX);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - began, 200 * NSEC_PER_MSEC);
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_LOCAL);
}

/* A FIN is handled after all octets before it. */
static void test_fin_behind(struct kunit *test)
{
	struct sock_test *t = test->priv;

	connect_pair(test, 0, 0);
	add_fpdu(t, 2000);
	add_fpdu(t, 20);
	/*
	 * All packets wait in the backlog meanwhile. The peer's socket lock has the same lockdep
	 * class.
	 */
	lock_sock_nested(t->ours->sk, SINGLE_DEPTH_NESTING);
	KUNIT_EXPECT_EQ(test, send_now(t, 0, t->len, 0), t->len);
	kernel_sock_shutdown(t->theirs, SHUT_WR);
	release_sock(t->ours->sk);
	KUNIT_EXPECT_TRUE(test, soon(&t->fins));
	KUNIT_EXPECT_EQ(test, t->ends_at_eof, 2);
	KUNIT_EXPECT_EQ(test, t->resets, 0);
	KUNIT_EXPECT_EQ(test, t->e.rx.want, 0);
}

/* A FIN inside an FPDU is reported as a loss (5044-6-6). */
static void test_fin_inside(struct kunit *test)
{
	struct sock_test *t = test->priv;

	connect_pair(test, 0, 0);
	add_fpdu(t, 20);
	add_fpdu(t, 2000);
	KUNIT_EXPECT_EQ(test, send_now(t, 0, t->len - 1, 0), t->len - 1);
	kernel_sock_shutdown(t->theirs, SHUT_WR);
	KUNIT_EXPECT_TRUE(test, soon(&t->fins));
	KUNIT_EXPECT_EQ(test, t->ends_at_eof, 1);
	KUNIT_EXPECT_NE(test, t->e.rx.want, 0);
}

/*
 * Urgent data: an octet of the stream is missing, so the stream is lost, without a kernel log
 * message.
 */
static void test_urgent(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 ms;

	connect_pair(test, 0, 0);
	add_fpdu(t, 100);
	KUNIT_ASSERT_EQ(test, send_now(t, 0, 20, MSG_OOB), 20);
	for (ms = 0; !test_bit(KWARP_E_RX_STOP, &t->e.flags) && ms < PATIENCE_MS; ms += 20)
		msleep(20);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_MPA_LOST);
	KUNIT_EXPECT_EQ(test, t->ends, 0);
}

static void free_wire(void *wire)
{
	kvfree(wire);
}

static int sock_test_init(struct kunit *test)
{
	struct sock_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->e.kdev = kunit_kzalloc(test, sizeof(*t->e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->e.kdev);
	t->wire = kvmalloc(WIRE_MAX, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->wire);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_wire, t->wire), 0);
	test->priv = t;
	rtnl_lock();
	dev_open(init_net.loopback_dev, NULL);
	rtnl_unlock();
	return 0;
}

static void sock_test_exit(struct kunit *test)
{
	struct sock_test *t = test->priv;

	if (t->e.sock)
		kwarp_sock_remove(&t->e);
	if (t->ours)
		sock_release(t->ours);
	if (t->theirs)
		sock_release(t->theirs);
}

/* ---------------------------------------------------------------- one packet */

static const struct packet {
	u32 size;	/* largest packet of the device */
	u16 segments;	/* and its largest number of segments */
	u32 emss;
	u32 octets;	/* expected, if at most 64 KiB are asked for */
} packets[] = {
	{ 65215, 65535, 1448, 45 * 1448 },
	{ 65215, 65535, 8948, 7 * 8948 },
	{ 65215, 65535, 64948, 64948 },
	{ 65215, 65535, 65483, 65483 },
	{ 65215, 10, 1448, 10 * 1448 },
	{ 65215, 2, 1448, 2 * 1448 },
	/* without offload each segment is a packet */
	{ 65215, 1, 1448, 45 * 1448 },
	{ 65215, 0, 1448, 45 * 1448 },
	{ 0, 1, 1448, 45 * 1448 },
	{ 1000, 65535, 1448, 1448 },
	{ 16000, 65535, 1448, 11 * 1448 },
	/* BIG TCP */
	{ 190000, 65535, 1448, 45 * 1448 },
};

static void packet_desc(const struct packet *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u octets, %u segments of %u", c->size, c->segments,
		 c->emss);
}

KUNIT_ARRAY_PARAM(packet, packets, packet_desc);

/* The result is whole segments, as many as the device accepts in a packet, and at least one. */
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
	KUNIT_CASE(test_lowat),
	KUNIT_CASE(test_give_back),
	KUNIT_CASE(test_taken),
	KUNIT_CASE_SLOW(test_out_of_room),
	KUNIT_CASE(test_stash_given_back),
	KUNIT_CASE(test_stash_limit),
	KUNIT_CASE(test_stash_later),
	KUNIT_CASE(test_stash_packets),
	KUNIT_CASE(test_stash_stop),
	KUNIT_CASE(test_stash_never),
	KUNIT_CASE(test_fin_behind),
	KUNIT_CASE(test_fin_inside),
	KUNIT_CASE(test_urgent),
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
