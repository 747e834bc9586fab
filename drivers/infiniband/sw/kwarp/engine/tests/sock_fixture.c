// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of sock.c: a TCP connection over lo. sock.c and tcp.c are included.
 * Poll: the engine asks for kwarp_sock_drain() in process context.
 */
#include "sock_fixture.h"

#include <linux/delay.h>
#include <linux/in.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include "../tx/run.h"

bool sock_is_short;
bool sock_resched;
u32 sock_acks;

static void count_ack(struct sock *sk, u32 rcv_nxt)
{
	WRITE_ONCE(sock_acks, sock_acks + 1);
	__tcp_send_ack(sk, rcv_nxt, 0);
}

static void count_later(struct tasklet_struct *tasklet)
{
	struct sock_test *t = container_of(tasklet, struct sock_test, e.read_rest);

	WRITE_ONCE(t->laters, t->laters + 1);
	tasklet_schedule(tasklet);
}

#undef __tcp_send_ack
#define __tcp_send_ack(sk, rcv_nxt, ...)	count_ack(sk, rcv_nxt)
#define kwarp_need_resched()		READ_ONCE(sock_resched)
#define tasklet_schedule(tasklet)	count_later(tasklet)
#include "../tcp.c"
#define tcp_under_memory_pressure(sk)	((sk) && READ_ONCE(sock_is_short))
#include "../sock.c"

#include "../../proto/tests/emit.h"
#include "../../tests/doors.h"
#include "../rx/rx.h"
#include "feed.h"

/* ------------------------------------------ replaced functions of the driver */

static struct sock_test *to_test(struct kwarp_engine *e)
{
	return container_of(e, struct sock_test, e);
}

static void note_lost(struct kwarp_engine *e)
{
	e->perr = KWARP_PERR_MPA_LOST;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

static void note_failure(struct kwarp_engine *e, enum kwarp_perr perr, const u8 *raw,
			 u16 seg_len, const u8 *rreq)
{
	e->perr = perr;
	set_bit(KWARP_E_RX_STOP, &e->flags);
}

static void no_kick(struct kwarp_engine *e, enum kwarp_tx_from from)
{
}

static bool count_run(struct kwarp_engine *e)
{
	struct sock_test *t = to_test(e);

	WRITE_ONCE(t->runs, t->runs + 1);
	return false;
}

static void count_end(struct kwarp_engine *e, bool reset)
{
	struct sock_test *t = to_test(e);

	if (!t->fins && !t->resets)
		t->ends_at_eof = t->ends;
	if (reset)
		t->resets++;
	else
		WRITE_ONCE(t->fins, t->fins + 1);
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

static const struct feed_sink sink = { .payload = got_payload, .fpdu = got_fpdu };

static size_t feed_octets(struct kwarp_engine *e, const u8 *data, size_t len)
{
	return feed(e, data, len, &sink);
}

static bool retry(struct kwarp_engine *e)
{
	if (to_test(e)->no_receive)
		return false;
	clear_bit(KWARP_E_RX_PARKED, &e->flags);
	return true;
}

static u32 feed_straight(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len)
{
	return feed_skb(e, skb, offset, len, &sink);
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

/* @rcvbuf, @mss: receive buffer and MSS of t->ours; 0: TCP chooses */
void sock_connect_pair(struct kunit *test, int rcvbuf, int mss)
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

void sock_add_segment(struct sock_test *t, u32 ulpdu_len, bool last)
{
	struct kwarp_emit w = { .buf = t->wire + t->len, .size = WIRE_MAX - t->len };
	u8 *ulpdu = kzalloc(65536, GFP_KERNEL);

	if (!ulpdu)
		return;
	ulpdu[0] = last ? 0xc1 : 0x81;
	kwarp_emit_fpdu(&w, ulpdu, ulpdu_len, 0);
	t->len += w.len;
	kfree(ulpdu);
}

void sock_add_fpdu(struct sock_test *t, u32 ulpdu_len)
{
	sock_add_segment(t, ulpdu_len, true);
}

int sock_send_now(struct sock_test *t, u32 from, u32 len, int flags)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };
	struct kvec v = { .iov_base = t->wire + from, .iov_len = len };

	return kernel_sendmsg(t->theirs, &msg, &v, 1, len);
}

/* As the queue pair's work item does in the driver */
static void serve_polls(struct sock_test *t, u32 *served)
{
	u32 polls = READ_ONCE(t->polls);

	if (polls != *served)
		kwarp_sock_drain(&t->e);
	*served = polls;
}

/* Wait until @what is @value. Return: false: it was not in time. */
bool sock_soon(const u32 *what, u32 value)
{
	u32 ms;

	for (ms = 0; READ_ONCE(*what) != value && ms < PATIENCE_MS; ms += 20)
		msleep(20);
	return READ_ONCE(*what) == value;
}

/* Return: true if the parser has reported @fpdus FPDUs. */
bool sock_send_all(struct sock_test *t, u32 each, u32 fpdus)
{
	u32 at = 0, ms = 0, served = t->polls;
	int n;

	while (ms < PATIENCE_MS && (at < t->len || READ_ONCE(t->ends) < fpdus)) {
		n = at < t->len ? sock_send_now(t, at, min(each, t->len - at), 0) : 0;
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

static void free_wire(void *wire)
{
	kvfree(wire);
}

int sock_test_init(struct kunit *test)
{
	struct sock_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->e.kdev = kunit_kzalloc(test, sizeof(*t->e.kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->e.kdev);
	t->wire = kvmalloc(WIRE_MAX, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->wire);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_wire, t->wire), 0);
	test->priv = t;
	kwarp_wq = system_wq;
	kwarp_stub(test, kwarp_engine_lost, note_lost);
	kwarp_stub(test, kwarp_engine_fail, note_failure);
	kwarp_stub(test, kwarp_tx_kick, no_kick);
	kwarp_stub(test, kwarp_rx_end_run, count_run);
	kwarp_stub(test, kwarp_rx_eof, count_end);
	kwarp_stub(test, kwarp_rx_accept_series, accept_none);
	kwarp_stub(test, kwarp_rx_feed, feed_octets);
	kwarp_stub(test, kwarp_rx_retry, retry);
	kwarp_stub(test, kwarp_rx_feed_skb, feed_straight);
	sock_is_short = false;
	sock_resched = false;
	sock_acks = 0;
	rtnl_lock();
	dev_open(init_net.loopback_dev, NULL);
	rtnl_unlock();
	return 0;
}

void sock_test_exit(struct kunit *test)
{
	struct sock_test *t = test->priv;

	if (t->e.sock)
		kwarp_sock_remove(&t->e);
	if (t->ours)
		sock_release(t->ours);
	if (t->theirs)
		sock_release(t->theirs);
}
