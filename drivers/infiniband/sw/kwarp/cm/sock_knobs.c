// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What knobs set of TCP's sockets: time-outs, type of service, buffers, congestion control.
 *
 * A connection takes what the knobs say when it begins: before TCP connects, or when it is
 * accepted.  A listener's children inherit what it has, and some of that matters before they are
 * accepted: TCP says with the SYN how large a window can become, and whether there is ECN.
 */
#include "sock_knobs.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

#include <linux/cred.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/string.h>
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

	/* The bits of ECN are TCP's own. */
	if (tos != (READ_ONCE(inet_sk(listener->sk)->tos) & ~INET_ECN_MASK))
		sock_set_tos(sock, tos);
}

/* --------------------------------------------------------------- buffers */

/*
 * As SO_SNDBUF and SO_RCVBUF, whatever net.core allows: half of it is for what the kernel adds.
 * @usual: what the namespace's sockets begin with, which TCP changes as it likes.
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

/*
 * TCP has limited the window of a child by its listener's buffer, and raises that limit only where
 * it chooses the buffer itself.
 */
static void sock_open_window(const struct kwarp_dev *kdev, struct socket *sock)
{
	int window = tcp_win_from_space(sock->sk, READ_ONCE(sock->sk->sk_rcvbuf));

	if (READ_ONCE(kdev->knobs.rcvbuf))
		sock->ops->setsockopt(sock, SOL_TCP, TCP_WINDOW_CLAMP, KERNEL_SOCKPTR(&window),
				      sizeof(window));
}

/* ---------------------------------------------------- congestion control */

/* By the name, and with the kernel's rights. */
static int sock_set_congestion_to(struct socket *sock, char *name)
{
	struct cred *cred = prepare_kernel_cred(&init_task);
	const struct cred *old;
	int ret;

	if (!cred)
		return -ENOMEM;
	old = override_creds(cred);
	ret = sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR(name),
				    strlen(name));
	revert_creds(old);
	put_cred(cred);
	return ret;
}

/*
 * The writer of the knob was asked whether he may have that (knobs.c), and the program that
 * happens to connect is not.  The congestion control is there: it is pinned, and TCP does not look
 * for a module.
 */
static void sock_set_congestion(struct kwarp_dev *kdev, struct socket *sock)
{
	int ret = 0;

	/* Without the lock: one that is set just now may be left to the next connection. */
	if (!READ_ONCE(kdev->knobs.congestion[0]))
		return;
	mutex_lock(&kdev->names_lock);
	if (kdev->knobs.congestion[0])
		ret = sock_set_congestion_to(sock, kdev->knobs.congestion);
	mutex_unlock(&kdev->names_lock);
	if (ret)
		ibdev_warn_ratelimited(&kdev->ibdev,
				       "a connection begins with another congestion control than that of the knob: %d\n",
				       ret);
}

/* That of the namespace, for the child of a listener to which the knob gave another one. */
static void sock_usual_congestion(struct socket *sock)
{
	char name[KWARP_CONGESTION_LEN] = "";
	const struct tcp_congestion_ops *ca;

	rcu_read_lock();
	ca = rcu_dereference(sock_net(sock->sk)->ipv4.tcp_congestion_control);
	if (ca)
		strscpy(name, ca->name, sizeof(name));
	rcu_read_unlock();
	/* The namespace pins it. */
	if (name[0])
		sock_set_congestion_to(sock, name);
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
	sock_set_congestion(kdev, sock);
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
	sock_open_window(kdev, sock);
	if (READ_ONCE(kdev->knobs.congestion[0]))
		sock_set_congestion(kdev, sock);
	else if (inet_csk(listener->sk)->icsk_ca_setsockopt)
		sock_usual_congestion(sock);
}
