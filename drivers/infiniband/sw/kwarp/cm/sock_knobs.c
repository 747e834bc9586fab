// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A connection takes the values that the knobs have when it begins: before TCP connects, or when it
 * is accepted. A listener's socket gets some of them as well, because its connections inherit them
 * and use them before they are accepted: the SYN-ACK has the window scale, and the type of
 * service.
 */
#include "sock_knobs.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>

#include "../kwarp.h"

int kwarp_sock_set(struct socket *sock, int level, int option, int value)
{
	return sock->ops->setsockopt(sock, level, option, KERNEL_SOCKPTR(&value), sizeof(value));
}

/* ------------------------------------------------------------- time-outs */

/* Let TCP give up a peer that has been silent for @seconds. */
static void sock_set_keepalive_to(struct sock *sk, u32 seconds)
{
	u32 idle = max(seconds / 2, 1U), interval = max(seconds / 12, 1U);

	if (!seconds)
		return;
	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, idle);
	tcp_sock_set_keepintvl(sk, interval);
	tcp_sock_set_keepcnt(sk, max((seconds - idle) / interval, 1U));
}

static void sock_set_user_timeout(const struct kwarp_dev *kdev, struct sock *sk, u32 keepalive)
{
	u32 timeout = READ_ONCE(kdev->knobs.user_timeout);

	if (timeout && keepalive)
		timeout = min(timeout, keepalive);
	/* 0: TCP's own limits, about 15 minutes for unacknowledged data */
	tcp_sock_set_user_timeout(sk, timeout * MSEC_PER_SEC);
}

/* ------------------------------------------------------- type of service */

void kwarp_sock_set_tos(struct socket *sock, int tos)
{
	/* IPv6 sockets need IP_TOS, too: for IPv4 connections, and for the packets' priority. */
	ip_sock_set_tos(sock->sk, tos);
	if (sock->sk->sk_family == AF_INET6)
		kwarp_sock_set(sock, SOL_IPV6, IPV6_TCLASS, tos);
}

/*
 * An accepted connection has the listener's type of service, or the peer's, if the sysctl
 * net.ipv4.tcp_reflect_tos is set. Change the connection's type of service only if the knob has
 * changed since the listener was made.
 */
static void sock_renew_tos(const struct kwarp_dev *kdev, struct socket *sock,
			   const struct socket *listener)
{
	u32 tos = READ_ONCE(kdev->knobs.tos);

	/* The ECN bits are TCP's: leave them out of the comparison. */
	if (tos != (READ_ONCE(inet_sk(listener->sk)->tos) & ~INET_ECN_MASK))
		kwarp_sock_set_tos(sock, tos);
}

/* --------------------------------------------------------------- buffers */

/*
 * Set a buffer size like SO_SNDBUFFORCE and SO_RCVBUFFORCE: the size is doubled, for the kernel's
 * overhead, and net.core's limits are ignored. With 0 @octets a size that was set (inherited) is
 * replaced by @usual, the initial size of sockets of the namespace, and TCP adapts the size again.
 */
static void sock_set_buffer(struct sock *sk, int *size, int lock, u32 octets, int usual)
{
	sock_owned_by_me(sk);
	if (octets) {
		sk->sk_userlocks |= lock;
		WRITE_ONCE(*size, 2 * octets);
	} else if (sk->sk_userlocks & lock) {
		sk->sk_userlocks &= ~lock;
		WRITE_ONCE(*size, usual);
	}
}

static void sock_set_buffers(const struct kwarp_dev *kdev, struct sock *sk)
{
	u32 snd = READ_ONCE(kdev->knobs.sndbuf), rcv = READ_ONCE(kdev->knobs.rcvbuf);
	const struct netns_ipv4 *usual = &sock_net(sk)->ipv4;

	lock_sock(sk);
	sock_set_buffer(sk, &sk->sk_sndbuf, SOCK_SNDBUF_LOCK, snd,
			READ_ONCE(usual->sysctl_tcp_wmem[1]));
	sock_set_buffer(sk, &sk->sk_rcvbuf, SOCK_RCVBUF_LOCK, rcv,
			READ_ONCE(usual->sysctl_tcp_rmem[1]));
	release_sock(sk);
}

/* ------------------------------------- called by cm_sock.c, sock_hook.c */

/* A type of service that the ULP has set for @id overrides the knob tos. */
void kwarp_sock_begins(struct kwarp_dev *kdev, struct socket *sock, const struct iw_cm_id *id)
{
	int tos = id->tos_set ? id->tos : READ_ONCE(kdev->knobs.tos);

	might_sleep();
	/* A new socket has 0, which need not be set. */
	if (id->tos_set || tos)
		kwarp_sock_set_tos(sock, tos);
	sock_set_buffers(kdev, sock->sk);
}

/*
 * The socket is about to connect. For the second time, too, its user timeout is that of a new
 * socket: kwarp_sock_connected() may have shortened it to the keepalive time. Context: process.
 */
void kwarp_sock_connects(struct kwarp_dev *kdev, struct socket *sock)
{
	might_sleep();
	sock_set_user_timeout(kdev, sock->sk, 0);
}

/*
 * Listeners get no time-outs: connections would inherit values that the knobs had earlier. To be
 * called only after TCP is connected, because keepalive must not limit the time for connecting.
 *
 * With a user timeout TCP gives up after that time, not after a number of keepalive probes. So the
 * smaller one of the two knobs becomes the user timeout; otherwise keepalive would have no effect.
 * The user timeout also limits how long a peer may leave data unacknowledged, and how long its
 * window may stay closed, even if the peer answers window probes.
 */
void kwarp_sock_connected(struct kwarp_dev *kdev, struct socket *sock)
{
	u32 keepalive = READ_ONCE(kdev->knobs.keepalive);

	might_sleep();
	sock_set_keepalive_to(sock->sk, keepalive);
	sock_set_user_timeout(kdev, sock->sk, keepalive);
}

void kwarp_sock_accepted(struct kwarp_dev *kdev, struct socket *sock,
			 const struct socket *listener, bool tos_set)
{
	kwarp_sock_connected(kdev, sock);
	if (!tos_set)
		sock_renew_tos(kdev, sock, listener);
	sock_set_buffers(kdev, sock->sk);
	/*
	 * TCP has limited the window of an accepted connection by the listener's buffer. TCP raises
	 * that limit only for a buffer whose size it chooses itself. So set the limit here, if the
	 * size comes from the knob rcvbuf.
	 */
	if (READ_ONCE(kdev->knobs.rcvbuf))
		kwarp_sock_set(sock, SOL_TCP, TCP_WINDOW_CLAMP,
			       tcp_win_from_space(sock->sk, READ_ONCE(sock->sk->sk_rcvbuf)));
}
