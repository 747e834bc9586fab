// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The callbacks of the stream's TCP socket.
 *
 * Inbound octets are processed in the sk_data_ready callback, that is in softirq or when the
 * process that owns the socket handles its backlog, in a tasklet (read_rest()), and in
 * kwarp_sock_drain(). All of these hold the socket lock, which therefore serialises the receive
 * side. Answers and other octets that become due are sent from the same call, unless a process owns
 * the socket: then the transmit work item sends. After the octets, the socket's state shows whether
 * a FIN or an error has come. The callbacks for these only ask for a call of kwarp_sock_drain():
 * TCP may call them without the socket lock, or before the octets that came with a FIN can be read.
 *
 * sk_callback_lock is held across each callback, so that after kwarp_sock_remove() no callback is
 * running.
 */
#include "tcp.h"

#include <linux/jiffies.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <trace/events/sock.h>

#include "../compat.h"
#include "fail.h"
#include "rx/rx.h"
#include "tx/run.h"
#include "../door.h"
#include "../wq.h"

/* Waits for memory for the stash: 1 ms, 2 ms and so on, each twice as long, until this number. */
#define STASH_WAITS	8
/* If nothing of the rest of an FPDU has come for this time, TCP has perhaps dropped it. */
#define STASH_LATE_MS	20
/* Octets after which a receive run ends, because others wait for the socket lock. */
#define RUN_OCTETS	(256 << 10)

/*
 * Octets that it does not use stay in the receive queue. desc->count is what is left of RUN_OCTETS.
 */
static int read_actor(read_descriptor_t *desc, struct sk_buff *skb,
		      unsigned int offset, size_t len)
{
	struct kwarp_engine *e = desc->arg.data;
	struct sock *sk = e->sock->sk;
	/* rcv_nxt counts a FIN as one octet. begin_across() of rx/skb.c allows for that. */
	u32 there = tcp_sk(sk)->rcv_nxt - (TCP_SKB_CB(skb)->seq + offset);
	int used = kwarp_rx_skb(e, &sk->sk_receive_queue, skb, offset, len, there);

	desc->count -= min_t(size_t, desc->count, used);
	return used;
}

/*
 * While a process owns the socket, the callback is perhaps called from the processing of the
 * socket's backlog, and a send could make TCP process the same backlog again. So the work item
 * sends then; otherwise the callback sends.
 */
static enum kwarp_tx_from callback_may_send(const struct sock *sk)
{
	return sock_owned_by_user_nocheck(sk) ? KWARP_TX_FROM_ANY : KWARP_TX_FROM_SOCKET;
}

/*
 * Does TCP keep the beginning of an FPDU while its window is about to close, or its buffer is
 * nearly full? Then the rest cannot come.
 */
static bool out_of_room(const struct kwarp_engine *e, const struct sock *sk)
{
	const int rcvbuf = READ_ONCE(sk->sk_rcvbuf);

	return e->rx.want &&
	       (tcp_receive_window(tcp_sk(sk)) <= inet_csk(sk)->icsk_ack.rcv_mss ||
		atomic_read(&sk->sk_rmem_alloc) > rcvbuf - (rcvbuf >> 3));
}

/*
 * Does TCP keep the beginning of an FPDU while the memory of all sockets, or of the cgroup, is
 * short? Then TCP may drop the rest; usually it comes.
 */
static bool may_drop_rest(const struct kwarp_engine *e, const struct sock *sk)
{
	return e->rx.want && tcp_under_memory_pressure(sk);
}

static bool rest_is_late(const struct kwarp_engine *e, const struct sock *sk)
{
	return may_drop_rest(e, sk) && e->stash_wait.seq == tcp_sk(sk)->rcv_nxt &&
	       time_after_eq(jiffies, e->stash_wait.late);
}

/* TCP may drop the rest of an FPDU: look again after a while. Context: socket lock held. */
static void wait_for_rest(struct kwarp_engine *e, const struct sock *sk)
{
	if (delayed_work_pending(&e->stash_wait.work) || e->stash_wait.waits)
		return;
	e->stash_wait.seq = tcp_sk(sk)->rcv_nxt;
	e->stash_wait.late = jiffies + msecs_to_jiffies(STASH_LATE_MS);
	queue_delayed_work(kwarp_wq, &e->stash_wait.work, msecs_to_jiffies(STASH_LATE_MS));
}

/* kwarp_sock_drain() makes another attempt to allocate the stash. */
static void stash_again(struct work_struct *work)
{
	struct kwarp_engine *e = container_of(to_delayed_work(work), struct kwarp_engine,
					      stash_wait.work);

	e->ops->poll(e);
}

static void look_for_receive(struct work_struct *work)
{
	struct kwarp_engine *e = container_of(work, struct kwarp_engine, recv_wait.work);

	e->ops->poll(e);
}

/* Context: socket lock held. */
static void end_stash_wait(struct kwarp_engine *e)
{
	e->stash_wait.waits = 0;
	cancel_delayed_work(&e->stash_wait.work);
}

/*
 * A lack of memory, which others may cause, does not end the connection: it waits, as it would
 * without a stash for TCP to have memory. Context: process, socket lock held.
 */
static bool make_room(struct kwarp_engine *e)
{
	/*
	 * The work item will retry. Packets that arrive before it runs must not shorten its delay.
	 */
	if (e->stash_wait.waits && delayed_work_pending(&e->stash_wait.work))
		return false;
	if (kwarp_rx_make_stash(e)) {
		end_stash_wait(e);
		return true;
	}
	mod_delayed_work(kwarp_wq, &e->stash_wait.work,
			 msecs_to_jiffies(1 << e->stash_wait.waits));
	if (e->stash_wait.waits < STASH_WAITS)
		e->stash_wait.waits++;
	return false;
}

/* All octets but those of an incomplete FPDU have been read. */
static void judge_end(struct kwarp_engine *e, struct sock *sk)
{
	/*
	 * The peer has sent a FIN. If our FIN was sent before, the state is already TCP_CLOSE,
	 * which is no error here.
	 */
	const bool fin = sk->sk_shutdown & RCV_SHUTDOWN && sock_flag(sk, SOCK_DONE);

	if (sk->sk_err)
		kwarp_rx_eof(e, true);
	/* While a segment waits for a receive, octets before the FIN are unread. */
	else if ((fin || sk->sk_state == TCP_CLOSE) && !kwarp_rx_parked(e))
		kwarp_rx_eof(e, !fin);
}

/*
 * Does a fault delay what has come, a FIN or an error included?  The work item of recv_wait looks
 * again in time.
 */
static noinline __cold bool is_slow(struct kwarp_engine *e)
{
	long left;
	u32 ms;

	if (e->rx.slow) {
		left = e->rx.slow - jiffies;
		if (left <= 0 || !kwarp_engine_fault_lasts(e, KWARP_FAULT_SLOW)) {
			e->rx.slow = 0;
			return false;
		}
	} else {
		ms = kwarp_sock_has_news(e) ? kwarp_engine_fault(e, KWARP_FAULT_SLOW) : 0;
		if (!ms)
			return false;
		left = msecs_to_jiffies(ms);
		e->rx.slow = (jiffies + left) ?: 1;
	}
	mod_delayed_work(kwarp_wq, &e->recv_wait, min_t(long, left, KWARP_FAULT_LOOK));
	return true;
}

/*
 * If a FIN is found, octets that are still in the receive queue belong to an FPDU that the FIN cuts
 * off. Return: false if the run has ended before all octets were processed.
 */
static bool drain_locked(struct kwarp_engine *e, struct sock *sk)
{
	read_descriptor_t desc = { .arg.data = e, .count = RUN_OCTETS };

	lockdep_assert(lockdep_sock_is_held(sk));
	/*
	 * Urgent data ends the stream: tcp_read_sock() does not read past it, and one octet would
	 * be missing.
	 */
	if (unlikely(tcp_sk(sk)->urg_data))
		kwarp_engine_lost(e);
	e->rx.want = 0;
	if (kwarp_faults_on() && is_slow(e))
		return true;
	if (likely(!kwarp_rx_parked(e)) || kwarp_rx_resume(e))
		tcp_read_sock(sk, &desc, read_actor);
	if (unlikely(e->rx.stash.buf))
		kwarp_rx_free_stash(e);
	if (unlikely(e->stash_wait.waits) && !out_of_room(e, sk) && !rest_is_late(e, sk))
		end_stash_wait(e);
	if (kwarp_rx_end_run(e))
		kwarp_tx_kick(e, callback_may_send(sk));
	if (unlikely(!desc.count))
		return false;
	judge_end(e, sk);
	return true;
}

/*
 * Does the beginning of an FPDU stay with TCP? Then acknowledge it, and see whether the rest can
 * come: the stash cannot be allocated here, so ask for a call of kwarp_sock_drain() in process
 * context. The ACK comes first, because it may close the window.
 */
static void attend_rest(struct kwarp_engine *e, struct sock *sk)
{
	if (!e->rx.want)
		return;
	kwarp_tcp_ack(sk);
	if (unlikely(out_of_room(e, sk)))
		e->ops->poll(e);
	else if (unlikely(may_drop_rest(e, sk)))
		wait_for_rest(e, sk);
}

/*
 * Are unread octets in the middle of a message, so that nobody waits for them? Packets come in
 * bursts, and reading once for a burst costs less than reading each packet, mainly because TCP
 * sends an ACK after each read. So these octets are read when the softirq has handled all packets
 * that it has. Do not wait if the sender's write ends here (PSH), if a task waits for this
 * processor (ksoftirqd would have to run the tasklet), or if TCP may drop the next packet unless
 * the queue is empty.
 */
static bool may_wait(const struct kwarp_engine *e, const struct sock *sk)
{
	const struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	const struct sk_buff *tail = skb_peek_tail(&sk->sk_receive_queue);
	u32 have = tcp_sk(sk)->rcv_nxt - tcp_sk(sk)->copied_seq;

	if (have >= (f->check_crc ? e->rx.want : kwarp_fpdu_rx_payload_left(f)) &&
	    !kwarp_fpdu_rx_in_message(f))
		return false;
	return tail && !(TCP_SKB_CB(tail)->tcp_flags & TCPHDR_PSH) && !kwarp_need_resched() &&
	       !e->rx.stash.use && !tcp_under_memory_pressure(sk) &&
	       atomic_read(&sk->sk_rmem_alloc) <= READ_ONCE(sk->sk_rcvbuf) / 2;
}

/* Read the rest later: others wait for the lock, or more packets of a burst may come. */
static void read_later(struct kwarp_engine *e, const struct sock *sk)
{
	if (sock_owned_by_user_nocheck(sk))
		e->ops->poll(e);
	else
		tasklet_schedule(&e->read_rest);
}

/* @burst: more packets of a burst may come. */
static void drain_atomic(struct kwarp_engine *e, struct sock *sk, bool burst)
{
	if (!drain_locked(e, sk) || (burst && may_wait(e, sk)))
		read_later(e, sk);
	else
		attend_rest(e, sk);
}

static void read_rest(struct tasklet_struct *tasklet)
{
	struct kwarp_engine *e = from_tasklet(e, tasklet, read_rest);
	struct sock *sk = e->sock->sk;

	bh_lock_sock(sk);
	read_lock(&sk->sk_callback_lock);
	/* kwarp_sock_remove() reads everything. */
	if (sk->sk_user_data == e) {
		if (sock_owned_by_user(sk))
			e->ops->poll(e);
		else
			drain_atomic(e, sk, false);
	}
	read_unlock(&sk->sk_callback_lock);
	bh_unlock_sock(sk);
}

static void engine_data_ready(struct sock *sk)
{
	/* The backlog of a process has no more packets to wait for. */
	bool burst = !sock_owned_by_user_nocheck(sk);
	struct kwarp_engine *e;

	trace_sk_data_ready(sk);
	read_lock_bh(&sk->sk_callback_lock);
	e = sk->sk_user_data;
	if (e && burst && may_wait(e, sk))
		tasklet_schedule(&e->read_rest);
	else if (e)
		drain_atomic(e, sk, burst);
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * TCP calls this when an ACK has made room, and also when it has just sent octets that it had kept
 * back. In the second case kwarp_tx_kick() appends octets to the queue that TCP is sending from.
 * This does no harm, because TCP reads that queue again for each segment.
 */
static void engine_write_space(struct sock *sk)
{
	struct kwarp_engine *e;

	read_lock_bh(&sk->sk_callback_lock);
	e = sk->sk_user_data;
	if (e && sk_stream_is_writeable(sk)) {
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		/*
		 * While TCP builds a path MTU probe, its queue must not grow. So if probing is
		 * enabled, the work item sends.
		 */
		kwarp_tx_kick(e, inet_csk(sk)->icsk_mtup.enabled ? KWARP_TX_FROM_ANY :
								   callback_may_send(sk));
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * TCP reports a FIN before the data that came with it can be read, and may report a reset without
 * the socket lock. So only ask for a call of kwarp_sock_drain() in process context.
 */
static void engine_state_change(struct sock *sk)
{
	struct kwarp_engine *e;

	read_lock_bh(&sk->sk_callback_lock);
	e = sk->sk_user_data;
	if (e)
		e->ops->poll(e);
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * -ENOTCONN: the connection is gone; -EBUSY: another user has the socket's callbacks. Takes the
 * socket lock.
 */
int kwarp_sock_install(struct kwarp_engine *e, struct socket *sock)
{
	KWARP_DOOR(kwarp_sock_install, e, sock);
	struct sock *sk = sock->sk;
	int ret = -ENOTCONN;

	might_sleep();
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data) {
		/* Since the startup a BPF program has put the socket into a socket map. */
		ret = -EBUSY;
	} else if (sk->sk_state == TCP_ESTABLISHED || sk->sk_state == TCP_CLOSE_WAIT) {
		e->saved.data_ready = sk->sk_data_ready;
		e->saved.write_space = sk->sk_write_space;
		e->saved.state_change = sk->sk_state_change;
		e->saved.error_report = sk->sk_error_report;
		sk->sk_user_data = e;
		sk->sk_data_ready = engine_data_ready;
		sk->sk_write_space = engine_write_space;
		sk->sk_state_change = engine_state_change;
		sk->sk_error_report = engine_state_change;
		ret = 0;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	return ret;
}

/*
 * After this function returns, none of our callbacks runs or will run. Octets left in the receive
 * queue are read and dropped: if a socket is closed with unread octets, TCP sends a reset, which
 * may destroy our Terminate or FIN before the peer has read it. Context: process; takes the socket
 * lock; no other context calls kwarp_sock_drain().
 */
void kwarp_sock_remove(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_sock_remove, e);
	read_descriptor_t desc = { .arg.data = e, .count = SIZE_MAX };
	struct sock *sk = e->sock->sk;

	might_sleep();
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
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	/* Callbacks may have scheduled these until now. */
	tasklet_kill(&e->read_rest);
	cancel_delayed_work_sync(&e->stash_wait.work);
	cancel_delayed_work_sync(&e->recv_wait);
}

bool kwarp_sock_has_news(const struct kwarp_engine *e)
{
	const struct sock *sk = e->sock->sk;

	return !skb_queue_empty_lockless(&sk->sk_receive_queue) || READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_state) != TCP_ESTABLISHED;
}

/* Return: false if the run has ended before all octets were processed. */
static bool drain_owned(struct kwarp_engine *e, struct sock *sk)
{
	if (!drain_locked(e, sk))
		return false;
	if (!e->rx.want)
		return true;
	kwarp_tcp_ack(sk);
	if (unlikely(out_of_room(e, sk) || rest_is_late(e, sk)))
		return !make_room(e) || drain_locked(e, sk);
	if (unlikely(may_drop_rest(e, sk)))
		wait_for_rest(e, sk);
	return true;
}

void kwarp_sock_drain(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_sock_drain, e);
	struct sock *sk = e->sock->sk;

	might_sleep();
	lock_sock(sk);
	if (!drain_owned(e, sk))
		e->ops->poll(e);
	release_sock(sk);
}

void kwarp_sock_init(struct kwarp_engine *e)
{
	INIT_DELAYED_WORK(&e->stash_wait.work, stash_again);
	INIT_DELAYED_WORK(&e->recv_wait, look_for_receive);
	tasklet_setup(&e->read_rest, read_rest);
}
