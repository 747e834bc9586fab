// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What knobs set of TCP's sockets: time-outs, type of service, buffers, congestion control.
 *
 * A connection takes what the knobs say when it begins: before TCP connects, or when it is
 * accepted.  A listener's children inherit what it has, of which the size of the receive buffer
 * matters before they are accepted: TCP says with the SYN how large a window can become.
 */
#include "sock_knobs.h"

#include <rdma/iw_cm.h>

#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

#include <linux/cred.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/sched/task.h>
#include <linux/tcp.h>

#include "../kwarp.h"

/* ------------------------------------------------------------- time-outs */

/*
 * The peer may vanish without a word. After half of the time it is asked for a sign of
 * life, six times if the time is long enough for that.
 */
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

/* The knob, or @keepalive seconds if that is less and not 0. */
static void sock_set_user_timeout(const struct kwarp_dev *kdev, struct sock *sk, u32 keepalive)
{
	u32 timeout = READ_ONCE(kdev->knobs.user_timeout);

	if (timeout && keepalive)
		timeout = min(timeout, keepalive);
	/* 0: TCP's own limits, of which that for data is about a quarter of an hour */
	tcp_sock_set_user_timeout(sk, timeout * MSEC_PER_SEC);
}

/*
 * Of a connection, not of a listener: children would inherit what the knobs were then.
 * Once TCP is connected: how long that may take is not keepalive's to say.
 *
 * Where TCP has a user timeout it goes by that for its probes as well, and no more by their
 * number. So the smaller one of both has to be it, or keepalive would be without effect. It
 * is then the limit for a peer that does not acknowledge data, and for one whose window
 * stays closed, too, even if that one answers.
 */
static void sock_set_timeouts(const struct kwarp_dev *kdev, struct sock *sk)
{
	u32 keepalive = READ_ONCE(kdev->knobs.keepalive);

	sock_set_keepalive_to(sk, keepalive);
	sock_set_user_timeout(kdev, sk, keepalive);
}

/* ------------------------------------------------------- type of service */

static void sock_set_tos(struct socket *sock, int tos)
{
	/* Of an IPv6 socket, too: for its IPv4 children, and for the packets' priority. */
	ip_sock_set_tos(sock->sk, tos);
	if (sock->sk->sk_family == AF_INET6)
		sock->ops->setsockopt(sock, SOL_IPV6, IPV6_TCLASS, KERNEL_SOCKPTR(&tos),
				      sizeof(tos));
}

/* 0 is what a socket has anyway. */
static void sock_choose_tos(const struct kwarp_dev *kdev, struct socket *sock,
			    const struct iw_cm_id *id)
{
	int tos = id->tos_set ? id->tos : READ_ONCE(kdev->knobs.tos);

	if (id->tos_set || tos)
		sock_set_tos(sock, tos);
}

/*
 * A child has what its listener has, or the peer, by net.ipv4.tcp_reflect_tos.  Unless the knob has
 * changed since then, that is right.
 */
static void sock_renew_tos(const struct kwarp_dev *kdev, struct socket *sock,
			   const struct socket *listener)
{
	u32 tos = READ_ONCE(kdev->knobs.tos);

	if (tos != READ_ONCE(inet_sk(listener->sk)->tos))
		sock_set_tos(sock, tos);
}

/* --------------------------------------------------------------- buffers */

/* As SO_SNDBUFFORCE and SO_RCVBUFFORCE: half of it is for what the kernel adds. */
static void sock_set_buffer(struct sock *sk, int *size, int lock, u32 octets)
{
	sock_owned_by_me(sk);
	if (octets) {
		sk->sk_userlocks |= lock;
		WRITE_ONCE(*size, 2 * octets);
	} else {
		sk->sk_userlocks &= ~lock;
	}
}

static void sock_set_buffers(const struct kwarp_dev *kdev, struct sock *sk)
{
	u32 snd = READ_ONCE(kdev->knobs.sndbuf), rcv = READ_ONCE(kdev->knobs.rcvbuf);

	lock_sock(sk);
	sock_set_buffer(sk, &sk->sk_sndbuf, SOCK_SNDBUF_LOCK, snd);
	sock_set_buffer(sk, &sk->sk_rcvbuf, SOCK_RCVBUF_LOCK, rcv);
	release_sock(sk);
}

/* ---------------------------------------------------- congestion control */

/*
 * Whoever has set the knob was asked whether he may have that (knobs.c), and the program that
 * happens to connect is not.  If it has been unloaded meanwhile the socket keeps what it has, the
 * one of the namespace.
 */
static void sock_set_congestion(struct kwarp_dev *kdev, struct socket *sock)
{
	char name[KWARP_CONGESTION_LEN];
	const struct cred *old;
	struct cred *cred;

	kwarp_knob_congestion(kdev, name);
	if (!name[0])
		return;
	cred = prepare_kernel_cred(&init_task);
	if (!cred)
		return;
	old = override_creds(cred);
	sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR(name), strlen(name));
	revert_creds(old);
	put_cred(cred);
}

/* ------------------------------------------------------------- occasions */

/**
 * kwarp_sock_dials - a socket is about to connect
 * @kdev: device
 * @sock: new
 * @id: whose type of service counts, if there is one
 *
 * Context: process.
 */
void kwarp_sock_dials(struct kwarp_dev *kdev, struct socket *sock, const struct iw_cm_id *id)
{
	might_sleep();
	sock_choose_tos(kdev, sock, id);
	sock_set_user_timeout(kdev, sock->sk, 0);
	sock_set_buffers(kdev, sock->sk);
	sock_set_congestion(kdev, sock);
}

/* What the first connection had from kwarp_sock_connected() is not for a connect. */
void kwarp_sock_redials(struct kwarp_dev *kdev, struct socket *sock)
{
	might_sleep();
	sock_set_user_timeout(kdev, sock->sk, 0);
}

/* A socket that dialled is connected.  Context: process. */
void kwarp_sock_connected(struct kwarp_dev *kdev, struct socket *sock)
{
	might_sleep();
	sock_set_timeouts(kdev, sock->sk);
}

/**
 * kwarp_sock_listens - a socket is about to listen
 * @kdev: device
 * @sock: new
 * @id: whose type of service counts, if there is one
 *
 * Context: process.
 */
void kwarp_sock_listens(struct kwarp_dev *kdev, struct socket *sock, const struct iw_cm_id *id)
{
	might_sleep();
	sock_choose_tos(kdev, sock, id);
	sock_set_buffers(kdev, sock->sk);
}

/**
 * kwarp_sock_accepted - a connection comes from a listener
 * @kdev: device
 * @sock: the connection's
 * @listener: where it waited
 * @tos_set: the listener's program has chosen a type of service
 *
 * Context: process.
 */
void kwarp_sock_accepted(struct kwarp_dev *kdev, struct socket *sock,
			 const struct socket *listener, bool tos_set)
{
	might_sleep();
	sock_set_timeouts(kdev, sock->sk);
	if (!tos_set)
		sock_renew_tos(kdev, sock, listener);
	sock_set_buffers(kdev, sock->sk);
	sock_set_congestion(kdev, sock);
}
