// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A socket is hooked while its callbacks call the function notify of its struct kwarp_cm_sock, and
 * then TCP's own callbacks. The callbacks may run in softirq, so notify only sets a bit and queues
 * work. No function here waits for a peer.
 */
#include "sock_hook.h"

#include <net/sock.h>
#include <trace/events/sock.h>

#include "../kwarp.h"
#include "sock_knobs.h"

enum sock_cb { CB_DATA, CB_STATE, CB_SPACE, CB_ERROR };

/*
 * Return: the kwarp_cm_sock whose callbacks the socket has; NULL: the socket has been unhooked
 * since the callback began, or is a connection of a listener that has not been accepted yet. Such a
 * connection may belong to a sockmap: then its user data is a psock, with SK_USER_DATA_NOCOPY and
 * one more flag.
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
	trace_sk_data_ready(sk);
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

/* The callbacks do not report earlier changes: the caller has to look at the socket afterwards. */
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

/* When this function returns, cs->notify does not run, and will not be called. Context: process. */
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

u32 kwarp_cm_sock_queued(const struct socket *sock)
{
	return READ_ONCE(sock->sk->sk_ack_backlog);
}

/* -EAGAIN: no connection waits. Context: process; does not wait. */
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
	 * The connection has inherited the listener's callbacks: restore TCP's. If it has user
	 * data, it belongs to a sockmap already, which has set callbacks of its own.
	 */
	write_lock_bh(&sk->sk_callback_lock);
	if (!rcu_access_pointer(__sk_user_data(sk)))
		restore_callbacks(sk, listener);
	write_unlock_bh(&sk->sk_callback_lock);
	KWARP_SINCE(SK_USE_TASK_FRAG, sk->sk_use_task_frag = false);
	kwarp_sock_accepted(kdev, sock, listener->sock, listener->tos_set);
	*res = sock;
	return 0;
}

/*
 * Context: process. Afterwards TCP has nothing left of this connection, except perhaps a TIME-WAIT
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
