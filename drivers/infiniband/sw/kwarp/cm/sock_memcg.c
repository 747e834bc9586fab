// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sockets of connection management: the memory cgroup that is charged for a socket. */
#include "sock_hook.h"

#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <net/sock.h>

#ifdef CONFIG_MEMCG
/* NULL: root cgroup, or no socket. */
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs)
{
	/* No lock: a listening socket's cgroup does not change after the socket is made. */
	return cs->sock ? cs->sock->sk->sk_memcg : NULL;
}

/*
 * The cgroup of the process @pid; NULL: of the caller. Return: referenced, for mem_cgroup_put();
 * NULL: the root cgroup, which counts nothing, or @pid has ended. Context: process.
 */
struct mem_cgroup *kwarp_cm_process_memcg(struct pid *pid)
{
	struct mem_cgroup *memcg;
	struct task_struct *task;

	rcu_read_lock();
	task = pid ? pid_task(pid, PIDTYPE_TGID) : current;
	memcg = task ? mem_cgroup_from_task(task) : NULL;
	/* The root cgroup has no parent. */
	if (memcg && !(memcg->css.parent && css_tryget(&memcg->css)))
		memcg = NULL;
	rcu_read_unlock();
	return memcg;
}

/* The memory cgroup may be changed only while no memory is charged. */
static bool holds_nothing(struct sock *sk)
{
	if (sk_rmem_alloc_get(sk) || READ_ONCE(sk->sk_wmem_queued) || sk->sk_backlog.len)
		return false;
	sk_mem_reclaim(sk);
	return !sk->sk_forward_alloc;
}

/*
 * TCP charges the socket in accept(), but kwarp calls accept() in a kernel thread, whose cgroup is
 * the root. Charge the socket to the cgroup of the process @pid; NULL: of the caller. The root
 * cgroup stays charged in four cases: TCP holds octets already; @pid has ended; the caller is a
 * kernel thread; cgroups are version 1. Context: process.
 */
void kwarp_cm_sock_charge_to(struct socket *sock, struct pid *pid)
{
	struct sock *sk = sock->sk;

	might_sleep();
	if (!mem_cgroup_sockets_enabled || !cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return;
	lock_sock(sk);
	if (!sk->sk_memcg && holds_nothing(sk))
		sk->sk_memcg = kwarp_cm_process_memcg(pid);
	release_sock(sk);
}
#else
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs)
{
	return NULL;
}

struct mem_cgroup *kwarp_cm_process_memcg(struct pid *pid)
{
	return NULL;
}

void kwarp_cm_sock_charge_to(struct socket *sock, struct pid *pid)
{
}
#endif
