// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is asked of TCP: to take octets, to pay for memory, to let us run under its lock.
 */
#include "tcp.h"

#include <net/sock.h>
#include <net/tcp.h>

#include "../compat.h"
#include "../fault.h"

/* tcp_sendmsg_locked(), or what it does with less room than there is: for tests. */
static int send_some(struct sock *sk, struct msghdr *msg)
{
	size_t len = msg_data_left(msg), cut = 0;
	int ret = -EAGAIN;

	if (kwarp_fault(KWARP_FAULT_SHORT_SEND))
		cut = len / 2;
	else if (kwarp_fault(KWARP_FAULT_FULL_SEND))
		cut = len;
	if (cut < len) {
		iov_iter_truncate(&msg->msg_iter, len - cut);
		ret = tcp_sendmsg_locked(sk, msg, len - cut);
		iov_iter_reexpand(&msg->msg_iter, msg_data_left(msg) + cut);
	}
	/* The next ACK then calls write_space; the caller looks whether there will be one. */
	if (cut)
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	return ret;
}

/*
 * With MSG_DONTWAIT, TCP can only sleep for memory, and then as the socket says.  It does not
 * work off the backlog half way either: there is none unless somebody owns the socket, and
 * then we are not called, or we are the owner, in process context.
 */
static int send_nowait(struct sock *sk, struct msghdr *msg)
{
	gfp_t gfp = sk->sk_allocation;
	int ret;

	sk->sk_allocation = GFP_NOWAIT | __GFP_NOWARN;
	ret = send_some(sk, msg);
	sk->sk_allocation = gfp;
	/* Nothing in flight, so no ACK will call write_space: it is for memory. */
	if (ret == -EAGAIN && !sk->sk_wmem_queued)
		ret = -ENOBUFS;
	return ret;
}

/**
 * kwarp_tcp_send - give octets to TCP
 * @sock: connected socket
 * @msg: with MSG_DONTWAIT
 * @locked: the socket lock is held by this context, and nobody owns the socket
 *
 * Without owning the socket, if nobody else does: while a process owns it, what comes in
 * waits in its backlog, and TCP takes all of a backlog that is being worked off from the
 * window.  Under a stream from the peer that window ends at zero, nobody opens it again,
 * and the peer's probe comes 200 ms later.
 *
 * So the spinlock is held for all of a batch, 64 KiB at most (where the receive side
 * sends, for all that it may, see tx/run.c), and a packet for this socket that comes in
 * meanwhile on another processor waits.
 *
 * What is short of memory under the lock leaves TCP's memory pressure set and this
 * socket's buffer small, before it is tried again; both pass with the next ACKs.
 *
 * Context: any but hard interrupt if @locked, else process; takes the socket lock.
 * Return: octets taken; -EAGAIN: write_space will be called; -ENOBUFS: no memory, and it
 * will not; or another negative errno.
 */
int kwarp_tcp_send(struct socket *sock, struct msghdr *msg, bool locked)
{
	struct sock *sk = sock->sk;
	bool slow;
	int ret;

	if (locked) {
		lockdep_assert(lockdep_is_held(&sk->sk_lock.slock));
		/* TCP would work off the backlog that we may be in. */
		WARN_ON_ONCE(sock_owned_by_user_nocheck(sk));
		return send_nowait(sk, msg);
	}
	/* Where the poster is, as inet_sendmsg() does, not where a worker happens to be. */
	if (!(current->flags & PF_WQ_WORKER))
		sock_rps_record_flow(sk);
	slow = lock_sock_fast(sk);
	ret = send_nowait(sk, msg);
	unlock_sock_fast(sk, slow);
	if (ret != -ENOBUFS)
		return ret;
	/* Here it may take its time. */
	ret = sock_sendmsg(sock, msg);
	return ret == -EAGAIN && !READ_ONCE(sk->sk_wmem_queued) ? -ENOBUFS : ret;
}

/**
 * kwarp_tcp_charge - pay for memory that holds what TCP cannot keep
 * @sock: connected socket
 * @octets: of memory
 *
 * As TCP pays for what it keeps: so net.ipv4.tcp_mem bounds what all peers together make us
 * hold, and the memory cgroup of the socket's program is charged.  That of the task that
 * allocates would be nobody's: a worker does.  The socket's receive buffer is not charged,
 * since that it is full is why the memory is needed.
 *
 * Context: socket lock held; may sleep where the caller may.
 * Return: false if there is no more for TCP, or for the cgroup.
 */
bool kwarp_tcp_charge(struct socket *sock, int octets)
{
	if (!__sk_mem_schedule(sock->sk, octets, SK_MEM_RECV))
		return false;
	sk_mem_charge(sock->sk, octets);
	return true;
}

/* Undo it.  Context: socket lock held. */
void kwarp_tcp_uncharge(struct socket *sock, int octets)
{
	sk_mem_uncharge(sock->sk, octets);
}

/**
 * kwarp_tcp_run - do something under the socket lock
 * @sock: connected socket
 * @run: what
 * @e: its argument
 *
 * Context: softirq.
 * Return: false if a process owns the socket; nothing has been done then.
 */
bool kwarp_tcp_run(struct socket *sock, void (*run)(struct kwarp_engine *e),
		   struct kwarp_engine *e)
{
	bool ours;

	bh_lock_sock(sock->sk);
	ours = !sock_owned_by_user(sock->sk);
	if (ours)
		run(e);
	bh_unlock_sock(sock->sk);
	return ours;
}

/**
 * kwarp_tcp_try_run - the same, in a call of a kernel consumer, if nobody has the lock
 * @sock: connected socket
 * @run: what
 * @e: its argument
 *
 * The consumer may hold locks that our upcalls take with the socket's lock held: nobody waits.
 *
 * Context: a task, with interrupts on, that is in no call of ours.
 * Return: false if somebody else has the socket; nothing has been done then.
 */
bool kwarp_tcp_try_run(struct socket *sock, void (*run)(struct kwarp_engine *e),
		       struct kwarp_engine *e)
{
	struct sock *sk = sock->sk;
	bool ours;

	local_bh_disable();
	if (!spin_trylock(&sk->sk_lock.slock)) {
		local_bh_enable();
		return false;
	}
	ours = !sock_owned_by_user(sk);
	if (ours)
		run(e);
	spin_unlock(&sk->sk_lock.slock);
	local_bh_enable();
	return ours;
}

/* FIN behind what was sent. */
void kwarp_tcp_shutdown(struct socket *sock)
{
	kernel_sock_shutdown(sock, SHUT_WR);
}

/**
 * kwarp_tcp_writable - will TCP take a batch now?
 * @sock: connected socket
 *
 * Return: true if so; false: write_space will be called.
 */
bool kwarp_tcp_writable(struct socket *sock)
{
	if (sk_stream_memory_free(sock->sk))
		return true;
	set_bit(SOCK_NOSPACE, &sock->flags);
	/* Pairs with the barrier in tcp_check_space(). */
	smp_mb__after_atomic();
	return sk_stream_memory_free(sock->sk);
}

/* Effective MSS, options counted (5044-4.5-6: read per batch). */
u32 kwarp_tcp_emss(const struct socket *sock)
{
	return READ_ONCE(tcp_sk(sock->sk)->mss_cache);
}

/**
 * kwarp_tcp_packet - how much TCP gives to the device as one packet
 * @sock: connected socket
 * @emss: what kwarp_tcp_emss() says
 * @most: no more than that
 *
 * Of octets in whole segments.  If more are given at a time, a second packet follows for the
 * rest, however small, since nothing waits for others (TCP_NODELAY).  Where each segment is a
 * packet there is nothing to lose by that.
 *
 * Context: any.
 * Return: octets, at least one segment.
 */
u32 kwarp_tcp_packet(const struct socket *sock, u32 emss, u32 most)
{
	u32 size = READ_ONCE(sock->sk->sk_gso_max_size);
	u32 segments = READ_ONCE(sock->sk->sk_gso_max_segs);

	/* Without GSO (IPsec) the size may never have been set. */
	if (segments > 1)
		segments = min(segments, min(size, most) / emss);
	else
		segments = most / emss;
	return emss * max(segments, 1U);
}
