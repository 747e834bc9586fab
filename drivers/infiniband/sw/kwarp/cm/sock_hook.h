/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP sockets of connection management: callbacks, accepting, and releasing; and the memory cgroup
 * that is charged for a socket (sock_memcg.c).
 */
#ifndef KWARP_CM_SOCK_HOOK_H
#define KWARP_CM_SOCK_HOOK_H

#include <linux/types.h>

struct kwarp_dev;
struct mem_cgroup;
struct pid;
struct sock;
struct socket;

/*
 * A TCP socket of connection management, and its callbacks. @notify: called when something about
 * the socket has changed; in softirq or process context under sk_callback_lock, may only set bits
 * and queue work. @hooked: the socket's callbacks call @notify. @tos_set: listener: the ULP has
 * chosen a type of service, which its connections inherit. The other callbacks are those that TCP
 * had set, valid while @hooked.
 */
struct kwarp_cm_sock {
	struct socket *sock;
	void (*notify)(struct kwarp_cm_sock *cs);
	bool hooked;
	bool tos_set;
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

int kwarp_cm_sock_hook(struct kwarp_cm_sock *cs);
void kwarp_cm_sock_unhook(struct kwarp_cm_sock *cs);
u32 kwarp_cm_sock_queued(const struct socket *sock);
int kwarp_cm_sock_accept(struct kwarp_dev *kdev, struct kwarp_cm_sock *listener,
			 struct socket **res);
void kwarp_cm_sock_kill(struct kwarp_cm_sock *cs);

struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs);
struct mem_cgroup *kwarp_cm_process_memcg(struct pid *pid);
void kwarp_cm_sock_charge_to(struct socket *sock, struct pid *pid);

#endif /* KWARP_CM_SOCK_HOOK_H */
