// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine's side of a TCP socket.
 *
 * Inbound octets are consumed where they arrive: in sk_data_ready, that is in
 * softirq or in the socket owner's backlog, always under the socket lock, which
 * therefore serialises the receive side.  What they ask for is sent there, too, but in
 * the backlog, where that is left to the work item.  What cannot be
 * handled there (end of stream, errors) is a level-triggered matter: it is looked up
 * in the socket's state by kwarp_sock_drain(), whenever that is called.
 *
 * sk_callback_lock is held across each callback, so that kwarp_sock_remove() knows
 * that none is running any more.
 */
#include "sock.h"

#include <linux/jiffies.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "../compat.h"
#include "fail.h"
#include "rx/segment.h"
#include "rx/skb.h"
#include "tx/run.h"
#include "../wq.h"

/* Waits for memory; the first is a millisecond, each other twice as long: a quarter of a second. */
#define STASH_WAITS	8

/* tcp_read_sock() actor: what it does not use stays with TCP. */
static int read_actor(read_descriptor_t *desc, struct sk_buff *skb,
		      unsigned int offset, size_t len)
{
	struct kwarp_engine *e = desc->arg.data;
	struct sock *sk = e->sock->sk;
	/* A FIN counts, too, which does not matter. */
	u32 there = tcp_sk(sk)->rcv_nxt - (TCP_SKB_CB(skb)->seq + offset);

	return kwarp_rx_skb(e, &sk->sk_receive_queue, skb, offset, len, there);
}

/*
 * May a callback send?  Not for whoever owns the socket: TCP would work off the backlog
 * inside of what the owner is doing, perhaps this very backlog.
 */
static enum kwarp_tx_from callback_may(const struct sock *sk)
{
	return sock_owned_by_user_nocheck(sk) ? KWARP_TX_FROM_ANY : KWARP_TX_FROM_SOCKET;
}

/*
 * TCP wakes us, and acknowledges without waiting for us, when the FPDU is complete whose
 * beginning it keeps.  It also wakes us if it cannot keep more (see out_of_room()).
 */
static void set_lowat(struct kwarp_engine *e, struct sock *sk)
{
	int want = max_t(u32, e->rx.want, 1);

	/* select() and others look at it without a lock. */
	if (sk->sk_rcvlowat != want)
		WRITE_ONCE(sk->sk_rcvlowat, want);
}

/*
 * TCP keeps the beginning of an FPDU, but the window is about to close, or memory is short:
 * the rest may never come.
 */
static bool out_of_room(const struct kwarp_engine *e, const struct sock *sk)
{
	return e->rx.want && tcp_epollin_ready(sk, INT_MAX);
}

/* Context: process. */
static void stash_again(struct work_struct *work)
{
	struct kwarp_engine *e = container_of(to_delayed_work(work), struct kwarp_engine,
					      stash_wait.work);

	e->ops->poll(e);
}

/* There is memory, or none is needed any more.  Socket lock held. */
static void end_stash_wait(struct kwarp_engine *e)
{
	e->stash_wait.waits = 0;
	cancel_delayed_work(&e->stash_wait.work);
}

/*
 * A stash for what TCP cannot keep.  Memory that is short for a moment is no reason to end the
 * connection: TCP waits for it, too.  Each wait is twice as long as the one before.  Socket lock
 * held.
 *
 * Return: false: there is none yet, or the stream fails.
 */
static bool make_room(struct kwarp_engine *e)
{
	/* It asks by itself; what comes meanwhile does not make its time shorter. */
	if (delayed_work_pending(&e->stash_wait.work))
		return false;
	if (kwarp_rx_make_stash(e)) {
		end_stash_wait(e);
		return true;
	}
	if (e->stash_wait.waits == STASH_WAITS)
		kwarp_engine_fail(e, KWARP_PERR_LOCAL, NULL, 0, NULL);
	else
		queue_delayed_work(kwarp_wq, &e->stash_wait.work,
				   msecs_to_jiffies(1 << e->stash_wait.waits++));
	return false;
}

/* What has been read is complete: see how the connection stands. */
static void judge_end(struct kwarp_engine *e, struct sock *sk)
{
	if (sk->sk_err)
		kwarp_rx_eof(e, true);
	else if (sk->sk_shutdown & RCV_SHUTDOWN && sock_flag(sk, SOCK_DONE))
		/* A FIN; behind ours it takes TCP to CLOSE at once. */
		kwarp_rx_eof(e, false);
	else if (sk->sk_state == TCP_CLOSE)
		kwarp_rx_eof(e, true);
}

/*
 * Consume what the socket holds, then see how it stands.  A FIN or a reset is looked at
 * when all FPDUs that came before have been processed; octets that are left are of an
 * FPDU that it cuts off.  Socket lock held.
 */
static void drain_locked(struct kwarp_engine *e, struct sock *sk)
{
	read_descriptor_t desc = { .arg.data = e, .count = 1 };

	lockdep_assert(lockdep_sock_is_held(sk));
	/* TCP's reader stops at urgent data for ever, and an octet of it is missing. */
	if (unlikely(tcp_sk(sk)->urg_data))
		kwarp_engine_lost(e);
	e->rx.want = 0;
	tcp_read_sock(sk, &desc, read_actor);
	if (unlikely(e->rx.stash.buf))
		kwarp_rx_free_stash(e);
	set_lowat(e, sk);
	if (unlikely(e->stash_wait.waits) && !out_of_room(e, sk))
		end_stash_wait(e);
	if (kwarp_rx_end_run(e))
		kwarp_tx_kick(e, callback_may(sk));
	judge_end(e, sk);
}

/* In softirq, or in the backlog of a process: no place to allocate. */
static void drain_atomic(struct kwarp_engine *e, struct sock *sk)
{
	drain_locked(e, sk);
	if (unlikely(out_of_room(e, sk)))
		e->ops->poll(e);
}

static void data_ready(struct sock *sk)
{
	struct kwarp_engine *e;

	kwarp_trace_data_ready(sk);
	read_lock_bh(&sk->sk_callback_lock);
	e = sk->sk_user_data;
	if (e)
		drain_atomic(e, sk);
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * Called when an ACK has made room, and when TCP has sent what it held back: then we add
 * to the queue that it is just sending from, which it looks at anew for each segment.
 */
static void write_space(struct sock *sk)
{
	struct kwarp_engine *e;

	read_lock_bh(&sk->sk_callback_lock);
	e = sk->sk_user_data;
	if (e && sk_stream_is_writeable(sk)) {
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		/* A probe of the path's MTU is not complete yet when TCP calls us for it. */
		kwarp_tx_kick(e, inet_csk(sk)->icsk_mtup.enabled ? KWARP_TX_FROM_ANY :
								   callback_may(sk));
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * TCP reports a FIN before the data it came with is readable, and may report a reset
 * without the socket lock; both are looked at from process context.
 */
static void state_change(struct sock *sk)
{
	struct kwarp_engine *e;

	read_lock_bh(&sk->sk_callback_lock);
	e = sk->sk_user_data;
	if (e)
		e->ops->poll(e);
	read_unlock_bh(&sk->sk_callback_lock);
}

/**
 * kwarp_sock_install - take the callbacks of a socket
 * @e: engine that they shall lead to
 * @sock: connected socket
 *
 * Context: process; takes the socket lock.
 * Return: 0, -ENOTCONN; -EBUSY: somebody else has the socket.
 */
int kwarp_sock_install(struct kwarp_engine *e, struct socket *sock)
{
	struct sock *sk = sock->sk;
	int ret = -ENOTCONN;

	might_sleep();
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data) {
		/* A BPF program's socket map has taken the socket meanwhile. */
		ret = -EBUSY;
	} else if (sk->sk_state == TCP_ESTABLISHED || sk->sk_state == TCP_CLOSE_WAIT) {
		e->saved.data_ready = sk->sk_data_ready;
		e->saved.write_space = sk->sk_write_space;
		e->saved.state_change = sk->sk_state_change;
		e->saved.error_report = sk->sk_error_report;
		e->saved.rcvlowat = sk->sk_rcvlowat;
		sk->sk_user_data = e;
		sk->sk_data_ready = data_ready;
		sk->sk_write_space = write_space;
		sk->sk_state_change = state_change;
		sk->sk_error_report = state_change;
		ret = 0;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	return ret;
}

/**
 * kwarp_sock_remove - give them back
 * @e: engine, KWARP_E_RX_STOP set
 *
 * No callback of ours runs or will run when this returns.  What TCP has kept for us is
 * dropped: a socket that is closed with octets unread sends a reset, which may take our
 * Terminate or our FIN away from the peer.
 *
 * Context: process; takes the socket lock; nobody drains.
 */
void kwarp_sock_remove(struct kwarp_engine *e)
{
	read_descriptor_t desc = { .arg.data = e, .count = 1 };
	struct sock *sk = e->sock->sk;

	might_sleep();
	/* drain_locked() asks for no other one: nobody drains. */
	cancel_delayed_work_sync(&e->stash_wait.work);
	lock_sock(sk);
	tcp_read_sock(sk, &desc, read_actor);
	e->stash_wait.waits = 0;
	e->rx.stash.use = false;
	kwarp_rx_free_stash(e);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = e->saved.data_ready;
	sk->sk_write_space = e->saved.write_space;
	sk->sk_state_change = e->saved.state_change;
	sk->sk_error_report = e->saved.error_report;
	WRITE_ONCE(sk->sk_rcvlowat, e->saved.rcvlowat);
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

/* There is something that no callback of ours tells of: it came before.  Context: any. */
bool kwarp_sock_has_news(const struct kwarp_engine *e)
{
	const struct sock *sk = e->sock->sk;

	return !skb_queue_empty_lockless(&sk->sk_receive_queue) || READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_state) != TCP_ESTABLISHED;
}

/* Process what is there, from process context. */
void kwarp_sock_drain(struct kwarp_engine *e)
{
	struct sock *sk = e->sock->sk;

	might_sleep();
	lock_sock(sk);
	drain_locked(e, sk);
	if (unlikely(out_of_room(e, sk)) && make_room(e))
		drain_locked(e, sk);
	release_sock(sk);
}

/* Once per engine, before anything else. */
void kwarp_sock_init(struct kwarp_engine *e)
{
	INIT_DELAYED_WORK(&e->stash_wait.work, stash_again);
}
