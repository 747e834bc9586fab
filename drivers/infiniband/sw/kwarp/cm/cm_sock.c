// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A socket belongs to the network namespace in which the link (the kwarp device) was made. It is
 * bound to an interface, the link's netdev or a VLAN on it (cm_iface.c), so that links in one
 * namespace do not receive each other's traffic and can listen on the same port. For traffic
 * between two addresses of one host, too, TCP finds a socket by the interface that it is bound to,
 * so both ends have to be bound alike: see own_end(). On the loopback device only wildcard
 * listeners are bound.
 *
 * Kernel sockets hold no reference on their namespace, and TCP stops the timers of such a socket
 * when it is released. Therefore a socket is released only after TCP has closed the connection, or
 * with a reset: no connection continues in TCP without its socket. A namespace that ends waits for
 * the kwarp devices in it (link.c).
 *
 * No function here waits for a peer.
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
#include <linux/sched/mm.h>
#include <linux/tcp.h>

#include "../kwarp.h"
#include "cm_iface.h"
#include "sock_knobs.h"

/* ------------------------------------------------------------- addresses */

/* Also for the port: IPv4 and IPv6 addresses have it at the same offset. */
static struct sockaddr_in *addr_v4(const struct sockaddr_storage *ss)
{
	return (struct sockaddr_in *)ss;
}

static struct sockaddr_in6 *addr_v6(const struct sockaddr_storage *ss)
{
	return (struct sockaddr_in6 *)ss;
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

/* The connection may be closed already: getname's peer = 2 allows that. */
void kwarp_cm_sock_names(struct socket *sock, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote)
{
	might_sleep();
	sock->ops->getname(sock, (struct sockaddr *)local, 0);
	sock->ops->getname(sock, (struct sockaddr *)remote, 2);
	addr_unmap(local);
	addr_unmap(remote);
}

static int sock_bind(struct socket *sock, struct sockaddr_storage *ss)
{
	return kernel_bind(sock, (struct sockaddr_unsized *)ss, sizeof(*ss));
}

static int sock_connect(struct socket *sock, struct sockaddr_storage *ss)
{
	return kernel_connect(sock, (struct sockaddr_unsized *)ss, sizeof(*ss), O_NONBLOCK);
}

/* -------------------------------------------------------------- creation */

/*
 * Give the socket's locks lockdep classes of their own: user sockets take such locks in other
 * orders.
 */
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

/* The socket belongs to the control groups and the user of the caller. Context: process. */
int kwarp_cm_sock_create(struct kwarp_dev *kdev, int family, struct socket **res)
{
	int ret;

	ret = sock_create_kern(kdev->net, family, SOCK_STREAM, IPPROTO_TCP, res);
	if (ret)
		return ret;
	sock_classify((*res)->sk);
	/*
	 * A storage protocol may need the connection to write out memory: allocations must not
	 * start I/O. PF_MEMALLOC, see sock_io.c, must not open the reserve to them: a peer on this
	 * machine would drop a packet with memory of the reserve.
	 */
	(*res)->sk->sk_allocation = GFP_NOIO | __GFP_NOMEMALLOC | __GFP_NOWARN;
	KWARP_SINCE(SK_USE_TASK_FRAG, (*res)->sk->sk_use_task_frag = false);
	sock_set_reuseaddr((*res)->sk);
	tcp_sock_set_nodelay((*res)->sk);
	return 0;
}

/*
 * Connect to m_remote_addr, because iWARP port mapping may have changed the peer's address. The
 * address of this end is not mapped: kwarp uses the kernel's own TCP.
 */
static int connect_to(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex)
{
	struct sockaddr_storage to = id->m_remote_addr;
	int ret;

	addr_fix_scope(&to, ifindex);
	ret = sock_connect(cs->sock, &to);
	return ret == -EINPROGRESS ? 0 : ret;
}

/*
 * Choose the address and the interface of this end. The peer may be an address of this host on
 * another interface than @ifindex. A socket bound to @ifindex has no route to it, and the peer's
 * socket, bound to the other interface, has none back. So connect from the peer's own address.
 */
static int own_end(const struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
		   struct sockaddr_storage *from)
{
	int far = kwarp_cm_local_iface(kdev->net, ifindex, &id->m_remote_addr);

	*from = id->local_addr;
	if (!far || far == ifindex)
		return ifindex;
	*from = id->m_remote_addr;
	addr_v4(from)->sin_port = addr_v4(&id->local_addr)->sin_port;
	return far;
}

/* A socket that connects again has its address already; binding it again can fail. */
static int bind_to(struct kwarp_dev *kdev, struct socket *sock, struct sockaddr_storage *from,
		   int ifindex)
{
	struct sock *sk = sock->sk;
	int ret = 0;

	if (sk->sk_userlocks & SOCK_BINDADDR_LOCK)
		return 0;
	if (ifindex != kdev->net->loopback_dev->ifindex && sk->sk_bound_dev_if != ifindex)
		ret = sock_bindtoindex(sk, ifindex, true);
	return ret ?: sock_bind(sock, from);
}

static int connect_from(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			bool any_port, struct kwarp_cm_sock *cs)
{
	struct sockaddr_storage from;
	int ret;

	if (id->local_addr.ss_family != id->m_remote_addr.ss_family)
		return -EAFNOSUPPORT;
	ifindex = own_end(kdev, id, ifindex, &from);
	ret = cs->sock ? 0 : kwarp_cm_sock_create(kdev, from.ss_family, &cs->sock);
	if (ret)
		return ret;
	/* An id of wire.c names the process that pays: this may be a kernel thread. */
	if (!id->context)
		kwarp_cm_sock_charge_to(cs->sock, id->provider_data);
	kwarp_sock_begins(kdev, cs->sock, id);
	kwarp_sock_connects(kdev, cs->sock);
	addr_fix_scope(&from, ifindex);
	if (any_port)
		addr_v4(&from)->sin_port = 0;

	/*
	 * MPA's Initiator sends first: let TCP send the last ACK of the handshake together with the
	 * Request. 1: any value but 0: TCP's delayed ACK timer ends the wait. Listeners do not set
	 * the option: connections that TCP holds back cannot be evicted by kwarp, and their peers
	 * would not notice that the listener has been closed.
	 */
	ret = kwarp_sock_set(cs->sock, SOL_TCP, TCP_DEFER_ACCEPT, 1);
	if (!ret)
		ret = bind_to(kdev, cs->sock, &from, ifindex);
	/*
	 * Hook the socket before it is connected: connecting can call a BPF program, which could
	 * put the socket into a sockmap, and then it could not be hooked any more.
	 */
	if (!ret)
		ret = kwarp_cm_sock_hook(cs);
	if (!ret)
		ret = connect_to(cs, id, ifindex);
	return ret;
}

/*
 * @cs: cs->notify may be called before this function returns; a socket that it has is used. The
 * local port comes from rdma_cm's own port space. If an ordinary socket uses that port, TCP chooses
 * another; the ULP sees rdma_cm's number in any case. Context: process; does not wait for the peer.
 * Return: 0 if TCP is connected or about to connect; or an errno, and @cs may have a socket.
 */
int kwarp_cm_sock_connect(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			  struct kwarp_cm_sock *cs)
{
	int ret;

	might_sleep();
	ret = connect_from(kdev, id, ifindex, false, cs);
	if ((ret == -EADDRINUSE || ret == -EADDRNOTAVAIL) && addr_v4(&id->local_addr)->sin_port) {
		kwarp_cm_sock_kill(cs);
		ret = connect_from(kdev, id, ifindex, true, cs);
	}
	return ret;
}

/* Also resets a connection. TCP forgets the port, not the address. */
static int sock_disconnect(struct socket *sock)
{
	struct sockaddr_storage none = { .ss_family = AF_UNSPEC };

	return kernel_connect(sock, (struct sockaddr_unsized *)&none, sizeof(none), 0);
}

/* Reset the connection, and keep the socket for kwarp_cm_sock_connect(). Context: process. */
void kwarp_cm_sock_reset(struct kwarp_cm_sock *cs)
{
	might_sleep();
	if (!cs->sock)
		return;
	kwarp_cm_sock_unhook(cs);
	if (sock_disconnect(cs->sock))
		kwarp_cm_sock_kill(cs);
}

/*
 * The socket is kept, because it belongs to the ULP that connects: to its memory cgroup, its
 * network cgroup and its user. A socket made here would belong to a kernel thread.
 */
int kwarp_cm_sock_reconnect(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex)
{
	unsigned int noreclaim;
	int ret;

	might_sleep();
	ret = sock_disconnect(cs->sock);
	if (ret)
		return ret;
	kwarp_sock_connects(to_kdev(id->device), cs->sock);
	/* This runs in the ordered queue: see sock_io.c. */
	noreclaim = memalloc_noreclaim_save();
	ret = connect_to(cs, id, ifindex);
	memalloc_noreclaim_restore(noreclaim);
	return ret;
}

int kwarp_cm_sock_connected(struct socket *sock, const struct iw_cm_id *id)
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
 * can be accepted before TCP's handshake is complete, when a queue pair cannot use it yet. So turn
 * fast open off for this listener.
 */
static int sock_listen(struct socket *sock, int backlog)
{
	int ret;

	/*
	 * kernel_listen() turns fast open on if max_qlen is 0, which the option TCP_FASTOPEN would
	 * set. With a negative number it does not, and TCP takes no data with a SYN.
	 */
	WRITE_ONCE(inet_csk(sock->sk)->icsk_accept_queue.fastopenq.max_qlen, -1);
	ret = kernel_listen(sock, clamp(backlog, KWARP_MIN_BACKLOG, KWARP_MAX_BACKLOG));
	return ret ?: kwarp_sock_set(sock, SOL_TCP, TCP_FASTOPEN, 0);
}

/*
 * @cs: cs->notify may be called before this function returns. -EADDRINUSE: TCP has the port in use.
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
	ret = kwarp_cm_sock_create(kdev, at.ss_family, &cs->sock);
	if (ret)
		return ret;
	sock = cs->sock;
	cs->tos_set = id->tos_set;
	kwarp_sock_begins(kdev, sock, id);
	addr_fix_scope(&at, ifindex);

	/*
	 * Without id->afonly an IPv6 wildcard listener serves IPv4 as well, like in rdma_cm. The
	 * sysctl net.ipv6.bindv6only has chosen the option for the new socket, so set it in both
	 * cases.
	 */
	if (at.ss_family == AF_INET6)
		ret = kwarp_sock_set(sock, SOL_IPV6, IPV6_V6ONLY, id->afonly);
	if (!ret && (!(kdev->netdev->flags & IFF_LOOPBACK) || addr_any(&at)))
		ret = sock_bindtoindex(sock->sk, ifindex, true);
	if (!ret)
		ret = sock_bind(sock, &at);
	/*
	 * Hook the socket before it listens: listen() can call a BPF program, which could put the
	 * socket into a sockmap.
	 */
	if (!ret)
		ret = kwarp_cm_sock_hook(cs);
	if (!ret)
		ret = sock_listen(sock, backlog);
	if (ret)
		kwarp_cm_sock_kill(cs);
	return ret;
}
