// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of sock.c, the callbacks of the TCP socket: a TCP connection over lo. The
 * code under test is included, with tcp.c, rx/skb.c and rx/stash.c. Poll: the engine asks for
 * kwarp_sock_drain() in process context.
 */
#include "sock_fixture.h"

#include <linux/delay.h>
#include <linux/in.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include "../rx/stash.c"
#include "../rx/skb.c"
#include "../tcp.c"
#define tcp_under_memory_pressure(sk)	((sk) && READ_ONCE(sock_is_short))
#include "../sock.c"

#include "../../proto/tests/emit.h"
#include "feed.h"

bool sock_is_short;

/* ------------------------------------------ replaced functions of the driver */

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

static const struct feed_sink sink = { .payload = got_payload, .fpdu = got_fpdu };

void kwarp_rx_feed(struct kwarp_engine *e, const u8 *data, size_t len)
{
	feed(e, data, len, &sink);
}

u32 kwarp_rx_feed_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset, u32 len)
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

/*
 * Connect t->theirs to t->ours over lo, and install the engine on t->ours. @rcvbuf, @mss: receive
 * buffer and MSS of t->ours; 0: TCP chooses.
 */
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

void sock_add_fpdu(struct sock_test *t, u32 ulpdu_len)
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

/* Send octets of @wire without waiting. Return: octets that TCP has accepted, or negative errno. */
int sock_send_now(struct sock_test *t, u32 from, u32 len, int flags)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };
	struct kvec v = { .iov_base = t->wire + from, .iov_len = len };

	return kernel_sendmsg(t->theirs, &msg, &v, 1, len);
}

/*
 * If the engine has asked for a poll since the last call with the same @served, call
 * kwarp_sock_drain(), as the queue pair's work item does in the driver.
 */
static void serve_polls(struct sock_test *t, u32 *served)
{
	u32 polls = READ_ONCE(t->polls);

	if (polls != *served)
		kwarp_sock_drain(&t->e);
	*served = polls;
}

/*
 * Send all octets of @wire in writes of @each octets. Return: true if the parser has reported
 * @fpdus FPDUs.
 */
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
	sock_is_short = false;
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
