// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sockets of connection management: creation, callbacks, sending and receiving.
 *
 * A socket belongs to the network namespace in which the link (the kwarp device) was made. It is
 * bound to an interface, the link's netdev or a VLAN on it (cm_iface.c), so that links in one
 * namespace do not receive each other's traffic and can listen on the same port. For traffic
 * between two addresses of one host, too, TCP finds a socket by the interface that it is bound
 * to, so both ends have to be bound alike. On the loopback device only wildcard listeners are
 * bound.
 *
 * Kernel sockets hold no reference on their namespace, and TCP stops their timers when
 * they are released. Therefore a socket is released only after TCP has closed the connection, or
 * with a reset: no connection continues in TCP without its socket. A namespace that ends
 * waits for the kwarp devices in it (link.c).
 *
 * No function here waits for a peer. The callbacks run in softirq; they set a bit and
 * queue work, nothing else.
 */
#include "cm_sock.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/memcontrol.h>
#include <linux/tcp.h>
#include <linux/uio.h>

#include "../kwarp.h"
#include "sock_knobs.h"

/* ------------------------------------------------------------- addresses */

static struct sockaddr_in *addr_v4(const struct sockaddr_storage *ss)
{
	return (struct sockaddr_in *)ss;
}

static struct sockaddr_in6 *addr_v6(const struct sockaddr_storage *ss)
{
	return (struct sockaddr_in6 *)ss;
}

static int addr_len(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
					  sizeof(struct sockaddr_in6);
}

static bool addr_any(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? !addr_v4(ss)->sin_addr.s_addr :
					  ipv6_addr_any(&addr_v6(ss)->sin6_addr);
}

bool kwarp_cm_addr_loopback(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? ipv4_is_loopback(addr_v4(ss)->sin_addr.s_addr) :
					  ipv6_addr_loopback(&addr_v6(ss)->sin6_addr);
}

/* Both families have the port at the same offset. */
static u16 addr_port(const struct sockaddr_storage *ss)
{
	return ntohs(addr_v4(ss)->sin_port);
}

/* An IPv6 link-local address without scope means the address on this interface. */
static void addr_fix_scope(struct sockaddr_storage *ss, int ifindex)
{
	if (ss->ss_family == AF_INET6 && !addr_v6(ss)->sin6_scope_id &&
	    ipv6_addr_type(&addr_v6(ss)->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		addr_v6(ss)->sin6_scope_id = ifindex;
}

/* IPv4 peers of an IPv6 listener have IPv4-mapped addresses; rdma_cm expects AF_INET for them. */
static void addr_unmap(struct sockaddr_storage *ss)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	if (ss->ss_family != AF_INET6 || !ipv6_addr_v4mapped(&addr_v6(ss)->sin6_addr))
		return;
	a.sin_port = addr_v6(ss)->sin6_port;
	a.sin_addr.s_addr = addr_v6(ss)->sin6_addr.s6_addr32[3];
	memset(ss, 0, sizeof(*ss));
	*addr_v4(ss) = a;
}

/**
 * kwarp_cm_sock_names - the addresses of both ends
 * @sock: socket; the connection may be closed already (getname's peer = 2 allows that)
 * @local: result: address of this end
 * @remote: result: address of the peer
 *
 * Context: process.
 */
void kwarp_cm_sock_names(struct socket *sock, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote)
{
	might_sleep();
	sock->ops->getname(sock, (struct sockaddr *)local, 0);
	sock->ops->getname(sock, (struct sockaddr *)remote, 2);
	addr_unmap(local);
	addr_unmap(remote);
}

/* -------------------------------------------- calls whose types have changed */

static int sock_bind(struct socket *sock, struct sockaddr_storage *ss)
{
	return kernel_bind(sock, (struct kwarp_sockaddr *)ss, addr_len(ss));
}

static int sock_connect(struct socket *sock, struct sockaddr_storage *ss)
{
	return kernel_connect(sock, (struct kwarp_sockaddr *)ss, addr_len(ss), O_NONBLOCK);
}

/* -------------------------------------------------------------- creation */

/* Own lock classes for lockdep: user sockets take these locks in other orders. */
static void sock_classify(struct sock *sk)
{
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	static struct lock_class_key slock_key[2], sk_key[2];

	if (WARN_ON_ONCE(!sock_allow_reclassification(sk)))
		return;
	if (sk->sk_family == AF_INET)
		sock_lock_init_class_and_name(sk, "slock-AF_INET-KWARP", &slock_key[0],
					      "sk_lock-AF_INET-KWARP", &sk_key[0]);
	else
		sock_lock_init_class_and_name(sk, "slock-AF_INET6-KWARP", &slock_key[1],
					      "sk_lock-AF_INET6-KWARP", &sk_key[1]);
#endif
}

static int sock_create_on(struct kwarp_dev *kdev, int family, struct socket **res)
{
	int ret;

	ret = sock_create_kern(kdev->net, family, SOCK_STREAM, IPPROTO_TCP, res);
	if (ret)
		return ret;
	sock_classify((*res)->sk);
	/* The connection may carry a swap device: allocations must not start I/O. */
	(*res)->sk->sk_allocation = GFP_NOIO;
	kwarp_sk_no_task_frag((*res)->sk);
	sock_set_reuseaddr((*res)->sk);
	tcp_sock_set_nodelay((*res)->sk);
	return 0;
}

/*
 * MPA's Initiator sends first: let TCP send the last ACK of the handshake together with the
 * Request. Listeners do not set TCP_DEFER_ACCEPT: connections that TCP holds back cannot be
 * evicted by kwarp, and their peers would not notice that the listener has been closed.
 */
static int sock_defer_ack(struct socket *sock)
{
	int seconds = 1;		/* any value but 0; TCP's delayed ACK timer ends the wait */

	return sock->ops->setsockopt(sock, SOL_TCP, TCP_DEFER_ACCEPT, KERNEL_SOCKPTR(&seconds),
				     sizeof(seconds));
}

static bool on_loopback(const struct kwarp_dev *kdev)
{
	return kdev->netdev->flags & IFF_LOOPBACK;
}

/*
 * To m_remote_addr, because iWARP port mapping may have changed the peer's address. This end's
 * is not mapped: kwarp uses the kernel's own TCP.
 */
static int connect_to(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex)
{
	struct sockaddr_storage to = id->m_remote_addr;
	int ret;

	addr_fix_scope(&to, ifindex);
	ret = sock_connect(cs->sock, &to);
	return ret == -EINPROGRESS ? 0 : ret;
}

static int dial_from(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
		     bool any_port, struct kwarp_cm_sock *cs)
{
	struct sockaddr_storage from = id->local_addr;
	int ret;

	if (from.ss_family != id->m_remote_addr.ss_family)
		return -EAFNOSUPPORT;
	ret = sock_create_on(kdev, from.ss_family, &cs->sock);
	if (ret)
		return ret;
	kwarp_sock_dials(kdev, cs->sock, id);
	addr_fix_scope(&from, ifindex);
	if (any_port)
		addr_v4(&from)->sin_port = 0;

	ret = sock_defer_ack(cs->sock);
	if (!ret && !on_loopback(kdev))
		ret = sock_bindtoindex(cs->sock->sk, ifindex, true);
	if (!ret)
		ret = sock_bind(cs->sock, &from);
	/* Before it is connected: later a BPF program could put it into a sockmap first. */
	if (!ret)
		ret = kwarp_cm_sock_hook(cs);
	if (!ret)
		ret = connect_to(cs, id, ifindex);
	if (ret)
		kwarp_cm_sock_kill(cs);
	return ret;
}

/**
 * kwarp_cm_sock_dial - start a TCP connection
 * @kdev: device
 * @id: addresses
 * @ifindex: from kwarp_cm_iface()
 * @cs: gets the socket, hooked
 *
 * The local port comes from rdma_cm's own port space. If an ordinary socket uses that port, TCP
 * chooses another; the ULP sees rdma_cm's number in any case.
 *
 * Context: process; does not wait for the peer.
 * Return: 0 if TCP is connected or about to connect, or an errno.
 */
int kwarp_cm_sock_dial(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
		       struct kwarp_cm_sock *cs)
{
	int ret;

	might_sleep();
	ret = dial_from(kdev, id, ifindex, false, cs);
	if ((ret == -EADDRINUSE || ret == -EADDRNOTAVAIL) && addr_port(&id->local_addr))
		ret = dial_from(kdev, id, ifindex, true, cs);
	return ret;
}

/**
 * kwarp_cm_sock_redial - end the connection with a reset, and start another one
 * @cs: from kwarp_cm_sock_dial()
 * @id: the same addresses
 * @ifindex: the same interface
 *
 * The socket is kept, because it belongs to the ULP that connects: to its memory cgroup, its
 * network cgroup and its user. A socket made here would belong to a kernel thread.
 *
 * Context: process; does not wait for the peer.
 * Return: 0 if TCP is connected or about to connect, or an errno.
 */
int kwarp_cm_sock_redial(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex)
{
	struct sockaddr_storage none = { .ss_family = AF_UNSPEC };
	int ret;

	might_sleep();
	ret = kernel_connect(cs->sock, (struct kwarp_sockaddr *)&none, sizeof(none), 0);
	if (ret)
		return ret;
	kwarp_sock_redials(to_kdev(id->device), cs->sock);
	return connect_to(cs, id, ifindex);
}

/**
 * kwarp_cm_sock_dialled - the state of a TCP connect
 * @sock: from kwarp_cm_sock_dial()
 * @id: the same addresses
 *
 * Context: process.
 * Return: 0 if connected, -EINPROGRESS, or why it failed.
 */
int kwarp_cm_sock_dialled(struct socket *sock, const struct iw_cm_id *id)
{
	struct sockaddr_storage to = id->m_remote_addr;
	int ret;

	might_sleep();
	/* As in user space, a second connect() reports the result of the first. */
	ret = sock_connect(sock, &to);
	if (ret == -EALREADY)
		return -EINPROGRESS;
	if (ret && ret != -EISCONN)
		return ret;
	kwarp_sock_connected(to_kdev(id->device), sock);
	return 0;
}

/*
 * The sysctl net.ipv4.tcp_fastopen can let all listeners accept data in a SYN. Such a connection
 * can be accepted before TCP's handshake is complete, and a queue pair cannot use it then. So turn
 * it off for this listener.
 */
static int sock_listen(struct socket *sock, int backlog)
{
	int none = 0, ret;

	ret = kernel_listen(sock, clamp(backlog, KWARP_MIN_BACKLOG, KWARP_MAX_BACKLOG));
	if (ret)
		return ret;
	/* After kernel_listen(), which may turn it on. */
	return sock->ops->setsockopt(sock, SOL_TCP, TCP_FASTOPEN, KERNEL_SOCKPTR(&none),
				     sizeof(none));
}

/**
 * kwarp_cm_sock_listen - listening socket
 * @kdev: device
 * @id: address to listen on, possibly a wildcard
 * @ifindex: from kwarp_cm_iface()
 * @backlog: as the ULP asks for it
 * @cs: gets the socket, hooked; notify may be called before this returns
 *
 * Context: process.
 * Return: 0 or an errno; -EADDRINUSE if TCP has the port in use.
 */
int kwarp_cm_sock_listen(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			 int backlog, struct kwarp_cm_sock *cs)
{
	struct sockaddr_storage at = id->local_addr;
	struct socket *sock;
	int ret;

	might_sleep();
	if (at.ss_family != AF_INET && at.ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	ret = sock_create_on(kdev, at.ss_family, &cs->sock);
	if (ret)
		return ret;
	sock = cs->sock;
	cs->tos_set = id->tos_set;
	kwarp_sock_listens(kdev, sock, id);
	addr_fix_scope(&at, ifindex);

	/* Without afonly an IPv6 wildcard serves IPv4 as well, like in rdma_cm. */
	if (at.ss_family == AF_INET6 && id->afonly)
		ret = ip6_sock_set_v6only(sock->sk);
	if (!ret && (!on_loopback(kdev) || addr_any(&at)))
		ret = sock_bindtoindex(sock->sk, ifindex, true);
	if (!ret)
		ret = sock_bind(sock, &at);
	/* Before it listens: then a BPF program is called, which could put it into a sockmap. */
	if (!ret)
		ret = kwarp_cm_sock_hook(cs);
	if (!ret)
		ret = sock_listen(sock, backlog);
	if (ret)
		kwarp_cm_sock_kill(cs);
	return ret;
}

/* ------------------------------------------------------------- callbacks */

enum sock_cb { CB_DATA, CB_STATE, CB_SPACE, CB_ERROR };

/*
 * Return: the kwarp_cm_sock whose callbacks the socket has; NULL: it has been unhooked meanwhile,
 * or is a connection of a listener that has not been accepted yet. That one may belong to a
 * sockmap: then its user data is a psock, with SK_USER_DATA_NOCOPY and one more flag.
 * Context: sk_callback_lock held.
 */
static struct kwarp_cm_sock *hooked_by(const struct sock *sk)
{
	uintptr_t data = (uintptr_t)rcu_access_pointer(__sk_user_data(sk));

	if ((data & ~SK_USER_DATA_PTRMASK) != SK_USER_DATA_NOCOPY)
		return NULL;
	return (struct kwarp_cm_sock *)(data & SK_USER_DATA_PTRMASK);
}

static void sock_callback(struct sock *sk, enum sock_cb cb)
{
	struct kwarp_cm_sock *cs;

	read_lock_bh(&sk->sk_callback_lock);
	cs = hooked_by(sk);
	if (cs) {
		cs->notify(cs);
		if (cb == CB_DATA)
			cs->data_ready(sk);
		else if (cb == CB_STATE)
			cs->state_change(sk);
		else if (cb == CB_SPACE)
			cs->write_space(sk);
		else
			cs->error_report(sk);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

static void cm_data_ready(struct sock *sk)
{
	kwarp_trace_data_ready(sk);
	sock_callback(sk, CB_DATA);
}

static void cm_state_change(struct sock *sk)
{
	sock_callback(sk, CB_STATE);
}

static void cm_write_space(struct sock *sk)
{
	sock_callback(sk, CB_SPACE);
}

static void cm_error_report(struct sock *sk)
{
	sock_callback(sk, CB_ERROR);
}

/**
 * kwarp_cm_sock_hook - let the socket's callbacks call cs->notify
 * @cs: socket whose callbacks are TCP's own
 *
 * Changes before the call are not reported: look at the socket afterwards.
 *
 * Context: process.
 * Return: 0; -EBUSY if the socket has another user, for example a BPF program of the cgroup that
 * has put it into a sockmap.
 */
int kwarp_cm_sock_hook(struct kwarp_cm_sock *cs)
{
	struct sock *sk = cs->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	if (rcu_access_pointer(__sk_user_data(sk))) {
		write_unlock_bh(&sk->sk_callback_lock);
		return -EBUSY;
	}
	cs->data_ready = sk->sk_data_ready;
	cs->state_change = sk->sk_state_change;
	cs->write_space = sk->sk_write_space;
	cs->error_report = sk->sk_error_report;
	/* NOCOPY: connections of a listener do not inherit the pointer */
	__rcu_assign_sk_user_data_with_flags(sk, cs, SK_USER_DATA_NOCOPY);
	sk->sk_data_ready = cm_data_ready;
	sk->sk_state_change = cm_state_change;
	sk->sk_write_space = cm_write_space;
	sk->sk_error_report = cm_error_report;
	cs->hooked = true;
	write_unlock_bh(&sk->sk_callback_lock);
	return 0;
}

static void restore_callbacks(struct sock *sk, const struct kwarp_cm_sock *cs)
{
	sk->sk_data_ready = cs->data_ready;
	sk->sk_state_change = cs->state_change;
	sk->sk_write_space = cs->write_space;
	sk->sk_error_report = cs->error_report;
}

/**
 * kwarp_cm_sock_unhook - restore TCP's own callbacks
 * @cs: socket, hooked or not
 *
 * Context: process. When it returns, notify neither runs nor will run.
 */
void kwarp_cm_sock_unhook(struct kwarp_cm_sock *cs)
{
	struct sock *sk;

	if (!cs->hooked)
		return;
	sk = cs->sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	restore_callbacks(sk, cs);
	rcu_assign_sk_user_data(sk, NULL);
	cs->hooked = false;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* Return: number of connections that wait to be accepted. Context: any. */
u32 kwarp_cm_sock_queued(const struct socket *sock)
{
	return READ_ONCE(sock->sk->sk_ack_backlog);
}

/**
 * kwarp_cm_sock_accept - next connection of a listener
 * @kdev: device
 * @listener: hooked listening socket
 * @res: result, with TCP's own callbacks
 *
 * Context: process; does not wait.
 * Return: 0; -EAGAIN if there is none; other errno.
 */
int kwarp_cm_sock_accept(struct kwarp_dev *kdev, struct kwarp_cm_sock *listener,
			 struct socket **res)
{
	struct socket *sock;
	struct sock *sk;
	int ret;

	might_sleep();
	ret = kernel_accept(listener->sock, &sock, O_NONBLOCK);
	if (ret)
		return ret;
	sk = sock->sk;
	/*
	 * The connection has inherited the listener's callbacks. With user data it belongs to a
	 * sockmap already, which has set callbacks of its own.
	 */
	write_lock_bh(&sk->sk_callback_lock);
	if (!rcu_access_pointer(__sk_user_data(sk)))
		restore_callbacks(sk, listener);
	write_unlock_bh(&sk->sk_callback_lock);
	kwarp_sk_no_task_frag(sk);
	kwarp_sock_accepted(kdev, sock, listener->sock, listener->tos_set);
	*res = sock;
	return 0;
}

/* --------------------------------------------------------- memory cgroups */

#ifdef CONFIG_MEMCG
/* Return: memory cgroup of the task that made the socket; NULL: root cgroup, or no socket. */
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs)
{
	/* Does not change after the socket is made. */
	return cs->sock ? cs->sock->sk->sk_memcg : NULL;
}

/* Charge the socket to the current task. TCP does that in accept(), but here in a kernel thread. */
static void charge_to_current(struct sock *sk)
{
	struct mem_cgroup *memcg;

	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	/* The root cgroup, which has no parent, counts nothing. */
	if (memcg && memcg->css.parent && css_tryget(&memcg->css))
		sk->sk_memcg = memcg;
	rcu_read_unlock();
}

/* Is no memory accounted to the socket? Only then its memory cgroup may be changed. */
static bool holds_nothing(struct sock *sk)
{
	if (sk_rmem_alloc_get(sk) || READ_ONCE(sk->sk_wmem_queued) || sk->sk_backlog.len)
		return false;
	sk_mem_reclaim(sk);
	return !sk->sk_forward_alloc;
}

/**
 * kwarp_cm_sock_charge - charge the memory of an accepted connection to the ULP's memory cgroup
 * @sock: from kwarp_cm_sock_accept(), its Request read
 *
 * The root cgroup stays charged if the peer has sent octets after its Request, which it must not,
 * if the caller is a kernel thread, and with cgroup version 1.
 *
 * Context: process, that of the ULP's call.
 */
void kwarp_cm_sock_charge(struct socket *sock)
{
	struct sock *sk = sock->sk;

	might_sleep();
	if (!mem_cgroup_sockets_enabled || !cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return;
	lock_sock(sk);
	if (!sk->sk_memcg && holds_nothing(sk))
		charge_to_current(sk);
	release_sock(sk);
}
#else
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs)
{
	return NULL;
}

void kwarp_cm_sock_charge(struct socket *sock)
{
}
#endif

/* ------------------------------------------------------------------- end */

/* Has TCP closed the connection completely? Context: any. */
bool kwarp_cm_sock_closed(const struct socket *sock)
{
	return READ_ONCE(sock->sk->sk_state) == TCP_CLOSE;
}

/**
 * kwarp_cm_sock_kill - release the socket, with a reset if it is not closed
 * @cs: socket, hooked or not, or none
 *
 * Context: process. Afterwards TCP knows nothing of this connection, except perhaps a TIME-WAIT
 * entry.
 */
void kwarp_cm_sock_kill(struct kwarp_cm_sock *cs)
{
	struct socket *sock = cs->sock;

	might_sleep();
	if (!sock)
		return;
	kwarp_cm_sock_unhook(cs);
	cs->sock = NULL;
	sock_no_linger(sock->sk);
	sock_release(sock);
}

/* Send a FIN: close the sending direction. Context: process. */
void kwarp_cm_sock_fin(struct socket *sock)
{
	might_sleep();
	kernel_sock_shutdown(sock, SHUT_WR);
}

/* Return: TCP sequence number up to which the peer has acknowledged. Context: any. */
u32 kwarp_cm_sock_acked(const struct socket *sock)
{
	return READ_ONCE(tcp_sk(sock->sk)->snd_una);
}

/* Has the peer not acknowledged all octets? Context: any. */
bool kwarp_cm_sock_unacked(const struct socket *sock)
{
	return READ_ONCE(tcp_sk(sock->sk)->write_seq) != kwarp_cm_sock_acked(sock);
}

/* ---------------------------------------------------------------- octets */

/**
 * kwarp_cm_sock_recv - read octets without waiting
 * @sock: socket
 * @buf: buffer
 * @len: octets to read, at most
 * @peek: leave them in the socket
 *
 * Context: process; does not wait.
 * Return: octets; 0 at the end of the stream; -EAGAIN; other errno.
 */
int kwarp_cm_sock_recv(struct socket *sock, void *buf, u32 len, bool peek)
{
	struct kvec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = {};

	might_sleep();
	return kernel_recvmsg(sock, &msg, &iov, 1, len,
			      MSG_DONTWAIT | (peek ? MSG_PEEK : 0));
}

/**
 * kwarp_cm_sock_send - pass octets to TCP
 * @sock: socket
 * @buf: octets
 * @len: number of octets
 *
 * After -EAGAIN the callback notify is called when there is room again.
 *
 * Context: process; does not wait.
 * Return: octets taken; -EAGAIN; other errno.
 */
int kwarp_cm_sock_send(struct socket *sock, const void *buf, u32 len)
{
	struct kvec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };

	might_sleep();
	return kernel_sendmsg(sock, &msg, &iov, 1, len);
}

/* Drop up to 1 MiB of received octets. Context and result: like kwarp_cm_sock_recv(). */
int kwarp_cm_sock_discard(struct socket *sock)
{
	struct kvec iov = { .iov_len = 1024 * 1024 };
	struct msghdr msg = {};

	might_sleep();
	/* With MSG_TRUNC TCP copies nothing. */
	return kernel_recvmsg(sock, &msg, &iov, 1, iov.iov_len,
			      MSG_DONTWAIT | MSG_TRUNC);
}
