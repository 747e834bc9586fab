// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Calls into TCP */
#include "tcp.h"

#include <net/rps.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "../compat.h"
#include "../door.h"

/*
 * TCP gives its error, with which the connection has ended, to one call only. Give it back:
 * connection management says in the log why the connection has ended. Context: socket lock held.
 */
static void give_back_error(struct sock *sk, int ret)
{
	if (ret < 0 && sk->sk_state == TCP_CLOSE && !sk->sk_err)
		WRITE_ONCE(sk->sk_err, -ret);
}

/*
 * With MSG_DONTWAIT, TCP sleeps only to allocate memory, and sk_allocation forbids that here. TCP
 * might also process the backlog while it sends. There is a backlog only while a process owns the
 * socket; then only the owner calls this function, and may process it.
 */
static int send_nowait(struct sock *sk, struct msghdr *msg)
{
	gfp_t gfp = sk->sk_allocation;
	int ret;

	sk->sk_allocation = GFP_NOWAIT | __GFP_NOWARN;
	ret = tcp_sendmsg_locked(sk, msg, msg_data_left(msg));
	sk->sk_allocation = gfp;
	/* TCP had no memory. Nothing is in flight, so no ACK will come and call write_space. */
	if (ret == -EAGAIN && !sk->sk_wmem_queued)
		ret = -ENOBUFS;
	give_back_error(sk, ret);
	return ret;
}

/*
 * In process context lock_sock_fast() takes only the spinlock: this process does not own the socket
 * (unless it had to wait for another owner). Owning it would stall a peer that streams: inbound
 * packets wait in the owner's backlog, and TCP subtracts a backlog that is being processed from the
 * window that it announces. The window would end at zero, no event would open it again, and the
 * peer's window probe comes 200 ms later.
 *
 * So the spinlock is held while a whole batch of at most 64 KiB is sent (where the receive side
 * sends: for KWARP_TX_SOCKET_NS, and one batch more). A packet for this socket that arrives on
 * another processor waits until then.
 *
 * If memory is short under the spinlock, TCP enters memory pressure and shrinks this socket's send
 * buffer. Both last until the next ACKs, even if the retry without the spinlock succeeds.
 *
 * Context: any but hard interrupt if @locked, else process; takes the socket lock. Return: octets
 * that TCP accepted; -EAGAIN: TCP is full and will call write_space; -ENOBUFS: no memory, and TCP
 * will not call write_space; or another negative errno.
 */
int kwarp_tcp_send(struct socket *sock, struct msghdr *msg, bool locked)
{
	KWARP_DOOR(kwarp_tcp_send, sock, msg, locked);
	struct sock *sk = sock->sk;
	bool slow;
	int ret;

	if (locked) {
		lockdep_assert(lockdep_is_held(&sk->sk_lock.slock));
		/*
		 * If a process owns the socket, this call may come from the processing of its
		 * backlog, and TCP would process the same backlog again.
		 */
		WARN_ON_ONCE(sock_owned_by_user_nocheck(sk));
		return send_nowait(sk, msg);
	}
	/*
	 * Receive flow steering: inbound packets should go to the processor of the program that
	 * posts, as with inet_sendmsg(), but not to the processor of a worker.
	 */
	if (!(current->flags & PF_WQ_WORKER))
		sock_rps_record_flow(sk);
	slow = lock_sock_fast(sk);
	ret = send_nowait(sk, msg);
	unlock_sock_fast(sk, slow);
	if (ret != -ENOBUFS)
		return ret;
	/* In process context without the spinlock, TCP may sleep for memory. */
	lock_sock(sk);
	ret = tcp_sendmsg_locked(sk, msg, msg_data_left(msg));
	give_back_error(sk, ret);
	release_sock(sk);
	return ret == -EAGAIN && !READ_ONCE(sk->sk_wmem_queued) ? -ENOBUFS : ret;
}

/*
 * The memory counts as TCP's own receive memory. So net.ipv4.tcp_mem bounds what all peers together
 * can make us allocate, and the cgroup of the program that created the socket is charged; the
 * allocating task would be the wrong one, since it is a kernel worker. The socket's receive buffer
 * is not charged: this memory is needed just because that buffer is full. Context: socket lock
 * held; may sleep if the caller may.
 */
bool kwarp_tcp_charge(struct socket *sock, int octets)
{
	KWARP_DOOR(kwarp_tcp_charge, sock, octets);
	if (!__sk_mem_schedule(sock->sk, octets, SK_MEM_RECV))
		return false;
	sk_mem_charge(sock->sk, octets);
	return true;
}

/* Context: socket lock held. */
void kwarp_tcp_uncharge(struct socket *sock, int octets)
{
	KWARP_DOOR(kwarp_tcp_uncharge, sock, octets);
	sk_mem_uncharge(sock->sk, octets);
}

/* Context: softirq. Return: false if a process owns the socket. */
bool kwarp_tcp_call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			   struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tcp_call_locked, sock, fn, e);
	bool ours;

	bh_lock_sock(sock->sk);
	ours = !sock_owned_by_user(sock->sk);
	if (ours)
		fn(e);
	bh_unlock_sock(sock->sk);
	return ours;
}

/*
 * For a kernel consumer that posts. The consumer may hold a lock of its own that is also taken in
 * upcalls with the socket lock held, so waiting here for the socket lock could deadlock. Context: a
 * task with interrupts enabled that holds no lock of this module.
 */
bool kwarp_tcp_try_call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			       struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tcp_try_call_locked, sock, fn, e);
	struct sock *sk = sock->sk;
	bool ours;

	local_bh_disable();
	if (!spin_trylock(&sk->sk_lock.slock)) {
		local_bh_enable();
		return false;
	}
	ours = !sock_owned_by_user(sk);
	if (ours)
		fn(e);
	spin_unlock(&sk->sk_lock.slock);
	local_bh_enable();
	return ours;
}

/*
 * TCP sends an ACK when octets are read. If octets stay in the receive queue, the peer, whose
 * congestion window may be full, must not have to wait for TCP's timer: from more than one full
 * segment on an ACK is sent now (RFC 9293 section 3.8.6.3).
 */
void kwarp_tcp_ack(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!inet_csk_ack_scheduled(sk) ||
	    tp->rcv_nxt - tp->rcv_wup <= inet_csk(sk)->icsk_ack.rcv_mss)
		return;
	/* The ACK's timestamp: the packets may have come some milliseconds ago. */
	tp->tcp_clock_cache = tcp_clock_ns();
	tp->tcp_mstamp = div_u64(tp->tcp_clock_cache, NSEC_PER_USEC);
	__tcp_send_ack(sk, tp->rcv_nxt, 0);
}

/* Send a FIN after all octets that TCP has accepted. */
void kwarp_tcp_shutdown(struct socket *sock)
{
	KWARP_DOOR(kwarp_tcp_shutdown, sock);
	kernel_sock_shutdown(sock, SHUT_WR);
}

/* False: TCP will call write_space when there is room. */
bool kwarp_tcp_writable(struct socket *sock)
{
	KWARP_DOOR(kwarp_tcp_writable, sock);
	if (sk_stream_memory_free(sock->sk))
		return true;
	set_bit(SOCK_NOSPACE, &sock->flags);
	/* Pairs with the barrier in tcp_check_space(). */
	smp_mb__after_atomic();
	return sk_stream_memory_free(sock->sk);
}

/*
 * Octets of data that fit into one TCP segment beside its headers and options. The number may
 * change during a connection, so the caller reads it for each batch (5044-4.5-6).
 */
u32 kwarp_tcp_emss(const struct socket *sock)
{
	KWARP_DOOR(kwarp_tcp_emss, sock);
	return READ_ONCE(tcp_sk(sock->sk)->mss_cache);
}

/* Return: octets that the peer's TCP has last said it can take. Context: any. */
u32 kwarp_tcp_window(const struct socket *sock)
{
	KWARP_DOOR(kwarp_tcp_window, sock);
	return READ_ONCE(tcp_sk(sock->sk)->snd_wnd);
}

/*
 * The result is a multiple of @emss. If a batch were longer, TCP would send its rest as a second
 * packet at once, however small (TCP_NODELAY). Without segmentation offload each segment is a
 * packet anyway, and only @most limits the batch.
 */
u32 kwarp_tcp_packet(const struct socket *sock, u32 emss, u32 most)
{
	KWARP_DOOR(kwarp_tcp_packet, sock, emss, most);
	u32 size = READ_ONCE(sock->sk->sk_gso_max_size);
	u32 segments = READ_ONCE(sock->sk->sk_gso_max_segs);

	/* Without GSO (for example with IPsec) sk_gso_max_size may never have been set. */
	if (segments > 1)
		segments = min(segments, min(size, most) / emss);
	else
		segments = most / emss;
	return emss * max(segments, 1U);
}
